//! A server machine behind HTTP: each message arrives in an exchange, and each answer leaves in it.
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
use crate::machine::{ExchangeHandle, Machine, SessionHandle};
use crate::seed::Seed;
use crate::time::Instant;

/// A machine behind HTTP.
///
/// The host hands in requests as they come ([`receive_request`](Self::receive_request), [`receive_body`](Self::receive_body),
/// [`receive_end`](Self::receive_end)), says when a client has gone ([`receive_abort`](Self::receive_abort)), and after any of these, any
/// command and any timeout asks [`poll_ready`](Self::poll_ready) which exchanges have something to send and
/// [`poll_response`](Self::poll_response) what. It asks an exchange again only when its connection has taken the last part:
/// what waits meanwhile waits here, bounded, and a slow reader delays nobody else.
#[derive(Debug)]
pub struct HttpServer<M> {
    machine: M,
}

/// How an [`HttpServer`] is set up.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct HttpServerConfig {
    /// Bytes of a request body; a longer one is refused with 413 before it is read. Default 4 MiB.
    pub body_bytes: usize,
    /// Milliseconds of silence on an open stream after which a comment is sent. Default 15 000; 0 sends none.
    pub keep_alive: u64,
    /// Milliseconds without an exchange after which a legacy session is ended. Default 1 800 000 (half an hour).
    pub session_idle: u64,
    /// Milliseconds that a client is asked to wait before it reconnects to a stream (`retry`). Default 1 000.
    pub retry: u64,
    /// Whether events of legacy streams are kept for clients that reconnect, and where.
    pub events: EventKeeping,
    /// Whether sessions may live outside: an unknown id is then asked for with
    /// [`HttpServerEvent::SessionRequested`] before it is refused. Default false.
    pub external_sessions: bool,
    /// 32 random bytes from the operating system, never used twice. Ids of sessions and streams come from it.
    pub seed: Seed,
}

/// Where events of legacy streams are kept for clients that reconnect with `Last-Event-ID`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EventKeeping {
    /// Nowhere: events have no ids, a lost stream is lost.
    None,
    /// Here, within bounds; the oldest go first.
    Memory {
        /// Events of one stream. Default 256.
        events: usize,
        /// Bytes of all events of all streams. Default 16 MiB.
        bytes: usize,
        /// Milliseconds. Default 300 000.
        age: u64,
    },
    /// With the host: [`HttpServerEvent::EventAppended`], [`ReplayRequested`](HttpServerEvent::ReplayRequested) and
    /// [`StreamForgotten`](HttpServerEvent::StreamForgotten) say what to keep, give back and drop.
    External,
}

/// The head of a request.
#[derive(Clone, Copy, Debug)]
pub struct RequestHead<'a> {
    /// The method, as it came.
    pub method: &'a str,
    /// Which endpoint it is for; the host routes by path.
    pub endpoint: Endpoint<'a>,
    /// Names and values in the order of arrival. A value that is not UTF-8 is given with its bytes above 127 as they are in
    /// Latin-1.
    pub headers: &'a [(&'a str, &'a str)],
    /// Who sends it, as far as the host knows (an opaque key; the host authenticates). Sessions belong to it.
    pub principal: Option<&'a str>,
}

/// An endpoint of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Endpoint<'a> {
    /// The one of Streamable HTTP.
    Streamable,
    /// The stream of HTTP+SSE (2024-11-05).
    EventStream {
        /// The path of the endpoint that takes messages; the client gets it with the name of its channel as query.
        messages: &'a str,
    },
    /// Where HTTP+SSE takes messages.
    Messages {
        /// The query string, without the question mark.
        query: &'a str,
    },
}

/// What to send next in one exchange. Parts are sent in order: `head`, then `data`, then the end.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ResponsePart {
    /// The head, in the first part.
    pub head: Option<ResponseHead>,
    /// Bytes of the body; may be empty.
    pub data: Vec<u8>,
    /// Nothing follows: the exchange is over and its handle is of no use any more.
    pub is_last: bool,
    /// Close the connection without an orderly end of the body: the client must not take what it got for the whole.
    pub is_aborted: bool,
}

/// The head of a response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResponseHead {
    /// The status.
    pub status: u16,
    /// Names in lower case, and values. `content-length` is among them unless the body is a stream.
    pub headers: Vec<(&'static str, Cow<'static, str>)>,
}

