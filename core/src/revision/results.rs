//! Results: written by the application for the newest revision, sent as the client's revision wants them.

use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use memchr::memmem;

use super::definitions::{CALL_RESULT, PROMPT_RESULT, READ_RESULT, structured_content_fits};
use super::shape::{self, Member, Rule, always, only};
use super::text::{self, ObjectWriter};
use super::{Era, Method, Revision, Revisions, meta};
use crate::json::scan::Scanner;
use crate::json::{MAX_DEPTH, ScanError};
use crate::jsonrpc::write;

/// What a result of the modern era gets where the application did not write it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ResultMembers<'a> {
    /// Members of `_meta`: key (needing no escapes) and JSON text on one line. For example
    /// [`SERVER_INFO`](super::meta::SERVER_INFO).
    pub(crate) meta: &'a [(&'a str, &'a str)],
    /// `ttlMs` of cacheable methods.
    pub(crate) ttl_ms: u64,
    /// `cacheScope` of cacheable methods.
    pub(crate) cache_scope: &'a str,
}

/// The members of any result.
const COMMON: &[Member] = &[
    only("resultType", Revisions::MODERN),
    only("ttlMs", Revisions::MODERN),
    only("cacheScope", Revisions::MODERN),
    always("_meta", Rule::Keep),
];

/// Results with members of their own that differ between revisions.
const SHAPES: [(Method, &[Member]); 4] = [
    (Method::ToolsCall, CALL_RESULT),
    (Method::PromptsGet, PROMPT_RESULT),
    (Method::ResourcesRead, READ_RESULT),
    (Method::CompletionComplete, COMPLETION_RESULT),
];

/// `CompleteResult` (server/utilities/completion).
const COMPLETION_RESULT: &[Member] = &[always("completion", Rule::With(write_completion))];

/// What content can hold that came with a revision. A result for an older one is taken apart only if such a
/// word stands somewhere in it: looking for words costs far less.
const NEWER_WORDS: [(&str, Revision); 5] = [
    ("\"icons\"", Revision::V2025_11_25),
    ("\"_meta\"", Revision::V2025_06_18),
    ("\"lastModified\"", Revision::V2025_06_18),
    ("\"resource_link\"", Revision::V2025_06_18),
    ("\"audio\"", Revision::V2025_03_26),
];

/// The members of `method`'s result, if it has any of its own.
fn shape_of(method: Option<Method>) -> Option<&'static [Member]> {
    SHAPES.iter().find(|&&(shaped, _)| method == Some(shaped)).map(|&(_, members)| members)
}

/// Where the members stand that the protocol acts on, found in one pass.
#[derive(Default)]
struct Survey {
    /// From the opening bracket to the closing one.
    object: Range<usize>,
    is_empty: bool,
    newline: bool,
    result_type: Option<Range<usize>>,
    meta: Option<Range<usize>>,
    ttl: Option<Range<usize>>,
    scope: Option<Range<usize>>,
    content: Option<Range<usize>>,
    structured: Option<Range<usize>>,
    /// An optional member is `null`, which means absent. Of structured content it is a value.
    has_null: bool,
}

impl Survey {
    fn of(text: &str) -> Result<Survey, ScanError> {
        let mut survey = Survey { is_empty: true, ..Survey::default() };
        let mut scanner = Scanner::new(text, MAX_DEPTH);
        scanner.expect(b'{')?;
        let start = scanner.position() - 1;
        while scanner.peek() != Some(b'}') {
            if !core::mem::take(&mut survey.is_empty) {
                scanner.expect(b',')?;
            }
            let key = scanner.string()?;
            scanner.expect(b':')?;
            let value = scanner.value_at_depth(1)?;
            survey.note(&text[key], text, value);
        }
        scanner.expect(b'}')?;
        survey.object = start..scanner.position();
        scanner.end()?;
        survey.newline = scanner.saw_newline();
        Ok(survey)
    }

    #[inline]
    fn note(&mut self, key: &str, text: &str, value: Range<usize>) {
        let place = match key {
            "content" => &mut self.content,
            "structuredContent" => {
                self.structured = Some(value);
                return;
            }
            "_meta" => &mut self.meta,
            "isError" | "description" => {
                self.has_null |= &text[value] == "null";
                return;
            }
            "resultType" => &mut self.result_type,
            "ttlMs" => &mut self.ttl,
            "cacheScope" => &mut self.scope,
            _ => return,
        };
        self.has_null |= &text[value.clone()] == "null";
        *place = Some(value);
    }

