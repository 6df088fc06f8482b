"""Real HTTP servers around the applications: uvicorn, hypercorn, Starlette, FastAPI-like mounts, Flask."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import logging
import os
import re
import signal
import socket
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from barewire import Client, Context, Progress, Server, SyncContext
from http_peer import LEGACY, MODERN, PATIENCE, parse

_KEY = "io.modelcontextprotocol/"


def make_server(**options: Any) -> Server:
    server = Server("s", version="1", **options)

    @server.tool
    async def steps(context: Context, count: int) -> str:
        for step in range(count):
            await context.progress(step + 1, count)
        return "done"

    @server.tool
    async def forever(context: Context) -> None:
        await context.progress(1)
        try:
            await asyncio.Event().wait()
        finally:
            gone.append(context.cancelled)

    @server.tool
    def threaded(context: SyncContext, text: str) -> str:
        answer = context.elicit("Sure?", {"type": "object", "properties": {"yes": {"type": "boolean"}}})
        return f"{text} {answer.action}"

    gone: list[bool] = []
    server.gone = gone  # type: ignore[attr-defined]
    return server


async def tour(url: str, *, threads: bool = True) -> None:
    """What a client does, in both eras; worker threads stay until the application is closed."""
    for revisions in ([LEGACY], [MODERN]):
        seen: list[Progress] = []
        async with Client(url, revisions=revisions, on_elicit=lambda question: {"yes": True}) as client:
            assert {tool.name for tool in await client.list_tools()} == {"steps", "forever", "threaded"}
            result = await client.call_tool("steps", {"count": 3}, on_progress=seen.append)
            assert first_text(result) == "done"
            assert [progress.progress for progress in seen] == [1, 2, 3]
            seen.clear()
            if threads:
                result = await client.call_tool("threaded", {"text": "a"})
                assert first_text(result) == "a accept"


def first_text(result: Any) -> Any:
    return result.content[0].text


@contextlib.contextmanager
def under_uvicorn(app: Any, **options: Any) -> Iterator[int]:
    """uvicorn in a thread."""
    import uvicorn

    config = uvicorn.Config(app, "127.0.0.1", 0, log_level="warning", **options)
    host = uvicorn.Server(config)
    thread = threading.Thread(target=host.run)
    thread.start()
    try:
        wait_until(lambda: host.started or not thread.is_alive())
        assert thread.is_alive()
        yield host.servers[0].sockets[0].getsockname()[1]
    finally:
        host.should_exit = True
        thread.join(PATIENCE)
        assert not thread.is_alive()


def wait_until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)


def request(tool: str, arguments: dict[str, Any]) -> tuple[bytes, dict[str, str]]:
    meta = {
        _KEY + "protocolVersion": MODERN,
        _KEY + "clientInfo": {"name": "c", "version": "1"},
        _KEY + "clientCapabilities": {},
        "progressToken": 1,
    }
    params = {"name": tool, "arguments": arguments, "_meta": meta}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode()
    headers = {
        "content-type": "application/json",
        "accept": "application/json, text/event-stream",
        "mcp-protocol-version": MODERN,
        "mcp-method": "tools/call",
        "mcp-name": tool,
    }
    return body, headers


def open_call(port: int, tool: str, path: str = "/mcp", **arguments: Any) -> http.client.HTTPResponse:
    """Call a tool over a connection of its own; closing the response closes that."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    body, headers = request(tool, arguments)
    connection.request("POST", path, body, headers | {"connection": "close"})
    return connection.getresponse()


# ---------------------------------------------------------------- ASGI


def test_uvicorn() -> None:
    with under_uvicorn(make_server().asgi()) as port:
        asyncio.run(tour(f"http://127.0.0.1:{port}/mcp"))


def test_uvicorn_without_a_lifespan() -> None:
    with under_uvicorn(make_server().asgi(), lifespan="off") as port:
        asyncio.run(tour(f"http://127.0.0.1:{port}/mcp", threads=False))


