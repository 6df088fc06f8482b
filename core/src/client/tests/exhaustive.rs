//! Every state meets every input: nothing panics, and what must hold afterwards holds.

use alloc::boxed::Box;
use alloc::collections::BTreeSet;

use super::http::{http, http_config};
use super::*;
use crate::error::Error;
use crate::machine::Failure;
use crate::revision::EraVerdict;
use crate::subscription::SubscriptionFilter;

type Make = fn() -> Peer;

/// Makes a client in each state that a connection can be in.
const STATES: [(&str, Make); 22] = [
    ("probing", || loaded(Peer::new(config()))),
    ("restarting", || {
        let mut peer = loaded(Peer::new(config()));
        peer.input(Input::Closed).unwrap();
        peer
    }),
    ("handshaking", || {
        let mut peer = loaded(Peer::new(config()));
        peer.advance(5_000);
        peer
    }),
    ("2024-11-05", || loaded(Peer::ready(Revision::V2024_11_05))),
    ("2025-03-26", || loaded(Peer::ready(Revision::V2025_03_26))),
    ("2025-06-18", || loaded(Peer::ready(Revision::V2025_06_18))),
    ("2025-11-25", || loaded(Peer::ready(Revision::V2025_11_25))),
    ("2026-07-28", || loaded(Peer::ready(Revision::V2026_07_28))),
    ("by a stored verdict", || {
        let mut config = config();
        config.era = Some(EraVerdict { revision: Revision::V2026_07_28 });
        loaded(Peer::new(config))
    }),
    ("asked within a round", || {
        let mut peer = Peer::ready(Revision::V2026_07_28);
        let (_, id) = peer.call();
        peer.answer(
            &id,
            r#"{"resultType":"input_required","inputRequests":{"a":{"method":"roots/list"}},"requestState":"s"}"#,
        );
        peer
    }),
    ("asked by a request", || {
        let mut peer = Peer::ready(Revision::V2025_11_25);
        peer.call();
        peer.receive(r#"{"jsonrpc":"2.0","id":"q","method":"roots/list"}"#);
        peer
    }),
    ("sent to a URL", || {
        let mut peer = Peer::ready(Revision::V2025_11_25);
        let (_, id) = peer.call();
        peer.fail(
            &id,
            r#"{"code":-32042,"message":"m","data":{"elicitations":[{"mode":"url","elicitationId":"e","url":"u"}]}}"#,
        );
        peer
    }),
    ("probing over HTTP", || loaded(Peer::new(http_config()))),
    ("handshaking over HTTP", || {
        let mut peer = loaded(Peer::new(http_config()));
        peer.lose(RequestHandle::from_number(1), Failure::Refused { status: 404 });
        peer
    }),
    ("2025-03-26 over HTTP", || loaded(http(Revision::V2025_03_26))),
    ("2025-11-25 over HTTP", || loaded(http(Revision::V2025_11_25))),
    ("2026-07-28 over HTTP", || loaded(http(Revision::V2026_07_28))),
    ("by a stored verdict over HTTP", || {
        let mut config = http_config();
        config.era = Some(EraVerdict { revision: Revision::V2026_07_28 });
        loaded(Peer::new(config))
    }),
    ("replacing a session", || {
        let mut peer = loaded(http(Revision::V2025_11_25));
        peer.lose(RequestHandle::from_number(2), Failure::SessionLost { is_current: true });
        peer
    }),
    ("in a new session", || {
        let mut peer = loaded(http(Revision::V2025_11_25));
        peer.lose(RequestHandle::from_number(2), Failure::SessionLost { is_current: true });
        let initialize = peer.sent().pop().unwrap();
        peer.answer(&id_of(&initialize), r#"{"protocolVersion":"2025-11-25","capabilities":{}}"#);
        peer
    }),
    ("fetching tools", || {
        let mut peer = loaded(http(Revision::V2026_07_28));
        peer.fail("2", r#"{"code":-32020,"message":"m"}"#);
        peer
    }),
    ("over", || {
        let mut peer = loaded(Peer::ready(Revision::V2025_11_25));
        peer.client.close();
        peer
    }),
];

#[test]
fn the_states_over_http_are_what_they_say() {
    use crate::client::state::State;
    let state = |name: &str| {
        let (_, make) = STATES.iter().find(|(other, _)| *other == name).unwrap();
        let client = make().client;
        (client.state, client.session.is_replaced(), client.opening.is_unconfirmed())
    };
    assert_eq!(state("probing over HTTP"), (State::Probing, false, false));
    assert_eq!(state("handshaking over HTTP"), (State::Handshaking, false, false));
    assert_eq!(state("by a stored verdict over HTTP"), (State::Modern, false, true));
    assert_eq!(state("replacing a session"), (State::Handshaking, true, false));
    assert_eq!(state("in a new session"), (State::Legacy, false, false));
    let (_, make) = STATES.iter().find(|(name, _)| *name == "fetching tools").unwrap();
    let client = make().client;
    assert_eq!(client.awaited_attempt(RequestHandle::from_number(2)), None);
    assert!(client.pending.get(RequestHandle::from_number(2)).is_some());
}

/// Two requests and a subscription, in flight or held back.
fn loaded(mut peer: Peer) -> Peer {
    let options = RequestOptions { progress: true, ..RequestOptions::default() };
    peer.request_with("tools/call", r#"{"name":"t"}"#, options);
    peer.request("tools/list", "{}");
    let filter = SubscriptionFilter {
        tools: true,
        resource_uris: alloc::vec!["file:///a".into()],
        ..SubscriptionFilter::default()
    };
    peer.client.subscribe(Instant::from_millis(peer.now), filter).unwrap();
    peer
}

/// Messages of every kind; `$` stands for each id that may be in flight.
const TEXTS: &[&str] = &[
    "",
    "noise",
    "7",
    "[]",
    "[[]]",
    r#"[{"jsonrpc":"2.0","id":$,"result":{}},{"jsonrpc":"2.0","id":"b","method":"roots/list"}]"#,
    r#"[{"jsonrpc":"2.0","id":$}, 7, [], {"jsonrpc":"2.0","id":"b","method":"ping"}]"#,
    "{}",
    r#"{"jsonrpc":"2.0","id":$,"result":{}}"#,
    r#"{"jsonrpc":"2.0","id":$,"result":null}"#,
    r#"{"jsonrpc":"2.0","id":$,"result":{"resultType":"odd"}}"#,
    r#"{"jsonrpc":"2.0","id":$,"result":{"resultType":"input_required","requestState":"s"}}"#,
    r#"{"jsonrpc":"2.0","id":$,"result":{"resultType":"input_required","inputRequests":{"a":{"method":"roots/list"}}}}"#,
    r#"{"jsonrpc":"2.0","id":$,"result":{"protocolVersion":"2025-11-25","capabilities":{}}}"#,
    r#"{"jsonrpc":"2.0","id":$,"result":{"protocolVersion":"1999-01-01"}}"#,
    r#"{"jsonrpc":"2.0","id":$,"result":{"supportedVersions":["2026-07-28"],"capabilities":{}}}"#,
    r#"{"jsonrpc":"2.0","id":$,"error":{"code":-32601,"message":"m"}}"#,
    r#"{"jsonrpc":"2.0","id":$,"error":{"code":-32022,"message":"m","data":{"supported":["2026-07-28","2024-11-05"]}}}"#,
    r#"{"jsonrpc":"2.0","id":$,"error":{"code":-32021,"message":"m","data":{"requiredCapabilities":{}}}}"#,
    r#"{"jsonrpc":"2.0","id":$,"error":"m"}"#,
    r#"{"jsonrpc":"2.0","id":$}"#,
    r#"{"jsonrpc":"2.0","id":$,"method":"ping"}"#,
    r#"{"jsonrpc":"2.0","id":$,"method":"roots/list","result":{}}"#,
    r#"{"jsonrpc":"2.0","error":{"code":-32600,"message":"m"}}"#,
    r#"{"jsonrpc":"2.0","id":"server-error","error":{"code":-32000,"message":"m"}}"#,
    r#"{"jsonrpc":"2.0","id":$,"error":{"code":-32020,"message":"m"}}"#,
    r#"{"jsonrpc":"2.0","id":$,"result":{"tools":[{"name":"t","inputSchema":{"x-mcp-header":"a"}},7],"nextCursor":"c"}}"#,
    r#"{"jsonrpc":"2.0","id":"q","method":"ping"}"#,
    r#"{"jsonrpc":"2.0","id":"r","method":"elicitation/create","params":{"message":"?"}}"#,
    r#"{"jsonrpc":"2.0","id":"r","method":"sampling/createMessage"}"#,
    r#"{"jsonrpc":"2.0","id":"r","method":"initialize","params":{}}"#,
    r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":$}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"q"}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/cancelled"}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":$,"progress":1e999}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/progress"}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":$}}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"file:///a"}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":{},"_meta":{"io.modelcontextprotocol/subscriptionId":$}}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{"elicitationId":"e"}}"#,
    r#"{"jsonrpc":"2.0","id":$,"error":{"code":-32042,"message":"m","data":{"elicitations":[{"mode":"url","url":"u"}]}}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    r#"{"jsonrpc":"2.0","method":"com.example/x","params":{}}"#,
];

const IDS: [&str; 8] = ["1", "2", "3", "4", "5", "6", "\"probe-1\"", "\"x\""];

const DAMAGES: [Violation; 3] = [Violation::TooLong, Violation::NotUtf8, Violation::EndedEarly];

const FAILURES: [Failure; 7] = [
    Failure::Refused { status: 404 },
    Failure::Refused { status: 307 },
    Failure::SessionLost { is_current: true },
    Failure::SessionLost { is_current: false },
    Failure::Unauthorized { status: 401 },
    Failure::Unavailable { status: None },
    Failure::Truncated,
];

type Act = Box<dyn Fn(&mut Peer)>;

/// Everything that can happen to a client, one at a time.
fn inputs() -> Vec<(String, Act)> {
    let mut inputs: Vec<(String, Act)> = Vec::new();
    for text in TEXTS {
        for id in IDS.iter().take(if text.contains('$') { IDS.len() } else { 1 }) {
            let text = text.replace('$', id);
            inputs.push((text.clone(), Box::new(move |peer| peer.receive(&text))));
        }
    }
    for violation in DAMAGES {
        for bytes in [r#"{"jsonrpc":"2.0","id":2,"result":{"#, r#"{"id":"q","method":"ping","#, ""] {
            let name = format!("{violation:?} {bytes}");
            inputs.push((
                name,
                Box::new(move |peer| {
                    let _ = peer.input(Input::Damaged { bytes: bytes.as_bytes(), violation });
                }),
            ));
        }
    }
    for text in TEXTS {
        for number in 1..7 {
            let within = RequestHandle::from_number(number);
            let text = text.replace('$', "2");
            inputs.push((
                format!("within {number}: {text}"),
                Box::new(move |peer| peer.receive_within(within, &text)),
            ));
        }
    }
    for failure in FAILURES {
        for request in (0..7).map(|number| (number > 0).then(|| RequestHandle::from_number(number))) {
            inputs.push((
                format!("{failure:?} of {request:?}"),
                Box::new(move |peer| {
                    let _ = peer.input(Input::Failed { request, failure });
                }),
            ));
        }
    }
    for number in 1..5 {
        let request = RequestHandle::from_number(number);
        inputs.push((
            format!("cancel {number}"),
            Box::new(move |peer| {
                let _ = peer.client.cancel(request, Some("why"));
            }),
        ));
        inputs.push((
            format!("answer {number}"),
            Box::new(move |peer| {
                let input = InputHandle::from_number(number);
                let response = InputResponse::Result(Json::new(r#"{"roots":[],"action":"accept"}"#).unwrap());
                let now = Instant::from_millis(peer.now);
                let _ = peer.client.provide_input(now, input, response);
            }),
        ));
        inputs.push((
            format!("unsubscribe {number}"),
            Box::new(move |peer| {
                let subscription = crate::machine::SubscriptionHandle::from_number(number);
                let _ = peer.client.unsubscribe(Instant::from_millis(peer.now), subscription);
            }),
        ));
    }
    for milliseconds in [0, 250, 5_000, 30_000, 60_000, 10_000_000] {
        inputs.push((format!("{milliseconds} ms"), Box::new(move |peer| peer.advance(milliseconds))));
    }
    for end in [Input::Closed, Input::Lost, Input::Restarted] {
        inputs.push((
            format!("{end:?}"),
            Box::new(move |peer| {
                let _ = peer.input(end);
            }),
        ));
    }
    inputs.push(("close".into(), Box::new(|peer| peer.client.close())));
    inputs.push((
        "request".into(),
        Box::new(|peer| {
            let now = Instant::from_millis(peer.now);
            let _ = peer.client.request(now, "ping", None, RequestOptions::default());
        }),
    ));
    inputs
}

/// What must hold of a client at any time, and at its end.
fn check(peer: &mut Peer, name: &str, over_before: bool, told: &mut BTreeSet<u64>) {
    let events = peer.events();
    let mut disconnected = false;
    for event in &events {
        assert!(!disconnected, "{name}: an event after the last one");
        note_settled(event, told);
        disconnected |= matches!(event, Event::Disconnected { .. });
    }
    assert!(!over_before || events.is_empty(), "{name}: events after the end: {events:?}");
    peer.sent();
    let again = peer.client.request(Instant::from_millis(peer.now), "", None, RequestOptions::default());
    let is_over = matches!(again, Err(Error::Closed(_)));
    assert_eq!(is_over, over_before || disconnected, "{name}");
    if is_over {
        assert_eq!(peer.client.poll_timeout(), None, "{name}: something is armed");
        assert_eq!(peer.client.pending.len(), 0, "{name}");
    } else if let Ok(request) = again {
        let _ = peer.client.cancel(request, None);
        peer.events().iter().for_each(|event| note_settled(event, told));
        peer.sent();
    }
}

#[test]
fn every_state_takes_every_input() {
    for (name, act) in inputs() {
        for (state, make) in STATES {
            let mut peer = make();
            let mut told = BTreeSet::new();
            for event in peer.events() {
                if let Event::ResponseReceived { request, .. } | Event::RequestFailed { request, .. } = event
                {
                    told.insert(request.number());
                }
            }
            peer.sent();
            let is_over = state == "over";
            act(&mut peer);
            check(&mut peer, &format!("{name} in {state}"), is_over, &mut told);
            let is_over = peer.client.end.is_some();
            act(&mut peer);
            check(&mut peer, &format!("{name} twice in {state}"), is_over, &mut told);
            // Whatever happened, time and the end settle everything that waits.
            let is_over = peer.client.end.is_some();
            peer.advance(100_000_000);
            check(&mut peer, &format!("{name} in {state}, then time"), is_over, &mut told);
            peer.client.close();
            peer.events();
            assert_eq!(
                (peer.client.poll_timeout(), peer.client.pending.len()),
                (None, 0),
                "{name} in {state}"
            );
        }
    }
}

/// Two inputs after each other can meet what one cannot.
#[test]
fn every_state_takes_pairs_of_messages() {
    let texts: Vec<String> = TEXTS.iter().map(|text| text.replace('$', "2")).collect();
    for first in &texts {
        for (state, make) in STATES {
            let mut peer = make();
            peer.events();
            peer.sent();
            peer.receive(first);
            for second in &texts {
                peer.receive(second);
                peer.sent();
            }
            peer.client.close();
            peer.events();
            assert_eq!(peer.client.poll_timeout(), None, "{first} in {state}");
        }
    }
}

/// Long walks meet what single steps and pairs cannot. A failure names the walk, which is the same every time.
#[test]
fn random_walks_keep_what_must_hold() {
    let inputs = inputs();
    for walk in 0..400u64 {
        let mut random = walk.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut below = |bound: usize| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            usize::try_from(random >> 33).unwrap() % bound
        };
        let (state, make) = STATES[below(STATES.len() - 1)];
        let mut peer = make();
        let mut told = BTreeSet::new();
        peer.events().iter().for_each(|event| note_settled(event, &mut told));
        for _ in 0..60 {
            let (name, act) = &inputs[below(inputs.len())];
            // Ends are rare, so that walks are long.
            let ends = ["Closed", "Lost", "close", "10000000 ms"].contains(&name.as_str());
            if ends && below(8) > 0 {
                continue;
            }
            let is_over = peer.client.end.is_some();
            act(&mut peer);
            check(&mut peer, &format!("walk {walk} from {state}: {name}"), is_over, &mut told);
        }
        peer.client.close();
        peer.events().iter().for_each(|event| note_settled(event, &mut told));
        assert_eq!((peer.client.pending.len(), peer.client.poll_timeout()), (0, None), "walk {walk}");
    }
}

fn note_settled(event: &Event, told: &mut BTreeSet<u64>) {
    if let Event::ResponseReceived { request, .. } | Event::RequestFailed { request, .. } = event {
        assert!(told.insert(request.number()), "{request:?} was settled twice");
    }
}
