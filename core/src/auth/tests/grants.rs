//! The grants without a user, and tokens that are bound to a key.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::AuthorizationError as E;
use super::*;
use crate::json::Json;

const TOKEN_AT: &str = "https://as.example/token";
const JWT_BEARER: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";

fn with_client(grant: Grant, authentication: ClientAuthentication) -> AuthorizationConfig {
    let mut config = AuthorizationConfig::new(SERVER, grant, Seed::new([7; 32]));
    config.clients = Vec::from([ClientRegistration::new(None, "robot", authentication)]);
    config
}

fn secret() -> ClientAuthentication {
    ClientAuthentication::Secret { secret: "pw".into(), method: None }
}

fn key() -> ClientAuthentication {
    let audience = AssertionAudience::Issuer;
    ClientAuthentication::PrivateKeyJwt { algorithm: "ES256".into(), key_id: None, audience }
}

fn started(config: AuthorizationConfig) -> (Bench, u64) {
    let mut bench = Bench::new(config);
    let waiter = bench.refused(401, "Bearer scope=\"a\"");
    bench.serve(RESOURCE_AT, 200, &resource_document());
    let mut document = server_document();
    // No user is sent there, so that nothing has to be known of PKCE.
    document.as_object_mut().unwrap().remove("code_challenge_methods_supported");
    document["dpop_signing_alg_values_supported"] = json!(["RS256", "ES256"]);
    bench.serve(SERVER_AT, 200, &document);
    (bench, waiter)
}

/// Signs what is to be signed with "S": the header and claims.
fn sign(bench: &mut Bench) -> (SigningRequest, Value, Value) {
    let action = bench.action().unwrap();
    let ActionKind::Sign(request) = action.kind else { panic!("{action:?}") };
    bench.auth.signed(bench.now, action.handle, b"S");
    let (header, claims) = decoded(&request);
    (request, header, claims)
}

fn decoded(request: &SigningRequest) -> (Value, Value) {
    let part = |part: &str| serde_json::from_slice(&URL_SAFE_NO_PAD.decode(part).unwrap()).unwrap();
    let (header, claims) = request.input.expose().split_once('.').unwrap();
    (part(header), part(claims))
}

// proves: FEAT-500 FEAT-501
#[test]
fn a_client_acts_for_itself_with_a_secret() {
    let (mut bench, waiter) = started(with_client(Grant::ClientCredentials, secret()));
    let request =
        bench.serve(TOKEN_AT, 200, &json!({"access_token": "AT1", "token_type": "Bearer", "expires_in": 60}));
    for (name, expected) in [
        ("grant_type", Some("client_credentials")),
        ("resource", Some(SERVER)),
        ("scope", Some("a")),
        ("client_id", None),
    ] {
        assert_eq!(sent(&request, name).as_deref(), expected, "{name}");
    }
    assert_eq!(header(&request, "authorization").as_deref(), Some("Basic cm9ib3Q6cHc="));
    assert_eq!(bench.outcome(), Ok(waiter));
    // It renews without being asked, as nobody is bothered.
    bench.wait(30_000);
    let waiter = bench.acquire();
    bench.discover();
    let request = bench.give_token(2);
    assert_eq!(sent(&request, "scope").as_deref(), Some("a"));
    assert_eq!(bench.outcome(), Ok(waiter));
    // More scopes are a matter of asking.
    let waiter = bench.refused(403, "Bearer error=\"insufficient_scope\", scope=\"b\"");
    bench.discover();
    assert_eq!(sent(&bench.give_token(3), "scope").as_deref(), Some("a b"));
    assert_eq!(bench.outcome(), Ok(waiter));
}

// proves: FEAT-500
#[test]
fn a_client_acts_for_itself_with_a_key() {
    let (mut bench, waiter) = started(with_client(Grant::ClientCredentials, key()));
    let (request, header, claims) = sign(&mut bench);
    assert_eq!(request.key, SigningKey::Client { client_id: "robot".into() });
    assert_eq!((&header["alg"], &claims["aud"]), (&json!("ES256"), &json!(ISSUER)));
    assert_eq!((&claims["iss"], &claims["sub"]), (&json!("robot"), &json!("robot")));
    let assertion = [request.input.expose(), ".Uw"].concat();
    let request = bench.give_token(1);
    assert_eq!(sent(&request, "client_assertion"), Some(assertion));
    assert_eq!(bench.outcome(), Ok(waiter));

    let (mut bench, _) = started(with_client(Grant::ClientCredentials, key()));
    let action = bench.action().unwrap();
    bench.auth.fail_action(bench.now, action.handle, ActionFailure::Unavailable);
    assert_eq!(bench.outcome(), Err(E::SigningFailed));
    let (mut bench, _) = started(with_client(Grant::ClientCredentials, key()));
    let action = bench.action().unwrap();
    bench.auth.signed(bench.now, action.handle, b"");
    assert_eq!(bench.outcome(), Err(E::SigningFailed));
}

