"""A client and a server over stdio in both eras: progress, a question, a cancellation."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import barewire

SERVER = Path(__file__).with_name("demo_server.py")


def text_of(result: barewire.CallToolResult) -> str:
    return " ".join(block.text for block in result.content if isinstance(block, barewire.Text))


def on_progress(report: barewire.Progress) -> None:
    print(f"    progress {report.progress:.0f} of {report.total:.0f}: {report.message}")


def on_elicit(question: barewire.ElicitRequest) -> dict[str, Any]:
    answer = {"size": "large", "sugar": True}
    print(f"    the server asks: {question.message}  The client answers: {answer}")
    return answer


async def show(revision: str) -> None:
    print(f"\n{revision}")
    command = [sys.executable, str(SERVER)]
    async with barewire.Client(command=command, revisions=[revision], on_elicit=on_elicit) as client:
        print(f"  connected to {client.server_info and client.server_info.title} in {client.revision}")
        print(f"  tools: {', '.join([tool.name async for tool in client.tools()])}")

        print("  bake(loaves=3)")
        print(f"    -> {text_of(await client.call_tool('bake', {'loaves': 3}, on_progress=on_progress))}")

        print("  coffee()")
        print(f"    -> {text_of(await client.call_tool('coffee'))}")

        print("  roast(), cancelled after a moment")
        roast = asyncio.create_task(client.call_tool("roast"))
        await asyncio.sleep(0.3)
        roast.cancel()
        try:
            await roast
        except asyncio.CancelledError:
            print("    -> cancelled")
        print(f"  still there: {text_of(await client.call_tool('bake', {'loaves': 1}))}")


async def main() -> None:
    # The server's own lines come through stderr: keep both in order.
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    for revision in ("2025-11-25", "2026-07-28"):
        await show(revision)


asyncio.run(main())
