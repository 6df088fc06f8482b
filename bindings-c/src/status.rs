//! What calls answer: numbers that all languages share, and some that only C needs.

use core::ffi::{CStr, c_char};
use core::fmt;

#[cfg(feature = "http")]
use barewire::auth::AuthorizationError;
use barewire::{ApiMisuse, CloseReason, Error};

/// How a call ended: `BW_OK`, or another number of `bw_error`.
pub type bw_status = i32;

/// What can go wrong. The numbers never change and are not reused.
///
/// 101 to 199: the caller asked for something that is not possible now; nothing changed. 201 to 299: the peer broke
/// the protocol. 301 to 399: the peers have no common ground. 401 to 499: a configured bound is reached. 501 to 599:
/// it was over already. 601 to 699: how requests end without a result; only events carry them. 901 to 999: what only C
/// can do wrong; nothing changed.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum bw_error {
    /// It went well.
    BW_OK = 0,
    /// No such request is in flight (it may have ended already).
    BW_ERROR_UNKNOWN_REQUEST = 101,
    /// The request was answered before.
    BW_ERROR_ALREADY_ANSWERED = 102,
    /// No such question stands.
    BW_ERROR_UNKNOWN_INPUT = 103,
    /// No such subscription is open.
    BW_ERROR_UNKNOWN_SUBSCRIPTION = 104,
    /// No such session is open.
    BW_ERROR_UNKNOWN_SESSION = 105,
    /// The revision in use has no such message or feature.
    BW_ERROR_NOT_ALLOWED_IN_REVISION = 106,
    /// The peer did not declare the capability that this needs.
    BW_ERROR_CAPABILITY_NOT_DECLARED = 107,
    /// The text is not JSON, or not the kind of JSON value that belongs there.
    BW_ERROR_INVALID_JSON = 108,
    /// A member of a definition is missing or wrong; the message names it.
    BW_ERROR_INVALID_DEFINITION = 109,
    /// The name, URI or template is registered already.
    BW_ERROR_ALREADY_REGISTERED = 110,
    /// Nothing is registered under that name, URI or template.
    BW_ERROR_NOT_REGISTERED = 111,
    /// The URI template does not follow RFC 6570.
    BW_ERROR_INVALID_TEMPLATE = 112,
    /// The request cannot ask for input in this revision or method.
    BW_ERROR_INPUT_NOT_POSSIBLE = 113,
    /// The method is one that the library sends itself, that this side never sends, or of the other kind.
    BW_ERROR_METHOD_NOT_ALLOWED = 114,
    /// A form asks for a property that is not flat; the message names it.
    BW_ERROR_INVALID_FORM_PROPERTY = 115,
    /// An argument of a prompt or completion is not a string; the message names it.
    BW_ERROR_ARGUMENT_NOT_STRING = 116,
    /// The answer to the handshake is not usable.
    BW_ERROR_INVALID_HANDSHAKE = 201,
    /// A handshake came where none belongs.
    BW_ERROR_UNEXPECTED_HANDSHAKE = 202,
    /// No revision is spoken by both sides.
    BW_ERROR_NO_COMMON_REVISION = 301,
    /// The peer lacks a capability that the request cannot do without; the message names it.
    BW_ERROR_MISSING_CAPABILITY = 302,
    /// The limit on the bytes of a message.
    BW_ERROR_LIMIT_MESSAGE_BYTES = 401,
    /// The limit on nesting.
    BW_ERROR_LIMIT_DEPTH = 402,
    /// The limit on requests in flight.
    BW_ERROR_LIMIT_REQUESTS_IN_FLIGHT = 403,
    /// The limit on requests that wait for the connection.
    BW_ERROR_LIMIT_QUEUED_REQUESTS = 404,
    /// The limit on events that wait to be polled.
    BW_ERROR_LIMIT_QUEUED_EVENTS = 405,
    /// The limit on the elements of a batch.
    BW_ERROR_LIMIT_BATCH_ITEMS = 406,
    /// The limit on sessions.
    BW_ERROR_LIMIT_SESSIONS = 407,
    /// The limit on subscriptions.
    BW_ERROR_LIMIT_SUBSCRIPTIONS = 408,
    /// The limit on resources that are watched.
    BW_ERROR_LIMIT_WATCHED_RESOURCES = 409,
    /// The limit on rounds of one request.
    BW_ERROR_LIMIT_ROUNDS = 410,
    /// The limit on questions in one round.
    BW_ERROR_LIMIT_INPUTS = 411,
    /// The limit on the state that travels with a request.
    BW_ERROR_LIMIT_REQUEST_STATE_BYTES = 412,
    /// The memory that is left. Nothing has changed: poll, send, answer, and try again (embedded profile).
    BW_ERROR_LIMIT_MEMORY = 413,
    /// This side closed it.
    BW_ERROR_CLOSED_BY_US = 501,
    /// The peer closed it in order.
    BW_ERROR_CLOSED_BY_PEER = 502,
    /// The transport broke.
    BW_ERROR_TRANSPORT_LOST = 503,
    /// The handshake or probe failed.
    BW_ERROR_HANDSHAKE_FAILED = 504,
    /// A defect of the library was caught; the handle is good for nothing any more but to be freed.
    BW_ERROR_POISONED = 505,
    /// No answer came in time.
    BW_ERROR_TIMED_OUT = 601,
    /// The request was cancelled by this side.
    BW_ERROR_CANCELLED = 602,
    /// The connection ended before the answer came.
    BW_ERROR_CONNECTION_LOST = 603,
    /// The answer is malformed or not what the method defines.
    BW_ERROR_INVALID_RESULT = 604,
    /// A question that had to be answered was refused by this side.
    BW_ERROR_INPUT_REFUSED = 605,
    /// The server asked more often than the limit on rounds allows.
    BW_ERROR_ROUNDS_EXCEEDED = 606,
    /// The server did not answer the handshake in time.
    BW_ERROR_HANDSHAKE_TIMED_OUT = 607,
    /// HTTP: the server refused the request with a status that says nothing of the protocol.
    BW_ERROR_EXCHANGE_REFUSED = 608,
    /// HTTP: the server does not know the session any more.
    BW_ERROR_SESSION_LOST = 609,
    /// HTTP: the server wants authorization.
    BW_ERROR_UNAUTHORIZED = 610,
    /// HTTP: the server is out of order or cannot be reached.
    BW_ERROR_UNAVAILABLE = 611,
    /// HTTP: the response ended before the answer.
    BW_ERROR_TRUNCATED = 612,
    /// A handle, text or place for a result is NULL and must not be.
    BW_ERROR_NULL_ARGUMENT = 901,
    /// A text is not UTF-8, or a JSON string has no form in UTF-8 (a lone surrogate).
    BW_ERROR_NOT_UTF8 = 902,
    /// A number is none of those that the argument takes.
    BW_ERROR_INVALID_ARGUMENT = 903,
    /// The function is for handles of the other transport: byte stream or HTTP.
    BW_ERROR_WRONG_TRANSPORT = 904,
    /// The buffer is too small; the length that is needed was given.
    BW_ERROR_BUFFER_TOO_SMALL = 905,
    /// There is nothing under the JSON pointer, key or index.
    BW_ERROR_NOT_FOUND = 906,
    /// The JSON value is of another type.
    BW_ERROR_WRONG_TYPE = 907,
    /// The number does not fit the type without being changed.
    BW_ERROR_OUT_OF_RANGE = 908,
    /// A value was written where none can stand, or what was begun is not ended.
    BW_ERROR_WRITER_MISUSED = 909,
    /// The request is not authorized: refuse it as the `bw_denial` says.
    BW_ERROR_DENIED = 910,
}

