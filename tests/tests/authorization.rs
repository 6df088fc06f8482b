//! A client behind HTTP and its authorization together, as a host joins them, against servers that are played.

use std::collections::BTreeMap;

use barewire::auth::{
    ActionHandle, ActionKind, Authorization, AuthorizationConfig, AuthorizationError, AuthorizationEvent,
    CodeGrant, Grant, OAuthRequest, Refusal, SaveOutcome, StoredRecord, UserAgentVisit,
};
use barewire::client::{Event, FailureReason, RequestOptions};
use barewire::transport::http::client::{HttpClientConfig, HttpClientEvent, HttpRequest};
use barewire::{ExchangeHandle, Failure, Revision, Revisions, Seed, UnixTime};
use barewire_tests::client_config;
use barewire_tests::http_host::{HttpHost, JSON};
use serde_json::{Value, json};

const SERVER: &str = "https://mcp.example/mcp";
const ISSUER: &str = "https://as.example";

/// Wall-clock time at the origin of the host's clock.
const EPOCH: u64 = 1_700_000_000_000;

/// A record as an earlier run left it.
const STORED: &str = r#"{
    "registrations": [{"issuer": "https://as.example", "client_id": "c1", "redirect_uri": "http://127.0.0.1:7/cb"}],
    "token": {
        "issuer": "https://as.example", "token_endpoint": "https://as.example/token", "client_id": "c1",
        "resource": "https://mcp.example/mcp", "access_token": "AT1", "refresh_token": "RT1", "requested": "basic"
    }
}"#;

/// The two machines with what a host keeps between them.
struct Host {
    wire: HttpHost,
    auth: Authorization,
    store: Option<StoredRecord>,
    /// What was stored, in order: the generation that it replaced.
    saves: Vec<u64>,
    /// The credentials of each exchange: the generation and the value of the header.
    credentials: BTreeMap<ExchangeHandle, (u64, Option<String>)>,
    /// Requests to the MCP server that wait for credentials.
    waiting: BTreeMap<u64, HttpRequest>,
    /// Requests to the MCP server that were sent.
    sent: Vec<HttpRequest>,
    oauth: Vec<(ActionHandle, OAuthRequest)>,
    visits: Vec<UserAgentVisit>,
}

impl Host {
    fn new(revision: Revision, store: Option<StoredRecord>) -> Host {
        let grant = Grant::AuthorizationCode(CodeGrant::new("http://127.0.0.1:7/cb", "Test"));
        let auth = Authorization::new(AuthorizationConfig::new(SERVER, grant, Seed::new([3; 32]))).unwrap();
        let mut config = client_config();
        config.revisions = Revisions::of(&[revision]);
        let mut http = HttpClientConfig::new(SERVER);
        http.authorizes = true;
        let mut host = Host {
            wire: HttpHost::new(config, http),
            auth,
            store,
            saves: Vec::new(),
            credentials: BTreeMap::new(),
            waiting: BTreeMap::new(),
            sent: Vec::new(),
            oauth: Vec::new(),
            visits: Vec::new(),
        };
        host.drive();
        host
    }

    fn now(&self) -> UnixTime {
        UnixTime::from_millis(EPOCH + self.wire.now().as_millis())
    }

    /// Does all that can be done without an answer from outside.
    fn drive(&mut self) {
        loop {
            self.wire.drive();
            let now = self.now();
            for request in std::mem::take(&mut self.wire.requests) {
                let waiter = request.exchange.number();
                self.waiting.insert(waiter, request);
                self.auth.acquire(now, waiter);
            }
            while let Some(event) = self.wire.http.poll_http_event() {
                let HttpClientEvent::AuthorizationRequired {
                    exchange,
                    status,
                    challenges,
                    dpop_nonce,
                    operation,
                } = event
                else {
                    panic!("{event:?}")
                };
                let challenges: Vec<&str> = challenges.iter().map(|challenge| &**challenge).collect();
                let refusal = Refusal {
                    status,
                    challenges: &challenges,
                    dpop_nonce: dpop_nonce.as_deref(),
                    generation: self.credentials[&exchange].0,
                    operation: &operation,
                };
                self.auth.challenge(now, exchange.number(), refusal);
            }
            while let Some(action) = self.auth.poll_action() {
                match action.kind {
                    ActionKind::Load => self.auth.loaded(now, action.handle, self.store.clone()),
                    ActionKind::Save { expected, record } => {
                        assert_eq!(self.store.as_ref().map_or(0, |stored| stored.generation), expected);
                        self.saves.push(expected);
                        self.store = Some(record);
                        self.auth.saved(now, action.handle, SaveOutcome::Saved);
                    }
                    ActionKind::Send(request) => self.oauth.push((action.handle, request)),
                    ActionKind::OpenUserAgent(visit) => self.visits.push(visit),
                    other => panic!("{other:?}"),
                }
            }
            let mut is_quiet = true;
            while let Some(event) = self.auth.poll_event() {
                is_quiet = false;
                self.on_event(event);
            }
            if is_quiet && self.wire.requests.is_empty() {
                return;
            }
        }
    }

