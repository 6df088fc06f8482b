"""Ports of the loopback interface for programs that are told where to listen."""

from __future__ import annotations

import random
import socket
import subprocess
import time
from typing import Any

#: Below the ports that systems give to outgoing connections, which come and go all the time in tests.
PORTS = range(20_000, 32_000)
#: Seconds for a program to start, with room for a busy machine.
START_SECONDS = 120.0


def free_port() -> int:
    """A port that nobody listens on."""
    while True:
        port = random.choice(PORTS)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port


def accepts(port: int) -> bool:
    """Whether somebody listens."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def wait_until_it_listens(process: subprocess.Popen[Any], port: int) -> bool:
    """Whether it does: not if it has ended before, or never does."""
    deadline = time.monotonic() + START_SECONDS
    while not accepts(port):
        if process.poll() is not None or time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True
