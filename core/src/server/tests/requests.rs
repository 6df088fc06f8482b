use super::*;
use crate::error::{ApiMisuse, Error, Limit};
use crate::machine::SessionHandle;
use crate::revision::Capability;
use crate::server::ClientFailure;

const ALL: &str = r#"{"elicitation":{},"sampling":{},"roots":{}}"#;

fn opened(revision: Revision, capabilities: &str) -> (Bench, SessionHandle) {
    let mut bench = Bench::new();
    bench.reply(&initialize("0", revision.as_str(), capabilities));
    bench.recv(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    let Event::SessionOpened { session, .. } = bench.event() else { panic!() };
    (bench, session)
}

fn id_of(text: &str) -> Json {
    Json::new(text).unwrap().member("id").unwrap()
}

fn outcome(bench: &mut Bench) -> (RequestHandle, Result<Json, ClientFailure>) {
    match bench.event() {
        Event::ResponseReceived { request, outcome, .. } => (request, outcome),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_request_to_the_client_ends_once() {
    let (mut bench, session) = opened(Revision::V2025_11_25, ALL);
    let request = bench.server.request(bench.now, session, "roots/list", None).unwrap();
    let sent = bench.sent_one();
    assert!(sent.contains(r#""method":"roots/list""#));
    let response = format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{"roots":[]}}}}"#, id_of(&sent));
    // A client's request of the same id is another matter.
    assert!(bench.reply(&legacy(id_of(&sent).as_str(), "ping", "")).contains("result"));
    bench.recv(&response);
    assert_eq!(outcome(&mut bench), (request, Ok(Json::new(r#"{"roots":[]}"#).unwrap())));
    bench.recv(&response);
    assert_eq!(bench.violations(), [Violation::UnknownResponse]);
}

// proves: BASE-427
#[test]
fn every_way_it_can_fail_is_told_apart() {
    let (mut bench, session) = opened(Revision::V2025_11_25, ALL);
    let cases = [
        (
            r#""error":{"code":-32601,"message":"m"}"#,
            ClientFailure::Rpc(crate::jsonrpc::RpcError::new(-32601, "m")),
            0,
        ),
        (r#""result":null"#, ClientFailure::InvalidResult(Violation::InvalidResult), 0),
        (r#""result":{},"error":{}"#, ClientFailure::InvalidResult(Violation::ResultAndError), 1),
        ("\"x\":1", ClientFailure::InvalidResult(Violation::EmptyResponse), 1),
        (r#""result":{"a":tru}"#, ClientFailure::InvalidResult(Violation::NotJson), 1),
    ];
    for (inside, failure, discarded) in cases {
        let request = bench.server.ping(bench.now, session).unwrap();
        let id = id_of(&bench.sent_one());
        bench.recv(&format!(r#"{{"jsonrpc":"2.0","id":{id},{inside}}}"#));
        let mut events = bench.events();
        let told = events.iter().position(|event| {
            matches!(event, Event::ResponseReceived { request: named, outcome: Err(why), .. } if *named == request && *why == failure)
        });
        events.remove(told.unwrap_or_else(|| panic!("{inside}: {events:?}")));
        assert_eq!(events.len(), discarded, "{inside}: {events:?}");
        assert_eq!(bench.sent(), Vec::<String>::new(), "{inside}");
    }
    let request = bench.server.ping(bench.now, session).unwrap();
    bench.sent();
    assert_eq!(bench.server.poll_timeout(), Some(Instant::from_millis(60_000)));
    bench.wait(60_000);
    assert_eq!(outcome(&mut bench), (request, Err(ClientFailure::TimedOut)));
    assert!(bench.sent_one().contains("notifications/cancelled"));
}

// proves: BASE-097 BASE-098
#[test]
fn only_what_revision_and_client_allow_is_asked() {
    let (mut bench, session) = opened(Revision::V2025_03_26, r#"{"roots":{}}"#);
    let mut request = |method, params| bench.server.request(Instant::ZERO, session, method, params);
    let not_allowed = Err(ApiMisuse::NotAllowedInRevision(Revision::V2025_03_26).into());
    for method in ["elicitation/create", "tools/call", "server/discover", "notifications/cancelled"] {
        assert_eq!(request(method, None), not_allowed, "{method}");
    }
    assert_eq!(request("roots/list", Some("[]")), Err(ApiMisuse::InvalidJson.into()));
    let refused = request("sampling/createMessage", Some(r#"{"messages":[],"maxTokens":1}"#));
    assert_eq!(refused, Err(ApiMisuse::CapabilityNotDeclared(Capability::Sampling).into()));
    assert!(request("com.example/ask", Some("{}")).is_ok());
    let nobody = SessionHandle::from_number(999);
    assert_eq!(
        bench.server.request(Instant::ZERO, nobody, "ping", None),
        Err(ApiMisuse::UnknownSession.into())
    );
}

// proves: BASE-095
#[test]
fn requests_are_held_until_the_session_is_open_and_pings_are_not() {
    let mut config = config();
    config.limits.queued_requests = 1;
    let mut bench = Bench::with(config);
    bench.reply(&initialize("0", "2025-11-25", ALL));
    bench.recv(&legacy("1", "tools/call", r#""name":"echo""#));
    let Event::ToolCalled { context, .. } = bench.event() else { panic!() };
    let session = context.session.unwrap();
    bench.server.ping(bench.now, session).unwrap();
    assert!(bench.sent_one().contains("ping"));
    bench.server.request(bench.now, session, "roots/list", None).unwrap();
    assert_eq!(bench.sent(), Vec::<String>::new());
    let full = bench.server.request(bench.now, session, "roots/list", None);
    assert_eq!(full, Err(Limit::QueuedRequests.into()));
    bench.recv(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    assert!(bench.sent_one().contains("roots/list"));
}

#[test]
fn a_held_request_that_expires_was_never_sent() {
    let mut bench = Bench::new();
    bench.reply(&initialize("0", "2025-11-25", ALL));
    bench.recv(&legacy("1", "tools/call", r#""name":"echo""#));
    let Event::ToolCalled { context, .. } = bench.event() else { panic!() };
    bench.server.request(bench.now, context.session.unwrap(), "com.example/ask", None).unwrap();
    bench.wait(60_000);
    assert!(matches!(bench.event(), Event::ResponseReceived { outcome: Err(ClientFailure::TimedOut), .. }));
    bench.recv(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    assert_eq!(bench.sent(), Vec::<String>::new());
}

#[test]
fn requests_to_the_client_are_bounded() {
    let mut config = config();
    config.limits.requests_in_flight = 1;
    let mut bench = Bench::session_with(config, Revision::V2025_11_25, ALL);
    let session = super::ending::open_session(&mut bench);
    bench.server.ping(bench.now, session).unwrap();
    assert_eq!(bench.server.ping(bench.now, session), Err(Error::LimitExceeded(Limit::RequestsInFlight)));
}
