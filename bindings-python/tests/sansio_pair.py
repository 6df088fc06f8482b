"""A client and a server of `barewire.sansio` joined back to back, on a clock that the test moves."""

from __future__ import annotations

import json
from typing import Any

from barewire.sansio import Client, Event, Json, Server

SEED = bytes(range(32))


def definition(**members: Any) -> str:
    return json.dumps(members)


def make_server(**options: Any) -> Server:
    """A server that offers one of everything."""
    settings: dict[str, Any] = {"name": "server", "version": "1.0", "seed": SEED, "clock_origin": 0}
    server = Server(**settings | {"completions": True} | options)
    server.add_tool(definition(name="echo", inputSchema={"type": "object"}))
    server.add_resource(definition(uri="file:///a", name="a"))
    server.add_resource_template(definition(uriTemplate="file:///{dir}/{name}", name="files"))
    server.add_prompt(definition(name="greet", arguments=[{"name": "who"}]))
    return server


def make_client(revision: str | None = None, **options: Any) -> Client:
    settings: dict[str, Any] = {"name": "client", "version": "1.0", "seed": SEED, "now": 0}
    if revision is not None:
        settings["revisions"] = [revision]
    return Client(**settings | options)


class Pair:
    """Moves bytes both ways until nothing more is said, and keeps the events of both sides."""

    def __init__(self, client: Client, server: Server, chunk: int | None = None) -> None:
        self.client = client
        self.server = server
        self.chunk = chunk
        self.now = 0
        self.of_client: list[Event] = []
        self.of_server: list[Event] = []

    def run(self) -> None:
        """Exchange bytes until both are silent."""
        self.of_client += self.client.events()
        self.of_server += self.server.events()
        while True:
            to_server = self.client.data_to_send()
            for data in self._cut(to_server):
                self.of_server += self.server.receive_data(data, self.now)
            to_client = self.server.data_to_send()
            for data in self._cut(to_client):
                self.of_client += self.client.receive_data(data, self.now)
            if not to_server and not to_client:
                return

    def _cut(self, data: bytes) -> list[bytes]:
        size = self.chunk or max(len(data), 1)
        return [data[at : at + size] for at in range(0, len(data), size)]

    def client_events(self) -> list[Event]:
        """Run, and take what the client was told since the last time."""
        self.run()
        taken, self.of_client = self.of_client, []
        return taken

    def server_events(self) -> list[Event]:
        """Run, and take what the server was told since the last time."""
        self.run()
        taken, self.of_server = self.of_server, []
        return taken


def connect(
    revision: str | None = None, *, chunk: int | None = None, server: Server | None = None, **options: Any
) -> Pair:
    """A pair that has settled its revision, with the events of that taken away."""
    pair = Pair(make_client(revision, **options), server or make_server(), chunk)
    pair.run()
    pair.of_client.clear()
    pair.of_server.clear()
    return pair


def message(**members: Any) -> bytes:
    """One JSON-RPC message as a line."""
    return json.dumps({"jsonrpc": "2.0", **members}).encode() + b"\n"


def decoded(payload: Json | None) -> Any:
    assert payload is not None
    return json.loads(payload)
