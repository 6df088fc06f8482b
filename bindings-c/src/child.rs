//! The steps that end a child process.

use alloc::boxed::Box;
use core::mem::MaybeUninit;

use barewire::Instant;
use barewire::transport::ChildShutdown;

use crate::bytes::place;
use crate::client::bw_client_config;
use crate::guard::{free, status};
use crate::status::{Failure, bw_status};
use crate::values::{BW_NEVER, bw_child_action, child_action_number};

/// The steps that end a child process: close its input, wait, ask, wait, force (basic/transports/stdio, Shutdown).
///
/// Whoever made it with `bw_child_shutdown_new` frees it with `bw_child_shutdown_free`. One thread at a time. Start it when
/// the host is done with the child, carry out each action, wait no longer than the timeout says, and stop when the child
/// has exited. Nothing can hang: the last action is one that no child can refuse.
pub struct bw_child_shutdown(ChildShutdown);

/// Watches over a child that runs, with the waits BW_TIMEOUT_CHILD_EXIT and BW_TIMEOUT_CHILD_TERMINATE of the configuration.
///
/// The caller frees `*child` with `bw_child_shutdown_free`; `config` stays the caller's. BW_ERROR_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub extern "C" fn bw_child_shutdown_new(
    config: Option<&bw_client_config>,
    child: Option<&mut MaybeUninit<Option<Box<bw_child_shutdown>>>>,
) -> bw_status {
    status(|| {
        let (config, child) = (config.ok_or(Failure::NULL)?, place(child)?);
        child.write(Some(Box::new(bw_child_shutdown(ChildShutdown::new(&config.machine.timeouts)))));
        Ok(())
    })
}

/// Frees it. NULL is nothing to free.
#[unsafe(no_mangle)]
pub extern "C" fn bw_child_shutdown_free(child: Option<Box<bw_child_shutdown>>) {
    free(child);
}

/// Begins to end the child. Harmless when begun before. BW_ERROR_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub extern "C" fn bw_child_shutdown_start(child: Option<&mut bw_child_shutdown>) -> bw_status {
    status(|| {
        child.ok_or(Failure::NULL)?.0.start();
        Ok(())
    })
}

/// The child has exited: nothing more is due. BW_ERROR_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub extern "C" fn bw_child_shutdown_exited(child: Option<&mut bw_child_shutdown>) -> bw_status {
    status(|| {
        child.ok_or(Failure::NULL)?.0.child_exited();
        Ok(())
    })
}

/// The next action, each once; `now` is when it is carried out. BW_CHILD_NOTHING if there is none for now.
#[unsafe(no_mangle)]
pub extern "C" fn bw_child_shutdown_poll_action(
    child: Option<&mut bw_child_shutdown>,
    now: u64,
) -> bw_child_action {
    child_action_number(child.and_then(|child| child.0.poll_action(Instant::from_millis(now))))
}

/// When to call `bw_child_shutdown_handle_timeout` at the latest; BW_NEVER if nothing is due.
#[unsafe(no_mangle)]
pub extern "C" fn bw_child_shutdown_poll_timeout(child: Option<&bw_child_shutdown>) -> u64 {
    child.and_then(|child| child.0.poll_timeout()).map_or(BW_NEVER, Instant::as_millis)
}

/// Lets time pass. Harmless when nothing is due. BW_ERROR_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub extern "C" fn bw_child_shutdown_handle_timeout(
    child: Option<&mut bw_child_shutdown>,
    now: u64,
) -> bw_status {
    status(|| {
        child.ok_or(Failure::NULL)?.0.handle_timeout(Instant::from_millis(now));
        Ok(())
    })
}

/// Whether the child has exited. True for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn bw_child_shutdown_is_finished(child: Option<&bw_child_shutdown>) -> bool {
    child.is_none_or(|child| child.0.is_finished())
}
