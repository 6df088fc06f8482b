//! Servers behind HTTP.

use barewire::server::Server;
use barewire::transport::http::server::{Denial, Endpoint, HttpServer, RequestHead, ResponsePart};
use barewire::{ExchangeHandle, Machine as _, RequestHandle, SessionHandle};
use napi::bindgen_prelude::{BufferSlice, Uint8Array};
use napi::{Either, Env, JsString};
use napi_derive::napi;

use crate::batch::{self, Batch, Row, Text, told};
use crate::byte_stream::{due, tell_numbers};
use crate::config;
use crate::errors::{Failure, Outcome as _};
use crate::events::ToRows as _;
use crate::guard::{Carrier, Handle, Held, tell};
use crate::http_short::{Numbers, count, is_short, is_text, tell_head};
use crate::names::{exchange as handle, instant, number, to_js};

/// Stands between names and values of headers, none of which can hold it.
const SEPARATOR: u8 = b'\0';

/// The kind of the row that [`poll_response`] gives.
const PART: u8 = 0;

/// A server behind HTTP.
#[napi]
#[allow(clippy::needless_pass_by_value, reason = "strings of JavaScript are owned")]
pub(crate) fn open_http_server(
    settings: String,
    http: String,
    seed: &[u8],
    keys: &[u8],
) -> Either<Handle, String> {
    Held::open(|| {
        let config = config::server(&settings, seed, keys)?;
        let http = config::http_server(&http, &config)?;
        Ok(Carrier::HttpServer(HttpServer::new(Server::new(config)?, http)))
    })
}

/// Calls `work` with the headers of a text: names and values, each followed by the separator.
pub(crate) fn with_headers<R>(text: &str, work: impl FnOnce(&[(&str, &str)]) -> R) -> R {
    work(&headers_of(text).0)
}

/// The headers of a text, and what it has behind the last of them.
fn headers_of(text: &str) -> (Vec<(&str, &str)>, &str) {
    let mut headers = Vec::with_capacity(16);
    let mut ends = memchr::memchr_iter(SEPARATOR, text.as_bytes());
    let mut start = 0;
    while let (Some(middle), Some(end)) = (ends.next(), ends.next()) {
        headers.push((&text[start..middle], &text[middle + 1..end]));
        start = end + 1;
    }
    (headers, &text[start..])
}

fn endpoint<'a>(event_stream: Option<&'a str>, messages: Option<&'a str>) -> Endpoint<'a> {
    match (event_stream, messages) {
        (Some(messages), _) => Endpoint::EventStream { messages },
        (None, Some(query)) => Endpoint::Messages { query },
        (None, None) => Endpoint::Streamable,
    }
}

/// Takes the head of a request; gives its exchange.
#[napi]
#[allow(clippy::needless_pass_by_value, reason = "strings of JavaScript are owned")]
pub(crate) fn receive_request(
    this: &mut Handle,
    method: String,
    headers: String,
    now: i64,
    principal: Option<String>,
    event_stream: Option<String>,
    messages: Option<String>,
) -> Either<i64, String> {
    let endpoint = endpoint(event_stream.as_deref(), messages.as_deref());
    with_headers(&headers, |headers| {
        let head = RequestHead { method: &method, endpoint, headers, principal: principal.as_deref() };
        this.http_server(|http| to_js(http.receive_request(instant(now), head).number())).given()
    })
}

/// Takes the head of a request that is not let in; gives its exchange.
#[napi]
#[allow(clippy::needless_pass_by_value, reason = "strings of JavaScript are owned")]
#[allow(clippy::too_many_arguments, reason = "each is named in JavaScript")]
pub(crate) fn receive_denied(
    this: &mut Handle,
    method: String,
    headers: String,
    status: u16,
    challenge: Option<String>,
    now: i64,
    event_stream: Option<String>,
    messages: Option<String>,
) -> Either<i64, String> {
    let endpoint = endpoint(event_stream.as_deref(), messages.as_deref());
    with_headers(&headers, |headers| {
        let head = RequestHead { method: &method, endpoint, headers, principal: None };
        let denial = Denial { status, challenge: challenge.as_deref() };
        this.http_server(|http| to_js(http.receive_denied(instant(now), head, denial).number())).given()
    })
}

