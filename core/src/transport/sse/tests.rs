use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::*;

/// What comes of chunks, one line each: name, data and id of an event, or what was wrong with it.
fn read(limit: usize, chunks: &[&[u8]]) -> Vec<String> {
    let mut reader = SseReader::new(limit);
    let mut seen = Vec::new();
    for chunk in chunks {
        reader.receive_data(chunk);
        assert!(reader.arriving.data.len() + reader.arriving.event.len() <= limit);
        assert!(reader.arriving.value.as_ref().is_none_or(|value| value.len() <= limit));
    }
    while let Some(outcome) = reader.poll_event() {
        seen.push(match outcome {
            Ok(SseEvent { event, data, id }) => {
                format!("{}|{data:?}|{}", event.as_deref().unwrap_or("-"), id.as_deref().unwrap_or("-"))
            }
            Err(SseFault { violation, bytes }) => format!("{violation:?} {}", bytes.escape_ascii()),
        });
    }
    let retry = reader.retry_ms().map_or_else(|| "-".to_owned(), |retry| retry.to_string());
    seen.push(format!("{} {retry}", reader.last_event_id().unwrap_or("-")));
    seen
}

/// Reads whole, cut once at every place, and byte by byte: it is all the same.
#[track_caller]
fn reads(stream: &[u8], expected: &[&str]) {
    assert_eq!(read(1000, &[stream]), expected, "whole");
    for cut in 0..=stream.len() {
        assert_eq!(read(1000, &[&stream[..cut], &stream[cut..]]), expected, "cut at {cut}");
    }
    assert_eq!(read(1000, &stream.chunks(1).collect::<Vec<_>>()), expected, "byte by byte");
}

#[test]
fn lines_end_in_three_ways() {
    for end in ["\n", "\r", "\r\n"] {
        let stream = "event: a|data: 1|data: 2|id: x||data: 3||".replace('|', end);
        reads(stream.as_bytes(), &["a|\"1\\n2\"|x", "-|\"3\"|x", "x -"]);
    }
    reads(b"data: 1\r\n\rdata: 2\n\r\ndata: 3\r\n\n", &["-|\"1\"|-", "-|\"2\"|-", "-|\"3\"|-", "- -"]);
    // CR LF is one end, LF CR are two.
    reads(b"data: 1\n\rdata: 2\r\r\n", &["-|\"1\"|-", "-|\"2\"|-", "- -"]);
}

#[test]
fn a_mark_counts_at_the_very_start_only() {
    reads(b"\xef\xbb\xbfdata: 1\n\n", &["-|\"1\"|-", "- -"]);
    reads(b"\xef\xbb\xbf\xef\xbb\xbfdata: 1\n\ndata: 2\n\n", &["-|\"2\"|-", "- -"]);
    reads(b"data: 1\n\n\xef\xbb\xbfdata: 2\n\n", &["-|\"1\"|-", "- -"]);
    reads(b"\xef\xbbdata: 1\n\n", &["- -"]);
    reads(b"\xef\n\ndata: 1\n\n", &["-|\"1\"|-", "- -"]);
    reads(b"\xef\xbb\xbf", &["- -"]);
}

// proves: BASE-278
#[test]
fn comments_and_unknown_fields_are_passed_over() {
    reads(b":\n\n: keep-alive\r\n\r\n:\xff\xff\n\n:data: 1\n\n", &["- -"]);
    reads(b"unknown: x\ndatas: 1\ndat: 2\nData: 3\n data: 4\ndata : 5\nx\n\n", &["- -"]);
    reads(b"event: a\nevent: b\ndata: 1\n\nevent: a\nevent\ndata: 1\n\n", &["b|\"1\"|-", "-|\"1\"|-", "- -"]);
    reads(b"data: 1\n: between\ndata: 2\nfoo\xff: \xff\n\n", &["-|\"1\\n2\"|-", "- -"]);
}

