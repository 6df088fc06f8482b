//! What answers and failures come to.

use super::*;
use crate::transport::http::client::ExchangeFailure;

const ERROR: &str = "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32020,\"message\":\"m\"}}";
const UNKNOWN: &str = "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32601,\"message\":\"m\"}}";
const GONE: &str = "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32001,\"message\":\"m\"}}";
const TEXT: &[(&str, &str)] = &[("content-type", "text/html")];

/// Status, headers and body of an answer, and what the machine is told.
type Case<'a> = (u16, &'a [(&'a str, &'a str)], &'a str, &'a [&'a str]);

fn check(revision: Revision, cases: &[Case<'_>]) {
    for (status, headers, body, expected) in cases {
        let mut wire = if revision == MODERN { Wire::new() } else { Wire::in_session(revision) };
        let exchange = wire.call(1, revision).exchange;
        wire.head(exchange, *status, headers);
        for byte in body.bytes() {
            wire.body(exchange, &[byte]);
        }
        wire.end(exchange);
        assert_eq!(wire.seen(), *expected, "{status} {body}");
        assert!(wire.http.table.is_empty(), "{status} {body}");
        wire.assert_quiet();
    }
}

// proves: BASE-216 BASE-326 BASE-437
#[test]
fn modern_answers() {
    check(
        MODERN,
        &[
            (200, JSON, "{\"id\":1}", &["1 {\"id\":1}"]),
            (200, JSON, "\u{feff}{\"id\":1}", &["1 {\"id\":1}"]),
            (
                200,
                EVENTS,
                "data: {\"method\":1}\n\ndata: {\"id\":1}\n\n",
                &["1 {\"method\":1}", "1 {\"id\":1}"],
            ),
            (200, JSON, "{\"id\":2}", &["1 {\"id\":2}", "1 Refused(200)"]),
            (200, JSON, " ", &["1 Refused(200)"]),
            (200, TEXT, "<html>", &["1 Refused(200)"]),
            (200, &[], "{\"id\":1}", &["1 Refused(200)"]),
            (202, &[], "", &["1 Refused(202)"]),
            (204, &[], "", &["1 Refused(204)"]),
            (307, TEXT, "", &["1 Refused(307)"]),
            (400, JSON, ERROR, &[&["1 ", ERROR].concat()]),
            (400, TEXT, ERROR, &[&["1 ", ERROR].concat()]),
            (404, JSON, UNKNOWN, &[&["1 ", UNKNOWN].concat()]),
            (400, JSON, "{\"detail\":\"no\"}", &["1 Refused(400)"]),
            (404, TEXT, "<html>", &["1 Refused(404)"]),
            (413, &[], "", &["1 Refused(413)"]),
            (401, JSON, ERROR, &["1 Unauthorized(401)"]),
            (403, &[], "", &["1 Unauthorized(403)"]),
            (429, TEXT, "slow down", &["1 Unavailable(429)"]),
            (503, EVENTS, "data: {\"id\":1}\n\n", &["1 Unavailable(503)"]),
            (500, JSON, ERROR, &[&["1 ", ERROR].concat()]),
            (200, EVENTS, "id: 1\ndata: {\"method\":1}\n\n", &["1 {\"method\":1}", "1 Truncated"]),
        ],
    );
}

// proves: BASE-264
#[test]
fn legacy_answers() {
    check(
        LEGACY,
        &[
            (200, JSON, "{\"id\":1}", &["1 {\"id\":1}"]),
            (200, JSON, "[{\"id\":1}]", &["1 [{\"id\":1}]", "1 Refused(200)"]),
            (202, &[], "", &["1 Refused(202)"]),
            (404, &[], "", &["1 SessionLost(true)"]),
            (404, JSON, GONE, &["1 SessionLost(true)"]),
            (404, JSON, UNKNOWN, &[&["1 ", UNKNOWN].concat()]),
            (400, JSON, GONE, &[&["1 ", GONE].concat()]),
            (200, EVENTS, "data: {\"method\":1}\n\n", &["1 {\"method\":1}", "1 Truncated"]),
        ],
    );
}

#[test]
fn errors_of_the_opening_at_5xx_say_nothing() {
    let mut wire = Wire::new();
    let mut mirrored = of(MODERN);
    mirrored.method = Some("server/discover".into());
    wire.machine().awaited.insert(RequestHandle::from_number(1), 1);
    wire.send(Route::Opens(RequestHandle::from_number(1)), Some(mirrored));
    let probe = wire.request().exchange;
    wire.answer(probe, 500, JSON, UNKNOWN);
    assert_eq!(wire.seen(), ["1 Unavailable(500)"]);
}

#[test]
fn failures_of_the_connection() {
    let head = |status: u16, headers: &'static [(&str, &str)]| Some((status, headers));
    let cases = [
        (None, "", ExchangeFailure::NotSent, "1 Unavailable(0)"),
        (None, "", ExchangeFailure::Broken, "1 Unavailable(0)"),
        (None, "", ExchangeFailure::Redirected { status: 301 }, "1 Refused(301)"),
        (head(200, JSON), "{\"id\"", ExchangeFailure::Broken, "1 Truncated"),
        (head(200, EVENTS), "data: {\"id\":1}\n", ExchangeFailure::Broken, "1 Truncated"),
        (head(502, TEXT), "<", ExchangeFailure::Broken, "1 Unavailable(502)"),
        (head(400, JSON), "{", ExchangeFailure::Broken, "1 Refused(400)"),
    ];
    for (head, body, failure, expected) in cases {
        let mut wire = Wire::new();
        let exchange = wire.call(1, MODERN).exchange;
        if let Some((status, headers)) = head {
            wire.head(exchange, status, headers);
        }
        wire.body(exchange, body.as_bytes());
        wire.fail(exchange, failure);
        assert_eq!(wire.seen(), [expected], "{head:?} {failure:?}");
        assert!(wire.http.table.is_empty());
    }
}

#[test]
fn bodies_are_bounded() {
    for (status, headers, expected) in [
        (200, JSON, &["TooLong 8", "1 Truncated"][..]),
        (400, JSON, &["1 Refused(400)"]),
        (200, EVENTS, &["TooLong 8"]),
    ] {
        let mut wire = Wire::with(|config| config.message_bytes = 8);
        let exchange = wire.call(1, MODERN).exchange;
        wire.head(exchange, status, headers);
        wire.body(exchange, b"data: 12");
        wire.body(exchange, b"3456789");
        assert_eq!(wire.seen(), expected, "{status}");
        if headers == JSON {
            assert_eq!(wire.aborted(), exchange, "the rest is not read");
            assert!(wire.http.table.is_empty());
        } else {
            wire.body(exchange, b"\n\ndata:ok\n\n");
            assert_eq!(wire.seen(), ["1 ok"]);
        }
    }
}

#[test]
fn a_body_that_is_not_utf8_is_damaged() {
    let mut wire = Wire::new();
    let exchange = wire.call(1, MODERN).exchange;
    wire.head(exchange, 200, JSON);
    wire.body(exchange, b"{\"id\":1,\"x\":\"\xff\"}");
    wire.end(exchange);
    assert_eq!(wire.seen(), ["NotUtf8 16", "1 Refused(200)"]);
}

// Servers answer 200 with a body of their own where 202 belongs.
#[test]
fn whatever_takes_a_notification_has_taken_it() {
    let cases: [Case<'_>; 8] = [
        (202, &[], "", &[]),
        (204, &[], "", &[]),
        (200, JSON, "{\"jsonrpc\":\"2.0\",\"result\":{}}", &[]),
        (200, EVENTS, "", &[]),
        (400, JSON, ERROR, &["Refused(400)"]),
        (404, JSON, GONE, &["SessionLost(true)"]),
        (401, &[], "", &["Unauthorized(401)"]),
        (503, &[], "", &["Unavailable(503)"]),
    ];
    for (status, headers, body, expected) in cases {
        let mut wire = Wire::in_session(LEGACY);
        wire.send(Route::Alone, None);
        let exchange = wire.request().exchange;
        wire.answer(exchange, status, headers, body);
        assert_eq!(wire.seen(), expected, "{status}");
        assert!(wire.http.table.is_empty(), "{status}");
    }
}

// proves: BASE-264
#[test]
fn messages_of_an_older_session_say_so() {
    let mut wire = Wire::in_session(LEGACY);
    let old = [wire.call(1, LEGACY).exchange, wire.call(2, LEGACY).exchange];
    wire.answer(old[0], 404, &[], "");
    assert_eq!(wire.seen(), ["1 SessionLost(true)"]);
    wire.open_session(LEGACY);
    wire.answer(old[1], 404, &[], "");
    assert_eq!(wire.seen(), ["2 SessionLost(false)"]);
}

#[test]
fn an_answered_attempt_does_not_fail_the_next() {
    let mut wire = Wire::new();
    let request = RequestHandle::from_number(1);
    let first = wire.call(1, MODERN).exchange;
    wire.head(first, 200, EVENTS);
    // The server asks back, and the machine sends the second attempt at once.
    wire.body(first, b"data: {\"id\":1}\n\n");
    wire.machine().awaited.insert(request, 7);
    wire.send(Route::Opens(request), Some(of(MODERN)));
    let second = wire.request().exchange;
    wire.end(first);
    assert_eq!(wire.seen(), ["1 {\"id\":1}"]);
    wire.machine().transmits.push_back(Transmit::Abort { request });
    assert_eq!(wire.aborted(), second);
}

#[test]
fn a_stream_that_goes_on_after_the_answer_is_left() {
    let mut wire = Wire::new();
    let exchange = wire.call(1, MODERN).exchange;
    wire.head(exchange, 200, EVENTS);
    wire.body(exchange, b"data: {\"id\":1}\n\ndata: {\"method\":2}\n\n");
    assert_eq!(wire.seen(), ["1 {\"id\":1}", "1 {\"method\":2}"]);
    wire.wait(4_999);
    wire.body(exchange, b"data: {\"method\":3}\n\n");
    wire.assert_quiet();
    assert!(wire.wait(1));
    assert_eq!(wire.aborted(), exchange);
}
