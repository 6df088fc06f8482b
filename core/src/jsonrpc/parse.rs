//! The only code that reads an envelope: one pass over the text, payloads left as raw slices.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::format;
use core::ops::Range;

use super::{Malformed, Message, Outcome, RequestId, RpcError, Violation};
use crate::json::scan::{ScanError, Scanner};
use crate::json::{self, Json, JsonText, MAX_DEPTH, scan};

/// What one text turned out to be.
#[derive(Debug)]
pub(crate) enum Parsed<'a> {
    One(Message<'a>),
    /// The text of an array; its elements are messages of their own.
    Batch(&'a str),
    Malformed(Malformed),
}

/// A parsed text and the first deviation that did not keep it from being used.
#[derive(Debug)]
pub(crate) struct Reading<'a> {
    pub(crate) parsed: Parsed<'a>,
    pub(crate) tolerated: Option<Violation>,
}

/// A member that a message holds in its parameters, seen in passing: keys without quotes, values as JSON texts.
/// It says nothing of whether the message is sound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Noted<'a> {
    /// A member of `params`.
    Param(&'a str, &'a str),
    /// An object `params._meta` begins. Of two, the last counts.
    MetaBegins,
    /// A member of `params._meta`.
    Meta(&'a str, &'a str),
}

/// Reads one text: a message, a batch, or something malformed.
pub(crate) fn read(text: &str, depth_limit: usize) -> Reading<'_> {
    read_noting(text, depth_limit, |_| {})
}

/// As [`read`], and tells `note` of what stands in the parameters, so that they need no second pass.
pub(crate) fn read_noting<'a>(text: &'a str, depth_limit: usize, note: impl FnMut(Noted<'a>)) -> Reading<'a> {
    let mut scanner = Scanner::new(text, depth_limit);
    match scanner.peek() {
        Some(b'{') => read_object(text, scanner, note),
        Some(b'[') => match scan::check(text, depth_limit) {
            Ok(()) => Reading { parsed: Parsed::Batch(text), tolerated: None },
            Err(error) => malformed(violation_of(error), None, false),
        },
        _ => {
            let violation = if scan::check(text, depth_limit).is_ok() {
                Violation::NotAMessage
            } else {
                Violation::NotJson
            };
            malformed(violation, None, false)
        }
    }
}

/// The longest id that is repeated where there is little memory, in bytes of its token.
pub(crate) const SHORT_ID: usize = 64;

/// Reads what can be read of bytes that are no usable message: cut off, too long, not UTF-8, or without room.
pub(crate) fn read_damaged(bytes: &[u8], violation: Violation) -> Malformed {
    let glimpse = glimpse(bytes, if violation == Violation::NoRoom { SHORT_ID } else { usize::MAX });
    Malformed { violation, id: glimpse.id, has_method: glimpse.has_method }
}

fn malformed(violation: Violation, id: Option<RequestId>, has_method: bool) -> Reading<'static> {
    Reading { parsed: Parsed::Malformed(Malformed { violation, id, has_method }), tolerated: None }
}

fn violation_of(error: ScanError) -> Violation {
    match error {
        ScanError::Syntax(_) => Violation::NotJson,
        ScanError::Depth(_) => Violation::TooDeep,
    }
}

/// As long as any name of the envelope can be with all its letters escaped.
const LONGEST_KEY: usize = 6 * "jsonrpc".len();

/// The members of an envelope as ranges of its text; string members exclude the quotes.
#[derive(Default)]
struct Members {
    version: Option<Range<usize>>,
    id: Option<Range<usize>>,
    method: Option<Range<usize>>,
    params: Option<Range<usize>>,
    result: Option<Range<usize>>,
    error: Option<Range<usize>>,
    unknown: bool,
    duplicate: bool,
    duplicate_id: bool,
}

impl Members {
    fn set(&mut self, key: &str, value: Range<usize>) {
        let slot = match key {
            "jsonrpc" => &mut self.version,
            "id" => &mut self.id,
            "method" => &mut self.method,
            "params" => &mut self.params,
            "result" => &mut self.result,
            "error" => &mut self.error,
            _ => return self.set_other(key, value),
        };
        if slot.replace(value).is_some() {
            self.duplicate = true;
            self.duplicate_id |= key == "id";
        }
    }

    /// A member that is unknown, or whose name is written with escapes: an id must not be missed.
    fn set_other(&mut self, key: &str, value: Range<usize>) {
        let is_escaped = key.len() <= LONGEST_KEY && key.contains('\\');
        let quoted = is_escaped.then(|| format!("\"{key}\""));
        match quoted.as_deref().and_then(decode_string) {
            Some(name) if !name.contains('\\') => self.set(&name, value),
            _ => self.unknown = true,
        }
    }
}

