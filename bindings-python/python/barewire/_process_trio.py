"""The trio flavour of :mod:`barewire._process`."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import trio

from ._process import (
    EXIT_GRACE,
    GROUP_POLL,
    READ_SIZE,
    Action,
    ChildProcess,
    Step,
    ThreadedChild,
)

__all__ = ["TrioChild", "open_child"]


class TrioChild(ChildProcess):
    """A child whose pipes are served by tasks in `nursery`. Callbacks run in them and must not raise."""

    def __init__(self, command: Sequence[str], *, nursery: trio.Nursery, **options: Any) -> None:
        super().__init__(command, **options)
        self._nursery = nursery
        self._exited = trio.Event()
        self._closing = trio.Lock()
        self._resumed = trio.Event()
        self._resumed.set()
        self._writing = False
        self._scope = trio.CancelScope(shield=True)
        self._open_exit_descriptor()

    def start(self) -> None:
        """Begin to read. The three callbacks must be set by now."""
        for stream in (self._popen.stdin, self._popen.stdout, self._popen.stderr):
            if stream is not None:
                os.set_blocking(stream.fileno(), False)
        self._nursery.start_soon(self._serve)

    def write(self, data: bytes) -> None:
        """Send `data` to the child's stdin without waiting for it. Data for a child that has ended is
        dropped.

        Raises BufferError when more than the bound waits.
        """
        if not self._input.write(data):
            self._watch_input()

    def pause(self) -> None:
        """Stop reading stdout, so that the child has to wait. A chunk already on its way still arrives."""
        if self._resumed.is_set():
            self._resumed = trio.Event()

    def resume(self) -> None:
        """Go on reading after :meth:`pause`."""
        self._resumed.set()

    def carry_out(self, action: Action) -> None:
        """Do one `action`. It returns at once, and does nothing to a child that has ended."""
        self._notify_input_closing()
        super().carry_out(action)
        if self._input.size:
            self._watch_input()

    async def aclose(self, steps: Iterable[Step]) -> None:
        """Make the child end by `steps`, and close all that belongs to it.

        It takes no longer than the waits of the steps together, whatever the child does.
        The callbacks go on being called until the child is gone. Cancellation does not cut the steps short,
        as it would in a block that is left because of a cancellation; their waits bound it.
        """
        with trio.CancelScope(shield=True):
            async with self._closing:
                if not self._released:
                    self.resume()
                    await self._take(steps)

    async def _take(self, steps: Iterable[Step]) -> None:
        try:
            for step in steps:
                self.carry_out(step.action)
                with trio.move_on_after(step.wait):
                    await self._wait_ended()
                    break
        finally:
            self._scope.cancel()
            self._notify_input_closing()
            for descriptor in (self._stdout, self._stderr, self._exit_descriptor):
                if descriptor is not None:
                    trio.lowlevel.notify_closing(descriptor)
            self._release()
            self._report_end()

    async def _wait_ended(self) -> None:
        await self._exited.wait()
        while not self._has_ended():
            await trio.sleep(GROUP_POLL)

    # -- tasks -----------------------------------------------------------------------------------------------

    async def _serve(self) -> None:
        # Shielded, since the child still has to be served while it is closed in a cancelled block. It ends
        # with the child, and `aclose` sees to that.
        with self._scope:
            async with trio.open_nursery() as nursery:
                if self._stderr is not None:
                    nursery.start_soon(self._read, self._stderr, self._add_stderr, None)
                nursery.start_soon(self._read_stdout)
                await self._wait_readable(self._exit_descriptor)
                self._exited.set()
                await self._resumed.wait()
                nursery.cancel_scope.cancel()
                self._drain()
                self._report_end()

    async def _read_stdout(self) -> None:
        await self._read(self._stdout, lambda data: self.on_data(data), self)
        # The exit comes just behind, and its status belongs to the report of the end.
        await trio.sleep(EXIT_GRACE)
        self._report_end()

    async def _read(
        self, descriptor: int, take: Callable[[bytes], object], pausing: TrioChild | None
    ) -> None:
        while True:
            if pausing is not None:
                await pausing._resumed.wait()
            if not await self._wait_readable(descriptor):
                return
            try:
                data = os.read(descriptor, READ_SIZE)
            except BlockingIOError:
                continue
            except OSError:
                return
            if not data:
                return
            take(data)

    async def _wait_readable(self, descriptor: int) -> bool:
        try:
            await trio.lowlevel.wait_readable(descriptor)
        except trio.ClosedResourceError:
            return False
        return True

    def _watch_input(self) -> None:
        if not self._writing:
            self._writing = True
            self._nursery.start_soon(self._write_pending)

    async def _write_pending(self) -> None:
        with trio.CancelScope(shield=True):
            while (descriptor := self._input.descriptor) is not None and self._input.size:
                try:
                    await trio.lowlevel.wait_writable(descriptor)
                except trio.ClosedResourceError:
                    continue
                self._input.flush()
        self._writing = False
        self.on_drained()

    def _notify_input_closing(self) -> None:
        if (descriptor := self._input.descriptor) is not None:
            trio.lowlevel.notify_closing(descriptor)


class ThreadedTrioChild(ThreadedChild):
    """For platforms where trio cannot watch these pipes (Windows): threads move the bytes, callbacks run in
    trio.
    """

    def __init__(self, command: Sequence[str], *, nursery: trio.Nursery, **options: Any) -> None:
        token = trio.lowlevel.current_trio_token()
        super().__init__(command, post=token.run_sync_soon, **options)

    async def aclose(self, steps: Iterable[Step]) -> None:
        """As :meth:`TrioChild.aclose`."""
        with trio.CancelScope(shield=True):
            await trio.to_thread.run_sync(self.close, steps)


def open_child(
    command: Sequence[str], *, nursery: trio.Nursery, **options: Any
) -> TrioChild | ThreadedTrioChild:
    """Start `command` with pipes served in `nursery`. Options as for :class:`ChildProcess`."""
    kind = ThreadedTrioChild if sys.platform == "win32" else TrioChild
    return kind(command, nursery=nursery, **options)
