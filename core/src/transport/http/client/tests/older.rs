//! HTTP+SSE.

use super::*;
use crate::transport::http::client::ExchangeFailure;

const REFUSAL: &str = "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32600,\"message\":\"m\"}}";
const MODERN_ERROR: &str = "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32022,\"message\":\"m\"}}";

/// Sends `initialize`, and has it refused.
fn refuse(wire: &mut Wire, status: u16, body: &str) {
    let request = RequestHandle::from_number(1);
    wire.machine().awaited.insert(request, 1);
    wire.send(Route::Opens(request), Some(handshake()));
    let initialize = wire.request().exchange;
    wire.answer(initialize, status, JSON, body);
}

/// A wire on which HTTP+SSE was found, the exchange of its stream, and that of `initialize`.
fn channel() -> (Wire, ExchangeHandle, ExchangeHandle) {
    let mut wire = Wire::new();
    refuse(&mut wire, 405, "");
    let stream = wire.request();
    assert_eq!((stream.method, &*stream.url, stream.is_stream), ("GET", URL, true));
    assert_eq!(stream.headers, [(headers::ACCEPT.into(), "text/event-stream".into())]);
    wire.head(stream.exchange, 200, EVENTS);
    wire.assert_quiet();
    wire.body(stream.exchange, b"event: endpoint\ndata: /messages?id=1\n\n");
    let initialize = wire.request();
    assert_eq!((initialize.method, &*initialize.url), ("POST", "http://h.example/messages?id=1"));
    assert_eq!((initialize.body.as_str(), header(&initialize, headers::SESSION_ID)), ("{}", None));
    (wire, stream.exchange, initialize.exchange)
}

// proves: BASE-187 BASE-192 BASE-193
#[test]
fn a_refused_handshake_leads_to_the_older_transport() {
    let (mut wire, stream, initialize) = channel();
    wire.answer(initialize, 200, &[], "Accepted");
    assert!(wire.seen().is_empty());
    wire.body(stream, b"event: message\ndata: {\"id\":1}\n\n");
    assert_eq!(wire.seen(), ["{\"id\":1}"]);
    // No stream of a session is asked for, and nothing waits.
    wire.send(Route::Alone, Some(of(LEGACY)));
    let initialized = wire.request();
    assert_eq!(header(&initialized, headers::PROTOCOL_VERSION), Some("2025-11-25"));
    let call = wire.call(2, LEGACY);
    assert_eq!((&*call.url, call.is_stream), ("http://h.example/messages?id=1", false));
    wire.answer(call.exchange, 202, &[], "");
    wire.body(stream, b"event: endpoint\ndata: /other\n\ndata: {\"id\":2}\n\n");
    assert_eq!(wire.seen(), ["{\"id\":2}"]);
    // Other refusals fail a request.
    let call = wire.call(3, LEGACY).exchange;
    wire.answer(call, 404, &[], "");
    assert_eq!(wire.seen(), ["3 Refused(404)"]);
    wire.end(stream);
    assert_eq!(wire.seen(), ["Lost"]);
}

#[test]
fn only_certain_refusals_lead_there() {
    let cases = [
        (400, "", true),
        (404, "<html>", true),
        (405, REFUSAL, true),
        (400, MODERN_ERROR, false),
        (406, "", false),
        (422, "", false),
        (500, "", false),
        (401, "", false),
    ];
    for (status, body, leads) in cases {
        let mut wire = Wire::new();
        refuse(&mut wire, status, body);
        assert_eq!(wire.poll().is_some(), leads, "{status} {body}");
        assert_eq!(wire.seen().is_empty(), leads, "{status} {body}");
    }
    let mut wire = Wire::with(|config| config.falls_back_to_sse = false);
    refuse(&mut wire, 404, "");
    assert_eq!(wire.seen(), ["1 Refused(404)"]);
    wire.assert_quiet();
}

#[test]
fn where_neither_transport_is_the_refusal_is_reported() {
    let outcomes: [fn(&mut Wire, ExchangeHandle); 8] = [
        |wire, stream| wire.answer(stream, 404, &[], ""),
        |wire, stream| wire.answer(stream, 200, JSON, "{}"),
        |wire, stream| wire.fail(stream, ExchangeFailure::Broken),
        |wire, stream| wire.answer(stream, 200, EVENTS, ""),
        |wire, stream| wire.answer(stream, 200, EVENTS, "data: {\"method\":1}\n\n"),
        |wire, stream| wire.answer(stream, 200, EVENTS, "event: endpoint\ndata: https://h.example/m\n\n"),
        |wire, stream| wire.answer(stream, 200, EVENTS, "event: endpoint\ndata: //evil.example/m\n\n"),
        |wire, stream| {
            wire.head(stream, 200, EVENTS);
            assert!(wire.wait(10_000));
        },
    ];
    for (number, outcome) in outcomes.into_iter().enumerate() {
        for (body, expected) in [("", "1 Refused(404)".to_owned()), (REFUSAL, format!("1 {REFUSAL}"))] {
            let mut wire = Wire::new();
            refuse(&mut wire, 404, body);
            let stream = wire.request().exchange;
            outcome(&mut wire, stream);
            assert_eq!(wire.seen(), [expected], "{number}");
            assert!(wire.http.table.is_empty(), "{number}");
            if let Some(transmit) = wire.poll() {
                assert_eq!(transmit, HttpTransmit::Abort { exchange: stream });
            }
            wire.assert_quiet();
        }
    }
}

#[test]
fn the_end_leaves_the_stream() {
    let (mut wire, stream, initialize) = channel();
    wire.answer(initialize, 202, &[], "");
    wire.machine().transmits.push_back(Transmit::Close);
    assert_eq!(wire.aborted(), stream);
    assert_eq!(wire.poll(), Some(HttpTransmit::Close));
}
