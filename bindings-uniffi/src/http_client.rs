//! Clients over HTTP.

use barewire::transport::http::client::{
    ExchangeFailure as CoreFailure, HttpClient as Transport, HttpClientConfig as CoreConfig,
    HttpTransmit as CoreTransmit,
};
use barewire::{ApiMisuse, Error, ExchangeHandle, Instant, client};

use crate::client::client_commands;
use crate::config::ClientConfig;
use crate::errors::{McpError, Outcome};
use crate::events::ClientEvent;
use crate::guard::Guarded;
use crate::values::{Header, pairs};

/// How a client speaks HTTP.
#[derive(Clone, Debug, uniffi::Record)]
pub struct HttpClientConfig {
    /// The URL of the server, as the user wrote it. It is never normalised.
    pub url: String,
    /// Whether to try HTTP+SSE, the transport of the first revision, where Streamable HTTP is refused.
    #[uniffi(default = true)]
    pub falls_back_to_sse: bool,
    /// Whether to open the stream of a legacy session that belongs to no request.
    #[uniffi(default = true)]
    pub opens_stream: bool,
    /// Whether the host takes `AuthorizationRequired`; without it a 401 or 403 fails the request.
    #[uniffi(default = false)]
    pub authorizes: bool,
    /// Milliseconds for which an exchange waits to be authorized; then it fails as if it had not been. Default 900 000.
    #[uniffi(default = None)]
    pub authorization_timeout: Option<u64>,
}

/// One thing to do.
#[derive(Clone, PartialEq, Eq, uniffi::Enum)]
pub enum HttpTransmit {
    /// Send this request. Follow no redirect: its head is handed in like any other.
    Request {
        /// Names it in what is reported of it.
        exchange: u64,
        /// The method.
        method: String,
        /// Where to.
        url: String,
        /// Names in lower case, and values, without those of the host's own (`Host`, `Content-Length`, `Authorization`).
        headers: Vec<Header>,
        /// The body; empty if there is none.
        body: Vec<u8>,
        /// The response may stay silent for as long as it likes: no read timeout applies.
        is_stream: bool,
    },
    /// Give up this exchange: close its connection or reset its stream. Nothing is reported of it any more.
    Abort {
        /// The exchange.
        exchange: u64,
    },
}

/// Why an exchange brought no response, or not all of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, uniffi::Enum)]
pub enum ExchangeFailure {
    /// No connection could be made, so that the server has not seen the request.
    NotSent,
    /// The connection broke, or its data made no sense as HTTP.
    Broken,
}

/// A client over HTTP. It starts to connect at once: carry out what `poll_transmit` gives, and report what comes of it.
#[derive(uniffi::Object)]
pub struct HttpClient(Guarded<Transport<client::Client>>);

const fn handle(exchange: u64) -> ExchangeHandle {
    ExchangeHandle::from_number(exchange)
}

#[uniffi::export]
impl HttpClient {
    /// A client that starts to connect.
    #[uniffi::constructor]
    pub fn new(config: ClientConfig, http: HttpClientConfig, now: u64) -> Outcome<HttpClient> {
        let mut config = config.into_core()?;
        config.http = true;
        let mut core = CoreConfig::new(&http.url);
        core.falls_back_to_sse = http.falls_back_to_sse;
        core.opens_stream = http.opens_stream;
        core.authorizes = http.authorizes;
        core.authorization_timeout = http.authorization_timeout.unwrap_or(core.authorization_timeout);
        core.message_bytes = config.limits.message_bytes;
        let not_a_url = McpError::from(Error::from(ApiMisuse::InvalidDefinition("url")));
        let opened =
            Guarded::new(|| Transport::new(client::Client::new(config, Instant::from_millis(now))?, core));
        opened.map(HttpClient).map_err(|error| {
            if error == not_a_url {
                McpError::argument(format!("{:?} is no URL of http or https", http.url))
            } else {
                error
            }
        })
    }

    /// What to do next, if anything.
    pub fn poll_transmit(&self, now: u64) -> Outcome<Option<HttpTransmit>> {
        let transmit = self.0.call(|http| Ok(http.poll_transmit(Instant::from_millis(now))))?;
        Ok(match transmit {
            Some(CoreTransmit::Request(request)) => Some(HttpTransmit::Request {
                exchange: request.exchange.number(),
                method: request.method.into(),
                url: request.url.into(),
                headers: request.headers.iter().map(|(name, value)| Header::new(name, value)).collect(),
                body: request.body.into_bytes(),
                is_stream: request.is_stream,
            }),
            Some(CoreTransmit::Abort { exchange }) => {
                Some(HttpTransmit::Abort { exchange: exchange.number() })
            }
            // `is_finished` tells the end.
            _ => None,
        })
    }

    /// Takes the head of a response.
    pub fn receive_head(
        &self,
        exchange: u64,
        status: u16,
        headers: Vec<Header>,
        now: u64,
    ) -> Outcome<Vec<ClientEvent>> {
        let now = Instant::from_millis(now);
        self.0.step(|http| http.receive_head(now, handle(exchange), status, &pairs(&headers)))
    }

    /// Takes a piece of the body, decoded.
    pub fn receive_body(&self, exchange: u64, data: Vec<u8>, now: u64) -> Outcome<Vec<ClientEvent>> {
        self.0.step(|http| http.receive_body(Instant::from_millis(now), handle(exchange), &data))
    }

    /// The response is complete.
    pub fn receive_end(&self, exchange: u64, now: u64) -> Outcome<Vec<ClientEvent>> {
        self.0.step(|http| http.receive_end(Instant::from_millis(now), handle(exchange)))
    }

    /// The exchange has failed. A redirect is a response like any other.
    pub fn receive_failure(
        &self,
        exchange: u64,
        failure: ExchangeFailure,
        now: u64,
    ) -> Outcome<Vec<ClientEvent>> {
        let failure = match failure {
            ExchangeFailure::NotSent => CoreFailure::NotSent,
            ExchangeFailure::Broken => CoreFailure::Broken,
        };
        self.0.step(|http| http.receive_failure(Instant::from_millis(now), handle(exchange), failure))
    }

    /// Whether to read on in an exchange.
    pub fn wants_input(&self, exchange: u64) -> Outcome<bool> {
        self.0.call(|http| Ok(http.wants_input(handle(exchange))))
    }

    /// There are new credentials: the exchange is sent again.
    pub fn authorized(&self, exchange: u64, now: u64) -> Outcome<Vec<ClientEvent>> {
        self.0.step(|http| Ok(http.authorized(Instant::from_millis(now), handle(exchange))))
    }

    /// There are none: what waits for the exchange fails.
    pub fn unauthorized(&self, exchange: u64, now: u64) -> Outcome<Vec<ClientEvent>> {
        self.0.step(|http| http.unauthorized(Instant::from_millis(now), handle(exchange)))
    }

    /// Lets time pass. Harmless when nothing is due.
    pub fn handle_timeout(&self, now: u64) -> Outcome<Vec<ClientEvent>> {
        self.0.step(|http| http.handle_timeout(Instant::from_millis(now)))
    }

    /// When to call `handle_timeout` at the latest, if ever.
    pub fn poll_timeout(&self) -> Outcome<Option<u64>> {
        self.0.call(|http| Ok(http.poll_timeout().map(Instant::as_millis)))
    }

    /// True when everything is over and nothing is left to be done.
    pub fn is_finished(&self) -> Outcome<bool> {
        self.0.call(|http| Ok(http.is_finished()))
    }
}

client_commands! { HttpClient }