fn read_object<'a>(text: &'a str, mut scanner: Scanner<'a>, mut note: impl FnMut(Noted<'a>)) -> Reading<'a> {
    let mut members = Members::default();
    let outcome = scanner.members(0, |scanner, key| {
        let key = &text[key];
        let value = if key == "params" && scanner.peek() == Some(b'{') {
            read_params(text, scanner, &mut note)?
        } else {
            scanner.value_at_depth(1)?
        };
        members.set(key, value);
        Ok(())
    });
    if let Err(error) = outcome.and_then(|()| scanner.end()) {
        let glimpse = glimpse(text.as_bytes(), usize::MAX);
        return malformed(violation_of(error), glimpse.id, glimpse.has_method);
    }
    classify(text, &members)
}

/// Reads the parameters object before which the scanner stands.
fn read_params<'a>(
    text: &'a str,
    scanner: &mut Scanner<'a>,
    note: &mut impl FnMut(Noted<'a>),
) -> Result<Range<usize>, ScanError> {
    let start = scanner.position();
    scanner.members(1, |scanner, key| {
        let key = &text[key];
        let value = if key == "_meta" && scanner.peek() == Some(b'{') {
            let start = scanner.position();
            note(Noted::MetaBegins);
            scanner.members(2, |scanner, key| {
                let value = scanner.value_at_depth(3)?;
                note(Noted::Meta(&text[key], &text[value]));
                Ok(())
            })?;
            start..scanner.position()
        } else {
            scanner.value_at_depth(2)?
        };
        note(Noted::Param(key, &text[value]));
        Ok(())
    })?;
    Ok(start..scanner.position())
}

fn classify<'a>(text: &'a str, members: &Members) -> Reading<'a> {
    let part = |range: &Option<Range<usize>>| range.clone().map(|range| &text[range]);
    let present = |range: &Option<Range<usize>>| part(range).filter(|value| *value != "null");
    let id = if members.duplicate_id { None } else { part(&members.id).and_then(RequestId::from_token) };
    let has_method = members.method.is_some();
    if members.duplicate {
        return malformed(Violation::DuplicateMember, id, has_method);
    }
    let version_is_right = part(&members.version) == Some("\"2.0\"");
    let mut tolerated = members.unknown.then_some(Violation::UnknownMember);
    let is_response = members.result.is_some() || members.error.is_some();
    if has_method {
        if is_response {
            return malformed(Violation::NotAMessage, id, true);
        }
        let Some(method) = part(&members.method).and_then(decode_string) else {
            return malformed(Violation::NotAMessage, id, true);
        };
        if members.id.is_some() && id.is_none() {
            return malformed(Violation::InvalidId, None, true);
        }
        if !version_is_right {
            return malformed(Violation::WrongVersionMember, id, true);
        }
        let params = present(&members.params);
        if params.is_some_and(|params| !params.starts_with('{')) {
            return malformed(Violation::InvalidParams, id, true);
        }
        let message = match id {
            Some(id) => Message::Request { id, method, params },
            None => Message::Notification { method, params },
        };
        return Reading { parsed: Parsed::One(message), tolerated };
    }
    if !is_response {
        let violation = if id.is_some() { Violation::EmptyResponse } else { Violation::NotAMessage };
        return malformed(violation, id, false);
    }
    if !version_is_right {
        tolerated = Some(Violation::WrongVersionMember);
    }
    if members.result.is_some() && members.error.is_some() {
        tolerated = Some(Violation::ResultAndError);
    }
    let outcome = match (present(&members.result), present(&members.error)) {
        (Some(_), Some(_)) => return malformed(Violation::ResultAndError, id, false),
        (None, Some(error)) => Outcome::Error(read_error(error, &mut tolerated)),
        (Some(result), None) => Outcome::Result(result),
        // `result: null`: an answer, though no MCP result; the machine says so.
        (None, None) if members.result.is_some() => Outcome::Result("null"),
        (None, None) => return malformed(Violation::EmptyResponse, id, false),
    };
    let message = match (id, outcome) {
        (Some(id), outcome) => Message::Response { id, outcome },
        (None, Outcome::Error(error)) if part(&members.id).is_none_or(|id| id == "null") => {
            Message::ErrorWithoutId { error }
        }
        (None, _) => return malformed(Violation::InvalidId, None, false),
    };
    Reading { parsed: Parsed::One(message), tolerated }
}

