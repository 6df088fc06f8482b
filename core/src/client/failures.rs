//! Exchanges that ended without an answer, and answers that name no request: HTTP only
//! (basic/transports/streamable-http and basic/versioning, 2026-07-28; basic/transports, earlier).

use crate::jsonrpc::{Outcome, RpcError};
use crate::machine::{Failure, RequestHandle};
use crate::revision::Era;

use super::calls::Call;
use super::probe;
use super::state::State;
use super::{Client, DisconnectReason, FailureReason};

impl Client {
    /// An exchange ended without its answer.
    pub(super) fn on_failed(&mut self, request: Option<RequestHandle>, failure: Failure) {
        if request.is_some_and(|request| self.opening.awaits(request)) {
            return self.on_opening_failed(failure);
        }
        let request = request.filter(|&request| self.is_sent(request));
        if let Failure::SessionLost { is_current } = failure {
            return self.on_session_lost(request, is_current);
        }
        let Some(request) = request else { return };
        if self.is_uncertain() && speaks_against_modern(failure) {
            self.hold_again(request);
        } else {
            self.drop_answered(request, FailureReason::ExchangeFailed(failure));
        }
    }

    /// The probe or the handshake got no answer.
    fn on_opening_failed(&mut self, failure: Failure) {
        let falls_back = self.config.revisions.has_era(Era::Legacy);
        if self.state == State::Probing && falls_back && speaks_against_modern(failure) {
            self.judge(probe::fall_back(self.config.revisions, &[]), None);
        } else {
            self.fail(DisconnectReason::ExchangeFailed(failure));
        }
    }

    /// An error that names no request in flight, or none at all, answers the one in whose response it came.
    pub(super) fn on_error_within(&mut self, text: &str, request: RequestHandle, error: RpcError) {
        if self.opening.awaits(request) {
            self.on_opening_answer(Outcome::Error(error));
        } else if self.is_uncertain() && !RpcError::is_modern(error.code) {
            // The server did not even read the id.
            self.hold_again(request);
        } else {
            self.on_answer(text, request, Outcome::Error(error));
        }
    }

    /// Whether an answer is awaited in the response to this request.
    pub(super) fn is_awaited(&self, request: RequestHandle) -> bool {
        self.is_sent(request) || self.opening.awaits(request)
    }

    /// Whether a request waits for its answer.
    pub(super) fn is_sent(&self, request: RequestHandle) -> bool {
        self.pending.get(request).is_some_and(Call::is_sent)
    }

    /// The request of the modern era whose exchange brought something, if it still waits.
    pub(super) fn exchange_request(&self, within: Option<RequestHandle>) -> Option<RequestHandle> {
        within.filter(|&request| self.is_modern() && self.is_sent(request))
    }
}

/// Whether a modern server would not have ended the exchange so: it answers with JSON-RPC at any status. An outage,
/// a missing authorization and a redirect say nothing of the era.
const fn speaks_against_modern(failure: Failure) -> bool {
    match failure {
        Failure::Refused { status } => !matches!(status, 300..=399),
        Failure::Truncated => true,
        Failure::SessionLost { .. } | Failure::Unauthorized { .. } | Failure::Unavailable { .. } => false,
    }
}