/// Every number with its name.
const NAMES: &[(bw_error, &CStr)] = {
    use bw_error::*;
    &[
        (BW_OK, c"BW_OK"),
        (BW_ERROR_UNKNOWN_REQUEST, c"BW_ERROR_UNKNOWN_REQUEST"),
        (BW_ERROR_ALREADY_ANSWERED, c"BW_ERROR_ALREADY_ANSWERED"),
        (BW_ERROR_UNKNOWN_INPUT, c"BW_ERROR_UNKNOWN_INPUT"),
        (BW_ERROR_UNKNOWN_SUBSCRIPTION, c"BW_ERROR_UNKNOWN_SUBSCRIPTION"),
        (BW_ERROR_UNKNOWN_SESSION, c"BW_ERROR_UNKNOWN_SESSION"),
        (BW_ERROR_NOT_ALLOWED_IN_REVISION, c"BW_ERROR_NOT_ALLOWED_IN_REVISION"),
        (BW_ERROR_CAPABILITY_NOT_DECLARED, c"BW_ERROR_CAPABILITY_NOT_DECLARED"),
        (BW_ERROR_INVALID_JSON, c"BW_ERROR_INVALID_JSON"),
        (BW_ERROR_INVALID_DEFINITION, c"BW_ERROR_INVALID_DEFINITION"),
        (BW_ERROR_ALREADY_REGISTERED, c"BW_ERROR_ALREADY_REGISTERED"),
        (BW_ERROR_NOT_REGISTERED, c"BW_ERROR_NOT_REGISTERED"),
        (BW_ERROR_INVALID_TEMPLATE, c"BW_ERROR_INVALID_TEMPLATE"),
        (BW_ERROR_INPUT_NOT_POSSIBLE, c"BW_ERROR_INPUT_NOT_POSSIBLE"),
        (BW_ERROR_METHOD_NOT_ALLOWED, c"BW_ERROR_METHOD_NOT_ALLOWED"),
        (BW_ERROR_INVALID_FORM_PROPERTY, c"BW_ERROR_INVALID_FORM_PROPERTY"),
        (BW_ERROR_ARGUMENT_NOT_STRING, c"BW_ERROR_ARGUMENT_NOT_STRING"),
        (BW_ERROR_INVALID_HANDSHAKE, c"BW_ERROR_INVALID_HANDSHAKE"),
        (BW_ERROR_UNEXPECTED_HANDSHAKE, c"BW_ERROR_UNEXPECTED_HANDSHAKE"),
        (BW_ERROR_NO_COMMON_REVISION, c"BW_ERROR_NO_COMMON_REVISION"),
        (BW_ERROR_MISSING_CAPABILITY, c"BW_ERROR_MISSING_CAPABILITY"),
        (BW_ERROR_LIMIT_MESSAGE_BYTES, c"BW_ERROR_LIMIT_MESSAGE_BYTES"),
        (BW_ERROR_LIMIT_DEPTH, c"BW_ERROR_LIMIT_DEPTH"),
        (BW_ERROR_LIMIT_REQUESTS_IN_FLIGHT, c"BW_ERROR_LIMIT_REQUESTS_IN_FLIGHT"),
        (BW_ERROR_LIMIT_QUEUED_REQUESTS, c"BW_ERROR_LIMIT_QUEUED_REQUESTS"),
        (BW_ERROR_LIMIT_QUEUED_EVENTS, c"BW_ERROR_LIMIT_QUEUED_EVENTS"),
        (BW_ERROR_LIMIT_BATCH_ITEMS, c"BW_ERROR_LIMIT_BATCH_ITEMS"),
        (BW_ERROR_LIMIT_SESSIONS, c"BW_ERROR_LIMIT_SESSIONS"),
        (BW_ERROR_LIMIT_SUBSCRIPTIONS, c"BW_ERROR_LIMIT_SUBSCRIPTIONS"),
        (BW_ERROR_LIMIT_WATCHED_RESOURCES, c"BW_ERROR_LIMIT_WATCHED_RESOURCES"),
        (BW_ERROR_LIMIT_ROUNDS, c"BW_ERROR_LIMIT_ROUNDS"),
        (BW_ERROR_LIMIT_INPUTS, c"BW_ERROR_LIMIT_INPUTS"),
        (BW_ERROR_LIMIT_REQUEST_STATE_BYTES, c"BW_ERROR_LIMIT_REQUEST_STATE_BYTES"),
        (BW_ERROR_LIMIT_MEMORY, c"BW_ERROR_LIMIT_MEMORY"),
        (BW_ERROR_CLOSED_BY_US, c"BW_ERROR_CLOSED_BY_US"),
        (BW_ERROR_CLOSED_BY_PEER, c"BW_ERROR_CLOSED_BY_PEER"),
        (BW_ERROR_TRANSPORT_LOST, c"BW_ERROR_TRANSPORT_LOST"),
        (BW_ERROR_HANDSHAKE_FAILED, c"BW_ERROR_HANDSHAKE_FAILED"),
        (BW_ERROR_POISONED, c"BW_ERROR_POISONED"),
        (BW_ERROR_TIMED_OUT, c"BW_ERROR_TIMED_OUT"),
        (BW_ERROR_CANCELLED, c"BW_ERROR_CANCELLED"),
        (BW_ERROR_CONNECTION_LOST, c"BW_ERROR_CONNECTION_LOST"),
        (BW_ERROR_INVALID_RESULT, c"BW_ERROR_INVALID_RESULT"),
        (BW_ERROR_INPUT_REFUSED, c"BW_ERROR_INPUT_REFUSED"),
        (BW_ERROR_ROUNDS_EXCEEDED, c"BW_ERROR_ROUNDS_EXCEEDED"),
        (BW_ERROR_HANDSHAKE_TIMED_OUT, c"BW_ERROR_HANDSHAKE_TIMED_OUT"),
        (BW_ERROR_EXCHANGE_REFUSED, c"BW_ERROR_EXCHANGE_REFUSED"),
        (BW_ERROR_SESSION_LOST, c"BW_ERROR_SESSION_LOST"),
        (BW_ERROR_UNAUTHORIZED, c"BW_ERROR_UNAUTHORIZED"),
        (BW_ERROR_UNAVAILABLE, c"BW_ERROR_UNAVAILABLE"),
        (BW_ERROR_TRUNCATED, c"BW_ERROR_TRUNCATED"),
        (BW_ERROR_NULL_ARGUMENT, c"BW_ERROR_NULL_ARGUMENT"),
        (BW_ERROR_NOT_UTF8, c"BW_ERROR_NOT_UTF8"),
        (BW_ERROR_INVALID_ARGUMENT, c"BW_ERROR_INVALID_ARGUMENT"),
        (BW_ERROR_WRONG_TRANSPORT, c"BW_ERROR_WRONG_TRANSPORT"),
        (BW_ERROR_BUFFER_TOO_SMALL, c"BW_ERROR_BUFFER_TOO_SMALL"),
        (BW_ERROR_NOT_FOUND, c"BW_ERROR_NOT_FOUND"),
        (BW_ERROR_WRONG_TYPE, c"BW_ERROR_WRONG_TYPE"),
        (BW_ERROR_OUT_OF_RANGE, c"BW_ERROR_OUT_OF_RANGE"),
        (BW_ERROR_WRITER_MISUSED, c"BW_ERROR_WRITER_MISUSED"),
        (BW_ERROR_DENIED, c"BW_ERROR_DENIED"),
    ]
};

