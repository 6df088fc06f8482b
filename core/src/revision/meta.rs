//! `_meta`: its keys, and how it gets into params and results without touching what the caller wrote
//! (basic/index, `_meta`).

use alloc::string::String;

use super::text::{self, ObjectWriter};
use super::{Era, Revision};
use crate::json::scan::Scanner;
use crate::json::{MAX_DEPTH, ScanError};
use crate::jsonrpc::write;

/// On requests: the revision that governs it. From 2026-07-28, required.
pub(crate) const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
/// On requests: what the client can do while it is served. From 2026-07-28, required.
pub(crate) const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
/// On requests: name and version of the client. From 2026-07-28.
pub(crate) const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
/// On requests: the least severity of log messages wanted. From 2026-07-28.
pub(crate) const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
/// On results: name and version of the server. From 2026-07-28.
pub(crate) const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
/// On notifications and the result of a subscription: the id of its request. From 2026-07-28.
pub(crate) const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";
/// On requests: the token to report progress under.
pub(crate) const PROGRESS_TOKEN: &str = "progressToken";

/// The keys the client core sets itself; what a caller wrote under them gives way.
const OF_THE_CORE: [&str; 5] =
    [PROTOCOL_VERSION, CLIENT_INFO, CLIENT_CAPABILITIES, LOG_LEVEL, PROGRESS_TOKEN];

/// What goes into the `_meta` of one outgoing request.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RequestMeta<'a> {
    /// What is the same on every request of a connection: made once by [`standing_members`].
    pub(crate) standing: &'a str,
    /// The least severity of log messages wanted. Only from 2026-07-28.
    pub(crate) log_level: Option<&'a str>,
    /// The JSON token to report progress under.
    pub(crate) progress_token: Option<&'a str>,
    /// The text of an object with members of the caller's, such as trace context. They replace those of the same
    /// name in the params' own `_meta`.
    pub(crate) extra: Option<&'a str>,
}

/// The members of `_meta` that every request to a server of `revision` carries, comma-separated; none in
/// the legacy era. The arguments are the texts of objects on one line.
pub(crate) fn standing_members(
    revision: Revision,
    client_info: Option<&str>,
    client_capabilities: &str,
) -> String {
    let mut out = String::new();
    if revision.era() == Era::Legacy {
        return out;
    }
    let mut object = ObjectWriter::inside(&mut out);
    write::string(object.key(PROTOCOL_VERSION), revision.as_str());
    if let Some(client_info) = client_info {
        object.member(CLIENT_INFO, client_info);
    }
    object.member(CLIENT_CAPABILITIES, client_capabilities);
    out
}

/// Appends the params of a request: `params` (the text of an object) with `meta` merged into its `_meta`.
/// The core's own keys replace the caller's of the same name; all else is copied byte by byte, without line
/// breaks. False if there is nothing to write: no params and no `_meta`.
///
/// # Errors
/// If `params` or `meta.extra` is not a JSON object. Nothing is appended then.
pub(crate) fn write_request_params(
    out: &mut String,
    params: Option<&str>,
    meta: &RequestMeta<'_>,
) -> Result<bool, ScanError> {
    let extra = meta.extra.map(text::one_line_object).transpose()?;
    let meta = RequestMeta { extra: extra.as_deref(), ..*meta };
    let Some(params) = params else {
        if !meta.is_empty() {
            let mut object = ObjectWriter::open(out);
            meta.write(object.key("_meta"), None);
            object.close();
            return Ok(true);
        }
        return Ok(false);
    };
    let found = Params::read(params)?;
    if found.newline {
        let joined = text::joined_lines(params);
        let found = Params::read(&joined)?;
        write_found(out, &joined, &found, &meta);
    } else {
        write_found(out, params, &found, &meta);
    }
    Ok(true)
}

/// As [`write_request_params`], of an object that is known to be sound, on one line, not empty and without `_meta`, so that
/// it need not be read.
///
/// # Errors
/// If `meta.extra` is not a JSON object. Nothing is appended then.
pub(crate) fn write_own_params(
    out: &mut String,
    params: &str,
    meta: &RequestMeta<'_>,
) -> Result<bool, ScanError> {
    debug_assert!(Params::read(params).is_ok_and(|read| !(read.is_empty || read.has_meta || read.newline)));
    let extra = meta.extra.map(text::one_line_object).transpose()?;
    let meta = RequestMeta { extra: extra.as_deref(), ..*meta };
    let found = Params { object: 0..params.len(), is_empty: false, has_meta: false, newline: false };
    write_found(out, params, &found, &meta);
    Ok(true)
}

/// What one pass over params finds.
struct Params {
    object: core::ops::Range<usize>,
    is_empty: bool,
    has_meta: bool,
    newline: bool,
}

