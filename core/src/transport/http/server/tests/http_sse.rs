//! The two endpoints of 2024-11-05.

use super::*;

const EVENT_STREAM: Endpoint<'static> = Endpoint::EventStream { messages: "/messages" };

fn channel(http: &mut Http, principal: Option<&str>) -> (ExchangeHandle, String) {
    let head = RequestHead { method: "GET", endpoint: EVENT_STREAM, headers: &COMMON, principal };
    let exchange = http.receive_whole(START, head, b"");
    let response = response(http, exchange);
    assert!(response.is_stream() && !response.is_last);
    let uri =
        response.body.strip_prefix("event: endpoint\ndata: /messages?").expect("the endpoint comes first");
    (exchange, uri.trim_end().to_string())
}

fn send(http: &mut Http, query: &str, principal: Option<&str>, body: &str) -> u16 {
    let endpoint = Endpoint::Messages { query };
    let head = RequestHead { method: "POST", endpoint, headers: &COMMON, principal };
    let exchange = http.receive_whole(START, head, body.as_bytes());
    let response = response(http, exchange);
    assert!(response.is_last);
    response.status
}

fn opens(exchange: ExchangeHandle, number: u64) -> Labels {
    Labels {
        session: Some(session(number)),
        revision: Some(Revision::V2024_11_05),
        ..within(exchange, Disposition::Answers)
    }
}

// proves: BASE-185 BASE-186 BASE-188
#[test]
fn answers_come_on_the_stream() {
    let mut http = http();
    let (exchange, query) = channel(&mut http, None);
    assert_eq!(send(&mut http, &query, None, "initialize"), 202);
    let message = |text: &str, session| Taken::Message { text: text.into(), exchange, session };
    assert_eq!(taken(&mut http), [message("initialize", NamedSession::None)]);
    assert!(http.machine.facts[0].ends_with("mirror=None"));
    say(&mut http, "opened", opens(exchange, 7));
    let response_of_stream = response(&mut http, exchange);
    assert_eq!(response_of_stream.body, "event: message\ndata: opened\n\n");
    assert_eq!(send(&mut http, &query, None, "call"), 202);
    assert_eq!(taken(&mut http), [message("call", NamedSession::Known(session(7)))]);
    for (text, labels) in [
        ("progress", within(exchange, Disposition::Droppable)),
        ("alone", alone(7)),
        ("refused", within(exchange, Disposition::Refuses(-32601))),
        ("answer", within(exchange, Disposition::Answers)),
    ] {
        say(&mut http, text, labels);
    }
    http.machine.transmits.push_back(Transmit::Accept { exchange });
    let response = response(&mut http, exchange);
    assert_eq!(response.messages(), ["progress", "alone", "refused", "answer"]);
    assert!(!response.is_last);
}

// proves: BASE-189
#[test]
fn the_session_ends_with_its_stream() {
    let mut http = http();
    let (exchange, query) = channel(&mut http, None);
    send(&mut http, &query, None, "initialize");
    say(&mut http, "opened", opens(exchange, 7));
    response(&mut http, exchange);
    taken(&mut http);
    http.receive_abort(START, exchange);
    assert_eq!(taken(&mut http), [Taken::Gone(exchange), Taken::SessionEnded(session(7))]);
    assert_eq!(send(&mut http, &query, None, "late"), 404);
    assert!(http.is_idle());
    assert_eq!(http.poll_timeout(), None);
}

#[test]
fn the_stream_ends_with_its_session() {
    let mut http = http();
    let (exchange, query) = channel(&mut http, None);
    send(&mut http, &query, None, "initialize");
    say(&mut http, "opened", opens(exchange, 7));
    http.machine.transmits.push_back(Transmit::EndSession { session: session(7) });
    assert_eq!(send(&mut http, &query, None, "late"), 404);
    taken(&mut http);
    assert!(response(&mut http, exchange).is_last);
    assert_eq!(taken(&mut http), []);
}

#[test]
fn a_channel_belongs_to_who_opened_it() {
    let mut http = http();
    let (_, query) = channel(&mut http, Some("ann"));
    let (_, other) = channel(&mut http, Some("ann"));
    assert_ne!(query, other);
    let without_name = query.replace("sessionId", "session");
    for (query, principal, status) in [
        (&*query, Some("ann"), 202),
        (&format!("a=b&{query}&c"), Some("ann"), 202),
        (&query, Some("bob"), 404),
        (&query, None, 404),
        ("", Some("ann"), 404),
        ("sessionId=", Some("ann"), 404),
        (&without_name, Some("ann"), 404),
    ] {
        assert_eq!(send(&mut http, query, principal, "x"), status, "{query} {principal:?}");
    }
}

// proves: BASE-182
#[test]
fn the_endpoints_are_checked_as_any() {
    let rows: [(Endpoint<'_>, &str, More, u16, Option<&str>); 7] = [
        (EVENT_STREAM, "GET", &[("Origin", "http://evil.example")], 403, None),
        (EVENT_STREAM, "POST", &[], 405, Some("GET, OPTIONS")),
        (EVENT_STREAM, "GET", &[("Accept", "application/json")], 406, None),
        (Endpoint::Messages { query: "" }, "GET", &[], 405, Some("POST, OPTIONS")),
        (Endpoint::Messages { query: "" }, "POST", &[("Host", "evil.example")], 403, None),
        (Endpoint::Messages { query: "" }, "POST", &[("Content-Type", "text/plain")], 415, None),
        (Endpoint::Messages { query: "" }, "POST", &[("Content-Length", "5000000")], 413, None),
    ];
    for (endpoint, method, more, status, allow) in rows {
        let mut http = http();
        let headers = with(more);
        let exchange = http.receive_whole(START, RequestHead { endpoint, ..head(method, &headers) }, b"");
        let response = response(&mut http, exchange);
        assert_eq!((response.status, response.header("allow")), (status, allow), "{endpoint:?} {method}");
    }
}

#[test]
fn channels_are_bounded() {
    let mut http = http_with(config(), Limits { sessions: 2, ..Limits::default() });
    let (first, _) = channel(&mut http, None);
    channel(&mut http, None);
    let head = RequestHead { endpoint: EVENT_STREAM, ..head("GET", &COMMON) };
    let refused = http.receive_whole(START, head, b"");
    assert_eq!(response(&mut http, refused).status, 503);
    http.receive_abort(START, first);
    channel(&mut http, None);
}

#[test]
fn a_message_that_arrives_late_finds_the_channel_gone() {
    let mut http = http();
    let (exchange, query) = channel(&mut http, None);
    let endpoint = Endpoint::Messages { query: &query };
    let late = http.receive_request(START, RequestHead { endpoint, ..head("POST", &COMMON) });
    http.receive_abort(START, exchange);
    http.receive_end(START, late);
    assert_eq!(response(&mut http, late).status, 404);
}
