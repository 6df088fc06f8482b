"""Sessions between a client program and a server program, and the outcome of every check in them.

A cell is client x server x transport x revision x check. One process of each side serves all checks of a
session over stdio; over HTTP one server serves the sessions of a revision, one after another. Two of these
run at a time, ahead of the tests that ask for their outcomes.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
WORK = Path(os.environ.get("BAREWIRE_WORK", HERE.parents[1] / ".work" / "interop"))
PEERS = HERE / "peers"
sys.path.insert(0, str(PEERS / "python"))

import listeners  # noqa: E402
import published  # noqa: E402
import walk  # noqa: E402

REVISIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28", "auto"]
# One revision of each era.
BOTH_ERAS = ["2025-06-18", "2026-07-28"]
SESSION_SECONDS = 300
# Runs a server and notes its exit status: a server ends by itself when the client closes its input, and a
# status that never comes tells that the client had to kill it.
NOTE_EXIT = ["sh", "-c", '"$@"; echo $? >"$INTEROP_EXIT"', "sh"]
# How a client is told where the server listens.
OPTIONS = {"http": "--url", "sse": "--sse"}
# Two sessions keep two cores busy.
RUNNING = ThreadPoolExecutor(max_workers=2)

Command = list[str]
# By the name of the check; `connection` is the outcome of a check that never came.
Outcomes = dict[str, walk.Json]


def python(environment: str, script: str) -> Command:
    return [str(WORK / environment / "bin" / "python"), str(PEERS / "python" / script)]


def node(script: str) -> Command:
    return ["node", str(WORK / "node" / script)]


def package(name: str) -> Command:
    return node(f"node_modules/@modelcontextprotocol/{name}/dist/index.js")


PEER_CLIENTS = {
    "mcp1": python("mcp1", "client_mcp1.py"),
    "mcp2": python("mcp2", "client_mcp2.py"),
    "ts1": node("client_ts1.mjs"),
    "ts2": node("client_ts2.mjs"),
}
PEER_SERVERS = {
    "mcp1": python("mcp1", "server_mcp1.py"),
    "mcp2": python("mcp2", "server_mcp2.py"),
    "ts1": node("server_ts1.mjs"),
    "ts2": node("server_ts2.mjs"),
}
PUBLISHED_SERVERS = {
    "server-everything": node("everything.mjs"),
    "server-filesystem": package("server-filesystem"),
    "server-memory": package("server-memory"),
}
# One program in both roles, over Streamable HTTP only.
RMCP = str(WORK / "rust" / "debug" / "barewire-interop-rmcp")
INSPECTOR = str(WORK / "node/node_modules/@modelcontextprotocol/inspector-cli/build/index.js")
HTTP_CLIENTS = {
    **PEER_CLIENTS,
    "rmcp": python("mcp2", "client_rmcp.py"),
    "inspector": python("mcp2", "client_inspector.py"),
}
HTTP_SERVERS = {
    **PEER_SERVERS,
    "rmcp": [RMCP, "server"],
    "server-everything": PUBLISHED_SERVERS["server-everything"],
}


def ours(script: str) -> Command:
    """A program on barewire, run by the interpreter that runs the tests or by Node."""
    runner = sys.executable if script.endswith(".py") else "node"
    return [runner, str(HERE / "ours" / script)]


# What `tests/c_env.py` compiles, if the libraries that it needs are there.
C_PROGRAMS = HERE.parents[1] / ".work" / "c"
OUR_CLIENTS = {
    "barewire": ours("client_barewire.py"),
    "barewire-sync": ours("client_barewire_sync.py"),
    "barewire-node": ours("client_barewire.mjs"),
    "barewire-c": ours("client_barewire_c.py"),
}
OUR_SERVERS = {
    "barewire": ours("server_barewire.py"),
    "barewire-node": ours("server_barewire.mjs"),
    "barewire-c": [str(C_PROGRAMS / "everything_server"), "--page", "6"],
}
# The servers that meet each peer in each revision.
WIDELY_MET = ["barewire", "barewire-node"]
# Whom the programs in C meet, and where: each peer in two revisions at least, each revision twice.
MEETINGS_OF_C = {
    "mcp1": ["2024-11-05", "2025-06-18"],
    "mcp2": ["2025-11-25", "2026-07-28"],
    "ts1": ["2025-03-26", "2025-11-25"],
    "ts2": ["2025-06-18", "2026-07-28", "auto"],
}
# Where our programs in Python find the walks, and the server that ours extends.
PATHS = [PEERS / "python", HERE.parent / "conformance" / "python"]
# What a client or a server program is told by the environment.
ENVIRONMENT = {
    **os.environ,
    "PYTHONPATH": os.pathsep.join(map(str, PATHS)),
    "INTEROP_RMCP": RMCP,
    "INTEROP_INSPECTOR": INSPECTOR,
    "INTEROP_C": str(C_PROGRAMS / "interop_client"),
}


@dataclass(frozen=True)
class Session:
    """One client program against one server program in one revision."""

    client: str
    server: str
    revision: str
    # Also the option that a server program takes with a port: `http` is Streamable HTTP, `sse` HTTP+SSE.
    transport: str = "stdio"

    @property
    def checks(self) -> list[str]:
        checks = ["connect", *published.CHECKS.get(self.server, walk.CHECKS), "close"]
        return [*checks, "exit"] if self.transport == "stdio" else checks

    @property
    def group(self) -> tuple[str, ...]:
        """The sessions of a group are served by one process."""
        shared = (self.server, self.transport, self.revision)
        return (self.client, *shared) if self.transport == "stdio" else shared

    def known(self, check: str) -> str | None:
        """Why this cell cannot work: as the matrix says, or for want of a program."""
        if "barewire-c" in (self.client, self.server) and not C_PROGRAMS.exists():
            return "the C programs are not compiled: libmicrohttpd or libcurl is missing"
        cell = (self.client, self.server, self.transport, self.revision, check)
        for *patterns, reason in MATRIX:
            if all(pattern in ("*", value) for pattern, value in zip(patterns, cell, strict=True)):
                return reason
        return None


def read_matrix() -> list[list[str]]:
    lines = (HERE / "matrix.tsv").read_text().splitlines()
    rows = [line.split("\t") for line in lines if line and not line.startswith("#")]
    assert all(len(row) == 6 for row in rows), "a line of matrix.tsv has not six columns"
    return rows


MATRIX = read_matrix()


def server_meetings(transport: str) -> list[Session]:
    """The sessions of peers with the server in C."""
    return [
        Session(peer, "barewire-c", revision, transport)
        for peer, revisions in MEETINGS_OF_C.items()
        for revision in revisions
    ]


def client_meetings(transport: str) -> list[Session]:
    """The sessions of the client in C with peers."""
    return [
        Session("barewire-c", peer, revision, transport)
        for peer, revisions in MEETINGS_OF_C.items()
        for revision in revisions
    ]


class Grid:
    """The sessions of one test module, started together."""

    def __init__(
        self,
        clients: dict[str, Command],
        servers: dict[str, Command],
        sessions: list[Session],
        front: Callable[[str], AbstractContextManager[str]] = nullcontext,
    ) -> None:
        """`front` puts something between the clients and a URL, and gives the URL that they are told."""
        self._clients = clients
        self._servers = servers
        self._sessions = sessions
        self._front = front
        self._outcomes: dict[Session, Future[dict[Session, Outcomes]]] = {}

    def parameters(self) -> list[tuple[Session, str]]:
        """The cells, for `pytest.mark.parametrize`; a session that cannot be is one cell, `*`."""
        cells: list[tuple[Session, str]] = []
        for session in self._sessions:
            checks = ["*"] if session.known("*") else session.checks
            cells += [(session, check) for check in checks]
        return cells

    def start(self, request: pytest.FixtureRequest) -> None:
        """Starts the sessions that the chosen tests of this run ask for."""
        chosen = {item.callspec.params.get("session") for item in tests_of(request)}
        groups: dict[tuple[str, ...], list[Session]] = {}
        for session in self._sessions:
            if session in chosen and not session.known("*"):
                groups.setdefault(session.group, []).append(session)
        for group in groups.values():
            running = RUNNING.submit(self._run_group, group)
            self._outcomes.update(dict.fromkeys(group, running))

    def judge(self, session: Session, check: str) -> None:
        """Passes, fails or skips the running test by the outcome of one cell."""
        reason = session.known(check)
        if check == "*":
            pytest.skip(str(reason))
        outcomes = self._outcomes[session].result()[session]
        outcome = outcomes.get(check, outcomes["connection"])
        if reason is not None:
            assert outcome["ok"] is not True, f"works, although matrix.tsv says: {reason}"
            pytest.skip(reason)
        if outcome["ok"] == "unsupported":
            pytest.skip(outcome["detail"])
        assert outcome["ok"] is True, outcome["detail"]

    def _run_group(self, group: list[Session]) -> dict[Session, Outcomes]:
        server = self._servers[group[0].server]
        if group[0].transport == "stdio":
            return {session: self._run(session, ["--", *NOTE_EXIT, *server]) for session in group}
        try:
            with (
                listeners.listening(server, group[0].transport, ENVIRONMENT) as url,
                self._front(url) as told,
            ):
                option = OPTIONS[group[0].transport]
                return {session: self._run(session, [option, told]) for session in group}
        except listeners.NotListening as reason:
            missing = {"connection": {"ok": False, "detail": str(reason)}}
            return dict.fromkeys(group, missing)

    def _run(self, session: Session, target: Command) -> Outcomes:
        command = [*self._clients[session.client], "--revision", session.revision]
        if session.server in published.CHECKS:
            command += ["--server", session.server]
        command += target
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder).resolve()
            exit_status = root / "exit-status"
            environment = {
                **ENVIRONMENT,
                "INTEROP_ROOT": root.as_uri(),
                "INTEROP_EXIT": str(exit_status),
                "MEMORY_FILE_PATH": str(root / "memory.jsonl"),
            }
            try:
                done = subprocess.run(
                    command,
                    env=environment,
                    capture_output=True,
                    text=True,
                    timeout=SESSION_SECONDS,
                    check=False,
                )
                output, errors, status = done.stdout, done.stderr, f"exit status {done.returncode}"
            except subprocess.TimeoutExpired as late:
                output, errors = text(late.stdout), text(late.stderr)
                status = f"no end within {SESSION_SECONDS} s"
            noted = exit_status.read_text().strip() if exit_status.exists() else "killed"
        outcomes = {entry["check"]: entry for entry in map(json.loads, output.splitlines())}
        missing = {"ok": False, "detail": f"{status}; {errors[-2000:]}"}
        if session.transport == "stdio":
            outcomes["exit"] = {"ok": noted == "0", "detail": f"the server ended with status {noted}"}
        return {"connection": missing, **outcomes}


def tests_of(request: pytest.FixtureRequest) -> list[pytest.Item]:
    """The tests with parameters, of the module that asks."""
    items = [item for item in request.session.items if hasattr(item, "callspec")]
    return [item for item in items if getattr(item, "module", None) is request.module]


def text(output: bytes | str | None) -> str:
    return output.decode(errors="replace") if isinstance(output, bytes) else output or ""


def identify(value: Session | str) -> str:
    """The part of a test's name that one parameter makes."""
    if isinstance(value, Session):
        name = f"{value.client}-{value.server}-{value.revision}"
        return name if value.transport == "stdio" else f"{name}-{value.transport}"
    return value if value != "*" else "session"
