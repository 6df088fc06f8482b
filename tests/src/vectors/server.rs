//! The server role as scripts see it.

use barewire::server::{ClientFailure, CompletionReference, Event, Notification, RequestContext, Server};
use barewire::transport::Stdio;
use barewire::{
    CacheScope, Change, Error, Freshness, Implementation, InputAnswer, InputQuestion, Instant, LogLevel,
    RequestHandle, RpcError, ServerConfig, SessionHandle, SubscriptionHandle,
};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::play::{self, Failure, Outcome};
use super::settings;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Config {
    #[serde(default = "settings::version")]
    version: String,
    title: Option<String>,
    description: Option<String>,
    instructions: Option<Box<str>>,
    revisions: Option<Vec<String>>,
    logging: Option<bool>,
    completions: Option<bool>,
    extensions: Option<Value>,
    #[serde(default)]
    extension_methods: Vec<Box<str>>,
    #[serde(default)]
    ttl_ms: u64,
    #[serde(default)]
    cache_scope: Scope,
    identify_results: Option<bool>,
    #[serde(default)]
    limits: Map<String, Value>,
    #[serde(default)]
    timeouts: Map<String, Value>,
    #[serde(default)]
    tools: Vec<Value>,
    #[serde(default)]
    resources: Vec<Value>,
    #[serde(default)]
    resource_templates: Vec<Value>,
    #[serde(default)]
    prompts: Vec<Value>,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Scope {
    Public,
    #[default]
    Private,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Question {
    key: Box<str>,
    kind: String,
    params: Value,
}

#[derive(Deserialize)]
#[serde(tag = "command", rename_all = "snake_case", deny_unknown_fields)]
enum Command {
    AddTool { definition: Value },
    RemoveTool { name: String },
    AddResource { definition: Value },
    RemoveResource { uri: String },
    AddResourceTemplate { definition: Value },
    RemoveResourceTemplate { template: String },
    AddPrompt { definition: Value },
    RemovePrompt { name: String },
    Respond { request: u64, result: Value },
    RespondError { request: u64, code: i64, message: String, data: Option<Value> },
    RespondMissingCapability { request: u64, required: Value },
    RespondInvalidArguments { request: u64, message: String },
    RequireInput { request: u64, questions: Vec<Question>, state: Option<Value> },
    Progress { request: u64, progress: f64, total: Option<f64>, message: Option<String> },
    Log { request: Option<u64>, level: String, logger: Option<String>, data: Value },
    Notify { request: u64, method: String, params: Option<Value> },
    PublishListChanged { kind: String },
    PublishResourceUpdated { uri: Box<str> },
    EndSubscription { subscription: u64 },
    Request { session: u64, method: String, params: Option<Value> },
    Close {},
}

/// A server that plays a script.
pub(super) struct Played(Stdio<Server>);

impl Played {
    pub(super) fn new(config: &Map<String, Value>) -> Result<Played, String> {
        let read: Config = settings::read(config)?;
        let mut who = Implementation::new("server", &read.version);
        who.title = read.title.map(Into::into);
        who.description = read.description.map(Into::into);
        let mut config = ServerConfig::new(who, [2; 32]);
        config.instructions = read.instructions;
        if let Some(names) = read.revisions {
            config.revisions = settings::revisions(&names)?;
        }
        config.logging = read.logging.unwrap_or(config.logging);
        config.completions = read.completions.unwrap_or(config.completions);
        config.extensions = read.extensions.as_ref().map(settings::json).transpose()?;
        config.extension_methods = read.extension_methods;
        let scope = match read.cache_scope {
            Scope::Public => CacheScope::Public,
            Scope::Private => CacheScope::Private,
        };
        config.freshness = Freshness { ttl_ms: read.ttl_ms, scope };
        config.identify_results = read.identify_results.unwrap_or(config.identify_results);
        settings::set_limits(&mut config.limits, read.limits)?;
        settings::set_timeouts(&mut config.timeouts, read.timeouts)?;
        let mut server = Server::new(config).map_err(|error| error.to_string())?;
        register(&mut server, &read.tools, Server::add_tool)?;
        register(&mut server, &read.resources, Server::add_resource)?;
        register(&mut server, &read.resource_templates, Server::add_resource_template)?;
        register(&mut server, &read.prompts, Server::add_prompt)?;
        Ok(Played(Stdio::new(server)))
    }
}

fn register(
    server: &mut Server,
    definitions: &[Value],
    add: fn(&mut Server, &str) -> Result<(), Error>,
) -> Result<(), String> {
    let mut definitions = definitions.iter();
    definitions.try_for_each(|definition| {
        let text = settings::json_text(definition);
        add(server, &text).map_err(|error| format!("{text}: {error}"))
    })
}

impl play::Played for Played {
    type Machine = Server;

    fn stdio(&mut self) -> &mut Stdio<Server> {
        &mut self.0
    }

    fn command(&mut self, now: Instant, command: Map<String, Value>) -> Result<Outcome, Failure> {
        run(self.0.machine_mut(), now, settings::read(&command)?)
    }

    fn describe(&self, event: Event) -> Value {
        describe(event)
    }

    fn era_verdict(&mut self) -> Option<String> {
        None
    }
}

fn run(server: &mut Server, now: Instant, command: Command) -> Result<Outcome, Failure> {
    let definition = |definition: &Value| settings::json_text(definition);
    match command {
        Command::AddTool { definition: tool } => done(server.add_tool(&definition(&tool))),
        Command::RemoveTool { name } => done(server.remove_tool(&name)),
        Command::AddResource { definition: resource } => done(server.add_resource(&definition(&resource))),
        Command::RemoveResource { uri } => done(server.remove_resource(&uri)),
        Command::AddResourceTemplate { definition: template } => {
            done(server.add_resource_template(&definition(&template)))
        }
        Command::RemoveResourceTemplate { template } => done(server.remove_resource_template(&template)),
        Command::AddPrompt { definition: prompt } => done(server.add_prompt(&definition(&prompt))),
        Command::RemovePrompt { name } => done(server.remove_prompt(&name)),
        Command::PublishListChanged { kind } => {
            server.publish(&Change::List(settings::list_kind_of(&kind)?));
            Ok(Outcome::Nothing)
        }
        Command::PublishResourceUpdated { uri } => {
            server.publish(&Change::Resource(uri));
            Ok(Outcome::Nothing)
        }
        Command::EndSubscription { subscription } => {
            done(server.end_subscription(SubscriptionHandle::from_number(subscription)))
        }
        Command::Request { session, method, params } => {
            let params = params.as_ref().map(settings::json_text);
            let session = SessionHandle::from_number(session);
            let request = server.request(now, session, &method, params.as_deref())?;
            Ok(Outcome::Handle("request", request.number()))
        }
        Command::Close {} => {
            server.close();
            Ok(Outcome::Nothing)
        }
        answer => run_for_request(server, now, answer),
    }
}

/// Commands that belong to a request of the client.
fn run_for_request(server: &mut Server, now: Instant, command: Command) -> Result<Outcome, Failure> {
    let handle = RequestHandle::from_number;
    match command {
        Command::Respond { request, result } => {
            done(server.respond(handle(request), settings::json_text(&result)))
        }
        Command::RespondError { request, code, message, data } => {
            let mut error = RpcError::new(code, &message);
            error.data = data.as_ref().map(settings::json).transpose()?;
            done(server.respond_error(handle(request), error))
        }
        Command::RespondMissingCapability { request, required } => {
            done(server.respond_missing_capability(handle(request), &settings::json_text(&required)))
        }
        Command::RespondInvalidArguments { request, message } => {
            done(server.respond_invalid_arguments(handle(request), &message))
        }
        Command::RequireInput { request, questions, state } => {
            let read = |question: Question| -> Result<InputQuestion, String> {
                let kind = settings::input_kind_of(&question.kind)?;
                Ok(InputQuestion { key: question.key, kind, params: settings::json(&question.params)? })
            };
            let questions = questions.into_iter().map(read).collect::<Result<_, _>>()?;
            let state = state.as_ref().map(settings::json_text);
            done(server.require_input(now, handle(request), questions, state.as_deref()))
        }
        Command::Progress { request, progress, total, message } => {
            let report = Notification::Progress { progress, total, message: message.as_deref() };
            Ok(Outcome::Flag(server.notify(handle(request), report)?))
        }
        Command::Log { request, level, logger, data } => {
            let (level, data) = (settings::log_level(&level)?, settings::json_text(&data));
            let Some(request) = request else {
                return done(server.log(level, logger.as_deref(), &data));
            };
            let report = Notification::Log { level, logger: logger.as_deref(), data: &data };
            Ok(Outcome::Flag(server.notify(handle(request), report)?))
        }
        Command::Notify { request, method, params } => {
            let params = params.as_ref().map(settings::json_text);
            let other = Notification::Other { method: &method, params: params.as_deref() };
            Ok(Outcome::Flag(server.notify(handle(request), other)?))
        }
        _ => Err(Failure::Wrong("no such command".into())),
    }
}

fn done(outcome: Result<(), Error>) -> Result<Outcome, Failure> {
    outcome.map(|()| Outcome::Nothing).map_err(Failure::Refused)
}

fn answer(answer: &InputAnswer) -> Value {
    let (result, error) = match &answer.outcome {
        Ok(result) => (settings::text(Some(result)), Value::Null),
        Err(error) => (Value::Null, settings::rpc_error(error)),
    };
    json!({"key": answer.key, "result": result, "error": error})
}

fn context(context: &RequestContext) -> Value {
    json!({
        "revision": context.revision.as_str(),
        "client": settings::text(context.client.as_ref()),
        "capabilities": settings::text(context.capabilities.raw()),
        "log_level": context.log_level.map(LogLevel::as_str),
        "progress_token": settings::text(context.progress_token.as_ref()),
        "meta": settings::text(context.meta.as_ref()),
        "session": context.session.map(SessionHandle::number),
        "input_answers": context.input_answers.iter().map(answer).collect::<Vec<_>>(),
        "state": settings::text(context.state.as_ref()),
        "round": context.round,
    })
}

fn failure(reason: &ClientFailure) -> Value {
    match reason {
        ClientFailure::Rpc(error) => settings::rpc_error(error),
        local => json!({"local": local.code()}),
    }
}

fn describe(event: Event) -> Value {
    match event {
        Event::ToolCalled { request, name, arguments, context: from } => json!({
            "event": "ToolCalled", "request": request.number(), "name": name,
            "arguments": settings::text(arguments.as_ref()), "context": context(&from),
        }),
        Event::ResourceReadRequested { request, uri, template, context: from } => {
            let (template, variables) =
                template.map_or((None, Vec::new()), |matched| (Some(matched.template), matched.variables));
            let variables: Map<_, _> =
                variables.iter().map(|(name, value)| (name.to_string(), Value::from(&**value))).collect();
            json!({
                "event": "ResourceReadRequested", "request": request.number(), "uri": uri,
                "template": template.as_deref(), "variables": variables, "context": context(&from),
            })
        }
        Event::PromptRequested { request, name, arguments, context: from } => json!({
            "event": "PromptRequested", "request": request.number(), "name": name,
            "arguments": settings::text(arguments.as_ref()), "context": context(&from),
        }),
        Event::CompletionRequested { request, reference, argument, value, arguments, context: from } => {
            let (prompt, resource) = match reference {
                CompletionReference::Prompt(name) => (Some(name), None),
                CompletionReference::Resource(uri) => (None, Some(uri)),
            };
            json!({
                "event": "CompletionRequested", "request": request.number(), "prompt": prompt,
                "resource": resource, "argument": argument, "value": value,
                "arguments": settings::text(arguments.as_ref()), "context": context(&from),
            })
        }
        Event::RequestReceived { request, method, params, context: from } => json!({
            "event": "RequestReceived", "request": request.number(), "method": method,
            "params": settings::text(params.as_ref()), "context": context(&from),
        }),
        Event::RequestCancelled { request, reason } => {
            json!({"event": "RequestCancelled", "request": request.number(), "reason": reason})
        }
        other => describe_other(other),
    }
}

/// Events that are about no request of the client.
fn describe_other(event: Event) -> Value {
    match event {
        Event::SubscriptionOpened { subscription, filter } => json!({
            "event": "SubscriptionOpened", "subscription": subscription.number(),
            "filter": settings::filter(&filter),
        }),
        Event::SubscriptionClosed { subscription } => {
            json!({"event": "SubscriptionClosed", "subscription": subscription.number()})
        }
        Event::SessionOpened { session, revision, client, capabilities } => json!({
            "event": "SessionOpened", "session": session.number(), "revision": revision.as_str(),
            "client": settings::text(client.as_ref()), "capabilities": settings::text(capabilities.raw()),
        }),
        Event::SessionClosed { session } => json!({"event": "SessionClosed", "session": session.number()}),
        Event::ResponseReceived { request, outcome, .. } => {
            let (result, error) = match &outcome {
                Ok(result) => (settings::text(Some(result)), Value::Null),
                Err(reason) => (Value::Null, failure(reason)),
            };
            json!({"event": "ResponseReceived", "request": request.number(), "result": result, "error": error})
        }
        Event::NotificationReceived { session, method, params } => json!({
            "event": "NotificationReceived", "session": session.map(SessionHandle::number), "method": method,
            "params": settings::text(params.as_ref()),
        }),
        Event::ViolationTolerated { violation, request, bytes } => json!({
            "event": "ViolationTolerated", "violation": violation.name(),
            "request": request.map(RequestHandle::number), "bytes": settings::bytes(&bytes),
        }),
        Event::MessageDiscarded { violation, bytes } => json!({
            "event": "MessageDiscarded", "violation": violation.name(), "bytes": settings::bytes(&bytes),
        }),
        Event::Drained { abandoned } => {
            let abandoned: Vec<_> = abandoned.into_iter().map(RequestHandle::number).collect();
            json!({"event": "Drained", "abandoned": abandoned})
        }
        Event::Disconnected { reason } => {
            json!({"event": "Disconnected", "reason": {"local": Error::Closed(reason).code()}})
        }
        other => json!({"event": format!("{other:?}")}),
    }
}
