//! A protected MCP server as an OAuth 2.1 resource server (basic/authorization), as pure functions.
//!
//! Whether a token is genuine is the host's to find out, by the signature of a JWT or by introspection (RFC 7662). What is left
//! is decided here: [`bearer`] finds the token, [`ResourceServer::judge`] says from its claims who that is,
//! [`ResourceServer::authorize`] whether they may do it. Each refusal is a [`Denial`]: a status and the value of
//! `WWW-Authenticate`, ready to be sent. Nothing of this applies to stdio.
//!
//! The token itself is not part of a [`Principal`]: it must not be passed on (`tutorials/security/security_best_practices`, Token
//! Passthrough).

use alloc::boxed::Box;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use crate::error::{ApiMisuse, Error};
use crate::json::Json;
use crate::time::UnixTime;
use crate::transport::http::headers::{AUTHORIZATION, Headers};
use crate::transport::http::url::Url;

use super::scopes::{OFFLINE_ACCESS, Scopes};
use super::secret::Secret;
use super::urls::{self, Plaintext, decode, resource_metadata_paths, usable};

/// How a protected server is set up.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ResourceServerConfig {
    /// Its identifier: the URL of the MCP endpoint as clients know it, without fragment and useless slash at the end. https, or
    /// http on a loopback host.
    pub resource: Box<str>,
    /// The issuer identifiers of its authorization servers, at least one. Tokens of others are refused.
    pub authorization_servers: Vec<Box<str>>,
    /// The scopes that suffice for basic use (basic/authorization, Scope Selection Strategy). Default none.
    pub scopes: Vec<Box<str>>,
    /// What tokens may name as their audience beside `resource`. Default none.
    pub audiences: Vec<Box<str>>,
    /// A name for people. Default none.
    pub name: Option<Box<str>>,
    /// A page for developers. Default none.
    pub documentation: Option<Box<str>>,
    /// Milliseconds by which clocks may differ. Default 30 000.
    pub leeway: u64,
}

impl ResourceServerConfig {
    /// For the MCP server at `resource`, with the defaults.
    pub fn new(resource: &str, authorization_servers: &[&str]) -> ResourceServerConfig {
        ResourceServerConfig {
            resource: resource.into(),
            authorization_servers: authorization_servers.iter().map(|issuer| Box::from(*issuer)).collect(),
            scopes: Vec::new(),
            audiences: Vec::new(),
            name: None,
            documentation: None,
            leeway: 30_000,
        }
    }
}

/// A protected server: its metadata, and its judgement of requests.
#[derive(Clone, Debug)]
pub struct ResourceServer {
    config: ResourceServerConfig,
    metadata_paths: Vec<Box<str>>,
    metadata_url: Box<str>,
}

/// Who a request comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Principal {
    /// The authorization server that vouches for it.
    pub issuer: Box<str>,
    /// Its identifier there: a user, or a client that acts for itself.
    pub subject: Box<str>,
    /// The client through which it comes.
    pub client: Option<Box<str>>,
    /// What was granted.
    pub scopes: Vec<Box<str>>,
    /// When the token expires, if that is known.
    pub expires_at: Option<UnixTime>,
}

impl Principal {
    /// A text that is the same for the same issuer, subject and client, and for no others: what sessions, caches, tasks and
    /// `requestState` are bound to. It tells nothing of the three.
    pub fn key(&self) -> String {
        let mut hasher = Sha256::new();
        let parts = [Some(&*self.issuer), Some(&*self.subject), self.client.as_deref()];
        for part in parts {
            // The length in front keeps parts apart; an absent one is told from an empty one.
            let length = part.map_or(u64::MAX, |part| part.len() as u64);
            hasher.update(length.to_be_bytes());
            hasher.update(part.unwrap_or_default());
        }
        URL_SAFE_NO_PAD.encode(hasher.finalize())
    }
}

