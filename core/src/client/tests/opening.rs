//! Probe, handshake, correction, fresh start, stored verdicts.

use super::*;
use crate::client::DisconnectReason;
use crate::error::{CloseReason, Error, PeerIncompatible, PeerMisbehaved};
use crate::revision::{Capability, EraVerdict};
use crate::subscription::SubscriptionFilter;

const MODERN: Revision = Revision::V2026_07_28;
const NEWEST_LEGACY: Revision = Revision::V2025_11_25;

fn initialize_result(id: &str, version: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"result":{{"protocolVersion":"{version}","capabilities":{{"tools":{{}}}},"serverInfo":{{"name":"s","version":"1"}},"instructions":"be kind"}}}}"#
    )
}

/// The client after its probe was answered by `reply` in place of `$`.
fn probed(reply: &str) -> Peer {
    let mut peer = Peer::new(config());
    let probe = id_of(&peer.sent_one());
    peer.receive(&reply.replace('$', &probe));
    peer
}

fn assert_initializes(peer: &mut Peer, version: Revision) -> String {
    let initialize = peer.sent_one();
    assert_eq!(method_of(&initialize), "initialize");
    assert_eq!(member(&initialize, &["params", "protocolVersion"]), Some(format!("\"{version}\"")));
    id_of(&initialize)
}

fn disconnected(peer: &mut Peer) -> DisconnectReason {
    match peer.events().pop() {
        Some(Event::Disconnected { reason }) => reason,
        other => panic!("{other:?}"),
    }
}

