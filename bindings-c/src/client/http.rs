//! Clients over HTTP: exchanges as values.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::mem::MaybeUninit;

use barewire::client::Client;
use barewire::transport::http::client::{ExchangeFailure, HttpClient, HttpRequest, HttpTransmit};
use barewire::{ExchangeHandle, Instant};

use crate::bytes::{bw_bytes, bw_pair, pairs, place};
use crate::guard::status;
use crate::status::{Failure, bw_status, status_of};

use super::{Carrier, bw_client, bw_client_config};

/// What to do next over HTTP.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum bw_transmit_kind {
    /// Send a request.
    BW_TRANSMIT_REQUEST = 1,
    /// Give up an exchange: close its connection or reset its stream. Nothing is reported of it any more.
    BW_TRANSMIT_ABORT = 2,
    /// Everything is over: nothing more will be asked for, and nothing is under way.
    BW_TRANSMIT_CLOSE = 3,
}

/// Why an exchange brought no response, or not all of it.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum bw_exchange_failure {
    /// No connection could be made, so that the server has not seen the request.
    BW_EXCHANGE_NOT_SENT = 1,
    /// The connection broke, or its data made no sense as HTTP.
    BW_EXCHANGE_BROKEN = 2,
}

/// One thing to do over HTTP. What it points to is good until the next `bw_client_http_poll_transmit` on the handle.
///
/// Requests are carried out all at once and in any order of completion. The host follows no redirect: the head of one is
/// handed in like any other.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct bw_http_transmit {
    /// What to do, a number of `bw_transmit_kind`. Without a request, what follows the exchange is empty.
    pub(crate) kind: i32,
    /// Names the exchange in what the host reports; 0 if all is over.
    pub(crate) exchange: u64,
    /// The method: GET, POST or DELETE.
    pub(crate) method: bw_bytes,
    /// Where to.
    pub(crate) url: bw_bytes,
    /// Names in lower case, and values, without those of the host's own (`Host`, `Content-Length`, `Authorization`, ...).
    pub(crate) headers: *const bw_pair,
    /// How many headers there are.
    pub(crate) header_count: usize,
    /// The body; empty for GET and DELETE.
    pub(crate) body: bw_bytes,
    /// The response may stay silent for as long as it likes: no read timeout applies.
    pub(crate) is_stream: bool,
}

/// The request that was given last, and its headers as C reads them.
#[derive(Default)]
pub(super) struct Transmit {
    request: Option<HttpRequest>,
    headers: Vec<bw_pair>,
}

impl Transmit {
    fn keep(&mut self, transmit: HttpTransmit) -> Option<bw_http_transmit> {
        self.headers.clear();
        self.request = None;
        let kind = match &transmit {
            HttpTransmit::Request(_) => bw_transmit_kind::BW_TRANSMIT_REQUEST,
            HttpTransmit::Abort { .. } => bw_transmit_kind::BW_TRANSMIT_ABORT,
            HttpTransmit::Close => bw_transmit_kind::BW_TRANSMIT_CLOSE,
            // The core marks what it asks for as open for more.
            _ => return None,
        };
        let mut told = bw_http_transmit {
            kind: kind as i32,
            exchange: 0,
            method: bw_bytes::NONE,
            url: bw_bytes::NONE,
            headers: core::ptr::null(),
            header_count: 0,
            body: bw_bytes::NONE,
            is_stream: false,
        };
        match transmit {
            HttpTransmit::Abort { exchange } => told.exchange = exchange.number(),
            HttpTransmit::Request(request) => {
                // The texts lie in boxes and strings of their own, which do not move with the request.
                let request = self.request.insert(request);
                self.headers.extend(request.headers.iter().map(|(name, value)| pair_of(name, value)));
                told.exchange = request.exchange.number();
                told.method = bw_bytes::text_of(request.method);
                told.url = bw_bytes::text_of(&request.url);
                told.headers = self.headers.as_ptr();
                told.header_count = self.headers.len();
                told.body = bw_bytes::text_of(&request.body);
                told.is_stream = request.is_stream;
            }
            _ => {}
        }
        Some(told)
    }
}

fn pair_of(name: &str, value: &str) -> bw_pair {
    bw_pair { name: bw_bytes::text_of(name), value: bw_bytes::text_of(value) }
}

fn on_http<R>(
    client: Option<&mut bw_client>,
    work: impl FnOnce(&mut HttpClient<Client>) -> Result<R, Failure>,
) -> Result<R, Failure> {
    client.ok_or(Failure::NULL)?.held.run(|carrier| match carrier {
        Carrier::Http(http) => work(http),
        Carrier::Stream(_) => Err(Failure::WRONG_TRANSPORT),
    })
}

fn run(
    client: Option<&mut bw_client>,
    work: impl FnOnce(&mut HttpClient<Client>) -> Result<(), Failure>,
) -> bw_status {
    status_of(on_http(client, work))
}

const fn handle(exchange: u64) -> ExchangeHandle {
    ExchangeHandle::from_number(exchange)
}

