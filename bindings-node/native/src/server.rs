//! Commands of servers, whatever carries their messages.

use barewire::server::Notification;
use barewire::{Change, InputQuestion, RequestHandle, RpcError, SessionHandle, SubscriptionHandle};
use napi::Either;
use napi_derive::napi;
use serde::Deserialize;

use crate::batch::{Text, told};
use crate::config;
use crate::errors::{Failure, Outcome as _};
use crate::guard::Handle;
use crate::names::{self, INPUT_KINDS, LIST_KINDS, instant, kind_named, number, to_js};

const fn request_of(handle: u64) -> RequestHandle {
    RequestHandle::from_number(handle)
}

/// Commands with one text argument that give nothing.
macro_rules! with_text {
    ($($(#[$doc:meta])* $name:ident)*) => {$(
        $(#[$doc])*
        #[napi]
        #[allow(clippy::needless_pass_by_value, reason = "strings of JavaScript are owned")]
        pub(crate) fn $name(this: &mut Handle, text: String) -> Option<String> {
            this.server(|machine| machine.$name(&text)).done()
        }
    )*};
}

with_text! {
    /// Registers a tool by its definition.
    add_tool
    /// Removes a tool.
    remove_tool
    /// Registers a resource by its definition.
    add_resource
    /// Removes a resource.
    remove_resource
    /// Registers a resource template by its definition.
    add_resource_template
    /// Removes a resource template.
    remove_resource_template
    /// Registers a prompt by its definition.
    add_prompt
    /// Removes a prompt.
    remove_prompt
}

/// Answers a request with its result.
#[napi]
pub(crate) fn respond(this: &mut Handle, request: i64, result: String) -> Option<String> {
    this.server(|machine| machine.respond(request_of(number(request)), result)).done()
}

/// Answers the call of a tool with a text.
#[napi]
#[allow(clippy::needless_pass_by_value, reason = "strings of JavaScript are owned")]
pub(crate) fn respond_text(this: &mut Handle, request: i64, text: String) -> Option<String> {
    this.server(|machine| machine.respond_text(request_of(number(request)), &text)).done()
}

/// Answers a request with an error.
#[napi]
#[allow(clippy::needless_pass_by_value, reason = "strings of JavaScript are owned")]
pub(crate) fn respond_error(
    this: &mut Handle,
    request: i64,
    code: i64,
    message: String,
    data: Option<String>,
) -> Option<String> {
    let error = data.as_deref().map(config::json).transpose().map(|data| {
        let mut error = RpcError::new(code, &message);
        error.data = data;
        error
    });
    error
        .and_then(|error| this.server(|machine| machine.respond_error(request_of(number(request)), error)))
        .done()
}

/// Answers a request that its client lacks capabilities for.
#[napi]
#[allow(clippy::needless_pass_by_value, reason = "strings of JavaScript are owned")]
pub(crate) fn respond_missing_capability(
    this: &mut Handle,
    request: i64,
    required: String,
) -> Option<String> {
    let request = request_of(number(request));
    this.server(|machine| machine.respond_missing_capability(request, &required)).done()
}

/// Refuses arguments that do not fit the tool.
#[napi]
#[allow(clippy::needless_pass_by_value, reason = "strings of JavaScript are owned")]
pub(crate) fn respond_invalid_arguments(this: &mut Handle, request: i64, message: String) -> Option<String> {
    let request = request_of(number(request));
    this.server(|machine| machine.respond_invalid_arguments(request, &message)).done()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Question {
    key: String,
    kind: String,
    params: String,
}

fn questions(text: &str) -> Result<Vec<InputQuestion>, Failure> {
    let questions: Vec<Question> = config::read(text)?;
    let question = |question: Question| {
        Ok(InputQuestion {
            key: question.key.into(),
            kind: kind_named(&INPUT_KINDS, &question.kind)?,
            params: config::json(&question.params)?,
        })
    };
    questions.into_iter().map(question).collect()
}

/// Asks the client something before the request can be answered. `asked` is a JSON array of objects.
#[napi]
#[allow(clippy::needless_pass_by_value, reason = "strings of JavaScript are owned")]
pub(crate) fn require_input(
    this: &mut Handle,
    request: i64,
    asked: String,
    now: i64,
    state: Option<String>,
) -> Option<String> {
    let request = request_of(number(request));
    let asked = questions(&asked);
    asked
        .and_then(|asked| {
            this.server(|machine| machine.require_input(instant(now), request, asked, state.as_deref()))
        })
        .done()
}

/// Reports progress of a request; whether it was sent.
#[napi]
#[allow(clippy::needless_pass_by_value, reason = "strings of JavaScript are owned")]
pub(crate) fn progress(
    this: &mut Handle,
    request: i64,
    progress: f64,
    total: Option<f64>,
    message: Option<String>,
) -> Either<bool, String> {
    let notification = Notification::Progress { progress, total, message: message.as_deref() };
    this.server(|machine| machine.notify(request_of(number(request)), notification)).given()
}

/// Logs something within a request, or outside any; whether it was sent.
#[napi]
#[allow(clippy::needless_pass_by_value, reason = "strings of JavaScript are owned")]
pub(crate) fn log(
    this: &mut Handle,
    request: Option<i64>,
    level: String,
    data: String,
    logger: Option<String>,
) -> Either<bool, String> {
    let (data, logger) = (&*data, logger.as_deref());
    let level = names::log_level(&level);
    let sent = level.and_then(|level| {
        this.server(|machine| match request {
            Some(request) => {
                let notification = Notification::Log { level, logger, data };
                machine.notify(request_of(number(request)), notification)
            }
            None => machine.log(level, logger, data).map(|()| true),
        })
    });
    sent.given()
}

/// Sends a notification of an extension within a request; whether it was sent.
#[napi]
#[allow(clippy::needless_pass_by_value, reason = "strings of JavaScript are owned")]
pub(crate) fn notify_within(
    this: &mut Handle,
    request: i64,
    method: String,
    params: Option<String>,
) -> Either<bool, String> {
    let notification = Notification::Other { method: &method, params: params.as_deref() };
    this.server(|machine| machine.notify(request_of(number(request)), notification)).given()
}

fn publish(this: &mut Handle, change: &Change) -> Result<(), Failure> {
    this.server(|machine| {
        machine.publish(change);
        Ok(())
    })
}

/// Tells clients that a list has changed.
#[napi]
#[allow(clippy::needless_pass_by_value, reason = "strings of JavaScript are owned")]
pub(crate) fn publish_list_changed(this: &mut Handle, kind: String) -> Option<String> {
    kind_named(&LIST_KINDS, &kind).and_then(|kind| publish(this, &Change::List(kind))).done()
}

/// Tells clients that a resource has changed.
#[napi]
pub(crate) fn publish_resource_updated(this: &mut Handle, uri: String) -> Option<String> {
    publish(this, &Change::Resource(uri.into())).done()
}

/// Ends a client's subscription in order.
#[napi]
pub(crate) fn end_subscription(this: &mut Handle, subscription: i64) -> Option<String> {
    let subscription = SubscriptionHandle::from_number(number(subscription));
    this.server(|machine| machine.end_subscription(subscription)).done()
}

/// Sends a request to a legacy client; gives its handle.
#[napi]
#[allow(clippy::needless_pass_by_value, reason = "strings of JavaScript are owned")]
pub(crate) fn request_of_client(
    this: &mut Handle,
    session: i64,
    method: String,
    params: Option<String>,
    now: i64,
) -> Either<i64, String> {
    let session = SessionHandle::from_number(number(session));
    let sent = this.server(|machine| machine.request(instant(now), session, &method, params.as_deref()));
    sent.map(|request| to_js(request.number())).given()
}

/// Asks a legacy client whether it is there; gives the handle of the request.
#[napi]
pub(crate) fn ping_client(this: &mut Handle, session: i64, now: i64) -> Either<i64, String> {
    let session = SessionHandle::from_number(number(session));
    let sent = this.server(|machine| machine.ping(instant(now), session));
    sent.map(|request| to_js(request.number())).given()
}

/// A legacy session as text, for another process.
#[napi]
pub(crate) fn export_session(this: &mut Handle, session: i64) -> Text {
    told(this.server(|machine| machine.export_session(SessionHandle::from_number(number(session)))))
}

/// Goes on with a session that was exported; gives its handle.
#[napi]
#[allow(clippy::needless_pass_by_value, reason = "strings of JavaScript are owned")]
pub(crate) fn import_session(this: &mut Handle, text: String) -> Either<i64, String> {
    this.server(|machine| machine.import_session(&text)).map(|session| to_js(session.number())).given()
}

/// Ends a legacy session.
#[napi]
pub(crate) fn end_session(this: &mut Handle, session: i64) -> Option<String> {
    this.server(|machine| machine.end_session(SessionHandle::from_number(number(session)))).done()
}
