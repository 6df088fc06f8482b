//! Requests of the application: sent or held back, answered, timed out, given up.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;

use crate::error::{ApiMisuse, Error, Limit};
use crate::json::Json;
use crate::jsonrpc::{Outcome, RequestId, RpcError, Violation, write};
use crate::logging::LogLevel;
use crate::machine::{RequestHandle, Route, SubscriptionHandle, Transmit};
use crate::pending::Clock;
use crate::revision::meta::{self, RequestMeta};
use crate::revision::{Direction, Era, Kind, Method, Revision, one_line};
use crate::time::Instant;

use super::labels::About;
use super::modern::Round;
use super::params::{self, Answers, Params};
use super::state::State;
use super::visits::Visits;
use super::{Client, Event, FailureReason, Held, RequestOptions};

/// The name of a method, kept without a copy if the protocol defines it.
#[derive(Clone, Debug)]
pub(super) enum MethodName {
    Known(Method),
    Other(Box<str>),
}

impl MethodName {
    fn new(name: &str) -> MethodName {
        Method::from_name(name).map_or_else(|| MethodName::Other(name.into()), MethodName::Known)
    }

    pub(super) fn as_str(&self) -> &str {
        match self {
            MethodName::Known(method) => method.name(),
            MethodName::Other(name) => name,
        }
    }

    pub(super) const fn known(&self) -> Option<Method> {
        match self {
            MethodName::Known(method) => Some(*method),
            MethodName::Other(_) => None,
        }
    }
}

/// A request in flight.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) method: MethodName,
    pub(super) purpose: Purpose,
    pub(super) stage: Stage,
    /// Kept while it may have to be sent again.
    pub(super) params: Option<Box<str>>,
    pub(super) options: RequestOptions,
    /// How often the server has asked back.
    pub(super) round: u32,
    /// It was sent once more after its session was lost.
    pub(super) in_new_session: bool,
    /// It was sent once more after its headers were refused.
    pub(super) with_new_headers: bool,
}

impl Call {
    /// A call that has not been sent yet.
    pub(super) const fn new(
        method: MethodName,
        purpose: Purpose,
        params: Option<Box<str>>,
        options: RequestOptions,
    ) -> Call {
        Call {
            method,
            purpose,
            stage: Stage::Held,
            params,
            options,
            round: 0,
            in_new_session: false,
            with_new_headers: false,
        }
    }

    /// Whether an attempt waits for its answer.
    pub(super) const fn is_sent(&self) -> bool {
        matches!(self.stage, Stage::Sent)
    }
}

/// Whom the answer is for.
#[derive(Clone, Debug)]
pub(super) enum Purpose {
    Application,
    /// The stream of a subscription.
    Listen(SubscriptionHandle),
    /// A legacy subscription to this URI.
    Watch(Box<str>),
    /// Nobody waits for the answer: the end of a legacy subscription, what a new session is set up with.
    Unheard,
    /// A page of the list of tools, to learn which arguments headers repeat.
    Refresh,
}

/// Where a request stands.
#[derive(Debug)]
pub(super) enum Stage {
    /// Waits for the connection to be ready.
    Held,
    /// Waits for its answer.
    Sent,
    /// Waits for answers of the application.
    Asking(Box<Round>),
    /// Waits before it is sent again.
    BackingOff(Box<Round>),
    /// Waits for the user to have been somewhere.
    Visiting(Box<Visits>),
    /// Waits for the list of tools. It fails with this error if that does not come.
    Refreshing(Box<RpcError>),
}

/// What the core alone may send.
pub(super) const OF_THE_CORE: [Method; 4] =
    [Method::Initialize, Method::Initialized, Method::SubscriptionsListen, Method::Cancelled];

/// Undeclared server capabilities must not be used from this revision on (basic/lifecycle, Operation).
const CAPABILITIES_BIND_SINCE: Revision = Revision::V2025_06_18;

impl Client {
    pub(super) const fn is_ready(&self) -> bool {
        matches!(self.state, State::Legacy | State::Modern)
    }

    pub(super) fn is_modern(&self) -> bool {
        self.state == State::Modern
    }