impl Params {
    fn read(params: &str) -> Result<Params, ScanError> {
        let mut scanner = Scanner::new(params, MAX_DEPTH);
        scanner.expect(b'{')?;
        let start = scanner.position() - 1;
        let (mut is_empty, mut has_meta) = (true, false);
        while scanner.peek() != Some(b'}') {
            if !core::mem::take(&mut is_empty) {
                scanner.expect(b',')?;
            }
            let key = scanner.string()?;
            scanner.expect(b':')?;
            scanner.value_at_depth(1)?;
            has_meta |= &params[key] == "_meta";
        }
        scanner.expect(b'}')?;
        let object = start..scanner.position();
        scanner.end()?;
        Ok(Params { object, is_empty, has_meta, newline: scanner.saw_newline() })
    }
}

fn write_found(out: &mut String, params: &str, found: &Params, meta: &RequestMeta<'_>) {
    let params = &params[found.object.clone()];
    if meta.is_empty() {
        out.push_str(params);
        return;
    }
    out.reserve(params.len() + meta.standing.len() + 64);
    let mut object = ObjectWriter::open(out);
    if found.has_meta {
        let mut callers = None;
        text::each_member(params, |key, value| {
            if key == "_meta" {
                callers = Some(value);
            }
        });
        meta.write(object.key("_meta"), callers);
        text::each_member(params, |key, value| {
            if key != "_meta" {
                object.member(key, value);
            }
        });
    } else {
        meta.write(object.key("_meta"), None);
        if !found.is_empty {
            object.rest().push_str(&params[1..params.len() - 1]);
        }
    }
    object.close();
}

impl RequestMeta<'_> {
    fn is_empty(&self) -> bool {
        self.standing.is_empty()
            && self.log_level.is_none()
            && self.progress_token.is_none()
            && self.extra.is_none_or(text::is_empty_container)
    }

    fn write(&self, out: &mut String, callers: Option<&str>) {
        let mut object = ObjectWriter::open(out);
        if !self.standing.is_empty() {
            object.rest().push_str(self.standing);
        }
        if let Some(level) = self.log_level {
            write::string(object.key(LOG_LEVEL), level);
        }
        if let Some(token) = self.progress_token {
            object.member(PROGRESS_TOKEN, token);
        }
        let extra = self.extra.unwrap_or_default();
        text::each_member(callers.unwrap_or_default(), |key, value| {
            if !self.sets(key) && text::member(extra, key).is_none() {
                object.member(key, value);
            }
        });
        text::each_member(extra, |key, value| {
            if !self.sets(key) {
                object.member(key, value);
            }
        });
        object.close();
    }

    /// Whether this request sets `key` itself. A caller may give its own progress token or log level where the
    /// core has none.
    fn sets(&self, key: &str) -> bool {
        match key {
            PROGRESS_TOKEN => self.progress_token.is_some(),
            LOG_LEVEL => self.log_level.is_some(),
            _ => !self.standing.is_empty() && OF_THE_CORE.contains(&key),
        }
    }
}

/// Whether each member of the object `extensions` is named as extensions are: a prefix of dot-separated labels, a
/// slash, a name (basic/versioning, Extensions; basic/index, `_meta`).
pub(crate) fn are_extensions(extensions: &str) -> bool {
    let mut sound = text::is_object(extensions);
    text::each_member(extensions, |key, _| {
        sound &= key
            .split_once('/')
            .is_some_and(|(prefix, name)| prefix.split('.').all(is_label) && is_key_name(name));
    });
    sound
}

