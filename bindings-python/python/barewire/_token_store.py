"""Where tokens and registrations are kept between connections, processes and runs."""

from __future__ import annotations

import hashlib
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, NamedTuple, Protocol

__all__ = ["FileTokenStore", "KeyringTokenStore", "MemoryTokenStore", "StoredRecord", "TokenStore"]


class StoredRecord(NamedTuple):
    """What is kept for one server and account: tokens and registrations, as text of barewire's own.

    `generation` counts the changes: it tells whether somebody else has renewed the tokens meanwhile.
    """

    generation: int
    text: str

    def __repr__(self) -> str:
        return f"StoredRecord(generation={self.generation}, text=<secret>)"


#: Digits of a generation, at most.
_DIGITS = 20


class TokenStore(Protocol):
    """What keeps records, each under a key. Its methods may block, and are called in threads of any number.

    What they raise ends the authorization with :class:`barewire.AuthorizationError`, code 763.
    """

    def load(self, key: str) -> StoredRecord | None:
        """What is kept under `key`, as it is now."""

    def save(self, key: str, expected: int, record: StoredRecord) -> bool:
        """Keep `record`, if the generation under `key` still is `expected`; 0: if nothing is kept there.

        Comparing and keeping are one step, for all that share the store. False if it is another generation.
        """

    def lock(self, key: str) -> AbstractContextManager[object]:
        """A lock for those that share the store, which one of them holds while it renews what is under `key`.

        A refresh token may be good for one use only, so that two that use it at the same time both lose it.
        The lock may be released by another thread than the one that has acquired it.
        """


class MemoryTokenStore:
    """Keeps tokens as long as this object lives. Any number of clients and threads may share it."""

    def __init__(self) -> None:
        self._records: dict[str, StoredRecord] = {}
        self._locks: dict[str, threading.Lock] = {}
        self._guard = threading.Lock()

    def load(self, key: str) -> StoredRecord | None:
        """What is kept under `key`."""
        return self._records.get(key)

    def save(self, key: str, expected: int, record: StoredRecord) -> bool:
        """Keep `record`, if the generation still is `expected`."""
        with self._guard:
            if _generation(self._records.get(key)) != expected:
                return False
            self._records[key] = record
            return True

    def lock(self, key: str) -> AbstractContextManager[object]:
        """A lock of this process."""
        with self._guard:
            return self._locks.setdefault(key, threading.Lock())


class FileTokenStore:
    """Keeps tokens in files of a folder that only this user can read, shared by all processes of this
    machine.

    They are not encrypted. The folder is made when it is missing; it must not be one that others can write
    to, and not on a network file system without locks.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self._folder = Path(folder)

    def __repr__(self) -> str:
        return f"FileTokenStore({str(self._folder)!r})"

    def load(self, key: str) -> StoredRecord | None:
        """What is kept under `key`."""
        try:
            text = self._path(key, "token").read_text(encoding="utf-8", errors="replace")
        except FileNotFoundError:
            return None
        return _parsed(text)

    def save(self, key: str, expected: int, record: StoredRecord) -> bool:
        """Keep `record`, if the generation still is `expected`."""
        with file_lock(self._path(key, "write")):
            if _generation(self.load(key)) != expected:
                return False
            # A reader sees the old file or the new one, and a crash leaves one of them.
            fresh = self._path(key, "new")
            with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
                file.write(_written(record).encode())
                file.flush()
                os.fsync(file.fileno())
            fresh.replace(self._path(key, "token"))
            return True

    def lock(self, key: str) -> AbstractContextManager[object]:
        """A lock of this machine. It goes with the process that holds it."""
        return file_lock(self._path(key, "lock"))

    def _path(self, key: str, kind: str) -> Path:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return self._folder / f"{_digest(key)}.{kind}"


class KeyringTokenStore:
    """Keeps tokens in the keyring of the operating system (extra ``barewire[keyring]``).

    `service` is the name they are filed under. Keyrings cannot compare and keep in one step, so that files in
    `locks`, a folder, keep the processes of this machine apart; they hold no secrets. Windows takes no more
    than 1280 characters in one entry, which tokens that are JWTs often have.
    """

    def __init__(self, locks: str | os.PathLike[str], *, service: str = "barewire") -> None:
        try:
            import keyring
        except ModuleNotFoundError as error:
            raise ModuleNotFoundError(
                "KeyringTokenStore needs keyring: pip install 'barewire[keyring]'", name="keyring"
            ) from error
        self._keyring: Any = keyring
        self._service = service
        self._folder = Path(locks)

    def load(self, key: str) -> StoredRecord | None:
        """What is kept under `key`."""
        text = self._keyring.get_password(self._service, key)
        return None if text is None else _parsed(text)

    def save(self, key: str, expected: int, record: StoredRecord) -> bool:
        """Keep `record`, if the generation still is `expected`."""
        with file_lock(self._path(key, "write")):
            if _generation(self.load(key)) != expected:
                return False
            self._keyring.set_password(self._service, key, _written(record))
            return True

    def lock(self, key: str) -> AbstractContextManager[object]:
        """A lock of this machine."""
        return file_lock(self._path(key, "lock"))

    def _path(self, key: str, kind: str) -> Path:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return self._folder / f"{_digest(self._service + key)}.{kind}"


def _generation(record: StoredRecord | None) -> int:
    return 0 if record is None else record.generation


def _written(record: StoredRecord) -> str:
    return f"{record.generation}\n{record.text}"


def _parsed(text: str) -> StoredRecord | None:
    """A record as it was written. What is none counts as nothing kept, which the next change replaces."""
    generation, separator, rest = text.partition("\n")
    is_number = generation.isdecimal() and len(generation) <= _DIGITS
    return StoredRecord(int(generation), rest) if separator and is_number else None


def _digest(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()[:32]


@contextmanager
def file_lock(path: Path) -> Iterator[None]:
    """Hold a lock that is a file. The system gives it up when the process ends."""
    with open(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "r+b", buffering=0) as file:
        _acquire(file.fileno())
        try:
            yield
        finally:
            _release(file.fileno())


if sys.platform == "win32":
    import msvcrt
    import time

    def _acquire(descriptor: int) -> None:
        while True:
            try:
                msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
            except OSError:
                time.sleep(0.05)
            else:
                return

    def _release(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _acquire(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX)

    def _release(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_UN)
