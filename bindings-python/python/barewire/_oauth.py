"""How a client comes by the tokens that a protected server wants: what `Client(url, auth=...)` takes."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from . import _native as native
from ._token_store import MemoryTokenStore, TokenStore

if TYPE_CHECKING:
    import httpx2

    from ._user_agent import UserAgent

__all__ = ["ClientCredentials", "EnterpriseManaged", "Grant", "OAuth", "OAuthClient", "WorkloadIdentity"]


class OAuthClient:
    """A client that is registered with an authorization server.

    It authenticates with `secret`, sent as `method` says or, without it, as the server likes it; or with JWTs
    that `key` signs with `algorithm` (``private_key_jwt``, extra ``barewire[auth]``); or, a public client,
    not at all. `key` is a private key in PEM, or a function that signs bytes and gives the signature as JWS
    has it; the JWTs name it `key_id` and are for the `audience` that the server wants.

    `issuer` is the issuer identifier of the server that it is registered with, character for character: its
    secret is sent to no other. Without it, that is the first server which the MCP server names.
    """

    def __init__(
        self,
        client_id: str,
        *,
        issuer: str | None = None,
        secret: str | None = None,
        method: Literal["basic", "post"] | None = None,
        key: str | bytes | Callable[[bytes], bytes] | None = None,
        algorithm: str = "ES256",
        key_id: str | None = None,
        audience: Literal["issuer", "token_endpoint"] = "issuer",
    ) -> None:
        self.client_id = client_id
        self.issuer = issuer
        self._registration = native.ClientRegistration(
            client_id,
            issuer=issuer,
            secret=secret,
            method=method,
            algorithm=None if key is None else algorithm,
            key_id=key_id,
            audience=audience,
        )
        self._sign = None if key is None else signer(key, algorithm)

    def __repr__(self) -> str:
        issuer = "" if self.issuer is None else f", issuer={self.issuer!r}"
        return f"OAuthClient({self.client_id!r}{issuer})"


class Grant:
    """What all ways to come by tokens have in common; see its subclasses."""

    _name: Literal["authorization_code", "client_credentials", "enterprise", "workload_identity"]

    def __init__(
        self,
        clients: Sequence[OAuthClient],
        *,
        scopes: Sequence[str] | None,
        store: TokenStore | None,
        account: str,
        dpop: bool | str | bytes,
        allows: Callable[[str, str], bool] | None,
        http: httpx2.AsyncClient | None,
    ) -> None:
        if isinstance(scopes, str):
            raise TypeError(f"scopes is a list, such as {scopes.split()!r}")
        self._clients = list(clients)
        self._scopes = None if scopes is None else list(scopes)
        self._store: TokenStore = MemoryTokenStore() if store is None else store
        self._account = account
        self._proof_key = _ProofKey(dpop) if dpop else None
        self._allows = allows
        self._http = http

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def _machine(self, url: str) -> native.Authorization:
        """A machine for the server at `url`."""
        proof = self._proof_key
        return native.Authorization(
            server_url=url,
            grant=self._name,
            seed=os.urandom(32),
            clients=[client._registration for client in self._clients],
            scopes=self._scopes,
            dpop_algorithm=None if proof is None else proof.algorithm,
            dpop_public_key=None if proof is None else proof.public_key,
            **self._settings(),
        )

    def _settings(self) -> dict[str, Any]:
        return {}

    def _key(self, url: str) -> str:
        """The key of the store's record for the server at `url`."""
        return f"{url} {self._account}" if self._account else url

    def _signer(self, request: native.SigningRequest) -> Callable[[bytes], bytes]:
        """What signs with the key that a request is about."""
        if request.key == "dpop":
            assert self._proof_key is not None
            return self._proof_key.sign
        for client in self._all_clients():
            if client.client_id == request.client_id and client._sign is not None:
                return client._sign
        raise LookupError("no client of this id has a key")

    def _all_clients(self) -> Sequence[OAuthClient]:
        return self._clients


