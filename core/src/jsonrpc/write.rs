//! The only code that writes an envelope.

use alloc::string::String;

use super::{RequestId, RpcError};
use crate::json::escape;

const HEAD: &str = r#"{"jsonrpc":"2.0","#;

/// Room for an envelope beside its payload, so that most messages are one allocation.
const ENVELOPE: usize = 96;

/// A request. `params` is the text of an object.
pub(crate) fn request(id: &RequestId, method: &str, params: Option<&str>) -> String {
    let mut out = String::with_capacity(ENVELOPE + method.len() + params.map_or(0, str::len));
    out.push_str(HEAD);
    out.push_str("\"id\":");
    id.write_to(&mut out);
    out.push(',');
    method_and_params(&mut out, method, params);
    out
}

/// A request whose params object is appended by `params`, which says whether there is one.
pub(crate) fn request_with(
    id: &RequestId,
    method: &str,
    params_length: usize,
    params: impl FnOnce(&mut String) -> bool,
) -> String {
    let mut out = String::with_capacity(ENVELOPE + method.len() + params_length);
    out.push_str(HEAD);
    out.push_str("\"id\":");
    id.write_to(&mut out);
    out.push_str(",\"method\":");
    string(&mut out, method);
    let end = out.len();
    out.push_str(",\"params\":");
    if !params(&mut out) {
        out.truncate(end);
    }
    out.push('}');
    out
}

/// A notification. `params` is the text of an object.
pub(crate) fn notification(method: &str, params: Option<&str>) -> String {
    let mut out = String::with_capacity(ENVELOPE + method.len() + params.map_or(0, str::len));
    out.push_str(HEAD);
    method_and_params(&mut out, method, params);
    out
}

fn method_and_params(out: &mut String, method: &str, params: Option<&str>) {
    out.push_str("\"method\":");
    string(out, method);
    if let Some(params) = params {
        out.push_str(",\"params\":");
        json(out, params);
    }
    out.push('}');
}

/// A successful response up to its result; a closing bracket ends it.
pub(crate) fn response_front(id: &RequestId) -> String {
    let mut out = String::with_capacity(2 * ENVELOPE);
    write_response_front(&mut out, id);
    out
}

fn write_response_front(out: &mut String, id: &RequestId) {
    out.push_str(HEAD);
    out.push_str("\"id\":");
    id.write_to(out);
    out.push_str(",\"result\":");
}

/// A successful response whose result text is appended by `result`.
pub(crate) fn response(id: &RequestId, result_length: usize, result: impl FnOnce(&mut String)) -> String {
    let mut out = String::with_capacity(ENVELOPE + result_length);
    write_response_front(&mut out, id);
    result(&mut out);
    out.push('}');
    out
}

/// An error response; without an id it answers something unreadable.
pub(crate) fn error(id: Option<&RequestId>, error: &RpcError) -> String {
    let mut out = String::with_capacity(ENVELOPE + error.message.len());
    out.push_str(HEAD);
    if let Some(id) = id {
        out.push_str("\"id\":");
        id.write_to(&mut out);
        out.push(',');
    }
    out.push_str("\"error\":{\"code\":");
    integer(&mut out, error.code);
    out.push_str(",\"message\":");
    string(&mut out, &error.message);
    if let Some(data) = &error.data {
        out.push_str(",\"data\":");
        json(&mut out, data.as_str());
    }
    out.push_str("}}");
    out
}

/// Appends a JSON text. Raw line ends, which JSON has between tokens only, become spaces, so that the message
/// stays on one line.
pub(crate) fn json(out: &mut String, text: &str) {
    let mut plain = 0;
    for at in memchr::memchr2_iter(b'\n', b'\r', text.as_bytes()) {
        // Line ends are ASCII, so that `plain..at` lies on character boundaries.
        out.push_str(&text[plain..at]);
        out.push(' ');
        plain = at + 1;
    }
    out.push_str(&text[plain..]);
}

/// Appends an integer in decimal digits.
pub(crate) fn integer(out: &mut String, value: i64) {
    // 2^63 has 19 digits.
    let mut digits = [0u8; 19];
    let mut start = digits.len();
    let mut rest = value.unsigned_abs();
    loop {
        start -= 1;
        // The remainder is one digit.
        digits[start] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if value < 0 {
        out.push('-');
    }
    // Digits are ASCII.
    out.push_str(core::str::from_utf8(&digits[start..]).unwrap_or_default());
}

/// Appends a JSON string.
pub(crate) fn string(out: &mut String, text: &str) {
    out.push('"');
    escape(text, |part| out.push_str(part));
    out.push('"');
}

/// Appends `,"name":"value"`; for members after the first.
pub(crate) fn string_member(out: &mut String, name: &str, value: &str) {
    out.push_str(",\"");
    out.push_str(name);
    out.push_str("\":");
    string(out, value);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Json;
    use alloc::format;

    #[test]
    fn integers_are_written_as_they_are() {
        for value in [0, 7, -7, 10, 99, 100, 12_345, i64::MAX, i64::MIN] {
            let mut out = String::from("x");
            integer(&mut out, value);
            assert_eq!(out, format!("x{value}"));
        }
    }

    // proves: BASE-001 BASE-017
    #[test]
    fn writes_what_json_rpc_says() {
        let id = RequestId::from(7);
        assert_eq!(request(&id, "ping", None), r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#);
        assert_eq!(notification("a/b", Some("{}")), r#"{"jsonrpc":"2.0","method":"a/b","params":{}}"#);
        assert_eq!(
            notification("a/b", Some("{\"a\":\r\n1}")),
            r#"{"jsonrpc":"2.0","method":"a/b","params":{"a":  1}}"#
        );
        assert_eq!(response(&id, 2, |out| out.push_str("{}")), r#"{"jsonrpc":"2.0","id":7,"result":{}}"#);
        let full = RpcError::new(-1, "no \"way\"\n\u{1}").with_data(Json::new("[1]").unwrap());
        assert_eq!(
            error(None, &full),
            r#"{"jsonrpc":"2.0","error":{"code":-1,"message":"no \"way\"\n\u0001","data":[1]}}"#
        );
    }
}
