//! The machine against a store, servers and a user that are played here.

mod callbacks;
mod clients;
mod code;
mod discovery;
mod exhaustive;
mod grants;
mod refreshing;
mod scopes;

use alloc::borrow::ToOwned as _;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;

use serde_json::{Value, json};

use super::urls::decode;
use super::*;
use crate::seed::Seed;

pub(super) const SERVER: &str = "https://mcp.example/mcp";
pub(super) const RESOURCE_AT: &str = "https://mcp.example/.well-known/oauth-protected-resource/mcp";
pub(super) const ISSUER: &str = "https://as.example";
pub(super) const SERVER_AT: &str = "https://as.example/.well-known/oauth-authorization-server";
pub(super) const REDIRECT: &str = "http://127.0.0.1:7/callback";
pub(super) const START: u64 = 1_700_000_000_000;

/// A machine with all that is around it.
pub(super) struct Bench {
    pub(super) auth: Authorization,
    pub(super) now: UnixTime,
    /// What the store holds.
    pub(super) store: Option<StoredRecord>,
    /// Waiters are numbered from here.
    waiters: u64,
}

pub(super) fn code_config() -> AuthorizationConfig {
    let grant = Grant::AuthorizationCode(CodeGrant::new(REDIRECT, "Us"));
    AuthorizationConfig::new(SERVER, grant, Seed::new([7; 32]))
}

pub(super) fn resource_document() -> Value {
    json!({"resource": SERVER, "authorization_servers": [ISSUER], "scopes_supported": ["basic"]})
}

pub(super) fn server_document() -> Value {
    json!({
        "issuer": ISSUER,
        "authorization_endpoint": "https://as.example/authorize",
        "token_endpoint": "https://as.example/token",
        "registration_endpoint": "https://as.example/register",
        "code_challenge_methods_supported": ["S256"],
        "authorization_response_iss_parameter_supported": true,
    })
}

pub(super) fn token_document(number: u32) -> Value {
    json!({
        "access_token": format!("AT{number}"), "refresh_token": format!("RT{number}"),
        "token_type": "Bearer", "expires_in": 3600,
    })
}

impl Bench {
    pub(super) fn new(config: AuthorizationConfig) -> Bench {
        let auth = Authorization::new(config).unwrap();
        Bench { auth, now: UnixTime::from_millis(START), store: None, waiters: 0 }
    }

    pub(super) fn code() -> Bench {
        Bench::new(code_config())
    }

    /// Another process with the same store.
    pub(super) fn sibling(&self) -> Bench {
        let config = AuthorizationConfig { seed: Seed::new([8; 32]), ..self.auth.config.clone() };
        Bench { store: self.store.clone(), now: self.now, ..Bench::new(config) }
    }

    pub(super) fn wait(&mut self, milliseconds: u64) {
        self.now = self.now.after(milliseconds);
        self.auth.handle_timeout(self.now);
    }

    /// Asks for credentials before a request.
    pub(super) fn acquire(&mut self) -> u64 {
        self.waiters += 1;
        self.auth.acquire(self.now, self.waiters);
        self.waiters
    }

    /// A request with the current credentials is refused.
    pub(super) fn refused(&mut self, status: u16, challenge: &str) -> u64 {
        let generation = self.credentials().generation;
        self.refused_with(status, challenge, generation)
    }

    pub(super) fn refused_with(&mut self, status: u16, challenge: &str, generation: u64) -> u64 {
        self.waiters += 1;
        let refusal = Refusal {
            status,
            challenges: &[challenge],
            dpop_nonce: None,
            generation,
            operation: "tools/call x",
        };
        self.auth.challenge(self.now, self.waiters, refusal);
        self.waiters
    }

    pub(super) fn credentials(&mut self) -> Credentials {
        self.auth.credentials(self.now, "POST", SERVER)
    }

    /// The value of `Authorization`.
    pub(super) fn authorization(&mut self) -> Option<String> {
        self.credentials().authorization.map(|value| value.expose().to_owned())
    }

    /// The next action; the store answers for itself.
    pub(super) fn action(&mut self) -> Option<Action> {
        loop {
            let action = self.auth.poll_action()?;
            match &action.kind {
                ActionKind::Load => self.auth.loaded(self.now, action.handle, self.store.clone()),
                ActionKind::Save { expected, record } => {
                    let held = self.store.as_ref().map_or(0, |record| record.generation);
                    let outcome = if held == *expected {
                        self.store = Some(record.clone());
                        SaveOutcome::Saved
                    } else {
                        SaveOutcome::Conflict(self.store.clone())
                    };
                    self.auth.saved(self.now, action.handle, outcome);
                }
                _ => return Some(action),
            }
        }
    }

