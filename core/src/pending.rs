//! Requests of this side that wait for the peer's answer: numbers, deadlines, progress, cancel races.
//!
//! A handle names a request for its whole life; each attempt on the wire has an id of its own, which is also
//! its progress token. Handles and ids are drawn from one counter and never used twice. The first attempt's
//! id is the handle's number, so that most answers are found in one step.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;

use crate::jsonrpc::RequestId;
use crate::machine::RequestHandle;
use crate::sorted::Sorted;
use crate::time::Instant;

/// Requests in flight, each with what its owner keeps of it.
#[derive(Debug)]
pub(crate) struct Pending<T> {
    entries: BTreeMap<u64, Box<Entry<T>>>,
    /// Handles by the ids of attempts after the first.
    renewed: BTreeMap<u64, u64>,
    deadlines: Sorted<(Instant, u64)>,
    /// Ids whose answer is no longer wanted but may still come, oldest first.
    abandoned: VecDeque<u64>,
    abandoned_limit: usize,
    last: u64,
}

#[derive(Debug)]
struct Entry<T> {
    /// The id of the current attempt.
    id: u64,
    clock: Clock,
    /// What stands in `deadlines`.
    armed: Option<Instant>,
    progress: Option<Progress>,
    /// No time passes for it.
    held: Option<Held>,
    owned: T,
}

/// A request for which no time passes.
#[derive(Clone, Copy, Debug)]
struct Held {
    since: Instant,
    /// What is armed again afterwards, later by as much.
    deadline: Option<Instant>,
}

/// How long a request may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Clock {
    /// Milliseconds with nothing heard.
    pub(crate) idle: u64,
    /// The end over all attempts, whatever is heard.
    pub(crate) end: Instant,
}

/// The last report of an attempt that asked for progress.
#[derive(Clone, Copy, Debug)]
struct Progress {
    last: Option<f64>,
}

/// A request whose time is up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Expired {
    pub(crate) request: RequestHandle,
    /// The whole of its time is up, not only a wait within it.
    pub(crate) at_end: bool,
}

impl<T> Pending<T> {
    /// `abandoned_limit` bounds how many given-up ids are remembered.
    pub(crate) fn new(abandoned_limit: usize) -> Self {
        Pending {
            entries: BTreeMap::new(),
            renewed: BTreeMap::new(),
            deadlines: Sorted::default(),
            abandoned: VecDeque::new(),
            abandoned_limit,
            last: 0,
        }
    }

    /// A number that was not used before, for a handle and the id of its first attempt.
    pub(crate) fn draw(&mut self) -> RequestHandle {
        self.last += 1;
        RequestHandle::from_number(self.last)
    }

    /// The number drawn last.
    pub(crate) const fn last(&self) -> u64 {
        self.last
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Most bytes that the list of deadlines takes to hold so many more.
    pub(crate) fn growth(&self, more: usize) -> usize {
        self.deadlines.growth(more)
    }

    /// Adds a request that has not been sent yet; only the end of its whole time is armed.
    pub(crate) fn insert(&mut self, request: RequestHandle, clock: Clock, owned: T) {
        let id = request.number();
        let entry = Entry { id, clock, armed: None, progress: None, held: None, owned };
        self.entries.insert(id, Box::new(entry));
        self.arm(request, Some(clock.end));
    }

    pub(crate) fn get(&self, request: RequestHandle) -> Option<&T> {
        self.entries.get(&request.number()).map(|entry| &entry.owned)
    }

    pub(crate) fn get_mut(&mut self, request: RequestHandle) -> Option<&mut T> {
        self.entries.get_mut(&request.number()).map(|entry| &mut entry.owned)
    }

    /// Every request with what is kept of it, in order of creation.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (RequestHandle, &T)> {
        self.entries.iter().map(|(&number, entry)| (RequestHandle::from_number(number), &entry.owned))
    }

    /// The id of the current attempt.
    pub(crate) fn id(&self, request: RequestHandle) -> Option<RequestId> {
        self.entries.get(&request.number()).map(|entry| wire_id(entry.id))
    }

