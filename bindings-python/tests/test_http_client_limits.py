"""The client over HTTP where things go wrong, end early, come in numbers or want credentials."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import barewire
import httpx2
import pytest
import trio
from barewire import sync
from barewire._client import Client
from barewire._errors import (
    ConnectionLostError,
    HttpStatusError,
    RpcError,
    ServerUnavailableError,
    UnauthorizedError,
)
from client_harness import FLAVOURS, PATIENCE, Run, until
from http_script import Exchange, HttpScript
from raw_http_server import INFO, LEGACY, RawServer

CALLS = 200


@pytest.fixture(params=list(FLAVOURS))
def run(request: pytest.FixtureRequest) -> Run:
    return FLAVOURS[request.param]


@pytest.fixture(params=["modern", "legacy"])
def server(request: pytest.FixtureRequest) -> Iterator[RawServer]:
    with RawServer(request.param) as server:
        yield server


def words(result: barewire.CallToolResult) -> str:
    (block,) = result.content
    assert isinstance(block, barewire.Text)
    return block.text


async def never(client: Any) -> None:
    raise AssertionError("it connected")


async def echo(client: Any) -> None:
    assert words(await client.call_tool("echo", {"text": "hi"})) == "hi"


# ---------------------------------------------------------------- servers that are not there, or no servers


def test_a_server_that_is_not_there(run: Run) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and nobody listens
        url = "http://{}:{}/mcp".format(*taken.getsockname())
        with pytest.raises(ConnectionError) as caught:
            run(never, url.replace("://", "://user:secret@") + "?token=secret")
    told = str(caught.value)
    assert told.startswith(f"{url}: the server cannot be reached: ")
    assert "secret" not in told
    assert type(caught.value) is ConnectionLostError
    assert isinstance(caught.value.__cause__, httpx2.ConnectError)


def test_a_server_that_goes_away(run: Run, server: RawServer) -> None:
    async def scenario(client: Any) -> None:
        await echo(client)
        server.stop()
        with pytest.raises(ConnectionLostError) as caught:
            await client.call_tool("echo", {"text": "hi"})
        assert isinstance(caught.value.__cause__, httpx2.HTTPError)

    run(scenario, server.url)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (200, HttpStatusError),
        (401, UnauthorizedError),
        (403, UnauthorizedError),
        (404, HttpStatusError),
        (418, HttpStatusError),
        (429, ServerUnavailableError),
        (500, ServerUnavailableError),
        (503, ServerUnavailableError),
    ],
)
def test_what_is_no_server(run: Run, status: int, kind: type[HttpStatusError]) -> None:
    async def play(exchange: Exchange) -> None:
        exchange.answer(status, b"<html>", {"content-type": "text/html"})

    with HttpScript(play) as script:
        with pytest.raises(HttpStatusError) as caught:
            run(never, script.url)
        assert type(caught.value) is kind
        assert caught.value.status == status
        assert str(caught.value).startswith(f"{script.url}: ")
        assert str(status) in str(caught.value)


def test_a_refused_handshake_is_told_as_it_is(run: Run) -> None:
    async def play(exchange: Exchange) -> None:
        error = {"code": -32000, "message": "not today"}
        exchange.answer(400, {"jsonrpc": "2.0", "id": exchange.message.get("id"), "error": error})

    with HttpScript(play) as script, pytest.raises(RpcError, match="not today"):
        run(never, script.url)


# ---------------------------------------------------------------- redirects


@pytest.mark.parametrize("status", [307, 308])
def test_a_redirect_within_the_origin_is_followed(run: Run, server: RawServer, status: int) -> None:
    play = server.play

    async def moved(exchange: Exchange) -> None:
        if exchange.target == "/mcp":
            exchange.answer(status, b"", {"location": "/mcp/"})
        else:
            await play(exchange)

    server.play = moved  # type: ignore[method-assign]
    run(echo, server.url)
    assert {exchange.target for exchange in server.seen[1:]} == {"/mcp/"}


@pytest.mark.parametrize(
    ("status", "location"), [(307, "http://elsewhere.example/mcp"), (302, "/login"), (301, "/mcp/")]
)
def test_other_redirects_are_refused_and_say_where_they_lead(run: Run, status: int, location: str) -> None:
    async def play(exchange: Exchange) -> None:
        exchange.answer(status, b"", {"Location": location})

    with HttpScript(play) as script:
        with pytest.raises(HttpStatusError) as caught:
            run(never, script.url)
        assert caught.value.status == status
        assert str(caught.value).endswith(f"(HTTP {status}); it redirects to {location}")
        assert len(script.seen) == 1


# ---------------------------------------------------------------- credentials, and clients of the application


class Token(httpx2.Auth):
    """Asks for a token when the server says that one is wanted."""

    def __init__(self) -> None:
        self.token = "stale"

    def auth_flow(self, request: httpx2.Request) -> Generator[httpx2.Request, httpx2.Response, None]:
        request.headers["Authorization"] = f"Bearer {self.token}"
        response = yield request
        if response.status_code == 401:
            self.token = "fresh"
            request.headers["Authorization"] = f"Bearer {self.token}"
            yield request


def test_credentials_of_httpx2(run: Run, server: RawServer) -> None:
    play = server.play

    async def guarded(exchange: Exchange) -> None:
        if exchange.headers.get("authorization") == "Bearer fresh":
            await play(exchange)
        else:
            exchange.answer(401, b"", {"www-authenticate": "Bearer"})

    server.play = guarded  # type: ignore[method-assign]
    run(echo, server.url, auth=Token())
    tokens = [exchange.headers["authorization"] for exchange in server.seen]
    assert tokens[:2] == ["Bearer stale", "Bearer fresh"]
    assert set(tokens[1:]) == {"Bearer fresh"}


def test_a_client_of_the_application_is_used_and_left_open(server: RawServer) -> None:
    async def main() -> None:
        async with httpx2.AsyncClient(headers={"x-mine": "2"}, timeout=None) as http:
            for _ in range(2):
                async with Client(server.url, http=http) as client:
                    await echo(client)
            assert not http.is_closed

    asyncio.run(main())
    assert {exchange.headers["x-mine"] for exchange in server.seen} == {"2"}


def test_a_server_of_the_same_process() -> None:
    server = barewire.Server("here", version="1")

    @server.tool
    async def greet(name: str, ctx: barewire.Context) -> str:
        """Greet someone."""
        await ctx.progress(1, 2)
        return f"Hello, {name}!"

    async def main() -> None:
        transport = httpx2.ASGITransport(app=server.asgi())
        seen: list[barewire.Progress] = []
        async with (
            httpx2.AsyncClient(transport=transport) as http,
            Client("http://localhost/mcp", http=http) as client,
        ):
            greeting = await client.call_tool("greet", {"name": "you"}, on_progress=seen.append)
            assert words(greeting) == "Hello, you!"
            assert len(seen) == 1

    asyncio.run(main())


def test_streams_of_a_client_of_the_application_have_no_read_timeout(server: RawServer) -> None:
    async def main() -> None:
        async with (
            httpx2.AsyncClient(timeout=httpx2.Timeout(5.0, read=0.05)) as http,
            Client(server.url, http=http) as client,
        ):
            with pytest.raises(TimeoutError):
                await client.call_tool("hang", timeout=0.3)

    asyncio.run(main())


def test_what_credentials_raise_is_the_cause(run: Run, server: RawServer) -> None:
    class Broken(httpx2.Auth):
        def auth_flow(self, request: httpx2.Request) -> Generator[httpx2.Request, httpx2.Response, None]:
            raise RuntimeError("no token")
            yield request

    with pytest.raises(ConnectionLostError) as caught:
        run(never, server.url, auth=Broken())
    assert str(caught.value.__cause__) == "no token"


def test_cancelling_all_of_trio_leaves_in_order(server: RawServer) -> None:
    async def main() -> None:
        with trio.move_on_after(0.3) as scope:
            async with Client(server.url, on_change=print) as client:
                await client.call_tool("hang")
        assert scope.cancelled_caught

    trio.run(main)


def test_options_of_http_are_for_urls() -> None:
    for kind in (Client, sync.Client):
        with pytest.raises(TypeError, match="are for a server at a URL"):
            kind(command=["x"], headers={"a": "b"})
        for url in ("ftp://h/", "http://", "http://h h/"):
            with pytest.raises(ValueError, match="is no URL of http or https"):
                kind(url)


def test_an_http_client_of_ones_own_is_asynchronous() -> None:
    async def enter() -> None:
        async with Client("http://localhost/mcp", http=httpx2.Client()):
            pass

    wrong = r"http is an httpx2\.AsyncClient, not httpx2\..*Client"
    with pytest.raises(TypeError, match=wrong):
        asyncio.run(enter())
    with pytest.raises(TypeError, match=wrong):
        trio.run(enter)
    with pytest.raises(TypeError, match=wrong), sync.Client("http://localhost/mcp", http=httpx2.Client()):
        pass
    assert "barewire-http" not in [thread.name for thread in threading.enumerate()]


# ---------------------------------------------------------------- many at once


async def many(client: Client, count: int) -> None:
    results = await asyncio.gather(*(client.call_tool("echo", {"text": str(n)}) for n in range(count)))
    assert [words(result) for result in results] == [str(n) for n in range(count)]


def test_many_calls_at_once_under_asyncio(server: RawServer) -> None:
    async def main() -> None:
        async with Client(server.url) as client:
            await many(client, CALLS)

    asyncio.run(main())


def test_many_calls_at_once_under_trio(server: RawServer) -> None:
    async def main() -> None:
        results: dict[int, str] = {}

        async def call(number: int) -> None:
            results[number] = words(await client.call_tool("echo", {"text": str(number)}))

        async with Client(server.url) as client, trio.open_nursery() as nursery:
            for number in range(CALLS):
                nursery.start_soon(call, number)
        assert results == {number: str(number) for number in range(CALLS)}

    trio.run(main)


def test_many_calls_at_once_in_threads(server: RawServer) -> None:
    with sync.Client(server.url) as client, ThreadPoolExecutor(20) as threads:

        def call(number: int) -> str:
            return words(client.call_tool("echo", {"text": str(number)}))

        assert list(threads.map(call, range(CALLS))) == [str(number) for number in range(CALLS)]


# ---------------------------------------------------------------- the end


def test_leaving_fails_what_is_in_flight_under_asyncio(server: RawServer) -> None:
    async def main() -> None:
        before = asyncio.all_tasks()
        async with Client(server.url) as client:
            hanging = [asyncio.create_task(client.call_tool("hang")) for _ in range(3)]
            await until(lambda: len(server.of("tools/call")) == 3, lambda: asyncio.sleep(0.01))
        for outcome in await asyncio.gather(*hanging, return_exceptions=True):
            assert isinstance(outcome, ConnectionLostError)
        with pytest.raises(ConnectionLostError):
            await client.call_tool("echo", {"text": ""})
        assert asyncio.all_tasks() == before

    asyncio.run(asyncio.wait_for(main(), PATIENCE))


def test_leaving_fails_what_is_in_flight_in_threads(server: RawServer) -> None:
    with ThreadPoolExecutor(3) as threads:
        with sync.Client(server.url) as client:
            hanging = [threads.submit(client.call_tool, "hang") for _ in range(3)]
            while len(server.of("tools/call")) < 3:
                time.sleep(0.01)
        for call in hanging:
            assert isinstance(call.exception(PATIENCE), ConnectionLostError)
    names = [thread.name for thread in threading.enumerate()]
    assert not [name for name in names if name.startswith("barewire")]


def test_a_server_that_never_answers_the_end_of_a_session_does_not_hold_up_the_client() -> None:
    with RawServer("legacy") as server:
        play = server.play

        async def hangs(exchange: Exchange) -> None:
            if exchange.method == "DELETE":
                await exchange.until_left()
            else:
                await play(exchange)

        server.play = hangs  # type: ignore[method-assign]
        since = time.monotonic()
        FLAVOURS["asyncio"](echo, server.url)
        assert time.monotonic() - since < PATIENCE / 2


@pytest.mark.parametrize("library", ["asyncio", "trio"])
def test_cancelling_the_task_that_waits_cancels_the_request(library: str, server: RawServer) -> None:
    async def asyncio_main() -> None:
        async with Client(server.url) as client:
            task = asyncio.create_task(client.call_tool("hang"))
            await until(lambda: server.of("tools/call"), lambda: asyncio.sleep(0.01))
            task.cancel()
            await asyncio.wait([task])
            assert task.cancelled()
            await until(lambda: server.of("tools/call")[0].end, lambda: asyncio.sleep(0.01))

    async def trio_main() -> None:
        async with Client(server.url) as client:
            with trio.CancelScope() as scope:

                async def cancel() -> None:
                    await until(lambda: server.of("tools/call"), lambda: trio.sleep(0.01))
                    scope.cancel()

                async with trio.open_nursery() as nursery:
                    nursery.start_soon(cancel)
                    await client.call_tool("hang")
            assert scope.cancelled_caught
            await until(lambda: server.of("tools/call")[0].end, lambda: trio.sleep(0.01))

    asyncio.run(asyncio_main()) if library == "asyncio" else trio.run(trio_main)
    assert server.of("tools/call")[0].end == ("left" if server.is_modern else "cancelled")


INTERRUPTED = """
import signal, sys
from barewire import sync
signal.signal(signal.SIGINT, signal.default_int_handler)  # some shells have it ignored
with sync.Client(sys.argv[1]) as client:
    try:
        client.call_tool("hang", on_progress=lambda _: print("hangs", flush=True))
    except KeyboardInterrupt:
        print(client.call_tool("echo", {"text": "goes on"}).content[0].text, flush=True)
