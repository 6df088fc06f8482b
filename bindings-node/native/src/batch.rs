//! What a call tells, as one text: everything that stays JSON text, one piece after the other, a line end, and then a
//! JSON array with a row for each thing told.
//!
//! A row is a JSON array that begins with a number for its kind. A piece is named in it by its length in UTF-16 code
//! units, in the order of the text, so that JavaScript cuts it out without copying it; `null` stands for what is not there.

use std::fmt::Write as _;

use napi::bindgen_prelude::{Latin1String, Utf16String};
use napi::{Either, Env, JsString};

use crate::errors::Failure;

/// A text on its way to JavaScript, which takes ASCII and UTF-16 far faster than UTF-8.
pub(crate) type Text = Either<Latin1String, Utf16String>;

/// Follows the row of an error that is given in the place of a batch or text, neither of which ends so.
const ERROR_MARK: char = '!';

/// What is not there.
const NULL: &str = "null";

/// Bytes that the rows of one event seldom exceed.
const ROOM_FOR_ROWS: usize = 256;

/// Hands a text over.
pub(crate) fn to_js(text: String) -> Text {
    if text.is_ascii() { Either::A(text.into()) } else { Either::B(text.into()) }
}

/// Hands over what a call tells, or its error.
pub(crate) fn told(outcome: Result<String, Failure>) -> Text {
    match outcome {
        Ok(text) => to_js(text),
        Err(failure) => Either::B(error_text(&failure).into()),
    }
}

fn error_text(failure: &Failure) -> String {
    format!("{}{ERROR_MARK}", failure.row())
}

/// As [`told`]. The memory of the text goes to `memory`, for the next one.
pub(crate) fn told_from<'env>(
    memory: &mut String,
    env: &'env Env,
    outcome: Result<String, Failure>,
) -> napi::Result<JsString<'env>> {
    let text = outcome.unwrap_or_else(|failure| error_text(&failure));
    let told = if text.is_ascii() {
        env.create_string_latin1(&text)
    } else {
        let mut units = Vec::with_capacity(utf16_length(&text));
        units.extend(text.encode_utf16());
        env.create_string_utf16(&units)
    };
    if text.capacity() <= MOST_KEPT {
        *memory = text;
    }
    told
}

/// Bytes up to which the memory of a text is kept.
const MOST_KEPT: usize = 2 << 20;

/// Bytes of pieces before which a part of a row is worth remembering: JavaScript keeps the text that it is cut from.
pub(crate) const MOST_REMEMBERED: usize = 4096;

/// A part of a row that JavaScript remembers, because the next one is mostly the same.
#[derive(Default)]
pub(crate) struct Remembered {
    pieces: String,
    rows: String,
}

/// A batch that is being written.
#[derive(Default)]
pub(crate) struct Batch {
    pieces: String,
    rows: String,
    remembered: Option<Remembered>,
}

impl Batch {
    /// Begins a batch with texts that no row names: what tells of them is told elsewhere.
    pub(crate) fn of<const N: usize>(texts: [&str; N]) -> Batch {
        let mut pieces = String::with_capacity(texts.iter().map(|text| text.len()).sum());
        pieces.extend(texts);
        Batch { pieces, ..Batch::default() }
    }

    /// Begins a batch in memory that was used before.
    pub(crate) fn within(mut memory: String) -> Batch {
        memory.clear();
        Batch { pieces: memory, ..Batch::default() }
    }

    /// Adds a row; `write` adds its members.
    pub(crate) fn row(&mut self, kind: u8, write: impl FnOnce(&mut Row<'_>)) {
        self.rows.reserve(ROOM_FOR_ROWS);
        self.rows.push(if self.rows.is_empty() { '[' } else { ',' });
        let mut row = Row { batch: self, is_empty: true };
        row.open();
        row.number(u64::from(kind));
        write(&mut row);
        row.close();
    }

    /// Tells what `write` adds, with what JavaScript remembers of the batches before it.
    pub(crate) fn with_remembered(&mut self, remembered: &mut Remembered, write: impl FnOnce(&mut Batch)) {
        self.remembered = Some(std::mem::take(remembered));
        write(self);
        *remembered = self.remembered.take().unwrap_or_default();
    }

    /// The text; empty if nothing is told.
    pub(crate) fn into_text(self) -> String {
        let Batch { mut pieces, rows, .. } = self;
        if rows.is_empty() {
            return pieces;
        }
        // No more than that: memory is kept up to a bound.
        pieces.reserve_exact(rows.len() + 2);
        pieces.push('\n');
        pieces.push_str(&rows);
        pieces.push(']');
        pieces
    }
}

/// A row that is being written.
pub(crate) struct Row<'a> {
    batch: &'a mut Batch,
    is_empty: bool,
}

