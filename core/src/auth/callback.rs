//! What the user agent brings back (OAuth 2.1, section 4.1.2; RFC 9207), checked in this order: nothing twice, our `state`, the
//! right issuer; only then is anything else believed.

use alloc::string::String;

use super::error::{AuthorizationError, OAuthError};
use super::pkce::PendingConsent;
use super::secret::Secret;
use super::urls::decode;

/// Most bytes of a callback.
const MOST_BYTES: usize = 64 << 10;

/// A callback that was not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// It is none of ours: the right one may still come.
    Stray(AuthorizationError),
    /// It is, and ends the flow.
    Final(AuthorizationError),
}

/// The parameters that count.
#[derive(Default)]
struct Parameters {
    state: Parameter,
    code: Parameter,
    iss: Parameter,
    error: Parameter,
    error_description: Parameter,
    error_uri: Parameter,
}

/// A parameter that may stand there once.
#[derive(Default)]
enum Parameter {
    #[default]
    Absent,
    Once(String),
    Repeated,
}

impl Parameter {
    fn get(&self, name: &'static str) -> Result<Option<&str>, AuthorizationError> {
        match self {
            Parameter::Absent => Ok(None),
            Parameter::Once(value) => Ok(Some(value)),
            Parameter::Repeated => Err(AuthorizationError::DuplicateParameter { name }),
        }
    }

    fn text(&self) -> Option<&str> {
        self.get("").ok().flatten().filter(|text| !text.is_empty())
    }
}

/// The code that the callback brings. `query` is what stands behind the question mark, or a URL that has one.
pub(super) fn judge(query: &str, consent: &PendingConsent) -> Result<Secret, Refusal> {
    let parameters = read(query);
    // Whoever does not know the state must not end the flow.
    match parameters.state.get("state") {
        Ok(Some(state)) if state == consent.state.expose() => {}
        Ok(_) => return Err(Refusal::Stray(AuthorizationError::StateMismatch)),
        Err(error) => return Err(Refusal::Stray(error)),
    }
    judge_ours(&parameters, consent).map_err(Refusal::Final)
}

fn judge_ours(parameters: &Parameters, consent: &PendingConsent) -> Result<Secret, AuthorizationError> {
    let code = parameters.code.get("code")?;
    let error = parameters.error.get("error")?;
    match parameters.iss.get("iss")? {
        Some(issuer) if issuer != &*consent.issuer => {
            return Err(AuthorizationError::IssuerParameterMismatch);
        }
        None if consent.sends_issuer => return Err(AuthorizationError::IssuerParameterMissing),
        _ => {}
    }
    if let Some(code) = error {
        let (description, uri) = (parameters.error_description.text(), parameters.error_uri.text());
        return Err(AuthorizationError::Denied(OAuthError::new(code, description, uri)));
    }
    code.filter(|code| !code.is_empty()).map(Secret::from).ok_or(AuthorizationError::NoCode)
}

fn read(query: &str) -> Parameters {
    let query = query.split('#').next().unwrap_or_default();
    let query = query.split_once('?').map_or(query, |(_, query)| query);
    let mut parameters = Parameters::default();
    if query.len() > MOST_BYTES {
        return parameters;
    }
    for pair in query.split('&') {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let slot = match decode(name).as_deref() {
            Some("state") => &mut parameters.state,
            Some("code") => &mut parameters.code,
            Some("iss") => &mut parameters.iss,
            Some("error") => &mut parameters.error,
            Some("error_description") => &mut parameters.error_description,
            Some("error_uri") => &mut parameters.error_uri,
            _ => continue,
        };
        *slot = match (&slot, decode(value)) {
            (Parameter::Absent, Some(value)) => Parameter::Once(value),
            // What is no UTF-8 is as useless as two values.
            _ => Parameter::Repeated,
        };
    }
    parameters
}

#[cfg(test)]
mod tests {
    use super::AuthorizationError as E;
    use super::*;
    use alloc::format;

