//! What arrives: each message goes to the era it belongs to, by what it says itself and never by what came before.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::sync::Arc;

use crate::error::Error;
use crate::json::scan;
use crate::jsonrpc::parse::{self, Parsed, Reading};
use crate::jsonrpc::{Malformed, Message, RequestId, RpcError, Violation, write};
use crate::limits::Limits;
use crate::machine::{ExchangeHandle, Facts, Input, Machine, RequestHandle, Route, Transmit};
use crate::revision::{Direction, Era, Kind, Method};
use crate::time::Instant;

use super::answers::Addressee;
use super::text::{Found, MessageText, Meta, Params, string};
use super::{Event, Server, refusal};

/// Milliseconds without an answer after which many running requests do not stop the intake any more.
const PAUSE: u64 = 1_000;

/// A request as it arrived.
pub(super) struct Arrival<'a> {
    pub(super) id: RequestId,
    pub(super) handle: RequestHandle,
    pub(super) method: Cow<'a, str>,
    /// The text of the parameters object.
    pub(super) text: Option<&'a str>,
    pub(super) params: Params<'a>,
    pub(super) meta: Meta<'a>,
    pub(super) batch: Option<u64>,
}

/// One message with what came along: the whole text, or an element of a batch.
pub(super) struct Unit<'m, 'a> {
    /// The text that arrived.
    pub(super) message: &'m mut MessageText<'a>,
    /// The text of this message.
    pub(super) text: &'a str,
    pub(super) found: Found<'a>,
    pub(super) batch: Option<u64>,
}

impl Arrival<'_> {
    pub(super) const fn addressee(&self) -> Addressee<'_> {
        Addressee { id: &self.id, handle: self.handle, batch: self.batch }
    }
}

impl Machine for Server {
    type Event = Event;

    fn handle_input(&mut self, now: Instant, input: Input<'_>) -> Result<(), Error> {
        self.advance(now);
        self.check_intake(matches!(input, Input::Lost))?;
        // What changed before a message is told only to those who were watching then.
        self.tell_changes();
        self.queues.arrive(input.byte_count());
        match input {
            Input::Message { text, facts } => self.receive(text, facts),
            Input::Damaged { bytes, violation } => {
                self.settle_malformed(&parse::read_damaged(bytes, violation), bytes, None);
            }
            Input::Gone { exchange } => self.client_left(exchange),
            // Only clients start their peers and open exchanges.
            Input::Restarted | Input::Failed { .. } | Input::SessionEnded { .. } => {}
            Input::Closed => self.end_of_input(),
            Input::Lost => self.lose(),
        }
        self.queues.arrive(0);
        Ok(())
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.advance(now);
        self.expire();
    }

    fn poll_transmit(&mut self) -> Option<Transmit> {
        self.tell_changes();
        self.queues.poll_transmit()
    }

    fn poll_event(&mut self) -> Option<Event> {
        let event = self.queues.poll_event();
        if self.overflowed && !self.queues.is_full(&self.config.limits) {
            self.overflowed = false;
        }
        event
    }

    fn poll_timeout(&self) -> Option<Instant> {
        let deadlines = [self.drain_deadline(), self.outbound.next_deadline(), self.pause_end()];
        deadlines.into_iter().flatten().min()
    }

    fn wants_input(&self) -> bool {
        self.takes_input() && self.queues.wants_input(&self.config.limits) && self.pause_end().is_none()
    }

    fn limits(&self) -> &Limits {
        &self.config.limits
    }
}

impl Server {
    /// Until when many running requests stop the intake. Input is also how a client answers questions, gives up
    /// requests and ends: it is not stopped while it may help, nor for long while no request ends by itself.
    fn pause_end(&self) -> Option<Instant> {
        let is_paused = self.takes_input() && self.is_crowded() && self.outbound.len() == 0;
        (is_paused && self.now < self.stalled_at).then_some(self.stalled_at)
    }

