//! What is refused before the machine sees anything, and in which order it is looked at.

use super::*;
use crate::revision::Revisions;

fn status_of(http: &mut Http, method: &str, headers: &[(&str, &str)], body: &str) -> u16 {
    let exchange = http.receive_whole(START, head(method, headers), body.as_bytes());
    let response = response(http, exchange);
    assert!(response.is_last || response.status == 0, "{response:?}");
    if response.status >= 400 {
        assert!(response.body.starts_with(r#"{"jsonrpc":"2.0","error":{"code":-32"#), "{response:?}");
        assert_eq!(response.header("content-length"), Some(&*response.body.len().to_string()));
        assert_eq!(response.header("content-type"), Some("application/json"));
        assert_eq!(taken(http), [], "the machine was not asked");
    }
    response.status
}

/// Each row is wrong in what it names and in all that is looked at later.
// proves: BASE-197 BASE-198 BASE-199
#[test]
fn the_first_fault_decides() {
    let long = "x".repeat(5 << 20);
    let rows: [(&str, More, u16); 8] = [
        ("PUT", &[("Host", "evil.example"), ("Accept", "a/b"), ("Content-Type", "a/b")], 403),
        ("PUT", &[("Origin", "http://evil.example"), ("Accept", "a/b"), ("Content-Type", "a/b")], 403),
        ("PUT", &[("Accept", "a/b"), ("Content-Type", "a/b")], 405),
        ("POST", &[("Accept", "a/b"), ("Content-Type", "a/b")], 406),
        ("POST", &[("Content-Type", "a/b")], 415),
        ("POST", &[("Content-Type", "application/json; charset=latin1")], 415),
        ("POST", &[], 413),
        ("POST", &[("Content-Length", "99999999999999999999999")], 413),
    ];
    for (method, more, expected) in rows {
        assert_eq!(status_of(&mut http(), method, &with(more), &long), expected, "{method} {more:?}");
    }
}

#[test]
fn a_host_has_to_be_named() {
    assert_eq!(status_of(&mut http(), "POST", &COMMON[1..], "{}"), 403);
    assert_eq!(status_of(&mut http(), "POST", &[COMMON[0], COMMON[1]], "{}"), 415);
    // What says nothing of the response accepts any.
    assert_eq!(status_of(&mut http(), "POST", &[COMMON[0], COMMON[2]], "{}"), 0);
}

// proves: BASE-195 BASE-196 BASE-237 BASE-332
#[test]
fn methods_are_those_of_the_revisions_that_are_served() {
    let modern = || {
        let mut config = config();
        config.revisions = Revisions::MODERN;
        http_with(config, Limits::default())
    };
    let rows: [(Http, &str, u16, &str); 6] = [
        (http(), "PUT", 405, "GET, POST, DELETE, OPTIONS"),
        (http(), "post", 405, "GET, POST, DELETE, OPTIONS"),
        (http(), "HEAD", 405, "GET, POST, DELETE, OPTIONS"),
        (http(), "OPTIONS", 204, "GET, POST, DELETE, OPTIONS"),
        (modern(), "GET", 405, "POST, OPTIONS"),
        (modern(), "DELETE", 405, "POST, OPTIONS"),
    ];
    for (mut http, method, status, allow) in rows {
        let exchange = request(&mut http, method, &[("Mcp-Session-Id", "x")], "");
        let response = response(&mut http, exchange);
        assert_eq!((response.status, response.header("allow")), (status, Some(allow)), "{method}");
    }
}

// proves: BASE-236 BASE-261 BASE-263 BASE-272
#[test]
fn streams_and_ends_need_a_session() {
    let rows: [(More, u16); 7] = [
        (&[], 400),
        (&[("Mcp-Session-Id", "x")], 404),
        (&[("Mcp-Session-Id", "x"), ("Mcp-Session-Id", "x")], 404),
        (&[("MCP-Protocol-Version", "2025-06-18")], 400),
        (&[("Mcp-Session-Id", "x"), ("MCP-Protocol-Version", "yesterday")], 400),
        (&[("Mcp-Session-Id", "x"), ("MCP-Protocol-Version", "2026-07-28")], 400),
        (&[("Mcp-Session-Id", "x"), ("MCP-Protocol-Version", "2025-06-18")], 404),
    ];
    for (more, expected) in rows {
        for method in ["GET", "DELETE"] {
            assert_eq!(status_of(&mut http(), method, &with(more), ""), expected, "{method} {more:?}");
        }
    }
    let json = &[("Accept", "application/json"), ("Mcp-Session-Id", "x")];
    assert_eq!(status_of(&mut http(), "GET", &with(json), ""), 406);
}

#[test]
fn a_body_is_refused_while_it_arrives() {
    let mut config = config();
    config.body_bytes = 10;
    let mut http = http_with(config, Limits::default());
    let exchange = http.receive_request(START, head("POST", &COMMON));
    http.receive_body(START, exchange, b"01234");
    http.receive_body(START, exchange, b"56789");
    assert_eq!(http.poll_ready(), None);
    http.receive_body(START, exchange, b"x");
    assert_eq!(http.poll_ready(), Some(exchange));
    http.receive_body(START, exchange, b"more");
    http.receive_end(START, exchange);
    assert_eq!(response(&mut http, exchange).status, 413);
    assert_eq!(taken(&mut http), []);
    assert!(http.is_idle());
}

#[test]
fn a_body_has_to_be_text() {
    let mut http = http();
    let exchange = http.receive_whole(START, head("POST", &COMMON), b"{\"\xff\"}");
    let response = response(&mut http, exchange);
    assert_eq!(response.status, 400);
    assert!(response.body.contains("-32700"), "{response:?}");
    assert_eq!(taken(&mut http), []);
}

#[test]
fn nothing_is_taken_any_more_after_the_end() {
    let mut http = http();
    let id = open_session(&mut http, 1, Revision::V2025_11_25);
    let stream = get(&mut http, &[("Mcp-Session-Id", &id)]);
    let running = post(&mut http, &[("Mcp-Session-Id", &id)], "call");
    let arriving = http.receive_request(START, head("POST", &COMMON));
    taken(&mut http);
    http.shut_down(START);
    assert!(response(&mut http, stream).is_last);
    assert_eq!(response(&mut http, arriving).status, 503);
    assert_eq!(status_of(&mut http, "POST", &COMMON, "{}"), 503);
    assert_eq!(status_of(&mut http, "GET", &with(&[("Mcp-Session-Id", &id)]), ""), 503);
    assert!(!http.is_idle());
    say(&mut http, "done", within(running, Disposition::Answers));
    assert_eq!(response(&mut http, running).body, "done");
    assert!(http.is_idle());
}

#[test]
fn a_machine_that_has_ended_is_answered_for() {
    let mut http = http();
    http.machine.is_over = true;
    let exchange = post(&mut http, &[], "{}");
    assert_eq!(response(&mut http, exchange).status, 503);
    http.machine.is_over = false;
    let running = post(&mut http, &[], "{}");
    let streaming = post(&mut http, &[], "{}");
    say(&mut http, "first", within(streaming, Disposition::Continues));
    http.machine.transmits.push_back(Transmit::Close);
    assert_eq!(response(&mut http, running).status, 503);
    let response = response(&mut http, streaming);
    assert_eq!((response.messages(), response.is_last), (Vec::from(["first"]), true));
}
