//! Questions to the client, asked in one way for both eras.
//!
//! A legacy client gets requests and its request stays open. From 2026-07-28 the request ends with
//! `input_required`, and what has to survive until the retry travels through the client, sealed.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use crate::config::ServerConfig;
use crate::error::{ApiMisuse, Error, Limit, PeerIncompatible};
use crate::json::{Json, MAX_DEPTH, scan};
use crate::jsonrpc::{RpcError, write};
use crate::machine::{Disposition, RequestHandle};
use crate::request_state::{Binding, OpenError, RequestStateKeys, request_digest};
use crate::revision::{Era, InputMismatch, Method, missing_capabilities, project_input_params};
use crate::rounds::{InputAnswer, InputKind, InputQuestion};

use super::in_flight::Asking;
use super::intake::Arrival;
use super::legacy::{Outbound, Purpose};
use super::text::{object, present, string};
use super::{ClientFailure, RequestContext, Server, refusal};

/// Random bytes of an `elicitationId`.
pub(super) const ELICITATION_ID_BYTES: usize = 16;

/// What a retry brings.
pub(super) struct Reopened {
    pub(super) answers: Vec<InputAnswer>,
    pub(super) state: Option<Json>,
    pub(super) round: u32,
    /// Answers are missing, and these questions can be asked again.
    pub(super) ask_again: Option<AskAgain>,
}

/// Questions that a retry left open.
pub(super) struct AskAgain {
    round: u32,
    answers: Vec<InputAnswer>,
    state: Option<Json>,
    /// Keys and the texts of the `InputRequest` objects.
    open: Vec<(String, String)>,
}

/// The request that a state belongs to.
struct Origin<'a> {
    method: &'a str,
    params: Option<&'a str>,
    principal: Option<&'a str>,
}

/// What travels in a `requestState`.
struct Kept<'a> {
    round: u32,
    answers: &'a [InputAnswer],
    state: Option<&'a str>,
}

/// The keys that seal and open `requestState`.
pub(super) fn keys(config: &ServerConfig) -> RequestStateKeys {
    match config.request_state_keys.split_first() {
        Some((first, older)) => RequestStateKeys::new(*first, older),
        None => RequestStateKeys::new(config.seed.derive("requestState"), &[]),
    }
}

/// A copy of a part of a message.
pub(super) fn copy(part: &str) -> Json {
    Json::trusted(part)
}

/// Checks that `text` is a JSON object.
pub(super) fn object_of(text: &str) -> Result<Json, Error> {
    let json = Json::new(text.trim()).map_err(|_| ApiMisuse::InvalidJson)?;
    if json.as_str().starts_with('{') { Ok(json) } else { Err(ApiMisuse::InvalidJson.into()) }
}

/// Why a question cannot be asked.
pub(super) fn mismatch(reason: InputMismatch) -> Error {
    match reason {
        InputMismatch::InvalidJson => ApiMisuse::InvalidJson.into(),
        InputMismatch::InvalidMember(member) => ApiMisuse::InvalidDefinition(member).into(),
        InputMismatch::InvalidProperty(name) => ApiMisuse::InvalidFormProperty(name).into(),
        InputMismatch::NotInRevision(revision) => ApiMisuse::NotAllowedInRevision(revision).into(),
        InputMismatch::MissingCapability(required) => PeerIncompatible::MissingCapability(required).into(),
    }
}

/// The member without which an answer is none.
const fn required_member(kind: InputKind) -> &'static str {
    match kind {
        InputKind::Elicitation => "action",
        InputKind::Sampling => "content",
        InputKind::Roots => "roots",
    }
}

/// What the application is told of the end of a question to a legacy client.
pub(super) fn answer_of(key: Box<str>, kind: InputKind, outcome: Result<Json, ClientFailure>) -> InputAnswer {
    let local = |message| Err(RpcError::new(RpcError::INTERNAL_ERROR, message));
    let outcome = match outcome {
        Ok(result) if result.member(required_member(kind)).is_some() => Ok(result),
        Ok(_) | Err(ClientFailure::InvalidResult(_)) => local("The client's answer is malformed"),
        Err(ClientFailure::Rpc(error)) => Err(error),
        Err(ClientFailure::TimedOut) => local("The client did not answer in time"),
        Err(ClientFailure::ConnectionLost) => local("The connection ended before the client answered"),
    };
    InputAnswer { key, outcome }
}

