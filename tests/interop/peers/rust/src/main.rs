//! The interop peer on the crate `rmcp`: `rmcp server --http PORT` and `rmcp client --revision REVISION --url URL`.
//!
//! The server offers what the other peer servers offer. The client has no checks of its own: it does what it is
//! told in lines of JSON, and `client_rmcp.py` walks it through the checks of the Python clients.

#![expect(deprecated, reason = "revisions that have logging, sampling and roots are served")]

mod catalog;
mod client;
mod server;

use serde::de::DeserializeOwned;
use serde_json::Value;

type Failure = Box<dyn std::error::Error>;

/// A value of the SDK from its JSON; a mistake of these programs ends them.
fn typed<T: DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).expect("the JSON has the shape of the type")
}

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let outcome = match words[..] {
        ["server", "--http", port] => runtime.block_on(server::serve(port.parse()?)),
        ["client", "--revision", revision, "--url", url] => runtime.block_on(client::run(revision, url)),
        _ => Err("usage: rmcp server --http PORT | client --revision REVISION --url URL".into()),
    };
    // The thread that reads standard input cannot be stopped, so it is not waited for.
    runtime.shutdown_background();
    outcome
}
