//! What is told on streams of legacy sessions: where it goes while they are open, and how it reaches a client that comes
//! back for it (basic/transports, Resumability and Redelivery).

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use crate::machine::{ExchangeHandle, SessionHandle};
use crate::revision::Revision;
use crate::transport::http::status::Refusal;
use crate::transport::sse::{write_event, write_priming_event, write_retry};

use super::exchange::Phase;
use super::sessions::Outlet;
use super::state::State;
use super::streams::{EventId, Replay};
use super::values::HttpServerEvent;

/// Since this revision streams begin with an id, and the server may close a connection before the stream is over.
const POLLING_SINCE: Revision = Revision::V2025_11_25;

impl State {
    /// Begins a stream as the response of an exchange whose message is with the machine. In a legacy session it can be
    /// resumed.
    pub(super) fn begin_stream(&mut self, handle: ExchangeHandle) {
        let Some(exchange) = self.exchanges.get_mut(&handle) else { return };
        exchange.begin_stream();
        match exchange.session {
            Some(session) if self.streams.are_kept() => {
                self.streams.insert(handle.number(), session, Some(handle));
                self.attach(handle, handle.number());
                self.prime(handle, handle.number());
            }
            _ => {}
        }
        self.announce(handle);
    }

    fn attach(&mut self, handle: ExchangeHandle, number: u64) {
        if let Some(exchange) = self.exchanges.get_mut(&handle) {
            exchange.stream = Some(number);
        }
        if let Some(stream) = self.streams.get_mut(number) {
            stream.carrier = Some(handle);
        }
    }

    /// Tells the first id of a stream, and when to come back, to clients that know what that means.
    fn prime(&mut self, handle: ExchangeHandle, number: u64) {
        let Some(session) = self.streams.get(number).map(|stream| stream.session) else { return };
        if self.sessions.get(session).is_none_or(|session| session.revision < POLLING_SINCE) {
            return;
        }
        let Some(event) = self.first_event(session, number) else { return };
        let retry = self.config.retry;
        let Some(exchange) = self.exchanges.get_mut(&handle) else { return };
        if let Some(id) = self.streams.id(number, event) {
            write_priming_event(exchange.data_mut(), id);
            write_retry(exchange.data_mut(), retry);
        }
        self.mark_carried(number, event);
    }

    /// The number of the event that a stream begins with. None if others wait that come before a new one: they tell
    /// an id themselves.
    fn first_event(&mut self, session: SessionHandle, number: u64) -> Option<u64> {
        let stream = self.streams.get_mut(number)?;
        if let Some(first) = stream.first.take() {
            return Some(first);
        }
        if stream.last > stream.carried {
            return None;
        }
        let event = self.streams.draw(number);
        self.tell_of_event(session, number, event, "");
        Some(event)
    }

    /// Begins a stream that no exchange carries yet.
    pub(super) fn begin_uncarried(&mut self, session: SessionHandle) -> u64 {
        let number = self.draw().number();
        self.streams.insert(number, session, None);
        let first = self.streams.draw(number);
        self.tell_of_event(session, number, first, "");
        if let Some(stream) = self.streams.get_mut(number) {
            (stream.first, stream.carried) = (Some(first), first);
        }
        number
    }

    fn mark_carried(&mut self, number: u64, event: u64) {
        if let Some(stream) = self.streams.get_mut(number) {
            stream.carried = event;
        }
    }

    /// Lets the host keep an event, if it is the one who keeps them.
    fn tell_of_event(&mut self, session: SessionHandle, number: u64, event: u64, data: &str) {
        if !self.streams.are_external() {
            return;
        }
        let stream = self.streams.name(number);
        if let Some(id) = self.streams.id(number, event).map(Box::from) {
            self.events.push_back(HttpServerEvent::EventAppended { session, stream, id, data: data.into() });
        }
    }

