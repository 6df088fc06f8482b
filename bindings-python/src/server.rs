//! The server role behind newline framing.

use barewire::server::Server as Machine;
use barewire::transport::Stdio;
use barewire::{Machine as _, ServerConfig};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::guard::{self, Guarded};

/// A server behind newline framing, for both eras on one channel.
///
/// `seed` is 32 random bytes, never used twice; `clock_origin` the Unix time, in milliseconds, at which `now` is
/// 0. `extension_methods` come as `RequestReceived`, others that the protocol does not have are refused.
/// `ttl_ms` and `cache_scope` are told with lists. `request_state_keys` are keys of 32 bytes for state that
/// travels through clients: the first seals, all open; without any, no other process can open it.
#[pyclass(module = "barewire._native")]
pub(crate) struct Server(Guarded<Stdio<Machine>>);

#[allow(clippy::unnecessary_wraps, reason = "where there are options, one may be refused")]
fn behind(_: &ServerConfig) -> PyResult<fn(Machine) -> Stdio<Machine>> {
    Ok(Stdio::new)
}

server_class! {
    Server(Stdio<Machine>), behind,
    options {},

    /// Take bytes that were read, cut anywhere, and give the events.
    fn receive_data<'py>(this: &Bound<'py, Server>, data: &[u8], now: u64) -> Events<'py> {
        step(this, |stdio| stdio.receive_data(Instant::from_millis(now), data))
    }

    /// The client closed its side; answers that are owed can still be sent.
    fn receive_eof<'py>(this: &Bound<'py, Server>, now: u64) -> Events<'py> {
        step(this, |stdio| stdio.receive_eof(Instant::from_millis(now)))
    }

    /// The transport broke.
    fn connection_lost<'py>(this: &Bound<'py, Server>, now: u64) -> Events<'py> {
        step(this, |stdio| stdio.connection_lost(Instant::from_millis(now)))
    }

    /// Take out all bytes that wait to be sent.
    fn data_to_send<'py>(this: &Bound<'py, Server>) -> PyResult<Bound<'py, PyBytes>> {
        guard::data_to_send(this)
    }

    /// Let time pass.
    fn handle_timeout<'py>(this: &Bound<'py, Server>, now: u64) -> Events<'py> {
        step(this, |stdio| {
            stdio.machine_mut().handle_timeout(Instant::from_millis(now));
            Ok(())
        })
    }

    /// When to call `handle_timeout` at the latest, if ever.
    fn poll_timeout(this: &Bound<'_, Server>) -> PyResult<Option<u64>> {
        with(this, |stdio| Ok(stdio.machine().poll_timeout().map(Instant::as_millis)))
    }

    /// False while so much waits that the host should stop reading.
    #[getter]
    fn wants_input(this: &Bound<'_, Server>) -> PyResult<bool> {
        with(this, |stdio| Ok(stdio.wants_input()))
    }

    /// True when everything is over and sent: close our side.
    #[getter]
    fn is_finished(this: &Bound<'_, Server>) -> PyResult<bool> {
        // The machine says that it is done in the order of what it sends.
        with(this, |stdio| Ok(stdio.data_to_send().is_empty() && stdio.is_finished()))
    }
}