#[test]
fn without_a_client_there_is_nothing_to_act_as() {
    let mut config = with_client(Grant::ClientCredentials, secret());
    config.clients.clear();
    let (mut bench, _) = started(config);
    assert_eq!(bench.outcome(), Err(E::NoRegistration { issuer: ISSUER.into() }));
}

fn enterprise() -> AuthorizationConfig {
    let authentication =
        ClientAuthentication::Secret { secret: "idp-pw".into(), method: Some(SecretMethod::Post) };
    let client = ClientRegistration::new(Some("https://idp.example"), "at-idp", authentication);
    with_client(Grant::Enterprise(EnterpriseGrant::new("https://idp.example/token", client)), secret())
}

/// The host gives an assertion.
fn assert_identity(bench: &mut Bench, text: &str) {
    let action = bench.action().unwrap();
    let kind = ActionKind::ProvideAssertion { issuer: ISSUER.into(), resource: SERVER.into() };
    assert_eq!(action.kind, kind);
    bench.auth.assertion_provided(bench.now, action.handle, text.into());
}

// proves: FEAT-503 FEAT-504 FEAT-505
#[test]
fn an_identity_provider_vouches_for_the_user() {
    let (mut bench, waiter) = started(enterprise());
    assert_identity(&mut bench, "ID1");
    let jag = json!({
        "issued_token_type": "urn:ietf:params:oauth:token-type:id-jag", "access_token": "JAG", "token_type": "N_A",
    });
    let request = bench.serve("https://idp.example/token", 200, &jag);
    assert_eq!(request.purpose, HttpPurpose::IdentityProvider);
    for (name, expected) in [
        ("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"),
        ("requested_token_type", "urn:ietf:params:oauth:token-type:id-jag"),
        ("subject_token", "ID1"),
        ("subject_token_type", "urn:ietf:params:oauth:token-type:id_token"),
        ("audience", ISSUER),
        ("resource", SERVER),
        ("scope", "a"),
        ("client_id", "at-idp"),
        ("client_secret", "idp-pw"),
    ] {
        assert_eq!(sent(&request, name).as_deref(), Some(expected), "{name}");
    }
    let request =
        bench.serve(TOKEN_AT, 200, &json!({"access_token": "AT1", "token_type": "Bearer", "expires_in": 60}));
    assert_eq!(sent(&request, "grant_type").as_deref(), Some(JWT_BEARER));
    assert_eq!(sent(&request, "assertion").as_deref(), Some("JAG"));
    assert_eq!(header(&request, "authorization").as_deref(), Some("Basic cm9ib3Q6cHc="));
    assert_eq!(bench.outcome(), Ok(waiter));
    // A grant is good for one token: another begins with the identity.
    bench.wait(60_000);
    bench.acquire();
    bench.discover();
    assert_identity(&mut bench, "ID2");
}

#[test]
fn refusals_of_the_identity_provider_are_told() {
    for (status, body, expected) in [
        (
            400,
            json!({"error": "access_denied"}),
            E::TokenRequestRejected(OAuthError::new("access_denied", None, None)),
        ),
        (200, json!({"access_token": "x", "token_type": "Bearer"}), E::NotIdentityAssertionGrant),
        (200, json!([]), E::InvalidTokenResponse),
        (503, json!({}), E::Unavailable { purpose: HttpPurpose::IdentityProvider, status: Some(503) }),
    ] {
        let (mut bench, _) = started(enterprise());
        assert_identity(&mut bench, "ID1");
        bench.serve("https://idp.example/token", status, &body);
        assert_eq!(bench.outcome(), Err(expected));
    }
    let (mut bench, _) = started(enterprise());
    let action = bench.action().unwrap();
    bench.auth.fail_action(bench.now, action.handle, ActionFailure::Unavailable);
    assert_eq!(bench.outcome(), Err(E::NoAssertion));
}

#[test]
fn a_workload_trades_its_jwt_once() {
    let config = || with_client(Grant::WorkloadIdentity, ClientAuthentication::None);
    let (mut bench, waiter) = started(config());
    assert_identity(&mut bench, "WORKLOAD");
    let request = bench.give_token(1);
    for (name, expected) in [
        ("grant_type", JWT_BEARER),
        ("assertion", "WORKLOAD"),
        ("client_id", "robot"),
        ("resource", SERVER),
        ("scope", "a"),
    ] {
        assert_eq!(sent(&request, name).as_deref(), Some(expected), "{name}");
    }
    assert_eq!(bench.outcome(), Ok(waiter));
    for code in ["invalid_grant", "unauthorized_client", "invalid_scope"] {
        let (mut bench, _) = started(config());
        assert_identity(&mut bench, "WORKLOAD");
        let body = json!({"error": code, "error_description": "WORKLOAD is not good"});
        bench.serve(TOKEN_AT, 400, &body);
        // What repeats a secret is left out.
        assert_eq!(bench.outcome(), Err(E::TokenRequestRejected(OAuthError::new(code, None, None))));
    }
}

