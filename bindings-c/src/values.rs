//! Values that have numbers in C.

use barewire::client::Listing;
use barewire::transport::ChildAction;
use barewire::{CacheScope, Capability, Era, InputKind, ListKind, LogLevel, Revision, Revisions, Violation};

use crate::bytes::bw_bytes;
use crate::status::Failure;

/// A point in time that never comes.
pub const BW_NEVER: u64 = u64::MAX;

/// The bytes of a seed, and of a key for the state of requests.
pub const BW_SEED_BYTES: usize = 32;

/// A published revision of the protocol. A newer one has a greater number; 0 is none.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum bw_revision {
    /// None, or not settled yet.
    BW_REVISION_NONE = 0,
    /// 2024-11-05
    BW_REVISION_2024_11_05 = 1,
    /// 2025-03-26
    BW_REVISION_2025_03_26 = 2,
    /// 2025-06-18
    BW_REVISION_2025_06_18 = 3,
    /// 2025-11-25
    BW_REVISION_2025_11_25 = 4,
    /// 2026-07-28
    BW_REVISION_2026_07_28 = 5,
}

/// The two ways the protocol has worked.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum bw_era {
    /// None, or not settled yet.
    BW_ERA_NONE = 0,
    /// Handshake and session: up to 2025-11-25.
    BW_ERA_LEGACY = 1,
    /// Stateless, metadata on every request: from 2026-07-28.
    BW_ERA_MODERN = 2,
}

/// Severity of a log message (RFC 5424, section 6.2.1). A more severe one has a greater number; 0 is none.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum bw_log_level {
    /// None.
    BW_LOG_LEVEL_NONE = 0,
    /// Detail for developers.
    BW_LOG_LEVEL_DEBUG = 1,
    /// Ordinary events.
    BW_LOG_LEVEL_INFO = 2,
    /// Ordinary but significant events.
    BW_LOG_LEVEL_NOTICE = 3,
    /// Warnings.
    BW_LOG_LEVEL_WARNING = 4,
    /// Errors.
    BW_LOG_LEVEL_ERROR = 5,
    /// Critical conditions.
    BW_LOG_LEVEL_CRITICAL = 6,
    /// Action must be taken at once.
    BW_LOG_LEVEL_ALERT = 7,
    /// The system is unusable.
    BW_LOG_LEVEL_EMERGENCY = 8,
}

/// A list of the server that can change and be watched.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum bw_list_kind {
    /// None.
    BW_LIST_NONE = 0,
    /// Tools.
    BW_LIST_TOOLS = 1,
    /// Resources and resource templates.
    BW_LIST_RESOURCES = 2,
    /// Prompts.
    BW_LIST_PROMPTS = 3,
}

/// A list that a server gives page by page.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum bw_listing {
    /// Tools (server/tools).
    BW_LISTING_TOOLS = 1,
    /// Resources (server/resources).
    BW_LISTING_RESOURCES = 2,
    /// Resource templates (server/resources).
    BW_LISTING_RESOURCE_TEMPLATES = 3,
    /// Prompts (server/prompts).
    BW_LISTING_PROMPTS = 4,
}

/// What a server can ask its client for.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum bw_input_kind {
    /// The user fills a form or visits a URL (client/elicitation).
    BW_INPUT_ELICITATION = 1,
    /// The client's model completes a conversation (client/sampling).
    BW_INPUT_SAMPLING = 2,
    /// The client's roots (client/roots).
    BW_INPUT_ROOTS = 3,
}

/// Who may share a cached result (server/utilities/caching).
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum bw_cache_scope {
    /// Anyone: it does not depend on who asked.
    BW_CACHE_PUBLIC = 1,
    /// The asking user only.
    BW_CACHE_PRIVATE = 2,
}

/// What an argument to complete belongs to (server/utilities/completion).
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum bw_completion_kind {
    /// A prompt, by name.
    BW_COMPLETION_PROMPT = 1,
    /// A resource template, or the URI of a resource.
    BW_COMPLETION_RESOURCE = 2,
}

