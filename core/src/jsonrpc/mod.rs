//! JSON-RPC 2.0 as MCP uses it: ids, errors and the three kinds of message.

pub(crate) mod parse;
pub(crate) mod write;

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use core::cmp::Ordering;
use core::fmt;

use crate::json::Json;

/// A request id: compared by type and value, echoed exactly as the peer wrote it.
///
/// MCP allows strings and integers (basic/index, Requests). `1` and `"1"` are two ids; `1` and `1.0` are one.
#[derive(Clone)]
pub struct RequestId {
    value: IdValue,
    /// The token as written, where writing `value` plainly would not give the same text.
    token: Option<Box<str>>,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum IdValue {
    Integer(i64),
    /// The digits of an integer beyond 64 bits.
    BigInteger(Box<str>),
    /// The decoded string.
    Text(Box<str>),
}

impl RequestId {
    /// Reads an id from its JSON token. `None` for anything that is no string and no integer.
    pub fn from_token(token: &str) -> Option<RequestId> {
        if let Some(inner) = token.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
            if !inner.contains('\\') {
                return Some(RequestId { value: IdValue::Text(inner.into()), token: None });
            }
            // A lone surrogate has no decoded form; such an id is compared as it is written.
            let decoded = parse::decode_string(token).unwrap_or(Cow::Borrowed(inner));
            return Some(RequestId { value: IdValue::Text(decoded.into()), token: Some(token.into()) });
        }
        if let Some(integer) = plain_integer(token) {
            return Some(RequestId::from(integer));
        }
        let (whole, zeros) = token.split_once('.').unwrap_or((token, ""));
        if !zeros.bytes().all(|digit| digit == b'0') {
            return None;
        }
        let digits = whole.strip_prefix('-').unwrap_or(whole);
        if digits.is_empty() || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
            return None;
        }
        let value = match whole.parse::<i64>() {
            Ok(integer) => IdValue::Integer(integer),
            Err(_) => IdValue::BigInteger(whole.into()),
        };
        let plain = !token.contains('.') && whole != "-0";
        Some(RequestId { value, token: (!plain).then(|| token.into()) })
    }

    /// The id as an integer, if it is one of 64 bits.
    pub const fn as_integer(&self) -> Option<i64> {
        match self.value {
            IdValue::Integer(integer) => Some(integer),
            _ => None,
        }
    }

    /// How long the JSON token is at most.
    pub(crate) fn text_bytes(&self) -> usize {
        /// Digits and sign of 64 bits.
        const INTEGER: usize = 20;
        match (&self.token, &self.value) {
            (Some(token), _) => token.len(),
            (None, IdValue::Integer(_)) => INTEGER,
            (None, IdValue::BigInteger(digits)) => digits.len(),
            (None, IdValue::Text(text)) => text.len() + 2,
        }
    }

    /// Appends the JSON token.
    pub(crate) fn write_to(&self, out: &mut String) {
        match (&self.token, &self.value) {
            (Some(token), _) => out.push_str(token),
            (None, IdValue::Integer(integer)) => write::integer(out, *integer),
            (None, IdValue::BigInteger(digits)) => out.push_str(digits),
            (None, IdValue::Text(text)) => {
                out.push('"');
                out.push_str(text);
                out.push('"');
            }
        }
    }
}

/// The value of a token that is nothing but digits of a 64-bit integer, as most ids are.
fn plain_integer(token: &str) -> Option<i64> {
    let digits = token.as_bytes();
    // 18 digits always fit. A leading zero is no JSON, which is left to the slow way.
    if digits.is_empty() || digits.len() > 18 || digits[0] == b'0' {
        return None;
    }
    let mut value = 0;
    for digit in digits {
        if !digit.is_ascii_digit() {
            return None;
        }
        value = value * 10 + i64::from(digit - b'0');
    }
    Some(value)
}

impl From<i64> for RequestId {
    fn from(integer: i64) -> Self {
        RequestId { value: IdValue::Integer(integer), token: None }
    }
}

