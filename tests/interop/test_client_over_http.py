"""The clients of barewire against the published SDKs over HTTP, in every revision."""

from __future__ import annotations

from collections.abc import Iterator

import cells
import pytest
from cells import Session

GRID = cells.Grid(
    cells.OUR_CLIENTS,
    cells.HTTP_SERVERS,
    [
        *(
            Session("barewire", server, revision, "http")
            for server in cells.HTTP_SERVERS
            for revision in cells.REVISIONS
        ),
        *(
            Session("barewire-node", server, revision, "http")
            for server in (*cells.PEER_SERVERS, "rmcp")
            for revision in cells.REVISIONS
        ),
        *cells.client_meetings("http"),
        *(Session("barewire-sync", server, "auto", "http") for server in cells.HTTP_SERVERS),
        Session("barewire-sync", "mcp2", "2025-06-18", "http"),
        Session("barewire-sync", "ts2", "2025-11-25", "http"),
        # The client finds out that the URL is not one of Streamable HTTP.
        *(
            Session("barewire", server, revision, "sse")
            for server in ("mcp1", "mcp2", "ts1", "server-everything")
            for revision in ("2024-11-05", "auto")
        ),
        *(Session("barewire-node", server, "2024-11-05", "sse") for server in ("mcp1", "mcp2", "ts1")),
        Session("barewire-sync", "mcp1", "2024-11-05", "sse"),
        Session("barewire-c", "mcp1", "2024-11-05", "sse"),
    ],
)


@pytest.fixture(scope="module", autouse=True)
def started(request: pytest.FixtureRequest) -> Iterator[None]:
    GRID.start(request)
    yield


@pytest.mark.parametrize(("session", "check"), GRID.parameters(), ids=cells.identify)
def test_cell(session: Session, check: str) -> None:
    GRID.judge(session, check)
