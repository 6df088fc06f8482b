//! What clients watch: `subscriptions/listen` from 2026-07-28, `resources/subscribe` and unasked list notices before.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use crate::error::{ApiMisuse, Error, Limit};
use crate::json::{MAX_DEPTH, scan};
use crate::jsonrpc::{RpcError, write};
use crate::machine::{RequestHandle, Route, SubscriptionHandle};
use crate::revision::{Capability, Method, Revision, meta};
use crate::subscription::{Change, ListKind, RESOURCE_SUBSCRIPTIONS, SubscriptionFilter};

use super::in_flight::InFlight;
use super::intake::Arrival;
use super::modern::Caller;
use super::text::{MessageText, object, string};
use super::{Event, Server, refusal};

/// Everything that is watched on the channel.
#[derive(Debug, Default)]
pub(super) struct Subscriptions {
    open: BTreeMap<SubscriptionHandle, Subscription>,
    /// Legacy subscriptions, by URI.
    by_uri: BTreeMap<Box<str>, SubscriptionHandle>,
    /// URIs in all filters.
    watched: usize,
    /// Lists that have changed since clients were last told.
    changed: SubscriptionFilter,
}

#[derive(Debug)]
struct Subscription {
    filter: SubscriptionFilter,
    /// The `subscriptions/listen` request that keeps it open; `None` in the legacy era.
    request: Option<RequestHandle>,
}

impl Subscriptions {
    fn add(&mut self, handle: SubscriptionHandle, subscription: Subscription) {
        self.watched += subscription.filter.resource_uris.len();
        self.open.insert(handle, subscription);
    }

    fn remove(&mut self, handle: SubscriptionHandle) -> Option<Subscription> {
        let subscription = self.open.remove(&handle)?;
        self.watched -= subscription.filter.resource_uris.len();
        if subscription.request.is_none() {
            for uri in &subscription.filter.resource_uris {
                self.by_uri.remove(uri);
            }
        }
        Some(subscription)
    }

    /// The URIs that a legacy client watches.
    pub(super) fn watched_uris(&self) -> impl Iterator<Item = &str> {
        self.by_uri.keys().map(AsRef::as_ref)
    }

    /// How many are kept open by a request of their own.
    pub(super) fn listening(&self) -> usize {
        self.open.len().saturating_sub(self.by_uri.len())
    }

    pub(super) fn close_all(&mut self) -> Vec<SubscriptionHandle> {
        let handles = self.open.keys().copied().collect();
        *self = Subscriptions::default();
        handles
    }
}

impl Server {
    /// Opens a subscription from 2026-07-28 on (basic/patterns/subscriptions).
    pub(super) fn listen(&mut self, arrival: &Arrival<'_>, caller: Caller, message: &mut MessageText<'_>) {
        let to = arrival.addressee();
        let Some(asked) = object(arrival.params.notifications) else {
            return self.refuse(&to, &refusal::invalid_params("notifications is not an object"));
        };
        let mut filter = match read_filter(asked) {
            Ok(filter) => filter,
            Err(error) => return self.refuse(&to, &error),
        };
        self.narrow(&mut filter);
        if let Err(error) = self.check_room(filter.resource_uris.len()) {
            return self.refuse(&to, &error);
        }
        let subscription = SubscriptionHandle::from_number(arrival.handle.number());
        let entry = InFlight {
            id: arrival.id.clone(),
            method: Some(Method::SubscriptionsListen),
            context: self.context(arrival, caller, message),
            exchange: self.exchange,
            progress: None,
            batch: arrival.batch,
            params: None,
            asking: None,
            subscription: Some(subscription),
        };
        if !self.enter(arrival.handle, Box::new(entry)) {
            return;
        }
        // The acknowledgement comes before anything else of the subscription.
        let mut params = String::from("{");
        tag(&mut params, &arrival.id);
        params.push_str(",\"notifications\":");
        write_filter(&mut params, &filter);
        params.push('}');
        let text = write::notification(Method::SubscriptionsAcknowledged.name(), Some(&params));
        self.queues.send(text, Route::Within(arrival.handle));
        let request = Some(arrival.handle);
        self.subscriptions.add(subscription, Subscription { filter: filter.clone(), request });
        self.queues.tell(Event::SubscriptionOpened { subscription, filter });
    }

    /// Leaves in a filter what is declared.
    fn narrow(&self, filter: &mut SubscriptionFilter) {
        for kind in ListKind::ALL {
            filter.set_list(kind, filter.list(kind) && self.offered.has(kind.capability()));
        }
        if !self.offered.has(Capability::ResourcesSubscribe) {
            filter.resource_uris.clear();
        }
    }

