//! The end, and authorization.

use super::*;
use crate::transport::http::client::ExchangeFailure;

fn close(wire: &mut Wire) {
    wire.machine().transmits.push_back(Transmit::Close);
}

// proves: BASE-265 BASE-266
#[test]
fn the_end_leaves_what_is_open_and_ends_the_session() {
    let outcomes: [fn(&mut Wire, ExchangeHandle); 5] = [
        |wire, delete| wire.answer(delete, 200, &[], ""),
        |wire, delete| wire.answer(delete, 405, JSON, "{}"),
        |wire, delete| wire.answer(delete, 404, &[], ""),
        |wire, delete| wire.fail(delete, ExchangeFailure::NotSent),
        |wire, delete| {
            assert!(wire.wait(2_000));
            assert_eq!(wire.aborted(), delete);
        },
    ];
    for outcome in outcomes {
        let mut wire = Wire::new();
        wire.open_session(LEGACY);
        let stream = wire.request().exchange;
        wire.head(stream, 200, EVENTS);
        let call = wire.call(1, LEGACY).exchange;
        close(&mut wire);
        wire.send(Route::Alone, Some(of(LEGACY)));
        assert_eq!(wire.aborted(), stream);
        assert_eq!(wire.aborted(), call);
        let delete = wire.request();
        assert_eq!((delete.method, delete.is_stream), ("DELETE", false));
        assert_eq!(header(&delete, headers::SESSION_ID), Some("s1"));
        assert_eq!(header(&delete, headers::PROTOCOL_VERSION), Some("2025-11-25"));
        wire.assert_quiet();
        assert!(!wire.http.is_finished());
        outcome(&mut wire, delete.exchange);
        assert_eq!(wire.poll(), Some(HttpTransmit::Close));
        assert!(wire.http.is_finished());
        wire.assert_quiet();
        assert_eq!(wire.http.poll_timeout(), None);
        assert!(wire.seen().is_empty());
    }
}

#[test]
fn without_a_session_the_end_is_at_once() {
    let mut wire = Wire::new();
    let call = wire.call(1, MODERN).exchange;
    close(&mut wire);
    assert_eq!(wire.aborted(), call);
    assert_eq!(wire.poll(), Some(HttpTransmit::Close));
    assert!(wire.http.is_finished());
}

#[test]
fn a_notification_on_its_way_may_arrive() {
    let mut wire = Wire::new();
    wire.send(Route::Alone, Some(of(MODERN)));
    let notice = wire.request().exchange;
    close(&mut wire);
    wire.assert_quiet();
    wire.answer(notice, 202, &[], "");
    assert_eq!(wire.poll(), Some(HttpTransmit::Close));
}

// proves: BASE-265
#[test]
fn a_session_is_ended_after_what_is_on_its_way_in_it() {
    let outcomes: [fn(&mut Wire, ExchangeHandle); 3] = [
        |wire, notice| wire.answer(notice, 202, &[], ""),
        |wire, notice| wire.fail(notice, ExchangeFailure::Broken),
        |wire, notice| {
            assert!(wire.wait(2_000));
            assert_eq!(wire.aborted(), notice);
        },
    ];
    for outcome in outcomes {
        let mut wire = Wire::new();
        wire.open_session(LEGACY);
        let stream = wire.request().exchange;
        wire.head(stream, 200, EVENTS);
        wire.send(Route::Alone, Some(of(LEGACY)));
        let notice = wire.request().exchange;
        close(&mut wire);
        assert_eq!(wire.aborted(), stream);
        wire.assert_quiet();
        outcome(&mut wire, notice);
        let delete = wire.request();
        assert_eq!((delete.method, header(&delete, headers::SESSION_ID)), ("DELETE", Some("s1")));
        wire.assert_quiet();
        wire.answer(delete.exchange, 200, &[], "");
        assert_eq!(wire.poll(), Some(HttpTransmit::Close));
    }
}

#[test]
fn what_was_held_back_is_not_sent_after_the_end() {
    let mut wire = Wire::new();
    wire.open_session(LEGACY);
    let stream = wire.request().exchange;
    wire.send(Route::Alone, Some(of(LEGACY)));
    wire.assert_quiet();
    close(&mut wire);
    assert_eq!(wire.aborted(), stream);
    assert_eq!(wire.request().method, "DELETE");
    wire.assert_quiet();
}

fn authorizing() -> Wire {
    Wire::with(|config| config.authorizes = true)
}

const CHALLENGE: &[(&str, &str)] =
    &[("WWW-Authenticate", "Bearer a=\"b\""), ("x", "y"), ("www-authenticate", " Basic ")];

