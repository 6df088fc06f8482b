//! A server machine behind HTTP: each message arrives in an exchange, and each answer leaves in it.
//!
//! | module | holds |
//! |---|---|
//! | `values` | what goes between the transport and its host |
//! | `checks` | what is checked of a head, in order (pure) |
//! | `exchange` | one request with its response |
//! | `state` | all exchanges, sessions and streams; silence, idleness, the end |
//! | `opening` | what becomes of a request |
//! | `outgoing` | where messages of the machine go |
//! | `sessions` | ids of sessions, whom they belong to, which are idle |
//! | `streams`, `resumption`, `event_store` | streams of legacy sessions that outlive their connections |
//! | `http_sse` | the channels of 2024-11-05 |

mod checks;
mod event_store;
mod exchange;
mod http_sse;
mod opening;
mod outgoing;
mod resumption;
mod sessions;
mod state;
mod streams;
#[cfg(test)]
mod tests;
mod values;

pub use values::{
    Denial, Endpoint, EventKeeping, HttpServerConfig, HttpServerEvent, RequestHead, ResponseHead,
    ResponsePart,
};

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::machine::{Exchange, ExchangeHandle, Facts, Input, Machine, NamedSession, SessionHandle};
use crate::memory;
use crate::time::Instant;
use crate::transport::http::status::{self, Refusal};

use exchange::{Envelope, Phase, is_modern};
use state::{Report, State};

const BYTE_ORDER_MARK: char = '\u{feff}';

/// A machine behind HTTP.
///
/// The host hands in requests as they come ([`receive_request`](Self::receive_request), [`receive_body`](Self::receive_body),
/// [`receive_end`](Self::receive_end)), says when a client has gone ([`receive_abort`](Self::receive_abort)), and after any of these, any
/// command and any timeout asks [`poll_ready`](Self::poll_ready) which exchanges have something to send and
/// [`poll_response`](Self::poll_response) what. It asks an exchange again only when its connection has taken the last part:
/// what waits meanwhile waits here, bounded, and a slow reader delays nobody else.
///
/// Each exchange ends once: with a part that is the last, or with [`receive_abort`](Self::receive_abort). Handles of exchanges that are
/// over are harmless everywhere. No verb fails: what the transport or the machine does not take is refused in the
/// response, and a machine that has ended is answered for with 503.
///
/// A stream to which more than [`Limits::queued_bytes`](crate::Limits::queued_bytes) wait is told nothing that may be left out, and one to
/// which twice as much wait is broken off; a single message may be larger. At [`Limits::sessions`](crate::Limits::sessions) the session that was idle
/// longest makes room for a new one, and no more channels of HTTP+SSE are opened.
///
/// ```
/// use barewire::server::Server;
/// use barewire::transport::http::server::{Endpoint, HttpServer, HttpServerConfig, RequestHead};
/// use barewire::{Implementation, Instant, Seed, ServerConfig};
///
/// let server = Server::new(ServerConfig::new(Implementation::new("clock", "1"), [1; 32]))?;
/// let mut http = HttpServer::new(server, HttpServerConfig::new(Seed::new([2; 32])));
///
/// // A request as the host has read it.
/// let headers = [("host", "localhost"), ("content-type", "application/json")];
/// let head =
///     RequestHead { method: "POST", endpoint: Endpoint::Streamable, headers: &headers, principal: None };
/// let body = br#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",
///     "capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;
/// let exchange = http.receive_whole(Instant::ZERO, head, body);
///
/// assert_eq!(http.poll_ready(), Some(exchange));
/// let part = http.poll_response(exchange).expect("the whole response");
/// assert_eq!(part.head.map(|head| head.status), Some(200));
/// assert!(part.is_last);
/// # Ok::<(), barewire::Error>(())
/// ```
#[derive(Debug)]
pub struct HttpServer<M> {
    machine: M,
    state: State,
}

impl<M: Machine> HttpServer<M> {
    /// Puts a machine behind HTTP.
    pub fn new(machine: M, config: HttpServerConfig) -> HttpServer<M> {
        let state = State::new(config, machine.limits());
        HttpServer { machine, state }
    }

    /// Takes the head of a request. Whatever refuses it is ready to be sent at once; its body is then ignored.
    pub fn receive_request(&mut self, now: Instant, head: RequestHead<'_>) -> ExchangeHandle {
        self.advance(now);
        let (handle, envelope) = self.state.open(&head, None);
        if let Some(envelope) = envelope
            && let Some(exchange) = self.state.exchanges.get_mut(&handle)
        {
            exchange.phase = Phase::Receiving(Box::new(envelope.keep()));
        }
        self.settle();
        handle
    }

