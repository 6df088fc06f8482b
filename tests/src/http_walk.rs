//! A server behind HTTP, and everything that clients, connections, applications and clocks can do to it, in any order.
//! What must hold at any time is checked after each step, what must hold at the end at the end.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use barewire::server::{Event, Notification};
use barewire::transport::http::server::{
    Endpoint, EventKeeping, HttpServerConfig, HttpServerEvent, RequestHead,
};
use barewire::{
    Change, ExchangeHandle, InputKind, InputQuestion, Json, ListKind, LogLevel, Machine, RequestHandle,
    Revision, Seed, SessionHandle, SubscriptionHandle,
};

use crate::mutation::mutate;
use crate::site::{COMMON, RESULT, Response, Site, initialize, modern};
use crate::{Choices, server_config};

/// Bytes that may wait in one exchange.
const QUEUED: usize = 4_096;

/// Bytes of the longest message that an application sends here.
const LONGEST: usize = 3_000;

/// How many ids and queries clients remember.
const LAST: usize = 3;

/// Lines of the story that are printed on failure.
const LINES_TOLD: usize = 40;

/// Deadlines that a run at rest may still have, one after another.
const MOST_DEADLINES: usize = 10_000;

const REVISIONS: [Revision; 3] = [Revision::V2025_03_26, Revision::V2025_06_18, Revision::V2025_11_25];

const METHODS: [&str; 6] = ["POST", "GET", "DELETE", "OPTIONS", "PUT", ""];

/// Messages of legacy sessions.
const MESSAGES: [&str; 16] = [
    r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
    r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","_meta":{"progressToken":7}}}"#,
    r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"echo"}}"#,
    r#"{"jsonrpc":"2.0","id":4,"method":"tools/list"}"#,
    r#"{"jsonrpc":"2.0","id":5,"method":"resources/subscribe","params":{"uri":"file:///a"}}"#,
    r#"{"jsonrpc":"2.0","id":6,"method":"logging/setLevel","params":{"level":"debug"}}"#,
    r#"{"jsonrpc":"2.0","id":8,"method":"x/unknown"}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}"#,
    r#"[{"jsonrpc":"2.0","id":9,"method":"ping"},{"jsonrpc":"2.0","id":10,"method":"tools/call","params":{"name":"echo"}},{"jsonrpc":"2.0","method":"x/note"}]"#,
    r#"[{"jsonrpc":"2.0","method":"x/note"}]"#,
    r#"{"jsonrpc":"2.0","id":1,"result":{"roots":[]}}"#,
    r#"{"jsonrpc":"2.0","id":2,"result":{"action":"accept","content":{"a":"b"}}}"#,
    r#"{"jsonrpc":"2.0","id":3,"error":{"code":-1,"message":"no"}}"#,
    "{",
];

