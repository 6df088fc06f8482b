//! A client machine behind HTTP: each message leaves in an exchange, and its answer arrives there.
//!
//! | module | holds |
//! |---|---|
//! | `posting` | messages as requests, their headers, what has to wait, the end |
//! | `reading` | heads and bodies of responses, what failed |
//! | `stream` | the stream of a session that belongs to no request, and what waits for it |
//! | `resumption` | when a stream that ended is asked for again |
//! | `http_sse` | the older HTTP+SSE, where Streamable HTTP is refused |
//! | `redirect` | redirects within the origin |
//! | `exchange` | what is under way |

mod exchange;
mod http_sse;
mod posting;
mod reading;
mod redirect;
mod resumption;
mod stream;
#[cfg(test)]
mod tests;

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::error::{ApiMisuse, Error};
use crate::machine::{ExchangeHandle, Machine};
use crate::revision::Revision;
use crate::time::Instant;
use crate::transport::http::headers::SESSION_ID;
use crate::transport::http::url::Url;

use exchange::Table;
use http_sse::Channel;
use posting::Held;
use redirect::Search;
use stream::Opening;

/// A machine behind HTTP.
///
/// The host carries out what [`poll_transmit`](Self::poll_transmit) gives, all at once and in any order of completion, and hands
/// in what comes back: [`receive_head`](Self::receive_head), [`receive_body`](Self::receive_body) and then
/// [`receive_end`](Self::receive_end), or [`receive_failure`](Self::receive_failure) at any point. What it hands in of an
/// exchange that is over is passed over.
#[derive(Debug)]
pub struct HttpClient<M> {
    machine: M,
    config: HttpClientConfig,
    /// The latest time seen.
    now: Instant,
    table: Table,
    transmits: VecDeque<HttpTransmit>,
    events: VecDeque<HttpClientEvent>,
    /// Messages that have to wait, in order.
    held: Held,
    /// How far the opening of a legacy session is.
    opening: Opening,
    session: Session,
    /// The legacy revision that the machine named last.
    revision: Option<Revision>,
    channel: Channel,
    search: Search,
    end: End,
}

/// A legacy session, or the time before there is one.
#[derive(Default)]
struct Session {
    /// Counts the sessions of this client, so that what belongs to an older one is known.
    number: u64,
    /// What the server calls it. It is a secret of the two.
    id: Option<Box<str>>,
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Session({})", self.number)
    }
}

/// How far the end is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// Not in sight.
    Open,
    /// The machine is over; the last exchanges end.
    Closing,
    /// Everything is over, and that was told.
    Finished,
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
    /// Bytes of one event or one JSON body; a longer one is reported as damaged, and fails the request that it answers.
    /// Default 16 MiB.
    pub message_bytes: usize,
    /// Attempts in a row to resume the stream of a request that bring nothing. Default 5. The stream of a session is asked for
    /// as long as the session lasts, once a minute in the end.
    pub resumptions: u32,
    /// Milliseconds to wait before a stream is resumed, where the server names no time; doubled with each attempt that brings
    /// nothing, up to a minute. Default 1 000.
    pub retry: u64,
    /// Whether the host takes [`HttpClientEvent::AuthorizationRequired`]; without it a 401 or 403 fails the request. Default
    /// false.
    pub authorizes: bool,
    /// Milliseconds for which an exchange waits to be authorized; then it fails as if it had not been. A user may have to log
    /// in meanwhile. Default 900 000.
    pub authorization_timeout: u64,
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
            authorization_timeout: 900_000,
        }
    }
}

/// One thing to do.
#[derive(Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HttpTransmit {
    /// Send this request. The host follows no redirect: its head is handed in like any other. Those that keep the
    /// method and lead within the origin are followed here, until a response has come that is none.
    Request(HttpRequest),
    /// Give up this exchange: close its connection or reset its stream. Nothing is reported of it any more.
    Abort {
        /// The exchange.
        exchange: ExchangeHandle,
    },
    /// Everything is over: nothing more will be asked for, and nothing is under way.
    Close,
}

/// A request to send. Its `Debug` form does not show the session id, which is a secret (basic/transports, 2025-11-25).
#[derive(Clone, PartialEq, Eq)]
pub struct HttpRequest {
    /// Names it in what the host reports. Each request has a handle of its own.
    pub exchange: ExchangeHandle,
    /// The method.
    pub method: &'static str,
    /// Where to.
    pub url: Box<str>,
    /// Names in lower case, and values, without those of the host's own (`Host`, `Content-Length`, `Authorization`, ...).
    pub headers: Vec<(Cow<'static, str>, Cow<'static, str>)>,
    /// The body; empty for GET and DELETE.
    pub body: String,
    /// The response may stay silent for as long as it likes: no read timeout applies. The machine has its own.
    pub is_stream: bool,
}