class OAuth(Grant):
    """A user consents in a browser (authorization code with PKCE): ``Client(url, auth=OAuth())``.

    Nobody is asked before the server wants a token, nor as long as a stored token is good or can be renewed.

    `client` is the client to be, or several, each with its issuer. `client_metadata_url` is the URL of a
    document that describes this client (a client id metadata document), for servers that take such. Where
    neither serves, the client registers itself under `client_name`, unless that is None; and where that
    cannot be, `ask_client` is called with the issuer, to have the user name a client.

    `user_agent` is where the user consents: :class:`barewire.Browser` by default. `timeout` is how many
    seconds the user has for it.

    `scopes` are asked for instead of those that the server names. `offline` asks for a refresh token. `dpop`
    binds tokens to a key, where the authorization server knows how: one that is made anew with each OAuth
    object, or a P-256 key of yours in PEM, which a store that outlives the process needs. `legacy_endpoints`
    falls back to the fixed endpoints of 2025-03-26, which later revisions forbid.

    `store` keeps tokens and registrations, by default as long as this object lives. `account` tells several
    users of one server apart in it. The object may be given to any number of clients, which then share
    tokens.

    Addresses of this machine and of private networks are reached only if the MCP server is there itself;
    `allows`, called with the purpose and the URL of each request, decides instead. `http` is an
    ``httpx2.AsyncClient`` for these requests, for proxies and certificates; it must not add credentials of
    its own.

    What goes wrong is an :class:`barewire.AuthorizationError`, the ``__cause__`` of the error of the request.
    """

    _name = "authorization_code"

    def __init__(
        self,
        client: OAuthClient | Sequence[OAuthClient] = (),
        *,
        client_metadata_url: str | None = None,
        client_name: str | None = "barewire",
        application_type: Literal["native", "web"] | None = None,
        ask_client: Callable[[str], OAuthClient | Awaitable[OAuthClient]] | None = None,
        user_agent: UserAgent | None = None,
        timeout: float = 600.0,
        scopes: Sequence[str] | None = None,
        offline: bool = True,
        dpop: bool | str | bytes = False,
        legacy_endpoints: bool = False,
        store: TokenStore | None = None,
        account: str = "",
        allows: Callable[[str, str], bool] | None = None,
        http: httpx2.AsyncClient | None = None,
    ) -> None:
        clients = [client] if isinstance(client, OAuthClient) else client
        super().__init__(
            clients, scopes=scopes, store=store, account=account, dpop=dpop, allows=allows, http=http
        )
        if user_agent is None:
            from ._user_agent import Browser

            user_agent = Browser()
        self._user_agent = user_agent
        self._ask_client = ask_client
        self._named: list[OAuthClient] = []
        document = client_metadata_url
        self._code_settings: dict[str, Any] = {
            "client_name": client_name,
            "application_type": application_type,
            "metadata_client": None if document is None else native.ClientRegistration(document),
            "asks_for_client": ask_client is not None,
            "wants_refresh": offline,
            "legacy_endpoints": legacy_endpoints,
            "callback_timeout": round(timeout * 1000),
        }

    def _settings(self) -> dict[str, Any]:
        return {**self._code_settings, "redirect_uri": self._user_agent.redirect_uri}

    def _all_clients(self) -> Sequence[OAuthClient]:
        return [*self._clients, *self._named]


class ClientCredentials(Grant):
    """The client acts for itself: ``Client(url, auth=ClientCredentials(OAuthClient("id", secret="...")))``.

    `client` has a secret or a key. The other settings are those of :class:`barewire.OAuth`.
    """

    _name = "client_credentials"

    def __init__(
        self,
        client: OAuthClient,
        *,
        scopes: Sequence[str] | None = None,
        dpop: bool | str | bytes = False,
        store: TokenStore | None = None,
        account: str = "",
        allows: Callable[[str, str], bool] | None = None,
        http: httpx2.AsyncClient | None = None,
    ) -> None:
        super().__init__(
            [client], scopes=scopes, store=store, account=account, dpop=dpop, allows=allows, http=http
        )


