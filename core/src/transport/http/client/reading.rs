//! What comes back: heads, bodies, ends and failures, and what they mean for the machine.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use crate::error::Error;
use crate::json::Json;
use crate::jsonrpc::Violation;
use crate::machine::{ExchangeHandle, Facts, Failure, Input, Machine};
use crate::revision::Method;
use crate::transport::http::headers::{CONTENT_TYPE, DPOP_NONCE, Headers, SESSION_ID, WWW_AUTHENTICATE};
use crate::transport::http::media::Media;
use crate::transport::http::status::{Asked, Verdict, error_code, judge};
use crate::transport::sse::SseReader;

use super::exchange::{Exchange, Purpose, Stage};
use super::posting::LINGER;
use super::stream::Opening;
use super::{End, ExchangeFailure, HttpClient, HttpClientEvent, HttpRequest};

impl<M: Machine> HttpClient<M> {
    pub(super) fn on_head(
        &mut self,
        handle: ExchangeHandle,
        status: u16,
        list: &[(&str, &str)],
    ) -> Result<(), Error> {
        let headers = Headers::new(list);
        let Some(exchange) = self.table.get(handle) else { return Ok(()) };
        if !matches!(exchange.stage, Stage::Sent) || self.redirect(handle, status, headers) {
            return Ok(());
        }
        if self.challenge(handle, status, headers) {
            return self.hold(handle);
        }
        let Some(exchange) = self.table.get_mut(handle) else { return Ok(()) };
        let (purpose, asked) = (exchange.purpose, exchange.asked);
        let media = Media::of(headers.first(CONTENT_TYPE));
        // Only a refused handshake may go out again.
        if asked != Asked::LegacyOpening || is_success(status) {
            exchange.copy = None;
        }
        if is_success(status) {
            if asked == Asked::LegacyOpening && exchange.session == self.session.number {
                self.open_session(headers);
            } else if self.endpoint().is_some() && matches!(purpose, Purpose::Request { .. }) {
                // The answer comes on the stream of HTTP+SSE.
                self.retire(handle);
                return Ok(());
            }
        } else if reads_refusal(purpose, asked, status, media) {
            self.gather(handle, status, media);
            return Ok(());
        }
        match judge(asked, status, media, None) {
            Verdict::Message if is_success(status) => self.gather(handle, status, media),
            Verdict::Events => self.open_stream(handle),
            Verdict::Accepted => self.accept(handle),
            verdict => return self.refuse(handle, verdict, status, None),
        }
        Ok(())
    }

    /// Lets an exchange wait for the host to authorize it. False if that is out of the question.
    fn challenge(&mut self, handle: ExchangeHandle, status: u16, headers: Headers<'_>) -> bool {
        if !self.config.authorizes || !matches!(status, 401 | 403) || self.end != End::Open {
            return false;
        }
        let Some(exchange) = self.table.get_mut(handle) else { return false };
        let Some(copy) = exchange.copy.as_deref().filter(|_| exchange.challenges < MOST_CHALLENGES) else {
            return false;
        };
        let operation = operation(copy);
        exchange.challenges += 1;
        exchange.stage = Stage::Challenged { status, is_over: false };
        self.table.arm(handle, Some(self.now.after(self.config.authorization_timeout)));
        let challenges = headers.all(WWW_AUTHENTICATE).map(Into::into).collect();
        self.events.push_back(HttpClientEvent::AuthorizationRequired {
            exchange: handle,
            status,
            challenges,
            dpop_nonce: headers.first(DPOP_NONCE).map(Into::into),
            operation,
        });
        true
    }

    /// No time passes for a request whose exchange waits to be authorized.
    fn hold(&mut self, handle: ExchangeHandle) -> Result<(), Error> {
        match self.table.get(handle).map(|exchange| exchange.purpose) {
            Some(Purpose::Request { request, .. }) => {
                self.machine.handle_input(self.now, Input::Held { request })
            }
            _ => Ok(()),
        }
    }

