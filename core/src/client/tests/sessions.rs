//! Legacy sessions over HTTP that their server has lost (basic/transports, Session Management).

use super::http::{Out, http, http_config, opened};
use super::*;
use crate::client::DisconnectReason;
use crate::logging::LogLevel;
use crate::machine::{Failure, Route};
use crate::revision::EraVerdict;
use crate::subscription::SubscriptionFilter;

const REVISION: Revision = Revision::V2025_11_25;
const LOST: Failure = Failure::SessionLost { is_current: true };
const LOST_BEFORE: Failure = Failure::SessionLost { is_current: false };

fn lost(request: RequestHandle) -> Event {
    failed(request, FailureReason::ExchangeFailed(LOST))
}

fn call(peer: &mut Peer, method: &str) -> RequestHandle {
    let request = peer.request(method, "{}");
    peer.out_one();
    request
}

/// Answers the handshake that waits to be sent: its id.
fn shake_hands(peer: &mut Peer) {
    let (initialize, route, mirrored) = peer.out_one();
    assert_eq!(method_of(&initialize), "initialize");
    assert!(mirrored.is_some_and(|mirrored| mirrored.is_handshake));
    let answer = format!(
        r#"{{"jsonrpc":"2.0","id":{},"result":{{"protocolVersion":"2025-11-25","capabilities":{ALL_SERVER_CAPABILITIES},"serverInfo":{{"name":"fake","version":"1"}}}}}}"#,
        id_of(&initialize)
    );
    peer.receive_within(opened(route), &answer);
}

/// The methods of what waits to be sent, and the requests that it opens.
fn sent(peer: &mut Peer) -> (Vec<String>, Vec<RequestHandle>) {
    let (mut methods, mut requests) = (Vec::new(), Vec::new());
    for out in peer.out() {
        let Out::Message(text, route, _) = out else { panic!("{out:?}") };
        methods.push(method_of(&text));
        if let Route::Opens(request) = route {
            requests.push(request);
        }
    }
    (methods, requests)
}

/// A session that was lost and replaced, its call sent again.
fn replaced() -> (Peer, RequestHandle) {
    let mut peer = http(REVISION);
    let request = call(&mut peer, "tools/call");
    peer.lose(request, LOST);
    shake_hands(&mut peer);
    assert_eq!(sent(&mut peer).0, ["notifications/initialized", "tools/call"]);
    assert!(matches!(peer.event(), Event::SessionReplaced { .. }));
    (peer, request)
}