/// One declared ability, named by its place in the capabilities object of a server or client.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum bw_capability {
    /// Server: `tools`
    BW_CAPABILITY_TOOLS = 1,
    /// Server: `tools.listChanged`
    BW_CAPABILITY_TOOLS_LIST_CHANGED = 2,
    /// Server: `resources`
    BW_CAPABILITY_RESOURCES = 3,
    /// Server: `resources.subscribe`
    BW_CAPABILITY_RESOURCES_SUBSCRIBE = 4,
    /// Server: `resources.listChanged`
    BW_CAPABILITY_RESOURCES_LIST_CHANGED = 5,
    /// Server: `prompts`
    BW_CAPABILITY_PROMPTS = 6,
    /// Server: `prompts.listChanged`
    BW_CAPABILITY_PROMPTS_LIST_CHANGED = 7,
    /// Server: `logging`
    BW_CAPABILITY_LOGGING = 8,
    /// Server: `completions`
    BW_CAPABILITY_COMPLETIONS = 9,
    /// Client: `roots`
    BW_CAPABILITY_ROOTS = 10,
    /// Client: `roots.listChanged`
    BW_CAPABILITY_ROOTS_LIST_CHANGED = 11,
    /// Client: `sampling`
    BW_CAPABILITY_SAMPLING = 12,
    /// Client: `sampling.tools`
    BW_CAPABILITY_SAMPLING_TOOLS = 13,
    /// Client: `sampling.context`
    BW_CAPABILITY_SAMPLING_CONTEXT = 14,
    /// Client: `elicitation`, which includes the form mode unless only another mode is named
    BW_CAPABILITY_ELICITATION = 15,
    /// Client: `elicitation.url`
    BW_CAPABILITY_ELICITATION_URL = 16,
}

/// Something in a message that the protocol does not allow. 0 is nothing.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum bw_violation {
    /// Nothing.
    BW_VIOLATION_NONE = 0,
    /// The line is not JSON: a log line, a banner, a broken message.
    BW_VIOLATION_NOT_JSON = 1,
    /// The line is not UTF-8.
    BW_VIOLATION_NOT_UTF8 = 2,
    /// The message is longer than the limit; its head is given.
    BW_VIOLATION_TOO_LONG = 3,
    /// The message nests deeper than the limit.
    BW_VIOLATION_TOO_DEEP = 4,
    /// The input ended inside a message.
    BW_VIOLATION_ENDED_EARLY = 5,
    /// A byte-order mark stood before the message.
    BW_VIOLATION_BYTE_ORDER_MARK = 6,
    /// JSON, but no object with a method, a result or an error.
    BW_VIOLATION_NOT_A_MESSAGE = 7,
    /// `"jsonrpc": "2.0"` is missing or wrong.
    BW_VIOLATION_WRONG_VERSION_MEMBER = 8,
    /// A request id that is null, a fraction, or no string and no number.
    BW_VIOLATION_INVALID_ID = 9,
    /// A member of the envelope stands twice.
    BW_VIOLATION_DUPLICATE_MEMBER = 10,
    /// A member of the envelope that JSON-RPC does not know.
    BW_VIOLATION_UNKNOWN_MEMBER = 11,
    /// `params` is not an object.
    BW_VIOLATION_INVALID_PARAMS = 12,
    /// Result and error stand side by side.
    BW_VIOLATION_RESULT_AND_ERROR = 13,
    /// A response with neither result nor error.
    BW_VIOLATION_EMPTY_RESPONSE = 14,
    /// The error's code is missing or no integer.
    BW_VIOLATION_INVALID_ERROR_CODE = 15,
    /// The error is no object.
    BW_VIOLATION_INVALID_ERROR = 16,
    /// A batch where the revision has none, or one that is empty or too long.
    BW_VIOLATION_UNEXPECTED_BATCH = 17,
    /// A request with an id that is still in flight.
    BW_VIOLATION_DUPLICATE_ID = 18,
    /// A response to nothing that is in flight.
    BW_VIOLATION_UNKNOWN_RESPONSE = 19,
    /// A notification for a token, request or subscription that is not in flight.
    BW_VIOLATION_UNKNOWN_TARGET = 20,
    /// A message that this side or revision does not take.
    BW_VIOLATION_UNEXPECTED_MESSAGE = 21,
    /// Progress that does not increase.
    BW_VIOLATION_PROGRESS_NOT_INCREASING = 22,
    /// A result that is not what its method defines.
    BW_VIOLATION_INVALID_RESULT = 23,
    /// More arrived than the application took; the message was dropped.
    BW_VIOLATION_QUEUE_FULL = 24,
    /// There is too little memory to take the message (embedded profile).
    BW_VIOLATION_NO_ROOM = 25,
}