/// The value of a string token; `None` for any other kind of value or one that has no decoded form.
pub(crate) fn decode_string(token: &str) -> Option<Cow<'_, str>> {
    JsonText::trusted(token).to_text()
}

/// The raw texts of `code`, `message` and `data` of an error object; `None` if it is no object or has one of
/// them twice.
fn error_members(text: &str) -> Option<[Option<&str>; 3]> {
    const NAMES: [&str; 3] = ["code", "message", "data"];
    let mut members = [None; NAMES.len()];
    let mut is_sound = true;
    scan::object_members(text, MAX_DEPTH, |key, value| {
        let mut slots = NAMES.iter().zip(&mut members);
        if let Some((_, slot)) = slots.find(|(name, _)| json::names(name, &text[key.clone()])) {
            is_sound &= slot.replace(&text[value]).is_none();
        }
    })
    .ok()?;
    is_sound.then(|| members.map(|member| member.filter(|value| *value != "null")))
}

fn read_error(text: &str, tolerated: &mut Option<Violation>) -> RpcError {
    let Some([code, message, data]) = error_members(text) else {
        // Not an object, or one with duplicates: what there is becomes the message.
        *tolerated = Some(Violation::InvalidError);
        let message = decode_string(text).unwrap_or(Cow::Borrowed(text));
        return RpcError { code: 0, message: message.into(), data: None };
    };
    let code = code.and_then(RequestId::from_token).and_then(|code| code.as_integer());
    if code.is_none() {
        *tolerated = Some(Violation::InvalidErrorCode);
    }
    let message = match message {
        Some(token) => decode_string(token).unwrap_or(Cow::Borrowed(token)).into(),
        None => Box::default(),
    };
    RpcError { code: code.unwrap_or(0), message, data: data.map(Json::trusted) }
}

/// What a look at damaged bytes found.
#[derive(Default)]
struct Glimpse {
    id: Option<RequestId>,
    has_method: bool,
}

/// Looks for the members `id` and `method` of the outermost object without asking that the rest be sound.
fn glimpse(bytes: &[u8], longest_id: usize) -> Glimpse {
    let mut found = Glimpse::default();
    let mut ids = 0;
    let mut walk = Walk { bytes, at: 0 };
    if walk.next_token() != Some(b'{') {
        return found;
    }
    walk.at += 1;
    loop {
        if walk.next_token() == Some(b',') {
            walk.at += 1;
            continue;
        }
        let Some(key) = walk.string() else { break };
        if walk.next_token() != Some(b':') {
            break;
        }
        walk.at += 1;
        let Some(value) = walk.value() else {
            found.has_method |= key == b"method";
            break;
        };
        found.has_method |= key == b"method";
        if key == b"id" {
            ids += 1;
            // It is echoed, so that it has to be JSON itself.
            let short = Some(value).filter(|token| token.len() <= longest_id);
            let sound = short
                .and_then(|token| core::str::from_utf8(token).ok())
                .filter(|token| scan::check(token, 1).is_ok());
            found.id = sound.and_then(RequestId::from_token);
        }
    }
    if ids > 1 {
        found.id = None;
    }
    found
}

