//! Requests that a server of 2025-11-25 runs only after the user has been to a URL: the error -32042 lists the
//! elicitations, and when each was accepted and is complete the request goes out again (client/elicitation, URL
//! Elicitation Required Error).

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::json::{Json, MAX_DEPTH, scan};
use crate::jsonrpc::RpcError;
use crate::machine::{InputHandle, RequestHandle};
use crate::revision::{Capability, Method, Revision};
use crate::rounds::{InputKind, InputRequest};

use super::calls::Stage;
use super::notifications::{members, text_of};
use super::questions::{Origin, Question, admit_question};
use super::{Client, Event, FailureReason};

/// The visits that one request waits for.
#[derive(Debug)]
pub(super) struct Visits {
    visits: Vec<Visit>,
    /// What the request fails with if the user will not go.
    error: RpcError,
}

#[derive(Debug)]
struct Visit {
    input: InputHandle,
    /// The server's id of the elicitation.
    id: Option<Box<str>>,
    accepted: bool,
    complete: bool,
}

impl Visits {
    pub(super) fn inputs(&self) -> impl Iterator<Item = InputHandle> {
        self.visits.iter().map(|visit| visit.input)
    }
}

impl Client {
    /// Whether a request of this method may get to hear that the user must visit a URL first.
    pub(super) fn may_need_visits(&self, method: Option<Method>) -> bool {
        self.revision == Some(Revision::V2025_11_25)
            && self.config.capabilities.has(Capability::ElicitationUrl)
            && method.is_some_and(|method| method.row().rounds)
    }

    /// Asks for the visits that an error wants.
    ///
    /// # Errors
    /// The error itself, if it is any other.
    pub(super) fn begin_visits(&mut self, request: RequestHandle, error: RpcError) -> Result<(), RpcError> {
        let Some(elicitations) = self.read_visits(request, &error) else { return Err(error) };
        let Some(call) = self.pending.get_mut(request) else { return Err(error) };
        call.round += 1;
        let round = call.round;
        let mut visits = Vec::with_capacity(elicitations.len());
        let mut inputs = Vec::with_capacity(elicitations.len());
        for params in elicitations {
            let kind = InputKind::Elicitation;
            let origin = Origin::Round { request };
            let input = self.questions.add(Question::new(kind, Some(params.as_str()), origin));
            let [id] = members(Some(params.as_str()), ["elicitationId"]);
            visits.push(Visit { input, id: text_of(id), accepted: false, complete: false });
            inputs.push(InputRequest { input, kind, params: Some(params), key: None });
        }
        if let Some(call) = self.pending.get_mut(request) {
            call.stage = Stage::Visiting(Box::new(Visits { visits, error }));
        }
        self.pending.pause(request);
        self.queues.tell(Event::InputRequired { request: Some(request), inputs, round });
        Ok(())
    }

    /// The elicitations of a URL-elicitation-required error; `None` if it is none that can be followed.
    fn read_visits(&self, request: RequestHandle, error: &RpcError) -> Option<Vec<Json>> {
        let call = self.pending.get(request)?;
        if error.code != RpcError::URL_ELICITATION_REQUIRED
            || !self.may_need_visits(call.method.known())
            || call.round >= self.config.limits.rounds
        {
            return None;
        }
        let list = error.data.as_ref()?.member("elicitations")?;
        let mut elicitations = Vec::new();
        let most = self.config.limits.inputs;
        scan::array_elements(list.as_str(), MAX_DEPTH, |element| {
            if elicitations.len() <= most {
                elicitations.push(Json::trusted(&list.as_str()[element]));
            }
        })
        .ok()?;
        let by_url = |params: &Json| {
            let text = Some(params.as_str());
            let [mode, url] = members(text, ["mode", "url"]);
            let declared = &self.config.capabilities;
            mode == Some("\"url\"")
                && url.is_some()
                && admit_question(InputKind::Elicitation, text, declared, Revision::V2025_11_25).is_ok()
        };
        let sound = (1..=most).contains(&elicitations.len()) && elicitations.iter().all(by_url);
        sound.then_some(elicitations)
    }

    /// Notes whether the user goes to a URL.
    pub(super) fn answer_visit(&mut self, request: RequestHandle, input: InputHandle, response: &str) {
        let Some(call) = self.pending.get_mut(request) else { return };
        let Stage::Visiting(visits) = &mut call.stage else { return };
        if members(Some(response), ["action"]) != [Some("\"accept\"")] {
            let reason = FailureReason::Rpc(visits.error.clone());
            self.withdraw_round(request);
            return self.drop_answered(request, reason);
        }
        for visit in &mut visits.visits {
            visit.accepted |= visit.input == input;
        }
        if visits.visits.iter().all(|visit| visit.accepted) {
            // The server need not say when a visit is over; the request then goes out again after a while.
            self.pending.touch(self.now, request);
            self.end_visits(request);
        }
    }

    /// The server says that a visit is over; ids that nobody waits for are ignored.
    pub(super) fn on_visit_complete(&mut self, params: Option<&str>) {
        let [id] = members(params, ["elicitationId"]);
        let Some(id) = text_of(id) else { return };
        let waiting =
            |stage: &Stage| matches!(stage, Stage::Visiting(visits) if visits.await_completion(&id));
        let requests: Vec<_> = self
            .pending
            .iter()
            .filter(|(_, call)| waiting(&call.stage))
            .map(|(request, _)| request)
            .collect();
        for request in requests {
            let Some(call) = self.pending.get_mut(request) else { continue };
            let Stage::Visiting(visits) = &mut call.stage else { continue };
            for visit in &mut visits.visits {
                visit.complete |= visit.id.as_ref() == Some(&id);
            }
            self.end_visits(request);
        }
    }

    /// Sends the request again if every visit was accepted and is over.
    fn end_visits(&mut self, request: RequestHandle) {
        let over = self.pending.get(request).is_some_and(|call| {
            matches!(&call.stage, Stage::Visiting(visits)
                if visits.visits.iter().all(|visit| visit.accepted && visit.complete))
        });
        if over {
            self.send_again(request);
        }
    }

    pub(super) fn send_again(&mut self, request: RequestHandle) {
        self.pending.renew(request);
        if self.is_ready() {
            self.transmit_kept(request, None);
        } else {
            self.hold(request);
        }
    }
}

impl Visits {
    fn await_completion(&self, id: &str) -> bool {
        self.visits.iter().any(|visit| visit.id.as_deref() == Some(id))
    }
}
