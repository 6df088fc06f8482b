//! Finding the authorization server, whatever the servers say.

use super::AuthorizationError as E;
use super::*;

const ROOT_AT: &str = "https://mcp.example/.well-known/oauth-protected-resource";
const OPENID_AT: &str = "https://as.example/.well-known/openid-configuration";
const NULL: Value = Value::Null;

fn challenged(challenge: &str) -> Bench {
    let mut bench = Bench::code();
    bench.refused(401, challenge);
    bench
}

fn with(document: Value, name: &str, value: Value) -> Value {
    let mut document = document;
    document[name] = value;
    document
}

/// Answers the next request with a failure.
fn lose(bench: &mut Bench, url: &str, failure: ActionFailure) {
    let (handle, request) = bench.request();
    assert_eq!(&*request.url, url);
    bench.auth.fail_action(bench.now, handle, failure);
}

fn redirect(bench: &mut Bench, url: &str, location: &str) {
    let (handle, request) = bench.request();
    assert_eq!(&*request.url, url);
    bench.auth.receive_response(bench.now, handle, 302, &[("Location", location)], b"");
}

// proves: FEAT-440 FEAT-443
#[test]
fn what_is_not_there_is_looked_for_in_the_next_place() {
    let mut bench = challenged("Bearer resource_metadata=\"https://mcp.example/elsewhere.json\"");
    bench.serve("https://mcp.example/elsewhere.json", 404, &NULL);
    bench.serve(RESOURCE_AT, 403, &NULL);
    let issuer = "https://as.example/t";
    bench.serve(ROOT_AT, 200, &with(resource_document(), "authorization_servers", json!([issuer])));
    bench.serve("https://as.example/.well-known/oauth-authorization-server/t", 404, &NULL);
    bench.serve("https://as.example/.well-known/openid-configuration/t", 200, &json!({"issuer": issuer}));
    bench.serve(
        "https://as.example/t/.well-known/openid-configuration",
        200,
        &with(server_document(), "issuer", issuer.into()),
    );
    bench.register();
}

#[test]
fn the_announced_place_is_enough() {
    let mut bench = challenged("Bearer resource_metadata=\"https://other.example/m\"");
    bench.serve("https://other.example/m", 200, &resource_document());
    bench.serve(SERVER_AT, 200, &server_document());
    bench.register();
}

#[test]
fn an_announced_place_that_cannot_be_used_or_fails_is_passed_over() {
    let mut bench = challenged("Bearer resource_metadata=\"http://169.254.169.254/latest\"");
    for url in [RESOURCE_AT, ROOT_AT] {
        bench.serve(url, 404, &NULL);
    }
    assert_eq!(bench.outcome(), Err(E::UnusableUrl { member: "resource_metadata" }));
    for failure in [ActionFailure::Unavailable, ActionFailure::Forbidden, ActionFailure::TooLarge] {
        let mut bench = challenged("Bearer resource_metadata=\"https://other.example/m\"");
        lose(&mut bench, "https://other.example/m", failure);
        bench.discover();
        bench.register();
    }
    let mut bench = challenged("Bearer resource_metadata=\"https://other.example/m\"");
    bench.serve("https://other.example/m", 503, &NULL);
    bench.discover();
    bench.register();
}

#[test]
fn a_server_that_is_out_of_order_pushes_nobody_onto_another_path() {
    for status in [500, 503, 429] {
        let mut bench = challenged("Bearer");
        bench.serve(RESOURCE_AT, status, &NULL);
        let purpose = HttpPurpose::ResourceMetadata;
        let error = E::Unavailable { purpose, status: Some(status) };
        assert!(error.is_retryable());
        assert_eq!(bench.outcome(), Err(error));
        // The next challenge tries again.
        bench.refused(401, "Bearer");
        bench.serve(RESOURCE_AT, 200, &resource_document());
        lose(&mut bench, SERVER_AT, ActionFailure::Unavailable);
        let purpose = HttpPurpose::ServerMetadata;
        assert_eq!(bench.outcome(), Err(E::Unavailable { purpose, status: None }));
    }
}

