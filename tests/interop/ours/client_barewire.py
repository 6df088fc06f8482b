"""`barewire.Client` as a client program; the command line is that of `walk.main`."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import barewire
import walk
from walk import Json, Target


def wire(received: Any) -> Json:
    """The JSON of a result as it came; `strict` has seen to it that all of it could be read."""
    plain: Json = json.loads(received.raw)
    return plain


class Handlers:
    """What the adapters of both clients answer and note."""

    def __init__(self) -> None:
        self.revision = ""
        self.logs: list[Json] = []
        self.elicitations: list[Json] = []
        self.elicit_answer = walk.ACCEPT

    def on_log(self, message: Any) -> None:
        self.logs.append({"level": message.level, "data": message.data})

    def on_elicit(self, request: Any) -> Any:
        self.elicitations.append(wire(request))
        return barewire.ElicitResult(self.elicit_answer["action"], self.elicit_answer.get("content"))

    def on_sample(self, request: Any) -> Any:
        answer = walk.SAMPLE_RESULT
        return barewire.SampleResult(
            role=answer["role"],
            content=answer["content"]["text"],
            model=answer["model"],
            stop_reason=answer["stopReason"],
        )

    def on_roots(self) -> Any:
        return [barewire.Root(walk.ROOT, "Test Root")]

    def settings(self, target: Target, revision: str) -> Json:
        """The arguments of either client, to which a URL is a URL."""
        url = target.url or target.sse
        return {
            **({"command": target.command, "env": dict(os.environ)} if url is None else {"server": url}),
            "on_elicit": self.on_elicit,
            "on_sample": self.on_sample,
            "on_roots": self.on_roots,
            "on_log": self.on_log,
            "revisions": None if revision == "auto" else [revision],
            "strict": True,
            # Peers load a lot before they say anything, and take their time to end on a busy machine.
            "timeouts": barewire.Timeouts(probe=60_000, handshake=60_000, child_exit=30_000),
        }


LISTS = {
    "tools": "tools",
    "resources": "resources",
    "resourceTemplates": "resource_templates",
    "prompts": "prompts",
}


def event(change: Any) -> str:
    return f"updated {change.uri}" if change.kind == "resource" else str(change.kind)


def completion(ref: Json) -> Json:
    """How `complete` is told what it is about."""
    return {"prompt": ref["name"]} if ref["type"] == "ref/prompt" else {"resource": ref["uri"]}


class Adapter(Handlers):
    """The adapter of `walk` over `barewire.Client`."""

    client: barewire.Client

    async def ping(self) -> None:
        await self.client.ping()

    async def list_all(self, kind: str) -> list[Json]:
        return [wire(item) async for item in getattr(self.client, LISTS[kind])()]

    async def call(self, name: str, arguments: Json | None = None, on_progress: Any = None) -> Json:
        async def report(progress: Any) -> None:
            await on_progress(progress.progress, progress.total, progress.message)

        told = None if on_progress is None else report
        return wire(await self.client.call_tool(name, arguments, on_progress=told))

    async def call_and_cancel(self, name: str, arguments: Json) -> None:
        started = asyncio.Event()
        call = asyncio.create_task(
            self.client.call_tool(name, arguments, on_progress=lambda _: started.set())
        )
        await started.wait()
        call.cancel()
        with suppress(asyncio.CancelledError):
            raise AssertionError(f"the call was answered: {await call}")

    async def log_call(self, name: str) -> Json:
        await self.client.set_log_level("info")
        return await self.call(name)

    async def read(self, uri: str) -> Json:
        return wire(await self.client.read_resource(uri))

    async def get_prompt(self, name: str, arguments: dict[str, str] | None = None) -> Json:
        return wire(await self.client.get_prompt(name, arguments))

    async def complete(self, ref: Json, argument: str, value: str) -> Json:
        return wire(await self.client.complete(argument, value, **completion(ref)))

    @asynccontextmanager
    async def watch(self, tools: bool, uris: list[str]) -> AsyncIterator[asyncio.Queue[str]]:
        events: asyncio.Queue[str] = asyncio.Queue()
        async with self.client.subscribe(tools=tools, uris=uris) as changes:

            async def pump() -> None:
                async for change in changes:
                    events.put_nowait(event(change))

            pumping = asyncio.create_task(pump())
            yield events
        pumping.cancel()


@asynccontextmanager
async def connect(target: Target, revision: str) -> AsyncIterator[Adapter]:
    adapter = Adapter()
    async with barewire.Client(**adapter.settings(target, revision)) as client:
        adapter.client = client
        adapter.revision = client.revision
        yield adapter


if __name__ == "__main__":
    walk.main(connect)