/// Does not let through what an exchange has brought; false if its response has begun.
#[napi]
#[allow(clippy::needless_pass_by_value, reason = "strings of JavaScript are owned")]
pub(crate) fn deny(
    this: &mut Handle,
    exchange: i64,
    status: u16,
    challenge: Option<String>,
    now: i64,
) -> Either<bool, String> {
    let denial = Denial { status, challenge: challenge.as_deref() };
    this.http_server(|http| http.deny(instant(now), handle(exchange), denial)).given()
}

/// Takes a piece of the body.
#[napi]
pub(crate) fn receive_body(this: &mut Handle, exchange: i64, data: &[u8], now: i64) -> Option<String> {
    this.http_server(|http| http.receive_body(instant(now), handle(exchange), data)).done()
}

/// The body is complete.
#[napi]
pub(crate) fn receive_end<'env>(
    env: &'env Env,
    this: &mut Handle,
    exchange: i64,
    now: i64,
) -> napi::Result<JsString<'env>> {
    this.frequent_step(env, |carrier| {
        carrier.http_server()?.receive_end(instant(now), handle(exchange));
        Ok(())
    })
}

/// Takes a request as a whole: its head, the method before the headers, all of it followed by the separator, and how many
/// parts that are; and its body.
///
/// A separator more would move names into the places of values: it is refused, even if it only leaves something over.
///
/// The first of the numbers tells the exchange, and the second the request if all that is to be told is the call of a tool:
/// the numbers behind it and the text are then those of [`Shared::tell_call`](crate::http_short::Shared::tell_call), else the text is a batch.
#[napi]
#[allow(clippy::needless_pass_by_value, reason = "strings of JavaScript are owned")]
#[allow(clippy::too_many_arguments, reason = "each is named in JavaScript")]
pub(crate) fn receive_whole(
    this: &mut Handle,
    head: String,
    parts: u32,
    body: &[u8],
    now: i64,
    mut numbers: BufferSlice<'_>,
    principal: Option<String>,
    event_stream: Option<String>,
    messages: Option<String>,
) -> Text {
    let mut numbers = Numbers::new(&mut numbers);
    let endpoint = endpoint(event_stream.as_deref(), messages.as_deref());
    let (method, headers) = head.split_once(char::from(SEPARATOR)).unwrap_or_default();
    let (headers, rest) = headers_of(headers);
    if headers.len() * 2 + 1 != parts as usize || !rest.is_empty() {
        return told(Err(Failure::Argument("a header holds a null character".into())));
    }
    let head = RequestHead { method, endpoint, headers: &headers, principal: principal.as_deref() };
    told(this.http_server_telling(|http, shared| {
        shared.agree(&numbers);
        let exchange = http.receive_whole(instant(now), head, body);
        numbers.tell(0, [count(exchange.number())]);
        let (first, second) = (http.machine_mut().poll_event(), http.machine_mut().poll_event());
        let mut beside = http.poll_http_event();
        if let (Some(first), None, None) = (&first, &second, &beside)
            && let Some((text, call)) = shared.tell_call(first, exchange)
        {
            numbers.tell(1, call);
            return Ok(text);
        }
        let mut batch = Batch::default();
        first.iter().chain(&second).for_each(|event| event.write(&mut batch));
        tell(&mut batch, || http.machine_mut().poll_event());
        tell(&mut batch, || beside.take().or_else(|| http.poll_http_event()));
        Ok(batch.into_text())
    }))
}

/// The client has gone.
#[napi]
pub(crate) fn receive_abort(this: &mut Handle, exchange: i64, now: i64) -> Text {
    this.http_step(|http| http.receive_abort(instant(now), handle(exchange)))
}

/// The exchanges that have something to send and were not named since they last had nothing.
#[napi]
pub(crate) fn ready(this: &mut Handle) -> Either<Vec<i64>, String> {
    let ready = |http: &mut HttpServer<Server>| {
        std::iter::from_fn(|| http.poll_ready()).map(|exchange| to_js(exchange.number())).collect()
    };
    this.http_server(ready).given()
}

