//! Messages as requests: their headers, what has to wait, what is given up, and the end.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::string::String;
use alloc::vec::Vec;

use crate::limits::Limits;
use crate::machine::{ExchangeHandle, Input, Labels, Machine, Mirrored, RequestHandle, Route, Transmit};
use crate::mirror;
use crate::revision::{Era, Method, Revision};
use crate::transport::http::status::Asked;
use crate::transport::http::{headers, media};

use super::exchange::{Exchange, Purpose, Stage};
use super::http_sse::Channel;
use super::stream::Opening;
use super::{End, HttpClient, HttpRequest, HttpTransmit, Session};

type HeaderList = Vec<(Cow<'static, str>, Cow<'static, str>)>;

/// Milliseconds in which a message that is not answered in its exchange must have been taken.
const NOTICE: u64 = 60_000;

/// Milliseconds for which a response that has brought what it could may take to end.
pub(super) const LINGER: u64 = 5_000;

/// Milliseconds for which the end waits for what is still under way, and then for the end of the session.
const CLOSING: u64 = 2_000;

/// A message as the machine gave it.
#[derive(Debug)]
pub(super) struct Posting {
    text: String,
    route: Route,
    labels: Labels,
}

/// Messages that have to wait, in order.
#[derive(Debug, Default)]
pub(super) struct Held {
    postings: VecDeque<Posting>,
    bytes: usize,
}

impl Held {
    fn push(&mut self, posting: Posting) {
        self.bytes += posting.text.len();
        self.postings.push_back(posting);
    }

    fn pop(&mut self) -> Option<Posting> {
        let posting = self.postings.pop_front()?;
        self.bytes -= posting.text.len();
        Some(posting)
    }

    /// Drops the message that opens a request; true if it was here.
    fn withdraw(&mut self, request: RequestHandle) -> bool {
        let at = self.postings.iter().position(|posting| posting.route == Route::Opens(request));
        let posting = at.and_then(|at| self.postings.remove(at));
        self.bytes -= posting.as_ref().map_or(0, |posting| posting.text.len());
        posting.is_some()
    }

    /// Whether there is so little of it that the peer may go on giving reason for more.
    pub(super) fn has_room(&self, limits: &Limits) -> bool {
        self.bytes < limits.queued_bytes && self.postings.len() < limits.queued_events
    }
}

impl<M: Machine> HttpClient<M> {
    pub(super) fn next_transmit(&mut self) -> Option<HttpTransmit> {
        loop {
            if let Some(transmit) = self.transmits.pop_front() {
                return Some(transmit);
            }
            if !self.must_hold()
                && let Some(posting) = self.held.pop()
            {
                return Some(self.post(posting));
            }
            match self.machine.poll_transmit() {
                // After the end nobody waits for it.
                Some(Transmit::Message { .. }) if self.end != End::Open => {}
                Some(Transmit::Message { text, route, labels }) => {
                    let posting = Posting { text, route, labels };
                    if !self.must_hold() {
                        return Some(self.post(posting));
                    }
                    self.held.push(posting);
                }
                Some(Transmit::Abort { request }) => self.give_up(request),
                Some(Transmit::Close) => self.close(),
                // Only servers accept messages and end sessions of others.
                Some(Transmit::Accept { .. } | Transmit::EndSession { .. }) => {}
                None => return self.finish(),
            }
        }
    }

    /// Whether messages wait: for the opening of a session, or as the server takes none.
    fn must_hold(&self) -> bool {
        self.opening.holds() || self.table.notices() >= self.machine.limits().requests_in_flight
    }

    fn post(&mut self, posting: Posting) -> HttpTransmit {
        let Posting { text, route, labels } = posting;
        let mirrored = labels.mirrored.map(|mirrored| *mirrored);
        let is_handshake = mirrored.as_ref().is_some_and(|mirrored| mirrored.is_handshake);
        if is_handshake {
            self.begin_session();
        }
        let named = mirrored.as_ref().and_then(|mirrored| mirrored.protocol_version);
        self.revision = named.filter(|named| named.era() == Era::Legacy).or(self.revision);
        // An answer to the server may say nothing of itself; it belongs to the session.
        let repeats = mirrored.is_some();
        let revision = if repeats { named } else { self.revision };
        let asked = self.asked(route, revision, mirrored.as_ref());
        let exchange = self.table.insert(Exchange::new(self.purpose(route), asked, self.session.number));
        let awaits_answer = matches!(route, Route::Opens(_)) && self.endpoint().is_none();
        if !awaits_answer {
            self.table.arm(exchange, Some(self.now.after(NOTICE)));
        }
        if matches!(route, Route::Opens(_)) {
            self.opening = Opening::Idle;
        } else if self.opening == Opening::Answered && repeats {
            self.confirm(exchange);
        }
        let request = HttpRequest {
            exchange,
            method: "POST",
            url: self.endpoint().unwrap_or(&self.config.url).into(),
            headers: self.message_headers(revision, mirrored),
            body: text,
            is_stream: awaits_answer,
        };
        self.keep_copy(&request);
        HttpTransmit::Request(request)
    }

