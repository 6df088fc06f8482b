//! What is signed: assertions of a client (RFC 7523, section 3) and proofs that a token is ours (RFC 9449, section 4.2). The
//! host signs; no key is here.

use alloc::string::String;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use crate::json::Json;
use crate::time::UnixTime;

use super::config::DpopKey;
use super::secret::Secret;

/// Seconds for which an assertion is valid.
const LIFETIME: u64 = 300;

/// What an assertion of a client says.
#[derive(Clone, Copy, Debug)]
pub(super) struct Assertion<'a> {
    pub(super) client_id: &'a str,
    pub(super) audience: &'a str,
    pub(super) algorithm: &'a str,
    pub(super) key_id: Option<&'a str>,
}

impl Assertion<'_> {
    /// What is to be signed; `id` is one that was never used.
    pub(super) fn input(self, now: UnixTime, id: &str) -> Secret {
        let issued = now.as_millis() / 1000;
        let mut header = json!({"alg": self.algorithm, "typ": "JWT"});
        if let Some(key_id) = self.key_id {
            header["kid"] = key_id.into();
        }
        let claims = json!({
            "iss": self.client_id, "sub": self.client_id, "aud": self.audience,
            "iat": issued, "exp": issued + LIFETIME, "jti": id,
        });
        input(&header, &claims)
    }
}

/// What a proof says.
#[derive(Clone, Copy, Debug)]
pub(super) struct Proof<'a> {
    pub(super) method: &'a str,
    pub(super) url: &'a str,
    pub(super) nonce: Option<&'a str>,
    /// The token that it goes with.
    pub(super) token: Option<&'a Secret>,
}

impl Proof<'_> {
    /// What is to be signed; `id` is one that was never used.
    pub(super) fn input(self, key: &DpopKey, now: UnixTime, id: &str) -> Secret {
        let public: Value = key.public_key.parse().unwrap_or_default();
        let header = json!({"typ": "dpop+jwt", "alg": &*key.algorithm, "jwk": public});
        let place = self.url.split(['?', '#']).next().unwrap_or_default();
        let mut claims = json!({"jti": id, "htm": self.method, "htu": place, "iat": now.as_millis() / 1000});
        if let Some(nonce) = self.nonce {
            claims["nonce"] = nonce.into();
        }
        if let Some(token) = self.token {
            claims["ath"] = URL_SAFE_NO_PAD.encode(Sha256::digest(token.expose())).into();
        }
        input(&header, &claims)
    }
}

fn input(header: &Value, claims: &Value) -> Secret {
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(alloc::format!("{value}"));
    Secret::from([part(header).as_str(), ".", &part(claims)].concat())
}

/// The JWT (RFC 7515, section 7.1).
pub(super) fn complete(input: &Secret, signature: &[u8]) -> Secret {
    let mut text = String::from(input.expose());
    text.push('.');
    URL_SAFE_NO_PAD.encode_string(signature, &mut text);
    text.into()
}

/// Whether a key may be shown to others: an asymmetric one without its private half (RFC 9449, section 4.2).
pub(super) fn is_public_key(key: &Json) -> bool {
    const PRIVATE: [&str; 8] = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"];
    let Ok(members) = key.parse::<Map<String, Value>>() else { return false };
    let kind = members.get("kty").and_then(Value::as_str);
    matches!(kind, Some("EC" | "RSA" | "OKP" | "AKP"))
        && !PRIVATE.iter().any(|name| members.contains_key(*name))
}

/// Whether an algorithm has a private and a public key.
pub(super) fn is_asymmetric(algorithm: &str) -> bool {
    !algorithm.is_empty() && !algorithm.eq_ignore_ascii_case("none") && !algorithm.starts_with("HS")
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString as _;
    use alloc::vec::Vec;

    const NOW: UnixTime = UnixTime::from_millis(1_700_000_000_999);

    fn parts(jwt: &Secret) -> Vec<Value> {
        let parts = jwt.expose().split('.').take(2);
        parts.map(|part| serde_json::from_slice(&URL_SAFE_NO_PAD.decode(part).unwrap()).unwrap()).collect()
    }

    fn key(text: &str) -> Json {
        Json::new(text).unwrap()
    }

    // proves: FEAT-500 FEAT-455
    #[test]
    fn assertions_name_client_audience_and_time() {
        let assertion =
            Assertion { client_id: "me", audience: "https://as", algorithm: "ES256", key_id: Some("k1") };
        let parts = parts(&assertion.input(NOW, "id"));
        assert_eq!(parts[0], json!({"alg": "ES256", "typ": "JWT", "kid": "k1"}));
        let (iat, exp) = (1_700_000_000_u64, 1_700_000_300_u64);
        let expected =
            json!({"iss": "me", "sub": "me", "aud": "https://as", "iat": iat, "exp": exp, "jti": "id"});
        assert_eq!(parts[1], expected);
    }

    #[test]
    fn proofs_name_method_place_nonce_and_token() {
        let key = DpopKey::new("ES256", key(r#"{"kty":"EC","crv":"P-256","x":"X","y":"Y"}"#));
        let token = Secret::from("AT");
        let proof = Proof { method: "POST", url: "https://h/mcp?q#f", nonce: Some("n"), token: Some(&token) };
        let parts = parts(&proof.input(&key, NOW, "id"));
        let public = json!({"kty": "EC", "crv": "P-256", "x": "X", "y": "Y"});
        assert_eq!(parts[0], json!({"typ": "dpop+jwt", "alg": "ES256", "jwk": public}));
        let ath = URL_SAFE_NO_PAD.encode(Sha256::digest("AT"));
        let expected = json!({
            "jti": "id", "htm": "POST", "htu": "https://h/mcp", "iat": 1_700_000_000_u64, "nonce": "n", "ath": ath,
        });
        assert_eq!(parts[1], expected);
    }

    #[test]
    fn a_signature_completes_the_jwt() {
        assert_eq!(complete(&"a.b".into(), &[255, 254, 253]).expose().to_string(), "a.b.__79");
    }

    #[test]
    fn private_and_shared_keys_are_refused() {
        assert!(is_public_key(&key(r#"{"kty":"OKP","crv":"Ed25519","x":"X"}"#)));
        for text in
            [r#"{"kty":"EC","d":"D"}"#, r#"{"kty":"oct","k":"K"}"#, r#"{"kty":"oct"}"#, "{}", "[]", "1"]
        {
            assert!(!is_public_key(&key(text)), "{text}");
        }
        assert!(
            is_asymmetric("ES256") && !is_asymmetric("HS256") && !is_asymmetric("none") && !is_asymmetric("")
        );
    }
}
