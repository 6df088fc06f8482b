//! Servers behind HTTP: exchanges as values.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::mem::MaybeUninit;

use barewire::server::Server;
use barewire::transport::http::server::{Denial, Endpoint, HttpServer, RequestHead, ResponsePart};
use barewire::{ExchangeHandle, Instant, SessionHandle};

use crate::auth::bw_denial;
use crate::bytes::{bw_bytes, bw_pair, pairs, place};
use crate::guard::status;
use crate::status::{Failure, bw_status, status_of};

use super::config::bw_server_config;
use super::{Carrier, bw_server};

/// An endpoint of a server over HTTP; the host routes by path.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum bw_endpoint {
    /// The one of Streamable HTTP.
    BW_ENDPOINT_STREAMABLE = 0,
    /// The stream of HTTP+SSE (2024-11-05).
    BW_ENDPOINT_EVENT_STREAM = 1,
    /// Where HTTP+SSE takes messages.
    BW_ENDPOINT_MESSAGES = 2,
}

/// The head of a request to a server. Set all to zero first; what is left so is absent.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct bw_request_head {
    /// The method, as it came.
    pub(crate) method: bw_bytes,
    /// Which endpoint it is for, a number of `bw_endpoint`.
    pub(crate) endpoint: i32,
    /// BW_ENDPOINT_EVENT_STREAM: the path of the endpoint that takes messages, without a query. BW_ENDPOINT_MESSAGES: the
    /// query string, without the question mark.
    pub(crate) endpoint_detail: bw_bytes,
    /// Names and values in the order of arrival; `Host` among them, from `:authority` if need be. Values are UTF-8; one
    /// that is not is given with its bytes above 127 as they are in Latin-1.
    pub(crate) headers: *const bw_pair,
    /// How many headers there are.
    pub(crate) header_count: usize,
    /// Who sends it, as far as the host knows: an opaque key. Sessions belong to it.
    pub(crate) principal: bw_bytes,
}

/// What to send next in one exchange. Parts are sent in order: the head, then `data`, then the end. What it points to is
/// good until the next `bw_server_http_poll_response` on the handle.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct bw_response_part {
    /// The status, in the first part; 0 if there is no head in this one.
    pub(crate) status: u16,
    /// Names in lower case, and values. `content-length` is among them unless the body is a stream, or there is none.
    pub(crate) headers: *const bw_pair,
    /// How many headers there are.
    pub(crate) header_count: usize,
    /// Bytes of the body; may be empty.
    pub(crate) data: bw_bytes,
    /// Nothing follows: the exchange is over and its handle is of no use any more.
    pub(crate) is_last: bool,
    /// Close the connection without an orderly end of the body: the client must not take what it got for the whole.
    /// `is_last` is true as well.
    pub(crate) is_aborted: bool,
}

/// The part that was given last, and its headers as C reads them.
#[derive(Default)]
pub(super) struct Response {
    part: ResponsePart,
    headers: Vec<bw_pair>,
}

impl Response {
    fn keep(&mut self, part: ResponsePart) -> bw_response_part {
        self.part = part;
        self.headers.clear();
        let head = self.part.head.as_ref();
        self.headers.extend(
            head.iter().flat_map(|head| &head.headers).map(|(name, value)| bw_pair {
                name: bw_bytes::text_of(name),
                value: bw_bytes::text_of(value),
            }),
        );
        bw_response_part {
            status: head.map_or(0, |head| head.status),
            headers: self.headers.as_ptr(),
            header_count: self.headers.len(),
            data: bw_bytes::of(&self.part.data),
            is_last: self.part.is_last,
            is_aborted: self.part.is_aborted,
        }
    }
}

fn on_http<R>(
    server: Option<&mut bw_server>,
    work: impl FnOnce(&mut HttpServer<Server>) -> Result<R, Failure>,
) -> Result<R, Failure> {
    server.ok_or(Failure::NULL)?.held.run(|carrier| match carrier {
        Carrier::Http(http) => work(http),
        Carrier::Stream(_) => Err(Failure::WRONG_TRANSPORT),
    })
}

fn run(
    server: Option<&mut bw_server>,
    work: impl FnOnce(&mut HttpServer<Server>) -> Result<(), Failure>,
) -> bw_status {
    status_of(on_http(server, work))
}

const fn handle(exchange: u64) -> ExchangeHandle {
    ExchangeHandle::from_number(exchange)
}

/// Calls `work` with the head that C described.
fn with_head<R>(
    head: Option<&bw_request_head>,
    work: impl FnOnce(RequestHead<'_>) -> R,
) -> Result<R, Failure> {
    let head = head.ok_or(Failure::NULL)?;
    let headers = pairs(head.headers, head.header_count)?;
    let endpoint = match head.endpoint {
        0 => Endpoint::Streamable,
        1 => Endpoint::EventStream { messages: head.endpoint_detail.text()? },
        2 => Endpoint::Messages { query: head.endpoint_detail.optional_text()?.unwrap_or_default() },
        _ => return Err(Failure::argument("not a number of bw_endpoint")),
    };
    let (method, principal) = (head.method.text()?, head.principal.optional_text()?);
    Ok(work(RequestHead { method, endpoint, headers: &headers, principal }))
}

/// The refusal that C gave.
fn denial_of(denial: Option<&bw_denial>) -> Result<Denial<'_>, Failure> {
    let denial = denial.ok_or(Failure::NULL)?;
    Ok(Denial { status: denial.status, challenge: denial.challenge.optional_text()? })
}

