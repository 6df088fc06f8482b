//! Requests that a server runs only after the user has been to a URL.

use super::*;
use crate::rounds::InputKind;

const NEWEST: Revision = Revision::V2025_11_25;
const DECLINE: &str = r#"{"action":"decline"}"#;
const VISITS: &str = r#"{"code":-32042,"message":"visit first","data":{"elicitations":[{"mode":"url","elicitationId":"e1","url":"https://a.example","message":"m"},{"mode":"url","elicitationId":"e2","url":"https://b.example","message":"m"}]}}"#;

fn complete(id: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{{"elicitationId":"{id}"}}}}"#
    )
}

// proves: FEAT-325 FEAT-326 FEAT-331
#[test]
fn a_request_that_wants_visits_first_goes_out_again_when_they_are_over() {
    let mut peer = Peer::ready(NEWEST);
    let (request, first) = peer.call();
    peer.fail(&first, VISITS);
    let Event::InputRequired { request: Some(asking), inputs, round: 1 } = peer.event() else { panic!() };
    assert_eq!((asking, inputs.len()), (request, 2));
    assert_eq!(inputs[1].kind, InputKind::Elicitation);
    assert!(inputs[1].params.as_ref().unwrap().as_str().contains("https://b.example"));
    for unknown in ["e3", ""] {
        peer.receive(&complete(unknown));
        assert!(matches!(peer.event(), Event::NotificationReceived { .. }));
    }
    peer.receive(&complete("e2"));
    peer.events();
    for input in &inputs {
        assert_eq!(peer.sent(), [""; 0]);
        peer.provide(input.input, r#"{"action":"accept"}"#);
    }
    assert_eq!(peer.sent(), [""; 0], "the first visit is not over");
    peer.receive(&complete("e1"));
    let second = peer.sent_one();
    assert_ne!(id_of(&second), first);
    assert_eq!(member(&second, &["params"]), Some(r#"{"name":"t","arguments":{}}"#.into()));
    peer.events();
    peer.answer(&id_of(&second), "{}");
    assert_eq!(peer.event(), answered(request, "{}"));
    peer.receive(&complete("e1"));
    assert!(matches!(peer.event(), Event::NotificationReceived { .. }));
    assert_eq!((peer.sent(), peer.client.poll_timeout()), (Vec::new(), None));
}

#[test]
fn every_visit_must_be_accepted() {
    let mut peer = Peer::ready(NEWEST);
    let (_, first) = peer.call();
    peer.fail(&first, VISITS);
    let inputs = peer.questions();
    peer.receive(&complete("e1"));
    peer.receive(&complete("e2"));
    peer.provide(inputs[0].0, r#"{"action":"accept"}"#);
    assert_eq!(peer.sent(), [""; 0]);
    peer.provide(inputs[1].0, r#"{"action":"accept"}"#);
    assert_eq!(methods(&peer.sent()), ["tools/call"]);
}

// proves: FEAT-327
#[test]
fn a_visit_that_nobody_reports_is_over_after_a_while() {
    let mut peer = Peer::ready(NEWEST);
    let (request, first) = peer.call();
    peer.fail(&first, VISITS);
    let inputs = peer.questions();
    peer.advance(100_000);
    for (input, _) in inputs {
        peer.provide(input, r#"{"action":"accept"}"#);
    }
    peer.advance(59_999);
    assert_eq!((peer.events(), peer.sent()), (Vec::new(), Vec::new()));
    peer.advance(1);
    let id = id_of(&peer.sent_one());
    peer.answer(&id, "{}");
    assert_eq!(peer.event(), answered(request, "{}"));
}

#[test]
fn visits_that_are_declined_or_cannot_be_asked_for_leave_the_error() {
    let error = |reason: FailureReason| match reason {
        FailureReason::Rpc(error) => error.code,
        other => panic!("{other:?}"),
    };
    let mut peer = Peer::ready(NEWEST);
    let (request, id) = peer.call();
    peer.fail(&id, VISITS);
    let inputs = peer.questions();
    peer.provide(inputs[1].0, DECLINE);
    let events = peer.events();
    assert_eq!(events[0], Event::InputWithdrawn { input: inputs[0].0 });
    let Event::RequestFailed { request: ended, reason } = events[1].clone() else { panic!() };
    assert_eq!((ended, error(reason)), (request, -32042));

    let mut no_url = config();
    no_url.set_capabilities(r#"{"elicitation":{}}"#).unwrap();
    let mut one_round = config();
    one_round.limits.rounds = 0;
    let mut one_input = config();
    one_input.limits.inputs = 1;
    for (config, revision, reply) in [
        (no_url, NEWEST, VISITS),
        (one_round, NEWEST, VISITS),
        (one_input, NEWEST, VISITS),
        (config(), Revision::V2025_06_18, VISITS),
        (config(), NEWEST, r#"{"code":-32042,"message":"m"}"#),
        (config(), NEWEST, r#"{"code":-32042,"message":"m","data":{"elicitations":[]}}"#),
        (
            config(),
            NEWEST,
            r#"{"code":-32042,"message":"m","data":{"elicitations":[{"mode":"form","url":"u"}]}}"#,
        ),
        (config(), NEWEST, r#"{"code":-32042,"message":"m","data":{"elicitations":[{"mode":"url"}]}}"#),
    ] {
        let mut peer = Peer::ready_with(config, revision, ALL_SERVER_CAPABILITIES);
        let (_, id) = peer.call();
        peer.fail(&id, reply);
        let Event::RequestFailed { reason, .. } = peer.event() else { panic!("{reply}") };
        assert_eq!(error(reason), -32042);
    }
}