    fn on_event(&mut self, event: AuthorizationEvent) {
        let (waiter, is_settled) = match event {
            AuthorizationEvent::Settled { waiter } => (waiter, true),
            AuthorizationEvent::Refused { waiter, .. } => (waiter, false),
            other => panic!("{other:?}"),
        };
        let exchange = ExchangeHandle::from_number(waiter);
        if let Some(request) = self.waiting.remove(&waiter) {
            assert!(is_settled);
            let credentials = self.auth.credentials(self.now(), request.method, &request.url);
            let header = credentials.authorization.map(|value| value.expose().to_owned());
            self.credentials.insert(exchange, (credentials.generation, header));
            self.sent.push(request);
        } else if is_settled {
            self.wire.http.authorized(self.wire.now(), exchange);
        } else {
            // Fatal ends are told as events as well.
            let _ = self.wire.http.unauthorized(self.wire.now(), exchange);
        }
    }

    /// The request to the MCP server that carries this method and was not answered, with its credentials and its id.
    #[track_caller]
    fn take(&mut self, method: &str) -> (HttpRequest, Option<String>, Value) {
        let message =
            |request: &HttpRequest| serde_json::from_str::<Value>(&request.body).unwrap_or_default();
        let at = self.sent.iter().position(|request| message(request)["method"] == method);
        let at = at.unwrap_or_else(|| panic!("{method} is not among {:?}", self.sent));
        let request = self.sent.remove(at);
        let (header, id) = (self.credentials[&request.exchange].1.clone(), message(&request)["id"].clone());
        (request, header, id)
    }

    fn refuse(&mut self, request: &HttpRequest, status: u16, challenge: &str) {
        self.wire.answer(request.exchange, status, &[("WWW-Authenticate", challenge)], "");
        self.drive();
    }

    fn reply(&mut self, request: &HttpRequest, id: &Value, result: &Value) {
        let message = json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string();
        self.wire.answer(request.exchange, 200, &[JSON], &message);
        self.drive();
    }

    /// Answers the one OAuth request.
    #[track_caller]
    fn serve(&mut self, url: &str, body: &Value) -> OAuthRequest {
        assert_eq!(self.oauth.len(), 1, "{:?}", self.oauth);
        let (handle, request) = self.oauth.remove(0);
        assert_eq!(&*request.url, url);
        self.auth.receive_response(self.now(), handle, 200, &[], body.to_string().as_bytes());
        self.drive();
        request
    }

    fn advance(&mut self, milliseconds: u64) {
        self.wire.advance(milliseconds);
        let now = self.now();
        self.auth.handle_timeout(now);
        self.drive();
    }

    /// Finds the authorization server, registers, and sends the user there: the parameters of the URL.
    fn send_user(&mut self) -> BTreeMap<String, String> {
        let document = json!({"resource": SERVER, "authorization_servers": [ISSUER]});
        self.serve("https://mcp.example/.well-known/oauth-protected-resource/mcp", &document);
        let document = json!({
            "issuer": ISSUER, "authorization_endpoint": "https://as.example/authorize",
            "token_endpoint": "https://as.example/token", "registration_endpoint": "https://as.example/register",
            "code_challenge_methods_supported": ["S256"],
        });
        self.serve("https://as.example/.well-known/oauth-authorization-server", &document);
        if !self.oauth.is_empty() {
            self.serve("https://as.example/register", &json!({"client_id": "c1"}));
        }
        let visit = self.visits.pop().expect("a visit");
        let query = visit.url.split_once('?').expect("a query").1;
        let pairs = query.split('&').map(|pair| pair.split_once('=').expect("a pair"));
        pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
    }

    fn consent(&mut self, parameters: &BTreeMap<String, String>, number: u32) {
        let query = format!("code=C&state={}", parameters["state"]);
        assert_eq!(self.auth.receive_callback(self.now(), &query), Ok(()));
        self.drive();
        self.serve("https://as.example/token", &token(number));
    }

    /// A client that has opened its connection with what is stored.
    fn open(revision: Revision) -> Host {
        let mut host = Host::new(revision, Some(StoredRecord { generation: 7, text: STORED.into() }));
        host.answer_opening(revision);
        host
    }

    fn answer_opening(&mut self, revision: Revision) {
        let capabilities = json!({"tools": {}});
        if revision == Revision::V2026_07_28 {
            let (request, _, id) = self.take("server/discover");
            let result = json!({
                "resultType": "complete", "supportedVersions": [revision.as_str()], "capabilities": capabilities,
            });
            self.reply(&request, &id, &result);
        } else {
            let (request, _, id) = self.take("initialize");
            let result = json!({
                "protocolVersion": revision.as_str(), "capabilities": capabilities,
                "serverInfo": {"name": "s", "version": "1"},
            });
            self.reply(&request, &id, &result);
            let (request, _, _) = self.take("notifications/initialized");
            self.wire.answer(request.exchange, 202, &[], "");
            self.drive();
            // The stream of the session carries the token as well.
            let stream = self.sent.remove(0);
            assert_eq!((stream.method, self.credentials[&stream.exchange].1.is_some()), ("GET", true));
            self.wire.answer(stream.exchange, 405, &[], "");
            self.drive();
        }
        let events = self.wire.take_events();
        assert!(matches!(events[..], [Event::Ready { .. }]), "{events:?}");
    }

