//! Events as rows. What stands where in a row is read in `bindings-node/src/events.ts`.

use barewire::client::Event as ClientEvent;
use barewire::server::{CompletionReference, Event as ServerEvent, RequestContext};
use barewire::transport::http::client::HttpClientEvent;
use barewire::transport::http::server::HttpServerEvent;
use barewire::{
    CacheScope, Capabilities, InputAnswer, InputRequest, Json, LogLevel, RequestHandle, Revision, RpcError,
    SubscriptionFilter, SubscriptionHandle,
};

use crate::batch::{Batch, Row};
use crate::errors::ToRow;
use crate::names::{self, INPUT_KINDS, LIST_KINDS, name_of};

/// The kind of a row, in the order of the readers in JavaScript.
#[derive(Clone, Copy)]
#[repr(u8)]
enum Kind {
    ToolCalled,
    ResourceReadRequested,
    PromptRequested,
    CompletionRequested,
    RequestReceived,
    RequestCancelled,
    SubscriptionOpened,
    SubscriptionClosed,
    SessionOpened,
    SessionClosed,
    Drained,
    ResponseReceived,
    NotificationReceived,
    ViolationTolerated,
    MessageDiscarded,
    Disconnected,
    Ready,
    SessionReplaced,
    RestartRequired,
    RequestFailed,
    InputRequired,
    InputWithdrawn,
    ToolOmitted,
    ProgressReceived,
    LogReceived,
    SubscriptionAcknowledged,
    SubscriptionEnded,
    ListChanged,
    ResourceUpdated,
    SessionRequested,
    SessionNamed,
    EventAppended,
    ReplayRequested,
    StreamsForgotten,
    AuthorizationRequired,
}

/// An event that JavaScript knows.
pub(crate) trait ToRows {
    fn write(&self, batch: &mut Batch);
}

fn json(json: Option<&Json>) -> Option<&str> {
    json.map(Json::as_str)
}

fn request_number(request: Option<RequestHandle>) -> Option<u64> {
    request.map(RequestHandle::number)
}

fn subscription_number(subscription: Option<SubscriptionHandle>) -> Option<u64> {
    subscription.map(SubscriptionHandle::number)
}

fn revision(row: &mut Row<'_>, revision: Revision) {
    row.number_or_null(names::place_of(revision));
}

/// A level by its place among all.
fn log_level(row: &mut Row<'_>, level: Option<LogLevel>) {
    let place = level.and_then(|level| LogLevel::ALL.iter().position(|known| *known == level));
    row.number_or_null(place.map(|place| place as u64));
}

/// What a peer declared: as it wrote it, and as bits.
fn capabilities(row: &mut Row<'_>, capabilities: &Capabilities) {
    row.piece_or_null(json(capabilities.raw()));
    row.number(names::declared(capabilities));
}

fn filter(row: &mut Row<'_>, filter: &SubscriptionFilter) {
    row.boolean(filter.tools);
    row.boolean(filter.resources);
    row.boolean(filter.prompts);
    row.array(|uris| filter.resource_uris.iter().for_each(|uri| uris.string(uri)));
}

fn rpc_error(row: &mut Row<'_>, error: Option<&RpcError>) {
    match error {
        Some(error) => row.json(&error.row()),
        None => row.null(),
    }
}

fn answer(row: &mut Row<'_>, answer: &InputAnswer) {
    row.array(|row| {
        row.string(&answer.key);
        row.piece_or_null(answer.outcome.as_ref().ok().map(Json::as_str));
        rpc_error(row, answer.outcome.as_ref().err());
    });
}

fn question(row: &mut Row<'_>, question: &InputRequest) {
    row.array(|row| {
        row.number(question.input.number());
        row.string(name_of(&INPUT_KINDS, question.kind));
        row.piece_or_null(json(question.params.as_ref()));
        row.string_or_null(question.key.as_deref());
    });
}

/// Who sent a request, and what came with it: what most requests lack stands last. It is the last of its row.
pub(crate) fn context(row: &mut Row<'_>, context: &RequestContext) {
    row.remembered(|row| row.cut_array(|row| whole_context(row, context)));
}

