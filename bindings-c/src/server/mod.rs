//! Servers: life and time, byte streams, events.

mod catalog;
mod commands;
mod config;
#[cfg(feature = "http")]
mod http;
mod results;

pub use catalog::*;
pub use commands::*;
pub use config::*;
#[cfg(feature = "http")]
pub use http::*;
pub use results::*;

use alloc::boxed::Box;
use core::mem::MaybeUninit;

use barewire::server::Server;
use barewire::transport::Stdio;
#[cfg(feature = "http")]
use barewire::transport::http::server::HttpServer;
use barewire::{Instant, Machine as _, Step};

use crate::bytes::{bw_bytes, place};
use crate::event::bw_event;
use crate::guard::{Held, free, status};
use crate::room;
use crate::status::{Failure, bw_status, status_of};
use crate::values::BW_NEVER;

/// A server of the protocol: one client on a byte stream, or many on HTTP.
///
/// Whoever made it with `bw_server_new` or `bw_server_http_new` frees it with `bw_server_free`. It may be used by any
/// thread, by one at a time; different servers have nothing in common.
///
/// It does no I/O and reads no clock: times are milliseconds from any fixed origin of the caller's choice, and an earlier
/// time than before counts as the latest seen. Any function may be called at any time. All answer
/// BW_ERROR_NULL_ARGUMENT for NULL, BW_ERROR_NOT_UTF8 for a text that is not UTF-8 and, once a defect of the library was
/// caught, BW_ERROR_POISONED.
pub struct bw_server {
    held: Held<Carrier>,
    #[cfg(feature = "http")]
    response: http::Response,
}

/// A server and what carries its messages.
#[allow(clippy::large_enum_variant, reason = "there is one for each server, on the heap")]
enum Carrier {
    Stream(Stdio<Server>),
    #[cfg(feature = "http")]
    Http(HttpServer<Server>),
}

/// What a server holds from the beginning, beside itself and the texts of its configuration.
const STARTING: usize = 1_024;

/// How many times it holds those texts at most, or while it is made.
const TEXTS: usize = 5;

impl Carrier {
    fn machine(&mut self) -> &mut Server {
        match self {
            Carrier::Stream(stdio) => stdio.machine_mut(),
            #[cfg(feature = "http")]
            Carrier::Http(http) => http.machine_mut(),
        }
    }

    fn stream(&mut self) -> Result<&mut Stdio<Server>, Failure> {
        match self {
            Carrier::Stream(stdio) => Ok(stdio),
            #[cfg(feature = "http")]
            Carrier::Http(_) => Err(Failure::WRONG_TRANSPORT),
        }
    }

    fn poll_event(&mut self) -> Option<bw_event> {
        if let Some(event) = self.machine().poll_event() {
            return Some(bw_event::of_server(event));
        }
        match self {
            Carrier::Stream(_) => None,
            #[cfg(feature = "http")]
            Carrier::Http(http) => http.poll_http_event().map(bw_event::of_http_server),
        }
    }
}

impl bw_server {
    fn open(carrier: Carrier) -> Box<bw_server> {
        Box::new(bw_server {
            held: Held::new(carrier),
            #[cfg(feature = "http")]
            response: http::Response::default(),
        })
    }
}

/// Runs a command on the server, whatever carries its messages, if there is room for it.
fn command<R>(
    server: Option<&mut bw_server>,
    step: Step<'_>,
    work: impl FnOnce(&mut Server) -> Result<R, Failure>,
) -> Result<R, Failure> {
    server.ok_or(Failure::NULL)?.held.run(|carrier| {
        let machine = carrier.machine();
        room::check_step(machine, step)?;
        work(machine)
    })
}

/// As [`command`], for those that give nothing.
fn run(
    server: Option<&mut bw_server>,
    step: Step<'_>,
    work: impl FnOnce(&mut Server) -> Result<(), Failure>,
) -> bw_status {
    status_of(command(server, step, work))
}

