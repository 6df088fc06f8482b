"""The trio host of a client."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any

import trio

from . import _native as native
from ._carriage import Exchanges, Link
from ._client_host import AsyncHost, open_exchanges
from ._clock import now
from ._engine import Options, shutdown_steps

if TYPE_CHECKING:
    from ._http_client import AsyncExchanges

__all__ = ["TrioHost"]


class TrioWaker:
    """A :class:`Waker` for one task."""

    __slots__ = ("_event",)

    def __init__(self) -> None:
        self._event = trio.Event()

    def wake(self) -> None:
        """Let `wait` return."""
        self._event.set()

    async def wait(self) -> None:
        """Wait for a `wake` since the last time."""
        await self._event.wait()
        self._event = trio.Event()


class TrioHost(AsyncHost):
    """Runs a client in tasks of a nursery of its own."""

    def __init__(self, options: Options, handlers: Mapping[native.InputKindName, Callable[..., Any]]) -> None:
        super().__init__(options, handlers)
        self._manager: AbstractAsyncContextManager[trio.Nursery] = trio.open_nursery()
        self._deadline: int | None = None
        self._deadline_set = self.waker()
        self._links: list[Any] = []
        self._exchanges: AsyncExchanges | None = None

    def waker(self) -> TrioWaker:
        """Something to wait with."""
        return TrioWaker()

    def spawn(self, function: Callable[..., Awaitable[None]], *arguments: Any) -> Callable[[], object]:
        """Run `function` in a task; what is returned cancels it."""
        scope = trio.CancelScope()

        async def run() -> None:
            with scope:
                await function(*arguments)

        self._nursery.start_soon(run)
        return scope.cancel

    async def in_thread(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Run `function` in a thread, which is left alone when the task is cancelled."""
        return await trio.to_thread.run_sync(function, *arguments, abandon_on_cancel=True)

    def open_link(self) -> Link:
        """Start the server."""
        options = self.options
        link: Any
        if options.server is not None:
            from ._memory import ThreadedMemoryLink

            link = ThreadedMemoryLink(options.server, trio.lowlevel.current_trio_token().run_sync_soon)
        else:
            assert options.command is not None
            from ._process_trio import open_child

            link = open_child(
                options.command,
                nursery=self._nursery,
                env=options.env,
                cwd=options.cwd,
                stderr=options.stderr,
            )
        self._links.append(link)
        return link  # type: ignore[no-any-return]

    def open_exchanges(self) -> Exchanges:
        """Make ready for requests over HTTP."""
        self._exchanges = open_exchanges(self)
        return self._exchanges

    def retire_link(self, link: Link) -> None:
        """Close a link that is not used any more, without waiting for it."""
        self.spawn(self._close_link, link)

    async def _close_link(self, link: Any) -> None:
        if self.options.server is not None:
            with trio.CancelScope(shield=True):
                await trio.to_thread.run_sync(link.close)
        else:
            await link.aclose(shutdown_steps(self.options.timeouts))

    async def enter(self) -> None:
        """Open the nursery."""
        self._nursery = await self._manager.__aenter__()
        self.spawn(self._keep_time)

    async def leave(self) -> None:
        """End what was spawned, and close the link."""
        try:
            if self._exchanges is not None:
                await self._exchanges.aclose()
            for link in self._links:
                await self._close_link(link)
        finally:
            # Whatever ends this early, the nursery has to be left.
            self._nursery.cancel_scope.cancel()
            await self._manager.__aexit__(None, None, None)

    def wake_up_at(self, deadline: int) -> None:
        """Call `time_passed` at `deadline`."""
        self._deadline = deadline
        self._deadline_set.wake()

    async def _keep_time(self) -> None:
        while True:
            left = float("inf") if self._deadline is None else max(0, self._deadline - now()) / 1000
            with trio.move_on_after(left) as scope:
                await self._deadline_set.wait()
            if scope.cancelled_caught:
                self._deadline = None
                self.time_passed()
