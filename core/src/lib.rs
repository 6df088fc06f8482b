//! The Model Context Protocol as bare wire: bytes in, events out.
#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]

extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

pub mod request_state;
pub mod seed;
