//! Whatever applications, links and clocks do, in any order: what a client and a server promise holds.

use barewire_tests::{Random, operations};

const SEEDS: [[u8; 32]; 2] = [[1; 32], [2; 32]];

/// The decisions of one run.
fn decisions(random: &mut Random) -> Vec<u8> {
    let count = 40 + random.below(400);
    (0..count).map(|_| random.number() as u8).collect()
}

#[test]
fn promises_hold_whatever_happens() {
    for mut random in Random::seeds(3_000) {
        operations::run(&decisions(&mut random), SEEDS);
    }
}

#[test]
fn the_same_inputs_and_seeds_lead_to_the_same_outputs() {
    for mut random in Random::seeds(200) {
        let decisions = decisions(&mut random);
        assert_eq!(operations::run(&decisions, SEEDS), operations::run(&decisions, SEEDS));
    }
}
