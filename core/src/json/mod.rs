//! JSON text that has been checked once and is passed on as it is.

pub(crate) mod dialect;
pub(crate) mod scan;
mod text;

use alloc::sync::Arc;
use core::fmt;
use core::ops::Range;

pub use scan::{MAX_DEPTH, ScanError};
pub(crate) use text::names;
pub use text::{JsonItem, JsonKind, JsonText, PointerError, escape, unescape};

/// One complete JSON value as text, sharing the message that it arrived in.
///
/// Cloning costs a reference count. The text is exactly what the sender wrote: number tokens, member order
/// and unknown members are untouched. Two values are equal if their texts are.
#[derive(Clone)]
pub struct Json {
    text: Arc<str>,
    range: Range<usize>,
}

impl Json {
    /// Checks `text` and keeps a copy of it.
    ///
    /// # Errors
    /// [`ScanError`] if `text` is not exactly one JSON value nested at most [`MAX_DEPTH`] levels.
    pub fn new(text: &str) -> Result<Json, ScanError> {
        scan::check(text, MAX_DEPTH)?;
        Ok(Json::trusted(text))
    }

    /// A value whose text is known to be JSON.
    pub(crate) fn trusted(text: &str) -> Json {
        let range = 0..text.len();
        Json { text: Arc::from(text), range }
    }

    /// A part of `text` that is known to be one JSON value. The range must lie on character boundaries of
    /// `text`, as ranges given by the scanner do.
    pub(crate) fn part(text: &Arc<str>, range: Range<usize>) -> Json {
        debug_assert!(text.get(range.clone()).is_some());
        Json { text: Arc::clone(text), range }
    }

    /// What the text is a part of.
    pub(crate) fn shared(&self) -> &Arc<str> {
        &self.text
    }

    /// The JSON text.
    pub fn as_str(&self) -> &str {
        self.text.get(self.range.clone()).unwrap_or_default()
    }

    /// Reads the value as `T`.
    ///
    /// # Errors
    /// What `serde_json` reports when the value has another shape.
    pub fn parse<'a, T: serde::Deserialize<'a>>(&'a self) -> Result<T, serde_json::Error> {
        serde_json::from_str(self.as_str())
    }

    /// The value of `member` if this is an object that has it with a value other than `null`.
    ///
    /// Keys are compared as written; of duplicates the last one counts.
    pub fn member(&self, member: &str) -> Option<Json> {
        self.member_or_null(member).filter(|value| value.as_str() != "null")
    }

    /// The value as borrowed text, for JSON Pointers and exact scalars.
    pub fn as_text(&self) -> JsonText<'_> {
        JsonText::trusted(self.as_str())
    }

    /// As [`member`](Self::member), where `null` counts as a value.
    pub(crate) fn member_or_null(&self, member: &str) -> Option<Json> {
        let text = self.as_str();
        let mut found = None;
        scan::object_members(text, MAX_DEPTH, |key, value| {
            if text.get(key) == Some(member) {
                found = Some(value);
            }
        })
        .ok()?;
        found.map(|value| self.slice(value))
    }

    /// A part of this text that is known to be one JSON value, as ranges given by the scanner are.
    pub(crate) fn slice(&self, range: Range<usize>) -> Json {
        Json::part(&self.text, self.range.start + range.start..self.range.start + range.end)
    }
}

impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl PartialEq for Json {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Json {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn member_reads_null_as_absent() {
        let value = Json::new(r#"{"a":null,"b":{"c":[1]},"d":1e400}"#).unwrap();
        assert_eq!(value.member("a"), None);
        assert_eq!(value.member("b").unwrap().member("c").unwrap().as_str(), "[1]");
        assert_eq!(value.member("d").unwrap().as_str(), "1e400");
        assert_eq!(value.member("e"), None);
        assert_eq!(Json::new("[1]").unwrap().member("a"), None);
    }
}
