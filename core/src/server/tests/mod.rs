//! What a server does, message by message, on a virtual clock.

mod calls;
mod ending;
mod envelopes;
mod handshake;
mod http;
mod modern;
mod notices;
mod requests;
mod rounds;
mod sessions;
mod states;
mod subscriptions;

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::config::{Implementation, ServerConfig};
use crate::json::Json;
use crate::jsonrpc::Violation;
use crate::machine::{Facts, Input, Machine, RequestHandle, Transmit};
use crate::revision::Revision;
use crate::time::Instant;

use super::{Event, Server};

pub(super) const TEXT_RESULT: &str = r#"{"content":[{"type":"text","text":"done"}]}"#;

/// A server with a small catalog, and the peer's end of the channel.
pub(super) struct Bench {
    pub(super) server: Server,
    pub(super) now: Instant,
}

pub(super) fn config() -> ServerConfig {
    let mut config = ServerConfig::new(Implementation::new("srv", "1"), [7; 32]);
    config.completions = true;
    config.identify_results = false;
    config
}

impl Bench {
    pub(super) fn new() -> Bench {
        Bench::with(config())
    }

    pub(super) fn with(config: ServerConfig) -> Bench {
        let mut server = Server::new(config).unwrap();
        server.add_tool(r#"{"name":"echo","inputSchema":{"type":"object"}}"#).unwrap();
        server.add_tool(r#"{"name":"nap","inputSchema":{"type":"object"}}"#).unwrap();
        server.add_resource(r#"{"uri":"file:///a","name":"a"}"#).unwrap();
        server.add_resource_template(r#"{"uriTemplate":"user://{id}","name":"user"}"#).unwrap();
        server.add_prompt(r#"{"name":"greet"}"#).unwrap();
        Bench { server, now: Instant::ZERO }
    }

    /// A session of `revision` that is open, with the client's `capabilities`.
    pub(super) fn session(revision: Revision, capabilities: &str) -> Bench {
        Bench::session_with(config(), revision, capabilities)
    }

    pub(super) fn session_with(config: ServerConfig, revision: Revision, capabilities: &str) -> Bench {
        let mut bench = Bench::with(config);
        bench.recv(&initialize("0", revision.as_str(), capabilities));
        bench.recv(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        assert_eq!(bench.sent().len(), 1);
        assert!(matches!(bench.events()[..], [Event::SessionOpened { .. }]));
        bench
    }

    pub(super) fn recv(&mut self, text: &str) {
        self.input(Input::Message { text, facts: Facts::default() });
    }

    pub(super) fn input(&mut self, input: Input<'_>) {
        self.server.handle_input(self.now, input).unwrap();
    }

    pub(super) fn wait(&mut self, milliseconds: u64) {
        self.now = self.now.after(milliseconds);
        self.server.handle_timeout(self.now);
    }

    /// Everything to be sent, the close as `CLOSE`.
    pub(super) fn sent(&mut self) -> Vec<String> {
        let mut sent = Vec::new();
        while let Some(transmit) = self.server.poll_transmit() {
            sent.push(match transmit {
                Transmit::Message { text, .. } => {
                    assert!(!text.contains('\n') && Json::new(&text).is_ok(), "{text}");
                    text
                }
                Transmit::Close => "CLOSE".into(),
                other => panic!("{other:?}"),
            });
        }
        sent
    }

    /// The one message to be sent.
    pub(super) fn sent_one(&mut self) -> String {
        let mut sent = self.sent();
        assert_eq!(sent.len(), 1, "{sent:?}");
        sent.remove(0)
    }

    pub(super) fn events(&mut self) -> Vec<Event> {
        core::iter::from_fn(|| self.server.poll_event()).collect()
    }

    pub(super) fn event(&mut self) -> Event {
        let mut events = self.events();
        assert_eq!(events.len(), 1, "{events:?}");
        events.remove(0)
    }

    /// Receives a text and gives what goes out for it, expecting no event.
    pub(super) fn reply(&mut self, text: &str) -> String {
        self.recv(text);
        assert_eq!(self.events(), []);
        self.sent_one()
    }

    /// Receives a request for the application, which is told of it, and nothing goes out.
    pub(super) fn call(&mut self, text: &str) -> RequestHandle {
        self.recv(text);
        assert_eq!(self.sent(), Vec::<String>::new());
        request_of(&self.event())
    }

    /// The violations reported, in order.
    pub(super) fn violations(&mut self) -> Vec<Violation> {
        let violation = |event| match event {
            Event::MessageDiscarded { violation, .. } | Event::ViolationTolerated { violation, .. } => {
                violation
            }
            other => panic!("{other:?}"),
        };
        self.events().into_iter().map(violation).collect()
    }
}

pub(super) fn request_of(event: &Event) -> RequestHandle {
    match event {
        Event::ToolCalled { request, .. }
        | Event::ResourceReadRequested { request, .. }
        | Event::PromptRequested { request, .. }
        | Event::CompletionRequested { request, .. }
        | Event::RequestReceived { request, .. } => *request,
        other => panic!("{other:?}"),
    }
}

pub(super) fn initialize(id: &str, version: &str, capabilities: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"initialize","params":{{"protocolVersion":"{version}","capabilities":{capabilities},"clientInfo":{{"name":"probe","version":"1"}}}}}}"#
    )
}

/// A legacy request; `params` is the inside of the object.
pub(super) fn legacy(id: &str, method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{{params}}}}}"#)
}

/// A modern request whose client declares `capabilities`; `params` is the inside of the object.
pub(super) fn modern_with(id: &str, method: &str, params: &str, capabilities: &str) -> String {
    let version = Revision::V2026_07_28.as_str();
    let separator = if params.is_empty() { "" } else { "," };
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{"_meta":{{"io.modelcontextprotocol/protocolVersion":"{version}","io.modelcontextprotocol/clientCapabilities":{capabilities},"progressToken":"t"}}{separator}{params}}}}}"#
    )
}

pub(super) fn modern(id: &str, method: &str, params: &str) -> String {
    modern_with(id, method, params, "{}")
}

/// The code of an error response, and whether it has the id.
pub(super) fn error_of(text: &str) -> (i64, Option<String>) {
    let message = Json::new(text).unwrap();
    let error = message.member("error").unwrap_or_else(|| panic!("{text}"));
    let code = error.member("code").unwrap().parse().unwrap();
    (code, message.member("id").map(|id| String::from(id.as_str())))
}
