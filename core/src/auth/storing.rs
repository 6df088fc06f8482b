//! Reading and writing the store, which other processes use as well. What is written replaces only what was read: who finds
//! that it has changed takes what is there, or adds to it.

use alloc::boxed::Box;

use super::action::{ActionKind, SaveOutcome, StoredRecord};
use super::config::Grant;
use super::flow::{Reason, Step};
use super::record::{Record, Token};
use super::registration::Origin;
use super::{Authorization, State, TokenStanding};

/// How often the store may have changed under one flow; after that what is new stays in memory.
const MOST_CONFLICTS: u32 = 4;

/// What is being stored, by what follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Then {
    /// A client; the flow goes on as it.
    GoOn,
    /// A token; the flow is over.
    Finish,
}

impl Authorization {
    /// The store was read.
    pub(super) fn on_loaded(&mut self, stored: Option<StoredRecord>) {
        let State::Working(flow) = &self.state else { return };
        let is_first = matches!(flow.step, Step::Loading);
        let began_with = flow.generation;
        self.adopt(stored);
        if is_first {
            self.after_loading();
        } else if self.current_generation() != began_with {
            self.finish();
        } else {
            self.after_reloading();
        }
    }

    pub(super) fn after_loading(&mut self) {
        let (current, scopes) = (self.current_generation(), self.scopes());
        let wants_renewal = self.wants_renewal(self.now);
        let Some(flow) = self.flow() else { return };
        if flow.reason == Reason::Read {
            flow.generation = current;
            flow.previous = scopes;
            flow.reason = Reason::Renew;
            if !wants_renewal {
                return self.finish();
            }
        }
        // Another process may have done it.
        if self.flow().is_some_and(|flow| flow.generation != current) {
            self.finish();
        } else {
            self.renew();
        }
    }

    /// Takes over what is stored, if it is not what was read or written last.
    fn adopt(&mut self, stored: Option<StoredRecord>) {
        let (generation, read) = read(stored);
        if generation == self.stored {
            return;
        }
        self.stored = generation;
        self.take_over(read);
    }

    fn take_over(&mut self, mut read: Record) {
        let token = read.token.take().filter(|token| token.is_sound(&self.config.server_url, self.plaintext));
        read.token = self.record.token.take();
        self.record = read;
        if token != self.record.token {
            self.replace_token(token, TokenStanding::default());
        }
    }

    /// Writes the store.
    pub(super) fn save(&mut self, then: Then) {
        let record = StoredRecord { generation: self.stored.saturating_add(1), text: self.record.text() };
        self.go_on(Step::Saving(then), ActionKind::Save { expected: self.stored, record });
    }

    /// The store was written, or has changed.
    pub(super) fn on_saved(&mut self, outcome: SaveOutcome) {
        let State::Working(flow) = &mut self.state else { return };
        let Step::Saving(then) = flow.step else { return };
        match outcome {
            SaveOutcome::Saved => {
                self.stored = self.stored.saturating_add(1);
                self.after_saving();
            }
            SaveOutcome::Conflict(_) if flow.tried.conflicts >= MOST_CONFLICTS => self.after_saving(),
            SaveOutcome::Conflict(stored) => {
                flow.tried.conflicts += 1;
                self.on_conflict(then, stored);
            }
        }
    }

    fn on_conflict(&mut self, then: Then, stored: Option<StoredRecord>) {
        let (generation, theirs) = read(stored);
        self.stored = generation;
        let State::Working(flow) = &mut self.state else { return };
        let is_new = |token: &Token| flow.began_with.as_ref() != Some(token);
        if theirs.token.as_ref().is_some_and(is_new) {
            self.take_over(theirs);
            return self.finish();
        }
        let Grant::AuthorizationCode(grant) = &self.config.grant else {
            self.record.add_clients_of(&theirs);
            return self.save(then);
        };
        let issuer: Box<str> = flow.issuer().into();
        if let Some(client) =
            theirs.client(&issuer, &grant.redirect_uri, self.now).filter(|_| then == Then::GoOn)
        {
            flow.client = Some((client, Origin::Kept));
            self.record.add_clients_of(&theirs);
            return self.after_saving();
        }
        self.record.add_clients_of(&theirs);
        self.save(then);
    }

    /// What is new is stored, or stays in memory for want of a store.
    pub(super) fn after_saving(&mut self) {
        let State::Working(flow) = &self.state else { return };
        match flow.step {
            Step::Saving(Then::GoOn) => self.after_choosing(),
            Step::Saving(Then::Finish) => self.finish(),
            _ => {}
        }
    }
}

fn read(stored: Option<StoredRecord>) -> (u64, Record) {
    stored.map_or_else(Default::default, |stored| (stored.generation, Record::read(&stored.text)))
}
