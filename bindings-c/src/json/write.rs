//! A small writer, over memory of the caller's or memory that grows.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{self, Write as _};
use core::mem::ManuallyDrop;
use core::ptr;

use core::mem::MaybeUninit;

use barewire::{JsonText, escape};

use crate::bytes::{bw_bytes, place};
use crate::guard::{caught, status};
use crate::room;
use crate::status::{Failure, bw_error, bw_status, status_of};

/// Levels of nesting that a writer takes.
const LEVELS: u32 = 64;

/// Writes one JSON value piece by piece, for results, arguments and definitions. All members are the library's.
///
/// Begin with `bw_json_writer_init`. Writes have no results: the first one that fails makes all later ones do nothing, and
/// `bw_json_finish` tells. A writer that grows is freed with `bw_json_writer_free`; one on a buffer of the caller's needs
/// that not, and allocates nothing. One thread at a time.
#[repr(C)]
pub struct bw_json_writer {
    /// Where the text goes.
    buffer: *mut u8,
    /// How much room there is.
    capacity: usize,
    /// How much is written; what does not fit is counted as well.
    length: usize,
    /// One bit for each level of nesting, set for an object.
    objects: u64,
    /// How many levels are open.
    depth: u32,
    /// What was wrong first.
    error: i32,
    /// The buffer is the library's and grows.
    grows: bool,
    /// Something stands before at this level, so that a comma is due.
    is_started: bool,
    /// A key was written whose value is due.
    is_keyed: bool,
}

const TOO_SMALL: bw_status = bw_error::BW_ERROR_BUFFER_TOO_SMALL as bw_status;

const MISUSED: Failure = Failure::Own(bw_error::BW_ERROR_WRITER_MISUSED, "no such value can stand here");

impl bw_json_writer {
    const EMPTY: bw_json_writer = bw_json_writer {
        buffer: ptr::null_mut(),
        capacity: 0,
        length: 0,
        objects: 0,
        depth: 0,
        error: 0,
        grows: true,
        is_started: false,
        is_keyed: false,
    };

    fn in_object(&self) -> bool {
        self.depth > 0 && self.objects >> (self.depth - 1) & 1 == 1
    }

    /// How many bytes were written.
    pub(crate) const fn count(&self) -> usize {
        self.length
    }

    fn push(&mut self, bytes: &[u8]) {
        if self.error != 0 {
            return;
        }
        if self.grows {
            return self.grow(bytes);
        }
        let end = self.length.saturating_add(bytes.len());
        if end <= self.capacity {
            // SAFETY: the buffer is the caller's, has `capacity` bytes and is used by nobody else until the writer is
            // done, by the contract; what is written ends within.
            unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), self.buffer.add(self.length), bytes.len()) };
        }
        self.length = end;
    }

    fn grow(&mut self, bytes: &[u8]) {
        let mut all = self.take();
        if room::grow(&mut all, bytes.len()) {
            all.extend_from_slice(bytes);
        } else {
            self.error = bw_error::BW_ERROR_LIMIT_MEMORY as bw_status;
        }
        let mut all = ManuallyDrop::new(all);
        (self.buffer, self.length, self.capacity) = (all.as_mut_ptr(), all.len(), all.capacity());
    }

    /// The buffer of a writer that grows. The writer has none then.
    fn take(&mut self) -> Vec<u8> {
        if self.buffer.is_null() {
            return Vec::new();
        }
        // SAFETY: the three members come from a vector that `grow` has taken apart, and are forgotten here.
        let all = unsafe { Vec::from_raw_parts(self.buffer, self.length, self.capacity) };
        (self.buffer, self.length, self.capacity) = (ptr::null_mut(), 0, 0);
        all
    }

    /// Whether there is one whole value.
    fn check(&self) -> bw_status {
        match self.error {
            0 if self.depth > 0 || !self.is_started => MISUSED.code(),
            0 if self.length > self.capacity => TOO_SMALL,
            error => error,
        }
    }

    /// Begins anew, with the same memory.
    fn clear(&mut self) {
        let &mut bw_json_writer { buffer, capacity, grows, .. } = self;
        *self = bw_json_writer { buffer, capacity, grows, ..bw_json_writer::EMPTY };
    }

    /// The value that was written, and begins anew.
    pub(crate) fn give(&mut self) -> Result<String, Failure> {
        let outcome = self.check();
        let written = match outcome {
            0 if self.grows => self.take(),
            0 => bw_bytes::at(self.buffer, self.length).bytes()?.to_vec(),
            _ => Vec::new(),
        };
        self.clear();
        if outcome != 0 {
            return Err(Failure::Writer(outcome));
        }
        String::from_utf8(written).map_err(|_| Failure::Writer(bw_error::BW_ERROR_NOT_UTF8 as bw_status))
    }

    /// What has to stand before a value.
    fn before_value(&mut self) -> Result<(), Failure> {
        if self.is_keyed {
            self.is_keyed = false;
            return Ok(());
        }
        if self.in_object() || (self.depth == 0 && self.is_started) {
            return Err(MISUSED);
        }
        self.separate();
        Ok(())
    }

    fn separate(&mut self) {
        if self.is_started {
            self.push(b",");
        }
        self.is_started = true;
    }

    fn begin(&mut self, is_object: bool) -> Result<(), Failure> {
        self.before_value()?;
        if self.depth == LEVELS {
            return Err(MISUSED);
        }
        self.push(if is_object { b"{" } else { b"[" });
        let bit = 1 << self.depth;
        self.objects = if is_object { self.objects | bit } else { self.objects & !bit };
        self.depth += 1;
        self.is_started = false;
        Ok(())
    }

    fn end(&mut self, is_object: bool) -> Result<(), Failure> {
        if self.depth == 0 || self.in_object() != is_object || self.is_keyed {
            return Err(MISUSED);
        }
        self.push(if is_object { b"}" } else { b"]" });
        self.depth -= 1;
        self.is_started = true;
        Ok(())
    }

    /// A string with its quotes.
    fn quoted(&mut self, text: &str) {
        self.push(b"\"");
        escape(text, |part| self.push(part.as_bytes()));
        self.push(b"\"");
    }

    fn display(&mut self, value: impl fmt::Display) -> Result<(), Failure> {
        self.before_value()?;
        write!(self, "{value}").map_err(|_| MISUSED)
    }
}

