"""A protected server: who may come in, and what they may do. `Server.asgi` takes it as `auth`."""

from __future__ import annotations

import time
from base64 import urlsafe_b64decode
from binascii import Error as Base64Error
from collections.abc import Awaitable, Callable, Mapping, MutableMapping, Sequence
from typing import Any, Protocol

import msgspec

from . import _native as native

__all__ = ["Caller", "ResourceServer", "TokenVerifier", "VerifierUnavailableError"]


class VerifierUnavailableError(Exception):
    """It cannot be found out now whether a token is genuine: the request is answered with 503."""


class TokenVerifier(Protocol):
    """Finds out what an access token says."""

    async def verify(self, token: str) -> Mapping[str, Any] | None:
        """The claims of a genuine token, under the names of RFC 9068 and RFC 7662; None for any other.

        Who issued it, for whom, when it expires and what it allows is judged afterwards, by what the claims
        say. It raises VerifierUnavailableError when it cannot tell now.
        """


class Caller:
    """Who sends a request, as the token says that came with it: `Context.caller`.

    `issuer` is the authorization server that vouches for `subject`, who acts through the `client`, if that is
    known. `scopes` were granted. `claims` are all that the token says; the token itself is kept nowhere.
    """

    __slots__ = ("_principal", "claims", "client", "issuer", "key", "scopes", "subject")

    def __init__(self, principal: native.Principal, claims: Mapping[str, Any]) -> None:
        self._principal = principal
        self.issuer = principal.issuer
        self.subject = principal.subject
        self.client = principal.client
        self.scopes = tuple(principal.scopes)
        self.claims = claims
        #: The same for the same issuer, subject and client, and for no others: what data may be filed under.
        self.key = principal.key

    def __repr__(self) -> str:
        return f"Caller({self.subject!r} of {self.issuer!r}, scopes={self.scopes!r})"


