//! As which client the machine goes.

use super::AuthorizationError as E;
use super::*;

const REGISTER_AT: &str = "https://as.example/register";
const TOKEN_AT: &str = "https://as.example/token";

fn public(issuer: Option<&str>, id: &str) -> ClientRegistration {
    ClientRegistration::new(issuer, id, ClientAuthentication::None)
}

fn secret(issuer: Option<&str>, method: Option<SecretMethod>) -> ClientRegistration {
    let authentication = ClientAuthentication::Secret { secret: "s3cret/+".into(), method };
    ClientRegistration::new(issuer, "pre", authentication)
}

fn discovered(config: AuthorizationConfig, change: impl FnOnce(&mut Value)) -> Bench {
    let mut bench = Bench::new(config);
    bench.refused(401, "Bearer");
    bench.serve(RESOURCE_AT, 200, &resource_document());
    let mut document = server_document();
    change(&mut document);
    bench.serve(SERVER_AT, 200, &document);
    bench
}

// proves: FEAT-450 FEAT-456
#[test]
fn clients_that_are_known_beforehand_register_nowhere() {
    for (method, supported, header_value, in_body) in [
        (None, json!(null), Some("Basic cHJlOnMzY3JldCUyRiUyQg=="), None),
        (None, json!(["client_secret_post"]), None, Some("s3cret/+")),
        (Some(SecretMethod::Post), json!(["client_secret_basic"]), None, Some("s3cret/+")),
        (None, json!(["none"]), None, None),
    ] {
        let config =
            AuthorizationConfig { clients: Vec::from([secret(Some(ISSUER), method)]), ..code_config() };
        let mut bench = discovered(config, |document| {
            document["token_endpoint_auth_methods_supported"] = supported.clone();
        });
        assert_eq!(value(&bench.consent(), "client_id").as_deref(), Some("pre"));
        let request = bench.give_token(1);
        assert_eq!(header(&request, "authorization").as_deref(), header_value, "{supported}");
        assert_eq!(sent(&request, "client_secret").as_deref(), in_body, "{supported}");
        assert!(bench.outcome().is_ok());
        // A refresh goes the same way.
        bench.wait(3_600_000);
        bench.acquire();
        let request = bench.give_token(2);
        assert_eq!(header(&request, "authorization").as_deref(), header_value, "{supported}");
        assert_eq!(sent(&request, "client_secret").as_deref(), in_body, "{supported}");
    }
}

// proves: FEAT-465
#[test]
fn clients_of_other_servers_are_not_tried() {
    let clients = Vec::from([secret(Some("https://other.example"), None)]);
    let mut bench = discovered(AuthorizationConfig { clients, ..code_config() }, |_| {});
    assert_eq!(bench.outcome(), Err(E::PreregisteredIssuerMismatch { issuer: ISSUER.into() }));
}

// proves: FEAT-463
#[test]
fn a_client_without_an_issuer_belongs_to_the_first() {
    let config = AuthorizationConfig { clients: Vec::from([public(None, "pre")]), ..code_config() };
    let mut bench = discovered(config, |_| {});
    bench.consent();
    bench.serve(TOKEN_AT, 200, &json!({"access_token": "AT1", "token_type": "Bearer"}));
    assert!(bench.outcome().is_ok());
    // The next process knows it, too.
    let mut bench = bench.sibling();
    let waiter = bench.acquire();
    assert_eq!(bench.outcome(), Ok(waiter));
    bench.refused(401, "Bearer error=\"invalid_token\"");
    let mut document = resource_document();
    document["authorization_servers"] = json!(["https://new.example"]);
    bench.serve(RESOURCE_AT, 200, &document);
    let mut document = server_document();
    document["issuer"] = "https://new.example".into();
    bench.serve("https://new.example/.well-known/oauth-authorization-server", 200, &document);
    let error = E::PreregisteredIssuerMismatch { issuer: "https://new.example".into() };
    assert_eq!(bench.outcome(), Err(error));
}

// proves: FEAT-451
#[test]
fn a_metadata_document_is_used_where_it_is_taken() {
    let id = "https://app.example/client.json";
    let mut grant = CodeGrant::new(REDIRECT, "Us");
    grant.metadata_client = Some(public(None, id));
    let config = AuthorizationConfig { grant: Grant::AuthorizationCode(grant), ..code_config() };
    let mut bench = discovered(config.clone(), |document| {
        document["client_id_metadata_document_supported"] = true.into();
    });
    assert_eq!(value(&bench.consent(), "client_id").as_deref(), Some(id));
    assert_eq!(sent(&bench.give_token(1), "client_id").as_deref(), Some(id));
    assert!(bench.outcome().is_ok());
    bench.wait(3_600_000);
    bench.acquire();
    assert_eq!(sent(&bench.give_token(2), "client_id").as_deref(), Some(id));
    let mut bench = discovered(config, |_| {});
    bench.register();
}

