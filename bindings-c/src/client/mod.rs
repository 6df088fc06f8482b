//! Clients: life and time, byte streams, events.

mod commands;
mod config;
#[cfg(feature = "http")]
mod http;

pub use commands::*;
pub use config::*;
#[cfg(feature = "http")]
pub use http::*;

use alloc::boxed::Box;
use core::mem::MaybeUninit;

use barewire::client::Client;
use barewire::transport::Stdio;
#[cfg(feature = "http")]
use barewire::transport::http::client::HttpClient;
use barewire::{EraVerdict, Instant, Machine as _};

use crate::bytes::{bw_bytes, place};
use crate::event::bw_event;
use crate::guard::{Held, free, status};
use crate::status::{Failure, bw_status, status_of};
use crate::values::{self, BW_NEVER};

/// A client of the protocol: of one server, on a byte stream or over HTTP.
///
/// Whoever made it with `bw_client_new` or `bw_client_http_new` frees it with `bw_client_free`. It may be used by any
/// thread, by one at a time; different clients have nothing in common.
///
/// It does no I/O and reads no clock: times are milliseconds from any fixed origin of the caller's choice, and an earlier
/// time than before counts as the latest seen. Any function may be called at any time. All answer
/// BW_ERROR_NULL_ARGUMENT for NULL, BW_ERROR_NOT_UTF8 for a text that is not UTF-8 and, once a defect of the library was
/// caught, BW_ERROR_POISONED.
pub struct bw_client {
    held: Held<Carrier>,
    #[cfg(feature = "http")]
    transmit: http::Transmit,
}

/// A client and what carries its messages.
#[allow(clippy::large_enum_variant, reason = "there is one for each client, on the heap")]
enum Carrier {
    Stream(Stdio<Client>),
    #[cfg(feature = "http")]
    Http(HttpClient<Client>),
}

impl Carrier {
    fn machine(&mut self) -> &mut Client {
        match self {
            Carrier::Stream(stdio) => stdio.machine_mut(),
            #[cfg(feature = "http")]
            Carrier::Http(http) => http.machine_mut(),
        }
    }

    fn stream(&mut self) -> Result<&mut Stdio<Client>, Failure> {
        match self {
            Carrier::Stream(stdio) => Ok(stdio),
            #[cfg(feature = "http")]
            Carrier::Http(_) => Err(Failure::WRONG_TRANSPORT),
        }
    }

    fn poll_event(&mut self) -> Option<bw_event> {
        if let Some(event) = self.machine().poll_event() {
            return Some(bw_event::of_client(event));
        }
        match self {
            Carrier::Stream(_) => None,
            #[cfg(feature = "http")]
            Carrier::Http(http) => http.poll_http_event().map(bw_event::of_http_client),
        }
    }
}

impl bw_client {
    fn open(carrier: Carrier) -> Box<bw_client> {
        Box::new(bw_client {
            held: Held::new(carrier),
            #[cfg(feature = "http")]
            transmit: http::Transmit::default(),
        })
    }
}

/// Runs a command on the client, whatever carries its messages.
fn command<R>(
    client: Option<&mut bw_client>,
    work: impl FnOnce(&mut Client) -> Result<R, Failure>,
) -> Result<R, Failure> {
    client.ok_or(Failure::NULL)?.held.run(|carrier| work(carrier.machine()))
}

/// As [`command`], for those that give nothing.
fn run(client: Option<&mut bw_client>, work: impl FnOnce(&mut Client) -> Result<(), Failure>) -> bw_status {
    status_of(command(client, work))
}

/// As [`command`], for those that give a value at `out`, which has to be there.
fn give<T>(
    client: Option<&mut bw_client>,
    out: Option<&mut MaybeUninit<T>>,
    work: impl FnOnce(&mut Client) -> Result<T, Failure>,
) -> bw_status {
    run(client, |machine| {
        let out = place(out)?;
        out.write(work(machine)?);
        Ok(())
    })
}

/// Runs `work` on a client behind a byte stream.
fn on_stream(
    client: Option<&mut bw_client>,
    work: impl FnOnce(&mut Stdio<Client>) -> Result<(), Failure>,
) -> bw_status {
    let outcome =
        client.ok_or(Failure::NULL).and_then(|client| client.held.run(|carrier| work(carrier.stream()?)));
    status_of(outcome)
}

