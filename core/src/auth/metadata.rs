//! What metadata documents say, and whether they are to be believed (RFC 9728, RFC 8414, `OpenID` Connect Discovery 1.0).

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use serde_json::{Map, Value};

use super::error::AuthorizationError;
use super::scopes::Scopes;
use super::urls::{Plaintext, covers, legacy_endpoint, usable};

/// Most entries of a list that are looked at.
const MOST_ENTRIES: usize = 64;

/// What is used of protected resource metadata (RFC 9728, section 2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ResourceMetadata {
    /// As it was written.
    pub(super) resource: Box<str>,
    /// Not empty; as they were written.
    pub(super) authorization_servers: Vec<Box<str>>,
    /// Empty if none is named.
    pub(super) scopes: Scopes,
}

/// What is used of authorization server metadata (RFC 8414, section 2).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ServerMetadata {
    /// As it was written.
    pub(super) issuer: Box<str>,
    pub(super) authorization_endpoint: Option<Box<str>>,
    pub(super) token_endpoint: Box<str>,
    pub(super) registration_endpoint: Option<Box<str>>,
    pub(super) scopes: Scopes,
    /// `token_endpoint_auth_methods_supported`; `None` if it says nothing.
    pub(super) auth_methods: Option<Vec<Box<str>>>,
    /// `authorization_response_iss_parameter_supported` (RFC 9207, section 3).
    pub(super) sends_issuer: bool,
    /// `client_id_metadata_document_supported`.
    pub(super) takes_metadata_clients: bool,
    /// `dpop_signing_alg_values_supported` (RFC 9449, section 5.1).
    pub(super) dpop_algorithms: Vec<Box<str>>,
}

/// What a document is worth.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Verdict<T> {
    /// It is used.
    Good(T),
    /// It is not what was looked for: look further. Why, if that tells more than that there was none.
    Next(Option<AuthorizationError>),
    /// It must not be used, and what stands elsewhere neither.
    Refuse(AuthorizationError),
}

/// Judges the metadata of the MCP server at `server_url`.
pub(super) fn judge_resource(
    body: &[u8],
    server_url: &str,
    plaintext: Plaintext,
) -> Verdict<ResourceMetadata> {
    let Some(document) = object(body) else { return Verdict::Next(None) };
    let Some(resource) = text(&document, "resource") else { return Verdict::Next(None) };
    if !covers(resource, server_url, plaintext) {
        return Verdict::Refuse(AuthorizationError::ResourceMismatch { named: clip(resource) });
    }
    let authorization_servers = texts(&document, "authorization_servers").unwrap_or_default();
    if authorization_servers.is_empty() {
        return Verdict::Next(None);
    }
    let scopes = scopes(&document);
    Verdict::Good(ResourceMetadata { resource: resource.into(), authorization_servers, scopes })
}

/// What has to hold for the metadata of an authorization server.
#[derive(Clone, Copy, Debug)]
pub(super) struct Expected<'a> {
    /// Whom it was asked of.
    pub(super) issuer: Issuer<'a>,
    /// Whether a user has to consent there, with PKCE.
    pub(super) is_code_flow: bool,
    pub(super) plaintext: Plaintext,
}

/// Which issuer a document must name.
#[derive(Clone, Copy, Debug)]
pub(super) enum Issuer<'a> {
    /// This one, byte for byte (RFC 8414, section 3.3).
    Exactly(&'a str),
    /// Any at the origin of this MCP server: 2025-03-26 does not say what it is.
    AtOriginOf(&'a str),
}

impl Issuer<'_> {
    fn is(self, named: &str, plaintext: Plaintext) -> bool {
        match self {
            Issuer::Exactly(expected) => expected == named,
            Issuer::AtOriginOf(server) => usable(named, plaintext)
                .zip(usable(server, plaintext))
                .is_some_and(|(named, server)| named.is_same_origin(server)),
        }
    }

    fn text(self) -> Box<str> {
        match self {
            Issuer::Exactly(text) | Issuer::AtOriginOf(text) => clip(text),
        }
    }
}

