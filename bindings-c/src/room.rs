//! Where memory ends: a step is taken only if there is room for it. With `std` there always is.

use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use core::fmt::{self, Write as _};

use barewire::server::Server;
use barewire::{Limit, Measured as _, Step};

use crate::bytes::bw_bytes;
use crate::status::Failure;

#[cfg(not(feature = "std"))]
unsafe extern "C" {
    /// The hook of the host that tells how many bytes can be allocated in one piece.
    safe fn bw_port_available() -> usize;
}

/// What a small piece of work allocates that has no bound of its own, such as the text of an error.
const SMALL: usize = 256;

/// Bytes that can be allocated in one piece.
pub(crate) fn available() -> usize {
    #[cfg(feature = "std")]
    return usize::MAX;
    #[cfg(not(feature = "std"))]
    bw_port_available()
}

/// Whether something can be allocated that takes so many bytes and little else.
pub(crate) fn has(bytes: usize) -> bool {
    cfg!(feature = "std") || available() >= bytes.saturating_add(SMALL)
}

/// Refuses to allocate so many bytes, and little else, where there is no room for them.
pub(crate) fn check(bytes: usize) -> Result<(), Failure> {
    if has(bytes) { Ok(()) } else { Err(Failure::Core(Limit::Memory.into())) }
}

/// Makes room for so many bytes more behind those that are there; false if there is none.
pub(crate) fn grow(bytes: &mut Vec<u8>, more: usize) -> bool {
    let needed = bytes.len().saturating_add(more);
    if needed <= bytes.capacity() || has(needed.max(2 * bytes.capacity())) {
        bytes.reserve(more);
        return true;
    }
    let is_room = has(needed);
    if is_room {
        bytes.reserve_exact(more);
    }
    is_room
}

/// What is to be said in words, if there is room for them.
pub(crate) fn words(what: &impl fmt::Display) -> String {
    struct Length(usize);
    impl fmt::Write for Length {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            self.0 += text.len();
            Ok(())
        }
    }
    if cfg!(feature = "std") {
        return what.to_string();
    }
    let mut length = Length(0);
    let mut words = String::new();
    if write!(length, "{what}").is_ok() && has(length.0) {
        words.reserve_exact(length.0);
        let _ = write!(words, "{what}");
    }
    words
}

/// Refuses a step of a server that there is no room for.
pub(crate) fn check_step(server: &Server, step: Step<'_>) -> Result<(), Failure> {
    if cfg!(feature = "std") || available() >= server.room_for(step) {
        return Ok(());
    }
    Err(Failure::Core(Limit::Memory.into()))
}

/// How long a text is as a JSON string, at most. With `std` nobody asks.
pub(crate) fn written(text: bw_bytes) -> usize {
    /// A character that has to be escaped takes up to so many.
    const ESCAPED: usize = 6;
    if cfg!(feature = "std") {
        return 0;
    }
    let escapes =
        text.bytes().unwrap_or_default().iter().filter(|byte| matches!(byte, 0..0x20 | b'"' | b'\\'));
    text.count() + (ESCAPED - 1) * escapes.count() + 2
}