    fn consent(issuer: &str, sends_issuer: bool) -> PendingConsent {
        let (state, verifier) = (Secret::from("S"), Secret::from("V"));
        PendingConsent { state, verifier, issuer: issuer.into(), sends_issuer }
    }

    fn judged(query: &str, sends_issuer: bool) -> Result<Secret, Refusal> {
        judge(query, &consent("https://as", sends_issuer))
    }

    #[test]
    fn the_code_is_taken() {
        for query in [
            "code=C&state=S&iss=https%3A%2F%2Fas",
            "?code=C&state=S&iss=https://as",
            "/cb?iss=https://as&state=S&code=C&session_state=x&x&=",
            "http://localhost:1/cb?state=S&code=C&iss=https://as#_=_",
            "state=S&code=%43&iss=https://as&error_uri=a&error_uri=b",
        ] {
            assert_eq!(judged(query, true), Ok("C".into()), "{query}");
            assert_eq!(judged(query, false), Ok("C".into()), "{query}");
        }
        assert_eq!(judged("state=S&code=C", false), Ok("C".into()));
    }

    // proves: FEAT-469
    #[test]
    fn what_has_not_our_state_is_dropped() {
        for query in ["", "code=C", "code=C&state=", "code=C&state=s", "error=access_denied&state=T", "state"]
        {
            assert_eq!(judged(query, false), Err(Refusal::Stray(E::StateMismatch)), "{query}");
        }
        let twice = E::DuplicateParameter { name: "state" };
        assert_eq!(judged("code=C&state=S&state=S", false), Err(Refusal::Stray(twice)));
        let long = format!("state=S&code=C&x={}", "a".repeat(MOST_BYTES));
        assert_eq!(judged(&long, false), Err(Refusal::Stray(E::StateMismatch)));
    }

    // proves: FEAT-473 FEAT-474 FEAT-475
    #[test]
    fn issuers_are_compared_as_they_are() {
        for (query, sends_issuer, expected) in [
            ("state=S&code=C", true, E::IssuerParameterMissing),
            ("state=S&error=access_denied", true, E::IssuerParameterMissing),
            ("state=S&code=C&iss=https://evil.example", true, E::IssuerParameterMismatch),
            ("state=S&code=C&iss=https://evil.example", false, E::IssuerParameterMismatch),
            ("state=S&error=x&error_description=Call+us&iss=https://e", false, E::IssuerParameterMismatch),
            ("state=S&code=C&iss=https://as/", false, E::IssuerParameterMismatch),
            ("state=S&code=C&iss=https://AS", false, E::IssuerParameterMismatch),
            ("state=S&code=C&iss=https://as:443", false, E::IssuerParameterMismatch),
            ("state=S&code=C&iss=https://%2561s", false, E::IssuerParameterMismatch),
            ("state=S&code=C&iss=", false, E::IssuerParameterMismatch),
            ("state=S&code=C&iss=https://as&iss=https://as", false, E::DuplicateParameter { name: "iss" }),
            ("state=S&code=C&code=C&iss=https://as", false, E::DuplicateParameter { name: "code" }),
            ("state=S&error=a&error=a&iss=https://as", false, E::DuplicateParameter { name: "error" }),
            ("state=S&code=%ff&iss=https://as", false, E::DuplicateParameter { name: "code" }),
            ("state=S&iss=https://as", false, E::NoCode),
            ("state=S&code=&iss=https://as", false, E::NoCode),
        ] {
            assert_eq!(judged(query, sends_issuer), Err(Refusal::Final(expected)), "{query}");
        }
    }

    #[test]
    fn a_refusal_counts_even_beside_a_code() {
        let query = "state=S&code=C&error=access_denied&error_description=No%0Away&error_uri=https://as/e&iss=https://as";
        let Err(Refusal::Final(E::Denied(error))) = judged(query, true) else { panic!() };
        assert_eq!(format!("{error}"), "access_denied (No way)");
        assert_eq!(error.uri.as_deref(), Some("https://as/e"));
    }
}
