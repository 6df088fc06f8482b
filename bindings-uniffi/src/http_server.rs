//! Servers behind HTTP.

use barewire::transport::http::server::{
    Denial, Endpoint as CoreEndpoint, EventKeeping, HttpServer as Transport, HttpServerConfig as CoreConfig,
    RequestHead as CoreHead, ResponseHead as CoreResponseHead,
};
use barewire::transport::http::{InvalidOrigin, OriginPolicy};
use barewire::{ExchangeHandle, Instant, SessionHandle, server};

use crate::config::{ServerConfig, count};
use crate::errors::{McpError, Outcome};
use crate::events::ServerEvent;
use crate::guard::Guarded;
use crate::server::server_commands;
use crate::values::{Header, pairs};

/// Where events of legacy streams are kept for clients that reconnect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, uniffi::Enum)]
pub enum EventStore {
    /// Nowhere: a lost stream is lost.
    Nowhere,
    /// Here, within bounds; the oldest go first.
    Memory,
    /// With the host, which events such as `EventAppended` tell what to do.
    External,
}

/// How a server is put behind HTTP; what is left out has its default.
#[derive(Clone, Debug, Default, uniffi::Record)]
pub struct HttpServerConfig {
    /// Origins of pages that may send requests, beside those of the loopback interface; `*` for all.
    #[uniffi(default = [])]
    pub allowed_origins: Vec<String>,
    /// Names under which the server may be asked, beside those of the loopback interface; `*` for all.
    #[uniffi(default = [])]
    pub allowed_hosts: Vec<String>,
    /// Bytes of a request body; a longer one is refused. Default 4 MiB.
    #[uniffi(default = None)]
    pub body_bytes: Option<u64>,
    /// Milliseconds of silence on an open stream after which a comment is sent; 0 sends none. Default 15 000.
    #[uniffi(default = None)]
    pub keep_alive: Option<u64>,
    /// Milliseconds without an exchange after which a legacy session is ended. Default 1 800 000.
    #[uniffi(default = None)]
    pub session_idle: Option<u64>,
    /// Milliseconds that a client is asked to wait before it reconnects to a stream. Default 1 000.
    #[uniffi(default = None)]
    pub retry: Option<u64>,
    /// Where events of legacy streams are kept. Default `Memory`.
    #[uniffi(default = None)]
    pub event_keeping: Option<EventStore>,
    /// In memory, events of one stream. Default 256.
    #[uniffi(default = None)]
    pub kept_events: Option<u64>,
    /// In memory, bytes of all events of all streams. Default 16 MiB.
    #[uniffi(default = None)]
    pub kept_bytes: Option<u64>,
    /// In memory, milliseconds. Default 300 000.
    #[uniffi(default = None)]
    pub kept_age: Option<u64>,
    /// Whether sessions may live outside: an unknown id is then asked for with `SessionRequested` before it is refused.
    #[uniffi(default = false)]
    pub external_sessions: bool,
}

/// Everything is allowed where that is said.
const ANY: &str = "*";

impl HttpServerConfig {
    fn into_core(self, machine: &barewire::ServerConfig) -> Outcome<CoreConfig> {
        let mut config = CoreConfig::new(machine.seed.clone());
        config.revisions = machine.revisions;
        config.origins = self.origins()?;
        config.events = self.keeping(config.events);
        config.external_sessions = self.external_sessions;
        config.body_bytes = self.body_bytes.map_or(config.body_bytes, count);
        config.keep_alive = self.keep_alive.unwrap_or(config.keep_alive);
        config.session_idle = self.session_idle.unwrap_or(config.session_idle);
        config.retry = self.retry.unwrap_or(config.retry);
        Ok(config)
    }

    fn keeping(&self, default: EventKeeping) -> EventKeeping {
        match (self.event_keeping, default) {
            (Some(EventStore::Nowhere), _) => EventKeeping::None,
            (Some(EventStore::External), _) => EventKeeping::External,
            (None | Some(EventStore::Memory), EventKeeping::Memory { events, bytes, age }) => {
                EventKeeping::Memory {
                    events: self.kept_events.map_or(events, count),
                    bytes: self.kept_bytes.map_or(bytes, count),
                    age: self.kept_age.unwrap_or(age),
                }
            }
            (_, default) => default,
        }
    }

    /// What may come in: the loopback interface's own pages and names, and those that are named.
    fn origins(&self) -> Outcome<OriginPolicy> {
        let refused = |error: InvalidOrigin| McpError::argument(error);
        let mut policy = OriginPolicy::loopback();
        for origin in &self.allowed_origins {
            policy = match origin.as_str() {
                ANY => policy.with_any_origin(),
                origin => policy.with_origin(origin).map_err(refused)?,
            };
        }
        for host in &self.allowed_hosts {
            policy = match host.as_str() {
                ANY => policy.with_any_host(),
                host => policy.with_host(host).map_err(refused)?,
            };
        }
        Ok(policy)
    }
}

