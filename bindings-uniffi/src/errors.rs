//! Errors of the core: those that calls fail with, and those that events tell of.

use barewire::client::{DisconnectReason, FailureReason};
use barewire::server::ClientFailure;
use barewire::{CloseReason, Error, Failure as ExchangeFailure, Json, PeerIncompatible};

use crate::values::text;

/// Why a call failed. `code` is the number of the error, the same in every language.
///
/// A machine is over after `PeerMisbehaved`, `PeerIncompatible` and `ConnectionClosed`; after the others it goes on as
/// before.
#[derive(Clone, Debug, PartialEq, Eq, uniffi::Error)]
pub enum McpError {
    /// The caller asked for something that is not possible now. Nothing changed.
    ApiMisuse {
        /// The number, from 101.
        code: u16,
        /// What is wrong, for people.
        explanation: String,
    },
    /// The peer broke the protocol in a way that lost framing or state.
    PeerMisbehaved {
        /// The number, from 201.
        code: u16,
        /// What is wrong, for people.
        explanation: String,
    },
    /// Both sides are sound but have no common revision.
    PeerIncompatible {
        /// The number, from 301.
        code: u16,
        /// What is wrong, for people.
        explanation: String,
    },
    /// The peer lacks capabilities that the call cannot do without.
    MissingCapability {
        /// The number, 302.
        code: u16,
        /// What is wrong, for people.
        explanation: String,
        /// The text of the capabilities object that names what is missing.
        required: String,
    },
    /// A configured bound was reached.
    LimitExceeded {
        /// The number, from 401.
        code: u16,
        /// What is wrong, for people.
        explanation: String,
    },
    /// It was over already. After a defect of the library itself was caught (505), every call is answered so.
    ConnectionClosed {
        /// The number, from 501.
        code: u16,
        /// What is wrong, for people.
        explanation: String,
    },
    /// An argument is none that the call takes, such as a seed of other than 32 bytes or an unknown name. Nothing changed.
    InvalidArgument {
        /// What is wrong, for people.
        explanation: String,
    },
}

impl McpError {
    pub(crate) fn argument(explanation: impl ToString) -> McpError {
        McpError::InvalidArgument { explanation: explanation.to_string() }
    }
}

impl std::fmt::Display for McpError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            McpError::ApiMisuse { explanation, .. }
            | McpError::PeerMisbehaved { explanation, .. }
            | McpError::PeerIncompatible { explanation, .. }
            | McpError::MissingCapability { explanation, .. }
            | McpError::LimitExceeded { explanation, .. }
            | McpError::ConnectionClosed { explanation, .. }
            | McpError::InvalidArgument { explanation } => f.write_str(explanation),
        }
    }
}

impl std::error::Error for McpError {}

impl From<Error> for McpError {
    fn from(error: Error) -> McpError {
        let (code, explanation) = (error.code(), error.to_string());
        match error {
            Error::PeerMisbehaved(_) => McpError::PeerMisbehaved { code, explanation },
            Error::PeerIncompatible(PeerIncompatible::MissingCapability(required)) => {
                McpError::MissingCapability { code, explanation, required: text(&required) }
            }
            Error::PeerIncompatible(_) => McpError::PeerIncompatible { code, explanation },
            Error::LimitExceeded(_) => McpError::LimitExceeded { code, explanation },
            Error::Closed(_) => McpError::ConnectionClosed { code, explanation },
            // The core marks its errors as open for more; whatever is new is a refusal of a call.
            _ => McpError::ApiMisuse { code, explanation },
        }
    }
}

/// What kind of end a [`Failure`] tells of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, uniffi::Enum)]
pub enum FailureKind {
    /// The peer answered with an error.
    Rpc,
    /// No answer came in time.
    RequestTimedOut,
    /// The application cancelled the request.
    RequestCancelled,
    /// The connection ended first.
    ConnectionLost,
    /// The answer is malformed or not what the method defines.
    InvalidResult,
    /// The application refused a question that had to be answered.
    InputRefused,
    /// The server asked more often than the limit on rounds allows.
    RoundsExceeded,
    /// The request was not possible; see [`McpError::ApiMisuse`].
    ApiMisuse,
    /// The peer broke the protocol in a way that lost framing or state.
    PeerMisbehaved,
    /// There is no common revision.
    PeerIncompatible,
    /// The peer lacks capabilities; `required` names them.
    MissingCapability,
    /// A configured bound was reached.
    LimitExceeded,
    /// The connection is over.
    ConnectionClosed,
    /// The server answered with an HTTP status and nothing of the protocol.
    HttpStatus,
    /// The server does not know the session (HTTP).
    SessionLost,
    /// The exchange was not authorized (HTTP).
    Unauthorized,
    /// The server or the way to it is out of order (HTTP).
    ServerUnavailable,
}

