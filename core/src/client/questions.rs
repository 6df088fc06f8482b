//! Questions of the server: requests of its own in the legacy era, entries of a round in the modern one, and
//! how each is answered, refused or withdrawn.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use crate::error::{ApiMisuse, Error};
use crate::json::{Json, dialect};
use crate::jsonrpc::{RequestId, RpcError, Violation, write};
use crate::machine::{InputHandle, RequestHandle, Route};
use crate::revision::{
    Capabilities, Capability, Method, Revision, has_tool_use, has_url, is_balanced, project_input_answer,
    uses_tools,
};
use crate::rounds::{InputKind, InputRequest, InputResponse};
use crate::time::Instant;

use super::calls::{Call, Purpose};
use super::labels::About;
use super::notifications::members;
use super::state::{Action, Occurrence, State};
use super::{Client, Event};

/// Names a batch whose replies are collected.
pub(super) type BatchNumber = u64;

/// The questions that stand.
#[derive(Debug, Default)]
pub(super) struct Questions {
    standing: BTreeMap<InputHandle, Question>,
    /// Those that are requests of a legacy server, by its ids.
    asked: BTreeMap<RequestId, InputHandle>,
    batches: BTreeMap<BatchNumber, Batch>,
    last: u64,
}

/// A question that stands.
#[derive(Clone, Debug)]
pub(super) struct Question {
    kind: InputKind,
    /// The user is sent to a URL, so that the answer has no content.
    by_url: bool,
    /// What the server lets the model do with tools.
    tool_choice: ToolChoice,
    origin: Origin,
}

impl Question {
    pub(super) fn new(kind: InputKind, params: Option<&str>, origin: Origin) -> Question {
        let by_url = kind == InputKind::Elicitation && members(params, ["mode"]) == [Some("\"url\"")];
        Question { kind, by_url, tool_choice: ToolChoice::of(kind, params), origin }
    }

    /// Checks an answer and writes it as `revision` wants it.
    fn write_answer(&self, revision: Revision, result: &Json) -> Result<String, Error> {
        let result = project_input_answer(self.kind.method(), revision, result.as_str())?;
        let [content] = members(Some(&result), ["content"]);
        let fits = match self.kind {
            InputKind::Elicitation => !(self.by_url && content.is_some()),
            InputKind::Sampling => {
                revision < Revision::V2025_11_25 || self.tool_choice.allows(content.is_some_and(has_tool_use))
            }
            InputKind::Roots => true,
        };
        if !fits {
            return Err(ApiMisuse::InvalidDefinition("content").into());
        }
        Ok(result)
    }
}

/// Whether a model may call tools (client/sampling, Tool Choice Modes).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ToolChoice {
    Auto,
    /// It calls one before it is done.
    Required,
    None,
}

impl ToolChoice {
    fn of(kind: InputKind, params: Option<&str>) -> ToolChoice {
        if kind != InputKind::Sampling {
            return ToolChoice::Auto;
        }
        let [messages, choice] = members(params, ["messages", "toolChoice"]);
        match members(choice, ["mode"]) {
            // One was called earlier in the conversation: the model may be done now.
            [Some("\"required\"")] if !messages.is_some_and(uses_tools) => ToolChoice::Required,
            [Some("\"none\"")] => ToolChoice::None,
            _ => ToolChoice::Auto,
        }
    }

    /// Whether an answer that calls tools, or none, is what was asked for.
    const fn allows(self, calls_tools: bool) -> bool {
        match self {
            ToolChoice::Auto => true,
            ToolChoice::Required => calls_tools,
            ToolChoice::None => !calls_tools,
        }
    }
}

/// Where a question comes from.
#[derive(Clone, Debug)]
pub(super) enum Origin {
    /// A request of a legacy server, possibly in a batch.
    Session { id: RequestId, batch: Option<BatchNumber> },
    /// An entry of a round of this request.
    Round { request: RequestHandle },
}

/// The replies to one batch, sent together when the last is there (JSON-RPC 2.0, section 6).
#[derive(Debug)]
struct Batch {
    replies: String,
    /// Answers that are still to come; the reading of the batch itself counts as one.
    outstanding: usize,
}

