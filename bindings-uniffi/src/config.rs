//! How machines are set up: what is left out keeps the core's default.

use barewire::{EraVerdict, Freshness, Implementation, Revision, Revisions, UnixTime};

use crate::errors::{McpError, Outcome};
use crate::values::{CacheScope, json};

/// A number of things in memory. More than the machine can address is as much as it can.
pub(crate) fn count(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// Bounds on everything a peer can make the core keep; what is left out has its default.
///
/// Reaching one is a typed refusal or an event, never growth.
#[derive(Clone, Debug, Default, PartialEq, Eq, uniffi::Record)]
pub struct Limits {
    /// Bytes of one inbound message. Default 16 MiB.
    #[uniffi(default = None)]
    pub message_bytes: Option<u64>,
    /// Levels of nesting of one inbound message. Default 128.
    #[uniffi(default = None)]
    pub depth: Option<u64>,
    /// Requests in flight, each direction counted alone. Default 2048.
    #[uniffi(default = None)]
    pub requests_in_flight: Option<u64>,
    /// Requests accepted before the connection is ready. Default 256.
    #[uniffi(default = None)]
    pub queued_requests: Option<u64>,
    /// Events that wait to be taken at which `wants_input` turns false. Default 4096.
    #[uniffi(default = None)]
    pub queued_events: Option<u64>,
    /// Bytes that wait to be sent or taken at which `wants_input` turns false. Default 8 MiB.
    #[uniffi(default = None)]
    pub queued_bytes: Option<u64>,
    /// Elements of a JSON-RPC batch. Default 256.
    #[uniffi(default = None)]
    pub batch_items: Option<u64>,
    /// Sessions of one server. Default 10 000.
    #[uniffi(default = None)]
    pub sessions: Option<u64>,
    /// Open subscriptions of one peer. Default 256.
    #[uniffi(default = None)]
    pub subscriptions: Option<u64>,
    /// Resource URIs that one peer watches over all its subscriptions. Default 1024.
    #[uniffi(default = None)]
    pub watched_resources: Option<u64>,
    /// How many times one request may ask its client. Default 10.
    #[uniffi(default = None)]
    pub rounds: Option<u32>,
    /// Questions in one round. Default 32.
    #[uniffi(default = None)]
    pub inputs: Option<u64>,
    /// Bytes of the state that travels with questions. Default 64 KiB.
    #[uniffi(default = None)]
    pub request_state_bytes: Option<u64>,
    /// Items on one page of a list. Default 1000.
    #[uniffi(default = None)]
    pub page_items: Option<u64>,
    /// Bytes of the items on one page of a list. Default 1 MiB.
    #[uniffi(default = None)]
    pub page_bytes: Option<u64>,
}

/// Durations in milliseconds; what is left out has its default.
#[derive(Clone, Debug, Default, PartialEq, Eq, uniffi::Record)]
pub struct Timeouts {
    /// A client waits for the answer to its era probe. Default 5 000 ms.
    #[uniffi(default = None)]
    pub probe: Option<u64>,
    /// A client waits for the answer to the handshake. Default 30 000 ms.
    #[uniffi(default = None)]
    pub handshake: Option<u64>,
    /// A request waits with nothing heard of it. Default 60 000 ms.
    #[uniffi(default = None)]
    pub request: Option<u64>,
    /// A request may last over all its rounds, whatever is heard of it. Default 600 000 ms.
    #[uniffi(default = None)]
    pub request_total: Option<u64>,
    /// Whether progress starts the `request` time anew. Default true.
    #[uniffi(default = None)]
    pub progress_extends: Option<bool>,
    /// A client waits for a subscription to be acknowledged. Default 30 000 ms.
    #[uniffi(default = None)]
    pub acknowledgement: Option<u64>,
    /// A server sends the answers that are owed after the end of input. Default 10 000 ms.
    #[uniffi(default = None)]
    pub drain: Option<u64>,
    /// How long a server accepts a sealed state again. Default 3 600 000 ms.
    #[uniffi(default = None)]
    pub request_state: Option<u64>,
    /// A child may take to exit once its input is closed. Default 2 000 ms.
    #[uniffi(default = None)]
    pub child_exit: Option<u64>,
    /// A child may take to exit once it was asked to end. Default 2 000 ms.
    #[uniffi(default = None)]
    pub child_terminate: Option<u64>,
}

/// Overwrites the settings that are given.
macro_rules! over {
    ($given:ident, $all:ident, $read:path { $($field:ident)* }) => {$(
        if let Some(value) = $given.$field {
            $all.$field = $read(value);
        }
    )*};
}

pub(crate) fn limits(given: Option<Limits>) -> barewire::Limits {
    let mut all = barewire::Limits::default();
    if let Some(given) = given {
        over!(given, all, count {
            message_bytes depth requests_in_flight queued_requests queued_events queued_bytes batch_items sessions
            subscriptions watched_resources inputs request_state_bytes page_items page_bytes
        });
        over!(given, all, std::convert::identity { rounds });
    }
    all
}

pub(crate) fn timeouts(given: Option<Timeouts>) -> barewire::Timeouts {
    let mut all = barewire::Timeouts::default();
    if let Some(given) = given {
        over!(given, all, std::convert::identity {
            probe handshake request request_total progress_extends acknowledgement drain request_state child_exit
            child_terminate
        });
    }
    all
}

/// How a server is set up.
#[derive(Clone, Debug, uniffi::Record)]
pub struct ServerConfig {
    /// The programmatic name.
    pub name: String,
    /// The version, in any form.
    pub version: String,
    /// 32 random bytes from the operating system, never used twice.
    pub seed: Vec<u8>,
    /// The wall-clock time, in milliseconds since 1970, at which `now` is 0.
    pub clock_origin: u64,
    /// The name for people.
    #[uniffi(default = None)]
    pub title: Option<String>,
    /// What it is.
    #[uniffi(default = None)]
    pub description: Option<String>,
    /// A page about it.
    #[uniffi(default = None)]
    pub website_url: Option<String>,
    /// The text of an array of icons.
    #[uniffi(default = None)]
    pub icons: Option<String>,
    /// Guidance for the model.
    #[uniffi(default = None)]
    pub instructions: Option<String>,
    /// The revisions that it serves. Default all.
    #[uniffi(default = None)]
    pub revisions: Option<Vec<String>>,
    /// Whether it offers logging.
    #[uniffi(default = true)]
    pub logging: bool,
    /// Whether it answers completions.
    #[uniffi(default = false)]
    pub completions: bool,
    /// The text of an object of extensions to declare, by their ids.
    #[uniffi(default = None)]
    pub extensions: Option<String>,
    /// Methods beyond the protocol's own that the application wants to see; others are refused.
    #[uniffi(default = [])]
    pub extension_methods: Vec<String>,
    /// Milliseconds for which clients may reuse lists, and reads whose answer does not say.
    #[uniffi(default = 0)]
    pub ttl_ms: u64,
    /// Who may share them. Default `Private`.
    #[uniffi(default = None)]
    pub cache_scope: Option<CacheScope>,
    /// Whether results of the modern era tell name and version.
    #[uniffi(default = true)]
    pub identify_results: bool,
    /// Keys of 32 bytes for the state that travels with questions: the first seals, all open. Without any, only this
    /// machine opens what it has sealed.
    #[uniffi(default = [])]
    pub request_state_keys: Vec<Vec<u8>>,
    /// Bounds.
    #[uniffi(default = None)]
    pub limits: Option<Limits>,
    /// Durations.
    #[uniffi(default = None)]
    pub timeouts: Option<Timeouts>,
}

/// How a client is set up.
#[derive(Clone, Debug, uniffi::Record)]
pub struct ClientConfig {
    /// The programmatic name.
    pub name: String,
    /// The version, in any form.
    pub version: String,
    /// 32 random bytes from the operating system, never used twice.
    pub seed: Vec<u8>,
    /// The name for people.
    #[uniffi(default = None)]
    pub title: Option<String>,
    /// What it is.
    #[uniffi(default = None)]
    pub description: Option<String>,
    /// A page about it.
    #[uniffi(default = None)]
    pub website_url: Option<String>,
    /// The text of an array of icons.
    #[uniffi(default = None)]
    pub icons: Option<String>,
    /// The text of the capabilities object to declare.
    #[uniffi(default = None)]
    pub capabilities: Option<String>,
    /// The revisions that it is willing to speak. Default all.
    #[uniffi(default = None)]
    pub revisions: Option<Vec<String>>,
    /// What `era_verdict` of an earlier client of the same server said: the probe is skipped.
    #[uniffi(default = None)]
    pub era: Option<String>,
    /// Bounds.
    #[uniffi(default = None)]
    pub limits: Option<Limits>,
    /// Durations.
    #[uniffi(default = None)]
    pub timeouts: Option<Timeouts>,
}

/// A fixed number of bytes, such as a seed or a key.
fn bytes32(bytes: &[u8], what: &str) -> Outcome<[u8; 32]> {
    let fixed = bytes.try_into();
    fixed.map_err(|_| McpError::argument(format!("{what} is 32 bytes, not {}", bytes.len())))
}

/// The set of the named revisions; all if none are named.
fn revisions(named: Option<Vec<String>>) -> Outcome<Revisions> {
    let Some(named) = named else {
        return Ok(Revisions::ALL);
    };
    let known = || Revision::ALL.map(Revision::as_str).join(", ");
    let revision = |name: &String| {
        Revision::from_name(name)
            .ok_or_else(|| McpError::argument(format!("{name:?} is none of {}", known())))
    };
    let members: Vec<_> = named.iter().map(revision).collect::<Outcome<_>>()?;
    Ok(Revisions::of(&members))
}

/// Who a client or server is.
macro_rules! implementation {
    ($config:ident) => {{
        let mut implementation = Implementation::new(&$config.name, &$config.version);
        implementation.title = $config.title.map(String::into_boxed_str);
        implementation.description = $config.description.map(String::into_boxed_str);
        implementation.website_url = $config.website_url.map(String::into_boxed_str);
        implementation.icons = $config.icons.as_deref().map(json).transpose()?;
        implementation
    }};
}

impl ServerConfig {
    pub(crate) fn into_core(self) -> Outcome<barewire::ServerConfig> {
        let who = implementation!(self);
        let mut config = barewire::ServerConfig::new(who, bytes32(&self.seed, "a seed")?);
        config.instructions = self.instructions.map(String::into_boxed_str);
        config.revisions = revisions(self.revisions)?;
        config.logging = self.logging;
        config.completions = self.completions;
        config.extensions = self.extensions.as_deref().map(json).transpose()?;
        config.extension_methods = self.extension_methods.into_iter().map(String::into_boxed_str).collect();
        let scope = self.cache_scope.unwrap_or_default();
        config.freshness = Freshness { ttl_ms: self.ttl_ms, scope };
        config.identify_results = self.identify_results;
        config.request_state_keys =
            self.request_state_keys.iter().map(|key| bytes32(key, "a key")).collect::<Outcome<_>>()?;
        config.clock_origin = UnixTime::from_millis(self.clock_origin);
        config.limits = limits(self.limits);
        config.timeouts = timeouts(self.timeouts);
        Ok(config)
    }
}

impl ClientConfig {
    pub(crate) fn into_core(self) -> Outcome<barewire::ClientConfig> {
        let who = implementation!(self);
        let mut config = barewire::ClientConfig::new(who, bytes32(&self.seed, "a seed")?);
        if let Some(capabilities) = &self.capabilities {
            config.set_capabilities(capabilities)?;
        }
        config.revisions = revisions(self.revisions)?;
        config.era = self.era.as_deref().map(era_verdict).transpose()?;
        config.limits = limits(self.limits);
        config.timeouts = timeouts(self.timeouts);
        Ok(config)
    }
}

/// A stored verdict on the era of a server.
fn era_verdict(text: &str) -> Outcome<EraVerdict> {
    EraVerdict::from_text(text).ok_or_else(|| {
        McpError::argument(format!(
            "the era {text:?} is none that this version can read: give what the verdict said, or leave it out to have \
             the server probed"
        ))
    })
}
