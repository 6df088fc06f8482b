//! Where messages of the machine go: into the response of the exchange that they belong to, or onto a stream.

use alloc::boxed::Box;
use alloc::string::String;

use crate::machine::{Disposition, ExchangeHandle, Labels, SessionHandle, Transmit};
use crate::revision::Revision;
use crate::transport::http::headers;
use crate::transport::http::status::{self, Refusal};
use crate::transport::sse::write_event;

use super::exchange::Phase;
use super::sessions::Outlet;
use super::state::State;
use super::values::HttpServerEvent;

impl State {
    /// Takes what the machine sends.
    pub(super) fn carry(&mut self, transmit: Transmit) {
        match transmit {
            Transmit::Message { text, labels, .. } => match labels.exchange {
                Some(exchange) => self.tell_exchange(exchange, text, &labels),
                None => self.tell_session(text, &labels),
            },
            Transmit::Accept { exchange } => self.accept(exchange),
            Transmit::EndSession { session } => self.end_session(session),
            Transmit::Close => self.close(),
            // Requests of a client, which this is not.
            Transmit::Abort { .. } => {}
        }
    }

    /// Nothing will answer an exchange. On a channel of HTTP+SSE that means nothing.
    fn accept(&mut self, handle: ExchangeHandle) {
        match self.exchanges.get(&handle) {
            Some(exchange) if exchange.channel.is_some() => {}
            Some(exchange) if exchange.is_streaming() => self.end_stream(handle),
            _ if self.is_unanswered(handle) => self.respond_empty(handle, status::ACCEPTED),
            _ => {}
        }
    }

    pub(super) fn is_unanswered(&self, handle: ExchangeHandle) -> bool {
        self.exchanges.get(&handle).is_some_and(|exchange| matches!(exchange.phase, Phase::Running))
    }

    /// A message that belongs to an exchange. What belongs to one that is over goes nowhere.
    fn tell_exchange(&mut self, handle: ExchangeHandle, text: String, labels: &Labels) {
        let is_droppable = labels.disposition == Disposition::Droppable;
        let is_last = !matches!(labels.disposition, Disposition::Continues | Disposition::Droppable);
        if self.streams.get(handle.number()).is_some() {
            return self.tell_stream(handle.number(), text, is_droppable, is_last);
        }
        let Some(exchange) = self.exchanges.get(&handle) else { return };
        if exchange.channel.is_some() {
            self.open_channel_session(handle, labels);
            return self.tell_channel(handle, &text, is_droppable);
        }
        match exchange.phase {
            Phase::Running if is_last => self.answer(handle, text, labels),
            Phase::Running if exchange.takes.event_stream => {
                self.begin_stream(handle);
                self.tell_exchange(handle, text, labels);
            }
            // Its client takes no stream: what can wait for no better place is left out.
            Phase::Running if !is_droppable => self.tell_session(text, labels),
            Phase::Streaming => {
                if self.make_room(handle, text.len(), is_droppable)
                    && let Some(exchange) = self.exchanges.get_mut(&handle)
                {
                    write_event(exchange.data_mut(), None, &text);
                    if is_last {
                        exchange.end();
                    }
                    self.announce(handle);
                }
            }
            _ => {}
        }
    }

    /// The answer is the first that is said of a message.
    fn answer(&mut self, handle: ExchangeHandle, text: String, labels: &Labels) {
        let id = self.name_new_session(handle, labels);
        let Some(exchange) = self.exchanges.get_mut(&handle) else { return };
        let status = match labels.disposition {
            Disposition::Refuses(code) => status::of_refusal(code),
            Disposition::SessionUnknown => Refusal::UnknownSession.status(),
            Disposition::NotAcceptable => Refusal::NotAcceptable.status(),
            _ => status::OK,
        };
        // An error is told in JSON even to those who did not ask for it: its status is what matters.
        if exchange.takes.json || status != status::OK {
            exchange.respond_json(status, text);
        } else {
            exchange.begin_stream();
            write_event(exchange.data_mut(), None, &text);
            exchange.end();
        }
        if let Some(id) = id {
            exchange.add_header(headers::SESSION_ID, String::from(id));
        }
        self.announce(handle);
    }

    /// Gives the session that begins with this answer its id, if one does.
    fn name_new_session(&mut self, handle: ExchangeHandle, labels: &Labels) -> Option<Box<str>> {
        let (session, revision) = (labels.session?, labels.revision?);
        if self.sessions.has(session) {
            return None;
        }
        let id = self.sessions.draw_id();
        let principal = self.exchanges.get_mut(&handle)?.principal.take();
        self.admit_session(session, Some(id.clone()), principal, revision, Outlet::None);
        Some(id)
    }

    /// Takes in a session. The machine bounds how many there are.
    pub(super) fn admit_session(
        &mut self,
        session: SessionHandle,
        id: Option<Box<str>>,
        principal: Option<Box<str>>,
        revision: Revision,
        outlet: Outlet,
    ) {
        if let Some(id) = id.as_ref().filter(|_| self.tells_of_sessions()) {
            self.events.push_back(HttpServerEvent::SessionNamed { session, id: id.clone() });
        }
        self.sessions.insert(self.now, session, id, principal, revision, outlet);
    }

    fn tells_of_sessions(&self) -> bool {
        self.config.external_sessions || self.streams.are_external()
    }

    /// On HTTP+SSE the session that begins with a message is that of the channel.
    fn open_channel_session(&mut self, handle: ExchangeHandle, labels: &Labels) {
        let (Some(session), Some(revision)) = (labels.session, labels.revision) else { return };
        if self.sessions.has(session) {
            return;
        }
        self.admit_session(session, None, None, revision, Outlet::Channel(handle));
        self.sessions.hold(self.now, session, handle);
        if let Some(exchange) = self.exchanges.get_mut(&handle) {
            exchange.session = Some(session);
        }
    }

    /// A message that belongs to no request.
    fn tell_session(&mut self, text: String, labels: &Labels) {
        let is_droppable = labels.disposition == Disposition::Droppable;
        let Some((session, outlet)) =
            labels.session.and_then(|session| Some((session, self.sessions.get(session)?.outlet)))
        else {
            return;
        };
        match outlet {
            Outlet::Channel(handle) => self.tell_channel(handle, &text, is_droppable),
            Outlet::Stream(number) => self.tell_stream(number, text, is_droppable, false),
            // It waits until the client opens the stream.
            Outlet::None if self.streams.are_kept() => {
                let number = self.begin_uncarried(session);
                if let Some(session) = self.sessions.get_mut(session) {
                    session.outlet = Outlet::Stream(number);
                }
                self.tell_stream(number, text, is_droppable, false);
            }
            Outlet::None => {}
        }
    }

    /// Whether so many bytes more may wait in an exchange. One that has far too much is broken off.
    pub(super) fn make_room(&mut self, handle: ExchangeHandle, bytes: usize, is_droppable: bool) -> bool {
        let Some(exchange) = self.exchanges.get(&handle).filter(|exchange| exchange.is_streaming()) else {
            return false;
        };
        let backlog = exchange.backlog();
        let after = backlog.saturating_add(bytes);
        if is_droppable && after > self.queued_bytes {
            return false;
        }
        if backlog > 0 && after > self.queued_bytes.saturating_mul(2) {
            self.abort(handle);
            return false;
        }
        true
    }
}
