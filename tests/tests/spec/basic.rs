//! basic/index, basic/messages, basic/transports

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use barewire::{Change, Facts, Input, LogLevel, PeerIncompatible, RpcError, SubscriptionFilter, Transmit};

use super::*;

// proves: BASE-007
#[test]
fn a_response_holds_a_result_or_an_error() {
    let odd = [
        r#""result":{"content":[]},"error":{"code":1,"message":"m"}"#,
        r#""error":{"code":1,"message":"m"},"result":{"content":[]}"#,
        r#""extra":1"#,
    ];
    for revision in Revision::ALL {
        let mut client = Opposite::client(revision);
        for members in odd {
            let (request, line) = client.request("tools/call", r#"{"name":"t"}"#);
            client.hear(&format!(r#"{{"jsonrpc":"2.0","id":{},{members}}}"#, line["id"]));
            let settled = client.events().into_iter().find_map(|event| match event {
                client::Event::RequestFailed { request, reason } => Some((request, reason)),
                client::Event::ResponseReceived { .. } => panic!("{revision} {members}"),
                _ => None,
            });
            let Some((settled, client::FailureReason::InvalidResult(_))) = settled else {
                panic!("{revision} {members}: {settled:?}")
            };
            assert_eq!(settled, request);
        }
        // And each of ours holds exactly one.
        let mut pair = everything(revision);
        let sent = std::mem::take(&mut pair.client_lines) + &std::mem::take(&mut pair.server_lines);
        for line in sent.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()) {
            if line.get("method").is_none() {
                let held = ["result", "error"].map(|member| usize::from(line.get(member).is_some()));
                assert_eq!(held[0] + held[1], 1, "{line}");
            }
        }
    }
}

/// A pair in which everything was said that `revision` has: the lines of both sides are kept.
fn everything(revision: Revision) -> Pair {
    let mut pair = pair(revision);
    let mut options = barewire::client::RequestOptions::default();
    options.progress = true;
    options.log_level = Some(LogLevel::Debug);
    options.meta = Some(Json::new(r#"{"com.example/own":1}"#).unwrap());
    let now = pair.now();
    pair.client.machine_mut().call_tool(now, "t", None, options).unwrap();
    pair.client.machine_mut().call_tool(now, "unknown", None, Default::default()).unwrap();
    let filter = SubscriptionFilter { tools: true, ..SubscriptionFilter::default() };
    let watched = pair.client.machine_mut().subscribe(now, filter).unwrap();
    pair.drive().unwrap();
    let events = pair.take_server_events();
    let running = events.iter().find_map(|event| match event {
        server::Event::ToolCalled { request, .. } => Some(*request),
        _ => None,
    });
    let mut running = running.unwrap();
    let server = pair.server.machine_mut();
    let progress = server::Notification::Progress { progress: 1.0, total: None, message: None };
    server.notify(running, progress).unwrap();
    let log = server::Notification::Log { level: LogLevel::Error, logger: None, data: "1" };
    server.notify(running, log).unwrap();
    server.publish(&Change::List(barewire::ListKind::Tools));
    pair.drive().unwrap();
    if ask(&mut pair, running, InputKind::Roots, "{}").is_ok() {
        pair.drive().unwrap();
        let events = pair.take_client_events();
        let input = events.iter().find_map(|event| match event {
            client::Event::InputRequired { inputs, .. } => Some(inputs[0].input),
            _ => None,
        });
        answer(&mut pair, input.unwrap(), r#"{"roots":[]}"#).unwrap();
        pair.drive().unwrap();
        let events = pair.take_server_events();
        let Some(server::Event::ToolCalled { request, .. }) = events.last() else { panic!("{events:?}") };
        running = *request;
    }
    pair.server.machine_mut().respond(running, "{}").unwrap();
    let now = pair.now();
    pair.client.machine_mut().unsubscribe(now, watched).unwrap();
    pair.drive().unwrap();
    pair
}

/// The keys of every `_meta` in a value.
fn meta_keys(value: &Value, keys: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                if name == "_meta" {
                    keys.extend(value.as_object().unwrap().keys().cloned());
                }
                meta_keys(value, keys);
            }
        }
        Value::Array(elements) => elements.iter().for_each(|value| meta_keys(value, keys)),
        _ => {}
    }
}

fn is_label(label: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    label.starts_with(|first: char| first.is_ascii_alphabetic())
        && label.ends_with(|last: char| last.is_ascii_alphanumeric())
        && label.bytes().all(inner)
}

fn is_name(name: &str) -> bool {
    let edge = |edge: char| edge.is_ascii_alphanumeric();
    name.is_empty() || (name.starts_with(edge) && name.ends_with(edge))
}

// proves: BASE-046 BASE-047 BASE-049 BASE-050 BASE-051
#[test]
fn keys_of_metadata_are_well_formed_and_take_no_reserved_name() {
    // What the specification defines under a reserved prefix.
    let defined =
        ["protocolVersion", "clientInfo", "clientCapabilities", "logLevel", "serverInfo", "subscriptionId"];
    for revision in Revision::ALL {
        let pair = everything(revision);
        let mut keys = BTreeSet::new();
        for line in pair.client_lines.lines().chain(pair.server_lines.lines()) {
            meta_keys(&serde_json::from_str(line).unwrap(), &mut keys);
        }
        assert!(keys.contains("com.example/own") && keys.contains("progressToken"), "{keys:?}");
        assert_eq!(keys.contains("io.modelcontextprotocol/subscriptionId"), revision.era() == Era::Modern);
        for key in keys {
            let Some((prefix, name)) = key.split_once('/') else {
                assert!(is_name(&key), "{key}");
                continue;
            };
            assert!(prefix.split('.').all(is_label) && is_name(name), "{key}");
            let is_reserved =
                prefix.split('.').any(|label| label == "modelcontextprotocol" || label == "mcp");
            assert!(
                !is_reserved || (prefix == "io.modelcontextprotocol" && defined.contains(&name)),
                "{key}"
            );
        }
    }
}

// proves: BASE-045
#[test]
fn unknown_reserved_metadata_changes_nothing() {
    let own = r#""io.modelcontextprotocol/timeout":1,"io.modelcontextprotocol/session":{"id":7},"mcp.dev/cancel":true"#;
    for revision in since(Revision::V2025_06_18) {
        let mut pair = pair(revision);
        let mut call = |meta: Option<&str>| {
            let mut options = barewire::client::RequestOptions::default();
            options.meta = meta.map(|meta| Json::new(meta).unwrap());
            let now = pair.now();
            pair.client.machine_mut().call_tool(now, "t", None, options).unwrap();
            pair.drive().unwrap();
            let events = pair.take_server_events();
            let [server::Event::ToolCalled { request, context, .. }] = &events[..] else {
                panic!("{events:?}")
            };
            let seen = context.meta.clone();
            let meta = meta.unwrap_or("{}");
            let result = format!(r#"{{"content":[],"_meta":{meta}}}"#);
            pair.server.machine_mut().respond(*request, &result).unwrap();
            pair.drive().unwrap();
            let events = pair.take_client_events();
            let [client::Event::ResponseReceived { result, .. }] = &events[..] else { panic!("{events:?}") };
            (context.clone(), seen, result.clone())
        };
        let (plain, _, _) = call(None);
        let (mut with, seen, result) = call(Some(&format!("{{{own}}}")));
        assert!(seen.unwrap().as_str().contains(own));
        assert!(result.as_str().contains(own));
        with.meta = plain.meta.clone();
        assert_eq!(with, plain, "{revision}");
    }
}

/// Every number in the sources, tests left out, that is written like an error code of JSON-RPC.
fn codes_in(path: &Path, codes: &mut BTreeSet<i64>) {
    if path.is_dir() && !path.ends_with("tests") {
        for entry in fs::read_dir(path).unwrap() {
            codes_in(&entry.unwrap().path(), codes);
        }
    } else if !path.ends_with("tests.rs")
        && let Ok(text) = fs::read_to_string(path)
    {
        let source = text.split("#[cfg(test)]").next().unwrap_or_default();
        let digits = |rest: &str| rest.get(..3).and_then(|digits| digits.parse::<i64>().ok());
        codes.extend(source.split("-32").skip(1).filter_map(digits).map(|digits| -32_000 - digits));
    }
}

// proves: BASE-032 BASE-033 BASE-035
#[test]
fn only_defined_codes_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut codes = BTreeSet::new();
    for folder in ["core/src", "bindings-python/src", "bindings-python/python"] {
        codes_in(&root.join(folder), &mut codes);
    }
    // The end of the specification's own range, of which nothing goes out as it is.
    assert!(codes.remove(&-32099));
    // -32002 and -32042 are those of older revisions.
    // The end of a cancelled request on HTTP, in none of the ranges that anybody keeps.
    assert!(codes.remove(&-32800));
    let defined = [-32700, -32603, -32602, -32601, -32600, -32042, -32022, -32021, -32020, -32002];
    assert_eq!(codes, BTreeSet::from(defined));
    // Nor does an application send one that the specification keeps for itself.
    let mut server = Opposite::server(server_config());
    for code in -32099..=-32020 {
        server.hear_modern(2, "tools/call", r#""name":"t""#);
        let events = server.events();
        let [server::Event::ToolCalled { request, .. }] = &events[..] else { panic!("{events:?}") };
        server.stdio.machine_mut().respond_error(*request, RpcError::new(code, "m")).unwrap();
        let sent = server.line()["error"]["code"].as_i64().unwrap();
        let is_defined = [-32020, -32021, -32022].contains(&code);
        assert_eq!(sent, if is_defined { code } else { -32603 });
    }
}

// proves: BASE-036
#[test]
fn codes_of_the_specification_mean_what_it_says() {
    let mut server = Opposite::server(server_config());
    let meta = |version: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{{"_meta":{{"io.modelcontextprotocol/protocolVersion":"{version}","io.modelcontextprotocol/clientCapabilities":{{}}}}}}}}"#
        )
    };
    // Of all that the server refuses by itself, only an unknown version has the code of unknown versions.
    server.hear(&meta("2031-01-01"));
    let refused = server.line();
    assert_eq!(refused["error"]["code"], -32022);
    assert_eq!(refused["error"]["data"]["requested"], "2031-01-01");
    assert_eq!(refused["error"]["data"]["supported"].as_array().map(Vec::len), Some(5));
    server.hear(&meta("2026-07-28"));
    assert!(server.line()["result"]["tools"].is_array());
    let others = [
        ("unknown/method", "", -32601),
        ("tools/call", r#""name":"unknown""#, -32602),
        ("tools/call", r#""name":7"#, -32602),
        ("tools/call", r#""name":"t","requestState":"forged""#, -32602),
        ("tools/list", r#""cursor":"forged""#, -32602),
        ("subscriptions/listen", r#""notifications":[]"#, -32602),
    ];
    for (method, params, code) in others {
        server.hear_modern(2, method, params);
        assert_eq!(server.line()["error"]["code"], code, "{method} {params}");
    }
    // And only a capability that is not declared has the code of those.
    server.hear_modern(3, "tools/call", r#""name":"t""#);
    let events = server.events();
    let [server::Event::ToolCalled { request, .. }] = &events[..] else { panic!("{events:?}") };
    let question =
        InputQuestion { key: "q".into(), kind: InputKind::Roots, params: Json::new("{}").unwrap() };
    let machine = server.stdio.machine_mut();
    let Err(Error::PeerIncompatible(PeerIncompatible::MissingCapability(missing))) =
        machine.require_input(Instant::ZERO, *request, vec![question], None)
    else {
        panic!("roots were not declared")
    };
    machine.respond_missing_capability(*request, missing.as_str()).unwrap();
    let refused = server.line();
    assert_eq!(refused["error"]["code"], -32021);
    assert_eq!(refused["error"]["data"]["requiredCapabilities"], serde_json::json!({"roots":{}}));
}

/// Messages behind their lengths: a transport of one's own.
fn carry<A: Machine, B: Machine>(from: &mut A, to: &mut B, sent: &mut Vec<String>) -> bool {
    let mut wire = Vec::new();
    while let Some(transmit) = from.poll_transmit() {
        if let Transmit::Message { text, .. } = transmit {
            wire.extend(u32::try_from(text.len()).unwrap().to_be_bytes());
            wire.extend(text.as_bytes());
        }
    }
    let moved = !wire.is_empty();
    let mut rest = &wire[..];
    while let Some((length, behind)) = rest.split_first_chunk::<4>() {
        let (text, behind) = behind.split_at(u32::from_be_bytes(*length) as usize);
        let text = std::str::from_utf8(text).unwrap();
        sent.push(text.to_owned());
        to.handle_input(Instant::ZERO, Input::Message { text, facts: Facts::default() }).unwrap();
        rest = behind;
    }
    moved
}

// proves: BASE-175 BASE-176 BASE-177
#[test]
fn a_transport_of_ones_own_carries_the_same_messages() {
    for revision in Revision::ALL {
        let mut on_lines = pair(revision);
        let mut config = client_config();
        config.revisions = Revisions::of(&[revision]);
        let mut client = Client::new(config, Instant::ZERO).unwrap();
        let mut server = Server::new(server_config()).unwrap();
        server.add_tool(r#"{"name":"t","inputSchema":{"type":"object"}}"#).unwrap();
        let (mut of_client, mut of_server) = (Vec::new(), Vec::new());
        let mut drive = |client: &mut Client, server: &mut Server| {
            while carry(client, server, &mut of_client) | carry(server, client, &mut of_server) {}
        };
        drive(&mut client, &mut server);
        assert_eq!(client.revision(), Some(revision));
        client.call_tool(Instant::ZERO, "t", None, Default::default()).unwrap();
        drive(&mut client, &mut server);
        let called = std::iter::from_fn(|| server.poll_event()).find_map(|event| match event {
            server::Event::ToolCalled { request, .. } => Some(request),
            _ => None,
        });
        server.respond(called.unwrap(), "{}").unwrap();
        drive(&mut client, &mut server);
        let (_, running) = call(&mut on_lines);
        on_lines.server.machine_mut().respond(running, "{}").unwrap();
        on_lines.drive().unwrap();
        assert!(of_server.len() >= 2);
        assert_eq!(of_client, on_lines.client_lines.lines().collect::<Vec<_>>());
        assert_eq!(of_server, on_lines.server_lines.lines().collect::<Vec<_>>());
    }
}
