//! Accessors of single members.

use core::mem::MaybeUninit;

use barewire::client::Event as ClientEvent;
use barewire::server::{CompletionReference, Event as ServerEvent};
#[cfg(feature = "http")]
use barewire::transport::http::{client::HttpClientEvent, server::HttpServerEvent};
use barewire::{ExchangeHandle, Json, RequestHandle, SessionHandle, SubscriptionHandle};

use crate::bytes::bw_bytes;
use crate::values;

use super::{Told, bw_event, bw_kind};

/// Text that `get` finds in the event.
fn text<'a>(event: Option<&'a bw_event>, get: impl FnOnce(&'a Told) -> Option<&'a str>) -> bw_bytes {
    bw_bytes::text_or_none(event.and_then(|event| get(&event.told)))
}

/// JSON that `get` finds in the event.
fn json<'a>(event: Option<&'a bw_event>, get: impl FnOnce(&'a Told) -> Option<&'a Json>) -> bw_bytes {
    bw_bytes::json_of(event.and_then(|event| get(&event.told)))
}

/// What the event is about; `BW_EVENT_NONE` for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn bw_event_kind(event: Option<&bw_event>) -> bw_kind {
    event.map_or(bw_kind::BW_EVENT_NONE, bw_event::kind)
}

/// The request that the event is about. 0 if there is none.
#[unsafe(no_mangle)]
pub extern "C" fn bw_event_request(event: Option<&bw_event>) -> u64 {
    let request = event.and_then(|event| match &event.told {
        Told::Server(
            ServerEvent::ToolCalled { request, .. }
            | ServerEvent::ResourceReadRequested { request, .. }
            | ServerEvent::PromptRequested { request, .. }
            | ServerEvent::CompletionRequested { request, .. }
            | ServerEvent::RequestReceived { request, .. }
            | ServerEvent::RequestCancelled { request, .. }
            | ServerEvent::ResponseReceived { request, .. },
        )
        | Told::Client(
            ClientEvent::ResponseReceived { request, .. }
            | ClientEvent::RequestFailed { request, .. }
            | ClientEvent::ToolOmitted { request, .. }
            | ClientEvent::ProgressReceived { request, .. },
        ) => Some(*request),
        Told::Server(ServerEvent::ViolationTolerated { request, .. })
        | Told::Client(
            ClientEvent::InputRequired { request, .. }
            | ClientEvent::LogReceived { request, .. }
            | ClientEvent::ViolationTolerated { request, .. },
        ) => *request,
        _ => None,
    });
    request.map_or(0, RequestHandle::number)
}

/// The subscription that the event is about. 0 if there is none.
#[unsafe(no_mangle)]
pub extern "C" fn bw_event_subscription(event: Option<&bw_event>) -> u64 {
    let subscription = event.and_then(|event| match &event.told {
        Told::Server(
            ServerEvent::SubscriptionOpened { subscription, .. }
            | ServerEvent::SubscriptionClosed { subscription },
        )
        | Told::Client(
            ClientEvent::SubscriptionAcknowledged { subscription, .. }
            | ClientEvent::SubscriptionEnded { subscription, .. },
        ) => Some(*subscription),
        Told::Client(
            ClientEvent::ListChanged { subscription, .. } | ClientEvent::ResourceUpdated { subscription, .. },
        ) => *subscription,
        _ => None,
    });
    subscription.map_or(0, SubscriptionHandle::number)
}

/// The legacy session that the event is about, or that its request came in. 0 if there is none.
#[unsafe(no_mangle)]
pub extern "C" fn bw_event_session(event: Option<&bw_event>) -> u64 {
    let session = event.and_then(|event| match &event.told {
        Told::Server(
            ServerEvent::SessionOpened { session, .. }
            | ServerEvent::SessionClosed { session }
            | ServerEvent::ResponseReceived { session, .. },
        ) => Some(*session),
        Told::Server(ServerEvent::NotificationReceived { session, .. }) => *session,
        #[cfg(feature = "http")]
        Told::HttpServer(
            HttpServerEvent::SessionNamed { session, .. }
            | HttpServerEvent::EventAppended { session, .. }
            | HttpServerEvent::ReplayRequested { session, .. }
            | HttpServerEvent::StreamsForgotten { session },
        ) => Some(*session),
        _ => event.context().and_then(|context| context.session),
    });
    session.map_or(0, SessionHandle::number)
}

