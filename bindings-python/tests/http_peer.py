"""A client that speaks raw HTTP to an ASGI application, in either era, without a server in between."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

from barewire import Server

#: Long enough for a loaded machine; a passing test never waits for it.
PATIENCE = 60.0
LEGACY, MODERN = "2025-11-25", "2026-07-28"
REVISIONS = ["2025-03-26", "2025-06-18", LEGACY, MODERN]
CAPABILITIES: dict[str, Any] = {"elicitation": {}, "sampling": {}, "roots": {}}
_KEY = "io.modelcontextprotocol/"
_SERVER_HEADERS = [(b"host", b"localhost:8000"), (b"user-agent", b"test")]

App = Callable[[Any, Any, Any], Awaitable[None]]
Message = dict[str, Any]


def make_server(**options: Any) -> Server:
    """A server with a tool of each kind, which gives back its text."""
    server = Server("s", version="1", **options)

    @server.tool(inline=True)
    def inline(text: str) -> str:
        return text

    @server.tool
    def threaded(text: str) -> str:
        return text

    @server.tool
    async def immediate(text: str) -> str:
        return text

    @server.tool
    async def waits(text: str) -> str:
        await asyncio.sleep(0.001)
        return text

    return server


class Exchange:
    """One request at an application: what it sends is kept, and can be held back as a slow client would."""

    def __init__(
        self,
        app: App,
        method: str,
        headers: list[tuple[bytes, bytes]],
        pieces: list[bytes],
        *,
        path: str = "/mcp",
        query: bytes = b"",
        root_path: str = "",
    ) -> None:
        self.status = 0
        self.headers: dict[str, str] = {}
        self.body = b""
        self.sent: list[dict[str, Any]] = []
        self.is_complete = False
        self.reads = asyncio.Event()  # cleared: the client takes nothing
        self.reads.set()
        self._gone = asyncio.Event()
        self._news = asyncio.Event()
        self._pieces = pieces
        self._read = 0  # bytes of the body that `events` has given
        scope = {
            "type": "http",
            "method": method,
            "path": path,
            "root_path": root_path,
            "query_string": query,
            "headers": [*_SERVER_HEADERS, *headers],
        }
        self.task = asyncio.get_running_loop().create_task(self._run(app, scope))

    async def _run(self, app: App, scope: dict[str, Any]) -> None:
        try:
            await app(scope, self._receive, self._send)
        finally:
            self._news.set()

    async def _receive(self) -> dict[str, Any]:
        if self._pieces:
            piece = self._pieces.pop(0)
            return {"type": "http.request", "body": piece, "more_body": bool(self._pieces)}
        await self._gone.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: dict[str, Any]) -> None:
        assert not self.is_complete, "sent after the end"
        await self.reads.wait()
        self.sent.append(message)
        if message["type"] == "http.response.start":
            assert self.status == 0, "started twice"
            self.status = message["status"]
            self.headers = {name.decode(): value.decode() for name, value in message["headers"]}
        else:
            assert self.status, "a body before the start"
            self.body += message["body"]
            self.is_complete = not message.get("more_body")
        self._news.set()

    def disconnect(self) -> None:
        """The client leaves."""
        self._gone.set()

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait until something is true of what was sent."""
        while not condition():
            assert not self.task.done(), "the response is over"
            self._news.clear()
            await asyncio.wait_for(self._news.wait(), PATIENCE)

    async def started(self) -> Exchange:
        """Wait for the head."""
        await self.until(lambda: self.status != 0)
        return self

    async def done(self) -> Exchange:
        """Wait for the end of the response."""
        await asyncio.wait_for(asyncio.shield(self.task), PATIENCE)
        assert self.is_complete
        return self

    async def answer(self) -> Message:
        """The JSON-RPC response, in a JSON body or as the last event."""
        await self.done()
        if self.is_stream:
            messages = [json.loads(data) for _, data in parse(self.body) if data]
            return next(message for message in reversed(messages) if "method" not in message)
        message: Message = json.loads(self.body)
        return message

    @property
    def is_stream(self) -> bool:
        """Whether the response is a stream of events."""
        return self.headers["content-type"].startswith("text/event-stream")

    @property
    def ids(self) -> list[str]:
        """The event ids so far."""
        return [event for event, _ in parse(self.body) if event]

    @property
    def messages(self) -> list[Message]:
        """The messages of the events so far."""
        return [json.loads(data) for _, data in parse(self.body) if data]

    async def next_message(self, number: int) -> Message:
        """The message of that number, once it is there."""
        await self.until(lambda: self.status != 0 and len(self.messages) > number)
        return self.messages[number]


def parse(body: bytes) -> list[tuple[str, str]]:
    """Ids and data of the events of a stream that is complete so far; comments are left out."""
    events = []
    for block in body.decode().split("\n\n"):
        fields = [line.partition(": ") for line in block.split("\n") if line and not line.startswith(":")]
        if any(name in ("id", "data") for name, _, _ in fields):
            values = {name: value for name, _, value in fields}
            events.append((values.get("id", ""), values.get("data", "")))
    return events


