//! What machines and transports tell, as one enumeration for each role.

use barewire::transport::http::client::HttpClientEvent;
use barewire::transport::http::server::HttpServerEvent;
use barewire::{RequestHandle, SubscriptionHandle, client, server};

use crate::errors::{Failure, apart};
use crate::values::{
    CacheScope, Capabilities, CompletionReference, InputRequest, ListKind, LogLevel, RequestContext,
    SubscriptionFilter, Variable, text,
};

/// Something that the application of a server should know.
///
/// Each request is answered once, by `respond`, `respond_error` or `require_input`; after the last of these the event
/// comes again with the answers.
#[derive(Clone, Debug, PartialEq, uniffi::Enum)]
pub enum ServerEvent {
    /// A registered tool is called.
    ToolCalled {
        /// The request.
        request: u64,
        /// The tool.
        name: String,
        /// The text of the arguments object, not checked against the tool's schema.
        arguments: Option<String>,
        /// Who asks, and how.
        context: RequestContext,
    },
    /// A resource is read: registered itself, or matched by a registered template.
    ResourceReadRequested {
        /// The request.
        request: u64,
        /// The URI as the client wrote it.
        uri: String,
        /// The template that matched, if it was one.
        template: Option<String>,
        /// What the variables of the template stand for, in its order.
        variables: Vec<Variable>,
        /// Who asks, and how.
        context: RequestContext,
    },
    /// A registered prompt is asked for.
    PromptRequested {
        /// The request.
        request: u64,
        /// The prompt.
        name: String,
        /// The text of the arguments object: strings by name.
        arguments: Option<String>,
        /// Who asks, and how.
        context: RequestContext,
    },
    /// Suggestions for an argument are asked for.
    CompletionRequested {
        /// The request.
        request: u64,
        /// What the argument belongs to.
        reference: CompletionReference,
        /// The argument's name.
        argument: String,
        /// What the user has typed so far.
        value: String,
        /// Arguments settled before: the text of an object of strings by name.
        arguments: Option<String>,
        /// Who asks, and how.
        context: RequestContext,
    },
    /// A method that the application asked to see.
    RequestReceived {
        /// The request.
        request: u64,
        /// The method.
        method: String,
        /// The text of its parameters.
        params: Option<String>,
        /// Who asks, and how.
        context: RequestContext,
    },
    /// The client no longer wants the answer. A late answer is accepted and sends nothing.
    RequestCancelled {
        /// The request.
        request: u64,
        /// Why, if the client said so.
        reason: Option<String>,
    },
    /// A client watches something.
    SubscriptionOpened {
        /// The subscription.
        subscription: u64,
        /// What was agreed to.
        filter: SubscriptionFilter,
    },
    /// A client no longer watches.
    SubscriptionClosed {
        /// The subscription.
        subscription: u64,
    },
    /// A legacy client has finished its handshake.
    SessionOpened {
        /// The session.
        session: u64,
        /// The revision spoken in it.
        revision: String,
        /// The text of the client's name and version object, if it gave one.
        client: Option<String>,
        /// What the client declared.
        capabilities: Capabilities,
    },
    /// A legacy session is over.
    SessionClosed {
        /// The session.
        session: u64,
    },
    /// A request of the server's own ended: either `result` or `error`.
    ResponseReceived {
        /// The session.
        session: u64,
        /// The request.
        request: u64,
        /// The text of the client's result.
        result: Option<String>,
        /// Why there is no result.
        error: Option<Failure>,
    },
    /// Any other notification, extensions included.
    NotificationReceived {
        /// The session it came in, where there is one.
        session: Option<u64>,
        /// The method.
        method: String,
        /// The text of its parameters.
        params: Option<String>,
    },
    /// The peer deviated from the protocol in a way that did not matter.
    ViolationTolerated {
        /// What was wrong, by its name, such as `duplicate_member`.
        violation: String,
        /// The request it concerns, if any.
        request: Option<u64>,
        /// The message as it arrived.
        bytes: Vec<u8>,
    },
    /// The peer sent something unusable; the connection goes on.
    MessageDiscarded {
        /// What was wrong, by its name, such as `not_json`.
        violation: String,
        /// The bytes as they arrived, or their head up to the limit.
        bytes: Vec<u8>,
    },
    /// The end of input was reached, and every owed answer was given or the time for it passed.
    Drained {
        /// Requests that were never answered.
        abandoned: Vec<u64>,
    },
    /// The last event.
    Disconnected {
        /// Why.
        reason: Failure,
    },
    /// A session that is not known here is asked for: load it, import it and answer with `resolve_session`. The id may be
    /// anything that a client wrote. Only over HTTP with `external_sessions`.
    SessionRequested {
        /// The exchange that waits.
        exchange: u64,
        /// The id from the request.
        id: String,
    },
    /// A session has got its id, a secret between client and server. Only over HTTP with `external_sessions` or with
    /// events kept outside.
    SessionNamed {
        /// The session.
        session: u64,
        /// Its id.
        id: String,
    },
    /// Keep this event of a stream. Only over HTTP with events kept outside.
    EventAppended {
        /// The session that the stream belongs to.
        session: u64,
        /// The stream.
        stream: String,
        /// The id of the event, unique over all streams.
        id: String,
        /// The message; empty for the first event of a stream, which only gives an id.
        data: String,
    },
    /// Give the events after this one with `replay`. Only over HTTP with events kept outside.
    ReplayRequested {
        /// The exchange that waits.
        exchange: u64,
        /// The session that asks.
        session: u64,
        /// The stream.
        stream: String,
        /// The id of the last event that the client got.
        after: String,
    },
    /// Nobody will ask for the streams of this session any more. Only over HTTP with events kept outside.
    StreamsForgotten {
        /// The session, which is over.
        session: u64,
    },
}

