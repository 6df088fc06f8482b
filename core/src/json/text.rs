//! JSON text read where it lies: values by JSON Pointer, scalars that are decoded exactly or not at all.

use alloc::borrow::Cow;
use alloc::string::String;
use core::fmt;

use super::scan::{self, MAX_DEPTH, ScanError, Scanner};

/// What may stand around a value (RFC 8259, section 2).
const WHITE_SPACE: [char; 4] = ['\t', '\n', '\r', ' '];

/// Stands for an exponent that 64 bits do not hold: more than any text has digits.
const SHIFT: i64 = i64::MAX;

/// One JSON value as borrowed text, surrounding white space excluded. Nothing is copied and nothing is decoded before it
/// is asked for.
///
/// ```
/// use barewire::JsonText;
///
/// let arguments = JsonText::find(r#"{"a": {"b/c": [10, "x\n"]}}"#, "/a/b~1c")?;
/// assert_eq!(arguments.find_in("/0")?.as_i64(), Some(10));
/// assert_eq!(arguments.find_in("/1")?.to_text().as_deref(), Some("x\n"));
/// # Ok::<(), barewire::PointerError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JsonText<'a>(&'a str);

/// What a JSON value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonKind {
    /// `null`
    Null,
    /// `true` or `false`
    Boolean,
    /// A number.
    Number,
    /// A string.
    String,
    /// An array.
    Array,
    /// An object.
    Object,
}

/// Why a JSON Pointer leads to no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PointerError {
    /// The text is not JSON.
    Json(ScanError),
    /// The pointer is not empty and does not begin with `/`, or has a `~` that is neither `~0` nor `~1`.
    Malformed,
    /// It names a member or element that does not exist.
    NotFound,
}

impl fmt::Display for PointerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PointerError::Json(error) => error.fmt(f),
            PointerError::Malformed => f.write_str("not a JSON Pointer"),
            PointerError::NotFound => f.write_str("the JSON Pointer leads to no value"),
        }
    }
}

impl core::error::Error for PointerError {}

impl From<ScanError> for PointerError {
    fn from(error: ScanError) -> PointerError {
        PointerError::Json(error)
    }
}

/// One member of an object or element of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JsonItem<'a> {
    /// The name of a member as it is written, escapes included and quotes excluded; `None` for an element.
    pub key: Option<&'a str>,
    /// The value.
    pub value: JsonText<'a>,
}

impl<'a> JsonText<'a> {
    /// Checks that `text` is one JSON value.
    ///
    /// # Errors
    /// [`ScanError`] if it is not, or nests deeper than [`MAX_DEPTH`].
    pub fn new(text: &'a str) -> Result<JsonText<'a>, ScanError> {
        let mut scanner = Scanner::new(text, MAX_DEPTH);
        let range = scanner.value()?;
        scanner.end()?;
        Ok(JsonText(&text[range]))
    }

    /// A text that is known to be one JSON value, as those are that `find` gave. Of any other, what is read is not defined.
    pub fn trusted(text: &'a str) -> JsonText<'a> {
        JsonText(trim(text))
    }

    /// The value in `text` that a JSON Pointer leads to (RFC 6901, section 4). Names are compared decoded; of members of
    /// one name the last one counts.
    ///
    /// # Errors
    /// [`PointerError`].
    pub fn find(text: &'a str, pointer: &str) -> Result<JsonText<'a>, PointerError> {
        let tokens = match pointer.strip_prefix('/') {
            Some(tokens) => tokens,
            None if pointer.is_empty() => return Ok(JsonText::new(text)?),
            None => return Err(PointerError::Malformed),
        };
        if tokens.split('~').skip(1).any(|rest| !rest.starts_with(['0', '1'])) {
            return Err(PointerError::Malformed);
        }
        let mut value = trim(text);
        for token in tokens.split('/') {
            value = match value.as_bytes().first() {
                Some(b'{') => member(value, token)?,
                Some(b'[') => element(value, token)?,
                _ => {
                    scan::check(value, MAX_DEPTH)?;
                    return Err(PointerError::NotFound);
                }
            };
        }
        Ok(JsonText(value))
    }

    /// As [`find`](Self::find), from this value on.
    ///
    /// # Errors
    /// [`PointerError`].
    pub fn find_in(self, pointer: &str) -> Result<JsonText<'a>, PointerError> {
        JsonText::find(self.0, pointer)
    }

    /// The text.
    pub const fn as_str(self) -> &'a str {
        self.0
    }

    /// What it is.
    pub fn kind(self) -> JsonKind {
        match self.0.as_bytes().first() {
            Some(b'{') => JsonKind::Object,
            Some(b'[') => JsonKind::Array,
            Some(b'"') => JsonKind::String,
            Some(b't' | b'f') => JsonKind::Boolean,
            Some(b'n') => JsonKind::Null,
            _ => JsonKind::Number,
        }
    }

    /// What is between the quotes of a string, as it is written; `None` for other values.
    pub fn contents(self) -> Option<&'a str> {
        self.0.strip_prefix('"')?.strip_suffix('"')
    }

