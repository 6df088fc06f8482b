//! Comparing what came out with what a script expects.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// Member of a recorded event that holds JSON text instead of a value.
pub(super) const TEXT: &str = "$text";

/// Members of events and commands that name handles, with the kind of handle.
const HANDLES: [(&str, &str); 5] = [
    ("request", "request"),
    ("subscription", "subscription"),
    ("input", "input"),
    ("session", "session"),
    ("abandoned", "request"),
];

/// What the names of a script stand for.
#[derive(Default)]
pub(super) struct Names {
    values: BTreeMap<String, Value>,
    handles: BTreeMap<(&'static str, String), u64>,
}

/// The kind of handle that a member names.
pub(super) fn handle_kind(member: &str) -> Option<&'static str> {
    HANDLES.iter().find(|(name, _)| *name == member).map(|(_, kind)| *kind)
}

impl Names {
    /// Gives a handle its name.
    pub(super) fn name_handle(&mut self, kind: &'static str, name: &str, handle: u64) -> Result<(), String> {
        let other = self.handles.iter().find(|((of, _), known)| *of == kind && **known == handle);
        match (self.handles.get(&(kind, name.to_owned())), other) {
            (Some(known), _) if *known == handle => Ok(()),
            (Some(known), _) => Err(format!("{kind} {name} is {known}, not {handle}")),
            (None, Some(((_, other), _))) => Err(format!("{kind} {handle} is {other} already")),
            (None, None) => {
                self.handles.insert((kind, name.to_owned()), handle);
                Ok(())
            }
        }
    }

    /// The handle of that name.
    pub(super) fn handle(&self, kind: &'static str, name: &str) -> Result<u64, String> {
        let known = self.handles.get(&(kind, name.to_owned()));
        known.copied().ok_or_else(|| format!("no {kind} is called {name}"))
    }

    /// Replaces `"${name}"` and `${name}` in a text by the JSON of what the name stands for.
    pub(super) fn fill(&self, text: &str) -> Result<String, String> {
        let mut filled = text.to_owned();
        for (name, value) in &self.values {
            let value = value.to_string();
            filled = filled.replace(&format!("\"${{{name}}}\""), &value);
            filled = filled.replace(&format!("${{{name}}}"), &value);
        }
        match filled.split_once("${") {
            Some((_, rest)) => Err(format!("nothing is known as ${{{}", &rest[..rest.len().min(20)])),
            None => Ok(filled),
        }
    }

    /// Compares JSON values: exactly, but for wildcards.
    pub(super) fn compare(&mut self, expected: &Value, actual: &Value, at: &str) -> Result<(), String> {
        match (expected, actual) {
            (Value::String(pattern), _) if pattern == "$any" => Ok(()),
            (Value::String(pattern), _) if pattern.starts_with("${") && pattern.ends_with('}') => {
                let name = &pattern[2..pattern.len() - 1];
                match self.values.get(name) {
                    Some(known) if same(known, actual) => Ok(()),
                    Some(known) => Err(format!("{at}: {name} is {known}, not {actual}")),
                    None => {
                        self.values.insert(name.to_owned(), actual.clone());
                        Ok(())
                    }
                }
            }
            (Value::Object(pattern), Value::String(text)) if pattern.contains_key("$contains") => {
                let part = pattern["$contains"].as_str().unwrap_or_default();
                let holds = !part.is_empty() && text.contains(part);
                if holds { Ok(()) } else { Err(format!("{at}: {text:?} does not contain {part:?}")) }
            }
            (Value::Object(expected), Value::Object(actual)) => self.compare_objects(expected, actual, at),
            (Value::Array(expected), Value::Array(actual)) if expected.len() == actual.len() => {
                let mut pairs = expected.iter().zip(actual).enumerate();
                pairs.try_for_each(|(n, (expected, actual))| {
                    self.compare(expected, actual, &format!("{at}[{n}]"))
                })
            }
            _ if same(expected, actual) => Ok(()),
            _ => Err(format!("{at}: expected {expected}, got {actual}")),
        }
    }

    fn compare_objects(
        &mut self,
        expected: &Map<String, Value>,
        actual: &Map<String, Value>,
        at: &str,
    ) -> Result<(), String> {
        for (member, pattern) in expected.iter().filter(|(member, _)| *member != "$more") {
            let value = actual.get(member).ok_or_else(|| format!("{at}: {member} is missing"))?;
            self.compare(pattern, value, &format!("{at}.{member}"))?;
        }
        let unexpected = actual.keys().find(|member| !expected.contains_key(*member));
        match unexpected {
            Some(member) if !expected.contains_key("$more") => {
                Err(format!("{at}: unexpected {member}: {}", actual[member]))
            }
            _ => Ok(()),
        }
    }

    /// Compares an event, or a record within one: by the members that are expected, with handles by name and
    /// JSON text as values.
    pub(super) fn compare_record(
        &mut self,
        expected: &Map<String, Value>,
        actual: &Map<String, Value>,
        at: &str,
    ) -> Result<(), String> {
        for (member, pattern) in expected {
            let at = format!("{at}.{member}");
            let value = actual.get(member).ok_or_else(|| format!("{at}: events have no such member"))?;
            match handle_kind(member) {
                Some(kind) => self.compare_handles(kind, pattern, value, &at)?,
                None => self.compare_member(pattern, value, &at)?,
            }
        }
        Ok(())
    }