    /// Takes a piece of the body.
    pub fn receive_body(&mut self, now: Instant, exchange: ExchangeHandle, data: &[u8]) {
        self.state.advance(now);
        let limit = self.state.config.body_bytes;
        let Some(Phase::Receiving(upload)) =
            self.state.exchanges.get_mut(&exchange).map(|exchange| &mut exchange.phase)
        else {
            return;
        };
        if data.len() <= limit.saturating_sub(upload.body.len()) {
            if upload.body.capacity() == 0 {
                upload.body = core::mem::take(&mut self.state.spare);
            }
            memory::add(&mut upload.body, data, self.state.most_kept);
        } else {
            self.state.refuse(exchange, Refusal::BodyTooLarge);
        }
    }

    /// The body is complete. What it holds goes to the machine.
    pub fn receive_end(&mut self, now: Instant, exchange: ExchangeHandle) {
        self.advance(now);
        if let Some(found) = self.state.exchanges.get_mut(&exchange)
            && matches!(found.phase, Phase::Receiving(_))
            && let Phase::Receiving(mut upload) = core::mem::replace(&mut found.phase, Phase::Running)
        {
            let body = core::mem::take(&mut upload.body);
            let headers = upload.headers();
            self.take_message(exchange, &upload.envelope(&headers), &body);
            self.state.spare_body(body);
        }
        self.settle();
    }

    /// Takes a request whose body is at hand as a whole, which spares a copy of it.
    pub fn receive_whole(&mut self, now: Instant, head: RequestHead<'_>, body: &[u8]) -> ExchangeHandle {
        self.advance(now);
        let (handle, envelope) = self.state.open(&head, Some(body.len()));
        if let Some(envelope) = envelope {
            self.take_message(handle, &envelope, body);
        }
        self.settle();
        handle
    }

    /// Takes the head of a request that the host does not let through. Its body is ignored. What the transport refuses itself it
    /// refuses as ever, and `OPTIONS` is answered, because browsers ask without credentials.
    pub fn receive_denied(
        &mut self,
        now: Instant,
        head: RequestHead<'_>,
        denial: Denial<'_>,
    ) -> ExchangeHandle {
        self.advance(now);
        let handle = self.state.open_denied(&head, denial);
        self.settle();
        handle
    }

    /// Does not let through what an exchange has brought after all, such as a call that its sender may not make. False if its
    /// response has begun, and nothing is changed then. The machine still has to be told what becomes of the call: that goes
    /// nowhere.
    pub fn deny(&mut self, now: Instant, exchange: ExchangeHandle, denial: Denial<'_>) -> bool {
        self.advance(now);
        self.state.is_unanswered(exchange) && {
            self.state.deny(exchange, denial);
            true
        }
    }

    /// The client has gone, or nothing can be sent to it any more. The handle is of no use afterwards.
    ///
    /// What it was told on a stream with event ids is kept, and the stream goes on: the client can come back for it.
    pub fn receive_abort(&mut self, now: Instant, exchange: ExchangeHandle) {
        self.advance(now);
        self.state.gone(exchange);
        self.settle();
    }

    /// An exchange that has something to send and was not named since it last had nothing.
    pub fn poll_ready(&mut self) -> Option<ExchangeHandle> {
        self.settle();
        self.state.next_ready()
    }

    /// What to send next in an exchange; `None` if that is nothing for now.
    pub fn poll_response(&mut self, exchange: ExchangeHandle) -> Option<ResponsePart> {
        self.settle();
        self.state.take_part(exchange)
    }

    /// Bytes that wait to be taken by an exchange. The host may let the application wait while they are many.
    pub fn backlog(&self, exchange: ExchangeHandle) -> usize {
        self.state.exchanges.get(&exchange).map_or(0, exchange::Exchange::backlog)
    }

    /// What the host should know beside the events of the machine. Where sessions or events live outside, it has to be
    /// asked after every verb: nothing bounds what waits here.
    pub fn poll_http_event(&mut self) -> Option<HttpServerEvent> {
        self.settle();
        self.state.events.pop_front()
    }

    /// Answers [`SessionRequested`](HttpServerEvent::SessionRequested): the session as it was imported, or none if there
    /// is none for this principal. It has to be answered even if the exchange is over by then, because others may wait.
    pub fn resolve_session(
        &mut self,
        now: Instant,
        exchange: ExchangeHandle,
        session: Option<SessionHandle>,
    ) {
        self.advance(now);
        for (handle, upload) in self.state.resolve(exchange, session) {
            let headers = upload.headers();
            self.deliver(handle, &upload.envelope(&headers), &upload.body);
        }
        self.settle();
    }

    /// Answers [`ReplayRequested`](HttpServerEvent::ReplayRequested): ids and data of what followed, or `None` if the session has no such
    /// stream.
    pub fn replay(&mut self, now: Instant, exchange: ExchangeHandle, events: Option<&[(&str, &str)]>) {
        self.advance(now);
        self.state.replay(exchange, events);
    }

