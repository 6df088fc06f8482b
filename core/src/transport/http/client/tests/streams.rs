//! Streams that are resumed, and the one that belongs to no request.

use super::*;
use crate::transport::http::client::ExchangeFailure;

const PRIMED: &[u8] = b"id: event-1\nretry: 500\ndata: \n\n";

// proves: BASE-226 BASE-232 BASE-234 BASE-250 BASE-253
#[test]
fn a_primed_stream_is_asked_for_again_when_the_server_says() {
    let mut wire = Wire::in_session(LEGACY);
    let call = wire.call(1, LEGACY).exchange;
    wire.head(call, 200, EVENTS);
    wire.body(call, PRIMED);
    wire.wait(50);
    wire.end(call);
    wire.assert_quiet();
    assert!(wire.wait(500));
    let resumed = wire.request();
    assert_eq!((resumed.method, resumed.is_stream), ("GET", true));
    assert_eq!(header(&resumed, headers::LAST_EVENT_ID), Some("event-1"));
    assert_eq!(header(&resumed, headers::SESSION_ID), Some("s1"));
    assert_eq!(header(&resumed, headers::PROTOCOL_VERSION), Some("2025-11-25"));
    assert_eq!(header(&resumed, headers::ACCEPT), Some("text/event-stream"));
    wire.head(resumed.exchange, 200, EVENTS);
    wire.body(resumed.exchange, b"id: event-2\ndata: {\"id\":1}\n\n");
    assert_eq!(wire.seen(), ["1 {\"id\":1}"]);
    assert!(wire.wait(5_000));
    assert_eq!(wire.aborted(), resumed.exchange, "it was answered and should have ended");
    assert!(wire.http.table.is_empty());
}

// proves: BASE-247 BASE-254
#[test]
fn only_a_stream_with_an_id_and_without_the_answer_is_resumed() {
    let cases: [(Revision, &str, bool, &[&str]); 6] = [
        (LEGACY, "data: {\"method\":1}\n\n", false, &["1 {\"method\":1}", "1 Truncated"]),
        (LEGACY, "id: 1\ndata: {\"id\":1}\n\n", false, &["1 {\"id\":1}"]),
        (
            LEGACY,
            "id: 1\ndata: {\"method\":1}\n\nid:\ndata:\n\n",
            false,
            &["1 {\"method\":1}", "1 Truncated"],
        ),
        (LEGACY, "id: 1\ndata:\n\n", true, &[]),
        (LEGACY, "id: 1\ndata:", false, &["1 Truncated"]),
        (MODERN, "id: 1\ndata:\n\n", false, &["1 Truncated"]),
    ];
    for (revision, body, resumes, expected) in cases {
        let mut wire = Wire::in_session(LEGACY);
        let call = wire.call(1, revision).exchange;
        wire.head(call, 200, EVENTS);
        wire.body(call, body.as_bytes());
        wire.fail(call, ExchangeFailure::Broken);
        assert_eq!(wire.seen(), expected, "{body}");
        assert_eq!(wire.wait(1_000), resumes, "{body}");
        assert_eq!(wire.poll().is_some(), resumes, "{body}");
    }
}

#[test]
fn attempts_that_bring_nothing_are_few_and_farther_apart() {
    let mut wire = Wire::in_session(LEGACY);
    let call = wire.call(1, LEGACY).exchange;
    wire.head(call, 200, EVENTS);
    wire.body(call, PRIMED);
    wire.end(call);
    let failures: [fn(&mut Wire, ExchangeHandle); 5] = [
        |wire, exchange| wire.fail(exchange, ExchangeFailure::NotSent),
        |wire, exchange| wire.answer(exchange, 503, &[], ""),
        |wire, exchange| {
            wire.head(exchange, 200, EVENTS);
            wire.end(exchange);
        },
        |wire, exchange| wire.end(exchange),
        |wire, exchange| wire.fail(exchange, ExchangeFailure::Broken),
    ];
    for (times, fail) in failures.into_iter().enumerate() {
        assert!(wire.wait(500 << times), "{times}");
        let request = wire.request();
        assert_eq!(header(&request, headers::LAST_EVENT_ID), Some("event-1"));
        assert!(wire.seen().is_empty());
        fail(&mut wire, request.exchange);
    }
    assert_eq!(wire.seen(), ["1 Truncated"]);
    wire.assert_quiet();
    assert!(wire.http.table.is_empty());
}

#[test]
fn a_refused_resumption_never_repeats_the_request() {
    let cases: [(u16, &[&str]); 5] = [
        (400, &["1 Truncated"]),
        (405, &["1 Truncated"]),
        (204, &["1 Truncated"]),
        (401, &["1 Unauthorized(401)"]),
        (404, &["1 Truncated", "SessionLost(true)"]),
    ];
    for (status, expected) in cases {
        let mut wire = Wire::in_session(LEGACY);
        let call = wire.call(1, LEGACY).exchange;
        wire.head(call, 200, EVENTS);
        wire.body(call, PRIMED);
        wire.end(call);
        wire.wait(500);
        let resumed = wire.request().exchange;
        wire.answer(resumed, status, &[], "");
        assert_eq!(wire.seen(), expected, "{status}");
        assert!(wire.http.table.is_empty());
    }
}

