//! A server on standard input and output: a blocking loop, no runtime, no threads.
//!
//! `cargo run --release --example stdio_server`

use std::error::Error;
use std::io::{Read, Write};
use std::time::Instant as Clock;

use barewire::server::{Event, Notification, Server};
use barewire::transport::Stdio;
use barewire::{Implementation, Instant, Json, RequestHandle, ServerConfig};
use serde::Deserialize;

const TOOLS: [&str; 5] = [
    r#"{"name":"echo","description":"Return the text.","inputSchema":{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}}"#,
    r#"{"name":"add","description":"Add two integers.","inputSchema":{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"}},"required":["a","b"]},"outputSchema":{"type":"object","properties":{"sum":{"type":"integer"}},"required":["sum"]}}"#,
    r#"{"name":"big","description":"Return n KiB of text.","inputSchema":{"type":"object","properties":{"kib":{"type":"integer"}},"required":["kib"]}}"#,
    r#"{"name":"sink","description":"Return the length of the text.","inputSchema":{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}}"#,
    r#"{"name":"progress","description":"Report progress n times.","inputSchema":{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}}"#,
];

fn main() -> Result<(), Box<dyn Error>> {
    let mut seed = [0; 32];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut seed)?;
    let mut server =
        Stdio::new(Server::new(ServerConfig::new(Implementation::new("example", "1.0.0"), seed))?);
    for tool in TOOLS {
        server.machine_mut().add_tool(tool)?;
    }
    let started = clock();
    let mut buffer = vec![0; 64 << 10];
    while !server.is_finished() {
        let count = std::io::stdin().read(&mut buffer)?;
        let now = Instant::from_millis(started.elapsed().as_millis().try_into()?);
        match count {
            0 => server.receive_eof(now)?,
            _ => server.receive_data(now, &buffer[..count])?,
        }
        while let Some(event) = barewire::Machine::poll_event(server.machine_mut()) {
            if let Event::ToolCalled { request, name, arguments, .. } = event {
                call(&mut server, request, &name, arguments.as_ref())?;
            }
        }
        flush(&mut server)?;
    }
    Ok(())
}

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

fn call(
    server: &mut Stdio<Server>,
    request: RequestHandle,
    tool: &str,
    arguments: Option<&Json>,
) -> Result<(), Box<dyn Error>> {
    let arguments = match arguments.map(Json::parse::<Arguments>).transpose() {
        Ok(arguments) => arguments.unwrap_or_default(),
        Err(error) => {
            return Ok(server.machine_mut().respond_invalid_arguments(request, &error.to_string())?);
        }
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
                let (progress, total) = (f64::from(step), Some(f64::from(arguments.n)));
                server
                    .machine_mut()
                    .notify(request, Notification::Progress { progress, total, message: None })?;
                flush(server)?;
            }
            text(&format!("sent {}", arguments.n))?
        }
    };
    Ok(server.machine_mut().respond(request, result)?)
}

/// A result that is one block of text.
fn text(text: &str) -> Result<String, serde_json::Error> {
    let mut result = Vec::with_capacity(text.len() + text.len() / 8 + 64);
    result.extend_from_slice(br#"{"content":[{"type":"text","text":"#);
    serde_json::to_writer(&mut result, text)?;
    result.extend_from_slice(b"}]}");
    String::from_utf8(result).map_err(serde::ser::Error::custom)
}

fn flush(server: &mut Stdio<Server>) -> std::io::Result<()> {
    let mut output = std::io::stdout().lock();
    loop {
        let data = server.data_to_send();
        if data.is_empty() {
            return output.flush();
        }
        output.write_all(data)?;
        let count = data.len();
        server.consume(count);
    }
}

#[allow(clippy::disallowed_methods, reason = "the host measures time")]
fn clock() -> Clock {
    Clock::now()
}
