//! Server-sent events: the reader and the writer of an event stream (WHATWG HTML, section 9.2).
//!
//! The reader is given bytes as they come and forgets what it does not need; the writer appends to a buffer of the
//! host. Neither knows what the data of an event means.

use alloc::collections::VecDeque;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::mem;

use memchr::memchr2;

use crate::jsonrpc::Violation;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The name of an event that gives none, and of those that carry messages.
const MESSAGE: &str = "message";

/// A buffer for names that grew beyond this is given back.
const KEEP: usize = 256;

/// One event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SseEvent {
    /// The name; `None` if it is `message`, which is what an event is called that names nothing else.
    pub event: Option<String>,
    /// The data, its lines joined with LF.
    pub data: String,
    /// The last event id in force with this event: its own or that of an earlier one. `None` if there was none, or
    /// an empty one took it back. Events share it.
    pub id: Option<Arc<str>>,
}

impl SseEvent {
    /// Whether the data is a message: the event has no other name, and its data is not empty. An event with empty
    /// data tells an id and no more (basic/transports, 2025-11-25).
    pub fn is_message(&self) -> bool {
        !self.data.is_empty() && self.event.is_none()
    }
}

/// An event that could not be taken; the stream goes on behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SseFault {
    /// What was wrong: [`Violation::TooLong`] or [`Violation::NotUtf8`].
    pub violation: Violation,
    /// The data as far as it was kept, for whoever looks for an id in it.
    pub bytes: Vec<u8>,
}

/// Reads an event stream from bytes that are cut anywhere.
///
/// It holds the event that is arriving and those that were not polled. Lines end with LF, CR or CRLF; a byte-order
/// mark at the very start, comments and unknown fields are passed over; an event without its closing blank line does
/// not count. After a break of the connection a new reader reads the new stream.
///
/// ```
/// use barewire::transport::sse::SseReader;
///
/// let mut reader = SseReader::new(1 << 20);
/// reader.receive_data(b"id: 7\r\ndata: {}\r");
/// reader.receive_data(b"\n\r\n");
/// let event = reader.poll_event().expect("an event").expect("a sound one");
/// assert!(event.is_message());
/// assert_eq!((event.data.as_str(), reader.last_event_id()), ("{}", Some("7")));
/// ```
#[derive(Debug)]
pub struct SseReader {
    limit: usize,
    /// How many bytes of a mark at the start of the stream were seen; `None` once that is settled.
    mark: Option<usize>,
    /// The last line ended with CR: an LF that follows belongs to it.
    after_cr: bool,
    line: Line,
    arriving: Arriving,
    /// What the `id` fields say, in force when the event ends.
    id: Option<Arc<str>>,
    last_event_id: Option<Arc<str>>,
    retry_ms: Option<u64>,
    events: VecDeque<Result<SseEvent, SseFault>>,
}

/// How far the line that is arriving was read.
#[derive(Debug)]
enum Line {
    /// Within the name of the field.
    Name(Name),
    /// Behind the colon, where one space is not part of the value.
    Colon(Field),
    /// Within the value.
    Value(Field),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Data,
    Event,
    Id,
    Retry,
    /// A comment, or a field that is not known.
    Other,
}

/// The names that mean something.
const FIELDS: [(&[u8], Field); 4] =
    [(b"data", Field::Data), (b"event", Field::Event), (b"id", Field::Id), (b"retry", Field::Retry)];

/// Bytes of the longest of them.
const LONGEST_NAME: usize = 5;

/// The bytes of a name so far; it is longer than none that is known.
#[derive(Debug, Default)]
struct Name {
    bytes: [u8; LONGEST_NAME],
    length: usize,
}

impl Name {
    /// Appends what fits; the caller has seen that all does.
    fn push(&mut self, bytes: &[u8]) {
        for (place, byte) in self.bytes.iter_mut().skip(self.length).zip(bytes) {
            *place = *byte;
            self.length += 1;
        }
    }

    fn field(&self) -> Field {
        let known = FIELDS.iter().find(|(name, _)| self.bytes.starts_with(name) && name.len() == self.length);
        known.map_or(Field::Other, |(_, field)| *field)
    }
}

/// The event that is arriving.
#[derive(Debug, Default)]
struct Arriving {
    data: Vec<u8>,
    /// A `data` field was seen, so that there is an event.
    has_data: bool,
    event: Vec<u8>,
    /// The value of the `id` or `retry` field whose line is arriving; `None` if it is longer than the limit.
    value: Option<Vec<u8>>,
    /// It went beyond the limit, which was reported; no more of its data is kept.
    oversized: bool,
    /// A name or an id was not UTF-8.
    not_utf8: bool,
}

impl SseReader {
    /// A reader at the start of a stream, for events whose data and name have at most `limit` bytes, and whose
    /// id has no more either.
    pub fn new(limit: usize) -> SseReader {
        SseReader {
            limit,
            mark: Some(0),
            after_cr: false,
            line: Line::Name(Name::default()),
            arriving: Arriving::default(),
            id: None,
            last_event_id: None,
            retry_ms: None,
            events: VecDeque::new(),
        }
    }

