//! Questions of a server to its client: written for the newest revision, asked as the client's revision and
//! capabilities allow (client/elicitation, client/sampling, client/roots).

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use super::conversation::{are_messages, is_balanced};
use super::declarations::declared_object;
use super::definitions::{TOOL, structured_content_fits, write_block, write_content};
use super::form;
use super::shape::{self, Member, Rule, always, only, since};
use super::text::{self, ObjectWriter};
use super::{Capabilities, Capability, Method, Revision, Revisions};
use crate::json::Json;
use crate::jsonrpc::parse::decode_string;
use crate::jsonrpc::write;
use crate::uri;

/// Why a question cannot be asked of this client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum InputMismatch {
    /// The parameters are not an object.
    InvalidJson,
    /// A required member of the parameters is missing or wrong.
    InvalidMember(&'static str),
    /// A property of a form is not flat; its name.
    InvalidProperty(Box<str>),
    /// The revision has no such form of question, and nothing that could stand for it.
    NotInRevision(Revision),
    /// The client did not declare what the question needs: a `ClientCapabilities` object.
    MissingCapability(Json),
}

/// A capability that a question can need, and where it can be declared.
const DECLARABLE: [(Capability, Revisions); 5] = [
    (Capability::Roots, Revisions::ALL),
    (Capability::Sampling, Revisions::ALL),
    (Capability::SamplingTools, Revisions::since(Revision::V2025_11_25)),
    (Capability::Elicitation, Revisions::since(Revision::V2025_06_18)),
    (Capability::ElicitationUrl, Revisions::since(Revision::V2025_11_25)),
];

/// Parameters of `elicitation/create`. This core gives no tasks, so that none is asked for either.
const ELICITATION: &[Member] = &[
    since("mode", Revision::V2025_11_25),
    always("requestedSchema", Rule::With(write_requested_schema)),
    only("elicitationId", Revisions::of(&[Revision::V2025_11_25])),
    only("task", Revisions::NONE),
    only("_meta", Revisions::LEGACY),
];

/// Parameters of `sampling/createMessage`.
const SAMPLING: &[Member] = &[
    always("messages", Rule::Each(SAMPLING_MESSAGE)),
    always("modelPreferences", Rule::Keep),
    always("systemPrompt", Rule::Keep),
    always("includeContext", Rule::Keep),
    always("temperature", Rule::Keep),
    always("stopSequences", Rule::Keep),
    always("metadata", Rule::Keep),
    Member { name: "tools", revisions: Revisions::since(Revision::V2025_11_25), rule: Rule::Each(TOOL) },
    since("toolChoice", Revision::V2025_11_25),
    only("task", Revisions::NONE),
    only("_meta", Revisions::LEGACY),
];

const SAMPLING_MESSAGE: &[Member] =
    &[since("_meta", Revision::V2025_11_25), always("content", Rule::With(write_sampling_content))];

const TOOL_RESULT: &[Member] = &[
    always("content", Rule::With(write_content)),
    always("structuredContent", Rule::If(structured_content_fits)),
    always("isError", Rule::Keep),
];

/// Adds to `needed` what the client must have declared for `method` with these parameters.
fn require(needed: &mut Capabilities, method: Method, params: &str) {
    match method {
        Method::ElicitationCreate if text::string_member(params, "mode") == Some("url") => {
            needed.insert(Capability::ElicitationUrl);
        }
        Method::ElicitationCreate => needed.insert(Capability::Elicitation),
        Method::SamplingCreateMessage => {
            needed.insert(Capability::Sampling);
            if text::member(params, "tools").is_some() || text::member(params, "toolChoice").is_some() {
                needed.insert(Capability::SamplingTools);
            }
        }
        Method::RootsList => needed.insert(Capability::Roots),
        _ => {}
    }
}

/// What a client of `revision` would have to declare beside `declared` so that all questions can be asked: a
/// `ClientCapabilities` object, as `data.requiredCapabilities` wants it. `None` if nothing is missing.
pub(crate) fn missing_capabilities<'a>(
    questions: impl IntoIterator<Item = (Method, &'a Json)>,
    revision: Revision,
    declared: &Capabilities,
) -> Option<Json> {
    let mut needed = Capabilities::default();
    for (method, params) in questions {
        require(&mut needed, method, params.as_str());
    }
    let mut is_missing = false;
    for (capability, revisions) in DECLARABLE {
        if declared.has(capability) && revisions.contains(revision) {
            needed.remove(capability);
        }
        is_missing |= needed.has(capability);
    }
    is_missing.then(|| Json::trusted(&declared_object(&needed)))
}

