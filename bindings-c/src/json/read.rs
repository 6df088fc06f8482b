//! Readers by JSON Pointer.

use core::ffi::c_char;
use core::mem::MaybeUninit;

use barewire::{JsonKind, JsonText, PointerError, unescape};

use crate::bytes::{buffer, bw_bytes, c_string, place};
use crate::guard::{caught, status};
use crate::status::{Failure, bw_error, bw_status};

/// What a JSON value is.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum bw_json_type {
    /// There is no value there.
    BW_JSON_NONE = 0,
    /// `null`
    BW_JSON_NULL = 1,
    /// `true` or `false`
    BW_JSON_BOOL = 2,
    /// A number.
    BW_JSON_NUMBER = 3,
    /// A string.
    BW_JSON_STRING = 4,
    /// An array.
    BW_JSON_ARRAY = 5,
    /// An object.
    BW_JSON_OBJECT = 6,
}

/// Where an iteration over an array or object stands. All members are the library's.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct bw_json_iterator {
    container: bw_bytes,
    position: usize,
}

fn found(error: PointerError) -> Failure {
    match error {
        PointerError::Json(_) => barewire::ApiMisuse::InvalidJson.into(),
        PointerError::Malformed => Failure::argument("not a JSON Pointer"),
        PointerError::NotFound => {
            Failure::Own(bw_error::BW_ERROR_NOT_FOUND, "there is nothing under the JSON Pointer")
        }
    }
}

const WRONG_TYPE: Failure = Failure::Own(bw_error::BW_ERROR_WRONG_TYPE, "the value is of another type");
const OUT_OF_RANGE: Failure = Failure::Own(bw_error::BW_ERROR_OUT_OF_RANGE, "the number does not fit");

/// Reads the value under a pointer with `read`.
fn get<'a, T>(
    json: &'a bw_bytes,
    pointer: *const c_char,
    out: Option<&mut MaybeUninit<T>>,
    read: impl FnOnce(JsonText<'a>) -> Result<T, Failure>,
) -> bw_status {
    status(|| {
        let out = place(out)?;
        out.write(read(JsonText::find(json.text()?, c_string(pointer)?).map_err(found)?)?);
        Ok(())
    })
}

/// A number under a pointer that `read` may refuse.
fn get_number<'a, T>(
    json: &'a bw_bytes,
    pointer: *const c_char,
    out: Option<&mut MaybeUninit<T>>,
    read: impl FnOnce(JsonText<'a>) -> Option<T>,
) -> bw_status {
    get(json, pointer, out, |value| match value.kind() {
        JsonKind::Number => read(value).ok_or(OUT_OF_RANGE),
        _ => Err(WRONG_TYPE),
    })
}

/// Whether a text is one JSON value (RFC 8259): BW_OK, or BW_ERROR_INVALID_JSON.
#[unsafe(no_mangle)]
pub extern "C" fn bw_json_check(json: bw_bytes) -> bw_status {
    status(|| {
        JsonText::new(json.text()?).map_err(|_| barewire::ApiMisuse::InvalidJson)?;
        Ok(())
    })
}

/// What is under a JSON Pointer (RFC 6901), such as "/arguments/text" or "/content/0"; "" is the whole. The pointer ends
/// with a NUL; in it `~1` stands for `/` and `~0` for `~`. BW_JSON_NONE if there is no value there, or `json` is not JSON.
#[unsafe(no_mangle)]
pub extern "C" fn bw_json_get_type(json: bw_bytes, pointer: *const c_char) -> bw_json_type {
    let kind = caught(|| Ok(JsonText::find(json.text()?, c_string(pointer)?).map_err(found)?.kind()));
    match kind {
        Ok(JsonKind::Null) => bw_json_type::BW_JSON_NULL,
        Ok(JsonKind::Boolean) => bw_json_type::BW_JSON_BOOL,
        Ok(JsonKind::Number) => bw_json_type::BW_JSON_NUMBER,
        Ok(JsonKind::String) => bw_json_type::BW_JSON_STRING,
        Ok(JsonKind::Array) => bw_json_type::BW_JSON_ARRAY,
        Ok(JsonKind::Object) => bw_json_type::BW_JSON_OBJECT,
        Err(_) => bw_json_type::BW_JSON_NONE,
    }
}

