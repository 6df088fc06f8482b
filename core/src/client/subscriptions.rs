//! Subscriptions to changes: a listen stream each in the modern era (basic/patterns/subscriptions), counted
//! requests per resource and standing promises per list in the legacy one (server/resources, Subscriptions).

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;

use crate::error::{ApiMisuse, Error, Limit};
use crate::json::{MAX_DEPTH, scan};
use crate::jsonrpc::parse::decode_string;
use crate::jsonrpc::{RequestId, Violation, write};
use crate::machine::{RequestHandle, SubscriptionHandle, Transmit};
use crate::pending::Clock;
use crate::revision::Method;
use crate::revision::meta::SUBSCRIPTION_ID;
use crate::subscription::{ListKind, RESOURCE_SUBSCRIPTIONS, SubscriptionFilter};
use crate::time::Instant;

use super::calls::{Call, MethodName, Purpose};
use super::notifications::{members, text_of};
use super::params::Params;
use super::{Client, Event, Held, RequestOptions};

/// The subscriptions of a client.
#[derive(Debug, Default)]
pub(super) struct Subscriptions {
    open: BTreeMap<SubscriptionHandle, Subscription>,
    /// Resources watched in the legacy era, by URI.
    watched: BTreeMap<Box<str>, Watch>,
    last: u64,
}

#[derive(Debug, Default)]
struct Subscription {
    asked: SubscriptionFilter,
    honoured: SubscriptionFilter,
    /// The request whose answer would end it. From 2026-07-28.
    listen: Option<RequestHandle>,
    /// Resources whose subscription the server has not answered yet. Up to 2025-11-25.
    unanswered: BTreeSet<Box<str>>,
    acknowledged: bool,
}

/// One resource, however many subscriptions want it.
#[derive(Debug)]
struct Watch {
    request: RequestHandle,
    holders: usize,
    confirmed: bool,
}

impl Subscriptions {
    pub(super) fn handles(&self) -> impl Iterator<Item = SubscriptionHandle> {
        self.open.keys().copied()
    }

    /// Forgets what a server agreed to that does not remember it either.
    pub(super) fn forget_agreements(&mut self) {
        self.watched.clear();
        for open in self.open.values_mut() {
            *open = Subscription { asked: core::mem::take(&mut open.asked), ..Subscription::default() };
        }
    }
}

impl Subscription {
    fn resources(&self) -> BTreeSet<Box<str>> {
        self.asked.resource_uris.iter().cloned().collect()
    }
}

impl Client {
    pub(super) fn start_subscription(
        &mut self,
        now: Instant,
        filter: SubscriptionFilter,
    ) -> Result<SubscriptionHandle, Error> {
        self.check_open()?;
        self.advance(now);
        let limits = &self.config.limits;
        let subscriptions = &self.subscriptions;
        if subscriptions.open.len() >= limits.subscriptions {
            return Err(Limit::Subscriptions.into());
        }
        let watched: usize = subscriptions.open.values().map(|open| open.asked.resource_uris.len()).sum();
        if watched + filter.resource_uris.len() > limits.watched_resources {
            return Err(Limit::WatchedResources.into());
        }
        if !self.is_ready() {
            self.check_room_to_hold()?;
        }
        self.subscriptions.last += 1;
        let subscription = SubscriptionHandle::from_number(self.subscriptions.last);
        let asked = Subscription { asked: filter, ..Subscription::default() };
        self.subscriptions.open.insert(subscription, asked);
        if self.is_ready() {
            self.open_subscription(subscription);
        } else {
            self.held.push_back(Held::Subscription(subscription));
        }
        Ok(subscription)
    }

    /// Makes a subscription known to the server, now that the era is settled.
    pub(super) fn open_subscription(&mut self, subscription: SubscriptionHandle) {
        if !self.subscriptions.open.contains_key(&subscription) {
            return;
        }
        if self.is_modern() {
            self.listen(subscription);
        } else {
            self.watch(subscription);
        }
    }

