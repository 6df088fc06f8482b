//! The client role.

mod event;
mod methods;

pub use event::{DisconnectReason, Event, FailureReason};
pub use methods::{Completion, CompletionReference, Listing};

use crate::config::ClientConfig;
use crate::error::Error;
use crate::json::Json;
use crate::limits::Limits;
use crate::logging::LogLevel;
use crate::machine::{Input, InputHandle, Machine, RequestHandle, SubscriptionHandle, Transmit};
use crate::revision::{Capabilities, EraVerdict, Revision};
use crate::rounds::InputResponse;
use crate::subscription::SubscriptionFilter;
use crate::time::Instant;

/// A client as a state machine over whole messages.
#[derive(Debug)]
pub struct Client {
    config: ClientConfig,
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

#[allow(unused_variables, reason = "skeleton")]
impl Client {
    /// A client that starts to connect at once: the probe or handshake waits to be sent.
    ///
    /// # Errors
    /// [`NoCommonRevision`](crate::PeerIncompatible::NoCommonRevision) if `config` allows no revision.
    pub fn new(config: ClientConfig, now: Instant) -> Result<Client, Error> {
        todo!()
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
        todo!()
    }

    /// Gives up a request: it fails at once with `Cancelled`, the server is told as its revision wants, and a
    /// late answer is dropped.
    ///
    /// # Errors
    /// [`UnknownRequest`](crate::ApiMisuse::UnknownRequest) if it has ended.
    pub fn cancel(&mut self, request: RequestHandle, reason: Option<&str>) -> Result<(), Error> {
        todo!()
    }

    /// Answers a question of the server.
    ///
    /// # Errors
    /// [`UnknownInput`](crate::ApiMisuse::UnknownInput) if it no longer stands; [`InvalidJson`](crate::ApiMisuse::InvalidJson)
    /// if the result is no object.
    pub fn provide_input(
        &mut self,
        now: Instant,
        input: InputHandle,
        response: InputResponse,
    ) -> Result<(), Error> {
        todo!()
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
        todo!()
    }

    /// Ends a subscription; `SubscriptionEnded` follows.
    ///
    /// # Errors
    /// [`UnknownSubscription`](crate::ApiMisuse::UnknownSubscription) if it has ended.
    pub fn unsubscribe(&mut self, now: Instant, subscription: SubscriptionHandle) -> Result<(), Error> {
        todo!()
    }

    /// Sets the least severity of log messages wanted. In the legacy era a request goes out; from 2026-07-28
    /// later requests carry the level, and the handle returned is answered at once with an empty result.
    ///
    /// # Errors
    /// As [`request`](Self::request).
    pub fn set_log_level(&mut self, now: Instant, level: LogLevel) -> Result<RequestHandle, Error> {
        todo!()
    }

    /// Sends a notification, or queues it until the connection is ready. `params` is the text of an object.
    ///
    /// # Errors
    /// As [`request`](Self::request).
    pub fn notify(&mut self, method: &str, params: Option<&str>) -> Result<(), Error> {
        todo!()
    }

    /// Ends the connection in order: what is in flight fails with `ConnectionLost`, questions are withdrawn, `Disconnected` follows.
    pub fn close(&mut self) {
        todo!()
    }

    /// The settled revision.
    pub fn revision(&self) -> Option<Revision> {
        todo!()
    }

    /// What the server declared, once that is known.
    pub fn server_capabilities(&self) -> Option<&Capabilities> {
        todo!()
    }

    /// What to store so that the next connection to this server skips the probe, once that is known.
    pub fn era_verdict(&self) -> Option<EraVerdict> {
        todo!()
    }
}

#[allow(unused_variables, reason = "skeleton")]
impl Machine for Client {
    type Event = Event;

    fn handle_input(&mut self, now: Instant, input: Input<'_>) -> Result<(), Error> {
        todo!()
    }

    fn handle_timeout(&mut self, now: Instant) {
        todo!()
    }

    fn poll_transmit(&mut self) -> Option<Transmit> {
        todo!()
    }

    fn poll_event(&mut self) -> Option<Event> {
        todo!()
    }

    fn poll_timeout(&self) -> Option<Instant> {
        todo!()
    }

    fn wants_input(&self) -> bool {
        todo!()
    }

    fn limits(&self) -> &Limits {
        &self.config.limits
    }
}
