"""The five tools of the benchmark: `bench_server.py [inline] [http PORT]`.

Handlers are async; with the argument `inline` they are sync and run where the request is taken.
"""

from __future__ import annotations

import sys

from barewire import Context, Server, SyncContext

LINE = 'All work and no play makes "Jack" a dull boy, so he went home.\n '

server = Server("bench", version="1.0.0")


if "inline" in sys.argv:

    @server.tool(inline=True)
    def echo(text: str) -> str:
        return text

    @server.tool(inline=True)
    def add(a: int, b: int) -> dict[str, int]:
        return {"sum": a + b}

    @server.tool(inline=True)
    def big(kib: int) -> str:
        return LINE * (kib * 16)

    @server.tool(inline=True)
    def sink(text: str) -> str:
        return str(len(text))

    @server.tool(inline=True)
    def progress(n: int, ctx: SyncContext) -> str:
        for i in range(1, n + 1):
            ctx.progress(i, n)
        return f"sent {n}"

else:

    @server.tool(name="echo")
    async def echo_async(text: str) -> str:
        return text

    @server.tool(name="add")
    async def add_async(a: int, b: int) -> dict[str, int]:
        return {"sum": a + b}

    @server.tool(name="big")
    async def big_async(kib: int) -> str:
        return LINE * (kib * 16)

    @server.tool(name="sink")
    async def sink_async(text: str) -> str:
        return str(len(text))

    @server.tool(name="progress")
    async def progress_async(n: int, ctx: Context) -> str:
        for i in range(1, n + 1):
            await ctx.progress(i, n)
        return f"sent {n}"


if __name__ == "__main__":
    if "http" in sys.argv:
        server.run_http(port=int(sys.argv[-1]))
    else:
        server.run()