/// The HTTP exchange that waits, or that carries the request. 0 if there is none.
#[unsafe(no_mangle)]
pub extern "C" fn bw_event_exchange(event: Option<&bw_event>) -> u64 {
    let exchange = event.and_then(|event| match &event.told {
        #[cfg(feature = "http")]
        Told::HttpServer(
            HttpServerEvent::SessionRequested { exchange, .. }
            | HttpServerEvent::ReplayRequested { exchange, .. },
        )
        | Told::HttpClient(HttpClientEvent::AuthorizationRequired { exchange, .. }) => Some(*exchange),
        _ => event.context().and_then(|context| context.exchange),
    });
    exchange.map_or(0, ExchangeHandle::number)
}

/// The question that no longer stands: INPUT_WITHDRAWN. 0 otherwise.
#[unsafe(no_mangle)]
pub extern "C" fn bw_event_input(event: Option<&bw_event>) -> u64 {
    match event.map(|event| &event.told) {
        Some(Told::Client(ClientEvent::InputWithdrawn { input })) => input.number(),
        _ => 0,
    }
}

/// The tool or prompt: TOOL_CALLED, PROMPT_REQUESTED, COMPLETION_REQUESTED (for a prompt), TOOL_OMITTED (if it has one).
#[unsafe(no_mangle)]
pub extern "C" fn bw_event_name(event: Option<&bw_event>) -> bw_bytes {
    text(event, |told| match told {
        Told::Server(ServerEvent::ToolCalled { name, .. } | ServerEvent::PromptRequested { name, .. }) => {
            Some(name)
        }
        Told::Server(ServerEvent::CompletionRequested {
            reference: CompletionReference::Prompt(name),
            ..
        }) => Some(name),
        Told::Client(ClientEvent::ToolOmitted { name, .. }) => name.as_deref(),
        _ => None,
    })
}

/// The resource: RESOURCE_READ_REQUESTED, COMPLETION_REQUESTED (for a resource), RESOURCE_UPDATED.
#[unsafe(no_mangle)]
pub extern "C" fn bw_event_uri(event: Option<&bw_event>) -> bw_bytes {
    text(event, |told| match told {
        Told::Server(
            ServerEvent::ResourceReadRequested { uri, .. }
            | ServerEvent::CompletionRequested { reference: CompletionReference::Resource(uri), .. },
        )
        | Told::Client(ClientEvent::ResourceUpdated { uri, .. }) => Some(uri),
        _ => None,
    })
}

/// The registered template that the URI matched, if it was one: RESOURCE_READ_REQUESTED.
#[unsafe(no_mangle)]
pub extern "C" fn bw_event_template(event: Option<&bw_event>) -> bw_bytes {
    text(event, |told| match told {
        Told::Server(ServerEvent::ResourceReadRequested { template, .. }) => {
            template.as_ref().map(|matched| &*matched.template)
        }
        _ => None,
    })
}

/// The method: REQUEST_RECEIVED, NOTIFICATION_RECEIVED.
#[unsafe(no_mangle)]
pub extern "C" fn bw_event_method(event: Option<&bw_event>) -> bw_bytes {
    text(event, |told| match told {
        Told::Server(
            ServerEvent::RequestReceived { method, .. } | ServerEvent::NotificationReceived { method, .. },
        )
        | Told::Client(ClientEvent::NotificationReceived { method, .. }) => Some(method),
        _ => None,
    })
}

