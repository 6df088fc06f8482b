//! All that the transport knows, whatever the machine behind it: exchanges, sessions, streams, and what waits.

use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::vec::Vec;

use crate::limits::Limits;
use crate::machine::{ExchangeHandle, SessionHandle};
use crate::memory;
use crate::time::Instant;
use crate::transport::http::status::Refusal;
use crate::transport::sse::write_comment;

use super::exchange::{Exchange, Notice, Phase};
use super::http_sse::Channels;
use super::sessions::{Outlet, Sessions};
use super::streams::Streams;
use super::values::{Denial, HttpServerConfig, HttpServerEvent, ResponsePart};

/// What the machine has to be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Report {
    Gone(ExchangeHandle),
    SessionEnded(SessionHandle),
}

/// Whether requests are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Intake {
    Open,
    /// No more; what is in flight goes on.
    ShutDown,
    /// The machine will say nothing more.
    Closed,
}

#[derive(Debug)]
pub(super) struct State {
    pub(super) config: HttpServerConfig,
    /// The latest time seen.
    pub(super) now: Instant,
    pub(super) session_limit: usize,
    /// Bytes that may wait in one exchange before what can be left out is.
    pub(super) queued_bytes: usize,
    pub(super) exchanges: BTreeMap<ExchangeHandle, Exchange>,
    drawn: u64,
    ready: VecDeque<ExchangeHandle>,
    /// When to look after exchanges that may be silent for too long.
    silence: BTreeSet<(Instant, ExchangeHandle)>,
    pub(super) sessions: Sessions,
    pub(super) streams: Streams,
    pub(super) channels: Channels,
    pub(super) reports: VecDeque<Report>,
    pub(super) events: VecDeque<HttpServerEvent>,
    pub(super) intake: Intake,
    /// An empty buffer for the next body that comes in pieces, and how large one may be that is kept.
    pub(super) spare: Vec<u8>,
    pub(super) most_kept: usize,
}

impl State {
    pub(super) fn new(config: HttpServerConfig, limits: &Limits) -> State {
        State {
            now: Instant::ZERO,
            session_limit: limits.sessions,
            queued_bytes: limits.queued_bytes,
            exchanges: BTreeMap::new(),
            drawn: 0,
            ready: VecDeque::new(),
            silence: BTreeSet::new(),
            sessions: Sessions::new(&config.seed),
            streams: Streams::new(&config.seed, config.events),
            channels: Channels::new(&config.seed),
            reports: VecDeque::new(),
            events: VecDeque::new(),
            intake: Intake::Open,
            spare: Vec::new(),
            most_kept: memory::most_kept(limits.queued_bytes),
            config,
        }
    }

    /// Keeps the buffer of a body that was taken for the next one, if it is the larger one.
    pub(super) fn spare_body(&mut self, mut body: Vec<u8>) {
        let capacity = body.capacity();
        if capacity > self.spare.capacity() && capacity <= self.most_kept {
            body.clear();
            self.spare = body;
        }
    }

    /// A number that no exchange or stream has had.
    pub(super) fn draw(&mut self) -> ExchangeHandle {
        self.drawn += 1;
        ExchangeHandle::from_number(self.drawn)
    }

    /// Puts an exchange among those that have something to send, if it has and is not there yet.
    pub(super) fn announce(&mut self, handle: ExchangeHandle) {
        let Some(exchange) = self.exchanges.get_mut(&handle) else { return };
        if !exchange.has_part() || exchange.notice != Notice::None {
            return;
        }
        exchange.notice = Notice::Queued;
        // A host that asks exchanges unnamed leaves their names behind.
        while self.ready.front().is_some_and(|first| !self.exchanges.contains_key(first)) {
            self.ready.pop_front();
        }
        self.ready.push_back(handle);
    }

    #[cfg(test)]
    pub(super) fn ready_len(&self) -> usize {
        self.ready.len()
    }

    pub(super) fn next_ready(&mut self) -> Option<ExchangeHandle> {
        while let Some(handle) = self.ready.pop_front() {
            if let Some(exchange) = self.exchanges.get_mut(&handle) {
                if exchange.has_part() {
                    exchange.notice = Notice::Given;
                    return Some(handle);
                }
                exchange.notice = Notice::None;
            }
        }
        None
    }

    pub(super) fn take_part(&mut self, handle: ExchangeHandle) -> Option<ResponsePart> {
        let exchange = self.exchanges.get_mut(&handle)?;
        if !exchange.has_part() {
            if exchange.notice == Notice::Given {
                exchange.notice = Notice::None;
            }
            return None;
        }
        exchange.spoke_at = self.now;
        let part = exchange.take_part();
        if part.is_last {
            self.remove(handle);
        }
        Some(part)
    }

