"""The C examples as their users build them, against peers in Python."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from pathlib import Path

import barewire
import pytest
from barewire import sansio, sync

C = Path(__file__).resolve().parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", C.parent / "target"))
COMPILER = shutil.which("cc") or "cc"
FLAGS = ["-std=c99", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
LIBRARIES = ["-lpthread", "-ldl", "-lm"]


def build(name: str, folder: Path) -> Path:
    program = folder / name
    source = C / "examples" / f"{name}.c"
    library = TARGET / "debug" / "libbarewire.a"
    command = [COMPILER, *FLAGS, "-I", C / "include", source, library, *LIBRARIES]
    subprocess.run([*command, "-o", program], check=True)
    return program


@pytest.fixture(scope="session")
def hello(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("hello_server", tmp_path_factory.mktemp("hello"))


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
