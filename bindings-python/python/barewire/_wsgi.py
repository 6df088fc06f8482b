"""A server as a WSGI application (PEP 3333): many threads of a host, one server on a loop of its own."""

from __future__ import annotations

import asyncio
import atexit
import threading
from http.client import responses
from typing import TYPE_CHECKING, Any

from ._dispatch import now
from ._errors import ConnectionClosedError
from ._http import HttpHost, check_principal, endpoint_path, is_challenge, machine_options

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, MutableMapping

    from ._native import ResponsePart
    from ._protection import Caller, ResourceServer
    from ._server import Server

    Environment = MutableMapping[str, Any]
    StartResponse = Callable[[str, list[tuple[str, str]]], object]

_PIECE = 64 << 10  # bytes of a body that are read at once


class WsgiApp:
    """A server as a WSGI application; `Server.wsgi` makes it."""

    def __init__(
        self,
        server: Server,
        *,
        path: str | None = "/mcp",
        auth: ResourceServer | None = None,
        principal: Callable[[Environment], str | None] | None = None,
        **options: Any,
    ) -> None:
        self._server = server
        self._path = None if path is None else endpoint_path(path)
        check_principal(principal, auth)
        self._principal = principal
        self._auth = auth
        self._options = machine_options(options, "path", "auth", "principal")
        self._host: HttpHost | None = None
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._ending: asyncio.Event | None = None
        server._new_http_machine(self._options)  # a mistake in the options is raised here

    def __call__(self, environ: Environment, start_response: StartResponse) -> Iterable[bytes]:
        """Serve one request."""
        auth = self._auth
        if auth is not None and auth.serves(environ.get("SCRIPT_NAME", "") + environ.get("PATH_INFO", "")):
            status, headers, body = auth.metadata_response(environ["REQUEST_METHOD"])
            start_response(_status(status), _texts(headers))
            return [body]
        path = environ.get("PATH_INFO", "").rstrip("/") or "/"
        if self._path is not None and path != self._path:
            return _refuse(start_response, 404)
        principal = None if self._principal is None else self._principal(environ)
        try:
            host = self._running()
            admitted = self._admit(host, environ)
            if isinstance(admitted, tuple):
                return _deny(host, environ, admitted, start_response)
            exchange = self._receive(host, environ, principal, admitted)
        except ConnectionClosedError:  # it has been shut down
            return _refuse(start_response, 503)
        part = exchange.next_part()
        if part is None or part.status is None:
            return _refuse(start_response, 503)
        if part.status == 403 and not is_challenge(part):
            exchange.host.warn_of_refusal(_headers(environ))
        start_response(_status(part.status), _texts(part.headers))
        if part.is_last and not part.is_aborted:
            exchange.close()
            return [part.data]
        return _Body(exchange, part)

    def _admit(self, host: HttpHost, environ: Environment) -> Caller | tuple[int, str | None] | None:
        """Who sends a request, if that is to be known, or status and challenge of its refusal."""
        if self._auth is None or environ["REQUEST_METHOD"] == "OPTIONS":  # browsers ask without credentials
            return None
        admitting = self._auth.admit(_headers(environ), environ.get("QUERY_STRING", ""))
        return asyncio.run_coroutine_threadsafe(admitting, host.loop).result()

    def _receive(
        self, host: HttpHost, environ: Environment, principal: str | None, caller: Caller | None
    ) -> _WsgiExchange:
        """Hand in a request: what is read of it here, what follows from it on the loop."""
        machine, connection = host.machine, host.connection
        if caller is not None:
            principal = caller.key
        handle = connection.receive_head(environ["REQUEST_METHOD"], _headers(environ), principal, {})
        if caller is not None:
            connection.callers[handle] = caller
        exchange = _WsgiExchange(host, handle)
        try:
            for piece in _body(environ):
                if not exchange.wants_body():
                    return exchange
                machine.receive_body(handle, piece, now())
        except BaseException:  # how most hosts say that the client has left
            exchange.close()
            raise
        if exchange.wants_body():
            host.exchanges[handle] = exchange
            host.post(connection.receive_end, handle)
        return exchange

    # ------------------------------------------------------------ the loop

    def _running(self) -> HttpHost:
        """The host, in this process: it is begun by the first request, so that a parent may fork before."""
        if self._host is None:
            with self._lock:
                if self._host is None:
                    self._begin()
        assert self._host is not None
        return self._host

    def _begin(self) -> None:
        begun = threading.Event()
        failures: list[BaseException] = []

        def run() -> None:
            try:
                asyncio.run(self._serve(begun))
            except BaseException as error:
                failures.append(error)
                begun.set()

        self._thread = threading.Thread(target=run, name="barewire-wsgi", daemon=True)
        self._thread.start()
        begun.wait()
        if failures:
            raise failures[0]
        atexit.register(self.close)

    async def _serve(self, begun: threading.Event) -> None:
        host = HttpHost(self._server, self._options)
        host.connection.guard = self._auth
        self._ending = asyncio.Event()
        await host.start()
        self._host = host
        begun.set()
        await self._ending.wait()
        await host.close()

    def close(self) -> None:
        """End in order: what is in flight gets its time, and the lifespan of the server is left."""
        host, ending, thread = self._host, self._ending, self._thread
        if host is not None and ending is not None and thread is not None:
            host.post(ending.set)
            thread.join()
            self._host = None
            atexit.unregister(self.close)


