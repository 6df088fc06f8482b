//! Renewing tokens: one refresh for all requests and all processes.

use super::AuthorizationError as E;
use super::*;

const TOKEN_AT: &str = "https://as.example/token";
const INVALID: &str = "Bearer error=\"invalid_token\"";

fn logged_in() -> Bench {
    let mut bench = Bench::code();
    bench.log_in();
    // Nothing of it is fresh any more.
    bench.wait(120_000);
    bench
}

fn generation(bench: &Bench) -> u64 {
    bench.store.as_ref().map_or(0, |record| record.generation)
}

/// Rotating refresh tokens are single use: whoever refreshes twice is locked out.
#[test]
fn requests_that_are_refused_together_share_one_refresh() {
    let mut bench = logged_in();
    let before = generation(&bench);
    let old = bench.credentials().generation;
    let first = bench.refused_with(401, INVALID, old);
    let second = bench.refused_with(401, INVALID, old);
    let request = bench.serve(TOKEN_AT, 200, &token_document(2));
    for (name, expected) in
        [("grant_type", "refresh_token"), ("refresh_token", "RT1"), ("resource", SERVER), ("client_id", "c1")]
    {
        assert_eq!(sent(&request, name).as_deref(), Some(expected));
    }
    // The store has it before anybody goes on.
    let save = bench.auth.poll_action().unwrap();
    let ActionKind::Save { expected, record } = save.kind else { panic!("{save:?}") };
    assert_eq!((expected, record.generation), (before, before + 1));
    assert!(record.text.expose().contains("RT2") && record.text.expose().contains("AT2"));
    assert_eq!(bench.auth.poll_event(), None);
    bench.auth.saved(bench.now, save.handle, SaveOutcome::Saved);
    bench.store = Some(record);
    assert_eq!(bench.outcomes(), [Ok(first), Ok(second)]);
    // A refusal of the old token says nothing of the new one.
    let third = bench.refused_with(401, INVALID, old);
    assert_eq!(bench.outcome(), Ok(third));
    assert_eq!(bench.authorization().as_deref(), Some("Bearer AT2"));
}

#[test]
fn a_token_is_renewed_shortly_before_it_expires() {
    let mut bench = logged_in();
    bench.wait(3_600_000 - 120_000 - 30_001);
    assert!(bench.auth.is_ready(bench.now));
    bench.wait(1);
    assert!(!bench.auth.is_ready(bench.now));
    let waiter = bench.acquire();
    let mut document = token_document(2);
    document.as_object_mut().unwrap().remove("refresh_token");
    bench.serve(TOKEN_AT, 200, &document);
    assert_eq!(bench.outcome(), Ok(waiter));
    assert_eq!(bench.authorization().as_deref(), Some("Bearer AT2"));
    // The refresh token is still the old one.
    bench.wait(3_600_000);
    bench.acquire();
    assert_eq!(sent(&bench.give_token(3), "refresh_token").as_deref(), Some("RT1"));
}

#[test]
fn a_token_that_lives_short_is_used_for_half_of_its_time() {
    let mut bench = logged_in();
    bench.refused(401, INVALID);
    let short = |number: u32| {
        let mut document = token_document(number);
        document["expires_in"] = 2.into();
        document
    };
    bench.serve(TOKEN_AT, 200, &short(2));
    bench.outcome().unwrap();
    assert!(bench.auth.is_ready(bench.now));
    bench.wait(999);
    assert!(bench.auth.is_ready(bench.now));
    bench.wait(1);
    assert!(!bench.auth.is_ready(bench.now));
    bench.acquire();
    bench.serve(TOKEN_AT, 200, &short(3));
    bench.outcome().unwrap();
    assert!(bench.auth.is_ready(bench.now));
}

