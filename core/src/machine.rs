//! What both roles share: the five verbs, what goes in, what comes out, and the handles that name things.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::error::Error;
use crate::jsonrpc::Violation;
use crate::limits::Limits;
use crate::revision::Revision;
use crate::time::Instant;

macro_rules! handles {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u64);

        impl $name {
            /// The handle with this number, as it came out of [`number`](Self::number).
            pub const fn from_number(number: u64) -> Self {
                $name(number)
            }

            /// The number, for hosts that keep handles outside Rust. Numbers are not reused by one machine.
            pub const fn number(self) -> u64 {
                self.0
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self.0)
            }
        }
    )*};
}

handles! {
    /// Names one request for its whole life, over all its rounds. It is local: the id on the wire may change.
    RequestHandle;
    /// Names a subscription to changes.
    SubscriptionHandle;
    /// Names one question of the server to the client's user or model.
    InputHandle;
    /// Names a legacy session.
    SessionHandle;
    /// Names one HTTP request with its response. Drawn by the transport.
    ExchangeHandle;
}

/// A role of the protocol as a state machine over whole messages.
///
/// Any verb may be called at any time and in any order. Nothing here does I/O, reads a clock or blocks.
pub trait Machine {
    /// What the application is told.
    type Event;

    /// Takes one thing that happened.
    ///
    /// # Errors
    /// Fatal ends only: events from before and the reason stay pollable. Faulty input is no error; it is
    /// answered, or reported as an event.
    fn handle_input(&mut self, now: Instant, input: Input<'_>) -> Result<(), Error>;

    /// Lets time pass. Harmless when nothing is due; earlier times than before count as the latest seen.
    fn handle_timeout(&mut self, now: Instant);

    /// The next thing to send, in order.
    fn poll_transmit(&mut self) -> Option<Transmit>;

    /// The next thing that the application should know, in order.
    fn poll_event(&mut self) -> Option<Self::Event>;

    /// When to call [`handle_timeout`](Self::handle_timeout) at the latest, if ever.
    fn poll_timeout(&self) -> Option<Instant>;

    /// False while so much waits to be polled or sent that the host should stop reading from the peer.
    fn wants_input(&self) -> bool;

    /// The bounds this machine was made with.
    fn limits(&self) -> &Limits;

    /// Which attempt of a request waits for its answer: a number that no other attempt has. `None` if none does. By
    /// it a transport with an exchange for each attempt tells an answered one from one that was cut off; others,
    /// and roles that send no requests over HTTP, need not know.
    fn awaited_attempt(&self, request: RequestHandle) -> Option<u64> {
        let _ = request;
        None
    }
}

/// Something that a host is about to let a machine do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Step<'a> {
    /// Take this message and do what it asks for, with room left to refuse so many that follow it, and one more.
    Take(&'a [u8], usize),
    /// Refuse so many messages, one after the other.
    Refuse(usize),
    /// Keep texts of so many bytes in all, such as a definition, with room left to refuse a message.
    Keep(usize),
    /// Send texts of so many bytes in all, such as an answer.
    Send(usize),
    /// Within this request, ask so many questions, whose texts have so many bytes in all.
    Ask(RequestHandle, usize, usize),
    /// Send texts of so many bytes in all to everybody who wants them, such as news of a change.
    Publish(usize),
    /// Write down this session for another process.
    Export(SessionHandle),
    /// Let time pass, or take the end of input.
    Settle,
}

/// A machine that knows how much room it needs, for hosts whose memory ends.
///
/// Where an allocation fails there is no way back: `alloc` ends the program. So a host with little memory asks before
/// each step whether it fits, and a step that does not fit is refused while there is still room for the refusal. What is
/// asked for is *room*: bytes that can be allocated in one piece. One piece that is as long as the step needs at most is
/// enough, whatever else of the memory is in use and however it is cut up.
pub trait Measured: Machine {
    /// The most room that a step takes as things are, in bytes. An allocator may add up to a sixteenth of that and
    /// keep up to eight bytes beside each allocation.
    fn room_for(&self, step: Step<'_>) -> usize;
}

/// One thing that happened outside.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Input<'a> {
    /// A whole message arrived.
    Message {
        /// The JSON text.
        text: &'a str,
        /// What its envelope says.
        facts: Facts<'a>,
    },
    /// Bytes arrived that are no whole message: too long, not UTF-8, or cut off by the end of input.
    Damaged {
        /// The bytes, or their head up to the limit.
        bytes: &'a [u8],
        /// What is wrong with them.
        violation: Violation,
    },
    /// The client left an exchange before its answer (HTTP server). From 2026-07-28 that cancels the request;
    /// before, it means nothing (basic/transports).
    Gone {
        /// The exchange.
        exchange: ExchangeHandle,
    },
    /// An exchange of ours came to an end without an answer (HTTP client).
    Failed {
        /// The request that was sent there; none if it was a notification or a response.
        request: Option<RequestHandle>,
        /// What became of it.
        failure: Failure,
    },
    /// The exchange of a request waits for the host to authorize it (HTTP client): the time of the request stands still.
    Held {
        /// The request.
        request: RequestHandle,
    },
    /// It is sent again: time goes on.
    Released {
        /// The request.
        request: RequestHandle,
    },
    /// A legacy session is over: its client ended it, or it was not used for too long (HTTP server).
    SessionEnded {
        /// The session.
        session: SessionHandle,
    },
    /// The host has started the peer afresh, as [`RestartRequired`](crate::client::Event::RestartRequired) asked.
    Restarted,
    /// The peer will send nothing more. Answers that are owed can still be sent.
    Closed,
    /// The transport broke: nothing can be sent or received any more.
    Lost,
}

impl Input<'_> {
    /// How many bytes of the peer's it brings.
    pub(crate) const fn byte_count(&self) -> usize {
        match self {
            Input::Message { text, .. } => text.len(),
            Input::Damaged { bytes, .. } => bytes.len(),
            _ => 0,
        }
    }
}

