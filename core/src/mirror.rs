//! Values of a request that are mirrored into headers (basic/transports/streamable-http, 2026-07-28): how a value is
//! written in a header, and which arguments a tool wants there. Names of headers are the transport's.

pub(crate) mod params;

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

const PREFIX: &str = "=?base64?";
const SUFFIX: &str = "?=";

/// `value` as it stands in a header: as it is, or in Base64 where a header could not carry it unchanged.
pub(crate) fn encode(value: &str) -> Cow<'_, str> {
    let edges = value.starts_with(is_space) || value.ends_with(is_space);
    let looks_encoded = value.starts_with(PREFIX) && value.ends_with(SUFFIX);
    if edges || looks_encoded || !value.bytes().all(is_printable) {
        Cow::Owned(format!("{PREFIX}{}{SUFFIX}", STANDARD.encode(value)))
    } else {
        Cow::Borrowed(value)
    }
}

/// A header whose value is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Undecodable {
    /// It holds what no header may hold.
    InvalidCharacter,
    /// What is marked as Base64 is none, or not padded as it should be.
    InvalidBase64,
    /// What the Base64 stands for is not UTF-8.
    NotUtf8,
}

impl Undecodable {
    pub(crate) const fn explanation(self) -> &'static str {
        match self {
            Undecodable::InvalidCharacter => "holds a character that no header may hold",
            Undecodable::InvalidBase64 => "is not Base64",
            Undecodable::NotUtf8 => "is not UTF-8",
        }
    }
}

/// What the value of a header stands for, the white space around it taken off. One without the whole mark of Base64,
/// in exactly this case, stands for itself.
pub(crate) fn decode(value: &str) -> Result<Cow<'_, str>, Undecodable> {
    if !value.bytes().all(|byte| is_printable(byte) || byte == b'\t') {
        return Err(Undecodable::InvalidCharacter);
    }
    match value.strip_prefix(PREFIX).and_then(|rest| rest.strip_suffix(SUFFIX)) {
        None => Ok(Cow::Borrowed(value)),
        Some(encoded) => {
            let bytes = STANDARD.decode(encoded).map_err(|_| Undecodable::InvalidBase64)?;
            String::from_utf8(bytes).map(Cow::Owned).map_err(|_| Undecodable::NotUtf8)
        }
    }
}

/// Whether `text` can be the name of a header, or a part of it: `1*tchar` (RFC 9110, section 5.6.2).
pub(crate) fn is_token(text: &str) -> bool {
    !text.is_empty()
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}

fn is_space(character: char) -> bool {
    character == ' ' || character == '\t'
}

/// Whether a header carries `byte` as it is; a tab it may carry, yet not through every proxy.
fn is_printable(byte: u8) -> bool {
    (0x20..0x7f).contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    // proves: BASE-290 BASE-305 BASE-306 BASE-310 FEAT-086 FEAT-087
    #[test]
    fn values_are_written_so_that_a_header_carries_them() {
        let cases = [
            ("us-west1", "us-west1"),
            ("", ""),
            ("us west 1", "us west 1"),
            ("3.14159", "3.14159"),
            ("file:///path/to/file%20name.txt", "file:///path/to/file%20name.txt"),
            ("~!@#$%^&*()_+`-={}|[]\\:\";'<>?,./", "~!@#$%^&*()_+`-={}|[]\\:\";'<>?,./"),
            ("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="),
            (" padded ", "=?base64?IHBhZGRlZCA=?="),
            (" us-west1", "=?base64?IHVzLXdlc3Qx?="),
            ("us-west1 ", "=?base64?dXMtd2VzdDEg?="),
            ("line1\nline2", "=?base64?bGluZTEKbGluZTI=?="),
            ("line1\r\nline2", "=?base64?bGluZTENCmxpbmUy?="),
            ("\tindented", "=?base64?CWluZGVudGVk?="),
            ("in\tside", "=?base64?aW4Jc2lkZQ==?="),
            ("\u{7f}", "=?base64?fw==?="),
            ("\0", "=?base64?AA==?="),
            ("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
            ("=?base64?=", "=?base64?PT9iYXNlNjQ/PQ==?="),
            ("=?base64?half", "=?base64?half"),
            ("half?=", "half?="),
            ("=?BASE64?SGVsbG8=?=", "=?BASE64?SGVsbG8=?="),
        ];
        for (value, header) in cases {
            assert_eq!(encode(value), header, "{value:?}");
            assert_eq!(decode(header).as_deref(), Ok(value), "{header:?}");
        }
    }

    // proves: BASE-307 BASE-308 BASE-436 FEAT-088
    #[test]
    fn only_the_whole_mark_stands_for_base64() {
        let cases = [
            ("=?base64?SGVsbG8=?=", Ok("Hello")),
            ("=?base64??=", Ok("")),
            ("=?base64?SGVsbG8?=", Err(Undecodable::InvalidBase64)),
            ("=?base64?SGVs!!!bG8=?=", Err(Undecodable::InvalidBase64)),
            ("=?base64?@@@?=", Err(Undecodable::InvalidBase64)),
            ("=?base64?SGVsbG8==?=", Err(Undecodable::InvalidBase64)),
            ("=?base64?SGVsbG9=?=", Err(Undecodable::InvalidBase64)),
            ("=?base64? SGVsbG8=?=", Err(Undecodable::InvalidBase64)),
            ("=?base64?SGVs-_==?=", Err(Undecodable::InvalidBase64)),
            ("=?base64?/w==?=", Err(Undecodable::NotUtf8)),
            ("=?base64?7aCA?=", Err(Undecodable::NotUtf8)),
            ("=?base64?SGVsbG8=", Ok("=?base64?SGVsbG8=")),
            ("SGVsbG8=?=", Ok("SGVsbG8=?=")),
            ("=?base64?=", Ok("=?base64?=")),
            ("=?Base64?SGVsbG8=?=", Ok("=?Base64?SGVsbG8=?=")),
            ("a\tb", Ok("a\tb")),
            ("ä", Err(Undecodable::InvalidCharacter)),
            ("a\nb", Err(Undecodable::InvalidCharacter)),
            ("\u{7f}", Err(Undecodable::InvalidCharacter)),
        ];
        for (header, expected) in cases {
            assert_eq!(decode(header).as_deref(), expected.as_ref().map(|value| *value), "{header:?}");
        }
    }

    #[test]
    fn tokens_are_what_names_of_headers_consist_of() {
        for text in ["Region", "x-1", "!#$%&'*+-.^_`|~", "0"] {
            assert!(is_token(text), "{text}");
        }
        for text in ["", "a b", "a:b", "ä", "a\r\n", "a\t", "(a)", "a/b", "a,b", "\u{7f}"] {
            assert!(!is_token(text), "{text}");
        }
    }
}
