"""Exchanges of the asynchronous client, carried out by httpx2."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Protocol

try:
    import httpx2
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "a client over HTTP needs httpx2: pip install 'barewire[http]'", name="httpx2"
    ) from error

if TYPE_CHECKING:
    from . import _native as native
    from ._authorizer import Authorizer
    from ._carriage import HttpCarriage
    from ._client_host import Waker
    from ._engine import HttpOptions

from ._errors import AuthorizationError

__all__ = ["AsyncExchanges", "settings"]

#: Seconds to wait for a connection, and to be rid of what is sent. The core waits for answers.
TIMEOUT = httpx2.Timeout(30.0, read=None, pool=None)
#: The core bounds what is in flight. Most servers close a connection that is idle for five seconds, and a
#: request that crosses with that would be lost.
LIMITS = httpx2.Limits(max_connections=None, max_keepalive_connections=64, keepalive_expiry=4.0)

#: Refused exchanges that are remembered.
_REFUSED = 4096


def settings(options: HttpOptions) -> dict[str, Any]:
    """What an httpx2 client of ours is made with."""
    return {"headers": options.headers, "auth": options.auth, "timeout": TIMEOUT, "limits": LIMITS}


class Tasks(Protocol):
    """What runs tasks."""

    def spawn(self, function: Callable[..., Awaitable[None]], *arguments: Any) -> Callable[[], object]:
        """Run `function`, which does not raise, in a task; what is returned cancels it."""

    def waker(self) -> Waker:
        """Something to wait with."""


class AsyncExchanges:
    """Carries out each request in a task of its own."""

    def __init__(self, host: Tasks, carriage: HttpCarriage, options: HttpOptions) -> None:
        self._host = host
        self._carriage = carriage
        self._own = options.client is None
        if not self._own and not isinstance(options.client, httpx2.AsyncClient):
            kind = type(options.client)
            raise TypeError(f"http is an httpx2.AsyncClient, not {kind.__module__}.{kind.__qualname__}")
        self._client: httpx2.AsyncClient = options.client or httpx2.AsyncClient(**settings(options))
        # Whoever brings a client may have given it a timeout, which streams must not have.
        given = self._client.timeout
        self._patient = httpx2.Timeout(connect=given.connect, read=None, write=given.write, pool=given.pool)
        self._running: dict[int, Callable[[], object]] = {}
        self._authorizer: Authorizer | None = None
        self._authorizing: dict[int, Callable[[], object]] = {}
        #: Which token went with an exchange that was refused.
        self._tokens: dict[int, int] = {}
        if options.grant is not None:
            from ._authorizer import Authorizer

            self._authorizer = Authorizer(host, options.grant, options.url)
        self._paused: set[Waker] = set()
        self._ended = host.waker()

    def start(self, request: native.HttpRequest) -> None:
        """Send a request, and hand in what comes back."""
        self._running[request.exchange] = self._host.spawn(self._carry_out, request)

    def abort(self, exchange: int) -> None:
        """Give up an exchange: its connection is closed."""
        for tasks in (self._running, self._authorizing):
            cancel = tasks.pop(exchange, None)
            if cancel is not None:
                cancel()

    def authorize(self, refused: native.AuthorizationRequired) -> None:
        """Come by what a refused exchange lacks, and have it sent again."""
        token = self._tokens.pop(refused.exchange, 0)
        self._authorizing[refused.exchange] = self._host.spawn(self._authorize, refused, token)

    def progressed(self) -> None:
        """The machine may want to read on where it did not."""
        for waker in list(self._paused):
            waker.wake()
        if self._carriage.machine.is_finished:
            self._ended.wake()

    async def aclose(self) -> None:
        """End in order: wait for what the machine still has to say, then drop all connections."""
        try:
            while not self._carriage.machine.is_finished:
                await self._ended.wait()
        finally:
            for exchange in [*self._running, *self._authorizing]:
                self.abort(exchange)
            if self._authorizer is not None:
                await self._authorizer.aclose()
            if self._own:
                await self._client.aclose()

    async def _carry_out(self, request: native.HttpRequest) -> None:
        exchange, carriage, authorizer = request.exchange, self._carriage, self._authorizer
        headers, token = request.headers, 0
        sent = False
        try:
            if authorizer is not None:
                credentials, token = await authorizer.credentials(request.method, request.url)
                headers = [*headers, *credentials]
            stream = self._client.stream(
                request.method,
                request.url,
                headers=headers,
                content=request.body or None,
                timeout=self._patient if request.is_stream else httpx2.USE_CLIENT_DEFAULT,
                follow_redirects=False,
            )
            async with stream as response:
                sent = True
                received = response.headers.multi_items()
                if authorizer is not None:
                    authorizer.note(response.status_code, received, token)
                    self._keep(exchange, response.status_code, token)
                carriage.receive_head(exchange, response.status_code, received)
                async for data in response.aiter_bytes():
                    carriage.receive_body(exchange, data)
                    if not carriage.machine.wants_input(exchange):
                        await self._wait_for_room(exchange)
            carriage.receive_end(exchange)
        except Exception as error:  # of httpx2, or of what the application has put into it
            carriage.receive_failure(exchange, sent or not _was_not_sent(error), error)
        finally:
            self._running.pop(exchange, None)

    def _keep(self, exchange: int, status: int, token: int) -> None:
        """Remember which token was refused, for as long as it takes to be told that it was."""
        if status in (401, 403):
            self._tokens[exchange] = token
            if len(self._tokens) > _REFUSED:
                del self._tokens[next(iter(self._tokens))]

    async def _authorize(self, refused: native.AuthorizationRequired, token: int) -> None:
        assert self._authorizer is not None
        exchange = refused.exchange
        try:
            await self._authorizer.challenge(refused, token)
        except AuthorizationError as error:
            self._carriage.unauthorized(exchange, error)
        else:
            self._carriage.authorized(exchange)
        finally:
            self._authorizing.pop(exchange, None)

    async def _wait_for_room(self, exchange: int) -> None:
        waker = self._host.waker()
        self._paused.add(waker)
        try:
            while not self._carriage.machine.wants_input(exchange):
                await waker.wait()
        finally:
            self._paused.discard(waker)


def _was_not_sent(error: Exception) -> bool:
    """Whether the server cannot have seen the request."""
    return isinstance(
        error,
        (
            AuthorizationError,
            httpx2.ConnectError,
            httpx2.ConnectTimeout,
            httpx2.PoolTimeout,
            httpx2.UnsupportedProtocol,
            httpx2.InvalidURL,
            httpx2.ProxyError,
        ),
    )
