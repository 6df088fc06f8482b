"""The clients of barewire against the published SDKs and servers, in every revision."""

from __future__ import annotations

from collections.abc import Iterator

import cells
import pytest
from cells import Session

SERVERS = {**cells.PEER_SERVERS, **cells.PUBLISHED_SERVERS}
GRID = cells.Grid(
    cells.OUR_CLIENTS,
    SERVERS,
    [
        *(Session("barewire", server, revision) for server in SERVERS for revision in cells.REVISIONS),
        *(Session("barewire-sync", server, "auto") for server in SERVERS),
        *(
            Session("barewire-node", server, revision)
            for server in cells.PEER_SERVERS
            for revision in cells.REVISIONS
        ),
        *cells.client_meetings("stdio"),
        Session("barewire-sync", "mcp2", "2025-06-18"),
        Session("barewire-sync", "ts2", "2025-11-25"),
    ],
)


@pytest.fixture(scope="module", autouse=True)
def started(request: pytest.FixtureRequest) -> Iterator[None]:
    GRID.start(request)
    yield


@pytest.mark.parametrize(("session", "check"), GRID.parameters(), ids=cells.identify)
def test_cell(session: Session, check: str) -> None:
    GRID.judge(session, check)
