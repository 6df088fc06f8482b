//! The scanner takes and refuses the same texts as `serde_json`, and finds the same members.

use std::collections::BTreeMap;

use barewire::{Json, JsonText, PointerError};
use barewire_tests::{Choices, Random, mutate};
use serde_json::Value;
use serde_json::value::RawValue;

const KEYS: [&str; 6] = ["a", "b", "c", "", "a b", "k\\u0061\\n"];
const STRINGS: [&str; 10] = [
    "",
    "x",
    "\\\\",
    "\\\"",
    "\\u00e9",
    "\\ud83d\\ude00",
    "\\ud800",
    "\u{e9}\u{1f600}",
    "a long string of more than eight bytes",
    "\\/\\b\\f\\n\\r\\t",
];
const SCALARS: [&str; 16] = [
    "null",
    "true",
    "false",
    "0",
    "-0",
    "1",
    "-12",
    "1.5",
    "1e400",
    "1E+2",
    "2e-3",
    "-0.0e0",
    "9007199254740993",
    "123456789012345678901234567890",
    "0.1",
    "10",
];
const SPACES: [&str; 6] = ["", "", "", " ", "\n\t", "\r\n  "];

fn pick(random: &mut Random, of: &[&'static str]) -> &'static str {
    of[random.below(of.len())]
}

fn value(random: &mut Random, depth: usize, out: &mut String) {
    out.push_str(pick(random, &SPACES));
    match random.below(if depth == 0 { 2 } else { 5 }) {
        0 => out.push_str(pick(random, &SCALARS)),
        1 => string(pick(random, &STRINGS), out),
        2 => {
            out.push('[');
            for at in 0..random.below(4) {
                if at > 0 {
                    out.push(',');
                }
                value(random, depth - 1, out);
            }
            out.push_str(pick(random, &SPACES));
            out.push(']');
        }
        _ => object(random, depth, out),
    }
    out.push_str(pick(random, &SPACES));
}

fn object(random: &mut Random, depth: usize, out: &mut String) {
    out.push('{');
    for at in 0..random.below(6) {
        if at > 0 {
            out.push(',');
        }
        out.push_str(pick(random, &SPACES));
        string(pick(random, &KEYS), out);
        out.push_str(pick(random, &SPACES));
        out.push(':');
        value(random, depth.saturating_sub(1), out);
    }
    out.push_str(pick(random, &SPACES));
    out.push('}');
}

fn string(content: &str, out: &mut String) {
    out.push('"');
    out.push_str(content);
    out.push('"');
}

fn check(text: &str) {
    let theirs = serde_json::from_str::<&RawValue>(text);
    let ours = Json::new(text);
    assert_eq!(ours.is_ok(), theirs.is_ok(), "{text:?}: {ours:?}, {theirs:?}");
    let Ok(json) = ours else { return };
    let Ok(members) = serde_json::from_str::<BTreeMap<String, &RawValue>>(text) else {
        assert!(KEYS.iter().all(|key| json.member(key).is_none()) || text.contains("\\u"), "{text:?}");
        return;
    };
    for key in KEYS.iter().filter(|key| !key.contains('\\')) {
        let theirs = members.get(*key).map(|value| value.get()).filter(|value| *value != "null");
        // A key that is written with an escape is another key to the scanner.
        if !text.contains("\\u006") {
            assert_eq!(json.member(key).as_ref().map(Json::as_str), theirs, "{key:?} in {text:?}");
        }
    }
}

#[test]
fn texts_are_taken_and_refused_alike() {
    for mut random in Random::seeds(20_000) {
        let mut text = String::new();
        if random.below(2) == 0 {
            object(&mut random, 6, &mut text)
        } else {
            value(&mut random, 6, &mut text)
        }
        check(&text);
        let decisions: Vec<u8> = (0..24).map(|_| random.number() as u8).collect();
        let mutated = mutate(&mut Choices::new(&decisions), text.as_bytes());
        if let Ok(mutated) = std::str::from_utf8(&mutated) {
            check(mutated);
        }
    }
}

#[test]
fn noise_is_taken_and_refused_alike() {
    const PUNCTUATION: &[u8] = b"{}[],:\"\\ \n0123456789-+.eEtrufalsn";
    for mut random in Random::seeds(40_000) {
        let count = random.below(12);
        let text: Vec<u8> = (0..count).map(|_| *random.pick(PUNCTUATION)).collect();
        check(std::str::from_utf8(&text).expect("ASCII"));
    }
}

const TOKENS: [&str; 11] = ["a", "b", "c", "", "a b", "ka\n", "0", "1", "2", "-", "00"];

#[test]
fn values_are_found_by_pointer_alike() {
    let mut found = 0;
    for mut random in Random::seeds(20_000) {
        let mut text = String::new();
        object(&mut random, 6, &mut text);
        // What has no decoded form, such as a lone surrogate, is no value for `serde_json`.
        let Ok(theirs) = serde_json::from_str::<Value>(&text) else { continue };
        for _ in 0..8 {
            let pointer: String =
                (0..random.below(4)).map(|_| format!("/{}", random.pick(&TOKENS))).collect();
            let ours = JsonText::find(&text, &pointer);
            let Some(theirs) = theirs.pointer(&pointer) else {
                assert_eq!(ours, Err(PointerError::NotFound), "{pointer:?} in {text:?}");
                continue;
            };
            found += usize::from(!pointer.is_empty());
            let ours = ours.unwrap_or_else(|error| panic!("{pointer:?} in {text:?}: {error}"));
            let read: Value = serde_json::from_str(ours.as_str()).expect("a part of what was read");
            assert_eq!(&read, theirs, "{pointer:?} in {text:?}");
            same_scalar(ours, theirs);
        }
    }
    assert!(found > 2_000, "{found} values were found");
}

/// Whatever `serde_json` reads exactly, is read alike.
fn same_scalar(ours: JsonText<'_>, theirs: &Value) {
    assert_eq!(ours.to_text().as_deref(), theirs.as_str());
    assert_eq!(ours.as_bool(), theirs.as_bool());
    if theirs.is_i64() {
        assert_eq!(ours.as_i64(), theirs.as_i64());
    }
    if let Some(value) = ours.as_f64() {
        assert_eq!(Some(value), theirs.as_f64());
    }
    let count = theirs.as_array().map(Vec::len);
    assert_eq!(count, ours.item_count().filter(|_| theirs.is_array()));
}
