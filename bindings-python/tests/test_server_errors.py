"""Codes of errors of prompts, resources and completions, in both eras."""

from __future__ import annotations

import asyncio
import gc
import sys

import pytest
from barewire import Client, Server
from server_peer import LEGACY, MODERN, InProcess

ERAS = pytest.mark.parametrize("revision", [LEGACY, MODERN])


# proves: FEAT-161 FEAT-163
@ERAS
def test_a_prompt_without_what_it_needs_is_not_made(revision: str) -> None:
    server = Server("s")
    made = []

    @server.prompt
    def words(topic: str, count: int = 1) -> str:
        made.append(topic)
        return topic

    peer = InProcess(server, revision)
    assert peer.error("prompts/get", {"name": "words"})["code"] == -32602
    assert peer.error("prompts/get", {"name": "words", "arguments": {"count": "2"}})["code"] == -32602
    unfit = {"topic": "a", "count": "two"}
    assert peer.error("prompts/get", {"name": "words", "arguments": unfit})["code"] == -32602
    assert made == []
    peer.request("prompts/get", {"name": "words", "arguments": {"topic": "a", "count": "2"}})
    assert made == ["a"]
    peer.end()


# proves: FEAT-133 FEAT-162 FEAT-186
@ERAS
def test_a_defect_is_an_internal_error_that_tells_nothing(revision: str) -> None:
    server = Server("s")

    @server.prompt
    def words(topic: str) -> str:
        raise ZeroDivisionError("secret")

    @server.resource("r://x")
    async def text() -> str:
        raise ZeroDivisionError("secret")

    @server.completion("words", "topic")
    def topics(value: str) -> list[str]:
        raise ZeroDivisionError("secret")

    peer = InProcess(server, revision)
    completion = {
        "ref": {"type": "ref/prompt", "name": "words"},
        "argument": {"name": "topic", "value": ""},
    }
    for method, params in (
        ("prompts/get", {"name": "words", "arguments": {"topic": "a"}}),
        ("resources/read", {"uri": "r://x"}),
        ("completion/complete", completion),
    ):
        error = peer.error(method, params)
        assert error["code"] == -32603, method
        assert "secret" not in str(error), method
    peer.end()


@pytest.mark.parametrize("seconds", [0, 0.001])
def test_an_async_handler_that_exits_fails_alone_in_memory(
    seconds: float, caplog: pytest.LogCaptureFixture
) -> None:
    server = Server("s")

    @server.tool
    async def leave() -> None:
        if seconds:
            await asyncio.sleep(seconds)
        sys.exit(3)

    async def main() -> None:
        async with Client(server) as client:
            for _ in range(2):
                result = await client.call_tool("leave")
                assert result.is_error and "Internal error" in repr(result.content)
                gc.collect()  # an exception of a task that nobody took would be logged

    asyncio.run(main())
    assert [record.getMessage() for record in caplog.records] == ["handler 'leave' failed"] * 2