/// Makes a server for any number of clients over HTTP. The host owns sockets, TLS and the syntax of HTTP, and brings each
/// request and its response as an exchange.
///
/// The caller frees `*server` with `bw_server_free`; `config` stays the caller's. Errors as for `bw_server_new`.
#[unsafe(no_mangle)]
pub extern "C" fn bw_server_http_new(
    config: Option<&bw_server_config>,
    server: Option<&mut MaybeUninit<Option<Box<bw_server>>>>,
) -> bw_status {
    status(|| {
        let (config, server) = (config.ok_or(Failure::NULL)?, place(server)?);
        let mut http = config.http.clone();
        http.revisions = config.machine.revisions;
        let machine = Server::new(config.machine.clone())?;
        server.write(Some(bw_server::open(Carrier::Http(HttpServer::new(machine, http)))));
        Ok(())
    })
}

/// Takes the head of a request and names its exchange. What refuses it is ready to be sent at once; the body is then
/// ignored. What the head points to is read during the call only.
#[unsafe(no_mangle)]
pub extern "C" fn bw_server_http_receive_request(
    server: Option<&mut bw_server>,
    now: u64,
    head: Option<&bw_request_head>,
    exchange: Option<&mut MaybeUninit<u64>>,
) -> bw_status {
    run(server, |http| {
        let exchange = place(exchange)?;
        let opened = with_head(head, |head| http.receive_request(Instant::from_millis(now), head))?;
        exchange.write(opened.number());
        Ok(())
    })
}

/// Takes a piece of the body of a request.
#[unsafe(no_mangle)]
pub extern "C" fn bw_server_http_receive_body(
    server: Option<&mut bw_server>,
    now: u64,
    exchange: u64,
    data: bw_bytes,
) -> bw_status {
    run(server, |http| {
        http.receive_body(Instant::from_millis(now), handle(exchange), data.bytes()?);
        Ok(())
    })
}

/// The body of a request is complete: what it holds goes to the server.
#[unsafe(no_mangle)]
pub extern "C" fn bw_server_http_receive_end(
    server: Option<&mut bw_server>,
    now: u64,
    exchange: u64,
) -> bw_status {
    run(server, |http| {
        http.receive_end(Instant::from_millis(now), handle(exchange));
        Ok(())
    })
}

/// Takes a request whose body is at hand as a whole, which spares a copy of it. NULL data: no body.
#[unsafe(no_mangle)]
pub extern "C" fn bw_server_http_receive_whole(
    server: Option<&mut bw_server>,
    now: u64,
    head: Option<&bw_request_head>,
    body: bw_bytes,
    exchange: Option<&mut MaybeUninit<u64>>,
) -> bw_status {
    run(server, |http| {
        let exchange = place(exchange)?;
        let body = body.optional_bytes()?.unwrap_or_default();
        let opened = with_head(head, |head| http.receive_whole(Instant::from_millis(now), head, body))?;
        exchange.write(opened.number());
        Ok(())
    })
}

/// Takes the head of a request that the host does not let through, and names its exchange: the answer is ready to be sent,
/// and the body is ignored. What the server refuses itself it refuses as ever, and OPTIONS is answered, because browsers ask
/// without credentials.
///
/// `denial` is what a `bw_resource_server` gave; or one with the status 503 and no challenge, where nothing can be said of a
/// token now.
#[unsafe(no_mangle)]
pub extern "C" fn bw_server_http_receive_denied(
    server: Option<&mut bw_server>,
    now: u64,
    head: Option<&bw_request_head>,
    denial: Option<&bw_denial>,
    exchange: Option<&mut MaybeUninit<u64>>,
) -> bw_status {
    run(server, |http| {
        let (exchange, denial) = (place(exchange)?, denial_of(denial)?);
        let opened = with_head(head, |head| http.receive_denied(Instant::from_millis(now), head, denial))?;
        exchange.write(opened.number());
        Ok(())
    })
}

/// Does not let through what an exchange has brought after all, such as the call of a tool that its sender may not use. The
/// request still has to be answered: that goes nowhere. `denial` is as for `bw_server_http_receive_denied`.
///
/// `possible`, which may be NULL, tells whether that could be done: not if the response has begun, and nothing is changed
/// then.
#[unsafe(no_mangle)]
pub extern "C" fn bw_server_http_deny(
    server: Option<&mut bw_server>,
    now: u64,
    exchange: u64,
    denial: Option<&bw_denial>,
    possible: Option<&mut MaybeUninit<bool>>,
) -> bw_status {
    run(server, |http| {
        let denied = http.deny(Instant::from_millis(now), handle(exchange), denial_of(denial)?);
        possible.map(|possible| possible.write(denied));
        Ok(())
    })
}

