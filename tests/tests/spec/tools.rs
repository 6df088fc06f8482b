//! server/tools, and the use of JSON Schema (basic/index)

use std::net::TcpListener;

use barewire::model::{CallToolResult, SchemaFault, Tool, ToolAnnotations, Value as _, read_list};

use super::*;

/// A tool's definition with these members of its input schema, and with these members of its own.
fn tool(schema: &str, rest: &str) -> String {
    format!(r#"{{"name":"n","inputSchema":{{"type":"object"{schema}}}{rest}}}"#)
}

fn listed(pair: &mut Pair) -> Json {
    let now = pair.now();
    pair.client.machine_mut().list(now, client::Listing::Tools, None, Default::default()).unwrap();
    pair.drive().unwrap();
    let events = pair.take_client_events();
    let Some(client::Event::ResponseReceived { result, .. }) = events.last() else { panic!("{events:?}") };
    result.clone()
}

// proves: FEAT-022
#[test]
fn a_result_that_does_not_say_otherwise_is_a_success() {
    for (text, is_error) in [
        (r#"{"content":[]}"#, false),
        (r#"{"content":[],"isError":null}"#, false),
        (r#"{"content":[],"isError":false}"#, false),
        (r#"{"content":[],"isError":true}"#, true),
    ] {
        assert_eq!(CallToolResult::read(&Json::new(text).unwrap()).unwrap().is_error, is_error, "{text}");
    }
}

// proves: FEAT-031
#[test]
fn hints_that_are_not_given_have_their_defaults() {
    let read = |text| ToolAnnotations::read(&Json::new(text).unwrap()).unwrap();
    let all = |text| {
        let hints = read(text);
        [hints.is_read_only(), hints.is_destructive(), hints.is_idempotent(), hints.is_open_world()]
    };
    assert_eq!(all("{}"), [false, true, false, true]);
    assert_eq!(all(r#"{"destructiveHint":false}"#), [false, false, false, true]);
    assert_eq!(all(r#"{"idempotentHint":true,"openWorldHint":false}"#), [false, true, true, false]);
    // What changes nothing destroys nothing and can be called twice, whatever else it says.
    let reading = [true, false, true, true];
    assert_eq!(all(r#"{"readOnlyHint":true}"#), reading);
    assert_eq!(all(r#"{"readOnlyHint":true,"destructiveHint":true,"idempotentHint":false}"#), reading);
}

// proves: BASE-078 FEAT-065
#[test]
fn a_tool_in_an_unknown_dialect_is_refused_where_it_is_registered() {
    let mut pair = pair(Revision::V2025_11_25);
    let server = pair.server.machine_mut();
    let unknown = r#","$schema":"https://example.com/own""#;
    assert_eq!(server.add_tool(&tool(unknown, "")), Err(invalid("$schema")));
    let output = r#","outputSchema":{"type":"object","$schema":"http://json-schema.org/draft-04/schema#"}"#;
    assert_eq!(server.add_tool(&tool("", output)), Err(invalid("$schema")));
    let known = r#","$schema":"https://json-schema.org/draft/2020-12/schema""#;
    server.add_tool(&tool(known, "")).unwrap();
}

// proves: BASE-074 BASE-078 FEAT-060 FEAT-065
#[test]
fn a_client_tells_of_an_unknown_dialect_and_keeps_the_tool() {
    let result = format!(
        r#"{{"tools":[{},{}]}}"#,
        tool("", r#","outputSchema":{"$schema":"https://example.com/own","type":"object"}"#),
        tool("", r#","outputSchema":{"type":"object"}"#),
    );
    let listing = read_list::<Tool>(&Json::new(&result).unwrap(), "tools").unwrap();
    let faults: Vec<_> = listing.items.iter().map(Tool::output_schema_fault).collect();
    assert_eq!(faults, [Some(SchemaFault::UnknownDialect), None]);
}

// proves: BASE-080 BASE-081 FEAT-067 FEAT-068
#[test]
fn no_reference_into_the_network_is_followed() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let place = format!("http://{}/schema", listener.local_addr().unwrap());
    let definition = tool(
        &format!(r#","properties":{{"a":{{"$ref":"{place}"}}}},"$ref":"{place}""#),
        &format!(r#","outputSchema":{{"type":"object","$ref":"{place}"}}"#),
    );
    for revision in Revision::ALL {
        let mut pair = pair(revision);
        pair.server.machine_mut().remove_tool("t").unwrap();
        pair.server.machine_mut().add_tool(&definition).unwrap();
        let tools = listed(&mut pair);
        assert!(tools.as_str().contains(&place));
        let listing = read_list::<Tool>(&tools, "tools").unwrap();
        listing.items[0].output_schema_fault();
        let now = pair.now();
        let arguments = Some(r#"{"a":1}"#);
        pair.client.machine_mut().call_tool(now, "n", arguments, Default::default()).unwrap();
        pair.drive().unwrap();
        let events = pair.take_server_events();
        let Some(server::Event::ToolCalled { request, .. }) = events.last() else { panic!("{events:?}") };
        pair.server.machine_mut().respond(*request, r#"{"structuredContent":{"b":1}}"#).unwrap();
        pair.drive().unwrap();
    }
    let visitor = listener.accept().map(|_| ());
    assert_eq!(visitor.unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
}

// proves: FEAT-012 FEAT-013
#[test]
fn any_keyword_of_a_schema_arrives_as_it_was_written() {
    let schema = concat!(
        r##","$defs":{"p":{"type":"string"}},"oneOf":[{"required":["a"]}],"if":{"minProperties":1},"##,
        r##""dependentRequired":{"a":["b"]},"unevaluatedProperties":false,"properties":{"a":{"$ref":"#/$defs/p"}}"##,
    );
    let output =
        r#","outputSchema":{"anyOf":[{"type":"array","prefixItems":[{"const":1.0}]},{"type":"null"}]}"#;
    let mut pair = pair(Revision::V2026_07_28);
    pair.server.machine_mut().remove_tool("t").unwrap();
    pair.server.machine_mut().add_tool(&tool(schema, output)).unwrap();
    let tools = listed(&mut pair);
    assert!(tools.as_str().contains(schema) && tools.as_str().contains(output), "{tools}");
    let listing = read_list::<Tool>(&tools, "tools").unwrap();
    assert_eq!((listing.items.len(), listing.rejected.len()), (1, 0));
    assert_eq!(listing.items[0].output_schema_fault(), None);
}

// proves: FEAT-024 FEAT-035
#[test]
fn an_unknown_tool_is_an_error_and_case_matters() {
    for revision in Revision::ALL {
        let mut pair = pair(revision);
        for name in ["T", "t ", "u"] {
            let now = pair.now();
            pair.client.machine_mut().call_tool(now, name, None, Default::default()).unwrap();
            pair.drive().unwrap();
            let events = pair.take_client_events();
            let [client::Event::RequestFailed { reason: client::FailureReason::Rpc(error), .. }] =
                &events[..]
            else {
                panic!("{events:?}")
            };
            assert_eq!(error.code, -32602);
            assert_eq!(pair.take_server_events(), []);
        }
    }
}

// proves: FEAT-025
#[test]
fn arguments_that_do_not_fit_are_an_error_in_older_revisions() {
    for revision in Revision::ALL {
        let mut pair = pair(revision);
        let (_, running) = call(&mut pair);
        pair.server.machine_mut().respond_invalid_arguments(running, "a: expected int").unwrap();
        pair.drive().unwrap();
        let events = pair.take_client_events();
        match &events[..] {
            [client::Event::RequestFailed { reason: client::FailureReason::Rpc(error), .. }] => {
                assert!(revision < Revision::V2025_11_25, "{revision}");
                assert_eq!((error.code, &*error.message), (-32602, "a: expected int"));
            }
            [client::Event::ResponseReceived { result, .. }] => {
                assert!(revision >= Revision::V2025_11_25, "{revision}");
                assert!(CallToolResult::read(result).unwrap().is_error);
            }
            other => panic!("{other:?}"),
        }
    }
}
