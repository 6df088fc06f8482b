"""Clients that leave, lie and flood, at a server over HTTP."""

from __future__ import annotations

import asyncio
import io
from typing import Any

import pytest
from barewire import Context, Server
from http_peer import MODERN, PATIENCE, Exchange, HttpPeer, eventually, run, running


def within_body(app: Any, peer: HttpPeer, left: str) -> Exchange:
    """A request whose client leaves within the body, which hosts tell once, or by cancelling."""
    exchange = Exchange(app, "POST", peer.headers({"method": "ping"}), [b"{", b" "])
    told = 0

    async def receive() -> dict[str, Any]:
        nonlocal told
        if exchange._pieces:
            return {"type": "http.request", "body": exchange._pieces.pop(0), "more_body": True}
        told += 1
        if left == "told once" and told == 1:
            return {"type": "http.disconnect"}
        return await asyncio.get_running_loop().create_future()  # type: ignore[no-any-return]

    exchange._receive = receive  # type: ignore[method-assign]
    return exchange


@pytest.mark.parametrize("left", ["told once", "cancelled"])
def test_whoever_leaves_within_a_body_leaves_nothing(left: str) -> None:
    async def test() -> None:
        app = Server("hostile", version="1.0").asgi()
        async with running(app), HttpPeer(app, MODERN) as peer:
            exchange = within_body(app, peer, left)
            await eventually(lambda: not exchange._pieces)
            if left == "cancelled":
                exchange.task.cancel()
            await asyncio.wait({exchange.task}, timeout=PATIENCE)
            assert exchange.task.done()
            assert exchange.sent == []
            assert app._host is not None and app._host.machine.is_idle

    run(test)


def test_the_end_does_not_wait_for_bodies() -> None:
    async def test() -> None:
        app = Server("hostile", version="1.0").asgi()
        async with running(app), HttpPeer(app, MODERN) as peer:
            exchange = within_body(app, peer, "never")
            await eventually(lambda: not exchange._pieces)
            app.shut_down()
            await exchange.done()
            assert exchange.status == 503

    run(test)


@pytest.mark.parametrize("token", [1, None])
def test_a_handler_that_only_reports_sees_its_client_leave(token: int | None) -> None:
    async def test() -> None:
        server = Server("hostile", version="1.0")
        reports = 0

        @server.tool
        async def reports_on(context: Context) -> None:
            nonlocal reports
            for reports in range(1, 20_001):
                await context.progress(reports, message="x" * 100)

        app = server.asgi()
        async with running(app), HttpPeer(app, MODERN) as peer:
            exchange = peer.call("reports_on", token=token)
            exchange.disconnect()
            await asyncio.wait_for(exchange.task, PATIENCE)
            assert 0 < reports < 1_000
            assert app._host is not None and app._host.machine.is_idle

    run(test)


class BrokenInput(io.RawIOBase):
    """A body that ends with the connection."""

    def read(self, size: int = -1) -> bytes:
        raise ConnectionResetError("gone")


def test_a_wsgi_body_that_breaks_leaves_nothing() -> None:
    app = Server("hostile", version="1.0").wsgi()
    environ = {
        "REQUEST_METHOD": "POST",
        "PATH_INFO": "/mcp",
        "CONTENT_TYPE": "application/json",
        "CONTENT_LENGTH": "10",
        "HTTP_HOST": "localhost",
        "wsgi.input": BrokenInput(),
    }
    try:
        with pytest.raises(ConnectionResetError):
            app(environ, lambda status, headers: None)

        async def test() -> None:
            await eventually(lambda: app._host is not None and app._host.machine.is_idle)

        run(test)
    finally:
        app.close()
