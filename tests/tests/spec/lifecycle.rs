//! basic/lifecycle, basic/versioning, basic/patterns

use super::*;

// proves: BASE-109
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
