"""Clients of a server in the same process, and machines on a clock of the test's own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import barewire
import pytest
from barewire import sansio
from barewire.testing import Pair
from client_harness import FLAVOURS, QUICK, Run
from test_client import ERAS, words


@pytest.fixture(params=list(FLAVOURS))
def run(request: pytest.FixtureRequest) -> Run:
    return FLAVOURS[request.param]


@pytest.fixture
def server() -> barewire.Server:
    server = barewire.Server("memory", version="1")

    @server.tool
    def add(a: int, b: int) -> int:
        return a + b

    @server.tool
    async def greet(ctx: barewire.Context) -> str:
        await ctx.progress(1, 2, "asking")
        answer = await ctx.elicit("Your name?", str)
        return f"Hello, {answer.content}"

    @server.tool
    async def wait_for_ever() -> None:
        await asyncio.Event().wait()

    @server.resource("note://{name}")
    def note(name: str) -> str:
        return f"about {name}"

    return server


# proves: BASE-176 BASE-177
@pytest.mark.parametrize("revision", ERAS.values())
def test_a_server_object_is_served_in_memory(run: Run, revision: str, server: barewire.Server) -> None:
    seen: list[barewire.Progress] = []

    async def scenario(client: Any) -> None:
        assert client.revision == revision
        assert client.server_info.name == "memory"
        assert [tool.name async for tool in client.tools()] == ["add", "greet", "wait_for_ever"]
        assert words(await client.call_tool("add", {"a": 2, "b": 3})) == "5"
        assert words(await client.call_tool("greet", on_progress=seen.append)) == "Hello, Ann"
        assert seen[0].message == "asking"
        contents = (await client.read_resource("note://x")).contents
        assert contents[0].text == "about x"
        with pytest.raises(barewire.RequestTimedOutError):
            await client.call_tool("wait_for_ever", timeout=0.05)
        server.remove_tool("add")
        with pytest.raises(barewire.RpcError):
            await client.call_tool("add", {"a": 2, "b": 3})

    run(scenario, server, revisions=[revision], on_elicit=lambda _: {"value": "Ann"})


def test_changes_reach_a_client_in_memory(run: Run, server: barewire.Server) -> None:
    async def scenario(client: Any) -> None:
        async with client.subscribe(tools=True) as changes:
            server.remove_tool("add")
            async for change in changes:
                assert change == barewire.Change("tools")
                break

    run(scenario, server)


def test_the_lifespan_of_a_server_in_memory_is_that_of_its_client(run: Run) -> None:
    seen: list[str] = []

    @asynccontextmanager
    async def lifespan(server: barewire.Server) -> AsyncIterator[str]:
        seen.append("opened")
        yield "state"
        seen.append("closed")

    server = barewire.Server("memory", version="1", lifespan=lifespan)

    @server.tool
    async def state(ctx: barewire.Context) -> str:
        return str(ctx.lifespan)

    async def scenario(client: Any) -> None:
        assert words(await client.call_tool("state")) == "state"
        assert seen == ["opened"]

    run(scenario, server)
    assert seen == ["opened", "closed"]


def test_a_lifespan_that_fails_is_the_cause_of_the_lost_connection(run: Run) -> None:
    @asynccontextmanager
    async def lifespan(server: barewire.Server) -> AsyncIterator[None]:
        raise ZeroDivisionError
        yield

    async def scenario(client: Any) -> None:
        raise AssertionError

    with pytest.raises(barewire.ConnectionLostError) as caught:
        run(scenario, barewire.Server("memory", lifespan=lifespan))
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_two_clients_share_a_server_object(server: barewire.Server) -> None:
    async def main() -> None:
        async with barewire.Client(server, timeouts=QUICK) as one, barewire.Client(server) as two:
            assert words(await one.call_tool("add", {"a": 1, "b": 1})) == "2"
            assert words(await two.call_tool("add", {"a": 2, "b": 2})) == "4"

    asyncio.run(main())


# proves: BASE-428
@pytest.mark.parametrize("revision", ERAS.values())
def test_a_timeout_needs_no_waiting_on_a_clock_of_ones_own(revision: str) -> None:
    server = sansio.Server(name="s", version="1", seed=bytes(32), clock_origin=0)
    server.add_tool(b'{"name":"t","inputSchema":{"type":"object"}}')
    client = sansio.Client(name="c", version="1", seed=bytes(32), now=0, revisions=[revision])
    pair = Pair(client, server)
    pair.exchange()
    assert isinstance(pair.client_events.pop(), sansio.Ready)
    handle = client.call_tool("t", None, pair.now, timeout=1000)
    pair.advance(999)
    assert pair.client_events == []
    assert isinstance(pair.server_events.pop(), sansio.ToolCalled)
    pair.advance(1)
    failed = pair.client_events.pop()
    assert isinstance(failed, sansio.RequestFailed)
    assert failed.request == handle
    assert isinstance(failed.error, barewire.RequestTimedOutError)
    pair.exchange()
    assert isinstance(pair.server_events.pop(), sansio.RequestCancelled)
