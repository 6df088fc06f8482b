//! The server role behind HTTP.

use std::borrow::Cow;

use barewire::transport::http::server::{
    Denial, Endpoint, EventKeeping, HttpServer as Transport, HttpServerConfig, HttpServerEvent, RequestHead,
    ResponseHead,
};
use barewire::transport::http::{InvalidOrigin, OriginPolicy};
use barewire::{ExchangeHandle, Machine as _, ServerConfig};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};

use crate::convert::ToPython;
use crate::events::IntoEvent;
use crate::guard::{Carrier, Guarded, step_giving};

type Machine = barewire::server::Server;

/// A server behind HTTP, for both eras and any number of clients.
///
/// The arguments are those of `Server`, and what the transport is set up with.
#[pyclass(module = "barewire._native")]
pub(crate) struct HttpServer(Guarded<Transport<Machine>>);

impl Carrier for Transport<Machine> {
    type Machine = Machine;
    type Event = HttpEvent;

    fn machine_mut(&mut self) -> &mut Machine {
        self.machine_mut()
    }

    fn poll_event(&mut self) -> Option<HttpEvent> {
        let event = self.machine_mut().poll_event().map(HttpEvent::Machine);
        event.or_else(|| self.poll_http_event().map(HttpEvent::Transport))
    }
}

/// What the machine or its transport tells.
#[allow(clippy::large_enum_variant, reason = "it lives for a moment; a box would cost more")]
pub(crate) enum HttpEvent {
    Machine(barewire::server::Event),
    Transport(HttpServerEvent),
}

impl IntoEvent for HttpEvent {
    fn into_event(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        match self {
            HttpEvent::Machine(event) => event.into_event(py),
            HttpEvent::Transport(event) => event.into_event(py),
        }
    }
}

records! {
    /// What to send next in one exchange.
    ResponsePart {
        status: Option<u16>,
        headers: ResponseHeaders,
        data: Vec<u8>,
        is_last: bool,
        is_aborted: bool,
    }
}

/// The headers of a response, as `bytes`.
pub(crate) struct ResponseHeaders(Vec<(&'static str, Cow<'static, str>)>);

impl ToPython for ResponseHeaders {
    fn to_python<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let headers = self.0.iter();
        let pairs = headers
            .map(|(name, value)| (PyBytes::new(py, name.as_bytes()), PyBytes::new(py, value.as_bytes())));
        Ok(pyo3::types::PyList::new(py, pairs)?.into_any())
    }
}

/// The headers of a request: pairs of `bytes`, as ASGI has them.
pub(crate) struct Headers<'py>(Vec<(Bound<'py, PyBytes>, Bound<'py, PyBytes>)>);

impl<'py> FromPyObject<'_, 'py> for Headers<'py> {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let pairs = object.try_iter()?.map(|pair| {
            let pair = pair?;
            if let Ok(pair) = pair.extract() {
                return Ok(pair);
            }
            let pair: Vec<Bound<'py, PyBytes>> = pair.extract()?;
            <[_; 2]>::try_from(pair)
                .map(|[name, value]| (name, value))
                .map_err(|_| PyTypeError::new_err("a header is a pair of bytes"))
        });
        pairs.collect::<PyResult<_>>().map(Headers)
    }
}

impl Headers<'_> {
    /// Calls `work` with the headers as text. Bytes above 127 that are no UTF-8 are taken for Latin-1.
    pub(crate) fn with<R>(&self, work: impl FnOnce(&[(&str, &str)]) -> R) -> R {
        let utf8 = |bytes| std::str::from_utf8(bytes).ok();
        let pairs =
            self.0.iter().map(|(name, value)| Some((utf8(name.as_bytes())?, utf8(value.as_bytes())?)));
        if let Some(pairs) = pairs.collect::<Option<Vec<_>>>() {
            return work(&pairs);
        }
        let pairs: Vec<_> =
            self.0.iter().map(|(name, value)| (text(name.as_bytes()), text(value.as_bytes()))).collect();
        work(&pairs.iter().map(|(name, value)| (&**name, &**value)).collect::<Vec<_>>())
    }
}

