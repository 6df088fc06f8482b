"""`barewire.sync.Client` as a client program of the suite; every call is made from a thread."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import barewire.sync
import walk
from client_barewire import LISTS, Handlers, completion, event, wire
from walk import Json, Target


class Enough(Exception):
    """No answer is wanted any more."""


class Adapter(Handlers):
    """The adapter of `walk` over `barewire.sync.Client`."""

    client: barewire.sync.Client

    async def ping(self) -> None:
        await asyncio.to_thread(self.client.ping)

    async def list_all(self, kind: str) -> list[Json]:
        return await asyncio.to_thread(lambda: [wire(item) for item in getattr(self.client, LISTS[kind])()])

    async def call(self, name: str, arguments: Json | None = None, on_progress: Any = None) -> Json:
        reports: list[Any] = []
        told = None if on_progress is None else reports.append
        result = await asyncio.to_thread(self.client.call_tool, name, arguments, on_progress=told)
        for report in reports:
            await on_progress(report.progress, report.total, report.message)
        return wire(result)

    async def call_and_cancel(self, name: str, arguments: Json) -> None:
        # An exception in the waiting thread cancels the call.
        def on_progress(report: Any) -> None:
            raise Enough

        try:
            result = await asyncio.to_thread(self.client.call_tool, name, arguments, on_progress=on_progress)
        except Enough:
            return
        raise AssertionError(f"the call was answered: {result}")

    async def log_call(self, name: str) -> Json:
        await asyncio.to_thread(self.client.set_log_level, "info")
        return await self.call(name)

    async def read(self, uri: str) -> Json:
        return wire(await asyncio.to_thread(self.client.read_resource, uri))

    async def get_prompt(self, name: str, arguments: dict[str, str] | None = None) -> Json:
        return wire(await asyncio.to_thread(self.client.get_prompt, name, arguments))

    async def complete(self, ref: Json, argument: str, value: str) -> Json:
        return wire(await asyncio.to_thread(self.client.complete, argument, value, **completion(ref)))

    @asynccontextmanager
    async def watch(self, tools: bool, uris: list[str]) -> AsyncIterator[asyncio.Queue[str]]:
        events: asyncio.Queue[str] = asyncio.Queue()
        loop = asyncio.get_running_loop()
        subscription = self.client.subscribe(tools=tools, uris=uris)
        changes = await asyncio.to_thread(subscription.__enter__)

        def pump() -> None:
            for change in changes:
                loop.call_soon_threadsafe(events.put_nowait, event(change))

        pumping = loop.run_in_executor(None, pump)
        yield events
        await asyncio.to_thread(subscription.__exit__, None, None, None)
        await pumping


@asynccontextmanager
async def connect(target: Target, revision: str) -> AsyncIterator[Adapter]:
    adapter = Adapter()
    client = barewire.sync.Client(**adapter.settings(target, revision))
    adapter.client = await asyncio.to_thread(client.__enter__)
    adapter.revision = client.revision
    try:
        yield adapter
    finally:
        await asyncio.to_thread(client.__exit__, None, None, None)


if __name__ == "__main__":
    walk.main(connect)
