//! The era of handshake and session, up to 2025-11-25.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::error::{ApiMisuse, Error, Limit};
use crate::json::Json;
use crate::jsonrpc::{Outcome, RequestId, Violation, write};
use crate::logging::LogLevel;
use crate::machine::{Disposition, Labels, RequestHandle, Route, SessionHandle};
use crate::pending::Clock;
use crate::revision::{
    Capabilities, Capability, Direction, Era, InputMismatch, Kind, Method, Revision, project_input_params,
};
use crate::rounds::InputKind;

use super::answers::Addressee;
use super::intake::{Arrival, Unit};
use super::modern::Caller;
use super::rounds::ELICITATION_ID_BYTES;
use super::sessions::Session;
use super::source::{Channel, Source, to_session};
use super::text::{MessageText, object, string};
use super::{ClientFailure, Event, Server, ladder, refusal, rounds};

/// A request to a legacy client.
#[derive(Debug)]
pub(super) struct Outbound {
    /// The session that it is sent in. Nobody else can answer it.
    pub(super) session: SessionHandle,
    pub(super) purpose: Purpose,
}

/// What a request to a legacy client is for.
#[derive(Debug)]
pub(super) enum Purpose {
    /// The application wants to know.
    Own,
    /// A question for a request of the client.
    Question {
        request: RequestHandle,
        /// Its place in the round.
        place: usize,
        kind: InputKind,
        key: Box<str>,
    },
}

impl Server {
    pub(super) fn initialize(&mut self, arrival: &Arrival<'_>) {
        let to = arrival.addressee();
        let params = &arrival.params;
        let Some(requested) = string(params.protocol_version) else {
            return self.refuse(&to, &refusal::invalid_params("protocolVersion is missing or not a string"));
        };
        let Some(newest) = self.config.revisions.of_era(Era::Legacy).next() else {
            return self.refuse(&to, &refusal::unsupported_version(&requested, self.config.revisions));
        };
        let channel = arrival.source.channel;
        if channel != Channel::Stream && self.sessions.len() >= self.config.limits.sessions {
            return self.refuse(&to, &refusal::overloaded("sessions"));
        }
        // The same if it is served, else a counter-offer (basic/lifecycle, Version Negotiation).
        let revision = Revision::from_name(&requested)
            .filter(|revision| revision.era() == Era::Legacy && self.config.revisions.contains(*revision))
            .unwrap_or(newest);
        let capabilities =
            object(params.capabilities).map(|text| self.client_cache.capabilities(text)).unwrap_or_default();
        let client = object(params.client_info).map(|text| self.client_cache.client(text));
        let handle = SessionHandle::from_number(arrival.handle.number());
        let result = self.initialize_result(revision);
        let session = Session {
            handle,
            revision,
            client,
            capabilities,
            declared: self.offered.clone(),
            is_open: false,
            // A client that never sets a level gets what most expect.
            log_level: LogLevel::Info,
            held: Vec::new(),
            watched: BTreeMap::new(),
        };
        self.sessions.insert(session, channel);
        let source = Source { channel, session: Some(handle) };
        let labels = Labels { revision: Some(revision), ..source.labels(Disposition::Answers) };
        // Results of the server's own are objects.
        if let Ok(text) =
            self.write_answer(&arrival.id, Some(Method::Initialize), revision, result.into(), None)
        {
            self.queues.send(text, Route::Answers(arrival.handle), labels);
        }
    }

    fn initialize_result(&self, revision: Revision) -> String {
        let mut result = String::from("{\"protocolVersion\":");
        write::string(&mut result, revision.as_str());
        result.push_str(",\"capabilities\":");
        result.push_str(&self.declaration(revision));
        result.push_str(",\"serverInfo\":");
        result.push_str(&self.config.implementation.to_json(revision));
        if let Some(instructions) = &self.config.instructions {
            write::string_member(&mut result, "instructions", instructions);
        }
        result.push('}');
        result
    }

    /// The client has finished the handshake: what was held goes out.
    pub(super) fn open_session(&mut self, handle: SessionHandle) {
        let Some(session) = self.sessions.get_mut(handle).filter(|session| !session.is_open) else { return };
        session.is_open = true;
        let event = Event::SessionOpened {
            session: session.handle,
            revision: session.revision,
            client: session.client.clone(),
            capabilities: Capabilities::clone(&session.capabilities),
        };
        let held = core::mem::take(&mut session.held);
        self.queues.tell(event);
        for (request, text) in held {
            let labels = self.labels_to_client(request);
            self.queues.send(text, Route::Opens(request), labels);
        }
    }

