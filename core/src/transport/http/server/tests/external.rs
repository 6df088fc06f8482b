//! Sessions and events that live outside.

use super::*;

fn external() -> Http {
    let mut config = config();
    config.external_sessions = true;
    config.events = EventKeeping::External;
    http_with(config, Limits::default())
}

fn events(http: &mut Http) -> Vec<HttpServerEvent> {
    core::iter::from_fn(|| http.poll_http_event()).collect()
}

#[test]
fn a_session_is_named_to_the_host() {
    let mut http = external();
    let id = open_session(&mut http, 1, Revision::V2025_11_25);
    let expected = HttpServerEvent::SessionNamed { session: session(1), id: id.clone().into() };
    assert_eq!(events(&mut http), [expected]);
    let end = request(&mut http, "DELETE", &[("Mcp-Session-Id", &id)], "");
    assert_eq!(response(&mut http, end).status, 204);
    assert_eq!(events(&mut http), [HttpServerEvent::StreamsForgotten { session: session(1) }]);
}

#[test]
fn an_unknown_session_is_asked_for_once() {
    let mut http = external();
    let headers = [("Mcp-Session-Id", "far"), ("MCP-Protocol-Version", "2025-11-25")];
    let message = post(&mut http, &headers, "a");
    let stream = get(&mut http, &headers);
    let other = http.receive_whole(
        START,
        RequestHead { principal: Some("bob"), ..head("POST", &with(&headers)) },
        b"b",
    );
    assert_eq!((taken(&mut http), http.poll_ready()), (Vec::new(), None));
    let asked = |exchange| HttpServerEvent::SessionRequested { exchange, id: "far".into() };
    assert_eq!(events(&mut http), [asked(message), asked(other)]);
    http.resolve_session(START, other, None);
    let named = |text: &str, exchange, session| Taken::Message { text: text.into(), exchange, session };
    assert_eq!(taken(&mut http), [named("b", other, NamedSession::Unknown)]);
    http.resolve_session(START, message, Some(session(9)));
    assert_eq!(taken(&mut http), [named("a", message, NamedSession::Known(session(9)))]);
    // The client named the revision.
    assert_eq!(response(&mut http, stream).fields("retry"), ["1000"]);
    let again = post(&mut http, &headers, "c");
    assert_eq!(taken(&mut http), [named("c", again, NamedSession::Known(session(9)))]);
    // It belongs to somebody else, and is not asked for again.
    let stolen = http.receive_whole(
        START,
        RequestHead { principal: Some("bob"), ..head("GET", &with(&headers)) },
        b"",
    );
    assert_eq!(response(&mut http, stolen).status, 404);
}

// proves: BASE-271
#[test]
fn a_client_that_names_no_revision_is_an_old_one() {
    for (revision, retries) in [(None, 0), (Some("2025-06-18"), 0), (Some("2025-11-25"), 1)] {
        let mut http = external();
        let mut headers = Vec::from([("Mcp-Session-Id", "far")]);
        headers.extend(revision.map(|revision| ("MCP-Protocol-Version", revision)));
        let stream = get(&mut http, &headers);
        http.resolve_session(START, stream, Some(session(9)));
        assert_eq!(response(&mut http, stream).fields("retry").len(), retries, "{revision:?}");
    }
}

#[test]
fn a_session_that_nobody_knows_is_unknown_to_all_who_wait() {
    let mut http = external();
    let headers = [("Mcp-Session-Id", "far")];
    let stream = get(&mut http, &headers);
    let end = request(&mut http, "DELETE", &headers, "");
    let message = post(&mut http, &headers, "a");
    http.receive_abort(START, stream);
    http.resolve_session(START, stream, None);
    assert_eq!(response(&mut http, end).status, 404);
    let expected = Taken::Message { text: "a".into(), exchange: message, session: NamedSession::Unknown };
    assert_eq!(taken(&mut http), [expected]);
}

#[test]
fn a_session_can_be_ended_while_others_wait_for_it() {
    let mut http = external();
    let headers = [("Mcp-Session-Id", "far")];
    let end = request(&mut http, "DELETE", &headers, "");
    let message = post(&mut http, &headers, "a");
    http.resolve_session(START, end, Some(session(9)));
    assert_eq!(response(&mut http, end).status, 204);
    let expected = Taken::Message { text: "a".into(), exchange: message, session: NamedSession::Unknown };
    assert!(taken(&mut http).contains(&expected));
}

/// The texts and ids of what the host was asked to keep.
fn appended(http: &mut Http) -> (Vec<String>, Vec<String>) {
    let all = events(http).into_iter().filter_map(|event| match event {
        HttpServerEvent::EventAppended { id, data, .. } => Some((data, id.to_string())),
        _ => None,
    });
    all.unzip()
}

