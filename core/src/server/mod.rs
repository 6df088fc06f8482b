//! The server role.
//!
//! | module | holds |
//! |---|---|
//! | `intake` | what arrives |
//! | `source`, `routing` | where a message came from; which era and session it belongs to (pure) |
//! | `ladder`, `headers` | the checks of a modern request, and of the HTTP headers that repeat it (pure) |
//! | `modern`, `legacy` | what each era has of its own: discovery; handshake, requests to the client |
//! | `sessions` | legacy sessions, for as long as they last and in other processes |
//! | `calls` | what both eras share: lists, calls, reads, prompts, completions |
//! | `in_flight`, `answers` | requests that wait, and how their answers go out |
//! | `rounds` | questions to the client, one way for both eras |
//! | `subscriptions`, `notices` | what is told unasked, and within a request |
//! | `ending` | end of input, draining, closing |

mod answers;
mod calls;
mod catalog;
mod ending;
mod event;
mod headers;
mod in_flight;
mod intake;
mod ladder;
mod legacy;
mod methods;
mod modern;
mod notices;
mod refusal;
mod room;
mod rounds;
mod routing;
mod sessions;
mod source;
mod subscriptions;
mod text;

#[cfg(test)]
mod tests;

pub use event::{ClientFailure, CompletionReference, Event, RequestContext, TemplateMatch};

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;

use crate::config::ServerConfig;
use crate::error::{ApiMisuse, Error, PeerIncompatible};
use crate::jsonrpc::RpcError;
use crate::logging::LogLevel;
use crate::machine::{RequestHandle, SessionHandle, SubscriptionHandle};
use crate::memory::LastLong;
use crate::pending::Pending;
use crate::queues::Queues;
use crate::request_state::RequestStateKeys;
use crate::revision::meta::are_extensions;
use crate::revision::{Capabilities, Capability, Revision, one_line};
use crate::rounds::InputQuestion;
use crate::seed::Generator;
use crate::subscription::{Change, ListKind};
use crate::time::Instant;

use answers::Batches;
use catalog::Catalog;
use ending::Phase;
use in_flight::InFlightTable;
use legacy::Outbound;
use modern::ClientCache;
use sessions::Sessions;
use subscriptions::Subscriptions;

/// A server as a state machine over whole messages, serving both eras: one client on a byte stream, or many on HTTP.
#[derive(Debug)]
pub struct Server {
    config: ServerConfig,
    catalog: Catalog,
    /// What is declared: it grows with the catalog and never shrinks, because clients remember it.
    offered: Capabilities,
    queues: Queues<Event>,
    /// The latest time seen.
    now: Instant,
    phase: Phase,
    in_flight: InFlightTable,
    /// While many requests run and none ends, intake resumes at this time.
    stalled_at: Instant,
    batches: Batches,
    sessions: Sessions,
    /// Requests to legacy clients. Its counter numbers every handle of this server.
    outbound: Pending<Outbound>,
    subscriptions: Subscriptions,
    state_keys: RequestStateKeys,
    nonces: Generator,
    /// The `Implementation` object for modern results.
    identity: String,
    client_cache: ClientCache,
    /// Events were dropped since the queue was last below its bound.
    overflowed: bool,
    last_long: LastLong,
}

/// A message within a request, dropped unless its client opted in and still reads what it is sent.
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

impl Server {
    /// A server with an empty catalog.
    ///
    /// # Errors
    /// [`NoCommonRevision`](crate::PeerIncompatible::NoCommonRevision) if `config` serves no revision;
    /// [`InvalidDefinition`](crate::ApiMisuse::InvalidDefinition) if an extension is not named `prefix/name`.
    pub fn new(config: ServerConfig) -> Result<Server, Error> {
        if config.revisions.is_empty() {
            let reason = PeerIncompatible::NoCommonRevision { ours: Vec::new(), theirs: Vec::new() };
            return Err(Error::PeerIncompatible(reason));
        }
        if config.extensions.as_ref().is_some_and(|extensions| !are_extensions(extensions.as_str())) {
            return Err(ApiMisuse::InvalidDefinition("extensions").into());
        }
        let mut offered = Capabilities::default();
        if config.logging {
            offered.insert(Capability::Logging);
        }
        if config.completions {
            offered.insert(Capability::Completions);
        }
        Ok(Server {
            catalog: Catalog::default(),
            offered,
            queues: Queues::new(&config.limits),
            now: Instant::ZERO,
            phase: Phase::Open,
            in_flight: InFlightTable::default(),
            stalled_at: Instant::ZERO,
            batches: Batches::default(),
            sessions: Sessions::default(),
            outbound: Pending::new(config.limits.requests_in_flight),
            subscriptions: Subscriptions::default(),
            state_keys: rounds::keys(&config),
            nonces: Generator::new(&config.seed, "requestState nonce"),
            identity: one_line(&config.implementation.to_json(Revision::V2026_07_28)).into_owned(),
            client_cache: ClientCache::default(),
            overflowed: false,
            last_long: LastLong::default(),
            config,
        })
    }