#[test]
fn an_outage_keeps_the_token_while_it_is_good() {
    let mut bench = logged_in();
    bench.wait(3_600_000 - 120_000 - 10_000);
    let waiter = bench.acquire();
    bench.serve(TOKEN_AT, 503, &Value::Null);
    assert_eq!(bench.outcome(), Ok(waiter));
    assert_eq!(bench.authorization().as_deref(), Some("Bearer AT1"));
    bench.wait(10_000);
    assert_eq!(bench.authorization(), None);
    bench.acquire();
    bench.serve(TOKEN_AT, 503, &Value::Null);
    assert_eq!(bench.outcome(), Err(E::Unavailable { purpose: HttpPurpose::Token, status: Some(503) }));
    // The refresh token is tried again.
    let waiter = bench.acquire();
    assert_eq!(sent(&bench.give_token(2), "refresh_token").as_deref(), Some("RT1"));
    assert_eq!(bench.outcome(), Ok(waiter));
}

// proves: FEAT-493
#[test]
fn without_a_refresh_token_the_user_is_asked_when_the_server_is() {
    let mut bench = Bench::code();
    bench.refused(401, "Bearer");
    bench.discover();
    bench.register();
    bench.consent();
    bench.serve(TOKEN_AT, 200, &json!({"access_token": "AT1", "token_type": "bearer", "expires_in": 60}));
    bench.outcome().unwrap();
    bench.wait(60_000);
    assert!(bench.auth.is_ready(bench.now), "nobody is bothered before it is known that it must be");
    assert_eq!(bench.authorization(), None);
    let waiter = bench.refused(401, "Bearer");
    bench.discover();
    assert_eq!(value(&bench.consent(), "scope").as_deref(), Some("basic"));
    bench.give_token(2);
    assert_eq!(bench.outcome(), Ok(waiter));
}

#[test]
fn before_a_request_a_useless_refresh_token_is_dropped_and_nobody_bothered() {
    let mut bench = logged_in();
    bench.wait(3_600_000);
    let waiter = bench.acquire();
    bench.serve(TOKEN_AT, 400, &json!({"error": "invalid_grant"}));
    bench.assert_quiet();
    bench.wait(1_000);
    assert_eq!(bench.outcome(), Ok(waiter));
    assert_eq!(bench.authorization(), None);
    // The scopes are not forgotten.
    bench.refused(401, "Bearer scope=\"more\"");
    bench.discover();
    assert_eq!(value(&bench.consent(), "scope").as_deref(), Some("basic more"));
}

#[test]
fn a_process_takes_what_another_has_stored() {
    let mut bench = logged_in();
    let mut other = bench.sibling();
    other.acquire();
    other.outcome().unwrap();
    let waiter = bench.refused(401, INVALID);
    bench.give_token(2);
    assert_eq!(bench.outcome(), Ok(waiter));
    // The other one asks its store first, and needs no refresh.
    other.store = bench.store.clone();
    let waiter = other.refused(401, INVALID);
    assert_eq!(other.outcome(), Ok(waiter));
    assert_eq!(other.authorization().as_deref(), Some("Bearer AT2"));
}

#[test]
fn processes_that_refresh_at_once_end_with_one_token() {
    // The slower one is refused, and finds the token of the faster one: at once, or a little later.
    for is_late in [false, true] {
        let mut bench = logged_in();
        let mut other = bench.sibling();
        other.acquire();
        other.outcome().unwrap();
        bench.refused(401, INVALID);
        bench.give_token(2);
        bench.outcome().unwrap();
        let waiter = other.refused(401, INVALID);
        let (handle, _) = other.request();
        if !is_late {
            other.store = bench.store.clone();
        }
        let body = json!({"error": "invalid_grant"}).to_string();
        other.auth.receive_response(other.now, handle, 400, &[], body.as_bytes());
        if is_late {
            other.assert_quiet();
            assert_eq!(other.auth.poll_timeout(), Some(other.now.after(1_000)));
            other.store = bench.store.clone();
            other.wait(1_000);
        }
        assert_eq!(other.outcome(), Ok(waiter));
        assert_eq!(other.authorization().as_deref(), Some("Bearer AT2"));
    }
    // Both were given a token: the first that is stored counts.
    let mut bench = logged_in();
    let mut other = bench.sibling();
    other.acquire();
    other.outcome().unwrap();
    bench.refused(401, INVALID);
    bench.give_token(2);
    bench.outcome().unwrap();
    let waiter = other.refused(401, INVALID);
    let (handle, _) = other.request();
    other.store = bench.store.clone();
    other.auth.receive_response(other.now, handle, 200, &[], token_document(3).to_string().as_bytes());
    assert_eq!(other.outcome(), Ok(waiter));
    assert_eq!(other.authorization().as_deref(), Some("Bearer AT2"));
    assert_eq!(generation(&other), generation(&bench));
}

