//! The steps that end a child process.

use barewire::transport::{ChildAction, ChildShutdown};
use napi::Either;
use napi::bindgen_prelude::External;
use napi_derive::napi;

use crate::config;
use crate::errors::Outcome as _;
use crate::names::{instant, milliseconds};

/// The steps that end a child process.
pub(crate) struct Steps(ChildShutdown);

/// The value that JavaScript holds.
pub(crate) type Handle = External<Steps>;

/// Begins to watch over a child that runs.
#[napi]
#[allow(clippy::needless_pass_by_value, reason = "strings of JavaScript are owned")]
pub(crate) fn open_child_shutdown(timeouts: String) -> Either<Handle, String> {
    config::timeouts(&timeouts).map(|timeouts| External::new(Steps(ChildShutdown::new(&timeouts)))).given()
}

/// Begins to end the child.
#[napi]
pub(crate) fn child_start(this: &mut Handle) {
    this.0.start();
}

/// The child has exited.
#[napi]
pub(crate) fn child_exited(this: &mut Handle) {
    this.0.child_exited();
}

/// The next action, each once.
#[napi]
pub(crate) fn child_poll_action(this: &mut Handle, now: i64) -> Option<&'static str> {
    this.0.poll_action(instant(now)).map(|action| match action {
        ChildAction::CloseInput => "closeInput",
        ChildAction::Terminate => "terminate",
        ChildAction::Kill => "kill",
    })
}

/// When to call `child_handle_timeout` at the latest; -1 for never.
#[napi]
pub(crate) fn child_poll_timeout(this: &mut Handle) -> i64 {
    milliseconds(this.0.poll_timeout())
}

/// Lets time pass.
#[napi]
pub(crate) fn child_handle_timeout(this: &mut Handle, now: i64) {
    this.0.handle_timeout(instant(now));
}

/// Whether the child has exited.
#[napi]
pub(crate) fn child_is_finished(this: &mut Handle) -> bool {
    this.0.is_finished()
}
