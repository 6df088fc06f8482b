//! Why an authorization failed: one reason each, numbered for all languages.

use alloc::boxed::Box;
use alloc::string::String;
use core::fmt;

use super::action::HttpPurpose;
use super::secret::Secret;

/// Why there are no credentials. None holds a token, code, verifier or secret.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AuthorizationError {
    /// The MCP server has no usable protected resource metadata (RFC 9728).
    NoResourceMetadata,
    /// Its metadata is about another resource.
    ResourceMismatch {
        /// The resource that it names.
        named: Box<str>,
    },
    /// The authorization server has no usable metadata (RFC 8414, `OpenID` Connect Discovery).
    NoServerMetadata {
        /// The issuer identifier that the MCP server named.
        issuer: Box<str>,
    },
    /// The metadata names another issuer than the one it was asked of.
    IssuerMismatch {
        /// Whom it was asked of.
        expected: Box<str>,
        /// Whom it names.
        named: Box<str>,
    },
    /// The authorization server does not say that it supports PKCE with S256.
    PkceUnsupported,
    /// A URL that metadata names cannot be used: not https, not http on a loopback host where that is allowed, with a user,
    /// with a fragment.
    UnusableUrl {
        /// The member that holds it.
        member: &'static str,
    },

    /// There is no way to be a client of this authorization server.
    NoRegistration {
        /// Its issuer identifier.
        issuer: Box<str>,
    },
    /// Clients are configured, but for other authorization servers.
    PreregisteredIssuerMismatch {
        /// The issuer identifier that the MCP server named.
        issuer: Box<str>,
    },
    /// The authorization server refused the registration.
    RegistrationRejected(OAuthError),
    /// The answer to a registration makes no sense.
    InvalidRegistration,

    /// The callback names no `state`, or another one: it was dropped, and the right one is still awaited.
    StateMismatch,
    /// No callback is awaited.
    UnexpectedCallback,
    /// The callback has a parameter twice.
    DuplicateParameter {
        /// Which.
        name: &'static str,
    },
    /// The callback lacks `iss`, which the authorization server sends (RFC 9207).
    IssuerParameterMissing,
    /// The callback comes from another issuer.
    IssuerParameterMismatch,
    /// The authorization server, or the user there, refused.
    Denied(OAuthError),
    /// The callback has neither a code nor an error.
    NoCode,
    /// The user did not come back in time.
    TimedOut,
    /// The host cancelled it, or the user did not want it.
    Cancelled,

    /// The token endpoint refused.
    TokenRequestRejected(OAuthError),
    /// The answer of the token endpoint makes no sense.
    InvalidTokenResponse,
    /// The token is not bound to the key, which is required.
    TokenNotBound,
    /// The identity provider gave something else than an identity assertion grant.
    NotIdentityAssertionGrant,

    /// The MCP server refuses tokens that were just issued for it.
    TokenRefused,
    /// The MCP server forbids the operation, and names no scope that would help.
    Forbidden,
    /// The scopes that the operation needs were asked for already and not granted.
    ScopeDenied,
    /// The operation was refused as often as it may be.
    StepUpExhausted,

    /// A request brought no response, or 5xx or 429. Worth another try.
    Unavailable {
        /// What it was for.
        purpose: HttpPurpose,
        /// The status, if there was one.
        status: Option<u16>,
    },
    /// A response is too large.
    ResponseTooLarge {
        /// What it was for.
        purpose: HttpPurpose,
    },
    /// A response was a redirect, which is not followed.
    Redirected {
        /// What it was for.
        purpose: HttpPurpose,
    },
    /// The host's policy forbade a request.
    RequestForbidden {
        /// What it was for.
        purpose: HttpPurpose,
    },
    /// The host could not sign.
    SigningFailed,
    /// The host had no assertion.
    NoAssertion,
    /// The store is out of order. Worth another try.
    StoreUnavailable,
}

/// The error members of an OAuth response (OAuth 2.1, sections 3.2.4 and 4.1.2.1). They are the peer's words: one line, at most
/// 500 characters each, and nothing of what was sent.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct OAuthError {
    /// `error`; empty if there was none.
    pub code: Box<str>,
    /// `error_description`.
    pub description: Option<Box<str>>,
    /// `error_uri`.
    pub uri: Option<Box<str>>,
}

impl OAuthError {
    /// Takes a peer's words, made fit to be shown.
    pub(super) fn new(code: &str, description: Option<&str>, uri: Option<&str>) -> OAuthError {
        let code = one_line(code);
        OAuthError { code, description: description.map(one_line), uri: uri.map(one_line) }
    }

