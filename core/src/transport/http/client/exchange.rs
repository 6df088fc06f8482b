//! The exchanges that are open, each with what it is for and how far it is, and the table that finds them.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use crate::machine::{ExchangeHandle, RequestHandle};
use crate::time::Instant;
use crate::transport::http::media::Media;
use crate::transport::http::status::Asked;
use crate::transport::sse::SseReader;

use super::HttpRequest;
use super::resumption::Thread;

/// One message or stream on its way: an HTTP request with its response, or the wait between two of them.
#[derive(Debug)]
pub(super) struct Exchange {
    pub(super) purpose: Purpose,
    /// What was asked, as far as the meaning of a status depends on it.
    pub(super) asked: Asked,
    /// Which session it belongs to.
    pub(super) session: u64,
    pub(super) stage: Stage,
    /// The request, while it may have to be sent again.
    pub(super) copy: Option<Box<HttpRequest>>,
    /// How often it met 401 or 403.
    pub(super) challenges: u32,
    /// What is known of its stream for resuming it.
    pub(super) thread: Thread,
    deadline: Option<Instant>,
}

/// What an exchange is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// It carries an attempt of a request, or goes on with its response.
    Request {
        request: RequestHandle,
        /// Which attempt, if one was waiting when it was sent.
        attempt: Option<u64>,
    },
    /// It carries a notification or a response.
    Notice {
        /// The request that the notification takes back.
        withdraws: Option<RequestHandle>,
    },
    /// It is the stream of a session that belongs to no request.
    Standalone,
    /// It is the stream of HTTP+SSE.
    Channel,
    /// It ends a session.
    EndOfSession,
    /// It has brought what it could; what else comes is passed over.
    Spent,
}

/// How far an exchange is.
#[derive(Debug)]
pub(super) enum Stage {
    /// It was sent; the head of the response is awaited.
    Sent,
    /// The body of the response is gathered.
    Body { status: u16, media: Media, bytes: Vec<u8> },
    /// The body is a stream of events.
    Stream(Box<SseReader>),
    /// What comes is passed over.
    Ignored,
    /// Its stream has ended, and is asked for again when its time comes.
    Dormant,
    /// It waits for the host to authorize it.
    Challenged {
        status: u16,
        /// The refusal has ended.
        is_over: bool,
    },
}

impl Exchange {
    pub(super) fn new(purpose: Purpose, asked: Asked, session: u64) -> Exchange {
        Exchange {
            purpose,
            asked,
            session,
            stage: Stage::Sent,
            copy: None,
            challenges: 0,
            thread: Thread::default(),
            deadline: None,
        }
    }

    /// Whether it goes on with the response to a request, which came in another exchange.
    pub(super) const fn is_resumed(&self) -> bool {
        matches!((self.purpose, self.asked), (Purpose::Request { .. }, Asked::Stream { .. }))
    }

    /// Whether the host has something to give up.
    pub(super) const fn is_under_way(&self) -> bool {
        !matches!(self.stage, Stage::Dormant | Stage::Challenged { is_over: true, .. })
    }

    pub(super) const fn is_armed(&self) -> bool {
        self.deadline.is_some()
    }
}

/// Every open exchange.
#[derive(Debug, Default)]
pub(super) struct Table {
    exchanges: BTreeMap<ExchangeHandle, Exchange>,
    by_request: BTreeMap<RequestHandle, ExchangeHandle>,
    deadlines: BTreeSet<(Instant, ExchangeHandle)>,
    notices: usize,
    last: u64,
}

impl Table {
    pub(super) fn insert(&mut self, exchange: Exchange) -> ExchangeHandle {
        self.last += 1;
        let handle = ExchangeHandle::from_number(self.last);
        self.place(handle, exchange);
        handle
    }

    fn place(&mut self, handle: ExchangeHandle, exchange: Exchange) {
        match exchange.purpose {
            Purpose::Request { request, .. } => {
                self.by_request.insert(request, handle);
            }
            Purpose::Notice { .. } => self.notices += 1,
            _ => {}
        }
        let deadline = exchange.deadline;
        self.exchanges.insert(handle, exchange);
        self.deadlines.extend(deadline.map(|deadline| (deadline, handle)));
    }