    /// Refuses an exchange whose response has not begun.
    pub(super) fn refuse(&mut self, handle: ExchangeHandle, refusal: Refusal) {
        if let Some(exchange) = self.exchanges.get_mut(&handle) {
            exchange.refuse(refusal);
            self.announce(handle);
        }
    }

    /// Answers an exchange whose request the host does not let through.
    pub(super) fn deny(&mut self, handle: ExchangeHandle, denial: Denial<'_>) {
        if let Some(exchange) = self.exchanges.get_mut(&handle) {
            exchange.deny(denial);
            self.announce(handle);
        }
    }

    /// Answers an exchange with nothing but a status.
    pub(super) fn respond_empty(&mut self, handle: ExchangeHandle, status: u16) {
        if let Some(exchange) = self.exchanges.get_mut(&handle) {
            exchange.respond_empty(status);
            self.announce(handle);
        }
    }

    /// Ends a stream in order; it is not carried by the exchange any more. One that waits to begin is an empty one.
    pub(super) fn end_stream(&mut self, handle: ExchangeHandle) {
        let Some(exchange) = self.exchanges.get_mut(&handle) else { return };
        if matches!(exchange.phase, Phase::AwaitingReplay(_)) {
            exchange.begin_stream();
        }
        exchange.end();
        if let Some(number) = exchange.stream.take() {
            self.drop_carrier(number, handle);
        }
        self.announce(handle);
    }

    /// Ends an exchange by breaking its connection.
    pub(super) fn abort(&mut self, handle: ExchangeHandle) {
        let Some(exchange) = self.exchanges.get_mut(&handle) else { return };
        exchange.abort();
        if let Some(number) = exchange.stream.take() {
            self.drop_carrier(number, handle);
        }
        self.leave(handle);
        self.announce(handle);
    }

    /// An exchange is over, or its client has gone.
    pub(super) fn remove(&mut self, handle: ExchangeHandle) -> Option<Exchange> {
        let exchange = self.exchanges.remove(&handle)?;
        if let Some(look_at) = exchange.look_at {
            self.silence.remove(&(look_at, handle));
        }
        if let Some(number) = exchange.stream {
            self.drop_carrier(number, handle);
        }
        if let Some(session) = exchange.session {
            self.sessions.release(self.now, session, handle);
        }
        if let Some(channel) = &exchange.channel {
            self.channels.remove(channel);
        }
        Some(exchange)
    }

    /// The client of an exchange has gone.
    pub(super) fn gone(&mut self, handle: ExchangeHandle) {
        if self.exchanges.get(&handle).is_some_and(|exchange| !exchange.has_ended()) {
            self.leave(handle);
        }
        self.remove(handle);
    }

    /// Tells the machine that nothing will reach the client of an exchange any more.
    fn leave(&mut self, handle: ExchangeHandle) {
        let Some(exchange) = self.exchanges.get_mut(&handle) else { return };
        if core::mem::take(&mut exchange.is_told) {
            self.reports.push_back(Report::Gone(handle));
        }
        // On HTTP+SSE the session is over with its channel.
        if exchange.channel.is_some()
            && let Some(session) = exchange.session.take()
        {
            self.sessions.remove(session);
            self.reports.push_back(Report::SessionEnded(session));
        }
    }

    /// A stream is not carried by this exchange any more. It waits for another one if its events are kept.
    fn drop_carrier(&mut self, number: u64, handle: ExchangeHandle) {
        let are_kept = self.streams.are_kept();
        let Some(stream) = self.streams.get_mut(number).filter(|stream| stream.carrier == Some(handle))
        else {
            return;
        };
        stream.carrier = None;
        if are_kept {
            return;
        }
        let session = stream.session;
        self.streams.remove(number);
        if let Some(session) = self.sessions.get_mut(session)
            && session.outlet == Outlet::Stream(number)
        {
            session.outlet = Outlet::None;
        }
    }

    /// Lets go of a session: its exchanges end, its streams are forgotten.
    pub(super) fn end_session(&mut self, session: SessionHandle) {
        let exchanges = self.sessions.exchanges(session);
        if self.sessions.remove(session).is_none() {
            return;
        }
        for handle in exchanges {
            let Some(exchange) = self.exchanges.get_mut(&handle) else { continue };
            exchange.session = None;
            match exchange.phase {
                Phase::Streaming => self.end_stream(handle),
                Phase::Ended => {}
                _ => self.refuse(handle, Refusal::UnknownSession),
            }
        }
        for number in self.streams.of_session(session) {
            self.streams.remove(number);
        }
        if self.streams.are_external() {
            self.events.push_back(HttpServerEvent::StreamsForgotten { session });
        }
    }

