"""The interop peer server on PyPI `mcp` 2.x, both eras; the command line is that of `listening.py`."""

from __future__ import annotations

import base64
import json
import warnings
from typing import Annotated, Any

import anyio
import listening
import mcp_types as types
from mcp.server.lowlevel import NotificationOptions
from mcp.server.mcpserver import (
    AcceptedElicitation,
    Context,
    Elicit,
    ElicitationResult,
    ListRoots,
    MCPServer,
    Resolve,
    Sample,
)
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.stdio import stdio_server
from pydantic import BaseModel

warnings.simplefilter("ignore")

PAGE = 6
WATCHED = "test://watched-resource"
PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489"
    "0000000d4944415478da63fccfc05000000481018097a7a8500000000049454e44ae426082"
)
# A wave file without samples.
SOUND = b"RIFF\x24\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0\x40\x1f\0\0\x40\x1f\0\0\1\0\x08\0data\0\0\0\0"

server = MCPServer("interop-mcp2", version="1.0.0", log_level="ERROR", warn_on_duplicate_tools=False)
cancelled_calls = 0


class Sum(BaseModel):
    sum: int


class User(BaseModel):
    username: str
    email: str


def ask_user(message: str) -> Elicit[User]:
    return Elicit(message, User)


def ask_first() -> Elicit[User]:
    return Elicit("First?", User)


def ask_second(first: Annotated[User, Resolve(ask_first)]) -> Elicit[User]:
    return Elicit("Second?", User)


def ask_model(prompt: str) -> Sample:
    content = types.TextContent(type="text", text=prompt)
    return Sample([types.SamplingMessage(role="user", content=content)], max_tokens=100)


def ask_roots() -> ListRoots:
    return ListRoots()


@server.tool(structured_output=False)
async def test_simple_text() -> str:
    """Return a fixed text."""
    return "This is a simple text response for testing."


@server.tool(structured_output=False)
async def echo(text: str) -> str:
    """Return the text."""
    return text


@server.tool()
async def add(a: int, b: int) -> Sum:
    """Add two integers."""
    return Sum(sum=a + b)


def image() -> types.ImageContent:
    return types.ImageContent(type="image", data=base64.b64encode(PIXEL).decode(), mime_type="image/png")


def embedded(uri: str, kind: str, text: str) -> types.EmbeddedResource:
    contents = types.TextResourceContents(uri=uri, mime_type=kind, text=text)
    return types.EmbeddedResource(type="resource", resource=contents)


@server.tool(structured_output=False)
async def test_image_content() -> types.ImageContent:
    """Return an image."""
    return image()


@server.tool(structured_output=False)
async def test_audio_content() -> types.AudioContent:
    """Return a sound."""
    return types.AudioContent(type="audio", data=base64.b64encode(SOUND).decode(), mime_type="audio/wav")


@server.tool(structured_output=False)
async def test_embedded_resource() -> types.EmbeddedResource:
    """Return a resource."""
    return embedded("test://embedded-resource", "text/plain", "This is an embedded resource content.")


@server.tool(structured_output=False)
async def test_multiple_content_types() -> list[Any]:
    """Return a text, an image and a resource."""
    text = types.TextContent(type="text", text="Multiple content types test:")
    resource = embedded("test://mixed-content-resource", "application/json", '{"test":"data","value":123}')
    return [text, image(), resource]


@server.tool(structured_output=False)
async def test_error_handling() -> str:
    """Fail."""
    raise ToolError("This tool intentionally returns an error for testing")


@server.tool(structured_output=False)
async def test_tool_with_progress(ctx: Context) -> str:
    """Report progress 0, 50 and 100 of 100."""
    for done in (0, 50, 100):
        await ctx.report_progress(done, 100)
        await anyio.sleep(0.01)
    return "done"


@server.tool(structured_output=False)
async def slow(seconds: float, ctx: Context) -> str:
    """Report progress once and then wait; a cancellation is counted."""
    global cancelled_calls
    try:
        await ctx.report_progress(0, seconds)
        await anyio.sleep(seconds)
    except anyio.get_cancelled_exc_class():
        cancelled_calls += 1
        raise
    return "slept"


@server.tool(structured_output=False)
async def cancellations() -> str:
    """Return how many calls of `slow` were cancelled."""
    return str(cancelled_calls)


@server.tool(structured_output=False)
async def test_tool_with_logging(ctx: Context) -> str:
    """Log three lines at level info."""
    for line in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        await ctx.info(line)
    return "logged"


