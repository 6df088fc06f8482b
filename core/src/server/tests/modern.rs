use super::*;

// proves: BASE-062 BASE-110 BASE-112 FEAT-147
#[test]
fn discovery_lists_versions_capabilities_and_freshness() {
    let mut config = config();
    config.identify_results = true;
    config.instructions = Some("Be kind".into());
    let reply = Bench::with(config).reply(&modern("\"d\"", "server/discover", ""));
    for part in [
        r#""id":"d""#,
        r#""supportedVersions":["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"]"#,
        r#""tools":{"listChanged":true}"#,
        r#""resources":{"#,
        r#""prompts":{"listChanged":true}"#,
        r#""completions":{}"#,
        r#""logging":{}"#,
        r#""instructions":"Be kind""#,
        r#""resultType":"complete""#,
        r#""ttlMs":0"#,
        r#""cacheScope":"private""#,
        r#""io.modelcontextprotocol/serverInfo":{"name":"srv","version":"1"}"#,
    ] {
        assert!(reply.contains(part), "{part} in {reply}");
    }
}

// proves: BASE-056 BASE-071 BASE-123
#[test]
fn the_first_failing_rung_answers() {
    let meta = |inside: &str| format!(r#""_meta":{{{inside}}}"#);
    let version = r#""io.modelcontextprotocol/protocolVersion":"#;
    let capabilities = r#""io.modelcontextprotocol/clientCapabilities":"#;
    let level = r#""io.modelcontextprotocol/logLevel":"#;
    let cases = [
        // Incomplete metadata comes before the version, the version before the method, the method before its parameters.
        (meta(&format!("{version}null")), "ping", -32602),
        (meta(&format!("{version}7,{capabilities}{{}}")), "tools/list", -32602),
        (meta(&format!("{version}\"1999-01-01\"")), "no/such", -32602),
        (meta(&format!("{version}\"2026-07-28\",{capabilities}[]")), "tools/list", -32602),
        (meta(&format!("{version}\"1999-01-01\",{capabilities}{{}}")), "no/such", -32022),
        (meta(&format!("{version}\"2025-11-25\",{capabilities}{{}}")), "tools/list", -32022),
        (meta(&format!("{version}\"2026-07-28\",{capabilities}{{}},{level}\"loud\"")), "no/such", -32601),
        (meta(&format!("{version}\"2026-07-28\",{capabilities}{{}},{level}\"loud\"")), "tools/call", -32602),
        (meta(&format!("{version}\"2026-07-28\",{capabilities}{{}}")), "tools/call", -32602),
    ];
    let mut bench = Bench::new();
    for (params, method, code) in cases {
        let reply = bench.reply(&legacy("4", method, &params));
        assert_eq!(error_of(&reply), (code, Some("4".into())), "{method} {params}: {reply}");
    }
}

// proves: BASE-041 BASE-424 FEAT-119 FEAT-193
#[test]
fn methods_of_the_other_era_do_not_exist() {
    let mut bench = Bench::new();
    for method in [
        "initialize",
        "ping",
        "logging/setLevel",
        "resources/subscribe",
        "notifications/cancelled",
        "sampling/createMessage",
        "no/such",
    ] {
        assert_eq!(error_of(&bench.reply(&modern("1", method, ""))).0, -32601, "{method}");
    }
}

// proves: BASE-041 BASE-143
#[test]
fn capabilities_that_are_not_offered_have_no_methods() {
    let mut config = config();
    config.completions = false;
    let mut bench = Bench::with(config);
    assert_eq!(error_of(&bench.reply(&modern("1", "completion/complete", ""))).0, -32601);
    let mut bare = Bench { server: Server::new(super::config()).unwrap(), now: Instant::ZERO };
    for method in ["tools/list", "tools/call", "resources/read", "prompts/get"] {
        assert_eq!(error_of(&bare.reply(&modern("1", method, ""))).0, -32601, "{method}");
    }
}

// proves: BASE-131 BASE-132
#[test]
fn both_eras_share_one_channel() {
    let mut bench = Bench::session(Revision::V2025_11_25, "{}");
    let modern_call = bench.call(&modern("1", "tools/call", r#""name":"echo""#));
    let legacy_call = bench.call(&legacy("2", "tools/call", r#""name":"echo""#));
    // One table: the id of one era is taken in the other.
    bench.recv(&legacy("1", "ping", ""));
    assert_eq!(bench.violations(), [Violation::DuplicateId]);
    bench.server.respond(legacy_call, TEXT_RESULT).unwrap();
    bench.server.respond(modern_call, TEXT_RESULT).unwrap();
    let sent = bench.sent();
    assert_eq!(sent[0], format!(r#"{{"jsonrpc":"2.0","id":2,"result":{TEXT_RESULT}}}"#));
    assert!(sent[1].contains(r#""id":1"#) && sent[1].contains(r#""resultType":"complete""#), "{}", sent[1]);
    // A handshake after modern traffic is as good as before it.
    let mut late = Bench::new();
    late.reply(&modern("1", "tools/list", ""));
    assert!(late.reply(&initialize("1", "2025-11-25", "{}")).contains("protocolVersion"));
}

// proves: BASE-058 BASE-061 BASE-067 BASE-105
#[test]
fn the_context_says_who_asks() {
    let mut bench = Bench::new();
    for id in ["1", "2"] {
        let text = modern_with(id, "tools/call", r#""name":"echo","arguments":{"n":1e400}"#, r#"{"sampling":{}}"#)
            .replace(
                r#""progressToken":"t""#,
                r#""progressToken":7,"io.modelcontextprotocol/clientInfo":{"name":"c","version":"2"},"io.modelcontextprotocol/logLevel":"error","traceparent":"00-1""#,
            );
        let facts = Facts { principal: Some("alice"), ..Facts::default() };
        bench.input(Input::Message { text: &text, facts });
        let Event::ToolCalled { name, arguments, context, .. } = bench.event() else { panic!() };
        assert_eq!((&*name, arguments.unwrap().as_str()), ("echo", r#"{"n":1e400}"#));
        assert_eq!(context.revision, Revision::V2026_07_28);
        assert_eq!(context.client.unwrap().as_str(), r#"{"name":"c","version":"2"}"#);
        assert!(context.capabilities.has(crate::revision::Capability::Sampling));
        assert_eq!(context.log_level, Some(crate::logging::LogLevel::Error));
        assert_eq!(context.progress_token.unwrap().as_str(), "7");
        assert!(context.meta.unwrap().as_str().contains("traceparent"));
        assert_eq!((context.session, context.principal.as_deref()), (None, Some("alice")));
        assert_eq!((context.round, context.state, context.input_answers.len()), (0, None, 0));
    }
    // Nothing is remembered from one request to the next.
    bench.recv(&modern("3", "tools/call", r#""name":"echo""#));
    let Event::ToolCalled { context, .. } = bench.event() else { panic!() };
    assert_eq!((context.client, context.principal, context.log_level), (None, None, None));
    assert!(!context.capabilities.has(crate::revision::Capability::Sampling));
}
