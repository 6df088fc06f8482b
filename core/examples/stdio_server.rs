//! A server on standard input and output: a blocking loop, no runtime, no threads.
//!
//! `cargo run --release --example stdio_server`

mod tools;

use std::error::Error;
use std::io::{Read, Write};
use std::time::Instant as Clock;

use barewire::server::{Event, Notification, Server};
use barewire::transport::Stdio;
use barewire::{Implementation, Instant, Json, RequestHandle, ServerConfig};

use tools::Outcome;

fn main() -> Result<(), Box<dyn Error>> {
    let mut seed = [0; 32];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut seed)?;
    let mut server =
        Stdio::new(Server::new(ServerConfig::new(Implementation::new("example", "1.0.0"), seed))?);
    for tool in tools::TOOLS {
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

fn call(
    server: &mut Stdio<Server>,
    request: RequestHandle,
    tool: &str,
    arguments: Option<&Json>,
) -> Result<(), Box<dyn Error>> {
    let outcome = tools::call(tool, arguments, |progress, total| {
        let notification = Notification::Progress { progress, total: Some(total), message: None };
        server.machine_mut().notify(request, notification)?;
        Ok(flush(server)?)
    })?;
    match outcome {
        Outcome::Text(text) => server.machine_mut().respond_text(request, &text)?,
        Outcome::Result(result) => server.machine_mut().respond(request, result)?,
        Outcome::InvalidArguments(reason) => {
            server.machine_mut().respond_invalid_arguments(request, &reason)?;
        }
    }
    Ok(())
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
