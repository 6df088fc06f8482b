//! Events of legacy streams, kept for clients that reconnect; bounded by count, bytes and age.

use alloc::collections::{BTreeMap, VecDeque};
use alloc::string::String;

use crate::time::Instant;

/// What an event costs beside its data.
const OVERHEAD: usize = 128;

#[derive(Debug)]
struct Kept {
    stream: u64,
    data: String,
    at: Instant,
}

/// The events of all streams. Each has a number that is greater than those before it.
#[derive(Debug, Default)]
pub(super) struct EventStore {
    events: BTreeMap<u64, Kept>,
    streams: BTreeMap<u64, VecDeque<u64>>,
    bytes: usize,
}

/// The bounds of a store.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    pub(super) events: usize,
    pub(super) bytes: usize,
}

impl EventStore {
    /// Keeps an event. Older ones make room for it, those of its stream or of all, and it is let go itself if it is
    /// too large; the streams that have lost their last event are told to `emptied`.
    pub(super) fn append(
        &mut self,
        now: Instant,
        bounds: Bounds,
        (stream, number): (u64, u64),
        data: String,
        mut emptied: impl FnMut(u64),
    ) {
        self.bytes += data.len() + OVERHEAD;
        self.events.insert(number, Kept { stream, data, at: now });
        let numbers = self.streams.entry(stream).or_default();
        numbers.push_back(number);
        if numbers.len() > bounds.events
            && let Some(oldest) = numbers.pop_front()
        {
            if numbers.is_empty() {
                self.streams.remove(&stream);
                emptied(stream);
            }
            if let Some(kept) = self.events.remove(&oldest) {
                self.bytes -= kept.data.len() + OVERHEAD;
            }
        }
        while self.bytes > bounds.bytes {
            self.drop_oldest(&mut emptied);
        }
    }

    /// Lets go of what was kept before `before`.
    pub(super) fn expire(&mut self, before: Instant, mut emptied: impl FnMut(u64)) {
        while self.oldest().is_some_and(|oldest| oldest <= before) {
            self.drop_oldest(&mut emptied);
        }
    }

    /// Lets go of the oldest event.
    fn drop_oldest(&mut self, emptied: &mut impl FnMut(u64)) {
        let Some((_, kept)) = self.events.pop_first() else {
            self.bytes = 0;
            return;
        };
        self.bytes -= kept.data.len() + OVERHEAD;
        let Some(numbers) = self.streams.get_mut(&kept.stream) else { return };
        // Numbers only grow, so that the oldest of all is the oldest of its stream.
        numbers.pop_front();
        if numbers.is_empty() {
            self.streams.remove(&kept.stream);
            emptied(kept.stream);
        }
    }

    /// When the oldest event was kept.
    pub(super) fn oldest(&self) -> Option<Instant> {
        self.events.first_key_value().map(|(_, kept)| kept.at)
    }

    /// The events of a stream behind the one of this number.
    pub(super) fn after(&self, stream: u64, number: u64) -> impl Iterator<Item = (u64, &str)> {
        let numbers = self.streams.get(&stream).into_iter().flatten();
        let from = numbers.skip_while(move |kept| **kept <= number);
        from.filter_map(|number| Some((*number, self.events.get(number)?.data.as_str())))
    }

    /// Whether anything is kept of a stream.
    pub(super) fn has(&self, stream: u64) -> bool {
        self.streams.contains_key(&stream)
    }

    /// Lets go of all events of a stream.
    pub(super) fn forget(&mut self, stream: u64) {
        for number in self.streams.remove(&stream).unwrap_or_default() {
            if let Some(kept) = self.events.remove(&number) {
                self.bytes -= kept.data.len() + OVERHEAD;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    const BOUNDS: Bounds = Bounds { events: 3, bytes: 10 * (OVERHEAD + 1) };

    fn filled(events: &[(u64, &str)]) -> (EventStore, Vec<u64>) {
        let (mut store, mut emptied) = (EventStore::default(), Vec::new());
        for (at, (stream, data)) in events.iter().enumerate() {
            let now = Instant::from_millis(at as u64);
            store.append(now, BOUNDS, (*stream, at as u64), (*data).into(), |stream| emptied.push(stream));
        }
        (store, emptied)
    }

    fn after(store: &EventStore, stream: u64, number: u64) -> Vec<u64> {
        store.after(stream, number).map(|(number, _)| number).collect()
    }

    // proves: BASE-252
    #[test]
    fn what_followed_on_a_stream_is_found_and_nothing_of_others() {
        let (store, _) = filled(&[(1, "a"), (2, "b"), (1, "c"), (2, "d")]);
        assert_eq!(store.after(1, 0).collect::<Vec<_>>(), [(2, "c")]);
        assert_eq!(after(&store, 2, 0), [1, 3]);
        assert_eq!(after(&store, 2, 3), [0; 0]);
        assert_eq!(after(&store, 9, 0), [0; 0]);
    }

    #[test]
    fn the_oldest_make_room() {
        let (store, emptied) = filled(&[(1, "a"), (1, "b"), (1, "c"), (1, "d")]);
        assert_eq!(after(&store, 1, 0), [1, 2, 3]);
        assert_eq!(emptied, [0; 0]);
        let many: Vec<_> = (0..13).map(|at| (at, "x")).collect();
        let (store, emptied) = filled(&many);
        assert_eq!(emptied, [0, 1, 2]);
        assert_eq!(store.events.len(), 10);
        assert!(store.bytes <= BOUNDS.bytes);
    }

    #[test]
    fn what_is_larger_than_all_room_is_not_kept() {
        let (mut store, _) = filled(&[(1, "a")]);
        let mut emptied = Vec::new();
        let large = "x".repeat(BOUNDS.bytes);
        store.append(Instant::ZERO, BOUNDS, (2, 7), large, |stream| emptied.push(stream));
        assert_eq!((emptied, store.bytes, store.events.len()), (Vec::from([1, 2]), 0, 0));
    }

    #[test]
    fn age_and_the_end_of_a_stream_take_events_away() {
        let (mut store, _) = filled(&[(1, "a"), (2, "b"), (1, "c")]);
        let mut emptied = Vec::new();
        store.expire(Instant::from_millis(1), |stream| emptied.push(stream));
        assert_eq!(emptied, [2]);
        assert_eq!(store.oldest(), Some(Instant::from_millis(2)));
        store.forget(1);
        store.forget(1);
        assert_eq!((store.oldest(), store.bytes, store.has(1)), (None, 0, false));
    }
}
