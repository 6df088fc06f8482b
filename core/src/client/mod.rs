//! The client role: verbs and commands. What they lead to stands in the modules below, one a concern.

mod calls;
mod event;
mod failures;
mod labels;
mod messages;
mod methods;
mod modern;
mod notifications;
mod opening;
mod params;
mod probe;
mod questions;
mod recovery;
mod state;
mod subscriptions;
#[cfg(test)]
mod tests;
mod tool_headers;
mod visits;

pub use event::{DisconnectReason, Event, FailureReason};
pub use methods::{Completion, CompletionReference, Listing};

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::string::String;

use crate::config::ClientConfig;
use crate::error::{CloseReason, Error};
use crate::json::Json;
use crate::limits::Limits;
use crate::logging::LogLevel;
use crate::machine::{Input, InputHandle, Machine, RequestHandle, SubscriptionHandle, Transmit};
use crate::memory::LastLong;
use crate::pending::Pending;
use crate::queues::Queues;
use crate::revision::{Capabilities, EraVerdict, Revision};
use crate::rounds::InputResponse;
use crate::subscription::SubscriptionFilter;
use crate::time::Instant;

use calls::Call;
use opening::Opening;
use params::Params;
use questions::Questions;
use recovery::Session;
use state::State;
use subscriptions::Subscriptions;
use tool_headers::ToolHeaders;

/// A client as a state machine over whole messages.
///
/// It may be moved between threads; no verb blocks.
#[derive(Debug)]
pub struct Client {
    config: ClientConfig,
    queues: Queues<Event>,
    last_long: LastLong,
    /// The latest time seen.
    now: Instant,
    state: State,
    opening: Opening,
    revision: Option<Revision>,
    /// What the server declared; unknown if a stored verdict took the place of discovery.
    server: Option<Capabilities>,
    pending: Pending<Call>,
    /// Commands given before the connection was ready, in order.
    held: VecDeque<Held>,
    questions: Questions,
    subscriptions: Subscriptions,
    /// The legacy session in use.
    session: Session,
    /// What headers repeat of the arguments of each tool.
    tools: ToolHeaders,
    /// The least severity of log messages that modern requests ask for.
    log_level: Option<LogLevel>,
    /// The members of `_meta` that every modern request carries.
    stamp: String,
    /// Notifications are being dropped, and that was told.
    overflowing: bool,
    /// How it ended.
    end: Option<CloseReason>,
}

/// A command that waits for the connection to be ready.
#[derive(Debug)]
enum Held {
    Request(RequestHandle),
    LogLevel(RequestHandle, LogLevel),
    Notification(Box<str>, Option<Box<str>>),
    Subscription(SubscriptionHandle),
}

/// How one request is made.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct RequestOptions {
    /// Ask for progress reports.
    pub progress: bool,
    /// Milliseconds to wait with nothing heard, instead of [`Timeouts::request`](crate::Timeouts::request).
    pub timeout: Option<u64>,
    /// Milliseconds over all rounds, instead of [`Timeouts::request_total`](crate::Timeouts::request_total).
    pub total_timeout: Option<u64>,
    /// The least severity of log messages wanted while it runs (from 2026-07-28), instead of the level set
    /// by [`Client::set_log_level`].
    pub log_level: Option<LogLevel>,
    /// Members to add to `_meta`, such as trace context: the text of an object.
    pub meta: Option<Json>,
}

impl Client {
    /// A client that starts to connect at once: the probe or handshake waits to be sent.
    ///
    /// # Errors
    /// [`NoCommonRevision`](crate::PeerIncompatible::NoCommonRevision) if `config` allows no revision.
    pub fn new(config: ClientConfig, now: Instant) -> Result<Client, Error> {
        Client::open(config, now)
    }

    /// Sends a request, or queues it until the connection is ready. `params` is the text of an object.
    ///
    /// # Errors
    /// [`ApiMisuse`](crate::ApiMisuse) if the parameters are no JSON object, the method is one the core sends itself, or the
    /// settled revision or server does not have it; [`LimitExceeded`](Error::LimitExceeded); [`Closed`](Error::Closed).
    pub fn request(
        &mut self,
        now: Instant,
        method: &str,
        params: Option<&str>,
        options: RequestOptions,
    ) -> Result<RequestHandle, Error> {
        self.start_request(now, method, Params::Given(params), options)
    }

    /// Gives up a request: it fails at once with `Cancelled`, the server is told as its revision wants, and a
    /// late answer is dropped.
    ///
    /// # Errors
    /// [`UnknownRequest`](crate::ApiMisuse::UnknownRequest) if it has ended.
    pub fn cancel(&mut self, request: RequestHandle, reason: Option<&str>) -> Result<(), Error> {
        self.cancel_request(request, reason)
    }