"""


def test_control_c_cancels_the_call_that_blocks(server: RawServer) -> None:
    command = [sys.executable, "-W", "error", "-c", INTERRUPTED, server.url]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as program:
        assert program.stdout is not None
        assert program.stdout.readline() == "hangs\n"
        program.send_signal(signal.SIGINT)
        said, complained = program.communicate(timeout=PATIENCE)
    assert (said, complained, program.returncode) == ("goes on\n", "", 0)
    hanging = server.of("tools/call")[0]
    deadline = time.monotonic() + PATIENCE
    while not hanging.end and time.monotonic() < deadline:
        time.sleep(0.01)
    assert hanging.end == ("left" if server.is_modern else "cancelled")


EVERYTHING = """
import asyncio, gc, sys, threading
import barewire
from barewire import sync

async def everything(client):
    await client.call_tool("echo", {"text": ""})
    await client.call_tool("progress", on_progress=lambda _: None)
    async with client.subscribe(tools=True):
        pass
    try:
        await client.call_tool("hang", timeout=0.05)
    except TimeoutError:
        pass

async def main(url):
    async with barewire.Client(url, on_change=print) as client:
        await everything(client)

def blocking(url):
    with sync.Client(url, on_change=print) as client:
        client.call_tool("echo", {"text": ""})
        client.call_tool("progress", on_progress=lambda _: None)
        with client.subscribe(tools=True):
            pass
        try:
            client.call_tool("hang", timeout=0.05)
        except TimeoutError:
            pass