    pub(super) fn start_request(
        &mut self,
        now: Instant,
        method: &str,
        params: Params<'_>,
        options: RequestOptions,
    ) -> Result<RequestHandle, Error> {
        self.check_open()?;
        self.advance(now);
        let method = MethodName::new(method);
        check_sender(method.known(), Kind::Request)?;
        params::check(options.meta.as_ref().map(Json::as_str))?;
        self.check_room_in_flight()?;
        if self.is_ready() {
            self.check_allowed(method.known())?;
        } else {
            self.check_room_to_hold()?;
            params.check()?;
        }
        let request = self.pending.draw();
        let timeouts = &self.config.timeouts;
        let clock = Clock {
            idle: options.timeout.unwrap_or(timeouts.request),
            end: self.now.after(options.total_timeout.unwrap_or(timeouts.request_total)),
        };
        let keep = !self.is_ready() || self.may_be_sent_again(method.known());
        let kept = params.text().filter(|_| keep).map(Into::into);
        let call = Call::new(method, Purpose::Application, kept, options);
        if self.is_ready() {
            self.transmit_new(request, clock, call, params)?;
        } else {
            self.pending.insert(request, clock, call);
            self.held.push_back(Held::Request(request));
        }
        Ok(request)
    }

    fn may_be_sent_again(&self, method: Option<Method>) -> bool {
        self.opening.is_unconfirmed()
            || (self.config.http && self.state == State::Legacy)
            || (self.is_modern() && method.is_some_and(|method| method.row().rounds))
            || self.may_need_visits(method)
    }

    fn check_room_in_flight(&self) -> Result<(), Error> {
        if self.pending.len() >= self.config.limits.requests_in_flight {
            return Err(Limit::RequestsInFlight.into());
        }
        Ok(())
    }

    pub(super) fn check_room_to_hold(&self) -> Result<(), Error> {
        if self.held.len() >= self.config.limits.queued_requests {
            return Err(Limit::QueuedRequests.into());
        }
        Ok(())
    }

    /// Whether the settled revision and the server's capabilities allow a method.
    pub(super) fn check_allowed(&self, method: Option<Method>) -> Result<(), Error> {
        let (Some(method), Some(revision)) = (method, self.revision) else { return Ok(()) };
        if !method.exists_in(revision) {
            return Err(ApiMisuse::NotAllowedInRevision(revision).into());
        }
        let row = method.row();
        let declared = match row.kind {
            Kind::Request => self.server.as_ref().filter(|_| revision >= CAPABILITIES_BIND_SINCE),
            Kind::Notification => Some(&self.config.capabilities),
        };
        match (row.capability, declared) {
            (Some(needed), Some(declared)) if !declared.has(needed) => {
                Err(ApiMisuse::CapabilityNotDeclared(needed).into())
            }
            _ => Ok(()),
        }
    }

    /// Adds and sends a request of any purpose.
    ///
    /// # Errors
    /// If the parameters are no object; nothing has changed then.
    pub(super) fn transmit_new(
        &mut self,
        request: RequestHandle,
        clock: Clock,
        mut call: Call,
        params: Params<'_>,
    ) -> Result<(), ApiMisuse> {
        call.stage = Stage::Sent;
        let id = wire_id(request);
        let text = self.write_call(&id, &call, params)?;
        let params = params.text();
        let labels = self.labels(About::Call { method: call.method.as_str(), params });
        let level = self.level_set_by(call.method.known(), params);
        self.session.note_log_level(level);
        let progress = call.options.progress;
        self.pending.insert(request, clock, call);
        self.pending.start(self.now, request, progress);
        self.queues.send(text, Route::Opens(request), labels);
        Ok(())
    }

    /// Sends a request that waits already, as its first attempt or as a further one.
    pub(super) fn transmit_kept(&mut self, request: RequestHandle, answers: Option<Answers<'_>>) {
        let (Some(id), Some(call)) = (self.pending.id(request), self.pending.get(request)) else { return };
        let joined = answers.map(|answers| answers.join(call.params.as_deref()));
        let params = joined.as_deref().or(call.params.as_deref());
        let text = match self.write_call(&id, call, Params::Given(params)) {
            Ok(text) => text,
            Err(misuse) => return self.drop_answered(request, FailureReason::NotSent(misuse.into())),
        };
        let labels = self.labels(About::Call { method: call.method.as_str(), params });
        let level = self.level_set_by(call.method.known(), params);
        let keep = self.may_be_sent_again(call.method.known());
        let progress = call.options.progress;
        if let Some(call) = self.pending.get_mut(request) {
            call.stage = Stage::Sent;
            if !keep {
                call.params = None;
            }
        }
        self.session.note_log_level(level);
        self.pending.start(self.now, request, progress);
        self.queues.send(text, Route::Opens(request), labels);
    }

