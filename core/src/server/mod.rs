//! The server role.

mod catalog;
mod event;
mod methods;

pub use event::{ClientFailure, CompletionReference, Event, RequestContext, TemplateMatch};

use alloc::vec::Vec;

use crate::config::ServerConfig;
use crate::error::Error;
use crate::jsonrpc::RpcError;
use crate::limits::Limits;
use crate::logging::LogLevel;
use crate::machine::{Input, Machine, RequestHandle, SessionHandle, SubscriptionHandle, Transmit};
use crate::rounds::InputQuestion;
use crate::subscription::Change;
use crate::time::Instant;

/// A server as a state machine over whole messages, serving both eras on one channel.
#[derive(Debug)]
pub struct Server {
    config: ServerConfig,
}

/// A message within a request, dropped unless its client opted in.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Notification<'a> {
    /// How far the request is. Sent if the client gave a progress token.
    Progress {
        /// More than the last time.
        progress: f64,
        /// Where it will end, if known.
        total: Option<f64>,
        /// What is being done. From 2025-03-26.
        message: Option<&'a str>,
    },
    /// A log message. Sent if the client wants this severity.
    Log {
        /// The severity.
        level: LogLevel,
        /// Which part of the server speaks.
        logger: Option<&'a str>,
        /// The text of any JSON value.
        data: &'a str,
    },
    /// A notification of an extension.
    Other {
        /// The method.
        method: &'a str,
        /// The text of an object.
        params: Option<&'a str>,
    },
}

#[allow(unused_variables, reason = "skeleton")]
impl Server {
    /// A server with an empty catalog.
    ///
    /// # Errors
    /// [`NoCommonRevision`](crate::PeerIncompatible::NoCommonRevision) if `config` serves no revision.
    pub fn new(config: ServerConfig) -> Result<Server, Error> {
        todo!()
    }

    /// Registers a tool: the text of a `Tool` object with at least `name` and `inputSchema`. Clients that
    /// watch the list are told.
    ///
    /// # Errors
    /// [`InvalidJson`](crate::ApiMisuse::InvalidJson), [`InvalidDefinition`](crate::ApiMisuse::InvalidDefinition),
    /// [`AlreadyRegistered`](crate::ApiMisuse::AlreadyRegistered).
    pub fn add_tool(&mut self, definition: &str) -> Result<(), Error> {
        todo!()
    }

    /// Removes a tool by name.
    ///
    /// # Errors
    /// [`NotRegistered`](crate::ApiMisuse::NotRegistered).
    pub fn remove_tool(&mut self, name: &str) -> Result<(), Error> {
        todo!()
    }

    /// Registers a resource: the text of a `Resource` object with at least `uri` and `name`.
    ///
    /// # Errors
    /// As [`add_tool`](Self::add_tool).
    pub fn add_resource(&mut self, definition: &str) -> Result<(), Error> {
        todo!()
    }

    /// Removes a resource by URI.
    ///
    /// # Errors
    /// [`NotRegistered`](crate::ApiMisuse::NotRegistered).
    pub fn remove_resource(&mut self, uri: &str) -> Result<(), Error> {
        todo!()
    }

    /// Registers a template: the text of a `ResourceTemplate` object with at least `uriTemplate` and `name`.
    ///
    /// # Errors
    /// As [`add_tool`](Self::add_tool), and [`InvalidTemplate`](crate::ApiMisuse::InvalidTemplate).
    pub fn add_resource_template(&mut self, definition: &str) -> Result<(), Error> {
        todo!()
    }

    /// Removes a template by its `uriTemplate`.
    ///
    /// # Errors
    /// [`NotRegistered`](crate::ApiMisuse::NotRegistered).
    pub fn remove_resource_template(&mut self, template: &str) -> Result<(), Error> {
        todo!()
    }

    /// Registers a prompt: the text of a `Prompt` object with at least `name`.
    ///
    /// # Errors
    /// As [`add_tool`](Self::add_tool).
    pub fn add_prompt(&mut self, definition: &str) -> Result<(), Error> {
        todo!()
    }

    /// Removes a prompt by name.
    ///
    /// # Errors
    /// [`NotRegistered`](crate::ApiMisuse::NotRegistered).
    pub fn remove_prompt(&mut self, name: &str) -> Result<(), Error> {
        todo!()
    }