/// What became of an exchange that brought no JSON-RPC answer (HTTP client).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Failure {
    /// The server answered with this status and nothing of JSON-RPC. To a probe it says that the server is not modern.
    Refused {
        /// The HTTP status.
        status: u16,
    },
    /// The server does not know the session (404 to a message that named one).
    SessionLost {
        /// Whether it is the session in use; false if that has been replaced since the message was sent.
        is_current: bool,
    },
    /// The host did not or could not authorize it (401 or 403).
    Unauthorized {
        /// The HTTP status.
        status: u16,
    },
    /// The server or the way to it is out of order (408, 429, 5xx, no connection). It says nothing of the era.
    Unavailable {
        /// The HTTP status, if there was an answer.
        status: Option<u16>,
    },
    /// The response ended before the answer, and cannot be resumed.
    Truncated,
}

impl Failure {
    /// The number of this end, the same in every language (see [`FailureReason::code`](crate::client::FailureReason::code)).
    pub const fn code(self) -> i64 {
        match self {
            Failure::Refused { .. } => 608,
            Failure::SessionLost { .. } => 609,
            Failure::Unauthorized { .. } => 610,
            Failure::Unavailable { .. } => 611,
            Failure::Truncated => 612,
        }
    }

    /// The HTTP status that it came with, if any.
    pub const fn status(self) -> Option<u16> {
        match self {
            Failure::Refused { status } | Failure::Unauthorized { status } => Some(status),
            Failure::Unavailable { status } => status,
            Failure::SessionLost { .. } => Some(404),
            Failure::Truncated => None,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Refused { status: status @ 200..=299 } => {
                write!(f, "the server's response is no message of the protocol (HTTP {status})")
            }
            Failure::Refused { status: status @ 300..=399 } => {
                write!(f, "the server redirects to where it is not followed (HTTP {status})")
            }
            Failure::Refused { status: status @ (404 | 405) } => {
                write!(f, "there is no endpoint of the protocol at this URL (HTTP {status})")
            }
            Failure::Refused { status } => write!(f, "the server refused the request (HTTP {status})"),
            Failure::SessionLost { .. } => f.write_str("the server does not know the session any more"),
            Failure::Unauthorized { status: 403 } => f.write_str("the server forbids the request (HTTP 403)"),
            Failure::Unauthorized { status } => write!(f, "the server wants authorization (HTTP {status})"),
            Failure::Unavailable { status: Some(status) } => {
                write!(f, "the server is not available (HTTP {status})")
            }
            Failure::Unavailable { status: None } => f.write_str("the server cannot be reached"),
            Failure::Truncated => f.write_str("the response ended before the answer"),
        }
    }
}

/// What an envelope says of a message on arrival. A byte stream says nothing but what came before the text.
#[derive(Clone, Copy, Debug, Default)]
pub struct Facts<'a> {
    /// A byte-order mark stood before the text and was taken off.
    pub byte_order_mark: bool,
    /// Who sent it, as far as the host knows (an opaque key; the host authenticates).
    pub principal: Option<&'a str>,
    /// The exchange that brought it (HTTP server).
    pub exchange: Option<Exchange<'a>>,
    /// The request in whose response it came (HTTP client).
    pub within: Option<RequestHandle>,
}

