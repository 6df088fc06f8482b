//! How an exchange that brought a message ends: once, with JSON, a stream or nothing but a status.

use super::*;

// proves: BASE-215
#[test]
fn a_plain_answer_is_json() {
    let mut http = http();
    let exchange = post(&mut http, &[], "{\"a\":1}");
    let expected = Taken::Message { text: "{\"a\":1}".into(), exchange, session: NamedSession::None };
    assert_eq!(taken(&mut http), [expected]);
    assert_eq!((http.poll_ready(), http.poll_response(exchange)), (None, None));
    say(&mut http, "answer", within(exchange, Disposition::Answers));
    assert_eq!((http.poll_ready(), http.poll_ready()), (Some(exchange), None));
    let response = response(&mut http, exchange);
    let expected = [("content-type", "application/json".into()), ("content-length", "6".into())];
    assert_eq!((response.status, &*response.headers), (200, &expected[..]));
    assert_eq!((&*response.body, response.is_last, response.is_aborted), ("answer", true, false));
    assert!(http.is_idle());
}

// proves: BASE-210 BASE-212
#[test]
fn what_needs_no_answer_is_accepted() {
    let mut http = http();
    let exchange = post(&mut http, &[], "{}");
    http.machine.transmits.push_back(Transmit::Accept { exchange });
    let response = response(&mut http, exchange);
    assert_eq!((response.status, &*response.body, response.is_last), (202, "", true));
    assert_eq!(response.header("content-type"), None);
}

#[test]
fn what_is_accepted_late_ends_all_the_same() {
    let mut http = http();
    let exchange = post(&mut http, &[], "{}");
    http.handle_timeout(START.after(15_000));
    http.machine.transmits.push_back(Transmit::Accept { exchange });
    let response = response(&mut http, exchange);
    assert!(response.is_stream() && response.is_last);
}

// proves: BASE-213 BASE-283 BASE-284 BASE-285
#[test]
fn a_refusal_has_the_status_of_its_code() {
    let rows = [
        (Disposition::Answers, 200),
        (Disposition::Refuses(-32700), 400),
        (Disposition::Refuses(-32600), 400),
        (Disposition::Refuses(-32601), 404),
        (Disposition::Refuses(-32602), 400),
        (Disposition::Refuses(-32020), 400),
        (Disposition::Refuses(-32021), 400),
        (Disposition::Refuses(-32022), 400),
        (Disposition::SessionUnknown, 404),
        (Disposition::NotAcceptable, 406),
    ];
    for (disposition, status) in rows {
        let mut http = http();
        // Even to who takes streams only.
        let exchange = post(&mut http, &[("Accept", "text/event-stream")], "{}");
        say(&mut http, "{}", within(exchange, disposition));
        let response = response(&mut http, exchange);
        assert_eq!((response.status, response.is_stream()), (status, status == 200), "{disposition:?}");
        assert!(response.is_last);
    }
}

// proves: BASE-273 BASE-276 BASE-277
#[test]
fn what_precedes_the_answer_opens_a_stream() {
    let mut http = http();
    let exchange = post(&mut http, &[("MCP-Protocol-Version", "2026-07-28")], "{}");
    say(&mut http, "one", within(exchange, Disposition::Droppable));
    let first = response(&mut http, exchange);
    assert_eq!(first.status, 200);
    assert_eq!(first.header("content-type"), Some("text/event-stream"));
    assert_eq!(first.header("x-accel-buffering"), Some("no"));
    assert_eq!(first.header("cache-control"), Some("no-cache"));
    assert_eq!(first.header("content-length"), None);
    assert_eq!((first.messages(), first.is_last), (Vec::from(["one"]), false));
    say(&mut http, "two", within(exchange, Disposition::Continues));
    say(&mut http, "answer", within(exchange, Disposition::Answers));
    assert_eq!((http.poll_ready(), http.poll_ready()), (Some(exchange), None));
    let rest = response(&mut http, exchange);
    assert_eq!((rest.status, rest.messages(), rest.is_last), (0, Vec::from(["two", "answer"]), true));
    assert!(http.is_idle());
}