/// Makes a client of the server at `url`, an http or https URL as the user wrote it. It starts to connect at once: the
/// first request waits to be polled. The host owns sockets, TLS and the syntax of HTTP.
///
/// The caller frees `*client` with `bw_client_free`; `config` stays the caller's. BW_ERROR_INVALID_DEFINITION if the URL is
/// none, BW_ERROR_NO_COMMON_REVISION if no revision is allowed.
#[unsafe(no_mangle)]
pub extern "C" fn bw_client_http_new(
    config: Option<&bw_client_config>,
    url: bw_bytes,
    now: u64,
    client: Option<&mut MaybeUninit<Option<Box<bw_client>>>>,
) -> bw_status {
    status(|| {
        let (config, client) = (config.ok_or(Failure::NULL)?, place(client)?);
        let (mut settings, mut http) = (config.machine.clone(), config.http.clone());
        settings.http = true;
        http.url = url.text()?.into();
        http.message_bytes = settings.limits.message_bytes;
        let machine = Client::new(settings, Instant::from_millis(now))?;
        client.write(Some(bw_client::open(Carrier::Http(HttpClient::new(machine, http)?))));
        Ok(())
    })
}

/// What to do next; false, and nothing written, if that is nothing for now. Ask until false after each other function of
/// the handle.
///
/// What `*transmit` points to is good until the next call of this function on the handle.
#[unsafe(no_mangle)]
pub extern "C" fn bw_client_http_poll_transmit(
    client: Option<&mut bw_client>,
    now: u64,
    transmit: Option<&mut MaybeUninit<bw_http_transmit>>,
) -> bool {
    let (Some(client), Some(place)) = (client, transmit) else { return false };
    let polled = on_http(Some(&mut *client), |http| Ok(http.poll_transmit(Instant::from_millis(now))));
    match polled.ok().flatten().and_then(|transmit| client.transmit.keep(transmit)) {
        Some(told) => {
            place.write(told);
            true
        }
        None => false,
    }
}

/// Takes the head of a response; interim responses (1xx) are the host's. Values of headers are UTF-8; one that is not is
/// given with its bytes above 127 as they are in Latin-1.
///
/// What is handed in of an exchange that is over is passed over. The errors of this function and of those below are fatal
/// ends; their events are still to be polled.
#[unsafe(no_mangle)]
pub extern "C" fn bw_client_http_receive_head(
    client: Option<&mut bw_client>,
    now: u64,
    exchange: u64,
    status: u16,
    headers: *const bw_pair,
    header_count: usize,
) -> bw_status {
    run(client, |http| {
        let headers = pairs(headers, header_count)?;
        Ok(http.receive_head(Instant::from_millis(now), handle(exchange), status, &headers)?)
    })
}

/// Takes a piece of the body of a response, of any length, after content and transfer codings were undone.
#[unsafe(no_mangle)]
pub extern "C" fn bw_client_http_receive_body(
    client: Option<&mut bw_client>,
    now: u64,
    exchange: u64,
    data: bw_bytes,
) -> bw_status {
    run(client, |http| Ok(http.receive_body(Instant::from_millis(now), handle(exchange), data.bytes()?)?))
}

/// The response is complete.
#[unsafe(no_mangle)]
pub extern "C" fn bw_client_http_receive_end(
    client: Option<&mut bw_client>,
    now: u64,
    exchange: u64,
) -> bw_status {
    run(client, |http| Ok(http.receive_end(Instant::from_millis(now), handle(exchange))?))
}

/// The exchange has failed, as a number of `bw_exchange_failure` says.
#[unsafe(no_mangle)]
pub extern "C" fn bw_client_http_receive_failure(
    client: Option<&mut bw_client>,
    now: u64,
    exchange: u64,
    failure: i32,
) -> bw_status {
    run(client, |http| {
        let failure = match failure {
            1 => ExchangeFailure::NotSent,
            2 => ExchangeFailure::Broken,
            _ => return Err(Failure::argument("not a number of bw_exchange_failure")),
        };
        Ok(http.receive_failure(Instant::from_millis(now), handle(exchange), failure)?)
    })
}

/// The exchange brought a redirect that must not be followed, with its HTTP status.
#[unsafe(no_mangle)]
pub extern "C" fn bw_client_http_receive_redirect(
    client: Option<&mut bw_client>,
    now: u64,
    exchange: u64,
    status: u16,
) -> bw_status {
    run(client, |http| {
        let failure = ExchangeFailure::Redirected { status };
        Ok(http.receive_failure(Instant::from_millis(now), handle(exchange), failure)?)
    })
}

/// Whether the host should read on in an exchange.
#[unsafe(no_mangle)]
pub extern "C" fn bw_client_http_wants_input(client: Option<&mut bw_client>, exchange: u64) -> bool {
    on_http(client, |http| Ok(http.wants_input(handle(exchange)))).unwrap_or(false)
}

/// Answers AUTHORIZATION_REQUIRED: there are new credentials, and what was refused is sent again in a new exchange. What is
/// refused again and again fails.
#[unsafe(no_mangle)]
pub extern "C" fn bw_client_http_authorized(
    client: Option<&mut bw_client>,
    now: u64,
    exchange: u64,
) -> bw_status {
    run(client, |http| {
        http.authorized(Instant::from_millis(now), handle(exchange));
        Ok(())
    })
}

/// Answers AUTHORIZATION_REQUIRED: there are no credentials, and what waits for the exchange fails.
#[unsafe(no_mangle)]
pub extern "C" fn bw_client_http_unauthorized(
    client: Option<&mut bw_client>,
    now: u64,
    exchange: u64,
) -> bw_status {
    run(client, |http| Ok(http.unauthorized(Instant::from_millis(now), handle(exchange))?))
}