    /// Takes bytes of the stream. Each byte of data is copied once; what becomes of them waits to be polled.
    pub fn receive_data(&mut self, data: &[u8]) {
        let data = match self.mark {
            Some(seen) => self.pass_mark(seen, data),
            None => data,
        };
        self.read(data);
    }

    /// The next event, or what was wrong with it.
    ///
    /// # Errors
    /// [`SseFault`] for an event that is too long, once for each, or not UTF-8. The stream goes on.
    pub fn poll_event(&mut self) -> Option<Result<SseEvent, SseFault>> {
        self.events.pop_front()
    }

    /// The id to resume behind: that of the last event that ended, polled or not. `None` if there is none.
    pub fn last_event_id(&self) -> Option<&str> {
        self.last_event_id.as_deref()
    }

    /// Milliseconds to wait before the connection is made again, if the stream said so.
    pub fn retry_ms(&self) -> Option<u64> {
        self.retry_ms
    }

    /// Takes a mark off the start of the stream, and gives what follows it.
    fn pass_mark<'a>(&mut self, seen: usize, data: &'a [u8]) -> &'a [u8] {
        // `seen` is below the length of the mark.
        let wanted = &BYTE_ORDER_MARK[seen..];
        let same = wanted.iter().zip(data).take_while(|(wanted, byte)| wanted == byte).count();
        if same == wanted.len() {
            self.mark = None;
        } else if same == data.len() {
            self.mark = Some(seen + same);
        } else {
            self.mark = None;
            self.read(&BYTE_ORDER_MARK[..seen]);
            return data;
        }
        &data[same..]
    }

    fn read(&mut self, mut rest: &[u8]) {
        while let Some(&first) = rest.first() {
            if mem::take(&mut self.after_cr) && first == b'\n' {
                rest = &rest[1..];
                continue;
            }
            rest = self.read_line(rest);
        }
    }

    /// Reads to the end of a line, or of what there is; `rest` is not empty.
    fn read_line<'a>(&mut self, rest: &'a [u8]) -> &'a [u8] {
        match mem::replace(&mut self.line, Line::Value(Field::Other)) {
            Line::Name(name) => self.read_name(name, rest),
            Line::Colon(field) => {
                self.line = Line::Value(field);
                rest.strip_prefix(b" ").unwrap_or(rest)
            }
            Line::Value(field) => {
                let Some(end) = memchr2(b'\n', b'\r', rest) else {
                    self.keep(field, rest);
                    self.line = Line::Value(field);
                    return &[];
                };
                self.keep(field, &rest[..end]);
                self.end_field(field);
                self.end_line(&rest[end..])
            }
        }
    }

    fn read_name<'a>(&mut self, mut name: Name, rest: &'a [u8]) -> &'a [u8] {
        if name.length == 0
            && let Some(value) = rest.strip_prefix(b"data:")
        {
            self.begin(Field::Data);
            self.line = Line::Colon(Field::Data);
            return value;
        }
        for (at, &byte) in rest.iter().enumerate() {
            let (taken, behind) = rest.split_at(at);
            match byte {
                b'\n' | b'\r' => {
                    name.push(taken);
                    self.end_name(&name);
                    return self.end_line(behind);
                }
                b':' => {
                    name.push(taken);
                    let field = name.field();
                    self.begin(field);
                    self.line = Line::Colon(field);
                    return &behind[1..];
                }
                _ if name.length + at >= LONGEST_NAME => {
                    // No name that is known is so long.
                    self.line = Line::Value(Field::Other);
                    return behind;
                }
                _ => {}
            }
        }
        name.push(rest);
        self.line = Line::Name(name);
        &[]
    }

    /// A line without a colon ended: a blank one ends the event, any other is a field with an empty value.
    fn end_name(&mut self, name: &Name) {
        if name.length == 0 {
            return self.end_event();
        }
        let field = name.field();
        self.begin(field);
        self.end_field(field);
    }

    /// Passes the line end that `rest` begins with.
    fn end_line<'a>(&mut self, rest: &'a [u8]) -> &'a [u8] {
        self.after_cr = rest.first() == Some(&b'\r');
        self.line = Line::Name(Name::default());
        rest.get(1..).unwrap_or_default()
    }

    fn begin(&mut self, field: Field) {
        match field {
            Field::Data => {
                if self.arriving.has_data {
                    self.keep(Field::Data, b"\n");
                }
                self.arriving.has_data = true;
            }
            Field::Event => self.arriving.event.clear(),
            Field::Id | Field::Retry => {
                self.arriving.value = Some(Vec::new());
            }
            Field::Other => {}
        }
    }

    /// Appends to the value of `field`, within the limit.
    fn keep(&mut self, field: Field, bytes: &[u8]) {
        let arriving = &mut self.arriving;
        let room = self.limit.saturating_sub(arriving.data.len() + arriving.event.len());
        let (room, target) = match (field, &mut arriving.value) {
            (Field::Data, _) if !arriving.oversized => (room, &mut arriving.data),
            (Field::Event, _) if !arriving.oversized => (room, &mut arriving.event),
            (Field::Id | Field::Retry, Some(value)) => (self.limit.saturating_sub(value.len()), value),
            _ => return,
        };
        if bytes.len() <= room {
            return target.extend_from_slice(bytes);
        }
        if matches!(field, Field::Id | Field::Retry) {
            arriving.value = None;
        } else {
            target.extend_from_slice(&bytes[..room]);
        }
        if !mem::replace(&mut arriving.oversized, true) {
            let bytes = mem::take(&mut arriving.data);
            self.events.push_back(Err(SseFault { violation: Violation::TooLong, bytes }));
        }
    }

    /// The line of a field ended: `id` and `retry` are read from the value. They count in an event that is too long
    /// as well, so that a stream is not resumed before it again and again.
    fn end_field(&mut self, field: Field) {
        if !matches!(field, Field::Id | Field::Retry) {
            return;
        }
        let Some(value) = self.arriving.value.take() else { return };
        if field == Field::Retry {
            if let Some(retry) = milliseconds(&value) {
                self.retry_ms = Some(retry);
            }
        } else if !value.contains(&0) {
            match core::str::from_utf8(&value) {
                Ok(id) => self.id = Some(id).filter(|id| !id.is_empty()).map(Arc::from),
                Err(_) => self.arriving.not_utf8 = true,
            }
        }
    }

    fn end_event(&mut self) {
        let mut ended = mem::take(&mut self.arriving);
        self.last_event_id.clone_from(&self.id);
        if !ended.oversized && (ended.has_data || ended.not_utf8) {
            let outcome = self.outcome(mem::take(&mut ended.data), &ended.event, ended.not_utf8);
            self.events.push_back(outcome);
        }
        if ended.event.capacity() <= KEEP {
            ended.event.clear();
            self.arriving.event = ended.event;
        }
    }

    fn outcome(&self, data: Vec<u8>, event: &[u8], not_utf8: bool) -> Result<SseEvent, SseFault> {
        let damaged = |bytes| SseFault { violation: Violation::NotUtf8, bytes };
        let event = match core::str::from_utf8(event) {
            Ok(event) if !not_utf8 => Some(event).filter(|event| !event.is_empty() && *event != MESSAGE),
            _ => return Err(damaged(data)),
        };
        let data = String::from_utf8(data).map_err(|error| damaged(error.into_bytes()))?;
        Ok(SseEvent { event: event.map(String::from), data, id: self.last_event_id.clone() })
    }
}