/// A forgiving walk: it knows strings and brackets, nothing else.
struct Walk<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Walk<'a> {
    fn next_token(&mut self) -> Option<u8> {
        while let Some(&byte) = self.bytes.get(self.at) {
            if !byte.is_ascii_whitespace() {
                return Some(byte);
            }
            self.at += 1;
        }
        None
    }

    /// The contents of a string that ends within the bytes.
    fn string(&mut self) -> Option<&'a [u8]> {
        if self.next_token()? != b'"' {
            return None;
        }
        let start = self.at + 1;
        let mut at = start;
        loop {
            match self.bytes.get(at)? {
                b'"' => break,
                b'\\' => at += 2,
                _ => at += 1,
            }
        }
        self.at = at + 1;
        self.bytes.get(start..at)
    }

    /// The bytes of a value that is followed by something, so that it is known to be whole.
    fn value(&mut self) -> Option<&'a [u8]> {
        self.next_token()?;
        let start = self.at;
        let mut depth = 0usize;
        loop {
            match *self.bytes.get(self.at)? {
                b'"' => {
                    self.string()?;
                    continue;
                }
                b'{' | b'[' => depth += 1,
                b'}' | b']' | b',' if depth == 0 => break,
                b'}' | b']' => depth -= 1,
                _ => {}
            }
            self.at += 1;
        }
        self.bytes.get(start..self.at).map(<[u8]>::trim_ascii_end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(text: &str) -> (Message<'_>, Option<Violation>) {
        let reading = read(text, 64);
        match reading.parsed {
            Parsed::One(message) => (message, reading.tolerated),
            other => panic!("{text}: {other:?}"),
        }
    }

    fn bad(text: &str) -> (Violation, Option<alloc::string::String>, bool) {
        match read(text, 64).parsed {
            Parsed::Malformed(malformed) => {
                (malformed.violation, malformed.id.map(|id| format!("{id}")), malformed.has_method)
            }
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn names_of_members_may_be_escaped() {
        let (message, tolerated) = one(r#"{"jsonrpc":"2.0","\u0069d":1,"m\u0065thod":"ping","\\":2}"#);
        assert!(matches!(message, Message::Request { id, .. } if id == RequestId::from(1)));
        assert_eq!(tolerated, Some(Violation::UnknownMember));
        let twice = r#"{"jsonrpc":"2.0","id":1,"\u0069d":2,"method":"ping"}"#;
        assert_eq!(bad(twice), (Violation::DuplicateMember, None, true));
    }

    // proves: BASE-002 BASE-003
    #[test]
    fn ids_keep_type_and_digits() {
        for id in [
            "1",
            "\"1\"",
            "0",
            "-1",
            "\"\"",
            "9007199254740993",
            "\"9007199254740993\"",
            "123456789012345678901",
            "1.0",
            "\"a\\u0041\"",
            "\"\\ud800\"",
            "-0",
        ] {
            let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
            match one(&text).0 {
                Message::Request { id: read, .. } => assert_eq!(format!("{read}"), id),
                other => panic!("{other:?}"),
            }
        }
        for id in ["null", "1.5", "true", "[]", "{}", "1e3"] {
            let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
            assert_eq!(bad(&text), (Violation::InvalidId, None, true));
        }
        let id = |token| RequestId::from_token(token).unwrap();
        assert_eq!(id("1"), id("1.0"));
        assert_ne!(id("1"), id("\"1\""));
        assert_eq!(id("\"a\""), id("\"\\u0061\""));
        assert_eq!(id("0"), id("-0"));
    }

    #[test]
    fn envelopes_by_presence() {
        let cases = [
            (
                r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":"x"}}"#,
                Violation::ResultAndError,
                Some("1"),
                false,
            ),
            (r#"{"jsonrpc":"2.0","id":1}"#, Violation::EmptyResponse, Some("1"), false),
            (r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"a"}"#, Violation::DuplicateMember, None, true),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"a","method":"b"}"#,
                Violation::DuplicateMember,
                Some("1"),
                true,
            ),
            (r#"{"jsonrpc":"1.0","id":1,"method":"a"}"#, Violation::WrongVersionMember, Some("1"), true),
            (r#"{"id":1,"method":"a"}"#, Violation::WrongVersionMember, Some("1"), true),
            (r#"{"jsonrpc":"2.0","id":1,"method":"a","result":{}}"#, Violation::NotAMessage, Some("1"), true),
            (r#"{"jsonrpc":"2.0","id":1,"method":3}"#, Violation::NotAMessage, Some("1"), true),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"a","params":[1]}"#,
                Violation::InvalidParams,
                Some("1"),
                true,
            ),
            (r#"{"level":"info","msg":"ready"}"#, Violation::NotAMessage, None, false),
            (
                r#"{"jsonrpc":"2.0","id":2,"method":"a","params":{"x":tru}}"#,
                Violation::NotJson,
                Some("2"),
                true,
            ),
            (
                r#"{"jsonrpc":"2.0","params":{"id":7,"x":"}"},"id":"z","resul"#,
                Violation::NotJson,
                Some("\"z\""),
                false,
            ),
            ("Starting server on stdio...", Violation::NotJson, None, false),
            ("17", Violation::NotAMessage, None, false),
            ("Content-Length: 40", Violation::NotJson, None, false),
        ];
        for (text, violation, id, has_method) in cases {
            assert_eq!(bad(text), (violation, id.map(Into::into), has_method), "{text}");
        }
    }

    #[test]
    fn parameters_are_noted_in_passing() {
        let text = r#"{"id":1,"params": { "_meta" : {"a":[1],"b":null} ,"x":{"_meta":{"c":1}},"_meta":{"d":2}},"method":"m","jsonrpc":"2.0","y":{"z":1}}"#;
        let mut noted = alloc::vec::Vec::new();
        let reading = read_noting(text, 64, |what| noted.push(what));
        let Parsed::One(Message::Request { params, .. }) = reading.parsed else { panic!() };
        assert_eq!(params, Some(r#"{ "_meta" : {"a":[1],"b":null} ,"x":{"_meta":{"c":1}},"_meta":{"d":2}}"#));
        assert_eq!(
            noted,
            [
                Noted::MetaBegins,
                Noted::Meta("a", "[1]"),
                Noted::Meta("b", "null"),
                Noted::Param("_meta", r#"{"a":[1],"b":null}"#),
                Noted::Param("x", r#"{"_meta":{"c":1}}"#),
                Noted::MetaBegins,
                Noted::Meta("d", "2"),
                Noted::Param("_meta", r#"{"d":2}"#),
            ]
        );
    }

    #[test]
    fn depth_is_counted_from_the_envelope() {
        let at = |place: &str| {
            let params = place.replace('?', &format!("{}{}", "[".repeat(8), "]".repeat(8)));
            format!(r#"{{"jsonrpc":"2.0","id":1,"method":"m","params":{params}}}"#)
        };
        for (place, depth) in [(r#"{"v":?}"#, 10), (r#"{"_meta":{"v":?}}"#, 11), (r#"{"_meta":?}"#, 10)] {
            let text = at(place);
            assert!(matches!(read(&text, depth).parsed, Parsed::One(_)), "{text}");
            let Parsed::Malformed(malformed) = read(&text, depth - 1).parsed else { panic!("{text}") };
            assert_eq!(malformed.violation, Violation::TooDeep);
        }
        let text = at("{}");
        assert!(matches!(read(&text, 2).parsed, Parsed::One(_)));
        assert!(matches!(read(&text, 1).parsed, Parsed::Malformed(_)));
    }

    #[test]
    fn deep_nesting_keeps_the_id() {
        let deep = format!(
            r#"{{"jsonrpc":"2.0","method":"a","params":{{"v":{}{}}},"id":9}}"#,
            "[".repeat(100_000),
            "]".repeat(100_000)
        );
        assert_eq!(bad(&deep), (Violation::TooDeep, Some("9".into()), true));
    }

    #[test]
    fn odd_replies_settle() {
        let (message, tolerated) = one(r#"{"jsonrpc":"2.0","id":1,"error":{"message":"Unknown tool: t"}}"#);
        assert_eq!(tolerated, Some(Violation::InvalidErrorCode));
        let Message::Response { outcome: Outcome::Error(error), .. } = message else { panic!() };
        assert_eq!((error.code, &*error.message), (0, "Unknown tool: t"));
        let (_, tolerated) = one(r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32000.5,"message":"m"}}"#);
        assert_eq!(tolerated, Some(Violation::InvalidErrorCode));
        let (message, tolerated) = one(r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]},"error":null}"#);
        assert_eq!(tolerated, Some(Violation::ResultAndError));
        assert!(matches!(message, Message::Response { outcome: Outcome::Result(r#"{"content":[]}"#), .. }));
        let (message, tolerated) = one(r#"{"jsonrpc":"2.0","id":1,"result":{},"traceparent":"00"}"#);
        assert_eq!(tolerated, Some(Violation::UnknownMember));
        assert!(matches!(message, Message::Response { .. }));
        let (message, _) = one(r#"{"jsonrpc":"2.0","id":1,"error":"boom"}"#);
        let Message::Response { outcome: Outcome::Error(error), .. } = message else { panic!() };
        assert_eq!(&*error.message, "boom");
        let (message, _) =
            one(r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"not initialized"}}"#);
        assert!(matches!(message, Message::ErrorWithoutId { .. }));
    }

    #[test]
    fn damaged_bytes_give_a_whole_id_or_none() {
        let text = br#"{"jsonrpc":"2.0","id":1234,"method":"tools/call","params":{"name":"x"#;
        for cut in 0..=text.len() {
            let malformed = read_damaged(&text[..cut], Violation::TooLong);
            let expected = (cut > 26).then(|| RequestId::from(1234));
            assert_eq!(malformed.id, expected, "{cut}");
        }
        let malformed =
            read_damaged(b"{\"jsonrpc\":\"2.0\",\"method\":\"\xff\",\"id\":\"a\"}", Violation::NotUtf8);
        assert_eq!(malformed.id, RequestId::from_token("\"a\""));
        for id in ["\"method\":\"ping\"", "\"\u{1}\"", "\"\\x\"", "\"a\"b\"c\""] {
            let text = alloc::format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},,\"method\":\"ping\"}}");
            assert_eq!(read_damaged(text.as_bytes(), Violation::NotJson).id, None, "{id}");
        }
    }
}
