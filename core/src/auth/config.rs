//! What the host decides about authorization: how tokens are come by, and as which client.

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::json::Json;
use crate::seed::Seed;

use super::secret::Secret;

/// How an [`Authorization`](super::Authorization) is set up.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct AuthorizationConfig {
    /// The URL of the MCP server, as the user wrote it. https, or http on a loopback host.
    ///
    /// http on loopback hosts is allowed for OAuth URLs only if this URL is such a one, so that a remote server cannot lead a
    /// client to services of its own machine.
    pub server_url: Box<str>,
    /// How tokens are come by.
    pub grant: Grant,
    /// The randomness of `state`, verifiers and JWT ids.
    pub seed: Seed,
    /// Clients that were registered beforehand, each with the authorization server that knows it. If there are some and
    /// none fits, the flow fails with
    /// [`PreregisteredIssuerMismatch`](super::AuthorizationError::PreregisteredIssuerMismatch).
    pub clients: Vec<ClientRegistration>,
    /// Scopes to ask for at first instead of those the server names. Default none.
    pub scopes: Option<Vec<Box<str>>>,
    /// Whether to ask for refresh tokens: `refresh_token` among the grant types of a registration, and the scope
    /// `offline_access` where the authorization server lists it. Default true.
    pub wants_refresh: bool,
    /// The key that tokens are bound to (RFC 9449), used with authorization servers that list its algorithm. Default none.
    pub dpop: Option<DpopKey>,
    /// Whether to fall back to the endpoints of 2025-03-26 at the origin of the MCP server where it has no resource metadata.
    /// Default false: later revisions forbid it, and what stands there is not checked for PKCE.
    pub legacy_endpoints: bool,
    /// Milliseconds to wait for the user to come back. Default 600 000.
    pub callback_timeout: u64,
    /// Milliseconds before its expiry from which a token is renewed. Default 30 000.
    pub renew_before: u64,
    /// Most bytes of the body of a response. Default 256 KiB.
    pub response_bytes: usize,
}

impl AuthorizationConfig {
    /// For the MCP server at `server_url`, with the defaults.
    pub fn new(server_url: &str, grant: Grant, seed: Seed) -> AuthorizationConfig {
        AuthorizationConfig {
            server_url: server_url.into(),
            grant,
            seed,
            clients: Vec::new(),
            scopes: None,
            wants_refresh: true,
            dpop: None,
            legacy_endpoints: false,
            callback_timeout: 600_000,
            renew_before: 30_000,
            response_bytes: 256 << 10,
        }
    }
}

/// How tokens are come by.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Grant {
    /// A user consents in a user agent (OAuth 2.1, section 4.1), with PKCE.
    AuthorizationCode(CodeGrant),
    /// The client acts for itself (OAuth 2.1, section 4.2; extension `io.modelcontextprotocol/oauth-client-credentials`).
    /// It must be one of [`clients`](AuthorizationConfig::clients), with a secret or a key.
    ClientCredentials,
    /// The identity provider of an organisation vouches for the user (extension
    /// `io.modelcontextprotocol/enterprise-managed-authorization`). The client at the authorization server is one of
    /// [`clients`](AuthorizationConfig::clients).
    Enterprise(EnterpriseGrant),
    /// A JWT that the platform gave to the workload is exchanged for a token (RFC 7523, section 2.1). The client is one of
    /// [`clients`](AuthorizationConfig::clients).
    WorkloadIdentity,
}

/// What the authorization code grant needs beside registered clients.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CodeGrant {
    /// Where the user agent comes back to: https, or http on a loopback host, or a scheme with a dot in it that belongs to
    /// the application (RFC 8252, section 7.1).
    pub redirect_uri: Box<str>,
    /// The client whose id is the https URL of its metadata document, for authorization servers that take such.
    /// Default none.
    pub metadata_client: Option<ClientRegistration>,
    /// What dynamic registration says. `None`: it is not used.
    pub dynamic_registration: Option<DynamicRegistration>,
    /// Whether the host can provide a client when nothing else is left
    /// ([`ProvideClient`](super::ActionKind::ProvideClient)). Default false.
    pub asks_for_client: bool,
}