    fn purpose(&self, route: Route) -> Purpose {
        match route {
            Route::Opens(request) => {
                Purpose::Request { request, attempt: self.machine.awaited_attempt(request) }
            }
            Route::Within(request) => Purpose::Notice { withdraws: Some(request) },
            Route::Answers(_) | Route::Alone => Purpose::Notice { withdraws: None },
        }
    }

    fn asked(&self, route: Route, revision: Option<Revision>, mirrored: Option<&Mirrored>) -> Asked {
        let is_modern = revision.is_some_and(|revision| revision.era() == Era::Modern);
        let session = self.session.id.is_some();
        let is_request = matches!(route, Route::Opens(_));
        let is_handshake = mirrored.is_some_and(|mirrored| mirrored.is_handshake);
        let method = mirrored.and_then(|mirrored| mirrored.method.as_deref());
        match (is_request, is_modern) {
            (true, true) if method == Some(Method::Discover.name()) => Asked::ModernOpening,
            (true, true) => Asked::ModernRequest,
            (false, true) => Asked::ModernNotice,
            (true, false) if is_handshake && self.endpoint().is_none() => Asked::LegacyOpening,
            (true, false) => Asked::LegacyRequest { session },
            (false, false) => Asked::LegacyNotice { session },
        }
    }

    fn message_headers(&self, revision: Option<Revision>, mirrored: Option<Mirrored>) -> HeaderList {
        let mut list: HeaderList = Vec::with_capacity(6);
        list.push((headers::CONTENT_TYPE.into(), media::JSON.into()));
        list.push((headers::ACCEPT.into(), media::BOTH.into()));
        if mirrored.as_ref().is_some_and(|mirrored| mirrored.is_handshake) {
            return list;
        }
        self.add_standing_headers(&mut list, revision);
        let Some(mirrored) = mirrored else { return list };
        let method = mirrored.method.map(|method| (headers::METHOD.into(), method));
        let name = mirrored.name.map(|name| (headers::NAME.into(), name));
        let params = mirrored.params.into_iter().map(|(name, value)| (headers::param(&name).into(), value));
        list.extend(method.into_iter().chain(name).chain(params).map(|(name, value)| (name, encode(value))));
        list
    }

    /// Adds the headers that name the revision and, before 2026-07-28, the session.
    fn add_standing_headers(&self, list: &mut HeaderList, revision: Option<Revision>) {
        if let Some(revision) = revision {
            list.push((headers::PROTOCOL_VERSION.into(), revision.as_str().into()));
        }
        let is_modern = revision.is_some_and(|revision| revision.era() == Era::Modern);
        if let Some(id) = self.session.id.as_deref().filter(|_| !is_modern) {
            list.push((headers::SESSION_ID.into(), String::from(id).into()));
        }
    }

    /// Asks for a stream by GET, from where it was left.
    pub(super) fn get(&mut self, exchange: ExchangeHandle) {
        let Some(Exchange { purpose, thread, .. }) = self.table.get(exchange) else { return };
        let mut list: HeaderList = Vec::with_capacity(4);
        list.push((headers::ACCEPT.into(), media::EVENT_STREAM.into()));
        if *purpose != Purpose::Channel {
            self.add_standing_headers(&mut list, self.revision);
        }
        if let Some(id) = thread.last_event_id.as_deref() {
            list.push((headers::LAST_EVENT_ID.into(), String::from(id).into()));
        }
        self.push_bodiless(exchange, "GET", list, true);
    }

    fn push_bodiless(
        &mut self,
        exchange: ExchangeHandle,
        method: &'static str,
        headers: HeaderList,
        is_stream: bool,
    ) {
        let url = self.config.url.clone();
        let request = HttpRequest { exchange, method, url, headers, body: String::new(), is_stream };
        self.keep_copy(&request);
        self.transmits.push_back(HttpTransmit::Request(request));
    }

    /// Keeps a copy of a request that may have to be sent again: elsewhere, with credentials, or over HTTP+SSE.
    pub(super) fn keep_copy(&mut self, request: &HttpRequest) {
        let Some(exchange) = self.table.get_mut(request.exchange) else { return };
        let may_detour = exchange.asked == Asked::LegacyOpening && self.config.falls_back_to_sse;
        if may_detour || self.config.authorizes || !self.search.is_over {
            exchange.copy = Some(Box::new(request.clone()));
        }
    }

