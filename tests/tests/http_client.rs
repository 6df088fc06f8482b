//! A client behind HTTP meets servers that are played answer by answer, as published ones behave.

use std::collections::BTreeMap;

use barewire::client::{DisconnectReason, Event, FailureReason, RequestOptions};
use barewire::transport::http::client::{HttpClientConfig, HttpRequest};
use barewire::{ClientConfig, Failure, RequestHandle, Revision, Revisions, RpcError};
use barewire_tests::client_config;
use barewire_tests::http_host::{EVENT_STREAM, HttpHost, JSON, header};
use serde_json::Value;

/// A client with its transport, and the requests that wait for a response in any order.
struct Host(HttpHost);

impl Host {
    fn new(config: ClientConfig) -> Host {
        Host(HttpHost::new(config, HttpClientConfig::new("https://mcp.example/mcp")))
    }

    /// A client that is ready at `revision`, in the legacy era in session `s1`.
    fn ready(revision: Revision) -> Host {
        let mut config = client_config();
        config.revisions = Revisions::of(&[revision]);
        let mut host = Host::new(config);
        if revision == Revision::V2026_07_28 {
            host.answer("server/discover", DISCOVERED);
        } else {
            host.open_session(revision, "s1");
        }
        assert!(matches!(host.events()[..], [Event::Ready { .. }]));
        host
    }

    /// What was asked and not answered: the methods of messages, or the HTTP method.
    fn asked(&mut self) -> Vec<String> {
        self.0.drive();
        self.0.requests.iter().map(asks).collect()
    }

    /// The first request that waits and asks for this.
    fn take(&mut self, method: &str) -> HttpRequest {
        let asked = self.asked();
        let at = asked.iter().position(|other| other == method);
        self.0.requests.remove(at.unwrap_or_else(|| panic!("{method} is not among {asked:?}")))
    }

    fn respond(&mut self, request: &HttpRequest, status: u16, headers: &[(&str, &str)], body: &str) {
        self.0.answer(request.exchange, status, headers, body);
    }

    /// Answers the request for `method` with a result.
    fn answer(&mut self, method: &str, result: &str) {
        let request = self.take(method);
        let body = format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, id(&request));
        self.respond(&request, 200, &[JSON], &body);
    }

    fn refuse(&mut self, method: &str, status: u16, error: &str) {
        let request = self.take(method);
        let body = format!(r#"{{"jsonrpc":"2.0","id":{},"error":{error}}}"#, id(&request));
        self.respond(&request, status, &[JSON], &body);
    }

    /// Plays a handshake that opens the session `name`, and a stream for it.
    fn open_session(&mut self, revision: Revision, name: &str) {
        let request = self.take("initialize");
        for absent in ["mcp-protocol-version", "mcp-session-id", "mcp-method", "mcp-name"] {
            assert_eq!(header(&request, absent), None);
        }
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":{},"result":{{"protocolVersion":"{revision}","capabilities":{{"tools":{{}},"logging":{{}},"resources":{{"subscribe":true}}}},"serverInfo":{{"name":"fake","version":"1"}}}}}}"#,
            id(&request)
        );
        self.respond(&request, 200, &[JSON, ("Mcp-Session-Id", name)], &body);
        let initialized = self.take("notifications/initialized");
        self.check_session(&initialized, revision, name);
        self.respond(&initialized, 202, &[], "");
        let stream = self.take("GET");
        self.check_session(&stream, revision, name);
        self.respond(&stream, 405, &[], "");
    }

    fn check_session(&self, request: &HttpRequest, revision: Revision, name: &str) {
        assert_eq!(header(request, "mcp-session-id"), Some(name), "{}", asks(request));
        let named = (revision >= Revision::V2025_06_18).then_some(revision.as_str());
        assert_eq!(header(request, "mcp-protocol-version"), named, "{}", asks(request));
    }

    fn request(&mut self, method: &str, params: &str) -> RequestHandle {
        let now = self.0.now();
        self.0.client().request(now, method, Some(params), RequestOptions::default()).unwrap()
    }

    fn events(&mut self) -> Vec<Event> {
        self.0.drive();
        self.0.take_events()
    }
}

fn asks(request: &HttpRequest) -> String {
    match message(request) {
        Value::Null => request.method.to_owned(),
        message => message["method"].as_str().unwrap_or("response").to_owned(),
    }
}

fn message(request: &HttpRequest) -> Value {
    serde_json::from_str(&request.body).unwrap_or_default()
}

fn id(request: &HttpRequest) -> String {
    message(request)["id"].to_string()
}

const DISCOVERED: &str = r#"{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{},"resources":{},"prompts":{}}}"#;

