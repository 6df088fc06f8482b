//! Subscriptions in both eras, behind the same events.

use super::*;
use crate::error::{ApiMisuse, Error, Limit};
use crate::machine::SubscriptionHandle;
use crate::subscription::{ListKind, SubscriptionFilter};

const MODERN: Revision = Revision::V2026_07_28;
const LEGACY: Revision = Revision::V2025_11_25;

fn filter(lists: bool, uris: &[&str]) -> SubscriptionFilter {
    SubscriptionFilter {
        tools: lists,
        prompts: lists,
        resources: false,
        resource_uris: uris.iter().map(|&uri| uri.into()).collect(),
    }
}

fn subscribe(peer: &mut Peer, filter: SubscriptionFilter) -> SubscriptionHandle {
    peer.client.subscribe(Instant::from_millis(peer.now), filter).unwrap()
}

fn acknowledged(subscription: SubscriptionHandle, honoured: SubscriptionFilter) -> Event {
    Event::SubscriptionAcknowledged { subscription, honoured }
}

fn ended(subscription: SubscriptionHandle, graceful: bool) -> Event {
    Event::SubscriptionEnded { subscription, graceful }
}

impl Peer {
    fn unsubscribe(&mut self, subscription: SubscriptionHandle) -> Result<(), Error> {
        self.client.unsubscribe(Instant::from_millis(self.now), subscription)
    }

    /// A notification of the modern era that belongs to the listen request `id`.
    fn tagged(&mut self, id: &str, method: &str, rest: &str) {
        self.receive(&format!(
            r#"{{"jsonrpc":"2.0","method":"{method}","params":{{"_meta":{{"io.modelcontextprotocol/subscriptionId":{id}}}{rest}}}}}"#
        ));
    }