/// The parameters, a JSON object, if there are any: REQUEST_RECEIVED, NOTIFICATION_RECEIVED.
#[unsafe(no_mangle)]
pub extern "C" fn bw_event_params(event: Option<&bw_event>) -> bw_bytes {
    json(event, |told| match told {
        Told::Server(
            ServerEvent::RequestReceived { params, .. } | ServerEvent::NotificationReceived { params, .. },
        )
        | Told::Client(ClientEvent::NotificationReceived { params, .. }) => params.as_ref(),
        _ => None,
    })
}

/// The arguments, a JSON object, if there are any: TOOL_CALLED (not checked against the schema of the tool),
/// PROMPT_REQUESTED, and COMPLETION_REQUESTED (those settled before).
#[unsafe(no_mangle)]
pub extern "C" fn bw_event_arguments(event: Option<&bw_event>) -> bw_bytes {
    json(event, |told| match told {
        Told::Server(
            ServerEvent::ToolCalled { arguments, .. }
            | ServerEvent::PromptRequested { arguments, .. }
            | ServerEvent::CompletionRequested { arguments, .. },
        ) => arguments.as_ref(),
        _ => None,
    })
}

/// The name of the argument to complete: COMPLETION_REQUESTED.
#[unsafe(no_mangle)]
pub extern "C" fn bw_event_argument(event: Option<&bw_event>) -> bw_bytes {
    text(event, |told| match told {
        Told::Server(ServerEvent::CompletionRequested { argument, .. }) => Some(argument),
        _ => None,
    })
}

/// What the user has typed so far: COMPLETION_REQUESTED.
#[unsafe(no_mangle)]
pub extern "C" fn bw_event_value(event: Option<&bw_event>) -> bw_bytes {
    text(event, |told| match told {
        Told::Server(ServerEvent::CompletionRequested { value, .. }) => Some(value),
        _ => None,
    })
}

/// The result, a JSON object as the peer wrote it: RESPONSE_RECEIVED, where the request ended well.
#[unsafe(no_mangle)]
pub extern "C" fn bw_event_result(event: Option<&bw_event>) -> bw_bytes {
    json(event, |told| match told {
        Told::Client(ClientEvent::ResponseReceived { result, .. }) => Some(result),
        Told::Server(ServerEvent::ResponseReceived { outcome, .. }) => outcome.as_ref().ok(),
        _ => None,
    })
}

/// How long the result may be reused: RESPONSE_RECEIVED of a client. `ttl` is in milliseconds, `scope` a number of
/// `bw_cache_scope`; either may be NULL. False, and nothing written, if the result does not say or the revision has no
/// such thing (server/utilities/caching).
#[unsafe(no_mangle)]
pub extern "C" fn bw_event_freshness(
    event: Option<&bw_event>,
    ttl: Option<&mut MaybeUninit<u64>>,
    scope: Option<&mut MaybeUninit<i32>>,
) -> bool {
    let Some(Told::Client(ClientEvent::ResponseReceived { freshness: Some(freshness), .. })) =
        event.map(|event| &event.told)
    else {
        return false;
    };
    ttl.map(|ttl| ttl.write(freshness.ttl_ms));
    scope.map(|scope| scope.write(values::cache_scope_number(freshness.scope)));
    true
}

/// Why there is no result, or why it is over: REQUEST_FAILED, RESPONSE_RECEIVED of a server, DISCONNECTED. A number of
/// `bw_error`, or else the code of the error that the peer answered (see `bw_event_is_rpc_error`). 0 if there is a result.
#[unsafe(no_mangle)]
pub extern "C" fn bw_event_code(event: Option<&bw_event>) -> i64 {
    event.and_then(bw_event::end).map_or(0, |end| end.code)
}

/// Whether the peer answered with an error, so that `bw_event_code` is the peer's: REQUEST_FAILED, RESPONSE_RECEIVED of a
/// server, DISCONNECTED. A local end can never pass for the peer's.
#[unsafe(no_mangle)]
pub extern "C" fn bw_event_is_rpc_error(event: Option<&bw_event>) -> bool {
    event.and_then(bw_event::end).is_some_and(|end| end.rpc.is_some())
}

