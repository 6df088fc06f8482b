//! A protected MCP server as an OAuth 2.1 resource server.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::ffi::{c_char, c_void};
use core::mem::MaybeUninit;

use barewire::UnixTime;
use barewire::auth::resource_server::{
    Denial, DenialReason, Principal, ResourceServer, ResourceServerConfig, bearer, server_metadata_urls,
};

use crate::bytes::{array_or_empty, bw_bytes, bw_pair, pairs, place, texts};
use crate::guard::{free, status};
use crate::status::{Failure, bw_error, bw_status};
use crate::values::BW_NEVER;

use super::put;

/// How a protected server is set up. Whoever made it with `bw_resource_server_config_new` frees it with
/// `bw_resource_server_config_free`; servers made of it keep nothing of it. One thread at a time.
///
/// Each setter copies what it is given. All answer BW_ERROR_NULL_ARGUMENT for NULL and BW_ERROR_NOT_UTF8 for a text that is
/// not UTF-8; the configuration is then as before.
pub struct bw_resource_server_config {
    config: ResourceServerConfig,
}

/// A protected MCP server as an OAuth 2.1 resource server (basic/authorization): its metadata, and its judgement of
/// requests. It keeps nothing of them. Nothing of this applies to stdio.
///
/// Whether a token is genuine is the host's to find out, by the signature of a JWT or by introspection (RFC 7662). What is
/// left is decided here: `bw_resource_server_bearer` finds the token, `bw_principal_new` says from its claims who that is,
/// `bw_resource_server_authorize` whether they may do it. Each answers BW_ERROR_DENIED if the request is to be refused, and
/// gives the refusal. The token must not be passed on.
///
/// Whoever made it with `bw_resource_server_new` frees it with `bw_resource_server_free`. It may be used by any thread, by
/// one at a time.
pub struct bw_resource_server {
    server: ResourceServer,
    metadata: String,
    /// The refusal that was given last.
    denial: Option<Denial>,
}

/// Who a request comes from. Whoever made it with `bw_principal_new` frees it with `bw_principal_free`. It never changes:
/// any thread may read it. What its accessors give is good for as long as it is; of NULL they give nothing.
pub struct bw_principal {
    principal: Principal,
}

/// Why a request is refused.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum bw_denial_reason {
    /// It has no token.
    BW_DENIAL_NO_TOKEN = 1,
    /// Its credentials are malformed: two headers, a token in the query, an empty one.
    BW_DENIAL_MALFORMED = 2,
    /// The token is not genuine, was revoked, or its claims make no sense.
    BW_DENIAL_INVALID_TOKEN = 3,
    /// The token has expired.
    BW_DENIAL_EXPIRED = 4,
    /// The token is not valid yet.
    BW_DENIAL_NOT_YET_VALID = 5,
    /// It comes from an authorization server that is not one of ours.
    BW_DENIAL_WRONG_ISSUER = 6,
    /// It is meant for somebody else.
    BW_DENIAL_WRONG_AUDIENCE = 7,
    /// It is bound to a key, and came without a proof of it (RFC 9449, section 7.1).
    BW_DENIAL_BOUND = 8,
    /// It lacks scopes.
    BW_DENIAL_INSUFFICIENT_SCOPE = 9,
}

/// A refusal, ready to be sent: give it to `bw_server_http_receive_denied` or `bw_server_http_deny`. What it points to is good
/// until the next call that takes the resource server as one that is not const.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct bw_denial {
    /// Why, a number of `bw_denial_reason`.
    pub(crate) reason: i32,
    /// The status to send: 400, 401 or 403.
    pub(crate) status: u16,
    /// The value of `WWW-Authenticate`.
    pub(crate) challenge: bw_bytes,
}

/// Whether a scope that was granted stands for another one that is needed. `context` is the caller's.
pub type bw_scope_implies =
    Option<extern "C" fn(context: *mut c_void, granted: bw_bytes, needed: bw_bytes) -> bool>;