    /// Puts an event on a stream: into the exchange that carries it, and where events are kept.
    pub(super) fn tell_stream(&mut self, number: u64, text: String, is_droppable: bool, is_last: bool) {
        let Some(stream) = self.streams.get(number) else { return };
        let (session, carrier) = (stream.session, stream.carrier);
        let is_replaying = carrier.and_then(|carrier| self.exchanges.get(&carrier));
        let is_replaying =
            is_replaying.is_some_and(|exchange| matches!(exchange.phase, Phase::AwaitingReplay(_)));
        let has_room = match carrier {
            Some(carrier) if is_replaying => self.hold_room(carrier, text.len()),
            Some(carrier) => self.make_room(carrier, text.len(), is_droppable),
            None => false,
        };
        if carrier.is_some() && !has_room && is_droppable {
            return;
        }
        let event = self.streams.draw(number);
        self.tell_of_event(session, number, event, &text);
        if let Some(carrier) = carrier.filter(|_| has_room) {
            self.write(carrier, number, event, &text);
        }
        self.streams.keep(self.now, number, event, text);
        if is_last {
            self.streams.finish(number);
            if let Some(carrier) = carrier.filter(|_| !is_replaying) {
                self.end_stream(carrier);
            }
        }
    }

    /// Whether an exchange that waits for events may hold so many bytes more.
    fn hold_room(&mut self, handle: ExchangeHandle, bytes: usize) -> bool {
        let limit = self.queued_bytes;
        let Some(Phase::AwaitingReplay(replay)) =
            self.exchanges.get_mut(&handle).map(|exchange| &mut exchange.phase)
        else {
            return false;
        };
        replay.held_bytes = replay.held_bytes.saturating_add(bytes);
        if replay.held_bytes > limit {
            // Its client comes back, or asks for the stream anew.
            self.end_stream(handle);
            return false;
        }
        true
    }

    /// Gives an event to the exchange that carries its stream.
    fn write(&mut self, handle: ExchangeHandle, number: u64, event: u64, text: &str) {
        let Some(exchange) = self.exchanges.get_mut(&handle) else { return };
        if let Phase::AwaitingReplay(replay) = &mut exchange.phase {
            replay.held.push((event, text.into()));
        } else {
            write_event(exchange.data_mut(), self.streams.id(number, event), text);
            self.announce(handle);
        }
        self.mark_carried(number, event);
    }

    /// Opens the stream of a session that belongs to no request. One at a time: a second one would have to be told
    /// what the first one was not.
    pub(super) fn open_standalone(&mut self, handle: ExchangeHandle, session: SessionHandle) {
        let outlet = self.sessions.get(session).map_or(Outlet::None, |session| session.outlet);
        let Outlet::Stream(number) = outlet else {
            let number = handle.number();
            self.streams.insert(number, session, Some(handle));
            if let Some(session) = self.sessions.get_mut(session) {
                session.outlet = Outlet::Stream(number);
            }
            return self.open_stream(handle, number);
        };
        let Some(stream) = self.streams.get(number) else { return };
        if stream.carrier.is_some() {
            return self.refuse(handle, Refusal::StreamIsOpen);
        }
        // What was told meanwhile has waited for it.
        let (carried, last) = (stream.carried, stream.last);
        if self.streams.are_external() && last > carried {
            let after = self.streams.id(number, carried).map(Box::from).unwrap_or_default();
            return self.ask_for_replay(handle, session, self.streams.name(number), Some(number), after);
        }
        self.open_stream(handle, number);
        self.write_kept(handle, number, carried);
    }

    fn open_stream(&mut self, handle: ExchangeHandle, number: u64) {
        if let Some(exchange) = self.exchanges.get_mut(&handle) {
            exchange.begin_stream();
        }
        self.attach(handle, number);
        self.prime(handle, number);
        self.announce(handle);
    }

    /// Writes what is kept behind an event. What is too much to wait in one exchange is left for the next one: its client
    /// comes back when it has read the rest.
    fn write_kept(&mut self, handle: ExchangeHandle, number: u64, after: u64) {
        let (events, are_all) = self.streams.after(number, after, self.queued_bytes);
        for (event, text) in events {
            self.write(handle, number, event, &text);
        }
        if !are_all {
            self.end_stream(handle);
        }
    }

