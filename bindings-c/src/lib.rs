//! The C interface of barewire: opaque handles, plain structs and functions, as `include/barewire.h` declares them.
//!
//! The header is made of this source by `barewire-c-header`, so that the comments here are its documentation. Signatures
//! say in Rust's words what C may give: `Option<&mut T>` is a pointer that may be NULL, `Option<Box<T>>` one that is
//! given back to be freed, `Option<&mut MaybeUninit<T>>` a place for a result. Soundness rests on what the header asks of the caller: pointers
//! are NULL or good, and a handle is used by one thread at a time.
//!
//! It holds no protocol decision.
#![no_std]
#![allow(non_camel_case_types, reason = "the names are those of C")]
#![allow(improper_ctypes_definitions, reason = "pointers to opaque types and places for them")]

extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

mod guard;
mod room;
mod settings;

// The order of the header.
mod version;

mod status;

mod bytes;
mod values;

mod server;

mod event;

mod client;

#[cfg(feature = "http")]
mod auth;

mod child;

mod json;

#[cfg(feature = "http")]
pub use auth::*;
pub use bytes::{bw_bytes, bw_pair};
pub use child::*;
pub use client::*;
pub use event::*;
pub use json::*;
pub use server::*;
pub use status::*;
pub use values::*;
pub use version::*;

#[cfg(test)]
mod tests;