// proves: BASE-254
#[test]
fn a_modern_stream_has_no_ids() {
    let mut http = http();
    let exchange = post(&mut http, &[("MCP-Protocol-Version", "2026-07-28")], "{}");
    say(&mut http, "one", within(exchange, Disposition::Continues));
    let response = response(&mut http, exchange);
    assert_eq!((response.ids(), response.fields("retry")), (Vec::new(), Vec::new()));
}

#[test]
fn who_takes_no_stream_gets_the_answer_alone() {
    let mut http = http();
    let exchange = post(&mut http, &[("Accept", "application/json")], "{}");
    say(&mut http, "progress", within(exchange, Disposition::Droppable));
    say(&mut http, "notice", within(exchange, Disposition::Continues));
    assert_eq!(http.poll_ready(), None);
    say(&mut http, "answer", within(exchange, Disposition::Answers));
    let response = response(&mut http, exchange);
    assert_eq!((&*response.body, response.is_stream()), ("answer", false));
}

#[test]
fn who_takes_streams_alone_gets_one_of_one_event() {
    let mut http = http();
    let exchange = post(&mut http, &[("Accept", "text/event-stream")], "{}");
    say(&mut http, "answer", within(exchange, Disposition::Answers));
    let response = response(&mut http, exchange);
    assert!(response.is_stream() && response.is_last);
    assert_eq!(response.messages(), ["answer"]);
}

#[test]
fn a_body_in_pieces_is_the_same_as_a_whole_one() {
    let text = "{\"text\":\"häß😀\"}";
    for cut in 0..=text.len() {
        let mut http = http();
        let more = [("Mcp-Method", " a "), ("mcp-PARAM-Region", "x"), ("Mcp-Name", "1"), ("Mcp-Name", "2")];
        let whole = post(&mut http, &more, text);
        let pieces =
            http.receive_request(START, RequestHead { principal: None, ..head("POST", &with(&more)) });
        http.receive_body(START, pieces, &text.as_bytes()[..cut]);
        http.receive_body(START, pieces, &text.as_bytes()[cut..]);
        http.receive_end(START, pieces);
        http.receive_end(START, pieces);
        let message = |exchange| Taken::Message { text: text.into(), exchange, session: NamedSession::None };
        assert_eq!(taken(&mut http), [message(whole), message(pieces)]);
        let mirror = Mirror {
            protocol_version: HeaderValue::Absent,
            method: HeaderValue::Once("a"),
            name: HeaderValue::Repeated,
            params: &[("Region", "x")],
        };
        let expected = format!("None stream=true mirror={:?}", Some(mirror));
        assert_eq!(http.machine.facts, [expected.clone(), expected]);
    }
}

#[test]
fn a_mark_before_the_text_is_taken_off() {
    let mut http = http();
    let exchange = post(&mut http, &[], "\u{feff}{}");
    let expected = Taken::Message { text: "{}".into(), exchange, session: NamedSession::None };
    assert_eq!(taken(&mut http), [expected]);
}

// proves: BASE-414
#[test]
fn a_client_that_leaves_is_told_of_once() {
    let mut http = http();
    let running = post(&mut http, &[], "{}");
    let streaming = post(&mut http, &[], "{}");
    let answered = post(&mut http, &[], "{}");
    let arriving = http.receive_request(START, head("POST", &COMMON));
    say(&mut http, "one", within(streaming, Disposition::Continues));
    say(&mut http, "answer", within(answered, Disposition::Answers));
    taken(&mut http);
    for exchange in [running, streaming, answered, arriving] {
        http.receive_abort(START, exchange);
        http.receive_abort(START, exchange);
    }
    assert_eq!(taken(&mut http), [Taken::Gone(running), Taken::Gone(streaming)]);
    for exchange in [running, streaming] {
        say(&mut http, "late", within(exchange, Disposition::Answers));
    }
    assert_eq!(http.poll_ready(), None);
    assert!(http.is_idle());
}

