//! How a host ends a child process: in order first, by force last (basic/transports/stdio, Shutdown).

use crate::config::Timeouts;
use crate::time::Instant;

/// What the host should do to its child process next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChildAction {
    /// Close the child's standard input.
    CloseInput,
    /// Ask the child and its process group to end (SIGTERM where there are signals).
    Terminate,
    /// End the child and its process group by force (SIGKILL where there are signals).
    Kill,
}

/// The steps that end a child process, as a machine: close its input, wait, ask, wait, force.
///
/// The host starts it when it is done with the child, carries out each action, waits no longer than
/// [`poll_timeout`](Self::poll_timeout) says, and stops when the child has exited. Nothing here can hang: the
/// last action is one that no child can refuse.
#[derive(Clone, Debug)]
pub struct ChildShutdown {
    state: State,
    exit_after: u64,
    terminate_after: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Running,
    CloseDue,
    AwaitExit { until: Instant },
    TerminateDue,
    AwaitTermination { until: Instant },
    KillDue,
    Killed,
    Exited,
}

impl ChildShutdown {
    /// A child that runs; the waits come from [`Timeouts::child_exit`] and [`Timeouts::child_terminate`].
    pub fn new(timeouts: &Timeouts) -> ChildShutdown {
        ChildShutdown {
            state: State::Running,
            exit_after: timeouts.child_exit,
            terminate_after: timeouts.child_terminate,
        }
    }

    /// Begins to end the child. Harmless when begun before.
    pub fn start(&mut self) {
        if self.state == State::Running {
            self.state = State::CloseDue;
        }
    }

    /// The child has exited: nothing more is due.
    pub fn child_exited(&mut self) {
        self.state = State::Exited;
    }

    /// The next action, each once; `now` is when it is carried out.
    pub fn poll_action(&mut self, now: Instant) -> Option<ChildAction> {
        let (action, next) = match self.state {
            State::CloseDue => {
                (ChildAction::CloseInput, State::AwaitExit { until: now.after(self.exit_after) })
            }
            State::TerminateDue => {
                (ChildAction::Terminate, State::AwaitTermination { until: now.after(self.terminate_after) })
            }
            State::KillDue => (ChildAction::Kill, State::Killed),
            _ => return None,
        };
        self.state = next;
        Some(action)
    }

    /// When to call [`handle_timeout`](Self::handle_timeout) at the latest, if ever.
    pub fn poll_timeout(&self) -> Option<Instant> {
        match self.state {
            State::AwaitExit { until } | State::AwaitTermination { until } => Some(until),
            _ => None,
        }
    }

    /// Lets time pass. Harmless when nothing is due.
    pub fn handle_timeout(&mut self, now: Instant) {
        self.state = match self.state {
            State::AwaitExit { until } if now >= until => State::TerminateDue,
            State::AwaitTermination { until } if now >= until => State::KillDue,
            unchanged => unchanged,
        };
    }

    /// True once the child has exited.
    pub fn is_finished(&self) -> bool {
        self.state == State::Exited
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // proves: BASE-160 BASE-165
    #[test]
    fn a_stubborn_child_meets_every_step_once() {
        let mut shutdown =
            ChildShutdown::new(&Timeouts { child_exit: 100, child_terminate: 50, ..Timeouts::default() });
        let at = Instant::from_millis;
        assert_eq!(shutdown.poll_action(at(0)), None);
        shutdown.start();
        shutdown.start();
        assert_eq!(shutdown.poll_action(at(10)), Some(ChildAction::CloseInput));
        assert_eq!(shutdown.poll_action(at(10)), None);
        assert_eq!(shutdown.poll_timeout(), Some(at(110)));
        shutdown.handle_timeout(at(109));
        assert_eq!(shutdown.poll_action(at(109)), None);
        shutdown.handle_timeout(at(110));
        assert_eq!(shutdown.poll_action(at(110)), Some(ChildAction::Terminate));
        shutdown.handle_timeout(at(160));
        assert_eq!(shutdown.poll_action(at(160)), Some(ChildAction::Kill));
        assert_eq!(shutdown.poll_timeout(), None);
        assert!(!shutdown.is_finished());
        shutdown.child_exited();
        assert!(shutdown.is_finished());
    }

    #[test]
    fn a_child_that_exits_is_left_alone() {
        let mut shutdown = ChildShutdown::new(&Timeouts::default());
        shutdown.start();
        assert_eq!(shutdown.poll_action(Instant::ZERO), Some(ChildAction::CloseInput));
        shutdown.child_exited();
        shutdown.handle_timeout(Instant::from_millis(u64::MAX));
        assert_eq!(shutdown.poll_action(Instant::ZERO), None);
        assert_eq!(shutdown.poll_timeout(), None);
    }
}
