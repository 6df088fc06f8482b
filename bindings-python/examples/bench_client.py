"""A client for the benchmark: `bench_client.py REVISION SERVER-COMMAND...`.

It prints `ready`, then reads commands from standard input and answers each with `done`: `seq N` calls the
tool `echo` N times, one after the other, and `conc N W` does so W at a time.
"""

from __future__ import annotations

import asyncio
import sys

import barewire

TEXT = "The quick brown fox jumps over the lazy dog; it did so 64 times."


async def call(client: barewire.Client, calls: list[None]) -> None:
    """Call until `calls` is used up."""
    while calls:
        calls.pop()
        result = await client.call_tool("echo", {"text": TEXT})
        (block,) = result.content
        if not isinstance(block, barewire.Text) or block.text != TEXT:
            raise SystemExit(f"a wrong answer: {result}")


async def main(revision: str, command: list[str]) -> None:
    loop = asyncio.get_running_loop()
    async with barewire.Client(command=command, revisions=[revision]) as client:
        print("ready", flush=True)
        while line := await loop.run_in_executor(None, sys.stdin.readline):
            kind, count, *width = line.split()
            calls = [None] * int(count)
            workers = 1 if kind == "seq" else int(width[0])
            await asyncio.gather(*(call(client, calls) for _ in range(workers)))
            print("done", flush=True)


asyncio.run(main(sys.argv[1], sys.argv[2:]))