/// Codes of JSON-RPC errors that the protocol gives a meaning. Servers may answer others.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum bw_rpc_code {
    /// The text is not JSON (JSON-RPC 2.0, section 5.1).
    BW_RPC_PARSE_ERROR = -32700,
    /// The JSON is not a request (JSON-RPC 2.0, section 5.1).
    BW_RPC_INVALID_REQUEST = -32600,
    /// No such method, or not offered (JSON-RPC 2.0, section 5.1).
    BW_RPC_METHOD_NOT_FOUND = -32601,
    /// The parameters are wrong (JSON-RPC 2.0, section 5.1).
    BW_RPC_INVALID_PARAMS = -32602,
    /// The receiver failed (JSON-RPC 2.0, section 5.1).
    BW_RPC_INTERNAL_ERROR = -32603,
    /// No such resource. Written for all revisions; clients from 2026-07-28 get the code they expect.
    BW_RPC_RESOURCE_NOT_FOUND = -32002,
    /// Headers and body disagree, from 2026-07-28 (basic/transports/streamable-http).
    BW_RPC_HEADER_MISMATCH = -32020,
    /// The client did not declare what the request needs, from 2026-07-28 (basic/index).
    BW_RPC_MISSING_CLIENT_CAPABILITY = -32021,
    /// The revision named by the client is not served, from 2026-07-28 (basic/versioning).
    BW_RPC_UNSUPPORTED_PROTOCOL_VERSION = -32022,
    /// The user must visit URLs first, in 2025-11-25 (client/elicitation).
    BW_RPC_URL_ELICITATION_REQUIRED = -32042,
    /// The client has cancelled the request.
    BW_RPC_REQUEST_CANCELLED = -32800,
    /// The user refused, up to 2025-11-25 (client/sampling).
    BW_RPC_USER_REFUSED = -1,
}