    /// The decoded string, borrowed if it has no escapes. `None` for other values, and for a lone surrogate, which is no
    /// character.
    pub fn to_text(self) -> Option<Cow<'a, str>> {
        decode(self.contents()?)
    }

    /// The truth value; `None` for other values.
    pub fn as_bool(self) -> Option<bool> {
        match self.0 {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        }
    }

    /// The number if it is an integer of 64 bits, however it is written (`10`, `1e1`, `10.0`).
    pub fn as_i64(self) -> Option<i64> {
        integer(self.0)?.try_into().ok()
    }

    /// As [`as_i64`](Self::as_i64), without sign.
    pub fn as_u64(self) -> Option<u64> {
        integer(self.0)?.try_into().ok()
    }

    /// The number as the nearest one of double precision. `None` for other values, for numbers out of its range, and for
    /// integers that would lose digits.
    pub fn as_f64(self) -> Option<f64> {
        if self.kind() != JsonKind::Number {
            return None;
        }
        let value: f64 = self.0.parse().ok()?;
        let digits = self.0.strip_prefix('-').unwrap_or(self.0);
        let is_zero =
            digits.split(['e', 'E']).next().is_none_or(|digits| !digits.contains(|c| matches!(c, '1'..='9')));
        if !value.is_finite() || (value == 0.0 && !is_zero) {
            return None;
        }
        if digits.bytes().all(|byte| byte.is_ascii_digit()) {
            #[allow(clippy::cast_possible_truncation, reason = "beyond the range it is not equal")]
            let same = integer(self.0)? == value as i128;
            return same.then_some(value);
        }
        Some(value)
    }

    /// Whether it is a number from 0 to 1. The digits decide, so that nothing is rounded.
    pub(crate) fn is_fraction(self) -> bool {
        let (mantissa, exponent) = self.0.split_once(['e', 'E']).unwrap_or((self.0, "0"));
        let digits = mantissa.strip_prefix('-').unwrap_or(mantissa);
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let significant = || whole.bytes().chain(fraction.bytes()).skip_while(|digit| *digit == b'0');
        let Some(first) = significant().next() else { return self.kind() == JsonKind::Number };
        if mantissa.starts_with('-') || self.kind() != JsonKind::Number {
            return false;
        }
        // Where the first significant digit stands: 0 for the ones, negative behind the point.
        let zeros = whole.len() + fraction.len() - significant().count();
        let exponent =
            exponent.parse::<i64>().unwrap_or(if exponent.starts_with('-') { -SHIFT } else { SHIFT });
        let (Ok(whole), Ok(zeros)) = (i64::try_from(whole.len()), i64::try_from(zeros)) else { return false };
        match exponent.saturating_add(whole - 1 - zeros) {
            0 => first == b'1' && significant().skip(1).all(|digit| digit == b'0'),
            place => place < 0,
        }
    }

    /// How many members or elements there are; `None` for scalars.
    pub fn item_count(self) -> Option<usize> {
        if !self.0.starts_with(['{', '[']) {
            return None;
        }
        let (mut position, mut count) = (0, 0);
        while self.item_after(&mut position).is_some() {
            count += 1;
        }
        Some(count)
    }

    /// The first item of an object or array, if `position` is 0, or the one after the item that left it there. `None`
    /// after the last item, and for scalars.
    pub fn item_after(self, position: &mut usize) -> Option<JsonItem<'a>> {
        let rest = self.0.get(*position..)?;
        let mut scanner = Scanner::new(rest, MAX_DEPTH);
        match (scanner.peek()?, *position) {
            (b'{' | b'[', 0) | (b',', 1..) => {}
            _ => return None,
        }
        scanner.skip();
        let key = if self.0.starts_with('{') { Some(scanner.string().ok()?) } else { None };
        if key.is_some() {
            scanner.expect(b':').ok()?;
        }
        let value = scanner.value().ok()?;
        *position += scanner.position();
        Some(JsonItem { key: key.map(|key| &rest[key]), value: JsonText(&rest[value]) })
    }
}

