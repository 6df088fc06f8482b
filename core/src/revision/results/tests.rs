use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::*;
use crate::json::Json;
use crate::revision::meta::SERVER_INFO;

const A: Revision = Revision::V2024_11_05;
const B: Revision = Revision::V2025_03_26;
const C: Revision = Revision::V2025_06_18;
const D: Revision = Revision::V2025_11_25;
const E: Revision = Revision::V2026_07_28;

const CALL: Option<Method> = Some(Method::ToolsCall);
const PROMPT: Option<Method> = Some(Method::PromptsGet);
const READ: Option<Method> = Some(Method::ResourcesRead);

fn written(method: Option<Method>, revision: Revision, result: &str, meta: &[(&str, &str)]) -> String {
    let members = ResultMembers { meta, ttl_ms: 7, cache_scope: "private" };
    let mut out = String::from(">");
    write_result(&mut out, method, revision, result, &members).unwrap();
    assert!(Json::new(&out[1..]).is_ok(), "{out}");
    out.split_off(1)
}

/// Results and what becomes of them, by the revisions that share the outcome.
fn assert_written(method: Option<Method>, cases: &[(&[Revision], &str, &str)]) {
    for (revisions, result, expected) in cases {
        for &revision in *revisions {
            assert_eq!(&written(method, revision, result, &[]), expected, "{revision} {result}");
        }
    }
}

