"""What the walks leave out: the client on trio, and a client that knows the era of its server beforehand."""

from __future__ import annotations

import asyncio
from typing import Any

import barewire
import cells
import pytest
import trio
import walk

SECONDS = 180
# The peers load a lot before they say anything.
PATIENT = barewire.Timeouts(probe=60_000, handshake=60_000)
PEERS = pytest.mark.parametrize("peer", ["mcp1", "mcp2", "ts1", "ts2"])
ERAS = {"mcp1": "2025-11-25", "mcp2": "2026-07-28", "ts1": "2025-11-25", "ts2": "2026-07-28"}


def elicit(request: barewire.ElicitRequest) -> dict[str, Any]:
    assert request.message == "Who are you?"
    content: dict[str, Any] = walk.ACCEPT["content"]
    return content


async def progress_then_cancel(client: barewire.Client) -> None:
    with trio.CancelScope() as scope:
        await client.call_tool("slow", {"seconds": 600}, on_progress=lambda _: scope.cancel())
    assert scope.cancelled_caught
    for _ in range(1000):
        if text(await client.call_tool("cancellations")) == "1":
            return
        await trio.sleep(0.02)
    raise AssertionError("the server never saw the cancellation")


def text(result: barewire.CallToolResult) -> str:
    (block,) = result.content
    assert isinstance(block, barewire.Text)
    return block.text


@PEERS
def test_trio(peer: str) -> None:
    async def main() -> None:
        with trio.fail_after(SECONDS):
            async with barewire.Client(
                command=cells.PEER_SERVERS[peer],
                on_elicit=elicit,
                stderr="discard",
                strict=True,
                timeouts=PATIENT,
            ) as client:
                assert client.revision == ERAS[peer]
                assert "echo" in [tool.name async for tool in client.tools()]
                assert text(await client.call_tool("echo", {"text": walk.ODD_TEXT})) == walk.ODD_TEXT
                asked = await client.call_tool("test_elicitation", {"message": "Who are you?"})
                assert "testuser" in text(asked)
                await progress_then_cancel(client)
                async with client.subscribe(uris=[walk.WATCHED]) as changes:
                    await client.call_tool("test_trigger_resource_update")
                    change = await changes.__anext__()
                    assert (change.kind, change.uri) == ("resource", walk.WATCHED)

    trio.run(main)


@PEERS
def test_known_era_saves_the_probe(peer: str) -> None:
    async def connect(era: str | None) -> str | None:
        command = cells.PEER_SERVERS[peer]
        async with barewire.Client(command=command, era=era, stderr="discard", timeouts=PATIENT) as client:
            assert client.revision == ERAS[peer]
            assert text(await client.call_tool("echo", {"text": "hi"})) == "hi"
            return client.era

    async def main() -> None:
        era = await connect(None)
        assert era is not None
        assert await connect(era) == era

    asyncio.run(asyncio.wait_for(main(), SECONDS))
