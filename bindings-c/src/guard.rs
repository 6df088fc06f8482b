//! What every call passes through: one guard against panics, one place for what was wrong.

use alloc::boxed::Box;
use alloc::string::String;

use crate::event::bw_event;
use crate::room;
use crate::status::{Failure, bw_status, status_of};

/// Runs `work`; a panic in it becomes an error.
#[cfg(feature = "std")]
pub(crate) fn caught<R>(work: impl FnOnce() -> Result<R, Failure>) -> Result<R, Failure> {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    // Whoever catches a panic here lets nobody see what it left behind.
    catch_unwind(AssertUnwindSafe(work)).unwrap_or(Err(Failure::POISONED))
}

/// Runs `work`. Without `std` a panic does not return: it ends in the hook of the leaf crate.
#[cfg(not(feature = "std"))]
pub(crate) fn caught<R>(work: impl FnOnce() -> Result<R, Failure>) -> Result<R, Failure> {
    work()
}

/// Runs the work of a function without a handle.
pub(crate) fn status(work: impl FnOnce() -> Result<(), Failure>) -> bw_status {
    status_of(caught(work))
}

/// What a handle of a machine holds: the machine until a panic ends it, the event polled last, what was wrong last.
pub(crate) struct Held<C> {
    carrier: Option<C>,
    /// Comes from a box. It is reached through this pointer only, so that C may read an event while it gives commands.
    event: *mut bw_event,
    message: String,
    /// A text that a function has given.
    text: String,
}

impl<C> Held<C> {
    pub(crate) fn new(carrier: C) -> Held<C> {
        Held {
            carrier: Some(carrier),
            event: Box::into_raw(Box::new(bw_event::none())),
            message: String::new(),
            text: String::new(),
        }
    }

    /// Runs `work` on the machine and notes why it failed. After a panic the machine is dropped and nobody sees it half
    /// changed; from then on every call is answered `Poisoned`.
    pub(crate) fn run<R>(&mut self, work: impl FnOnce(&mut C) -> Result<R, Failure>) -> Result<R, Failure> {
        let outcome = match &mut self.carrier {
            Some(carrier) => caught(|| work(carrier)),
            None => Err(Failure::POISONED),
        };
        if let Err(failure) = &outcome {
            if failure.is_poisoned()
                && let Some(carrier) = self.carrier.take()
            {
                // Dropping it may panic again.
                let _ = caught(|| {
                    drop(carrier);
                    Ok(())
                });
            }
            // Where there is no room for words, the number has to do.
            self.message = String::new();
            self.message = room::words(failure);
        }
        outcome
    }

    /// As [`run`](Self::run), for what has no errors: `otherwise` where there is no machine any more.
    pub(crate) fn look<R>(&mut self, otherwise: R, work: impl FnOnce(&mut C) -> R) -> R {
        self.run(|carrier| Ok(work(carrier))).unwrap_or(otherwise)
    }

    /// The event that `poll` gives, in the place of the one before.
    pub(crate) fn poll_event(&mut self, poll: impl FnOnce(&mut C) -> Option<bw_event>) -> *const bw_event {
        let place = self.event;
        let is_some = self.look(false, |carrier| {
            let polled = poll(carrier);
            let is_some = polled.is_some();
            // SAFETY: the pointer comes from a box that lives as long as this handle. C holds no reference during the
            // call, by the contract of handles, and Rust makes none that outlives a call. Written here, where the event
            // comes to be, because to hand it on is to move it.
            unsafe { *place = polled.unwrap_or_else(bw_event::none) };
            is_some
        });
        if is_some { place } else { core::ptr::null() }
    }

    /// What was wrong with the last call that failed.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// Keeps a text for C until the next one.
    pub(crate) fn keep_text(&mut self, text: String) -> &str {
        self.text = text;
        &self.text
    }
}

impl<C> Drop for Held<C> {
    fn drop(&mut self) {
        // SAFETY: the pointer comes from a box that was not given back before.
        drop(unsafe { Box::from_raw(self.event) });
    }
}

/// Frees a handle; a panic in a destructor goes no further.
pub(crate) fn free<T>(handle: Option<Box<T>>) {
    let _ = caught(|| {
        drop(handle);
        Ok(())
    });
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use super::*;

    struct Defective;

    impl Drop for Defective {
        #[allow(clippy::panic, reason = "what it is for")]
        fn drop(&mut self) {
            panic!("a defect in a destructor, on purpose");
        }
    }

    #[test]
    fn a_panic_ends_its_handle_and_nothing_else() {
        let mut held = Held::new(7);
        assert_eq!(held.run(|number| Ok(*number)).ok(), Some(7));
        let defect = held.run::<()>(|_| panic!("a defect on purpose"));
        assert_eq!(defect.err().map(|failure| failure.code()), Some(505));
        assert_eq!(held.run(|number| Ok(*number)).err().map(|failure| failure.code()), Some(505));
        assert_eq!(held.look(1, |number| *number), 1);
        assert!(held.poll_event(|_| Some(bw_event::none())).is_null());
        assert!(!held.message().is_empty());
    }

    #[test]
    fn destructors_that_fail_stay_inside() {
        free(Some(Box::new(Defective)));
        let mut held = Held::new(Defective);
        assert!(held.run::<()>(|_| panic!("a defect on purpose")).is_err());
    }
}
