//! What is different over HTTP: labels of messages, exchanges that are closed or end without an answer, and where
//! notifications and errors belong.

use super::*;
use crate::client::DisconnectReason;
use crate::error::{CloseReason, Error, PeerIncompatible};
use crate::jsonrpc::RpcError;
use crate::machine::{Failure, Mirrored, Route};
use crate::revision::EraVerdict;
use crate::subscription::{ListKind, SubscriptionFilter};

const MODERN: Revision = Revision::V2026_07_28;
const NEWEST_LEGACY: Revision = Revision::V2025_11_25;

pub(super) fn http_config() -> ClientConfig {
    let mut config = config();
    config.http = true;
    config
}

pub(super) fn http(revision: Revision) -> Peer {
    Peer::ready_with(http_config(), revision, ALL_SERVER_CAPABILITIES)
}

fn trusting(revision: Revision) -> Peer {
    let mut config = http_config();
    config.era = Some(EraVerdict { revision });
    let mut peer = Peer::new(config);
    assert!(matches!(peer.event(), Event::Ready { .. }));
    peer
}

/// What goes out, told apart.
#[derive(Debug, PartialEq)]
pub(super) enum Out {
    Message(String, Route, Option<Mirrored>),
    Abort(RequestHandle),
    Close,
}

impl Peer {
    pub(super) fn out(&mut self) -> Vec<Out> {
        core::iter::from_fn(|| self.client.poll_transmit())
            .map(|transmit| match transmit {
                Transmit::Message { text, route, labels } => {
                    assert_eq!((labels.exchange, labels.session), (None, None));
                    Out::Message(text, route, labels.mirrored.map(|mirrored| *mirrored))
                }
                Transmit::Abort { request } => Out::Abort(request),
                Transmit::Close => Out::Close,
                other => panic!("{other:?}"),
            })
            .collect()
    }

    /// The only message that waits to be sent, its route, and what headers repeat of it.
    pub(super) fn out_one(&mut self) -> (String, Route, Option<Mirrored>) {
        let mut out = self.out();
        match out.pop() {
            Some(Out::Message(text, route, mirrored)) if out.is_empty() => (text, route, mirrored),
            last => panic!("{out:?} {last:?}"),
        }
    }

    pub(super) fn receive_within(&mut self, request: RequestHandle, text: &str) {
        let facts = Facts { within: Some(request), ..Facts::default() };
        let _ = self.input(Input::Message { text, facts });
    }

    pub(super) fn lose(&mut self, request: RequestHandle, failure: Failure) {
        let _ = self.input(Input::Failed { request: Some(request), failure });
    }
}

/// The request that a message opens.
pub(super) fn opened(route: Route) -> RequestHandle {
    match route {
        Route::Opens(request) => request,
        other => panic!("{other:?}"),
    }
}

fn of_revision(revision: Revision) -> Mirrored {
    Mirrored { protocol_version: Some(revision), ..Mirrored::default() }
}

fn of_call(method: &str, name: Option<&str>) -> Mirrored {
    Mirrored { method: Some(method.into()), name: name.map(Into::into), ..of_revision(MODERN) }
}