/// Makes a client on a byte stream: the pipes of a child process, a socket, a serial line. It starts to connect at once:
/// the probe or handshake waits to be sent.
///
/// The caller frees `*client` with `bw_client_free`; `config` stays the caller's. BW_ERROR_NO_COMMON_REVISION if it allows
/// no revision.
#[unsafe(no_mangle)]
pub extern "C" fn bw_client_new(
    config: Option<&bw_client_config>,
    now: u64,
    client: Option<&mut MaybeUninit<Option<Box<bw_client>>>>,
) -> bw_status {
    status(|| {
        let (config, client) = (config.ok_or(Failure::NULL)?, place(client)?);
        let machine = Client::new(config.machine.clone(), Instant::from_millis(now))?;
        client.write(Some(bw_client::open(Carrier::Stream(Stdio::new(machine)))));
        Ok(())
    })
}

/// Frees a client, with its event and all that it has lent. NULL is nothing to free.
#[unsafe(no_mangle)]
pub extern "C" fn bw_client_free(client: Option<Box<bw_client>>) {
    free(client);
}

/// What was wrong with the last call on this handle that failed, for people; an empty text if none has. Good until the
/// next call that takes the handle as one that is not const.
#[unsafe(no_mangle)]
pub extern "C" fn bw_client_error_message(client: Option<&bw_client>) -> bw_bytes {
    client.map_or(bw_bytes::NONE, |client| bw_bytes::text_of(client.held.message()))
}

/// The next thing that the application should know, in order; NULL if there is none for now. The event belongs to the
/// client and is good until the next call of this function on it.
///
/// Poll until NULL after each function that takes something in. Events are never lost by polling late, but hold what
/// arrived in memory.
#[unsafe(no_mangle)]
pub extern "C" fn bw_client_poll_event(client: Option<&mut bw_client>) -> *const bw_event {
    client.map_or(core::ptr::null(), |client| client.held.poll_event(Carrier::poll_event))
}

/// When to call `bw_client_handle_timeout` at the latest; BW_NEVER if nothing is due.
#[unsafe(no_mangle)]
pub extern "C" fn bw_client_poll_timeout(client: Option<&mut bw_client>) -> u64 {
    let due = client.and_then(|client| {
        client.held.look(None, |carrier| match carrier {
            Carrier::Stream(stdio) => stdio.machine().poll_timeout(),
            #[cfg(feature = "http")]
            Carrier::Http(http) => http.poll_timeout(),
        })
    });
    due.map_or(BW_NEVER, Instant::as_millis)
}

/// Lets time pass. Harmless when nothing is due. The errors are fatal ends; their events are still to be polled.
#[unsafe(no_mangle)]
pub extern "C" fn bw_client_handle_timeout(client: Option<&mut bw_client>, now: u64) -> bw_status {
    let now = Instant::from_millis(now);
    let outcome = client.ok_or(Failure::NULL).and_then(|client| {
        client.held.run(|carrier| {
            match carrier {
                Carrier::Stream(stdio) => stdio.machine_mut().handle_timeout(now),
                #[cfg(feature = "http")]
                Carrier::Http(http) => http.handle_timeout(now)?,
            }
            Ok(())
        })
    });
    status_of(outcome)
}

/// Ends the connection in order: what is in flight fails with BW_ERROR_CONNECTION_LOST, questions are withdrawn,
/// DISCONNECTED follows.
#[unsafe(no_mangle)]
pub extern "C" fn bw_client_close(client: Option<&mut bw_client>) -> bw_status {
    run(client, |machine| {
        machine.close();
        Ok(())
    })
}

/// Byte stream: takes bytes that were read, cut anywhere. `data` is read during the call only.
///
/// Faulty input is no error; it is answered, or reported as an event. The errors are fatal ends; their events are still to
/// be polled.
#[unsafe(no_mangle)]
pub extern "C" fn bw_client_receive_data(
    client: Option<&mut bw_client>,
    now: u64,
    data: bw_bytes,
) -> bw_status {
    on_stream(client, |stdio| Ok(stdio.receive_data(Instant::from_millis(now), data.bytes()?)?))
}

/// Byte stream: the server closed its side. RESTART_REQUIRED or DISCONNECTED follows.
#[unsafe(no_mangle)]
pub extern "C" fn bw_client_receive_eof(client: Option<&mut bw_client>, now: u64) -> bw_status {
    on_stream(client, |stdio| Ok(stdio.receive_eof(Instant::from_millis(now))?))
}

