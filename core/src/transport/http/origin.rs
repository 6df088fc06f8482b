//! Who may ask: the `Origin` and `Host` of a request against what is allowed, and the headers that let the scripts of
//! an allowed origin read the answer (Fetch, section 3.3).

use alloc::borrow::{Cow, ToOwned};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use super::headers::{self, Headers};
use crate::machine::HeaderValue;

/// The names of this machine's own interface.
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// The origin of pages that have none, such as local files and sandboxed frames.
const OPAQUE: &str = "null";

/// Seconds for which a browser may keep the answer to a preflight; none keeps it for longer.
const MAX_AGE: &str = "7200";

/// Which pages and which names of the server a request may come from and go to.
///
/// A browser tells with each request which origin the page has that made it, and under which name it reached the
/// server. A server that asks for neither can be used by any page the user visits, even when it listens on the
/// loopback interface only (DNS rebinding; basic/transports, Security Warning). Requests without `Origin` come from
/// no page and pass. `Host` has to be there: a host that speaks HTTP/2 passes `:authority` on as `Host`.
///
/// ```
/// use barewire::transport::http::OriginPolicy;
///
/// let local = OriginPolicy::loopback();
/// let public = OriginPolicy::closed().with_origin("https://app.example")?.with_host("mcp.example")?;
/// # let _ = (local, public);
/// # Ok::<(), barewire::transport::http::InvalidOrigin>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OriginPolicy {
    origins: Rule,
    hosts: Rule,
}

/// What one header may hold.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Rule {
    Any,
    Listed {
        /// The names of the loopback interface too, with any port.
        loopback: bool,
        /// In lower case, without a port that is the default.
        listed: Vec<Box<str>>,
    },
}

/// A text that cannot be an entry of an [`OriginPolicy`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidOrigin {
    text: Box<str>,
    expected: &'static str,
}

impl fmt::Display for InvalidOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} is not {}", self.text, self.expected)
    }
}

impl core::error::Error for InvalidOrigin {}

/// Why a request may not come in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Intruder {
    Origin,
    Host,
}

impl Default for OriginPolicy {
    /// [`loopback`](Self::loopback).
    fn default() -> Self {
        OriginPolicy::loopback()
    }
}

impl OriginPolicy {
    /// For a server that listens on the loopback interface: pages and names at `localhost`, `127.0.0.1` and `[::1]`, by
    /// `http` or `https`, with any port.
    pub fn loopback() -> OriginPolicy {
        OriginPolicy { origins: Rule::listed(true), hosts: Rule::listed(true) }
    }

    /// Nothing but what is added, and requests without `Origin`.
    pub fn closed() -> OriginPolicy {
        OriginPolicy { origins: Rule::listed(false), hosts: Rule::listed(false) }
    }

    /// Allows the pages of `origin` as well: `scheme://host` or `scheme://host:port`, no port meaning the one that the
    /// scheme has by default; or `null` for pages without an origin.
    ///
    /// # Errors
    /// [`InvalidOrigin`] if `origin` is none of these.
    pub fn with_origin(mut self, origin: &str) -> Result<OriginPolicy, InvalidOrigin> {
        let expected = "an origin such as https://app.example:8443";
        let entry = normal_origin(origin).ok_or_else(|| InvalidOrigin { text: origin.into(), expected })?;
        self.origins.add(entry);
        Ok(self)
    }

    /// Allows the server to be reached as `host` as well: a name or address, an IPv6 one in brackets, with any port if
    /// it names none.
    ///
    /// # Errors
    /// [`InvalidOrigin`] if `host` is neither.
    pub fn with_host(mut self, host: &str) -> Result<OriginPolicy, InvalidOrigin> {
        let expected = "a host such as mcp.example or mcp.example:8443";
        let entry = Authority::read(host).map(|_| host.to_ascii_lowercase());
        self.hosts.add(entry.ok_or_else(|| InvalidOrigin { text: host.into(), expected })?);
        Ok(self)
    }

    /// Allows the pages of every origin. The server is then open to whatever page a user visits.
    #[must_use]
    pub fn with_any_origin(mut self) -> OriginPolicy {
        self.origins = Rule::Any;
        self
    }

    /// Allows the server to be reached under every name, as one behind a proxy is that checks names itself.
    #[must_use]
    pub fn with_any_host(mut self) -> OriginPolicy {
        self.hosts = Rule::Any;
        self
    }

