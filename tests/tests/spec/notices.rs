//! What servers tell unasked: changes of lists and resources, log messages

use barewire::client::{Listing, RequestOptions};
use barewire::server::Notification;
use barewire::{Change, ListKind, LogLevel, SubscriptionFilter};

use super::*;

/// A pair whose server offers a definition of each kind.
fn offering(revision: Revision) -> Pair {
    let mut config = client_config();
    config.revisions = Revisions::of(&[revision]);
    let mut pair = Pair::new(config, server_config(), Link::Whole, Random::new(1));
    add(&mut pair, "1");
    pair.drive().unwrap();
    pair.take_client_events();
    pair.take_server_events();
    pair
}

fn add(pair: &mut Pair, number: &str) {
    let server = pair.server.machine_mut();
    server.add_tool(&format!(r#"{{"name":"{number}","inputSchema":{{"type":"object"}}}}"#)).unwrap();
    server.add_resource(&format!(r#"{{"uri":"a:{number}","name":"n"}}"#)).unwrap();
    server.add_prompt(&format!(r#"{{"name":"{number}"}}"#)).unwrap();
}

/// The lists that the client is told have changed.
fn told(pair: &mut Pair) -> Vec<ListKind> {
    let events = pair.take_client_events();
    let kinds = events.into_iter().filter_map(|event| match event {
        client::Event::ListChanged { kind, .. } => Some(kind),
        _ => None,
    });
    kinds.collect()
}

// proves: FEAT-113 FEAT-114 FEAT-151 FEAT-152
#[test]
fn a_change_of_a_list_is_told_to_those_who_watch_it() {
    for revision in Revision::ALL {
        let mut pair = offering(revision);
        add(&mut pair, "2");
        pair.drive().unwrap();
        let is_legacy = revision.era() == Era::Legacy;
        let unasked = told(&mut pair);
        assert_eq!(unasked, if is_legacy { ListKind::ALL.to_vec() } else { Vec::new() }, "{revision}");
        if is_legacy {
            continue;
        }
        for (number, kind) in (3..).zip(ListKind::ALL) {
            let mut filter = SubscriptionFilter::default();
            filter.set_list(kind, true);
            let now = pair.now();
            let watched = pair.client.machine_mut().subscribe(now, filter).unwrap();
            pair.drive().unwrap();
            add(&mut pair, &number.to_string());
            pair.drive().unwrap();
            assert_eq!(told(&mut pair), [kind]);
            pair.client.machine_mut().unsubscribe(now, watched).unwrap();
            pair.drive().unwrap();
        }
    }
}

// proves: FEAT-115 FEAT-118
#[test]
fn a_change_of_a_resource_is_told_to_those_who_watch_it() {
    for revision in Revision::ALL {
        let mut pair = offering(revision);
        let updates = |pair: &mut Pair| {
            for uri in ["a:1", "a:other"] {
                pair.server.machine_mut().publish(&Change::Resource(uri.into()));
            }
            pair.drive().unwrap();
            let events = pair.take_client_events();
            let uris = events.into_iter().filter_map(|event| match event {
                client::Event::ResourceUpdated { uri, .. } => Some(String::from(uri)),
                _ => None,
            });
            uris.collect::<Vec<_>>()
        };
        assert_eq!(updates(&mut pair), [""; 0]);
        let filter = SubscriptionFilter { resource_uris: vec!["a:1".into()], ..Default::default() };
        let now = pair.now();
        let watched = pair.client.machine_mut().subscribe(now, filter).unwrap();
        pair.drive().unwrap();
        assert_eq!(updates(&mut pair), ["a:1"], "{revision}");
        pair.client.machine_mut().unsubscribe(now, watched).unwrap();
        pair.drive().unwrap();
        assert_eq!(updates(&mut pair), [""; 0], "{revision}");
    }
}

// proves: FEAT-109
#[test]
fn a_client_copes_with_any_mix_of_notices() {
    for revision in Revision::ALL {
        for (subscribe, list_changed) in [(false, false), (false, true), (true, false), (true, true)] {
            let capabilities =
                format!(r#"{{"resources":{{"subscribe":{subscribe},"listChanged":{list_changed}}}}}"#);
            let mut client = Opposite::client_of(revision, &capabilities);
            let filter = SubscriptionFilter {
                resources: true,
                resource_uris: vec!["a:b".into()],
                ..Default::default()
            };
            client.stdio.machine_mut().subscribe(Instant::ZERO, filter).unwrap();
            let lines = client.lines();
            // Older revisions let a client try; the newest tells the server the filter.
            if [Revision::V2025_06_18, Revision::V2025_11_25].contains(&revision) {
                assert_eq!(lines.len(), usize::from(subscribe), "{revision} {capabilities}");
            }
            client.request("resources/list", "{}");
        }
    }
}

fn log(pair: &mut Pair, running: RequestHandle, level: LogLevel) -> bool {
    let message = Notification::Log { level, logger: None, data: "1" };
    let sent = pair.server.machine_mut().notify(running, message).unwrap();
    pair.drive().unwrap();
    let events = pair.take_client_events();
    let heard = events.iter().any(|event| matches!(event, client::Event::LogReceived { .. }));
    assert_eq!(sent, heard);
    heard
}

// proves: FEAT-190 FEAT-191 FEAT-195
#[test]
fn messages_come_at_the_level_that_was_set_and_above() {
    for revision in Revision::ALL {
        let mut pair = pair(revision);
        let is_legacy = revision.era() == Era::Legacy;
        let (_, running) = call(&mut pair);
        // Nobody has set a level yet.
        assert_eq!(log(&mut pair, running, LogLevel::Info), is_legacy);
        assert!(!log(&mut pair, running, LogLevel::Debug));
        for set in LogLevel::ALL {
            let now = pair.now();
            let mut options = RequestOptions::default();
            if is_legacy {
                pair.client.machine_mut().set_log_level(now, set).unwrap();
            } else {
                options.log_level = Some(set);
            }
            pair.client.machine_mut().call_tool(now, "t", None, options).unwrap();
            pair.drive().unwrap();
            let events = pair.take_server_events();
            let [server::Event::ToolCalled { request, .. }] = &events[..] else { panic!("{events:?}") };
            for level in LogLevel::ALL {
                assert_eq!(log(&mut pair, *request, level), level >= set, "{revision} {set:?} {level:?}");
            }
        }
    }
}

// proves: FEAT-192 FEAT-197
#[test]
fn an_unknown_level_is_refused() {
    let mut server = Opposite::server(server_config());
    server.hear(
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#,
    );
    server.lines();
    server.hear(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    for level in [r#""loud""#, r#""Info""#, "7", "null"] {
        server.hear(&format!(
            r#"{{"jsonrpc":"2.0","id":2,"method":"logging/setLevel","params":{{"level":{level}}}}}"#
        ));
        assert_eq!(server.line()["error"]["code"], -32602, "{level}");
    }
    let mut server = Opposite::server(server_config());
    for level in [r#""loud""#, r#""Info""#, "7"] {
        server.hear(&format!(
            r#"{{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{{"name":"t","_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{{}},"io.modelcontextprotocol/logLevel":{level}}}}}}}"#
        ));
        assert_eq!(server.line()["error"]["code"], -32602, "{level}");
        assert_eq!(server.events(), []);
    }
}

// proves: FEAT-004 FEAT-112 FEAT-150
#[test]
fn lists_may_be_empty_and_change_at_any_time() {
    for revision in Revision::ALL {
        let mut pair = offering(revision);
        for listing in [Listing::Tools, Listing::Resources, Listing::Prompts] {
            let count = |pair: &mut Pair| {
                let now = pair.now();
                pair.client.machine_mut().list(now, listing, None, RequestOptions::default()).unwrap();
                pair.drive().unwrap();
                let events = pair.take_client_events();
                let result = events.iter().find_map(|event| match event {
                    client::Event::ResponseReceived { result, .. } => Some(result.clone()),
                    _ => None,
                });
                let result: Value = serde_json::from_str(result.unwrap().as_str()).unwrap();
                ["tools", "resources", "prompts"]
                    .iter()
                    .find_map(|member| result.get(member)?.as_array().map(Vec::len))
            };
            assert_eq!(count(&mut pair), Some(1));
            let server = pair.server.machine_mut();
            match listing {
                Listing::Tools => server.remove_tool("1"),
                Listing::Resources => server.remove_resource("a:1"),
                _ => server.remove_prompt("1"),
            }
            .unwrap();
            assert_eq!(count(&mut pair), Some(0), "{revision}");
        }
    }
}