impl fmt::Write for bw_json_writer {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.push(text.as_bytes());
        Ok(())
    }
}

/// Writes something, unless something was wrong before.
fn put(writer: Option<&mut bw_json_writer>, work: impl FnOnce(&mut bw_json_writer) -> Result<(), Failure>) {
    if let Some(writer) = writer.filter(|writer| writer.error == 0) {
        let outcome = caught(|| work(&mut *writer));
        // A lack of room was noted where it was found.
        if outcome.is_err() {
            writer.error = status_of(outcome);
        }
    }
}

/// Begins to write. With a `buffer` of `size` bytes the text goes there, and has to fit; the buffer stays the caller's and
/// must live as long as the writer. With NULL the text goes to memory that grows, and `bw_json_writer_free` frees it.
/// BW_ERROR_NULL_ARGUMENT.
///
/// What the writer held before is not freed: it may never have been a writer.
#[unsafe(no_mangle)]
pub extern "C" fn bw_json_writer_init(
    writer: Option<&mut MaybeUninit<bw_json_writer>>,
    buffer: *mut core::ffi::c_char,
    size: usize,
) -> bw_status {
    status(|| {
        let capacity = if buffer.is_null() { 0 } else { size };
        let buffer = buffer.cast();
        place(writer)?.write(bw_json_writer {
            buffer,
            capacity,
            grows: buffer.is_null(),
            ..bw_json_writer::EMPTY
        });
        Ok(())
    })
}

/// Frees what the writer holds and begins anew, as after `bw_json_writer_init` with the same buffer. NULL is nothing to free.
#[unsafe(no_mangle)]
pub extern "C" fn bw_json_writer_free(writer: Option<&mut bw_json_writer>) {
    if let Some(writer) = writer {
        if writer.grows {
            drop(writer.take());
        }
        writer.clear();
    }
}

/// The text that was written, if it is one whole JSON value. It is good until the next write, or until the writer is freed.
///
/// BW_ERROR_WRITER_MISUSED if a value was written where none can stand, or what was begun is not ended;
/// BW_ERROR_BUFFER_TOO_SMALL, and `json` then has the length that is needed and NULL data; BW_ERROR_INVALID_JSON or
/// BW_ERROR_NOT_UTF8 for something that was given; BW_ERROR_OUT_OF_RANGE for a number that JSON has not. In the embedded
/// profile also BW_ERROR_LIMIT_MEMORY for a writer that could not grow.
#[unsafe(no_mangle)]
pub extern "C" fn bw_json_finish(
    writer: Option<&mut bw_json_writer>,
    json: Option<&mut MaybeUninit<bw_bytes>>,
) -> bw_status {
    let (Some(writer), Some(json)) = (writer, json) else { return Failure::NULL.code() };
    let outcome = writer.check();
    if outcome == 0 || outcome == TOO_SMALL {
        let start = if outcome == 0 { writer.buffer } else { ptr::null_mut() };
        json.write(bw_bytes::at(start, writer.length));
    }
    outcome
}

