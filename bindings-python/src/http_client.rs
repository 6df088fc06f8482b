//! The client role over HTTP.

use barewire::client::{Client as Machine, Completion, CompletionReference};
use barewire::transport::http::client::{
    ExchangeFailure, HttpClient as Transport, HttpClientConfig, HttpClientEvent, HttpTransmit,
};
use barewire::{
    ApiMisuse, EraVerdict, Error, ExchangeHandle, InputHandle, InputResponse, Instant, RequestHandle,
    Revision, RpcError, SubscriptionHandle,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::client::{LISTINGS, client_class, configure, done, opened, options, waiting};
use crate::config::{self, Limits, Timeouts};
use crate::convert::{self, Text, text};
use crate::errors;
use crate::guard::{Guarded, Holder, step, with};
use crate::values::SubscriptionFilter;

/// Failures by their names in Python.
const FAILURES: [(ExchangeFailure, &str); 2] =
    [(ExchangeFailure::NotSent, "not_sent"), (ExchangeFailure::Broken, "broken")];

records! {
    /// A request to send.
    HttpRequest {
        exchange: ExchangeHandle,
        method: &'static str,
        url: Box<str>,
        headers: Vec<(String, String)>,
        body: HttpBody,
        is_stream: bool,
    }
    /// An exchange to give up: close its connection, or reset its stream.
    HttpAbort { exchange: ExchangeHandle }
    /// The server wants authorization, or more of it.
    AuthorizationRequired {
        exchange: ExchangeHandle,
        status: u16,
        challenges: Vec<Box<str>>,
        dpop_nonce: Option<Box<str>>,
        operation: Box<str>,
    }
}

/// The body of a request, which becomes `bytes` when it is read.
pub(crate) struct HttpBody(String);

impl convert::ToPython for HttpBody {
    fn to_python<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(pyo3::types::PyBytes::new(py, self.0.as_bytes()).into_any())
    }
}

/// A client over HTTP. It starts to connect at once: carry out what `poll_transmit` gives.
///
/// `url` is never normalised. `falls_back_to_sse` allows HTTP+SSE of the first revision, `opens_stream` the stream of
/// a session that belongs to no request; with `authorizes`, a 401 or 403 is asked about with `AuthorizationRequired`.
/// The other settings are those of `Client`.
#[pyclass(module = "barewire._native")]
pub(crate) struct HttpClient(Guarded<Transport<Machine>>);

impl Holder for HttpClient {
    type Carrier = Transport<Machine>;

    fn held(&mut self) -> &mut Guarded<Self::Carrier> {
        &mut self.0
    }
}

type Events<'py> = PyResult<Bound<'py, PyList>>;