/// Why a call failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The core says so.
    Core(Error),
    /// What only C can do wrong.
    Own(bw_error, &'static str),
    /// What a JSON writer was told before, by its number.
    Writer(bw_status),
    /// An authorization says so.
    #[cfg(feature = "http")]
    Authorization(AuthorizationError),
}

/// What a function says of how its work went.
pub(crate) fn status_of(outcome: Result<(), Failure>) -> bw_status {
    outcome.err().map_or(0, |failure| failure.code())
}

impl Failure {
    pub(crate) const NULL: Failure = Failure::Own(bw_error::BW_ERROR_NULL_ARGUMENT, "an argument is NULL");
    #[cfg(feature = "http")]
    pub(crate) const WRONG_TRANSPORT: Failure =
        Failure::Own(bw_error::BW_ERROR_WRONG_TRANSPORT, "the handle has another transport");
    pub(crate) const POISONED: Failure = Failure::Core(Error::Closed(CloseReason::Poisoned));

    pub(crate) const fn argument(what: &'static str) -> Failure {
        Failure::Own(bw_error::BW_ERROR_INVALID_ARGUMENT, what)
    }

    pub(crate) fn code(&self) -> bw_status {
        match self {
            Failure::Core(error) => bw_status::from(error.code()),
            Failure::Own(code, _) => *code as bw_status,
            Failure::Writer(code) => *code,
            #[cfg(feature = "http")]
            Failure::Authorization(error) => bw_status::from(error.code()),
        }
    }

