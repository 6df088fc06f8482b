//! Commands of clients, whatever carries their messages.

use core::mem::MaybeUninit;

use barewire::client::{Client, Completion, CompletionReference, RequestOptions};
use barewire::{
    InputHandle, InputResponse, Instant, RequestHandle, RpcError, SubscriptionFilter, SubscriptionHandle,
};

use crate::bytes::{bw_bytes, texts};
use crate::status::{Failure, bw_status};
use crate::values;

use super::{bw_client, give, run};

/// How one request is made. Set all to zero first; what is left so has its default.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct bw_request_options {
    /// Ask for progress reports.
    progress: bool,
    /// Milliseconds to wait with nothing heard; 0: as configured.
    timeout: u64,
    /// Milliseconds over all rounds; 0: as configured.
    total_timeout: u64,
    /// The least severity of log messages wanted while it runs (from 2026-07-28), a number of `bw_log_level`; 0: the
    /// level set with `bw_client_set_log_level`.
    log_level: i32,
    /// Members to add to `_meta`, such as trace context: a JSON object, or nothing.
    meta: bw_bytes,
}

/// What a subscription is about. Set all to zero first.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct bw_subscription_filter {
    /// Changes of the tool list.
    tools: bool,
    /// Changes of the resource and template lists.
    resources: bool,
    /// Changes of the prompt list.
    prompts: bool,
    /// Changes of these resources, by URI.
    uris: *const bw_bytes,
    /// How many URIs there are.
    uri_count: usize,
}

fn options(given: Option<&bw_request_options>) -> Result<RequestOptions, Failure> {
    let mut options = RequestOptions::default();
    if let Some(given) = given {
        options.progress = given.progress;
        options.timeout = (given.timeout != 0).then_some(given.timeout);
        options.total_timeout = (given.total_timeout != 0).then_some(given.total_timeout);
        options.log_level = values::optional_log_level(given.log_level)?;
        options.meta = given.meta.optional_json()?;
    }
    Ok(options)
}

/// Opens a request and gives its handle.
fn open(
    client: Option<&mut bw_client>,
    given: Option<&bw_request_options>,
    request: Option<&mut MaybeUninit<u64>>,
    command: impl FnOnce(&mut Client, RequestOptions) -> Result<RequestHandle, Failure>,
) -> bw_status {
    give(client, request, |machine| Ok(command(machine, options(given)?)?.number()))
}

/// Sends a request, or queues it until the connection is ready; RESPONSE_RECEIVED or REQUEST_FAILED follows for `*request`.
/// `params` is a JSON object, or nothing. `options` may be NULL.
///
/// BW_ERROR_INVALID_JSON, BW_ERROR_METHOD_NOT_ALLOWED for one that the library sends itself,
/// BW_ERROR_NOT_ALLOWED_IN_REVISION, BW_ERROR_CAPABILITY_NOT_DECLARED, a BW_ERROR_LIMIT, or the number of the end.
#[unsafe(no_mangle)]
pub extern "C" fn bw_client_request(
    client: Option<&mut bw_client>,
    now: u64,
    method: bw_bytes,
    params: bw_bytes,
    options: Option<&bw_request_options>,
    request: Option<&mut MaybeUninit<u64>>,
) -> bw_status {
    open(client, options, request, |machine, options| {
        Ok(machine.request(Instant::from_millis(now), method.text()?, params.optional_text()?, options)?)
    })
}

/// Calls a tool. `arguments` is a JSON object, or nothing. As `bw_client_request`.
#[unsafe(no_mangle)]
pub extern "C" fn bw_client_call_tool(
    client: Option<&mut bw_client>,
    now: u64,
    name: bw_bytes,
    arguments: bw_bytes,
    options: Option<&bw_request_options>,
    request: Option<&mut MaybeUninit<u64>>,
) -> bw_status {
    open(client, options, request, |machine, options| {
        Ok(machine.call_tool(Instant::from_millis(now), name.text()?, arguments.optional_text()?, options)?)
    })
}

