use super::*;
use crate::error::ApiMisuse;
use crate::jsonrpc::RpcError;
use crate::server::CompletionReference;

fn misuse(misuse: ApiMisuse) -> Result<(), crate::error::Error> {
    Err(misuse.into())
}

// proves: FEAT-170
#[test]
fn requests_reach_the_application_with_their_parts() {
    let mut bench = Bench::session(Revision::V2025_06_18, "{}");
    bench.recv(&legacy("1", "tools/call", r#""arguments": {"a" : [1.50,"\u00e9"]} ,"name":"ec\u0068o""#));
    let Event::ToolCalled { name, arguments, context, .. } = bench.event() else { panic!() };
    assert_eq!((&*name, arguments.unwrap().as_str()), ("echo", r#"{"a" : [1.50,"\u00e9"]}"#));
    assert!(context.session.is_some() && context.revision == Revision::V2025_06_18);
    bench.recv(&legacy("2", "tools/call", r#""name":"echo","arguments":null"#));
    assert!(matches!(bench.event(), Event::ToolCalled { arguments: None, .. }));
    bench.recv(&legacy("3", "resources/read", r#""uri":"file:///a""#));
    assert!(matches!(bench.event(), Event::ResourceReadRequested { template: None, .. }));
    bench.recv(&legacy("4", "resources/read", r#""uri":"user://%41b""#));
    let Event::ResourceReadRequested { uri, template, .. } = bench.event() else { panic!() };
    let template = template.unwrap();
    assert_eq!((&*uri, &*template.template), ("user://%41b", "user://{id}"));
    assert_eq!(template.variables, [("id".into(), "Ab".into())]);
    bench.recv(&legacy("5", "prompts/get", r#""name":"greet","arguments":{"who":"x"}"#));
    assert!(matches!(bench.event(), Event::PromptRequested { arguments: Some(_), .. }));
    bench.recv(&legacy(
        "6",
        "completion/complete",
        r#""ref":{"type":"ref/resource","uri":"user://{id}"},"argument":{"name":"id","value":"a"},"context":{"arguments":{"x":"y"}}"#,
    ));
    let Event::CompletionRequested { reference, argument, value, arguments, .. } = bench.event() else {
        panic!()
    };
    assert_eq!(reference, CompletionReference::Resource("user://{id}".into()));
    assert_eq!((&*argument, &*value, arguments.unwrap().as_str()), ("id", "a", r#"{"x":"y"}"#));
    bench.recv(&legacy(
        "7",
        "completion/complete",
        r#""ref":{"type":"ref/prompt","name":"greet"},"argument":{"name":"who","value":""}"#,
    ));
    assert!(matches!(bench.event(), Event::CompletionRequested { arguments: None, .. }));
    assert_eq!(bench.sent(), Vec::<String>::new());
}

#[test]
fn names_that_are_not_known_are_refused() {
    let cases = [
        ("tools/call", r#""name":"no""#, -32602, "Unknown tool: no"),
        ("tools/call", r#""name":7"#, -32602, "name"),
        ("tools/call", r#""name":"\ud800""#, -32602, "name"),
        ("tools/call", r#""name":"echo","arguments":[1]"#, -32602, "arguments"),
        ("prompts/get", r#""name":"no""#, -32602, "Unknown prompt: no"),
        ("prompts/get", "", -32602, "name"),
        ("resources/read", "", -32602, "uri"),
        ("tools/list", r#""cursor":"bogus""#, -32602, ""),
        ("tools/list", r#""cursor":5"#, -32602, ""),
        (
            "completion/complete",
            r#""ref":{"type":"ref/prompt","name":"no"},"argument":{"name":"a","value":"b"}"#,
            -32602,
            "ref",
        ),
        (
            "completion/complete",
            r#""ref":{"type":"ref/tool"},"argument":{"name":"a","value":"b"}"#,
            -32602,
            "ref.type",
        ),
        ("completion/complete", r#""ref":{"type":"ref/prompt","name":"greet"}"#, -32602, "argument"),
        ("logging/setLevel", r#""level":"loud""#, -32602, "level"),
        ("no/such", "", -32601, "no/such"),
        ("server/discover", "", -32601, ""),
        ("sampling/createMessage", "", -32601, ""),
        ("notifications/initialized", "", -32601, ""),
    ];
    let mut bench = Bench::session(Revision::V2025_11_25, "{}");
    for (method, params, code, word) in cases {
        let reply = bench.reply(&legacy("1", method, params));
        assert_eq!(error_of(&reply), (code, Some("1".into())), "{method} {params}");
        assert!(reply.contains(word), "{reply}");
    }
}

// proves: BASE-037
#[test]
fn a_missing_resource_has_the_code_of_its_revision() {
    let params = r#""uri":"file:///no""#;
    let data = r#""data":{"uri":"file:///no"}"#;
    for revision in [Revision::V2024_11_05, Revision::V2025_11_25] {
        let reply = Bench::session(revision, "{}").reply(&legacy("1", "resources/read", params));
        assert!(error_of(&reply).0 == -32002 && reply.contains(data), "{reply}");
    }
    let reply = Bench::new().reply(&modern("1", "resources/read", params));
    assert!(error_of(&reply).0 == -32602 && reply.contains(data), "{reply}");
}

#[test]
fn lists_come_in_pages() {
    let mut config = config();
    config.limits.page_items = 1;
    let mut bench = Bench::session_with(config, Revision::V2025_11_25, "{}");
    let first = bench.reply(&legacy("1", "tools/list", ""));
    let cursor = Json::new(&first).unwrap().member("result").unwrap().member("nextCursor").unwrap();
    let second = bench.reply(&legacy("2", "tools/list", &format!(r#""cursor":{cursor}"#)));
    assert!(first.contains("echo") && !first.contains("nap"), "{first}");
    assert!(second.contains("nap") && !second.contains("nextCursor"), "{second}");
    assert!(!first.contains("resultType") && !first.contains("ttlMs"));
    let modern = bench.reply(&modern("3", "tools/list", ""));
    assert!(modern.contains(r#""resultType":"complete""#) && modern.contains("ttlMs"), "{modern}");
    for method in ["resources/list", "resources/templates/list", "prompts/list"] {
        assert!(bench.reply(&legacy("4", method, r#""cursor":null"#)).contains(r#""name":"#), "{method}");
    }
}

// proves: BASE-440 FEAT-002 FEAT-003 FEAT-110 FEAT-111 FEAT-148 FEAT-149
#[test]
fn lists_depend_on_nothing_but_the_catalog() {
    let lists = ["tools/list", "resources/list", "resources/templates/list", "prompts/list"];
    let mut fresh = Bench::new();
    let mut used = Bench::session(Revision::V2024_11_05, "{}");
    let call = used.call(&modern_with("1", "tools/call", r#""name":"echo""#, r#"{"sampling":{}}"#));
    used.server.respond(call, TEXT_RESULT).unwrap();
    used.sent();
    for method in lists {
        let request = modern("1", method, "");
        let first = fresh.reply(&request);
        assert_eq!(first, used.reply(&request));
        assert_eq!(first, fresh.reply(&request));
    }
    // Emptied, they are still there.
    fresh.server.remove_tool("echo").unwrap();
    fresh.server.remove_tool("nap").unwrap();
    fresh.server.remove_resource("file:///a").unwrap();
    fresh.server.remove_resource_template("user://{id}").unwrap();
    fresh.server.remove_prompt("greet").unwrap();
    for method in lists {
        assert!(fresh.reply(&modern("1", method, "")).contains(":[]"), "{method}");
    }
}

// proves: BASE-008 BASE-009 BASE-010 BASE-011
#[test]
fn an_answer_is_given_once_and_checked() {
    let mut bench = Bench::session(Revision::V2025_11_25, "{}");
    let call = bench.call(&legacy("1", "tools/call", r#""name":"echo""#));
    for bad in ["", "[]", "{", "{} {}", "null"] {
        assert_eq!(bench.server.respond(call, bad), misuse(ApiMisuse::InvalidJson), "{bad}");
    }
    assert_eq!(bench.sent(), Vec::<String>::new());
    bench.server.respond(call, "{\"content\":[],\r\n \"x\":1}").unwrap();
    assert_eq!(bench.sent_one(), r#"{"jsonrpc":"2.0","id":1,"result":{"content":[],"x":1}}"#);
    assert_eq!(bench.server.respond(call, "{}"), misuse(ApiMisuse::AlreadyAnswered));
    let never = RequestHandle::from_number(1_000);
    assert_eq!(bench.server.respond(never, "{}"), misuse(ApiMisuse::UnknownRequest));
    let error = || RpcError::new(-5, "no");
    assert_eq!(bench.server.respond_error(call, error()), misuse(ApiMisuse::AlreadyAnswered));
    let other = bench.call(&legacy("2", "tools/call", r#""name":"echo""#));
    bench.server.respond_error(other, error().with_data(Json::new("[1,\n2]").unwrap())).unwrap();
    assert_eq!(
        bench.sent_one(),
        r#"{"jsonrpc":"2.0","id":2,"error":{"code":-5,"message":"no","data":[1,2]}}"#
    );
}

#[test]
fn bad_arguments_are_an_error_or_a_result_by_revision() {
    for revision in [Revision::V2024_11_05, Revision::V2025_03_26, Revision::V2025_06_18] {
        let mut bench = Bench::session(revision, "{}");
        let call = bench.call(&legacy("1", "tools/call", r#""name":"echo""#));
        bench.server.respond_invalid_arguments(call, "n must be a number").unwrap();
        let reply = bench.sent_one();
        assert!(error_of(&reply).0 == -32602 && reply.contains("n must be"), "{reply}");
    }
    let mut bench = Bench::session(Revision::V2025_11_25, "{}");
    let call = bench.call(&legacy("1", "tools/call", r#""name":"echo""#));
    bench.server.respond_invalid_arguments(call, "n must be a number").unwrap();
    assert!(bench.sent_one().contains(r#""isError":true"#));
    let call = bench.call(&modern("1", "tools/call", r#""name":"echo""#));
    bench.server.respond_invalid_arguments(call, "n must be a number").unwrap();
    assert!(bench.sent_one().contains(r#""isError":true"#));
    let prompt = bench.call(&modern("1", "prompts/get", r#""name":"greet""#));
    bench.server.respond_invalid_arguments(prompt, "who?").unwrap();
    assert_eq!(error_of(&bench.sent_one()).0, -32602);
}

#[test]
fn the_commonest_results_are_written_from_their_parts() {
    type Answer =
        fn(&mut crate::server::Server, crate::machine::RequestHandle) -> Result<(), crate::error::Error>;
    let tool = ("tools/call", r#""name":"echo""#);
    let read = ("resources/read", r#""uri":"file:///a""#);
    let cases: [((&str, &str), Answer, &str); 7] = [
        (
            tool,
            |server, request| server.respond_text(request, "a\"b"),
            r#"{"content":[{"type":"text","text":"a\"b"}]}"#,
        ),
        (
            tool,
            |server, request| server.respond_tool_error(request, "no"),
            r#"{"content":[{"type":"text","text":"no"}],"isError":true}"#,
        ),
        (
            ("prompts/get", r#""name":"greet""#),
            |server, request| server.respond_prompt_text(request, "hi"),
            r#"{"messages":[{"role":"user","content":{"type":"text","text":"hi"}}]}"#,
        ),
        (
            read,
            |server, request| server.respond_resource_text(request, "file:///a", None, "x"),
            r#"{"contents":[{"uri":"file:///a","text":"x"}]}"#,
        ),
        (
            read,
            |server, request| server.respond_resource_blob(request, "file:///a", Some("a/b"), &[1, 2]),
            r#"{"contents":[{"uri":"file:///a","mimeType":"a/b","blob":"AQI="}]}"#,
        ),
        (
            (
                "completion/complete",
                r#""ref":{"type":"ref/prompt","name":"greet"},"argument":{"name":"who","value":""}"#,
            ),
            |server, request| server.respond_completion(request, &["a", "b"]),
            r#"{"completion":{"values":["a","b"],"total":2,"hasMore":false}}"#,
        ),
        (
            (
                "completion/complete",
                r#""ref":{"type":"ref/prompt","name":"greet"},"argument":{"name":"who","value":""}"#,
            ),
            |server, request| server.respond_completion(request, &["x"; 101]),
            r#""x"],"total":101,"hasMore":true}}"#,
        ),
    ];
    for ((method, params), answer, expected) in cases {
        let mut bench = Bench::session(Revision::V2025_11_25, "{}");
        let call = bench.call(&legacy("1", method, params));
        answer(&mut bench.server, call).unwrap();
        let reply = bench.sent_one();
        assert!(reply.contains(expected), "{reply}");
        assert!(reply.matches("\"x\"").count() <= 100);
    }
}

// proves: BASE-037
#[test]
fn codes_of_one_era_do_not_cross_into_the_other() {
    let mut bench = Bench::session(Revision::V2025_11_25, "{}");
    let call = bench.call(&legacy("1", "tools/call", r#""name":"echo""#));
    bench.server.respond_missing_capability(call, r#"{"sampling":{}}"#).unwrap();
    let reply = bench.sent_one();
    assert!(error_of(&reply).0 == -32600 && reply.contains("requiredCapabilities"), "{reply}");
    let read = bench.call(&modern("2", "resources/read", r#""uri":"file:///a""#));
    bench.server.respond_error(read, RpcError::new(RpcError::RESOURCE_NOT_FOUND, "gone")).unwrap();
    assert_eq!(error_of(&bench.sent_one()).0, -32602);
}

// proves: BASE-397 BASE-398 BASE-401 BASE-411
#[test]
fn cancelling_stops_everything_and_a_late_answer_is_taken_in_silence() {
    for text in [
        legacy("7", "tools/call", r#""name":"echo","_meta":{"progressToken":1}"#),
        modern("7", "tools/call", r#""name":"echo""#),
    ] {
        let mut bench = Bench::session(Revision::V2025_11_25, "{}");
        let call = bench.call(&text);
        // Another type is another id.
        bench.recv(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"7"}}"#);
        assert_eq!(bench.events(), []);
        bench.recv(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7,"reason":"bored"}}"#);
        assert_eq!(bench.event(), Event::RequestCancelled { request: call, reason: Some("bored".into()) });
        let progress = super::super::Notification::Progress { progress: 1.0, total: None, message: None };
        assert_eq!(bench.server.notify(call, progress), Ok(false));
        let log = super::super::Notification::Log {
            level: crate::logging::LogLevel::Alert,
            logger: None,
            data: "1",
        };
        assert_eq!(bench.server.notify(call, log), Ok(false));
        assert_eq!(bench.server.respond(call, "nonsense"), misuse(ApiMisuse::InvalidJson));
        bench.server.respond(call, TEXT_RESULT).unwrap();
        assert_eq!(bench.server.respond(call, TEXT_RESULT), misuse(ApiMisuse::AlreadyAnswered));
        assert_eq!(bench.sent(), Vec::<String>::new());
        // The id is free again.
        assert!(bench.reply(&legacy("7", "ping", "")).contains("result"));
    }
}

// proves: BASE-399 BASE-404 BASE-406
#[test]
fn cancellations_of_nothing_are_dropped() {
    let mut bench = Bench::new();
    bench.recv(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":0}}"#);
    bench.reply(&initialize("0", "2025-11-25", "{}"));
    for params in
        [r#"{"requestId":0}"#, r#"{"requestId":99}"#, r#"{"requestId":null}"#, r#"{"requestId":[]}"#, "{}"]
    {
        bench.recv(&format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{params}}}"#));
        assert_eq!((bench.events(), bench.sent()), (Vec::new(), Vec::new()), "{params}");
    }
    bench.recv(r#"{"jsonrpc":"2.0","method":"notifications/cancelled"}"#);
    assert_eq!((bench.events(), bench.sent()), (Vec::new(), Vec::new()));
    assert!(bench.reply(&legacy("1", "ping", "")).contains("result"));
}

#[test]
fn cancelled_requests_are_forgotten_within_bounds() {
    let mut config = config();
    config.limits.requests_in_flight = 2;
    let mut bench = Bench::with(config);
    let calls: Vec<_> = (0..3)
        .map(|_| {
            let call = bench.call(&modern("1", "tools/call", r#""name":"echo""#));
            bench.recv(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#);
            bench.event();
            call
        })
        .collect();
    assert_eq!(bench.server.respond(calls[0], "{}"), misuse(ApiMisuse::AlreadyAnswered));
    assert_eq!(bench.server.respond(calls[1], "{}"), Ok(()));
    assert_eq!(bench.server.respond_error(calls[2], RpcError::new(1, "")), Ok(()));
}

#[test]
fn too_many_requests_are_answered_at_once() {
    let mut config = config();
    config.limits.requests_in_flight = 2;
    let mut bench = Bench::with(config);
    let first = bench.call(&modern("1", "tools/call", r#""name":"echo""#));
    bench.call(&modern("2", "tools/call", r#""name":"echo""#));
    let refused = bench.reply(&modern("3", "tools/call", r#""name":"echo""#));
    assert_eq!(error_of(&refused), (-32603, Some("3".into())));
    // What the server answers itself goes on.
    bench.reply(&modern("4", "tools/list", ""));
    bench.server.respond(first, TEXT_RESULT).unwrap();
    bench.sent();
    bench.call(&modern("3", "tools/call", r#""name":"echo""#));
}

#[test]
fn methods_that_the_application_asked_for_reach_it() {
    let mut config = config();
    config.extension_methods.push("com.example/do".into());
    let mut bench = Bench::session_with(config, Revision::V2025_11_25, "{}");
    for text in [legacy("1", "com.example/do", r#""a":1"#), modern("2", "com.example/do", r#""a":1"#)] {
        bench.recv(&text);
        let Event::RequestReceived { request, method, params, .. } = bench.event() else { panic!() };
        assert_eq!(&*method, "com.example/do");
        assert!(params.unwrap().as_str().contains(r#""a":1"#));
        bench.server.respond(request, r#"{"b":2}"#).unwrap();
        assert!(bench.sent_one().contains(r#""b":2"#));
    }
    bench.recv(r#"{"jsonrpc":"2.0","method":"com.example/note","params":{"a":1}}"#);
    let Event::NotificationReceived { method, params, session, .. } = bench.event() else { panic!() };
    assert_eq!(
        (&*method, params.unwrap().as_str(), session.is_some()),
        ("com.example/note", r#"{"a":1}"#, true)
    );
}

#[test]
fn big_requests_stop_the_intake_and_then_are_refused() {
    let mut config = config();
    config.limits.queued_bytes = 1_000;
    let mut bench = Bench::session_with(config, Revision::V2025_11_25, "{}");
    let big = |id: &str| {
        legacy(id, "tools/call", &format!(r#""name":"echo","arguments":{{"a":"{}"}}"#, "x".repeat(1_000)))
    };
    bench.recv(&big("1"));
    bench.recv(&big("2"));
    assert!(!bench.server.wants_input());
    bench.recv(&big("3"));
    assert!(bench.sent_one().contains("error"));
    assert_eq!(bench.events().len(), 2);
    assert!(bench.server.wants_input());
    bench.recv(&big("4"));
    assert_eq!(bench.events().len(), 1);
}

#[test]
fn many_slow_requests_stop_the_intake_unless_the_client_owes_an_answer() {
    let mut config = config();
    config.limits.requests_in_flight = 4;
    let mut bench = Bench::session_with(config, Revision::V2025_11_25, r#"{"roots":{}}"#);
    for id in ["1", "2"] {
        assert!(bench.server.wants_input());
        bench.recv(&legacy(id, "tools/call", r#""name":"nap""#));
    }
    assert!(!bench.server.wants_input());
    let request = match &bench.events()[..] {
        [Event::ToolCalled { request, .. }, _] => *request,
        other => panic!("{other:?}"),
    };
    let question = crate::rounds::InputQuestion {
        key: "k".into(),
        kind: crate::rounds::InputKind::Roots,
        params: Json::new("{}").unwrap(),
    };
    bench.server.require_input(bench.now, request, alloc::vec![question], None).unwrap();
    assert!(bench.server.wants_input());
}

#[test]
fn a_large_result_given_away_goes_out_like_a_borrowed_one() {
    let filler = "x".repeat(8 << 10);
    let results = [
        format!(r#"{{"content":[{{"type":"text","text":"{filler}"}}]}}"#),
        format!(r#" {{"content":[{{"type":"text","text":"{filler}"}}]}} "#),
        format!("{{\"content\":[{{\"type\":\"text\",\n\"text\":\"{filler}\"}}]}}"),
        format!(r#"{{"content":[],"structuredContent":{{"a":"{filler}"}}}}"#),
        format!(r#"{{"structuredContent":["{filler}"]}}"#),
        format!(
            r#"{{"content":[{{"type":"resource_link","uri":"a:{filler}","name":"n"}}],"_meta":{{"a":1}}}}"#
        ),
        format!(
            r#"{{"resultType":"complete","content":[{{"type":"text","text":"{filler}"}}],"isError":null}}"#
        ),
        format!(r#"{{"content":[{{"type":"text","text":"{filler}"}}],"_meta":{{}}}}"#),
    ];
    for revision in Revision::ALL {
        for identify in [true, false] {
            let mut config = config();
            config.identify_results = identify;
            let mut bench = match revision {
                Revision::V2026_07_28 => Bench::with(config),
                _ => Bench::session_with(config, revision, "{}"),
            };
            for result in &results {
                let call = |bench: &mut Bench| match revision {
                    Revision::V2026_07_28 => bench.call(&modern("1", "tools/call", r#""name":"echo""#)),
                    _ => bench.call(&legacy("1", "tools/call", r#""name":"echo""#)),
                };
                let request = call(&mut bench);
                bench.server.respond(request, result.as_str()).unwrap();
                let borrowed = bench.sent_one();
                let request = call(&mut bench);
                bench.server.respond(request, result.clone()).unwrap();
                assert_eq!(bench.sent_one(), borrowed);
            }
            let request = bench.call(&match revision {
                Revision::V2026_07_28 => modern("1", "tools/call", r#""name":"echo""#),
                _ => legacy("1", "tools/call", r#""name":"echo""#),
            });
            let broken = format!(r#"{{"content":"{filler}"#);
            assert_eq!(bench.server.respond(request, broken), misuse(ApiMisuse::InvalidJson));
            bench.server.respond(request, TEXT_RESULT).unwrap();
            bench.sent_one();
        }
    }
}

#[test]
fn requests_that_never_end_do_not_stop_the_intake_for_ever() {
    let mut config = config();
    config.limits.requests_in_flight = 6;
    let mut bench = Bench::session_with(config, Revision::V2025_11_25, "{}");
    let nap = |id: &str| legacy(id, "tools/call", r#""name":"nap""#);
    for id in ["1", "2", "3"] {
        assert!(bench.server.poll_timeout().is_none());
        bench.recv(&nap(id));
    }
    let first = match &bench.events()[..] {
        [Event::ToolCalled { request, .. }, _, _] => *request,
        other => panic!("{other:?}"),
    };
    assert!(!bench.server.wants_input());
    let resumes = bench.server.poll_timeout().unwrap();
    bench.server.handle_timeout(Instant::from_millis(resumes.as_millis() - 1));
    assert!(!bench.server.wants_input());
    bench.server.handle_timeout(resumes);
    assert!(bench.server.wants_input() && bench.server.poll_timeout().is_none());

    // It stays open until a request ends by itself: then it pays again to wait.
    bench.recv(&nap("4"));
    assert!(bench.server.wants_input());
    bench.server.respond_error(first, RpcError::new(-32603, "Never mind")).unwrap();
    assert!(!bench.server.wants_input() && bench.server.poll_timeout().unwrap() > resumes);
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}"#;
    bench.recv(cancel);
    assert!(bench.server.wants_input() && bench.server.poll_timeout().is_none());
}

#[test]
fn the_last_long_message_is_kept() {
    let mut bench = Bench::session(Revision::V2025_06_18, "{}");
    let long = "x".repeat(100_000);
    for (id, text) in [("1", "short"), ("2", &*long), ("3", "short")] {
        bench.recv(&legacy(id, "tools/call", &format!(r#""name":"echo","arguments":{{"text":"{text}"}}"#)));
        assert!(matches!(bench.event(), Event::ToolCalled { .. }));
        assert_eq!(bench.server.last_long.len() > long.len(), id != "1", "{id}");
    }
}