#[test]
fn other_changes_of_the_store_are_kept() {
    let mut bench = logged_in();
    bench.refused(401, INVALID);
    let (handle, _) = bench.request();
    // Another process wrote something else meanwhile.
    let record = bench.store.as_mut().unwrap();
    record.generation += 5;
    let text = record.text.expose().replace("\"c1\"", "\"c9\"").replace("127.0.0.1:7", "127.0.0.1:8");
    record.text =
        text.replacen("\"client_id\":\"c9\",\"resource\"", "\"client_id\":\"c1\",\"resource\"", 1).into();
    let before = record.generation;
    bench.auth.receive_response(bench.now, handle, 200, &[], token_document(2).to_string().as_bytes());
    assert!(bench.outcome().is_ok());
    assert_eq!(generation(&bench), before + 1);
    let text = bench.store.as_ref().unwrap().text.expose().to_owned();
    for part in ["c9", "c1", "RT2", "127.0.0.1:8"] {
        assert!(text.contains(part), "{part} {text}");
    }
}

#[test]
fn a_store_that_is_always_another_does_not_hold_anybody_up() {
    let mut bench = logged_in();
    let waiter = bench.refused(401, INVALID);
    bench.give_token(2);
    let mut conflicts = 0;
    while let Some(action) = bench.auth.poll_action() {
        assert!(matches!(action.kind, ActionKind::Save { .. }));
        conflicts += 1;
        let record = StoredRecord { generation: 100 + conflicts, text: "{}".into() };
        bench.auth.saved(bench.now, action.handle, SaveOutcome::Conflict(Some(record)));
    }
    assert_eq!(conflicts, 5);
    assert_eq!(bench.outcome(), Ok(waiter));
    assert_eq!(bench.authorization().as_deref(), Some("Bearer AT2"));
}

#[test]
fn a_store_that_fails_costs_nothing_but_the_store() {
    let mut bench = logged_in();
    let waiter = bench.refused(401, INVALID);
    bench.give_token(2);
    let save = bench.auth.poll_action().unwrap();
    bench.auth.fail_action(bench.now, save.handle, ActionFailure::Unavailable);
    assert_eq!(bench.outcome(), Ok(waiter));
    assert_eq!(bench.authorization().as_deref(), Some("Bearer AT2"));
    // What it holds is older than what is in memory.
    bench.wait(120_000);
    bench.refused(401, INVALID);
    assert_eq!(sent(&bench.give_token(3), "refresh_token").as_deref(), Some("RT2"));
    assert!(bench.outcome().is_ok());
    // Before anything was read it says nothing.
    let mut bench = Bench::code();
    bench.acquire();
    let load = bench.auth.poll_action().unwrap();
    bench.auth.fail_action(bench.now, load.handle, ActionFailure::Unavailable);
    assert_eq!(bench.outcome(), Err(E::StoreUnavailable));
    bench.log_in();
}

// proves: FEAT-497
#[test]
fn what_is_stored_is_not_trusted_blindly() {
    let mut bench = logged_in();
    let text = bench.store.clone().unwrap().text;
    for (from, to) in [
        ("\"resource\":\"https://mcp.example/mcp\"", "\"resource\":\"https://other.example\""),
        ("\"token_endpoint\":\"https://", "\"token_endpoint\":\"http://"),
        ("\"AT1\"", "\"A\\r\\nX: y\""),
        ("\"AT1\"", "\"\""),
        ("{", "["),
    ] {
        let mut other = bench.sibling();
        let changed = text.expose().replace(from, to);
        assert_ne!(changed, text.expose());
        other.store = Some(StoredRecord { generation: 9, text: changed.into() });
        let waiter = other.acquire();
        assert_eq!(other.outcome(), Ok(waiter));
        assert_eq!(other.authorization(), None, "{to}");
    }
    assert!(bench.authorization().is_some());
}

