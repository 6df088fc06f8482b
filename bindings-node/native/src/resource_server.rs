//! A protected server: its metadata, and its judgement of requests. What is told is JSON.

use barewire::UnixTime;
use barewire::auth::resource_server::{
    self, Denial, DenialReason, Principal, ResourceServer, ResourceServerConfig,
};
use napi::Either;
use napi::bindgen_prelude::External;
use napi_derive::napi;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::batch::{Text, told};
use crate::config;
use crate::errors::{Outcome as _, unusable};
use crate::http_server::with_headers;
use crate::names::{kind_named, name_of, number};

const REASONS: [(DenialReason, &str); 9] = [
    (DenialReason::NoToken, "noToken"),
    (DenialReason::Malformed, "malformed"),
    (DenialReason::InvalidToken, "invalidToken"),
    (DenialReason::Expired, "expired"),
    (DenialReason::NotYetValid, "notYetValid"),
    (DenialReason::WrongIssuer, "wrongIssuer"),
    (DenialReason::WrongAudience, "wrongAudience"),
    (DenialReason::Bound, "bound"),
    (DenialReason::InsufficientScope, "insufficientScope"),
];

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Settings {
    resource: String,
    authorization_servers: Vec<String>,
    scopes: Option<Vec<String>>,
    audiences: Option<Vec<String>>,
    name: Option<String>,
    documentation: Option<String>,
    leeway: Option<u64>,
}

/// The rules, as JavaScript holds them.
pub(crate) type Rules = External<ResourceServer>;

/// Owned texts, borrowed.
fn borrowed(texts: &[String]) -> Vec<&str> {
    texts.iter().map(String::as_str).collect()
}

fn boxed(texts: Option<Vec<String>>) -> Vec<Box<str>> {
    texts.into_iter().flatten().map(String::into_boxed_str).collect()
}

/// The rules of a protected server.
#[napi]
#[allow(clippy::needless_pass_by_value, reason = "strings of JavaScript are owned")]
pub(crate) fn open_resource_server(settings: String) -> Either<Rules, String> {
    let open = || {
        let settings: Settings = config::read(&settings)?;
        let servers = borrowed(&settings.authorization_servers);
        let mut config = ResourceServerConfig::new(&settings.resource, &servers);
        config.scopes = boxed(settings.scopes);
        config.audiences = boxed(settings.audiences);
        config.name = settings.name.map(String::into_boxed_str);
        config.documentation = settings.documentation.map(String::into_boxed_str);
        config.leeway = settings.leeway.unwrap_or(config.leeway);
        ResourceServer::new(config).map_err(unusable)
    };
    open().map(External::new).given()
}

/// The metadata as JSON text, the paths at which to serve it, and where challenges say that it is.
#[napi]
pub(crate) fn resource_server_facts(this: &Rules) -> String {
    json!([this.metadata(), this.metadata_paths(), this.metadata_url()]).to_string()
}

/// The token of a request, or why there is none.
#[napi]
#[allow(clippy::needless_pass_by_value, reason = "strings of JavaScript are owned")]
pub(crate) fn resource_server_bearer(this: &Rules, headers: String, query: Option<String>) -> String {
    let found = with_headers(&headers, |headers| resource_server::bearer(headers, query.as_deref()));
    match found {
        Ok(token) => json!(token.expose()),
        Err(reason) => denied(&this.deny_unknown(reason)),
    }
    .to_string()
}

/// A refusal; without `scopes`, with those of the configuration.
#[napi]
#[allow(clippy::needless_pass_by_value, reason = "strings of JavaScript are owned")]
pub(crate) fn resource_server_deny(this: &Rules, reason: String, scopes: Option<Vec<String>>) -> Text {
    told(kind_named(&REASONS, &reason).map(|reason| {
        let denial = match scopes {
            Some(scopes) => this.deny(reason, &borrowed(&scopes)),
            None => this.deny_unknown(reason),
        };
        denied(&denial).to_string()
    }))
}

/// Judges the claims of a genuine token: who it is, or a refusal.
#[napi]
#[allow(clippy::needless_pass_by_value, reason = "strings of JavaScript are owned")]
pub(crate) fn resource_server_judge(
    this: &Rules,
    claims: String,
    now: i64,
) -> Either<Text, (String, External<Principal>)> {
    let claims = match config::json(&claims) {
        Ok(claims) => claims,
        Err(failure) => return Either::A(told(Err(failure))),
    };
    match this.judge(&claims, UnixTime::from_millis(number(now))) {
        Ok(principal) => {
            let Principal { issuer, subject, client, scopes, .. } = &principal;
            let expires_at = principal.expires_at.map(UnixTime::as_millis);
            let row = json!([issuer, subject, client, scopes, expires_at, principal.key()]);
            Either::B((row.to_string(), External::new(principal)))
        }
        Err(denial) => Either::A(told(Ok(denied(&denial).to_string()))),
    }
}

/// Whether what needs these scopes may be done: a refusal, or null. `implied` are those that others stand for which were
/// granted.
#[napi]
#[allow(clippy::needless_pass_by_value, reason = "strings of JavaScript are owned")]
pub(crate) fn resource_server_authorize(
    this: &Rules,
    principal: &External<Principal>,
    needed: Vec<String>,
    implied: Vec<String>,
) -> String {
    let stands_for = |_: &str, needed: &str| implied.iter().any(|scope| scope == needed);
    let outcome = this.authorize(principal, &borrowed(&needed), stands_for);
    outcome.err().map_or(Value::Null, |denial| denied(&denial)).to_string()
}

/// Where the metadata of an authorization server may be.
#[napi]
#[allow(clippy::needless_pass_by_value, reason = "strings of JavaScript are owned")]
pub(crate) fn server_metadata_urls(issuer: String) -> Vec<String> {
    resource_server::server_metadata_urls(&issuer).into_iter().map(String::from).collect()
}

/// A refusal as JavaScript reads it: reason, status, challenge.
fn denied(denial: &Denial) -> Value {
    json!([name_of(&REASONS, denial.reason), denial.status, denial.challenge])
}