impl CodeGrant {
    /// With dynamic registration under `client_name`.
    pub fn new(redirect_uri: &str, client_name: &str) -> CodeGrant {
        CodeGrant {
            redirect_uri: redirect_uri.into(),
            metadata_client: None,
            dynamic_registration: Some(DynamicRegistration {
                client_name: client_name.into(),
                application_type: None,
            }),
            asks_for_client: false,
        }
    }
}

/// What dynamic registration (RFC 7591) says of the client, beside what follows from the rest.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DynamicRegistration {
    /// Its name for people.
    pub client_name: Box<str>,
    /// `native` or `web`; none: `web` if the redirect URI is https, else `native`.
    pub application_type: Option<ApplicationType>,
}

/// What an application is (`OpenID` Connect Dynamic Client Registration 1.0, section 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApplicationType {
    /// On the user's machine.
    Native,
    /// On a web server.
    Web,
}

/// What enterprise-managed authorization needs beside registered clients. The assertion of the user's identity comes from
/// the host when it is needed ([`ProvideAssertion`](super::ActionKind::ProvideAssertion)).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct EnterpriseGrant {
    /// Where the identity provider exchanges tokens (RFC 8693).
    pub token_endpoint: Box<str>,
    /// The client at the identity provider. Its `issuer` is the provider's.
    pub client: ClientRegistration,
    /// What kind of assertion the host has. Default an ID token of `OpenID` Connect.
    pub subject_token_type: SubjectTokenType,
}

impl EnterpriseGrant {
    /// With ID tokens.
    pub fn new(token_endpoint: &str, client: ClientRegistration) -> EnterpriseGrant {
        EnterpriseGrant {
            token_endpoint: token_endpoint.into(),
            client,
            subject_token_type: SubjectTokenType::IdToken,
        }
    }
}

/// Kinds of identity assertions (RFC 8693, section 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SubjectTokenType {
    /// An ID token of `OpenID` Connect.
    IdToken,
    /// A SAML 2.0 assertion, base64url-encoded.
    Saml2,
}

/// A client as one authorization server knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClientRegistration {
    /// The issuer identifier of the authorization server, byte for byte. None: the one that the MCP server names first; it
    /// is kept with the tokens, and another one is refused from then on.
    pub issuer: Option<Box<str>>,
    /// Its id.
    pub client_id: Box<str>,
    /// How it proves that it is this client.
    pub authentication: ClientAuthentication,
}

impl ClientRegistration {
    /// A client that `issuer` knows.
    pub fn new(
        issuer: Option<&str>,
        client_id: &str,
        authentication: ClientAuthentication,
    ) -> ClientRegistration {
        ClientRegistration { issuer: issuer.map(Into::into), client_id: client_id.into(), authentication }
    }
}

/// How a client authenticates at the token endpoint (OAuth 2.1, section 2.4).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ClientAuthentication {
    /// Not at all: a public client.
    None,
    /// With a secret.
    Secret {
        /// The secret.
        secret: Secret,
        /// How it is sent; none: as the authorization server likes it, in the header if it likes both.
        method: Option<SecretMethod>,
    },
    /// With a JWT that the host signs (RFC 7523, section 2.2).
    PrivateKeyJwt {
        /// The algorithm's name in JOSE, such as `ES256`.
        algorithm: Box<str>,
        /// The key's id for the JWT header.
        key_id: Option<Box<str>>,
        /// Whom the JWT is for.
        audience: AssertionAudience,
    },
}

/// How a secret is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecretMethod {
    /// In the `Authorization` header: `client_secret_basic`.
    Basic,
    /// In the body: `client_secret_post`.
    Post,
}

/// Whom a client's assertion is for; authorization servers differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AssertionAudience {
    /// The issuer identifier.
    Issuer,
    /// The URL of the token endpoint.
    TokenEndpoint,
}

/// The key that tokens are bound to.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DpopKey {
    /// The algorithm's name in JOSE, such as `ES256`; asymmetric.
    pub algorithm: Box<str>,
    /// The public key as a JWK object (RFC 7517).
    pub public_key: Json,
    /// Whether a token that is not bound to it is refused. Default false: such a token is used as a bearer token.
    pub is_required: bool,
}

impl DpopKey {
    /// A key that is used where it can be.
    pub fn new(algorithm: &str, public_key: Json) -> DpopKey {
        DpopKey { algorithm: algorithm.into(), public_key, is_required: false }
    }
}