/// Each reason with its number.
const REASONS: [(DenialReason, bw_denial_reason); 9] = [
    (DenialReason::NoToken, bw_denial_reason::BW_DENIAL_NO_TOKEN),
    (DenialReason::Malformed, bw_denial_reason::BW_DENIAL_MALFORMED),
    (DenialReason::InvalidToken, bw_denial_reason::BW_DENIAL_INVALID_TOKEN),
    (DenialReason::Expired, bw_denial_reason::BW_DENIAL_EXPIRED),
    (DenialReason::NotYetValid, bw_denial_reason::BW_DENIAL_NOT_YET_VALID),
    (DenialReason::WrongIssuer, bw_denial_reason::BW_DENIAL_WRONG_ISSUER),
    (DenialReason::WrongAudience, bw_denial_reason::BW_DENIAL_WRONG_AUDIENCE),
    (DenialReason::Bound, bw_denial_reason::BW_DENIAL_BOUND),
    (DenialReason::InsufficientScope, bw_denial_reason::BW_DENIAL_INSUFFICIENT_SCOPE),
];

const DENIED: Failure = Failure::Own(bw_error::BW_ERROR_DENIED, "the request is refused");

fn reason(number: i32) -> Result<DenialReason, Failure> {
    let known = REASONS.iter().find(|(_, named)| *named as i32 == number);
    known.map(|(reason, _)| *reason).ok_or(Failure::argument("not a number of bw_denial_reason"))
}

/// The texts of an array, as they lie there.
fn borrowed<'a>(first: *const bw_bytes, count: usize) -> Result<Vec<&'a str>, Failure> {
    let array: &'a [bw_bytes] = array_or_empty(first, count)?;
    array.iter().map(bw_bytes::text).collect()
}

impl bw_resource_server {
    /// Gives a refusal to C.
    fn give(&mut self, denial: Denial, out: &mut MaybeUninit<bw_denial>) {
        let number = REASONS.iter().find(|(reason, _)| *reason == denial.reason);
        let denial = self.denial.insert(denial);
        out.write(bw_denial {
            // The core marks its reasons as open for more; one without a number is refused all the same.
            reason: number.map_or(0, |(_, number)| *number as i32),
            status: denial.status,
            challenge: bw_bytes::text_of(&denial.challenge),
        });
    }

    /// As [`give`](Self::give), with the error that tells it.
    fn refuse(&mut self, denial: Denial, out: &mut MaybeUninit<bw_denial>) -> Failure {
        self.give(denial, out);
        DENIED
    }
}

fn set(
    config: Option<&mut bw_resource_server_config>,
    work: impl FnOnce(&mut ResourceServerConfig) -> Result<(), Failure>,
) -> bw_status {
    status(|| work(&mut config.ok_or(Failure::NULL)?.config))
}

/// Makes the configuration of a protected server. `resource` is its identifier: the URL of the MCP endpoint as clients know
/// it, without fragment and useless slash at the end; https, or http on a loopback host. The authorization servers are issuer
/// identifiers, at least one; tokens of others are refused.
///
/// The caller frees `*config` with `bw_resource_server_config_free`.
#[unsafe(no_mangle)]
pub extern "C" fn bw_resource_server_config_new(
    resource: bw_bytes,
    authorization_servers: *const bw_bytes,
    count: usize,
    config: Option<&mut MaybeUninit<Option<Box<bw_resource_server_config>>>>,
) -> bw_status {
    status(|| {
        let config = place(config)?;
        let issuers = borrowed(authorization_servers, count)?;
        let made = ResourceServerConfig::new(resource.text()?, &issuers);
        config.write(Some(Box::new(bw_resource_server_config { config: made })));
        Ok(())
    })
}

/// Frees a configuration. NULL is nothing to free.
#[unsafe(no_mangle)]
pub extern "C" fn bw_resource_server_config_free(config: Option<Box<bw_resource_server_config>>) {
    free(config);
}

/// Sets the scopes that suffice for basic use (basic/authorization, Scope Selection Strategy). Default none.
#[unsafe(no_mangle)]
pub extern "C" fn bw_resource_server_config_set_scopes(
    config: Option<&mut bw_resource_server_config>,
    scopes: *const bw_bytes,
    count: usize,
) -> bw_status {
    set(config, |config| {
        config.scopes = texts(scopes, count)?;
        Ok(())
    })
}

