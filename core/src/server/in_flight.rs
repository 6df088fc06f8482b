//! Requests of clients that wait for their answer: one table for all channels, sessions and eras. An id names a
//! request only among those of its own scope, so that equal ids of different clients never meet.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::error::ApiMisuse;
use crate::json::Json;
use crate::jsonrpc::RequestId;
use crate::machine::{ExchangeHandle, RequestHandle, SessionHandle, SubscriptionHandle};
use crate::revision::Method;
use crate::rounds::InputAnswer;
use crate::sorted::Sorted;

use super::RequestContext;
use super::answers::Addressee;
use super::source::{Scope, Source};

/// One request that waits for its answer.
#[derive(Debug)]
pub(super) struct InFlight {
    /// The id on the wire.
    pub(super) id: RequestId,
    /// The method; `None` for one of an extension.
    pub(super) method: Option<Method>,
    /// Where it came from, and its answer goes to.
    pub(super) source: Source,
    /// Whether something can be sent before its answer.
    pub(super) takes_stream: bool,
    /// What the application was told of it. Answers and state are those of the last round.
    pub(super) context: RequestContext,
    /// The progress told last, which the next must exceed.
    pub(super) progress: Option<f64>,
    /// The batch that the answer belongs to.
    pub(super) batch: Option<u64>,
    /// The parameters, for requests that can take several rounds.
    pub(super) params: Option<Json>,
    /// Questions sent to a legacy client and not answered yet.
    pub(super) asking: Option<Box<Asking>>,
    /// The subscription that this request keeps open; then the application owes no answer.
    pub(super) subscription: Option<SubscriptionHandle>,
}

impl InFlight {
    /// What its answer needs to know of it.
    pub(super) const fn addressee(&self, handle: RequestHandle) -> Addressee<'_> {
        Addressee { id: &self.id, handle, batch: self.batch, source: self.source }
    }
}

/// One round of questions to a legacy client.
#[derive(Debug)]
pub(super) struct Asking {
    /// A place for each question, filled as answers come.
    pub(super) answers: Vec<Option<InputAnswer>>,
    /// The questions that still stand, by the handle of the request that asks.
    pub(super) standing: Vec<RequestHandle>,
}

/// The table: by handle for the application, by id and scope for the wire.
#[derive(Debug, Default)]
pub(super) struct InFlightTable {
    by_handle: BTreeMap<RequestHandle, Box<InFlight>>,
    /// Requests by scope and id, of the byte stream and of sessions.
    by_id: Sorted<Named>,
    /// The only request of an exchange of its own.
    of_exchanges: BTreeMap<ExchangeHandle, RequestHandle>,
    /// Requests that ended before the application answered, whose late answers are taken in silence.
    late: Sorted<RequestHandle>,
}

/// What an id stands for.
#[derive(Debug)]
struct Named {
    scope: Scope,
    id: RequestId,
    request: RequestHandle,
}

impl InFlightTable {
    pub(super) fn len(&self) -> usize {
        self.by_handle.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.by_handle.is_empty()
    }

    /// Bytes of all their ids.
    pub(super) fn id_bytes(&self) -> usize {
        self.by_handle.values().map(|entry| entry.id.text_bytes()).sum()
    }

    /// Bytes of the longest id with its progress token, which messages about a request repeat.
    pub(super) fn longest_names(&self) -> usize {
        let names = self.by_handle.values().map(|entry| {
            let token = entry.context.progress_token.as_ref().map_or(0, |token| token.as_str().len());
            entry.id.text_bytes() + token
        });
        names.max().unwrap_or(0)
    }

    /// Most bytes that the lists take to hold so many more that arrive, and so many that end before they are answered.
    pub(super) fn growth(&self, arriving: usize, ending: usize) -> usize {
        self.by_id.growth(arriving) + self.late.growth(ending)
    }

    /// The place of a request in `by_id`, or where it would have to be.
    fn search(&self, scope: Scope, id: &RequestId) -> Result<usize, usize> {
        self.by_id.search(|named| named.scope.cmp(&scope).then_with(|| named.id.cmp(id)))
    }

