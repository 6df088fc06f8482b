"""The peer programs against each other over HTTP: failures are faults of these scripts, or of a peer."""

from __future__ import annotations

from collections.abc import Iterator

import cells
import pytest
from cells import Session

# Whom a server meets in each of `cells.REVISIONS`: programs of other languages, so that each program is met,
# on either side, in every revision that it knows.
MEETINGS = {
    "mcp1": ["ts1", "ts2", "rmcp", "ts1", "ts2", "rmcp"],
    "mcp2": ["ts2", "rmcp", "ts1", "ts2", "rmcp", "ts2"],
    "ts1": ["mcp1", "mcp2", "rmcp", "mcp1", "mcp2", "rmcp"],
    "ts2": ["mcp2", "rmcp", "mcp1", "mcp2", "mcp2", "rmcp"],
    "rmcp": ["mcp1", "ts1", "mcp2", "ts2", "ts2", "mcp2"],
    "server-everything": ["rmcp", "mcp2", "mcp1", "rmcp", "mcp2", "mcp2"],
}
SSE_MEETINGS = {"mcp1": "ts1", "mcp2": "ts2", "ts1": "mcp1", "server-everything": "mcp2"}
GRID = cells.Grid(
    cells.HTTP_CLIENTS,
    cells.HTTP_SERVERS,
    [
        *(
            Session(client, server, revision, "http")
            for server, clients in MEETINGS.items()
            for client, revision in zip(clients, cells.REVISIONS, strict=True)
        ),
        Session("inspector", "mcp2", "auto", "http"),
        *(Session(client, server, "2024-11-05", "sse") for server, client in SSE_MEETINGS.items()),
    ],
)


@pytest.fixture(scope="module", autouse=True)
def started(request: pytest.FixtureRequest) -> Iterator[None]:
    GRID.start(request)
    yield


@pytest.mark.parametrize(("session", "check"), GRID.parameters(), ids=cells.identify)
def test_cell(session: Session, check: str) -> None:
    GRID.judge(session, check)
