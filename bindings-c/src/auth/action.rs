//! What an authorization asks of its host.

use alloc::vec::Vec;

use core::mem::MaybeUninit;

use barewire::auth::{Action, ActionKind, HttpPurpose, Secret, SigningKey, SigningRequest, StoredRecord};

use crate::bytes::{bw_bytes, bw_pair};
use crate::status::Failure;

/// One thing to do. It belongs to its authorization: it is good until the next `bw_authorization_poll_action` on the same
/// handle, or until that is freed, and is never freed itself. The other functions of the handle leave it as it is.
/// Everything that its accessors give is good for as long as the action, and much of it is secret.
///
/// Each accessor names the kinds of actions that have the member. Of other actions, and of NULL, it gives nothing: NULL
/// data, 0 or false.
pub struct bw_action {
    action: Option<Action>,
    /// Those of a request, as C reads them.
    headers: Vec<bw_pair>,
}

/// What to do. Each is answered with the function that its kind names, or with `bw_authorization_fail_action`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum bw_action_type {
    /// No action.
    BW_ACTION_NONE = 0,
    /// Read what is stored for this MCP server and principal, as it is now; other processes may have written it. Answer
    /// with `bw_authorization_loaded`.
    BW_ACTION_LOAD = 1,
    /// Store the record if the store still has the expected generation; answer with `bw_authorization_saved` or
    /// `bw_authorization_save_conflicted`. It holds tokens and secrets: keep it like passwords. Members:
    /// expected_generation, record.
    BW_ACTION_SAVE = 2,
    /// Carry out an HTTP request; answer with `bw_authorization_receive_response`. Members: request.
    BW_ACTION_SEND = 3,
    /// Listen at the redirect URI, then open the user's browser, never through a shell; answer with
    /// `bw_authorization_receive_callback` when it comes back. Members: url, redirect_uri.
    BW_ACTION_OPEN_USER_AGENT = 4,
    /// Sign; answer with `bw_authorization_signed`. Members: signing.
    BW_ACTION_SIGN = 5,
    /// Ask the user for a client that is registered at this authorization server; answer with
    /// `bw_authorization_client_provided`. Members: issuer.
    BW_ACTION_PROVIDE_CLIENT = 6,
    /// Get an assertion that is valid now: the user's ID token or SAML assertion (enterprise), or the JWT of the workload,
    /// which must be for `issuer`; answer with `bw_authorization_assertion_provided`. Members: issuer, resource.
    BW_ACTION_PROVIDE_ASSERTION = 7,
}

/// Why an action was not carried out.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum bw_action_failure {
    /// No response came, or not all of it; a store, a signer or a source of assertions is out of order. Worth another try.
    BW_ACTION_UNAVAILABLE = 1,
    /// The body is longer than `response_bytes` of the request.
    BW_ACTION_TOO_LARGE = 2,
    /// A policy of the host forbids it.
    BW_ACTION_FORBIDDEN = 3,
    /// The user does not want it.
    BW_ACTION_DECLINED = 4,
}

/// What an HTTP request is for, so that the host can apply its policies: which addresses may be reached, through which proxy
/// (tutorials/security/security_best_practices, Server-Side Request Forgery).
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum bw_http_purpose {
    /// Protected resource metadata (RFC 9728); the URL may come from the MCP server.
    BW_PURPOSE_RESOURCE_METADATA = 1,
    /// Authorization server metadata (RFC 8414, OpenID Connect Discovery); the URL comes from the MCP server.
    BW_PURPOSE_SERVER_METADATA = 2,
    /// Dynamic registration (RFC 7591).
    BW_PURPOSE_REGISTRATION = 3,
    /// A token.
    BW_PURPOSE_TOKEN = 4,
    /// A token exchange at the identity provider, whose URL is configured.
    BW_PURPOSE_IDENTITY_PROVIDER = 5,
}

/// A key of the host.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum bw_signing_key {
    /// The key of a client, with which it authenticates.
    BW_KEY_CLIENT = 1,
    /// The key that tokens are bound to.
    BW_KEY_DPOP = 2,
}

/// An HTTP request to carry out. The host follows no redirect and sends no cookies: the response is handed in, whatever its
/// status. Time limits are the host's.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct bw_oauth_request {
    /// What it is for, a number of `bw_http_purpose`.
    pub(crate) purpose: i32,
    /// The method: GET or POST.
    pub(crate) method: bw_bytes,
    /// Where to.
    pub(crate) url: bw_bytes,
    /// Names in lower case, and values, without those of the host's own (`Host`, `Content-Length`, ...).
    pub(crate) headers: *const bw_pair,
    /// How many headers there are.
    pub(crate) header_count: usize,
    /// The body; empty for GET.
    pub(crate) body: bw_bytes,
    /// The body of the response may have no more bytes than this: read no further, and fail with BW_ACTION_TOO_LARGE.
    pub(crate) response_bytes: usize,
}

