"""How the messages of a client travel: on a byte stream to a process or a server in memory, or over HTTP."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, Protocol

from . import _native as native
from ._clock import now
from ._errors import ConnectionClosedError, ConnectionLostError, HttpStatusError, McpError

if TYPE_CHECKING:
    from ._engine import Engine
    from ._process import ExitStatus

__all__ = ["Carriage", "Exchanges", "HttpCarriage", "Link", "StreamCarriage", "carriage_for"]


class Link(Protocol):
    """A byte stream to a server: a child process, or one in memory."""

    on_data: Callable[[bytes], object]
    on_end: Callable[[], object]
    on_drained: Callable[[], object]

    @property
    def exit_status(self) -> ExitStatus | None:
        """How the server ended, where it is a process that has."""

    @property
    def stderr_tail(self) -> bytes:
        """The last bytes of the server's stderr, where they are captured."""

    @property
    def failure(self) -> BaseException | None:
        """What ended the server, where it runs in this process."""

    @property
    def pending(self) -> int:
        """Bytes that the server has not taken yet."""

    def start(self) -> None:
        """Begin to read."""

    def write(self, data: bytes) -> None:
        """Send `data` without waiting."""

    def pause(self) -> None:
        """Stop reading."""

    def resume(self) -> None:
        """Read on."""


class Exchanges(Protocol):
    """A way to a server over HTTP: what carries out requests, each by itself."""

    def start(self, request: native.HttpRequest) -> None:
        """Send a request, and hand in what comes back."""

    def abort(self, exchange: int) -> None:
        """Give up an exchange."""

    def authorize(self, refused: native.AuthorizationRequired) -> None:
        """Come by what a refused exchange lacks, and have it sent again."""

    def progressed(self) -> None:
        """The machine may want to read on where it did not."""


class Carriage(Protocol):
    """What moves messages between a machine and its server."""

    def open(self) -> None:
        """Open the way to the server."""

    def flush(self) -> None:
        """Do what the machine wants done."""

    def restart(self) -> None:
        """Start the server afresh."""

    def explain(self, error: Exception) -> Exception:
        """Say of the end of a connection how it came about, as far as is known here."""


class StreamCarriage:
    """A byte stream."""

    def __init__(self, engine: Engine, machine: native.Client) -> None:
        self.link: Link | None = None
        self._engine = engine
        self._machine = machine
        self._paused = False
        self._gone = False

    def open(self) -> None:
        """Start the server."""
        try:
            self._attach(self._engine.open_link())
        except OSError as error:
            raise ConnectionLostError(f"the server cannot be started: {error}") from error

    def flush(self) -> None:
        """Send what waits, and stop or go on reading."""
        link = self.link
        if link is None:
            return
        if not link.pending:
            data = self._machine.data_to_send()
            if data:
                link.write(data)
        if self._machine.wants_input is self._paused:
            self._paused = not self._paused
            if self._paused:
                link.pause()
            else:
                link.resume()

    def restart(self) -> None:
        """Start the server afresh."""
        engine = self._engine
        if self.link is not None:
            engine.retire_link(self.link)
        try:
            self._attach(engine.open_link())
        except OSError:
            engine.dispatch(self._machine.connection_lost(now()))
        else:
            engine.dispatch(self._machine.restart(now()))

    def explain(self, error: Exception) -> Exception:
        """Say how the server ended, where a connection was lost to that."""
        if isinstance(error, ConnectionClosedError) and self._gone:
            error = ConnectionLostError(error.message, error.code)
        if isinstance(error, ConnectionLostError) and self.link is not None:
            error.exit_status = self.link.exit_status
            error.stderr = self.link.stderr_tail
            error.__cause__ = self.link.failure
        return error

    def _attach(self, link: Link) -> None:
        self.link = link
        self._gone = False
        link.on_data = self._received
        link.on_end = lambda: self._ended(link)
        link.on_drained = self._engine.drained
        link.start()

    def _received(self, data: bytes) -> None:
        self._engine.feed(lambda: self._machine.receive_data(data, now()))

    def _ended(self, link: Link) -> None:
        if link is self.link:
            self._gone = True
            self._engine.feed(lambda: self._machine.receive_eof(now()))