/// Judges the metadata of an authorization server.
pub(super) fn judge_server(body: &[u8], expected: Expected<'_>) -> Verdict<ServerMetadata> {
    let Some(document) = object(body) else { return Verdict::Next(None) };
    let (Some(issuer), Some(token_endpoint)) = (text(&document, "issuer"), text(&document, "token_endpoint"))
    else {
        return Verdict::Next(None);
    };
    if !expected.issuer.is(issuer, expected.plaintext) {
        let error =
            AuthorizationError::IssuerMismatch { expected: expected.issuer.text(), named: clip(issuer) };
        return Verdict::Next(Some(error));
    }
    let server = ServerMetadata {
        issuer: issuer.into(),
        authorization_endpoint: text(&document, "authorization_endpoint").map(Into::into),
        token_endpoint: token_endpoint.into(),
        registration_endpoint: text(&document, "registration_endpoint").map(Into::into),
        scopes: scopes(&document),
        auth_methods: texts(&document, "token_endpoint_auth_methods_supported"),
        sends_issuer: flag(&document, "authorization_response_iss_parameter_supported"),
        takes_metadata_clients: flag(&document, "client_id_metadata_document_supported"),
        dpop_algorithms: texts(&document, "dpop_signing_alg_values_supported").unwrap_or_default(),
    };
    if expected.is_code_flow && server.authorization_endpoint.is_none() {
        return Verdict::Next(None);
    }
    if let Some(member) = unusable_endpoint(&server, expected.plaintext) {
        return Verdict::Refuse(AuthorizationError::UnusableUrl { member });
    }
    let methods = texts(&document, "code_challenge_methods_supported").unwrap_or_default();
    if expected.is_code_flow && !methods.iter().any(|method| **method == *"S256") {
        return Verdict::Refuse(AuthorizationError::PkceUnsupported);
    }
    Verdict::Good(server)
}

fn unusable_endpoint(server: &ServerMetadata, plaintext: Plaintext) -> Option<&'static str> {
    let endpoints = [
        ("authorization_endpoint", server.authorization_endpoint.as_deref()),
        ("token_endpoint", Some(&*server.token_endpoint)),
        ("registration_endpoint", server.registration_endpoint.as_deref()),
    ];
    let is_unusable = |url: Option<&str>| url.is_some_and(|url| usable(url, plaintext).is_none());
    endpoints.into_iter().find(|(_, url)| is_unusable(*url)).map(|(member, _)| member)
}

/// What holds for an MCP server of 2025-03-26 without metadata (its basic/authorization, Fallbacks for Servers without
/// Metadata).
pub(super) fn legacy_server(server_url: &str, origin: &str) -> Option<ServerMetadata> {
    Some(ServerMetadata {
        issuer: origin.into(),
        authorization_endpoint: legacy_endpoint(server_url, "authorize"),
        token_endpoint: legacy_endpoint(server_url, "token")?,
        registration_endpoint: legacy_endpoint(server_url, "register"),
        ..ServerMetadata::default()
    })
}

/// Reads a JSON object.
pub(super) fn object(body: &[u8]) -> Option<Map<String, Value>> {
    serde_json::from_slice(body).ok()
}

/// A member that is a text and not empty.
pub(super) fn text<'a>(object: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    object.get(name)?.as_str().filter(|text| !text.is_empty())
}

/// A member that is an array: its texts.
fn texts(object: &Map<String, Value>, name: &str) -> Option<Vec<Box<str>>> {
    let entries = object.get(name)?.as_array()?.iter().take(MOST_ENTRIES);
    Some(entries.filter_map(Value::as_str).map(Into::into).collect())
}

fn scopes(document: &Map<String, Value>) -> Scopes {
    let entries = document.get("scopes_supported").and_then(Value::as_array);
    Scopes::of(entries.into_iter().flatten().filter_map(Value::as_str))
}

fn flag(object: &Map<String, Value>, name: &str) -> bool {
    object.get(name).and_then(Value::as_bool).unwrap_or_default()
}