    /// Leaves out what repeats a secret.
    pub(super) fn without<'a>(mut self, secrets: impl IntoIterator<Item = &'a Secret>) -> OAuthError {
        for secret in secrets {
            let tells =
                |text: &str| secret.expose().len() >= SHORTEST_SECRET && text.contains(secret.expose());
            self.description = self.description.filter(|text| !tells(text));
            self.uri = self.uri.filter(|text| !tells(text));
            if tells(&self.code) {
                self.code = Box::default();
            }
        }
        self
    }
}

/// What is shorter may be a word of any language.
const SHORTEST_SECRET: usize = 8;

/// Longest text of a peer's that is shown, in characters.
const MOST_CHARACTERS: usize = 500;

fn one_line(text: &str) -> Box<str> {
    let shown = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    shown.take(MOST_CHARACTERS).collect::<String>().into()
}

impl AuthorizationError {
    /// Whether the same may work a little later: nothing was decided.
    pub const fn is_retryable(&self) -> bool {
        matches!(self, AuthorizationError::Unavailable { .. } | AuthorizationError::StoreUnavailable)
    }

    /// The number of this error, the same in every language. Numbers are never reused, and none is one of
    /// [`Error`](crate::Error)'s.
    pub const fn code(&self) -> u16 {
        use AuthorizationError as E;
        match self {
            E::NoResourceMetadata => 701,
            E::ResourceMismatch { .. } => 702,
            E::NoServerMetadata { .. } => 703,
            E::IssuerMismatch { .. } => 704,
            E::PkceUnsupported => 705,
            E::UnusableUrl { .. } => 706,
            E::NoRegistration { .. } => 711,
            E::PreregisteredIssuerMismatch { .. } => 712,
            E::RegistrationRejected(_) => 713,
            E::InvalidRegistration => 714,
            E::StateMismatch => 721,
            E::UnexpectedCallback => 722,
            E::DuplicateParameter { .. } => 723,
            E::IssuerParameterMissing => 724,
            E::IssuerParameterMismatch => 725,
            E::Denied(_) => 726,
            E::NoCode => 727,
            E::TimedOut => 728,
            E::Cancelled => 729,
            E::TokenRequestRejected(_) => 731,
            E::InvalidTokenResponse => 732,
            E::TokenNotBound => 733,
            E::NotIdentityAssertionGrant => 734,
            E::TokenRefused => 741,
            E::Forbidden => 742,
            E::ScopeDenied => 743,
            E::StepUpExhausted => 744,
            E::Unavailable { .. } => 751,
            E::ResponseTooLarge { .. } => 752,
            E::Redirected { .. } => 753,
            E::RequestForbidden { .. } => 754,
            E::SigningFailed => 761,
            E::NoAssertion => 762,
            E::StoreUnavailable => 763,
        }
    }
}

impl fmt::Display for AuthorizationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use AuthorizationError as E;
        f.write_str(match self {
            E::NoResourceMetadata => "the MCP server has no usable protected resource metadata",
            E::ResourceMismatch { named } => {
                return write!(f, "the resource metadata is about another resource: {named:?}");
            }
            E::NoServerMetadata { issuer } => {
                return write!(f, "the authorization server {issuer:?} has no usable metadata");
            }
            E::IssuerMismatch { expected, named } => {
                return write!(f, "the metadata of {expected:?} names another issuer: {named:?}");
            }
            E::PkceUnsupported => "the authorization server does not say that it supports PKCE with S256",
            E::UnusableUrl { member } => {
                return write!(f, "the URL in {member} cannot be used: it must be https");
            }
            E::NoRegistration { issuer } => {
                return write!(f, "there is no way to be a client of {issuer:?}: provide a client id");
            }
            E::PreregisteredIssuerMismatch { issuer } => {
                return write!(f, "no configured client belongs to the authorization server {issuer:?}");
            }
            E::RegistrationRejected(error) => return write!(f, "the registration was refused: {error}"),
            E::InvalidRegistration => "the answer to the registration makes no sense",
            E::StateMismatch => "the callback does not have the state that is awaited",
            E::UnexpectedCallback => "no callback is awaited",
            E::DuplicateParameter { name } => return write!(f, "the callback has {name} twice"),
            E::IssuerParameterMissing => "the callback lacks the issuer",
            E::IssuerParameterMismatch => "the callback comes from another issuer",
            E::Denied(error) => return write!(f, "the authorization was denied: {error}"),
            E::NoCode => "the callback has neither a code nor an error",
            E::TimedOut => "the user did not come back in time",
            E::Cancelled => "the authorization was cancelled",
            E::TokenRequestRejected(error) => return write!(f, "the token request was refused: {error}"),
            E::InvalidTokenResponse => "the answer of the token endpoint makes no sense",
            E::TokenNotBound => "the token is not bound to the key",
            E::NotIdentityAssertionGrant => "the identity provider gave no identity assertion grant",
            E::TokenRefused => "the MCP server refuses tokens that were just issued for it",
            E::Forbidden => "the MCP server forbids the operation",
            E::ScopeDenied => "the scopes that the operation needs were not granted",
            E::StepUpExhausted => "the operation was refused too often",
            E::Unavailable { purpose, status } => {
                return match status {
                    Some(status) => write!(f, "the {} request failed with status {status}", purpose.name()),
                    None => write!(f, "the {} request brought no response", purpose.name()),
                };
            }
            E::ResponseTooLarge { purpose } => {
                return write!(f, "the response to the {} request is too large", purpose.name());
            }
            E::Redirected { purpose } => {
                return write!(f, "the {} request was redirected", purpose.name());
            }
            E::RequestForbidden { purpose } => {
                return write!(f, "the {} request was forbidden here", purpose.name());
            }
            E::SigningFailed => "the host could not sign",
            E::NoAssertion => "the host had no assertion",
            E::StoreUnavailable => "the token store is out of order",
        })
    }
}