/// As [`command`], for those that give a value at `out`, which has to be there.
fn give<T>(
    server: Option<&mut bw_server>,
    out: Option<&mut MaybeUninit<T>>,
    step: Step<'_>,
    work: impl FnOnce(&mut Server) -> Result<T, Failure>,
) -> bw_status {
    run(server, step, |machine| {
        let out = place(out)?;
        out.write(work(machine)?);
        Ok(())
    })
}

/// Runs `work` on a server behind a byte stream.
fn on_stream(
    server: Option<&mut bw_server>,
    work: impl FnOnce(&mut Stdio<Server>) -> Result<(), Failure>,
) -> bw_status {
    let outcome =
        server.ok_or(Failure::NULL).and_then(|server| server.held.run(|carrier| work(carrier.stream()?)));
    status_of(outcome)
}

/// Makes a server for one client on a byte stream: standard input and output, a socket, a serial line.
///
/// The caller frees `*server` with `bw_server_free`; `config` stays the caller's. BW_ERROR_NO_COMMON_REVISION if it serves
/// no revision, BW_ERROR_INVALID_DEFINITION if an extension is not named `prefix/name`.
#[unsafe(no_mangle)]
pub extern "C" fn bw_server_new(
    config: Option<&bw_server_config>,
    server: Option<&mut MaybeUninit<Option<Box<bw_server>>>>,
) -> bw_status {
    status(|| {
        let (config, server) = (config.ok_or(Failure::NULL)?, place(server)?);
        let texts = TEXTS * config.text_bytes();
        room::check(size_of::<bw_server>() + size_of::<bw_event>() + STARTING + texts)?;
        let machine = Server::new(config.machine.clone())?;
        #[cfg(feature = "std")]
        let stdio = Stdio::new(machine);
        #[cfg(not(feature = "std"))]
        let stdio = Stdio::ungathered(machine);
        server.write(Some(bw_server::open(Carrier::Stream(stdio))));
        Ok(())
    })
}

/// Frees a server, with its event and all that it has lent. NULL is nothing to free.
#[unsafe(no_mangle)]
pub extern "C" fn bw_server_free(server: Option<Box<bw_server>>) {
    free(server);
}

/// What was wrong with the last call on this handle that failed, for people; an empty text if none has. Good until the
/// next call that takes the handle as one that is not const.
#[unsafe(no_mangle)]
pub extern "C" fn bw_server_error_message(server: Option<&bw_server>) -> bw_bytes {
    server.map_or(bw_bytes::NONE, |server| bw_bytes::text_of(server.held.message()))
}

/// The next thing that the application should know, in order; NULL if there is none for now. The event belongs to the
/// server and is good until the next call of this function on it.
///
/// Poll until NULL after each function that takes something in. Events are never lost by polling late, but hold what
/// arrived in memory.
#[unsafe(no_mangle)]
pub extern "C" fn bw_server_poll_event(server: Option<&mut bw_server>) -> *const bw_event {
    server.map_or(core::ptr::null(), |server| server.held.poll_event(Carrier::poll_event))
}

/// When to call `bw_server_handle_timeout` at the latest; BW_NEVER if nothing is due.
#[unsafe(no_mangle)]
pub extern "C" fn bw_server_poll_timeout(server: Option<&mut bw_server>) -> u64 {
    let due = server.and_then(|server| {
        server.held.look(None, |carrier| match carrier {
            Carrier::Stream(stdio) => stdio.machine().poll_timeout(),
            #[cfg(feature = "http")]
            Carrier::Http(http) => http.poll_timeout(),
        })
    });
    due.map_or(BW_NEVER, Instant::as_millis)
}

/// Lets time pass. Harmless when nothing is due.
#[unsafe(no_mangle)]
pub extern "C" fn bw_server_handle_timeout(server: Option<&mut bw_server>, now: u64) -> bw_status {
    let now = Instant::from_millis(now);
    let outcome = server.ok_or(Failure::NULL).and_then(|server| {
        server.held.run(|carrier| {
            match carrier {
                Carrier::Stream(stdio) => {
                    room::check_step(stdio.machine(), Step::Settle)?;
                    stdio.machine_mut().handle_timeout(now);
                }
                #[cfg(feature = "http")]
                Carrier::Http(http) => http.handle_timeout(now),
            }
            Ok(())
        })
    });
    status_of(outcome)
}

