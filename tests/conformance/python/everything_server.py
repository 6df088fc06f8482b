"""A server that uses every feature, `everything_server.py [--http PORT]`; the conformance suite calls it.

It serves on standard input and output, or over HTTP. The first half works in every revision; the tools named
`input_required` show questions to the client, which legacy clients get as requests and newer ones as rounds
of the same call.
"""

from __future__ import annotations

import argparse
import asyncio
import struct
import zlib
from dataclasses import dataclass, field
from enum import Enum
from typing import Annotated, Any, Literal

import barewire
import msgspec
from barewire import (
    Audio,
    Block,
    Context,
    Doc,
    EmbeddedResource,
    Image,
    Message,
    ResourceContents,
    ResourceLink,
    ToolError,
)

server = barewire.Server(
    "everything",
    version="1.0.0",
    title="Everything",
    instructions="A server that offers one of everything, for trying out clients.",
)


def tiny_png() -> bytes:
    """One red pixel."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    header = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    pixels = zlib.compress(b"\x00\xff\x00\x00")
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")


def tiny_wav() -> bytes:
    """A hundredth of a second of silence."""
    samples = b"\x80" * 80
    form = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, 1, 8000, 8000, 1, 8)
    data = struct.pack("<4sI", b"data", len(samples)) + samples
    return struct.pack("<4sI4s", b"RIFF", 4 + len(form) + len(data), b"WAVE") + form + data


PNG, WAV = tiny_png(), tiny_wav()

# ---------------------------------------------------------------- tools: content


@server.tool(read_only=True)
async def test_simple_text() -> str:
    """Answers with text."""
    return "This is a simple text response for testing."


@server.tool(read_only=True)
async def test_image_content() -> Image:
    """Answers with an image."""
    return Image(PNG, "image/png")


@server.tool(read_only=True)
async def test_audio_content() -> Audio:
    """Answers with a sound."""
    return Audio(WAV, "audio/wav")


@server.tool(read_only=True)
async def test_embedded_resource() -> EmbeddedResource:
    """Answers with a resource inside the result."""
    return EmbeddedResource(
        ResourceContents(
            "test://embedded-resource", "text/plain", text="This is an embedded resource content."
        )
    )


@server.tool(read_only=True)
async def test_resource_link() -> ResourceLink:
    """Answers with a link to a resource."""
    return ResourceLink("test://static-text", "static-text", mime_type="text/plain")


@server.tool(read_only=True)
async def test_multiple_content_types() -> list[str | Block]:
    """Answers with text, an image and a resource."""
    mixed = ResourceContents(
        "test://mixed-content-resource", "application/json", text='{"test":"data","value":123}'
    )
    return ["Multiple content types test:", Image(PNG, "image/png"), EmbeddedResource(mixed)]


@dataclass
class Weather:
    """The weather at a place."""

    place: str
    temperature: Annotated[float, Doc("Degrees Celsius.")]
    conditions: Literal["sunny", "cloudy", "rainy"] = "sunny"


@server.tool(read_only=True)
def test_structured_content(place: Annotated[str, Doc("Any place will do.")] = "here") -> Weather:
    """Answers with structured content. A sync handler: it runs in a worker thread."""
    return Weather(place, 21.5)


@server.tool
async def test_error_handling() -> str:
    """Fails on purpose."""
    raise ToolError("This tool intentionally returns an error for testing")


# ---------------------------------------------------------------- tools: while they run


@server.tool
async def test_tool_with_logging(ctx: Context) -> str:
    """Logs while it works."""
    await ctx.log("info", "Tool execution started")
    await asyncio.sleep(0.05)
    await ctx.log("info", "Tool processing data")
    await asyncio.sleep(0.05)
    await ctx.log("info", "Tool execution completed")
    return "Logged three messages."


@server.tool
async def test_logging_tool(ctx: Context) -> str:
    """Logs once, if the client wants to hear it."""
    await ctx.log("info", "A log message that was asked for")
    return "Logged one message."


@server.tool
async def test_tool_with_progress(ctx: Context) -> str:
    """Reports progress while it works."""
    for done in (0, 50, 100):
        await ctx.progress(done, 100, f"Completed step {done} of 100")
        await asyncio.sleep(0.05)
    return "Progress was reported."


@server.tool
async def test_reconnection(ctx: Context) -> str:
    """Hangs up while it works: the client comes back for the answer, which waits for it."""
    ctx.close_stream(retry_ms=500)
    await asyncio.sleep(0.1)
    return "Reconnection test completed."


@server.tool
async def test_slow(seconds: float = 60.0) -> str:
    """Takes its time, so that it can be cancelled."""
    await asyncio.sleep(seconds)
    return f"Slept {seconds} s."


# ---------------------------------------------------------------- tools: questions


@dataclass
class User:
    username: Annotated[str, Doc("User's response")]
    email: Annotated[str, Doc("User's email address")]


@server.tool
async def test_elicitation(message: str, ctx: Context) -> str:
    """Asks the user for name and address."""
    answer = await ctx.elicit(message, User)
    return f"User response: action={answer.action}, content={answer.content}"


@dataclass
class Defaults:
    name: str = "John Doe"
    age: int = 30
    score: float = 95.5
    status: Literal["active", "inactive", "pending"] = "active"
    verified: bool = True


@server.tool
async def test_elicitation_sep1034_defaults(ctx: Context) -> str:
    """Asks with a default for every kind of field."""
    answer = await ctx.elicit("Please review and update the form fields with defaults", Defaults)
    return f"Elicitation completed: action={answer.action}, content={answer.content}"


def _titled(*names: str) -> list[dict[str, str]]:
    return [{"const": f"value{n}", "title": name} for n, name in enumerate(names, 1)]


_OPTIONS = ["option1", "option2", "option3"]
_ENUMS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "untitledSingle": {"type": "string", "enum": _OPTIONS},
        "titledSingle": {"type": "string", "oneOf": _titled("First", "Second", "Third")},
        "legacyEnum": {
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"],
        },
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": _OPTIONS}},
        "titledMulti": {"type": "array", "items": {"anyOf": _titled("First", "Second", "Third")}},
    },
    "required": [],
}


@server.tool
async def test_elicitation_sep1330_enums(ctx: Context) -> str:
    """Asks with every kind of choice; here the form is a JSON Schema."""
    answer = await ctx.elicit("Please select options from the enum fields", _ENUMS)
    return f"Elicitation completed: action={answer.action}, content={answer.content}"


@server.tool
async def test_streaming_elicitation(ctx: Context) -> str:
    """Asks for a confirmation."""
    answer = await ctx.elicit("Go on?", bool, key="confirm")
    return "Going on." if answer.content else "Stopped."


@server.tool
async def test_sampling(prompt: str, ctx: Context) -> str:
    """Asks the client's model."""
    answer = await ctx.sample(prompt, max_tokens=100)
    return f"LLM response: {answer.text}"


