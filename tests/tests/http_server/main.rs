//! The real server behind the real transport, as clients of every era see it.

mod headers;
mod legacy;
mod modern;
mod older;

use barewire_tests::site::Response;
use serde_json::Value;

/// Headers beside the common ones.
type More<'a> = &'a [(&'a str, &'a str)];

/// The one message of a response.
fn message(response: &Response) -> Value {
    let messages = response.messages();
    assert_eq!(messages.len(), 1, "{response:?}");
    serde_json::from_str(messages[0]).unwrap_or_else(|error| panic!("{error}: {response:?}"))
}

/// The status and the error code of a refusal.
fn refusal(response: &Response) -> (u16, i64) {
    (response.status, message(response)["error"]["code"].as_i64().expect("a code"))
}
