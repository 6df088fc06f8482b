//! As which client to go to an authorization server (2026-07-28 basic/authorization/client-registration), and dynamic
//! registration (RFC 7591).

use alloc::boxed::Box;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;

use serde_json::{Value, json};

use crate::time::UnixTime;

use super::config::{
    ApplicationType, AuthorizationConfig, ClientAuthentication, ClientRegistration, CodeGrant,
    DynamicRegistration, Grant, SecretMethod,
};
use super::error::{AuthorizationError, OAuthError};
use super::metadata::{ServerMetadata, object, text};
use super::record::{Record, method_name, method_of};
use super::secret::Secret;
use super::urls::{Plaintext, usable};

/// Where a client comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// It was configured.
    Configured,
    /// Its id is the URL of its metadata.
    Metadata,
    /// It was registered dynamically, or named by the user, and is kept.
    Kept,
}

/// What to do to be a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    Use(ClientRegistration, Origin),
    Register,
    Ask,
}

/// Chooses, in the order of the specification: known beforehand or kept, metadata document, dynamic registration, the user.
pub(super) fn choose(
    config: &AuthorizationConfig,
    record: &Record,
    server: &ServerMetadata,
    now: UnixTime,
) -> Result<Choice, AuthorizationError> {
    let issuer = &server.issuer;
    if let Some(client) = configured(config, record, issuer) {
        return Ok(Choice::Use(client.clone(), Origin::Configured));
    }
    if !config.clients.is_empty() {
        return Err(AuthorizationError::PreregisteredIssuerMismatch { issuer: issuer.clone() });
    }
    let Grant::AuthorizationCode(grant) = &config.grant else {
        return Err(AuthorizationError::NoRegistration { issuer: issuer.clone() });
    };
    if let Some(client) = record.client(issuer, &grant.redirect_uri, now) {
        return Ok(Choice::Use(client, Origin::Kept));
    }
    match (&grant.metadata_client, &grant.dynamic_registration) {
        (Some(client), _) if server.takes_metadata_clients => {
            Ok(Choice::Use(client.clone(), Origin::Metadata))
        }
        (_, Some(_)) if server.registration_endpoint.is_some() => Ok(Choice::Register),
        _ if grant.asks_for_client => Ok(Choice::Ask),
        _ => Err(AuthorizationError::NoRegistration { issuer: issuer.clone() }),
    }
}

/// The configured client of an issuer.
pub(super) fn configured<'a>(
    config: &'a AuthorizationConfig,
    record: &Record,
    issuer: &str,
) -> Option<&'a ClientRegistration> {
    let is_named = |client: &&ClientRegistration| client.issuer.as_deref() == Some(issuer);
    let is_bound = record.bound_issuer.as_deref().is_none_or(|bound| bound == issuer);
    let is_open = |client: &&ClientRegistration| client.issuer.is_none() && is_bound;
    config.clients.iter().find(is_named).or_else(|| config.clients.iter().find(is_open))
}

/// The authorization server to go to, of those that the MCP server names: one that gave a token, one that knows us, or the first
/// (RFC 9728, section 7.6).
pub(super) fn preferred<'a>(
    issuers: &'a [Box<str>],
    config: &AuthorizationConfig,
    record: &Record,
    plaintext: Plaintext,
) -> Option<&'a str> {
    let is_usable = |issuer: &&str| usable(issuer, plaintext).is_some_and(|url| url.query().is_empty());
    let usable: Vec<&str> = issuers.iter().map(|issuer| &**issuer).filter(is_usable).collect();
    let gave_token = |issuer: &&&str| record.token.as_ref().is_some_and(|token| *token.issuer == ***issuer);
    let knows_us = |issuer: &&&str| {
        record.knows_issuer(issuer)
            || record.bound_issuer.as_deref() == Some(issuer)
            || config.clients.iter().any(|client| client.issuer.as_deref() == Some(issuer))
    };
    let found = usable.iter().find(gave_token).or_else(|| usable.iter().find(knows_us));
    found.or(usable.first()).copied()
}

/// How a client is told from others at the token endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AuthMethod {
    None,
    Basic,
    Post,
    PrivateKeyJwt,
}