class EnterpriseManaged(Grant):
    """The identity provider of an organisation vouches for its user (enterprise-managed authorization).

    `assertion` gives an assertion of the user's identity that is valid now: the ID token, or the SAML
    assertion if `assertion_type` says so. It is called with the issuer and the resource, and may be a
    coroutine function. The identity provider exchanges it at `token_endpoint`, where this client is
    `provider_client`; at the authorization server it is `client`. The other settings are those of
    :class:`barewire.OAuth`.
    """

    _name = "enterprise"

    def __init__(
        self,
        client: OAuthClient,
        *,
        token_endpoint: str,
        provider_client: OAuthClient,
        assertion: Callable[[str, str], str | Awaitable[str]],
        assertion_type: Literal["id_token", "saml2"] = "id_token",
        scopes: Sequence[str] | None = None,
        dpop: bool | str | bytes = False,
        store: TokenStore | None = None,
        account: str = "",
        allows: Callable[[str, str], bool] | None = None,
        http: httpx2.AsyncClient | None = None,
    ) -> None:
        super().__init__(
            [client], scopes=scopes, store=store, account=account, dpop=dpop, allows=allows, http=http
        )
        self._provider_client = provider_client
        self._assertion = assertion
        self._provider_settings = {
            "token_endpoint": token_endpoint,
            "provider_client": provider_client._registration,
            "subject_token_type": assertion_type,
        }

    def _settings(self) -> dict[str, Any]:
        return self._provider_settings

    def _all_clients(self) -> Sequence[OAuthClient]:
        return [*self._clients, self._provider_client]


class WorkloadIdentity(Grant):
    """A workload exchanges the JWT that its platform gives it (RFC 7523).

    `assertion` gives such a JWT, valid now and for the issuer that it is called with beside the resource; it
    may be a coroutine function. `client` is the client that the workload is. The other settings are those of
    :class:`barewire.OAuth`.
    """

    _name = "workload_identity"

    def __init__(
        self,
        client: OAuthClient,
        *,
        assertion: Callable[[str, str], str | Awaitable[str]],
        scopes: Sequence[str] | None = None,
        dpop: bool | str | bytes = False,
        store: TokenStore | None = None,
        account: str = "",
        allows: Callable[[str, str], bool] | None = None,
        http: httpx2.AsyncClient | None = None,
    ) -> None:
        super().__init__(
            [client], scopes=scopes, store=store, account=account, dpop=dpop, allows=allows, http=http
        )
        self._assertion = assertion


class _ProofKey:
    """The key that tokens are bound to."""

    algorithm = "ES256"

    def __init__(self, given: bool | str | bytes) -> None:
        _, jwk = _jose()
        key = jwk.ECKey.generate_key("P-256") if given is True else jwk.import_key(given, "EC")
        self.sign = signer_of(key, self.algorithm)
        public = key.as_dict(private=False)
        self.public_key = msgspec.json.encode({name: public[name] for name in ("kty", "crv", "x", "y")})


def signer(key: str | bytes | Callable[[bytes], bytes], algorithm: str) -> Callable[[bytes], bytes]:
    """What signs bytes with a key; it raises ValueError for a key that does not fit."""
    if callable(key):
        return key
    jws, jwk = _jose()
    model = jws.JWSRegistry.algorithms.get(algorithm)
    if model is None or model.key_type == "oct":
        raise ValueError(f"{algorithm!r} is no algorithm for a private key")
    try:
        return signer_of(jwk.import_key(key, model.key_type), algorithm)
    except Exception as error:  # joserfc and what it stands on have many kinds
        raise ValueError(f"the key is no private key for {algorithm} in PEM") from error


def signer_of(key: Any, algorithm: str) -> Callable[[bytes], bytes]:
    """What signs bytes with a key of joserfc."""
    jws, _ = _jose()
    model = jws.JWSRegistry(algorithms=[algorithm]).get_alg(algorithm)
    model.check_key(key)  # one that does not fit shows where it is written

    def sign(data: bytes) -> bytes:
        signature: bytes = model.sign(data, key)
        return signature

    return sign


def _jose() -> tuple[Any, Any]:
    try:
        from joserfc import jwk, jws
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "signing with a key needs joserfc: pip install 'barewire[auth]'", name=error.name
        ) from error
    return jws, jwk
