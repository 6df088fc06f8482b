//! Ids of sessions: whom they belong to, when they end.

use super::*;

fn as_principal<'a>(
    principal: Option<&'a str>,
    method: &'a str,
    headers: &'a [(&'a str, &'a str)],
) -> RequestHead<'a> {
    RequestHead { principal, ..head(method, headers) }
}

// proves: BASE-256 BASE-257 BASE-258 FEAT-661
#[test]
fn an_id_is_told_with_the_answer_that_opens_the_session() {
    let mut http = http();
    let first = open_session(&mut http, 1, Revision::V2025_06_18);
    let second = open_session(&mut http, 2, Revision::V2025_06_18);
    assert_ne!(first, second);
    for id in [&first, &second] {
        assert_eq!(id.len(), 32);
        assert!(id.bytes().all(|byte| (0x21..=0x7e).contains(&byte)));
    }
    taken(&mut http);
    let exchange = post(&mut http, &[("mcp-session-ID", &first)], "a");
    let unknown = post(&mut http, &[("Mcp-Session-Id", "x")], "b");
    let twice = post(&mut http, &[("Mcp-Session-Id", &first), ("Mcp-Session-Id", &first)], "c");
    let modern = post(&mut http, &[("Mcp-Session-Id", &first), ("MCP-Protocol-Version", "2026-07-28")], "d");
    let expected = [
        ("a", exchange, NamedSession::Known(session(1))),
        ("b", unknown, NamedSession::Unknown),
        ("c", twice, NamedSession::Unknown),
        ("d", modern, NamedSession::None),
    ];
    let expected =
        expected.map(|(text, exchange, session)| Taken::Message { text: text.into(), exchange, session });
    assert_eq!(taken(&mut http), expected);
    // Later answers do not tell it again.
    say(&mut http, "x", Labels { session: Some(session(1)), ..within(exchange, Disposition::Answers) });
    assert_eq!(response(&mut http, exchange).header("mcp-session-id"), None);
}

// proves: BASE-267 BASE-268 FEAT-660 FEAT-662
#[test]
fn a_session_belongs_to_who_opened_it() {
    let mut http = http();
    let headers = with(&[]);
    let exchange = http.receive_whole(START, as_principal(Some("ann"), "POST", &headers), b"initialize");
    let labels = Labels {
        session: Some(session(1)),
        revision: Some(Revision::V2025_11_25),
        ..within(exchange, Disposition::Answers)
    };
    say(&mut http, "opened", labels);
    let id = response(&mut http, exchange).header("mcp-session-id").expect("an id").to_string();
    let headers = with(&[("Mcp-Session-Id", &id)]);
    for (principal, named) in [
        (Some("ann"), NamedSession::Known(session(1))),
        (Some("bob"), NamedSession::Unknown),
        (None, NamedSession::Unknown),
    ] {
        taken(&mut http);
        let exchange = http.receive_whole(START, as_principal(principal, "POST", &headers), b"x");
        let expected = Taken::Message { text: "x".into(), exchange, session: named };
        assert_eq!(taken(&mut http), [expected], "{principal:?}");
        for method in ["GET", "DELETE"] {
            if named == NamedSession::Unknown {
                let exchange = http.receive_whole(START, as_principal(principal, method, &headers), b"");
                assert_eq!(response(&mut http, exchange).status, 404);
            }
        }
    }
}

// proves: BASE-263 BASE-265
#[test]
fn a_client_ends_its_session() {
    let mut http = http();
    let id = open_session(&mut http, 1, Revision::V2025_11_25);
    let named = &[("Mcp-Session-Id", &*id)];
    let running = post(&mut http, named, "a");
    let streaming = post(&mut http, named, "b");
    let standalone = get(&mut http, named);
    say(&mut http, "one", within(streaming, Disposition::Continues));
    taken(&mut http);
    let end = request(&mut http, "DELETE", named, "");
    let response_of_end = response(&mut http, end);
    assert_eq!((response_of_end.status, &*response_of_end.body, response_of_end.is_last), (204, "", true));
    assert_eq!(taken(&mut http), [Taken::SessionEnded(session(1))]);
    assert_eq!(response(&mut http, running).status, 404);
    let rest = response(&mut http, streaming);
    assert_eq!((rest.messages(), rest.is_last), (Vec::from(["one"]), true));
    assert!(response(&mut http, standalone).is_last);
    assert!(http.is_idle());
    for method in ["GET", "DELETE"] {
        let exchange = request(&mut http, method, named, "");
        assert_eq!(response(&mut http, exchange).status, 404);
    }
    let exchange = post(&mut http, named, "x");
    let expected = Taken::Message { text: "x".into(), exchange, session: NamedSession::Unknown };
    assert_eq!(taken(&mut http), [expected]);
    assert_eq!(http.poll_timeout(), Some(START.after(15_000)), "only the last exchange waits for anything");
}

