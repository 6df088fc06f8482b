//! Helpers for the tests of the core: a client and a server joined by a link on a virtual clock, and the player
//! of the language-neutral vectors.

mod pair;
mod random;
pub mod vectors;

pub use pair::{Link, Pair, client_config, server_config};
pub use random::Random;
