//! Events of both roles as Python classes.

use std::sync::Arc;

use barewire::client::{self, DisconnectReason, FailureReason};
use barewire::server::{self, ClientFailure, CompletionReference};
use barewire::transport::http::server::HttpServerEvent;
use barewire::{
    CacheScope, Capabilities, ExchangeHandle, InputHandle, Json, ListKind, LogLevel, RequestHandle, Revision,
    SessionHandle, SubscriptionFilter, SubscriptionHandle, Violation,
};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::convert;
use crate::values::RequestContext;

records! {
    /// Any other notification, those of extensions included.
    NotificationReceived { session: Option<SessionHandle>, method: Box<str>, params: Option<Json> }
    /// The peer deviated from the protocol in a way that did not matter.
    ViolationTolerated { violation: Violation, request: Option<RequestHandle>, bytes: Box<[u8]> }
    /// The peer sent something unusable; the connection goes on.
    MessageDiscarded { violation: Violation, bytes: Box<[u8]> }
    /// The last event.
    Disconnected { reason: DisconnectReason }

    /// The revision is settled; queued requests go out.
    Ready {
        revision: Revision,
        server: Option<Json>,
        capabilities: Capabilities,
        instructions: Option<Box<str>>,
    } + {
        /// Whether the server declared the capability, for example `"resources.subscribe"`.
        fn has_capability(&self, path: &str) -> PyResult<bool> {
            convert::has_capability(&self.capabilities, path)
        }
    }
    /// The session was lost, and a new one is there.
    SessionReplaced {
        revision: Revision,
        server: Option<Json>,
        capabilities: Capabilities,
        instructions: Option<Box<str>>,
    } + {
        /// Whether the server declared the capability, for example `"resources.subscribe"`.
        fn has_capability(&self, path: &str) -> PyResult<bool> {
            convert::has_capability(&self.capabilities, path)
        }
    }
    /// Start the server afresh and call `Client.restart`.
    RestartRequired {}
    /// A request of ours ended with an answer.
    ResponseReceived {
        request: RequestHandle,
        result: Option<Json>,
        ttl_ms: Option<u64>,
        cache_scope: Option<&'static str>,
        error: Option<ClientFailure>,
    }
    /// A request of ours ended without a result.
    RequestFailed { request: RequestHandle, error: FailureReason }
    /// The server asks something.
    InputRequired { request: Option<RequestHandle>, inputs: Vec<barewire::InputRequest>, round: u32 }
    /// A question no longer stands.
    InputWithdrawn { input: InputHandle }
    /// A tool was left out of the list that a request asked for.
    ToolOmitted {
        request: RequestHandle,
        index: usize,
        name: Option<Box<str>>,
        path: Box<str>,
        reason: Box<str>,
    }
    /// A request reports progress.
    ProgressReceived {
        request: RequestHandle,
        progress: f64,
        total: Option<f64>,
        message: Option<Box<str>>,
        increasing: bool,
    }
    /// The server logs something.
    LogReceived {
        request: Option<RequestHandle>,
        level: Option<LogLevel>,
        logger: Option<Box<str>>,
        data: Json,
    }
    /// A subscription is in force.
    SubscriptionAcknowledged { subscription: SubscriptionHandle, honoured: SubscriptionFilter }
    /// A subscription is over.
    SubscriptionEnded { subscription: SubscriptionHandle, graceful: bool }
    /// A list of the server changed.
    ListChanged { kind: ListKind, subscription: Option<SubscriptionHandle> }
    /// A resource changed.
    ResourceUpdated { uri: Box<str>, subscription: Option<SubscriptionHandle> }

    /// A registered tool is called.
    ToolCalled {
        request: RequestHandle,
        name: Box<str>,
        arguments: Option<Json>,
        context: Py<RequestContext>,
    }
    /// A resource is read.
    ResourceReadRequested {
        request: RequestHandle,
        uri: Box<str>,
        template: Option<Arc<str>>,
        variables: Vec<(Box<str>, Box<str>)>,
        context: Py<RequestContext>,
    }
    /// A registered prompt is asked for.
    PromptRequested {
        request: RequestHandle,
        name: Box<str>,
        arguments: Option<Json>,
        context: Py<RequestContext>,
    }
    /// Suggestions for an argument are asked for.
    CompletionRequested {
        request: RequestHandle,
        prompt: Option<Box<str>>,
        resource: Option<Box<str>>,
        argument: Box<str>,
        value: Box<str>,
        arguments: Option<Json>,
        context: Py<RequestContext>,
    }
    /// A method that the application asked to see.
    RequestReceived {
        request: RequestHandle,
        method: Box<str>,
        params: Option<Json>,
        context: Py<RequestContext>,
    }
    /// The client no longer wants the answer.
    RequestCancelled { request: RequestHandle, reason: Option<Box<str>> }
    /// A client watches something.
    SubscriptionOpened { subscription: SubscriptionHandle, filter: SubscriptionFilter }
    /// A client no longer watches.
    SubscriptionClosed { subscription: SubscriptionHandle }
    /// A legacy client has finished its handshake.
    SessionOpened {
        session: SessionHandle,
        revision: Revision,
        client: Option<Json>,
        capabilities: Capabilities,
    } + {
        /// Whether the client declared the capability, for example `"sampling.tools"`.
        fn has_capability(&self, path: &str) -> PyResult<bool> {
            convert::has_capability(&self.capabilities, path)
        }
    }
    /// A legacy session is over.
    SessionClosed { session: SessionHandle }
    /// The end of input was reached, and every owed answer was given or the time for it passed.
    Drained { abandoned: Vec<RequestHandle> }

    /// A session that is not known here is asked for.
    SessionRequested { exchange: ExchangeHandle, id: Box<str> }
    /// A session has got its id.
    SessionNamed { session: SessionHandle, id: Box<str> }
    /// An event of a stream is to be kept.
    EventAppended { session: SessionHandle, stream: Box<str>, id: Box<str>, data: String }
    /// A client wants the events after one of a stream.
    ReplayRequested { exchange: ExchangeHandle, session: SessionHandle, stream: Box<str>, after: Box<str> }
    /// Nobody will ask for the streams of a session any more.
    StreamsForgotten { session: SessionHandle }
}

