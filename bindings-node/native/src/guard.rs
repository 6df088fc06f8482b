//! What every call from JavaScript passes through: one guard against panics, and one way to the machine.

use std::panic::{AssertUnwindSafe, catch_unwind};

use barewire::transport::Stdio;
use barewire::transport::http::client::HttpClient;
use barewire::transport::http::server::HttpServer;
use barewire::{CloseReason, Error, Machine as _, client, server};
use napi::bindgen_prelude::External;
use napi::{Either, Env, JsString};

use crate::batch::{Batch, Remembered, Text, told, told_from};
use crate::errors::{Failure, Outcome as _};
use crate::events::ToRows;
use crate::http_short::Shared;

const POISONED: Error = Error::Closed(CloseReason::Poisoned);

/// A machine and what carries its messages.
#[allow(clippy::large_enum_variant, reason = "there is one for each machine, on the heap")]
pub(crate) enum Carrier {
    Server(Stdio<server::Server>),
    Client(Stdio<client::Client>),
    HttpServer(HttpServer<server::Server>),
    HttpClient(HttpClient<client::Client>),
}

/// What JavaScript holds: a carrier until a panic ends it. From then on every call is answered `Poisoned`.
pub(crate) struct Held {
    carrier: Option<Carrier>,
    remembered: Remembered,
    shared: Shared,
    /// For the next text that is told: memory that is new takes as long to get as to fill.
    memory: String,
}

/// The value that JavaScript holds.
pub(crate) type Handle = External<Held>;

/// JavaScript makes each function of a handle for one kind of carrier only.
fn other_kind() -> Failure {
    Failure::Argument("a handle of another kind".into())
}

impl Held {
    /// The carrier that `make` gives.
    pub(crate) fn open(make: impl FnOnce() -> Result<Carrier, Failure>) -> Either<Handle, String> {
        // A panic in `make` leaves nothing behind that could be used.
        let opened = catch_unwind(AssertUnwindSafe(make)).unwrap_or(Err(POISONED.into()));
        opened
            .map(|carrier| {
                External::new(Held {
                    carrier: Some(carrier),
                    remembered: Remembered::default(),
                    shared: Shared::default(),
                    memory: String::new(),
                })
            })
            .given()
    }

    /// Runs `work` on the carrier.
    pub(crate) fn call<R>(
        &mut self,
        work: impl FnOnce(&mut Carrier) -> Result<R, Failure>,
    ) -> Result<R, Failure> {
        self.call_telling(|carrier, _| work(carrier))
    }

    /// Runs `work` on the carrier, with what JavaScript remembers of what was told.
    pub(crate) fn call_telling<R>(
        &mut self,
        work: impl FnOnce(&mut Carrier, &mut Remembered) -> Result<R, Failure>,
    ) -> Result<R, Failure> {
        let Held { carrier, remembered, .. } = self;
        let present = carrier.as_mut().ok_or(POISONED)?;
        // The carrier is dropped after a panic: nobody sees it half changed.
        catch_unwind(AssertUnwindSafe(|| work(present, remembered))).unwrap_or_else(|_| {
            *carrier = None;
            Err(POISONED.into())
        })
    }

    /// Runs `work` on the server, whatever carries its messages.
    pub(crate) fn server<R>(
        &mut self,
        work: impl FnOnce(&mut server::Server) -> Result<R, Error>,
    ) -> Result<R, Failure> {
        self.call(|carrier| match carrier {
            Carrier::Server(stdio) => Ok(work(stdio.machine_mut())?),
            Carrier::HttpServer(http) => Ok(work(http.machine_mut())?),
            _ => Err(other_kind()),
        })
    }

    /// Runs `work` on the client, whatever carries its messages.
    pub(crate) fn client<R>(
        &mut self,
        work: impl FnOnce(&mut client::Client) -> Result<R, Error>,
    ) -> Result<R, Failure> {
        self.call(|carrier| match carrier {
            Carrier::Client(stdio) => Ok(work(stdio.machine_mut())?),
            Carrier::HttpClient(http) => Ok(work(http.machine_mut())?),
            _ => Err(other_kind()),
        })
    }

    /// Runs `work` on a server behind HTTP.
    pub(crate) fn http_server<R>(
        &mut self,
        work: impl FnOnce(&mut HttpServer<server::Server>) -> R,
    ) -> Result<R, Failure> {
        self.call(|carrier| Ok(work(carrier.http_server()?)))
    }

