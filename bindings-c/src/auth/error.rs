//! Why there are no credentials, by number.

use core::ffi::CStr;

use crate::status::bw_status;

/// Why there are no credentials. The numbers never change, are not reused, and none is one of `bw_error`'s.
///
/// 701 to 709: what the servers publish about themselves. 711 to 719: being a client. 721 to 729: the user's consent. 731 to
/// 739: tokens. 741 to 749: the MCP server refuses. 751 to 759: requests. 761 to 769: the host.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum bw_authorization_error {
    /// The MCP server has no usable protected resource metadata (RFC 9728).
    BW_AUTHORIZATION_ERROR_NO_RESOURCE_METADATA = 701,
    /// Its metadata is about another resource.
    BW_AUTHORIZATION_ERROR_RESOURCE_MISMATCH = 702,
    /// The authorization server has no usable metadata (RFC 8414, OpenID Connect Discovery).
    BW_AUTHORIZATION_ERROR_NO_SERVER_METADATA = 703,
    /// The metadata names another issuer than the one it was asked of.
    BW_AUTHORIZATION_ERROR_ISSUER_MISMATCH = 704,
    /// The authorization server does not say that it supports PKCE with S256.
    BW_AUTHORIZATION_ERROR_PKCE_UNSUPPORTED = 705,
    /// A URL that metadata names cannot be used: not https, not http on a loopback host where that is allowed.
    BW_AUTHORIZATION_ERROR_UNUSABLE_URL = 706,
    /// There is no way to be a client of this authorization server.
    BW_AUTHORIZATION_ERROR_NO_REGISTRATION = 711,
    /// Clients are configured, but for other authorization servers.
    BW_AUTHORIZATION_ERROR_PREREGISTERED_ISSUER_MISMATCH = 712,
    /// The authorization server refused the registration.
    BW_AUTHORIZATION_ERROR_REGISTRATION_REJECTED = 713,
    /// The answer to a registration makes no sense.
    BW_AUTHORIZATION_ERROR_INVALID_REGISTRATION = 714,
    /// The callback names no `state`, or another one: it was dropped, and the right one is still awaited.
    BW_AUTHORIZATION_ERROR_STATE_MISMATCH = 721,
    /// No callback is awaited.
    BW_AUTHORIZATION_ERROR_UNEXPECTED_CALLBACK = 722,
    /// The callback has a parameter twice.
    BW_AUTHORIZATION_ERROR_DUPLICATE_PARAMETER = 723,
    /// The callback lacks `iss`, which the authorization server sends (RFC 9207).
    BW_AUTHORIZATION_ERROR_ISSUER_PARAMETER_MISSING = 724,
    /// The callback comes from another issuer.
    BW_AUTHORIZATION_ERROR_ISSUER_PARAMETER_MISMATCH = 725,
    /// The authorization server, or the user there, refused.
    BW_AUTHORIZATION_ERROR_DENIED = 726,
    /// The callback has neither a code nor an error.
    BW_AUTHORIZATION_ERROR_NO_CODE = 727,
    /// The user did not come back in time.
    BW_AUTHORIZATION_ERROR_TIMED_OUT = 728,
    /// The host cancelled it, or the user did not want it.
    BW_AUTHORIZATION_ERROR_CANCELLED = 729,
    /// The token endpoint refused.
    BW_AUTHORIZATION_ERROR_TOKEN_REQUEST_REJECTED = 731,
    /// The answer of the token endpoint makes no sense.
    BW_AUTHORIZATION_ERROR_INVALID_TOKEN_RESPONSE = 732,
    /// The token is not bound to the key, which is required.
    BW_AUTHORIZATION_ERROR_TOKEN_NOT_BOUND = 733,
    /// The identity provider gave something else than an identity assertion grant.
    BW_AUTHORIZATION_ERROR_NOT_IDENTITY_ASSERTION_GRANT = 734,
    /// The MCP server refuses tokens that were just issued for it.
    BW_AUTHORIZATION_ERROR_TOKEN_REFUSED = 741,
    /// The MCP server forbids the operation, and names no scope that would help.
    BW_AUTHORIZATION_ERROR_FORBIDDEN = 742,
    /// The scopes that the operation needs were asked for already and not granted.
    BW_AUTHORIZATION_ERROR_SCOPE_DENIED = 743,
    /// The operation was refused as often as it may be.
    BW_AUTHORIZATION_ERROR_STEP_UP_EXHAUSTED = 744,
    /// A request brought no response, or 5xx or 429. Worth another try.
    BW_AUTHORIZATION_ERROR_UNAVAILABLE = 751,
    /// A response is too large.
    BW_AUTHORIZATION_ERROR_RESPONSE_TOO_LARGE = 752,
    /// A response was a redirect, which is not followed.
    BW_AUTHORIZATION_ERROR_REDIRECTED = 753,
    /// The host's policy forbade a request.
    BW_AUTHORIZATION_ERROR_REQUEST_FORBIDDEN = 754,
    /// The host could not sign.
    BW_AUTHORIZATION_ERROR_SIGNING_FAILED = 761,
    /// The host had no assertion.
    BW_AUTHORIZATION_ERROR_NO_ASSERTION = 762,
    /// The store is out of order. Worth another try.
    BW_AUTHORIZATION_ERROR_STORE_UNAVAILABLE = 763,
}

