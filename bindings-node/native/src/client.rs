//! Commands of clients, whatever carries their messages.

use barewire::client::{Client, Completion, CompletionReference, RequestOptions};
use barewire::{
    EraVerdict, Error, InputHandle, InputResponse, RequestHandle, RpcError, SubscriptionFilter,
    SubscriptionHandle,
};
use napi::Either;
use napi_derive::napi;
use serde::Deserialize;

use crate::config;
use crate::errors::{Failure, Outcome as _};
use crate::guard::Handle;
use crate::names::{self, LISTINGS, instant, kind_named, number, to_js};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Options {
    progress: Option<bool>,
    timeout: Option<u64>,
    total_timeout: Option<u64>,
    log_level: Option<String>,
    meta: Option<String>,
}

fn options(text: Option<&str>) -> Result<RequestOptions, Failure> {
    let mut options = RequestOptions::default();
    if let Some(text) = text {
        let given: Options = config::read(text)?;
        options.progress = given.progress.unwrap_or(false);
        options.timeout = given.timeout;
        options.total_timeout = given.total_timeout;
        options.log_level = given.log_level.as_deref().map(names::log_level).transpose()?;
        options.meta = given.meta.as_deref().map(config::json).transpose()?;
    }
    Ok(options)
}

/// Opens a request with the options of that text; gives its handle.
fn open(
    this: &mut Handle,
    given: Option<&str>,
    command: impl FnOnce(&mut Client, RequestOptions) -> Result<RequestHandle, Error>,
) -> Either<i64, String> {
    let opened = options(given).and_then(|options| this.client(|machine| command(machine, options)));
    opened.map(|request| to_js(request.number())).given()
}

/// Sends a request of any method.
#[napi]
#[allow(clippy::needless_pass_by_value, reason = "strings of JavaScript are owned")]
pub(crate) fn request(
    this: &mut Handle,
    method: String,
    params: Option<String>,
    now: i64,
    options: Option<String>,
) -> Either<i64, String> {
    open(this, options.as_deref(), |machine, options| {
        machine.request(instant(now), &method, params.as_deref(), options)
    })
}

/// Calls a tool.
#[napi]
#[allow(clippy::needless_pass_by_value, reason = "strings of JavaScript are owned")]
pub(crate) fn call_tool(
    this: &mut Handle,
    name: String,
    arguments: Option<String>,
    now: i64,
    options: Option<String>,
) -> Either<i64, String> {
    open(this, options.as_deref(), |machine, options| {
        machine.call_tool(instant(now), &name, arguments.as_deref(), options)
    })
}

/// Asks for a page of a list.
#[napi]
#[allow(clippy::needless_pass_by_value, reason = "strings of JavaScript are owned")]
pub(crate) fn list(
    this: &mut Handle,
    kind: String,
    cursor: Option<String>,
    now: i64,
    options: Option<String>,
) -> Either<i64, String> {
    match kind_named(&LISTINGS, &kind) {
        Ok(listing) => open(this, options.as_deref(), |machine, options| {
            machine.list(instant(now), listing, cursor.as_deref(), options)
        }),
        Err(failure) => Err(failure).given(),
    }
}

/// Reads a resource.
#[napi]
#[allow(clippy::needless_pass_by_value, reason = "strings of JavaScript are owned")]
pub(crate) fn read_resource(
    this: &mut Handle,
    uri: String,
    now: i64,
    options: Option<String>,
) -> Either<i64, String> {
    open(this, options.as_deref(), |machine, options| machine.read_resource(instant(now), &uri, options))
}

/// Asks for a prompt.
#[napi]
#[allow(clippy::needless_pass_by_value, reason = "strings of JavaScript are owned")]
pub(crate) fn get_prompt(
    this: &mut Handle,
    name: String,
    arguments: Option<String>,
    now: i64,
    options: Option<String>,
) -> Either<i64, String> {
    open(this, options.as_deref(), |machine, options| {
        machine.get_prompt(instant(now), &name, arguments.as_deref(), options)
    })
}

/// Asks for suggestions for an argument of a prompt, or of a resource otherwise.
#[napi]
#[allow(clippy::needless_pass_by_value, reason = "strings of JavaScript are owned")]
#[allow(clippy::too_many_arguments, reason = "each is named in JavaScript")]
pub(crate) fn complete(
    this: &mut Handle,
    is_prompt: bool,
    reference: String,
    argument: String,
    value: String,
    arguments: Option<String>,
    now: i64,
    options: Option<String>,
) -> Either<i64, String> {
    let named = if is_prompt { CompletionReference::Prompt } else { CompletionReference::Resource };
    let completion = Completion {
        reference: named(&reference),
        argument: &argument,
        value: &value,
        arguments: arguments.as_deref(),
    };
    open(this, options.as_deref(), |machine, options| machine.complete(instant(now), completion, options))
}