/// The text without what may stand around a value. Mostly nothing does.
fn trim(text: &str) -> &str {
    let is_plain = |byte: Option<&u8>| byte.is_some_and(|byte| *byte > b' ');
    let bytes = text.as_bytes();
    if is_plain(bytes.first()) && is_plain(bytes.last()) { text } else { text.trim_matches(WHITE_SPACE) }
}

/// The member that a token of a pointer names.
fn member<'a>(object: &'a str, token: &str) -> Result<&'a str, PointerError> {
    let mut found = None;
    scan::object_members(object, MAX_DEPTH, |key, value| {
        if names(token, &object[key]) {
            found = Some(&object[value]);
        }
    })?;
    found.ok_or(PointerError::NotFound)
}

/// The element that a token of a pointer names.
fn element<'a>(array: &'a str, token: &str) -> Result<&'a str, PointerError> {
    let is_index = token == "0" || (!token.starts_with(['0', '+']) && !token.is_empty());
    let wanted = token.parse::<usize>().ok().filter(|_| is_index);
    let (mut at, mut found) = (0, None);
    scan::array_elements(array, MAX_DEPTH, |value| {
        if wanted == Some(at) {
            found = Some(&array[value]);
        }
        at += 1;
    })?;
    found.ok_or(PointerError::NotFound)
}

/// Whether a token of a pointer names the member whose key is written so.
pub(crate) fn names(token: &str, key: &str) -> bool {
    if !token.contains('~') && !key.contains('\\') {
        return token == key;
    }
    decode(key).is_some_and(|key| key == token.replace("~1", "/").replace("~0", "~"))
}

/// The decoded contents of a string, borrowed if they have no escapes.
fn decode(contents: &str) -> Option<Cow<'_, str>> {
    if memchr::memchr(b'\\', contents.as_bytes()).is_none() {
        return Some(Cow::Borrowed(contents));
    }
    let mut text = alloc::vec![0; contents.len()];
    let length = unescape(contents, &mut text, |byte| byte)?;
    text.truncate(length);
    String::from_utf8(text).ok().map(Cow::Owned)
}

/// Gives what stands between the quotes of the JSON string for `text`, piece by piece (RFC 8259, section 7).
pub fn escape(text: &str, mut put: impl FnMut(&str)) {
    let mut rest = text;
    loop {
        // Everything that is escaped is ASCII, so that the cuts lie on character boundaries.
        let plain = scan::plain_prefix(rest.as_bytes());
        put(&rest[..plain]);
        let Some(&byte) = rest.as_bytes().get(plain) else { return };
        rest = &rest[plain + 1..];
        match byte {
            b'"' => put("\\\""),
            b'\\' => put("\\\\"),
            b'\n' => put("\\n"),
            b'\r' => put("\\r"),
            b'\t' => put("\\t"),
            _ => {
                let digit = |value: u8| char::from(b"0123456789abcdef"[usize::from(value & 0xf)]);
                put("\\u00");
                put(digit(byte >> 4).encode_utf8(&mut [0; 4]));
                put(digit(byte).encode_utf8(&mut [0; 4]));
            }
        }
    }
}

