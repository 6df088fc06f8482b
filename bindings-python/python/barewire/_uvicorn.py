"""Serving over HTTP by uvicorn, which the extra `http` of the package brings."""

from __future__ import annotations

import asyncio
import logging
import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ._asgi import AsgiApp

try:
    import uvicorn
except ImportError as error:
    raise ImportError("serving over HTTP takes uvicorn: pip install 'barewire[http]'") from error

_LOOPBACK = ("127.0.0.1", "::1", "localhost")

if TYPE_CHECKING:
    import socket
    from collections.abc import Iterator, Mapping

    from ._server import Server


def run(server: Server, host: str, port: int, options: Mapping[str, Any]) -> None:
    """Serve until a signal comes."""
    _Host(server, host, port, options, signals=True).run()


async def serve(server: Server, host: str, port: int, options: Mapping[str, Any]) -> None:
    """Serve on the running loop until the task is cancelled."""
    uvicorn_server = _Host(server, host, port, options, signals=False)
    serving = asyncio.ensure_future(uvicorn_server.serve())
    try:
        await asyncio.shield(serving)
    except asyncio.CancelledError:
        uvicorn_server.should_exit = True
        await serving
        raise


#: Seconds for connections to end, beyond those that calls in flight get.
_PATIENCE = 4


class _Host(uvicorn.Server):
    """uvicorn for one application, whose streams end before uvicorn waits for all responses."""

    def __init__(
        self, server: Server, host: str, port: int, options: Mapping[str, Any], *, signals: bool
    ) -> None:
        if not isinstance(port, int):  # uvicorn takes it, and then fails to say so
            raise TypeError(f"the port is a number, not {port!r}")
        self._app = AsgiApp(server, signals=False, **options)
        self._path = options.get("path", "/mcp")
        self._catches_signals = signals
        config = uvicorn.Config(
            self._app,
            host,
            port,
            lifespan="on",
            ws="none",
            access_log=False,
            # A client that reads nothing would hold up the end for ever: by then its exchange is broken off.
            timeout_graceful_shutdown=server._drain // 1000 + _PATIENCE,
        )
        super().__init__(config)
        if host not in _LOOPBACK and not options.get("allowed_hosts"):
            logging.getLogger("barewire").warning(
                "listening on %s, but answering only to names of the loopback interface: "
                "name others in allowed_hosts",
                host,
            )

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        if not self._catches_signals:
            await self._app.start()  # if that fails, the program around is told how
        try:
            await super().startup(sockets)
        except SystemExit as end:
            if self._catches_signals or end.__context__ is None:
                raise
            raise end.__context__ from None  # the port is taken
        if self.started and self._path is not None:
            name, port = self.servers[0].sockets[0].getsockname()[:2]
            name = f"[{name}]" if ":" in name else name
            logging.getLogger("uvicorn.error").info("MCP is served at http://%s:%d%s", name, port, self._path)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        # Not as uvicorn does, which raises the signals once more in the end: `run_http` returns.
        before = {}
        if self._catches_signals and threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                before[number] = signal.signal(number, self.handle_exit)
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._app.shut_down()
        await super().shutdown(sockets)
