//! Reading what a definition must have.

use alloc::boxed::Box;

use crate::error::ApiMisuse;
use crate::json::{Json, JsonKind, MAX_DEPTH, dialect, scan};
use crate::mirror::params::ParamHeaders;
use crate::revision::{Definition, one_line};
use crate::uri;

/// A definition that has what its kind requires.
pub(super) struct Checked {
    /// What it is found by: name, URI or URI template.
    pub(super) key: Box<str>,
    /// The text, on one line.
    pub(super) text: Box<str>,
    /// The headers that a tool wants of its arguments.
    pub(super) headers: ParamHeaders,
}

/// Checks the members that the schema requires. Names are taken as they are: the rules for them are advice
/// (server/tools, Tool Names).
pub(super) fn check(kind: Definition, text: &str) -> Result<Checked, ApiMisuse> {
    let definition = Json::new(text.trim_ascii()).map_err(|_| ApiMisuse::InvalidJson)?;
    if !definition.as_str().starts_with('{') {
        return Err(ApiMisuse::InvalidJson);
    }
    let name = string(&definition, "name")?;
    let mut headers = ParamHeaders::default();
    let key = match kind {
        Definition::Tool => {
            let input =
                definition.member("inputSchema").ok_or(ApiMisuse::InvalidDefinition("inputSchema"))?;
            if input.member("type").is_none_or(|root| root.as_str() != "\"object\"") {
                return Err(ApiMisuse::InvalidDefinition("inputSchema"));
            }
            headers = ParamHeaders::read(input.as_str())
                .map_err(|_| ApiMisuse::InvalidDefinition("x-mcp-header"))?;
            let output = definition.member("outputSchema");
            if output.as_ref().is_some_and(|schema| !schema.as_str().starts_with('{')) {
                return Err(ApiMisuse::InvalidDefinition("outputSchema"));
            }
            let mut schemas = core::iter::once(&input).chain(&output);
            if !schemas.all(|schema| dialect::is_known(schema.as_str())) {
                return Err(ApiMisuse::InvalidDefinition("$schema"));
            }
            name
        }
        Definition::Resource => {
            let uri = string(&definition, "uri")?;
            if !uri::is_uri(&uri) {
                return Err(ApiMisuse::InvalidDefinition("uri"));
            }
            uri
        }
        Definition::Template => string(&definition, "uriTemplate")?,
        Definition::Prompt => {
            if definition.member("arguments").is_some_and(|arguments| !are_arguments(&arguments)) {
                return Err(ApiMisuse::InvalidDefinition("arguments"));
            }
            name
        }
    };
    if matches!(kind, Definition::Resource | Definition::Template)
        && definition.member("annotations").is_some_and(|annotations| !are_annotations(&annotations))
    {
        return Err(ApiMisuse::InvalidDefinition("annotations"));
    }
    Ok(Checked { key, text: one_line(definition.as_str()).into(), headers })
}

/// Whether the audience is made of roles and the priority lies from 0 to 1 (`Annotations` in the schema).
fn are_annotations(annotations: &Json) -> bool {
    let is_role = |role: &Json| matches!(role.as_text().to_text().as_deref(), Some("user" | "assistant"));
    annotations.as_text().kind() == JsonKind::Object
        && annotations.member("audience").is_none_or(|audience| is_array_of(&audience, is_role))
        && annotations.member("priority").is_none_or(|priority| priority.as_text().is_fraction())
}

/// Whether this is an array whose elements all are what they should be.
fn is_array_of(list: &Json, is_sound: impl Fn(&Json) -> bool) -> bool {
    let mut all = true;
    scan::array_elements(list.as_str(), MAX_DEPTH, |element| all &= is_sound(&list.slice(element))).is_ok()
        && all
}

/// A string that is not empty.
fn string(definition: &Json, member: &'static str) -> Result<Box<str>, ApiMisuse> {
    let value = definition.member(member);
    match value.as_ref().and_then(|value| value.as_text().to_text()) {
        Some(value) if !value.is_empty() => Ok(value.into()),
        _ => Err(ApiMisuse::InvalidDefinition(member)),
    }
}

/// Whether each element is an object with a name.
fn are_arguments(arguments: &Json) -> bool {
    is_array_of(arguments, |argument| string(argument, "name").is_ok())
}
