//! Locks between processes, which JavaScript has none of. The system gives them up when the process ends.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;

use napi::Either;
use napi::bindgen_prelude::External;
use napi_derive::napi;

use crate::errors::{Failure, Outcome as _};

/// A file, locked until it is unlocked.
pub(crate) struct FileLock(Option<File>);

fn open(path: &str) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Locks a file, which is made if it is missing, without waiting; nothing if another process, or another lock of this
/// one, has it.
#[napi]
#[allow(clippy::needless_pass_by_value, reason = "strings of JavaScript are owned")]
pub(crate) fn try_lock_file(path: String) -> Either<Option<External<FileLock>>, String> {
    let lock = || {
        let file = open(&path)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(External::new(FileLock(Some(file))))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    };
    let locked: io::Result<_> = lock();
    locked.map_err(|error| Failure::Argument(format!("{path} cannot be locked: {error}"))).given()
}

/// Unlocks a file. Harmless when that was done before.
#[napi]
pub(crate) fn unlock_file(this: &mut External<FileLock>) {
    // Closing it unlocks it.
    this.0 = None;
}
