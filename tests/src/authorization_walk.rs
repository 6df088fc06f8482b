//! An authorization, and everything that MCP servers, authorization servers, users, stores and clocks can do to it, in any
//! order. What must hold at any time is checked after each step.

use std::collections::BTreeSet;
use std::fmt::Write;

use barewire::UnixTime;
use barewire::auth::{
    Action, ActionFailure, ActionHandle, ActionKind, AssertionAudience, Authorization, AuthorizationConfig,
    AuthorizationEvent, ClientAuthentication, ClientRegistration, CodeGrant, DpopKey, EnterpriseGrant, Grant,
    HttpPurpose, OAuthRequest, Refusal, SaveOutcome, StoredRecord, UserAgentVisit, dpop_proof,
};
use barewire::{Json, Seed};

use crate::mutation::mutate;
use crate::{Choices, Random};

const SERVER: &str = "https://mcp.example/a/mcp";

/// What every secret begins with, so that it is known wherever it turns up.
const SECRET: &str = "SECRET-";

/// Challenges of the MCP server.
const CHALLENGES: [&str; 9] = [
    "Bearer",
    "Bearer error=\"invalid_token\", scope=\"a b\"",
    "Bearer error=\"insufficient_scope\", scope=\"c\", resource_metadata=\"https://mcp.example/m\"",
    "Negotiate abc==, Bearer scope=\"a, \\\"b\\\"\", DPoP algs=\"ES256\", error=\"use_dpop_nonce\"",
    "Bearer resource_metadata=\"http://169.254.169.254/\"",
    "DPoP error=\"use_dpop_nonce\"",
    "Basic realm=\"x\"",
    "Bearer error=insufficient_scope,scope=x,,,=,\"",
    "",
];

/// Bodies of metadata, registration and token endpoints, most of them where they do not belong.
const BODIES: [&str; 16] = [
    r#"{"resource":"https://mcp.example/a/mcp","authorization_servers":["https://as.example/t","https://as.example"],"scopes_supported":["a","b"]}"#,
    r#"{"resource":"https://mcp.example","authorization_servers":["https://as.example"]}"#,
    r#"{"resource":"https://evil.example","authorization_servers":["https://evil.example"]}"#,
    r#"{"issuer":"https://as.example","authorization_endpoint":"https://as.example/authorize?x=1","token_endpoint":"https://as.example/token","registration_endpoint":"https://as.example/register","code_challenge_methods_supported":["S256"],"authorization_response_iss_parameter_supported":true,"scopes_supported":["offline_access"],"dpop_signing_alg_values_supported":["ES256"]}"#,
    r#"{"issuer":"https://as.example/t","authorization_endpoint":"https://as.example/authorize","token_endpoint":"https://as.example/token","registration_endpoint":"https://as.example/register","code_challenge_methods_supported":["S256"],"client_id_metadata_document_supported":true}"#,
    r#"{"issuer":"https://as.example","authorization_endpoint":"http://as.example/authorize","token_endpoint":"javascript:x"}"#,
    r#"{"client_id":"c1"}"#,
    r#"{"client_id":"c2","client_secret":"SECRET-cs","token_endpoint_auth_method":"client_secret_post","client_secret_expires_at":1700000100}"#,
    r#"{"access_token":"SECRET-at1","token_type":"Bearer","expires_in":3600,"refresh_token":"SECRET-rt1","scope":"a"}"#,
    r#"{"access_token":"SECRET-at2","token_type":"DPoP","expires_in":"60"}"#,
    r#"{"access_token":"SECRET-jag","issued_token_type":"urn:ietf:params:oauth:token-type:id-jag","token_type":"N_A"}"#,
    r#"{"error":"invalid_grant","error_description":"it is spent"}"#,
    r#"{"error":"use_dpop_nonce"}"#,
    r#"{"error":"invalid_client"}"#,
    r#"{"error":"invalid_redirect_uri"}"#,
    "",
];

const STATUSES: [u16; 10] = [200, 200, 200, 200, 201, 302, 400, 404, 429, 500];