client_class! {
    HttpClient {
        #[new]
        #[pyo3(signature = (
            *, url, name, version, seed, now, title = None, description = None, website_url = None, icons = None,
            capabilities = None, revisions = None, era = None, limits = None, timeouts = None,
            falls_back_to_sse = true, opens_stream = true, authorizes = false
        ))]
        #[allow(clippy::fn_params_excessive_bools, reason = "they are named in Python")]
        fn new(
            py: Python<'_>,
            url: &str,
            name: &str,
            version: &str,
            seed: &[u8],
            now: u64,
            title: Option<&str>,
            description: Option<&str>,
            website_url: Option<&str>,
            icons: Option<Text<'_>>,
            capabilities: Option<Text<'_>>,
            revisions: Option<Vec<String>>,
            era: Option<&str>,
            limits: Option<&Limits>,
            timeouts: Option<&Timeouts>,
            falls_back_to_sse: bool,
            opens_stream: bool,
            authorizes: bool,
        ) -> PyResult<HttpClient> {
            let who = config::implementation(py, name, version, title, description, website_url, icons)?;
            let mut config = configure(py, who, seed, capabilities, revisions, era, limits, timeouts)?;
            config.http = true;
            let mut http = HttpClientConfig::new(url);
            http.falls_back_to_sse = falls_back_to_sse;
            http.opens_stream = opens_stream;
            http.authorizes = authorizes;
            http.message_bytes = config.limits.message_bytes;
            Guarded::new(|| Transport::new(Machine::new(config, Instant::from_millis(now))?, http))
                .map(HttpClient)
                .map_err(|error| match error {
                    Error::ApiMisuse(ApiMisuse::InvalidDefinition("url")) => {
                        PyValueError::new_err(format!("{url:?} is no URL of http or https"))
                    }
                    error => errors::raised(py, &error),
                })
        }

        /// What to do next, if anything: an `HttpRequest` or an `HttpAbort`.
        fn poll_transmit<'py>(this: &Bound<'py, Self>, now: u64) -> PyResult<Option<Bound<'py, PyAny>>> {
            let py = this.py();
            match with(this, |http| Ok(http.poll_transmit(Instant::from_millis(now))))? {
                Some(HttpTransmit::Request(request)) => {
                    let headers = request.headers.into_iter();
                    let headers = headers.map(|(name, value)| (name.into_owned(), value.into_owned())).collect();
                    let request = HttpRequest {
                        exchange: request.exchange,
                        method: request.method,
                        url: request.url,
                        headers,
                        body: HttpBody(request.body),
                        is_stream: request.is_stream,
                    };
                    Ok(Some(Bound::new(py, request)?.into_any()))
                }
                Some(HttpTransmit::Abort { exchange }) => {
                    Ok(Some(Bound::new(py, HttpAbort { exchange })?.into_any()))
                }
                // `is_finished` tells the end.
                _ => Ok(None),
            }
        }

        /// Take the head of a response.
        #[allow(clippy::needless_pass_by_value, reason = "what is read from Python is owned")]
        fn receive_head<'py>(
            this: &Bound<'py, Self>,
            exchange: u64,
            status: u16,
            headers: Vec<(String, String)>,
            now: u64,
        ) -> Events<'py> {
            let headers: Vec<(&str, &str)> =
                headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
            let exchange = ExchangeHandle::from_number(exchange);
            step(this, |http| http.receive_head(Instant::from_millis(now), exchange, status, &headers))
        }

        /// Take a piece of the body, decoded.
        fn receive_body<'py>(this: &Bound<'py, Self>, exchange: u64, data: &[u8], now: u64) -> Events<'py> {
            let exchange = ExchangeHandle::from_number(exchange);
            step(this, |http| http.receive_body(Instant::from_millis(now), exchange, data))
        }

        /// The response is complete.
        fn receive_end<'py>(this: &Bound<'py, Self>, exchange: u64, now: u64) -> Events<'py> {
            let exchange = ExchangeHandle::from_number(exchange);
            step(this, |http| http.receive_end(Instant::from_millis(now), exchange))
        }

        /// The exchange has failed: `"not_sent"` or `"broken"`. A redirect is a response like any other.
        fn receive_failure<'py>(
            this: &Bound<'py, Self>,
            exchange: u64,
            failure: &str,
            now: u64,
        ) -> Events<'py> {
            let failure = convert::kind_named(&FAILURES, failure)?;
            let exchange = ExchangeHandle::from_number(exchange);
            step(this, |http| http.receive_failure(Instant::from_millis(now), exchange, failure))
        }

        /// Whether to read on in an exchange.
        fn wants_input(this: &Bound<'_, Self>, exchange: u64) -> PyResult<bool> {
            with(this, |http| Ok(http.wants_input(ExchangeHandle::from_number(exchange))))
        }

        /// The next exchange that waits for authorization, if any.
        fn poll_http_event(this: &Bound<'_, Self>) -> PyResult<Option<AuthorizationRequired>> {
            let event = with(this, |http| Ok(http.poll_http_event()))?;
            Ok(match event {
                Some(HttpClientEvent::AuthorizationRequired {
                    exchange,
                    status,
                    challenges,
                    dpop_nonce,
                    operation,
                }) => Some(AuthorizationRequired { exchange, status, challenges, dpop_nonce, operation }),
                _ => None,
            })
        }

        /// There are new credentials: the exchange is sent again, once.
        fn authorized<'py>(this: &Bound<'py, Self>, exchange: u64, now: u64) -> Events<'py> {
            step(this, |http| {
                http.authorized(Instant::from_millis(now), ExchangeHandle::from_number(exchange));
                Ok(())
            })
        }

        /// There are none: what waits for the exchange fails.
        fn unauthorized<'py>(this: &Bound<'py, Self>, exchange: u64, now: u64) -> Events<'py> {
            let exchange = ExchangeHandle::from_number(exchange);
            step(this, |http| http.unauthorized(Instant::from_millis(now), exchange))
        }

        /// Take out the events that commands have caused.
        fn events<'py>(this: &Bound<'py, Self>) -> Events<'py> {
            step(this, |_| Ok(()))
        }

        /// Let time pass.
        fn handle_timeout<'py>(this: &Bound<'py, Self>, now: u64) -> Events<'py> {
            step(this, |http| http.handle_timeout(Instant::from_millis(now)))
        }

        /// When to call `handle_timeout` at the latest, if ever.
        fn poll_timeout(this: &Bound<'_, Self>) -> PyResult<Option<u64>> {
            with(this, |http| Ok(http.poll_timeout().map(Instant::as_millis)))
        }

        /// True when everything is over and nothing is left to be done.
        #[getter]
        fn is_finished(this: &Bound<'_, Self>) -> PyResult<bool> {
            with(this, |http| Ok(http.is_finished()))
        }
    }
}