    pub(super) fn refuse_again(&mut self, handle: ExchangeHandle) -> Result<(), Error> {
        let Some(Exchange { stage: Stage::Challenged { status, .. }, .. }) = self.table.get(handle) else {
            return Ok(());
        };
        let status = *status;
        self.fail(handle, Failure::Unauthorized { status })
    }

    /// The handshake is being answered: the session has its name from now on.
    fn open_session(&mut self, headers: Headers<'_>) {
        let is_visible = |id: &&str| !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_graphic());
        self.session.id = headers.first(SESSION_ID).filter(is_visible).map(Into::into);
        self.opening = Opening::Answered;
    }

    fn gather(&mut self, handle: ExchangeHandle, status: u16, media: Media) {
        if let Some(exchange) = self.table.get_mut(handle) {
            exchange.stage = Stage::Body { status, media, bytes: Vec::new() };
        }
    }

    fn open_stream(&mut self, handle: ExchangeHandle) {
        let Some(exchange) = self.table.get_mut(handle) else { return };
        exchange.stage = Stage::Stream(SseReader::new(self.config.message_bytes).into());
        exchange.thread.open(self.now);
        exchange.challenges = 0;
        self.pass(handle);
    }

    /// A notification, a response or the end of a session was taken.
    fn accept(&mut self, handle: ExchangeHandle) {
        let withdrawn = match self.table.get(handle).map(|exchange| exchange.purpose) {
            Some(Purpose::Notice { withdraws }) => withdraws,
            _ => None,
        };
        self.retire(handle);
        // Before 2026-07-28 leaving an exchange cancels nothing; now that it is cancelled, nothing will come in it.
        if let Some(useless) = withdrawn.and_then(|request| self.table.of_request(request))
            && self.table.get(useless).is_some_and(|exchange| !self.is_awaited(exchange.purpose))
        {
            self.abandon(useless);
        }
    }

    pub(super) fn on_body(&mut self, handle: ExchangeHandle, data: &[u8]) -> Result<(), Error> {
        let limit = self.config.message_bytes;
        let Some(exchange) = self.table.get_mut(handle) else { return Ok(()) };
        match &mut exchange.stage {
            Stage::Body { bytes, .. } => {
                let room = limit - bytes.len();
                bytes.extend_from_slice(data.get(..room).unwrap_or(data));
                if data.len() > room { self.end_long_body(handle) } else { Ok(()) }
            }
            Stage::Stream(reader) => {
                reader.receive_data(data);
                self.read_events(handle)
            }
            Stage::Sent | Stage::Ignored | Stage::Dormant | Stage::Challenged { .. } => Ok(()),
        }
    }

    fn read_events(&mut self, handle: ExchangeHandle) -> Result<(), Error> {
        loop {
            let Some(exchange) = self.table.get_mut(handle) else { return Ok(()) };
            let Stage::Stream(reader) = &mut exchange.stage else { return Ok(()) };
            match reader.poll_event() {
                Some(Ok(event)) if exchange.purpose == Purpose::Channel => {
                    self.on_channel_event(handle, &event)?;
                }
                Some(Ok(event)) if event.is_message() => {
                    exchange.thread.bring();
                    self.deliver(handle, &event.data)?;
                }
                // An event of another name, or one that only tells an id.
                Some(Ok(_)) => {}
                Some(Err(fault)) => {
                    let input = Input::Damaged { bytes: &fault.bytes, violation: fault.violation };
                    self.machine.handle_input(self.now, input)?;
                }
                None => return Ok(()),
            }
        }
    }

    /// Hands a message of a stream to the machine.
    pub(super) fn deliver(&mut self, handle: ExchangeHandle, text: &str) -> Result<(), Error> {
        let Some(purpose) = self.table.get(handle).map(|exchange| exchange.purpose) else { return Ok(()) };
        let outcome = self.hand_in(purpose, text);
        if purpose == Purpose::Standalone {
            self.leave_answered();
        } else if !self.is_awaited(purpose) {
            self.await_end(handle);
        }
        outcome
    }

    /// Leaves the exchanges of requests that were answered elsewhere.
    fn leave_answered(&mut self) {
        let is_useless = |(_, exchange): &(_, &Exchange)| !self.is_awaited(exchange.purpose);
        let useless: Vec<_> =
            self.table.open_requests().filter(is_useless).map(|(handle, _)| handle).collect();
        for handle in useless {
            self.abandon(handle);
        }
    }

    /// Hands a message to the machine.
    pub(super) fn hand_in(&mut self, purpose: Purpose, text: &str) -> Result<(), Error> {
        let within = match purpose {
            Purpose::Request { request, .. } => Some(request),
            _ => None,
        };
        let unmarked = text.strip_prefix('\u{feff}');
        let facts = Facts { byte_order_mark: unmarked.is_some(), within, ..Facts::default() };
        self.machine.handle_input(self.now, Input::Message { text: unmarked.unwrap_or(text), facts })
    }

    pub(super) fn on_end(&mut self, handle: ExchangeHandle) -> Result<(), Error> {
        let Some(exchange) = self.table.get_mut(handle) else { return Ok(()) };
        let outcome = match &mut exchange.stage {
            Stage::Sent => self.fail(handle, Failure::Unavailable { status: None }),
            Stage::Body { status, media, bytes } => {
                let (status, media, bytes) = (*status, *media, core::mem::take(bytes));
                self.end_body(handle, status, media, &bytes)
            }
            Stage::Stream(_) => self.end_stream(handle),
            Stage::Challenged { is_over, .. } => {
                *is_over = true;
                Ok(())
            }
            Stage::Ignored | Stage::Dormant => Ok(()),
        };
        self.drop_spent(handle);
        outcome
    }

    /// The body is whole.
    fn end_body(
        &mut self,
        handle: ExchangeHandle,
        status: u16,
        media: Media,
        bytes: &[u8],
    ) -> Result<(), Error> {
        let Some(Exchange { purpose, asked, .. }) = self.table.get(handle) else { return Ok(()) };
        let (purpose, asked) = (*purpose, *asked);
        let text = core::str::from_utf8(bytes);
        if !is_success(status) {
            let depth = self.machine.limits().depth;
            let text = text.unwrap_or_default();
            let error = error_code(text, depth);
            return self.refuse(handle, judge(asked, status, media, error), status, error.map(|_| text));
        }
        self.retire(handle);
        match text {
            Ok(text) if text.trim_ascii().is_empty() => {}
            Ok(text) => self.hand_in(purpose, text)?,
            Err(_) => {
                self.machine
                    .handle_input(self.now, Input::Damaged { bytes, violation: Violation::NotUtf8 })?;
            }
        }
        self.fail_request(purpose, Failure::Refused { status })
    }

    /// The body is longer than allowed: nothing more of it is read.
    fn end_long_body(&mut self, handle: ExchangeHandle) -> Result<(), Error> {
        let Some(exchange) = self.table.get_mut(handle) else { return Ok(()) };
        let (purpose, asked) = (exchange.purpose, exchange.asked);
        let Stage::Body { status, media, bytes } = &mut exchange.stage else { return Ok(()) };
        let (status, media, bytes) = (*status, *media, core::mem::take(bytes));
        if is_success(status) {
            self.abandon(handle);
            let input = Input::Damaged { bytes: &bytes, violation: Violation::TooLong };
            self.machine.handle_input(self.now, input)?;
            return self.fail_request(purpose, Failure::Truncated);
        }
        let outcome = self.refuse(handle, judge(asked, status, media, None), status, None);
        self.abandon(handle);
        outcome
    }

    /// The stream is over, in order or not.
    fn end_stream(&mut self, handle: ExchangeHandle) -> Result<(), Error> {
        let Some(exchange) = self.table.get_mut(handle) else { return Ok(()) };
        let Stage::Stream(reader) = &exchange.stage else { return Ok(()) };
        exchange.thread.close(self.now, reader.last_event_id(), reader.retry_ms());
        let is_modern = matches!(exchange.asked, Asked::ModernOpening | Asked::ModernRequest);
        let is_resumable = exchange.thread.last_event_id.is_some() && !is_modern;
        let purpose = exchange.purpose;
        match purpose {
            Purpose::Request { .. } if !self.is_awaited(purpose) => {
                self.forget(handle);
                Ok(())
            }
            Purpose::Request { .. } if is_resumable => self.sleep(handle),
            Purpose::Standalone => self.sleep(handle),
            _ => self.fail(handle, Failure::Truncated),
        }
    }

    pub(super) fn on_failure(
        &mut self,
        handle: ExchangeHandle,
        failure: ExchangeFailure,
    ) -> Result<(), Error> {
        let Some(exchange) = self.table.get_mut(handle) else { return Ok(()) };
        let asked = exchange.asked;
        let outcome = match (&mut exchange.stage, failure) {
            (Stage::Sent, ExchangeFailure::Redirected { status }) => {
                self.fail(handle, Failure::Refused { status })
            }
            (Stage::Sent, _) => self.fail(handle, Failure::Unavailable { status: None }),
            (&mut Stage::Body { status, media, .. }, _) if !is_success(status) => {
                self.refuse(handle, judge(asked, status, media, None), status, None)
            }
            (Stage::Body { .. }, _) => self.fail(handle, Failure::Truncated),
            (Stage::Stream(_), _) => self.end_stream(handle),
            (Stage::Challenged { is_over, .. }, _) => {
                *is_over = true;
                Ok(())
            }
            (Stage::Ignored | Stage::Dormant, _) => Ok(()),
        };
        self.drop_spent(handle);
        outcome
    }

    /// A response that has brought what it could has ended.
    fn drop_spent(&mut self, handle: ExchangeHandle) {
        if self.table.get(handle).is_some_and(|exchange| exchange.purpose == Purpose::Spent) {
            self.table.remove(handle);
        }
    }

    /// An exchange was refused. `body` is the JSON-RPC error that came with it.
    fn refuse(
        &mut self,
        handle: ExchangeHandle,
        verdict: Verdict,
        status: u16,
        body: Option<&str>,
    ) -> Result<(), Error> {
        let Some(exchange) = self.table.get(handle) else { return Ok(()) };
        let (purpose, asked) = (exchange.purpose, exchange.asked);
        let failure = match verdict {
            Verdict::SessionGone => {
                Failure::SessionLost { is_current: exchange.session == self.session.number }
            }
            Verdict::Unauthorized => Failure::Unauthorized { status },
            Verdict::Outage => Failure::Unavailable { status: Some(status) },
            _ => Failure::Refused { status },
        };
        if verdict == Verdict::NoEndpoint
            && asked == Asked::LegacyOpening
            && self.take_detour(handle, status, body)
        {
            return Ok(());
        }
        if let (Some(body), Failure::Refused { .. }) = (body, failure) {
            self.retire(handle);
            self.hand_in(purpose, body)?;
            return self.fail_request(purpose, failure);
        }
        self.fail(handle, failure)
    }

    /// An exchange brought nothing.
    pub(super) fn fail(&mut self, handle: ExchangeHandle, failure: Failure) -> Result<(), Error> {
        let Some(exchange) = self.table.get(handle) else { return Ok(()) };
        let (purpose, is_resumed) = (exchange.purpose, exchange.is_resumed());
        let was_open = exchange.thread.was_open;
        let session_lost = matches!(failure, Failure::SessionLost { .. });
        if matches!(failure, Failure::Unavailable { .. }) && (is_resumed || purpose == Purpose::Standalone) {
            return self.sleep(handle);
        }
        self.retire(handle);
        match purpose {
            Purpose::Request { .. } if is_resumed => {
                // It may have been done: whatever the reason, it must not be sent again.
                let unauthorized = matches!(failure, Failure::Unauthorized { .. });
                self.fail_request(purpose, if unauthorized { failure } else { Failure::Truncated })?;
                if session_lost { self.report(failure) } else { Ok(()) }
            }
            Purpose::Request { .. } => self.fail_request(purpose, failure),
            Purpose::Notice { .. } => self.report(failure),
            // Servers without such a stream may not know the path by GET at all.
            Purpose::Standalone if session_lost && was_open => self.report(failure),
            Purpose::Channel => self.on_channel_end(handle),
            Purpose::Standalone | Purpose::EndOfSession | Purpose::Spent => Ok(()),
        }
    }

    /// Tells the machine of a failure that is no request's.
    fn report(&mut self, failure: Failure) -> Result<(), Error> {
        self.machine.handle_input(self.now, Input::Failed { request: None, failure })
    }

    /// Tells the machine that its request has failed, if it still waits for it.
    pub(super) fn fail_request(&mut self, purpose: Purpose, failure: Failure) -> Result<(), Error> {
        match purpose {
            Purpose::Request { request, .. } if self.is_awaited(purpose) => {
                self.machine.handle_input(self.now, Input::Failed { request: Some(request), failure })
            }
            _ => Ok(()),
        }
    }

    /// Lets a stream rest until it is asked for again, or gives it up.
    fn sleep(&mut self, old: ExchangeHandle) -> Result<(), Error> {
        let retry = self.config.retry;
        let session = self.session.id.is_some();
        let Some(exchange) = self.table.get_mut(old) else { return Ok(()) };
        // The stream of a session is wanted as long as there is the session: it tells of changes.
        let is_lasting = exchange.purpose == Purpose::Standalone && exchange.thread.was_open;
        let attempts = if is_lasting { u32::MAX } else { self.config.resumptions };
        let Some(wait) = exchange.thread.next_wait(retry, attempts) else {
            let purpose = exchange.purpose;
            self.retire(old);
            return self.fail_request(purpose, Failure::Truncated);
        };
        exchange.asked = Asked::Stream { session };
        self.pass(old);
        if let Some(exchange) = self.table.renew(old, self.now.after(LINGER)) {
            self.table.arm(exchange, Some(self.now.after(wait)));
        }
        Ok(())
    }

    /// The time of an exchange has come.
    pub(super) fn on_deadline(&mut self, handle: ExchangeHandle) -> Result<(), Error> {
        let Some(exchange) = self.table.get(handle) else { return Ok(()) };
        match (exchange.purpose, &exchange.stage) {
            (_, Stage::Dormant) => self.wake(handle),
            (_, Stage::Challenged { .. }) => self.refuse_again(handle),
            (Purpose::Notice { .. }, _) => {
                self.abandon(handle);
                self.report(Failure::Unavailable { status: None })
            }
            (Purpose::Channel, _) => {
                self.abandon(handle);
                self.on_channel_end(handle)
            }
            _ => {
                self.abandon(handle);
                Ok(())
            }
        }
    }

    /// Asks for a stream again.
    fn wake(&mut self, handle: ExchangeHandle) -> Result<(), Error> {
        let Some(exchange) = self.table.get_mut(handle) else { return Ok(()) };
        let purpose = exchange.purpose;
        let is_of_session = exchange.session == self.session.number;
        exchange.stage = Stage::Sent;
        if is_of_session && self.is_awaited(purpose) {
            self.get(handle);
            return Ok(());
        }
        self.forget(handle);
        self.fail_request(purpose, Failure::Truncated)
    }
}

/// How often an exchange may wait to be authorized; more is a circle.
const MOST_CHALLENGES: u32 = 5;

/// What a request asks for: its method in the protocol and what that is called on, or its method in HTTP.
fn operation(request: &HttpRequest) -> Box<str> {
    let body = Json::trusted(&request.body);
    let text = |json: Option<Json>| json.and_then(|json| json.parse::<String>().ok());
    let Some(name) = text(body.member("method")) else { return request.method.into() };
    let member = Method::from_name(&name).and_then(|method| method.row().name_member);
    let target = member.and_then(|member| text(body.member("params")?.member(member)));
    target.map_or_else(|| name.clone().into(), |target| [&*name, " ", &target].concat().into())
}

const fn is_success(status: u16) -> bool {
    matches!(status, 200..=299)
}

/// Whether the body of a refusal may say more than its status.
fn reads_refusal(purpose: Purpose, asked: Asked, status: u16, media: Media) -> bool {
    let is_request = matches!(purpose, Purpose::Request { .. }) && !matches!(asked, Asked::Stream { .. });
    let speaks_by_status = matches!(status, 0..=399 | 401 | 403);
    is_request && !speaks_by_status && media != Media::EventStream
}
