//! What both roles share: the five verbs, what goes in, what comes out, and the handles that name things.

use alloc::string::String;
use core::fmt;

use crate::error::Error;
use crate::jsonrpc::Violation;
use crate::limits::Limits;
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
    /// The peer left one exchange before the answer (HTTP).
    Gone {
        /// The request that was answered there.
        request: RequestHandle,
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

/// What an envelope says of a message on arrival. A byte stream says nothing but what came before the text.
#[derive(Clone, Copy, Debug, Default)]
pub struct Facts<'a> {
    /// A byte-order mark stood before the text and was taken off.
    pub byte_order_mark: bool,
    /// Who sent it, as far as the host knows (an opaque key; the host authenticates).
    pub principal: Option<&'a str>,
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
    },
    /// The exchange that carries this request is of no use any more (HTTP: close it).
    Abort {
        /// The request.
        request: RequestHandle,
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
