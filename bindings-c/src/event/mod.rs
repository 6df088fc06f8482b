//! Events: one opaque type for all, with a kind and accessors by member.

mod accessors;
mod context;
mod lists;

pub use accessors::*;
pub use context::*;
pub use lists::*;

use alloc::string::String;

use barewire::client::{self, FailureReason};
use barewire::server::{self, ClientFailure};
#[cfg(feature = "http")]
use barewire::transport::http::{client::HttpClientEvent, server::HttpServerEvent};
use barewire::{CloseReason, Error, RpcError};

use crate::room;

/// What a machine tells its application.
///
/// An event belongs to its machine: it is good until the next `poll_event` on the same handle, or until that is freed,
/// and is never freed itself. Commands on the handle leave it as it is, so that an event can be answered while it is
/// read. Everything that its accessors give is good for as long as the event.
///
/// Each accessor names the kinds of events that have the member. Of other events, and of NULL, it gives nothing: NULL
/// data, 0 or false. Handles of requests, subscriptions and so on are never 0.
pub struct bw_event {
    pub(crate) told: Told,
    /// Why something ended, where the core has no text of its own to lend.
    explanation: String,
}

#[allow(clippy::large_enum_variant, reason = "one lives in each handle, and moving it costs less than a box")]
pub(crate) enum Told {
    Nothing,
    Server(server::Event),
    Client(client::Event),
    #[cfg(feature = "http")]
    HttpServer(HttpServerEvent),
    #[cfg(feature = "http")]
    HttpClient(HttpClientEvent),
}

