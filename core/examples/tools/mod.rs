//! The tools that the example servers offer.

use std::borrow::Cow;
use std::error::Error;

use barewire::{Json, JsonText};

/// Their definitions.
pub(crate) const TOOLS: [&str; 5] = [
    r#"{"name":"echo","description":"Return the text.","inputSchema":{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}}"#,
    r#"{"name":"add","description":"Add two integers.","inputSchema":{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"}},"required":["a","b"]},"outputSchema":{"type":"object","properties":{"sum":{"type":"integer"}},"required":["sum"]}}"#,
    r#"{"name":"big","description":"Return n KiB of text.","inputSchema":{"type":"object","properties":{"kib":{"type":"integer"}},"required":["kib"]}}"#,
    r#"{"name":"sink","description":"Return the length of the text.","inputSchema":{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}}"#,
    r#"{"name":"progress","description":"Report progress n times.","inputSchema":{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}}"#,
];

/// What became of a call.
pub(crate) enum Outcome<'a> {
    /// A text.
    Text(Cow<'a, str>),
    /// The text of a result object.
    Result(String),
    /// The arguments do not fit, because of this.
    InvalidArguments(String),
}

/// Runs a tool. `report` is told how far it is, and of how much.
pub(crate) fn call<'a>(
    tool: &str,
    arguments: Option<&'a Json>,
    mut report: impl FnMut(f64, f64) -> Result<(), Box<dyn Error>>,
) -> Result<Outcome<'a>, Box<dyn Error>> {
    let arguments = Arguments(arguments);
    let outcome = match tool {
        "echo" => arguments.text("text").map(Outcome::Text),
        "add" => arguments.add().map(Outcome::Result),
        "big" => arguments.number::<usize>("kib").map(|kib| Outcome::Text(LINE.repeat(kib * 16).into())),
        "sink" => arguments.text("text").map(|text| Outcome::Text(text.len().to_string().into())),
        _ => match arguments.number::<u32>("n") {
            Ok(count) => {
                for step in 1..=count {
                    report(f64::from(step), f64::from(count))?;
                }
                Ok(Outcome::Text(format!("sent {count}").into()))
            }
            Err(reason) => Err(reason),
        },
    };
    Ok(outcome.unwrap_or_else(Outcome::InvalidArguments))
}

const LINE: &str = "All work and no play makes \"Jack\" a dull boy, so he went home.\n ";

/// The arguments of a call, read where they lie.
struct Arguments<'a>(Option<&'a Json>);

impl<'a> Arguments<'a> {
    fn get(&self, name: &str) -> Option<JsonText<'a>> {
        self.0?.as_text().find_in(&format!("/{name}")).ok()
    }

    fn text(&self, name: &str) -> Result<Cow<'a, str>, String> {
        self.get(name).and_then(JsonText::to_text).ok_or_else(|| format!("{name} is not a string"))
    }

    fn number<T: TryFrom<i64>>(&self, name: &str) -> Result<T, String> {
        let number = self.get(name).and_then(JsonText::as_i64);
        number.and_then(|number| number.try_into().ok()).ok_or_else(|| format!("{name} is not such a number"))
    }

    fn add(&self) -> Result<String, String> {
        let (a, b): (i64, i64) = (self.number("a")?, self.number("b")?);
        Ok(format!(r#"{{"content":[],"structuredContent":{{"sum":{}}}}}"#, a.wrapping_add(b)))
    }
}
