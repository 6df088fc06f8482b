//! Error codes that not every revision may see.

use alloc::string::String;

use super::text::one_line;
use super::{Method, Revision, Revisions};
use crate::json::Json;
use crate::jsonrpc::{RpcError, write};

/// A code of some revisions, and what stands for it in the others.
struct Code {
    code: i64,
    revisions: Revisions,
    instead: i64,
}

/// A URL elicitation is required (client/elicitation, 2025-11-25).
const URL_ELICITATION_REQUIRED: i64 = -32042;

const CODES: [Code; 6] = [
    Code {
        code: RpcError::RESOURCE_NOT_FOUND,
        revisions: Revisions::LEGACY,
        instead: RpcError::INVALID_PARAMS,
    },
    Code {
        code: URL_ELICITATION_REQUIRED,
        revisions: Revisions::of(&[Revision::V2025_11_25]),
        instead: RpcError::INTERNAL_ERROR,
    },
    Code { code: RpcError::USER_REFUSED, revisions: Revisions::LEGACY, instead: RpcError::INTERNAL_ERROR },
    Code {
        code: RpcError::HEADER_MISMATCH,
        revisions: Revisions::MODERN,
        instead: RpcError::INVALID_REQUEST,
    },
    Code {
        code: RpcError::MISSING_CLIENT_CAPABILITY,
        revisions: Revisions::MODERN,
        instead: RpcError::INVALID_REQUEST,
    },
    Code {
        code: RpcError::UNSUPPORTED_PROTOCOL_VERSION,
        revisions: Revisions::MODERN,
        instead: RpcError::INVALID_PARAMS,
    },
];

/// Codes kept for the specification from 2026-07-28 on: none is sent that it does not define
/// (basic/index, Error Codes).
const KEPT_FOR_THE_SPECIFICATION: core::ops::RangeInclusive<i64> = -32099..=-32020;

/// `error` with the code that `revision` has for it, and its data on one line. `method` is the request it
/// answers, if that is the protocol's own.
pub(crate) fn project_error(mut error: RpcError, method: Option<Method>, revision: Revision) -> RpcError {
    let names_resource = || error.data.as_ref().is_some_and(|data| data.member("uri").is_some());
    if let Some(code) = CODES.iter().find(|code| code.code == error.code) {
        if !code.revisions.contains(revision) {
            error.code = code.instead;
        }
    } else if error.code == RpcError::INVALID_PARAMS
        && method == Some(Method::ResourcesRead)
        && names_resource()
        && Revisions::LEGACY.contains(revision)
    {
        error.code = RpcError::RESOURCE_NOT_FOUND;
    } else if Revisions::MODERN.contains(revision) && KEPT_FOR_THE_SPECIFICATION.contains(&error.code) {
        error.code = RpcError::INTERNAL_ERROR;
    }
    if let Some(data) = &error.data
        && data.as_str().contains(['\n', '\r'])
    {
        error.data = Some(Json::trusted(&one_line(data.as_str())));
    }
    error
}

/// The error for a resource that does not exist (server/resources, Error Handling).
pub(crate) fn resource_not_found(revision: Revision, uri: &str) -> RpcError {
    let mut data = String::from("{\"uri\":");
    write::string(&mut data, uri);
    data.push('}');
    let error =
        RpcError::new(RpcError::RESOURCE_NOT_FOUND, "Resource not found").with_data(Json::trusted(&data));
    project_error(error, Some(Method::ResourcesRead), revision)
}