// proves: BASE-281 BASE-282 BASE-288 BASE-289 BASE-432 FEAT-074
#[test]
fn modern_messages_are_labelled_with_revision_method_and_target() {
    let mut peer = Peer::new(http_config());
    let (_, route, mirrored) = peer.out_one();
    assert_eq!(mirrored, Some(of_call("server/discover", None)));
    assert_eq!(peer.client.awaited_attempt(opened(route)), Some(opened(route).number()));
    let mut peer = http(MODERN);
    for (method, params, name) in [
        ("tools/call", r#"{"name":"a\u0062 \"c\"","arguments":{}}"#, Some("ab \"c\"")),
        ("tools/call", r#"{"name":7}"#, None),
        ("prompts/get", r#"{"arguments":{},"name":"greet"}"#, Some("greet")),
        (
            "resources/read",
            r#"{"uri":"file:///path/to/file%20name.txt"}"#,
            Some("file:///path/to/file%20name.txt"),
        ),
        ("tools/list", r#"{"name":"x"}"#, None),
        ("completion/complete", r#"{"ref":{"type":"ref/prompt","name":"p"},"argument":{}}"#, None),
        ("com.example/own", r#"{"name":"x"}"#, None),
    ] {
        let request = peer.request(method, params);
        let (_, route, mirrored) = peer.out_one();
        assert_eq!((route, mirrored), (Route::Opens(request), Some(of_call(method, name))), "{params}");
    }
    peer.client.notify("com.example/told", Some("{}")).unwrap();
    assert_eq!(peer.out_one().2, Some(of_call("com.example/told", None)));
    peer.client.subscribe(Instant::ZERO, SubscriptionFilter { tools: true, ..Default::default() }).unwrap();
    assert_eq!(peer.out_one().2, Some(of_call("subscriptions/listen", None)));
}

// proves: BASE-269 BASE-270
#[test]
fn legacy_messages_are_labelled_with_the_negotiated_revision_where_it_has_the_header() {
    for revision in Revisions::LEGACY.to_vec() {
        let has_header = revision >= Revision::V2025_06_18;
        let expected = Some(if has_header { of_revision(revision) } else { Mirrored::default() });
        let mut config = http_config();
        config.revisions = Revisions::of(&[revision]);
        let mut peer = Peer::new(config);
        let (initialize, _, mirrored) = peer.out_one();
        assert_eq!(mirrored, Some(Mirrored { is_handshake: true, ..Mirrored::default() }));
        peer.answer(
            &id_of(&initialize),
            &format!(r#"{{"protocolVersion":"{revision}","capabilities":{ALL_SERVER_CAPABILITIES}}}"#),
        );
        let (initialized, _, mirrored) = peer.out_one();
        assert_eq!(
            (method_of(&initialized).as_str(), mirrored),
            ("notifications/initialized", expected.clone())
        );
        peer.request("tools/call", r#"{"name":"t"}"#);
        assert_eq!(peer.out_one().2, expected, "{revision}");
        peer.receive(r#"{"jsonrpc":"2.0","id":"q","method":"ping"}"#);
        assert_eq!(peer.out_one().2, expected.clone().filter(|_| has_header), "{revision}");
        peer.client.notify_roots_changed().unwrap();
        assert_eq!(peer.out_one().2, expected, "{revision}");
    }
}

#[test]
fn a_byte_stream_has_no_labels() {
    for revision in Revision::ALL {
        let mut peer = Peer::ready(revision);
        peer.request("tools/call", r#"{"name":"t"}"#);
        assert_eq!(peer.out_one().2, None);
    }
}

// proves: BASE-373 BASE-407 BASE-414 BASE-428
#[test]
fn modern_requests_are_given_up_by_closing_their_exchange() {
    let mut peer = http(MODERN);
    let cancelled = peer.request("tools/call", r#"{"name":"t"}"#);
    let options = RequestOptions { timeout: Some(10), ..RequestOptions::default() };
    let late = peer.request_with("tools/list", "{}", options);
    peer.out();
    peer.client.cancel(cancelled, Some("enough")).unwrap();
    assert_eq!(peer.out(), [Out::Abort(cancelled)]);
    assert_eq!(peer.client.awaited_attempt(cancelled), None);
    peer.advance(10);
    assert_eq!(peer.out(), [Out::Abort(late)]);
    let reasons = [failed(cancelled, FailureReason::Cancelled), failed(late, FailureReason::TimedOut)];
    assert_eq!(peer.events(), reasons);
    // A late answer, or the end of the exchange, changes nothing.
    let id = cancelled.number().to_string();
    peer.receive_within(cancelled, &format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#));
    peer.lose(late, Failure::Truncated);
    assert_eq!(peer.events(), []);

    let filter = SubscriptionFilter { tools: true, ..SubscriptionFilter::default() };
    let subscription = peer.client.subscribe(Instant::ZERO, filter).unwrap();
    let listen = opened(peer.out_one().1);
    peer.client.unsubscribe(Instant::ZERO, subscription).unwrap();
    assert_eq!(peer.out(), [Out::Abort(listen)]);
}

#[test]
fn a_request_that_waits_for_answers_of_the_application_has_no_exchange_to_close() {
    let mut peer = http(MODERN);
    let (request, id) = peer.call();
    peer.answer(&id, r#"{"resultType":"input_required","inputRequests":{"a":{"method":"roots/list"}}}"#);
    assert_eq!(peer.client.awaited_attempt(request), None);
    peer.client.cancel(request, None).unwrap();
    assert_eq!(peer.out(), []);
}

#[test]
fn legacy_requests_are_given_up_by_a_notification() {
    let mut peer = http(NEWEST_LEGACY);
    let (request, id) = peer.call();
    peer.client.cancel(request, None).unwrap();
    // Leaving its exchange would cancel nothing in this era.
    let (text, route, mirrored) = peer.out_one();
    assert_eq!(method_of(&text), "notifications/cancelled");
    assert_eq!(member(&text, &["params", "requestId"]), Some(id));
    assert_eq!((route, mirrored), (Route::Within(request), Some(of_revision(NEWEST_LEGACY))));
}

#[test]
fn silence_of_the_probe_is_an_outage_over_http() {
    let mut peer = Peer::new(http_config());
    let probe = opened(peer.out_one().1);
    peer.advance(29_999);
    assert_eq!(peer.events(), []);
    peer.advance(1);
    assert_eq!(peer.event(), Event::Disconnected { reason: DisconnectReason::HandshakeTimedOut });
    assert_eq!(peer.out(), [Out::Abort(probe), Out::Close]);
}

const OUTAGES: [Failure; 7] = [
    Failure::Unauthorized { status: 401 },
    Failure::Unauthorized { status: 403 },
    Failure::Unavailable { status: None },
    Failure::Unavailable { status: Some(408) },
    Failure::Unavailable { status: Some(429) },
    Failure::Unavailable { status: Some(503) },
    Failure::Refused { status: 307 },
];

// proves: BASE-329 BASE-331
#[test]
fn refusals_of_the_probe_speak_for_a_legacy_server() {
    for status in [200, 202, 400, 404, 405, 406, 415, 422, 451] {
        let mut peer = Peer::new(http_config());
        let probe = opened(peer.out_one().1);
        peer.lose(probe, Failure::Refused { status });
        let (text, _, mirrored) = peer.out_one();
        assert_eq!(method_of(&text), "initialize", "{status}");
        assert!(mirrored.is_some_and(|mirrored| mirrored.is_handshake));
    }
    let mut peer = Peer::new(http_config());
    let probe = opened(peer.out_one().1);
    peer.lose(probe, Failure::Truncated);
    assert_eq!(method_of(&peer.out_one().0), "initialize");
}

#[test]
fn outages_of_the_probe_say_nothing_of_the_era() {
    for failure in OUTAGES {
        let mut peer = Peer::new(http_config());
        let call = peer.request("tools/list", "{}");
        let probe = opened(peer.out_one().1);
        let outcome = peer.input(Input::Failed { request: Some(probe), failure });
        assert_eq!(outcome, Err(Error::Closed(CloseReason::HandshakeFailed)));
        let reason = DisconnectReason::ExchangeFailed(failure);
        let events = [failed(call, FailureReason::ConnectionLost), Event::Disconnected { reason }];
        assert_eq!(peer.events(), events);
        assert_eq!(peer.out(), [Out::Close]);
    }
    // Without a legacy revision to fall back to, a refusal is the end too.
    let mut config = http_config();
    config.revisions = Revisions::MODERN;
    let mut peer = Peer::new(config);
    let probe = opened(peer.out_one().1);
    peer.lose(probe, Failure::Refused { status: 404 });
    let reason = DisconnectReason::ExchangeFailed(Failure::Refused { status: 404 });
    assert_eq!(peer.event(), Event::Disconnected { reason });
}

#[test]
fn a_handshake_without_an_answer_ends_with_the_reason() {
    for failure in OUTAGES.into_iter().chain([Failure::Refused { status: 404 }, Failure::Truncated]) {
        let mut config = http_config();
        config.revisions = Revisions::LEGACY;
        let mut peer = Peer::new(config);
        let initialize = opened(peer.out_one().1);
        peer.lose(initialize, failure);
        let reason = DisconnectReason::ExchangeFailed(failure);
        assert_eq!(peer.event(), Event::Disconnected { reason });
    }
}

// proves: BASE-255
#[test]
fn exchanges_without_an_answer_fail_their_request_with_the_reason() {
    for revision in [MODERN, NEWEST_LEGACY] {
        for failure in OUTAGES.into_iter().chain([Failure::Refused { status: 413 }, Failure::Truncated]) {
            let mut peer = http(revision);
            let (request, _) = peer.call();
            let (other, id) = peer.call();
            peer.lose(request, failure);
            let reason = FailureReason::ExchangeFailed(failure);
            assert_eq!(reason.code(), failure.code());
            assert_eq!(peer.event(), failed(request, reason));
            peer.lose(request, failure);
            assert_eq!(peer.events(), []);
            assert_eq!(peer.out(), [], "nothing is repeated by itself");
            peer.answer(&id, "{}");
            assert_eq!(peer.event(), answered(other, "{}"));
        }
    }
}

#[test]
fn what_was_no_request_fails_silently() {
    let mut peer = http(MODERN);
    for failure in OUTAGES {
        peer.input(Input::Failed { request: None, failure }).unwrap();
    }
    assert_eq!((peer.events(), peer.out()), (Vec::new(), Vec::new()));
}

// proves: BASE-376
#[test]
fn a_listen_stream_that_ends_without_a_result_is_lost() {
    let mut peer = http(MODERN);
    let filter = SubscriptionFilter { tools: true, ..SubscriptionFilter::default() };
    let subscription = peer.client.subscribe(Instant::ZERO, filter).unwrap();
    let (_, route, _) = peer.out_one();
    let listen = opened(route);
    // The exchange says whom it is for, whatever the tag.
    peer.receive_within(
        listen,
        r#"{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":{"toolsListChanged":true}}}"#,
    );
    assert!(matches!(peer.event(), Event::SubscriptionAcknowledged { .. }));
    peer.receive_within(
        listen,
        r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"odd"}}}"#,
    );
    let changed = Event::ListChanged { kind: ListKind::Tools, subscription: Some(subscription) };
    assert_eq!(peer.event(), changed);
    // In the exchange of a call it is for nobody.
    let (call, _) = peer.call();
    let tagged = format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{{"_meta":{{"io.modelcontextprotocol/subscriptionId":{}}}}}}}"#,
        listen.number()
    );
    peer.receive_within(call, &tagged);
    assert_eq!(violations(&peer.events()), [Violation::UnknownTarget]);
    peer.lose(listen, Failure::Truncated);
    assert_eq!(peer.event(), Event::SubscriptionEnded { subscription, graceful: false });
}

#[test]
fn a_listen_stream_that_the_server_cancels_is_closed() {
    let mut peer = http(MODERN);
    let subscription = peer.client.subscribe(Instant::ZERO, SubscriptionFilter::default()).unwrap();
    let (text, route, _) = peer.out_one();
    let listen = opened(route);
    let cancelled = format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{}}}}}"#,
        id_of(&text)
    );
    peer.receive_within(listen, &cancelled);
    assert_eq!(peer.event(), Event::SubscriptionEnded { subscription, graceful: true });
    assert_eq!(peer.out(), [Out::Abort(listen)]);
}

#[test]
fn progress_and_logs_belong_to_the_request_in_whose_response_they_came() {
    let mut peer = http(MODERN);
    let options = RequestOptions {
        progress: true,
        log_level: Some(crate::logging::LogLevel::Info),
        ..Default::default()
    };
    let first = peer.request_with("tools/call", r#"{"name":"t"}"#, options.clone());
    let second = peer.request_with("tools/call", r#"{"name":"t"}"#, options);
    let plain = peer.request("tools/list", "{}");
    peer.out();
    // The token says otherwise, and is not asked.
    let progress = format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{},"progress":1}}}}"#,
        first.number()
    );
    peer.receive_within(second, &progress);
    assert!(matches!(peer.event(), Event::ProgressReceived { request, .. } if request == second));
    peer.receive_within(plain, &progress);
    assert_eq!(violations(&peer.events()), [Violation::UnknownTarget]);
    let log = r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}"#;
    for request in [first, second, plain] {
        peer.receive_within(request, log);
        assert!(matches!(peer.event(), Event::LogReceived { request: told, .. } if told == Some(request)));
    }
    peer.client.cancel(first, None).unwrap();
    peer.events();
    peer.receive_within(first, log);
    assert!(matches!(peer.event(), Event::LogReceived { request: None, .. }));
}

