//! How a client or server is set up. Everything is a value; nothing asks the operating system.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use crate::cache::Freshness;
use crate::error::{ApiMisuse, Error};
use crate::json::Json;
use crate::jsonrpc::write;
use crate::limits::Limits;
use crate::revision::meta::are_extensions;
use crate::revision::{Capabilities, EraVerdict, Revision, Revisions, one_line};
use crate::seed::Seed;
use crate::time::UnixTime;

/// Name and version of a client or server, with what newer revisions may tell about it
/// (`Implementation` in the schema).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Implementation {
    /// The programmatic name.
    pub name: Box<str>,
    /// The version, in any form.
    pub version: Box<str>,
    /// The name for people. From 2025-06-18.
    pub title: Option<Box<str>>,
    /// What it is. From 2025-11-25.
    pub description: Option<Box<str>>,
    /// A page about it. From 2025-11-25.
    pub website_url: Option<Box<str>>,
    /// An array of icons. From 2025-11-25.
    pub icons: Option<Json>,
}

impl Implementation {
    /// An implementation with nothing but a name and a version.
    pub fn new(name: &str, version: &str) -> Implementation {
        Implementation {
            name: name.into(),
            version: version.into(),
            title: None,
            description: None,
            website_url: None,
            icons: None,
        }
    }

    /// The JSON object that `revision` allows.
    pub(crate) fn to_json(&self, revision: Revision) -> String {
        let mut out = String::from("{\"name\":");
        write::string(&mut out, &self.name);
        out.push_str(",\"version\":");
        write::string(&mut out, &self.version);
        let mut member = |name: &str, since: Revision, value: Option<&str>| {
            if let Some(value) = value.filter(|_| revision >= since) {
                write::string_member(&mut out, name, value);
            }
        };
        member("title", Revision::V2025_06_18, self.title.as_deref());
        member("description", Revision::V2025_11_25, self.description.as_deref());
        member("websiteUrl", Revision::V2025_11_25, self.website_url.as_deref());
        if let Some(icons) = self.icons.as_ref().filter(|_| revision >= Revision::V2025_11_25) {
            out.push_str(",\"icons\":");
            out.push_str(&one_line(icons.as_str()));
        }
        out.push('}');
        out
    }
}

/// How long things may take, in milliseconds.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Timeouts {
    /// Waiting for the answer to the era probe before the peer counts as legacy. Default 5 000.
    pub probe: u64,
    /// Waiting for the answer to `initialize`. Default 30 000.
    pub handshake: u64,
    /// Waiting for an answer with nothing heard of the request. Default 60 000.
    pub request: u64,
    /// A request over all its rounds, whatever is heard of it. Default 600 000.
    pub request_total: u64,
    /// Whether progress starts the `request` time anew. Default true.
    pub progress_extends: bool,
    /// Waiting for the acknowledgement of a subscription. Default 30 000.
    pub acknowledgement: u64,
    /// Sending the answers that are owed after the end of input (server). Default 10 000.
    pub drain: u64,
    /// Life of a sealed `requestState` (server). Default 3 600 000.
    pub request_state: u64,
    /// Waiting for a child to exit after its input was closed (byte stream client). Default 2 000.
    pub child_exit: u64,
    /// Waiting for a child to exit after it was asked to end (byte stream client). Default 2 000.
    pub child_terminate: u64,
}

impl Default for Timeouts {
    fn default() -> Self {
        Timeouts {
            probe: 5_000,
            handshake: 30_000,
            request: 60_000,
            request_total: 600_000,
            progress_extends: true,
            acknowledgement: 30_000,
            drain: 10_000,
            request_state: 3_600_000,
            child_exit: 2_000,
            child_terminate: 2_000,
        }
    }
}