/// The start of what a peer wrote, for an error.
pub(super) fn clip(text: &str) -> Box<str> {
    const MOST: usize = 500;
    text.chars().filter(|c| !c.is_control()).take(MOST).collect::<String>().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use serde_json::json;

    const SERVER: &str = "https://h/mcp";

    fn resource(document: &Value) -> Verdict<ResourceMetadata> {
        judge_resource(format!("{document}").as_bytes(), SERVER, Plaintext::Refused)
    }

    #[test]
    fn what_is_no_document_leads_further() {
        for body in [
            &b""[..],
            b"<html>",
            b"[]",
            b"null",
            b"\"x\"",
            b"{",
            b"\xff{}",
            b"{\"resource\":\"https://h/mcp\"}x",
        ] {
            assert_eq!(judge_resource(body, SERVER, Plaintext::Refused), Verdict::Next(None));
        }
        for document in [
            json!({}),
            json!({"resource": 1, "authorization_servers": ["https://as"]}),
            json!({"resource": "", "authorization_servers": ["https://as"]}),
            json!({"resource": SERVER}),
            json!({"resource": SERVER, "authorization_servers": []}),
            json!({"resource": SERVER, "authorization_servers": "https://as"}),
            json!({"resource": SERVER, "authorization_servers": [1, null]}),
        ] {
            assert_eq!(resource(&document), Verdict::Next(None), "{document}");
        }
    }

    #[test]
    fn what_is_odd_beside_what_counts_does_no_harm() {
        let document = json!({
            "resource": SERVER, "authorization_servers": ["https://as", 7, "https://as/t"], "scopes_supported": ["a", 1, "b c"],
            "x": {"y": []},
        });
        let expected = ResourceMetadata {
            resource: SERVER.into(),
            authorization_servers: Vec::from(["https://as".into(), "https://as/t".into()]),
            scopes: Scopes::read("a"),
        };
        assert_eq!(resource(&document), Verdict::Good(expected));
        let many: Vec<_> = (0..1_000).map(|number| format!("https://as{number}")).collect();
        let Verdict::Good(read) = resource(&json!({"resource": SERVER, "authorization_servers": many}))
        else {
            panic!()
        };
        assert_eq!(read.authorization_servers.len(), MOST_ENTRIES);
    }

    #[test]
    fn what_a_peer_names_is_told_on_one_short_line() {
        let long = format!("https://evil/\u{1b}[31m\n{}", "a".repeat(10_000));
        let verdict = resource(&json!({"resource": long, "authorization_servers": ["https://as"]}));
        let Verdict::Refuse(AuthorizationError::ResourceMismatch { named }) = verdict else { panic!() };
        assert!(named.len() <= 500 && !named.contains(char::is_control), "{named}");
    }

    fn server(change: impl FnOnce(&mut Value), is_code_flow: bool) -> Verdict<ServerMetadata> {
        let mut document = json!({
            "issuer": "https://as", "authorization_endpoint": "https://as/authorize", "token_endpoint": "https://as/token",
            "code_challenge_methods_supported": ["plain", "S256"],
        });
        change(&mut document);
        let issuer = Issuer::Exactly("https://as");
        let expected = Expected { issuer, is_code_flow, plaintext: Plaintext::Refused };
        judge_server(format!("{document}").as_bytes(), expected)
    }

    #[test]
    fn authorization_servers_say_what_they_can() {
        let Verdict::Good(read) = server(|_| {}, true) else { panic!() };
        assert_eq!(read.auth_methods, None);
        assert!(!read.sends_issuer && !read.takes_metadata_clients && read.dpop_algorithms.is_empty());
        let all = |document: &mut Value| {
            document["authorization_response_iss_parameter_supported"] = true.into();
            document["client_id_metadata_document_supported"] = "true".into();
            document["token_endpoint_auth_methods_supported"] = json!([]);
            document["dpop_signing_alg_values_supported"] = json!(["ES256"]);
        };
        let Verdict::Good(read) = server(all, true) else { panic!() };
        // A text is no flag.
        assert!(read.sends_issuer && !read.takes_metadata_clients);
        assert_eq!((read.auth_methods, read.dpop_algorithms.len()), (Some(Vec::new()), 1));
    }

    #[test]
    fn what_is_needed_depends_on_the_grant() {
        let without = |name: &'static str| {
            move |document: &mut Value| {
                document.as_object_mut().unwrap().remove(name);
            }
        };
        for (name, with_user, alone) in [
            ("issuer", Some(Verdict::Next(None)), Some(Verdict::Next(None))),
            ("token_endpoint", Some(Verdict::Next(None)), Some(Verdict::Next(None))),
            ("authorization_endpoint", Some(Verdict::Next(None)), None),
            (
                "code_challenge_methods_supported",
                Some(Verdict::Refuse(AuthorizationError::PkceUnsupported)),
                None,
            ),
        ] {
            for (is_code_flow, expected) in [(true, with_user), (false, alone)] {
                let verdict = server(without(name), is_code_flow);
                match expected {
                    Some(expected) => assert_eq!(verdict, expected, "{name}"),
                    None => assert!(matches!(verdict, Verdict::Good(_)), "{name}"),
                }
            }
        }
    }
}
