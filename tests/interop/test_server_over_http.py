"""The clients of the published SDKs, and the inspector, against servers on barewire over HTTP."""

from __future__ import annotations

from collections.abc import Iterator

import cells
import pytest
from cells import Session

GRID = cells.Grid(
    {**cells.HTTP_CLIENTS, **cells.OUR_CLIENTS},
    cells.OUR_SERVERS,
    [
        *(
            Session(client, server, revision, "http")
            for server in cells.WIDELY_MET
            for revision in cells.REVISIONS
            for client in (*cells.PEER_CLIENTS, "rmcp", server)
        ),
        *cells.server_meetings("http"),
        *(Session("barewire-c", "barewire-c", revision, "http") for revision in cells.BOTH_ERAS),
        Session("rmcp", "barewire-c", "auto", "http"),
        Session("inspector", "barewire", "auto", "http"),
        Session("barewire-sync", "barewire", "auto", "http"),
        *(Session("barewire-node", "barewire", revision, "http") for revision in cells.BOTH_ERAS),
        *(Session("barewire", "barewire-node", revision, "http") for revision in cells.BOTH_ERAS),
        *(
            Session(client, server, "2024-11-05", "sse")
            for server in cells.WIDELY_MET
            for client in (*cells.PEER_CLIENTS, server)
        ),
        *(Session(client, "barewire-c", "2024-11-05", "sse") for client in ("mcp1", "ts1", "barewire-c")),
        Session("inspector", "barewire", "auto", "sse"),
    ],
)


@pytest.fixture(scope="module", autouse=True)
def started(request: pytest.FixtureRequest) -> Iterator[None]:
    GRID.start(request)
    yield


@pytest.mark.parametrize(("session", "check"), GRID.parameters(), ids=cells.identify)
def test_cell(session: Session, check: str) -> None:
    GRID.judge(session, check)
