use super::*;
use crate::error::{ApiMisuse, CloseReason, Error};

#[test]
fn owed_answers_go_out_after_the_end_of_input() {
    let mut bench = Bench::session(Revision::V2025_11_25, "{}");
    let calls: Vec<_> =
        (1..=31).map(|id| bench.call(&legacy(&format!("{id}"), "tools/call", r#""name":"echo""#))).collect();
    bench.input(Input::Closed);
    assert_eq!(bench.events(), []);
    assert!(!bench.server.wants_input());
    for call in &calls[..30] {
        bench.server.respond(*call, TEXT_RESULT).unwrap();
    }
    assert_eq!(bench.sent().len(), 30);
    bench.wait(700);
    assert_eq!(bench.events(), []);
    bench.server.respond(calls[30], TEXT_RESULT).unwrap();
    let sent = bench.sent();
    assert!(sent[0].contains(r#""id":31"#) && sent[1..] == ["CLOSE"], "{sent:?}");
    let events = bench.events();
    assert_eq!(events[0], Event::Drained { abandoned: Vec::new() });
    assert!(matches!(events[1], Event::SessionClosed { .. }));
    assert_eq!(events[2..], [Event::Disconnected { reason: CloseReason::ByPeer }]);
}

#[test]
fn the_drain_deadline_names_what_was_abandoned() {
    let mut bench = Bench::new();
    let call = bench.call(&modern("1", "tools/call", r#""name":"echo""#));
    bench.input(Input::Closed);
    assert_eq!(bench.server.poll_timeout(), Some(Instant::from_millis(10_000)));
    bench.wait(9_999);
    assert_eq!(bench.events(), []);
    bench.wait(1);
    assert_eq!(
        bench.events(),
        [Event::Drained { abandoned: [call].into() }, Event::Disconnected { reason: CloseReason::ByPeer }]
    );
    assert_eq!(bench.sent(), ["CLOSE"]);
    assert_eq!(bench.server.respond(call, "{}"), Err(Error::Closed(CloseReason::ByPeer)));
    assert_eq!(bench.server.poll_timeout(), None);
}

#[test]
fn nothing_owed_ends_at_once() {
    let mut bench = Bench::new();
    bench.reply(&modern("1", "tools/list", ""));
    bench.input(Input::Closed);
    assert_eq!(bench.sent(), ["CLOSE"]);
    assert_eq!(bench.events().len(), 2);
    for input in [Input::Closed, Input::Lost, Input::Message { text: "{}", facts: Facts::default() }] {
        assert_eq!(
            bench.server.handle_input(bench.now, input),
            Err(Error::Closed(CloseReason::ByPeer)),
            "the same answer for ever"
        );
    }
    assert_eq!((bench.events(), bench.sent()), (Vec::new(), Vec::new()));
}

#[test]
fn a_lost_transport_releases_everything() {
    let mut bench = Bench::session(Revision::V2025_11_25, r#"{"roots":{}}"#);
    let call = bench.call(&legacy("1", "tools/call", r#""name":"echo""#));
    let session = open_session(&mut bench);
    bench.recv(&legacy("2", "resources/subscribe", r#""uri":"file:///a""#));
    let own = bench.server.request(bench.now, session, "roots/list", None).unwrap();
    bench.events();
    bench.input(Input::Lost);
    let events = bench.events();
    assert_eq!(events[0], Event::RequestCancelled { request: call, reason: None });
    assert!(matches!(
        &events[1],
        Event::ResponseReceived { request, outcome: Err(crate::server::ClientFailure::ConnectionLost), .. } if *request == own
    ));
    assert!(matches!(events[2], Event::SubscriptionClosed { .. }));
    assert!(matches!(events[3], Event::SessionClosed { .. }));
    assert_eq!(events[4..], [Event::Disconnected { reason: CloseReason::TransportLost }]);
    assert_eq!(bench.server.poll_timeout(), None);
}

/// The handle of the bench's session.
pub(super) fn open_session(bench: &mut Bench) -> crate::machine::SessionHandle {
    bench.recv(r#"{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}"#);
    let Event::NotificationReceived { session, .. } = bench.event() else { panic!() };
    session.unwrap()
}

#[test]
fn draining_can_be_cut_short_by_a_loss() {
    let mut bench = Bench::new();
    let call = bench.call(&modern("1", "tools/call", r#""name":"echo""#));
    bench.input(Input::Closed);
    let refused = bench.server.handle_input(bench.now, Input::Closed);
    assert_eq!(refused, Err(Error::Closed(CloseReason::ByPeer)));
    bench.input(Input::Lost);
    assert_eq!(
        bench.events(),
        [
            Event::RequestCancelled { request: call, reason: None },
            Event::Disconnected { reason: CloseReason::TransportLost }
        ]
    );
}

#[test]
fn closing_ends_subscriptions_in_order_and_abandons_the_rest() {
    let mut bench = Bench::new();
    let call = bench.call(&modern("1", "tools/call", r#""name":"echo""#));
    bench.recv(&modern("2", "subscriptions/listen", r#""notifications":{"toolsListChanged":true}"#));
    bench.sent();
    bench.events();
    bench.server.close();
    let sent = bench.sent();
    assert!(sent[0].contains(r#""id":2,"result""#), "{sent:?}");
    assert_eq!(sent[1..], ["CLOSE"]);
    let events = bench.events();
    assert!(matches!(events[0], Event::SubscriptionClosed { .. }));
    assert_eq!(
        events[1..],
        [
            Event::RequestCancelled { request: call, reason: None },
            Event::Disconnected { reason: CloseReason::ByUs }
        ]
    );
    bench.server.close();
    assert_eq!((bench.events(), bench.sent()), (Vec::new(), Vec::new()));
    let closed = Err(Error::Closed(CloseReason::ByUs));
    assert_eq!(bench.server.respond(call, "{}"), closed);
    assert_eq!(bench.server.log(crate::logging::LogLevel::Info, None, "1"), closed);
}

#[test]
fn the_end_is_told_last_when_nothing_but_subscriptions_and_questions_was_left() {
    let mut bench = Bench::session(Revision::V2025_11_25, "{}");
    let session = open_session(&mut bench);
    bench.server.ping(bench.now, session).unwrap();
    bench.recv(&modern("1", "subscriptions/listen", r#""notifications":{}"#));
    bench.recv(&modern("2", "subscriptions/listen", r#""notifications":{}"#));
    bench.events();
    bench.sent();
    bench.input(Input::Closed);
    let sent = bench.sent();
    assert!(sent.len() == 3 && sent[2] == "CLOSE", "{sent:?}");
    let events = bench.events();
    assert!(
        matches!(
            events[..],
            [
                Event::SubscriptionClosed { .. },
                Event::SubscriptionClosed { .. },
                Event::ResponseReceived { .. },
                Event::Drained { .. },
                Event::SessionClosed { .. },
                Event::Disconnected { .. }
            ]
        ),
        "{events:?}"
    );
}

#[test]
fn the_end_of_input_ends_subscriptions_and_questions() {
    let mut bench = Bench::session(Revision::V2025_11_25, r#"{"elicitation":{}}"#);
    let call = bench.call(&legacy("1", "tools/call", r#""name":"echo""#));
    let question = super::rounds::question("name");
    bench.server.require_input(bench.now, call, [question].into(), None).unwrap();
    bench.recv(&modern("2", "subscriptions/listen", r#""notifications":{}"#));
    bench.events();
    bench.sent();
    bench.input(Input::Closed);
    assert!(bench.sent_one().contains(r#""id":2,"result""#));
    let events = bench.events();
    assert!(matches!(events[0], Event::SubscriptionClosed { .. }));
    let Event::ToolCalled { context, .. } = &events[1] else { panic!("{events:?}") };
    assert!(context.input_answers[0].outcome.is_err());
    // Nobody is left to answer.
    let again = bench.server.require_input(bench.now, call, [super::rounds::question("b")].into(), None);
    assert_eq!(again, Err(ApiMisuse::InputNotPossible.into()));
    bench.server.respond(call, TEXT_RESULT).unwrap();
    assert_eq!(bench.sent().len(), 2);
    assert_eq!(bench.events().len(), 3);
}
