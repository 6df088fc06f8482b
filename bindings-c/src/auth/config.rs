//! How authorizations are set up.

use alloc::boxed::Box;
use core::mem::MaybeUninit;

use barewire::Seed;
use barewire::auth::{
    ApplicationType, AssertionAudience, AuthorizationConfig, ClientAuthentication, ClientRegistration,
    CodeGrant, DpopKey, EnterpriseGrant, Grant, SecretMethod, SubjectTokenType,
};

use crate::bytes::{block, bw_bytes, place, texts};
use crate::guard::{free, status};
use crate::status::{Failure, bw_status};
use crate::values::BW_SEED_BYTES;

/// How tokens are come by.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum bw_grant {
    /// A user consents in a user agent (OAuth 2.1, section 4.1), with PKCE.
    BW_GRANT_AUTHORIZATION_CODE = 1,
    /// The client acts for itself (OAuth 2.1, section 4.2; extension `io.modelcontextprotocol/oauth-client-credentials`).
    /// It has to be added, with a secret or a key.
    BW_GRANT_CLIENT_CREDENTIALS = 2,
    /// The identity provider of an organisation vouches for the user (extension
    /// `io.modelcontextprotocol/enterprise-managed-authorization`). The client at the authorization server has to be added.
    BW_GRANT_ENTERPRISE = 3,
    /// A JWT that the platform gave to the workload is exchanged for a token (RFC 7523, section 2.1). The client has to be
    /// added.
    BW_GRANT_WORKLOAD_IDENTITY = 4,
}

/// How a client's secret is sent; 0: as the authorization server likes it, in the header if it likes both.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum bw_secret_method {
    /// In the `Authorization` header: `client_secret_basic`.
    BW_SECRET_BASIC = 1,
    /// In the body: `client_secret_post`.
    BW_SECRET_POST = 2,
}

/// Whom the JWT with which a client authenticates is for; authorization servers differ. 0: the issuer identifier.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum bw_assertion_audience {
    /// The issuer identifier.
    BW_AUDIENCE_ISSUER = 1,
    /// The URL of the token endpoint.
    BW_AUDIENCE_TOKEN_ENDPOINT = 2,
}

/// What an application is (OpenID Connect Dynamic Client Registration 1.0, section 2). 0: web if the redirect URI is https,
/// else native.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum bw_application_type {
    /// On the user's machine.
    BW_APPLICATION_NATIVE = 1,
    /// On a web server.
    BW_APPLICATION_WEB = 2,
}

/// Kinds of identity assertions (RFC 8693, section 3).
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum bw_subject_token {
    /// An ID token of OpenID Connect.
    BW_SUBJECT_ID_TOKEN = 1,
    /// A SAML 2.0 assertion, base64url-encoded.
    BW_SUBJECT_SAML2 = 2,
}

/// A client as one authorization server knows it. Zero-initialised but for `client_id`, it is a public client of the
/// authorization server that the MCP server names first.
///
/// It authenticates with `secret`, or with a JWT that is signed with `algorithm` (RFC 7523, section 2.2), or not at all;
/// with both it is refused.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct bw_client_registration {
    /// The issuer identifier of the authorization server, byte for byte. Nothing: the one that the MCP server names first;
    /// it is kept with the tokens, and another one is refused from then on.
    pub(super) issuer: bw_bytes,
    /// Its id.
    pub(super) client_id: bw_bytes,
    /// Its secret, or nothing.
    pub(super) secret: bw_bytes,
    /// How the secret is sent, a number of `bw_secret_method`, or 0.
    pub(super) secret_method: i32,
    /// The name of the signature's algorithm in JOSE, such as `ES256`, or nothing.
    pub(super) algorithm: bw_bytes,
    /// The id of the key for the header of the JWT, or nothing.
    pub(super) key_id: bw_bytes,
    /// Whom the JWT is for, a number of `bw_assertion_audience`, or 0.
    pub(super) audience: i32,
}

