//! Which URLs are used, and where metadata stands. URLs are taken apart for checks; what is sent and compared is their text as
//! it came: a URL type that writes them anew turns `https://h` into `https://h/`, which is another issuer.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use crate::transport::http::url::Url;

/// Longest URL that is used, in bytes.
const MOST_BYTES: usize = 4096;

/// Whether http is allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Plaintext {
    /// Never.
    Refused,
    /// On loopback hosts.
    OnLoopback,
}

impl Plaintext {
    /// A server on this machine may use other services of this machine.
    pub(super) fn allowed_by(server_url: &str) -> Plaintext {
        match Url::parse(server_url) {
            Some(url) if !url.is_https() && is_loopback(url.host()) => Plaintext::OnLoopback,
            _ => Plaintext::Refused,
        }
    }
}

/// Takes a URL apart that may be asked, opened or used as an identifier: https or allowed http, without user and fragment
/// (RFC 8414, section 2; RFC 9728, section 1.2; `tutorials/security/security_best_practices`).
pub(super) fn usable(text: &str, plaintext: Plaintext) -> Option<Url<'_>> {
    let url = Url::parse(text).filter(|url| !url.has_user() && !url.has_fragment())?;
    let is_allowed = url.is_https() || (plaintext == Plaintext::OnLoopback && is_loopback(url.host()));
    (is_allowed && text.len() <= MOST_BYTES).then_some(url)
}

/// Whether a host is this machine for certain. Other spellings are not looked at: they are refused.
fn is_loopback(host: &str) -> bool {
    let is_quad = || {
        let mut numbers = host.split('.');
        numbers.next() == Some("127")
            && numbers.clone().count() == 3
            && numbers.all(|number| number.len() <= 3 && number.parse::<u8>().is_ok())
    };
    host.eq_ignore_ascii_case("localhost") || host == "[::1]" || is_quad()
}

/// Whether the user agent may come back there (2026-07-28 basic/authorization/security-considerations, Communication
/// Security; RFC 8252, section 7).
pub(super) fn is_redirect_uri(text: &str) -> bool {
    if Url::parse(text).is_some() {
        return usable(text, Plaintext::OnLoopback).is_some();
    }
    // A scheme of the application's own is a domain name turned round.
    text.split_once(':').is_some_and(|(scheme, rest)| {
        scheme.contains('.') && !rest.is_empty() && !rest.contains('#') && crate::uri::is_uri(text)
    })
}

/// Whether a resource identifier covers the MCP server: the same origin, and a path of which the server's is a part.
pub(super) fn covers(resource: &str, server_url: &str, plaintext: Plaintext) -> bool {
    let (Some(resource), Some(server)) = (usable(resource, plaintext), Url::parse(server_url)) else {
        return false;
    };
    let (ours, theirs) = (server.path().trim_end_matches('/'), resource.path().trim_end_matches('/'));
    let is_below = ours.strip_prefix(theirs).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    let is_same_query = resource.query().is_empty() || resource.query() == server.query();
    resource.is_same_origin(server) && is_below && is_same_query
}

/// The resource identifier of an MCP server that names none (2026-07-28 basic/authorization, Canonical Server URI).
pub(super) fn canonical(server_url: &str) -> &str {
    let text = server_url.split('#').next().unwrap_or(server_url);
    match Url::parse(text) {
        Some(url) if url.path() == "/" && url.query().is_empty() => url.origin(),
        _ => text,
    }
}

const RESOURCE: &str = "/.well-known/oauth-protected-resource";
const SERVER: &str = "/.well-known/oauth-authorization-server";
const OPENID: &str = "/.well-known/openid-configuration";

/// Where the metadata of an MCP server may stand, in the order in which it is looked for (2026-07-28
/// basic/authorization/authorization-server-discovery, Protected Resource Metadata Discovery Requirements).
pub(super) fn resource_metadata(server_url: &str, announced: Option<&str>) -> Vec<Box<str>> {
    let Some(url) = Url::parse(server_url) else { return Vec::new() };
    let path = url.path().trim_end_matches('/');
    let with_path = (!path.is_empty()).then(|| [url.origin(), RESOURCE, path].concat());
    let mut candidates: Vec<Box<str>> = announced.into_iter().map(Into::into).collect();
    for candidate in with_path.into_iter().chain([[url.origin(), RESOURCE].concat()]) {
        if announced != Some(&candidate) {
            candidates.push(candidate.into());
        }
    }
    candidates
}

/// Where the metadata of an issuer may stand, in order (the same page, Authorization Server Metadata Discovery).
pub(super) fn server_metadata(issuer: Url<'_>) -> Vec<Box<str>> {
    let path = issuer.path().trim_end_matches('/');
    let insert = |suffix: &str| [issuer.origin(), suffix, path].concat().into();
    let mut candidates = Vec::from([insert(SERVER), insert(OPENID)]);
    if !path.is_empty() {
        candidates.push([issuer.origin(), path, OPENID].concat().into());
    }
    candidates
}