impl Server {
    pub(super) fn ask(
        &mut self,
        request: RequestHandle,
        questions: Vec<InputQuestion>,
        state: Option<&str>,
    ) -> Result<(), Error> {
        let Some(entry) = self.answerable(request)? else { return Ok(()) };
        let context = &entry.context;
        let (revision, era) = (context.revision, context.era());
        if entry.asking.is_some() {
            return Err(ApiMisuse::AlreadyAnswered.into());
        }
        // A question to a legacy client belongs to the stream of the request that causes it, and nowhere else.
        let has_way = era == Era::Modern || entry.takes_stream;
        if !has_way || !entry.method.is_some_and(|method| method.row().rounds) {
            return Err(ApiMisuse::InputNotPossible.into());
        }
        let (round, capabilities) = (context.round + 1, context.capabilities.clone());
        check_keys(&questions, &context.input_answers)?;
        let state =
            state.map(|state| Json::new(state.trim())).transpose().map_err(|_| ApiMisuse::InvalidJson)?;
        let asked = questions.iter().map(|question| (question.kind.method(), &question.params));
        if let Some(required) = missing_capabilities(asked, revision, &capabilities) {
            return Err(PeerIncompatible::MissingCapability(required).into());
        }
        if questions.len() > self.config.limits.inputs {
            return Err(Limit::Inputs.into());
        }
        if round > self.config.limits.rounds {
            return Err(Limit::Rounds.into());
        }
        let mut projected = Vec::with_capacity(questions.len());
        for question in &questions {
            if era == Era::Legacy && !question.kind.method().exists_in(revision) {
                return Err(ApiMisuse::NotAllowedInRevision(revision).into());
            }
            let method = question.kind.method();
            let elicitation_id = self.nonces.token(ELICITATION_ID_BYTES);
            let params =
                project_input_params(method, revision, &capabilities, &question.params, &elicitation_id);
            projected.push(params.map_err(mismatch)?);
        }
        match era {
            Era::Legacy => self.ask_by_requests(request, questions, &projected, state),
            Era::Modern => self.ask_by_result(request, &questions, &projected, state.as_ref(), round),
        }
    }

    fn ask_by_requests(
        &mut self,
        request: RequestHandle,
        questions: Vec<InputQuestion>,
        projected: &[String],
        state: Option<Json>,
    ) -> Result<(), Error> {
        if !self.takes_input() {
            // The client cannot answer any more.
            return Err(ApiMisuse::InputNotPossible.into());
        }
        let session = self.in_flight.get(request).and_then(|entry| entry.source.session);
        let session = session.ok_or(ApiMisuse::UnknownSession)?;
        // All or nothing: room is looked for before the first is sent.
        if self.outbound.len() + questions.len() > self.config.limits.requests_in_flight {
            return Err(Limit::RequestsInFlight.into());
        }
        let mut standing = Vec::with_capacity(questions.len());
        let answers = questions.iter().map(|_| None).collect();
        for (place, (question, params)) in questions.into_iter().zip(projected).enumerate() {
            let kind = question.kind;
            let purpose = Purpose::Question { request, place, kind, key: question.key };
            let outbound = Outbound { session, purpose };
            match self.send_request(kind.method().name(), Some(kind), Some(params), outbound) {
                Ok(asking) => standing.push(asking),
                Err(error) => {
                    for asked in standing {
                        self.abandon_outbound(asked, "the question was withdrawn");
                    }
                    return Err(error);
                }
            }
        }
        let is_answered = standing.is_empty();
        if let Some(entry) = self.in_flight.get_mut(request) {
            entry.context.round += 1;
            entry.context.state = state;
            entry.asking = Some(Box::new(Asking { answers, standing }));
        }
        if is_answered {
            self.round_over(request);
        }
        Ok(())
    }

