//! What arrives, sorted: messages, batches, and what is neither.

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::json::scan;
use crate::jsonrpc::parse::{self, Parsed};
use crate::jsonrpc::{Malformed, Message, Outcome, RequestId, RpcError, Violation, write};
use crate::machine::{Facts, RequestHandle, Route};
use crate::revision::Revision;

use super::labels::About;
use super::questions::BatchNumber;
use super::state::{Action, Occurrence, State};
use super::{Client, Event, FailureReason};

/// How a message came.
#[derive(Clone, Copy, Debug)]
struct Arrival {
    /// The request in whose response it came.
    within: Option<RequestHandle>,
    /// The batch that it is an element of.
    batch: Option<BatchNumber>,
}

impl Client {
    pub(super) fn on_text(&mut self, text: &str, facts: Facts<'_>) {
        if matches!(self.state, State::Over | State::Restarting) {
            return;
        }
        if facts.byte_order_mark {
            self.tolerate(Violation::ByteOrderMark, None, text);
        }
        let reading = parse::read(text, self.config.limits.depth);
        match reading.parsed {
            Parsed::One(message) => {
                let arrival = Arrival { within: facts.within, batch: None };
                self.on_message(text, message, reading.tolerated, arrival);
            }
            Parsed::Batch(batch) => self.on_batch(batch, facts.within),
            Parsed::Malformed(malformed) => self.on_malformed(text.as_bytes(), &malformed, None),
        }
    }

    pub(super) fn on_damaged(&mut self, bytes: &[u8], violation: Violation) {
        if matches!(self.state, State::Over | State::Restarting) {
            return;
        }
        if violation == Violation::EndedEarly {
            // The end that follows settles everything, and says the truer reason.
            return self.discard(violation, bytes);
        }
        self.on_malformed(bytes, &parse::read_damaged(bytes, violation), None);
    }

    fn on_message(
        &mut self,
        text: &str,
        message: Message<'_>,
        tolerated: Option<Violation>,
        arrival: Arrival,
    ) {
        let Arrival { within, batch } = arrival;
        if let Message::Response { id, outcome } = message {
            return self.on_response(text, &id, outcome, tolerated, within);
        }
        if let Some(violation) = tolerated {
            self.tolerate(violation, None, text);
        }
        match message {
            Message::Request { id, method, params } => self.on_request(text, id, &method, params, batch),
            Message::Notification { method, params } => self.on_notification(text, &method, params, within),
            Message::ErrorWithoutId { error } => self.on_error_without_id(text, error, within),
            Message::Response { .. } => {}
        }
    }

    fn on_response(
        &mut self,
        text: &str,
        id: &RequestId,
        outcome: Outcome<'_>,
        tolerated: Option<Violation>,
        within: Option<RequestHandle>,
    ) {
        let request = self.waiting(id);
        if let Some(violation) = tolerated {
            self.tolerate(violation, request, text);
        }
        match request {
            Some(request) => self.on_answer(text, request, outcome),
            None if self.opening.expects(id) => self.on_opening_answer(outcome),
            None if self.pending.was_abandoned(id) || self.opening.was_past(id) => {}
            None => match (outcome, within.filter(|&request| self.is_awaited(request))) {
                (Outcome::Error(error), Some(request)) => {
                    // Some servers have an id of their own for what they refuse unread.
                    self.tolerate(Violation::UnknownResponse, Some(request), text);
                    self.on_error_within(text, request, error);
                }
                _ => self.discard(Violation::UnknownResponse, text.as_bytes()),
            },
        }
    }

    /// An error that names no request answers the one in whose response it came, or the probe, if that is all there
    /// is to answer.
    fn on_error_without_id(&mut self, text: &str, error: RpcError, within: Option<RequestHandle>) {
        match within {
            Some(request) if self.is_awaited(request) => self.on_error_within(text, request, error),
            None if self.state == State::Probing => self.on_probe_error(&error),
            _ => self.discard(Violation::UnknownResponse, text.as_bytes()),
        }
    }

