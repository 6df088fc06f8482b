//! Whole conversations of a client over HTTP: streams, sessions, the older transport.

use barewire::client::{Event, RequestOptions};
use barewire::transport::http::client::{HttpClientConfig, HttpRequest};
use barewire::{InputResponse, Json, RequestHandle, Revision, Revisions};
use barewire_tests::client_config;
use barewire_tests::http_host::{EVENT_STREAM, HttpHost, JSON, header};

const URL: &str = "http://127.0.0.1:8000/mcp";
const SESSION: (&str, &str) = ("Mcp-Session-Id", "s1");

fn host(revisions: Revisions) -> HttpHost {
    let mut config = client_config();
    config.revisions = revisions;
    HttpHost::new(config, HttpClientConfig::new(URL))
}

fn initialize_result(id: &str, revision: Revision) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"result":{{"protocolVersion":"{revision}","capabilities":{{"tools":{{}},"logging":{{}}}},"serverInfo":{{"name":"fake","version":"1"}}}}}}"#
    )
}

fn result(id: &str, result: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)
}

/// Opens a legacy session `s1`; what is asked for next is its stream.
fn open_session(host: &mut HttpHost, revision: Revision) {
    let (initialize, id) = host.posted("initialize");
    host.answer(initialize.exchange, 200, &[JSON, SESSION], &initialize_result(&id, revision));
    let (initialized, _) = host.posted("notifications/initialized");
    assert_eq!(header(&initialized, "mcp-session-id"), Some("s1"));
    host.answer(initialized.exchange, 202, &[], "");
}

/// A client in session `s1`, whose stream is not offered.
fn in_session(revision: Revision) -> HttpHost {
    let mut host = host(Revisions::LEGACY);
    open_session(&mut host, revision);
    let stream = host.request();
    assert_eq!(stream.method, "GET");
    host.answer(stream.exchange, 405, &[], "");
    host.take_events();
    host
}

fn call(host: &mut HttpHost, method: &str, params: Option<&str>) -> RequestHandle {
    let now = host.now();
    let request = host.client().request(now, method, params, RequestOptions::default()).expect("a request");
    host.drive();
    request
}