    /// Runs `work` on a server behind HTTP, with what JavaScript remembers of requests and responses.
    pub(crate) fn http_server_telling<R>(
        &mut self,
        work: impl FnOnce(&mut HttpServer<server::Server>, &mut Shared) -> Result<R, Failure>,
    ) -> Result<R, Failure> {
        let mut shared = std::mem::take(&mut self.shared);
        let outcome = self.call(|carrier| work(carrier.http_server()?, &mut shared));
        self.shared = shared;
        outcome
    }

    /// Runs `work` on a client over HTTP.
    pub(crate) fn http_client<R>(
        &mut self,
        work: impl FnOnce(&mut HttpClient<client::Client>) -> R,
    ) -> Result<R, Failure> {
        self.call(|carrier| Ok(work(carrier.http_client()?)))
    }

    /// Runs a verb that takes something in, and tells all events that are there then.
    ///
    /// A fatal end is told by the last event; it is an error only if there is no event left to tell it.
    pub(crate) fn step(&mut self, verb: impl FnOnce(&mut Carrier) -> Result<(), Failure>) -> Text {
        told(self.step_within(String::new(), verb))
    }

    /// As [`step`](Self::step), for what happens most: with memory that is kept.
    pub(crate) fn frequent_step<'env>(
        &mut self,
        env: &'env Env,
        verb: impl FnOnce(&mut Carrier) -> Result<(), Failure>,
    ) -> napi::Result<JsString<'env>> {
        let memory = std::mem::take(&mut self.memory);
        let outcome = self.step_within(memory, verb);
        told_from(&mut self.memory, env, outcome)
    }

    fn step_within(
        &mut self,
        memory: String,
        verb: impl FnOnce(&mut Carrier) -> Result<(), Failure>,
    ) -> Result<String, Failure> {
        self.call_telling(|carrier, remembered| {
            let outcome = verb(carrier);
            let mut batch = Batch::within(memory);
            carrier.tell_events_of_stream(&mut batch, remembered);
            let text = batch.into_text();
            if text.is_empty() { outcome.map(|()| text) } else { Ok(text) }
        })
    }

    /// As [`step`](Self::step), for a verb of a server behind HTTP, none of which fails.
    pub(crate) fn http_step(&mut self, verb: impl FnOnce(&mut HttpServer<server::Server>)) -> Text {
        self.step(|carrier| {
            verb(carrier.http_server()?);
            Ok(())
        })
    }

    /// As [`step`](Self::step), for a verb of a client over HTTP.
    pub(crate) fn http_client_step(
        &mut self,
        verb: impl FnOnce(&mut HttpClient<client::Client>) -> Result<(), Error>,
    ) -> Text {
        self.step(|carrier| Ok(verb(carrier.http_client()?)?))
    }
}

impl Carrier {
    /// The server behind HTTP that it is.
    pub(crate) fn http_server(&mut self) -> Result<&mut HttpServer<server::Server>, Failure> {
        match self {
            Carrier::HttpServer(http) => Ok(http),
            _ => Err(other_kind()),
        }
    }

    fn http_client(&mut self) -> Result<&mut HttpClient<client::Client>, Failure> {
        match self {
            Carrier::HttpClient(http) => Ok(http),
            _ => Err(other_kind()),
        }
    }

    /// As [`tell_events`](Self::tell_events). Requests on a byte stream come from one client, of which most is told once.
    pub(crate) fn tell_events_of_stream(&mut self, batch: &mut Batch, remembered: &mut Remembered) {
        if matches!(self, Carrier::Server(_)) {
            batch.with_remembered(remembered, |batch| self.tell_events(batch));
        } else {
            self.tell_events(batch);
        }
    }

    /// Writes all events that are there.
    pub(crate) fn tell_events(&mut self, batch: &mut Batch) {
        match self {
            Carrier::Server(stdio) => tell(batch, || stdio.machine_mut().poll_event()),
            Carrier::Client(stdio) => tell(batch, || stdio.machine_mut().poll_event()),
            Carrier::HttpClient(http) => {
                tell(batch, || http.machine_mut().poll_event());
                tell(batch, || http.poll_http_event());
            }
            Carrier::HttpServer(http) => {
                tell(batch, || http.machine_mut().poll_event());
                tell(batch, || http.poll_http_event());
            }
        }
    }
}

/// Writes the events that `poll` gives.
pub(crate) fn tell<E: ToRows>(batch: &mut Batch, mut poll: impl FnMut() -> Option<E>) {
    while let Some(event) = poll() {
        event.write(batch);
    }
}