/// Sets what tokens may name as their audience beside the resource. Default none.
#[unsafe(no_mangle)]
pub extern "C" fn bw_resource_server_config_set_audiences(
    config: Option<&mut bw_resource_server_config>,
    audiences: *const bw_bytes,
    count: usize,
) -> bw_status {
    set(config, |config| {
        config.audiences = texts(audiences, count)?;
        Ok(())
    })
}

/// Sets a name for people. NULL data: none, the default.
#[unsafe(no_mangle)]
pub extern "C" fn bw_resource_server_config_set_name(
    config: Option<&mut bw_resource_server_config>,
    name: bw_bytes,
) -> bw_status {
    set(config, |config| {
        config.name = name.optional_boxed()?;
        Ok(())
    })
}

/// Sets the URL of a page for developers. NULL data: none, the default.
#[unsafe(no_mangle)]
pub extern "C" fn bw_resource_server_config_set_documentation(
    config: Option<&mut bw_resource_server_config>,
    url: bw_bytes,
) -> bw_status {
    set(config, |config| {
        config.documentation = url.optional_boxed()?;
        Ok(())
    })
}

/// Sets the milliseconds by which clocks may differ. Default 30 000.
#[unsafe(no_mangle)]
pub extern "C" fn bw_resource_server_config_set_leeway(
    config: Option<&mut bw_resource_server_config>,
    milliseconds: u64,
) -> bw_status {
    set(config, |config| {
        config.leeway = milliseconds;
        Ok(())
    })
}

/// Makes a protected server.
///
/// The caller frees `*server` with `bw_resource_server_free`; `config` stays the caller's. BW_ERROR_INVALID_DEFINITION if
/// the resource or one of the authorization servers cannot be used, or there is none.
#[unsafe(no_mangle)]
pub extern "C" fn bw_resource_server_new(
    config: Option<&bw_resource_server_config>,
    server: Option<&mut MaybeUninit<Option<Box<bw_resource_server>>>>,
) -> bw_status {
    status(|| {
        let (config, place) = (config.ok_or(Failure::NULL)?, place(server)?);
        let server = ResourceServer::new(config.config.clone())?;
        let metadata = server.metadata();
        place.write(Some(Box::new(bw_resource_server { server, metadata, denial: None })));
        Ok(())
    })
}

/// Frees a protected server, and the refusal that it has lent. NULL is nothing to free.
#[unsafe(no_mangle)]
pub extern "C" fn bw_resource_server_free(server: Option<Box<bw_resource_server>>) {
    free(server);
}

/// The protected resource metadata (RFC 9728, section 2), as JSON. Serve it with status 200 and
/// `Content-Type: application/json`, to anybody. Good for as long as the handle.
#[unsafe(no_mangle)]
pub extern "C" fn bw_resource_server_metadata(server: Option<&bw_resource_server>) -> bw_bytes {
    server.map_or(bw_bytes::NONE, |server| bw_bytes::text_of(&server.metadata))
}

/// A path at which to serve the metadata: behind the path of the resource, and at the root. Nothing beyond the last. Good for
/// as long as the handle.
#[unsafe(no_mangle)]
pub extern "C" fn bw_resource_server_metadata_path(
    server: Option<&bw_resource_server>,
    index: usize,
) -> bw_bytes {
    let path = server.and_then(|server| server.server.metadata_paths().get(index));
    bw_bytes::text_or_none(path.map(|path| &**path))
}

/// Where challenges say that the metadata is. Good for as long as the handle.
#[unsafe(no_mangle)]
pub extern "C" fn bw_resource_server_metadata_url(server: Option<&bw_resource_server>) -> bw_bytes {
    server.map_or(bw_bytes::NONE, |server| bw_bytes::text_of(server.server.metadata_url()))
}

