//! Authorization: the OAuth client as a machine, and what a protected server says and checks.

mod action;
mod config;
mod error;
mod resource_server;

pub use action::*;
pub use config::*;
pub use error::bw_authorization_error;
pub(crate) use error::error_name;
pub use resource_server::*;

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::ffi::c_char;
use core::mem::MaybeUninit;

use barewire::UnixTime;
use barewire::auth::{
    ActionFailure, ActionHandle, Authorization, AuthorizationError, AuthorizationEvent, Credentials,
    OAuthError, Refusal, SaveOutcome, SigningKey, SigningRequest, StoredRecord, dpop_proof,
};

use crate::bytes::{array_or_empty, buffer, bw_bytes, bw_pair, pairs, place};
use crate::guard::{Held, free, status};
use crate::status::{Failure, bw_error, bw_status, status_of};
use crate::values::BW_NEVER;

/// The authorization of one principal at one MCP server (basic/authorization), whatever revision is spoken: the OAuth client
/// as a machine that does no I/O and signs nothing.
///
/// Before each request to the MCP server: `bw_authorization_is_ready`, and if it is not, `bw_authorization_acquire` and wait
/// for the event; then `bw_authorization_credentials`. After AUTHORIZATION_REQUIRED: `bw_authorization_challenge`, wait for
/// the event, then `bw_client_http_authorized` or `bw_client_http_unauthorized`. After each function: carry out what
/// `bw_authorization_poll_action` gives, and poll the events; `bw_authorization_handle_timeout` when it is due.
///
/// Whoever made it with `bw_authorization_new` frees it with `bw_authorization_free`. It may be used by any thread, by one
/// at a time. Times are milliseconds since 1970. All functions answer BW_ERROR_NULL_ARGUMENT for NULL, BW_ERROR_NOT_UTF8 for
/// a text that is not UTF-8 and, once a defect of the library was caught, BW_ERROR_POISONED.
pub struct bw_authorization {
    held: Held<Authorization>,
    /// Comes from a box. It is reached through this pointer only, so that C may read an action while it answers it.
    action: *mut bw_action,
    event: Told,
    credentials: Option<Credentials>,
}

impl Drop for bw_authorization {
    fn drop(&mut self) {
        // SAFETY: the pointer comes from a box that was not given back before.
        drop(unsafe { Box::from_raw(self.action) });
    }
}

/// The event that was given last.
#[derive(Default)]
struct Told {
    error: Option<AuthorizationError>,
    message: String,
}

/// What an authorization tells whoever waits for credentials. What it points to is good until the next
/// `bw_authorization_poll_event` on the handle.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct bw_authorization_event {
    /// Who waited, as given to `bw_authorization_acquire` or `bw_authorization_challenge`.
    pub(crate) waiter: u64,
    /// 0: there is something to try, `bw_authorization_credentials` gives it. Otherwise there is not: a number of
    /// `bw_authorization_error`.
    pub(crate) error: i32,
    /// Whether the same may work a little later: nothing was decided.
    pub(crate) is_retryable: bool,
    /// The error in words, for people; nothing without one. It holds no secret.
    pub(crate) message: bw_bytes,
    /// `error` of the OAuth response, where there was one (OAuth 2.1, sections 3.2.4 and 4.1.2.1): the peer's words.
    pub(crate) oauth_error: bw_bytes,
    /// Its `error_description`.
    pub(crate) oauth_description: bw_bytes,
    /// Its `error_uri`.
    pub(crate) oauth_uri: bw_bytes,
}

/// What goes with one request to the MCP server. What it points to is good until the next `bw_authorization_credentials` on
/// the handle, and is secret.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct bw_credentials {
    /// Names the token in `bw_refusal`; 0: there is none.
    pub(crate) generation: u64,
    /// The value of the header `Authorization`; nothing without a token.
    pub(crate) authorization: bw_bytes,
    /// What to sign with the key that the token is bound to, for `bw_dpop_proof`; its `key` is 0 if there is nothing to sign.
    pub(crate) proof: bw_signing_request,
}

