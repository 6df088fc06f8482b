//! barewire for languages that uniffi writes sources for: the sans-IO floor of the core for Kotlin, Swift and Ruby.
//!
//! It holds no protocol decision: it moves bytes, handles and events between those languages and the core, and copies what
//! it moves. Every object may be shared by threads, which take turns. Payloads are JSON as text, handles are numbers.
//!
//! | module | holds |
//! |---|---|
//! | [`server`], [`client`] | the two roles on a byte stream, and the commands of each |
//! | [`http_server`], [`http_client`] | the two roles over HTTP |
//! | [`child`] | the steps that end a child process |
//! | [`events`], [`values`], [`config`], [`errors`] | what goes in and out |

pub mod child;
pub mod client;
pub mod config;
pub mod errors;
pub mod events;
mod guard;
pub mod http_client;
pub mod http_server;
pub mod server;
pub mod values;

use barewire::uri_template::UriTemplate;
use barewire::{Capability, Revision, Revisions, RpcError};

use crate::errors::{McpError, Outcome};
use crate::values::Era;

uniffi::setup_scaffolding!("barewire");

/// The version of the library.
#[uniffi::export]
pub fn library_version() -> String {
    env!("CARGO_PKG_VERSION").into()
}

/// The names of all revisions of the protocol, newest first.
#[uniffi::export]
pub fn revisions() -> Vec<String> {
    Revisions::ALL.newest_first().map(Revision::as_str).map(String::from).collect()
}

/// The names of the revisions of one era, newest first.
#[uniffi::export]
pub fn revisions_of(era: Era) -> Vec<String> {
    Revisions::ALL.of_era(era).map(Revision::as_str).map(String::from).collect()
}

/// The paths of all capabilities that the core knows, such as `sampling.tools`.
#[uniffi::export]
pub fn known_capabilities() -> Vec<String> {
    Capability::ALL.map(Capability::path).map(String::from).into()
}

/// The names of the variables of a URI template (RFC 6570), in its order.
#[uniffi::export]
pub fn template_variables(template: &str) -> Outcome<Vec<String>> {
    let template = UriTemplate::parse(template).map_err(McpError::argument)?;
    Ok(template.variable_names().map(String::from).collect())
}

/// Whether a tool's name is one that the specification advises (server/tools).
#[uniffi::export]
pub fn is_recommended_tool_name(name: &str) -> bool {
    barewire::model::is_recommended_tool_name(name)
}

/// Codes of errors that an application answers with.
#[derive(Clone, Debug, PartialEq, Eq, uniffi::Record)]
pub struct ErrorCodes {
    /// The parameters are wrong.
    pub invalid_params: i64,
    /// The handler failed.
    pub internal_error: i64,
    /// No such resource.
    pub resource_not_found: i64,
}

/// The codes of errors that an application answers with.
#[uniffi::export]
pub fn error_codes() -> ErrorCodes {
    ErrorCodes {
        invalid_params: RpcError::INVALID_PARAMS,
        internal_error: RpcError::INTERNAL_ERROR,
        resource_not_found: RpcError::RESOURCE_NOT_FOUND,
    }
}
