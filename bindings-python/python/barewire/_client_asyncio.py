"""The asyncio host of a client."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from . import _native as native
from ._carriage import Exchanges, Link
from ._client_host import AsyncHost, open_exchanges
from ._clock import now
from ._engine import Options, Progress, name_late, shutdown_steps
from ._errors import RequestTimedOutError

if TYPE_CHECKING:
    from ._http_client import AsyncExchanges

__all__ = ["AsyncioHost"]


class AsyncioWaker:
    """A :class:`Waker` for one task on one loop."""

    __slots__ = ("_event",)

    def __init__(self) -> None:
        self._event = asyncio.Event()

    def wake(self) -> None:
        """Let `wait` return."""
        self._event.set()

    async def wait(self) -> None:
        """Wait for a `wake` since the last time."""
        await self._event.wait()
        self._event.clear()


class FutureSlot:
    """A slot of a caller who wants the result alone."""

    __slots__ = ("_future",)

    def __init__(self, future: asyncio.Future[bytes]) -> None:
        self._future = future

    def settle(self, result: bytes) -> None:
        """The request ended well."""
        if not self._future.done():  # its task may have been cancelled in this turn of the loop
            self._future.set_result(result)

    def fail(self, error: Exception) -> None:
        """The request ended without a result."""
        if not self._future.done():
            self._future.set_exception(error)

    def report(self, progress: Progress) -> None:
        """Nobody asked."""


class AsyncioHost(AsyncHost):
    """Runs a client on the running event loop. Not to be used from another thread."""

    def __init__(self, options: Options, handlers: Mapping[native.InputKindName, Callable[..., Any]]) -> None:
        super().__init__(options, handlers)
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._links: list[Any] = []
        self._exchanges: AsyncExchanges | None = None

    def waker(self) -> AsyncioWaker:
        """Something to wait with."""
        return AsyncioWaker()

    def spawn(self, function: Callable[..., Awaitable[None]], *arguments: Any) -> Callable[[], object]:
        """Run `function` in a task; what is returned cancels it."""

        async def run() -> None:
            await function(*arguments)

        task = self._loop.create_task(run())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task.cancel

    async def in_thread(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Run `function` in a thread, which is left alone when the task is cancelled.

        It is none of the loop's own, for which the end of the program would wait.
        """
        done: asyncio.Future[Any] = self._loop.create_future()
        context = contextvars.copy_context()

        def settle(set_outcome: Callable[[Any], None], outcome: object) -> None:
            if not done.done():
                set_outcome(outcome)

        def work() -> None:
            try:
                outcome = done.set_result, context.run(function, *arguments)
            except BaseException as error:
                outcome = done.set_exception, _fit_for_future(error)
            with suppress(RuntimeError):  # the loop is closed, and nobody waits
                self._loop.call_soon_threadsafe(settle, *outcome)

        threading.Thread(target=work, name="barewire-answer", daemon=True).start()
        return await done

    async def run(
        self, what: str, start: Callable[[], int], on_progress: Callable[[Progress], object] | None = None
    ) -> bytes:
        """Start a request and wait for its result. Cancelling this cancels the request."""
        if on_progress is not None:
            return await super().run(what, start, on_progress)
        self.check()
        since = now()
        handle = start()
        future: asyncio.Future[bytes] = self._loop.create_future()
        self.slots[handle] = FutureSlot(future)
        self.commanded()
        try:
            return await future
        except RequestTimedOutError as error:
            name_late(error, what, since)
            raise
        except asyncio.CancelledError:
            self.abandon(handle)
            raise

    def open_link(self) -> Link:
        """Start the server."""
        options = self.options
        link: Any
        if options.server is not None:
            from ._memory import MemoryLink

            link = MemoryLink(options.server)
        else:
            assert options.command is not None
            from ._process_asyncio import open_child

            link = open_child(options.command, env=options.env, cwd=options.cwd, stderr=options.stderr)
        self._links.append(link)
        return link  # type: ignore[no-any-return]

    def open_exchanges(self) -> Exchanges:
        """Make ready for requests over HTTP."""
        self._exchanges = open_exchanges(self)
        return self._exchanges

    def retire_link(self, link: Link) -> None:
        """It is closed with the others, at the latest; a child that has ended costs nothing until then."""
        self.spawn(self._close_link, link)

    async def _close_link(self, link: Any) -> None:
        await link.aclose(shutdown_steps(self.options.timeouts))

    async def leave(self) -> None:
        """End what was spawned, and close the link."""
        try:
            if self._exchanges is not None:
                await self._exchanges.aclose()
            for link in self._links:
                await self._close_link(link)
        finally:
            if self._timer is not None:
                self._timer.cancel()
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    def wake_up_at(self, deadline: int) -> None:
        """Call `time_passed` at `deadline`."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._loop.call_later(max(0, deadline - now()) / 1000, self.time_passed)


def _fit_for_future(error: BaseException) -> Exception:
    """What a thread has raised, as an error that ends no event loop and that a future takes."""
    if isinstance(error, Exception) and not isinstance(error, StopIteration):
        return error
    fit = RuntimeError(f"the thread raised {error!r}")
    fit.__cause__ = error
    return fit