/// Asks for a page of a list, a number of `bw_listing`: the first (NULL data), or the one that `cursor` of the page before
/// leads to. As `bw_client_request`.
#[unsafe(no_mangle)]
pub extern "C" fn bw_client_list(
    client: Option<&mut bw_client>,
    now: u64,
    listing: i32,
    cursor: bw_bytes,
    options: Option<&bw_request_options>,
    request: Option<&mut MaybeUninit<u64>>,
) -> bw_status {
    open(client, options, request, |machine, options| {
        let listing = values::listing(listing)?;
        Ok(machine.list(Instant::from_millis(now), listing, cursor.optional_text()?, options)?)
    })
}

/// Reads a resource. As `bw_client_request`.
#[unsafe(no_mangle)]
pub extern "C" fn bw_client_read_resource(
    client: Option<&mut bw_client>,
    now: u64,
    uri: bw_bytes,
    options: Option<&bw_request_options>,
    request: Option<&mut MaybeUninit<u64>>,
) -> bw_status {
    open(client, options, request, |machine, options| {
        Ok(machine.read_resource(Instant::from_millis(now), uri.text()?, options)?)
    })
}

/// Asks for a prompt. `arguments` is a JSON object of strings, or nothing. As `bw_client_request`, and
/// BW_ERROR_ARGUMENT_NOT_STRING.
#[unsafe(no_mangle)]
pub extern "C" fn bw_client_get_prompt(
    client: Option<&mut bw_client>,
    now: u64,
    name: bw_bytes,
    arguments: bw_bytes,
    options: Option<&bw_request_options>,
    request: Option<&mut MaybeUninit<u64>>,
) -> bw_status {
    open(client, options, request, |machine, options| {
        Ok(machine.get_prompt(
            Instant::from_millis(now),
            name.text()?,
            arguments.optional_text()?,
            options,
        )?)
    })
}

/// Asks for suggestions for an argument of what `kind`, a number of `bw_completion_kind`, and `reference` name: a prompt by
/// its name, or a resource by its template or URI. `value` is what the user has typed so far; `arguments` are those settled
/// before, a JSON object of strings, or nothing. As `bw_client_get_prompt`.
#[unsafe(no_mangle)]
pub extern "C" fn bw_client_complete(
    client: Option<&mut bw_client>,
    now: u64,
    kind: i32,
    reference: bw_bytes,
    argument: bw_bytes,
    value: bw_bytes,
    arguments: bw_bytes,
    options: Option<&bw_request_options>,
    request: Option<&mut MaybeUninit<u64>>,
) -> bw_status {
    open(client, options, request, |machine, options| {
        let reference = match kind {
            1 => CompletionReference::Prompt(reference.text()?),
            2 => CompletionReference::Resource(reference.text()?),
            _ => return Err(Failure::argument("not a number of bw_completion_kind")),
        };
        let (argument, value) = (argument.text()?, value.text()?);
        let completion = Completion { reference, argument, value, arguments: arguments.optional_text()? };
        Ok(machine.complete(Instant::from_millis(now), completion, options)?)
    })
}

/// Asks whether the server is there. The legacy era only. As `bw_client_request`.
#[unsafe(no_mangle)]
pub extern "C" fn bw_client_ping(
    client: Option<&mut bw_client>,
    now: u64,
    options: Option<&bw_request_options>,
    request: Option<&mut MaybeUninit<u64>>,
) -> bw_status {
    open(client, options, request, |machine, options| Ok(machine.ping(Instant::from_millis(now), options)?))
}

/// Gives up a request: it fails at once with BW_ERROR_CANCELLED, the server is told as its revision wants, and a late
/// answer is dropped. `reason` is for people, or nothing. BW_ERROR_UNKNOWN_REQUEST if it has ended.
#[unsafe(no_mangle)]
pub extern "C" fn bw_client_cancel(
    client: Option<&mut bw_client>,
    request: u64,
    reason: bw_bytes,
) -> bw_status {
    run(client, |machine| Ok(machine.cancel(RequestHandle::from_number(request), reason.optional_text()?)?))
}