    /// Whether a request with these headers may come in; the origin of the page it comes from, if it comes from one.
    pub(crate) fn admit<'a>(&self, headers: Headers<'a>) -> Result<Option<&'a str>, Intruder> {
        if !self.allows_host(headers.single(headers::HOST)) {
            return Err(Intruder::Host);
        }
        match headers.single(headers::ORIGIN) {
            HeaderValue::Absent => Ok(None),
            HeaderValue::Once(origin) if self.allows_origin(origin) => Ok(Some(origin)),
            HeaderValue::Once(_) | HeaderValue::Repeated => Err(Intruder::Origin),
        }
    }

    fn allows_origin(&self, origin: &str) -> bool {
        let Rule::Listed { loopback, listed } = &self.origins else { return true };
        let Some(origin) = normal_origin(origin) else { return false };
        let local = || {
            let authority = ["http://", "https://"].iter().find_map(|scheme| origin.strip_prefix(scheme));
            authority.and_then(Authority::read).is_some_and(Authority::is_loopback)
        };
        listed.iter().any(|entry| **entry == *origin) || *loopback && local()
    }

    fn allows_host(&self, host: HeaderValue<'_>) -> bool {
        let Rule::Listed { loopback, listed } = &self.hosts else { return true };
        let HeaderValue::Once(host) = host else { return false };
        let Some(authority) = Authority::read(host) else { return false };
        let same = |entry: &Authority<'_>| {
            entry.host.eq_ignore_ascii_case(authority.host)
                && (entry.port.is_none() || entry.port == authority.port)
        };
        *loopback && authority.is_loopback()
            || listed.iter().filter_map(|entry| Authority::read(entry)).any(|entry| same(&entry))
    }
}

impl Rule {
    const fn listed(loopback: bool) -> Rule {
        Rule::Listed { loopback, listed: Vec::new() }
    }

    /// Adds an entry; where all is allowed already there is nothing to add.
    fn add(&mut self, entry: String) {
        if let Rule::Listed { listed, .. } = self {
            listed.push(entry.into_boxed_str());
        }
    }
}

/// `host` or `host:port`.
#[derive(Clone, Copy)]
struct Authority<'a> {
    /// An IPv6 address has its brackets.
    host: &'a str,
    port: Option<u16>,
}

impl<'a> Authority<'a> {
    fn read(text: &'a str) -> Option<Authority<'a>> {
        let end =
            if text.starts_with('[') { text.find(']')? + 1 } else { text.find(':').unwrap_or(text.len()) };
        let (host, rest) = text.split_at_checked(end)?;
        let port = match rest.strip_prefix(':') {
            Some(digits) if digits.bytes().all(|digit| digit.is_ascii_digit()) => Some(digits.parse().ok()?),
            None if rest.is_empty() => None,
            _ => return None,
        };
        is_host(host).then_some(Authority { host, port })
    }

    fn is_loopback(self) -> bool {
        LOOPBACK.iter().any(|name| name.eq_ignore_ascii_case(self.host))
    }
}

/// Whether `host` consists of what a name, an IPv4 address or an IPv6 address in brackets consists of.
fn is_host(host: &str) -> bool {
    match host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        Some(address) => {
            address.contains(':')
                && address.bytes().all(|byte| byte.is_ascii_hexdigit() || b":.".contains(&byte))
        }
        None => {
            !host.is_empty()
                && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte))
        }
    }
}

/// An origin in lower case, without a port that its scheme has by default; `None` for what is no origin.
fn normal_origin(origin: &str) -> Option<String> {
    if origin == OPAQUE {
        return Some(OPAQUE.to_owned());
    }
    let (scheme, authority) = origin.split_once("://")?;
    let is_scheme = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    let port = Authority::read(authority)?.port;
    let mut normal = is_scheme.then(|| origin.to_ascii_lowercase())?;
    let default = match &*scheme.to_ascii_lowercase() {
        "http" => Some(80),
        "https" => Some(443),
        _ => None,
    };
    if port.is_some() && port == default {
        // The authority was read, so that its port is what follows the last colon.
        normal.truncate(normal.rfind(':').unwrap_or(normal.len()));
    }
    Some(normal)
}

/// A header of an answer.
pub(crate) type Header = (&'static str, Cow<'static, str>);

