"""The peer programs against each other: what fails here is a fault of these scripts, or of a peer."""

from __future__ import annotations

from collections.abc import Iterator

import cells
import pytest
from cells import Session

# Each client meets the server of the other language, and the published servers meet one client.
GRID = cells.Grid(
    cells.PEER_CLIENTS,
    {**cells.PEER_SERVERS, **cells.PUBLISHED_SERVERS},
    [
        Session("mcp1", "ts1", "2024-11-05"),
        Session("mcp1", "ts2", "auto"),
        Session("mcp2", "ts1", "2025-06-18"),
        Session("mcp2", "ts2", "auto"),
        Session("ts1", "mcp1", "2025-03-26"),
        Session("ts1", "mcp2", "auto"),
        Session("ts2", "mcp1", "2025-11-25"),
        Session("ts2", "mcp2", "auto"),
        *(Session("mcp2", server, "auto") for server in cells.PUBLISHED_SERVERS),
    ],
)


@pytest.fixture(scope="module", autouse=True)
def started(request: pytest.FixtureRequest) -> Iterator[None]:
    GRID.start(request)
    yield


@pytest.mark.parametrize(("session", "check"), GRID.parameters(), ids=cells.identify)
def test_cell(session: Session, check: str) -> None:
    GRID.judge(session, check)