/// Answers a question of the server with a result, a JSON object written for the newest revision. An elicitation that the
/// user declines or dismisses is a result too.
///
/// BW_ERROR_UNKNOWN_INPUT if it no longer stands; BW_ERROR_INVALID_JSON, BW_ERROR_INVALID_DEFINITION naming a member,
/// BW_ERROR_NOT_ALLOWED_IN_REVISION, and the question then still stands.
#[unsafe(no_mangle)]
pub extern "C" fn bw_client_provide_input(
    client: Option<&mut bw_client>,
    now: u64,
    input: u64,
    result: bw_bytes,
) -> bw_status {
    run(client, |machine| {
        let response = InputResponse::Result(result.json()?);
        Ok(machine.provide_input(Instant::from_millis(now), InputHandle::from_number(input), response)?)
    })
}

/// Refuses a question of the server: it cannot or may not be answered. Legacy servers get an error with that code and
/// message; from 2026-07-28 the request that asked ends with BW_ERROR_INPUT_REFUSED. BW_ERROR_UNKNOWN_INPUT.
#[unsafe(no_mangle)]
pub extern "C" fn bw_client_refuse_input(
    client: Option<&mut bw_client>,
    now: u64,
    input: u64,
    code: i64,
    message: bw_bytes,
) -> bw_status {
    run(client, |machine| {
        let response = InputResponse::Refused(RpcError::new(code, message.text()?));
        Ok(machine.provide_input(Instant::from_millis(now), InputHandle::from_number(input), response)?)
    })
}

/// Asks to be told of changes. The same events follow in both eras: SUBSCRIPTION_ACKNOWLEDGED, changes,
/// SUBSCRIPTION_ENDED, each for `*subscription`. A BW_ERROR_LIMIT, or the number of the end.
#[unsafe(no_mangle)]
pub extern "C" fn bw_client_subscribe(
    client: Option<&mut bw_client>,
    now: u64,
    filter: Option<&bw_subscription_filter>,
    subscription: Option<&mut MaybeUninit<u64>>,
) -> bw_status {
    give(client, subscription, |machine| {
        let wanted = filter.ok_or(Failure::NULL)?;
        let filter = SubscriptionFilter {
            tools: wanted.tools,
            resources: wanted.resources,
            prompts: wanted.prompts,
            resource_uris: texts(wanted.uris, wanted.uri_count)?,
        };
        Ok(machine.subscribe(Instant::from_millis(now), filter)?.number())
    })
}

/// Ends a subscription; SUBSCRIPTION_ENDED follows. BW_ERROR_UNKNOWN_SUBSCRIPTION if it has ended.
#[unsafe(no_mangle)]
pub extern "C" fn bw_client_unsubscribe(
    client: Option<&mut bw_client>,
    now: u64,
    subscription: u64,
) -> bw_status {
    run(client, |machine| {
        Ok(machine.unsubscribe(Instant::from_millis(now), SubscriptionHandle::from_number(subscription))?)
    })
}

/// Sets the least severity of log messages wanted, a number of `bw_log_level`. RESPONSE_RECEIVED or REQUEST_FAILED follows
/// for `*request`, which may be NULL. As `bw_client_request`.
#[unsafe(no_mangle)]
pub extern "C" fn bw_client_set_log_level(
    client: Option<&mut bw_client>,
    now: u64,
    level: i32,
    request: Option<&mut MaybeUninit<u64>>,
) -> bw_status {
    run(client, |machine| {
        let handle = machine.set_log_level(Instant::from_millis(now), values::log_level(level)?)?;
        request.map(|request| request.write(handle.number()));
        Ok(())
    })
}

/// Sends a notification, or queues it until the connection is ready. `params` is a JSON object, or nothing. Errors as for
/// `bw_client_request`.
#[unsafe(no_mangle)]
pub extern "C" fn bw_client_notify(
    client: Option<&mut bw_client>,
    method: bw_bytes,
    params: bw_bytes,
) -> bw_status {
    run(client, |machine| Ok(machine.notify(method.text()?, params.optional_text()?)?))
}

/// Tells the server that the roots have changed. The legacy era only. Errors as for `bw_client_request`.
#[unsafe(no_mangle)]
pub extern "C" fn bw_client_notify_roots_changed(client: Option<&mut bw_client>) -> bw_status {
    run(client, |machine| Ok(machine.notify_roots_changed()?))
}
