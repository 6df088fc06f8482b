//! Parameters as text: checked when the caller gives them, and carrying the answers of a round when sent again.

use alloc::string::String;

use crate::error::ApiMisuse;
use crate::json::{MAX_DEPTH, scan};

/// The parameters of a request.
#[derive(Clone, Copy, Debug)]
pub(super) enum Params<'a> {
    /// The text of an object, as the application gave it; or nothing.
    Given(Option<&'a str>),
    /// An object that the core wrote: sound, on one line, not empty and without `_meta`.
    Written(&'a str),
}

impl<'a> Params<'a> {
    pub(super) const fn text(self) -> Option<&'a str> {
        match self {
            Params::Given(text) => text,
            Params::Written(text) => Some(text),
        }
    }

    /// Checks that they are an object.
    pub(super) fn check(self) -> Result<(), ApiMisuse> {
        match self {
            Params::Given(text) => check(text),
            Params::Written(_) => Ok(()),
        }
    }
}

/// Checks that parameters are an object.
pub(super) fn check(params: Option<&str>) -> Result<(), ApiMisuse> {
    let checked = params.map_or(Ok(()), |params| scan::object_members(params, MAX_DEPTH, |_, _| {}));
    checked.map_err(|_| ApiMisuse::InvalidJson)
}

/// What the retry of a multi round-trip request carries beside its own parameters (basic/patterns/mrtr).
#[derive(Clone, Copy, Debug)]
pub(super) struct Answers<'a> {
    /// The text of the `inputResponses` object.
    pub(super) responses: Option<&'a str>,
    /// The token of `requestState` as the server wrote it.
    pub(super) state: Option<&'a str>,
}

impl Answers<'_> {
    /// The parameters with these answers in place of earlier ones; all else is as it was written.
    pub(super) fn join(self, params: Option<&str>) -> String {
        const NAMES: [&str; 2] = ["inputResponses", "requestState"];
        let params = params.unwrap_or("{}");
        let length = [Some(params), self.responses, self.state].into_iter().flatten().map(str::len).sum();
        let mut out = String::with_capacity(length);
        out.push('{');
        for (name, value) in NAMES.into_iter().zip([self.responses, self.state]) {
            if let Some(value) = value {
                write_member(&mut out, name, value);
            }
        }
        // The text was checked when it was given.
        let _ = scan::object_members(params, MAX_DEPTH, |name, value| {
            if !NAMES.contains(&&params[name.clone()]) {
                write_member(&mut out, &params[name], &params[value]);
            }
        });
        out.push('}');
        out
    }
}

fn write_member(out: &mut String, name: &str, value: &str) {
    if !out.ends_with('{') {
        out.push(',');
    }
    out.push('"');
    out.push_str(name);
    out.push_str("\":");
    out.push_str(value);
}

#[cfg(test)]
mod tests {
    use super::*;

    // proves: BASE-355 BASE-356 BASE-358
    #[test]
    fn answers_replace_earlier_ones_and_nothing_else() {
        let params = r#"{"n": 1.0,"requestState":"old","z":"\u00e9","inputResponses":{}}"#;
        let both = Answers { responses: Some(r#"{"k":{}}"#), state: Some(r#""s\u0041""#) };
        assert_eq!(
            both.join(Some(params)),
            r#"{"inputResponses":{"k":{}},"requestState":"s\u0041","n":1.0,"z":"\u00e9"}"#
        );
        let no_state = Answers { responses: Some("{}"), state: None };
        assert_eq!(no_state.join(Some(r#"{"requestState":"old"}"#)), r#"{"inputResponses":{}}"#);
        assert_eq!(no_state.join(None), r#"{"inputResponses":{}}"#);
    }

    #[test]
    fn parameters_are_objects() {
        assert_eq!(check(None), Ok(()));
        assert_eq!(check(Some(" {\"a\":[1]} ")), Ok(()));
        for bad in ["", "[]", "null", "{", "{} {}", "{\"a\":}", "1"] {
            assert_eq!(check(Some(bad)), Err(ApiMisuse::InvalidJson), "{bad}");
        }
    }
}