/// What an event is about. It decides which members it has.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum bw_kind {
    /// No event.
    BW_EVENT_NONE = 0,
    /// Server: a registered tool is called. To be answered once, as all requests that servers are told of.
    /// Members: request, name, arguments, and the context.
    BW_EVENT_TOOL_CALLED = 1,
    /// Server: a resource is read: registered itself, or matched by a registered template.
    /// Members: request, uri, template, variables, and the context.
    BW_EVENT_RESOURCE_READ_REQUESTED = 2,
    /// Server: a registered prompt is asked for. Members: request, name, arguments, and the context.
    BW_EVENT_PROMPT_REQUESTED = 3,
    /// Server: suggestions for an argument are asked for.
    /// Members: request, name (of a prompt) or uri (of a resource), argument, value, arguments, and the context.
    BW_EVENT_COMPLETION_REQUESTED = 4,
    /// Server: a method that the application asked to see. Members: request, method, params, and the context.
    BW_EVENT_REQUEST_RECEIVED = 5,
    /// Server: the client no longer wants the answer. A late answer is accepted and sends nothing.
    /// Members: request, reason.
    BW_EVENT_REQUEST_CANCELLED = 6,
    /// Server: a client watches something. Members: subscription, watches, uris.
    BW_EVENT_SUBSCRIPTION_OPENED = 7,
    /// Server: a client no longer watches. Members: subscription.
    BW_EVENT_SUBSCRIPTION_CLOSED = 8,
    /// Server: a legacy client has finished its handshake. Members: session, revision, peer, capabilities.
    BW_EVENT_SESSION_OPENED = 9,
    /// Server: a legacy session is over. Members: session.
    BW_EVENT_SESSION_CLOSED = 10,
    /// Server: the end of input was reached, and every owed answer was given or the time for it passed.
    /// Members: abandoned.
    BW_EVENT_DRAINED = 11,
    /// Client: a request ended well. Members: request, result, freshness.
    /// Server: a request to a legacy client ended. Members: request, session, result, or code, message, data.
    BW_EVENT_RESPONSE_RECEIVED = 12,
    /// Any other notification, extensions included. Members: method, params, session (server).
    BW_EVENT_NOTIFICATION_RECEIVED = 13,
    /// The peer deviated from the protocol in a way that did not matter. Members: violation, request, bytes.
    BW_EVENT_VIOLATION_TOLERATED = 14,
    /// The peer sent something unusable; the connection goes on. Members: violation, bytes.
    BW_EVENT_MESSAGE_DISCARDED = 15,
    /// The last event. Members: code, message, data, http_status.
    BW_EVENT_DISCONNECTED = 16,
    /// Client: era and revision are settled; queued requests go out. It comes once more if a stored verdict turns out
    /// wrong. Members: revision, peer, capabilities, instructions.
    BW_EVENT_READY = 17,
    /// Client: the server had lost the session, and a new one is there (HTTP, up to 2025-11-25). Members: as READY.
    BW_EVENT_SESSION_REPLACED = 18,
    /// Client: the server ended on the probe. Start it afresh and call `bw_client_restart`. It comes at most once.
    BW_EVENT_RESTART_REQUIRED = 19,
    /// Client: a request ended without a result. Members: request, code, message, data, http_status.
    BW_EVENT_REQUEST_FAILED = 20,
    /// Client: the server asks something; answer each question. Members: request (0 where the revision does not say),
    /// inputs, round.
    BW_EVENT_INPUT_REQUIRED = 21,
    /// Client: a question no longer stands. Members: input.
    BW_EVENT_INPUT_WITHDRAWN = 22,
    /// Client: a tool was left out of a list that a request asked for (HTTP, from 2026-07-28).
    /// Members: request, index, name, path, reason.
    BW_EVENT_TOOL_OMITTED = 23,
    /// Client: a request reports progress. Members: request, progress, total, message, increasing.
    BW_EVENT_PROGRESS_RECEIVED = 24,
    /// Client: the server logs something. Members: request (0 if that is not certain), log_level (0 for an unknown
    /// one), logger, data.
    BW_EVENT_LOG_RECEIVED = 25,
    /// Client: a subscription is in force. Members: subscription, watches, uris: what the server agreed to.
    BW_EVENT_SUBSCRIPTION_ACKNOWLEDGED = 26,
    /// Client: a subscription is over. Members: subscription, graceful.
    BW_EVENT_SUBSCRIPTION_ENDED = 27,
    /// Client: a list of the server changed: fetch it again. Members: list, subscription (or 0).
    BW_EVENT_LIST_CHANGED = 28,
    /// Client: a resource changed: read it again. Members: uri, subscription (or 0).
    BW_EVENT_RESOURCE_UPDATED = 29,
    /// HTTP server: a session id that is not known here. Load the session, import it and answer with
    /// `bw_server_http_resolve_session`. Members: exchange, id.
    BW_EVENT_SESSION_REQUESTED = 30,
    /// HTTP server: a session has got its id, which is a secret. Members: session, id.
    BW_EVENT_SESSION_NAMED = 31,
    /// HTTP server: keep this event of a stream. Members: session, stream, id, data.
    BW_EVENT_EVENT_APPENDED = 32,
    /// HTTP server: give the events after `after` with `bw_server_http_replay`. Members: exchange, session, stream,
    /// after.
    BW_EVENT_REPLAY_REQUESTED = 33,
    /// HTTP server: nobody will ask for the streams of this session any more. Members: session.
    BW_EVENT_STREAMS_FORGOTTEN = 34,
    /// HTTP client: the server wants authorization. The exchange waits for `bw_client_http_authorized` or
    /// `bw_client_http_unauthorized`. Members: exchange, http_status, challenges, dpop_nonce, operation.
    BW_EVENT_AUTHORIZATION_REQUIRED = 35,
}

/// Something that ended without a result.
struct End<'a> {
    code: i64,
    rpc: Option<&'a RpcError>,
    status: Option<u16>,
}

impl bw_event {
    pub(crate) const fn none() -> bw_event {
        bw_event { told: Told::Nothing, explanation: String::new() }
    }

    pub(crate) fn of_server(event: server::Event) -> bw_event {
        bw_event::new(Told::Server(event))
    }

    pub(crate) fn of_client(event: client::Event) -> bw_event {
        bw_event::new(Told::Client(event))
    }