fn whole_context(row: &mut Row<'_>, context: &RequestContext) {
    revision(row, context.revision);
    row.piece_or_null(json(context.client.as_ref()));
    capabilities(row, &context.capabilities);
    log_level(row, context.log_level);
    row.number_or_null(context.session.map(barewire::SessionHandle::number));
    row.piece_or_null(json(context.meta.as_ref()));
    row.number_or_null(context.exchange.map(barewire::ExchangeHandle::number));
    row.piece_or_null(json(context.progress_token.as_ref()));
    row.string_or_null(context.principal.as_deref());
    row.number_or_null(Some(u64::from(context.round)).filter(|&round| round > 0));
    row.piece_or_null(json(context.state.as_ref()));
    if context.input_answers.is_empty() {
        row.null();
    } else {
        row.array(|answers| context.input_answers.iter().for_each(|one| answer(answers, one)));
    }
}

impl Batch {
    fn event(&mut self, kind: Kind, write: impl FnOnce(&mut Row<'_>)) {
        self.row(kind as u8, write);
    }
}

impl ToRows for ServerEvent {
    #[allow(clippy::too_many_lines, reason = "a table of the events")]
    fn write(&self, batch: &mut Batch) {
        match self {
            ServerEvent::ToolCalled { request, name, arguments, context: from } => {
                batch.event(Kind::ToolCalled, |row| {
                    row.number(request.number());
                    row.string(name);
                    row.piece_or_null(json(arguments.as_ref()));
                    context(row, from);
                });
            }
            ServerEvent::ResourceReadRequested { request, uri, template, context: from } => {
                batch.event(Kind::ResourceReadRequested, |row| {
                    row.number(request.number());
                    row.string(uri);
                    row.string_or_null(template.as_ref().map(|matched| &*matched.template));
                    row.array(|row| {
                        for (name, value) in template.iter().flat_map(|matched| &matched.variables) {
                            row.string(name);
                            row.string(value);
                        }
                    });
                    context(row, from);
                });
            }
            ServerEvent::PromptRequested { request, name, arguments, context: from } => {
                batch.event(Kind::PromptRequested, |row| {
                    row.number(request.number());
                    row.string(name);
                    row.piece_or_null(json(arguments.as_ref()));
                    context(row, from);
                });
            }
            ServerEvent::CompletionRequested {
                request,
                reference,
                argument,
                value,
                arguments,
                context: from,
            } => batch.event(Kind::CompletionRequested, |row| {
                row.number(request.number());
                let (prompt, resource) = match reference {
                    CompletionReference::Prompt(name) => (Some(&**name), None),
                    CompletionReference::Resource(uri) => (None, Some(&**uri)),
                };
                row.string_or_null(prompt);
                row.string_or_null(resource);
                row.string(argument);
                row.string(value);
                row.piece_or_null(json(arguments.as_ref()));
                context(row, from);
            }),
            ServerEvent::RequestReceived { request, method, params, context: from } => {
                batch.event(Kind::RequestReceived, |row| {
                    row.number(request.number());
                    row.string(method);
                    row.piece_or_null(json(params.as_ref()));
                    context(row, from);
                });
            }
            ServerEvent::RequestCancelled { request, reason } => batch.event(Kind::RequestCancelled, |row| {
                row.number(request.number());
                row.string_or_null(reason.as_deref());
            }),
            ServerEvent::SubscriptionOpened { subscription, filter: wanted } => {
                batch.event(Kind::SubscriptionOpened, |row| {
                    row.number(subscription.number());
                    filter(row, wanted);
                });
            }
            ServerEvent::SubscriptionClosed { subscription } => {
                batch.event(Kind::SubscriptionClosed, |row| row.number(subscription.number()));
            }
            ServerEvent::SessionOpened { session, revision: spoken, client, capabilities: declared } => {
                batch.event(Kind::SessionOpened, |row| {
                    row.number(session.number());
                    revision(row, *spoken);
                    row.piece_or_null(json(client.as_ref()));
                    capabilities(row, declared);
                });
            }
            ServerEvent::SessionClosed { session } => {
                batch.event(Kind::SessionClosed, |row| row.number(session.number()));
            }
            ServerEvent::ResponseReceived { request, outcome, .. } => {
                batch.event(Kind::ResponseReceived, |row| {
                    row.number(request.number());
                    row.piece_or_null(outcome.as_ref().ok().map(Json::as_str));
                    row.null();
                    row.null();
                    match outcome {
                        Ok(_) => row.null(),
                        Err(failure) => row.json(&failure.row()),
                    }
                });
            }
            ServerEvent::NotificationReceived { session, method, params } => {
                batch.event(Kind::NotificationReceived, |row| {
                    row.number_or_null(session.map(barewire::SessionHandle::number));
                    row.string(method);
                    row.piece_or_null(json(params.as_ref()));
                });
            }
            ServerEvent::ViolationTolerated { violation, request, bytes } => {
                batch.event(Kind::ViolationTolerated, |row| {
                    row.string(violation.name());
                    row.number_or_null(request_number(*request));
                    row.bytes(bytes);
                });
            }
            ServerEvent::MessageDiscarded { violation, bytes } => {
                batch.event(Kind::MessageDiscarded, |row| {
                    row.string(violation.name());
                    row.bytes(bytes);
                });
            }
            ServerEvent::Drained { abandoned } => batch.event(Kind::Drained, |row| {
                row.array(|row| abandoned.iter().for_each(|request| row.number(request.number())));
            }),
            ServerEvent::Disconnected { reason } => {
                batch.event(Kind::Disconnected, |row| row.json(&reason.row()));
            }
            // The core marks its events as open for more.
            _ => debug_assert!(false, "an event that JavaScript does not know"),
        }
    }
}

impl ToRows for ClientEvent {
    #[allow(clippy::too_many_lines, reason = "a table of the events")]
    fn write(&self, batch: &mut Batch) {
        match self {
            ClientEvent::Ready { revision: spoken, server, capabilities: declared, instructions }
            | ClientEvent::SessionReplaced {
                revision: spoken,
                server,
                capabilities: declared,
                instructions,
            } => {
                let is_first = matches!(self, ClientEvent::Ready { .. });
                let kind = if is_first { Kind::Ready } else { Kind::SessionReplaced };
                batch.event(kind, |row| {
                    revision(row, *spoken);
                    row.piece_or_null(json(server.as_ref()));
                    capabilities(row, declared);
                    row.string_or_null(instructions.as_deref());
                });
            }
            ClientEvent::RestartRequired => batch.event(Kind::RestartRequired, |_| {}),
            ClientEvent::ResponseReceived { request, result, freshness } => {
                batch.event(Kind::ResponseReceived, |row| {
                    row.number(request.number());
                    row.piece(result.as_str());
                    row.number_or_null(freshness.map(|freshness| freshness.ttl_ms));
                    row.string_or_null(freshness.map(|freshness| CacheScope::as_str(freshness.scope)));
                    row.null();
                });
            }
            ClientEvent::RequestFailed { request, reason } => batch.event(Kind::RequestFailed, |row| {
                row.number(request.number());
                row.json(&reason.row());
            }),
            ClientEvent::InputRequired { request, inputs, round } => {
                batch.event(Kind::InputRequired, |row| {
                    row.number_or_null(request_number(*request));
                    row.array(|row| inputs.iter().for_each(|input| question(row, input)));
                    row.number(u64::from(*round));
                });
            }
            ClientEvent::InputWithdrawn { input } => {
                batch.event(Kind::InputWithdrawn, |row| row.number(input.number()));
            }
            ClientEvent::ToolOmitted { request, index, name, path, reason } => {
                batch.event(Kind::ToolOmitted, |row| {
                    row.number(request.number());
                    row.number(u64::try_from(*index).unwrap_or(u64::MAX));
                    row.string_or_null(name.as_deref());
                    row.string(path);
                    row.string(reason);
                });
            }
            ClientEvent::ProgressReceived { request, progress, total, message, increasing } => {
                batch.event(Kind::ProgressReceived, |row| {
                    row.number(request.number());
                    row.float(*progress);
                    match total {
                        Some(total) => row.float(*total),
                        None => row.null(),
                    }
                    row.string_or_null(message.as_deref());
                    row.boolean(*increasing);
                });
            }
            ClientEvent::LogReceived { request, level, logger, data } => {
                batch.event(Kind::LogReceived, |row| {
                    row.number_or_null(request_number(*request));
                    log_level(row, *level);
                    row.string_or_null(logger.as_deref());
                    row.piece(data.as_str());
                });
            }
            ClientEvent::SubscriptionAcknowledged { subscription, honoured } => {
                batch.event(Kind::SubscriptionAcknowledged, |row| {
                    row.number(subscription.number());
                    filter(row, honoured);
                });
            }
            ClientEvent::SubscriptionEnded { subscription, graceful } => {
                batch.event(Kind::SubscriptionEnded, |row| {
                    row.number(subscription.number());
                    row.boolean(*graceful);
                });
            }
            ClientEvent::ListChanged { kind, subscription } => batch.event(Kind::ListChanged, |row| {
                row.string(name_of(&LIST_KINDS, *kind));
                row.number_or_null(subscription_number(*subscription));
            }),
            ClientEvent::ResourceUpdated { uri, subscription } => batch.event(Kind::ResourceUpdated, |row| {
                row.string(uri);
                row.number_or_null(subscription_number(*subscription));
            }),
            ClientEvent::NotificationReceived { method, params } => {
                batch.event(Kind::NotificationReceived, |row| {
                    row.null();
                    row.string(method);
                    row.piece_or_null(json(params.as_ref()));
                });
            }
            ClientEvent::ViolationTolerated { violation, request, bytes } => {
                batch.event(Kind::ViolationTolerated, |row| {
                    row.string(violation.name());
                    row.number_or_null(request_number(*request));
                    row.bytes(bytes);
                });
            }
            ClientEvent::MessageDiscarded { violation, bytes } => {
                batch.event(Kind::MessageDiscarded, |row| {
                    row.string(violation.name());
                    row.bytes(bytes);
                });
            }
            ClientEvent::Disconnected { reason } => {
                batch.event(Kind::Disconnected, |row| row.json(&reason.row()));
            }
            // The core marks its events as open for more.
            _ => debug_assert!(false, "an event that JavaScript does not know"),
        }
    }
}

impl ToRows for HttpServerEvent {
    fn write(&self, batch: &mut Batch) {
        match self {
            HttpServerEvent::SessionRequested { exchange, id } => {
                batch.event(Kind::SessionRequested, |row| {
                    row.number(exchange.number());
                    row.string(id);
                });
            }
            HttpServerEvent::SessionNamed { session, id } => batch.event(Kind::SessionNamed, |row| {
                row.number(session.number());
                row.string(id);
            }),
            HttpServerEvent::EventAppended { session, stream, id, data } => {
                batch.event(Kind::EventAppended, |row| {
                    row.number(session.number());
                    row.string(stream);
                    row.string(id);
                    row.piece(data);
                });
            }
            HttpServerEvent::ReplayRequested { exchange, session, stream, after } => {
                batch.event(Kind::ReplayRequested, |row| {
                    row.number(exchange.number());
                    row.number(session.number());
                    row.string(stream);
                    row.string(after);
                });
            }
            HttpServerEvent::StreamsForgotten { session } => {
                batch.event(Kind::StreamsForgotten, |row| row.number(session.number()));
            }
            // The core marks its events as open for more.
            _ => debug_assert!(false, "an event that JavaScript does not know"),
        }
    }
}

impl ToRows for HttpClientEvent {
    fn write(&self, batch: &mut Batch) {
        match self {
            HttpClientEvent::AuthorizationRequired {
                exchange,
                status,
                challenges,
                dpop_nonce,
                operation,
            } => {
                batch.event(Kind::AuthorizationRequired, |row| {
                    row.number(exchange.number());
                    row.number(u64::from(*status));
                    row.array(|row| challenges.iter().for_each(|challenge| row.string(challenge)));
                    row.string_or_null(dpop_nonce.as_deref());
                    row.string(operation);
                });
            }
            // The core marks its events as open for more.
            _ => debug_assert!(false, "an event that JavaScript does not know"),
        }
    }
}
