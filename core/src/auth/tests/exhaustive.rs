//! Every state against every input, and what can be seen of secrets.

use super::*;

/// Machines in every state, each with what it waits for.
type Start = fn() -> Bench;

const STATES: [(&str, Start); 15] = [
    ("unread", Bench::code),
    ("reading", || {
        let mut bench = Bench::code();
        bench.acquire();
        bench
    }),
    ("idle", || {
        let mut bench = Bench::code();
        bench.acquire();
        bench.outcome().unwrap();
        bench
    }),
    ("resource", || {
        let mut bench = Bench::code();
        bench.refused(401, "Bearer");
        bench.action_before_answer()
    }),
    ("server", || {
        let mut bench = Bench::code();
        bench.refused(401, "Bearer");
        bench.serve(RESOURCE_AT, 200, &resource_document());
        bench
    }),
    ("registration", || {
        let mut bench = Bench::code();
        bench.refused(401, "Bearer");
        bench.discover();
        bench
    }),
    ("client", || {
        let mut grant = CodeGrant::new(REDIRECT, "Us");
        grant.dynamic_registration = None;
        grant.asks_for_client = true;
        let mut bench =
            Bench::new(AuthorizationConfig { grant: Grant::AuthorizationCode(grant), ..code_config() });
        bench.refused(401, "Bearer");
        bench.discover();
        bench
    }),
    ("saving a client", || {
        let mut bench = Bench::code();
        bench.refused(401, "Bearer");
        bench.discover();
        bench.register();
        bench
    }),
    ("callback", || {
        let mut bench = Bench::code();
        bench.refused(401, "Bearer");
        bench.discover();
        bench.register();
        bench.action_before_answer()
    }),
    ("token", || {
        let mut bench = Bench::code();
        bench.refused(401, "Bearer");
        bench.discover();
        bench.register();
        bench.consent();
        bench
    }),
    ("saving a token", || {
        let mut bench = Bench::code();
        bench.refused(401, "Bearer");
        bench.discover();
        bench.register();
        bench.consent();
        bench.give_token(1);
        bench
    }),
    ("authorized", || {
        let mut bench = Bench::code();
        bench.log_in();
        bench
    }),
    ("refreshing", || {
        let mut bench = Bench::code();
        bench.log_in();
        bench.refused(401, "Bearer");
        bench.action_before_answer()
    }),
    ("pausing", || {
        let mut bench = Bench::code();
        bench.log_in();
        bench.refused(401, "Bearer");
        bench.serve("https://as.example/token", 400, &json!({"error": "invalid_grant"}));
        bench.assert_quiet();
        bench
    }),
    ("failed", || {
        let mut bench = Bench::code();
        bench.refused(401, "Bearer");
        bench.auth.cancel(bench.now);
        bench.outcome().unwrap_err();
        bench
    }),
];

impl Bench {
    /// Lets the store answer, and leaves what comes then in place.
    fn action_before_answer(mut self) -> Bench {
        if let Some(action) = self.action() {
            self.auth.actions.push_front(action);
        }
        self
    }
}

type Turn = fn(&mut Bench, ActionHandle);

const RECORD: &str = "{\"token\":{\"issuer\":\"https://as.example\",\"token_endpoint\":\"https://as.example/token\",\
                      \"client_id\":\"c1\",\"resource\":\"https://mcp.example/mcp\",\"access_token\":\"AT9\"}}";