impl Row<'_> {
    fn open(&mut self) {
        self.batch.rows.push('[');
        self.is_empty = true;
    }

    fn close(&mut self) {
        self.batch.rows.push(']');
        self.is_empty = false;
    }

    fn separate(&mut self) {
        if !self.is_empty {
            self.batch.rows.push(',');
        }
        self.is_empty = false;
    }

    fn display(&mut self, value: impl std::fmt::Display) {
        self.separate();
        // Writing to a String cannot fail.
        let _ = write!(self.batch.rows, "{value}");
    }

    /// A number.
    pub(crate) fn number(&mut self, value: u64) {
        self.separate();
        push_number(&mut self.batch.rows, value);
    }

    /// A number that may be absent.
    pub(crate) fn number_or_null(&mut self, value: Option<u64>) {
        match value {
            Some(value) => self.number(value),
            None => self.null(),
        }
    }

    /// A number that need not be whole. What JSON cannot write is written so that it is read as infinite.
    pub(crate) fn float(&mut self, value: f64) {
        if value.is_finite() {
            self.display(value);
        } else {
            self.display(if value < 0.0 { "-1e999" } else { "1e999" });
        }
    }

    /// Nothing.
    pub(crate) fn null(&mut self) {
        self.separate();
        self.batch.rows.push_str(NULL);
    }

    /// A truth value.
    pub(crate) fn boolean(&mut self, value: bool) {
        self.separate();
        self.batch.rows.push_str(if value { "true" } else { "false" });
    }

    /// A string that JavaScript gets decoded.
    pub(crate) fn string(&mut self, value: &str) {
        self.separate();
        let rows = &mut self.batch.rows;
        if value.bytes().all(|byte| byte >= b' ' && byte != b'"' && byte != b'\\') {
            rows.push('"');
            rows.push_str(value);
            rows.push('"');
        } else {
            // A string can always be written.
            rows.push_str(&serde_json::to_string(value).unwrap_or_default());
        }
    }

    /// A string that may be absent.
    pub(crate) fn string_or_null(&mut self, value: Option<&str>) {
        match value {
            Some(value) => self.string(value),
            None => self.null(),
        }
    }

    /// A value of another kind, given as JSON.
    pub(crate) fn json(&mut self, value: &serde_json::Value) {
        self.display(value);
    }

    /// A piece of text, which JavaScript cuts out.
    pub(crate) fn piece(&mut self, text: &str) {
        // Mostly there is one piece, and the rows then need no larger text.
        self.batch.pieces.reserve(text.len() + ROOM_FOR_ROWS);
        self.batch.pieces.push_str(text);
        self.number(utf16_length(text) as u64);
    }

    /// A piece that may be absent.
    pub(crate) fn piece_or_null(&mut self, text: Option<&str>) {
        match text {
            Some(text) => self.piece(text),
            None => self.null(),
        }
    }

    /// Bytes: a piece, and whether its characters are the bytes rather than UTF-8 for them.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        let text = std::str::from_utf8(bytes);
        if let Ok(text) = text {
            self.piece(text);
        } else {
            self.piece(&bytes.iter().map(|&byte| char::from(byte)).collect::<String>());
        }
        self.boolean(text.is_err());
    }

    /// As [`array`](Self::array), without the elements at its end that are nothing.
    pub(crate) fn cut_array(&mut self, write: impl FnOnce(&mut Row<'_>)) {
        self.array(|row| {
            write(row);
            let rows = &mut row.batch.rows;
            while let Some(rest) = rows.strip_suffix(NULL).and_then(|rest| rest.strip_suffix(',')) {
                rows.truncate(rest.len());
            }
        });
    }

    /// What `write` adds; or 0 where that is what JavaScript remembers. Where it shall remember this, 1 follows.
    pub(crate) fn remembered(&mut self, write: impl FnOnce(&mut Row<'_>)) {
        let (pieces, rows) = (self.batch.pieces.len(), self.batch.rows.len());
        write(self);
        let Some(mut last) = self.batch.remembered.take() else { return };
        let told = (&self.batch.pieces[pieces..], &self.batch.rows[rows..]);
        if told == (&last.pieces, &last.rows) {
            self.batch.pieces.truncate(pieces);
            self.batch.rows.truncate(rows);
            self.number(0);
        } else if self.batch.pieces.len() > MOST_REMEMBERED {
            last = Remembered::default();
        } else {
            last = Remembered { pieces: told.0.into(), rows: told.1.into() };
            self.number(1);
        }
        self.batch.remembered = Some(last);
    }

    /// An array within the row; `write` adds its elements.
    pub(crate) fn array(&mut self, write: impl FnOnce(&mut Row<'_>)) {
        self.separate();
        self.open();
        write(self);
        self.close();
    }
}

/// Writes a number, in less time than [`Display`](std::fmt::Display) takes.
fn push_number(text: &mut String, value: u64) {
    if value >= 10 {
        push_number(text, value / 10);
    }
    text.push(char::from(b'0' + (value % 10) as u8));
}

/// How many UTF-16 code units a text has.
pub(crate) fn utf16_length(text: &str) -> usize {
    if text.is_ascii() {
        return text.len();
    }
    let bytes = text.as_bytes();
    // Each character has one byte that continues none, and those of four bytes have two units.
    let characters = bytes.iter().filter(|&&byte| byte & 0b1100_0000 != 0b1000_0000).count();
    characters + bytes.iter().filter(|&&byte| byte >= 0b1111_0000).count()
}
