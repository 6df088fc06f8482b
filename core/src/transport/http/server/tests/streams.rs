//! Streams of legacy sessions: ids, replay, polling, and the stream that belongs to no request.

use super::*;

fn named(id: &str) -> [(&str, &str); 1] {
    [("Mcp-Session-Id", id)]
}

fn resume(http: &mut Http, id: &str, after: &str) -> ExchangeHandle {
    get(http, &[("Mcp-Session-Id", id), ("Last-Event-ID", after)])
}

/// A session with a call whose stream has begun; the first event told it something.
fn streaming(revision: Revision) -> (Http, String, ExchangeHandle) {
    let mut http = http();
    let id = open_session(&mut http, 1, revision);
    let exchange = post(&mut http, &named(&id), "call");
    say(&mut http, "one", within(exchange, Disposition::Continues));
    taken(&mut http);
    (http, id, exchange)
}

// proves: BASE-230 BASE-233 BASE-247 BASE-248 BASE-249 BASE-443
#[test]
fn a_stream_begins_with_an_id_since_2025_11_25() {
    let (mut http, id, exchange) = streaming(Revision::V2025_11_25);
    let response_of_call = response(&mut http, exchange);
    let ids = response_of_call.ids();
    assert_eq!(ids.len(), 2);
    let expected =
        format!("id: {}\ndata: \n\nretry: 1000\n\nevent: message\nid: {}\ndata: one\n\n", ids[0], ids[1]);
    assert_eq!(response_of_call.body, expected);
    let standalone = get(&mut http, &named(&id));
    let response = response(&mut http, standalone);
    assert!(response.is_stream() && !response.is_last);
    assert_eq!((response.ids().len(), response.fields("retry")), (1, Vec::from(["1000"])));
    assert!(!ids.contains(&response.ids()[0]));
    let stream = |id: &str| id.rsplit_once('.').expect("a stream").0.to_string();
    assert_eq!(stream(ids[0]), stream(ids[1]));
    assert_ne!(stream(ids[0]), stream(response.ids()[0]));
}

#[test]
fn older_clients_get_ids_and_nothing_that_they_do_not_know() {
    for revision in [Revision::V2025_03_26, Revision::V2025_06_18] {
        let (mut http, id, exchange) = streaming(revision);
        let response_of_call = response(&mut http, exchange);
        assert_eq!((response_of_call.ids().len(), response_of_call.fields("data")), (1, Vec::from(["one"])));
        assert_eq!(response_of_call.fields("retry"), [""; 0]);
        let standalone = get(&mut http, &named(&id));
        assert_eq!(response(&mut http, standalone).body, "");
        assert!(!http.close_stream(START, exchange, None));
    }
}

// proves: BASE-226 BASE-227 BASE-229 BASE-251 BASE-252
#[test]
fn what_a_client_missed_is_told_again() {
    let (mut http, id, exchange) = streaming(Revision::V2025_06_18);
    let other = post(&mut http, &named(&id), "other");
    let first = response(&mut http, exchange);
    say(&mut http, "two", within(exchange, Disposition::Droppable));
    let lost = response(&mut http, exchange);
    http.receive_abort(START, exchange);
    say(&mut http, "elsewhere", within(other, Disposition::Continues));
    say(&mut http, "three", within(exchange, Disposition::Droppable));
    assert_eq!((http.poll_ready(), http.poll_ready()), (Some(other), None));
    let again = resume(&mut http, &id, first.ids()[0]);
    let response_again = response(&mut http, again);
    assert_eq!((response_again.messages(), response_again.is_last), (Vec::from(["two", "three"]), false));
    assert_eq!(response_again.ids()[0], lost.ids()[0], "an event keeps its id");
    // It goes on there, under the name of the exchange that brought the call.
    say(&mut http, "answer", within(exchange, Disposition::Answers));
    let rest = response(&mut http, again);
    assert_eq!((rest.messages(), rest.is_last), (Vec::from(["answer"]), true));
    // An answer that was lost is told again too.
    let after_end = resume(&mut http, &id, response_again.ids()[1]);
    let rest = response(&mut http, after_end);
    assert_eq!((rest.messages(), rest.is_last), (Vec::from(["answer"]), true));
    let at_end = resume(&mut http, &id, rest.ids()[0]);
    let nothing = response(&mut http, at_end);
    assert_eq!((nothing.status, nothing.messages(), nothing.is_last), (200, Vec::new(), true));
}

