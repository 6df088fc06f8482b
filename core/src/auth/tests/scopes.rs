//! Which scopes are asked for, and how often more of them.

use super::AuthorizationError as E;
use super::*;

/// The scopes that the first visit asks for.
fn asked(config: AuthorizationConfig, challenge: &str, supported: Value, listed: Value) -> Option<String> {
    let mut bench = Bench::new(config);
    bench.refused(401, challenge);
    let mut document = resource_document();
    document["scopes_supported"] = supported;
    bench.serve(RESOURCE_AT, 200, &document);
    let mut document = server_document();
    document["scopes_supported"] = listed;
    bench.serve(SERVER_AT, 200, &document);
    bench.register();
    value(&bench.visit(), "scope")
}

// proves: FEAT-480 FEAT-481 FEAT-482 FEAT-483 FEAT-492
#[test]
fn the_challenge_counts_before_the_metadata() {
    let own = || AuthorizationConfig { scopes: Some(["own"].map(Box::from).into()), ..code_config() };
    let unwilling = || AuthorizationConfig { wants_refresh: false, ..code_config() };
    let offline = json!(["offline_access", "x"]);
    for (config, challenge, supported, listed, expected) in [
        (code_config(), "Bearer scope=\"a b\"", json!(["c", "d"]), json!(null), Some("a b")),
        (code_config(), "Bearer scope=\"\"", json!(["c", "d"]), json!(null), Some("c d")),
        (code_config(), "Bearer", json!(["c", "d"]), json!(null), Some("c d")),
        (code_config(), "Bearer", json!(null), json!(null), None),
        (code_config(), "Bearer", json!([]), json!(["x"]), None),
        (code_config(), "Bearer", json!(null), offline.clone(), Some("offline_access")),
        (code_config(), "Bearer scope=\"a\"", json!(null), offline.clone(), Some("a offline_access")),
        (unwilling(), "Bearer scope=\"a\"", json!(null), offline, Some("a")),
        (own(), "Bearer scope=\"a\"", json!(["c"]), json!(null), Some("own")),
    ] {
        assert_eq!(asked(config, challenge, supported, listed).as_deref(), expected, "{challenge}");
    }
}

const MORE: &str = "Bearer error=\"insufficient_scope\", scope=\"write\"";

// proves: FEAT-484 FEAT-485 FEAT-487 FEAT-488 FEAT-679
#[test]
fn more_scopes_are_added_to_those_there_are() {
    let mut bench = Bench::code();
    bench.log_in();
    let waiter = bench.refused(403, MORE);
    bench.discover();
    assert_eq!(value(&bench.consent(), "scope").as_deref(), Some("basic write"));
    bench.give_token(2);
    assert_eq!(bench.outcome(), Ok(waiter));
    assert_eq!(bench.authorization().as_deref(), Some("Bearer AT2"));
    // What was granted on top is not lost, either.
    let waiter = bench.refused(403, "Bearer error=\"insufficient_scope\", scope=\"admin basic\"");
    bench.discover();
    assert_eq!(value(&bench.consent(), "scope").as_deref(), Some("basic write admin"));
    let mut document = token_document(3);
    document["scope"] = "admin extra".into();
    bench.serve("https://as.example/token", 200, &document);
    assert_eq!(bench.outcome(), Ok(waiter));
    bench.refused(403, "Bearer error=\"insufficient_scope\", scope=\"x\"");
    bench.discover();
    assert_eq!(value(&bench.consent(), "scope").as_deref(), Some("basic write admin extra x"));
}

// proves: FEAT-489
#[test]
fn what_was_asked_for_is_not_asked_for_again() {
    let mut bench = Bench::code();
    bench.log_in();
    bench.refused(403, MORE);
    bench.discover();
    bench.consent();
    let mut document = token_document(2);
    document["scope"] = "basic".into();
    bench.serve("https://as.example/token", 200, &document);
    assert!(bench.outcome().is_ok());
    bench.refused(403, MORE);
    assert_eq!(bench.outcome(), Err(E::ScopeDenied));
    // It concerns one operation: the token stays.
    assert_eq!(bench.authorization().as_deref(), Some("Bearer AT2"));
}

// proves: FEAT-489
#[test]
fn an_operation_is_tried_with_more_scopes_a_few_times() {
    let mut bench = Bench::code();
    bench.log_in();
    for number in 2..5 {
        bench.refused(403, &format!("Bearer error=\"insufficient_scope\", scope=\"s{number}\""));
        bench.discover();
        bench.consent();
        bench.give_token(number);
        assert!(bench.outcome().is_ok());
    }
    bench.refused(403, "Bearer error=\"insufficient_scope\", scope=\"s5\"");
    assert_eq!(bench.outcome(), Err(E::StepUpExhausted));
    // Another operation is another matter.
    let generation = bench.credentials().generation;
    let challenges = &["Bearer error=\"insufficient_scope\", scope=\"s5\""];
    let refusal = Refusal { status: 403, challenges, dpop_nonce: None, generation, operation: "other" };
    bench.auth.challenge(bench.now, 99, refusal);
    bench.discover();
}

#[test]
fn a_plain_403_is_final_for_its_request() {
    let mut bench = Bench::code();
    bench.log_in();
    for challenge in [
        "",
        "Bearer",
        "Bearer error=\"insufficient_scope\"",
        "Bearer error=\"invalid_token\", scope=\"x\"",
        "Basic realm=\"x\"",
    ] {
        bench.refused(403, challenge);
        assert_eq!(bench.outcome(), Err(E::Forbidden), "{challenge}");
    }
    assert_eq!(bench.authorization().as_deref(), Some("Bearer AT1"));
}

#[test]
fn a_user_who_refuses_more_keeps_what_there_was() {
    let mut bench = Bench::code();
    bench.log_in();
    bench.refused(403, MORE);
    bench.discover();
    let state = value(&bench.visit(), "state").unwrap();
    let query = format!("error=access_denied&state={state}&iss={ISSUER}");
    assert!(bench.auth.receive_callback(bench.now, &query).is_err());
    assert!(matches!(bench.outcome(), Err(E::Denied(_))));
    assert_eq!(bench.authorization().as_deref(), Some("Bearer AT1"));
    assert!(bench.auth.is_ready(bench.now));
}

#[test]
fn other_requests_go_on_while_the_user_is_asked_for_more() {
    let mut bench = Bench::code();
    bench.log_in();
    bench.refused(403, MORE);
    bench.discover();
    let state = value(&bench.visit(), "state").unwrap();
    assert!(bench.auth.is_ready(bench.now));
    let waiter = bench.acquire();
    assert_eq!(bench.outcome(), Ok(waiter));
    assert_eq!(bench.authorization().as_deref(), Some("Bearer AT1"));
    // Who is refused as well waits for the same.
    let second = bench.refused(403, "Bearer error=\"insufficient_scope\", scope=\"other\"");
    bench.assert_quiet();
    bench.auth.receive_callback(bench.now, &format!("code=C&state={state}&iss={ISSUER}")).unwrap();
    bench.give_token(2);
    assert_eq!(bench.outcomes(), [Ok(second - 2), Ok(second)]);
}

#[test]
fn a_403_without_a_token_leads_to_one() {
    let mut bench = Bench::code();
    let waiter = bench.refused(403, MORE);
    bench.discover();
    bench.register();
    assert_eq!(value(&bench.consent(), "scope").as_deref(), Some("write"));
    bench.give_token(1);
    assert_eq!(bench.outcome(), Ok(waiter));
}
