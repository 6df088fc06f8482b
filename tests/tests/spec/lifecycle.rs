//! basic/lifecycle, basic/versioning, basic/patterns

use barewire::server::Event;
use barewire::{Capability, Facts, Input, Transmit};

use super::*;

// proves: BASE-107 BASE-109
#[test]
fn what_lives_longer_than_a_request_is_named_by_the_request() {
    let mut config = server_config();
    config.request_state_keys = vec![[9; 32]];
    let mut first = Opposite::server(config.clone());
    first.hear_modern(1, "tools/call", r#""name":"t""#);
    let events = first.events();
    let [server::Event::ToolCalled { request, .. }] = &events[..] else { panic!("{events:?}") };
    let params = r#"{"message":"m","requestedSchema":{"type":"object","properties":{}}}"#;
    let question =
        InputQuestion { key: "q".into(), kind: InputKind::Elicitation, params: Json::new(params).unwrap() };
    let machine = first.stdio.machine_mut();
    machine.require_input(Instant::ZERO, *request, vec![question], Some("[42]")).unwrap();
    let state = first.line()["result"]["requestState"].to_string();
    let retry =
        format!(r#""name":"t","inputResponses":{{"q":{{"action":"decline"}}}},"requestState":{state}"#);
    // Another process takes it up from the handle alone.
    let mut second = Opposite::server(config);
    second.hear_modern(5, "tools/call", &retry);
    let events = second.events();
    let [server::Event::ToolCalled { context, .. }] = &events[..] else { panic!("{events:?}") };
    assert_eq!(context.state.as_ref().map(Json::as_str), Some("[42]"));
    assert_eq!(context.input_answers.len(), 1);
    // The first remembers nothing that the request does not name.
    first.hear_modern(2, "tools/call", r#""name":"t""#);
    let events = first.events();
    let [server::Event::ToolCalled { context, .. }] = &events[..] else { panic!("{events:?}") };
    assert_eq!((context.round, &context.state, context.input_answers.len()), (0, &None, 0));
}

/// A tool call of a modern client, from a sender that the host knows or does not know.
fn call_from(server: &mut Server, principal: Option<&str>, rest: &str) -> Option<Event> {
    let text = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"t","_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{{"name":"alice","version":"1","user":"alice"}},"io.modelcontextprotocol/clientCapabilities":{{"elicitation":{{}}}},"principal":"alice","user":"alice"}}{rest}}}}}"#
    );
    let facts = Facts { principal, ..Facts::default() };
    server.handle_input(Instant::ZERO, Input::Message { text: &text, facts }).unwrap();
    server.poll_event()
}

fn answered_text(server: &mut Server) -> String {
    match server.poll_transmit() {
        Some(Transmit::Message { text, .. }) => text,
        other => panic!("{other:?}"),
    }
}

// proves: BASE-439 FEAT-351
#[test]
fn who_a_client_is_comes_from_the_host_with_each_request() {
    let mut server = Server::new(server_config()).unwrap();
    server.add_tool(r#"{"name":"t","inputSchema":{"type":"object"}}"#).unwrap();
    for principal in [Some("bob"), None, Some("carol"), None] {
        let event = call_from(&mut server, principal, "");
        let Some(Event::ToolCalled { request, context, .. }) = event else { panic!("{event:?}") };
        // What the client says of itself, and who sent the request before, count for nothing.
        assert_eq!(context.principal.as_deref(), principal);
        server.respond(request, "{}").unwrap();
        answered_text(&mut server);
    }
}

// proves: FEAT-347 FEAT-348 FEAT-663
#[test]
fn the_state_of_a_question_is_of_use_to_its_user_alone() {
    let mut server = Server::new(server_config()).unwrap();
    server.add_tool(r#"{"name":"t","inputSchema":{"type":"object"}}"#).unwrap();
    let event = call_from(&mut server, Some("alice"), "");
    let Some(Event::ToolCalled { request, .. }) = event else { panic!("{event:?}") };
    let params = r#"{"message":"m","requestedSchema":{"type":"object","properties":{}}}"#;
    let params = Json::new(params).unwrap();
    let question = InputQuestion { key: "q".into(), kind: InputKind::Elicitation, params };
    let kept = Some(r#"{"account":"alice-4711"}"#);
    server.require_input(Instant::ZERO, request, vec![question], kept).unwrap();
    let text = answered_text(&mut server);
    let reply: Value = serde_json::from_str(&text).unwrap();
    let state = reply["result"]["requestState"].as_str().unwrap();
    let retry =
        |state: &str| format!(r#","inputResponses":{{"q":{{"action":"decline"}}}},"requestState":"{state}""#);
    // The one who holds it is not the one it was made for.
    for other in [Some("mallory"), None] {
        let event = call_from(&mut server, other, &retry(state));
        assert_eq!(event, None, "{other:?}");
        assert!(answered_text(&mut server).contains("-32602"));
    }
    // Nothing in it can be read or changed on the way.
    for at in 0..state.len() {
        let changed = if state.as_bytes()[at] == b'A' { "B" } else { "A" };
        let forged = [&state[..at], changed, &state[at + 1..]].concat();
        let event = call_from(&mut server, Some("alice"), &retry(&forged));
        assert_eq!(event, None, "{at}");
        answered_text(&mut server);
    }
    let event = call_from(&mut server, Some("alice"), &retry(state));
    let Some(Event::ToolCalled { context, .. }) = event else { panic!("{event:?}") };
    assert_eq!(context.state.as_ref().map(Json::as_str), kept);
}

// proves: BASE-063 BASE-064 FEAT-680
#[test]
fn the_name_of_a_client_changes_nothing() {
    let outcome = |info: &str| {
        let mut server = Opposite::server(server_config());
        let meta = format!(
            r#""_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{info},"io.modelcontextprotocol/clientCapabilities":{{"roots":{{}}}}}}"#
        );
        let mut lines = Vec::new();
        for (id, method, params) in [
            (1, "server/discover", ""),
            (2, "tools/list", ""),
            (3, "tools/call", r#""name":"unknown","#),
            (4, "tools/call", r#""name":"t","#),
        ] {
            server.hear(&format!(
                r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{{params}{meta}}}}}"#
            ));
            lines.extend(server.lines());
        }
        let events = server.events();
        let [Event::ToolCalled { context, .. }] = &events[..] else { panic!("{events:?}") };
        let mut context = context.clone();
        assert_eq!(context.client.take().unwrap().as_str(), info);
        context.meta = None;
        (lines, context)
    };
    let anyone = outcome(r#"{"name":"a","version":"1"}"#);
    for info in [
        r#"{"name":"inspector","version":"0.0.1","admin":true}"#,
        r#"{"name":"","version":"","title":"root"}"#,
    ] {
        assert_eq!(outcome(info), anyone, "{info}");
    }
}

// proves: BASE-106
#[test]
fn requests_of_unrelated_clients_may_share_a_connection() {
    let mut server = Opposite::server(server_config());
    let hear = |server: &mut Opposite<Server>, id: u32, name: &str, capabilities: &str| {
        server.hear(&format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"t","_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{{"name":"{name}","version":"1"}},"io.modelcontextprotocol/clientCapabilities":{capabilities}}}}}}}"#
        ));
    };
    hear(&mut server, 1, "a", r#"{"roots":{}}"#);
    hear(&mut server, 2, "b", r#"{"sampling":{}}"#);
    hear(&mut server, 3, "a", r#"{"roots":{}}"#);
    let events = server.events();
    let seen: Vec<_> = events
        .iter()
        .map(|event| match event {
            Event::ToolCalled { request, context, .. } => {
                let name = context.client.as_ref().unwrap().member("name").unwrap();
                let can = [Capability::Roots, Capability::Sampling].map(|one| context.capabilities.has(one));
                (*request, name.as_str().to_owned(), can)
            }
            other => panic!("{other:?}"),
        })
        .collect();
    let of = |at: usize| (&*seen[at].1, seen[at].2);
    assert_eq!(
        [of(0), of(1), of(2)],
        [("\"a\"", [true, false]), ("\"b\"", [false, true]), ("\"a\"", [true, false])]
    );
    // The answers may come in any order, each under its own id.
    for (at, id) in [(1, 2), (2, 3), (0, 1)] {
        server.stdio.machine_mut().respond(seen[at].0, "{}").unwrap();
        assert_eq!(server.line()["id"], id);
    }
}

// proves: BASE-145 BASE-146
#[test]
fn unknown_capabilities_are_taken_and_kept() {
    let odd =
        r#"{"tools":{"listChanged":true,"new":{"a":[1]}},"experimental":{"x":{"y":null}},"telepathy":{}}"#;
    for revision in Revision::ALL {
        let client = Opposite::client_of(revision, odd);
        let declared = client.stdio.machine().server_capabilities().unwrap();
        assert!(declared.has(Capability::Tools) && !declared.has(Capability::Prompts));
        assert_eq!(declared.raw().map(Json::as_str), Some(odd));
        let mut config = client_config();
        config.set_capabilities(odd).unwrap();
        let mut pair = pair_of(revision, config, server_config());
        let (_, running) = call(&mut pair);
        pair.server.machine_mut().respond(running, "{}").unwrap();
    }
}

// proves: FEAT-047 FEAT-121 FEAT-167 FEAT-367
#[test]
fn three_methods_may_ask_before_they_answer() {
    let mut config = client_config();
    config.revisions = Revisions::MODERN;
    let mut pair = Pair::new(config, server_config(), Link::Whole, Random::new(1));
    let server = pair.server.machine_mut();
    server.add_tool(r#"{"name":"n","inputSchema":{"type":"object"}}"#).unwrap();
    server.add_prompt(r#"{"name":"n"}"#).unwrap();
    server.add_resource(r#"{"uri":"a:b","name":"n"}"#).unwrap();
    pair.drive().unwrap();
    pair.take_client_events();
    let running = |pair: &mut Pair| match &pair.take_server_events()[..] {
        [
            Event::ToolCalled { request, context, .. }
            | Event::PromptRequested { request, context, .. }
            | Event::ResourceReadRequested { request, context, .. },
        ] => (*request, context.input_answers.len()),
        other => panic!("{other:?}"),
    };
    for (method, params) in [
        ("tools/call", r#"{"name":"n"}"#),
        ("prompts/get", r#"{"name":"n"}"#),
        ("resources/read", r#"{"uri":"a:b"}"#),
    ] {
        let now = pair.now();
        pair.client.machine_mut().request(now, method, Some(params), Default::default()).unwrap();
        pair.drive().unwrap();
        // And once more on the retry.
        for (round, key) in ["first", "second"].into_iter().enumerate() {
            let (request, answers) = running(&mut pair);
            assert_eq!(answers, round, "{method}");
            let question =
                InputQuestion { key: key.into(), kind: InputKind::Roots, params: Json::new("{}").unwrap() };
            pair.server.machine_mut().require_input(now, request, vec![question], None).unwrap();
            pair.drive().unwrap();
            let events = pair.take_client_events();
            let [client::Event::InputRequired { inputs, .. }] = &events[..] else { panic!("{events:?}") };
            answer(&mut pair, inputs[0].input, r#"{"roots":[]}"#).unwrap();
            pair.drive().unwrap();
        }
        let (request, answers) = running(&mut pair);
        assert_eq!(answers, 2, "{method}");
        pair.server.machine_mut().respond(request, "{}").unwrap();
        pair.drive().unwrap();
        let events = pair.take_client_events();
        let [client::Event::ResponseReceived { .. }] = &events[..] else { panic!("{events:?}") };
    }
}

// proves: BASE-147
#[test]
fn an_extension_has_a_prefix_and_a_name() {
    for id in
        ["x", "/x", "com.example/-x", "com..example/x", "1com/x", "com.example-/x", "com_a.b/x", "a b/c"]
    {
        let extensions = format!(r#"{{"io.example/sound":{{}},"{id}":{{}}}}"#);
        let mut client = client_config();
        let capabilities = format!(r#"{{"extensions":{extensions}}}"#);
        assert_eq!(client.set_capabilities(&capabilities), Err(invalid("extensions")), "{id}");
        let mut server = server_config();
        server.extensions = Some(Json::new(&extensions).unwrap());
        assert_eq!(Server::new(server).err(), Some(invalid("extensions")), "{id}");
    }
    for id in ["com.example/x", "io.modelcontextprotocol/ui", "a-1.b2/c_d.e-f", "a/"] {
        let mut server = server_config();
        server.extensions = Some(Json::new(&format!(r#"{{"{id}":{{}}}}"#)).unwrap());
        assert!(Server::new(server).is_ok(), "{id}");
    }
}

// proves: BASE-148
#[test]
fn an_extension_of_one_side_alone_leaves_the_core() {
    let revision = Revision::V2026_07_28;
    // The client has it, the server does not: refused, and all else goes on.
    let mut config = client_config();
    config.set_capabilities(r#"{"extensions":{"com.example/x":{}}}"#).unwrap();
    let mut pair = pair_of(revision, config, server_config());
    let now = pair.now();
    pair.client.machine_mut().request(now, "com.example/do", None, Default::default()).unwrap();
    pair.drive().unwrap();
    let events = pair.take_client_events();
    let [client::Event::RequestFailed { reason: client::FailureReason::Rpc(error), .. }] = &events[..] else {
        panic!("{events:?}")
    };
    assert_eq!(error.code, -32601);
    call(&mut pair);
    // The server has it, the client does not: a result of the extension is refused, a core one is not.
    let mut client = Opposite::client(revision);
    let (_, line) = client.request("tools/call", r#"{"name":"t"}"#);
    client.hear(&format!(
        r#"{{"jsonrpc":"2.0","id":{},"result":{{"resultType":"com.example/x","content":[]}}}}"#,
        line["id"]
    ));
    let failed = client.events().into_iter().any(|event| {
        matches!(event, client::Event::RequestFailed { reason: client::FailureReason::InvalidResult(_), .. })
    });
    assert!(failed);
    let (_, line) = client.request("tools/call", r#"{"name":"t"}"#);
    client.hear(&format!(
        r#"{{"jsonrpc":"2.0","id":{},"result":{{"resultType":"complete","content":[]}}}}"#,
        line["id"]
    ));
    let events = client.events();
    let [client::Event::ResponseReceived { .. }] = &events[..] else { panic!("{events:?}") };
}