    /// Whatever id can be read is settled: ours fails, the server's gets an error.
    fn on_malformed(&mut self, bytes: &[u8], malformed: &Malformed, batch: Option<BatchNumber>) {
        self.discard(malformed.violation, bytes);
        let Some(id) = &malformed.id else { return };
        if !malformed.has_method {
            return self.on_garbled_response(id, malformed.violation);
        }
        // In the modern era this side never answers.
        if self.state != State::Modern && !self.questions.is_asked(id) {
            self.reply(id, Err(&malformed.rpc_error()), batch);
        }
    }

    fn on_garbled_response(&mut self, id: &RequestId, violation: Violation) {
        if let Some(request) = self.waiting(id) {
            self.drop_answered(request, FailureReason::InvalidResult(violation));
        } else if self.opening.expects(id) {
            self.on_opening_garbled();
        }
    }

    fn on_batch(&mut self, batch: &str, within: Option<RequestHandle>) {
        let most = self.config.limits.batch_items;
        let mut elements: Vec<&str> = Vec::new();
        // The text was read as an array already.
        let _ = scan::array_elements(batch, self.config.limits.depth, |element| {
            if elements.len() <= most {
                elements.push(&batch[element]);
            }
        });
        let has_batches = self.revision.is_some_and(Revision::has_batches);
        let is_sound = has_batches && !elements.is_empty() && elements.len() <= most;
        if !is_sound || self.step(Occurrence::Batched) != Action::Deliver {
            return self.refuse_batch(batch, &elements, has_batches);
        }
        let number = self.questions.open_batch();
        for element in elements {
            let reading = parse::read(element, self.config.limits.depth);
            match reading.parsed {
                Parsed::One(message) => {
                    let arrival = Arrival { within, batch: Some(number) };
                    self.on_message(element, message, reading.tolerated, arrival);
                }
                Parsed::Malformed(malformed) => {
                    self.on_malformed(element.as_bytes(), &malformed, Some(number));
                }
                Parsed::Batch(_) => self.discard(Violation::NotAMessage, element.as_bytes()),
            }
        }
        self.close_batch(number);
    }

    /// Drops a batch. What it would have answered is settled all the same.
    fn refuse_batch(&mut self, batch: &str, elements: &[&str], answerable: bool) {
        self.discard(Violation::UnexpectedBatch, batch.as_bytes());
        for element in elements {
            let id = match parse::read(element, self.config.limits.depth).parsed {
                Parsed::One(Message::Response { id, .. }) => Some(id),
                Parsed::Malformed(malformed) if !malformed.has_method => malformed.id,
                _ => None,
            };
            if let Some(id) = id {
                self.on_garbled_response(&id, Violation::UnexpectedBatch);
            }
        }
        if answerable && self.state == State::Legacy {
            let error =
                RpcError::new(RpcError::INVALID_REQUEST, "Invalid request: empty or too long a batch");
            self.send(write::error(None, &error), Route::Alone, About::Reply);
        }
    }

    /// Reports a deviation that did not matter.
    pub(super) fn tolerate(&mut self, violation: Violation, request: Option<RequestHandle>, text: &str) {
        // What comes with an answer is bounded by the requests that were made.
        if request.is_some() || self.admits(text.as_bytes()) {
            let bytes = Box::from(text.as_bytes());
            self.queues.tell(Event::ViolationTolerated { violation, request, bytes });
        }
    }

    /// Reports something unusable.
    pub(super) fn discard(&mut self, violation: Violation, bytes: &[u8]) {
        if self.admits(bytes) {
            self.queues.tell(Event::MessageDiscarded { violation, bytes: violation.kept(bytes).into() });
        }
    }

    /// Whether there is room for an event that the peer can repeat at will. The first refusal of a row is told.
    pub(super) fn admits(&mut self, bytes: &[u8]) -> bool {
        let full = self.queues.is_full(&self.config.limits);
        if full && !self.overflowing {
            let violation = Violation::QueueFull;
            self.queues.tell(Event::MessageDiscarded { violation, bytes: violation.kept(bytes).into() });
        }
        self.overflowing = full;
        !full
    }
}
