//! The little of RFC 3986 that HTTP+SSE and authorization need: the parts of a URL, where a reference leads, and whether two
//! URLs share an origin. URLs stay as they were written.

use alloc::string::String;

/// The parts of an http or https URL, as they stand in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Url<'a> {
    text: &'a str,
    is_https: bool,
    /// User, host and port.
    authority: &'a str,
    /// From the slash on; may be empty.
    path: &'a str,
    /// With the question mark; may be empty.
    query: &'a str,
}

impl<'a> Url<'a> {
    /// Takes an absolute URL apart. `None` if it is none of http or https, has no host, or holds what a URL cannot
    /// hold: readers of URLs disagree about where such a one leads.
    pub(crate) fn parse(text: &'a str) -> Option<Url<'a>> {
        let (scheme, rest) = text.split_once("://")?;
        let is_https = scheme.eq_ignore_ascii_case("https");
        if !(is_https || scheme.eq_ignore_ascii_case("http")) || !is_sound(text) {
            return None;
        }
        let (authority, rest) = split_before(rest, &['/', '?', '#']);
        let (rest, _fragment) = split_before(rest, &['#']);
        let (path, query) = split_before(rest, &['?']);
        let url = Url { text, is_https, authority, path, query };
        let (host, port) = url.host_and_port();
        let is_port = port.bytes().all(|byte| byte.is_ascii_digit());
        (!host.is_empty() && is_port && authority.is_ascii()).then_some(url)
    }

    /// Whether both have the same scheme, host and port (RFC 6454, section 5).
    pub(crate) fn is_same_origin(self, other: Url<'_>) -> bool {
        self.is_https == other.is_https
            && self.host_and_port().0.eq_ignore_ascii_case(other.host_and_port().0)
            && self.port() == other.port()
    }

    pub(crate) const fn is_https(self) -> bool {
        self.is_https
    }

    /// The scheme, host and port, as they were written.
    pub(crate) fn origin(self) -> &'a str {
        // Scheme, colon, two slashes and authority stand at the start of the text.
        &self.text[..self.scheme().len() + "//".len() + self.authority.len()]
    }

    /// From the slash on; may be empty.
    pub(crate) const fn path(self) -> &'a str {
        self.path
    }

    /// With the question mark; may be empty.
    pub(crate) const fn query(self) -> &'a str {
        self.query
    }

    /// Without user and port; an IPv6 address is in brackets.
    pub(crate) fn host(self) -> &'a str {
        self.host_and_port().0
    }

    pub(crate) fn has_user(self) -> bool {
        self.authority.contains('@')
    }

    pub(crate) fn has_fragment(self) -> bool {
        self.text.contains('#')
    }

    /// Where `reference` leads from here (RFC 3986, section 5.2), its fragment left out. `None` if that is no URL of
    /// this origin, or could be read as one of another.
    pub(crate) fn resolve(self, reference: &str) -> Option<String> {
        let (reference, _fragment) = split_before(reference, &['#']);
        if !is_sound(reference) {
            return None;
        }
        let target = self.join(reference);
        let parsed = Url::parse(&target)?;
        let names_user = parsed.authority.contains('@') && parsed.authority != self.authority;
        (self.is_same_origin(parsed) && !names_user).then_some(target)
    }

    fn join(self, reference: &str) -> String {
        let (before, rest) = split_before(reference, &[':', '/', '?']);
        if rest.starts_with(':') && is_scheme(before) {
            return reference.into();
        }
        if reference.starts_with("//") {
            return [self.scheme(), reference].concat();
        }
        let (path, query) = split_before(reference, &['?']);
        let start = [self.scheme(), "//", self.authority].concat();
        if path.is_empty() {
            let query = if query.is_empty() { self.query } else { query };
            return [start.as_str(), self.path, query].concat();
        }
        let folder = self.path.rfind('/').map_or("/", |last| &self.path[..=last]);
        let merged = if path.starts_with('/') { path.into() } else { [folder, path].concat() };
        [start.as_str(), &without_dot_segments(&merged), query].concat()
    }

    /// With the colon, as it was written.
    fn scheme(self) -> &'a str {
        let end = if self.is_https { "https:".len() } else { "http:".len() };
        // The text starts with one of these.
        &self.text[..end]
    }

    /// The port may be empty.
    fn host_and_port(self) -> (&'a str, &'a str) {
        let at = self.authority.rfind('@').map_or(0, |at| at + 1);
        let place = &self.authority[at..];
        // Colons within brackets belong to an IPv6 address.
        let host_end = place.rfind(']').map_or(0, |end| end + 1);
        match place[host_end..].find(':') {
            Some(colon) => (&place[..host_end + colon], &place[host_end + colon + 1..]),
            None => (place, ""),
        }
    }

    /// The port without leading zeros, or the one that the scheme stands for.
    fn port(self) -> &'a str {
        match self.host_and_port().1.trim_start_matches('0') {
            "" if self.is_https => "443",
            "" => "80",
            port => port,
        }
    }
}

