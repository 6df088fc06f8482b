"""The server of `demo.py`: a kitchen that reports progress, asks, and stops when it is told to."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Literal

from barewire import Context, Server

server = Server("kitchen", version="1.0.0", title="Kitchen")


@dataclass
class Order:
    size: Literal["small", "large"]
    sugar: bool = False


@server.tool
async def bake(loaves: int, ctx: Context) -> str:
    """Bake bread, one loaf after the other."""
    for loaf in range(1, loaves + 1):
        await asyncio.sleep(0.1)
        await ctx.progress(loaf, loaves, f"loaf {loaf} is done")
    return f"{loaves} loaves"


@server.tool
async def coffee(ctx: Context) -> str:
    """Make coffee, as the guest likes it."""
    answer = await ctx.elicit("How do you like your coffee?", Order)
    if answer.content is None:
        return "no coffee"
    return f"a {answer.content.size} coffee {'with' if answer.content.sugar else 'without'} sugar"


@server.tool
async def roast() -> str:
    """Roast for hours."""
    try:
        await asyncio.sleep(7200)
    except asyncio.CancelledError:
        print("    server: the roast is taken out of the oven")
        raise
    return "a roast"


if __name__ == "__main__":
    server.run()
