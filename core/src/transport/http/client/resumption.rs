//! When a stream that ended is asked for again (basic/transports, 2025-11-25: Resumability and Redelivery).

use alloc::boxed::Box;

use crate::time::Instant;

/// The shortest wait, in milliseconds, whatever a server asks for: it keeps one that closes each stream at once from
/// making the client spin. It doubles with each connection that brings no message, however many new ids it tells.
const LEAST_WAIT: u64 = 10;

/// What the shortest wait grows to, in milliseconds.
const LEAST_WAIT_GROWN: u64 = 1_000;

/// The longest wait, in milliseconds, that doubling leads to.
const LONGEST_WAIT: u64 = 60_000;

/// Milliseconds for which a stream without events must have been open to count as a good one: it was cut off for
/// being idle, not refused.
const STEADY: u64 = 10_000;

/// What outlives the connections of one stream.
#[derive(Debug, Default)]
pub(super) struct Thread {
    /// The last event id that was told, over all connections.
    pub(super) last_event_id: Option<Box<str>>,
    /// Milliseconds to wait, as the server said last.
    retry: Option<u64>,
    /// Attempts in a row that brought nothing.
    fruitless: u32,
    /// Connections in a row that were answered and brought no message.
    empty: u32,
    /// When the current connection was answered.
    opened: Option<Instant>,
    /// The current connection has brought a message.
    brought: bool,
    /// Any connection was answered with a stream.
    pub(super) was_open: bool,
}

impl Thread {
    /// A connection was answered with a stream.
    pub(super) fn open(&mut self, now: Instant) {
        self.opened = Some(now);
        self.brought = false;
        self.was_open = true;
    }

    /// The connection brought a message.
    pub(super) const fn bring(&mut self) {
        self.brought = true;
    }

    /// The connection ended, having told this id and this wait.
    pub(super) fn close(&mut self, now: Instant, last_event_id: Option<&str>, retry: Option<u64>) {
        self.retry = retry.or(self.retry);
        // A connection that tells no id leaves the one before as it is.
        let is_new = last_event_id.is_some() && last_event_id != self.last_event_id.as_deref();
        if is_new {
            self.last_event_id = last_event_id.map(Into::into);
        }
        let steady = self.opened.take().is_some_and(|opened| now.since(opened) >= STEADY);
        if self.brought || is_new || steady {
            self.fruitless = 0;
        }
        self.empty = if self.brought || steady { 0 } else { self.empty.saturating_add(1) };
    }

    /// Milliseconds until the next attempt, and counts it; `None` if `attempts` in a row brought nothing. The first wait is
    /// the server's or `standard`, and doubles with each attempt that brings nothing, up to a minute.
    pub(super) fn next_wait(&mut self, standard: u64, attempts: u32) -> Option<u64> {
        if self.fruitless >= attempts {
            return None;
        }
        let wait = self.retry.unwrap_or(standard).max(LEAST_WAIT);
        let least = doubled(LEAST_WAIT, self.empty.saturating_sub(1)).min(LEAST_WAIT_GROWN);
        let doubled = doubled(wait, self.fruitless).max(least);
        self.fruitless = self.fruitless.saturating_add(1);
        // What the server asks for is never cut short.
        Some(doubled.min(LONGEST_WAIT.max(wait)))
    }
}

fn doubled(wait: u64, times: u32) -> u64 {
    wait.saturating_mul(1_u64.checked_shl(times).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use alloc::vec::Vec;

    fn at(milliseconds: u64) -> Instant {
        Instant::from_millis(milliseconds)
    }

    // proves: BASE-234
    #[test]
    fn the_wait_is_the_servers_and_doubles_while_attempts_bring_nothing() {
        let mut thread = Thread::default();
        thread.open(at(0));
        thread.close(at(50), Some("1"), Some(500));
        assert_eq!(thread.next_wait(1_000, 3), Some(500));
        // No connection.
        assert_eq!(thread.next_wait(1_000, 3), Some(1_000));
        // A connection without anything.
        thread.open(at(2_000));
        thread.close(at(2_001), None, None);
        assert_eq!(thread.next_wait(1_000, 3), Some(2_000));
        assert_eq!(thread.next_wait(1_000, 3), None);
        assert_eq!(thread.last_event_id.as_deref(), Some("1"));
    }

    #[test]
    fn an_attempt_that_brings_something_starts_the_count_anew() {
        let brings: [fn(&mut Thread); 3] = [
            |thread| {
                thread.open(at(0));
                thread.bring();
                thread.close(at(1), None, None);
            },
            |thread| {
                thread.open(at(0));
                thread.close(at(1), Some("new"), None);
            },
            |thread| {
                thread.open(at(0));
                thread.close(at(STEADY), Some("old"), None);
            },
        ];
        for bring in brings {
            let mut thread = Thread::default();
            thread.open(at(0));
            thread.close(at(1), Some("old"), None);
            for _ in 0..3 {
                assert!(thread.next_wait(1_000, 3).is_some());
            }
            bring(&mut thread);
            assert_eq!(thread.next_wait(1_000, 3), Some(1_000));
        }
    }

    #[test]
    fn a_server_that_only_tells_ids_is_not_asked_in_a_hurry() {
        let mut thread = Thread::default();
        let mut poll = |id: &str, brings| {
            thread.open(at(0));
            if brings {
                thread.bring();
            }
            thread.close(at(1), Some(id), Some(0));
            thread.next_wait(1_000, 3)
        };
        let waits: Vec<_> = (0..9).filter_map(|number| poll(&format!("{number}"), false)).collect();
        assert_eq!(waits, [10, 20, 40, 80, 160, 320, 640, 1_000, 1_000]);
        assert_eq!(poll("a", true), Some(LEAST_WAIT));
    }

    #[test]
    fn no_wait_is_too_short_or_overflows() {
        let mut thread = Thread::default();
        thread.close(at(0), Some("1"), Some(0));
        assert_eq!(thread.next_wait(1_000, 100), Some(LEAST_WAIT));
        for _ in 0..20 {
            thread.next_wait(1_000, 100);
        }
        assert_eq!(thread.next_wait(1_000, 100), Some(LONGEST_WAIT));
        thread.close(at(0), Some("2"), Some(u64::MAX));
        for _ in 0..100 {
            assert_eq!(thread.next_wait(1_000, 100), Some(u64::MAX));
        }
        assert_eq!(thread.next_wait(1_000, 100), None);
    }
}
