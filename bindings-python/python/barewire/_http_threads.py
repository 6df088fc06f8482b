"""Exchanges of the blocking client: one thread with an event loop carries out all of them.

A thread for each could not be stopped while it reads; a task can.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from ._clock import now
from ._http_client import AsyncExchanges

if TYPE_CHECKING:
    from concurrent.futures import Future

    from . import _native as native
    from ._carriage import HttpCarriage
    from ._engine import HttpOptions

__all__ = ["LoopThread", "ThreadExchanges"]


class LoopThread:
    """An event loop in a thread of its own. Its methods may be called from every thread."""

    def __init__(self, time_passed: Callable[[], object]) -> None:
        self._loop = asyncio.new_event_loop()
        self._time_passed = time_passed
        self._timer: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._thread = threading.Thread(target=self._loop.run_forever, name="barewire-http", daemon=True)
        self._thread.start()

    def waker(self) -> LoopWaker:
        """Something for a task of the loop to wait with."""
        return LoopWaker(self._loop)

    def spawn(self, function: Callable[..., Awaitable[None]], *arguments: Any) -> Callable[[], object]:
        """Run `function` in a task; what is returned cancels it. To be called in the loop."""

        async def run() -> None:
            await function(*arguments)

        task = self._loop.create_task(run())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task.cancel

    def call(self, function: Callable[..., object], *arguments: Any) -> None:
        """Call `function` in the loop, in the order in which this is called."""
        self._loop.call_soon_threadsafe(function, *arguments)

    def run(self, coroutine: Any) -> Future[None]:
        """Run a coroutine, for somebody who waits for it."""
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop)

    def wake_up_at(self, deadline: int) -> None:
        """Call `time_passed` at `deadline`, instead of at an earlier one set before."""
        self._loop.call_soon_threadsafe(self._set_timer, deadline)

    def stop(self) -> None:
        """End all tasks, and the thread. Not to be called in the loop."""
        self.run(self._end_tasks()).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _end_tasks(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _set_timer(self, deadline: int) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._loop.call_later(max(0, deadline - now()) / 1000, self._time_passed)


class LoopWaker:
    """A waker for a task of the loop that any thread may wake."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._event = asyncio.Event()

    def wake(self) -> None:
        """Let `wait` return."""
        self._loop.call_soon_threadsafe(self._event.set)

    async def wait(self) -> None:
        """Wait for a `wake` since the last time."""
        await self._event.wait()
        self._event.clear()


class ThreadExchanges:
    """The same exchanges as the asynchronous client's, in a thread."""

    def __init__(
        self, carriage: HttpCarriage, options: HttpOptions, time_passed: Callable[[], object]
    ) -> None:
        self.thread = LoopThread(time_passed)
        try:
            self._exchanges = AsyncExchanges(self.thread, carriage, options)
        except BaseException:  # a mistake in the options
            self.thread.stop()
            raise

    def start(self, request: native.HttpRequest) -> None:
        """Send a request, and hand in what comes back."""
        self.thread.call(self._exchanges.start, request)

    def abort(self, exchange: int) -> None:
        """Give up an exchange."""
        self.thread.call(self._exchanges.abort, exchange)

    def authorize(self, refused: native.AuthorizationRequired) -> None:
        """Come by what a refused exchange lacks, and have it sent again."""
        self.thread.call(self._exchanges.authorize, refused)

    def progressed(self) -> None:
        """The machine may want to read on where it did not."""
        self._exchanges.progressed()

    def close(self) -> Future[None]:
        """Begin to end in order. When that is done, stop the thread."""
        return self.thread.run(self._exchanges.aclose())