    /// Sends again what waits for authorization.
    pub(super) fn send_again(&mut self, old: ExchangeHandle) {
        let Some(exchange) = self.table.get(old) else { return };
        let Stage::Challenged { status, .. } = exchange.stage else { return };
        let purpose = exchange.purpose;
        if let Purpose::Request { request, .. } = purpose
            && matches!(status, 401 | 403)
        {
            // A machine that is over says so elsewhere.
            let _ = self.machine.handle_input(self.now, Input::Released { request });
        }
        if !self.is_awaited(purpose) {
            return self.retire(old);
        }
        let Some(exchange) = self.table.renew(old, self.now.after(LINGER)) else { return };
        self.rename_awaited(old, exchange);
        self.rename_channel(old, exchange);
        let Some(renamed) = self.table.get_mut(exchange) else { return };
        renamed.stage = Stage::Sent;
        let Some(mut request) = renamed.copy.as_deref().cloned() else { return };
        request.exchange = exchange;
        if let Some(copy) = &mut renamed.copy {
            copy.exchange = exchange;
        }
        if matches!(renamed.purpose, Purpose::Notice { .. }) {
            self.table.arm(exchange, Some(self.now.after(NOTICE)));
        }
        self.transmits.push_back(HttpTransmit::Request(request));
    }

    /// A handshake goes out: whatever session there was is over.
    fn begin_session(&mut self) {
        self.session = Session { number: self.session.number + 1, id: None };
        self.revision = None;
        self.opening = Opening::Idle;
        self.give_up_detour();
        for exchange in self.table.handles() {
            if self.table.get(exchange).is_some_and(|exchange| exchange.purpose == Purpose::Standalone) {
                self.abandon(exchange);
            }
        }
    }

    /// Whether what an exchange carries is still of use.
    pub(super) fn is_awaited(&self, purpose: Purpose) -> bool {
        match purpose {
            Purpose::Request { request, attempt } => {
                attempt.is_some() && self.machine.awaited_attempt(request) == attempt
            }
            _ => true,
        }
    }

    /// Gives up the exchange of a request.
    fn give_up(&mut self, request: RequestHandle) {
        // On HTTP+SSE the exchange is over as soon as the message is taken.
        if !self.held.withdraw(request)
            && self.endpoint().is_none()
            && let Some(exchange) = self.table.of_request(request)
        {
            self.abandon(exchange);
        }
    }

    /// Gives up an exchange that is under way.
    pub(super) fn abandon(&mut self, exchange: ExchangeHandle) {
        let Some(abandoned) = self.forget(exchange) else { return };
        let waiting = self.transmits.len();
        self.transmits.retain(
            |transmit| !matches!(transmit, HttpTransmit::Request(request) if request.exchange == exchange),
        );
        if abandoned.is_under_way() && self.transmits.len() == waiting {
            self.transmits.push_back(HttpTransmit::Abort { exchange });
        }
    }

    /// Has no more use for an exchange, whose response may go on for a little.
    pub(super) fn retire(&mut self, exchange: ExchangeHandle) {
        self.table.retire(exchange, self.now.after(LINGER));
        self.pass(exchange);
    }

    /// Drops an exchange that has ended.
    pub(super) fn forget(&mut self, exchange: ExchangeHandle) -> Option<Exchange> {
        let forgotten = self.table.remove(exchange);
        self.pass(exchange);
        forgotten
    }

    /// The answer to a request has come: its response should end now.
    pub(super) fn await_end(&mut self, exchange: ExchangeHandle) {
        if self.table.get(exchange).is_some_and(|exchange| !exchange.is_armed()) {
            self.table.arm(exchange, Some(self.now.after(LINGER)));
        }
    }

    /// The machine is over. What was sent may still arrive; the session is ended.
    fn close(&mut self) {
        if self.end != End::Open {
            return;
        }
        self.end = End::Closing;
        self.opening = Opening::Idle;
        self.held = Held::default();
        self.channel = Channel::None;
        for handle in self.table.handles() {
            let Some(exchange) = self.table.get(handle) else { continue };
            match (exchange.purpose, &exchange.stage) {
                (Purpose::Spent, _) | (Purpose::Notice { .. }, Stage::Sent | Stage::Ignored) => {
                    self.table.arm(handle, Some(self.now.after(CLOSING)));
                }
                _ => self.abandon(handle),
            }
        }
    }

    /// Ends the session, unless something is on its way that belongs to it: a server may serve the two in any order.
    fn end_session(&mut self) {
        if self.end != End::Closing || self.session.id.is_none() || self.table.notices() > 0 {
            return;
        }
        let purpose = Purpose::EndOfSession;
        let exchange = self.table.insert(Exchange::new(purpose, Asked::EndOfSession, self.session.number));
        self.table.arm(exchange, Some(self.now.after(CLOSING)));
        let mut list = Vec::with_capacity(2);
        self.add_standing_headers(&mut list, self.revision);
        self.session.id = None;
        self.push_bodiless(exchange, "DELETE", list, false);
    }

    fn finish(&mut self) -> Option<HttpTransmit> {
        self.end_session();
        if self.end != End::Closing || !self.table.is_empty() {
            return self.transmits.pop_front();
        }
        self.end = End::Finished;
        Some(HttpTransmit::Close)
    }
}

fn encode(value: Box<str>) -> Cow<'static, str> {
    match mirror::encode(&value) {
        Cow::Owned(encoded) => Cow::Owned(encoded),
        Cow::Borrowed(_) => Cow::Owned(value.into()),
    }
}
