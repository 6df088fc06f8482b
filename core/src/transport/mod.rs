//! Bindings of the machines to ways of carrying messages.

mod child;
mod stdio;

pub use child::{ChildAction, ChildShutdown};
pub use stdio::Stdio;
