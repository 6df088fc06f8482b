//! Every vector of `tests/vectors` does what it says, however its bytes are cut.

use std::collections::BTreeSet;

use barewire_tests::Random;
use barewire_tests::vectors::{self, Feeding, Vector};
use serde_json::Value;

/// Seeds for cutting at random, each vector.
const CUTS: u64 = 4;

/// Plays a vector in every way; the first fault that shows.
fn play(vector: &Vector) -> Result<(), String> {
    for feeding in [Feeding::AsWritten, Feeding::Joined, Feeding::Bytes] {
        vector.play(feeding, Random::new(0)).map_err(|error| format!("fed {feeding:?}: {error}"))?;
    }
    for random in Random::seeds(CUTS) {
        let seed = format!("{random:?}");
        vector.play(Feeding::Cut, random).map_err(|error| format!("fed with {seed}: {error}"))?;
    }
    Ok(())
}

#[test]
fn vectors_do_what_they_say() {
    let mut faults = Vec::new();
    for (place, vector) in vectors::all() {
        match (play(&vector), &vector.fault) {
            (Ok(()), None) | (Err(_), Some(_)) => {}
            (Err(error), None) => faults.push(format!("{place} {}: {error}", vector.name)),
            (Ok(()), Some(fault)) => {
                faults.push(format!("{place} {}: passes, though known to fail: {fault}", vector.name));
            }
        }
    }
    let report = faults.join("\n\n");
    assert!(faults.is_empty(), "{} faults\n{report}", faults.len());
}

/// The vector with the last of what one of its steps expects taken out, once for each step that expects something.
fn weakened(line: &str) -> Vec<Value> {
    let vector: Value = serde_json::from_str(line).unwrap();
    let steps = vector["steps"].as_array().unwrap();
    let mut weakened = Vec::new();
    for (number, step) in steps.iter().enumerate() {
        for kind in ["sent", "events"] {
            if step[kind].as_array().is_some_and(|expected| !expected.is_empty()) {
                let mut copy = vector.clone();
                copy["steps"][number][kind].as_array_mut().unwrap().pop();
                weakened.push(copy);
            }
        }
    }
    weakened
}

#[test]
fn everything_that_is_expected_counts() {
    for (place, line) in vectors::lines() {
        for vector in weakened(&line) {
            let outcome = Vector::read(&vector.to_string())
                .and_then(|vector| vector.play(Feeding::AsWritten, Random::new(0)));
            assert!(outcome.is_err(), "{place}: passes with less");
        }
    }
}

#[test]
fn names_are_unique() {
    let mut names = BTreeSet::new();
    for (place, vector) in vectors::all() {
        assert!(names.insert(vector.name.clone()), "{place}: {} stands twice", vector.name);
    }
    assert!(!names.is_empty());
}

#[test]
fn a_vector_that_expects_nothing_is_refused() {
    let vector = |steps: &str| format!(r#"{{"name":"x","role":"server","steps":[{steps}]}}"#);
    assert!(Vector::read(&vector(r#"{"feed":"{}\n"},{"sent":[]},{"events":[]}"#)).is_err());
    assert!(Vector::read(&vector("")).is_err());
    assert!(Vector::read(&vector(r#"{"sent":[{}]}"#)).is_ok());
    assert!(Vector::read(&vector(r#"{"sent":[{}]},{"sends":[]}"#)).is_err());
    assert!(Vector::read(&vector(r#"{"sent":[{}],"feed":"x"}"#)).is_err());
    assert!(Vector::read(&vector(r#"{"sent":[{}]},{"eof":false}"#)).is_err());
}

#[test]
fn the_player_notices_what_is_missing_left_over_or_different() {
    let handshake = r#"{"feed":{"jsonrpc":"2.0","id":1,"method":"ping"}}"#;
    let play = |steps: &str| {
        let line = format!(r#"{{"name":"x","role":"server","steps":[{handshake},{steps}]}}"#);
        Vector::read(&line).unwrap().play(Feeding::AsWritten, Random::new(0))
    };
    let pong = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
    assert_eq!(play(&format!(r#"{{"sent":[{pong}]}}"#)), Ok(()));
    assert!(play(&format!(r#"{{"sent":[{pong},{pong}]}}"#)).is_err());
    assert!(play(&format!(r#"{{"sent":[]}},{{"sent":[{pong}]}}"#)).is_err());
    assert!(play(&format!(r#"{{"sent":[{pong}]}},{{"feed":"noise\n"}}"#)).is_err());
    assert!(play(&format!(r#"{{"sent":[{pong}]}},{{"events":[{{"event":"Ready"}}]}}"#)).is_err());
    assert!(play(r#"{"sent":[{"jsonrpc":"2.0","id":"1","result":{}}]}"#).is_err());
    assert!(play(&format!(r#"{{"sent":[{pong}]}},{{"state":{{"timer":5}}}}"#)).is_err());
    assert!(play(&format!(r#"{{"sent":[{pong}]}},{{"do":{{"command":"close"}}}}"#)).is_err());
    assert!(play(&format!(r#"{{"sent":[{pong}]}},{{"do":{{"command":"open"}}}}"#)).is_err());
}

/// The keys that the specification defines for `_meta` under its own prefix, and that we write.
const DEFINED_KEYS: [&str; 6] =
    ["protocolVersion", "clientInfo", "clientCapabilities", "logLevel", "serverInfo", "subscriptionId"];

/// Every key of a `_meta` object that some vector expects to be sent.
fn meta_keys(value: &Value, keys: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                if name == "_meta"
                    && let Value::Object(meta) = member
                {
                    keys.extend(meta.keys().cloned());
                }
                meta_keys(member, keys);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| meta_keys(item, keys)),
        _ => {}
    }
}

// proves: BASE-046 BASE-047 BASE-049 BASE-050 BASE-051
#[test]
fn keys_of_meta_follow_the_rules() {
    let mut keys = BTreeSet::new();
    for (_, line) in vectors::lines() {
        let vector: Value = serde_json::from_str(&line).unwrap();
        let steps = vector["steps"].as_array().unwrap();
        steps.iter().for_each(|step| meta_keys(&step["sent"], &mut keys));
    }
    let is_word = |character: char| character.is_ascii_alphanumeric() || matches!(character, '-' | '_' | '.');
    let has_ends = |text: &str, first: fn(char) -> bool| {
        text.starts_with(first) && text.ends_with(|last: char| last.is_ascii_alphanumeric())
    };
    let mut of_the_specification = BTreeSet::new();
    for key in &keys {
        let (prefix, name) = key.split_once('/').unwrap_or(("", key));
        assert!(has_ends(name, |first| first.is_ascii_alphanumeric()) && name.chars().all(is_word), "{key}");
        let labels: Vec<_> = prefix.split('.').filter(|label| !label.is_empty()).collect();
        let is_label = |label: &&str| {
            has_ends(label, |first| first.is_ascii_alphabetic()) && !label.contains(['_', '.', '/'])
        };
        assert!(labels.iter().all(is_label), "{key}");
        if labels.iter().any(|label| matches!(*label, "modelcontextprotocol" | "mcp")) {
            assert!(prefix == "io.modelcontextprotocol" && DEFINED_KEYS.contains(&name), "{key}");
            of_the_specification.insert(name);
        }
    }
    assert_eq!(of_the_specification, BTreeSet::from(DEFINED_KEYS));
}
