//! The transport around a machine that says what the test tells it to say.

mod cross_origin;
mod denials;
mod exchanges;
mod external;
mod http_sse;
mod limits;
mod refusals;
mod sessions;
mod streams;

use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::*;
use crate::error::{CloseReason, Error};
use crate::limits::Limits;
use crate::machine::{Disposition, HeaderValue, Labels, Mirror, RequestHandle, Route, Transmit};
use crate::revision::Revision;
use crate::seed::Seed;

/// What the machine was given.
#[derive(Debug, PartialEq)]
pub(super) enum Taken {
    Message { text: String, exchange: ExchangeHandle, session: NamedSession },
    Gone(ExchangeHandle),
    SessionEnded(SessionHandle),
}

/// A machine that notes what it is given and sends what the test gave it to send.
#[derive(Debug)]
pub(super) struct Mock {
    limits: Limits,
    taken: Vec<Taken>,
    facts: Vec<String>,
    transmits: VecDeque<Transmit>,
    is_over: bool,
}

impl Machine for Mock {
    type Event = ();

    fn handle_input(&mut self, _now: Instant, input: Input<'_>) -> Result<(), Error> {
        match input {
            Input::Message { text, facts } => {
                let exchange = facts.exchange.expect("an exchange");
                let (handle, session) = (exchange.handle, exchange.session);
                self.facts.push(format!(
                    "{:?} stream={} mirror={:?}",
                    facts.principal, exchange.takes_stream, exchange.mirror
                ));
                self.taken.push(Taken::Message { text: text.into(), exchange: handle, session });
            }
            Input::Gone { exchange } => self.taken.push(Taken::Gone(exchange)),
            Input::SessionEnded { session } => self.taken.push(Taken::SessionEnded(session)),
            other => panic!("{other:?}"),
        }
        if self.is_over { Err(Error::Closed(CloseReason::ByUs)) } else { Ok(()) }
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
}

pub(super) type Http = HttpServer<Mock>;

/// Headers beside the common ones.
type More = &'static [(&'static str, &'static str)];

pub(super) const START: Instant = Instant::from_millis(1_000);

/// What most requests come with.
pub(super) const COMMON: [(&str, &str); 3] = [
    ("Host", "localhost:3000"),
    ("Accept", "application/json, text/event-stream"),
    ("Content-Type", "application/json"),
];

pub(super) fn config() -> HttpServerConfig {
    HttpServerConfig::new(Seed::new([3; 32]))
}

pub(super) fn http() -> Http {
    http_with(config(), Limits::default())
}

pub(super) fn http_with(config: HttpServerConfig, limits: Limits) -> Http {
    let mock =
        Mock { limits, taken: Vec::new(), facts: Vec::new(), transmits: VecDeque::new(), is_over: false };
    HttpServer::new(mock, config)
}

/// The common headers and more; a name that is common as well is replaced.
pub(super) fn with<'a>(more: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    let is_replaced = |name: &str| more.iter().any(|(other, _)| other.eq_ignore_ascii_case(name));
    let common = COMMON.into_iter().filter(|(name, _)| !is_replaced(name));
    common.chain(more.iter().copied()).collect()
}

pub(super) fn head<'a>(method: &'a str, headers: &'a [(&'a str, &'a str)]) -> RequestHead<'a> {
    RequestHead { method, endpoint: Endpoint::Streamable, headers, principal: None }
}

pub(super) fn request(http: &mut Http, method: &str, more: &[(&str, &str)], body: &str) -> ExchangeHandle {
    http.receive_whole(START, head(method, &with(more)), body.as_bytes())
}

pub(super) fn post(http: &mut Http, more: &[(&str, &str)], body: &str) -> ExchangeHandle {
    request(http, "POST", more, body)
}

pub(super) fn get(http: &mut Http, more: &[(&str, &str)]) -> ExchangeHandle {
    request(http, "GET", more, "")
}

/// Lets the machine say something.
pub(super) fn say(http: &mut Http, text: &str, labels: Labels) {
    let route = Route::Within(RequestHandle::from_number(1));
    http.machine.transmits.push_back(Transmit::Message { text: text.into(), route, labels });
}

pub(super) fn session(number: u64) -> SessionHandle {
    SessionHandle::from_number(number)
}

pub(super) fn within(exchange: ExchangeHandle, disposition: Disposition) -> Labels {
    Labels { exchange: Some(exchange), disposition, ..Labels::default() }
}

pub(super) fn alone(number: u64) -> Labels {
    Labels { session: Some(session(number)), ..Labels::default() }
}

/// Everything that an exchange has to send now.
pub(super) fn response(http: &mut Http, exchange: ExchangeHandle) -> Response {
    let mut response = Response::default();
    while let Some(part) = http.poll_response(exchange) {
        assert!(!response.is_last, "nothing follows the last part");
        if let Some(head) = part.head {
            assert_eq!(response.status, 0, "one head");
            response.status = head.status;
            response.headers =
                head.headers.into_iter().map(|(name, value)| (name, value.into_owned())).collect();
        }
        response.body.push_str(core::str::from_utf8(&part.data).expect("text"));
        response.is_last |= part.is_last;
        response.is_aborted |= part.is_aborted;
    }
    response
}

#[derive(Debug, Default)]
pub(super) struct Response {
    pub(super) status: u16,
    pub(super) headers: Vec<(&'static str, String)>,
    pub(super) body: String,
    pub(super) is_last: bool,
    pub(super) is_aborted: bool,
}

impl Response {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let mut found = self.headers.iter().filter(|(other, _)| *other == name).map(|(_, value)| &**value);
        let value = found.next();
        assert_eq!(found.next(), None, "{name} stands once");
        value
    }

    /// The data of the events, without those that have none.
    pub(super) fn messages(&self) -> Vec<&str> {
        self.fields("data").into_iter().filter(|data| !data.is_empty()).collect()
    }

    pub(super) fn ids(&self) -> Vec<&str> {
        self.fields("id")
    }

    pub(super) fn fields(&self, name: &str) -> Vec<&str> {
        let lines = self.body.lines().filter_map(|line| line.split_once(':'));
        lines
            .filter(|(field, _)| *field == name)
            .map(|(_, value)| value.strip_prefix(' ').unwrap_or(value))
            .collect()
    }

    pub(super) fn is_stream(&self) -> bool {
        self.header("content-type") == Some("text/event-stream")
    }
}

/// Opens a session in the given revision; its id.
pub(super) fn open_session(http: &mut Http, number: u64, revision: Revision) -> String {
    let exchange = post(http, &[], "initialize");
    let labels = Labels {
        session: Some(session(number)),
        revision: Some(revision),
        ..within(exchange, Disposition::Answers)
    };
    say(http, "opened", labels);
    let response = response(http, exchange);
    assert_eq!((response.status, &*response.body, response.is_last), (200, "opened", true));
    response.header("mcp-session-id").expect("an id").to_string()
}

/// What the machine was given since this was last asked.
pub(super) fn taken(http: &mut Http) -> Vec<Taken> {
    core::mem::take(&mut http.machine.taken)
}
