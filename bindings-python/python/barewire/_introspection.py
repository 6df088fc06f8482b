"""Access tokens that their authorization server is asked about."""

from __future__ import annotations

import hashlib
import time
from base64 import b64encode
from collections import OrderedDict
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import quote_plus, urlencode

from ._fetch import FAILURES, TooLarge, fetch, json_object, plain_client, refuse_plaintext
from ._protection import VerifierUnavailableError

if TYPE_CHECKING:
    import httpx2

__all__ = ["Introspection"]

#: Bytes of an answer, at most.
_LIMIT = 256 << 10
#: Bytes of a token, at most.
_LONGEST = 16 << 10
#: Answers that are remembered.
_REMEMBERED = 1024


class Introspection:
    """Asks the authorization server about each access token (RFC 7662).

    `endpoint` has https, or is on this machine. `client_id` and `client_secret` are those of this resource
    server. An answer is kept for `remembers` seconds at most, during which a revoked token is still taken;
    0: not at all. `issuer` is the issuer identifier of the authorization server: answers may leave out whom a
    token is from, and many do. Without it such a token is refused.
    """

    def __init__(
        self,
        endpoint: str,
        client_id: str,
        client_secret: str,
        *,
        issuer: str | None = None,
        remembers: float = 0.0,
        http: httpx2.AsyncClient | None = None,
    ) -> None:
        self._endpoint = refuse_plaintext(endpoint)
        self._credentials = (client_id, client_secret)
        self._stated = {} if issuer is None else {"iss": issuer}
        self._remembers = remembers
        self._http = http or plain_client()
        #: Claims by the digest of the token, and until when they are good.
        self._known: OrderedDict[bytes, tuple[float, Mapping[str, Any] | None]] = OrderedDict()

    def __repr__(self) -> str:
        return f"Introspection({self._endpoint!r})"

    async def verify(self, token: str) -> Mapping[str, Any] | None:
        """What the server says of an active token."""
        if len(token) > _LONGEST:
            return None
        digest, now = hashlib.sha256(token.encode()).digest(), time.monotonic()
        known = self._known.get(digest)
        if known is not None and known[0] > now:
            return known[1]
        claims = await self._ask(token)
        if self._remembers > 0:
            self._known[digest] = (now + self._remembers, claims)
            while len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)
        return claims

    async def _ask(self, token: str) -> Mapping[str, Any] | None:
        form = urlencode({"token": token, "token_type_hint": "access_token"}).encode()
        headers = [
            ("accept", "application/json"),
            ("content-type", "application/x-www-form-urlencoded"),
            ("authorization", _basic(*self._credentials)),
        ]
        try:
            response = await fetch(self._http, "POST", self._endpoint, headers, form, limit=_LIMIT)
            answer = json_object(response.body) if response.status == 200 else None
        except (*FAILURES, TooLarge, ValueError) as error:
            raise VerifierUnavailableError(f"{self._endpoint} cannot be asked") from error
        if answer is None:
            raise VerifierUnavailableError(f"{self._endpoint} answers {response.status}")
        return {**self._stated, **answer} if answer.get("active") is True else None


def _basic(name: str, secret: str) -> str:
    """Credentials as OAuth wants them, encoded before they are joined (RFC 6749, section 2.3.1)."""
    return "Basic " + b64encode(f"{quote_plus(name)}:{quote_plus(secret)}".encode()).decode()