// proves: BASE-262
#[test]
fn the_application_ends_a_session() {
    let mut http = http();
    let id = open_session(&mut http, 1, Revision::V2025_11_25);
    let standalone = get(&mut http, &[("Mcp-Session-Id", &id)]);
    taken(&mut http);
    http.machine.transmits.push_back(Transmit::EndSession { session: session(1) });
    assert!(response(&mut http, standalone).is_last);
    assert_eq!(taken(&mut http), []);
    let exchange = get(&mut http, &[("Mcp-Session-Id", &id)]);
    assert_eq!(response(&mut http, exchange).status, 404);
}

#[test]
fn a_session_that_nobody_uses_ends() {
    let mut http = http();
    let idle = open_session(&mut http, 1, Revision::V2025_11_25);
    let used = open_session(&mut http, 2, Revision::V2025_11_25);
    let open = open_session(&mut http, 3, Revision::V2025_11_25);
    let stream = get(&mut http, &[("Mcp-Session-Id", &open)]);
    response(&mut http, stream);
    taken(&mut http);
    let half = 1_800_000 / 2;
    let headers = with(&[("Mcp-Session-Id", &used)]);
    let exchange = http.receive_whole(START.after(half), head("POST", &headers), b"x");
    say(&mut http, "x", within(exchange, Disposition::Answers));
    response(&mut http, exchange);
    taken(&mut http);
    http.handle_timeout(START.after(2 * half - 1));
    assert_eq!(taken(&mut http), []);
    http.handle_timeout(START.after(2 * half));
    assert_eq!(taken(&mut http), [Taken::SessionEnded(session(1))]);
    http.handle_timeout(START.after(3 * half));
    assert_eq!(taken(&mut http), [Taken::SessionEnded(session(2))]);
    // One with an open stream is in use, until that is gone.
    http.handle_timeout(START.after(20 * half));
    assert_eq!(taken(&mut http), []);
    http.receive_abort(START.after(20 * half), stream);
    assert_eq!(http.poll_timeout(), Some(START.after(22 * half)));
    http.handle_timeout(START.after(22 * half));
    assert_eq!(taken(&mut http), [Taken::SessionEnded(session(3))]);
    assert_eq!(http.poll_timeout(), None);
    let exchange = get(&mut http, &[("Mcp-Session-Id", &idle)]);
    assert_eq!(response(&mut http, exchange).status, 404);
}

#[test]
fn the_session_that_was_idle_longest_makes_room() {
    let limits = Limits { sessions: 3, ..Limits::default() };
    let mut http = http_with(config(), limits);
    let ids: Vec<_> = (1..=3).map(|number| open_session(&mut http, number, Revision::V2025_11_25)).collect();
    let stream = get(&mut http, &[("Mcp-Session-Id", &ids[0])]);
    let headers = with(&[("Mcp-Session-Id", &ids[1])]);
    let exchange = http.receive_whole(START.after(1), head("POST", &headers), b"x");
    say(&mut http, "x", within(exchange, Disposition::Answers));
    response(&mut http, exchange);
    taken(&mut http);
    // What cannot open one makes no room.
    post(&mut http, &[("MCP-Protocol-Version", "2026-07-28")], "x");
    assert!(!taken(&mut http).iter().any(|taken| matches!(taken, Taken::SessionEnded(_))));
    open_session(&mut http, 4, Revision::V2025_11_25);
    assert!(taken(&mut http).contains(&Taken::SessionEnded(session(3))));
    open_session(&mut http, 5, Revision::V2025_11_25);
    assert!(taken(&mut http).contains(&Taken::SessionEnded(session(2))));
    assert!(!response(&mut http, stream).is_last);
}
