//! Tools (server/tools).

use alloc::string::String;
use alloc::vec::Vec;

use super::content::ContentBlock;
use super::value::{Members, Object, Rejected, Unfit, Value, object, read_items};
use crate::json::{Json, dialect};

/// Whether a tool's name is one that the specification advises (server/tools, Tool Names): 1 to 128 letters,
/// digits, underscores, hyphens and dots of ASCII. Others work too, but a client may refuse them.
pub fn is_recommended_tool_name(name: &str) -> bool {
    (1..=128).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'))
}

object! {
    /// Hints on what a tool does. They are claims of the server, not facts. From 2025-03-26.
    ToolAnnotations {
        required {}
        optional {
            /// A name for people.
            title: String = "title";
            /// It changes nothing.
            read_only_hint: bool = "readOnlyHint";
            /// It may destroy something.
            destructive_hint: bool = "destructiveHint";
            /// Calling it twice is like calling it once.
            idempotent_hint: bool = "idempotentHint";
            /// It deals with the world outside.
            open_world_hint: bool = "openWorldHint";
        }
    }
}

impl ToolAnnotations {
    /// Whether the tool is said to change nothing. Without a word it may.
    pub fn is_read_only(&self) -> bool {
        self.read_only_hint.unwrap_or(false)
    }

    /// Whether the tool may destroy something. Without a word it may, unless it changes nothing.
    pub fn is_destructive(&self) -> bool {
        !self.is_read_only() && self.destructive_hint.unwrap_or(true)
    }

    /// Whether calling the tool twice is like calling it once, as it is if it changes nothing.
    pub fn is_idempotent(&self) -> bool {
        self.is_read_only() || self.idempotent_hint.unwrap_or(false)
    }

    /// Whether the tool deals with the world outside. Without a word it does.
    pub fn is_open_world(&self) -> bool {
        self.open_world_hint.unwrap_or(true)
    }
}

object! {
    /// A tool's definition.
    Tool {
        required {
            /// Its name.
            name: String = "name";
            /// The JSON Schema of its arguments.
            input_schema: Object = "inputSchema";
        }
        optional {
            /// Its name for people. From 2025-06-18.
            title: String = "title";
            /// What it does.
            description: String = "description";
            /// The JSON Schema of its structured content. From 2025-06-18.
            output_schema: Object = "outputSchema";
            /// Hints. From 2025-03-26.
            annotations: ToolAnnotations = "annotations";
            /// Icons. From 2025-11-25.
            icons: Vec<Object> = "icons";
            /// Metadata. From 2025-06-18.
            meta: Object = "_meta";
        }
    }
}

/// Why a tool's schema cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SchemaFault {
    /// `type` is none of the words that JSON Schema defines.
    UnknownType,
    /// `$schema` names a dialect that this library does not take.
    UnknownDialect,
}

impl Tool {
    /// What keeps the output schema from being used, if anything does at first sight. The tool itself is sound.
    pub fn output_schema_fault(&self) -> Option<SchemaFault> {
        const TYPES: [&str; 7] =
            ["\"object\"", "\"array\"", "\"string\"", "\"number\"", "\"integer\"", "\"boolean\"", "\"null\""];
        let schema = self.output_schema.as_ref()?.json();
        if !dialect::is_known(schema.as_str()) {
            return Some(SchemaFault::UnknownDialect);
        }
        let kind = schema.member("type")?;
        let known = kind.as_str().starts_with('[') || TYPES.contains(&kind.as_str());
        (!known).then_some(SchemaFault::UnknownType)
    }
}

/// The result of a tool call.
#[derive(Clone, Debug, PartialEq, Default)]
#[non_exhaustive]
pub struct CallToolResult {
    /// What the tool returned.
    pub content: Vec<ContentBlock>,
    /// The same as JSON. From 2025-06-18; `null` is a value from 2026-07-28.
    pub structured_content: Option<Json>,
    /// Whether the tool failed.
    pub is_error: bool,
    /// Blocks that could not be read.
    pub rejected: Vec<Rejected>,
}

