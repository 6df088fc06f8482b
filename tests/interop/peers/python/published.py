"""The walks through the three published reference servers, each check as in `walk.py`."""

from __future__ import annotations

import asyncio
import base64
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import walk
from walk import Adapter, Check, Json, Unsupported, expect, text_of

GRAPH = "memory://knowledge-graph"
PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEgAF/qMh9kgAAAABJRU5ErkJggg=="
)


def needs(adapter: Adapter, revision: str, what: str) -> None:
    if adapter.revision < revision:
        raise Unsupported(f"{what} came with {revision}")


async def until(condition: Any, what: str) -> None:
    for _ in range(2500):
        if await condition():
            return
        await asyncio.sleep(0.02)
    raise AssertionError(f"never: {what}")


async def names(adapter: Adapter) -> set[str]:
    return {tool["name"] for tool in await adapter.list_all("tools")}


# server-everything


async def everything_tools(adapter: Adapter) -> Any:
    # The tools that need a capability of the client are added only after the handshake.
    wanted = {"echo", "get-sum", "get-roots-list", "trigger-sampling-request"}
    if adapter.revision >= "2025-06-18":
        wanted.add("trigger-elicitation-request")

    async def there() -> bool:
        return wanted <= await names(adapter)

    await until(there, f"tools {sorted(wanted)}")


async def everything_echo(adapter: Adapter) -> Any:
    for text in (walk.ODD_TEXT, "0123456789abcde\n" * 65536):
        result = await adapter.call("echo", {"message": text})
        expect(text_of(result) == f"Echo: {text}", "the text changed")
    refused = await walk.outcome(adapter.call("echo", {}))
    expect(refused is None or refused.get("isError") is True, refused)


async def everything_structured(adapter: Adapter) -> Any:
    result = await adapter.call("get-structured-content", {"location": "New York"})
    needs(adapter, "2025-06-18", "structured output")
    expect(result["structuredContent"] == {"temperature": 33, "conditions": "Cloudy", "humidity": 82}, result)


async def everything_content(adapter: Adapter) -> Any:
    image = next(
        block for block in (await adapter.call("get-tiny-image"))["content"] if block["type"] == "image"
    )
    expect(image["mimeType"] == "image/png" and base64.b64decode(image["data"]).startswith(b"\x89PNG"), image)
    noted = await adapter.call("get-annotated-message", {"messageType": "error", "includeImage": False})
    expect(noted["content"][0]["annotations"]["priority"] == 1, noted)
    links = (await adapter.call("get-resource-links", {"count": 3}))["content"]
    expect([block["type"] for block in links].count("resource_link") == 3, links)
    embedded = (await adapter.call("get-resource-reference", {"resourceType": "Blob", "resourceId": 2}))[
        "content"
    ]
    found = [block["resource"] for block in embedded if block["type"] == "resource"]
    expect(len(found) == 1 and "blob" in found[0], embedded)


async def everything_progress(adapter: Adapter) -> Any:
    seen: list[tuple[float, float | None]] = []

    async def on_progress(done: float, total: float | None, message: str | None) -> None:
        seen.append((done, total))

    arguments = {"duration": 0.1, "steps": 4}
    await adapter.call("trigger-long-running-operation", arguments, on_progress)
    expect(seen[:3] == [(1, 4), (2, 4), (3, 4)], seen)


async def everything_cancel(adapter: Adapter) -> Any:
    # The tool never looks at the signal, so the server still sends progress: it must do no harm.
    await adapter.call_and_cancel("trigger-long-running-operation", {"duration": 0.2, "steps": 4})
    await asyncio.sleep(0.3)
    expect(text_of(await adapter.call("echo", {"message": "still here"})) == "Echo: still here", "lost")


async def everything_logging(adapter: Adapter) -> Any:
    adapter.logs.clear()
    await adapter.log_call("toggle-simulated-logging")

    # One message comes at once, of a level drawn by lot: it may be one that the client did not ask for.
    async def logged() -> bool:
        if any("message" in str(entry["data"]) for entry in adapter.logs):
            return True
        await asyncio.sleep(0.2)
        for _ in ("off", "on"):
            await adapter.call("toggle-simulated-logging")
        return False

    await until(logged, "a log message")
    await adapter.call("toggle-simulated-logging")


