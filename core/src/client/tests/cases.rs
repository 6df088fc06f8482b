//! Kinds of trouble that public bug reports on other implementations tell of.

use super::*;
use crate::client::DisconnectReason;
use crate::error::{CloseReason, Error};
use crate::jsonrpc::RpcError;
use crate::revision::EraVerdict;

const NEWEST: Revision = Revision::V2025_11_25;
const INITIALIZED: &str = r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"fake","version":"1"}}"#;

#[test]
fn noise_before_and_between_messages_is_counted_and_never_answered() {
    let mut config = config();
    config.revisions = Revisions::of(&[NEWEST]);
    let mut peer = Peer::new(config);
    let id = id_of(&peer.sent_one());
    let noise = [
        "Starting demo server on stdio...",
        "[INFO] db ready",
        r#"{"level":"info","msg":"ready"}"#,
        "Content-Length: 40",
    ];
    for line in noise {
        peer.receive(line);
    }
    let events = peer.events();
    assert_eq!(events.len(), noise.len());
    for (event, line) in events.iter().zip(noise) {
        let Event::MessageDiscarded { bytes, .. } = event else { panic!("{event:?}") };
        assert_eq!(&**bytes, line.as_bytes());
    }
    assert_eq!(peer.sent(), [""; 0]);
    peer.answer(&id, INITIALIZED);
    peer.sent();
    peer.events();
    let (request, id) = peer.call();
    peer.receive("noise");
    peer.answer(&id, r#"{"content":[{"type":"text","text":"x😀y"}]}"#);
    assert_eq!(peer.events()[1], answered(request, r#"{"content":[{"type":"text","text":"x😀y"}]}"#));
}

#[test]
fn odd_replies_settle_their_request_at_once() {
    let mut peer = Peer::ready(NEWEST);
    let mut settle = |reply: &str| {
        let (request, id) = peer.call();
        let line = reply.replace('$', &id);
        peer.receive(&line);
        let events = peer.events();
        assert_eq!(events.len(), 2, "{events:?}");
        let (violation, told, bytes) = match &events[0] {
            Event::ViolationTolerated { violation, request, bytes } => (*violation, *request, bytes),
            Event::MessageDiscarded { violation, bytes } => (*violation, None, bytes),
            other => panic!("{other:?}"),
        };
        assert_eq!(&**bytes, line.as_bytes());
        assert!(told.is_none_or(|told| told == request));
        match events[1].clone() {
            Event::ResponseReceived { request: settled, result, .. } if settled == request => {
                (violation, Ok(result.as_str().to_string()))
            }
            Event::RequestFailed { request: settled, reason } if settled == request => {
                (violation, Err(reason))
            }
            other => panic!("{other:?}"),
        }
    };
    let rpc = |message: &str| Err(FailureReason::Rpc(RpcError::new(0, message)));
    assert_eq!(
        settle(r#"{"jsonrpc":"2.0","id":$,"error":{"message":"Unknown tool: t"}}"#),
        (Violation::InvalidErrorCode, rpc("Unknown tool: t"))
    );
    assert_eq!(
        settle(r#"{"jsonrpc":"2.0","id":$,"error":{"code":-32000.5,"message":"m"}}"#),
        (Violation::InvalidErrorCode, rpc("m"))
    );
    assert_eq!(
        settle(r#"{"jsonrpc":"2.0","id":$,"result":{"content":[]},"error":null}"#),
        (Violation::ResultAndError, Ok(r#"{"content":[]}"#.into()))
    );
    assert_eq!(
        settle(r#"{"jsonrpc":"2.0","id":$,"result":{"content":[]},"traceparent":"00-0-0-00"}"#),
        (Violation::UnknownMember, Ok(r#"{"content":[]}"#.into()))
    );
    assert_eq!(
        settle(r#"{"jsonrpc":"2.0","id":$}"#),
        (Violation::EmptyResponse, Err(FailureReason::InvalidResult(Violation::EmptyResponse)))
    );
    assert_eq!(peer.client.poll_timeout(), None);
}

// proves: BASE-384 BASE-387
#[test]
fn unmatched_progress_is_counted_and_disturbs_nothing() {
    let mut peer = Peer::ready(NEWEST);
    let options = RequestOptions { progress: true, ..RequestOptions::default() };
    let request = peer.request_with("tools/call", r#"{"name":"t","arguments":{}}"#, options);
    let sent = peer.sent_one();
    let token = member(&sent, &["params", "_meta", "progressToken"]).unwrap();
    let progress =
        |rest: &str| format!(r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{{rest}}}}}"#);
    peer.receive(&progress(&format!(r#""progressToken":{token},"progress":0.5,"total":1,"message":null"#)));
    assert_eq!(
        peer.event(),
        Event::ProgressReceived { request, progress: 0.5, total: Some(1.0), message: None, increasing: true }
    );
    peer.receive(&progress(&format!(r#""progressToken":{token},"progress":0.25"#)));
    assert!(matches!(peer.event(), Event::ProgressReceived { progress: 0.25, increasing: false, .. }));
    peer.answer(&id_of(&sent), r#"{"content":[]}"#);
    assert_eq!(peer.event(), answered(request, r#"{"content":[]}"#));
    for unmatched in [
        format!(r#""progressToken":{token},"progress":1"#),
        r#""progressToken":"server-made","progress":1"#.to_string(),
        r#""progress":1"#.to_string(),
    ] {
        let line = progress(&unmatched);
        peer.receive(&line);
        let bytes = line.as_bytes().into();
        let violation = Violation::UnknownTarget;
        assert_eq!(peer.event(), Event::ViolationTolerated { violation, request: None, bytes });
    }
    // Without being asked for, progress is not for a request either.
    let (_, id) = peer.call();
    peer.receive(&progress(&format!(r#""progressToken":{id},"progress":1"#)));
    assert_eq!(violations(&peer.events()), [Violation::UnknownTarget]);
    let ping = peer.request("ping", "{}");
    let id = id_of(&peer.sent_one());
    peer.answer(&id, "{}");
    assert_eq!(peer.event(), answered(ping, "{}"));
}

#[test]
fn a_peer_that_is_gone_fails_everything_at_once() {
    for (end, close) in [(Input::Closed, CloseReason::ByPeer), (Input::Lost, CloseReason::TransportLost)] {
        let mut peer = Peer::ready(NEWEST);
        let (a, id) = peer.call();
        let b = peer.request("ping", "{}");
        peer.sent();
        let half = format!(r#"{{"jsonrpc":"2.0","id":{id},"resu"#);
        peer.input(Input::Damaged { bytes: half.as_bytes(), violation: Violation::EndedEarly }).unwrap();
        peer.request("ping", "{}");
        peer.input(end).unwrap();
        let events = peer.events();
        let bytes = half.as_bytes().into();
        let violation = Violation::EndedEarly;
        assert_eq!(events[0], Event::MessageDiscarded { violation, bytes });
        assert_eq!(events[1], failed(a, FailureReason::ConnectionLost));
        assert_eq!(events[2], failed(b, FailureReason::ConnectionLost));
        let reason = DisconnectReason::Closed(close);
        assert_eq!(events.last(), Some(&Event::Disconnected { reason }));
        let refused = peer.client.request(Instant::ZERO, "ping", None, RequestOptions::default());
        assert_eq!(refused, Err(Error::Closed(close)));
        assert_eq!((peer.client.poll_timeout(), peer.sent()), (None, Vec::new()));
    }
}

#[test]
fn a_verdict_can_be_stored_and_fed_back() {
    let mut peer = Peer::new(config());
    let probe = id_of(&peer.sent_one());
    assert_eq!(peer.client.era_verdict(), None);
    peer.fail(&probe, r#"{"code":-32601,"message":"Method not found"}"#);
    let initialize = id_of(&peer.sent_one());
    peer.answer(&initialize, INITIALIZED);
    let stored = peer.client.era_verdict().unwrap().to_text();
    let mut config = config();
    config.era = EraVerdict::from_text(&stored);
    assert!(config.era.is_some());
    assert_eq!(method_of(&Peer::new(config).sent_one()), "initialize");
}
