"""The walk through an everything server that every Python client takes.

A client is an adapter: the attributes and coroutines of `Adapter`, all in wire shapes (the JSON member
names of the specification). `walk` runs each check of `CHECKS` and hands over one outcome a check.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import importlib
import json
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, Protocol

Json = dict[str, Any]
CHECK_SECONDS = 60.0
# Quotes, a backslash, controls, a line separator, text beyond the basic plane.
ODD_TEXT = 'say "hi" \\ tab\t newline\n \u2028 ünïcødé 🜁'
WATCHED = "test://watched-resource"
ACCEPT: Json = {"action": "accept", "content": {"username": "testuser", "email": "test@example.com"}}
MODEL_ANSWER = "This is a test response from the client"
# A test may offer a root that exists.
ROOT = os.environ.get("INTEROP_ROOT", "file:///test/root")
SAMPLE_RESULT: Json = {
    "role": "assistant",
    "content": {"type": "text", "text": MODEL_ANSWER},
    "model": "test-model",
    "stopReason": "endTurn",
}


class Unsupported(Exception):
    """The software under test, or the revision, has no such feature; the text says which."""


class Adapter(Protocol):
    """What a client offers to the walk."""

    revision: str
    logs: list[Json]
    elicitations: list[Json]
    # The answer to the next elicitation.
    elicit_answer: Json

    async def ping(self) -> None: ...
    async def list_all(self, kind: str) -> list[Json]: ...
    async def call(self, name: str, arguments: Json | None = None, on_progress: Any = None) -> Json: ...
    async def call_and_cancel(self, name: str, arguments: Json) -> None: ...
    async def log_call(self, name: str) -> Json: ...
    async def read(self, uri: str) -> Json: ...
    async def get_prompt(self, name: str, arguments: dict[str, str] | None = None) -> Json: ...
    async def complete(self, ref: Json, argument: str, value: str) -> Json: ...
    def watch(self, tools: bool, uris: list[str]) -> AbstractAsyncContextManager[asyncio.Queue[str]]: ...


Check = Callable[[Adapter], Awaitable[Any]]


def modern(adapter: Adapter) -> bool:
    return adapter.revision >= "2026"


def text_of(result: Json) -> str:
    return "".join(block.get("text", "") for block in result["content"])


def expect(condition: bool, detail: Any) -> None:
    if not condition:
        raise AssertionError(str(detail))


async def outcome(call: Awaitable[Json]) -> Json | None:
    """The result of a call, or nothing when it was refused with an error."""
    try:
        return await call
    except Exception:
        return None


async def ping(adapter: Adapter) -> Any:
    if modern(adapter):
        raise Unsupported("ping left the protocol with 2026-07-28")
    await adapter.ping()


async def list_tools(adapter: Adapter) -> Any:
    names = [tool["name"] for tool in await adapter.list_all("tools")]
    expect(len(names) == len(set(names)), f"twice in {names}")
    wanted = {"echo", "add", "slow", "test_simple_text", "test_tool_with_progress", "test_elicitation"}
    expect(wanted <= set(names), f"missing {sorted(wanted - set(names))}")
    return len(names)


async def echo(adapter: Adapter) -> Any:
    expect(text_of(await adapter.call("echo", {"text": ODD_TEXT})) == ODD_TEXT, "the text changed")
    simple = await adapter.call("test_simple_text")
    expect(text_of(simple) == "This is a simple text response for testing.", simple)


async def parallel(adapter: Adapter) -> Any:
    texts = [f"call {number}" for number in range(20)]
    results = await asyncio.gather(*(adapter.call("echo", {"text": text}) for text in texts))
    expect([text_of(result) for result in results] == texts, "answers were mixed up")


async def big(adapter: Adapter) -> Any:
    text = "0123456789abcde\n" * 65536
    expect(text_of(await adapter.call("echo", {"text": text})) == text, "the text changed")


async def structured(adapter: Adapter) -> Any:
    result = await adapter.call("add", {"a": 2, "b": 3})
    expect(json.loads(text_of(result)) == {"sum": 5}, result)
    if adapter.revision < "2025-06-18":
        raise Unsupported("structured output came with 2025-06-18; the text copy is right")
    expect(result.get("structuredContent") == {"sum": 5}, result)


async def content(adapter: Adapter) -> Any:
    image = (await adapter.call("test_image_content"))["content"][0]
    expect(image["mimeType"] == "image/png" and base64.b64decode(image["data"]).startswith(b"\x89PNG"), image)
    embedded = (await adapter.call("test_embedded_resource"))["content"][0]
    expect(embedded["resource"]["text"] == "This is an embedded resource content.", embedded)
    mixed = [block["type"] for block in (await adapter.call("test_multiple_content_types"))["content"]]
    expect(mixed == ["text", "image", "resource"], mixed)
    if adapter.revision < "2025-03-26":
        raise Unsupported("audio came with 2025-03-26; images and resources are right")
    audio = (await adapter.call("test_audio_content"))["content"][0]
    expect(audio["mimeType"] == "audio/wav" and base64.b64decode(audio["data"]).startswith(b"RIFF"), audio)


async def tool_error(adapter: Adapter) -> Any:
    result = await adapter.call("test_error_handling")
    expect(result.get("isError") is True and text_of(result) != "", result)


async def unknown_tool(adapter: Adapter) -> Any:
    try:
        result = await adapter.call("no_such_tool", {})
    except Exception as error:
        return f"error {getattr(error, 'code', type(error).__name__)}"
    expect(result.get("isError") is True, result)
    return "isError"


async def progress(adapter: Adapter) -> Any:
    seen: list[tuple[float, float | None]] = []

    async def on_progress(done: float, total: float | None, message: str | None) -> None:
        seen.append((done, total))

    await adapter.call("test_tool_with_progress", None, on_progress)
    expect(seen == [(0, 100), (50, 100), (100, 100)], seen)


async def cancel(adapter: Adapter) -> Any:
    before = int(text_of(await adapter.call("cancellations")))
    await adapter.call_and_cancel("slow", {"seconds": 600})
    for _ in range(1000):
        if int(text_of(await adapter.call("cancellations"))) == before + 1:
            return
        await asyncio.sleep(0.02)
    raise AssertionError("the server never saw the cancellation")


async def logging(adapter: Adapter) -> Any:
    adapter.logs.clear()
    await adapter.log_call("test_tool_with_logging")
    for _ in range(500):
        if len(adapter.logs) >= 3:
            break
        await asyncio.sleep(0.02)
    lines = [entry["data"] for entry in adapter.logs]
    expect([entry["level"] for entry in adapter.logs] == ["info"] * 3, adapter.logs)
    expect(lines == ["Tool execution started", "Tool processing data", "Tool execution completed"], lines)


async def elicit(adapter: Adapter) -> Any:
    if adapter.revision < "2025-06-18":
        raise Unsupported("elicitation came with 2025-06-18")
    adapter.elicitations.clear()
    adapter.elicit_answer = ACCEPT
    text = text_of(await adapter.call("test_elicitation", {"message": "Who are you?"}))
    expect("testuser" in text and "test@example.com" in text, text)
    asked = adapter.elicitations[0]
    expect(asked["message"] == "Who are you?", asked)
    expect(set(asked["requestedSchema"]["properties"]) == {"username", "email"}, asked)
    adapter.elicit_answer = {"action": "decline"}
    text = text_of(await adapter.call("test_elicitation", {"message": "Who are you?"}))
    expect("decline" in text and "testuser" not in text, text)


async def elicit_twice(adapter: Adapter) -> Any:
    if adapter.revision < "2025-06-18":
        raise Unsupported("elicitation came with 2025-06-18")
    adapter.elicitations.clear()
    adapter.elicit_answer = ACCEPT
    text = text_of(await adapter.call("test_elicitation_twice"))
    asked = [elicitation["message"] for elicitation in adapter.elicitations]
    expect(asked == ["First?", "Second?"], asked)
    expect(text == "testuser and testuser", text)


async def sample(adapter: Adapter) -> Any:
    text = text_of(await adapter.call("test_sampling", {"prompt": "Say something"}))
    expect(MODEL_ANSWER in text, text)


async def roots(adapter: Adapter) -> Any:
    text = text_of(await adapter.call("test_list_roots"))
    expect(ROOT in text, text)


async def resources(adapter: Adapter) -> Any:
    uris = [resource["uri"] for resource in await adapter.list_all("resources")]
    expect({"test://static-text", "test://static-binary", WATCHED} <= set(uris), uris)
    text = (await adapter.read("test://static-text"))["contents"][0]
    expect(text["text"] == "This is the content of the static text resource.", text)
    binary = (await adapter.read("test://static-binary"))["contents"][0]
    expect(base64.b64decode(binary["blob"]).startswith(b"\x89PNG"), binary)


async def unknown_resource(adapter: Adapter) -> Any:
    try:
        result = await adapter.read("test://nonexistent")
    except Exception as error:
        return f"error {getattr(error, 'code', type(error).__name__)}"
    raise AssertionError(str(result))


async def template(adapter: Adapter) -> Any:
    templates = [entry["uriTemplate"] for entry in await adapter.list_all("resourceTemplates")]
    expect("test://template/{id}/data" in templates, templates)
    contents = (await adapter.read("test://template/123/data"))["contents"][0]
    expect(json.loads(contents["text"])["id"] == "123", contents)
    expect(contents["uri"] == "test://template/123/data", contents)


async def prompt(adapter: Adapter) -> Any:
    names = [entry["name"] for entry in await adapter.list_all("prompts")]
    expect({"test_simple_prompt", "test_prompt_with_arguments"} <= set(names), names)
    simple = await adapter.get_prompt("test_simple_prompt")
    expect(simple["messages"][0]["content"]["text"] == "This is a simple prompt for testing.", simple)
    arguments = {"arg1": "one", "arg2": "two"}
    filled = await adapter.get_prompt("test_prompt_with_arguments", arguments)
    text = filled["messages"][0]["content"]["text"]
    expect(text == "Prompt with arguments: arg1='one', arg2='two'", text)


async def completion(adapter: Adapter) -> Any:
    ref = {"type": "ref/prompt", "name": "test_prompt_with_arguments"}
    values = (await adapter.complete(ref, "arg1", "test"))["completion"]["values"]
    expect("testValue1" in values and all(value.startswith("test") for value in values), values)


async def template_completion(adapter: Adapter) -> Any:
    ref = {"type": "ref/resource", "uri": "test://template/{id}/data"}
    values = (await adapter.complete(ref, "id", "12"))["completion"]["values"]
    expect("123" in values and all(value.startswith("12") for value in values), values)


async def tools_changed(adapter: Adapter) -> Any:
    before = {tool["name"] for tool in await adapter.list_all("tools")}
    async with adapter.watch(True, []) as events:
        await adapter.call("test_trigger_tool_change")
        event = await asyncio.wait_for(events.get(), CHECK_SECONDS / 2)
    expect(event == "tools", event)
    # A peer adds or removes one tool; barewire's server does both, which is worth a notice as well.
    after = {tool["name"] for tool in await adapter.list_all("tools")}
    expect(len(before ^ after) <= 1, before ^ after)


async def resource_updated(adapter: Adapter) -> Any:
    async with adapter.watch(False, [WATCHED]) as events:
        await adapter.call("test_trigger_resource_update")
        event = await asyncio.wait_for(events.get(), CHECK_SECONDS / 2)
        expect(event == f"updated {WATCHED}", event)
    await adapter.call("test_trigger_resource_update")
    await adapter.call("test_simple_text")
    expect(events.empty(), "an update came after the unsubscription")


CHECKS: dict[str, Check] = {
    "ping": ping,
    "list_tools": list_tools,
    "echo": echo,
    "parallel": parallel,
    "big": big,
    "structured": structured,
    "content": content,
    "tool_error": tool_error,
    "unknown_tool": unknown_tool,
    "progress": progress,
    "cancel": cancel,
    "logging": logging,
    "elicit": elicit,
    "elicit_twice": elicit_twice,
    "sample": sample,
    "roots": roots,
    "resources": resources,
    "unknown_resource": unknown_resource,
    "template": template,
    "prompt": prompt,
    "completion": completion,
    "template_completion": template_completion,
    "tools_changed": tools_changed,
    "resource_updated": resource_updated,
}


def reason(error: BaseException) -> str:
    """One line about an error, looking into exception groups."""
    while isinstance(getattr(error, "exceptions", None), tuple):
        error = error.exceptions[0]  # type: ignore[attr-defined]
    return f"{type(error).__name__}: {error}"[:500]


async def walk(adapter: Adapter, checks: dict[str, Check], leave_out: Json) -> AsyncIterator[Json]:
    """Runs the checks in order; each gives one outcome, whatever the others did."""
    for name, check in checks.items():
        try:
            if name in leave_out:
                raise Unsupported(leave_out[name])
            detail = await asyncio.wait_for(check(adapter), CHECK_SECONDS)
            yield {"check": name, "ok": True, "detail": detail}
        except Unsupported as error:
            yield {"check": name, "ok": "unsupported", "detail": str(error)}
        except Exception as error:
            yield {"check": name, "ok": False, "detail": reason(error)}


@dataclass(frozen=True)
class Target:
    """Where the server is: a command that speaks over stdio, or else a URL."""

    command: list[str]
    # The endpoint of Streamable HTTP.
    url: str | None
    # The stream of the HTTP+SSE transport of the first revision.
    sse: str | None


def main(
    connect: Callable[[Target, str], AbstractAsyncContextManager[Adapter]],
    leave_out: Json | None = None,
) -> None:
    """The command line of a client: `client [--revision REVISION] [--server NAME] TARGET`.

    TARGET is `--url URL`, `--sse URL` or `-- COMMAND...`. `leave_out` holds what the client itself cannot do.
    """
    parser = argparse.ArgumentParser()
    parser.add_argument("--revision", default="auto")
    parser.add_argument("--server", help="one of the published servers, which have their own checks")
    parser.add_argument("--url")
    parser.add_argument("--sse")
    parser.add_argument("command", nargs="*")
    options = parser.parse_args()
    target = Target(options.command, options.url, options.sse)
    checks = importlib.import_module("published").CHECKS[options.server] if options.server else CHECKS

    def report(outcome: Json) -> bool:
        print(json.dumps(outcome), flush=True)
        return outcome["ok"] is not False

    async def run() -> bool:
        good = True
        try:
            async with connect(target, options.revision) as adapter:
                met = options.revision in ("auto", adapter.revision)
                good &= report({"check": "connect", "ok": met, "detail": adapter.revision})
                async for outcome in walk(adapter, checks, leave_out or {}):
                    good &= report(outcome)
            return good & report({"check": "close", "ok": True, "detail": None})
        except Exception as error:
            return report({"check": "connection", "ok": False, "detail": reason(error)})

    sys.exit(0 if asyncio.run(run()) else 1)