// proves: FEAT-021 BASE-027
#[test]
fn a_plain_result_is_copied() {
    let result =
        r#"{"content":[{"type":"text","text":"a\nb"}],"isError":false,"own":[1e400, 12345678901234567890]}"#;
    let modern = r#"{"resultType":"complete","content":[{"type":"text","text":"a\nb"}],"isError":false,"own":[1e400, 12345678901234567890]}"#;
    assert_written(CALL, &[(&[A, B, C, D], result, result), (&[E], result, modern)]);
    assert_written(
        None,
        &[
            (&[A, B, C, D], "{}", "{}"),
            (&[E], "{}", r#"{"resultType":"complete"}"#),
            (&[E], " { \"a\" : 1 } ", r#"{"resultType":"complete", "a" : 1 }"#),
            (&[E], r#"{"resultType":"x.y/z","content":null}"#, r#"{"resultType":"x.y/z","content":null}"#),
            (&[A, B, C, D], r#"{"resultType":"complete","a":null}"#, r#"{"a":null}"#),
        ],
    );
}

// What is not checked goes out as it would if it were, to every revision, whatever the text says.
#[test]
fn results_of_the_core_need_no_check() {
    let fronts = [
        (CALL, r#""content":[{"type":"text","text":"#, "}]"),
        (CALL, r#""content":[{"type":"text","text":"#, r#"}],"isError":true"#),
        (PROMPT, r#""messages":[{"role":"user","content":{"type":"text","text":"#, "}}]"),
        (READ, r#""contents":[{"uri":"x:\"_meta\"","mimeType":"text/plain","text":"#, "}]"),
    ];
    let texts = ["", "plain", "\"_meta\" \"icons\" \"audio\"", "a\r\n\u{1}b", "null", "\\", "é\u{2028}"];
    let pair = [(SERVER_INFO, r#"{"name":"n","version":"1"}"#)];
    for ((method, front, end), text) in fronts.into_iter().flat_map(|front| texts.map(|text| (front, text))) {
        for (revision, meta) in Revision::ALL.into_iter().flat_map(|it| [(it, &[][..]), (it, &pair[..])]) {
            let members = ResultMembers { meta, ttl_ms: 7, cache_scope: "private" };
            let mut out = String::new();
            write_written(&mut out, method, revision, &Written::text(front, text, end), &members);
            let json = serde_json::to_string(text).unwrap();
            assert_eq!(out, written(method, revision, &format!("{{{front}{json}{end}}}"), meta));
            out.clear();
            write_written(&mut out, method, revision, &Written::bytes(front, text.as_bytes(), end), &members);
            let json = format!("\"{}\"", STANDARD.encode(text));
            assert_eq!(out, written(method, revision, &format!("{{{front}{json}{end}}}"), meta));
        }
    }
}

#[test]
fn what_is_no_object_is_refused_and_leaves_nothing() {
    for result in
        ["", "[]", "null", "\"{}\"", "{", "{}x", "{\"a\"}", "{\"a\":1,}", "{,}", "{}{}", "{\"a\":1 \"b\":2}"]
    {
        let mut out = String::new();
        assert!(write_result(&mut out, CALL, E, result, &ResultMembers::default()).is_err(), "{result}");
        assert_eq!(out, "");
    }
}

#[test]
fn no_raw_newline_gets_out() {
    let pretty = "{\r\n  \"content\": [\n    {\"type\": \"text\", \"text\": \"a\\n b\"}\n  ]\n}\n";
    let flat = r#""content": [{"type": "text", "text": "a\n b"}]}"#;
    for revision in Revision::ALL {
        let out = written(CALL, revision, pretty, &[]);
        assert!(!out.contains(['\n', '\r']), "{out}");
        if revision == D {
            assert_eq!(out, ["{", flat].concat());
        }
    }
}

// proves: BASE-062
#[test]
fn the_server_names_itself_in_modern_results() {
    let info = [(SERVER_INFO, r#"{"name":"s","version":"1"}"#)];
    let key = r#""io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}"#;
    let cases = [
        ("{}", format!(r#"{{"resultType":"complete","_meta":{{{key}}}}}"#)),
        (r#"{"_meta":null}"#, format!(r#"{{"resultType":"complete","_meta":{{{key}}}}}"#)),
        (r#"{"_meta":{},"a":1}"#, format!(r#"{{"resultType":"complete","_meta":{{{key}}},"a":1}}"#)),
        (r#"{"_meta":{ }}"#, format!(r#"{{"resultType":"complete","_meta":{{{key} }}}}"#)),
        (
            r#"{"a":1,"_meta":{"x":{}},"b":2}"#,
            format!(r#"{{"resultType":"complete","a":1,"_meta":{{{key},"x":{{}}}},"b":2}}"#),
        ),
        (
            r#"{"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"own","version":"2"}}}"#,
            r#"{"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"own","version":"2"}}}"#.into(),
        ),
        (r#"{"_meta":3}"#, r#"{"resultType":"complete","_meta":3}"#.into()),
    ];
    for (result, expected) in cases {
        assert_eq!(written(None, E, result, &info), expected);
        assert!(!written(None, D, result, &info).contains("\"s\""), "legacy results carry none");
    }
}

// proves: FEAT-214 FEAT-215
#[test]
fn caching_hints_stand_on_complete_cacheable_results_only() {
    let read = r#"{"contents":[]}"#;
    assert_written(
        READ,
        &[
            (&[A, B, C, D], read, read),
            (&[E], read, r#"{"resultType":"complete","ttlMs":7,"cacheScope":"private","contents":[]}"#),
            (
                &[E],
                r#"{"ttlMs":1,"contents":[],"cacheScope":"public"}"#,
                r#"{"resultType":"complete","ttlMs":1,"contents":[],"cacheScope":"public"}"#,
            ),
            (
                &[E],
                r#"{"ttlMs":null,"contents":[]}"#,
                r#"{"resultType":"complete","ttlMs":7,"cacheScope":"private","contents":[]}"#,
            ),
            (
                &[A, B, C, D],
                r#"{"ttlMs":1,"contents":[],"cacheScope":"public","resultType":"complete"}"#,
                read,
            ),
            (
                &[E],
                r#"{"resultType":"input_required","inputRequests":{}}"#,
                r#"{"resultType":"input_required","inputRequests":{}}"#,
            ),
        ],
    );
    assert_written(
        Some(Method::Discover),
        &[(&[E], "{}", r#"{"resultType":"complete","ttlMs":7,"cacheScope":"private"}"#)],
    );
    assert_written(PROMPT, &[(&[E], r#"{"messages":[]}"#, r#"{"resultType":"complete","messages":[]}"#)]);
}

// proves: FEAT-017 FEAT-018 FEAT-019 FEAT-020 FEAT-021
#[test]
fn structured_content_has_a_text_copy_and_stays_where_it_fits() {
    let copy = r#"{"type":"text","text":"{\"a\":\"\\n\"}"}"#;
    let object = r#"{"structuredContent":{"a":"\n"}}"#;
    let with_copy = format!(r#"{{"content":[{copy}]"#);
    assert_written(
        CALL,
        &[
            (&[A, B], object, &format!("{with_copy}}}")),
            (&[C, D], object, &format!(r#"{with_copy},"structuredContent":{{"a":"\n"}}}}"#)),
            (
                &[E],
                object,
                &format!(
                    r#"{{"resultType":"complete","content":[{copy}],"structuredContent":{{"a":"\n"}}}}"#
                ),
            ),
            (
                &[D],
                r#"{"content":[],"structuredContent":{}}"#,
                r#"{"content":[{"type":"text","text":"{}"}],"structuredContent":{}}"#,
            ),
            (
                &[C, D],
                r#"{"structuredContent":{},"content":[{"type":"image","data":"","mimeType":"i/p"}]}"#,
                r#"{"structuredContent":{},"content":[{"type":"image","data":"","mimeType":"i/p"},{"type":"text","text":"{}"}]}"#,
            ),
            // The author's own text is taken for the copy.
            (
                &[C, D],
                r#"{"content":[3,{"a":[]},{},{"text":"x","type":"text"}],"structuredContent":{}}"#,
                r#"{"content":[3,{"a":[]},{},{"text":"x","type":"text"}],"structuredContent":{}}"#,
            ),
            (&[A, B, C, D], r#"{"structuredContent":[1]}"#, r#"{"content":[{"type":"text","text":"[1]"}]}"#),
            (
                &[A, B, C, D],
                r#"{"structuredContent":null}"#,
                r#"{"content":[{"type":"text","text":"null"}]}"#,
            ),
            (
                &[E],
                r#"{"structuredContent":null,"content":null}"#,
                r#"{"resultType":"complete","content":[{"type":"text","text":"null"}],"structuredContent":null}"#,
            ),
            (
                &[E],
                r#"{"structuredContent":[1],"content":[]}"#,
                r#"{"resultType":"complete","structuredContent":[1],"content":[{"type":"text","text":"[1]"}]}"#,
            ),
            (&[A, B, C, D], r#"{"isError":null,"_meta":null}"#, r#"{"content":[]}"#),
            (&[E], r#"{"isError":true}"#, r#"{"resultType":"complete","content":[],"isError":true}"#),
            (&[E], r#"{"resultType":"task","taskId":"1"}"#, r#"{"resultType":"task","taskId":"1"}"#),
        ],
    );
}

#[test]
fn both_insertions_land_in_their_places() {
    let info = [(SERVER_INFO, "{}")];
    let meta_first = written(CALL, E, r#"{"_meta":{},"content":[],"structuredContent":1}"#, &info);
    let content_first = written(CALL, E, r#"{"content":[],"structuredContent":1,"_meta":{}}"#, &info);
    let (meta, content) =
        (r#""_meta":{"io.modelcontextprotocol/serverInfo":{}}"#, r#""content":[{"type":"text","text":"1"}]"#);
    assert_eq!(meta_first, format!(r#"{{"resultType":"complete",{meta},{content},"structuredContent":1}}"#));
    assert_eq!(
        content_first,
        format!(r#"{{"resultType":"complete",{content},"structuredContent":1,{meta}}}"#)
    );
}

// proves: FEAT-043 FEAT-044
#[test]
fn content_of_newer_revisions_is_replaced() {
    let link = r#"{"type":"resource_link","uri":"a:\u0062","name":"n","title":"T\"","icons":[],"annotations":{"priority":1,"lastModified":"x"},"_meta":{}}"#;
    let audio = r#"{"type":"audio","data":"QQ==","mimeType":"audio/wav","_meta":{}}"#;
    let text = r#"{"type":"text","text":"x","_meta":{"a":1},"own":null}"#;
    let embedded = r#"{"type":"resource","resource":{"uri":"a:b","text":"x","_meta":{"a":1}}}"#;
    let unknown = r#"{"type":"x-own","icons":[],"data":[]}"#;
    let link_text = r#"{"type":"text","text":"T\": a:\u0062","annotations":{"priority":1}}"#;
    let cases: [(&[Revision], &str, &str); 12] = [
        (&[A, B], link, link_text),
        (
            &[C],
            link,
            r#"{"type":"resource_link","uri":"a:\u0062","name":"n","title":"T\"","annotations":{"priority":1,"lastModified":"x"},"_meta":{}}"#,
        ),
        (&[D], link, link),
        (&[A], audio, r#"{"type":"text","text":"[audio, audio/wav, left out]"}"#),
        (&[B], audio, r#"{"type":"audio","data":"QQ==","mimeType":"audio/wav"}"#),
        (&[C], audio, r#"{"type":"audio","data":"QQ==","mimeType":"audio/wav","_meta":{}}"#),
        (&[A, B], text, r#"{"type":"text","text":"x","own":null}"#),
        (&[C, D], text, text),
        (&[A, B], embedded, r#"{"type":"resource","resource":{"uri":"a:b","text":"x"}}"#),
        (&[C], embedded, r#"{"type":"resource","resource":{"uri":"a:b","text":"x","_meta":{"a":1}}}"#),
        (&[A, B, C], unknown, r#"{"type":"x-own","data":[]}"#),
        (&[A, B], r#"{"type":"resource_link","uri":"a:b"}"#, r#"{"type":"text","text":"a:b"}"#),
    ];
    for (revisions, block, expected) in cases {
        let call = |block: &str| format!(r#"{{"content":[{block}]}}"#);
        assert_written(CALL, &[(revisions, &call(block), &call(expected))]);
        let prompt = |block: &str| format!(r#"{{"messages":[{{"role":"user","content":{block}}}]}}"#);
        assert_written(PROMPT, &[(revisions, &prompt(block), &prompt(expected))]);
    }
}

#[test]
fn resource_contents_keep_what_a_revision_knows() {
    let contents = |meta: &str| format!(r#"{{"contents":[{{"uri":"a:b","text":"x"{meta}}}]}}"#);
    let ui = r#","_meta":{"ui":{"csp":{}}}"#;
    assert_written(
        READ,
        &[
            (&[A, B], &contents(r#","_meta":{"a":1}"#), &contents("")),
            (&[C, D], &contents(r#","_meta":{"a":1}"#), &contents(r#","_meta":{"a":1}"#)),
            (&[A, B, C, D], &contents(ui), &contents(ui)),
            (&[A, B], &contents(r#","_meta":null"#), &contents("")),
        ],
    );
}

// proves: FEAT-171
#[test]
fn a_completion_holds_a_hundred_values() {
    let list = |count: usize| {
        let values: Vec<String> = (0..count).map(|value| format!("\"{value}\"")).collect();
        format!("[{}]", values.join(","))
    };
    let completion = |values: &str, rest: &str| format!(r#"{{"completion":{{"values":{values}{rest}}}}}"#);
    let complete = Some(Method::CompletionComplete);
    for revision in [A, B, C, D] {
        for few in [completion("[]", ""), completion(&list(100), r#","hasMore":false"#), "{}".into()] {
            assert_eq!(written(complete, revision, &few, &[]), few);
        }
        let cut = completion(&list(100), r#","total":101,"hasMore":true"#);
        assert_eq!(written(complete, revision, &completion(&list(101), r#","hasMore":false"#), &[]), cut);
        let counted = completion(&list(100), r#","total":500,"hasMore":true"#);
        assert_eq!(written(complete, revision, &completion(&list(130), r#","total":500"#), &[]), counted);
    }
    assert!(
        written(complete, E, &completion("[]", ""), &[])
            .starts_with(r#"{"resultType":"complete","completion""#)
    );
}

/// Every way to write nothing, something and nonsense into the members the core acts on: the result is always
/// one JSON object, and writing it once more changes nothing.
#[test]
fn any_mix_of_members_stays_an_object() {
    let keys = ["content", "structuredContent", "_meta", "resultType", "ttlMs", "x"];
    let values = ["null", "{}", "[]", "3", r#"[{"type":"audio"}]"#, r#"{"ui":{"a":[]}}"#, "\"complete\""];
    let info = [(SERVER_INFO, "{}")];
    for revision in Revision::ALL {
        for method in [CALL, PROMPT, READ, None] {
            for first in keys {
                for second in keys {
                    for value in values {
                        for other in values {
                            let result = format!(r#"{{"{first}":{value},"{second}":{other}}}"#);
                            let once = written(method, revision, &result, &info);
                            let twice = written(method, revision, &once, &info);
                            assert_eq!(once, twice, "{revision} {method:?} {result}");
                        }
                    }
                }
            }
        }
    }
}