/// Something that the application of a client should know.
#[derive(Clone, Debug, PartialEq, uniffi::Enum)]
pub enum ClientEvent {
    /// The revision is settled; queued requests go out. It comes once more if a stored verdict turns out wrong.
    Ready {
        /// The revision spoken from now on.
        revision: String,
        /// The text of the server's name and version object, if it gave one.
        server: Option<String>,
        /// What the server declared; nothing is known of it where a stored verdict took the place of discovery.
        capabilities: Capabilities,
        /// Guidance for the model.
        instructions: Option<String>,
    },
    /// The server had lost the session, and a new one is there (HTTP). Lists may have changed and changes may have been
    /// missed; subscriptions are asked for again, and acknowledged anew.
    SessionReplaced {
        /// The revision spoken from now on.
        revision: String,
        /// The text of the server's name and version object, if it gave one.
        server: Option<String>,
        /// What the server declared.
        capabilities: Capabilities,
        /// Guidance for the model.
        instructions: Option<String>,
    },
    /// The server ended on the probe, as some old ones do: start it afresh and call `restart`. It comes at most once.
    RestartRequired,
    /// A request ended well.
    ResponseReceived {
        /// The request.
        request: u64,
        /// The text of the result object as the server wrote it.
        result: String,
        /// Milliseconds for which the result may be reused, where the revision says so.
        ttl_ms: Option<u64>,
        /// Who may share it, where the revision says so.
        cache_scope: Option<CacheScope>,
    },
    /// A request ended without a result.
    RequestFailed {
        /// The request.
        request: u64,
        /// Why.
        error: Failure,
    },
    /// The server asks something; answer each question with `provide_input` or `refuse_input`.
    InputRequired {
        /// The request it asks for; none where the revision does not say.
        request: Option<u64>,
        /// The questions.
        inputs: Vec<InputRequest>,
        /// How many times this request has asked, from 1.
        round: u32,
    },
    /// A question no longer stands; an answer would be refused.
    InputWithdrawn {
        /// The question.
        input: u64,
    },
    /// A tool was left out of a list that a request asked for: its definition wants an argument repeated in a header in a
    /// way that is not possible (HTTP).
    ToolOmitted {
        /// The request whose result it was in, which follows.
        request: u64,
        /// Its place in the list as the server sent it, from 0.
        index: u64,
        /// Its name, if it has one.
        name: Option<String>,
        /// The member that is wrong, from the definition on.
        path: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A request reports progress.
    ProgressReceived {
        /// The request.
        request: u64,
        /// How far it is.
        progress: f64,
        /// How far it will go, if known.
        total: Option<f64>,
        /// What it is doing.
        message: Option<String>,
        /// False if it is not more than the last time, which the protocol does not allow.
        increasing: bool,
    },
    /// The server logs something.
    LogReceived {
        /// The request it belongs to, if that is certain.
        request: Option<u64>,
        /// Its severity; none if the server wrote an unknown one.
        level: Option<LogLevel>,
        /// Which part of the server speaks.
        logger: Option<String>,
        /// The text of any JSON value.
        data: String,
    },
    /// A subscription is in force.
    SubscriptionAcknowledged {
        /// The subscription.
        subscription: u64,
        /// What the server agreed to, which may be less than was asked.
        honoured: SubscriptionFilter,
    },
    /// A subscription is over.
    SubscriptionEnded {
        /// The subscription.
        subscription: u64,
        /// True if the server or this side ended it in order; false if it was lost or refused, so that changes may have
        /// been missed.
        graceful: bool,
    },
    /// A list of the server changed: fetch it again.
    ListChanged {
        /// Which list.
        kind: ListKind,
        /// The subscription that asked for it, where there is one.
        subscription: Option<u64>,
    },
    /// A resource changed: read it again.
    ResourceUpdated {
        /// The resource, possibly one below the URI that was subscribed to.
        uri: String,
        /// The subscription that asked for it, where there is one.
        subscription: Option<u64>,
    },
    /// Any other notification, extensions included.
    NotificationReceived {
        /// The method.
        method: String,
        /// The text of its parameters.
        params: Option<String>,
    },
    /// The peer deviated from the protocol in a way that did not matter.
    ViolationTolerated {
        /// What was wrong, by its name, such as `duplicate_member`.
        violation: String,
        /// The request it concerns, if any.
        request: Option<u64>,
        /// The message as it arrived.
        bytes: Vec<u8>,
    },
    /// The peer sent something unusable; the connection goes on.
    MessageDiscarded {
        /// What was wrong, by its name, such as `not_json`.
        violation: String,
        /// The bytes as they arrived, or their head up to the limit.
        bytes: Vec<u8>,
    },
    /// The last event.
    Disconnected {
        /// Why.
        reason: Failure,
    },
    /// The server wants authorization (401) or more of it (403). The exchange waits for `authorized` or `unauthorized`. Only
    /// over HTTP with `authorizes`.
    AuthorizationRequired {
        /// The exchange that waits.
        exchange: u64,
        /// 401 or 403.
        status: u16,
        /// The values of `WWW-Authenticate`, in order.
        challenges: Vec<String>,
        /// The value of `DPoP-Nonce`.
        dpop_nonce: Option<String>,
        /// What was refused: the method and what it is called on, for counting.
        operation: String,
    },
}

/// An event of the core that is told outside.
pub(crate) trait ToEvent {
    /// As what it is told.
    type Event;