/// What the transport tells the host, beside the events of its machine.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HttpServerEvent {
    /// An id that is not known here: load the session, import it into the machine and answer with
    /// [`resolve_session`](HttpServer::resolve_session). The exchange waits. Only with `external_sessions`.
    SessionRequested {
        /// The exchange that waits.
        exchange: ExchangeHandle,
        /// The id from the request.
        id: Box<str>,
    },
    /// A session has got its id: what a store for other processes is keyed by.
    SessionNamed {
        /// The session.
        session: SessionHandle,
        /// Its id. It is a secret between client and server.
        id: Box<str>,
    },
    /// Keep this event (only with [`EventKeeping::External`]).
    EventAppended {
        /// The stream.
        stream: Box<str>,
        /// The id of the event, unique over all streams.
        id: Box<str>,
        /// The message; empty for the first event of a stream, which only gives an id.
        data: String,
    },
    /// Give the events after this one with [`replay`](HttpServer::replay). The exchange waits.
    ReplayRequested {
        /// The exchange that waits.
        exchange: ExchangeHandle,
        /// The stream.
        stream: Box<str>,
        /// The id of the last event that the client got.
        after: Box<str>,
    },
    /// Nobody will ask for this stream any more.
    StreamForgotten {
        /// The stream.
        stream: Box<str>,
    },
}

impl<M: Machine> HttpServer<M> {
    /// Puts a machine behind HTTP.
    pub fn new(machine: M, config: HttpServerConfig) -> HttpServer<M> {
        todo!()
    }

    /// Takes the head of a request. Whatever refuses it is ready to be sent at once; its body is then ignored.
    pub fn receive_request(&mut self, now: Instant, head: RequestHead<'_>) -> ExchangeHandle {
        todo!()
    }

    /// Takes a piece of the body.
    pub fn receive_body(&mut self, now: Instant, exchange: ExchangeHandle, data: &[u8]) {
        todo!()
    }

    /// The body is complete. What it holds goes to the machine.
    ///
    /// # Errors
    /// As [`Machine::handle_input`].
    pub fn receive_end(&mut self, now: Instant, exchange: ExchangeHandle) -> Result<(), Error> {
        todo!()
    }

    /// Takes a request whose body is at hand as a whole, which spares a copy of it.
    ///
    /// # Errors
    /// As [`Machine::handle_input`].
    pub fn receive_whole(
        &mut self,
        now: Instant,
        head: RequestHead<'_>,
        body: &[u8],
    ) -> Result<ExchangeHandle, Error> {
        todo!()
    }

    /// The client has gone, or nothing can be sent to it any more. The handle is of no use afterwards.
    ///
    /// # Errors
    /// As [`Machine::handle_input`].
    pub fn receive_abort(&mut self, now: Instant, exchange: ExchangeHandle) -> Result<(), Error> {
        todo!()
    }

    /// An exchange that has something to send and was not named since it last had nothing.
    pub fn poll_ready(&mut self) -> Option<ExchangeHandle> {
        todo!()
    }

    /// What to send next in an exchange; `None` if that is nothing for now.
    pub fn poll_response(&mut self, exchange: ExchangeHandle) -> Option<ResponsePart> {
        todo!()
    }

    /// Bytes that wait to be taken by an exchange. The host may let the application wait while they are many.
    pub fn backlog(&self, exchange: ExchangeHandle) -> usize {
        todo!()
    }

    /// What the host should know beside the events of the machine.
    pub fn poll_http_event(&mut self) -> Option<HttpServerEvent> {
        todo!()
    }

    /// Answers [`SessionRequested`](HttpServerEvent::SessionRequested): the session as it was imported, or none.
    ///
    /// # Errors
    /// As [`Machine::handle_input`].
    pub fn resolve_session(
        &mut self,
        now: Instant,
        exchange: ExchangeHandle,
        session: Option<SessionHandle>,
    ) -> Result<(), Error> {
        todo!()
    }

    /// Answers [`ReplayRequested`](HttpServerEvent::ReplayRequested): ids and data of what followed, or `None` if the stream
    /// is not known.
    pub fn replay(&mut self, now: Instant, exchange: ExchangeHandle, events: Option<&[(&str, &str)]>) {
        todo!()
    }

    /// Ends the response of a legacy request for now: the client reconnects after `retry` milliseconds and finds what
    /// followed (basic/transports, 2025-11-25: server-side close). True if that was possible: the exchange is a stream, and has
    /// told an event id.
    pub fn close_stream(&mut self, now: Instant, exchange: ExchangeHandle, retry: Option<u64>) -> bool {
        todo!()
    }

    /// Lets time pass: keep-alive, sessions and events that are too old, and the machine's own.
    pub fn handle_timeout(&mut self, now: Instant) {
        todo!()
    }

    /// When to call [`handle_timeout`](Self::handle_timeout) at the latest, if ever.
    pub fn poll_timeout(&self) -> Option<Instant> {
        todo!()
    }

    /// Takes no more requests: they are refused with 503, streams that wait for nothing end, and what is in flight goes on.
    pub fn shut_down(&mut self, now: Instant) {
        todo!()
    }

    /// True when no exchange is open.
    pub fn is_idle(&self) -> bool {
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
