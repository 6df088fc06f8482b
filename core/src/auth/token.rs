//! Requests to token endpoints and their answers (OAuth 2.1, section 3.2; RFC 8693; RFC 7523; RFC 8707, section 2.2).

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

use crate::transport::http::headers::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, DPOP};

use super::action::{HttpPurpose, OAuthRequest};
use super::config::{AssertionAudience, ClientAuthentication, ClientRegistration, SubjectTokenType};
use super::error::OAuthError;
use super::jwt::Assertion;
use super::metadata::{object, text};
use super::registration::{AuthMethod, auth_method, read_oauth_error};
use super::scopes::Scopes;
use super::secret::Secret;
use super::urls::{encode, write_form};

/// Longest token that is used, in bytes.
const MOST_BYTES: usize = 64 << 10;

const JWT_BEARER: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const TOKEN_EXCHANGE: &str = "urn:ietf:params:oauth:grant-type:token-exchange";
const ID_JAG: &str = "urn:ietf:params:oauth:token-type:id-jag";
const CLIENT_ASSERTION: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/// What a token is asked for with.
#[derive(Clone, Debug)]
pub(super) enum Means {
    Code {
        code: Secret,
        verifier: Secret,
        redirect_uri: Box<str>,
    },
    Refresh(Secret),
    ClientCredentials,
    /// An assertion for the authorization server: of a workload, or of an identity provider.
    Assertion(Secret),
    /// A token exchange at an identity provider; `audience` is the issuer of the authorization server.
    Exchange {
        subject: Secret,
        kind: SubjectTokenType,
        audience: Box<str>,
    },
}

impl Means {
    fn pairs(&self) -> Vec<(&'static str, &str)> {
        match self {
            Means::Code { code, verifier, redirect_uri } => Vec::from([
                ("grant_type", "authorization_code"),
                ("code", code.expose()),
                ("redirect_uri", redirect_uri),
                ("code_verifier", verifier.expose()),
            ]),
            Means::Refresh(token) => {
                Vec::from([("grant_type", "refresh_token"), ("refresh_token", token.expose())])
            }
            Means::ClientCredentials => Vec::from([("grant_type", "client_credentials")]),
            Means::Assertion(assertion) => {
                Vec::from([("grant_type", JWT_BEARER), ("assertion", assertion.expose())])
            }
            Means::Exchange { subject, kind, audience } => Vec::from([
                ("grant_type", TOKEN_EXCHANGE),
                ("requested_token_type", ID_JAG),
                ("audience", audience),
                ("subject_token", subject.expose()),
                ("subject_token_type", subject_token_type(*kind)),
            ]),
        }
    }

    /// What a peer could repeat in its answer.
    pub(super) fn secrets(&self) -> Vec<&Secret> {
        match self {
            Means::Code { code, verifier, .. } => Vec::from([code, verifier]),
            Means::Refresh(secret) | Means::Assertion(secret) => Vec::from([secret]),
            Means::Exchange { subject, .. } => Vec::from([subject]),
            Means::ClientCredentials => Vec::new(),
        }
    }
}

const fn subject_token_type(kind: SubjectTokenType) -> &'static str {
    match kind {
        SubjectTokenType::IdToken => "urn:ietf:params:oauth:token-type:id_token",
        SubjectTokenType::Saml2 => "urn:ietf:params:oauth:token-type:saml2",
    }
}

/// A request to a token endpoint before it is signed.
#[derive(Clone, Debug)]
pub(super) struct TokenCall {
    pub(super) purpose: HttpPurpose,
    pub(super) endpoint: Box<str>,
    /// Of the server that is asked.
    pub(super) issuer: Box<str>,
    pub(super) client: ClientRegistration,
    pub(super) method: AuthMethod,
    pub(super) means: Means,
    pub(super) resource: Box<str>,
    /// Empty: it is left out.
    pub(super) scopes: Scopes,
    /// A proof of possession goes with it.
    pub(super) is_bound: bool,
    /// The assertion of the client, once it is signed.
    pub(super) assertion: Option<Secret>,
    /// The proof, once it is signed.
    pub(super) proof: Option<Secret>,
}

impl TokenCall {
    /// A call at this endpoint; without scopes, and not bound to a key.
    pub(super) fn new(
        endpoint: &str,
        issuer: &str,
        client: ClientRegistration,
        supported: Option<&[Box<str>]>,
        means: Means,
        resource: &str,
    ) -> TokenCall {
        TokenCall {
            purpose: HttpPurpose::Token,
            endpoint: endpoint.into(),
            issuer: issuer.into(),
            method: auth_method(&client, supported),
            client,
            means,
            resource: resource.into(),
            scopes: Scopes::default(),
            is_bound: false,
            assertion: None,
            proof: None,
        }
    }

