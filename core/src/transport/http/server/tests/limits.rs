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
    // No more than may wait in one exchange is given at once, however much is kept.
    let (mut rest, mut after) = (Vec::new(), first.ids()[0].to_string());
    while rest.last().is_none_or(|last| last != "answer") {
        let again = get(&mut http, &[("Mcp-Session-Id", &id), ("Last-Event-ID", &after)]);
        assert!(http.backlog(again) <= 2_000, "{}", http.backlog(again));
        let piece = response(&mut http, again);
        assert!(piece.is_last && !piece.is_aborted);
        after = piece.ids().last().expect("an event").to_string();
        rest.extend(piece.messages().into_iter().map(String::from));
    }
    assert_eq!(rest.len(), 51);
}

#[test]
fn what_waits_for_a_stream_is_not_given_all_at_once() {
    let mut http = tight();
    let id = open_session(&mut http, 1, Revision::V2025_11_25);
    let text = "x".repeat(100);
    for _ in 0..50 {
        say(&mut http, &text, alone(1));
    }
    taken(&mut http);
    let mut given = 0;
    for _ in 0..5 {
        let stream = get(&mut http, &[("Mcp-Session-Id", &id)]);
        assert!(http.backlog(stream) <= 2_000, "{}", http.backlog(stream));
        let piece = response(&mut http, stream);
        given += piece.messages().iter().filter(|message| !message.is_empty()).count();
        assert_eq!(piece.is_last, given < 50);
    }
    assert_eq!(given, 50);
}

#[test]
fn what_the_host_gives_back_is_bounded_too() {
    let config = HttpServerConfig { events: EventKeeping::External, ..config() };
    let mut http = http_with(config, Limits { queued_bytes: 1_000, ..Limits::default() });
    let id = open_session(&mut http, 1, Revision::V2025_11_25);
    let again = get(&mut http, &[("Mcp-Session-Id", &id), ("Last-Event-ID", "other.1.1")]);
    let text = "x".repeat(100);
    let ids: Vec<_> = (2..52).map(|number| format!("other.1.{number}")).collect();
    let events: Vec<_> = ids.iter().map(|id| (&**id, &*text)).collect();
    http.replay(START, again, Some(&events));
    assert!(http.backlog(again) <= 1_000 + 100, "{}", http.backlog(again));
    let piece = response(&mut http, again);
    assert!(piece.is_last && !piece.is_aborted && !piece.messages().is_empty());
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

#[test]
fn the_buffer_of_a_body_in_pieces_is_kept_up_to_its_bound() {
    let mut http = http_with(config(), Limits { queued_bytes: 4_000, ..Limits::default() });
    // In pieces of 130 bytes a buffer that doubles has room for 520 bytes, and then for 1,040; two bodies at once have one each.
    for (lengths, kept) in [
        (&[600][..], 1_000),
        (&[30], 1_000),
        (&[900, 600], 1_000),
        (&[900, 30], 1_000),
        (&[1_001], 0),
        (&[40, 50], 130),
        (&[300, 700], 1_000),
    ] {
        let bodies: Vec<_> = lengths.iter().map(|length| format!("[{}]", "1".repeat(length - 2))).collect();
        let uploads: Vec<_> = bodies
            .iter()
            .map(|body| (http.receive_request(START, head("POST", &with(&[]))), body.as_bytes()))
            .collect();
        for at in (0..1_001).step_by(130) {
            for (exchange, body) in &uploads {
                let piece = &body[at.min(body.len())..(at + 130).min(body.len())];
                http.receive_body(START, *exchange, piece);
            }
        }
        for (exchange, _) in &uploads {
            http.receive_end(START, *exchange);
        }
        let given: Vec<_> = taken(&mut http)
            .into_iter()
            .map(|taken| match taken {
                Taken::Message { text, .. } => text,
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(given, bodies);
        assert!(http.state.spare.is_empty());
        let capacity = http.state.spare.capacity();
        if kept == 130 {
            assert!((1..=130).contains(&capacity), "{lengths:?} {capacity}");
        } else {
            assert_eq!(capacity, kept, "{lengths:?}");
        }
    }
}
