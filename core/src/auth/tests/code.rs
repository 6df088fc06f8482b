//! The authorization code grant from the first challenge to the token, and renewing it.

use super::*;

// proves: FEAT-438 FEAT-441 FEAT-442 FEAT-466 FEAT-472 FEAT-476 FEAT-494
#[test]
fn a_challenge_leads_to_a_token() {
    let mut bench = Bench::code();
    assert!(!bench.auth.is_ready(bench.now));
    let waiter = bench.acquire();
    assert_eq!(bench.outcome(), Ok(waiter));
    assert!(bench.auth.is_ready(bench.now));
    assert_eq!(bench.authorization(), None);

    let waiter = bench.refused(401, "Bearer scope=\"a b\"");
    let request = bench.serve(RESOURCE_AT, 200, &resource_document());
    assert_eq!((request.method, request.purpose), ("GET", HttpPurpose::ResourceMetadata));
    let request = bench.serve(SERVER_AT, 200, &server_document());
    assert_eq!((request.method, request.purpose), ("GET", HttpPurpose::ServerMetadata));
    assert_eq!(bench.register().purpose, HttpPurpose::Registration);
    let parameters = bench.consent();
    for (name, expected) in [
        ("response_type", Some("code")),
        ("client_id", Some("c1")),
        ("redirect_uri", Some(REDIRECT)),
        ("code_challenge_method", Some("S256")),
        ("resource", Some(SERVER)),
        ("scope", Some("a b")),
    ] {
        assert_eq!(value(&parameters, name).as_deref(), expected, "{name}");
    }
    let request = bench.give_token(1);
    assert_eq!((request.method, request.purpose), ("POST", HttpPurpose::Token));
    for (name, expected) in [
        ("grant_type", Some("authorization_code")),
        ("code", Some("CODE")),
        ("redirect_uri", Some(REDIRECT)),
        ("client_id", Some("c1")),
        ("resource", Some(SERVER)),
        ("scope", None),
        ("client_secret", None),
    ] {
        assert_eq!(sent(&request, name).as_deref(), expected, "{name}");
    }
    assert_eq!(sent(&request, "code_verifier").map(|verifier| verifier.len()), Some(43));
    assert_eq!(bench.outcome(), Ok(waiter));
    assert_eq!(bench.authorization().as_deref(), Some("Bearer AT1"));
    assert!(bench.auth.is_ready(bench.now));
    // Only the MCP server gets it.
    for url in ["https://evil.example/mcp", "http://mcp.example/mcp", "https://mcp.example:8443/mcp", "mcp"] {
        assert_eq!(bench.auth.credentials(bench.now, "POST", url).authorization, None, "{url}");
    }
}

#[test]
fn the_next_process_finds_the_token() {
    let mut bench = Bench::code();
    bench.log_in();
    let mut next = bench.sibling();
    let waiter = next.acquire();
    assert_eq!(next.outcome(), Ok(waiter));
    assert_eq!(next.authorization().as_deref(), Some("Bearer AT1"));
}