impl Questions {
    fn draw(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    pub(super) fn add(&mut self, question: Question) -> InputHandle {
        let input = InputHandle::from_number(self.draw());
        if let Origin::Session { id, batch } = &question.origin {
            self.asked.insert(id.clone(), input);
            if let Some(batch) = batch.and_then(|number| self.batches.get_mut(&number)) {
                batch.outstanding += 1;
            }
        }
        self.standing.insert(input, question);
        input
    }

    fn remove(&mut self, input: InputHandle) -> Option<Question> {
        let question = self.standing.remove(&input)?;
        if let Origin::Session { id, .. } = &question.origin {
            self.asked.remove(id);
        }
        Some(question)
    }

    /// Whether a request of the server with this id is in flight.
    pub(super) fn is_asked(&self, id: &RequestId) -> bool {
        self.asked.contains_key(id)
    }

    /// Whether the server waits for an answer, so that its own silence proves nothing.
    pub(super) fn hold_up(&self) -> bool {
        !self.asked.is_empty()
    }

    pub(super) fn open_batch(&mut self) -> BatchNumber {
        let number = self.draw();
        self.batches.insert(number, Batch { replies: String::new(), outstanding: 1 });
        number
    }
}

impl Client {
    /// A request of the server.
    pub(super) fn on_request(
        &mut self,
        text: &str,
        id: RequestId,
        method: &str,
        params: Option<&str>,
        batch: Option<BatchNumber>,
    ) {
        if self.questions.is_asked(&id) {
            // An answer would settle the first one.
            return self.discard(Violation::DuplicateId, text.as_bytes());
        }
        let known = Method::from_name(method);
        let occurrence = if known == Some(Method::Ping) { Occurrence::Pinged } else { Occurrence::Asked };
        match self.step(occurrence) {
            Action::Pong => self.reply(&id, Ok("{}"), batch),
            Action::RefuseEarly => {
                let error = RpcError::new(RpcError::INVALID_REQUEST, "Invalid request: not initialized");
                self.reply(&id, Err(&error), batch);
            }
            Action::Deliver => match self.admit(known, params) {
                Ok(kind) => self.ask(id, kind, params, batch),
                Err(error) => self.reply(&id, Err(&error), batch),
            },
            Action::Discard => self.discard(Violation::UnexpectedMessage, text.as_bytes()),
            _ => {}
        }
    }

    /// Whether the application can be asked this.
    fn admit(&self, method: Option<Method>, params: Option<&str>) -> Result<InputKind, RpcError> {
        let unknown = || RpcError::new(RpcError::METHOD_NOT_FOUND, "Method not found");
        let revision = self.revision.ok_or_else(unknown)?;
        let kind = method
            .filter(|method| method.exists_in(revision))
            .and_then(InputKind::from_method)
            .ok_or_else(unknown)?;
        admit_question(kind, params, &self.config.capabilities, revision)?;
        let limits = &self.config.limits;
        if self.questions.standing.len() >= limits.requests_in_flight || self.queues.is_full(limits) {
            return Err(RpcError::new(RpcError::INTERNAL_ERROR, "Too many requests in flight"));
        }
        Ok(kind)
    }

    fn ask(&mut self, id: RequestId, kind: InputKind, params: Option<&str>, batch: Option<BatchNumber>) {
        let input = self.questions.add(Question::new(kind, params, Origin::Session { id, batch }));
        let inputs = vec![InputRequest { input, kind, params: params.map(Json::trusted), key: None }];
        self.queues.tell(Event::InputRequired { request: None, inputs, round: 1 });
    }

    pub(super) fn answer_input(
        &mut self,
        now: Instant,
        input: InputHandle,
        response: InputResponse,
    ) -> Result<(), Error> {
        self.check_open()?;
        self.advance(now);
        let question = self.questions.standing.get(&input).ok_or(ApiMisuse::UnknownInput)?.clone();
        let result = match (response, self.revision) {
            (InputResponse::Result(result), Some(revision)) => Ok(question.write_answer(revision, &result)?),
            (InputResponse::Result(_), None) => return Err(ApiMisuse::UnknownInput.into()),
            (InputResponse::Refused(error), _) => Err(error),
        };
        self.questions.remove(input);
        match question.origin {
            Origin::Round { request } => match result {
                Ok(result) => self.answer_round(request, input, &result),
                Err(_) => self.refuse_round(request, input),
            },
            Origin::Session { id, batch } => {
                self.reply(&id, result.as_deref(), batch);
                self.settle_in_batch(batch);
                self.resume_waits();
            }
        }
        Ok(())
    }

    /// The server no longer waits for this side: its silence counts again, from now.
    fn resume_waits(&mut self) {
        if !self.questions.hold_up() {
            self.pending.touch_all(self.now, |call| {
                Call::is_sent(call) && matches!(call.purpose, Purpose::Application)
            });
        }
    }

    /// The server takes back a request.
    pub(super) fn on_request_cancelled(&mut self, id: &RequestId) {
        let Some(&input) = self.questions.asked.get(id) else { return };
        self.withdraw(input);
        self.resume_waits();
    }

    /// Tells that a question no longer stands, if it did.
    pub(super) fn withdraw(&mut self, input: InputHandle) {
        let Some(question) = self.questions.remove(input) else { return };
        if let Origin::Session { batch, .. } = question.origin {
            self.settle_in_batch(batch);
        }
        self.queues.tell(Event::InputWithdrawn { input });
    }

