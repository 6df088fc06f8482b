//! Bindings of the machines to ways of carrying messages.

mod child;
pub mod http;
pub mod sse;
mod stdio;

pub use child::{ChildAction, ChildShutdown};
pub use stdio::Stdio;