impl fmt::Debug for HttpRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |(name, value): &'_ (_, _)| (*name, if *name == SESSION_ID { "..." } else { *value });
        let headers = self.headers.iter().map(|(name, value)| shown(&(&**name, &**value)));
        f.debug_struct("HttpRequest")
            .field("exchange", &self.exchange)
            .field("method", &self.method)
            .field("url", &self.url)
            .field("headers", &headers.collect::<Vec<_>>())
            .field("body", &self.body)
            .field("is_stream", &self.is_stream)
            .finish()
    }
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
    /// [`authorized`](HttpClient::authorized) or [`unauthorized`](HttpClient::unauthorized), and no time passes for what it
    /// carries, but for [`authorization_timeout`](HttpClientConfig::authorization_timeout).
    AuthorizationRequired {
        /// The exchange that waits.
        exchange: ExchangeHandle,
        /// 401 or 403.
        status: u16,
        /// The values of `WWW-Authenticate`, in order.
        challenges: Vec<Box<str>>,
        /// The value of `DPoP-Nonce`.
        dpop_nonce: Option<Box<str>>,
        /// What was refused: the method and what it is called on, for counting.
        operation: Box<str>,
    },
}

impl<M: Machine> HttpClient<M> {
    /// Puts a machine behind HTTP. The machine must be configured for it
    /// ([`ClientConfig::http`](crate::ClientConfig::http)): one that is not says nothing for the headers, without which
    /// servers refuse its messages.
    ///
    /// # Errors
    /// [`InvalidDefinition`](crate::ApiMisuse::InvalidDefinition) naming `url` if it is not an http or https URL.
    pub fn new(machine: M, config: HttpClientConfig) -> Result<HttpClient<M>, Error> {
        if Url::parse(&config.url).is_none() {
            return Err(ApiMisuse::InvalidDefinition("url").into());
        }
        Ok(HttpClient {
            machine,
            config,
            now: Instant::ZERO,
            table: Table::default(),
            transmits: VecDeque::new(),
            events: VecDeque::new(),
            held: Held::default(),
            opening: Opening::Idle,
            session: Session::default(),
            revision: None,
            channel: Channel::None,
            search: Search::default(),
            end: End::Open,
        })
    }

    /// What to do next; `None` if that is nothing for now. Ask again after every other verb and after commands to the
    /// machine.
    pub fn poll_transmit(&mut self, now: Instant) -> Option<HttpTransmit> {
        self.advance(now);
        self.next_transmit()
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
        self.advance(now);
        self.on_head(exchange, status, headers)
    }

    /// Takes a piece of the body, of any length, after content and transfer codings were undone.
    ///
    /// # Errors
    /// As [`Machine::handle_input`].
    pub fn receive_body(&mut self, now: Instant, exchange: ExchangeHandle, data: &[u8]) -> Result<(), Error> {
        self.advance(now);
        self.on_body(exchange, data)
    }

    /// The response is complete.
    ///
    /// # Errors
    /// As [`Machine::handle_input`].
    pub fn receive_end(&mut self, now: Instant, exchange: ExchangeHandle) -> Result<(), Error> {
        self.advance(now);
        self.on_end(exchange)
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
        self.advance(now);
        self.on_failure(exchange, failure)
    }

    /// Whether the host should read on in this exchange.
    pub fn wants_input(&self, exchange: ExchangeHandle) -> bool {
        // What is passed over needs no room.
        self.table.get(exchange).is_none()
            || (self.machine.wants_input() && self.held.has_room(self.machine.limits()))
    }

    /// What the host should know beside the events of the machine.
    pub fn poll_http_event(&mut self) -> Option<HttpClientEvent> {
        self.events.pop_front()
    }

    /// The host has new credentials: what was refused is sent again, in a new exchange. What is refused for the sixth time
    /// fails.
    pub fn authorized(&mut self, now: Instant, exchange: ExchangeHandle) {
        self.advance(now);
        self.send_again(exchange);
    }

    /// The host has none: what waits for the exchange fails.
    ///
    /// # Errors
    /// As [`Machine::handle_input`].
    pub fn unauthorized(&mut self, now: Instant, exchange: ExchangeHandle) -> Result<(), Error> {
        self.advance(now);
        self.refuse_again(exchange)
    }

    /// Lets time pass: reconnections that are due, what was waited for too long, and the machine's own.
    ///
    /// # Errors
    /// As [`Machine::handle_input`].
    pub fn handle_timeout(&mut self, now: Instant) -> Result<(), Error> {
        self.advance(now);
        self.machine.handle_timeout(self.now);
        self.expire_opening();
        let mut outcome = Ok(());
        while let Some(exchange) = self.table.expire(self.now) {
            outcome = outcome.and(self.on_deadline(exchange));
        }
        outcome
    }

    /// When to call [`handle_timeout`](Self::handle_timeout) at the latest, if ever.
    pub fn poll_timeout(&self) -> Option<Instant> {
        let own = [self.table.next_deadline(), self.opening.deadline()];
        own.into_iter().chain([self.machine.poll_timeout()]).flatten().min()
    }

    /// True when the machine is over, nothing is left to be done and [`HttpTransmit::Close`] was taken: not before the
    /// DELETE of a session has ended, failed or taken some seconds.
    pub fn is_finished(&self) -> bool {
        self.end == End::Finished
    }

    /// The machine, for its events and state.
    pub fn machine(&self) -> &M {
        &self.machine
    }

    /// The machine, for commands and the other verbs.
    pub fn machine_mut(&mut self) -> &mut M {
        &mut self.machine
    }

    fn advance(&mut self, now: Instant) {
        self.now = self.now.max(now);
    }
}