/// Why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DenialReason {
    /// It has no token.
    NoToken,
    /// Its credentials are malformed: two headers, a token in the query, an empty one.
    Malformed,
    /// The token is not genuine, was revoked, or its claims make no sense.
    InvalidToken,
    /// The token has expired.
    Expired,
    /// The token is not valid yet.
    NotYetValid,
    /// It comes from an authorization server that is not one of ours.
    WrongIssuer,
    /// It is meant for somebody else.
    WrongAudience,
    /// It is bound to a key, and came without a proof of it (RFC 9449, section 7.1).
    Bound,
    /// It lacks scopes.
    InsufficientScope,
}

impl DenialReason {
    const fn status(self) -> u16 {
        match self {
            DenialReason::Malformed => 400,
            DenialReason::InsufficientScope => 403,
            _ => 401,
        }
    }

    /// `error` and `error_description` (RFC 6750, section 3.1). Who sent no token is told neither.
    const fn words(self) -> Option<(&'static str, &'static str)> {
        Some(match self {
            DenialReason::NoToken => return None,
            DenialReason::Malformed => ("invalid_request", "The credentials are malformed"),
            DenialReason::InvalidToken => ("invalid_token", "The access token is invalid"),
            DenialReason::Expired => ("invalid_token", "The access token expired"),
            DenialReason::NotYetValid => ("invalid_token", "The access token is not valid yet"),
            DenialReason::WrongIssuer => ("invalid_token", "The access token has another issuer"),
            DenialReason::WrongAudience => ("invalid_token", "The access token is for another resource"),
            DenialReason::Bound => ("invalid_token", "The access token is bound to a key"),
            DenialReason::InsufficientScope => ("insufficient_scope", "The operation needs more scopes"),
        })
    }
}

/// A refusal, ready to be sent; a body is optional.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Denial {
    /// Why.
    pub reason: DenialReason,
    /// 400, 401 or 403.
    pub status: u16,
    /// The value of `WWW-Authenticate`.
    pub challenge: Box<str>,
}

impl ResourceServer {
    /// Checks the configuration.
    ///
    /// # Errors
    /// [`InvalidDefinition`](crate::ApiMisuse::InvalidDefinition) naming `resource` or `authorization_servers`.
    pub fn new(config: ResourceServerConfig) -> Result<ResourceServer, Error> {
        let Some(url) = usable(&config.resource, Plaintext::OnLoopback) else {
            return Err(ApiMisuse::InvalidDefinition("resource").into());
        };
        let is_issuer = |issuer: &str| {
            usable(issuer, Plaintext::OnLoopback).is_some_and(|issuer| issuer.query().is_empty())
        };
        if config.authorization_servers.is_empty()
            || !config.authorization_servers.iter().all(|issuer| is_issuer(issuer))
        {
            return Err(ApiMisuse::InvalidDefinition("authorization_servers").into());
        }
        let metadata_paths = resource_metadata_paths(url);
        let first = metadata_paths.first().map(|path| &**path).unwrap_or_default();
        let metadata_url = [url.origin(), first].concat().into();
        Ok(ResourceServer { config, metadata_paths, metadata_url })
    }

    /// The protected resource metadata (RFC 9728, section 2), as JSON. Serve it with status 200 and
    /// `Content-Type: application/json`, to anybody.
    pub fn metadata(&self) -> String {
        let config = &self.config;
        let list = |texts: &[Box<str>]| texts.iter().map(|text| Value::from(&**text)).collect::<Vec<_>>();
        let mut document = json!({
            "resource": &*config.resource,
            "authorization_servers": list(&config.authorization_servers),
            "bearer_methods_supported": ["header"],
        });
        // Refresh tokens are no matter of the resource.
        let scopes: Vec<_> = config.scopes.iter().filter(|scope| ***scope != *OFFLINE_ACCESS).collect();
        if !scopes.is_empty() {
            document["scopes_supported"] = scopes.into_iter().map(|scope| Value::from(&**scope)).collect();
        }
        if let Some(name) = &config.name {
            document["resource_name"] = (&**name).into();
        }
        if let Some(page) = &config.documentation {
            document["resource_documentation"] = (&**page).into();
        }
        document.to_string()
    }

    /// The paths at which to serve it: behind the path of the resource, and at the root.
    pub fn metadata_paths(&self) -> &[Box<str>] {
        &self.metadata_paths
    }

