//! What every call from Python passes through: one borrow, one guard against panics, one way out for errors.

use std::panic::{AssertUnwindSafe, catch_unwind};

use barewire::transport::Stdio;
use barewire::transport::http::client::HttpClient;
use barewire::{CloseReason, Error, Machine};
use pyo3::PyClass;
use pyo3::prelude::*;
use pyo3::pyclass::boolean_struct::False;
use pyo3::types::{PyBytes, PyList};

use crate::errors;
use crate::events::IntoEvent;

const POISONED: Error = Error::Closed(CloseReason::Poisoned);

/// A value until a panic ends it; from then on every call is answered `Poisoned`.
pub(crate) struct Guarded<T>(Option<T>);

impl<T> Guarded<T> {
    /// The value that `make` gives.
    pub(crate) fn new(make: impl FnOnce() -> Result<T, Error>) -> Result<Guarded<T>, Error> {
        // A panic in `make` leaves nothing behind that could be used.
        catch_unwind(AssertUnwindSafe(make)).unwrap_or(Err(POISONED)).map(|value| Guarded(Some(value)))
    }

    /// Runs `work` on the value.
    pub(crate) fn call<R>(&mut self, work: impl FnOnce(&mut T) -> Result<R, Error>) -> Result<R, Error> {
        let value = self.0.as_mut().ok_or(POISONED)?;
        // The value is dropped after a panic: nobody sees it half changed.
        catch_unwind(AssertUnwindSafe(|| work(value))).unwrap_or_else(|_| {
            self.0 = None;
            Err(POISONED)
        })
    }
}

/// One way to carry the messages of a machine.
pub(crate) trait Carrier {
    /// The role.
    type Machine: Machine;
    /// What the application is told, by the machine and by what carries its messages.
    type Event: IntoEvent;

    /// The machine.
    fn machine_mut(&mut self) -> &mut Self::Machine;

    /// The next thing that the application should know.
    fn poll_event(&mut self) -> Option<Self::Event>;
}

macro_rules! carriers {
    ($($name:ident)*) => {$(
        impl<M: Machine<Event: IntoEvent>> Carrier for $name<M> {
            type Machine = M;
            type Event = M::Event;

            fn machine_mut(&mut self) -> &mut M {
                $name::machine_mut(self)
            }

            fn poll_event(&mut self) -> Option<M::Event> {
                $name::machine_mut(self).poll_event()
            }
        }
    )*};
}

carriers! { Stdio HttpClient }

/// A Python class around a machine and what carries its messages.
pub(crate) trait Holder: PyClass<Frozen = False> {
    /// What the class holds.
    type Carrier: Carrier;

    /// What the class holds.
    fn held(&mut self) -> &mut Guarded<Self::Carrier>;
}

/// Runs `work` on what `holder` holds. `work` runs no Python code, so that calls of several threads cannot meet
/// inside: it may make `bytes`, but nothing that the garbage collector tracks, such as events and exceptions.
pub(crate) fn with<H: Holder, R>(
    holder: &Bound<'_, H>,
    work: impl FnOnce(&mut H::Carrier) -> Result<R, Error>,
) -> PyResult<R> {
    // The borrow ends with this statement, before an exception is made.
    let outcome = holder.try_borrow_mut()?.held().call(work);
    outcome.map_err(|error| errors::raised(holder.py(), &error))
}

/// Runs a verb that takes something in, and gives all events that are there then.
///
/// A fatal end is told by the last event; it is raised only if there is no event left to tell it.
pub(crate) fn step<'py, H: Holder>(
    holder: &Bound<'py, H>,
    verb: impl FnOnce(&mut H::Carrier) -> Result<(), Error>,
) -> PyResult<Bound<'py, PyList>> {
    let mut found = Found { first: None, rest: Vec::new() };
    with(holder, |carrier| {
        let outcome = verb(carrier);
        if found.take(carrier) { Ok(()) } else { outcome }
    })?;
    found.into_list(holder.py())
}

/// As [`step`], for a verb that never fails and gives something itself.
pub(crate) fn step_giving<'py, H: Holder, R>(
    holder: &Bound<'py, H>,
    verb: impl FnOnce(&mut H::Carrier) -> R,
) -> PyResult<(R, Bound<'py, PyList>)> {
    let mut found = Found { first: None, rest: Vec::new() };
    let given = with(holder, |carrier| {
        let given = verb(carrier);
        found.take(carrier);
        Ok(given)
    })?;
    Ok((given, found.into_list(holder.py())?))
}

/// Events that were taken out. Mostly there is one, which then needs no room on the heap.
struct Found<E> {
    first: Option<E>,
    rest: Vec<E>,
}

impl<E: IntoEvent> Found<E> {
    /// Takes all that are there; whether there were any.
    fn take(&mut self, carrier: &mut impl Carrier<Event = E>) -> bool {
        self.first = carrier.poll_event();
        if self.first.is_none() {
            return false;
        }
        while let Some(event) = carrier.poll_event() {
            self.rest.push(event);
        }
        true
    }

    fn into_list(self, py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
        let Some(first) = self.first else {
            return Ok(PyList::empty(py));
        };
        let events = PyList::new(py, [first.into_event(py)?])?;
        for event in self.rest {
            events.append(event.into_event(py)?)?;
        }
        Ok(events)
    }
}

/// Takes out everything that waits to be sent.
pub(crate) fn data_to_send<'py, H, M>(holder: &Bound<'py, H>) -> PyResult<Bound<'py, PyBytes>>
where
    H: Holder<Carrier = Stdio<M>>,
    M: Machine<Event: IntoEvent>,
{
    let py = holder.py();
    with(holder, |stdio| {
        let first = stdio.data_to_send();
        let length = first.len();
        let bytes = PyBytes::new(py, first);
        stdio.consume(length);
        // The machine hands out its messages in portions; mostly the first is all.
        if stdio.data_to_send().is_empty() {
            return Ok(bytes);
        }
        let mut all = bytes.as_bytes().to_vec();
        loop {
            let portion = stdio.data_to_send();
            let length = portion.len();
            if length == 0 {
                return Ok(PyBytes::new(py, &all));
            }
            all.extend_from_slice(portion);
            stdio.consume(length);
        }
    })
}
