"""The `everything_server.py` of the conformance suite, with a few tools more that only these tests call."""

from __future__ import annotations

import argparse
import asyncio
from dataclasses import dataclass

from barewire import Context
from barewire.sansio import Limits
from everything_server import User, server

# That server's lists fit on one page; here they take several, so that the peers have to turn pages.
server._options["limits"] = Limits(page_items=6)

cancelled_calls = 0


@dataclass
class Sum:
    sum: int


@server.tool
async def echo(text: str) -> str:
    """Return the text."""
    return text


@server.tool
async def add(a: int, b: int) -> Sum:
    """Add two integers."""
    return Sum(a + b)


@server.tool
async def slow(seconds: float, ctx: Context) -> str:
    """Report progress once and then wait; a cancellation is counted."""
    global cancelled_calls
    await ctx.progress(0, seconds)
    try:
        await asyncio.sleep(seconds)
    except asyncio.CancelledError:
        cancelled_calls += 1
        raise
    return "slept"


@server.tool
async def cancellations() -> str:
    """Return how many calls of `slow` were cancelled."""
    return str(cancelled_calls)


@server.tool
async def test_elicitation_twice(ctx: Context) -> str:
    """Ask the user two questions, one after the other."""
    first = await ctx.elicit("First?", User, key="first")
    second = await ctx.elicit("Second?", User, key="second")
    assert first.content is not None and second.content is not None
    return f"{first.content.username} and {second.content.username}"


@server.tool
async def test_list_roots(ctx: Context) -> str:
    """Ask for the roots of the client."""
    return " ".join(root.uri for root in await ctx.roots())


def main() -> None:
    """The command line of a server program: nothing for stdio, `--http PORT`, or `--sse PORT`."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--http", type=int)
    parser.add_argument("--sse", type=int)
    options = parser.parse_args()
    port = options.http or options.sse
    if port is None:
        server.run()
    else:
        server.run_http(port=port, sse=options.sse is not None)


if __name__ == "__main__":
    main()
