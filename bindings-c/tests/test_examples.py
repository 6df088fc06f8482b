"""The C examples as their users build them, against peers in Python."""

from __future__ import annotations

import contextlib
import subprocess
from pathlib import Path

import barewire
import building
import pytest
from barewire import sansio, sync


@pytest.fixture(scope="session")
def hello(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("hello") / "hello_server"
    return building.build(program, [building.EXAMPLES / "hello_server.c"])


@pytest.mark.parametrize("revision", sansio.REVISIONS)
def test_hello_server_speaks_every_revision(hello: Path, revision: str) -> None:
    with sync.Client(command=[str(hello)], revisions=[revision]) as client:
        assert client.revision == revision
        assert [tool.name for tool in client.tools()] == ["greet"]
        result = client.call_tool("greet", {"name": 'W\u00f6rld "\n\u2603"'})
        assert result.content == [barewire.Text('Hello, W\u00f6rld "\n\u2603"!')]
        # Older revisions have an error for it, newer ones a result that says so.
        with contextlib.suppress(barewire.RpcError):
            assert client.call_tool("greet", {"name": 7}).is_error


def test_hello_server_ends_with_its_input(hello: Path) -> None:
    done = subprocess.run([hello], input=b"noise\n", capture_output=True, timeout=10)
    assert done.returncode == 0
    assert b'"code":-32700' in done.stdout
