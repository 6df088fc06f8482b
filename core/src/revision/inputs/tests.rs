use alloc::format;

use super::*;

const A: Revision = Revision::V2024_11_05;
const B: Revision = Revision::V2025_03_26;
const C: Revision = Revision::V2025_06_18;
const D: Revision = Revision::V2025_11_25;
const E: Revision = Revision::V2026_07_28;

/// What becomes of a text.
type Expected<'a> = Result<&'a str, InputMismatch>;

fn json(text: &str) -> Json {
    Json::new(text).expect(text)
}

fn everything() -> Capabilities {
    Capabilities::read(&json(
        r#"{"roots":{},"sampling":{"tools":{},"context":{}},"elicitation":{"form":{},"url":{}}}"#,
    ))
}

fn projected(
    method: Method,
    revision: Revision,
    declared: &Capabilities,
    params: &str,
) -> Result<String, InputMismatch> {
    let projected = project_input_params(method, revision, declared, &json(params), "e1")?;
    assert!(Json::new(&projected).is_ok(), "{projected}");
    Ok(projected)
}

/// Parameters and what becomes of them, by the revisions that share the outcome.
fn assert_projected(method: Method, cases: &[(&[Revision], &str, Expected<'_>)]) {
    for (revisions, params, expected) in cases {
        for &revision in *revisions {
            let outcome = projected(method, revision, &everything(), params);
            let expected = expected.clone().map(Into::into).map_err(|mismatch| match mismatch {
                InputMismatch::NotInRevision(_) => InputMismatch::NotInRevision(revision),
                other => other,
            });
            assert_eq!(outcome, expected, "{revision} {params}");
        }
    }
}

fn missing(object: &str) -> InputMismatch {
    InputMismatch::MissingCapability(json(object))
}

/// A form with one property.
fn form(property: &str) -> String {
    format!(
        r#"{{"message":"m","requestedSchema":{{"type":"object","properties":{{"p":{property}}},"required":["p"]}}}}"#
    )
}

// proves: FEAT-306 FEAT-309
#[test]
fn elicitations_have_what_they_need() {
    let lacks = |member| Err(InputMismatch::InvalidMember(member));
    let unfit = || Err(InputMismatch::InvalidProperty("p".into()));
    let cases = [
        ("[]", Err(InputMismatch::InvalidJson)),
        ("{}", lacks("message")),
        (r#"{"message":1}"#, lacks("message")),
        (r#"{"message":"m"}"#, lacks("requestedSchema")),
        (r#"{"message":"m","requestedSchema":{"type":"object"}}"#, lacks("requestedSchema")),
        (r#"{"message":"m","requestedSchema":{"properties":{}}}"#, lacks("requestedSchema")),
        (&form(r#"{"type":"object"}"#), unfit()),
        (&form(r#"{"anyOf":[]}"#), unfit()),
        (&form("3"), unfit()),
        (r#"{"message":"m","mode":"url"}"#, lacks("url")),
        (r#"{"message":"m","mode":"other"}"#, lacks("mode")),
    ];
    for revision in [C, D, E] {
        for (params, expected) in &cases {
            assert_eq!(
                projected(Method::ElicitationCreate, revision, &everything(), params),
                *expected,
                "{params}"
            );
        }
    }
}

// proves: FEAT-308 FEAT-310 FEAT-311
#[test]
fn forms_by_revision() {
    let no_word = || Err(InputMismatch::NotInRevision(A));
    let text = form(r#"{"type":"string","default":"x","minLength":1,"pattern":"a"}"#);
    let number = form(r#"{"type":"integer","default":1,"maximum":2}"#);
    let boolean = form(r#"{"type":"boolean","default":true}"#);
    let titled = form(
        r#"{"type":"string","oneOf":[{"const":"a","title":"A"},{"const":"b"}],"default":"a","title":"t"}"#,
    );
    let listed = form(r#"{"type":"string","enum":["a"],"enumNames":["A"]}"#);
    let many = form(r#"{"type":"array","items":{"anyOf":[{"const":"a","title":"A"}]},"maxItems":1}"#);
    let many_old = form(r#"{"type":"array","items":{"oneOf":[{"const":"a","title":"A"}]},"maxItems":1}"#);
    let empty = r#"{"mode":"form","message":"m","requestedSchema":{"type":"object","properties":{}},"task":{"ttl":1},"_meta":{"a":1}}"#;
    assert_projected(
        Method::ElicitationCreate,
        &[
            (&[C], &text, Ok(&form(r#"{"type":"string","minLength":1,"pattern":"a"}"#))),
            (&[D, E], &text, Ok(&text)),
            (&[C], &number, Ok(&form(r#"{"type":"integer","maximum":2}"#))),
            (&[D, E], &number, Ok(&number)),
            (&[C, D, E], &boolean, Ok(&boolean)),
            (
                &[C],
                &titled,
                Ok(&form(r#"{"type":"string","enum":["a","b"],"enumNames":["A","b"],"title":"t"}"#)),
            ),
            (&[D, E], &titled, Ok(&titled)),
            (&[C, D, E], &listed, Ok(&listed)),
            (&[C], &many, no_word()),
            (&[D, E], &many, Ok(&many)),
            (&[C], &many_old, no_word()),
            (&[D, E], &many_old, Ok(&many)),
            (
                &[C],
                empty,
                Ok(r#"{"message":"m","requestedSchema":{"type":"object","properties":{}},"_meta":{"a":1}}"#),
            ),
            (
                &[D],
                empty,
                Ok(
                    r#"{"mode":"form","message":"m","requestedSchema":{"type":"object","properties":{}},"_meta":{"a":1}}"#,
                ),
            ),
            (
                &[E],
                empty,
                Ok(r#"{"mode":"form","message":"m","requestedSchema":{"type":"object","properties":{}}}"#),
            ),
            (&[A, B], &boolean, Err(missing(r#"{"elicitation":{}}"#))),
        ],
    );
}

// proves: FEAT-303 FEAT-319 FEAT-320
#[test]
fn urls_by_revision() {
    let plain = r#"{"mode":"url","message":"m","url":"https://h/"}"#;
    let own_id = r#"{"mode":"url","message":"m","url":"https://h/","elicitationId":"own"}"#;
    assert_projected(
        Method::ElicitationCreate,
        &[
            (&[A, B, C], plain, Err(missing(r#"{"elicitation":{"url":{}}}"#))),
            (&[D], plain, Ok(r#"{"mode":"url","message":"m","url":"https://h/","elicitationId":"e1"}"#)),
            (&[D], own_id, Ok(own_id)),
            (&[E], plain, Ok(plain)),
            (&[E], own_id, Ok(plain)),
        ],
    );
    let form_only = Capabilities::read(&json(r#"{"elicitation":{}}"#));
    let url_only = Capabilities::read(&json(r#"{"elicitation":{"url":{}}}"#));
    for revision in [D, E] {
        let asked = projected(Method::ElicitationCreate, revision, &form_only, plain);
        assert_eq!(asked, Err(missing(r#"{"elicitation":{"url":{}}}"#)));
        let asked = projected(Method::ElicitationCreate, revision, &url_only, &form(r#"{"type":"boolean"}"#));
        assert_eq!(asked, Err(missing(r#"{"elicitation":{}}"#)));
    }
}

/// Sampling parameters with one message.
fn message(content: &str) -> String {
    format!(r#"{{"messages":[{{"role":"user","content":{content}}}],"maxTokens":1}}"#)
}

// proves: FEAT-255 FEAT-256
#[test]
fn sampled_messages_by_revision() {
    let no_word = || Err(InputMismatch::NotInRevision(A));
    let block = r#"{"type":"text","text":"x"}"#;
    let one = message(block);
    let array = message(&format!("[{block}]"));
    let two = message(&format!("[{block},{block}]"));
    let audio = message(r#"{"type":"audio","data":"","mimeType":"audio/wav"}"#);
    let used = message(r#"{"type":"tool_use","id":"1","name":"t","input":{}}"#);
    let answered = |result: &str| {
        let used = r#"{"role":"assistant","content":{"type":"tool_use","id":"1","name":"t","input":{}}}"#;
        format!(r#"{{"messages":[{used},{{"role":"user","content":[{result}]}}],"maxTokens":1}}"#)
    };
    let given = answered(r#"{"type":"tool_result","toolUseId":"1","content":[],"structuredContent":[1]}"#);
    let given_object = answered(r#"{"type":"tool_result","toolUseId":"1","content":[]}"#);
    let meta = r#"{"messages":[{"role":"user","content":{"type":"text","text":"x","_meta":{}},"_meta":{}}],"maxTokens":1,"_meta":{"a":1},"task":{}}"#;
    assert_projected(
        Method::SamplingCreateMessage,
        &[
            (&[A, B, C, D, E], &one, Ok(&one)),
            (&[A, B, C], &array, Ok(&one)),
            (&[D, E], &array, Ok(&array)),
            (&[A, B, C], &two, no_word()),
            (&[D, E], &two, Ok(&two)),
            (&[A, B, C], &message("[]"), no_word()),
            (&[A], &audio, Ok(&message(r#"{"type":"text","text":"[audio, audio/wav, left out]"}"#))),
            (&[B, C, D, E], &audio, Ok(&audio)),
            (&[A, B, C], &used, no_word()),
            (&[D, E], &used, Ok(&used)),
            (&[A, B, C], &given, no_word()),
            (&[D], &given, Ok(&given_object)),
            (&[E], &given, Ok(&given)),
            (
                &[A, B],
                meta,
                Ok(
                    r#"{"messages":[{"role":"user","content":{"type":"text","text":"x"}}],"maxTokens":1,"_meta":{"a":1}}"#,
                ),
            ),
            (
                &[C],
                meta,
                Ok(
                    r#"{"messages":[{"role":"user","content":{"type":"text","text":"x","_meta":{}}}],"maxTokens":1,"_meta":{"a":1}}"#,
                ),
            ),
            (
                &[E],
                meta,
                Ok(
                    r#"{"messages":[{"role":"user","content":{"type":"text","text":"x","_meta":{}},"_meta":{}}],"maxTokens":1}"#,
                ),
            ),
            (&[A, E], "{}", Err(InputMismatch::InvalidMember("messages"))),
            (&[A, E], r#"{"messages":[]}"#, Err(InputMismatch::InvalidMember("maxTokens"))),
        ],
    );
}

// proves: FEAT-244 FEAT-247 FEAT-250
#[test]
fn sampling_is_fenced_by_what_the_client_declared() {
    let with = |member: &str| format!(r#"{{"messages":[],"maxTokens":1{member}}}"#);
    let plain = with("");
    let tools = with(
        r#","tools":[{"name":"t","inputSchema":{"type":"object"},"outputSchema":{"type":"array"},"execution":{}}],"toolChoice":{"mode":"auto"}"#,
    );
    let context = with(r#","includeContext":"allServers""#);
    let none = with(r#","includeContext":"none""#);
    assert_projected(
        Method::SamplingCreateMessage,
        &[
            (&[A, B, C], &tools, Err(missing(r#"{"sampling":{"tools":{}}}"#))),
            (
                &[D],
                &tools,
                Ok(&with(
                    r#","tools":[{"name":"t","inputSchema":{"type":"object"},"execution":{}}],"toolChoice":{"mode":"auto"}"#,
                )),
            ),
            (
                &[E],
                &tools,
                Ok(&with(
                    r#","tools":[{"name":"t","inputSchema":{"type":"object"},"outputSchema":{"type":"array"}}],"toolChoice":{"mode":"auto"}"#,
                )),
            ),
            (&[A, B, C, D, E], &context, Ok(&context)),
        ],
    );
    let bare = Capabilities::read(&json(r#"{"sampling":{}}"#));
    let ask = |revision, params: &str| projected(Method::SamplingCreateMessage, revision, &bare, params);
    for revision in Revision::ALL {
        let choice = with(r#","toolChoice":{"mode":"none"}"#);
        assert_eq!(ask(revision, &choice), Err(missing(r#"{"sampling":{"tools":{}}}"#)));
        assert_eq!(ask(revision, &none), Ok(none.clone()));
        let fenced = if revision >= D { &plain } else { &context };
        assert_eq!(ask(revision, &context).as_ref(), Ok(fenced));
        let refused = projected(Method::SamplingCreateMessage, revision, &Capabilities::default(), &plain);
        assert_eq!(refused, Err(missing(r#"{"sampling":{}}"#)));
    }
}

#[test]
fn roots_are_asked_for_as_written() {
    assert_projected(
        Method::RootsList,
        &[
            (&[A, B, C, D, E], "{}", Ok("{}")),
            (&[A, E], "{\n\"_meta\": {}}", Ok(r#"{"_meta":{}}"#)),
            (&[A, E], "[]", Err(InputMismatch::InvalidJson)),
        ],
    );
    let refused = projected(Method::RootsList, E, &Capabilities::default(), "{}");
    assert_eq!(refused, Err(missing(r#"{"roots":{}}"#)));
}

#[test]
fn what_is_missing_is_named_in_one_object() {
    let boolean = json(&form(r#"{"type":"boolean"}"#));
    let url = json(r#"{"mode":"url","message":"m","url":"https://h/"}"#);
    let sampling = json(r#"{"messages":[],"maxTokens":1,"tools":[]}"#);
    let roots = json("{}");
    let questions = [
        (Method::ElicitationCreate, &boolean),
        (Method::ElicitationCreate, &url),
        (Method::SamplingCreateMessage, &sampling),
        (Method::RootsList, &roots),
    ];
    let missing = |declared: &Capabilities, revision| missing_capabilities(questions, revision, declared);
    assert_eq!(missing(&everything(), E), None);
    assert_eq!(
        missing(&Capabilities::default(), E),
        Some(json(r#"{"roots":{},"sampling":{"tools":{}},"elicitation":{"form":{},"url":{}}}"#))
    );
    let some = Capabilities::read(&json(r#"{"roots":{},"sampling":{},"elicitation":{}}"#));
    assert_eq!(missing(&some, E), Some(json(r#"{"sampling":{"tools":{}},"elicitation":{"url":{}}}"#)));
    // A client of an older revision cannot have declared them, whatever it wrote.
    assert_eq!(
        missing(&everything(), B),
        Some(json(r#"{"sampling":{"tools":{}},"elicitation":{"form":{},"url":{}}}"#))
    );
}

// proves: FEAT-257 FEAT-315 FEAT-316 FEAT-317
#[test]
fn answers_by_revision() {
    let lacks = |member| Err(InputMismatch::InvalidMember(member));
    let block = r#"{"type":"text","text":"x"}"#;
    let sampled = |content: &str| format!(r#"{{"role":"assistant","model":"m","content":{content}}}"#);
    let (one, array, two) =
        (sampled(block), sampled(&format!("[{block}]")), sampled(&format!("[{block},{block}]")));
    let used = sampled(r#"{"type":"tool_use","id":"1","name":"t","input":{}}"#);
    let list = r#"{"action":"accept","content":{"a":["x"]}}"#;
    let meta = r#"{"action":"cancel","content":null,"_meta":{},"resultType":"complete"}"#;
    let roots = r#"{"roots":[{"uri":"file:///a","_meta":{}}],"_meta":{}}"#;
    let no_word = || Err(InputMismatch::NotInRevision(A));
    let cases: [(Method, &[Revision], &str, Expected<'_>); 20] = [
        (Method::SamplingCreateMessage, &[A, B, C, D, E], &one, Ok(&one)),
        (Method::SamplingCreateMessage, &[A, B, C], &array, Ok(&one)),
        (Method::SamplingCreateMessage, &[D, E], &array, Ok(&array)),
        (Method::SamplingCreateMessage, &[A, B, C], &two, no_word()),
        (Method::SamplingCreateMessage, &[D, E], &two, Ok(&two)),
        (Method::SamplingCreateMessage, &[A, B, C], &used, no_word()),
        (Method::SamplingCreateMessage, &[D, E], &used, Ok(&used)),
        (Method::SamplingCreateMessage, &[A, E], r#"{"role":"user","content":{}}"#, lacks("model")),
        (Method::SamplingCreateMessage, &[A, E], r#"{"role":"user","model":"m"}"#, lacks("content")),
        (Method::ElicitationCreate, &[C], list, no_word()),
        (Method::ElicitationCreate, &[D, E], list, Ok(list)),
        (Method::ElicitationCreate, &[C, D], meta, Ok(r#"{"action":"cancel","_meta":{}}"#)),
        (Method::ElicitationCreate, &[E], meta, Ok(r#"{"action":"cancel"}"#)),
        (Method::ElicitationCreate, &[C, E], r#"{"action":"no"}"#, lacks("action")),
        (Method::ElicitationCreate, &[C, E], "[]", Err(InputMismatch::InvalidJson)),
        (Method::RootsList, &[A, B], roots, Ok(r#"{"roots":[{"uri":"file:///a"}],"_meta":{}}"#)),
        (Method::RootsList, &[C, D], roots, Ok(roots)),
        (Method::RootsList, &[E], roots, Ok(r#"{"roots":[{"uri":"file:///a","_meta":{}}]}"#)),
        (Method::RootsList, &[A, E], "{}", lacks("roots")),
        (Method::RootsList, &[A, E], "{\n\"roots\": []}", Ok(r#"{"roots":[]}"#)),
    ];
    for (method, revisions, result, expected) in cases {
        for &revision in revisions {
            let outcome = project_input_answer(method, revision, result);
            let expected = expected.clone().map(Into::into).map_err(|mismatch| match mismatch {
                InputMismatch::NotInRevision(_) => InputMismatch::NotInRevision(revision),
                other => other,
            });
            assert_eq!(outcome, expected, "{revision} {result}");
        }
    }
}