#[test]
fn one_space_behind_the_colon_is_not_part_of_the_value() {
    reads(
        b"data:1\n\ndata: 1\n\ndata:  1 \n\ndata:\t1\n\n",
        &["-|\"1\"|-", "-|\"1\"|-", "-|\" 1 \"|-", "-|\"\\t1\"|-", "- -"],
    );
    reads(b"data: a: b\nid:x:y\n\n", &["-|\"a: b\"|x:y", "x:y -"]);
}

// proves: BASE-230
#[test]
fn empty_data_is_an_event_and_never_a_message() {
    reads(b"id: 1\ndata:\n\n", &["-|\"\"|1", "1 -"]);
    reads(b"data\n\n", &["-|\"\"|-", "- -"]);
    reads(b"data\ndata\n\n", &["-|\"\\n\"|-", "- -"]);
    let mut reader = SseReader::new(100);
    reader.receive_data(b"id: 1\ndata:\n\ndata: {}\n\nevent: message\ndata: {}\n\nevent: ping\ndata: {}\n\n");
    let messages: Vec<bool> =
        core::iter::from_fn(|| reader.poll_event()).map(|event| event.unwrap().is_message()).collect();
    assert_eq!(messages, [false, true, true, false]);
}

#[test]
fn ids_hold_until_others_come() {
    reads(b"id: 1\ndata: a\n\ndata: b\n\nid\ndata: c\n\n", &["-|\"a\"|1", "-|\"b\"|1", "-|\"c\"|-", "- -"]);
    // Without data there is no event, yet the id counts.
    reads(b"id: 1\n\n", &["1 -"]);
    // One with NUL does not; nor does that of an event that did not end.
    reads(b"id: 1\n\nid: 2\0\ndata: a\n\nid: 3\ndata: b\n", &["-|\"a\"|1", "1 -"]);
    reads(b"id: 1\nid: 2\ndata: a\n\n", &["-|\"a\"|2", "2 -"]);
}

#[test]
fn the_retry_time_is_digits_and_nothing_else() {
    for (value, expected) in [
        ("1500", "- 1500"),
        ("0", "- 0"),
        ("007", "- 7"),
        ("99999999999999999999999", "- 18446744073709551615"),
        ("", "- -"),
        ("-1", "- -"),
        ("1.5", "- -"),
        ("1 ", "- -"),
        ("+1", "- -"),
        ("1s", "- -"),
    ] {
        reads(format!("retry: {value}\n").as_bytes(), &[expected]);
    }
    reads(b"retry: 5\nretry: x\n\n", &["- 5"]);
}

#[test]
fn an_event_that_does_not_end_is_dropped() {
    reads(b"data: 1\n\ndata: 2", &["-|\"1\"|-", "- -"]);
    reads(b"data: 1\n\ndata: 2\n", &["-|\"1\"|-", "- -"]);
    reads(b"", &["- -"]);
}

#[test]
fn text_that_is_not_utf8_is_a_fault_of_its_event() {
    reads("data: \u{1f600}\n\n".as_bytes(), &["-|\"\u{1f600}\"|-", "- -"]);
    reads(b"data: a\xff\n\ndata: b\n\n", &["NotUtf8 a\\xff", "-|\"b\"|-", "- -"]);
    reads(b"event: \xff\ndata: a\n\ndata: b\n\n", &["NotUtf8 a", "-|\"b\"|-", "- -"]);
    reads(b"id: 1\n\nid: \xff\ndata: a\n\ndata: b\n\n", &["NotUtf8 a", "-|\"b\"|1", "1 -"]);
    // Halves of a character on two lines are no character.
    reads(b"data: \xf0\x9f\ndata: \x98\x80\n\n", &["NotUtf8 \\xf0\\x9f\\n\\x98\\x80", "- -"]);
}

