//! A server behind HTTP and the requests of its clients, on a virtual clock.

use std::fmt::Write;

use barewire::server::{self, Server};
use barewire::transport::http::server::{Endpoint, HttpServer, HttpServerConfig, RequestHead, ResponsePart};
use barewire::{ExchangeHandle, Instant, Machine, RequestHandle, Revision, Seed, ServerConfig};

use crate::server_config;

/// What most requests come with.
pub const COMMON: [(&str, &str); 3] = [
    ("Host", "localhost"),
    ("Accept", "application/json, text/event-stream"),
    ("Content-Type", "application/json"),
];

/// A result that any call may have.
pub const RESULT: &str = r#"{"content":[{"type":"text","text":"done"}]}"#;

/// A server with a small catalog behind HTTP.
pub struct Site {
    /// The server, behind its transport.
    pub http: HttpServer<Server>,
    /// What the server told, in order.
    pub events: Vec<server::Event>,
    /// The time.
    pub now: Instant,
}

/// A response, as far as it has been sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Response {
    /// The status; 0 until the head was sent.
    pub status: u16,
    /// The headers.
    pub headers: Vec<(&'static str, String)>,
    /// The body so far.
    pub body: String,
    /// Nothing follows.
    pub is_last: bool,
    /// The connection was broken off.
    pub is_aborted: bool,
}

impl Response {
    /// Appends what was sent next.
    pub fn extend(&mut self, part: ResponsePart) {
        assert!(!self.is_last, "nothing follows the last part");
        assert_eq!(part.head.is_some(), self.status == 0, "there is one head, and it comes first");
        if let Some(head) = part.head {
            self.status = head.status;
            self.headers = head.headers.into_iter().map(|(name, value)| (name, value.into_owned())).collect();
        }
        self.body.push_str(std::str::from_utf8(&part.data).expect("text"));
        self.is_last = part.is_last;
        self.is_aborted = part.is_aborted;
    }

    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(other, _)| *other == name).map(|(_, value)| &**value)
    }

    /// Whether it is a stream of events.
    pub fn is_stream(&self) -> bool {
        self.header("content-type") == Some("text/event-stream")
    }

    /// The messages in it: the body, or the data of its events.
    pub fn messages(&self) -> Vec<&str> {
        if !self.is_stream() {
            return Vec::from([&*self.body]);
        }
        self.fields("data").into_iter().filter(|data| !data.is_empty()).collect()
    }

    /// The values of all fields of that name in a stream.
    pub fn fields(&self, name: &str) -> Vec<&str> {
        let fields = self.body.lines().filter_map(|line| line.split_once(": "));
        fields.filter(|(field, _)| *field == name).map(|(_, value)| value).collect()
    }
}

impl Site {
    /// A site with the defaults.
    pub fn new() -> Site {
        Site::with(server_config(), HttpServerConfig::new(Seed::new([3; 32])))
    }