    /// The number of the current attempt, which its id is made of.
    pub(crate) fn attempt(&self, request: RequestHandle) -> Option<u64> {
        self.entries.get(&request.number()).map(|entry| entry.id)
    }

    /// The request whose current attempt has this id.
    pub(crate) fn find(&self, id: &RequestId) -> Option<RequestHandle> {
        let number = u64::try_from(id.as_integer()?).ok()?;
        let handle = match self.entries.get(&number) {
            Some(entry) if entry.id == number => number,
            _ => *self.renewed.get(&number)?,
        };
        Some(RequestHandle::from_number(handle))
    }

    /// Marks that an attempt was sent at `now`: its waiting begins.
    pub(crate) fn start(&mut self, now: Instant, request: RequestHandle, wants_progress: bool) {
        if let Some(entry) = self.entries.get_mut(&request.number()) {
            entry.progress = wants_progress.then_some(Progress { last: None });
        }
        self.touch(now, request);
    }

    /// Starts the wait for silence anew.
    pub(crate) fn touch(&mut self, now: Instant, request: RequestHandle) {
        let Some(entry) = self.entries.get(&request.number()) else { return };
        let deadline = now.after(entry.clock.idle).min(entry.clock.end);
        self.arm(request, Some(deadline));
    }

    /// Starts the wait for silence anew for every request that `waits`.
    pub(crate) fn touch_all(&mut self, now: Instant, waits: impl Fn(&T) -> bool) {
        let handles: Vec<_> =
            self.iter().filter(|(_, owned)| waits(owned)).map(|(request, _)| request).collect();
        for request in handles {
            self.touch(now, request);
        }
    }

    /// Wakes at `at`, or when the whole time is up.
    pub(crate) fn wake_at(&mut self, request: RequestHandle, at: Instant) {
        let Some(entry) = self.entries.get(&request.number()) else { return };
        let deadline = at.min(entry.clock.end);
        self.arm(request, Some(deadline));
    }

    /// Waits for nothing but the end of the whole time.
    pub(crate) fn pause(&mut self, request: RequestHandle) {
        let Some(entry) = self.entries.get(&request.number()) else { return };
        let end = entry.clock.end;
        self.arm(request, Some(end));
    }

    /// Waits without any deadline from now on.
    pub(crate) fn wait_forever(&mut self, request: RequestHandle) {
        self.arm(request, None);
    }

    /// Lets no time pass for a request.
    pub(crate) fn hold(&mut self, now: Instant, request: RequestHandle) {
        let number = request.number();
        let Some(entry) = self.entries.get(&number).filter(|entry| entry.held.is_none()) else { return };
        let deadline = entry.armed;
        self.arm(request, None);
        if let Some(entry) = self.entries.get_mut(&number) {
            entry.held = Some(Held { since: now, deadline });
        }
    }

    /// Lets time go on for a request.
    pub(crate) fn release(&mut self, now: Instant, request: RequestHandle) {
        let Some(entry) = self.entries.get_mut(&request.number()) else { return };
        let Some(Held { since, deadline }) = entry.held.take() else { return };
        let held = now.since(since);
        entry.clock.end = entry.clock.end.after(held);
        self.arm(request, deadline.map(|deadline| deadline.after(held)));
    }

    pub(crate) fn hold_all(&mut self, now: Instant) {
        for request in self.entries.keys().copied().collect::<Vec<_>>() {
            self.hold(now, RequestHandle::from_number(request));
        }
    }

    pub(crate) fn release_all(&mut self, now: Instant) {
        for request in self.entries.keys().copied().collect::<Vec<_>>() {
            self.release(now, RequestHandle::from_number(request));
        }
    }

    fn arm(&mut self, request: RequestHandle, deadline: Option<Instant>) {
        let number = request.number();
        let Some(entry) = self.entries.get_mut(&number) else { return };
        if let Some(held) = &mut entry.held {
            held.deadline = deadline;
            return;
        }
        if entry.armed == deadline {
            return;
        }
        if let Some(armed) = entry.armed {
            self.deadlines.remove(&(armed, number));
        }
        if let Some(deadline) = deadline {
            self.deadlines.insert((deadline, number));
        }
        entry.armed = deadline;
    }