fn failed(request: RequestHandle, failure: Failure) -> Event {
    Event::RequestFailed { request, reason: FailureReason::ExchangeFailed(failure) }
}

/// How servers that know no `server/discover` answer it: status, type and body.
const LEGACY_ANSWERS: [(u16, &str, &str); 11] = [
    (
        400,
        "application/json",
        r#"{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: Server not initialized"},"id":null}"#,
    ),
    (
        400,
        "application/json",
        r#"{"jsonrpc":"2.0","id":"server-error","error":{"code":-32600,"message":"Bad Request: Missing session ID"}}"#,
    ),
    (
        400,
        "application/json",
        r#"{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: Unsupported protocol version"},"id":null}"#,
    ),
    (
        200,
        "application/json",
        r#"{"jsonrpc":"2.0","id":"probe-1","error":{"code":-32601,"message":"Method not found"}}"#,
    ),
    (
        404,
        "application/json",
        r#"{"jsonrpc":"2.0","id":"probe-1","error":{"code":-32601,"message":"Method not found"}}"#,
    ),
    (422, "text/plain; charset=utf-8", "Unexpected message, expect initialize request"),
    (404, "text/html", "<html></html>"),
    (405, "", ""),
    (202, "", ""),
    (200, "application/json", "noise"),
    (200, "text/event-stream", ""),
];

// proves: BASE-126 BASE-329 BASE-331
#[test]
fn whatever_is_not_modern_is_met_with_a_handshake() {
    for (status, media, body) in LEGACY_ANSWERS {
        let mut host = Host::new(client_config());
        let probe = host.take("server/discover");
        assert_eq!(header(&probe, "mcp-protocol-version"), Some("2026-07-28"));
        assert_eq!(header(&probe, "mcp-method"), Some("server/discover"));
        host.respond(&probe, status, &[("content-type", media)], body);
        assert_eq!(host.asked(), ["initialize"], "{status} {body}");
        host.open_session(Revision::V2025_11_25, "s1");
        let ready = host.events().pop();
        assert!(matches!(ready, Some(Event::Ready { revision: Revision::V2025_11_25, .. })), "{ready:?}");
    }
}

#[test]
fn outages_and_missing_authorization_are_no_sign_of_an_era() {
    for status in [401, 403, 408, 429, 500, 502, 503] {
        let mut host = Host::new(client_config());
        let probe = host.take("server/discover");
        host.respond(&probe, status, &[], "");
        let failure = match status {
            401 | 403 => Failure::Unauthorized { status },
            _ => Failure::Unavailable { status: Some(status) },
        };
        let reason = DisconnectReason::ExchangeFailed(failure);
        assert_eq!(host.events(), [Event::Disconnected { reason }], "{status}");
        assert_eq!(host.asked(), [""; 0]);
    }
}

#[test]
fn a_version_that_was_refused_and_is_listed_is_asked_for_again() {
    let mut host = Host::new(client_config());
    host.refuse(
        "server/discover",
        400,
        r#"{"code":-32022,"message":"m","data":{"supported":["2026-07-28"],"requested":"2026-07-28"}}"#,
    );
    host.answer("server/discover", DISCOVERED);
    assert!(matches!(host.events()[..], [Event::Ready { revision: Revision::V2026_07_28, .. }]));
}

