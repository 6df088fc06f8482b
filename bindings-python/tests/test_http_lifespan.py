"""The ASGI application from its start to its end."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from barewire import Context, Server, Timeouts
from http_peer import (
    LEGACY,
    MODERN,
    PATIENCE,
    REVISIONS,
    App,
    HttpPeer,
    eventually,
    make_server,
    run,
    running,
)


def test_the_lifespan_is_entered_once() -> None:
    async def test() -> None:
        log: list[str] = []

        @contextlib.asynccontextmanager
        async def lifespan(server: Server) -> AsyncIterator[str]:
            log.append("enter")
            yield "pool"
            log.append("leave")

        server = make_server(lifespan=lifespan)

        @server.tool
        async def pool(context: Context) -> str:
            value: str = context.lifespan
            return value

        app = server.asgi()
        async with running(app), HttpPeer(app) as first, HttpPeer(app, MODERN) as second:
            assert log == ["enter"]
            assert await first.result("pool") == await second.result("pool") == "pool"
        assert log == ["enter", "leave"]

    run(test)


def test_the_lifespan_is_entered_by_the_first_request_if_the_host_says_nothing() -> None:
    async def test() -> None:
        log: list[str] = []

        @contextlib.contextmanager
        def lifespan(server: Server) -> Iterator[None]:
            log.append("enter")
            yield
            log.append("leave")

        app = make_server(lifespan=lifespan).asgi()
        peers = [HttpPeer(app, MODERN) for _ in range(3)]
        await asyncio.gather(*(peer.call("waits", text="x").done() for peer in peers))
        assert log == ["enter"]
        await app.close()
        assert log == ["enter", "leave"]

    run(test)


def test_a_lifespan_that_fails_is_told() -> None:
    async def test() -> None:
        @contextlib.asynccontextmanager
        async def lifespan(server: Server) -> AsyncIterator[None]:
            raise RuntimeError("no database")
            yield

        app = make_server(lifespan=lifespan).asgi()
        host = running(app)
        with pytest.raises(AssertionError, match=r'(?s)Traceback.*raise RuntimeError\("no database"\)'):
            await host.__aenter__()
        assert host.task is not None
        with pytest.raises(RuntimeError, match="no database"):
            await host.task
        with pytest.raises(RuntimeError, match="no database"):
            await HttpPeer(app, MODERN).call("inline", text="x").done()

    run(test)


@pytest.mark.parametrize("revision", [LEGACY, MODERN])
def test_the_end_waits_for_what_is_in_flight_and_ends_streams(revision: str) -> None:
    async def test() -> None:
        server = make_server()
        go = asyncio.Event()

        @server.tool
        async def waits_for() -> str:
            await go.wait()
            return "done"

        app: App
        app = server.asgi()
        host = running(app)
        await host.__aenter__()
        async with HttpPeer(app, revision) as peer:
            if peer.modern:
                listening = {"notifications": {"toolsListChanged": True}}
                stream = await peer.request("subscriptions/listen", listening).started()
            else:
                stream = await peer.get().started()
            exchange = peer.call("waits_for")
            await asyncio.sleep(0)
            end = asyncio.ensure_future(host.__aexit__())
            await asyncio.sleep(0.01)
            assert not end.done() and not exchange.is_complete
            assert (await peer.call("inline", text="x").done()).status in (404, 503)
            go.set()
            assert (await exchange.answer())["result"]["content"][0]["text"] == "done"
            await asyncio.wait_for(end, PATIENCE)
            assert stream.is_complete

    run(test)


def test_the_end_does_not_wait_forever() -> None:
    async def test() -> None:
        server = make_server(timeouts=Timeouts(drain=10))
        stopped = asyncio.Event()

        @server.tool
        async def forever() -> None:
            try:
                await asyncio.Event().wait()
            finally:
                stopped.set()

        app = server.asgi()
        async with running(app), HttpPeer(app) as peer:
            exchange = peer.call("forever")
            await eventually(lambda: app._host is not None and app._host.connection.has_calls)
        assert stopped.is_set()
        await asyncio.wait_for(exchange.task, PATIENCE)

    run(test)


def test_websockets_are_refused() -> None:
    async def test() -> None:
        sent: list[Any] = []

        async def receive() -> dict[str, Any]:
            return {"type": "websocket.connect"}

        async def send(message: Any) -> None:
            sent.append(message)

        await make_server().asgi()({"type": "websocket", "path": "/mcp"}, receive, send)
        assert sent == [{"type": "websocket.close"}]

    run(test)


def test_many_clients_at_once() -> None:
    async def test() -> None:
        server = make_server()
        app = server.asgi()

        async def client(number: int) -> None:
            async with HttpPeer(app, REVISIONS[number % len(REVISIONS)]) as peer:
                for tool in ("inline", "threaded", "immediate", "waits"):
                    assert await peer.result(tool, text=f"{number}") == f"{number}"

        async with running(app):
            await asyncio.gather(*(client(number) for number in range(40)))

    run(test)
