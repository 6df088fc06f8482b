"""The C examples over HTTP against peers good and bad, under the sanitizers of addresses and behaviour."""

from __future__ import annotations

import contextlib
import http.client
import http.server
import json
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import barewire
import building
import pytest
from barewire import sansio, sync

sys.path.insert(0, str(building.ROOT / "tests"))

import c_env

SANITIZERS = ["-g", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
LEGACY = "2025-11-25"


def compile_example(folder: Path, name: str, library: str, *parts: str) -> Path:
    if packages := c_env.missing():
        pytest.skip(f"not installed: {' and '.join(packages)}")
    sources = [building.EXAMPLES / f"{part}.c" for part in (name, f"{name}_host", "host", *parts)]
    return building.build(folder / name, sources, *SANITIZERS, libraries=[library])


@pytest.fixture(scope="session")
def server_program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_example(tmp_path_factory.mktemp("server"), "http_server", "-lmicrohttpd")


@pytest.fixture(scope="session")
def client_program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("client")
    return compile_example(folder, "http_client", "-lcurl", "authorization", "token_store", "loopback")


@pytest.fixture
def port(server_program: Path) -> Iterator[int]:
    with building.serving(server_program) as port:
        yield port


def url(port: int) -> str:
    return f"http://127.0.0.1:{port}/mcp"


def greet(port: int) -> None:
    with sync.Client(url(port)) as client:
        assert client.call_tool("greet", {"name": "you"}).content == [barewire.Text("Hello, you!")]


# ---------------------------------------------------------------- the server


@pytest.mark.parametrize("revision", sansio.REVISIONS)
def test_server_speaks_every_revision(port: int, revision: str) -> None:
    reports: list[str | None] = []
    with sync.Client(url(port), revisions=[revision]) as client:
        assert client.revision == revision
        assert [tool.name for tool in client.tools()] == ["greet", "deploy", "count_down"]
        arguments = {"from": 3, "milliseconds": 20}
        result = client.call_tool("count_down", arguments, on_progress=lambda p: reports.append(p.message))
        assert result.content == [barewire.Text("Lift-off!")]
    # Clients of 2024-11-05 are told of progress without words.
    assert reports == ([None] * 3 if revision == "2024-11-05" else ["3", "2", "1"])


@pytest.mark.parametrize("revision", [revision for revision in sansio.REVISIONS if revision >= "2025-06-18"])
def test_server_asks_the_user(port: int, revision: str) -> None:
    decline: barewire.ElicitResult[Any] = barewire.ElicitResult("decline", None)
    answers = [
        ({"confirm": True}, "deployed"),
        ({"confirm": False}, "left as it is"),
        (decline, "left as it is"),
    ]
    for answer, outcome in answers:

        def answered(_: barewire.ElicitRequest, answer: Any = answer) -> Any:
            return answer

        with sync.Client(url(port), revisions=[revision], on_elicit=answered) as client:
            assert client.call_tool("deploy", {}).content == [barewire.Text(outcome)]
    with sync.Client(url(port), revisions=[revision]) as client:
        assert client.call_tool("deploy", {}).content == [barewire.Text("there is nobody to ask")]


class Raw:
    """A legacy client that is no better than plain HTTP."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.session: dict[str, str] = {}
        identity = {"name": "raw", "version": "1"}
        params = {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": identity}
        with closing(self.post({"id": 1, "method": "initialize", "params": params})) as response:
            self.session = {"mcp-session-id": response.headers["mcp-session-id"]}
        self.post({"method": "notifications/initialized"}).close()

    def send(self, method: str, body: bytes | None, headers: dict[str, str]) -> http.client.HTTPResponse:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        connection.request(method, "/mcp", body, {**self.session, **headers})
        return connection.getresponse()

    def post(self, message: dict[str, Any]) -> http.client.HTTPResponse:
        accept = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
        return self.send("POST", json.dumps({"jsonrpc": "2.0", **message}).encode(), accept)

    def resume(self, last: str) -> http.client.HTTPResponse:
        return self.send("GET", None, {"accept": "text/event-stream", "last-event-id": last})


def events(response: http.client.HTTPResponse) -> Iterator[tuple[str, Any]]:
    """Ids and messages of a stream."""
    name = ""
    for line in response:
        field, _, value = line.decode().strip().partition(": ")
        if field == "id":
            name = value
        elif field == "data" and value:
            yield name, json.loads(value)


def call(arguments: dict[str, Any]) -> dict[str, Any]:
    params = {"name": "count_down", "arguments": arguments, "_meta": {"progressToken": 1}}
    return {"id": 2, "method": "tools/call", "params": params}


def test_a_stream_goes_on_where_it_broke_off(port: int) -> None:
    client = Raw(port)
    first = client.post(call({"from": 4, "milliseconds": 100}))
    name, message = next(events(first))
    assert message["params"]["message"] == "4"
    first.close()
    rest = [message for _, message in events(client.resume(name))]
    assert [message["params"]["message"] for message in rest[:-1]] == ["3", "2", "1"]
    assert rest[-1]["result"]["content"][0]["text"] == "Lift-off!"


def test_who_does_not_read_holds_up_nobody(port: int) -> None:
    stuck = Raw(port).post(call({"from": 1_000_000, "milliseconds": 0}))
    time.sleep(0.5)
    greet(port)
    stuck.close()
    greet(port)


POST = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: */*\r\n"
INSULTS = {
    "nothing": b"",
    "noise": bytes(range(256)) * 20,
    "half a head": b"POST /mcp HTTP/1.1\r\nHos",
    "a long head": b"GET /mcp HTTP/1.1\r\nX: " + b"x" * 200_000 + b"\r\n\r\n",
    "many headers": b"GET /mcp HTTP/1.1\r\n" + b"X: y\r\n" * 5_000 + b"\r\n",
    "Latin-1": POST + b"X-Name: caf\xe9\r\nContent-Length: 2\r\n\r\n{}",
    "a target in Latin-1": b"GET /mcp\xe9?\xff HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "no body": POST + b"\r\n",
    "half a body": POST + b"Content-Length: 99\r\n\r\n{",
    "a body without end": POST + b"Content-Length: 18446744073709551615\r\n\r\n{",
    "a negative length": POST + b"Content-Length: -1\r\n\r\n{}",
    "too long a body": POST + b"Content-Length: 5000000\r\n\r\n" + b"[" * 5_000_000,
    "chunks without end": POST + b"Transfer-Encoding: chunked\r\n\r\n" + b"ffff\r\n" + b"[" * 0xFFFF,
    "broken chunks": POST + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n",
    "many chunks": POST
    + b"Transfer-Encoding: chunked\r\n\r\n"
    + (b"1000\r\n" + b"[" * 4096 + b"\r\n") * 2000,
    "a body that is not JSON": POST + b"Content-Length: 4\r\n\r\n\xff\xfe\x00{",
    "depth": POST + b"Content-Length: 100000\r\n\r\n" + b"[" * 100_000,
    "foreign method": b"BREW /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc",
    "foreign path": b"POST /coffee HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc",
    "two at once": (POST + b"Content-Length: 2\r\n\r\n{}") * 2,
    "HTTP/0.9": b"GET /mcp\r\n\r\n",
}


def insult(port: int, data: bytes, half_closes: bool) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        connection.settimeout(0.3)
        try:
            connection.sendall(data)
            if half_closes:
                connection.shutdown(socket.SHUT_WR)
            while connection.recv(65536):
                pass
        except OSError:  # who is insulted may hang up, or wait for more
            pass


def test_insults_are_borne(port: int) -> None:
    for data in INSULTS.values():
        insult(port, data, half_closes=False)
        insult(port, data, half_closes=True)
    greet(port)


# ---------------------------------------------------------------- the client


def run(*command: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=60, check=False)


def test_client_lists_and_calls(client_program: Path, port: int) -> None:
    listed = run(client_program, url(port))
    assert (listed.returncode, listed.stderr) == (0, "")
    assert listed.stdout.splitlines()[1:] == ["greet", "deploy", "count_down"]
    called = run(client_program, url(port), "count_down", '{"from": 2, "milliseconds": 20}')
    assert called.stdout.splitlines()[1:] == ["... 2", "... 1", "Lift-off!"]
    refused = run(client_program, url(port), "none")
    assert (refused.returncode, refused.stderr) == (1, "")


@contextmanager
def answering(answer: bytes) -> Iterator[str]:
    """A server with one answer to everything."""

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection:
                connection.recv(65536)
                connection.sendall(answer)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"
        listener.shutdown(socket.SHUT_RDWR)
    thread.join()


OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n"
STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n"
ANSWERS = {
    "nothing": b"",
    "noise": bytes(range(256)) * 20,
    "half a head": b"HTTP/1.1 200 OK\r\nConten",
    "no body": OK + b"Content-Length: 0\r\n\r\n",
    "a cut body": OK + b'Content-Length: 500\r\n\r\n{"jsonrpc"',
    "not JSON": OK + b"Content-Length: 3\r\n\r\n\xff\xfe{",
    "depth": OK + b"\r\n" + b"[" * 1_000_000,
    "Latin-1": OK + b"X-Name: caf\xe9\r\nMcp-Session-Id: \xff\r\nContent-Length: 2\r\n\r\n{}",
    "broken chunks": OK + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n",
    "trailers": OK + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nX-After: 1\r\n\r\n",
    "an interim head": b"HTTP/1.1 103 Early Hints\r\nLink: <x>\r\n\r\n" + OK + b"Content-Length: 2\r\n\r\n{}",
    "a redirect": b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n",
    "an event of noise": STREAM + b"\r\ndata: \xff\xfe\n\ndata: {}\n\nid: \x00\n\n",
    "an event without end": STREAM + b"\r\ndata: " + b"x" * 1_000_000,
    "a coding that lies": OK + b"Content-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}",
    "out of order": b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n",
}


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
def test_client_fails_politely(client_program: Path, answer: bytes) -> None:
    with answering(answer) as place:
        done = run(client_program, place)
    assert (done.returncode, done.stderr) == (1, ""), done
    assert "failed: " in done.stdout


# ---------------------------------------------------------------- servers of another make


class Answers(http.server.BaseHTTPRequestHandler):
    """Answers in JSON, and keeps quiet."""

    def answer(self, status: int, value: dict[str, Any]) -> None:
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


class Pages(Answers):
    """An MCP server with three pages of tools, and cursors that are long once they are decoded."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        result: dict[str, Any] = {"resultType": "complete", "ttlMs": 0, "cacheScope": "public"}
        if asked["method"] == "server/discover":
            result |= {
                "supportedVersions": ["2026-07-28"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "s", "version": "1"},
            }
        else:
            page = len(asked["params"].get("cursor", "")) // 100_000
            result["tools"] = [{"name": f"t{page}", "inputSchema": {"type": "object"}}]
            if page < 2:
                result["nextCursor"] = "\n" * 100_000 * (page + 1)
        self.answer(200, {"jsonrpc": "2.0", "id": asked["id"], "result": result})


def test_client_follows_long_cursors(client_program: Path) -> None:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pages) as pages:
        threading.Thread(target=pages.serve_forever, daemon=True).start()
        done = run(client_program, url(pages.server_address[1]))
        pages.shutdown()
    assert (done.returncode, done.stderr) == (0, ""), done
    assert done.stdout.splitlines()[1:] == ["t0", "t1", "t2"]


