"""A server over HTTP, whatever speaks HTTP around it: one machine of the core for all clients, on one loop.

`HttpHost` drives the machine and lends handlers what they need. What speaks HTTP hands requests to
its `machine` and the events to its `connection`, takes what is to be sent from the machine, and
registers an `Exchange` for each response that goes on, to be told when there is more.
"""

from __future__ import annotations

import asyncio
import inspect
import sys
import threading
from collections import deque
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, Protocol

from ._dispatch import Connection, now
from ._errors import McpError
from ._native import INVALID_PARAMS
from ._serve_asyncio import eager_starter
from ._workers import Workers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from ._call import Call
    from ._endpoint import Endpoint
    from ._native import HttpServer, ResponsePart
    from ._protection import ResourceServer
    from ._server import Server

_BACKLOG = 64 << 10  # bytes that may wait to be sent before a handler has to
_MOST_POSTED = 64  # calls from other threads that may wait
_BREATH = 16  # reports of handlers after which one lets the loop run
_LINGER = 2.0  # seconds that connections have to take the ends of their streams


# Options of the upper floor, and what the core calls them.
_OPTIONS = {
    "allowed_origins": "allowed_origins",
    "allowed_hosts": "allowed_hosts",
    "body_limit": "body_bytes",
    "keep_alive": "keep_alive",
    "retry": "retry",
    "session_idle": "session_idle",
}


def machine_options(options: Mapping[str, Any], *others: str) -> dict[str, Any]:
    """Options as the core knows them; `others` is what its caller takes beside them."""
    for name, value in options.items():
        if name not in _OPTIONS:
            raise TypeError(f"there is no option {name!r}; there are {', '.join((*others, *_OPTIONS))}")
        if name.startswith("allowed_"):
            if isinstance(value, str):
                raise TypeError(f"{name} is a list, such as [{value!r}]")
        elif value is not None and (not isinstance(value, int) or value < 0):
            raise ValueError(f"{name} is a whole number that is not negative, not {value!r}")
    return {_OPTIONS[name]: value for name, value in options.items()}


def endpoint_path(path: str) -> str:
    """The path of an endpoint as requests are compared with it: without a slash at its end."""
    if not path.startswith("/"):
        raise ValueError(f"the path of an endpoint begins with a slash: '/{path}', not {path!r}")
    return path.rstrip("/") or "/"


def check_principal(principal: object, auth: object) -> None:
    """Refuse what cannot tell who sends a request, where it is written and not at each request."""
    if auth is not None and principal is not None:
        raise TypeError("auth tells who sends a request; principal would be another answer")
    if principal is not None and (not callable(principal) or inspect.iscoroutinefunction(principal)):
        raise TypeError("principal is a function, not async, that gives a string or None")


def is_challenge(part: ResponsePart) -> bool:
    """Whether a response wants other credentials, or more."""
    return any(name == b"www-authenticate" for name, _ in part.headers)


class Exchange(Protocol):
    """A response that goes on."""

    def wake(self) -> None:
        """There is something to send."""

    def push(self) -> None:
        """Send what there is now: a handler is running that may keep the loop for long."""

    def end(self) -> None:
        """Nothing more will come."""


class HttpConnection(Connection):
    """All clients of a server over HTTP."""

    machine: HttpServer
    #: What protects the server, if anything does.
    guard: ResourceServer | None = None

    def admits(self, endpoint: Endpoint, event: Any, raw: bytes | None) -> bool:
        """Whether a caller has the scopes that an endpoint wants. If not, its exchange is refused."""
        exchange = event.context.exchange
        caller = self.callers.get(exchange)
        if self.guard is None or caller is None:
            raise RuntimeError(f"{endpoint.key!r} wants scopes, but the server is not protected with auth=")
        denied = self.guard.forbids(caller, endpoint.needed_scopes(raw))
        if denied is None:
            return True
        self.machine.deny(exchange, denied.status, denied.challenge, now())
        # It goes nowhere, unless the response has begun.
        self.machine.respond_error(event.request, INVALID_PARAMS, "The authorization does not suffice")
        return False

    def receive_head(
        self,
        method: str,
        headers: Iterable[Sequence[bytes]],
        principal: str | None,
        endpoint: Mapping[str, str],
    ) -> int:
        """Take the head of a request whose body comes in pieces; give its exchange."""
        return self.machine.receive_request(method, headers, now(), principal=principal, **endpoint)

    def receive_end(self, exchange: int) -> None:
        """The body of a request is complete: work on it."""
        self._step(lambda now: self.machine.receive_end(exchange, now))

    def receive_abort(self, exchange: int) -> None:
        """A client has gone."""
        self._step(lambda now: self.machine.receive_abort(exchange, now))

    def shut_down(self) -> None:
        """Take no more requests."""
        self._step(self.machine.shut_down)

    def close_stream(self, call: Call, retry_ms: int | None) -> bool:
        """End the response that carries a call for now."""
        exchange = call.context.exchange
        if exchange is None or not self.machine.close_stream(exchange, now(), retry_ms):
            return False
        self.host.call(self.host.flush)
        return True


