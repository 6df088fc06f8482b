//! Every vector of `tests/vectors` does what it says, however its bytes are cut.

use std::collections::BTreeSet;

use barewire_tests::vectors::{self, Vector};
use barewire_tests::{Link, Random};
use serde_json::Value;

/// Seeds for cutting at random, each vector.
const CUTS: u64 = 4;

/// Plays a vector in every way; the first fault that shows.
fn play(vector: &Vector) -> Result<(), String> {
    let how = |link: Link| move |error| format!("fed {link:?}: {error}");
    vector.play(Link::Whole, Random::new(0)).map_err(how(Link::Whole))?;
    vector.play(Link::Bytes, Random::new(0)).map_err(how(Link::Bytes))?;
    for random in Random::seeds(CUTS) {
        let seed = format!("{random:?}");
        vector.play(Link::Cut, random).map_err(|error| format!("fed with {seed}: {error}"))?;
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
            let outcome =
                Vector::read(&vector.to_string()).and_then(|vector| vector.play(Link::Whole, Random::new(0)));
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
        Vector::read(&line).unwrap().play(Link::Whole, Random::new(0))
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
