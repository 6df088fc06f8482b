//! Views of one arriving message: parts of its text, found in one pass and shared without copying.

use alloc::borrow::Cow;
use alloc::sync::Arc;
use core::ops::Range;

use crate::json::{Json, MAX_DEPTH, scan};
use crate::jsonrpc::RequestId;
use crate::jsonrpc::parse::{Noted, decode_string};
use crate::revision::meta as keys;

/// The text of an arriving message, copied once and only if a part of it must outlive the call.
pub(super) struct MessageText<'a> {
    text: &'a str,
    shared: Option<Arc<str>>,
}

impl<'a> MessageText<'a> {
    pub(super) const fn new(text: &'a str) -> Self {
        MessageText { text, shared: None }
    }

    /// A part that outlives the call. `part` must be a JSON value within the text; what is not is copied.
    pub(super) fn keep(&mut self, part: &str) -> Json {
        match range_within(self.text, part) {
            Some(range) => {
                let shared = self.shared.get_or_insert_with(|| Arc::from(self.text));
                Json::part(shared, range)
            }
            None => Json::trusted(part),
        }
    }

    /// All of the text, if a part of it outlives the call.
    pub(super) fn kept(&self) -> Option<&Arc<str>> {
        self.shared.as_ref()
    }
}

/// Where `part` lies within `whole`, if it is a slice of it.
fn range_within(whole: &str, part: &str) -> Option<Range<usize>> {
    let start = (part.as_ptr() as usize).checked_sub(whole.as_ptr() as usize)?;
    let end = start.checked_add(part.len())?;
    (end <= whole.len()).then_some(start..end)
}

/// Members of one object that are acted on.
pub(super) trait Members<'a>: Default {
    /// Notes a member; of duplicates the last counts, unknown ones are passed over.
    fn set(&mut self, key: &str, value: &'a str);

    /// Finds the members of the object `text`.
    fn read(text: &'a str) -> Self {
        let mut found = Self::default();
        // What is no object has no members.
        let _ = scan::object_members(text, MAX_DEPTH, |key, value| found.set(&text[key], &text[value]));
        found
    }
}

macro_rules! members {
    ($(#[$doc:meta])* $name:ident { $($field:ident = $key:pat,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Default)]
        pub(super) struct $name<'a> {
            $(pub(super) $field: Option<&'a str>,)*
        }

        impl<'a> Members<'a> for $name<'a> {
            fn set(&mut self, key: &str, value: &'a str) {
                match key {
                    $($key => self.$field = Some(value),)*
                    _ => {}
                }
            }
        }
    };
}

members! {
    /// The members of `params` that the server acts on, as JSON texts.
    Params {
        meta = "_meta",
        name = "name",
        arguments = "arguments",
        uri = "uri",
        cursor = "cursor",
        level = "level",
        reference = "ref",
        argument = "argument",
        context = "context",
        notifications = "notifications",
        input_responses = "inputResponses",
        request_state = "requestState",
        request_id = "requestId",
        reason = "reason",
        protocol_version = "protocolVersion",
        capabilities = "capabilities",
        client_info = "clientInfo",
    }
}

impl<'a> Params<'a> {
    /// The member that names the target of a request.
    pub(super) fn member(&self, name: &str) -> Option<&'a str> {
        match name {
            "name" => self.name,
            "uri" => self.uri,
            _ => None,
        }
    }
}

members! {
    /// The members of a request's `_meta` that the server acts on, as JSON texts.
    Meta {
        protocol_version = keys::PROTOCOL_VERSION,
        client_capabilities = keys::CLIENT_CAPABILITIES,
        client_info = keys::CLIENT_INFO,
        log_level = keys::LOG_LEVEL,
        progress_token = keys::PROGRESS_TOKEN,
    }
}

members! {
    /// The members of the objects in `completion/complete`.
    CompletionParts {
        kind = "type",
        name = "name",
        uri = "uri",
        value = "value",
        arguments = "arguments",
    }
}

/// What the parameters of a message hold, noted while it was read.
#[derive(Clone, Copy, Default)]
pub(super) struct Found<'a> {
    pub(super) params: Params<'a>,
    pub(super) meta: Meta<'a>,
}

impl<'a> Found<'a> {
    pub(super) fn note(&mut self, noted: Noted<'a>) {
        match noted {
            Noted::Param(key, value) => self.params.set(key, value),
            Noted::MetaBegins => self.meta = Meta::default(),
            Noted::Meta(key, value) => self.meta.set(key, value),
        }
    }
}

/// Whether a token is a string or an integer, as ids and progress tokens are.
pub(super) fn is_id(token: &str) -> bool {
    token.starts_with('"') || RequestId::from_token(token).is_some()
}

/// A member that is absent, or null, which reads as absent.
pub(super) fn present(member: Option<&str>) -> Option<&str> {
    member.filter(|value| *value != "null")
}

/// The member if it is an object.
pub(super) fn object(member: Option<&str>) -> Option<&str> {
    member.filter(|value| value.starts_with('{'))
}

/// The decoded member if it is a string with a decoded form.
pub(super) fn string(member: Option<&str>) -> Option<Cow<'_, str>> {
    member.and_then(decode_string)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_share_the_message_and_strangers_are_copied() {
        let whole = r#"{"a":{"b":1}}"#;
        let mut text = MessageText::new(whole);
        let part = &whole[5..12];
        let kept = text.keep(part);
        assert_eq!(kept.as_str(), r#"{"b":1}"#);
        assert_eq!(text.keep("[2]").as_str(), "[2]");
    }

    #[test]
    fn members_are_found_in_any_order_and_the_last_of_two_counts() {
        let params = Params::read(r#"{"x":1,"uri":"a","name":"n","uri":"b","_meta":null}"#);
        assert_eq!((params.uri, params.name, params.meta), (Some("\"b\""), Some("\"n\""), Some("null")));
        assert!(present(params.meta).is_none());
        assert!(Params::read("[]").name.is_none());
        assert_eq!(string(Some("\"a\\u0062\"")).as_deref(), Some("ab"));
        assert_eq!(string(Some("\"\\ud800\"")), None);
    }
}