#[test]
fn an_event_beyond_the_limit_is_told_once_and_skipped() {
    let cases: [(&[u8], &[&str]); 8] = [
        (b"data: 12345678\n\n", &["-|\"12345678\"|-", "- -"]),
        (b"data: 123456789\ndata: 1\n\ndata: 2\n\n", &["TooLong 12345678", "-|\"2\"|-", "- -"]),
        (b"data: 1234\ndata: 5678\nid: 1\n\ndata: 2\n\n", &["TooLong 1234\\n567", "-|\"2\"|1", "1 -"]),
        (b"event: long\ndata: 12345\n\n", &["TooLong 1234", "- -"]),
        (b"event: 12345678\ndata\ndata: 1\n\n", &["TooLong ", "- -"]),
        (
            b"id: 12345678\n\nid: 123456789\ndata: 1\n\ndata: 2\n\n",
            &["TooLong ", "-|\"2\"|12345678", "12345678 -"],
        ),
        (b"data: 123456789\nretry: 7\nid: 2\nid: 123456789\n\n", &["TooLong 12345678", "2 7"]),
        (
            b": a comment beyond the limit\nunknown: a field beyond the limit\ndata: 1\n\n",
            &["-|\"1\"|-", "- -"],
        ),
    ];
    for (stream, expected) in cases {
        assert_eq!(read(8, &[stream]), expected, "{}", stream.escape_ascii());
        assert_eq!(read(8, &stream.chunks(1).collect::<Vec<_>>()), expected, "{}", stream.escape_ascii());
    }
    // Lines that hold nothing add up as well.
    let stream = format!("{}\n", "data\n".repeat(20));
    assert_eq!(read(8, &[stream.as_bytes()]), ["TooLong \\n\\n\\n\\n\\n\\n\\n\\n", "- -"]);
}

#[test]
fn a_stream_with_everything_in_it() {
    let chunks: [&[u8]; 10] = [
        b"\xef\xbb\xbf: keep-alive\r\n\r\n",
        b"retry: 1500\r\nid: s1-0\r\ndata:\r\n\r\n",
        b"event: ping\r\ndata: 123\r\n\r\n",
        b"id: s1-1\r\ndata: {\"a\":\r",
        b"\ndata: [],\r\ndata: \"b\":1}\r",
        b"\n\r\n",
        b"data:\"two\xf0\x9f\x98",
        b"\x80\"\n\n",
        b"unknown: field\rid: s1-2\revent: message\rdata: {}\r\r",
        b"data: {\"never\":1}",
    ];
    let expected = [
        "-|\"\"|s1-0",
        "ping|\"123\"|s1-0",
        "-|\"{\\\"a\\\":\\n[],\\n\\\"b\\\":1}\"|s1-1",
        "-|\"\\\"two\u{1f600}\\\"\"|s1-1",
        "-|\"{}\"|s1-2",
        "s1-2 1500",
    ];
    assert_eq!(read(1000, &chunks), expected);
    reads(&chunks.concat(), &expected);
}

#[test]
fn data_within_one_chunk_is_copied_once() {
    let mut reader = SseReader::new(1 << 20);
    let data = "x".repeat(100_000);
    reader.receive_data(format!("data: {data}\n\n").as_bytes());
    let event = reader.poll_event().unwrap().unwrap();
    assert_eq!(event.data, data);
    assert_eq!(event.data.capacity(), data.len());
    assert_eq!(reader.arriving.data.capacity(), 0);
}

#[test]
fn what_is_written_has_this_form() {
    let written = |write: &dyn Fn(&mut Vec<u8>)| {
        let mut out = Vec::new();
        write(&mut out);
        String::from_utf8(out).unwrap()
    };
    assert_eq!(written(&|out| write_event(out, None, "{}")), "event: message\ndata: {}\n\n");
    assert_eq!(written(&|out| write_event(out, Some("a-1"), "{}")), "event: message\nid: a-1\ndata: {}\n\n");
    assert_eq!(
        written(&|out| write_event(out, Some("a\n"), "1\r\n2\r3\n4\n")),
        "event: message\ndata: 1\ndata: 2\ndata: 3\ndata: 4\ndata: \n\n"
    );
    assert_eq!(
        written(&|out| write_named_event(out, "endpoint", None, "/messages?s=1")),
        "event: endpoint\ndata: /messages?s=1\n\n"
    );
    assert_eq!(written(&|out| write_priming_event(out, "a-0")), "id: a-0\ndata: \n\n");
    assert_eq!(written(&|out| write_retry(out, 1500)), "retry: 1500\n\n");
    assert_eq!(written(&|out| write_comment(out)), ":\n\n");
}