class ResourceServer:
    """Protects a server with access tokens (OAuth 2.1): ``server.asgi(auth=ResourceServer(...))``.

    `resource` is the URL of the endpoint as clients know it, such as ``"https://mcp.example/mcp"``, and
    `authorization_servers` the issuer identifiers of those whose tokens are taken. `verifier` finds out
    whether a token is genuine: by default a JwtVerifier for each of them (extra ``barewire[auth]``); an
    Introspection, or any object with its method.

    `scopes` are needed for every request, and named to clients that have no token yet. What more a tool needs
    says its decorator. `implies(granted, needed)` says whether a scope that was granted stands for one that
    is needed, beside itself. Tokens must be for `resource`, or for one of `audiences`. Clocks may differ by
    `leeway` seconds. `name` and `documentation`, a page for developers, are told in the metadata of the
    server.

    The metadata is served at the paths of `metadata_paths`, at the root of the host, by the application
    itself where it gets these requests. Where it is mounted in another one, that has to route them to
    `metadata`, which is an ASGI application.
    """

    def __init__(
        self,
        resource: str,
        authorization_servers: str | Sequence[str],
        *,
        verifier: TokenVerifier | None = None,
        scopes: Sequence[str] = (),
        implies: Callable[[str, str], bool] | None = None,
        audiences: Sequence[str] = (),
        name: str | None = None,
        documentation: str | None = None,
        leeway: float = 30.0,
    ) -> None:
        if isinstance(scopes, str) or isinstance(audiences, str):
            raise TypeError("scopes and audiences are lists of strings")
        issuers = [authorization_servers] if isinstance(authorization_servers, str) else authorization_servers
        self._rules = native.ResourceServer(
            resource=resource,
            authorization_servers=list(issuers),
            scopes=list(scopes),
            audiences=list(audiences),
            name=name,
            documentation=documentation,
            leeway=round(leeway * 1000),
        )
        self._scopes = list(scopes)
        self._implies = implies
        self._verifier: TokenVerifier = _OneOf(issuers) if verifier is None else verifier
        self._paths = frozenset(self._rules.metadata_paths)

    def __repr__(self) -> str:
        return f"ResourceServer({self._rules.metadata_url!r})"

    @property
    def metadata_paths(self) -> list[str]:
        """The paths of the host at which clients look for the metadata."""
        return self._rules.metadata_paths

    async def metadata(
        self,
        scope: MutableMapping[str, Any],
        receive: Callable[[], Awaitable[MutableMapping[str, Any]]],
        send: Callable[[MutableMapping[str, Any]], Awaitable[None]],
    ) -> None:
        """The metadata, as an ASGI application for its paths. It is for anybody."""
        status, headers, body = self.metadata_response(scope["method"])
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    def metadata_response(self, method: str) -> tuple[int, list[tuple[bytes, bytes]], bytes]:
        """Status, headers and body of the answer to a request at one of its paths."""
        if method not in ("GET", "HEAD"):
            return 405, [(b"allow", b"GET, HEAD"), (b"content-length", b"0")], b""
        body = self._rules.metadata()
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", b"%d" % len(body)),
            (b"access-control-allow-origin", b"*"),
            (b"cache-control", b"max-age=3600"),
        ]
        return 200, headers, b"" if method == "HEAD" else body

    def serves(self, path: str) -> bool:
        """Whether the metadata is at this path of the host."""
        return path in self._paths

    async def admit(
        self, headers: Sequence[tuple[bytes, bytes]], query: str
    ) -> Caller | tuple[int, str | None]:
        """Who sends a request with these headers and this query string; or status and challenge, if it is
        refused.
        """
        try:
            admitted = await self._judge(headers, query)
        except VerifierUnavailableError as error:
            import logging

            logging.getLogger("barewire").warning("tokens cannot be verified: %s", error)
            return (503, None)
        if isinstance(admitted, native.AccessDenied):
            return (admitted.status, admitted.challenge)
        return admitted

    async def _judge(
        self, headers: Sequence[tuple[bytes, bytes]], query: str
    ) -> Caller | native.AccessDenied:
        rules = self._rules
        token = rules.bearer(headers, query)
        if isinstance(token, native.AccessDenied):
            return token
        claims = await self._verifier.verify(token)
        if claims is None:
            return rules.deny("invalid_token")
        principal = rules.judge(msgspec.json.encode(claims), int(time.time() * 1000))
        if isinstance(principal, native.AccessDenied):
            return principal
        caller = Caller(principal, claims)
        return self.forbids(caller, self._scopes) or caller

    def forbids(self, caller: Caller, needed: Sequence[str]) -> native.AccessDenied | None:
        """A refusal, if somebody lacks one of the scopes that an operation needs."""
        return self._rules.authorize(caller._principal, [*self._more(needed), *needed], self._implies)

    def _more(self, needed: Sequence[str]) -> list[str]:
        """What every operation needs beside: one challenge names all of it."""
        return [scope for scope in self._scopes if scope not in needed]


class _OneOf:
    """Verifies the tokens of several issuers, each by its own keys."""

    def __init__(self, issuers: Sequence[str]) -> None:
        from ._verifiers import JwtVerifier

        self._verifiers = {issuer: JwtVerifier(issuer) for issuer in issuers}

    async def verify(self, token: str) -> Mapping[str, Any] | None:
        """The claims of a token that the issuer which it names has signed."""
        verifier = self._verifiers.get(_issuer_of(token) or "")
        return None if verifier is None else await verifier.verify(token)


def _issuer_of(token: str) -> str | None:
    """Who a token says that it is from. That proves nothing."""
    parts = token.split(".")
    if len(parts) != 3:
        return None
    try:
        claims = msgspec.json.decode(urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4)))
    except (Base64Error, ValueError, RecursionError):
        return None
    issuer = claims.get("iss") if isinstance(claims, dict) else None
    return issuer if isinstance(issuer, str) else None