#[test]
fn nothing_anywhere_is_told_as_it_is() {
    let mut bench = challenged("Bearer");
    bench.serve(RESOURCE_AT, 404, &NULL);
    bench.serve(ROOT_AT, 200, &json!([1]));
    assert_eq!(bench.outcome(), Err(E::NoResourceMetadata));
    let mut bench = challenged("Bearer");
    bench.serve(RESOURCE_AT, 200, &resource_document());
    bench.serve(SERVER_AT, 404, &NULL);
    bench.serve(OPENID_AT, 404, &NULL);
    assert_eq!(bench.outcome(), Err(E::NoServerMetadata { issuer: ISSUER.into() }));
}

#[test]
fn metadata_of_another_resource_ends_it() {
    for named in ["https://evil.example/mcp", "https://mcp.example/mc", "http://mcp.example/mcp", "mcp"] {
        let mut bench = challenged("Bearer");
        bench.serve(RESOURCE_AT, 200, &with(resource_document(), "resource", named.into()));
        assert_eq!(bench.outcome(), Err(E::ResourceMismatch { named: named.into() }));
    }
    // The resource is sent as it was written.
    let mut bench = challenged("Bearer");
    bench.serve(RESOURCE_AT, 200, &with(resource_document(), "resource", "https://mcp.example".into()));
    bench.serve(SERVER_AT, 200, &server_document());
    bench.register();
    assert_eq!(value(&bench.consent(), "resource").as_deref(), Some("https://mcp.example"));
    assert_eq!(sent(&bench.give_token(1), "resource").as_deref(), Some("https://mcp.example"));
}

// proves: FEAT-445 FEAT-446
#[test]
fn metadata_of_another_issuer_is_never_used() {
    for named in
        ["https://attacker.example", "https://as.example/", "https://AS.example", "https://as.example:443"]
    {
        let mut bench = challenged("Bearer");
        bench.serve(RESOURCE_AT, 200, &resource_document());
        bench.serve(SERVER_AT, 200, &with(server_document(), "issuer", named.into()));
        bench.serve(OPENID_AT, 404, &NULL);
        let error = E::IssuerMismatch { expected: ISSUER.into(), named: named.into() };
        assert_eq!(bench.outcome(), Err(error));
    }
    // With a slash it is another one, and is asked for as such.
    let mut bench = challenged("Bearer");
    let issuer = "https://as.example/";
    bench.serve(RESOURCE_AT, 200, &with(resource_document(), "authorization_servers", json!([issuer])));
    bench.serve(SERVER_AT, 200, &with(server_document(), "issuer", issuer.into()));
    bench.register();
}

// proves: FEAT-467
#[test]
fn servers_without_pkce_are_not_used() {
    for methods in [NULL, json!([]), json!(["plain"]), json!("S256"), json!(["s256"])] {
        let mut bench = challenged("Bearer");
        bench.serve(RESOURCE_AT, 200, &resource_document());
        bench.serve(SERVER_AT, 200, &with(server_document(), "code_challenge_methods_supported", methods));
        assert_eq!(bench.outcome(), Err(E::PkceUnsupported));
    }
}

// proves: FEAT-655 FEAT-670 FEAT-671
#[test]
fn endpoints_are_https() {
    for member in ["authorization_endpoint", "token_endpoint", "registration_endpoint"] {
        for url in [
            "http://as.example/x",
            "http://localhost/x",
            "http://127.0.0.1:1/x",
            "javascript:alert(1)",
            "https://u:p@as.example/x",
            "https://as.example/x#f",
            "/x",
        ] {
            let mut bench = challenged("Bearer");
            bench.serve(RESOURCE_AT, 200, &resource_document());
            bench.serve(SERVER_AT, 200, &with(server_document(), member, url.into()));
            assert_eq!(bench.outcome(), Err(E::UnusableUrl { member }), "{member} {url}");
        }
    }
    for issuers in [json!(["http://as.example"]), json!(["https://as.example?q", "x", 1])] {
        let mut bench = challenged("Bearer");
        bench.serve(RESOURCE_AT, 200, &with(resource_document(), "authorization_servers", issuers));
        assert_eq!(bench.outcome(), Err(E::UnusableUrl { member: "authorization_servers" }));
    }
}

