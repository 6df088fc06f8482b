//! The transport around a machine that notes what it is given and sends what it is told.

mod answers;
mod closing;
mod older;
mod posting;
mod redirects;
mod streams;

use alloc::borrow::ToOwned;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::*;
use crate::limits::Limits;
use crate::machine::{Failure, Input, Labels, Mirrored, RequestHandle, Route, Transmit};
use crate::transport::http::headers;

/// Notes what it is given. A text `{"id":N...` without a method answers request N.
#[derive(Debug, Default)]
pub(super) struct Mock {
    limits: Limits,
    seen: Vec<String>,
    transmits: VecDeque<Transmit>,
    awaited: BTreeMap<RequestHandle, u64>,
    /// Whose time was stopped (false) and went on (true).
    clock: Vec<(u64, bool)>,
}

impl Machine for Mock {
    type Event = ();

    fn handle_input(&mut self, _now: Instant, input: Input<'_>) -> Result<(), Error> {
        if let Input::Held { request } | Input::Released { request } = input {
            self.clock.push((request.number(), matches!(input, Input::Released { .. })));
            return Ok(());
        }
        self.seen.push(match input {
            Input::Message { text, facts } => {
                let id = text.strip_prefix("{\"id\":").and_then(|rest| rest.split(['}', ',']).next());
                let answered = id.filter(|_| !text.contains("method")).and_then(|id| id.parse().ok());
                let answered = match answered {
                    Some(number) => Some(RequestHandle::from_number(number)),
                    None => facts.within.filter(|_| text.contains("\"error\"")),
                };
                answered.map(|request| self.awaited.remove(&request));
                match facts.within {
                    Some(request) => format!("{} {text}", request.number()),
                    None => text.to_owned(),
                }
            }
            Input::Failed { request, failure } => {
                let text = match failure {
                    Failure::SessionLost { is_current } => format!("SessionLost({is_current})"),
                    Failure::Refused { status } | Failure::Unauthorized { status } => {
                        let name = if matches!(failure, Failure::Refused { .. }) {
                            "Refused"
                        } else {
                            "Unauthorized"
                        };
                        format!("{name}({status})")
                    }
                    Failure::Unavailable { status } => format!("Unavailable({})", status.unwrap_or(0)),
                    Failure::Truncated => "Truncated".into(),
                };
                match request {
                    Some(request) => {
                        self.awaited.remove(&request);
                        format!("{} {text}", request.number())
                    }
                    None => text,
                }
            }
            Input::Damaged { bytes, violation } => format!("{violation:?} {}", bytes.len()),
            other => {
                self.transmits.push_back(Transmit::Close);
                format!("{other:?}")
            }
        });
        Ok(())
    }

    fn handle_timeout(&mut self, _now: Instant) {}

    fn poll_transmit(&mut self) -> Option<Transmit> {
        self.transmits.pop_front()
    }

    fn poll_event(&mut self) -> Option<()> {
        None
    }

    fn poll_timeout(&self) -> Option<Instant> {
        None
    }

    fn wants_input(&self) -> bool {
        true
    }

    fn limits(&self) -> &Limits {
        &self.limits
    }

    fn awaited_attempt(&self, request: RequestHandle) -> Option<u64> {
        self.awaited.get(&request).copied()
    }
}

/// A transport, its time, and the exchanges as they were asked for.
pub(super) struct Wire {
    http: HttpClient<Mock>,
    now: u64,
}

pub(super) const URL: &str = "http://h.example/mcp";
const JSON: &[(&str, &str)] = &[("Content-Type", "application/json")];
const EVENTS: &[(&str, &str)] = &[("Content-Type", "Text/Event-Stream; charset=utf-8")];
const OPENED: &[(&str, &str)] = &[("content-type", "application/json"), ("Mcp-Session-Id", "s1")];

impl Wire {
    pub(super) fn new() -> Wire {
        Wire::with(|_| {})
    }

    pub(super) fn with(set: impl FnOnce(&mut HttpClientConfig)) -> Wire {
        let mut config = HttpClientConfig::new(URL);
        set(&mut config);
        Wire { http: HttpClient::new(Mock::default(), config).unwrap(), now: 0 }
    }

    /// A wire on which a session `s1` of `revision` is open; its stream is not offered.
    pub(super) fn in_session(revision: Revision) -> Wire {
        let mut wire = Wire::new();
        wire.open_session(revision);
        let stream = wire.request();
        assert_eq!(stream.method, "GET");
        wire.head(stream.exchange, 405, &[]);
        wire.end(stream.exchange);
        wire
    }

