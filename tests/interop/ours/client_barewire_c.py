"""The client of the C library as a client program; the command line is that of `walk.main`.

`INTEROP_C` names the program of `client_barewire.c`. It takes requests as lines of JSON, as the peer on rmcp
does, and has one way for both eras.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import walk
from client_rmcp import LINE_BYTES, Refused, Rmcp
from walk import Json, Target


class Adapter(Rmcp):
    """The adapter of `walk` over the program."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        super().__init__(process)
        self._ended = asyncio.Event()
        self._told["ended"] = lambda params: self._ended.set()

    async def call_and_cancel(self, name: str, arguments: Json) -> None:
        started = asyncio.Event()
        self.on_progress = lambda params: started.set()
        number, answer = self.request("tools/call", {"name": name, "arguments": arguments})
        await started.wait()
        self.order({"stop": number})
        with suppress(Refused):
            raise AssertionError(f"the call was answered: {await answer}")

    async def log_call(self, name: str) -> Json:
        await self.ask("logging/setLevel", {"level": "info"})
        return await self.call(name)

    @asynccontextmanager
    async def watch(self, tools: bool, uris: list[str]) -> AsyncIterator[asyncio.Queue[str]]:
        events: asyncio.Queue[str] = asyncio.Queue()
        self.queues.append(events)
        wanted = {"toolsListChanged": tools, "resourceSubscriptions": uris}
        number, acknowledged = self.request("subscriptions/listen", wanted)
        await acknowledged
        yield events
        self._ended.clear()
        self.order({"stop": number})
        await self._ended.wait()
        self.queues.remove(events)


@asynccontextmanager
async def connect(target: Target, revision: str) -> AsyncIterator[Adapter]:
    url = ["--url", target.url] if target.url else ["--sse", target.sse]
    place = ["--", *target.command] if target.command else [word for word in url if word is not None]
    process = await asyncio.create_subprocess_exec(
        os.environ["INTEROP_C"],
        *("--revision", revision, *place),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        limit=LINE_BYTES,
    )
    adapter = Adapter(process)
    hearing = asyncio.create_task(adapter.hear())
    try:
        adapter.revision = await adapter.connected
        yield adapter
    finally:
        assert process.stdin is not None
        process.stdin.close()
        await hearing
        walk.expect(await process.wait() == 0, f"the program ended with status {process.returncode}")


if __name__ == "__main__":
    walk.main(connect)
