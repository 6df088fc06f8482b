"""Requests beside those of the protocol: to authorization servers, whose addresses others have named."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Iterable
from http.cookiejar import DefaultCookiePolicy
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import msgspec

from . import _native as native

try:
    import anyio
    import httpx2
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "authorization needs httpx2: pip install 'barewire[auth]'", name=error.name
    ) from error

__all__ = [
    "FAILURES",
    "AddressRefused",
    "Response",
    "TooLarge",
    "fetch",
    "is_inside",
    "json_object",
    "plain_client",
    "refuse_inside",
    "refuse_plaintext",
]

#: Seconds that a request takes with all of its response, at most.
_LONGEST = 60.0
#: IPv6 addresses in which translators find an IPv4 address, with the bits behind that.
_TRANSLATED = (
    (ipaddress.IPv6Network("::/96"), 0),
    (ipaddress.IPv6Network("64:ff9b::/96"), 0),
    (ipaddress.IPv6Network("2002::/16"), 80),
)
#: What a request may end with in place of a response.
FAILURES = (OSError, httpx2.HTTPError, httpx2.InvalidURL)


class TooLarge(Exception):
    """The body of a response has more bytes than it may."""


class AddressRefused(Exception):
    """The address belongs to a network that is not reached for others."""


class Response(NamedTuple):
    """What came back."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes


def plain_client() -> httpx2.AsyncClient:
    """A client that knows nobody: it keeps no cookies, and follows no redirects."""
    client = httpx2.AsyncClient(follow_redirects=False, timeout=30.0)
    client.cookies.jar.set_policy(DefaultCookiePolicy(allowed_domains=[]))
    return client


async def fetch(
    client: httpx2.AsyncClient,
    method: str,
    url: str,
    headers: Iterable[tuple[str, str]] = (),
    body: bytes = b"",
    *,
    limit: int,
) -> Response:
    """Make one request. The body of the response may have `limit` bytes, and comes as it is, uncompressed.

    TimeoutError, an OSError, if it takes long, be it that the response never stalls and never ends.
    """
    request = client.stream(
        method,
        url,
        headers=[*headers, ("accept-encoding", "identity")],
        content=body or None,
        auth=None,
        follow_redirects=False,
    )
    with anyio.fail_after(_LONGEST):
        async with request as response:
            received = bytearray()
            async for data in response.aiter_raw():
                received += data
                if len(received) > limit:
                    raise TooLarge
            return Response(response.status_code, response.headers.multi_items(), bytes(received))


def refuse_plaintext(url: str) -> str:
    """The URL of an endpoint, unless others could read along. Raises ValueError."""
    if not native.server_metadata_urls(url):
        raise ValueError(f"{url!r} is no URL with https, nor one of this machine")
    return url


async def refuse_inside(url: str) -> None:
    """Raise AddressRefused if any address of the host of `url` is not one of the public internet."""
    if await is_inside(url):
        raise AddressRefused(f"{urlsplit(url).hostname} is not on the public internet")


async def is_inside(url: str) -> bool:
    """Whether any address of the host is on this machine or in a private network.

    A name that leads nowhere from here is left to whoever connects, which may be a proxy.
    """
    parts = urlsplit(url)
    try:
        found = await anyio.getaddrinfo(parts.hostname or "", parts.port or 443, type=socket.SOCK_STREAM)
    except OSError:
        return False
    return any(not _is_public(str(entry[4][0]).partition("%")[0]) for entry in found)


def _is_public(text: str) -> bool:
    """Whether an address is one of the public internet, and so is the IPv4 address that it may stand for."""
    address = ipaddress.ip_address(text)
    if not address.is_global or address.is_multicast:
        return False
    meant = [int(address) >> bits & 0xFFFFFFFF for network, bits in _TRANSLATED if address in network]
    return all(ipaddress.IPv4Address(number).is_global for number in meant)


def json_object(text: bytes) -> dict[str, Any]:
    """The JSON object in a text. Raises ValueError for anything else."""
    try:
        value = msgspec.json.decode(text)
    except RecursionError:
        raise ValueError("JSON that is nested too deep") from None
    if not isinstance(value, dict):
        raise ValueError("no JSON object")
    return value
