"""The published `inspector-cli`, whose path is in `INTEROP_INSPECTOR`: one process for each request."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import walk
from walk import Json, Target

# It offers the newest revision of the sdk 1.x that it is made of, and does not tell which was agreed.
REVISION = "2025-11-25"
LISTS = {
    "tools": "tools/list",
    "resources": "resources/list",
    "resourceTemplates": "resources/templates/list",
    "prompts": "prompts/list",
}
NO_OPTION = "the inspector has no option for it"
ONE_ANSWER = "the inspector shows the answer only, and declares no capabilities"
LEFT_OUT = {
    "ping": NO_OPTION,
    "parallel": "the inspector makes one request",
    "big": "the text would not fit on a command line",
    "cancel": NO_OPTION,
    "progress": ONE_ANSWER,
    "logging": ONE_ANSWER,
    "elicit": ONE_ANSWER,
    "elicit_twice": ONE_ANSWER,
    "sample": ONE_ANSWER,
    "roots": ONE_ANSWER,
    "completion": NO_OPTION,
    "template_completion": NO_OPTION,
    "tools_changed": ONE_ANSWER,
    "resource_updated": ONE_ANSWER,
}


def pairs(option: str, values: Json | None) -> list[str]:
    return [word for name, value in (values or {}).items() for word in (option, f"{name}={value}")]


class Inspector:
    """The adapter of `walk` over the command, as far as it goes."""

    revision = REVISION

    def __init__(self, url: str) -> None:
        self.url = url

    async def ask(self, method: str, *options: str) -> Json:
        program = Path(os.environ["INTEROP_INSPECTOR"])
        process = await asyncio.create_subprocess_exec(
            *("node", str(program), self.url, "--method", method, *options),
            # It looks for its own package from the folder it is run in.
            cwd=program.parent,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        output, errors = await process.communicate()
        if process.returncode != 0:
            raise RuntimeError(errors.decode(errors="replace"))
        result: Json = json.loads(output)
        return result

    async def list_all(self, kind: str) -> list[Json]:
        items: list[Json] = (await self.ask(LISTS[kind]))[kind]
        return items

    async def call(self, name: str, arguments: Json | None = None, on_progress: Any = None) -> Json:
        return await self.ask("tools/call", "--tool-name", name, *pairs("--tool-arg", arguments))

    async def read(self, uri: str) -> Json:
        return await self.ask("resources/read", "--uri", uri)

    async def get_prompt(self, name: str, arguments: Json | None = None) -> Json:
        return await self.ask("prompts/get", "--prompt-name", name, *pairs("--prompt-args", arguments))


@asynccontextmanager
async def connect(target: Target, revision: str) -> AsyncIterator[Any]:
    # The inspector knows the transport by the end of the URL.
    url = target.url or target.sse
    assert url is not None, "over stdio the inspector would start a server for each request"
    yield Inspector(url)


if __name__ == "__main__":
    walk.main(connect, LEFT_OUT)