#[test]
fn the_host_keeps_events_and_gives_them_back() {
    let mut http = external();
    let id = open_session(&mut http, 1, Revision::V2025_11_25);
    let call = post(&mut http, &[("Mcp-Session-Id", &id)], "call");
    say(&mut http, "one", within(call, Disposition::Continues));
    let first = response(&mut http, call);
    http.receive_abort(START, call);
    say(&mut http, "two", within(call, Disposition::Continues));
    let (texts, ids) = appended(&mut http);
    assert_eq!(texts, ["", "one", "two"]);
    assert_eq!(ids[..2], first.ids());
    let again = get(&mut http, &[("Mcp-Session-Id", &id), ("Last-Event-ID", &ids[0])]);
    let [HttpServerEvent::ReplayRequested { exchange, session: of, stream, after }] = &events(&mut http)[..]
    else {
        panic!("a replay is asked for");
    };
    assert_eq!((*exchange, *of, &**after), (again, session(1), &*ids[0]));
    assert!(ids[0].starts_with(&**stream));
    // What comes meanwhile may or may not be among what the host gives.
    say(&mut http, "three", within(call, Disposition::Continues));
    say(&mut http, "four", within(call, Disposition::Continues));
    assert_eq!(http.poll_response(again), None);
    let (_, more) = appended(&mut http);
    http.replay(START, again, Some(&[(&ids[1], "one"), (&ids[2], "two"), (&more[0], "three")]));
    let replayed = response(&mut http, again);
    assert_eq!((replayed.messages(), replayed.is_last), (Vec::from(["one", "two", "three", "four"]), false));
    say(&mut http, "answer", within(call, Disposition::Answers));
    let rest = response(&mut http, again);
    assert_eq!((rest.messages(), rest.is_last), (Vec::from(["answer"]), true));
}

#[test]
fn a_stream_of_another_process_is_replayed_and_polled() {
    let mut http = external();
    let id = open_session(&mut http, 1, Revision::V2025_11_25);
    events(&mut http);
    let far = "AAAAAAAAAAAA.5.6";
    let again = get(&mut http, &[("Mcp-Session-Id", &id), ("Last-Event-ID", far)]);
    assert_eq!(events(&mut http).len(), 1);
    http.replay(START, again, Some(&[("AAAAAAAAAAAA.5.7", "one")]));
    let replayed = response(&mut http, again);
    assert_eq!(
        (replayed.messages(), replayed.fields("retry"), replayed.is_last),
        (Vec::from(["one"]), Vec::from(["1000"]), true)
    );
    let unknown = get(&mut http, &[("Mcp-Session-Id", &id), ("Last-Event-ID", far)]);
    http.replay(START, unknown, None);
    assert_eq!(response(&mut http, unknown).status, 400);
}

#[test]
fn what_was_told_alone_is_given_back_when_the_stream_opens() {
    let mut http = external();
    let id = open_session(&mut http, 1, Revision::V2025_06_18);
    say(&mut http, "early", alone(1));
    let (texts, ids) = appended(&mut http);
    assert_eq!(texts, ["", "early"]);
    let stream = get(&mut http, &[("Mcp-Session-Id", &id)]);
    assert!(
        matches!(&events(&mut http)[..], [HttpServerEvent::ReplayRequested { exchange, .. }] if *exchange == stream)
    );
    let second = get(&mut http, &[("Mcp-Session-Id", &id)]);
    assert_eq!(response(&mut http, second).status, 409);
    http.replay(START, stream, Some(&[(&ids[1], "early")]));
    let opened = response(&mut http, stream);
    assert_eq!((opened.messages(), opened.is_last), (Vec::from(["early"]), false));
    say(&mut http, "late", alone(1));
    assert_eq!(response(&mut http, stream).messages(), ["late"]);
}

#[test]
fn a_client_that_asks_again_takes_the_stream_over() {
    let mut http = external();
    let id = open_session(&mut http, 1, Revision::V2025_06_18);
    let call = post(&mut http, &[("Mcp-Session-Id", &id)], "call");
    say(&mut http, "one", within(call, Disposition::Continues));
    let first = response(&mut http, call);
    http.receive_abort(START, call);
    let headers = [("Mcp-Session-Id", &*id), ("Last-Event-ID", first.ids()[0])];
    let [again, once_more] = [get(&mut http, &headers), get(&mut http, &headers)];
    let ended = response(&mut http, again);
    assert_eq!((ended.status, &*ended.body, ended.is_last), (200, "", true));
    http.replay(START, again, Some(&[(first.ids()[0], "one")]));
    http.replay(START, once_more, Some(&[]));
    say(&mut http, "answer", within(call, Disposition::Answers));
    assert_eq!(response(&mut http, once_more).messages(), ["answer"]);
}

#[test]
fn an_answer_that_comes_while_the_host_looks_ends_the_stream() {
    let mut http = external();
    let id = open_session(&mut http, 1, Revision::V2025_06_18);
    let call = post(&mut http, &[("Mcp-Session-Id", &id)], "call");
    say(&mut http, "one", within(call, Disposition::Continues));
    let first = response(&mut http, call);
    http.receive_abort(START, call);
    let again = get(&mut http, &[("Mcp-Session-Id", &id), ("Last-Event-ID", first.ids()[0])]);
    say(&mut http, "answer", within(call, Disposition::Answers));
    assert_eq!(http.poll_response(again), None);
    http.replay(START, again, Some(&[]));
    let rest = response(&mut http, again);
    assert_eq!((rest.messages(), rest.is_last), (Vec::from(["answer"]), true));
}
