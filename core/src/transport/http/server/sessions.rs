//! The legacy sessions: their ids, whom they belong to, and which of them nobody uses.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use crate::machine::{ExchangeHandle, NamedSession, SessionHandle};
use crate::revision::Revision;
use crate::seed::{Generator, Seed};
use crate::time::Instant;

/// Random bytes of an id: 24 make 32 characters.
const ID_BYTES: usize = 24;

/// What is known of a session.
#[derive(Debug)]
pub(super) struct Session {
    /// The id that its client names; none on HTTP+SSE, where the channel says it.
    pub(super) id: Option<Box<str>>,
    pub(super) principal: Option<Box<str>>,
    pub(super) revision: Revision,
    pub(super) outlet: Outlet,
    used_at: Instant,
    /// Under which time it stands in the order of those that may be idle.
    listed_at: Option<Instant>,
}

/// Where messages go that belong to no request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outlet {
    /// Nowhere yet.
    None,
    /// On this stream.
    Stream(u64),
    /// On this channel of HTTP+SSE.
    Channel(ExchangeHandle),
}

#[derive(Debug)]
pub(super) struct Sessions {
    all: BTreeMap<SessionHandle, Session>,
    by_id: BTreeMap<Box<str>, SessionHandle>,
    /// The exchanges that are open in each session.
    open: BTreeSet<(SessionHandle, ExchangeHandle)>,
    /// Sessions in the order of their last use as it was when they were listed. One that was used since moves when
    /// its turn comes, so that nothing has to be moved with each message.
    idle: BTreeSet<(Instant, SessionHandle)>,
    /// Exchanges that wait for a session that may live elsewhere, by its id and their principal.
    waiting: BTreeMap<Claim, Vec<ExchangeHandle>>,
    /// The exchange of each of them by which the host was asked.
    asked: BTreeMap<ExchangeHandle, (Claim, Revision)>,
    generator: Generator,
}

/// A session by its id, and who names it.
pub(super) type Claim = (Box<str>, Option<Box<str>>);

