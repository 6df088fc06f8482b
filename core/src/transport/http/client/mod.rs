//! A client machine behind HTTP: each message leaves in an exchange, and its answer arrives there.
#![allow(
    unused_variables,
    clippy::todo,
    clippy::unused_self,
    clippy::missing_panics_doc,
    clippy::needless_pass_by_value,
    reason = "bodies follow"
)]

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use crate::error::Error;
use crate::machine::{ExchangeHandle, Machine};
use crate::time::Instant;

/// A machine behind HTTP.
///
/// The host carries out what [`poll_transmit`](Self::poll_transmit) gives, all at once and in any order of completion, and hands
/// in what comes back.
#[derive(Debug)]
pub struct HttpClient<M> {
    machine: M,
}

/// How an [`HttpClient`] is set up.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct HttpClientConfig {
    /// The URL of the server, as the user wrote it. It is never normalised.
    pub url: Box<str>,
    /// Whether to try HTTP+SSE (2024-11-05) where Streamable HTTP is refused. Default true.
    pub falls_back_to_sse: bool,
    /// Whether to open the stream of a legacy session that belongs to no request. Default true.
    pub opens_stream: bool,
    /// Bytes of one event or one JSON body. Default 16 MiB.
    pub message_bytes: usize,
    /// Attempts to resume one stream. Default 5.
    pub resumptions: u32,
    /// Milliseconds to wait before a stream is resumed, where the server names no time; doubled with each attempt that brings
    /// nothing. Default 1 000.
    pub retry: u64,
    /// Whether the host takes [`HttpClientEvent::AuthorizationRequired`]; without it a 401 or 403 fails the request. Default
    /// false.
    pub authorizes: bool,
}

impl HttpClientConfig {
    /// For the server at `url`, with the defaults.
    pub fn new(url: &str) -> HttpClientConfig {
        HttpClientConfig {
            url: url.into(),
            falls_back_to_sse: true,
            opens_stream: true,
            message_bytes: 16 << 20,
            resumptions: 5,
            retry: 1_000,
            authorizes: false,
        }
    }
}

/// One thing to do.
#[derive(Debug)]
#[non_exhaustive]
pub enum HttpTransmit {
    /// Send this request. Redirects to another origin must not be followed.
    Request(HttpRequest),
    /// Give up this exchange: close its connection or reset its stream. Nothing is reported of it any more.
    Abort {
        /// The exchange.
        exchange: ExchangeHandle,
    },
    /// Nothing more will be asked for.
    Close,
}

/// A request to send.
#[derive(Debug, PartialEq, Eq)]
pub struct HttpRequest {
    /// Names it in what the host reports.
    pub exchange: ExchangeHandle,
    /// The method.
    pub method: &'static str,
    /// Where to.
    pub url: Box<str>,
    /// Names and values, without those of the host's own (`Host`, `Content-Length`, `Authorization`, ...).
    pub headers: Vec<(Cow<'static, str>, Cow<'static, str>)>,
    /// The body; empty for GET and DELETE.
    pub body: String,
    /// The response is a stream that may stay silent: no read timeout applies.
    pub is_stream: bool,
}

/// Why an exchange brought no response, or not all of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExchangeFailure {
    /// No connection could be made, so that the server has not seen the request.
    NotSent,
    /// The connection broke, or its data made no sense as HTTP.
    Broken,
    /// A redirect that must not be followed.
    Redirected {
        /// Its HTTP status.
        status: u16,
    },
}

/// What the transport tells the host, beside the events of its machine.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HttpClientEvent {
    /// The server wants authorization (401) or more of it (403). The exchange waits for
    /// [`authorized`](HttpClient::authorized) or [`unauthorized`](HttpClient::unauthorized).
    AuthorizationRequired {
        /// The exchange that waits.
        exchange: ExchangeHandle,
        /// 401 or 403.
        status: u16,
        /// The values of `WWW-Authenticate`, in order.
        challenges: Vec<Box<str>>,
    },
}

impl<M: Machine> HttpClient<M> {
    /// Puts a machine behind HTTP. The machine must be configured for it
    /// ([`ClientConfig::http`](crate::ClientConfig::http)).
    ///
    /// # Errors
    /// [`InvalidDefinition`](crate::ApiMisuse::InvalidDefinition) naming `url` if it is not an http or https URL.
    pub fn new(machine: M, config: HttpClientConfig) -> Result<HttpClient<M>, Error> {
        todo!()
    }

    /// What to do next.
    pub fn poll_transmit(&mut self, now: Instant) -> Option<HttpTransmit> {
        todo!()
    }

    /// Takes the head of a response. Interim responses (1xx) are the host's.
    ///
    /// # Errors
    /// As [`Machine::handle_input`].
    pub fn receive_head(
        &mut self,
        now: Instant,
        exchange: ExchangeHandle,
        status: u16,
        headers: &[(&str, &str)],
    ) -> Result<(), Error> {
        todo!()
    }

    /// Takes a piece of the body, after decoding of content and transfer codings.
    ///
    /// # Errors
    /// As [`Machine::handle_input`].
    pub fn receive_body(&mut self, now: Instant, exchange: ExchangeHandle, data: &[u8]) -> Result<(), Error> {
        todo!()
    }

    /// The response is complete.
    ///
    /// # Errors
    /// As [`Machine::handle_input`].
    pub fn receive_end(&mut self, now: Instant, exchange: ExchangeHandle) -> Result<(), Error> {
        todo!()
    }

    /// The exchange has failed.
    ///
    /// # Errors
    /// As [`Machine::handle_input`].
    pub fn receive_failure(
        &mut self,
        now: Instant,
        exchange: ExchangeHandle,
        failure: ExchangeFailure,
    ) -> Result<(), Error> {
        todo!()
    }

    /// Whether the host should read on in this exchange.
    pub fn wants_input(&self, exchange: ExchangeHandle) -> bool {
        todo!()
    }

    /// What the host should know beside the events of the machine.
    pub fn poll_http_event(&mut self) -> Option<HttpClientEvent> {
        todo!()
    }

    /// The host has new credentials: the exchange is sent again, once.
    pub fn authorized(&mut self, now: Instant, exchange: ExchangeHandle) {
        todo!()
    }

    /// The host has none: what waits for the exchange fails.
    ///
    /// # Errors
    /// As [`Machine::handle_input`].
    pub fn unauthorized(&mut self, now: Instant, exchange: ExchangeHandle) -> Result<(), Error> {
        todo!()
    }

    /// Lets time pass: reconnections that are due, and the machine's own.
    ///
    /// # Errors
    /// As [`Machine::handle_input`].
    pub fn handle_timeout(&mut self, now: Instant) -> Result<(), Error> {
        todo!()
    }

    /// When to call [`handle_timeout`](Self::handle_timeout) at the latest, if ever.
    pub fn poll_timeout(&self) -> Option<Instant> {
        todo!()
    }

    /// True when the machine is over and nothing is left to be done: not before the DELETE of a session has ended or failed.
    pub fn is_finished(&self) -> bool {
        todo!()
    }

    /// The machine, for its events and state.
    pub fn machine(&self) -> &M {
        &self.machine
    }

    /// The machine, for commands and the other verbs.
    pub fn machine_mut(&mut self) -> &mut M {
        &mut self.machine
    }
}
