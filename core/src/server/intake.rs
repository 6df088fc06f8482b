//! What arrives: each message goes to the era it belongs to, by what it says itself and never by what came before.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::error::Error;
use crate::json::scan;
use crate::jsonrpc::parse::{self, Parsed, Reading};
use crate::jsonrpc::{Malformed, Message, RequestId, RpcError, Violation, write};
use crate::limits::Limits;
use crate::machine::{
    Disposition, Exchange, ExchangeHandle, Facts, Input, Machine, NamedSession, RequestHandle, Route,
    SessionHandle, Transmit,
};
use crate::revision::{Direction, Era, Kind, Method};
use crate::time::Instant;

use super::answers::Addressee;
use super::headers::check_what_is_there;
use super::routing::{Envelope, Lane, Part, Refusal};
use super::source::Source;
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
    pub(super) params: &'a Params<'a>,
    pub(super) meta: &'a Meta<'a>,
    pub(super) batch: Option<u64>,
    pub(super) source: Source,
    pub(super) envelope: &'a Envelope<'a>,
}

/// One message with what came along: the whole text, or an element of a batch.
pub(super) struct Unit<'m, 'a> {
    /// The text that arrived.
    pub(super) message: &'m mut MessageText<'a>,
    /// The text of this message.
    pub(super) text: &'a str,
    pub(super) found: &'m Found<'a>,
    pub(super) batch: Option<u64>,
    pub(super) envelope: &'m Envelope<'a>,
}

