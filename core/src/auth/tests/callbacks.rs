//! What comes back from the user, and what does not.

use super::AuthorizationError as E;
use super::*;

/// A machine that waits for the user, and the state it expects.
fn away() -> (Bench, String) {
    let mut bench = Bench::code();
    bench.refused(401, "Bearer");
    bench.discover();
    bench.register();
    let state = value(&bench.visit(), "state").unwrap();
    assert!(bench.auth.awaits_callback());
    (bench, state)
}

// proves: FEAT-469 FEAT-473 FEAT-475
#[test]
fn each_refusal_has_its_own_error() {
    for (query, expected, is_over) in [
        ("code=C&state=other&iss=https://as.example", E::StateMismatch, false),
        ("code=C&iss=https://as.example", E::StateMismatch, false),
        (
            "code=C&state=STATE&state=STATE&iss=https://as.example",
            E::DuplicateParameter { name: "state" },
            false,
        ),
        ("code=C&state=STATE", E::IssuerParameterMissing, true),
        ("code=C&state=STATE&iss=https://as.example/", E::IssuerParameterMismatch, true),
        ("error=access_denied&state=STATE&iss=https://evil.example", E::IssuerParameterMismatch, true),
        ("code=C&code=D&state=STATE&iss=https://as.example", E::DuplicateParameter { name: "code" }, true),
        ("state=STATE&iss=https://as.example", E::NoCode, true),
        (
            "error=access_denied&state=STATE&iss=https://as.example",
            E::Denied(OAuthError::new("access_denied", None, None)),
            true,
        ),
    ] {
        let (mut bench, state) = away();
        let refused = bench.auth.receive_callback(bench.now, &query.replace("STATE", &state));
        assert_eq!(refused, Err(expected.clone()), "{query}");
        assert_eq!(bench.auth.awaits_callback(), !is_over, "{query}");
        if is_over {
            assert_eq!(bench.outcome(), Err(expected.clone()));
            // The same is said at once until the host wants it tried again.
            bench.refused(401, "Bearer");
            assert_eq!(bench.outcome(), Err(expected));
        } else {
            bench.assert_quiet();
            let query = format!("code=C&state={state}&iss=https://as.example");
            assert_eq!(bench.auth.receive_callback(bench.now, &query), Ok(()));
            bench.give_token(1);
            assert!(bench.outcome().is_ok());
        }
    }
}

#[test]
fn a_code_is_taken_once() {
    let (mut bench, state) = away();
    let query = format!("code=C&state={state}&iss=https://as.example");
    assert_eq!(bench.auth.receive_callback(bench.now, &query), Ok(()));
    assert_eq!(bench.auth.receive_callback(bench.now, &query), Err(E::UnexpectedCallback));
    bench.give_token(1);
    assert!(bench.outcome().is_ok());
    assert_eq!(bench.auth.receive_callback(bench.now, &query), Err(E::UnexpectedCallback));
}

#[test]
fn users_who_do_not_come_back_are_not_waited_for_for_ever() {
    let (mut bench, state) = away();
    assert_eq!(bench.auth.poll_timeout(), Some(bench.now.after(600_000)));
    bench.wait(599_999);
    bench.assert_quiet();
    bench.wait(1);
    assert_eq!(bench.outcome(), Err(E::TimedOut));
    assert_eq!(bench.auth.poll_timeout(), None);
    let query = format!("code=C&state={state}&iss=https://as.example");
    assert_eq!(bench.auth.receive_callback(bench.now, &query), Err(E::UnexpectedCallback));
}

#[test]
fn after_a_failure_requests_go_out_without_a_token_until_it_is_forgotten() {
    let (mut bench, _) = away();
    bench.auth.cancel(bench.now);
    assert_eq!(bench.outcome(), Err(E::Cancelled));
    assert!(bench.auth.is_ready(bench.now));
    let waiter = bench.acquire();
    assert_eq!(bench.outcome(), Ok(waiter));
    bench.refused(403, "Bearer error=\"insufficient_scope\", scope=\"x\"");
    assert_eq!(bench.outcome(), Err(E::Cancelled));
    bench.auth.reset();
    bench.refused(401, "Bearer");
    bench.discover();
    // It is registered already.
    bench.consent();
    bench.give_token(1);
    assert!(bench.outcome().is_ok());
}

#[test]
fn a_user_agent_that_cannot_be_opened_ends_it() {
    let mut bench = Bench::code();
    bench.refused(401, "Bearer");
    bench.discover();
    bench.register();
    let action = bench.action().unwrap();
    bench.auth.fail_action(bench.now, action.handle, ActionFailure::Declined);
    assert_eq!(bench.outcome(), Err(E::Cancelled));
}