fn text(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => bytes.iter().map(|&byte| char::from(byte)).collect(),
    }
}

/// Runs a verb, none of which fails over HTTP, and gives all events that are there then.
fn step_after<'py>(
    this: &Bound<'py, HttpServer>,
    verb: impl FnOnce(&mut Transport<Machine>),
) -> PyResult<Bound<'py, PyList>> {
    Ok(step_giving(this, verb)?.1)
}

/// Where events are kept, by its name in Python.
fn keeping(
    name: Option<&str>,
    kept_events: Option<usize>,
    kept_bytes: Option<usize>,
    kept_age: Option<u64>,
    default: EventKeeping,
) -> PyResult<EventKeeping> {
    match (name, default) {
        (Some("none"), _) => Ok(EventKeeping::None),
        (Some("external"), _) => Ok(EventKeeping::External),
        (None | Some("memory"), EventKeeping::Memory { events, bytes, age }) => Ok(EventKeeping::Memory {
            events: kept_events.unwrap_or(events),
            bytes: kept_bytes.unwrap_or(bytes),
            age: kept_age.unwrap_or(age),
        }),
        _ => Err(PyValueError::new_err("event_keeping is 'memory', 'external' or 'none'")),
    }
}

/// Everything is allowed where that is said.
const ANY: &str = "*";

/// What may come in: the loopback interface's own pages and names, and those that are named.
fn origins(origins: Option<Vec<String>>, hosts: Option<Vec<String>>) -> PyResult<OriginPolicy> {
    let refused = |error: InvalidOrigin| PyValueError::new_err(error.to_string());
    let mut policy = OriginPolicy::loopback();
    for origin in origins.unwrap_or_default() {
        policy = match &*origin {
            ANY => policy.with_any_origin(),
            origin => policy.with_origin(origin).map_err(refused)?,
        };
    }
    for host in hosts.unwrap_or_default() {
        policy = match &*host {
            ANY => policy.with_any_host(),
            host => policy.with_host(host).map_err(refused)?,
        };
    }
    Ok(policy)
}

#[allow(clippy::too_many_arguments, reason = "each is a named setting")]
fn behind(
    server: &ServerConfig,
    allowed_origins: Option<Vec<String>>,
    allowed_hosts: Option<Vec<String>>,
    body_bytes: Option<usize>,
    keep_alive: Option<u64>,
    session_idle: Option<u64>,
    retry: Option<u64>,
    event_keeping: Option<&str>,
    kept_events: Option<usize>,
    kept_bytes: Option<usize>,
    kept_age: Option<u64>,
    external_sessions: Option<bool>,
) -> PyResult<impl FnOnce(Machine) -> Transport<Machine> + use<>> {
    let mut config = HttpServerConfig::new(server.seed.clone());
    config.revisions = server.revisions;
    config.origins = origins(allowed_origins, allowed_hosts)?;
    let set = |setting: &mut u64, value: Option<u64>| *setting = value.unwrap_or(*setting);
    set(&mut config.keep_alive, keep_alive);
    set(&mut config.session_idle, session_idle);
    set(&mut config.retry, retry);
    config.body_bytes = body_bytes.unwrap_or(config.body_bytes);
    config.events = keeping(event_keeping, kept_events, kept_bytes, kept_age, config.events)?;
    config.external_sessions = external_sessions.unwrap_or(config.external_sessions);
    Ok(|machine| Transport::new(machine, config))
}

fn endpoint<'a>(event_stream: Option<&'a str>, messages: Option<&'a str>) -> PyResult<Endpoint<'a>> {
    match (event_stream, messages) {
        (None, None) => Ok(Endpoint::Streamable),
        (Some(messages), None) => Ok(Endpoint::EventStream { messages }),
        (None, Some(query)) => Ok(Endpoint::Messages { query }),
        _ => Err(PyValueError::new_err("a request has one endpoint: event_stream or messages, not both")),
    }
}

