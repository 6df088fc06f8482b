//! Errors by whose fault they are, and the numbered table all languages share.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;

use crate::json::Json;
use crate::revision::{Capability, InputMismatch, Revision};

/// Why a call on a machine or transport failed.
///
/// [`is_fatal`](Error::is_fatal) tells whether the machine is over: it then answers the same for ever.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The caller asked for something that is not possible now. Nothing changed.
    ApiMisuse(ApiMisuse),
    /// The peer broke the protocol in a way that lost framing or state.
    PeerMisbehaved(PeerMisbehaved),
    /// Both sides are sound but have no common ground.
    PeerIncompatible(PeerIncompatible),
    /// A configured bound was reached.
    LimitExceeded(Limit),
    /// It was over already.
    Closed(CloseReason),
}

/// Mistakes of the caller.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ApiMisuse {
    /// No such request is in flight (it may have ended already).
    UnknownRequest,
    /// The request was answered before.
    AlreadyAnswered,
    /// No such question stands.
    UnknownInput,
    /// No such subscription is open.
    UnknownSubscription,
    /// No such session is open.
    UnknownSession,
    /// The negotiated revision has no such message or feature.
    NotAllowedInRevision(Revision),
    /// The peer did not declare what this needs.
    CapabilityNotDeclared(Capability),
    /// The text is not JSON, or not the kind of JSON value that belongs there.
    InvalidJson,
    /// A definition lacks a required member or has one of the wrong kind; the member's name.
    InvalidDefinition(&'static str),
    /// A form asks for a property that is not flat: no string, number, boolean or choice among strings with a
    /// default that fits (client/elicitation, Requested Schema); the property's name.
    InvalidFormProperty(Box<str>),
    /// An argument of a prompt or completion is not a string (server/prompts, server/utilities/completion); its
    /// name, as it was written.
    ArgumentNotString(Box<str>),
    /// The name, URI or template is registered already.
    AlreadyRegistered,
    /// Nothing is registered under that name, URI or template.
    NotRegistered,
    /// The URI template does not follow RFC 6570.
    InvalidTemplate,
    /// The request cannot ask for input in this revision or method.
    InputNotPossible,
    /// The method is one that the core sends itself, that this side never sends, or of the other kind
    /// (a notification where a request belongs).
    MethodNotAllowed,
}

/// Faults of the peer that end the connection.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PeerMisbehaved {
    /// The answer to `initialize` is not usable.
    InvalidHandshake,
    /// A handshake came where none belongs.
    UnexpectedHandshake,
}

/// Two sound peers that cannot work together.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PeerIncompatible {
    /// No revision is spoken by both.
    NoCommonRevision {
        /// What this side speaks, newest first.
        ours: Vec<Revision>,
        /// What the peer named, as it wrote it.
        theirs: Vec<Box<str>>,
    },
    /// The peer lacks a capability that the request cannot do without; the `ClientCapabilities` or
    /// `ServerCapabilities` object that names what is missing.
    MissingCapability(Json),
}

/// A bound of [`Limits`](crate::Limits), or of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Limit {
    /// [`message_bytes`](crate::Limits::message_bytes)
    MessageBytes,
    /// [`depth`](crate::Limits::depth)
    Depth,
    /// [`requests_in_flight`](crate::Limits::requests_in_flight)
    RequestsInFlight,
    /// [`queued_requests`](crate::Limits::queued_requests)
    QueuedRequests,
    /// [`queued_events`](crate::Limits::queued_events)
    QueuedEvents,
    /// [`batch_items`](crate::Limits::batch_items)
    BatchItems,
    /// [`sessions`](crate::Limits::sessions)
    Sessions,
    /// [`subscriptions`](crate::Limits::subscriptions)
    Subscriptions,
    /// [`watched_resources`](crate::Limits::watched_resources)
    WatchedResources,
    /// [`rounds`](crate::Limits::rounds)
    Rounds,
    /// [`inputs`](crate::Limits::inputs)
    Inputs,
    /// [`request_state_bytes`](crate::Limits::request_state_bytes)
    RequestStateBytes,
    /// The memory that the host said is left. Nothing was taken.
    Memory,
}

