"""The C example of a protected server, with an authorization server that answers as it is told."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from base64 import b64encode
from collections.abc import Iterator
from http.client import HTTPConnection, HTTPResponse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import parse_qs

import barewire
import building
import pytest
from barewire import sync

sys.path.insert(0, str(building.ROOT / "tests"))

import c_env

SANITIZERS = ["-g", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
PARTS = ["protected_server", "protection", "http_server_host", "host"]
ISSUER = "https://as.example"
SECRET = "se cret"
POSTED = {"accept": "application/json, text/event-stream", "content-type": "application/json"}


class Issuer(BaseHTTPRequestHandler):
    """What it says of tokens is what they are."""

    known: ClassVar[dict[str, dict[str, Any] | bytes]] = {}

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        (token,) = parse_qs(body.decode())["token"]
        expected = "Basic " + b64encode(b"me:se%20cret").decode()
        said = self.known.get(token, {"active": False})
        text = said if isinstance(said, bytes) else json.dumps(said).encode()
        self.send_response(200 if self.headers["authorization"] == expected else 401)
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if packages := c_env.missing():
        pytest.skip(f"not installed: {' and '.join(packages)}")
    sources = [building.EXAMPLES / f"{part}.c" for part in PARTS]
    target = tmp_path_factory.mktemp("protected") / "protected_server"
    return building.build(target, sources, *SANITIZERS, libraries=["-lmicrohttpd", "-lcurl"])


@pytest.fixture
def issuer() -> Iterator[str]:
    """Where tokens are asked about."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Issuer) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/introspect"
        server.shutdown()


@pytest.fixture
def port(program: Path, issuer: str) -> Iterator[int]:
    environment = {"CLIENT_ID": "me", "CLIENT_SECRET": SECRET}
    with building.serving(program, ISSUER, issuer, env=environment) as port:
        Issuer.known = {}
        yield port


def url(port: int) -> str:
    return f"http://127.0.0.1:{port}/mcp"


def claims(port: int, scope: str, subject: str = "ada", **more: object) -> dict[str, Any]:
    return {"active": True, "sub": subject, "aud": url(port), "scope": scope, "exp": 4_000_000_000, **more}


def bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


def ask(
    port: int, method: str, path: str, headers: dict[str, str], body: bytes | None = None
) -> HTTPResponse:
    if body is not None:
        headers = POSTED | headers
    connection = HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request(method, path, body, headers)
    return connection.getresponse()


def test_notes_belong_to_who_wrote_them(port: int) -> None:
    both = "notes:read notes:write"
    Issuer.known = {"a": claims(port, both), "b": claims(port, both, "bob"), "r": claims(port, "notes:read")}
    with sync.Client(url(port), headers=bearer("a")) as client:
        assert client.call_tool("add_note", {"text": 'milk "\n"'}).content == [barewire.Text("kept")]
        assert client.call_tool("list_notes", {}).content == [barewire.Text('milk "\n"')]
    with sync.Client(url(port), headers=bearer("b")) as client:
        assert client.call_tool("list_notes", {}).content == []
    # The same user with a token that allows less.
    with sync.Client(url(port), headers=bearer("r")) as client:
        assert client.call_tool("list_notes", {}).content == [barewire.Text('milk "\n"')]
        with pytest.raises(barewire.McpError) as refused:
            client.call_tool("add_note", {"text": "no"})
        assert "403" in str(refused.value)


def test_challenges_say_what_is_missing(port: int) -> None:
    Issuer.known = {"none": claims(port, ""), "r": claims(port, "notes:read")}
    response = ask(port, "POST", "/mcp", {}, b"{}")
    challenge = response.headers["www-authenticate"]
    assert response.status == 401 and 'scope="notes:read"' in challenge
    where = challenge.split('resource_metadata="')[1].split('"')[0]
    document = ask(port, "GET", where.removeprefix(f"http://127.0.0.1:{port}"), {})
    told = json.loads(document.read())
    assert document.headers["access-control-allow-origin"] == "*"
    assert (told["resource"], told["authorization_servers"]) == (url(port), [ISSUER])
    assert ask(port, "POST", "/.well-known/oauth-protected-resource", {}, b"{}").status == 405
    response = ask(port, "POST", "/mcp", bearer("none"), b"{}")
    assert response.status == 403 and "insufficient_scope" in response.headers["www-authenticate"]
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
    meta = {"protocolVersion": "2026-07-28", "clientCapabilities": {}}
    meta = {f"io.modelcontextprotocol/{name}": value for name, value in meta.items()}
    message["params"] = {"name": "add_note", "arguments": {"text": "x"}, "_meta": meta}
    headers = {"mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "add_note"}
    response = ask(port, "POST", "/mcp", headers | bearer("r"), json.dumps(message).encode())
    assert response.status == 403 and "notes:write" in response.headers["www-authenticate"]


@pytest.mark.parametrize(
    ("said", "status"),
    [
        ({"active": False}, 401),
        ({"sub": "ada"}, 401),
        ({"active": True, "sub": "ada", "scope": "notes:read", "aud": "https://other.example"}, 401),
        ({"active": True, "sub": "ada", "scope": "notes:read", "aud": "here", "iss": "https://other"}, 401),
        ({"active": True, "sub": "ada", "scope": "notes:read", "aud": "here", "exp": 1}, 401),
        (b"no JSON", 401),
        (b'{"active": true, ' + b" " * 300_000, 503),
    ],
)
def test_tokens_are_judged(port: int, said: Any, status: int) -> None:
    if isinstance(said, dict) and said.get("aud") == "here":
        said = {**said, "aud": url(port)}
    Issuer.known = {"t": said}
    response = ask(port, "POST", "/mcp", bearer("t"), b"{}")
    assert response.status == status
    assert (response.headers["www-authenticate"] is None) == (status == 503)


def test_browsers_ask_without_a_token(port: int) -> None:
    headers = {"origin": "http://localhost", "access-control-request-method": "POST"}
    assert ask(port, "OPTIONS", "/mcp", headers).status == 204


@pytest.mark.parametrize(
    "endpoint", ["http://as.example/x", "http://127.0.0.1:1@as.example/", "ftp://127.0.0.1/", "x"]
)
def test_tokens_are_told_to_nobody_else(program: Path, endpoint: str) -> None:
    environment = {"CLIENT_ID": "me", "CLIENT_SECRET": SECRET}
    done = subprocess.run([program, "1", ISSUER, endpoint], env=environment, capture_output=True, timeout=60)
    assert done.returncode == 2
