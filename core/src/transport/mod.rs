//! Bindings of the machines to ways of carrying messages.

mod stdio;

pub use stdio::Stdio;
