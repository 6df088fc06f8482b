//! Newline-delimited messages on a byte stream: standard input and output, a socket, a serial line
//! (basic/transports/stdio).

use alloc::vec::Vec;

use memchr::memchr;

use crate::error::{Error, Limit};
use crate::json::{MAX_DEPTH, scan};
use crate::jsonrpc::Violation;
use crate::machine::{Facts, Input, Machine, Measured, Step, Transmit};
use crate::memory;
use crate::time::Instant;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Messages are gathered for one write up to the bound on queued bytes divided by this, and 32 KiB at most; a longer one
/// is handed over without a copy.
const GATHERED_PART: usize = 256;
const MOST_GATHERED: usize = 32 << 10;

/// Output is kept as a place for more while it is no larger than this many times what is gathered. The memory of a longer
/// message goes at once: the next one that is written can have it.
const KEPT_GATHERED: usize = 4;

/// What an allocator keeps beside an allocation, and rounds up.
const BESIDE: usize = 32;

/// A machine behind newline framing: bytes in, bytes out.
///
/// A line holds one message, ends with LF and may have a CR before it. Blank lines are skipped, a
/// byte-order mark before a message is taken off, and whatever is no message goes to the machine as
/// damaged, so that no line is lost in silence and none ends the stream.
#[derive(Debug)]
pub struct Stdio<M: Machine> {
    machine: M,
    /// The beginning of a line whose end has not arrived; a few bytes longer than the limit on message bytes
    /// at most.
    partial: Vec<u8>,
    /// The line that is arriving was too long and has been reported; its rest is dropped.
    skipping: bool,
    output: Vec<u8>,
    /// How much of `output` was consumed.
    consumed: usize,
    /// The machine will send nothing more.
    closed: bool,
    gather: usize,
    keep: usize,
}

impl<M: Measured> Stdio<M> {
    /// As [`receive_data`](Self::receive_data), for hosts whose memory ends. `room` tells how many bytes can be
    /// allocated in one piece. A message that there is no room for is refused: a request gets an error as its answer,
    /// and [`Violation::NoRoom`] is reported.
    ///
    /// # Errors
    /// [`Limit::Memory`] if there is not even room for that, and then nothing was taken: take what waits to be polled,
    /// send what waits to be sent, answer what waits for its answer, and try again, with fewer bytes if there is nothing
    /// of that kind: a part of one line is always taken where there is room to refuse it. Fatal ends as for [`receive_data`](Self::receive_data).
    pub fn receive_data_within(
        &mut self,
        now: Instant,
        data: &[u8],
        room: impl Fn() -> usize,
    ) -> Result<(), Error> {
        // Whatever becomes of a line, those behind it can still be refused: what is taken in part cannot be given back.
        let mut lines = self.lines_of(data);
        if room() < self.machine.room_for(Step::Refuse(lines)) {
            return Err(Limit::Memory.into());
        }
        let mut rest = data;
        while let Some(end) = memchr(b'\n', rest) {
            let (line, after) = (&rest[..end], &rest[end + 1..]);
            rest = after;
            if core::mem::take(&mut self.skipping) || (self.partial.is_empty() && is_blank(line)) {
                continue;
            }
            lines = lines.saturating_sub(1);
            self.line_within(now, line, lines, &room)?;
        }
        if self.skipping || rest.is_empty() {
            return Ok(());
        }
        let most = self.most_gathered().saturating_sub(self.partial.len());
        if rest.len() <= most && self.gather(rest, 0, &room) {
            return Ok(());
        }
        self.skipping = true;
        let head = core::mem::take(&mut self.partial);
        self.refuse(now, if head.is_empty() { rest } else { &head })
    }

    /// As [`receive_eof`](Self::receive_eof), for hosts whose memory ends.
    ///
    /// # Errors
    /// [`Limit::Memory`] as for [`receive_data_within`](Self::receive_data_within). Fatal ends as for
    /// [`receive_eof`](Self::receive_eof).
    pub fn receive_eof_within(&mut self, now: Instant, room: impl Fn() -> usize) -> Result<(), Error> {
        let settling = self.machine.room_for(Step::Settle);
        if is_blank(&self.partial) {
            self.partial = Vec::new();
        }
        let is_pending = !self.partial.is_empty();
        let refusal = if is_pending { self.machine.room_for(Step::Refuse(1)) } else { 0 };
        if room() < settling + refusal {
            return Err(Limit::Memory.into());
        }
        if is_pending && room() < settling + self.machine.room_for(Step::Take(&self.partial, 0)) {
            let line = core::mem::take(&mut self.partial);
            self.refuse(now, &line)?;
        }
        self.receive_eof(now)
    }

