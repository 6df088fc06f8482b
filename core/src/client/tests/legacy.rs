//! The legacy era once it is ready: requests, questions of the server, batches, notifications, ends.

use super::*;
use crate::client::DisconnectReason;
use crate::client::calls::OF_THE_CORE;
use crate::error::{ApiMisuse, CloseReason, Error, Limit};
use crate::jsonrpc::RpcError;
use crate::logging::LogLevel;
use crate::revision::{Capability, Direction, Kind, Method};
use crate::rounds::InputKind;

const NEWEST: Revision = Revision::V2025_11_25;
const ELICIT: &str = r#"{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{}}}}"#;
const DECLINE: &str = r#"{"action":"decline"}"#;
const SAMPLE: &str = r#"{"role":"assistant","model":"m","content":[{"type":"text","text":"x"}]}"#;

// proves: BASE-006 BASE-014 BASE-015 BASE-004
#[test]
fn answers_settle_the_request_with_their_id() {
    let mut peer = Peer::ready(NEWEST);
    let (first, first_id) = peer.call();
    let (second, second_id) = peer.call();
    assert_ne!(first_id, second_id);
    peer.fail(&second_id, r#"{"code":-32602,"message":"Unknown tool","data":[1,{"a":null}]}"#);
    let error = RpcError::new(-32602, "Unknown tool").with_data(Json::new(r#"[1,{"a":null}]"#).unwrap());
    assert_eq!(peer.event(), failed(second, FailureReason::Rpc(error)));
    peer.answer(&first_id, r#"{"content":[],"x":12345678901234567890}"#);
    assert_eq!(peer.event(), answered(first, r#"{"content":[],"x":12345678901234567890}"#));
    assert_eq!(peer.client.poll_timeout(), None);
    peer.answer(&first_id, "{}");
    assert_eq!(violations(&peer.events()), [Violation::UnknownResponse]);
}

#[test]
fn parameters_go_out_as_written_on_one_line() {
    let mut peer = Peer::ready(NEWEST);
    let params = "{\n  \"name\": \"t\",\r\n  \"arguments\": {\"n\": 1.0e2, \"n\": 9007199254740993}\n}";
    peer.request("tools/call", params);
    let arguments = member(&peer.sent_one(), &["params", "arguments"]).unwrap();
    assert_eq!(arguments, r#"{"n": 1.0e2, "n": 9007199254740993}"#);
    peer.client.request(Instant::ZERO, "tools/list", None, RequestOptions::default()).unwrap();
    assert_eq!(member(&peer.sent_one(), &["params"]), None);
}

#[test]
fn mistakes_of_the_caller_change_nothing() {
    let mut peer = Peer::ready(NEWEST);
    let mut try_request =
        |method, params| peer.client.request(Instant::ZERO, method, Some(params), RequestOptions::default());
    for params in ["", "[]", "1", "{\"a\":}", "null"] {
        assert_eq!(try_request("tools/list", params), Err(ApiMisuse::InvalidJson.into()), "{params}");
    }
    for method in ["initialize", "roots/list", "notifications/initialized", "subscriptions/listen"] {
        assert_eq!(try_request(method, "{}"), Err(ApiMisuse::MethodNotAllowed.into()), "{method}");
    }
    let unknown = ApiMisuse::NotAllowedInRevision(NEWEST);
    assert_eq!(try_request("server/discover", "{}"), Err(unknown.into()));
    assert!(try_request("com.example/anything", "{}").is_ok());
    assert_eq!(methods(&peer.sent()), ["com.example/anything"]);
    assert_eq!(peer.client.notify("tools/list", None), Err(ApiMisuse::MethodNotAllowed.into()));
    assert_eq!(peer.client.notify("notifications/cancelled", None), Err(ApiMisuse::MethodNotAllowed.into()));
    let request = RequestHandle::from_number(99);
    assert_eq!(peer.client.cancel(request, None), Err(ApiMisuse::UnknownRequest.into()));
}

// proves: BASE-098 BASE-138
#[test]
fn undeclared_server_capabilities_are_refused_from_2025_06_18() {
    for revision in Revisions::LEGACY.newest_first() {
        let mut peer = Peer::ready_with(config(), revision, "{}");
        let outcome = peer.client.request(Instant::ZERO, "prompts/list", None, RequestOptions::default());
        let refused = ApiMisuse::CapabilityNotDeclared(Capability::Prompts);
        if revision >= Revision::V2025_06_18 {
            assert_eq!(outcome, Err(refused.into()));
        } else {
            assert!(outcome.is_ok(), "{revision}");
        }
    }
}

#[test]
fn what_was_held_back_and_cannot_be_sent_fails() {
    let mut config = config();
    config.revisions = Revisions::of(&[NEWEST]);
    config.limits.queued_requests = 3;
    let mut peer = Peer::new(config);
    let initialize = id_of(&peer.sent_one());
    let prompts = peer.request("prompts/list", "{}");
    let cancelled = peer.request("ping", "{}");
    peer.client.notify("notifications/roots/list_changed", None).unwrap();
    let full = peer.client.request(Instant::ZERO, "ping", None, RequestOptions::default());
    assert_eq!(full, Err(Limit::QueuedRequests.into()));
    peer.client.cancel(cancelled, None).unwrap();
    assert_eq!(peer.event(), failed(cancelled, FailureReason::Cancelled));
    peer.answer(&initialize, r#"{"protocolVersion":"2025-11-25","capabilities":{}}"#);
    assert_eq!(methods(&peer.sent()), ["notifications/initialized", "notifications/roots/list_changed"]);
    let reason = Error::from(ApiMisuse::CapabilityNotDeclared(Capability::Prompts));
    assert_eq!(peer.events()[1], failed(prompts, FailureReason::NotSent(reason)));
}

#[test]
fn requests_in_flight_are_bounded() {
    let mut config = config();
    config.limits.requests_in_flight = 2;
    let mut peer = Peer::ready_with(config, NEWEST, ALL_SERVER_CAPABILITIES);
    let (_, id) = peer.call();
    peer.call();
    let third = peer.client.request(Instant::ZERO, "ping", None, RequestOptions::default());
    assert_eq!(third, Err(Limit::RequestsInFlight.into()));
    peer.answer(&id, "{}");
    peer.call();
}

#[test]
fn requests_that_are_held_back_are_bounded_like_those_in_flight() {
    let mut config = config();
    config.limits.requests_in_flight = 2;
    let mut peer = Peer::new(config);
    for _ in 0..2 {
        peer.client.set_log_level(Instant::ZERO, LogLevel::Error).unwrap();
    }
    let third = peer.client.set_log_level(Instant::ZERO, LogLevel::Error);
    assert_eq!(third, Err(Limit::RequestsInFlight.into()));
    let third = peer.client.request(Instant::ZERO, "ping", None, RequestOptions::default());
    assert_eq!(third, Err(Limit::RequestsInFlight.into()));
}

// proves: BASE-380 BASE-425 BASE-426 BASE-427 BASE-429 BASE-430 BASE-431
#[test]
fn a_request_times_out_by_silence_or_in_all_and_the_server_is_told() {
    let mut peer = Peer::ready(NEWEST);
    let mut options = RequestOptions { progress: true, ..RequestOptions::default() };
    options.timeout = Some(1_000);
    options.total_timeout = Some(2_500);
    let request = peer.request_with("tools/call", r#"{"name":"t"}"#, options);
    let sent = peer.sent_one();
    let token = member(&sent, &["params", "_meta", "progressToken"]).unwrap();
    assert_eq!(token, id_of(&sent));
    for step in 1..=2 {
        peer.advance(900);
        peer.receive(&format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{token},"progress":{step}}}}}"#
        ));
        assert!(matches!(peer.event(), Event::ProgressReceived { increasing: true, .. }));
    }
    peer.advance(699);
    assert_eq!(peer.events(), []);
    peer.advance(1);
    assert_eq!(peer.event(), failed(request, FailureReason::TimedOut));
    let told = peer.sent_one();
    assert_eq!(method_of(&told), "notifications/cancelled");
    assert_eq!(member(&told, &["params", "requestId"]), Some(token.clone()));
    peer.answer(&token, "{}");
    assert_eq!((peer.events(), peer.client.poll_timeout()), (Vec::new(), None));

    let silent = peer.request("ping", "{}");
    peer.advance(59_999);
    assert_eq!(peer.events(), []);
    peer.advance(1);
    assert_eq!(peer.event(), failed(silent, FailureReason::TimedOut));
}

#[test]
fn progress_can_be_kept_from_extending_the_wait() {
    let mut config = config();
    config.timeouts.progress_extends = false;
    let mut peer = Peer::ready_with(config, NEWEST, ALL_SERVER_CAPABILITIES);
    let options = RequestOptions { progress: true, timeout: Some(1_000), ..RequestOptions::default() };
    let request = peer.request_with("ping", "{}", options);
    let id = id_of(&peer.sent_one());
    peer.advance(900);
    peer.receive(&format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{id},"progress":1}}}}"#
    ));
    peer.events();
    peer.advance(100);
    assert_eq!(peer.event(), failed(request, FailureReason::TimedOut));
}