#[test]
fn servers_on_this_machine_may_use_plain_http() {
    let mut config = code_config();
    config.server_url = "http://localhost:1/mcp".into();
    let mut bench = Bench::new(config);
    bench.refused(401, "Bearer resource_metadata=\"http://127.0.0.1:1/meta\"");
    let issuer = "http://localhost:2";
    let document = json!({"resource": "http://localhost:1/mcp", "authorization_servers": [issuer]});
    bench.serve("http://127.0.0.1:1/meta", 200, &document);
    let document = json!({
        "issuer": issuer, "authorization_endpoint": "http://localhost:2/authorize",
        "token_endpoint": "http://localhost:2/token", "registration_endpoint": "http://localhost:2/register",
        "code_challenge_methods_supported": ["S256"],
    });
    bench.serve("http://localhost:2/.well-known/oauth-authorization-server", 200, &document);
    bench.serve("http://localhost:2/register", 201, &json!({"client_id": "c"}));
}

#[test]
fn redirects_of_metadata_are_followed_within_the_origin_and_not_in_circles() {
    let mut bench = challenged("Bearer");
    redirect(&mut bench, RESOURCE_AT, "/moved");
    bench.serve("https://mcp.example/moved", 200, &resource_document());
    for location in ["https://evil.example/m", "http://mcp.example/m", "//evil.example", "javascript:x", ""] {
        let mut bench = challenged("Bearer");
        redirect(&mut bench, RESOURCE_AT, location);
        if location.is_empty() {
            // It leads to itself.
            (0..3).for_each(|_| redirect(&mut bench, RESOURCE_AT, location));
        }
        bench.serve(ROOT_AT, 404, &NULL);
        let purpose = HttpPurpose::ResourceMetadata;
        assert_eq!(bench.outcome(), Err(E::Redirected { purpose }), "{location}");
    }
}

// proves: FEAT-654
#[test]
fn gigantic_documents_are_not_read() {
    let mut bench = challenged("Bearer");
    let (handle, request) = bench.request();
    let mut body = resource_document().to_string().into_bytes();
    body.resize(request.response_bytes + 1, b' ');
    bench.auth.receive_response(bench.now, handle, 200, &[], &body);
    lose(&mut bench, ROOT_AT, ActionFailure::TooLarge);
    assert_eq!(bench.outcome(), Err(E::ResponseTooLarge { purpose: HttpPurpose::ResourceMetadata }));
}

#[test]
fn what_the_host_forbids_is_told() {
    let mut bench = challenged("Bearer");
    lose(&mut bench, RESOURCE_AT, ActionFailure::Forbidden);
    lose(&mut bench, ROOT_AT, ActionFailure::Forbidden);
    assert_eq!(bench.outcome(), Err(E::RequestForbidden { purpose: HttpPurpose::ResourceMetadata }));
}

const LEGACY_AT: &str = "https://mcp.example/.well-known/oauth-authorization-server";

fn legacy() -> Bench {
    let config = AuthorizationConfig { legacy_endpoints: true, ..code_config() };
    let mut bench = Bench::new(config);
    bench.refused(401, "Bearer");
    bench.serve(RESOURCE_AT, 404, &NULL);
    bench.serve(ROOT_AT, 405, &NULL);
    bench
}

