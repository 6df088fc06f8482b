"""Pages in headless Chromium: those that may use the server can, those that may not get nothing of it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import cells
import chromium
import listeners
import pytest
from raw_http import CLIENT, LEGACY, MODERN, PREFIX

Json = dict[str, Any]
TEXT = "hello from a page"
pytestmark = pytest.mark.skipif(chromium.PROGRAM is None, reason="chromium is not installed")

# Servers that let pages of other origins in, with arguments for their tool `echo` and the revisions to try.
OPEN: dict[str, tuple[list[str], Json, list[str]]] = {
    "server-everything": (cells.HTTP_SERVERS["server-everything"], {"message": TEXT}, [LEGACY]),
    **{name: (command, {"text": TEXT}, [LEGACY, MODERN]) for name, command in cells.OUR_SERVERS.items()},
}
# Servers that guard themselves as they come, with what they say to a message that is not marked as JSON and
# comes from a foreign origin.
GUARDED = {
    "mcp2": (cells.HTTP_SERVERS["mcp2"], 400),
    **{name: (command, 403) for name, command in cells.OUR_SERVERS.items()},
}
# Who owns a name chooses where it leads: here all of them lead to the loopback interface.
FOREIGN = "foreign.example"


def post(url: str, message: Json, headers: Json) -> Json:
    accept = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
    return {"url": url, "headers": {**accept, **headers}, "body": {"jsonrpc": "2.0", **message}}


def conversation(url: str, revision: str, arguments: Json) -> list[Json]:
    """The requests of a page that calls a tool; the answer to the last is the tool's."""
    version = {"mcp-protocol-version": revision}
    call: Json = {"name": "echo", "arguments": arguments}
    if revision == MODERN:
        meta = {"protocolVersion": MODERN, "clientInfo": CLIENT, "clientCapabilities": {}}
        params = {**call, "_meta": {PREFIX + name: value for name, value in meta.items()}}
        named = {"mcp-method": "tools/call", "mcp-name": "echo"}
        return [post(url, {"id": 1, "method": "tools/call", "params": params}, {**version, **named})]
    params = {"protocolVersion": revision, "capabilities": {}, "clientInfo": CLIENT}
    return [
        post(url, {"id": 1, "method": "initialize", "params": params}, {}),
        post(url, {"method": "notifications/initialized"}, version),
        post(url, {"id": 2, "method": "tools/call", "params": call}, version),
    ]


def answer(text: str) -> Json:
    """The last message of a body, be it JSON or an event stream."""
    data = [line.removeprefix("data:") for line in text.splitlines() if line.startswith("data:")]
    message: Json = json.loads(data[-1] if data else text)
    return message


@pytest.fixture(
    scope="module",
    params=[(name, revision) for name in OPEN for revision in OPEN[name][2]],
    ids="-".join,
)
def open_server(request: pytest.FixtureRequest) -> Iterator[tuple[str, str, Json]]:
    name, revision = request.param
    command, arguments, _ = OPEN[name]
    with listeners.listening(command, "http", cells.ENVIRONMENT) as url:
        yield url, revision, arguments


@pytest.fixture(scope="module", params=GUARDED)
def guarded_server(request: pytest.FixtureRequest) -> Iterator[tuple[str, int]]:
    command, status = GUARDED[request.param]
    with listeners.listening(command, "http", cells.ENVIRONMENT) as url:
        yield url, status


def test_a_page_of_an_allowed_origin_calls_a_tool(open_server: tuple[str, str, Json]) -> None:
    server, revision, arguments = open_server
    with chromium.site() as pages, chromium.site(server) as relay:
        outcomes = chromium.visit(pages, "127.0.0.1", conversation(relay.url("/mcp"), revision, arguments))
        assert TEXT in answer(outcomes[-1]["text"])["result"]["content"][0]["text"], outcomes
        # Another port is another origin, so the browser asked before it sent.
        asked = [exchange for exchange in relay.exchanges if exchange.method == "OPTIONS"]
        assert asked and all(exchange.status in (200, 204) for exchange in asked), relay.exchanges
        assert {exchange.origin for exchange in relay.exchanges} == {pages.url("")}


@pytest.mark.parametrize("revision", [LEGACY, MODERN])
def test_a_page_of_a_foreign_origin_gets_nothing(guarded_server: tuple[str, int], revision: str) -> None:
    server, status = guarded_server
    with chromium.site() as pages, chromium.site(server) as relay:
        url = relay.url("/mcp")
        first = conversation(url, revision, {"text": TEXT})[0]
        # Sent without asking the server beforehand; what it says must not be done either.
        blind = {"url": url, "mode": "no-cors", "body": first["body"]}
        outcomes = chromium.visit(pages, FOREIGN, [first, blind])
        assert "refused" in outcomes[0], outcomes
        assert {exchange.origin for exchange in relay.exchanges} == {pages.url("", FOREIGN)}
        refusals = [(exchange.method, exchange.status) for exchange in relay.exchanges]
        assert refusals == [("OPTIONS", 403), ("POST", status)]


@pytest.mark.parametrize("revision", [LEGACY, MODERN])
def test_a_name_that_now_means_this_machine_gets_nothing(
    guarded_server: tuple[str, int], revision: str
) -> None:
    # The page and the server have one origin, as after DNS rebinding: first the name led to the page.
    with chromium.site(guarded_server[0]) as relay:
        first = conversation("/mcp", revision, {"text": TEXT})[0]
        reading = {"url": "/mcp", "method": "GET", "headers": {"accept": "text/event-stream"}}
        outcomes = chromium.visit(relay, FOREIGN, [first, reading])
        assert {exchange.host for exchange in relay.exchanges} == {f"{FOREIGN}:{relay.server_port}"}
        # Without an `Origin`, as in the second request, only the `Host` tells.
        origins = {exchange.method: exchange.origin for exchange in relay.exchanges}
        assert origins == {"POST": relay.url("", FOREIGN), "GET": None}
        assert all(outcome["status"] in (403, 421) for outcome in outcomes), outcomes