impl PartialEq for RequestId {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl Eq for RequestId {}

impl PartialOrd for RequestId {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for RequestId {
    fn cmp(&self, other: &Self) -> Ordering {
        self.value.cmp(&other.value)
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut token = String::new();
        self.write_to(&mut token);
        f.write_str(&token)
    }
}

impl fmt::Debug for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A JSON-RPC error object, sent or received. It is a value: a peer may answer with one in good order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RpcError {
    /// The error code; 0 if the peer gave none or one that is not an integer.
    pub code: i64,
    /// A short description.
    pub message: Box<str>,
    /// Anything more the sender gave.
    pub data: Option<Json>,
}

impl RpcError {
    /// The text is not JSON (JSON-RPC 2.0, section 5.1).
    pub const PARSE_ERROR: i64 = -32700;
    /// The JSON is not a request (JSON-RPC 2.0, section 5.1).
    pub const INVALID_REQUEST: i64 = -32600;
    /// No such method, or not offered (JSON-RPC 2.0, section 5.1).
    pub const METHOD_NOT_FOUND: i64 = -32601;
    /// The parameters are wrong (JSON-RPC 2.0, section 5.1).
    pub const INVALID_PARAMS: i64 = -32602;
    /// The receiver failed (JSON-RPC 2.0, section 5.1).
    pub const INTERNAL_ERROR: i64 = -32603;
    /// No such resource, up to 2025-11-25 (server/resources).
    pub const RESOURCE_NOT_FOUND: i64 = -32002;
    /// Headers and body disagree, from 2026-07-28 (basic/transports/streamable-http).
    pub const HEADER_MISMATCH: i64 = -32020;
    /// The client did not declare what the request needs, from 2026-07-28 (basic/index).
    pub const MISSING_CLIENT_CAPABILITY: i64 = -32021;
    /// The revision named by the client is not served, from 2026-07-28 (basic/versioning).
    pub const UNSUPPORTED_PROTOCOL_VERSION: i64 = -32022;
    /// The user must visit URLs first, in 2025-11-25 (client/elicitation).
    pub const URL_ELICITATION_REQUIRED: i64 = -32042;
    /// The client has cancelled the request; ends its exchange on HTTP up to 2025-11-25, where nothing else would.
    pub const REQUEST_CANCELLED: i64 = -32800;
    /// The user refused, up to 2025-11-25 (client/sampling).
    pub const USER_REFUSED: i64 = -1;

    /// An error without data.
    pub fn new(code: i64, message: &str) -> RpcError {
        RpcError { code, message: message.into(), data: None }
    }

    /// Whether only modern servers give errors of this code (basic/versioning): it shows a probe the era.
    pub(crate) const fn is_modern(code: i64) -> bool {
        matches!(
            code,
            RpcError::HEADER_MISMATCH
                | RpcError::MISSING_CLIENT_CAPABILITY
                | RpcError::UNSUPPORTED_PROTOCOL_VERSION
        )
    }

    /// The same error with `data`.
    #[must_use]
    pub fn with_data(mut self, data: Json) -> RpcError {
        self.data = Some(data);
        self
    }

    /// Whether this says that the resource `uri` does not exist: -32002, or -32602 with `data.uri` equal to
    /// it (server/resources, 2026-07-28).
    pub fn is_resource_not_found(&self, uri: &str) -> bool {
        match self.code {
            RpcError::RESOURCE_NOT_FOUND => true,
            RpcError::INVALID_PARAMS => {
                let named = self.data.as_ref().and_then(|data| data.member("uri"));
                named.is_some_and(|named| named.as_text().to_text().is_some_and(|named| named == uri))
            }
            _ => false,
        }
    }
}

impl fmt::Display for RpcError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.message, self.code)
    }
}

impl core::error::Error for RpcError {}

/// Something in a message that the protocol does not allow.
///
/// It comes with [`MessageDiscarded`](crate::client::Event::MessageDiscarded) when the message could not be
/// used, and with [`ViolationTolerated`](crate::client::Event::ViolationTolerated) when it was used anyway.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
#[non_exhaustive]
pub enum Violation {
    /// The line is not JSON: a log line, a banner, a broken message.
    NotJson = 1,
    /// The line is not UTF-8.
    NotUtf8 = 2,
    /// The message is longer than the limit; its head is given.
    TooLong = 3,
    /// The message nests deeper than the limit.
    TooDeep = 4,
    /// The input ended inside a message.
    EndedEarly = 5,
    /// A byte-order mark stood before the message.
    ByteOrderMark = 6,
    /// JSON, but no object with a method, a result or an error.
    NotAMessage = 7,
    /// `"jsonrpc": "2.0"` is missing or wrong.
    WrongVersionMember = 8,
    /// A request id that is null, a fraction, or no string and no number.
    InvalidId = 9,
    /// A member of the envelope stands twice.
    DuplicateMember = 10,
    /// A member of the envelope that JSON-RPC does not know.
    UnknownMember = 11,
    /// `params` is not an object.
    InvalidParams = 12,
    /// Result and error stand side by side.
    ResultAndError = 13,
    /// A response with neither result nor error.
    EmptyResponse = 14,
    /// The error's code is missing or no integer.
    InvalidErrorCode = 15,
    /// The error is no object.
    InvalidError = 16,
    /// A batch where the revision has none, or one that is empty or too long.
    UnexpectedBatch = 17,
    /// A request with an id that is still in flight.
    DuplicateId = 18,
    /// A response to nothing that is in flight.
    UnknownResponse = 19,
    /// A notification for a token, request or subscription that is not in flight.
    UnknownTarget = 20,
    /// A message that this side or revision does not take.
    UnexpectedMessage = 21,
    /// Progress that does not increase.
    ProgressNotIncreasing = 22,
    /// A result that is not what its method defines.
    InvalidResult = 23,
    /// More arrived than the application took; the message was dropped.
    QueueFull = 24,
    /// There is too little memory to take the message.
    NoRoom = 25,
}

