//! Legacy sessions: one of the byte stream, and any number on HTTP.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::error::{ApiMisuse, Error, Limit};
use crate::json::Json;
use crate::logging::LogLevel;
use crate::machine::{RequestHandle, SessionHandle, SubscriptionHandle, Transmit};
use crate::revision::{Capabilities, Revision};
use crate::session::SessionState;

use super::source::Channel;
use super::{ClientFailure, Event, Server};

/// A legacy session. It begins with the answer to `initialize`.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) handle: SessionHandle,
    pub(super) revision: Revision,
    pub(super) client: Option<Json>,
    pub(super) capabilities: Arc<Capabilities>,
    /// What was declared to this client.
    pub(super) declared: Capabilities,
    /// The client has said `initialized`.
    pub(super) is_open: bool,
    pub(super) log_level: LogLevel,
    /// Requests of the server's own that wait for `initialized`.
    pub(super) held: Vec<(RequestHandle, String)>,
    /// The resources that the client watches, by URI.
    pub(super) watched: BTreeMap<Arc<str>, SubscriptionHandle>,
}

/// Every session.
#[derive(Debug, Default)]
pub(super) struct Sessions {
    all: BTreeMap<SessionHandle, Box<Session>>,
    stream: Stream,
}

/// The session of the byte stream.
#[derive(Debug, Default)]
enum Stream {
    /// There is none, and nothing has come on the stream.
    #[default]
    Unused,
    /// The first imported session is taken for it, until it is known what there is: a byte stream, or HTTP.
    Imported(SessionHandle),
    /// It has none.
    Idle,
    /// It has this one.
    Session(SessionHandle),
}

impl Sessions {
    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    pub(super) fn get(&self, session: SessionHandle) -> Option<&Session> {
        self.all.get(&session).map(|session| &**session)
    }

    pub(super) fn get_mut(&mut self, session: SessionHandle) -> Option<&mut Session> {
        self.all.get_mut(&session).map(|session| &mut **session)
    }

    /// The session of the byte stream.
    pub(super) const fn of_stream(&self) -> Option<SessionHandle> {
        match self.stream {
            Stream::Unused | Stream::Idle => None,
            Stream::Imported(session) | Stream::Session(session) => Some(session),
        }
    }

    /// Notes that something came on the byte stream.
    pub(super) fn note_stream(&mut self) {
        match self.stream {
            Stream::Unused => self.stream = Stream::Idle,
            Stream::Imported(session) => self.stream = Stream::Session(session),
            Stream::Idle | Stream::Session(_) => {}
        }
    }

    /// Adds a session that was opened.
    pub(super) fn insert(&mut self, session: Session, channel: Channel) {
        if channel == Channel::Stream {
            self.stream = Stream::Session(session.handle);
        }
        self.all.insert(session.handle, Box::new(session));
    }

    /// Adds a session that was imported.
    fn import(&mut self, session: Session) {
        match self.stream {
            Stream::Unused => self.stream = Stream::Imported(session.handle),
            Stream::Idle => self.stream = Stream::Session(session.handle),
            Stream::Imported(_) | Stream::Session(_) => {}
        }
        self.all.insert(session.handle, Box::new(session));
    }

    fn remove(&mut self, session: SessionHandle) -> Option<Box<Session>> {
        let removed = self.all.remove(&session)?;
        match self.stream {
            Stream::Imported(own) if own == session => self.stream = Stream::Unused,
            Stream::Session(own) if own == session => self.stream = Stream::Idle,
            _ => {}
        }
        Some(removed)
    }

    /// In order of creation.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Session> {
        self.all.values().map(|session| &**session)
    }

    /// Takes them all, in order of creation.
    pub(super) fn take_all(&mut self) -> impl Iterator<Item = Box<Session>> + use<> {
        core::mem::take(self).all.into_values()
    }
}

impl Server {
    /// A session as text, for [`restore_session`](Self::restore_session).
    pub(super) fn session_text(&self, handle: SessionHandle) -> Result<String, Error> {
        let session = self.sessions.get(handle).ok_or(ApiMisuse::UnknownSession)?;
        let state = SessionState {
            revision: session.revision,
            client: session.client.clone(),
            capabilities: session.capabilities.raw().cloned(),
            declared: session.declared.clone(),
            is_open: session.is_open,
            log_level: session.log_level,
            watched: session.watched.keys().map(|uri| Box::from(&**uri)).collect(),
        };
        Ok(state.to_text())
    }

    /// Goes on with a session of another process: the client notices nothing.
    pub(super) fn restore_session(&mut self, text: &str) -> Result<SessionHandle, Error> {
        self.check_open()?;
        if matches!(self.sessions.stream, Stream::Session(_)) {
            return Err(ApiMisuse::AlreadyRegistered.into());
        }
        let state = SessionState::from_text(text).ok_or(ApiMisuse::InvalidJson)?;
        if !self.config.revisions.contains(state.revision) {
            return Err(ApiMisuse::NotAllowedInRevision(state.revision).into());
        }
        if self.sessions.len() >= self.config.limits.sessions {
            return Err(Limit::Sessions.into());
        }
        let watched = self.check_watched(state.watched)?;
        // What changed before is no news to this client.
        self.tell_changes();
        let handle = SessionHandle::from_number(self.draw().number());
        let session = Session {
            handle,
            revision: state.revision,
            client: state.client,
            capabilities: Arc::new(state.capabilities.as_ref().map(Capabilities::read).unwrap_or_default()),
            declared: state.declared,
            is_open: false,
            log_level: state.log_level,
            held: Vec::new(),
            watched: BTreeMap::new(),
        };
        self.sessions.import(session);
        for uri in watched {
            let subscription = SubscriptionHandle::from_number(self.draw().number());
            self.watch(handle, &uri, subscription);
        }
        if state.is_open {
            self.open_session(handle);
        }
        Ok(handle)
    }

    /// Ends a session by a command of the application.
    pub(super) fn end_session_by_us(&mut self, session: SessionHandle) -> Result<(), Error> {
        self.check_open()?;
        // What the byte stream carries ends with the stream.
        let is_of_stream = matches!(self.sessions.stream, Stream::Session(own) if own == session);
        if is_of_stream || !self.forget_session(session) {
            return Err(ApiMisuse::UnknownSession.into());
        }
        self.queues.transmit(Transmit::EndSession { session });
        Ok(())
    }

    /// Ends everything of a session; nothing is sent, as nobody is left to take it. False if there is none.
    pub(super) fn forget_session(&mut self, handle: SessionHandle) -> bool {
        let Some(session) = self.sessions.remove(handle) else { return false };
        let limit = self.config.limits.requests_in_flight;
        for request in self.in_flight.of_session(handle) {
            let Some(entry) = self.in_flight.remove_unanswered(request, limit) else { continue };
            if let Some(batch) = entry.batch {
                self.batches.forget(batch);
            }
            self.queues.tell(Event::RequestCancelled { request, reason: None });
        }
        self.note_movement();
        let asked: Vec<_> = self
            .outbound
            .iter()
            .filter(|(_, outbound)| outbound.session == handle)
            .map(|(request, _)| request)
            .collect();
        for request in asked {
            if let Some(outbound) = self.outbound.take(request) {
                // Those who asked within a request are gone.
                self.settle_outbound(request, outbound, Err(ClientFailure::ConnectionLost));
            }
        }
        for subscription in session.watched.into_values() {
            self.subscription_gone(subscription);
        }
        if session.is_open {
            self.queues.tell(Event::SessionClosed { session: handle });
        }
        self.check_drained();
        true
    }
}