    /// Notes an answer of a legacy client; with the last one the event comes again.
    pub(super) fn question_answered(
        &mut self,
        request: RequestHandle,
        place: usize,
        question: RequestHandle,
        answer: InputAnswer,
    ) {
        let Some(asking) = self.in_flight.get_mut(request).and_then(|entry| entry.asking.as_mut()) else {
            return;
        };
        if let Some(slot) = asking.answers.get_mut(place) {
            *slot = Some(answer);
        }
        asking.standing.retain(|standing| *standing != question);
        if asking.standing.is_empty() {
            self.round_over(request);
        }
    }

    fn round_over(&mut self, request: RequestHandle) {
        if let Some(entry) = self.in_flight.get_mut(request)
            && let Some(asking) = entry.asking.take()
        {
            entry.context.input_answers.extend(asking.answers.into_iter().flatten());
            self.tell_again(request);
        }
    }

    /// Takes back the questions of a request that is over.
    pub(super) fn withdraw_questions(&mut self, asking: Option<Box<Asking>>) {
        for question in asking.into_iter().flat_map(|asking| asking.standing) {
            self.abandon_outbound(question, "the request that asked is over");
        }
    }

    fn ask_by_result(
        &mut self,
        request: RequestHandle,
        questions: &[InputQuestion],
        projected: &[String],
        state: Option<&Json>,
        round: u32,
    ) -> Result<(), Error> {
        let open: Vec<_> = questions
            .iter()
            .zip(projected)
            .map(|(question, params)| (String::from(&*question.key), input_request(question.kind, params)))
            .collect();
        let nonce = self.nonces.array();
        let Some(entry) = self.in_flight.get(request) else { return Err(ApiMisuse::UnknownRequest.into()) };
        let origin = Origin {
            method: entry.method.map_or("", Method::name),
            params: entry.params.as_ref().map(Json::as_str),
            principal: entry.context.principal.as_deref(),
        };
        let kept = Kept { round, answers: &entry.context.input_answers, state: state.map(Json::as_str) };
        let result = self.input_required(&origin, &kept, &open, nonce)?;
        let text = self.write_answer(&entry.id, entry.method, entry.context.revision, result.into(), None)?;
        self.finish(request, text, Disposition::Answers);
        Ok(())
    }

    /// Asks again what a retry left open.
    pub(super) fn ask_again(
        &mut self,
        arrival: &Arrival<'_>,
        context: &RequestContext,
        method: Option<Method>,
        again: &AskAgain,
    ) {
        let nonce = self.nonces.array();
        let origin = origin(arrival, context);
        let state = again.state.as_ref().map(Json::as_str);
        let kept = Kept { round: again.round, answers: &again.answers, state };
        let text = self
            .input_required(&origin, &kept, &again.open, nonce)
            .and_then(|result| self.write_answer(&arrival.id, method, context.revision, result.into(), None));
        match text {
            Ok(text) => self.deliver(&arrival.addressee(), text, Disposition::Answers),
            Err(_) => self.decline(&arrival.addressee(), &refusal::overloaded("bytes of requestState")),
        }
    }

    /// The `InputRequiredResult` (basic/patterns/mrtr).
    fn input_required(
        &self,
        origin: &Origin<'_>,
        kept: &Kept<'_>,
        open: &[(String, String)],
        nonce: [u8; 24],
    ) -> Result<String, Error> {
        let requests = map_of(open.iter().map(|(key, request)| (key.as_str(), request.as_str())));
        let sealed = self
            .seal(origin, kept, &requests, nonce)
            // Too much to carry: then without the questions, which the application can ask again.
            .or_else(|_| {
                self.seal(origin, kept, &map_of(open.iter().map(|(key, _)| (key.as_str(), "null"))), nonce)
            })?;
        let mut result = String::with_capacity(requests.len() + sealed.len() + 80);
        result.push_str("{\"resultType\":\"input_required\"");
        if !open.is_empty() {
            result.push_str(",\"inputRequests\":");
            result.push_str(&requests);
        }
        result.push_str(",\"requestState\":\"");
        // Letters, digits, `.`, `-` and `_` only.
        result.push_str(&sealed);
        result.push_str("\"}");
        Ok(result)
    }