/// Asks whether the server is there.
#[napi]
#[allow(clippy::needless_pass_by_value, reason = "strings of JavaScript are owned")]
pub(crate) fn ping(this: &mut Handle, now: i64, options: Option<String>) -> Either<i64, String> {
    open(this, options.as_deref(), |machine, options| machine.ping(instant(now), options))
}

/// Gives up a request.
#[napi]
#[allow(clippy::needless_pass_by_value, reason = "strings of JavaScript are owned")]
pub(crate) fn cancel(this: &mut Handle, request: i64, reason: Option<String>) -> Option<String> {
    let request = RequestHandle::from_number(number(request));
    this.client(|machine| machine.cancel(request, reason.as_deref())).done()
}

/// Answers a question of the server.
#[napi]
#[allow(clippy::needless_pass_by_value, reason = "strings of JavaScript are owned")]
pub(crate) fn provide_input(this: &mut Handle, input: i64, result: String, now: i64) -> Option<String> {
    config::json(&result).and_then(|result| answer(this, input, InputResponse::Result(result), now)).done()
}

/// Refuses a question of the server.
#[napi]
#[allow(clippy::needless_pass_by_value, reason = "strings of JavaScript are owned")]
pub(crate) fn refuse_input(
    this: &mut Handle,
    input: i64,
    code: i64,
    message: String,
    now: i64,
) -> Option<String> {
    answer(this, input, InputResponse::Refused(RpcError::new(code, &message)), now).done()
}

fn answer(this: &mut Handle, input: i64, response: InputResponse, now: i64) -> Result<(), Failure> {
    let input = InputHandle::from_number(number(input));
    this.client(|machine| machine.provide_input(instant(now), input, response))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Filter {
    tools: Option<bool>,
    resources: Option<bool>,
    prompts: Option<bool>,
    resource_uris: Option<Vec<Box<str>>>,
}

/// Asks to be told of changes; gives the handle of the subscription. `filter` is a JSON object.
#[napi]
#[allow(clippy::needless_pass_by_value, reason = "strings of JavaScript are owned")]
pub(crate) fn subscribe(this: &mut Handle, filter: String, now: i64) -> Either<i64, String> {
    let opened = config::read::<Filter>(&filter).and_then(|filter| {
        let filter = SubscriptionFilter {
            tools: filter.tools.unwrap_or(false),
            resources: filter.resources.unwrap_or(false),
            prompts: filter.prompts.unwrap_or(false),
            resource_uris: filter.resource_uris.unwrap_or_default(),
        };
        this.client(|machine| machine.subscribe(instant(now), filter))
    });
    opened.map(|subscription| to_js(subscription.number())).given()
}

/// Ends a subscription.
#[napi]
pub(crate) fn unsubscribe(this: &mut Handle, subscription: i64, now: i64) -> Option<String> {
    let subscription = SubscriptionHandle::from_number(number(subscription));
    this.client(|machine| machine.unsubscribe(instant(now), subscription)).done()
}

/// Sets the least severity of log messages wanted; gives the handle of the request.
#[napi]
#[allow(clippy::needless_pass_by_value, reason = "strings of JavaScript are owned")]
pub(crate) fn set_log_level(this: &mut Handle, level: String, now: i64) -> Either<i64, String> {
    let sent = names::log_level(&level)
        .and_then(|level| this.client(|machine| machine.set_log_level(instant(now), level)));
    sent.map(|request| to_js(request.number())).given()
}

/// Sends a notification of any method.
#[napi]
#[allow(clippy::needless_pass_by_value, reason = "strings of JavaScript are owned")]
pub(crate) fn notify(this: &mut Handle, method: String, params: Option<String>) -> Option<String> {
    this.client(|machine| machine.notify(&method, params.as_deref())).done()
}

/// Tells the server that the roots have changed.
#[napi]
pub(crate) fn notify_roots_changed(this: &mut Handle) -> Option<String> {
    this.client(Client::notify_roots_changed).done()
}

/// The place of the revision in the list of them; -1 while it is not settled.
#[napi]
pub(crate) fn revision(this: &mut Handle) -> Either<i64, String> {
    let settled = this.client(|machine| Ok(machine.revision().and_then(names::place_of)));
    settled.map(|place| place.map_or(-1, to_js)).given()
}

/// What to store for the next client of this server, as a list of at most one text.
#[napi]
pub(crate) fn era_verdict(this: &mut Handle) -> Either<Vec<String>, String> {
    let verdict = this.client(|machine| Ok(machine.era_verdict().map(EraVerdict::to_text)));
    verdict.map(|verdict| verdict.into_iter().collect()).given()
}