/// What goes with every answer to a page of `origin`, which was allowed.
pub(crate) fn sharing(origin: &str) -> [Header; 3] {
    [
        (headers::ALLOW_ORIGIN, Cow::Owned(origin.to_owned())),
        (headers::EXPOSE_HEADERS, Cow::Borrowed(headers::READ_BY_SCRIPTS)),
        (headers::VARY, Cow::Borrowed(headers::ORIGIN)),
    ]
}

/// Whether an `OPTIONS` request with these headers is the question of a browser whether a script may ask.
pub(crate) fn is_preflight(request: Headers<'_>) -> bool {
    request.first(headers::ORIGIN).is_some() && request.first(headers::REQUEST_METHOD).is_some()
}

/// What goes with the empty answer to the preflight `request` of a page of `origin`, which was allowed, at an endpoint
/// that takes `methods`, such as `POST, GET`.
pub(crate) fn preflight(origin: &str, methods: &'static str, request: Headers<'_>) -> [Header; 5] {
    let mut allowed = headers::SENT_BY_SCRIPTS.to_owned();
    // There is no pattern for a prefix, so that each header for an argument is named.
    let asked = request.all(headers::REQUEST_HEADERS).flat_map(|names| names.split(','));
    for name in asked.map(str::trim).filter(|name| is_param_header(name)) {
        allowed.push_str(", ");
        allowed.push_str(name);
    }
    [
        (headers::ALLOW_ORIGIN, Cow::Owned(origin.to_owned())),
        (headers::ALLOW_METHODS, Cow::Borrowed(methods)),
        (headers::ALLOW_HEADERS, Cow::Owned(allowed)),
        (headers::MAX_AGE, Cow::Borrowed(MAX_AGE)),
        (headers::VARY, Cow::Borrowed(headers::ORIGIN)),
    ]
}

