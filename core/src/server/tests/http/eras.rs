//! Which era and session a message of an HTTP exchange belongs to.

use super::*;

const MODERN: &str = "2026-07-28";
const LEGACY: &str = "2025-06-18";

/// What becomes of a message.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fate {
    /// It is answered with a result.
    Result,
    /// It opens a session.
    Opens,
    /// It is refused with this code.
    Refused(i64),
    /// It names a session that there is not.
    Unknown,
    /// It gets no answer.
    Accepted,
}

fn revisions(name: &str) -> Revisions {
    match name {
        "both" => Revisions::ALL,
        "legacy" => Revisions::LEGACY,
        "modern" => Revisions::MODERN,
        "old" => Revisions::of(&[Revision::V2024_11_05, Revision::V2026_07_28]),
        other => panic!("{other}"),
    }
}

fn fate_of(served: &str, message: &str, version: HeaderValue<'_>, session: NamedSession) -> Fate {
    let mut config = config();
    config.revisions = revisions(served);
    let mut bench = Bench::with(config);
    let session = match session {
        NamedSession::Known(_) => NamedSession::Known(bench.http_session(
            1,
            *revisions(served).of_era(crate::revision::Era::Legacy).collect::<Vec<_>>().first().unwrap(),
            "{}",
        )),
        other => other,
    };
    let text = match message {
        "handshake" => initialize("1", LEGACY, "{}"),
        "ping" => legacy("1", "ping", ""),
        "list" => legacy("1", "tools/list", ""),
        "notice" => r#"{"jsonrpc":"2.0","method":"x/y"}"#.into(),
        "cancel" => r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#.into(),
        "response" => r#"{"jsonrpc":"2.0","id":77,"result":{}}"#.into(),
        "array" => format!("[{}]", legacy("1", "ping", "")),
        "modern" => modern("1", "tools/list", ""),
        "modern handshake" => modern("1", "initialize", r#""protocolVersion":"2025-06-18""#),
        "modern ping" => modern("1", "ping", ""),
        other => panic!("{other}"),
    };
    let method = match message {
        "modern" => HeaderValue::Once("tools/list"),
        "modern handshake" => HeaderValue::Once("initialize"),
        "modern ping" => HeaderValue::Once("ping"),
        _ => HeaderValue::Absent,
    };
    let mut post = Post { session, ..Post::bare(9) }.version(version);
    if let Some(mirror) = &mut post.mirror {
        mirror.method = method;
    }
    bench.post(post, &text);
    let (outs, accepted) = bench.outs();
    assert!(outs.iter().all(|out| out.labels.exchange == Some(exchange(9))), "{outs:?}");
    match (&outs[..], &accepted[..]) {
        ([], [9]) => Fate::Accepted,
        ([out], []) => {
            let code = out.text.contains("\"error\"").then(|| error_of(&out.text).0);
            if matches!(message, "notice" | "cancel" | "response" | "array") && code.is_some() {
                assert_eq!(error_of(&out.text).1, None, "{}", out.text);
            }
            match (out.labels.disposition, code) {
                (Disposition::SessionUnknown, Some(_)) => Fate::Unknown,
                (Disposition::Refuses(refused), Some(code)) if refused == code => Fate::Refused(code),
                (Disposition::Answers, None) if out.labels.revision.is_some() => Fate::Opens,
                (Disposition::Answers, None) => Fate::Result,
                other => panic!("{other:?}: {}", out.text),
            }
        }
        other => panic!("{other:?}"),
    }
}

// proves: BASE-261 BASE-263 BASE-287 BASE-333
#[test]
fn each_message_says_itself_where_it_belongs() {
    use Fate::{Accepted, Opens, Refused, Unknown};
    let known = NamedSession::Known(SessionHandle::from_number(0));
    let (none, unknown) = (NamedSession::None, NamedSession::Unknown);
    let absent = HeaderValue::Absent;
    let header = HeaderValue::Once;
    let cases = [
        // A claim decides alone; the session does not count.
        ("both", "modern", header(MODERN), none, Fate::Result),
        ("both", "modern", header(MODERN), unknown, Fate::Result),
        ("both", "modern", header(MODERN), known, Fate::Result),
        ("both", "modern", header(LEGACY), known, Refused(-32020)),
        ("both", "modern", absent, none, Refused(-32020)),
        ("both", "modern", HeaderValue::Repeated, none, Refused(-32020)),
        ("both", "modern handshake", header(MODERN), none, Refused(-32601)),
        ("both", "modern ping", header(MODERN), none, Refused(-32601)),
        ("legacy", "modern", header(MODERN), none, Refused(-32022)),
        // A handshake.
        ("both", "handshake", absent, none, Opens),
        ("both", "handshake", header(LEGACY), none, Opens),
        ("both", "handshake", header("2019-01-01"), none, Opens),
        ("both", "handshake", absent, unknown, Opens),
        ("both", "handshake", absent, known, Refused(-32600)),
        ("both", "handshake", header(MODERN), none, Refused(-32020)),
        ("both", "handshake", HeaderValue::Repeated, none, Refused(-32020)),
        ("modern", "handshake", absent, none, Refused(-32020)),
        ("modern", "handshake", header(LEGACY), none, Refused(-32022)),
        ("modern", "handshake", header("2019-01-01"), none, Refused(-32022)),
        ("modern", "handshake", header(MODERN), none, Refused(-32020)),
        // The header alone says that it is modern.
        ("both", "list", header(MODERN), none, Refused(-32602)),
        ("both", "list", header(MODERN), known, Refused(-32602)),
        ("modern", "ping", header(MODERN), none, Refused(-32602)),
        ("both", "notice", header(MODERN), none, Accepted),
        ("both", "cancel", header(MODERN), none, Accepted),
        ("both", "response", header(MODERN), none, Accepted),
        ("both", "array", header(MODERN), none, Refused(-32600)),
        ("legacy", "list", header(MODERN), known, Refused(-32022)),
        // Legacy: the session decides.
        ("both", "list", absent, known, Fate::Result),
        ("both", "list", header(LEGACY), known, Fate::Result),
        ("both", "list", header("2025-11-25"), known, Fate::Result),
        ("both", "list", absent, none, Refused(-32600)),
        ("both", "list", header(LEGACY), none, Refused(-32600)),
        ("both", "ping", absent, none, Refused(-32600)),
        ("both", "list", absent, unknown, Unknown),
        ("both", "list", header(LEGACY), unknown, Unknown),
        ("both", "notice", absent, unknown, Unknown),
        ("both", "response", absent, unknown, Unknown),
        ("both", "array", absent, unknown, Unknown),
        ("both", "notice", absent, none, Refused(-32600)),
        ("both", "response", absent, none, Refused(-32600)),
        ("both", "notice", absent, known, Accepted),
        ("both", "cancel", absent, known, Accepted),
        ("both", "response", absent, known, Accepted),
        ("both", "array", absent, none, Refused(-32600)),
        ("old", "list", header(LEGACY), known, Refused(-32022)),
        ("both", "list", HeaderValue::Repeated, known, Refused(-32020)),
        // Nothing that is known.
        ("both", "list", header("2019-01-01"), known, Refused(-32022)),
        ("both", "list", header("2019-01-01"), none, Refused(-32022)),
        ("modern", "list", header("2019-01-01"), none, Refused(-32022)),
        ("modern", "list", header(LEGACY), none, Refused(-32022)),
        ("modern", "list", absent, none, Refused(-32020)),
        ("modern", "notice", absent, none, Accepted),
        ("modern", "array", absent, none, Refused(-32600)),
    ];
    for (served, message, version, session, expected) in cases {
        let fate = fate_of(served, message, version, session);
        assert_eq!(fate, expected, "{served}: {message} with {version:?} and {session:?}");
    }
}

#[test]
fn who_cannot_be_served_hears_what_is() {
    let mut config = config();
    config.revisions = Revisions::MODERN;
    let mut bench = Bench::with(config);
    bench.post(Post::bare(1), &initialize("1", LEGACY, "{}"));
    let out = bench.out();
    assert!(out.text.contains(r#""supported":["2026-07-28"]"#) && out.text.contains("supported: 2026-07-28"));
    bench.post(Post::bare(2).version(HeaderValue::Once(LEGACY)), &initialize("1", LEGACY, "{}"));
    let out = bench.out();
    assert!(out.text.contains(r#""supported":["2026-07-28"],"requested":"2025-06-18""#), "{}", out.text);
    assert!(out.text.contains("supported: 2026-07-28"), "{}", out.text);
}

#[test]
fn batches_belong_to_sessions_that_have_them() {
    for revision in [Revision::V2024_11_05, Revision::V2025_03_26, Revision::V2025_06_18] {
        let mut bench = Bench::new();
        let session = bench.http_session(1, revision, "{}");
        bench.post(
            Post::of(2, session),
            &format!("[{},{}]", legacy("1", "ping", ""), legacy("2", "ping", "")),
        );
        let (end, texts) = bench.end_of(2);
        if revision.has_batches() {
            assert_eq!(end, End::Ended(Disposition::Answers));
            let pong = |id| format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#);
            assert_eq!(texts, [format!("[{},{}]", pong(1), pong(2))]);
        } else {
            assert_eq!(end, End::Ended(Disposition::Refuses(-32600)));
            assert_eq!(texts.len(), 1);
        }
    }
}

#[test]
fn a_channel_of_http_sse_is_a_byte_stream_with_a_session_of_its_own() {
    let mut bench = Bench::new();
    // Two channels that use the same ids.
    let mut sessions = Vec::new();
    for number in [1, 2] {
        bench.post(Post::events(number, NamedSession::None), &legacy("0", "ping", ""));
        assert!(bench.out().text.contains("result"));
        bench.post(Post::events(number, NamedSession::None), &initialize("0", "2024-11-05", "{}"));
        let out = bench.out();
        assert_eq!(out.labels.exchange, Some(exchange(number)));
        sessions.push(out.labels.session.unwrap());
    }
    let mut calls = Vec::new();
    for (number, session) in [1, 2].into_iter().zip(&sessions) {
        let post = Post::events(number, NamedSession::Known(*session));
        bench.post(post, INITIALIZED);
        bench.events();
        bench.post(post, &legacy("1", "tools/call", r#""name":"echo""#));
        calls.push(request_of(&bench.event()));
        // A duplicate and a malformed one go on the same channel and end nothing.
        bench.post(post, &legacy("1", "ping", ""));
        bench.post(post, "{}");
        bench.events();
        let (outs, accepted) = bench.outs();
        assert!(outs.len() == 1 && accepted.is_empty(), "{outs:?} {accepted:?}");
        assert_eq!(outs[0].labels.exchange, Some(exchange(number)));
    }
    // A cancellation stays on its channel, and is not answered.
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
    bench.post(Post::events(1, NamedSession::Known(sessions[0])), cancel);
    assert_eq!(bench.event(), Event::RequestCancelled { request: calls[0], reason: None });
    assert!(bench.outs().0.is_empty());
    bench.server.respond(calls[1], TEXT_RESULT).unwrap();
    assert_eq!(bench.out().labels.exchange, Some(exchange(2)));
    // Revisions without sessions are not spoken there.
    bench.post(Post::events(1, NamedSession::Known(sessions[0])), &modern("5", "tools/list", ""));
    assert_eq!(error_of(&bench.out().text), (-32600, Some("5".into())));
}
