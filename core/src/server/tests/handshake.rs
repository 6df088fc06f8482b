use super::*;
use crate::revision::Revisions;

// proves: BASE-092 BASE-118 BASE-119 FEAT-001 FEAT-108 FEAT-146 FEAT-168 FEAT-187
#[test]
fn the_same_version_is_answered_or_the_newest_legacy_one_offered() {
    let cases = [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("2026-07-28", "2025-11-25"),
        ("1.0", "2025-11-25"),
    ];
    for (asked, answered) in cases {
        let reply = Bench::new().reply(&initialize("\"x\"", asked, "{}"));
        let start = format!(
            r#"{{"jsonrpc":"2.0","id":"x","result":{{"protocolVersion":"{answered}","capabilities":{{"#
        );
        assert!(reply.starts_with(&start), "{reply}");
        for capability in ["tools", "resources", "prompts", "logging"] {
            assert!(reply.contains(&format!(r#""{capability}":{{"#)), "{reply}");
        }
        assert_eq!(reply.contains("completions"), asked != "2024-11-05");
        assert!(reply.ends_with(r#""serverInfo":{"name":"srv","version":"1"}}}"#), "{reply}");
    }
}

#[test]
fn a_session_opens_with_initialized_once() {
    let mut bench = Bench::new();
    bench.reply(&initialize("0", "2025-06-18", r#"{"roots":{}}"#));
    // Requests may overtake the notification.
    bench.reply(&legacy("1", "ping", ""));
    let early = bench.call(&legacy("2", "tools/call", r#""name":"echo""#));
    bench.recv(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    match bench.event() {
        Event::SessionOpened { revision, client, .. } => {
            assert_eq!(revision, Revision::V2025_06_18);
            assert_eq!(client.unwrap().as_str(), r#"{"name":"probe","version":"1"}"#);
        }
        other => panic!("{other:?}"),
    }
    bench.recv(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    assert_eq!(bench.events(), []);
    bench.server.respond(early, TEXT_RESULT).unwrap();
    assert_eq!(bench.sent_one(), format!(r#"{{"jsonrpc":"2.0","id":2,"result":{TEXT_RESULT}}}"#));
    let again = bench.reply(&initialize("3", "2025-06-18", "{}"));
    assert_eq!(error_of(&again), (-32600, Some("3".into())));
}

#[test]
fn a_handshake_without_a_version_is_refused_and_can_be_made_again() {
    let mut bench = Bench::new();
    let refused = bench.reply(r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}"#);
    assert_eq!(error_of(&refused), (-32602, Some("0".into())));
    assert!(bench.reply(&initialize("0", "2025-06-18", "{}")).contains("\"result\""));
}

// proves: BASE-415
#[test]
fn before_a_handshake_only_ping_is_served() {
    let mut bench = Bench::new();
    assert_eq!(bench.reply(&legacy("1", "ping", "")), r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    for method in ["tools/list", "server/discover", "unknown/method"] {
        let reply = bench.reply(&legacy("2", method, ""));
        assert_eq!(error_of(&reply), (-32602, Some("2".into())), "{reply}");
        assert!(reply.contains("io.modelcontextprotocol/protocolVersion"), "{reply}");
        assert!(reply.contains(r#""supported":["2026-07-28","2025-11-25""#), "{reply}");
    }
}

#[test]
fn a_legacy_only_server_tells_known_methods_from_unknown_ones() {
    let mut config = config();
    config.revisions = Revisions::LEGACY;
    let mut bench = Bench::with(config);
    assert_eq!(error_of(&bench.reply(&legacy("1", "tools/list", ""))).0, -32600);
    assert_eq!(error_of(&bench.reply(&legacy("1", "server/discover", ""))).0, -32601);
    assert!(bench.reply(&legacy("1", "ping", "")).contains("result"));
    let modern = bench.reply(&modern("2", "server/discover", ""));
    assert_eq!(error_of(&modern), (-32022, Some("2".into())));
    assert!(modern.contains(
        r#""supported":["2025-11-25","2025-06-18","2025-03-26","2024-11-05"],"requested":"2026-07-28""#
    ));
}

#[test]
fn a_modern_only_server_names_its_versions_to_a_legacy_client() {
    let mut config = config();
    config.revisions = Revisions::MODERN;
    let mut bench = Bench::with(config);
    let reply = bench.reply(&initialize("0", "2025-11-25", "{}"));
    assert_eq!(error_of(&reply), (-32022, Some("0".into())));
    assert!(reply.contains(r#""supported":["2026-07-28"],"requested":"2025-11-25""#), "{reply}");
    assert!(reply.contains("supported: 2026-07-28"), "{reply}");
    assert_eq!(error_of(&bench.reply(&legacy("1", "ping", ""))).0, -32602);
}

#[test]
fn a_server_of_no_revision_is_refused() {
    let mut config = config();
    config.revisions = Revisions::NONE;
    assert_eq!(Server::new(config).unwrap_err().code(), 301);
}
