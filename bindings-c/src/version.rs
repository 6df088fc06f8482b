//! Which version of the library is linked.

use core::ffi::{CStr, c_char};

const VERSION: &CStr = match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
    Ok(version) => version,
    Err(_) => c"",
};

/// A part of the version as a number.
const fn part(text: &str) -> u32 {
    let (digits, mut value, mut at) = (text.as_bytes(), 0, 0);
    while at < digits.len() {
        value = value * 10 + (digits[at] - b'0') as u32;
        at += 1;
    }
    value
}

/// The version of the library that is linked, such as "1.2.3"; compare BW_VERSION, which is that of the header. The text
/// ends with a NUL and is never freed.
#[unsafe(no_mangle)]
pub extern "C" fn bw_version() -> *const c_char {
    VERSION.as_ptr()
}

/// The version of the library that is linked as one number: major << 16 | minor << 8 | patch; compare BW_VERSION_NUMBER.
#[unsafe(no_mangle)]
pub extern "C" fn bw_version_number() -> u32 {
    const MAJOR: u32 = part(env!("CARGO_PKG_VERSION_MAJOR"));
    const MINOR: u32 = part(env!("CARGO_PKG_VERSION_MINOR"));
    const PATCH: u32 = part(env!("CARGO_PKG_VERSION_PATCH"));
    MAJOR << 16 | MINOR << 8 | PATCH
}