    #[cfg(feature = "http")]
    pub(crate) fn of_http_server(event: HttpServerEvent) -> bw_event {
        bw_event::new(Told::HttpServer(event))
    }

    #[cfg(feature = "http")]
    pub(crate) fn of_http_client(event: HttpClientEvent) -> bw_event {
        bw_event::new(Told::HttpClient(event))
    }

    #[inline]
    fn new(told: Told) -> bw_event {
        let explanation = explanation(&told);
        bw_event { told, explanation }
    }

    /// Why something ended without a result, if the event tells that.
    fn end(&self) -> Option<End<'_>> {
        Some(match &self.told {
            Told::Server(server::Event::ResponseReceived { outcome: Err(failure), .. }) => {
                let rpc = match failure {
                    ClientFailure::Rpc(error) => Some(error),
                    _ => None,
                };
                End { code: failure.code(), rpc, status: None }
            }
            Told::Server(server::Event::Disconnected { reason }) => {
                End { code: code_of(*reason), rpc: None, status: None }
            }
            Told::Client(client::Event::RequestFailed { reason, .. }) => {
                let (rpc, status) = match reason {
                    FailureReason::Rpc(error) => (Some(error), None),
                    FailureReason::ExchangeFailed(failure) => (None, failure.status()),
                    _ => (None, None),
                };
                End { code: reason.code(), rpc, status }
            }
            Told::Client(client::Event::Disconnected { reason }) => {
                let (rpc, status) = match reason {
                    client::DisconnectReason::Refused(error) => (Some(error), None),
                    client::DisconnectReason::ExchangeFailed(failure) => (None, failure.status()),
                    _ => (None, None),
                };
                End { code: reason.code(), rpc, status }
            }
            _ => return None,
        })
    }

    fn kind(&self) -> bw_kind {
        match &self.told {
            Told::Nothing => bw_kind::BW_EVENT_NONE,
            Told::Server(event) => server_kind(event),
            Told::Client(event) => client_kind(event),
            #[cfg(feature = "http")]
            Told::HttpServer(event) => match event {
                HttpServerEvent::SessionRequested { .. } => bw_kind::BW_EVENT_SESSION_REQUESTED,
                HttpServerEvent::SessionNamed { .. } => bw_kind::BW_EVENT_SESSION_NAMED,
                HttpServerEvent::EventAppended { .. } => bw_kind::BW_EVENT_EVENT_APPENDED,
                HttpServerEvent::ReplayRequested { .. } => bw_kind::BW_EVENT_REPLAY_REQUESTED,
                HttpServerEvent::StreamsForgotten { .. } => bw_kind::BW_EVENT_STREAMS_FORGOTTEN,
                // The core marks its events as open for more.
                _ => bw_kind::BW_EVENT_NONE,
            },
            #[cfg(feature = "http")]
            Told::HttpClient(event) => match event {
                HttpClientEvent::AuthorizationRequired { .. } => bw_kind::BW_EVENT_AUTHORIZATION_REQUIRED,
                _ => bw_kind::BW_EVENT_NONE,
            },
        }
    }
}

/// Why something ended, where the core has no text to lend.
fn explanation(told: &Told) -> String {
    match told {
        Told::Server(server::Event::ResponseReceived { outcome: Err(failure), .. }) => match failure {
            ClientFailure::Rpc(_) => String::new(),
            failure => room::words(failure),
        },
        Told::Server(server::Event::Disconnected { reason }) => room::words(&Error::Closed(*reason)),
        Told::Client(client::Event::RequestFailed { reason, .. }) => match reason {
            FailureReason::Rpc(_) => String::new(),
            reason => room::words(reason),
        },
        Told::Client(client::Event::Disconnected { reason }) => match reason {
            client::DisconnectReason::Refused(_) => String::new(),
            reason => room::words(reason),
        },
        _ => String::new(),
    }
}

fn code_of(reason: CloseReason) -> i64 {
    i64::from(Error::Closed(reason).code())
}