    fn check_room(&self, uris: usize) -> Result<(), RpcError> {
        let limits = &self.config.limits;
        if self.subscriptions.open.len() >= limits.subscriptions {
            return Err(refusal::overloaded("subscriptions"));
        }
        if self.subscriptions.watched + uris > limits.watched_resources {
            return Err(refusal::overloaded("watched resources"));
        }
        Ok(())
    }

    /// Answers `resources/subscribe` (server/resources, up to 2025-11-25).
    pub(super) fn subscribe(&mut self, arrival: &Arrival<'_>, revision: Revision) {
        let to = arrival.addressee();
        let Some(uri) = string(arrival.params.uri) else {
            return self.refuse(&to, &refusal::invalid_params("uri is missing or not a string"));
        };
        if !self.subscriptions.by_uri.contains_key(&*uri) {
            if let Err(error) = self.check_room(1) {
                return self.refuse(&to, &error);
            }
            self.watch(&uri, SubscriptionHandle::from_number(arrival.handle.number()));
        }
        self.answer_now(&to, Method::ResourcesSubscribe, revision, "{}");
    }

    /// Lets the legacy client watch a resource that it does not watch yet.
    fn watch(&mut self, uri: &str, subscription: SubscriptionHandle) {
        let uri: Box<str> = uri.into();
        let filter =
            SubscriptionFilter { resource_uris: Vec::from([uri.clone()]), ..SubscriptionFilter::default() };
        self.subscriptions.by_uri.insert(uri, subscription);
        self.subscriptions.add(subscription, Subscription { filter: filter.clone(), request: None });
        self.queues.tell(Event::SubscriptionOpened { subscription, filter });
    }

    /// Lets the client of a session that came from another process watch what it watched there.
    pub(super) fn watch_again(&mut self, uris: &[Box<str>]) -> Result<(), Error> {
        let mut fresh: Vec<&str> = uris.iter().map(AsRef::as_ref).collect();
        fresh.sort_unstable();
        fresh.dedup();
        let limits = &self.config.limits;
        if self.subscriptions.open.len() + fresh.len() > limits.subscriptions {
            return Err(Limit::Subscriptions.into());
        }
        if self.subscriptions.watched + fresh.len() > limits.watched_resources {
            return Err(Limit::WatchedResources.into());
        }
        for uri in fresh {
            let subscription = SubscriptionHandle::from_number(self.draw().number());
            self.watch(uri, subscription);
        }
        Ok(())
    }

    /// Answers `resources/unsubscribe`; nothing watched is as good as no longer watched.
    pub(super) fn unsubscribe(&mut self, arrival: &Arrival<'_>, revision: Revision) {
        let to = arrival.addressee();
        let Some(uri) = string(arrival.params.uri) else {
            return self.refuse(&to, &refusal::invalid_params("uri is missing or not a string"));
        };
        if let Some(subscription) = self.subscriptions.by_uri.get(&*uri).copied() {
            self.subscription_gone(subscription);
        }
        self.answer_now(&to, Method::ResourcesUnsubscribe, revision, "{}");
    }

    /// Forgets a subscription that its client gave up.
    pub(super) fn subscription_gone(&mut self, subscription: SubscriptionHandle) {
        if self.subscriptions.remove(subscription).is_some() {
            self.queues.tell(Event::SubscriptionClosed { subscription });
        }
    }

    pub(super) fn end_in_order(&mut self, subscription: SubscriptionHandle) -> Result<(), Error> {
        self.tell_changes();
        let ended = self.subscriptions.remove(subscription).ok_or(ApiMisuse::UnknownSubscription)?;
        if let Some(request) = ended.request
            && let Some(entry) = self.in_flight.get(request)
        {
            let mut id = String::new();
            entry.id.write_to(&mut id);
            let extra = Some((meta::SUBSCRIPTION_ID, id.as_str()));
            let text =
                self.write_answer(&entry.id, entry.method, entry.context.revision, "{}".into(), extra)?;
            self.finish(request, text);
        }
        self.queues.tell(Event::SubscriptionClosed { subscription });
        Ok(())
    }

    pub(super) fn end_all_in_order(&mut self) {
        let open: Vec<_> = self.subscriptions.open.keys().copied().collect();
        for subscription in open {
            // Every handle is open.
            let _ = self.end_in_order(subscription);
        }
    }

    /// Notes a change of the catalog.
    pub(super) fn list_changed(&mut self, kind: ListKind) {
        let declared: &[Capability] = match kind {
            ListKind::Tools => &[Capability::Tools],
            ListKind::Resources => &[Capability::Resources, Capability::ResourcesSubscribe],
            ListKind::Prompts => &[Capability::Prompts],
        };
        for capability in declared {
            self.offered.insert(*capability);
        }
        self.offered.insert(kind.capability());
        self.subscriptions.changed.set_list(kind, true);
    }

