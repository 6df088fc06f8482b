//! What every call from outside passes through: one lock, one guard against panics, one way out for errors.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};

use barewire::transport::Stdio;
use barewire::transport::http::client::HttpClient;
use barewire::transport::http::server::HttpServer;
use barewire::{CloseReason, Error, Machine, client, server};

use crate::errors::McpError;
use crate::events::ToEvent;

const POISONED: Error = Error::Closed(CloseReason::Poisoned);

/// A value that threads take turns with until a panic ends it; from then on every call is answered `Poisoned`.
pub(crate) struct Guarded<T>(Mutex<Option<T>>);

impl<T> Guarded<T> {
    /// The value that `make` gives.
    pub(crate) fn new(make: impl FnOnce() -> Result<T, Error>) -> Result<Guarded<T>, McpError> {
        // A panic in `make` leaves nothing behind that could be used.
        let value = catch_unwind(AssertUnwindSafe(make)).unwrap_or(Err(POISONED));
        Ok(Guarded(Mutex::new(Some(value?))))
    }

    /// Runs `work` on the value.
    pub(crate) fn call<R>(&self, work: impl FnOnce(&mut T) -> Result<R, Error>) -> Result<R, McpError> {
        // A panic does not get as far as the lock.
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let value = held.as_mut().ok_or(POISONED)?;
        // The value is dropped after a panic: nobody sees it half changed.
        let outcome = catch_unwind(AssertUnwindSafe(|| work(value))).unwrap_or_else(|_| {
            *held = None;
            Err(POISONED)
        });
        Ok(outcome?)
    }
}

/// One way to carry the messages of a machine.
pub(crate) trait Carrier {
    /// The role.
    type Machine: Machine;
    /// What the application is told, by the machine and by what carries its messages.
    type Event;

    /// The machine.
    fn role(&mut self) -> &mut Self::Machine;

    /// The next thing that the application should know.
    fn next_event(&mut self) -> Option<Self::Event>;
}

impl<M: Machine<Event: ToEvent>> Carrier for Stdio<M> {
    type Machine = M;
    type Event = <M::Event as ToEvent>::Event;

    fn role(&mut self) -> &mut M {
        self.machine_mut()
    }

    fn next_event(&mut self) -> Option<Self::Event> {
        self.machine_mut().poll_event().and_then(ToEvent::to_event)
    }
}

/// Over HTTP what carries the messages has events of its own.
macro_rules! http_carriers {
    ($($carrier:ident<$machine:path>)*) => {$(
        impl Carrier for $carrier<$machine> {
            type Machine = $machine;
            type Event = <<$machine as Machine>::Event as ToEvent>::Event;

            fn role(&mut self) -> &mut $machine {
                self.machine_mut()
            }

            fn next_event(&mut self) -> Option<Self::Event> {
                match self.machine_mut().poll_event() {
                    Some(event) => event.to_event(),
                    None => self.poll_http_event().and_then(ToEvent::to_event),
                }
            }
        }
    )*};
}

http_carriers! { HttpServer<server::Server> HttpClient<client::Client> }

impl<C: Carrier> Guarded<C> {
    /// Runs a command of the machine.
    pub(crate) fn command<R>(
        &self,
        command: impl FnOnce(&mut C::Machine) -> Result<R, Error>,
    ) -> Result<R, McpError> {
        self.call(|carrier| command(carrier.role()))
    }

    /// Runs a verb that takes something in, and gives all events that are there then.
    ///
    /// A fatal end is told by the last event; it is an error only if there is no event left to tell it.
    pub(crate) fn step(
        &self,
        verb: impl FnOnce(&mut C) -> Result<(), Error>,
    ) -> Result<Vec<C::Event>, McpError> {
        self.call(|carrier| {
            let outcome = verb(carrier);
            let events: Vec<_> = std::iter::from_fn(|| carrier.next_event()).collect();
            if events.is_empty() { outcome.map(|()| events) } else { Ok(events) }
        })
    }
}

/// Takes out everything that waits to be sent.
pub(crate) fn data_to_send<M: Machine>(stdio: &mut Stdio<M>) -> Vec<u8> {
    let mut all = Vec::new();
    loop {
        // The machine hands out its messages in portions.
        let portion = stdio.data_to_send();
        let length = portion.len();
        if length == 0 {
            return all;
        }
        all.extend_from_slice(portion);
        stdio.consume(length);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[allow(clippy::panic, reason = "what is tested")]
    fn a_panic_ends_a_value_and_nothing_else() {
        let guarded = Guarded::new(|| Ok(1)).unwrap();
        assert_eq!(guarded.call(|value| Ok(*value)), Ok(1));
        let ended = guarded.call::<()>(|_| panic!("a defect on purpose"));
        assert_eq!(ended, Err(POISONED.into()));
        assert_eq!(guarded.call(|value| Ok(*value)), Err(POISONED.into()));
        assert!(matches!(ended, Err(McpError::ConnectionClosed { code: 505, .. })));
        let made = Guarded::<u8>::new(|| panic!("a defect on purpose"));
        assert!(matches!(made, Err(McpError::ConnectionClosed { code: 505, .. })));
    }
}