def test_uvicorn_sees_a_client_leave() -> None:
    server = make_server()
    with under_uvicorn(server.asgi()) as port:
        response = open_call(port, "forever")
        assert b"notifications/progress" in response.read1()
        response.close()
        wait_until(lambda: server.gone == [True])  # type: ignore[attr-defined]


def test_a_slow_reader_delays_nobody_else() -> None:
    server = make_server()

    @server.tool
    async def floods(context: Context) -> str:
        for step in range(1, 3001):
            await context.progress(step, message="x" * 4000)
        return "done"

    with under_uvicorn(server.asgi()) as port:
        slow = open_call(port, "floods")
        first = slow.read1()
        for _ in range(20):
            assert b"done" in open_call(port, "steps", count=1).read()
        rest = first + slow.read()
        messages = [json.loads(data) for _, data in parse(rest) if data]
        assert [message["params"]["progress"] for message in messages[:-1]] == list(range(1, 3001))


def test_mounted_in_starlette() -> None:
    from starlette.applications import Starlette
    from starlette.responses import PlainTextResponse
    from starlette.routing import Mount, Route

    log: list[str] = []

    @contextlib.asynccontextmanager
    async def lifespan(server: Server) -> AsyncIterator[None]:
        log.append("enter")
        yield
        log.append("leave")

    mcp = make_server(lifespan=lifespan).asgi(path=None)
    other = make_server().asgi()

    async def home(request: Any) -> PlainTextResponse:
        return PlainTextResponse("home")

    @contextlib.asynccontextmanager
    async def both(app: Any) -> AsyncIterator[None]:
        async with mcp.lifespan(app), other.lifespan(app):
            yield

    app = Starlette(
        routes=[Route("/", home), Mount("/tools", mcp), Mount("/api", other)],
        lifespan=both,
    )
    with under_uvicorn(app) as port:
        assert log == ["enter"]
        asyncio.run(tour(f"http://127.0.0.1:{port}/tools/"))
        asyncio.run(tour(f"http://127.0.0.1:{port}/api/mcp"))
    assert log == ["enter", "leave"]


def test_starlette_test_client_without_a_lifespan() -> None:
    from starlette.applications import Starlette
    from starlette.routing import Mount
    from starlette.testclient import TestClient

    log: list[str] = []

    @contextlib.asynccontextmanager
    async def lifespan(server: Server) -> AsyncIterator[None]:
        log.append("enter")
        try:
            yield
        finally:
            log.append("leave")

    app = Starlette(routes=[Mount("/", make_server(lifespan=lifespan).asgi())])
    client = TestClient(app, base_url="http://localhost")
    body, headers = request("steps", {"count": 1})
    for _ in range(2):  # each on a loop of its own
        assert "done" in client.post("/mcp", content=body, headers=headers).text
    assert log == ["enter", "leave"] * 2


def test_hypercorn() -> None:
    from hypercorn.asyncio import serve
    from hypercorn.config import Config

    server = make_server()

    async def test() -> None:
        listener = socket.create_server(("127.0.0.1", 0))
        port = listener.getsockname()[1]
        config = Config()
        config.bind = [f"fd://{listener.detach()}"]
        config.loglevel = "WARNING"
        end = asyncio.Event()

        async def until_end() -> None:
            await end.wait()

        serving = asyncio.ensure_future(
            serve(server.asgi(), config, shutdown_trigger=until_end)  # type: ignore[arg-type]
        )
        await tour(f"http://127.0.0.1:{port}/mcp")
        response = await asyncio.to_thread(open_call, port, "forever")
        assert b"notifications/progress" in await asyncio.to_thread(response.read1)
        response.close()
        await asyncio.to_thread(wait_until, lambda: server.gone == [True])  # type: ignore[attr-defined]
        end.set()
        await asyncio.wait_for(serving, PATIENCE)

    asyncio.run(test())