async def everything_elicit(adapter: Adapter) -> Any:
    needs(adapter, "2025-06-18", "elicitation")
    adapter.elicitations.clear()
    adapter.elicit_answer = {"action": "accept", "content": {"name": "Ada", "integer": 7, "check": True}}
    text = text_of(await adapter.call("trigger-elicitation-request"))
    expect("- Name: Ada" in text and "- Favorite Integer: 7" in text, text)
    expect(len(adapter.elicitations[0]["requestedSchema"]["properties"]) == 13, adapter.elicitations)
    adapter.elicit_answer = {"action": "cancel"}
    text = text_of(await adapter.call("trigger-elicitation-request"))
    expect("cancelled" in text, text)


async def everything_sample(adapter: Adapter) -> Any:
    text = text_of(await adapter.call("trigger-sampling-request", {"prompt": "Say something"}))
    expect(walk.MODEL_ANSWER in text, text)


async def everything_roots(adapter: Adapter) -> Any:
    text = text_of(await adapter.call("get-roots-list"))
    expect(walk.ROOT in text, text)


async def everything_resources(adapter: Adapter) -> Any:
    resources = await adapter.list_all("resources")
    uri = "demo://resource/static/document/architecture.md"
    expect(uri in [resource["uri"] for resource in resources], resources)
    expect((await adapter.read(uri))["contents"][0]["text"] != "", "empty")
    templates = [entry["uriTemplate"] for entry in await adapter.list_all("resourceTemplates")]
    expect("demo://resource/dynamic/text/{resourceId}" in templates, templates)
    dynamic = (await adapter.read("demo://resource/dynamic/blob/3"))["contents"][0]
    expect(base64.b64decode(dynamic["blob"]) != b"", dynamic)


async def everything_prompts(adapter: Adapter) -> Any:
    listed = {entry["name"] for entry in await adapter.list_all("prompts")}
    expect({"simple-prompt", "args-prompt", "completable-prompt", "resource-prompt"} <= listed, listed)
    filled = await adapter.get_prompt("args-prompt", {"city": "Riga"})
    expect("Riga" in filled["messages"][0]["content"]["text"], filled)
    arguments = {"resourceType": "Text", "resourceId": "1"}
    blocks = [
        message["content"] for message in (await adapter.get_prompt("resource-prompt", arguments))["messages"]
    ]
    expect("resource" in [block["type"] for block in blocks], blocks)


async def everything_completion(adapter: Adapter) -> Any:
    ref = {"type": "ref/prompt", "name": "completable-prompt"}
    values = (await adapter.complete(ref, "department", "E"))["completion"]["values"]
    expect(values == ["Engineering"], values)


async def everything_updated(adapter: Adapter) -> Any:
    uri = "demo://resource/dynamic/text/1"
    async with adapter.watch(False, [uri]) as events:
        await adapter.call("toggle-subscriber-updates")
        event = await asyncio.wait_for(events.get(), 30)
        expect(event == f"updated {uri}", event)
        await adapter.call("toggle-subscriber-updates")


# server-filesystem


def root_folder() -> Path:
    return Path(unquote(urlsplit(walk.ROOT).path))


async def filesystem_tools(adapter: Adapter) -> Any:
    listed = await names(adapter)
    expect({"read_text_file", "write_file", "edit_file", "list_directory"} <= listed, listed)


async def filesystem_roots(adapter: Adapter) -> Any:
    # Started without a folder, the server takes the roots of the client.
    async def allowed() -> bool:
        return str(root_folder()) in text_of(await adapter.call("list_allowed_directories"))

    await until(allowed, f"{root_folder()} is allowed")


