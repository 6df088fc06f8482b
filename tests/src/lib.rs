//! Helpers for the tests of the core: a client and a server joined by a link, on a virtual clock.

mod pair;
mod random;

pub use pair::{Link, Pair, client_config, server_config};
pub use random::Random;
