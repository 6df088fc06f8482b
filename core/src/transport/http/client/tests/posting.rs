//! Messages as requests.

use super::*;

fn lines(request: &HttpRequest) -> Vec<String> {
    request.headers.iter().map(|(name, value)| format!("{name}: {value}")).collect()
}

const COMMON: [&str; 2] = ["content-type: application/json", "accept: application/json, text/event-stream"];

fn with_common(more: &[&str]) -> Vec<String> {
    COMMON.iter().chain(more).map(|line| (*line).to_owned()).collect()
}

// proves: BASE-203 BASE-204 BASE-207 BASE-209 BASE-281 BASE-288 BASE-289 BASE-290 BASE-306 BASE-310
#[test]
fn modern_messages_repeat_themselves_in_headers() {
    let mut wire = Wire::new();
    let mut mirrored = of(MODERN);
    mirrored.method = Some("tools/call".into());
    mirrored.name = Some("wörld".into());
    mirrored.params = [("Region", " west"), ("Priority", "42")].map(|(n, v)| (n.into(), v.into())).into();
    wire.send(Route::Opens(RequestHandle::from_number(1)), Some(mirrored));
    let request = wire.request();
    let own = [
        "mcp-protocol-version: 2026-07-28",
        "mcp-method: tools/call",
        "mcp-name: =?base64?d8O2cmxk?=",
        "mcp-param-region: =?base64?IHdlc3Q=?=",
        "mcp-param-priority: 42",
    ];
    assert_eq!(lines(&request), with_common(&own));
    assert_eq!((request.method, &*request.url, request.body.as_str()), ("POST", URL, "{}"));
    assert!(request.is_stream);
    let mut notice = of(MODERN);
    notice.method = Some("notifications/x".into());
    wire.send(Route::Alone, Some(notice));
    let notice = wire.request();
    let own = ["mcp-protocol-version: 2026-07-28", "mcp-method: notifications/x"];
    assert_eq!(lines(&notice), with_common(&own));
    assert!(!notice.is_stream);
}

// proves: BASE-206 BASE-260 BASE-269 BASE-270
#[test]
fn legacy_messages_name_revision_and_session() {
    let mut wire = Wire::in_session(LEGACY);
    let own = with_common(&["mcp-protocol-version: 2025-11-25", "mcp-session-id: s1"]);
    let call = wire.call(1, LEGACY);
    assert_eq!((lines(&call), call.body.as_str()), (own.clone(), "{}"));
    // An answer to a request of the server.
    wire.send(Route::Alone, None);
    assert_eq!(lines(&wire.request()), own);
    // A modern message knows no session.
    assert_eq!(lines(&wire.call(2, MODERN)), with_common(&["mcp-protocol-version: 2026-07-28"]));
}

// proves: BASE-259
#[test]
fn the_session_id_is_kept_secret() {
    let mut wire = Wire::with(|config| config.authorizes = true);
    wire.send(Route::Opens(RequestHandle::from_number(1)), Some(handshake()));
    let initialize = wire.request().exchange;
    wire.answer(initialize, 200, &[JSON[0], ("mcp-session-id", "hush-hush")], "{\"id\":1}");
    let call = wire.call(2, LEGACY);
    assert_eq!(header(&call, headers::SESSION_ID), Some("hush-hush"));
    let shown = format!("{call:?} {:?}", wire.http);
    assert!(shown.contains("mcp-session-id") && !shown.contains("hush-hush"), "{shown}");
}

// proves: BASE-264
#[test]
fn a_handshake_names_neither_revision_nor_session() {
    let mut wire = Wire::in_session(LEGACY);
    let mut mirrored = handshake();
    mirrored.method = Some("initialize".into());
    wire.send(Route::Opens(RequestHandle::from_number(2)), Some(mirrored));
    assert_eq!(lines(&wire.request()), with_common(&[]));
    wire.send(Route::Alone, None);
    assert_eq!(lines(&wire.request()), with_common(&[]), "the old session is forgotten");
}

#[test]
fn a_session_id_that_no_header_can_carry_is_none() {
    for id in ["", "s 1", "s\u{e9}", "s\n1"] {
        let mut wire = Wire::new();
        wire.send(Route::Opens(RequestHandle::from_number(1)), Some(handshake()));
        let initialize = wire.request().exchange;
        wire.answer(initialize, 200, &[JSON[0], ("mcp-session-id", id)], "{\"id\":1}");
        wire.send(Route::Alone, Some(of(LEGACY)));
        assert_eq!(lines(&wire.request()), with_common(&["mcp-protocol-version: 2025-11-25"]), "{id:?}");
    }
}

#[test]
fn only_http_urls_are_taken_and_they_stay_as_they_are() {
    for url in ["", "h.example", "ftp://h.example", "http://"] {
        let misuse = HttpClient::new(Mock::default(), HttpClientConfig::new(url)).err();
        assert_eq!(misuse, Some(ApiMisuse::InvalidDefinition("url").into()), "{url}");
    }
    let url = "HTTPS://H.example:443/a/../%6dcp?x";
    let mut wire = Wire::with(|config| config.url = url.into());
    assert_eq!(&*wire.call(1, MODERN).url, url);
}

#[test]
fn a_request_that_is_given_up_is_aborted_once() {
    let mut wire = Wire::new();
    let exchange = wire.call(1, MODERN).exchange;
    for _ in 0..2 {
        wire.machine().transmits.push_back(Transmit::Abort { request: RequestHandle::from_number(1) });
    }
    assert_eq!(wire.aborted(), exchange);
    wire.assert_quiet();
    wire.answer(exchange, 200, JSON, "{\"id\":1}");
    assert!(wire.seen().is_empty());
}

// proves: BASE-228
#[test]
fn a_cancelled_legacy_request_is_left_when_the_server_knows() {
    let mut wire = Wire::in_session(LEGACY);
    let call = wire.call(1, LEGACY).exchange;
    wire.head(call, 200, EVENTS);
    wire.machine().awaited.clear();
    wire.send(Route::Within(RequestHandle::from_number(1)), Some(of(LEGACY)));
    let cancelled = wire.request().exchange;
    wire.assert_quiet();
    wire.answer(cancelled, 202, &[], "");
    assert_eq!(wire.aborted(), call);
}

#[test]
fn a_server_that_takes_no_notification_is_not_flooded() {
    let mut wire = Wire::in_session(LEGACY);
    wire.machine().limits.requests_in_flight = 2;
    wire.machine().limits.queued_bytes = 5;
    let first: Vec<_> = (0..2)
        .map(|_| {
            wire.send(Route::Alone, None);
            wire.request().exchange
        })
        .collect();
    for _ in 0..2 {
        wire.send(Route::Alone, None);
        wire.assert_quiet();
    }
    assert!(wire.http.wants_input(first[1]));
    wire.send(Route::Alone, None);
    wire.assert_quiet();
    assert!(!wire.http.wants_input(first[1]), "six bytes wait");
    wire.answer(first[0], 202, &[], "");
    wire.request();
    wire.assert_quiet();
    // A server that never answers is not waited for without end.
    assert!(wire.wait(60_000));
    assert!(wire.seen().iter().all(|seen| seen == "Unavailable(0)"));
    assert!(matches!(wire.poll(), Some(HttpTransmit::Abort { .. })));
}
