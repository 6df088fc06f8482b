//! Messages of the protocol by name, each built from one or two of the server's commands.

use alloc::string::String;

use crate::error::{ApiMisuse, Error};
use crate::json::{Json, MAX_DEPTH, scan};
use crate::jsonrpc::{RpcError, write};
use crate::machine::{RequestHandle, SessionHandle};
use crate::revision::{Method, Written};
use crate::time::Instant;

use super::Server;

impl Server {
    /// Answers a request that cannot be served because its client lacks capabilities. `required` is the text
    /// of a `ClientCapabilities` object that names what is missing, as in
    /// [`MissingCapability`](crate::PeerIncompatible::MissingCapability).
    ///
    /// # Errors
    /// As [`respond`](Self::respond).
    pub fn respond_missing_capability(
        &mut self,
        request: RequestHandle,
        required: &str,
    ) -> Result<(), Error> {
        let required = Json::new(required).map_err(|_| ApiMisuse::InvalidJson)?;
        let mut data = String::from("{\"requiredCapabilities\":");
        data.push_str(required.as_str());
        data.push('}');
        let mut message = String::from("The client did not declare a capability that this request needs");
        push_names(&mut message, required.as_str());
        let error = RpcError::new(RpcError::MISSING_CLIENT_CAPABILITY, &message);
        self.respond_error(request, error.with_data(Json::trusted(&data)))
    }

    /// Answers the call of a tool with one block of text (server/tools).
    ///
    /// # Errors
    /// As [`respond`](Self::respond).
    pub fn respond_text(&mut self, request: RequestHandle, text: &str) -> Result<(), Error> {
        self.answer_with(request, &Written::text(TEXT_FRONT, text, "}]"))
    }

    /// Answers the call of a tool that failed, with one block of text that tells the model why (server/tools, Error
    /// Handling).
    ///
    /// # Errors
    /// As [`respond`](Self::respond).
    pub fn respond_tool_error(&mut self, request: RequestHandle, text: &str) -> Result<(), Error> {
        self.answer_with(request, &Written::text(TEXT_FRONT, text, "}],\"isError\":true"))
    }

    /// Answers the request for a prompt with one message of the user (server/prompts).
    ///
    /// # Errors
    /// As [`respond`](Self::respond).
    pub fn respond_prompt_text(&mut self, request: RequestHandle, text: &str) -> Result<(), Error> {
        let front = "\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":";
        self.answer_with(request, &Written::text(front, text, "}}]"))
    }

    /// Answers the read of a resource with text (server/resources).
    ///
    /// # Errors
    /// As [`respond`](Self::respond).
    pub fn respond_resource_text(
        &mut self,
        request: RequestHandle,
        uri: &str,
        mime_type: Option<&str>,
        text: &str,
    ) -> Result<(), Error> {
        let front = resource_front(uri, mime_type, "text");
        self.answer_with(request, &Written::text(&front, text, "}]"))
    }

    /// Answers the read of a resource with bytes (server/resources).
    ///
    /// # Errors
    /// As [`respond`](Self::respond).
    pub fn respond_resource_blob(
        &mut self,
        request: RequestHandle,
        uri: &str,
        mime_type: Option<&str>,
        data: &[u8],
    ) -> Result<(), Error> {
        let front = resource_front(uri, mime_type, "blob");
        self.answer_with(request, &Written::bytes(&front, data, "}]"))
    }

    /// Answers a request for suggestions with up to 100 values; more are left out, as the protocol wants it, and told by
    /// their number (server/utilities/completion).
    ///
    /// # Errors
    /// As [`respond`](Self::respond).
    pub fn respond_completion(&mut self, request: RequestHandle, values: &[&str]) -> Result<(), Error> {
        const MOST: usize = 100;
        let mut result = String::from("{\"completion\":{\"values\":[");
        for (at, value) in values.iter().take(MOST).enumerate() {
            if at > 0 {
                result.push(',');
            }
            write::string(&mut result, value);
        }
        result.push_str("],\"total\":");
        write::integer(&mut result, i64::try_from(values.len()).unwrap_or(i64::MAX));
        result.push_str(if values.len() > MOST { ",\"hasMore\":true}}" } else { ",\"hasMore\":false}}" });
        self.respond(request, result)
    }

    /// Asks a legacy client whether it is there; `ResponseReceived` follows.
    ///
    /// # Errors
    /// As [`request`](Self::request).
    pub fn ping(&mut self, now: Instant, session: SessionHandle) -> Result<RequestHandle, Error> {
        self.request(now, session, Method::Ping.name(), None)
    }
}

/// What stands before the text of a result that is one block of text.
const TEXT_FRONT: &str = "\"content\":[{\"type\":\"text\",\"text\":";

/// The beginning of the result of a read, up to the value of the member `holder`.
fn resource_front(uri: &str, mime_type: Option<&str>, holder: &str) -> String {
    let mut front = String::from("\"contents\":[{\"uri\":");
    write::string(&mut front, uri);
    if let Some(mime_type) = mime_type {
        write::string_member(&mut front, "mimeType", mime_type);
    }
    front.push_str(",\"");
    front.push_str(holder);
    front.push_str("\":");
    front
}

/// Adds what a capabilities object names, as paths of its members: people seldom see the data of an error.
fn push_names(out: &mut String, capabilities: &str) {
    let start = out.len();
    let mut push = |outer: &str, inner: Option<&str>| {
        out.push_str(if out.len() > start { ", " } else { ": " });
        out.push_str(outer);
        if let Some(inner) = inner {
            out.push('.');
            out.push_str(inner);
        }
    };
    // What is no object names nothing.
    let _ = scan::object_members(capabilities, MAX_DEPTH, |name, value| {
        let (outer, members) = (&capabilities[name], &capabilities[value]);
        let mut is_whole = true;
        let _ = scan::object_members(members, MAX_DEPTH, |name, _| {
            is_whole = false;
            push(outer, Some(&members[name]));
        });
        if is_whole {
            push(outer, None);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capabilities_are_named_by_their_paths() {
        for (capabilities, names) in [
            (r#"{"sampling":{}}"#, ": sampling"),
            (
                r#"{ "elicitation": {"form":{}, "url" : {}}, "roots":{} }"#,
                ": elicitation.form, elicitation.url, roots",
            ),
            (r#"{"extensions":{"com.example/a":{"b":{}}},"x":true}"#, ": extensions.com.example/a, x"),
            ("{}", ""),
            ("[]", ""),
        ] {
            let mut out = String::from("needs");
            push_names(&mut out, capabilities);
            assert_eq!(out.strip_prefix("needs"), Some(names), "{capabilities}");
        }
    }
}
