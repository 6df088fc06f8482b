//! What the server offers, as JSON.

use serde_json::{Value, json};

pub const WATCHED: &str = "test://watched-resource";
const PIXEL: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEgAF/qMh9kgAAAABJRU5ErkJggg==";
/// A wave file without samples.
const SOUND: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";
const WORDS: [&str; 4] = ["testValue1", "testValue2", "123", "other"];
pub const LOG_LINES: [&str; 3] =
    ["Tool execution started", "Tool processing data", "Tool execution completed"];

/// The tools, each with the types of its arguments.
const TOOLS: [(&str, &str, &[(&str, &str)]); 18] = [
    ("test_simple_text", "Return a fixed text.", &[]),
    ("echo", "Return the text.", &[("text", "string")]),
    ("add", "Add two integers.", &[("a", "integer"), ("b", "integer")]),
    ("test_image_content", "Return an image.", &[]),
    ("test_audio_content", "Return a sound.", &[]),
    ("test_embedded_resource", "Return a resource.", &[]),
    ("test_multiple_content_types", "Return a text, an image and a resource.", &[]),
    ("test_error_handling", "Fail.", &[]),
    ("test_tool_with_progress", "Report progress 0, 50 and 100 of 100.", &[]),
    ("slow", "Report progress and wait.", &[("seconds", "number")]),
    ("cancellations", "Return how many calls of slow were cancelled.", &[]),
    ("test_tool_with_logging", "Log three lines at level info.", &[]),
    ("test_elicitation", "Ask the user.", &[("message", "string")]),
    ("test_elicitation_twice", "Ask the user two questions.", &[]),
    ("test_sampling", "Ask the model.", &[("prompt", "string")]),
    ("test_list_roots", "Ask for the roots of the client.", &[]),
    ("test_trigger_tool_change", "Add or remove one tool.", &[]),
    ("test_trigger_resource_update", "Tell the subscribers.", &[]),
];

fn tool(name: &str, description: &str, arguments: &[(&str, &str)]) -> Value {
    let properties: serde_json::Map<String, Value> =
        arguments.iter().map(|(name, kind)| (name.to_string(), json!({"type": kind}))).collect();
    let required: Vec<&str> = arguments.iter().map(|(name, _)| *name).collect();
    let schema = json!({"type": "object", "properties": properties, "required": required});
    let mut definition = json!({"name": name, "description": description, "inputSchema": schema});
    if name == "add" {
        definition["outputSchema"] =
            json!({"type": "object", "properties": {"sum": {"type": "integer"}}, "required": ["sum"]});
    }
    definition
}

pub fn tools(with_extra: bool) -> Vec<Value> {
    let mut tools: Vec<Value> =
        TOOLS.iter().map(|(name, description, arguments)| tool(name, description, arguments)).collect();
    if with_extra {
        tools.push(tool("extra", "Comes and goes.", &[]));
    }
    tools
}

pub fn text(text: impl Into<String>) -> Value {
    json!({"content": [{"type": "text", "text": text.into()}]})
}

fn embedded(uri: &str, mime_type: &str, text: &str) -> Value {
    json!({"type": "resource", "resource": {"uri": uri, "mimeType": mime_type, "text": text}})
}

/// The results of the tools that only return content.
pub fn content(tool: &str) -> Option<Value> {
    let image = json!({"type": "image", "data": PIXEL, "mimeType": "image/png"});
    let content = match tool {
        "test_image_content" => json!([image]),
        "test_audio_content" => json!([{"type": "audio", "data": SOUND, "mimeType": "audio/wav"}]),
        "test_embedded_resource" => {
            json!([embedded(
                "test://embedded-resource",
                "text/plain",
                "This is an embedded resource content."
            )])
        }
        "test_multiple_content_types" => json!([
            {"type": "text", "text": "Multiple content types test:"},
            image,
            embedded("test://mixed-content-resource", "application/json", r#"{"test":"data","value":123}"#),
        ]),
        _ => return None,
    };
    Some(json!({"content": content}))
}

pub fn resources() -> Value {
    json!({"resources": [
        {"uri": "test://static-text", "name": "static-text", "mimeType": "text/plain"},
        {"uri": "test://static-binary", "name": "static-binary", "mimeType": "image/png"},
        {"uri": WATCHED, "name": "watched", "mimeType": "text/plain"},
    ]})
}

pub fn templates() -> Value {
    let uri = "test://template/{id}/data";
    json!({"resourceTemplates": [{"uriTemplate": uri, "name": "template", "mimeType": "application/json"}]})
}

pub fn contents(uri: &str) -> Option<Value> {
    let contents = match uri {
        "test://static-text" => {
            let text = "This is the content of the static text resource.";
            json!({"uri": uri, "mimeType": "text/plain", "text": text})
        }
        "test://static-binary" => json!({"uri": uri, "mimeType": "image/png", "blob": PIXEL}),
        WATCHED => json!({"uri": uri, "mimeType": "text/plain", "text": "watched"}),
        _ => {
            let id = uri.strip_prefix("test://template/")?.strip_suffix("/data")?;
            let text = json!({"id": id, "templateTest": true}).to_string();
            json!({"uri": uri, "mimeType": "application/json", "text": text})
        }
    };
    Some(json!({"contents": [contents]}))
}

pub fn prompts() -> Value {
    let arguments = json!([{"name": "arg1", "required": true}, {"name": "arg2", "required": true}]);
    json!({"prompts": [
        {"name": "test_simple_prompt", "description": "A prompt without arguments."},
        {"name": "test_prompt_with_arguments", "description": "A prompt with two arguments.", "arguments": arguments},
    ]})
}

pub fn prompt(name: &str, arguments: &Value) -> Option<Value> {
    let text = match name {
        "test_simple_prompt" => "This is a simple prompt for testing.".to_owned(),
        "test_prompt_with_arguments" => {
            let [first, second] = ["arg1", "arg2"].map(|name| arguments[name].as_str().unwrap_or_default());
            format!("Prompt with arguments: arg1='{first}', arg2='{second}'")
        }
        _ => return None,
    };
    Some(json!({"messages": [{"role": "user", "content": {"type": "text", "text": text}}]}))
}

pub fn completion(start: &str) -> Value {
    let values: Vec<&str> = WORDS.into_iter().filter(|word| word.starts_with(start)).collect();
    json!({"completion": {"values": values, "hasMore": false}})
}

/// The request that asks the user for a name and an address.
pub fn user_question(message: &str) -> Value {
    let schema = json!({
        "type": "object",
        "properties": {"username": {"type": "string"}, "email": {"type": "string"}},
        "required": ["username", "email"],
    });
    json!({"method": "elicitation/create", "params": {"message": message, "requestedSchema": schema}})
}

pub fn model_question(prompt: &str) -> Value {
    let messages = json!([{"role": "user", "content": {"type": "text", "text": prompt}}]);
    json!({"method": "sampling/createMessage", "params": {"messages": messages, "maxTokens": 100}})
}

pub fn roots_question() -> Value {
    json!({"method": "roots/list"})
}