    /// Shakes hands, up to the stream, which is asked for next.
    pub(super) fn open_session(&mut self, revision: Revision) {
        self.machine().awaited.insert(RequestHandle::from_number(1_000), 1_000);
        self.send(Route::Opens(RequestHandle::from_number(1_000)), Some(handshake()));
        let initialize = self.request().exchange;
        self.answer(initialize, 200, OPENED, "{\"id\":1000,\"result\":{}}");
        self.send(Route::Alone, Some(of(revision)));
        let initialized = self.request().exchange;
        self.answer(initialized, 202, &[], "");
        self.machine().seen.clear();
    }

    pub(super) fn machine(&mut self) -> &mut Mock {
        self.http.machine_mut()
    }

    /// Lets the machine send `{}`.
    pub(super) fn send(&mut self, route: Route, mirrored: Option<Mirrored>) {
        let labels = Labels { mirrored: mirrored.map(Box::new), ..Labels::default() };
        self.machine().transmits.push_back(Transmit::Message { text: "{}".into(), route, labels });
    }

    /// Opens the request `number`, in its first attempt.
    pub(super) fn call(&mut self, number: u64, revision: Revision) -> HttpRequest {
        let request = RequestHandle::from_number(number);
        self.machine().awaited.insert(request, number);
        self.send(Route::Opens(request), Some(of(revision)));
        self.request()
    }

    pub(super) fn at(&self) -> Instant {
        Instant::from_millis(self.now)
    }

    pub(super) fn poll(&mut self) -> Option<HttpTransmit> {
        let now = self.at();
        self.http.poll_transmit(now)
    }

    pub(super) fn request(&mut self) -> HttpRequest {
        match self.poll() {
            Some(HttpTransmit::Request(request)) => request,
            other => panic!("no request but {other:?}"),
        }
    }

    pub(super) fn aborted(&mut self) -> ExchangeHandle {
        match self.poll() {
            Some(HttpTransmit::Abort { exchange }) => exchange,
            other => panic!("no abort but {other:?}"),
        }
    }

    #[track_caller]
    pub(super) fn assert_quiet(&mut self) {
        assert_eq!(self.poll(), None);
    }

    pub(super) fn head(&mut self, exchange: ExchangeHandle, status: u16, headers: &[(&str, &str)]) {
        let now = self.at();
        self.http.receive_head(now, exchange, status, headers).unwrap();
    }

    pub(super) fn body(&mut self, exchange: ExchangeHandle, data: &[u8]) {
        let now = self.at();
        self.http.receive_body(now, exchange, data).unwrap();
    }

    pub(super) fn end(&mut self, exchange: ExchangeHandle) {
        let now = self.at();
        self.http.receive_end(now, exchange).unwrap();
    }

    pub(super) fn fail(&mut self, exchange: ExchangeHandle, failure: ExchangeFailure) {
        let now = self.at();
        self.http.receive_failure(now, exchange, failure).unwrap();
    }

    pub(super) fn answer(
        &mut self,
        exchange: ExchangeHandle,
        status: u16,
        headers: &[(&str, &str)],
        body: &str,
    ) {
        self.head(exchange, status, headers);
        self.body(exchange, body.as_bytes());
        self.end(exchange);
    }

    /// Lets time pass; true if something was due at its end and nothing before.
    pub(super) fn wait(&mut self, milliseconds: u64) -> bool {
        let due = self.http.poll_timeout();
        self.now += milliseconds;
        let now = self.at();
        self.http.handle_timeout(now).unwrap();
        due == Some(now)
    }

    /// What the machine was told since the last call.
    pub(super) fn seen(&mut self) -> Vec<String> {
        core::mem::take(&mut self.machine().seen)
    }
}

pub(super) fn handshake() -> Mirrored {
    Mirrored { is_handshake: true, ..Mirrored::default() }
}

pub(super) fn of(revision: Revision) -> Mirrored {
    Mirrored { protocol_version: Some(revision), ..Mirrored::default() }
}

pub(super) fn header<'a>(request: &'a HttpRequest, name: &str) -> Option<&'a str> {
    request.headers.iter().find(|(known, _)| known == name).map(|(_, value)| &**value)
}

const LEGACY: Revision = Revision::V2025_11_25;
const MODERN: Revision = Revision::V2026_07_28;
