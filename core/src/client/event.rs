//! What a client tells its application.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;

use crate::cache::Freshness;
use crate::error::{CloseReason, Error};
use crate::json::Json;
use crate::jsonrpc::{RpcError, Violation};
use crate::logging::LogLevel;
use crate::machine::{Failure, InputHandle, RequestHandle, SubscriptionHandle};
use crate::revision::{Capabilities, Revision};
use crate::rounds::InputRequest;
use crate::subscription::{ListKind, SubscriptionFilter};

/// Something the application should know. Each names the request, question or subscription it is about.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// Era and revision are settled; queued requests go out. It comes once more if a stored verdict turns out wrong.
    Ready {
        /// The revision spoken from now on.
        revision: Revision,
        /// The server's name and version object, if it gave one.
        server: Option<Json>,
        /// What the server declared; nothing is known of it where a stored verdict took the place of discovery.
        capabilities: Capabilities,
        /// Guidance for the model.
        instructions: Option<Box<str>>,
    },
    /// The server had lost the session, and a new one is there (HTTP, up to 2025-11-25). Lists may have changed and
    /// changes may have been missed; subscriptions are asked for again, and acknowledged anew.
    SessionReplaced {
        /// The revision spoken from now on.
        revision: Revision,
        /// The server's name and version object, if it gave one.
        server: Option<Json>,
        /// What the server declared.
        capabilities: Capabilities,
        /// Guidance for the model.
        instructions: Option<Box<str>>,
    },
    /// The server ended on the probe, as some old ones do. Start it afresh and report
    /// [`Input::Restarted`](crate::Input::Restarted); the handshake follows and queued requests are kept.
    /// It comes at most once.
    RestartRequired,
    /// A request ended well.
    ResponseReceived {
        /// The request.
        request: RequestHandle,
        /// The result object as the server wrote it.
        result: Json,
        /// Its caching members, where the revision has them.
        freshness: Option<Freshness>,
    },
    /// A request ended without a result.
    RequestFailed {
        /// The request.
        request: RequestHandle,
        /// Why.
        reason: FailureReason,
    },
    /// The server asks something; answer each with [`Client::provide_input`](super::Client::provide_input).
    InputRequired {
        /// The request it asks for; `None` where the revision does not say.
        request: Option<RequestHandle>,
        /// The questions.
        inputs: Vec<InputRequest>,
        /// How many times this request has asked, from 1.
        round: u32,
    },
    /// A question no longer stands; an answer would be refused.
    InputWithdrawn {
        /// The question.
        input: InputHandle,
    },
    /// A tool was left out of a list that a request asked for: its definition wants an argument repeated in a header
    /// in a way that is not possible (HTTP, from 2026-07-28; server/tools, `x-mcp-header`).
    ToolOmitted {
        /// The request whose result it was in, which follows.
        request: RequestHandle,
        /// Its place in the list as the server sent it, from 0.
        index: usize,
        /// Its name, if it has one.
        name: Option<Box<str>>,
        /// The member that is wrong, from the definition on.
        path: Box<str>,
        /// What is wrong with it.
        reason: Box<str>,
    },
    /// A request reports progress.
    ProgressReceived {
        /// The request.
        request: RequestHandle,
        /// How far it is.
        progress: f64,
        /// How far it will go, if known.
        total: Option<f64>,
        /// What it is doing.
        message: Option<Box<str>>,
        /// False if it is not more than the last time, which the protocol does not allow.
        increasing: bool,
    },
    /// The server logs something.
    LogReceived {
        /// The request it belongs to, if that is certain.
        request: Option<RequestHandle>,
        /// Its severity; `None` if the server wrote an unknown one.
        level: Option<LogLevel>,
        /// Which part of the server speaks.
        logger: Option<Box<str>>,
        /// Any JSON value.
        data: Json,
    },
    /// A subscription is in force.
    SubscriptionAcknowledged {
        /// The subscription.
        subscription: SubscriptionHandle,
        /// What the server agreed to, which may be less than was asked.
        honoured: SubscriptionFilter,
    },
    /// A subscription is over.
    SubscriptionEnded {
        /// The subscription.
        subscription: SubscriptionHandle,
        /// True if the server or this side ended it in order; false if it was lost or refused, so that
        /// changes may have been missed.
        graceful: bool,
    },
    /// A list of the server changed: fetch it again.
    ListChanged {
        /// Which list.
        kind: ListKind,
        /// The subscription that asked for it, where there is one.
        subscription: Option<SubscriptionHandle>,
    },
    /// A resource changed: read it again.
    ResourceUpdated {
        /// The resource, possibly one below the URI that was subscribed to.
        uri: Box<str>,
        /// The subscription that asked for it, where there is one.
        subscription: Option<SubscriptionHandle>,
    },
    /// Any other notification, extensions included.
    NotificationReceived {
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
    /// The last event.
    Disconnected {
        /// Why.
        reason: DisconnectReason,
    },
}

