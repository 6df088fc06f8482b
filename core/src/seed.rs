//! Randomness as a value: 32 bytes from the host, and everything derived from them.
use core::fmt;
/// 32 random bytes.
#[derive(Clone)]
pub struct Seed([u8; 32]);
impl Seed {
    /// Wraps 32 random bytes.
    pub const fn new(bytes: [u8; 32]) -> Self {
        Seed(bytes)
    }
}
impl fmt::Debug for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Seed(..)")
    }
}
