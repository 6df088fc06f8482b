//! Event streams of a peer that may be hostile: however they are cut the same comes of them, and it is what a reader finds
//! that takes the stream as a whole and follows the standard word by word. What is written reads back.

use barewire::Violation;
use barewire::transport::sse::{self, SseEvent, SseFault, SseReader};

use crate::{Choices, Random};

/// Everything that comes of a stream.
#[derive(Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Events and faults, in order.
    pub events: Vec<Result<SseEvent, SseFault>>,
    /// The id to resume behind.
    pub last_event_id: Option<String>,
    /// The time to wait before that.
    pub retry_ms: Option<u64>,
}

/// Limits on events: one that is always met, and one that never is.
const LIMITS: [usize; 2] = [12, 1 << 20];

/// Reads `bytes`, of which the first picks the limit. Panics where a promise is broken.
pub fn check(bytes: &[u8]) {
    let Some((&first, stream)) = bytes.split_first() else { return };
    let limit = LIMITS[usize::from(first % 2)];
    let whole = read(limit, [stream]);
    assert_eq!(read(limit, stream.chunks(1)), whole, "byte by byte");
    assert_eq!(read(limit, cut(stream, u64::from(first))), whole, "cut at random");
    for event in &whole.events {
        let kept = match event {
            Ok(event) => event.data.len() + event.event.as_ref().map_or(0, String::len),
            Err(fault) => fault.bytes.len(),
        };
        assert!(kept <= limit, "{kept} bytes were kept");
    }
    if limit >= stream.len() {
        assert_eq!(reference(stream), whole, "as the standard says");
    }
}

/// Pieces of `stream`, some of them empty.
fn cut(stream: &[u8], seed: u64) -> impl Iterator<Item = &[u8]> {
    let mut random = Random::new(seed);
    let mut rest = stream;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (piece, behind) = rest.split_at(random.below(rest.len().min(20) + 1));
        rest = behind;
        Some(piece)
    })
}

/// What the reader makes of a stream that comes in pieces.
pub fn read<'a>(limit: usize, pieces: impl IntoIterator<Item = &'a [u8]>) -> Outcome {
    let mut reader = SseReader::new(limit);
    let mut events = Vec::new();
    for piece in pieces {
        reader.receive_data(piece);
        events.extend(std::iter::from_fn(|| reader.poll_event()));
    }
    let last_event_id = reader.last_event_id().map(str::to_owned);
    Outcome { events, last_event_id, retry_ms: reader.retry_ms() }
}

/// The steps of WHATWG HTML, section 9.2.6, on bytes. These things differ as documented: text that is not UTF-8 is a
/// fault, an empty name or id is none and neither is the default name, and digits beyond 64 bits are the greatest number.
fn reference(stream: &[u8]) -> Outcome {
    let mut outcome = Outcome { events: Vec::new(), last_event_id: None, retry_ms: None };
    let mut id = None;
    let (mut data, mut name, mut damaged): (Option<Vec<u8>>, Vec<u8>, bool) = (None, Vec::new(), false);
    for line in lines(stream.strip_prefix(b"\xef\xbb\xbf").unwrap_or(stream)) {
        if line.is_empty() {
            outcome.last_event_id.clone_from(&id);
            let (ended, named) = (data.take(), std::mem::take(&mut name));
            let is_damaged = std::mem::take(&mut damaged);
            if ended.is_some() || is_damaged {
                outcome.events.push(event(ended.unwrap_or_default(), named, is_damaged, id.as_deref()));
            }
            continue;
        }
        let colon = line.iter().position(|byte| *byte == b':');
        let (field, value) = match colon {
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (line, &[][..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"event" => name = value.to_vec(),
            b"data" => match &mut data {
                Some(data) => {
                    data.push(b'\n');
                    data.extend_from_slice(value);
                }
                None => data = Some(value.to_vec()),
            },
            b"id" if !value.contains(&0) => match std::str::from_utf8(value) {
                Ok(value) => id = Some(value.to_owned()).filter(|id| !id.is_empty()),
                Err(_) => damaged = true,
            },
            b"retry" if !value.is_empty() && value.iter().all(u8::is_ascii_digit) => {
                let digits = std::str::from_utf8(value).expect("digits are text");
                outcome.retry_ms = Some(digits.parse().unwrap_or(u64::MAX));
            }
            _ => {}
        }
    }
    outcome
}

fn event(data: Vec<u8>, name: Vec<u8>, damaged: bool, id: Option<&str>) -> Result<SseEvent, SseFault> {
    match (String::from_utf8(data), String::from_utf8(name)) {
        (Ok(data), Ok(name)) if !damaged => {
            let event = Some(name).filter(|name| !(name.is_empty() || name == "message"));
            Ok(SseEvent { event, data, id: id.map(Into::into) })
        }
        (data, _) => {
            let bytes = data.map_or_else(std::string::FromUtf8Error::into_bytes, String::into_bytes);
            Err(SseFault { violation: Violation::NotUtf8, bytes })
        }
    }
}

/// The lines that ended, without their ends.
fn lines(mut rest: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        let end = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r'))?;
        let line = &rest[..end];
        let length = if rest[end..].starts_with(b"\r\n") { 2 } else { 1 };
        rest = &rest[end + length..];
        Some(line)
    })
}

const IDS: [&str; 6] = ["s1-0", "a:b", " 1", "\u{e4}", "", "1\n"];
const DATA: [&str; 8] =
    ["{}", "a: b", " padded", "\u{feff}\u{1f600}", "1\n2", "1\r\n\r\n2\r", "data: 1\n\n", ":\n"];

/// Writes what `bytes` decide on, and reads it back whole and byte by byte. Panics where it differs.
pub fn check_written(bytes: &[u8]) {
    let mut choices = Choices::new(bytes);
    let mut out = Vec::new();
    let mut expected = Outcome { events: Vec::new(), last_event_id: None, retry_ms: None };
    while !choices.is_empty() {
        match choices.below(5) {
            0 => sse::write_comment(&mut out),
            1 => {
                let milliseconds = u64::try_from(choices.below(60_000)).expect("a small number");
                sse::write_retry(&mut out, milliseconds);
                expected.retry_ms = Some(milliseconds);
            }
            2 => {
                let id = *choices.pick(&IDS);
                sse::write_priming_event(&mut out, id);
                expect(&mut expected, None, Some(id), "");
            }
            3 => {
                let data = *choices.pick(&DATA);
                sse::write_event(&mut out, None, data);
                expect(&mut expected, None, None, data);
            }
            _ => {
                let (id, data) = (*choices.pick(&IDS), *choices.pick(&DATA));
                sse::write_named_event(&mut out, "endpoint", Some(id), data);
                expect(&mut expected, Some("endpoint"), Some(id), data);
            }
        }
    }
    let text = out.escape_ascii();
    assert_eq!(read(1 << 20, [&*out]), expected, "{text}");
    assert_eq!(read(1 << 20, out.chunks(1)), expected, "byte by byte: {text}");
}

fn expect(expected: &mut Outcome, event: Option<&str>, id: Option<&str>, data: &str) {
    if let Some(id) = id.filter(|id| !id.contains('\n')) {
        expected.last_event_id = Some(id.to_owned()).filter(|id| !id.is_empty());
    }
    // A reader cannot tell one line end from another.
    let data = data.replace("\r\n", "\n").replace('\r', "\n");
    let id = expected.last_event_id.as_deref().map(Into::into);
    expected.events.push(Ok(SseEvent { event: event.map(str::to_owned), data, id }));
}
