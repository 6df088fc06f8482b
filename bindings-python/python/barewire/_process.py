"""Child processes that speak on their standard streams.

One small core, :class:`ChildProcess`, starts the child, keeps what it must know of it (exit status, the tail
of its stderr) and signals it. Three flavours move the bytes: :class:`ThreadedChild` here (no event loop),
``AsyncioChild`` in ``_process_asyncio`` and ``TrioChild`` in ``_process_trio``. All three push: they call
``on_data`` with what the child wrote and ``on_end`` exactly once after the last of it. ``write`` never waits
for the child.

The Windows branches follow the documentation of the platform; they have not been run.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import IO, Any, Literal, NamedTuple

__all__ = [
    "Action",
    "ChildProcess",
    "ExitStatus",
    "Stderr",
    "Step",
    "ThreadedChild",
    "default_environment",
]

WINDOWS = sys.platform == "win32"

#: The variables that a child inherits. Anything else of the host's environment (keys, tokens) stays with the
#: host.
INHERITED_VARIABLES: tuple[str, ...] = (
    (
        "APPDATA",
        "HOMEDRIVE",
        "HOMEPATH",
        "LOCALAPPDATA",
        "PATH",
        "PATHEXT",
        "PROCESSOR_ARCHITECTURE",
        "SYSTEMDRIVE",
        "SYSTEMROOT",
        "TEMP",
        "USERNAME",
        "USERPROFILE",
    )
    if WINDOWS
    else ("HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER")
)

#: Bytes asked for in one read: what a pipe holds by default.
READ_SIZE = 65536
#: Bytes that may wait for a child that does not read its stdin.
PENDING_LIMIT = 16 * 1024 * 1024
#: Bytes that are still taken from a pipe after the exit of the child: as many as a pipe can hold at the most.
#: What is behind them was written by descendants, and would have no end if they flood.
DRAIN_LIMIT = 1024 * 1024
#: Bytes kept of the end of stderr.
STDERR_LIMIT = 16 * 1024
#: Seconds between the end of stdout and the report of the end, in which the exit status may still arrive.
EXIT_GRACE = 0.25
#: Chunks of stdout that may have been handed to an event loop and not been looked at.
CHUNKS_ON_THEIR_WAY = 4
#: Seconds that a close waits for threads held up in a callback before it leaves them behind.
JOIN_TIMEOUT = 1.0
#: Seconds between two looks of the writing thread, while it has to wait, at whether its pipe was closed.
WRITER_LOOKS_UP = 0.1
#: Seconds between two looks at whether descendants of a finished child are still there.
GROUP_POLL = 0.01

Action = Literal["close_input", "terminate", "kill"]
"""What can be done to a child to make it end, from gentle to final."""

Stderr = Literal["inherit", "capture", "discard"] | int | IO[Any] | Callable[[bytes], object]
"""Where the child's stderr goes: to the host's stderr, to a bounded memory of its end, nowhere, to a file or
descriptor, or to a callback that gets the bytes as they come (the end is kept in memory as well)."""


class Step(NamedTuple):
    """One step of a shutdown: do `action`, then wait up to `wait` seconds for the child to end."""

    action: Action
    wait: float


class ExitStatus(NamedTuple):
    """How a child ended: `code` is its exit status, or minus the number of the signal that ended it."""

    code: int

    def __str__(self) -> str:
        if self.code >= 0:
            return f"exit status {self.code}"
        try:
            return f"signal {-self.code} ({signal.Signals(-self.code).name})"
        except ValueError:
            return f"signal {-self.code}"


def default_environment() -> dict[str, str]:
    """The part of the host's environment that every child inherits: :data:`INHERITED_VARIABLES` where they
    are set.

    Values that begin with ``()`` are left out: old shells keep functions in them, and would run them.
    """
    found = ((name, os.environ.get(name)) for name in INHERITED_VARIABLES)
    return {name: value for name, value in found if value is not None and not value.startswith("()")}


class Tail:
    """The last `limit` bytes of a stream."""

    __slots__ = ("_bytes", "_limit")

    def __init__(self, limit: int) -> None:
        self._bytes = bytearray()
        self._limit = limit

    def add(self, data: bytes) -> None:
        """Append `data`, dropping from the front what is over the limit."""
        self._bytes += data[-self._limit :] if self._limit else b""
        if len(self._bytes) > 2 * self._limit:
            del self._bytes[: -self._limit]

    def __bytes__(self) -> bytes:
        return bytes(self._bytes[-self._limit :]) if self._limit else b""


class InputPipe:
    """The child's stdin with the bytes that it has not taken yet. Bounded, and safe to use from several
    threads.

    The descriptor is used and closed under one lock, so that a late write can never reach a file that got its
    number.
    """

    __slots__ = ("_busy", "_chunks", "_finishing", "_limit", "_lock", "_stream", "size")

    def __init__(self, stream: IO[bytes], limit: int) -> None:
        self._stream = stream
        self._chunks: deque[bytes | memoryview] = deque()
        self._limit = limit
        self._lock = threading.Lock()
        self._finishing = False
        self._busy = False
        #: Bytes that wait.
        self.size = 0

    @property
    def descriptor(self) -> int | None:
        """The descriptor to wait on, or None once it is closed."""
        with self._lock:
            return None if self._stream.closed else self._stream.fileno()

    def write(self, data: bytes) -> bool:
        """Send `data`, or queue what is not taken; False when something waits. Dropped when the pipe is
        closed.

        One write of any size is taken when nothing waits. Raises BufferError when the bound would be passed.
        """
        with self._lock:
            if self._finishing or self._stream.closed:
                return True
            if not self._chunks:
                sent = self._send(data)
                if sent == len(data) or self._stream.closed:
                    return True
                data = data[sent:]
            self._queue(data)
            return False

    def queue(self, data: bytes) -> None:
        """Only queue `data`, for :meth:`flush_waiting`."""
        with self._lock:
            if not self._finishing and not self._stream.closed:
                self._queue(data)

    def flush(self) -> bool:
        """Send what is taken now; True when nothing waits any more."""
        with self._lock:
            while self._chunks and not self._stream.closed:
                chunk = self._chunks[0]
                sent = self._send(chunk)
                if self._stream.closed:
                    break
                self.size -= sent
                if sent < len(chunk):
                    self._chunks[0] = memoryview(chunk)[sent:]
                    return False
                self._chunks.popleft()
            if self._finishing:
                self._stream.close()
            return True

    def flush_waiting(self) -> None:
        """Send everything, waiting for the child; for the one writing thread of a platform with blocking
        pipes.
        """
        while True:
            with self._lock:
                self._busy = False
                if not self._chunks or self._stream.closed:
                    if self._finishing:
                        self._stream.close()
                    return
                self._busy = True
                chunk = self._chunks.popleft()
            try:
                self._stream.write(chunk)
            except OSError:
                self.close()
            with self._lock:
                self.size -= min(self.size, len(chunk))

    def finish(self) -> None:
        """Take no more, and close when everything has been sent."""
        with self._lock:
            self._finishing = True
            if not self._chunks and not self._busy:
                self._stream.close()

    def close(self) -> None:
        """Drop what waits and close."""
        with self._lock:
            self._finishing = True
            self._drop()
            if not self._busy:  # else the writing thread closes it
                self._stream.close()

    def _queue(self, data: bytes) -> None:
        if self.size and self.size + len(data) > self._limit:
            raise BufferError(f"the child has left {self.size} bytes unread")
        self._chunks.append(data)
        self.size += len(data)

    def _send(self, data: bytes | memoryview) -> int:
        try:
            return os.write(self._stream.fileno(), data)
        except BlockingIOError:
            return 0
        except OSError:
            # Nobody reads any more. The end of the child is told by its stdout and its exit.
            self._drop()
            self._stream.close()
            return 0

    def _drop(self) -> None:
        self._chunks.clear()
        self.size = 0


class ChildProcess:
    """A started child: the part that needs neither threads nor an event loop.

    The child gets three pipes and nothing else, a session of its own (so that Ctrl-C in the host's terminal
    does not reach it, and all its descendants can be signalled together), `cwd`, and
    :func:`default_environment` with `env` over it. Pass ``env=os.environ`` to hand everything down.

    Raises OSError when the command cannot be started, ValueError when it is empty.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        cwd: str | os.PathLike[str] | None = None,
        stderr: Stderr = "inherit",
        stderr_limit: int = STDERR_LIMIT,
        pending_limit: int = PENDING_LIMIT,
    ) -> None:
        if not command:
            raise ValueError("the command is empty")
        environment = {**default_environment(), **(env or {})}
        self._stderr_callback = stderr if callable(stderr) else None
        captured = stderr == "capture" or self._stderr_callback is not None
        self._popen = subprocess.Popen(
            _resolve(command, environment),
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE if captured else _stderr_target(stderr),
            cwd=cwd,
            env=environment,
            close_fds=True,
            start_new_session=not WINDOWS,
            creationflags=_creation_flags(),
        )
        assert self._popen.stdin is not None and self._popen.stdout is not None
        self._input = InputPipe(self._popen.stdin, pending_limit)
        self._stdout: int = self._popen.stdout.fileno()
        self._stderr: int | None = self._popen.stderr.fileno() if self._popen.stderr is not None else None
        self._tail = Tail(stderr_limit)
        self._group_gone = False
        self._end_reported = False
        self._released = False
        self._exit_descriptor = -1
        #: What ended a server in this process; a child has an exit status instead.
        self.failure: BaseException | None = None
        #: Gets the bytes of each read of the child's stdout, in order.
        self.on_data: Callable[[bytes], object] = _ignore
        #: Is called once, after the last `on_data`: the child has exited or closed its stdout.
        self.on_end: Callable[[], object] = _ignore
        #: Is called when all pending output has been taken after some had to wait.
        self.on_drained: Callable[[], object] = _ignore

    # -- what is known ---------------------------------------------------------------------------------------

    @property
    def pid(self) -> int:
        """The process id of the child, which is also the id of its process group."""
        return self._popen.pid

    @property
    def exit_status(self) -> ExitStatus | None:
        """How the child ended, or None as long as that is not known."""
        code = self._popen.returncode
        return None if code is None else ExitStatus(code)

    @property
    def stderr_tail(self) -> bytes:
        """The last bytes of stderr. Empty unless stderr is captured or goes to a callback."""
        return bytes(self._tail)

    @property
    def pending(self) -> int:
        """How many bytes wait for the child to read its stdin."""
        return self._input.size

    # -- what can be done to it ------------------------------------------------------------------------------

    def carry_out(self, action: Action) -> None:
        """Do one `action`. It returns at once, and does nothing to a child that has ended."""
        if action == "close_input":
            self._input.finish()
        else:
            # A child that has not read by now gets no more time for it.
            self._input.close()
            self._signal_group(force=action == "kill")

    def _signal_group(self, *, force: bool) -> None:
        """Signal the child and its descendants.

        The number of the group stays taken as long as it has a member, also when the child itself is gone; it
        is never signalled again once it was seen empty.
        """
        if WINDOWS:
            _end_tree_on_windows(self._popen)
        elif not self._has_ended():
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL if force else signal.SIGTERM)

    def _has_ended(self) -> bool:
        """Whether the child was reaped and no process of its group runs any more."""
        if self._popen.poll() is None:
            return False
        if not self._group_gone:
            self._group_gone = WINDOWS or not _group_runs(self.pid)
        return self._group_gone

    def _add_stderr(self, data: bytes) -> None:
        self._tail.add(data)
        if self._stderr_callback is not None:
            try:
                self._stderr_callback(data)
            except Exception:
                self._stderr_callback = None
                _report_callback_failure()

    def _drain(self) -> None:
        """Take what the pipes of an exited child still hold. Descendants may keep them open for ever."""
        for descriptor, take in ((self._stderr, self._add_stderr), (self._stdout, self.on_data)):
            left = 0 if self._end_reported else DRAIN_LIMIT
            while descriptor is not None and left > 0 and (data := _read_now(descriptor)):
                left -= len(data)
                take(data)

    def _report_end(self) -> None:
        if not self._end_reported:
            self._end_reported = True
            # Look at the group now: with the child reaped, the number of an empty one may get another owner.
            self._has_ended()
            self.on_end()

    def _open_exit_descriptor(self) -> None:
        """Open a descriptor that becomes readable when the child has exited. It does not reap it."""
        try:
            self._exit_descriptor = os.pidfd_open(self.pid)
        except (AttributeError, OSError):
            self._exit_descriptor = self._watch_exit_in_thread()

    def _watch_exit_in_thread(self) -> int:
        reader, writer = os.pipe()

        def watch() -> None:
            with suppress(OSError):
                os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)
            os.close(writer)

        threading.Thread(target=watch, name="barewire-exit", daemon=True).start()
        return reader

    def _release(self) -> None:
        """Close everything. A child that still runs, against SIGKILL, is left to a thread that reaps it."""
        if self._released:
            return
        self._released = True
        self._input.close()
        for stream in (self._popen.stdout, self._popen.stderr):
            if stream is not None:
                stream.close()
        if self._exit_descriptor >= 0:
            os.close(self._exit_descriptor)
        if self._popen.poll() is None:
            threading.Thread(target=self._popen.wait, name="barewire-reap", daemon=True).start()