fn is_param_header(name: &str) -> bool {
    name.split_at_checked(headers::PARAM_PREFIX.len()).is_some_and(|(prefix, param)| {
        prefix.eq_ignore_ascii_case(headers::PARAM_PREFIX) && crate::mirror::is_token(param)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;
    use alloc::vec;

    fn admitted(policy: &OriginPolicy, host: Option<&str>, origin: Option<&str>) -> Result<(), Intruder> {
        let mut list = Vec::new();
        list.extend(host.map(|host| ("Host", host)));
        list.extend(origin.map(|origin| ("Origin", origin)));
        policy.admit(Headers::new(&list)).map(|found| assert_eq!(found, origin))
    }

    // proves: BASE-182 BASE-197
    #[test]
    fn a_local_server_is_open_to_local_pages_and_names() {
        let policy = OriginPolicy::default();
        for host in ["localhost", "LOCALHOST:3000", "127.0.0.1:80", "[::1]", "[::1]:8080"] {
            assert_eq!(admitted(&policy, Some(host), None), Ok(()), "{host}");
        }
        let foreign = [
            "",
            "evil.example",
            "evil.example:3000",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "localhost:",
            "localhost:x",
            "localhost:99999",
            "localhost:80:80",
            "user@localhost",
            "[::1",
            "[::1]x",
            "[]",
            "::1",
            "localhost, evil.example",
            "127.0.0.2",
            "0.0.0.0",
        ];
        for host in foreign {
            assert_eq!(admitted(&policy, Some(host), None), Err(Intruder::Host), "{host}");
        }
        assert_eq!(admitted(&policy, None, None), Err(Intruder::Host));
        let host = Some("localhost:3000");
        for origin in
            ["http://localhost", "https://LocalHost:5173", "http://127.0.0.1:6274", "http://[::1]:1"]
        {
            assert_eq!(admitted(&policy, host, Some(origin)), Ok(()), "{origin}");
        }
        let foreign = [
            "",
            "null",
            "http://evil.example",
            "http://localhost.evil.example",
            "http://evil.example/localhost",
            "localhost",
            "http://",
            "http://localhost/",
            "ftp://localhost",
            "http://localhost@evil.example",
            "http://localhost:",
            "file://",
            "http://localhost http://evil.example",
            "https://127.0.0.1.evil.example",
        ];
        for origin in foreign {
            assert_eq!(admitted(&policy, host, Some(origin)), Err(Intruder::Origin), "{origin}");
        }
    }

    #[test]
    fn lists_are_exact() {
        let policy = OriginPolicy::closed()
            .with_origin("https://App.example")
            .and_then(|policy| policy.with_origin("http://app.example:8080"))
            .and_then(|policy| policy.with_origin("vscode-webview://panel"))
            .and_then(|policy| policy.with_host("mcp.Example"))
            .and_then(|policy| policy.with_host("other.example:8443"))
            .unwrap();
        let host = Some("mcp.example:99");
        for origin in [
            "https://app.example",
            "https://APP.example:443",
            "http://app.example:8080",
            "vscode-webview://panel",
        ] {
            assert_eq!(admitted(&policy, host, Some(origin)), Ok(()), "{origin}");
        }
        for origin in [
            "http://app.example",
            "https://app.example:8443",
            "https://x.app.example",
            "null",
            "http://localhost",
        ] {
            assert_eq!(admitted(&policy, host, Some(origin)), Err(Intruder::Origin), "{origin}");
        }
        assert_eq!(admitted(&policy, Some("OTHER.example:8443"), None), Ok(()));
        for host in ["other.example", "other.example:80", "localhost"] {
            assert_eq!(admitted(&policy, Some(host), None), Err(Intruder::Host), "{host}");
        }
    }

    #[test]
    fn what_is_open_to_all_was_opened_in_so_many_words() {
        let open = OriginPolicy::loopback().with_any_origin();
        assert_eq!(admitted(&open, Some("localhost"), Some("http://evil.example")), Ok(()));
        assert_eq!(admitted(&open, Some("evil.example"), None), Err(Intruder::Host));
        let behind_a_proxy = OriginPolicy::closed().with_any_host();
        assert_eq!(admitted(&behind_a_proxy, None, None), Ok(()));
        assert_eq!(admitted(&behind_a_proxy, Some("x"), Some("http://localhost")), Err(Intruder::Origin));
        let opaque = OriginPolicy::closed().with_any_host().with_origin("null").unwrap();
        assert_eq!(admitted(&opaque, None, Some("null")), Ok(()));
    }

    #[test]
    fn what_stands_twice_is_refused() {
        let policy = OriginPolicy::loopback();
        let twice = [("host", "localhost"), ("Host", "localhost")];
        assert_eq!(policy.admit(Headers::new(&twice)), Err(Intruder::Host));
        let twice = [("host", "localhost"), ("origin", "http://localhost"), ("Origin", "http://localhost")];
        assert_eq!(policy.admit(Headers::new(&twice)), Err(Intruder::Origin));
    }

    #[test]
    fn entries_are_checked() {
        for origin in
            ["", "app.example", "https://", "https://app.example/", "https://a b", "1a://b", "https://a:x"]
        {
            let refused = OriginPolicy::closed().with_origin(origin).unwrap_err();
            assert!(refused.to_string().contains("is not an origin"), "{refused}");
        }
        for host in ["", "https://mcp.example", "a/b", "::1", "a:b", "*"] {
            let refused = OriginPolicy::closed().with_host(host).unwrap_err();
            assert!(refused.to_string().contains("is not a host"), "{refused}");
        }
    }

    #[test]
    fn an_allowed_page_may_read_the_answer() {
        let expected = [
            ("access-control-allow-origin", Cow::Borrowed("https://app.example")),
            ("access-control-expose-headers", "mcp-session-id, www-authenticate, retry-after".into()),
            ("vary", "origin".into()),
        ];
        assert_eq!(sharing("https://app.example"), expected);
    }

    #[test]
    fn a_preflight_names_what_a_client_sends() {
        let asked = "content-type, Mcp-Param-Region,x-other, mcp-param-, mcp-param-a b";
        let list = vec![
            ("origin", "https://app.example"),
            ("access-control-request-method", "POST"),
            ("access-control-request-headers", asked),
        ];
        assert!(is_preflight(Headers::new(&list)) && !is_preflight(Headers::new(&list[..1])));
        let [allow_origin, methods, names, age, vary] =
            preflight("https://app.example", "POST, GET", Headers::new(&list));
        assert_eq!(allow_origin, ("access-control-allow-origin", "https://app.example".into()));
        assert_eq!(methods, ("access-control-allow-methods", "POST, GET".into()));
        let expected = "accept, authorization, content-type, last-event-id, mcp-protocol-version, mcp-session-id, \
                        mcp-method, mcp-name, Mcp-Param-Region";
        assert_eq!(names, ("access-control-allow-headers", expected.into()));
        assert_eq!(age, ("access-control-max-age", "7200".into()));
        assert_eq!(vary, ("vary", "origin".into()));
    }
}