/// The parameters of the question `method` (elicitation, sampling or roots) as a client of `revision` that
/// declared `capabilities` may see them, on one line.
///
/// Left out where the revision has no word for it: the mode, defaults other than booleans, hints on context.
/// Replaced: titled choices by `enum` and `enumNames`, a list of one content block by the block, a recording
/// by text. All else that does not fit is an error. `elicitation_id` is used where the revision wants an id for a
/// URL and the parameters have none; it must be unique among the server's elicitations.
///
/// # Errors
/// [`InputMismatch`]
pub(crate) fn project_input_params(
    method: Method,
    revision: Revision,
    capabilities: &Capabilities,
    params: &Json,
    elicitation_id: &str,
) -> Result<String, InputMismatch> {
    let object = text::one_line_object(params.as_str()).map_err(|_| InputMismatch::InvalidJson)?;
    let table = match method {
        Method::ElicitationCreate => {
            check_elicitation(&object)?;
            ELICITATION
        }
        Method::SamplingCreateMessage => {
            check_sampling(&object)?;
            SAMPLING
        }
        _ => &[],
    };
    if let Some(missing) = missing_capabilities([(method, params)], revision, capabilities) {
        return Err(InputMismatch::MissingCapability(missing));
    }
    if !can_be_said(method, revision, &object) {
        return Err(InputMismatch::NotInRevision(revision));
    }
    let mut out = String::with_capacity(object.len());
    let mut writer = ObjectWriter::open(&mut out);
    text::each_member(&object, |key, value| {
        if key != "includeContext" || context_fits(value, revision, capabilities) {
            shape::write_member(&mut writer, key, value, table, revision);
        }
    });
    let wants_id = method == Method::ElicitationCreate
        && revision == Revision::V2025_11_25
        && text::string_member(&object, "mode") == Some("url")
        && text::member(&object, "elicitationId").is_none();
    if wants_id {
        write::string(writer.key("elicitationId"), elicitation_id);
    }
    writer.close();
    Ok(out)
}

fn required(fits: bool, member: &'static str) -> Result<(), InputMismatch> {
    if fits { Ok(()) } else { Err(InputMismatch::InvalidMember(member)) }
}

fn check_elicitation(params: &str) -> Result<(), InputMismatch> {
    required(text::string_member(params, "message").is_some(), "message")?;
    match text::member(params, "mode") {
        Some("\"url\"") => required(has_url(params), "url"),
        None | Some("\"form\"") => {
            let schema = text::member(params, "requestedSchema").unwrap_or_default();
            required(form::is_object_of_fields(schema), "requestedSchema")?;
            match form::unfit_field(schema) {
                Some(name) => Err(InputMismatch::InvalidProperty(name.into())),
                None => Ok(()),
            }
        }
        Some(_) => required(false, "mode"),
    }
}

/// Whether `url` is one (client/elicitation, URL Mode).
pub(crate) fn has_url(params: &str) -> bool {
    text::member(params, "url").and_then(decode_string).is_some_and(|url| uri::is_uri(&url))
}

fn check_sampling(params: &str) -> Result<(), InputMismatch> {
    let messages = text::member(params, "messages").unwrap_or_default();
    required(are_messages(messages) && is_balanced(messages), "messages")?;
    required(text::member(params, "maxTokens").is_some(), "maxTokens")
}

/// Whether `revision` has the words for a question that is sound in the newest one.
fn can_be_said(method: Method, revision: Revision, params: &str) -> bool {
    if revision >= Revision::V2025_11_25 {
        return true;
    }
    let mut fits = true;
    if method == Method::ElicitationCreate {
        let properties =
            text::member(params, "requestedSchema").and_then(|schema| text::member(schema, "properties"));
        text::each_member(properties.unwrap_or_default(), |_, property| {
            fits &= text::string_member(property, "type") != Some("array");
        });
    } else if method == Method::SamplingCreateMessage {
        text::each_element(text::member(params, "messages").unwrap_or_default(), |message| {
            let content = text::member(message, "content").unwrap_or_default();
            fits &= is_plain_block(content);
        });
    }
    fits
}

/// Whether it is one block, alone or in an array, that has nothing to do with tools.
fn is_plain_block(content: &str) -> bool {
    only_block(content)
        .is_some_and(|block| !matches!(text::string_member(block, "type"), Some("tool_use" | "tool_result")))
}

/// The block, also out of an array of one.
fn only_block(content: &str) -> Option<&str> {
    if !text::is_array(content) {
        return Some(content);
    }
    let mut blocks = Vec::new();
    text::each_element(content, |block| blocks.push(block));
    match blocks[..] {
        [block] => Some(block),
        _ => None,
    }
}

/// Context of other servers is asked for only if the client offers it, from the revision on that lets it say so.
fn context_fits(value: &str, revision: Revision, capabilities: &Capabilities) -> bool {
    value == "\"none\"" || revision < Revision::V2025_11_25 || capabilities.has(Capability::SamplingContext)
}

fn write_sampling_content(out: &mut String, content: &str, revision: Revision) {
    if revision < Revision::V2025_11_25 {
        write_block(out, only_block(content).unwrap_or(content), revision);
    } else if text::is_array(content) {
        shape::write_array(out, content, |out, block| write_sampling_block(out, block, revision));
    } else {
        write_sampling_block(out, content, revision);
    }
}

fn write_sampling_block(out: &mut String, block: &str, revision: Revision) {
    if text::string_member(block, "type") == Some("tool_result") {
        shape::write_object(out, block, TOOL_RESULT, revision);
    } else {
        write_block(out, block, revision);
    }
}