/// An endpoint of a server; the host routes by path.
#[derive(Clone, Debug, PartialEq, Eq, uniffi::Enum)]
pub enum Endpoint {
    /// The one of Streamable HTTP.
    Streamable,
    /// The stream of HTTP+SSE, the transport of the first revision.
    EventStream {
        /// The path of the endpoint that takes messages, relative or absolute and without a query.
        messages: String,
    },
    /// Where HTTP+SSE takes messages.
    Messages {
        /// The query string, without the question mark.
        query: String,
    },
}

/// The head of a request.
#[derive(Clone, Debug, PartialEq, Eq, uniffi::Record)]
pub struct RequestHead {
    /// The method, as it came.
    pub method: String,
    /// Which endpoint it is for.
    pub endpoint: Endpoint,
    /// The headers in the order of arrival. `Host` has to be among them, from `:authority` if need be.
    pub headers: Vec<Header>,
    /// Who sends it, as far as the host knows (an opaque key; the host authenticates). Sessions belong to it.
    #[uniffi(default = None)]
    pub principal: Option<String>,
}

impl RequestHead {
    fn with<R>(&self, work: impl FnOnce(CoreHead<'_>) -> R) -> R {
        let endpoint = match &self.endpoint {
            Endpoint::Streamable => CoreEndpoint::Streamable,
            Endpoint::EventStream { messages } => CoreEndpoint::EventStream { messages },
            Endpoint::Messages { query } => CoreEndpoint::Messages { query },
        };
        let principal = self.principal.as_deref();
        work(CoreHead { method: &self.method, endpoint, headers: &pairs(&self.headers), principal })
    }
}

/// A request that was taken as a whole: its exchange, and the events.
#[derive(Clone, Debug, PartialEq, uniffi::Record)]
pub struct ReceivedRequest {
    /// The exchange.
    pub exchange: u64,
    /// The events.
    pub events: Vec<ServerEvent>,
}

/// The head of a response.
#[derive(Clone, Debug, PartialEq, Eq, uniffi::Record)]
pub struct ResponseHead {
    /// The status.
    pub status: u16,
    /// Names in lower case, and values. `content-length` is among them unless the body is a stream, or there is none.
    pub headers: Vec<Header>,
}

/// What to send next in one exchange, in order: `head`, then `data`, then the end.
#[derive(Clone, Debug, PartialEq, Eq, uniffi::Record)]
pub struct ResponsePart {
    /// The head, in the first part.
    pub head: Option<ResponseHead>,
    /// Bytes of the body; may be empty.
    pub data: Vec<u8>,
    /// Nothing follows: the exchange is over.
    pub is_last: bool,
    /// Close the connection without an orderly end of the body: the client must not take what it got for the whole.
    pub is_aborted: bool,
}

/// An event of a stream that was kept outside.
#[derive(Clone, Debug, PartialEq, Eq, uniffi::Record)]
pub struct StoredEvent {
    /// Its id.
    pub id: String,
    /// Its message.
    pub data: String,
}

/// A server behind HTTP: one for all clients of a process, in every revision.
///
/// Hand in requests as they come, and after any verb, command and timeout ask `ready` which exchanges have something to send and
/// `poll_response` what. Handles of exchanges that are over are harmless everywhere.
#[derive(uniffi::Object)]
pub struct HttpServer(Guarded<Transport<server::Server>>);

const fn handle(exchange: u64) -> ExchangeHandle {
    ExchangeHandle::from_number(exchange)
}

impl HttpServer {
    /// Runs a verb, none of which fails over HTTP, and gives all events that are there then.
    fn step(&self, verb: impl FnOnce(&mut Transport<server::Server>)) -> Outcome<Vec<ServerEvent>> {
        self.0.step(|http| {
            verb(http);
            Ok(())
        })
    }
}

#[uniffi::export]
impl HttpServer {
    /// A server with an empty catalog.
    #[uniffi::constructor]
    pub fn new(config: ServerConfig, http: HttpServerConfig) -> Outcome<HttpServer> {
        let config = config.into_core()?;
        let http = http.into_core(&config)?;
        Guarded::new(|| Ok(Transport::new(server::Server::new(config)?, http))).map(HttpServer)
    }

    /// Takes the head of a request; gives its exchange.
    pub fn receive_request(&self, head: RequestHead, now: u64) -> Outcome<u64> {
        let now = Instant::from_millis(now);
        head.with(|head| self.0.call(|http| Ok(http.receive_request(now, head).number())))
    }

    /// Takes a piece of the body.
    pub fn receive_body(&self, exchange: u64, data: Vec<u8>, now: u64) -> Outcome<()> {
        self.0.call(|http| Ok(http.receive_body(Instant::from_millis(now), handle(exchange), &data)))
    }

    /// The body is complete.
    pub fn receive_end(&self, exchange: u64, now: u64) -> Outcome<Vec<ServerEvent>> {
        self.step(|http| http.receive_end(Instant::from_millis(now), handle(exchange)))
    }

    /// Takes a request as a whole.
    pub fn receive_whole(&self, head: RequestHead, body: Vec<u8>, now: u64) -> Outcome<ReceivedRequest> {
        let mut exchange = 0;
        let now = Instant::from_millis(now);
        let events =
            head.with(|head| self.step(|http| exchange = http.receive_whole(now, head, &body).number()))?;
        Ok(ReceivedRequest { exchange, events })
    }

