//! Content of tool results, prompt messages and sampling messages (server/tools, Data Types).

use alloc::string::String;
use alloc::vec::Vec;

use super::value::{Members, Object, Unfit, Value, object, words};
use crate::json::Json;

words! {
    /// Who speaks or is spoken to.
    Role {
        /// The user.
        User = "user";
        /// The model.
        Assistant = "assistant";
    }
}

object! {
    /// Hints for the client on how to use content.
    Annotations {
        required {}
        optional {
            /// Who it is meant for.
            audience: Vec<Role> = "audience";
            /// From 0, optional, to 1, required.
            priority: f64 = "priority";
            /// An ISO 8601 time. From 2025-06-18.
            last_modified: String = "lastModified";
        }
    }
}

object! {
    /// Text.
    TextContent {
        required {
            /// The text.
            text: String = "text";
        }
        optional {
            /// Hints.
            annotations: Annotations = "annotations";
            /// Metadata. From 2025-06-18.
            meta: Object = "_meta";
        }
    }
}

object! {
    /// A picture.
    ImageContent {
        required {
            /// Base64.
            data: String = "data";
            /// Its media type.
            mime_type: String = "mimeType";
        }
        optional {
            /// Hints.
            annotations: Annotations = "annotations";
            /// Metadata. From 2025-06-18.
            meta: Object = "_meta";
        }
    }
}

object! {
    /// Sound. From 2025-03-26.
    AudioContent {
        required {
            /// Base64.
            data: String = "data";
            /// Its media type.
            mime_type: String = "mimeType";
        }
        optional {
            /// Hints.
            annotations: Annotations = "annotations";
            /// Metadata. From 2025-06-18.
            meta: Object = "_meta";
        }
    }
}

object! {
    /// A pointer to a resource that the client can read. From 2025-06-18.
    ResourceLink {
        required {
            /// Where it is.
            uri: String = "uri";
            /// Its name.
            name: String = "name";
        }
        optional {
            /// Its name for people.
            title: String = "title";
            /// What it is.
            description: String = "description";
            /// Its media type.
            mime_type: String = "mimeType";
            /// Its size in bytes.
            size: i64 = "size";
            /// Hints.
            annotations: Annotations = "annotations";
            /// Metadata.
            meta: Object = "_meta";
        }
    }
}

object! {
    /// The contents of a resource: text, or base64 in `blob`.
    ResourceContents {
        required {
            /// Where it is.
            uri: String = "uri";
        }
        optional {
            /// Its media type.
            mime_type: String = "mimeType";
            /// The contents as text.
            text: String = "text";
            /// The contents as base64.
            blob: String = "blob";
            /// Metadata. From 2025-06-18.
            meta: Object = "_meta";
        }
    }
}

object! {
    /// A resource carried along.
    EmbeddedResource {
        required {
            /// Its contents.
            resource: ResourceContents = "resource";
        }
        optional {
            /// Hints.
            annotations: Annotations = "annotations";
            /// Metadata. From 2025-06-18.
            meta: Object = "_meta";
        }
    }
}

object! {
    /// A model's call of a tool, in sampling messages. From 2025-11-25.
    ToolUseContent {
        required {
            /// Names the call.
            id: String = "id";
            /// The tool.
            name: String = "name";
            /// The arguments.
            input: Object = "input";
        }
        optional {
            /// Metadata.
            meta: Object = "_meta";
        }
    }
}

object! {
    /// The outcome of a model's call of a tool, in sampling messages. From 2025-11-25.
    ToolResultContent {
        required {
            /// The call.
            tool_use_id: String = "toolUseId";
            /// What the tool returned.
            content: Vec<ContentBlock> = "content";
        }
        optional {
            /// The same as JSON.
            structured_content: Json = "structuredContent";
            /// Whether the tool failed.
            is_error: bool = "isError";
            /// Metadata.
            meta: Object = "_meta";
        }
    }
}