/// A text for people: why there is no result (REQUEST_FAILED, RESPONSE_RECEIVED of a server, DISCONNECTED), or what is
/// being done (PROGRESS_RECEIVED).
#[unsafe(no_mangle)]
pub extern "C" fn bw_event_message(event: Option<&bw_event>) -> bw_bytes {
    let Some(event) = event else { return bw_bytes::NONE };
    match (&event.told, event.end()) {
        (_, Some(end)) => bw_bytes::text_of(end.rpc.map_or(&*event.explanation, |error| &error.message)),
        (Told::Client(ClientEvent::ProgressReceived { message, .. }), _) => {
            bw_bytes::text_or_none(message.as_deref())
        }
        _ => bw_bytes::NONE,
    }
}

/// JSON that came along: what the peer gave with its error (as for `bw_event_code`), what was logged (LOG_RECEIVED), the
/// message to keep (EVENT_APPENDED; empty for the first event of a stream, which only gives an id).
#[unsafe(no_mangle)]
pub extern "C" fn bw_event_data(event: Option<&bw_event>) -> bw_bytes {
    let Some(event) = event else { return bw_bytes::NONE };
    match (&event.told, event.end()) {
        (_, Some(end)) => bw_bytes::json_of(end.rpc.and_then(|error| error.data.as_ref())),
        (Told::Client(ClientEvent::LogReceived { data, .. }), _) => bw_bytes::text_of(data.as_str()),
        #[cfg(feature = "http")]
        (Told::HttpServer(HttpServerEvent::EventAppended { data, .. }), _) => bw_bytes::text_of(data),
        _ => bw_bytes::NONE,
    }
}

/// The HTTP status: AUTHORIZATION_REQUIRED (401 or 403), REQUEST_FAILED and DISCONNECTED if the end came with one. 0
/// otherwise.
#[unsafe(no_mangle)]
pub extern "C" fn bw_event_http_status(event: Option<&bw_event>) -> u16 {
    match event.map(|event| &event.told) {
        #[cfg(feature = "http")]
        Some(Told::HttpClient(HttpClientEvent::AuthorizationRequired { status, .. })) => *status,
        _ => event.and_then(bw_event::end).and_then(|end| end.status).unwrap_or(0),
    }
}

/// The value of `DPoP-Nonce`, if one came (RFC 9449, section 9): AUTHORIZATION_REQUIRED.
#[unsafe(no_mangle)]
pub extern "C" fn bw_event_dpop_nonce(event: Option<&bw_event>) -> bw_bytes {
    text(event, |told| match told {
        #[cfg(feature = "http")]
        Told::HttpClient(HttpClientEvent::AuthorizationRequired { dpop_nonce, .. }) => dpop_nonce.as_deref(),
        _ => None,
    })
}

/// What was tried, for `bw_refusal`: AUTHORIZATION_REQUIRED.
#[unsafe(no_mangle)]
pub extern "C" fn bw_event_operation(event: Option<&bw_event>) -> bw_bytes {
    text(event, |told| match told {
        #[cfg(feature = "http")]
        Told::HttpClient(HttpClientEvent::AuthorizationRequired { operation, .. }) => Some(operation),
        _ => None,
    })
}

/// Why: REQUEST_CANCELLED (if the client said so), TOOL_OMITTED.
#[unsafe(no_mangle)]
pub extern "C" fn bw_event_reason(event: Option<&bw_event>) -> bw_bytes {
    text(event, |told| match told {
        Told::Server(ServerEvent::RequestCancelled { reason, .. }) => reason.as_deref(),
        Told::Client(ClientEvent::ToolOmitted { reason, .. }) => Some(reason),
        _ => None,
    })
}

/// Guidance for the model, if the server gave any: READY, SESSION_REPLACED.
#[unsafe(no_mangle)]
pub extern "C" fn bw_event_instructions(event: Option<&bw_event>) -> bw_bytes {
    text(event, |told| match told {
        Told::Client(
            ClientEvent::Ready { instructions, .. } | ClientEvent::SessionReplaced { instructions, .. },
        ) => instructions.as_deref(),
        _ => None,
    })
}