    pub(crate) fn is_poisoned(&self) -> bool {
        matches!(self, Failure::Core(Error::Closed(CloseReason::Poisoned)))
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure::Core(error)
    }
}

impl From<ApiMisuse> for Failure {
    fn from(misuse: ApiMisuse) -> Failure {
        Failure::Core(misuse.into())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Core(error) => error.fmt(f),
            Failure::Own(_, what) => f.write_str(what),
            Failure::Writer(code) => write!(f, "the writer holds no result ({code})"),
            #[cfg(feature = "http")]
            Failure::Authorization(error) => error.fmt(f),
        }
    }
}

/// The name of a number of `bw_error` or `bw_authorization_error`, such as "BW_ERROR_UNKNOWN_REQUEST". The text ends with a NUL and is never freed.
/// A number that is none of them gives "BW_ERROR_UNKNOWN".
#[unsafe(no_mangle)]
pub extern "C" fn bw_error_name(status: bw_status) -> *const c_char {
    let known = NAMES.iter().find(|(error, _)| *error as bw_status == status).map(|(_, name)| *name);
    #[cfg(feature = "http")]
    let known = known.or_else(|| crate::auth::error_name(status));
    known.unwrap_or(c"BW_ERROR_UNKNOWN").as_ptr()
}

/// Whether a machine that answered `status` is of no use any more: it has ended, or the peer is one that it cannot talk
/// to. After any other number it goes on as before.
#[unsafe(no_mangle)]
pub extern "C" fn bw_error_is_fatal(status: bw_status) -> bool {
    matches!(status, 201..=299 | 301 | 501..=599)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use barewire::client::{DisconnectReason, FailureReason};
    use barewire::{
        Capability, Failure as ExchangeFailure, InputHandle, Json, Limit, PeerIncompatible, PeerMisbehaved,
        Revision, RpcError, Violation,
    };
    use bw_error::*;

    fn errors() -> Vec<(bw_error, Error)> {
        let misuses = [
            (BW_ERROR_UNKNOWN_REQUEST, ApiMisuse::UnknownRequest),
            (BW_ERROR_ALREADY_ANSWERED, ApiMisuse::AlreadyAnswered),
            (BW_ERROR_UNKNOWN_INPUT, ApiMisuse::UnknownInput),
            (BW_ERROR_UNKNOWN_SUBSCRIPTION, ApiMisuse::UnknownSubscription),
            (BW_ERROR_UNKNOWN_SESSION, ApiMisuse::UnknownSession),
            (BW_ERROR_NOT_ALLOWED_IN_REVISION, ApiMisuse::NotAllowedInRevision(Revision::ALL[0])),
            (BW_ERROR_CAPABILITY_NOT_DECLARED, ApiMisuse::CapabilityNotDeclared(Capability::Tools)),
            (BW_ERROR_INVALID_JSON, ApiMisuse::InvalidJson),
            (BW_ERROR_INVALID_DEFINITION, ApiMisuse::InvalidDefinition("name")),
            (BW_ERROR_ALREADY_REGISTERED, ApiMisuse::AlreadyRegistered),
            (BW_ERROR_NOT_REGISTERED, ApiMisuse::NotRegistered),
            (BW_ERROR_INVALID_TEMPLATE, ApiMisuse::InvalidTemplate),
            (BW_ERROR_INPUT_NOT_POSSIBLE, ApiMisuse::InputNotPossible),
            (BW_ERROR_METHOD_NOT_ALLOWED, ApiMisuse::MethodNotAllowed),
            (BW_ERROR_INVALID_FORM_PROPERTY, ApiMisuse::InvalidFormProperty("a".into())),
            (BW_ERROR_ARGUMENT_NOT_STRING, ApiMisuse::ArgumentNotString("a".into())),
        ];
        let limits = [
            (BW_ERROR_LIMIT_MESSAGE_BYTES, Limit::MessageBytes),
            (BW_ERROR_LIMIT_DEPTH, Limit::Depth),
            (BW_ERROR_LIMIT_REQUESTS_IN_FLIGHT, Limit::RequestsInFlight),
            (BW_ERROR_LIMIT_QUEUED_REQUESTS, Limit::QueuedRequests),
            (BW_ERROR_LIMIT_QUEUED_EVENTS, Limit::QueuedEvents),
            (BW_ERROR_LIMIT_BATCH_ITEMS, Limit::BatchItems),
            (BW_ERROR_LIMIT_SESSIONS, Limit::Sessions),
            (BW_ERROR_LIMIT_SUBSCRIPTIONS, Limit::Subscriptions),
            (BW_ERROR_LIMIT_WATCHED_RESOURCES, Limit::WatchedResources),
            (BW_ERROR_LIMIT_ROUNDS, Limit::Rounds),
            (BW_ERROR_LIMIT_INPUTS, Limit::Inputs),
            (BW_ERROR_LIMIT_REQUEST_STATE_BYTES, Limit::RequestStateBytes),
            (BW_ERROR_LIMIT_MEMORY, Limit::Memory),
        ];
        let ends = [
            (BW_ERROR_CLOSED_BY_US, CloseReason::ByUs),
            (BW_ERROR_CLOSED_BY_PEER, CloseReason::ByPeer),
            (BW_ERROR_TRANSPORT_LOST, CloseReason::TransportLost),
            (BW_ERROR_HANDSHAKE_FAILED, CloseReason::HandshakeFailed),
            (BW_ERROR_POISONED, CloseReason::Poisoned),
        ];
        let none = PeerIncompatible::NoCommonRevision { ours: Vec::new(), theirs: Vec::new() };
        let lacks = PeerIncompatible::MissingCapability(Json::new("{}").unwrap());
        let others = [
            (BW_ERROR_INVALID_HANDSHAKE, Error::PeerMisbehaved(PeerMisbehaved::InvalidHandshake)),
            (BW_ERROR_UNEXPECTED_HANDSHAKE, Error::PeerMisbehaved(PeerMisbehaved::UnexpectedHandshake)),
            (BW_ERROR_NO_COMMON_REVISION, Error::PeerIncompatible(none)),
            (BW_ERROR_MISSING_CAPABILITY, Error::PeerIncompatible(lacks)),
        ];
        let misuses = misuses.into_iter().map(|(name, misuse)| (name, Error::ApiMisuse(misuse)));
        let limits = limits.into_iter().map(|(name, limit)| (name, Error::LimitExceeded(limit)));
        let ends = ends.into_iter().map(|(name, reason)| (name, Error::Closed(reason)));
        misuses.chain(others).chain(limits).chain(ends).collect()
    }

    #[test]
    fn numbers_are_those_of_the_core() {
        for (name, error) in errors() {
            assert_eq!(name as bw_status, bw_status::from(error.code()), "{error}");
            assert_eq!(bw_error_is_fatal(name as bw_status), error.is_fatal(), "{error}");
        }
        let ends = [
            (BW_ERROR_TIMED_OUT, FailureReason::TimedOut),
            (BW_ERROR_CANCELLED, FailureReason::Cancelled),
            (BW_ERROR_CONNECTION_LOST, FailureReason::ConnectionLost),
            (BW_ERROR_INVALID_RESULT, FailureReason::InvalidResult(Violation::NotJson)),
            (BW_ERROR_INPUT_REFUSED, FailureReason::InputRefused(InputHandle::from_number(1))),
            (BW_ERROR_ROUNDS_EXCEEDED, FailureReason::RoundsExceeded),
        ];
        for (name, reason) in ends {
            assert_eq!(name as i64, reason.code(), "{reason}");
        }
        assert_eq!(BW_ERROR_HANDSHAKE_TIMED_OUT as i64, DisconnectReason::HandshakeTimedOut.code());
        let exchanges = [
            (BW_ERROR_EXCHANGE_REFUSED, ExchangeFailure::Refused { status: 418 }),
            (BW_ERROR_SESSION_LOST, ExchangeFailure::SessionLost { is_current: true }),
            (BW_ERROR_UNAUTHORIZED, ExchangeFailure::Unauthorized { status: 401 }),
            (BW_ERROR_UNAVAILABLE, ExchangeFailure::Unavailable { status: None }),
            (BW_ERROR_TRUNCATED, ExchangeFailure::Truncated),
        ];
        for (name, failure) in exchanges {
            assert_eq!(name as i64, failure.code(), "{failure}");
        }
    }

    #[test]
    fn every_number_has_its_name() {
        for (error, name) in NAMES {
            let text = alloc::format!("{error:?}");
            assert_eq!(name.to_str(), Ok(&*text));
            // SAFETY: names end with a NUL.
            assert_eq!(unsafe { CStr::from_ptr(bw_error_name(*error as bw_status)) }, *name);
        }
        // SAFETY: as above.
        assert_eq!(unsafe { CStr::from_ptr(bw_error_name(100)) }, c"BW_ERROR_UNKNOWN");
        let source = include_str!("status.rs");
        let declared = source
            .lines()
            .filter(|line| line.trim_start().starts_with("BW_") && line.contains(" = "))
            .count();
        assert_eq!(declared, NAMES.len() + 12, "each of both enums");
    }

    #[test]
    fn codes_of_json_rpc_are_those_of_the_core() {
        use bw_rpc_code::*;
        let codes = [
            (BW_RPC_PARSE_ERROR, RpcError::PARSE_ERROR),
            (BW_RPC_INVALID_REQUEST, RpcError::INVALID_REQUEST),
            (BW_RPC_METHOD_NOT_FOUND, RpcError::METHOD_NOT_FOUND),
            (BW_RPC_INVALID_PARAMS, RpcError::INVALID_PARAMS),
            (BW_RPC_INTERNAL_ERROR, RpcError::INTERNAL_ERROR),
            (BW_RPC_RESOURCE_NOT_FOUND, RpcError::RESOURCE_NOT_FOUND),
            (BW_RPC_HEADER_MISMATCH, RpcError::HEADER_MISMATCH),
            (BW_RPC_MISSING_CLIENT_CAPABILITY, RpcError::MISSING_CLIENT_CAPABILITY),
            (BW_RPC_UNSUPPORTED_PROTOCOL_VERSION, RpcError::UNSUPPORTED_PROTOCOL_VERSION),
            (BW_RPC_URL_ELICITATION_REQUIRED, RpcError::URL_ELICITATION_REQUIRED),
            (BW_RPC_REQUEST_CANCELLED, RpcError::REQUEST_CANCELLED),
            (BW_RPC_USER_REFUSED, RpcError::USER_REFUSED),
        ];
        for (name, code) in codes {
            assert_eq!(name as i64, code);
        }
    }
}