impl bw_client_registration {
    pub(super) fn read(&self) -> Result<ClientRegistration, Failure> {
        let authentication = match (self.secret.optional_text()?, self.algorithm.optional_text()?) {
            (None, None) => ClientAuthentication::None,
            (Some(secret), None) => ClientAuthentication::Secret {
                secret: secret.into(),
                method: match self.secret_method {
                    0 => None,
                    1 => Some(SecretMethod::Basic),
                    2 => Some(SecretMethod::Post),
                    _ => return Err(Failure::argument("not a number of bw_secret_method")),
                },
            },
            (None, Some(algorithm)) => ClientAuthentication::PrivateKeyJwt {
                algorithm: algorithm.into(),
                key_id: self.key_id.optional_boxed()?,
                audience: match self.audience {
                    0 | 1 => AssertionAudience::Issuer,
                    2 => AssertionAudience::TokenEndpoint,
                    _ => return Err(Failure::argument("not a number of bw_assertion_audience")),
                },
            },
            (Some(_), Some(_)) => return Err(Failure::argument("a client has a secret or a key, not both")),
        };
        Ok(ClientRegistration::new(self.issuer.optional_text()?, self.client_id.text()?, authentication))
    }
}

/// How an authorization is set up. Whoever made it with `bw_authorization_config_new` frees it with
/// `bw_authorization_config_free`; authorizations made of it keep nothing of it. One thread at a time.
///
/// Each setter copies what it is given. All answer BW_ERROR_NULL_ARGUMENT for NULL, BW_ERROR_NOT_UTF8 for a text that is
/// not UTF-8 and BW_ERROR_INVALID_ARGUMENT for a number out of range and for what another grant needs; the configuration is
/// then as before.
pub struct bw_authorization_config {
    pub(super) machine: AuthorizationConfig,
}

fn set(
    config: Option<&mut bw_authorization_config>,
    work: impl FnOnce(&mut AuthorizationConfig) -> Result<(), Failure>,
) -> bw_status {
    status(|| work(&mut config.ok_or(Failure::NULL)?.machine))
}

fn set_code(
    config: Option<&mut bw_authorization_config>,
    work: impl FnOnce(&mut CodeGrant) -> Result<(), Failure>,
) -> bw_status {
    set(config, |machine| match &mut machine.grant {
        Grant::AuthorizationCode(grant) => work(grant),
        _ => Err(Failure::argument("it belongs to the authorization code grant")),
    })
}

/// Makes the configuration of an authorization at the MCP server at `server_url`, with the defaults. `grant` is a number of
/// `bw_grant`. `seed` is BW_SEED_BYTES random bytes from the operating system, never used twice.
///
/// The URL is as the user wrote it: https, or http on a loopback host. http on loopback hosts is allowed for OAuth URLs only
/// if this URL is such a one, so that a remote server cannot lead a client to services of its own machine.
///
/// The authorization code grant needs `bw_authorization_config_set_redirect_uri`, the enterprise grant
/// `bw_authorization_config_set_identity_provider`.
///
/// The caller frees `*config` with `bw_authorization_config_free`.
#[unsafe(no_mangle)]
pub extern "C" fn bw_authorization_config_new(
    server_url: bw_bytes,
    grant: i32,
    seed: *const u8,
    config: Option<&mut MaybeUninit<Option<Box<bw_authorization_config>>>>,
) -> bw_status {
    status(|| {
        let config = place(config)?;
        let grant = match grant {
            1 => {
                let mut grant = CodeGrant::new("", "");
                grant.dynamic_registration = None;
                Grant::AuthorizationCode(grant)
            }
            2 => Grant::ClientCredentials,
            3 => {
                let nobody = ClientRegistration::new(None, "", ClientAuthentication::None);
                Grant::Enterprise(EnterpriseGrant::new("", nobody))
            }
            4 => Grant::WorkloadIdentity,
            _ => return Err(Failure::argument("not a number of bw_grant")),
        };
        let seed = Seed::new(block::<BW_SEED_BYTES>(seed)?);
        let machine = AuthorizationConfig::new(server_url.text()?, grant, seed);
        config.write(Some(Box::new(bw_authorization_config { machine })));
        Ok(())
    })
}