    pub(super) fn fan_out(&mut self, change: &Change) {
        match change {
            // Told when the host next looks for something to send, so that many changes are one notice.
            Change::List(kind) => self.subscriptions.changed.set_list(*kind, true),
            Change::Resource(uri) => self.tell_resource(uri),
        }
    }

    /// Tells clients of lists that have changed.
    pub(super) fn tell_changes(&mut self) {
        if self.subscriptions.changed.is_empty() {
            return;
        }
        let changed = core::mem::take(&mut self.subscriptions.changed);
        for kind in ListKind::ALL.into_iter().filter(|kind| changed.list(*kind)) {
            self.tell_list(kind);
        }
    }

    fn tell_list(&mut self, kind: ListKind) {
        let name = kind.method().name();
        if let Some(session) = &self.session
            && session.is_open
            && session.declared.has(kind.capability())
        {
            self.queues.send(write::notification(name, None), Route::Alone);
        }
        let watching = self.subscriptions.open.values().filter(|one| one.filter.list(kind));
        for request in watching.filter_map(|one| one.request) {
            if let Some(entry) = self.in_flight.get(request) {
                let mut params = String::from("{");
                tag(&mut params, &entry.id);
                params.push('}');
                self.queues.send(write::notification(name, Some(&params)), Route::Within(request));
            }
        }
    }

    fn tell_resource(&mut self, uri: &str) {
        let name = Method::ResourcesUpdated.name();
        let watches =
            |filter: &SubscriptionFilter| filter.resource_uris.iter().any(|watched| covers(watched, uri));
        // A legacy client is told once, however many of its URIs cover this one.
        let mut legacy_told = false;
        for one in self.subscriptions.open.values().filter(|one| watches(&one.filter)) {
            let mut params = String::from("{");
            let route = match one.request {
                Some(request) => {
                    let Some(entry) = self.in_flight.get(request) else { continue };
                    tag(&mut params, &entry.id);
                    params.push(',');
                    Route::Within(request)
                }
                None if legacy_told => continue,
                None => {
                    legacy_told = true;
                    Route::Alone
                }
            };
            params.push_str("\"uri\":");
            write::string(&mut params, uri);
            params.push('}');
            self.queues.send(write::notification(name, Some(&params)), route);
        }
    }
}

/// Whether a client that watches `watched` is told of `uri`: the same resource, or one below it
/// (`notifications/resources/updated` in the schema).
fn covers(watched: &str, uri: &str) -> bool {
    uri.strip_prefix(watched)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || watched.ends_with('/'))
}

/// Appends the `_meta` that says which subscription a notification belongs to: the id of its request.
fn tag(out: &mut String, id: &crate::jsonrpc::RequestId) {
    out.push_str("\"_meta\":{\"");
    out.push_str(meta::SUBSCRIPTION_ID);
    out.push_str("\":");
    id.write_to(out);
    out.push('}');
}

fn read_filter(text: &str) -> Result<SubscriptionFilter, RpcError> {
    let mut filter = SubscriptionFilter::default();
    let mut is_sound = true;
    let _ = scan::object_members(text, MAX_DEPTH, |key, value| {
        let (key, value) = (&text[key], &text[value]);
        if let Some(kind) = ListKind::ALL.into_iter().find(|kind| kind.filter_member() == key) {
            filter.set_list(kind, value == "true");
            is_sound &= matches!(value, "true" | "false" | "null");
        } else if key == RESOURCE_SUBSCRIPTIONS && value != "null" {
            filter.resource_uris.clear();
            let read =
                scan::array_elements(value, MAX_DEPTH, |element| match string(Some(&value[element])) {
                    Some(uri) => filter.resource_uris.push(uri.into()),
                    None => is_sound = false,
                });
            is_sound &= read.is_ok();
        }
    });
    filter.resource_uris.sort_unstable();
    filter.resource_uris.dedup();
    if is_sound { Ok(filter) } else { Err(refusal::invalid_params("notifications is malformed")) }
}

fn write_filter(out: &mut String, filter: &SubscriptionFilter) {
    out.push('{');
    let mut separator = "";
    for kind in ListKind::ALL.into_iter().filter(|kind| filter.list(*kind)) {
        out.push_str(separator);
        write::string(out, kind.filter_member());
        out.push_str(":true");
        separator = ",";
    }
    if !filter.resource_uris.is_empty() {
        out.push_str(separator);
        write::string(out, RESOURCE_SUBSCRIPTIONS);
        out.push_str(":[");
        for (at, uri) in filter.resource_uris.iter().enumerate() {
            if at > 0 {
                out.push(',');
            }
            write::string(out, uri);
        }
        out.push(']');
    }
    out.push('}');
}
