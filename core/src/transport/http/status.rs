//! Status codes: which one a refusal has, and what one says of the server that answered with it.

use crate::jsonrpc::parse::{self, Parsed};
use crate::jsonrpc::{Message, Outcome, RpcError, Violation};

use super::media::Media;

pub(crate) const OK: u16 = 200;
pub(crate) const ACCEPTED: u16 = 202;
pub(crate) const NO_CONTENT: u16 = 204;

/// The status for each code with which a request is refused before anything is done for it
/// (basic/transports/streamable-http, 2026-07-28). What a handler answers is an answer and has status 200.
const REFUSALS: [(i64, u16); 8] = [
    (RpcError::PARSE_ERROR, 400),
    (RpcError::INVALID_REQUEST, 400),
    (RpcError::METHOD_NOT_FOUND, 404),
    (RpcError::INVALID_PARAMS, 400),
    // What is refused with it is too much for now.
    (RpcError::INTERNAL_ERROR, 503),
    (RpcError::HEADER_MISMATCH, 400),
    (RpcError::MISSING_CLIENT_CAPABILITY, 400),
    (RpcError::UNSUPPORTED_PROTOCOL_VERSION, 400),
];

/// The status with which `code` refuses a modern request.
pub(crate) fn of_refusal(code: i64) -> u16 {
    REFUSALS.iter().find(|(known, _)| *known == code).map_or(400, |(_, status)| *status)
}

/// Why the transport refuses a request by itself, before a machine sees a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The request comes from a page, or goes to a name, that is not allowed.
    Forbidden,
    /// The endpoint does not take this method; the answer names those it takes.
    MethodNotAllowed,
    /// The client accepts no form in which the answer can be given.
    NotAcceptable,
    /// The body is larger than allowed.
    BodyTooLarge,
    /// The body is not declared as JSON.
    UnsupportedMediaType,
    /// The session is not known: it ended, or belongs to someone else.
    UnknownSession,
    /// The request needs a session and names none.
    MissingSession,
    /// The stream that is asked for is open already.
    StreamIsOpen,
    /// The revision that the request names is not served, or has no such request.
    UnservedRevision,
    /// The event that is asked for is not known. It is no 404, which would say that the session is over.
    UnknownEvent,
    /// The body is not UTF-8.
    NotUtf8,
    /// There is no room for another channel.
    Overloaded,
    /// The server takes no more requests.
    ShuttingDown,
}

/// Status, code of the error in the body, and what it says, for each refusal.
const BY_TRANSPORT: [(Refusal, u16, i64, &str); 13] = [
    (Refusal::Forbidden, 403, RpcError::INVALID_REQUEST, "Forbidden: Origin or Host is not allowed"),
    (Refusal::MethodNotAllowed, 405, RpcError::INVALID_REQUEST, "Method not allowed"),
    (
        Refusal::NotAcceptable,
        406,
        RpcError::INVALID_REQUEST,
        "Not acceptable: accept application/json and text/event-stream",
    ),
    (Refusal::BodyTooLarge, 413, RpcError::INVALID_REQUEST, "Content too large"),
    (
        Refusal::UnsupportedMediaType,
        415,
        RpcError::INVALID_REQUEST,
        "Unsupported media type: send application/json",
    ),
    (Refusal::UnknownSession, 404, RpcError::INVALID_REQUEST, "Session not found"),
    (Refusal::MissingSession, 400, RpcError::INVALID_REQUEST, "Invalid request: Mcp-Session-Id is missing"),
    (Refusal::StreamIsOpen, 409, RpcError::INVALID_REQUEST, "Conflict: the stream is open already"),
    (Refusal::UnservedRevision, 400, RpcError::INVALID_REQUEST, "Invalid request: revision not served here"),
    (Refusal::UnknownEvent, 400, RpcError::INVALID_REQUEST, "Invalid request: unknown event id"),
    (Refusal::NotUtf8, 400, RpcError::PARSE_ERROR, "Parse error: not UTF-8"),
    (Refusal::Overloaded, 503, RpcError::INTERNAL_ERROR, "Unavailable: too many sessions"),
    (Refusal::ShuttingDown, 503, RpcError::INTERNAL_ERROR, "Unavailable: shutting down"),
];

impl Refusal {
    /// The status of the answer.
    pub(crate) fn status(self) -> u16 {
        self.row().1
    }

    /// The error in its body, which names no id.
    pub(crate) fn error(self) -> RpcError {
        let (_, _, code, message) = self.row();
        RpcError::new(*code, message)
    }

    fn row(self) -> &'static (Refusal, u16, i64, &'static str) {
        // The table has a row for each, as a test shows.
        BY_TRANSPORT.iter().find(|(refusal, ..)| *refusal == self).unwrap_or(&BY_TRANSPORT[0])
    }
}

