//! Questions of a server to its client: one vocabulary for legacy requests and multi round-trip requests.

use alloc::boxed::Box;

use crate::json::Json;
use crate::jsonrpc::RpcError;
use crate::machine::InputHandle;
use crate::revision::Method;

/// What a server can ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum InputKind {
    /// The user fills a form or visits a URL (client/elicitation).
    Elicitation,
    /// The client's model completes a conversation (client/sampling).
    Sampling,
    /// The client's roots (client/roots).
    Roots,
}

impl InputKind {
    /// Every kind.
    pub const ALL: [InputKind; 3] = [InputKind::Elicitation, InputKind::Sampling, InputKind::Roots];

    /// The method that asks for it.
    pub const fn method(self) -> Method {
        match self {
            InputKind::Elicitation => Method::ElicitationCreate,
            InputKind::Sampling => Method::SamplingCreateMessage,
            InputKind::Roots => Method::RootsList,
        }
    }

    /// The kind that `method` asks for.
    pub fn from_method(method: Method) -> Option<InputKind> {
        InputKind::ALL.into_iter().find(|kind| kind.method() == method)
    }
}

/// One question as the client's application sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct InputRequest {
    /// Names the question; an answer is given to it.
    pub input: InputHandle,
    /// What is asked for.
    pub kind: InputKind,
    /// The parameters of `elicitation/create`, `sampling/createMessage` or `roots/list`.
    pub params: Option<Json>,
    /// The server's own key for the question, where the revision has one.
    pub key: Option<Box<str>>,
}

/// An answer of the client's application.
#[derive(Clone, Debug, PartialEq)]
pub enum InputResponse {
    /// The text of the result object: `ElicitResult`, `CreateMessageResult` or `ListRootsResult`.
    /// An elicitation that the user declines or dismisses is a result too.
    Result(Json),
    /// It cannot or may not be answered. Legacy servers get this error; from 2026-07-28 the request that
    /// asked ends with [`InputRefused`](crate::client::FailureReason::InputRefused).
    Refused(RpcError),
}

/// One question as the server's application asks it.
#[derive(Clone, Debug, PartialEq)]
pub struct InputQuestion {
    /// A key of the application's choice, unique within the request over all rounds; the answer comes back under it.
    pub key: Box<str>,
    /// What is asked for.
    pub kind: InputKind,
    /// The parameters object.
    pub params: Json,
}

/// One answer as the server's application sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct InputAnswer {
    /// The key of the question.
    pub key: Box<str>,
    /// The result object, or the error of a legacy client that refused.
    pub outcome: Result<Json, RpcError>,
}
