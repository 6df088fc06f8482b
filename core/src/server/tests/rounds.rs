use super::*;
use crate::error::{ApiMisuse, Error, Limit, PeerIncompatible};
use crate::jsonrpc::RpcError;
use crate::rounds::{InputAnswer, InputKind, InputQuestion};
use crate::server::RequestContext;

const ALL: &str = r#"{"elicitation":{},"sampling":{},"roots":{}}"#;
const FORM: &str = r#"{"message":"?","requestedSchema":{"type":"object","properties":{}}}"#;

pub(super) fn question(key: &str) -> InputQuestion {
    asking(key, InputKind::Elicitation, FORM)
}

fn asking(key: &str, kind: InputKind, params: &str) -> InputQuestion {
    InputQuestion { key: key.into(), kind, params: Json::new(params).unwrap() }
}

fn context(event: Event) -> (RequestHandle, RequestContext) {
    match event {
        Event::ToolCalled { request, context, .. }
        | Event::PromptRequested { request, context, .. }
        | Event::ResourceReadRequested { request, context, .. } => (request, context),
        other => panic!("{other:?}"),
    }
}

fn ask(bench: &mut Bench, request: RequestHandle, keys: &[&str], state: Option<&str>) {
    let questions = keys.iter().map(|key| question(key)).collect();
    bench.server.require_input(bench.now, request, questions, state).unwrap();
}

fn member(text: &str, path: &[&str]) -> Json {
    path.iter().fold(Json::new(text).unwrap(), |json, name| {
        json.member(name).unwrap_or_else(|| panic!("{name} in {text}"))
    })
}

fn answered(answer: &InputAnswer) -> (&str, &str) {
    (&answer.key, answer.outcome.as_ref().unwrap().as_str())
}