/// An event of the core that has a Python class.
pub(crate) trait IntoEvent {
    fn into_event(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>>;
}

/// Makes the object of an event: its class and members by name.
macro_rules! event {
    ($py:ident, $name:ident { $($member:tt)* }) => {
        Bound::new($py, $name { $($member)* }).map(Bound::into_any)
    };
}

fn context(py: Python<'_>, context: server::RequestContext) -> PyResult<Py<RequestContext>> {
    Py::new(py, RequestContext::from(context))
}

/// The core marks its events as open for more; a variant without a class here is a defect of this module.
fn unknown<'py>() -> PyResult<Bound<'py, PyAny>> {
    Err(PyRuntimeError::new_err("an event without a Python class"))
}

impl IntoEvent for client::Event {
    fn into_event(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        use client::Event;
        match self {
            Event::ResponseReceived { request, result, freshness } => {
                let ttl_ms = freshness.map(|freshness| freshness.ttl_ms);
                let cache_scope = freshness.map(|freshness| CacheScope::as_str(freshness.scope));
                let result = Some(result);
                event!(py, ResponseReceived { request, result, ttl_ms, cache_scope, error: None })
            }
            Event::RequestFailed { request, reason } => {
                event!(py, RequestFailed { request, error: reason })
            }
            Event::ProgressReceived { request, progress, total, message, increasing } => {
                event!(py, ProgressReceived { request, progress, total, message, increasing })
            }
            Event::LogReceived { request, level, logger, data } => {
                event!(py, LogReceived { request, level, logger, data })
            }
            Event::InputRequired { request, inputs, round } => {
                event!(py, InputRequired { request, inputs, round })
            }
            Event::InputWithdrawn { input } => event!(py, InputWithdrawn { input }),
            Event::Ready { revision, server, capabilities, instructions } => {
                event!(py, Ready { revision, server, capabilities, instructions })
            }
            Event::SessionReplaced { revision, server, capabilities, instructions } => {
                event!(py, SessionReplaced { revision, server, capabilities, instructions })
            }
            Event::RestartRequired => event!(py, RestartRequired {}),
            Event::SubscriptionAcknowledged { subscription, honoured } => {
                event!(py, SubscriptionAcknowledged { subscription, honoured })
            }
            Event::SubscriptionEnded { subscription, graceful } => {
                event!(py, SubscriptionEnded { subscription, graceful })
            }
            Event::ToolOmitted { request, index, name, path, reason } => {
                event!(py, ToolOmitted { request, index, name, path, reason })
            }
            Event::ListChanged { kind, subscription } => event!(py, ListChanged { kind, subscription }),
            Event::ResourceUpdated { uri, subscription } => {
                event!(py, ResourceUpdated { uri, subscription })
            }
            Event::NotificationReceived { method, params } => {
                event!(py, NotificationReceived { session: None, method, params })
            }
            Event::ViolationTolerated { violation, request, bytes } => {
                event!(py, ViolationTolerated { violation, request, bytes })
            }
            Event::MessageDiscarded { violation, bytes } => {
                event!(py, MessageDiscarded { violation, bytes })
            }
            Event::Disconnected { reason } => event!(py, Disconnected { reason }),
            _ => unknown(),
        }
    }
}

impl IntoEvent for server::Event {
    fn into_event(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        use server::Event;
        match self {
            Event::ToolCalled { request, name, arguments, context: from } => {
                let context = context(py, from)?;
                event!(py, ToolCalled { request, name, arguments, context })
            }
            Event::ResourceReadRequested { request, uri, template, context: from } => {
                let context = context(py, from)?;
                let (template, variables) = match template {
                    Some(matched) => (Some(matched.template), matched.variables),
                    None => (None, Vec::new()),
                };
                event!(py, ResourceReadRequested { request, uri, template, variables, context })
            }
            Event::PromptRequested { request, name, arguments, context: from } => {
                let context = context(py, from)?;
                event!(py, PromptRequested { request, name, arguments, context })
            }
            Event::CompletionRequested { request, reference, argument, value, arguments, context: from } => {
                let context = context(py, from)?;
                let (prompt, resource) = match reference {
                    CompletionReference::Prompt(name) => (Some(name), None),
                    CompletionReference::Resource(uri) => (None, Some(uri)),
                };
                event!(
                    py,
                    CompletionRequested { request, prompt, resource, argument, value, arguments, context }
                )
            }
            Event::RequestReceived { request, method, params, context: from } => {
                let context = context(py, from)?;
                event!(py, RequestReceived { request, method, params, context })
            }
            Event::RequestCancelled { request, reason } => {
                event!(py, RequestCancelled { request, reason })
            }
            Event::SubscriptionOpened { subscription, filter } => {
                event!(py, SubscriptionOpened { subscription, filter })
            }
            Event::SubscriptionClosed { subscription } => event!(py, SubscriptionClosed { subscription }),
            Event::SessionOpened { session, revision, client, capabilities } => {
                event!(py, SessionOpened { session, revision, client, capabilities })
            }
            Event::SessionClosed { session } => event!(py, SessionClosed { session }),
            Event::ResponseReceived { request, outcome, .. } => {
                let (result, error) = match outcome {
                    Ok(result) => (Some(result), None),
                    Err(failure) => (None, Some(failure)),
                };
                event!(py, ResponseReceived { request, result, ttl_ms: None, cache_scope: None, error })
            }
            Event::NotificationReceived { session, method, params } => {
                event!(py, NotificationReceived { session, method, params })
            }
            Event::ViolationTolerated { violation, request, bytes } => {
                event!(py, ViolationTolerated { violation, request, bytes })
            }
            Event::MessageDiscarded { violation, bytes } => {
                event!(py, MessageDiscarded { violation, bytes })
            }
            Event::Drained { abandoned } => event!(py, Drained { abandoned }),
            Event::Disconnected { reason } => {
                event!(py, Disconnected { reason: DisconnectReason::Closed(reason) })
            }
            _ => unknown(),
        }
    }
}

impl IntoEvent for HttpServerEvent {
    fn into_event(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        match self {
            HttpServerEvent::SessionRequested { exchange, id } => {
                event!(py, SessionRequested { exchange, id })
            }
            HttpServerEvent::SessionNamed { session, id } => event!(py, SessionNamed { session, id }),
            HttpServerEvent::EventAppended { session, stream, id, data } => {
                event!(py, EventAppended { session, stream, id, data })
            }
            HttpServerEvent::ReplayRequested { exchange, session, stream, after } => {
                event!(py, ReplayRequested { exchange, session, stream, after })
            }
            HttpServerEvent::StreamsForgotten { session } => event!(py, StreamsForgotten { session }),
            _ => unknown(),
        }
    }
}