// proves: BASE-264
#[test]
fn an_expired_session_is_replaced_once_and_each_call_is_sent_once_more() {
    let revision = Revision::V2025_11_25;
    let mut host = Host::ready(revision);
    let a = host.request("tools/call", r#"{"name":"t","arguments":{}}"#);
    let b = host.request("tools/list", "{}");
    let (first, second) = (host.take("tools/call"), host.take("tools/list"));
    let gone = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Session not found"}}"#;
    host.respond(&first, 404, &[JSON], gone);
    host.respond(&second, 404, &[], "");
    assert_eq!(host.asked(), ["initialize"], "no DELETE is needed");
    host.open_session(revision, "s2");
    assert!(matches!(host.events()[..], [Event::SessionReplaced { .. }]));
    assert_eq!(host.asked(), ["tools/call", "tools/list"]);
    for request in &host.0.requests {
        host.check_session(request, revision, "s2");
        assert_ne!(id(request), id(if asks(request) == "tools/call" { &first } else { &second }));
    }
    host.answer("tools/call", r#"{"content":[]}"#);
    let again = host.take("tools/list");
    host.respond(&again, 404, &[], "");
    let events = host.events();
    assert!(matches!(&events[0], Event::ResponseReceived { request, .. } if *request == a));
    assert_eq!(events[1..], [failed(b, Failure::SessionLost { is_current: true })]);
    assert_eq!(host.asked(), [""; 0]);
}

/// What readers written by hand have stumbled over: ends of lines and characters over the edges of chunks, no space
/// behind the colon, data on several lines, comments, data that is empty, and an event that does not end.
// proves: BASE-230
#[test]
fn an_event_stream_of_every_kind_of_line_reaches_the_application() {
    let pieces: [&[u8]; 9] = [
        "\u{feff}: keep-alive\r\n\r\n".as_bytes(),
        b"retry: 1500\r\nid: s1-0\r\ndata:\r\n\r\n",
        b"event: ping\r\ndata: 123\r\n\r\n",
        b"id: s1-1\r\ndata: {\"jsonrpc\":\"2.0\",\r",
        b"\ndata: \"method\":\"notifications/message\",\r\ndata: \"params\":{\"level\":\"info\",\"data\":\"one\"}}\r",
        b"\n\r\n",
        b"data:{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":\"info\",\"data\":\"two\xf0\x9f\x98",
        b"\x80\"}}\n\n",
        b"unknown: field\rid: s1-2\revent: message\r",
    ];
    let unfinished = b"data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\"}";
    // Whole pieces and single bytes; with the answer, and cut off before it, to go on behind the last id at the time told.
    for (longest, is_cut_off) in [(usize::MAX, false), (1, false), (usize::MAX, true), (1, true)] {
        let mut host = Host::ready(Revision::V2025_11_25);
        let call = host.request("tools/call", r#"{"name":"t","arguments":{}}"#);
        let request = host.take("tools/call");
        let answer = format!(
            "data: {{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{{\"content\":[]}}}}\r\r",
            id(&request)
        );
        let behind: [&[u8]; 2] =
            if is_cut_off { [b"data:\r\r", unfinished] } else { [answer.as_bytes(), unfinished] };
        host.0.head(request.exchange, 200, &[("content-type", "Text/Event-Stream; charset=utf-8")]);
        for piece in pieces.iter().chain(&behind) {
            piece.chunks(longest.min(piece.len())).for_each(|bytes| host.0.body(request.exchange, bytes));
        }
        host.0.end(request.exchange);
        if is_cut_off {
            host.0.advance(1_499);
            assert_eq!(host.asked(), [""; 0]);
            host.0.advance(1);
            let resumed = host.take("GET");
            assert_eq!(header(&resumed, "last-event-id"), Some("s1-2"));
            host.respond(&resumed, 200, &[EVENT_STREAM], &answer);
        }
        let events = host.events();
        let [Event::LogReceived { data: one, .. }, Event::LogReceived { data: two, .. }, answered] =
            &events[..]
        else {
            panic!("{events:?}")
        };
        assert_eq!((one.as_str(), two.as_str()), (r#""one""#, "\"two\u{1f600}\""));
        assert!(
            matches!(answered, Event::ResponseReceived { request, .. } if *request == call),
            "{answered:?}"
        );
        assert_eq!(host.asked(), [""; 0]);
    }
}

// proves: BASE-269 BASE-270
#[test]
fn every_legacy_revision_opens_its_session_and_its_stream() {
    for revision in
        [Revision::V2024_11_05, Revision::V2025_03_26, Revision::V2025_06_18, Revision::V2025_11_25]
    {
        let mut host = Host::ready(revision);
        host.request("tools/list", "{}");
        let list = host.take("tools/list");
        host.check_session(&list, revision, "s1");
        // The answer may come as an event, and questions in the same response.
        let body = format!(
            "data: {{\"jsonrpc\":\"2.0\",\"id\":\"q\",\"method\":\"ping\"}}\n\ndata: {{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{{\"tools\":[]}}}}\n\n",
            id(&list)
        );
        host.respond(&list, 200, &[EVENT_STREAM], &body);
        assert!(matches!(host.events()[..], [Event::ResponseReceived { .. }]));
        let pong = host.take("response");
        host.check_session(&pong, revision, "s1");
    }
}

// proves: BASE-282 BASE-288 BASE-289 BASE-292 BASE-300 BASE-301 BASE-305 BASE-306 BASE-311 BASE-317 BASE-318
#[test]
fn headers_repeat_what_a_modern_request_says() {
    let mut host = Host::ready(Revision::V2026_07_28);
    host.request("tools/list", "{}");
    host.answer(
        "tools/list",
        r#"{"resultType":"complete","tools":[{"name":"spaced","inputSchema":{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"a b"}}}},{"name":"größe","inputSchema":{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},"deep":{"type":"object","properties":{"n":{"type":"integer","x-mcp-header":"N"}}},"on":{"type":"boolean","x-mcp-header":"On"},"none":{"type":"string","x-mcp-header":"None"},"plain":{"type":"number"}}}}]}"#,
    );
    let events = host.events();
    let [Event::ToolOmitted { name, .. }, Event::ResponseReceived { result, .. }] = &events[..] else {
        panic!("{events:?}")
    };
    assert_eq!(name.as_deref(), Some("spaced"));
    assert!(!result.as_str().contains("spaced"));
    host.request(
        "tools/call",
        r#"{"name":"größe","arguments":{"region":" eu ","deep":{"n":42},"on":false,"none":null,"plain":3.5}}"#,
    );
    let call = host.take("tools/call");
    assert_eq!(message(&call)["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"], "2026-07-28");
    let repeated: BTreeMap<_, _> = call
        .headers
        .iter()
        .map(|(name, value)| (name.to_ascii_lowercase(), &**value))
        .filter(|(name, _)| name.starts_with("mcp-"))
        .collect();
    let expected = [
        ("mcp-method", "tools/call"),
        ("mcp-name", "=?base64?Z3LDtsOfZQ==?="),
        ("mcp-param-n", "42"),
        ("mcp-param-on", "false"),
        ("mcp-param-region", "=?base64?IGV1IA==?="),
        ("mcp-protocol-version", "2026-07-28"),
    ];
    let expected = expected.map(|(name, value)| (name.to_owned(), value));
    assert_eq!(repeated, expected.into_iter().collect());
}

// proves: BASE-312 FEAT-096
#[test]
fn a_mismatch_of_headers_is_mended_behind_the_application() {
    let mut host = Host::ready(Revision::V2026_07_28);
    let call = host.request("tools/call", r#"{"name":"t","arguments":{"region":"eu"}}"#);
    host.refuse("tools/call", 400, r#"{"code":-32020,"message":"Header mismatch"}"#);
    host.answer(
        "tools/list",
        r#"{"resultType":"complete","tools":[{"name":"t","inputSchema":{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}}}}]}"#,
    );
    let again = host.take("tools/call");
    assert_eq!(header(&again, "mcp-param-region"), Some("eu"));
    let body = format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{"content":[]}}}}"#, id(&again));
    host.respond(&again, 200, &[JSON], &body);
    let events = host.events();
    assert!(matches!(&events[..], [Event::ResponseReceived { request, .. }] if *request == call));
}

// proves: BASE-373 BASE-414 BASE-428
#[test]
fn modern_requests_are_given_up_by_closing_their_exchange() {
    let mut host = Host::ready(Revision::V2026_07_28);
    let call = host.request("tools/call", r#"{"name":"t"}"#);
    let exchange = host.take("tools/call").exchange;
    host.0.client().cancel(call, None).unwrap();
    assert_eq!((host.asked(), &host.0.aborted), (Vec::new(), &vec![exchange]));
    host.request("tools/list", "{}");
    let exchange = host.take("tools/list").exchange;
    host.0.advance(60_000);
    assert_eq!(host.0.aborted.last(), Some(&exchange));
    assert_eq!(host.asked(), [""; 0]);
    // A response that arrives all the same is passed over.
    host.events();
    let late = format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{}}}}"#, call.number());
    host.0.reply(exchange, &late);
    assert_eq!(host.events(), []);
}

#[test]
fn responses_that_end_without_an_answer_settle_their_request() {
    for (status, media, body) in [(200, "text/event-stream", ": nothing\n\n"), (200, "application/json", "{")]
    {
        for revision in Revision::ALL {
            let mut host = Host::ready(revision);
            let call = host.request("tools/call", r#"{"name":"t"}"#);
            let request = host.take("tools/call");
            host.respond(&request, status, &[("content-type", media)], body);
            let last = host.events().pop();
            let is_failed = |event: &Event| matches!(event, Event::RequestFailed { request, reason: FailureReason::ExchangeFailed(_) } if *request == call);
            assert!(last.as_ref().is_some_and(is_failed), "{revision} {body}: {last:?}");
        }
    }
}

#[test]
fn an_error_is_an_answer_at_any_status() {
    for revision in Revision::ALL {
        for status in [200, 400, 404, 409, 413, 500, 503] {
            let mut host = Host::ready(revision);
            let call = host.request("tools/call", r#"{"name":"t"}"#);
            host.refuse("tools/call", status, r#"{"code":-32601,"message":"m"}"#);
            let reason = FailureReason::Rpc(RpcError::new(-32601, "m"));
            assert_eq!(
                host.events(),
                [Event::RequestFailed { request: call, reason }],
                "{revision} {status}"
            );
            assert_eq!(host.asked(), [""; 0]);
        }
    }
}