    /// The assertion that has to be signed first, if any.
    pub(super) fn missing_assertion(&self) -> Option<Assertion<'_>> {
        match &self.client.authentication {
            ClientAuthentication::PrivateKeyJwt { algorithm, key_id, audience }
                if self.assertion.is_none() =>
            {
                let audience = match audience {
                    AssertionAudience::Issuer => &self.issuer,
                    AssertionAudience::TokenEndpoint => &self.endpoint,
                };
                let (client_id, key_id) = (&self.client.client_id, key_id.as_deref());
                Some(Assertion { client_id, audience, algorithm, key_id })
            }
            _ => None,
        }
    }

    pub(super) const fn lacks_proof(&self) -> bool {
        self.is_bound && self.proof.is_none()
    }

    /// The request as it goes out.
    pub(super) fn request(&self, response_bytes: usize) -> OAuthRequest {
        let mut headers = Vec::from([
            (ACCEPT, Secret::from("application/json")),
            (CONTENT_TYPE, Secret::from("application/x-www-form-urlencoded")),
        ]);
        if let (AuthMethod::Basic, ClientAuthentication::Secret { secret, .. }) =
            (self.method, &self.client.authentication)
        {
            headers.push((AUTHORIZATION, basic(&self.client.client_id, secret)));
        }
        headers.extend(self.proof.clone().map(|proof| (DPOP, proof)));
        let mut body = String::new();
        let scope = self.scopes.text();
        let standing = [("resource", &*self.resource), ("scope", &scope)];
        write_form(&mut body, self.means.pairs());
        write_form(&mut body, standing.into_iter().filter(|(_, value)| !value.is_empty()));
        write_form(&mut body, self.credentials());
        let (url, body) = (self.endpoint.clone(), body.into());
        OAuthRequest { purpose: self.purpose, method: "POST", url, headers, body, response_bytes }
    }

    /// What the body says of the client.
    fn credentials(&self) -> Vec<(&'static str, &str)> {
        let id = ("client_id", &*self.client.client_id);
        match (self.method, &self.client.authentication, &self.assertion) {
            (AuthMethod::Post, ClientAuthentication::Secret { secret, .. }, _) => {
                Vec::from([id, ("client_secret", secret.expose())])
            }
            (AuthMethod::PrivateKeyJwt, _, Some(assertion)) => Vec::from([
                ("client_assertion_type", CLIENT_ASSERTION),
                ("client_assertion", assertion.expose()),
            ]),
            (AuthMethod::Basic, ..) => Vec::new(),
            _ => Vec::from([id]),
        }
    }

    /// What a peer could repeat in its answer.
    pub(super) fn secrets(&self) -> Vec<&Secret> {
        let mut secrets = self.means.secrets();
        if let ClientAuthentication::Secret { secret, .. } = &self.client.authentication {
            secrets.push(secret);
        }
        secrets.extend(&self.assertion);
        secrets.extend(&self.proof);
        secrets
    }
}

/// OAuth 2.1, section 2.4.1: both are form-encoded first.
fn basic(client_id: &str, secret: &Secret) -> Secret {
    let mut pair = String::new();
    encode(&mut pair, client_id);
    pair.push(':');
    encode(&mut pair, secret.expose());
    Secret::from(["Basic ", &STANDARD.encode(pair)].concat())
}

/// A token as it was issued.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Issued {
    pub(super) access_token: Secret,
    /// It is bound to a key (RFC 9449, section 5).
    pub(super) is_bound: bool,
    /// In seconds, not 0: no token is issued to be useless.
    pub(super) expires_in: Option<u64>,
    pub(super) refresh_token: Option<Secret>,
    /// What was granted, if that is said.
    pub(super) scopes: Option<Scopes>,
}

/// What a token endpoint answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Answer<T> {
    Issued(T),
    Refused(OAuthError),
    /// It makes no sense.
    Invalid,
}

/// Reads the answer to a token request.
pub(super) fn read_issued(status: u16, body: &[u8]) -> Answer<Issued> {
    let document = match read_success(status, body) {
        Answer::Issued(document) => document,
        Answer::Refused(error) => return Answer::Refused(error),
        Answer::Invalid => return Answer::Invalid,
    };
    let kind = text(&document, "token_type").unwrap_or_default();
    let is_bound = kind.eq_ignore_ascii_case("DPoP");
    let (Some(access_token), true) =
        (secret(&document, "access_token"), is_bound || kind.eq_ignore_ascii_case("Bearer"))
    else {
        return Answer::Invalid;
    };
    Answer::Issued(Issued {
        access_token,
        is_bound,
        expires_in: document.get("expires_in").and_then(seconds).filter(|&seconds| seconds > 0),
        refresh_token: secret(&document, "refresh_token"),
        scopes: document.get("scope").and_then(Value::as_str).map(Scopes::read),
    })
}

