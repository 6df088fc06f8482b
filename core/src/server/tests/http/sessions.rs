//! Many sessions side by side.

use super::*;
use crate::error::{ApiMisuse, Error, Limit};
use crate::logging::LogLevel;
use crate::subscription::Change;

const ALL: &str = r#"{"elicitation":{},"sampling":{},"roots":{}}"#;

/// To whom messages go that belong to no exchange.
fn alone(outs: &[Out]) -> Vec<SessionHandle> {
    assert!(outs.iter().all(|out| out.labels.exchange.is_none()), "{outs:?}");
    outs.iter().filter_map(|out| out.labels.session).collect()
}

#[test]
fn each_session_has_its_own_level_subscriptions_and_notices() {
    let mut bench = Bench::new();
    let sessions: Vec<_> =
        (1..=3).map(|number| bench.http_session(number, Revision::V2025_11_25, "{}")).collect();
    bench.post(Post::of(11, sessions[1]), &legacy("1", "logging/setLevel", r#""level":"error""#));
    for session in &sessions[..2] {
        for number in 12..14 {
            bench.post(
                Post::of(number, *session),
                &legacy("2", "resources/subscribe", r#""uri":"file:///a""#),
            );
        }
    }
    assert_eq!(bench.events().len(), 2);
    assert_eq!(bench.outs().0.len(), 5);
    bench.server.log(LogLevel::Info, None, "1").unwrap();
    assert_eq!(alone(&bench.outs().0), [sessions[0], sessions[2]]);
    bench.server.log(LogLevel::Error, None, "1").unwrap();
    assert_eq!(alone(&bench.outs().0), sessions);
    bench.server.publish(&Change::Resource("file:///a/b".into()));
    assert_eq!(alone(&bench.outs().0), sessions[..2]);
    bench.server.remove_tool("nap").unwrap();
    assert_eq!(alone(&bench.outs().0), sessions);
    bench.post(Post::of(14, sessions[0]), &legacy("3", "resources/unsubscribe", r#""uri":"file:///a""#));
    assert!(matches!(bench.event(), Event::SubscriptionClosed { .. }));
    assert!(bench.out().text.contains("result"));
    bench.server.publish(&Change::Resource("file:///a".into()));
    assert_eq!(alone(&bench.outs().0), sessions[1..2]);
}

// proves: BASE-441
#[test]
fn a_question_goes_out_in_the_exchange_of_its_request_and_only_its_session_answers() {
    let mut bench = Bench::new();
    let ours = bench.http_session(1, Revision::V2025_11_25, ALL);
    let theirs = bench.http_session(2, Revision::V2025_11_25, ALL);
    bench.post(Post::of(11, ours), &legacy("1", "tools/call", r#""name":"echo""#));
    let call = request_of(&bench.event());
    let question = crate::server::tests::rounds::question("a");
    bench.server.require_input(bench.now, call, [question].into(), None).unwrap();
    let out = bench.out();
    assert_eq!((out.labels.exchange, out.labels.session), (Some(exchange(11)), Some(ours)));
    assert_eq!(out.labels.disposition, Disposition::Continues);
    let id = Json::new(&out.text).unwrap().member("id").unwrap();
    let answer = format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{"action":"decline"}}}}"#, id.as_str());
    for malformed in [answer.clone(), format!(r#"{{"jsonrpc":"2.0","id":{}}}"#, id.as_str())] {
        bench.post(Post::of(12, theirs), &malformed);
        assert_ne!(bench.end_of(12).0, End::Open);
        assert_eq!(bench.violations().len(), 1);
    }
    bench.post(Post::of(13, ours), &answer);
    assert_eq!(bench.end_of(13), (End::Accepted, Vec::new()));
    assert_eq!(request_of(&bench.event()), call);
    bench.server.respond(call, TEXT_RESULT).unwrap();
    assert_eq!(bench.end_of(11).0, End::Ended(Disposition::Answers));
    // A client that takes no stream cannot be asked.
    let json_only = Post { takes_stream: false, ..Post::of(15, ours) };
    bench.post(json_only, &legacy("2", "tools/call", r#""name":"echo""#));
    let call = request_of(&bench.event());
    let question = crate::server::tests::rounds::question("b");
    let refused = bench.server.require_input(bench.now, call, [question].into(), None);
    assert_eq!(refused, Err(ApiMisuse::InputNotPossible.into()));
    bench.server.respond(call, TEXT_RESULT).unwrap();
    assert_eq!(bench.end_of(15).0, End::Ended(Disposition::Answers));
    // A request of the server's own belongs to the session's stream.
    let ping = bench.server.ping(bench.now, theirs).unwrap();
    let out = bench.out();
    assert_eq!(
        (out.labels.exchange, out.labels.session, out.route),
        (None, Some(theirs), Route::Opens(ping))
    );
    bench.wait(600_000);
    let out = bench.out();
    assert_eq!(
        (out.labels.exchange, out.labels.session, out.route),
        (None, Some(theirs), Route::Within(ping))
    );
}

#[test]
fn what_is_held_until_the_session_is_open_goes_where_it_belongs() {
    let mut bench = Bench::new();
    bench.post(Post::bare(1), &initialize("0", "2025-11-25", ALL));
    let session = bench.out().labels.session.unwrap();
    bench.post(Post::of(11, session), &legacy("1", "tools/call", r#""name":"echo""#));
    let call = request_of(&bench.event());
    let question = crate::server::tests::rounds::question("a");
    bench.server.require_input(bench.now, call, [question].into(), None).unwrap();
    bench.server.request(bench.now, session, "roots/list", None).unwrap();
    assert!(bench.outs().0.is_empty());
    bench.post(Post::of(12, session), INITIALIZED);
    let (outs, accepted) = bench.outs();
    assert_eq!(accepted, [12]);
    let exchanges: Vec<_> = outs.iter().map(|out| out.labels.exchange).collect();
    assert_eq!(exchanges, [Some(exchange(11)), None]);
}

fn busy(bench: &mut Bench) -> (SessionHandle, Vec<RequestHandle>) {
    let session = bench.http_session(1, Revision::V2025_03_26, r#"{"sampling":{},"roots":{}}"#);
    let other = bench.http_session(2, Revision::V2025_11_25, ALL);
    let call = |id| legacy(id, "tools/call", r#""name":"echo""#);
    bench.post(Post::of(11, session), &call("1"));
    bench.post(Post::of(12, session), &format!("[{},{}]", call("2"), legacy("3", "ping", "")));
    bench.post(Post::of(13, session), &legacy("4", "resources/subscribe", r#""uri":"file:///a""#));
    bench.post(Post::of(14, other), &call("1"));
    bench.post(Post::of(15, other), &legacy("4", "resources/subscribe", r#""uri":"file:///a""#));
    let requests: Vec<_> = bench
        .events()
        .iter()
        .filter(|event| matches!(event, Event::ToolCalled { .. }))
        .map(request_of)
        .collect();
    let roots = crate::rounds::InputQuestion {
        key: "r".into(),
        kind: crate::rounds::InputKind::Roots,
        params: Json::new("{}").unwrap(),
    };
    bench.server.require_input(bench.now, requests[0], [roots].into(), None).unwrap();
    bench.server.ping(bench.now, session).unwrap();
    bench.outs();
    (session, requests)
}

fn assert_over(bench: &mut Bench, session: SessionHandle, requests: &[RequestHandle]) {
    let events = bench.events();
    let cancelled: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            Event::RequestCancelled { request, .. } => Some(*request),
            _ => None,
        })
        .collect();
    assert_eq!(cancelled, requests[..2]);
    let count = |is: fn(&Event) -> bool| events.iter().filter(|event| is(event)).count();
    assert_eq!(count(|event| matches!(event, Event::ResponseReceived { outcome: Err(_), .. })), 1);
    assert_eq!(count(|event| matches!(event, Event::SubscriptionClosed { .. })), 1);
    assert_eq!(events.last(), Some(&Event::SessionClosed { session }));
    assert_eq!(events.len(), 5);
    assert_eq!(
        (bench.server.in_flight.len(), bench.server.outbound.len(), bench.server.sessions.len()),
        (1, 0, 1)
    );
    // Late answers are taken; the session is not known any more, the other is as before.
    for request in &requests[..2] {
        bench.server.respond(*request, TEXT_RESULT).unwrap();
    }
    bench.wait(1_000_000);
    assert!(bench.outs().0.is_empty());
    bench.post(Post::of(21, session), &legacy("9", "ping", ""));
    assert_eq!(bench.end_of(21).0, End::Ended(Disposition::SessionUnknown));
    assert_eq!(bench.server.ping(bench.now, session), Err(ApiMisuse::UnknownSession.into()));
    bench.server.publish(&Change::Resource("file:///a".into()));
    bench.server.respond(requests[2], TEXT_RESULT).unwrap();
    assert_eq!(bench.outs().0.len(), 2);
}

// proves: BASE-263
#[test]
fn a_session_that_ended_leaves_nothing() {
    let mut bench = Bench::new();
    let (session, requests) = busy(&mut bench);
    bench.input(Input::SessionEnded { session });
    assert!(bench.outs().0.is_empty());
    assert_over(&mut bench, session, &requests);
    bench.input(Input::SessionEnded { session });
    assert_eq!(bench.events(), []);
}

// proves: BASE-262
#[test]
fn the_application_ends_a_session() {
    let mut bench = Bench::new();
    let (session, requests) = busy(&mut bench);
    bench.server.end_session(session).unwrap();
    match bench.server.poll_transmit() {
        Some(Transmit::EndSession { session: ended }) => assert_eq!(ended, session),
        other => panic!("{other:?}"),
    }
    assert_over(&mut bench, session, &requests);
    let unknown = Err(Error::from(ApiMisuse::UnknownSession));
    assert_eq!(bench.server.end_session(session), unknown);
    // The one of a byte stream ends with it.
    let mut bench = Bench::session(Revision::V2025_11_25, "{}");
    let session = bench.server.sessions.of_stream().unwrap();
    assert_eq!(bench.server.end_session(session), unknown);
}

#[test]
fn sessions_move_between_processes() {
    let mut first = Bench::new();
    let texts: Vec<_> = [Revision::V2025_11_25, Revision::V2025_06_18]
        .into_iter()
        .enumerate()
        .map(|(at, revision)| {
            let at = u64::try_from(at).unwrap();
            let session = first.http_session(at, revision, ALL);
            first.post(Post::of(11, session), &legacy("1", "resources/subscribe", r#""uri":"file:///a""#));
            assert!(first.out().text.contains("result"));
            first.events();
            first.server.export_session(session).unwrap()
        })
        .collect();
    let mut config = config();
    config.limits.sessions = 2;
    let mut second = Bench::with(config);
    let sessions: Vec<_> = texts.iter().map(|text| second.server.import_session(text).unwrap()).collect();
    assert_eq!(second.events().len(), 4);
    assert_eq!(second.server.import_session(&texts[0]), Err(Limit::Sessions.into()));
    for session in &sessions {
        second.post(Post::of(12, *session), &legacy("1", "tools/call", r#""name":"echo""#));
        match second.event() {
            Event::ToolCalled { context, .. } => assert_eq!(context.session, Some(*session)),
            other => panic!("{other:?}"),
        }
    }
    second.server.publish(&Change::Resource("file:///a".into()));
    assert_eq!(alone(&second.outs().0), sessions);
    for session in sessions {
        second.input(Input::SessionEnded { session });
    }
    for text in &texts {
        assert!(second.server.import_session(text).is_ok());
    }
}

#[test]
fn what_one_session_may_watch_is_its_own_affair() {
    let mut config = config();
    config.limits.subscriptions = 2;
    config.limits.watched_resources = 2;
    let mut bench = Bench::with(config);
    let sessions: Vec<_> =
        (1..=3).map(|number| bench.http_session(number, Revision::V2025_11_25, "{}")).collect();
    for session in &sessions {
        for (at, uri) in ["a:1", "a:2", "a:2", "a:3"].into_iter().enumerate() {
            bench.post(
                Post::of(11, *session),
                &legacy("1", "resources/subscribe", &format!(r#""uri":"{uri}""#)),
            );
            let expected = if at < 3 { Disposition::Answers } else { Disposition::Refuses(-32603) };
            assert_eq!(bench.end_of(11).0, End::Ended(expected), "{uri}");
        }
    }
    // Those who listen count each for itself.
    for number in 12..16 {
        let filter = r#""notifications":{"resourceSubscriptions":["a:1","a:2"]}"#;
        bench.post(
            Post::modern(number, "subscriptions/listen", None),
            &modern("1", "subscriptions/listen", filter),
        );
        assert_eq!(bench.end_of(number).0, End::Open);
    }
    let filter = r#""notifications":{"resourceSubscriptions":["a:1","a:2","a:3"]}"#;
    bench.post(Post::modern(17, "subscriptions/listen", None), &modern("1", "subscriptions/listen", filter));
    assert_eq!(bench.end_of(17).0, End::Ended(Disposition::Refuses(-32603)));
}
