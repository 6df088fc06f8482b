"""The Python package as the peer of a program in another language.

usage: python_peer.py server REVISION, or client REVISION COMMAND...; `all` stands for all revisions.
"""

from __future__ import annotations

import sys

import barewire
from barewire.sync import Client


def serve(revisions: list[str] | None) -> None:
    server = barewire.Server("hello", version="1.0.0", revisions=revisions)

    @server.tool
    def greet(name: str) -> str:
        return f"Hello, {name}!"

    server.run()


def greet(command: list[str], revisions: list[str] | None) -> None:
    # A virtual machine may take its time to start.
    timeouts = barewire.Timeouts(probe=60_000, handshake=60_000)
    with Client(command=command, revisions=revisions, timeouts=timeouts) as client:
        print(f"speaks {client.revision}")
        for block in client.call_tool("greet", {"name": "world"}).content:
            if isinstance(block, barewire.Text):
                print(block.text)


if __name__ == "__main__":
    role, revision, *command = sys.argv[1:]
    revisions = None if revision == "all" else [revision]
    if role == "server":
        serve(revisions)
    else:
        greet(command, revisions)
