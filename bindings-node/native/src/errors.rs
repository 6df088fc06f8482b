//! Errors of the core as JSON rows, from which JavaScript makes its own: the name of the class, the number, the
//! message, and what else the class has.

use barewire::auth::AuthorizationError;
use barewire::client::{DisconnectReason, FailureReason};
use barewire::server::ClientFailure;
use barewire::{ApiMisuse, CloseReason, Error, Failure as ExchangeFailure, Json, PeerIncompatible, RpcError};
use napi::Either;
use serde_json::{Value, json};

/// Why a call failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The core says so.
    Core(Error),
    /// An argument is none that the function takes.
    Argument(String),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure::Core(error)
    }
}

impl From<ApiMisuse> for Failure {
    fn from(misuse: ApiMisuse) -> Failure {
        Failure::Core(misuse.into())
    }
}

/// A setting that cannot be used is an argument that is none.
pub(crate) fn unusable(error: Error) -> Failure {
    match error {
        Error::ApiMisuse(ApiMisuse::InvalidDefinition(member)) => {
            Failure::Argument(format!("{member} cannot be used"))
        }
        error => error.into(),
    }
}

impl Failure {
    /// The row of the error.
    pub(crate) fn row(&self) -> Value {
        match self {
            Failure::Core(error) => error.row(),
            Failure::Argument(message) => json!(["RangeError", 0, message]),
        }
    }
}

/// How a call ended, on its way to JavaScript: what it gives, or the row of its error as text.
pub(crate) trait Outcome<T> {
    /// For calls that give something which is no text.
    fn given(self) -> Either<T, String>;

    /// For calls that give nothing.
    fn done(self) -> Option<String>;
}

impl<T> Outcome<T> for Result<T, Failure> {
    fn given(self) -> Either<T, String> {
        match self {
            Ok(value) => Either::A(value),
            Err(failure) => Either::B(failure.row().to_string()),
        }
    }

    fn done(self) -> Option<String> {
        self.err().map(|failure| failure.row().to_string())
    }
}

/// Something that ended, as a row that tells why.
pub(crate) trait ToRow {
    fn row(&self) -> Value;
}

impl ToRow for Error {
    fn row(&self) -> Value {
        let name = match self {
            Error::ApiMisuse(_) => "ApiMisuseError",
            Error::PeerMisbehaved(_) => "PeerMisbehavedError",
            Error::PeerIncompatible(PeerIncompatible::MissingCapability(required)) => {
                return json!(["MissingCapabilityError", self.code(), self.to_string(), required.as_str()]);
            }
            Error::PeerIncompatible(_) => "PeerIncompatibleError",
            Error::LimitExceeded(_) => "LimitExceededError",
            Error::Closed(_) => "ConnectionClosedError",
            _ => "McpError",
        };
        json!([name, self.code(), self.to_string()])
    }
}

impl ToRow for AuthorizationError {
    fn row(&self) -> Value {
        let oauth = match self {
            AuthorizationError::Denied(oauth)
            | AuthorizationError::RegistrationRejected(oauth)
            | AuthorizationError::TokenRequestRejected(oauth) => Some(oauth),
            _ => None,
        };
        let said = json!({
            "error": oauth.map(|oauth| &*oauth.code),
            "description": oauth.and_then(|oauth| oauth.description.as_deref()),
            "isRetryable": self.is_retryable(),
        });
        json!(["AuthorizationError", self.code(), self.to_string(), said])
    }
}

impl ToRow for RpcError {
    fn row(&self) -> Value {
        json!(["RpcError", self.code, self.message, self.data.as_ref().map(Json::as_str)])
    }
}

impl ToRow for FailureReason {
    fn row(&self) -> Value {
        let name = match self {
            FailureReason::Rpc(error) => return error.row(),
            FailureReason::NotSent(error) => return error.row(),
            FailureReason::ExchangeFailed(failure) => return failure.row(),
            FailureReason::InputRefused(_) => "InputRefusedError",
            FailureReason::TimedOut => "RequestTimedOutError",
            FailureReason::Cancelled => "RequestCancelledError",
            FailureReason::ConnectionLost => "ConnectionLostError",
            FailureReason::InvalidResult(_) => "InvalidResultError",
            FailureReason::RoundsExceeded => "RoundsExceededError",
            _ => "McpError",
        };
        json!([name, self.code(), self.to_string()])
    }
}

impl ToRow for ExchangeFailure {
    fn row(&self) -> Value {
        let name = match self {
            ExchangeFailure::Refused { .. } => "HttpStatusError",
            ExchangeFailure::SessionLost { .. } => "SessionLostError",
            ExchangeFailure::Unauthorized { .. } => "UnauthorizedError",
            // Without a status there was no response.
            ExchangeFailure::Unavailable { status: Some(_) } => "ServerUnavailableError",
            _ => "ConnectionLostError",
        };
        json!([name, self.code(), self.to_string(), self.status()])
    }
}

impl ToRow for DisconnectReason {
    fn row(&self) -> Value {
        let name = match self {
            DisconnectReason::Closed(reason) => return reason.row(),
            DisconnectReason::Failed(error) => return error.row(),
            DisconnectReason::Refused(error) => return error.row(),
            DisconnectReason::ExchangeFailed(failure) => return failure.row(),
            DisconnectReason::HandshakeTimedOut => "RequestTimedOutError",
            _ => "McpError",
        };
        json!([name, self.code(), self.to_string()])
    }
}

impl ToRow for CloseReason {
    fn row(&self) -> Value {
        Error::Closed(*self).row()
    }
}

impl ToRow for ClientFailure {
    fn row(&self) -> Value {
        let name = match self {
            ClientFailure::Rpc(error) => return error.row(),
            ClientFailure::TimedOut => "RequestTimedOutError",
            ClientFailure::ConnectionLost => "ConnectionLostError",
            ClientFailure::InvalidResult(_) => "InvalidResultError",
            _ => "McpError",
        };
        json!([name, self.code(), self.to_string()])
    }
}