/// Ends the connection: subscriptions end in order, what is owed is abandoned with REQUEST_CANCELLED for each request,
/// DISCONNECTED follows.
#[unsafe(no_mangle)]
pub extern "C" fn bw_server_close(server: Option<&mut bw_server>) -> bw_status {
    run(server, Step::Settle, |machine| {
        machine.close();
        Ok(())
    })
}

/// Byte stream: takes bytes that were read, cut anywhere. `data` is read during the call only.
///
/// Faulty input is no error; it is answered, or reported as an event. The errors are fatal ends; their events are still to
/// be polled. In the embedded profile also BW_ERROR_LIMIT_MEMORY: there is not even room to refuse what `data` holds, and
/// nothing was taken. Poll, send, answer, and give the same bytes again.
#[unsafe(no_mangle)]
pub extern "C" fn bw_server_receive_data(
    server: Option<&mut bw_server>,
    now: u64,
    data: bw_bytes,
) -> bw_status {
    let now = Instant::from_millis(now);
    on_stream(server, |stdio| {
        let data = data.bytes()?;
        #[cfg(feature = "std")]
        stdio.receive_data(now, data)?;
        #[cfg(not(feature = "std"))]
        stdio.receive_data_within(now, data, room::available)?;
        Ok(())
    })
}

/// Byte stream: the client closed its side. Answers that are owed can still be sent; DRAINED follows.
#[unsafe(no_mangle)]
pub extern "C" fn bw_server_receive_eof(server: Option<&mut bw_server>, now: u64) -> bw_status {
    let now = Instant::from_millis(now);
    on_stream(server, |stdio| {
        #[cfg(feature = "std")]
        stdio.receive_eof(now)?;
        #[cfg(not(feature = "std"))]
        stdio.receive_eof_within(now, room::available)?;
        Ok(())
    })
}

/// Byte stream: the transport broke; nothing can be sent or received any more. DISCONNECTED follows.
#[unsafe(no_mangle)]
pub extern "C" fn bw_server_connection_lost(server: Option<&mut bw_server>, now: u64) -> bw_status {
    on_stream(server, |stdio| {
        room::check_step(stdio.machine(), Step::Settle)?;
        Ok(stdio.connection_lost(Instant::from_millis(now))?)
    })
}

/// Byte stream: the bytes to send next, possibly not all there are; length 0 if there are none for now. They are lent
/// without a copy and good until the next call that takes the handle as one that is not const. Mark what was written with
/// `bw_server_consume`, and ask again until there are none.
#[unsafe(no_mangle)]
pub extern "C" fn bw_server_data_to_send(server: Option<&mut bw_server>) -> bw_bytes {
    let Some(server) = server else { return bw_bytes::NONE };
    let data = server.held.run(|carrier| Ok(bw_bytes::of(carrier.stream()?.data_to_send())));
    data.unwrap_or(bw_bytes::NONE)
}

/// Byte stream: marks the first `count` bytes of `bw_server_data_to_send` as sent; more than there are count as all.
#[unsafe(no_mangle)]
pub extern "C" fn bw_server_consume(server: Option<&mut bw_server>, count: usize) -> bw_status {
    on_stream(server, |stdio| {
        stdio.consume(count);
        Ok(())
    })
}

/// Whether the host should go on reading: false while too much waits to be polled or sent.
#[unsafe(no_mangle)]
pub extern "C" fn bw_server_wants_input(server: Option<&mut bw_server>) -> bool {
    server.is_some_and(|server| {
        server.held.look(false, |carrier| match carrier {
            Carrier::Stream(stdio) => stdio.wants_input(),
            #[cfg(feature = "http")]
            Carrier::Http(http) => http.machine().wants_input(),
        })
    })
}