/// One block of content.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ContentBlock {
    /// Text.
    Text(TextContent),
    /// A picture.
    Image(ImageContent),
    /// Sound.
    Audio(AudioContent),
    /// A pointer to a resource.
    ResourceLink(ResourceLink),
    /// A resource carried along.
    Resource(EmbeddedResource),
    /// A model's call of a tool.
    ToolUse(ToolUseContent),
    /// The outcome of a model's call of a tool.
    ToolResult(ToolResultContent),
    /// A type that this library does not know, as written.
    Other(Json),
}

impl ContentBlock {
    /// A block of text.
    pub fn text(text: impl Into<String>) -> ContentBlock {
        ContentBlock::Text(TextContent::new(text))
    }
}

macro_rules! blocks {
    ($($variant:ident($content:ident) = $wire:literal;)*) => {
        impl Value for ContentBlock {
            fn read(json: &Json) -> Result<Self, Unfit> {
                let kind = json.member("type").ok_or_else(|| Unfit::new("is missing").inside("type"))?;
                let kind = String::read(&kind).map_err(|fault| fault.inside("type"))?;
                match kind.as_str() {
                    $($wire => $content::read(json).map(|content| ContentBlock::$variant(without_type(content))),)*
                    _ => Ok(ContentBlock::Other(json.clone())),
                }
            }

            fn write(&self, out: &mut String) {
                match self {
                    $(ContentBlock::$variant(content) => {
                        let mut members = Members::begin(out);
                        members.member("type", &String::from($wire));
                        content.write_members(&mut members);
                        members.end();
                    })*
                    ContentBlock::Other(json) => json.write(out),
                }
            }
        }

        $(impl Tagged for $content {
            fn extra(&mut self) -> &mut Vec<(String, Json)> {
                &mut self.extra
            }
        })*
    };
}

blocks! {
    Text(TextContent) = "text";
    Image(ImageContent) = "image";
    Audio(AudioContent) = "audio";
    ResourceLink(ResourceLink) = "resource_link";
    Resource(EmbeddedResource) = "resource";
    ToolUse(ToolUseContent) = "tool_use";
    ToolResult(ToolResultContent) = "tool_result";
}

/// An object whose `type` member is told by the enum around it.
trait Tagged {
    fn extra(&mut self) -> &mut Vec<(String, Json)>;
}

fn without_type<T: Tagged>(mut content: T) -> T {
    content.extra().retain(|(key, _)| key != "type");
    content
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_survive_reading_and_writing() {
        let texts = [
            r#"{"type":"text","text":"a","annotations":{"audience":["user"],"priority":0.5}}"#,
            r#"{"type":"image","data":"AA==","mimeType":"image/png"}"#,
            r#"{"type":"audio","data":"AA==","mimeType":"audio/wav"}"#,
            r#"{"type":"resource_link","uri":"a:b","name":"n","size":9007199254740993}"#,
            r#"{"type":"resource","resource":{"uri":"a:b","text":"t"}}"#,
            r#"{"type":"text","text":"after","future":{"k":[1]}}"#,
            r#"{"type":"hologram","uri":"h://1","depth":3}"#,
        ];
        for text in texts {
            let block = ContentBlock::read(&Json::new(text).unwrap()).unwrap();
            assert_eq!(block.to_json().as_str(), text);
        }
        let block = ContentBlock::read(&Json::new(texts[6]).unwrap()).unwrap();
        assert!(matches!(block, ContentBlock::Other(_)));
    }

    #[test]
    fn faults_name_the_member() {
        let fault = |text| ContentBlock::read(&Json::new(text).unwrap()).unwrap_err();
        assert_eq!(fault(r#"{"type":"text","text":1}"#).path, "text");
        assert_eq!(fault(r#"{"type":"resource","resource":{"text":"t"}}"#).path, "resource.uri");
        assert_eq!(
            fault(r#"{"type":"text","text":"a","annotations":{"audience":["nobody"]}}"#).path,
            "annotations.audience[0]"
        );
        assert_eq!(fault("{}").path, "type");
        assert_eq!(fault("null").path, "type");
    }
}