/// A bound of a machine, to be set at a configuration.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum bw_limit {
    /// Bytes of one inbound message (one line on a byte stream). Default 16 MiB.
    BW_LIMIT_MESSAGE_BYTES = 1,
    /// Levels of nesting of one inbound message. Default 128, at most 1024.
    BW_LIMIT_DEPTH = 2,
    /// Requests in flight, each direction counted alone. Default 2048.
    BW_LIMIT_REQUESTS_IN_FLIGHT = 3,
    /// Requests accepted before the connection is settled. Default 256.
    BW_LIMIT_QUEUED_REQUESTS = 4,
    /// Events waiting to be polled at which the machine wants no more input. Default 4096.
    BW_LIMIT_QUEUED_EVENTS = 5,
    /// Elements of a JSON-RPC batch (2025-03-26). Default 256.
    BW_LIMIT_BATCH_ITEMS = 6,
    /// Sessions of one server; on HTTP also, counted alone, its subscriptions from 2026-07-28 on. Default 10 000.
    BW_LIMIT_SESSIONS = 7,
    /// Open subscriptions of one connection or session. Default 256.
    BW_LIMIT_SUBSCRIPTIONS = 8,
    /// Resources watched over all subscriptions of one connection or session. Default 1024.
    BW_LIMIT_WATCHED_RESOURCES = 9,
    /// Rounds of one request that asks for input. Default 10.
    BW_LIMIT_ROUNDS = 10,
    /// Questions in one round. Default 32.
    BW_LIMIT_INPUTS = 11,
    /// Bytes of the state that travels with a request. Default 64 KiB.
    BW_LIMIT_REQUEST_STATE_BYTES = 12,
    /// Bytes of messages waiting to be sent, or of messages whose events wait to be polled, at which the machine wants
    /// no more input. Default 8 MiB.
    BW_LIMIT_QUEUED_BYTES = 13,
    /// Items on one page of a list result. Default 1000.
    BW_LIMIT_PAGE_ITEMS = 14,
    /// Bytes of the items on one page of a list result, for links and peers that take little at once; an item that alone
    /// is longer has a page to itself. Default 1 MiB.
    BW_LIMIT_PAGE_BYTES = 15,
}

/// How long something may take, in milliseconds, to be set at a configuration.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum bw_timeout {
    /// Client: waiting for the answer to the probe before the server counts as legacy. Default 5 000.
    BW_TIMEOUT_PROBE = 1,
    /// Client: waiting for the answer to the handshake. Default 30 000.
    BW_TIMEOUT_HANDSHAKE = 2,
    /// Waiting for an answer with nothing heard of the request. Default 60 000.
    BW_TIMEOUT_REQUEST = 3,
    /// A request over all its rounds, whatever is heard of it. Default 600 000.
    BW_TIMEOUT_REQUEST_TOTAL = 4,
    /// Client: waiting for the acknowledgement of a subscription. Default 30 000.
    BW_TIMEOUT_ACKNOWLEDGEMENT = 5,
    /// Server: sending the answers that are owed after the end of input. Default 10 000.
    BW_TIMEOUT_DRAIN = 6,
    /// Server: life of the sealed state of a request. Default 3 600 000.
    BW_TIMEOUT_REQUEST_STATE = 7,
    /// Client: waiting for a child to exit after its input was closed. Default 2 000.
    BW_TIMEOUT_CHILD_EXIT = 8,
    /// Client: waiting for a child to exit after it was asked to end. Default 2 000.
    BW_TIMEOUT_CHILD_TERMINATE = 9,
}

/// What to do to a child process next (basic/transports/stdio, Shutdown).
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum bw_child_action {
    /// Nothing for now.
    BW_CHILD_NOTHING = 0,
    /// Close the child's standard input.
    BW_CHILD_CLOSE_INPUT = 1,
    /// Ask the child and its process group to end (SIGTERM where there are signals).
    BW_CHILD_TERMINATE = 2,
    /// End the child and its process group by force (SIGKILL where there are signals).
    BW_CHILD_KILL = 3,
}

