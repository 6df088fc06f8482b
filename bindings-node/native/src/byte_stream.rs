//! Clients and servers behind newline framing.

use barewire::server::Server;
use barewire::transport::Stdio;
use barewire::{Error, Instant, Machine, client};
use napi::bindgen_prelude::{BufferSlice, Either3, Uint8Array};
use napi::{Either, Env, JsString};
use napi_derive::napi;

use crate::batch::{Batch, Text, told};
use crate::config;
use crate::errors::{Failure, Outcome as _};
use crate::guard::{Carrier, Handle, Held};
use crate::names::{instant, milliseconds};

/// A server behind newline framing.
#[napi]
#[allow(clippy::needless_pass_by_value, reason = "strings of JavaScript are owned")]
pub(crate) fn open_server(settings: String, seed: &[u8], keys: &[u8]) -> Either<Handle, String> {
    Held::open(|| {
        let config = config::server(&settings, seed, keys)?;
        Ok(Carrier::Server(Stdio::new(Server::new(config)?)))
    })
}

/// A client behind newline framing.
#[napi]
#[allow(clippy::needless_pass_by_value, reason = "strings of JavaScript are owned")]
pub(crate) fn open_client(settings: String, seed: &[u8], now: i64) -> Either<Handle, String> {
    Held::open(|| {
        let config = config::client(&settings, seed)?;
        Ok(Carrier::Client(Stdio::new(client::Client::new(config, instant(now))?)))
    })
}

/// A verb that both roles have.
macro_rules! on_stream {
    ($carrier:expr, $stdio:ident => $verb:expr) => {
        match $carrier {
            Carrier::Server($stdio) => $verb,
            Carrier::Client($stdio) => $verb,
            _ => Err(Failure::Argument("not a byte stream".into())),
        }
    };
}

fn done(outcome: Result<(), Error>) -> Result<(), Failure> {
    outcome.map_err(Failure::Core)
}

/// Takes bytes that were read, cut anywhere; tells the events.
#[napi]
pub(crate) fn receive_data<'env>(
    env: &'env Env,
    this: &mut Handle,
    data: &[u8],
    now: i64,
) -> napi::Result<JsString<'env>> {
    this.frequent_step(
        env,
        |carrier| on_stream!(carrier, stdio => done(stdio.receive_data(instant(now), data))),
    )
}

/// The peer closed its side.
#[napi]
pub(crate) fn receive_eof(this: &mut Handle, now: i64) -> Text {
    this.step(|carrier| on_stream!(carrier, stdio => done(stdio.receive_eof(instant(now)))))
}

/// The transport broke.
#[napi]
pub(crate) fn connection_lost(this: &mut Handle, now: i64) -> Text {
    this.step(|carrier| on_stream!(carrier, stdio => done(stdio.connection_lost(instant(now)))))
}

/// The peer was started afresh.
#[napi]
pub(crate) fn restart(this: &mut Handle, now: i64) -> Text {
    this.step(|carrier| on_stream!(carrier, stdio => done(stdio.restart(instant(now)))))
}

/// Takes out all bytes that wait to be sent: into `pool` after the first `used` bytes, and then their number is given; or
/// where there is too little room, as an array of their own.
#[napi]
pub(crate) fn data_to_send(
    this: &mut Handle,
    mut pool: BufferSlice<'_>,
    used: u32,
) -> Either3<u32, Uint8Array, String> {
    let room = pool.get_mut(used as usize..).unwrap_or_default();
    let taken = this.call(|carrier| on_stream!(carrier, stdio => Ok(take(stdio, room))));
    match taken {
        Ok(Either::A(count)) => Either3::A(count),
        Ok(Either::B(bytes)) => Either3::B(bytes.into()),
        Err(failure) => Either3::C(failure.row().to_string()),
    }
}

fn take<M: Machine>(stdio: &mut Stdio<M>, room: &mut [u8]) -> Either<u32, Vec<u8>> {
    let mut count = 0;
    // The machine hands out its messages in portions.
    loop {
        let portion = stdio.data_to_send();
        let length = portion.len();
        if length == 0 {
            return Either::A(u32::try_from(count).unwrap_or(u32::MAX));
        }
        let Some(place) = room.get_mut(count..count + length) else { break };
        place.copy_from_slice(portion);
        stdio.consume(length);
        count += length;
    }
    let mut all = room[..count].to_vec();
    loop {
        let portion = stdio.data_to_send();
        let length = portion.len();
        if length == 0 {
            return Either::B(all);
        }
        all.extend_from_slice(portion);
        stdio.consume(length);
    }
}

