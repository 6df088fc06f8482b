//! Clients over HTTP.

use barewire::client::Client;
use barewire::transport::http::client::{HttpClient, HttpTransmit};
use barewire::{ApiMisuse, Error};
use napi::Either;
use napi_derive::napi;

use crate::batch::{Batch, Text, told};
use crate::config;
use crate::errors::{Failure, Outcome as _};
use crate::guard::{Carrier, Handle, Held};
use crate::http_server::with_headers;
use crate::names::{EXCHANGE_FAILURES, exchange as handle, instant, kind_named};

/// The kinds of rows that [`poll_transmit`] gives.
const REQUEST: u8 = 0;
const ABORT: u8 = 1;

/// A client over HTTP.
#[napi]
#[allow(clippy::needless_pass_by_value, reason = "strings of JavaScript are owned")]
pub(crate) fn open_http_client(
    settings: String,
    http: String,
    seed: &[u8],
    now: i64,
) -> Either<Handle, String> {
    Held::open(|| {
        let mut config = config::client(&settings, seed)?;
        let http = config::http_client(&http, &mut config)?;
        let url = http.url.clone();
        let machine = Client::new(config, instant(now))?;
        HttpClient::new(machine, http).map(Carrier::HttpClient).map_err(|error| match error {
            Error::ApiMisuse(ApiMisuse::InvalidDefinition("url")) => {
                Failure::Argument(format!("{url:?} is no URL of http or https"))
            }
            error => error.into(),
        })
    })
}

/// What to do next, as a batch of one row at most.
#[napi]
pub(crate) fn poll_transmit(this: &mut Handle, now: i64) -> Text {
    told(this.http_client(|http| {
        let mut batch = Batch::default();
        match http.poll_transmit(instant(now)) {
            Some(HttpTransmit::Request(request)) => batch.row(REQUEST, |row| {
                row.number(request.exchange.number());
                row.string(request.method);
                row.string(&request.url);
                row.array(|row| {
                    for (name, value) in &request.headers {
                        row.string(name);
                        row.string(value);
                    }
                });
                row.piece(&request.body);
                row.boolean(request.is_stream);
            }),
            Some(HttpTransmit::Abort { exchange }) => {
                batch.row(ABORT, |row| row.number(exchange.number()));
            }
            // `is_finished` tells the end.
            _ => {}
        }
        batch.into_text()
    }))
}

/// Takes the head of a response.
#[napi]
#[allow(clippy::needless_pass_by_value, reason = "strings of JavaScript are owned")]
pub(crate) fn receive_head(this: &mut Handle, exchange: i64, status: u16, headers: String, now: i64) -> Text {
    with_headers(&headers, |headers| {
        this.http_client_step(|http| http.receive_head(instant(now), handle(exchange), status, headers))
    })
}

/// Takes a piece of the body, decoded.
#[napi]
pub(crate) fn receive_response_body(this: &mut Handle, exchange: i64, data: &[u8], now: i64) -> Text {
    this.http_client_step(|http| http.receive_body(instant(now), handle(exchange), data))
}

/// The response is complete.
#[napi]
pub(crate) fn receive_response_end(this: &mut Handle, exchange: i64, now: i64) -> Text {
    this.http_client_step(|http| http.receive_end(instant(now), handle(exchange)))
}

/// The exchange has failed.
#[napi]
#[allow(clippy::needless_pass_by_value, reason = "strings of JavaScript are owned")]
pub(crate) fn receive_failure(this: &mut Handle, exchange: i64, failure: String, now: i64) -> Text {
    match kind_named(&EXCHANGE_FAILURES, &failure) {
        Ok(failure) => {
            this.http_client_step(|http| http.receive_failure(instant(now), handle(exchange), failure))
        }
        Err(failure) => told(Err(failure)),
    }
}

/// Whether to read on in an exchange.
#[napi]
pub(crate) fn wants_input_of(this: &mut Handle, exchange: i64) -> Either<bool, String> {
    this.http_client(|http| http.wants_input(handle(exchange))).given()
}

/// There are new credentials.
#[napi]
pub(crate) fn authorized(this: &mut Handle, exchange: i64, now: i64) -> Text {
    this.http_client_step(|http| {
        http.authorized(instant(now), handle(exchange));
        Ok(())
    })
}

/// There are none.
#[napi]
pub(crate) fn unauthorized(this: &mut Handle, exchange: i64, now: i64) -> Text {
    this.http_client_step(|http| http.unauthorized(instant(now), handle(exchange)))
}