#[test]
fn a_server_that_refuses_fresh_tokens_is_not_served_for_ever() {
    let mut bench = Bench::code();
    bench.log_in();
    // One more try, through the whole flow, as the refresh gave a token of the same kind.
    bench.refused(401, INVALID);
    bench.give_token(2);
    assert!(bench.outcome().is_ok());
    bench.refused(401, INVALID);
    assert_eq!(bench.outcome(), Err(E::TokenRefused));
    bench.refused(401, INVALID);
    assert_eq!(bench.outcome(), Err(E::TokenRefused));
    // Tokens that worked, lived a while or expired are another matter.
    for what in ["worked", "lived", "expired"] {
        let mut bench = Bench::code();
        bench.log_in();
        for number in 2..6 {
            match what {
                "worked" => bench.auth.note_success(bench.auth.current_generation()),
                "lived" => bench.wait(60_000),
                _ => bench.wait(3_600_000),
            }
            bench.refused(401, INVALID);
            bench.give_token(number);
            assert!(bench.outcome().is_ok(), "{what} {number}");
        }
    }
}

#[test]
fn a_refreshed_token_that_is_refused_leads_to_the_user() {
    let mut bench = logged_in();
    bench.refused(401, INVALID);
    bench.give_token(2);
    assert!(bench.outcome().is_ok());
    let waiter = bench.refused(401, INVALID);
    bench.discover();
    bench.consent();
    bench.give_token(3);
    assert_eq!(bench.outcome(), Ok(waiter));
}

#[test]
fn a_code_that_is_not_taken_is_asked_for_once_more() {
    let mut bench = Bench::code();
    bench.refused(401, "Bearer");
    bench.discover();
    bench.register();
    let first = value(&bench.consent(), "state");
    bench.serve(TOKEN_AT, 400, &json!({"error": "invalid_grant"}));
    let second = value(&bench.consent(), "state");
    assert_ne!(first, second);
    bench.serve(TOKEN_AT, 400, &json!({"error": "invalid_grant", "error_description": "CODE is spent"}));
    let Err(E::TokenRequestRejected(error)) = bench.outcome() else { panic!() };
    assert_eq!((&*error.code, error.description.as_deref()), ("invalid_grant", Some("CODE is spent")));
}

#[test]
fn token_endpoints_that_make_no_sense_are_told_apart() {
    for (status, body, expected) in [
        (200, json!({}), E::InvalidTokenResponse),
        (200, json!({"access_token": "AT", "token_type": "mac"}), E::InvalidTokenResponse),
        (307, json!({}), E::Redirected { purpose: HttpPurpose::Token }),
        (500, json!({}), E::Unavailable { purpose: HttpPurpose::Token, status: Some(500) }),
        (401, json!({}), E::TokenRequestRejected(OAuthError::default())),
        (200, json!({"access_token": "AT", "token_type": "DPoP"}), E::TokenNotBound),
    ] {
        let mut bench = Bench::code();
        bench.refused(401, "Bearer");
        bench.discover();
        bench.register();
        bench.consent();
        bench.serve(TOKEN_AT, status, &body);
        assert_eq!(bench.outcome(), Err(expected), "{status} {body}");
    }
    for (failure, expected) in [
        (ActionFailure::TooLarge, E::ResponseTooLarge { purpose: HttpPurpose::Token }),
        (ActionFailure::Forbidden, E::RequestForbidden { purpose: HttpPurpose::Token }),
        (ActionFailure::Unavailable, E::Unavailable { purpose: HttpPurpose::Token, status: None }),
    ] {
        let mut bench = Bench::code();
        bench.refused(401, "Bearer");
        bench.discover();
        bench.register();
        bench.consent();
        let (handle, _) = bench.request();
        bench.auth.fail_action(bench.now, handle, failure);
        assert_eq!(bench.outcome(), Err(expected));
    }
}