/// A first modern call, which asks for `keys`: the sealed state.
fn first_round(bench: &mut Bench, keys: &[&str], state: Option<&str>) -> String {
    let call = bench.call(&modern_with("1", "tools/call", r#""name":"echo","arguments":{"n":1}"#, ALL));
    ask(bench, call, keys, state);
    let reply = bench.sent_one();
    assert!(reply.contains(r#""resultType":"input_required""#), "{reply}");
    String::from(member(&reply, &["result", "requestState"]).as_str())
}

fn retry(id: &str, state: &str, responses: &str) -> String {
    let params =
        format!(r#""name":"echo","arguments":{{"n":1}},"requestState":{state},"inputResponses":{responses}"#);
    modern_with(id, "tools/call", &params, ALL)
}

// proves: BASE-024 BASE-163 BASE-335 BASE-341 BASE-349 BASE-351 BASE-352 FEAT-243 FEAT-283 FEAT-304
#[test]
fn a_modern_request_ends_with_its_questions_and_the_retry_brings_answers_and_state() {
    let mut bench = Bench::new();
    let call = bench.call(&modern_with("1", "tools/call", r#""name":"echo","arguments":{"n":1}"#, ALL));
    let sampling = r#"{"messages":[],"maxTokens":1}"#;
    let questions = [
        question("name"),
        asking("roots", InputKind::Roots, "{}"),
        asking("words", InputKind::Sampling, sampling),
    ];
    bench.server.require_input(bench.now, call, questions.into(), Some("{\"step\":\n2}")).unwrap();
    // Nothing but the result: no request of the server's own.
    let reply = bench.sent_one();
    assert_eq!(
        member(&reply, &["result", "inputRequests"]).as_str(),
        format!(
            r#"{{"name":{{"method":"elicitation/create","params":{FORM}}},"roots":{{"method":"roots/list","params":{{}}}},"words":{{"method":"sampling/createMessage","params":{sampling}}}}}"#
        )
    );
    // The request is over, and nothing is kept for a retry that may never come.
    assert!(bench.server.in_flight.is_empty());
    assert_eq!(bench.server.respond(call, "{}"), Err(ApiMisuse::AlreadyAnswered.into()));
    let state = member(&reply, &["result", "requestState"]);
    let responses = r#"{"name":{"action":"accept","content":{"n":1e2}},"extra":{"x":1},"roots":{"roots":[]},"words":{"content":{}}}"#;
    bench.recv(&retry("2", state.as_str(), responses));
    let (again, context) = context(bench.event());
    assert_ne!(again, call);
    let answers: Vec<_> = context.input_answers.iter().map(answered).collect();
    assert_eq!(
        answers,
        [
            ("name", r#"{"action":"accept","content":{"n":1e2}}"#),
            ("roots", r#"{"roots":[]}"#),
            ("words", r#"{"content":{}}"#)
        ]
    );
    assert_eq!((context.round, context.state.unwrap().as_str()), (1, "{\"step\":\n2}"));
    // A second round keeps what the first brought.
    ask(&mut bench, again, &["more"], None);
    let state = member(&bench.sent_one(), &["result", "requestState"]);
    bench.recv(&retry("3", state.as_str(), r#"{"more":{"action":"decline"}}"#));
    let (last, context) = super::rounds::context(bench.event());
    let keys: Vec<_> = context.input_answers.iter().map(|answer| &*answer.key).collect();
    assert_eq!((keys, context.round, context.state), (["name", "roots", "words", "more"].into(), 2, None));
    bench.server.respond(last, TEXT_RESULT).unwrap();
    assert!(bench.sent_one().contains(r#""id":3,"result""#));
}

// proves: BASE-363 BASE-362
#[test]
fn missing_answers_are_asked_for_again() {
    let mut bench = Bench::new();
    let state = first_round(&mut bench, &["a", "b"], Some("5"));
    let reply = bench.reply(&retry("2", &state, r#"{"b":{"action":"cancel"},"c":{},"a":null}"#));
    assert_eq!(
        member(&reply, &["result", "inputRequests"]).as_str(),
        format!(r#"{{"a":{{"method":"elicitation/create","params":{FORM}}}}}"#)
    );
    let state = member(&reply, &["result", "requestState"]);
    bench.recv(&retry("3", state.as_str(), r#"{"a":{"action":"accept"}}"#));
    let (_, context) = context(bench.event());
    let answers: Vec<_> = context.input_answers.iter().map(answered).collect();
    assert_eq!(answers, [("b", r#"{"action":"cancel"}"#), ("a", r#"{"action":"accept"}"#)]);
    assert_eq!((context.round, context.state.unwrap().as_str()), (2, "5"));
}

// proves: BASE-343 BASE-345 BASE-347 BASE-360 BASE-361
#[test]
fn what_was_not_given_out_for_this_request_is_refused() {
    let mut bench = Bench::new();
    let state = first_round(&mut bench, &["a"], None);
    let good = r#"{"a":{"action":"accept"}}"#;
    let forged = state.replace("v1.", "v1.A");
    let cases = [
        retry("2", &forged, good),
        retry("2", "\"\"", good),
        retry("2", "7", good),
        retry("2", &state, good).replace(r#""n":1"#, r#""n":2"#),
        retry("2", &state, good).replace("\"echo\"", "\"nap\""),
        retry("2", &state, "[]"),
        retry("2", &state, r#"{"a":"yes"}"#),
        retry("2", &state, r#"{"a":{"content":{}}}"#),
    ];
    for text in cases {
        assert_eq!(error_of(&bench.reply(&text)), (-32602, Some("2".into())), "{text}");
    }
    let facts = Facts { principal: Some("mallory"), ..Facts::default() };
    bench.input(Input::Message { text: &retry("2", &state, good), facts });
    assert_eq!(error_of(&bench.sent_one()).0, -32602);
    // Another server has another key.
    let mut config = config();
    config.seed = crate::seed::Seed::new([8; 32]);
    assert_eq!(error_of(&Bench::with(config).reply(&retry("2", &state, good))).0, -32602);
    bench.now = bench.now.after(3_600_000);
    assert_eq!(error_of(&bench.reply(&retry("2", &state, good))).0, -32602);
    bench.now = Instant::ZERO;
    assert_eq!(error_of(&bench.reply(&retry("2", &state, good))).0, -32602, "time does not go back");
}

#[test]
fn replicas_with_the_same_keys_take_each_others_retries() {
    let replica = |seed| {
        let mut config = config();
        config.seed = crate::seed::Seed::new([seed; 32]);
        config.request_state_keys = [[1; 32], [2; 32]].into();
        Bench::with(config)
    };
    let state = first_round(&mut replica(1), &["a"], None);
    let mut other = replica(2);
    // Members may come in another order, and metadata may differ.
    let text = format!(
        r#""inputResponses":{{"a":{{"action":"accept"}}}},"arguments":{{"n":1}},"name":"echo","requestState":{state}"#
    );
    other.recv(&modern("9", "tools/call", &text));
    assert_eq!(context(other.event()).1.round, 1);
}

#[test]
fn members_of_rounds_mean_nothing_to_older_revisions() {
    let mut bench = session(Revision::V2025_11_25);
    bench.recv(&legacy("1", "tools/call", r#""name":"echo","requestState":"x","inputResponses":{}"#));
    assert_eq!(context(bench.event()).1.round, 0);
}

// proves: BASE-360 BASE-361 BASE-362
#[test]
fn answers_may_come_ahead_of_the_questions() {
    let mut bench = Bench::new();
    let ahead = |responses: &str| {
        modern(
            "1",
            "tools/call",
            &format!(r#""name":"echo","inputResponses":{responses},"requestState":null"#),
        )
    };
    bench.recv(&ahead(r#"{"b":{},"a":{"action":"cancel"},"c":null,"a":{"action":"accept"}}"#));
    let (_, context) = context(bench.event());
    let answers: Vec<_> = context.input_answers.iter().map(answered).collect();
    assert_eq!(answers, [("b", "{}"), ("a", r#"{"action":"accept"}"#)]);
    assert_eq!((context.round, context.state), (0, None));
    // What cannot be an answer is refused, and so are more than a server may ask for.
    for responses in [r#"{"a":12345}"#, "[]", r#""a""#] {
        assert!(Bench::new().reply(&ahead(responses)).contains(r#""code":-32602"#), "{responses}");
    }
    let mut bench = Bench::new();
    bench.server.config.limits.inputs = 1;
    assert!(bench.reply(&ahead(r#"{"a":{},"b":{}}"#)).contains("too many"));
}

// proves: BASE-059 BASE-338 BASE-350 FEAT-305
#[test]
fn questions_need_the_method_and_the_capability() {
    let mut bench = Bench::new();
    let completion = bench.call(&modern_with(
        "1",
        "completion/complete",
        r#""ref":{"type":"ref/prompt","name":"greet"},"argument":{"name":"a","value":""}"#,
        ALL,
    ));
    let refused = bench.server.require_input(bench.now, completion, [question("a")].into(), None);
    assert_eq!(refused, Err(ApiMisuse::InputNotPossible.into()));
    for text in [
        modern("2", "tools/call", r#""name":"echo""#),
        modern("3", "prompts/get", r#""name":"greet""#),
        modern("4", "resources/read", r#""uri":"file:///a""#),
    ] {
        let call = bench.call(&text);
        let sampling = r#"{"messages":[],"maxTokens":1}"#;
        let questions = [question("a"), asking("b", InputKind::Sampling, sampling)].into();
        let Err(Error::PeerIncompatible(PeerIncompatible::MissingCapability(required))) =
            bench.server.require_input(bench.now, call, questions, None)
        else {
            panic!()
        };
        assert!(
            required.member("elicitation").is_some() && required.member("sampling").is_some(),
            "{required}"
        );
        bench.server.respond_missing_capability(call, required.as_str()).unwrap();
        let reply = bench.sent_one();
        assert_eq!(error_of(&reply).0, -32021);
        assert!(reply.contains("needs: sampling, elicitation"), "{reply}");
        assert_eq!(member(&reply, &["error", "data", "requiredCapabilities"]), required);
    }
}

// proves: BASE-340
#[test]
fn questions_are_bounded_and_their_keys_unique() {
    let mut config = config();
    config.limits.inputs = 2;
    config.limits.rounds = 1;
    config.limits.request_state_bytes = 1_000;
    let mut bench = Bench::with(config);
    let call = bench.call(&modern_with("1", "tools/call", r#""name":"echo","arguments":{"n":1}"#, ALL));
    let mut require = |keys: &[&str], state: Option<&str>| {
        let questions = keys.iter().map(|key| question(key)).collect();
        bench.server.require_input(bench.now, call, questions, state)
    };
    assert_eq!(require(&["a", "b", "c"], None), Err(Limit::Inputs.into()));
    assert_eq!(require(&["a", "a"], None), Err(ApiMisuse::InvalidDefinition("key").into()));
    assert_eq!(require(&["a"], Some("{")), Err(ApiMisuse::InvalidJson.into()));
    let long = format!("\"{}\"", "x".repeat(1_000));
    assert_eq!(require(&["a"], Some(&long)), Err(Limit::RequestStateBytes.into()));
    require(&["a"], None).unwrap();
    let state = member(&bench.sent_one(), &["result", "requestState"]);
    let refused = bench.reply(&retry("2", state.as_str(), "{}"));
    assert_eq!(error_of(&refused).0, -32602);
    bench.recv(&retry("3", state.as_str(), r#"{"a":{"action":"accept"}}"#));
    let (again, _) = context(bench.event());
    let refused = bench.server.require_input(bench.now, again, [question("b")].into(), None);
    assert_eq!(refused, Err(Limit::Rounds.into()));
    bench.server.respond(again, TEXT_RESULT).unwrap();
}

#[test]
fn questions_too_large_to_carry_are_asked_again_by_the_application() {
    let mut config = config();
    config.limits.request_state_bytes = 1_000;
    let mut bench = Bench::with(config);
    let call = bench.call(&modern_with("1", "tools/call", r#""name":"echo","arguments":{"n":1}"#, ALL));
    let long = FORM.replace('?', &"x".repeat(2_000));
    let questions = [asking("a", InputKind::Elicitation, &long), question("b")].into();
    bench.server.require_input(bench.now, call, questions, Some("1")).unwrap();
    let state = member(&bench.sent_one(), &["result", "requestState"]);
    bench.recv(&retry("2", state.as_str(), r#"{"b":{"action":"accept"}}"#));
    let (_, context) = context(bench.event());
    assert_eq!(
        context.input_answers.iter().map(answered).collect::<Vec<_>>(),
        [("b", r#"{"action":"accept"}"#)]
    );
}

fn session(revision: Revision) -> Bench {
    Bench::session(revision, ALL)
}

#[test]
fn a_legacy_client_gets_requests_and_the_same_request_comes_again() {
    let mut bench = session(Revision::V2025_11_25);
    let text = legacy("1", "tools/call", r#""name":"echo","arguments":{"n":1}"#);
    let call = bench.call(&text);
    let questions = [question("name"), asking("roots", InputKind::Roots, "{}")].into();
    bench.server.require_input(bench.now, call, questions, Some("[7]")).unwrap();
    let sent = bench.sent();
    assert!(
        sent[0].contains(r#""method":"elicitation/create""#) && sent[1].contains(r#""method":"roots/list""#)
    );
    let ids: Vec<_> = sent.iter().map(|text| member(text, &["id"])).collect();
    // Out of order, and only the last brings the event.
    bench.recv(&format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{"roots":[]}}}}"#, ids[1]));
    assert_eq!(bench.events(), []);
    let busy = bench.server.require_input(bench.now, call, [question("x")].into(), None);
    assert_eq!(busy, Err(ApiMisuse::AlreadyAnswered.into()));
    bench.recv(&format!(r#"{{"jsonrpc":"2.0","id":{},"error":{{"code":-1,"message":"no"}}}}"#, ids[0]));
    let Event::ToolCalled { request, name, arguments, context } = bench.event() else { panic!() };
    assert_eq!((request, &*name, arguments.unwrap().as_str()), (call, "echo", r#"{"n":1}"#));
    assert_eq!((context.round, context.state.as_ref().unwrap().as_str()), (1, "[7]"));
    assert_eq!(&*context.input_answers[0].key, "name");
    assert_eq!(context.input_answers[0].outcome, Err(RpcError::new(-1, "no")));
    assert_eq!(answered(&context.input_answers[1]), ("roots", r#"{"roots":[]}"#));
    // An answer comes once.
    bench.recv(&format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{}}}}"#, ids[0]));
    assert_eq!(bench.violations(), [Violation::UnknownResponse]);
    bench.server.respond(call, TEXT_RESULT).unwrap();
    assert!(bench.sent_one().contains(r#""id":1,"result""#));
}

#[test]
fn questions_without_a_usable_answer_come_back_as_errors() {
    let mut bench = session(Revision::V2025_11_25);
    let call = bench.call(&legacy("1", "tools/call", r#""name":"echo""#));
    ask(&mut bench, call, &["malformed", "empty", "silent"], None);
    let ids: Vec<_> = bench.sent().iter().map(|text| member(text, &["id"])).collect();
    bench.recv(&format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{"roots":[]}}}}"#, ids[0]));
    bench.recv(&format!(r#"{{"jsonrpc":"2.0","id":{}}}"#, ids[1]));
    assert_eq!(bench.violations(), [Violation::EmptyResponse]);
    let deadline = bench.server.poll_timeout().unwrap();
    assert_eq!(deadline, Instant::from_millis(600_000), "people take their time");
    bench.wait(600_000);
    let cancelled = bench.sent_one();
    assert!(
        cancelled.contains("notifications/cancelled")
            && cancelled.contains(&format!(r#""requestId":{}"#, ids[2]))
    );
    let (_, context) = context(bench.event());
    assert!(context.input_answers.iter().all(|answer| answer.outcome.is_err()));
    // Too late, but no fault.
    bench.recv(&format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{"action":"accept"}}}}"#, ids[2]));
    assert_eq!(bench.events(), []);
    assert_eq!(bench.server.poll_timeout(), None);
}

#[test]
fn a_request_that_ends_takes_its_questions_back() {
    for cancels in [true, false] {
        let mut bench = session(Revision::V2025_11_25);
        let call = bench.call(&legacy("1", "tools/call", r#""name":"echo""#));
        ask(&mut bench, call, &["a"], None);
        let id = member(&bench.sent_one(), &["id"]);
        let sent = if cancels {
            bench.recv(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#);
            assert!(matches!(bench.event(), Event::RequestCancelled { .. }));
            bench.sent()
        } else {
            bench.server.respond(call, TEXT_RESULT).unwrap();
            bench.sent()
        };
        assert!(
            sent[0].contains("notifications/cancelled") && sent[0].contains(&format!("\"requestId\":{id}"))
        );
        assert_eq!(sent.len(), if cancels { 1 } else { 2 });
        bench.recv(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"action":"accept"}}}}"#));
        assert_eq!(bench.events(), []);
    }
}

#[test]
fn legacy_questions_are_those_of_the_revision() {
    let mut bench = session(Revision::V2025_03_26);
    let call = bench.call(&legacy("1", "tools/call", r#""name":"echo""#));
    let refused = bench.server.require_input(bench.now, call, [question("a")].into(), None);
    assert!(
        matches!(
            refused,
            Err(Error::ApiMisuse(ApiMisuse::NotAllowedInRevision(_)) | Error::PeerIncompatible(_))
        ),
        "{refused:?}"
    );
    let url = r#"{"mode":"url","message":"?","url":"https://example.com"}"#;
    let mut bench = Bench::session(Revision::V2025_11_25, r#"{"elicitation":{"url":{}}}"#);
    let call = bench.call(&legacy("1", "tools/call", r#""name":"echo""#));
    bench
        .server
        .require_input(bench.now, call, [asking("u", InputKind::Elicitation, url)].into(), None)
        .unwrap();
    assert!(!member(&bench.sent_one(), &["params", "elicitationId"]).as_str().is_empty());
    let other = bench.call(&legacy("2", "tools/call", r#""name":"echo""#));
    let refused = bench.server.require_input(bench.now, other, [question("f")].into(), None);
    assert!(matches!(refused, Err(Error::PeerIncompatible(PeerIncompatible::MissingCapability(_)))));
}

// proves: BASE-339
#[test]
fn a_round_of_no_questions_comes_back_by_itself() {
    let mut bench = session(Revision::V2025_11_25);
    let call = bench.call(&legacy("1", "tools/call", r#""name":"echo""#));
    ask(&mut bench, call, &[], Some("1"));
    let (again, context) = context(bench.event());
    assert_eq!((again, context.round), (call, 1));
    let mut bench = Bench::new();
    let call = bench.call(&modern("1", "tools/call", r#""name":"echo""#));
    ask(&mut bench, call, &[], Some("1"));
    let reply = bench.sent_one();
    assert!(!reply.contains("inputRequests") && reply.contains("requestState"), "{reply}");
}

#[test]
fn a_tool_removed_meanwhile_finishes_its_calls() {
    let mut bench = session(Revision::V2025_11_25);
    for (method, params) in [
        ("tools/call", r#""name":"echo","arguments":{"a":1}"#),
        ("prompts/get", r#""name":"greet""#),
        ("resources/read", r#""uri":"user://x""#),
    ] {
        bench.recv(&legacy("1", method, params));
        let first = bench.event();
        let call = request_of(&first);
        ask(&mut bench, call, &["a"], None);
        let id = member(&bench.sent_one(), &["id"]);
        if method == "tools/call" {
            bench.server.remove_tool("echo").unwrap();
        }
        bench.recv(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"action":"accept"}}}}"#));
        let again = bench.event();
        assert_eq!(core::mem::discriminant(&first), core::mem::discriminant(&again));
        assert_eq!(context(again).0, call);
        bench.server.respond(call, TEXT_RESULT).unwrap();
        bench.sent();
    }
}