/// A 401 or 403 of the MCP server: what the event AUTHORIZATION_REQUIRED says.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct bw_refusal {
    /// Its status.
    pub(crate) status: u16,
    /// The values of `WWW-Authenticate`, in order.
    pub(crate) challenges: *const bw_bytes,
    /// How many there are.
    pub(crate) challenge_count: usize,
    /// The value of `DPoP-Nonce`, or nothing.
    pub(crate) dpop_nonce: bw_bytes,
    /// The generation of the `bw_credentials` that went with the request.
    pub(crate) generation: u64,
    /// What was tried, for counting.
    pub(crate) operation: bw_bytes,
}

const fn at(now: u64) -> UnixTime {
    UnixTime::from_millis(now)
}

const fn named(action: u64) -> ActionHandle {
    ActionHandle::from_number(action)
}

fn run(
    auth: Option<&mut bw_authorization>,
    work: impl FnOnce(&mut Authorization) -> Result<(), Failure>,
) -> bw_status {
    let outcome = auth.ok_or(Failure::NULL).and_then(|auth| auth.held.run(work));
    status_of(outcome)
}

/// The OAuth response that an error comes from.
fn response(error: &AuthorizationError) -> Option<&OAuthError> {
    match error {
        AuthorizationError::RegistrationRejected(response)
        | AuthorizationError::Denied(response)
        | AuthorizationError::TokenRequestRejected(response) => Some(response),
        _ => None,
    }
}

fn optional_record(record: Option<&bw_stored_record>) -> Result<Option<StoredRecord>, Failure> {
    record.map(bw_stored_record::read).transpose()
}

/// Puts a text into the caller's buffer. If it is too small, the length that is needed is given with NULL data.
fn put(
    text: &str,
    first: *mut c_char,
    size: usize,
    out: Option<&mut MaybeUninit<bw_bytes>>,
) -> Result<(), Failure> {
    let (room, out) = (buffer(first.cast(), size)?, place(out)?);
    let Some(room) = room.get_mut(..text.len()) else {
        out.write(bw_bytes::at(core::ptr::null(), text.len()));
        return Err(Failure::Own(bw_error::BW_ERROR_BUFFER_TOO_SMALL, "the buffer is too small"));
    };
    room.iter_mut().zip(text.bytes()).for_each(|(place, byte)| {
        place.write(byte);
    });
    out.write(bw_bytes::at(first.cast(), text.len()));
    Ok(())
}

/// Makes an authorization that has not read its store yet.
///
/// The caller frees `*authorization` with `bw_authorization_free`; `config` stays the caller's. BW_ERROR_INVALID_DEFINITION
/// if a URL, an id, a key or an algorithm of the configuration cannot be used.
#[unsafe(no_mangle)]
pub extern "C" fn bw_authorization_new(
    config: Option<&bw_authorization_config>,
    authorization: Option<&mut MaybeUninit<Option<Box<bw_authorization>>>>,
) -> bw_status {
    status(|| {
        let (config, authorization) = (config.ok_or(Failure::NULL)?, place(authorization)?);
        let machine = Authorization::new(config.machine.clone())?;
        authorization.write(Some(Box::new(bw_authorization {
            held: Held::new(machine),
            action: Box::into_raw(Box::new(bw_action::none())),
            event: Told::default(),
            credentials: None,
        })));
        Ok(())
    })
}

/// Frees an authorization, with its action and all that it has lent. NULL is nothing to free.
#[unsafe(no_mangle)]
pub extern "C" fn bw_authorization_free(authorization: Option<Box<bw_authorization>>) {
    free(authorization);
}

/// What was wrong with the last call on this handle that failed, for people; an empty text if none has. Good until the
/// next call that takes the handle as one that is not const. It holds no secret.
#[unsafe(no_mangle)]
pub extern "C" fn bw_authorization_error_message(authorization: Option<&bw_authorization>) -> bw_bytes {
    authorization.map_or(bw_bytes::NONE, |auth| bw_bytes::text_of(auth.held.message()))
}

/// Whether `bw_authorization_credentials` gives the best there is. If not, `bw_authorization_acquire` them first.
#[unsafe(no_mangle)]
pub extern "C" fn bw_authorization_is_ready(authorization: Option<&mut bw_authorization>, now: u64) -> bool {
    authorization.is_some_and(|auth| auth.held.look(false, |machine| machine.is_ready(at(now))))
}