/// `ElicitResult`. From 2026-07-28 answers are bare: no result type, and `_meta` only as part of a message.
const ELICITATION_ANSWER: &[Member] =
    &[always("content", Rule::Keep), only("resultType", Revisions::NONE), only("_meta", Revisions::LEGACY)];

/// `CreateMessageResult`.
const SAMPLING_ANSWER: &[Member] = &[
    always("content", Rule::With(write_sampling_content)),
    always("stopReason", Rule::Keep),
    always("_meta", Rule::Keep),
    only("resultType", Revisions::NONE),
];

/// `ListRootsResult`.
const ROOTS_ANSWER: &[Member] = &[
    always("roots", Rule::Each(&[since("_meta", Revision::V2025_06_18), always("name", Rule::Keep)])),
    only("resultType", Revisions::NONE),
    only("_meta", Revisions::LEGACY),
];

/// The answer to the question `method` (elicitation, sampling or roots) as a server of `revision` may see it,
/// on one line: `result` is the text of the result object, written for the newest revision.
///
/// # Errors
/// [`InputMismatch`]: no object, a required member missing, or content the revision has no words for.
pub(crate) fn project_input_answer(
    method: Method,
    revision: Revision,
    result: &str,
) -> Result<String, InputMismatch> {
    let object = text::one_line_object(result).map_err(|_| InputMismatch::InvalidJson)?;
    let content = text::member(&object, "content");
    let newest_only = revision < Revision::V2025_11_25;
    let (table, fits) = match method {
        Method::ElicitationCreate => {
            let action = text::string_member(&object, "action");
            required(matches!(action, Some("accept" | "decline" | "cancel")), "action")?;
            let mut has_list = false;
            text::each_member(content.unwrap_or_default(), |_, value| has_list |= text::is_array(value));
            (ELICITATION_ANSWER, !(newest_only && has_list))
        }
        Method::SamplingCreateMessage => {
            for member in ["role", "model"] {
                required(text::string_member(&object, member).is_some(), member)?;
            }
            required(content.is_some(), "content")?;
            (SAMPLING_ANSWER, !newest_only || content.is_some_and(is_plain_block))
        }
        Method::RootsList => {
            required(text::member(&object, "roots").is_some_and(are_roots), "roots")?;
            (ROOTS_ANSWER, true)
        }
        _ => (&[][..], true),
    };
    if !fits {
        return Err(InputMismatch::NotInRevision(revision));
    }
    let mut out = String::with_capacity(object.len());
    shape::write_object(&mut out, &object, table, revision);
    Ok(out)
}

/// Whether each root is a `file://` URI that leads nowhere but where it says (client/roots).
fn are_roots(roots: &str) -> bool {
    let mut sound = text::is_array(roots);
    text::each_element(roots, |root| {
        let uri = text::member(root, "uri").and_then(decode_string);
        sound &= uri.is_some_and(|uri| uri::is_file_uri(&uri) && !uri::climbs(&uri));
    });
    sound
}

/// The members of a requested schema, of which the properties differ.
const REQUESTED_SCHEMA: &[Member] = &[always("properties", Rule::With(write_properties))];

fn write_requested_schema(out: &mut String, schema: &str, revision: Revision) {
    shape::write_object(out, schema, REQUESTED_SCHEMA, revision);
}

fn write_properties(out: &mut String, properties: &str, revision: Revision) {
    let mut object = ObjectWriter::open(out);
    text::each_member(properties, |name, property| {
        write_property(object.key(name), property, revision);
    });
    object.close();
}

fn write_property(out: &mut String, property: &str, revision: Revision) {
    let kind = text::string_member(property, "type");
    let mut object = ObjectWriter::open(out);
    text::each_member(property, |key, value| match key {
        "default" if revision < Revision::V2025_11_25 && kind != Some("boolean") => {}
        "oneOf" if revision < Revision::V2025_11_25 => write_choices(&mut object, value),
        "items" if kind == Some("array") => write_items(object.key(key), value),
        _ => object.member(key, value),
    });
    object.close();
}

/// Titled choices, which the schema spells `anyOf`; `oneOf` was an earlier spelling.
fn write_items(out: &mut String, items: &str) {
    let mut object = ObjectWriter::open(out);
    text::each_member(items, |key, value| object.member(if key == "oneOf" { "anyOf" } else { key }, value));
    object.close();
}

/// Choices of `const` and `title` as `enum` and `enumNames`.
fn write_choices(object: &mut ObjectWriter<'_>, choices: &str) {
    let (mut values, mut titles) = (Vec::new(), Vec::new());
    text::each_element(choices, |choice| {
        let Some(value) = text::member(choice, "const") else { return };
        values.push(value);
        titles.push(text::member(choice, "title").unwrap_or(value));
    });
    for (key, list) in [("enum", values), ("enumNames", titles)] {
        let out = object.key(key);
        out.push('[');
        out.push_str(&list.join(","));
        out.push(']');
    }
}

#[cfg(test)]
mod tests;
