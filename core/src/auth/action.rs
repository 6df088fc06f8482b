//! What the machine asks of its host, and what it tells it.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;

use super::error::AuthorizationError;
use super::secret::Secret;

/// Names one action, so that an answer that comes too late is known. Never used twice by one machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ActionHandle(u64);

impl ActionHandle {
    /// The action with this number, for bindings.
    pub const fn from_number(number: u64) -> ActionHandle {
        ActionHandle(number)
    }

    /// The number, for bindings.
    pub const fn number(self) -> u64 {
        self.0
    }
}

/// One thing to do. Each is answered by the verb that its kind names, or by
/// [`fail_action`](super::Authorization::fail_action).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Action {
    /// Names it in the answer.
    pub handle: ActionHandle,
    /// What to do.
    pub kind: ActionKind,
}

impl Action {
    pub(super) const fn new(handle: ActionHandle, kind: ActionKind) -> Action {
        Action { handle, kind }
    }
}

/// What to do.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ActionKind {
    /// Read what is stored for this MCP server and principal, as it is now; answer with
    /// [`loaded`](super::Authorization::loaded).
    Load,
    /// Store this record if the store still has generation `expected` (0: nothing); answer with
    /// [`saved`](super::Authorization::saved). It holds tokens and secrets: keep it like passwords.
    Save {
        /// The generation that the store must have.
        expected: u64,
        /// What to store.
        record: StoredRecord,
    },
    /// Carry out this request; answer with [`receive_response`](super::Authorization::receive_response).
    Send(OAuthRequest),
    /// Open the user's browser; answer with [`receive_callback`](super::Authorization::receive_callback) when it comes back.
    OpenUserAgent(UserAgentVisit),
    /// Sign these bytes; answer with [`signed`](super::Authorization::signed).
    Sign(SigningRequest),
    /// Ask the user for a client that is registered at this authorization server; answer with
    /// [`client_provided`](super::Authorization::client_provided).
    ProvideClient {
        /// Its issuer identifier.
        issuer: Box<str>,
    },
    /// Get an assertion that is valid now: the user's ID token or SAML assertion (enterprise), or the JWT of the workload;
    /// answer with [`assertion_provided`](super::Authorization::assertion_provided).
    ProvideAssertion {
        /// Whom the assertion of a workload must be for: the issuer identifier of the authorization server.
        issuer: Box<str>,
        /// The MCP server.
        resource: Box<str>,
    },
}

/// What an action is answered with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Record,
    Outcome,
    Response,
    Callback,
    Signature,
    Client,
    Assertion,
}

impl ActionKind {
    pub(super) const fn answer(&self) -> Answer {
        match self {
            ActionKind::Load => Answer::Record,
            ActionKind::Save { .. } => Answer::Outcome,
            ActionKind::Send(_) => Answer::Response,
            ActionKind::OpenUserAgent(_) => Answer::Callback,
            ActionKind::Sign(_) => Answer::Signature,
            ActionKind::ProvideClient { .. } => Answer::Client,
            ActionKind::ProvideAssertion { .. } => Answer::Assertion,
        }
    }
}

/// What is stored between processes and runs: text of the machine's own, and a counter for comparing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredRecord {
    /// One more with each change; the first is 1.
    pub generation: u64,
    /// JSON; its members are the machine's own affair. Secret.
    pub text: Secret,
}

/// What became of [`ActionKind::Save`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SaveOutcome {
    /// It is stored.
    Saved,
    /// The store has another generation: this is what it holds, if anything.
    Conflict(Option<StoredRecord>),
}

/// Why an action was not carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ActionFailure {
    /// No response came, or not all of it; a store, a signer or a source of assertions is out of order. Worth another try.
    Unavailable,
    /// The body is longer than [`response_bytes`](OAuthRequest::response_bytes).
    TooLarge,
    /// A policy of the host forbids it.
    Forbidden,
    /// The user does not want it.
    Declined,
}

