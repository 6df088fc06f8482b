use super::*;
use alloc::vec;

fn open() -> Bench {
    Bench::session(Revision::V2025_11_25, "{}")
}

// proves: BASE-002 BASE-003 BASE-006
#[test]
fn ids_come_back_as_they_were_written() {
    let mut bench = open();
    for id in
        ["\"1\"", "1", "0", "-1", "\"\"", "9007199254740993", "\"9007199254740993\"", "1.0", "\"\\u0061\""]
    {
        let expected = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#);
        assert_eq!(bench.reply(&legacy(id, "ping", "")), expected);
    }
    for id in ["null", "1.5", "true", "[]"] {
        bench.recv(&legacy(id, "ping", ""));
        assert_eq!(bench.violations(), [Violation::InvalidId], "{id}");
        assert_eq!(error_of(&bench.sent_one()), (-32600, None), "{id}");
    }
    assert!(bench.reply(&legacy("\"end\"", "ping", "")).contains("result"));
}

#[test]
fn a_duplicate_in_flight_is_reported_and_not_answered() {
    let mut bench = open();
    let first = bench.call(&legacy("5", "tools/call", r#""name":"nap""#));
    for second in [
        legacy("5", "tools/call", r#""name":"echo""#),
        legacy("5.0", "ping", ""),
        // Malformed, but its id is taken all the same.
        r#"{"jsonrpc":"2.0","id":5,"method":"ping","params":[1]}"#.into(),
    ] {
        bench.recv(&second);
        assert_eq!(bench.sent(), Vec::<String>::new());
        assert_eq!(bench.events().len(), 1);
    }
    bench.wait(800);
    bench.server.respond(first, TEXT_RESULT).unwrap();
    assert_eq!(bench.sent_one(), format!(r#"{{"jsonrpc":"2.0","id":5,"result":{TEXT_RESULT}}}"#));
    assert_eq!(bench.reply(&legacy("5", "ping", "")), r#"{"jsonrpc":"2.0","id":5,"result":{}}"#);
}

#[test]
fn a_byte_order_mark_is_reported_and_the_message_served() {
    let mut bench = Bench::new();
    let facts = Facts { byte_order_mark: true, ..Facts::default() };
    bench.input(Input::Message { text: &initialize("0", "2025-11-25", "{}"), facts });
    assert_eq!(bench.violations(), [Violation::ByteOrderMark]);
    bench.recv(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    bench.events();
    bench.input(Input::Message { text: &legacy("1", "ping", ""), facts });
    bench.recv(&legacy("2", "ping", ""));
    let sent = bench.sent();
    assert_eq!(sent.len(), 3);
    for (at, text) in sent.iter().enumerate() {
        assert!(text.starts_with(&format!(r#"{{"jsonrpc":"2.0","id":{at},"result""#)), "{text}");
    }
}

#[test]
fn bounds_are_answered_under_the_id_that_can_be_read() {
    let mut config = config();
    config.limits.depth = 64;
    let mut bench = Bench::session_with(config, Revision::V2025_11_25, "{}");
    let deep = format!(r#""name":"echo","arguments":{{"v":{}{}}}"#, "[".repeat(200), "]".repeat(200));
    bench.recv(&legacy("1", "tools/call", &deep));
    assert_eq!(bench.violations(), [Violation::TooDeep]);
    let reply = bench.sent_one();
    assert_eq!(error_of(&reply), (-32600, Some("1".into())));
    assert!(reply.contains("nesting"), "{reply}");
    let head = br#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"ec"#;
    bench.input(Input::Damaged { bytes: head, violation: Violation::TooLong });
    assert_eq!(bench.violations(), [Violation::TooLong]);
    let reply = bench.sent_one();
    assert_eq!(error_of(&reply), (-32600, Some("2".into())));
    assert!(reply.contains("message bytes"), "{reply}");
    assert!(bench.reply(&legacy("3", "ping", "")).contains(r#""id":3,"result""#));
}

// proves: BASE-018 BASE-022
#[test]
fn what_is_no_message_is_answered_as_far_as_it_can_be() {
    type Reply = Option<(i64, Option<&'static str>)>;
    let cases: &[(&str, Violation, Reply)] = &[
        ("Starting up...", Violation::NotJson, Some((-32700, None))),
        ("17", Violation::NotAMessage, Some((-32600, None))),
        (r#"{"level":"info"}"#, Violation::NotAMessage, Some((-32600, None))),
        (
            r#"{"jsonrpc":"2.0","id":7,"method":"ping","params":{x}}"#,
            Violation::NotJson,
            Some((-32700, Some("7"))),
        ),
        (
            r#"{"jsonrpc":"2.0","id":7,"method":"ping","params":[]}"#,
            Violation::InvalidParams,
            Some((-32602, Some("7"))),
        ),
        (r#"{"jsonrpc":"2.0","method":"a/b","params":[]}"#, Violation::InvalidParams, None),
        (
            r#"{"jsonrpc":"1.0","id":7,"method":"ping"}"#,
            Violation::WrongVersionMember,
            Some((-32600, Some("7"))),
        ),
        (
            r#"{"jsonrpc":"2.0","id":7,"method":"ping","result":{}}"#,
            Violation::NotAMessage,
            Some((-32600, Some("7"))),
        ),
        (
            r#"{"jsonrpc":"2.0","id":7,"id":8,"method":"ping"}"#,
            Violation::DuplicateMember,
            Some((-32600, None)),
        ),
        (r#"{"jsonrpc":"2.0","id":7}"#, Violation::EmptyResponse, None),
        (r#"{"jsonrpc":"2.0","id":7,"result":{}}"#, Violation::UnknownResponse, None),
        (r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"?"}}"#, Violation::UnknownResponse, None),
        (r#"{"jsonrpc":"2.0","method":"tools/call"}"#, Violation::UnexpectedMessage, None),
        (r#"{"jsonrpc":"2.0","method":"notifications/message"}"#, Violation::UnexpectedMessage, None),
        ("[]", Violation::UnexpectedBatch, Some((-32600, None))),
        (r#"[{"jsonrpc":"2.0","id":7,"method":"ping"}]"#, Violation::UnexpectedBatch, Some((-32600, None))),
    ];
    for (text, violation, reply) in cases {
        let mut bench = open();
        bench.recv(text);
        assert_eq!(bench.violations(), [*violation], "{text}");
        let expected: Vec<_> = reply.iter().map(|(code, id)| (*code, id.map(String::from))).collect();
        let sent: Vec<_> = bench.sent().iter().map(|text| error_of(text)).collect();
        assert_eq!(sent, expected, "{text}");
        assert!(bench.reply(&legacy("9", "ping", "")).contains("result"));
    }
    let mut bench = open();
    bench.input(Input::Damaged { bytes: b"\xff\xfe", violation: Violation::NotUtf8 });
    assert_eq!(bench.violations(), [Violation::NotUtf8]);
    assert_eq!(error_of(&bench.sent_one()), (-32700, None));
}

#[test]
fn unknown_members_are_tolerated() {
    let mut bench = open();
    bench.recv(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"},"trace":"x"}"#);
    let events = bench.events();
    let request = request_of(&events[0]);
    assert!(matches!(
        events[1],
        Event::ViolationTolerated { violation: Violation::UnknownMember, request: Some(named), .. } if named == request
    ));
}

#[test]
fn floods_are_cut_and_said_to_be() {
    let mut config = config();
    config.limits.queued_events = 2;
    let mut bench = Bench::session_with(config, Revision::V2025_11_25, "{}");
    assert!(bench.server.wants_input());
    for _ in 0..10 {
        bench.recv(r#"{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}"#);
    }
    assert!(!bench.server.wants_input());
    let events = bench.events();
    assert_eq!(events.len(), 5);
    assert!(matches!(events[4], Event::MessageDiscarded { violation: Violation::QueueFull, .. }));
    assert!(bench.server.wants_input());
    bench.recv(r#"{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}"#);
    assert!(matches!(bench.event(), Event::NotificationReceived { session: Some(_), .. }));
}

fn batches() -> Bench {
    Bench::session(Revision::V2025_03_26, "{}")
}

// proves: BASE-019
#[test]
fn a_batch_is_answered_by_one_array_when_all_is_answered() {
    let mut bench = batches();
    let items = [
        legacy("1", "ping", ""),
        legacy("2", "tools/call", r#""name":"echo""#),
        r#"{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}"#.into(),
        "3".into(),
        r#"{"jsonrpc":"2.0","id":4,"method":"ping","params":[]}"#.into(),
        legacy("5", "no/such", ""),
        legacy("6", "tools/call", r#""name":"nap""#),
    ];
    bench.recv(&format!("[{}]", items.join(",")));
    assert_eq!(bench.sent(), Vec::<String>::new());
    let mut calls = Vec::new();
    for event in bench.events() {
        if let Event::ToolCalled { request, .. } = event {
            calls.push(request);
        }
    }
    bench.server.respond(calls[1], TEXT_RESULT).unwrap();
    assert_eq!(bench.sent(), Vec::<String>::new());
    bench.server.respond(calls[0], TEXT_RESULT).unwrap();
    let reply = bench.sent_one();
    assert!(
        reply.starts_with(r#"[{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","error":{"code":-32600"#),
        "{reply}"
    );
    let order: Vec<_> = ["\"id\":1", "\"id\":4", "\"id\":5", "\"id\":6", "\"id\":2"]
        .iter()
        .map(|id| reply.find(id).unwrap())
        .collect();
    assert!(order.is_sorted() && reply.ends_with("}]"), "{reply}");
}

#[test]
fn a_batch_without_requests_is_not_answered() {
    let mut bench = batches();
    bench.recv(r#"[{"jsonrpc":"2.0","method":"notifications/roots/list_changed"},{"jsonrpc":"2.0","id":9,"result":{}}]"#);
    assert_eq!(bench.sent(), Vec::<String>::new());
    assert_eq!(bench.events().len(), 2);
}

#[test]
fn a_cancelled_request_does_not_hold_its_batch() {
    let mut bench = batches();
    bench.recv(&format!("[{},{}]", legacy("1", "ping", ""), legacy("2", "tools/call", r#""name":"echo""#)));
    let call = request_of(&bench.event());
    bench.recv(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}"#);
    assert_eq!(bench.event(), Event::RequestCancelled { request: call, reason: None });
    assert_eq!(bench.sent(), vec![r#"[{"jsonrpc":"2.0","id":1,"result":{}}]"#]);
    bench.server.respond(call, TEXT_RESULT).unwrap();
    assert_eq!(bench.sent(), Vec::<String>::new());
}

#[test]
fn a_batch_that_cannot_be_is_refused() {
    let mut bench = batches();
    for text in ["[]".into(), format!("[{}]", vec!["1"; 257].join(","))] {
        bench.recv(&text);
        assert_eq!(bench.violations(), [Violation::UnexpectedBatch]);
        assert_eq!(error_of(&bench.sent_one()), (-32600, None));
    }
    // A handshake or a modern request has no place in one.
    let handshake = format!("[{},{}]", legacy("1", "ping", ""), initialize("2", "2025-03-26", "{}"));
    let reply = bench.reply(&handshake);
    assert_eq!(reply.matches("-32600").count(), 2, "{reply}");
    let reply = bench.reply(&format!("[{}]", modern("3", "tools/list", "")));
    assert_eq!(reply.matches("-32600").count(), 1, "{reply}");
    // And none before a session says so.
    let mut early = Bench::new();
    early.recv(&format!("[{}]", legacy("1", "ping", "")));
    assert_eq!(error_of(&early.sent_one()), (-32600, None));
}

#[test]
fn ids_in_one_batch_are_one_table_with_the_rest() {
    let mut bench = batches();
    bench.recv(&format!(
        "[{},{}]",
        legacy("1", "tools/call", r#""name":"echo""#),
        legacy("1", "tools/call", r#""name":"nap""#)
    ));
    let events = bench.events();
    assert!(matches!(events[1], Event::MessageDiscarded { violation: Violation::DuplicateId, .. }));
    bench.server.respond(request_of(&events[0]), TEXT_RESULT).unwrap();
    assert_eq!(bench.sent_one(), format!(r#"[{{"jsonrpc":"2.0","id":1,"result":{TEXT_RESULT}}}]"#));
}
