//! The syntax of URIs (RFC 3986), as far as the protocol has rules for it.

/// Whether `text` is a URI: a scheme, a colon, and nothing that cannot stand in one. What is not ASCII passes, as
/// in an IRI (RFC 3987).
pub(crate) fn is_uri(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else { return false };
    let is_scheme = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'));
    is_scheme && !rest.is_empty() && rest.chars().all(can_stand) && escapes_are_whole(rest)
}

/// Whether `uri` is a URI that begins with `file://`.
pub(crate) fn is_file_uri(uri: &str) -> bool {
    const START: &str = "file://";
    uri.get(..START.len()).is_some_and(|start| start.eq_ignore_ascii_case(START)) && is_uri(uri)
}

/// Whether a step of the path leads upwards: `..`, also with percent-encoded dots or separators.
pub(crate) fn climbs(uri: &str) -> bool {
    let mut dots = 0;
    let mut others = false;
    let mut bytes = uri.bytes();
    while let Some(byte) = bytes.next() {
        let byte = if byte == b'%' { escaped(&mut bytes) } else { byte };
        match byte {
            b'/' | b'\\' | b'?' | b'#' => {
                if dots == 2 && !others {
                    return true;
                }
                (dots, others) = (0, false);
            }
            b'.' => dots += 1,
            _ => others = true,
        }
    }
    dots == 2 && !others
}

/// The byte that the two digits behind a percent sign stand for; the sign itself if they are none.
fn escaped(bytes: &mut core::str::Bytes<'_>) -> u8 {
    let mut ahead = bytes.clone();
    let digits = [ahead.next(), ahead.next()].map(|digit| char::from(digit.unwrap_or_default()).to_digit(16));
    let [Some(high), Some(low)] = digits else { return b'%' };
    *bytes = ahead;
    // Two hexadecimal digits make a byte.
    u8::try_from(high * 16 + low).unwrap_or_default()
}

fn can_stand(character: char) -> bool {
    const NEVER: [char; 9] = ['"', '<', '>', '\\', '^', '`', '{', '|', '}'];
    !(character.is_control() || character.is_whitespace() || NEVER.contains(&character))
}

fn escapes_are_whole(text: &str) -> bool {
    text.split('%').skip(1).all(|behind| {
        let mut digits = behind.bytes().take(2);
        digits.len() == 2 && digits.all(|digit| digit.is_ascii_hexdigit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uris_have_a_scheme_and_no_odd_characters() {
        for uri in ["a:b", "file:///a", "x+y-z.1:q", "https://[::1]:80/a?b#c", "db://users/a%20b", "n:ä"] {
            assert!(is_uri(uri), "{uri}");
        }
        for text in
            ["", "x", "a:", ":b", "1a:b", "a b:c", "/a", "a:b c", "a:{b}", "a:%2", "a:%zz", "a:\n", "ä:b"]
        {
            assert!(!is_uri(text), "{text}");
        }
        assert!(is_file_uri("file:///a") && is_file_uri("FILE://host/a"));
        assert!(!is_file_uri("file:/a") && !is_file_uri("https://a") && !is_file_uri("file:// a"));
    }

    #[test]
    fn steps_upwards_are_found_however_they_are_written() {
        for uri in
            ["f:///a/../b", "f:///..", "f:///a/%2e%2E/b", "f:///a%2f..%2fb", "f:///a/..%5cb", "f:///a/..?q"]
        {
            assert!(climbs(uri), "{uri}");
        }
        for uri in
            ["f:///a/..b", "f:///a/b..", "f:///...", "f:///a/./b", "f:///a/%2e%2", "f:///a.b/c", "f:..a"]
        {
            assert!(!climbs(uri), "{uri}");
        }
    }
}
