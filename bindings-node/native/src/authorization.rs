//! The OAuth client as a machine. Its calls are few: what they give is JSON, which JavaScript makes objects of.

use std::panic::{AssertUnwindSafe, catch_unwind};

use barewire::auth::{
    Action, ActionFailure, ActionHandle, ActionKind, ApplicationType, AssertionAudience,
    Authorization as Machine, AuthorizationConfig, AuthorizationEvent, ClientAuthentication,
    ClientRegistration, CodeGrant, DpopKey, EnterpriseGrant, Grant, Refusal, SaveOutcome, Secret,
    SecretMethod, SigningKey, SigningRequest, StoredRecord, SubjectTokenType, dpop_proof as core_dpop_proof,
};
use barewire::{CloseReason, Error, Seed, UnixTime};
use napi::Either;
use napi::bindgen_prelude::External;
use napi_derive::napi;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::batch::{Text, told};
use crate::config;
use crate::errors::{Failure, Outcome as _, ToRow as _, unusable};
use crate::http_server::with_headers;
use crate::names::{kind_named, number, to_js};

const FAILURES: [(ActionFailure, &str); 4] = [
    (ActionFailure::Unavailable, "unavailable"),
    (ActionFailure::TooLarge, "tooLarge"),
    (ActionFailure::Forbidden, "forbidden"),
    (ActionFailure::Declined, "declined"),
];
const METHODS: [(SecretMethod, &str); 2] = [(SecretMethod::Basic, "basic"), (SecretMethod::Post, "post")];
const AUDIENCES: [(AssertionAudience, &str); 2] =
    [(AssertionAudience::Issuer, "issuer"), (AssertionAudience::TokenEndpoint, "tokenEndpoint")];
const APPLICATIONS: [(ApplicationType, &str); 2] =
    [(ApplicationType::Native, "native"), (ApplicationType::Web, "web")];
const SUBJECT_TOKENS: [(SubjectTokenType, &str); 2] =
    [(SubjectTokenType::IdToken, "idToken"), (SubjectTokenType::Saml2, "saml2")];

// ---------------------------------------------------------------- settings

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Registration {
    client_id: String,
    issuer: Option<String>,
    secret: Option<String>,
    method: Option<String>,
    algorithm: Option<String>,
    key_id: Option<String>,
    audience: Option<String>,
}

