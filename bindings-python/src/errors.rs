//! Errors of the core as exceptions of `barewire._errors`, which is imported when the first one is made.

use barewire::auth::AuthorizationError;
use barewire::client::{DisconnectReason, FailureReason};
use barewire::server::ClientFailure;
use barewire::{CloseReason, Error, Failure, PeerIncompatible, RpcError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyDict};

static ERRORS: PyOnceLock<Py<PyModule>> = PyOnceLock::new();

type Exception<'py> = PyResult<Bound<'py, PyAny>>;

fn class<'py>(py: Python<'py>, name: &str) -> Exception<'py> {
    let module = ERRORS.get_or_try_init(py, || py.import("barewire._errors").map(Bound::unbind))?;
    module.bind(py).getattr(name)
}

fn made<'py>(py: Python<'py>, name: &str, message: String, code: i64) -> Exception<'py> {
    class(py, name)?.call1((message, code))
}

/// An error of the core, to be raised.
pub(crate) fn raised(py: Python<'_>, error: &Error) -> PyErr {
    exception(py, error).map_or_else(|failure| failure, PyErr::from_value)
}

/// An error of the core, made but not raised.
fn exception<'py>(py: Python<'py>, error: &Error) -> Exception<'py> {
    let code = i64::from(error.code());
    let name = match error {
        Error::ApiMisuse(_) => "ApiMisuseError",
        Error::PeerMisbehaved(_) => "PeerMisbehavedError",
        Error::PeerIncompatible(PeerIncompatible::MissingCapability(required)) => {
            let required = PyBytes::new(py, required.as_str().as_bytes());
            return class(py, "MissingCapabilityError")?.call1((error.to_string(), code, required));
        }
        Error::PeerIncompatible(_) => "PeerIncompatibleError",
        Error::LimitExceeded(_) => "LimitExceededError",
        Error::Closed(_) => "ConnectionClosedError",
        _ => "McpError",
    };
    made(py, name, error.to_string(), code)
}

fn rpc<'py>(py: Python<'py>, error: &RpcError) -> Exception<'py> {
    let named = PyDict::new(py);
    if let Some(data) = &error.data {
        named.set_item("raw", PyBytes::new(py, data.as_str().as_bytes()))?;
    }
    class(py, "RpcError")?.call((error.code, &*error.message), Some(&named))
}

/// Why there are no credentials, to be raised.
pub(crate) fn authorization_refused(py: Python<'_>, error: &AuthorizationError) -> PyErr {
    error.to_exception(py).map_or_else(|failure| failure, PyErr::from_value)
}

impl ToException for AuthorizationError {
    fn to_exception<'py>(&self, py: Python<'py>) -> Exception<'py> {
        let oauth = match self {
            AuthorizationError::Denied(oauth)
            | AuthorizationError::RegistrationRejected(oauth)
            | AuthorizationError::TokenRequestRejected(oauth) => Some(oauth),
            _ => None,
        };
        let named = PyDict::new(py);
        named.set_item("error", oauth.map(|oauth| &*oauth.code))?;
        named.set_item("description", oauth.and_then(|oauth| oauth.description.as_deref()))?;
        named.set_item("is_retryable", self.is_retryable())?;
        class(py, "AuthorizationError")?.call((self.to_string(), i64::from(self.code())), Some(&named))
    }
}

/// Something that ended, as an exception that tells why.
pub(crate) trait ToException {
    fn to_exception<'py>(&self, py: Python<'py>) -> Exception<'py>;
}

impl ToException for FailureReason {
    fn to_exception<'py>(&self, py: Python<'py>) -> Exception<'py> {
        let name = match self {
            FailureReason::Rpc(error) => return rpc(py, error),
            FailureReason::NotSent(error) => return exception(py, error),
            FailureReason::ExchangeFailed(failure) => return failure.to_exception(py),
            FailureReason::InputRefused(_) => {
                return class(py, "InputRefusedError")?.call1((self.code(), self.to_string()));
            }
            FailureReason::TimedOut => "RequestTimedOutError",
            FailureReason::Cancelled => "RequestCancelledError",
            FailureReason::ConnectionLost => "ConnectionLostError",
            FailureReason::InvalidResult(_) => "InvalidResultError",
            FailureReason::RoundsExceeded => "RoundsExceededError",
            _ => "McpError",
        };
        made(py, name, self.to_string(), self.code())
    }
}

impl ToException for Failure {
    fn to_exception<'py>(&self, py: Python<'py>) -> Exception<'py> {
        let name = match self {
            Failure::Refused { .. } => "HttpStatusError",
            Failure::SessionLost { .. } => "SessionLostError",
            Failure::Unauthorized { .. } => "UnauthorizedError",
            Failure::Unavailable { .. } => "ServerUnavailableError",
            _ => "ConnectionLostError",
        };
        match self.status() {
            Some(status) => class(py, name)?.call1((self.to_string(), self.code(), status)),
            // Without a status there was no response, or not all of it.
            None => made(py, "ConnectionLostError", self.to_string(), self.code()),
        }
    }
}

impl ToException for DisconnectReason {
    fn to_exception<'py>(&self, py: Python<'py>) -> Exception<'py> {
        match self {
            DisconnectReason::Closed(reason) => reason.to_exception(py),
            DisconnectReason::Failed(error) => exception(py, error),
            DisconnectReason::Refused(error) => rpc(py, error),
            DisconnectReason::ExchangeFailed(failure) => failure.to_exception(py),
            DisconnectReason::HandshakeTimedOut => {
                made(py, "RequestTimedOutError", self.to_string(), self.code())
            }
            _ => made(py, "McpError", self.to_string(), self.code()),
        }
    }
}

impl ToException for CloseReason {
    fn to_exception<'py>(&self, py: Python<'py>) -> Exception<'py> {
        exception(py, &Error::Closed(*self))
    }
}

impl ToException for ClientFailure {
    fn to_exception<'py>(&self, py: Python<'py>) -> Exception<'py> {
        let name = match self {
            ClientFailure::Rpc(error) => return rpc(py, error),
            ClientFailure::TimedOut => "RequestTimedOutError",
            ClientFailure::ConnectionLost => "ConnectionLostError",
            ClientFailure::InvalidResult(_) => "InvalidResultError",
            _ => "McpError",
        };
        made(py, name, self.to_string(), self.code())
    }
}
