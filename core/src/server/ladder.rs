//! The checks that a modern request climbs before anything is done for it; the first that fails answers it.
//!
//! They are: `_meta` is complete, the headers of HTTP say the same as the message, the version is served, the method
//! is offered, the headers for arguments of a tool agree with them, and what `_meta` asks for is valid.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::jsonrpc::RpcError;
use crate::logging::LogLevel;
use crate::revision::{Capabilities, Direction, Era, Kind, Method, Revision, Revisions, meta as keys};

use super::catalog::Catalog;
use super::intake::Arrival;
use super::text::{Meta, object, present, string};
use super::{headers, refusal};

/// What a server serves.
#[derive(Clone, Copy)]
pub(super) struct Offer<'a> {
    pub(super) revisions: Revisions,
    pub(super) capabilities: &'a Capabilities,
    pub(super) extension_methods: &'a [Box<str>],
}

/// What a request is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// A method of the protocol.
    Core(Method),
    /// A method that the application asked to see.
    Extension,
}

/// A modern request whose envelope is in order.
#[derive(Debug)]
pub(super) struct Accepted<'a> {
    pub(super) revision: Revision,
    pub(super) target: Target,
    /// The text of the `ClientCapabilities` object.
    pub(super) capabilities: &'a str,
    /// The text of the client's `Implementation` object.
    pub(super) client: Option<&'a str>,
    pub(super) log_level: Option<LogLevel>,
}

/// Climbs the ladder.
pub(super) fn climb<'a>(
    arrival: &Arrival<'a>,
    offer: Offer<'_>,
    catalog: &Catalog,
) -> Result<Accepted<'a>, RpcError> {
    let Arrival { method, params, meta, .. } = arrival;
    let mirror = arrival.envelope.mirror;
    let (requested, capabilities) = complete_meta(meta, offer.revisions)?;
    if let Some(mirror) = mirror {
        headers::check(mirror, &requested, method, params)?;
    }
    let revision = Revision::from_name(&requested)
        .filter(|revision| revision.era() == Era::Modern && offer.revisions.contains(*revision))
        .ok_or_else(|| refusal::unsupported_version(&requested, offer.revisions))?;
    let target = find_method(method, revision, offer)?;
    if let Some(mirror) = mirror.filter(|_| target == Target::Core(Method::ToolsCall))
        && let Some(headers) = string(params.name).and_then(|name| catalog.param_headers(&name))
    {
        headers::check_params(mirror, headers, params)?;
    }
    let log_level = log_level(meta)?;
    Ok(Accepted { revision, target, capabilities, client: object(meta.client_info), log_level })
}

fn complete_meta<'a>(meta: &Meta<'a>, supported: Revisions) -> Result<(Cow<'a, str>, &'a str), RpcError> {
    match (string(meta.protocol_version), object(meta.client_capabilities)) {
        (Some(version), Some(capabilities)) => Ok((version, capabilities)),
        _ => Err(refusal::missing_meta(&missing_keys(meta), supported)),
    }
}

/// The keys that `_meta` of every modern request must have, with a usable value, and that this one lacks
/// (basic/index, 2026-07-28).
pub(super) fn missing_keys(meta: &Meta<'_>) -> Vec<&'static str> {
    let mut missing = Vec::new();
    if string(meta.protocol_version).is_none() {
        missing.push(keys::PROTOCOL_VERSION);
    }
    if object(meta.client_capabilities).is_none() {
        missing.push(keys::CLIENT_CAPABILITIES);
    }
    missing
}

/// The target of a request named `name`, if the server offers it in `revision`.
pub(super) fn find_method(name: &str, revision: Revision, offer: Offer<'_>) -> Result<Target, RpcError> {
    let Some(method) = Method::from_name(name) else {
        return if offer.extension_methods.iter().any(|extension| **extension == *name) {
            Ok(Target::Extension)
        } else {
            Err(refusal::method_not_found(name))
        };
    };
    let row = method.row();
    let taken = row.kind == Kind::Request
        && row.direction != Direction::ServerToClient
        && row.revisions.contains(revision)
        && row.capability.is_none_or(|capability| offer.capabilities.has(capability));
    if taken { Ok(Target::Core(method)) } else { Err(refusal::method_not_found(name)) }
}

fn log_level(meta: &Meta<'_>) -> Result<Option<LogLevel>, RpcError> {
    let Some(token) = present(meta.log_level) else { return Ok(None) };
    match string(Some(token)).and_then(|name| LogLevel::from_name(&name)) {
        Some(level) => Ok(Some(level)),
        None => Err(refusal::invalid_params("unknown log level")),
    }
}