/// What to send next in an exchange, as a batch of one row at most. The data goes into `pool` after the first `used`
/// bytes; where there is too little room, it comes as an array of its own.
#[napi]
pub(crate) fn poll_response(
    this: &mut Handle,
    exchange: i64,
    mut pool: BufferSlice<'_>,
    used: u32,
) -> Either<Text, (Text, Uint8Array)> {
    let part = match this.http_server(|http| http.poll_response(handle(exchange))) {
        Ok(Some(part)) => part,
        Ok(None) => return Either::A(told(Ok(String::new()))),
        Err(failure) => return Either::A(told(Err(failure))),
    };
    let mut batch = Batch::default();
    let room = pool.get_mut(used as usize..).unwrap_or_default();
    let place = room.get_mut(..part.data.len());
    batch.row(PART, |row| {
        about(row, &part);
        row.number_or_null(place.is_some().then_some(part.data.len() as u64));
    });
    match place {
        Some(place) => {
            place.copy_from_slice(&part.data);
            Either::A(told(Ok(batch.into_text())))
        }
        None => Either::B((batch::to_js(batch.into_text()), part.data.into())),
    }
}

/// What a part is, beside its data.
fn about(row: &mut Row<'_>, part: &ResponsePart) {
    if let Some(head) = &part.head {
        tell_head(row, head);
    } else {
        row.null();
        row.null();
    }
    row.boolean(part.is_last);
    row.boolean(part.is_aborted);
}

/// Adds the part of an exchange that was ready. Its data is a piece if that is a short body of ASCII alone; else it goes
/// into `room` from `end` on, and where there is too little, it is given.
fn tell_part(
    batch: &mut Batch,
    exchange: ExchangeHandle,
    part: ResponsePart,
    room: &mut [u8],
    end: &mut usize,
) -> Option<Vec<u8>> {
    let is_text = part.is_last && is_text(&part.data);
    // What is ASCII is UTF-8.
    let text = if is_text { std::str::from_utf8(&part.data).ok() } else { None };
    let place = if is_text { None } else { room.get_mut(*end..*end + part.data.len()) };
    batch.row(PART, |row| {
        about(row, &part);
        match (text, &place) {
            (Some(text), _) => row.piece(text),
            (None, Some(place)) => row.number(place.len() as u64),
            (None, None) => row.null(),
        }
        row.number(exchange.number());
        row.boolean(is_text);
    });
    match place {
        _ if is_text => None,
        Some(place) => {
            place.copy_from_slice(&part.data);
            *end += part.data.len();
            None
        }
        None => Some(part.data),
    }
}

/// What to send next in each of the exchanges that [`ready`] would name, as a batch: a row for each, as [`poll_response`]
/// has it, and the exchange.
///
/// A short body of ASCII alone is a piece of the batch; its row says so.
/// The head of the pool tells when to call `handle_timeout`, as for [`turn`](crate::byte_stream::turn), and how many
/// bytes were put into the pool. Where an array comes beside the batch, it is the data of the last row, and there may be
/// more exchanges.
#[napi]
pub(crate) fn ready_parts(
    this: &mut Handle,
    mut pool: BufferSlice<'_>,
    used: u32,
) -> Either<Text, (Text, Uint8Array)> {
    let mut batch = Batch::default();
    let outcome = this.http_server(|http| {
        let mut end = used as usize;
        let own = tell_ready(http, None, &mut batch, &mut pool, &mut end);
        let count = u32::try_from(end).unwrap_or(u32::MAX) - used;
        tell_numbers(&mut pool, [due(http.poll_timeout()), f64::from(count)]);
        own
    });
    with_data(batch, outcome)
}

/// Tells the part of `next` and all others that are ready, up to the first whose data finds no place; gives that.
fn tell_ready(
    http: &mut HttpServer<Server>,
    mut next: Option<ExchangeHandle>,
    batch: &mut Batch,
    room: &mut [u8],
    end: &mut usize,
) -> Option<Vec<u8>> {
    while let Some(exchange) = next.take().or_else(|| http.poll_ready()) {
        let Some(part) = http.poll_response(exchange) else { continue };
        let own = tell_part(batch, exchange, part, room, end);
        if own.is_some() {
            return own;
        }
    }
    None
}