    /// The event as it is told. The core marks its events as open for more; one without a variant here would be a defect
    /// of this module, and is left out.
    fn to_event(self) -> Option<Self::Event>;
}

fn unknown<E>() -> Option<E> {
    debug_assert!(false, "an event without a variant");
    None
}

fn number(request: Option<RequestHandle>) -> Option<u64> {
    request.map(RequestHandle::number)
}

fn subscription_number(subscription: Option<SubscriptionHandle>) -> Option<u64> {
    subscription.map(SubscriptionHandle::number)
}

fn called(event: server::Event) -> Option<ServerEvent> {
    use server::Event;
    Some(match event {
        Event::ToolCalled { request, name, arguments, context } => ServerEvent::ToolCalled {
            request: request.number(),
            name: name.into(),
            arguments: arguments.as_ref().map(text),
            context: context.into(),
        },
        Event::ResourceReadRequested { request, uri, template, context } => {
            let (template, variables) = match template {
                Some(matched) => (Some(String::from(&*matched.template)), matched.variables),
                None => (None, Vec::new()),
            };
            let variable =
                |(name, value): (Box<str>, Box<str>)| Variable { name: name.into(), value: value.into() };
            ServerEvent::ResourceReadRequested {
                request: request.number(),
                uri: uri.into(),
                template,
                variables: variables.into_iter().map(variable).collect(),
                context: context.into(),
            }
        }
        Event::PromptRequested { request, name, arguments, context } => ServerEvent::PromptRequested {
            request: request.number(),
            name: name.into(),
            arguments: arguments.as_ref().map(text),
            context: context.into(),
        },
        Event::CompletionRequested { request, reference, argument, value, arguments, context } => {
            let reference = match reference {
                server::CompletionReference::Prompt(name) => {
                    CompletionReference::Prompt { name: name.into() }
                }
                server::CompletionReference::Resource(uri) => {
                    CompletionReference::Resource { uri: uri.into() }
                }
            };
            ServerEvent::CompletionRequested {
                request: request.number(),
                reference,
                argument: argument.into(),
                value: value.into(),
                arguments: arguments.as_ref().map(text),
                context: context.into(),
            }
        }
        Event::RequestReceived { request, method, params, context } => ServerEvent::RequestReceived {
            request: request.number(),
            method: method.into(),
            params: params.as_ref().map(text),
            context: context.into(),
        },
        _ => return unknown(),
    })
}

impl ToEvent for server::Event {
    type Event = ServerEvent;

