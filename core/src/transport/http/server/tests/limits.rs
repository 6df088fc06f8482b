//! Readers that do not keep up.

use super::*;

fn tight() -> Http {
    http_with(config(), Limits { queued_bytes: 1_000, ..Limits::default() })
}

#[test]
fn what_may_be_left_out_is() {
    let mut http = tight();
    let slow = post(&mut http, &[], "{}");
    let quick = post(&mut http, &[], "{}");
    let text = "x".repeat(100);
    let mut taken_by_quick = 0;
    for _ in 0..50 {
        for exchange in [slow, quick] {
            say(&mut http, &text, within(exchange, Disposition::Droppable));
        }
        taken_by_quick += response(&mut http, quick).messages().len();
    }
    assert_eq!(taken_by_quick, 50, "one slow reader delays nobody");
    assert!(http.backlog(slow) <= 1_000 + 100, "{}", http.backlog(slow));
    say(&mut http, "answer", within(slow, Disposition::Answers));
    let response = response(&mut http, slow);
    assert_eq!((response.messages().last(), response.is_aborted), (Some(&"answer"), false));
}

#[test]
fn who_does_not_read_at_all_is_left() {
    let mut http = tight();
    let slow = post(&mut http, &[], "{}");
    let text = "x".repeat(100);
    for _ in 0..50 {
        say(&mut http, &text, within(slow, Disposition::Continues));
    }
    assert_eq!(http.poll_ready(), Some(slow));
    assert!(matches!(taken(&mut http)[..], [Taken::Message { .. }, Taken::Gone(gone)] if gone == slow));
    let part = http.poll_response(slow).expect("the end");
    assert!(part.is_last && part.is_aborted && part.data.is_empty());
    assert!(http.is_idle());
}

#[test]
fn one_large_message_goes_out() {
    let mut http = tight();
    let large = "x".repeat(10_000);
    let json = post(&mut http, &[], "{}");
    let streamed = post(&mut http, &[], "{}");
    say(&mut http, &large, within(json, Disposition::Answers));
    assert_eq!(response(&mut http, json).body.len(), 10_000);
    say(&mut http, "first", within(streamed, Disposition::Continues));
    response(&mut http, streamed);
    say(&mut http, &large, within(streamed, Disposition::Answers));
    let response = response(&mut http, streamed);
    assert_eq!((response.messages().len(), response.is_aborted), (1, false));
}

/// The connection is broken off, the stream is not.
#[test]
fn what_a_slow_reader_missed_can_be_resumed() {
    let mut http = tight();
    let id = open_session(&mut http, 1, Revision::V2025_06_18);
    let slow = post(&mut http, &[("Mcp-Session-Id", &id)], "{}");
    say(&mut http, "first", within(slow, Disposition::Continues));
    let first = response(&mut http, slow);
    let text = "x".repeat(100);
    for _ in 0..50 {
        say(&mut http, &text, within(slow, Disposition::Continues));
    }
    say(&mut http, "answer", within(slow, Disposition::Answers));
    assert!(response(&mut http, slow).is_aborted);
    let headers = [("Mcp-Session-Id", &*id), ("Last-Event-ID", first.ids()[0])];
    let again = get(&mut http, &headers);
    let rest = response(&mut http, again);
    assert_eq!((rest.messages().len(), rest.messages().last(), rest.is_last), (51, Some(&"answer"), true));
}

/// A host that asks exchanges without waiting for their names leaves no heap of names behind.
#[test]
fn names_are_not_heaped_up() {
    let mut http = http();
    for _ in 0..1_000 {
        let exchange = post(&mut http, &[], "{}");
        say(&mut http, "answer", within(exchange, Disposition::Answers));
        assert!(response(&mut http, exchange).is_last);
    }
    assert!(http.state.ready_len() <= 1);
    assert_eq!(http.poll_ready(), None);
}