    /// The text of one attempt.
    ///
    /// # Errors
    /// If the parameters are no object.
    fn write_call(&self, id: &RequestId, call: &Call, params: Params<'_>) -> Result<String, ApiMisuse> {
        let token = call.options.progress.then(|| format!("{id}"));
        let meta = RequestMeta {
            standing: &self.stamp,
            log_level: self.wanted_log_level(call).map(LogLevel::as_str),
            progress_token: token.as_deref(),
            extra: call.options.meta.as_ref().map(Json::as_str),
        };
        let length = self.stamp.len() + params.text().map_or(0, str::len);
        let mut sound = true;
        let text = write::request_with(id, call.method.as_str(), length, |out| {
            let written = match params {
                Params::Given(text) => meta::write_request_params(out, text, &meta),
                Params::Written(text) => meta::write_own_params(out, text, &meta),
            };
            sound = written.is_ok();
            written.unwrap_or(false)
        });
        if sound { Ok(text) } else { Err(ApiMisuse::InvalidJson) }
    }

    /// The least severity of log messages that a request asks for. A subscription asks for none: it could not
    /// get any (server/utilities/logging, 2026-07-28).
    pub(super) fn wanted_log_level(&self, call: &Call) -> Option<LogLevel> {
        let can_log = self.is_modern() && matches!(call.purpose, Purpose::Application);
        call.options.log_level.or(self.log_level).filter(|_| can_log)
    }

    /// Sends what was held back. What cannot be sent any more fails.
    pub(super) fn release_held(&mut self) {
        for held in core::mem::take(&mut self.held) {
            match held {
                Held::Request(request) => self.release_request(request),
                Held::LogLevel(request, level) => self.release_log_level(request, level),
                Held::Notification(method, params) => {
                    // Nobody waits for it; it is dropped where the revision has no such thing.
                    let _ = self.send_notification(&method, params.as_deref());
                }
                Held::Subscription(subscription) => self.open_subscription(subscription),
            }
        }
    }

    fn release_request(&mut self, request: RequestHandle) {
        let Some(call) = self.pending.get(request) else { return };
        match self.check_allowed(call.method.known()) {
            Ok(()) => self.transmit_kept(request, None),
            Err(error) => {
                self.pending.take(request);
                self.queues.tell(Event::RequestFailed { request, reason: FailureReason::NotSent(error) });
            }
        }
    }

    pub(super) fn choose_log_level(&mut self, now: Instant, level: LogLevel) -> Result<RequestHandle, Error> {
        if self.state == State::Legacy {
            return self.start_request(
                now,
                Method::LoggingSetLevel.name(),
                Params::Written(&level_params(level)),
                RequestOptions::default(),
            );
        }
        self.check_open()?;
        self.advance(now);
        let request = self.pending.draw();
        if self.is_modern() {
            self.set_log_level_of_requests(request, level);
            return Ok(request);
        }
        self.check_room_to_hold()?;
        self.check_room_in_flight()?;
        let timeouts = &self.config.timeouts;
        let clock = Clock { idle: timeouts.request, end: self.now.after(timeouts.request_total) };
        let call = Call::new(
            MethodName::Known(Method::LoggingSetLevel),
            Purpose::Application,
            Some(level_params(level).into()),
            RequestOptions::default(),
        );
        self.pending.insert(request, clock, call);
        self.held.push_back(Held::LogLevel(request, level));
        Ok(request)
    }

    fn set_log_level_of_requests(&mut self, request: RequestHandle, level: LogLevel) {
        self.log_level = Some(level);
        let result = Json::trusted("{}");
        self.queues.tell(Event::ResponseReceived { request, result, freshness: None });
    }

    fn release_log_level(&mut self, request: RequestHandle, level: LogLevel) {
        if !self.is_modern() {
            self.release_request(request);
        } else if self.pending.take(request).is_some() {
            self.set_log_level_of_requests(request, level);
        }
    }

    pub(super) fn send_notification(&mut self, method: &str, params: Option<&str>) -> Result<(), Error> {
        self.check_open()?;
        let known = Method::from_name(method);
        check_sender(known, Kind::Notification)?;
        params::check(params)?;
        if !self.is_ready() {
            self.check_room_to_hold()?;
            self.held.push_back(Held::Notification(method.into(), params.map(Into::into)));
            return Ok(());
        }
        self.check_allowed(known)?;
        // From 2026-07-28 progress goes to the client only (basic/patterns/progress).
        if let Some(revision) = self.revision.filter(|_| known == Some(Method::Progress) && self.is_modern())
        {
            return Err(ApiMisuse::NotAllowedInRevision(revision).into());
        }
        let params = params.map(one_line);
        let params = params.as_deref();
        self.send(write::notification(method, params), Route::Alone, About::Call { method, params });
        Ok(())
    }