/// The member of `all` that has the number, counted from 1.
fn numbered<T: Copy>(all: &[T], number: i32, what: &'static str) -> Result<T, Failure> {
    let place = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
    place.and_then(|place| all.get(place)).copied().ok_or(Failure::argument(what))
}

/// The number of a member of `all`, counted from 1.
#[allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap, reason = "the arrays are short")]
fn number_of<T: PartialEq>(all: &[T], value: &T) -> i32 {
    all.iter().position(|known| known == value).map_or(0, |place| place as i32 + 1)
}

pub(crate) fn revision(number: i32) -> Result<Revision, Failure> {
    numbered(&Revision::ALL, number, "not a number of bw_revision")
}

pub(crate) fn log_level(number: i32) -> Result<LogLevel, Failure> {
    numbered(&LogLevel::ALL, number, "not a number of bw_log_level")
}

pub(crate) fn optional_log_level(number: i32) -> Result<Option<LogLevel>, Failure> {
    if number == 0 { Ok(None) } else { log_level(number).map(Some) }
}

pub(crate) fn list_kind(number: i32) -> Result<ListKind, Failure> {
    numbered(&ListKind::ALL, number, "not a number of bw_list_kind")
}

pub(crate) fn listing(number: i32) -> Result<Listing, Failure> {
    numbered(&Listing::ALL, number, "not a number of bw_listing")
}

pub(crate) fn input_kind(number: i32) -> Result<InputKind, Failure> {
    numbered(&InputKind::ALL, number, "not a number of bw_input_kind")
}

pub(crate) fn cache_scope(number: i32) -> Result<CacheScope, Failure> {
    numbered(&CACHE_SCOPES, number, "not a number of bw_cache_scope")
}

pub(crate) fn capability(number: i32) -> Result<Capability, Failure> {
    numbered(&Capability::ALL, number, "not a number of bw_capability")
}

const CACHE_SCOPES: [CacheScope; 2] = [CacheScope::Public, CacheScope::Private];

pub(crate) fn revision_number(revision: Option<Revision>) -> i32 {
    revision.map_or(0, |revision| number_of(&Revision::ALL, &revision))
}

pub(crate) fn log_level_number(level: Option<LogLevel>) -> i32 {
    level.map_or(0, |level| number_of(&LogLevel::ALL, &level))
}

pub(crate) fn list_kind_number(kind: Option<ListKind>) -> i32 {
    kind.map_or(0, |kind| number_of(&ListKind::ALL, &kind))
}

pub(crate) fn input_kind_number(kind: InputKind) -> i32 {
    number_of(&InputKind::ALL, &kind)
}

pub(crate) fn cache_scope_number(scope: CacheScope) -> i32 {
    number_of(&CACHE_SCOPES, &scope)
}

pub(crate) const fn violation_number(violation: Violation) -> i32 {
    violation as i32
}

pub(crate) const fn child_action_number(action: Option<ChildAction>) -> bw_child_action {
    match action {
        None => bw_child_action::BW_CHILD_NOTHING,
        Some(ChildAction::CloseInput) => bw_child_action::BW_CHILD_CLOSE_INPUT,
        Some(ChildAction::Terminate) => bw_child_action::BW_CHILD_TERMINATE,
        Some(ChildAction::Kill) => bw_child_action::BW_CHILD_KILL,
    }
}

/// How many revisions this library speaks.
#[unsafe(no_mangle)]
pub extern "C" fn bw_revision_count() -> usize {
    Revision::ALL.len()
}

/// The revision at `index`, newest first, as a number of `bw_revision`; 0 beyond the last.
#[unsafe(no_mangle)]
pub extern "C" fn bw_revision_at(index: usize) -> i32 {
    revision_number(Revisions::ALL.newest_first().nth(index))
}

/// The name of a revision on the wire, such as "2025-11-25"; nothing for a number that is none of `bw_revision`. The
/// text is never freed.
#[unsafe(no_mangle)]
pub extern "C" fn bw_revision_name(number: i32) -> bw_bytes {
    revision(number).map_or(bw_bytes::NONE, |revision| bw_bytes::text_of(revision.as_str()))
}