/// Decodes the contents of a string into `out` and gives the length of what it decodes to; `None` at a lone surrogate,
/// which is no character. `cell` makes of a byte what `out` holds.
///
/// As much is written as `out` has room for. `out` is large enough if it is as long as `contents`; what lies behind the
/// decoded bytes may be written over.
pub fn unescape<T>(contents: &str, out: &mut [T], cell: impl Fn(u8) -> T + Copy) -> Option<usize> {
    let bytes = contents.as_bytes();
    let (mut at, mut length) = (0, 0);
    while let Some(&first) = bytes.get(at) {
        let room = out.get_mut(length..).unwrap_or_default();
        // A block is copied whole, and then written over from its first escape on.
        if let Some(block) = bytes[at..].first_chunk() {
            match room.first_chunk_mut() {
                Some(place) => *place = block.map(cell),
                None => room.iter_mut().zip(block).for_each(|(place, byte)| *place = cell(*byte)),
            }
            let plain = scan::before_backslash(block);
            (at, length) = (at + plain, length + plain);
            if plain == block.len() {
                continue;
            }
        } else if first != b'\\' {
            room.iter_mut().take(1).for_each(|place| *place = cell(first));
            (at, length) = (at + 1, length + 1);
            continue;
        }
        let room = out.get_mut(length..).unwrap_or_default();
        let name = *bytes.get(at + 1)?;
        if let Some(character) = short_escape(name) {
            room.iter_mut().take(1).for_each(|place| *place = cell(character));
            (at, length) = (at + 2, length + 1);
        } else {
            let (character, width) = code_point(contents, at).filter(|_| name == b'u')?;
            let mut decoded = [0; 4];
            let decoded = character.encode_utf8(&mut decoded);
            room.iter_mut().zip(decoded.bytes()).for_each(|(place, byte)| *place = cell(byte));
            (at, length) = (at + width, length + decoded.len());
        }
    }
    Some(length)
}

/// What a backslash and this character stand for.
#[inline]
const fn short_escape(name: u8) -> Option<u8> {
    match name {
        b'"' | b'\\' | b'/' => Some(name),
        b'b' => Some(8),
        b'f' => Some(12),
        b'n' => Some(b'\n'),
        b'r' => Some(b'\r'),
        b't' => Some(b'\t'),
        _ => None,
    }
}

/// The character that the digits of the escape at `at` stand for, with those of a second one that completes a surrogate
/// pair, and how many bytes it takes.
fn code_point(contents: &str, at: usize) -> Option<(char, usize)> {
    let unit = hex_unit(contents, at + 2)?;
    if !(0xd800..0xdc00).contains(&unit) {
        return Some((char::from_u32(unit)?, 6));
    }
    let low = contents.get(at + 6..at + 8).filter(|escape| *escape == "\\u");
    let low = low.and_then(|_| hex_unit(contents, at + 8)).filter(|low| (0xdc00..0xe000).contains(low))?;
    Some((char::from_u32(0x1_0000 + ((unit - 0xd800) << 10) + (low - 0xdc00))?, 12))
}

/// The four hexadecimal digits at `at`.
fn hex_unit(contents: &str, at: usize) -> Option<u32> {
    let digits = contents.get(at..at + 4)?;
    let are_digits = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    are_digits.then(|| u32::from_str_radix(digits, 16).ok())?
}