#[test]
fn what_was_answered_elsewhere_is_not_resumed() {
    let mut wire = Wire::new();
    wire.open_session(LEGACY);
    let stream = wire.request().exchange;
    wire.head(stream, 200, EVENTS);
    let call = wire.call(1, LEGACY).exchange;
    wire.head(call, 200, EVENTS);
    wire.body(call, PRIMED);
    wire.end(call);
    wire.body(stream, b"data: {\"id\":1}\n\n");
    assert_eq!(wire.seen(), ["{\"id\":1}"]);
    wire.wait(500);
    wire.assert_quiet();
}

#[test]
fn a_stream_of_an_older_session_is_not_resumed() {
    let mut wire = Wire::in_session(LEGACY);
    let call = wire.call(1, LEGACY).exchange;
    wire.head(call, 200, EVENTS);
    wire.body(call, PRIMED);
    wire.end(call);
    wire.open_session(LEGACY);
    let stream = wire.request().exchange;
    wire.wait(500);
    assert_eq!(wire.seen(), ["1 Truncated"]);
    wire.assert_quiet();
    wire.answer(stream, 405, &[], "");
}

// proves: BASE-235 BASE-236
#[test]
fn everything_waits_for_the_stream_of_the_session() {
    let mut wire = Wire::new();
    let opens = |number| Route::Opens(RequestHandle::from_number(number));
    wire.send(opens(1), Some(handshake()));
    let initialize = wire.request().exchange;
    wire.answer(initialize, 200, OPENED, "{\"id\":1}");
    // An answer to a question of the server may stand before `initialized`.
    wire.send(Route::Alone, None);
    wire.request();
    wire.send(Route::Alone, Some(of(LEGACY)));
    let initialized = wire.request();
    assert_eq!(header(&initialized, headers::SESSION_ID), Some("s1"));
    wire.send(opens(2), Some(of(LEGACY)));
    wire.send(Route::Alone, Some(of(LEGACY)));
    wire.assert_quiet();
    wire.head(initialized.exchange, 202, &[]);
    let stream = wire.request();
    assert_eq!(stream.method, "GET");
    assert_eq!(header(&stream, headers::SESSION_ID), Some("s1"));
    assert_eq!(header(&stream, headers::LAST_EVENT_ID), None);
    wire.assert_quiet();
    wire.head(stream.exchange, 200, EVENTS);
    assert!(wire.request().is_stream);
    assert!(!wire.request().is_stream);
    wire.assert_quiet();
    wire.body(stream.exchange, b"data: {\"method\":\"ask\"}\n\n");
    assert_eq!(wire.seen(), ["1 {\"id\":1}", "{\"method\":\"ask\"}"]);
}

#[test]
fn a_session_without_a_version_header_has_its_stream_too() {
    let mut wire = Wire::new();
    wire.send(Route::Opens(RequestHandle::from_number(1)), Some(handshake()));
    let initialize = wire.request().exchange;
    wire.answer(initialize, 200, OPENED, "{\"id\":1}");
    wire.send(Route::Alone, Some(Mirrored::default()));
    let initialized = wire.request();
    assert_eq!(header(&initialized, headers::PROTOCOL_VERSION), None);
    wire.answer(initialized.exchange, 202, &[], "");
    let stream = wire.request();
    assert_eq!((stream.method, header(&stream, headers::SESSION_ID)), ("GET", Some("s1")));
    assert_eq!(header(&stream, headers::PROTOCOL_VERSION), None);
}

// proves: BASE-237
#[test]
fn whatever_the_stream_comes_to_the_rest_goes_on() {
    let outcomes: [fn(&mut Wire, ExchangeHandle); 8] = [
        |wire, stream| wire.answer(stream, 405, &[], ""),
        |wire, stream| wire.answer(stream, 409, &[], ""),
        |wire, stream| wire.answer(stream, 404, &[], ""),
        |wire, stream| wire.answer(stream, 501, &[], ""),
        |wire, stream| wire.answer(stream, 200, JSON, "{}"),
        |wire, stream| wire.answer(stream, 401, &[], ""),
        |wire, stream| wire.fail(stream, ExchangeFailure::NotSent),
        |wire, _| assert!(wire.wait(2_000)),
    ];
    for (number, outcome) in outcomes.into_iter().enumerate() {
        let mut wire = Wire::new();
        wire.open_session(LEGACY);
        wire.send(Route::Opens(RequestHandle::from_number(1)), Some(of(LEGACY)));
        let stream = wire.request().exchange;
        wire.assert_quiet();
        outcome(&mut wire, stream);
        let mut next = wire.poll();
        if next == Some(HttpTransmit::Abort { exchange: stream }) {
            next = wire.poll();
        }
        assert!(matches!(next, Some(HttpTransmit::Request(_))), "{number}");
        assert!(wire.seen().is_empty(), "{number}");
    }
}