    /// The request that waits for a response with this id.
    pub(super) fn waiting(&self, id: &RequestId) -> Option<RequestHandle> {
        let request = self.pending.find(id)?;
        let sent = matches!(self.pending.get(request)?.stage, Stage::Sent);
        sent.then_some(request)
    }

    /// A response to a request that waits for it.
    pub(super) fn on_answer(&mut self, text: &str, request: RequestHandle, outcome: Outcome<'_>) {
        let Some(call) = self.pending.get(request) else { return };
        if self.state == State::Legacy && matches!(call.purpose, Purpose::Application) {
            self.session.prove();
        }
        match call.purpose.clone() {
            _ if self.is_contradicted_by(&outcome) => self.hold_again(request),
            Purpose::Application => match outcome {
                Outcome::Error(error) if self.wants_refresh(request, &error) => self.refresh(request, error),
                Outcome::Error(error) => {
                    if let Err(error) = self.begin_visits(request, error) {
                        self.drop_answered(request, FailureReason::Rpc(error));
                    }
                }
                Outcome::Result(result) if !result.starts_with('{') => {
                    self.discard(Violation::InvalidResult, text.as_bytes());
                    self.drop_answered(request, FailureReason::InvalidResult(Violation::InvalidResult));
                }
                Outcome::Result(result) if self.is_modern() => self.on_modern_result(text, request, result),
                Outcome::Result(result) => self.deliver_result(request, Json::trusted(result)),
            },
            Purpose::Refresh => self.on_refresh_answer(request, &outcome),
            purpose => {
                self.pending.take(request);
                self.on_subscription_answer(request, &purpose, matches!(outcome, Outcome::Result(_)));
            }
        }
    }

    /// Whether an answer speaks against the stored verdict that the request was sent by. It was not run then, and
    /// goes out again when the era is certain.
    fn is_contradicted_by(&self, outcome: &Outcome<'_>) -> bool {
        self.is_uncertain() && matches!(outcome, Outcome::Error(error) if is_refusal(error.code))
    }

    /// Whether nothing has confirmed yet that the server is modern, as a request that is in flight takes it to be.
    pub(super) fn is_uncertain(&self) -> bool {
        self.opening.is_unconfirmed() || !(self.is_ready() || self.session.is_replaced())
    }

    /// Ends a request with its result.
    pub(super) fn deliver_result(&mut self, request: RequestHandle, result: Json) {
        let Some(call) = self.pending.take(request) else { return };
        // What took rounds is an answer to those rounds, and must not be reused (server/utilities/caching).
        let cacheable = self.is_modern()
            && call.round == 0
            && call.method.known().is_some_and(|method| method.row().cacheable);
        let freshness = if cacheable { crate::cache::Freshness::read(&result) } else { None };
        self.last_long.keep(result.shared(), self.config.limits.queued_bytes);
        self.queues.tell(Event::ResponseReceived { request, result, freshness });
    }

    /// Keeps a request for when the era is certain.
    pub(super) fn hold_again(&mut self, request: RequestHandle) {
        if let Some((_, subscription)) = self.listening_in(request) {
            self.pending.take(request);
            self.held.push_back(Held::Subscription(subscription));
        } else {
            self.pending.renew(request);
            self.hold(request);
        }
        self.contradict();
    }

    /// Ends a request whose answer came and is of no use.
    pub(super) fn drop_answered(&mut self, request: RequestHandle, reason: FailureReason) {
        let Some(call) = self.pending.take(request) else { return };
        match call.purpose {
            Purpose::Application => self.queues.tell(Event::RequestFailed { request, reason }),
            Purpose::Refresh => self.end_refresh(false),
            purpose => self.on_subscription_answer(request, &purpose, false),
        }
    }

    pub(super) fn cancel_request(
        &mut self,
        request: RequestHandle,
        reason: Option<&str>,
    ) -> Result<(), Error> {
        self.check_open()?;
        let known = self.pending.get(request);
        if known.is_none_or(|call| !matches!(call.purpose, Purpose::Application)) {
            return Err(ApiMisuse::UnknownRequest.into());
        }
        self.give_up(request, FailureReason::Cancelled, reason);
        Ok(())
    }

    /// Ends a request of the application before its answer.
    fn give_up(&mut self, request: RequestHandle, reason: FailureReason, told: Option<&str>) {
        self.withdraw_round(request);
        self.retract(request, told);
        self.queues.tell(Event::RequestFailed { request, reason });
    }