// proves: BASE-264
#[test]
fn one_handshake_replaces_a_lost_session_and_each_call_is_sent_once_more() {
    let mut peer = http(REVISION);
    let a = peer.request("tools/call", r#"{"name":"t","arguments":{}}"#);
    let (first_text, ..) = peer.out_one();
    let b = call(&mut peer, "tools/list");
    peer.lose(a, LOST);
    peer.lose(b, LOST);
    let c = peer.request("prompts/list", "{}");
    assert_eq!(peer.events(), []);
    shake_hands(&mut peer);
    let event = peer.event();
    assert!(matches!(event, Event::SessionReplaced { revision: REVISION, server: Some(_), .. }), "{event:?}");
    let out = peer.out();
    let [Out::Message(initialized, Route::Alone, _), again @ ..] = &out[..] else { panic!("{out:?}") };
    assert_eq!(method_of(initialized), "notifications/initialized");
    let opens: Vec<_> = again
        .iter()
        .map(|out| match out {
            Out::Message(_, route, _) => opened(*route),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(opens, [a, b, c]);
    let Out::Message(second_text, ..) = &again[0] else { panic!() };
    assert_ne!(id_of(second_text), id_of(&first_text));
    assert_eq!(member(second_text, &["params", "name"]), Some("\"t\"".into()));
    peer.answer(&id_of(second_text), r#"{"content":[]}"#);
    assert_eq!(peer.event(), answered(a, r#"{"content":[]}"#));
    peer.lose(b, LOST);
    assert_eq!(peer.event(), lost(b));
    assert_eq!(peer.out(), [], "no third handshake");
    assert!(peer.client.awaited_attempt(c).is_some());
}

#[test]
fn sessions_are_not_replaced_in_a_row() {
    let (mut peer, first) = replaced();
    peer.lose(first, LOST);
    assert_eq!(peer.event(), lost(first));
    let fresh = call(&mut peer, "tools/list");
    peer.lose(fresh, LOST);
    assert_eq!((peer.event(), peer.out()), (lost(fresh), Vec::new()));
    // After a while the server may be another.
    peer.advance(30_000);
    let later = call(&mut peer, "tools/list");
    peer.lose(later, LOST);
    shake_hands(&mut peer);
    assert_eq!(sent(&mut peer).0, ["notifications/initialized", "tools/list"]);
}

#[test]
fn an_answer_makes_the_next_loss_a_new_one() {
    let (mut peer, first) = replaced();
    let id = peer.client.awaited_attempt(first).unwrap().to_string();
    peer.fail(&id, r#"{"code":-32602,"message":"m"}"#);
    peer.events();
    let next = call(&mut peer, "tools/list");
    peer.lose(next, LOST);
    shake_hands(&mut peer);
    assert!(matches!(peer.event(), Event::SessionReplaced { .. }));
    assert_eq!(
        sent(&mut peer),
        (alloc::vec!["notifications/initialized".into(), "tools/list".into()], alloc::vec![next])
    );
}

#[test]
fn a_loss_that_was_made_good_already_sends_the_call_at_once() {
    let mut peer = http(REVISION);
    let first = call(&mut peer, "tools/call");
    let slow = call(&mut peer, "tools/list");
    let untouched = call(&mut peer, "prompts/list");
    peer.lose(first, LOST);
    shake_hands(&mut peer);
    peer.events();
    sent(&mut peer);
    peer.lose(slow, LOST_BEFORE);
    assert_eq!(sent(&mut peer), (alloc::vec!["tools/list".into()], alloc::vec![slow]));
    peer.lose(slow, LOST_BEFORE);
    assert_eq!(peer.event(), failed(slow, FailureReason::ExchangeFailed(LOST_BEFORE)));
    // What heard nothing waits on, and its answer counts.
    let id = untouched.number().to_string();
    peer.answer(&id, "{}");
    assert_eq!(peer.event(), answered(untouched, "{}"));
}

#[test]
fn what_is_no_request_starts_a_handshake_only_in_a_session_that_worked() {
    let nothing = |peer: &mut Peer| peer.input(Input::Failed { request: None, failure: LOST }).unwrap();
    let mut peer = http(REVISION);
    nothing(&mut peer);
    assert_eq!(peer.out(), []);
    let (request, id) = peer.call();
    peer.answer(&id, "{}");
    nothing(&mut peer);
    shake_hands(&mut peer);
    assert_eq!(sent(&mut peer).0, ["notifications/initialized"]);
    nothing(&mut peer);
    assert_eq!(peer.out(), []);
    // A request may still find out for itself.
    let next = call(&mut peer, "tools/list");
    peer.lose(next, LOST);
    shake_hands(&mut peer);
    assert_eq!(sent(&mut peer).1, [next]);
    let _ = request;
}

#[test]
fn a_new_session_is_set_up_like_the_old_one() {
    let mut peer = http(REVISION);
    let level = peer.client.set_log_level(Instant::ZERO, LogLevel::Warning).unwrap();
    let filter = SubscriptionFilter {
        tools: true,
        resource_uris: alloc::vec!["file:///a".into()],
        ..SubscriptionFilter::default()
    };
    let subscription = peer.client.subscribe(Instant::ZERO, filter.clone()).unwrap();
    for text in peer.sent() {
        peer.answer(&id_of(&text), "{}");
    }
    let events = peer.events();
    assert_eq!(events[0], answered(level, "{}"));
    assert!(matches!(events[1], Event::SubscriptionAcknowledged { .. }));
    peer.receive(r#"{"jsonrpc":"2.0","id":"q","method":"roots/list"}"#);
    let (input, _) = peer.questions().remove(0);

    let request = call(&mut peer, "tools/call");
    peer.lose(request, LOST);
    assert_eq!(peer.event(), Event::InputWithdrawn { input });
    // A subscription that is asked for meanwhile waits, one that is given up needs no end.
    let added = peer.client.subscribe(Instant::ZERO, filter).unwrap();
    shake_hands(&mut peer);
    assert!(matches!(peer.event(), Event::SessionReplaced { .. }));
    let out = peer.sent();
    assert_eq!(
        methods(&out),
        ["notifications/initialized", "logging/setLevel", "resources/subscribe", "tools/call"]
    );
    assert_eq!(member(&out[1], &["params", "level"]), Some("\"warning\"".into()));
    for text in &out[1..3] {
        peer.answer(&id_of(text), "{}");
    }
    let acknowledged: Vec<_> = peer
        .events()
        .into_iter()
        .map(|event| match event {
            Event::SubscriptionAcknowledged { subscription, honoured } => {
                assert_eq!((honoured.tools, honoured.resource_uris.len()), (true, 1));
                subscription
            }
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(acknowledged, [subscription, added]);
}

#[test]
fn what_the_core_asked_for_is_not_sent_twice() {
    let mut peer = http(REVISION);
    let filter = SubscriptionFilter {
        resource_uris: alloc::vec!["file:///a".into()],
        ..SubscriptionFilter::default()
    };
    let subscription = peer.client.subscribe(Instant::ZERO, filter).unwrap();
    let watch = opened(peer.out_one().1);
    peer.lose(watch, LOST);
    shake_hands(&mut peer);
    peer.events();
    let (methods, requests) = sent(&mut peer);
    assert_eq!(methods, ["notifications/initialized", "resources/subscribe"]);
    // Lost again: it is not honoured, and there is no third handshake.
    peer.lose(requests[0], LOST);
    assert!(matches!(
        peer.event(),
        Event::SubscriptionAcknowledged { subscription: told, honoured }
            if told == subscription && honoured.resource_uris.is_empty()
    ));
    assert_eq!(peer.out(), []);
}

#[test]
fn while_a_session_is_replaced_nothing_is_said_in_the_old_one() {
    let mut peer = http(REVISION);
    let filter = SubscriptionFilter {
        resource_uris: alloc::vec!["file:///a".into()],
        ..SubscriptionFilter::default()
    };
    let subscription = peer.client.subscribe(Instant::ZERO, filter).unwrap();
    let other = call_after_watch(&mut peer);
    let request = call(&mut peer, "tools/call");
    peer.lose(request, LOST);
    let (initialize, ..) = peer.out_one();
    peer.client.cancel(other, None).unwrap();
    assert_eq!(peer.out(), [Out::Abort(other)]);
    peer.client.cancel(request, None).unwrap();
    peer.client.unsubscribe(Instant::ZERO, subscription).unwrap();
    peer.client.notify("com.example/told", None).unwrap();
    assert_eq!(peer.out(), []);
    peer.answer(&id_of(&initialize), r#"{"protocolVersion":"2025-11-25","capabilities":{}}"#);
    assert_eq!(methods(&peer.sent()), ["notifications/initialized", "com.example/told"]);
}

fn call_after_watch(peer: &mut Peer) -> RequestHandle {
    for text in peer.sent() {
        peer.answer(&id_of(&text), "{}");
    }
    peer.events();
    call(peer, "tools/list")
}

#[test]
fn a_handshake_that_fails_ends_the_connection() {
    let mut peer = http(REVISION);
    let request = call(&mut peer, "tools/call");
    peer.lose(request, LOST);
    let initialize = opened(peer.out_one().1);
    let down = Failure::Unavailable { status: Some(503) };
    peer.lose(initialize, down);
    let reason = DisconnectReason::ExchangeFailed(down);
    let events = [failed(request, FailureReason::ConnectionLost), Event::Disconnected { reason }];
    assert_eq!(peer.events(), events);
}

#[test]
fn a_visit_that_ends_while_the_session_is_replaced_waits_for_it() {
    let mut peer = http(REVISION);
    let (visiting, id) = peer.call();
    peer.fail(
        &id,
        r#"{"code":-32042,"message":"m","data":{"elicitations":[{"mode":"url","message":"m","elicitationId":"e","url":"https://example.com/"}]}}"#,
    );
    let (input, _) = peer.questions().remove(0);
    let request = call(&mut peer, "tools/list");
    peer.lose(request, LOST);
    peer.provide(input, r#"{"action":"accept"}"#);
    peer.advance(60_000 - 30_001);
    let (initialize, ..) = peer.out_one();
    assert_eq!(method_of(&initialize), "initialize");
    peer.answer(
        &id_of(&initialize),
        &format!(r#"{{"protocolVersion":"2025-11-25","capabilities":{ALL_SERVER_CAPABILITIES}}}"#),
    );
    peer.advance(60_000);
    let sent = methods(&peer.sent());
    assert_eq!(sent.iter().filter(|method| *method == "tools/call").count(), 1, "{sent:?}");
    let _ = visiting;
}

#[test]
fn a_server_that_has_become_modern_is_met_as_one() {
    let mut config = http_config();
    config.era = Some(EraVerdict { revision: REVISION });
    let mut peer = Peer::new(config);
    shake_hands(&mut peer);
    assert!(matches!(peer.event(), Event::Ready { revision: REVISION, .. }));
    peer.out();
    let filter = SubscriptionFilter {
        resource_uris: alloc::vec!["file:///a".into()],
        ..SubscriptionFilter::default()
    };
    let subscription = peer.client.subscribe(Instant::ZERO, filter).unwrap();
    let watch = peer.sent_one();
    peer.answer(&id_of(&watch), "{}");
    assert!(matches!(peer.event(), Event::SubscriptionAcknowledged { .. }));
    let request = call(&mut peer, "tools/call");
    peer.lose(request, LOST);
    let initialize = peer.sent_one();
    peer.fail(&id_of(&initialize), r#"{"code":-32022,"message":"m","data":{"supported":["2026-07-28"]}}"#);
    let probe = peer.sent_one();
    assert_eq!(method_of(&probe), "server/discover");
    peer.answer(
        &id_of(&probe),
        &format!(r#"{{"supportedVersions":["2026-07-28"],"capabilities":{ALL_SERVER_CAPABILITIES}}}"#),
    );
    assert!(matches!(peer.event(), Event::Ready { revision: Revision::V2026_07_28, .. }));
    let out = peer.sent();
    assert_eq!(methods(&out), ["subscriptions/listen", "tools/call"]);
    peer.receive(&format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{{"notifications":{{}},"_meta":{{"io.modelcontextprotocol/subscriptionId":{}}}}}}}"#,
        id_of(&out[0])
    ));
    assert!(matches!(
        peer.event(),
        Event::SubscriptionAcknowledged { subscription: told, .. } if told == subscription
    ));
}