/// `text` up to the first of `marks`, and from there on.
fn split_before<'a>(text: &'a str, marks: &[char]) -> (&'a str, &'a str) {
    text.split_at(text.find(marks).unwrap_or(text.len()))
}

/// Whether a URL holds nothing that RFC 3986 forbids in ASCII. A backslash is the worst: some take it for a slash.
fn is_sound(text: &str) -> bool {
    !text.bytes().any(|byte| byte <= b' ' || byte == 0x7f || b"\\\"<>^`{|}".contains(&byte))
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
}

/// An absolute path without `.` and `..` (RFC 3986, section 5.2.4).
fn without_dot_segments(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    let mut segments = path.split('/').skip(1).peekable();
    while let Some(segment) = segments.next() {
        let is_last = segments.peek().is_none();
        match segment {
            ".." => out.truncate(out.rfind('/').unwrap_or(0)),
            "." => {}
            _ => {
                out.push('/');
                out.push_str(segment);
                continue;
            }
        }
        if is_last {
            out.push('/');
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_sound_http_urls_are_taken() {
        for url in ["http://h", "https://h/", "HTTP://H:80/p?q#f", "http://[::1]:8080/mcp", "http://u:p@h/"] {
            assert!(Url::parse(url).is_some(), "{url}");
        }
        for url in [
            "",
            "h",
            "/p",
            "ftp://h",
            "http:/h",
            "http://",
            "http:///p",
            "http://:80",
            "http://h:x/",
            "http://h/a b",
            "http://h\\@evil/",
            "http://h/\r\nx: y",
            "http://é/",
            "file:///p",
            "http://[::1]x:80y",
        ] {
            assert_eq!(Url::parse(url), None, "{url}");
        }
    }

    // RFC 3986, section 5.4, as far as the results stay within the origin.
    #[test]
    fn references_lead_where_the_standard_says() {
        let base = Url::parse("http://a/b/c/d;p?q").unwrap();
        let cases = [
            ("g", "http://a/b/c/g"),
            ("./g", "http://a/b/c/g"),
            ("g/", "http://a/b/c/g/"),
            ("/g", "http://a/g"),
            ("//a/g", "http://a/g"),
            ("?y", "http://a/b/c/d;p?y"),
            ("g?y", "http://a/b/c/g?y"),
            ("#s", "http://a/b/c/d;p?q"),
            ("g#s", "http://a/b/c/g"),
            ("g?y#s", "http://a/b/c/g?y"),
            (";x", "http://a/b/c/;x"),
            ("g;x", "http://a/b/c/g;x"),
            ("", "http://a/b/c/d;p?q"),
            (".", "http://a/b/c/"),
            ("./", "http://a/b/c/"),
            ("..", "http://a/b/"),
            ("../", "http://a/b/"),
            ("../g", "http://a/b/g"),
            ("../..", "http://a/"),
            ("../../g", "http://a/g"),
            ("../../../g", "http://a/g"),
            ("/./g", "http://a/g"),
            ("/../g", "http://a/g"),
            ("g.", "http://a/b/c/g."),
            (".g", "http://a/b/c/.g"),
            ("..g", "http://a/b/c/..g"),
            ("./../g", "http://a/b/g"),
            ("./g/.", "http://a/b/c/g/"),
            ("g/./h", "http://a/b/c/g/h"),
            ("g/../h", "http://a/b/c/h"),
            ("g;x=1/../y", "http://a/b/c/y"),
            ("g?y/../x", "http://a/b/c/g?y/../x"),
            ("/a:b", "http://a/a:b"),
            ("/m?s=http://x/", "http://a/m?s=http://x/"),
            ("http://a/other", "http://a/other"),
            ("HTTP://A:80/other", "HTTP://A:80/other"),
        ];
        for (reference, expected) in cases {
            assert_eq!(base.resolve(reference).as_deref(), Some(expected), "{reference}");
        }
        let rootless = Url::parse("HTTP://a:080").unwrap();
        assert_eq!(rootless.resolve("messages?id=1").as_deref(), Some("HTTP://a:080/messages?id=1"));
        assert_eq!(rootless.resolve("http://a/m").as_deref(), Some("http://a/m"));
    }

    // proves: BASE-187
    #[test]
    fn no_reference_leads_to_another_origin() {
        let base = Url::parse("https://a.example:8443/sse").unwrap();
        for reference in [
            "//evil.example/m",
            "https://evil.example/m",
            "http://a.example:8443/m",
            "https://a.example/m",
            "https://a.example:8443@evil.example/m",
            "https://evil@a.example:8443/m",
            "/\\evil.example",
            "\\\\evil.example",
            "javascript:alert(1)",
            "/m\r\nx: y",
            "///m",
            "https:m",
        ] {
            assert_eq!(base.resolve(reference), None, "{reference}");
        }
        let own = Url::parse("https://me:pw@a.example/sse").unwrap();
        assert_eq!(own.resolve("/m").as_deref(), Some("https://me:pw@a.example/m"));
    }
}