#[test]
fn an_answer_waits_for_the_client() {
    let (mut http, id, exchange) = streaming(Revision::V2025_06_18);
    let first = response(&mut http, exchange);
    http.receive_abort(START, exchange);
    assert_eq!(taken(&mut http), [Taken::Gone(exchange)]);
    say(&mut http, "answer", within(exchange, Disposition::Answers));
    let again = resume(&mut http, &id, first.ids()[0]);
    let rest = response(&mut http, again);
    assert_eq!((rest.messages(), rest.is_last), (Vec::from(["answer"]), true));
}

#[test]
fn an_event_that_is_not_known_says_nothing_of_the_session() {
    let (mut http, id, exchange) = streaming(Revision::V2025_06_18);
    let other = open_session(&mut http, 2, Revision::V2025_06_18);
    let first = response(&mut http, exchange);
    let own = first.ids()[0].to_string();
    let foreign = own.replace(own.split('.').next().unwrap(), "AAAAAAAAAAAA");
    for after in ["x", "1", "..", "a.b.c", ".1.1", "99999999999999999999.1.1", &own[1..], &foreign] {
        let exchange = resume(&mut http, &id, after);
        assert_eq!(response(&mut http, exchange).status, 400, "{after}");
    }
    let stolen = resume(&mut http, &other, &own);
    assert_eq!(response(&mut http, stolen).status, 400);
    // An empty one is none.
    let standalone = resume(&mut http, &id, "");
    assert_eq!(response(&mut http, standalone).status, 200);
}

// proves: BASE-231 BASE-253
#[test]
fn a_stream_is_closed_for_now() {
    let mut http = http();
    let id = open_session(&mut http, 1, Revision::V2025_11_25);
    let exchange = post(&mut http, &named(&id), "call");
    assert!(http.close_stream(START, exchange, Some(50)));
    let closed = response(&mut http, exchange);
    assert_eq!(
        (closed.messages(), closed.fields("retry"), closed.is_last),
        (Vec::new(), Vec::from(["1000", "50"]), true)
    );
    assert!(!http.close_stream(START, exchange, None), "there is nothing left to close");
    say(&mut http, "one", within(exchange, Disposition::Continues));
    let again = resume(&mut http, &id, closed.ids()[0]);
    assert!(http.close_stream(START, exchange, None));
    let polled = response(&mut http, again);
    assert_eq!((polled.messages(), polled.is_last), (Vec::from(["one"]), true));
    say(&mut http, "answer", within(exchange, Disposition::Answers));
    let last = resume(&mut http, &id, polled.ids()[0]);
    let last = response(&mut http, last);
    assert_eq!((last.messages(), last.is_last), (Vec::from(["answer"]), true));
    assert!(!http.close_stream(START, exchange, None));
}

#[test]
fn what_cannot_be_resumed_is_not_closed() {
    let mut http = http();
    let id = open_session(&mut http, 1, Revision::V2025_11_25);
    let json = post(&mut http, &[("Mcp-Session-Id", &id), ("Accept", "application/json")], "call");
    let modern = post(&mut http, &[("MCP-Protocol-Version", "2026-07-28")], "call");
    assert!(!http.close_stream(START, json, None));
    assert!(!http.close_stream(START, modern, None));
    say(&mut http, "one", within(modern, Disposition::Continues));
    assert!(!http.close_stream(START, modern, None));
}

// proves: BASE-235 BASE-238 BASE-242 BASE-245
#[test]
fn a_session_has_one_stream_of_its_own() {
    let (mut http, id, call) = streaming(Revision::V2025_11_25);
    response(&mut http, call);
    let first = get(&mut http, &named(&id));
    let opened = response(&mut http, first);
    let second = get(&mut http, &named(&id));
    assert_eq!(response(&mut http, second).status, 409);
    say(&mut http, "alone", alone(1));
    assert_eq!(response(&mut http, first).messages(), ["alone"]);
    assert_eq!(http.poll_ready(), None, "it is told once");
    // Who has lost the connection takes the stream over.
    let third = resume(&mut http, &id, opened.ids()[0]);
    assert!(response(&mut http, first).is_last);
    assert_eq!(response(&mut http, third).messages(), ["alone"]);
    say(&mut http, "more", alone(1));
    assert_eq!(response(&mut http, third).messages(), ["more"]);
    http.receive_abort(START, third);
    let fourth = get(&mut http, &named(&id));
    assert_eq!(response(&mut http, fourth).messages(), [""; 0]);
}

