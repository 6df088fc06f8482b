//! A legacy session that its server does not know any more is replaced by a new one (basic/transports, Session
//! Management): one handshake however many requests found out, then each of them once more.

use alloc::vec::Vec;

use crate::logging::LogLevel;
use crate::machine::{Failure, RequestHandle};
use crate::revision::{Era, Method};
use crate::time::Instant;

use super::calls::{Purpose, Stage, level_params};
use super::notifications::{members, text_of};
use super::params::Params;
use super::state::{Action, Occurrence, State};
use super::{Client, FailureReason, Held};

/// What is kept of the session in use.
#[derive(Debug, Default)]
pub(super) struct Session {
    standing: Standing,
    /// The handshake under way replaces a session.
    replacing: bool,
    /// The level of log messages that was set in it.
    log_level: Option<LogLevel>,
}

/// What is known of a session.
#[derive(Clone, Copy, Debug, Default)]
enum Standing {
    /// Nothing has been answered in it.
    #[default]
    Untried,
    /// A request was answered.
    Proven,
    /// It was opened then for requests that had lost theirs, and has answered none yet.
    Doubtful(Instant),
}

impl Session {
    /// A request was answered.
    pub(super) const fn prove(&mut self) {
        self.standing = Standing::Proven;
    }

    /// Whether a handshake is under way that replaces a session.
    pub(super) const fn is_replaced(&self) -> bool {
        self.replacing
    }

    /// Remembers the level that a request sets, if it sets one.
    pub(super) fn note_log_level(&mut self, level: Option<LogLevel>) {
        self.log_level = level.or(self.log_level);
    }
}

impl Client {
    /// The server does not know the session of a message: that of `request`, or of anything else.
    pub(super) fn on_session_lost(&mut self, request: Option<RequestHandle>, is_current: bool) {
        let was_again =
            request.and_then(|request| self.pending.get(request)).is_some_and(|call| call.in_new_session);
        if is_current && !was_again && self.may_replace_session(request.is_some()) {
            self.replace_session(request.is_some());
        }
        let Some(request) = request else { return };
        // A session in use that is not being replaced is not tried again.
        let tries_again = self.session.replacing || (self.state == State::Legacy && !is_current);
        if was_again || !tries_again {
            let failure = Failure::SessionLost { is_current };
            self.drop_answered(request, FailureReason::ExchangeFailed(failure));
        } else {
            self.send_in_new_session(request);
        }
    }

    /// Whether a handshake may follow. Not another one in a row, unless time has passed: a server that loses every
    /// session is not asked for ever. What is no request proves nothing about a new session, and starts no second
    /// handshake.
    fn may_replace_session(&self, found_by_request: bool) -> bool {
        match self.session.standing {
            Standing::Proven => true,
            Standing::Untried => found_by_request,
            Standing::Doubtful(since) => {
                found_by_request && self.now >= since.after(self.config.timeouts.handshake)
            }
        }
    }

    fn replace_session(&mut self, found_by_request: bool) {
        let Some(revision) = self.revision.filter(|revision| revision.era() == Era::Legacy) else { return };
        if self.step(Occurrence::SessionLost) != Action::Initialize {
            return;
        }
        self.session.replacing = true;
        self.session.standing =
            if found_by_request { Standing::Doubtful(self.now) } else { Standing::Untried };
        self.opening.begin_again();
        self.withdraw_session_questions();
        self.send_initialize(revision);
    }

    /// Sends a request once more: at once, or when the new session is there.
    fn send_in_new_session(&mut self, request: RequestHandle) {
        let Some(call) = self.pending.get_mut(request) else { return };
        if !matches!(call.purpose, Purpose::Application) {
            // What the core asks for itself is asked anew for each session.
            self.pending.take(request);
            return;
        }
        call.in_new_session = true;
        self.send_again(request);
    }

    /// Keeps a request until the connection is ready.
    pub(super) fn hold(&mut self, request: RequestHandle) {
        self.pending.pause(request);
        if let Some(call) = self.pending.get_mut(request) {
            call.stage = Stage::Held;
        }
        self.held.push_back(Held::Request(request));
    }

    /// Whether the handshake that ends now has replaced a session. It is said once.
    pub(super) fn end_replacement(&mut self) -> bool {
        core::mem::take(&mut self.session.replacing)
    }

    /// Sets up in a new session what the old one had.
    pub(super) fn restore_session(&mut self) {
        let level = self.session.log_level.filter(|_| self.state == State::Legacy);
        if let Some(level) = level.filter(|_| self.check_allowed(Some(Method::LoggingSetLevel)).is_ok()) {
            let request = self.pending.draw();
            self.send_own(
                request,
                Method::LoggingSetLevel,
                Purpose::Unheard,
                Params::Written(&level_params(level)),
            );
        }
        self.restore_subscriptions();
    }

    /// The level of log messages that a request sets, to be set again in the next session.
    pub(super) fn level_set_by(&self, method: Option<Method>, params: Option<&str>) -> Option<LogLevel> {
        if !self.config.http || method != Some(Method::LoggingSetLevel) {
            return None;
        }
        let [level] = members(params, ["level"]);
        text_of(level).and_then(|name| LogLevel::from_name(&name))
    }

    /// Every subscription that is known to the server is asked for again, and acknowledged anew.
    fn restore_subscriptions(&mut self) {
        let waits = |held: &Held, handle| matches!(held, Held::Subscription(waiting) if *waiting == handle);
        let known: Vec<_> = self
            .subscriptions
            .handles()
            .filter(|&handle| !self.held.iter().any(|held| waits(held, handle)))
            .collect();
        self.subscriptions.forget_agreements();
        for subscription in known {
            self.open_subscription(subscription);
        }
    }
}