    /// A new id for the next attempt of a request whose last attempt was answered.
    pub(crate) fn renew(&mut self, request: RequestHandle) -> Option<RequestId> {
        let number = request.number();
        let entry = self.entries.get_mut(&number)?;
        self.renewed.remove(&entry.id);
        self.last += 1;
        entry.id = self.last;
        entry.progress = None;
        self.renewed.insert(self.last, number);
        Some(wire_id(self.last))
    }

    /// Removes a request that was answered or never sent.
    pub(crate) fn take(&mut self, request: RequestHandle) -> Option<T> {
        let number = request.number();
        let entry = self.entries.remove(&number)?;
        if let Some(armed) = entry.armed {
            self.deadlines.remove(&(armed, number));
        }
        if entry.id != number {
            self.renewed.remove(&entry.id);
        }
        Some(entry.owned)
    }

    /// Removes a request that may still be answered; that answer is then known by [`was_abandoned`](Self::was_abandoned).
    pub(crate) fn abandon(&mut self, request: RequestHandle) -> Option<T> {
        let id = self.entries.get(&request.number())?.id;
        if self.abandoned.len() >= self.abandoned_limit {
            self.abandoned.pop_front();
        }
        self.abandoned.push_back(id);
        self.take(request)
    }

    /// Whether this is the late answer to a request that was given up. It is forgotten then.
    pub(crate) fn was_abandoned(&mut self, id: &RequestId) -> bool {
        let at = id
            .as_integer()
            .and_then(|id| u64::try_from(id).ok())
            .and_then(|id| self.abandoned.iter().position(|&abandoned| abandoned == id));
        at.is_some_and(|at| self.abandoned.remove(at).is_some())
    }

    /// Notes a progress report: the request and whether the value is more than the last one. `None` if no
    /// running attempt asked for progress under this token.
    pub(crate) fn report(&mut self, token: &RequestId, progress: f64) -> Option<(RequestHandle, bool)> {
        self.report_on(self.find(token)?, progress)
    }

    /// As [`report`](Self::report), of a request that is known.
    pub(crate) fn report_on(
        &mut self,
        request: RequestHandle,
        progress: f64,
    ) -> Option<(RequestHandle, bool)> {
        let noted = self.entries.get_mut(&request.number())?.progress.as_mut()?;
        let increasing = noted.last.is_none_or(|last| progress > last);
        if increasing {
            noted.last = Some(progress);
        }
        Some((request, increasing))
    }

    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        self.deadlines.first().map(|&(deadline, _)| deadline)
    }

    /// The next request whose deadline has come. It has no deadline then until it is armed again or removed.
    pub(crate) fn expire(&mut self, now: Instant) -> Option<Expired> {
        let (deadline, number) = *self.deadlines.first()?;
        if deadline > now {
            return None;
        }
        let request = RequestHandle::from_number(number);
        let at_end = self.entries.get(&number).is_some_and(|entry| deadline >= entry.clock.end);
        self.arm(request, None);
        Some(Expired { request, at_end })
    }

    /// Removes everything, in order of creation. Nothing is armed any more.
    pub(crate) fn drain(&mut self) -> impl Iterator<Item = (RequestHandle, T)> + use<T> {
        self.deadlines.clear();
        self.renewed.clear();
        self.abandoned.clear();
        let entries = core::mem::take(&mut self.entries);
        entries.into_iter().map(|(number, entry)| (RequestHandle::from_number(number), entry.owned))
    }
}