    /// Where challenges say that it is.
    pub fn metadata_url(&self) -> &str {
        &self.metadata_url
    }

    /// A refusal for this reason. `scopes` are those that the operation needs, or that suffice for a start.
    pub fn deny(&self, reason: DenialReason, scopes: &[&str]) -> Denial {
        let mut challenge = String::from("Bearer ");
        let words = reason.words();
        if let Some((error, _)) = words {
            write_parameter(&mut challenge, "error", error);
        }
        let scopes = Scopes::of(scopes.iter().copied().filter(|scope| *scope != OFFLINE_ACCESS));
        if !scopes.is_empty() {
            write_parameter(&mut challenge, "scope", &scopes.text());
        }
        write_parameter(&mut challenge, "resource_metadata", &self.metadata_url);
        if let Some((_, description)) = words {
            write_parameter(&mut challenge, "error_description", description);
        }
        Denial { reason, status: reason.status(), challenge: challenge.into() }
    }

    /// A refusal that names the scopes of the configuration, for requests that are refused before it is known what they want.
    pub fn deny_unknown(&self, reason: DenialReason) -> Denial {
        let scopes: Vec<&str> = self.config.scopes.iter().map(|scope| &**scope).collect();
        self.deny(reason, &scopes)
    }

    /// Judges the claims of a token that was found genuine: the payload of a JWT whose signature was verified with a key of its
    /// `iss`, or the answer of an introspection endpoint (RFC 7662, section 2.2). If the host knows issuer or audience by
    /// other means, it adds `iss` or `aud` to the claims: a token that names none is refused. `exp` may be absent only if
    /// `active` is true.
    ///
    /// # Errors
    /// A refusal with status 401.
    pub fn judge(&self, claims: &Json, now: UnixTime) -> Result<Principal, Denial> {
        let claims: Map<String, Value> = claims.parse().unwrap_or_default();
        self.principal(&claims, now).map_err(|reason| self.deny_unknown(reason))
    }

    fn principal(&self, claims: &Map<String, Value>, now: UnixTime) -> Result<Principal, DenialReason> {
        let text = |name: &str| claims.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
        let is_active = claims.get("active").map(Value::as_bool);
        if !matches!(is_active, None | Some(Some(true))) {
            return Err(DenialReason::InvalidToken);
        }
        let expires_at = read_time(claims, "exp")?;
        if expires_at.is_none() && is_active.is_none() {
            return Err(DenialReason::InvalidToken);
        }
        let issuer = text("iss")
            .filter(|issuer| self.config.authorization_servers.iter().any(|own| **own == **issuer));
        let Some(issuer) = issuer else { return Err(DenialReason::WrongIssuer) };
        if !self.is_meant(claims.get("aud")) {
            return Err(DenialReason::WrongAudience);
        }
        if expires_at.is_some_and(|expiry| expiry.after(self.config.leeway) <= now) {
            return Err(DenialReason::Expired);
        }
        if read_time(claims, "nbf")?.is_some_and(|start| start > now.after(self.config.leeway)) {
            return Err(DenialReason::NotYetValid);
        }
        if claims.get("cnf").is_some_and(|bound| !bound.is_null()) {
            return Err(DenialReason::Bound);
        }
        let client = text("client_id").or(text("azp"));
        let subject = text("sub").or(client).ok_or(DenialReason::InvalidToken)?;
        let (scopes, client) = (read_scopes(claims), client.map(Into::into));
        Ok(Principal { issuer: issuer.into(), subject: subject.into(), client, scopes, expires_at })
    }

    /// Whether one of the audiences is this server.
    fn is_meant(&self, audience: Option<&Value>) -> bool {
        let is_ours = |named: &str| {
            is_same_resource(named, &self.config.resource)
                || self.config.audiences.iter().any(|own| is_same_resource(named, own))
        };
        match audience {
            Some(Value::String(named)) => is_ours(named),
            Some(Value::Array(list)) => list.iter().filter_map(Value::as_str).any(is_ours),
            _ => false,
        }
    }