/// Modern requests: method, name, parameters.
const REQUESTS: [(&str, Option<&str>, &str); 6] = [
    ("tools/call", Some("echo"), r#""name":"echo""#),
    ("tools/call", Some("route"), r#""name":"route","arguments":{"region":"us"}"#),
    ("tools/list", None, ""),
    ("server/discover", None, ""),
    (
        "subscriptions/listen",
        None,
        r#""notifications":{"toolsListChanged":true,"resourceSubscriptions":["file:///a"]}"#,
    ),
    ("x/unknown", None, ""),
];

/// Runs the operations that `bytes` stand for; what happened, in order. Panics where a promise is broken.
pub fn run(bytes: &[u8]) -> String {
    let mut walk = Walk::new(bytes);
    while !walk.choices.is_empty() {
        walk.step();
        walk.check();
    }
    walk.end();
    std::mem::take(&mut walk.story)
}

/// An exchange that has not ended.
#[derive(Debug, Default)]
struct Open {
    response: Response,
    /// The session that it named.
    session: Option<String>,
    /// What of its body has not been sent.
    rest: Option<Vec<u8>>,
}

/// Ids and data of the events of a stream.
type KeptStream = Vec<(Box<str>, String)>;

struct Walk<'a> {
    choices: Choices<'a>,
    site: Site,
    open: BTreeMap<ExchangeHandle, Open>,
    /// Every exchange ever begun.
    all: Vec<ExchangeHandle>,
    /// Ids of sessions that clients were told.
    ids: Vec<String>,
    /// Queries of channels that clients were told.
    queries: Vec<String>,
    /// Each event with an id: its data, and the session on whose streams it was.
    events: BTreeMap<String, (String, Option<String>)>,
    /// Their ids, in order.
    event_ids: Vec<String>,
    /// Requests that the application has to answer.
    owed: Vec<RequestHandle>,
    sessions: Vec<SessionHandle>,
    subscriptions: Vec<SubscriptionHandle>,
    /// What the host keeps: ids and data of the events of each stream.
    kept: BTreeMap<(SessionHandle, Box<str>), KeptStream>,
    /// What the host was asked and has not answered.
    asked: Vec<HttpServerEvent>,
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
        let mut server = server_config();
        server.logging = true;
        server.limits.queued_bytes = QUEUED;
        server.limits.sessions = 3;
        server.limits.requests_in_flight = 12;
        let mut http = HttpServerConfig::new(Seed::new([3; 32]));
        http.body_bytes = 2_000;
        http.keep_alive = 5_000;
        http.session_idle = 60_000;
        http.events = match choices.below(5) {
            0 => EventKeeping::None,
            1 => EventKeeping::Memory { events: 2, bytes: 3_000, age: 10_000 },
            2 => EventKeeping::External,
            _ => EventKeeping::default(),
        };
        http.external_sessions = http.events == EventKeeping::External;
        Walk {
            choices,
            site: Site::with(server, http),
            open: BTreeMap::new(),
            all: Vec::new(),
            ids: Vec::new(),
            queries: Vec::new(),
            events: BTreeMap::new(),
            event_ids: Vec::new(),
            owed: Vec::new(),
            sessions: Vec::new(),
            subscriptions: Vec::new(),
            kept: BTreeMap::new(),
            asked: Vec::new(),
            story: String::new(),
        }
    }

    fn tell(&mut self, what: std::fmt::Arguments<'_>) {
        let _ = writeln!(self.story, "{what}");
    }

    fn step(&mut self) {
        match self.choices.below(25) {
            0..=3 => self.post_legacy(),
            4 => self.open_session(),
            5 | 6 => self.post_modern(),
            7 => self.request(),
            8 => self.feed(),
            9 | 10 => self.get(),
            11 => self.delete(),
            12 => self.abort(),
            13 => self.channel(),
            14 => self.post_to_channel(),
            15 | 16 => self.answer(),
            17 | 18 => self.notify(),
            19 => self.ask(),
            20 => self.close_stream(),
            21 => self.wait(),
            22 => self.publish(),
            23 => self.serve_host(),
            _ => self.meddle(),
        }
        if self.choices.once_in(2) {
            self.read_ready();
        }
    }

    fn known(&mut self, what: &[String]) -> Option<String> {
        if what.is_empty() || self.choices.once_in(8) {
            return self.choices.once_in(2).then(|| "x".to_owned());
        }
        // Old ones are more likely to be over.
        let last = &what[what.len().saturating_sub(LAST)..];
        Some(last[self.choices.below(last.len())].clone())
    }

    fn session_id(&mut self) -> Option<String> {
        let ids = self.ids.clone();
        self.known(&ids)
    }

    fn any_exchange(&mut self) -> ExchangeHandle {
        if self.all.is_empty() || self.choices.once_in(16) {
            return ExchangeHandle::from_number(u64::from(self.choices.byte()));
        }
        if !self.open.is_empty() && !self.choices.once_in(4) {
            let nth = self.choices.below(self.open.len());
            return self.open.keys().nth(nth).copied().expect("an exchange");
        }
        self.all[self.choices.below(self.all.len())]
    }

    /// Sends a request, whole or with its body to come.
    fn send(&mut self, endpoint: Endpoint<'_>, method: &str, more: &[(&str, &str)], body: &[u8]) {
        let unusual = ["application/json", "text/event-stream", "a/b"];
        let accept = if self.choices.once_in(6) { *self.choices.pick(&unusual) } else { COMMON[1].1 };
        let mut headers = Vec::from([COMMON[0], ("Accept", accept), COMMON[2]]);
        headers.extend(more);
        let head = RequestHead { method, endpoint, headers: &headers, principal: None };
        let in_pieces = self.choices.once_in(4);
        let exchange = if in_pieces {
            self.site.http.receive_request(self.site.now, head)
        } else {
            self.site.http.receive_whole(self.site.now, head, body)
        };
        self.tell(format_args!(
            "{exchange:?} {method} {endpoint:?} {more:?} {} pieces={in_pieces}",
            String::from_utf8_lossy(body)
        ));
        let session = more.iter().find(|(name, _)| *name == "Mcp-Session-Id").map(|(_, id)| (*id).to_owned());
        let rest = in_pieces.then(|| body.to_vec());
        let before = self.open.insert(exchange, Open { session, rest, ..Open::default() });
        assert!(before.is_none(), "{exchange:?} is not new");
        self.all.push(exchange);
    }

    fn body(&mut self, text: &str) -> Vec<u8> {
        if self.choices.once_in(8) { mutate(&mut self.choices, text.as_bytes()) } else { text.into() }
    }

    fn post_legacy(&mut self) {
        let id = self.session_id();
        // Calls are what most comes of.
        let text = if self.choices.once_in(2) { MESSAGES[1] } else { *self.choices.pick(&MESSAGES) };
        let body = self.body(text);
        let mut more = Vec::new();
        more.extend(id.as_deref().map(|id| ("Mcp-Session-Id", id)));
        if self.choices.once_in(3) {
            more.push(("MCP-Protocol-Version", "2025-06-18"));
        }
        self.send(Endpoint::Streamable, "POST", &more, &body);
    }

    fn open_session(&mut self) {
        let revision = *self.choices.pick(&REVISIONS);
        if !self.choices.once_in(4) {
            return self.open_session_in_order(revision);
        }
        let body = self.body(&initialize(revision));
        self.send(Endpoint::Streamable, "POST", &[], &body);
    }

    /// The whole handshake at once, so that most runs have sessions.
    fn open_session_in_order(&mut self, revision: Revision) {
        let opened = self.site.ask(&[], &initialize(revision));
        self.tell(format_args!("a session of {revision}: {} {}", opened.status, opened.body));
        self.learn_from(&opened, None);
        if let Some(id) = opened.header("mcp-session-id") {
            let initialized = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
            assert_eq!(self.site.ask(&[("Mcp-Session-Id", id)], initialized).status, 202);
        }
    }

    fn post_modern(&mut self) {
        let (method, name, params) = *self.choices.pick(&REQUESTS);
        let body = self.body(&modern(1, method, params));
        let mut more = Vec::from([("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", method)]);
        more.extend(name.map(|name| ("Mcp-Name", name)));
        if name == Some("route") {
            more.push(("Mcp-Param-Region", "us"));
        }
        if self.choices.once_in(8) {
            more.remove(self.choices.below(more.len()));
        }
        self.send(Endpoint::Streamable, "POST", &more, &body);
    }

    /// A request that is likely to be wrong.
    fn request(&mut self) {
        let method = *self.choices.pick(&METHODS);
        let mut more = Vec::new();
        for header in [
            ("Host", "evil.example"),
            ("Origin", "http://evil.example"),
            ("Origin", "http://localhost:5000"),
            ("Access-Control-Request-Method", "POST"),
            ("Content-Type", "text/plain"),
            ("Content-Length", "99999"),
            ("Mcp-Session-Id", "x"),
            ("Last-Event-ID", "a.1.1"),
        ] {
            if self.choices.once_in(4) {
                more.push(header);
            }
        }
        let length = self.choices.below(3_000);
        self.send(Endpoint::Streamable, method, &more, &vec![b' '; length]);
    }

    /// Sends a piece of a body that is to come, or says that it is complete.
    fn feed(&mut self) {
        let waiting: Vec<_> =
            self.open.iter().filter(|(_, open)| open.rest.is_some()).map(|(exchange, _)| *exchange).collect();
        if waiting.is_empty() {
            return;
        }
        let exchange = *self.choices.pick(&waiting);
        let Some(rest) = self.open.get_mut(&exchange).and_then(|open| open.rest.take()) else { return };
        let cut = self.choices.below(rest.len() + 1);
        self.tell(format_args!("{exchange:?} gets {cut} of {} bytes", rest.len()));
        self.site.http.receive_body(self.site.now, exchange, &rest[..cut]);
        if cut == rest.len() || self.choices.once_in(4) {
            self.site.http.receive_end(self.site.now, exchange);
        } else if let Some(open) = self.open.get_mut(&exchange) {
            open.rest = Some(rest[cut..].to_vec());
        }
    }

    fn get(&mut self) {
        let session = self.session_id();
        let ids = self.event_ids.clone();
        let after = if self.choices.once_in(2) { self.known(&ids) } else { None };
        let mut more = Vec::new();
        more.extend(session.as_deref().map(|id| ("Mcp-Session-Id", id)));
        more.extend(after.as_deref().map(|id| ("Last-Event-ID", id)));
        self.send(Endpoint::Streamable, "GET", &more, b"");
    }

    fn delete(&mut self) {
        if let Some(id) = self.session_id() {
            self.send(Endpoint::Streamable, "DELETE", &[("Mcp-Session-Id", &id)], b"");
        }
    }

    fn abort(&mut self) {
        let exchange = self.any_exchange();
        self.tell(format_args!("{exchange:?} is left"));
        self.site.http.receive_abort(self.site.now, exchange);
        self.open.remove(&exchange);
        assert_eq!(self.site.http.poll_response(exchange), None);
    }

    fn channel(&mut self) {
        self.send(Endpoint::EventStream { messages: "m" }, "GET", &[], b"");
    }

    fn post_to_channel(&mut self) {
        let queries = self.queries.clone();
        let query = self.known(&queries).unwrap_or_default();
        let opening = initialize(Revision::V2024_11_05);
        let text = if self.choices.once_in(3) { &*opening } else { *self.choices.pick(&MESSAGES) };
        let body = self.body(text);
        self.send(Endpoint::Messages { query: &query }, "POST", &[], &body);
    }

    fn owed(&mut self) -> Option<RequestHandle> {
        if self.owed.is_empty() { None } else { Some(*self.choices.pick(&self.owed)) }
    }

    fn text(&mut self) -> String {
        "x".repeat(self.choices.below(LONGEST))
    }

    fn answer(&mut self) {
        let Some(request) = self.owed() else { return };
        let text = self.text();
        let result = format!(r#"{{"content":[{{"type":"text","text":"{text}"}}]}}"#);
        let taken = self.site.server().respond(request, result);
        self.tell(format_args!("{request:?} is answered: {taken:?}"));
        self.owed.retain(|owed| *owed != request);
    }

    fn notify(&mut self) {
        let Some(request) = self.owed() else { return };
        for at in 0..1 + self.choices.below(4) {
            let text = self.text();
            let progress = f64::from(self.choices.byte()) + at as f64;
            let notification = if self.choices.once_in(2) {
                Notification::Log { level: LogLevel::Error, logger: None, data: &format!("\"{text}\"") }
            } else {
                Notification::Progress { progress, total: None, message: Some(&text) }
            };
            let sent = self.site.server().notify(request, notification);
            self.tell(format_args!("{request:?} says something: {sent:?}"));
        }
    }

    fn ask(&mut self) {
        let Some(request) = self.owed() else { return };
        let params =
            r#"{"message":"m","requestedSchema":{"type":"object","properties":{"a":{"type":"string"}}}}"#;
        let question = InputQuestion {
            key: "k".into(),
            kind: InputKind::Elicitation,
            params: Json::new(params).expect("JSON"),
        };
        let now = self.site.now;
        let asked = self.site.server().require_input(now, request, Vec::from([question]), None);
        self.tell(format_args!("{request:?} asks: {asked:?}"));
    }

    fn close_stream(&mut self) {
        let exchange = self.any_exchange();
        let retry = self.choices.once_in(2).then_some(7);
        let closed = self.site.http.close_stream(self.site.now, exchange, retry);
        self.tell(format_args!("{exchange:?} is closed for now: {closed}"));
    }

    fn wait(&mut self) {
        let milliseconds = 1 << self.choices.below(18);
        self.tell(format_args!("{milliseconds} ms pass"));
        self.site.wait(milliseconds);
    }

    fn publish(&mut self) {
        match self.choices.below(4) {
            0 => self.site.server().publish(&Change::List(ListKind::Tools)),
            1 => self.site.server().publish(&Change::Resource("file:///a".into())),
            2 => {
                let text = self.text();
                let logged = self.site.server().log(LogLevel::Error, None, &format!("\"{text}\""));
                self.tell(format_args!("logged: {logged:?}"));
            }
            _ => {
                if let Some(session) = self.some_session() {
                    let now = self.site.now;
                    let asked = self.site.server().request(now, session, "ping", None);
                    self.tell(format_args!("{session:?} is asked: {asked:?}"));
                }
            }
        }
    }

    fn some_session(&mut self) -> Option<SessionHandle> {
        if self.sessions.is_empty() { None } else { Some(*self.choices.pick(&self.sessions)) }
    }

    /// What is seldom done, and what nobody should do.
    fn meddle(&mut self) {
        let (exchange, now) = (self.any_exchange(), self.site.now);
        match self.choices.below(6) {
            0 => {
                if let Some(session) = self.some_session() {
                    let ended = self.site.server().end_session(session);
                    self.tell(format_args!("{session:?} is ended: {ended:?}"));
                }
            }
            1 if !self.subscriptions.is_empty() => {
                let subscription = *self.choices.pick(&self.subscriptions);
                let ended = self.site.server().end_subscription(subscription);
                self.tell(format_args!("{subscription:?} is ended: {ended:?}"));
            }
            2 if self.open.get(&exchange).is_none_or(|open| open.rest.is_none()) => {
                self.site.http.receive_body(now, exchange, b"{}");
                self.site.http.receive_end(now, exchange);
            }
            3 => self.site.http.resolve_session(now, exchange, self.sessions.last().copied()),
            4 if !self.was_asked_by(exchange) => {
                self.site.http.replay(now, exchange, Some(&[("a", "b")]));
            }
            5 if self.choices.once_in(12) => {
                self.tell(format_args!("no more requests are taken"));
                self.site.http.shut_down(now);
            }
            _ => {}
        }
    }

    /// Lets connections take what is ready for them, now and then only a part of it.
    fn read_ready(&mut self) {
        while let Some(exchange) = self.site.http.poll_ready() {
            assert!(self.open.contains_key(&exchange), "{exchange:?} is over and has nothing to send");
            if self.choices.once_in(8) {
                // It is slow, and read again before it is named again.
                continue;
            }
            self.read(exchange);
        }
        if self.choices.once_in(4) {
            let exchange = self.any_exchange();
            self.read(exchange);
        }
    }

    fn read(&mut self, exchange: ExchangeHandle) {
        while let Some(part) = self.site.http.poll_response(exchange) {
            let open = self.open.get_mut(&exchange).expect("an exchange that has not ended");
            open.response.extend(part);
            let _ = writeln!(self.story, "{exchange:?} has {} bytes", open.response.body.len());
            if open.response.is_last
                && let Some(open) = self.open.remove(&exchange)
            {
                self.ended(&open);
            } else {
                self.learn(exchange);
            }
        }
    }

    /// Looks at a response that is whole.
    fn ended(&mut self, open: &Open) {
        let response = &open.response;
        let _ = writeln!(self.story, "ended with {} {}", response.status, response.body);
        if response.is_aborted {
            return;
        }
        self.learn_from(response, open.session.as_deref());
        if response.is_stream() {
            assert!(response.body.is_empty() || response.body.ends_with("\n\n"), "{response:?}");
        } else if let Some(length) = response.header("content-length") {
            assert_eq!(length, response.body.len().to_string());
        }
    }

    fn learn(&mut self, exchange: ExchangeHandle) {
        if let Some(open) = self.open.get(&exchange) {
            let (response, session) = (open.response.clone(), open.session.clone());
            self.learn_from(&response, session.as_deref());
        }
    }

    /// Takes out what a client would, and checks that it is sound.
    fn learn_from(&mut self, response: &Response, session: Option<&str>) {
        if let Some(id) = response.header("mcp-session-id")
            && !self.ids.iter().any(|known| known == id)
        {
            self.ids.push(id.to_owned());
        }
        if response.header("content-type").is_none() {
            return assert_eq!(response.body, "");
        }
        let mut event = None;
        let mut id = None;
        for line in response.body.lines().chain([""]) {
            match line.split_once(": ") {
                Some(("event", name)) => event = Some(name),
                Some(("id", text)) => id = Some(text),
                Some(("data", data)) if event == Some("endpoint") => {
                    let query = data.split_once('?').expect("a query").1.to_owned();
                    if !self.queries.contains(&query) {
                        self.queries.push(query);
                    }
                }
                Some(("data", data)) => self.hear(id, data, session),
                _ if line.is_empty() => (event, id) = (None, None),
                _ if response.is_stream() => {}
                _ => self.hear(None, line, session),
            }
        }
    }

    fn hear(&mut self, id: Option<&str>, data: &str, session: Option<&str>) {
        assert!(data.is_empty() || Json::new(data).is_ok(), "{data}");
        if let Some(id) = id {
            let heard = (data.to_owned(), session.map(str::to_owned));
            if let Some(known) = self.events.get(id) {
                return assert_eq!(*known, heard, "{id} names one event of one session");
            }
            self.events.insert(id.to_owned(), heard);
            self.event_ids.push(id.to_owned());
        }
    }

    fn check(&mut self) {
        self.site.listen();
        for event in std::mem::take(&mut self.site.events) {
            let _ = writeln!(self.story, "told: {event:?}");
            match event {
                Event::ToolCalled { request, .. } if !self.owed.contains(&request) => self.owed.push(request),
                Event::RequestCancelled { request, .. } => self.owed.retain(|owed| *owed != request),
                Event::SessionOpened { session, .. } => self.sessions.push(session),
                Event::SessionClosed { session, .. } => self.sessions.retain(|open| *open != session),
                Event::SubscriptionOpened { subscription, .. } => self.subscriptions.push(subscription),
                Event::SubscriptionClosed { subscription } => {
                    self.subscriptions.retain(|open| *open != subscription);
                }
                _ => {}
            }
        }
        self.hear_host();
        for exchange in self.open.keys() {
            let backlog = self.site.http.backlog(*exchange);
            assert!(backlog <= 2 * QUEUED + LONGEST + 1_000, "{backlog} bytes wait in {exchange:?}");
        }
        assert!(self.sessions.len() <= 3 + self.queries.len());
    }

    /// Keeps what the host is given to keep.
    fn hear_host(&mut self) {
        while let Some(event) = self.site.http.poll_http_event() {
            match event {
                HttpServerEvent::EventAppended { session, stream, id, data } => {
                    self.kept.entry((session, stream)).or_default().push((id, data));
                }
                HttpServerEvent::StreamsForgotten { session } => {
                    self.kept.retain(|(owner, _), _| *owner != session);
                }
                HttpServerEvent::SessionNamed { .. } => {}
                asked => self.asked.push(asked),
            }
        }
    }

    /// Whether the host was asked something by an exchange, and has not answered.
    fn was_asked_by(&self, exchange: ExchangeHandle) -> bool {
        self.asked.iter().any(|asked| match asked {
            HttpServerEvent::SessionRequested { exchange: asking, .. }
            | HttpServerEvent::ReplayRequested { exchange: asking, .. } => *asking == exchange,
            _ => false,
        })
    }

    /// The host answers something that it was asked.
    fn serve_host(&mut self) {
        if self.asked.is_empty() {
            return;
        }
        let nth = self.choices.below(self.asked.len());
        let asked = self.asked.swap_remove(nth);
        self.tell(format_args!("the host answers {asked:?}"));
        let now = self.site.now;
        match asked {
            HttpServerEvent::SessionRequested { exchange, .. } => {
                self.site.http.resolve_session(now, exchange, None);
            }
            HttpServerEvent::ReplayRequested { exchange, session, stream, after } => {
                let kept = self.kept.get(&(session, stream));
                let events = kept.map(|kept| {
                    let behind = kept.iter().position(|(id, _)| *id == after).map_or(0, |at| at + 1);
                    kept[behind..].iter().map(|(id, data)| (&**id, &**data)).collect::<Vec<_>>()
                });
                self.site.http.replay(now, exchange, events.as_deref());
            }
            other => panic!("{other:?}"),
        }
    }

    /// All applications answer, all clocks run down, the server closes: every exchange has come to its end.
    fn end(&mut self) {
        for exchange in std::mem::take(&mut self.open).into_iter().filter_map(|(exchange, open)| {
            let is_coming = open.rest.is_some();
            if !is_coming {
                self.open.insert(exchange, open);
            }
            is_coming.then_some(exchange)
        }) {
            self.site.http.receive_abort(self.site.now, exchange);
        }
        self.check();
        while let Some(request) = self.owed.pop() {
            // It may wait for an answer of its client instead.
            let _ = self.site.server().respond(request, RESULT);
            self.check();
        }
        self.read_all();
        while !self.asked.is_empty() {
            self.serve_host();
            self.check();
        }
        self.read_all();
        self.site.server().close();
        self.check();
        self.read_all();
        assert!(self.open.is_empty(), "exchanges without an end: {:?}", self.open);
        assert!(self.site.http.is_idle());
        for _ in 0..MOST_DEADLINES {
            let Some(deadline) = self.site.http.poll_timeout() else { return };
            self.site.wait(deadline.since(self.site.now));
        }
        panic!("deadlines without an end");
    }

    fn read_all(&mut self) {
        let known: BTreeSet<_> = self.all.iter().copied().collect();
        while let Some(exchange) = self.site.http.poll_ready() {
            assert!(known.contains(&exchange));
            self.read(exchange);
        }
        // Those that were named before and not read.
        for exchange in self.open.keys().copied().collect::<Vec<_>>() {
            self.read(exchange);
        }
        assert_eq!(
            self.site.http.machine_mut().poll_transmit().map(|transmit| format!("{transmit:?}")),
            None
        );
    }
}
