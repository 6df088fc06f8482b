//! How answers go out: alone, or collected into the array that answers a batch.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::String;

use crate::config::ServerConfig;
use crate::error::{ApiMisuse, Error};
use crate::jsonrpc::{RequestId, RpcError, write};
use crate::machine::{Disposition, RequestHandle, Route, Transmit};
use crate::revision::{
    Era, Method, ResultMembers, Revision, Written, meta, names_elicitations, project_error, write_front,
    write_result, write_written,
};

use super::catalog::PageBounds;
use super::in_flight::{InFlight, InFlightTable};
use super::source::{Channel, Source};
use super::{Server, refusal};

/// Batches of 2025-03-26 whose answers are not complete.
#[derive(Debug, Default)]
pub(super) struct Batches {
    open: BTreeMap<u64, Box<Batch>>,
    last: u64,
}

/// One array of requests.
#[derive(Debug)]
struct Batch {
    /// The answers so far, as an array without its closing bracket.
    answers: String,
    /// Requests without an answer.
    owed: usize,
    /// Its elements are still being read.
    filling: bool,
    /// The request that stands for the batch where the answer is routed.
    first: Option<RequestHandle>,
    /// Where it came from.
    source: Source,
}

/// A batch that waits for nothing more.
pub(super) struct CompleteBatch {
    /// The array that answers it; none if there is nothing to answer.
    answers: Option<String>,
    first: RequestHandle,
    source: Source,
}

impl Batches {
    pub(super) fn open(&mut self, source: Source) -> u64 {
        self.last += 1;
        let batch = Batch { answers: String::from("["), owed: 0, filling: true, first: None, source };
        self.open.insert(self.last, Box::new(batch));
        self.last
    }

    /// Counts a request of the batch.
    pub(super) fn expect(&mut self, batch: u64, request: RequestHandle) {
        if let Some(batch) = self.open.get_mut(&batch) {
            batch.owed += 1;
            batch.first.get_or_insert(request);
        }
    }

    /// Adds an answer, or nothing for a request that gets none. Gives the whole array when it is complete.
    fn settle(&mut self, number: u64, answer: Option<&str>) -> Option<CompleteBatch> {
        let batch = self.open.get_mut(&number)?;
        batch.owed = batch.owed.saturating_sub(1);
        if let Some(answer) = answer {
            batch.add(answer);
        }
        self.complete(number)
    }

    /// Adds the error that answers an element without a usable id.
    pub(super) fn add_unasked(&mut self, number: u64, answer: &str) {
        if let Some(batch) = self.open.get_mut(&number) {
            batch.add(answer);
        }
    }

    /// Marks that every element was read.
    pub(super) fn filled(&mut self, number: u64) -> Option<CompleteBatch> {
        self.open.get_mut(&number)?.filling = false;
        self.complete(number)
    }

    fn complete(&mut self, number: u64) -> Option<CompleteBatch> {
        let batch = self.open.get(&number)?;
        if batch.filling || batch.owed > 0 {
            return None;
        }
        let mut batch = self.open.remove(&number)?;
        let first = batch.first.unwrap_or(RequestHandle::from_number(0));
        batch.answers.push(']');
        let answers = (batch.answers.len() > 2).then_some(batch.answers);
        Some(CompleteBatch { answers, first, source: batch.source })
    }

    /// Forgets a batch whose client is gone.
    pub(super) fn forget(&mut self, number: u64) {
        self.open.remove(&number);
    }

    pub(super) fn clear(&mut self) {
        self.open.clear();
    }
}

impl Batch {
    fn add(&mut self, answer: &str) {
        if self.answers.len() > 1 {
            self.answers.push(',');
        }
        self.answers.push_str(answer);
    }
}

/// What an answer needs to know of its request.
pub(super) struct Addressee<'a> {
    pub(super) id: &'a RequestId,
    pub(super) handle: RequestHandle,
    pub(super) batch: Option<u64>,
    pub(super) source: Source,
}

impl Server {
    /// Sends the answer of a request, alone or with its batch.
    pub(super) fn deliver(&mut self, to: &Addressee<'_>, text: String, disposition: Disposition) {
        match to.batch {
            None => {
                self.queues.send(text, Route::Answers(to.handle), to.source.labels(disposition));
            }
            Some(number) => {
                let complete = self.batches.settle(number, Some(&text));
                self.send_batch(complete);
            }
        }
    }

    /// Ends a request that its client cancelled. Nothing is sent where other messages follow on the same
    /// channel; an exchange of its own ends with an error, so that nobody waits for more of it.
    pub(super) fn forgo(&mut self, request: RequestHandle, entry: &InFlight) {
        if entry.source.channel.is_post() && entry.context.era() == Era::Legacy {
            let text = write::error(Some(&entry.id), &refusal::cancelled());
            self.deliver(&entry.addressee(request), text, Disposition::Answers);
        } else if let Some(number) = entry.batch {
            let complete = self.batches.settle(number, None);
            self.send_batch(complete);
        }
    }