/// Where 2025-03-26 has the metadata of an authorization server: at the origin of the MCP server.
pub(super) fn legacy_server_metadata(server_url: &str) -> Option<Box<str>> {
    Some([Url::parse(server_url)?.origin(), SERVER].concat().into())
}

/// Endpoints at the origin of the MCP server (2025-03-26 basic/authorization, Fallbacks for Servers without Metadata).
pub(super) fn legacy_endpoint(server_url: &str, name: &str) -> Option<Box<str>> {
    Some([Url::parse(server_url)?.origin(), "/", name].concat().into())
}

/// Where protected resource metadata is served (RFC 9728, section 3.1): behind the path of the resource, and at the root.
pub(super) fn resource_metadata_paths(resource: Url<'_>) -> Vec<Box<str>> {
    let path = resource.path().trim_end_matches('/');
    let mut paths = Vec::from([Box::from([RESOURCE, path].concat())]);
    if !path.is_empty() {
        paths.push(RESOURCE.into());
    }
    paths
}

/// Appends `application/x-www-form-urlencoded` pairs to `out` (WHATWG URL, section 5.2).
pub(super) fn write_form<'a>(out: &mut String, pairs: impl IntoIterator<Item = (&'a str, &'a str)>) {
    for (name, value) in pairs {
        if !(out.is_empty() || out.ends_with(['?', '&'])) {
            out.push('&');
        }
        encode(out, name);
        out.push('=');
        encode(out, value);
    }
}

/// Form-encodes one text.
pub(super) fn encode(out: &mut String, text: &str) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    for byte in text.bytes() {
        match byte {
            b' ' => out.push('+'),
            b'*' | b'-' | b'.' | b'_' => out.push(char::from(byte)),
            _ if byte.is_ascii_alphanumeric() => out.push(char::from(byte)),
            _ => {
                out.push('%');
                // A half of a byte is below 16.
                out.push(char::from(DIGITS[usize::from(byte >> 4)]));
                out.push(char::from(DIGITS[usize::from(byte & 15)]));
            }
        }
    }
}

/// Undoes [`encode`]. `None` if that gives no UTF-8. A percent sign without two digits stands for itself.
pub(super) fn decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, behind)) = rest.split_first() {
        rest = behind;
        match (byte, behind) {
            (b'+', _) => bytes.push(b' '),
            (b'%', [high, low, after @ ..]) => match (digit(*high), digit(*low)) {
                (Some(high), Some(low)) => {
                    bytes.push(high << 4 | low);
                    rest = after;
                }
                _ => bytes.push(byte),
            },
            _ => bytes.push(byte),
        }
    }
    String::from_utf8(bytes).ok()
}

fn digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

#[cfg(test)]
mod tests {
    use super::Plaintext::{OnLoopback, Refused};
    use super::*;

    // proves: FEAT-655 FEAT-670 FEAT-671 FEAT-672
    #[test]
    fn only_https_and_allowed_loopback_are_usable() {
        for (url, plaintext, expected) in [
            ("https://h", Refused, true),
            ("HTTPS://H:8443/p?q", Refused, true),
            ("http://h", OnLoopback, false),
            ("http://localhost:80/p", OnLoopback, true),
            ("http://LOCALHOST", OnLoopback, true),
            ("http://127.9.0.1:1", OnLoopback, true),
            ("http://[::1]:1/p", OnLoopback, true),
            ("http://localhost", Refused, false),
            ("http://127.0.0.1.evil.example", OnLoopback, false),
            ("http://127.1", OnLoopback, false),
            ("http://127.0.0.0001", OnLoopback, false),
            ("http://localhost.evil.example", OnLoopback, false),
            ("http://[::2]", OnLoopback, false),
            ("https://u@h", Refused, false),
            ("https://localhost@h", Refused, false),
            ("https://h/#f", Refused, false),
            ("javascript:alert(1)", OnLoopback, false),
            ("data:text/html,x", OnLoopback, false),
            ("file:///etc/passwd", OnLoopback, false),
            ("vbscript:x", OnLoopback, false),
            ("ftp://h", OnLoopback, false),
            ("https://h\\@evil.example", Refused, false),
            ("https:h", Refused, false),
            ("", Refused, false),
        ] {
            assert_eq!(usable(url, plaintext).is_some(), expected, "{url}");
        }
        assert!(usable(&["https://h/", &"a".repeat(MOST_BYTES)].concat(), Refused).is_none());
        assert_eq!(Plaintext::allowed_by("http://127.0.0.1/mcp"), OnLoopback);
        assert_eq!(Plaintext::allowed_by("https://127.0.0.1/mcp"), Refused);
        assert_eq!(Plaintext::allowed_by("http://h/mcp"), Refused);
    }

    // proves: FEAT-471
    #[test]
    fn user_agents_come_back_by_https_to_this_machine_or_to_an_application() {
        for uri in [
            "http://localhost/cb",
            "http://127.0.0.1:3000/cb",
            "http://[::1]:1/cb",
            "https://app.example/cb",
            "com.example.app:/cb",
        ] {
            assert!(is_redirect_uri(uri), "{uri}");
        }
        for uri in [
            "http://app.example/cb",
            "https://app.example/cb#f",
            "javascript:alert(1)",
            "app:/cb",
            "com.example.app:",
            "/cb",
            "",
        ] {
            assert!(!is_redirect_uri(uri), "{uri}");
        }
    }

