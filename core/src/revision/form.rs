//! The restricted schemas that forms are described with (client/elicitation, Requested Schema).

use alloc::borrow::Cow;
use alloc::vec::Vec;

use super::text;
use crate::json::dialect;
use crate::jsonrpc::parse::decode_string;

/// Whether it is an object of properties, in a known dialect of JSON Schema.
pub(super) fn is_object_of_fields(schema: &str) -> bool {
    let properties = text::member(schema, "properties").unwrap_or_default();
    text::string_member(schema, "type") == Some("object")
        && text::is_object(properties)
        && dialect::is_known(schema)
}

/// The name, as written, of the first property that is none of string, number, boolean and choice among strings, with a
/// default that fits if it has one.
pub(super) fn unfit_field(schema: &str) -> Option<&str> {
    let mut unfit = None;
    text::each_member(text::member(schema, "properties").unwrap_or_default(), |name, property| {
        if unfit.is_none() && !is_field(property) {
            unfit = Some(name);
        }
    });
    unfit
}

fn is_field(property: &str) -> bool {
    let default = text::member(property, "default");
    let fits = |test: fn(&str) -> bool| default.is_none_or(test);
    match text::string_member(property, "type") {
        Some("string") => default.is_none_or(|default| is_choice(default, property)),
        Some("number") => fits(is_number),
        Some("integer") => fits(is_integer),
        Some("boolean") => fits(|default| matches!(default, "true" | "false")),
        Some("array") => default.is_none_or(|default| are_choices(default, property)),
        _ => false,
    }
}

fn is_number(value: &str) -> bool {
    value.starts_with(|first: char| first == '-' || first.is_ascii_digit())
}

fn is_integer(value: &str) -> bool {
    is_number(value) && !value.contains(['.', 'e', 'E'])
}

/// Whether a default is a string, one of those that can be chosen if there is a choice.
fn is_choice(value: &str, property: &str) -> bool {
    let Some(value) = decode_string(value) else { return false };
    choices(property).is_none_or(|choices| choices.contains(&value))
}

fn are_choices(value: &str, property: &str) -> bool {
    let items = text::member(property, "items").unwrap_or_default();
    let mut sound = text::is_array(value);
    text::each_element(value, |value| sound &= is_choice(value, items));
    sound
}

/// What can be chosen, in any of the spellings; `None` if everything can.
fn choices(schema: &str) -> Option<Vec<Cow<'_, str>>> {
    let mut choices = Vec::new();
    if let Some(values) = text::member(schema, "enum") {
        text::each_element(values, |value| choices.extend(decode_string(value)));
        return Some(choices);
    }
    let titled = text::member(schema, "oneOf").or_else(|| text::member(schema, "anyOf"))?;
    text::each_element(titled, |choice| {
        choices.extend(text::member(choice, "const").and_then(decode_string));
    });
    Some(choices)
}
