"""An HTTP server of few lines, in a thread of its own, that does with each exchange what a script says."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Any

from typing_extensions import Self

Headers = dict[str, str]


class Exchange:
    """One request, and the way to answer it."""

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        method: str,
        target: str,
        headers: Headers,
        body: bytes,
    ) -> None:
        self.method = method
        self.target = target
        self.headers = headers
        self.body = body
        self.message: Any = json.loads(body) if body else {}
        #: How it ended, as far as the server saw: `answered`, `dropped` or `left`.
        self.end = ""
        self._reader = reader
        self._writer = writer

    @property
    def rpc_method(self) -> str:
        """The method of the message; empty for an answer, and for a request without a body."""
        method: str = self.message.get("method", "")
        return method

    def answer(self, status: int, body: Any = None, headers: Headers | None = None) -> None:
        """The whole response: bytes, or anything else as JSON."""
        content = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        kind = {} if body is None or isinstance(body, bytes) else {"content-type": "application/json"}
        self._head(status, {**kind, "content-length": str(len(content)), **(headers or {})})
        self._writer.write(content)
        self.end = "answered"

    def open_stream(self, headers: Headers | None = None) -> None:
        """The head of a stream of events."""
        self._head(
            200, {"content-type": "text/event-stream", "transfer-encoding": "chunked", **(headers or {})}
        )

    def write(self, data: bytes) -> None:
        """Bytes of a stream."""
        self._writer.write(b"%x\r\n%b\r\n" % (len(data), data))

    async def drain(self) -> None:
        """Wait until the client has taken most of what was written."""
        await self._writer.drain()

    def send(self, message: Any, *, id: str | None = None) -> None:
        """An event of the stream; its id is only told if there is one."""
        told = "" if id is None else f"id: {id}\n"
        self.write(f"{told}data: {json.dumps(message)}\n\n".encode())

    def close(self) -> None:
        """End a stream in order."""
        self._writer.write(b"0\r\n\r\n")
        self.end = "answered"

    def drop(self) -> None:
        """Break the connection, whatever has been sent."""
        self.end = "dropped"
        self._writer.close()

    async def until_left(self) -> None:
        """Wait until the client closes the connection."""
        while await self._read_on():
            pass
        self.end = "left"

    async def _read_on(self) -> bytes:
        try:
            return await self._reader.read(1)
        except ConnectionError:
            return b""

    def _head(self, status: int, headers: Headers) -> None:
        lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}", *(f"{n}: {v}" for n, v in headers.items())]
        self._writer.write("\r\n".join([*lines, "", ""]).encode())


class HttpScript:
    """Hands each request to `play`. Where that has answered in full, the connection goes on."""

    def __init__(self, play: Callable[[Exchange], Awaitable[None]] | None = None) -> None:
        self._play = play
        #: All requests, in the order in which they came.
        self.seen: list[Exchange] = []
        #: What the script itself raised.
        self.errors: list[BaseException] = []
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._tasks: set[asyncio.Task[None]] = set()
        self._address = ("127.0.0.1", 0)

    async def play(self, exchange: Exchange) -> None:
        """What to do with a request."""
        assert self._play is not None
        await self._play(exchange)

    @property
    def origin(self) -> str:
        return "http://{}:{}".format(*self._address)

    @property
    def url(self) -> str:
        return self.origin + "/mcp"

    def of(self, rpc_method: str) -> list[Exchange]:
        """The exchanges whose messages had this method."""
        return [exchange for exchange in self.seen if exchange.rpc_method == rpc_method]

    def __enter__(self) -> Self:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._listen(), self._loop).result()
        return self

    def __exit__(self, *error: object) -> None:
        asyncio.run_coroutine_threadsafe(self._end(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        assert not self.errors, self.errors

    def call(self, function: Callable[[], object]) -> None:
        """Call a function in the thread of the server."""
        self._loop.call_soon_threadsafe(function)

    def stop(self) -> None:
        """Take no more connections, and break those that there are."""
        asyncio.run_coroutine_threadsafe(self._end(), self._loop).result()

    async def _listen(self) -> None:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self._address = self._server.sockets[0].getsockname()

    async def _end(self) -> None:
        self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            while await self._serve(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        except BaseException as error:
            self.errors.append(error)
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Serve one request. False when the connection is to be closed."""
        head = await reader.readuntil(b"\r\n\r\n")
        first, *lines = head.decode().removesuffix("\r\n\r\n").split("\r\n")
        method, target, _ = first.split(" ")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        exchange = Exchange(reader, writer, method, target, headers, body)
        self.seen.append(exchange)
        await self.play(exchange)
        await writer.drain()
        return exchange.end == "answered"