impl CallToolResult {
    /// A successful result with that content.
    pub fn new(content: impl Into<Vec<ContentBlock>>) -> CallToolResult {
        CallToolResult { content: content.into(), ..CallToolResult::default() }
    }
}

impl Value for CallToolResult {
    /// Reads a result block by block: what is good is delivered, what is not is in `rejected`.
    ///
    /// # Errors
    /// [`Unfit`] if the result as a whole has another shape.
    fn read(result: &Json) -> Result<CallToolResult, Unfit> {
        let (content, rejected) = match result.member("content") {
            Some(content) => read_items(&content).map_err(|fault| fault.inside("content"))?,
            None if result.as_str().starts_with('{') => (Vec::new(), Vec::new()),
            None => return Err(Unfit::new("is not an object")),
        };
        let is_error = match result.member("isError") {
            Some(is_error) => bool::read(&is_error).map_err(|fault| fault.inside("isError"))?,
            None => false,
        };
        Ok(CallToolResult {
            content,
            structured_content: result.member_or_null("structuredContent"),
            is_error,
            rejected,
        })
    }

    /// Appends the result as a server answers it; `rejected` is left out.
    fn write(&self, out: &mut String) {
        let mut members = Members::begin(out);
        members.member("content", &self.content);
        if let Some(structured) = &self.structured_content {
            members.member("structuredContent", structured);
        }
        if self.is_error {
            members.member("isError", &true);
        }
        members.end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::read_list;

    #[test]
    fn one_bad_tool_hides_no_other() {
        let result = Json::new(
            r#"{"tools":[{"name":"good1","inputSchema":{"type":"object"}},null,{"name":"noschema"},{"name":42,"inputSchema":{"type":"object"}},{"name":"nullschema","inputSchema":null},{"name":"odd","inputSchema":{"type":"object"},"outputSchema":{"type":"nonsense"}},{"name":"good2","inputSchema":{"type":"object"}}]}"#,
        )
        .unwrap();
        let listing = read_list::<Tool>(&result, "tools").unwrap();
        let names: Vec<&str> = listing.items.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(names, ["good1", "odd", "good2"]);
        assert_eq!(listing.items[1].output_schema_fault(), Some(SchemaFault::UnknownType));
        assert_eq!(listing.items[0].output_schema_fault(), None);
        let faults: Vec<_> =
            listing.rejected.iter().map(|r| (r.index, r.fault.path.as_str(), r.fault.reason)).collect();
        assert_eq!(
            faults,
            [
                (1, "", "is not an object"),
                (2, "inputSchema", "is missing"),
                (3, "name", "is not a string"),
                (4, "inputSchema", "is missing")
            ]
        );
        assert_eq!(listing.strict().unwrap_err().len(), 4);
    }

    #[test]
    fn names_that_every_client_takes() {
        let long = "x".repeat(128);
        for name in ["a", "getUser", "DATA_EXPORT_v2", "admin.tools.list", "a-b", "0", long.as_str()] {
            assert!(is_recommended_tool_name(name), "{name}");
        }
        for name in ["", "a b", "a/b", "a,b", "ä", "a\n", &(long + "x")] {
            assert!(!is_recommended_tool_name(name), "{name}");
        }
    }

    #[test]
    fn structured_null_is_a_value() {
        let read = |text| CallToolResult::read(&Json::new(text).unwrap()).unwrap();
        assert_eq!(
            read(r#"{"content":[],"structuredContent":null}"#).structured_content.unwrap().as_str(),
            "null"
        );
        assert_eq!(read(r#"{"content":[]}"#).structured_content, None);
        let result = read(
            r#"{"content":[{"type":"text","text":"before"},{"type":"hologram"},{"type":"text"}],"isError":true}"#,
        );
        assert_eq!((result.content.len(), result.rejected.len(), result.is_error), (2, 1, true));
    }
}
