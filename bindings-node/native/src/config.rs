//! How machines are set up: settings come as JSON, with the names of `bindings-node/src/settings.ts`.

use barewire::transport::http::client::HttpClientConfig;
use barewire::transport::http::server::{EventKeeping, HttpServerConfig};
use barewire::transport::http::{InvalidOrigin, OriginPolicy};
use barewire::{
    ApiMisuse, ClientConfig, EraVerdict, Freshness, Implementation, Json, Revisions, Seed, ServerConfig,
    UnixTime,
};
use serde::Deserialize;

use crate::errors::Failure;
use crate::names::{self, CACHE_SCOPES};

/// Settings that are left out keep the core's default.
macro_rules! settings {
    ($($name:ident { $($field:ident: $type:ty),* $(,)? })*) => {$(
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase", deny_unknown_fields)]
        struct $name {
            $($field: Option<$type>,)*
        }

        impl $name {
            fn over(settings: Option<$name>) -> barewire::$name {
                let mut all = barewire::$name::default();
                if let Some(settings) = settings {
                    $(if let Some(value) = settings.$field {
                        all.$field = value;
                    })*
                }
                all
            }
        }
    )*};
}

settings! {
    Limits {
        message_bytes: usize,
        depth: usize,
        requests_in_flight: usize,
        queued_requests: usize,
        queued_events: usize,
        queued_bytes: usize,
        batch_items: usize,
        sessions: usize,
        subscriptions: usize,
        watched_resources: usize,
        rounds: u32,
        inputs: usize,
        request_state_bytes: usize,
        page_items: usize,
        page_bytes: usize,
    }

    Timeouts {
        probe: u64,
        handshake: u64,
        request: u64,
        request_total: u64,
        progress_extends: bool,
        acknowledgement: u64,
        drain: u64,
        request_state: u64,
        child_exit: u64,
        child_terminate: u64,
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ClientSettings {
    name: String,
    version: String,
    title: Option<String>,
    description: Option<String>,
    website_url: Option<String>,
    icons: Option<String>,
    capabilities: Option<String>,
    revisions: Option<Vec<String>>,
    era: Option<String>,
    limits: Option<Limits>,
    timeouts: Option<Timeouts>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ServerSettings {
    name: String,
    version: String,
    title: Option<String>,
    description: Option<String>,
    website_url: Option<String>,
    icons: Option<String>,
    clock_origin: f64,
    instructions: Option<String>,
    revisions: Option<Vec<String>>,
    logging: Option<bool>,
    completions: Option<bool>,
    extensions: Option<String>,
    extension_methods: Option<Vec<String>>,
    ttl_ms: Option<u64>,
    cache_scope: Option<String>,
    identify_results: Option<bool>,
    limits: Option<Limits>,
    timeouts: Option<Timeouts>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct HttpClientSettings {
    url: String,
    falls_back_to_sse: Option<bool>,
    opens_stream: Option<bool>,
    authorizes: Option<bool>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct HttpServerSettings {
    allowed_origins: Option<Vec<String>>,
    allowed_hosts: Option<Vec<String>>,
    body_bytes: Option<usize>,
    keep_alive: Option<u64>,
    session_idle: Option<u64>,
    retry: Option<u64>,
    event_keeping: Option<String>,
    kept_events: Option<usize>,
    kept_bytes: Option<usize>,
    kept_age: Option<u64>,
    external_sessions: Option<bool>,
}

/// Reads settings; what is wrong with them is an error of the argument.
pub(crate) fn read<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, Failure> {
    serde_json::from_str(text).map_err(|error| Failure::Argument(format!("settings: {error}")))
}

pub(crate) fn json(text: &str) -> Result<Json, Failure> {
    Json::new(text).map_err(|_| ApiMisuse::InvalidJson.into())
}

/// A fixed number of bytes, such as a seed or a key.
pub(crate) fn bytes32(bytes: &[u8], what: &str) -> Result<[u8; 32], Failure> {
    bytes.try_into().map_err(|_| Failure::Argument(format!("{what} is 32 bytes, not {}", bytes.len())))
}

/// The set of the named revisions; all if none are named.
fn revisions(named: Option<Vec<String>>) -> Result<Revisions, Failure> {
    let Some(named) = named else {
        return Ok(Revisions::ALL);
    };
    let members: Vec<_> = named.iter().map(|name| names::revision(name)).collect::<Result<_, _>>()?;
    Ok(Revisions::of(&members))
}

/// Who a client or server is.
macro_rules! implementation {
    ($settings:ident) => {{
        let mut implementation = Implementation::new(&$settings.name, &$settings.version);
        implementation.title = $settings.title.map(String::into_boxed_str);
        implementation.description = $settings.description.map(String::into_boxed_str);
        implementation.website_url = $settings.website_url.map(String::into_boxed_str);
        implementation.icons = $settings.icons.as_deref().map(json).transpose()?;
        implementation
    }};
}

/// Durations from the settings of their own, as [`ChildShutdown`](barewire::transport::ChildShutdown) takes them.
pub(crate) fn timeouts(settings: &str) -> Result<barewire::Timeouts, Failure> {
    Ok(Timeouts::over(read(settings)?))
}

pub(crate) fn client(settings: &str, seed: &[u8]) -> Result<ClientConfig, Failure> {
    let settings: ClientSettings = read(settings)?;
    let who = implementation!(settings);
    let mut config = ClientConfig::new(who, bytes32(seed, "a seed")?);
    if let Some(capabilities) = &settings.capabilities {
        config.set_capabilities(capabilities)?;
    }
    config.revisions = revisions(settings.revisions)?;
    config.era = settings.era.as_deref().map(era_verdict).transpose()?;
    config.limits = Limits::over(settings.limits);
    config.timeouts = Timeouts::over(settings.timeouts);
    Ok(config)
}

/// A stored verdict on the era of a server.
fn era_verdict(text: &str) -> Result<EraVerdict, Failure> {
    EraVerdict::from_text(text).ok_or_else(|| {
        Failure::Argument(format!(
            "the era {text:?} is none that this version can read: give what `eraVerdict` said, or leave it out to have \
             the server probed"
        ))
    })
}

pub(crate) fn http_client(settings: &str, machine: &mut ClientConfig) -> Result<HttpClientConfig, Failure> {
    let settings: HttpClientSettings = read(settings)?;
    machine.http = true;
    let mut config = HttpClientConfig::new(&settings.url);
    config.falls_back_to_sse = settings.falls_back_to_sse.unwrap_or(config.falls_back_to_sse);
    config.opens_stream = settings.opens_stream.unwrap_or(config.opens_stream);
    config.authorizes = settings.authorizes.unwrap_or(config.authorizes);
    config.message_bytes = machine.limits.message_bytes;
    Ok(config)
}

/// `keys` are keys of 32 bytes, one after the other.
pub(crate) fn server(settings: &str, seed: &[u8], keys: &[u8]) -> Result<ServerConfig, Failure> {
    let settings: ServerSettings = read(settings)?;
    let who = implementation!(settings);
    let mut config = ServerConfig::new(who, bytes32(seed, "a seed")?);
    config.instructions = settings.instructions.map(String::into_boxed_str);
    config.revisions = revisions(settings.revisions)?;
    config.logging = settings.logging.unwrap_or(config.logging);
    config.completions = settings.completions.unwrap_or(config.completions);
    config.extensions = settings.extensions.as_deref().map(json).transpose()?;
    let methods = settings.extension_methods.unwrap_or_default();
    config.extension_methods = methods.into_iter().map(String::into_boxed_str).collect();
    let scope = settings.cache_scope.as_deref().map(|name| names::kind_named(&CACHE_SCOPES, name));
    config.freshness = Freshness {
        ttl_ms: settings.ttl_ms.unwrap_or(config.freshness.ttl_ms),
        scope: scope.transpose()?.unwrap_or(config.freshness.scope),
    };
    config.identify_results = settings.identify_results.unwrap_or(config.identify_results);
    config.request_state_keys = keys.chunks(32).map(|key| bytes32(key, "a key")).collect::<Result<_, _>>()?;
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a time of day in milliseconds"
    )]
    let clock_origin = settings.clock_origin as u64;
    config.clock_origin = UnixTime::from_millis(clock_origin);
    config.limits = Limits::over(settings.limits);
    config.timeouts = Timeouts::over(settings.timeouts);
    Ok(config)
}

pub(crate) fn http_server(settings: &str, machine: &ServerConfig) -> Result<HttpServerConfig, Failure> {
    let settings: HttpServerSettings = read(settings)?;
    let mut config = HttpServerConfig::new(Seed::clone(&machine.seed));
    config.revisions = machine.revisions;
    config.origins = origins(&settings)?;
    config.body_bytes = settings.body_bytes.unwrap_or(config.body_bytes);
    config.keep_alive = settings.keep_alive.unwrap_or(config.keep_alive);
    config.session_idle = settings.session_idle.unwrap_or(config.session_idle);
    config.retry = settings.retry.unwrap_or(config.retry);
    config.events = keeping(&settings, config.events)?;
    config.external_sessions = settings.external_sessions.unwrap_or(config.external_sessions);
    Ok(config)
}

/// Where events are kept, by its name in JavaScript.
fn keeping(settings: &HttpServerSettings, default: EventKeeping) -> Result<EventKeeping, Failure> {
    match (settings.event_keeping.as_deref(), default) {
        (Some("none"), _) => Ok(EventKeeping::None),
        (Some("external"), _) => Ok(EventKeeping::External),
        (None | Some("memory"), EventKeeping::Memory { events, bytes, age }) => Ok(EventKeeping::Memory {
            events: settings.kept_events.unwrap_or(events),
            bytes: settings.kept_bytes.unwrap_or(bytes),
            age: settings.kept_age.unwrap_or(age),
        }),
        _ => Err(Failure::Argument("eventKeeping is 'memory', 'external' or 'none'".into())),
    }
}

/// Everything is allowed where that is said.
const ANY: &str = "*";

/// What may come in: the loopback interface's own pages and names, and those that are named.
fn origins(settings: &HttpServerSettings) -> Result<OriginPolicy, Failure> {
    let refused = |error: InvalidOrigin| Failure::Argument(error.to_string());
    let mut policy = OriginPolicy::loopback();
    for origin in settings.allowed_origins.iter().flatten() {
        policy = match &**origin {
            ANY => policy.with_any_origin(),
            origin => policy.with_origin(origin).map_err(refused)?,
        };
    }
    for host in settings.allowed_hosts.iter().flatten() {
        policy = match &**host {
            ANY => policy.with_any_host(),
            host => policy.with_host(host).map_err(refused)?,
        };
    }
    Ok(policy)
}
