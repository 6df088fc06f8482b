//! What an HTTP client repeats of each message in headers (basic/transports/streamable-http, Standard Request
//! Headers, 2026-07-28; basic/transports, Protocol Version Header, earlier). A byte stream repeats nothing, and
//! nothing is done for it.

use alloc::boxed::Box;
use alloc::string::String;

use crate::machine::{Labels, Mirrored, Route};
use crate::revision::{Method, Revision};

use super::Client;
use super::notifications::{members, text_of};

/// What a message is, as far as headers say it.
#[derive(Clone, Copy, Debug)]
pub(super) enum About<'a> {
    /// It opens a session.
    Handshake,
    /// It asks whether the server speaks this revision.
    Probe(Revision),
    /// A request or notification.
    Call { method: &'a str, params: Option<&'a str> },
    /// Answers to the server.
    Reply,
}

impl Client {
    /// Queues a message with what its envelope says.
    pub(super) fn send(&mut self, text: String, route: Route, about: About<'_>) {
        let labels = self.labels(about);
        self.queues.send(text, route, labels);
    }

    pub(super) fn labels(&self, about: About<'_>) -> Labels {
        let mirrored = if self.config.http { self.mirrored(about) } else { None };
        Labels { mirrored: mirrored.map(Box::new), ..Labels::default() }
    }

    fn mirrored(&self, about: About<'_>) -> Option<Mirrored> {
        let (revision, call) = match about {
            About::Handshake => return Some(Mirrored { is_handshake: true, ..Mirrored::default() }),
            About::Probe(revision) => (Some(revision), Some((Method::Discover.name(), None))),
            About::Call { method, params } => (self.revision, Some((method, params))),
            // While a handshake is under way there is no session that they could belong to.
            About::Reply => (self.revision.filter(|_| self.is_ready()), None),
        };
        let revision = revision.filter(|revision| revision.has_version_header());
        if revision.is_none() && call.is_none() {
            return None;
        }
        let mut mirrored = Mirrored { protocol_version: revision, ..Mirrored::default() };
        let routed = revision.is_some_and(Revision::has_routing_headers);
        if let Some((method, params)) = call.filter(|_| routed) {
            self.mirror_call(&mut mirrored, method, params);
        }
        Some(mirrored)
    }

    fn mirror_call(&self, mirrored: &mut Mirrored, method: &str, params: Option<&str>) {
        mirrored.method = Some(method.into());
        let known = Method::from_name(method);
        let Some(member) = known.and_then(|method| method.row().name_member) else { return };
        let [name, arguments] = members(params, [member, "arguments"]);
        mirrored.name = text_of(name);
        if let Some(tool) = mirrored.name.as_deref().filter(|_| known == Some(Method::ToolsCall)) {
            mirrored.params = self.tools.mirror(tool, arguments);
        }
    }
}