    pub(super) fn withdraw_all_questions(&mut self) {
        self.questions.batches.clear();
        let inputs: Vec<_> = self.questions.standing.keys().copied().collect();
        for input in inputs {
            self.withdraw(input);
        }
    }

    /// The session in which they were asked is lost: the requests of the server no longer stand.
    pub(super) fn withdraw_session_questions(&mut self) {
        self.questions.batches.clear();
        let inputs: Vec<_> = self.questions.asked.values().copied().collect();
        for input in inputs {
            self.withdraw(input);
        }
        self.resume_waits();
    }

    /// Answers a request of the server, at once or with the others of its batch.
    pub(super) fn reply(
        &mut self,
        id: &RequestId,
        outcome: Result<&str, &RpcError>,
        batch: Option<BatchNumber>,
    ) {
        if self.config.http && self.state == State::Probing {
            // The probe is a modern request: nothing that comes in its response is answered.
            return;
        }
        let text = match outcome {
            Ok(result) => write::response(id, result.len(), |out| out.push_str(result)),
            Err(error) => write::error(Some(id), error),
        };
        match batch.and_then(|number| self.questions.batches.get_mut(&number)) {
            Some(batch) => {
                batch.replies.push(if batch.replies.is_empty() { '[' } else { ',' });
                batch.replies.push_str(&text);
            }
            None => self.send(text, Route::Alone, About::Reply),
        }
    }

    /// All elements of a batch were read.
    pub(super) fn close_batch(&mut self, number: BatchNumber) {
        self.settle_in_batch(Some(number));
    }

    fn settle_in_batch(&mut self, number: Option<BatchNumber>) {
        let Some(number) = number else { return };
        let Some(batch) = self.questions.batches.get_mut(&number) else { return };
        batch.outstanding -= 1;
        if batch.outstanding > 0 {
            return;
        }
        if let Some(mut batch) = self.questions.batches.remove(&number)
            && !batch.replies.is_empty()
        {
            batch.replies.push(']');
            self.send(batch.replies, Route::Alone, About::Reply);
        }
    }
}

/// Whether the declared capabilities cover a question.
///
/// # Errors
/// The error that answers it otherwise, where answers are possible.
pub(super) fn admit_question(
    kind: InputKind,
    params: Option<&str>,
    declared: &Capabilities,
    revision: Revision,
) -> Result<(), RpcError> {
    let has_modes = revision >= Revision::V2025_11_25;
    let (needed, detail) = match kind {
        InputKind::Roots => (Capability::Roots, None),
        InputKind::Sampling => {
            let [tools, choice] = members(params, ["tools", "toolChoice"]);
            let with_tools = has_modes && (tools.is_some() || choice.is_some());
            (Capability::Sampling, with_tools.then_some(Capability::SamplingTools))
        }
        InputKind::Elicitation => {
            let [mode] = members(params, ["mode"]);
            let mode = mode.filter(|_| has_modes).unwrap_or("\"form\"");
            let needed =
                if mode == "\"form\"" { Capability::Elicitation } else { Capability::ElicitationUrl };
            let known = mode == "\"form\"" || mode == "\"url\"";
            let either = declared.has(Capability::Elicitation) || declared.has(Capability::ElicitationUrl);
            if has_modes && either && !(known && declared.has(needed)) {
                return Err(RpcError::new(RpcError::INVALID_PARAMS, "Invalid params: undeclared mode"));
            }
            (needed, None)
        }
    };
    if !declared.has(needed) {
        return Err(RpcError::new(RpcError::METHOD_NOT_FOUND, "Method not found"));
    }
    match detail.filter(|&detail| !declared.has(detail)) {
        Some(detail) => {
            let message = alloc::format!("Invalid params: {} was not declared", detail.path());
            Err(RpcError { code: RpcError::INVALID_PARAMS, message: Box::from(message), data: None })
        }
        None => check_soundness(kind, params, revision),
    }
}

/// Whether a question is one that can be answered: whatever it is, the application need not look for that.
fn check_soundness(kind: InputKind, params: Option<&str>, revision: Revision) -> Result<(), RpcError> {
    if revision < Revision::V2025_11_25 {
        return Ok(());
    }
    let [messages, mode, schema] = members(params, ["messages", "mode", "requestedSchema"]);
    let fault = match kind {
        InputKind::Sampling if !messages.is_none_or(is_balanced) => "tool uses and results do not balance",
        InputKind::Elicitation if mode == Some("\"url\"") && !params.is_some_and(has_url) => "url is none",
        InputKind::Elicitation if !schema.is_none_or(dialect::is_known) => "unknown dialect of JSON Schema",
        _ => return Ok(()),
    };
    let message = alloc::format!("Invalid params: {fault}");
    Err(RpcError { code: RpcError::INVALID_PARAMS, message: Box::from(message), data: None })
}
