//! Repeatable randomness: SplitMix64. The seed of a failing test is printed, so that it can be run again.

/// A generator of repeatable numbers.
#[derive(Clone, Debug)]
pub struct Random {
    seed: u64,
    state: u64,
}

impl Random {
    /// A generator that gives the same numbers for the same seed.
    pub fn new(seed: u64) -> Random {
        Random { seed, state: seed }
    }

    /// A generator for each of `count` seeds, from `BAREWIRE_SEED` alone if that is set.
    pub fn seeds(count: u64) -> impl Iterator<Item = Random> {
        let (first, count) = match std::env::var("BAREWIRE_SEED").ok().and_then(|seed| seed.parse().ok()) {
            Some(seed) => (seed, 1),
            None => (0, count),
        };
        (first..first + count).map(Random::new)
    }

    /// The next number.
    pub fn number(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`, which is not 0.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.number() % bound as u64) as usize
    }

    /// One of `items`, which is not empty.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }
}

impl Drop for Random {
    #[expect(clippy::disallowed_macros, reason = "the seed is for the reader of a failing test")]
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("run this again with BAREWIRE_SEED={}", self.seed);
        }
    }
}