/// The text of the value under a JSON Pointer, of any type, as it is written. It is a part of `json` and good for as long.
///
/// This function and those below read `json` as a whole, so that it need not be checked before. Names of members are
/// compared decoded; of members of one name the last one counts. All answer BW_ERROR_INVALID_JSON, BW_ERROR_NOT_FOUND,
/// BW_ERROR_INVALID_ARGUMENT for a pointer that is none, BW_ERROR_NOT_UTF8 and BW_ERROR_NULL_ARGUMENT; nothing is written
/// then.
#[unsafe(no_mangle)]
pub extern "C" fn bw_json_get(
    json: bw_bytes,
    pointer: *const c_char,
    value: Option<&mut MaybeUninit<bw_bytes>>,
) -> bw_status {
    get(&json, pointer, value, |value| Ok(bw_bytes::text_of(value.as_str())))
}

/// The string under a JSON Pointer, decoded. Without escapes it is a part of `json`, good for as long, and the buffer is
/// not used; otherwise it is written to `buffer`, which has `size` bytes and may be NULL if that is 0. No NUL is added.
///
/// BW_ERROR_WRONG_TYPE; BW_ERROR_NOT_UTF8 for a lone surrogate, which is no character; BW_ERROR_BUFFER_TOO_SMALL, and then
/// `string` has the length that is needed and NULL data. Others as for `bw_json_get`.
#[unsafe(no_mangle)]
pub extern "C" fn bw_json_get_string(
    json: bw_bytes,
    pointer: *const c_char,
    buffer: *mut c_char,
    size: usize,
    string: Option<&mut MaybeUninit<bw_bytes>>,
) -> bw_status {
    status(|| {
        let string = place(string)?;
        let value = JsonText::find(json.text()?, c_string(pointer)?).map_err(found)?;
        decode(value.contents().ok_or(WRONG_TYPE)?, buffer, size, string)
    })
}

/// Decodes the contents of a JSON string, such as a key that `bw_json_next` gave: as `bw_json_get_string`.
/// BW_ERROR_INVALID_JSON if they are none.
#[unsafe(no_mangle)]
pub extern "C" fn bw_json_unescape(
    contents: bw_bytes,
    buffer: *mut c_char,
    size: usize,
    string: Option<&mut MaybeUninit<bw_bytes>>,
) -> bw_status {
    status(|| {
        let (contents, string) = (contents.text()?, place(string)?);
        if !is_contents(contents) {
            return Err(barewire::ApiMisuse::InvalidJson.into());
        }
        decode(contents, buffer, size, string)
    })
}

/// Whether a text may stand between the quotes of a string (RFC 8259, section 7).
fn is_contents(text: &str) -> bool {
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        let goes_on = match byte {
            b'\\' => match bytes.next() {
                Some(b'u') => (0..4).all(|_| bytes.next().is_some_and(|digit| digit.is_ascii_hexdigit())),
                escape => escape.is_some_and(|escape| b"\"\\/bfnrt".contains(&escape)),
            },
            _ => byte >= b' ' && byte != b'"',
        };
        if !goes_on {
            return false;
        }
    }
    true
}

fn decode(
    contents: &str,
    first: *mut c_char,
    size: usize,
    string: &mut MaybeUninit<bw_bytes>,
) -> Result<(), Failure> {
    if !contents.contains('\\') {
        string.write(bw_bytes::text_of(contents));
        return Ok(());
    }
    let room = buffer(first.cast(), size)?;
    let Some(length) = unescape(contents, room, MaybeUninit::new) else {
        return Err(Failure::Own(bw_error::BW_ERROR_NOT_UTF8, "the string has a lone surrogate"));
    };
    let fits = length <= room.len();
    string.write(bw_bytes::at(if fits { first.cast() } else { core::ptr::null() }, length));
    if fits {
        Ok(())
    } else {
        Err(Failure::Own(bw_error::BW_ERROR_BUFFER_TOO_SMALL, "the buffer is too small"))
    }
}