    fn seal(
        &self,
        origin: &Origin<'_>,
        kept: &Kept<'_>,
        open: &str,
        nonce: [u8; 24],
    ) -> Result<String, Error> {
        let mut content = String::from("{\"round\":");
        write::integer(&mut content, i64::from(kept.round));
        content.push_str(",\"answers\":");
        let given = kept
            .answers
            .iter()
            .filter_map(|answer| Some((&*answer.key, answer.outcome.as_ref().ok()?.as_str())));
        content.push_str(&map_of(given));
        if let Some(state) = kept.state {
            content.push_str(",\"state\":");
            content.push_str(state);
        }
        content.push_str(",\"open\":");
        content.push_str(open);
        content.push('}');
        let expires_at = self.wall_clock().saturating_add(self.config.timeouts.request_state);
        let limit = self.config.limits.request_state_bytes;
        self.state_keys
            .seal(content.as_bytes(), &origin.binding(), expires_at, nonce, limit)
            .map_err(|_| Limit::RequestStateBytes.into())
    }

    /// Unix milliseconds.
    const fn wall_clock(&self) -> u64 {
        self.config.clock_origin.after(self.now.as_millis()).as_millis()
    }

    /// Reads answers that come without a state: of a client that knows what it will be asked. What a question is
    /// answered with is the client's to say, so that these are as good as others; the application finds them by
    /// their keys, and asks for what is missing.
    pub(super) fn answers_ahead(&self, arrival: &Arrival<'_>) -> Result<Vec<InputAnswer>, RpcError> {
        let mut answers: Vec<InputAnswer> = Vec::new();
        for (key, value) in responses(arrival)?.into_iter().filter(|(_, value)| *value != "null") {
            check_response("null", value)?;
            answers.retain(|earlier| *earlier.key != *key);
            answers.push(answer(key, value));
            if answers.len() > self.config.limits.inputs {
                return Err(refusal::invalid_params("inputResponses has too many entries"));
            }
        }
        Ok(answers)
    }

    /// Reads what a retry brings: the state that was given out, and answers to the open questions.
    pub(super) fn reopen(
        &self,
        arrival: &Arrival<'_>,
        context: &RequestContext,
        state: &str,
    ) -> Result<Reopened, RpcError> {
        let invalid = || refusal::invalid_params(OpenError::PEER_MESSAGE);
        let state = string(Some(state)).ok_or_else(invalid)?;
        let binding = origin(arrival, context).binding();
        let limit = self.config.limits.request_state_bytes;
        let opened =
            self.state_keys.open(&state, &binding, self.wall_clock(), limit).map_err(|_| invalid())?;
        let kept = Json::trusted(core::str::from_utf8(&opened.content).map_err(|_| invalid())?);
        let round = kept.member("round").and_then(|round| round.as_str().parse::<u32>().ok());
        let round = round.ok_or_else(invalid)?;
        let responses = responses(arrival)?;
        let mut answers: Vec<_> = kept
            .member("answers")
            .map(|given| entries(given.as_str()).into_iter().map(|(key, value)| answer(key, value)).collect())
            .unwrap_or_default();
        let mut open = Vec::new();
        let mut can_ask_again = true;
        for (key, request) in kept.member("open").iter().flat_map(|asked| entries(asked.as_str())) {
            let given = responses.iter().rfind(|(given, value)| *given == key && *value != "null");
            if let Some((_, value)) = given {
                check_response(request, value)?;
                answers.push(answer(key, value));
            } else {
                can_ask_again &= request != "null";
                open.push((key, String::from(request)));
            }
        }
        let state = kept.member("state");
        if open.is_empty() || !can_ask_again {
            return Ok(Reopened { answers, state, round, ask_again: None });
        }
        if round >= self.config.limits.rounds {
            return Err(refusal::invalid_params("inputResponses lacks answers, and the rounds are used up"));
        }
        let again = AskAgain { round: round + 1, answers, state, open };
        Ok(Reopened { answers: Vec::new(), state: None, round, ask_again: Some(again) })
    }
}