    /// Registers a tool: the text of a `Tool` object with at least `name` and `inputSchema`. Clients that
    /// watch the list are told. Schemas are written in JSON Schema 2020-12, or in draft-07 if `$schema` says so.
    ///
    /// # Errors
    /// [`InvalidJson`](crate::ApiMisuse::InvalidJson), [`InvalidDefinition`](crate::ApiMisuse::InvalidDefinition),
    /// [`AlreadyRegistered`](crate::ApiMisuse::AlreadyRegistered).
    pub fn add_tool(&mut self, definition: &str) -> Result<(), Error> {
        self.catalog.add_tool(definition)?;
        self.list_changed(ListKind::Tools);
        Ok(())
    }

    /// Removes a tool by name.
    ///
    /// # Errors
    /// [`NotRegistered`](crate::ApiMisuse::NotRegistered).
    pub fn remove_tool(&mut self, name: &str) -> Result<(), Error> {
        self.catalog.remove_tool(name)?;
        self.list_changed(ListKind::Tools);
        Ok(())
    }

    /// Registers a resource: the text of a `Resource` object with at least `uri` and `name`.
    ///
    /// # Errors
    /// As [`add_tool`](Self::add_tool).
    pub fn add_resource(&mut self, definition: &str) -> Result<(), Error> {
        self.catalog.add_resource(definition)?;
        self.list_changed(ListKind::Resources);
        Ok(())
    }

    /// Removes a resource by URI.
    ///
    /// # Errors
    /// [`NotRegistered`](crate::ApiMisuse::NotRegistered).
    pub fn remove_resource(&mut self, uri: &str) -> Result<(), Error> {
        self.catalog.remove_resource(uri)?;
        self.list_changed(ListKind::Resources);
        Ok(())
    }

    /// Registers a template: the text of a `ResourceTemplate` object with at least `uriTemplate` and `name`.
    ///
    /// # Errors
    /// As [`add_tool`](Self::add_tool), and [`InvalidTemplate`](crate::ApiMisuse::InvalidTemplate).
    pub fn add_resource_template(&mut self, definition: &str) -> Result<(), Error> {
        self.catalog.add_resource_template(definition)?;
        self.list_changed(ListKind::Resources);
        Ok(())
    }

    /// Removes a template by its `uriTemplate`.
    ///
    /// # Errors
    /// [`NotRegistered`](crate::ApiMisuse::NotRegistered).
    pub fn remove_resource_template(&mut self, template: &str) -> Result<(), Error> {
        self.catalog.remove_resource_template(template)?;
        self.list_changed(ListKind::Resources);
        Ok(())
    }

    /// Registers a prompt: the text of a `Prompt` object with at least `name`.
    ///
    /// # Errors
    /// As [`add_tool`](Self::add_tool).
    pub fn add_prompt(&mut self, definition: &str) -> Result<(), Error> {
        self.catalog.add_prompt(definition)?;
        self.list_changed(ListKind::Prompts);
        Ok(())
    }

    /// Removes a prompt by name.
    ///
    /// # Errors
    /// [`NotRegistered`](crate::ApiMisuse::NotRegistered).
    pub fn remove_prompt(&mut self, name: &str) -> Result<(), Error> {
        self.catalog.remove_prompt(name)?;
        self.list_changed(ListKind::Prompts);
        Ok(())
    }