    /// How many lines begin or go on in `data` that have to be refused in the worst case.
    fn lines_of(&self, data: &[u8]) -> usize {
        let mut lines = data.split(|byte| *byte == b'\n');
        let first = lines.next().unwrap_or_default();
        let first = !(self.skipping || self.partial.is_empty() && is_blank(first));
        usize::from(first) + lines.filter(|line| !is_blank(line)).count()
    }

    /// Takes the end of a line, or all of it, if there is room, and if so many others can be refused after it.
    fn line_within(
        &mut self,
        now: Instant,
        line: &[u8],
        followers: usize,
        room: &impl Fn() -> usize,
    ) -> Result<(), Error> {
        if self.partial.is_empty() {
            return self.take_or_refuse(now, line, followers, room());
        }
        let is_whole = self.gather(line, followers, room);
        let whole = core::mem::take(&mut self.partial);
        if is_whole { self.take_or_refuse(now, &whole, followers, room()) } else { self.refuse(now, &whole) }
    }

    /// Adds to the line that is gathered; false if there is no room, when it and so many others can still be refused.
    fn gather(&mut self, more: &[u8], followers: usize, room: &impl Fn() -> usize) -> bool {
        let needed = self.partial.len() + more.len() + BESIDE;
        let fits = self.partial.capacity() - self.partial.len() >= more.len()
            || room().saturating_sub(self.machine.room_for(Step::Refuse(1 + followers))) > needed;
        if fits {
            self.partial.reserve_exact(more.len());
            self.partial.extend_from_slice(more);
        }
        fits
    }

    fn take_or_refuse(
        &mut self,
        now: Instant,
        line: &[u8],
        followers: usize,
        room: usize,
    ) -> Result<(), Error> {
        if room >= self.machine.room_for(Step::Take(line, followers)) {
            return Self::line(&mut self.machine, now, line);
        }
        self.refuse(now, line)
    }

    fn refuse(&mut self, now: Instant, line: &[u8]) -> Result<(), Error> {
        let bytes = without_mark(line).1;
        if is_blank(bytes) {
            return Ok(());
        }
        self.machine.handle_input(now, Input::Damaged { bytes, violation: Violation::NoRoom })
    }
}

impl<M: Machine> Stdio<M> {
    /// Frames the messages of `machine`.
    pub fn new(machine: M) -> Stdio<M> {
        let queued_bytes = machine.limits().queued_bytes;
        Stdio {
            machine,
            gather: (queued_bytes / GATHERED_PART).clamp(1, MOST_GATHERED),
            keep: memory::most_kept(queued_bytes),
            partial: Vec::new(),
            skipping: false,
            output: Vec::new(),
            consumed: 0,
            closed: false,
        }
    }

    /// As [`new`](Self::new), for hosts whose memory ends: each message is handed over where it lies, so that
    /// [`data_to_send`](Self::data_to_send) allocates nothing.
    pub fn ungathered(machine: M) -> Stdio<M> {
        Stdio { gather: 1, ..Stdio::new(machine) }
    }

    /// Takes bytes that were read, cut anywhere. Whole lines are read where they lie; the beginning of an
    /// unfinished one is copied.
    ///
    /// # Errors
    /// Fatal ends of the machine only. Faulty input is answered, or reported as an event.
    pub fn receive_data(&mut self, now: Instant, data: &[u8]) -> Result<(), Error> {
        let mut rest = data;
        while let Some(end) = memchr(b'\n', rest) {
            let (line, after) = (&rest[..end], &rest[end + 1..]);
            rest = after;
            if self.skipping {
                self.skipping = false;
            } else if self.partial.is_empty() {
                Self::line(&mut self.machine, now, line)?;
            } else {
                self.finish_partial(now, line)?;
            }
        }
        self.begin_partial(now, rest)
    }

    /// The peer closed its side. A last line without a line end counts if it is a whole JSON text.
    ///
    /// # Errors
    /// As [`receive_data`](Self::receive_data).
    pub fn receive_eof(&mut self, now: Instant) -> Result<(), Error> {
        let partial = core::mem::take(&mut self.partial);
        self.skipping = false;
        if !is_blank(&partial) {
            let text = without_mark(&partial).1;
            let whole = core::str::from_utf8(text).is_ok_and(|text| scan::check(text, MAX_DEPTH).is_ok());
            if whole {
                Self::line(&mut self.machine, now, &partial)?;
            } else {
                let input = Input::Damaged { bytes: text, violation: Violation::EndedEarly };
                self.machine.handle_input(now, input)?;
            }
        }
        self.machine.handle_input(now, Input::Closed)
    }

