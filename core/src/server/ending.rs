//! The end: of input, which lets owed answers go out, and of everything.

use alloc::vec::Vec;

use crate::error::{CloseReason, Error};
use crate::machine::Transmit;
use crate::time::Instant;

use super::legacy::{Outbound, Purpose};
use super::{ClientFailure, Event, Server};

/// How far a server has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Messages come and go.
    Open,
    /// No more messages come; answers that are owed go out until the deadline.
    Draining { deadline: Instant },
    /// It is over.
    Closed(CloseReason),
}

impl Server {
    /// Refuses commands after the end.
    pub(super) fn check_open(&self) -> Result<(), Error> {
        match self.phase {
            Phase::Closed(reason) => Err(Error::Closed(reason)),
            Phase::Open | Phase::Draining { .. } => Ok(()),
        }
    }

    /// Refuses input after the end of input. That the transport broke can still be said.
    pub(super) fn check_intake(&self, is_lost: bool) -> Result<(), Error> {
        match self.phase {
            Phase::Draining { .. } if !is_lost => Err(Error::Closed(CloseReason::ByPeer)),
            _ => self.check_open(),
        }
    }

    pub(super) fn takes_input(&self) -> bool {
        self.phase == Phase::Open
    }

    pub(super) const fn drain_deadline(&self) -> Option<Instant> {
        match self.phase {
            Phase::Draining { deadline } => Some(deadline),
            Phase::Open | Phase::Closed(_) => None,
        }
    }

    pub(super) fn end_of_input(&mut self) {
        self.end_all_in_order();
        // Whatever the client was asked, it cannot answer any more.
        let unanswered: Vec<_> = self.outbound.drain().collect();
        for (request, outbound) in unanswered {
            self.settle_outbound(request, outbound, Err(ClientFailure::ConnectionLost));
        }
        // Only now: whatever ended above must be told before the end of all.
        self.phase = Phase::Draining { deadline: self.now.after(self.config.timeouts.drain) };
        self.check_drained();
    }

    /// Ends a draining server as soon as nothing is owed.
    pub(super) fn check_drained(&mut self) {
        if self.drain_deadline().is_some() && self.in_flight.is_empty() {
            self.drained();
        }
    }

    pub(super) fn expire(&mut self) {
        self.expire_outbound();
        if self.drain_deadline().is_some_and(|deadline| deadline <= self.now) {
            self.drained();
        }
    }

    fn drained(&mut self) {
        let abandoned = self.in_flight.owed();
        self.queues.tell(Event::Drained { abandoned });
        self.end(CloseReason::ByPeer);
    }

    pub(super) fn close_by_us(&mut self) {
        if self.check_open().is_ok() {
            self.end_all_in_order();
            self.stop_requests();
            self.end(CloseReason::ByUs);
        }
    }

    /// The transport broke: nothing can be sent any more.
    pub(super) fn lose(&mut self) {
        self.queues.discard_transmits();
        self.stop_requests();
        self.end(CloseReason::TransportLost);
    }

    /// Tells the application that no answer is wanted any more.
    fn stop_requests(&mut self) {
        for request in self.in_flight.owed() {
            self.queues.tell(Event::RequestCancelled { request, reason: None });
        }
        let unanswered: Vec<_> = self.outbound.drain().collect();
        for (request, Outbound { session, purpose }) in unanswered {
            if matches!(purpose, Purpose::Own) {
                let outcome = Err(ClientFailure::ConnectionLost);
                self.queues.tell(Event::ResponseReceived { session, request, outcome });
            }
        }
    }

    /// Releases everything and says so.
    fn end(&mut self, reason: CloseReason) {
        self.phase = Phase::Closed(reason);
        for subscription in self.subscriptions.close_all() {
            self.queues.tell(Event::SubscriptionClosed { subscription });
        }
        self.in_flight.clear();
        self.batches.clear();
        for session in self.sessions.take_all().filter(|session| session.is_open) {
            self.queues.tell(Event::SessionClosed { session: session.handle });
        }
        self.queues.transmit(Transmit::Close);
        self.queues.tell(Event::Disconnected { reason });
    }
}