    fn acknowledge(&mut self, id: &str, notifications: &str) {
        let rest = format!(r#","notifications":{notifications}"#);
        self.tagged(id, "notifications/subscriptions/acknowledged", &rest);
    }
}

// proves: BASE-142 BASE-164 BASE-370 BASE-372
#[test]
fn a_listen_stream_is_acknowledged_routed_by_its_id_and_ended_by_its_result() {
    let mut peer = Peer::ready(MODERN);
    let first = subscribe(&mut peer, filter(true, &["file:///a\"b"]));
    let listen = peer.sent_one();
    let first_id = id_of(&listen);
    assert_eq!(method_of(&listen), "subscriptions/listen");
    assert_eq!(
        member(&listen, &["params", "notifications"]),
        Some(
            r#"{"toolsListChanged":true,"promptsListChanged":true,"resourceSubscriptions":["file:///a\"b"]}"#
                .into()
        )
    );
    assert!(member(&listen, &["params", "_meta", "io.modelcontextprotocol/protocolVersion"]).is_some());
    let second = subscribe(&mut peer, filter(true, &[]));
    let second_id = id_of(&peer.sent_one());

    peer.tagged(&first_id, "notifications/tools/list_changed", "");
    assert_eq!(violations(&peer.events()), [Violation::UnexpectedMessage], "acknowledged comes first");
    peer.acknowledge(&second_id, r#"{"toolsListChanged":true}"#);
    let only_tools = SubscriptionFilter { tools: true, ..SubscriptionFilter::default() };
    assert_eq!(peer.event(), acknowledged(second, only_tools));
    peer.acknowledge(&first_id, r#"{"resourceSubscriptions":["file:///a",7],"toolsListChanged":false}"#);
    assert_eq!(peer.event(), acknowledged(first, filter(false, &["file:///a"])));
    assert_eq!(peer.client.poll_timeout(), None, "an open stream has no deadline");

    peer.tagged(&second_id, "notifications/tools/list_changed", "");
    assert_eq!(peer.event(), Event::ListChanged { kind: ListKind::Tools, subscription: Some(second) });
    peer.tagged(&first_id, "notifications/resources/updated", r#","uri":"file:///a/below""#);
    assert_eq!(
        peer.event(),
        Event::ResourceUpdated { uri: "file:///a/below".into(), subscription: Some(first) }
    );
    for id in [format!("\"{first_id}\""), "99".into(), "null".into()] {
        peer.tagged(&id, "notifications/tools/list_changed", "");
        assert_eq!(violations(&peer.events()), [Violation::UnknownTarget], "{id}");
    }
    peer.receive(r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#);
    assert_eq!(violations(&peer.events()), [Violation::UnknownTarget]);
    peer.acknowledge(&first_id, "{}");
    assert_eq!(violations(&peer.events()), [Violation::UnexpectedMessage], "once is enough");

    peer.answer(&first_id, r#"{"resultType":"complete"}"#);
    assert_eq!(peer.event(), ended(first, true));
    peer.receive(&format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{second_id}}}}}"#
    ));
    assert_eq!(peer.event(), ended(second, true));
    peer.answer(&second_id, r#"{"resultType":"complete"}"#);
    assert_eq!((peer.events(), peer.sent()), (Vec::new(), Vec::new()), "the first end counts");
    assert_eq!(peer.unsubscribe(second), Err(ApiMisuse::UnknownSubscription.into()));
}

#[test]
fn a_listen_request_that_is_refused_or_not_acknowledged_ends_lost() {
    let mut peer = Peer::ready(MODERN);
    let refused = subscribe(&mut peer, filter(true, &[]));
    let id = id_of(&peer.sent_one());
    peer.fail(&id, r#"{"code":-32601,"message":"Method not found"}"#);
    assert_eq!(peer.event(), ended(refused, false));

    let silent = subscribe(&mut peer, filter(true, &[]));
    let id = id_of(&peer.sent_one());
    peer.advance(29_999);
    assert_eq!(peer.events(), []);
    peer.advance(1);
    assert_eq!(peer.event(), ended(silent, false));
    assert_eq!(member(&peer.sent_one(), &["params", "requestId"]), Some(id.clone()));
    peer.acknowledge(&id, "{}");
    assert_eq!(violations(&peer.events()), [Violation::UnknownTarget]);

    let garbled = subscribe(&mut peer, filter(true, &[]));
    let id = id_of(&peer.sent_one());
    peer.receive(&format!(r#"{{"jsonrpc":"2.0","id":{id}}}"#));
    assert_eq!(peer.events()[1], ended(garbled, false));

    let lost = subscribe(&mut peer, filter(true, &[]));
    peer.input(Input::Lost).unwrap();
    assert_eq!(peer.events()[0], ended(lost, false));
}

// proves: BASE-373
#[test]
fn a_listen_stream_is_given_up_by_a_notification() {
    let mut peer = Peer::ready(MODERN);
    let subscription = subscribe(&mut peer, filter(true, &[]));
    let id = id_of(&peer.sent_one());
    peer.acknowledge(&id, "{}");
    peer.events();
    peer.unsubscribe(subscription).unwrap();
    assert_eq!(peer.event(), ended(subscription, true));
    let told = peer.sent_one();
    assert_eq!(method_of(&told), "notifications/cancelled");
    assert_eq!(member(&told, &["params", "requestId"]), Some(id.clone()));
    peer.answer(&id, "{}");
    assert_eq!(peer.events(), []);
    let request = RequestHandle::from_number(id.parse().unwrap());
    assert_eq!(peer.client.cancel(request, None), Err(ApiMisuse::UnknownRequest.into()));
}

// proves: FEAT-117 BASE-379
#[test]
fn legacy_resources_are_subscribed_once_however_many_want_them() {
    let mut peer = Peer::ready(LEGACY);
    let first = subscribe(&mut peer, filter(true, &["file:///a", "file:///b", "file:///a"]));
    let sent = peer.sent();
    assert_eq!(methods(&sent), ["resources/subscribe", "resources/subscribe"]);
    assert_eq!(member(&sent[0], &["params"]), Some(r#"{"uri":"file:///a"}"#.into()));
    let second = subscribe(&mut peer, filter(false, &["file:///a"]));
    assert_eq!(peer.sent(), [""; 0]);
    peer.answer(&id_of(&sent[0]), "{}");
    assert_eq!(peer.event(), acknowledged(second, filter(false, &["file:///a"])));
    peer.fail(&id_of(&sent[1]), r#"{"code":-32002,"message":"no such resource"}"#);
    assert_eq!(peer.event(), acknowledged(first, filter(true, &["file:///a"])));
    let third = subscribe(&mut peer, filter(false, &["file:///a"]));
    assert_eq!(peer.event(), acknowledged(third, filter(false, &["file:///a"])));
    peer.unsubscribe(third).unwrap();
    assert_eq!(peer.event(), ended(third, true));

    let update = |uri: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{{"uri":"{uri}"}}}}"#
        )
    };
    let updated = |uri: &str, subscription| Event::ResourceUpdated { uri: uri.into(), subscription };
    peer.receive(&update("file:///a/x"));
    assert_eq!(peer.events(), [updated("file:///a/x", Some(first)), updated("file:///a/x", Some(second))]);
    peer.receive(&update("file:///ab"));
    assert_eq!(peer.events(), [updated("file:///ab", None)]);
    peer.receive(r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#);
    assert_eq!(peer.event(), Event::ListChanged { kind: ListKind::Tools, subscription: Some(first) });
    peer.receive(r#"{"jsonrpc":"2.0","method":"notifications/resources/list_changed"}"#);
    assert_eq!(peer.event(), Event::ListChanged { kind: ListKind::Resources, subscription: None });

    peer.unsubscribe(first).unwrap();
    assert_eq!((peer.event(), peer.sent()), (ended(first, true), Vec::new()));
    peer.unsubscribe(second).unwrap();
    let told = peer.sent_one();
    assert_eq!(method_of(&told), "resources/unsubscribe");
    assert_eq!(member(&told, &["params"]), Some(r#"{"uri":"file:///a"}"#.into()));
    assert_eq!(peer.event(), ended(second, true));
    peer.answer(&id_of(&told), "{}");
    assert_eq!((peer.events(), peer.client.poll_timeout()), (Vec::new(), None));
}

#[test]
fn legacy_answers_of_an_earlier_attempt_do_not_count() {
    let mut peer = Peer::ready(LEGACY);
    let early = subscribe(&mut peer, filter(false, &["file:///a"]));
    let first = id_of(&peer.sent_one());
    peer.unsubscribe(early).unwrap();
    assert_eq!(methods(&peer.sent()), ["resources/unsubscribe"]);
    let late = subscribe(&mut peer, filter(false, &["file:///a"]));
    let second = id_of(&peer.sent_one());
    peer.events();
    peer.answer(&first, "{}");
    assert_eq!(peer.events(), []);
    peer.fail(&second, r#"{"code":-32603,"message":"no"}"#);
    assert_eq!(peer.event(), acknowledged(late, filter(false, &[])));
}

#[test]
fn a_legacy_server_honours_what_it_declared() {
    let wanted = SubscriptionFilter { resources: true, ..filter(true, &["file:///a"]) };
    let mut peer = Peer::ready_with(config(), LEGACY, r#"{"tools":{"listChanged":true},"prompts":{}}"#);
    let subscription = subscribe(&mut peer, wanted.clone());
    let only_tools = SubscriptionFilter { tools: true, ..SubscriptionFilter::default() };
    assert_eq!(peer.event(), acknowledged(subscription, only_tools));
    assert_eq!(peer.sent(), [""; 0]);
    // Before 2025-06-18 undeclared capabilities may be tried.
    let mut peer = Peer::ready_with(config(), Revision::V2025_03_26, "{}");
    subscribe(&mut peer, wanted);
    assert_eq!(methods(&peer.sent()), ["resources/subscribe"]);
}

#[test]
fn a_legacy_subscription_that_is_not_answered_is_not_honoured() {
    let mut peer = Peer::ready(LEGACY);
    let subscription = subscribe(&mut peer, filter(false, &["file:///a"]));
    peer.sent();
    peer.advance(30_000);
    assert_eq!(peer.event(), acknowledged(subscription, filter(false, &[])));
    assert_eq!(methods(&peer.sent()), ["notifications/cancelled"]);
}

#[test]
fn subscriptions_wait_for_the_connection_and_are_bounded() {
    let mut config = config();
    config.limits.subscriptions = 2;
    config.limits.watched_resources = 2;
    config.revisions = Revisions::of(&[LEGACY]);
    let mut peer = Peer::new(config);
    let initialize = id_of(&peer.sent_one());
    let kept = subscribe(&mut peer, filter(false, &["file:///a"]));
    let dropped = subscribe(&mut peer, filter(false, &["file:///b"]));
    let more = |peer: &mut Peer, filter| peer.client.subscribe(Instant::ZERO, filter);
    assert_eq!(more(&mut peer, filter(true, &[])), Err(Limit::Subscriptions.into()));
    peer.unsubscribe(dropped).unwrap();
    assert_eq!(
        more(&mut peer, filter(false, &["file:///b", "file:///c"])),
        Err(Limit::WatchedResources.into())
    );
    assert_eq!(peer.event(), ended(dropped, true));
    peer.answer(
        &initialize,
        r#"{"protocolVersion":"2025-11-25","capabilities":{"resources":{"subscribe":true}}}"#,
    );
    let sent = peer.sent();
    assert_eq!(methods(&sent), ["notifications/initialized", "resources/subscribe"]);
    peer.answer(&id_of(&sent[1]), "{}");
    assert_eq!(peer.events()[1], acknowledged(kept, filter(false, &["file:///a"])));
    peer.client.close();
    assert_eq!(peer.events()[0], ended(kept, true));
}