#[test]
fn a_server_that_does_not_take_initialized_is_not_waited_for_without_end() {
    let mut wire = Wire::new();
    wire.send(Route::Opens(RequestHandle::from_number(1)), Some(handshake()));
    let initialize = wire.request().exchange;
    wire.answer(initialize, 200, OPENED, "{\"id\":1}");
    wire.send(Route::Alone, Some(of(LEGACY)));
    wire.request();
    wire.send(Route::Opens(RequestHandle::from_number(2)), Some(of(LEGACY)));
    wire.assert_quiet();
    assert!(wire.wait(10_000));
    assert_eq!(wire.request().method, "GET");
    assert!(wire.wait(2_000));
    assert_eq!(wire.request().method, "POST");
}

#[test]
fn the_stream_of_the_session_comes_back() {
    let mut wire = Wire::new();
    wire.open_session(LEGACY);
    let stream = wire.request().exchange;
    wire.head(stream, 200, EVENTS);
    wire.body(stream, b"id: 9\ndata: {\"method\":1}\n\n");
    wire.end(stream);
    assert!(wire.wait(1_000));
    let again = wire.request();
    assert_eq!(header(&again, headers::LAST_EVENT_ID), Some("9"));
    wire.head(again.exchange, 200, EVENTS);
    // Cut off for being idle: that is no fault.
    wire.wait(10_000);
    wire.fail(again.exchange, ExchangeFailure::Broken);
    assert!(wire.wait(1_000));
    let again = wire.request().exchange;
    assert_eq!(wire.seen(), ["{\"method\":1}"]);
    wire.answer(again, 404, &[], "");
    assert_eq!(wire.seen(), ["SessionLost(true)"]);
}

#[test]
fn a_stream_that_always_ends_at_once_is_asked_for_more_and_more_rarely() {
    let mut wire = Wire::new();
    wire.open_session(LEGACY);
    let mut stream = wire.request().exchange;
    for times in 0..20_u32 {
        wire.head(stream, 200, EVENTS);
        wire.end(stream);
        let wait = (1_000 << times.min(6)).min(60_000);
        wire.wait(wait - 1);
        wire.assert_quiet();
        assert!(wire.wait(1));
        stream = wire.request().exchange;
    }
    assert!(wire.seen().is_empty());
}

#[test]
fn a_new_handshake_leaves_the_old_stream() {
    let mut wire = Wire::new();
    wire.open_session(LEGACY);
    let stream = wire.request().exchange;
    wire.head(stream, 200, EVENTS);
    wire.send(Route::Opens(RequestHandle::from_number(2)), Some(handshake()));
    assert_eq!(wire.request().method, "POST");
    assert_eq!(wire.aborted(), stream);
}

#[test]
fn no_stream_is_asked_for_where_none_is_wanted() {
    let mut wire = Wire::with(|config| config.opens_stream = false);
    wire.open_session(LEGACY);
    wire.assert_quiet();
    assert_eq!(wire.call(1, LEGACY).method, "POST");
}

// The public report on event streams that many readers got wrong.
#[test]
fn an_event_stream_of_every_kind_of_line() {
    let chunks: [&[u8]; 9] = [
        "\u{feff}: keep-alive\r\n\r\n".as_bytes(),
        b"retry: 1500\r\nid: s1-0\r\ndata:\r\n\r\n",
        b"event: ping\r\ndata: 123\r\n\r\n",
        b"id: s1-1\r\ndata: {\"method\":\"x\",\r",
        b"\ndata: \"params\":\r\ndata: \"one\"}\r\n\r\n",
        b"data:{\"method\":\"two\xf0\x9f\x98",
        b"\x80\"}\n\n",
        b"unknown: field\rid: s1-2\revent: message\rdata: {\"id\":1}\r\r",
        b"data: {\"method\":\"unfinished\"}",
    ];
    for single in [false, true] {
        let mut wire = Wire::in_session(LEGACY);
        let call = wire.call(1, LEGACY).exchange;
        wire.head(call, 200, EVENTS);
        for chunk in chunks {
            for piece in chunk.chunks(if single { 1 } else { chunk.len() }) {
                wire.body(call, piece);
            }
        }
        wire.end(call);
        let expected = [
            "1 {\"method\":\"x\",\n\"params\":\n\"one\"}",
            "1 {\"method\":\"two\u{1f600}\"}",
            "1 {\"id\":1}",
        ];
        assert_eq!(wire.seen(), expected);
        assert!(wire.http.table.is_empty());
    }
}
