//! The client role as scripts see it.

use barewire::client::{Client, DisconnectReason, Event, FailureReason, RequestOptions};
use barewire::transport::Stdio;
use barewire::{
    ClientConfig, EraVerdict, Error, Implementation, InputHandle, InputRequest, InputResponse, Instant,
    LogLevel, RequestHandle, RpcError, SubscriptionHandle,
};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::play::{self, Failure, Outcome};
use super::settings::{self, Filter};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Config {
    #[serde(default = "settings::version")]
    version: String,
    title: Option<String>,
    description: Option<String>,
    capabilities: Option<Value>,
    revisions: Option<Vec<String>>,
    era: Option<String>,
    #[serde(default)]
    limits: Map<String, Value>,
    #[serde(default)]
    timeouts: Map<String, Value>,
}

#[derive(Deserialize)]
#[serde(tag = "command", rename_all = "snake_case", deny_unknown_fields)]
enum Command {
    Request {
        method: String,
        params: Option<Value>,
        #[serde(default)]
        progress: bool,
        timeout: Option<u64>,
        total_timeout: Option<u64>,
        log_level: Option<String>,
        meta: Option<Value>,
    },
    Cancel {
        request: u64,
        reason: Option<String>,
    },
    ProvideInput {
        input: u64,
        result: Value,
    },
    RefuseInput {
        input: u64,
        code: i64,
        message: String,
    },
    Subscribe {
        filter: Filter,
    },
    Unsubscribe {
        subscription: u64,
    },
    SetLogLevel {
        level: String,
    },
    Notify {
        method: String,
        params: Option<Value>,
    },
    Close {},
}

/// A client that plays a script.
pub(super) struct Played(Stdio<Client>);

impl Played {
    pub(super) fn new(config: &Map<String, Value>) -> Result<Played, String> {
        let read: Config = settings::read(config)?;
        let mut who = Implementation::new("client", &read.version);
        who.title = read.title.map(Into::into);
        who.description = read.description.map(Into::into);
        let mut config = ClientConfig::new(who, [1; 32]);
        if let Some(capabilities) = read.capabilities {
            config
                .set_capabilities(&settings::json_text(&capabilities))
                .map_err(|error| error.to_string())?;
        }
        if let Some(names) = read.revisions {
            config.revisions = settings::revisions(&names)?;
        }
        config.era = read.era.as_deref().and_then(EraVerdict::from_text);
        settings::set_limits(&mut config.limits, read.limits)?;
        settings::set_timeouts(&mut config.timeouts, read.timeouts)?;
        let client = Client::new(config, Instant::ZERO).map_err(|error| error.to_string())?;
        Ok(Played(Stdio::new(client)))
    }
}

impl play::Played for Played {
    type Machine = Client;

    fn stdio(&mut self) -> &mut Stdio<Client> {
        &mut self.0
    }

    fn command(&mut self, now: Instant, command: Map<String, Value>) -> Result<Outcome, Failure> {
        let client = self.0.machine_mut();
        match settings::read(&command)? {
            Command::Request { method, params, progress, timeout, total_timeout, log_level, meta } => {
                let mut options = RequestOptions::default();
                options.progress = progress;
                options.timeout = timeout;
                options.total_timeout = total_timeout;
                options.log_level = log_level.as_deref().map(settings::log_level).transpose()?;
                options.meta = meta.as_ref().map(settings::json).transpose()?;
                let params = params.as_ref().map(settings::json_text);
                opened(client.request(now, &method, params.as_deref(), options)?)
            }
            Command::Cancel { request, reason } => {
                done(client.cancel(RequestHandle::from_number(request), reason.as_deref()))
            }
            Command::ProvideInput { input, result } => {
                let response = InputResponse::Result(settings::json(&result)?);
                done(client.provide_input(now, InputHandle::from_number(input), response))
            }
            Command::RefuseInput { input, code, message } => {
                let response = InputResponse::Refused(RpcError::new(code, &message));
                done(client.provide_input(now, InputHandle::from_number(input), response))
            }
            Command::Subscribe { filter } => {
                let subscription = client.subscribe(now, filter.into())?;
                Ok(Outcome::Handle("subscription", subscription.number()))
            }
            Command::Unsubscribe { subscription } => {
                done(client.unsubscribe(now, SubscriptionHandle::from_number(subscription)))
            }
            Command::SetLogLevel { level } => {
                opened(client.set_log_level(now, settings::log_level(&level)?)?)
            }
            Command::Notify { method, params } => {
                done(client.notify(&method, params.as_ref().map(settings::json_text).as_deref()))
            }
            Command::Close {} => {
                client.close();
                Ok(Outcome::Nothing)
            }
        }
    }