impl Registration {
    fn registration(&self) -> Result<ClientRegistration, Failure> {
        let authentication = match (&self.secret, &self.algorithm) {
            (None, None) => ClientAuthentication::None,
            (Some(secret), None) => ClientAuthentication::Secret {
                secret: secret.as_str().into(),
                method: self.method.as_deref().map(|method| kind_named(&METHODS, method)).transpose()?,
            },
            (None, Some(algorithm)) => ClientAuthentication::PrivateKeyJwt {
                algorithm: algorithm.as_str().into(),
                key_id: self.key_id.as_deref().map(Into::into),
                audience: kind_named(&AUDIENCES, self.audience.as_deref().unwrap_or("issuer"))?,
            },
            (Some(_), Some(_)) => {
                return Err(Failure::Argument("a client has a secret or a key, not both".into()));
            }
        };
        Ok(ClientRegistration::new(self.issuer.as_deref(), &self.client_id, authentication))
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Dpop {
    algorithm: String,
    public_key: String,
    is_required: Option<bool>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Settings {
    server_url: String,
    grant: String,
    redirect_uri: Option<String>,
    client_name: Option<String>,
    application_type: Option<String>,
    metadata_client: Option<Registration>,
    asks_for_client: Option<bool>,
    token_endpoint: Option<String>,
    provider_client: Option<Registration>,
    subject_token_type: Option<String>,
    clients: Option<Vec<Registration>>,
    scopes: Option<Vec<String>>,
    wants_refresh: Option<bool>,
    dpop: Option<Dpop>,
    legacy_endpoints: Option<bool>,
    callback_timeout: Option<u64>,
    renew_before: Option<u64>,
    response_bytes: Option<usize>,
}

impl Settings {
    /// What the grant of that name takes.
    fn grant(&self) -> Result<Grant, Failure> {
        let missing = |what: &str| Failure::Argument(format!("the grant {:?} needs {what}", self.grant));
        Ok(match &*self.grant {
            "authorizationCode" => {
                let uri = self.redirect_uri.as_deref().ok_or_else(|| missing("redirectUri"))?;
                Grant::AuthorizationCode(self.code_grant(uri)?)
            }
            "clientCredentials" => Grant::ClientCredentials,
            "enterprise" => {
                let endpoint = self.token_endpoint.as_deref().ok_or_else(|| missing("tokenEndpoint"))?;
                let client = self.provider_client.as_ref().ok_or_else(|| missing("providerClient"))?;
                let mut grant = EnterpriseGrant::new(endpoint, client.registration()?);
                let named = self.subject_token_type.as_deref().unwrap_or("idToken");
                grant.subject_token_type = kind_named(&SUBJECT_TOKENS, named)?;
                Grant::Enterprise(grant)
            }
            "workloadIdentity" => Grant::WorkloadIdentity,
            other => {
                return Err(Failure::Argument(format!(
                    "{other:?} is none of authorizationCode, clientCredentials, enterprise, workloadIdentity"
                )));
            }
        })
    }

    fn code_grant(&self, redirect_uri: &str) -> Result<CodeGrant, Failure> {
        let mut grant = CodeGrant::new(redirect_uri, self.client_name.as_deref().unwrap_or_default());
        if self.client_name.is_none() {
            grant.dynamic_registration = None;
        } else if let Some(registration) = &mut grant.dynamic_registration {
            let named = self.application_type.as_deref().map(|name| kind_named(&APPLICATIONS, name));
            registration.application_type = named.transpose()?;
        }
        grant.metadata_client = self.metadata_client.as_ref().map(Registration::registration).transpose()?;
        grant.asks_for_client = self.asks_for_client.unwrap_or_default();
        Ok(grant)
    }

    fn config(self, seed: &[u8]) -> Result<AuthorizationConfig, Failure> {
        let seed = Seed::new(config::bytes32(seed, "a seed")?);
        let mut config = AuthorizationConfig::new(&self.server_url, self.grant()?, seed);
        let clients = self.clients.iter().flatten();
        config.clients = clients.map(Registration::registration).collect::<Result<_, _>>()?;
        config.scopes = self.scopes.map(|scopes| scopes.into_iter().map(Into::into).collect());
        config.wants_refresh = self.wants_refresh.unwrap_or(config.wants_refresh);
        if let Some(dpop) = self.dpop {
            let mut key = DpopKey::new(&dpop.algorithm, config::json(&dpop.public_key)?);
            key.is_required = dpop.is_required.unwrap_or(key.is_required);
            config.dpop = Some(key);
        }
        config.legacy_endpoints = self.legacy_endpoints.unwrap_or(config.legacy_endpoints);
        config.callback_timeout = self.callback_timeout.unwrap_or(config.callback_timeout);
        config.renew_before = self.renew_before.unwrap_or(config.renew_before);
        config.response_bytes = self.response_bytes.unwrap_or(config.response_bytes);
        Ok(config)
    }
}

// ---------------------------------------------------------------- the machine

/// A machine, until a panic ends it.
pub(crate) struct Held(Option<Machine>);

/// The value that JavaScript holds.
pub(crate) type Handle = External<Held>;

/// What is to be signed, as JavaScript holds it until it has the signature.
pub(crate) type Proof = External<SigningRequest>;

const POISONED: Error = Error::Closed(CloseReason::Poisoned);

impl Held {
    fn call<R>(&mut self, work: impl FnOnce(&mut Machine) -> R) -> Result<R, Failure> {
        let machine = self.0.as_mut().ok_or(POISONED)?;
        // The machine is dropped after a panic: nobody sees it half changed.
        catch_unwind(AssertUnwindSafe(|| work(machine))).map_err(|_| {
            self.0 = None;
            POISONED.into()
        })
    }

    /// Runs a verb that gives JSON.
    fn tell(&mut self, verb: impl FnOnce(&mut Machine) -> Value) -> Text {
        told(self.call(verb).map(|value| value.to_string()))
    }
}

fn at(now: i64) -> UnixTime {
    UnixTime::from_millis(number(now))
}

fn handle(action: i64) -> ActionHandle {
    ActionHandle::from_number(number(action))
}

/// A stored record of JavaScript; generations start at 1.
fn stored(generation: i64, text: Option<String>) -> Option<StoredRecord> {
    text.map(|text| StoredRecord { generation: number(generation), text: Secret::from(text) })
}

/// The authorization of one principal at one server.
#[napi]
#[allow(clippy::needless_pass_by_value, reason = "strings of JavaScript are owned")]
pub(crate) fn open_authorization(settings: String, seed: &[u8]) -> Either<Handle, String> {
    let open = || {
        let config = config::read::<Settings>(&settings)?.config(seed)?;
        Machine::new(config).map_err(unusable)
    };
    let opened = catch_unwind(AssertUnwindSafe(open)).unwrap_or(Err(POISONED.into()));
    opened.map(|machine| External::new(Held(Some(machine)))).given()
}

/// Whether `authorization_credentials` gives the best there is.
#[napi]
pub(crate) fn authorization_is_ready(this: &mut Handle, now: i64) -> Either<bool, String> {
    this.call(|machine| machine.is_ready(at(now))).given()
}

/// What goes with a request: the generation and the value of `Authorization`, and what is to be signed.
#[napi]
#[allow(clippy::needless_pass_by_value, reason = "strings of JavaScript are owned")]
pub(crate) fn authorization_credentials(
    this: &mut Handle,
    method: String,
    url: String,
    now: i64,
) -> Either<Text, (String, Proof)> {
    match this.call(|machine| machine.credentials(at(now), &method, &url)) {
        Ok(found) => {
            let authorization = found.authorization.as_ref().map(Secret::expose);
            let proof = found.proof.as_ref().map(signing);
            let text = json!([found.generation, authorization, proof]).to_string();
            match found.proof {
                Some(proof) => Either::B((text, External::new(proof))),
                None => Either::A(told(Ok(text))),
            }
        }
        Err(failure) => Either::A(told(Err(failure))),
    }
}

/// The value of the `DPoP` header.
#[napi]
pub(crate) fn dpop_proof(request: &Proof, signature: &[u8]) -> String {
    core_dpop_proof(request, signature).expose().into()
}

/// Waits until there are credentials, or none without a challenge.
#[napi]
pub(crate) fn authorization_acquire(this: &mut Handle, waiter: i64, now: i64) -> Option<String> {
    this.call(|machine| machine.acquire(at(now), number(waiter))).done()
}

/// The server has refused a request.
#[napi]
#[allow(clippy::needless_pass_by_value, reason = "strings of JavaScript are owned")]
#[allow(clippy::too_many_arguments, reason = "each is named in JavaScript")]
pub(crate) fn authorization_challenge(
    this: &mut Handle,
    waiter: i64,
    status: u16,
    challenges: Vec<String>,
    dpop_nonce: Option<String>,
    generation: i64,
    operation: String,
    now: i64,
) -> Option<String> {
    let challenges: Vec<&str> = challenges.iter().map(String::as_str).collect();
    let refusal = Refusal {
        status,
        challenges: &challenges,
        dpop_nonce: dpop_nonce.as_deref(),
        generation: number(generation),
        operation: &operation,
    };
    this.call(|machine| machine.challenge(at(now), number(waiter), refusal)).done()
}

/// The server gave a nonce with a response that is no refusal.
#[napi]
#[allow(clippy::needless_pass_by_value, reason = "strings of JavaScript are owned")]
pub(crate) fn authorization_note_nonce(this: &mut Handle, nonce: String) -> Option<String> {
    this.call(|machine| machine.note_nonce(&nonce)).done()
}

/// The server took the token.
#[napi]
pub(crate) fn authorization_note_success(this: &mut Handle, generation: i64) -> Option<String> {
    this.call(|machine| machine.note_success(number(generation))).done()
}

/// The next thing to do, as the name of its kind, its handle, and its members; null if there is none.
#[napi]
pub(crate) fn authorization_poll_action(this: &mut Handle) -> Text {
    this.tell(|machine| machine.poll_action().map_or(Value::Null, action))
}

/// What there is to tell: a waiter, and the error if it is refused; null if there is nothing.
#[napi]
pub(crate) fn authorization_poll_event(this: &mut Handle) -> Text {
    this.tell(|machine| match machine.poll_event() {
        Some(AuthorizationEvent::Settled { waiter }) => json!([waiter]),
        Some(AuthorizationEvent::Refused { waiter, error }) => json!([waiter, error.row()]),
        _ => Value::Null,
    })
}

/// When to call `authorization_handle_timeout` at the latest; -1 for never.
#[napi]
pub(crate) fn authorization_poll_timeout(this: &mut Handle) -> Either<i64, String> {
    let due = |machine: &mut Machine| machine.poll_timeout().map_or(-1, |due| to_js(due.as_millis()));
    this.call(due).given()
}

/// Lets time pass.
#[napi]
pub(crate) fn authorization_handle_timeout(this: &mut Handle, now: i64) -> Option<String> {
    this.call(|machine| machine.handle_timeout(at(now))).done()
}

/// What the store holds, if anything.
#[napi]
pub(crate) fn authorization_loaded(
    this: &mut Handle,
    action: i64,
    generation: i64,
    text: Option<String>,
    now: i64,
) -> Option<String> {
    this.call(|machine| machine.loaded(at(now), handle(action), stored(generation, text))).done()
}

/// It is stored.
#[napi]
pub(crate) fn authorization_saved(this: &mut Handle, action: i64, now: i64) -> Option<String> {
    this.call(|machine| machine.saved(at(now), handle(action), SaveOutcome::Saved)).done()
}

/// The store has another generation, and holds this.
#[napi]
pub(crate) fn authorization_save_conflicted(
    this: &mut Handle,
    action: i64,
    generation: i64,
    text: Option<String>,
    now: i64,
) -> Option<String> {
    let outcome = SaveOutcome::Conflict(stored(generation, text));
    this.call(|machine| machine.saved(at(now), handle(action), outcome)).done()
}

/// The response to a request, whole.
#[napi]
#[allow(clippy::needless_pass_by_value, reason = "strings of JavaScript are owned")]
pub(crate) fn authorization_receive_response(
    this: &mut Handle,
    action: i64,
    status: u16,
    headers: String,
    body: &[u8],
    now: i64,
) -> Option<String> {
    with_headers(&headers, |headers| {
        this.call(|machine| machine.receive_response(at(now), handle(action), status, headers, body)).done()
    })
}

/// What the user agent brought back.
#[napi]
#[allow(clippy::needless_pass_by_value, reason = "strings of JavaScript are owned")]
pub(crate) fn authorization_receive_callback(this: &mut Handle, query: String, now: i64) -> Option<String> {
    match this.call(|machine| machine.receive_callback(at(now), &query)) {
        Ok(outcome) => outcome.err().map(|error| error.row().to_string()),
        Err(failure) => Some(failure.row().to_string()),
    }
}

/// Whether the user is to come back.
#[napi]
pub(crate) fn authorization_awaits_callback(this: &mut Handle) -> Either<bool, String> {
    this.call(|machine| machine.awaits_callback()).given()
}

/// The signature over what was to be signed.
#[napi]
pub(crate) fn authorization_signed(
    this: &mut Handle,
    action: i64,
    signature: &[u8],
    now: i64,
) -> Option<String> {
    this.call(|machine| machine.signed(at(now), handle(action), signature)).done()
}

/// A client that the user named.
#[napi]
#[allow(clippy::needless_pass_by_value, reason = "strings of JavaScript are owned")]
pub(crate) fn authorization_client_provided(
    this: &mut Handle,
    action: i64,
    client: String,
    now: i64,
) -> Option<String> {
    let read = config::read::<Registration>(&client).and_then(|client| client.registration());
    read.and_then(|client| this.call(|machine| machine.client_provided(at(now), handle(action), client)))
        .done()
}

/// An assertion that is valid now.
#[napi]
pub(crate) fn authorization_assertion_provided(
    this: &mut Handle,
    action: i64,
    assertion: String,
    now: i64,
) -> Option<String> {
    this.call(|machine| machine.assertion_provided(at(now), handle(action), assertion.into())).done()
}

/// An action was not carried out.
#[napi]
#[allow(clippy::needless_pass_by_value, reason = "strings of JavaScript are owned")]
pub(crate) fn authorization_fail_action(
    this: &mut Handle,
    action: i64,
    failure: String,
    now: i64,
) -> Option<String> {
    let failure = kind_named(&FAILURES, &failure);
    failure
        .and_then(|failure| this.call(|machine| machine.fail_action(at(now), handle(action), failure)))
        .done()
}

/// Gives up what is under way.
#[napi]
pub(crate) fn authorization_cancel(this: &mut Handle, now: i64) -> Option<String> {
    this.call(|machine| machine.cancel(at(now))).done()
}

/// Forgets that it failed.
#[napi]
pub(crate) fn authorization_reset(this: &mut Handle) -> Option<String> {
    this.call(Machine::reset).done()
}

// ---------------------------------------------------------------- what is told

/// What is to be signed: with which key, whose, how, and what.
fn signing(request: &SigningRequest) -> Value {
    let (key, client_id) = match &request.key {
        SigningKey::Client { client_id } => ("client", Some(&**client_id)),
        _ => ("dpop", None),
    };
    json!([key, client_id, request.algorithm, request.input.expose()])
}

fn action(action: Action) -> Value {
    let handle = action.handle.number();
    match action.kind {
        ActionKind::Load => json!(["loadRecord", handle]),
        ActionKind::Save { expected, record } => {
            json!(["saveRecord", handle, expected, record.generation, record.text.expose()])
        }
        ActionKind::Send(request) => {
            let headers = request.headers.iter().flat_map(|(name, value)| [*name, value.expose()]);
            json!([
                "sendRequest",
                handle,
                request.purpose.name(),
                request.method,
                request.url,
                headers.collect::<Vec<_>>(),
                request.body.expose(),
                request.response_bytes,
            ])
        }
        ActionKind::OpenUserAgent(visit) => {
            json!(["openUserAgent", handle, visit.url, visit.redirect_uri])
        }
        ActionKind::Sign(request) => json!(["signInput", handle, signing(&request)]),
        ActionKind::ProvideClient { issuer } => json!(["provideClient", handle, issuer]),
        ActionKind::ProvideAssertion { issuer, resource } => {
            json!(["provideAssertion", handle, issuer, resource])
        }
        // The core marks its actions as open for more; the host says that it cannot do this one.
        _ => json!(["unknown", handle]),
    }
}