    pub(super) fn contains_id(&self, scope: Scope, id: &RequestId) -> bool {
        !self.by_id.is_empty() && self.search(scope, id).is_ok()
    }

    pub(super) fn handle_of(&self, scope: Scope, id: &RequestId) -> Option<RequestHandle> {
        let at = self.search(scope, id).ok()?;
        self.by_id.get(at).map(|named| named.request)
    }

    pub(super) fn get(&self, handle: RequestHandle) -> Option<&InFlight> {
        self.by_handle.get(&handle).map(|entry| &**entry)
    }

    pub(super) fn get_mut(&mut self, handle: RequestHandle) -> Option<&mut InFlight> {
        self.by_handle.get_mut(&handle).map(|entry| &mut **entry)
    }

    /// Takes in a request whose id is not in flight in its scope.
    pub(super) fn insert(&mut self, handle: RequestHandle, entry: Box<InFlight>) {
        let scope = entry.source.scope();
        if scope != Scope::Exchange {
            if let Err(at) = self.search(scope, &entry.id) {
                self.by_id.insert_at(at, Named { scope, id: entry.id.clone(), request: handle });
            }
        } else if let Some(exchange) = entry.source.channel.exchange() {
            self.of_exchanges.insert(exchange, handle);
        }
        self.by_handle.insert(handle, entry);
    }

    /// Takes out a request that was answered.
    pub(super) fn remove(&mut self, handle: RequestHandle) -> Option<Box<InFlight>> {
        let entry = self.by_handle.remove(&handle)?;
        let scope = entry.source.scope();
        if scope != Scope::Exchange {
            if let Ok(at) = self.search(scope, &entry.id) {
                self.by_id.remove_at(at);
            }
        } else if let Some(exchange) = entry.source.channel.exchange() {
            self.of_exchanges.remove(&exchange);
        }
        Some(entry)
    }

    /// Takes out a request that the application may still answer, of which at most `limit` are remembered.
    pub(super) fn remove_unanswered(&mut self, handle: RequestHandle, limit: usize) -> Option<Box<InFlight>> {
        let entry = self.remove(handle)?;
        if entry.subscription.is_none() {
            self.late.insert(handle);
            if self.late.len() > limit {
                self.late.remove_at(0);
            }
        }
        Some(entry)
    }

    /// Whether this is the late answer to a request that ended before; it is so once.
    pub(super) fn take_late(&mut self, handle: RequestHandle) -> bool {
        self.late.remove(&handle)
    }

    pub(super) fn is_late(&self, handle: RequestHandle) -> bool {
        self.late.contains(&handle)
    }

    /// Why a request is not in the table. Handles up to `drawn` exist so far.
    pub(super) fn why_missing(handle: RequestHandle, drawn: u64) -> ApiMisuse {
        if handle.number() <= drawn { ApiMisuse::AlreadyAnswered } else { ApiMisuse::UnknownRequest }
    }

    /// Requests that the application owes an answer, in order of arrival.
    pub(super) fn owed(&self) -> Vec<RequestHandle> {
        let owed = self.by_handle.iter().filter(|(_, entry)| entry.subscription.is_none());
        owed.map(|(handle, _)| *handle).collect()
    }

    /// The request of an exchange that brought nothing but this one, outside any session.
    pub(super) fn of_exchange(&self, exchange: ExchangeHandle) -> Option<RequestHandle> {
        self.of_exchanges.get(&exchange).copied()
    }

    /// The requests of a session on HTTP, in order of arrival.
    pub(super) fn of_session(&self, session: SessionHandle) -> Vec<RequestHandle> {
        let of_session = self.by_id.iter().filter(|named| named.scope == Scope::Session(session));
        let mut requests: Vec<_> = of_session.map(|named| named.request).collect();
        requests.sort_unstable();
        requests
    }

    pub(super) fn clear(&mut self) {
        *self = InFlightTable::default();
    }
}
