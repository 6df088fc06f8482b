//! Messages of the protocol by name, each built from one or two of the server's commands.

use alloc::string::String;

use crate::error::{ApiMisuse, Error};
use crate::json::Json;
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
        let error = RpcError::new(
            RpcError::MISSING_CLIENT_CAPABILITY,
            "The client did not declare a capability that this request needs",
        );
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