    /// Whether so many requests run that new ones should wait with their sender. Subscriptions do not count, as
    /// only their clients end them.
    pub(super) fn is_crowded(&self) -> bool {
        let running = self.in_flight.len().saturating_sub(self.subscriptions.listening());
        running >= self.config.limits.requests_in_flight.div_ceil(2)
    }

    /// Requests come and go: the next pause of the intake counts from now.
    pub(super) fn note_movement(&mut self) {
        self.stalled_at = self.now.after(PAUSE);
    }

    /// Moves the clock, never back.
    pub(super) fn advance(&mut self, now: Instant) {
        self.now = self.now.max(now);
    }

    /// A new handle.
    pub(super) fn draw(&mut self) -> RequestHandle {
        let handle = self.outbound.draw();
        self.drawn = handle.number();
        handle
    }

    fn receive(&mut self, text: &str, facts: Facts<'_>) {
        self.client_cache.note_principal(facts.principal);
        self.exchange = facts.exchange.map(|exchange| exchange.handle);
        let mut found = Found::default();
        let Reading { parsed, tolerated } =
            parse::read_noting(text, self.config.limits.depth, |noted| found.note(noted));
        let mut message = MessageText::new(text);
        let request = match parsed {
            Parsed::One(one) => {
                self.receive_one(one, &mut Unit { message: &mut message, text, found, batch: None })
            }
            Parsed::Batch(array) => {
                self.receive_batch(array, &mut message);
                None
            }
            Parsed::Malformed(malformed) => {
                self.settle_malformed(&malformed, text.as_bytes(), None);
                None
            }
        };
        let mark = facts.byte_order_mark.then_some(Violation::ByteOrderMark);
        for violation in [mark, tolerated].into_iter().flatten() {
            let bytes = text.as_bytes().into();
            self.tell_droppable(Event::ViolationTolerated { violation, request, bytes });
        }
    }

