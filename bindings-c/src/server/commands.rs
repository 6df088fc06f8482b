//! Commands of servers, whatever carries their messages.

use alloc::vec::Vec;
use core::mem::MaybeUninit;

use barewire::server::Notification;
use barewire::{
    Change, InputQuestion, Instant, RequestHandle, RpcError, SessionHandle, Step, SubscriptionHandle,
};

use crate::bytes::{array_or_empty, bw_bytes, place};
use crate::room::{self, written};
use crate::status::{Failure, bw_status, status_of};
use crate::values;

use super::{bw_server, give, run};

/// A question to the client.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct bw_question {
    /// A key of the application's choice, unique within the request over all rounds; the answer comes back under it.
    pub(crate) key: bw_bytes,
    /// What is asked for, a number of `bw_input_kind`.
    pub(crate) kind: i32,
    /// The parameters, a JSON object.
    pub(crate) params: bw_bytes,
}

const fn handle(request: u64) -> RequestHandle {
    RequestHandle::from_number(request)
}

/// Answers a request with its result, a JSON object written for the newest revision: what the client's revision must not
/// see is left out or replaced. A request that was cancelled takes the answer and sends nothing.
///
/// BW_ERROR_UNKNOWN_REQUEST, BW_ERROR_ALREADY_ANSWERED, BW_ERROR_INVALID_JSON, and the request then still waits for its
/// answer; BW_ERROR_CLOSED_BY_US and its like after the end.
#[unsafe(no_mangle)]
pub extern "C" fn bw_server_respond(
    server: Option<&mut bw_server>,
    request: u64,
    result: bw_bytes,
) -> bw_status {
    run(server, Step::Send(result.count()), |machine| Ok(machine.respond(handle(request), result.text()?)?))
}

/// Answers a request with an error: a number of `bw_rpc_code` or another one, a text for people, and `data`, a JSON value,
/// or nothing.
///
/// Errors as for `bw_server_respond`; BW_ERROR_INVALID_DEFINITION if the error asks for visits to URLs and its data does
/// not list them.
#[unsafe(no_mangle)]
pub extern "C" fn bw_server_respond_error(
    server: Option<&mut bw_server>,
    request: u64,
    code: i64,
    message: bw_bytes,
    data: bw_bytes,
) -> bw_status {
    run(server, Step::Send(2 * (written(message) + data.count())), |machine| {
        let mut error = RpcError::new(code, message.text()?);
        error.data = data.optional_json()?;
        Ok(machine.respond_error(handle(request), error)?)
    })
}

/// Answers a request that its client lacks capabilities for: `required`, a JSON object, is the capabilities object that
/// would do. Errors as for `bw_server_respond`.
#[unsafe(no_mangle)]
pub extern "C" fn bw_server_respond_missing_capability(
    server: Option<&mut bw_server>,
    request: u64,
    required: bw_bytes,
) -> bw_status {
    run(server, Step::Send(2 * required.count()), |machine| {
        Ok(machine.respond_missing_capability(handle(request), required.text()?)?)
    })
}

/// Refuses arguments that do not fit the tool: an error or a result that says so, as the client's revision wants it
/// (server/tools, Error Handling). Errors as for `bw_server_respond`.
#[unsafe(no_mangle)]
pub extern "C" fn bw_server_respond_invalid_arguments(
    server: Option<&mut bw_server>,
    request: u64,
    message: bw_bytes,
) -> bw_status {
    run(server, Step::Send(2 * written(message) + 128), |machine| {
        Ok(machine.respond_invalid_arguments(handle(request), message.text()?)?)
    })
}

/// Asks the client something before the request can be answered. The event of the request comes again with the answers,
/// for the same handle in the legacy era, for a new one from 2026-07-28. `state`, a JSON value or nothing, is given back
/// with the event; from 2026-07-28 it travels sealed through the client, who can give it back more than once until it
/// expires.
///
/// BW_ERROR_INPUT_NOT_POSSIBLE for methods that cannot ask and clients that take no stream; BW_ERROR_MISSING_CAPABILITY for
/// clients that cannot answer: answer the request then; a BW_ERROR_LIMIT for rounds, questions or state; as for
/// `bw_server_respond`.
#[unsafe(no_mangle)]
pub extern "C" fn bw_server_require_input(
    server: Option<&mut bw_server>,
    now: u64,
    request: u64,
    questions: *const bw_question,
    count: usize,
    state: bw_bytes,
) -> bw_status {
    let questions = match array_or_empty(questions, count) {
        Ok(questions) => questions,
        Err(failure) => return failure.code(),
    };
    let texts = questions.iter().map(|question| question.key.count() + question.params.count());
    let step = Step::Ask(handle(request), questions.len(), texts.sum::<usize>() + state.count());
    run(server, step, |machine| {
        let ask = |question: &bw_question| {
            Ok(InputQuestion {
                key: question.key.text()?.into(),
                kind: values::input_kind(question.kind)?,
                params: question.params.json()?,
            })
        };
        let questions = questions.iter().map(ask).collect::<Result<Vec<_>, Failure>>()?;
        let now = Instant::from_millis(now);
        Ok(machine.require_input(now, handle(request), questions, state.optional_text()?)?)
    })
}

