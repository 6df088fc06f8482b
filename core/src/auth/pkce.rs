//! The authorization request: PKCE (RFC 7636), `state`, and the URL that the user agent opens (OAuth 2.1, section 4.1.1;
//! RFC 8707, section 2.1).

use alloc::boxed::Box;
use alloc::string::String;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};

use crate::seed::Generator;

use super::secret::Secret;
use super::urls::write_form;

/// What has to be remembered of an authorization request until the callback (2026-07-28 basic/authorization, Authorization
/// Response Validation).
#[derive(Clone, Debug)]
pub(super) struct PendingConsent {
    pub(super) state: Secret,
    pub(super) verifier: Secret,
    /// The issuer that the metadata was validated for.
    pub(super) issuer: Box<str>,
    /// The authorization server says that it sends `iss`.
    pub(super) sends_issuer: bool,
}

impl PendingConsent {
    pub(super) fn new(generator: &mut Generator, issuer: &str, sends_issuer: bool) -> PendingConsent {
        PendingConsent {
            state: generator.token(16).into(),
            verifier: generator.token(32).into(),
            issuer: issuer.into(),
            sends_issuer,
        }
    }

    fn challenge(&self) -> String {
        URL_SAFE_NO_PAD.encode(Sha256::digest(self.verifier.expose()))
    }
}

/// What an authorization request says beside what [`PendingConsent`] holds.
#[derive(Clone, Copy, Debug)]
pub(super) struct ConsentRequest<'a> {
    pub(super) endpoint: &'a str,
    pub(super) client_id: &'a str,
    pub(super) redirect_uri: &'a str,
    pub(super) resource: &'a str,
    /// Empty: it is left out.
    pub(super) scope: &'a str,
}

/// The URL to open. What the endpoint has as a query stays.
pub(super) fn consent_url(request: ConsentRequest<'_>, consent: &PendingConsent) -> Box<str> {
    let mut url = String::from(request.endpoint);
    url.push(if url.contains('?') { '&' } else { '?' });
    let challenge = consent.challenge();
    let pairs = [
        ("response_type", "code"),
        ("client_id", request.client_id),
        ("redirect_uri", request.redirect_uri),
        ("code_challenge", &challenge),
        ("code_challenge_method", "S256"),
        ("state", consent.state.expose()),
        ("resource", request.resource),
        ("scope", request.scope),
    ];
    write_form(&mut url, pairs.into_iter().filter(|(_, value)| !value.is_empty()));
    url.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;
    use alloc::format;

    fn consent() -> PendingConsent {
        PendingConsent::new(&mut Generator::new(&Seed::new([7; 32]), "auth"), "https://as", true)
    }

    // RFC 7636, appendix B.
    #[test]
    fn the_challenge_is_the_digest_of_the_verifier() {
        let verifier = Secret::from("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk");
        let consent = PendingConsent { verifier, ..consent() };
        assert_eq!(consent.challenge(), "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
    }

    // proves: FEAT-466 FEAT-468 FEAT-476
    #[test]
    fn the_url_has_every_parameter_once() {
        let consent = consent();
        assert_eq!((consent.state.expose().len(), consent.verifier.expose().len()), (22, 43));
        let request = ConsentRequest {
            endpoint: "https://as/authorize",
            client_id: "me & you",
            redirect_uri: "http://localhost:1/cb",
            resource: "https://h",
            scope: "a b",
        };
        let (challenge, state) = (consent.challenge(), consent.state.expose());
        let pairs = format!(
            "response_type=code&client_id=me+%26+you&redirect_uri=http%3A%2F%2Flocalhost%3A1%2Fcb&\
             code_challenge={challenge}&code_challenge_method=S256&state={state}&resource=https%3A%2F%2Fh"
        );
        let url = consent_url(request, &consent);
        assert_eq!(*url, *format!("https://as/authorize?{pairs}&scope=a+b"));
        let request = ConsentRequest { endpoint: "https://as/authorize?tenant=1", scope: "", ..request };
        assert_eq!(*consent_url(request, &consent), *format!("https://as/authorize?tenant=1&{pairs}"));
    }
}