    /// Answers a question of the server. A result is written for the newest revision; what the server's revision
    /// must not see is left out or replaced.
    ///
    /// # Errors
    /// [`UnknownInput`](crate::ApiMisuse::UnknownInput) if it no longer stands; [`InvalidJson`](crate::ApiMisuse::InvalidJson)
    /// if the result is no object; [`InvalidDefinition`](crate::ApiMisuse::InvalidDefinition) naming a member that is missing
    /// or wrong; [`NotAllowedInRevision`](crate::ApiMisuse::NotAllowedInRevision) if the revision has no words for it. The
    /// question stands then.
    pub fn provide_input(
        &mut self,
        now: Instant,
        input: InputHandle,
        response: InputResponse,
    ) -> Result<(), Error> {
        self.answer_input(now, input, response)
    }

    /// Asks to be told of changes. The same events follow in both eras: `SubscriptionAcknowledged`, changes, `SubscriptionEnded`.
    ///
    /// # Errors
    /// [`LimitExceeded`](Error::LimitExceeded), [`Closed`](Error::Closed).
    pub fn subscribe(
        &mut self,
        now: Instant,
        filter: SubscriptionFilter,
    ) -> Result<SubscriptionHandle, Error> {
        self.start_subscription(now, filter)
    }

    /// Ends a subscription; `SubscriptionEnded` follows.
    ///
    /// # Errors
    /// [`UnknownSubscription`](crate::ApiMisuse::UnknownSubscription) if it has ended.
    pub fn unsubscribe(&mut self, now: Instant, subscription: SubscriptionHandle) -> Result<(), Error> {
        self.end_subscription(now, subscription)
    }

    /// Sets the least severity of log messages wanted. In the legacy era a request goes out; from 2026-07-28
    /// later requests carry the level, and the handle returned is answered at once with an empty result.
    ///
    /// # Errors
    /// As [`request`](Self::request).
    pub fn set_log_level(&mut self, now: Instant, level: LogLevel) -> Result<RequestHandle, Error> {
        self.choose_log_level(now, level)
    }

    /// Sends a notification, or queues it until the connection is ready. `params` is the text of an object.
    ///
    /// # Errors
    /// As [`request`](Self::request).
    pub fn notify(&mut self, method: &str, params: Option<&str>) -> Result<(), Error> {
        self.send_notification(method, params)
    }

    /// Ends the connection in order: what is in flight fails with `ConnectionLost`, questions are withdrawn, `Disconnected` follows.
    pub fn close(&mut self) {
        self.close_by_us();
    }

    /// The settled revision.
    pub fn revision(&self) -> Option<Revision> {
        self.revision
    }

    /// What the server declared, once that is known.
    pub fn server_capabilities(&self) -> Option<&Capabilities> {
        self.server.as_ref()
    }

    /// What to store so that the next connection to this server skips the probe, once that is known.
    pub fn era_verdict(&self) -> Option<EraVerdict> {
        self.revision.map(|revision| EraVerdict { revision })
    }
}

impl Machine for Client {
    type Event = Event;

    fn handle_input(&mut self, now: Instant, input: Input<'_>) -> Result<(), Error> {
        self.advance(now);
        self.queues.arrive(input.byte_count());
        match input {
            Input::Message { text, facts } => self.on_text(text, facts),
            Input::Damaged { bytes, violation } => self.on_damaged(bytes, violation),
            Input::Failed { request, failure } => self.on_failed(request, failure),
            Input::Held { request } => self.on_held(request),
            Input::Released { request } => self.on_released(request),
            // Only servers are left, and only they keep sessions of others.
            Input::Gone { .. } | Input::SessionEnded { .. } => {}
            Input::Restarted => self.on_restarted(),
            Input::Closed => self.on_end(CloseReason::ByPeer),
            Input::Lost => self.on_end(CloseReason::TransportLost),
        }
        self.queues.arrive(0);
        self.fault()
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.advance(now);
        self.expire_opening();
        self.expire_calls();
    }

    fn poll_transmit(&mut self) -> Option<Transmit> {
        self.queues.poll_transmit()
    }

    fn poll_event(&mut self) -> Option<Event> {
        self.queues.poll_event()
    }

    fn poll_timeout(&self) -> Option<Instant> {
        [self.opening.deadline(), self.pending.next_deadline()].into_iter().flatten().min()
    }

    fn wants_input(&self) -> bool {
        self.queues.wants_input(&self.config.limits)
    }

    fn limits(&self) -> &Limits {
        &self.config.limits
    }

    fn awaited_attempt(&self, request: RequestHandle) -> Option<u64> {
        if self.opening.awaits(request) {
            return Some(request.number());
        }
        let is_sent = self.pending.get(request).is_some_and(Call::is_sent);
        self.pending.attempt(request).filter(|_| is_sent)
    }
}
