//! The errors with which the server itself refuses, worded once.

use alloc::format;
use alloc::string::String;
use core::fmt::Write as _;

use crate::json::Json;
use crate::jsonrpc::{RpcError, write};
use crate::revision::{Era, Revision, Revisions};

/// The method does not exist in the revision, or stands behind a capability that is not offered.
pub(super) fn method_not_found(name: &str) -> RpcError {
    RpcError::new(RpcError::METHOD_NOT_FOUND, &format!("Method not found: {name}"))
}

pub(super) fn invalid_params(detail: &str) -> RpcError {
    RpcError::new(RpcError::INVALID_PARAMS, &format!("Invalid params: {detail}"))
}

pub(super) fn invalid_request(detail: &str) -> RpcError {
    RpcError::new(RpcError::INVALID_REQUEST, &format!("Invalid request: {detail}"))
}

/// The client no longer wants the answer, but its exchange has to end.
pub(super) fn cancelled() -> RpcError {
    RpcError::new(RpcError::REQUEST_CANCELLED, "The request was cancelled")
}

/// A bound of this server is reached.
pub(super) fn overloaded(what: &str) -> RpcError {
    RpcError::new(RpcError::INTERNAL_ERROR, &format!("Too many {what}"))
}

/// `params._meta` lacks required keys (basic/index, 2026-07-28). `supported` helps a legacy client that never
/// shook hands.
pub(super) fn missing_meta(keys: &[&str], supported: Revisions) -> RpcError {
    let mut message = String::from("Invalid params: _meta lacks");
    for (at, key) in keys.iter().enumerate() {
        message.push_str(if at == 0 { " " } else { ", " });
        message.push_str(key);
    }
    let mut data = String::from("{\"missing\":[");
    list(&mut data, keys.iter().copied());
    data.push_str("],\"supported\":[");
    list(&mut data, supported.newest_first().map(Revision::as_str));
    data.push_str("]}");
    RpcError::new(RpcError::INVALID_PARAMS, &message).with_data(Json::trusted(&data))
}

/// A header and the message disagree (basic/transports/streamable-http, 2026-07-28).
pub(super) fn header_mismatch(header: &str, how: &str) -> RpcError {
    RpcError::new(RpcError::HEADER_MISMATCH, &format!("Header mismatch: {header} {how}"))
}

/// A request names neither a session nor a revision that needs none, and is told how to do either.
pub(super) fn session_missing(session: &str, version: &str, served: Revisions) -> RpcError {
    let mut detail = format!("{session} is missing; initialize opens a session");
    if let Some(modern) = served.of_era(Era::Modern).next() {
        // Writing to a String cannot fail.
        let _ = write!(detail, ", and {version}: {} needs none", modern.as_str());
    }
    invalid_request(&detail)
}

/// The header that names the revision is missing, and none can be taken for granted.
pub(super) fn version_header_missing(header: &str, supported: Revisions) -> RpcError {
    let mut message = format!("Header mismatch: {header} is missing; supported:");
    let mut data = String::from("{\"supported\":[");
    list(&mut data, supported.newest_first().map(Revision::as_str));
    data.push_str("]}");
    for revision in supported.newest_first() {
        message.push(' ');
        message.push_str(revision.as_str());
    }
    RpcError::new(RpcError::HEADER_MISMATCH, &message).with_data(Json::trusted(&data))
}

/// The revision is not served (basic/versioning, 2026-07-28). `requested` is as the client wrote it, decoded.
pub(super) fn unsupported_version(requested: &str, supported: Revisions) -> RpcError {
    let mut message = String::from("Unsupported protocol version; supported:");
    let mut data = String::from("{\"supported\":[");
    list(&mut data, supported.newest_first().map(Revision::as_str));
    data.push_str("],\"requested\":");
    write::string(&mut data, requested);
    data.push('}');
    for revision in supported.newest_first() {
        message.push(' ');
        message.push_str(revision.as_str());
    }
    RpcError::new(RpcError::UNSUPPORTED_PROTOCOL_VERSION, &message).with_data(Json::trusted(&data))
}

fn list<'a>(out: &mut String, names: impl Iterator<Item = &'a str>) {
    for (at, name) in names.enumerate() {
        if at > 0 {
            out.push(',');
        }
        write::string(out, name);
    }
}