// proves: BASE-394 BASE-406 BASE-400 BASE-401 BASE-407
#[test]
fn a_cancelled_request_fails_at_once_and_its_late_answer_is_dropped() {
    let mut peer = Peer::ready(NEWEST);
    let (request, id) = peer.call();
    peer.client.cancel(request, Some("no \"need\"")).unwrap();
    assert_eq!(peer.event(), failed(request, FailureReason::Cancelled));
    assert_eq!(
        peer.sent_one(),
        format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id},"reason":"no \"need\""}}}}"#
        )
    );
    assert_eq!(peer.client.cancel(request, None), Err(ApiMisuse::UnknownRequest.into()));
    peer.answer(&id, "{}");
    assert_eq!(peer.events(), []);
    peer.answer(&id, "{}");
    assert_eq!(violations(&peer.events()), [Violation::UnknownResponse]);
}

// proves: BASE-415
#[test]
fn pings_are_answered_with_the_id_as_written() {
    let mut peer = Peer::ready(NEWEST);
    for id in ["0", "\"\\u0031\"", "9007199254740993", "1.0"] {
        peer.receive(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#));
        assert_eq!(peer.sent_one(), format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#));
    }
}

#[test]
fn questions_of_the_server_are_answered_by_the_application() {
    let mut peer = Peer::ready(NEWEST);
    peer.receive(ELICIT);
    let Event::InputRequired { request: None, inputs, round: 1 } = peer.event() else { panic!() };
    assert_eq!(inputs[0].kind, InputKind::Elicitation);
    assert_eq!(inputs[0].params.as_ref().unwrap().member("message").unwrap().as_str(), "\"?\"");
    let input = inputs[0].input;
    for (wrong, misuse) in
        [("[]", ApiMisuse::InvalidJson), (r#"{"action":"maybe"}"#, ApiMisuse::InvalidDefinition("action"))]
    {
        let wrong = InputResponse::Result(Json::new(wrong).unwrap());
        assert_eq!(peer.client.provide_input(Instant::ZERO, input, wrong), Err(misuse.into()));
    }
    peer.provide(input, "{\"action\":\n\"decline\"}");
    assert_eq!(peer.sent_one(), r#"{"jsonrpc":"2.0","id":"q","result":{"action":"decline"}}"#);
    let again = InputResponse::Result(Json::new("{}").unwrap());
    assert_eq!(peer.client.provide_input(Instant::ZERO, input, again), Err(ApiMisuse::UnknownInput.into()));
    peer.receive(r#"{"jsonrpc":"2.0","id":"q","method":"sampling/createMessage","params":{}}"#);
    let input = peer.questions()[0].0;
    let refusal = RpcError::new(RpcError::USER_REFUSED, "User rejected");
    peer.client.provide_input(Instant::ZERO, input, InputResponse::Refused(refusal)).unwrap();
    assert_eq!(
        peer.sent_one(),
        r#"{"jsonrpc":"2.0","id":"q","error":{"code":-1,"message":"User rejected"}}"#
    );
}

// proves: FEAT-257 FEAT-315
#[test]
fn answers_are_written_for_the_revision() {
    let sample = r#"{"jsonrpc":"2.0","id":"q","method":"sampling/createMessage","params":{}}"#;
    let mut peer = Peer::ready(Revision::V2025_06_18);
    peer.receive(sample);
    let input = peer.questions()[0].0;
    let two = r#"{"role":"assistant","model":"m","content":[{"type":"text","text":"x"},{"type":"text","text":"y"}]}"#;
    let two = InputResponse::Result(Json::new(two).unwrap());
    let refused = ApiMisuse::NotAllowedInRevision(Revision::V2025_06_18);
    assert_eq!(peer.client.provide_input(Instant::ZERO, input, two), Err(refused.into()));
    peer.provide(input, SAMPLE);
    assert_eq!(
        member(&peer.sent_one(), &["result", "content"]),
        Some(r#"{"type":"text","text":"x"}"#.into()),
        "one block is taken out of its list"
    );
    let mut peer = Peer::ready(NEWEST);
    peer.receive(sample);
    let input = peer.questions()[0].0;
    peer.provide(input, SAMPLE);
    assert!(member(&peer.sent_one(), &["result", "content"]).unwrap().starts_with('['));
}

// proves: BASE-144 FEAT-287 FEAT-333 FEAT-248 FEAT-307
#[test]
fn questions_beyond_what_was_declared_are_refused() {
    let code = |declared: &str, revision: Revision, method: &str, params: &str| {
        let mut config = config();
        config.set_capabilities(declared).unwrap();
        let mut peer = Peer::ready_with(config, revision, ALL_SERVER_CAPABILITIES);
        peer.receive(&format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#));
        let sent = peer.sent();
        sent.first().map(|reply| member(reply, &["error", "code"]).unwrap())
    };
    let elicit = "elicitation/create";
    let sample = "sampling/createMessage";
    let url = r#"{"mode":"url","url":"https://example.com"}"#;
    let tools = r#"{"messages":[],"tools":[]}"#;
    let unknown = Some("-32601".to_string());
    let invalid = Some("-32602".to_string());
    assert_eq!(code("{}", NEWEST, "roots/list", "{}"), unknown);
    assert_eq!(code(r#"{"roots":{}}"#, NEWEST, "roots/list", "{}"), None);
    assert_eq!(code("{}", NEWEST, elicit, "{}"), unknown);
    assert_eq!(code(r#"{"elicitation":{}}"#, NEWEST, elicit, "{}"), None);
    assert_eq!(code(r#"{"elicitation":{}}"#, NEWEST, elicit, url), invalid);
    assert_eq!(code(r#"{"elicitation":{"url":{}}}"#, NEWEST, elicit, url), None);
    assert_eq!(code(r#"{"elicitation":{"url":{}}}"#, NEWEST, elicit, r#"{"mode":"form"}"#), invalid);
    assert_eq!(code(r#"{"elicitation":{"url":{}}}"#, NEWEST, elicit, "{}"), invalid);
    assert_eq!(code(r#"{"elicitation":{}}"#, Revision::V2025_03_26, elicit, "{}"), unknown);
    assert_eq!(code(r#"{"sampling":{}}"#, NEWEST, sample, tools), invalid);
    assert_eq!(code(r#"{"sampling":{"tools":{}}}"#, NEWEST, sample, tools), None);
    assert_eq!(code(r#"{"sampling":{}}"#, Revision::V2025_06_18, sample, tools), None);
    assert_eq!(code(ALL_CLIENT_CAPABILITIES, NEWEST, "tools/list", "{}"), unknown);
    assert_eq!(code(ALL_CLIENT_CAPABILITIES, NEWEST, "com.example/x", "{}"), unknown);
}

// proves: FEAT-318
#[test]
fn the_answer_to_a_url_has_no_content() {
    let mut peer = Peer::ready(NEWEST);
    peer.receive(&ELICIT.replace(r#""message":"?""#, r#""message":"?","mode":"url","url":"https://e.com""#));
    let input = peer.questions()[0].0;
    let content = InputResponse::Result(Json::new(r#"{"action":"accept","content":{}}"#).unwrap());
    let refused = ApiMisuse::InvalidDefinition("content");
    assert_eq!(peer.client.provide_input(Instant::ZERO, input, content), Err(refused.into()));
    peer.provide(input, r#"{"action":"accept"}"#);
    assert_eq!(member(&peer.sent_one(), &["result"]), Some(r#"{"action":"accept"}"#.into()));
}

// proves: BASE-018
#[test]
fn no_notification_is_answered() {
    for revision in Revision::ALL {
        let mut peer = Peer::ready(revision);
        for text in [
            r#"{"jsonrpc":"2.0","method":"com.example/unknown"}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            r#"{"jsonrpc":"2.0","method":"roots/list"}"#,
            r#"{"jsonrpc":"2.0","method":"ping","params":[]}"#,
            r#"{"jsonrpc":"2.0","method":7}"#,
        ] {
            peer.receive(text);
            assert_eq!(peer.sent(), [""; 0], "{text}");
        }
    }
}

// proves: BASE-097 BASE-135
#[test]
fn the_negotiated_revision_decides_what_can_be_sent() {
    for revision in Revision::ALL {
        let mut peer = Peer::ready(revision);
        for row in Method::TABLE {
            if row.direction == Direction::ServerToClient || OF_THE_CORE.contains(&row.method) {
                continue;
            }
            let outcome = match row.kind {
                Kind::Request => peer
                    .client
                    .request(Instant::ZERO, row.name, Some("{}"), RequestOptions::default())
                    .map(|_| ()),
                Kind::Notification => peer.client.notify(row.name, Some("{}")),
            };
            let refused = Err(Error::from(ApiMisuse::NotAllowedInRevision(revision)));
            if row.method.exists_in(revision)
                && !(revision.era() == Era::Modern && row.method == Method::Progress)
            {
                assert_eq!((outcome, methods(&peer.sent())), (Ok(()), alloc::vec![row.name.to_string()]));
            } else {
                assert_eq!((outcome, peer.sent()), (refused, Vec::new()), "{} in {revision}", row.name);
            }
        }
    }
}

// proves: BASE-001 BASE-009 BASE-011 BASE-017 BASE-159
#[test]
fn all_that_is_sent_is_a_sound_message() {
    let mut peer = Peer::ready(NEWEST);
    let request = peer.request("ping", "{}");
    peer.client.cancel(request, None).unwrap();
    peer.receive(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
    peer.receive(r#"{"jsonrpc":"2.0","id":2,"method":"x"}"#);
    peer.client.notify("notifications/roots/list_changed", None).unwrap();
    let sent = peer.sent();
    let kinds: Vec<_> = sent
        .iter()
        .map(|text| {
            assert_eq!(member(text, &["jsonrpc"]), Some("\"2.0\"".into()));
            let has = |name| member(text, &[name]).is_some();
            (has("id"), has("method"), has("result"), has("error"))
        })
        .collect();
    let request = (true, true, false, false);
    let notification = (false, true, false, false);
    let result = (true, false, true, false);
    let error = (true, false, false, true);
    assert_eq!(kinds, [request, notification, result, error, notification]);
    assert_eq!(member(&sent[3], &["error", "code"]), Some("-32601".into()));
    assert!(member(&sent[3], &["error", "message"]).is_some());
}

// proves: BASE-397 BASE-399 BASE-404
#[test]
fn the_server_can_take_a_question_back() {
    let mut peer = Peer::ready(NEWEST);
    peer.receive(ELICIT);
    let input = peer.questions()[0].0;
    for bad in [r#"{"requestId":1}"#, r#"{"requestId":"x"}"#, "{}", r#"{"requestId":null}"#] {
        peer.receive(&format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{bad}}}"#));
    }
    assert_eq!(peer.events(), []);
    peer.receive(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"q"}}"#);
    assert_eq!(peer.event(), Event::InputWithdrawn { input });
    let late = InputResponse::Result(Json::new("{}").unwrap());
    let outcome = peer.client.provide_input(Instant::ZERO, input, late);
    assert_eq!(outcome, Err(ApiMisuse::UnknownInput.into()));
    assert_eq!(peer.sent(), [""; 0]);
}

#[test]
fn a_question_with_an_id_in_flight_is_not_answered_and_questions_are_bounded() {
    let mut config = config();
    config.limits.requests_in_flight = 1;
    let mut peer = Peer::ready_with(config, NEWEST, ALL_SERVER_CAPABILITIES);
    peer.receive(ELICIT);
    let input = peer.questions()[0].0;
    peer.receive(r#"{"jsonrpc":"2.0","id":"q","method":"ping"}"#);
    assert_eq!(violations(&peer.events()), [Violation::DuplicateId]);
    assert_eq!(peer.sent(), [""; 0]);
    peer.receive(&ELICIT.replace("\"q\"", "2"));
    assert_eq!(member(&peer.sent_one(), &["error", "code"]), Some("-32603".into()));
    peer.provide(input, DECLINE);
    assert_eq!(id_of(&peer.sent_one()), "\"q\"");
    peer.receive(r#"{"jsonrpc":"2.0","id":"q","method":"ping"}"#);
    assert_eq!(id_of(&peer.sent_one()), "\"q\"");
}

#[test]
fn a_request_does_not_time_out_while_the_server_waits_for_an_answer() {
    let mut peer = Peer::ready(NEWEST);
    let options = RequestOptions { timeout: Some(1_000), ..RequestOptions::default() };
    let request = peer.request_with("tools/call", r#"{"name":"t"}"#, options);
    peer.sent();
    peer.receive(ELICIT);
    let input = peer.questions()[0].0;
    peer.advance(10_500);
    assert_eq!(peer.events(), []);
    peer.provide(input, DECLINE);
    peer.advance(999);
    assert_eq!(peer.events(), [], "its time starts anew with the answer");
    peer.advance(1);
    assert_eq!(peer.event(), failed(request, FailureReason::TimedOut));
    let options =
        RequestOptions { timeout: Some(0), total_timeout: Some(2_000), ..RequestOptions::default() };
    let request = peer.request_with("tools/call", r#"{"name":"t"}"#, options);
    peer.receive(ELICIT);
    peer.events();
    peer.advance(2_000);
    assert_eq!(peer.event(), failed(request, FailureReason::TimedOut));
}

// proves: BASE-019 BASE-153
#[test]
fn a_batch_of_2025_03_26_gets_one_array_of_replies() {
    let mut peer = Peer::ready(Revision::V2025_03_26);
    let (request, id) = peer.call();
    peer.receive(&format!(
        r#"[{{"jsonrpc":"2.0","id":"a","method":"ping"}},{{"jsonrpc":"2.0","id":{id},"result":{{"content":[]}}}},
        {{"jsonrpc":"2.0","id":"b","method":"roots/list"}},{{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}},
        {{"jsonrpc":"2.0","id":"c","method":"sampling/createMessage","params":{{}}}},{{"jsonrpc":"2.0","id":"d","method":"x"}}, 7]"#
    ));
    let events = peer.events();
    assert_eq!(events[0], answered(request, r#"{"content":[]}"#));
    let inputs: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            Event::InputRequired { inputs, .. } => Some(inputs[0].input),
            _ => None,
        })
        .collect();
    assert_eq!(inputs.len(), 2);
    assert!(events.iter().any(|event| matches!(event, Event::ListChanged { .. })));
    assert_eq!(violations(&events), [Violation::NotAMessage]);
    assert_eq!(peer.sent(), [""; 0], "two answers are due yet");
    peer.provide(inputs[1], SAMPLE);
    assert_eq!(peer.sent(), [""; 0]);
    peer.receive(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"b"}}"#);
    assert_eq!(peer.event(), Event::InputWithdrawn { input: inputs[0] });
    let mut replies: Vec<String> = Vec::new();
    let text = peer.sent_one();
    crate::json::scan::array_elements(&text, 64, |reply| replies.push(text[reply].to_string())).unwrap();
    let ids: Vec<_> = replies.iter().map(|reply| id_of(reply)).collect();
    assert_eq!(ids, ["\"a\"", "\"d\"", "\"c\""]);
    peer.receive(r#"[{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}]"#);
    assert_eq!(peer.sent(), [""; 0], "notifications alone get no reply");
}

// proves: BASE-022
#[test]
fn a_batch_where_none_belongs_settles_what_it_names() {
    for revision in [NEWEST, Revision::V2025_06_18, Revision::V2024_11_05] {
        let mut peer = Peer::ready(revision);
        let (request, id) = peer.call();
        peer.receive(&format!(
            r#"[{{"jsonrpc":"2.0","id":{id},"result":{{}}}},{{"jsonrpc":"2.0","id":"a","method":"ping"}}]"#
        ));
        let events = peer.events();
        assert_eq!(violations(&events), [Violation::UnexpectedBatch]);
        let reason = FailureReason::InvalidResult(Violation::UnexpectedBatch);
        assert_eq!(events[1], failed(request, reason));
        assert_eq!(peer.sent(), [""; 0]);
    }
    let mut config = config();
    config.limits.batch_items = 1;
    let mut peer = Peer::ready_with(config, Revision::V2025_03_26, ALL_SERVER_CAPABILITIES);
    let ping = r#"{"jsonrpc":"2.0","id":"a","method":"ping"}"#;
    for batch in ["[]".to_string(), format!("[{ping},{ping}]")] {
        peer.receive(&batch);
        assert_eq!(violations(&peer.events()), [Violation::UnexpectedBatch]);
        assert_eq!(member(&peer.sent_one(), &["error", "code"]), Some("-32600".into()));
    }
}

#[test]
fn malformed_messages_settle_the_id_that_can_be_read() {
    let mut peer = Peer::ready(NEWEST);
    for (text, violation) in [
        (
            r#"{"jsonrpc":"2.0","id":$,"result":{},"error":{"code":1,"message":"m"}}"#,
            Violation::ResultAndError,
        ),
        (r#"{"jsonrpc":"2.0","id":$,"result":{"a":tru}}"#, Violation::NotJson),
        (r#"{"jsonrpc":"2.0","id":$,"result":[]}"#, Violation::InvalidResult),
        (r#"{"jsonrpc":"2.0","id":$,"result":null}"#, Violation::InvalidResult),
    ] {
        let (request, id) = peer.call();
        peer.receive(&text.replace('$', &id));
        let events = peer.events();
        assert_eq!(violations(&events), [violation], "{text}");
        assert_eq!(events[1], failed(request, FailureReason::InvalidResult(violation)));
    }
    let (request, id) = peer.call();
    let head = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"x":"aaaa"#);
    peer.input(Input::Damaged { bytes: head.as_bytes(), violation: Violation::TooLong }).unwrap();
    assert_eq!(peer.events()[1], failed(request, FailureReason::InvalidResult(Violation::TooLong)));
    peer.receive(r#"{"jsonrpc":"2.0","id":"s","method":"roots/list","params":[1]}"#);
    assert_eq!(member(&peer.sent_one(), &["error", "code"]), Some("-32602".into()));
    assert_eq!(violations(&peer.events()), [Violation::InvalidParams]);
    peer.receive(r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"what?"}}"#);
    assert_eq!(violations(&peer.events()), [Violation::UnknownResponse]);
}

// proves: FEAT-188
#[test]
fn notifications_reach_the_application() {
    let mut peer = Peer::ready(NEWEST);
    let mut notify = |method: &str, params: &str| {
        peer.receive(&format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{params}}}"#));
        peer.event()
    };
    let Event::LogReceived { request: None, level, logger, data } =
        notify("notifications/message", r#"{"level":"warning","logger":"db","data":null}"#)
    else {
        panic!()
    };
    assert_eq!((level, logger.as_deref(), data.as_str()), (Some(LogLevel::Warning), Some("db"), "null"));
    let Event::LogReceived { level: None, data, .. } =
        notify("notifications/message", r#"{"level":"loud","data":{"a":1}}"#)
    else {
        panic!()
    };
    assert_eq!(data.as_str(), r#"{"a":1}"#);
    assert_eq!(
        notify("com.example/happened", r#"{"x":1}"#),
        Event::NotificationReceived {
            method: "com.example/happened".into(),
            params: Some(Json::new(r#"{"x":1}"#).unwrap())
        }
    );
    assert!(matches!(
        notify("notifications/elicitation/complete", r#"{"elicitationId":"e"}"#),
        Event::NotificationReceived { .. }
    ));
    for (method, params, violation) in [
        ("notifications/message", r#"{"level":"info"}"#, Violation::InvalidParams),
        ("notifications/progress", r#"{"progressToken":1}"#, Violation::InvalidParams),
        ("notifications/progress", r#"{"progressToken":1,"progress":"x"}"#, Violation::InvalidParams),
        ("notifications/initialized", "{}", Violation::UnexpectedMessage),
        ("notifications/subscriptions/acknowledged", "{}", Violation::UnexpectedMessage),
        ("notifications/resources/updated", "{}", Violation::InvalidParams),
    ] {
        assert_eq!(violations(&[notify(method, params)]), [violation], "{method} {params}");
    }
}

// proves: FEAT-284
#[test]
fn own_notifications_follow_revision_and_declared_capabilities() {
    let mut peer = Peer::ready(NEWEST);
    peer.client.notify("notifications/roots/list_changed", None).unwrap();
    assert_eq!(peer.sent_one(), r#"{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}"#);
    let mut bare = config();
    bare.set_capabilities("{}").unwrap();
    let mut peer = Peer::ready_with(bare, NEWEST, ALL_SERVER_CAPABILITIES);
    let undeclared = ApiMisuse::CapabilityNotDeclared(Capability::RootsListChanged);
    assert_eq!(peer.client.notify("notifications/roots/list_changed", None), Err(undeclared.into()));
    peer.client.notify("com.example/x", Some("{\n}")).unwrap();
    assert_eq!(method_of(&peer.sent_one()), "com.example/x");
}

// proves: FEAT-189
#[test]
fn the_log_level_is_a_request() {
    let mut peer = Peer::ready(NEWEST);
    let request = peer.client.set_log_level(Instant::ZERO, LogLevel::Notice).unwrap();
    let sent = peer.sent_one();
    assert_eq!(method_of(&sent), "logging/setLevel");
    assert_eq!(member(&sent, &["params"]), Some(r#"{"level":"notice"}"#.into()));
    peer.answer(&id_of(&sent), "{}");
    assert_eq!(peer.event(), answered(request, "{}"));
}

#[test]
fn a_flood_of_notifications_is_dropped_with_one_marker() {
    let mut config = config();
    config.limits.queued_events = 2;
    let mut peer = Peer::ready_with(config, NEWEST, ALL_SERVER_CAPABILITIES);
    let (request, id) = peer.call();
    assert!(peer.client.wants_input());
    for _ in 0..10 {
        peer.receive(r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#);
        peer.receive("noise");
    }
    assert!(!peer.client.wants_input());
    peer.receive(ELICIT);
    assert_eq!(member(&peer.sent_one(), &["error", "code"]), Some("-32603".into()));
    peer.receive(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}},"odd":1}}"#));
    let events = peer.events();
    assert_eq!(events.len(), 7);
    let expected = [Violation::NotJson, Violation::NotJson, Violation::QueueFull, Violation::UnknownMember];
    assert_eq!(violations(&events), expected);
    assert_eq!(events[6], answered(request, "{}"), "what settles a request is never dropped");
    peer.receive("noise");
    assert_eq!(violations(&peer.events()), [Violation::NotJson]);
}

// proves: BASE-099
#[test]
fn closing_settles_everything_once() {
    let mut peer = Peer::ready(NEWEST);
    let (request, _) = peer.call();
    peer.receive(ELICIT);
    let input = peer.questions()[0].0;
    peer.client.close();
    peer.client.close();
    assert_eq!(
        peer.events(),
        [
            Event::InputWithdrawn { input },
            failed(request, FailureReason::ConnectionLost),
            Event::Disconnected { reason: DisconnectReason::Closed(CloseReason::ByUs) }
        ]
    );
    assert!(matches!(peer.client.poll_transmit(), Some(Transmit::Close)));
    assert!(peer.client.poll_transmit().is_none());
    assert_eq!(peer.client.poll_timeout(), None);
    let closed = Error::Closed(CloseReason::ByUs);
    assert_eq!(
        peer.client.request(Instant::ZERO, "ping", None, RequestOptions::default()),
        Err(closed.clone())
    );
    assert_eq!(peer.client.notify("com.example/x", None), Err(closed.clone()));
    assert_eq!(peer.client.set_log_level(Instant::ZERO, LogLevel::Info), Err(closed));
    assert_eq!(peer.input(Input::Closed), Ok(()));
    peer.receive(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
    assert_eq!((peer.events(), peer.sent()), (Vec::new(), Vec::new()));
}

#[test]
fn time_that_goes_backwards_is_clamped() {
    let mut peer = Peer::ready(NEWEST);
    peer.advance(50_000);
    peer.now = 0;
    peer.call();
    assert_eq!(peer.client.poll_timeout(), Some(Instant::from_millis(110_000)));
    peer.client.handle_timeout(Instant::from_millis(1));
    assert_eq!(peer.events(), []);
}

#[test]
fn a_mark_before_a_message_is_noted() {
    let mut peer = Peer::ready(NEWEST);
    let facts = Facts { byte_order_mark: true, ..Facts::default() };
    peer.input(Input::Message { text: r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, facts }).unwrap();
    assert_eq!(violations(&peer.events()), [Violation::ByteOrderMark]);
    assert_eq!(id_of(&peer.sent_one()), "1");
}
