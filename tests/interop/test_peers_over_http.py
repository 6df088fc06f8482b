"""The peer programs against each other over HTTP: failures are faults of these scripts, or of a peer."""

from __future__ import annotations

from collections.abc import Iterator

import cells
import pytest
from cells import Session

# A server meets clients of another language, by turns: each program is met in every revision that it knows.
MEETINGS = {
    "mcp1": ["ts1", "ts2"],
    "mcp2": ["ts2", "ts1"],
    "ts1": ["mcp1", "mcp2"],
    "ts2": ["mcp2", "mcp1"],
    "server-everything": ["mcp2", "mcp1"],
}
GRID = cells.Grid(
    cells.PEER_CLIENTS,
    cells.HTTP_SERVERS,
    [
        *(
            Session(clients[turn % 2], server, revision, "http")
            for server, clients in MEETINGS.items()
            for turn, revision in enumerate(cells.REVISIONS)
        ),
        *(
            Session(client, server, "2024-11-05", "sse")
            for server in cells.SSE_SERVERS
            for client in MEETINGS[server]
        ),
    ],
)


@pytest.fixture(scope="module", autouse=True)
def started() -> Iterator[None]:
    GRID.start()
    yield


@pytest.mark.parametrize(("session", "check"), GRID.parameters(), ids=cells.identify)
def test_cell(session: Session, check: str) -> None:
    GRID.judge(session, check)