/// Bytes to sign, which become a JWT with their signature (RFC 7515, section 5.1).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct bw_signing_request {
    /// With which key, a number of `bw_signing_key`; 0 if there is nothing to sign.
    pub(crate) key: i32,
    /// The client whose key it is; nothing for the key that tokens are bound to.
    pub(crate) client_id: bw_bytes,
    /// The algorithm's name in JOSE, as configured. The signature has the form of RFC 7518: for ECDSA the two numbers one
    /// after the other, not DER.
    pub(crate) algorithm: bw_bytes,
    /// What is signed, as ASCII.
    pub(crate) input: bw_bytes,
}

/// What is stored between processes and runs. Key of the entry: the URL of the MCP server, and the principal.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct bw_stored_record {
    /// One more with each change; the first is 1.
    pub(crate) generation: u64,
    /// JSON; its members are the machine's own affair. Secret.
    pub(crate) text: bw_bytes,
}

impl bw_stored_record {
    pub(super) fn read(&self) -> Result<StoredRecord, Failure> {
        Ok(StoredRecord { generation: self.generation, text: self.text.text()?.into() })
    }
}

impl bw_signing_request {
    pub(super) const NONE: bw_signing_request = bw_signing_request {
        key: 0,
        client_id: bw_bytes::NONE,
        algorithm: bw_bytes::NONE,
        input: bw_bytes::NONE,
    };

    pub(super) fn of(request: &SigningRequest) -> bw_signing_request {
        let (key, client_id) = match &request.key {
            SigningKey::Client { client_id } => (bw_signing_key::BW_KEY_CLIENT, Some(&**client_id)),
            SigningKey::Dpop => (bw_signing_key::BW_KEY_DPOP, None),
            // The core marks its keys as open for more.
            _ => return bw_signing_request::NONE,
        };
        bw_signing_request {
            key: key as i32,
            client_id: bw_bytes::text_or_none(client_id),
            algorithm: bw_bytes::text_of(&request.algorithm),
            input: secret(&request.input),
        }
    }
}

pub(super) fn secret(text: &Secret) -> bw_bytes {
    bw_bytes::text_of(text.expose())
}

fn purpose(purpose: HttpPurpose) -> i32 {
    let purpose = match purpose {
        HttpPurpose::ResourceMetadata => bw_http_purpose::BW_PURPOSE_RESOURCE_METADATA,
        HttpPurpose::ServerMetadata => bw_http_purpose::BW_PURPOSE_SERVER_METADATA,
        HttpPurpose::Registration => bw_http_purpose::BW_PURPOSE_REGISTRATION,
        HttpPurpose::Token => bw_http_purpose::BW_PURPOSE_TOKEN,
        HttpPurpose::IdentityProvider => bw_http_purpose::BW_PURPOSE_IDENTITY_PROVIDER,
        // The core marks its purposes as open for more.
        _ => return 0,
    };
    purpose as i32
}

impl bw_action {
    pub(super) const fn none() -> bw_action {
        bw_action { action: None, headers: Vec::new() }
    }

    pub(super) fn of(action: Action) -> bw_action {
        let headers = match &action.kind {
            // The texts lie in boxes of their own, which do not move with the action.
            ActionKind::Send(request) => {
                let pair = |name: &str, value: &Secret| bw_pair {
                    name: bw_bytes::text_of(name),
                    value: secret(value),
                };
                request.headers.iter().map(|(name, value)| pair(name, value)).collect()
            }
            _ => Vec::new(),
        };
        bw_action { action: Some(action), headers }
    }
}

fn kind(action: Option<&bw_action>) -> Option<&ActionKind> {
    action.and_then(|action| action.action.as_ref()).map(|action| &action.kind)
}

/// Writes what was found, if it was.
fn give<T>(found: Option<T>, out: Option<&mut MaybeUninit<T>>) -> bool {
    match (found, out) {
        (Some(found), Some(out)) => {
            out.write(found);
            true
        }
        _ => false,
    }
}