    #[test]
    fn a_resource_covers_its_origin_and_what_is_below_its_path() {
        for (resource, server, expected) in [
            ("https://h/mcp", "https://h/mcp", true),
            ("https://h", "https://h/mcp", true),
            ("https://h/", "https://h/a/b", true),
            ("https://h/mcp/", "https://h/mcp", true),
            ("https://h/mcp", "https://h/mcp/", true),
            ("HTTPS://H:443/mcp", "https://h/mcp?x=1", true),
            ("https://h/mcp?x=1", "https://h/mcp?x=1", true),
            ("https://h/mcp?x=2", "https://h/mcp?x=1", false),
            ("https://h/mc", "https://h/mcp", false),
            ("https://h/mcp/x", "https://h/mcp", false),
            ("https://h/MCP", "https://h/mcp", false),
            ("https://h:8443/mcp", "https://h/mcp", false),
            ("http://h/mcp", "https://h/mcp", false),
            ("https://evil.example/mcp", "https://h/mcp", false),
            ("https://h.evil.example/mcp", "https://h/mcp", false),
            ("https://u@h/mcp", "https://h/mcp", false),
            ("https://h/mcp#f", "https://h/mcp", false),
            ("h/mcp", "https://h/mcp", false),
        ] {
            assert_eq!(covers(resource, server, Refused), expected, "{resource} {server}");
        }
    }

    // proves: FEAT-477 FEAT-478 FEAT-479
    #[test]
    fn canonical_uris_have_no_fragment_and_no_useless_slash() {
        for (url, expected) in [
            ("https://h", "https://h"),
            ("https://h/", "https://h"),
            ("HTTPS://H:8443/", "HTTPS://H:8443"),
            ("https://h/mcp#x", "https://h/mcp"),
            ("https://h/mcp/", "https://h/mcp/"),
            ("https://h/?a", "https://h/?a"),
        ] {
            assert_eq!(canonical(url), expected, "{url}");
        }
    }

    // proves: FEAT-440
    #[test]
    fn resource_metadata_is_looked_for_in_order() {
        let all = |url, announced| resource_metadata(url, announced).join(" ");
        let inserted = "https://h:1/.well-known/oauth-protected-resource/a/b";
        let root = "https://h:1/.well-known/oauth-protected-resource";
        assert_eq!(all("https://h:1/a/b?q#f", None), [inserted, root].join(" "));
        assert_eq!(all("https://h:1/a/b/", None), [inserted, root].join(" "));
        assert_eq!(all("https://h:1/", None), root);
        assert_eq!(all("https://h:1", None), root);
        assert_eq!(all("https://h:1/a/b", Some("https://x/m")), ["https://x/m", inserted, root].join(" "));
        assert_eq!(all("https://h:1/a/b", Some(inserted)), [inserted, root].join(" "));
        assert_eq!(all("https://h:1/a/b", Some(root)), [root, inserted].join(" "));
    }

    // proves: FEAT-443 FEAT-444
    #[test]
    fn server_metadata_is_looked_for_in_order() {
        let all = |issuer| server_metadata(Url::parse(issuer).unwrap()).join(" ");
        let rootless =
            "https://h/.well-known/oauth-authorization-server https://h/.well-known/openid-configuration";
        assert_eq!(all("https://h"), rootless);
        assert_eq!(all("https://h/"), rootless);
        let tenant = "https://h/.well-known/oauth-authorization-server/t https://h/.well-known/openid-configuration/t \
                      https://h/t/.well-known/openid-configuration";
        assert_eq!(all("https://h/t"), tenant);
        assert_eq!(all("https://h/t/"), tenant);
    }

    // proves: FEAT-434 FEAT-435
    #[test]
    fn older_servers_have_their_endpoints_at_the_origin() {
        let url = "https://h:1/a/b?q";
        let metadata = "https://h:1/.well-known/oauth-authorization-server";
        assert_eq!(legacy_server_metadata(url).as_deref(), Some(metadata));
        assert_eq!(legacy_endpoint(url, "token").as_deref(), Some("https://h:1/token"));
    }

    #[test]
    fn forms_are_written_and_read() {
        let mut out = String::from("https://h/?");
        write_form(&mut out, [("a b", "ü&=+"), ("c", "https://h/"), ("d", "*-._~")]);
        assert_eq!(out, "https://h/?a+b=%C3%BC%26%3D%2B&c=https%3A%2F%2Fh%2F&d=*-._%7E");
        for (text, expected) in [
            ("a%20b+c", Some("a b c")),
            ("%C3%BC", Some("ü")),
            ("%c3%bc", Some("ü")),
            ("%", Some("%")),
            ("%2", Some("%2")),
            ("%zz%41", Some("%zzA")),
            ("%+1", Some("% 1")),
            ("%ff", None),
        ] {
            assert_eq!(decode(text).as_deref(), expected, "{text}");
        }
    }
}