    fn listen(&mut self, subscription: SubscriptionHandle) {
        let request = self.pending.draw();
        let Some(open) = self.subscriptions.open.get_mut(&subscription) else { return };
        open.listen = Some(request);
        let mut params = String::from("{\"notifications\":");
        write_filter(&mut params, &open.asked);
        params.push('}');
        self.send_own(
            request,
            Method::SubscriptionsListen,
            Purpose::Listen(subscription),
            Params::Written(&params),
        );
    }

    fn watch(&mut self, subscription: SubscriptionHandle) {
        let Some(open) = self.subscriptions.open.get_mut(&subscription) else { return };
        for kind in ListKind::ALL {
            let promised = self.server.as_ref().is_some_and(|server| server.has(kind.capability()));
            open.honoured.set_list(kind, promised && open.asked.list(kind));
        }
        let resources = open.resources();
        let allowed = self.check_allowed(Some(Method::ResourcesSubscribe)).is_ok();
        for uri in resources {
            let confirmed = match self.subscriptions.watched.get_mut(&uri) {
                Some(watch) => {
                    watch.holders += 1;
                    watch.confirmed
                }
                None if allowed => {
                    self.begin_watch(&uri);
                    false
                }
                None => continue,
            };
            let Some(open) = self.subscriptions.open.get_mut(&subscription) else { return };
            if confirmed {
                open.honoured.resource_uris.push(uri);
            } else {
                open.unanswered.insert(uri);
            }
        }
        self.acknowledge_if_answered(subscription);
    }

    fn begin_watch(&mut self, uri: &str) {
        let request = self.pending.draw();
        let watch = Watch { request, holders: 1, confirmed: false };
        self.subscriptions.watched.insert(uri.into(), watch);
        self.send_own(
            request,
            Method::ResourcesSubscribe,
            Purpose::Watch(uri.into()),
            Params::Written(&uri_params(uri)),
        );
    }

    /// Sends a request that the application does not see.
    pub(super) fn send_own(
        &mut self,
        request: RequestHandle,
        method: Method,
        purpose: Purpose,
        params: Params<'_>,
    ) {
        let patience = self.config.timeouts.acknowledgement;
        let clock = Clock { idle: patience, end: self.now.after(patience) };
        let options = RequestOptions::default();
        let method = MethodName::Known(method);
        let call = Call::new(method, purpose, None, options);
        // Parameters that were written here are sound.
        let _ = self.transmit_new(request, clock, call, params);
    }

    /// The answer to a request of [`send_own`](Self::send_own), or the news that none will come.
    pub(super) fn on_subscription_answer(
        &mut self,
        request: RequestHandle,
        purpose: &Purpose,
        granted: bool,
    ) {
        match purpose {
            Purpose::Listen(subscription) => self.conclude(*subscription, granted),
            Purpose::Watch(uri) => self.on_watch_answer(request, uri, granted),
            Purpose::Application | Purpose::Unheard | Purpose::Refresh => {}
        }
    }

    fn on_watch_answer(&mut self, request: RequestHandle, uri: &str, granted: bool) {
        let Some(watch) = self.subscriptions.watched.get_mut(uri) else { return };
        if watch.request != request {
            // It was given up and asked for again since.
            return;
        }
        watch.confirmed = granted;
        if !granted {
            self.subscriptions.watched.remove(uri);
        }
        let mut answered = Vec::new();
        for (&subscription, open) in &mut self.subscriptions.open {
            if open.unanswered.remove(uri) {
                if granted {
                    open.honoured.resource_uris.push(uri.into());
                }
                answered.push(subscription);
            }
        }
        for subscription in answered {
            self.acknowledge_if_answered(subscription);
        }
    }