/// Reads digits and nothing else; a number beyond 64 bits counts as the greatest.
fn milliseconds(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let add = |number: u64, digit: &u8| number.saturating_mul(10).saturating_add(u64::from(digit - b'0'));
    Some(digits.iter().fold(0, add))
}

/// Appends an event named `message` that holds `data`, which is not empty.
///
/// Line ends within the data become further `data` lines, so that a reader sees each as one LF. An `id` that the
/// format cannot carry, one with a line end or NUL, is left out. The name is written although it is the default:
/// 2024-11-05 asks for it (basic/transports, HTTP with SSE), and readers that compare names find it.
pub fn write_event(out: &mut Vec<u8>, id: Option<&str>, data: &str) {
    write_named_event(out, MESSAGE, id, data);
}

/// As [`write_event`], with another name, which holds no line end.
pub fn write_named_event(out: &mut Vec<u8>, event: &str, id: Option<&str>, data: &str) {
    out.reserve(event.len() + id.map_or(0, str::len) + data.len() + 32);
    write_field(out, "event: ", event);
    write_id(out, id);
    let mut rest = data;
    while let Some(end) = memchr2(b'\n', b'\r', rest.as_bytes()) {
        // Both are ASCII, so that what stands around them is text.
        let (line, behind) = rest.split_at(end);
        write_field(out, "data: ", line);
        rest = behind.strip_prefix("\r\n").unwrap_or(&behind[1..]);
    }
    write_field(out, "data: ", rest);
    out.push(b'\n');
}

/// Appends an event with `id` and empty data, from which a client that lost the connection can resume
/// (basic/transports, 2025-11-25). An id that the format cannot carry is left out.
pub fn write_priming_event(out: &mut Vec<u8>, id: &str) {
    write_id(out, Some(id));
    out.extend_from_slice(b"data: \n\n");
}

/// Appends the time in milliseconds that a client shall wait before it connects again.
pub fn write_retry(out: &mut Vec<u8>, milliseconds: u64) {
    write_field(out, "retry: ", &alloc::format!("{milliseconds}"));
    out.push(b'\n');
}

/// Appends an empty comment, which keeps the connection from being closed as idle and which every reader passes over
/// (basic/transports/streamable-http, 2026-07-28).
pub fn write_comment(out: &mut Vec<u8>) {
    out.extend_from_slice(b":\n\n");
}

fn write_id(out: &mut Vec<u8>, id: Option<&str>) {
    if let Some(id) = id.filter(|id| !id.contains(['\r', '\n', '\0'])) {
        write_field(out, "id: ", id);
    }
}

fn write_field(out: &mut Vec<u8>, name: &str, value: &str) {
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(value.as_bytes());
    out.push(b'\n');
}

#[cfg(test)]
mod tests;
