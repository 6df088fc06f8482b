//! Reading and writing JSON objects as text, for projections.

use alloc::borrow::Cow;
use alloc::string::String;

use crate::json::{MAX_DEPTH, ScanError, scan};

/// Calls `member(key, value)` for each member of the object `text`; keys are as written, without quotes.
///
/// Text that is no object has no members.
pub(super) fn each_member<'a>(text: &'a str, mut member: impl FnMut(&'a str, &'a str)) {
    // The ranges of the scanner lie on character boundaries.
    let _ = scan::object_members(text, MAX_DEPTH, |key, value| member(&text[key], &text[value]));
}

/// Calls `element` for each element of the array `text`; text that is no array has none.
pub(super) fn each_element<'a>(text: &'a str, mut element: impl FnMut(&'a str)) {
    let _ = scan::array_elements(text, MAX_DEPTH, |value| element(&text[value]));
}

/// The value of `name` in the object `text`, if it is there and not `null`. Of duplicates the last counts.
pub(super) fn member<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let mut found = None;
    each_member(text, |key, value| {
        if key == name {
            found = Some(value);
        }
    });
    found.filter(|&value| value != "null")
}

/// The contents of the string `name` of the object `text`, in escaped form.
pub(super) fn string_member<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    string_contents(member(text, name)?)
}

/// The contents of a JSON string, in escaped form.
pub(super) fn string_contents(value: &str) -> Option<&str> {
    value.strip_prefix('"')?.strip_suffix('"')
}

pub(super) fn is_object(value: &str) -> bool {
    value.starts_with('{')
}

pub(super) fn is_array(value: &str) -> bool {
    value.starts_with('[')
}

/// Whether a container holds nothing.
pub(super) fn is_empty_container(value: &str) -> bool {
    value.get(1..value.len().saturating_sub(1)).is_none_or(|inside| inside.trim_ascii().is_empty())
}

/// Checks that `text` is one JSON object and gives it back on a single line.
///
/// # Errors
/// What the scanner found, or a syntax error at the first byte of a value that is no object.
pub(crate) fn one_line_object(text: &str) -> Result<Cow<'_, str>, ScanError> {
    let mut scanner = scan::Scanner::new(text, MAX_DEPTH);
    let value = scanner.value()?;
    scanner.end()?;
    let object = &text[value.clone()];
    if !is_object(object) {
        return Err(ScanError::Syntax(value.start));
    }
    Ok(if scanner.saw_newline() { Cow::Owned(joined_lines(object)) } else { Cow::Borrowed(object) })
}

/// JSON text without its line breaks and the indentation after them: a message holds no raw newline.
pub(crate) fn one_line(text: &str) -> Cow<'_, str> {
    if memchr::memchr2(b'\n', b'\r', text.as_bytes()).is_none() {
        return Cow::Borrowed(text);
    }
    Cow::Owned(joined_lines(text))
}

/// In JSON text a raw line break is white space between tokens, which are set apart by punctuation.
pub(super) fn joined_lines(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.split(['\n', '\r']) {
        out.push_str(line.trim_start_matches([' ', '\t']));
    }
    out
}

/// Writes the members of an object one by one.
pub(super) struct ObjectWriter<'a> {
    out: &'a mut String,
    first: bool,
}

impl<'a> ObjectWriter<'a> {
    pub(super) fn open(out: &'a mut String) -> Self {
        out.push('{');
        ObjectWriter { out, first: true }
    }

    /// Members only; the brackets are someone else's.
    pub(super) fn inside(out: &'a mut String) -> Self {
        ObjectWriter { out, first: true }
    }

    /// Members that follow others.
    pub(super) fn after(out: &'a mut String) -> Self {
        ObjectWriter { out, first: false }
    }

    /// Writes the key (in escaped form) and gives the place for the value.
    pub(super) fn key(&mut self, key: &str) -> &mut String {
        let out = self.rest();
        out.push('"');
        out.push_str(key);
        out.push_str("\":");
        out
    }

    /// Gives the place for members that are written already, at least one.
    pub(super) fn rest(&mut self) -> &mut String {
        if !core::mem::take(&mut self.first) {
            self.out.push(',');
        }
        self.out
    }

    pub(super) fn member(&mut self, key: &str, value: &str) {
        self.key(key).push_str(value);
    }

    pub(super) fn close(self) {
        self.out.push('}');
    }
}