impl Sessions {
    pub(super) fn new(seed: &Seed) -> Sessions {
        Sessions {
            all: BTreeMap::new(),
            by_id: BTreeMap::new(),
            open: BTreeSet::new(),
            idle: BTreeSet::new(),
            waiting: BTreeMap::new(),
            asked: BTreeMap::new(),
            generator: Generator::new(seed, "session id"),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    pub(super) fn has(&self, session: SessionHandle) -> bool {
        self.all.contains_key(&session)
    }

    /// Whether there is a session of that id, whoever it belongs to.
    pub(super) fn has_id(&self, id: &str) -> bool {
        self.by_id.contains_key(id)
    }

    pub(super) fn get(&self, session: SessionHandle) -> Option<&Session> {
        self.all.get(&session)
    }

    pub(super) fn get_mut(&mut self, session: SessionHandle) -> Option<&mut Session> {
        self.all.get_mut(&session)
    }

    /// An id for a new session.
    pub(super) fn draw_id(&mut self) -> Box<str> {
        self.generator.token(ID_BYTES).into()
    }

    pub(super) fn insert(
        &mut self,
        now: Instant,
        handle: SessionHandle,
        id: Option<Box<str>>,
        principal: Option<Box<str>>,
        revision: Revision,
        outlet: Outlet,
    ) {
        if let Some(id) = &id {
            self.by_id.insert(id.clone(), handle);
        }
        let session = Session { id, principal, revision, outlet, used_at: now, listed_at: Some(now) };
        self.all.insert(handle, session);
        self.idle.insert((now, handle));
    }

    /// The session of that id, if it belongs to `principal`.
    pub(super) fn find(&self, id: &str, principal: Option<&str>) -> NamedSession {
        let found = self.by_id.get(id).and_then(|handle| Some((*handle, self.all.get(handle)?)));
        match found {
            Some((handle, session)) if session.principal.as_deref() == principal => {
                NamedSession::Known(handle)
            }
            _ => NamedSession::Unknown,
        }
    }

    /// An exchange waits for a session. True if it is the first, by which the host is to be asked.
    pub(super) fn wait(&mut self, claim: Claim, revision: Revision, exchange: ExchangeHandle) -> bool {
        let waiting = self.waiting.entry(claim.clone()).or_default();
        waiting.push(exchange);
        let is_first = waiting.len() == 1;
        if is_first {
            self.asked.insert(exchange, (claim, revision));
        }
        is_first
    }

    /// The host has answered what it was asked by this exchange: what was asked, the revision that the client named,
    /// and who waits for the answer.
    pub(super) fn resolve(
        &mut self,
        exchange: ExchangeHandle,
    ) -> Option<(Claim, Revision, Vec<ExchangeHandle>)> {
        let (claim, revision) = self.asked.remove(&exchange)?;
        let waiting = self.waiting.remove(&claim)?;
        Some((claim, revision, waiting))
    }

    /// An exchange begins in the session.
    pub(super) fn hold(&mut self, now: Instant, session: SessionHandle, exchange: ExchangeHandle) {
        if let Some(found) = self.all.get_mut(&session) {
            found.used_at = now;
            self.open.insert((session, exchange));
        }
    }

    /// An exchange of the session is over.
    pub(super) fn release(&mut self, now: Instant, session: SessionHandle, exchange: ExchangeHandle) {
        self.open.remove(&(session, exchange));
        if let Some(found) = self.all.get_mut(&session) {
            found.used_at = now;
            if found.listed_at.is_none() {
                found.listed_at = Some(now);
                self.idle.insert((now, session));
            }
        }
    }

    /// The exchanges that are open in the session.
    pub(super) fn exchanges(&self, session: SessionHandle) -> Vec<ExchangeHandle> {
        let all =
            (session, ExchangeHandle::from_number(0))..=(session, ExchangeHandle::from_number(u64::MAX));
        self.open.range(all).map(|(_, exchange)| *exchange).collect()
    }

    fn is_busy(&self, session: SessionHandle) -> bool {
        let all =
            (session, ExchangeHandle::from_number(0))..=(session, ExchangeHandle::from_number(u64::MAX));
        self.open.range(all).next().is_some()
    }

    /// The session that was idle longest; none if all have exchanges.
    pub(super) fn longest_idle(&mut self) -> Option<SessionHandle> {
        self.first_in_order().map(|(_, session)| session)
    }

    /// The same, with the time since when.
    fn first_in_order(&mut self) -> Option<(Instant, SessionHandle)> {
        while let Some((listed_at, handle)) = self.idle.first().copied() {
            let is_busy = self.is_busy(handle);
            let Some(session) = self.all.get_mut(&handle) else {
                self.idle.pop_first();
                continue;
            };
            if !is_busy && session.used_at == listed_at {
                return Some((listed_at, handle));
            }
            self.idle.pop_first();
            session.listed_at = (!is_busy).then_some(session.used_at);
            if let Some(used_at) = session.listed_at {
                self.idle.insert((used_at, handle));
            }
        }
        None
    }

    /// A session that was not used since `before`.
    pub(super) fn idle_since(&mut self, before: Instant) -> Option<SessionHandle> {
        // The list is by times that can only have become later.
        if self.idle.first().is_none_or(|(listed_at, _)| *listed_at > before) {
            return None;
        }
        self.first_in_order().filter(|(since, _)| *since <= before).map(|(_, session)| session)
    }

    /// No session was idle since before this.
    pub(super) fn first_idle(&self) -> Option<Instant> {
        self.idle.first().map(|(since, _)| *since)
    }

    pub(super) fn remove(&mut self, handle: SessionHandle) -> Option<Session> {
        let session = self.all.remove(&handle)?;
        if let Some(id) = &session.id {
            self.by_id.remove(id);
        }
        if let Some(listed_at) = session.listed_at {
            self.idle.remove(&(listed_at, handle));
        }
        for exchange in self.exchanges(handle) {
            self.open.remove(&(handle, exchange));
        }
        Some(session)
    }
}
