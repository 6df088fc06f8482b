//! JSON for hosts without a library of their own: readers by JSON Pointer, and a small writer.

mod read;
mod write;

pub use read::*;
pub use write::*;
