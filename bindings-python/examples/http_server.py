"""A server over HTTP in every revision: `python http_server.py [PORT]`, then http://localhost:8000/mcp.

It takes `pip install 'barewire[http]'`. `app` serves under any ASGI host, too: `uvicorn http_server:app`.
"""

import asyncio
import sys

from barewire import Context, Server

server = Server("greeter", version="1.0.0")


@server.tool
async def greet(name: str) -> str:
    """Greet someone."""
    return f"Hello, {name}!"


@server.tool
async def count(to: int, context: Context) -> str:
    """Count slowly, and say how far it is."""
    for number in range(1, to + 1):
        await context.progress(number, to)
        await asyncio.sleep(0.1)
    return "done"


app = server.asgi()

if __name__ == "__main__":
    server.run_http(port=int(sys.argv[1]) if len(sys.argv) > 1 else 8000)
