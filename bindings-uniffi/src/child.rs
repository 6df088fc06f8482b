//! The steps that end a child process.

use std::sync::{Mutex, MutexGuard, PoisonError};

use barewire::{Instant, transport};

use crate::config::{self, Timeouts};
use crate::values::ChildAction;

/// The steps that end a child process: close its input, wait, ask, wait, force (basic/transports/stdio, Shutdown).
///
/// Start it, carry out each action, wait no longer than `poll_timeout` says, and tell when the child is gone.
#[derive(uniffi::Object)]
pub struct ChildShutdown(Mutex<transport::ChildShutdown>);

impl ChildShutdown {
    fn steps(&self) -> MutexGuard<'_, transport::ChildShutdown> {
        // None of the calls panics.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[uniffi::export]
impl ChildShutdown {
    /// A child that runs; the waits are `child_exit` and `child_terminate`.
    #[uniffi::constructor(default(timeouts = None))]
    pub fn new(timeouts: Option<Timeouts>) -> ChildShutdown {
        ChildShutdown(Mutex::new(transport::ChildShutdown::new(&config::timeouts(timeouts))))
    }

    /// Begins to end the child. Harmless when begun before.
    pub fn start(&self) {
        self.steps().start();
    }

    /// The child has exited: nothing more is due.
    pub fn child_exited(&self) {
        self.steps().child_exited();
    }

    /// The next action, each once; `now` is when it is carried out.
    pub fn poll_action(&self, now: u64) -> Option<ChildAction> {
        self.steps().poll_action(Instant::from_millis(now))
    }

    /// When to call `handle_timeout` at the latest, if ever.
    pub fn poll_timeout(&self) -> Option<u64> {
        self.steps().poll_timeout().map(Instant::as_millis)
    }

    /// Lets time pass. Harmless when nothing is due.
    pub fn handle_timeout(&self, now: u64) {
        self.steps().handle_timeout(Instant::from_millis(now));
    }

    /// Whether the child has exited.
    pub fn is_finished(&self) -> bool {
        self.steps().is_finished()
    }
}