def is_open(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def told_port(hear: Callable[[], str]) -> int:
    """The port that a server chose, which it tells when it listens. `hear` gives what it has said of late."""
    said = ""
    end = time.monotonic() + PATIENCE
    while (found := re.search(r"http://[\d.]+:(\d+)", said)) is None:
        assert time.monotonic() < end, said
        time.sleep(0.005)
        said += hear()
    return int(found[1])


@contextlib.contextmanager
def as_process(command: list[str], folder: Path) -> Iterator[tuple[subprocess.Popen[bytes], int, Path]]:
    """A server in a process of its own, its port, and the file with what it says."""
    output = folder / "output"
    with output.open("wb") as sink:
        process = subprocess.Popen(command, cwd=folder, stdout=sink, stderr=subprocess.STDOUT)
    with output.open() as said:
        try:
            yield process, told_port(said.read), output
        finally:
            process.kill()
            process.wait()


# ---------------------------------------------------------------- processes and signals

APP = textwrap.dedent(
    """
    import asyncio, contextlib, sys
    import barewire

    @contextlib.asynccontextmanager
    async def lifespan(server):
        print("enter", flush=True)
        yield
        print("leave", flush=True)

    server = barewire.Server("s", version="1", lifespan=lifespan)

    @server.tool
    async def slow(context: barewire.Context, seconds: float) -> str:
        await context.progress(1)
        await asyncio.sleep(seconds)
        return "done"

    app = server.asgi()
    if __name__ == "__main__":
        server.run_http(port=int(sys.argv[1]))
    """
)
HOSTS = {
    "run_http": ["app.py", "0"],
    "uvicorn": ["-m", "uvicorn", "app:app", "--port", "0"],
    # Worker processes of hypercorn get no signal, and tell an application of the end after all responses.
    "hypercorn": ["-m", "hypercorn", "app:app", "--workers", "0", "--bind", "127.0.0.1:0"],
}


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_streams_but_not_calls(host: str, number: int, tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(APP)
    with as_process([sys.executable, *HOSTS[host]], tmp_path) as (process, port, output):
        session = handshake(port)
        stream = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
        stream.request("GET", "/mcp", headers={"accept": "text/event-stream", "mcp-session-id": session})
        listening = stream.getresponse()
        call = open_call(port, "slow", seconds=0.5)
        first = call.read1()
        process.send_signal(number)
        assert b"done" in first + call.read()
        listening.read()
        assert process.wait(PATIENCE) in ((0,) if host == "run_http" else (0, -number, 128 + number))
    text = output.read_text()
    assert "enter\n" in text and "leave\n" in text
    assert "Traceback" not in text and "ERROR" not in text, text


def test_a_client_that_reads_nothing_does_not_hold_up_the_end(tmp_path: Path) -> None:
    app = APP.replace('version="1"', 'version="1", timeouts=barewire.Timeouts(drain=0)')
    flood = "for step in range(100_000): await context.progress(step + 1, message='x' * 10_000)"
    (tmp_path / "app.py").write_text(app.replace("await context.progress(1)", flood))
    with as_process([sys.executable, "app.py", "0"], tmp_path) as (process, port, _):
        call = open_call(port, "slow", seconds=0)
        call.read(1)
        time.sleep(0.5)  # for what is between the two to fill
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0


def handshake(port: int) -> str:
    client = {"name": "c", "version": "1"}
    params = {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": client}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    headers = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
    connection.request("POST", "/mcp", body, headers)
    response = connection.getresponse()
    response.read()
    session = response.headers["mcp-session-id"]
    assert session is not None
    return session


def test_the_example_runs(tmp_path: Path) -> None:
    example = Path(__file__).parent.parent / "examples" / "http_server.py"

    async def talk(port: int) -> None:
        async with Client(f"http://localhost:{port}/mcp") as client:
            assert first_text(await client.call_tool("greet", {"name": "Ann"})) == "Hello, Ann!"

    with as_process([sys.executable, str(example.resolve()), "0"], tmp_path) as (process, port, _):
        asyncio.run(talk(port))
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0


def test_a_program_of_ones_own_serves_and_stops(capfd: pytest.CaptureFixture[str]) -> None:
    async def test() -> None:
        server = make_server()
        before = signal.getsignal(signal.SIGINT)
        serving = asyncio.ensure_future(server.serve_http(port=0))
        port = await asyncio.to_thread(told_port, lambda: capfd.readouterr().err)
        assert signal.getsignal(signal.SIGINT) == before
        await tour(f"http://127.0.0.1:{port}/mcp")
        serving.cancel()
        with pytest.raises(asyncio.CancelledError):
            await serving
        assert not is_open(port)

    asyncio.run(test())


def test_an_open_interface_wants_names(
    caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    async def test() -> None:
        with caplog.at_level(logging.WARNING, "barewire"):
            serving = asyncio.ensure_future(make_server().serve_http("0.0.0.0", 0))
            port = await asyncio.to_thread(told_port, lambda: capfd.readouterr().err)
        assert "allowed_hosts" in caplog.text

        def ask(host: str) -> int:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
            body, headers = request("steps", {"count": 1})
            connection.request("POST", "/mcp", body, headers | {"host": host})
            return connection.getresponse().status

        assert await asyncio.to_thread(ask, "evil.example") == 403
        assert await asyncio.to_thread(ask, f"localhost:{port}") == 200
        serving.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await serving

    asyncio.run(test())


def test_a_server_in_a_program_that_cannot_start_ends_nothing_but_itself() -> None:
    @contextlib.asynccontextmanager
    async def lifespan(server: Server) -> AsyncIterator[None]:
        raise LookupError("no database")
        yield

    async def test() -> None:
        with pytest.raises(LookupError, match="no database"):
            await Server("s", lifespan=lifespan).serve_http(port=0)
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            with pytest.raises(OSError, match="in use"):
                await Server("s").serve_http(port=taken.getsockname()[1])

    asyncio.run(test())


def test_the_address_of_the_endpoint_is_told(capfd: pytest.CaptureFixture[str]) -> None:
    async def test() -> None:
        said = ""

        def hear() -> str:
            nonlocal said
            said += (news := capfd.readouterr().err)
            return news

        serving = asyncio.create_task(Server("s").serve_http(port=0, path="/tools"))
        port = await asyncio.to_thread(told_port, hear)
        assert is_open(port)
        serving.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await serving
        said += capfd.readouterr().err
        assert f"http://127.0.0.1:{port}/tools" in said

    asyncio.run(test())


def test_the_extra_is_named_when_it_is_missing() -> None:
    code = textwrap.dedent(
        """
        import sys
        sys.modules["uvicorn"] = None
        import barewire
        try:
            barewire.Server("s").run_http()
        except ImportError as error:
            print(error)
        """
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "barewire[http]" in done.stdout


def test_standard_streams_load_nothing_of_http() -> None:
    code = textwrap.dedent(
        """
        import os, sys
        import barewire
        server = barewire.Server("s")
        @server.tool(inline=True)
        def add(a: int) -> int:
            return a
        server.run()
        print([name for name in sys.modules if "http" in name or name in ("asyncio", "uvicorn")])
        """
    )
    done = subprocess.run(
        [sys.executable, "-c", code], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=True
    )
    assert done.stderr.strip() == "[]"


# ---------------------------------------------------------------- WSGI


@contextlib.contextmanager
def under_werkzeug(app: Any) -> Iterator[int]:
    """The threaded server of Flask, in a thread."""
    from werkzeug.serving import make_server as make_http_server

    host = make_http_server("127.0.0.1", 0, app, threaded=True)
    thread = threading.Thread(target=host.serve_forever)
    thread.start()
    try:
        yield host.port
    finally:
        host.shutdown()
        thread.join(PATIENCE)
        host.server_close()


def test_flask() -> None:
    from flask import Flask
    from werkzeug.middleware.dispatcher import DispatcherMiddleware

    log: list[str] = []

    @contextlib.contextmanager
    def lifespan(server: Server) -> Iterator[None]:
        log.append("enter")
        yield
        log.append("leave")

    flask = Flask("home")
    mcp = make_server(lifespan=lifespan).wsgi(path=None)
    flask.wsgi_app = DispatcherMiddleware(flask.wsgi_app, {"/mcp": mcp})  # type: ignore[method-assign]

    @flask.route("/")
    def home() -> str:
        return "home"

    with under_werkzeug(flask) as port:
        asyncio.run(tour(f"http://127.0.0.1:{port}/mcp"))
        assert log == ["enter"]
        assert b"home" in get(port, "/")
        mcp.close()
        assert log == ["enter", "leave"]


def get(port: int, path: str) -> bytes:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    connection.request("GET", path)
    return connection.getresponse().read()


def test_wsgi_sees_a_client_leave() -> None:
    server = make_server()
    app = server.wsgi(keep_alive=20)
    with under_werkzeug(app) as port:
        response = open_call(port, "forever")
        assert b"notifications/progress" in response.read1()
        response.close()
        wait_until(lambda: server.gone == [True])  # type: ignore[attr-defined]
        app.close()


def test_wsgi_answers_many_threads() -> None:
    app = make_server().wsgi()
    failures: list[BaseException] = []

    def client() -> None:
        try:
            for _ in range(20):
                assert b"done" in b"".join(call_wsgi(app, *request("steps", {"count": 2})))
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=client) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    app.close()
    assert not failures


def call_wsgi(
    app: Any, body: bytes, headers: dict[str, str], seen: list[str] | None = None, **more: Any
) -> Any:
    import io

    environ = {
        "REQUEST_METHOD": "POST",
        "PATH_INFO": "/mcp",
        "HTTP_HOST": "localhost",
        "CONTENT_TYPE": headers["content-type"],
        "CONTENT_LENGTH": str(len(body)),
        "wsgi.input": io.BytesIO(body),
        **{
            "HTTP_" + name.upper().replace("-", "_"): value
            for name, value in headers.items()
            if name != "content-type"
        },
        **more,
    }
    return app(environ, lambda status, headers: None if seen is None else seen.append(status))


def test_wsgi_refuses_what_does_not_fit() -> None:
    app = make_server().wsgi(body_limit=1000, principal=lambda environ: environ.get("REMOTE_USER"))
    body, headers = request("steps", {"count": 1})
    seen: list[str] = []
    for more in (
        {},
        {"PATH_INFO": "/other"},
        {"HTTP_HOST": "evil.example"},
        {"REQUEST_METHOD": "PUT"},
        {"CONTENT_LENGTH": "100000"},
    ):
        b"".join(call_wsgi(app, body, headers, seen, **more))
    b"".join(call_wsgi(app, b" " * 2000, headers, seen, CONTENT_LENGTH="", **{"wsgi.input_terminated": True}))
    assert [status.split()[0] for status in seen] == ["200", "404", "403", "405", "413", "413"]
    app.close()
    b"".join(call_wsgi(app, body, headers, seen))  # it begins anew
    assert seen[-1].startswith("200")
    app.close()


def test_wsgi_tells_when_it_cannot_begin() -> None:
    @contextlib.contextmanager
    def lifespan(server: Server) -> Iterator[None]:
        raise RuntimeError("no database")
        yield

    app = make_server(lifespan=lifespan).wsgi()
    with pytest.raises(RuntimeError, match="no database"):
        call_wsgi(app, *request("steps", {"count": 1}))


def test_the_process_ends_with_wsgi_streams_open() -> None:
    code = textwrap.dedent(
        """
        import sys, threading
        sys.path.insert(0, sys.argv[1])
        from test_http_hosts import call_wsgi, make_server, request
        from barewire import Timeouts
        app = make_server(timeouts=Timeouts(drain=10)).wsgi()
        body = call_wsgi(app, *request("forever", {}))
        print(next(iter(body)))
        """
    )
    environment = os.environ | {"PYTHONFAULTHANDLER": "1"}
    here = str(Path(__file__).parent)
    done = subprocess.run(
        [sys.executable, "-c", code, here], capture_output=True, text=True, timeout=PATIENCE, env=environment
    )
    assert done.returncode == 0 and "progress" in done.stdout, done.stderr


@pytest.fixture(autouse=True)
def no_thread_is_left() -> Iterator[None]:
    """What is closed leaves no thread of ours behind."""
    yield
    wait_until(lambda: not any(thread.name.startswith("barewire") for thread in threading.enumerate()))