/// What an HTTP request is for, so that the host can apply its policies: which addresses may be reached, through which proxy
/// (`tutorials/security/security_best_practices`, Server-Side Request Forgery).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum HttpPurpose {
    /// Protected resource metadata (RFC 9728); the URL may come from the MCP server.
    ResourceMetadata,
    /// Authorization server metadata (RFC 8414, `OpenID` Connect Discovery); the URL comes from the MCP server.
    ServerMetadata,
    /// Dynamic registration (RFC 7591).
    Registration,
    /// A token.
    Token,
    /// A token exchange at the identity provider, whose URL is configured.
    IdentityProvider,
}

impl HttpPurpose {
    /// Its name in messages.
    pub const fn name(self) -> &'static str {
        match self {
            HttpPurpose::ResourceMetadata => "protected resource metadata",
            HttpPurpose::ServerMetadata => "authorization server metadata",
            HttpPurpose::Registration => "client registration",
            HttpPurpose::Token => "token",
            HttpPurpose::IdentityProvider => "token exchange",
        }
    }
}

/// An HTTP request to carry out. The host follows no redirect and sends no cookies: the response is handed in, whatever its
/// status. `Debug` shows neither the query nor credentials nor the body.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct OAuthRequest {
    /// What it is for.
    pub purpose: HttpPurpose,
    /// The method.
    pub method: &'static str,
    /// Where to.
    pub url: Box<str>,
    /// Names in lower case, and values, without those of the host's own.
    pub headers: Vec<(&'static str, Secret)>,
    /// The body; empty for GET.
    pub body: Secret,
    /// The body of the response may have no more bytes than this: read no further.
    pub response_bytes: usize,
}

impl fmt::Debug for OAuthRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OAuthRequest")
            .field("purpose", &self.purpose)
            .field("method", &self.method)
            .field("url", &without_query(&self.url))
            .finish_non_exhaustive()
    }
}

/// Where the user consents. `Debug` does not show the query.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct UserAgentVisit {
    /// The URL to open, never through a shell. It carries `state` and the challenge.
    pub url: Box<str>,
    /// Where the user agent comes back to.
    pub redirect_uri: Box<str>,
}

impl fmt::Debug for UserAgentVisit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UserAgentVisit")
            .field("url", &without_query(&self.url))
            .field("redirect_uri", &self.redirect_uri)
            .finish()
    }
}

fn without_query(url: &str) -> Cow<'_, str> {
    url.split_once('?').map_or(Cow::Borrowed(url), |(start, _)| Cow::Owned([start, "?.."].concat()))
}

/// Bytes to sign, which become a JWT with their signature (RFC 7515, section 5.1).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SigningRequest {
    /// With which key.
    pub key: SigningKey,
    /// The algorithm's name in JOSE, as configured. The signature has the form of RFC 7518: for ECDSA the two numbers, not DER.
    pub algorithm: Box<str>,
    /// What is signed, as ASCII.
    pub input: Secret,
}

impl SigningRequest {
    /// A request from its parts, for bindings.
    pub fn new(key: SigningKey, algorithm: &str, input: Secret) -> SigningRequest {
        SigningRequest { key, algorithm: algorithm.into(), input }
    }
}

/// A key of the host.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SigningKey {
    /// The key of this client ([`PrivateKeyJwt`](super::ClientAuthentication::PrivateKeyJwt)).
    Client {
        /// The client's id.
        client_id: Box<str>,
    },
    /// The key that tokens are bound to ([`DpopKey`](super::DpopKey)).
    Dpop,
}

/// What the machine tells whoever waits for credentials.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AuthorizationEvent {
    /// There is something to try: [`credentials`](super::Authorization::credentials) gives it.
    Settled {
        /// Who waited.
        waiter: u64,
    },
    /// There is not.
    Refused {
        /// Who waited.
        waiter: u64,
        /// Why.
        error: AuthorizationError,
    },
}