/// Sends something within a request and says whether it was sent.
fn notify(
    server: Option<&mut bw_server>,
    request: u64,
    sent: Option<&mut MaybeUninit<bool>>,
    length: usize,
    notification: Result<Notification<'_>, Failure>,
) -> bw_status {
    run(server, Step::Send(length), |machine| {
        let was_sent = machine.notify(handle(request), notification?)?;
        sent.map(|sent| sent.write(was_sent));
        Ok(())
    })
}

/// Reports progress of a request: more than the last time. `total` is where it will end, or less than 0 if that is not
/// known; `message` is what is being done, or nothing.
///
/// `sent`, which may be NULL, tells whether it was sent: not if the client asked for no progress, the request is over, it is
/// not more than the last time, or the client has stopped reading.
#[unsafe(no_mangle)]
pub extern "C" fn bw_server_notify_progress(
    server: Option<&mut bw_server>,
    request: u64,
    progress: f64,
    total: f64,
    message: bw_bytes,
    sent: Option<&mut MaybeUninit<bool>>,
) -> bw_status {
    let total = (total >= 0.0).then_some(total);
    let notification =
        message.optional_text().map(|message| Notification::Progress { progress, total, message });
    notify(server, request, sent, written(message), notification)
}

/// Logs something within a request: `level`, a number of `bw_log_level`; `logger`, which part of the server speaks, or
/// nothing; `data`, any JSON value.
///
/// `sent`, which may be NULL, tells whether it was sent: not if the client wants no such severity, the request is over, or
/// the client has stopped reading. BW_ERROR_INVALID_JSON.
#[unsafe(no_mangle)]
pub extern "C" fn bw_server_notify_log(
    server: Option<&mut bw_server>,
    request: u64,
    level: i32,
    logger: bw_bytes,
    data: bw_bytes,
    sent: Option<&mut MaybeUninit<bool>>,
) -> bw_status {
    let read = || {
        let (level, logger, data) = (values::log_level(level)?, logger.optional_text()?, data.text()?);
        Ok(Notification::Log { level, logger, data })
    };
    notify(server, request, sent, written(logger) + data.count(), read())
}

/// Sends a notification of an extension within a request. `params` is a JSON object, or nothing. `sent`, which may be NULL,
/// tells whether it was sent. BW_ERROR_INVALID_JSON.
#[unsafe(no_mangle)]
pub extern "C" fn bw_server_notify(
    server: Option<&mut bw_server>,
    request: u64,
    method: bw_bytes,
    params: bw_bytes,
    sent: Option<&mut MaybeUninit<bool>>,
) -> bw_status {
    let read = || Ok(Notification::Other { method: method.text()?, params: params.optional_text()? });
    notify(server, request, sent, method.count() + params.count(), read())
}

/// Logs something outside any request, to legacy sessions that want this severity: as `bw_server_notify_log`.
#[unsafe(no_mangle)]
pub extern "C" fn bw_server_log(
    server: Option<&mut bw_server>,
    level: i32,
    logger: bw_bytes,
    data: bw_bytes,
) -> bw_status {
    run(server, Step::Publish(written(logger) + data.count()), |machine| {
        Ok(machine.log(values::log_level(level)?, logger.optional_text()?, data.text()?)?)
    })
}

/// Tells every client that watches it that a list, a number of `bw_list_kind`, has changed. Changes of the catalog are
/// told by themselves.
#[unsafe(no_mangle)]
pub extern "C" fn bw_server_publish_list_changed(server: Option<&mut bw_server>, list: i32) -> bw_status {
    run(server, Step::Keep(0), |machine| {
        machine.publish(&Change::List(values::list_kind(list)?));
        Ok(())
    })
}