    /// Goes on with a stream behind an event that its client got, whichever exchange carried it before.
    pub(super) fn resume(&mut self, handle: ExchangeHandle, session: SessionHandle, after: &str) {
        let Some(EventId { stream, number, event }) = self.streams.read_id(after) else {
            return self.refuse(handle, Refusal::UnknownEvent);
        };
        let found = number.and_then(|number| Some((number, self.streams.get(number)?)));
        let found = found.filter(|(_, stream)| stream.session == session);
        let number = found.map(|(number, _)| number);
        if let Some(carrier) = found.and_then(|(_, stream)| stream.carrier) {
            // Its client has lost that connection, or it would not ask.
            self.end_stream(carrier);
        }
        if self.streams.are_external() {
            return self.ask_for_replay(handle, session, stream.into(), number, after.into());
        }
        // The end of the connection before may have been the end of the stream.
        let Some(number) = number.filter(|number| self.streams.get(*number).is_some()) else {
            return self.refuse(handle, Refusal::UnknownEvent);
        };
        if let Some(exchange) = self.exchanges.get_mut(&handle) {
            exchange.begin_stream();
        }
        self.attach(handle, number);
        self.write_kept(handle, number, event);
        if self.streams.get(number).is_some_and(|stream| stream.is_finished) {
            self.end_stream(handle);
        }
        self.announce(handle);
    }

    fn ask_for_replay(
        &mut self,
        handle: ExchangeHandle,
        session: SessionHandle,
        stream: Box<str>,
        number: Option<u64>,
        after: Box<str>,
    ) {
        let Some(exchange) = self.exchanges.get_mut(&handle) else { return };
        let replay = Replay { after: after.clone(), held: Vec::new(), held_bytes: 0 };
        exchange.phase = Phase::AwaitingReplay(Box::new(replay));
        if let Some(number) = number {
            self.attach(handle, number);
        }
        self.events.push_back(HttpServerEvent::ReplayRequested { exchange: handle, session, stream, after });
    }

    /// The host has given the events that an exchange waits for, or knows of none.
    pub(super) fn replay(&mut self, handle: ExchangeHandle, events: Option<&[(&str, &str)]>) {
        let Some(exchange) = self.exchanges.get_mut(&handle) else { return };
        if !matches!(exchange.phase, Phase::AwaitingReplay(_)) {
            return;
        }
        let Phase::AwaitingReplay(replay) = core::mem::replace(&mut exchange.phase, Phase::Running) else {
            return;
        };
        let stream = exchange.stream;
        let Some(events) = events.or(stream.map(|_| &[] as &[_])) else {
            return self.refuse(handle, Refusal::UnknownEvent);
        };
        exchange.begin_stream();
        for (id, data) in events.iter().filter(|(_, data)| !data.is_empty()) {
            if exchange.backlog() > 0 && exchange.backlog().saturating_add(data.len()) > self.queued_bytes {
                // As with events that are kept here.
                return self.end_stream(handle);
            }
            write_event(exchange.data_mut(), Some(id), data);
        }
        let last = events.last().map_or(&*replay.after, |(id, _)| id);
        let last = self.streams.read_id(last).map_or(0, |id| id.event);
        let Some(number) = stream else {
            // It goes on in another process: the client comes back to ask for more.
            write_retry(exchange.data_mut(), self.config.retry);
            return self.end_stream(handle);
        };
        for (event, text) in replay.held.into_iter().filter(|(event, _)| *event > last) {
            self.write(handle, number, event, &text);
        }
        if self.streams.get(number).is_none_or(|stream| stream.is_finished) {
            return self.end_stream(handle);
        }
        self.announce(handle);
    }

    /// Ends the response that carries a stream, which goes on without it.
    pub(super) fn close_stream(&mut self, handle: ExchangeHandle, retry: Option<u64>) -> bool {
        let is_new = self.exchanges.get(&handle).is_some_and(|exchange| {
            matches!(exchange.phase, Phase::Running) && exchange.takes.event_stream && exchange.is_told
        });
        if is_new
            && self.streams.are_kept()
            && self.exchanges.get(&handle).is_some_and(|e| self.can_poll(e.session))
        {
            self.begin_stream(handle);
        }
        let Some(stream) = self.streams.get(handle.number()) else { return false };
        let Some(carrier) = stream.carrier.filter(|_| self.can_poll(Some(stream.session))) else {
            return false;
        };
        let Some(exchange) = self.exchanges.get_mut(&carrier).filter(|exchange| exchange.is_streaming())
        else {
            return false;
        };
        if let Some(retry) = retry {
            write_retry(exchange.data_mut(), retry);
        }
        self.end_stream(carrier);
        true
    }

    /// Whether the client of a session comes back when a stream ends before its time.
    fn can_poll(&self, session: Option<SessionHandle>) -> bool {
        let session = session.and_then(|session| self.sessions.get(session));
        session.is_some_and(|session| session.revision >= POLLING_SINCE)
    }
}
