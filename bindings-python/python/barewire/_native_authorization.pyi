"""Authorization in the extension module: the OAuth client as a machine, and the rules of a protected server.

They live in `barewire._native`. There is no module behind this stub. Times are milliseconds since 1970.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Final, Literal, TypeAlias, final

from ._aliases import Json
from ._errors import AuthorizationError

_Record: TypeAlias = tuple[int, str]
_DenialReason: TypeAlias = Literal[
    "no_token",
    "malformed",
    "invalid_token",
    "expired",
    "not_yet_valid",
    "wrong_issuer",
    "wrong_audience",
    "bound",
    "insufficient_scope",
]

@final
class ClientRegistration:
    """A client as one authorization server knows it.

    `issuer` is the issuer identifier of that server, byte for byte; without it, the first one that the MCP
    server names. The client authenticates with `secret`, sent as `method` says, or as the server likes it; or
    with a JWT for `audience`, signed with `algorithm` (a name of JOSE) and the key that the JWT calls
    `key_id`; or not at all.
    """

    def __new__(
        cls,
        client_id: str,
        *,
        issuer: str | None = None,
        secret: str | None = None,
        method: Literal["basic", "post"] | None = None,
        algorithm: str | None = None,
        key_id: str | None = None,
        audience: Literal["issuer", "token_endpoint"] = "issuer",
    ) -> ClientRegistration: ...
    @property
    def client_id(self) -> str: ...
    @property
    def issuer(self) -> str | None: ...

@final
class SigningRequest:
    """Bytes to be signed with a key of the host; the signature has the form of RFC 7518."""

    @property
    def key(self) -> Literal["client", "dpop"]:
        """Whether the key is that of the client `client_id`, or the one that tokens are bound to."""
    @property
    def client_id(self) -> str | None: ...
    @property
    def algorithm(self) -> str: ...
    @property
    def input(self) -> bytes: ...

def dpop_proof(request: SigningRequest, signature: bytes) -> str:
    """The value of the `DPoP` header."""

def server_metadata_urls(issuer: str) -> list[str]:
    """Where the metadata of an authorization server may be, in the order in which it is looked for.

    What is found there must name `issuer`, byte for byte.
    """

@final
class LoadRecord:
    """Read the store now, and answer with `loaded`."""

    __match_args__: Final = ("action",)
    @property
    def action(self) -> int: ...

@final
class SaveRecord:
    """Store the record if the store still has the generation `expected`, 0: if it has none.

    Answer with `saved` or `save_conflicted`. The text holds tokens and secrets.
    """

    __match_args__: Final = ("action", "expected", "generation", "text")
    @property
    def action(self) -> int: ...
    @property
    def expected(self) -> int: ...
    @property
    def generation(self) -> int: ...
    @property
    def text(self) -> str: ...

@final
class SendRequest:
    """Carry out an HTTP request, and answer with `receive_response`, whatever the status.

    Redirects are not followed and no cookies sent. A body of more than `response_bytes` is `"too_large"`.
    """

    __match_args__: Final = ("action", "purpose", "method", "url", "headers", "body", "response_bytes")
    @property
    def action(self) -> int: ...
    @property
    def purpose(self) -> str:
        """What it is for, so that policies can be applied."""
    @property
    def method(self) -> str: ...
    @property
    def url(self) -> str: ...
    @property
    def headers(self) -> list[tuple[str, str]]: ...
    @property
    def body(self) -> bytes: ...
    @property
    def response_bytes(self) -> int: ...

@final
class OpenUserAgent:
    """Have the user visit `url`, and hand what comes back to `redirect_uri` to `receive_callback`.

    Listen there before.
    """

    __match_args__: Final = ("action", "url", "redirect_uri")
    @property
    def action(self) -> int: ...
    @property
    def url(self) -> str: ...
    @property
    def redirect_uri(self) -> str: ...

@final
class SignInput:
    """Sign, and answer with `signed`."""

    __match_args__: Final = ("action", "request")
    @property
    def action(self) -> int: ...
    @property
    def request(self) -> SigningRequest: ...

@final
class ProvideClient:
    """Ask the user for a client that is registered with an authorization server: `client_provided`."""

    __match_args__: Final = ("action", "issuer")
    @property
    def action(self) -> int: ...
    @property
    def issuer(self) -> str: ...

@final
class ProvideAssertion:
    """Get an assertion that is valid now: `assertion_provided`.

    For an enterprise it is that of the user's identity; for a workload, its JWT for `issuer`.
    """

    __match_args__: Final = ("action", "issuer", "resource")
    @property
    def action(self) -> int: ...
    @property
    def issuer(self) -> str: ...
    @property
    def resource(self) -> str: ...

@final
class AuthorizationSettled:
    """There is something to try: ask for `credentials`."""

    __match_args__: Final = ("waiter",)
    @property
    def waiter(self) -> int: ...

@final
class AuthorizationRefused:
    """There are no credentials."""

    __match_args__: Final = ("waiter", "error")
    @property
    def waiter(self) -> int: ...
    @property
    def error(self) -> AuthorizationError: ...

@final
class Credentials:
    """What goes with one request: the value of `Authorization`, if there is a token.

    `generation` names the token for `challenge`. What `proof` asks to sign becomes the header `DPoP` by
    `dpop_proof`.
    """

    __match_args__: Final = ("generation", "authorization", "proof")
    @property
    def generation(self) -> int: ...
    @property
    def authorization(self) -> str | None: ...
    @property
    def proof(self) -> SigningRequest | None: ...

@final
class Authorization:
    """The OAuth client of one principal at one MCP server, as a machine.

    Before a request it is asked `is_ready`, and told `acquire` if not; then `credentials` go with the
    request. After a 401 or 403 it is told `challenge`. Each of `acquire` and `challenge` is followed by one
    event for the waiter, any number of yours. What there is to do says `poll_action`, one thing at a time; it
    is answered by the verb that its class names, or by `fail_action`.

    http is allowed for URLs on loopback hosts only, and only if `server_url` is such a one. A client that the
    user consents to needs `redirect_uri`; with `client_name` it registers itself where nothing else is left,
    and `metadata_client` is one whose id is the URL of its metadata. An enterprise needs `token_endpoint` of
    the identity provider and `provider_client` there.
    """

    def __new__(
        cls,
        *,
        server_url: str,
        grant: Literal["authorization_code", "client_credentials", "enterprise", "workload_identity"],
        seed: bytes,
        redirect_uri: str | None = None,
        client_name: str | None = None,
        application_type: Literal["native", "web"] | None = None,
        metadata_client: ClientRegistration | None = None,
        asks_for_client: bool = False,
        token_endpoint: str | None = None,
        provider_client: ClientRegistration | None = None,
        subject_token_type: Literal["id_token", "saml2"] = "id_token",
        clients: Sequence[ClientRegistration] = ...,
        scopes: Sequence[str] | None = None,
        wants_refresh: bool = True,
        dpop_algorithm: str | None = None,
        dpop_public_key: Json | None = None,
        dpop_required: bool = False,
        legacy_endpoints: bool = False,
        callback_timeout: int | None = None,
        renew_before: int | None = None,
        response_bytes: int | None = None,
    ) -> Authorization: ...
    def is_ready(self, now: int) -> bool:
        """Whether `credentials` gives the best there is."""
    def credentials(self, method: str, url: str, now: int) -> Credentials:
        """What goes with a request to the server, also with one that is sent again."""
    def acquire(self, waiter: int, now: int) -> None:
        """Wait until there are credentials, or none without a challenge. No user is asked."""
    def challenge(
        self,
        waiter: int,
        status: int,
        challenges: Sequence[str],
        generation: int,
        operation: str,
        now: int,
        *,
        dpop_nonce: str | None = None,
    ) -> None:
        """The server has refused a request: what `AuthorizationRequired` says, and the generation of the
        credentials that went with it.
        """
    def note_nonce(self, nonce: str) -> None:
        """The server gave `DPoP-Nonce` with a response that is no refusal."""
    def note_success(self, generation: int) -> None:
        """The server took the token."""
    def poll_action(
        self,
    ) -> (
        LoadRecord
        | SaveRecord
        | SendRequest
        | OpenUserAgent
        | SignInput
        | ProvideClient
        | ProvideAssertion
        | None
    ):
        """The next thing to do, if any."""
    def poll_event(self) -> AuthorizationSettled | AuthorizationRefused | None:
        """What there is to tell, if anything."""
    def poll_timeout(self) -> int | None:
        """When to call `handle_timeout` at the latest, if ever."""
    def handle_timeout(self, now: int) -> None:
        """Let time pass. Harmless when nothing is due."""
    def loaded(self, action: int, record: _Record | None, now: int) -> None:
        """What the store holds, if anything: generation and text."""
    def saved(self, action: int, now: int) -> None:
        """It is stored."""
    def save_conflicted(self, action: int, record: _Record | None, now: int) -> None:
        """The store has another generation, and holds this."""
    def receive_response(
        self, action: int, status: int, headers: Sequence[tuple[str, str]], body: bytes, now: int
    ) -> None:
        """The response to a request, whole."""
    def receive_callback(self, query: str, now: int) -> None:
        """What the user agent brought back: the query, or the URL.

        Raises AuthorizationError with what to tell the user. If `awaits_callback` is true nevertheless, it
        was none of ours.
        """
    @property
    def awaits_callback(self) -> bool:
        """Whether the user is to come back."""
    def signed(self, action: int, signature: bytes, now: int) -> None:
        """The signature over what was to be signed."""
    def client_provided(self, action: int, client: ClientRegistration, now: int) -> None:
        """A client that the user named."""
    def assertion_provided(self, action: int, assertion: str, now: int) -> None:
        """An assertion that is valid now."""
    def fail_action(
        self,
        action: int,
        failure: Literal["unavailable", "too_large", "forbidden", "declined"],
        now: int,
    ) -> None:
        """An action was not carried out."""
    def cancel(self, now: int) -> None:
        """Give up what is under way: whoever waits is refused, and so is whoever comes, until `reset`."""
    def reset(self) -> None:
        """Forget that it failed: the next challenge begins anew."""

@final
class Principal:
    """Who a request comes from."""

    @property
    def issuer(self) -> str:
        """The authorization server that vouches for it."""
    @property
    def subject(self) -> str:
        """Its identifier there: a user, or a client that acts for itself."""
    @property
    def client(self) -> str | None:
        """The client through which it comes."""
    @property
    def scopes(self) -> list[str]:
        """What was granted."""
    @property
    def expires_at(self) -> int | None:
        """When the token expires, if that is known."""
    @property
    def key(self) -> str:
        """The same for the same issuer, subject and client, and for no others. It tells none of them."""

@final
class AccessDenied:
    """A refusal, ready to be sent: the status, and the value of ``WWW-Authenticate``."""

    __match_args__: Final = ("reason", "status", "challenge")
    @property
    def reason(self) -> _DenialReason: ...
    @property
    def status(self) -> int: ...
    @property
    def challenge(self) -> str: ...

@final
class ResourceServer:
    """The rules of a protected server, without I/O.

    `resource` is the URL of the endpoint as clients know it; `authorization_servers` are the issuers whose
    tokens it takes. `scopes` suffice for basic use, `audiences` may be named beside `resource`, and clocks
    may differ by `leeway` milliseconds.
    """

    def __new__(
        cls,
        *,
        resource: str,
        authorization_servers: Sequence[str],
        scopes: Sequence[str] = ...,
        audiences: Sequence[str] = ...,
        name: str | None = None,
        documentation: str | None = None,
        leeway: int | None = None,
    ) -> ResourceServer: ...
    def metadata(self) -> bytes:
        """The protected resource metadata, as JSON: for anybody."""
    @property
    def metadata_paths(self) -> list[str]:
        """The paths at which to serve it."""
    @property
    def metadata_url(self) -> str:
        """Where challenges say that it is."""
    def deny(self, reason: _DenialReason, scopes: Sequence[str] | None = None) -> AccessDenied:
        """A refusal that names `scopes`; without them, those of the configuration."""
    def bearer(self, headers: Iterable[Sequence[bytes]], query: str | None = None) -> str | AccessDenied:
        """The token of a request."""
    def judge(self, claims: Json, now: int) -> Principal | AccessDenied:
        """Judge the claims of a token that was found genuine."""
    def authorize(
        self,
        principal: Principal,
        needed: Sequence[str],
        implies: Callable[[str, str], object] | None = None,
    ) -> AccessDenied | None:
        """A refusal if not all of `needed` was granted; `implies(granted, needed)` may find more in it."""