#[allow(clippy::cast_possible_wrap, reason = "2^63 requests are never drawn")]
fn wire_id(number: u64) -> RequestId {
    RequestId::from(number as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(milliseconds: u64) -> Instant {
        Instant::from_millis(milliseconds)
    }

    fn sent(pending: &mut Pending<&'static str>, now: u64, idle: u64, total: u64) -> RequestHandle {
        let request = pending.draw();
        pending.insert(request, Clock { idle, end: at(now + total) }, "kept");
        pending.start(at(now), request, true);
        request
    }

    // proves: BASE-004 BASE-005 BASE-357
    #[test]
    fn ids_are_never_used_twice_and_change_with_each_attempt() {
        let mut pending = Pending::new(4);
        let request = sent(&mut pending, 0, 10, 100);
        let first = pending.id(request).unwrap();
        assert_eq!(pending.find(&first), Some(request));
        let second = pending.renew(request).unwrap();
        assert_ne!(first, second);
        assert_eq!(pending.find(&first), None);
        assert_eq!(pending.find(&second), Some(request));
        let other = sent(&mut pending, 0, 10, 100);
        assert!(![&first, &second].contains(&&pending.id(other).unwrap()));
        let third = pending.renew(request).unwrap();
        assert_eq!(pending.find(&second), None);
        assert_eq!(pending.take(request), Some("kept"));
        assert_eq!(pending.find(&third), None);
        assert_eq!(pending.len(), 1);
    }

    #[test]
    fn ids_are_compared_by_type_and_value() {
        let mut pending = Pending::new(4);
        let request = sent(&mut pending, 0, 10, 100);
        assert_eq!(pending.find(&RequestId::from_token("1.0").unwrap()), Some(request));
        for other in ["\"1\"", "-1", "0", "123456789012345678901"] {
            assert_eq!(pending.find(&RequestId::from_token(other).unwrap()), None, "{other}");
        }
    }

    // proves: BASE-429 BASE-431
    #[test]
    fn silence_and_the_whole_time_both_end_a_request() {
        let mut pending = Pending::new(4);
        let request = sent(&mut pending, 0, 10, 25);
        assert_eq!(pending.next_deadline(), Some(at(10)));
        assert_eq!(pending.expire(at(9)), None);
        pending.touch(at(9), request);
        assert_eq!(pending.next_deadline(), Some(at(19)));
        pending.touch(at(19), request);
        assert_eq!(pending.next_deadline(), Some(at(25)));
        assert_eq!(pending.expire(at(25)), Some(Expired { request, at_end: true }));
        assert_eq!(pending.next_deadline(), None);
        let idle = sent(&mut pending, 30, 10, 100);
        assert_eq!(pending.expire(at(40)), Some(Expired { request: idle, at_end: false }));
    }

    #[test]
    fn given_up_ids_are_remembered_within_bounds() {
        let mut pending = Pending::new(2);
        let ids: Vec<_> = (0..3)
            .map(|_| {
                let request = sent(&mut pending, 0, 10, 100);
                let id = pending.id(request).unwrap();
                assert_eq!(pending.abandon(request), Some("kept"));
                id
            })
            .collect();
        assert!(!pending.was_abandoned(&ids[0]));
        assert!(pending.was_abandoned(&ids[1]));
        assert!(!pending.was_abandoned(&ids[1]));
        assert!(pending.was_abandoned(&ids[2]));
        assert_eq!(pending.next_deadline(), None);
    }

    // proves: BASE-381 BASE-389
    #[test]
    fn progress_is_known_by_the_token_of_the_running_attempt() {
        let mut pending = Pending::new(2);
        let request = sent(&mut pending, 0, 10, 100);
        let token = pending.id(request).unwrap();
        assert_eq!(pending.report(&token, 0.5), Some((request, true)));
        assert_eq!(pending.report(&token, 0.5), Some((request, false)));
        assert_eq!(pending.report(&token, 0.75), Some((request, true)));
        let renewed = pending.renew(request).unwrap();
        assert_eq!(pending.report(&token, 1.0), None);
        assert_eq!(pending.report(&renewed, 1.0), None, "not sent yet");
        pending.start(at(0), request, true);
        assert_eq!(pending.report(&renewed, 0.1), Some((request, true)));
        pending.start(at(0), request, false);
        assert_eq!(pending.report(&renewed, 1.0), None);
    }

    #[test]
    fn draining_leaves_nothing_armed() {
        let mut pending = Pending::new(2);
        let first = sent(&mut pending, 0, 10, 100);
        let second = sent(&mut pending, 0, 10, 100);
        let drained: Vec<_> = pending.drain().map(|(request, _)| request).collect();
        assert_eq!(drained, [first, second]);
        assert_eq!((pending.next_deadline(), pending.len()), (None, 0));
    }
}
