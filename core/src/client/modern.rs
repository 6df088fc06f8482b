//! Results of the modern era and the rounds of multi round-trip requests (basic/patterns/mrtr, 2026-07-28).

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use memchr::memmem;

use crate::json::{Json, MAX_DEPTH, scan};
use crate::jsonrpc::Violation;
use crate::jsonrpc::parse::decode_string;
use crate::machine::{InputHandle, RequestHandle};
use crate::revision::Method;
use crate::rounds::{InputKind, InputRequest};

use super::calls::Stage;
use super::notifications::members;
use super::params::Answers;
use super::questions::{Origin, Question, admit_question};
use super::{Client, Event, FailureReason};

/// One round: what the server asked, what was answered so far, and what goes back with it.
#[derive(Debug, Default)]
pub(super) struct Round {
    questions: Vec<Asked>,
    /// `inputRequests` was there, so that `inputResponses` must be.
    asked: bool,
    /// The token of `requestState` as the server wrote it.
    state: Option<Box<str>>,
}

#[derive(Debug)]
struct Asked {
    input: InputHandle,
    /// The server's key as written, without quotes.
    key: Box<str>,
    response: Option<Box<str>>,
}

/// A question as it was read.
struct Read<'a> {
    key: &'a str,
    kind: InputKind,
    params: Option<&'a str>,
}

/// The first wait before a request is sent again without an answer of the application, in milliseconds; it
/// doubles with each round.
const BACK_OFF: u64 = 250;

/// The longest such wait.
const BACK_OFF_MOST: u64 = 10_000;

const RESULT_TYPE: &str = "resultType";

/// What `resultType` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ResultType {
    /// `complete`, or nothing, as older servers write.
    Complete,
    InputRequired,
    Other,
}

impl ResultType {
    fn of(result: &str) -> ResultType {
        // Most results say it first or not at all; only others are walked through.
        if result.starts_with("{\"resultType\":\"complete\"")
            || memmem::find(result.as_bytes(), RESULT_TYPE.as_bytes()).is_none()
        {
            return ResultType::Complete;
        }
        match members(Some(result), [RESULT_TYPE]) {
            [None | Some("\"complete\"")] => ResultType::Complete,
            [Some("\"input_required\"")] => ResultType::InputRequired,
            _ => ResultType::Other,
        }
    }
}

impl Client {
    /// A result object to a request of the application.
    pub(super) fn on_modern_result(&mut self, text: &str, request: RequestHandle, result: &str) {
        self.opening.confirm();
        match ResultType::of(result) {
            ResultType::Complete => self.deliver_modern_result(request, result),
            ResultType::InputRequired => match self.read_round(request, result) {
                Ok((questions, round)) => self.begin_round(request, &questions, round),
                Err(violation) => self.refuse_result(text, request, violation),
            },
            // Extensions define further types; those that were not advertised are not known.
            ResultType::Other if self.advertises_extensions() => {
                self.deliver_result(request, Json::trusted(result));
            }
            ResultType::Other => self.refuse_result(text, request, Violation::InvalidResult),
        }
    }

    fn refuse_result(&mut self, text: &str, request: RequestHandle, violation: Violation) {
        self.discard(violation, text.as_bytes());
        self.drop_answered(request, FailureReason::InvalidResult(violation));
    }

    fn advertises_extensions(&self) -> bool {
        let extensions = self.config.capabilities.raw().and_then(|raw| raw.member("extensions"));
        let mut any = false;
        if let Some(extensions) = extensions {
            let _ = scan::object_members(extensions.as_str(), MAX_DEPTH, |_, _| any = true);
        }
        any
    }