    /// Answers a request with the text of its result object, written for the newest revision: what the
    /// client's revision must not see is left out or replaced. A request that was cancelled takes the answer
    /// and sends nothing. A large result is best given away, as a `String` with some room to spare: it then
    /// becomes the message instead of being copied into one.
    ///
    /// # Errors
    /// [`UnknownRequest`](crate::ApiMisuse::UnknownRequest), [`AlreadyAnswered`](crate::ApiMisuse::AlreadyAnswered),
    /// [`InvalidJson`](crate::ApiMisuse::InvalidJson), and the request then still waits for its answer;
    /// [`Closed`](Error::Closed) after the end.
    pub fn respond<'a>(
        &mut self,
        request: RequestHandle,
        result: impl Into<Cow<'a, str>>,
    ) -> Result<(), Error> {
        self.answer(request, result.into())
    }

    /// Answers a request with an error.
    ///
    /// # Errors
    /// As [`respond`](Self::respond); [`InvalidDefinition`](crate::ApiMisuse::InvalidDefinition) if the error asks for
    /// visits to URLs and its data does not list them.
    pub fn respond_error(&mut self, request: RequestHandle, error: RpcError) -> Result<(), Error> {
        self.answer_error(request, error)
    }

    /// Refuses arguments that do not fit the tool: an error response or an `isError` result, as the client's
    /// revision wants it (server/tools, Error Handling).
    ///
    /// # Errors
    /// As [`respond`](Self::respond).
    pub fn respond_invalid_arguments(&mut self, request: RequestHandle, message: &str) -> Result<(), Error> {
        self.answer_invalid_arguments(request, message)
    }

    /// Asks the client something before the request can be answered. The event of the request comes again
    /// with the answers, for the same handle in the legacy era, for a new one from 2026-07-28. `state` is
    /// the text of any JSON value, given back with the event; from 2026-07-28 it travels sealed through the client.
    /// A sealed state is good for the same request until it expires, also a second time: what must happen once
    /// has to be guarded by the application.
    ///
    /// # Errors
    /// [`InputNotPossible`](crate::ApiMisuse::InputNotPossible) for methods that cannot ask, and for legacy clients that take no
    /// stream as the response;
    /// [`MissingCapability`](crate::PeerIncompatible::MissingCapability) naming what the client lacks (not fatal here: answer
    /// the request); [`LimitExceeded`](Error::LimitExceeded) for rounds, questions or state; as [`respond`](Self::respond).
    pub fn require_input(
        &mut self,
        now: Instant,
        request: RequestHandle,
        questions: Vec<InputQuestion>,
        state: Option<&str>,
    ) -> Result<(), Error> {
        self.advance(now);
        self.ask(request, questions, state)
    }

    /// Sends a notification within a request; true if it was sent, false if the client did not opt in, the
    /// request is over, progress is not more than the last time, or the client has stopped reading.
    ///
    /// # Errors
    /// [`InvalidJson`](crate::ApiMisuse::InvalidJson).
    pub fn notify(&mut self, request: RequestHandle, notification: Notification<'_>) -> Result<bool, Error> {
        self.notify_within(request, notification)
    }

    /// Logs outside any request, to legacy sessions that want this severity. `data` is the text of any JSON value.
    ///
    /// # Errors
    /// [`InvalidJson`](crate::ApiMisuse::InvalidJson).
    pub fn log(&mut self, level: LogLevel, logger: Option<&str>, data: &str) -> Result<(), Error> {
        self.log_alone(level, logger, data)
    }

    /// Tells every client that watches it of a change. Changes of the catalog are published by themselves. A
    /// list that changes often is told once, when [`poll_transmit`](crate::Machine::poll_transmit) is next called.
    pub fn publish(&mut self, change: &Change) {
        self.fan_out(change);
    }

    /// Ends a client's subscription in order; `SubscriptionClosed` follows.
    ///
    /// # Errors
    /// [`UnknownSubscription`](crate::ApiMisuse::UnknownSubscription).
    pub fn end_subscription(&mut self, subscription: SubscriptionHandle) -> Result<(), Error> {
        self.check_open()?;
        self.end_in_order(subscription)
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
        self.advance(now);
        self.request_client(session, method, params)
    }

    /// A legacy session as text that [`import_session`](Self::import_session) takes in another process: what was
    /// negotiated, the log level and the watched resources. Requests in flight are not part of it. The text is
    /// not secret, but whoever can change it decides what the client is taken to have declared: keep it where
    /// clients cannot write.
    ///
    /// # Errors
    /// [`UnknownSession`](crate::ApiMisuse::UnknownSession).
    pub fn export_session(&self, session: SessionHandle) -> Result<String, Error> {
        self.session_text(session)
    }

    /// Goes on with a session that [`export_session`](Self::export_session) wrote: one of many on HTTP, the only one on
    /// a byte stream.
    /// `SessionOpened` and `SubscriptionOpened` follow as if the client had just done it all again.
    ///
    /// # Errors
    /// [`InvalidJson`](crate::ApiMisuse::InvalidJson) if the text is not of this version,
    /// [`NotAllowedInRevision`](crate::ApiMisuse::NotAllowedInRevision) if its revision is not served,
    /// [`AlreadyRegistered`](crate::ApiMisuse::AlreadyRegistered) if the byte stream has a session,
    /// [`LimitExceeded`](Error::LimitExceeded) if there are too many sessions or it watches too much. Nothing has changed then.
    pub fn import_session(&mut self, text: &str) -> Result<SessionHandle, Error> {
        self.restore_session(text)
    }

    /// Ends a legacy session of HTTP: whatever is in flight in it is cancelled, `SessionClosed` follows, and its client gets
    /// to know when it names the session again. On a byte stream the session ends with the connection.
    ///
    /// # Errors
    /// [`UnknownSession`](crate::ApiMisuse::UnknownSession).
    pub fn end_session(&mut self, session: SessionHandle) -> Result<(), Error> {
        self.end_session_by_us(session)
    }

    /// Ends the connection: subscriptions end in order, what is owed is abandoned with `RequestCancelled` for
    /// each request, `Disconnected` follows.
    pub fn close(&mut self) {
        self.close_by_us();
    }
}
