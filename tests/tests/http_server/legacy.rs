//! Sessions over Streamable HTTP: 2025-03-26 to 2025-11-25.

use barewire::server::{Event, Notification};
use barewire::transport::http::server::HttpServerConfig;
use barewire::{InputQuestion, Json, Limits, Revision, Seed};
use barewire_tests::server_config;
use barewire_tests::site::{COMMON, RESULT, Response, Site, initialize};
use serde_json::Value;

use crate::{More, message, refusal};

const CALL: &str =
    r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","_meta":{"progressToken":1}}}"#;

const HTTP_REVISIONS: [Revision; 3] = [Revision::V2025_03_26, Revision::V2025_06_18, Revision::V2025_11_25];

fn named(id: &str) -> [(&str, &str); 1] {
    [("Mcp-Session-Id", id)]
}

fn progress(progress: f64) -> Notification<'static> {
    Notification::Progress { progress, total: None, message: None }
}

fn resume(site: &mut Site, id: &str, after: &str) -> Response {
    let exchange = site.get(&[("Mcp-Session-Id", id), ("Last-Event-ID", after)]);
    site.take(exchange)
}

// proves: BASE-195 BASE-210 BASE-215 BASE-218 BASE-220 BASE-222 BASE-223 BASE-225 BASE-256
#[test]
fn a_session_from_its_handshake_to_its_end() {
    for revision in HTTP_REVISIONS {
        let mut site = Site::new();
        let id = site.open_session(revision);
        assert!(
            matches!(site.events.pop(), Some(Event::SessionOpened { revision: opened, .. }) if opened == revision)
        );
        let standalone = site.get(&named(&id));
        let mut alone = site.take(standalone);
        assert!(alone.is_stream());
        let ping = site.ask(&named(&id), r#"{"jsonrpc":"2.0","id":"p","method":"ping"}"#);
        assert_eq!(&*ping.body, r#"{"jsonrpc":"2.0","id":"p","result":{}}"#);
        let exchange = site.post(&named(&id), CALL);
        let call = site.last_call();
        assert_eq!(site.server().notify(call, progress(1.0)), Ok(true));
        site.server().respond(call, RESULT).expect("an answer");
        let response = site.take(exchange);
        assert!(response.is_stream() && response.is_last);
        assert_eq!(response.messages().len(), 2);
        let headers = [COMMON[0], ("Mcp-Session-Id", &*id)];
        let end = site.send("DELETE", &headers, "");
        assert_eq!(site.take(end).status, 204);
        site.take_more(standalone, &mut alone);
        assert!(alone.is_last && alone.messages().is_empty());
        site.listen();
        assert!(matches!(site.events.last(), Some(Event::SessionClosed { .. })));
        let response = site.ask(&named(&id), CALL);
        assert_eq!(response.status, 404);
        assert!(site.http.is_idle());
    }
}

// proves: BASE-211 BASE-213 BASE-261 BASE-263 BASE-272
#[test]
fn what_names_no_session_or_a_wrong_one_is_refused() {
    let mut site = Site::new();
    let id = site.open_session(Revision::V2025_06_18);
    let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    let note = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    let rows: [(More<'_>, &str, u16); 8] = [
        (&[], list, 400),
        (&[], note, 400),
        (&[("Mcp-Session-Id", "x")], list, 404),
        (&[("Mcp-Session-Id", "x")], note, 404),
        (&[("Mcp-Session-Id", &id), ("MCP-Protocol-Version", "yesterday")], list, 400),
        (&[("Mcp-Session-Id", &id), ("MCP-Protocol-Version", "2025-06-18")], list, 200),
        (&[("Mcp-Session-Id", &id), ("MCP-Protocol-Version", "2025-11-25")], list, 200),
        (&[("Mcp-Session-Id", &id)], list, 200),
    ];
    for (headers, body, status) in rows {
        assert_eq!(site.ask(headers, body).status, status, "{headers:?} {body}");
    }
    let again = site.ask(&named(&id), &initialize(Revision::V2025_06_18));
    assert_eq!(refusal(&again), (400, -32600));
}

// proves: BASE-205 BASE-217
#[test]
fn a_batch_is_answered_as_one_in_its_revision() {
    let batch = r#"[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo"}}]"#;
    for revision in HTTP_REVISIONS {
        let mut site = Site::new();
        let id = site.open_session(revision);
        let exchange = site.post(&named(&id), batch);
        if !revision.has_batches() {
            assert_eq!(refusal(&site.take(exchange)), (400, -32600));
            continue;
        }
        let call = site.last_call();
        site.server().respond(call, RESULT).expect("an answer");
        let response = site.take(exchange);
        let mut ids: Vec<_> = response
            .messages()
            .into_iter()
            .flat_map(|text| match serde_json::from_str(text).expect("JSON") {
                Value::Array(answers) => answers,
                answer => Vec::from([answer]),
            })
            .map(|answer| answer["id"].as_i64().expect("an id"))
            .collect();
        ids.sort_unstable();
        assert_eq!((response.status, ids, response.is_last), (200, Vec::from([1, 2]), true));
        let notes = r#"[{"jsonrpc":"2.0","method":"x/a"},{"jsonrpc":"2.0","method":"x/b"}]"#;
        assert_eq!(site.ask(&named(&id), notes).status, 202);
    }
}

// proves: BASE-226 BASE-227 BASE-229 BASE-250 BASE-251
#[test]
fn a_call_outlives_its_connection() {
    let mut site = Site::new();
    let id = site.open_session(Revision::V2025_11_25);
    let exchange = site.post(&named(&id), CALL);
    let call = site.last_call();
    assert_eq!(site.server().notify(call, progress(1.0)), Ok(true));
    let first = site.take(exchange);
    site.http.receive_abort(site.now, exchange);
    site.listen();
    assert!(matches!(site.events.last(), Some(Event::ToolCalled { .. })), "it goes on");
    assert_eq!(site.server().notify(call, progress(2.0)), Ok(true));
    site.server().respond(call, RESULT).expect("an answer");
    let rest = resume(&mut site, &id, first.fields("id").last().expect("an id"));
    assert!(rest.is_last);
    assert_eq!(rest.messages().len(), 2);
    assert!(rest.messages()[1].contains("done"));
    let all = resume(&mut site, &id, first.fields("id")[0]);
    assert_eq!(all.messages().len(), 3);
}

// proves: BASE-231 BASE-232
#[test]
fn a_call_is_polled() {
    let mut site = Site::new();
    let id = site.open_session(Revision::V2025_11_25);
    let exchange = site.post(&named(&id), CALL);
    let call = site.last_call();
    let of_call = match site.events.last() {
        Some(Event::ToolCalled { context, .. }) => context.exchange,
        other => panic!("{other:?}"),
    };
    assert_eq!(of_call, Some(exchange));
    assert!(site.http.close_stream(site.now, exchange, Some(100)));
    let closed = site.take(exchange);
    assert_eq!((closed.messages().len(), closed.is_last, closed.is_aborted), (0, true, false));
    assert_eq!(closed.fields("retry"), ["1000", "100"]);
    site.server().respond(call, RESULT).expect("an answer");
    let rest = resume(&mut site, &id, closed.fields("id")[0]);
    assert_eq!((message(&rest)["id"].as_i64(), rest.is_last), (Some(7), true));
}

#[test]
fn a_question_travels_on_the_stream_of_its_call() {
    let mut site = Site::new();
    let id = site.open_session(Revision::V2025_11_25);
    let exchange = site.post(&named(&id), CALL);
    let call = site.last_call();
    let params =
        r#"{"message":"who?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}}}}"#;
    let question = InputQuestion {
        key: "who".into(),
        kind: barewire::InputKind::Elicitation,
        params: Json::new(params).expect("JSON"),
    };
    let now = site.now;
    site.server().require_input(now, call, Vec::from([question]), None).expect("asked");
    let mut response = site.take(exchange);
    let asked: Value = serde_json::from_str(response.messages()[0]).expect("JSON");
    assert_eq!(asked["method"], "elicitation/create");
    let answer = format!(
        r#"{{"jsonrpc":"2.0","id":{},"result":{{"action":"accept","content":{{"name":"ann"}}}}}}"#,
        asked["id"]
    );
    assert_eq!(site.ask(&named(&id), &answer).status, 202);
    site.server().respond(call, RESULT).expect("an answer");
    site.take_more(exchange, &mut response);
    assert_eq!((response.messages().len(), response.is_last), (2, true));
}

// proves: BASE-238 BASE-239 BASE-240 BASE-244 BASE-245
#[test]
fn what_concerns_no_call_goes_to_the_stream_of_the_session() {
    let mut site = Site::new();
    let ids = [Revision::V2025_11_25, Revision::V2025_03_26].map(|revision| site.open_session(revision));
    let streams = [0, 1].map(|at| site.get(&named(&ids[at])));
    site.server().add_tool(r#"{"name":"new","inputSchema":{"type":"object"}}"#).expect("a tool");
    let mut responses = streams.map(|stream| site.take(stream));
    for response in &responses {
        assert!(message(response)["method"].as_str().is_some_and(|name| name.ends_with("list_changed")));
    }
    let session = site.events.iter().find_map(|event| match event {
        Event::SessionOpened { session, .. } => Some(*session),
        _ => None,
    });
    let now = site.now;
    site.server().request(now, session.expect("a session"), "ping", None).expect("asked");
    for (stream, response) in streams.into_iter().zip(&mut responses) {
        site.take_more(stream, response);
    }
    assert!(responses[0].messages()[1].contains("\"ping\""));
    assert_eq!(responses[1].messages().len(), 1);
}

#[test]
fn a_cancelled_call_ends_its_exchange() {
    let mut site = Site::new();
    let id = site.open_session(Revision::V2025_06_18);
    let exchange = site.post(&named(&id), CALL);
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#;
    assert_eq!(site.ask(&named(&id), cancel).status, 202);
    let response = site.take(exchange);
    assert_eq!(message(&response)["error"]["code"].as_i64(), Some(-32800));
    assert!(response.is_last);
    assert!(matches!(site.events.last(), Some(Event::RequestCancelled { .. })));
}

#[test]
fn the_application_ends_a_session() {
    let mut site = Site::new();
    let id = site.open_session(Revision::V2025_06_18);
    let Some(Event::SessionOpened { session, .. }) = site.events.last() else { panic!("{:?}", site.events) };
    let (session, exchange) = (*session, site.get(&named(&id)));
    site.server().end_session(session).expect("a session");
    assert!(site.take(exchange).is_last);
    assert_eq!(site.ask(&named(&id), CALL).status, 404);
}

#[test]
fn the_session_that_was_idle_longest_makes_room() {
    let mut server = server_config();
    server.limits = Limits::default();
    server.limits.sessions = 2;
    let mut site = Site::with(server, HttpServerConfig::new(Seed::new([3; 32])));
    let ids: Vec<_> = (0..3).map(|_| site.open_session(Revision::V2025_11_25)).collect();
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let statuses: Vec<_> = ids.iter().map(|id| site.ask(&named(id), ping).status).collect();
    assert_eq!(statuses, [404, 200, 200]);
    // None makes room while it is in use.
    let streams = [&ids[1], &ids[2]].map(|id| site.get(&named(id)));
    let refused = site.ask(&[], &initialize(Revision::V2025_11_25));
    assert!(refused.status >= 400, "{refused:?}");
    site.http.receive_abort(site.now, streams[0]);
    site.open_session(Revision::V2025_11_25);
    assert_eq!(site.ask(&named(&ids[1]), ping).status, 404);
}

#[test]
fn a_session_moves_to_another_process() {
    let mut config = HttpServerConfig::new(Seed::new([3; 32]));
    config.external_sessions = true;
    let mut first = Site::with(server_config(), config.clone());
    let id = first.open_session(Revision::V2025_11_25);
    let Some(Event::SessionOpened { session, .. }) = first.events.last() else {
        panic!("{:?}", first.events)
    };
    let text = first.http.machine().export_session(*session).expect("a text");
    config.seed = Seed::new([4; 32]);
    let mut second = Site::with(server_config(), config);
    let exchange = second.post(&named(&id), r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#);
    let requested = second.http.poll_http_event().expect("an event");
    let barewire::transport::http::server::HttpServerEvent::SessionRequested { exchange: asking, id: asked } =
        requested
    else {
        panic!("{requested:?}");
    };
    assert_eq!((asking, &*asked), (exchange, &*id));
    let session = second.server().import_session(&text).expect("a session");
    second.http.resolve_session(second.now, exchange, Some(session));
    assert_eq!(second.take(exchange).status, 200);
}