@server.tool
def test_roots(ctx: Context) -> list[str]:
    """Asks for the client's roots, from a worker thread."""
    sync: Any = ctx
    return [root.uri for root in sync.roots()]


@server.tool
async def test_missing_capability(ctx: Context) -> str:
    """Needs a client with a model."""
    return (await ctx.sample("Are you there?", max_tokens=10)).text


# ---------------------------------------------------------------- tools: several rounds


@dataclass
class Name:
    name: str


@server.tool
async def test_input_required_result_elicitation(ctx: Context) -> str:
    """Asks for a name."""
    answer = await ctx.elicit("What is your name?", Name, key="user_name")
    return f"Hello, {answer.content.name}!" if answer.content else "Hello, stranger!"


@server.tool
async def test_input_required_result_sampling(ctx: Context) -> str:
    """Asks the client's model for a capital."""
    question = "What is the capital of France?"
    answer = await ctx.sample(question, max_tokens=100, key="capital_question")
    return f"The model says: {answer.text}"


@server.tool
async def test_input_required_result_list_roots(ctx: Context) -> str:
    """Asks for roots."""
    found = await ctx.roots(key="client_roots")
    return "Roots: " + ", ".join(root.uri for root in found)


@dataclass
class Confirmation:
    ok: bool


@server.tool
async def test_input_required_result_request_state(ctx: Context) -> str:
    """Keeps state with the client while it asks."""
    kept = await ctx.once("kept", lambda: "state-ok")
    await ctx.elicit("Please confirm", Confirmation, key="confirm")
    return f"Confirmed: {kept}"


@server.tool
async def test_input_required_result_tampered_state(ctx: Context) -> str:
    """Its state is sealed: the core refuses what was tampered with."""
    await ctx.once("secret", lambda: "do not touch")
    await ctx.elicit("Please confirm", Confirmation, key="confirm")
    return "The state came back as it was."


@server.tool
async def test_input_required_result_multiple_inputs(ctx: Context) -> str:
    """Asks three questions at once."""
    await ctx.once("asked", lambda: True)
    user, greeting, roots = await asyncio.gather(
        ctx.elicit("What is your name?", Name, key="user_name"),
        ctx.sample("Write a greeting", max_tokens=100, key="greeting"),
        ctx.roots(key="client_roots"),
    )
    name = user.content.name if user.content else "nobody"
    return f"{name}: {greeting.text} ({len(roots)} roots)"


@dataclass
class Color:
    color: str


@server.tool
async def test_input_required_result_multi_round(ctx: Context) -> str:
    """Asks twice, the second question after the first answer."""
    await ctx.once("started", lambda: True)
    first = await ctx.elicit("Step 1: What is your name?", Name, key="step1")
    name = first.content.name if first.content else "nobody"
    second = await ctx.elicit(f"Step 2: {name}, what is your favourite colour?", Color, key="step2")
    return f"{name} likes {second.content.color if second.content else 'nothing'}."


@server.tool
async def test_input_required_result_capabilities(ctx: Context) -> str:
    """Asks only what the client can answer."""
    declared = ctx.client.capabilities
    if "elicitation" in declared:
        await ctx.elicit("Who are you?", Name, key="who")
    if "sampling" in declared:
        await ctx.sample("Who are you?", max_tokens=50, key="model")
    return "Asked what could be asked."


