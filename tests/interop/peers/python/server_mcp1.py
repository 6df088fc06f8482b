"""The interop peer server on PyPI `mcp` 1.x, legacy revisions; the command line is that of `listening.py`."""

from __future__ import annotations

import base64
import json
from typing import Any

import anyio
import listening
import mcp.types as types
from mcp.server.fastmcp import Context, FastMCP
from mcp.server.fastmcp.exceptions import ToolError
from mcp.server.lowlevel import NotificationOptions
from mcp.server.models import InitializationOptions
from mcp.server.stdio import stdio_server
from pydantic import AnyUrl, BaseModel

PAGE = 6
WATCHED = "test://watched-resource"
PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489"
    "0000000d4944415478da63fccfc05000000481018097a7a8500000000049454e44ae426082"
)
# A wave file without samples.
SOUND = b"RIFF\x24\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0\x40\x1f\0\0\x40\x1f\0\0\1\0\x08\0data\0\0\0\0"

server = FastMCP("interop-mcp1", log_level="ERROR", warn_on_duplicate_tools=False)
low = server._mcp_server
low.version = "1.0.0"
subscribed: set[str] = set()
cancelled_calls = 0


class Sum(BaseModel):
    sum: int


class User(BaseModel):
    username: str
    email: str


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
    return types.ImageContent(type="image", data=base64.b64encode(PIXEL).decode(), mimeType="image/png")


def embedded(uri: str, kind: str, text: str) -> types.EmbeddedResource:
    contents = types.TextResourceContents(uri=AnyUrl(uri), mimeType=kind, text=text)
    return types.EmbeddedResource(type="resource", resource=contents)


@server.tool(structured_output=False)
async def test_image_content() -> types.ImageContent:
    """Return an image."""
    return image()


@server.tool(structured_output=False)
async def test_audio_content() -> types.AudioContent:
    """Return a sound."""
    return types.AudioContent(type="audio", data=base64.b64encode(SOUND).decode(), mimeType="audio/wav")


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
async def test_elicitation(message: str, ctx: Context) -> str:
    """Ask the user."""
    answer = await ctx.elicit(message, User)
    if answer.action == "accept":
        return f"User response: accept {answer.data.model_dump_json()}"
    return f"User response: {answer.action}"


@server.tool(structured_output=False)
async def test_elicitation_twice(ctx: Context) -> str:
    """Ask the user two questions, one after the other."""
    first: Any = await ctx.elicit("First?", User)
    second: Any = await ctx.elicit("Second?", User)
    return f"{first.data.username} and {second.data.username}"


@server.tool(structured_output=False)
async def test_sampling(prompt: str, ctx: Context) -> str:
    """Ask the model of the client."""
    content = types.TextContent(type="text", text=prompt)
    messages = [types.SamplingMessage(role="user", content=content)]
    answer: Any = await ctx.session.create_message(
        messages, max_tokens=100, related_request_id=ctx.request_id
    )
    return f"LLM response: {answer.content.text}"


@server.tool(structured_output=False)
async def test_list_roots(ctx: Context) -> str:
    """Ask for the roots of the client."""
    roots = await ctx.session.list_roots()
    return " ".join(str(root.uri) for root in roots.roots)


@server.tool(structured_output=False)
async def test_trigger_tool_change(ctx: Context) -> str:
    """Add or remove one tool and tell the client."""
    if any(tool.name == "extra" for tool in await server.list_tools()):
        server.remove_tool("extra")
    else:
        server.add_tool(echo, name="extra", description="Comes and goes.", structured_output=False)
    await ctx.session.send_tool_list_changed()
    return "changed"


@server.tool(structured_output=False)
async def test_trigger_resource_update(ctx: Context) -> str:
    """Tell the subscriber that the watched resource changed."""
    if WATCHED in subscribed:
        await ctx.session.send_resource_updated(AnyUrl(WATCHED))
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
    return types.Completion(values=words, total=len(words), hasMore=False)


@low.subscribe_resource()
async def subscribe(uri: AnyUrl) -> None:
    subscribed.add(str(uri))


@low.unsubscribe_resource()
async def unsubscribe(uri: AnyUrl) -> None:
    subscribed.discard(str(uri))


@low.set_logging_level()
async def set_level(level: types.LoggingLevel) -> None:
    pass


@low.list_tools()
async def list_tools(request: types.ListToolsRequest) -> types.ListToolsResult:
    """A page of the tools; `FastMCP` itself never pages. The SDK also calls with None, and wants them all."""
    tools = await server.list_tools()
    start = int((request and request.params and request.params.cursor) or 0)
    end = start + PAGE if request else len(tools)
    return types.ListToolsResult(tools=tools[start:end], nextCursor=str(end) if end < len(tools) else None)


def initialization_options() -> InitializationOptions:
    options = low.create_initialization_options(NotificationOptions(tools_changed=True))
    # The SDK says false whatever handlers there are.
    options.capabilities.resources.subscribe = True
    return options


async def speak_stdio() -> None:
    async with stdio_server() as (read, write):
        await low.run(read, write, low.create_initialization_options())


if __name__ == "__main__":
    options = initialization_options()
    low.create_initialization_options = lambda *_: options  # type: ignore[method-assign]
    listening.serve(lambda: anyio.run(speak_stdio), server.streamable_http_app, server.sse_app)