/// Status, code of the error in the body, and what it says, where the host denies a request.
const DENIALS: [(u16, i64, &str); 4] = [
    (400, RpcError::INVALID_REQUEST, "Invalid request: malformed authorization"),
    (401, RpcError::INVALID_REQUEST, "Unauthorized"),
    (403, RpcError::INVALID_REQUEST, "Forbidden: the authorization does not suffice"),
    (503, RpcError::INTERNAL_ERROR, "Unavailable: the authorization cannot be verified"),
];

/// The status with which the host denies a request, and the error in the body, which names no id.
pub(crate) fn of_denial(status: u16) -> (u16, RpcError) {
    let known = DENIALS.iter().find(|(known, ..)| *known == status);
    let (status, code, message) = known.unwrap_or(&DENIALS[3]);
    (*status, RpcError::new(*code, message))
}

/// What a client asked, as far as the meaning of the status depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    /// A modern request, of a server whose era is not known.
    ModernOpening,
    /// A modern request.
    ModernRequest,
    /// A modern notification.
    ModernNotice,
    /// `initialize`.
    LegacyOpening,
    /// A legacy request; whether it named a session.
    LegacyRequest { session: bool },
    /// A legacy notification or response; whether it named a session.
    LegacyNotice { session: bool },
    /// A legacy stream, new or resumed, by GET; whether it named a session.
    Stream { session: bool },
    /// The end of a session, by DELETE.
    EndOfSession,
}

/// What an answer is, before or without looking at the message in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The body is a message. If it is an error without an id, it answers what was asked.
    Message,
    /// The body is an event stream.
    Events,
    /// Taken; there is no message to come.
    Accepted,
    /// An error that modern servers alone give. The body is a message.
    ModernError,
    /// The server does not know modern requests.
    LegacyEvidence,
    /// The session is over: start again without it.
    SessionGone,
    /// There is no endpoint that takes messages: the older HTTP with SSE may be there.
    NoEndpoint,
    /// The server offers no such stream, or does not let sessions be ended.
    NotOffered,
    /// Who asks has to prove who they are, or may not ask.
    Unauthorized,
    /// The server or the way to it fails for now. It says nothing of the era.
    Outage,
    /// Refused, or answered with something that is no answer.
    Unusable,
}

/// Judges an answer to `asked` by its status, its content type and, for statuses other than 2xx, the code of the
/// JSON-RPC error that its body is, which [`error_code`] finds.
pub(crate) fn judge(asked: Asked, status: u16, media: Media, error: Option<i64>) -> Verdict {
    match status {
        200..=299 => judge_success(asked, status, media),
        401 | 403 => Verdict::Unauthorized,
        408 | 429 | 500..=599 => match error {
            Some(_) if !asked.is_opening() => Verdict::Message,
            _ => Verdict::Outage,
        },
        400..=499 => judge_refusal(asked, status, error),
        _ => Verdict::Unusable,
    }
}

impl Asked {
    const fn is_opening(self) -> bool {
        matches!(self, Asked::ModernOpening | Asked::LegacyOpening)
    }

    const fn names_session(self) -> bool {
        matches!(
            self,
            Asked::LegacyRequest { session: true }
                | Asked::LegacyNotice { session: true }
                | Asked::Stream { session: true }
                | Asked::EndOfSession
        )
    }
}

fn judge_success(asked: Asked, status: u16, media: Media) -> Verdict {
    match asked {
        Asked::ModernNotice | Asked::LegacyNotice { .. } | Asked::EndOfSession => Verdict::Accepted,
        Asked::Stream { .. } if media == Media::EventStream => Verdict::Events,
        Asked::Stream { .. } => Verdict::NotOffered,
        Asked::ModernOpening | Asked::ModernRequest | Asked::LegacyOpening | Asked::LegacyRequest { .. } => {
            match media {
                Media::EventStream if status != NO_CONTENT => Verdict::Events,
                Media::Json if status != NO_CONTENT => Verdict::Message,
                _ if asked == Asked::ModernOpening => Verdict::LegacyEvidence,
                _ => Verdict::Unusable,
            }
        }
    }
}

fn judge_refusal(asked: Asked, status: u16, error: Option<i64>) -> Verdict {
    match (error, asked, status) {
        (Some(code), ..) if RpcError::is_modern(code) => Verdict::ModernError,
        // A method that is not known has the same status, and its session lives.
        (Some(RpcError::METHOD_NOT_FOUND), Asked::LegacyRequest { .. }, _) => Verdict::Message,
        (_, asked, 404) if asked.names_session() => Verdict::SessionGone,
        (_, Asked::ModernOpening, _) => Verdict::LegacyEvidence,
        (_, Asked::LegacyOpening, 400 | 404 | 405)
        | (None, Asked::LegacyRequest { session: false }, 404 | 405) => Verdict::NoEndpoint,
        (_, Asked::Stream { .. } | Asked::EndOfSession, 405) => Verdict::NotOffered,
        (Some(_), ..) => Verdict::Message,
        // Too large a request says nothing of the era.
        (None, Asked::ModernRequest, 413 | 431) => Verdict::Unusable,
        (None, Asked::ModernRequest, _) => Verdict::LegacyEvidence,
        (None, ..) => Verdict::Unusable,
    }
}

