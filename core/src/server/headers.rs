//! The headers of an HTTP request that repeat parts of its message: they have to say what the message says, as
//! whoever stood between may have acted on them (basic/transports/streamable-http, 2026-07-28; pure).

use alloc::format;

use crate::jsonrpc::RpcError;
use crate::machine::{HeaderValue, Mirror};
use crate::mirror;
use crate::mirror::params::ParamHeaders;
use crate::revision::{Method, Revisions};

use super::refusal;
use super::text::{Meta, Params, present, string};

/// Names the revision.
pub(super) const VERSION: &str = "MCP-Protocol-Version";
/// Names the session of a revision that has them.
pub(super) const SESSION: &str = "Mcp-Session-Id";
/// Repeats the method.
const METHOD: &str = "Mcp-Method";
/// Repeats the name of the target.
const NAME: &str = "Mcp-Name";
/// What the name of a header for an argument begins with.
const PARAM: &str = "Mcp-Param-";

/// Checks the headers of a request that names `version`.
pub(super) fn check(
    mirror: &Mirror<'_>,
    version: &str,
    method: &str,
    params: &Params<'_>,
) -> Result<(), RpcError> {
    require(VERSION, mirror.protocol_version, version)?;
    require(METHOD, mirror.method, method)?;
    let Some(member) = name_member(method) else {
        return match mirror.name {
            HeaderValue::Repeated => Err(repeated(NAME)),
            HeaderValue::Absent | HeaderValue::Once(_) => Ok(()),
        };
    };
    match (mirror.name, string(params.member(member))) {
        (HeaderValue::Repeated, _) => Err(repeated(NAME)),
        // Whoever reads the parameters says that the member is missing.
        (HeaderValue::Absent, None) => Ok(()),
        (HeaderValue::Absent, Some(_)) => Err(missing(NAME)),
        (HeaderValue::Once(value), name) => {
            let value = mirror::decode(value)
                .map_err(|reason| refusal::header_mismatch(NAME, reason.explanation()))?;
            if Some(value) == name { Ok(()) } else { Err(different(NAME)) }
        }
    }
}

/// Checks the headers of a notification, which may be left out.
pub(super) fn check_what_is_there(
    mirror: &Mirror<'_>,
    method: &str,
    meta: &Meta<'_>,
) -> Result<(), RpcError> {
    if mirror.method != HeaderValue::Absent {
        require(METHOD, mirror.method, method)?;
    }
    match string(meta.protocol_version) {
        Some(version) if mirror.protocol_version != HeaderValue::Absent => {
            require(VERSION, mirror.protocol_version, &version)
        }
        _ => Ok(()),
    }
}

/// Checks the headers that repeat arguments of a tool.
pub(super) fn check_params(
    mirror: &Mirror<'_>,
    headers: &ParamHeaders,
    params: &Params<'_>,
) -> Result<(), RpcError> {
    headers.check(present(params.arguments), mirror.params).map_err(|mismatch| {
        let header = format!("{PARAM}{}", mismatch.name);
        refusal::header_mismatch(&header, &format!("({mismatch})"))
    })
}

/// The member of the parameters that names the target of a method, where such a header repeats it.
fn name_member(method: &str) -> Option<&'static str> {
    let row = Method::from_name(method)?.row();
    row.name_member.filter(|_| !row.revisions.and(Revisions::MODERN).is_empty())
}

fn require(header: &str, value: HeaderValue<'_>, expected: &str) -> Result<(), RpcError> {
    match value {
        HeaderValue::Absent => Err(missing(header)),
        HeaderValue::Repeated => Err(repeated(header)),
        HeaderValue::Once(value) if value == expected => Ok(()),
        HeaderValue::Once(_) => Err(different(header)),
    }
}

fn missing(header: &str) -> RpcError {
    refusal::header_mismatch(header, "is missing")
}

fn repeated(header: &str) -> RpcError {
    refusal::header_mismatch(header, "stands more than once")
}

fn different(header: &str) -> RpcError {
    refusal::header_mismatch(header, "is not what the message says")
}
