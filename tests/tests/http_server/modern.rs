//! 2026-07-28: one POST a request, no session, leaving is cancelling.

use barewire::server::{Event, Notification};
use barewire::transport::http::server::{HttpServerConfig, RequestHead};
use barewire::{
    Change, Error, InputKind, InputQuestion, Json, ListKind, PeerIncompatible, Revisions, RpcError, Seed,
};
use barewire_tests::server_config;
use barewire_tests::site::{COMMON, RESULT, Site, initialize, modern};

use serde_json::Value;

use crate::{message, refusal};

fn progress(progress: f64) -> Notification<'static> {
    Notification::Progress { progress, total: None, message: None }
}

// proves: BASE-215 BASE-273 BASE-276
#[test]
fn a_call_is_answered_in_json_or_on_a_stream() {
    let mut site = Site::new();
    let plain = site.post_modern("tools/call", Some("echo"), r#""name":"echo""#);
    let call = site.last_call();
    site.server().respond(call, RESULT).expect("an answer");
    let response = site.take(plain);
    assert_eq!((response.status, response.is_stream(), response.is_last), (200, false, true));
    assert_eq!(message(&response)["result"]["content"][0]["text"], "done");
    let streamed = site.post_modern("tools/call", Some("echo"), r#""name":"echo""#);
    let call = site.last_call();
    assert_eq!(site.server().notify(call, progress(1.0)), Ok(true));
    let mut response = site.take(streamed);
    assert!(response.is_stream() && !response.is_last);
    site.server().respond(call, RESULT).expect("an answer");
    site.take_more(streamed, &mut response);
    let messages = response.messages();
    assert!(messages[0].contains("notifications/progress") && messages[1].contains("done"), "{messages:?}");
    assert_eq!((messages.len(), response.is_last, response.fields("id").len()), (2, true, 0));
    assert!(site.http.is_idle());
}

// proves: BASE-057 BASE-285
#[test]
fn the_status_says_on_which_rung_a_request_failed() {
    let mut site = Site::new();
    let rows = [
        (site.ask_modern("x/unknown", None, ""), (404, -32601)),
        (site.ask_modern("initialize", None, ""), (404, -32601)),
        (site.ask_modern("ping", None, ""), (404, -32601)),
        (site.ask(&[], "{"), (400, -32700)),
        (site.ask(&[], "[]"), (400, -32600)),
        (site.ask(&[], r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#), (400, -32600)),
        (
            site.ask(
                &[("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", "tools/list")],
                r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#,
            ),
            (400, -32602),
        ),
    ];
    for (response, expected) in rows {
        assert_eq!(refusal(&response), expected, "{response:?}");
        assert!(response.is_last);
    }
}

// proves: BASE-060
#[test]
fn a_capability_that_the_client_lacks_is_told_with_a_status() {
    let mut site = Site::new();
    let exchange = site.post_modern("tools/call", Some("echo"), r#""name":"echo""#);
    let call = site.last_call();
    let question =
        InputQuestion { key: "k".into(), kind: InputKind::Roots, params: Json::new("{}").expect("JSON") };
    let now = site.now;
    let refused = site.server().require_input(now, call, Vec::from([question]), None);
    let Err(Error::PeerIncompatible(PeerIncompatible::MissingCapability(missing))) = refused else {
        panic!("{refused:?}");
    };
    let data = Json::new(&format!(r#"{{"requiredCapabilities":{missing}}}"#)).expect("JSON");
    let error = RpcError::new(RpcError::MISSING_CLIENT_CAPABILITY, "roots are needed").with_data(data);
    site.server().respond_error(call, error).expect("an answer");
    let response = site.take(exchange);
    assert_eq!(refusal(&response), (400, -32021));
    assert!(message(&response)["error"]["data"]["requiredCapabilities"]["roots"].is_object());
}

// proves: BASE-274 BASE-275
#[test]
fn a_stream_carries_what_concerns_its_request_and_no_requests() {
    let mut site = Site::new();
    let [first, second] = [1, 2].map(|_| {
        let exchange = site.post_modern("tools/call", Some("echo"), r#""name":"echo""#);
        (exchange, site.last_call())
    });
    for step in [1.0, 2.0] {
        assert_eq!(site.server().notify(first.1, progress(step)), Ok(true));
    }
    assert_eq!(site.server().notify(second.1, progress(7.0)), Ok(true));
    site.server().add_tool(r#"{"name":"new","inputSchema":{"type":"object"}}"#).expect("a tool");
    // A question is the end of the request.
    let params =
        r#"{"message":"m","requestedSchema":{"type":"object","properties":{"a":{"type":"string"}}}}"#;
    let question = InputQuestion {
        key: "k".into(),
        kind: InputKind::Elicitation,
        params: Json::new(params).expect("JSON"),
    };
    let now = site.now;
    site.server().require_input(now, first.1, Vec::from([question]), None).expect("asked");
    site.server().respond(second.1, RESULT).expect("an answer");
    for ((exchange, _), steps) in [(first, &[1.0, 2.0][..]), (second, &[7.0])] {
        let response = site.take(exchange);
        assert!(response.is_last);
        let messages: Vec<Value> =
            response.messages().iter().map(|text| serde_json::from_str(text).expect("JSON")).collect();
        let (answer, notices) = messages.split_last().expect("an answer");
        assert!(answer["result"].is_object());
        let told: Vec<_> = notices.iter().map(|notice| notice["params"]["progress"].as_f64()).collect();
        assert_eq!(told, steps.iter().copied().map(Some).collect::<Vec<_>>());
        assert!(notices.iter().all(|notice| notice.get("id").is_none()));
    }
}

// proves: BASE-412 BASE-414
#[test]
fn leaving_cancels() {
    let mut site = Site::new();
    let exchange = site.post_modern("tools/call", Some("echo"), r#""name":"echo""#);
    let call = site.last_call();
    site.http.receive_abort(site.now, exchange);
    site.listen();
    assert!(matches!(site.events.last(), Some(Event::RequestCancelled { request, .. }) if *request == call));
    site.server().respond(call, RESULT).expect("a late answer is taken");
    assert_eq!((site.http.poll_ready(), site.http.is_idle()), (None, true));
}

// proves: BASE-280
#[test]
fn a_subscription_is_a_stream_of_its_own() {
    let mut site = Site::new();
    let params = r#""notifications":{"toolsListChanged":true}"#;
    let exchange = site.post_modern("subscriptions/listen", None, params);
    let mut response = site.take(exchange);
    assert!(response.is_stream() && !response.is_last);
    assert!(response.messages()[0].contains("notifications/subscriptions/acknowledged"));
    site.server().publish(&Change::List(ListKind::Tools));
    site.take_more(exchange, &mut response);
    assert!(response.messages()[1].contains("notifications/tools/list_changed"), "{response:?}");
    site.wait(15_000);
    site.take_more(exchange, &mut response);
    assert!(response.body.ends_with(":\n\n"), "{response:?}");
    site.server().close();
    site.take_more(exchange, &mut response);
    assert!(response.is_last && !response.is_aborted);
    assert!(response.messages()[2].contains("\"result\""), "{response:?}");
    assert_eq!(site.ask_modern("tools/list", None, "").status, 503);
}

#[test]
fn a_subscription_needs_a_client_that_takes_streams() {
    let mut site = Site::new();
    let body = modern(1, "subscriptions/listen", r#""notifications":{"toolsListChanged":true}"#);
    let headers = [
        COMMON[0],
        COMMON[2],
        ("Accept", "application/json"),
        ("MCP-Protocol-Version", "2026-07-28"),
        ("Mcp-Method", "subscriptions/listen"),
    ];
    let exchange = site.send("POST", &headers, &body);
    let response = site.take(exchange);
    assert_eq!((response.status, response.is_last), (406, true));
    assert_eq!(site.events, []);
}

// proves: BASE-212
#[test]
fn a_notification_is_accepted() {
    let mut site = Site::new();
    let body = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
    let headers = [("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", "notifications/cancelled")];
    let response = site.ask(&headers, body);
    assert_eq!((response.status, &*response.body, response.is_last), (202, "", true));
}

fn modern_only() -> Site {
    let mut server = server_config();
    server.revisions = Revisions::MODERN;
    let mut http = HttpServerConfig::new(Seed::new([3; 32]));
    http.revisions = Revisions::MODERN;
    Site::with(server, http)
}

// proves: BASE-287 BASE-332 BASE-333 BASE-334
#[test]
fn a_server_without_sessions_knows_none() {
    let mut site = modern_only();
    for method in ["GET", "DELETE"] {
        let headers = [COMMON[0], COMMON[1], ("Mcp-Session-Id", "x"), ("Last-Event-ID", "a.1.1")];
        let exchange = site.send(method, &headers, "");
        let response = site.take(exchange);
        assert_eq!((response.status, response.header("allow")), (405, Some("POST, OPTIONS")));
    }
    let response = site.ask(&[], &initialize(barewire::Revision::V2025_11_25));
    assert_eq!((refusal(&response), response.header("mcp-session-id")), ((400, -32020), None));
    let response = site.ask(&[], r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#);
    assert_eq!(refusal(&response), (400, -32020));
    let headers = [
        ("Mcp-Session-Id", "x"),
        ("Last-Event-ID", "a.1.1"),
        ("MCP-Protocol-Version", "2026-07-28"),
        ("Mcp-Method", "tools/list"),
    ];
    let response = site.ask(&headers, &modern(1, "tools/list", ""));
    assert_eq!((response.status, response.header("mcp-session-id")), (200, None));
}

// proves: BASE-438 FEAT-098
#[test]
fn nobody_is_known_by_a_header() {
    let mut site = Site::new();
    let body = modern(1, "tools/call", r#""name":"echo""#);
    let mut headers = COMMON.to_vec();
    headers.extend([
        ("MCP-Protocol-Version", "2026-07-28"),
        ("Mcp-Method", "tools/call"),
        ("Mcp-Name", "echo"),
    ]);
    let head = RequestHead {
        method: "POST",
        endpoint: barewire::transport::http::server::Endpoint::Streamable,
        headers: &headers,
        principal: Some("ann"),
    };
    site.http.receive_whole(site.now, head, body.as_bytes());
    site.listen();
    let [Event::ToolCalled { context, .. }] = &site.events[..] else { panic!("{:?}", site.events) };
    assert_eq!(context.principal.as_deref(), Some("ann"));
}