/// The number in `bw_revision` of the revision of that name, exactly as on the wire; 0 if it is unknown.
#[unsafe(no_mangle)]
pub extern "C" fn bw_revision_from_name(name: bw_bytes) -> i32 {
    revision_number(name.text().ok().and_then(Revision::from_name))
}

/// The era of a revision, as a number of `bw_era`; 0 for a number that is none of `bw_revision`.
#[unsafe(no_mangle)]
pub extern "C" fn bw_revision_era(number: i32) -> i32 {
    match revision(number).map(Revision::era) {
        Ok(Era::Legacy) => bw_era::BW_ERA_LEGACY as i32,
        Ok(Era::Modern) => bw_era::BW_ERA_MODERN as i32,
        Err(_) => bw_era::BW_ERA_NONE as i32,
    }
}

/// The name of a severity on the wire, such as "warning"; nothing for a number that is none of `bw_log_level`. The text
/// is never freed.
#[unsafe(no_mangle)]
pub extern "C" fn bw_log_level_name(level: i32) -> bw_bytes {
    log_level(level).map_or(bw_bytes::NONE, |level| bw_bytes::text_of(level.as_str()))
}

/// The number in `bw_log_level` of the severity of that name, exactly as on the wire; 0 if it is unknown.
#[unsafe(no_mangle)]
pub extern "C" fn bw_log_level_from_name(name: bw_bytes) -> i32 {
    log_level_number(name.text().ok().and_then(LogLevel::from_name))
}

/// The place of a capability in the capabilities object, such as "tools.listChanged"; nothing for a number that is none
/// of `bw_capability`. The text is never freed.
#[unsafe(no_mangle)]
pub extern "C" fn bw_capability_path(number: i32) -> bw_bytes {
    capability(number).map_or(bw_bytes::NONE, |capability| bw_bytes::text_of(capability.path()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_names_agree() {
        assert_eq!(bw_revision_count(), Revision::ALL.len());
        assert_eq!(bw_revision_at(0), bw_revision::BW_REVISION_2026_07_28 as i32);
        assert_eq!(bw_revision_at(bw_revision_count()), 0);
        for known in Revision::ALL {
            let number = revision_number(Some(known));
            assert_eq!(revision(number).ok(), Some(known));
            let name = alloc::format!("BW_REVISION_{}", known.as_str().replace('-', "_"));
            let variants = [
                bw_revision::BW_REVISION_2024_11_05,
                bw_revision::BW_REVISION_2025_03_26,
                bw_revision::BW_REVISION_2025_06_18,
                bw_revision::BW_REVISION_2025_11_25,
                bw_revision::BW_REVISION_2026_07_28,
            ];
            let variant = variants.into_iter().find(|variant| *variant as i32 == number);
            assert_eq!(variant.map(|variant| alloc::format!("{variant:?}")), Some(name));
        }
        let last = bw_capability::BW_CAPABILITY_ELICITATION_URL as i32;
        assert_eq!(capability(last).ok(), Some(Capability::ElicitationUrl));
        assert!(capability(last + 1).is_err() && capability(0).is_err() && capability(-1).is_err());
        assert_eq!(log_level(bw_log_level::BW_LOG_LEVEL_EMERGENCY as i32).ok(), Some(LogLevel::Emergency));
        assert_eq!(list_kind(bw_list_kind::BW_LIST_PROMPTS as i32).ok(), Some(ListKind::Prompts));
        assert_eq!(listing(bw_listing::BW_LISTING_PROMPTS as i32).ok(), Some(Listing::Prompts));
        assert_eq!(input_kind(bw_input_kind::BW_INPUT_ROOTS as i32).ok(), Some(InputKind::Roots));
        assert_eq!(cache_scope(bw_cache_scope::BW_CACHE_PRIVATE as i32).ok(), Some(CacheScope::Private));
        assert_eq!(violation_number(Violation::QueueFull), bw_violation::BW_VIOLATION_QUEUE_FULL as i32);
        assert_eq!(violation_number(Violation::TooDeep), bw_violation::BW_VIOLATION_TOO_DEEP as i32);
    }
}