    pub(super) fn remove(&mut self, handle: ExchangeHandle) -> Option<Exchange> {
        let exchange = self.exchanges.remove(&handle)?;
        match exchange.purpose {
            Purpose::Request { request, .. } if self.by_request.get(&request) == Some(&handle) => {
                self.by_request.remove(&request);
            }
            Purpose::Notice { .. } => self.notices -= 1,
            _ => {}
        }
        if let Some(deadline) = exchange.deadline {
            self.deadlines.remove(&(deadline, handle));
        }
        Some(exchange)
    }

    /// Marks that an exchange has brought what it could, although its response goes on; until `deadline`.
    pub(super) fn retire(&mut self, handle: ExchangeHandle, deadline: Instant) {
        if let Some(exchange) = self.remove(handle) {
            self.leave_spent(handle, &exchange, deadline);
        }
    }

    fn leave_spent(&mut self, handle: ExchangeHandle, exchange: &Exchange, deadline: Instant) {
        if exchange.is_under_way() {
            let mut spent = Exchange::new(Purpose::Spent, exchange.asked, exchange.session);
            spent.stage = Stage::Ignored;
            spent.deadline = Some(deadline);
            self.place(handle, spent);
        }
    }

    /// Goes on with an exchange under another handle, so that reports about the old HTTP request cannot be taken for
    /// the new one's. The response to that has until `deadline`.
    pub(super) fn renew(&mut self, handle: ExchangeHandle, deadline: Instant) -> Option<ExchangeHandle> {
        let mut exchange = self.remove(handle)?;
        self.leave_spent(handle, &exchange, deadline);
        exchange.deadline = None;
        exchange.stage = Stage::Dormant;
        Some(self.insert(exchange))
    }

    pub(super) fn get(&self, handle: ExchangeHandle) -> Option<&Exchange> {
        self.exchanges.get(&handle)
    }

    pub(super) fn get_mut(&mut self, handle: ExchangeHandle) -> Option<&mut Exchange> {
        self.exchanges.get_mut(&handle)
    }

    /// The exchange that carries the last attempt of a request.
    pub(super) fn of_request(&self, request: RequestHandle) -> Option<ExchangeHandle> {
        self.by_request.get(&request).copied()
    }

    /// The exchanges of requests that may still bring something.
    pub(super) fn open_requests(&self) -> impl Iterator<Item = (ExchangeHandle, &Exchange)> {
        let exchanges = self.by_request.values().filter_map(|&handle| Some((handle, self.get(handle)?)));
        exchanges.filter(|(_, exchange)| !exchange.is_armed())
    }

    pub(super) fn handles(&self) -> Vec<ExchangeHandle> {
        self.exchanges.keys().copied().collect()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.exchanges.is_empty()
    }

    /// How many notifications and responses are on their way.
    pub(super) const fn notices(&self) -> usize {
        self.notices
    }

    /// Sets the one deadline of an exchange, or takes it away.
    pub(super) fn arm(&mut self, handle: ExchangeHandle, deadline: Option<Instant>) {
        let Some(exchange) = self.exchanges.get_mut(&handle) else { return };
        if let Some(armed) = core::mem::replace(&mut exchange.deadline, deadline) {
            self.deadlines.remove(&(armed, handle));
        }
        self.deadlines.extend(deadline.map(|deadline| (deadline, handle)));
    }

    pub(super) fn next_deadline(&self) -> Option<Instant> {
        self.deadlines.first().map(|&(deadline, _)| deadline)
    }

    /// The next exchange whose deadline has come. It has none then until it is armed again.
    pub(super) fn expire(&mut self, now: Instant) -> Option<ExchangeHandle> {
        let &(deadline, handle) = self.deadlines.first()?;
        if deadline > now {
            return None;
        }
        self.arm(handle, None);
        Some(handle)
    }
}