    fn to_event(self) -> Option<ServerEvent> {
        use server::Event;
        Some(match self {
            Event::RequestCancelled { request, reason } => {
                ServerEvent::RequestCancelled { request: request.number(), reason: reason.map(String::from) }
            }
            Event::SubscriptionOpened { subscription, filter } => {
                ServerEvent::SubscriptionOpened { subscription: subscription.number(), filter: filter.into() }
            }
            Event::SubscriptionClosed { subscription } => {
                ServerEvent::SubscriptionClosed { subscription: subscription.number() }
            }
            Event::SessionOpened { session, revision, client, capabilities } => ServerEvent::SessionOpened {
                session: session.number(),
                revision: revision.as_str().into(),
                client: client.as_ref().map(text),
                capabilities: (&capabilities).into(),
            },
            Event::SessionClosed { session } => ServerEvent::SessionClosed { session: session.number() },
            Event::ResponseReceived { session, request, outcome } => {
                let (result, error) = apart(outcome);
                ServerEvent::ResponseReceived {
                    session: session.number(),
                    request: request.number(),
                    result,
                    error,
                }
            }
            Event::NotificationReceived { session, method, params } => ServerEvent::NotificationReceived {
                session: session.map(barewire::SessionHandle::number),
                method: method.into(),
                params: params.as_ref().map(text),
            },
            Event::ViolationTolerated { violation, request, bytes } => ServerEvent::ViolationTolerated {
                violation: violation.name().into(),
                request: number(request),
                bytes: bytes.into(),
            },
            Event::MessageDiscarded { violation, bytes } => {
                ServerEvent::MessageDiscarded { violation: violation.name().into(), bytes: bytes.into() }
            }
            Event::Drained { abandoned } => {
                ServerEvent::Drained { abandoned: abandoned.into_iter().map(RequestHandle::number).collect() }
            }
            Event::Disconnected { reason } => ServerEvent::Disconnected { reason: reason.into() },
            call => return called(call),
        })
    }
}

/// What comes of requests.
fn about_request(event: client::Event) -> Option<ClientEvent> {
    use client::Event;
    Some(match event {
        Event::ResponseReceived { request, result, freshness } => ClientEvent::ResponseReceived {
            request: request.number(),
            result: text(&result),
            ttl_ms: freshness.map(|freshness| freshness.ttl_ms),
            cache_scope: freshness.map(|freshness| freshness.scope),
        },
        Event::RequestFailed { request, reason } => {
            ClientEvent::RequestFailed { request: request.number(), error: reason.into() }
        }
        Event::InputRequired { request, inputs, round } => ClientEvent::InputRequired {
            request: number(request),
            inputs: inputs.into_iter().map(InputRequest::from).collect(),
            round,
        },
        Event::InputWithdrawn { input } => ClientEvent::InputWithdrawn { input: input.number() },
        Event::ToolOmitted { request, index, name, path, reason } => ClientEvent::ToolOmitted {
            request: request.number(),
            index: u64::try_from(index).unwrap_or(u64::MAX),
            name: name.map(String::from),
            path: path.into(),
            reason: reason.into(),
        },
        Event::ProgressReceived { request, progress, total, message, increasing } => {
            ClientEvent::ProgressReceived {
                request: request.number(),
                progress,
                total,
                message: message.map(String::from),
                increasing,
            }
        }
        Event::LogReceived { request, level, logger, data } => ClientEvent::LogReceived {
            request: number(request),
            level,
            logger: logger.map(String::from),
            data: text(&data),
        },
        _ => return unknown(),
    })
}

impl ToEvent for client::Event {
    type Event = ClientEvent;