/// Tells every client that watches it that a resource has changed.
#[unsafe(no_mangle)]
pub extern "C" fn bw_server_publish_resource_updated(
    server: Option<&mut bw_server>,
    uri: bw_bytes,
) -> bw_status {
    run(server, Step::Publish(uri.count()), |machine| {
        machine.publish(&Change::Resource(uri.text()?.into()));
        Ok(())
    })
}

/// Ends a client's subscription in order; SUBSCRIPTION_CLOSED follows. BW_ERROR_UNKNOWN_SUBSCRIPTION.
#[unsafe(no_mangle)]
pub extern "C" fn bw_server_end_subscription(server: Option<&mut bw_server>, subscription: u64) -> bw_status {
    run(server, Step::Settle, |machine| {
        Ok(machine.end_subscription(SubscriptionHandle::from_number(subscription))?)
    })
}

/// Sends a request of the server's own to a legacy client; RESPONSE_RECEIVED follows for `*request`. `params` is a JSON
/// object, or nothing.
///
/// BW_ERROR_UNKNOWN_SESSION, BW_ERROR_NOT_ALLOWED_IN_REVISION, BW_ERROR_CAPABILITY_NOT_DECLARED, a BW_ERROR_LIMIT.
#[unsafe(no_mangle)]
pub extern "C" fn bw_server_request(
    server: Option<&mut bw_server>,
    now: u64,
    session: u64,
    method: bw_bytes,
    params: bw_bytes,
    request: Option<&mut MaybeUninit<u64>>,
) -> bw_status {
    give(server, request, Step::Keep(method.count() + params.count()), |machine| {
        let session = SessionHandle::from_number(session);
        let params = params.optional_text()?;
        Ok(machine.request(Instant::from_millis(now), session, method.text()?, params)?.number())
    })
}

/// Asks a legacy client whether it is there; RESPONSE_RECEIVED follows for `*request`. Errors as for `bw_server_request`.
#[unsafe(no_mangle)]
pub extern "C" fn bw_server_ping(
    server: Option<&mut bw_server>,
    now: u64,
    session: u64,
    request: Option<&mut MaybeUninit<u64>>,
) -> bw_status {
    give(server, request, Step::Keep(0), |machine| {
        Ok(machine.ping(Instant::from_millis(now), SessionHandle::from_number(session))?.number())
    })
}

/// A legacy session as text that `bw_server_import_session` takes in another process: what was negotiated, the log level
/// and the watched resources, but no requests in flight. Keep it where clients cannot write.
///
/// `*text` is good until the next call of this function on the handle. BW_ERROR_UNKNOWN_SESSION.
#[unsafe(no_mangle)]
pub extern "C" fn bw_server_export_session(
    server: Option<&mut bw_server>,
    session: u64,
    text: Option<&mut MaybeUninit<bw_bytes>>,
) -> bw_status {
    let outcome = server.ok_or(Failure::NULL).and_then(|server| {
        let session = SessionHandle::from_number(session);
        let (place, exported) = server.held.run(|carrier| {
            let place = place(text)?;
            room::check_step(carrier.machine(), Step::Export(session))?;
            Ok((place, carrier.machine().export_session(session)?))
        })?;
        place.write(bw_bytes::text_of(server.held.keep_text(exported)));
        Ok(())
    });
    status_of(outcome)
}

/// Goes on with a session that was exported: one of many on HTTP, the only one on a byte stream. SESSION_OPENED and
/// SUBSCRIPTION_OPENED follow for `*session` as if the client had just done it all again.
///
/// BW_ERROR_INVALID_JSON if the text is not of this version, BW_ERROR_NOT_ALLOWED_IN_REVISION, BW_ERROR_ALREADY_REGISTERED
/// if the byte stream has a session, a BW_ERROR_LIMIT. Nothing has changed then.
#[unsafe(no_mangle)]
pub extern "C" fn bw_server_import_session(
    server: Option<&mut bw_server>,
    text: bw_bytes,
    session: Option<&mut MaybeUninit<u64>>,
) -> bw_status {
    give(server, session, Step::Keep(3 * text.count()), |machine| {
        Ok(machine.import_session(text.text()?)?.number())
    })
}

/// Ends a legacy session of HTTP: what is in flight in it is cancelled, SESSION_CLOSED follows. On a byte stream the
/// session ends with the connection. BW_ERROR_UNKNOWN_SESSION.
#[unsafe(no_mangle)]
pub extern "C" fn bw_server_end_session(server: Option<&mut bw_server>, session: u64) -> bw_status {
    run(server, Step::Settle, |machine| Ok(machine.end_session(SessionHandle::from_number(session))?))
}