    const fn has_modern_members(&self) -> bool {
        self.result_type.is_some() || self.ttl.is_some() || self.scope.is_some()
    }
}

/// A result of the core's own making: an object with the members that its method asks for, on one line and the same in
/// every revision, so that nothing of it has to be checked or changed. All that varies is one string in it.
#[derive(Clone, Copy)]
pub(crate) struct Written<'a> {
    front: &'a str,
    value: Value<'a>,
    end: &'a str,
}

/// A value that is a JSON string.
#[derive(Clone, Copy)]
enum Value<'a> {
    Text(&'a str),
    /// As base64.
    Bytes(&'a [u8]),
}

impl<'a> Written<'a> {
    /// What stands between the brackets of a result before `text`, and behind it.
    pub(crate) const fn text(front: &'a str, text: &'a str, end: &'a str) -> Written<'a> {
        Written { front, value: Value::Text(text), end }
    }

    /// As [`text`](Self::text), with bytes instead.
    pub(crate) const fn bytes(front: &'a str, bytes: &'a [u8], end: &'a str) -> Written<'a> {
        Written { front, value: Value::Bytes(bytes), end }
    }

    /// About how long it is.
    pub(crate) fn room(&self) -> usize {
        let value = match self.value {
            // Some of it is escaped.
            Value::Text(text) => text.len() + text.len() / 8,
            Value::Bytes(bytes) => bytes.len().div_ceil(3) * 4,
        };
        self.front.len() + value + self.end.len() + 2
    }
}

/// Appends a result of the core's own, as `revision` wants it.
pub(crate) fn write_written(
    out: &mut String,
    method: Option<Method>,
    revision: Revision,
    result: &Written<'_>,
    members: &ResultMembers<'_>,
) {
    let outgoing = Outgoing { method, revision, members };
    let mut object = ObjectWriter::open(out);
    outgoing.write_modern_members(&mut object, &Survey::default(), true);
    let rest = object.rest();
    rest.push_str(result.front);
    match result.value {
        Value::Text(text) => write::string(rest, text),
        Value::Bytes(bytes) => {
            rest.push('"');
            STANDARD.encode_string(bytes, rest);
            rest.push('"');
        }
    }
    rest.push_str(result.end);
    object.close();
}

/// A result on its way to a client.
struct Outgoing<'a> {
    method: Option<Method>,
    revision: Revision,
    members: &'a ResultMembers<'a>,
}

/// Appends `result`, the text of an object written for the newest revision, as `revision` wants it. `method`
/// is `None` for methods that are not the protocol's own.
///
/// One pass and a copy where nothing has to be projected.
///
/// # Errors
/// If `result` is not a JSON object. Nothing is appended then.
pub(crate) fn write_result(
    out: &mut String,
    method: Option<Method>,
    revision: Revision,
    result: &str,
    members: &ResultMembers<'_>,
) -> Result<(), ScanError> {
    let outgoing = Outgoing { method, revision, members };
    let survey = Survey::of(result)?;
    if survey.newline {
        let joined = text::joined_lines(result);
        let survey = Survey::of(&joined)?;
        return outgoing.write(out, &joined, &survey);
    }
    outgoing.write(out, result, &survey)
}

/// Appends what comes before `result` without its opening bracket, so that the rest of `result` can follow
/// as it is. False if the result cannot go out like this; [`write_result`] then writes it.
///
/// # Errors
/// If `result` is not a JSON object.
pub(crate) fn write_front(
    out: &mut String,
    method: Option<Method>,
    revision: Revision,
    result: &str,
    members: &ResultMembers<'_>,
) -> Result<bool, ScanError> {
    let outgoing = Outgoing { method, revision, members };
    let survey = Survey::of(result)?;
    let has_text = method != Some(Method::ToolsCall)
        || (survey.content.is_some() && missing_text_copy(result, &survey).is_none());
    let as_it_is = has_text
        && !survey.newline
        && !survey.is_empty
        && survey.object == (0..result.len())
        && survey.result_type.is_none()
        && !outgoing.needs_projection(result, &survey)
        && outgoing.insertions(result, &survey, None).is_empty();
    if as_it_is {
        let mut object = ObjectWriter::open(out);
        outgoing.write_modern_members(&mut object, &survey, true);
        object.rest();
    }
    Ok(as_it_is)
}

impl Outgoing<'_> {
    fn write(&self, out: &mut String, result: &str, survey: &Survey) -> Result<(), ScanError> {
        let result_type = survey.result_type.as_ref().map(|kind| &result[kind.clone()]);
        let is_complete =
            self.revision.era() == Era::Legacy || matches!(result_type, None | Some("null" | "\"complete\""));
        let is_call = is_complete && self.method == Some(Method::ToolsCall);
        let copied = if is_call { missing_text_copy(result, survey) } else { None };
        if self.needs_projection(result, survey) {
            let projected = self.project(result);
            let survey = Survey::of(&projected)?;
            self.write_completed(out, &projected, &survey, is_complete, copied);
        } else {
            self.write_completed(out, result, survey, is_complete, copied);
        }
        Ok(())
    }

    fn needs_projection(&self, result: &str, survey: &Survey) -> bool {
        let is_newer = |&(word, since): &(&str, Revision)| {
            self.revision < since && memmem::find(result.as_bytes(), word.as_bytes()).is_some()
        };
        let structured = survey.structured.as_ref().map(|value| &result[value.clone()]);
        survey.has_null
            || (self.revision.era() == Era::Legacy && survey.has_modern_members())
            || (self.method == Some(Method::ToolsCall)
                && structured.is_some_and(|value| !structured_content_fits(value, self.revision)))
            || self.method == Some(Method::CompletionComplete)
            || (shape_of(self.method).is_some() && NEWER_WORDS.iter().any(is_newer))
    }

    fn project(&self, result: &str) -> String {
        let members = shape_of(self.method).unwrap_or(COMMON);
        let mut out = String::with_capacity(result.len());
        let mut object = ObjectWriter::open(&mut out);
        text::each_member(result, |key, value| {
            let known = members.iter().any(|member| member.name == key);
            shape::write_member(&mut object, key, value, if known { members } else { COMMON }, self.revision);
        });
        object.close();
        out
    }

    /// Appends `result` with what is missing: members at its front, the rest in place.
    fn write_completed(
        &self,
        out: &mut String,
        result: &str,
        survey: &Survey,
        is_complete: bool,
        copied: Option<&str>,
    ) {
        let mut object = ObjectWriter::open(out);
        self.write_modern_members(&mut object, survey, is_complete);
        if survey.content.is_none() && is_complete && self.method == Some(Method::ToolsCall) {
            let place = object.key("content");
            place.push('[');
            if let Some(structured) = copied {
                write_text_block(place, structured);
            }
            place.push(']');
        }
        if !survey.is_empty {
            let rest = object.rest();
            let mut from = survey.object.start + 1;
            for (at, inserted) in self.insertions(result, survey, copied) {
                rest.push_str(&result[from..at]);
                rest.push_str(&inserted);
                from = at;
            }
            rest.push_str(&result[from..survey.object.end - 1]);
        }
        object.close();
    }

    /// What goes into members that the application wrote, in order of place.
    fn insertions(&self, result: &str, survey: &Survey, copied: Option<&str>) -> Vec<(usize, String)> {
        let mut insertions = Vec::new();
        if let Some(meta) = survey.meta.clone().filter(|_| self.revision.era() == Era::Modern) {
            let missing = meta::missing_pairs(&result[meta.clone()], self.members.meta);
            if !missing.is_empty() {
                insertions.push((meta.start + 1, missing));
            }
        }
        if let (Some(content), Some(structured)) = (survey.content.clone(), copied) {
            let written = &result[content.clone()];
            if text::is_array(written) {
                let mut block = String::from(if text::is_empty_container(written) { "" } else { "," });
                write_text_block(&mut block, structured);
                insertions.push((content.end - 1, block));
            }
        }
        insertions.sort_unstable_by_key(|&(at, _)| at);
        insertions
    }

    /// Writes what every result of the modern era has and `survey` lacks.
    fn write_modern_members(&self, object: &mut ObjectWriter<'_>, survey: &Survey, is_complete: bool) {
        if self.revision.era() == Era::Legacy {
            return;
        }
        if survey.result_type.is_none() {
            object.member("resultType", "\"complete\"");
        }
        if is_complete && self.method.is_some_and(|method| method.row().cacheable) {
            if survey.ttl.is_none() {
                write::integer(object.key("ttlMs"), i64::try_from(self.members.ttl_ms).unwrap_or(i64::MAX));
            }
            if survey.scope.is_none() {
                write::string(object.key("cacheScope"), self.members.cache_scope);
            }
        }
        if survey.meta.is_none() && !self.members.meta.is_empty() {
            meta::write_pairs(object.key("_meta"), self.members.meta);
        }
    }
}

fn write_text_block(out: &mut String, text: &str) {
    out.push_str("{\"type\":\"text\",\"text\":");
    write::string(out, text);
    out.push('}');
}

/// The text to put into `content` because structured content stands there without any text
/// (server/tools, Structured Content).
fn missing_text_copy<'a>(result: &'a str, survey: &Survey) -> Option<&'a str> {
    let structured = &result[survey.structured.clone()?];
    let has_text = survey.content.as_ref().is_some_and(|content| has_text_block(&result[content.clone()]));
    (!has_text).then_some(structured)
}