/// The HTTP request that brought a message, as far as the protocol acts on it.
#[derive(Clone, Copy, Debug)]
pub struct Exchange<'a> {
    /// Its handle. On HTTP+SSE (2024-11-05), that of the stream which carries all answers.
    pub handle: ExchangeHandle,
    /// The session that it names.
    pub session: NamedSession,
    /// Whether the client takes a stream of events as response.
    pub takes_stream: bool,
    /// The headers that repeat parts of the message; none on HTTP+SSE, where nothing is repeated.
    pub mirror: Option<Mirror<'a>>,
}

/// The session that an exchange names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NamedSession {
    /// It names none.
    None,
    /// This one, which belongs to its sender.
    Known(SessionHandle),
    /// One that does not exist, or belongs to somebody else.
    Unknown,
}

/// The headers of an HTTP request that repeat parts of the message (basic/transports/streamable-http, 2026-07-28).
/// Values are without white space around them and otherwise as they came.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mirror<'a> {
    /// `MCP-Protocol-Version`.
    pub protocol_version: HeaderValue<'a>,
    /// `Mcp-Method`.
    pub method: HeaderValue<'a>,
    /// `Mcp-Name`.
    pub name: HeaderValue<'a>,
    /// Each `Mcp-Param-…`: what follows the prefix, in any case of letters, and the value.
    pub params: &'a [(&'a str, &'a str)],
}

/// The value of a header that may stand there once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HeaderValue<'a> {
    /// It is not there.
    #[default]
    Absent,
    /// It is there once.
    Once(&'a str),
    /// It is there more than once.
    Repeated,
}

/// One thing to send.
#[derive(Debug)]
#[non_exhaustive]
pub enum Transmit {
    /// A whole message.
    Message {
        /// The JSON text, without a line end. It holds no raw newline.
        text: String,
        /// Where it belongs.
        route: Route,
        /// What its envelope should say.
        labels: Labels,
    },
    /// No answer will follow to what an exchange brought: it was a notification or a response (HTTP server: 202).
    Accept {
        /// The exchange.
        exchange: ExchangeHandle,
    },
    /// The exchange that carries this request is of no use any more (HTTP client: close it).
    Abort {
        /// The request.
        request: RequestHandle,
    },
    /// A legacy session is over, by a command of the application (HTTP server: end its streams, forget its id).
    EndSession {
        /// The session.
        session: SessionHandle,
    },
    /// Nothing more will be sent: close our side after what was sent before.
    Close,
}

/// Where a message belongs. A byte stream carries them all; HTTP picks the exchange by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// It opens this request.
    Opens(RequestHandle),
    /// It answers this request, which ends with it.
    Answers(RequestHandle),
    /// It belongs to this request, which goes on.
    Within(RequestHandle),
    /// It stands alone.
    Alone,
}

/// What the envelope of a message should say on departure. A byte stream has none and ignores it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Labels {
    /// The exchange that carries it (HTTP server). None: the stream of `session` that belongs to no request.
    pub exchange: Option<ExchangeHandle>,
    /// The legacy session that it belongs to (HTTP server). On the answer to `initialize` it is the new one.
    pub session: Option<SessionHandle>,
    /// The revision that was settled, on the answer to `initialize` (HTTP server): streams of its session follow it.
    pub revision: Option<Revision>,
    /// What it means for its exchange (HTTP server).
    pub disposition: Disposition,
    /// What headers repeat of it (HTTP client). None for answers to the server's requests where the revision has no
    /// such headers, and on a byte stream.
    pub mirrored: Option<Box<Mirrored>>,
}

/// What a message means for the exchange that carries it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Disposition {
    /// More follows.
    #[default]
    Continues,
    /// As `Continues`, and the message may be left out where the client does not keep up.
    Droppable,
    /// It ends the exchange: the answer to what it brought (HTTP 200).
    Answers,
    /// It ends the exchange: what it brought was refused with this error code before it was served. The HTTP status
    /// follows from the code.
    Refuses(i64),
    /// It ends the exchange: it names a session that does not exist (HTTP 404).
    SessionUnknown,
    /// It ends the exchange: the response would have to be a stream and the client takes none (HTTP 406).
    NotAcceptable,
}

/// What an HTTP client repeats of a message in headers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mirrored {
    /// The revision, for `MCP-Protocol-Version`; none before one is settled.
    pub protocol_version: Option<Revision>,
    /// The message opens a legacy session: it names none and no revision.
    pub is_handshake: bool,
    /// For `Mcp-Method`; none in revisions without that header.
    pub method: Option<Box<str>>,
    /// For `Mcp-Name`, not encoded yet.
    pub name: Option<Box<str>>,
    /// For each `Mcp-Param-…`: what follows the prefix, and the value, not encoded yet.
    pub params: Vec<(Box<str>, Box<str>)>,
}
