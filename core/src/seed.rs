//! Randomness as a value: 32 bytes from the host, everything else derived from them.
//!
//! Construction: SHA-256 (FIPS 180-4) over a fixed-length header, the secret, and the length-prefixed label.
//! No encoding is a prefix of another one, so the extension property of SHA-256 gives an attacker nothing and
//! labels cannot run into each other.

use alloc::string::String;
use alloc::vec;
use core::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};

/// What a derived block is for. It is part of the hashed header, so that a key and a generator with the same
/// label have nothing in common.
#[derive(Clone, Copy)]
enum Purpose {
    Key = 1,
    Stream = 2,
    Block = 3,
}

/// 32 secret bytes from the host's cryptographic random source: all the randomness of a machine.
///
/// The core never asks an operating system for randomness. The host draws the bytes from its system's generator
/// (`getrandom`, `BCryptGenRandom`, `os.urandom`, `crypto.randomBytes`) and hands them over once. Nonces, tokens and
/// keys are computed from them, so a run is repeatable: the same seed and the same inputs give the same outputs,
/// byte for byte.
///
/// Draw a fresh seed for every machine. A fixed one belongs in tests alone, because it makes every token predictable.
/// Keys that several processes must share are configured as keys, not produced by giving all processes one seed.
///
/// `Debug` shows no part of the bytes. The value is not wiped from memory when it is dropped.
#[derive(Clone)]
pub struct Seed([u8; 32]);

impl Seed {
    /// Takes the 32 bytes as they are. They must be unpredictable: nothing here can make a weak seed strong.
    #[must_use]
    pub const fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// A 32-byte key for the use named by `label`.
    ///
    /// Different labels give independent keys; the same label always gives the same key. A key says nothing
    /// about the seed, about other keys, or about the tokens and nonces that are computed from the seed.
    #[must_use]
    pub fn derive(&self, label: &str) -> [u8; 32] {
        hash(Purpose::Key, &self.0, label.len() as u64, label.as_bytes())
    }
}

impl From<[u8; 32]> for Seed {
    fn from(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }
}

impl fmt::Debug for Seed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Seed(..)")
    }
}

/// A deterministic stream of unpredictable bytes: SHA-256 in counter mode under a key derived from a [`Seed`].
///
/// It is not `Clone`: two copies would hand out the same bytes. Make a second generator with another label.
/// `Debug` shows neither the key nor bytes that are still to come.
pub(crate) struct Generator {
    key: [u8; 32],
    counter: u64,
    block: [u8; 32],
    /// Bytes of `block` already handed out; 32 when none is left.
    used: usize,
}

impl Generator {
    /// A generator at the start of the stream named by `label`. Different labels give independent streams; the
    /// same seed and label give the same stream.
    #[must_use]
    pub(crate) fn new(seed: &Seed, label: &str) -> Self {
        let key = hash(Purpose::Stream, &seed.0, label.len() as u64, label.as_bytes());
        Self { key, counter: 0, block: [0; 32], used: 32 }
    }

    /// Overwrites `target` with the next bytes of the stream. How the stream is cut into calls does not change
    /// its bytes.
    pub(crate) fn fill(&mut self, target: &mut [u8]) {
        for byte in target {
            if self.used == self.block.len() {
                self.block = hash(Purpose::Block, &self.key, self.counter, &[]);
                // 2^64 blocks are out of reach of any process; wrapping keeps the arithmetic total.
                self.counter = self.counter.wrapping_add(1);
                self.used = 0;
            }
            // `used` is below 32 here, by the test above.
            *byte = self.block[self.used];
            self.used += 1;
        }
    }

    /// The next `N` bytes of the stream as an array, for nonces and keys.
    pub(crate) fn array<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        self.fill(&mut bytes);
        bytes
    }

    /// The next `byte_count` bytes as text: base64url without padding (RFC 4648 section 5), hence only letters,
    /// digits, `-` and `_`. 16 bytes (22 characters) are enough for an identifier that must not be guessed.
    pub(crate) fn token(&mut self, byte_count: usize) -> String {
        let mut bytes = vec![0; byte_count];
        self.fill(&mut bytes);
        URL_SAFE_NO_PAD.encode(bytes)
    }
}

