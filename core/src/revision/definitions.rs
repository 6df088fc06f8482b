//! What each revision knows of a tool, resource, template and prompt, and of the content they give.

use alloc::borrow::Cow;
use alloc::string::String;

use super::shape::{self, Member, Rule, always, only, since};
use super::text::{self, ObjectWriter};
use super::{Revision, Revisions};

const NEWEST_LEGACY: Revisions = Revisions::of(&[Revision::V2025_11_25]);

/// `Annotations` of content and resources.
const ANNOTATIONS: &[Member] = &[since("lastModified", Revision::V2025_06_18)];

/// `Tool` (server/tools).
pub(super) const TOOL: &[Member] = &[
    since("title", Revision::V2025_06_18),
    always("description", Rule::Keep),
    Member {
        name: "outputSchema",
        revisions: Revisions::since(Revision::V2025_06_18),
        rule: Rule::If(output_schema_fits),
    },
    since("annotations", Revision::V2025_03_26),
    since("_meta", Revision::V2025_06_18),
    since("icons", Revision::V2025_11_25),
    only("execution", NEWEST_LEGACY),
];

/// `Resource` and `ResourceTemplate` (server/resources).
const RESOURCE: &[Member] = &[
    since("title", Revision::V2025_06_18),
    always("description", Rule::Keep),
    always("mimeType", Rule::Keep),
    always("size", Rule::Keep),
    always("annotations", Rule::Object(ANNOTATIONS)),
    since("_meta", Revision::V2025_06_18),
    since("icons", Revision::V2025_11_25),
];

const PROMPT_ARGUMENT: &[Member] = &[
    since("title", Revision::V2025_06_18),
    always("description", Rule::Keep),
    always("required", Rule::Keep),
];

/// `Prompt` (server/prompts).
const PROMPT: &[Member] = &[
    since("title", Revision::V2025_06_18),
    always("description", Rule::Keep),
    always("arguments", Rule::Each(PROMPT_ARGUMENT)),
    since("_meta", Revision::V2025_06_18),
    since("icons", Revision::V2025_11_25),
];

/// `TextResourceContents` and `BlobResourceContents` (server/resources).
const RESOURCE_CONTENTS: &[Member] = &[
    always("mimeType", Rule::Keep),
    Member { name: "_meta", revisions: Revisions::ALL, rule: Rule::If(contents_meta_fits) },
];

/// `ContentBlock`; `icons` belong to links.
const BLOCK: &[Member] = &[
    always("annotations", Rule::Object(ANNOTATIONS)),
    always("resource", Rule::Object(RESOURCE_CONTENTS)),
    since("_meta", Revision::V2025_06_18),
    since("icons", Revision::V2025_11_25),
];

const PROMPT_MESSAGE: &[Member] = &[always("content", Rule::With(write_content))];

/// `CallToolResult` (server/tools).
pub(super) const CALL_RESULT: &[Member] = &[
    always("content", Rule::With(write_content)),
    Member {
        name: "structuredContent",
        revisions: Revisions::since(Revision::V2025_06_18),
        rule: Rule::If(structured_content_fits),
    },
    always("isError", Rule::Keep),
];

/// `GetPromptResult` (server/prompts).
pub(super) const PROMPT_RESULT: &[Member] =
    &[always("description", Rule::Keep), always("messages", Rule::Each(PROMPT_MESSAGE))];

/// `ReadResourceResult` (server/resources).
pub(super) const READ_RESULT: &[Member] = &[always("contents", Rule::Each(RESOURCE_CONTENTS))];

/// What a list of the server holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Definition {
    Tool,
    Resource,
    Template,
    Prompt,
}

impl Definition {
    const fn members(self) -> &'static [Member] {
        match self {
            Definition::Tool => TOOL,
            Definition::Resource | Definition::Template => RESOURCE,
            Definition::Prompt => PROMPT,
        }
    }

    /// The definition as `revision` may see it: the text of an object on one line, given the same.
    pub(crate) fn project(self, definition: &str, revision: Revision) -> String {
        let mut out = String::with_capacity(definition.len());
        shape::write_object(&mut out, definition, self.members(), revision);
        out
    }
}

/// Up to 2025-11-25 an output schema describes an object.
fn output_schema_fits(schema: &str, revision: Revision) -> bool {
    schema != "null"
        && (revision >= Revision::V2026_07_28 || text::string_member(schema, "type") == Some("object"))
}

/// Up to 2025-11-25 structured content is an object; later it is any value, `null` included.
pub(super) fn structured_content_fits(value: &str, revision: Revision) -> bool {
    revision >= Revision::V2026_07_28 || (revision >= Revision::V2025_06_18 && text::is_object(value))
}

/// `_meta` came with 2025-06-18; the Apps extension needs its own part of it in every revision.
fn contents_meta_fits(meta: &str, revision: Revision) -> bool {
    meta != "null" && (revision >= Revision::V2025_06_18 || text::member(meta, "ui").is_some())
}

/// Appends a content block, or an array of them, as `revision` may see it.
pub(super) fn write_content(out: &mut String, content: &str, revision: Revision) {
    if text::is_array(content) {
        shape::write_array(out, content, |out, block| write_block(out, block, revision));
    } else {
        write_block(out, content, revision);
    }
}

/// What replaces a type of content that a revision lacks.
struct Replacement {
    content_type: &'static str,
    since: Revision,
    /// The text instead, from the members of the block.
    text: fn(&str) -> Cow<'_, str>,
}

/// Nothing is sent that the receiver cannot know: a link becomes its name and URI as text, a recording the
/// note that there was one.
const REPLACEMENTS: [Replacement; 2] = [
    Replacement { content_type: "resource_link", since: Revision::V2025_06_18, text: link_as_text },
    Replacement { content_type: "audio", since: Revision::V2025_03_26, text: audio_as_text },
];

pub(super) fn write_block(out: &mut String, block: &str, revision: Revision) {
    let content_type = text::string_member(block, "type").unwrap_or_default();
    let replacement = REPLACEMENTS
        .iter()
        .find(|replacement| replacement.content_type == content_type && revision < replacement.since);
    let Some(replacement) = replacement else {
        shape::write_object(out, block, BLOCK, revision);
        return;
    };
    let mut object = ObjectWriter::open(out);
    object.member("type", "\"text\"");
    let place = object.key("text");
    place.push('"');
    place.push_str(&(replacement.text)(block));
    place.push('"');
    if let Some(annotations) = text::member(block, "annotations") {
        shape::write_object(object.key("annotations"), annotations, ANNOTATIONS, revision);
    }
    object.close();
}

/// In escaped form, as its parts are.
fn link_as_text(block: &str) -> Cow<'_, str> {
    let uri = text::string_member(block, "uri").unwrap_or_default();
    match text::string_member(block, "title").or_else(|| text::string_member(block, "name")) {
        Some(name) if name != uri => Cow::Owned([name, ": ", uri].concat()),
        _ => Cow::Borrowed(uri),
    }
}

fn audio_as_text(block: &str) -> Cow<'_, str> {
    match text::string_member(block, "mimeType") {
        Some(media_type) => Cow::Owned(["[audio, ", media_type, ", left out]"].concat()),
        None => Cow::Borrowed("[audio, left out]"),
    }
}