/// Byte stream: whether the server is done and everything was sent: close our side. True as well for NULL and for a
/// poisoned handle, with which nothing can be done.
#[unsafe(no_mangle)]
pub extern "C" fn bw_server_is_finished(server: Option<&mut bw_server>) -> bool {
    server.is_none_or(|server| {
        let done = server.held.run(|carrier| {
            let stdio = carrier.stream()?;
            // The machine says that it is done in the order of what it sends.
            Ok(stdio.data_to_send().is_empty() && stdio.is_finished())
        });
        done.unwrap_or(true)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{bw_event_kind, bw_event_name, bw_event_request, bw_kind};
    use core::ptr;

    const CALL: &[u8] = concat!(
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","#,
        r#""capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#,
        "\n",
        r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo"}}"#,
        "\n"
    )
    .as_bytes();

    fn server() -> Box<bw_server> {
        let mut config = MaybeUninit::uninit();
        let (name, seed) = (bw_bytes::text_of("test"), [7; 32]);
        assert_eq!(bw_server_config_new(name, name, seed.as_ptr(), Some(&mut config)), 0);
        // SAFETY: the call went well, so that it wrote the place.
        let config = unsafe { config.assume_init() };
        let mut server = MaybeUninit::uninit();
        assert_eq!(bw_server_new(config.as_deref(), Some(&mut server)), 0);
        bw_server_config_free(config);
        // SAFETY: as above.
        unsafe { server.assume_init() }.expect("a server")
    }

    #[test]
    fn an_event_is_read_while_it_is_answered() {
        let mut server = server();
        let tool = bw_bytes::text_of(r#"{"name":"echo","inputSchema":{"type":"object"}}"#);
        assert_eq!(bw_server_add_tool(Some(&mut server), tool), 0);
        assert_eq!(bw_server_receive_data(Some(&mut server), 0, bw_bytes::of(CALL)), 0);
        // SAFETY: events are NULL or good until the next poll.
        while let Some(event) = unsafe { bw_server_poll_event(Some(&mut server)).as_ref() } {
            if bw_event_kind(Some(event)) == bw_kind::BW_EVENT_TOOL_CALLED {
                let name = bw_event_name(Some(event));
                assert_eq!(bw_server_respond_text(Some(&mut server), bw_event_request(Some(event)), name), 0);
                assert_eq!(bw_event_name(Some(event)).text().ok(), Some("echo"));
                assert_eq!(
                    bw_server_respond_text(Some(&mut server), bw_event_request(Some(event)), name),
                    102
                );
                assert_eq!(
                    bw_server_error_message(Some(&server)).text().ok(),
                    Some("the request was answered before")
                );
            }
        }
        let sent = bw_server_data_to_send(Some(&mut server));
        assert!(sent.text().is_ok_and(|text| text.contains(r#""text":"echo""#)));
        bw_server_free(Some(server));
    }

    #[test]
    fn nothing_is_an_error_and_never_a_crash() {
        assert_eq!(bw_server_new(None, None), 901);
        assert_eq!(bw_server_receive_data(None, 0, bw_bytes::NONE), 901);
        assert_eq!(bw_server_receive_data(Some(&mut server()), 0, bw_bytes::NONE), 901);
        assert_eq!(bw_server_config_new(bw_bytes::NONE, bw_bytes::NONE, ptr::null(), None), 901);
        assert!(bw_server_poll_event(None).is_null() && bw_server_is_finished(None));
        assert_eq!(bw_server_poll_timeout(None), BW_NEVER);
        assert_eq!(bw_event_request(None), 0);
        bw_server_free(None);
    }

    #[cfg(feature = "http")]
    #[test]
    fn functions_of_the_other_transport_say_so() {
        assert_eq!(bw_server_http_receive_end(Some(&mut server()), 0, 1), 904);
        assert_eq!(bw_server_http_poll_ready(Some(&mut server())), 0);
    }
}