/// The integer under a JSON Pointer, however it is written (`10`, `1e1`, `10.0`). BW_ERROR_WRONG_TYPE,
/// BW_ERROR_OUT_OF_RANGE if it is none of this type: it is never rounded. Others as for `bw_json_get`.
#[unsafe(no_mangle)]
pub extern "C" fn bw_json_get_i64(
    json: bw_bytes,
    pointer: *const c_char,
    value: Option<&mut MaybeUninit<i64>>,
) -> bw_status {
    get_number(&json, pointer, value, JsonText::as_i64)
}

/// As `bw_json_get_i64`, without sign.
#[unsafe(no_mangle)]
pub extern "C" fn bw_json_get_u64(
    json: bw_bytes,
    pointer: *const c_char,
    value: Option<&mut MaybeUninit<u64>>,
) -> bw_status {
    get_number(&json, pointer, value, JsonText::as_u64)
}

/// The number under a JSON Pointer as the nearest one of double precision. BW_ERROR_WRONG_TYPE; BW_ERROR_OUT_OF_RANGE if it
/// is beyond the range, or an integer that would lose digits. Others as for `bw_json_get`.
#[unsafe(no_mangle)]
pub extern "C" fn bw_json_get_double(
    json: bw_bytes,
    pointer: *const c_char,
    value: Option<&mut MaybeUninit<f64>>,
) -> bw_status {
    get_number(&json, pointer, value, JsonText::as_f64)
}

/// The truth value under a JSON Pointer. BW_ERROR_WRONG_TYPE; others as for `bw_json_get`.
#[unsafe(no_mangle)]
pub extern "C" fn bw_json_get_bool(
    json: bw_bytes,
    pointer: *const c_char,
    value: Option<&mut MaybeUninit<bool>>,
) -> bw_status {
    get(&json, pointer, value, |value| value.as_bool().ok_or(WRONG_TYPE))
}

/// How many elements or members the array or object under a JSON Pointer has. BW_ERROR_WRONG_TYPE; others as for
/// `bw_json_get`.
#[unsafe(no_mangle)]
pub extern "C" fn bw_json_get_length(
    json: bw_bytes,
    pointer: *const c_char,
    length: Option<&mut MaybeUninit<usize>>,
) -> bw_status {
    get(&json, pointer, length, |value| value.item_count().ok_or(WRONG_TYPE))
}

/// Begins to go through the array or object under a JSON Pointer with `bw_json_next`. `json` has to stay as it is
/// meanwhile; nothing is to be freed. BW_ERROR_WRONG_TYPE; others as for `bw_json_get`.
#[unsafe(no_mangle)]
pub extern "C" fn bw_json_iterate(
    json: bw_bytes,
    pointer: *const c_char,
    iterator: Option<&mut MaybeUninit<bw_json_iterator>>,
) -> bw_status {
    get(&json, pointer, iterator, |value| match value.kind() {
        JsonKind::Array | JsonKind::Object => {
            Ok(bw_json_iterator { container: bw_bytes::text_of(value.as_str()), position: 0 })
        }
        _ => Err(WRONG_TYPE),
    })
}

/// The next element or member; false, and nothing written, after the last. `key` is the name of a member as it is written,
/// without quotes (see `bw_json_unescape`), and nothing for an element; `value` is the text of the value. Both are parts of
/// the JSON and good for as long; either may be NULL.
#[unsafe(no_mangle)]
pub extern "C" fn bw_json_next(
    iterator: Option<&mut bw_json_iterator>,
    key: Option<&mut MaybeUninit<bw_bytes>>,
    value: Option<&mut MaybeUninit<bw_bytes>>,
) -> bool {
    let Some(iterator) = iterator else { return false };
    let item = caught(|| {
        let bytes = iterator.container.bytes()?;
        // SAFETY: `bw_json_iterate` has checked the text, which stays as it is by the contract. To check it each time
        // would make an iteration quadratic.
        let container = JsonText::trusted(unsafe { core::str::from_utf8_unchecked(bytes) });
        Ok(container
            .item_after(&mut iterator.position)
            .map(|item| (bw_bytes::text_or_none(item.key), bw_bytes::text_of(item.value.as_str()))))
    });
    let Ok(Some((name, text))) = item else { return false };
    key.map(|key| key.write(name));
    value.map(|value| value.write(text));
    true
}