/// What a host does at the end of each of its turns, in one call: takes out what waits to be sent, as [`data_to_send`]
/// does, unless `used` is below zero, and the events, and asks how to go on.
///
/// The head of the pool, two doubles, tells, first, when to call `handle_timeout` at the latest, -1 for never; then four
/// times the number of bytes that were put into the pool, plus one if the host should go on reading, and plus two if
/// everything is over. What comes back is nothing; or the events; or an array of the bytes, for which the pool had too
/// little room. After either of the latter there may be more events.
#[napi]
pub(crate) fn turn(
    this: &mut Handle,
    mut pool: BufferSlice<'_>,
    used: i32,
) -> Either<Text, Option<Uint8Array>> {
    let outcome = this.call_telling(|carrier, remembered| {
        let room = usize::try_from(used).ok().map(|used| pool.get_mut(used..).unwrap_or_default());
        let taken = match room {
            Some(room) => on_stream!(carrier, stdio => Ok(take(stdio, room)))?,
            None => Either::A(0),
        };
        let mut events = Batch::default();
        let (count, bytes) = match taken {
            Either::A(count) => {
                carrier.tell_events_of_stream(&mut events, remembered);
                (count, None)
            }
            Either::B(bytes) => (0, Some(bytes)),
        };
        let (due, flags) = on_stream!(carrier, stdio => Ok(rest(stdio)))?;
        tell_numbers(&mut pool, [due, f64::from(count) * 4.0 + flags]);
        Ok((events.into_text(), bytes))
    });
    match outcome {
        Ok((events, bytes)) if events.is_empty() => Either::B(bytes.map(Uint8Array::from)),
        outcome => Either::A(told(outcome.map(|(events, _)| events))),
    }
}

/// When to call `handle_timeout`, and whether to read on and whether everything is over, as [`turn`] tells them.
fn rest<M: Machine>(stdio: &mut Stdio<M>) -> (f64, f64) {
    let due = due(stdio.machine().poll_timeout());
    let reads = if stdio.wants_input() { 1.0 } else { 0.0 };
    let is_over = stdio.data_to_send().is_empty() && stdio.is_finished();
    (due, reads + if is_over { 2.0 } else { 0.0 })
}

/// A point in time as a double; -1 for never.
#[allow(clippy::cast_precision_loss, reason = "milliseconds stay far below")]
pub(crate) fn due(at: Option<Instant>) -> f64 {
    milliseconds(at) as f64
}

/// Writes numbers to the head of a pool, or to other places that JavaScript looks at as doubles.
pub(crate) fn tell_numbers<const N: usize>(places: &mut [u8], numbers: [f64; N]) {
    for (place, number) in places.chunks_exact_mut(size_of::<f64>()).zip(numbers) {
        place.copy_from_slice(&number.to_ne_bytes());
    }
}

/// Whether the host should go on reading.
#[napi]
pub(crate) fn wants_input(this: &mut Handle) -> Either<bool, String> {
    this.call(|carrier| on_stream!(carrier, stdio => Ok(stdio.wants_input()))).given()
}

/// Whether everything is over and nothing is left to be done.
#[napi]
pub(crate) fn is_finished(this: &mut Handle) -> Either<bool, String> {
    let finished = this.call(|carrier| match carrier {
        Carrier::HttpClient(http) => Ok(http.is_finished()),
        // The machine says that it is done in the order of what it sends.
        carrier => on_stream!(carrier, stdio => Ok(stdio.data_to_send().is_empty() && stdio.is_finished())),
    });
    finished.given()
}

/// Takes out the events that commands have caused.
#[napi]
pub(crate) fn events(this: &mut Handle) -> Text {
    this.step(|_| Ok(()))
}

/// Lets time pass.
#[napi]
pub(crate) fn handle_timeout(this: &mut Handle, now: i64) -> Text {
    fn pass<M: Machine>(stdio: &mut Stdio<M>, now: Instant) {
        stdio.machine_mut().handle_timeout(now);
    }
    this.step(|carrier| {
        match carrier {
            Carrier::Server(stdio) => pass(stdio, instant(now)),
            Carrier::Client(stdio) => pass(stdio, instant(now)),
            Carrier::HttpServer(http) => http.handle_timeout(instant(now)),
            Carrier::HttpClient(http) => http.handle_timeout(instant(now))?,
        }
        Ok(())
    })
}

/// When to call `handle_timeout` at the latest; -1 for never.
#[napi]
pub(crate) fn poll_timeout(this: &mut Handle) -> Either<i64, String> {
    let due = this.call(|carrier| {
        Ok(match carrier {
            Carrier::Server(stdio) => stdio.machine().poll_timeout(),
            Carrier::Client(stdio) => stdio.machine().poll_timeout(),
            Carrier::HttpServer(http) => http.poll_timeout(),
            Carrier::HttpClient(http) => http.poll_timeout(),
        })
    });
    due.map(milliseconds).given()
}

/// Ends the connection in order.
#[napi]
pub(crate) fn close(this: &mut Handle) -> Option<String> {
    let closed = this.call(|carrier| {
        match carrier {
            Carrier::Server(stdio) => stdio.machine_mut().close(),
            Carrier::Client(stdio) => stdio.machine_mut().close(),
            Carrier::HttpServer(http) => http.machine_mut().close(),
            Carrier::HttpClient(http) => http.machine_mut().close(),
        }
        Ok(())
    });
    closed.done()
}

/// Fails inside the machine, so that tests can see what a defect does to a handle.
#[napi]
#[allow(clippy::panic, reason = "what it is for")]
pub(crate) fn fail_inside(this: &mut Handle) -> Option<String> {
    this.call::<()>(|_| panic!("a defect on purpose")).done()
}