/// How a client authenticates where these methods are supported; `None`: it is not said, which means `client_secret_basic`
/// (RFC 8414, section 2).
pub(super) fn auth_method(client: &ClientRegistration, supported: Option<&[Box<str>]>) -> AuthMethod {
    let lists = |name: &str| supported.is_some_and(|supported| supported.iter().any(|own| **own == *name));
    match &client.authentication {
        ClientAuthentication::None => AuthMethod::None,
        ClientAuthentication::PrivateKeyJwt { .. } => AuthMethod::PrivateKeyJwt,
        ClientAuthentication::Secret { method: Some(SecretMethod::Post), .. } => AuthMethod::Post,
        ClientAuthentication::Secret { method: Some(SecretMethod::Basic), .. } => AuthMethod::Basic,
        ClientAuthentication::Secret { method: None, .. } => {
            let (basic, post) = (method_name(SecretMethod::Basic), method_name(SecretMethod::Post));
            match supported {
                Some(_) if lists(basic) => AuthMethod::Basic,
                Some(_) if lists(post) => AuthMethod::Post,
                Some(_) if lists("none") => AuthMethod::None,
                _ => AuthMethod::Basic,
            }
        }
    }
}

/// The body of a registration.
pub(super) fn registration_body(
    grant: &CodeGrant,
    wanted: &DynamicRegistration,
    application_type: ApplicationType,
    wants_refresh: bool,
    server: &ServerMetadata,
) -> String {
    let grant_types: &[&str] =
        if wants_refresh { &["authorization_code", "refresh_token"] } else { &["authorization_code"] };
    json!({
        "client_name": &*wanted.client_name,
        "redirect_uris": [&*grant.redirect_uri],
        "grant_types": grant_types,
        "response_types": ["code"],
        "token_endpoint_auth_method": wanted_method(server.auth_methods.as_deref()),
        "application_type": application_type_name(application_type),
    })
    .to_string()
}

/// A public client has nothing to hide; with a secret where the server takes no others.
fn wanted_method(supported: Option<&[Box<str>]>) -> &'static str {
    let names = ["none", method_name(SecretMethod::Basic), method_name(SecretMethod::Post)];
    let lists = |name: &&&str| supported.is_none_or(|supported| supported.iter().any(|own| **own == ***name));
    names.iter().find(lists).copied().unwrap_or("none")
}

/// What the redirect URI says the application is.
pub(super) fn application_type(grant: &CodeGrant, wanted: &DynamicRegistration) -> ApplicationType {
    wanted.application_type.unwrap_or_else(|| {
        let is_remote = usable(&grant.redirect_uri, Plaintext::Refused).is_some();
        if is_remote { ApplicationType::Web } else { ApplicationType::Native }
    })
}

pub(super) const fn other(application_type: ApplicationType) -> ApplicationType {
    match application_type {
        ApplicationType::Native => ApplicationType::Web,
        ApplicationType::Web => ApplicationType::Native,
    }
}

const fn application_type_name(application_type: ApplicationType) -> &'static str {
    match application_type {
        ApplicationType::Native => "native",
        ApplicationType::Web => "web",
    }
}

/// A client as the authorization server registered it, and when its secret expires, in milliseconds since 1970.
pub(super) type Registered = (ClientRegistration, Option<u64>);

/// Reads the answer to a registration (RFC 7591, section 3.2.1).
pub(super) fn read_registered(body: &[u8], issuer: &str) -> Result<Registered, AuthorizationError> {
    let document = object(body).ok_or(AuthorizationError::InvalidRegistration)?;
    let client_id = text(&document, "client_id").ok_or(AuthorizationError::InvalidRegistration)?;
    let method = text(&document, "token_endpoint_auth_method");
    let secret = text(&document, "client_secret").filter(|_| method != Some("none"));
    let authentication = match (secret, method) {
        (Some(secret), method) => {
            ClientAuthentication::Secret { secret: Secret::from(secret), method: method.and_then(method_of) }
        }
        (None, None | Some("none")) => ClientAuthentication::None,
        // It is to authenticate with something that it was not given.
        (None, Some(_)) => return Err(AuthorizationError::InvalidRegistration),
    };
    let expiry =
        document.get("client_secret_expires_at").and_then(Value::as_u64).filter(|&expiry| expiry != 0);
    let client = ClientRegistration::new(Some(issuer), client_id, authentication);
    Ok((client, expiry.map(|seconds| seconds.saturating_mul(1000))))
}