/// What was wrong, as a number of `bw_violation`: VIOLATION_TOLERATED, MESSAGE_DISCARDED. 0 otherwise.
#[unsafe(no_mangle)]
pub extern "C" fn bw_event_violation(event: Option<&bw_event>) -> i32 {
    match event.map(|event| &event.told) {
        Some(
            Told::Server(
                ServerEvent::ViolationTolerated { violation, .. }
                | ServerEvent::MessageDiscarded { violation, .. },
            )
            | Told::Client(
                ClientEvent::ViolationTolerated { violation, .. }
                | ClientEvent::MessageDiscarded { violation, .. },
            ),
        ) => values::violation_number(*violation),
        _ => 0,
    }
}

/// What was wrong, in a few words: VIOLATION_TOLERATED, MESSAGE_DISCARDED.
#[unsafe(no_mangle)]
pub extern "C" fn bw_event_violation_text(event: Option<&bw_event>) -> bw_bytes {
    text(event, |told| match told {
        Told::Server(
            ServerEvent::ViolationTolerated { violation, .. }
            | ServerEvent::MessageDiscarded { violation, .. },
        )
        | Told::Client(
            ClientEvent::ViolationTolerated { violation, .. }
            | ClientEvent::MessageDiscarded { violation, .. },
        ) => Some(violation.explanation()),
        _ => None,
    })
}

/// The bytes as they arrived, or their head up to the limit; not always UTF-8: VIOLATION_TOLERATED, MESSAGE_DISCARDED.
#[unsafe(no_mangle)]
pub extern "C" fn bw_event_bytes(event: Option<&bw_event>) -> bw_bytes {
    match event.map(|event| &event.told) {
        Some(
            Told::Server(
                ServerEvent::ViolationTolerated { bytes, .. } | ServerEvent::MessageDiscarded { bytes, .. },
            )
            | Told::Client(
                ClientEvent::ViolationTolerated { bytes, .. } | ClientEvent::MessageDiscarded { bytes, .. },
            ),
        ) => bw_bytes::of(bytes),
        _ => bw_bytes::NONE,
    }
}

/// How many times the request has asked before (of a server), or has asked, from 1: INPUT_REQUIRED.
#[unsafe(no_mangle)]
pub extern "C" fn bw_event_round(event: Option<&bw_event>) -> u32 {
    match event.map(|event| &event.told) {
        Some(Told::Client(ClientEvent::InputRequired { round, .. })) => *round,
        _ => event.and_then(bw_event::context).map_or(0, |context| context.round),
    }
}

/// The place of the tool in the list as the server sent it, from 0: TOOL_OMITTED.
#[unsafe(no_mangle)]
pub extern "C" fn bw_event_index(event: Option<&bw_event>) -> usize {
    match event.map(|event| &event.told) {
        Some(Told::Client(ClientEvent::ToolOmitted { index, .. })) => *index,
        _ => 0,
    }
}

/// The member of the definition that is wrong: TOOL_OMITTED.
#[unsafe(no_mangle)]
pub extern "C" fn bw_event_path(event: Option<&bw_event>) -> bw_bytes {
    text(event, |told| match told {
        Told::Client(ClientEvent::ToolOmitted { path, .. }) => Some(path),
        _ => None,
    })
}

/// How far the request is: PROGRESS_RECEIVED. 0 otherwise.
#[unsafe(no_mangle)]
pub extern "C" fn bw_event_progress(event: Option<&bw_event>) -> f64 {
    match event.map(|event| &event.told) {
        Some(Told::Client(ClientEvent::ProgressReceived { progress, .. })) => *progress,
        _ => 0.0,
    }
}

