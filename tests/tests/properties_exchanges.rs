//! Whatever clients, applications and transports do over HTTP, in any order: each exchange that brought a message ends
//! once, in itself, and what is over stays silent.

use std::collections::{BTreeMap, BTreeSet};

use barewire::server::{Event, Notification, Server};
use barewire::{
    Change, Disposition, Exchange, ExchangeHandle, Facts, HeaderValue, Input, InputKind, InputQuestion,
    Instant, Json, ListKind, LogLevel, Machine, Mirror, NamedSession, RequestHandle, Revision, RpcError,
    SessionHandle, SubscriptionHandle, Transmit,
};
use barewire_tests::{Random, server_config};

const RESULT: &str = r#"{"content":[]}"#;

/// What is known of an exchange.
#[derive(Debug)]
struct Known {
    /// The session that it belongs to; none in the modern era.
    session: Option<SessionHandle>,
    has_ended: bool,
    /// Its client has gone.
    is_left: bool,
}

struct World {
    random: Random,
    server: Server,
    now: Instant,
    exchanges: BTreeMap<u64, Known>,
    sessions: Vec<SessionHandle>,
    /// Requests that are owed an answer, and whether they are modern.
    owed: BTreeMap<RequestHandle, bool>,
    watching: BTreeSet<SubscriptionHandle>,
    /// Ids of what the server asked.
    asked: Vec<String>,
}

fn legacy(id: usize, method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{{params}}}}}"#)
}

fn modern(id: usize, method: &str, params: &str) -> String {
    let version = Revision::V2026_07_28;
    let meta = format!(
        r#""_meta":{{"io.modelcontextprotocol/protocolVersion":"{version}","io.modelcontextprotocol/clientCapabilities":{{"elicitation":{{}}}}}}"#
    );
    let separator = if params.is_empty() { "" } else { "," };
    legacy(id, method, &format!("{meta}{separator}{params}"))
}

