"""The smallest client: starts the server beside this file and calls its tool."""

import asyncio
import sys
from pathlib import Path

import barewire

SERVER = Path(__file__).with_name("hello_server.py")


async def main() -> None:
    async with barewire.Client(command=[sys.executable, str(SERVER)]) as client:
        result = await client.call_tool("greet", {"name": "world"})
        for block in result.content:
            if isinstance(block, barewire.Text):
                print(block.text)


asyncio.run(main())