impl fmt::Display for OAuthError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.code.is_empty() { "no reason given" } else { &self.code })?;
        self.description.as_deref().map_or(Ok(()), |description| write!(f, " ({description})"))
    }
}

impl core::error::Error for AuthorizationError {}

#[cfg(test)]
mod tests {
    use super::AuthorizationError as E;
    use super::*;
    use alloc::collections::BTreeSet;
    use alloc::format;
    use alloc::vec::Vec;

    fn all() -> Vec<E> {
        let (purpose, text) = (HttpPurpose::Token, || Box::from("x"));
        let error = || OAuthError::new("invalid_grant", Some("why"), None);
        Vec::from([
            E::NoResourceMetadata,
            E::ResourceMismatch { named: text() },
            E::NoServerMetadata { issuer: text() },
            E::IssuerMismatch { expected: text(), named: text() },
            E::PkceUnsupported,
            E::UnusableUrl { member: "token_endpoint" },
            E::NoRegistration { issuer: text() },
            E::PreregisteredIssuerMismatch { issuer: text() },
            E::RegistrationRejected(error()),
            E::InvalidRegistration,
            E::StateMismatch,
            E::UnexpectedCallback,
            E::DuplicateParameter { name: "code" },
            E::IssuerParameterMissing,
            E::IssuerParameterMismatch,
            E::Denied(error()),
            E::NoCode,
            E::TimedOut,
            E::Cancelled,
            E::TokenRequestRejected(error()),
            E::InvalidTokenResponse,
            E::TokenNotBound,
            E::NotIdentityAssertionGrant,
            E::TokenRefused,
            E::Forbidden,
            E::ScopeDenied,
            E::StepUpExhausted,
            E::Unavailable { purpose, status: Some(503) },
            E::ResponseTooLarge { purpose },
            E::Redirected { purpose },
            E::RequestForbidden { purpose },
            E::SigningFailed,
            E::NoAssertion,
            E::StoreUnavailable,
        ])
    }

    #[test]
    fn each_has_a_number_and_words_of_its_own() {
        let errors = all();
        let codes: BTreeSet<_> = errors.iter().map(E::code).collect();
        let words: BTreeSet<_> = errors.iter().map(|error| format!("{error}")).collect();
        assert_eq!((codes.len(), words.len()), (errors.len(), errors.len()));
        assert!(codes.iter().all(|code| (701..800).contains(code)));
        let retryable: Vec<_> = errors.iter().filter(|error| error.is_retryable()).map(E::code).collect();
        assert_eq!(retryable, [751, 763]);
    }

    #[test]
    fn words_of_peers_are_one_line_and_repeat_no_secret() {
        let error = OAuthError::new("a\r\nb", Some(&"é".repeat(1_000)), Some("https://as/?code=SPENT-CODE"));
        assert_eq!(
            (&*error.code, error.description.as_deref().map(|text| text.chars().count())),
            ("a  b", Some(500))
        );
        let error = error.without([&"SPENT-CODE".into(), &"b".into()]);
        assert_eq!((&*error.code, error.description.is_some(), error.uri), ("a  b", true, None));
        let error = OAuthError::new("SPENT-CODE", None, None).without([&"SPENT-CODE".into()]);
        assert_eq!(format!("{error}"), "no reason given");
    }
}
