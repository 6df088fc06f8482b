"""The user's browser as `Browser` sees it: who comes back, who does not, and what is told of it."""

from __future__ import annotations

import asyncio
import socket
import struct
import threading
from collections.abc import Callable
from typing import Any
from urllib.error import HTTPError
from urllib.request import urlopen

import barewire
import pytest
import trio

#: Long enough for a loaded machine; a passing test never waits for it.
PATIENCE = 60.0
URL = "https://as.example/authorize?client_id=me&state=the-state"


def coming_back(*queries: str) -> tuple[barewire.Browser, list[Any]]:
    """A browser that comes back with these queries, one after the other, and what it gets to see."""
    seen: list[Any] = []

    def open_page(url: str) -> None:
        seen.append(url)
        for query in queries:
            try:
                with urlopen(browser.redirect_uri + query, timeout=PATIENCE) as response:
                    seen.append((response.status, dict(response.headers), response.read()))
            except HTTPError as error:
                seen.append(error.code)

    browser = barewire.Browser(open=open_page)
    return browser, seen


def by_asyncio(browser: barewire.Browser) -> str:
    return asyncio.run(browser.visit(URL))


def by_trio(browser: barewire.Browser) -> str:
    return trio.run(browser.visit, URL)


@pytest.mark.parametrize("visit", [by_asyncio, by_trio])
def test_the_address_that_it_comes_back_to_is_given(visit: Callable[[barewire.Browser], str]) -> None:
    query = "?code=abc&state=the-state&iss=https%3A%2F%2Fas.example"
    browser, seen = coming_back(query)
    assert visit(browser) == browser.redirect_uri + query
    url, (status, headers, page) = seen
    assert (url, status) == (URL, 200)
    assert headers["Cache-Control"] == "no-store"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert b"close this window" in page


def test_strangers_are_turned_away() -> None:
    last = "?code=abc&state=the-state"
    browser, seen = coming_back("?code=1&state=another", "?code=2", "/else?state=the-state", last)
    assert by_asyncio(browser).endswith(last)
    assert seen[1:4] == [404, 404, 404]


def test_who_talks_nonsense_or_hangs_up_is_not_reported(capfd: pytest.CaptureFixture[str]) -> None:
    def open_page(url: str) -> None:
        address = ("127.0.0.1", int(browser.redirect_uri.split(":")[2].split("/")[0]))
        for target in ("//[/callback", "http://[/callback", "/callback?state", "/" + "x" * 70_000):
            with socket.create_connection(address, timeout=PATIENCE) as connection:
                connection.sendall(f"GET {target} HTTP/1.1\r\n\r\n".encode())
                assert connection.recv(13)[9:10] == b"4"
        for _ in range(20):
            with socket.create_connection(address, timeout=PATIENCE) as connection:
                # It is closed by a reset, which whoever answers gets to see.
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                connection.sendall(b"GET /favicon.ico HTTP/1.1\r\n\r\n")
        with urlopen(browser.redirect_uri + "?state=the-state", timeout=PATIENCE):
            pass

    browser = barewire.Browser(open=open_page)
    assert by_asyncio(browser).endswith("?state=the-state")
    assert capfd.readouterr() == ("", "")


def test_what_is_there_twice_is_passed_on() -> None:
    query = "?state=the-state&state=another&code=1"
    browser, _ = coming_back(query)
    assert by_asyncio(browser).endswith(query)


def test_it_listens_on_loopback_and_only_while_somebody_is_awaited() -> None:
    browser, _ = coming_back("?state=the-state")
    port = int(browser.redirect_uri.split(":")[2].split("/")[0])
    for _ in range(2):  # it can be used again
        by_asyncio(browser)
        for _ in range(int(PATIENCE / 0.02)):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) != 0:
                    break
            threading.Event().wait(0.02)
        else:
            pytest.fail("it still listens")


def test_a_visit_right_after_another_can_listen() -> None:
    browser, seen = coming_back("?state=the-state")

    async def visits() -> None:
        for _ in range(5):
            await browser.visit(URL)

    asyncio.run(visits())
    assert [answer[0] for answer in seen[1::2]] == [200] * 5


def test_two_visits_share_the_port() -> None:
    async def both() -> tuple[str, str]:
        return await asyncio.gather(
            browser.visit("https://as.example/?state=one"), browser.visit("https://as.example/?state=two")
        )

    opened = threading.Barrier(2)

    def open_page(url: str) -> None:
        opened.wait(PATIENCE)
        with urlopen(f"{browser.redirect_uri}?code=1&{url.partition('?')[2]}", timeout=PATIENCE):
            pass

    browser = barewire.Browser(open=open_page)
    first, second = asyncio.run(both())
    assert (first[-3:], second[-3:]) == ("one", "two")


def test_a_visit_can_be_cancelled() -> None:
    browser = barewire.Browser(open=lambda _: None)
    with pytest.raises(asyncio.TimeoutError):
        asyncio.run(asyncio.wait_for(browser.visit(URL), 0.05))


def test_the_port_can_be_chosen() -> None:
    assert barewire.Browser(port=8765).redirect_uri == "http://127.0.0.1:8765/callback"
