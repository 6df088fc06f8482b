//! Bounds on everything a peer can make the core keep.

/// What a machine will hold at most. Reaching a bound is a typed refusal, never growth.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes of one inbound message (one line on a byte stream). Default 16 MiB.
    pub message_bytes: usize,
    /// Levels of nesting of one inbound message. Default 128, at most [`MAX_DEPTH`](crate::MAX_DEPTH).
    pub depth: usize,
    /// Requests in flight, each direction counted alone. A request above it is answered with an error
    /// (inbound) or refused (outbound). A server at half of it stops wanting input, unless it waits for answers
    /// of its client or none of its requests has ended for a second. On HTTP those of all clients count. Default 2048.
    pub requests_in_flight: usize,
    /// Requests accepted before the peer's era and revision are settled. Default 256.
    pub queued_requests: usize,
    /// Events waiting to be polled at which [`wants_input`](crate::Machine::wants_input) turns false;
    /// notifications that arrive when twice as many wait are discarded and counted. Default 4096.
    pub queued_events: usize,
    /// Bytes of messages waiting to be sent, or of messages whose events wait to be polled, at which
    /// [`wants_input`](crate::Machine::wants_input) turns false. At twice as much, requests are answered with an
    /// error and notifications are discarded. Default 8 MiB.
    pub queued_bytes: usize,
    /// Elements of a JSON-RPC batch (2025-03-26). Default 256.
    pub batch_items: usize,
    /// Sessions of one server; on HTTP also, counted alone, its subscriptions from 2026-07-28 on. Default 10 000.
    pub sessions: usize,
    /// Open subscriptions of one connection or session. Default 256.
    pub subscriptions: usize,
    /// Resource URIs watched over all subscriptions of one connection or session, or by one subscription on HTTP from
    /// 2026-07-28 on. Default 1024.
    pub watched_resources: usize,
    /// Rounds of one multi round-trip request. Default 10.
    pub rounds: u32,
    /// Questions in one round. Default 32.
    pub inputs: usize,
    /// Bytes of a `requestState`, sent or received. Default 64 KiB.
    pub request_state_bytes: usize,
    /// Items on one page of a list result; at least one stands there. Default 1000.
    pub page_items: usize,
    /// Bytes of the items on one page of a list result, for links and peers that take little at once. An item that
    /// alone is longer has a page to itself. Default 1 MiB.
    pub page_bytes: usize,
}

impl Limits {
    /// Bounds for a server on a byte stream that has this many bytes of memory for everything it keeps: a message, a
    /// page and what waits to be sent take an eighth each at most. From 8 KiB on; less counts as that.
    ///
    /// Bounds alone keep no allocation from failing, as what is kept adds up: see [`Measured`](crate::Measured).
    #[must_use]
    pub fn for_memory(bytes: usize) -> Limits {
        let bytes = bytes.max(8 << 10);
        let part = bytes / 8;
        // One for each so many bytes, up to the default.
        let one_in = |size: usize, most: usize| (bytes / size).clamp(2, most);
        let most = Limits::default();
        Limits {
            message_bytes: part.min(most.message_bytes),
            depth: 32,
            requests_in_flight: one_in(4 << 10, most.requests_in_flight),
            queued_requests: one_in(4 << 10, most.queued_requests),
            queued_events: one_in(4 << 10, most.queued_events),
            queued_bytes: part.min(most.queued_bytes),
            batch_items: one_in(4 << 10, most.batch_items),
            sessions: one_in(4 << 10, most.sessions),
            subscriptions: one_in(8 << 10, most.subscriptions),
            watched_resources: one_in(4 << 10, most.watched_resources),
            rounds: most.rounds,
            inputs: one_in(4 << 10, most.inputs),
            request_state_bytes: part.min(most.request_state_bytes),
            page_items: most.page_items,
            page_bytes: part.min(most.page_bytes),
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            message_bytes: 16 << 20,
            depth: 128,
            requests_in_flight: 2048,
            queued_requests: 256,
            queued_events: 4096,
            queued_bytes: 8 << 20,
            batch_items: 256,
            sessions: 10_000,
            subscriptions: 256,
            watched_resources: 1024,
            rounds: 10,
            inputs: 32,
            request_state_bytes: 64 << 10,
            page_items: 1000,
            page_bytes: 1 << 20,
        }
    }
}