fn with_data(batch: Batch, outcome: Result<Option<Vec<u8>>, Failure>) -> Either<Text, (Text, Uint8Array)> {
    match outcome {
        Ok(Some(own)) => Either::B((batch::to_js(batch.into_text()), own.into())),
        outcome => Either::A(told(outcome.map(|_| batch.into_text()))),
    }
}

/// Answers a request with its result, and tells what is ready then, as [`ready_parts`] does without a pool.
///
/// The first of the numbers tells when to call `handle_timeout`, and the second the exchange if all that is ready is the
/// whole of its response: the number behind it and the text are then those of [`Shared::tell_response`](crate::http_short::Shared::tell_response).
#[napi]
pub(crate) fn answer(
    this: &mut Handle,
    request: i64,
    result: String,
    mut numbers: BufferSlice<'_>,
) -> Either<Text, (Text, Uint8Array)> {
    let mut numbers = Numbers::new(&mut numbers);
    let mut batch = Batch::default();
    let mut short = None;
    let outcome = this.http_server_telling(|http, shared| {
        shared.agree(&numbers);
        http.machine_mut().respond(RequestHandle::from_number(number(request)), result)?;
        let first = http.poll_ready();
        let part = first.and_then(|exchange| Some((exchange, http.poll_response(exchange)?)));
        numbers.tell(0, [due(http.poll_timeout())]);
        let Some((exchange, mut part)) = part else {
            return Ok(tell_ready(http, None, &mut batch, &mut [], &mut 0));
        };
        let next = if is_short(&part) { http.poll_ready() } else { None };
        if next.is_none()
            && let Some((text, head)) = shared.tell_response(&mut part)
        {
            numbers.tell(1, [count(exchange.number()), head]);
            short = Some(text);
            return Ok(None);
        }
        let own = tell_part(&mut batch, exchange, part, &mut [], &mut 0);
        Ok(own.or_else(|| tell_ready(http, next, &mut batch, &mut [], &mut 0)))
    });
    match (outcome, short) {
        (Ok(None), Some(text)) => Either::A(batch::to_js(text)),
        (outcome, _) => with_data(batch, outcome),
    }
}

/// Bytes that wait to be taken by an exchange.
#[napi]
pub(crate) fn backlog(this: &mut Handle, exchange: i64) -> Either<i64, String> {
    this.http_server(|http| to_js(http.backlog(handle(exchange)) as u64)).given()
}

/// Answers a session that was asked for; below zero: there is none.
#[napi]
pub(crate) fn resolve_session(this: &mut Handle, exchange: i64, session: i64, now: i64) -> Text {
    let session = (session >= 0).then(|| SessionHandle::from_number(number(session)));
    this.http_step(|http| http.resolve_session(instant(now), handle(exchange), session))
}

/// Answers events that were asked for: ids and data, one after the other; none if the stream is not known.
#[napi]
#[allow(clippy::needless_pass_by_value, reason = "strings of JavaScript are owned")]
pub(crate) fn replay(
    this: &mut Handle,
    exchange: i64,
    events: Option<Vec<String>>,
    now: i64,
) -> Option<String> {
    let pairs = |events: &'_ [String]| -> Vec<(String, String)> {
        events.chunks_exact(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect()
    };
    let events = events.as_deref().map(pairs);
    let events: Option<Vec<(&str, &str)>> =
        events.as_ref().map(|events| events.iter().map(|(id, data)| (&**id, &**data)).collect());
    this.http_server(|http| http.replay(instant(now), handle(exchange), events.as_deref())).done()
}

/// Ends the response of a legacy request for now; whether that was possible. A `retry` below zero is the configured one.
#[napi]
pub(crate) fn close_stream(this: &mut Handle, exchange: i64, now: i64, retry: i64) -> Either<bool, String> {
    let retry = u64::try_from(retry).ok();
    this.http_server(|http| http.close_stream(instant(now), handle(exchange), retry)).given()
}

/// Takes no more requests.
#[napi]
pub(crate) fn shut_down(this: &mut Handle, now: i64) -> Text {
    this.http_step(|http| http.shut_down(instant(now)))
}

/// Whether no exchange is open.
#[napi]
pub(crate) fn is_idle(this: &mut Handle) -> Either<bool, String> {
    this.http_server(|http| http.is_idle()).given()
}