fn call_tool(host: &mut HttpHost, name: &str) -> RequestHandle {
    call(host, "tools/call", Some(&format!(r#"{{"name":"{name}","arguments":{{}}}}"#)))
}

fn results(events: &[Event]) -> Vec<(RequestHandle, &str)> {
    let mut found = Vec::new();
    for event in events {
        if let Event::ResponseReceived { request, result, .. } = event {
            found.push((*request, result.as_str()));
        }
    }
    found
}

// proves: BASE-216 BASE-281 BASE-282 BASE-288 BASE-289 BASE-328
#[test]
fn a_modern_server_is_found_and_called() {
    let mut host = host(Revisions::ALL);
    let (probe, id) = host.posted("server/discover");
    assert_eq!(header(&probe, "mcp-protocol-version"), Some("2026-07-28"));
    assert_eq!(header(&probe, "mcp-method"), Some("server/discover"));
    let discovered =
        r#"{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}"#;
    host.reply(probe.exchange, &result(&id, discovered));
    let plain = call_tool(&mut host, "plain");
    let (request, id) = host.posted("tools/call");
    assert_eq!(header(&request, "mcp-name"), Some("plain"));
    assert_eq!(header(&request, "mcp-session-id"), None);
    host.reply(request.exchange, &result(&id, r#"{"content":[1]}"#));
    let streamed = call_tool(&mut host, "streamed");
    let (request, id) = host.posted("tools/call");
    host.answer(
        request.exchange,
        200,
        &[EVENT_STREAM],
        &format!(":\n\nevent: message\ndata: {}\n\n", result(&id, r#"{"content":[2]}"#)),
    );
    let events = host.take_events();
    assert!(matches!(&events[0], Event::Ready { revision: Revision::V2026_07_28, .. }));
    assert_eq!(results(&events), [(plain, r#"{"content":[1]}"#), (streamed, r#"{"content":[2]}"#)]);
    host.client().close();
    host.drive();
    assert!(host.closed && host.http.is_finished());
}

// proves: BASE-226 BASE-232 BASE-234 BASE-250
#[test]
fn a_stream_that_the_server_closes_is_resumed_on_time() {
    let mut host = host(Revisions::LEGACY);
    open_session(&mut host, Revision::V2025_03_26);
    // This server opens a stream for every GET.
    let standalone = host.request();
    assert_eq!(standalone.method, "GET");
    host.head(standalone.exchange, 200, &[EVENT_STREAM]);
    host.body(standalone.exchange, b"id: event-1\nretry: 500\ndata: \n\n");
    let listed = call(&mut host, "tools/list", None);
    let (list, id) = host.posted("tools/list");
    host.reply(list.exchange, &result(&id, r#"{"tools":[]}"#));
    let called = call_tool(&mut host, "test_reconnection");
    let (request, id) = host.posted("tools/call");
    host.head(request.exchange, 200, &[EVENT_STREAM]);
    host.body(request.exchange, b"id: event-2\nretry: 500\ndata: \n\n");
    host.advance(50);
    host.end(request.exchange);
    host.advance(499);
    assert!(host.requests.is_empty());
    host.advance(1);
    let resumed = host.request();
    assert_eq!((resumed.method, header(&resumed, "last-event-id")), ("GET", Some("event-2")));
    host.head(resumed.exchange, 200, &[EVENT_STREAM]);
    let answer = result(&id, r#"{"content":[]}"#);
    host.body(resumed.exchange, b"id: event-3\nretry: 500\ndata: \n\n");
    host.body(resumed.exchange, format!("event: message\nid: event-4\ndata: {answer}\n\n").as_bytes());
    let events = host.take_events();
    assert_eq!(results(&events), [(listed, r#"{"tools":[]}"#), (called, r#"{"content":[]}"#)]);
    // The server leaves the stream open; the client does not, and asks for nothing more.
    host.advance(60_000);
    assert!(host.aborted.contains(&resumed.exchange));
    assert!(host.requests.is_empty());
}

// proves: BASE-235
#[test]
fn a_question_on_the_stream_of_the_session_finds_it_open() {
    let mut host = host(Revisions::LEGACY);
    let called = call_tool(&mut host, "test_client_elicitation_defaults");
    let (initialize, id) = host.posted("initialize");
    host.answer(initialize.exchange, 200, &[JSON, SESSION], &initialize_result(&id, Revision::V2025_11_25));
    let (initialized, _) = host.posted("notifications/initialized");
    assert!(host.requests.is_empty(), "the call waits for the answer to initialized");
    host.answer(initialized.exchange, 202, &[], "");
    let stream = host.request();
    assert_eq!((stream.method, header(&stream, "mcp-session-id")), ("GET", Some("s1")));
    assert!(host.requests.is_empty(), "the call waits for the stream");
    host.head(stream.exchange, 200, &[EVENT_STREAM]);
    let (request, id) = host.posted("tools/call");
    let question = r#"{"jsonrpc":"2.0","id":0,"method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{}}}}"#;
    host.body(stream.exchange, format!("event: message\ndata: {question}\n\n").as_bytes());
    let input = host.take_events().into_iter().find_map(|event| match event {
        Event::InputRequired { inputs, .. } => Some(inputs[0].input),
        _ => None,
    });
    let answer = InputResponse::Result(Json::new(r#"{"action":"accept","content":{}}"#).expect("JSON"));
    let now = host.now();
    host.client().provide_input(now, input.expect("a question"), answer).expect("an answer");
    let reply = host.request();
    assert!(reply.body.contains(r#""id":0"#) && reply.body.contains("accept"), "{}", reply.body);
    assert_eq!(header(&reply, "mcp-session-id"), Some("s1"));
    host.answer(reply.exchange, 202, &[], "");
    host.reply(request.exchange, &result(&id, r#"{"content":[]}"#));
    assert_eq!(results(&host.take_events()), [(called, r#"{"content":[]}"#)]);
}

// Some servers answer a notification with a result that has no id.
#[test]
fn a_strange_answer_to_initialized_is_tolerated() {
    let mut host = host(Revisions::LEGACY);
    let (initialize, id) = host.posted("initialize");
    host.reply(initialize.exchange, &initialize_result(&id, Revision::V2025_11_25));
    let (initialized, _) = host.posted("notifications/initialized");
    host.reply(initialized.exchange, r#"{"jsonrpc":"2.0","result":{}}"#);
    let stream = host.request();
    host.answer(stream.exchange, 404, &[], "");
    assert!(matches!(host.take_events()[..], [Event::Ready { .. }]));
    let listed = call(&mut host, "tools/list", None);
    let (list, id) = host.posted("tools/list");
    host.reply(list.exchange, &result(&id, r#"{"tools":[]}"#));
    assert_eq!(results(&host.take_events()), [(listed, r#"{"tools":[]}"#)]);
}

// The public report on event streams that many readers got wrong.
#[test]
fn an_event_stream_of_every_kind_of_line() {
    for single in [false, true] {
        let mut host = in_session(Revision::V2025_11_25);
        let called = call_tool(&mut host, "t");
        let (request, id) = host.posted("tools/call");
        host.head(request.exchange, 200, &[("content-type", "Text/Event-Stream; charset=utf-8")]);
        let answer = result(&id, r#"{"content":[]}"#);
        let last = format!("unknown: field\rid: s1-2\revent: message\rdata: {answer}\r\r");
        let chunks: [&[u8]; 10] = [
            "\u{feff}: keep-alive\r\n\r\n".as_bytes(),
            b"retry: 1500\r\nid: s1-0\r\ndata:\r\n\r\n",
            b"event: ping\r\ndata: 123\r\n\r\n",
            b"id: s1-1\r\ndata: {\"jsonrpc\":\"2.0\",\r",
            b"\ndata: \"method\":\"notifications/message\",\r\ndata: \"params\":{\"level\":\"info\",\"data\":\"one\"}}\r",
            b"\n\r\n",
            b"data:{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":\"info\",\"data\":\"two\xf0\x9f\x98",
            b"\x80\"}}\n\n",
            last.as_bytes(),
            b"data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\"}",
        ];
        for chunk in chunks {
            for piece in chunk.chunks(if single { 1 } else { chunk.len() }) {
                host.body(request.exchange, piece);
            }
        }
        host.end(request.exchange);
        let events = host.take_events();
        let logged = |event: &Event| match event {
            Event::LogReceived { data, .. } => Some(data.as_str().to_owned()),
            _ => None,
        };
        assert_eq!(events.iter().filter_map(logged).collect::<Vec<_>>(), ["\"one\"", "\"two\u{1f600}\""]);
        assert_eq!(results(&events), [(called, r#"{"content":[]}"#)]);
        assert_eq!(events.len(), 3, "{events:?}");
        host.advance(10_000);
        assert!(host.requests.is_empty(), "nothing is resumed");
    }
}

// proves: BASE-187 BASE-191 BASE-192
#[test]
fn the_older_transport_is_found_and_spoken() {
    let mut host = host(Revisions::ALL);
    let (probe, _) = host.posted("server/discover");
    host.answer(probe.exchange, 405, &[], "");
    let (initialize, _) = host.posted("initialize");
    host.answer(initialize.exchange, 405, &[], "");
    let stream = host.request();
    assert_eq!(stream.method, "GET");
    host.head(stream.exchange, 200, &[EVENT_STREAM]);
    host.body(stream.exchange, b"event: endpoint\r\ndata: ./messages/?session_id=1\r\n\r\n");
    let (initialize, id) = host.posted("initialize");
    let endpoint = "http://127.0.0.1:8000/messages/?session_id=1";
    let send = |host: &mut HttpHost, message: &str| {
        host.body(stream.exchange, format!("event: message\r\ndata: {message}\r\n\r\n").as_bytes());
    };
    let accept = |host: &mut HttpHost, request: &HttpRequest| {
        assert_eq!(&*request.url, endpoint);
        host.answer(request.exchange, 202, &[], "Accepted");
    };
    accept(&mut host, &initialize);
    send(&mut host, &initialize_result(&id, Revision::V2024_11_05));
    let (initialized, _) = host.posted("notifications/initialized");
    accept(&mut host, &initialized);
    let listed = call(&mut host, "tools/list", None);
    let (list, id) = host.posted("tools/list");
    // The answer may overtake the end of the request that asked for it.
    send(&mut host, &result(&id, r#"{"tools":[]}"#));
    accept(&mut host, &list);
    let lost = call_tool(&mut host, "t");
    let (request, _) = host.posted("tools/call");
    accept(&mut host, &request);
    let events = host.take_events();
    assert!(matches!(&events[0], Event::Ready { revision: Revision::V2024_11_05, .. }), "{events:?}");
    assert_eq!(results(&events), [(listed, r#"{"tools":[]}"#)]);
    host.end(stream.exchange);
    let events = host.take_events();
    assert!(
        matches!(&events[..], [Event::RequestFailed { request, .. }, Event::Disconnected { .. }] if *request == lost),
        "{events:?}"
    );
    assert!(host.closed);
}

#[test]
fn a_cancelled_request_leaves_its_exchange() {
    for modern in [false, true] {
        let mut host = if modern {
            let mut host = host(Revisions::MODERN);
            let (probe, id) = host.posted("server/discover");
            let discovered = r#"{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}"#;
            host.reply(probe.exchange, &result(&id, discovered));
            host
        } else {
            in_session(Revision::V2025_11_25)
        };
        let request = call_tool(&mut host, "t");
        let (posted, _) = host.posted("tools/call");
        host.client().cancel(request, None).expect("it runs");
        host.drive();
        // From 2026-07-28 leaving is all that is said; before, the server is told first.
        if !modern {
            let (cancelled, _) = host.posted("notifications/cancelled");
            assert!(host.aborted.is_empty());
            host.answer(cancelled.exchange, 202, &[], "");
        }
        assert_eq!(host.aborted, [posted.exchange]);
        assert!(host.requests.is_empty());
    }
}

#[test]
fn an_answer_elsewhere_ends_the_exchange_of_its_request() {
    let mut host = host(Revisions::LEGACY);
    open_session(&mut host, Revision::V2025_11_25);
    let stream = host.request();
    host.head(stream.exchange, 200, &[EVENT_STREAM]);
    host.take_events();
    let called = call_tool(&mut host, "t");
    let (request, id) = host.posted("tools/call");
    host.head(request.exchange, 200, &[EVENT_STREAM]);
    host.body(stream.exchange, format!("data: {}\n\n", result(&id, "{}")).as_bytes());
    assert_eq!(results(&host.take_events()), [(called, "{}")]);
    assert_eq!(host.aborted, [request.exchange]);
}
