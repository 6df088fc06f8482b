//! What servers ask clients for (client/elicitation, client/sampling, client/roots).

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use super::content::{ContentBlock, Role};
use super::value::{Object, Unfit, Value, object, words};
use crate::json::Json;

words! {
    /// What the user did with a question.
    ElicitAction {
        /// Answered it.
        Accept = "accept";
        /// Refused to answer.
        Decline = "decline";
        /// Dismissed it.
        Cancel = "cancel";
    }
}

object! {
    /// A question to the user.
    ElicitRequest {
        required {
            /// What to tell the user.
            message: String = "message";
        }
        optional {
            /// `form` or `url`; absent means `form`. From 2025-11-25.
            mode: String = "mode";
            /// The flat JSON Schema of the form.
            requested_schema: Object = "requestedSchema";
            /// Where the user is to go. From 2025-11-25.
            url: String = "url";
            /// Names the question in the notice of its end. 2025-11-25 only.
            elicitation_id: String = "elicitationId";
        }
    }
}

object! {
    /// The user's answer.
    ElicitResult {
        required {
            /// What the user did.
            action: ElicitAction = "action";
        }
        optional {
            /// The form's values, if the user accepted.
            content: Object = "content";
        }
    }
}

/// The content of a sampling message: one block, or several from 2025-11-25.
#[derive(Clone, Debug, PartialEq)]
pub struct Blocks(pub Vec<ContentBlock>);

impl From<ContentBlock> for Blocks {
    fn from(block: ContentBlock) -> Self {
        Blocks(vec![block])
    }
}

impl From<Vec<ContentBlock>> for Blocks {
    fn from(blocks: Vec<ContentBlock>) -> Self {
        Blocks(blocks)
    }
}

impl Value for Blocks {
    fn read(json: &Json) -> Result<Self, Unfit> {
        if json.as_str().starts_with('[') {
            Value::read(json).map(Blocks)
        } else {
            ContentBlock::read(json).map(Blocks::from)
        }
    }

    fn write(&self, out: &mut String) {
        match self.0.as_slice() {
            // All revisions take a single block that stands alone.
            [block] => block.write(out),
            _ => self.0.write(out),
        }
    }
}

object! {
    /// One message of a conversation with a model.
    SamplingMessage {
        required {
            /// Who speaks.
            role: Role = "role";
            /// What is said.
            content: Blocks = "content";
        }
        optional {
            /// Metadata. From 2025-11-25.
            meta: Object = "_meta";
        }
    }
}

object! {
    /// A conversation for the client's model to continue.
    CreateMessageRequest {
        required {
            /// The conversation.
            messages: Vec<SamplingMessage> = "messages";
            /// The most tokens to produce.
            max_tokens: i64 = "maxTokens";
        }
        optional {
            /// Which model to use.
            model_preferences: Object = "modelPreferences";
            /// A system prompt.
            system_prompt: String = "systemPrompt";
            /// Which servers' context to include; deprecated.
            include_context: String = "includeContext";
            /// Sampling temperature.
            temperature: f64 = "temperature";
            /// Where to stop.
            stop_sequences: Vec<String> = "stopSequences";
            /// Anything for the model's provider.
            metadata: Object = "metadata";
            /// Tools that the model may call. From 2025-11-25.
            tools: Vec<Object> = "tools";
            /// How it may call them. From 2025-11-25.
            tool_choice: Object = "toolChoice";
        }
    }
}

object! {
    /// What the model said.
    CreateMessageResult {
        required {
            /// Who speaks.
            role: Role = "role";
            /// What is said.
            content: Blocks = "content";
            /// The model that was used.
            model: String = "model";
        }
        optional {
            /// Why it stopped.
            stop_reason: String = "stopReason";
            /// Metadata.
            meta: Object = "_meta";
        }
    }
}

object! {
    /// A place that the client lets the server work in.
    Root {
        required {
            /// A `file:` URI.
            uri: String = "uri";
        }
        optional {
            /// Its name for people.
            name: String = "name";
            /// Metadata. From 2025-06-18.
            meta: Object = "_meta";
        }
    }
}

object! {
    /// The client's roots.
    ListRootsResult {
        required {
            /// The roots.
            roots: Vec<Root> = "roots";
        }
        optional {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sampling_content_is_one_or_many() {
        let one = r#"{"role":"user","content":{"type":"text","text":"a"}}"#;
        let many = r#"{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}"#;
        for text in [one, many] {
            let message = SamplingMessage::read(&Json::new(text).unwrap()).unwrap();
            assert_eq!(message.to_json().as_str(), text);
        }
        let request =
            CreateMessageRequest::new(vec![SamplingMessage::new(Role::User, ContentBlock::text("a"))], 7);
        assert_eq!(request.to_json().as_str(), format_request());
        let result =
            ElicitResult::read(&Json::new(r#"{"action":"accept","content":null}"#).unwrap()).unwrap();
        assert_eq!((result.action, result.content), (ElicitAction::Accept, None));
    }

    fn format_request() -> &'static str {
        r#"{"messages":[{"role":"user","content":{"type":"text","text":"a"}}],"maxTokens":7}"#
    }
}