    pub(super) fn answer_ping(&mut self, to: &Addressee<'_>) {
        let text = write::response(to.id, 2, |out| out.push_str("{}"));
        self.deliver(to, text, Disposition::Answers);
    }

    pub(super) fn legacy_request(
        &mut self,
        handle: SessionHandle,
        arrival: &Arrival<'_>,
        message: &mut MessageText<'_>,
    ) {
        let Some(session) = self.sessions.get(handle) else { return };
        let revision = session.revision;
        let target = match ladder::find_method(&arrival.method, revision, self.offer()) {
            Ok(target) => target,
            Err(error) => return self.decline(&arrival.addressee(), &error),
        };
        let caller = Caller {
            revision,
            session: Some(session.handle),
            capabilities: Arc::clone(&session.capabilities),
            client: session.client.clone(),
            log_level: self.config.logging.then_some(session.log_level),
        };
        self.dispatch(arrival, target, caller, message);
    }

    /// Answers `logging/setLevel` (server/utilities/logging).
    pub(super) fn set_level(&mut self, arrival: &Arrival<'_>, revision: Revision) {
        let to = arrival.addressee();
        let level = string(arrival.params.level).and_then(|name| LogLevel::from_name(&name));
        let session = arrival.source.session.and_then(|session| self.sessions.get_mut(session));
        match (level, session) {
            (Some(level), Some(session)) => {
                session.log_level = level;
                self.answer_now(&to, Method::LoggingSetLevel, revision, "{}");
            }
            _ => self.decline(&to, &refusal::invalid_params("unknown log level")),
        }
    }

    pub(super) fn request_client(
        &mut self,
        handle: SessionHandle,
        name: &str,
        params: Option<&str>,
    ) -> Result<RequestHandle, Error> {
        self.check_open()?;
        let session = self.sessions.get(handle).filter(|_| self.takes_input());
        let session = session.ok_or(ApiMisuse::UnknownSession)?;
        let revision = session.revision;
        let params = params.map(rounds::object_of).transpose()?;
        let method = Method::from_name(name);
        if let Some(method) = method {
            let row = method.row();
            let is_ours = row.kind == Kind::Request && row.direction != Direction::ClientToServer;
            if !is_ours || !method.exists_in(revision) {
                return Err(ApiMisuse::NotAllowedInRevision(revision).into());
            }
        }
        let kind = method.and_then(InputKind::from_method);
        let params = match kind {
            None => params.map(|params| String::from(params.as_str())),
            Some(kind) => {
                let (capabilities, id) =
                    (Arc::clone(&session.capabilities), self.nonces.token(ELICITATION_ID_BYTES));
                let params = params.unwrap_or_else(|| rounds::copy("{}"));
                let projected = project_input_params(kind.method(), revision, &capabilities, &params, &id);
                Some(projected.map_err(|reason| not_askable(reason, &capabilities))?)
            }
        };
        let outbound = Outbound { session: handle, purpose: Purpose::Own };
        self.send_request(name, kind, params.as_deref(), outbound)
    }

    /// Sends a request to a legacy client, or holds it until the session is open.
    pub(super) fn send_request(
        &mut self,
        name: &str,
        kind: Option<InputKind>,
        params: Option<&str>,
        outbound: Outbound,
    ) -> Result<RequestHandle, Error> {
        let limits = &self.config.limits;
        let session = self.sessions.get_mut(outbound.session).ok_or(ApiMisuse::UnknownSession)?;
        if self.outbound.len() >= limits.requests_in_flight {
            return Err(Limit::RequestsInFlight.into());
        }
        if !session.is_open && session.held.len() >= limits.queued_requests {
            return Err(Limit::QueuedRequests.into());
        }
        let request = self.outbound.draw();
        // People and models take their time: only the whole of it bounds a question.
        let timeouts = &self.config.timeouts;
        let idle = if kind.is_some() { timeouts.request_total } else { timeouts.request };
        let clock = Clock { idle, end: self.now.after(timeouts.request_total) };
        let holds = !session.is_open && name != Method::Ping.name();
        self.outbound.insert(request, clock, outbound);
        let Some(id) = self.outbound.id(request) else { return Err(ApiMisuse::UnknownRequest.into()) };
        let text = write::request(&id, name, params);
        if holds {
            session.held.push((request, text));
        } else {
            let labels = self.labels_to_client(request);
            self.queues.send(text, Route::Opens(request), labels);
        }
        self.outbound.start(self.now, request, false);
        Ok(request)
    }

