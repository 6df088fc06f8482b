//! The stream of a legacy session that belongs to no request, and what waits for it while a session opens
//! (basic/transports, 2025-03-26 to 2025-11-25: Listening for Messages from the Server).
//!
//! Servers may ask for things on this stream alone, so that it should be there before they are given reason to. Thus
//! `initialized` goes out first, then the stream is asked for, and only then everything else.

use crate::machine::{ExchangeHandle, Machine};
use crate::time::Instant;
use crate::transport::http::status::Asked;

use super::exchange::{Exchange, Purpose};
use super::{End, HttpClient};

/// Milliseconds for which everything waits for `initialized` to be accepted.
const CONFIRMATION: u64 = 10_000;

/// Milliseconds for which everything waits for the head of the stream.
const LISTENING: u64 = 2_000;

/// How far the opening of a legacy session is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Opening {
    /// No session is being opened.
    Idle,
    /// `initialize` was answered; `initialized` comes next.
    Answered,
    /// `initialized` is on its way; the rest waits.
    Confirming(ExchangeHandle, Instant),
    /// The stream was asked for; the rest waits.
    Listening(ExchangeHandle, Instant),
}

impl Opening {
    pub(super) const fn deadline(self) -> Option<Instant> {
        match self {
            Opening::Idle | Opening::Answered => None,
            Opening::Confirming(_, deadline) | Opening::Listening(_, deadline) => Some(deadline),
        }
    }

    /// Whether messages have to wait.
    pub(super) const fn holds(self) -> bool {
        matches!(self, Opening::Confirming(..) | Opening::Listening(..))
    }
}

impl<M: Machine> HttpClient<M> {
    /// `initialized` goes out in this exchange.
    pub(super) fn confirm(&mut self, exchange: ExchangeHandle) {
        self.opening = Opening::Confirming(exchange, self.now.after(CONFIRMATION));
    }

    /// An exchange was answered or is over: what waited for it may go on.
    pub(super) fn pass(&mut self, exchange: ExchangeHandle) {
        match self.opening {
            Opening::Confirming(awaited, _) if awaited == exchange => self.listen(),
            Opening::Listening(awaited, _) if awaited == exchange => self.opening = Opening::Idle,
            _ => {}
        }
    }

    /// What was waited for has got another handle.
    pub(super) fn rename_awaited(&mut self, old: ExchangeHandle, new: ExchangeHandle) {
        if let Opening::Confirming(awaited, _) | Opening::Listening(awaited, _) = &mut self.opening
            && *awaited == old
        {
            *awaited = new;
        }
    }

    /// Goes on without what was waited for too long.
    pub(super) fn expire_opening(&mut self) {
        if self.opening.deadline().is_none_or(|deadline| deadline > self.now) {
            return;
        }
        match self.opening {
            Opening::Confirming(..) => self.listen(),
            _ => self.opening = Opening::Idle,
        }
    }

    /// Asks for the stream.
    fn listen(&mut self) {
        self.opening = Opening::Idle;
        if !self.config.opens_stream || self.end != End::Open {
            return;
        }
        let asked = Asked::Stream { session: self.session.id.is_some() };
        let exchange = self.table.insert(Exchange::new(Purpose::Standalone, asked, self.session.number));
        self.get(exchange);
        self.opening = Opening::Listening(exchange, self.now.after(LISTENING));
    }
}
