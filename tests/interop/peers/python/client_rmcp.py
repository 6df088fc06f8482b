"""The interop peer client on the crate `rmcp`: the program of `peers/rust`, whose path is in `INTEROP_RMCP`.

It takes requests as lines of JSON and tells answers, notifications and questions; the checks are made here.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import walk
from walk import Json, Target

LOG_LEVEL_KEY = "io.modelcontextprotocol/logLevel"
# A line holds a whole result.
LINE_BYTES = 16 * 1024 * 1024
LISTS = {
    "tools": "tools/list",
    "resources": "resources/list",
    "resourceTemplates": "resources/templates/list",
    "prompts": "prompts/list",
}


class Refused(Exception):
    """The error that a request was answered with."""

    def __init__(self, error: Json) -> None:
        super().__init__(error.get("message"))
        self.code = error.get("code")


class Rmcp:
    """The adapter of `walk` over the program."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.revision = ""
        self.logs: list[Json] = []
        self.elicitations: list[Json] = []
        self.elicit_answer = walk.ACCEPT
        self.queues: list[asyncio.Queue[str]] = []
        self.on_progress: Any = None
        self.connected: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._answers: dict[int, asyncio.Future[Json]] = {}
        self._ids = itertools.count(1)
        self._told = {
            "connected": self.connected.set_result,
            "elicitation/create": self.elicitations.append,
            "notifications/message": self.logs.append,
            "notifications/progress": self.progressed,
            "notifications/resources/updated": lambda params: self.tell(f"updated {params['uri']}"),
            "notifications/tools/list_changed": lambda params: self.tell("tools"),
        }

    def progressed(self, params: Json) -> None:
        if self.on_progress is not None:
            self.on_progress(params)

    def tell(self, event: str) -> None:
        for queue in self.queues:
            queue.put_nowait(event)

    def order(self, line: Json) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(line).encode() + b"\n")

    async def hear(self) -> None:
        """Takes what the program tells until it ends."""
        assert self.process.stdout is not None
        async for line in self.process.stdout:
            told = json.loads(line)
            if "id" not in told:
                self._told.get(told["method"], lambda params: None)(told.get("params"))
            elif (answer := self._answers.pop(told["id"])).done():
                continue
            elif "error" in told:
                answer.set_exception(Refused(told["error"]))
            else:
                answer.set_result(told["result"])
        ended = ConnectionError("the program ended")
        for waiting in (self.connected, *self._answers.values()):
            if not waiting.done():
                waiting.set_exception(ended)

    def request(self, method: str, params: Json) -> tuple[int, asyncio.Future[Json]]:
        number = next(self._ids)
        self._answers[number] = asyncio.get_running_loop().create_future()
        self.order({"id": number, "method": method, "params": params})
        return number, self._answers[number]

    async def ask(self, method: str, params: Json) -> Json:
        return await self.request(method, params)[1]

    async def ping(self) -> None:
        await self.ask("ping", {})

    async def list_all(self, kind: str) -> list[Json]:
        items: list[Json] = []
        page: Json = {}
        while not items or page.get("nextCursor") is not None:
            params = {"cursor": page["nextCursor"]} if page else {}
            page = await self.ask(LISTS[kind], params)
            items += page[kind]
        return items

    async def call(self, name: str, arguments: Json | None = None, on_progress: Any = None) -> Json:
        return await self.call_with({"name": name, "arguments": arguments or {}}, on_progress)

    async def call_with(self, params: Json, on_progress: Any = None) -> Json:
        self.order(
            {
                "answers": {
                    "elicitation/create": self.elicit_answer,
                    "sampling/createMessage": walk.SAMPLE_RESULT,
                    "roots/list": {"roots": [{"uri": walk.ROOT, "name": "Test Root"}]},
                }
            }
        )
        reports: list[Json] = []
        self.on_progress = reports.append
        result = await self.ask("tools/call", params)
        self.on_progress = None
        if on_progress is not None:
            for report in reports:
                await on_progress(report["progress"], report.get("total"), report.get("message"))
        return result

    async def call_and_cancel(self, name: str, arguments: Json) -> None:
        started = asyncio.Event()
        self.on_progress = lambda params: started.set()
        call = {"method": "tools/call", "params": {"name": name, "arguments": arguments}}
        number, answer = self.request("stoppable", call)
        await started.wait()
        self.order({"stop": number})
        with suppress(Refused):
            raise AssertionError(f"the call was answered: {await answer}")

    async def log_call(self, name: str) -> Json:
        if self.revision >= "2026":
            meta = {LOG_LEVEL_KEY: "info"}
            return await self.call_with({"name": name, "arguments": {}, "_meta": meta})
        await self.ask("logging/setLevel", {"level": "info"})
        return await self.call(name)

    async def read(self, uri: str) -> Json:
        return await self.ask("resources/read", {"uri": uri})

    async def get_prompt(self, name: str, arguments: dict[str, str] | None = None) -> Json:
        return await self.ask("prompts/get", {"name": name, "arguments": arguments or {}})

    async def complete(self, ref: Json, argument: str, value: str) -> Json:
        return await self.ask(
            "completion/complete", {"ref": ref, "argument": {"name": argument, "value": value}}
        )

    @asynccontextmanager
    async def watch(self, tools: bool, uris: list[str]) -> AsyncIterator[asyncio.Queue[str]]:
        events: asyncio.Queue[str] = asyncio.Queue()
        self.queues.append(events)
        if self.revision >= "2026":
            wanted = {"toolsListChanged": tools, "resourceSubscriptions": uris}
            number, acknowledged = self.request("subscriptions/listen", wanted)
            await acknowledged
            yield events
            self.order({"stop": number})
        else:
            for uri in uris:
                await self.ask("resources/subscribe", {"uri": uri})
            yield events
            for uri in uris:
                await self.ask("resources/unsubscribe", {"uri": uri})
        self.queues.remove(events)


@asynccontextmanager
async def connect(target: Target, revision: str) -> AsyncIterator[Rmcp]:
    assert target.url is not None, "the program speaks Streamable HTTP only"
    process = await asyncio.create_subprocess_exec(
        os.environ["INTEROP_RMCP"],
        *("client", "--revision", revision, "--url", target.url),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        limit=LINE_BYTES,
    )
    adapter = Rmcp(process)
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