/// The client has gone, or nothing can be sent to it any more. The handle of the exchange is of no use afterwards.
#[unsafe(no_mangle)]
pub extern "C" fn bw_server_http_receive_abort(
    server: Option<&mut bw_server>,
    now: u64,
    exchange: u64,
) -> bw_status {
    run(server, |http| {
        http.receive_abort(Instant::from_millis(now), handle(exchange));
        Ok(())
    })
}

/// An exchange that has something to send and was not named since it last had nothing; 0 if there is none. Ask until 0
/// after each function that takes something in, and after commands.
#[unsafe(no_mangle)]
pub extern "C" fn bw_server_http_poll_ready(server: Option<&mut bw_server>) -> u64 {
    on_http(server, |http| Ok(http.poll_ready().map_or(0, ExchangeHandle::number))).unwrap_or(0)
}

/// What to send next in an exchange. False, and nothing written, if that is nothing for now; the exchange is named by
/// `bw_server_http_poll_ready` again when there is something.
///
/// What `*part` points to is good until the next call of this function on the handle, whatever its exchange.
#[unsafe(no_mangle)]
pub extern "C" fn bw_server_http_poll_response(
    server: Option<&mut bw_server>,
    exchange: u64,
    part: Option<&mut MaybeUninit<bw_response_part>>,
) -> bool {
    let (Some(server), Some(place)) = (server, part) else { return false };
    let polled = on_http(Some(&mut *server), |http| Ok(http.poll_response(handle(exchange))));
    match polled {
        Ok(Some(part)) => {
            place.write(server.response.keep(part));
            true
        }
        _ => false,
    }
}

/// Bytes that wait to be taken by an exchange. The host may let the application wait while they are many.
#[unsafe(no_mangle)]
pub extern "C" fn bw_server_http_backlog(server: Option<&mut bw_server>, exchange: u64) -> usize {
    on_http(server, |http| Ok(http.backlog(handle(exchange)))).unwrap_or(0)
}

/// Answers SESSION_REQUESTED: the session as it was imported, or 0 if there is none for this principal. It has to be
/// answered even if the exchange is over by then.
#[unsafe(no_mangle)]
pub extern "C" fn bw_server_http_resolve_session(
    server: Option<&mut bw_server>,
    now: u64,
    exchange: u64,
    session: u64,
) -> bw_status {
    run(server, |http| {
        let session = (session != 0).then(|| SessionHandle::from_number(session));
        http.resolve_session(Instant::from_millis(now), handle(exchange), session);
        Ok(())
    })
}

/// Answers REPLAY_REQUESTED: `events` are ids (`name`) and data (`value`) of what followed, in order; `count` may be 0. NULL
/// says that the session has no such stream.
#[unsafe(no_mangle)]
pub extern "C" fn bw_server_http_replay(
    server: Option<&mut bw_server>,
    now: u64,
    exchange: u64,
    events: *const bw_pair,
    count: usize,
) -> bw_status {
    run(server, |http| {
        let known = !events.is_null();
        let events = pairs(events, if known { count } else { 0 })?;
        http.replay(Instant::from_millis(now), handle(exchange), known.then_some(&*events));
        Ok(())
    })
}

/// Ends the response of a legacy request for now: the client reconnects after `retry` milliseconds (BW_NEVER: those of the
/// configuration) and finds what followed. `exchange` is the one that brought the request. `possible`, which may be NULL,
/// tells whether that could be done: the client takes a stream, its revision knows of this, and events are kept.
#[unsafe(no_mangle)]
pub extern "C" fn bw_server_http_close_stream(
    server: Option<&mut bw_server>,
    now: u64,
    exchange: u64,
    retry: u64,
    possible: Option<&mut MaybeUninit<bool>>,
) -> bw_status {
    run(server, |http| {
        let retry = (retry != crate::values::BW_NEVER).then_some(retry);
        let closed = http.close_stream(Instant::from_millis(now), handle(exchange), retry);
        possible.map(|possible| possible.write(closed));
        Ok(())
    })
}

/// Takes no more requests: they are refused with 503, streams that belong to no request end, and what is in flight goes
/// on. Streams of modern subscriptions and HTTP+SSE end with `bw_server_close`.
#[unsafe(no_mangle)]
pub extern "C" fn bw_server_http_shut_down(server: Option<&mut bw_server>, now: u64) -> bw_status {
    run(server, |http| {
        http.shut_down(Instant::from_millis(now));
        Ok(())
    })
}

/// Whether no exchange is open. True as well where there is no server over HTTP.
#[unsafe(no_mangle)]
pub extern "C" fn bw_server_http_is_idle(server: Option<&mut bw_server>) -> bool {
    on_http(server, |http| Ok(http.is_idle())).unwrap_or(true)
}