    /// The peer was started afresh: what was half read or half sent belonged to the old one.
    ///
    /// # Errors
    /// As [`receive_data`](Self::receive_data).
    pub fn restart(&mut self, now: Instant) -> Result<(), Error> {
        self.forget();
        self.machine.handle_input(now, Input::Restarted)
    }

    /// The transport broke: nothing can be sent or received any more. What was half read or waits to be sent is dropped.
    ///
    /// # Errors
    /// As [`receive_data`](Self::receive_data).
    pub fn connection_lost(&mut self, now: Instant) -> Result<(), Error> {
        self.forget();
        self.machine.handle_input(now, Input::Lost)
    }

    /// Drops what was half read and half sent.
    fn forget(&mut self) {
        self.partial = Vec::new();
        self.skipping = false;
        self.output = Vec::new();
        self.consumed = 0;
    }

    /// The bytes to send next, possibly not all there are; empty if there are none. They stay the same until
    /// [`consume`](Self::consume) is called, except that more may follow.
    pub fn data_to_send(&mut self) -> &[u8] {
        while !self.closed && self.output.len() - self.consumed < self.gather {
            match self.machine.poll_transmit() {
                Some(Transmit::Message { text, .. }) => self.append(text.into_bytes()),
                Some(Transmit::Close) => self.closed = true,
                // On a byte stream all exchanges share the channel: there is none to abort or to end.
                Some(Transmit::Abort { .. } | Transmit::Accept { .. } | Transmit::EndSession { .. }) => {}
                None => break,
            }
        }
        &self.output[self.consumed..]
    }

    /// Marks the first `count` bytes of [`data_to_send`](Self::data_to_send) as sent; more than there are count as all.
    pub fn consume(&mut self, count: usize) {
        self.consumed = self.consumed.saturating_add(count).min(self.output.len());
        if self.consumed == self.output.len() {
            self.consumed = 0;
            self.output.clear();
            if self.output.capacity() > KEPT_GATHERED * self.gather {
                self.output = Vec::new();
            }
        }
    }

    /// True when the machine is done and everything was sent: close our side of the stream.
    pub fn is_finished(&self) -> bool {
        self.closed && self.output.is_empty()
    }

    /// False while so much waits to be polled or sent that the host should stop reading.
    pub fn wants_input(&self) -> bool {
        self.machine.wants_input() && self.output.len() - self.consumed < self.machine.limits().queued_bytes
    }

    /// The machine, for its events and state.
    pub fn machine(&self) -> &M {
        &self.machine
    }

    /// The machine, for commands and the other verbs.
    pub fn machine_mut(&mut self) -> &mut M {
        &mut self.machine
    }

    fn append(&mut self, mut message: Vec<u8>) {
        message.push(b'\n');
        // What was sent goes when it is the greater part: a peer that never catches up would make it grow for ever.
        if self.consumed > self.output.len() / 2 {
            self.output.drain(..self.consumed);
            self.consumed = 0;
        }
        if self.output.is_empty() && message.len() > self.gather {
            self.output = message;
        } else {
            self.output.extend_from_slice(&message);
        }
    }

    fn finish_partial(&mut self, now: Instant, line: &[u8]) -> Result<(), Error> {
        memory::add(&mut self.partial, line, self.keep);
        let whole = core::mem::take(&mut self.partial);
        let outcome = Self::line(&mut self.machine, now, &whole);
        self.reuse(whole);
        outcome
    }

    /// Keeps a buffer for the next line that comes in parts.
    fn reuse(&mut self, mut buffer: Vec<u8>) {
        if buffer.capacity() <= self.keep {
            buffer.clear();
            self.partial = buffer;
        }
    }

    /// Most bytes of a line that are gathered: a mark may stand before the text and a CR after it.
    fn most_gathered(&self) -> usize {
        self.machine.limits().message_bytes.saturating_add(BYTE_ORDER_MARK.len() + 1)
    }

    fn begin_partial(&mut self, now: Instant, rest: &[u8]) -> Result<(), Error> {
        if self.skipping {
            return Ok(());
        }
        let room = self.most_gathered().saturating_sub(self.partial.len());
        if rest.len() <= room {
            memory::add(&mut self.partial, rest, self.keep);
            return Ok(());
        }
        memory::add(&mut self.partial, &rest[..room], self.keep);
        self.skipping = true;
        let head = core::mem::take(&mut self.partial);
        Self::too_long(&mut self.machine, now, without_mark(&head).1)
    }