    /// Whether a principal may do what needs these scopes. `implies(granted, needed)` says whether a scope that was granted
    /// stands for one that is needed; a scope always stands for itself.
    ///
    /// # Errors
    /// A refusal with status 403 that names all scopes that are needed.
    pub fn authorize(
        &self,
        principal: &Principal,
        needed: &[&str],
        implies: impl Fn(&str, &str) -> bool,
    ) -> Result<(), Denial> {
        let is_granted =
            |needed: &&str| principal.scopes.iter().any(|own| **own == **needed || implies(own, needed));
        let is_enough = needed.iter().all(is_granted);
        if is_enough { Ok(()) } else { Err(self.deny(DenialReason::InsufficientScope, needed)) }
    }
}

/// Where the metadata of an authorization server may be, in the order in which it is looked for (basic/authorization,
/// Authorization Server Metadata Discovery): for hosts that look for its keys there. What is found must name `issuer`, byte
/// for byte. Empty if the issuer cannot be used.
pub fn server_metadata_urls(issuer: &str) -> Vec<Box<str>> {
    usable(issuer, Plaintext::OnLoopback).map(urls::server_metadata).unwrap_or_default()
}

/// The token of a request: the one `Authorization` header, its scheme in any case (RFC 6750, section 2.1). `query` is what
/// stands behind the question mark. Other schemes are as good as no token.
///
/// # Errors
/// [`DenialReason::NoToken`] or [`DenialReason::Malformed`]; [`ResourceServer::deny_unknown`] makes a refusal of it.
pub fn bearer(headers: &[(&str, &str)], query: Option<&str>) -> Result<Secret, DenialReason> {
    let is_token = |pair: &str| {
        let name = pair.split('=').next().unwrap_or_default();
        decode(name).is_some_and(|name| name == "access_token")
    };
    if query.is_some_and(|query| query.split('&').any(is_token)) {
        return Err(DenialReason::Malformed);
    }
    let mut values = Headers::new(headers).all(AUTHORIZATION);
    let value = match (values.next(), values.next()) {
        (None, _) => return Err(DenialReason::NoToken),
        (Some(value), None) => value,
        (Some(_), Some(_)) => return Err(DenialReason::Malformed),
    };
    let (scheme, token) = value.split_once(' ').unwrap_or((value, ""));
    if !scheme.eq_ignore_ascii_case("Bearer") {
        return Err(DenialReason::NoToken);
    }
    let token = token.trim_matches(' ');
    if is_token68(token) { Ok(token.into()) } else { Err(DenialReason::Malformed) }
}

/// RFC 6750, section 2.1: b64token.
fn is_token68(text: &str) -> bool {
    let start = text.trim_end_matches('=');
    !start.is_empty() && start.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~+/".contains(&byte))
}

/// Whether two resource identifiers are the same; scheme and host in any case, a slash at the end or not.
fn is_same_resource(named: &str, own: &str) -> bool {
    if named == own {
        return true;
    }
    let (Some(named), Some(own)) = (Url::parse(named), Url::parse(own)) else { return false };
    let is_same_path = named.path().trim_end_matches('/') == own.path().trim_end_matches('/');
    let is_plain = !named.has_user() && !named.has_fragment();
    named.is_same_origin(own) && is_same_path && named.query() == own.query() && is_plain
}

/// A time in seconds since 1970, possibly with a fraction (RFC 7519, section 2).
fn read_time(claims: &Map<String, Value>, name: &str) -> Result<Option<UnixTime>, DenialReason> {
    let Some(value) = claims.get(name).filter(|value| !value.is_null()) else { return Ok(None) };
    let number = value.as_number().ok_or(DenialReason::InvalidToken)?.to_string();
    let whole = number.split('.').next().unwrap_or_default();
    let seconds: u64 = whole.parse().map_err(|_| DenialReason::InvalidToken)?;
    Ok(Some(UnixTime::from_millis(seconds.saturating_mul(1000))))
}