/// The code of the JSON-RPC error that `body` is; `None` if it is anything else.
pub(crate) fn error_code(body: &str, depth: usize) -> Option<i64> {
    let reading = parse::read(body, depth);
    if let Some(Violation::WrongVersionMember | Violation::InvalidError) = reading.tolerated {
        // Other protocols have errors too.
        return None;
    }
    match reading.parsed {
        Parsed::One(
            Message::ErrorWithoutId { error } | Message::Response { outcome: Outcome::Error(error), .. },
        ) => Some(error.code),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // proves: BASE-285 BASE-324
    #[test]
    fn each_code_has_its_status() {
        let cases = [
            (-32700, 400),
            (-32600, 400),
            (-32601, 404),
            (-32602, 400),
            (-32603, 503),
            (-32020, 400),
            (-32021, 400),
            (-32022, 400),
            (7, 400),
        ];
        for (code, status) in cases {
            assert_eq!(of_refusal(code), status, "{code}");
        }
    }

    // proves: BASE-198
    #[test]
    fn each_refusal_of_the_transport_has_its_status() {
        let statuses = BY_TRANSPORT.map(|(refusal, ..)| (refusal, refusal.status()));
        let expected = [
            (Refusal::Forbidden, 403),
            (Refusal::MethodNotAllowed, 405),
            (Refusal::NotAcceptable, 406),
            (Refusal::BodyTooLarge, 413),
            (Refusal::UnsupportedMediaType, 415),
            (Refusal::UnknownSession, 404),
            (Refusal::MissingSession, 400),
            (Refusal::StreamIsOpen, 409),
            (Refusal::UnservedRevision, 400),
            (Refusal::UnknownEvent, 400),
            (Refusal::NotUtf8, 400),
            (Refusal::Overloaded, 503),
            (Refusal::ShuttingDown, 503),
        ];
        assert_eq!(statuses, expected);
        // No refusal passes for an error that tells the era.
        assert!(BY_TRANSPORT.iter().all(|(refusal, ..)| !RpcError::is_modern(refusal.error().code)));
    }

    const SESSION: Asked = Asked::LegacyRequest { session: true };
    const NO_SESSION: Asked = Asked::LegacyRequest { session: false };
    const STREAM: Asked = Asked::Stream { session: true };

    #[track_caller]
    fn check(cases: &[(Asked, u16, Media, Option<i64>, Verdict)]) {
        for &(asked, status, media, error, expected) in cases {
            assert_eq!(
                judge(asked, status, media, error),
                expected,
                "{asked:?} {status} {media:?} {error:?}"
            );
        }
    }

    // proves: BASE-216
    #[test]
    fn success_is_a_message_or_a_stream() {
        use Media::{EventStream, Json, Other};
        for asked in [Asked::ModernOpening, Asked::ModernRequest, Asked::LegacyOpening, SESSION, NO_SESSION] {
            check(&[
                (asked, 200, Json, None, Verdict::Message),
                (asked, 200, EventStream, None, Verdict::Events),
            ]);
        }
        check(&[
            (Asked::ModernOpening, 202, Other, None, Verdict::LegacyEvidence),
            (Asked::ModernOpening, 200, Other, None, Verdict::LegacyEvidence),
            (Asked::ModernOpening, 204, Json, None, Verdict::LegacyEvidence),
            (Asked::ModernRequest, 202, Other, None, Verdict::Unusable),
            (SESSION, 200, Other, None, Verdict::Unusable),
            (Asked::ModernNotice, 202, Other, None, Verdict::Accepted),
            (Asked::LegacyNotice { session: true }, 202, Other, None, Verdict::Accepted),
            (Asked::LegacyNotice { session: false }, 200, Json, None, Verdict::Accepted),
            (Asked::EndOfSession, 204, Other, None, Verdict::Accepted),
            (STREAM, 200, EventStream, None, Verdict::Events),
            (STREAM, 200, Json, None, Verdict::NotOffered),
        ]);
    }

    // proves: BASE-330 BASE-331
    #[test]
    fn a_modern_request_tells_the_era() {
        use Media::{Json, Other};
        for code in [-32020, -32021, -32022] {
            for asked in [Asked::ModernOpening, Asked::ModernRequest, Asked::LegacyOpening] {
                check(&[(asked, 400, Json, Some(code), Verdict::ModernError)]);
            }
        }
        for status in [400, 404, 405, 406, 415, 422, 413] {
            check(&[
                (Asked::ModernOpening, status, Other, None, Verdict::LegacyEvidence),
                (Asked::ModernOpening, status, Json, Some(-32601), Verdict::LegacyEvidence),
                (Asked::ModernOpening, status, Json, Some(-32000), Verdict::LegacyEvidence),
                (Asked::ModernRequest, status, Json, Some(-32602), Verdict::Message),
            ]);
        }
        check(&[
            (Asked::ModernRequest, 404, Json, Some(-32601), Verdict::Message),
            (Asked::ModernRequest, 404, Other, None, Verdict::LegacyEvidence),
            (Asked::ModernRequest, 413, Other, None, Verdict::Unusable),
            (Asked::ModernRequest, 431, Other, None, Verdict::Unusable),
            (Asked::ModernNotice, 400, Other, None, Verdict::Unusable),
        ]);
    }

    #[test]
    fn neither_an_outage_nor_a_login_tells_the_era() {
        use Media::{Json, Other};
        for asked in [Asked::ModernOpening, Asked::ModernRequest, Asked::LegacyOpening, SESSION, STREAM] {
            for status in [401, 403] {
                check(&[(asked, status, Json, Some(-32600), Verdict::Unauthorized)]);
            }
            for status in [408, 429, 500, 502, 503, 504] {
                check(&[(asked, status, Other, None, Verdict::Outage)]);
            }
            for status in [100, 301, 302, 307, 308, 600] {
                check(&[(asked, status, Other, None, Verdict::Unusable)]);
            }
        }
        check(&[
            (Asked::ModernOpening, 500, Json, Some(-32603), Verdict::Outage),
            (Asked::LegacyOpening, 503, Json, Some(-32603), Verdict::Outage),
            (Asked::ModernRequest, 500, Json, Some(-32603), Verdict::Message),
            (SESSION, 500, Json, Some(-32603), Verdict::Message),
        ]);
    }

    // proves: BASE-192 BASE-193
    #[test]
    fn what_does_not_take_initialize_may_be_older() {
        use Media::{Json, Other};
        for status in [400, 404, 405] {
            check(&[
                (Asked::LegacyOpening, status, Other, None, Verdict::NoEndpoint),
                (Asked::LegacyOpening, status, Json, Some(-32600), Verdict::NoEndpoint),
            ]);
        }
        check(&[
            (Asked::LegacyOpening, 406, Other, None, Verdict::Unusable),
            (Asked::LegacyOpening, 422, Json, Some(-32602), Verdict::Message),
            (NO_SESSION, 404, Other, None, Verdict::NoEndpoint),
        ]);
    }

    #[test]
    fn a_session_is_gone_with_404() {
        use Media::{Json, Other};
        for asked in [SESSION, Asked::LegacyNotice { session: true }, STREAM, Asked::EndOfSession] {
            check(&[
                (asked, 404, Other, None, Verdict::SessionGone),
                (asked, 404, Json, Some(-32001), Verdict::SessionGone),
                (asked, 404, Json, Some(-32600), Verdict::SessionGone),
            ]);
        }
        check(&[
            (SESSION, 404, Json, Some(-32601), Verdict::Message),
            (SESSION, 400, Json, Some(-32600), Verdict::Message),
            (SESSION, 400, Other, None, Verdict::Unusable),
            (NO_SESSION, 404, Json, Some(-32001), Verdict::Message),
            (Asked::LegacyNotice { session: true }, 400, Other, None, Verdict::Unusable),
        ]);
    }

    // proves: BASE-237 BASE-266
    #[test]
    fn streams_and_the_end_of_sessions_may_not_be_offered() {
        check(&[
            (STREAM, 405, Media::Other, None, Verdict::NotOffered),
            (Asked::Stream { session: false }, 405, Media::Json, Some(-32000), Verdict::NotOffered),
            (Asked::EndOfSession, 405, Media::Other, None, Verdict::NotOffered),
            (STREAM, 409, Media::Other, None, Verdict::Unusable),
        ]);
    }

    #[test]
    fn the_code_of_an_error_is_found_with_and_without_an_id() {
        let cases = [
            (r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"m"}}"#, Some(-32001)),
            (r#"{"jsonrpc":"2.0","error":{"code":-32020,"message":"m"}}"#, Some(-32020)),
            (r#"{"jsonrpc":"2.0","id":"server-error","error":{"code":-32600,"message":"m"}}"#, Some(-32600)),
            (r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, None),
            (r#"{"error":"invalid_token"}"#, None),
            (r#"{"error":{"code":404,"message":"m"}}"#, None),
            (r#"{"detail":"Not Found"}"#, None),
            ("<html>", None),
            ("", None),
        ];
        for (body, expected) in cases {
            assert_eq!(error_code(body, 64), expected, "{body}");
        }
    }
}