fn is_label(label: &str) -> bool {
    label.starts_with(|first: char| first.is_ascii_alphabetic())
        && label.ends_with(|last: char| last.is_ascii_alphanumeric())
        && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

fn is_key_name(name: &str) -> bool {
    let is_edge = |edge: char| edge.is_ascii_alphanumeric();
    name.is_empty()
        || (name.starts_with(is_edge)
            && name.ends_with(is_edge)
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.')))
}

/// Appends an object of `pairs`: keys that need no escapes, and JSON texts on one line.
pub(crate) fn write_pairs(out: &mut String, pairs: &[(&str, &str)]) {
    let mut object = ObjectWriter::open(out);
    for (key, value) in pairs {
        object.member(key, value);
    }
    object.close();
}

/// Those of `pairs` that the object `written` lacks, as they go in behind its opening bracket; nothing if it
/// is no object.
pub(super) fn missing_pairs(written: &str, pairs: &[(&str, &str)]) -> String {
    let mut out = String::new();
    if !text::is_object(written) {
        return out;
    }
    let mut object = ObjectWriter::inside(&mut out);
    for (key, value) in pairs {
        if text::member(written, key).is_none() {
            object.member(key, value);
        }
    }
    if !out.is_empty() && !text::is_empty_container(written) {
        out.push(',');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;

    const CAPABILITIES: &str = r#"{"sampling":{}}"#;
    const INFO: &str = r#"{"name":"c","version":"1"}"#;
    const STANDING: &str = r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{"sampling":{}}"#;

    fn written(params: Option<&str>, meta: &RequestMeta<'_>) -> Option<String> {
        let mut out = String::new();
        let any = write_request_params(&mut out, params, meta).unwrap();
        assert_eq!(any, !out.is_empty());
        any.then_some(out)
    }

    // proves: BASE-053 BASE-054 BASE-055
    #[test]
    fn modern_requests_say_who_and_what() {
        let standing = standing_members(Revision::V2026_07_28, Some(INFO), CAPABILITIES);
        assert_eq!(standing, STANDING);
        let anonymous = standing_members(Revision::V2026_07_28, None, "{}");
        assert_eq!(
            anonymous,
            r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}"#
        );
        let plain = RequestMeta { standing: STANDING, ..RequestMeta::default() };
        let extra =
            r#"{"traceparent":"00","progressToken":"own","io.modelcontextprotocol/protocolVersion":"x"}"#;
        let full = RequestMeta {
            standing: STANDING,
            log_level: Some("info"),
            progress_token: Some("7"),
            extra: Some(extra),
        };
        let full_meta = format!(r#"{STANDING},"io.modelcontextprotocol/logLevel":"info","progressToken":7"#);
        let cases = [
            (None, &plain, format!(r#"{{"_meta":{{{STANDING}}}}}"#)),
            (Some("{}"), &plain, format!(r#"{{"_meta":{{{STANDING}}}}}"#)),
            (Some("{ }"), &plain, format!(r#"{{"_meta":{{{STANDING}}}}}"#)),
            (
                Some(r#"{"name":"t", "arguments":{"a":1e400}}"#),
                &plain,
                format!(r#"{{"_meta":{{{STANDING}}},"name":"t", "arguments":{{"a":1e400}}}}"#),
            ),
            (
                Some(r#"{"_meta":{"a":1,"progressToken":3},"name":"t"}"#),
                &plain,
                format!(r#"{{"_meta":{{{STANDING},"a":1,"progressToken":3}},"name":"t"}}"#),
            ),
            (
                Some(
                    r#"{"name":"t","_meta":{"a":1,"progressToken":3,"io.modelcontextprotocol/logLevel":"error"}}"#,
                ),
                &full,
                format!(r#"{{"_meta":{{{full_meta},"a":1,"traceparent":"00"}},"name":"t"}}"#),
            ),
            (Some(r#"{"_meta":null}"#), &plain, format!(r#"{{"_meta":{{{STANDING}}}}}"#)),
            (Some("{\n  \"name\": \"t\"\r\n}"), &plain, format!(r#"{{"_meta":{{{STANDING}}},"name": "t"}}"#)),
        ];
        for (params, meta, expected) in cases {
            assert_eq!(written(params, meta).as_deref(), Some(&*expected), "{params:?}");
        }
    }

    #[test]
    fn legacy_requests_carry_what_is_asked_for() {
        let standing = standing_members(Revision::V2025_11_25, Some(INFO), CAPABILITIES);
        assert_eq!(standing, "");
        let none = RequestMeta::default();
        assert_eq!(written(None, &none), None);
        assert_eq!(written(None, &RequestMeta { extra: Some("{}"), ..none }), None);
        assert_eq!(written(Some("{}"), &none).as_deref(), Some("{}"));
        assert_eq!(written(Some(" {\n\"a\":1} "), &none).as_deref(), Some(r#"{"a":1}"#));
        let token = RequestMeta { progress_token: Some("\"p\""), extra: Some("{\"b\":\n2}"), ..none };
        assert_eq!(written(None, &token).as_deref(), Some(r#"{"_meta":{"progressToken":"p","b":2}}"#));
        assert_eq!(
            written(Some(r#"{"a":1,"_meta":{"io.modelcontextprotocol/protocolVersion":"x"}}"#), &token)
                .as_deref(),
            Some(
                r#"{"_meta":{"progressToken":"p","io.modelcontextprotocol/protocolVersion":"x","b":2},"a":1}"#
            )
        );
    }

    #[test]
    fn what_is_no_object_is_refused_and_leaves_nothing() {
        let mut out = String::new();
        for text in ["", "[]", "null", "{", "{} {}", "{\"a\"}", "{\"a\":1,}"] {
            assert!(write_request_params(&mut out, Some(text), &RequestMeta::default()).is_err(), "{text}");
            let meta = RequestMeta { extra: Some(text), ..RequestMeta::default() };
            assert!(write_request_params(&mut out, None, &meta).is_err(), "{text}");
        }
        assert_eq!(out, "");
    }
}
