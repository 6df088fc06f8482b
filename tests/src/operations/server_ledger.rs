//! What a server's application may rely on, checked event by event.

use std::collections::{BTreeMap, BTreeSet};

use barewire::server::{Event, RequestContext};
use barewire::{Era, RequestHandle, SessionHandle, SubscriptionHandle};

/// What the application owes for a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owed {
    /// An answer.
    Answer,
    /// Nothing until the client has answered questions.
    Patience,
}

/// What a server has told and what is still to come.
#[derive(Debug, Default)]
pub struct ServerLedger {
    /// Requests that wait for the application or for the client.
    pub owed: BTreeMap<RequestHandle, (Owed, Era)>,
    /// Every request ever told.
    pub requests: Vec<RequestHandle>,
    /// Requests that were answered while their cancellation waited to be polled, possibly.
    answered: BTreeSet<RequestHandle>,
    /// Cancelled requests that were not answered yet.
    cancelled: BTreeSet<RequestHandle>,
    /// The server's own requests without an end.
    pub asked: BTreeSet<RequestHandle>,
    /// Subscriptions that are open.
    pub watching: BTreeSet<SubscriptionHandle>,
    /// Every subscription ever opened.
    pub subscriptions: Vec<SubscriptionHandle>,
    /// The session that is open.
    pub session: Option<SessionHandle>,
    /// Requests that were reported as abandoned.
    drained: bool,
    /// Events are polled after each step, so that none waits while a command is given.
    pub prompt: bool,
    /// The last event was told.
    pub over: bool,
}

impl ServerLedger {
    /// Nothing was told yet. `prompt`: events are polled after each step.
    pub fn new(prompt: bool) -> ServerLedger {
        ServerLedger { prompt, ..ServerLedger::default() }
    }

    /// Notes that an answer was taken.
    pub fn responded(&mut self, request: RequestHandle) {
        if self.owed.remove(&request).is_some() {
            self.answered.insert(request);
        } else {
            assert!(self.cancelled.remove(&request), "{request:?} took an answer though it was over");
        }
    }

    /// Notes that questions were taken.
    pub fn questioned(&mut self, request: RequestHandle) {
        match self.owed.get_mut(&request) {
            Some((owed, Era::Legacy)) => {
                let again = *owed == Owed::Patience;
                assert!(!again || !self.prompt, "{request:?} asks twice at once");
                *owed = Owed::Patience;
            }
            _ => self.responded(request),
        }
    }

    /// Notes what the server tells.
    pub fn take(&mut self, event: &Event) {
        assert!(!self.over, "told after the end: {event:?}");
        assert!(!self.drained || is_closing(event), "told after draining: {event:?}");
        match event {
            Event::ToolCalled { request, context, .. }
            | Event::ResourceReadRequested { request, context, .. }
            | Event::PromptRequested { request, context, .. }
            | Event::CompletionRequested { request, context, .. }
            | Event::RequestReceived { request, context, .. } => self.called(*request, context),
            Event::RequestCancelled { request, .. } => self.request_cancelled(*request),
            Event::SubscriptionOpened { subscription, .. } => {
                assert!(self.watching.insert(*subscription), "{subscription:?} opened twice");
                self.subscriptions.push(*subscription);
            }
            Event::SubscriptionClosed { subscription } => {
                assert!(self.watching.remove(subscription), "{subscription:?} closed twice");
            }
            Event::SessionOpened { session, .. } => assert_eq!(self.session.replace(*session), None),
            Event::SessionClosed { session } => assert_eq!(self.session.take(), Some(*session)),
            Event::ResponseReceived { request, .. } => {
                assert!(self.asked.remove(request), "{request:?} of the server ended twice");
            }
            Event::Drained { abandoned } => {
                self.drained = true;
                let owed: Vec<_> = std::mem::take(&mut self.owed).into_keys().collect();
                assert_eq!(abandoned, &owed, "what is abandoned is what is owed");
            }
            Event::Disconnected { .. } => {
                self.over = true;
                self.check_settled();
            }
            _ => {}
        }
    }

    fn called(&mut self, request: RequestHandle, context: &RequestContext) {
        let before = self.owed.insert(request, (Owed::Answer, context.era()));
        if context.round > 0 && context.era() == Era::Legacy {
            // Without prompt polling the answer can have been given before the event came again.
            let fits = matches!(before, Some((Owed::Patience, _)));
            assert!(fits || !self.prompt, "{request:?} came again without having asked: {before:?}");
        } else {
            assert_eq!(before, None, "{request:?} was told twice");
            self.requests.push(request);
        }
        if self.answered.contains(&request) {
            // It was answered while it waited for the client; only its events are late.
            self.owed.remove(&request);
            assert!(!self.prompt, "{request:?} came again after its answer");
        }
    }

    fn request_cancelled(&mut self, request: RequestHandle) {
        if self.owed.remove(&request).is_some() {
            self.cancelled.insert(request);
        } else {
            let late = !self.prompt && self.answered.remove(&request);
            assert!(late, "{request:?} was cancelled though it was over");
        }
    }

    /// Nothing is left open.
    pub fn check_settled(&self) {
        assert!(self.owed.is_empty(), "neither answered nor cancelled: {:?}", self.owed);
        assert!(self.asked.is_empty(), "never ended: {:?}", self.asked);
        assert!(self.watching.is_empty(), "never closed: {:?}", self.watching);
        assert_eq!(self.session, None, "never closed");
    }
}

/// Whether an event can follow the report of what was abandoned.
fn is_closing(event: &Event) -> bool {
    matches!(
        event,
        Event::SubscriptionClosed { .. } | Event::SessionClosed { .. } | Event::Disconnected { .. }
    )
}