/// Begins an object: keys and values follow.
#[unsafe(no_mangle)]
pub extern "C" fn bw_json_begin_object(writer: Option<&mut bw_json_writer>) {
    put(writer, |writer| writer.begin(true));
}

/// Ends an object.
#[unsafe(no_mangle)]
pub extern "C" fn bw_json_end_object(writer: Option<&mut bw_json_writer>) {
    put(writer, |writer| writer.end(true));
}

/// Begins an array: values follow.
#[unsafe(no_mangle)]
pub extern "C" fn bw_json_begin_array(writer: Option<&mut bw_json_writer>) {
    put(writer, |writer| writer.begin(false));
}

/// Ends an array.
#[unsafe(no_mangle)]
pub extern "C" fn bw_json_end_array(writer: Option<&mut bw_json_writer>) {
    put(writer, |writer| writer.end(false));
}

/// Writes the key of a member, not escaped yet; its value follows.
#[unsafe(no_mangle)]
pub extern "C" fn bw_json_put_key(writer: Option<&mut bw_json_writer>, key: bw_bytes) {
    put(writer, |writer| {
        let key = key.text()?;
        if !writer.in_object() || writer.is_keyed {
            return Err(MISUSED);
        }
        writer.separate();
        writer.quoted(key);
        writer.push(b":");
        writer.is_keyed = true;
        Ok(())
    });
}

/// Writes a string, which is escaped as needed.
#[unsafe(no_mangle)]
pub extern "C" fn bw_json_put_string(writer: Option<&mut bw_json_writer>, string: bw_bytes) {
    put(writer, |writer| {
        let text = string.text()?;
        writer.before_value()?;
        writer.quoted(text);
        Ok(())
    });
}

/// Writes an integer.
#[unsafe(no_mangle)]
pub extern "C" fn bw_json_put_i64(writer: Option<&mut bw_json_writer>, value: i64) {
    put(writer, |writer| writer.display(value));
}

/// Writes an integer without sign.
#[unsafe(no_mangle)]
pub extern "C" fn bw_json_put_u64(writer: Option<&mut bw_json_writer>, value: u64) {
    put(writer, |writer| writer.display(value));
}

/// Writes a number with the fewest digits that give it back exactly. Infinities and NaN are not in JSON:
/// BW_ERROR_OUT_OF_RANGE.
#[unsafe(no_mangle)]
pub extern "C" fn bw_json_put_double(writer: Option<&mut bw_json_writer>, value: f64) {
    put(writer, |writer| {
        if !value.is_finite() {
            return Err(Failure::Own(bw_error::BW_ERROR_OUT_OF_RANGE, "the number is not in JSON"));
        }
        writer.before_value()?;
        // Without an exponent the largest would have hundreds of digits.
        let written = if value != 0.0 && !(1e-5..1e17).contains(&value.abs()) {
            write!(writer, "{value:e}")
        } else {
            write!(writer, "{value}")
        };
        written.map_err(|_| MISUSED)
    });
}

/// Writes a truth value.
#[unsafe(no_mangle)]
pub extern "C" fn bw_json_put_bool(writer: Option<&mut bw_json_writer>, value: bool) {
    put(writer, |writer| writer.display(value));
}

/// Writes `null`.
#[unsafe(no_mangle)]
pub extern "C" fn bw_json_put_null(writer: Option<&mut bw_json_writer>) {
    put(writer, |writer| writer.display("null"));
}

/// Writes a value that is JSON already, such as one that a reader gave.
#[unsafe(no_mangle)]
pub extern "C" fn bw_json_put_json(writer: Option<&mut bw_json_writer>, json: bw_bytes) {
    put(writer, |writer| {
        let value = JsonText::new(json.text()?).map_err(|_| barewire::ApiMisuse::InvalidJson)?;
        writer.before_value()?;
        writer.push(value.as_str().as_bytes());
        Ok(())
    });
}

/// Writes bytes as a string of base64 (RFC 4648, section 4), as images and sounds travel.
#[unsafe(no_mangle)]
pub extern "C" fn bw_json_put_base64(writer: Option<&mut bw_json_writer>, data: bw_bytes) {
    put(writer, |writer| {
        let data = data.bytes()?;
        writer.before_value()?;
        writer.push(b"\"");
        for group in data.chunks(3) {
            writer.push(&base64_group(group));
        }
        writer.push(b"\"");
        Ok(())
    });
}

/// The four characters of up to three bytes.
fn base64_group(group: &[u8]) -> [u8; 4] {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let byte = |at: usize| group.get(at).copied().map_or(0, u32::from);
    let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
    let character = |at: usize| {
        if at > group.len() { b'=' } else { ALPHABET[(bits >> (18 - 6 * at)) as usize & 0x3f] }
    };
    [character(0), character(1), character(2), character(3)]
}
