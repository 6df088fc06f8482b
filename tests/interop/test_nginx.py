"""A server behind nginx: what is streamed arrives while the call still runs, and who goes away is missed."""

from __future__ import annotations

import itertools
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import cells
import listeners
import ports
import pytest
from cells import Session
from raw_http import LEGACY, MODERN, SECONDS, Endpoint, messages

NGINX = shutil.which("nginx", path="/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin")
pytestmark = pytest.mark.skipif(NGINX is None, reason="nginx is not installed")
SERVERS = {"mcp2": cells.HTTP_SERVERS["mcp2"], **cells.OUR_SERVERS}
# Longer than any test waits.
SLOW_CALL = {"name": "slow", "arguments": {"seconds": 600}, "_meta": {"progressToken": "slow"}}


@contextmanager
def proxied(url: str, version: str = "1.1") -> Iterator[str]:
    """nginx before the endpoint at `url`, which it speaks that version of HTTP to."""
    parts = urlsplit(url)
    port = ports.free_port()
    text = (cells.HERE / "nginx" / "proxy.conf").read_text()
    with tempfile.TemporaryDirectory() as folder:
        values = {"FOLDER": folder, "PORT": str(port), "UPSTREAM": parts.netloc, "VERSION": version}
        for word, value in values.items():
            text = text.replace(word, value)
        configuration = Path(folder) / "nginx.conf"
        configuration.write_text(text)
        command = [str(NGINX), "-e", "stderr", "-p", folder, "-c", str(configuration)]
        with listeners.running(command, port, cells.ENVIRONMENT):
            yield f"http://127.0.0.1:{port}{parts.path}"


# 1.0 is what nginx speaks unless it is told, and then an answer that does not forbid it is held back until it
# is complete or fills a buffer.
@pytest.fixture(scope="module", params=list(itertools.product(SERVERS, ["1.0", "1.1"])), ids="-http".join)
def url(request: pytest.FixtureRequest) -> Iterator[str]:
    name, version = request.param
    with (
        listeners.listening(SERVERS[name], "http", cells.ENVIRONMENT) as server,
        proxied(server, version) as proxy,
    ):
        yield proxy


@pytest.mark.parametrize("revision", [LEGACY, MODERN])
def test_a_stream_is_not_buffered(url: str, revision: str) -> None:
    with Endpoint(url, revision).answering("tools/call", SLOW_CALL) as response:
        assert response.getheader("Server", "").startswith("nginx")
        # The answer is ten minutes away, so the response has not ended when this comes.
        message = next(messages(response))
        assert message["method"] == "notifications/progress"
        assert message["params"]["progressToken"] == "slow"


def test_a_disconnect_reaches_the_server(url: str) -> None:
    endpoint = Endpoint(url, MODERN)
    before = int(endpoint.call("cancellations", {}))
    with endpoint.answering("tools/call", SLOW_CALL) as response:
        next(messages(response))
        assert int(endpoint.call("cancellations", {})) == before
    deadline = time.monotonic() + SECONDS
    while int(endpoint.call("cancellations", {})) == before:
        assert time.monotonic() < deadline, "the server never missed the client"
        time.sleep(0.05)
    assert int(endpoint.call("cancellations", {})) == before + 1


GRID = cells.Grid(
    cells.HTTP_CLIENTS,
    SERVERS,
    [
        *(Session("ts2", server, LEGACY, "http") for server in SERVERS),
        *(Session("rmcp", server, MODERN, "http") for server in SERVERS),
    ],
    front=proxied,
)


@pytest.fixture(scope="module")
def started(request: pytest.FixtureRequest) -> Iterator[None]:
    GRID.start(request)
    yield


@pytest.mark.usefixtures("started")
@pytest.mark.parametrize(("session", "check"), GRID.parameters(), ids=cells.identify)
def test_cell(session: Session, check: str) -> None:
    GRID.judge(session, check)
