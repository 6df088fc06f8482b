//! What a server tells its application.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use crate::error::CloseReason;
use crate::json::Json;
use crate::jsonrpc::{RpcError, Violation};
use crate::logging::LogLevel;
use crate::machine::{ExchangeHandle, RequestHandle, SessionHandle, SubscriptionHandle};
use crate::revision::{Capabilities, Era, Revision};
use crate::rounds::InputAnswer;
use crate::subscription::SubscriptionFilter;

/// Something the application should know. Each request event is answered once, by
/// [`respond`](super::Server::respond), [`respond_error`](super::Server::respond_error) or
/// [`require_input`](super::Server::require_input); after the latter it comes again with the answers.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// A registered tool is called.
    ToolCalled {
        /// The request.
        request: RequestHandle,
        /// The tool.
        name: Box<str>,
        /// The arguments object, not checked against the tool's schema.
        arguments: Option<Json>,
        /// Who asks, and how.
        context: RequestContext,
    },
    /// A resource is read: registered itself, or matched by a registered template.
    ResourceReadRequested {
        /// The request.
        request: RequestHandle,
        /// The URI as the client wrote it.
        uri: Box<str>,
        /// The template that matched, if it was one.
        template: Option<TemplateMatch>,
        /// Who asks, and how.
        context: RequestContext,
    },
    /// A registered prompt is asked for.
    PromptRequested {
        /// The request.
        request: RequestHandle,
        /// The prompt.
        name: Box<str>,
        /// The arguments object: strings by name.
        arguments: Option<Json>,
        /// Who asks, and how.
        context: RequestContext,
    },
    /// Suggestions for an argument are asked for.
    CompletionRequested {
        /// The request.
        request: RequestHandle,
        /// What the argument belongs to.
        reference: CompletionReference,
        /// The argument's name.
        argument: Box<str>,
        /// What the user has typed so far.
        value: Box<str>,
        /// Arguments settled before: an object of strings by name. From 2025-06-18.
        arguments: Option<Json>,
        /// Who asks, and how.
        context: RequestContext,
    },
    /// A method the application asked to see.
    RequestReceived {
        /// The request.
        request: RequestHandle,
        /// The method.
        method: Box<str>,
        /// Its parameters.
        params: Option<Json>,
        /// Who asks, and how.
        context: RequestContext,
    },
    /// The client no longer wants the answer. A late answer is accepted and sends nothing.
    RequestCancelled {
        /// The request.
        request: RequestHandle,
        /// Why, if the client said so.
        reason: Option<Box<str>>,
    },
    /// A client watches something.
    SubscriptionOpened {
        /// The subscription.
        subscription: SubscriptionHandle,
        /// What was agreed to.
        filter: SubscriptionFilter,
    },
    /// A client no longer watches.
    SubscriptionClosed {
        /// The subscription.
        subscription: SubscriptionHandle,
    },
    /// A legacy client has finished its handshake.
    SessionOpened {
        /// The session.
        session: SessionHandle,
        /// The revision spoken in it.
        revision: Revision,
        /// The client's name and version object, if it gave one.
        client: Option<Json>,
        /// What the client declared.
        capabilities: Capabilities,
    },
    /// A legacy session is over.
    SessionClosed {
        /// The session.
        session: SessionHandle,
    },
    /// A request of the server's own ended ([`Server::request`](super::Server::request), legacy only).
    ResponseReceived {
        /// The session.
        session: SessionHandle,
        /// The request.
        request: RequestHandle,
        /// The client's result or error, or why there is none.
        outcome: Result<Json, ClientFailure>,
    },
    /// Any other notification, extensions included.
    NotificationReceived {
        /// The session it came in, where there is one.
        session: Option<SessionHandle>,
        /// The method.
        method: Box<str>,
        /// Its parameters.
        params: Option<Json>,
    },
    /// The peer deviated from the protocol in a way that did not matter.
    ViolationTolerated {
        /// What was wrong.
        violation: Violation,
        /// The request it concerns, if any.
        request: Option<RequestHandle>,
        /// The message as it arrived.
        bytes: Box<[u8]>,
    },
    /// The peer sent something unusable; the connection goes on.
    MessageDiscarded {
        /// What was wrong.
        violation: Violation,
        /// The bytes as they arrived, or their head up to the limit; none if there was no room for them.
        bytes: Box<[u8]>,
    },
    /// The end of input was reached, and every owed answer was given or the time for it passed.
    Drained {
        /// Requests that were never answered.
        abandoned: Vec<RequestHandle>,
    },
    /// The last event.
    Disconnected {
        /// Why.
        reason: CloseReason,
    },
}

/// Why a request of the server to a legacy client has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ClientFailure {
    /// The client answered with an error.
    Rpc(RpcError),
    /// No answer in time.
    TimedOut,
    /// The connection or session ended first.
    ConnectionLost,
    /// The answer is malformed.
    InvalidResult(Violation),
}

impl ClientFailure {
    /// The number of this end, the same in every language and role (see `client::FailureReason::code`), or the
    /// code of the error that the client answered.
    pub const fn code(&self) -> i64 {
        match self {
            ClientFailure::Rpc(error) => error.code,
            ClientFailure::TimedOut => 601,
            ClientFailure::ConnectionLost => 603,
            ClientFailure::InvalidResult(_) => 604,
        }
    }
}

impl fmt::Display for ClientFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ClientFailure::Rpc(error) => error.fmt(f),
            ClientFailure::TimedOut => f.write_str("no answer came in time"),
            ClientFailure::ConnectionLost => f.write_str("the connection ended before the answer came"),
            ClientFailure::InvalidResult(violation) => write!(f, "the answer is not usable: {violation}"),
        }
    }
}

/// A template and what its variables stand for in a URI.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateMatch {
    /// The template as registered.
    pub template: Arc<str>,
    /// Variables in the template's order, percent-decoded.
    pub variables: Vec<(Box<str>, Box<str>)>,
}

/// What a completion is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CompletionReference {
    /// A prompt, by name.
    Prompt(Box<str>),
    /// A resource template, or the URI of a resource.
    Resource(Box<str>),
}

/// Who sent a request, and what came with it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RequestContext {
    /// The revision that governs this request.
    pub revision: Revision,
    /// The client's name and version object, if it gave one. It identifies nobody.
    pub client: Option<Json>,
    /// What the client declared: for its session, or with this very request.
    pub capabilities: Arc<Capabilities>,
    /// The least severity of log messages the client wants; `None`: no log messages.
    pub log_level: Option<LogLevel>,
    /// The token to report progress under, as JSON; `None`: no progress is wanted.
    pub progress_token: Option<Json>,
    /// The `_meta` object of the request: trace context, extensions.
    pub meta: Option<Json>,
    /// The session, in the legacy era.
    pub session: Option<SessionHandle>,
    /// The HTTP exchange that carries the request.
    pub exchange: Option<ExchangeHandle>,
    /// Who the host says the client is.
    pub principal: Option<Arc<str>>,
    /// Answers to questions of this request, from all rounds. Before the first round, those that the client gave
    /// ahead, under whatever keys it chose (basic/patterns/mrtr).
    pub input_answers: Vec<InputAnswer>,
    /// What the application kept with its last question.
    pub state: Option<Json>,
    /// How many times this request has asked before.
    pub round: u32,
}

impl RequestContext {
    /// The era of the revision.
    pub const fn era(&self) -> Era {
        self.revision.era()
    }
}