    fn acknowledge_if_answered(&mut self, subscription: SubscriptionHandle) {
        let Some(open) = self.subscriptions.open.get_mut(&subscription) else { return };
        if open.unanswered.is_empty() {
            open.acknowledged = true;
            let honoured = open.honoured.clone();
            self.queues.tell(Event::SubscriptionAcknowledged { subscription, honoured });
        }
    }

    pub(super) fn end_subscription(
        &mut self,
        now: Instant,
        subscription: SubscriptionHandle,
    ) -> Result<(), Error> {
        self.check_open()?;
        self.advance(now);
        let open = self.subscriptions.open.remove(&subscription).ok_or(ApiMisuse::UnknownSubscription)?;
        if let Some(request) = open.listen {
            self.retract(request, None);
        }
        for uri in open.resources() {
            let Some(watch) = self.subscriptions.watched.get_mut(&uri) else { continue };
            watch.holders -= 1;
            if watch.holders == 0 {
                self.subscriptions.watched.remove(&uri);
                if !self.is_ready() {
                    // A session that is being replaced needs no end.
                    continue;
                }
                let request = self.pending.draw();
                self.send_own(
                    request,
                    Method::ResourcesUnsubscribe,
                    Purpose::Unheard,
                    Params::Written(&uri_params(&uri)),
                );
            }
        }
        self.queues.tell(Event::SubscriptionEnded { subscription, graceful: true });
        Ok(())
    }

    fn conclude(&mut self, subscription: SubscriptionHandle, graceful: bool) {
        if self.subscriptions.open.remove(&subscription).is_some() {
            self.queues.tell(Event::SubscriptionEnded { subscription, graceful });
        }
    }

    pub(super) fn end_all_subscriptions(&mut self, graceful: bool) {
        self.subscriptions.watched.clear();
        for (subscription, _) in core::mem::take(&mut self.subscriptions.open) {
            self.queues.tell(Event::SubscriptionEnded { subscription, graceful });
        }
    }

    /// The server agreed to a listen request.
    pub(super) fn on_acknowledged(
        &mut self,
        text: &str,
        params: Option<&str>,
        within: Option<RequestHandle>,
    ) {
        let Some((request, subscription)) = self.addressed(params, within) else {
            return self.tolerate(Violation::UnknownTarget, None, text);
        };
        let Some(open) = self.subscriptions.open.get_mut(&subscription) else { return };
        if open.acknowledged {
            return self.discard(Violation::UnexpectedMessage, text.as_bytes());
        }
        let [notifications] = members(params, ["notifications"]);
        open.honoured = notifications.map(read_filter).unwrap_or_default();
        open.acknowledged = true;
        let honoured = open.honoured.clone();
        self.opening.confirm();
        self.pending.wait_forever(request);
        self.queues.tell(Event::SubscriptionAcknowledged { subscription, honoured });
    }

    /// The server ends a listen request without an answer.
    pub(super) fn on_listen_cancelled(&mut self, id: &RequestId) {
        if let Some((request, subscription)) = self.listening(id) {
            self.pending.abandon(request);
            if self.config.http {
                self.queues.transmit(Transmit::Abort { request });
            }
            self.conclude(subscription, true);
        }
    }

    fn listening(&self, id: &RequestId) -> Option<(RequestHandle, SubscriptionHandle)> {
        self.listening_in(self.pending.find(id)?)
    }

    pub(super) fn listening_in(&self, request: RequestHandle) -> Option<(RequestHandle, SubscriptionHandle)> {
        match self.pending.get(request)?.purpose {
            Purpose::Listen(subscription) => Some((request, subscription)),
            _ => None,
        }
    }

    /// The subscription whose exchange brought a notification, or that it names in its `_meta`.
    fn addressed(
        &self,
        params: Option<&str>,
        within: Option<RequestHandle>,
    ) -> Option<(RequestHandle, SubscriptionHandle)> {
        if let Some(request) = within {
            return self.listening_in(request);
        }
        let [meta] = members(params, ["_meta"]);
        let [id] = members(meta, [SUBSCRIPTION_ID]);
        self.listening(&RequestId::from_token(id?)?)
    }

