//! Every exchange that brought a message ends once, and nothing ends another.

use super::*;
use crate::jsonrpc::RpcError;
use crate::server::Notification;

fn cancel(id: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#)
}

#[test]
fn what_is_no_message_is_refused_in_its_exchange() {
    let mut bench = Bench::new();
    let session = bench.http_session(1, Revision::V2025_11_25, "{}");
    let cases = [
        ("", -32700, None),
        ("noise", -32700, None),
        ("[", -32700, None),
        ("null", -32600, None),
        ("[]", -32600, None),
        ("{}", -32600, None),
        (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, -32600, None),
        (r#"{"jsonrpc":"1.0","id":7,"method":"ping"}"#, -32600, Some("7")),
        (r#"{"jsonrpc":"2.0","id":7,"method":"ping","params":[]}"#, -32602, Some("7")),
        (r#"{"jsonrpc":"2.0","method":"x/y","params":[]}"#, -32602, None),
        (r#"{"jsonrpc":"2.0","id":7}"#, -32600, None),
    ];
    for (text, code, id) in cases {
        for post in [Post::bare(5), Post::of(5, session)] {
            bench.post(post, text);
            let (end, texts) = bench.end_of(5);
            assert_eq!(end, End::Ended(Disposition::Refuses(code)), "{text}");
            assert_eq!(error_of(&texts[0]), (code, id.map(String::from)), "{text}");
            bench.events();
        }
    }
}

#[test]
fn equal_ids_of_different_clients_never_meet() {
    let mut bench = Bench::new();
    let first = bench.http_session(1, Revision::V2025_11_25, "{}");
    let second = bench.http_session(2, Revision::V2025_03_26, "{}");
    let mut calls = Vec::new();
    for post in [
        Post::of(11, first),
        Post::of(12, second),
        Post::modern(13, "tools/call", Some("echo")),
        Post::modern(14, "tools/call", Some("echo")),
    ] {
        let text = match post.session {
            NamedSession::None => modern("1", "tools/call", r#""name":"echo""#),
            _ => legacy("1", "tools/call", r#""name":"echo""#),
        };
        bench.post(post, &text);
        let event = bench.event();
        let Event::ToolCalled { request, context, .. } = event else { panic!("{event:?}") };
        assert_eq!(context.exchange, Some(exchange(post.number)));
        calls.push((post.number, request, context.session));
    }
    for (number, request, session) in calls.into_iter().rev() {
        bench.server.respond(request, TEXT_RESULT).unwrap();
        let out = bench.out();
        assert_eq!(out.labels.exchange, Some(exchange(number)));
        assert_eq!((out.labels.session, out.labels.disposition), (session, Disposition::Answers));
        assert_eq!(out.route, Route::Answers(request));
        assert!(out.text.contains(r#""id":1,"#));
    }
}

#[test]
fn a_cancellation_reaches_its_own_session_alone_and_ends_the_exchange() {
    let mut bench = Bench::new();
    let first = bench.http_session(1, Revision::V2025_11_25, "{}");
    let second = bench.http_session(2, Revision::V2025_11_25, "{}");
    let call = |bench: &mut Bench, number, session| {
        bench.post(Post::of(number, session), &legacy("1", "tools/call", r#""name":"echo""#));
        request_of(&bench.event())
    };
    let theirs = call(&mut bench, 11, first);
    let wanted = call(&mut bench, 12, second);
    bench.post(Post::modern(13, "tools/call", Some("echo")), &modern("1", "tools/call", r#""name":"echo""#));
    let modern_one = request_of(&bench.event());
    // From nowhere, and from a modern client.
    let header = HeaderValue::Once("2026-07-28");
    for post in [Post::bare(20), Post::bare(20).version(header), Post::of(20, first).version(header)] {
        bench.post(post, &cancel("1"));
        assert!(!bench.events().iter().any(|event| matches!(event, Event::RequestCancelled { .. })));
        assert_ne!(bench.end_of(20).0, End::Open);
    }
    bench.post(Post::of(21, second), &cancel("1"));
    assert_eq!(bench.event(), Event::RequestCancelled { request: wanted, reason: None });
    let (outs, accepted) = bench.outs();
    assert_eq!(accepted, [21]);
    assert_eq!(outs.len(), 1);
    assert_eq!(outs[0].labels.exchange, Some(exchange(12)));
    assert_eq!(outs[0].labels.disposition, Disposition::Answers);
    assert_eq!(error_of(&outs[0].text), (RpcError::REQUEST_CANCELLED, Some("1".into())));
    // A late answer is taken and sends nothing; the others go on.
    bench.server.respond(wanted, TEXT_RESULT).unwrap();
    assert!(bench.outs().0.is_empty());
    for request in [theirs, modern_one] {
        bench.server.respond(request, TEXT_RESULT).unwrap();
        assert!(bench.out().text.contains("result"));
    }
}

// proves: BASE-227 BASE-411 BASE-412
#[test]
fn an_exchange_that_was_left_cancels_in_the_modern_era_only() {
    let mut bench = Bench::new();
    let session = bench.http_session(1, Revision::V2025_11_25, "{}");
    bench.post(Post::modern(11, "tools/call", Some("echo")), &modern("1", "tools/call", r#""name":"echo""#));
    let modern_call = request_of(&bench.event());
    bench.post(Post::of(12, session), &legacy("1", "tools/call", r#""name":"echo""#));
    let legacy_call = request_of(&bench.event());
    bench.input(Input::Gone { exchange: exchange(12) });
    assert_eq!(bench.events(), []);
    bench.input(Input::Gone { exchange: exchange(11) });
    assert_eq!(bench.event(), Event::RequestCancelled { request: modern_call, reason: None });
    bench.input(Input::Gone { exchange: exchange(99) });
    assert!(bench.events().is_empty() && bench.outs().0.is_empty());
    bench.server.respond(legacy_call, TEXT_RESULT).unwrap();
    assert_eq!(bench.out().labels.exchange, Some(exchange(12)));
    bench.server.respond(modern_call, TEXT_RESULT).unwrap();
    assert!(bench.outs().0.is_empty());
}

#[test]
fn an_id_that_is_in_flight_is_refused_in_the_second_exchange_without_it() {
    let mut bench = Bench::new();
    let session = bench.http_session(1, Revision::V2025_11_25, "{}");
    bench.post(Post::of(11, session), &legacy("1", "tools/call", r#""name":"echo""#));
    let call = request_of(&bench.event());
    bench.post(Post::of(12, session), &legacy("1", "ping", ""));
    assert_eq!(bench.violations(), [Violation::DuplicateId]);
    let (end, texts) = bench.end_of(12);
    assert_eq!(end, End::Ended(Disposition::Refuses(-32600)));
    assert_eq!(error_of(&texts[0]), (-32600, None));
    bench.server.respond(call, TEXT_RESULT).unwrap();
    assert_eq!(bench.end_of(11).0, End::Ended(Disposition::Answers));
}

#[test]
fn what_is_told_within_a_request_goes_out_in_its_exchange() {
    let mut bench = Bench::new();
    let session = bench.http_session(1, Revision::V2025_11_25, "{}");
    bench.post(
        Post::of(11, session),
        &legacy("1", "tools/call", r#""name":"echo","_meta":{"progressToken":1}"#),
    );
    let call = request_of(&bench.event());
    let progress = Notification::Progress { progress: 1.0, total: None, message: None };
    let log = Notification::Log { level: crate::logging::LogLevel::Error, logger: None, data: "1" };
    for (notification, disposition) in [
        (progress, Disposition::Droppable),
        (log, Disposition::Droppable),
        (Notification::Other { method: "x/y", params: None }, Disposition::Continues),
    ] {
        assert!(bench.server.notify(call, notification).unwrap());
        let out = bench.out();
        assert_eq!(out.labels.exchange, Some(exchange(11)));
        assert_eq!((out.labels.session, out.labels.disposition), (Some(session), disposition));
        assert_eq!(out.route, Route::Within(call));
    }
}

#[test]
fn a_batch_is_one_exchange() {
    let mut bench = Bench::new();
    let session = bench.http_session(1, Revision::V2025_03_26, "{}");
    let call = |id| legacy(id, "tools/call", r#""name":"echo""#);
    bench.post(Post::of(11, session), &format!("[{},{},{}]", call("1"), legacy("2", "ping", ""), call("3")));
    let calls: Vec<_> = bench.events().iter().map(request_of).collect();
    assert_eq!(bench.end_of(11), (End::Open, Vec::new()));
    bench.server.respond(calls[0], TEXT_RESULT).unwrap();
    assert_eq!(bench.end_of(11), (End::Open, Vec::new()));
    bench.post(Post::of(12, session), &cancel("3"));
    bench.events();
    let (outs, accepted) = bench.outs();
    assert_eq!(accepted, [12]);
    assert_eq!(outs[0].labels.exchange, Some(exchange(11)));
    assert_eq!(outs[0].labels.disposition, Disposition::Answers);
    let answers: Vec<Json> = serde_json::from_str::<Vec<&serde_json::value::RawValue>>(&outs[0].text)
        .unwrap()
        .into_iter()
        .map(|answer| Json::new(answer.get()).unwrap())
        .collect();
    assert_eq!(answers.len(), 3);
    assert!(answers.iter().any(|answer| answer.as_str().contains("-32800")));
    // Nothing in it is answered.
    bench.post(
        Post::of(13, session),
        &format!("[{INITIALIZED},{}]", r#"{"jsonrpc":"2.0","id":99,"result":{}}"#),
    );
    assert_eq!(bench.end_of(13), (End::Accepted, Vec::new()));
    bench.events();
    // Requests and responses do not go together, and a handshake not with anything.
    let mixed = format!("[{},{}]", legacy("4", "ping", ""), r#"{"jsonrpc":"2.0","id":99,"result":{}}"#);
    let handshake = format!("[{}]", initialize("4", "2025-03-26", "{}"));
    for (number, text) in [(14, mixed), (15, "[]".into())] {
        bench.post(Post::of(number, session), &text);
        assert_eq!(bench.end_of(number).0, End::Ended(Disposition::Refuses(-32600)));
    }
    bench.post(Post::of(16, session), &handshake);
    let (end, texts) = bench.end_of(16);
    assert_eq!(end, End::Ended(Disposition::Answers));
    assert!(texts[0].contains("-32600"), "{texts:?}");
    bench.post(Post::bare(17), &handshake);
    assert_eq!(bench.end_of(17).0, End::Ended(Disposition::Refuses(-32600)));
}

#[test]
fn listening_needs_a_stream() {
    let mut bench = Bench::new();
    let listen = modern("1", "subscriptions/listen", r#""notifications":{"toolsListChanged":true}"#);
    let post = Post::modern(11, "subscriptions/listen", None);
    bench.post(Post { takes_stream: false, ..post }, &listen);
    let (end, texts) = bench.end_of(11);
    assert_eq!(end, End::Ended(Disposition::NotAcceptable));
    assert_eq!(error_of(&texts[0]).1, Some("1".into()));
    assert_eq!(bench.events(), []);
    // Equal ids of many clients.
    for number in 12..15 {
        bench.post(Post { number, ..post }, &listen);
        let out = bench.out();
        assert_eq!(out.labels.exchange, Some(exchange(number)));
        assert!(out.text.contains("acknowledged") && out.labels.disposition == Disposition::Continues);
    }
    bench.events();
    bench.server.remove_tool("nap").unwrap();
    let (outs, _) = bench.outs();
    let told: Vec<_> =
        outs.iter().filter_map(|out| out.labels.exchange).map(ExchangeHandle::number).collect();
    assert_eq!(told, [12, 13, 14]);
    bench.input(Input::Gone { exchange: exchange(13) });
    assert!(matches!(bench.event(), Event::SubscriptionClosed { .. }));
    bench.server.remove_tool("echo").unwrap();
    assert_eq!(bench.outs().0.len(), 2);
}

#[test]
fn an_error_of_the_application_is_an_answer_but_for_a_missing_capability() {
    let mut bench = Bench::new();
    let session = bench.http_session(1, Revision::V2025_11_25, "{}");
    let errors = [RpcError::new(-32602, "m"), RpcError::new(-32601, "m"), RpcError::new(-32603, "m")];
    for error in errors {
        for post in [Post::of(11, session), Post::modern(11, "tools/call", Some("echo"))] {
            let text = match post.session {
                NamedSession::None => modern("1", "tools/call", r#""name":"echo""#),
                _ => legacy("1", "tools/call", r#""name":"echo""#),
            };
            bench.post(post, &text);
            let call = request_of(&bench.event());
            bench.server.respond_error(call, error.clone()).unwrap();
            assert_eq!(bench.out().labels.disposition, Disposition::Answers);
        }
    }
    bench.post(Post::modern(11, "tools/call", Some("echo")), &modern("1", "tools/call", r#""name":"echo""#));
    let call = request_of(&bench.event());
    bench.server.respond_missing_capability(call, r#"{"sampling":{}}"#).unwrap();
    assert_eq!(bench.out().labels.disposition, Disposition::Refuses(-32021));
}

#[test]
fn refusals_of_a_session_are_answers_as_a_status_would_mean_something_else() {
    let mut bench = Bench::new();
    let session = bench.http_session(1, Revision::V2025_11_25, "{}");
    for (method, params, code) in [
        ("x/y", "", -32601),
        ("server/discover", "", -32601),
        ("tools/call", "", -32602),
        ("tools/call", r#""name":"none""#, -32602),
        ("resources/read", r#""uri":"no:where""#, -32002),
        ("logging/setLevel", r#""level":"loud""#, -32602),
        ("tools/list", r#""cursor":"x""#, -32602),
    ] {
        bench.post(Post::of(11, session), &legacy("1", method, params));
        let out = bench.out();
        assert_eq!(out.labels.disposition, Disposition::Answers, "{method}");
        assert_eq!(error_of(&out.text), (code, Some("1".into())), "{method}");
    }
}

#[test]
fn too_much_is_refused_with_a_code_of_its_own_status() {
    let mut config = config();
    config.limits.requests_in_flight = 1;
    config.limits.sessions = 1;
    let mut bench = Bench::with(config);
    let session = bench.http_session(1, Revision::V2025_11_25, "{}");
    bench.post(Post::bare(2), &initialize("0", "2025-11-25", "{}"));
    assert_eq!(bench.end_of(2).0, End::Ended(Disposition::Refuses(-32603)));
    let call = legacy("1", "tools/call", r#""name":"echo""#);
    bench.post(Post::of(3, session), &call);
    bench.post(Post::of(4, session), &call.replace(r#""id":1"#, r#""id":2"#));
    assert_eq!(bench.end_of(4).0, End::Ended(Disposition::Refuses(-32603)));
    // Who listens counts apart.
    let listen = modern("1", "subscriptions/listen", r#""notifications":{}"#);
    bench.post(Post::modern(5, "subscriptions/listen", None), &listen);
    assert_eq!(bench.end_of(5).0, End::Open);
    bench.post(Post::modern(6, "subscriptions/listen", None), &listen);
    assert_eq!(bench.end_of(6).0, End::Ended(Disposition::Refuses(-32603)));
}