/// How a [`Client`](crate::client::Client) is set up.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ClientConfig {
    /// Who the client is.
    pub implementation: Implementation,
    /// What it can do: the `ClientCapabilities` object, sent as it is but for what older revisions lack.
    pub capabilities: Capabilities,
    /// The revisions it is willing to speak. Default all.
    pub revisions: Revisions,
    /// A verdict from an earlier connection to the same server; the probe is skipped.
    pub era: Option<EraVerdict>,
    /// Messages travel over HTTP, each in an exchange of its own: requests are given up by closing theirs, and headers
    /// repeat parts of them. Default false: a byte stream.
    pub http: bool,
    /// Bounds.
    pub limits: Limits,
    /// Durations.
    pub timeouts: Timeouts,
    /// 32 random bytes from the operating system, never used twice.
    pub seed: Seed,
}

impl ClientConfig {
    /// A client with no capabilities, all revisions and default bounds.
    pub fn new(implementation: Implementation, seed: [u8; 32]) -> ClientConfig {
        ClientConfig {
            implementation,
            capabilities: Capabilities::default(),
            revisions: Revisions::ALL,
            era: None,
            http: false,
            limits: Limits::default(),
            timeouts: Timeouts::default(),
            seed: Seed::new(seed),
        }
    }

    /// Sets the capabilities from the text of a `ClientCapabilities` object.
    ///
    /// # Errors
    /// [`ApiMisuse::InvalidJson`] if the text is not a JSON object; [`ApiMisuse::InvalidDefinition`] if one of its
    /// `extensions` is not named `prefix/name`.
    pub fn set_capabilities(&mut self, object: &str) -> Result<(), Error> {
        let object = Json::new(object).map_err(|_| ApiMisuse::InvalidJson)?;
        if !object.as_str().starts_with('{') {
            return Err(ApiMisuse::InvalidJson.into());
        }
        if object.member("extensions").is_some_and(|extensions| !are_extensions(extensions.as_str())) {
            return Err(ApiMisuse::InvalidDefinition("extensions").into());
        }
        self.capabilities = Capabilities::read(&object);
        Ok(())
    }
}

/// How a [`Server`](crate::server::Server) is set up.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ServerConfig {
    /// Who the server is.
    pub implementation: Implementation,
    /// Guidance for the model, sent with the handshake or discovery.
    pub instructions: Option<Box<str>>,
    /// The revisions it serves. Default all.
    pub revisions: Revisions,
    /// Offer `logging`. Default true.
    pub logging: bool,
    /// Offer `completions`. Default false; turn it on when completions are answered.
    pub completions: bool,
    /// Extensions to declare: the text of an object by extension id, or none.
    pub extensions: Option<Json>,
    /// Methods beyond the protocol's own that the application wants as
    /// [`RequestReceived`](crate::server::Event::RequestReceived); others are refused.
    pub extension_methods: Vec<Box<str>>,
    /// `ttlMs` and `cacheScope` of list results, and of reads whose answer names none.
    pub freshness: Freshness,
    /// Put `serverInfo` into the `_meta` of each modern result (basic/index: SHOULD). Default true.
    pub identify_results: bool,
    /// Keys for `requestState`, the first seals, all open. Empty (the default): a key derived from the seed,
    /// which no other process shares.
    pub request_state_keys: Vec<[u8; 32]>,
    /// The wall-clock time at [`Instant::ZERO`](crate::Instant::ZERO), for data that outlives the process.
    pub clock_origin: UnixTime,
    /// Bounds.
    pub limits: Limits,
    /// Durations.
    pub timeouts: Timeouts,
    /// 32 random bytes from the operating system, never used twice.
    pub seed: Seed,
}

impl ServerConfig {
    /// A server with an empty catalog, all revisions and default bounds.
    pub fn new(implementation: Implementation, seed: [u8; 32]) -> ServerConfig {
        ServerConfig {
            implementation,
            instructions: None,
            revisions: Revisions::ALL,
            logging: true,
            completions: false,
            extensions: None,
            extension_methods: Vec::new(),
            freshness: Freshness::default(),
            identify_results: true,
            request_state_keys: Vec::new(),
            clock_origin: UnixTime::default(),
            limits: Limits::default(),
            timeouts: Timeouts::default(),
            seed: Seed::new(seed),
        }
    }
}
