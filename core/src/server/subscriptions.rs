//! What clients watch: `subscriptions/listen` from 2026-07-28, `resources/subscribe` and unasked list notices before.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::error::{ApiMisuse, Error, Limit};
use crate::json::{MAX_DEPTH, scan};
use crate::jsonrpc::{RpcError, write};
use crate::machine::{Disposition, RequestHandle, Route, SessionHandle, SubscriptionHandle};
use crate::revision::{Capability, Method, Revision, meta};
use crate::sorted::Sorted;
use crate::subscription::{Change, ListKind, RESOURCE_SUBSCRIPTIONS, SubscriptionFilter};

use super::in_flight::InFlight;
use super::intake::Arrival;
use super::modern::Caller;
use super::sessions::Session;
use super::source::{Channel, to_session};
use super::text::{MessageText, object, string};
use super::{Event, Server, refusal};

/// Everything that is watched.
#[derive(Debug, Default)]
pub(super) struct Subscriptions {
    open: BTreeMap<SubscriptionHandle, Box<Subscription>>,
    /// Those that watch a resource, by URI.
    by_uri: BTreeMap<Arc<str>, Sorted<SubscriptionHandle>>,
    /// Those of requests of their own, in all and on the byte stream.
    listening: usize,
    listening_on_stream: usize,
    /// URIs in the filters of those on the byte stream.
    watched_on_stream: usize,
    /// Those of requests of their own that watch lists.
    of_lists: Sorted<SubscriptionHandle>,
    /// Lists that have changed since clients were last told.
    changed: SubscriptionFilter,
}

#[derive(Debug)]
enum Subscription {
    /// A `subscriptions/listen` request keeps it open.
    Listen { request: RequestHandle, filter: SubscriptionFilter, on_stream: bool },
    /// A legacy client watches one resource.
    Legacy { session: SessionHandle, uri: Arc<str> },
}

impl Subscriptions {
    fn add(&mut self, handle: SubscriptionHandle, subscription: Subscription) {
        match &subscription {
            Subscription::Legacy { uri, .. } => {
                self.by_uri.entry(Arc::clone(uri)).or_default().insert(handle);
            }
            Subscription::Listen { filter, on_stream, .. } => {
                for uri in &filter.resource_uris {
                    self.by_uri.entry(Arc::from(&**uri)).or_default().insert(handle);
                }
                if ListKind::ALL.into_iter().any(|kind| filter.list(kind)) {
                    self.of_lists.insert(handle);
                }
                self.listening += 1;
                if *on_stream {
                    self.listening_on_stream += 1;
                    self.watched_on_stream += filter.resource_uris.len();
                }
            }
        }
        self.open.insert(handle, Box::new(subscription));
    }

    fn get(&self, handle: SubscriptionHandle) -> Option<&Subscription> {
        self.open.get(&handle).map(|subscription| &**subscription)
    }

    fn remove(&mut self, handle: SubscriptionHandle) -> Option<Subscription> {
        let subscription = self.open.remove(&handle)?;
        match &*subscription {
            Subscription::Legacy { uri, .. } => self.forget_uri(uri, handle),
            Subscription::Listen { filter, on_stream, .. } => {
                for uri in &filter.resource_uris {
                    self.forget_uri(uri, handle);
                }
                self.of_lists.remove(&handle);
                self.listening -= 1;
                if *on_stream {
                    self.listening_on_stream -= 1;
                    self.watched_on_stream -= filter.resource_uris.len();
                }
            }
        }
        Some(*subscription)
    }

    fn forget_uri(&mut self, uri: &str, handle: SubscriptionHandle) {
        if let Some(watching) = self.by_uri.get_mut(uri) {
            watching.remove(&handle);
            if watching.is_empty() {
                self.by_uri.remove(uri);
            }
        }
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.open.len()
    }

    /// Most bytes that the lists of handles take to hold one more subscription, which watches everything.
    pub(super) fn growth(&self) -> usize {
        self.of_lists.growth(1) + self.by_uri.values().map(|watching| watching.growth(1)).sum::<usize>()
    }

    /// Of how many lists watchers have still to be told that they changed.
    pub(super) fn changes(&self) -> usize {
        ListKind::ALL.into_iter().filter(|&kind| self.changed.list(kind)).count()
    }

    /// How many are kept open by a request of their own.
    pub(super) const fn listening(&self) -> usize {
        self.listening
    }

    /// How many of those have an exchange of their own.
    pub(super) const fn listening_apart(&self) -> usize {
        self.listening - self.listening_on_stream
    }