/// Why a request ended without a result. A local end can never pass for the peer's.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FailureReason {
    /// The server answered with an error.
    Rpc(RpcError),
    /// No answer in time.
    TimedOut,
    /// The application cancelled it.
    Cancelled,
    /// The connection ended first.
    ConnectionLost,
    /// The answer is malformed or not what the method defines.
    InvalidResult(Violation),
    /// The application refused a question that had to be answered.
    InputRefused(InputHandle),
    /// The server asked more often than the limit on rounds allows.
    RoundsExceeded,
    /// Its HTTP exchange ended without an answer.
    ExchangeFailed(Failure),
    /// It could not be sent: a bound, or a feature the settled revision or server does not have.
    NotSent(Error),
}

/// Why a client is over.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DisconnectReason {
    /// The connection ended.
    Closed(CloseReason),
    /// The handshake or probe failed: no common revision, an unusable answer.
    Failed(Error),
    /// The server answered `initialize` with an error.
    Refused(RpcError),
    /// The server did not answer the handshake in time.
    HandshakeTimedOut,
    /// The HTTP exchange of the probe or handshake ended without an answer.
    ExchangeFailed(Failure),
}

impl FailureReason {
    /// The number of this end, the same in every language: that of [`Error::code`], of the same table from 601,
    /// or the code of the error that the server answered.
    pub const fn code(&self) -> i64 {
        match self {
            FailureReason::Rpc(error) => error.code,
            FailureReason::TimedOut => 601,
            FailureReason::Cancelled => 602,
            FailureReason::ConnectionLost => 603,
            FailureReason::InvalidResult(_) => 604,
            FailureReason::InputRefused(_) => 605,
            FailureReason::RoundsExceeded => 606,
            FailureReason::ExchangeFailed(failure) => failure.code(),
            FailureReason::NotSent(error) => error.code() as i64,
        }
    }
}

impl fmt::Display for FailureReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FailureReason::Rpc(error) => error.fmt(f),
            FailureReason::TimedOut => f.write_str("no answer came in time"),
            FailureReason::Cancelled => f.write_str("the request was cancelled"),
            FailureReason::ConnectionLost => f.write_str("the connection ended before the answer came"),
            FailureReason::InvalidResult(violation) => write!(f, "the answer is not usable: {violation}"),
            FailureReason::InputRefused(_) => f.write_str("a question of the server was refused"),
            FailureReason::ExchangeFailed(failure) => failure.fmt(f),
            FailureReason::RoundsExceeded => f.write_str("the server asked more often than the limit allows"),
            FailureReason::NotSent(error) => write!(f, "the request was not sent: {error}"),
        }
    }
}

impl DisconnectReason {
    /// The number of this end, as for [`FailureReason::code`].
    pub const fn code(&self) -> i64 {
        match self {
            DisconnectReason::Closed(reason) => Error::Closed(*reason).code() as i64,
            DisconnectReason::Failed(error) => error.code() as i64,
            DisconnectReason::Refused(error) => error.code,
            DisconnectReason::HandshakeTimedOut => 607,
            DisconnectReason::ExchangeFailed(failure) => failure.code(),
        }
    }
}

impl fmt::Display for DisconnectReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DisconnectReason::Closed(reason) => Error::Closed(*reason).fmt(f),
            DisconnectReason::Failed(error) => error.fmt(f),
            DisconnectReason::ExchangeFailed(failure) => failure.fmt(f),
            DisconnectReason::Refused(error) => write!(f, "the server refused the handshake: {error}"),
            DisconnectReason::HandshakeTimedOut => {
                f.write_str("the server did not answer the handshake in time")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{ApiMisuse, Limit};

    #[test]
    fn ends_are_numbered_once() {
        let local = [
            FailureReason::TimedOut,
            FailureReason::Cancelled,
            FailureReason::ConnectionLost,
            FailureReason::InvalidResult(Violation::NotJson),
            FailureReason::InputRefused(InputHandle::from_number(1)),
            FailureReason::RoundsExceeded,
        ];
        let numbers: Vec<_> = local.iter().map(FailureReason::code).collect();
        assert_eq!(numbers, [601, 602, 603, 604, 605, 606]);
        assert_eq!(DisconnectReason::HandshakeTimedOut.code(), 607);
        let exchanges = [
            Failure::Refused { status: 418 },
            Failure::SessionLost { is_current: true },
            Failure::Unauthorized { status: 401 },
            Failure::Unavailable { status: None },
            Failure::Truncated,
        ];
        let numbers = exchanges.map(|failure| FailureReason::ExchangeFailed(failure).code());
        assert_eq!(numbers, [608, 609, 610, 611, 612]);
        assert_eq!(exchanges.map(|failure| DisconnectReason::ExchangeFailed(failure).code()), numbers);
        // Whatever has a number elsewhere keeps it.
        let limit = Error::from(Limit::RequestsInFlight);
        assert_eq!(FailureReason::NotSent(limit.clone()).code(), i64::from(limit.code()));
        let misuse = Error::from(ApiMisuse::InvalidJson);
        assert_eq!(DisconnectReason::Failed(misuse.clone()).code(), i64::from(misuse.code()));
        assert_eq!(DisconnectReason::Closed(CloseReason::ByPeer).code(), 502);
        let answered = RpcError::new(-32601, "no");
        assert_eq!(FailureReason::Rpc(answered.clone()).code(), -32601);
        assert_eq!(DisconnectReason::Refused(answered).code(), -32601);
    }
}
