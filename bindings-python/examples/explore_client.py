"""Walks all that a server offers and prints it: `explore_client.py [OPTION...] -- COMMAND...`.

It lists tools, resources, templates and prompts, calls every tool that does not call itself destructive with
made-up arguments, reads every resource, fills in every prompt, asks for completions, and watches for changes
while it does so. It answers what the server asks. The exit status is 0 when the walk came to its end; what a
tool answered to made-up arguments is printed and changes nothing.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
from pathlib import Path
from typing import Any

import barewire

FORMATS = {"email": "someone@example.com", "uri": "https://example.com/", "date": "2000-01-01"}


def say(depth: int, text: object) -> None:
    """Print `text` on one line, `depth` steps in."""
    line = " ".join(str(text).split())
    # In one piece, since handlers run in threads.
    print("  " * depth + (line if len(line) <= 160 else line[:157] + "...") + "\n", end="", flush=True)


def made_up(schema: dict[str, Any]) -> Any:
    """A value that fits `schema`, as far as its simple keywords tell."""
    for key in ("default", "const"):
        if key in schema:
            return schema[key]
    for key in ("enum", "examples"):
        if schema.get(key):
            return schema[key][0]
    kind = schema.get("type", "object" if "properties" in schema else "string")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "object":
        required = schema.get("required", ())
        members = schema.get("properties", {}).items()
        return {name: made_up(member) for name, member in members if name in required}
    for key in ("anyOf", "oneOf", "allOf"):
        if schema.get(key):
            return made_up(schema[key][0])
    if kind == "array":
        return [made_up(schema.get("items", {}))] * schema.get("minItems", 0)
    numbers = {"integer": schema.get("minimum", 1), "number": schema.get("minimum", 1.5), "boolean": True}
    return numbers.get(kind, FORMATS.get(schema.get("format", ""), "example"))


def show_problems(problems: tuple[barewire.Problem, ...]) -> None:
    """Print what could not be read."""
    for problem in problems:
        say(2, f"could not read {problem}")


def show_block(block: Any) -> None:
    """Print a content block."""
    match block:
        case barewire.Text():
            say(2, f"text: {block.text}")
        case barewire.Image() | barewire.Audio():
            say(2, f"media: {block.mime_type}, {len(block.data)} bytes")
        case barewire.EmbeddedResource():
            show_contents(block.resource)
        case barewire.ResourceLink():
            say(2, f"link: {block.uri} ({block.name})")
        case _:
            say(2, f"unknown block: {block.raw.decode()}")


def show_contents(contents: barewire.ResourceContents) -> None:
    """Print what a resource holds."""
    held = contents.text if contents.blob is None else f"{len(contents.blob)} bytes"
    say(2, f"resource {contents.uri} ({contents.mime_type or 'no type'}): {held}")


def elicit(question: barewire.ElicitRequest) -> barewire.ElicitResult[Any]:
    """Fill in the form with made-up values."""
    say(2, f"asked: {question.message}")
    if question.mode == "url":
        return barewire.ElicitResult("accept", None)
    content = {
        name: made_up(field)
        for name, field in (question.requested_schema or {}).get("properties", {}).items()
    }
    say(2, f"answered: {json.dumps(content)}")
    return barewire.ElicitResult("accept", content)


def sample(asked: barewire.SampleRequest) -> str:
    """Answer in place of a model."""
    say(2, f"asked for a sample of at most {asked.max_tokens} tokens")
    for message in asked.messages:
        for block in message.content:
            show_block(block)
    return "This is what a model would say."


class Walk:
    """The walk over one server."""

    def __init__(self, client: barewire.Client, patience: float) -> None:
        self.client = client
        self.patience = patience
        self.kinds = client.capabilities

    def about(self) -> None:
        """Who the server is."""
        info = self.client.server_info
        say(0, f"{info.name} {info.version}" if info is not None else "a server without a name")
        say(1, f"speaks {self.client.revision}; offers {', '.join(sorted(self.kinds)) or 'nothing'}")
        if self.client.instructions:
            say(1, f"instructions: {self.client.instructions}")

    async def tools(self) -> None:
        """List and call the tools."""
        say(0, "tools")
        async for tool in self.client.tools():
            say(1, f"{tool.name}: {tool.description or tool.title or ''}")
            if tool.output_schema_fault:
                say(2, f"unusable output schema: {tool.output_schema_fault}")
            if tool.annotations is not None and tool.annotations.destructive_hint:
                say(2, "not called, since it calls itself destructive")
                continue
            await self.attempt(self.call(tool))

    async def call(self, tool: barewire.Tool) -> None:
        """Call one tool."""
        result = await self.client.call_tool(
            tool.name,
            made_up({"type": "object", **tool.input_schema}),
            timeout=self.patience,
            on_progress=lambda report: say(
                2, f"progress {report.progress:g} of {report.total}: {report.message}"
            ),
        )
        show_problems(result.problems)
        for block in result.content:
            show_block(block)
        if result.raw_structured_content is not None:
            say(2, f"structured: {result.raw_structured_content.decode()}")
        if result.is_error:
            say(2, "the tool says that it failed")

    async def resources(self) -> None:
        """List and read the resources, and list the templates."""
        say(0, "resources")
        async for resource in self.client.resources():
            say(1, f"{resource.uri}: {resource.description or resource.name}")
            await self.attempt(self.read(resource.uri))
        async for template in self.client.resource_templates():
            say(1, f"{template.uri_template}: {template.description or template.name}")
            for variable in (part.split("}")[0] for part in template.uri_template.split("{")[1:]):
                await self.attempt(self.complete(variable.strip("+#./;?&*"), resource=template.uri_template))

    async def read(self, uri: str) -> None:
        """Read one resource."""
        result = await self.client.read_resource(uri, timeout=self.patience)
        show_problems(result.problems)
        for contents in result.contents:
            show_contents(contents)

    async def prompts(self) -> None:
        """List and fill in the prompts."""
        say(0, "prompts")
        async for prompt in self.client.prompts():
            say(1, f"{prompt.name}: {prompt.description or prompt.title or ''}")
            arguments = prompt.arguments or []
            await self.attempt(
                self.fill_in(prompt.name, {argument.name: "example" for argument in arguments})
            )
            for argument in arguments:
                await self.attempt(self.complete(argument.name, prompt=prompt.name))

    async def fill_in(self, name: str, arguments: dict[str, str]) -> None:
        """Fill in one prompt."""
        result = await self.client.get_prompt(name, arguments, timeout=self.patience)
        show_problems(result.problems)
        for message in result.messages:
            say(2, f"{message.role} says")
            show_block(message.content)

    async def complete(
        self, argument: str, *, prompt: str | None = None, resource: str | None = None
    ) -> None:
        """Ask for completions of one argument."""
        if "completions" in self.kinds:
            result = await self.client.complete(argument, "", prompt=prompt, resource=resource)
            say(2, f"completions of {argument}: {', '.join(result.values) or 'none'}")

    async def attempt(self, step: Any) -> None:
        """Take one step that the server may refuse."""
        try:
            await step
        except barewire.RpcError as error:
            say(2, f"refused: {error}")
        except barewire.RequestTimedOutError:
            say(2, f"no answer in {self.patience:g} seconds")
        except barewire.InputRefusedError as error:
            say(2, f"given up: {error}")

    async def all(self) -> None:
        """Everything, in order."""
        self.about()
        if "logging" in self.kinds:
            await self.client.set_log_level("debug")
        async with self.client.subscribe(tools=True, resources=True, prompts=True) as changes:
            for kind, step in (
                ("tools", self.tools),
                ("resources", self.resources),
                ("prompts", self.prompts),
            ):
                if kind in self.kinds:
                    await step()
            honoured = changes.honoured
        if honoured is not None:
            told = [kind for kind in ("tools", "resources", "prompts") if getattr(honoured, kind)]
            say(0, f"changes told of: {', '.join(told) or 'none'}")


async def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--revision", help="speak this revision of the protocol only")
    parser.add_argument(
        "--patience", type=float, default=10.0, help="seconds to wait without a word of an answer"
    )
    parser.add_argument("command", nargs="+", metavar="COMMAND")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        await connect(arguments, Path(folder))


async def connect(arguments: argparse.Namespace, folder: Path) -> None:
    """Connect, and walk. All that the server may touch as a root is an empty folder."""

    def roots() -> list[barewire.Root]:
        say(2, "asked for roots")
        return [barewire.Root(folder.as_uri(), "an empty folder")]

    async with barewire.Client(
        command=arguments.command,
        revisions=None if arguments.revision is None else [arguments.revision],
        on_elicit=elicit,
        on_sample=sample,
        on_roots=roots,
        on_log=lambda message: say(2, f"log {message.level}: {message.raw.decode()}"),
        on_change=lambda change: say(2, f"changed: {change.uri or change.kind}"),
    ) as client:
        await Walk(client, arguments.patience).all()


asyncio.run(main())
