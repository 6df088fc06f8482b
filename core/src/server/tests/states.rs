//! Every state of a server against everything that can happen to it.

use super::*;
use crate::jsonrpc::RpcError;
use crate::logging::LogLevel;
use crate::machine::{ExchangeHandle, SessionHandle, SubscriptionHandle};
use crate::revision::Revisions;
use crate::server::Notification;
use crate::subscription::{Change, ListKind};

const ALL: &str = r#"{"elicitation":{},"sampling":{},"roots":{}}"#;

/// How a server comes into a state.
type State = fn() -> Bench;

/// The states by name.
const STATES: &[(&str, State)] = &[
    ("new", Bench::new),
    ("legacy only", || {
        let mut config = config();
        config.revisions = Revisions::LEGACY;
        Bench::with(config)
    }),
    ("modern only", || {
        let mut config = config();
        config.revisions = Revisions::MODERN;
        Bench::with(config)
    }),
    ("handshake answered", || {
        let mut bench = Bench::new();
        bench.recv(&initialize("0", "2025-11-25", ALL));
        bench
    }),
    ("session of batches", || Bench::session(Revision::V2025_03_26, ALL)),
    ("session", || Bench::session(Revision::V2025_11_25, ALL)),
    ("serving both eras", || {
        let mut bench = Bench::session(Revision::V2025_11_25, ALL);
        bench.recv(&legacy("1", "tools/call", r#""name":"echo","_meta":{"progressToken":1}"#));
        bench.recv(&modern_with("2", "tools/call", r#""name":"echo""#, ALL));
        bench.recv(&modern("3", "subscriptions/listen", r#""notifications":{"toolsListChanged":true}"#));
        bench.recv(&legacy("4", "resources/subscribe", r#""uri":"file:///a""#));
        bench
    }),
    ("asking", || {
        let mut bench = Bench::session(Revision::V2025_11_25, ALL);
        let call = bench.call(&legacy("1", "tools/call", r#""name":"echo""#));
        bench.server.require_input(bench.now, call, [super::rounds::question("a")].into(), None).unwrap();
        bench
    }),
    ("draining", || {
        let mut bench = Bench::session(Revision::V2025_11_25, ALL);
        bench.call(&legacy("1", "tools/call", r#""name":"echo""#));
        bench.input(Input::Closed);
        bench
    }),
    ("closed", || {
        let mut bench = Bench::new();
        bench.server.close();
        bench
    }),
    ("lost", || {
        let mut bench = Bench::session(Revision::V2025_11_25, ALL);
        bench.input(Input::Lost);
        bench
    }),
];

/// What a peer can say.
fn messages() -> Vec<String> {
    let mut messages: Vec<String> = [
        "",
        "noise",
        "[]",
        "[1]",
        "null",
        "{}",
        r#"[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"initialize"}]"#,
        r#"[{"jsonrpc":"2.0","id":31,"method":"ping"},[],{"jsonrpc":"2.0","method":"notifications/initialized"}]"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":2,"result":{"action":"accept"}}"#,
        r#"{"jsonrpc":"2.0","id":3,"error":{"code":1,"message":"m"}}"#,
        r#"{"jsonrpc":"2.0","id":3,"error":7}"#,
        r#"{"jsonrpc":"2.0","error":{"code":1,"message":"m"}}"#,
        r#"{"jsonrpc":"2.0","id":4}"#,
        r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":7}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}"#,
    ]
    .map(String::from)
    .into();
    for row in crate::revision::Method::TABLE {
        messages.push(legacy("21", row.name, ""));
        messages.push(legacy(
            "22",
            row.name,
            r#""name":"echo","uri":"file:///a","level":"info","protocolVersion":"2025-06-18""#,
        ));
        messages.push(modern("23", row.name, r#""name":"greet","uri":"file:///a","notifications":{}"#));
        messages.push(format!(r#"{{"jsonrpc":"2.0","method":"{}"}}"#, row.name));
    }
    messages
}

/// What a host can do.
fn commands(bench: &mut Bench) {
    let now = bench.now;
    for number in 0..8 {
        let request = RequestHandle::from_number(number);
        let server = &mut bench.server;
        let progress = Notification::Progress { progress: 1.0, total: None, message: Some("m") };
        let log = Notification::Log { level: LogLevel::Error, logger: None, data: "1" };
        let _ = server.notify(request, progress);
        let _ = server.notify(request, log);
        let _ = server.notify(request, Notification::Other { method: "x/y", params: Some("{}") });
        let _ = server.require_input(now, request, [super::rounds::question("k")].into(), Some("1"));
        let _ = server.respond_invalid_arguments(request, "m");
        let _ = server.respond(request, TEXT_RESULT);
        let _ = server.respond_error(request, RpcError::new(1, "m"));
        let _ = server.end_subscription(SubscriptionHandle::from_number(number));
        let _ = server.request(now, SessionHandle::from_number(number), "ping", None);
    }
    let _ = bench.server.log(LogLevel::Error, None, "1");
    bench.server.publish(&Change::List(ListKind::Tools));
    bench.server.publish(&Change::Resource("file:///a".into()));
    let _ = bench.server.remove_tool("nap");
    let _ = bench.server.add_tool(r#"{"name":"late","inputSchema":{"type":"object"}}"#);
}

/// Whether the end has come, after which input is refused.
fn is_over(bench: &mut Bench) -> bool {
    bench.server.handle_input(bench.now, Input::Message { text: "{}", facts: Facts::default() }).is_err()
}

#[test]
fn every_state_takes_every_input() {
    let messages = messages();
    for (name, state) in STATES {
        for message in &messages {
            let mut bench = state();
            let (_, _) = (bench.events(), bench.sent());
            let was_over = is_over(&mut bench);
            let (_, _) = (bench.events(), bench.sent());
            let input = Input::Message { text: message, facts: Facts::default() };
            let taken = bench.server.handle_input(bench.now, input);
            assert_eq!(taken.is_err(), was_over, "{name}: {message}");
            let (events, sent) = (bench.events(), bench.sent());
            if was_over {
                assert!(events.is_empty() && sent.is_empty(), "{name}: {message}");
            }
            let settles = Json::new(message).ok().and_then(|json| {
                json.member("method")?;
                json.member("id")
            });
            if !was_over && settles.is_some() {
                // A request is answered, acknowledged, handed over or reported.
                let handed = events.iter().filter(|event| is_request(event)).count();
                let reported =
                    events.iter().filter(|event| matches!(event, Event::MessageDiscarded { .. })).count();
                assert!(handed + reported + sent.len() >= 1, "{name}: {message}: {events:?} {sent:?}");
                assert!(handed + sent.len() <= 1, "{name}: {message}: {events:?} {sent:?}");
            }
            commands(&mut bench);
            bench.wait(1_000_000);
            let (_, _) = (bench.events(), bench.sent());
            let _ = bench.server.handle_input(bench.now, Input::Closed);
            bench.wait(1_000_000);
            assert_ended(&mut bench, name, message);
        }
    }
}

fn is_request(event: &Event) -> bool {
    matches!(
        event,
        Event::ToolCalled { .. }
            | Event::ResourceReadRequested { .. }
            | Event::PromptRequested { .. }
            | Event::CompletionRequested { .. }
            | Event::RequestReceived { .. }
    )
}

/// The last thing told is the end, once, and the server holds nothing.
fn assert_ended(bench: &mut Bench, name: &str, message: &str) {
    let events = bench.events();
    let ends = events.iter().filter(|event| matches!(event, Event::Disconnected { .. })).count();
    let tells_end = matches!(events.last(), Some(Event::Disconnected { .. }));
    assert!(ends <= 1 && tells_end == (ends == 1), "{name}: {message}: {events:?}");
    assert!(is_over(bench), "{name}: {message}");
    assert_eq!(bench.server.poll_timeout(), None, "{name}: {message}");
    assert!(!bench.server.wants_input(), "{name}: {message}");
    assert!(bench.server.in_flight.is_empty() && bench.server.outbound.len() == 0, "{name}: {message}");
}

#[test]
fn every_state_takes_every_turn_of_the_transport() {
    let inputs: [Input<'_>; 9] = [
        Input::Damaged { bytes: b"\xff", violation: Violation::NotUtf8 },
        Input::Damaged {
            bytes: br#"{"jsonrpc":"2.0","id":1,"method":"ping","#,
            violation: Violation::EndedEarly,
        },
        Input::Gone { exchange: ExchangeHandle::from_number(2) },
        Input::Held { request: RequestHandle::from_number(1) },
        Input::Released { request: RequestHandle::from_number(1) },
        Input::SessionEnded { session: SessionHandle::from_number(1) },
        Input::Restarted,
        Input::Closed,
        Input::Lost,
    ];
    for (name, state) in STATES {
        for first in inputs {
            for second in inputs {
                let mut bench = state();
                let _ = bench.server.handle_input(bench.now, first);
                commands(&mut bench);
                let _ = bench.server.handle_input(bench.now, second);
                bench.server.close();
                assert_ended(&mut bench, name, &format!("{first:?} {second:?}"));
            }
        }
    }
}

#[test]
fn the_same_inputs_give_the_same_outputs() {
    for (name, state) in STATES {
        let run = || {
            let mut bench = state();
            for message in messages() {
                let input = Input::Message { text: &message, facts: Facts::default() };
                let _ = bench.server.handle_input(bench.now, input);
            }
            commands(&mut bench);
            (format!("{:?}", bench.events()), bench.sent())
        };
        assert_eq!(run(), run(), "{name}");
    }
}

#[test]
fn mutated_messages_end_nothing() {
    let seeds = [
        modern_with("1", "tools/call", r#""name":"echo","arguments":{"a":[1,{"b":"c\\n"}]}"#, ALL),
        legacy("2", "tools/call", r#""name":"echo","_meta":{"progressToken":"t"}"#),
        modern("3", "subscriptions/listen", r#""notifications":{"resourceSubscriptions":["a"]}"#),
        format!(
            "[{},{}]",
            legacy("4", "ping", ""),
            legacy(
                "5",
                "completion/complete",
                r#""ref":{"type":"ref/prompt","name":"greet"},"argument":{"name":"a","value":"b"}"#
            )
        ),
    ];
    for seed in &seeds {
        let mut bench = Bench::session(Revision::V2025_03_26, ALL);
        for at in 0..seed.len() {
            for replacement in ["", "\"", "\\", "{", "}", "]", ",", ":", "0", "null", "\u{e9}", "\u{0}"] {
                let text = format!("{}{replacement}{}", &seed[..at], &seed[at + 1..]);
                bench.recv(&text);
                bench.input(Input::Damaged {
                    bytes: &text.as_bytes()[..at],
                    violation: Violation::EndedEarly,
                });
                for event in bench.events() {
                    if is_request(&event) {
                        bench.server.respond(request_of(&event), TEXT_RESULT).unwrap();
                    }
                    if let Event::SubscriptionOpened { subscription, .. } = event {
                        bench.server.end_subscription(subscription).unwrap();
                    }
                }
                bench.sent();
            }
        }
        bench.events();
        assert!(bench.server.in_flight.is_empty(), "{seed}");
        assert!(bench.reply(&legacy("\"end\"", "ping", "")).contains("result"));
    }
}

#[test]
fn a_server_can_be_moved_and_shared_between_threads() {
    fn check<T: Send + Sync>() {}
    check::<Server>();
}

#[test]
fn time_that_goes_backwards_is_clamped() {
    let mut bench = Bench::new();
    bench.call(&modern("1", "tools/call", r#""name":"echo""#));
    bench.wait(50_000);
    bench.now = Instant::ZERO;
    bench.input(Input::Closed);
    assert_eq!(bench.server.poll_timeout(), Some(Instant::from_millis(60_000)));
    bench.server.handle_timeout(Instant::ZERO);
    assert_eq!(bench.events(), []);
}