    /// Ends a session and tells the machine.
    pub(super) fn give_up(&mut self, session: SessionHandle) {
        self.end_session(session);
        self.reports.push_back(Report::SessionEnded(session));
    }

    /// Looks from now on whether an exchange is silent for too long.
    pub(super) fn watch(&mut self, handle: ExchangeHandle) {
        if self.config.keep_alive == 0 {
            return;
        }
        let Some(exchange) = self.exchanges.get_mut(&handle) else { return };
        if exchange.look_at.is_none() && !exchange.has_ended() {
            let look_at = self.now.after(self.config.keep_alive);
            exchange.look_at = Some(look_at);
            self.silence.insert((look_at, handle));
        }
    }

    pub(super) fn advance(&mut self, now: Instant) {
        self.now = self.now.max(now);
    }

    pub(super) fn handle_timeout(&mut self) {
        while let Some((look_at, handle)) = self.silence.first().copied().filter(|(at, _)| *at <= self.now) {
            self.silence.remove(&(look_at, handle));
            self.look_after(handle);
        }
        self.streams.expire(self.now);
        if let Some(before) = self.now.as_millis().checked_sub(self.config.session_idle) {
            while let Some(session) = self.sessions.idle_since(Instant::from_millis(before)) {
                self.give_up(session);
            }
        }
    }

    /// Breaks the silence of an exchange, if it has been silent for long enough.
    fn look_after(&mut self, handle: ExchangeHandle) {
        let keep_alive = self.config.keep_alive;
        let Some(exchange) = self.exchanges.get_mut(&handle) else { return };
        exchange.look_at = None;
        let due = exchange.spoke_at.after(keep_alive);
        let mut look_at = due;
        if due <= self.now {
            look_at = self.now.after(keep_alive);
            if matches!(exchange.phase, Phase::Running) && exchange.takes.event_stream {
                self.begin_stream(handle);
            }
            self.comment(handle);
        }
        if let Some(exchange) = self.exchanges.get_mut(&handle).filter(|exchange| !exchange.has_ended()) {
            exchange.look_at = Some(look_at);
            self.silence.insert((look_at, handle));
        }
    }

    /// Says something that means nothing on a stream, unless something waits to be said anyway.
    fn comment(&mut self, handle: ExchangeHandle) {
        let Some(exchange) = self.exchanges.get_mut(&handle) else { return };
        if exchange.is_streaming() && !exchange.has_part() {
            write_comment(exchange.data_mut());
            exchange.spoke_at = self.now;
            self.announce(handle);
        }
    }

    pub(super) fn next_timeout(&self) -> Option<Instant> {
        let silence = self.silence.first().map(|(look_at, _)| *look_at);
        let idle = self.sessions.first_idle().map(|since| since.after(self.config.session_idle));
        [silence, idle, self.streams.next_expiry()].into_iter().flatten().min()
    }

    /// Refuses new requests from now on; streams that belong to no request end.
    pub(super) fn shut_down(&mut self) {
        if self.intake == Intake::Open {
            self.intake = Intake::ShutDown;
        }
        let refused: Vec<_> =
            self.exchanges.iter().map(|(handle, exchange)| (*handle, self.fate(exchange))).collect();
        for (handle, fate) in refused {
            match fate {
                Fate::GoesOn => {}
                Fate::Ends => self.end_stream(handle),
                Fate::Refused => self.refuse(handle, Refusal::ShuttingDown),
            }
        }
    }

    /// What becomes of an exchange when no more requests are taken.
    fn fate(&self, exchange: &Exchange) -> Fate {
        match exchange.phase {
            Phase::Running | Phase::Ended => Fate::GoesOn,
            Phase::Streaming => {
                let outlet = exchange.session.and_then(|session| self.sessions.get(session));
                let outlet = outlet.map(|session| session.outlet);
                match exchange.stream {
                    Some(number) if outlet == Some(Outlet::Stream(number)) => Fate::Ends,
                    _ => Fate::GoesOn,
                }
            }
            _ => Fate::Refused,
        }
    }

    /// The machine will say nothing more: everything ends.
    pub(super) fn close(&mut self) {
        self.intake = Intake::Closed;
        let open: Vec<_> =
            self.exchanges.iter().map(|(handle, exchange)| (*handle, exchange.is_streaming())).collect();
        for (handle, is_streaming) in open {
            if is_streaming {
                self.end_stream(handle);
            } else if self.exchanges.get(&handle).is_some_and(|exchange| !exchange.has_ended()) {
                self.refuse(handle, Refusal::ShuttingDown);
            }
        }
    }
}

/// See [`State::fate`].
enum Fate {
    GoesOn,
    Ends,
    Refused,
}
