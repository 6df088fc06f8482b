"""Server programs that listen on a port of the loopback interface."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))

import ports

END_SECONDS = 30
# Where the servers have their endpoint, by the option that tells the port.
PATHS = {"http": "/mcp", "sse": "/sse"}


class NotListening(Exception):
    """The server ended before it listened, or never did; the text has what it printed."""


def end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


@contextmanager
def running(command: list[str], port: int, environment: dict[str, str]) -> Iterator[None]:
    """Runs a command that listens on `port`, while the context is open."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "output"
        with output.open("wb") as printed:
            process = subprocess.Popen(
                command, env=environment, stdin=subprocess.DEVNULL, stdout=printed, stderr=subprocess.STDOUT
            )
        try:
            if not ports.wait_until_it_listens(process, port):
                printed = output.read_text(errors="replace")[-2000:]
                raise NotListening(f"status {process.poll()}, port {port}; {printed}")
            yield
        finally:
            end(process)


@contextmanager
def listening(command: list[str], transport: str, environment: dict[str, str]) -> Iterator[str]:
    """Runs `command --TRANSPORT PORT` while the context is open, and gives the URL of its endpoint."""
    port = ports.free_port()
    with running([*command, f"--{transport}", str(port)], port, environment):
        yield f"http://127.0.0.1:{port}{PATHS[transport]}"