class HttpPeer:
    """Speaks `revision` with an application."""

    def __init__(
        self,
        app: App,
        revision: str = LEGACY,
        *,
        capabilities: dict[str, Any] = CAPABILITIES,
        headers: list[tuple[str, str]] | None = None,
        path: str = "/mcp",
        accept: str = "application/json, text/event-stream",
    ) -> None:
        self.app = app
        self.revision = revision
        self.capabilities = capabilities
        self.session: str | None = None
        self.extra = headers or []
        self.path = path
        self.accept = accept
        self._id = 0

    @property
    def modern(self) -> bool:
        return self.revision == MODERN

    async def __aenter__(self) -> HttpPeer:
        if not self.modern:
            await self.handshake()
        return self

    async def __aexit__(self, *_: object) -> None:
        pass

    async def handshake(self) -> Message:
        client = {"name": "peer", "version": "1.0"}
        params = {"protocolVersion": self.revision, "capabilities": self.capabilities, "clientInfo": client}
        exchange = self.request("initialize", params)
        answer = await exchange.answer()
        self.session = exchange.headers.get("mcp-session-id")
        accepted = await self.post({"jsonrpc": "2.0", "method": "notifications/initialized"}).done()
        assert accepted.status == 202
        return answer

    def headers(self, message: Message | None = None) -> list[tuple[bytes, bytes]]:
        headers = [("accept", self.accept), *self.extra]
        if message is not None:
            headers.append(("content-type", "application/json"))
        if self.session is not None:
            headers += [("mcp-session-id", self.session), ("mcp-protocol-version", self.revision)]
        if self.modern and message is not None:
            headers += [("mcp-protocol-version", self.revision), ("mcp-method", message.get("method", ""))]
            params = message.get("params", {})
            name = params.get("name", params.get("uri"))
            if name is not None:
                headers.append(("mcp-name", name))
        return [(name.encode(), value.encode()) for name, value in headers]

    def post(self, message: Message, **options: Any) -> Exchange:
        """Post a message."""
        options = {"path": self.path, **options}
        return Exchange(self.app, "POST", self.headers(message), [json.dumps(message).encode()], **options)

    def request(self, method: str, params: dict[str, Any] | None = None, *, token: Any = None) -> Exchange:
        """Post a request."""
        self._id += 1
        params = dict(params or {})
        meta: dict[str, Any] = {}
        if self.modern:
            meta = {
                _KEY + "protocolVersion": self.revision,
                _KEY + "clientInfo": {"name": "peer", "version": "1.0"},
                _KEY + "clientCapabilities": self.capabilities,
                _KEY + "logLevel": "debug",
            }
        if token is not None:
            meta["progressToken"] = token
        if meta:
            params["_meta"] = meta
        return self.post({"jsonrpc": "2.0", "id": self._id, "method": method, "params": params})

    def call(
        self, tool: str, *, token: Any = None, more: dict[str, Any] | None = None, **arguments: Any
    ) -> Exchange:
        """Call a tool."""
        return self.request("tools/call", {"name": tool, "arguments": arguments, **(more or {})}, token=token)

    async def result(self, tool: str, **arguments: Any) -> Any:
        """Call a tool and give its text."""
        answer = await self.call(tool, **arguments).answer()
        return answer["result"]["content"][0]["text"]

    def get(self, last_event_id: str | None = None) -> Exchange:
        """Open the stream that belongs to no request, or resume one."""
        headers = self.headers()
        if last_event_id is not None:
            headers.append((b"last-event-id", last_event_id.encode()))
        return Exchange(self.app, "GET", headers, [b""], path=self.path)

    def delete(self) -> Exchange:
        """End the session."""
        return Exchange(self.app, "DELETE", self.headers(), [b""], path=self.path)


class running:
    """An application between the start and the end of its lifespan, as a host would drive it."""

    def __init__(self, app: App) -> None:
        self.app = app
        self.replies: list[dict[str, Any]] = []
        self._messages: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._replies: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> running:
        scope = {"type": "lifespan", "asgi": {"version": "3.0"}}

        async def run() -> None:
            await self.app(scope, self._messages.get, self._replies.put)

        self.task = asyncio.get_running_loop().create_task(run())
        reply = await self.tell("lifespan.startup")
        assert reply["type"] == "lifespan.startup.complete", reply["message"]
        return self

    async def __aexit__(self, *_: object) -> None:
        assert (await self.tell("lifespan.shutdown"))["type"] == "lifespan.shutdown.complete"
        assert self.task is not None
        await self.task

    async def tell(self, phase: str) -> dict[str, Any]:
        await self._messages.put({"type": phase})
        return await asyncio.wait_for(self._replies.get(), PATIENCE)


async def eventually(condition: Callable[[], bool]) -> None:
    """Wait until something becomes true."""

    async def poll() -> None:
        while not condition():
            await asyncio.sleep(0.001)

    await asyncio.wait_for(poll(), PATIENCE)


def run(test: Callable[[], Awaitable[None]]) -> None:
    """Run a test on a loop of its own; whatever is left behind fails it."""

    async def bounded() -> None:
        await asyncio.wait_for(test(), 3 * PATIENCE)
        left = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        assert not left, left

    asyncio.run(bounded())
