"""A server object and a client joined in memory: no process, no pipe, the bytes of the protocol all the same.

A server's handlers need an asyncio loop. Under asyncio that is the client's own; for trio and for the
blocking client it runs in a thread.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from ._dispatch import StreamConnection, now
from ._serve_asyncio import eager_starter

if TYPE_CHECKING:
    from ._process import ExitStatus
    from ._server import Server

__all__ = ["MemoryLink", "ThreadedMemoryLink"]


class MemoryLink:
    """A link to a server that is served on the running loop; it is also what drives the server's connection.

    Bytes for the server and bytes for the client are each handed over in a later turn of the loop, as they
    would be if they came from a pipe.
    """

    def __init__(self, server: Server) -> None:
        self.on_data: Callable[[bytes], object]
        self.on_end: Callable[[], object]
        self.on_drained: Callable[[], object]
        self._server = server
        self._paused = False
        self._held: list[bytes] = []
        self._blocked: list[Any] = []
        self._timer: asyncio.TimerHandle | None = None
        self.loop: Any = asyncio.get_running_loop()
        self.has_loop = True
        self._thread = threading.get_ident()
        self.start_task = eager_starter(self.loop)
        self.connection = StreamConnection(server, self)
        self._over: asyncio.Future[None] = self.loop.create_future()
        #: What the server's lifespan raised, if it did.
        self.failure: BaseException | None = None
        self._serving: asyncio.Task[None] | None = None

    # -- the side of the client ------------------------------------------------------------------------------

    @property
    def exit_status(self) -> ExitStatus | None:
        """There is no process."""
        return None

    @property
    def stderr_tail(self) -> bytes:
        """There is no process."""
        return b""

    @property
    def pending(self) -> int:
        """The server takes everything at once."""
        return 0

    def start(self) -> None:
        """Begin to serve."""
        self._serving = self.loop.create_task(self._serve())

    def write(self, data: bytes) -> None:
        """Send `data` to the server."""
        self.post(self._receive, data)

    def pause(self) -> None:
        """Hold back what the server sends."""
        self._paused = True

    def resume(self) -> None:
        """Hand over what was held back, and go on."""
        self._paused = False
        held, self._held = self._held, []
        for data in held:
            self._hand_over(data)
        blocked, self._blocked = self._blocked, []
        for waiter in blocked:
            if not waiter.done():
                waiter.set_result(None)

    async def aclose(self, steps: object = None) -> None:
        """End the server: handlers are cancelled, and its lifespan is left."""
        if not self._over.done():
            self._over.set_result(None)
        if self._serving is not None:
            await asyncio.wait([self._serving])

    # -- serving ---------------------------------------------------------------------------------------------

    async def _serve(self) -> None:
        self._server._connections.add(self.connection)
        lifespan = self._server.lifespan
        manager: Any = nullcontext() if lifespan is None else lifespan(self._server)
        try:
            if hasattr(manager, "__aenter__"):
                async with manager as self.connection.lifespan:
                    await self._until_over()
            else:
                with manager as self.connection.lifespan:
                    await self._until_over()
        except Exception as error:
            self.failure = error
        finally:
            self._server._connections.discard(self.connection)
            if self._timer is not None:
                self._timer.cancel()
            self._report_end()

    async def _until_over(self) -> None:
        self._advance()
        try:
            await self._over
        finally:
            self.connection.connection_lost()

    def _receive(self, data: bytes) -> None:
        if not self.connection.finished:
            self.connection.receive(data)

    def _advance(self) -> None:
        """After anything has happened: send, and look at when the server wants to be called again."""
        self.flush()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        due = self.connection.machine.poll_timeout()
        if due is not None:
            self._timer = self.loop.call_later(max(0, due - now()) / 1000, self._time_passed)
        if self.connection.finished and not self._over.done():
            self._over.set_result(None)

    def _time_passed(self) -> None:
        self._timer = None
        self.connection.handle_timeout()
        self._advance()

    def _hand_over(self, data: bytes) -> None:
        if self._paused:
            self._held.append(data)
        else:
            self.loop.call_soon(self.on_data, data)

    def _report_end(self) -> None:
        self.loop.call_soon(self.on_end)

    # -- what a connection asks of its host ------------------------------------------------------------------

    def is_congested(self, call: object) -> bool:
        """Whether handlers should wait before they send more."""
        return self._paused

    def post(self, function: Callable[..., None], *arguments: Any) -> None:
        """Run `function` on the loop soon; may be called from any thread."""
        self.loop.call_soon_threadsafe(self._run, function, arguments)

    def _run(self, function: Callable[..., None], arguments: tuple[Any, ...]) -> None:
        function(*arguments)
        self._advance()

    def call(self, function: Callable[..., None], *arguments: Any) -> None:
        """Run `function` on the loop, now if that is where we are."""
        if threading.get_ident() == self._thread:
            function(*arguments)
            self.loop.call_soon(self._advance)
        else:
            self.post(function, *arguments)

    def flush(self) -> None:
        """Hand over what the server has to send."""
        data = self.connection.machine.data_to_send()
        if data:
            self._hand_over(data)

    def advance(self) -> None:
        """Look after the connection once a task has ended."""
        self._advance()

    def write_all(self) -> None:
        """Hand over what the server has to send."""
        self.flush()

    async def wait_writable(self, call: object) -> None:
        """Wait in a handler until the client reads on."""
        waiter = self.loop.create_future()
        self.when_writable(waiter, call)
        await waiter

    def when_writable(self, waiter: Any, call: object) -> None:
        """Set the result of `waiter` when the client reads on."""
        if self._paused:
            self._blocked.append(waiter)
        else:
            waiter.set_result(None)

    def run_in_thread(self, function: Callable[[], None]) -> None:
        """Run a handler in a thread."""
        threading.Thread(target=function, name="barewire-handler", daemon=True).start()


class ThreadedMemoryLink:
    """A link to a server that is served on a loop in a thread. Callbacks are called through `post`."""

    def __init__(self, server: Server, post: Callable[..., object]) -> None:
        self.on_data: Callable[[bytes], object]
        self.on_end: Callable[[], object]
        self.on_drained: Callable[[], object]
        self.exit_status: ExitStatus | None = None
        self.stderr_tail = b""
        self.pending = 0
        self.failure: BaseException | None = None
        self._server = server
        self._post = post
        self._inner: MemoryLink | None = None
        self._begun = threading.Event()
        self._thread = threading.Thread(target=self._run, name="barewire-server", daemon=True)

    def start(self) -> None:
        """Begin to serve."""
        self._thread.start()
        self._begun.wait()

    def write(self, data: bytes) -> None:
        """Send `data` to the server."""
        if self._inner is not None:
            self._tell(self._inner.write, data)

    def pause(self) -> None:
        """Hold back what the server sends."""
        if self._inner is not None:
            self._tell(self._inner.pause)

    def resume(self) -> None:
        """Hand over what was held back, and go on."""
        if self._inner is not None:
            self._tell(self._inner.resume)

    def close(self, steps: object = None) -> None:
        """End the server, and wait until it has."""
        if self._thread.is_alive():
            self._tell(self._end)
            if self._thread is not threading.current_thread():
                self._thread.join()

    def _end(self) -> None:
        if self._inner is not None and not self._inner._over.done():
            self._inner._over.set_result(None)

    def _end_with(self) -> None:
        assert self._inner is not None
        self.failure = self._inner.failure
        self._post(self.on_end)

    def _tell(self, function: Callable[..., object], *arguments: object) -> None:
        assert self._inner is not None
        try:
            self._inner.loop.call_soon_threadsafe(function, *arguments)
        except RuntimeError:
            return  # the server has ended

    def _run(self) -> None:
        asyncio.run(self._serve())

    async def _serve(self) -> None:
        inner = self._inner = MemoryLink(self._server)
        inner.on_data = lambda data: self._post(self.on_data, data)
        inner.on_end = self._end_with
        inner.start()
        self._begun.set()
        assert inner._serving is not None
        await asyncio.wait([inner._serving])
        await asyncio.sleep(0)  # the report of the end is due in this turn
