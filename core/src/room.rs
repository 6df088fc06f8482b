//! How much memory the steps of a machine take, for hosts whose memory ends.
//!
//! Where an allocation fails there is no way back: `alloc` ends the program. So a host with little memory asks before
//! each step whether it fits, and a step that does not fit is refused while there is still room for the refusal. What is
//! asked for is *room*: bytes that can be allocated in one piece. One piece that is as long as the step needs at most is
//! enough, whatever else of the memory is in use and however it is cut up.

use crate::machine::Machine;

/// Something that a host is about to let a machine do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Step<'a> {
    /// Take this message and do what it asks for, with room left to refuse another.
    Take(&'a [u8]),
    /// Refuse a message.
    Refuse,
    /// Keep texts of so many bytes in all, such as a definition, with room left to refuse a message.
    Keep(usize),
    /// Send texts of so many bytes in all, such as an answer.
    Send(usize),
    /// Send texts of so many bytes in all to everybody who wants them, such as news of a change.
    Publish(usize),
    /// Let time pass, or take the end of input.
    Settle,
}

/// A machine that knows how much room it needs.
pub trait Measured: Machine {
    /// The most room that a step takes as things are, in bytes. An allocator may add up to a sixteenth of that and
    /// keep up to eight bytes beside each allocation.
    fn room_for(&self, step: Step<'_>) -> usize;
}