    fn describe(&self, event: Event) -> Value {
        describe(event)
    }

    fn era_verdict(&mut self) -> Option<String> {
        self.0.machine().era_verdict().map(EraVerdict::to_text)
    }
}

fn opened(request: RequestHandle) -> Result<Outcome, Failure> {
    Ok(Outcome::Handle("request", request.number()))
}

fn done(outcome: Result<(), Error>) -> Result<Outcome, Failure> {
    outcome.map(|()| Outcome::Nothing).map_err(Failure::Refused)
}

fn question(question: &InputRequest) -> Value {
    json!({
        "input": question.input.number(),
        "kind": settings::input_kind(question.kind),
        "params": settings::text(question.params.as_ref()),
        "key": question.key,
    })
}

fn describe(event: Event) -> Value {
    match event {
        Event::Ready { revision, server, capabilities, instructions } => json!({
            "event": "Ready", "revision": revision.as_str(), "server": settings::text(server.as_ref()),
            "capabilities": settings::text(capabilities.raw()), "instructions": instructions,
        }),
        Event::RestartRequired => json!({"event": "RestartRequired"}),
        Event::ResponseReceived { request, result, freshness } => json!({
            "event": "ResponseReceived", "request": request.number(), "result": settings::text(Some(&result)),
            "ttl_ms": freshness.map(|freshness| freshness.ttl_ms),
            "cache_scope": freshness.map(|freshness| freshness.scope.as_str()),
        }),
        Event::RequestFailed { request, reason } => json!({
            "event": "RequestFailed", "request": request.number(), "error": failure(&reason),
        }),
        Event::InputRequired { request, inputs, round } => json!({
            "event": "InputRequired", "request": request.map(RequestHandle::number),
            "inputs": inputs.iter().map(question).collect::<Vec<_>>(), "round": round,
        }),
        Event::InputWithdrawn { input } => json!({"event": "InputWithdrawn", "input": input.number()}),
        Event::ProgressReceived { request, progress, total, message, increasing } => json!({
            "event": "ProgressReceived", "request": request.number(), "progress": progress, "total": total,
            "message": message, "increasing": increasing,
        }),
        Event::LogReceived { request, level, logger, data } => json!({
            "event": "LogReceived", "request": request.map(RequestHandle::number),
            "level": level.map(LogLevel::as_str), "logger": logger, "data": settings::text(Some(&data)),
        }),
        Event::SubscriptionAcknowledged { subscription, honoured } => json!({
            "event": "SubscriptionAcknowledged", "subscription": subscription.number(),
            "honoured": settings::filter(&honoured),
        }),
        Event::SubscriptionEnded { subscription, graceful } => json!({
            "event": "SubscriptionEnded", "subscription": subscription.number(), "graceful": graceful,
        }),
        Event::ListChanged { kind, subscription } => json!({
            "event": "ListChanged", "kind": settings::list_kind(kind),
            "subscription": subscription.map(SubscriptionHandle::number),
        }),
        Event::ResourceUpdated { uri, subscription } => json!({
            "event": "ResourceUpdated", "uri": uri, "subscription": subscription.map(SubscriptionHandle::number),
        }),
        Event::NotificationReceived { method, params } => json!({
            "event": "NotificationReceived", "method": method, "params": settings::text(params.as_ref()),
        }),
        Event::ViolationTolerated { violation, request, bytes } => json!({
            "event": "ViolationTolerated", "violation": violation.name(),
            "request": request.map(RequestHandle::number), "bytes": settings::bytes(&bytes),
        }),
        Event::MessageDiscarded { violation, bytes } => json!({
            "event": "MessageDiscarded", "violation": violation.name(), "bytes": settings::bytes(&bytes),
        }),
        Event::Disconnected { reason } => json!({"event": "Disconnected", "reason": ending(&reason)}),
        other => json!({"event": format!("{other:?}")}),
    }
}

fn failure(reason: &FailureReason) -> Value {
    match reason {
        FailureReason::Rpc(error) => settings::rpc_error(error),
        local => json!({"local": local.code()}),
    }
}

fn ending(reason: &DisconnectReason) -> Value {
    match reason {
        DisconnectReason::Refused(error) => settings::rpc_error(error),
        local => json!({"local": local.code()}),
    }
}