class _WsgiExchange:
    """A response that is taken part by part on the thread of its request."""

    def __init__(self, host: HttpHost, handle: int) -> None:
        self.host = host
        self._handle = handle
        self._news = threading.Event()
        self._first: ResponsePart | None = None
        self._is_over = False
        self._is_gone = False

    def wants_body(self) -> bool:
        """Whether the request is not refused yet."""
        if self._first is None:
            self._first = self.host.machine.poll_response(self._handle)
        return self._first is None

    def next_part(self) -> ResponsePart | None:
        """The next part, which is waited for; none when nothing will come."""
        part, self._first = self._first, None
        while part is None:
            self._news.clear()
            if self._is_gone:
                return None
            part = self.host.machine.poll_response(self._handle)
            if part is None:
                self._news.wait()
        self._is_over = part.is_last
        self.host.post(self.host.taken, self._handle)
        return part

    def close(self) -> None:
        """The request is through; unless the response is as well, the client has left."""
        self.host.post(self._over)

    def _over(self) -> None:
        self.host.connection.callers.pop(self._handle, None)
        self.host.over(self._handle, gone=not self._is_over)

    def wake(self) -> None:
        self._news.set()

    def push(self) -> None:
        self._news.set()

    def end(self) -> None:
        self._is_gone = True
        self._news.set()


class _Body:
    """The body of a response that goes on."""

    def __init__(self, exchange: _WsgiExchange, first: ResponsePart) -> None:
        self._exchange = exchange
        self._part: ResponsePart | None = first
        self._is_last = False

    def __iter__(self) -> _Body:
        return self

    def __next__(self) -> bytes:
        if self._is_last:
            raise StopIteration
        part, self._part = self._part or self._exchange.next_part(), None
        if part is None or part.is_aborted:
            raise ConnectionAbortedError("the response has no end")
        self._is_last = part.is_last
        return part.data

    def close(self) -> None:
        """The host is through with it; before its end that means that the client has left."""
        self._exchange.close()


def _deny(
    host: HttpHost, environ: Environment, denial: tuple[int, str | None], start_response: StartResponse
) -> list[bytes]:
    """Refuse a request, as its head tells; its body is not read."""
    part = host.deny_head(environ["REQUEST_METHOD"], _headers(environ), denial, {})
    if part is None or part.status is None:
        return _refuse(start_response, 503)
    start_response(_status(part.status), _texts(part.headers))
    return [part.data]


def _texts(headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[str, str]]:
    return [(name.decode("latin-1"), value.decode("latin-1")) for name, value in headers]


def _headers(environ: Environment) -> list[tuple[bytes, bytes]]:
    headers = []
    for key, value in environ.items():
        if key.startswith("HTTP_"):
            key = key[5:]
        elif key not in ("CONTENT_TYPE", "CONTENT_LENGTH") or not value:
            continue
        headers.append((key.replace("_", "-").lower().encode("latin-1"), value.encode("latin-1")))
    return headers


def _body(environ: Environment) -> Iterable[bytes]:
    """The body in pieces, as far as it is there."""
    stream = environ["wsgi.input"]
    length = environ.get("CONTENT_LENGTH") or ""
    left = int(length) if length.isdecimal() else None
    if left is None and not environ.get("wsgi.input_terminated"):
        return
    while left is None or left > 0:
        piece = stream.read(_PIECE if left is None else min(_PIECE, left))
        if not piece:
            return
        if left is not None:
            left -= len(piece)
        yield piece


def _status(status: int) -> str:
    return f"{status} {responses.get(status, 'Unknown')}"


def _refuse(start_response: StartResponse, status: int) -> list[bytes]:
    body = responses[status].encode()
    start_response(
        _status(status), [("Content-Type", "text/plain; charset=utf-8"), ("Content-Length", str(len(body)))]
    )
    return [body]
