//! Error codes that not every revision may see.

use alloc::string::String;

use super::inputs::has_url;
use super::text::{self, one_line};
use super::{Method, Revision, Revisions};
use crate::json::Json;
use crate::jsonrpc::{RpcError, write};

/// A code of some revisions, and what stands for it in the others.
struct CodeRow {
    code: i64,
    revisions: Revisions,
    instead: i64,
}

const CODES: [CodeRow; 6] = [
    CodeRow {
        code: RpcError::RESOURCE_NOT_FOUND,
        revisions: Revisions::LEGACY,
        instead: RpcError::INVALID_PARAMS,
    },
    CodeRow {
        code: RpcError::URL_ELICITATION_REQUIRED,
        revisions: Revisions::of(&[Revision::V2025_11_25]),
        instead: RpcError::INTERNAL_ERROR,
    },
    CodeRow { code: RpcError::USER_REFUSED, revisions: Revisions::LEGACY, instead: RpcError::INTERNAL_ERROR },
    CodeRow {
        code: RpcError::HEADER_MISMATCH,
        revisions: Revisions::MODERN,
        instead: RpcError::INVALID_REQUEST,
    },
    CodeRow {
        code: RpcError::MISSING_CLIENT_CAPABILITY,
        revisions: Revisions::MODERN,
        instead: RpcError::INVALID_REQUEST,
    },
    CodeRow {
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

/// Whether the data of a URL-elicitation-required error lists elicitations, each in URL mode and with an id
/// (client/elicitation, URL Elicitation Required Error).
pub(crate) fn names_elicitations(error: &RpcError) -> bool {
    let Some(list) = error.data.as_ref().and_then(|data| data.member("elicitations")) else { return false };
    let mut sound = text::is_array(list.as_str()) && !text::is_empty_container(list.as_str());
    text::each_element(list.as_str(), |elicitation| {
        sound &= text::string_member(elicitation, "mode") == Some("url")
            && has_url(elicitation)
            && ["elicitationId", "message"]
                .iter()
                .all(|member| text::string_member(elicitation, member).is_some());
    });
    sound
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

#[cfg(test)]
mod tests {
    use super::*;

    // proves: BASE-037 FEAT-129 FEAT-332
    #[test]
    fn no_revision_sees_a_code_it_does_not_have() {
        // Code, and what goes out from 2024-11-05 to 2026-07-28.
        let cases = [
            (-32002, [-32002, -32002, -32002, -32002, -32602]),
            (-32042, [-32603, -32603, -32603, -32042, -32603]),
            (-1, [-1, -1, -1, -1, -32603]),
            (-32020, [-32600, -32600, -32600, -32600, -32020]),
            (-32021, [-32600, -32600, -32600, -32600, -32021]),
            (-32022, [-32602, -32602, -32602, -32602, -32022]),
            (-32023, [-32023, -32023, -32023, -32023, -32603]),
            (-32099, [-32099, -32099, -32099, -32099, -32603]),
            (-32000, [-32000; 5]),
            (-32100, [-32100; 5]),
            (-32602, [-32602; 5]),
            (-32700, [-32700; 5]),
            (42, [42; 5]),
        ];
        for (code, expected) in cases {
            for (revision, expected) in Revision::ALL.into_iter().zip(expected) {
                let error = RpcError::new(code, "m").with_data(Json::new("{\"uri\":\"a:b\"}").unwrap());
                let projected = project_error(error.clone(), Some(Method::ToolsCall), revision);
                assert_eq!(projected, RpcError { code: expected, ..error }, "{revision}");
            }
        }
    }

    // proves: FEAT-127 FEAT-128 FEAT-131
    #[test]
    fn a_missing_resource_has_the_code_of_the_revision() {
        for revision in Revision::ALL {
            let modern = revision >= Revision::V2026_07_28;
            let expected = if modern { RpcError::INVALID_PARAMS } else { RpcError::RESOURCE_NOT_FOUND };
            let error = resource_not_found(revision, "a:\"b\"");
            assert_eq!(error.code, expected, "{revision}");
            assert!(error.is_resource_not_found("a:\"b\""));
            // Written by the application for the newest revision.
            let own = RpcError::new(RpcError::INVALID_PARAMS, "no")
                .with_data(Json::new("{\"uri\":\"a\"}").unwrap());
            assert_eq!(project_error(own.clone(), Some(Method::ResourcesRead), revision).code, expected);
            assert_eq!(project_error(own, Some(Method::PromptsGet), revision).code, RpcError::INVALID_PARAMS);
            let other = RpcError::new(RpcError::INVALID_PARAMS, "bad params");
            assert_eq!(project_error(other.clone(), Some(Method::ResourcesRead), revision), other);
        }
    }

    #[test]
    fn data_takes_one_line() {
        let error = RpcError::new(1, "m").with_data(Json::new("{\n\t\"a\": \"\\n\"\r\n}").unwrap());
        let projected = project_error(error, None, Revision::V2025_11_25);
        assert_eq!(projected.data.unwrap().as_str(), "{\"a\": \"\\n\"}");
    }
}