class ThreadedChild(ChildProcess):
    """The flavour without an event loop: one thread reads, others are started only when there is work.

    `on_data`, `on_end` and `on_drained` are called through `post`, which by default calls them at once in the
    reading or writing thread. It raises RuntimeError when nobody is left to be told. All methods may be
    called from any thread.
    """

    def __init__(
        self, command: Sequence[str], *, post: Callable[..., object] | None = None, **options: Any
    ) -> None:
        super().__init__(command, **options)
        self._post = post or _call
        self._chunks_on_their_way = threading.Semaphore(CHUNKS_ON_THEIR_WAY)
        self._resumed = threading.Event()
        self._resumed.set()
        self._closing = threading.Lock()
        self._threads: list[threading.Thread] = []
        self._stderr_done = threading.Event()
        self._writer: threading.Thread | None = None
        self._write_wanted = threading.Condition()
        if not WINDOWS:
            self._open_exit_descriptor()
            assert self._popen.stdin is not None
            os.set_blocking(self._popen.stdin.fileno(), False)

    def start(self) -> None:
        """Begin to read. The three callbacks must be set by now."""
        self._start_thread(self._read_stdout, "barewire-read")
        if self._stderr is None:
            self._stderr_done.set()
        else:
            self._start_thread(self._read_stderr, "barewire-stderr")

    def write(self, data: bytes) -> None:
        """Send `data` to the child's stdin without waiting for it.

        What the child does not take is kept and sent by a thread. Data for a child that has ended is dropped.
        Raises BufferError when more than the bound waits.
        """
        if WINDOWS:  # no pipe of this platform can be written without waiting: the thread does all of it
            self._input.queue(data)
            self._wake_writer()
        elif not self._input.write(data):
            self._wake_writer()

    def pause(self) -> None:
        """Stop reading stdout, so that the child has to wait. A chunk already on its way still arrives."""
        self._resumed.clear()

    def resume(self) -> None:
        """Go on reading after :meth:`pause`."""
        self._resumed.set()

    def carry_out(self, action: Action) -> None:
        """Do one `action`. It returns at once, and does nothing to a child that has ended."""
        super().carry_out(action)
        self._notify_writer()

    def close(self, steps: Iterable[Step]) -> None:
        """Make the child end by `steps`, and close all that belongs to it.

        It takes no longer than the waits of the steps together, whatever the child does.
        The callbacks go on being called until the child is gone.
        """
        with self._closing:
            if self._released:
                return
            self.resume()
            try:
                for step in steps:
                    self.carry_out(step.action)
                    if self._wait_ended(step.wait):
                        break
            except BaseException:
                self.carry_out("kill")
                raise
            finally:
                self._finish()

    def _finish(self) -> None:
        """Release everything when the threads have left it; later and elsewhere if one of them is held up."""
        self._input.close()
        self._notify_writer()
        busy = [thread for thread in self._threads if thread is not threading.current_thread()]
        for thread in busy:
            thread.join(JOIN_TIMEOUT)
        if len(busy) == len(self._threads) and not any(thread.is_alive() for thread in busy):
            self._release()
        else:
            threading.Thread(target=self._release_later, name="barewire-reap", daemon=True).start()

    def _release_later(self) -> None:
        for thread in self._threads:
            thread.join()
        self._release()

    def _wait_ended(self, seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        while not self._has_ended():
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            if self._popen.returncode is not None:
                time.sleep(min(GROUP_POLL, left))
            else:
                self._wait_exit(left)
        return True

    def _wait_exit(self, seconds: float) -> bool:
        if WINDOWS:
            try:
                self._popen.wait(seconds)
            except subprocess.TimeoutExpired:
                return False
            return True
        return _wait_ready(self._exit_descriptor, select.POLLIN, seconds)

    # -- threads ---------------------------------------------------------------------------------------------

    def _start_thread(self, run: Callable[[], None], name: str) -> threading.Thread:
        thread = threading.Thread(target=run, name=name, daemon=True)
        self._threads.append(thread)
        thread.start()
        return thread

    def _read_stdout(self) -> None:
        with suppress(RuntimeError):
            self._read(self._stdout, self._hand_over, self._resumed)
        # The end of stdout comes just before the exit, and the exit status belongs to the report of the end.
        # Unless a descendant holds stderr open, the last words are in when its reader is done.
        if self._wait_exit(EXIT_GRACE):
            self._stderr_done.wait(EXIT_GRACE)
        with suppress(RuntimeError):
            self._post(self._report_end)

    def _hand_over(self, data: bytes) -> None:
        """Post `data`, but not before an earlier chunk was taken when too many are on their way."""
        self._chunks_on_their_way.acquire()
        self._post(self._deliver, data)

    def _deliver(self, data: bytes) -> None:
        try:
            self.on_data(data)
        finally:
            self._chunks_on_their_way.release()

    def _read_stderr(self) -> None:
        assert self._stderr is not None
        self._read(self._stderr, self._add_stderr, None)
        self._stderr_done.set()

    def _read(
        self, descriptor: int, take: Callable[[bytes], object], resumed: threading.Event | None
    ) -> None:
        """Read `descriptor` to its end, or until the child has exited and the pipe is empty."""
        left = DRAIN_LIMIT
        poll = None if WINDOWS else _poll_object((descriptor, self._exit_descriptor), select.POLLIN)
        while left > 0:
            if resumed is not None:
                resumed.wait()
            ready = [descriptor] if poll is None else [ready for ready, _ in poll.poll()]
            if descriptor not in ready:
                return
            try:
                data = os.read(descriptor, READ_SIZE)
            except OSError:
                return
            if not data:
                return
            if self._exit_descriptor in ready:
                left -= len(data)
            take(data)

    def _wake_writer(self) -> None:
        with self._write_wanted:
            if self._writer is None:
                self._writer = self._start_thread(self._write_pending, "barewire-write")
        self._notify_writer()

    def _notify_writer(self) -> None:
        with self._write_wanted:
            self._write_wanted.notify_all()

    def _write_pending(self) -> None:
        while True:
            with self._write_wanted:
                self._write_wanted.wait_for(lambda: self._input.size or self._input.descriptor is None)
            descriptor = self._input.descriptor
            if descriptor is None:
                return
            if WINDOWS:
                self._input.flush_waiting()
            else:
                _wait_ready(descriptor, select.POLLOUT, WRITER_LOOKS_UP)
                self._input.flush()
            if not self._input.size:
                with suppress(RuntimeError):
                    self._post(self.on_drained)


def _ignore(*_: object) -> None:
    pass


def _call(function: Callable[..., object], *arguments: object) -> None:
    function(*arguments)


def _report_callback_failure() -> None:
    """Log the exception being handled, which the user's callback raised. The connection goes on."""
    import logging

    logging.getLogger("barewire").exception("the stderr callback failed and is not called again")


def _stderr_target(stderr: Stderr) -> int | IO[Any] | None:
    if stderr == "inherit":
        return None
    if stderr == "discard":
        return subprocess.DEVNULL
    if isinstance(stderr, str) or callable(stderr):
        raise ValueError(f"unknown destination for stderr: {stderr!r}")
    return stderr


def _resolve(command: Sequence[str], environment: Mapping[str, str]) -> list[str]:
    """On Windows, find scripts such as ``npx.cmd``, which the system itself does not look for."""
    arguments = [os.fspath(argument) for argument in command]
    if WINDOWS:
        import shutil

        arguments[0] = shutil.which(arguments[0], path=environment.get("PATH")) or arguments[0]
    return arguments


def _creation_flags() -> int:
    """On Windows: a process group of its own, and no console window."""
    if sys.platform == "win32":
        return subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.CREATE_NO_WINDOW
    return 0


def _end_tree_on_windows(popen: subprocess.Popen[bytes]) -> None:
    """End the child and its descendants. A process without a console takes no polite signal."""
    if popen.poll() is None:
        try:
            subprocess.run(
                ["taskkill", "/T", "/F", "/PID", str(popen.pid)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                creationflags=_creation_flags(),
                timeout=5,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            popen.kill()


def _group_runs(group: int) -> bool:
    """Whether a process of `group` is still running. Ended ones that nobody reaps (a container without an
    init process leaves them behind) do not count where that can be told.
    """
    try:
        os.killpg(group, 0)
    except (ProcessLookupError, PermissionError):
        return False
    if not sys.platform.startswith("linux"):
        return True
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat", "rb") as file:
                    state, _, process_group = file.read().rpartition(b")")[2].split(maxsplit=3)[:3]
            except (OSError, ValueError):
                continue
            if int(process_group) == group and state not in (b"Z", b"X"):
                return True
    return False


def _read_now(descriptor: int) -> bytes:
    """One read that does not wait; empty when there is nothing. `descriptor` must not block."""
    try:
        return os.read(descriptor, READ_SIZE)
    except OSError:
        return b""


def _poll_object(descriptors: Sequence[int], wanted: int) -> select.poll:
    """Something to wait with. Unlike ``select`` it takes descriptors of any number."""
    poll = select.poll()
    for descriptor in descriptors:
        poll.register(descriptor, wanted)
    return poll


def _wait_ready(descriptor: int, wanted: int, seconds: float) -> bool:
    return bool(_poll_object((descriptor,), wanted).poll(max(0, seconds) * 1000))