    /// Reports a line that is longer than the limit, by as much of it as the limit allows.
    fn too_long(machine: &mut M, now: Instant, line: &[u8]) -> Result<(), Error> {
        let head = line.get(..machine.limits().message_bytes).unwrap_or(line);
        machine.handle_input(now, Input::Damaged { bytes: head, violation: Violation::TooLong })
    }

    /// Hands one whole line, without its LF, to the machine.
    fn line(machine: &mut M, now: Instant, line: &[u8]) -> Result<(), Error> {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let (byte_order_mark, line) = without_mark(line);
        if is_blank(line) {
            return Ok(());
        }
        if line.len() > machine.limits().message_bytes {
            return Self::too_long(machine, now, line);
        }
        match core::str::from_utf8(line) {
            Ok(text) => {
                let facts = Facts { byte_order_mark, ..Facts::default() };
                machine.handle_input(now, Input::Message { text, facts })
            }
            Err(_) => {
                machine.handle_input(now, Input::Damaged { bytes: line, violation: Violation::NotUtf8 })
            }
        }
    }
}

fn is_blank(line: &[u8]) -> bool {
    line.iter().all(u8::is_ascii_whitespace)
}

fn without_mark(line: &[u8]) -> (bool, &[u8]) {
    match line.strip_prefix(BYTE_ORDER_MARK) {
        Some(rest) => (true, rest),
        None => (false, line),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;
    use crate::machine::{Labels, Route};
    use alloc::collections::VecDeque;
    use alloc::format;
    use alloc::string::String;

    /// Notes what it is given and sends each message back.
    #[derive(Debug, Default)]
    struct Echo {
        limits: Limits,
        seen: Vec<String>,
        transmits: VecDeque<Transmit>,
    }

    impl Machine for Echo {
        type Event = ();

        fn handle_input(&mut self, _now: Instant, input: Input<'_>) -> Result<(), Error> {
            self.seen.push(match input {
                Input::Message { text, facts } => {
                    self.transmits.push_back(Transmit::Message {
                        text: text.into(),
                        route: Route::Alone,
                        labels: Labels::default(),
                    });
                    format!("{}{text}", if facts.byte_order_mark { "marked " } else { "" })
                }
                Input::Damaged { bytes, violation } => format!("{violation:?} {}", bytes.len()),
                other => {
                    self.transmits.push_back(Transmit::Close);
                    format!("{other:?}")
                }
            });
            Ok(())
        }

        fn handle_timeout(&mut self, _now: Instant) {}

        fn poll_transmit(&mut self) -> Option<Transmit> {
            self.transmits.pop_front()
        }

        fn poll_event(&mut self) -> Option<()> {
            None
        }

        fn poll_timeout(&self) -> Option<Instant> {
            None
        }

        fn wants_input(&self) -> bool {
            true
        }

        fn limits(&self) -> &Limits {
            &self.limits
        }
    }

    fn feed(chunks: &[&[u8]]) -> Vec<String> {
        let limits = Limits { message_bytes: 20, ..Limits::default() };
        let mut stdio = Stdio::new(Echo { limits, ..Echo::default() });
        for chunk in chunks {
            stdio.receive_data(Instant::ZERO, chunk).unwrap();
            assert!(stdio.partial.len() <= 24);
        }
        stdio.receive_eof(Instant::ZERO).unwrap();
        stdio.machine.seen
    }

    const MIXED: &[u8] =
        b"{\"a\":1}\r\n\r\n  \n\xef\xbb\xbf{}\nnoise\n{\"x\":\"\xff\"}\n{\"long\":\"0123456789abcdef\"}\n[\"\xf0\x9f\x98\x80\"]\n{\"exactly\":\"twenty\"}\r\n{\"b\":";

    // proves: BASE-152
    #[test]
    fn lines_become_messages_or_damage() {
        let expected = [
            "{\"a\":1}",
            "marked {}",
            "noise",
            "NotUtf8 9",
            "TooLong 20",
            "[\"\u{1f600}\"]",
            "{\"exactly\":\"twenty\"}",
            "EndedEarly 5",
            "Closed",
        ];
        assert_eq!(feed(&[MIXED]), expected);
    }

    #[test]
    fn cuts_do_not_matter() {
        let whole: Vec<String> =
            feed(&[MIXED]).into_iter().map(|seen| seen.replace("TooLong 21", "TooLong 20")).collect();
        let same = |chunks: &[&[u8]]| {
            let seen: Vec<String> =
                feed(chunks).into_iter().map(|seen| seen.replace("TooLong 21", "TooLong 20")).collect();
            assert_eq!(seen, whole);
        };
        for cut in 0..=MIXED.len() {
            same(&[&MIXED[..cut], &MIXED[cut..]]);
        }
        let bytes: Vec<&[u8]> = MIXED.chunks(1).collect();
        same(&bytes);
    }

    #[test]
    fn a_last_line_without_an_end_counts_if_it_is_whole() {
        assert_eq!(feed(&[b"{}\n{\"c\":2}"]), ["{}", "{\"c\":2}", "Closed"]);
        assert_eq!(feed(&[b"{}\n{\"c\":2"]), ["{}", "EndedEarly 6", "Closed"]);
        assert_eq!(feed(&[b"{}\n  "]), ["{}", "Closed"]);
    }

    #[test]
    fn the_buffer_of_a_line_in_parts_is_kept_up_to_its_bound() {
        let limits = Limits { queued_bytes: 4_000, ..Limits::default() };
        let mut stdio = Stdio::new(Echo { limits, ..Echo::default() });
        // In parts of 130 bytes a buffer that doubles has room for 520 bytes, and then for 1,040.
        for (length, is_kept) in [(900, true), (999, true), (1_000, false), (600, true)] {
            let line = format!("[{}]", " ".repeat(length - 2));
            for part in line.as_bytes().chunks(130) {
                stdio.receive_data(Instant::ZERO, part).unwrap();
            }
            assert!(stdio.partial.capacity() >= length);
            stdio.receive_data(Instant::ZERO, b" \n").unwrap();
            let capacity = stdio.partial.capacity();
            assert!(
                if is_kept { capacity > length && capacity <= 1_000 } else { capacity == 0 },
                "{capacity}"
            );
        }
    }

    #[test]
    fn a_reader_that_never_catches_up_costs_no_memory() {
        let mut stdio = Stdio::new(Echo::default());
        let line = format!("[\"{}\"]\n", "x".repeat(1_000));
        let mut sent = Vec::new();
        for _ in 0..1_000 {
            stdio.receive_data(Instant::ZERO, line.as_bytes()).unwrap();
            let data = stdio.data_to_send();
            let count = data.len().min(line.len()) - usize::from(sent.is_empty());
            sent.extend_from_slice(&data[..count]);
            stdio.consume(count);
        }
        assert!(stdio.output.capacity() <= 4 * MOST_GATHERED, "{}", stdio.output.capacity());
        sent.extend_from_slice(stdio.data_to_send());
        assert_eq!(sent, line.repeat(1_000).as_bytes());
    }

    #[test]
    fn what_waits_to_be_sent_does_not_outlive_the_transport() {
        let mut stdio = Stdio::new(Echo::default());
        let long = format!("[\"{}\"]\n", "x".repeat(2 * MOST_GATHERED));
        stdio.receive_data(Instant::ZERO, long.as_bytes()).unwrap();
        stdio.receive_data(Instant::ZERO, b"[").unwrap();
        assert!(!stdio.data_to_send().is_empty());
        stdio.connection_lost(Instant::ZERO).unwrap();
        assert!(stdio.data_to_send().is_empty());
        assert!(stdio.is_finished());
        assert_eq!(stdio.machine.seen.last().map(String::as_str), Some("Lost"));
    }

    #[test]
    fn output_is_gathered_and_ends_each_message_once() {
        let mut stdio = Stdio::new(Echo::default());
        stdio.receive_data(Instant::ZERO, b"{}\n[1]\n").unwrap();
        assert_eq!(stdio.data_to_send(), b"{}\n[1]\n");
        stdio.consume(2);
        assert_eq!(stdio.data_to_send(), b"\n[1]\n");
        let long = format!("[\"{}\"]", "x".repeat(2 * MOST_GATHERED));
        stdio.receive_data(Instant::ZERO, format!("{long}\n").as_bytes()).unwrap();
        assert_eq!(stdio.data_to_send().len(), 5 + long.len() + 1);
        stdio.consume(usize::MAX);
        assert!(stdio.data_to_send().is_empty());
        assert!(!stdio.is_finished());
        stdio.receive_eof(Instant::ZERO).unwrap();
        assert!(stdio.data_to_send().is_empty());
        assert!(stdio.is_finished());
    }
}