    /// The envelope of a request to a legacy client, and of what is said about it: a question goes within the
    /// exchange of the request that asks, anything else to the stream of the session.
    fn labels_to_client(&self, request: RequestHandle) -> Labels {
        let Some(outbound) = self.outbound.get(request) else { return Labels::default() };
        let asker = match &outbound.purpose {
            Purpose::Own => None,
            Purpose::Question { request, .. } => self.in_flight.get(*request),
        };
        match asker {
            Some(asker) => asker.source.labels(Disposition::Continues),
            None => to_session(outbound.session),
        }
    }

    /// The request to a client with this id, if it was sent in this session.
    fn find_outbound(&self, id: &RequestId, session: Option<SessionHandle>) -> Option<RequestHandle> {
        let request = self.outbound.find(id)?;
        let outbound = self.outbound.get(request)?;
        (Some(outbound.session) == session).then_some(request)
    }

    pub(super) fn receive_response(
        &mut self,
        id: &RequestId,
        outcome: Outcome<'_>,
        session: Option<SessionHandle>,
        unit: &mut Unit<'_, '_>,
    ) {
        let found = self.find_outbound(id, session);
        let Some((request, outbound)) =
            found.and_then(|request| Some((request, self.outbound.take(request)?)))
        else {
            // The answer to a question that was withdrawn is no fault.
            if !self.outbound.was_abandoned(id) {
                self.discard(Violation::UnknownResponse, unit.text.as_bytes());
            }
            return;
        };
        let outcome = match outcome {
            Outcome::Error(error) => Err(ClientFailure::Rpc(error)),
            Outcome::Result(result) if result.starts_with('{') => Ok(unit.message.keep(result)),
            Outcome::Result(_) => Err(ClientFailure::InvalidResult(Violation::InvalidResult)),
        };
        self.settle_outbound(request, outbound, outcome);
    }

    /// Ends a request to the client that was answered by something malformed; false if there is none with that
    /// id in that session.
    pub(super) fn fail_outbound(
        &mut self,
        id: &RequestId,
        session: Option<SessionHandle>,
        violation: Violation,
    ) -> bool {
        let Some(request) = self.find_outbound(id, session) else { return false };
        let Some(outbound) = self.outbound.take(request) else { return false };
        self.settle_outbound(request, outbound, Err(ClientFailure::InvalidResult(violation)));
        true
    }

    pub(super) fn settle_outbound(
        &mut self,
        request: RequestHandle,
        outbound: Outbound,
        outcome: Result<Json, ClientFailure>,
    ) {
        let session = outbound.session;
        match outbound.purpose {
            Purpose::Own => {
                self.queues.tell(Event::ResponseReceived { session, request, outcome });
            }
            Purpose::Question { request: asker, place, kind, key } => {
                self.question_answered(asker, place, request, rounds::answer_of(key, kind, outcome));
            }
        }
    }

    /// Gives up a request to the client: it is told, and a late answer is dropped in silence.
    pub(super) fn abandon_outbound(&mut self, request: RequestHandle, reason: &str) -> Option<Outbound> {
        let id = self.outbound.id(request)?;
        let session = self.outbound.get(request)?.session;
        if let Some(session) = self.sessions.get_mut(session)
            && let Some(at) = session.held.iter().position(|(held, _)| *held == request)
        {
            // It was never sent.
            session.held.remove(at);
            return self.outbound.take(request);
        }
        let labels = self.labels_to_client(request);
        let outbound = self.outbound.abandon(request)?;
        if self.takes_input() {
            let mut params = String::from("{\"requestId\":");
            id.write_to(&mut params);
            write::string_member(&mut params, "reason", reason);
            params.push('}');
            let text = write::notification(Method::Cancelled.name(), Some(&params));
            self.queues.send(text, Route::Within(request), labels);
        }
        Some(outbound)
    }

    /// Ends requests to the client that got no answer in time.
    pub(super) fn expire_outbound(&mut self) {
        while let Some(expired) = self.outbound.expire(self.now) {
            if let Some(outbound) = self.abandon_outbound(expired.request, "no answer in time") {
                self.settle_outbound(expired.request, outbound, Err(ClientFailure::TimedOut));
            }
        }
    }
}

/// Why a request of the application's own cannot be made.
fn not_askable(reason: InputMismatch, declared: &Capabilities) -> Error {
    let InputMismatch::MissingCapability(required) = &reason else { return rounds::mismatch(reason) };
    let required = Capabilities::read(required);
    let mut lacking = Capability::ALL.into_iter().filter(|&one| required.has(one) && !declared.has(one));
    match lacking.next() {
        Some(capability) => ApiMisuse::CapabilityNotDeclared(capability).into(),
        None => rounds::mismatch(reason),
    }
}