    pub(super) fn send_batch(&mut self, complete: Option<CompleteBatch>) {
        let Some(CompleteBatch { answers, first, source }) = complete else { return };
        match answers {
            Some(text) => {
                self.queues.send(text, Route::Answers(first), source.labels(Disposition::Answers));
            }
            None => self.accept(source.channel),
        }
    }

    /// Ends the exchange of what is not answered.
    pub(super) fn accept(&mut self, channel: Channel) {
        if let Channel::Post(exchange) = channel {
            self.queues.transmit(Transmit::Accept { exchange });
        }
    }

    /// Refuses a request before it is served: on HTTP the status follows from the code.
    pub(super) fn refuse(&mut self, to: &Addressee<'_>, error: &RpcError) {
        self.deliver(to, write::error(Some(to.id), error), Disposition::Refuses(error.code));
    }

    /// Answers a request with an error: it was served, and what it asks for cannot be done.
    pub(super) fn decline(&mut self, to: &Addressee<'_>, error: &RpcError) {
        self.deliver(to, write::error(Some(to.id), error), Disposition::Answers);
    }

    /// Answers a request that is not in the table with a result of the server's own.
    pub(super) fn answer_now(
        &mut self,
        to: &Addressee<'_>,
        method: Method,
        revision: Revision,
        result: &str,
    ) {
        // Results of the server's own are objects.
        if let Ok(text) = self.write_answer(to.id, Some(method), revision, result.into(), None) {
            self.deliver(to, text, Disposition::Answers);
        }
    }

    /// The response with `result`, as `revision` wants it. `extra` is a further member of a modern `_meta`.
    pub(super) fn write_answer(
        &self,
        id: &RequestId,
        method: Option<Method>,
        revision: Revision,
        result: Cow<'_, str>,
        extra: Option<(&str, &str)>,
    ) -> Result<String, Error> {
        let mut pairs = [("", ""); 2];
        let members = result_members(&self.config, &self.identity, revision, extra, &mut pairs);
        let result = match result {
            Cow::Owned(text) if text.len() >= LARGE => {
                let mut front = write::response_front(id);
                if write_front(&mut front, method, revision, &text, &members)
                    .map_err(|_| ApiMisuse::InvalidJson)?
                {
                    return Ok(enclose(&front, text));
                }
                Cow::Owned(text)
            }
            other => other,
        };
        let mut outcome = Ok(());
        let text = write::response(id, result.len() + room_for(&members), |out| {
            outcome = write_result(out, method, revision, &result, &members);
        });
        outcome.map_err(|_| ApiMisuse::InvalidJson)?;
        Ok(text)
    }

    /// Answers a list method from the catalog. `cursor` is the JSON text of the parameter.
    pub(super) fn answer_page(
        &mut self,
        to: &Addressee<'_>,
        method: Method,
        revision: Revision,
        cursor: Option<&str>,
    ) {
        let mut pairs = [("", ""); 2];
        let members = result_members(&self.config, &self.identity, revision, None, &mut pairs);
        let limits = &self.config.limits;
        let bounds = PageBounds { items: limits.page_items.max(1), bytes: limits.page_bytes };
        let mut outcome = Ok(());
        let text = write::response(to.id, 0, |out| {
            outcome = self.catalog.write_page(out, method, revision, cursor, bounds, &members);
        });
        match outcome {
            Ok(()) => self.deliver(to, text, Disposition::Answers),
            Err(error) => self.decline(to, &error),
        }
    }

    /// The entry of a request that can be answered, or why it cannot. `Ok(None)`: the answer comes late and
    /// sends nothing.
    pub(super) fn answerable(&mut self, request: RequestHandle) -> Result<Option<&InFlight>, Error> {
        self.check_open()?;
        if self.in_flight.get(request).is_some_and(|entry| entry.subscription.is_none()) {
            return Ok(self.in_flight.get(request));
        }
        if self.in_flight.take_late(request) {
            return Ok(None);
        }
        Err(InFlightTable::why_missing(request, self.outbound.last()).into())
    }

    pub(super) fn answer(&mut self, request: RequestHandle, result: Cow<'_, str>) -> Result<(), Error> {
        // A late answer is checked like any other, so that a mistake does not hide behind a race.
        if self.in_flight.is_late(request) && !is_object(&result) {
            return Err(ApiMisuse::InvalidJson.into());
        }
        if self.answerable(request)?.is_none() {
            return Ok(());
        }
        let Some(entry) = self.in_flight.get(request) else { return Ok(()) };
        let text = self.write_answer(&entry.id, entry.method, entry.context.revision, result, None)?;
        self.finish(request, text, Disposition::Answers);
        Ok(())
    }