/// Frees a configuration. NULL is nothing to free.
#[unsafe(no_mangle)]
pub extern "C" fn bw_authorization_config_free(config: Option<Box<bw_authorization_config>>) {
    free(config);
}

/// Authorization code: sets where the user agent comes back to: https, or http on a loopback host, or a scheme with a dot
/// in it that belongs to the application (RFC 8252, section 7.1). A stored registration is used again for the same one only.
#[unsafe(no_mangle)]
pub extern "C" fn bw_authorization_config_set_redirect_uri(
    config: Option<&mut bw_authorization_config>,
    redirect_uri: bw_bytes,
) -> bw_status {
    set_code(config, |grant| {
        grant.redirect_uri = redirect_uri.text()?.into();
        Ok(())
    })
}

/// Authorization code: sets that dynamic registration (RFC 7591) is used, and the client's name for people there.
/// `application_type` is a number of `bw_application_type`, or 0. Without this call it is not used.
#[unsafe(no_mangle)]
pub extern "C" fn bw_authorization_config_set_dynamic_registration(
    config: Option<&mut bw_authorization_config>,
    client_name: bw_bytes,
    application_type: i32,
) -> bw_status {
    set_code(config, |grant| {
        let application_type = match application_type {
            0 => None,
            1 => Some(ApplicationType::Native),
            2 => Some(ApplicationType::Web),
            _ => return Err(Failure::argument("not a number of bw_application_type")),
        };
        let mut registration = CodeGrant::new("", client_name.text()?).dynamic_registration;
        if let Some(registration) = &mut registration {
            registration.application_type = application_type;
        }
        grant.dynamic_registration = registration;
        Ok(())
    })
}

/// Authorization code: sets the client whose id is the https URL of its metadata document, for authorization servers that
/// take such. Default none.
#[unsafe(no_mangle)]
pub extern "C" fn bw_authorization_config_set_metadata_client(
    config: Option<&mut bw_authorization_config>,
    client: Option<&bw_client_registration>,
) -> bw_status {
    set_code(config, |grant| {
        grant.metadata_client = Some(client.ok_or(Failure::NULL)?.read()?);
        Ok(())
    })
}

/// Authorization code: sets whether the host can provide a client when nothing else is left (BW_ACTION_PROVIDE_CLIENT).
/// Default false.
#[unsafe(no_mangle)]
pub extern "C" fn bw_authorization_config_set_asks_for_client(
    config: Option<&mut bw_authorization_config>,
    asks: bool,
) -> bw_status {
    set_code(config, |grant| {
        grant.asks_for_client = asks;
        Ok(())
    })
}

/// Enterprise: sets where the identity provider exchanges tokens (RFC 8693), the client there (its `issuer` is the
/// provider's), and what kind of assertion the host has, a number of `bw_subject_token`.
#[unsafe(no_mangle)]
pub extern "C" fn bw_authorization_config_set_identity_provider(
    config: Option<&mut bw_authorization_config>,
    token_endpoint: bw_bytes,
    client: Option<&bw_client_registration>,
    subject_token: i32,
) -> bw_status {
    set(config, |machine| {
        let Grant::Enterprise(grant) = &mut machine.grant else {
            return Err(Failure::argument("it belongs to the enterprise grant"));
        };
        let mut provider = EnterpriseGrant::new(token_endpoint.text()?, client.ok_or(Failure::NULL)?.read()?);
        provider.subject_token_type = match subject_token {
            1 => SubjectTokenType::IdToken,
            2 => SubjectTokenType::Saml2,
            _ => return Err(Failure::argument("not a number of bw_subject_token")),
        };
        *grant = provider;
        Ok(())
    })
}

