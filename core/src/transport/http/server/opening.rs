//! What becomes of a request when its head has come, and of one that waited for its session.

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::machine::{ExchangeHandle, HeaderValue, NamedSession, SessionHandle};
use crate::revision::Revision;
use crate::transport::http::headers::{self, Headers};
use crate::transport::http::media::Acceptable;
use crate::transport::http::origin::preflight;
use crate::transport::http::status::{self, Refusal};

use super::checks::{self, Checked, Rules, Wanted};
use super::exchange::{Envelope, Exchange, Parked, Phase, Upload, is_modern};
use super::sessions::{Claim, Outlet};
use super::state::{Intake, State};
use super::values::{Denial, HttpServerEvent, RequestHead};

impl State {
    /// Takes the head of a request; the envelope of the message that it brings, if it is to bring one.
    pub(super) fn open<'a>(
        &mut self,
        head: &RequestHead<'a>,
        length: Option<usize>,
    ) -> (ExchangeHandle, Option<Envelope<'a>>) {
        let handle = self.draw();
        let checked = self.check(head, length);
        let exchange = Exchange::new(self.now, checked.origin);
        let envelope = match checked.verdict {
            Ok(wanted) => self.begin(handle, exchange, head, (wanted, checked.origin)),
            Err(refusal) => {
                self.reject(handle, exchange, head, refusal);
                None
            }
        };
        (handle, envelope)
    }

    /// The same for a request that the host does not let through.
    pub(super) fn open_denied(&mut self, head: &RequestHead<'_>, denial: Denial<'_>) -> ExchangeHandle {
        let handle = self.draw();
        let checked = self.check(head, None);
        let exchange = Exchange::new(self.now, checked.origin);
        match checked.verdict {
            Ok(wanted @ (Wanted::Preflight | Wanted::Methods)) => {
                self.begin(handle, exchange, head, (wanted, checked.origin));
            }
            Ok(_) => {
                self.exchanges.insert(handle, exchange);
                self.deny(handle, denial);
            }
            Err(refusal) => self.reject(handle, exchange, head, refusal),
        }
        handle
    }

    fn check<'a>(&self, head: &RequestHead<'a>, length: Option<usize>) -> Checked<'a> {
        let rules = Rules {
            origins: &self.config.origins,
            revisions: self.config.revisions,
            body_bytes: self.config.body_bytes,
        };
        let mut checked = checks::check(rules, head, length);
        if self.intake != Intake::Open {
            checked.verdict = checked.verdict.and(Err(Refusal::ShuttingDown));
        }
        checked
    }

    /// Refuses a request because of its head.
    fn reject(
        &mut self,
        handle: ExchangeHandle,
        exchange: Exchange,
        head: &RequestHead<'_>,
        refusal: Refusal,
    ) {
        self.exchanges.insert(handle, exchange);
        self.refuse(handle, refusal);
        if refusal == Refusal::MethodNotAllowed
            && let Some(exchange) = self.exchanges.get_mut(&handle)
        {
            exchange.add_header(headers::ALLOW, checks::methods(head.endpoint, self.config.revisions));
        }
    }

    fn begin<'a>(
        &mut self,
        handle: ExchangeHandle,
        exchange: Exchange,
        head: &RequestHead<'a>,
        (wanted, origin): (Wanted, Option<&str>),
    ) -> Option<Envelope<'a>> {
        match wanted {
            Wanted::Preflight | Wanted::Methods => {
                self.exchanges.insert(handle, exchange);
                self.tell_methods(handle, head, origin.filter(|_| wanted == Wanted::Preflight));
                None
            }
            Wanted::Message(takes) => Some(self.begin_message(handle, exchange, head, takes)),
            Wanted::ChannelMessage => self.begin_channel_message(handle, exchange, head),
            Wanted::Channel => {
                self.open_channel(handle, exchange, head.endpoint, head.principal);
                None
            }
            Wanted::Stream | Wanted::SessionEnd => {
                self.exchanges.insert(handle, exchange);
                self.begin_without_body(handle, head, wanted);
                None
            }
        }
    }

    /// Answers `OPTIONS`; a preflight of a page of `origin`, if there is one.
    fn tell_methods(&mut self, handle: ExchangeHandle, head: &RequestHead<'_>, origin: Option<&str>) {
        let methods = checks::methods(head.endpoint, self.config.revisions);
        let Some(exchange) = self.exchanges.get_mut(&handle) else { return };
        if let Some(origin) = origin {
            exchange.respond_preflight(preflight(origin, methods, Headers::new(head.headers)));
        } else {
            exchange.respond_empty(status::NO_CONTENT);
            exchange.add_header(headers::ALLOW, methods);
        }
        self.announce(handle);
    }

    fn begin_message<'a>(
        &mut self,
        handle: ExchangeHandle,
        mut exchange: Exchange,
        head: &RequestHead<'a>,
        takes: Acceptable,
    ) -> Envelope<'a> {
        let found = Headers::new(head.headers);
        let (session, unknown) = if is_modern(found) {
            (NamedSession::None, None)
        } else {
            self.name_session(found, head.principal)
        };
        match session {
            NamedSession::Known(session) => {
                exchange.session = Some(session);
                self.sessions.hold(self.now, session, handle);
            }
            // It may begin one.
            _ if !is_modern(found) => exchange.principal = head.principal.map(Box::from),
            _ => {}
        }
        exchange.takes = takes;
        self.exchanges.insert(handle, exchange);
        Envelope { headers: found, principal: head.principal, session, unknown, channel: None, takes }
    }

    fn begin_channel_message<'a>(
        &mut self,
        handle: ExchangeHandle,
        exchange: Exchange,
        head: &RequestHead<'a>,
    ) -> Option<Envelope<'a>> {
        let takes = exchange.takes;
        self.exchanges.insert(handle, exchange);
        match self.find_channel(head.endpoint, head.principal) {
            Ok((channel, session)) => Some(Envelope {
                headers: Headers::new(head.headers),
                principal: head.principal,
                session,
                unknown: None,
                channel: Some(channel),
                takes,
            }),
            Err(refusal) => {
                self.refuse(handle, refusal);
                None
            }
        }
    }

    /// The session that a request names, and its id if it has to be asked for.
    fn name_session<'a>(
        &self,
        found: Headers<'a>,
        principal: Option<&str>,
    ) -> (NamedSession, Option<&'a str>) {
        match found.single(headers::SESSION_ID) {
            HeaderValue::Absent => (NamedSession::None, None),
            HeaderValue::Repeated => (NamedSession::Unknown, None),
            HeaderValue::Once(id) => {
                let named = self.sessions.find(id, principal);
                let is_elsewhere = self.config.external_sessions && !self.sessions.has_id(id);
                (named, Some(id).filter(|_| is_elsewhere))
            }
        }
    }

    /// GET and DELETE, which need a session.
    fn begin_without_body(&mut self, handle: ExchangeHandle, head: &RequestHead<'_>, wanted: Wanted) {
        let found = Headers::new(head.headers);
        let after = found.first(headers::LAST_EVENT_ID).filter(|id| !id.is_empty());
        match self.name_session(found, head.principal) {
            (NamedSession::None, _) => self.refuse(handle, Refusal::MissingSession),
            (NamedSession::Known(session), _) => self.serve_without_body(handle, session, wanted, after),
            (NamedSession::Unknown, Some(id)) => {
                let parked = match wanted {
                    Wanted::SessionEnd => Parked::SessionEnd,
                    _ => Parked::Stream { after: after.map(Box::from) },
                };
                let claim = (id.into(), head.principal.map(Box::from));
                self.park(handle, parked, claim, found);
            }
            (NamedSession::Unknown, None) => self.refuse(handle, Refusal::UnknownSession),
        }
    }

    fn serve_without_body(
        &mut self,
        handle: ExchangeHandle,
        session: SessionHandle,
        wanted: Wanted,
        after: Option<&str>,
    ) {
        if wanted == Wanted::SessionEnd {
            self.give_up(session);
            return self.respond_empty(handle, status::NO_CONTENT);
        }
        self.sessions.hold(self.now, session, handle);
        if let Some(exchange) = self.exchanges.get_mut(&handle) {
            exchange.session = Some(session);
        }
        match after.filter(|_| self.streams.are_kept()) {
            Some(after) => self.resume(handle, session, after),
            None => self.open_standalone(handle, session),
        }
        self.watch(handle);
    }

    /// Lets an exchange wait for a session that may live elsewhere. Others of the same principal wait with it.
    fn park(&mut self, handle: ExchangeHandle, parked: Parked, claim: Claim, found: Headers<'_>) {
        let Some(exchange) = self.exchanges.get_mut(&handle) else { return };
        exchange.phase = Phase::AwaitingSession(parked);
        let id = claim.0.clone();
        if self.sessions.wait(claim, named_revision(found), handle) {
            self.make_room_for_session();
            self.events.push_back(HttpServerEvent::SessionRequested { exchange: handle, id });
        }
    }

    /// Lets a message wait for the session that it names; false if that needs not be asked for.
    pub(super) fn park_message(
        &mut self,
        handle: ExchangeHandle,
        envelope: &Envelope<'_>,
        body: &[u8],
    ) -> bool {
        let Some(id) = envelope.unknown else { return false };
        let mut upload = envelope.keep();
        upload.body = body.to_vec();
        let claim = (id.into(), envelope.principal.map(Box::from));
        self.park(handle, Parked::Message(Box::new(upload)), claim, envelope.headers);
        true
    }

    /// Ends the session that was idle longest, if there is no room for another one.
    pub(super) fn make_room_for_session(&mut self) {
        if self.sessions.len() >= self.session_limit
            && let Some(idle) = self.sessions.longest_idle()
        {
            self.give_up(idle);
        }
    }

    /// The session for which exchanges wait was found or not. Those that bring messages are given back, to be
    /// delivered.
    pub(super) fn resolve(
        &mut self,
        handle: ExchangeHandle,
        session: Option<SessionHandle>,
    ) -> Vec<(ExchangeHandle, Box<Upload>)> {
        let mut messages = Vec::new();
        let Some(((id, principal), revision, waiting)) = self.sessions.resolve(handle) else {
            return messages;
        };
        if let Some(session) = session.filter(|session| !self.sessions.has(*session)) {
            self.admit_session(session, Some(id), principal, revision, Outlet::None);
        }
        for handle in waiting {
            // The first of them may have ended it.
            let session = session.filter(|session| self.sessions.has(*session));
            let Some(exchange) = self.exchanges.get_mut(&handle) else { continue };
            if !matches!(exchange.phase, Phase::AwaitingSession(_)) {
                continue;
            }
            match (core::mem::replace(&mut exchange.phase, Phase::Running), session) {
                (Phase::AwaitingSession(Parked::Message(mut upload)), session) => {
                    upload.session = session.map_or(NamedSession::Unknown, NamedSession::Known);
                    upload.unknown = None;
                    exchange.session = session;
                    if let Some(session) = session {
                        self.sessions.hold(self.now, session, handle);
                    }
                    messages.push((handle, upload));
                }
                (Phase::AwaitingSession(Parked::Stream { after }), Some(session)) => {
                    self.serve_without_body(handle, session, Wanted::Stream, after.as_deref());
                }
                (Phase::AwaitingSession(Parked::SessionEnd), Some(session)) => {
                    self.serve_without_body(handle, session, Wanted::SessionEnd, None);
                }
                _ => self.refuse(handle, Refusal::UnknownSession),
            }
        }
        messages
    }
}

/// The revision that a request of a session names. Before 2025-06-18 there was no such header.
fn named_revision(found: Headers<'_>) -> Revision {
    let named = found.first(headers::PROTOCOL_VERSION).and_then(Revision::from_name);
    named.unwrap_or(Revision::V2025_03_26)
}