@server.tool(structured_output=False)
async def test_elicitation(
    message: str, answer: Annotated[ElicitationResult[User], Resolve(ask_user)]
) -> str:
    """Ask the user."""
    if isinstance(answer, AcceptedElicitation):
        return f"User response: accept {answer.data.model_dump_json()}"
    return f"User response: {answer.action}"


@server.tool(structured_output=False)
async def test_elicitation_twice(
    first: Annotated[User, Resolve(ask_first)], second: Annotated[User, Resolve(ask_second)]
) -> str:
    """Ask the user two questions, one after the other."""
    return f"{first.username} and {second.username}"


@server.tool(structured_output=False)
async def test_sampling(prompt: str, answer: Annotated[types.CreateMessageResult, Resolve(ask_model)]) -> str:
    """Ask the model of the client."""
    content: Any = answer.content
    return f"LLM response: {content.text}"


@server.tool(structured_output=False)
async def test_list_roots(roots: Annotated[types.ListRootsResult, Resolve(ask_roots)]) -> str:
    """Ask for the roots of the client."""
    return " ".join(str(root.uri) for root in roots.roots)


@server.tool(structured_output=False)
async def test_trigger_tool_change(ctx: Context) -> str:
    """Add or remove one tool and tell the client."""
    if any(tool.name == "extra" for tool in await server.list_tools()):
        server.remove_tool("extra")
    else:
        server.add_tool(echo, name="extra", description="Comes and goes.", structured_output=False)
    if (ctx.protocol_version or "") < "2026":
        await ctx.session.send_tool_list_changed()
    await ctx.notify_tools_changed()
    return "changed"


@server.tool(structured_output=False)
async def test_trigger_resource_update(ctx: Context) -> str:
    """Tell the subscribers that the watched resource changed."""
    if (ctx.protocol_version or "") < "2026" and WATCHED in subscribed:
        await ctx.session.send_resource_updated(WATCHED)
    await ctx.notify_resource_updated(WATCHED)
    return "updated"


@server.resource("test://static-text", name="static-text", mime_type="text/plain")
def static_text() -> str:
    return "This is the content of the static text resource."


@server.resource("test://static-binary", name="static-binary", mime_type="image/png")
def static_binary() -> bytes:
    return PIXEL


@server.resource(WATCHED, name="watched", mime_type="text/plain")
def watched() -> str:
    return "watched"


@server.resource("test://template/{id}/data", name="template", mime_type="application/json")
def template(id: str) -> str:
    return json.dumps({"id": id, "templateTest": True, "data": f"Data for ID: {id}"})


@server.prompt(description="A prompt without arguments.")
def test_simple_prompt() -> str:
    return "This is a simple prompt for testing."


@server.prompt(description="A prompt with two arguments.")
def test_prompt_with_arguments(arg1: str, arg2: str) -> str:
    return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"


@server.completion()
async def complete(ref: Any, argument: Any, context: Any) -> types.Completion:
    words = [word for word in ("testValue1", "testValue2", "123", "other") if word.startswith(argument.value)]
    return types.Completion(values=words, total=len(words), has_more=False)


subscribed: set[str] = set()


async def subscribe(ctx: Any, params: types.SubscribeRequestParams) -> types.EmptyResult:
    subscribed.add(str(params.uri))
    return types.EmptyResult()


async def unsubscribe(ctx: Any, params: types.UnsubscribeRequestParams) -> types.EmptyResult:
    subscribed.discard(str(params.uri))
    return types.EmptyResult()


async def set_level(ctx: Any, params: types.SetLevelRequestParams) -> types.EmptyResult:
    return types.EmptyResult()


async def list_tools(ctx: Any, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
    """A page of the tools; `MCPServer` itself never pages."""
    start = int((params and params.cursor) or 0)
    tools = await server.list_tools()
    end = start + PAGE
    return types.ListToolsResult(tools=tools[start:end], next_cursor=str(end) if end < len(tools) else None)


async def speak_stdio() -> None:
    async with stdio_server() as (read, write):
        await low.run(read, write, low.create_initialization_options())


if __name__ == "__main__":
    low = server._lowlevel_server
    low.add_request_handler("tools/list", types.PaginatedRequestParams, list_tools)
    low.add_request_handler("resources/subscribe", types.SubscribeRequestParams, subscribe)
    low.add_request_handler("resources/unsubscribe", types.UnsubscribeRequestParams, unsubscribe)
    low.add_request_handler("logging/setLevel", types.SetLevelRequestParams, set_level)
    options = low.create_initialization_options(NotificationOptions(tools_changed=True))
    low.create_initialization_options = lambda *_: options  # type: ignore[method-assign]
    listening.serve(lambda: anyio.run(speak_stdio), server.streamable_http_app, server.sse_app)
