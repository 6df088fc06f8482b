//! Text that must not be seen.

use alloc::boxed::Box;
use alloc::string::String;
use core::fmt;

/// A token, code, verifier, password or assertion. `Debug` shows nothing of it and there is no `Display`: only
/// [`expose`](Self::expose) gives the text, so that a place where it can leak is easy to find.
///
/// The value is not wiped from memory when it is dropped, and comparing two takes time that depends on them.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Box<str>);

impl Secret {
    /// Takes the text as it is.
    pub fn new(text: impl Into<Box<str>>) -> Secret {
        Secret(text.into())
    }

    /// The text.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl From<&str> for Secret {
    fn from(text: &str) -> Secret {
        Secret(text.into())
    }
}

impl From<String> for Secret {
    fn from(text: String) -> Secret {
        Secret(text.into())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;

    // proves: FEAT-506
    #[test]
    fn debug_shows_nothing() {
        let secret = Secret::from(String::from("hunter2"));
        assert_eq!(format!("{secret:?} {:?}", Some(&secret)), "Secret(..) Some(Secret(..))");
        assert_eq!(secret.expose(), "hunter2");
    }
}
