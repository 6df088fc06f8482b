//! What waits to be sent and to be told, with the bounds that make the host stop reading.

use alloc::collections::VecDeque;
use alloc::string::String;

use crate::limits::Limits;
use crate::machine::{Labels, Route, Transmit};

/// Once a queue is empty, room for more than its bound divided by this is given back, so that a burst costs nothing
/// for ever: 256 places by default.
const KEPT_PART: usize = 16;

/// The two queues of a machine.
#[derive(Debug)]
pub(crate) struct Queues<Event> {
    transmits: VecDeque<Transmit>,
    /// Bytes of the messages in `transmits`.
    bytes: usize,
    /// Each event with the bytes of the message that brought it.
    events: VecDeque<(Event, usize)>,
    /// Bytes of the messages that brought what is in `events`.
    event_bytes: usize,
    /// Bytes of the message at hand, until an event has been charged with them.
    arriving: usize,
    /// Room for so many is kept when a queue is empty.
    kept: usize,
}

impl<Event> Queues<Event> {
    pub(crate) fn new(limits: &Limits) -> Self {
        Queues {
            transmits: VecDeque::new(),
            bytes: 0,
            events: VecDeque::new(),
            event_bytes: 0,
            arriving: 0,
            kept: limits.queued_events / KEPT_PART,
        }
    }

    /// Queues a message.
    pub(crate) fn send(&mut self, mut text: String, route: Route, labels: Labels) {
        self.bytes += text.len();
        // For the line end of a byte stream: nothing is allocated any more when the message is polled.
        text.reserve(1);
        make_room(&mut self.transmits);
        self.transmits.push_back(Transmit::Message { text, route, labels });
    }

    /// Queues anything but a message.
    pub(crate) fn transmit(&mut self, transmit: Transmit) {
        debug_assert!(!matches!(transmit, Transmit::Message { .. }));
        make_room(&mut self.transmits);
        self.transmits.push_back(transmit);
    }

    /// Forgets what waits to be sent, as nobody is left to take it.
    pub(crate) fn discard_transmits(&mut self) {
        self.transmits.clear();
        self.bytes = 0;
    }

    /// Notes that input of so many bytes is at hand: the first event that it brings keeps it in memory.
    pub(crate) fn arrive(&mut self, bytes: usize) {
        self.arriving = bytes;
    }

    /// Queues an event that must not be lost: one that settles a request, or is bounded by another limit.
    pub(crate) fn tell(&mut self, event: Event) {
        let bytes = core::mem::take(&mut self.arriving);
        self.event_bytes += bytes;
        make_room(&mut self.events);
        self.events.push_back((event, bytes));
    }

    /// Whether an event that a peer can repeat at will must be dropped. Its sender was to be stopped at half
    /// of this by [`wants_input`](Self::wants_input).
    pub(crate) fn is_full(&self, limits: &Limits) -> bool {
        self.events.len() >= limits.queued_events.saturating_mul(2)
            || self.event_bytes >= limits.queued_bytes.saturating_mul(2)
    }

    /// Whether a message that may be left out, such as a progress report, must be: so much waits to be sent that
    /// the peer seems to have stopped reading.
    pub(crate) fn is_clogged(&self, limits: &Limits) -> bool {
        self.bytes >= limits.queued_bytes.saturating_mul(2)
    }

    /// Most bytes that the queues take to hold so many more.
    pub(crate) fn growth(&self, events: usize, transmits: usize) -> usize {
        growth(&self.events, events) + growth(&self.transmits, transmits)
    }

    pub(crate) fn wants_input(&self, limits: &Limits) -> bool {
        self.events.len() < limits.queued_events
            && self.event_bytes < limits.queued_bytes
            && self.bytes < limits.queued_bytes
    }

    pub(crate) fn poll_transmit(&mut self) -> Option<Transmit> {
        let transmit = self.transmits.pop_front()?;
        if let Transmit::Message { text, .. } = &transmit {
            self.bytes -= text.len();
        }
        give_back(&mut self.transmits, self.kept);
        Some(transmit)
    }

    pub(crate) fn poll_event(&mut self) -> Option<Event> {
        let (event, bytes) = self.events.pop_front()?;
        self.event_bytes -= bytes;
        give_back(&mut self.events, self.kept);
        Some(event)
    }
}

/// Makes room for one more. Few wait at most times: room grows from one place, not from the four that a queue would
/// begin with.
fn make_room<T>(queue: &mut VecDeque<T>) {
    if queue.len() == queue.capacity() {
        queue.reserve_exact(queue.len().max(1));
    }
}

/// What longer queues take until there is room for so many more. Each takes the place of a shorter one, which is still there
/// then, and leaves it of no use for the next.
fn growth<T>(queue: &VecDeque<T>, more: usize) -> usize {
    let (mut places, mut all) = (queue.capacity(), 0);
    while places < queue.len() + more {
        places = (2 * places).max(1);
        all += places;
    }
    all * size_of::<T>()
}

fn give_back<T>(queue: &mut VecDeque<T>, kept: usize) {
    if queue.is_empty() && queue.capacity() > kept {
        *queue = VecDeque::new();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_for_a_burst_is_given_back() {
        let limits = Limits::default();
        let kept = limits.queued_events / KEPT_PART;
        let mut queues = Queues::new(&limits);
        for number in 0..10 * kept {
            queues.tell(number);
            queues.send("x".into(), Route::Alone, Labels::default());
        }
        for number in 0..10 * kept {
            assert_eq!(queues.poll_event(), Some(number));
            assert!(queues.poll_transmit().is_some());
        }
        assert!(queues.poll_event().is_none() && queues.poll_transmit().is_none());
        assert!(queues.events.capacity() <= kept && queues.transmits.capacity() <= kept);
        assert_eq!((queues.bytes, queues.event_bytes), (0, 0));
    }
}