class HttpHost:
    """Drives a server over HTTP on the running asyncio loop."""

    has_loop = True

    def __init__(self, server: Server, options: Mapping[str, Any]) -> None:
        self._server = server
        self.machine = server._http_machine(options)
        self.connection = HttpConnection(server, self, self.machine)
        self.exchanges: dict[int, Exchange] = {}
        self.is_closing = False
        self._blocked: dict[int, list[Any]] = {}
        self._posted: deque[tuple[Callable[..., None], tuple[Any, ...]]] = deque()
        self._is_woken = False
        self._reports = 0
        self._has_warned = False
        self._workers: Workers | None = None
        self._quiet: asyncio.Future[None] | None = None
        self._lifespan: asyncio.Task[None] | None = None
        self.bind(asyncio.get_running_loop())

    def bind(self, loop: Any) -> None:
        """Move to another loop, once the one before is closed."""
        self.loop: Any = loop
        self.start_task = nested_starter(loop)
        self._thread = threading.get_ident()
        self._timer: asyncio.TimerHandle | None = None
        self._due: int | None = None
        self._ending: asyncio.Future[None] = loop.create_future()

    # ------------------------------------------------------------ begin and end

    async def start(self) -> None:
        """Enter the lifespan of the server; raises what that raises."""
        self._server._connections.add(self.connection)
        if self._server.lifespan is not None:
            begun = self.loop.create_future()
            # It is entered and left in one task, as many managers want it.
            self._lifespan = self.loop.create_task(self._live(self._server.lifespan(self._server), begun))
            await begun

    async def _live(self, manager: Any, begun: asyncio.Future[None]) -> None:
        is_async = hasattr(manager, "__aenter__")
        try:
            with nullcontext() if is_async else manager as value:
                async with manager if is_async else nullcontext(value) as self.connection.lifespan:
                    begun.set_result(None)
                    await self._ending
        except Exception as error:
            if begun.done():
                raise
            begun.set_exception(error)

    def shut_down(self) -> None:
        """Take no more requests. What is in flight gets its time, then all streams end."""
        if not self.is_closing:
            self.is_closing = True
            self.connection.shut_down()
            self.loop.call_later(self._server._drain / 1000, self._finish)
            self.turn()

    def _finish(self) -> None:
        """End what is left. Connections get some time to take the ends of their streams."""
        if not self.connection.finished:
            self.connection.close()
            self.loop.call_later(_LINGER, self._abandon)
            self.turn()

    def _abandon(self) -> None:
        for handle, exchange in list(self.exchanges.items()):
            exchange.end()
            self.over(handle, gone=True)

    async def close(self) -> None:
        """Shut down, wait until everything has ended, and leave the lifespan."""
        self.shut_down()
        if self.exchanges:
            self._quiet = self.loop.create_future()
            await self._quiet
        self._finish()
        self._server._connections.discard(self.connection)
        if self._timer is not None:
            self._timer.cancel()
        if self._workers is not None:
            self._workers.close()
        if self._lifespan is not None:
            self._ending.set_result(None)
            await self._lifespan

    # ------------------------------------------------------------ exchanges

    def deny_head(
        self,
        method: str,
        headers: Iterable[Sequence[bytes]],
        denial: tuple[int, str | None],
        endpoint: Mapping[str, str],
    ) -> ResponsePart | None:
        """The whole answer to a request that is not let in, as its head tells."""
        status, challenge = denial
        handle = self.machine.receive_denied(method, headers, status, challenge, now(), **endpoint)
        return self.machine.poll_response(handle)

    def taken(self, handle: int) -> None:
        """The connection of an exchange has taken a part: handlers that had to wait for it go on."""
        if handle in self._blocked:
            for waiter in self._blocked.pop(handle):
                if not waiter.done():
                    waiter.set_result(None)

    def over(self, handle: int, *, gone: bool) -> None:
        """An exchange is over; `gone`: before its end, because the client has left."""
        self.exchanges.pop(handle, None)
        if gone:
            self.connection.receive_abort(handle)
            self.turn()
        self.taken(handle)
        if self._quiet is not None and not self.exchanges and not self._quiet.done():
            self._quiet.set_result(None)

    def warn_of_refusal(self, headers: Iterable[Sequence[bytes]]) -> None:
        """Tell the operator, once, why a request was refused with 403 and what would let it in."""
        if self._has_warned:
            return
        self._has_warned = True
        import logging

        who = {bytes(name).lower(): bytes(value).decode("latin-1") for name, value in headers}
        logging.getLogger("barewire").warning(
            "refused a request to the host %r from the origin %r: name what shall be let in beside the "
            "loopback interface in allowed_hosts and allowed_origins",
            who.get(b"host"),
            who.get(b"origin"),
        )

    def turn(self) -> None:
        """After anything has happened: see what is to be sent, and what is to be waited for."""
        machine = self.machine
        try:
            for handle in machine.ready():
                exchange = self.exchanges.get(handle)
                if exchange is not None:
                    exchange.wake()
            due = machine.poll_timeout()
        except McpError:  # the machine is dead
            return
        # A timer that comes too early does no harm.
        if due is not None and (self._due is None or due < self._due):
            self._set_timer(due)
        if self.is_closing and not self.connection.has_calls:
            self._finish()

    def _set_timer(self, due: int) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._due = due
        self._timer = self.loop.call_later(max(0, due - now()) / 1000, self._timeout)

    def _timeout(self) -> None:
        self._timer = self._due = None
        self.connection.handle_timeout()
        self.turn()

    # ------------------------------------------------------------ what a connection asks of its host

    def is_congested(self, call: Call) -> bool:
        # A handler that does nothing but report would keep the loop from seeing that its client has left.
        self._reports += 1
        if self._reports % _BREATH == 0:
            return True
        # Worker threads that report faster than the loop comes to send have to wait as well.
        return len(self._posted) > _MOST_POSTED or self._is_full(call)

    def _is_full(self, call: Call) -> bool:
        exchange = call.context.exchange
        return exchange is not None and self.machine.backlog(exchange) > _BACKLOG

    def post(self, function: Callable[..., None], *arguments: Any) -> None:
        self._posted.append((function, arguments))
        if not self._is_woken:
            self._is_woken = True
            try:
                self.loop.call_soon_threadsafe(self._run_posted)
            except RuntimeError:  # the loop is closed: a worker thread has outlived the app
                return

    def _run_posted(self) -> None:
        self._is_woken = False
        posted = self._posted
        while posted:
            function, arguments = posted.popleft()
            function(*arguments)
        self.turn()

    def call(self, function: Callable[..., None], *arguments: Any) -> None:
        if threading.get_ident() == self._thread:
            function(*arguments)
            self.post(_nothing)  # what it has caused is looked at once the caller is through
        else:
            self.post(function, *arguments)

    def flush(self) -> None:
        for handle in self.machine.ready():
            exchange = self.exchanges.get(handle) or self.arriving(handle)
            if exchange is not None:
                exchange.push()

    def arriving(self, handle: int) -> Exchange | None:
        """The exchange of that number, if its request is just being worked on for the first time."""
        return None

    def advance(self) -> None:
        self.turn()

    def write_all(self) -> None:
        """An inline handler must not block the loop: what is too much for the core is left out."""

    async def wait_writable(self, call: Call) -> None:
        await asyncio.sleep(0)
        waiter = self.loop.create_future()
        self.when_writable(waiter, call)
        await waiter

    def when_writable(self, waiter: Any, call: Call) -> None:
        exchange = call.context.exchange
        if exchange is not None and self._is_full(call) and not call.stopped:
            self._blocked.setdefault(exchange, []).append(waiter)
        else:
            waiter.set_result(None)

    def run_in_thread(self, function: Callable[[], None]) -> None:
        if self._workers is None:
            self._workers = Workers()
        self._workers.submit(function)


def _nothing() -> None:
    pass


def nested_starter(loop: asyncio.AbstractEventLoop) -> Callable[[Any], asyncio.Task[Any]]:
    """As `eager_starter`, also from within a task."""
    start = eager_starter(loop)
    if sys.version_info >= (3, 12):
        return start
    from asyncio.tasks import _enter_task, _leave_task

    def start_nested(coroutine: Any) -> asyncio.Task[Any]:
        current = asyncio.current_task(loop)
        if current is None:
            return start(coroutine)
        _leave_task(loop, current)
        try:
            return start(coroutine)
        finally:
            _enter_task(loop, current)

    return start_nested
