use super::*;
use crate::error::ApiMisuse;
use crate::logging::LogLevel;
use crate::server::Notification;

fn progress(progress: f64, total: Option<f64>, message: Option<&str>) -> Notification<'_> {
    Notification::Progress { progress, total, message }
}

fn log(level: LogLevel) -> Notification<'static> {
    Notification::Log { level, logger: Some("db"), data: "{\"a\":\n1}" }
}

// proves: BASE-384 BASE-385
#[test]
fn progress_goes_out_under_the_token_of_the_request() {
    let cases = [
        (progress(1.0, Some(10.0), Some("one")), r#""progress":1,"total":10,"message":"one"}}"#),
        (progress(1.5, None, None), r#""progress":1.5}}"#),
        (progress(9_007_199_254_740_991.0, None, None), r#""progress":9007199254740991}}"#),
        (progress(1e300, None, None), r#""progress":1e+300}}"#),
    ];
    for token in ["7", "\"t\"", "\"\\u0061\""] {
        let mut bench = Bench::session(Revision::V2025_11_25, "{}");
        let meta = format!(r#""name":"echo","_meta":{{"progressToken":{token}}}"#);
        let call = bench.call(&legacy("1", "tools/call", &meta));
        for (notification, end) in cases {
            assert_eq!(bench.server.notify(call, notification), Ok(true));
            let sent = bench.sent_one();
            let start = format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{token},"#
            );
            assert!(sent.starts_with(&start) && sent.ends_with(end), "{sent}");
        }
        // Not more than before: not sent.
        assert_eq!(bench.server.notify(call, progress(1e300, None, None)), Ok(false));
        assert_eq!(bench.server.notify(call, progress(-1.0, None, None)), Ok(false));
        assert_eq!(bench.sent(), Vec::<String>::new());
        for odd in [f64::NAN, f64::INFINITY] {
            assert_eq!(
                bench.server.notify(call, progress(odd, None, None)),
                Err(ApiMisuse::InvalidJson.into())
            );
        }
    }
}

// proves: BASE-380 BASE-387 BASE-391
#[test]
fn progress_needs_a_token_and_its_text_a_revision() {
    let mut bench = Bench::session(Revision::V2024_11_05, "{}");
    let bare = bench.call(&legacy("1", "tools/call", r#""name":"echo""#));
    assert_eq!(bench.server.notify(bare, progress(1.0, None, None)), Ok(false));
    let odd = bench.call(&legacy("2", "tools/call", r#""name":"echo","_meta":{"progressToken":{}}"#));
    assert_eq!(bench.server.notify(odd, progress(1.0, None, None)), Ok(false));
    let call = bench.call(&legacy("3", "tools/call", r#""name":"echo","_meta":{"progressToken":"t"}"#));
    assert_eq!(bench.server.notify(call, progress(1.0, None, Some("hidden"))), Ok(true));
    assert!(!bench.sent_one().contains("hidden"));
    bench.server.respond(call, TEXT_RESULT).unwrap();
    bench.sent();
    assert_eq!(bench.server.notify(call, progress(2.0, None, None)), Ok(false), "it is over");
    assert_eq!(bench.sent(), Vec::<String>::new());
}

#[test]
fn a_legacy_session_hears_from_info_on_until_it_sets_a_level() {
    let mut bench = Bench::session(Revision::V2025_06_18, "{}");
    let call = bench.call(&legacy("1", "tools/call", r#""name":"echo""#));
    assert_eq!(bench.server.notify(call, log(LogLevel::Debug)), Ok(false));
    assert_eq!(bench.server.notify(call, log(LogLevel::Info)), Ok(true));
    assert_eq!(
        bench.sent_one(),
        r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","logger":"db","data":{"a": 1}}}"#
    );
    assert!(bench.reply(&legacy("2", "logging/setLevel", r#""level":"error""#)).ends_with(r#""result":{}}"#));
    assert_eq!(bench.server.notify(call, log(LogLevel::Warning)), Ok(false));
    bench.server.log(LogLevel::Warning, None, "1").unwrap();
    assert_eq!(bench.sent(), Vec::<String>::new());
    bench.server.log(LogLevel::Critical, None, "1").unwrap();
    assert!(bench.sent_one().contains(r#"{"level":"critical","data":1}"#));
    assert_eq!(bench.server.log(LogLevel::Critical, None, "{"), Err(ApiMisuse::InvalidJson.into()));
}

// proves: BASE-068 BASE-069 BASE-070 FEAT-194 FEAT-196
#[test]
fn a_modern_request_hears_what_it_asked_for_while_it_runs() {
    let mut bench = Bench::new();
    bench.recv(&modern("0", "subscriptions/listen", r#""notifications":{"toolsListChanged":true}"#));
    bench.events();
    bench.sent();
    let quiet = bench.call(&modern("1", "tools/call", r#""name":"echo""#));
    assert_eq!(bench.server.notify(quiet, log(LogLevel::Emergency)), Ok(false));
    let text = modern("2", "tools/call", r#""name":"echo""#)
        .replace(r#""progressToken":"t""#, r#""io.modelcontextprotocol/logLevel":"warning""#);
    let call = bench.call(&text);
    assert_eq!(bench.server.notify(call, log(LogLevel::Notice)), Ok(false));
    assert_eq!(bench.server.notify(call, log(LogLevel::Warning)), Ok(true));
    assert!(!bench.sent_one().contains("subscriptionId"));
    bench.server.log(LogLevel::Emergency, None, "1").unwrap();
    bench.server.respond(call, TEXT_RESULT).unwrap();
    assert_eq!(bench.server.notify(call, log(LogLevel::Emergency)), Ok(false));
    assert_eq!(bench.sent().len(), 1, "the answer alone");
}

#[test]
fn what_may_be_left_out_is_while_the_peer_does_not_read() {
    let mut config = config();
    config.limits.queued_bytes = 500;
    let mut bench = Bench::session_with(config, Revision::V2025_11_25, "{}");
    let call = bench.call(&legacy("1", "tools/call", r#""name":"echo","_meta":{"progressToken":1}"#));
    let mut reports = 0;
    while bench.server.notify(call, progress(f64::from(reports + 1), None, None)) == Ok(true) {
        reports += 1;
    }
    assert!((5..20).contains(&reports) && !bench.server.wants_input());
    assert_eq!(bench.server.notify(call, log(LogLevel::Emergency)), Ok(false));
    bench.server.log(LogLevel::Emergency, None, "1").unwrap();
    bench.server.respond(call, TEXT_RESULT).unwrap();
    assert_eq!(bench.sent().len(), usize::try_from(reports).unwrap() + 1, "an answer is never left out");
    assert!(bench.server.wants_input());
}

#[test]
fn a_server_without_logging_is_silent() {
    let mut config = config();
    config.logging = false;
    let mut bench = Bench::session_with(config, Revision::V2025_11_25, "{}");
    assert_eq!(error_of(&bench.reply(&legacy("1", "logging/setLevel", r#""level":"info""#))).0, -32601);
    let call = bench.call(&legacy("2", "tools/call", r#""name":"echo""#));
    assert_eq!(bench.server.notify(call, log(LogLevel::Emergency)), Ok(false));
    bench.server.log(LogLevel::Emergency, None, "1").unwrap();
    assert_eq!(bench.sent(), Vec::<String>::new());
}

#[test]
fn other_notifications_belong_to_the_revision_or_to_nobody() {
    let other = |method, params| Notification::Other { method, params };
    let mut bench = Bench::session(Revision::V2025_11_25, "{}");
    let call = bench.call(&legacy("1", "tools/call", r#""name":"echo""#));
    assert_eq!(bench.server.notify(call, other("com.example/note", Some("{\"a\":1}\n"))), Ok(true));
    assert_eq!(bench.sent_one(), r#"{"jsonrpc":"2.0","method":"com.example/note","params":{"a":1}}"#);
    assert_eq!(
        bench.server.notify(call, other("com.example/note", Some("[]"))),
        Err(ApiMisuse::InvalidJson.into())
    );
    assert_eq!(
        bench
            .server
            .notify(call, other("notifications/elicitation/complete", Some(r#"{"elicitationId":"x"}"#))),
        Ok(true)
    );
    let refused = Err(ApiMisuse::NotAllowedInRevision(Revision::V2025_11_25).into());
    for method in ["notifications/subscriptions/acknowledged", "tools/call", "notifications/initialized"] {
        assert_eq!(bench.server.notify(call, other(method, None)), refused, "{method}");
    }
}
