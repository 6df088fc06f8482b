//! The headers that repeat a message.

use super::*;

const REGION: &str = r#"{"name":"region","inputSchema":{"type":"object","properties":{"where":{"type":"string","x-mcp-header":"Where"},"deep":{"type":"object","properties":{"n":{"type":"integer","x-mcp-header":"N"}}}}}}"#;

fn bench() -> Bench {
    let mut config = config();
    config.extension_methods = ["x/run".into()].into();
    let mut bench = Bench::with(config);
    bench.server.add_tool(REGION).unwrap();
    bench.server.add_tool(r#"{"name":"世界","inputSchema":{"type":"object"}}"#).unwrap();
    bench.server.add_tool(r#"{"name":"=?base64?literal?=","inputSchema":{"type":"object"}}"#).unwrap();
    bench
}

/// The code with which a request is refused, or none if it is served.
fn judge(mirror: Mirror<'_>, text: &str) -> Option<i64> {
    let mut bench = bench();
    bench.post(Post { mirror: Some(mirror), ..Post::bare(3) }, text);
    let is_told = bench.events().iter().any(|event| !matches!(event, Event::MessageDiscarded { .. }));
    let (end, texts) = bench.end_of(3);
    match end {
        End::Ended(Disposition::Refuses(code)) => {
            assert!(!is_told);
            assert_eq!(error_of(&texts[0]), (code, Some("1".into())), "{texts:?}");
            Some(code)
        }
        End::Open => {
            assert!(is_told);
            None
        }
        _ => None,
    }
}

fn mirror<'a>(version: HeaderValue<'a>, method: HeaderValue<'a>, name: HeaderValue<'a>) -> Mirror<'a> {
    Mirror { protocol_version: version, method, name, params: &[] }
}