    fn call(&mut self, method: &str, params: Option<&str>) {
        let now = self.wire.now();
        self.wire.client().request(now, method, params, RequestOptions::default()).unwrap();
        self.drive();
    }
}

fn token(number: u32) -> Value {
    json!({
        "access_token": format!("AT{number}"), "refresh_token": format!("RT{number}"), "token_type": "Bearer",
        "expires_in": 3600,
    })
}

const INVALID: &str = "Bearer error=\"invalid_token\"";

// proves: FEAT-495
#[test]
fn rotated_refresh_tokens_are_used_once() {
    for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
        let mut host = Host::open(revision);
        host.call("tools/list", None);
        host.call("x/one", None);
        host.call("x/two", None);
        let calls = ["tools/list", "x/one", "x/two"].map(|method| host.take(method));
        for (_, header, _) in &calls {
            assert_eq!(header.as_deref(), Some("Bearer AT1"));
        }
        host.refuse(&calls[0].0, 401, INVALID);
        host.refuse(&calls[1].0, 401, INVALID);
        assert!(host.saves.is_empty() && host.sent.is_empty());
        let request = host.serve("https://as.example/token", &token(2));
        let body = request.body.expose();
        assert!(
            body.contains("refresh_token=RT1") && body.contains("resource=https%3A%2F%2Fmcp.example%2Fmcp"),
            "{body}"
        );
        assert_eq!(host.saves, [7]);
        // A refusal of the old token that comes late starts nothing.
        host.refuse(&calls[2].0, 401, INVALID);
        assert!(host.oauth.is_empty());
        for method in ["tools/list", "x/one", "x/two"] {
            let (request, header, id) = host.take(method);
            assert_eq!(header.as_deref(), Some("Bearer AT2"));
            host.reply(&request, &id, &json!({"resultType": "complete", "tools": []}));
        }
        assert!(host.sent.is_empty());
        let events = host.wire.take_events();
        assert!(events.iter().all(|event| matches!(event, Event::ResponseReceived { .. })), "{events:?}");
        assert_eq!(events.len(), 3);
    }
}

#[test]
fn a_connection_opens_although_the_user_takes_long_to_log_in() {
    for (revision, opening) in
        [(Revision::V2026_07_28, "server/discover"), (Revision::V2025_11_25, "initialize")]
    {
        let mut host = Host::new(revision, None);
        let (request, header, _) = host.take(opening);
        assert_eq!(header, None);
        host.refuse(&request, 401, "Bearer scope=\"basic\"");
        let parameters = host.send_user();
        assert_eq!(parameters["scope"], "basic");
        host.advance(9 * 60_000);
        assert!(host.wire.events.is_empty(), "{:?}", host.wire.events);
        host.consent(&parameters, 1);
        assert_eq!(host.credentials.values().last().unwrap().1.as_deref(), Some("Bearer AT1"));
        host.answer_opening(revision);
    }
}

#[test]
fn a_user_who_never_comes_back_fails_what_waits() {
    let mut host = Host::new(Revision::V2026_07_28, None);
    let (request, _, _) = host.take("server/discover");
    host.refuse(&request, 401, "Bearer");
    host.send_user();
    host.advance(10 * 60_000);
    let events = host.wire.take_events();
    assert!(matches!(events[..], [Event::Disconnected { .. }]), "{events:?}");
    assert_eq!(host.auth.receive_callback(host.now(), "code=C"), Err(AuthorizationError::UnexpectedCallback));
}

// proves: FEAT-489
#[test]
fn a_call_that_is_refused_for_its_scopes_is_tried_with_more_of_them() {
    let mut host = Host::open(Revision::V2026_07_28);
    host.call("tools/call", Some(r#"{"name":"delete","arguments":{}}"#));
    let (request, _, _) = host.take("tools/call");
    let challenge = "Bearer error=\"insufficient_scope\", scope=\"write\"";
    host.refuse(&request, 403, challenge);
    let parameters = host.send_user();
    assert_eq!(parameters["scope"], "basic+write");
    // Other calls go on meanwhile.
    host.call("x/other", None);
    let (other, header, id) = host.take("x/other");
    assert_eq!(header.as_deref(), Some("Bearer AT1"));
    host.reply(&other, &id, &json!({"resultType": "complete"}));
    host.consent(&parameters, 2);
    let (request, header, _) = host.take("tools/call");
    assert_eq!(header.as_deref(), Some("Bearer AT2"));
    // It was not enough, and nothing more can be asked for.
    host.wire.take_events();
    host.refuse(&request, 403, challenge);
    let events = host.wire.take_events();
    assert!(
        matches!(
            events[..],
            [Event::RequestFailed {
                reason: FailureReason::ExchangeFailed(Failure::Unauthorized { status: 403 }),
                ..
            }]
        ),
        "{events:?}"
    );
}