// proves: BASE-246
#[test]
fn what_is_told_alone_waits_for_the_stream() {
    let mut http = http();
    let id = open_session(&mut http, 1, Revision::V2025_06_18);
    say(&mut http, "early", alone(1));
    let json = post(&mut http, &[("Mcp-Session-Id", &id), ("Accept", "application/json")], "call");
    let question = Labels { session: Some(session(1)), ..within(json, Disposition::Continues) };
    say(&mut http, "question", question);
    let stream = get(&mut http, &named(&id));
    assert_eq!(response(&mut http, stream).messages(), ["early", "question"]);
    http.receive_abort(START, stream);
    say(&mut http, "late", alone(1));
    let stream = get(&mut http, &named(&id));
    assert_eq!(response(&mut http, stream).messages(), ["late"]);
}

/// A client that loses its connection after the first event has missed what waited.
#[test]
fn the_first_id_comes_before_what_waits() {
    let mut http = http();
    let id = open_session(&mut http, 1, Revision::V2025_11_25);
    say(&mut http, "early", alone(1));
    let stream = get(&mut http, &named(&id));
    let opened = response(&mut http, stream);
    assert_eq!((opened.messages(), opened.ids().len()), (Vec::from(["early"]), 2));
    let again = resume(&mut http, &id, opened.ids()[0]);
    let again = response(&mut http, again);
    assert_eq!((again.messages(), again.ids()), (Vec::from(["early"]), Vec::from([opened.ids()[1]])));
}

#[test]
fn events_are_kept_within_bounds() {
    let mut config = config();
    config.events = EventKeeping::Memory { events: 2, bytes: 10_000, age: 60_000 };
    let mut http = http_with(config, Limits::default());
    let id = open_session(&mut http, 1, Revision::V2025_06_18);
    let exchange = post(&mut http, &named(&id), "call");
    for text in ["one", "two", "three", "four"] {
        say(&mut http, text, within(exchange, Disposition::Continues));
    }
    let all = response(&mut http, exchange);
    let again = resume(&mut http, &id, all.ids()[0]);
    assert_eq!(response(&mut http, again).messages(), ["three", "four"]);
    // An hour later nothing is left, but the stream is.
    http.receive_abort(START, again);
    http.handle_timeout(START.after(60_000));
    let headers = with(&[("Mcp-Session-Id", &id), ("Last-Event-ID", all.ids()[0])]);
    let late = http.receive_whole(START.after(60_000), head("GET", &headers), b"");
    let nothing = response(&mut http, late);
    assert_eq!((nothing.status, nothing.messages(), nothing.is_last), (200, Vec::new(), false));
    say(&mut http, "answer", within(exchange, Disposition::Answers));
    assert!(response(&mut http, late).is_last);
    http.handle_timeout(START.after(120_000));
    let late = http.receive_whole(START.after(120_000), head("GET", &headers), b"");
    assert_eq!(response(&mut http, late).status, 400);
}

#[test]
fn nothing_needs_to_be_kept() {
    let mut config = config();
    config.events = EventKeeping::None;
    let mut http = http_with(config, Limits::default());
    let id = open_session(&mut http, 1, Revision::V2025_11_25);
    let exchange = post(&mut http, &named(&id), "call");
    assert!(!http.close_stream(START, exchange, None));
    say(&mut http, "lost", alone(1));
    say(&mut http, "one", within(exchange, Disposition::Continues));
    let stream = get(&mut http, &[("Mcp-Session-Id", &id), ("Last-Event-ID", "a.1.1")]);
    assert_eq!(response(&mut http, exchange).body, "event: message\ndata: one\n\n");
    assert_eq!(response(&mut http, stream).body, "");
    say(&mut http, "alone", alone(1));
    assert_eq!(response(&mut http, stream).body, "event: message\ndata: alone\n\n");
    for exchange in [exchange, stream] {
        http.receive_abort(START, exchange);
    }
    say(&mut http, "lost", alone(1));
    say(&mut http, "lost", within(exchange, Disposition::Answers));
    let stream = get(&mut http, &named(&id));
    assert_eq!(response(&mut http, stream).body, "");
}
