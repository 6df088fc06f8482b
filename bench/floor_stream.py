"""The least that an ASGI app does for a call that reports progress: one event a send, no MCP rules.

usage: floor_stream.py PORT
"""

from __future__ import annotations

import json
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import uvicorn

Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]

encode = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False).encode

HANDSHAKE = {
    "protocolVersion": "2025-11-25",
    "supportedVersions": ["2026-07-28"],
    "capabilities": {"tools": {}},
    "serverInfo": {"name": "floor", "version": "0"},
}


async def body(receive: Receive) -> Any:
    parts = []
    while True:
        event = await receive()
        parts.append(event.get("body", b""))
        if not event.get("more_body"):
            return json.loads(b"".join(parts))


async def answer(send: Send, status: int, kind: bytes, data: bytes) -> None:
    headers = [(b"content-type", kind), (b"content-length", str(len(data)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": data})


async def stream(send: Send, message: Any) -> None:
    headers = [(b"content-type", b"text/event-stream")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})

    async def event(value: Any, more: bool) -> None:
        data = b"data: " + encode(value).encode() + b"\n\n"
        await send({"type": "http.response.body", "body": data, "more_body": more})

    count, token = message["params"]["arguments"]["n"], message["params"]["_meta"]["progressToken"]
    for step in range(1, count + 1):
        params = {"progressToken": token, "progress": step, "total": count}
        await event({"jsonrpc": "2.0", "method": "notifications/progress", "params": params}, True)
    content = [{"type": "text", "text": f"sent {count}"}]
    await event({"jsonrpc": "2.0", "id": message["id"], "result": {"content": content}}, False)


async def app(scope: dict[str, Any], receive: Receive, send: Send) -> None:
    if scope["type"] == "lifespan":
        while True:
            event = await receive()
            await send({"type": event["type"] + ".complete"})
            if event["type"] == "lifespan.shutdown":
                return
    message = await body(receive)
    if "id" not in message:
        await answer(send, 202, b"text/plain", b"")
        return
    if message["method"] == "tools/call" and message["params"]["name"] == "progress":
        await stream(send, message)
        return
    result: Any = HANDSHAKE
    if message["method"] == "tools/call":
        arguments = message["params"]["arguments"]
        text = arguments["text"] if "text" in arguments else encode({"sum": arguments["a"] + arguments["b"]})
        result = {"content": [{"type": "text", "text": text}]}
    reply = {"jsonrpc": "2.0", "id": message["id"], "result": result}
    await answer(send, 200, b"application/json", encode(reply).encode())


if __name__ == "__main__":
    uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="warning")