struct Walk<'a> {
    choices: Choices<'a>,
    auth: Authorization,
    now: UnixTime,
    /// What the store holds, which other processes change as well.
    store: Option<StoredRecord>,
    open: Option<Action>,
    visit: Option<UserAgentVisit>,
    waiters: BTreeSet<u64>,
    last_waiter: u64,
    story: String,
}

/// Walks as the bytes say, and tells what happened.
pub fn run(decisions: &[u8]) -> String {
    let mut choices = Choices::new(decisions);
    let config = config(&mut choices);
    let auth = Authorization::new(config).expect("a configuration that can work");
    let mut walk = Walk {
        choices,
        auth,
        now: UnixTime::from_millis(1_700_000_000_000),
        store: None,
        open: None,
        visit: None,
        waiters: BTreeSet::new(),
        last_waiter: 0,
        story: String::new(),
    };
    while !walk.choices.is_empty() {
        walk.step();
        walk.check();
    }
    walk.finish();
    walk.story
}

fn config(choices: &mut Choices<'_>) -> AuthorizationConfig {
    let secret = || ClientAuthentication::Secret { secret: "SECRET-pw".into(), method: None };
    let (algorithm, audience) = ("ES256".into(), AssertionAudience::Issuer);
    let key = ClientAuthentication::PrivateKeyJwt { algorithm, key_id: None, audience };
    let code = || CodeGrant::new("http://127.0.0.1:7/cb", "Walk");
    let mut clients = Vec::new();
    let mut client = |authentication| clients.push(ClientRegistration::new(None, "robot", authentication));
    let grant = match choices.below(6) {
        0 => {
            client(secret());
            Grant::ClientCredentials
        }
        1 => {
            client(key);
            Grant::ClientCredentials
        }
        2 => {
            client(secret());
            let at_provider = ClientRegistration::new(Some("https://idp.example"), "at-idp", secret());
            Grant::Enterprise(EnterpriseGrant::new("https://idp.example/token", at_provider))
        }
        3 => {
            client(ClientAuthentication::None);
            Grant::WorkloadIdentity
        }
        4 => {
            let mut grant = code();
            let id = "https://app.example/client.json";
            grant.metadata_client = Some(ClientRegistration::new(None, id, ClientAuthentication::None));
            grant.asks_for_client = true;
            Grant::AuthorizationCode(grant)
        }
        _ => Grant::AuthorizationCode(code()),
    };
    let mut config = AuthorizationConfig::new(SERVER, grant, Seed::new([9; 32]));
    config.clients = clients;
    config.legacy_endpoints = choices.once_in(4);
    if choices.once_in(2) {
        let public = Json::new(r#"{"kty":"EC","crv":"P-256","x":"X","y":"Y"}"#).expect("JSON");
        let mut key = DpopKey::new("ES256", public);
        key.is_required = choices.once_in(4);
        config.dpop = Some(key);
    }
    config
}

impl Walk<'_> {
    fn step(&mut self) {
        match self.choices.below(16) {
            0 => {
                let waiter = self.waiter();
                self.auth.acquire(self.now, waiter);
            }
            1 | 2 => self.refuse(),
            3 => {
                let milliseconds = *self.choices.pick(&[1, 1_000, 40_000, 600_000, 4_000_000]);
                self.now = self.now.after(milliseconds);
                self.auth.handle_timeout(self.now);
            }
            4 => self.come_back(),
            5 if self.choices.once_in(8) => self.auth.cancel(self.now),
            6 => self.auth.reset(),
            7 => self.auth.note_success(self.choices.below(4) as u64),
            8 => self.answer_late(),
            9 => self.forget_or_change_store(),
            _ => self.carry_out(),
        }
        while let Some(action) = self.auth.poll_action() {
            let _ = writeln!(self.story, "{action:?}");
            self.check_action(&action);
            self.open = Some(action);
        }
    }

    fn waiter(&mut self) -> u64 {
        self.last_waiter += 1;
        self.waiters.insert(self.last_waiter);
        self.last_waiter
    }

    fn text(&mut self, text: &str) -> Vec<u8> {
        if self.choices.once_in(6) {
            return mutate(&mut self.choices, text.as_bytes());
        }
        text.as_bytes().to_vec()
    }

    fn refuse(&mut self) {
        let waiter = self.waiter();
        let first = *self.choices.pick(&CHALLENGES);
        let first = String::from_utf8_lossy(&self.text(first)).into_owned();
        let challenges = [first.as_str(), *self.choices.pick(&CHALLENGES)];
        let current = self.auth.credentials(self.now, "POST", SERVER).generation;
        let generation = if self.choices.once_in(4) { self.choices.below(4) as u64 } else { current };
        let refusal = Refusal {
            status: *self.choices.pick(&[401, 401, 403]),
            challenges: &challenges,
            dpop_nonce: self.choices.once_in(2).then_some("nonce"),
            generation,
            operation: if self.choices.once_in(2) { "a" } else { "b" },
        };
        self.auth.challenge(self.now, waiter, refusal);
    }

    /// The user comes back, as they should or otherwise.
    fn come_back(&mut self) {
        let Some(visit) = &self.visit else {
            assert!(self.auth.receive_callback(self.now, "code=x&state=y").is_err());
            return;
        };
        let query = visit.url.split_once('?').map_or("", |(_, query)| query);
        let state = query.split('&').find_map(|pair| pair.strip_prefix("state=")).unwrap_or_default();
        let right = if visit.url.contains("?x=1") { "https://as.example" } else { "https://as.example/t" };
        let issuer = *self.choices.pick(&[right, right, right, "https://mcp.example"]);
        let query = format!("code=SECRET-code&state={state}&iss={issuer}");
        let query = String::from_utf8_lossy(&self.text(&query)).into_owned();
        let told = self.auth.receive_callback(self.now, &query);
        let _ = writeln!(self.story, "{told:?}");
        self.assert_hidden(&format!("{told:?} {told:?}"));
    }

    /// Answers what is asked for, with something of the right kind.
    fn carry_out(&mut self) {
        let Some(Action { handle, kind, .. }) = self.open.take() else { return };
        if self.choices.once_in(12) {
            let failures = [
                ActionFailure::Unavailable,
                ActionFailure::TooLarge,
                ActionFailure::Forbidden,
                ActionFailure::Declined,
            ];
            let failure = *self.choices.pick(&failures);
            return self.auth.fail_action(self.now, handle, failure);
        }
        match kind {
            ActionKind::Load => self.auth.loaded(self.now, handle, self.store.clone()),
            ActionKind::Save { expected, record } => self.save(handle, expected, record),
            ActionKind::Send(request) => self.respond(handle, Some(&request)),
            ActionKind::OpenUserAgent(visit) => self.visit = Some(visit),
            ActionKind::Sign(_) => self.auth.signed(self.now, handle, b"signature"),
            ActionKind::ProvideClient { .. } => {
                let client = ClientRegistration::new(None, "named", ClientAuthentication::None);
                self.auth.client_provided(self.now, handle, client);
            }
            ActionKind::ProvideAssertion { .. } => {
                self.auth.assertion_provided(self.now, handle, "SECRET-assertion".into());
            }
            other => panic!("{other:?}"),
        }
    }

    fn save(&mut self, handle: ActionHandle, expected: u64, record: StoredRecord) {
        assert_eq!(record.generation, expected + 1);
        let outcome = if self.store.as_ref().map_or(0, |stored| stored.generation) == expected {
            self.store = Some(record);
            SaveOutcome::Saved
        } else {
            SaveOutcome::Conflict(self.store.clone())
        };
        self.auth.saved(self.now, handle, outcome);
    }

    /// A response that fits the request, or any.
    fn respond(&mut self, handle: ActionHandle, request: Option<&OAuthRequest>) {
        let fitting = request.filter(|_| !self.choices.once_in(6)).map(|request| match request.purpose {
            HttpPurpose::ResourceMetadata => 0,
            HttpPurpose::ServerMetadata if request.url.ends_with("/t") => 4,
            HttpPurpose::ServerMetadata => 3,
            HttpPurpose::Registration => 6 + self.choices.below(2),
            HttpPurpose::IdentityProvider => 10,
            _ => 8 + self.choices.below(2),
        });
        let status = fitting.map_or_else(|| *self.choices.pick(&STATUSES), |_| 200);
        let body = fitting.map_or_else(|| *self.choices.pick(&BODIES), |at| BODIES[at]);
        let body = self.text(body);
        let location = *self.choices.pick(&["/x", "https://evil.example", "javascript:x", "//["]);
        let headers = [("Location", location), ("DPoP-Nonce", "nonce"), ("Content-Type", "application/json")];
        self.auth.receive_response(self.now, handle, status, &headers, &body);
    }

    /// Answers something that is not asked for any more, or never was.
    fn answer_late(&mut self) {
        let handle = ActionHandle::from_number(10_000 + self.choices.below(9) as u64);
        match self.choices.below(3) {
            0 => self.auth.loaded(self.now, handle, None),
            1 => self.auth.fail_action(self.now, handle, ActionFailure::Unavailable),
            _ => self.respond(handle, None),
        }
    }

    /// Another process changes what is stored.
    fn forget_or_change_store(&mut self) {
        if self.choices.once_in(3) {
            self.store = None;
        } else if let Some(record) = self.store.clone() {
            let text = self.text(record.text.expose());
            let text = String::from_utf8_lossy(&text).into_owned();
            self.store = Some(StoredRecord { generation: record.generation + 1, text: text.into() });
        }
    }

    fn check_action(&self, action: &Action) {
        self.assert_hidden(&format!("{action:?}"));
        let url = match &action.kind {
            ActionKind::Send(request) => &request.url,
            ActionKind::OpenUserAgent(visit) => &visit.url,
            _ => return,
        };
        let authority =
            url.strip_prefix("https://").or(url.strip_prefix("HTTPS://")).map(|rest| rest.split('/').next());
        assert!(authority.flatten().is_some_and(|authority| !authority.contains('@')), "{url}");
        assert!(!url.contains('#') && !url.contains(SECRET), "{url}");
    }

    fn check(&mut self) {
        while let Some(event) = self.auth.poll_event() {
            let _ = writeln!(self.story, "{event:?}");
            let waiter = match &event {
                AuthorizationEvent::Settled { waiter } | AuthorizationEvent::Refused { waiter, .. } => {
                    *waiter
                }
                other => panic!("{other:?}"),
            };
            assert!(self.waiters.remove(&waiter), "{waiter} was told something twice");
            self.assert_hidden(&format!("{event:?}"));
            if let AuthorizationEvent::Refused { error, .. } = &event {
                assert!(!error.to_string().contains(SECRET), "{error}");
            }
        }
        self.assert_hidden(&format!("{:?}", self.auth));
        if self.auth.poll_timeout().is_some_and(|due| due <= self.now) {
            self.auth.handle_timeout(self.now);
            assert!(self.auth.poll_timeout().is_none_or(|due| due > self.now));
        }
        let elsewhere = self.auth.credentials(self.now, "POST", "https://evil.example/a/mcp");
        assert_eq!((elsewhere.authorization, elsewhere.generation), (None, 0));
        let credentials = self.auth.credentials(self.now, "POST", SERVER);
        assert_eq!(credentials.authorization.is_some(), credentials.generation != 0);
        if let Some(value) = &credentials.authorization {
            let value = value.expose();
            assert!(value.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic()), "{value:?}");
            assert_eq!(credentials.proof.is_some(), value.starts_with("DPoP "));
        }
        if let Some(proof) = &credentials.proof {
            assert_eq!(dpop_proof(proof, b"S").expose().split('.').count(), 3);
        }
    }

    fn assert_hidden(&self, shown: &str) {
        assert!(!shown.contains(SECRET), "{shown}\nafter\n{}", self.story);
    }

    /// What is under way is given up: everybody has been told something.
    fn finish(&mut self) {
        self.auth.cancel(self.now);
        self.check();
        assert!(self.waiters.is_empty(), "{:?} wait for nothing, after\n{}", self.waiters, self.story);
        assert_eq!((self.auth.poll_action(), self.auth.poll_timeout()), (None, None));
    }
}

/// Decisions for a run.
pub fn decisions(random: &mut Random) -> Vec<u8> {
    let count = 40 + random.below(400);
    (0..count).map(|_| random.number() as u8).collect()
}
