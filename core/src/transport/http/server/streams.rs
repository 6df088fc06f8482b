//! Streams of legacy sessions that outlive the connections which carry them: ids of events, replay, resumption
//! (basic/transports, Resumability and Redelivery).
//!
//! A stream is named by the number of the exchange that began it, which is how the machine speaks of it whichever
//! exchange carries it now. The id of an event is `<process>.<stream>.<number>`; the first part is random, so that ids
//! of several processes do not meet in a store that they share.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write as _;

use crate::machine::{ExchangeHandle, SessionHandle};
use crate::seed::{Generator, Seed};
use crate::time::Instant;

use super::event_store::{Bounds, EventStore};
use super::values::EventKeeping;

/// Random bytes in the name of a process; 9 make 12 characters.
const PROCESS_BYTES: usize = 9;

#[derive(Debug)]
pub(super) struct Stream {
    pub(super) session: SessionHandle,
    /// The exchange that carries it now.
    pub(super) carrier: Option<ExchangeHandle>,
    /// Its last event was told, or never will be.
    pub(super) is_finished: bool,
    /// A number before those of all its events, for the event that it begins with.
    pub(super) first: Option<u64>,
    /// The number of the last event that was given to an exchange.
    pub(super) carried: u64,
    /// The number of the last event.
    pub(super) last: u64,
}

/// The streams that can be resumed, and those of sessions that belong to no request.
#[derive(Debug)]
pub(super) struct Streams {
    all: BTreeMap<u64, Stream>,
    by_session: BTreeSet<(SessionHandle, u64)>,
    store: EventStore,
    keeping: EventKeeping,
    process: Box<str>,
    /// The number of the last event of all.
    last_event: u64,
    /// Room for an id that is being written.
    id: String,
}

/// An exchange that waits for events that the host keeps.
#[derive(Debug)]
pub(super) struct Replay {
    /// The id behind which they are wanted.
    pub(super) after: Box<str>,
    /// What came on the stream meanwhile.
    pub(super) held: Vec<(u64, String)>,
    pub(super) held_bytes: usize,
}

/// What an event id names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct EventId<'a> {
    /// The name of the stream, as the store has it.
    pub(super) stream: &'a str,
    /// The stream itself, if it is one of this process.
    pub(super) number: Option<u64>,
    pub(super) event: u64,
}

impl Streams {
    pub(super) fn new(seed: &Seed, keeping: EventKeeping) -> Streams {
        Streams {
            all: BTreeMap::new(),
            by_session: BTreeSet::new(),
            store: EventStore::default(),
            keeping,
            process: Generator::new(seed, "event id").token(PROCESS_BYTES).into(),
            last_event: 0,
            id: String::new(),
        }
    }

    /// Whether events have ids.
    pub(super) fn are_kept(&self) -> bool {
        self.keeping != EventKeeping::None
    }

    pub(super) fn are_external(&self) -> bool {
        self.keeping == EventKeeping::External
    }

    pub(super) fn get(&self, number: u64) -> Option<&Stream> {
        self.all.get(&number)
    }

    pub(super) fn get_mut(&mut self, number: u64) -> Option<&mut Stream> {
        self.all.get_mut(&number)
    }

    pub(super) fn insert(&mut self, number: u64, session: SessionHandle, carrier: Option<ExchangeHandle>) {
        let stream = Stream { session, carrier, is_finished: false, first: None, carried: 0, last: 0 };
        self.all.insert(number, stream);
        self.by_session.insert((session, number));
    }

    /// The number of the next event of a stream.
    pub(super) fn draw(&mut self, number: u64) -> u64 {
        self.last_event += 1;
        if let Some(stream) = self.all.get_mut(&number) {
            stream.last = self.last_event;
        }
        self.last_event
    }

    /// The name of a stream in a store.
    pub(super) fn name(&self, number: u64) -> Box<str> {
        alloc::format!("{}.{number}", self.process).into()
    }

    /// The id of an event; none if events have none.
    pub(super) fn id(&mut self, number: u64, event: u64) -> Option<&str> {
        if !self.are_kept() {
            return None;
        }
        self.id.clear();
        // Writing to a string does not fail.
        let _ = write!(self.id, "{}.{number}.{event}", self.process);
        Some(&self.id)
    }

    /// What an id names; `None` for what is no id of ours.
    pub(super) fn read_id<'a>(&self, id: &'a str) -> Option<EventId<'a>> {
        let (stream, event) = id.rsplit_once('.')?;
        let (process, number) = stream.rsplit_once('.')?;
        let (number, event) = (number_of(number)?, number_of(event)?);
        Some(EventId { stream, number: (*process == *self.process).then_some(number), event })
    }

    /// Keeps an event in memory, if that is where they are kept.
    pub(super) fn keep(&mut self, now: Instant, number: u64, event: u64, data: String) {
        let EventKeeping::Memory { events, bytes, .. } = self.keeping else { return };
        let mut emptied = Vec::new();
        let bounds = Bounds { events, bytes };
        self.store.append(now, bounds, (number, event), data, |stream| emptied.push(stream));
        self.drop_finished(&emptied);
    }

    /// Lets go of events that are too old.
    pub(super) fn expire(&mut self, now: Instant) {
        let EventKeeping::Memory { age, .. } = self.keeping else { return };
        let mut emptied = Vec::new();
        let Some(before) = now.as_millis().checked_sub(age) else { return };
        self.store.expire(Instant::from_millis(before), |stream| emptied.push(stream));
        self.drop_finished(&emptied);
    }

    /// When the next event will be too old.
    pub(super) fn next_expiry(&self) -> Option<Instant> {
        let EventKeeping::Memory { age, .. } = self.keeping else { return None };
        Some(self.store.oldest()?.after(age))
    }

    /// A finished stream of which nothing is kept is of no use to anybody.
    fn drop_finished(&mut self, emptied: &[u64]) {
        for number in emptied {
            if self.all.get(number).is_some_and(|stream| stream.is_finished) {
                self.remove(*number);
            }
        }
    }

    /// The events of a stream behind one, with their numbers: as many as make `bytes` together, but at least one. Whether
    /// these are all.
    pub(super) fn after(&self, number: u64, event: u64, bytes: usize) -> (Vec<(u64, String)>, bool) {
        let (mut found, mut total) = (Vec::new(), 0_usize);
        for (event, data) in self.store.after(number, event) {
            total = total.saturating_add(data.len());
            if total > bytes && !found.is_empty() {
                return (found, false);
            }
            found.push((event, data.into()));
        }
        (found, true)
    }

    /// The last event of a stream was told. It stays as long as something of it is kept here.
    pub(super) fn finish(&mut self, number: u64) {
        if let Some(stream) = self.all.get_mut(&number) {
            stream.is_finished = true;
            if !self.store.has(number) {
                self.remove(number);
            }
        }
    }

    pub(super) fn remove(&mut self, number: u64) -> Option<Stream> {
        self.store.forget(number);
        let stream = self.all.remove(&number)?;
        self.by_session.remove(&(stream.session, number));
        Some(stream)
    }

    /// The streams of a session.
    pub(super) fn of_session(&self, session: SessionHandle) -> Vec<u64> {
        self.by_session.range((session, 0)..=(session, u64::MAX)).map(|(_, number)| *number).collect()
    }
}

fn number_of(digits: &str) -> Option<u64> {
    let is_number = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
    is_number.then(|| digits.parse().ok())?
}