/// Byte stream: the transport broke; nothing can be sent or received any more. DISCONNECTED follows.
#[unsafe(no_mangle)]
pub extern "C" fn bw_client_connection_lost(client: Option<&mut bw_client>, now: u64) -> bw_status {
    on_stream(client, |stdio| Ok(stdio.connection_lost(Instant::from_millis(now))?))
}

/// Byte stream: the server was started afresh, as RESTART_REQUIRED asked. What was half read or half sent belonged to the
/// old one and is dropped; queued requests are kept.
#[unsafe(no_mangle)]
pub extern "C" fn bw_client_restart(client: Option<&mut bw_client>, now: u64) -> bw_status {
    on_stream(client, |stdio| Ok(stdio.restart(Instant::from_millis(now))?))
}

/// Byte stream: the bytes to send next, possibly not all there are; length 0 if there are none for now. They are lent
/// without a copy and good until the next call that takes the handle as one that is not const. Mark what was written with
/// `bw_client_consume`, and ask again until there are none.
#[unsafe(no_mangle)]
pub extern "C" fn bw_client_data_to_send(client: Option<&mut bw_client>) -> bw_bytes {
    let Some(client) = client else { return bw_bytes::NONE };
    let data = client.held.run(|carrier| Ok(bw_bytes::of(carrier.stream()?.data_to_send())));
    data.unwrap_or(bw_bytes::NONE)
}

/// Byte stream: marks the first `count` bytes of `bw_client_data_to_send` as sent; more than there are count as all.
#[unsafe(no_mangle)]
pub extern "C" fn bw_client_consume(client: Option<&mut bw_client>, count: usize) -> bw_status {
    on_stream(client, |stdio| {
        stdio.consume(count);
        Ok(())
    })
}

/// Whether the host should go on reading: false while too much waits to be polled or sent. Over HTTP,
/// `bw_client_http_wants_input` says it for one exchange.
#[unsafe(no_mangle)]
pub extern "C" fn bw_client_wants_input(client: Option<&mut bw_client>) -> bool {
    client.is_some_and(|client| {
        client.held.look(false, |carrier| match carrier {
            Carrier::Stream(stdio) => stdio.wants_input(),
            #[cfg(feature = "http")]
            Carrier::Http(http) => http.machine().wants_input(),
        })
    })
}

/// Whether the client is done and everything was sent: on a byte stream, close our side. True as well for NULL and for a
/// poisoned handle, with which nothing can be done.
#[unsafe(no_mangle)]
pub extern "C" fn bw_client_is_finished(client: Option<&mut bw_client>) -> bool {
    client.is_none_or(|client| {
        client.held.look(true, |carrier| match carrier {
            // The machine says that it is done in the order of what it sends.
            Carrier::Stream(stdio) => stdio.data_to_send().is_empty() && stdio.is_finished(),
            #[cfg(feature = "http")]
            Carrier::Http(http) => http.is_finished(),
        })
    })
}

/// The revision in use, a number of `bw_revision`; 0 while it is not settled.
#[unsafe(no_mangle)]
pub extern "C" fn bw_client_revision(client: Option<&mut bw_client>) -> i32 {
    values::revision_number(
        client.and_then(|client| client.held.look(None, |carrier| carrier.machine().revision())),
    )
}

/// Whether the server declared a capability, a number of `bw_capability`; false while that is not known.
#[unsafe(no_mangle)]
pub extern "C" fn bw_client_server_has_capability(client: Option<&mut bw_client>, capability: i32) -> bool {
    let declared = command(client, |machine| {
        let capability = values::capability(capability)?;
        Ok(machine.server_capabilities().is_some_and(|declared| declared.has(capability)))
    });
    declared.unwrap_or(false)
}

/// What to store so that the next client of this server skips the probe: see `bw_client_config_set_era_verdict`. Nothing
/// while it is not known. Good until the next call of this function on the handle.
#[unsafe(no_mangle)]
pub extern "C" fn bw_client_era_verdict(client: Option<&mut bw_client>) -> bw_bytes {
    let Some(client) = client else { return bw_bytes::NONE };
    let verdict = client.held.look(None, |carrier| carrier.machine().era_verdict().map(EraVerdict::to_text));
    verdict.map_or(bw_bytes::NONE, |text| bw_bytes::text_of(client.held.keep_text(text)))
}