/// Waits until there are credentials, or none without a challenge. One event follows for `waiter`, a number of the host's,
/// such as that of an exchange. It reads the store and renews a token that is about to expire; it never opens a browser.
#[unsafe(no_mangle)]
pub extern "C" fn bw_authorization_acquire(
    authorization: Option<&mut bw_authorization>,
    now: u64,
    waiter: u64,
) -> bw_status {
    run(authorization, |machine| {
        machine.acquire(at(now), waiter);
        Ok(())
    })
}

/// What goes with a request to the MCP server: ask anew for each, also for one that is sent again. `method` and `url` are
/// those of the request. A token goes to the origin of the MCP server only: elsewhere there is none.
#[unsafe(no_mangle)]
pub extern "C" fn bw_authorization_credentials(
    authorization: Option<&mut bw_authorization>,
    now: u64,
    method: bw_bytes,
    url: bw_bytes,
    credentials: Option<&mut MaybeUninit<bw_credentials>>,
) -> bw_status {
    status(|| {
        let (auth, credentials) = (authorization.ok_or(Failure::NULL)?, place(credentials)?);
        let found = auth.held.run(|machine| Ok(machine.credentials(at(now), method.text()?, url.text()?)))?;
        let found = auth.credentials.insert(found);
        credentials.write(bw_credentials {
            generation: found.generation,
            authorization: found.authorization.as_ref().map_or(bw_bytes::NONE, action::secret),
            proof: found.proof.as_ref().map_or(bw_signing_request::NONE, bw_signing_request::of),
        });
        Ok(())
    })
}

/// Puts the value of the header `DPoP` into the buffer (RFC 9449, section 4.2): the `input` of the proof to sign, and its
/// signature. `*header` is the text there.
///
/// BW_ERROR_BUFFER_TOO_SMALL if it does not fit; `header->length` is then what is needed, and its data NULL.
#[unsafe(no_mangle)]
pub extern "C" fn bw_dpop_proof(
    input: bw_bytes,
    signature: bw_bytes,
    buffer: *mut c_char,
    size: usize,
    header: Option<&mut MaybeUninit<bw_bytes>>,
) -> bw_status {
    status(|| {
        let request = SigningRequest::new(SigningKey::Dpop, "", input.text()?.into());
        put(dpop_proof(&request, signature.bytes()?).expose(), buffer, size, header)
    })
}

/// The MCP server refused a request. One event follows for `waiter`.
#[unsafe(no_mangle)]
pub extern "C" fn bw_authorization_challenge(
    authorization: Option<&mut bw_authorization>,
    now: u64,
    waiter: u64,
    refusal: Option<&bw_refusal>,
) -> bw_status {
    run(authorization, |machine| {
        let refusal = refusal.ok_or(Failure::NULL)?;
        let challenges = array_or_empty(refusal.challenges, refusal.challenge_count)?;
        let challenges: Vec<&str> = challenges.iter().map(bw_bytes::text).collect::<Result<_, _>>()?;
        let refusal = Refusal {
            status: refusal.status,
            challenges: &challenges,
            dpop_nonce: refusal.dpop_nonce.optional_text()?,
            generation: refusal.generation,
            operation: refusal.operation.text()?,
        };
        machine.challenge(at(now), waiter, refusal);
        Ok(())
    })
}

/// The MCP server took the token of this generation: call it for each response that is not a 401. Without it, a fresh token
/// that is refused twice counts as useless.
#[unsafe(no_mangle)]
pub extern "C" fn bw_authorization_note_success(
    authorization: Option<&mut bw_authorization>,
    generation: u64,
) -> bw_status {
    run(authorization, |machine| {
        machine.note_success(generation);
        Ok(())
    })
}

/// The MCP server gave a nonce, the value of `DPoP-Nonce`, with a response that was none of 401 and 403 (RFC 9449, section
/// 8.2).
#[unsafe(no_mangle)]
pub extern "C" fn bw_authorization_note_nonce(
    authorization: Option<&mut bw_authorization>,
    nonce: bw_bytes,
) -> bw_status {
    run(authorization, |machine| {
        machine.note_nonce(nonce.text()?);
        Ok(())
    })
}