    pub(super) fn on_list_changed(
        &mut self,
        text: &str,
        kind: ListKind,
        params: Option<&str>,
        within: Option<RequestHandle>,
    ) {
        for subscription in self.receivers(text, params, within, |open| open.honoured.list(kind)) {
            if self.admits(text.as_bytes()) {
                self.queues.tell(Event::ListChanged { kind, subscription });
            }
        }
    }

    pub(super) fn on_resource_updated(
        &mut self,
        text: &str,
        params: Option<&str>,
        within: Option<RequestHandle>,
    ) {
        let [uri] = members(params, ["uri"]);
        let Some(uri) = text_of(uri) else {
            return self.discard(Violation::InvalidParams, text.as_bytes());
        };
        for subscription in self.receivers(text, params, within, |open| watches(open, &uri)) {
            if self.admits(text.as_bytes()) {
                self.queues.tell(Event::ResourceUpdated { uri: uri.clone(), subscription });
            }
        }
    }

    /// The subscriptions that a change is for: the one it names in the modern era, all that `want` it in the
    /// legacy one, or nobody in particular.
    fn receivers(
        &mut self,
        text: &str,
        params: Option<&str>,
        within: Option<RequestHandle>,
        want: impl Fn(&Subscription) -> bool,
    ) -> Vec<Option<SubscriptionHandle>> {
        if !self.is_modern() {
            let open = self.subscriptions.open.iter();
            let wanting: Vec<_> =
                open.filter(|(_, open)| want(open)).map(|(&handle, _)| Some(handle)).collect();
            return if wanting.is_empty() { alloc::vec![None] } else { wanting };
        }
        let Some((_, subscription)) = self.addressed(params, within) else {
            self.tolerate(Violation::UnknownTarget, None, text);
            return Vec::new();
        };
        if self.subscriptions.open.get(&subscription).is_some_and(|open| open.acknowledged) {
            return alloc::vec![Some(subscription)];
        }
        // Nothing is promised before the acknowledgement.
        self.discard(Violation::UnexpectedMessage, text.as_bytes());
        Vec::new()
    }
}

/// Whether a legacy subscription covers `uri`: its own resources and what lies below them
/// (`ResourceUpdatedNotificationParams` in the schema).
fn watches(open: &Subscription, uri: &str) -> bool {
    open.asked.resource_uris.iter().any(|watched| {
        uri.strip_prefix(&**watched)
            .is_some_and(|below| below.is_empty() || watched.ends_with('/') || below.starts_with('/'))
    })
}

fn uri_params(uri: &str) -> String {
    let mut params = String::from("{\"uri\":");
    write::string(&mut params, uri);
    params.push('}');
    params
}

fn write_filter(out: &mut String, filter: &SubscriptionFilter) {
    out.push('{');
    for kind in ListKind::ALL.into_iter().filter(|&kind| filter.list(kind)) {
        if !out.ends_with('{') {
            out.push(',');
        }
        write::string(out, kind.filter_member());
        out.push_str(":true");
    }
    if !filter.resource_uris.is_empty() {
        if !out.ends_with('{') {
            out.push(',');
        }
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

fn read_filter(text: &str) -> SubscriptionFilter {
    let mut filter = SubscriptionFilter::default();
    for kind in ListKind::ALL {
        let [wanted] = members(Some(text), [kind.filter_member()]);
        filter.set_list(kind, wanted == Some("true"));
    }
    if let [Some(uris)] = members(Some(text), [RESOURCE_SUBSCRIPTIONS]) {
        // What is no list names nothing.
        let _ = scan::array_elements(uris, MAX_DEPTH, |uri| {
            filter.resource_uris.extend(decode_string(&uris[uri]).map(Into::into));
        });
    }
    filter
}
