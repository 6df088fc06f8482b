"""A server as an ASGI application (ASGI 3: `http` and `lifespan` scopes)."""

from __future__ import annotations

import asyncio
import signal
import sys
import threading
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

from ._dispatch import now
from ._errors import ConnectionClosedError
from ._http import HttpHost, check_principal, endpoint_path, is_challenge, machine_options

if TYPE_CHECKING:
    from collections.abc import (
        AsyncIterator,
        Awaitable,
        Callable,
        Mapping,
        MutableMapping,
    )

    from ._native import Event, ResponsePart
    from ._protection import Caller, ResourceServer
    from ._server import Server

    Scope = MutableMapping[str, Any]
    Message = MutableMapping[str, Any]
    Receive = Callable[[], Awaitable[Message]]
    Send = Callable[[Message], Awaitable[None]]

_STREAMABLE: dict[str, str] = {}


class AsgiApp:
    """A server as an ASGI application; `Server.asgi` makes it."""

    def __init__(
        self,
        server: Server,
        *,
        path: str | None = "/mcp",
        sse: bool | tuple[str, str] = False,
        auth: ResourceServer | None = None,
        principal: Callable[[Scope], str | None] | None = None,
        signals: bool = True,
        **options: Any,
    ) -> None:
        self._server = server
        self._path = None if path is None else endpoint_path(path)
        stream, messages = ("/sse", "/messages") if sse is True else sse or ("", "")
        self._sse = (endpoint_path(stream), endpoint_path(messages)) if stream else None
        check_principal(principal, auth)
        self._principal = principal
        self._auth = auth
        self._options = machine_options(options, "path", "sse", "auth", "principal")
        self._catches_signals = signals
        self._signals: _Signals | None = None
        self._host: _AsgiHost | None = None
        self._starting: asyncio.Future[None] | None = None
        server._new_http_machine(self._options)  # a mistake in the options is raised here

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one scope."""
        kind = scope["type"]
        if kind == "http":
            await self._request(scope, receive, send)
        elif kind == "lifespan":
            await self._lifespan(receive, send)
        elif kind == "websocket":
            await receive()
            await send({"type": "websocket.close"})
        else:
            raise ValueError(f"the ASGI scope {kind!r} is not known")

    # ------------------------------------------------------------ begin and end

    async def start(self) -> _AsgiHost:
        """Begin to serve on the running loop: enter the lifespan of the server. A request does it too."""
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            raise RuntimeError("this application runs on asyncio; its host runs another library") from None
        host = self._host
        if host is None:
            host = self._host = _AsgiHost(self._server, self._options)
            host.connection.guard = self._auth
            self._starting = loop.create_task(host.start())
            if self._catches_signals:
                self._signals = _Signals(lambda: loop.call_soon_threadsafe(self.shut_down))
        elif host.loop is not loop:
            if not host.loop.is_closed():
                raise RuntimeError("this application runs on another event loop already")
            host.bind(loop)
            self._starting = loop.create_task(host.start())
        starting = self._starting
        if starting is not None:
            try:
                await asyncio.shield(starting)
            except Exception:
                self._host = None  # the next one tries again
                raise
            self._starting = None
        return host

    def shut_down(self) -> None:
        """Take no more requests and end the streams that wait for nothing; what is in flight goes on.

        For hosts that wait for all responses before they end. On the thread of the loop.
        """
        if self._host is not None:
            self._host.shut_down()

    async def close(self) -> None:
        """Shut down, wait until everything has ended, and leave the lifespan of the server."""
        host = self._host
        if self._signals is not None:
            self._signals.release()
        if host is not None:
            await host.close()
            self._host = None

    @asynccontextmanager
    async def lifespan(self, app: object = None) -> AsyncIterator[None]:
        """Serve as long as this lasts: for an application that this one is mounted in.

        With Starlette or FastAPI: `app = Starlette(routes=[Mount("/", mcp)], lifespan=mcp.lifespan)`, or
        `async with mcp.lifespan():` around the `yield` of a lifespan of one's own.
        """
        await self.start()
        try:
            yield
        finally:
            await self.close()

    async def _lifespan(self, receive: Receive, send: Send) -> None:
        while True:
            phase = (await receive())["type"]
            try:
                if phase == "lifespan.startup":
                    await self.start()
                else:
                    await self.close()
            except Exception as error:
                import traceback  # hosts show the message and nothing of the error

                text = "".join(traceback.format_exception(error))
                await send({"type": f"{phase}.failed", "message": text})
                raise
            await send({"type": f"{phase}.complete"})
            if phase != "lifespan.startup":
                return

    # ------------------------------------------------------------ requests

    async def _request(self, scope: Scope, receive: Receive, send: Send) -> None:
        host = self._host
        if host is None or self._starting is not None or host.loop is not asyncio.get_running_loop():
            host = await self.start()
        auth = self._auth
        if auth is not None and auth.serves(scope["path"]):
            await auth.metadata(scope, receive, send)
            return
        endpoint = self._endpoint(scope)
        if endpoint is None:
            await _refuse(send, 404, b"Not Found: there is no MCP endpoint at this path")
            return
        caller: Caller | None = None
        if auth is not None and scope["method"] != "OPTIONS":  # browsers ask without credentials
            admitted = await auth.admit(scope["headers"], scope["query_string"].decode("latin-1"))
            if isinstance(admitted, tuple):
                part = host.deny_head(scope["method"], scope["headers"], admitted, endpoint)
                if part is not None:
                    await _send_whole(send, part)
                return
            caller = admitted
        principal = None if self._principal is None else self._principal(scope)
        if caller is not None:
            principal = caller.key
        message = await receive()
        if message["type"] == "http.disconnect":
            return
        await _serve(host, scope, message, receive, send, principal, caller, endpoint)

    def _endpoint(self, scope: Scope) -> Mapping[str, str] | None:
        """What the path means, as the core wants to be told; none if there is nothing."""
        path: str = scope["path"]
        root: str = scope.get("root_path") or ""
        if root and (path == root or path.startswith(root + "/")):
            path = path[len(root) :]
        path = path.rstrip("/") or "/"
        if self._sse is not None:
            stream, messages = self._sse
            if path == stream:
                return {"event_stream": root + messages}
            if path == messages:
                return {"messages": scope["query_string"].decode("latin-1")}
        return _STREAMABLE if self._path is None or path == self._path else None


async def _serve(
    host: _AsgiHost,
    scope: Scope,
    message: Message,
    receive: Receive,
    send: Send,
    principal: str | None,
    caller: Caller | None,
    endpoint: Mapping[str, str],
) -> None:
    """Serve a request that is let in, of which the first message is there."""
    machine = host.machine
    callers = host.connection.callers
    handle: int | None = None
    part: ResponsePart | None = None
    try:
        try:
            if message.get("more_body"):
                handle = machine.receive_request(
                    scope["method"], scope["headers"], now(), principal=principal, **endpoint
                )
                if caller is not None:
                    callers[handle] = caller
                part = await _read(host, handle, message, receive, send)
            else:
                handle, events = machine.receive_whole(
                    scope["method"],
                    scope["headers"],
                    message.get("body", b""),
                    now(),
                    principal=principal,
                    **endpoint,
                )
                if caller is not None:
                    callers[handle] = caller
                host.work(handle, events, send)
        except ConnectionClosedError:  # it has been shut down
            await _refuse(send, 503, b"Service Unavailable")
            return
        except _ClientLeft:
            return
        host.turn()
        if handle in host.exchanges:  # a handler was heard already
            await host.exchanges[handle].run(None, receive)
            return
        part = part or machine.poll_response(handle)
        if part is not None and part.status == 403 and not is_challenge(part):
            host.warn_of_refusal(scope["headers"])
        if part is not None and part.is_last and not part.is_aborted:
            await _send_whole(send, part)
        else:
            await _AsgiExchange(host, handle, send).run(part, receive)
    finally:
        if caller is not None and handle is not None:
            del callers[handle]


async def _send_whole(send: Send, part: ResponsePart) -> None:
    await send({"type": "http.response.start", "status": part.status, "headers": part.headers})
    await send({"type": "http.response.body", "body": part.data})


class _ClientLeft(Exception):
    """Nobody waits for the response any more."""


async def _read(
    host: _AsgiHost, handle: int, message: Message, receive: Receive, send: Send
) -> ResponsePart | None:
    """Read a body that comes in pieces. What is refused or abandoned meanwhile is not read to its end.

    Some hosts say once that the client has left, others cancel the task.
    """
    machine = host.machine
    reading = _Reading()
    host.exchanges[handle] = reading  # type: ignore[assignment]  # until its body is there
    part: ResponsePart | None = None
    is_left = True
    try:
        while (part := machine.poll_response(handle)) is None:
            if message["type"] == "http.disconnect":
                raise _ClientLeft
            machine.receive_body(handle, message.get("body", b""), now())
            if not message.get("more_body"):
                host.over(handle, gone=False)
                host.work(handle, machine.receive_end(handle, now()), send)
                break
            message = await reading.more(receive)
        is_left = False
    finally:
        if is_left or part is not None:
            host.over(handle, gone=is_left)
    return part


class _Reading:
    """A request whose body comes. A refusal does not wait for more of it."""

    def __init__(self) -> None:
        self._task = asyncio.current_task()
        self._is_waiting = False
        self._is_refused = False

    async def more(self, receive: Receive) -> Message:
        """The next piece of the body; an empty one if the request was refused meanwhile."""
        self._is_waiting = True
        try:
            return await receive()
        except asyncio.CancelledError:
            if not self._is_refused:
                raise
            if sys.version_info >= (3, 11) and self._task is not None:
                self._task.uncancel()
            return {"type": "http.request", "body": b"", "more_body": True}
        finally:
            self._is_waiting = False

    def wake(self) -> None:
        if self._is_waiting and not self._is_refused and self._task is not None:
            self._is_refused = True
            self._task.cancel()

    push = end = wake


async def _refuse(send: Send, status: int, reason: bytes) -> None:
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", b"%d" % len(reason))]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": reason})


class _AsgiHost(HttpHost):
    """Drives a server whose exchanges are those of an ASGI host."""

    exchanges: dict[int, _AsgiExchange]  # type: ignore[assignment]
    _arriving: tuple[int, Send] | None = None

    def work(self, handle: int, events: list[Event], send: Send) -> None:
        """Work on what a request brings. What its handler says before it first waits goes out at once."""
        if events:
            self._arriving = (handle, send)
            self.connection.dispatch(events)
            self._arriving = None

    def arriving(self, handle: int) -> _AsgiExchange | None:
        if self._arriving is None or self._arriving[0] != handle:
            return None
        exchange = self.exchanges[handle] = _AsgiExchange(self, handle, self._arriving[1])
        return exchange


class _AsgiExchange:
    """A response that goes on: it is sent part by part, each when the connection has taken the one before.

    The task of the request sends what comes; while a handler runs that has something to send, a task
    of its own does, at once. Another one waits for the client to leave.
    """

    __slots__ = (
        "_handle",
        "_host",
        "_is_gone",
        "_is_over",
        "_is_sending",
        "_send",
        "_sender",
        "_task",
        "_waiter",
    )

    def __init__(self, host: _AsgiHost, handle: int, send: Send) -> None:
        self._host = host
        self._handle = handle
        self._send = send
        self._is_sending = False
        self._is_over = False  # everything is sent
        self._is_gone = False  # nothing can be sent any more
        self._task: asyncio.Task[Any] | None = None  # of the request
        self._sender: asyncio.Task[None] | None = None  # for a handler
        self._waiter: asyncio.Future[None] | None = None

    async def run(self, part: ResponsePart | None, receive: Receive) -> None:
        host = self._host
        self._task = asyncio.current_task()
        host.exchanges[self._handle] = self
        watcher = host.loop.create_task(self._watch(receive))
        try:
            if not self._is_sending:
                await self._pump(part)
            while not self._is_over and not self._is_gone:
                self._waiter = host.loop.create_future()
                await self._waiter
                self._waiter = None
                if not self._is_sending:
                    await self._pump(None)
        except asyncio.CancelledError:
            if not self._is_gone:
                raise
            if sys.version_info >= (3, 11) and self._task is not None:
                self._task.uncancel()
        finally:
            watcher.cancel()
            if self._sender is not None:
                self._sender.cancel()
            host.over(self._handle, gone=not self._is_over)

    def end(self) -> None:
        if self._is_over or self._is_gone:
            return
        self._is_gone = True
        if self._waiter is not None:
            self.wake()
        elif self._task is not None:  # it may wait for the client to take something
            self._task.cancel()

    async def _watch(self, receive: Receive) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        self.end()

    def wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def push(self) -> None:
        if not self._is_sending:
            self._sender = self._host.start_task(self._pump(None))

    async def _pump(self, part: ResponsePart | None) -> None:
        """Send until there is nothing more for now."""
        host, handle, send = self._host, self._handle, self._send
        self._is_sending = True
        try:
            while not self._is_gone:
                part = part or host.machine.poll_response(handle)
                if part is None:
                    return
                if part.status is not None:
                    await send(
                        {"type": "http.response.start", "status": part.status, "headers": part.headers}
                    )
                if part.is_aborted:  # a response without an end: the host closes the connection
                    self._is_over = True
                    return
                is_last = part.is_last
                await send({"type": "http.response.body", "body": part.data, "more_body": not is_last})
                host.taken(handle)
                if is_last:
                    self._is_over = True
                    return
                part = None
        except OSError:  # how some hosts say that the client has left
            self._is_gone = True
        finally:
            self._is_sending = False
            if self._is_over or self._is_gone:
                self.wake()


class _Signals:
    """SIGINT and SIGTERM tell the application to shut down, and then the host, whose signals they are.

    Hosts wait for all responses before they tell an application to end. Streams would keep them waiting.
    """

    def __init__(self, shut_down: Callable[[], object]) -> None:
        self._shut_down = shut_down
        self._before: dict[int, Any] = {}
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                before = signal.getsignal(number)
                if callable(before):  # otherwise nobody ends in order
                    self._before[number] = before
                    signal.signal(number, self._handle)

    def _handle(self, number: int, frame: Any) -> None:
        with suppress(RuntimeError):  # the loop is closed
            self._shut_down()
        self._before[number](number, frame)

    def release(self) -> None:
        """Leave the signals to the host, unless somebody else has caught them since and calls us."""
        for number, before in self._before.items():
            if signal.getsignal(number) == self._handle:
                signal.signal(number, before)