/// The token of a request: the one `Authorization` header, its scheme in any case (RFC 6750, section 2.1). `query` is what
/// stands behind the question mark, or nothing. `*token` is a part of that header's value.
///
/// BW_ERROR_DENIED if there is none or the credentials are malformed; `*denial` is the refusal then.
#[unsafe(no_mangle)]
pub extern "C" fn bw_resource_server_bearer(
    server: Option<&mut bw_resource_server>,
    headers: *const bw_pair,
    header_count: usize,
    query: bw_bytes,
    token: Option<&mut MaybeUninit<bw_bytes>>,
    denial: Option<&mut MaybeUninit<bw_denial>>,
) -> bw_status {
    status(|| {
        let (server, token, denial) = (server.ok_or(Failure::NULL)?, place(token)?, place(denial)?);
        let headers = pairs(headers, header_count)?;
        let found = match bearer(&headers, query.optional_text()?) {
            Ok(found) => found,
            Err(reason) => return Err(server.refuse(server.server.deny_unknown(reason), denial)),
        };
        // What the core gives is a copy; C gets the same text where it lies, so that nothing has to be freed.
        let within = |value: &'_ str| {
            value
                .find(found.expose())
                .and_then(|at| value.get(at..at + found.expose().len()))
                .map(bw_bytes::text_of)
        };
        token.write(headers.iter().find_map(|(_, value)| within(value)).ok_or(Failure::NULL)?);
        Ok(())
    })
}

/// Judges the claims of a token that was found genuine, a JSON object: the payload of a JWT whose signature was verified with
/// a key of its `iss`, or the answer of an introspection endpoint (RFC 7662, section 2.2). If the host knows issuer or
/// audience by other means, it adds `iss` or `aud` to the claims: a token that names none is refused. `exp` may be absent only
/// if `active` is true. `now` is in milliseconds since 1970.
///
/// The caller frees `*principal` with `bw_principal_free`. BW_ERROR_DENIED if the token is refused; `*denial` says how then.
/// BW_ERROR_INVALID_JSON if the claims are no JSON.
#[unsafe(no_mangle)]
pub extern "C" fn bw_principal_new(
    server: Option<&mut bw_resource_server>,
    now: u64,
    claims: bw_bytes,
    principal: Option<&mut MaybeUninit<Option<Box<bw_principal>>>>,
    denial: Option<&mut MaybeUninit<bw_denial>>,
) -> bw_status {
    status(|| {
        let (server, place, denial) = (server.ok_or(Failure::NULL)?, place(principal)?, place(denial)?);
        match server.server.judge(&claims.json()?, UnixTime::from_millis(now)) {
            Ok(principal) => {
                place.write(Some(Box::new(bw_principal { principal })));
                Ok(())
            }
            Err(refused) => Err(server.refuse(refused, denial)),
        }
    })
}

/// Frees a principal. NULL is nothing to free.
#[unsafe(no_mangle)]
pub extern "C" fn bw_principal_free(principal: Option<Box<bw_principal>>) {
    free(principal);
}

/// Whether a principal may do what needs these scopes. `implies` says whether a scope that was granted stands for one that is
/// needed; NULL: none does. A scope always stands for itself.
///
/// BW_ERROR_DENIED if not; `*denial` names all scopes that are needed then.
#[unsafe(no_mangle)]
pub extern "C" fn bw_resource_server_authorize(
    server: Option<&mut bw_resource_server>,
    principal: Option<&bw_principal>,
    needed: *const bw_bytes,
    count: usize,
    implies: bw_scope_implies,
    context: *mut c_void,
    denial: Option<&mut MaybeUninit<bw_denial>>,
) -> bw_status {
    status(|| {
        let (server, denial) = (server.ok_or(Failure::NULL)?, place(denial)?);
        let principal = &principal.ok_or(Failure::NULL)?.principal;
        let stands_for = |granted: &str, needed: &str| {
            implies.is_some_and(|implies| {
                implies(context, bw_bytes::text_of(granted), bw_bytes::text_of(needed))
            })
        };
        let judged = server.server.authorize(principal, &borrowed(needed, count)?, stands_for);
        judged.map_err(|refused| server.refuse(refused, denial))
    })
}

/// A refusal for a reason, a number of `bw_denial_reason`. `scopes` are those that the operation needs, or that suffice for
/// a start.
#[unsafe(no_mangle)]
pub extern "C" fn bw_resource_server_deny(
    server: Option<&mut bw_resource_server>,
    reason: i32,
    scopes: *const bw_bytes,
    count: usize,
    denial: Option<&mut MaybeUninit<bw_denial>>,
) -> bw_status {
    status(|| {
        let (server, denial) = (server.ok_or(Failure::NULL)?, place(denial)?);
        let refusal = server.server.deny(self::reason(reason)?, &borrowed(scopes, count)?);
        server.give(refusal, denial);
        Ok(())
    })
}