@server.tool(resume="memory")
async def test_resume_in_memory(ctx: Context) -> str:
    """Waits in this process for the answer, with all that it has computed."""
    steps = ["before"]
    await ctx.elicit("Go on?", bool, key="go")
    steps.append("after")
    return " and ".join(steps)


# ---------------------------------------------------------------- tools: schemas and changes


@server.tool(
    input_schema={
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
            }
        },
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"},
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": False,
    }
)
async def json_schema_2020_12_tool(
    name: str = "",
    address: dict[str, str] | None = None,
    contactMethod: str = "",
    phone: str = "",
    email: str = "",
) -> str:
    """Announces a schema of its own."""
    return f"{name} {address} {contactMethod} {phone} {email}"


Region = Annotated[str, msgspec.Meta(extra_json_schema={"x-mcp-header": "Region"})]


@server.tool(read_only=True)
async def test_x_mcp_header(region: Region) -> str:
    """Takes an argument that clients send in a header too, so that proxies can route by it."""
    return f"The call was for {region}."


class Unit(Enum):
    METRES = "m"
    FEET = "ft"


@dataclass
class Place:
    latitude: float
    longitude: float
    tags: list[str] = field(default_factory=list)


@server.tool(read_only=True)
def test_typed_arguments(place: Place, unit: Unit = Unit.METRES, limit: int | None = None) -> str:
    """Takes a class, an enumeration and something optional.

    Args:
        place: Where to look.
        unit: How to measure.
        limit: How many to find.
    """
    return f"{place.latitude},{place.longitude} in {unit.value}, limit {limit}"


_changes = 0


@server.tool
async def test_trigger_tool_change() -> str:
    """Adds a tool and takes it out again: clients that watch the list are told."""
    global _changes
    _changes += 1
    name = f"temporary_{_changes}"

    async def temporary() -> str:
        return "Here for a moment."

    server.add_tool(temporary, name=name, description="Here for a moment.")
    server.remove_tool(name)
    return "The tool list has changed."


@server.tool
async def test_trigger_prompt_change() -> str:
    """Adds a prompt and takes it out again."""
    global _changes
    _changes += 1
    name = f"temporary_{_changes}"
    server.add_prompt(lambda: "Here for a moment.", name=name, description="Here for a moment.")
    server.remove_prompt(name)
    return "The prompt list has changed."


@server.tool
async def test_trigger_resource_update() -> str:
    """Says that the watched resource has changed."""
    server.resource_updated("test://watched-resource")
    return "The resource was updated."


# ---------------------------------------------------------------- resources


@server.resource("test://static-text", mime_type="text/plain")
def static_text() -> str:
    """Text that never changes."""
    return "This is the content of the static text resource."


@server.resource("test://static-binary", mime_type="image/png")
def static_binary() -> bytes:
    """An image that never changes."""
    return PNG


@server.resource("test://watched-resource", mime_type="text/plain")
async def watched_resource() -> str:
    """A resource to subscribe to."""
    return "Watched resource content."


@server.resource("test://template/{id}/data", mime_type="application/json")
async def template_data(id: str) -> dict[str, Any]:
    """Data by id."""
    return {"id": id, "templateTest": True, "data": f"Data for ID: {id}"}


# ---------------------------------------------------------------- prompts and completion


@server.prompt
def test_simple_prompt() -> str:
    """A prompt without arguments."""
    return "This is a simple prompt for testing."


@server.prompt
def test_prompt_with_arguments(arg1: str, arg2: str) -> str:
    """A prompt with two arguments.

    Args:
        arg1: The first.
        arg2: The second.
    """
    return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"


@server.prompt(name="test_prompt_with_embedded_resource")
def prompt_with_embedded_resource(resourceUri: str) -> list[Any]:
    """A prompt that carries a resource."""
    text = "Embedded resource content for testing."
    return [
        EmbeddedResource(ResourceContents(resourceUri, "text/plain", text=text)),
        "Please process the embedded resource above.",
    ]


@server.prompt
def test_prompt_with_image() -> list[Any]:
    """A prompt that carries an image."""
    return [Message("user", Image(PNG, "image/png")), "Please analyze the image above."]


@dataclass
class UserContext:
    context: str


@server.prompt
async def test_input_required_result_prompt(ctx: Context) -> str:
    """A prompt that asks the user first."""
    answer = await ctx.elicit("What context should the prompt use?", UserContext, key="user_context")
    return f"Use this context: {answer.content.context if answer.content else 'none'}"


@server.completion("test_prompt_with_arguments", "arg1")
def complete_arg1(value: str) -> list[str]:
    words = ["test", "testValue1", "testing", "paris", "park", "party"]
    return [word for word in words if word.startswith(value)]


@server.completion("test://template/{id}/data", "id")
def complete_id(value: str) -> list[str]:
    return [number for number in map(str, range(100, 200)) if number.startswith(value)]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--http", type=int, metavar="PORT", help="serve at http://127.0.0.1:PORT/mcp")
    port = parser.parse_args().http
    if port is None:
        server.run()
    else:
        server.run_http(port=port)


if __name__ == "__main__":
    main()
