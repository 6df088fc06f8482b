//! The steps that end a child process.

use barewire::Instant;
use barewire::transport::{self, ChildAction};
use pyo3::prelude::*;

use crate::config::Timeouts;

/// The steps that end a child process: close its input, wait, ask, wait, force.
///
/// Start it, carry out each action, wait no longer than `poll_timeout` says, and tell when the child is gone.
#[pyclass(module = "barewire._native")]
pub(crate) struct ChildShutdown(transport::ChildShutdown);

#[pymethods]
impl ChildShutdown {
    #[new]
    #[pyo3(signature = (timeouts = None))]
    fn new(timeouts: Option<&Timeouts>) -> ChildShutdown {
        ChildShutdown(transport::ChildShutdown::new(&Timeouts::or_default(timeouts)))
    }

    /// Begin to end the child. Harmless when begun before.
    fn start(&mut self) {
        self.0.start();
    }

    /// The child has exited: nothing more is due.
    fn child_exited(&mut self) {
        self.0.child_exited();
    }

    /// The next action, each once; `now` is when it is carried out.
    fn poll_action(&mut self, now: u64) -> Option<&'static str> {
        self.0.poll_action(Instant::from_millis(now)).map(|action| match action {
            ChildAction::CloseInput => "close_input",
            ChildAction::Terminate => "terminate",
            ChildAction::Kill => "kill",
        })
    }

    /// When to call `handle_timeout` at the latest, in milliseconds, if ever.
    fn poll_timeout(&self) -> Option<u64> {
        self.0.poll_timeout().map(Instant::as_millis)
    }

    /// Let time pass. Harmless when nothing is due.
    fn handle_timeout(&mut self, now: u64) {
        self.0.handle_timeout(Instant::from_millis(now));
    }

    /// Whether the child has exited.
    #[getter]
    fn is_finished(&self) -> bool {
        self.0.is_finished()
    }
}
