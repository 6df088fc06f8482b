"""The asyncio side of serving: takes a host over when the first handler needs an event loop."""

from __future__ import annotations

import asyncio
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from ._serve import Host


class LoopDriver:
    """Drives the connection of a host on the running loop until it is finished."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._loop = asyncio.get_running_loop()
        self._done: asyncio.Future[None] = self._loop.create_future()
        self._reading = False
        self._always_readable = False
        self._writing = False
        self._timer: asyncio.TimerHandle | None = None
        self._due: int | None = None

    async def run(self) -> None:
        """Serve until the end; on cancellation the connection is closed."""
        host = self._host
        host.loop = self._loop
        host.start_task = eager_starter(self._loop)
        host.on_blocked = self._watch_output
        host.on_advance = self._turn
        host.wake = self._wake
        host.has_loop = True
        # Not from this task: handlers start as tasks of their own, right where they are called.
        self._loop.call_soon(self._begin)
        try:
            await self._done
        finally:
            self._leave()

    def _begin(self) -> None:
        self._host.run_posted()
        self._host.connection.run_deferred()
        if self._host.writer.is_blocked:
            self._watch_output()
        self._turn()

    def _leave(self) -> None:
        host = self._host
        host.has_loop = False
        host.wake = host.on_blocked = host.on_advance = lambda: None
        if not host.connection.finished:
            host.connection.close()
            host.flush()
        self._watch_input(False)
        self._unwatch_output()
        if self._timer is not None:
            self._timer.cancel()

    def _turn(self) -> None:
        """After anything has happened: write, and see what is to be waited for."""
        host = self._host
        host.settle()
        if host.finished:
            if not self._done.done():
                self._done.set_result(None)
            return
        reads = host.reads
        if reads != self._reading:
            self._watch_input(reads)
        due = host.due
        if due != self._due:
            self._set_timer(due)

    # ------------------------------------------------------------ input

    def _watch_input(self, reads: bool) -> None:
        if reads == self._reading:
            return
        self._reading = reads
        if self._always_readable:
            if reads:
                self._loop.call_soon(self._read_plain)
        elif reads:
            try:
                self._loop.add_reader(self._host.source, self._readable)
            except PermissionError:  # a regular file: it cannot be watched, and never blocks
                self._always_readable = True
                self._loop.call_soon(self._read_plain)
        else:
            self._loop.remove_reader(self._host.source)

    def _readable(self) -> None:
        self._host.read()
        self._turn()

    def _read_plain(self) -> None:
        if self._reading:
            self._readable()
        if self._reading:
            self._loop.call_soon(self._read_plain)

    # ------------------------------------------------------------ output, time, other threads

    def _watch_output(self) -> None:
        if not self._writing:
            self._writing = True
            self._loop.add_writer(self._host.writer.target, self._writable)

    def _unwatch_output(self) -> None:
        if self._writing:
            self._writing = False
            self._loop.remove_writer(self._host.writer.target)

    def _writable(self) -> None:
        if self._host.send():
            self._unwatch_output()
        self._turn()

    def _set_timer(self, due: int | None) -> None:
        from ._dispatch import now

        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._due = due
        if due is not None:
            self._timer = self._loop.call_later(max(0, due - now()) / 1000, self._timeout)

    def _timeout(self) -> None:
        self._timer = self._due = None
        self._host.handle_due()
        self._turn()

    def _wake(self) -> None:
        with suppress(RuntimeError):  # the loop is closed: a worker thread has outlived the connection
            self._loop.call_soon_threadsafe(self._run_posted)

    def _run_posted(self) -> None:
        self._host.run_posted()
        self._turn()


def eager_starter(loop: asyncio.AbstractEventLoop) -> Callable[[Coroutine[Any, Any, Any]], asyncio.Task[Any]]:
    """What starts a coroutine as a task and runs it at once up to its first wait.

    Most handlers never wait, and are done without a turn of the loop. From Python 3.12 that is
    what eager tasks are. Before, the step that a new task hands to `loop.call_soon` is caught
    and run right away, which comes to the same as long as no other task is running.
    """
    if sys.version_info >= (3, 12):
        return lambda coroutine: asyncio.Task(coroutine, loop=loop, eager_start=True)

    caught: Any = None

    def catch(step: Callable[..., Any], *, context: Any = None) -> None:
        nonlocal caught
        caught = (step, context)

    def start(coroutine: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        try:
            loop.call_soon = catch  # type: ignore[method-assign, assignment]
        except AttributeError:  # a loop not written in Python
            return loop.create_task(coroutine)
        try:
            task = asyncio.Task(coroutine, loop=loop)
        finally:
            del loop.call_soon
        step, context = caught
        context.run(step)
        return task

    return start