# ---------------------------------------------------------------- the user's browser, and strangers


class Issuer(Answers):
    """An MCP server that wants a token, and an authorization server of which nobody gets one."""

    def do_GET(self) -> None:
        base = f"http://{self.headers['host']}"
        if "oauth-protected-resource" in self.path:
            return self.answer(200, {"resource": base + "/mcp", "authorization_servers": [base]})
        endpoints = {
            f"{name}_endpoint": f"{base}/{name}" for name in ("authorization", "token", "registration")
        }
        self.answer(200, {"issuer": base, "code_challenge_methods_supported": ["S256"], **endpoints})

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        if self.path == "/registration":
            return self.answer(201, {**json.loads(body), "client_id": "me"})
        self.answer(401, {})


def loopback_port(page: str) -> int:
    """Where the browser is to come back to."""
    (redirect,) = parse_qs(page.partition("?")[2])["redirect_uri"]
    port = urlsplit(redirect).port
    assert port is not None
    return port


def test_the_loopback_receiver_bears_strangers(client_program: Path) -> None:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Issuer) as issuer:
        threading.Thread(target=issuer.serve_forever, daemon=True).start()
        process = subprocess.Popen(
            [client_program, url(issuer.server_address[1])], stderr=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert process.stderr is not None
        page = process.stderr.readline().decode()
        (state,) = parse_qs(page.partition("?")[2])["state"]
        at_loopback = partial(socket.create_connection, ("127.0.0.1", loopback_port(page)), 20)
        for _ in range(20):  # gone before they are answered
            with at_loopback() as stranger:
                stranger.sendall(b"GET /nothing HTTP/1.1\r\n\r\n")
                stranger.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        slow = at_loopback()
        begun = time.monotonic()
        with contextlib.suppress(OSError):  # a byte now and then, for ever
            while time.monotonic() < begun + 20:
                slow.sendall(b"G")
                time.sleep(0.5)
        assert time.monotonic() < begun + 15
        with at_loopback() as browser:
            browser.sendall(f"GET /callback?error=access_denied&state={state} HTTP/1.1\r\n\r\n".encode())
            assert browser.recv(100).startswith(b"HTTP/1.1 400")
        output, errors = process.communicate(timeout=30)
        issuer.shutdown()
    assert (process.returncode, b"not authorized" in errors) == (1, True), (output, errors)
