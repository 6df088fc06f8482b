"""A protected server of ours, on the loopback interface, in a thread of the test."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import barewire
import uvicorn

#: Seconds for it to start or end.
PATIENCE = 60.0


def make_server() -> barewire.Server:
    """Tools that tell who calls, one of which needs more than the others."""
    server = barewire.Server("protected", version="1")

    @server.tool
    async def whoami(context: barewire.Context) -> str:
        assert context.caller is not None
        return context.caller.subject

    @server.tool
    async def granted(context: barewire.Context) -> list[str]:
        assert context.caller is not None
        return sorted(context.caller.scopes)

    @server.tool(scopes=["tools:write"])
    async def write(context: barewire.Context) -> str:
        assert context.caller is not None
        return f"written by {context.caller.subject}"

    return server


class _Server(uvicorn.Server):
    """Says when it is ready."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.is_ready = threading.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.is_ready.set()


@contextmanager
def protected_server(
    issuers: Sequence[str], *, port: int = 0, scopes: Sequence[str] = ("tools:read",), **settings: Any
) -> Iterator[str]:
    """Serve on a port, a free one by default; the URL of the endpoint."""
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", port))
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"
        auth = barewire.ResourceServer(url, list(issuers), scopes=scopes, leeway=0, **settings)
        config = uvicorn.Config(make_server().asgi(auth=auth), log_level="warning", lifespan="on")
        running = _Server(config)
        thread = threading.Thread(target=running.run, args=([listener],))
        thread.start()
        try:
            assert running.is_ready.wait(PATIENCE)
            yield url
        finally:
            running.should_exit = True
            thread.join(PATIENCE)
