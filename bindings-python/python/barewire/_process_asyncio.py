"""The asyncio flavour of :mod:`barewire._process`."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import IO, Any

from ._process import (
    EXIT_GRACE,
    GROUP_POLL,
    READ_SIZE,
    Action,
    ChildProcess,
    Step,
    ThreadedChild,
)

__all__ = ["AsyncioChild", "open_child"]


class AsyncioChild(ChildProcess):
    """A child whose pipes the running event loop watches. For use on that loop only; callbacks run on it."""

    def __init__(self, command: Sequence[str], **options: Any) -> None:
        super().__init__(command, **options)
        self._loop = asyncio.get_running_loop()
        self._exited = asyncio.Event()
        self._closing = asyncio.Lock()
        self._paused = False
        self._writing: int | None = None
        self._watched: set[int] = set()
        self._open_exit_descriptor()

    def start(self) -> None:
        """Begin to read. The three callbacks must be set by now."""
        streams: tuple[IO[bytes] | None, ...] = (self._popen.stdin, self._popen.stdout, self._popen.stderr)
        for stream in streams:
            if stream is not None:
                os.set_blocking(stream.fileno(), False)
        self._watch(self._stdout, self._read_stdout)
        if self._stderr is not None:
            self._watch(self._stderr, self._read_stderr)
        self._watch(self._exit_descriptor, self._notice_exit)

    def write(self, data: bytes) -> None:
        """Send `data` to the child's stdin without waiting for it. Data for a child that has ended is
        dropped.

        Raises BufferError when more than the bound waits.
        """
        if not self._input.write(data):
            self._watch_input()

    def pause(self) -> None:
        """Stop reading stdout, so that the child has to wait."""
        self._paused = True
        self._unwatch(self._stdout)

    def resume(self) -> None:
        """Go on reading after :meth:`pause`."""
        if self._paused:
            self._paused = False
            if self._exited.is_set():
                self._loop.call_soon(self._end)
            elif not self._end_reported:
                self._watch(self._stdout, self._read_stdout)

    def carry_out(self, action: Action) -> None:
        """Do one `action`. It returns at once, and does nothing to a child that has ended."""
        self._unwatch_input()
        super().carry_out(action)
        if self._input.size:
            self._watch_input()

    async def aclose(self, steps: Iterable[Step]) -> None:
        """Make the child end by `steps`, and close all that belongs to it.

        It takes no longer than the waits of the steps together, whatever the child does.
        The callbacks go on being called until the child is gone. When this is cancelled, the child is killed.
        """
        async with self._closing:
            if self._released:
                return
            self.resume()
            try:
                for step in steps:
                    self.carry_out(step.action)
                    if await self._wait_ended(step.wait):
                        break
            except BaseException:
                self.carry_out("kill")
                raise
            finally:
                self._unwatch_input()
                for descriptor in tuple(self._watched):
                    self._unwatch(descriptor)
                self._release()
                self._report_end()

    async def _wait_ended(self, seconds: float) -> bool:
        deadline = self._loop.time() + seconds
        try:
            await asyncio.wait_for(self._exited.wait(), seconds)
        except asyncio.TimeoutError:
            return False
        while not self._has_ended():
            if self._loop.time() >= deadline:
                return False
            await asyncio.sleep(GROUP_POLL)
        return True

    # -- called by the loop ----------------------------------------------------------------------------------

    def _read_stdout(self) -> None:
        try:
            data = os.read(self._stdout, READ_SIZE)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if data:
            self.on_data(data)
        else:
            self._unwatch(self._stdout)
            # The exit comes just behind, and its status belongs to the report of the end.
            self._loop.call_later(EXIT_GRACE, self._report_end)

    def _read_stderr(self) -> None:
        assert self._stderr is not None
        try:
            data = os.read(self._stderr, READ_SIZE)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if data:
            self._add_stderr(data)
        else:
            self._unwatch(self._stderr)

    def _notice_exit(self) -> None:
        self._unwatch(self._exit_descriptor)
        self._exited.set()
        if not self._paused:
            self._end()

    def _end(self) -> None:
        if not self._released:
            self._unwatch(self._stdout)
            self._drain()
            self._report_end()

    def _flush(self) -> None:
        self._unwatch_input()
        if self._input.flush():
            self.on_drained()
        else:
            self._watch_input()

    def _watch(self, descriptor: int, callback: Callable[[], None]) -> None:
        self._watched.add(descriptor)
        self._loop.add_reader(descriptor, callback)

    def _unwatch(self, descriptor: int) -> None:
        if descriptor in self._watched:
            self._watched.discard(descriptor)
            self._loop.remove_reader(descriptor)

    def _watch_input(self) -> None:
        if self._writing is None and (descriptor := self._input.descriptor) is not None:
            self._writing = descriptor
            self._loop.add_writer(descriptor, self._flush)

    def _unwatch_input(self) -> None:
        # Before the descriptor is closed, since its number may soon be that of another file.
        if self._writing is not None:
            self._loop.remove_writer(self._writing)
            self._writing = None


class ThreadedAsyncioChild(ThreadedChild):
    """For loops that cannot watch pipes (Windows): threads move the bytes, callbacks run on the loop."""

    def __init__(self, command: Sequence[str], **options: Any) -> None:
        self._loop = asyncio.get_running_loop()
        super().__init__(command, post=self._loop.call_soon_threadsafe, **options)

    async def aclose(self, steps: Iterable[Step]) -> None:
        """As :meth:`AsyncioChild.aclose`. A cancelled close goes on in its thread."""
        await self._loop.run_in_executor(None, self.close, steps)


def open_child(command: Sequence[str], **options: Any) -> AsyncioChild | ThreadedAsyncioChild:
    """Start `command` with pipes that the running loop can serve. Options as for :class:`ChildProcess`."""
    if sys.platform == "win32":
        return ThreadedAsyncioChild(command, **options)
    return AsyncioChild(command, **options)