impl World {
    fn new(random: Random) -> World {
        let mut config = server_config();
        config.limits.requests_in_flight = 6;
        config.limits.sessions = 4;
        config.limits.subscriptions = 3;
        config.limits.batch_items = 4;
        let mut server = Server::new(config).expect("a server");
        server.add_tool(r#"{"name":"echo","inputSchema":{"type":"object"}}"#).unwrap();
        server.add_resource(r#"{"uri":"file:///a","name":"a"}"#).unwrap();
        World {
            random,
            server,
            now: Instant::ZERO,
            exchanges: BTreeMap::new(),
            sessions: Vec::new(),
            owed: BTreeMap::new(),
            watching: BTreeSet::new(),
            asked: Vec::new(),
        }
    }

    fn step(&mut self) {
        match self.random.below(20) {
            0..=10 => self.post(),
            11..=16 => self.command(),
            17 => self.leave(),
            18 => self.end_session(),
            _ => {
                let step = *self.random.pick(&[1, 1_000, 100_000, 700_000]);
                self.now = self.now.after(step);
                self.server.handle_timeout(self.now);
            }
        }
        self.take();
    }

    /// A legacy message.
    fn message(&mut self) -> String {
        let id = self.random.below(4);
        match self.random.below(16) {
            0..=3 => legacy(id, "tools/call", r#""name":"echo","_meta":{"progressToken":1}"#),
            4 => legacy(id, "ping", ""),
            5 => legacy(id, "resources/subscribe", r#""uri":"file:///a""#),
            6 => legacy(id, "resources/unsubscribe", r#""uri":"file:///a""#),
            7 => legacy(id, "tools/call", r#""name":"none""#),
            8 => legacy(id, "no/method", ""),
            9 => r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#.into(),
            10 | 11 => format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#
            ),
            12 | 13 => {
                let id = self.asked.pop().unwrap_or_else(|| "77".into());
                format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"action":"decline"}}}}"#)
            }
            14 => format!(r#"{{"jsonrpc":"2.0","id":{id}}}"#),
            _ => {
                let whole = legacy(id, "ping", "");
                whole[..self.random.below(whole.len())].into()
            }
        }
    }

    fn post(&mut self) {
        let id = self.random.below(4);
        let version = Revision::V2026_07_28.as_str();
        let once = HeaderValue::Once;
        let mut mirror = Mirror::default();
        let mut session = match (self.random.below(12), &self.sessions[..]) {
            (0, _) => NamedSession::Unknown,
            (1, _) | (_, []) => NamedSession::None,
            (_, sessions) => NamedSession::Known(*self.random.pick(sessions)),
        };
        let (text, is_modern) = match self.random.below(12) {
            0..=5 => (self.message(), false),
            6 => {
                let count = self.random.below(6);
                let items: Vec<_> = (0..count).map(|_| self.message()).collect();
                (format!("[{}]", items.join(",")), false)
            }
            7 => {
                session = NamedSession::None;
                let revision = self.random.pick(&Revision::ALL);
                let params = format!(
                    r#""protocolVersion":"{revision}","capabilities":{{"elicitation":{{}},"roots":{{}}}}"#
                );
                (legacy(id, "initialize", &params), false)
            }
            kind => {
                let (method, name, params) = match kind {
                    8 => ("subscriptions/listen", None, r#""notifications":{"toolsListChanged":true}"#),
                    9 => ("tools/list", None, ""),
                    _ => ("tools/call", Some("echo"), r#""name":"echo""#),
                };
                mirror.protocol_version = once(version);
                mirror.method = once(method);
                mirror.name = name.map_or(HeaderValue::Absent, once);
                (modern(id, method, params), true)
            }
        };
        match self.random.below(24) {
            0 => mirror.protocol_version = HeaderValue::Repeated,
            1 => mirror.protocol_version = HeaderValue::Absent,
            2 => mirror.protocol_version = once("1999-12-31"),
            3 => mirror.protocol_version = once(version),
            4 => mirror.method = HeaderValue::Absent,
            _ => {}
        }
        let number = self.exchanges.len() as u64 + 1;
        let handle = ExchangeHandle::from_number(number);
        let takes_stream = self.random.below(8) > 0;
        let exchange = Exchange { handle, session, takes_stream, mirror: Some(mirror) };
        let session = match session {
            NamedSession::Known(session) if !is_modern => Some(session),
            _ => None,
        };
        self.exchanges.insert(number, Known { session, has_ended: false, is_left: false });
        let facts = Facts { exchange: Some(exchange), ..Facts::default() };
        self.server.handle_input(self.now, Input::Message { text: &text, facts }).unwrap();
    }

    /// One of the requests that are owed an answer.
    fn owed(&mut self) -> Option<RequestHandle> {
        let owed: Vec<_> = self.owed.keys().copied().collect();
        (!owed.is_empty()).then(|| *self.random.pick(&owed))
    }

    fn command(&mut self) {
        let kind = self.random.below(10);
        if let (0..=5, Some(request)) = (kind, self.owed()) {
            let progress = Notification::Progress { progress: 1.0, total: None, message: None };
            let log = Notification::Log { level: LogLevel::Error, logger: None, data: "1" };
            let question = InputQuestion {
                key: "k".into(),
                kind: InputKind::Elicitation,
                params: Json::new(r#"{"message":"m","requestedSchema":{"type":"object","properties":{}}}"#)
                    .unwrap(),
            };
            match kind {
                0 => drop(self.server.notify(request, progress)),
                1 => drop(self.server.notify(request, log)),
                2 | 3 => {
                    // From 2026-07-28 the question is the answer.
                    let asks = self.server.require_input(self.now, request, vec![question], None).is_ok();
                    if asks && self.owed[&request] {
                        self.owed.remove(&request);
                    }
                }
                4 => {
                    self.owed.remove(&request);
                    self.server.respond(request, RESULT).unwrap();
                }
                _ => {
                    self.owed.remove(&request);
                    self.server.respond_error(request, RpcError::new(-32603, "m")).unwrap();
                }
            }
            return;
        }
        match kind {
            6 => {
                if let Some(subscription) = self.watching.pop_first() {
                    self.server.end_subscription(subscription).unwrap();
                }
            }
            7 => self.server.publish(&Change::List(ListKind::Tools)),
            8 => self.server.publish(&Change::Resource("file:///a".into())),
            _ => {
                self.server.log(LogLevel::Error, None, "1").unwrap();
                if let Some(session) = self.sessions.first() {
                    drop(self.server.ping(self.now, *session));
                }
            }
        }
    }

    fn leave(&mut self) {
        let number = self.random.below(self.exchanges.len() + 1) as u64;
        if let Some(known) = self.exchanges.get_mut(&number).filter(|known| !known.has_ended) {
            known.is_left = true;
            let exchange = ExchangeHandle::from_number(number);
            self.server.handle_input(self.now, Input::Gone { exchange }).unwrap();
        }
    }

    fn end_session(&mut self) {
        if self.sessions.is_empty() {
            return;
        }
        let session = self.sessions.remove(self.random.below(self.sessions.len()));
        if self.random.below(2) == 0 {
            self.server.handle_input(self.now, Input::SessionEnded { session }).unwrap();
        } else {
            self.server.end_session(session).unwrap();
        }
        // The transport ends what belonged to it.
        for known in self.exchanges.values_mut().filter(|known| known.session == Some(session)) {
            known.has_ended = true;
        }
    }

    /// Takes what is sent and told.
    fn take(&mut self) {
        while let Some(transmit) = self.server.poll_transmit() {
            match transmit {
                Transmit::Message { text, labels, .. } => {
                    if labels.revision.is_some() {
                        self.sessions.extend(labels.session);
                    } else if let Some(session) = labels.session {
                        assert!(self.sessions.contains(&session), "to a session that is over: {text}");
                    }
                    let message = Json::new(&text).unwrap();
                    if message.member("method").is_some() {
                        self.asked.extend(message.member("id").map(|id| id.as_str().to_owned()));
                    }
                    let Some(exchange) = labels.exchange else {
                        assert!(labels.session.is_some(), "to nobody: {text}");
                        continue;
                    };
                    let known =
                        self.exchanges.get_mut(&exchange.number()).expect("an exchange that there is");
                    assert!(!known.has_ended, "after the end of {exchange:?}: {text}");
                    assert!(known.session.is_some() || !known.is_left, "to a client that left: {text}");
                    known.has_ended =
                        !matches!(labels.disposition, Disposition::Continues | Disposition::Droppable);
                }
                Transmit::Accept { exchange } => {
                    let known =
                        self.exchanges.get_mut(&exchange.number()).expect("an exchange that there is");
                    assert!(!known.has_ended, "{exchange:?} ends twice");
                    known.has_ended = true;
                }
                Transmit::EndSession { session } => assert!(!self.sessions.contains(&session)),
                other => panic!("{other:?}"),
            }
        }
        while let Some(event) = self.server.poll_event() {
            match event {
                Event::ToolCalled { request, context, .. } => {
                    self.owed.insert(request, context.session.is_none());
                }
                Event::RequestCancelled { request, .. } => {
                    assert!(self.owed.remove(&request).is_some(), "{request:?} was not owed");
                }
                Event::SubscriptionOpened { subscription, .. } => {
                    self.watching.insert(subscription);
                }
                Event::SubscriptionClosed { subscription } => {
                    self.watching.remove(&subscription);
                }
                _ => {}
            }
        }
    }

    /// The application does what is left to do; then every exchange has ended.
    fn come_to_rest(&mut self) {
        while let Some((request, _)) = self.owed.pop_first() {
            self.server.respond(request, RESULT).unwrap();
            self.take();
        }
        while let Some(subscription) = self.watching.pop_first() {
            self.server.end_subscription(subscription).unwrap();
            self.take();
        }
        let open = self.exchanges.iter().find(|(_, known)| !known.has_ended && !known.is_left);
        assert!(open.is_none(), "{open:?} never ends");
    }
}

#[test]
fn each_exchange_ends_once() {
    for random in Random::seeds(800) {
        let mut world = World::new(random);
        for _ in 0..80 {
            world.step();
        }
        world.come_to_rest();
    }
}
