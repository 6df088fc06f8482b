//! The tools that the example servers offer.

use std::error::Error;

use barewire::Json;
use serde::Deserialize;

/// Their definitions.
pub(crate) const TOOLS: [&str; 5] = [
    r#"{"name":"echo","description":"Return the text.","inputSchema":{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}}"#,
    r#"{"name":"add","description":"Add two integers.","inputSchema":{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"}},"required":["a","b"]},"outputSchema":{"type":"object","properties":{"sum":{"type":"integer"}},"required":["sum"]}}"#,
    r#"{"name":"big","description":"Return n KiB of text.","inputSchema":{"type":"object","properties":{"kib":{"type":"integer"}},"required":["kib"]}}"#,
    r#"{"name":"sink","description":"Return the length of the text.","inputSchema":{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}}"#,
    r#"{"name":"progress","description":"Report progress n times.","inputSchema":{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}}"#,
];

/// Arguments of all five tools.
#[derive(Deserialize, Default)]
struct Arguments<'a> {
    #[serde(borrow, default)]
    text: std::borrow::Cow<'a, str>,
    #[serde(default)]
    a: i64,
    #[serde(default)]
    b: i64,
    #[serde(default)]
    kib: usize,
    #[serde(default)]
    n: u32,
}

/// What became of a call.
pub(crate) enum Outcome {
    /// The text of the result object.
    Result(String),
    /// The arguments do not fit, because of this.
    InvalidArguments(String),
}

/// Runs a tool. `report` is told how far it is, and of how much.
pub(crate) fn call(
    tool: &str,
    arguments: Option<&Json>,
    mut report: impl FnMut(f64, f64) -> Result<(), Box<dyn Error>>,
) -> Result<Outcome, Box<dyn Error>> {
    let arguments = match arguments.map(Json::parse::<Arguments>).transpose() {
        Ok(arguments) => arguments.unwrap_or_default(),
        Err(error) => return Ok(Outcome::InvalidArguments(error.to_string())),
    };
    let result = match tool {
        "echo" => text(&arguments.text)?,
        "add" => format!(
            r#"{{"content":[],"structuredContent":{{"sum":{}}}}}"#,
            arguments.a.wrapping_add(arguments.b)
        ),
        "big" => text(
            &"All work and no play makes \"Jack\" a dull boy, so he went home.\n ".repeat(arguments.kib * 16),
        )?,
        "sink" => text(&arguments.text.len().to_string())?,
        _ => {
            for step in 1..=arguments.n {
                report(f64::from(step), f64::from(arguments.n))?;
            }
            text(&format!("sent {}", arguments.n))?
        }
    };
    Ok(Outcome::Result(result))
}

/// A result that is one block of text.
fn text(text: &str) -> Result<String, serde_json::Error> {
    let mut result = Vec::with_capacity(text.len() + text.len() / 8 + 64);
    result.extend_from_slice(br#"{"content":[{"type":"text","text":"#);
    serde_json::to_writer(&mut result, text)?;
    result.extend_from_slice(b"}]}");
    String::from_utf8(result).map_err(serde::ser::Error::custom)
}