/// Reads the answer to a token exchange. `None`: what was issued is no identity assertion grant.
pub(super) fn read_exchanged(status: u16, body: &[u8]) -> Answer<Option<Secret>> {
    match read_success(status, body) {
        Answer::Issued(document) => {
            let is_grant = text(&document, "issued_token_type") == Some(ID_JAG);
            Answer::Issued(secret(&document, "access_token").filter(|_| is_grant))
        }
        Answer::Refused(error) => Answer::Refused(error),
        Answer::Invalid => Answer::Invalid,
    }
}

fn read_success(status: u16, body: &[u8]) -> Answer<Map<String, Value>> {
    if !(200..=299).contains(&status) {
        return Answer::Refused(read_oauth_error(body));
    }
    match object(body) {
        // Some report errors with status 200.
        Some(document) if text(&document, "error").is_some() => Answer::Refused(read_oauth_error(body)),
        Some(document) => Answer::Issued(document),
        None => Answer::Invalid,
    }
}

/// A member that can stand in a header.
fn secret(document: &Map<String, Value>, name: &str) -> Option<Secret> {
    let is_plain = |text: &&str| text.len() <= MOST_BYTES && text.bytes().all(|byte| byte.is_ascii_graphic());
    text(document, name).filter(is_plain).map(Secret::from)
}