    /// Ends the response of a legacy request for now: the client reconnects after `retry` milliseconds, or those of the
    /// configuration, and finds what followed (basic/transports, 2025-11-25: the server may close the connection).
    /// `exchange` is the one that brought the request. True if that was possible: the client takes a stream, its
    /// revision knows of this, and events are kept.
    pub fn close_stream(&mut self, now: Instant, exchange: ExchangeHandle, retry: Option<u64>) -> bool {
        self.advance(now);
        self.state.close_stream(exchange, retry)
    }

    /// Lets time pass: keep-alive, sessions and events that are too old, and the machine's own.
    pub fn handle_timeout(&mut self, now: Instant) {
        self.advance(now);
        self.machine.handle_timeout(now);
        self.settle();
        self.state.handle_timeout();
        self.settle();
    }

    /// When to call [`handle_timeout`](Self::handle_timeout) at the latest, if ever.
    pub fn poll_timeout(&self) -> Option<Instant> {
        [self.machine.poll_timeout(), self.state.next_timeout()].into_iter().flatten().min()
    }

    /// Takes no more requests: they are refused with 503, streams that belong to no request end, and what is in flight
    /// goes on. Streams of modern subscriptions and HTTP+SSE end when the machine closes.
    pub fn shut_down(&mut self, now: Instant) {
        self.advance(now);
        self.state.shut_down();
    }

    /// True when no exchange is open.
    pub fn is_idle(&self) -> bool {
        self.state.exchanges.is_empty()
    }

    /// The machine, for its events and state.
    pub fn machine(&self) -> &M {
        &self.machine
    }

    /// The machine, for commands and the other verbs.
    pub fn machine_mut(&mut self) -> &mut M {
        &mut self.machine
    }

    /// Takes the time, and what the machine has said before anything else changes.
    fn advance(&mut self, now: Instant) {
        self.state.advance(now);
        self.settle();
    }

    /// Takes a message that is complete.
    fn take_message(&mut self, handle: ExchangeHandle, envelope: &Envelope<'_>, body: &[u8]) {
        if !self.state.park_message(handle, envelope, body) {
            self.deliver(handle, envelope, body);
        }
    }

    /// Hands a message to the machine.
    fn deliver(&mut self, handle: ExchangeHandle, envelope: &Envelope<'_>, body: &[u8]) {
        let Ok(text) = core::str::from_utf8(body) else {
            return self.state.refuse(handle, Refusal::NotUtf8);
        };
        let (speaker, session) = match envelope.channel {
            None => (handle, envelope.session),
            Some(channel) => {
                let Some(exchange) = self.state.exchanges.get(&channel).filter(|found| found.is_streaming())
                else {
                    return self.state.refuse(handle, Refusal::UnknownSession);
                };
                (channel, exchange.session.map_or(NamedSession::None, NamedSession::Known))
            }
        };
        if session == NamedSession::None && !is_modern(envelope.headers) {
            // It may begin a session.
            self.state.make_room_for_session();
            self.settle();
        }
        let Some(exchange) = self.state.exchanges.get_mut(&speaker) else { return };
        exchange.is_told = true;
        let (without_mark, mut params) = (text.strip_prefix(BYTE_ORDER_MARK), Vec::new());
        let facts = Facts {
            byte_order_mark: without_mark.is_some(),
            principal: envelope.principal,
            exchange: Some(Exchange {
                handle: speaker,
                session,
                takes_stream: exchange.takes.event_stream,
                mirror: envelope.channel.is_none().then(|| envelope.mirror(&mut params)),
            }),
            within: None,
        };
        let input = Input::Message { text: without_mark.unwrap_or(text), facts };
        let taken = self.machine.handle_input(self.state.now, input);
        self.settle();
        if envelope.channel.is_some() {
            self.state.respond_empty(handle, status::ACCEPTED);
        } else if taken.is_err() && self.state.is_unanswered(handle) {
            self.state.refuse(handle, Refusal::ShuttingDown);
        }
        self.state.watch(handle);
    }

    /// Tells the machine what it has to know, and takes what it says, until neither has anything for the other.
    fn settle(&mut self) {
        loop {
            while let Some(report) = self.state.reports.pop_front() {
                let input = match report {
                    Report::Gone(exchange) => Input::Gone { exchange },
                    Report::SessionEnded(session) => Input::SessionEnded { session },
                };
                // A machine that has ended needs to be told nothing.
                let _ = self.machine.handle_input(self.state.now, input);
            }
            match self.machine.poll_transmit() {
                Some(transmit) => self.state.carry(transmit),
                None if self.state.reports.is_empty() => return,
                None => {}
            }
        }
    }
}
