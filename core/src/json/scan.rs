//! A strict JSON reader that finds where values begin and end, and decodes nothing.
//!
//! It accepts exactly the grammar of RFC 8259 (lone surrogates in `\u` escapes included, as the grammar
//! allows them) and never recurses: nesting is kept as bits, so that depth costs no stack.

use core::fmt;
use core::ops::Range;

/// Nesting deeper than this is refused whatever limit the caller asks for.
pub const MAX_DEPTH: usize = 1024;

/// Why a text is not acceptable JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScanError {
    /// Not JSON; the byte offset of the first offending byte (the length if the text ends too early).
    Syntax(usize),
    /// Arrays and objects nest deeper than allowed; the byte offset of the bracket that was too much.
    Depth(usize),
}

impl fmt::Display for ScanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ScanError::Syntax(offset) => write!(f, "not JSON at byte {offset}"),
            ScanError::Depth(offset) => write!(f, "nested too deeply at byte {offset}"),
        }
    }
}

impl core::error::Error for ScanError {}

/// A position in a text, moved forward value by value.
pub(crate) struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
    depth_limit: usize,
    newline: bool,
}

impl<'a> Scanner<'a> {
    pub(crate) fn new(text: &'a str, depth_limit: usize) -> Self {
        Scanner { bytes: text.as_bytes(), at: 0, depth_limit: depth_limit.min(MAX_DEPTH), newline: false }
    }

    /// Whether a raw newline or carriage return was passed; none can stand inside a string.
    pub(crate) const fn saw_newline(&self) -> bool {
        self.newline
    }

    /// The offset of the next byte.
    pub(crate) const fn position(&self) -> usize {
        self.at
    }

    /// Skips white space and returns the next byte without consuming it.
    #[inline]
    pub(crate) fn peek(&mut self) -> Option<u8> {
        while let Some(&byte) = self.bytes.get(self.at) {
            match byte {
                b' ' | b'\t' => self.at += 1,
                b'\n' | b'\r' => {
                    self.newline = true;
                    self.at += 1;
                }
                _ => return Some(byte),
            }
        }
        None
    }

    /// Consumes one byte that was seen.
    pub(crate) fn skip(&mut self) {
        self.at += 1;
    }

    /// Consumes `byte` (after white space) or fails.
    #[inline]
    pub(crate) fn expect(&mut self, byte: u8) -> Result<(), ScanError> {
        if self.peek() == Some(byte) {
            self.at += 1;
            Ok(())
        } else {
            Err(ScanError::Syntax(self.at))
        }
    }

