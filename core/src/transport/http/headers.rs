//! The names of headers, and the list of headers that came with a request or a response.
//!
//! Names are written in lower case: HTTP/2 asks for it, HTTP/1.1 does not mind, and some hosts pass them on as they are.

use alloc::string::String;

use crate::machine::HeaderValue;

pub(crate) const ACCEPT: &str = "accept";
pub(crate) const ALLOW: &str = "allow";
pub(crate) const AUTHORIZATION: &str = "authorization";
pub(crate) const CACHE_CONTROL: &str = "cache-control";
pub(crate) const CONTENT_LENGTH: &str = "content-length";
pub(crate) const CONTENT_TYPE: &str = "content-type";
/// A proof of possession (RFC 9449, section 4.1).
pub(crate) const DPOP: &str = "dpop";
/// What a proof of possession has to repeat (RFC 9449, section 8).
pub(crate) const DPOP_NONCE: &str = "dpop-nonce";
pub(crate) const HOST: &str = "host";
pub(crate) const LAST_EVENT_ID: &str = "last-event-id";
pub(crate) const LOCATION: &str = "location";
pub(crate) const ORIGIN: &str = "origin";
pub(crate) const VARY: &str = "vary";
pub(crate) const WWW_AUTHENTICATE: &str = "www-authenticate";
/// Keeps proxies from holding back an event stream.
pub(crate) const X_ACCEL_BUFFERING: &str = "x-accel-buffering";

/// The revision of the message, from 2025-06-18 on.
pub(crate) const PROTOCOL_VERSION: &str = "mcp-protocol-version";
/// The session, from 2025-03-26 to 2025-11-25.
pub(crate) const SESSION_ID: &str = "mcp-session-id";
/// The method of the body, from 2026-07-28 on.
pub(crate) const METHOD: &str = "mcp-method";
/// The tool, prompt or resource that the body names, from 2026-07-28 on.
pub(crate) const NAME: &str = "mcp-name";
/// Before the name that a tool gives to an argument, from 2026-07-28 on.
pub(crate) const PARAM_PREFIX: &str = "mcp-param-";

pub(crate) const ALLOW_ORIGIN: &str = "access-control-allow-origin";
pub(crate) const ALLOW_METHODS: &str = "access-control-allow-methods";
pub(crate) const ALLOW_HEADERS: &str = "access-control-allow-headers";
pub(crate) const EXPOSE_HEADERS: &str = "access-control-expose-headers";
pub(crate) const MAX_AGE: &str = "access-control-max-age";
pub(crate) const REQUEST_METHOD: &str = "access-control-request-method";
pub(crate) const REQUEST_HEADERS: &str = "access-control-request-headers";

/// What scripts of an allowed origin may send, beside headers for arguments.
pub(crate) const SENT_BY_SCRIPTS: &str = "accept, authorization, content-type, last-event-id, mcp-protocol-version, \
                                          mcp-session-id, mcp-method, mcp-name";
/// What they may read of the answer.
pub(crate) const READ_BY_SCRIPTS: &str = "mcp-session-id, www-authenticate, retry-after";

/// The name of the header for an argument that its tool calls `name`.
pub(crate) fn param(name: &str) -> String {
    let mut header = String::with_capacity(PARAM_PREFIX.len() + name.len());
    header.push_str(PARAM_PREFIX);
    header.extend(name.chars().map(|character| character.to_ascii_lowercase()));
    header
}

/// Whether a header of this name mirrors an argument.
pub(crate) fn is_param(name: &str) -> bool {
    name.split_at_checked(PARAM_PREFIX.len())
        .is_some_and(|(prefix, _)| prefix.eq_ignore_ascii_case(PARAM_PREFIX))
}

/// The headers of one request or response, in order; names in any case, values with the white space around them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Headers<'a> {
    list: &'a [(&'a str, &'a str)],
}

impl<'a> Headers<'a> {
    pub(crate) const fn new(list: &'a [(&'a str, &'a str)]) -> Headers<'a> {
        Headers { list }
    }

    /// All of them, as they came.
    pub(crate) const fn list(self) -> &'a [(&'a str, &'a str)] {
        self.list
    }

    /// The values of `name` in order, trimmed.
    pub(crate) fn all(self, name: &str) -> impl Iterator<Item = &'a str> {
        let same = move |found: &&(&str, &str)| found.0.eq_ignore_ascii_case(name);
        self.list.iter().filter(same).map(|(_, value)| trim(value))
    }

    /// The first value of `name`, trimmed.
    pub(crate) fn first(self, name: &str) -> Option<&'a str> {
        self.all(name).next()
    }

    /// The value of `name`, trimmed, which may stand there once.
    pub(crate) fn single(self, name: &str) -> HeaderValue<'a> {
        let mut values = self.all(name);
        match (values.next(), values.next()) {
            (None, _) => HeaderValue::Absent,
            (Some(value), None) => HeaderValue::Once(value),
            (Some(_), Some(_)) => HeaderValue::Repeated,
        }
    }

    /// What mirrors arguments: the name behind the prefix, in the case it has, and the trimmed value.
    pub(crate) fn params(self) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.list.iter().filter_map(|(name, value)| {
            let (prefix, name) = name.split_at_checked(PARAM_PREFIX.len())?;
            prefix.eq_ignore_ascii_case(PARAM_PREFIX).then_some((name, trim(value)))
        })
    }
}

/// `value` without the spaces and tabs around it (RFC 9110, section 5.5).
fn trim(value: &str) -> &str {
    value.trim_matches([' ', '\t'])
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    const LIST: Headers<'static> = Headers::new(&[
        ("Accept", "a/b"),
        ("MCP-METHOD", " \ttools/call \t"),
        ("accept", "\u{a0}c/d\u{a0}"),
        ("Mcp-Param-Region", " us-west1 "),
        ("mcp-PARAM-region", "="),
        ("mcp-param", "x"),
        ("mcp-param-", "nameless"),
        ("X", ""),
    ]);

    // proves: BASE-321 BASE-435
    #[test]
    fn names_compare_without_case_and_values_lose_their_edges() {
        assert_eq!(LIST.first(METHOD), Some("tools/call"));
        assert_eq!(LIST.single("mcp-method"), HeaderValue::Once("tools/call"));
        assert_eq!(LIST.first("x"), Some(""));
        assert_eq!(LIST.first(NAME), None);
        assert_eq!(LIST.single(NAME), HeaderValue::Absent);
        // No other white space counts.
        assert_eq!(LIST.all(ACCEPT).collect::<Vec<_>>(), ["a/b", "\u{a0}c/d\u{a0}"]);
    }

    #[test]
    fn what_stands_twice_is_seen() {
        assert_eq!(LIST.single(ACCEPT), HeaderValue::Repeated);
    }

    #[test]
    fn arguments_are_found_behind_their_prefix() {
        let params: Vec<_> = LIST.params().collect();
        assert_eq!(params, [("Region", "us-west1"), ("region", "="), ("", "nameless")]);
        assert_eq!(param("Region"), "mcp-param-region");
    }
}