/// `scope` as a text (RFC 9068, section 2.2.3), or what some servers write instead.
fn read_scopes(claims: &Map<String, Value>) -> Vec<Box<str>> {
    let mut scopes = Scopes::default();
    for value in ["scope", "scp"].into_iter().filter_map(|name| claims.get(name)) {
        let more = match value {
            Value::String(text) => Scopes::read(text),
            Value::Array(list) => Scopes::of(list.iter().filter_map(Value::as_str)),
            _ => continue,
        };
        scopes = scopes.and(&more);
    }
    scopes.iter().map(Into::into).collect()
}

/// Appends a parameter with a quoted value (RFC 9110, section 5.6.4).
fn write_parameter(challenge: &mut String, name: &str, value: &str) {
    if !challenge.ends_with(' ') {
        challenge.push_str(", ");
    }
    challenge.push_str(name);
    challenge.push_str("=\"");
    for character in value.chars() {
        if matches!(character, '"' | '\\') {
            challenge.push('\\');
        }
        challenge.push(character);
    }
    challenge.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    const RESOURCE: &str = "https://mcp.example/a/mcp";
    const ISSUER: &str = "https://as.example";
    const NOW: UnixTime = UnixTime::from_millis(1_700_000_000_000);

    fn config() -> ResourceServerConfig {
        ResourceServerConfig::new(RESOURCE, &[ISSUER, "https://as.example/"])
    }

    fn server() -> ResourceServer {
        ResourceServer::new(config()).unwrap()
    }

    fn claims(change: impl FnOnce(&mut Value)) -> Json {
        let mut claims = json!({
            "iss": ISSUER, "sub": "user", "aud": RESOURCE, "exp": 1_700_000_100_u64, "client_id": "app",
            "scope": "files:read notes",
        });
        change(&mut claims);
        Json::new(&claims.to_string()).unwrap()
    }

    fn without(name: &str) -> Json {
        claims(|claims| {
            claims.as_object_mut().unwrap().remove(name);
        })
    }

    // proves: FEAT-386 FEAT-389
    #[test]
    fn metadata_is_served_behind_the_path_and_at_the_root() {
        let mut config = config();
        config.scopes = ["files:read", "offline_access"].map(Box::from).into();
        config.name = Some("Files".into());
        let server = ResourceServer::new(config).unwrap();
        let document: Value = serde_json::from_str(&server.metadata()).unwrap();
        let expected = json!({
            "resource": RESOURCE, "authorization_servers": [ISSUER, "https://as.example/"],
            "bearer_methods_supported": ["header"], "scopes_supported": ["files:read"], "resource_name": "Files",
        });
        assert_eq!(document, expected);
        let root = "/.well-known/oauth-protected-resource";
        assert_eq!(server.metadata_paths().join(" "), [root, "/a/mcp ", root].concat());
        assert_eq!(server.metadata_url(), ["https://mcp.example", root, "/a/mcp"].concat());
        let rootless = ResourceServerConfig::new("https://mcp.example", &[ISSUER]);
        assert_eq!(ResourceServer::new(rootless).unwrap().metadata_paths().join(" "), root);
    }

    // proves: FEAT-384
    #[test]
    fn configurations_that_cannot_work_are_refused() {
        for (resource, issuers, member) in [
            ("http://mcp.example", &[ISSUER][..], "resource"),
            ("https://mcp.example/#f", &[ISSUER], "resource"),
            (RESOURCE, &[], "authorization_servers"),
            (RESOURCE, &["http://as.example"], "authorization_servers"),
            (RESOURCE, &["https://as.example?q"], "authorization_servers"),
        ] {
            let refused = ResourceServer::new(ResourceServerConfig::new(resource, issuers)).unwrap_err();
            assert_eq!(refused, Error::ApiMisuse(ApiMisuse::InvalidDefinition(member)), "{resource}");
        }
    }

    // proves: FEAT-397
    #[test]
    fn the_token_is_taken_from_one_header_alone() {
        use DenialReason::{Malformed, NoToken};
        for (headers, query, expected) in [
            (&[("Authorization", "Bearer a.b-c_d~e+f/g==")][..], None, Ok("a.b-c_d~e+f/g==")),
            (&[("AUTHORIZATION", " bEARER  x ")], Some("a=b"), Ok("x")),
            (&[], None, Err(NoToken)),
            (&[("authorization", "Basic eA==")], None, Err(NoToken)),
            (&[("authorization", "DPoP x")], None, Err(NoToken)),
            (&[("authorization", "")], None, Err(NoToken)),
            (&[("authorization", "Bearer")], None, Err(Malformed)),
            (&[("authorization", "Bearer ")], None, Err(Malformed)),
            (&[("authorization", "Bearer a b")], None, Err(Malformed)),
            (&[("authorization", "Bearer a,b")], None, Err(Malformed)),
            (&[("authorization", "Bearer =")], None, Err(Malformed)),
            (&[("authorization", "Bearer é")], None, Err(Malformed)),
            (&[("authorization", "Bearer x"), ("Authorization", "Bearer x")], None, Err(Malformed)),
            (&[("authorization", "Bearer x")], Some("access_token=y"), Err(Malformed)),
            (&[], Some("a&access%5Ftoken=y"), Err(Malformed)),
        ] {
            let found = bearer(headers, query);
            assert_eq!(
                found.as_ref().map(Secret::expose).map_err(|reason| *reason),
                expected,
                "{headers:?} {query:?}"
            );
        }
    }

    // proves: FEAT-385 FEAT-387 FEAT-394 FEAT-398 FEAT-399 FEAT-401
    #[test]
    fn challenges_say_what_helps() {
        let server = server();
        let place = "resource_metadata=\"https://mcp.example/.well-known/oauth-protected-resource/a/mcp\"";
        let shown = |denial: Denial| (denial.status, denial.challenge);
        let none = server.deny(DenialReason::NoToken, &[]);
        assert_eq!(shown(none), (401, ["Bearer ", place].concat().into()));
        let none = server.deny(DenialReason::NoToken, &["a", "b", "offline_access"]);
        assert_eq!(shown(none), (401, ["Bearer scope=\"a b\", ", place].concat().into()));
        let expired = server.deny_unknown(DenialReason::Expired);
        let expected =
            ["Bearer error=\"invalid_token\", ", place, ", error_description=\"The access token expired\""];
        assert_eq!(shown(expired), (401, expected.concat().into()));
        assert_eq!(server.deny_unknown(DenialReason::Malformed).status, 400);
        let insufficient = server.deny(DenialReason::InsufficientScope, &["files:write"]);
        let expected = [
            "Bearer error=\"insufficient_scope\", scope=\"files:write\", ",
            place,
            ", error_description=\"The operation needs more scopes\"",
        ];
        assert_eq!(shown(insufficient), (403, expected.concat().into()));
        let mut quoted = String::from("Bearer ");
        write_parameter(&mut quoted, "a", "q\"r\\");
        assert_eq!(quoted, "Bearer a=\"q\\\"r\\\\\"");
    }

    #[test]
    fn good_claims_name_a_principal() {
        let principal = server().judge(&claims(|_| {}), NOW).unwrap();
        assert_eq!(
            (&*principal.issuer, &*principal.subject, principal.client.as_deref()),
            (ISSUER, "user", Some("app"))
        );
        assert_eq!(principal.scopes.join(" "), "files:read notes");
        assert_eq!(principal.expires_at, Some(UnixTime::from_millis(1_700_000_100_000)));
        let active = claims(|claims| {
            claims["active"] = true.into();
            claims["exp"] = Value::Null;
            claims["scp"] = json!(["x", "notes"]);
            claims["aud"] = json!(["other", "HTTPS://MCP.example:443/a/mcp/"]);
            claims["nbf"] = json!(1_700_000_029.5);
        });
        let principal = server().judge(&active, NOW).unwrap();
        assert_eq!((principal.scopes.join(" "), principal.expires_at), ("files:read notes x".into(), None));
        let own = server().judge(&without("sub"), NOW).unwrap();
        assert_eq!(*own.subject, *"app");
        let mut config = config();
        config.audiences = Vec::from(["api://files".into()]);
        let named = claims(|claims| claims["aud"] = "api://files".into());
        assert!(ResourceServer::new(config).unwrap().judge(&named, NOW).is_ok());
    }

    // proves: FEAT-391 FEAT-392 FEAT-393 FEAT-395 FEAT-653
    #[test]
    fn bad_claims_are_refused_each_for_its_reason() {
        use DenialReason::{Bound, Expired, InvalidToken, NotYetValid, WrongAudience, WrongIssuer};
        let with = |name: &'static str, value: Value| claims(|claims| claims[name] = value);
        for (claims, expected) in [
            (Json::new("[]").unwrap(), InvalidToken),
            (Json::new("{}").unwrap(), InvalidToken),
            (with("active", false.into()), InvalidToken),
            (with("active", "true".into()), InvalidToken),
            (without("exp"), InvalidToken),
            (with("exp", "1700000100".into()), InvalidToken),
            (with("exp", json!(-1)), InvalidToken),
            (with("exp", json!(1_699_999_970)), Expired),
            (with("nbf", json!(1_700_000_031)), NotYetValid),
            (with("nbf", json!([])), InvalidToken),
            (without("iss"), WrongIssuer),
            (with("iss", "https://evil.example".into()), WrongIssuer),
            (with("iss", "https://AS.example".into()), WrongIssuer),
            (without("aud"), WrongAudience),
            (with("aud", json!([])), WrongAudience),
            (with("aud", "https://mcp.example".into()), WrongAudience),
            (with("aud", "https://mcp.example/a/mcp/x".into()), WrongAudience),
            (with("aud", "https://mcp.example/A/mcp".into()), WrongAudience),
            (with("aud", "http://mcp.example/a/mcp".into()), WrongAudience),
            (with("aud", "https://u@mcp.example/a/mcp".into()), WrongAudience),
            (with("cnf", json!({"jkt": "x"})), Bound),
            (
                claims(|claims| {
                    claims["sub"] = "".into();
                    claims["client_id"] = 1.into();
                }),
                InvalidToken,
            ),
        ] {
            let denial = server().judge(&claims, NOW).unwrap_err();
            assert_eq!((denial.reason, denial.status), (expected, 401), "{claims}");
        }
        // Within the leeway.
        assert!(server().judge(&with("exp", json!(1_699_999_971)), NOW).is_ok());
    }

    // proves: FEAT-402
    #[test]
    fn broader_scopes_stand_for_narrower_ones() {
        let server = server();
        let principal = server.judge(&claims(|_| {}), NOW).unwrap();
        let never = |_: &str, _: &str| false;
        let below = |granted: &str, needed: &str| {
            needed.strip_prefix(granted).is_some_and(|rest| rest.starts_with(':'))
        };
        assert_eq!(server.authorize(&principal, &[], never), Ok(()));
        assert_eq!(server.authorize(&principal, &["notes", "files:read"], never), Ok(()));
        assert_eq!(server.authorize(&principal, &["notes:write"], below), Ok(()));
        let needed = ["notes:write", "files:write"];
        let denied = server.deny(DenialReason::InsufficientScope, &needed);
        assert_eq!(server.authorize(&principal, &needed, below), Err(denied));
    }

    #[test]
    fn keys_tell_principals_apart_and_nothing_else() {
        let principal = |issuer: &str, subject: &str, client: Option<&str>| Principal {
            issuer: issuer.into(),
            subject: subject.into(),
            client: client.map(Into::into),
            scopes: Vec::new(),
            expires_at: None,
        };
        let mut keys: Vec<_> = [
            principal("a", "b", Some("c")),
            principal("ab", "", Some("c")),
            principal("a", "bc", Some("")),
            principal("a", "bc", None),
            principal("", "ab", Some("c")),
        ]
        .iter()
        .map(Principal::key)
        .collect();
        let same = Principal { scopes: Vec::from(["x".into()]), ..principal("a", "b", Some("c")) };
        assert_eq!(same.key(), keys[0]);
        keys.sort();
        keys.dedup();
        assert_eq!(keys.len(), 5);
        assert!(keys.iter().all(|key| key.len() == 43));
    }
}
