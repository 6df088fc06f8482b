"""Around the authorization machine: addresses, requests that never end, the lock of a store."""

from __future__ import annotations

import asyncio
import json
import traceback
from base64 import urlsafe_b64encode

import barewire
import pytest
from anyio import to_thread
from barewire import _authorizer, _fetch, _protection

#: Long enough for a loaded machine; a passing test never waits for it.
PATIENCE = 60.0
KEY = "https://mcp.example/mcp"


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "10.1.2.3",
        "169.254.169.254",
        "100.64.0.1",
        "0.0.0.0",
        "239.1.2.3",
        "2852039166",
        "0x7f.1",
        "[::1]",
        "[::]",
        "[fe80::1]",
        "[fd00::1]",
        "[ff02::1]",
        "[::ffff:10.1.2.3]",
        "[::169.254.169.254]",
        "[64:ff9b::169.254.169.254]",
        "[2002:a9fe:a9fe::1]",
    ],
)
def test_addresses_of_private_networks_are_known_in_every_spelling(host: str) -> None:
    assert asyncio.run(_fetch.is_inside(f"https://{host}/token"))


@pytest.mark.parametrize(
    "host", ["93.184.216.34", "[2606:4700::1]", "[64:ff9b::8.8.8.8]", "[2002:808:808::1]"]
)
def test_addresses_of_the_internet_are_none_of_them(host: str) -> None:
    assert not asyncio.run(_fetch.is_inside(f"https://{host}:8443/token"))


def test_a_response_that_trickles_for_ever_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_fetch, "_LONGEST", 0.5)

    async def trickle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
        try:
            while True:
                writer.write(b" ")
                await writer.drain()
                await asyncio.sleep(0.01)
        except OSError:
            writer.close()

    async def ask() -> None:
        server = await asyncio.start_server(trickle, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        async with _fetch.plain_client() as client:
            with pytest.raises(_fetch.FAILURES):
                await asyncio.wait_for(
                    _fetch.fetch(client, "GET", f"http://127.0.0.1:{port}/", limit=1 << 20), PATIENCE
                )
        server.close()

    asyncio.run(ask())


def test_those_who_wait_for_a_lock_leave_threads_to_its_holder() -> None:
    grant = barewire.ClientCredentials(barewire.OAuthClient("id", secret="secret"))

    async def crowd() -> None:
        first = _authorizer._StoreLock(grant, KEY)
        await first.acquire()
        # More than there are threads.
        others = [_authorizer._StoreLock(grant, KEY) for _ in range(60)]
        waiting = [asyncio.create_task(other.acquire()) for other in others]
        await asyncio.sleep(0.1)
        assert await asyncio.wait_for(to_thread.run_sync(grant._store.load, KEY), PATIENCE) is None
        first.release()
        for _ in others:
            done, pending = await asyncio.wait(waiting, timeout=PATIENCE, return_when=asyncio.FIRST_COMPLETED)
            assert len(done) == 1
            waiting = list(pending)
            held = [other for other in others if other.is_held]
            assert len(held) == 1
            held[0].release()

    asyncio.run(crowd())


async def hang_up_on_token_requests(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """A server, and its authorization server, that has everything but an answer to whoever sends secrets."""
    head = await reader.readuntil(b"\r\n\r\n")
    place = head.split(b" ", 2)[1]
    port = writer.get_extra_info("sockname")[1]
    url = f"http://127.0.0.1:{port}"
    documents = {
        b"/.well-known/oauth-protected-resource": {"resource": url, "authorization_servers": [url]},
        b"/.well-known/oauth-authorization-server": {
            "issuer": url,
            "token_endpoint": f"{url}/token",
            "token_endpoint_auth_methods_supported": ["client_secret_post"],
            "grant_types_supported": ["client_credentials"],
        },
    }
    if place != b"/token":
        body = json.dumps(documents.get(place, {})).encode()
        status = "200 OK" if place in documents else "401 Unauthorized\r\nWWW-Authenticate: Bearer"
        writer.write(
            f"HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: {len(body)}\r\n\r\n".encode()
        )
        writer.write(body)
    await writer.drain()
    writer.close()


def test_a_failure_shows_nothing_that_was_sent() -> None:
    secret = "hidden" + "-secret"  # not as it stands in any line that is shown

    async def fail() -> None:
        server = await asyncio.start_server(hang_up_on_token_requests, "127.0.0.1", 0)
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        auth = barewire.ClientCredentials(barewire.OAuthClient("id", secret=secret))
        async with server, barewire.Client(url, auth=auth) as client:
            await client.list_tools()

    with pytest.raises(barewire.UnauthorizedError) as refused:
        asyncio.run(fail())
    reason = refused.value.__cause__
    assert isinstance(reason, barewire.AuthorizationError)
    assert isinstance(reason.__cause__, _fetch.FAILURES)
    # As programs that report errors do it.
    shown = "".join(traceback.TracebackException.from_exception(reason, capture_locals=True).format())
    assert secret not in shown


def test_claims_that_are_nested_too_deep_name_no_issuer() -> None:
    claims = urlsafe_b64encode(b"[" * 9000).decode()
    assert _protection._issuer_of(f"e30.{claims}.e30") is None
    with pytest.raises(ValueError, match="nested"):
        _fetch.json_object(b"[" * 9000)
