"""What a connection asks of the driver that it runs on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

    from ._call import Call


class Host(Protocol):
    """What a driver offers to the connection it drives."""

    loop: Any
    """The running asyncio loop; only there once `needs_loop` events are dispatched."""

    @property
    def has_loop(self) -> bool:
        """Whether async handlers can start now."""

    def is_congested(self, call: Call) -> bool:
        """Whether the handler of a call should wait before it sends more."""

    def post(self, function: Callable[..., None], *arguments: Any) -> None:
        """Run a function on the connection's thread soon; callable from every thread."""

    def call(self, function: Callable[..., None], *arguments: Any) -> None:
        """Run a function on the connection's thread: now if that is where we are, else soon."""

    def flush(self) -> None:
        """Write what the core has to send, as far as that goes without blocking."""

    def advance(self) -> None:
        """Look after the connection once a task has ended."""

    def write_all(self) -> None:
        """Write what the core has to send, blocking where that is possible."""

    async def wait_writable(self, call: Call) -> None:
        """Wait in an async handler until it is no longer congested."""

    def when_writable(self, waiter: Any, call: Call) -> None:
        """Set the result of a waiter when its call is no longer congested."""

    def run_in_thread(self, function: Callable[[], None]) -> None:
        """Run a function in a worker thread."""

    def start_task(self, coroutine: Any) -> Any:
        """Run a coroutine as a task, at once up to its first wait. Not from within a task."""
