//! Where messages come from, and where what belongs to them goes.

use crate::machine::{Disposition, Exchange, ExchangeHandle, Labels, SessionHandle};

/// What brought a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Channel {
    /// The byte stream.
    #[default]
    Stream,
    /// A channel of HTTP+SSE (2024-11-05): as a byte stream, but one of many.
    Events(ExchangeHandle),
    /// An HTTP request, whose response ends with the answer.
    Post(ExchangeHandle),
}

/// What brought a message, and the legacy session that it belongs to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Source {
    pub(super) channel: Channel,
    pub(super) session: Option<SessionHandle>,
}

/// Among whose requests an id names one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Scope {
    /// Those of the byte stream, of both eras.
    Stream,
    /// Those of a session.
    Session(SessionHandle),
    /// This one alone, as nothing else came in its exchange.
    Exchange,
}

impl Channel {
    pub(super) const fn of(exchange: Option<&Exchange<'_>>) -> Channel {
        match exchange {
            None => Channel::Stream,
            Some(exchange) if exchange.mirror.is_some() => Channel::Post(exchange.handle),
            Some(exchange) => Channel::Events(exchange.handle),
        }
    }

    pub(super) const fn exchange(self) -> Option<ExchangeHandle> {
        match self {
            Channel::Stream => None,
            Channel::Events(exchange) | Channel::Post(exchange) => Some(exchange),
        }
    }

    pub(super) const fn is_post(self) -> bool {
        matches!(self, Channel::Post(_))
    }
}

impl Source {
    pub(super) const fn scope(&self) -> Scope {
        match (self.channel, self.session) {
            (Channel::Stream, _) => Scope::Stream,
            (_, Some(session)) => Scope::Session(session),
            (_, None) => Scope::Exchange,
        }
    }

    /// The envelope of a message that goes back to where this came from.
    pub(super) fn labels(&self, disposition: Disposition) -> Labels {
        Labels { exchange: self.channel.exchange(), session: self.session, disposition, ..Labels::default() }
    }
}

/// The envelope of a message to a session that belongs to no request.
pub(super) fn to_session(session: SessionHandle) -> Labels {
    Labels { session: Some(session), ..Labels::default() }
}
