//! The Python extension module: the sans-IO floor of the `barewire` package.
//!
//! It holds no protocol decision: it moves bytes, handles and events between Python and the core. Under the
//! GIL every call runs to its end before the next one starts, so that one object serves several threads.

#[macro_use]
mod record;
#[macro_use]
mod server_class;

mod authorization;
mod child;
mod client;
mod config;
mod convert;
mod errors;
mod events;
mod guard;
mod http_client;
mod http_server;
mod resource_server;
mod server;
mod values;

use barewire::uri_template::UriTemplate;
use pyo3::exceptions::{PyAttributeError, PyValueError};
use pyo3::prelude::*;

/// Names that the stub gives to groups of types.
const ALIASES: [&str; 6] = ["Era", "Event", "InputKindName", "Json", "ListKindName", "LogLevel"];

/// Finds an alias, so that annotations can be read at run time and nobody pays for it before.
#[pyfunction]
#[pyo3(name = "__getattr__")]
fn alias<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    if ALIASES.contains(&name) {
        py.import("barewire._aliases")?.getattr(name)
    } else {
        Err(PyAttributeError::new_err(format!("module 'barewire._native' has no attribute {name:?}")))
    }
}

/// The names of the variables of a URI template, in its order.
#[pyfunction]
fn template_variables(template: &str) -> PyResult<Vec<String>> {
    match UriTemplate::parse(template) {
        Ok(template) => Ok(template.variable_names().map(String::from).collect()),
        Err(error) => Err(PyValueError::new_err(error.to_string())),
    }
}

/// Whether a tool's name is one that the specification advises.
#[pyfunction]
fn is_recommended_tool_name(name: &str) -> bool {
    barewire::model::is_recommended_tool_name(name)
}

/// Where the metadata of an authorization server may be, in the order in which it is looked for.
#[pyfunction]
fn server_metadata_urls(issuer: &str) -> Vec<String> {
    barewire::auth::resource_server::server_metadata_urls(issuer).into_iter().map(String::from).collect()
}

#[pymodule(gil_used = true)]
mod _native {
    use barewire::{Era, LogLevel, Revision, Revisions, RpcError};
    use pyo3::prelude::*;
    use pyo3::types::PyTuple;

    #[pymodule_export]
    use super::alias;
    #[pymodule_export]
    use super::is_recommended_tool_name;
    #[pymodule_export]
    use super::server_metadata_urls;
    #[pymodule_export]
    use super::template_variables;
    #[pymodule_export]
    use crate::authorization::{
        Authorization, AuthorizationRefused, AuthorizationSettled, ClientRegistration, Credentials,
        LoadRecord, OpenUserAgent, ProvideAssertion, ProvideClient, SaveRecord, SendRequest, SignInput,
        SigningRequest, dpop_proof,
    };
    #[pymodule_export]
    use crate::child::ChildShutdown;
    #[pymodule_export]
    use crate::client::Client;
    #[pymodule_export]
    use crate::config::{Limits, Timeouts};
    #[pymodule_export]
    use crate::events::{
        CompletionRequested, Disconnected, Drained, EventAppended, InputRequired, InputWithdrawn,
        ListChanged, LogReceived, MessageDiscarded, NotificationReceived, ProgressReceived, PromptRequested,
        Ready, ReplayRequested, RequestCancelled, RequestFailed, RequestReceived, ResourceReadRequested,
        ResourceUpdated, ResponseReceived, RestartRequired, SessionClosed, SessionNamed, SessionOpened,
        SessionReplaced, SessionRequested, StreamsForgotten, SubscriptionAcknowledged, SubscriptionClosed,
        SubscriptionEnded, SubscriptionOpened, ToolCalled, ToolOmitted, ViolationTolerated,
    };
    #[pymodule_export]
    use crate::http_client::{AuthorizationRequired, HttpAbort, HttpClient, HttpRequest};
    #[pymodule_export]
    use crate::http_server::{HttpServer, ResponsePart};
    #[pymodule_export]
    use crate::resource_server::{AccessDenied, Principal, ResourceServer};
    #[pymodule_export]
    use crate::server::Server;
    #[pymodule_export]
    use crate::values::{InputAnswer, InputRequest, RequestContext, RpcErrorValue, SubscriptionFilter};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        let py = module.py();
        let names = |revisions: Vec<Revision>| PyTuple::new(py, revisions.into_iter().map(Revision::as_str));
        module.add("VERSION", env!("CARGO_PKG_VERSION"))?;
        module.add("REVISIONS", names(Revisions::ALL.to_vec())?)?;
        module.add("LEGACY_REVISIONS", names(Revisions::ALL.of_era(Era::Legacy).collect())?)?;
        module.add("MODERN_REVISIONS", names(Revisions::ALL.of_era(Era::Modern).collect())?)?;
        module.add("LOG_LEVELS", PyTuple::new(py, LogLevel::ALL.map(LogLevel::as_str))?)?;
        module.add("INVALID_PARAMS", RpcError::INVALID_PARAMS)?;
        module.add("INTERNAL_ERROR", RpcError::INTERNAL_ERROR)?;
        module.add("RESOURCE_NOT_FOUND", RpcError::RESOURCE_NOT_FOUND)?;
        // The stub says what is public; a second list would have to follow it.
        module.delattr("__all__")
    }
}