// proves: BASE-309 BASE-322 BASE-325
#[test]
fn headers_say_what_the_message_says() {
    use HeaderValue::{Absent, Once, Repeated};
    let version = Once("2026-07-28");
    let call = |name: &str| modern("1", "tools/call", &format!(r#""name":"{name}""#));
    let echo = call("echo");
    let list = modern("1", "tools/list", "");
    let cases = [
        (mirror(version, Once("tools/call"), Once("echo")), &echo, None),
        (mirror(version, Once("tools/list"), Absent), &list, None),
        // A name where none is needed is nobody's business.
        (mirror(version, Once("tools/list"), Once("x")), &list, None),
        (mirror(version, Once("tools/list"), Repeated), &list, Some(-32020)),
        (mirror(version, Once("tools/call"), Absent), &list, Some(-32020)),
        (mirror(version, Absent, Absent), &list, Some(-32020)),
        (mirror(version, Once("TOOLS/LIST"), Absent), &list, Some(-32020)),
        (mirror(version, Repeated, Absent), &list, Some(-32020)),
        (mirror(Absent, Once("tools/list"), Absent), &list, Some(-32020)),
        (mirror(Repeated, Once("tools/list"), Absent), &list, Some(-32020)),
        (mirror(Once("2025-11-25"), Once("tools/list"), Absent), &list, Some(-32020)),
        (mirror(version, Once("tools/call"), Absent), &echo, Some(-32020)),
        (mirror(version, Once("tools/call"), Once("Echo")), &echo, Some(-32020)),
        (mirror(version, Once("tools/call"), Repeated), &echo, Some(-32020)),
        (mirror(version, Once("tools/call"), Once("=?base64?ZWNobw==?=")), &echo, None),
        (mirror(version, Once("tools/call"), Once("=?base64?ZWNobw?=")), &echo, Some(-32020)),
        (mirror(version, Once("tools/call"), Once("=?base64?ZW!obw==?=")), &echo, Some(-32020)),
    ];
    for (mirror, text, expected) in cases {
        assert_eq!(judge(mirror, text), expected, "{mirror:?}: {text}");
    }
    for (method, member, name) in [("resources/read", "uri", "file:///a"), ("prompts/get", "name", "greet")] {
        let text = modern("1", method, &format!(r#""{member}":"{name}""#));
        assert_eq!(judge(mirror(version, Once(method), Once(name)), &text), None);
        assert_eq!(judge(mirror(version, Once(method), Once("other")), &text), Some(-32020));
        assert_eq!(judge(mirror(version, Once(method), Absent), &text), Some(-32020));
    }
    // A header for what the message does not name.
    let nameless = modern("1", "tools/call", "");
    assert_eq!(judge(mirror(version, Once("tools/call"), Once("echo")), &nameless), Some(-32020));
    let mut bench = bench();
    bench.post(Post::modern(3, "tools/call", None), &nameless);
    assert_eq!(error_of(&bench.out().text).0, -32602);
    bench.post(Post::modern(4, "x/run", None), &modern("1", "x/run", r#""name":"n""#));
    assert!(matches!(bench.event(), Event::RequestReceived { .. }));
}

#[test]
fn the_first_rung_that_fails_decides() {
    use HeaderValue::{Absent, Once};
    let with_meta = |meta: &str, method: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{"_meta":{{{meta}}}}}}}"#)
    };
    let version = |name: &str| format!(r#""io.modelcontextprotocol/protocolVersion":"{name}""#);
    let capabilities = r#""io.modelcontextprotocol/clientCapabilities":{}"#;
    let whole = |name: &str| format!("{},{capabilities}", version(name));
    let cases = [
        // 7 before 8: what is missing in the message before what is wrong with the headers.
        (mirror(Once("2026-07-28"), Absent, Absent), with_meta(&version("2026-07-28"), "tools/list"), -32602),
        (
            mirror(Once("2026-07-28"), Once("tools/list"), Absent),
            with_meta(capabilities, "tools/list"),
            -32602,
        ),
        (mirror(Once("2026-07-28"), Once("tools/list"), Absent), legacy("1", "tools/list", ""), -32602),
        // 8 before 9: they differ before it matters that neither is known.
        (mirror(Once("2026-07-28"), Once("a/b"), Absent), with_meta(&whole("v999"), "a/b"), -32020),
        (mirror(Once("v999"), Once("a/c"), Absent), with_meta(&whole("v999"), "a/b"), -32020),
        // 9 before 10.
        (mirror(Once("v999"), Once("a/b"), Absent), with_meta(&whole("v999"), "a/b"), -32022),
        (mirror(Once("2025-11-25"), Once("a/b"), Absent), with_meta(&whole("2025-11-25"), "a/b"), -32022),
        // 10.
        (mirror(Once("2026-07-28"), Once("a/b"), Absent), with_meta(&whole("2026-07-28"), "a/b"), -32601),
        (mirror(Once("2026-07-28"), Once("a/c"), Absent), with_meta(&whole("2026-07-28"), "a/b"), -32020),
    ];
    for (mirror, text, expected) in cases {
        assert_eq!(judge(mirror, &text), Some(expected), "{mirror:?}: {text}");
    }
    for method in ["initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"] {
        let text = modern("1", method, r#""uri":"file:///a""#);
        assert_eq!(judge(mirror(Once("2026-07-28"), Once(method), Absent), &text), Some(-32601), "{method}");
    }
}

/// Arguments, the headers for them, and whether they agree.
type Case = (&'static str, &'static [(&'static str, &'static str)], bool);

// proves: BASE-308 BASE-319 BASE-320 BASE-436
#[test]
fn headers_say_what_the_arguments_say() {
    let call =
        |arguments: &str| modern("1", "tools/call", &format!(r#""name":"region","arguments":{arguments}"#));
    let cases: &[Case] = &[
        ("{}", &[], true),
        (r#"{"where":"Hello"}"#, &[("Where", "Hello")], true),
        (r#"{"where":"Hello"}"#, &[("WHERE", "Hello")], true),
        (r#"{"where":"Hello"}"#, &[("where", "=?base64?SGVsbG8=?=")], true),
        (r#"{"where":"Hello"}"#, &[("where", "=?base64?SGVsbG8?=")], false),
        (r#"{"where":"Hello"}"#, &[("where", "=?base64?SGVs!!!bG8=?=")], false),
        (r#"{"where":"=?base64?SGVsbG8="}"#, &[("where", "=?base64?SGVsbG8=")], true),
        (r#"{"where":"Hello"}"#, &[], false),
        (r#"{"where":"Hello"}"#, &[("where", "hello")], false),
        (r#"{"where":"Hello"}"#, &[("where", "Hello"), ("Where", "Hello")], false),
        ("{}", &[("where", "Hello")], false),
        (r#"{"where":null}"#, &[("where", "Hello")], false),
        (r#"{"where":null}"#, &[], true),
        (r#"{"deep":{"n":7}}"#, &[("n", "7")], true),
        (r#"{"deep":{"n":7}}"#, &[("n", "8")], false),
        ("{}", &[("other", "x")], true),
    ];
    for (arguments, params, is_served) in cases {
        let mirror = Mirror { params, ..Post::modern(0, "tools/call", Some("region")).mirror.unwrap() };
        let expected = (!is_served).then_some(-32020);
        assert_eq!(judge(mirror, &call(arguments)), expected, "{arguments} {params:?}");
    }
    // An unknown tool wants nothing; that it is unknown is said as an answer.
    let mut bench = bench();
    bench.post(Post::modern(3, "tools/call", Some("no")), &modern("1", "tools/call", r#""name":"no""#));
    assert_eq!(bench.out().labels.disposition, Disposition::Answers);
    let bad = r#"{"name":"bad","inputSchema":{"type":"object","properties":{"a":{"type":"object","x-mcp-header":"A"}}}}"#;
    assert!(bench.server.add_tool(bad).is_err());
}

#[test]
fn of_a_notification_only_what_is_there_is_checked() {
    use HeaderValue::{Absent, Once, Repeated};
    let plain = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
    let claiming = r#"{"jsonrpc":"2.0","method":"x/y","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#;
    let version = Once("2026-07-28");
    let cases = [
        (mirror(version, Absent, Absent), plain, true),
        (mirror(version, Once("notifications/cancelled"), Absent), plain, true),
        (mirror(version, Once("x/y"), Absent), claiming, true),
        (mirror(Absent, Absent, Absent), claiming, true),
        (mirror(version, Once("x/z"), Absent), claiming, false),
        (mirror(version, Repeated, Absent), claiming, false),
        (mirror(Once("2025-11-25"), Absent, Absent), claiming, false),
        (mirror(Repeated, Absent, Absent), claiming, false),
    ];
    for (mirror, text, is_accepted) in cases {
        let mut bench = bench();
        bench.post(Post { mirror: Some(mirror), ..Post::bare(3) }, text);
        let expected = if is_accepted { End::Accepted } else { End::Ended(Disposition::Refuses(-32020)) };
        assert_eq!(bench.end_of(3).0, expected, "{mirror:?} {text}");
    }
}

// The thirteen requests of which gateways and servers must think the same. White space and the case of names are the
// transport's.
#[test]
fn what_headers_and_message_disagree_about_is_not_served() {
    use HeaderValue::{Absent, Once};
    let version = Once("2026-07-28");
    let method = Once("tools/call");
    let call = |name: &str| modern("1", "tools/call", &format!(r#""name":"{name}","arguments":{{}}"#));
    let cases = [
        (mirror(version, method, Once("echo")), "echo", None),
        (mirror(version, method, Once("=?base64?5LiW55WM?=")), "世界", None),
        (mirror(version, method, Once("=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=")), "=?base64?literal?=", None),
        (mirror(version, Absent, Once("echo")), "echo", Some("Mcp-Method")),
        (mirror(version, method, Absent), "echo", Some("Mcp-Name")),
        (mirror(Absent, method, Once("echo")), "echo", Some("MCP-Protocol-Version")),
        (mirror(version, method, Once("Echo")), "echo", Some("Mcp-Name")),
        (mirror(Once("2025-11-25"), method, Once("echo")), "echo", Some("MCP-Protocol-Version")),
        (mirror(version, method, Once("=?base64?=")), "echo", Some("Mcp-Name")),
        (mirror(version, method, Once("=?base64?@@@?=")), "echo", Some("Mcp-Name")),
    ];
    for (mirror, tool, offending) in cases {
        let mut bench = bench();
        bench.post(Post { mirror: Some(mirror), ..Post::bare(3) }, &call(tool));
        let Some(header) = offending else {
            assert!(matches!(bench.event(), Event::ToolCalled { name, .. } if *name == *tool));
            continue;
        };
        assert_eq!(bench.events(), []);
        let out = bench.out();
        assert_eq!(error_of(&out.text), (-32020, Some("1".into())), "{}", out.text);
        assert_eq!(out.labels.disposition, Disposition::Refuses(-32020));
        assert!(out.text.contains(header), "{}", out.text);
    }
    let mut bench = bench();
    let future = call("echo").replace("2026-07-28", "2027-01-01");
    let mirror = mirror(Once("2027-01-01"), method, Once("echo"));
    bench.post(Post { mirror: Some(mirror), ..Post::bare(3) }, &future);
    let text = bench.out().text;
    assert_eq!(error_of(&text), (-32022, Some("1".into())));
    assert!(text.contains(r#""supported":["2026-07-28""#) && text.contains(r#""requested":"2027-01-01""#));
}