/// A refusal that names the scopes of the configuration, for requests that are refused before it is known what they want.
#[unsafe(no_mangle)]
pub extern "C" fn bw_resource_server_deny_unknown(
    server: Option<&mut bw_resource_server>,
    reason: i32,
    denial: Option<&mut MaybeUninit<bw_denial>>,
) -> bw_status {
    status(|| {
        let (server, denial) = (server.ok_or(Failure::NULL)?, place(denial)?);
        let refusal = server.server.deny_unknown(self::reason(reason)?);
        server.give(refusal, denial);
        Ok(())
    })
}

/// Puts a URL into the buffer at which the metadata of an authorization server may be, in the order in which it is looked for
/// (basic/authorization, Authorization Server Metadata Discovery): for hosts that look for its keys there. What is found must
/// name `issuer`, byte for byte. `*url` is the text there.
///
/// BW_ERROR_NOT_FOUND beyond the last, and if the issuer cannot be used. BW_ERROR_BUFFER_TOO_SMALL if it does not fit;
/// `url->length` is then what is needed, and its data NULL.
#[unsafe(no_mangle)]
pub extern "C" fn bw_server_metadata_url(
    issuer: bw_bytes,
    index: usize,
    buffer: *mut c_char,
    size: usize,
    url: Option<&mut MaybeUninit<bw_bytes>>,
) -> bw_status {
    status(|| {
        let urls = server_metadata_urls(issuer.text()?);
        let none = Failure::Own(bw_error::BW_ERROR_NOT_FOUND, "there is no such place");
        put(urls.get(index).ok_or(none)?, buffer, size, url)
    })
}

/// The authorization server that vouches for the principal.
#[unsafe(no_mangle)]
pub extern "C" fn bw_principal_issuer(principal: Option<&bw_principal>) -> bw_bytes {
    principal.map_or(bw_bytes::NONE, |one| bw_bytes::text_of(&one.principal.issuer))
}

/// Its identifier there: a user, or a client that acts for itself.
#[unsafe(no_mangle)]
pub extern "C" fn bw_principal_subject(principal: Option<&bw_principal>) -> bw_bytes {
    principal.map_or(bw_bytes::NONE, |one| bw_bytes::text_of(&one.principal.subject))
}

/// The client through which it comes, if that is known.
#[unsafe(no_mangle)]
pub extern "C" fn bw_principal_client(principal: Option<&bw_principal>) -> bw_bytes {
    bw_bytes::text_or_none(principal.and_then(|one| one.principal.client.as_deref()))
}

/// A scope that was granted. Nothing beyond the last.
#[unsafe(no_mangle)]
pub extern "C" fn bw_principal_scope(principal: Option<&bw_principal>, index: usize) -> bw_bytes {
    let scope = principal.and_then(|one| one.principal.scopes.get(index));
    bw_bytes::text_or_none(scope.map(|scope| &**scope))
}

/// When the token expires, in milliseconds since 1970; BW_NEVER if that is not known.
#[unsafe(no_mangle)]
pub extern "C" fn bw_principal_expires_at(principal: Option<&bw_principal>) -> u64 {
    principal.and_then(|one| one.principal.expires_at).map_or(BW_NEVER, UnixTime::as_millis)
}

/// Puts a text into the buffer that is the same for the same issuer, subject and client, and for no others, and tells
/// nothing of the three: give it as the `principal` of `bw_request_head`, so that sessions and states of requests are bound to
/// it. `*key` is the text there.
///
/// BW_ERROR_BUFFER_TOO_SMALL if it does not fit, which 64 bytes prevent; `key->length` is then what is needed, and its data
/// NULL.
#[unsafe(no_mangle)]
pub extern "C" fn bw_principal_key(
    principal: Option<&bw_principal>,
    buffer: *mut c_char,
    size: usize,
    key: Option<&mut MaybeUninit<bw_bytes>>,
) -> bw_status {
    status(|| put(&principal.ok_or(Failure::NULL)?.principal.key(), buffer, size, key))
}
