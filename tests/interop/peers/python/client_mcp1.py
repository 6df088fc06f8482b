"""The interop peer client on PyPI `mcp` 1.x; the command line is that of `walk.main`."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import mcp.types as types
import walk
from mcp import ClientSession, StdioServerParameters, stdio_client
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from pydantic import AnyUrl
from walk import Json, Target

LISTS = {
    "tools": ("list_tools", "tools"),
    "resources": ("list_resources", "resources"),
    "resourceTemplates": ("list_resource_templates", "resourceTemplates"),
    "prompts": ("list_prompts", "prompts"),
}


def wire(result: Any) -> Json:
    plain: Json = result.model_dump(by_alias=True, mode="json", exclude_none=True)
    return plain


class Mcp1:
    """The adapter of `walk` over `mcp.ClientSession`."""

    def __init__(self) -> None:
        self.session: ClientSession = None  # type: ignore[assignment]
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
        notification = getattr(message, "root", None)
        if isinstance(notification, types.ToolListChangedNotification):
            self.tell("tools")
        elif isinstance(notification, types.ResourceUpdatedNotification):
            self.tell(f"updated {notification.params.uri}")

    def tell(self, event: str) -> None:
        for queue in self.queues:
            queue.put_nowait(event)

    async def ping(self) -> None:
        await self.session.send_ping()

    async def list_all(self, kind: str) -> list[Json]:
        method, member = LISTS[kind]
        items: list[Json] = []
        cursor: str | None = None
        while True:
            params = types.PaginatedRequestParams(cursor=cursor)
            page = wire(await getattr(self.session, method)(params=params))
            items += page[member]
            cursor = page.get("nextCursor")
            if cursor is None:
                return items

    async def call(self, name: str, arguments: Json | None = None, on_progress: Any = None) -> Json:
        return wire(await self.session.call_tool(name, arguments, progress_callback=on_progress))

    async def call_and_cancel(self, name: str, arguments: Json) -> None:
        started = asyncio.Event()

        async def on_progress(done: float, total: float | None, message: str | None) -> None:
            started.set()

        request = self.session._request_id
        call = asyncio.create_task(self.call(name, arguments, on_progress))
        await started.wait()
        # Cancelling the task tells the server nothing in this SDK, so the notification is sent by hand.
        params = types.CancelledNotificationParams(requestId=request, reason="enough")
        notification = types.CancelledNotification(params=params)
        await self.session.send_notification(types.ClientNotification(notification))
        call.cancel()
        await asyncio.wait([call])

    async def log_call(self, name: str) -> Json:
        await self.session.set_logging_level("info")
        return await self.call(name)

    async def read(self, uri: str) -> Json:
        return wire(await self.session.read_resource(AnyUrl(uri)))

    async def get_prompt(self, name: str, arguments: dict[str, str] | None = None) -> Json:
        return wire(await self.session.get_prompt(name, arguments))

    async def complete(self, ref: Json, argument: str, value: str) -> Json:
        kind = types.PromptReference if ref["type"] == "ref/prompt" else types.ResourceTemplateReference
        reference = kind.model_validate(ref)
        return wire(await self.session.complete(reference, {"name": argument, "value": value}))

    @asynccontextmanager
    async def watch(self, tools: bool, uris: list[str]) -> AsyncIterator[asyncio.Queue[str]]:
        events: asyncio.Queue[str] = asyncio.Queue()
        self.queues.append(events)
        for uri in uris:
            await self.session.subscribe_resource(AnyUrl(uri))
        yield events
        for uri in uris:
            await self.session.unsubscribe_resource(AnyUrl(uri))
        self.queues.remove(events)


def streams(target: Target) -> AbstractAsyncContextManager[Any]:
    if target.url is not None:
        return streamable_http_client(target.url)
    if target.sse is not None:
        return sse_client(target.sse)
    command, *arguments = target.command
    return stdio_client(StdioServerParameters(command=command, args=arguments, env=dict(os.environ)))


@asynccontextmanager
async def connect(target: Target, revision: str) -> AsyncIterator[Mcp1]:
    adapter = Mcp1()
    if revision != "auto":
        # The SDK always offers its newest revision; an older one has no option.
        types.LATEST_PROTOCOL_VERSION = revision
    async with (
        # Over Streamable HTTP there is a third thing, which tells the id of the session.
        streams(target) as (read, write, *_),
        ClientSession(
            read,
            write,
            sampling_callback=adapter.on_sample,
            elicitation_callback=adapter.on_elicit,
            list_roots_callback=adapter.on_roots,
            logging_callback=adapter.on_log,
            message_handler=adapter.on_message,
        ) as session,
    ):
        adapter.session = session
        adapter.revision = str((await session.initialize()).protocolVersion)
        yield adapter


if __name__ == "__main__":
    walk.main(connect)