#[test]
fn what_was_refused_is_sent_again_with_credentials() {
    let mut wire = authorizing();
    let first = wire.call(1, MODERN);
    wire.answer(first.exchange, 401, CHALLENGE, "no");
    let challenges = ["Bearer a=\"b\"".into(), "Basic".into()].into();
    let event = HttpClientEvent::AuthorizationRequired {
        exchange: first.exchange,
        status: 401,
        challenges,
        dpop_nonce: None,
        operation: "POST".into(),
    };
    assert_eq!(wire.http.poll_http_event(), Some(event));
    wire.assert_quiet();
    wire.http.authorized(wire.at(), first.exchange);
    let second = wire.request();
    assert_ne!(first.exchange, second.exchange);
    assert_eq!(HttpRequest { exchange: first.exchange, ..second.clone() }, first);
    // More of it is asked for.
    wire.head(second.exchange, 403, &[("DPoP-Nonce", "n")]);
    let event = wire.http.poll_http_event();
    let Some(HttpClientEvent::AuthorizationRequired { status: 403, dpop_nonce, .. }) = event else {
        panic!()
    };
    assert_eq!(dpop_nonce.as_deref(), Some("n"));
    wire.http.authorized(wire.at(), second.exchange);
    let third = wire.request().exchange;
    assert!(wire.wait(5_000));
    assert_eq!(wire.aborted(), second.exchange, "the refusal should have ended");
    // A server that is never content is left in the end.
    let mut last = third;
    for _ in 0..3 {
        wire.answer(last, 401, CHALLENGE, "");
        assert!(wire.http.poll_http_event().is_some());
        wire.http.authorized(wire.at(), last);
        last = wire.request().exchange;
    }
    wire.answer(last, 401, CHALLENGE, "");
    assert_eq!(wire.http.poll_http_event(), None);
    assert_eq!(wire.seen(), ["1 Unauthorized(401)"]);
    // No time passed for it while it waited.
    assert_eq!(wire.machine().clock, [(1, false), (1, true)].repeat(5));
    // Nothing happens for what is over.
    wire.http.authorized(wire.at(), last);
    wire.http.authorized(wire.at(), first.exchange);
    wire.assert_quiet();
}

#[test]
fn without_credentials_it_fails() {
    let mut wire = authorizing();
    let call = wire.call(1, MODERN).exchange;
    wire.answer(call, 403, CHALLENGE, "");
    assert!(wire.http.poll_http_event().is_some());
    wire.http.unauthorized(wire.at(), call).unwrap();
    assert_eq!(wire.seen(), ["1 Unauthorized(403)"]);
    wire.http.unauthorized(wire.at(), call).unwrap();
    assert!(wire.seen().is_empty());
}

#[test]
fn nobody_is_waited_for_for_ever() {
    let mut wire = authorizing();
    let call = wire.call(1, MODERN).exchange;
    wire.answer(call, 401, CHALLENGE, "");
    assert!(wire.http.poll_http_event().is_some());
    wire.wait(899_999);
    assert!(wire.seen().is_empty());
    wire.wait(1);
    assert_eq!(wire.seen(), ["1 Unauthorized(401)"]);
    wire.http.authorized(wire.at(), call);
    wire.assert_quiet();
}

#[test]
fn what_nobody_waits_for_is_not_sent_again() {
    let mut wire = authorizing();
    let call = wire.call(1, MODERN).exchange;
    wire.answer(call, 401, CHALLENGE, "");
    wire.machine().awaited.clear();
    wire.http.authorized(wire.at(), call);
    wire.assert_quiet();
    assert!(wire.http.table.is_empty());
}

#[test]
fn a_session_opens_through_authorization() {
    let mut wire = authorizing();
    wire.machine().awaited.insert(RequestHandle::from_number(1), 1);
    wire.send(Route::Opens(RequestHandle::from_number(1)), Some(handshake()));
    let mut exchange = wire.request().exchange;
    let again = |wire: &mut Wire, exchange| {
        wire.answer(exchange, 401, &[], "");
        assert!(wire.http.poll_http_event().is_some());
        wire.assert_quiet();
        wire.http.authorized(wire.at(), exchange);
        wire.request().exchange
    };
    exchange = again(&mut wire, exchange);
    wire.answer(exchange, 200, OPENED, "{\"id\":1}");
    wire.send(Route::Alone, Some(of(LEGACY)));
    wire.send(Route::Opens(RequestHandle::from_number(2)), Some(of(LEGACY)));
    exchange = wire.request().exchange;
    exchange = again(&mut wire, exchange);
    wire.answer(exchange, 202, &[], "");
    exchange = wire.request().exchange;
    exchange = again(&mut wire, exchange);
    wire.head(exchange, 200, EVENTS);
    assert_eq!(wire.request().method, "POST");
}

#[test]
fn the_older_transport_is_found_through_authorization() {
    let mut wire = authorizing();
    wire.send(Route::Opens(RequestHandle::from_number(1)), Some(handshake()));
    let initialize = wire.request().exchange;
    wire.answer(initialize, 404, &[], "");
    let stream = wire.request().exchange;
    wire.answer(stream, 401, &[], "");
    wire.http.authorized(wire.at(), stream);
    let stream = wire.request().exchange;
    wire.head(stream, 200, EVENTS);
    wire.body(stream, b"event: endpoint\ndata: messages\n\n");
    assert_eq!(&*wire.request().url, "http://h.example/messages");
}
