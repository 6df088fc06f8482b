//! Whatever servers, connections, applications and clocks do to a client behind HTTP: what it promises holds.

use barewire_tests::{Random, http_client_walk};

/// The decisions of one run.
fn decisions(random: &mut Random) -> Vec<u8> {
    let count = 60 + random.below(1_000);
    (0..count).map(|_| random.number() as u8).collect()
}

#[test]
fn promises_hold_whatever_happens() {
    for mut random in Random::seeds(2_000) {
        http_client_walk::run(&decisions(&mut random));
    }
}

#[test]
fn the_same_inputs_lead_to_the_same_outputs() {
    for mut random in Random::seeds(200) {
        let decisions = decisions(&mut random);
        assert_eq!(http_client_walk::run(&decisions), http_client_walk::run(&decisions));
    }
}