    /// Fails unless only white space is left.
    pub(crate) fn end(&mut self) -> Result<(), ScanError> {
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(ScanError::Syntax(self.at)),
        }
    }

    /// Consumes a string and returns the range of its contents, quotes excluded.
    #[inline]
    pub(crate) fn string(&mut self) -> Result<Range<usize>, ScanError> {
        self.expect(b'"')?;
        let start = self.at;
        self.string_rest()?;
        Ok(start..self.at - 1)
    }

    /// Consumes one value of any kind and returns its range, surrounding white space excluded.
    pub(crate) fn value(&mut self) -> Result<Range<usize>, ScanError> {
        self.value_at_depth(0)
    }

    /// As [`value`](Self::value), where the value itself already stands inside `outer` containers.
    pub(crate) fn value_at_depth(&mut self, outer: usize) -> Result<Range<usize>, ScanError> {
        let first = self.peek().ok_or(ScanError::Syntax(self.at))?;
        let start = self.at;
        match first {
            b'{' | b'[' => self.container(outer)?,
            _ => self.scalar(first)?,
        }
        Ok(start..self.at)
    }

    /// Consumes an object that stands inside `outer` containers. `member` is given each key, quotes excluded,
    /// with the scanner before the value, which it must consume.
    #[inline]
    pub(crate) fn members(
        &mut self,
        outer: usize,
        mut member: impl FnMut(&mut Self, Range<usize>) -> Result<(), ScanError>,
    ) -> Result<(), ScanError> {
        if self.peek() == Some(b'{') && outer >= self.depth_limit {
            return Err(ScanError::Depth(self.at));
        }
        self.expect(b'{')?;
        if self.peek() == Some(b'}') {
            return self.expect(b'}');
        }
        loop {
            let key = self.string()?;
            self.expect(b':')?;
            member(self, key)?;
            if self.peek() != Some(b',') {
                return self.expect(b'}');
            }
            self.expect(b',')?;
        }
    }

    /// Consumes an array that stands inside `outer` containers. `element` finds the scanner before each element, which
    /// it must consume.
    pub(crate) fn elements(
        &mut self,
        outer: usize,
        mut element: impl FnMut(&mut Self) -> Result<(), ScanError>,
    ) -> Result<(), ScanError> {
        if self.peek() == Some(b'[') && outer >= self.depth_limit {
            return Err(ScanError::Depth(self.at));
        }
        self.expect(b'[')?;
        if self.peek() == Some(b']') {
            return self.expect(b']');
        }
        loop {
            element(self)?;
            if self.peek() != Some(b',') {
                return self.expect(b']');
            }
            self.expect(b',')?;
        }
    }

    fn scalar(&mut self, first: u8) -> Result<(), ScanError> {
        match first {
            b'"' => {
                self.at += 1;
                self.string_rest()
            }
            b'-' | b'0'..=b'9' => self.number(),
            b't' => self.literal(b"true"),
            b'f' => self.literal(b"false"),
            b'n' => self.literal(b"null"),
            _ => Err(ScanError::Syntax(self.at)),
        }
    }

    /// Consumes an array or object, iteratively.
    fn container(&mut self, outer: usize) -> Result<(), ScanError> {
        let mut stack = Nesting::new();
        self.open(&mut stack, outer)?;
        loop {
            // Here a container is open, and either a value has just ended or the container is new.
            let byte = self.peek().ok_or(ScanError::Syntax(self.at))?;
            let closes = if stack.in_object() { b'}' } else { b']' };
            if byte == closes {
                self.at += 1;
                if stack.pop() {
                    return Ok(());
                }
                continue;
            }
            if !stack.take_fresh() {
                self.expect(b',')?;
            }
            if stack.in_object() {
                self.string()?;
                self.expect(b':')?;
            }
            match self.peek().ok_or(ScanError::Syntax(self.at))? {
                b'{' | b'[' => self.open(&mut stack, outer)?,
                first => self.scalar(first)?,
            }
        }
    }

    fn open(&mut self, stack: &mut Nesting, outer: usize) -> Result<(), ScanError> {
        if outer + stack.depth >= self.depth_limit {
            return Err(ScanError::Depth(self.at));
        }
        // The caller has seen that the byte is an opening bracket.
        stack.push(self.bytes.get(self.at) == Some(&b'{'));
        self.at += 1;
        Ok(())
    }

    /// Consumes the rest of a string, the opening quote being behind us.
    #[inline(never)]
    fn string_rest(&mut self) -> Result<(), ScanError> {
        // Most strings are names and other short words: the end stands in the first word.
        if let Some(word) = self.bytes[self.at..].first_chunk() {
            let found = special_bytes(u64::from_le_bytes(*word));
            let at = self.at + (found.trailing_zeros() / 8) as usize;
            if found != 0 && self.bytes.get(at) == Some(&b'"') {
                self.at = at + 1;
                return Ok(());
            }
        }
        self.long_string_rest()
    }

    #[inline(never)]
    fn long_string_rest(&mut self) -> Result<(), ScanError> {
        let mut rest = &self.bytes[self.at..];
        loop {
            rest = &rest[plain_prefix(rest)..];
            match rest {
                [b'"', after @ ..] => {
                    self.at = self.bytes.len() - after.len();
                    return Ok(());
                }
                [b'\\', b'"' | b'n', after @ ..] => {
                    let at = self.bytes.len() - after.len();
                    rest = if at - self.at < LONG { after } else { &self.bytes[long_text(self.bytes, at)..] };
                }
                [b'\\', b'\\' | b'/' | b'b' | b'f' | b'r' | b't', after @ ..] => rest = after,
                [b'\\', b'u', a, b, c, d, after @ ..]
                    if [a, b, c, d].iter().all(|digit| digit.is_ascii_hexdigit()) =>
                {
                    rest = after;
                }
                _ => return Err(ScanError::Syntax(self.bytes.len() - rest.len())),
            }
        }
    }

    fn number(&mut self) -> Result<(), ScanError> {
        if self.bytes.get(self.at) == Some(&b'-') {
            self.at += 1;
        }
        match self.bytes.get(self.at) {
            Some(b'0') => self.at += 1,
            Some(b'1'..=b'9') => self.digits()?,
            _ => return Err(ScanError::Syntax(self.at)),
        }
        if self.bytes.get(self.at) == Some(&b'.') {
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.bytes.get(self.at) {
            self.at += 1;
            if let Some(b'+' | b'-') = self.bytes.get(self.at) {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(())
    }

    fn digits(&mut self) -> Result<(), ScanError> {
        let start = self.at;
        while let Some(b'0'..=b'9') = self.bytes.get(self.at) {
            self.at += 1;
        }
        if self.at == start { Err(ScanError::Syntax(start)) } else { Ok(()) }
    }

    fn literal(&mut self, word: &[u8]) -> Result<(), ScanError> {
        if self.bytes[self.at..].starts_with(word) {
            self.at += word.len();
            Ok(())
        } else {
            Err(ScanError::Syntax(self.at))
        }
    }
}

/// Runs and strings that go on for so long are taken block by block.
const LONG: usize = 128;

/// How many bytes a block has.
const BLOCK: usize = 32;

/// The length of the longest prefix that holds no quote, backslash or control character.
#[inline]
pub(super) fn plain_prefix(bytes: &[u8]) -> usize {
    const WORD: usize = 8;
    let (words, _) = bytes.as_chunks::<WORD>();
    for (at, word) in words.iter().enumerate() {
        let found = special_bytes(u64::from_le_bytes(*word));
        if found != 0 {
            return at * WORD + (found.trailing_zeros() / 8) as usize;
        }
        if at * WORD == LONG {
            return long_plain_prefix(bytes, LONG);
        }
    }
    byte_by_byte(bytes, words.len() * WORD)
}

/// As [`plain_prefix`] for long runs such as base64, the first `length` bytes being plain.
#[inline(never)]
fn long_plain_prefix(bytes: &[u8], length: usize) -> usize {
    let special = |byte: u8| byte < 0x20 || byte == b'"' || byte == b'\\';
    // A branch-free test of a whole block, which the compiler turns into vector instructions.
    let plain = |block: &&[u8]| block.iter().fold(0u8, |found, &byte| found | u8::from(special(byte))) == 0;
    let blocks = bytes[length..].chunks_exact(BLOCK).take_while(plain).count();
    byte_by_byte(bytes, length + blocks * BLOCK)
}

/// The end of the text within a string that begins at `start`, just behind an escape, and holds no escapes but those of
/// quotes and line ends; or some place before that end.
#[inline(never)]
fn long_text(bytes: &[u8], start: usize) -> usize {
    let mut at = start;
    while let (Some(before), Some(block)) = (bytes[at - 1..].first_chunk(), bytes[at..].first_chunk())
        && is_text(before, block)
    {
        at += BLOCK;
    }
    // An escape that the last block begins is not whole yet. The escape before `start` is.
    if at > start && bytes[at - 1] == b'\\' { at - 1 } else { at }
}

/// Whether a block is text with no escapes but those of quotes and line ends; `before` begins one byte earlier, with a
/// backslash only if that begins an escape. No escaped backslash passes, so that every one that does begins an escape.
#[inline]
fn is_text(before: &[u8; BLOCK], block: &[u8; BLOCK]) -> bool {
    // Nothing ends this early, so that the compiler turns it into vector instructions.
    let wrong = |(&before, &byte): (&u8, &u8)| {
        if before == b'\\' { !matches!(byte, b'"' | b'n') } else { byte == b'"' || byte < 0x20 }
    };
    before.iter().zip(block).fold(0, |found, pair| found | u8::from(wrong(pair))) == 0
}

fn byte_by_byte(bytes: &[u8], mut length: usize) -> usize {
    while bytes.get(length).is_some_and(|&byte| byte >= 0x20 && byte != b'"' && byte != b'\\') {
        length += 1;
    }
    length
}

/// Bytes that are looked at together while a string is decoded.
const PIECE: usize = 16;

/// How many bytes stand before the first backslash; all of them if there is none.
#[inline]
pub(super) fn before_backslash(piece: &[u8; PIECE]) -> usize {
    let (words, _) = piece.as_chunks();
    let found = words.iter().map(|word| zero_bytes(u64::from_le_bytes(*word) ^ (LOW * u64::from(b'\\'))));
    let first = found.enumerate().find(|(_, found)| *found != 0);
    first.map_or(PIECE, |(at, found)| at * size_of::<u64>() + (found.trailing_zeros() / 8) as usize)
}

/// The lowest bit of each byte.
const LOW: u64 = u64::MAX / 0xff;

/// The highest bit of each byte.
const HIGH: u64 = LOW << 7;

/// The high bit of each byte of `word` that is zero; bits above the lowest one that is set may be wrong, for the borrow
/// of a subtraction travels upwards.
#[inline]
const fn zero_bytes(word: u64) -> u64 {
    word.wrapping_sub(LOW) & !word & HIGH
}

/// The high bit of each byte of `word` that is a quote, a backslash or a control character; bits above the lowest one that
/// is set may be wrong, as with [`zero_bytes`].
#[inline]
const fn special_bytes(word: u64) -> u64 {
    let below = word.wrapping_sub(LOW * 0x20) & !word & HIGH;
    below | zero_bytes(word ^ (LOW * b'"' as u64)) | zero_bytes(word ^ (LOW * b'\\' as u64))
}

/// Which containers are open: one bit a level, set for an object.
struct Nesting {
    objects: [u64; MAX_DEPTH / 64],
    depth: usize,
    /// The innermost container has no member yet, so that no comma is due.
    fresh: bool,
}

impl Nesting {
    fn new() -> Self {
        Nesting { objects: [0; MAX_DEPTH / 64], depth: 0, fresh: false }
    }

    fn push(&mut self, object: bool) {
        // `open` has checked depth < MAX_DEPTH.
        let (word, bit) = (self.depth / 64, 1u64 << (self.depth % 64));
        if object {
            self.objects[word] |= bit;
        } else {
            self.objects[word] &= !bit;
        }
        self.depth += 1;
        self.fresh = true;
    }

    /// Closes the innermost container; true if it was the outermost one.
    fn pop(&mut self) -> bool {
        self.depth -= 1;
        self.fresh = false;
        self.depth == 0
    }

    fn in_object(&self) -> bool {
        let level = self.depth - 1;
        self.objects[level / 64] >> (level % 64) & 1 == 1
    }

    fn take_fresh(&mut self) -> bool {
        core::mem::take(&mut self.fresh)
    }
}

/// Checks that `text` is one JSON value within the depth limit.
pub(crate) fn check(text: &str, depth_limit: usize) -> Result<(), ScanError> {
    let mut scanner = Scanner::new(text, depth_limit);
    scanner.value()?;
    scanner.end()
}

/// Calls `member(key, value)` with the ranges of each member of the object `text`; keys exclude the quotes.
///
/// Fails if `text` is not an object. Whatever the callback returns as an error ends the walk.
pub(crate) fn object_members(
    text: &str,
    depth_limit: usize,
    mut member: impl FnMut(Range<usize>, Range<usize>),
) -> Result<(), ScanError> {
    let mut scanner = Scanner::new(text, depth_limit);
    scanner.members(0, |scanner, key| {
        let value = scanner.value_at_depth(1)?;
        member(key, value);
        Ok(())
    })?;
    scanner.end()
}

/// The ranges of the elements of the array `text`.
pub(crate) fn array_elements(
    text: &str,
    depth_limit: usize,
    mut element: impl FnMut(Range<usize>),
) -> Result<(), ScanError> {
    let mut scanner = Scanner::new(text, depth_limit);
    scanner.elements(0, |scanner| {
        let value = scanner.value_at_depth(1)?;
        element(value);
        Ok(())
    })?;
    scanner.end()
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::{format, string::String};

    #[test]
    fn accepts_the_grammar_and_nothing_else() {
        let good = [
            "0",
            "-0",
            "1.5e+10",
            "true",
            "null",
            "\"\"",
            "\"a\\u00e9\\ud800\"",
            "[]",
            "{}",
            "[1,[2,{\"a\":[]}]]",
            " { \"a\" : 1 , \"b\" : [ ] } ",
            "\"\u{7f}\"",
            "\"\\/\"",
            "12345678901234567890123",
        ];
        for text in good {
            assert_eq!(check(text, 64), Ok(()), "{text}");
        }
        let bad = [
            "",
            "01",
            "-",
            "1.",
            ".5",
            "1e",
            "+1",
            "tru",
            "nul",
            "\"",
            "\"\n\"",
            "\"\\x\"",
            "\"\\u12\"",
            "[",
            "]",
            "[1,]",
            "[,1]",
            "{\"a\"}",
            "{\"a\":}",
            "{\"a\":1,}",
            "{a:1}",
            "[1 2]",
            "{\"a\":1 \"b\":2}",
            "1 2",
            "[}",
            "{]",
            "\u{feff}1",
            "\"\0\"",
            "NaN",
            "'a'",
        ];
        for text in bad {
            assert!(matches!(check(text, 64), Err(ScanError::Syntax(_))), "{text}");
        }
    }

    #[test]
    fn agrees_with_serde_json_on_mutations() {
        let seed = r#"{"a":[1,-2.5e3,"x\n\u0041",true,null,{"k":{}}],"b":"yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy\\"}"#;
        for at in 0..seed.len() {
            for replacement in ["", "\"", "\\", "{", "}", "[", "]", ",", ":", "0", "e", " ", "u", "\u{1}"] {
                let text: String = format!("{}{}{}", &seed[..at], replacement, &seed[at + 1..]);
                let ours = check(&text, 64).is_ok();
                let theirs = serde_json::from_str::<serde::de::IgnoredAny>(&text).is_ok();
                assert_eq!(ours, theirs, "{text}");
            }
        }
    }

    #[test]
    fn finds_special_bytes_wherever_they_stand() {
        for length in 0..200 {
            for special in [0u8, 0x1f, b'"', b'\\', 0x20, 0x7f, 0x80, 0xff] {
                for plain in [b'a', b' ', b'!', b'#', b'[', b']', 0x7f, 0x80, 0xff] {
                    let mut bytes = alloc::vec![plain; length];
                    bytes.push(special);
                    bytes.extend([plain, special, plain]);
                    let is_special = special < 0x20 || special == b'"' || special == b'\\';
                    assert_eq!(plain_prefix(&bytes), if is_special { length } else { bytes.len() });
                }
            }
        }
    }

    // Long strings are taken block by block: whatever stands at whatever place of a block, at its edges as well, it is
    // seen.
    #[test]
    fn long_text_is_checked_as_strictly_as_short_one() {
        let line = r#"say \"yes\" or \"no\"\n"#;
        let pieces =
            ["\"", "\\", "\\\\", "\\\\\"", "\\\"", "\\u0041", "\\u00", "\\x", "\u{1}", "\n", "\\n", "é"];
        for start in 0..line.len() {
            for piece in pieces.into_iter().chain([r"\t\\\\", r"\\\\\\", r#"\\""#]) {
                let front = line[start..].trim_start_matches(['\\', '"', 'n']);
                let text = format!("\"{front}{}{piece}{}\"", line.repeat(8), line.repeat(3));
                for text in [&*text, &text[..text.len() - 1]] {
                    let theirs = serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok();
                    assert_eq!(check(text, 64).is_ok(), theirs, "{text}");
                }
            }
        }
    }

    #[test]
    fn bounds_depth_without_recursion() {
        let deep = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        assert_eq!(check(&deep(64), 64), Ok(()));
        assert_eq!(check(&deep(65), 64), Err(ScanError::Depth(64)));
        assert_eq!(check(&deep(MAX_DEPTH), usize::MAX), Ok(()));
        assert_eq!(check(&"[".repeat(1_000_000), usize::MAX), Err(ScanError::Depth(MAX_DEPTH)));
    }
}