/// How a machine or connection came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum CloseReason {
    /// This side closed it.
    ByUs,
    /// The peer closed it in order.
    ByPeer,
    /// The transport broke.
    TransportLost,
    /// The handshake or probe failed.
    HandshakeFailed,
    /// A defect of ours was caught at a language boundary; the machine is not usable any more.
    Poisoned,
}

impl Error {
    /// True if the machine is of no use any more: it has ended, or the peer is one that it cannot talk to.
    /// After a mistake of the caller, a bound or a missing capability it goes on as before.
    pub const fn is_fatal(&self) -> bool {
        match self {
            Error::ApiMisuse(_)
            | Error::LimitExceeded(_)
            | Error::PeerIncompatible(PeerIncompatible::MissingCapability(_)) => false,
            Error::PeerMisbehaved(_)
            | Error::PeerIncompatible(PeerIncompatible::NoCommonRevision { .. })
            | Error::Closed(_) => true,
        }
    }

    /// The number of this error, the same in every language. Numbers are never reused.
    pub const fn code(&self) -> u16 {
        match self {
            Error::ApiMisuse(misuse) => match misuse {
                ApiMisuse::UnknownRequest => 101,
                ApiMisuse::AlreadyAnswered => 102,
                ApiMisuse::UnknownInput => 103,
                ApiMisuse::UnknownSubscription => 104,
                ApiMisuse::UnknownSession => 105,
                ApiMisuse::NotAllowedInRevision(_) => 106,
                ApiMisuse::CapabilityNotDeclared(_) => 107,
                ApiMisuse::InvalidJson => 108,
                ApiMisuse::InvalidDefinition(_) => 109,
                ApiMisuse::AlreadyRegistered => 110,
                ApiMisuse::NotRegistered => 111,
                ApiMisuse::InvalidTemplate => 112,
                ApiMisuse::InputNotPossible => 113,
                ApiMisuse::MethodNotAllowed => 114,
                ApiMisuse::InvalidFormProperty(_) => 115,
                ApiMisuse::ArgumentNotString(_) => 116,
            },
            Error::PeerMisbehaved(fault) => match fault {
                PeerMisbehaved::InvalidHandshake => 201,
                PeerMisbehaved::UnexpectedHandshake => 202,
            },
            Error::PeerIncompatible(reason) => match reason {
                PeerIncompatible::NoCommonRevision { .. } => 301,
                PeerIncompatible::MissingCapability(_) => 302,
            },
            Error::LimitExceeded(limit) => 400 + limit.number(),
            Error::Closed(reason) => match reason {
                CloseReason::ByUs => 501,
                CloseReason::ByPeer => 502,
                CloseReason::TransportLost => 503,
                CloseReason::HandshakeFailed => 504,
                CloseReason::Poisoned => 505,
            },
        }
    }
}

impl Limit {
    const fn number(self) -> u16 {
        match self {
            Limit::MessageBytes => 1,
            Limit::Depth => 2,
            Limit::RequestsInFlight => 3,
            Limit::QueuedRequests => 4,
            Limit::QueuedEvents => 5,
            Limit::BatchItems => 6,
            Limit::Sessions => 7,
            Limit::Subscriptions => 8,
            Limit::WatchedResources => 9,
            Limit::Rounds => 10,
            Limit::Inputs => 11,
            Limit::RequestStateBytes => 12,
            Limit::Memory => 13,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::ApiMisuse(misuse) => misuse.fmt(f),
            Error::PeerMisbehaved(fault) => fault.fmt(f),
            Error::PeerIncompatible(reason) => reason.fmt(f),
            Error::LimitExceeded(limit) => write!(f, "the limit on {} is reached", limit.subject()),
            Error::Closed(reason) => write!(f, "the connection is over: {}", reason.explanation()),
        }
    }
}