    fn compare_member(&mut self, expected: &Value, actual: &Value, at: &str) -> Result<(), String> {
        match (expected, actual) {
            (_, Value::Object(holder)) if holder.contains_key(TEXT) => {
                let text = holder[TEXT].as_str().unwrap_or_default();
                if let Some(expected) = expected.get(TEXT).and_then(Value::as_str) {
                    let same = expected == text;
                    return if same { Ok(()) } else { Err(format!("{at}: expected {expected}, got {text}")) };
                }
                let value: Value = serde_json::from_str(text).map_err(|error| format!("{at}: {error}"))?;
                self.compare(expected, &value, at)
            }
            (Value::Object(expected), Value::Object(actual)) => self.compare_record(expected, actual, at),
            (Value::Array(expected), Value::Array(actual)) if expected.len() == actual.len() => {
                let mut pairs = expected.iter().zip(actual).enumerate();
                pairs.try_for_each(|(n, (expected, actual))| {
                    self.compare_member(expected, actual, &format!("{at}[{n}]"))
                })
            }
            _ => self.compare(expected, actual, at),
        }
    }

    fn compare_handles(
        &mut self,
        kind: &'static str,
        expected: &Value,
        actual: &Value,
        at: &str,
    ) -> Result<(), String> {
        match (expected, actual) {
            (Value::Array(names), Value::Array(handles)) if names.len() == handles.len() => {
                let mut pairs = names.iter().zip(handles);
                pairs.try_for_each(|(name, handle)| self.compare_handles(kind, name, handle, at))
            }
            (Value::String(pattern), Value::Number(_)) if pattern == "$any" => Ok(()),
            (Value::String(name), Value::Number(handle)) => {
                let handle = handle.as_u64().unwrap_or_default();
                self.name_handle(kind, name, handle).map_err(|error| format!("{at}: {error}"))
            }
            (Value::Null, Value::Null) => Ok(()),
            _ => Err(format!("{at}: expected {expected}, got {actual}")),
        }
    }
}

/// Whether two values are the same; numbers are compared by value.
fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => one == other || one.as_f64() == other.as_f64(),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one.iter().all(|(member, value)| other.get(member).is_some_and(|other| same(value, other)))
        }
        _ => one == other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn compare(expected: Value, actual: Value) -> Result<(), String> {
        Names::default().compare(&expected, &actual, "value")
    }

    #[test]
    fn values_are_compared_exactly_but_for_wildcards() {
        assert!(compare(json!({"a": 1, "b": "$any"}), json!({"b": {}, "a": 1.0})).is_ok());
        assert!(compare(json!({"a": 1}), json!({"a": 1, "b": 2})).is_err());
        assert!(compare(json!({"a": 1, "$more": true}), json!({"a": 1, "b": 2})).is_ok());
        assert!(compare(json!({"a": "$any"}), json!({})).is_err());
        assert!(compare(json!([1, 2]), json!([1])).is_err());
        assert!(compare(json!({"$contains": "nest"}), json!("the nesting")).is_ok());
        assert!(compare(json!({"$contains": "size"}), json!("the nesting")).is_err());
        assert!(compare(json!(null), json!(0)).is_err());
    }

    #[test]
    fn a_name_stands_for_one_value() {
        assert!(compare(json!(["${a}", "${a}"]), json!(["x", "x"])).is_ok());
        assert!(compare(json!(["${a}", "${a}"]), json!(["1", 1])).is_err());
        let mut names = Names::default();
        names.compare(&json!({"id": "${a}"}), &json!({"id": "x\"y"}), "value").unwrap();
        assert_eq!(names.fill(r#"{"id":"${a}"} ${a}"#).unwrap(), r#"{"id":"x\"y"} "x\"y""#);
        assert!(names.fill("${b}").is_err());
    }

    #[test]
    fn a_name_stands_for_one_handle_and_a_handle_has_one_name() {
        let mut names = Names::default();
        assert!(names.name_handle("request", "a", 1).is_ok());
        assert!(names.name_handle("request", "a", 1).is_ok());
        assert!(names.name_handle("request", "a", 2).is_err());
        assert!(names.name_handle("request", "b", 1).is_err());
        assert!(names.name_handle("input", "b", 1).is_ok());
        assert!(names.handle("request", "b").is_err());
    }

    #[test]
    fn records_are_compared_by_the_members_that_are_expected() {
        let mut names = Names::default();
        let actual = json!({"event": "E", "request": 3, "result": {"$text": "{\"x\": 1.50}"}, "extra": 1});
        let mut compare = |expected: Value| {
            names.compare_record(expected.as_object().unwrap(), actual.as_object().unwrap(), "event")
        };
        assert!(compare(json!({"event": "E", "request": "a", "result": {"x": 1.5}})).is_ok());
        assert!(compare(json!({"result": {"$text": "{\"x\": 1.50}"}})).is_ok());
        assert!(compare(json!({"result": {"$text": "{\"x\":1.5}"}})).is_err());
        assert!(compare(json!({"result": {}})).is_err());
        assert!(compare(json!({"request": "b"})).is_err());
        assert!(compare(json!({"request": null})).is_err());
        assert!(compare(json!({"missing": 1})).is_err());
    }
}