/// How far the request will go: PROGRESS_RECEIVED. False, and nothing written, if that is not known.
#[unsafe(no_mangle)]
pub extern "C" fn bw_event_total(event: Option<&bw_event>, total: Option<&mut MaybeUninit<f64>>) -> bool {
    match (event.map(|event| &event.told), total) {
        (Some(Told::Client(ClientEvent::ProgressReceived { total: Some(known), .. })), Some(total)) => {
            total.write(*known);
            true
        }
        _ => false,
    }
}

/// Whether progress is more than the last time, as the protocol wants it: PROGRESS_RECEIVED.
#[unsafe(no_mangle)]
pub extern "C" fn bw_event_is_increasing(event: Option<&bw_event>) -> bool {
    matches!(
        event.map(|event| &event.told),
        Some(Told::Client(ClientEvent::ProgressReceived { increasing: true, .. }))
    )
}

/// A severity as a number of `bw_log_level`: of the message (LOG_RECEIVED; 0 for an unknown one), or the least that the
/// client of a request wants to be told of (0: no log messages).
#[unsafe(no_mangle)]
pub extern "C" fn bw_event_log_level(event: Option<&bw_event>) -> i32 {
    let level = match event.map(|event| &event.told) {
        Some(Told::Client(ClientEvent::LogReceived { level, .. })) => *level,
        _ => event.and_then(bw_event::context).and_then(|context| context.log_level),
    };
    values::log_level_number(level)
}

/// Which part of the server speaks, if it says so: LOG_RECEIVED.
#[unsafe(no_mangle)]
pub extern "C" fn bw_event_logger(event: Option<&bw_event>) -> bw_bytes {
    text(event, |told| match told {
        Told::Client(ClientEvent::LogReceived { logger, .. }) => logger.as_deref(),
        _ => None,
    })
}

/// Whether a subscription ended in order; false if it was lost or refused, so that changes may have been missed:
/// SUBSCRIPTION_ENDED.
#[unsafe(no_mangle)]
pub extern "C" fn bw_event_is_graceful(event: Option<&bw_event>) -> bool {
    matches!(
        event.map(|event| &event.told),
        Some(Told::Client(ClientEvent::SubscriptionEnded { graceful: true, .. }))
    )
}

/// Which list changed, as a number of `bw_list_kind`: LIST_CHANGED. 0 otherwise.
#[unsafe(no_mangle)]
pub extern "C" fn bw_event_list(event: Option<&bw_event>) -> i32 {
    match event.map(|event| &event.told) {
        Some(Told::Client(ClientEvent::ListChanged { kind, .. })) => values::list_kind_number(Some(*kind)),
        _ => 0,
    }
}

/// The id: of a session, a secret (SESSION_REQUESTED, SESSION_NAMED), or of an event of a stream (EVENT_APPENDED).
/// SESSION_REQUESTED gives what the client wrote, which may be anything.
#[unsafe(no_mangle)]
pub extern "C" fn bw_event_id(event: Option<&bw_event>) -> bw_bytes {
    text(event, |told| match told {
        #[cfg(feature = "http")]
        Told::HttpServer(
            HttpServerEvent::SessionRequested { id, .. }
            | HttpServerEvent::SessionNamed { id, .. }
            | HttpServerEvent::EventAppended { id, .. },
        ) => Some(id),
        _ => None,
    })
}

/// The stream: EVENT_APPENDED, REPLAY_REQUESTED.
#[unsafe(no_mangle)]
pub extern "C" fn bw_event_stream(event: Option<&bw_event>) -> bw_bytes {
    text(event, |told| match told {
        #[cfg(feature = "http")]
        Told::HttpServer(
            HttpServerEvent::EventAppended { stream, .. } | HttpServerEvent::ReplayRequested { stream, .. },
        ) => Some(stream),
        _ => None,
    })
}

/// The id of the last event that the client got: REPLAY_REQUESTED.
#[unsafe(no_mangle)]
pub extern "C" fn bw_event_after(event: Option<&bw_event>) -> bw_bytes {
    text(event, |told| match told {
        #[cfg(feature = "http")]
        Told::HttpServer(HttpServerEvent::ReplayRequested { after, .. }) => Some(after),
        _ => None,
    })
}