flavour, url = sys.argv[1:]
if flavour == "asyncio":
    asyncio.run(main(url))
elif flavour == "trio":
    import trio
    trio.run(main, url)
else:
    blocking(url)
assert [thread.name for thread in threading.enumerate()] in (
    ["MainThread"], ["MainThread", "Trio thread 0"]), threading.enumerate()
gc.collect()
"""


@pytest.mark.parametrize("flavour", list(FLAVOURS))
def test_nothing_is_left_behind(flavour: str, server: RawServer) -> None:
    command = [sys.executable, "-W", "error", "-c", EVERYTHING, flavour, server.url]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    assert (done.stdout, done.stderr, done.returncode) == ("", "", 0)


# ---------------------------------------------------------------- more than can be dealt with


class Flood(httpx2.AsyncByteStream):
    """Questions of a server without an end; counts those that were taken."""

    def __init__(self) -> None:
        self.taken = 0

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while True:
            self.taken += 1
            yield b'data: {"jsonrpc":"2.0","id":%d,"method":"ping"}\n\n' % self.taken
            await asyncio.sleep(0)


def test_a_flood_is_read_no_faster_than_its_answers_are_taken() -> None:
    flood = Flood()
    release = asyncio.Event()
    answered = 0

    async def respond(request: httpx2.Request) -> httpx2.Response:
        nonlocal answered
        events = {"content-type": "text/event-stream"}
        if request.method == "GET":
            return httpx2.Response(200, headers=events, stream=flood)
        message = json.loads(request.content)
        if message.get("method") == "initialize":
            result = {"protocolVersion": LEGACY, "capabilities": {}, "serverInfo": INFO}
            return httpx2.Response(200, json={"jsonrpc": "2.0", "id": message["id"], "result": result})
        if "result" in message:
            await release.wait()
            answered += 1
        return httpx2.Response(202)

    async def main() -> None:
        limits = barewire.Limits(requests_in_flight=4, queued_events=8)
        async with (
            httpx2.AsyncClient(transport=httpx2.MockTransport(respond)) as http,
            Client("http://h/mcp", http=http, era=LEGACY, limits=limits),
        ):
            before = -1
            while flood.taken > before:
                before = flood.taken
                for _ in range(200):
                    await asyncio.sleep(0)
            assert 8 <= flood.taken <= 20
            release.set()
            await until(lambda: answered > 100, lambda: asyncio.sleep(0))

    asyncio.run(asyncio.wait_for(main(), PATIENCE))


def test_a_result_that_is_too_long_fails_its_call_alone(run: Run, server: RawServer) -> None:
    async def scenario(client: Any) -> None:
        with pytest.raises(barewire.McpError):
            await client.call_tool("echo", {"text": "x" * 4_000})
        await echo(client)

    run(scenario, server.url, limits=barewire.Limits(message_bytes=3_000))
