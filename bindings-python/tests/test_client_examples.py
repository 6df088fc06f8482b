"""The examples of clients, run as a reader would run them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from client_harness import PATIENCE, raw_server
from raw_http_server import MODERN, RawServer
from test_client import ERAS

ROOT = Path(__file__).resolve().parent.parent.parent
EXAMPLES = ROOT / "bindings-python" / "examples"
EVERYTHING = ROOT / "tests" / "conformance" / "python" / "everything_server.py"


def run(name: str, *arguments: str, text: str = "") -> str:
    command = [sys.executable, str(EXAMPLES / name), *arguments]
    done = subprocess.run(
        command, input=text, capture_output=True, text=True, timeout=3 * PATIENCE, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_hello() -> None:
    assert run("hello_client.py") == "Hello, world!\n"


@pytest.mark.parametrize("era", ["modern", "legacy"])
def test_http(era: str) -> None:
    with RawServer(era) as server:
        told = run("http_client.py", server.url, "echo", '{"text": "hi"}')
    assert told.splitlines()[0] == f"speaks {server.revision if era == 'legacy' else MODERN}"
    assert told.splitlines()[-1] == "hi"


@pytest.mark.parametrize("revision", ERAS.values())
def test_a_walk_over_everything(revision: str) -> None:
    server = [sys.executable, str(EVERYTHING)]
    told = run("explore_client.py", "--revision", revision, "--patience", "1", "--", *server)
    for line in (
        f"speaks {revision}",
        "text: This is a simple text response for testing.",
        "media: audio/wav",
        "structured: ",
        "log info: ",
        "progress 100 of 100.0",
        "the tool says that it failed",
        "no answer in 1 seconds",
        "asked for roots",
        "asked for a sample",
        "answered: {",
        "resource test://static-binary (image/png)",
        "completions of",
        "changes told of: tools, resources, prompts",
    ):
        assert line in told, line


@pytest.mark.parametrize("revision", ERAS.values())
def test_the_client_of_the_benchmark(revision: str) -> None:
    told = run("bench_client.py", revision, *raw_server(), text="seq 20\nconc 50 8\n")
    assert told == "ready\ndone\ndone\n"