/// Adds a client that was registered beforehand, with the authorization server that knows it. If there are some and none
/// fits, the flow fails with BW_AUTHORIZATION_ERROR_PREREGISTERED_ISSUER_MISMATCH.
#[unsafe(no_mangle)]
pub extern "C" fn bw_authorization_config_add_client(
    config: Option<&mut bw_authorization_config>,
    client: Option<&bw_client_registration>,
) -> bw_status {
    set(config, |machine| {
        machine.clients.push(client.ok_or(Failure::NULL)?.read()?);
        Ok(())
    })
}

/// Sets the scopes to ask for at first, instead of those that the server names.
#[unsafe(no_mangle)]
pub extern "C" fn bw_authorization_config_set_scopes(
    config: Option<&mut bw_authorization_config>,
    scopes: *const bw_bytes,
    count: usize,
) -> bw_status {
    set(config, |machine| {
        machine.scopes = Some(texts(scopes, count)?);
        Ok(())
    })
}

/// Sets whether to ask for refresh tokens: `refresh_token` among the grant types of a registration, and the scope
/// `offline_access` where the authorization server lists it. Default true.
#[unsafe(no_mangle)]
pub extern "C" fn bw_authorization_config_set_wants_refresh(
    config: Option<&mut bw_authorization_config>,
    wanted: bool,
) -> bw_status {
    set(config, |machine| {
        machine.wants_refresh = wanted;
        Ok(())
    })
}

/// Sets the key that tokens are bound to (RFC 9449), used with authorization servers that list its algorithm: the name of
/// the algorithm in JOSE, such as `ES256`, and the public key as a JWK object (RFC 7517). With `required` a token that is not
/// bound to it is refused; without, it is used as a bearer token. Default no key.
#[unsafe(no_mangle)]
pub extern "C" fn bw_authorization_config_set_dpop_key(
    config: Option<&mut bw_authorization_config>,
    algorithm: bw_bytes,
    public_key: bw_bytes,
    required: bool,
) -> bw_status {
    set(config, |machine| {
        let mut key = DpopKey::new(algorithm.text()?, public_key.json()?);
        key.is_required = required;
        machine.dpop = Some(key);
        Ok(())
    })
}

/// Sets whether to fall back to the endpoints of the oldest revision with authorization, at the origin of the MCP server,
/// where it has no resource metadata. Default false: later revisions forbid it, and what stands there is not checked for
/// PKCE.
#[unsafe(no_mangle)]
pub extern "C" fn bw_authorization_config_set_legacy_endpoints(
    config: Option<&mut bw_authorization_config>,
    used: bool,
) -> bw_status {
    set(config, |machine| {
        machine.legacy_endpoints = used;
        Ok(())
    })
}

/// Sets the milliseconds to wait for the user to come back. Default 600 000.
#[unsafe(no_mangle)]
pub extern "C" fn bw_authorization_config_set_callback_timeout(
    config: Option<&mut bw_authorization_config>,
    milliseconds: u64,
) -> bw_status {
    set(config, |machine| {
        machine.callback_timeout = milliseconds;
        Ok(())
    })
}

/// Sets the milliseconds before its expiry from which a token is renewed. Default 30 000.
#[unsafe(no_mangle)]
pub extern "C" fn bw_authorization_config_set_renew_before(
    config: Option<&mut bw_authorization_config>,
    milliseconds: u64,
) -> bw_status {
    set(config, |machine| {
        machine.renew_before = milliseconds;
        Ok(())
    })
}

/// Sets the most bytes of the body of a response. Default 262 144.
#[unsafe(no_mangle)]
pub extern "C" fn bw_authorization_config_set_response_bytes(
    config: Option<&mut bw_authorization_config>,
    bytes: usize,
) -> bw_status {
    set(config, |machine| {
        machine.response_bytes = bytes;
        Ok(())
    })
}
