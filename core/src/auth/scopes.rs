//! Sets of scopes (OAuth 2.1, section 1.4.1), in the order in which they were met.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

/// Most scopes of a set; more are passed over.
const MOST: usize = 256;

/// Asks for refresh tokens (`OpenID` Connect Core 1.0, section 11).
pub(super) const OFFLINE_ACCESS: &str = "offline_access";

/// A set of scopes without repetitions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Scopes(Vec<Box<str>>);

impl Scopes {
    /// Reads a space-separated list. What is no scope is passed over.
    pub(super) fn read(text: &str) -> Scopes {
        Scopes::of(text.split(' '))
    }

    pub(super) fn of<'a>(scopes: impl IntoIterator<Item = &'a str>) -> Scopes {
        let mut set = Scopes::default();
        scopes.into_iter().for_each(|scope| set.add(scope));
        set
    }

    fn add(&mut self, scope: &str) {
        if is_scope(scope) && self.0.len() < MOST && !self.contains(scope) {
            self.0.push(scope.into());
        }
    }

    pub(super) fn contains(&self, scope: &str) -> bool {
        self.0.iter().any(|own| **own == *scope)
    }

    pub(super) fn contains_all(&self, other: &Scopes) -> bool {
        other.0.iter().all(|scope| self.contains(scope))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|scope| &**scope)
    }

    /// Both together, ours first.
    #[must_use]
    pub(super) fn and(mut self, other: &Scopes) -> Scopes {
        other.iter().for_each(|scope| self.add(scope));
        self
    }

    /// Separated by spaces.
    pub(super) fn text(&self) -> String {
        self.0.join(" ")
    }
}

/// What may stand in a scope: printable ASCII but space, quotation mark and backslash.
pub(super) fn is_scope(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\\'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;

    #[test]
    fn sets_keep_order_and_drop_what_is_no_scope() {
        for (text, expected) in [
            ("", ""),
            ("a", "a"),
            (" b  a b ", "b a"),
            ("a \u{e9} c\"d e\\f g\th i", "a i"),
            ("a:b/c", "a:b/c"),
        ] {
            assert_eq!(Scopes::read(text).text(), expected, "{text}");
        }
        let many: Vec<_> = (0..1000).map(|number| format!("s{number}")).collect();
        assert_eq!(Scopes::read(&many.join(" ")).iter().count(), MOST);
    }

    // proves: FEAT-484 FEAT-488 FEAT-679
    #[test]
    fn unions_lose_nothing() {
        let union = Scopes::read("a b").and(&Scopes::read("c b"));
        assert_eq!(union.text(), "a b c");
        assert!(union.contains_all(&Scopes::read("c a")) && union.contains_all(&Scopes::default()));
        assert!(!Scopes::read("a").contains_all(&union));
    }
}