const fn handle(exchange: u64) -> ExchangeHandle {
    ExchangeHandle::from_number(exchange)
}

server_class! {
    HttpServer(Transport<Machine>), behind,
    options {
        allowed_origins: Vec<String>,
        allowed_hosts: Vec<String>,
        body_bytes: usize,
        keep_alive: u64,
        session_idle: u64,
        retry: u64,
        event_keeping: &str,
        kept_events: usize,
        kept_bytes: usize,
        kept_age: u64,
        external_sessions: bool,
    },

    /// Take the head of a request; give its exchange.
    #[pyo3(signature = (method, headers, now, *, principal = None, event_stream = None, messages = None))]
    fn receive_request(
        this: &Bound<'_, HttpServer>,
        method: &str,
        headers: Headers<'_>,
        now: u64,
        principal: Option<&str>,
        event_stream: Option<&str>,
        messages: Option<&str>,
    ) -> PyResult<u64> {
        let endpoint = endpoint(event_stream, messages)?;
        headers.with(|headers| {
            let head = RequestHead { method, endpoint, headers, principal };
            with(this, |http| Ok(http.receive_request(Instant::from_millis(now), head).number()))
        })
    }

    /// Take a piece of the body.
    fn receive_body(this: &Bound<'_, HttpServer>, exchange: u64, data: &[u8], now: u64) -> PyResult<()> {
        with(this, |http| {
            http.receive_body(Instant::from_millis(now), handle(exchange), data);
            Ok(())
        })
    }

    /// The body is complete.
    fn receive_end<'py>(this: &Bound<'py, HttpServer>, exchange: u64, now: u64) -> Events<'py> {
        step_after(this, |http| http.receive_end(Instant::from_millis(now), handle(exchange)))
    }

    /// Take a request as a whole; give its exchange and the events.
    #[pyo3(signature = (method, headers, body, now, *, principal = None, event_stream = None, messages = None))]
    fn receive_whole<'py>(
        this: &Bound<'py, HttpServer>,
        method: &str,
        headers: Headers<'py>,
        body: &[u8],
        now: u64,
        principal: Option<&str>,
        event_stream: Option<&str>,
        messages: Option<&str>,
    ) -> PyResult<(u64, Bound<'py, PyList>)> {
        let endpoint = endpoint(event_stream, messages)?;
        headers.with(|headers| {
            let head = RequestHead { method, endpoint, headers, principal };
            step_giving(this, |http| {
                http.receive_whole(Instant::from_millis(now), head, body).number()
            })
        })
    }

    /// Take the head of a request that is not let through, because of its credentials or the lack of them; give
    /// its exchange.
    #[pyo3(signature = (
        method, headers, status, challenge, now, *, event_stream = None, messages = None
    ))]
    #[allow(clippy::too_many_arguments, reason = "they are named in Python")]
    fn receive_denied(
        this: &Bound<'_, HttpServer>,
        method: &str,
        headers: Headers<'_>,
        status: u16,
        challenge: Option<&str>,
        now: u64,
        event_stream: Option<&str>,
        messages: Option<&str>,
    ) -> PyResult<u64> {
        let endpoint = endpoint(event_stream, messages)?;
        headers.with(|headers| {
            let head = RequestHead { method, endpoint, headers, principal: None };
            let denial = Denial { status, challenge };
            with(this, |http| Ok(http.receive_denied(Instant::from_millis(now), head, denial).number()))
        })
    }

    /// Do not let through what an exchange has brought. False if its response has begun.
    fn deny(
        this: &Bound<'_, HttpServer>,
        exchange: u64,
        status: u16,
        challenge: Option<&str>,
        now: u64,
    ) -> PyResult<bool> {
        let denial = Denial { status, challenge };
        with(this, |http| Ok(http.deny(Instant::from_millis(now), handle(exchange), denial)))
    }

    /// The client has gone.
    fn receive_abort<'py>(this: &Bound<'py, HttpServer>, exchange: u64, now: u64) -> Events<'py> {
        step_after(this, |http| http.receive_abort(Instant::from_millis(now), handle(exchange)))
    }

    /// The exchanges that have something to send and were not named since they last had nothing.
    fn ready(this: &Bound<'_, HttpServer>) -> PyResult<Vec<u64>> {
        with(this, |http| Ok(std::iter::from_fn(|| http.poll_ready()).map(ExchangeHandle::number).collect()))
    }

    /// What to send next in an exchange; `None` if that is nothing for now.
    fn poll_response(this: &Bound<'_, HttpServer>, exchange: u64) -> PyResult<Option<ResponsePart>> {
        let part = with(this, |http| Ok(http.poll_response(handle(exchange))))?;
        Ok(part.map(|part| {
            let (status, headers) = match part.head {
                Some(ResponseHead { status, headers }) => (Some(status), headers),
                None => (None, Vec::new()),
            };
            let headers = ResponseHeaders(headers);
            ResponsePart { status, headers, data: part.data, is_last: part.is_last, is_aborted: part.is_aborted }
        }))
    }

    /// Bytes that wait to be taken by an exchange.
    fn backlog(this: &Bound<'_, HttpServer>, exchange: u64) -> PyResult<usize> {
        with(this, |http| Ok(http.backlog(handle(exchange))))
    }

    /// Let time pass.
    fn handle_timeout<'py>(this: &Bound<'py, HttpServer>, now: u64) -> Events<'py> {
        step_after(this, |http| http.handle_timeout(Instant::from_millis(now)))
    }

    /// When to call `handle_timeout` at the latest, if ever.
    fn poll_timeout(this: &Bound<'_, HttpServer>) -> PyResult<Option<u64>> {
        with(this, |http| Ok(http.poll_timeout().map(Instant::as_millis)))
    }

    /// Answer `SessionRequested`.
    #[pyo3(signature = (exchange, session, now))]
    fn resolve_session<'py>(
        this: &Bound<'py, HttpServer>,
        exchange: u64,
        session: Option<u64>,
        now: u64,
    ) -> Events<'py> {
        let session = session.map(SessionHandle::from_number);
        step_after(this, |http| http.resolve_session(Instant::from_millis(now), handle(exchange), session))
    }

    /// Answer `ReplayRequested`.
    #[pyo3(signature = (exchange, events, now))]
    fn replay(
        this: &Bound<'_, HttpServer>,
        exchange: u64,
        events: Option<Vec<(String, String)>>,
        now: u64,
    ) -> PyResult<()> {
        let events: Option<Vec<(&str, &str)>> =
            events.as_ref().map(|events| events.iter().map(|(id, data)| (&**id, &**data)).collect());
        with(this, |http| {
            http.replay(Instant::from_millis(now), handle(exchange), events.as_deref());
            Ok(())
        })
    }

    /// End the response of a legacy request for now; whether that was possible.
    #[pyo3(signature = (exchange, now, retry = None))]
    fn close_stream(
        this: &Bound<'_, HttpServer>,
        exchange: u64,
        now: u64,
        retry: Option<u64>,
    ) -> PyResult<bool> {
        with(this, |http| Ok(http.close_stream(Instant::from_millis(now), handle(exchange), retry)))
    }

    /// Take no more requests.
    fn shut_down<'py>(this: &Bound<'py, HttpServer>, now: u64) -> Events<'py> {
        step_after(this, |http| http.shut_down(Instant::from_millis(now)))
    }

    /// True when no exchange is open.
    #[getter]
    fn is_idle(this: &Bound<'_, HttpServer>) -> PyResult<bool> {
        with(this, |http| Ok(http.is_idle()))
    }
}
