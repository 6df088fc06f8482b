"""One MCP endpoint spoken to in plain HTTP, where a test must see chunks arrive or let go of a connection."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPResponse
from typing import Any
from urllib.parse import urlsplit

Json = dict[str, Any]
MODERN = "2026-07-28"
LEGACY = "2025-11-25"
# How long anything may take that should come at once.
SECONDS = 60.0
CLIENT = {"name": "interop-raw", "version": "1.0.0"}
PREFIX = "io.modelcontextprotocol/"


class Endpoint:
    """A client of one revision; each request has its own connection."""

    def __init__(self, url: str, revision: str) -> None:
        parts = urlsplit(url)
        assert parts.hostname is not None
        self._address = (parts.hostname, parts.port)
        self._path = parts.path
        self._revision = revision
        self._session: str | None = None
        self._ids = itertools.count(1)
        if revision != MODERN:
            self._shake_hands()

    def _shake_hands(self) -> None:
        params = {"protocolVersion": self._revision, "capabilities": {}, "clientInfo": CLIENT}
        with self.answering("initialize", params) as response:
            self._session = response.getheader("Mcp-Session-Id")
            answer(response)
        with self._sent({"method": "notifications/initialized"}) as response:
            assert response.status == 202, response.status

    def headers(self, message: Json) -> dict[str, str]:
        headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        if message["method"] != "initialize":
            headers["MCP-Protocol-Version"] = self._revision
        if self._session is not None:
            headers["Mcp-Session-Id"] = self._session
        if self._revision == MODERN:
            headers["Mcp-Method"] = message["method"]
            if "name" in message["params"]:
                headers["Mcp-Name"] = message["params"]["name"]
        return headers

    @contextmanager
    def _sent(self, message: Json) -> Iterator[HTTPResponse]:
        connection = HTTPConnection(*self._address, timeout=SECONDS)
        try:
            body = json.dumps({"jsonrpc": "2.0", **message})
            connection.request("POST", self._path, body, self.headers(message))
            response = connection.getresponse()
            yield response
            response.close()
        finally:
            connection.close()

    @contextmanager
    def answering(self, method: str, params: Json) -> Iterator[HTTPResponse]:
        """The response to a request, which is let go of at the end of the block, finished or not."""
        if self._revision == MODERN:
            meta = {
                PREFIX + "protocolVersion": MODERN,
                PREFIX + "clientInfo": CLIENT,
                PREFIX + "clientCapabilities": {},
            }
            params = {**params, "_meta": {**meta, **params.get("_meta", {})}}
        with self._sent({"id": next(self._ids), "method": method, "params": params}) as response:
            yield response

    def call(self, name: str, arguments: Json) -> str:
        """The text that a tool answers with."""
        with self.answering("tools/call", {"name": name, "arguments": arguments}) as response:
            return str(answer(response)["result"]["content"][0]["text"])


def messages(response: HTTPResponse) -> Iterator[Json]:
    """The messages of an event stream, each as soon as it has come."""
    data: list[str] = []
    while line := response.readline().decode():
        field, _, value = line.rstrip("\r\n").partition(":")
        if field == "data":
            data.append(value.removeprefix(" "))
        elif not field and data:
            text = "\n".join(data)
            data.clear()
            # An event without data only tells its id.
            if text:
                yield json.loads(text)


def answer(response: HTTPResponse) -> Json:
    """The message that answers the request, be it alone or the last of a stream."""
    assert response.status == 200, (response.status, response.read())
    if response.getheader("Content-Type", "").startswith("application/json"):
        alone: Json = json.loads(response.read())
        return alone
    for message in messages(response):
        if "method" not in message:
            return message
    raise AssertionError("the stream ended without the answer")