// proves: FEAT-432 FEAT-433 FEAT-434 FEAT-435
#[test]
fn older_servers_are_their_own_authorization_servers() {
    let mut bench = legacy();
    let request = bench.serve(LEGACY_AT, 404, &NULL);
    assert_eq!(header(&request, "mcp-protocol-version").as_deref(), Some("2025-03-26"));
    bench.serve("https://mcp.example/register", 201, &json!({"client_id": "c"}));
    let action = bench.action().unwrap();
    let ActionKind::OpenUserAgent(visit) = action.kind else { panic!("{action:?}") };
    assert!(visit.url.starts_with("https://mcp.example/authorize?"), "{}", visit.url);
    let state = value(&form(visit.url.split_once('?').unwrap().1), "state").unwrap();
    bench.auth.receive_callback(bench.now, &format!("code=C&state={state}")).unwrap();
    let request = bench.serve("https://mcp.example/token", 200, &token_document(1));
    assert_eq!(sent(&request, "resource").as_deref(), Some(SERVER));
    assert!(bench.outcome().is_ok());

    // With metadata, their issuer is at their origin, whatever its path.
    for (issuer, is_used) in [("https://mcp.example/oauth", true), ("https://evil.example", false)] {
        let mut bench = legacy();
        let mut document = server_document();
        document["issuer"] = issuer.into();
        bench.serve(LEGACY_AT, 200, &document);
        if is_used {
            bench.register();
        } else {
            let error = E::IssuerMismatch { expected: SERVER.into(), named: issuer.into() };
            assert_eq!(bench.outcome(), Err(error));
        }
    }
}

#[test]
fn older_endpoints_are_used_only_if_nothing_else_was_there() {
    let mut bench = challenged("Bearer");
    bench.serve(RESOURCE_AT, 404, &NULL);
    bench.serve(ROOT_AT, 404, &NULL);
    assert_eq!(bench.outcome(), Err(E::NoResourceMetadata));
    let config = AuthorizationConfig { legacy_endpoints: true, ..code_config() };
    let mut bench = Bench::new(config);
    bench.refused(401, "Bearer");
    bench.serve(RESOURCE_AT, 200, &json!({}));
    bench.serve(ROOT_AT, 404, &NULL);
    assert_eq!(bench.outcome(), Err(E::NoResourceMetadata));
}

// proves: FEAT-453 FEAT-471 FEAT-507
#[test]
fn configurations_that_cannot_work_are_refused() {
    let refused = |config: AuthorizationConfig| {
        let Err(Error::ApiMisuse(ApiMisuse::InvalidDefinition(member))) = Authorization::new(config) else {
            panic!()
        };
        member
    };
    for url in ["http://mcp.example/mcp", "https://u@mcp.example", "mcp", ""] {
        assert_eq!(refused(AuthorizationConfig { server_url: url.into(), ..code_config() }), "server_url");
    }
    let with_redirect = |uri: &str| {
        let grant = Grant::AuthorizationCode(CodeGrant::new(uri, "Us"));
        AuthorizationConfig { grant, ..code_config() }
    };
    assert_eq!(refused(with_redirect("http://app.example/cb")), "redirect_uri");
    for id in [
        "http://app.example/c",
        "https://app.example",
        "https://app.example/",
        "https://app.example/../c",
        "c",
    ] {
        let mut grant = CodeGrant::new(REDIRECT, "Us");
        grant.metadata_client = Some(ClientRegistration::new(None, id, ClientAuthentication::None));
        let config = AuthorizationConfig { grant: Grant::AuthorizationCode(grant), ..code_config() };
        assert_eq!(refused(config), "client_id", "{id}");
    }
    let client = ClientRegistration::new(None, "c", ClientAuthentication::None);
    let grant = Grant::Enterprise(EnterpriseGrant::new("http://idp.example/token", client));
    assert_eq!(refused(AuthorizationConfig { grant, ..code_config() }), "token_endpoint");
    let key = |algorithm: &str, text: &str| {
        let dpop = Some(DpopKey::new(algorithm, crate::json::Json::new(text).unwrap()));
        AuthorizationConfig { dpop, ..code_config() }
    };
    assert_eq!(refused(key("none", r#"{"kty":"EC"}"#)), "algorithm");
    assert_eq!(refused(key("ES256", r#"{"kty":"EC","d":"x"}"#)), "public_key");
}
