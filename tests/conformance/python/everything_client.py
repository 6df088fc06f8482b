"""A client that does what each client scenario of the conformance suite asks for: `everything_client.py URL`.

The suite names the scenario, the revision to speak and what else the scenario needs in the environment. What
belongs to a scenario is a function below, written against the public API alone.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import barewire
import scenario_auth
from barewire.sansio import LEGACY_REVISIONS, REVISIONS

#: Seconds for a whole scenario. The suite is told to give more, and ends only a shell when they are over.
PATIENCE = 100.0

Context = dict[str, Any]
Scenario = Callable[[barewire.Client, Context], Awaitable[None]]

SCENARIOS: dict[str, Scenario] = {}


def scenario(*names: str) -> Callable[[Scenario], Scenario]:
    """The function below does the scenarios of these names."""

    def register(function: Scenario) -> Scenario:
        SCENARIOS.update(dict.fromkeys(names, function))
        return function

    return register


# ---------------------------------------------------------------- what the server may ask


def fill_in(question: barewire.ElicitRequest) -> dict[str, Any]:
    """A user who leaves each field of the form as it is, and ticks the boxes that are still open."""
    print(f"asked: {question.message}")
    fields = (question.requested_schema or {}).get("properties", {})
    return {name: field.get("default", True) for name, field in fields.items()}


def continue_conversation(question: barewire.SampleRequest) -> str:
    """A model that has little to say."""
    print(f"asked to continue {len(question.messages)} messages")
    return "This is a test response from the client."


def roots() -> list[str]:
    """The folders that the server may work on."""
    return ["file:///tmp"]


# ---------------------------------------------------------------- scenarios


async def call(client: barewire.Client, name: str, arguments: dict[str, Any] | None = None) -> None:
    """Call a tool and show what it says."""
    result = await client.call_tool(name, arguments)
    print(f"{name}: {'failed' if result.is_error else 'done'}")
    for block in result.content:
        print(f"  {block}")


@scenario(
    "initialize",
    "request-metadata",
    "sep-2640-client-no-prefetch",
    "sep-2640-client-verify-digest",
    "sep-2640-client-verify-frontmatter",
    "sep-2640-client-verify-size",
)
async def look_around(client: barewire.Client, context: Context) -> None:
    """Connect, and see what there is. Skills are not among what this client looks for."""
    print(f"{client.server_info} offers {', '.join(client.capabilities) or 'nothing'}")


@scenario("json-schema-ref-no-deref")
async def list_tools(client: barewire.Client, context: Context) -> None:
    """Ask for the tools, all pages of them."""
    async for tool in client.tools():
        print(f"{tool.name}: {tool.description}")


@scenario("tools_call")
async def add_numbers(client: barewire.Client, context: Context) -> None:
    """Find the tools, and call one."""
    await list_tools(client, context)
    await call(client, "add_numbers", {"a": 5, "b": 3})


@scenario("elicitation-sep1034-client-defaults")
async def accept_defaults(client: barewire.Client, context: Context) -> None:
    """Call a tool that asks the user to fill in a form."""
    await list_tools(client, context)
    await call(client, "test_client_elicitation_defaults")


@scenario("sse-retry")
async def wait_for_an_answer(client: barewire.Client, context: Context) -> None:
    """Call a tool whose answer comes after the server has hung up once."""
    await list_tools(client, context)
    await call(client, "test_reconnection")


@scenario("sep-2322-client-request-state")
async def answer_in_rounds(client: barewire.Client, context: Context) -> None:
    """Call tools that ask before they answer, while another one is called in between."""
    await list_tools(client, context)
    await asyncio.gather(call(client, "test_mrtr_echo_state"), call(client, "test_mrtr_unrelated"))
    await call(client, "test_mrtr_no_state")
    await call(client, "test_mrtr_no_result_type")


@scenario("http-standard-headers")
async def use_all_methods(client: barewire.Client, context: Context) -> None:
    """One request of each kind that names what it is about."""
    async for tool in client.tools():
        await call(client, tool.name)
    async for resource in client.resources():
        print(await client.read_resource(resource.uri))
    async for prompt in client.prompts():
        print(await client.get_prompt(prompt.name))


@scenario("http-custom-headers")
async def make_given_calls(client: barewire.Client, context: Context) -> None:
    """Call tools, with arguments as they are given, that want some of them in headers."""
    await list_tools(client, context)
    for wanted in context["toolCalls"]:
        await call(client, wanted["name"], wanted["arguments"])


@scenario("http-invalid-tool-headers")
async def call_all_tools(client: barewire.Client, context: Context) -> None:
    """Call all tools that the client offers; it leaves out those that want headers which cannot be sent."""
    tools = [tool async for tool in client.tools()]
    for tool in tools:
        required = tool.input_schema.get("required", [])
        await call(client, tool.name, dict.fromkeys(required, "example"))


@scenario("json-schema-2020-12-preservation")
async def send_schema_back(client: barewire.Client, context: Context) -> None:
    """Give the schema of one tool to another, as it was received."""
    schemas = {tool.name: tool.input_schema async for tool in client.tools()}
    await call(client, "json_schema_echo", {"schema": schemas["json_schema_2020_12_tool"]})


async def call_when_authorized(client: barewire.Client, context: Context) -> None:
    """Use a protected server: how its client comes by tokens is in `scenario_auth`."""
    await list_tools(client, context)
    await call(client, "test-tool")


# ---------------------------------------------------------------- running one


def spoken(revision: str | None) -> list[str]:
    """The revisions to offer: the one that is asked for and all older ones, which a server may fall back to.
    Suites that ask for none know the handshake only.
    """
    return list(LEGACY_REVISIONS if revision is None else REVISIONS[REVISIONS.index(revision) :])


async def main() -> None:
    url, name = sys.argv[-1], os.environ["MCP_CONFORMANCE_SCENARIO"]
    context = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT", "{}"))
    auth = scenario_auth.grant_for(name, context)
    steps = SCENARIOS.get(name) if auth is None else call_when_authorized
    if steps is None:
        sys.exit(f"no scenario is called {name!r}")
    async with barewire.Client(
        url,
        auth=auth,
        revisions=spoken(os.environ.get("MCP_CONFORMANCE_PROTOCOL_VERSION")),
        on_elicit=fill_in,
        on_sample=continue_conversation,
        on_roots=roots,
    ) as client:
        print(f"connected to {url}, speaking {client.revision}")
        await steps(client, context)


if __name__ == "__main__":
    asyncio.run(asyncio.wait_for(main(), PATIENCE))