    fn read_round<'a>(
        &self,
        request: RequestHandle,
        result: &'a str,
    ) -> Result<(Vec<Read<'a>>, Round), Violation> {
        let invalid = Violation::InvalidResult;
        let method = self.pending.get(request).and_then(|call| call.method.known());
        if !method.is_some_and(|method| method.row().rounds) {
            return Err(invalid);
        }
        let [requests, state] = members(Some(result), ["inputRequests", "requestState"]);
        if requests.is_none() && state.is_none() {
            return Err(invalid);
        }
        if state.is_some_and(|state| !state.starts_with('"')) {
            return Err(invalid);
        }
        if state.is_some_and(|state| state.len() > self.config.limits.request_state_bytes) {
            return Err(Violation::TooLong);
        }
        let questions = requests.map_or(Ok(Vec::new()), |requests| self.read_questions(requests))?;
        let round = Round { questions: Vec::new(), asked: requests.is_some(), state: state.map(Into::into) };
        Ok((questions, round))
    }

    /// Reads `inputRequests`. One question that may not be asked spoils the round, as all must be answered.
    fn read_questions<'a>(&self, requests: &'a str) -> Result<Vec<Read<'a>>, Violation> {
        let invalid = Violation::InvalidResult;
        let mut entries = Vec::new();
        let most = self.config.limits.inputs;
        let mut too_many = false;
        scan::object_members(requests, MAX_DEPTH, |key, entry| {
            too_many |= entries.len() >= most;
            if !too_many {
                entries.push((&requests[key], &requests[entry]));
            }
        })
        .map_err(|_| invalid)?;
        if too_many {
            return Err(Violation::TooLong);
        }
        let mut questions: Vec<Read<'a>> = Vec::with_capacity(entries.len());
        for (key, entry) in entries {
            if questions.iter().any(|question| question.key == key) {
                return Err(Violation::DuplicateMember);
            }
            let [method, params] = members(Some(entry), ["method", "params"]);
            let kind = method
                .and_then(decode_string)
                .and_then(|name| Method::from_name(&name))
                .and_then(InputKind::from_method)
                .ok_or(invalid)?;
            let revision = self.revision.ok_or(invalid)?;
            admit_question(kind, params, &self.config.capabilities, revision).map_err(|_| invalid)?;
            questions.push(Read { key, kind, params });
        }
        Ok(questions)
    }

    fn begin_round(&mut self, request: RequestHandle, questions: &[Read<'_>], mut round: Round) {
        let Some(call) = self.pending.get_mut(request) else { return };
        call.round += 1;
        let number = call.round;
        if number > self.config.limits.rounds {
            return self.drop_answered(request, FailureReason::RoundsExceeded);
        }
        let mut inputs = Vec::with_capacity(questions.len());
        for Read { key, kind, params } in questions {
            let input = self.questions.add(Question::new(*kind, *params, Origin::Round { request }));
            let name = decode_string(&alloc::format!("\"{key}\"")).map(Into::into);
            inputs.push(InputRequest { input, kind: *kind, params: params.map(Json::trusted), key: name });
            round.questions.push(Asked { input, key: Box::from(*key), response: None });
        }
        let waits = !inputs.is_empty();
        if waits {
            self.set_stage(request, Stage::Asking(Box::new(round)));
            self.pending.pause(request);
            self.queues.tell(Event::InputRequired { request: Some(request), inputs, round: number });
        } else {
            self.set_stage(request, Stage::BackingOff(Box::new(round)));
            let wait = BACK_OFF.saturating_mul(1 << (number - 1).min(16)).min(BACK_OFF_MOST);
            self.pending.wake_at(request, self.now.after(wait));
        }
    }

    fn set_stage(&mut self, request: RequestHandle, stage: Stage) {
        if let Some(call) = self.pending.get_mut(request) {
            call.stage = stage;
        }
    }

    /// Notes the answer to a question of a round; the last one sends the request again.
    pub(super) fn answer_round(&mut self, request: RequestHandle, input: InputHandle, response: &str) {
        let Some(call) = self.pending.get_mut(request) else { return };
        let round = match &mut call.stage {
            Stage::Asking(round) => round,
            Stage::Visiting(_) => return self.answer_visit(request, input, response),
            Stage::Held | Stage::Sent | Stage::BackingOff(_) | Stage::Refreshing(_) => return,
        };
        for asked in &mut round.questions {
            if asked.input == input {
                asked.response = Some(response.into());
            }
        }
        if round.questions.iter().all(|asked| asked.response.is_some()) {
            self.retry(request);
        }
    }

    /// A question of a round cannot be answered: nothing goes out, the request ends here.
    pub(super) fn refuse_round(&mut self, request: RequestHandle, input: InputHandle) {
        self.withdraw_round(request);
        self.drop_answered(request, FailureReason::InputRefused(input));
    }

    /// Withdraws the questions of a request that still stand.
    pub(super) fn withdraw_round(&mut self, request: RequestHandle) {
        let Some(call) = self.pending.get(request) else { return };
        let inputs: Vec<_> = match &call.stage {
            Stage::Asking(round) => round.questions.iter().map(|asked| asked.input).collect(),
            Stage::Visiting(visits) => visits.inputs().collect(),
            Stage::Held | Stage::Sent | Stage::BackingOff(_) | Stage::Refreshing(_) => return,
        };
        for input in inputs {
            self.withdraw(input);
        }
    }

    /// Sends a request again with what the last round gave, under a new id.
    pub(super) fn retry(&mut self, request: RequestHandle) {
        let Some(call) = self.pending.get_mut(request) else { return };
        let stage = core::mem::replace(&mut call.stage, Stage::Held);
        let (Stage::Asking(round) | Stage::BackingOff(round)) = stage else { return };
        let responses = round.asked.then(|| round.responses());
        let answers = Answers { responses: responses.as_deref(), state: round.state.as_deref() };
        self.pending.renew(request);
        self.transmit_kept(request, Some(answers));
    }
}

impl Round {
    /// The text of `inputResponses`: bare objects under the keys of the questions.
    fn responses(&self) -> String {
        let mut out = String::from("{");
        for asked in &self.questions {
            if out.len() > 1 {
                out.push(',');
            }
            out.push('"');
            out.push_str(&asked.key);
            out.push_str("\":");
            out.push_str(asked.response.as_deref().unwrap_or("{}"));
        }
        out.push('}');
        out
    }
}