    /// What is watched that a change of `uri` concerns: it, or something above it (`notifications/resources/updated` in
    /// the schema).
    fn covering<'uri>(&self, uri: &'uri str) -> Vec<(&'uri str, &Sorted<SubscriptionHandle>)> {
        let slashes = uri.bytes().enumerate().filter(|(_, byte)| *byte == b'/').map(|(at, _)| at);
        // Ends are beside ASCII characters, so that they lie on character boundaries.
        let above = slashes.flat_map(|at| [at, at + 1]).filter(|end| *end < uri.len());
        let covering = above.chain([uri.len()]).map(|end| &uri[..end]);
        covering.filter_map(|uri| self.by_uri.get(uri).map(|watching| (uri, watching))).collect()
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
        if !arrival.envelope.takes_stream {
            let error = refusal::invalid_request("a subscription needs a stream of events as response");
            return self.deliver(&to, write::error(Some(to.id), &error), Disposition::NotAcceptable);
        }
        let Some(asked) = object(arrival.params.notifications) else {
            return self.decline(&to, &refusal::invalid_params("notifications is not an object"));
        };
        let mut filter = match read_filter(asked) {
            Ok(filter) => filter,
            Err(error) => return self.decline(&to, &error),
        };
        self.narrow(&mut filter);
        let on_stream = arrival.source.channel == Channel::Stream;
        if let Err(error) = self.check_room_to_listen(on_stream, filter.resource_uris.len()) {
            return self.refuse(&to, &error);
        }
        let subscription = SubscriptionHandle::from_number(arrival.handle.number());
        let entry = InFlight {
            id: arrival.id.clone(),
            method: Some(Method::SubscriptionsListen),
            context: self.context(arrival, caller, message),
            source: arrival.source,
            takes_stream: arrival.envelope.takes_stream,
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
        let labels = arrival.source.labels(Disposition::Continues);
        self.queues.send(text, Route::Within(arrival.handle), labels);
        let (request, kept) = (arrival.handle, filter.clone());
        self.subscriptions.add(subscription, Subscription::Listen { request, filter: kept, on_stream });
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

    /// Whether a request can listen to so many resources. On the byte stream its client is the one that may have
    /// a session too; on HTTP nobody says which requests have the same client, and each counts alone.
    fn check_room_to_listen(&self, on_stream: bool, uris: usize) -> Result<(), RpcError> {
        let limits = &self.config.limits;
        let (open, most, watched) = if on_stream {
            let (open, watched) = self.watched_on_stream();
            (open, limits.subscriptions, watched)
        } else {
            (self.subscriptions.listening_apart(), limits.sessions, 0)
        };
        check_counts((open, most), (watched, limits.watched_resources), uris).map_err(|limit| match limit {
            Limit::WatchedResources => refusal::overloaded("watched resources"),
            _ => refusal::overloaded("subscriptions"),
        })
    }

    /// How much the client of the byte stream watches: subscriptions, and resources.
    fn watched_on_stream(&self) -> (usize, usize) {
        let session = self.sessions.of_stream().and_then(|session| self.sessions.get(session));
        let watched = session.map_or(0, |session| session.watched.len());
        (watched + self.subscriptions.listening_on_stream, watched + self.subscriptions.watched_on_stream)
    }

    /// Whether the client of a session can watch so many more resources.
    fn check_room_of(&self, session: &Session, uris: usize) -> Result<(), Limit> {
        let (open, watched) = if self.sessions.of_stream() == Some(session.handle) {
            self.watched_on_stream()
        } else {
            (session.watched.len(), session.watched.len())
        };
        let limits = &self.config.limits;
        check_counts((open, limits.subscriptions), (watched, limits.watched_resources), uris)
    }

    /// Answers `resources/subscribe` (server/resources, up to 2025-11-25).
    pub(super) fn subscribe(&mut self, arrival: &Arrival<'_>, revision: Revision) {
        let to = arrival.addressee();
        let Some(uri) = string(arrival.params.uri) else {
            return self.decline(&to, &refusal::invalid_params("uri is missing or not a string"));
        };
        let Some(session) = arrival.source.session.and_then(|session| self.sessions.get(session)) else {
            return;
        };
        if !session.watched.contains_key(&*uri) {
            match self.check_room_of(session, 1) {
                Ok(()) => {}
                Err(Limit::WatchedResources) => {
                    return self.refuse(&to, &refusal::overloaded("watched resources"));
                }
                Err(_) => return self.refuse(&to, &refusal::overloaded("subscriptions")),
            }
            self.watch(session.handle, &uri, SubscriptionHandle::from_number(arrival.handle.number()));
        }
        self.answer_now(&to, Method::ResourcesSubscribe, revision, "{}");
    }

    /// Lets a legacy client watch a resource that it does not watch yet.
    pub(super) fn watch(&mut self, session: SessionHandle, uri: &str, subscription: SubscriptionHandle) {
        let filter =
            SubscriptionFilter { resource_uris: Vec::from([uri.into()]), ..SubscriptionFilter::default() };
        let uri: Arc<str> = uri.into();
        if let Some(session) = self.sessions.get_mut(session) {
            session.watched.insert(Arc::clone(&uri), subscription);
        }
        self.subscriptions.add(subscription, Subscription::Legacy { session, uri });
        self.queues.tell(Event::SubscriptionOpened { subscription, filter });
    }

    /// What a session from another process watches, each resource once, if there is room for it.
    pub(super) fn check_watched(&self, mut uris: Vec<Box<str>>) -> Result<Vec<Box<str>>, Error> {
        uris.sort_unstable();
        uris.dedup();
        let (open, watched) =
            if self.sessions.of_stream().is_none() { self.watched_on_stream() } else { (0, 0) };
        let limits = &self.config.limits;
        if open + uris.len() > limits.subscriptions {
            return Err(Limit::Subscriptions.into());
        }
        if watched + uris.len() > limits.watched_resources {
            return Err(Limit::WatchedResources.into());
        }
        Ok(uris)
    }

    /// Answers `resources/unsubscribe`; nothing watched is as good as no longer watched.
    pub(super) fn unsubscribe(&mut self, arrival: &Arrival<'_>, revision: Revision) {
        let to = arrival.addressee();
        let Some(uri) = string(arrival.params.uri) else {
            return self.decline(&to, &refusal::invalid_params("uri is missing or not a string"));
        };
        let session = arrival.source.session.and_then(|session| self.sessions.get(session));
        if let Some(subscription) = session.and_then(|session| session.watched.get(&*uri).copied()) {
            self.subscription_gone(subscription);
        }
        self.answer_now(&to, Method::ResourcesUnsubscribe, revision, "{}");
    }

    /// Forgets a subscription that its client gave up.
    pub(super) fn subscription_gone(&mut self, subscription: SubscriptionHandle) {
        if self.forget_subscription(subscription).is_some() {
            self.queues.tell(Event::SubscriptionClosed { subscription });
        }
    }

    fn forget_subscription(&mut self, subscription: SubscriptionHandle) -> Option<Subscription> {
        let forgotten = self.subscriptions.remove(subscription)?;
        if let Subscription::Legacy { session, uri } = &forgotten
            && let Some(session) = self.sessions.get_mut(*session)
        {
            session.watched.remove(uri);
        }
        Some(forgotten)
    }

    pub(super) fn end_in_order(&mut self, subscription: SubscriptionHandle) -> Result<(), Error> {
        self.tell_changes();
        let ended = self.forget_subscription(subscription).ok_or(ApiMisuse::UnknownSubscription)?;
        if let Subscription::Listen { request, .. } = ended
            && let Some(entry) = self.in_flight.get(request)
        {
            let mut id = String::new();
            entry.id.write_to(&mut id);
            let extra = Some((meta::SUBSCRIPTION_ID, id.as_str()));
            let text =
                self.write_answer(&entry.id, entry.method, entry.context.revision, "{}".into(), extra)?;
            self.finish(request, text, Disposition::Answers);
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
        for session in self.sessions.iter() {
            if session.is_open && session.declared.has(kind.capability()) {
                let text = write::notification(name, None);
                self.queues.send(text, Route::Alone, to_session(session.handle));
            }
        }
        for subscription in self.subscriptions.of_lists.iter() {
            if let Some(Subscription::Listen { request, filter, .. }) = self.subscriptions.get(*subscription)
                && filter.list(kind)
                && let Some(entry) = self.in_flight.get(*request)
            {
                let mut params = String::from("{");
                tag(&mut params, &entry.id);
                params.push('}');
                let labels = entry.source.labels(Disposition::Continues);
                let text = write::notification(name, Some(&params));
                self.queues.send(text, Route::Within(*request), labels);
            }
        }
    }

    fn tell_resource(&mut self, uri: &str) {
        let name = Method::ResourcesUpdated.name();
        let covering = self.subscriptions.covering(uri);
        // In order of creation.
        let mut watching: Vec<_> =
            covering.iter().flat_map(|(_, watching)| watching.iter()).copied().collect();
        watching.sort_unstable();
        watching.dedup();
        for subscription in watching {
            let mut params = String::from("{");
            let (route, labels) = match self.subscriptions.get(subscription) {
                Some(Subscription::Listen { request, .. }) => {
                    let Some(entry) = self.in_flight.get(*request) else { continue };
                    tag(&mut params, &entry.id);
                    params.push(',');
                    (Route::Within(*request), entry.source.labels(Disposition::Continues))
                }
                Some(Subscription::Legacy { session, .. }) => {
                    let Some(session) = self.sessions.get(*session) else { continue };
                    // A legacy client is told once, however many of its URIs cover this one.
                    let of_session = covering.iter().filter_map(|(uri, _)| session.watched.get(*uri));
                    if of_session.min() != Some(&subscription) {
                        continue;
                    }
                    (Route::Alone, to_session(session.handle))
                }
                None => continue,
            };
            params.push_str("\"uri\":");
            write::string(&mut params, uri);
            params.push('}');
            self.queues.send(write::notification(name, Some(&params)), route, labels);
        }
    }
}

/// Checks that one more subscription with so many resources fits: each pair is what there is and what there may be.
fn check_counts(open: (usize, usize), watched: (usize, usize), uris: usize) -> Result<(), Limit> {
    if open.0 >= open.1 {
        return Err(Limit::Subscriptions);
    }
    if watched.0 + uris > watched.1 {
        return Err(Limit::WatchedResources);
    }
    Ok(())
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