fn bound(is_required: bool) -> AuthorizationConfig {
    let mut config = with_client(Grant::ClientCredentials, secret());
    let mut key = DpopKey::new("ES256", Json::new(r#"{"kty":"EC","crv":"P-256","x":"X","y":"Y"}"#).unwrap());
    key.is_required = is_required;
    config.dpop = Some(key);
    config
}

const BOUND: &str = r#"{"access_token":"AT1","token_type":"DPoP","expires_in":3600}"#;

#[test]
fn a_token_is_bound_to_the_key() {
    let (mut bench, waiter) = started(bound(false));
    let (request, header_of, claims) = sign(&mut bench);
    assert_eq!((request.key.clone(), &*request.algorithm), (SigningKey::Dpop, "ES256"));
    assert_eq!(header_of["typ"], "dpop+jwt");
    assert_eq!((&claims["htm"], &claims["htu"], claims.get("ath")), (&json!("POST"), &json!(TOKEN_AT), None));
    // The authorization server wants a nonce of its own.
    let (handle, request) = bench.request();
    assert!(header(&request, "dpop").unwrap().ends_with(".Uw"));
    let body = br#"{"error":"use_dpop_nonce"}"#;
    bench.auth.receive_response(bench.now, handle, 400, &[("DPoP-Nonce", "n1")], body);
    let (_, _, again) = sign(&mut bench);
    assert_eq!(again["nonce"], "n1");
    assert_ne!(again["jti"], claims["jti"]);
    bench.serve(TOKEN_AT, 200, &serde_json::from_str(BOUND).unwrap());
    assert_eq!(bench.outcome(), Ok(waiter));

    let credentials = bench.auth.credentials(bench.now, "GET", "https://mcp.example/mcp?x#y");
    assert_eq!(credentials.authorization.unwrap().expose(), "DPoP AT1");
    let proof = credentials.proof.unwrap();
    let (_, first) = decoded(&proof);
    assert_eq!((&first["htm"], &first["htu"]), (&json!("GET"), &json!("https://mcp.example/mcp")));
    assert!(first["ath"].is_string() && first.get("nonce").is_none());
    assert_eq!(dpop_proof(&proof, b"S").expose(), [proof.input.expose(), ".Uw"].concat());
    // So does the MCP server.
    let challenges = &["DPoP error=\"use_dpop_nonce\""];
    let generation = credentials.generation;
    let refusal = Refusal { status: 401, challenges, dpop_nonce: Some("n2"), generation, operation: "" };
    bench.auth.challenge(bench.now, 50, refusal);
    assert_eq!(bench.outcome(), Ok(50));
    let (_, second) = decoded(&bench.credentials().proof.unwrap());
    assert_eq!(second["nonce"], "n2");
    assert_ne!(first["jti"], second["jti"]);
    // What cannot stand in a header is no nonce.
    for nonce in ["", "a b", "a\r\nb"] {
        bench.auth.note_nonce(nonce);
    }
    bench.auth.note_nonce("n3");
    let (_, third) = decoded(&bench.credentials().proof.unwrap());
    assert_eq!(third["nonce"], "n3");
}

#[test]
fn a_server_that_always_wants_another_nonce_is_left() {
    let (mut bench, _) = started(bound(true));
    for number in 0..4 {
        sign(&mut bench);
        let (handle, _) = bench.request();
        let nonce = format!("n{number}");
        let headers = [("dpop-nonce", nonce.as_str())];
        bench.auth.receive_response(bench.now, handle, 400, &headers, br#"{"error":"use_dpop_nonce"}"#);
    }
    assert_eq!(bench.outcome(), Err(E::TokenRequestRejected(OAuthError::new("use_dpop_nonce", None, None))));
}

#[test]
fn a_token_without_a_key_is_taken_unless_one_is_required() {
    for is_required in [false, true] {
        let (mut bench, waiter) = started(bound(is_required));
        sign(&mut bench);
        bench.give_token(1);
        if is_required {
            assert_eq!(bench.outcome(), Err(E::TokenNotBound));
        } else {
            assert_eq!(bench.outcome(), Ok(waiter));
            assert_eq!(bench.authorization().as_deref(), Some("Bearer AT1"));
        }
    }
    // A server that does not list the algorithm is not bothered with it.
    let mut bench = Bench::new(bound(false));
    bench.refused(401, "Bearer");
    bench.discover();
    assert_eq!(header(&bench.give_token(1), "dpop"), None);
}

#[test]
fn a_bound_token_is_of_no_use_without_its_key() {
    let (mut bench, _) = started(bound(true));
    sign(&mut bench);
    bench.serve(TOKEN_AT, 200, &serde_json::from_str(BOUND).unwrap());
    bench.outcome().unwrap();
    let mut other = bench.sibling();
    other.auth.config.dpop = None;
    other.acquire();
    other.outcome().unwrap();
    assert_eq!(other.authorization(), None);
}