/// Every number with its name.
const NAMES: &[(bw_authorization_error, &CStr)] = {
    use bw_authorization_error::*;
    &[
        (BW_AUTHORIZATION_ERROR_NO_RESOURCE_METADATA, c"BW_AUTHORIZATION_ERROR_NO_RESOURCE_METADATA"),
        (BW_AUTHORIZATION_ERROR_RESOURCE_MISMATCH, c"BW_AUTHORIZATION_ERROR_RESOURCE_MISMATCH"),
        (BW_AUTHORIZATION_ERROR_NO_SERVER_METADATA, c"BW_AUTHORIZATION_ERROR_NO_SERVER_METADATA"),
        (BW_AUTHORIZATION_ERROR_ISSUER_MISMATCH, c"BW_AUTHORIZATION_ERROR_ISSUER_MISMATCH"),
        (BW_AUTHORIZATION_ERROR_PKCE_UNSUPPORTED, c"BW_AUTHORIZATION_ERROR_PKCE_UNSUPPORTED"),
        (BW_AUTHORIZATION_ERROR_UNUSABLE_URL, c"BW_AUTHORIZATION_ERROR_UNUSABLE_URL"),
        (BW_AUTHORIZATION_ERROR_NO_REGISTRATION, c"BW_AUTHORIZATION_ERROR_NO_REGISTRATION"),
        (
            BW_AUTHORIZATION_ERROR_PREREGISTERED_ISSUER_MISMATCH,
            c"BW_AUTHORIZATION_ERROR_PREREGISTERED_ISSUER_MISMATCH",
        ),
        (BW_AUTHORIZATION_ERROR_REGISTRATION_REJECTED, c"BW_AUTHORIZATION_ERROR_REGISTRATION_REJECTED"),
        (BW_AUTHORIZATION_ERROR_INVALID_REGISTRATION, c"BW_AUTHORIZATION_ERROR_INVALID_REGISTRATION"),
        (BW_AUTHORIZATION_ERROR_STATE_MISMATCH, c"BW_AUTHORIZATION_ERROR_STATE_MISMATCH"),
        (BW_AUTHORIZATION_ERROR_UNEXPECTED_CALLBACK, c"BW_AUTHORIZATION_ERROR_UNEXPECTED_CALLBACK"),
        (BW_AUTHORIZATION_ERROR_DUPLICATE_PARAMETER, c"BW_AUTHORIZATION_ERROR_DUPLICATE_PARAMETER"),
        (BW_AUTHORIZATION_ERROR_ISSUER_PARAMETER_MISSING, c"BW_AUTHORIZATION_ERROR_ISSUER_PARAMETER_MISSING"),
        (
            BW_AUTHORIZATION_ERROR_ISSUER_PARAMETER_MISMATCH,
            c"BW_AUTHORIZATION_ERROR_ISSUER_PARAMETER_MISMATCH",
        ),
        (BW_AUTHORIZATION_ERROR_DENIED, c"BW_AUTHORIZATION_ERROR_DENIED"),
        (BW_AUTHORIZATION_ERROR_NO_CODE, c"BW_AUTHORIZATION_ERROR_NO_CODE"),
        (BW_AUTHORIZATION_ERROR_TIMED_OUT, c"BW_AUTHORIZATION_ERROR_TIMED_OUT"),
        (BW_AUTHORIZATION_ERROR_CANCELLED, c"BW_AUTHORIZATION_ERROR_CANCELLED"),
        (BW_AUTHORIZATION_ERROR_TOKEN_REQUEST_REJECTED, c"BW_AUTHORIZATION_ERROR_TOKEN_REQUEST_REJECTED"),
        (BW_AUTHORIZATION_ERROR_INVALID_TOKEN_RESPONSE, c"BW_AUTHORIZATION_ERROR_INVALID_TOKEN_RESPONSE"),
        (BW_AUTHORIZATION_ERROR_TOKEN_NOT_BOUND, c"BW_AUTHORIZATION_ERROR_TOKEN_NOT_BOUND"),
        (
            BW_AUTHORIZATION_ERROR_NOT_IDENTITY_ASSERTION_GRANT,
            c"BW_AUTHORIZATION_ERROR_NOT_IDENTITY_ASSERTION_GRANT",
        ),
        (BW_AUTHORIZATION_ERROR_TOKEN_REFUSED, c"BW_AUTHORIZATION_ERROR_TOKEN_REFUSED"),
        (BW_AUTHORIZATION_ERROR_FORBIDDEN, c"BW_AUTHORIZATION_ERROR_FORBIDDEN"),
        (BW_AUTHORIZATION_ERROR_SCOPE_DENIED, c"BW_AUTHORIZATION_ERROR_SCOPE_DENIED"),
        (BW_AUTHORIZATION_ERROR_STEP_UP_EXHAUSTED, c"BW_AUTHORIZATION_ERROR_STEP_UP_EXHAUSTED"),
        (BW_AUTHORIZATION_ERROR_UNAVAILABLE, c"BW_AUTHORIZATION_ERROR_UNAVAILABLE"),
        (BW_AUTHORIZATION_ERROR_RESPONSE_TOO_LARGE, c"BW_AUTHORIZATION_ERROR_RESPONSE_TOO_LARGE"),
        (BW_AUTHORIZATION_ERROR_REDIRECTED, c"BW_AUTHORIZATION_ERROR_REDIRECTED"),
        (BW_AUTHORIZATION_ERROR_REQUEST_FORBIDDEN, c"BW_AUTHORIZATION_ERROR_REQUEST_FORBIDDEN"),
        (BW_AUTHORIZATION_ERROR_SIGNING_FAILED, c"BW_AUTHORIZATION_ERROR_SIGNING_FAILED"),
        (BW_AUTHORIZATION_ERROR_NO_ASSERTION, c"BW_AUTHORIZATION_ERROR_NO_ASSERTION"),
        (BW_AUTHORIZATION_ERROR_STORE_UNAVAILABLE, c"BW_AUTHORIZATION_ERROR_STORE_UNAVAILABLE"),
    ]
};

/// The name of a number, if it is one.
pub(crate) fn error_name(number: bw_status) -> Option<&'static CStr> {
    NAMES.iter().find(|(error, _)| *error as bw_status == number).map(|(_, name)| *name)
}
