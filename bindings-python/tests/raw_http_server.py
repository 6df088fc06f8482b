"""An MCP server over HTTP written by hand, of either era, with the manners and bad manners tests need."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from http_script import Exchange, HttpScript

MODERN, LEGACY = "2026-07-28", "2025-11-25"
PREFIX = "io.modelcontextprotocol/"
CAPABILITIES = {
    "tools": {"listChanged": True},
    "resources": {"subscribe": True, "listChanged": True},
    "prompts": {"listChanged": True},
    "logging": {},
}
INFO = {"name": "raw", "version": "7"}
QUESTIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "ask": ("elicitation/create", {"message": "Your name?", "requestedSchema": {"type": "object"}}),
    "sample": (
        "sampling/createMessage",
        {"messages": [{"role": "user", "content": {"type": "text", "text": "2+2?"}}], "maxTokens": 9},
    ),
    "roots": ("roots/list", {}),
}


def text(value: object) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": str(value)}]}


def notification(method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": "notifications/" + method, "params": params}


class RawServer(HttpScript):
    """A server of one era; `revision` is what it speaks in the legacy one."""

    def __init__(self, era: str = "modern", *, revision: str = LEGACY) -> None:
        super().__init__()
        self.is_modern = era == "modern"
        self.revision = revision
        self.sessions: set[str] = set()
        self.opened = 0
        #: Whether sessions are forgotten as soon as they are opened.
        self.forgets = False
        #: The stream of the session that belongs to no request.
        self.standalone: Exchange | None = None
        #: The streams of `subscriptions/listen`, by the ids of their requests.
        self.listening: dict[Any, Exchange] = {}
        #: Requests that were cancelled by a message.
        self.cancelled: set[Any] = set()
        self.level: str | None = None
        self._changed = asyncio.Event()
        self._answers: dict[Any, asyncio.Future[Any]] = {}

    # -- envelopes

    async def play(self, exchange: Exchange) -> None:
        if exchange.method == "DELETE":
            self.sessions.discard(exchange.headers.get("mcp-session-id", ""))
            return exchange.answer(204)
        session = exchange.headers.get("mcp-session-id")
        opens = exchange.rpc_method in ("server/discover", "initialize")
        if not (self.is_modern or opens or session in self.sessions):
            return exchange.answer(404)
        if exchange.method == "GET":
            return await self.stream(exchange)
        method = exchange.rpc_method
        if not method:
            self._answers.pop(exchange.message["id"]).set_result(exchange.message)
            return exchange.answer(202)
        if "id" not in exchange.message:
            return self.notified(exchange)
        params = exchange.message.get("params", {})
        if method == "tools/call":
            await getattr(self, "tool_" + params["name"])(exchange, params.get("arguments", {}))
            return
        handler = getattr(self, method.replace("/", "_").lower(), None)
        if handler is None:
            return self.refuse(exchange, -32601, "Method not found")
        await handler(exchange, params)

    async def stream(self, exchange: Exchange) -> None:
        """The stream that belongs to no request, or one that is resumed."""
        if self.is_modern:
            return exchange.answer(405)
        if "last-event-id" in exchange.headers:
            return await self.resume(exchange, exchange.headers["last-event-id"])
        exchange.open_stream()
        self.standalone = exchange
        await exchange.until_left()

    def notified(self, exchange: Exchange) -> None:
        if exchange.rpc_method == "notifications/cancelled":
            self.cancelled.add(exchange.message["params"]["requestId"])
            self.changed()
        exchange.answer(202)

    def changed(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    def result(self, exchange: Exchange, result: dict[str, Any]) -> dict[str, Any]:
        kind = {"resultType": "complete"} if self.is_modern else {}
        return {"jsonrpc": "2.0", "id": exchange.message["id"], "result": {**kind, **result}}

    def reply(self, exchange: Exchange, result: dict[str, Any], **headers: str) -> None:
        exchange.answer(200, self.result(exchange, result), headers)

    def refuse(self, exchange: Exchange, code: int, message: str) -> None:
        error = {"code": code, "message": message}
        exchange.answer(400, {"jsonrpc": "2.0", "id": exchange.message["id"], "error": error})

    # -- opening

    async def server_discover(self, exchange: Exchange, params: dict[str, Any]) -> None:
        if not self.is_modern:
            error = {"code": -32000, "message": "Bad Request: no session"}
            return exchange.answer(400, {"jsonrpc": "2.0", "id": None, "error": error})
        about = {"_meta": {PREFIX + "serverInfo": INFO}}
        self.reply(exchange, {"supportedVersions": [MODERN], "capabilities": CAPABILITIES, **about})

    async def initialize(self, exchange: Exchange, params: dict[str, Any]) -> None:
        self.opened += 1
        session = f"session-{self.opened}"
        if not self.forgets:
            self.sessions.add(session)
        result = {"protocolVersion": self.revision, "capabilities": CAPABILITIES, "serverInfo": INFO}
        exchange.answer(200, self.result(exchange, result), {"Mcp-Session-Id": session})

    async def logging_setlevel(self, exchange: Exchange, params: dict[str, Any]) -> None:
        self.level = params["level"]
        self.reply(exchange, {})

    # -- lists and changes

    async def tools_list(self, exchange: Exchange, params: dict[str, Any]) -> None:
        schema = {"type": "object", "properties": {"n": {"type": "object", "x-mcp-header": "N"}}}
        odd = {"name": "odd", "inputSchema": schema}
        sound = [{"name": name, "inputSchema": {"type": "object"}} for name in "ab"]
        self.reply(exchange, {"tools": [sound[0], odd, None, sound[1]]})

    async def resources_subscribe(self, exchange: Exchange, params: dict[str, Any]) -> None:
        self.reply(exchange, {})

    resources_unsubscribe = resources_subscribe

    async def subscriptions_listen(self, exchange: Exchange, params: dict[str, Any]) -> None:
        exchange.open_stream()
        self.listening[exchange.message["id"]] = exchange
        self.tell(exchange, "subscriptions/acknowledged", notifications=params["notifications"])
        await exchange.until_left()
        del self.listening[exchange.message["id"]]

    def tell(self, stream: Exchange | None, method: str, **params: Any) -> None:
        assert stream is not None
        meta = {"_meta": {PREFIX + "subscriptionId": stream.message["id"]}} if self.is_modern else {}
        stream.send(notification(method, **params, **meta))

    async def tool_change(self, exchange: Exchange, arguments: dict[str, Any]) -> None:
        for stream in self.listening.values() if self.is_modern else [self.standalone]:
            self.tell(stream, "tools/list_changed")
            self.tell(stream, "resources/updated", uri="r://1")
        self.reply(exchange, text("told"))

    # -- tools

    async def tool_echo(self, exchange: Exchange, arguments: dict[str, Any]) -> None:
        self.reply(exchange, text(arguments["text"]))

    async def tool_progress(self, exchange: Exchange, arguments: dict[str, Any]) -> None:
        token = exchange.message["params"]["_meta"]["progressToken"]
        exchange.open_stream()
        for n in (1, 2, 3):
            exchange.send(notification("progress", progressToken=token, progress=n, total=3))
        exchange.send(self.result(exchange, text("done")))
        exchange.close()

    async def tool_log(self, exchange: Exchange, arguments: dict[str, Any]) -> None:
        meta = exchange.message["params"].get("_meta", {})
        level = meta.get(PREFIX + "logLevel") if self.is_modern else self.level
        exchange.open_stream()
        if level is not None:
            exchange.send(notification("message", level=level, logger="l", data={"n": 1}))
        exchange.send(self.result(exchange, text(level)))
        exchange.close()

    async def tool_ask(self, exchange: Exchange, arguments: dict[str, Any]) -> None:
        method, params = QUESTIONS[exchange.message["params"]["name"]]
        given = exchange.message["params"].get("inputResponses")
        if self.is_modern and given is None:
            asked = {"k": {"method": method, "params": params}}
            return self.reply(
                exchange, {"resultType": "input_required", "inputRequests": asked, "requestState": "s"}
            )
        if self.is_modern:
            return self.reply(exchange, text(json.dumps(given["k"], sort_keys=True)))
        question = f"q{exchange.message['id']}"
        self._answers[question] = asyncio.get_running_loop().create_future()
        exchange.open_stream()
        exchange.send({"jsonrpc": "2.0", "id": question, "method": method, "params": params})
        answer = await self._answers[question]
        told = answer["result"] if "result" in answer else answer["error"]
        exchange.send(self.result(exchange, text(json.dumps(told, sort_keys=True))))
        exchange.close()

    tool_sample = tool_roots = tool_ask

    async def tool_hang(self, exchange: Exchange, arguments: dict[str, Any]) -> None:
        """Reports progress once, and is never done: `end` of the exchange tells how it was given up."""
        exchange.open_stream()
        token = exchange.message["params"].get("_meta", {}).get("progressToken")
        if token is not None:
            exchange.send(notification("progress", progressToken=token, progress=1))
        if self.is_modern:
            return await exchange.until_left()
        while exchange.message["id"] not in self.cancelled:
            await self._changed.wait()
        exchange.close()
        exchange.end = "cancelled"

    async def tool_forget(self, exchange: Exchange, arguments: dict[str, Any]) -> None:
        """All sessions are lost, and the streams with them."""
        self.sessions.clear()
        self.forgets = arguments.get("for_good", False)
        self.reply(exchange, text("forgotten"))
        if self.standalone is not None:
            self.standalone.drop()

    async def tool_break(self, exchange: Exchange, arguments: dict[str, Any]) -> None:
        """Breaks off where it is told to."""
        where = arguments["where"]
        if where != "before the head":
            exchange.open_stream()
        if where == "after an event":
            exchange.send(notification("message", level="info", data="x"), id="stream-1-1")
        if where == "in an event":
            exchange.write(b'id: stream-1-1\ndata: {"jsonrpc":')
        await exchange.drain()
        exchange.drop()

    async def resume(self, exchange: Exchange, after: str) -> None:
        request = self.of("tools/call")[-1]
        exchange.open_stream()
        exchange.send(self.result(request, text(f"after {after}")), id="stream-1-2")
        exchange.close()

    async def tool_status(self, exchange: Exchange, arguments: dict[str, Any]) -> None:
        """Answers with a status, and whatever body it is told to."""
        headers = arguments.get("headers", {})
        exchange.answer(arguments["status"], arguments.get("body", "").encode(), headers)