    /// Answers a request with the text of its result object, written for the newest revision: what the
    /// client's revision must not see is left out or replaced. A request that was cancelled takes the answer
    /// and sends nothing.
    ///
    /// # Errors
    /// [`UnknownRequest`](crate::ApiMisuse::UnknownRequest), [`AlreadyAnswered`](crate::ApiMisuse::AlreadyAnswered),
    /// [`InvalidJson`](crate::ApiMisuse::InvalidJson); the request then still waits for its answer.
    pub fn respond(&mut self, request: RequestHandle, result: &str) -> Result<(), Error> {
        todo!()
    }

    /// Answers a request with an error.
    ///
    /// # Errors
    /// As [`respond`](Self::respond).
    pub fn respond_error(&mut self, request: RequestHandle, error: RpcError) -> Result<(), Error> {
        todo!()
    }

    /// Refuses arguments that do not fit the tool: an error response or an `isError` result, as the client's
    /// revision wants it (server/tools, Error Handling).
    ///
    /// # Errors
    /// As [`respond`](Self::respond).
    pub fn respond_invalid_arguments(&mut self, request: RequestHandle, message: &str) -> Result<(), Error> {
        todo!()
    }

    /// Asks the client something before the request can be answered. The event of the request comes again
    /// with the answers, for the same handle in the legacy era, for a new one from 2026-07-28. `state` is
    /// the text of any JSON value, given back with the event; from 2026-07-28 it travels sealed through the client.
    ///
    /// # Errors
    /// [`InputNotPossible`](crate::ApiMisuse::InputNotPossible) for methods that cannot ask;
    /// [`MissingCapability`](crate::PeerIncompatible::MissingCapability) naming what the client lacks (not fatal here: answer
    /// the request); [`LimitExceeded`](Error::LimitExceeded) for rounds, questions or state; as [`respond`](Self::respond).
    pub fn require_input(
        &mut self,
        now: Instant,
        request: RequestHandle,
        questions: Vec<InputQuestion>,
        state: Option<&str>,
    ) -> Result<(), Error> {
        todo!()
    }

    /// Sends a notification within a request; true if it was sent, false if the client did not opt in or the
    /// request is over.
    ///
    /// # Errors
    /// [`InvalidJson`](crate::ApiMisuse::InvalidJson).
    pub fn notify(&mut self, request: RequestHandle, notification: Notification<'_>) -> Result<bool, Error> {
        todo!()
    }

    /// Logs outside any request, to legacy sessions that want this severity. `data` is the text of any JSON value.
    ///
    /// # Errors
    /// [`InvalidJson`](crate::ApiMisuse::InvalidJson).
    pub fn log(&mut self, level: LogLevel, logger: Option<&str>, data: &str) -> Result<(), Error> {
        todo!()
    }

    /// Tells every client that watches it of a change. Changes of the catalog are published by themselves.
    pub fn publish(&mut self, change: &Change) {
        todo!()
    }

    /// Ends a client's subscription in order.
    ///
    /// # Errors
    /// [`UnknownSubscription`](crate::ApiMisuse::UnknownSubscription).
    pub fn end_subscription(&mut self, subscription: SubscriptionHandle) -> Result<(), Error> {
        todo!()
    }

    /// Sends a request of the server's own to a legacy client; `ResponseReceived` follows.
    ///
    /// # Errors
    /// [`UnknownSession`](crate::ApiMisuse::UnknownSession), [`NotAllowedInRevision`](crate::ApiMisuse::NotAllowedInRevision),
    /// [`CapabilityNotDeclared`](crate::ApiMisuse::CapabilityNotDeclared), [`LimitExceeded`](Error::LimitExceeded).
    pub fn request(
        &mut self,
        now: Instant,
        session: SessionHandle,
        method: &str,
        params: Option<&str>,
    ) -> Result<RequestHandle, Error> {
        todo!()
    }

    /// Ends the connection: subscriptions end in order, what is owed is abandoned, `Disconnected` follows.
    pub fn close(&mut self) {
        todo!()
    }
}

#[allow(unused_variables, reason = "skeleton")]
impl Machine for Server {
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
