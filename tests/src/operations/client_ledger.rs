//! What a client's application may rely on, checked event by event.

use std::collections::{BTreeMap, BTreeSet};

use barewire::client::Event;
use barewire::{InputHandle, RequestHandle, SubscriptionHandle};

/// What a client has promised and not kept yet.
#[derive(Debug, Default)]
pub struct ClientLedger {
    /// Requests that have not ended.
    pub open: BTreeSet<RequestHandle>,
    /// Every request ever made, for commands on those that ended too.
    pub requests: Vec<RequestHandle>,
    /// Subscriptions that have not ended, and whether they are acknowledged.
    pub watching: BTreeMap<SubscriptionHandle, bool>,
    /// Every subscription ever made.
    pub subscriptions: Vec<SubscriptionHandle>,
    /// Questions that stand.
    pub standing: BTreeSet<InputHandle>,
    /// Every question ever asked.
    pub inputs: Vec<InputHandle>,
    /// A fresh start of the peer was asked for and not reported yet.
    pub restart: bool,
    /// The last event was told.
    pub over: bool,
}

impl ClientLedger {
    /// Notes a request.
    pub fn requested(&mut self, request: RequestHandle) {
        assert!(self.open.insert(request), "{request:?} was given out twice");
        self.requests.push(request);
    }

    /// Notes a subscription.
    pub fn subscribed(&mut self, subscription: SubscriptionHandle) {
        assert!(self.watching.insert(subscription, false).is_none(), "{subscription:?} was given out twice");
        self.subscriptions.push(subscription);
    }

    /// Notes that an answer to a question was taken.
    pub fn provided(&mut self, input: InputHandle) {
        assert!(self.standing.remove(&input), "{input:?} was answered though it did not stand");
    }

    /// Notes what the client tells.
    pub fn take(&mut self, event: &Event) {
        assert!(!self.over, "told after the end: {event:?}");
        match event {
            Event::ResponseReceived { request, .. } | Event::RequestFailed { request, .. } => {
                assert!(self.open.remove(request), "{request:?} ended twice or was never made: {event:?}");
            }
            Event::ProgressReceived { request, .. } => {
                assert!(self.open.contains(request), "progress after the end of {request:?}");
            }
            Event::InputRequired { request, inputs, .. } => self.asked(*request, inputs),
            Event::InputWithdrawn { input } => {
                assert!(self.standing.remove(input), "{input:?} was withdrawn though it did not stand");
            }
            Event::SubscriptionAcknowledged { subscription, .. } => {
                let acknowledged = self.watching.insert(*subscription, true);
                assert_eq!(acknowledged, Some(false), "{subscription:?} cannot be acknowledged now");
            }
            Event::SubscriptionEnded { subscription, .. } => {
                assert!(self.watching.remove(subscription).is_some(), "{subscription:?} ended twice");
            }
            Event::ListChanged { subscription: Some(subscription), .. }
            | Event::ResourceUpdated { subscription: Some(subscription), .. } => {
                assert!(
                    self.watching.contains_key(subscription),
                    "a change for {subscription:?}, which ended"
                );
            }
            // What was subscribed to is asked for again.
            Event::SessionReplaced { .. } => self.watching.values_mut().for_each(|known| *known = false),
            Event::RestartRequired => {
                assert!(!self.restart);
                self.restart = true;
            }
            Event::Disconnected { .. } => {
                self.over = true;
                self.check_settled();
            }
            _ => {}
        }
    }

    fn asked(&mut self, request: Option<RequestHandle>, inputs: &[barewire::InputRequest]) {
        assert!(!inputs.is_empty(), "a round without questions is not told");
        if let Some(request) = request {
            assert!(self.open.contains(&request), "{request:?} asks after its end");
        }
        for question in inputs {
            assert!(self.standing.insert(question.input), "{:?} was asked twice", question.input);
            self.inputs.push(question.input);
        }
    }

    /// Nothing is left open.
    pub fn check_settled(&self) {
        assert!(self.open.is_empty(), "never ended: {:?}", self.open);
        assert!(self.watching.is_empty(), "never ended: {:?}", self.watching);
        assert!(self.standing.is_empty(), "neither answered nor withdrawn: {:?}", self.standing);
    }
}