impl fmt::Debug for Generator {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Generator(..)")
    }
}

/// SHA-256 of header, secret, number and label. For keys and streams the number is the label's length, which
/// keeps the encoding free of prefixes; for blocks it is the counter and the label is empty.
fn hash(purpose: Purpose, secret: &[u8; 32], number: u64, label: &[u8]) -> [u8; 32] {
    let mut hasher = Sha256::new();
    hasher.update(b"barewire seed v1");
    hasher.update([purpose as u8]);
    hasher.update(secret);
    hasher.update(number.to_be_bytes());
    hasher.update(label);
    hasher.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeSet;
    use alloc::format;
    use alloc::vec::Vec;

    fn bytes(label: &str, count: usize) -> Vec<u8> {
        let mut target = vec![0; count];
        Generator::new(&Seed::new([7; 32]), label).fill(&mut target);
        target
    }

    #[test]
    fn the_same_seed_and_label_give_the_same_bytes() {
        assert_eq!(bytes("nonce", 1000), bytes("nonce", 1000));
    }

    /// Pins the construction: a changed stream would break recorded scripts and shared keys.
    #[test]
    fn the_first_block_is_the_hash_that_the_documentation_names() {
        let key = Sha256::digest(
            [b"barewire seed v1\x02".as_slice(), &[7; 32], &[0, 0, 0, 0, 0, 0, 0, 5], b"nonce"].concat(),
        );
        let first = Sha256::digest([b"barewire seed v1\x03".as_slice(), &key, &[0; 8]].concat());
        let second =
            Sha256::digest([b"barewire seed v1\x03".as_slice(), &key, &[0, 0, 0, 0, 0, 0, 0, 1]].concat());
        assert_eq!(bytes("nonce", 64), [first, second].concat());
    }

    #[test]
    fn labels_seeds_and_purposes_are_independent() {
        let mut distinct = BTreeSet::new();
        for seed in [[0; 32], [1; 32]] {
            let seed = Seed::new(seed);
            for label in ["", "a", "aa", "a\0", "nonce"] {
                assert!(distinct.insert(seed.derive(label)));
                assert!(distinct.insert(Generator::new(&seed, label).array()));
            }
        }
        assert_eq!(distinct.len(), 20);
    }

    #[test]
    fn cutting_the_stream_changes_nothing() {
        let whole = bytes("cut", 200);
        for size in [1, 3, 31, 32, 33, 64, 100] {
            let mut generator = Generator::new(&Seed::new([7; 32]), "cut");
            let mut parts = vec![0; 200];
            for part in parts.chunks_mut(size) {
                generator.fill(part);
            }
            assert_eq!(parts, whole, "chunks of {size}");
        }
    }

    #[test]
    fn the_stream_is_spread_evenly() {
        let mut counts = [0_u32; 256];
        for byte in bytes("spread", 256 * 400) {
            counts[usize::from(byte)] += 1;
        }
        // Mean 400, standard deviation 20: five deviations either way.
        assert!(counts.iter().all(|count| (300..=500).contains(count)), "{counts:?}");
    }

    #[test]
    fn tokens_are_base64url_of_the_stream_and_do_not_repeat() {
        let mut generator = Generator::new(&Seed::new([7; 32]), "token");
        let first = generator.token(16);
        assert_eq!(first.len(), 22);
        assert_eq!(URL_SAFE_NO_PAD.decode(&first).unwrap(), bytes("token", 16));
        assert_eq!(generator.token(0), "");
        let mut seen = BTreeSet::from([first]);
        for _ in 0..1000 {
            let token = generator.token(16);
            assert!(token.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_'));
            assert!(seen.insert(token));
        }
    }

    #[test]
    fn debug_shows_no_secret() {
        let seed = Seed::from([0xAB; 32]);
        assert_eq!(format!("{seed:?} {:?}", Generator::new(&seed, "x")), "Seed(..) Generator(..)");
    }
}
