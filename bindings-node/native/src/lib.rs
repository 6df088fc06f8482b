//! The native addon of the Node package: the core behind plain functions, for `bindings-node/src` alone.
//!
//! It holds no protocol decision. A machine is one opaque value, and every function takes it first. What a call of a
//! method of a native class costs, and many small values, would be most of the time of a message; so these are free
//! functions, and everything that a call tells comes back as one text (see `batch`). Errors come back as values, from
//! which JavaScript makes its own.

// In a build for tests nothing is registered with Node.
#![cfg_attr(test, allow(dead_code))]

mod authorization;
mod batch;
mod byte_stream;
mod child;
mod client;
mod config;
mod errors;
mod events;
mod file_lock;
mod guard;
mod http_client;
mod http_server;
mod http_short;
mod names;
mod resource_server;
mod server;

use barewire::uri_template::UriTemplate;
use barewire::{Capability, Era, LogLevel, Revision, Revisions, RpcError};
use napi::Either;
use napi::bindgen_prelude::Uint8Array;
use napi_derive::napi;

use crate::errors::{Failure, Outcome};

/// What the core knows and JavaScript keeps no list of, as JSON.
#[napi]
pub(crate) fn facts() -> String {
    let revisions = Revisions::ALL;
    serde_json::json!({
        "version": env!("CARGO_PKG_VERSION"),
        "revisions": revisions.newest_first().map(Revision::as_str).collect::<Vec<_>>(),
        "legacyRevisions": revisions.of_era(Era::Legacy).map(Revision::as_str).collect::<Vec<_>>(),
        "modernRevisions": revisions.of_era(Era::Modern).map(Revision::as_str).collect::<Vec<_>>(),
        "logLevels": LogLevel::ALL.map(LogLevel::as_str),
        "capabilities": Capability::ALL.map(Capability::path),
        "invalidParams": RpcError::INVALID_PARAMS,
        "internalError": RpcError::INTERNAL_ERROR,
        "resourceNotFound": RpcError::RESOURCE_NOT_FOUND,
    })
    .to_string()
}

/// The names of the variables of a URI template, in its order.
#[napi]
#[allow(clippy::needless_pass_by_value, reason = "strings of JavaScript are owned")]
pub(crate) fn template_variables(template: String) -> Either<Vec<String>, String> {
    let variables = UriTemplate::parse(&template)
        .map(|template| template.variable_names().map(String::from).collect())
        .map_err(|error| Failure::Argument(error.to_string()));
    variables.given()
}

/// 32 bytes from the random generator of the system, where it has one that works.
///
/// JavaScript has one too, which takes longer to load than a server takes to start.
#[napi]
pub(crate) fn random_seed() -> Option<Uint8Array> {
    let mut seed = [0; 32];
    getrandom::fill(&mut seed).ok().map(|()| seed.to_vec().into())
}

/// Whether a tool's name is one that the specification advises.
#[napi]
#[allow(clippy::needless_pass_by_value, reason = "strings of JavaScript are owned")]
pub(crate) fn is_recommended_tool_name(name: String) -> bool {
    barewire::model::is_recommended_tool_name(&name)
}