/// What to do; `BW_ACTION_NONE` for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn bw_action_kind(action: Option<&bw_action>) -> bw_action_type {
    match kind(action) {
        Some(ActionKind::Load) => bw_action_type::BW_ACTION_LOAD,
        Some(ActionKind::Save { .. }) => bw_action_type::BW_ACTION_SAVE,
        Some(ActionKind::Send(_)) => bw_action_type::BW_ACTION_SEND,
        Some(ActionKind::OpenUserAgent(_)) => bw_action_type::BW_ACTION_OPEN_USER_AGENT,
        Some(ActionKind::Sign(_)) => bw_action_type::BW_ACTION_SIGN,
        Some(ActionKind::ProvideClient { .. }) => bw_action_type::BW_ACTION_PROVIDE_CLIENT,
        Some(ActionKind::ProvideAssertion { .. }) => bw_action_type::BW_ACTION_PROVIDE_ASSERTION,
        // The core marks its kinds as open for more.
        _ => bw_action_type::BW_ACTION_NONE,
    }
}

/// Names the action in its answer; never 0 but for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn bw_action_handle(action: Option<&bw_action>) -> u64 {
    action.and_then(|action| action.action.as_ref()).map_or(0, |action| action.handle.number())
}

/// The generation that the store must have, 0 if there must be nothing: SAVE.
#[unsafe(no_mangle)]
pub extern "C" fn bw_action_expected_generation(action: Option<&bw_action>) -> u64 {
    match kind(action) {
        Some(ActionKind::Save { expected, .. }) => *expected,
        _ => 0,
    }
}

/// What to store: SAVE. False, and nothing written, otherwise.
#[unsafe(no_mangle)]
pub extern "C" fn bw_action_record(
    action: Option<&bw_action>,
    record: Option<&mut MaybeUninit<bw_stored_record>>,
) -> bool {
    let found = match kind(action) {
        Some(ActionKind::Save { record, .. }) => {
            Some(bw_stored_record { generation: record.generation, text: secret(&record.text) })
        }
        _ => None,
    };
    give(found, record)
}

/// The request to carry out: SEND. False, and nothing written, otherwise.
#[unsafe(no_mangle)]
pub extern "C" fn bw_action_request(
    action: Option<&bw_action>,
    request: Option<&mut MaybeUninit<bw_oauth_request>>,
) -> bool {
    let headers = action.map_or(&[][..], |action| &action.headers);
    let found = match kind(action) {
        Some(ActionKind::Send(request)) => Some(bw_oauth_request {
            purpose: purpose(request.purpose),
            method: bw_bytes::text_of(request.method),
            url: bw_bytes::text_of(&request.url),
            headers: headers.as_ptr(),
            header_count: headers.len(),
            body: secret(&request.body),
            response_bytes: request.response_bytes,
        }),
        _ => None,
    };
    give(found, request)
}

/// What to sign: SIGN. False, and nothing written, otherwise.
#[unsafe(no_mangle)]
pub extern "C" fn bw_action_signing(
    action: Option<&bw_action>,
    signing: Option<&mut MaybeUninit<bw_signing_request>>,
) -> bool {
    let found = match kind(action) {
        Some(ActionKind::Sign(request)) => Some(bw_signing_request::of(request)),
        _ => None,
    };
    give(found, signing)
}

/// The URL to open; it carries `state` and the challenge: OPEN_USER_AGENT.
#[unsafe(no_mangle)]
pub extern "C" fn bw_action_url(action: Option<&bw_action>) -> bw_bytes {
    match kind(action) {
        Some(ActionKind::OpenUserAgent(visit)) => bw_bytes::text_of(&visit.url),
        _ => bw_bytes::NONE,
    }
}

/// Where the user agent comes back to: OPEN_USER_AGENT.
#[unsafe(no_mangle)]
pub extern "C" fn bw_action_redirect_uri(action: Option<&bw_action>) -> bw_bytes {
    match kind(action) {
        Some(ActionKind::OpenUserAgent(visit)) => bw_bytes::text_of(&visit.redirect_uri),
        _ => bw_bytes::NONE,
    }
}

/// The issuer identifier of the authorization server: PROVIDE_CLIENT, PROVIDE_ASSERTION.
#[unsafe(no_mangle)]
pub extern "C" fn bw_action_issuer(action: Option<&bw_action>) -> bw_bytes {
    match kind(action) {
        Some(ActionKind::ProvideClient { issuer } | ActionKind::ProvideAssertion { issuer, .. }) => {
            bw_bytes::text_of(issuer)
        }
        _ => bw_bytes::NONE,
    }
}

/// The MCP server: PROVIDE_ASSERTION.
#[unsafe(no_mangle)]
pub extern "C" fn bw_action_resource(action: Option<&bw_action>) -> bw_bytes {
    match kind(action) {
        Some(ActionKind::ProvideAssertion { resource, .. }) => bw_bytes::text_of(resource),
        _ => bw_bytes::NONE,
    }
}