/// Some write numbers as texts, or with a fraction.
fn seconds(value: &Value) -> Option<u64> {
    let text = match value {
        Value::Number(number) => alloc::format!("{number}"),
        Value::String(text) => text.clone(),
        _ => return None,
    };
    text.split('.').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auth::SecretMethod;
    use alloc::format;
    use alloc::string::ToString as _;

    fn call(authentication: ClientAuthentication, means: Means) -> TokenCall {
        let client = ClientRegistration::new(None, "me&", authentication);
        TokenCall::new("https://as/token", "https://as", client, None, means, "https://h/mcp")
    }

    fn shown(call: &TokenCall) -> String {
        let request = call.request(10);
        let header =
            |name| request.headers.iter().find(|(own, _)| *own == name).map(|(_, value)| value.expose());
        let more = [header("authorization"), header("dpop")].into_iter().flatten();
        more.chain([request.body.expose()]).collect::<Vec<_>>().join(" ")
    }

    fn secret(method: Option<SecretMethod>) -> ClientAuthentication {
        ClientAuthentication::Secret { secret: "p:w".into(), method }
    }

    // proves: FEAT-476 FEAT-500 FEAT-503 FEAT-504 FEAT-505
    #[test]
    fn requests_carry_grant_resource_scope_and_client() {
        let (code, verifier, redirect_uri) = ("C".into(), "V".into(), "http://localhost/cb".into());
        let code = Means::Code { code, verifier, redirect_uri };
        let resource = "resource=https%3A%2F%2Fh%2Fmcp";
        let expected = format!(
            "grant_type=authorization_code&code=C&redirect_uri=http%3A%2F%2Flocalhost%2Fcb&code_verifier=V&{resource}&\
             client_id=me%26"
        );
        assert_eq!(shown(&call(ClientAuthentication::None, code)), expected);
        let refresh = call(secret(None), Means::Refresh("R".into()));
        let basic = STANDARD.encode("me%26:p%3Aw");
        let expected = format!("Basic {basic} grant_type=refresh_token&refresh_token=R&{resource}");
        assert_eq!(shown(&refresh), expected);
        let mut credentials = call(secret(Some(SecretMethod::Post)), Means::ClientCredentials);
        credentials.scopes = Scopes::read("a b");
        credentials.proof = Some("P".into());
        let expected = format!(
            "P grant_type=client_credentials&{resource}&scope=a+b&client_id=me%26&client_secret=p%3Aw"
        );
        assert_eq!(shown(&credentials), expected);
        let jag = call(ClientAuthentication::None, Means::Assertion("J".into()));
        let grant = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer";
        assert_eq!(shown(&jag), format!("{grant}&assertion=J&{resource}&client_id=me%26"));
        let (subject, kind, audience) = ("I".into(), SubjectTokenType::IdToken, "https://as".into());
        let exchange = call(secret(None), Means::Exchange { subject, kind, audience });
        let urn = "urn%3Aietf%3Aparams%3Aoauth%3A";
        let expected = format!(
            "Basic {basic} grant_type={urn}grant-type%3Atoken-exchange&requested_token_type={urn}token-type%3Aid-jag&\
             audience=https%3A%2F%2Fas&subject_token=I&subject_token_type={urn}token-type%3Aid_token&{resource}"
        );
        assert_eq!(shown(&exchange), expected);
    }

    #[test]
    fn assertions_and_proofs_are_asked_for_first() {
        let with = |audience| {
            let (algorithm, key_id) = ("ES256".into(), None);
            let authentication = ClientAuthentication::PrivateKeyJwt { algorithm, key_id, audience };
            call(authentication, Means::ClientCredentials)
        };
        let mut call = with(AssertionAudience::Issuer);
        assert_eq!(call.missing_assertion().unwrap().audience, "https://as");
        assert_eq!(
            with(AssertionAudience::TokenEndpoint).missing_assertion().unwrap().audience,
            "https://as/token"
        );
        call.assertion = Some("J.W.T".into());
        assert!(call.missing_assertion().is_none() && !call.lacks_proof());
        let body = call.request(1).body.expose().to_string();
        let ending = "client_assertion_type=urn%3Aietf%3Aparams%3Aoauth%3Aclient-assertion-type%3Ajwt-bearer&\
                      client_assertion=J.W.T";
        assert!(body.ends_with(ending) && !body.contains("client_id"), "{body}");
        call.is_bound = true;
        assert!(call.lacks_proof());
    }

    #[test]
    fn tokens_are_read() {
        let issued = |body: &str| read_issued(200, body.as_bytes());
        let plain = Issued {
            access_token: "AT".into(),
            is_bound: false,
            expires_in: None,
            refresh_token: None,
            scopes: None,
        };
        assert_eq!(issued(r#"{"access_token":"AT","token_type":"bearer"}"#), Answer::Issued(plain.clone()));
        for (text, seconds) in [
            ("60", Some(60)),
            ("\"60\"", Some(60)),
            ("0", None),
            ("60.5", Some(60)),
            ("-1", None),
            ("null", None),
        ] {
            let body = format!(r#"{{"access_token":"AT","token_type":"Bearer","expires_in":{text}}}"#);
            assert_eq!(
                issued(&body),
                Answer::Issued(Issued { expires_in: seconds, ..plain.clone() }),
                "{text}"
            );
        }
        let full = r#"{"access_token":"AT","token_type":"DPoP","refresh_token":"RT","scope":"a b","x":[]}"#;
        let (refresh_token, scopes) = (Some("RT".into()), Some(Scopes::read("a b")));
        assert_eq!(issued(full), Answer::Issued(Issued { is_bound: true, refresh_token, scopes, ..plain }));
        for body in [
            "",
            "null",
            "{}",
            r#"{"access_token":"AT"}"#,
            r#"{"access_token":"AT","token_type":"MAC"}"#,
            r#"{"access_token":"","token_type":"Bearer"}"#,
            r#"{"access_token":"A T","token_type":"Bearer"}"#,
            r#"{"access_token":"A\r\nX: y","token_type":"Bearer"}"#,
            r#"{"access_token":1,"token_type":"Bearer"}"#,
        ] {
            assert_eq!(issued(body), Answer::Invalid, "{body}");
        }
        let long = format!(r#"{{"access_token":"{}","token_type":"Bearer"}}"#, "a".repeat(MOST_BYTES + 1));
        assert_eq!(issued(&long), Answer::Invalid);
        let refusal = r#"{"error":"invalid_grant"}"#;
        let refused = Answer::Refused(OAuthError::new("invalid_grant", None, None));
        assert_eq!((issued(refusal), read_issued(400, refusal.as_bytes())), (refused.clone(), refused));
        assert_eq!(read_issued(401, b"no"), Answer::Refused(OAuthError::default()));
    }

    #[test]
    fn only_identity_assertion_grants_are_taken_from_an_exchange() {
        let jag = format!(r#"{{"issued_token_type":"{ID_JAG}","access_token":"J","token_type":"N_A"}}"#);
        assert_eq!(read_exchanged(200, jag.as_bytes()), Answer::Issued(Some("J".into())));
        let other = r#"{"issued_token_type":"urn:x","access_token":"J","token_type":"Bearer"}"#;
        assert_eq!(read_exchanged(200, other.as_bytes()), Answer::Issued(None));
    }
}
