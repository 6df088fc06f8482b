//! Newline-delimited messages on a byte stream (basic/transports/stdio).

use crate::error::Error;
use crate::machine::Machine;
use crate::time::Instant;

/// A machine behind newline framing: bytes in, bytes out.
#[derive(Debug)]
pub struct Stdio<M: Machine> {
    machine: M,
}

/// What the host of a child process should do next to end it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChildAction {
    /// Close the child's standard input.
    CloseInput,
    /// Ask the child (and its process group) to end.
    Terminate,
    /// End the child (and its process group) by force.
    Kill,
}

#[allow(unused_variables, reason = "skeleton")]
impl<M: Machine> Stdio<M> {
    /// Frames the messages of `machine`.
    pub fn new(machine: M) -> Stdio<M> {
        Stdio { machine }
    }

    /// Takes bytes that were read; they are not kept longer than needed to complete a line.
    ///
    /// # Errors
    /// Fatal ends of the machine only; faulty input is answered or reported as events.
    pub fn receive_data(&mut self, now: Instant, data: &[u8]) -> Result<(), Error> {
        todo!()
    }

    /// The peer closed its side. A last line without a line end counts as a message.
    ///
    /// # Errors
    /// As [`receive_data`](Self::receive_data).
    pub fn receive_eof(&mut self, now: Instant) -> Result<(), Error> {
        todo!()
    }

    /// The bytes to send next, possibly not all there are; empty if none. They stay until consumed.
    pub fn data_to_send(&mut self) -> &[u8] {
        todo!()
    }

    /// Marks the first `count` bytes of [`data_to_send`](Self::data_to_send) as sent.
    pub fn consume(&mut self, count: usize) {
        todo!()
    }

    /// True when the machine is done and everything was sent: close our side.
    pub fn is_finished(&self) -> bool {
        todo!()
    }

    /// The machine, for commands and the other verbs.
    pub fn machine_mut(&mut self) -> &mut M {
        &mut self.machine
    }

    /// The machine.
    pub fn machine(&self) -> &M {
        &self.machine
    }
}