// proves: BASE-113 BASE-169 BASE-053 BASE-054 BASE-055
#[test]
fn a_dual_era_client_probes_first_with_an_id_of_another_kind() {
    let mut peer = Peer::new(config());
    let held = peer.request("tools/list", "{}");
    let probe = peer.sent_one();
    assert_eq!(method_of(&probe), "server/discover");
    assert!(id_of(&probe).starts_with('"'));
    let meta = |key: &str| member(&probe, &["params", "_meta", key]);
    assert_eq!(meta("io.modelcontextprotocol/protocolVersion"), Some(format!("\"{MODERN}\"")));
    assert!(meta("io.modelcontextprotocol/clientCapabilities").is_some());
    assert_eq!(meta("io.modelcontextprotocol/clientInfo"), Some(r#"{"name":"test","version":"1"}"#.into()));
    peer.receive(&format!(
        r#"{{"jsonrpc":"2.0","id":{},"result":{{"resultType":"complete","supportedVersions":["2027-01-01","{MODERN}"],"capabilities":{{"tools":{{}}}},"instructions":"hi","_meta":{{"io.modelcontextprotocol/serverInfo":{{"name":"f","version":"1"}}}}}}}}"#,
        id_of(&probe)
    ));
    let Event::Ready { revision, server, capabilities, instructions } = peer.event() else { panic!() };
    assert_eq!((revision, instructions.as_deref()), (MODERN, Some("hi")));
    assert_eq!(server.unwrap().as_str(), r#"{"name":"f","version":"1"}"#);
    assert!(capabilities.has(Capability::Tools));
    let list = peer.sent_one();
    assert_eq!((method_of(&list), id_of(&list)), ("tools/list".into(), held.number().to_string()));
    assert_eq!(peer.client.era_verdict(), Some(EraVerdict { revision: MODERN }));
}

// proves: BASE-021 BASE-090 BASE-091 BASE-093 BASE-117 BASE-103
#[test]
fn the_handshake_settles_a_legacy_connection() {
    let mut config = config();
    config.revisions = Revisions::LEGACY;
    let mut peer = Peer::new(config);
    let held = peer.request("tools/list", "{}");
    let id = assert_initializes(&mut peer, NEWEST_LEGACY);
    peer.receive(&initialize_result(&id, "2025-06-18"));
    let sent = peer.sent();
    assert_eq!(methods(&sent), ["notifications/initialized", "tools/list"]);
    assert_eq!(id_of(&sent[1]), held.number().to_string());
    let Event::Ready { revision, instructions, .. } = peer.event() else { panic!() };
    assert_eq!((revision, instructions.as_deref()), (Revision::V2025_06_18, Some("be kind")));
    assert_eq!(peer.client.revision(), Some(Revision::V2025_06_18));
    assert!(peer.client.poll_timeout().is_some(), "the request has a deadline");
}

// proves: FEAT-241 FEAT-281 FEAT-299
#[test]
fn the_handshake_declares_what_the_proposed_revision_knows() {
    let declared = |revision| {
        let mut config = config();
        config.revisions = Revisions::of(&[revision]);
        member(&Peer::new(config).sent_one(), &["params", "capabilities"]).unwrap()
    };
    let roots_and_sampling = r#"{"roots":{"listChanged":true},"sampling":{}}"#;
    assert_eq!(declared(Revision::V2024_11_05), roots_and_sampling);
    assert_eq!(declared(Revision::V2025_03_26), roots_and_sampling);
    assert_eq!(
        declared(Revision::V2025_06_18),
        r#"{"roots":{"listChanged":true},"sampling":{},"elicitation":{}}"#
    );
    assert_eq!(declared(NEWEST_LEGACY), ALL_CLIENT_CAPABILITIES);
}

// proves: BASE-172 BASE-173
#[test]
fn any_answer_that_is_not_modern_falls_back() {
    for reply in [
        r#"{"jsonrpc":"2.0","id":$,"error":{"code":-32601,"message":"Method not found"}}"#,
        r#"{"jsonrpc":"2.0","id":$,"error":{"code":-32602,"message":"Invalid","data":""}}"#,
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"not initialized"}}"#,
        r#"{"jsonrpc":"2.0","error":{"code":-32600,"message":"not initialized"}}"#,
        r#"{"jsonrpc":"2.0","id":$,"error":{"message":"what?"}}"#,
        r#"{"jsonrpc":"2.0","id":$,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":$,"result":null}"#,
        r#"{"jsonrpc":"2.0","id":$}"#,
    ] {
        let mut peer = probed(reply);
        let id = assert_initializes(&mut peer, NEWEST_LEGACY);
        peer.receive(&initialize_result(&id, NEWEST_LEGACY.as_str()));
        assert_eq!(peer.client.revision(), Some(NEWEST_LEGACY), "{reply}");
    }
}

// proves: BASE-126 BASE-171
#[test]
fn modern_errors_never_fall_back() {
    let mut peer = probed(
        r#"{"jsonrpc":"2.0","id":$,"error":{"code":-32022,"message":"no","data":{"supported":["2027-01-01"],"requested":"2026-07-28"}}}"#,
    );
    assert_eq!(peer.sent(), [""; 0]);
    let DisconnectReason::Failed(Error::PeerIncompatible(PeerIncompatible::NoCommonRevision {
        theirs, ..
    })) = disconnected(&mut peer)
    else {
        panic!()
    };
    assert_eq!(theirs, ["2027-01-01".into()]);
    for code in [-32020, -32021] {
        let reply = r#"{"jsonrpc":"2.0","id":$,"error":{"code":CODE,"message":"no"}}"#;
        let mut peer = probed(&reply.replace("CODE", &code.to_string()));
        assert_eq!(peer.sent(), [""; 0]);
        assert!(matches!(disconnected(&mut peer), DisconnectReason::Refused(error) if error.code == code));
        let again = peer.input(Input::Restarted);
        assert_eq!(again, Err(Error::Closed(CloseReason::HandshakeFailed)));
    }
}

#[test]
fn a_server_that_lists_only_legacy_revisions_is_used_at_one_of_them() {
    for reply in [
        r#"{"jsonrpc":"2.0","id":$,"result":{"supportedVersions":["2025-03-26","2024-11-05"],"capabilities":{}}}"#,
        r#"{"jsonrpc":"2.0","id":$,"error":{"code":-32022,"message":"no","data":{"supported":["2025-03-26"]}}}"#,
    ] {
        let mut peer = probed(reply);
        assert_initializes(&mut peer, Revision::V2025_03_26);
    }
}

#[test]
fn a_silent_server_is_legacy_when_the_probe_timer_ends_and_its_late_answer_is_dropped() {
    let mut config = config();
    config.timeouts.probe = 2_000;
    let mut peer = Peer::new(config);
    let probe = id_of(&peer.sent_one());
    peer.advance(1_999);
    assert_eq!(peer.sent(), [""; 0]);
    peer.advance(1);
    let id = assert_initializes(&mut peer, NEWEST_LEGACY);
    let late = format!(
        r#"{{"jsonrpc":"2.0","id":{probe},"result":{{"supportedVersions":["{MODERN}"],"capabilities":{{}}}}}}"#
    );
    peer.receive(&late);
    assert_eq!(peer.events(), []);
    peer.receive(&initialize_result(&id, NEWEST_LEGACY.as_str()));
    peer.sent();
    peer.events();
    peer.receive(&late);
    assert_eq!((peer.events(), peer.sent()), (Vec::new(), Vec::new()));
}

#[test]
fn a_slow_modern_server_is_probed_once_more() {
    let mut peer = Peer::new(config());
    let first = id_of(&peer.sent_one());
    peer.advance(5_000);
    let id = assert_initializes(&mut peer, NEWEST_LEGACY);
    let refusal =
        r#"{"code":-32022,"message":"no","data":{"supported":["2026-07-28"],"requested":"2025-11-25"}}"#;
    peer.fail(&id, refusal);
    let probe = peer.sent_one();
    assert_eq!(method_of(&probe), "server/discover");
    assert_ne!(id_of(&probe), first);
    // A second correction would go round in circles.
    let mut again = Peer { client: peer.client, now: peer.now };
    again.advance(5_000);
    let id = assert_initializes(&mut again, NEWEST_LEGACY);
    again.fail(&id, refusal);
    assert!(matches!(disconnected(&mut again), DisconnectReason::Refused(_)));
}

#[test]
fn the_probe_again_settles_modern() {
    let mut peer = Peer::new(config());
    peer.sent();
    peer.advance(5_000);
    let id = id_of(&peer.sent_one());
    peer.fail(&id, r#"{"code":-32602,"message":"no","data":{"supported":["2026-07-28"]}}"#);
    let probe = id_of(&peer.sent_one());
    peer.answer(&probe, r#"{"supportedVersions":["2026-07-28"],"capabilities":{}}"#);
    assert_eq!(peer.client.revision(), Some(MODERN));
}

// proves: BASE-121 BASE-122 BASE-116
#[test]
fn a_revision_that_is_not_ours_ends_the_connection() {
    for version in ["2024-10-07", "2026-07-28", "nonsense"] {
        let mut config = config();
        config.revisions = Revisions::LEGACY;
        let mut peer = Peer::new(config);
        let lost = peer.request("ping", "{}");
        let id = id_of(&peer.sent_one());
        let outcome =
            peer.input(Input::Message { text: &initialize_result(&id, version), facts: Facts::default() });
        assert_eq!(outcome, Err(Error::Closed(CloseReason::HandshakeFailed)));
        let events = peer.events();
        assert_eq!(events[0], failed(lost, FailureReason::ConnectionLost));
        let Event::Disconnected { reason: DisconnectReason::Failed(error) } = &events[1] else { panic!() };
        assert_eq!(error.code(), 301);
        assert!(matches!(peer.client.poll_transmit(), Some(Transmit::Close)));
    }
}

#[test]
fn a_counter_offer_by_error_is_taken_once_for_each_revision() {
    let mut config = config();
    config.revisions = Revisions::LEGACY;
    let mut peer = Peer::new(config);
    let id = id_of(&peer.sent_one());
    let offer =
        r#"{"code":-32602,"message":"Unsupported protocol version","data":{"supported":["2024-11-05"]}}"#;
    peer.fail(&id, offer);
    let id = assert_initializes(&mut peer, Revision::V2024_11_05);
    peer.fail(&id, offer);
    assert!(matches!(disconnected(&mut peer), DisconnectReason::Refused(_)));
}

// proves: BASE-396 BASE-101
#[test]
fn a_silent_handshake_ends_without_a_cancellation() {
    let mut config = config();
    config.revisions = Revisions::LEGACY;
    let mut peer = Peer::new(config);
    peer.sent();
    peer.advance(30_000);
    assert_eq!(disconnected(&mut peer), DisconnectReason::HandshakeTimedOut);
    assert_eq!(peer.sent(), [""; 0]);
    assert_eq!(peer.client.poll_timeout(), None);
}

#[test]
fn an_unusable_handshake_is_the_servers_fault() {
    for reply in [
        r#"{"jsonrpc":"2.0","id":$,"result":{"capabilities":{}}}"#,
        r#"{"jsonrpc":"2.0","id":$,"result":[]}"#,
        r#"{"jsonrpc":"2.0","id":$}"#,
    ] {
        let mut config = config();
        config.revisions = Revisions::LEGACY;
        let mut peer = Peer::new(config);
        let id = id_of(&peer.sent_one());
        peer.receive(&reply.replace('$', &id));
        let invalid = DisconnectReason::Failed(PeerMisbehaved::InvalidHandshake.into());
        assert_eq!(disconnected(&mut peer), invalid, "{reply}");
    }
}

#[test]
fn a_server_that_dies_on_the_probe_is_started_afresh_once() {
    let mut peer = Peer::new(config());
    let held = peer.request("ping", "{}");
    peer.input(Input::Closed).unwrap();
    assert_eq!(peer.event(), Event::RestartRequired);
    assert!(peer.client.poll_transmit().is_none(), "what waited was for the dead process");
    peer.input(Input::Lost).unwrap();
    assert_eq!(peer.events(), []);
    peer.input(Input::Restarted).unwrap();
    let id = assert_initializes(&mut peer, NEWEST_LEGACY);
    peer.receive(&initialize_result(&id, NEWEST_LEGACY.as_str()));
    assert_eq!(methods(&peer.sent()), ["notifications/initialized", "ping"]);
    assert!(matches!(peer.event(), Event::Ready { .. }));
    peer.answer(&held.number().to_string(), "{}");
    assert_eq!(peer.event(), answered(held, "{}"));

    let mut peer = Peer::new(config());
    peer.input(Input::Closed).unwrap();
    peer.input(Input::Restarted).unwrap();
    peer.input(Input::Closed).unwrap();
    assert_eq!(disconnected(&mut peer), DisconnectReason::Closed(CloseReason::ByPeer));

    let mut peer = Peer::new(config());
    peer.input(Input::Closed).unwrap();
    peer.input(Input::Restarted).unwrap();
    let id = id_of(&peer.sent_one());
    peer.fail(&id, r#"{"code":-32022,"message":"no","data":{"supported":["2026-07-28"]}}"#);
    assert_eq!(methods(&peer.sent()), ["server/discover"]);
    peer.input(Input::Closed).unwrap();
    assert_eq!(disconnected(&mut peer), DisconnectReason::Closed(CloseReason::ByPeer));
}

// proves: BASE-130
#[test]
fn a_modern_only_client_probes_and_does_not_fall_back() {
    let mut config = config();
    config.revisions = Revisions::MODERN;
    let mut peer = Peer::new(config.clone());
    let probe = id_of(&peer.sent_one());
    peer.fail(&probe, r#"{"code":-32601,"message":"Method not found"}"#);
    assert!(matches!(disconnected(&mut peer), DisconnectReason::Failed(error) if error.code() == 301));
    let mut peer = Peer::new(config);
    peer.advance(29_999);
    assert_eq!(peer.events(), [], "silence proves nothing early");
    peer.advance(1);
    assert_eq!(disconnected(&mut peer), DisconnectReason::HandshakeTimedOut);
}

// proves: BASE-128 BASE-111
#[test]
fn a_stored_verdict_skips_the_probe() {
    let mut legacy = config();
    legacy.era = Some(EraVerdict { revision: Revision::V2025_03_26 });
    let mut peer = Peer::new(legacy);
    assert_initializes(&mut peer, NEWEST_LEGACY);

    let mut other = config();
    other.revisions = Revisions::LEGACY;
    other.era = EraVerdict::from_text("2026-07-28");
    assert_initializes(&mut Peer::new(other), NEWEST_LEGACY);

    let mut modern = config();
    modern.era = EraVerdict::from_text("2026-07-28");
    let mut peer = Peer::new(modern);
    assert!(matches!(peer.event(), Event::Ready { revision: MODERN, .. }));
    assert_eq!(peer.client.server_capabilities(), None, "nobody has said");
    let (request, id) = peer.call();
    peer.answer(&id, r#"{"resultType":"complete","content":[]}"#);
    assert!(matches!(peer.event(), Event::ResponseReceived { request: settled, .. } if settled == request));
    // Confirmed: an error is the request's own now.
    let (request, id) = peer.call();
    peer.fail(&id, r#"{"code":-32602,"message":"no"}"#);
    assert!(matches!(peer.event(), Event::RequestFailed { request: settled, .. } if settled == request));
}

// proves: BASE-128
#[test]
fn a_stored_verdict_that_proves_wrong_leads_to_a_probe_and_loses_nothing() {
    let mut modern = config();
    modern.era = EraVerdict::from_text("2026-07-28");
    let mut peer = Peer::new(modern);
    peer.events();
    let (first, id) = peer.call();
    let (second, other) = peer.call();
    peer.fail(&id, r#"{"code":-32600,"message":"not initialized"}"#);
    let probe = peer.sent_one();
    assert_eq!(method_of(&probe), "server/discover");
    peer.fail(&other, r#"{"code":-32600,"message":"not initialized"}"#);
    peer.fail(&id_of(&probe), r#"{"code":-32601,"message":"no such method"}"#);
    let initialize = assert_initializes(&mut peer, NEWEST_LEGACY);
    assert_eq!(peer.events(), []);
    peer.receive(&initialize_result(&initialize, NEWEST_LEGACY.as_str()));
    let sent = peer.sent();
    assert_eq!(methods(&sent), ["notifications/initialized", "tools/call", "tools/call"]);
    assert!(matches!(peer.event(), Event::Ready { revision: NEWEST_LEGACY, .. }));
    for message in &sent[1..] {
        assert!(![&id, &other].contains(&&id_of(message)), "ids are not used twice");
        assert_eq!(member(message, &["params"]), Some(r#"{"name":"t","arguments":{}}"#.into()));
        peer.answer(&id_of(message), r#"{"content":[]}"#);
    }
    let settled = peer.events();
    assert_eq!(settled.len(), 2);
    for request in [first, second] {
        assert!(settled.contains(&answered(request, r#"{"content":[]}"#)));
    }
}

#[test]
fn a_revision_that_is_no_longer_served_speaks_against_a_stored_verdict() {
    let mut modern = config();
    modern.era = EraVerdict::from_text("2026-07-28");
    let mut peer = Peer::new(modern);
    peer.events();
    let (request, id) = peer.call();
    let unsupported = r#"{"code":-32022,"message":"no","data":{"supported":["2025-06-18"]}}"#;
    peer.fail(&id, unsupported);
    let probe = peer.sent_one();
    assert_eq!(method_of(&probe), "server/discover");
    peer.fail(&id_of(&probe), unsupported);
    let initialize = assert_initializes(&mut peer, Revision::V2025_06_18);
    peer.receive(&initialize_result(&initialize, "2025-06-18"));
    let call = id_of(&peer.sent()[1]);
    peer.answer(&call, "{}");
    assert_eq!(peer.events()[1], answered(request, "{}"));
}

#[test]
fn silence_and_refused_subscriptions_speak_against_a_stored_verdict_too() {
    let mut modern = config();
    modern.era = EraVerdict::from_text("2026-07-28");
    let mut peer = Peer::new(modern.clone());
    peer.events();
    let (request, _) = peer.call();
    peer.advance(60_000);
    assert_eq!(peer.event(), failed(request, FailureReason::TimedOut));
    assert_eq!(methods(&peer.sent()), ["notifications/cancelled", "server/discover"]);

    let mut peer = Peer::new(modern);
    peer.events();
    let filter = SubscriptionFilter { tools: true, ..SubscriptionFilter::default() };
    let subscription = peer.client.subscribe(Instant::ZERO, filter.clone()).unwrap();
    let listen = id_of(&peer.sent_one());
    peer.fail(&listen, r#"{"code":-32601,"message":"Method not found"}"#);
    let probe = id_of(&peer.sent_one());
    peer.fail(&probe, r#"{"code":-32601,"message":"Method not found"}"#);
    let initialize = assert_initializes(&mut peer, NEWEST_LEGACY);
    peer.answer(
        &initialize,
        r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}}}"#,
    );
    assert_eq!(peer.events()[1], Event::SubscriptionAcknowledged { subscription, honoured: filter });
}

// proves: BASE-415 BASE-094
#[test]
fn while_it_waits_pings_are_answered_and_other_requests_refused() {
    let mut config = config();
    for revisions in [Revisions::ALL, Revisions::LEGACY] {
        config.revisions = revisions;
        let mut peer = Peer::new(config.clone());
        peer.sent();
        peer.receive(r#"{"jsonrpc":"2.0","id":"p","method":"ping"}"#);
        assert_eq!(peer.sent_one(), r#"{"jsonrpc":"2.0","id":"p","result":{}}"#);
        peer.receive(r#"{"jsonrpc":"2.0","id":9,"method":"roots/list"}"#);
        assert_eq!(member(&peer.sent_one(), &["error", "code"]), Some("-32600".into()));
        peer.receive(r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#);
        assert_eq!(peer.events(), []);
    }
    let mut peer = Peer::new(config);
    peer.receive(r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}"#);
    assert!(matches!(peer.event(), Event::LogReceived { .. }), "logs may come during the handshake");
}

#[test]
fn nothing_common_is_refused_at_once() {
    let mut config = config();
    config.revisions = Revisions::NONE;
    assert_eq!(Client::new(config, Instant::ZERO).unwrap_err().code(), 301);
}