impl Arrival<'_> {
    pub(super) const fn addressee(&self) -> Addressee<'_> {
        Addressee { id: &self.id, handle: self.handle, batch: self.batch, source: self.source }
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
            Input::Message { text, facts } => self.receive(text, &facts),
            Input::Damaged { bytes, violation } => {
                let envelope = self.envelope(None);
                self.settle_malformed(&parse::read_damaged(bytes, violation), bytes, None, &envelope);
            }
            Input::Gone { exchange } => self.client_left(exchange),
            Input::SessionEnded { session } => {
                self.forget_session(session);
            }
            // Only clients start their peers and open exchanges.
            Input::Restarted | Input::Failed { .. } | Input::Held { .. } | Input::Released { .. } => {}
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
        self.outbound.draw()
    }

    /// What came along with a message. A session that is over is not known any more.
    fn envelope<'a>(&mut self, exchange: Option<&'a Exchange<'a>>) -> Envelope<'a> {
        if exchange.is_none() {
            self.sessions.note_stream();
        }
        let mut envelope = Envelope::new(exchange, self.sessions.of_stream());
        if let NamedSession::Known(session) = envelope.session
            && self.sessions.get(session).is_none()
        {
            envelope.session = NamedSession::Unknown;
        }
        envelope
    }

    fn receive(&mut self, text: &str, facts: &Facts<'_>) {
        self.client_cache.note_principal(facts.principal);
        let envelope = self.envelope(facts.exchange.as_ref());
        let mut found = Found::default();
        let Reading { parsed, tolerated } =
            parse::read_noting(text, self.config.limits.depth, |noted| found.note(noted));
        let mut message = MessageText::new(text);
        let request = match parsed {
            Parsed::One(one) => {
                let message = &mut message;
                self.receive_one(
                    one,
                    &mut Unit { message, text, found: &found, batch: None, envelope: &envelope },
                )
            }
            Parsed::Batch(array) => {
                self.receive_batch(array, &mut message, &envelope);
                None
            }
            Parsed::Malformed(malformed) => {
                self.settle_malformed(&malformed, text.as_bytes(), None, &envelope);
                None
            }
        };
        let mark = facts.byte_order_mark.then_some(Violation::ByteOrderMark);
        for violation in [mark, tolerated].into_iter().flatten() {
            let bytes = text.as_bytes().into();
            self.tell_droppable(Event::ViolationTolerated { violation, request, bytes });
        }
        if let Some(text) = message.kept() {
            self.last_long.keep(text, self.config.limits.queued_bytes);
        }
    }

    /// Takes one message; the handle if it was a request taken in.
    fn receive_one<'a>(&mut self, one: Message<'a>, unit: &mut Unit<'_, 'a>) -> Option<RequestHandle> {
        match one {
            Message::Request { id, method, params } => self.receive_request(id, method, params, unit),
            other => {
                self.receive_unanswered(other, unit);
                None
            }
        }
    }

    /// Takes a message that gets no answer. On HTTP its exchange ends here.
    fn receive_unanswered<'a>(&mut self, one: Message<'a>, unit: &mut Unit<'_, 'a>) {
        let envelope = unit.envelope;
        let part =
            if matches!(one, Message::Notification { .. }) { Part::Notification } else { Part::Response };
        let lane = envelope.lane(part, &unit.found.meta, self.config.revisions);
        let lane = match (lane, &one, envelope.mirror) {
            (Ok(Lane::Modern), Message::Notification { method, .. }, Some(mirror)) => {
                check_what_is_there(mirror, method, &unit.found.meta)
                    .map(|()| Lane::Modern)
                    .map_err(Refusal::from)
            }
            (lane, ..) => lane,
        };
        match lane {
            Ok(lane) => {
                self.take_unanswered(one, lane, unit);
                if unit.batch.is_none() {
                    self.accept(envelope.channel);
                }
            }
            Err(refusal) => {
                self.discard(Violation::UnexpectedMessage, unit.text.as_bytes());
                if unit.batch.is_none() {
                    self.refuse_unanswered(envelope, &refusal);
                }
            }
        }
    }

    fn take_unanswered<'a>(&mut self, one: Message<'a>, lane: Lane, unit: &mut Unit<'_, 'a>) {
        let session = lane.session();
        match one {
            Message::Notification { method, params } => {
                self.receive_notification(&method, params, session, unit);
            }
            Message::Response { id, outcome } => self.receive_response(&id, outcome, session, unit),
            Message::ErrorWithoutId { .. } | Message::Request { .. } => {
                self.discard(Violation::UnknownResponse, unit.text.as_bytes());
            }
        }
    }

    /// Ends an exchange that brought something without an id, or with one that must not be used.
    fn refuse_unanswered(&mut self, envelope: &Envelope<'_>, refusal: &Refusal) {
        let labels = envelope.source().labels(refusal.disposition);
        self.queues.send(write::error(None, &refusal.error), Route::Alone, labels);
    }

    fn receive_request<'a>(
        &mut self,
        id: RequestId,
        method: Cow<'a, str>,
        text: Option<&'a str>,
        unit: &mut Unit<'_, 'a>,
    ) -> Option<RequestHandle> {
        let envelope = unit.envelope;
        let Found { params, meta } = unit.found;
        let part = if method == Method::Initialize.name() { Part::Handshake } else { Part::Request };
        let lane = envelope.lane(part, meta, self.config.revisions);
        let session = lane.as_ref().ok().and_then(|lane| lane.session());
        let source = Source { channel: envelope.channel, session };
        if self.in_flight.contains_id(source.scope(), &id) {
            // An answer under this id, even an error, would end the request that came first.
            self.discard(Violation::DuplicateId, unit.text.as_bytes());
            if source.channel.is_post() && unit.batch.is_none() {
                let error = refusal::invalid_request(Violation::DuplicateId.explanation());
                self.refuse_unanswered(envelope, &error.into());
            }
            return None;
        }
        let handle = self.draw();
        if let Some(number) = unit.batch {
            self.batches.expect(number, handle);
        }
        let arrival = Arrival { id, handle, method, text, params, meta, batch: unit.batch, source, envelope };
        self.route(&arrival, lane, unit.message);
        Some(handle)
    }

    fn route(&mut self, arrival: &Arrival<'_>, lane: Result<Lane, Refusal>, message: &mut MessageText<'_>) {
        let to = arrival.addressee();
        match lane {
            Ok(Lane::Modern) if arrival.batch.is_some() => {
                self.refuse(&to, &refusal::invalid_request("this revision has no batches"));
            }
            Ok(Lane::Modern) => self.modern_request(arrival, message),
            Ok(Lane::Handshake) => self.initialize(arrival),
            Ok(Lane::Session(session)) => self.legacy_request(session, arrival, message),
            Ok(Lane::Nowhere) => match self.unclaimed(arrival) {
                Some(error) => self.refuse(&to, &error),
                None => self.answer_ping(&to),
            },
            Err(Refusal { error, disposition }) => {
                self.deliver(&to, write::error(Some(to.id), &error), disposition);
            }
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
            let missing = super::ladder::missing_keys(arrival.meta);
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

    fn receive_batch<'a>(&mut self, array: &'a str, message: &mut MessageText<'a>, envelope: &Envelope<'a>) {
        let lane = match envelope.lane(Part::Batch, &Meta::default(), self.config.revisions) {
            Ok(lane) => lane,
            Err(refusal) => return self.refuse_batch(array, envelope, &refusal),
        };
        let session = lane.session().and_then(|session| self.sessions.get(session));
        let allowed = session.is_some_and(|session| session.revision.has_batches());
        let depth = self.config.limits.depth;
        let mut items = 0;
        // The text was checked; reading it again cannot fail. It is counted first, so that no list of ranges is
        // made of more elements than are taken.
        let _ = scan::array_elements(array, depth, |_| items += 1);
        if !allowed || items == 0 || items > self.config.limits.batch_items {
            let error = refusal::invalid_request(Violation::UnexpectedBatch.explanation());
            return self.refuse_batch(array, envelope, &error.into());
        }
        let mut elements = Vec::with_capacity(items);
        let _ = scan::array_elements(array, depth, |range| elements.push(range));
        let (mut shakes_hands, mut asks, mut answers) = (false, false, false);
        for range in &elements {
            match parse::read(&array[range.clone()], depth).parsed {
                Parsed::One(Message::Request { method, .. }) => {
                    asks = true;
                    shakes_hands |= method == Method::Initialize.name();
                }
                Parsed::One(Message::Response { .. }) => answers = true,
                _ => {}
            }
        }
        if asks && answers && envelope.channel.is_post() {
            // An HTTP request brings either (basic/transports, 2025-03-26).
            let error = refusal::invalid_request("requests and responses in one batch");
            return self.refuse_batch(array, envelope, &error.into());
        }
        let source = Source { channel: envelope.channel, session: lane.session() };
        let number = self.batches.open(source);
        for range in elements {
            self.receive_element(&array[range], message, number, shakes_hands, envelope);
        }
        let complete = self.batches.filled(number);
        self.send_batch(complete);
    }

    fn refuse_batch(&mut self, array: &str, envelope: &Envelope<'_>, refusal: &Refusal) {
        self.refuse_unanswered(envelope, refusal);
        self.discard(Violation::UnexpectedBatch, array.as_bytes());
    }

    fn receive_element<'a>(
        &mut self,
        text: &'a str,
        message: &mut MessageText<'a>,
        batch: u64,
        shakes_hands: bool,
        envelope: &Envelope<'a>,
    ) {
        let source = envelope.source();
        let mut found = Found::default();
        match parse::read_noting(text, self.config.limits.depth, |noted| found.note(noted)).parsed {
            // One handshake spoils the whole batch (basic/lifecycle, 2025-03-26).
            Parsed::One(Message::Request { id, .. })
                if shakes_hands && !self.in_flight.contains_id(source.scope(), &id) =>
            {
                let handle = self.draw();
                self.batches.expect(batch, handle);
                let to = Addressee { id: &id, handle, batch: Some(batch), source };
                self.refuse(&to, &refusal::invalid_request("initialize cannot be part of a batch"));
            }
            Parsed::One(one) => {
                self.receive_one(
                    one,
                    &mut Unit { message, text, found: &found, batch: Some(batch), envelope },
                );
            }
            Parsed::Batch(_) => {
                let malformed = Malformed { violation: Violation::NotAMessage, id: None, has_method: false };
                self.settle_malformed(&malformed, text.as_bytes(), Some(batch), envelope);
            }
            Parsed::Malformed(malformed) => {
                self.settle_malformed(&malformed, text.as_bytes(), Some(batch), envelope);
            }
        }
    }

    /// Answers what can be answered of a text that is no usable message, and reports it.
    fn settle_malformed(
        &mut self,
        malformed: &Malformed,
        bytes: &[u8],
        batch: Option<u64>,
        envelope: &Envelope<'_>,
    ) {
        self.discard(malformed.violation, bytes);
        let source = envelope.source();
        let is_response = matches!(
            malformed.violation,
            Violation::EmptyResponse | Violation::ResultAndError | Violation::InvalidError
        );
        let id = malformed.id.as_ref();
        let settles = !malformed.has_method
            && id.is_some_and(|id| self.fail_outbound(id, source.session, malformed.violation));
        // The answer would end the request that came first.
        let is_taken = id.is_some_and(|id| self.in_flight.contains_id(source.scope(), id));
        let error = malformed.rpc_error();
        if source.channel.is_post() && batch.is_none() {
            let id = id.filter(|_| !settles && !is_response && !is_taken);
            let labels = source.labels(Disposition::Refuses(error.code));
            return self.queues.send(write::error(id, &error), Route::Alone, labels);
        }
        // A notification is never answered, whatever its parameters.
        let is_notification = id.is_none()
            && malformed.has_method
            && matches!(malformed.violation, Violation::InvalidParams | Violation::NoRoom);
        if settles || is_response || is_taken || is_notification {
            return;
        }
        let text = write::error(id, &error);
        match batch {
            Some(number) => self.batches.add_unasked(number, &text),
            None => self.queues.send(text, Route::Alone, source.labels(Disposition::Continues)),
        }
    }

    fn receive_notification(
        &mut self,
        name: &str,
        params: Option<&str>,
        session: Option<SessionHandle>,
        unit: &mut Unit<'_, '_>,
    ) {
        let method = Method::from_name(name);
        match (method, session) {
            (Some(Method::Cancelled), _) => {
                let source = Source { channel: unit.envelope.channel, session };
                return self.receive_cancelled(&unit.found.params, source);
            }
            (Some(Method::Initialized), Some(session)) => return self.open_session(session),
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
        if session.is_none() || !is_taken {
            return self.discard(Violation::UnexpectedMessage, unit.text.as_bytes());
        }
        let params = params.map(|params| unit.message.keep(params));
        self.tell_droppable(Event::NotificationReceived { session, method: name.into(), params });
    }

    fn receive_cancelled(&mut self, params: &Params<'_>, source: Source) {
        let request = params
            .request_id
            .and_then(RequestId::from_token)
            .and_then(|id| self.in_flight.handle_of(source.scope(), &id));
        // Anything else came too late, which is normal, or names nothing.
        if let Some(request) = request {
            let reason = string(params.reason).map(Box::from);
            self.cancelled(request, reason);
        }
    }

    /// Ends a request whose answer is no longer wanted: nothing more goes out for it.
    pub(super) fn cancelled(&mut self, request: RequestHandle, reason: Option<Box<str>>) {
        let limit = self.config.limits.requests_in_flight;
        let Some(mut entry) = self.in_flight.remove_unanswered(request, limit) else { return };
        if let Some(subscription) = entry.subscription {
            self.subscription_gone(subscription);
        } else {
            self.withdraw_questions(entry.asking.take());
            self.queues.tell(Event::RequestCancelled { request, reason });
        }
        self.forgo(request, &entry);
        self.check_drained();
    }

    /// The client left an exchange: that cancels what it brought in the modern era only
    /// (basic/transports, Streamable HTTP).
    fn client_left(&mut self, exchange: ExchangeHandle) {
        if let Some(request) = self.in_flight.of_exchange(exchange) {
            self.cancelled(request, None);
        }
    }

    pub(super) fn discard(&mut self, violation: Violation, bytes: &[u8]) {
        self.tell_droppable(Event::MessageDiscarded { violation, bytes: violation.kept(bytes).into() });
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
