//! A client behind HTTP, and everything that its application, servers, connections and clocks can do to it, in any
//! order. What must hold at any time is checked after each step, what must hold at the end at the end.

use std::collections::BTreeSet;
use std::fmt::Write;

use barewire::client::{Client, RequestOptions};
use barewire::transport::http::client::{
    ExchangeFailure, HttpClient, HttpClientConfig, HttpClientEvent, HttpRequest, HttpTransmit,
};
use barewire::{
    EraVerdict, ExchangeHandle, InputResponse, Instant, Json, LogLevel, Machine, RequestHandle, Revision,
    Revisions, RpcError, SubscriptionFilter,
};
use serde_json::Value;

use crate::http_host::header;
use crate::mutation::mutate;
use crate::operations::ClientLedger;
use crate::{Choices, client_config};

const ORIGIN: &str = "http://127.0.0.1:8000/";

/// Requests that may be in flight.
const IN_FLIGHT: usize = 6;

/// Longer than any request may take.
const FOREVER: u64 = 2_000_000;

/// Deadlines that a run at rest may have, one after another.
const MOST_DEADLINES: usize = 10_000;

/// Lines of the story that are printed on failure.
const LINES_TOLD: usize = 60;

/// Requests of an application.
const REQUESTS: [(&str, Option<&str>); 6] = [
    ("tools/call", Some(r#"{"name":"t","arguments":{"region":"ü"}}"#)),
    ("tools/list", None),
    ("resources/read", Some(r#"{"uri":"file:///a"}"#)),
    ("prompts/get", Some(r#"{"name":"greet"}"#)),
    ("ping", None),
    ("x/own", Some("{}")),
];

/// Results of servers, most of them where they do not belong.
const RESULTS: [&str; 8] = [
    r#"{"content":[]}"#,
    r#"{"tools":[{"name":"t","inputSchema":{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}}}}]}"#,
    r#"{"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{}}}}},"requestState":"s"}"#,
    r#"{"resultType":"input_required","requestState":"s"}"#,
    r#"{"resultType":"input_required","inputRequests":{}}"#,
    r#"{"supportedVersions":["2025-11-25"],"capabilities":{}}"#,
    r#"{"protocolVersion":"1999-01-01"}"#,
    "[]",
];

const ERRORS: [i64; 8] = [-32601, -32602, -32600, -32020, -32021, -32022, -32001, -32042];

/// What a server may say unasked.
const UNASKED: [&str; 10] = [
    r#"{"jsonrpc":"2.0","id":"q","method":"ping"}"#,
    r#"{"jsonrpc":"2.0","id":7,"method":"roots/list"}"#,
    r#"{"jsonrpc":"2.0","id":8,"method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{}}}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":3,"progress":1}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"q"}}"#,
    r#"{"jsonrpc":"2.0","error":{"code":-32603,"message":"m"}}"#,
    r#"[{"jsonrpc":"2.0","id":9,"method":"ping"},{"jsonrpc":"2.0","method":"x/note"}]"#,
    "noise",
];

const STATUSES: [u16; 22] = [
    200, 202, 204, 301, 307, 308, 400, 401, 403, 404, 404, 404, 404, 405, 406, 409, 413, 415, 429, 500, 503,
    700,
];

const TYPES: [&str; 4] = ["application/json", "text/event-stream", "text/html", ""];

/// Runs the operations that `bytes` stand for; what happened, in order. Panics where a promise is broken.
pub fn run(bytes: &[u8]) -> String {
    let mut walk = Walk::new(bytes);
    while !walk.choices.is_empty() {
        walk.step();
        walk.drive();
    }
    walk.end();
    std::mem::take(&mut walk.story)
}

/// A request that has not ended for the host.
struct Open {
    request: HttpRequest,
    /// Status and type of the response, once there is a head.
    head: Option<(u16, &'static str)>,
}

struct Walk<'a> {
    choices: Choices<'a>,
    http: HttpClient<Client>,
    now: Instant,
    told: ClientLedger,
    open: Vec<Open>,
    /// Exchanges that wait for authorization.
    challenged: Vec<ExchangeHandle>,
    known: BTreeSet<ExchangeHandle>,
    /// Ids of requests that were posted.
    ids: Vec<Value>,
    /// Requests have all the time in the world.
    is_patient: bool,
    /// The client was over when it was last driven.
    was_over: bool,
    closed: bool,
    story: String,
}

impl Drop for Walk<'_> {
    #[expect(clippy::disallowed_macros, reason = "the story is for the reader of a failing test")]
    fn drop(&mut self) {
        if std::thread::panicking() {
            let lines: Vec<_> = self.story.lines().collect();
            let last = lines.len().saturating_sub(LINES_TOLD);
            eprintln!("the last of what happened:\n{}", lines[last..].join("\n"));
        }
    }
}

impl<'a> Walk<'a> {
    fn new(bytes: &'a [u8]) -> Walk<'a> {
        let mut choices = Choices::new(bytes);
        let mut client = client_config();
        client.http = true;
        client.revisions = *choices.pick(&[Revisions::ALL, Revisions::LEGACY, Revisions::MODERN]);
        let modern = EraVerdict { revision: Revision::V2026_07_28 };
        client.era = Some(modern).filter(|_| choices.once_in(6));
        client.limits.requests_in_flight = IN_FLIGHT;
        client.limits.queued_events = 16;
        client.limits.queued_bytes = 2_000;
        let is_patient = choices.once_in(3);
        if is_patient {
            client.timeouts.request = u64::MAX;
            client.timeouts.request_total = u64::MAX;
        }
        let mut http = HttpClientConfig::new(&format!("{ORIGIN}mcp"));
        http.message_bytes = 1_500;
        http.authorizes = choices.once_in(2);
        http.opens_stream = !choices.once_in(8);
        http.falls_back_to_sse = !choices.once_in(8);
        let client = Client::new(client, Instant::ZERO).expect("a client");
        let mut walk = Walk {
            choices,
            http: HttpClient::new(client, http).expect("a URL"),
            now: Instant::ZERO,
            told: ClientLedger::default(),
            open: Vec::new(),
            challenged: Vec::new(),
            known: BTreeSet::new(),
            ids: Vec::new(),
            is_patient,
            was_over: false,
            closed: false,
            story: String::new(),
        };
        walk.drive();
        walk
    }

    fn note(&mut self, line: &str) {
        let _ = writeln!(self.story, "{:>7} {line}", self.now.as_millis());
    }

    /// Takes everything that the client has to say, and checks it.
    fn drive(&mut self) {
        while let Some(transmit) = self.http.poll_transmit(self.now) {
            assert!(!self.closed, "{transmit:?} after everything");
            match transmit {
                HttpTransmit::Request(request) => self.take_request(request),
                HttpTransmit::Abort { exchange } => {
                    self.note(&format!("abort {exchange:?}"));
                    let at = self.open.iter().position(|open| open.request.exchange == exchange);
                    self.open.remove(at.unwrap_or_else(|| panic!("{exchange:?} is not open")));
                }
                HttpTransmit::Close => self.closed = true,
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(self.closed, self.http.is_finished());
        while let Some(event) = self.http.machine_mut().poll_event() {
            self.note(&format!("told {event:?}"));
            self.told.take(&event);
        }
        while let Some(event) = self.http.poll_http_event() {
            let HttpClientEvent::AuthorizationRequired { exchange, .. } = event else { panic!("{event:?}") };
            self.challenged.push(exchange);
        }
        self.was_over = self.told.over;
        // One exchange a request, its answered attempts, notices, and the stream.
        assert!(self.open.len() <= 4 * IN_FLIGHT + 8, "{} exchanges are open", self.open.len());
    }

    fn take_request(&mut self, request: HttpRequest) {
        self.note(&format!(
            "{} {} {:?} {} {:?}",
            request.method, request.url, request.exchange, request.body, request.headers
        ));
        assert!(self.known.insert(request.exchange), "{:?} was given out before", request.exchange);
        assert!(request.url.starts_with(ORIGIN), "{} is elsewhere", request.url);
        assert!(!self.was_over || request.method == "DELETE", "a new exchange after the end");
        let message: Value = serde_json::from_str(&request.body).unwrap_or_default();
        assert_eq!(message.is_null(), request.method != "POST");
        for (name, value) in &request.headers {
            assert!(name.bytes().all(|byte| byte.is_ascii_lowercase() || b"-".contains(&byte)), "{name}");
            let printable = value.bytes().all(|byte| (b' '..0x7f).contains(&byte));
            assert!(printable && value.trim() == value, "{name}: {value:?}");
        }
        let is_modern = header(&request, "mcp-protocol-version") == Some(Revision::V2026_07_28.as_str());
        if is_modern || message["method"] == "initialize" {
            assert_eq!(header(&request, "mcp-session-id"), None);
        }
        // One message a request; of modern servers nothing is asked that could be answered. Batches of answers exist
        // in a revision that has no header of its own.
        let is_batch = message.is_array();
        assert!(!is_batch || header(&request, "mcp-protocol-version").is_none(), "{message}");
        assert!(!is_modern || message["method"].is_string(), "{message}");
        if message["method"] == "initialize" {
            assert_eq!(header(&request, "mcp-protocol-version"), None);
        }
        if !message["method"].is_null() && !message["id"].is_null() {
            self.ids.push(message["id"].clone());
        }
        self.open.push(Open { request, head: None });
    }

    fn step(&mut self) {
        match self.choices.below(16) {
            0..=3 => self.command(),
            4..=11 => self.serve(),
            12 => {
                let step = *self.choices.pick(&[0, 1, 10, 500, 1_000, 2_000, 5_000, 30_000, 700_000]);
                self.advance(step);
            }
            13 => {
                if let Some(due) = self.http.poll_timeout() {
                    self.advance(due.since(self.now));
                }
            }
            14 => self.authorize(),
            _ => self.disturb(),
        }
    }

    /// Something that the application asks for.
    fn command(&mut self) {
        let now = self.now;
        let client = self.http.machine_mut();
        match self.choices.below(10) {
            0..=4 => {
                let (method, params) = *self.choices.pick(&REQUESTS);
                if let Ok(request) = client.request(now, method, params, RequestOptions::default()) {
                    self.told.requested(request);
                }
            }
            5 => {
                let request = self.told.requests.last().copied();
                let _ = client.cancel(request.unwrap_or(RequestHandle::from_number(1)), None);
            }
            6 => {
                let resource_uris = vec!["file:///a".into()];
                let filter = SubscriptionFilter { tools: true, resource_uris, ..Default::default() };
                if let Ok(subscription) = client.subscribe(now, filter) {
                    self.told.subscribed(subscription);
                }
            }
            7 => {
                if let Some(&subscription) = self.told.subscriptions.last() {
                    let _ = client.unsubscribe(now, subscription);
                }
                if let Ok(request) = client.set_log_level(now, LogLevel::Info) {
                    self.told.requested(request);
                }
            }
            8 => {
                let Some(&input) = self.told.standing.first() else { return };
                let response = if self.choices.once_in(3) {
                    InputResponse::Refused(RpcError::new(-1, "no"))
                } else {
                    let result = *self.choices.pick(&[r#"{"action":"decline"}"#, r#"{"roots":[]}"#]);
                    InputResponse::Result(Json::new(result).expect("JSON"))
                };
                if client.provide_input(now, input, response).is_ok() {
                    self.told.provided(input);
                }
            }
            _ => {
                let _ = client.notify("x/note", Some("{}"));
            }
        }
    }

    /// Something that a server does in an open exchange.
    fn serve(&mut self) {
        if self.open.is_empty() {
            return;
        }
        let at = self.choices.below(self.open.len());
        let rarely = if self.opens(at) { 60 } else { 12 };
        match self.open[at].head {
            None if self.choices.once_in(rarely) => self.fail(at),
            None => self.answer(at),
            Some((_, "text/event-stream")) => match self.choices.below(8) {
                0 => self.finish(at),
                1 => self.fail(at),
                _ => self.send_event(at),
            },
            Some(_) => match self.choices.below(4) {
                0 => self.fail(at),
                1 => {
                    let piece = self.message(at);
                    self.body(at, piece.as_bytes());
                }
                _ => self.finish(at),
            },
        }
    }

    /// The head of a response, often with all of it.
    fn answer(&mut self, at: usize) {
        let is_answer = self.posts(at)["id"] != Value::Null && self.posts(at)["method"] != Value::Null;
        let usual = match self.open[at].request.method {
            "POST" if is_answer => 200,
            "POST" => 202,
            "GET" => *self.choices.pick(&[200, 200, 405]),
            _ => 200,
        };
        let odd = self.choices.once_in(if self.opens(at) { 30 } else { 5 });
        let status = if odd { *self.choices.pick(&STATUSES) } else { usual };
        let is_get = self.open[at].request.method == "GET";
        let media = match self.choices.below(12) {
            0 if !self.opens(at) => *self.choices.pick(&TYPES),
            1..=4 => TYPES[1],
            _ if is_get => TYPES[1],
            _ => TYPES[0],
        };
        let mut headers = vec![("content-type", media)];
        if self.posts(at)["method"] == "initialize" && self.choices.once_in(2) {
            headers.push(("mcp-session-id", *self.choices.pick(&["s1", "s2", "s3", "bad id"])));
        }
        if matches!(status, 307 | 308) {
            headers.push(("location", *self.choices.pick(&["/", "mcp/", "//evil.example/", "/mcp", "x?y"])));
        }
        let exchange = self.open[at].request.exchange;
        self.note(&format!("{exchange:?} {status} {headers:?}"));
        self.open[at].head = Some((status, media));
        let _ = self.http.receive_head(self.now, exchange, status, &headers);
        let whole = media != TYPES[1] && !self.choices.once_in(3);
        if whole {
            let body = if status == 202 { String::new() } else { self.message(at) };
            self.body(at, body.as_bytes());
            self.finish(at);
        }
    }

    /// Whether it is about the opening of the connection, which most runs should survive.
    fn opens(&self, at: usize) -> bool {
        matches!(self.posts(at)["method"].as_str(), Some("server/discover" | "initialize"))
    }

    fn posts(&self, at: usize) -> Value {
        serde_json::from_str(&self.open[at].request.body).unwrap_or_default()
    }

    /// A message that may belong there.
    fn message(&mut self, at: usize) -> String {
        let posted = self.posts(at);
        if self.opens(at) && !self.choices.once_in(10) {
            let id = &posted["id"];
            return format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{}}}"#, self.fitting(&posted));
        }
        let any_id = self.choices.once_in(10) && !self.ids.is_empty();
        let id = if any_id { self.choices.pick(&self.ids).clone() } else { posted["id"].clone() };
        let text = match self.choices.below(10) {
            0 => (*self.choices.pick(&UNASKED)).to_owned(),
            1 => {
                let code = *self.choices.pick(&ERRORS);
                let id = if self.choices.once_in(2) { id } else { Value::Null };
                let data = r#"{"supported":["2026-07-28","2025-06-18"]}"#;
                format!(
                    r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":"m","data":{data}}}}}"#
                )
            }
            2 | 3 => format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{}}}"#, self.choices.pick(&RESULTS)),
            _ => format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{}}}"#, self.fitting(&posted)),
        };
        if self.choices.once_in(12) {
            String::from_utf8_lossy(&mutate(&mut self.choices, text.as_bytes())).into_owned()
        } else {
            text
        }
    }

    /// A result that answers the message.
    fn fitting(&mut self, posted: &Value) -> String {
        let capabilities = r#"{"tools":{},"logging":{},"resources":{"subscribe":true},"prompts":{}}"#;
        match posted["method"].as_str() {
            Some("initialize") => {
                let revision = *self.choices.pick(&Revisions::LEGACY.to_vec());
                format!(r#"{{"protocolVersion":"{revision}","capabilities":{capabilities}}}"#)
            }
            Some("server/discover") => {
                format!(r#"{{"supportedVersions":["2026-07-28"],"capabilities":{capabilities}}}"#)
            }
            Some("tools/list") => RESULTS[1].into(),
            _ => RESULTS[0].into(),
        }
    }

    fn send_event(&mut self, at: usize) {
        let mut event = String::new();
        if self.choices.once_in(3) {
            let _ = writeln!(event, "id: {}", self.choices.below(50));
        }
        if self.choices.once_in(6) {
            let _ = writeln!(event, "retry: {}", self.choices.pick(&[0, 20, 500, 60_000]));
        }
        match self.choices.below(12) {
            0 => event.push_str("data:\n"),
            1 => event.push_str("event: ping\ndata: x\n"),
            2 => {
                let place = *self.choices.pick(&["/messages", "m?x=1", "//evil.example/", "\\", "mcp"]);
                let _ = writeln!(event, "event: endpoint\ndata: {place}");
            }
            3 | 4 => {
                let _ = writeln!(event, "data: {}", self.choices.pick(&UNASKED));
            }
            5 => {
                let posted = self.posts(at);
                let about = r#"{"io.modelcontextprotocol/subscriptionId":"#;
                let _ = writeln!(
                    event,
                    r#"data: {{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{{"_meta":{about}{}}},"notifications":{{"toolsListChanged":true}}}}}}"#,
                    posted["id"]
                );
            }
            6 => event.push_str(&format!("data: {}\n", "x".repeat(1_600))),
            _ => {
                let message = self.message(at);
                let _ = writeln!(event, "data: {message}");
            }
        }
        event.push('\n');
        self.body(at, event.as_bytes());
    }

    fn body(&mut self, at: usize, data: &[u8]) {
        let exchange = self.open[at].request.exchange;
        self.note(&format!("{exchange:?} {}", String::from_utf8_lossy(data)));
        for piece in data.chunks(1 + self.choices.below(200)) {
            let _ = self.http.receive_body(self.now, exchange, piece);
        }
    }

    fn finish(&mut self, at: usize) {
        let open = self.open.remove(at);
        self.note(&format!("{:?} ends", open.request.exchange));
        let _ = self.http.receive_end(self.now, open.request.exchange);
    }

    fn fail(&mut self, at: usize) {
        let open = self.open.remove(at);
        let redirected = ExchangeFailure::Redirected { status: 302 };
        let failures = [ExchangeFailure::NotSent, ExchangeFailure::Broken, redirected];
        let failure = *self.choices.pick(&failures);
        self.note(&format!("{:?} fails: {failure:?}", open.request.exchange));
        let _ = self.http.receive_failure(self.now, open.request.exchange, failure);
    }

    fn authorize(&mut self) {
        let Some(exchange) = self.challenged.pop() else { return };
        if self.choices.once_in(3) {
            let _ = self.http.unauthorized(self.now, exchange);
        } else {
            self.http.authorized(self.now, exchange);
        }
    }

    /// Reports about nothing that is open, and the end.
    fn disturb(&mut self) {
        let exchange = ExchangeHandle::from_number(self.choices.below(40) as u64);
        if self.open.iter().any(|open| open.request.exchange == exchange) {
            return;
        }
        match self.choices.below(8) {
            0 => {
                let _ = self.http.receive_head(self.now, exchange, 200, &[("content-type", TYPES[0])]);
            }
            1 => {
                let _ = self.http.receive_body(self.now, exchange, b"{}");
            }
            2 => {
                let _ = self.http.receive_end(self.now, exchange);
            }
            3 => {
                let _ = self.http.receive_failure(self.now, exchange, ExchangeFailure::Broken);
            }
            4 => self.http.authorized(self.now, exchange),
            5 if self.choices.once_in(3) => {
                self.note("close");
                self.http.machine_mut().close();
            }
            _ => {
                let _ = self.http.wants_input(exchange);
            }
        }
    }

    /// Lets time pass, stopping at every deadline on the way.
    fn advance(&mut self, milliseconds: u64) {
        let end = self.now.after(milliseconds);
        for _ in 0..MOST_DEADLINES {
            let due = self.http.poll_timeout().filter(|&due| due <= end);
            self.now = due.map_or(end, |due| due.max(self.now));
            let _ = self.http.handle_timeout(self.now);
            self.drive();
            if due.is_none() {
                return;
            }
        }
        panic!("time does not pass: {:?} is always due", self.http.poll_timeout());
    }

    /// Nothing reaches the server any more, and nobody answers its questions.
    fn break_down(&mut self) {
        for _ in 0..30 {
            while !self.open.is_empty() {
                self.fail(0);
                self.drive();
            }
            for exchange in std::mem::take(&mut self.challenged) {
                let _ = self.http.unauthorized(self.now, exchange);
            }
            for input in self.told.standing.clone() {
                let refusal = InputResponse::Refused(RpcError::new(-1, "no"));
                if self.http.machine_mut().provide_input(self.now, input, refusal).is_ok() {
                    self.told.provided(input);
                }
            }
            self.drive();
            self.advance(FOREVER);
        }
    }

    fn end(&mut self) {
        if self.is_patient {
            self.break_down();
            assert!(self.told.open.is_empty(), "never ended: {:?}", self.told.open);
        } else if self.now.as_millis().is_multiple_of(2) {
            // A server that never says anything again: what was asked ends all the same.
            self.advance(FOREVER);
            assert!(self.told.open.is_empty(), "never ended: {:?}", self.told.open);
        }
        self.http.machine_mut().close();
        self.drive();
        self.advance(5_000);
        assert!(self.closed, "the end takes too long");
        assert!(self.open.is_empty(), "left open: {}", self.open.len());
        assert_eq!(self.http.poll_timeout(), None);
        assert!(self.told.over);
        self.told.check_settled();
    }
}