    /// Takes one message; the handle if it was a request taken in.
    fn receive_one<'a>(&mut self, one: Message<'a>, unit: &mut Unit<'_, 'a>) -> Option<RequestHandle> {
        match one {
            Message::Request { id, method, params } => self.receive_request(id, method, params, unit),
            Message::Notification { method, params } => {
                self.receive_notification(&method, params, unit);
                None
            }
            Message::Response { id, outcome } => {
                self.receive_response(&id, outcome, unit);
                None
            }
            Message::ErrorWithoutId { .. } => {
                self.discard(Violation::UnknownResponse, unit.text.as_bytes());
                None
            }
        }
    }

    fn receive_request<'a>(
        &mut self,
        id: RequestId,
        method: Cow<'a, str>,
        text: Option<&'a str>,
        unit: &mut Unit<'_, 'a>,
    ) -> Option<RequestHandle> {
        if self.in_flight.contains_id(&id) {
            // An answer, even an error, would end the request that came first.
            self.discard(Violation::DuplicateId, unit.text.as_bytes());
            return None;
        }
        let handle = self.draw();
        if let Some(number) = unit.batch {
            self.batches.expect(number, handle);
        }
        let Found { params, meta } = unit.found;
        let arrival = Arrival { id, handle, method, text, params, meta, batch: unit.batch };
        self.route(&arrival, unit.message);
        Some(handle)
    }

    /// Decides the era of a request.
    fn route(&mut self, arrival: &Arrival<'_>, message: &mut MessageText<'_>) {
        let to = arrival.addressee();
        if arrival.meta.protocol_version.is_some() {
            if arrival.batch.is_some() {
                return self.refuse(&to, &refusal::invalid_request("this revision has no batches"));
            }
            return self.modern_request(arrival, message);
        }
        let is_handshake = arrival.method == Method::Initialize.name();
        if is_handshake && self.session.is_none() {
            return self.initialize(arrival);
        }
        if self.session.is_some() {
            return self.legacy_request(arrival, message);
        }
        let error = self.unclaimed(arrival);
        match error {
            Some(error) => self.refuse(&to, &error),
            None => self.answer_ping(&to),
        }
    }

    /// Why a request that names no revision cannot be served before a handshake; `None` if it is a ping.
    fn unclaimed(&self, arrival: &Arrival<'_>) -> Option<RpcError> {
        let served = self.config.revisions;
        let has_era = |era| served.of_era(era).next().is_some();
        let method = Method::from_name(&arrival.method);
        if method == Some(Method::Ping) && has_era(Era::Legacy) {
            return None;
        }
        if has_era(Era::Modern) {
            let missing = super::ladder::missing_keys(&arrival.meta);
            return Some(refusal::missing_meta(&missing, served));
        }
        let is_known = method.is_some_and(|method| {
            method.row().kind == Kind::Request && !served.and(method.row().revisions).is_empty()
        });
        Some(if is_known {
            refusal::invalid_request("the handshake has not been made")
        } else {
            refusal::method_not_found(&arrival.method)
        })
    }

    fn receive_batch<'a>(&mut self, array: &'a str, message: &mut MessageText<'a>) {
        let allowed = self.session.as_ref().is_some_and(|session| session.revision.has_batches());
        let depth = self.config.limits.depth;
        let mut items = 0;
        // The text was checked; reading it again cannot fail. It is counted first, so that no list of ranges is
        // made of more elements than are taken.
        let _ = scan::array_elements(array, depth, |_| items += 1);
        if !allowed || items == 0 || items > self.config.limits.batch_items {
            let error = refusal::invalid_request(Violation::UnexpectedBatch.explanation());
            self.queues.send(write::error(None, &error), Route::Alone);
            self.discard(Violation::UnexpectedBatch, array.as_bytes());
            return;
        }
        let mut elements = alloc::vec::Vec::with_capacity(items);
        let _ = scan::array_elements(array, depth, |range| elements.push(range));
        let shakes_hands = elements.iter().any(|range| {
            matches!(
                parse::read(&array[range.clone()], depth).parsed,
                Parsed::One(Message::Request { method, .. }) if method == Method::Initialize.name()
            )
        });
        let number = self.batches.open();
        for range in elements {
            self.receive_element(&array[range], message, number, shakes_hands);
        }
        let complete = self.batches.filled(number);
        self.send_batch(complete);
    }

    fn receive_element<'a>(
        &mut self,
        text: &'a str,
        message: &mut MessageText<'a>,
        batch: u64,
        shakes_hands: bool,
    ) {
        let mut found = Found::default();
        match parse::read_noting(text, self.config.limits.depth, |noted| found.note(noted)).parsed {
            // One handshake spoils the whole batch (basic/lifecycle, 2025-03-26).
            Parsed::One(Message::Request { id, .. }) if shakes_hands && !self.in_flight.contains_id(&id) => {
                let handle = self.draw();
                self.batches.expect(batch, handle);
                let to = Addressee { id: &id, handle, batch: Some(batch) };
                self.refuse(&to, &refusal::invalid_request("initialize cannot be part of a batch"));
            }
            Parsed::One(one) => {
                self.receive_one(one, &mut Unit { message, text, found, batch: Some(batch) });
            }
            Parsed::Batch(_) => {
                let malformed = Malformed { violation: Violation::NotAMessage, id: None, has_method: false };
                self.settle_malformed(&malformed, text.as_bytes(), Some(batch));
            }
            Parsed::Malformed(malformed) => {
                self.settle_malformed(&malformed, text.as_bytes(), Some(batch));
            }
        }
    }

    /// Answers what can be answered of a text that is no usable message, and reports it.
    fn settle_malformed(&mut self, malformed: &Malformed, bytes: &[u8], batch: Option<u64>) {
        self.discard(malformed.violation, bytes);
        let is_response = matches!(
            malformed.violation,
            Violation::EmptyResponse | Violation::ResultAndError | Violation::InvalidError
        );
        match &malformed.id {
            Some(id) if !malformed.has_method && self.fail_outbound(id, malformed.violation) => {}
            _ if is_response => {}
            // The answer would end the request that came first.
            Some(id) if self.in_flight.contains_id(id) => {}
            id => {
                // A notification is never answered, whatever its parameters.
                let is_notification = malformed.has_method && malformed.violation == Violation::InvalidParams;
                if id.is_some() || !is_notification {
                    let text = write::error(id.as_ref(), &malformed.rpc_error());
                    match batch {
                        Some(number) => self.batches.add_unasked(number, &text),
                        None => self.queues.send(text, Route::Alone),
                    }
                }
            }
        }
    }

    fn receive_notification(&mut self, name: &str, params: Option<&str>, unit: &mut Unit<'_, '_>) {
        let method = Method::from_name(name);
        match method {
            Some(Method::Cancelled) => return self.receive_cancelled(&unit.found.params),
            Some(Method::Initialized) if self.session.is_some() => return self.open_session(),
            _ => {}
        }
        // No request of this side carries a token.
        if method == Some(Method::Progress) {
            return self.discard(Violation::UnknownTarget, unit.text.as_bytes());
        }
        let is_taken = method.is_none_or(|method| {
            let row = method.row();
            row.kind == Kind::Notification && row.direction == Direction::ClientToServer
        });
        let session = self.session.as_ref().map(|session| session.handle);
        if session.is_none() || !is_taken {
            return self.discard(Violation::UnexpectedMessage, unit.text.as_bytes());
        }
        let params = params.map(|params| unit.message.keep(params));
        self.tell_droppable(Event::NotificationReceived { session, method: name.into(), params });
    }

    fn receive_cancelled(&mut self, params: &Params<'_>) {
        let request =
            params.request_id.and_then(RequestId::from_token).and_then(|id| self.in_flight.handle_of(&id));
        // Anything else came too late, which is normal, or names nothing.
        if let Some(request) = request {
            let reason = string(params.reason).map(Box::from);
            self.cancelled(request, reason);
        }
    }

    /// Ends a request whose answer is no longer wanted: nothing more goes out for it.
    pub(super) fn cancelled(&mut self, request: RequestHandle, reason: Option<Box<str>>) {
        let limit = self.config.limits.requests_in_flight;
        let Some(entry) = self.in_flight.remove_unanswered(request, limit) else { return };
        if let Some(subscription) = entry.subscription {
            self.subscription_gone(subscription);
        } else {
            self.withdraw_questions(entry.asking);
            self.queues.tell(Event::RequestCancelled { request, reason });
        }
        self.forgo(entry.batch);
        self.check_drained();
    }

    /// The client left an exchange: that cancels what it brought in the modern era only
    /// (basic/transports, Streamable HTTP).
    fn client_left(&mut self, exchange: ExchangeHandle) {
        for request in self.in_flight.of_exchange(exchange) {
            if self.in_flight.get(request).is_some_and(|entry| entry.context.era() == Era::Modern) {
                self.cancelled(request, None);
            }
        }
    }

    pub(super) fn discard(&mut self, violation: Violation, bytes: &[u8]) {
        self.tell_droppable(Event::MessageDiscarded { violation, bytes: bytes.into() });
    }

    /// Tells of something that a peer can repeat at will, as long as there is room. Where it ends is told once.
    pub(super) fn tell_droppable(&mut self, event: Event) {
        if !self.queues.is_full(&self.config.limits) {
            self.queues.tell(event);
        } else if !self.overflowed {
            self.overflowed = true;
            let violation = Violation::QueueFull;
            self.queues.tell(Event::MessageDiscarded { violation, bytes: Box::default() });
        }
    }

    pub(super) fn principal(&self) -> Option<Arc<str>> {
        self.client_cache.principal()
    }
}