/// Reads a refusal (RFC 7591, section 3.2.2; OAuth 2.1, section 3.2.4).
pub(super) fn read_oauth_error(body: &[u8]) -> OAuthError {
    let Some(document) = object(body) else { return OAuthError::default() };
    let code = text(&document, "error").unwrap_or_default();
    OAuthError::new(code, text(&document, "error_description"), text(&document, "error_uri"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;

    const REDIRECT: &str = "http://localhost:1/cb";

    fn config() -> AuthorizationConfig {
        let grant = Grant::AuthorizationCode(CodeGrant::new(REDIRECT, "Us"));
        AuthorizationConfig::new("https://h/mcp", grant, Seed::new([7; 32]))
    }

    fn code_grant(config: &mut AuthorizationConfig) -> &mut CodeGrant {
        let Grant::AuthorizationCode(grant) = &mut config.grant else { panic!() };
        grant
    }

    fn public(issuer: Option<&str>, id: &str) -> ClientRegistration {
        ClientRegistration::new(issuer, id, ClientAuthentication::None)
    }

    fn server() -> ServerMetadata {
        ServerMetadata {
            issuer: "https://as".into(),
            registration_endpoint: Some("https://as/register".into()),
            takes_metadata_clients: true,
            ..ServerMetadata::default()
        }
    }

    // proves: FEAT-449 FEAT-450 FEAT-451 FEAT-452 FEAT-456 FEAT-462
    #[test]
    fn clients_are_chosen_in_order() {
        let now = UnixTime::from_millis(5);
        let mut config = config();
        let mut record = Record::default();
        let chosen = |config: &AuthorizationConfig, record: &Record, server: &ServerMetadata| {
            choose(config, record, server, now)
        };
        let other = ServerMetadata { takes_metadata_clients: false, ..server() };
        let bare = ServerMetadata { registration_endpoint: None, ..other.clone() };
        assert_eq!(chosen(&config, &record, &server()), Ok(Choice::Register));
        let document = public(None, "https://app.example/client.json");
        code_grant(&mut config).metadata_client = Some(document.clone());
        assert_eq!(chosen(&config, &record, &server()), Ok(Choice::Use(document, Origin::Metadata)));
        assert_eq!(chosen(&config, &record, &other), Ok(Choice::Register));
        let nothing = AuthorizationError::NoRegistration { issuer: "https://as".into() };
        assert_eq!(chosen(&config, &record, &bare), Err(nothing));
        code_grant(&mut config).asks_for_client = true;
        assert_eq!(chosen(&config, &record, &bare), Ok(Choice::Ask));

        let kept = public(Some("https://as"), "kept");
        record.keep_client("https://as", &kept, REDIRECT, Some(6));
        assert_eq!(chosen(&config, &record, &server()), Ok(Choice::Use(kept, Origin::Kept)));
        record.keep_client("https://as", &public(None, "expired"), REDIRECT, Some(5));
        assert_eq!(chosen(&config, &record, &other), Ok(Choice::Register));

        config.clients = Vec::from([public(Some("https://other"), "theirs")]);
        let mismatch = AuthorizationError::PreregisteredIssuerMismatch { issuer: "https://as".into() };
        assert_eq!(chosen(&config, &record, &server()), Err(mismatch));
        let ours = public(Some("https://as"), "ours");
        config.clients.push(ours.clone());
        assert_eq!(chosen(&config, &record, &server()), Ok(Choice::Use(ours, Origin::Configured)));
    }

    // proves: FEAT-447 FEAT-448 FEAT-463 FEAT-464 FEAT-465
    #[test]
    fn clients_belong_to_one_issuer() {
        let now = UnixTime::from_millis(0);
        let mut config = config();
        let mut record = Record::default();
        record.keep_client("https://as/", &public(None, "theirs"), REDIRECT, None);
        record.keep_client("https://as", &public(None, "elsewhere"), "http://localhost:2/cb", None);
        assert_eq!(choose(&config, &record, &server(), now), Ok(Choice::Register));
        // A client without an issuer is bound to the first.
        config.clients = Vec::from([public(None, "open")]);
        assert!(matches!(choose(&config, &record, &server(), now), Ok(Choice::Use(..))));
        record.bound_issuer = Some("https://first".into());
        let mismatch = AuthorizationError::PreregisteredIssuerMismatch { issuer: "https://as".into() };
        assert_eq!(choose(&config, &record, &server(), now), Err(mismatch));
    }

    #[test]
    fn servers_that_know_us_are_preferred() {
        let issuers = ["http://plain", "https://a?q", "https://a", "https://b", "https://c"].map(Box::from);
        let mut config = config();
        let mut record = Record::default();
        let chosen = |config: &AuthorizationConfig, record: &Record| {
            preferred(&issuers, config, record, Plaintext::Refused)
        };
        assert_eq!(chosen(&config, &record), Some("https://a"));
        config.clients = Vec::from([public(Some("https://c"), "c")]);
        assert_eq!(chosen(&config, &record), Some("https://c"));
        record.keep_client("https://b", &public(None, "b"), REDIRECT, None);
        assert_eq!(chosen(&config, &record), Some("https://b"));
        assert_eq!(preferred(&issuers[..2], &config, &record, Plaintext::Refused), None);
    }

    #[test]
    fn methods_follow_client_and_server() {
        let secret = |method| ClientAuthentication::Secret { secret: "s".into(), method };
        let with = |authentication| ClientRegistration::new(None, "id", authentication);
        let list = |names: &[&str]| names.iter().map(|name| Box::from(*name)).collect::<Vec<_>>();
        let (basic, post) = ("client_secret_basic", "client_secret_post");
        for (method, supported, expected) in [
            (None, None, AuthMethod::Basic),
            (None, Some(list(&[post, basic])), AuthMethod::Basic),
            (None, Some(list(&["none", post])), AuthMethod::Post),
            (None, Some(list(&["none"])), AuthMethod::None),
            (None, Some(list(&["tls_client_auth"])), AuthMethod::Basic),
            (Some(SecretMethod::Post), Some(list(&[basic])), AuthMethod::Post),
            (Some(SecretMethod::Basic), None, AuthMethod::Basic),
        ] {
            assert_eq!(auth_method(&with(secret(method)), supported.as_deref()), expected, "{supported:?}");
        }
        assert_eq!(auth_method(&with(ClientAuthentication::None), None), AuthMethod::None);
    }

    // proves: FEAT-457 FEAT-458 FEAT-470 FEAT-491
    #[test]
    fn registrations_say_what_the_client_is() {
        let mut grant = CodeGrant::new(REDIRECT, "Us");
        let wanted = grant.dynamic_registration.clone().unwrap();
        let kind = application_type(&grant, &wanted);
        let body = registration_body(&grant, &wanted, kind, true, &server());
        let expected = json!({
            "client_name": "Us", "redirect_uris": [REDIRECT], "response_types": ["code"],
            "grant_types": ["authorization_code", "refresh_token"],
            "token_endpoint_auth_method": "none", "application_type": "native",
        });
        assert_eq!(serde_json::from_str::<Value>(&body).unwrap(), expected);
        grant.redirect_uri = "https://app.example/cb".into();
        assert_eq!(application_type(&grant, &wanted), ApplicationType::Web);
        let supported = ["client_secret_post", "private_key_jwt"].map(Box::from);
        let server = ServerMetadata { auth_methods: Some(supported.into()), ..server() };
        let body = registration_body(&grant, &wanted, ApplicationType::Web, false, &server);
        let body: Value = serde_json::from_str(&body).unwrap();
        assert_eq!(body["token_endpoint_auth_method"], "client_secret_post");
        assert_eq!(
            (&body["application_type"], &body["grant_types"]),
            (&json!("web"), &json!(["authorization_code"]))
        );
    }

    #[test]
    fn answers_to_registrations_are_read() {
        let secret = |method| ClientAuthentication::Secret { secret: "s".into(), method };
        for (body, authentication, expiry) in [
            (r#"{"client_id":"c"}"#, ClientAuthentication::None, None),
            (
                r#"{"client_id":"c","token_endpoint_auth_method":"none","client_secret":"s"}"#,
                ClientAuthentication::None,
                None,
            ),
            (r#"{"client_id":"c","client_secret":"s","client_secret_expires_at":0}"#, secret(None), None),
            (
                r#"{"client_id":"c","client_secret":"s","token_endpoint_auth_method":"client_secret_post","client_secret_expires_at":2}"#,
                secret(Some(SecretMethod::Post)),
                Some(2000),
            ),
        ] {
            let client = ClientRegistration::new(Some("https://as"), "c", authentication);
            assert_eq!(read_registered(body.as_bytes(), "https://as"), Ok((client, expiry)), "{body}");
        }
        for body in [
            "",
            "[]",
            "{}",
            r#"{"client_id":1}"#,
            r#"{"client_id":""}"#,
            r#"{"client_id":"c","token_endpoint_auth_method":"client_secret_basic"}"#,
        ] {
            let read = read_registered(body.as_bytes(), "https://as");
            assert_eq!(read, Err(AuthorizationError::InvalidRegistration), "{body}");
        }
    }

    // proves: FEAT-460
    #[test]
    fn refusals_keep_their_words() {
        let body = br#"{"error":"invalid_redirect_uri","error_description":"no\nlocalhost"}"#;
        let error = read_oauth_error(body);
        assert_eq!(
            (&*error.code, error.description.as_deref()),
            ("invalid_redirect_uri", Some("no localhost"))
        );
        assert_eq!(read_oauth_error(b"<html>"), OAuthError::default());
    }
}
