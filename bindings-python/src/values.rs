//! What events are made of.

use std::sync::Arc;

use barewire::{
    Capabilities, Era, ExchangeHandle, InputHandle, InputKind, Json, LogLevel, Revision, SessionHandle,
    server,
};
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::convert::{self, ToPython};
use crate::record;

records! {
    /// A JSON-RPC error object as it stands on the wire.
    RpcErrorValue { code: i64, message: Box<str>, data: Option<Json> }

    /// A question of the server, as the client sees it.
    InputRequest { input: InputHandle, kind: InputKind, params: Option<Json>, key: Option<Box<str>> }

    /// An answer of the client, as the server sees it: `result` or `error`.
    InputAnswer { key: Box<str>, result: Option<Json>, error: Option<barewire::RpcError> }

    /// Who sent a request, and what came with it.
    RequestContext {
        revision: Revision,
        era: &'static str,
        client: Option<Json>,
        capabilities: Arc<Capabilities>,
        log_level: Option<LogLevel>,
        wants_progress: bool,
        progress_token: Option<Json>,
        meta: Option<Json>,
        session: Option<SessionHandle>,
        exchange: Option<ExchangeHandle>,
        principal: Option<Arc<str>>,
        input_answers: Vec<barewire::InputAnswer>,
        state: Option<Json>,
        round: u32,
    } + {
        /// Whether the client declared the capability, for example `"sampling.tools"`.
        fn has_capability(&self, path: &str) -> PyResult<bool> {
            convert::has_capability(&self.capabilities, path)
        }
    }
}

impl From<barewire::RpcError> for RpcErrorValue {
    fn from(error: barewire::RpcError) -> Self {
        RpcErrorValue { code: error.code, message: error.message, data: error.data }
    }
}

impl From<barewire::InputRequest> for InputRequest {
    fn from(question: barewire::InputRequest) -> Self {
        let barewire::InputRequest { input, kind, params, key } = question;
        InputRequest { input, kind, params, key }
    }
}

impl From<barewire::InputAnswer> for InputAnswer {
    fn from(answer: barewire::InputAnswer) -> Self {
        let (result, error) = match answer.outcome {
            Ok(result) => (Some(result), None),
            Err(error) => (None, Some(error)),
        };
        InputAnswer { key: answer.key, result, error }
    }
}

impl From<server::RequestContext> for RequestContext {
    fn from(context: server::RequestContext) -> Self {
        RequestContext {
            revision: context.revision,
            era: match context.era() {
                Era::Legacy => "legacy",
                Era::Modern => "modern",
            },
            client: context.client,
            capabilities: context.capabilities,
            log_level: context.log_level,
            wants_progress: context.progress_token.is_some(),
            progress_token: context.progress_token,
            meta: context.meta,
            session: context.session,
            exchange: context.exchange,
            principal: context.principal,
            input_answers: context.input_answers,
            state: context.state,
            round: context.round,
        }
    }
}

/// What a subscription is about.
#[pyclass(frozen, module = "barewire._native")]
pub(crate) struct SubscriptionFilter(pub(crate) barewire::SubscriptionFilter);

#[pymethods]
impl SubscriptionFilter {
    #[new]
    #[pyo3(signature = (*, tools = false, resources = false, prompts = false, resource_uris = Vec::new()))]
    fn new(tools: bool, resources: bool, prompts: bool, resource_uris: Vec<String>) -> SubscriptionFilter {
        let resource_uris = resource_uris.into_iter().map(String::into_boxed_str).collect();
        SubscriptionFilter(barewire::SubscriptionFilter { tools, resources, prompts, resource_uris })
    }

    #[getter]
    fn tools(&self) -> bool {
        self.0.tools
    }

    #[getter]
    fn resources(&self) -> bool {
        self.0.resources
    }

    #[getter]
    fn prompts(&self) -> bool {
        self.0.prompts
    }

    #[getter]
    fn resource_uris<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.0.resource_uris.to_python(py)
    }

    fn __repr__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyString>> {
        let members = [
            ("tools", false, self.0.tools.to_python(py)?),
            ("resources", false, self.0.resources.to_python(py)?),
            ("prompts", false, self.0.prompts.to_python(py)?),
            ("resource_uris", false, self.0.resource_uris.to_python(py)?),
        ];
        record::describe(py, "SubscriptionFilter", &members)
    }
}
