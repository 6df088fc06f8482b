//! What goes between an [`HttpServer`](super::HttpServer) and its host.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use crate::machine::{ExchangeHandle, SessionHandle};
use crate::revision::Revisions;
use crate::seed::Seed;
use crate::transport::http::OriginPolicy;

/// How an [`HttpServer`](super::HttpServer) is set up.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct HttpServerConfig {
    /// Which pages and which names of the server requests may come from and go to; others are refused with 403.
    /// Default [`OriginPolicy::loopback`].
    pub origins: OriginPolicy,
    /// The revisions that the machine serves. Without a legacy one there are no sessions: GET and DELETE are refused with
    /// 405. Default all.
    pub revisions: Revisions,
    /// Bytes of a request body; a longer one is refused with 413 before it is read. Default 4 MiB.
    pub body_bytes: usize,
    /// Milliseconds of silence on an open stream after which a comment is sent. A response that has not begun by then
    /// begins as a stream, if the client takes one. Default 15 000; 0 sends none.
    pub keep_alive: u64,
    /// Milliseconds without an exchange after which a legacy session is ended. Default 1 800 000 (half an hour).
    pub session_idle: u64,
    /// Milliseconds that a client is asked to wait before it reconnects to a stream (`retry`). Default 1 000.
    pub retry: u64,
    /// Whether events of legacy streams are kept for clients that reconnect, and where. Default in memory.
    pub events: EventKeeping,
    /// Whether sessions may live outside: an unknown id is then asked for with
    /// [`SessionRequested`](HttpServerEvent::SessionRequested) before it is refused. Default false.
    pub external_sessions: bool,
    /// 32 random bytes from the operating system. Ids of sessions and streams come from it. It may be that of the machine
    /// behind, whose numbers have other labels, and of no other one.
    pub seed: Seed,
}

impl HttpServerConfig {
    /// The defaults, and the seed that has none.
    pub fn new(seed: Seed) -> HttpServerConfig {
        HttpServerConfig {
            origins: OriginPolicy::default(),
            revisions: Revisions::ALL,
            body_bytes: 4 << 20,
            keep_alive: 15_000,
            session_idle: 1_800_000,
            retry: 1_000,
            events: EventKeeping::default(),
            external_sessions: false,
            seed,
        }
    }
}

/// Where events of legacy streams are kept for clients that reconnect with `Last-Event-ID`.
///
/// What is told on the stream of a session that belongs to no request waits there too while that stream is not open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EventKeeping {
    /// Nowhere: events have no ids, a lost stream is lost, and what has no open stream to go out on is dropped.
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
    /// With the host: [`EventAppended`](HttpServerEvent::EventAppended),
    /// [`ReplayRequested`](HttpServerEvent::ReplayRequested) and
    /// [`StreamsForgotten`](HttpServerEvent::StreamsForgotten) say what to keep, give back and drop.
    External,
}

impl Default for EventKeeping {
    /// In memory, within the bounds named at [`Memory`](EventKeeping::Memory).
    fn default() -> Self {
        EventKeeping::Memory { events: 256, bytes: 16 << 20, age: 300_000 }
    }
}

/// The head of a request.
#[derive(Clone, Copy, Debug)]
pub struct RequestHead<'a> {
    /// The method, as it came.
    pub method: &'a str,
    /// Which endpoint it is for; the host routes by path.
    pub endpoint: Endpoint<'a>,
    /// Names and values in the order of arrival. `Host` has to be among them, from `:authority` if need be. A value that
    /// is not UTF-8 is given with its bytes above 127 as they are in Latin-1.
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
        /// The path of the endpoint that takes messages, relative or absolute and without a query; the client gets it with
        /// the name of its channel as query.
        messages: &'a str,
    },
    /// Where HTTP+SSE takes messages.
    Messages {
        /// The query string, without the question mark.
        query: &'a str,
    },
}

/// Why the host does not let a request through: it is a resource server, and the request lacks what it wants (OAuth 2.1,
/// section 5.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Denial<'a> {
    /// The status: 400, 401 or 403, or 503 when nothing can be said of a token now. Others count as 503.
    pub status: u16,
    /// The value of `WWW-Authenticate`. One with bytes that a header cannot hold is left out.
    pub challenge: Option<&'a str>,
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
    /// `is_last` is true as well.
    pub is_aborted: bool,
}

/// The head of a response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResponseHead {
    /// The status.
    pub status: u16,
    /// Names in lower case, and values. `content-length` is among them unless the body is a stream, or there is none.
    pub headers: Vec<(&'static str, Cow<'static, str>)>,
}

/// What the transport tells the host, beside the events of its machine.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HttpServerEvent {
    /// An id that is not known here: load the session, import it into the machine and answer with
    /// [`resolve_session`](super::HttpServer::resolve_session). It may be anything that a client wrote, and the session may
    /// belong to another principal: that is for the host to check. The exchange waits, and others that name
    /// the same session for the same principal wait with it. Only with `external_sessions`.
    SessionRequested {
        /// The exchange that waits.
        exchange: ExchangeHandle,
        /// The id from the request.
        id: Box<str>,
    },
    /// A session has got its id: what a store for other processes is keyed by. Only with `external_sessions` or
    /// [`EventKeeping::External`].
    SessionNamed {
        /// The session.
        session: SessionHandle,
        /// Its id. It is a secret between client and server.
        id: Box<str>,
    },
    /// Keep this event (only with [`EventKeeping::External`]).
    EventAppended {
        /// The session that the stream belongs to.
        session: SessionHandle,
        /// The stream.
        stream: Box<str>,
        /// The id of the event, unique over all streams.
        id: Box<str>,
        /// The message; empty for the first event of a stream, which only gives an id.
        data: String,
    },
    /// Give the events after this one with [`replay`](super::HttpServer::replay), or say that the stream is not one of this
    /// session. The exchange waits.
    ReplayRequested {
        /// The exchange that waits.
        exchange: ExchangeHandle,
        /// The session that asks.
        session: SessionHandle,
        /// The stream.
        stream: Box<str>,
        /// The id of the last event that the client got.
        after: Box<str>,
    },
    /// Nobody will ask for the streams of this session any more (only with [`EventKeeping::External`]).
    StreamsForgotten {
        /// The session, which is over.
        session: SessionHandle,
    },
}