const UNREAD: [(&str, bool); 3] = [
    (r#"{"jsonrpc":"2.0","error":{"code":-32000,"message":"m"}}"#, false),
    (r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"m"}}"#, false),
    (r#"{"jsonrpc":"2.0","id":"server-error","error":{"code":-32000,"message":"m"}}"#, true),
];

#[test]
fn errors_that_name_no_request_answer_the_one_in_whose_response_they_came() {
    for revision in Revision::ALL {
        for (text, is_odd) in UNREAD {
            let mut peer = http(revision);
            let (other, _) = peer.call();
            let (request, _) = peer.call();
            peer.receive_within(request, text);
            let mut events = peer.events();
            let reason = FailureReason::Rpc(RpcError::new(-32000, "m"));
            assert_eq!(events.pop(), Some(failed(request, reason)), "{text}");
            let odd = if is_odd { &[Violation::UnknownResponse][..] } else { &[] };
            assert_eq!(violations(&events), odd);
            // Once is enough, and nobody else is meant.
            peer.receive_within(request, text);
            assert_eq!(violations(&peer.events()), [Violation::UnknownResponse]);
            assert!(peer.client.awaited_attempt(other).is_some());
        }
    }
}

#[test]
fn a_response_to_another_request_settles_that_one() {
    let mut peer = http(NEWEST_LEGACY);
    let (first, id) = peer.call();
    let (second, _) = peer.call();
    peer.receive_within(second, &format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#));
    assert_eq!(peer.event(), answered(first, "{}"));
    assert!(peer.client.awaited_attempt(second).is_some());
    peer.receive_within(second, r#"{"jsonrpc":"2.0","id":"odd","result":{}}"#);
    assert_eq!(violations(&peer.events()), [Violation::UnknownResponse]);
    assert!(peer.client.awaited_attempt(second).is_some());
}

#[test]
fn errors_that_name_no_request_answer_the_opening_too() {
    for (text, _) in UNREAD {
        let mut peer = Peer::new(http_config());
        let probe = opened(peer.out_one().1);
        peer.receive_within(probe, text);
        let (initialize, route, _) = peer.out_one();
        assert_eq!(method_of(&initialize), "initialize");
        peer.receive_within(opened(route), text);
        let reason = DisconnectReason::Refused(RpcError::new(-32000, "m"));
        assert_eq!(peer.events().pop(), Some(Event::Disconnected { reason }));
    }
}

// proves: BASE-128
#[test]
fn a_bare_refusal_speaks_once_against_a_stored_verdict() {
    for status in [400, 404, 405] {
        let mut peer = trusting(MODERN);
        let call = peer.request("tools/call", r#"{"name":"t"}"#);
        let subscription = peer.client.subscribe(Instant::ZERO, SubscriptionFilter::default()).unwrap();
        let out = peer.out();
        let [Out::Message(_, first, _), Out::Message(_, listen, _)] = &out[..] else { panic!("{out:?}") };
        peer.lose(opened(*first), Failure::Refused { status });
        let (probe, route, _) = peer.out_one();
        assert_eq!(method_of(&probe), "server/discover");
        peer.lose(opened(*listen), Failure::Refused { status });
        assert_eq!((peer.events(), peer.out()), (Vec::new(), Vec::new()));
        let discovered = format!(
            r#"{{"jsonrpc":"2.0","id":{},"result":{{"supportedVersions":["2026-07-28"],"capabilities":{ALL_SERVER_CAPABILITIES}}}}}"#,
            id_of(&probe)
        );
        peer.receive_within(opened(route), &discovered);
        assert!(matches!(peer.event(), Event::Ready { .. }));
        assert_eq!(methods(&peer.sent()), ["tools/call", "subscriptions/listen"]);
        // Now it is certain, and a refusal is one.
        peer.lose(call, Failure::Refused { status });
        let reason = FailureReason::ExchangeFailed(Failure::Refused { status });
        assert_eq!(peer.event(), failed(call, reason));
        let _ = subscription;
    }
}

#[test]
fn an_unread_request_speaks_against_a_stored_verdict_and_an_outage_does_not() {
    for (text, _) in UNREAD {
        let mut peer = trusting(MODERN);
        let call = peer.request("tools/call", r#"{"name":"t"}"#);
        peer.sent();
        peer.receive_within(call, text);
        let probe = peer.sent_one();
        assert_eq!(method_of(&probe), "server/discover");
        peer.fail(&id_of(&probe), r#"{"code":-32601,"message":"m"}"#);
        let initialize = peer.sent_one();
        peer.answer(
            &id_of(&initialize),
            &format!(r#"{{"protocolVersion":"2025-11-25","capabilities":{ALL_SERVER_CAPABILITIES}}}"#),
        );
        assert_eq!(methods(&peer.sent()), ["notifications/initialized", "tools/call"]);
    }
    for failure in OUTAGES {
        let mut peer = trusting(MODERN);
        let call = peer.request("tools/call", r#"{"name":"t"}"#);
        peer.sent();
        peer.lose(call, failure);
        assert_eq!(peer.event(), failed(call, FailureReason::ExchangeFailed(failure)));
        assert_eq!(peer.out(), []);
    }
    let mut peer = trusting(MODERN);
    let call = peer.request("tools/call", r#"{"name":"t"}"#);
    peer.sent();
    peer.advance(60_000);
    assert_eq!(peer.event(), failed(call, FailureReason::TimedOut));
    assert_eq!(peer.out(), [Out::Abort(call)]);
    // What only a modern server says is its answer.
    let mut peer = trusting(MODERN);
    let call = peer.request("tools/list", "{}");
    peer.sent();
    peer.receive_within(call, r#"{"jsonrpc":"2.0","error":{"code":-32020,"message":"m"}}"#);
    assert_eq!(peer.event(), failed(call, FailureReason::Rpc(RpcError::new(-32020, "m"))));
}

#[test]
fn a_revision_that_was_refused_and_is_listed_is_asked_for_once_more() {
    let refusal =
        r#"{"code":-32022,"message":"m","data":{"supported":["2026-07-28"],"requested":"2026-07-28"}}"#;
    let mut peer = Peer::new(http_config());
    let first = id_of(&peer.sent_one());
    peer.fail(&first, refusal);
    let second = peer.sent_one();
    assert_eq!(method_of(&second), "server/discover");
    assert_ne!(id_of(&second), first);
    peer.fail(&id_of(&second), refusal);
    let Event::Disconnected { reason: DisconnectReason::Failed(Error::PeerIncompatible(fault)) } =
        peer.event()
    else {
        panic!()
    };
    assert!(matches!(fault, PeerIncompatible::NoCommonRevision { .. }));
}

#[test]
fn the_end_of_an_http_connection_asks_for_no_restart() {
    let mut peer = Peer::new(http_config());
    peer.input(Input::Lost).unwrap();
    let reason = DisconnectReason::Closed(CloseReason::TransportLost);
    assert_eq!(peer.event(), Event::Disconnected { reason });
}

/// A user who logs in takes longer than any server may.
const LOGIN: u64 = 8 * 60_000;

#[test]
fn no_time_passes_for_an_opening_that_waits_to_be_authorized() {
    for revision in [MODERN, NEWEST_LEGACY] {
        let mut config = http_config();
        config.revisions = Revisions::of(&[revision]);
        let mut peer = Peer::new(config);
        let (text, route, _) = peer.out_one();
        let Route::Opens(opening) = route else { panic!("{route:?}") };
        // Made early, and held back.
        let early = peer.request("tools/list", "{}");
        peer.advance(29_000);
        peer.input(Input::Held { request: opening }).unwrap();
        peer.advance(LOGIN);
        peer.advance(LOGIN);
        assert!(peer.events().is_empty() && peer.out().is_empty(), "{revision}");
        assert_eq!(peer.client.poll_timeout(), None, "{revision}");
        peer.input(Input::Released { request: opening }).unwrap();
        peer.advance(999);
        assert!(peer.events().is_empty(), "{revision}");
        let result = if revision == MODERN {
            format!(
                r#"{{"resultType":"complete","supportedVersions":["{revision}"],"capabilities":{{"tools":{{}}}}}}"#
            )
        } else {
            format!(
                r#"{{"protocolVersion":"{revision}","capabilities":{{"tools":{{}}}},"serverInfo":{{"name":"s","version":"1"}}}}"#
            )
        };
        peer.answer(&id_of(&text), &result);
        assert!(matches!(peer.events().as_slice(), [Event::Ready { .. }]), "{revision}");
        assert!(
            peer.out()
                .iter()
                .any(|out| matches!(out, Out::Message(_, Route::Opens(request), _) if *request == early))
        );
    }
}

#[test]
fn an_opening_has_the_rest_of_its_time_after_it_was_authorized() {
    let mut config = http_config();
    config.revisions = Revisions::of(&[MODERN]);
    let mut peer = Peer::new(config);
    let (_, route, _) = peer.out_one();
    let Route::Opens(opening) = route else { panic!("{route:?}") };
    peer.advance(29_000);
    peer.input(Input::Held { request: opening }).unwrap();
    peer.advance(LOGIN);
    peer.input(Input::Released { request: opening }).unwrap();
    peer.advance(1_000);
    assert!(matches!(
        peer.events().as_slice(),
        [Event::Disconnected { reason: DisconnectReason::HandshakeTimedOut }]
    ));
}

#[test]
fn no_time_passes_for_a_request_that_waits_to_be_authorized() {
    let mut peer = http(MODERN);
    let (held, _) = peer.call();
    let (other, _) = peer.call();
    let timeout = peer.client.config.timeouts.request;
    peer.advance(timeout - 1);
    peer.input(Input::Held { request: held }).unwrap();
    // Twice is once, and of what is not there nothing is known.
    peer.input(Input::Held { request: held }).unwrap();
    peer.input(Input::Held { request: RequestHandle::from_number(99) }).unwrap();
    peer.advance(1);
    let timed_out = |peer: &mut Peer, expected: RequestHandle| {
        let events = peer.events();
        let [Event::RequestFailed { request, reason: FailureReason::TimedOut }] = events.as_slice() else {
            panic!("{events:?}")
        };
        assert_eq!(*request, expected);
    };
    timed_out(&mut peer, other);
    peer.advance(LOGIN * 2);
    assert!(peer.events().is_empty());
    peer.input(Input::Released { request: held }).unwrap();
    peer.input(Input::Released { request: held }).unwrap();
    assert!(peer.events().is_empty());
    peer.advance(1);
    timed_out(&mut peer, held);
    assert_eq!(peer.client.poll_timeout(), None);
}
