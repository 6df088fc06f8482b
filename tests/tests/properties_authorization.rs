//! Whatever servers, users, stores and clocks do to an authorization: what it promises holds.

use barewire_tests::{Random, authorization_walk};

// proves: FEAT-497
#[test]
fn promises_hold_whatever_happens() {
    for mut random in Random::seeds(1_200) {
        authorization_walk::run(&authorization_walk::decisions(&mut random));
    }
}

#[test]
fn the_same_inputs_lead_to_the_same_outputs() {
    for mut random in Random::seeds(100) {
        let decisions = authorization_walk::decisions(&mut random);
        assert_eq!(authorization_walk::run(&decisions), authorization_walk::run(&decisions));
    }
}

/// The walk comes by tokens, or it would prove little.
#[test]
fn some_walks_reach_a_token() {
    let reaches = |mut random: Random| {
        authorization_walk::run(&authorization_walk::decisions(&mut random)).contains("Save { expected: 1,")
    };
    let reached = Random::seeds(300).filter(|random| reaches(random.clone())).count();
    assert!(reached >= 10, "{reached}");
}