class HttpCarriage:
    """Exchanges over HTTP."""

    def __init__(self, engine: Engine, machine: native.HttpClient) -> None:
        self.machine = machine
        #: What the HTTP library says of the exchange that is being failed.
        self._failure: Exception | None = None
        #: Where the response whose head is being read redirects to.
        self._location: str | None = None
        self._engine = engine
        self._exchanges: Exchanges | None = None

    def open(self) -> None:
        """Make ready. Nothing is connected before there is something to send."""
        self._exchanges = self._engine.open_exchanges()

    def flush(self) -> None:
        """Start and give up exchanges."""
        exchanges = self._exchanges
        if exchanges is None:
            return
        while (transmit := self.machine.poll_transmit(now())) is not None:
            if isinstance(transmit, native.HttpAbort):
                exchanges.abort(transmit.exchange)
            else:
                exchanges.start(transmit)
        while (refused := self.machine.poll_http_event()) is not None:
            exchanges.authorize(refused)
        exchanges.progressed()

    def restart(self) -> None:
        """Nothing here is started."""

    def explain(self, error: Exception) -> Exception:
        """Name the URL, what the HTTP library said of a server that cannot be reached, and where a redirect
        leads.
        """
        if isinstance(error, ConnectionClosedError):
            error = ConnectionLostError(error.message, error.code)
        if isinstance(error, ConnectionLostError) and error.__cause__ is None and self._failure is not None:
            error.__cause__ = self._failure
            error.message += f": {self._failure}" if str(self._failure) else ""
            self._name_url(error)
        elif isinstance(error, HttpStatusError):
            if self._location is not None:
                error.message += f"; it redirects to {self._location}"
            if self._failure is not None:
                error.__cause__ = self._failure
                error.message += f": {self._failure}"
            self._name_url(error)
        return error

    def _name_url(self, error: McpError) -> None:
        """Begin the message with the URL that the application gave, without what may be secret in it."""
        from urllib.parse import urlsplit

        options = self._engine.options.http
        if options is not None:
            url = urlsplit(options.url)
            error.message = f"{url.scheme}://{url.netloc.rpartition('@')[2]}{url.path}: {error.message}"

    # -- what the host reports of an exchange ----------------------------------------------------------------

    def receive_head(self, exchange: int, status: int, headers: list[tuple[str, str]]) -> None:
        """The head of a response is there."""
        if 300 <= status < 400:
            self._location = next((value for name, value in headers if name.lower() == "location"), None)
        self._engine.feed(lambda: self.machine.receive_head(exchange, status, headers, now()))
        self._location = None

    def receive_body(self, exchange: int, data: bytes) -> None:
        """A piece of its body is there."""
        self._engine.feed(lambda: self.machine.receive_body(exchange, data, now()))

    def receive_end(self, exchange: int) -> None:
        """It is complete."""
        self._engine.feed(lambda: self.machine.receive_end(exchange, now()))

    def authorized(self, exchange: int) -> None:
        """There are new credentials."""
        self._engine.feed(lambda: self.machine.authorized(exchange, now()))

    def unauthorized(self, exchange: int, error: Exception) -> None:
        """There are none, because of `error`."""
        self._failure = error
        self._engine.feed(lambda: self.machine.unauthorized(exchange, now()))
        self._failure = None

    def receive_failure(self, exchange: int, sent: bool, error: Exception) -> None:
        """There is none, or not all of it, because of `error`."""
        self._failure = error
        kind: Literal["broken", "not_sent"] = "broken" if sent else "not_sent"
        self._engine.feed(lambda: self.machine.receive_failure(exchange, kind, now()))
        self._failure = None


def carriage_for(engine: Engine, machine: native.Client | native.HttpClient) -> StreamCarriage | HttpCarriage:
    """The one that a machine is made for."""
    if isinstance(machine, native.HttpClient):
        return HttpCarriage(engine, machine)
    return StreamCarriage(engine, machine)