async def filesystem_write(adapter: Adapter) -> Any:
    for name, text in (("odd.txt", walk.ODD_TEXT), ("big.txt", "0123456789abcde\n" * 65536)):
        path = root_folder() / name
        await adapter.call("write_file", {"path": str(path), "content": text})
        expect(path.read_bytes() == text.encode(), f"{name} differs on disk")
        expect(text_of(await adapter.call("read_text_file", {"path": str(path)})) == text, f"{name} differs")


async def filesystem_edit(adapter: Adapter) -> Any:
    path = root_folder() / "edit.txt"
    path.write_text("one\ntwo\n")
    edits = [{"oldText": "two", "newText": "three"}]
    difference = text_of(await adapter.call("edit_file", {"path": str(path), "edits": edits}))
    expect("+three" in difference and path.read_text() == "one\nthree\n", difference)


async def filesystem_list(adapter: Adapter) -> Any:
    folder = root_folder() / "folder"
    await adapter.call("create_directory", {"path": str(folder)})
    result = await adapter.call("list_directory", {"path": str(root_folder())})
    expect("[DIR] folder" in text_of(result), result)
    needs(adapter, "2025-06-18", "structured output")
    expect("[DIR] folder" in result["structuredContent"]["content"], result)


async def filesystem_media(adapter: Adapter) -> Any:
    path = root_folder() / "pixel.png"
    path.write_bytes(PIXEL)
    block = (await adapter.call("read_media_file", {"path": str(path)}))["content"][0]
    expect(block["type"] == "image" and base64.b64decode(block["data"]) == PIXEL, block)


async def filesystem_outside(adapter: Adapter) -> Any:
    result = await adapter.call("read_text_file", {"path": "/etc/hostname"})
    expect(result.get("isError") is True, result)


# server-memory


async def memory_tools(adapter: Adapter) -> Any:
    expect({"create_entities", "create_relations", "read_graph"} <= await names(adapter), "missing")


async def memory_graph(adapter: Adapter) -> Any:
    entities = [
        {"name": "wire", "entityType": "thing", "observations": [walk.ODD_TEXT]},
        {"name": "pliers", "entityType": "tool", "observations": []},
    ]
    await adapter.call("create_entities", {"entities": entities})
    relations = [{"from": "pliers", "to": "wire", "relationType": "cuts"}]
    await adapter.call("create_relations", {"relations": relations})
    found = await adapter.call("search_nodes", {"query": "pliers"})
    expect("pliers" in text_of(found), found)
    graph = await adapter.call("read_graph")
    expect("cuts" in text_of(graph), graph)
    needs(adapter, "2025-06-18", "structured output")
    expect(graph["structuredContent"] == {"entities": entities, "relations": relations}, graph)


async def memory_resource(adapter: Adapter) -> Any:
    contents: Json = (await adapter.read(GRAPH))["contents"][0]
    expect(contents["mimeType"] == "application/json" and "pliers" in contents["text"], contents)


async def memory_updated(adapter: Adapter) -> Any:
    async with adapter.watch(False, [GRAPH]) as events:
        await adapter.call("delete_entities", {"entityNames": ["wire", "pliers"]})
        event = await asyncio.wait_for(events.get(), 30)
        expect(event == f"updated {GRAPH}", event)


CHECKS: dict[str, dict[str, Check]] = {
    "server-everything": {
        "list_tools": everything_tools,
        "ping": walk.ping,
        "echo": everything_echo,
        "structured": everything_structured,
        "content": everything_content,
        "progress": everything_progress,
        "cancel": everything_cancel,
        "logging": everything_logging,
        "elicit": everything_elicit,
        "sample": everything_sample,
        "roots": everything_roots,
        "resources": everything_resources,
        "prompt": everything_prompts,
        "completion": everything_completion,
        "resource_updated": everything_updated,
    },
    "server-filesystem": {
        "list_tools": filesystem_tools,
        "roots": filesystem_roots,
        "write": filesystem_write,
        "edit": filesystem_edit,
        "list": filesystem_list,
        "media": filesystem_media,
        "outside": filesystem_outside,
    },
    "server-memory": {
        "list_tools": memory_tools,
        "graph": memory_graph,
        "resources": memory_resource,
        "resource_updated": memory_updated,
    },
}