const TURNS: [(&str, Turn); 22] = [
    ("acquire", |bench, _| {
        bench.acquire();
    }),
    ("401", |bench, _| {
        bench.refused(401, "Bearer scope=\"x\"");
    }),
    ("401 to another token", |bench, _| {
        bench.refused_with(401, "Bearer", 1_000);
    }),
    ("403", |bench, _| {
        bench.refused(403, "Bearer error=\"insufficient_scope\", scope=\"x\"");
    }),
    ("plain 403", |bench, _| {
        bench.refused(403, "");
    }),
    ("nothing stored", |bench, handle| bench.auth.loaded(bench.now, handle, None)),
    ("stored", |bench, handle| {
        let record = StoredRecord { generation: 77, text: RECORD.into() };
        bench.auth.loaded(bench.now, handle, Some(record));
    }),
    ("saved", |bench, handle| bench.auth.saved(bench.now, handle, SaveOutcome::Saved)),
    ("conflict", |bench, handle| {
        let record = StoredRecord { generation: 78, text: RECORD.into() };
        bench.auth.saved(bench.now, handle, SaveOutcome::Conflict(Some(record)));
    }),
    ("resource", |bench, handle| {
        let body = resource_document().to_string();
        bench.auth.receive_response(bench.now, handle, 200, &[], body.as_bytes());
    }),
    ("token", |bench, handle| {
        let body = token_document(5).to_string();
        bench.auth.receive_response(bench.now, handle, 200, &[], body.as_bytes());
    }),
    ("404", |bench, handle| bench.auth.receive_response(bench.now, handle, 404, &[], b"")),
    ("refusal", |bench, handle| {
        bench.auth.receive_response(bench.now, handle, 400, &[], br#"{"error":"invalid_grant"}"#);
    }),
    ("redirect", |bench, handle| {
        bench.auth.receive_response(bench.now, handle, 302, &[("location", "/x")], b"");
    }),
    ("outage", |bench, handle| bench.auth.receive_response(bench.now, handle, 500, &[], b"")),
    ("callback", |bench, _| {
        let _ = bench.auth.receive_callback(bench.now, "code=X&state=Y&iss=https://as.example");
    }),
    ("signature", |bench, handle| bench.auth.signed(bench.now, handle, b"S")),
    ("client", |bench, handle| {
        let client = ClientRegistration::new(None, "named", ClientAuthentication::None);
        bench.auth.client_provided(bench.now, handle, client);
    }),
    ("assertion", |bench, handle| bench.auth.assertion_provided(bench.now, handle, "A".into())),
    ("failure", |bench, handle| bench.auth.fail_action(bench.now, handle, ActionFailure::Unavailable)),
    ("time", |bench, _| bench.wait(700_000)),
    ("cancel", |bench, _| bench.auth.cancel(bench.now)),
];

/// What is under way ends when it is cancelled, and everybody has been told something.
fn assert_settles(bench: &mut Bench, context: &str) {
    assert!(bench.auth.actions.len() <= 1, "{context}: {:?}", bench.auth.actions);
    let is_working = matches!(bench.auth.state, State::Working(_));
    let waits = bench.auth.awaited.is_some() || bench.auth.poll_timeout().is_some();
    assert_eq!(is_working, waits, "{context}: it waits for nothing, or for something that nobody awaits");
    bench.auth.cancel(bench.now);
    assert!(bench.auth.waiters.is_empty(), "{context}");
    assert_eq!((bench.auth.poll_action(), bench.auth.poll_timeout()), (None, None), "{context}");
    let told = core::iter::from_fn(|| bench.auth.poll_event()).count() as u64;
    assert!(told <= bench.waiters, "{context}");
    assert!(
        bench.auth.is_ready(bench.now) || matches!(bench.auth.state, State::Unread | State::Idle),
        "{context}"
    );
}

#[test]
fn every_state_takes_every_input() {
    for (name, state) in STATES {
        for (first_name, first) in TURNS {
            for (second_name, second) in TURNS {
                let mut bench = state();
                for turn in [first, second] {
                    // The right handle, so that the answer is taken, whatever it answers.
                    let handle =
                        bench.auth.awaited.map_or(ActionHandle::from_number(0), |(handle, _)| handle);
                    bench.auth.poll_action();
                    turn(&mut bench, handle);
                }
                assert_settles(&mut bench, &format!("{name}: {first_name}, {second_name}"));
            }
        }
    }
}

#[test]
fn late_answers_change_nothing() {
    for (name, state) in STATES {
        for (turn_name, turn) in &TURNS[5..20] {
            if *turn_name == "callback" {
                continue;
            }
            let mut bench = state();
            bench.auth.advance(bench.now);
            let before = format!("{:?} {:?}", bench.auth, bench.auth.record.text().expose());
            turn(&mut bench, ActionHandle::from_number(1_000));
            let after = format!("{:?} {:?}", bench.auth, bench.auth.record.text().expose());
            assert_eq!(before, after, "{name}: {turn_name}");
        }
    }
}

// proves: FEAT-496 FEAT-506
#[test]
fn nothing_that_is_shown_holds_a_secret() {
    let secrets = ["AT1", "RT1", "CODE", "s3cret", "ID1", "JAG"];
    let assert_hidden = |shown: &str| {
        for secret in secrets {
            assert!(!shown.contains(secret), "{secret} in {shown}");
        }
    };
    let authentication = ClientAuthentication::Secret { secret: "s3cret".into(), method: None };
    let clients = Vec::from([ClientRegistration::new(None, "c", authentication)]);
    let mut bench = Bench::new(AuthorizationConfig { clients, ..code_config() });
    let mut verifier = None;
    bench.refused(401, "Bearer");
    bench.discover();
    for step in ["consent", "token", "refresh"] {
        match step {
            "consent" => {
                bench.consent();
            }
            "token" => {
                let (handle, request) = bench.request();
                assert_hidden(&format!("{request:?}"));
                // Tokens and codes are sent in no query.
                assert!(!request.url.contains('?'));
                verifier = sent(&request, "code_verifier");
                bench.auth.actions.push_front(Action::new(handle, ActionKind::Send(request)));
                assert_hidden(&format!("{:?}", bench.auth));
                bench.give_token(1);
            }
            _ => {
                bench.outcome().unwrap();
                bench.refused(401, "Bearer");
                let action = bench.action();
                assert_hidden(&format!("{action:?}"));
            }
        }
        let credentials = bench.credentials();
        let shown = format!("{:?} {credentials:?} {:?}", bench.auth, bench.store);
        assert_hidden(&shown);
        assert!(verifier.as_ref().is_none_or(|verifier| !shown.contains(verifier.as_str())));
    }
}

#[test]
fn the_same_inputs_give_the_same_outputs() {
    let run = || {
        let mut bench = Bench::code();
        bench.refused(401, "Bearer");
        bench.discover();
        bench.register();
        let parameters = bench.consent();
        (parameters, bench.request().1.body.expose().to_owned())
    };
    assert_eq!(run(), run());
}