/// One classified message. `params` is `None` when absent or null.
#[derive(Debug)]
pub(crate) enum Message<'a> {
    Request {
        id: RequestId,
        method: Cow<'a, str>,
        params: Option<&'a str>,
    },
    Notification {
        method: Cow<'a, str>,
        params: Option<&'a str>,
    },
    Response {
        id: RequestId,
        outcome: Outcome<'a>,
    },
    /// An error that answers something unreadable.
    ErrorWithoutId {
        error: RpcError,
    },
}

#[derive(Debug)]
pub(crate) enum Outcome<'a> {
    Result(&'a str),
    Error(RpcError),
}

/// A text that is no usable message, and what may still be settled by it.
#[derive(Debug)]
pub(crate) struct Malformed {
    pub(crate) violation: Violation,
    /// The id, wherever it could be read.
    pub(crate) id: Option<RequestId>,
    /// It has a `method`, so that an answer is due if it has an id.
    pub(crate) has_method: bool,
}

impl Malformed {
    /// The error that answers this message (JSON-RPC 2.0, section 5.1).
    pub(crate) fn rpc_error(&self) -> RpcError {
        let (code, message) = match self.violation {
            Violation::NotJson | Violation::NotUtf8 | Violation::EndedEarly => {
                (RpcError::PARSE_ERROR, "Parse error: not a JSON text".into())
            }
            Violation::TooLong => {
                (RpcError::INVALID_REQUEST, "Invalid request: longer than the limit on message bytes".into())
            }
            Violation::TooDeep => {
                (RpcError::INVALID_REQUEST, "Invalid request: deeper than the limit on nesting".into())
            }
            Violation::InvalidParams => (RpcError::INVALID_PARAMS, "Invalid params: not an object".into()),
            Violation::NoRoom => (RpcError::INTERNAL_ERROR, "Too little memory for the message".into()),
            other => (RpcError::INVALID_REQUEST, format!("Invalid request: {}", other.explanation())),
        };
        RpcError { code, message: Box::from(message), data: None }
    }
}

impl Violation {
    /// As much of the bytes of a message as is kept to tell of it.
    pub(crate) const fn kept(self, bytes: &[u8]) -> &[u8] {
        if matches!(self, Violation::NoRoom) { &[] } else { bytes }
    }

    /// The name in every language: it never changes, unlike the wording of [`explanation`](Self::explanation).
    pub const fn name(self) -> &'static str {
        match self {
            Violation::NotJson => "not_json",
            Violation::NotUtf8 => "not_utf8",
            Violation::TooLong => "too_long",
            Violation::TooDeep => "too_deep",
            Violation::EndedEarly => "ended_early",
            Violation::ByteOrderMark => "byte_order_mark",
            Violation::NotAMessage => "not_a_message",
            Violation::WrongVersionMember => "wrong_version_member",
            Violation::InvalidId => "invalid_id",
            Violation::DuplicateMember => "duplicate_member",
            Violation::UnknownMember => "unknown_member",
            Violation::InvalidParams => "invalid_params",
            Violation::ResultAndError => "result_and_error",
            Violation::EmptyResponse => "empty_response",
            Violation::InvalidErrorCode => "invalid_error_code",
            Violation::InvalidError => "invalid_error",
            Violation::UnexpectedBatch => "unexpected_batch",
            Violation::DuplicateId => "duplicate_id",
            Violation::UnknownResponse => "unknown_response",
            Violation::UnknownTarget => "unknown_target",
            Violation::UnexpectedMessage => "unexpected_message",
            Violation::ProgressNotIncreasing => "progress_not_increasing",
            Violation::InvalidResult => "invalid_result",
            Violation::QueueFull => "queue_full",
            Violation::NoRoom => "no_room",
        }
    }

    /// What was wrong, in a few words.
    pub const fn explanation(self) -> &'static str {
        match self {
            Violation::NotJson => "not JSON",
            Violation::NotUtf8 => "not UTF-8",
            Violation::TooLong => "longer than the limit on message bytes",
            Violation::TooDeep => "deeper than the limit",
            Violation::EndedEarly => "the input ended inside the message",
            Violation::ByteOrderMark => "a byte-order mark before the message",
            Violation::NotAMessage => "no JSON-RPC message",
            Violation::WrongVersionMember => "the member jsonrpc is not \"2.0\"",
            Violation::InvalidId => "the id is neither a string nor an integer",
            Violation::DuplicateMember => "a member stands twice",
            Violation::UnknownMember => "an unknown member",
            Violation::InvalidParams => "params is not an object",
            Violation::ResultAndError => "both result and error",
            Violation::EmptyResponse => "neither result nor error",
            Violation::InvalidErrorCode => "the error code is missing or not an integer",
            Violation::InvalidError => "the error is not an object",
            Violation::UnexpectedBatch => "a batch is not allowed here",
            Violation::DuplicateId => "the id is still in flight",
            Violation::UnknownResponse => "a response to nothing in flight",
            Violation::UnknownTarget => "a notification about nothing in flight",
            Violation::UnexpectedMessage => "this side does not take such a message",
            Violation::ProgressNotIncreasing => "progress that does not increase",
            Violation::InvalidResult => "the result is not what the method defines",
            Violation::QueueFull => "more than the application took",
            Violation::NoRoom => "too little memory for it",
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.explanation())
    }
}
