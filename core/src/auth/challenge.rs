//! What `WWW-Authenticate` says (RFC 9110, section 11.6.1; RFC 6750, section 3; RFC 9449, section 7.1; RFC 9728, section 5.1).

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use super::scopes::Scopes;

/// Most bytes of one header value that are read.
const MOST_BYTES: usize = 16 << 10;

/// What a server says in the challenges that this client understands, taken together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Challenge {
    /// Whether there was one.
    pub(super) is_known: bool,
    pub(super) error: Option<Box<str>>,
    /// Empty if none is named.
    pub(super) scopes: Scopes,
    pub(super) resource_metadata: Option<Box<str>>,
}

impl Challenge {
    /// Reads the values of `WWW-Authenticate`, in order. What makes no sense is passed over.
    pub(super) fn read(values: &[&str]) -> Challenge {
        let mut found = Challenge::default();
        for value in values.iter().filter(|value| value.len() <= MOST_BYTES) {
            for (scheme, params) in challenges(value) {
                if scheme.eq_ignore_ascii_case("Bearer") || scheme.eq_ignore_ascii_case("DPoP") {
                    found.take(params);
                }
            }
        }
        found
    }

    /// What is named first counts.
    fn take(&mut self, params: Vec<(&str, String)>) {
        self.is_known = true;
        for (name, value) in params {
            if name.eq_ignore_ascii_case("error") {
                self.error.get_or_insert(value.into());
            } else if name.eq_ignore_ascii_case("scope") {
                if self.scopes.is_empty() {
                    self.scopes = Scopes::read(&value);
                }
            } else if name.eq_ignore_ascii_case("resource_metadata") {
                self.resource_metadata.get_or_insert(value.into());
            }
        }
    }

    /// The server wants another nonce in the proof.
    pub(super) fn wants_nonce(&self) -> bool {
        self.error.as_deref() == Some("use_dpop_nonce")
    }

    /// More scopes would help, and it says which.
    pub(super) fn is_insufficient_scope(&self) -> bool {
        self.error.as_deref() == Some("insufficient_scope") && !self.scopes.is_empty()
    }
}

/// A scheme with its parameters, names as they were written.
type Parsed<'a> = (&'a str, Vec<(&'a str, String)>);

/// The challenges of one header value. A comma may separate challenges as well as parameters; what follows tells.
fn challenges(value: &str) -> Vec<Parsed<'_>> {
    let mut reader = Reader { rest: value };
    let mut found: Vec<Parsed<'_>> = Vec::new();
    loop {
        reader.skip(|byte| matches!(byte, b' ' | b'\t' | b','));
        if reader.rest.is_empty() {
            return found;
        }
        let Some(token) = reader.token() else {
            reader.skip_element();
            continue;
        };
        let before = reader.rest;
        reader.skip(is_blank);
        if let Some(after) = reader.rest.strip_prefix('=') {
            reader.rest = after;
            reader.skip(is_blank);
            match (reader.value(), found.last_mut()) {
                (Some(value), Some((_, params))) => params.push((token, value)),
                _ => reader.skip_element(),
            }
            continue;
        }
        reader.rest = before;
        found.push((token, Vec::new()));
        reader.skip(is_blank);
        reader.skip_token68();
    }
}

struct Reader<'a> {
    rest: &'a str,
}

impl<'a> Reader<'a> {
    fn skip(&mut self, skips: impl Fn(u8) -> bool) {
        self.rest = self.rest.trim_start_matches(|c: char| u8::try_from(c).is_ok_and(&skips));
    }

    /// Cuts off what consists of such bytes.
    fn cut(&mut self, belongs: impl Fn(u8) -> bool) -> &'a str {
        let end = self.rest.bytes().position(|byte| !belongs(byte)).unwrap_or(self.rest.len());
        // What belongs is ASCII, so that no character is cut.
        let (cut, rest) = self.rest.split_at(end);
        self.rest = rest;
        cut
    }

    fn token(&mut self) -> Option<&'a str> {
        Some(self.cut(is_token)).filter(|token| !token.is_empty())
    }

    /// A token or a quoted string.
    fn value(&mut self) -> Option<String> {
        let Some(mut quoted) = self.rest.strip_prefix('"') else { return self.token().map(String::from) };
        let mut value = String::new();
        loop {
            let end = quoted.find(['"', '\\'])?;
            value.push_str(&quoted[..end]);
            let is_end = quoted[end..].starts_with('"');
            quoted = &quoted[end + 1..];
            if is_end {
                self.rest = quoted;
                return Some(value);
            }
            let escaped = quoted.chars().next()?;
            value.push(escaped);
            quoted = &quoted[escaped.len_utf8()..];
        }
    }

    /// Passes over the one piece of data of schemes that have no parameters.
    fn skip_token68(&mut self) {
        let start = self.rest;
        let data = self.cut(|byte| byte.is_ascii_alphanumeric() || b"-._~+/".contains(&byte));
        self.cut(|byte| byte == b'=');
        self.skip(is_blank);
        if data.is_empty() || !(self.rest.is_empty() || self.rest.starts_with(',')) {
            self.rest = start;
        }
    }

    /// Passes over what makes no sense, to the next comma that is not quoted.
    fn skip_element(&mut self) {
        let mut is_quoted = false;
        let mut is_escaped = false;
        let end = self.rest.bytes().position(|byte| {
            let ends = byte == b',' && !is_quoted;
            is_quoted ^= byte == b'"' && !is_escaped;
            is_escaped = byte == b'\\' && is_quoted && !is_escaped;
            ends
        });
        self.rest = end.map_or("", |end| &self.rest[end..]);
    }
}

const fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

/// RFC 9110, section 5.6.2.
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;

    fn shown(value: &str) -> String {
        let one = |(scheme, params): Parsed<'_>| {
            let params: Vec<_> = params.iter().map(|(name, value)| format!("{name}={value}")).collect();
            format!("{scheme}[{}]", params.join("|"))
        };
        challenges(value).into_iter().map(one).collect::<Vec<_>>().join(" ")
    }

    // proves: FEAT-439
    #[test]
    fn challenges_are_taken_apart() {
        for (value, expected) in [
            ("", ""),
            (" , ,", ""),
            ("Bearer", "Bearer[]"),
            ("Bearer ", "Bearer[]"),
            ("Bearer realm=\"a\"", "Bearer[realm=a]"),
            ("bearer a=b,c=\"d\"", "bearer[a=b|c=d]"),
            ("Bearer a = b , c\t=\t\"d\" ,", "Bearer[a=b|c=d]"),
            ("Bearer a=\"x, y=z\"", "Bearer[a=x, y=z]"),
            ("Bearer a=\"q\\\"r\\\\\"", "Bearer[a=q\"r\\]"),
            ("Bearer a=\"\"", "Bearer[a=]"),
            ("Basic realm=\"r\", Bearer scope=\"s t\"", "Basic[realm=r] Bearer[scope=s t]"),
            ("Negotiate, Bearer a=b", "Negotiate[] Bearer[a=b]"),
            ("Negotiate abc==, Bearer a=b", "Negotiate[] Bearer[a=b]"),
            ("NTLM TlRM/+=, Bearer a=b, DPoP algs=\"ES256\"", "NTLM[] Bearer[a=b] DPoP[algs=ES256]"),
            ("Bearer abc", "Bearer[]"),
            // What makes no sense is passed over, and nothing behind it is lost.
            ("Bearer a=, b=c", "Bearer[b=c]"),
            ("Bearer a=\"open", "Bearer[]"),
            ("Bearer \"x,y\", b=c", "Bearer[b=c]"),
            ("a=b, Bearer c=d", "Bearer[c=d]"),
            ("Bearer é=\"x\", b=c", "Bearer[b=c]"),
            ("Bearer a=\"é\"", "Bearer[a=é]"),
            ("Bearer a==b, c=d", "Bearer[c=d]"),
        ] {
            assert_eq!(shown(value), expected, "{value}");
        }
    }

    #[test]
    fn schemes_and_names_compare_without_case_and_the_first_counts() {
        let challenge = Challenge::read(&[
            "Basic scope=\"basic\", error=\"no\"",
            "bEARER Scope=\"a  b\", RESOURCE_METADATA=\"https://h/x\", scope=\"c\"",
            "DPoP error=\"use_dpop_nonce\", scope=\"d\"",
        ]);
        assert!(challenge.is_known && challenge.wants_nonce() && !challenge.is_insufficient_scope());
        assert_eq!(challenge.scopes, Scopes::read("a b"));
        assert_eq!(challenge.resource_metadata.as_deref(), Some("https://h/x"));
        assert!(Challenge::read(&["Bearer error=insufficient_scope, scope=a"]).is_insufficient_scope());
        assert!(!Challenge::read(&["Bearer error=insufficient_scope"]).is_insufficient_scope());
        assert_eq!(Challenge::read(&["Basic realm=x"]), Challenge::default());
        // An empty scope is none.
        assert!(Challenge::read(&["Bearer scope=\"\""]).scopes.is_empty());
        let long = format!("Bearer scope=\"{}\"", "a".repeat(MOST_BYTES));
        assert_eq!(Challenge::read(&[&long]), Challenge::default());
    }
}
