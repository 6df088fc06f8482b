"""The clients of the published SDKs against servers on barewire, in every revision."""

from __future__ import annotations

from collections.abc import Iterator

import cells
import pytest
from cells import Session

GRID = cells.Grid(
    {**cells.PEER_CLIENTS, **cells.OUR_CLIENTS},
    cells.OUR_SERVERS,
    [
        *(
            Session(client, server, revision)
            for server in cells.WIDELY_MET
            for client in cells.PEER_CLIENTS
            for revision in cells.REVISIONS
        ),
        *cells.server_meetings("stdio"),
        # Both ends are ours: what fails here too is no matter of a peer.
        *(Session("barewire", "barewire", revision) for revision in cells.REVISIONS),
        Session("barewire-sync", "barewire", "auto"),
        *(Session("barewire-node", "barewire-node", revision) for revision in cells.REVISIONS),
        *(Session("barewire", "barewire-node", revision) for revision in cells.BOTH_ERAS),
        *(Session("barewire-node", "barewire", revision) for revision in cells.BOTH_ERAS),
        *(Session("barewire-c", "barewire-c", revision) for revision in cells.BOTH_ERAS),
    ],
)


@pytest.fixture(scope="module", autouse=True)
def started(request: pytest.FixtureRequest) -> Iterator[None]:
    GRID.start(request)
    yield


@pytest.mark.parametrize(("session", "check"), GRID.parameters(), ids=cells.identify)
def test_cell(session: Session, check: str) -> None:
    GRID.judge(session, check)