#[test]
fn handles_that_are_over_or_never_were_are_harmless() {
    let mut http = http();
    let over = post(&mut http, &[], "{}");
    http.machine.transmits.push_back(Transmit::Accept { exchange: over });
    response(&mut http, over);
    taken(&mut http);
    for exchange in [over, ExchangeHandle::from_number(0), ExchangeHandle::from_number(u64::MAX)] {
        http.receive_body(START, exchange, b"x");
        http.receive_end(START, exchange);
        http.receive_abort(START, exchange);
        http.resolve_session(START, exchange, Some(session(1)));
        http.replay(START, exchange, Some(&[("a", "b")]));
        http.machine.transmits.push_back(Transmit::Accept { exchange });
        say(&mut http, "late", within(exchange, Disposition::Answers));
        assert!(!http.close_stream(START, exchange, Some(1)));
        assert_eq!((http.poll_response(exchange), http.backlog(exchange)), (None, 0));
    }
    assert_eq!((http.poll_ready(), http.poll_http_event(), taken(&mut http)), (None, None, Vec::new()));
}

#[test]
fn an_answer_is_given_once() {
    let mut http = http();
    let exchange = post(&mut http, &[], "{}");
    for text in ["first", "second"] {
        say(&mut http, text, within(exchange, Disposition::Answers));
    }
    http.machine.transmits.push_back(Transmit::Accept { exchange });
    assert_eq!(response(&mut http, exchange).body, "first");
}

// proves: BASE-279
#[test]
fn silence_is_broken_by_a_stream_and_comments() {
    let mut http = http();
    let streaming = post(&mut http, &[], "{}");
    let json = post(&mut http, &[("Accept", "application/json")], "{}");
    say(&mut http, "one", within(streaming, Disposition::Continues));
    response(&mut http, streaming);
    let running = post(&mut http, &[], "{}");
    let due = START.after(15_000);
    assert_eq!(http.poll_timeout(), Some(due));
    http.handle_timeout(START.after(14_999));
    assert_eq!(http.poll_ready(), None);
    http.handle_timeout(due);
    assert_eq!(response(&mut http, streaming).body, ":\n\n");
    let begun = response(&mut http, running);
    assert!(begun.is_stream() && !begun.is_last, "a head is no silence");
    assert_eq!(http.poll_response(json), None);
    // What is not taken is not heaped up.
    http.handle_timeout(due.after(15_000));
    http.handle_timeout(due.after(30_000));
    assert_eq!(response(&mut http, running).body, ":\n\n");
    // Whoever has just heard something needs no comment.
    say(&mut http, "two", within(streaming, Disposition::Continues));
    http.receive_body(due.after(40_000), streaming, b"");
    response(&mut http, streaming);
    http.handle_timeout(due.after(45_000));
    assert_eq!(http.poll_response(streaming), None);
    assert!(http.poll_timeout().is_some());
    http.handle_timeout(due.after(55_000));
    assert_eq!(response(&mut http, streaming).body, ":\n\n");
    for exchange in [streaming, json, running] {
        say(&mut http, "end", within(exchange, Disposition::Answers));
        assert!(response(&mut http, exchange).is_last);
    }
    assert_eq!(http.poll_timeout(), None);
}

#[test]
fn silence_can_be_kept() {
    let mut config = config();
    config.keep_alive = 0;
    let mut http = http_with(config, Limits::default());
    let exchange = post(&mut http, &[], "{}");
    assert_eq!(http.poll_timeout(), None);
    http.handle_timeout(START.after(1 << 40));
    assert_eq!(http.poll_response(exchange), None);
}
