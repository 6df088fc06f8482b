//! Messages of the protocol by name, each built from one or two of the server's commands.

use alloc::string::String;

use crate::error::{ApiMisuse, Error};
use crate::json::{Json, MAX_DEPTH, scan};
use crate::jsonrpc::RpcError;
use crate::machine::{RequestHandle, SessionHandle};
use crate::revision::Method;
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

    /// Asks a legacy client whether it is there; `ResponseReceived` follows.
    ///
    /// # Errors
    /// As [`request`](Self::request).
    pub fn ping(&mut self, now: Instant, session: SessionHandle) -> Result<RequestHandle, Error> {
        self.request(now, session, Method::Ping.name(), None)
    }
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
