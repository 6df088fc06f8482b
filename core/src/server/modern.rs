//! Requests from 2026-07-28 on: each stands for itself.

use alloc::string::String;
use alloc::sync::Arc;

use crate::json::Json;
use crate::jsonrpc::write;
use crate::logging::LogLevel;
use crate::machine::SessionHandle;
use crate::revision::{Capabilities, Method, Revision, write_server_capabilities};

use super::Server;
use super::answers::Addressee;
use super::intake::Arrival;
use super::ladder::{self, Offer};
use super::text::MessageText;

/// Who sent a request, as far as the protocol says.
pub(super) struct Caller {
    pub(super) revision: Revision,
    /// The session, in the legacy era.
    pub(super) session: Option<SessionHandle>,
    pub(super) capabilities: Arc<Capabilities>,
    pub(super) client: Option<Json>,
    pub(super) log_level: Option<LogLevel>,
}

/// What a client repeats with every request, kept as it was last read.
#[derive(Debug, Default)]
pub(super) struct ClientCache {
    capabilities: Option<Arc<Capabilities>>,
    client: Option<Json>,
    principal: Option<Arc<str>>,
}

impl ClientCache {
    pub(super) fn capabilities(&mut self, text: &str) -> Arc<Capabilities> {
        if let Some(last) = &self.capabilities
            && last.raw().is_some_and(|raw| raw.as_str() == text)
        {
            return Arc::clone(last);
        }
        let read = Arc::new(Capabilities::read(&Json::trusted(text)));
        self.capabilities = Some(Arc::clone(&read));
        read
    }

    pub(super) fn client(&mut self, text: &str) -> Json {
        match &self.client {
            Some(last) if last.as_str() == text => last.clone(),
            _ => self.client.insert(Json::trusted(text)).clone(),
        }
    }

    /// Notes who sends the message at hand.
    pub(super) fn note_principal(&mut self, principal: Option<&str>) {
        if self.principal.as_deref() != principal {
            self.principal = principal.map(Arc::from);
        }
    }

    pub(super) fn principal(&self) -> Option<Arc<str>> {
        self.principal.clone()
    }
}

impl Server {
    pub(super) fn offer(&self) -> Offer<'_> {
        Offer {
            revisions: self.config.revisions,
            capabilities: &self.offered,
            extension_methods: &self.config.extension_methods,
        }
    }

    pub(super) fn modern_request(&mut self, arrival: &Arrival<'_>, message: &mut MessageText<'_>) {
        let accepted = match ladder::climb(arrival, self.offer(), &self.catalog) {
            Ok(accepted) => accepted,
            Err(error) => return self.refuse(&arrival.addressee(), &error),
        };
        let caller = Caller {
            revision: accepted.revision,
            session: None,
            capabilities: self.client_cache.capabilities(accepted.capabilities),
            client: accepted.client.map(|client| self.client_cache.client(client)),
            log_level: accepted.log_level.filter(|_| self.config.logging),
        };
        self.dispatch(arrival, accepted.target, caller, message);
    }

    /// Answers `server/discover` (server/discover, 2026-07-28).
    pub(super) fn discover(&mut self, to: &Addressee<'_>, revision: Revision) {
        let mut result = String::from("{\"supportedVersions\":[");
        // Newest first, so that a client that takes the first it knows takes the best.
        for (at, served) in self.config.revisions.newest_first().enumerate() {
            if at > 0 {
                result.push(',');
            }
            write::string(&mut result, served.as_str());
        }
        result.push_str("],\"capabilities\":");
        result.push_str(&self.declaration(revision));
        if let Some(instructions) = &self.config.instructions {
            write::string_member(&mut result, "instructions", instructions);
        }
        result.push('}');
        self.answer_now(to, Method::Discover, revision, &result);
    }

    /// The `ServerCapabilities` object for `revision`.
    pub(super) fn declaration(&self, revision: Revision) -> String {
        write_server_capabilities(revision, &self.offered, self.config.extensions.as_ref().map(Json::as_str))
    }
}