fn server_kind(event: &server::Event) -> bw_kind {
    use server::Event;
    match event {
        Event::ToolCalled { .. } => bw_kind::BW_EVENT_TOOL_CALLED,
        Event::ResourceReadRequested { .. } => bw_kind::BW_EVENT_RESOURCE_READ_REQUESTED,
        Event::PromptRequested { .. } => bw_kind::BW_EVENT_PROMPT_REQUESTED,
        Event::CompletionRequested { .. } => bw_kind::BW_EVENT_COMPLETION_REQUESTED,
        Event::RequestReceived { .. } => bw_kind::BW_EVENT_REQUEST_RECEIVED,
        Event::RequestCancelled { .. } => bw_kind::BW_EVENT_REQUEST_CANCELLED,
        Event::SubscriptionOpened { .. } => bw_kind::BW_EVENT_SUBSCRIPTION_OPENED,
        Event::SubscriptionClosed { .. } => bw_kind::BW_EVENT_SUBSCRIPTION_CLOSED,
        Event::SessionOpened { .. } => bw_kind::BW_EVENT_SESSION_OPENED,
        Event::SessionClosed { .. } => bw_kind::BW_EVENT_SESSION_CLOSED,
        Event::ResponseReceived { .. } => bw_kind::BW_EVENT_RESPONSE_RECEIVED,
        Event::NotificationReceived { .. } => bw_kind::BW_EVENT_NOTIFICATION_RECEIVED,
        Event::ViolationTolerated { .. } => bw_kind::BW_EVENT_VIOLATION_TOLERATED,
        Event::MessageDiscarded { .. } => bw_kind::BW_EVENT_MESSAGE_DISCARDED,
        Event::Drained { .. } => bw_kind::BW_EVENT_DRAINED,
        Event::Disconnected { .. } => bw_kind::BW_EVENT_DISCONNECTED,
        // The core marks its events as open for more.
        _ => bw_kind::BW_EVENT_NONE,
    }
}

fn client_kind(event: &client::Event) -> bw_kind {
    use client::Event;
    match event {
        Event::Ready { .. } => bw_kind::BW_EVENT_READY,
        Event::SessionReplaced { .. } => bw_kind::BW_EVENT_SESSION_REPLACED,
        Event::RestartRequired => bw_kind::BW_EVENT_RESTART_REQUIRED,
        Event::ResponseReceived { .. } => bw_kind::BW_EVENT_RESPONSE_RECEIVED,
        Event::RequestFailed { .. } => bw_kind::BW_EVENT_REQUEST_FAILED,
        Event::InputRequired { .. } => bw_kind::BW_EVENT_INPUT_REQUIRED,
        Event::InputWithdrawn { .. } => bw_kind::BW_EVENT_INPUT_WITHDRAWN,
        Event::ToolOmitted { .. } => bw_kind::BW_EVENT_TOOL_OMITTED,
        Event::ProgressReceived { .. } => bw_kind::BW_EVENT_PROGRESS_RECEIVED,
        Event::LogReceived { .. } => bw_kind::BW_EVENT_LOG_RECEIVED,
        Event::SubscriptionAcknowledged { .. } => bw_kind::BW_EVENT_SUBSCRIPTION_ACKNOWLEDGED,
        Event::SubscriptionEnded { .. } => bw_kind::BW_EVENT_SUBSCRIPTION_ENDED,
        Event::ListChanged { .. } => bw_kind::BW_EVENT_LIST_CHANGED,
        Event::ResourceUpdated { .. } => bw_kind::BW_EVENT_RESOURCE_UPDATED,
        Event::NotificationReceived { .. } => bw_kind::BW_EVENT_NOTIFICATION_RECEIVED,
        Event::ViolationTolerated { .. } => bw_kind::BW_EVENT_VIOLATION_TOLERATED,
        Event::MessageDiscarded { .. } => bw_kind::BW_EVENT_MESSAGE_DISCARDED,
        Event::Disconnected { .. } => bw_kind::BW_EVENT_DISCONNECTED,
        // The core marks its events as open for more.
        _ => bw_kind::BW_EVENT_NONE,
    }
}