/// The next thing to do; NULL if that is nothing for now. The action belongs to the authorization and is good until the next
/// call of this function on it. One action is open at a time, and answers that come late are passed over.
#[unsafe(no_mangle)]
pub extern "C" fn bw_authorization_poll_action(
    authorization: Option<&mut bw_authorization>,
) -> *const bw_action {
    let Some(auth) = authorization else { return core::ptr::null() };
    let polled = auth.held.look(None, |machine| machine.poll_action().map(bw_action::of));
    let is_some = polled.is_some();
    // SAFETY: the pointer comes from a box that lives as long as this handle. C holds no reference during the call, by the
    // contract of handles, and Rust makes none that outlives a call.
    unsafe { *auth.action = polled.unwrap_or_else(bw_action::none) };
    if is_some { auth.action } else { core::ptr::null() }
}

/// What there is to tell whoever waits; false, and nothing written, if that is nothing for now.
#[unsafe(no_mangle)]
pub extern "C" fn bw_authorization_poll_event(
    authorization: Option<&mut bw_authorization>,
    event: Option<&mut MaybeUninit<bw_authorization_event>>,
) -> bool {
    let (Some(auth), Some(place)) = (authorization, event) else { return false };
    let (waiter, error) = match auth.held.look(None, Authorization::poll_event) {
        Some(AuthorizationEvent::Settled { waiter }) => (waiter, None),
        Some(AuthorizationEvent::Refused { waiter, error }) => (waiter, Some(error)),
        // The core marks its events as open for more.
        _ => return false,
    };
    auth.event.message = error.as_ref().map(ToString::to_string).unwrap_or_default();
    auth.event.error = error;
    let error = auth.event.error.as_ref();
    let response = error.and_then(response);
    place.write(bw_authorization_event {
        waiter,
        error: error.map_or(0, |error| error.code().into()),
        is_retryable: error.is_some_and(AuthorizationError::is_retryable),
        message: error.map_or(bw_bytes::NONE, |_| bw_bytes::text_of(&auth.event.message)),
        oauth_error: bw_bytes::text_or_none(response.map(|response| &*response.code)),
        oauth_description: bw_bytes::text_or_none(
            response.and_then(|response| response.description.as_deref()),
        ),
        oauth_uri: bw_bytes::text_or_none(response.and_then(|response| response.uri.as_deref())),
    });
    true
}

/// When to call `bw_authorization_handle_timeout` at the latest, in milliseconds since 1970; BW_NEVER if nothing is due.
#[unsafe(no_mangle)]
pub extern "C" fn bw_authorization_poll_timeout(authorization: Option<&mut bw_authorization>) -> u64 {
    let due = authorization.and_then(|auth| auth.held.look(None, |machine| machine.poll_timeout()));
    due.map_or(BW_NEVER, UnixTime::as_millis)
}

/// Lets time pass. Harmless when nothing is due.
#[unsafe(no_mangle)]
pub extern "C" fn bw_authorization_handle_timeout(
    authorization: Option<&mut bw_authorization>,
    now: u64,
) -> bw_status {
    run(authorization, |machine| {
        machine.handle_timeout(at(now));
        Ok(())
    })
}

/// Answers LOAD: what the store holds, NULL if that is nothing.
#[unsafe(no_mangle)]
pub extern "C" fn bw_authorization_loaded(
    authorization: Option<&mut bw_authorization>,
    now: u64,
    action: u64,
    record: Option<&bw_stored_record>,
) -> bw_status {
    run(authorization, |machine| {
        machine.loaded(at(now), named(action), optional_record(record)?);
        Ok(())
    })
}

/// Answers SAVE: it is stored.
#[unsafe(no_mangle)]
pub extern "C" fn bw_authorization_saved(
    authorization: Option<&mut bw_authorization>,
    now: u64,
    action: u64,
) -> bw_status {
    run(authorization, |machine| {
        machine.saved(at(now), named(action), SaveOutcome::Saved);
        Ok(())
    })
}

/// Answers SAVE: the store had another generation, and nothing was written. `record` is what it holds, NULL if that is
/// nothing.
#[unsafe(no_mangle)]
pub extern "C" fn bw_authorization_save_conflicted(
    authorization: Option<&mut bw_authorization>,
    now: u64,
    action: u64,
    record: Option<&bw_stored_record>,
) -> bw_status {
    run(authorization, |machine| {
        machine.saved(at(now), named(action), SaveOutcome::Conflict(optional_record(record)?));
        Ok(())
    })
}