    /// Removes a request; the server is told if it may be working on it.
    pub(super) fn retract(&mut self, request: RequestHandle, reason: Option<&str>) {
        let (Some(id), Some(call)) = (self.pending.id(request), self.pending.get(request)) else { return };
        if !matches!(call.stage, Stage::Sent) {
            self.pending.take(request);
            return;
        }
        self.pending.abandon(request);
        // A session that is being replaced is not told: its server does not know it.
        if self.config.http && self.state != State::Legacy {
            self.queues.transmit(Transmit::Abort { request });
        } else {
            self.send_cancelled(request, &id, reason);
        }
    }

    fn send_cancelled(&mut self, request: RequestHandle, id: &RequestId, reason: Option<&str>) {
        let mut params = String::from("{\"requestId\":");
        id.write_to(&mut params);
        if let Some(reason) = reason {
            write::string_member(&mut params, "reason", reason);
        }
        params.push('}');
        let method = Method::Cancelled.name();
        let text = write::notification(method, Some(&params));
        self.send(text, Route::Within(request), About::Call { method, params: Some(&params) });
    }

    pub(super) fn expire_calls(&mut self) {
        while let Some(expired) = self.pending.expire(self.now) {
            let request = expired.request;
            let Some(call) = self.pending.get(request) else { continue };
            match (&call.stage, &call.purpose) {
                (Stage::BackingOff(_), _) if !expired.at_end => self.retry(request),
                (Stage::Visiting(_), _) if !expired.at_end => self.send_again(request),
                (Stage::Sent, Purpose::Application) if !expired.at_end && self.questions.hold_up() => {
                    // The server waits for this side; the wait starts anew when it has its answer.
                    self.pending.pause(request);
                }
                (_, Purpose::Application) => {
                    self.give_up(request, FailureReason::TimedOut, Some("timed out"));
                    if self.opening.is_unconfirmed() && !self.config.http {
                        // Silence is how some legacy servers take modern requests on a byte stream.
                        self.contradict();
                    }
                }
                (_, Purpose::Refresh) => {
                    self.retract(request, Some("timed out"));
                    self.end_refresh(false);
                }
                (_, purpose) => {
                    let purpose = purpose.clone();
                    self.retract(request, Some("timed out"));
                    self.on_subscription_answer(request, &purpose, false);
                }
            }
        }
    }

    pub(super) fn fail_all_calls(&mut self) {
        for (request, call) in self.pending.drain() {
            if matches!(call.purpose, Purpose::Application) {
                self.queues.tell(Event::RequestFailed { request, reason: FailureReason::ConnectionLost });
            }
        }
    }

    /// The request that a log message belongs to: that of its exchange, or the only one that can have caused it.
    pub(super) fn logging_request(&self, within: Option<RequestHandle>) -> Option<RequestHandle> {
        if self.revision?.era() == Era::Legacy {
            return None;
        }
        if within.is_some() {
            let request = self.exchange_request(within)?;
            let call = self.pending.get(request)?;
            return matches!(call.purpose, Purpose::Application).then_some(request);
        }
        let mut asking = self
            .pending
            .iter()
            .filter(|(_, call)| matches!(call.stage, Stage::Sent) && self.wanted_log_level(call).is_some());
        let only = asking.next()?.0;
        asking.next().is_none().then_some(only)
    }
}

/// The id of a request's first attempt.
pub(super) fn wire_id(request: RequestHandle) -> RequestId {
    RequestId::from(i64::try_from(request.number()).unwrap_or(i64::MAX))
}

/// Whether this side sends `method` as a message of this kind, and the application may.
fn check_sender(method: Option<Method>, kind: Kind) -> Result<(), Error> {
    let Some(method) = method else { return Ok(()) };
    let row = method.row();
    if row.kind != kind || row.direction == Direction::ServerToClient || OF_THE_CORE.contains(&method) {
        return Err(ApiMisuse::MethodNotAllowed.into());
    }
    Ok(())
}

/// Whether an error says that a request was not even looked at, as legacy servers and those that no longer serve the
/// revision say to modern requests.
const fn is_refusal(code: i64) -> bool {
    matches!(
        code,
        RpcError::PARSE_ERROR
            | RpcError::INVALID_REQUEST
            | RpcError::METHOD_NOT_FOUND
            | RpcError::INVALID_PARAMS
            | RpcError::UNSUPPORTED_PROTOCOL_VERSION
    )
}

pub(super) fn level_params(level: LogLevel) -> String {
    format!("{{\"level\":\"{}\"}}", level.as_str())
}