fn origin<'a>(arrival: &'a Arrival<'_>, context: &'a RequestContext) -> Origin<'a> {
    Origin { method: &arrival.method, params: arrival.text, principal: context.principal.as_deref() }
}

impl<'a> Origin<'a> {
    /// The state belongs to this method and these parameters, but for what changes from round to round.
    fn binding(&self) -> Binding<'a> {
        let mut members = Vec::new();
        let text = self.params.unwrap_or("{}");
        let _ = scan::object_members(text, MAX_DEPTH, |key, value| {
            if !matches!(&text[key.clone()], "_meta" | "inputResponses" | "requestState") {
                members.push((&text[key], &text[value]));
            }
        });
        // Clients may write the members in another order.
        members.sort_unstable();
        let parts = members.iter().flat_map(|(key, value)| [key.as_bytes(), value.as_bytes()]);
        let request = request_digest(core::iter::once(self.method.as_bytes()).chain(parts));
        Binding { principal: self.principal, request }
    }
}

fn check_keys(questions: &[InputQuestion], answered: &[InputAnswer]) -> Result<(), Error> {
    for (at, question) in questions.iter().enumerate() {
        let is_taken = questions[..at].iter().any(|earlier| earlier.key == question.key)
            || answered.iter().any(|answer| answer.key == question.key);
        if is_taken {
            return Err(ApiMisuse::InvalidDefinition("key").into());
        }
    }
    Ok(())
}

/// The text of an `InputRequest`.
fn input_request(kind: InputKind, params: &str) -> String {
    let mut out = String::from("{\"method\":");
    write::string(&mut out, kind.method().name());
    out.push_str(",\"params\":");
    out.push_str(params);
    out.push('}');
    out
}

/// Refuses an answer that is none. `request` is the text of the `InputRequest`, or null if it was not kept.
fn check_response(request: &str, response: &str) -> Result<(), RpcError> {
    let method = Json::trusted(request)
        .member("method")
        .and_then(|method| string(Some(method.as_str())).and_then(|name| Method::from_name(&name)));
    let member = method.and_then(InputKind::from_method).map(required_member);
    let response = Json::trusted(response);
    let is_whole =
        response.as_str().starts_with('{') && member.is_none_or(|member| response.member(member).is_some());
    if is_whole { Ok(()) } else { Err(refusal::invalid_params("an entry of inputResponses is malformed")) }
}

/// The entries of `inputResponses`.
fn responses<'a>(arrival: &Arrival<'a>) -> Result<Vec<(String, &'a str)>, RpcError> {
    match present(arrival.params.input_responses) {
        None => Ok(Vec::new()),
        Some(_) => object(arrival.params.input_responses)
            .map(entries)
            .ok_or_else(|| refusal::invalid_params("inputResponses is not an object")),
    }
}

fn answer(key: String, result: &str) -> InputAnswer {
    InputAnswer { key: key.into(), outcome: Ok(Json::trusted(result)) }
}

/// The text of an object.
fn map_of<'a>(entries: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let mut out = String::from("{");
    for (at, (key, value)) in entries.enumerate() {
        if at > 0 {
            out.push(',');
        }
        write::string(&mut out, key);
        out.push(':');
        out.push_str(value);
    }
    out.push('}');
    out
}

/// The members of an object: decoded keys, and values as they are.
fn entries(object: &str) -> Vec<(String, &str)> {
    let mut found = Vec::new();
    let _ = scan::object_members(object, MAX_DEPTH, |key, value| {
        // The quotes stand around the key.
        let token = &object[key.start - 1..=key.end];
        if let Some(key) = string(Some(token)) {
            found.push((key.into_owned(), &object[value]));
        }
    });
    found
}
