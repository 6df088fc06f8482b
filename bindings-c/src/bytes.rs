//! Bytes and arrays that cross the boundary.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ffi::c_char;
use core::mem::MaybeUninit;
use core::{ptr, slice, str};

use barewire::Json;

use crate::room;
use crate::status::{Failure, bw_error};

/// A run of bytes: text in UTF-8, JSON, or anything. It owns nothing and ends with no NUL.
///
/// Given to a function, it is read during the call only. Given by a function, it is good until the next call that
/// takes the same handle as one that is not const, unless its function says otherwise. `data` is NULL if there is
/// nothing; an empty text has a `data` that is not NULL, and the length 0.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct bw_bytes {
    /// The first byte, or NULL for nothing.
    data: *const u8,
    /// How many bytes there are.
    length: usize,
}

/// A name and a value: a header of HTTP, or a variable of a URI template.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct bw_pair {
    /// The name.
    pub(crate) name: bw_bytes,
    /// The value.
    pub(crate) value: bw_bytes,
}

impl bw_bytes {
    pub(crate) const NONE: bw_bytes = bw_bytes { data: ptr::null(), length: 0 };

    pub(crate) const fn of(bytes: &[u8]) -> bw_bytes {
        bw_bytes { data: bytes.as_ptr(), length: bytes.len() }
    }

    pub(crate) const fn at(data: *const u8, length: usize) -> bw_bytes {
        bw_bytes { data, length }
    }

    pub(crate) const fn text_of(text: &str) -> bw_bytes {
        bw_bytes::of(text.as_bytes())
    }

    pub(crate) fn json_of(json: Option<&Json>) -> bw_bytes {
        json.map_or(bw_bytes::NONE, |json| bw_bytes::text_of(json.as_str()))
    }

    pub(crate) fn text_or_none(text: Option<&str>) -> bw_bytes {
        text.map_or(bw_bytes::NONE, bw_bytes::text_of)
    }

    /// How many bytes there are; none if there cannot be as many as C says, which whoever reads them refuses.
    pub(crate) fn count(&self) -> usize {
        self.optional_bytes().ok().flatten().map_or(0, <[u8]>::len)
    }

    /// The bytes, if there are any.
    pub(crate) fn optional_bytes(&self) -> Result<Option<&[u8]>, Failure> {
        array(self.data, self.length)
    }

    /// The bytes; nothing is an error.
    pub(crate) fn bytes(&self) -> Result<&[u8], Failure> {
        self.optional_bytes()?.ok_or(Failure::NULL)
    }

    /// The text, if there is any.
    pub(crate) fn optional_text(&self) -> Result<Option<&str>, Failure> {
        self.optional_bytes()?.map(as_text).transpose()
    }

    /// The text; nothing is an error.
    pub(crate) fn text(&self) -> Result<&str, Failure> {
        as_text(self.bytes()?)
    }

    /// The text as one of its own, if there is any.
    pub(crate) fn optional_boxed(&self) -> Result<Option<Box<str>>, Failure> {
        room::check(self.length)?;
        Ok(self.optional_text()?.map(Box::from))
    }

    /// The JSON value, if there is any.
    pub(crate) fn optional_json(&self) -> Result<Option<Json>, Failure> {
        self.optional_text()?.map(as_json).transpose()
    }

    /// The JSON value; nothing is an error.
    pub(crate) fn json(&self) -> Result<Json, Failure> {
        as_json(self.text()?)
    }
}

fn as_text(bytes: &[u8]) -> Result<&str, Failure> {
    str::from_utf8(bytes).map_err(|_| Failure::Own(bw_error::BW_ERROR_NOT_UTF8, "a text is not UTF-8"))
}

fn as_json(text: &str) -> Result<Json, Failure> {
    room::check(text.len())?;
    Json::new(text).map_err(|_| barewire::ApiMisuse::InvalidJson.into())
}

/// The array that C describes by its first element and its length; `None` for NULL.
pub(crate) fn array<'a, T>(first: *const T, length: usize) -> Result<Option<&'a [T]>, Failure> {
    if first.is_null() {
        return Ok(None);
    }
    if length.checked_mul(size_of::<T>()).is_none_or(|bytes| isize::try_from(bytes).is_err()) {
        return Err(Failure::Own(bw_error::BW_ERROR_INVALID_ARGUMENT, "a length is out of range"));
    }
    // SAFETY: the contract of every function is that `length` elements stand there, unchanged during the call. The
    // fields of the structs that describe arrays are private: all of them come from C. Callers do not keep the slice.
    Ok(Some(unsafe { slice::from_raw_parts(first, length) }))
}

/// As [`array`], where NULL is an empty one if the length is 0 and otherwise an error.
pub(crate) fn array_or_empty<'a, T>(first: *const T, length: usize) -> Result<&'a [T], Failure> {
    match array(first, length)? {
        Some(array) => Ok(array),
        None if length == 0 => Ok(&[]),
        None => Err(Failure::NULL),
    }
}

/// Exactly `N` bytes, such as a seed.
pub(crate) fn block<const N: usize>(first: *const u8) -> Result<[u8; N], Failure> {
    let bytes = array(first, N)?.ok_or(Failure::NULL)?;
    bytes.try_into().map_err(|_| Failure::NULL)
}

/// A text that ends with a NUL.
pub(crate) fn c_string<'a>(text: *const c_char) -> Result<&'a str, Failure> {
    if text.is_null() {
        return Err(Failure::NULL);
    }
    let mut length = 0;
    // SAFETY: the contract of the functions that take such a text is that it ends with a NUL and does not change
    // during the call. Counted here and in a way that no compiler replaces, because `strlen` may not be there.
    let bytes = unsafe {
        while text.add(length).read_volatile() != 0 {
            length += 1;
        }
        slice::from_raw_parts(text.cast(), length)
    };
    as_text(bytes)
}

/// The caller's buffer; NULL is an empty one.
pub(crate) fn buffer<'a>(first: *mut u8, size: usize) -> Result<&'a mut [MaybeUninit<u8>], Failure> {
    if first.is_null() {
        return Ok(&mut []);
    }
    if isize::try_from(size).is_err() {
        return Err(Failure::Own(bw_error::BW_ERROR_INVALID_ARGUMENT, "a size is out of range"));
    }
    // SAFETY: the contract of the functions that take a buffer is that it has `size` bytes and that nothing else uses
    // it during the call. It need not be initialised.
    Ok(unsafe { slice::from_raw_parts_mut(first.cast(), size) })
}

/// The texts of an array of bytes.
pub(crate) fn texts(first: *const bw_bytes, length: usize) -> Result<Vec<Box<str>>, Failure> {
    array_or_empty(first, length)?.iter().map(|bytes| Ok(bytes.text()?.into())).collect()
}

/// Names and values of an array of pairs.
#[cfg(feature = "http")]
pub(crate) fn pairs<'a>(first: *const bw_pair, length: usize) -> Result<Vec<(&'a str, &'a str)>, Failure> {
    let pairs = array_or_empty(first, length)?;
    pairs.iter().map(|pair: &'a bw_pair| Ok((pair.name.text()?, pair.value.text()?))).collect()
}

/// The place, which has to be there.
pub(crate) fn place<T>(out: Option<&mut MaybeUninit<T>>) -> Result<&mut MaybeUninit<T>, Failure> {
    out.ok_or(Failure::NULL)
}