// proves: FEAT-436 FEAT-437 FEAT-457 FEAT-459 FEAT-460 FEAT-461
#[test]
fn a_registration_that_is_refused_for_its_kind_is_tried_as_the_other() {
    let mut bench = discovered(code_config(), |_| {});
    let refusal = json!({"error": "invalid_redirect_uri", "error_description": "no http"});
    let request = bench.serve(REGISTER_AT, 400, &refusal);
    let kind = |request: &OAuthRequest| {
        let body: Value = serde_json::from_str(request.body.expose()).unwrap();
        body["application_type"].as_str().unwrap().to_owned()
    };
    assert_eq!(
        (kind(&request), header(&request, "content-type").as_deref()),
        ("native".into(), Some("application/json"))
    );
    assert_eq!(kind(&bench.serve(REGISTER_AT, 400, &refusal)), "web");
    let error = OAuthError::new("invalid_redirect_uri", Some("no http"), None);
    assert_eq!(bench.outcome(), Err(E::RegistrationRejected(error)));

    let mut bench = discovered(code_config(), |_| {});
    let request = bench.serve(REGISTER_AT, 403, &json!({"error": "access_denied"}));
    assert_eq!(request.method, "POST");
    assert!(matches!(bench.outcome(), Err(E::RegistrationRejected(_))));
    for (status, body, expected) in [
        (200, json!({}), E::InvalidRegistration),
        (302, json!({}), E::Redirected { purpose: HttpPurpose::Registration }),
        (502, json!({}), E::Unavailable { purpose: HttpPurpose::Registration, status: Some(502) }),
    ] {
        let mut bench = discovered(code_config(), |_| {});
        bench.serve(REGISTER_AT, status, &body);
        assert_eq!(bench.outcome(), Err(expected));
    }
}

#[test]
fn the_method_that_a_registration_names_is_used() {
    let mut bench = discovered(code_config(), |document| {
        document["token_endpoint_auth_methods_supported"] =
            json!(["client_secret_basic", "client_secret_post"]);
    });
    let registered =
        json!({"client_id": "c", "client_secret": "s", "token_endpoint_auth_method": "client_secret_post"});
    bench.serve(REGISTER_AT, 201, &registered);
    bench.consent();
    assert_eq!(sent(&bench.give_token(1), "client_secret").as_deref(), Some("s"));
}

// proves: FEAT-447 FEAT-462
#[test]
fn a_registration_is_used_again_until_it_is_not_known_any_more() {
    let mut bench = Bench::code();
    bench.log_in();
    let mut bench = bench.sibling();
    bench.acquire();
    bench.outcome().unwrap();
    bench.refused(401, "Bearer");
    bench.serve(TOKEN_AT, 400, &json!({"error": "invalid_grant"}));
    bench.assert_quiet();
    bench.wait(1_000);
    bench.discover();
    assert_eq!(value(&bench.consent(), "client_id").as_deref(), Some("c1"));
    // The authorization server has forgotten it.
    bench.serve(TOKEN_AT, 401, &json!({"error": "invalid_client"}));
    bench.serve(REGISTER_AT, 201, &json!({"client_id": "c2"}));
    assert_eq!(value(&bench.consent(), "client_id").as_deref(), Some("c2"));
    bench.serve(TOKEN_AT, 401, &json!({"error": "invalid_client"}));
    let error = OAuthError::new("invalid_client", None, None);
    assert_eq!(bench.outcome(), Err(E::TokenRequestRejected(error)));
}

// proves: FEAT-450
#[test]
fn the_user_may_name_a_client() {
    let mut grant = CodeGrant::new(REDIRECT, "Us");
    grant.dynamic_registration = None;
    grant.asks_for_client = true;
    let config = AuthorizationConfig { grant: Grant::AuthorizationCode(grant), ..code_config() };
    let mut bench = discovered(config.clone(), |_| {});
    let action = bench.action().unwrap();
    assert_eq!(action.kind, ActionKind::ProvideClient { issuer: ISSUER.into() });
    bench.auth.client_provided(bench.now, action.handle, public(None, "named"));
    assert_eq!(value(&bench.consent(), "client_id").as_deref(), Some("named"));
    bench.give_token(1);
    assert!(bench.outcome().is_ok());
    let mut bench = discovered(config, |_| {});
    let action = bench.action().unwrap();
    bench.auth.fail_action(bench.now, action.handle, ActionFailure::Declined);
    assert_eq!(bench.outcome(), Err(E::NoRegistration { issuer: ISSUER.into() }));
}

// proves: FEAT-464
#[test]
fn another_authorization_server_gets_its_own_registration() {
    let mut bench = Bench::code();
    bench.log_in();
    let generation = bench.credentials().generation;
    bench.auth.note_success(generation);
    bench.refused(401, "Bearer error=\"invalid_token\"");
    bench.serve(TOKEN_AT, 400, &json!({"error": "invalid_grant"}));
    bench.assert_quiet();
    bench.wait(1_000);
    let new = "https://new.example";
    let mut document = resource_document();
    document["authorization_servers"] = json!([new]);
    bench.serve(RESOURCE_AT, 200, &document);
    let document = json!({
        "issuer": new, "authorization_endpoint": "https://as.example/authorize",
        "token_endpoint": "https://new.example/token", "registration_endpoint": "https://new.example/register",
        "code_challenge_methods_supported": ["S256"],
    });
    bench.serve("https://new.example/.well-known/oauth-authorization-server", 200, &document);
    bench.serve("https://new.example/register", 201, &json!({"client_id": "n1"}));
    let parameters = bench.visit();
    assert_eq!(value(&parameters, "client_id").as_deref(), Some("n1"));
    let state = value(&parameters, "state").unwrap();
    bench.auth.receive_callback(bench.now, &format!("code=C&state={state}")).unwrap();
    let request = bench.serve("https://new.example/token", 200, &token_document(2));
    assert_eq!(sent(&request, "client_id").as_deref(), Some("n1"));
    assert!(bench.outcome().is_ok());
    assert_eq!(bench.authorization().as_deref(), Some("Bearer AT2"));
}