    /// A site that is set up as told.
    pub fn with(server: ServerConfig, http: HttpServerConfig) -> Site {
        let mut server = Server::new(server).expect("a server");
        server.add_tool(r#"{"name":"echo","inputSchema":{"type":"object"}}"#).expect("a tool");
        server.add_tool(
            r#"{"name":"route","inputSchema":{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}}}}"#,
        ).expect("a tool");
        server.add_resource(r#"{"uri":"file:///a","name":"a"}"#).expect("a resource");
        server.add_prompt(r#"{"name":"greet"}"#).expect("a prompt");
        Site { http: HttpServer::new(server, http), events: Vec::new(), now: Instant::ZERO }
    }

    /// The server.
    pub fn server(&mut self) -> &mut Server {
        self.http.machine_mut()
    }

    /// Sends a request as a whole, without a principal.
    pub fn send(&mut self, method: &str, headers: &[(&str, &str)], body: &str) -> ExchangeHandle {
        self.send_to(Endpoint::Streamable, method, headers, body)
    }

    /// Sends a request to any endpoint.
    pub fn send_to(
        &mut self,
        endpoint: Endpoint<'_>,
        method: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> ExchangeHandle {
        let head = RequestHead { method, endpoint, headers, principal: None };
        let exchange = self.http.receive_whole(self.now, head, body.as_bytes());
        self.listen();
        exchange
    }

    /// Posts a message with the common headers and more.
    pub fn post(&mut self, more: &[(&str, &str)], body: &str) -> ExchangeHandle {
        let headers: Vec<_> = COMMON.iter().chain(more).copied().collect();
        self.send("POST", &headers, body)
    }

    /// Asks for a stream with the common headers and more.
    pub fn get(&mut self, more: &[(&str, &str)]) -> ExchangeHandle {
        let headers: Vec<_> = COMMON.iter().chain(more).copied().collect();
        self.send("GET", &headers, "")
    }

    /// Everything that an exchange has to send now.
    pub fn take(&mut self, exchange: ExchangeHandle) -> Response {
        let mut response = Response::default();
        self.take_more(exchange, &mut response);
        response
    }

    /// Appends everything that an exchange has to send now.
    pub fn take_more(&mut self, exchange: ExchangeHandle, response: &mut Response) {
        while let Some(part) = self.http.poll_response(exchange) {
            response.extend(part);
        }
    }

    /// Posts a message and takes the response.
    pub fn ask(&mut self, more: &[(&str, &str)], body: &str) -> Response {
        let exchange = self.post(more, body);
        self.take(exchange)
    }

    /// Posts a modern request with all its headers and takes the response.
    pub fn ask_modern(&mut self, method: &str, name: Option<&str>, params: &str) -> Response {
        let exchange = self.post_modern(method, name, params);
        self.take(exchange)
    }

    /// Posts a modern request with all its headers.
    pub fn post_modern(&mut self, method: &str, name: Option<&str>, params: &str) -> ExchangeHandle {
        let mut headers = Vec::from([("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", method)]);
        headers.extend(name.map(|name| ("Mcp-Name", name)));
        self.post(&headers, &modern(1, method, params))
    }

    /// Opens a session in that revision; its id.
    pub fn open_session(&mut self, revision: Revision) -> String {
        let response = self.ask(&[], &initialize(revision));
        assert_eq!(response.status, 200, "{response:?}");
        let id = response.header("mcp-session-id").expect("an id").to_owned();
        let initialized = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        let response = self.ask(&[("Mcp-Session-Id", &id)], initialized);
        assert_eq!((response.status, &*response.body), (202, ""));
        id
    }

    /// Lets time pass.
    pub fn wait(&mut self, milliseconds: u64) {
        self.now = self.now.after(milliseconds);
        self.http.handle_timeout(self.now);
        self.listen();
    }

    /// The call that was told last.
    pub fn last_call(&self) -> RequestHandle {
        let mut calls = self.events.iter().filter_map(|event| match event {
            server::Event::ToolCalled { request, .. } => Some(*request),
            _ => None,
        });
        calls.next_back().expect("a call")
    }

    /// Takes the events.
    pub fn listen(&mut self) {
        while let Some(event) = self.http.machine_mut().poll_event() {
            self.events.push(event);
        }
    }
}

impl Default for Site {
    fn default() -> Self {
        Site::new()
    }
}

/// A request that opens a session.
pub fn initialize(revision: Revision) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{"protocolVersion":"{revision}","capabilities":{{"elicitation":{{}},"roots":{{}}}},"clientInfo":{{"name":"c","version":"1"}}}}}}"#
    )
}

/// A modern request; `params` are the members of its parameters, without `_meta`.
pub fn modern(id: u64, method: &str, params: &str) -> String {
    let mut text = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{{params}"#);
    if !params.is_empty() {
        text.push(',');
    }
    let _ = write!(
        text,
        r#""_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{{"elicitation":{{}}}},"progressToken":{id}}}}}}}"#
    );
    text
}