/// Why something ended without a result.
#[derive(Clone, Debug, PartialEq, Eq, uniffi::Record)]
pub struct Failure {
    /// What kind of end it is.
    pub kind: FailureKind,
    /// The number of this end, the same in every language; of `Rpc`, the code that the peer gave.
    pub code: i64,
    /// What happened, for people; of `Rpc`, the message that the peer gave.
    pub message: String,
    /// The text of the data that the peer's error came with.
    pub data: Option<String>,
    /// The text of the capabilities object that names what is missing.
    pub required: Option<String>,
    /// The HTTP status, if there was one.
    pub status: Option<u16>,
}

impl Failure {
    fn new(kind: FailureKind, code: i64, message: String) -> Failure {
        Failure { kind, code, message, data: None, required: None, status: None }
    }
}

impl From<barewire::RpcError> for Failure {
    fn from(error: barewire::RpcError) -> Failure {
        let data = error.data.as_ref().map(text);
        Failure { data, ..Failure::new(FailureKind::Rpc, error.code, error.message.into()) }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        let mut failure = Failure::new(FailureKind::ApiMisuse, i64::from(error.code()), error.to_string());
        failure.kind = match error {
            Error::PeerMisbehaved(_) => FailureKind::PeerMisbehaved,
            Error::PeerIncompatible(PeerIncompatible::MissingCapability(required)) => {
                failure.required = Some(text(&required));
                FailureKind::MissingCapability
            }
            Error::PeerIncompatible(_) => FailureKind::PeerIncompatible,
            Error::LimitExceeded(_) => FailureKind::LimitExceeded,
            Error::Closed(_) => FailureKind::ConnectionClosed,
            _ => FailureKind::ApiMisuse,
        };
        failure
    }
}

impl From<CloseReason> for Failure {
    fn from(reason: CloseReason) -> Failure {
        Error::Closed(reason).into()
    }
}

impl From<ExchangeFailure> for Failure {
    fn from(failure: ExchangeFailure) -> Failure {
        let kind = match failure {
            ExchangeFailure::Refused { .. } => FailureKind::HttpStatus,
            ExchangeFailure::SessionLost { .. } => FailureKind::SessionLost,
            ExchangeFailure::Unauthorized { .. } => FailureKind::Unauthorized,
            // Without a status there was no response.
            ExchangeFailure::Unavailable { status: Some(_) } => FailureKind::ServerUnavailable,
            _ => FailureKind::ConnectionLost,
        };
        Failure { status: failure.status(), ..Failure::new(kind, failure.code(), failure.to_string()) }
    }
}

impl From<FailureReason> for Failure {
    fn from(reason: FailureReason) -> Failure {
        let (code, message) = (reason.code(), reason.to_string());
        let kind = match reason {
            FailureReason::Rpc(error) => return error.into(),
            FailureReason::NotSent(error) => return error.into(),
            FailureReason::ExchangeFailed(failure) => return failure.into(),
            FailureReason::TimedOut => FailureKind::RequestTimedOut,
            FailureReason::Cancelled => FailureKind::RequestCancelled,
            FailureReason::InvalidResult(_) => FailureKind::InvalidResult,
            FailureReason::InputRefused(_) => FailureKind::InputRefused,
            FailureReason::RoundsExceeded => FailureKind::RoundsExceeded,
            _ => FailureKind::ConnectionLost,
        };
        Failure::new(kind, code, message)
    }
}

impl From<DisconnectReason> for Failure {
    fn from(reason: DisconnectReason) -> Failure {
        let (code, message) = (reason.code(), reason.to_string());
        let kind = match reason {
            DisconnectReason::Closed(reason) => return reason.into(),
            DisconnectReason::Failed(error) => return error.into(),
            DisconnectReason::Refused(error) => return error.into(),
            DisconnectReason::ExchangeFailed(failure) => return failure.into(),
            DisconnectReason::HandshakeTimedOut => FailureKind::RequestTimedOut,
            _ => FailureKind::ConnectionLost,
        };
        Failure::new(kind, code, message)
    }
}

impl From<ClientFailure> for Failure {
    fn from(failure: ClientFailure) -> Failure {
        let (code, message) = (failure.code(), failure.to_string());
        let kind = match failure {
            ClientFailure::Rpc(error) => return error.into(),
            ClientFailure::TimedOut => FailureKind::RequestTimedOut,
            ClientFailure::InvalidResult(_) => FailureKind::InvalidResult,
            _ => FailureKind::ConnectionLost,
        };
        Failure::new(kind, code, message)
    }
}

/// What a call that can fail gives.
pub(crate) type Outcome<T> = Result<T, McpError>;

/// A result, or why there is none, as the two members of an event.
pub(crate) fn apart<E: Into<Failure>>(outcome: Result<Json, E>) -> (Option<String>, Option<Failure>) {
    match outcome {
        Ok(result) => (Some(text(&result)), None),
        Err(failure) => (None, Some(failure.into())),
    }
}