    fn to_event(self) -> Option<ClientEvent> {
        use client::Event;
        Some(match self {
            Event::Ready { revision, server, capabilities, instructions } => ClientEvent::Ready {
                revision: revision.as_str().into(),
                server: server.as_ref().map(text),
                capabilities: (&capabilities).into(),
                instructions: instructions.map(String::from),
            },
            Event::SessionReplaced { revision, server, capabilities, instructions } => {
                ClientEvent::SessionReplaced {
                    revision: revision.as_str().into(),
                    server: server.as_ref().map(text),
                    capabilities: (&capabilities).into(),
                    instructions: instructions.map(String::from),
                }
            }
            Event::RestartRequired => ClientEvent::RestartRequired,
            Event::SubscriptionAcknowledged { subscription, honoured } => {
                ClientEvent::SubscriptionAcknowledged {
                    subscription: subscription.number(),
                    honoured: honoured.into(),
                }
            }
            Event::SubscriptionEnded { subscription, graceful } => {
                ClientEvent::SubscriptionEnded { subscription: subscription.number(), graceful }
            }
            Event::ListChanged { kind, subscription } => {
                ClientEvent::ListChanged { kind, subscription: subscription_number(subscription) }
            }
            Event::ResourceUpdated { uri, subscription } => ClientEvent::ResourceUpdated {
                uri: uri.into(),
                subscription: subscription_number(subscription),
            },
            Event::NotificationReceived { method, params } => {
                ClientEvent::NotificationReceived { method: method.into(), params: params.as_ref().map(text) }
            }
            Event::ViolationTolerated { violation, request, bytes } => ClientEvent::ViolationTolerated {
                violation: violation.name().into(),
                request: number(request),
                bytes: bytes.into(),
            },
            Event::MessageDiscarded { violation, bytes } => {
                ClientEvent::MessageDiscarded { violation: violation.name().into(), bytes: bytes.into() }
            }
            Event::Disconnected { reason } => ClientEvent::Disconnected { reason: reason.into() },
            of_request => return about_request(of_request),
        })
    }
}

impl ToEvent for HttpServerEvent {
    type Event = ServerEvent;

    fn to_event(self) -> Option<ServerEvent> {
        Some(match self {
            HttpServerEvent::SessionRequested { exchange, id } => {
                ServerEvent::SessionRequested { exchange: exchange.number(), id: id.into() }
            }
            HttpServerEvent::SessionNamed { session, id } => {
                ServerEvent::SessionNamed { session: session.number(), id: id.into() }
            }
            HttpServerEvent::EventAppended { session, stream, id, data } => ServerEvent::EventAppended {
                session: session.number(),
                stream: stream.into(),
                id: id.into(),
                data,
            },
            HttpServerEvent::ReplayRequested { exchange, session, stream, after } => {
                ServerEvent::ReplayRequested {
                    exchange: exchange.number(),
                    session: session.number(),
                    stream: stream.into(),
                    after: after.into(),
                }
            }
            HttpServerEvent::StreamsForgotten { session } => {
                ServerEvent::StreamsForgotten { session: session.number() }
            }
            _ => return unknown(),
        })
    }
}

impl ToEvent for HttpClientEvent {
    type Event = ClientEvent;

    fn to_event(self) -> Option<ClientEvent> {
        Some(match self {
            HttpClientEvent::AuthorizationRequired {
                exchange,
                status,
                challenges,
                dpop_nonce,
                operation,
            } => ClientEvent::AuthorizationRequired {
                exchange: exchange.number(),
                status,
                challenges: challenges.into_iter().map(String::from).collect(),
                dpop_nonce: dpop_nonce.map(String::from),
                operation: operation.into(),
            },
            _ => return unknown(),
        })
    }
}
