"""The interop peer client on PyPI `mcp` 2.x; the command line is that of `walk.main`."""

from __future__ import annotations

import asyncio
import os
import warnings
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import mcp_types as types
import walk
from mcp import Client, StdioServerParameters
from mcp.client import session as session_module
from mcp.client import sse as sse_module
from mcp.client.streamable_http import streamable_http_client
from walk import Json, Target

warnings.simplefilter("ignore")

LOG_LEVEL_KEY = "io.modelcontextprotocol/logLevel"
LISTS = {
    "tools": ("list_tools", "tools"),
    "resources": ("list_resources", "resources"),
    "resourceTemplates": ("list_resource_templates", "resourceTemplates"),
    "prompts": ("list_prompts", "prompts"),
}


def wire(result: Any) -> Json:
    plain: Json = result.model_dump(by_alias=True, mode="json", exclude_none=True)
    return plain


class Mcp2:
    """The adapter of `walk` over `mcp.Client`."""

    def __init__(self) -> None:
        self.client: Client = None  # type: ignore[assignment]
        self.revision = ""
        self.logs: list[Json] = []
        self.elicitations: list[Json] = []
        self.elicit_answer = walk.ACCEPT
        self.queues: list[asyncio.Queue[str]] = []

    async def on_log(self, params: Any) -> None:
        self.logs.append(wire(params))

    async def on_elicit(self, context: Any, params: Any) -> types.ElicitResult:
        self.elicitations.append(wire(params))
        return types.ElicitResult.model_validate(self.elicit_answer)

    async def on_sample(self, context: Any, params: Any) -> types.CreateMessageResult:
        return types.CreateMessageResult.model_validate(walk.SAMPLE_RESULT)

    async def on_roots(self, context: Any) -> types.ListRootsResult:
        return types.ListRootsResult.model_validate({"roots": [{"uri": walk.ROOT, "name": "Test Root"}]})

    async def on_message(self, message: Any) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            self.tell("tools")
        elif isinstance(message, types.ResourceUpdatedNotification):
            self.tell(f"updated {message.params.uri}")

    def tell(self, event: str) -> None:
        for queue in self.queues:
            queue.put_nowait(event)

    async def ping(self) -> None:
        await self.client.send_ping()

    async def list_all(self, kind: str) -> list[Json]:
        method, member = LISTS[kind]
        items: list[Json] = []
        cursor: str | None = None
        while True:
            page = wire(await getattr(self.client, method)(cursor=cursor, cache_mode="refresh"))
            items += page[member]
            cursor = page.get("nextCursor")
            if cursor is None:
                return items

    async def call(self, name: str, arguments: Json | None = None, on_progress: Any = None) -> Json:
        return wire(await self.client.call_tool(name, arguments, progress_callback=on_progress))

    async def call_and_cancel(self, name: str, arguments: Json) -> None:
        started = asyncio.Event()

        async def on_progress(done: float, total: float | None, message: str | None) -> None:
            started.set()

        call = asyncio.create_task(self.call(name, arguments, on_progress))
        await started.wait()
        call.cancel()
        try:
            await call
        except asyncio.CancelledError:
            return
        raise AssertionError("the call was answered")

    async def log_call(self, name: str) -> Json:
        if self.revision >= "2026":
            return wire(await self.client.call_tool(name, meta={LOG_LEVEL_KEY: "info"}))  # type: ignore[arg-type]
        await self.client.set_logging_level("info")
        return await self.call(name)

    async def read(self, uri: str) -> Json:
        return wire(await self.client.read_resource(uri))

    async def get_prompt(self, name: str, arguments: dict[str, str] | None = None) -> Json:
        return wire(await self.client.get_prompt(name, arguments))

    async def complete(self, ref: Json, argument: str, value: str) -> Json:
        kind = types.PromptReference if ref["type"] == "ref/prompt" else types.ResourceTemplateReference
        reference = kind.model_validate(ref)
        return wire(await self.client.complete(reference, {"name": argument, "value": value}))

    @asynccontextmanager
    async def watch(self, tools: bool, uris: list[str]) -> AsyncIterator[asyncio.Queue[str]]:
        events: asyncio.Queue[str] = asyncio.Queue()
        if self.revision < "2026":
            self.queues.append(events)
            for uri in uris:
                await self.client.subscribe_resource(uri)
            yield events
            for uri in uris:
                await self.client.unsubscribe_resource(uri)
            self.queues.remove(events)
            return
        async with self.client.listen(tools_list_changed=tools, resource_subscriptions=uris) as subscription:

            async def pump() -> None:
                async for event in subscription:
                    uri = getattr(event, "uri", None)
                    events.put_nowait("tools" if uri is None else f"updated {uri}")

            pumping = asyncio.create_task(pump())
            yield events
            pumping.cancel()


def server(target: Target) -> Any:
    if target.url is not None:
        return streamable_http_client(target.url, max_sse_event_size=None)
    if target.sse is not None:
        # Here the bound of an event, which `big` exceeds, has no option.
        sse_module.sse_within_origin = partial(sse_module.sse_within_origin, max_event_size=None)
        return sse_module.sse_client(target.sse)
    command, *arguments = target.command
    return StdioServerParameters(command=command, args=arguments, env=dict(os.environ))


@asynccontextmanager
async def connect(target: Target, revision: str) -> AsyncIterator[Mcp2]:
    adapter = Mcp2()
    mode = revision
    if revision != "auto" and revision < "2026":
        # The SDK always offers its newest legacy revision; an older one has no option.
        session_module.LATEST_HANDSHAKE_VERSION = revision  # type: ignore[misc]
        mode = "legacy"
    async with Client(
        server(target),
        mode=mode,
        sampling_callback=adapter.on_sample,
        elicitation_callback=adapter.on_elicit,
        list_roots_callback=adapter.on_roots,
        logging_callback=adapter.on_log,
        message_handler=adapter.on_message,
    ) as client:
        adapter.client = client
        adapter.revision = client.protocol_version
        yield adapter


if __name__ == "__main__":
    walk.main(connect)