impl fmt::Display for ApiMisuse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ApiMisuse::UnknownRequest => f.write_str("no such request is in flight"),
            ApiMisuse::AlreadyAnswered => f.write_str("the request was answered before"),
            ApiMisuse::UnknownInput => f.write_str("no such question stands"),
            ApiMisuse::UnknownSubscription => f.write_str("no such subscription is open"),
            ApiMisuse::UnknownSession => f.write_str("no such session is open"),
            ApiMisuse::NotAllowedInRevision(revision) => {
                write!(f, "protocol revision {revision} has no such feature")
            }
            ApiMisuse::CapabilityNotDeclared(capability) => {
                write!(f, "the peer did not declare the capability {}", capability.path())
            }
            ApiMisuse::InvalidJson => f.write_str("the text is not the JSON that belongs there"),
            ApiMisuse::InvalidDefinition(member) => {
                write!(f, "the definition's member {member:?} is missing or wrong")
            }
            ApiMisuse::InvalidFormProperty(name) => {
                write!(f, "the requestedSchema's property {name:?} is not what a form can ask for: ")?;
                f.write_str("a string, number, boolean or choice among strings, with a default that fits")
            }
            ApiMisuse::ArgumentNotString(name) => {
                write!(f, "the argument {name:?} is not a string, as arguments of prompts have to be")
            }
            ApiMisuse::AlreadyRegistered => f.write_str("it is registered already"),
            ApiMisuse::NotRegistered => f.write_str("it is not registered"),
            ApiMisuse::InvalidTemplate => f.write_str("the URI template does not follow RFC 6570"),
            ApiMisuse::InputNotPossible => f.write_str("this request cannot ask the client for input"),
            ApiMisuse::MethodNotAllowed => f.write_str("the method cannot be sent this way"),
        }
    }
}

impl fmt::Display for PeerMisbehaved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            PeerMisbehaved::InvalidHandshake => "the peer's answer to initialize is not usable",
            PeerMisbehaved::UnexpectedHandshake => "the peer sent a handshake where none belongs",
        })
    }
}

impl fmt::Display for PeerIncompatible {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PeerIncompatible::NoCommonRevision { ours, theirs } => {
                write!(f, "no common protocol revision: ours {ours:?}, theirs {theirs:?}")
            }
            PeerIncompatible::MissingCapability(required) => {
                write!(f, "the peer lacks capabilities: {required}")
            }
        }
    }
}

impl Limit {
    const fn subject(self) -> &'static str {
        match self {
            Limit::MessageBytes => "bytes of a message",
            Limit::Depth => "nesting of a message",
            Limit::RequestsInFlight => "requests in flight",
            Limit::QueuedRequests => "requests queued before the connection is ready",
            Limit::QueuedEvents => "queued events",
            Limit::BatchItems => "items of a batch",
            Limit::Sessions => "sessions",
            Limit::Subscriptions => "subscriptions",
            Limit::WatchedResources => "watched resources",
            Limit::Rounds => "rounds of a request",
            Limit::Inputs => "questions of a round",
            Limit::RequestStateBytes => "bytes of a requestState",
            Limit::Memory => "memory",
        }
    }
}

impl CloseReason {
    const fn explanation(self) -> &'static str {
        match self {
            CloseReason::ByUs => "closed by this side",
            CloseReason::ByPeer => "closed by the peer",
            CloseReason::TransportLost => "the transport broke",
            CloseReason::HandshakeFailed => "the handshake failed",
            CloseReason::Poisoned => "an internal error was caught",
        }
    }
}

impl From<ApiMisuse> for Error {
    fn from(misuse: ApiMisuse) -> Self {
        Error::ApiMisuse(misuse)
    }
}

impl From<PeerMisbehaved> for Error {
    fn from(fault: PeerMisbehaved) -> Self {
        Error::PeerMisbehaved(fault)
    }
}

impl From<PeerIncompatible> for Error {
    fn from(reason: PeerIncompatible) -> Self {
        Error::PeerIncompatible(reason)
    }
}

impl From<Limit> for Error {
    fn from(limit: Limit) -> Self {
        Error::LimitExceeded(limit)
    }
}

impl From<InputMismatch> for Error {
    fn from(mismatch: InputMismatch) -> Self {
        match mismatch {
            InputMismatch::InvalidJson => ApiMisuse::InvalidJson.into(),
            InputMismatch::InvalidMember(member) => ApiMisuse::InvalidDefinition(member).into(),
            InputMismatch::InvalidProperty(name) => ApiMisuse::InvalidFormProperty(name).into(),
            InputMismatch::NotInRevision(revision) => ApiMisuse::NotAllowedInRevision(revision).into(),
            InputMismatch::MissingCapability(missing) => {
                Error::PeerIncompatible(PeerIncompatible::MissingCapability(missing))
            }
        }
    }
}

impl core::error::Error for Error {}