    /// Takes the head of a request that the host does not let through: it is answered with `status`, and with the value of
    /// `WWW-Authenticate`, if one is given. Its body is ignored. Gives its exchange.
    pub fn receive_denied(
        &self,
        head: RequestHead,
        status: u16,
        challenge: Option<String>,
        now: u64,
    ) -> Outcome<u64> {
        let (now, denial) = (Instant::from_millis(now), Denial { status, challenge: challenge.as_deref() });
        head.with(|head| self.0.call(|http| Ok(http.receive_denied(now, head, denial).number())))
    }

    /// Does not let through what an exchange has brought after all. False if its response has begun, and nothing is changed
    /// then. What was asked for has to be answered all the same: that goes nowhere.
    pub fn deny(&self, exchange: u64, status: u16, challenge: Option<String>, now: u64) -> Outcome<bool> {
        let denial = Denial { status, challenge: challenge.as_deref() };
        self.0.call(|http| Ok(http.deny(Instant::from_millis(now), handle(exchange), denial)))
    }

    /// The client has gone.
    pub fn receive_abort(&self, exchange: u64, now: u64) -> Outcome<Vec<ServerEvent>> {
        self.step(|http| http.receive_abort(Instant::from_millis(now), handle(exchange)))
    }

    /// The exchanges that have something to send and were not named since they last had nothing.
    pub fn ready(&self) -> Outcome<Vec<u64>> {
        self.0.call(|http| Ok(std::iter::from_fn(|| http.poll_ready()).map(ExchangeHandle::number).collect()))
    }

    /// What to send next in an exchange, if anything. Ask again when the connection has taken it.
    pub fn poll_response(&self, exchange: u64) -> Outcome<Option<ResponsePart>> {
        let part = self.0.call(|http| Ok(http.poll_response(handle(exchange))))?;
        let head = |head: CoreResponseHead| ResponseHead {
            status: head.status,
            headers: head.headers.iter().map(|(name, value)| Header::new(name, value)).collect(),
        };
        Ok(part.map(|part| ResponsePart {
            head: part.head.map(head),
            data: part.data,
            is_last: part.is_last,
            is_aborted: part.is_aborted,
        }))
    }

    /// Bytes that wait to be taken by an exchange.
    pub fn backlog(&self, exchange: u64) -> Outcome<u64> {
        self.0.call(|http| Ok(u64::try_from(http.backlog(handle(exchange))).unwrap_or(u64::MAX)))
    }

    /// Lets time pass. Harmless when nothing is due.
    pub fn handle_timeout(&self, now: u64) -> Outcome<Vec<ServerEvent>> {
        self.step(|http| http.handle_timeout(Instant::from_millis(now)))
    }

    /// When to call `handle_timeout` at the latest, if ever.
    pub fn poll_timeout(&self) -> Outcome<Option<u64>> {
        self.0.call(|http| Ok(http.poll_timeout().map(Instant::as_millis)))
    }

    /// Answers `SessionRequested`: the session that was imported, or none.
    pub fn resolve_session(
        &self,
        exchange: u64,
        session: Option<u64>,
        now: u64,
    ) -> Outcome<Vec<ServerEvent>> {
        let session = session.map(SessionHandle::from_number);
        self.step(|http| http.resolve_session(Instant::from_millis(now), handle(exchange), session))
    }

    /// Answers `ReplayRequested`: the events after the one that was named; none if the stream is not one of the session.
    pub fn replay(&self, exchange: u64, events: Option<Vec<StoredEvent>>, now: u64) -> Outcome<()> {
        let events: Option<Vec<(&str, &str)>> =
            events.as_ref().map(|events| events.iter().map(|event| (&*event.id, &*event.data)).collect());
        let now = Instant::from_millis(now);
        self.0.call(|http| Ok(http.replay(now, handle(exchange), events.as_deref())))
    }

    /// Ends the response of a legacy request for now, so that its client has to come back; whether that was possible.
    /// `retry` is in milliseconds.
    #[uniffi::method(default(retry = None))]
    pub fn close_stream(&self, exchange: u64, now: u64, retry: Option<u64>) -> Outcome<bool> {
        self.0.call(|http| Ok(http.close_stream(Instant::from_millis(now), handle(exchange), retry)))
    }

    /// Takes no more requests.
    pub fn shut_down(&self, now: u64) -> Outcome<Vec<ServerEvent>> {
        self.step(|http| http.shut_down(Instant::from_millis(now)))
    }

    /// True when no exchange is open.
    pub fn is_idle(&self) -> Outcome<bool> {
        self.0.call(|http| Ok(http.is_idle()))
    }

    /// Ends a legacy session: what is in flight in it is cancelled, and `SessionClosed` follows.
    pub fn end_session(&self, session: u64) -> Outcome<()> {
        self.0.command(|machine| machine.end_session(SessionHandle::from_number(session)))
    }
}

server_commands! { HttpServer }
