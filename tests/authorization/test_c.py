"""The C examples for HTTP with a real authorization server, under sanitizers of addresses and behaviour."""

from __future__ import annotations

import contextlib
import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from authorization_server import authorization_server
from protected import protected_server
from test_python import ACTS_FOR_ITSELF, INTROSPECTION
from user_agents import PATIENCE

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path += [str(ROOT / "tests"), str(ROOT / "bindings-c" / "tests")]

import building  # noqa: E402
import c_env  # noqa: E402

LOOPBACK_PORT = int(re.findall(r"LOOPBACK_PORT (\d+)", (building.EXAMPLES / "loopback.h").read_text())[0])
SANITIZERS = ["-g", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
SERVER = [*c_env.SERVER, building.EXAMPLES / "protected_server.c", building.EXAMPLES / "protection.c"]
SOURCES = [*c_env.CLIENT, building.EXAMPLES / "http_client.c", building.EXAMPLES / "loopback.c"]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if packages := c_env.missing():
        pytest.skip(f"not installed: {' and '.join(packages)}")
    program = tmp_path_factory.mktemp("c") / "http_client"
    return building.build(program, SOURCES, *SANITIZERS, libraries=["-lcurl"])


@pytest.fixture(scope="module")
def server(program: Path) -> Path:
    libraries = ["-lmicrohttpd", "-lcurl"]
    return building.build(program.with_name("protected_server"), SERVER, *SANITIZERS, libraries=libraries)


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with authorization_server(clients=[ACTS_FOR_ITSELF]) as server, protected_server([server.issuer]) as url:
        yield url


@pytest.fixture
def browser(tmp_path: Path) -> Path:
    """A folder with what opens pages, which also notes that it did."""
    folder = tmp_path / "bin"
    folder.mkdir()
    script = folder / "xdg-open"
    agent = Path(__file__).with_name("user_agents.py")
    script.write_text(f'#!/bin/sh\necho opened >> "{folder}/log"\nexec "{sys.executable}" "{agent}" "$1"\n')
    script.chmod(0o755)
    return folder


def call(program: Path, url: str, tool: str, *arguments: str, **environment: str) -> tuple[int, str]:
    """Call a tool: the exit status, and what it says at last."""
    done = subprocess.run(
        [program, url, tool, *arguments],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert "Sanitizer" not in done.stderr, done.stderr
    print(done.stderr)  # shown when the test fails
    return done.returncode, done.stdout.splitlines()[-1]


def test_a_user_logs_in_once(program: Path, url: str, browser: Path, tmp_path: Path) -> None:
    store = tmp_path / "tokens"
    environment = {"PATH": f"{browser}:{os.environ['PATH']}", "TOKEN_STORE": str(store)}
    assert call(program, url, "whoami", **environment) == (0, "alice")
    assert store.stat().st_mode & 0o077 == 0
    # The next process finds the token.
    assert call(program, url, "whoami", **environment) == (0, "alice")
    assert (browser / "log").read_text() == "opened\n"
    # More scopes, more questions.
    assert call(program, url, "write", **environment) == (0, "written by alice")
    assert (browser / "log").read_text() == "opened\n" * 2


def test_the_browser_comes_back_to_another_port_where_the_usual_one_is_taken(
    program: Path, url: str, browser: Path, tmp_path: Path
) -> None:
    environment = {"PATH": f"{browser}:{os.environ['PATH']}", "TOKEN_STORE": str(tmp_path / "tokens")}
    with socket.socket() as another:
        with contextlib.suppress(OSError):  # it is taken already
            another.bind(("127.0.0.1", LOOPBACK_PORT))
            another.listen()
        assert call(program, url, "whoami", **environment) == (0, "alice")
    # The registration for one port is none for the other.
    assert call(program, url, "write", **environment) == (0, "written by alice")
    assert (browser / "log").read_text() == "opened\n" * 2


def test_a_client_acts_for_itself(program: Path, url: str) -> None:
    name, secret = ACTS_FOR_ITSELF["client_id"], ACTS_FOR_ITSELF["client_secret"]
    assert call(program, url, "whoami", CLIENT_ID=str(name), CLIENT_SECRET=str(secret)) == (0, str(name))
    status, said = call(program, url, "whoami", CLIENT_ID=str(name), CLIENT_SECRET="another one")
    assert status == 1
    assert said.startswith("failed: ")


def test_a_server_in_c_asks_about_tokens(program: Path, server: Path, browser: Path, tmp_path: Path) -> None:
    environment = {"PATH": f"{browser}:{os.environ['PATH']}", "TOKEN_STORE": str(tmp_path / "tokens")}
    name, secret = str(INTROSPECTION["client_id"]), str(INTROSPECTION["client_secret"])
    settings = {"accessTokenFormat": "opaque", "scopes": "notes:read notes:write", "clients": [INTROSPECTION]}
    with authorization_server(**settings) as issuing:
        asked = [issuing.issuer, f"{issuing.issuer}/token/introspection"]
        client = os.environ | {"CLIENT_ID": name, "CLIENT_SECRET": secret}
        with building.serving(server, *asked, env=client) as port:
            url = f"http://127.0.0.1:{port}/mcp"
            call(program, url, "list_notes", **environment)
            assert (browser / "log").read_text() == "opened\n"
            # More scopes, more questions.
            assert call(program, url, "add_note", '{"text": "milk"}', **environment) == (0, "kept")
            assert (browser / "log").read_text() == "opened\n" * 2
            assert call(program, url, "list_notes", **environment) == (0, "milk")
            assert (browser / "log").read_text() == "opened\n" * 2
