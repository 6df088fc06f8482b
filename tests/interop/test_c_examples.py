"""The C example of a client starts a server from npm."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import cells

sys.path.insert(0, str(cells.HERE.parents[1] / "bindings-c" / "tests"))

import building

SERVER = cells.package("server-everything")


def test_stdio_client(tmp_path: Path) -> None:
    client = building.build(tmp_path / "stdio_client", [building.EXAMPLES / "stdio_client.c"])
    server = [*SERVER, "stdio"]
    listed = subprocess.run([client, *server], capture_output=True, text=True, timeout=180)
    assert listed.returncode == 0, listed.stderr
    assert "get-sum: Returns the sum of two numbers" in listed.stdout.splitlines()
    call = [client, "-c", "get-sum", '{"a": 2, "b": 3}', *server]
    called = subprocess.run(call, capture_output=True, text=True, timeout=180)
    assert called.returncode == 0 and called.stdout == "The sum of 2 and 3 is 5.\n"