/// Answers SEND: the response, whole, whatever its status. Values of headers are as for `bw_client_http_receive_head`.
#[unsafe(no_mangle)]
pub extern "C" fn bw_authorization_receive_response(
    authorization: Option<&mut bw_authorization>,
    now: u64,
    action: u64,
    status: u16,
    headers: *const bw_pair,
    header_count: usize,
    body: bw_bytes,
) -> bw_status {
    run(authorization, |machine| {
        let headers = pairs(headers, header_count)?;
        let body = body.optional_bytes()?.unwrap_or_default();
        machine.receive_response(at(now), named(action), status, &headers, body);
        Ok(())
    })
}

/// Answers OPEN_USER_AGENT: what the user agent brought back, the query of the request, or its whole target or URL, as it
/// came.
///
/// Gives a number of `bw_authorization_error` if that is nothing to go on with, which the user should be told. If
/// `bw_authorization_awaits_callback` is true nevertheless, it was none of ours and the right one may still come; else the
/// flow has failed.
#[unsafe(no_mangle)]
pub extern "C" fn bw_authorization_receive_callback(
    authorization: Option<&mut bw_authorization>,
    now: u64,
    query: bw_bytes,
) -> bw_status {
    run(authorization, |machine| {
        machine.receive_callback(at(now), query.text()?).map_err(Failure::Authorization)
    })
}

/// Whether the user is to come back.
#[unsafe(no_mangle)]
pub extern "C" fn bw_authorization_awaits_callback(authorization: Option<&mut bw_authorization>) -> bool {
    authorization.is_some_and(|auth| auth.held.look(false, |machine| machine.awaits_callback()))
}

/// Answers SIGN: the signature over `input`.
#[unsafe(no_mangle)]
pub extern "C" fn bw_authorization_signed(
    authorization: Option<&mut bw_authorization>,
    now: u64,
    action: u64,
    signature: bw_bytes,
) -> bw_status {
    run(authorization, |machine| {
        machine.signed(at(now), named(action), signature.bytes()?);
        Ok(())
    })
}

/// Answers PROVIDE_CLIENT. The issuer of the client is the one that was asked for.
#[unsafe(no_mangle)]
pub extern "C" fn bw_authorization_client_provided(
    authorization: Option<&mut bw_authorization>,
    now: u64,
    action: u64,
    client: Option<&bw_client_registration>,
) -> bw_status {
    run(authorization, |machine| {
        machine.client_provided(at(now), named(action), client.ok_or(Failure::NULL)?.read()?);
        Ok(())
    })
}

/// Answers PROVIDE_ASSERTION.
#[unsafe(no_mangle)]
pub extern "C" fn bw_authorization_assertion_provided(
    authorization: Option<&mut bw_authorization>,
    now: u64,
    action: u64,
    assertion: bw_bytes,
) -> bw_status {
    run(authorization, |machine| {
        machine.assertion_provided(at(now), named(action), assertion.text()?.into());
        Ok(())
    })
}

/// An action of any kind was not carried out, as a number of `bw_action_failure` says.
#[unsafe(no_mangle)]
pub extern "C" fn bw_authorization_fail_action(
    authorization: Option<&mut bw_authorization>,
    now: u64,
    action: u64,
    failure: i32,
) -> bw_status {
    run(authorization, |machine| {
        let failure = match failure {
            1 => ActionFailure::Unavailable,
            2 => ActionFailure::TooLarge,
            3 => ActionFailure::Forbidden,
            4 => ActionFailure::Declined,
            _ => return Err(Failure::argument("not a number of bw_action_failure")),
        };
        machine.fail_action(at(now), named(action), failure);
        Ok(())
    })
}

/// Gives up what is under way. Whoever waits is refused, and so is whoever comes, until `bw_authorization_reset`.
#[unsafe(no_mangle)]
pub extern "C" fn bw_authorization_cancel(
    authorization: Option<&mut bw_authorization>,
    now: u64,
) -> bw_status {
    run(authorization, |machine| {
        machine.cancel(at(now));
        Ok(())
    })
}

/// Forgets that it failed: the next challenge begins anew. Without it, a failure that is not retryable stays, and each
/// challenge is refused with it at once.
#[unsafe(no_mangle)]
pub extern "C" fn bw_authorization_reset(authorization: Option<&mut bw_authorization>) -> bw_status {
    run(authorization, |machine| {
        machine.reset();
        Ok(())
    })
}
