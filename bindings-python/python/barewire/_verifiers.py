"""Whether an access token that is a signed JWT is genuine, and what it says."""

from __future__ import annotations

import hashlib
import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import msgspec

from . import _native as native
from ._fetch import FAILURES, TooLarge, fetch, json_object, plain_client, refuse_plaintext
from ._protection import VerifierUnavailableError

try:
    import anyio
    from joserfc import errors as jose_errors
    from joserfc import jws
    from joserfc.jwk import KeySet, import_key
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "verifying tokens needs joserfc: pip install 'barewire[auth]'", name=error.name
    ) from error

if TYPE_CHECKING:
    import httpx2

__all__ = ["JwtVerifier"]

#: Algorithms that need no secret of ours. A key is only used for those that fit it.
ALGORITHMS = (
    "ES256",
    "ES384",
    "ES512",
    "RS256",
    "RS384",
    "RS512",
    "PS256",
    "PS384",
    "PS512",
    "Ed25519",
    "EdDSA",
)
#: Bytes of a document or an answer, at most.
_LIMIT = 256 << 10
#: Seconds for which keys are used without asking again.
_KEYS_LAST = 600.0
#: Seconds between two requests for keys, at least: a token with an unknown key must not cause one each.
_KEYS_PAUSE = 10.0
#: Bytes of a token, at most.
_LONGEST = 16 << 10
#: Tokens whose verification is remembered.
_REMEMBERED = 1024


class JwtVerifier:
    """Verifies access tokens that are signed JWTs (RFC 9068).

    The keys are those of `issuer`, fetched from `jwks_uri`, or from where its metadata says, and kept for ten
    minutes. `algorithms` are those that are accepted; there is none among them that works without a public
    key. `http` is an ``httpx2.AsyncClient`` of your own, for proxies and certificates.
    """

    def __init__(
        self,
        issuer: str,
        *,
        jwks_uri: str | None = None,
        algorithms: Sequence[str] = ALGORITHMS,
        http: httpx2.AsyncClient | None = None,
    ) -> None:
        weak = [name for name in algorithms if name not in ALGORITHMS]
        if weak:
            raise ValueError(f"{weak[0]!r} is none of {', '.join(ALGORITHMS)}")
        self.issuer = issuer
        self._jwks_uri = None if jwks_uri is None else refuse_plaintext(jwks_uri)
        self._registry = jws.JWSRegistry(algorithms=list(algorithms), strict_check_header=False)
        self._http = http or plain_client()
        self._keys: KeySet | None = None
        #: What genuine tokens say, by their digests; as long as the keys are these.
        self._genuine: OrderedDict[bytes, bytes] = OrderedDict()
        self._fetched = self._asked = float("-inf")
        self._failure: Exception | None = None
        self._fetching = anyio.Lock()

    def __repr__(self) -> str:
        return f"JwtVerifier({self.issuer!r})"

    async def verify(self, token: str) -> Mapping[str, Any] | None:
        """The claims of a token that `issuer` has signed."""
        if len(token) > _LONGEST:
            return None
        is_old = time.monotonic() - self._fetched > _KEYS_LAST
        # One request at a time asks whether there are new keys; the others do not wait for it.
        if self._keys is None or (is_old and not self._fetching.locked()):
            await self._refresh()
        try:
            return self._claims(token)
        except jose_errors.InvalidKeyIdError:
            await self._refresh()  # the issuer may have new keys
        try:
            return self._claims(token)
        except jose_errors.InvalidKeyIdError:
            return None

    def _claims(self, token: str) -> Mapping[str, Any] | None:
        digest = hashlib.sha256(token.encode()).digest()
        payload = self._genuine.get(digest)
        if payload is None:
            payload = self._payload(token)
            if payload is None:
                return None
            self._genuine[digest] = payload
            if len(self._genuine) > _REMEMBERED:
                self._genuine.popitem(last=False)
        try:
            claims = msgspec.json.decode(payload)
        except (ValueError, RecursionError):
            return None
        return claims if isinstance(claims, dict) and claims.get("iss") == self.issuer else None

    def _payload(self, token: str) -> bytes | None:
        """What a token says that is signed with one of the keys. Raises InvalidKeyIdError for another key."""
        assert self._keys is not None
        try:
            signed = jws.deserialize_compact(token, self._keys, registry=self._registry)
        except jose_errors.InvalidKeyIdError:
            raise
        except (jose_errors.JoseError, ValueError):
            return None
        # An ID token, a logout token and the like are for others, though the same key has signed them.
        is_ours = str(signed.protected.get("typ", "JWT")).lower() in _TYPES
        return signed.payload if is_ours else None

    async def _refresh(self) -> None:
        """Fetch the keys, unless that was tried just now. Old ones do as long as there are no others."""
        async with self._fetching:
            if time.monotonic() - self._asked > _KEYS_PAUSE:
                try:
                    uri = self._jwks_uri or await self._discover()
                    self._keys = _keys(json_object(await self._get(uri)))
                    self._genuine.clear()
                    self._fetched = time.monotonic()
                except (VerifierUnavailableError, ValueError) as error:
                    self._failure = error
                self._asked = time.monotonic()
        if self._keys is None:
            raise VerifierUnavailableError(f"the keys of {self.issuer} cannot be had") from self._failure

    async def _discover(self) -> str:
        """Where the keys are, says the metadata of the issuer."""
        for url in native.server_metadata_urls(self.issuer):
            try:
                document = json_object(await self._get(url))
            except (VerifierUnavailableError, ValueError):
                continue
            uri = document.get("jwks_uri")
            if document.get("issuer") == self.issuer and isinstance(uri, str):
                return refuse_plaintext(uri)
        raise VerifierUnavailableError(f"the metadata of {self.issuer} cannot be had")

    async def _get(self, url: str) -> bytes:
        try:
            response = await fetch(self._http, "GET", url, [("accept", "application/json")], limit=_LIMIT)
        except (*FAILURES, TooLarge) as error:
            raise VerifierUnavailableError(f"{url} cannot be had") from error
        if response.status != 200:
            raise VerifierUnavailableError(f"{url} answers {response.status}")
        return response.body


_TYPES = ("jwt", "at+jwt", "application/at+jwt")


def _keys(document: dict[str, Any]) -> KeySet:
    """The keys of a set that can be used here; others may be of a kind that is not known yet."""
    found: list[Any] = []
    entries = document.get("keys")
    for entry in entries if isinstance(entries, list) else ():
        with suppress(jose_errors.JoseError, TypeError, ValueError):
            found.append(import_key(entry))
    if not found:
        raise ValueError("the set has no keys that can be used")
    return KeySet(found)
