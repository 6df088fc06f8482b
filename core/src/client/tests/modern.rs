//! The modern era once it is ready: stamped requests, result types, rounds, logs.

use super::*;
use crate::cache::{CacheScope, Freshness};
use crate::error::{ApiMisuse, Error};
use crate::jsonrpc::RpcError;
use crate::logging::LogLevel;
use crate::revision::{Capability, Method};

const MODERN: Revision = Revision::V2026_07_28;
const DECLINE: &str = r#"{"action":"decline"}"#;
const FORM: &str = r#"{"method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{}}}}"#;

fn ready() -> Peer {
    Peer::ready(MODERN)
}

fn ask(questions: &str, state: &str) -> String {
    format!(r#"{{"resultType":"input_required","inputRequests":{questions},"requestState":{state}}}"#)
}

fn meta(message: &str, key: &str) -> Option<String> {
    member(message, &["params", "_meta", key])
}

// proves: BASE-053 BASE-054 BASE-055 BASE-150 FEAT-242 FEAT-282 FEAT-300
#[test]
fn every_request_carries_its_metadata() {
    let mut peer = ready();
    let caller = r#"{"name":"t","_meta":{"traceparent":"00-a","io.modelcontextprotocol/protocolVersion":"x"},"arguments":{"n":1e400}}"#;
    for (method, params) in [("tools/call", caller), ("tools/list", "{}"), ("com.example/x", "{}")] {
        peer.request(method, params);
        let sent = peer.sent_one();
        assert_eq!(meta(&sent, "io.modelcontextprotocol/protocolVersion"), Some(format!("\"{MODERN}\"")));
        assert_eq!(
            meta(&sent, "io.modelcontextprotocol/clientInfo"),
            Some(r#"{"name":"test","version":"1"}"#.into())
        );
        let declared = meta(&sent, "io.modelcontextprotocol/clientCapabilities").unwrap();
        assert_eq!(declared, r#"{"roots":{},"sampling":{"tools":{}},"elicitation":{"form":{},"url":{}}}"#);
        assert_eq!(meta(&sent, "io.modelcontextprotocol/logLevel"), None);
        assert_eq!(meta(&sent, "progressToken"), None);
    }
    peer.request("tools/call", caller);
    let sent = peer.sent_one();
    assert_eq!(meta(&sent, "traceparent"), Some("\"00-a\"".into()));
    assert_eq!(member(&sent, &["params", "arguments"]), Some(r#"{"n":1e400}"#.into()));
    let options = RequestOptions {
        meta: Some(Json::new(r#"{"tracestate":"k","traceparent":"00-b"}"#).unwrap()),
        progress: true,
        log_level: Some(LogLevel::Error),
        ..RequestOptions::default()
    };
    peer.request_with("tools/call", caller, options);
    let sent = peer.sent_one();
    assert_eq!(meta(&sent, "traceparent"), Some("\"00-b\"".into()));
    assert_eq!(meta(&sent, "tracestate"), Some("\"k\"".into()));
    assert_eq!(meta(&sent, "progressToken"), Some(id_of(&sent)));
    assert_eq!(meta(&sent, "io.modelcontextprotocol/logLevel"), Some("\"error\"".into()));
    let wrong = RequestOptions { meta: Some(Json::new("[]").unwrap()), ..RequestOptions::default() };
    let outcome = peer.client.request(Instant::ZERO, "tools/list", None, wrong);
    assert_eq!(outcome, Err(ApiMisuse::InvalidJson.into()));
}

// proves: BASE-028 BASE-029 BASE-031
#[test]
fn result_types_decide() {
    let mut peer = ready();
    for result in [
        r#"{"content":[]}"#,
        r#"{"resultType":"complete","content":[]}"#,
        r#"{"content":[{"resultType":"odd"}],"resultType":"complete"}"#,
        r#"{"content":[],"resultType":null}"#,
        r#"{"structuredContent":{"resultType":"input_required"}}"#,
    ] {
        let (request, id) = peer.call();
        peer.answer(&id, result);
        assert_eq!(peer.event(), answered(request, result));
    }
    let invalid = FailureReason::InvalidResult(Violation::InvalidResult);
    for result in [
        r#"{"resultType":"task","taskId":"1"}"#,
        r#"{"resultType":7}"#,
        r#"{"resultType":"input_required"}"#,
        r#"{"resultType":"input_required","requestState":7}"#,
        r#"{"resultType":"input_required","inputRequests":[]}"#,
        r#"{"resultType":"input_required","inputRequests":{"a":{}}}"#,
        r#"{"resultType":"input_required","inputRequests":{"a":{"method":"tools/list"}}}"#,
        r#"{"resultType":"input_required","inputRequests":{"a":1}}"#,
        "[]",
    ] {
        let (request, id) = peer.call();
        peer.answer(&id, result);
        let events = peer.events();
        assert_eq!(violations(&events), [Violation::InvalidResult], "{result}");
        assert_eq!(events[1], failed(request, invalid.clone()));
    }
    let listing = peer.request("tools/list", "{}");
    let id = id_of(&peer.sent_one());
    peer.answer(&id, &ask(&format!(r#"{{"a":{FORM}}}"#), "\"s\""));
    assert_eq!(peer.events()[1], failed(listing, invalid), "lists cannot ask");
    assert_eq!(peer.sent(), [""; 0]);
}

// proves: BASE-030
#[test]
fn result_types_of_advertised_extensions_are_delivered() {
    let mut config = config();
    config.set_capabilities(r#"{"extensions":{"com.example/x":{}}}"#).unwrap();
    let mut peer = Peer::ready_with(config, MODERN, ALL_SERVER_CAPABILITIES);
    let (request, id) = peer.call();
    peer.answer(&id, r#"{"resultType":"task","taskId":"1"}"#);
    assert_eq!(peer.event(), answered(request, r#"{"resultType":"task","taskId":"1"}"#));
}

// proves: FEAT-217 FEAT-221
#[test]
fn cacheable_results_say_how_fresh_they_are() {
    let mut peer = ready();
    let mut freshness = |method: &str, result: &str| {
        peer.request(method, "{}");
        let id = id_of(&peer.sent_one());
        peer.answer(&id, result);
        match peer.event() {
            Event::ResponseReceived { freshness, .. } => freshness,
            other => panic!("{other:?}"),
        }
    };
    let public = Freshness { ttl_ms: 5, scope: CacheScope::Public };
    let text = r#"{"resultType":"complete","tools":[],"ttlMs":5,"cacheScope":"public"}"#;
    for row in Method::TABLE {
        if row.kind == crate::revision::Kind::Request
            && row.cacheable
            && row.direction == crate::revision::Direction::ClientToServer
        {
            assert_eq!(freshness(row.name, text), Some(public), "{}", row.name);
        }
    }
    assert_eq!(freshness("tools/call", text), None);
    let request = peer.request("resources/read", r#"{"uri":"file:///a"}"#);
    let id = id_of(&peer.sent_one());
    peer.answer(&id, r#"{"resultType":"input_required","requestState":"s"}"#);
    peer.advance(250);
    let id = id_of(&peer.sent_one());
    peer.answer(&id, text);
    assert_eq!(peer.event(), answered(request, text), "what took a round is not for reuse");
}

// proves: BASE-336 BASE-353 BASE-355 BASE-357 BASE-359 FEAT-048
#[test]
fn a_round_is_answered_by_the_same_request_under_a_new_id() {
    let mut peer = ready();
    let options = RequestOptions { progress: true, ..RequestOptions::default() };
    let params = r#"{"name":"t","arguments":{"n":1.0}}"#;
    let request = peer.request_with("tools/call", params, options);
    let first = peer.sent_one();
    let questions = format!(r#"{{"who\u0041":{FORM},"roots":{{"method":"roots/list"}}}}"#);
    peer.answer(&id_of(&first), &ask(&questions, r#""st\u0061te""#));
    let Event::InputRequired { request: Some(asking), inputs, round: 1 } = peer.event() else { panic!() };
    assert_eq!(asking, request);
    let keys: Vec<_> = inputs.iter().map(|input| input.key.as_deref().unwrap()).collect();
    assert_eq!(keys, ["whoA", "roots"]);
    assert_eq!(inputs[1].params, None);
    peer.provide(inputs[1].input, r#"{"roots":[],"resultType":"complete"}"#);
    assert_eq!(peer.sent(), [""; 0], "all answers are needed");
    peer.provide(inputs[0].input, DECLINE);
    let second = peer.sent_one();
    assert_ne!(id_of(&first), id_of(&second));
    assert_eq!(meta(&second, "progressToken"), Some(id_of(&second)));
    assert_eq!(method_of(&second), "tools/call");
    let of = |name: &str| member(&second, &["params", name]);
    assert_eq!(of("arguments"), Some(r#"{"n":1.0}"#.into()));
    assert_eq!(
        of("inputResponses"),
        Some(r#"{"who\u0041":{"action":"decline"},"roots":{"roots":[]}}"#.into()),
        "keys as they came, bare answers"
    );
    assert_eq!(of("requestState"), Some(r#""st\u0061te""#.into()));

    // The second round has no state: none goes back.
    peer.answer(
        &id_of(&second),
        &format!(r#"{{"inputRequests":{{"b":{FORM}}},"resultType":"input_required"}}"#),
    );
    let Event::InputRequired { inputs, round: 2, .. } = peer.event() else { panic!() };
    peer.provide(inputs[0].input, DECLINE);
    let third = peer.sent_one();
    assert_eq!(member(&third, &["params", "requestState"]), None);
    assert_eq!(member(&third, &["params", "inputResponses"]), Some(r#"{"b":{"action":"decline"}}"#.into()));
    peer.answer(&id_of(&third), r#"{"resultType":"complete","content":[]}"#);
    assert_eq!(peer.event(), answered(request, r#"{"resultType":"complete","content":[]}"#));
    assert_eq!(peer.client.poll_timeout(), None);
    peer.answer(&id_of(&first), "{}");
    assert_eq!(violations(&peer.events()), [Violation::UnknownResponse]);
}

// proves: BASE-354 BASE-356
#[test]
fn state_alone_is_sent_back_after_growing_waits_up_to_the_limit_on_rounds() {
    let mut config = config();
    config.limits.rounds = 3;
    let mut peer = Peer::ready_with(config, MODERN, ALL_SERVER_CAPABILITIES);
    let (request, mut id) = peer.call();
    for wait in [250, 500, 1_000] {
        peer.answer(&id, r#"{"resultType":"input_required","requestState":"s"}"#);
        assert_eq!(peer.events(), []);
        peer.advance(wait - 1);
        assert_eq!(peer.sent(), [""; 0]);
        peer.advance(1);
        let sent = peer.sent_one();
        assert_eq!(member(&sent, &["params", "requestState"]), Some("\"s\"".into()));
        assert_eq!(member(&sent, &["params", "inputResponses"]), None);
        id = id_of(&sent);
    }
    peer.answer(&id, r#"{"resultType":"input_required","requestState":"s"}"#);
    assert_eq!(peer.event(), failed(request, FailureReason::RoundsExceeded));
    assert_eq!((peer.sent(), peer.client.poll_timeout()), (Vec::new(), None));
}

#[test]
fn an_empty_round_is_answered_with_an_empty_object() {
    let mut peer = ready();
    let (_, id) = peer.call();
    peer.answer(&id, r#"{"resultType":"input_required","inputRequests":{}}"#);
    peer.advance(250);
    assert_eq!(member(&peer.sent_one(), &["params", "inputResponses"]), Some("{}".into()));
}

// proves: BASE-364 FEAT-269 FEAT-288
#[test]
fn a_refused_question_ends_the_request_without_a_word() {
    let mut peer = ready();
    let (request, id) = peer.call();
    let questions = format!(r#"{{"a":{FORM},"b":{{"method":"sampling/createMessage","params":{{}}}}}}"#);
    peer.answer(&id, &ask(&questions, "\"s\""));
    let inputs = peer.questions();
    let refusal = InputResponse::Refused(RpcError::new(-1, "no"));
    peer.client.provide_input(Instant::ZERO, inputs[1].0, refusal).unwrap();
    assert_eq!(
        peer.events(),
        [
            Event::InputWithdrawn { input: inputs[0].0 },
            failed(request, FailureReason::InputRefused(inputs[1].0))
        ]
    );
    assert_eq!((peer.sent(), peer.client.poll_timeout()), (Vec::new(), None));
}

#[test]
fn a_request_between_rounds_can_be_cancelled_or_time_out_without_a_word() {
    let mut peer = ready();
    for cancelled in [true, false] {
        let options =
            RequestOptions { timeout: Some(1_000), total_timeout: Some(5_000), ..RequestOptions::default() };
        let request = peer.request_with("tools/call", r#"{"name":"t"}"#, options);
        let id = id_of(&peer.sent_one());
        peer.answer(&id, &ask(&format!(r#"{{"a":{FORM}}}"#), "\"s\""));
        let input = peer.questions()[0].0;
        peer.advance(4_999);
        assert_eq!(peer.events(), [], "the user may take time");
        let reason = if cancelled {
            peer.client.cancel(request, None).unwrap();
            FailureReason::Cancelled
        } else {
            peer.advance(1);
            FailureReason::TimedOut
        };
        assert_eq!(peer.events(), [Event::InputWithdrawn { input }, failed(request, reason)]);
        assert_eq!(peer.sent(), [""; 0]);
    }
}

// proves: BASE-139 FEAT-246
#[test]
fn questions_beyond_what_was_declared_or_bounded_fail_the_request() {
    let mut config = config();
    config.set_capabilities(r#"{"elicitation":{},"sampling":{}}"#).unwrap();
    config.limits.inputs = 2;
    config.limits.request_state_bytes = 8;
    let mut peer = Peer::ready_with(config, MODERN, ALL_SERVER_CAPABILITIES);
    let mut violation = |result: &str| {
        let (request, id) = peer.call();
        peer.answer(&id, result);
        match peer.events().pop().unwrap() {
            Event::RequestFailed { reason: FailureReason::InvalidResult(violation), request: ended } => {
                assert_eq!(ended, request);
                violation
            }
            other => panic!("{other:?}"),
        }
    };
    let url = r#"{"a":{"method":"elicitation/create","params":{"mode":"url","url":"https://e.com"}}}"#;
    assert_eq!(violation(&ask(url, "\"s\"")), Violation::InvalidResult);
    let tools = r#"{"a":{"method":"sampling/createMessage","params":{"tools":[]}}}"#;
    assert_eq!(violation(&ask(tools, "\"s\"")), Violation::InvalidResult);
    assert_eq!(violation(&ask(r#"{"a":{"method":"roots/list"}}"#, "\"s\"")), Violation::InvalidResult);
    let twice = format!(r#"{{"a":{FORM},"a":{FORM}}}"#);
    assert_eq!(violation(&ask(&twice, "\"s\"")), Violation::DuplicateMember);
    let many = format!(r#"{{"a":{FORM},"b":{FORM},"c":{FORM}}}"#);
    assert_eq!(violation(&ask(&many, "\"s\"")), Violation::TooLong);
    assert_eq!(violation(&ask("{}", "\"1234567890\"")), Violation::TooLong);
}

// proves: BASE-025 BASE-162 BASE-180 BASE-208
#[test]
fn requests_of_a_modern_server_are_never_answered() {
    let mut peer = ready();
    for request in [
        r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"roots/list"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"com.example/x"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}"#,
    ] {
        peer.receive(request);
        assert_eq!(violations(&peer.events()).len(), 1, "{request}");
    }
    peer.receive(r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#);
    assert_eq!(violations(&peer.events()), [Violation::UnexpectedBatch]);
    assert_eq!(peer.sent(), [""; 0]);
}

// proves: BASE-409 BASE-395 BASE-040
#[test]
fn giving_up_is_told_by_a_notification() {
    let mut peer = ready();
    let (request, id) = peer.call();
    peer.client.cancel(request, None).unwrap();
    assert_eq!(
        peer.sent_one(),
        format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#)
    );
    assert_eq!(peer.event(), failed(request, FailureReason::Cancelled));
    let (request, id) = peer.call();
    peer.advance(60_000);
    assert_eq!(member(&peer.sent_one(), &["params", "requestId"]), Some(id.clone()));
    assert_eq!(peer.event(), failed(request, FailureReason::TimedOut));
    peer.answer(&id, r#"{"resultType":"input_required","requestState":"s"}"#);
    assert_eq!((peer.events(), peer.client.poll_timeout()), (Vec::new(), None));
}

// proves: FEAT-285
#[test]
fn messages_of_the_legacy_era_are_refused() {
    let mut peer = ready();
    let gone = Error::from(ApiMisuse::NotAllowedInRevision(MODERN));
    for method in ["ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"] {
        let outcome = peer.client.request(Instant::ZERO, method, None, RequestOptions::default());
        assert_eq!(outcome, Err(gone.clone()), "{method}");
    }
    for method in ["notifications/roots/list_changed", "notifications/progress"] {
        assert_eq!(peer.client.notify(method, None), Err(gone.clone()), "{method}");
    }
    peer.client.notify("com.example/x", None).unwrap();
    assert_eq!(method_of(&peer.sent_one()), "com.example/x");
    let mut bare = Peer::ready_with(config(), MODERN, "{}");
    let outcome = bare.client.request(Instant::ZERO, "prompts/list", None, RequestOptions::default());
    assert_eq!(outcome, Err(ApiMisuse::CapabilityNotDeclared(Capability::Prompts).into()));
}

#[test]
fn the_log_level_goes_with_later_requests() {
    let mut config = config();
    config.revisions = Revisions::of(&[MODERN]);
    let mut peer = Peer::new(config);
    let probe = id_of(&peer.sent_one());
    let held = peer.client.set_log_level(Instant::ZERO, LogLevel::Debug).unwrap();
    peer.request("tools/list", "{}");
    peer.answer(&probe, r#"{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}"#);
    assert_eq!(peer.events()[1], answered(held, "{}"));
    let sent = peer.sent_one();
    assert_eq!(meta(&sent, "io.modelcontextprotocol/logLevel"), Some("\"debug\"".into()));
    let now = peer.client.set_log_level(Instant::ZERO, LogLevel::Alert).unwrap();
    assert_eq!(peer.event(), answered(now, "{}"));
    let options = RequestOptions { log_level: Some(LogLevel::Info), ..RequestOptions::default() };
    peer.request_with("tools/list", "{}", options);
    assert_eq!(meta(&peer.sent_one(), "io.modelcontextprotocol/logLevel"), Some("\"info\"".into()));
    peer.request("tools/list", "{}");
    assert_eq!(meta(&peer.sent_one(), "io.modelcontextprotocol/logLevel"), Some("\"alert\"".into()));
}

#[test]
fn logs_are_attributed_only_when_one_request_can_have_caused_them() {
    let log = r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}"#;
    let mut peer = ready();
    let of = |peer: &mut Peer| {
        peer.receive(log);
        match peer.event() {
            Event::LogReceived { request, .. } => request,
            other => panic!("{other:?}"),
        }
    };
    peer.call();
    assert_eq!(of(&mut peer), None);
    let options = RequestOptions { log_level: Some(LogLevel::Info), ..RequestOptions::default() };
    let first = peer.request_with("tools/call", r#"{"name":"t"}"#, options.clone());
    assert_eq!(of(&mut peer), Some(first));
    peer.request_with("tools/call", r#"{"name":"t"}"#, options);
    assert_eq!(of(&mut peer), None);
}

#[test]
fn the_last_long_result_is_kept() {
    let mut peer = ready();
    let long = format!(r#"{{"resultType":"complete","text":"{}"}}"#, "x".repeat(100_000));
    for (result, kept) in [
        (r#"{"resultType":"complete"}"#, 0),
        (&*long, long.len()),
        (r#"{"resultType":"complete"}"#, long.len()),
    ] {
        peer.request("com.example/x", "{}");
        let id = id_of(&peer.sent_one());
        peer.answer(&id, result);
        assert!(matches!(peer.event(), Event::ResponseReceived { .. }));
        assert_eq!(peer.client.last_long.len(), kept);
    }
}