/// The value of a number token that is an integer within 128 bits.
fn integer(token: &str) -> Option<i128> {
    let (mantissa, exponent) = token.split_once(['e', 'E']).unwrap_or((token, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let fraction = fraction.trim_end_matches('0');
    let (negative, whole) = match whole.strip_prefix('-') {
        Some(whole) => (true, whole),
        None => (false, whole),
    };
    let digits = || whole.bytes().chain(fraction.bytes());
    if digits().next().is_none() || !digits().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    if digits().all(|digit| digit == b'0') {
        return Some(0);
    }
    let mut shift = exponent.parse::<i64>().ok()?.checked_sub(i64::try_from(fraction.len()).ok()?)?;
    let mut value: i128 = 0;
    // Zeros at the end may be what the exponent takes away.
    let zeros = if fraction.is_empty() { whole.len() - whole.trim_end_matches('0').len() } else { 0 };
    let kept = whole.len() + fraction.len() - zeros;
    shift = shift.checked_add(i64::try_from(zeros).ok()?)?;
    for digit in digits().take(kept) {
        value = value.checked_mul(10)?.checked_add(i128::from(digit - b'0'))?;
    }
    // 10^39 is beyond 128 bits.
    let shift = u32::try_from(shift).ok().filter(|shift| *shift < 39)?;
    value = value.checked_mul(10_i128.checked_pow(shift)?)?;
    Some(if negative { -value } else { value })
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use alloc::string::ToString as _;
    use alloc::vec::Vec;

    fn find(text: &str, pointer: &str) -> Option<String> {
        JsonText::find(text, pointer).ok().map(|found| found.as_str().to_string())
    }

    // The examples of RFC 6901, section 5.
    #[test]
    fn pointers_lead_where_the_standard_says() {
        let document = r#" {"foo": ["bar", "baz"], "": 0, "a/b": 1, "c%d": 2, "e^f": 3, "g|h": 4, "i\\j": 5, "k\"l": 6, " ": 7, "m~n": 8} "#;
        let cases = [
            ("", Some(document.trim())),
            ("/foo", Some(r#"["bar", "baz"]"#)),
            ("/foo/0", Some(r#""bar""#)),
            ("/", Some("0")),
            ("/a~1b", Some("1")),
            ("/c%d", Some("2")),
            ("/e^f", Some("3")),
            ("/g|h", Some("4")),
            ("/i\\j", Some("5")),
            ("/k\"l", Some("6")),
            ("/ ", Some("7")),
            ("/m~0n", Some("8")),
            ("/foo/1", Some(r#""baz""#)),
            ("/foo/2", None),
            ("/foo/-", None),
            ("/foo/00", None),
            ("/foo/+0", None),
            ("/foo/", None),
            ("/foo/0/x", None),
            ("/bar", None),
        ];
        for (pointer, expected) in cases {
            assert_eq!(find(document, pointer).as_deref(), expected, "{pointer}");
        }
        assert_eq!(JsonText::find(document, "foo"), Err(PointerError::Malformed));
        assert_eq!(JsonText::find(document, "/m~2n"), Err(PointerError::Malformed));
        assert_eq!(JsonText::find(document, "/m~"), Err(PointerError::Malformed));
        assert_eq!(JsonText::find(document, "/bar"), Err(PointerError::NotFound));
    }

    #[test]
    fn names_are_compared_decoded_and_the_last_one_counts() {
        assert_eq!(find(r#"{"a\u0062":1}"#, "/ab").as_deref(), Some("1"));
        assert_eq!(find(r#"{"~1":1,"/":2}"#, "/~01").as_deref(), Some("1"));
        assert_eq!(find(r#"{"~1":1,"/":2}"#, "/~1").as_deref(), Some("2"));
        assert_eq!(find(r#"{"a":1,"a":2}"#, "/a").as_deref(), Some("2"));
        assert_eq!(find(r#"{"\ud800":1}"#, "/x"), None);
    }

    #[test]
    fn what_is_no_json_is_no_value() {
        for text in ["", "{", "[1,]", r#"{"a":1} x"#, r#"{"a":[1}"#, "tru"] {
            for pointer in ["", "/a", "/0"] {
                assert!(
                    matches!(JsonText::find(text, pointer), Err(PointerError::Json(_))),
                    "{text} {pointer}"
                );
            }
        }
    }

    #[test]
    fn strings_are_decoded_or_refused() {
        let text = |json| JsonText(json).to_text();
        assert!(matches!(text(r#""plain""#), Some(Cow::Borrowed("plain"))));
        assert_eq!(
            text(r#""\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00x""#).as_deref(),
            Some("\"\\/\u{8}\u{c}\n\r\té😀x")
        );
        for lone in [r#""\ud800""#, r#""\ud800x""#, r#""\udc00""#, r#""\ud800\u0041""#, r#""\ud800\ud800""#] {
            assert!(JsonText::new(lone).is_ok());
            assert_eq!(text(lone), None, "{lone}");
        }
        assert_eq!(text("1"), None);
    }

    // The number of bytes is told also where there is no room for them, and no more are written than there are places.
    #[test]
    fn decoding_stays_within_its_room() {
        let contents = r#"é\n0123456789abcdef\u00e90123\"456789abcdef\ud83d\ude00 end of it\\"#;
        let decoded: String = serde_json::from_str(&format!("\"{contents}\"")).unwrap();
        for room in 0..=contents.len() {
            let mut out = alloc::vec![b'-'; room];
            assert_eq!(unescape(contents, &mut out, |byte| byte), Some(decoded.len()), "{room}");
            let written = room.min(decoded.len());
            assert_eq!(&out[..written], &decoded.as_bytes()[..written], "{room}");
        }
        for cut in (0..contents.len()).filter(|at| contents.is_char_boundary(*at)) {
            // What is no string's contents is decoded to something or to nothing.
            let _ = unescape(&contents[cut..], &mut [0; 80], |byte| byte);
            let _ = unescape(&contents[..cut], &mut [0; 80], |byte| byte);
        }
    }

    #[test]
    fn what_was_escaped_is_decoded() {
        let text: String = (0..0x100).filter_map(char::from_u32).collect();
        for text in [&*text, "", "plain", "\"", "é\n😀"] {
            let mut json = String::from("\"");
            escape(text, |part| json.push_str(part));
            json.push('"');
            assert_eq!(JsonText::new(&json).unwrap().to_text().as_deref(), Some(text));
            assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
        }
    }

    #[test]
    fn numbers_are_exact_or_refused() {
        let cases = [
            ("0", Some(0)),
            ("-0", Some(0)),
            ("10", Some(10)),
            ("1e1", Some(10)),
            ("10.0", Some(10)),
            ("100e-1", Some(10)),
            ("1.50e1", Some(15)),
            ("-9223372036854775808", Some(i64::MIN)),
            ("9223372036854775807", Some(i64::MAX)),
            ("9223372036854775808", None),
            ("1.5", None),
            ("1e-1", None),
            ("1e400", None),
            ("0e400", Some(0)),
            ("0.0", Some(0)),
            ("1e99999999999999999999", None),
            ("\"1\"", None),
            ("true", None),
        ];
        for (token, expected) in cases {
            assert_eq!(JsonText(token).as_i64(), expected, "{token}");
        }
        assert_eq!(JsonText("18446744073709551615").as_u64(), Some(u64::MAX));
        assert_eq!(JsonText("18446744073709551616").as_u64(), None);
        assert_eq!(JsonText("-1").as_u64(), None);
        let double = |token| JsonText(token).as_f64();
        assert_eq!(double("0.1"), Some(0.1));
        assert_eq!(double("-2.5e3"), Some(-2500.0));
        assert_eq!(double("9007199254740992"), Some(9_007_199_254_740_992.0));
        assert_eq!(double("9007199254740993"), None);
        assert_eq!(double("1e400"), None);
        assert_eq!(double("1e-400"), None);
        assert_eq!(double("0e-400"), Some(0.0));
        assert_eq!(double("1e23"), Some(1e23));
        assert_eq!(double("\"1\""), None);
    }

    #[test]
    fn fractions_lie_from_0_to_1() {
        let is_fraction = |token: &str| JsonText::trusted(token).is_fraction();
        let huge = "9".repeat(50);
        for token in
            ["0", "-0", "-0.0e5", "1", "1.000", "0.5", "1e0", "10e-1", "0.001e3", "5e-1", "0e999", "1E-400"]
        {
            assert!(is_fraction(token), "{token}");
        }
        for token in ["-1", "2", "1.0000000000000000000001", "-0.1", "11e-1", "1e1", "0.01e3", "1e400"] {
            assert!(!is_fraction(token), "{token}");
        }
        for token in ["\"0\"", "\"\"", "null", "true", "[]", "{}", "[0]"] {
            assert!(!is_fraction(token), "{token}");
        }
        assert!(is_fraction(&format!("1e-{huge}")));
        assert!(!is_fraction(&format!("1e{huge}")));
    }

    #[test]
    fn items_come_in_order() {
        let keys = |text| {
            let (value, mut position, mut items) = (JsonText::new(text).unwrap(), 0, Vec::new());
            while let Some(item) = value.item_after(&mut position) {
                items.push((item.key.unwrap_or("-"), item.value.as_str()));
            }
            assert_eq!(value.item_after(&mut position), None);
            items
        };
        assert_eq!(keys(r#" { "a" : [1, 2] , "b\n":{} } "#), [("a", "[1, 2]"), ("b\\n", "{}")]);
        assert_eq!(keys("[1 , [2,3],{}]"), [("-", "1"), ("-", "[2,3]"), ("-", "{}")]);
        assert_eq!(keys("[]"), []);
        assert_eq!(keys("{ }"), []);
        assert_eq!(keys("7"), []);
        assert_eq!(JsonText("[1,[2],3]").item_count(), Some(3));
        assert_eq!(JsonText("{}").item_count(), Some(0));
        assert_eq!(JsonText("\"[\"").item_count(), None);
    }
}
