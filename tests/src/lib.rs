//! Helpers for the tests of the core: a client and a server joined by a link on a virtual clock, everything that can
//! happen to them in any order, and the player of the language-neutral vectors.

pub mod authorization_walk;
mod choices;
pub mod event_streams;
pub mod frames;
pub mod http_client_walk;
pub mod http_host;
pub mod http_pair;
pub mod http_walk;
mod mutation;
pub mod operations;
mod pair;
mod random;
pub mod site;
mod tour;
pub mod vectors;

pub use choices::Choices;
pub use mutation::mutate;
pub use pair::{Link, Pair, client_config, server_config};
pub use random::Random;
pub use tour::Tour;
