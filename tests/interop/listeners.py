"""Server programs that listen on a port of the loopback interface."""

from __future__ import annotations

import random
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

START_SECONDS = 30
END_SECONDS = 5
# Where the servers have their endpoint, by the option that tells the port.
PATHS = {"http": "/mcp", "sse": "/sse"}
# Below the ports that the system gives to outgoing connections, which come and go all the time here.
PORTS = range(20000, 32000)


class NotListening(Exception):
    """The server ended before it listened, or never did; the text has what it printed."""


def free_port() -> int:
    while True:
        port = random.choice(PORTS)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port


def accepts(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def wait_until_it_listens(process: subprocess.Popen[bytes], port: int, output: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while not accepts(port):
        if process.poll() is not None or time.monotonic() > deadline:
            printed = output.read_text(errors="replace")[-2000:]
            raise NotListening(f"status {process.poll()}, port {port}; {printed}")
        time.sleep(0.05)


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
            wait_until_it_listens(process, port, output)
            yield
        finally:
            end(process)


@contextmanager
def listening(command: list[str], transport: str, environment: dict[str, str]) -> Iterator[str]:
    """Runs `command --TRANSPORT PORT` while the context is open, and gives the URL of its endpoint."""
    port = free_port()
    with running([*command, f"--{transport}", str(port)], port, environment):
        yield f"http://127.0.0.1:{port}{PATHS[transport]}"