/// Whether one of the blocks is a text. Stops at the first: mostly after a few bytes.
fn has_text_block(content: &str) -> bool {
    let mut scanner = Scanner::new(content, MAX_DEPTH);
    let mut separator = b'[';
    while scanner.expect(separator).is_ok() {
        separator = b',';
        if block_is_text(&mut scanner, content).unwrap_or(false) {
            return true;
        }
    }
    false
}

fn block_is_text(scanner: &mut Scanner<'_>, content: &str) -> Result<bool, ScanError> {
    if scanner.peek() != Some(b'{') {
        scanner.value()?;
        return Ok(false);
    }
    scanner.expect(b'{')?;
    let mut is_first = true;
    while scanner.peek() != Some(b'}') {
        if !core::mem::take(&mut is_first) {
            scanner.expect(b',')?;
        }
        let key = scanner.string()?;
        scanner.expect(b':')?;
        let value = scanner.value()?;
        if &content[key] == "type" && &content[value] == "\"text\"" {
            return Ok(true);
        }
    }
    scanner.expect(b'}')?;
    Ok(false)
}

/// Most suggestions of one completion result (server/utilities/completion).
const COMPLETION_VALUES: usize = 100;

/// Appends `completion` with no more suggestions than are allowed; those left out are counted.
fn write_completion(out: &mut String, completion: &str, _: Revision) {
    let mut given = 0usize;
    text::each_element(text::member(completion, "values").unwrap_or_default(), |_| given += 1);
    if given <= COMPLETION_VALUES {
        out.push_str(completion);
        return;
    }
    let mut object = ObjectWriter::open(out);
    let mut has_total = false;
    text::each_member(completion, |key, value| match key {
        "values" => {
            let mut left = COMPLETION_VALUES;
            let place = object.key(key);
            place.push('[');
            text::each_element(value, |value| {
                if left > 0 {
                    place.push_str(value);
                    place.push_str(if left > 1 { "," } else { "]" });
                    left -= 1;
                }
            });
        }
        "hasMore" => {}
        _ => {
            has_total |= key == "total" && value != "null";
            if value != "null" {
                object.member(key, value);
            }
        }
    });
    if !has_total {
        write::integer(object.key("total"), i64::try_from(given).unwrap_or(i64::MAX));
    }
    object.member("hasMore", "true");
    object.close();
}

/// The member that holds the items of a list result.
const fn items_member(method: Method) -> &'static str {
    match method {
        Method::ResourcesList => "resources",
        Method::ResourceTemplatesList => "resourceTemplates",
        Method::PromptsList => "prompts",
        _ => "tools",
    }
}

/// Appends the result of a list method. `items` appends the definitions, comma-separated, and writes the
/// cursor behind them (needing no escapes) if there are more.
pub(crate) fn write_list_result(
    out: &mut String,
    method: Method,
    revision: Revision,
    members: &ResultMembers<'_>,
    items: impl FnOnce(&mut String, &mut String),
) {
    let outgoing = Outgoing { method: Some(method), revision, members };
    let mut object = ObjectWriter::open(out);
    outgoing.write_modern_members(&mut object, &Survey::default(), true);
    let place = object.key(items_member(method));
    let mut cursor = String::new();
    place.push('[');
    items(place, &mut cursor);
    place.push(']');
    if !cursor.is_empty() {
        write::string(object.key("nextCursor"), &cursor);
    }
    object.close();
}

#[cfg(test)]
mod tests;