    /// As [`answer`](Self::answer), with a result of the core's own.
    pub(super) fn answer_with(&mut self, request: RequestHandle, result: &Written<'_>) -> Result<(), Error> {
        self.check_open()?;
        let Some(entry) = self.in_flight.get(request).filter(|entry| entry.subscription.is_none()) else {
            return self.answerable(request).map(|_| ());
        };
        let (method, revision) = (entry.method, entry.context.revision);
        let mut pairs = [("", ""); 2];
        let members = result_members(&self.config, &self.identity, revision, None, &mut pairs);
        let text = write::response(&entry.id, result.room() + room_for(&members), |out| {
            write_written(out, method, revision, result, &members);
        });
        self.finish(request, text, Disposition::Answers);
        Ok(())
    }

    pub(super) fn answer_error(&mut self, request: RequestHandle, error: RpcError) -> Result<(), Error> {
        let Some(entry) = self.answerable(request)? else { return Ok(()) };
        let error = project_error(error, entry.method, entry.context.revision);
        if error.code == RpcError::URL_ELICITATION_REQUIRED && !names_elicitations(&error) {
            return Err(ApiMisuse::InvalidDefinition("elicitations").into());
        }
        let text = write::error(Some(&entry.id), &error);
        // The one error of an application that has a status of its own (basic/index, 2026-07-28).
        let disposition = match error.code {
            RpcError::MISSING_CLIENT_CAPABILITY => Disposition::Refuses(error.code),
            _ => Disposition::Answers,
        };
        self.finish(request, text, disposition);
        Ok(())
    }

    pub(super) fn answer_invalid_arguments(
        &mut self,
        request: RequestHandle,
        message: &str,
    ) -> Result<(), Error> {
        let Some(entry) = self.answerable(request)? else { return Ok(()) };
        // An error response up to 2025-06-18, a result that the model can read from 2025-11-25 (server/tools).
        if entry.method != Some(Method::ToolsCall) || entry.context.revision < Revision::V2025_11_25 {
            return self.answer_error(request, RpcError::new(RpcError::INVALID_PARAMS, message));
        }
        self.respond_tool_error(request, message)
    }

    /// Takes a request out of the table and sends its answer.
    pub(super) fn finish(&mut self, request: RequestHandle, text: String, disposition: Disposition) {
        if let Some(mut entry) = self.in_flight.remove(request) {
            self.note_movement();
            self.withdraw_questions(entry.asking.take());
            self.deliver(&entry.addressee(request), text, disposition);
        }
        self.check_drained();
    }

    /// Puts a request into the table, or refuses it because there are too many.
    pub(super) fn enter(&mut self, handle: RequestHandle, entry: Box<InFlight>) -> bool {
        let limits = &self.config.limits;
        // Clients that listen on HTTP have a bound of their own.
        let is_bounded = entry.subscription.is_none() || entry.source.channel == Channel::Stream;
        let running = self.in_flight.len().saturating_sub(self.subscriptions.listening_apart());
        if (is_bounded && running >= limits.requests_in_flight) || self.queues.is_full(limits) {
            self.refuse(&entry.addressee(handle), &refusal::overloaded("requests in flight"));
            return false;
        }
        let was_crowded = self.is_crowded();
        self.in_flight.insert(handle, entry);
        if !was_crowded {
            self.note_movement();
        }
        true
    }
}

/// A result of so many bytes that is given away becomes the message itself, instead of being copied into one.
const LARGE: usize = 4 << 10;

/// Puts what comes before a result in the place of its opening bracket, and ends the envelope.
fn enclose(front: &str, mut result: String) -> String {
    // Room for the bracket and for the line end of a byte stream.
    result.reserve(front.len() + 2);
    result.replace_range(..1, front);
    result.push('}');
    result
}

/// What a result gets besides what the application wrote.
fn result_members<'a>(
    config: &ServerConfig,
    server_info: &'a str,
    revision: Revision,
    extra: Option<(&'a str, &'a str)>,
    pairs: &'a mut [(&'a str, &'a str); 2],
) -> ResultMembers<'a> {
    let identity = config.identify_results.then_some((meta::SERVER_INFO, server_info));
    let mut count = 0;
    if revision.era() == Era::Modern {
        for pair in extra.into_iter().chain(identity) {
            // Two at most.
            pairs[count] = pair;
            count += 1;
        }
    }
    let freshness = config.freshness;
    ResultMembers { meta: &pairs[..count], ttl_ms: freshness.ttl_ms, cache_scope: freshness.scope.as_str() }
}

/// Room for what a result gets.
fn room_for(members: &ResultMembers<'_>) -> usize {
    members.meta.iter().map(|(key, value)| key.len() + value.len() + 80).sum()
}

fn is_object(text: &str) -> bool {
    text.trim_start().starts_with('{') && crate::json::Json::new(text).is_ok()
}