    /// The request that is to be sent.
    pub(super) fn request(&mut self) -> (ActionHandle, OAuthRequest) {
        let action = self.action().expect("something to do");
        let ActionKind::Send(request) = action.kind else { panic!("{action:?}") };
        (action.handle, request)
    }

    /// Expects a request there, and answers it.
    #[track_caller]
    pub(super) fn serve(&mut self, url: &str, status: u16, body: &Value) -> OAuthRequest {
        let (handle, request) = self.request();
        assert_eq!(&*request.url, url);
        let body = if body.is_null() { String::new() } else { body.to_string() };
        self.auth.receive_response(self.now, handle, status, &[], body.as_bytes());
        request
    }

    /// Both metadata documents are there.
    #[track_caller]
    pub(super) fn discover(&mut self) {
        self.serve(RESOURCE_AT, 200, &resource_document());
        self.serve(SERVER_AT, 200, &server_document());
    }

    #[track_caller]
    pub(super) fn register(&mut self) -> OAuthRequest {
        self.serve("https://as.example/register", 201, &json!({"client_id": "c1"}))
    }

    #[track_caller]
    pub(super) fn give_token(&mut self, number: u32) -> OAuthRequest {
        self.serve("https://as.example/token", 200, &token_document(number))
    }

    /// The user is sent away: the parameters of the URL.
    #[track_caller]
    pub(super) fn visit(&mut self) -> Vec<(String, String)> {
        let action = self.action().expect("a visit");
        let ActionKind::OpenUserAgent(visit) = action.kind else { panic!("{action:?}") };
        assert_eq!(&*visit.redirect_uri, REDIRECT);
        let (endpoint, query) = visit.url.split_once('?').unwrap();
        assert_eq!(endpoint, "https://as.example/authorize");
        form(query)
    }

    /// The user consents.
    #[track_caller]
    pub(super) fn consent(&mut self) -> Vec<(String, String)> {
        let parameters = self.visit();
        let state = value(&parameters, "state").unwrap();
        self.auth
            .receive_callback(self.now, &format!("code=CODE&state={state}&iss=https://as.example"))
            .unwrap();
        parameters
    }

    /// The whole way to the first token.
    #[track_caller]
    pub(super) fn log_in(&mut self) {
        let waiter = self.refused(401, "Bearer");
        self.discover();
        self.register();
        self.consent();
        self.give_token(1);
        assert_eq!(self.outcome(), Ok(waiter));
    }

    /// The one event.
    #[track_caller]
    pub(super) fn outcome(&mut self) -> Result<u64, AuthorizationError> {
        assert_eq!(self.action(), None);
        let event = self.auth.poll_event().expect("an event");
        assert_eq!(self.auth.poll_event(), None);
        outcome_of(event)
    }

    /// Everybody who was told something.
    pub(super) fn outcomes(&mut self) -> Vec<Result<u64, AuthorizationError>> {
        assert_eq!(self.action(), None);
        core::iter::from_fn(|| self.auth.poll_event()).map(outcome_of).collect()
    }

    /// Nothing is to be done and nothing told.
    #[track_caller]
    pub(super) fn assert_quiet(&mut self) {
        assert_eq!((self.action(), self.auth.poll_event()), (None, None));
    }
}

fn outcome_of(event: AuthorizationEvent) -> Result<u64, AuthorizationError> {
    match event {
        AuthorizationEvent::Settled { waiter } => Ok(waiter),
        AuthorizationEvent::Refused { error, .. } => Err(error),
    }
}

/// The pairs of a form.
pub(super) fn form(text: &str) -> Vec<(String, String)> {
    let pairs = text.split('&').map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    pairs.map(|(name, value)| (decode(name).unwrap(), decode(value).unwrap())).collect()
}

/// The one value of a name.
#[track_caller]
pub(super) fn value(pairs: &[(String, String)], name: &str) -> Option<String> {
    let mut values = pairs.iter().filter(|(own, _)| own == name).map(|(_, value)| value.clone());
    let first = values.next();
    assert_eq!(values.next(), None, "{name} stands twice");
    first
}

/// A parameter of the body.
#[track_caller]
pub(super) fn sent(request: &OAuthRequest, name: &str) -> Option<String> {
    value(&form(request.body.expose()), name)
}

pub(super) fn header(request: &OAuthRequest, name: &str) -> Option<String> {
    request.headers.iter().find(|(own, _)| *own == name).map(|(_, value)| value.expose().to_owned())
}
