"""The authorization machine as Python sees it, and the settings of the grants above it."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import parse_qs, urlsplit

import barewire
import pytest
from barewire import sansio
from barewire.sansio import (
    ApiMisuseError,
    Authorization,
    AuthorizationError,
    AuthorizationRefused,
    AuthorizationSettled,
    ClientRegistration,
    LoadRecord,
    OpenUserAgent,
    SaveRecord,
    SendRequest,
    SignInput,
)

URL = "https://mcp.example/mcp"
AS = "https://as.example"
NOW = 1_800_000_000_000
SECRET = "hunter2"


def machine(**settings: Any) -> Authorization:
    grant: dict[str, Any] = {
        "grant": "authorization_code",
        "redirect_uri": "http://127.0.0.1:1234/callback",
        "client_name": "test",
    }
    return Authorization(**{"server_url": URL, "seed": bytes(32), **grant, **settings})


def answer(auth: Authorization, kind: type[Any]) -> Any:
    """The next action, which is of this kind."""
    action = auth.poll_action()
    assert isinstance(action, kind), action
    return action


def load(auth: Authorization, record: tuple[int, str] | None = None) -> None:
    auth.loaded(answer(auth, LoadRecord).action, record, NOW)


def respond(auth: Authorization, document: dict[str, Any], status: int = 200) -> SendRequest:
    request: SendRequest = answer(auth, SendRequest)
    headers = [("content-type", "application/json")]
    auth.receive_response(request.action, status, headers, json.dumps(document).encode(), NOW)
    return request


def discover(auth: Authorization, **more: Any) -> None:
    """A challenge, and what is found by it."""
    auth.challenge(7, 401, ["Bearer"], 0, "an operation", NOW)
    load(auth)  # another process may have come by a token
    request = respond(auth, {"resource": URL, "authorization_servers": [AS]})
    assert request.purpose == "protected resource metadata" and request.method == "GET"
    about = {
        "issuer": AS,
        "authorization_endpoint": f"{AS}/authorize",
        "token_endpoint": f"{AS}/token",
        "registration_endpoint": f"{AS}/register",
        "code_challenge_methods_supported": ["S256"],
    }
    respond(auth, {**about, **more})


def ready(auth: Authorization) -> None:
    auth.acquire(1, NOW)
    load(auth)
    assert auth.poll_event() is not None
    assert auth.is_ready(NOW)


def test_a_flow_from_challenge_to_token() -> None:
    auth = machine()
    assert not auth.is_ready(NOW)
    ready(auth)
    assert auth.credentials("POST", URL, NOW).authorization is None
    discover(auth)
    registration = respond(auth, {"client_id": "me", "client_secret": SECRET}, 201)
    assert json.loads(registration.body)["client_name"] == "test"
    saved = auth.poll_action()
    if isinstance(saved, SaveRecord):
        assert SECRET in saved.text and SECRET not in repr(saved)
        auth.saved(saved.action, NOW)
        saved = auth.poll_action()
    assert isinstance(saved, OpenUserAgent)
    query = parse_qs(urlsplit(saved.url).query)
    assert auth.awaits_callback
    assert query["state"][0] not in repr(saved)
    with pytest.raises(AuthorizationError) as raised:
        auth.receive_callback("state=wrong&code=1", NOW)
    assert raised.value.code == 721 and auth.awaits_callback
    auth.receive_callback(f"{saved.redirect_uri}?state={query['state'][0]}&code=the-code", NOW)
    token = respond(auth, {"access_token": SECRET, "token_type": "Bearer", "expires_in": 3600})
    assert b"the-code" in token.body and "the-code" not in repr(token)
    assert dict(token.headers)["authorization"].startswith("Basic ")
    assert "Basic" not in repr(token)
    save: SaveRecord = answer(auth, SaveRecord)
    auth.save_conflicted(save.action, None, NOW)
    auth.saved(answer(auth, SaveRecord).action, NOW)
    event = auth.poll_event()
    assert isinstance(event, AuthorizationSettled) and event.waiter == 7
    credentials = auth.credentials("POST", URL, NOW)
    assert credentials.authorization == f"Bearer {SECRET}" and SECRET not in repr(credentials)
    assert credentials.generation == 1 and credentials.proof is None
    assert auth.credentials("POST", "https://elsewhere.example/", NOW).authorization is None
    auth.note_success(1)
    auth.note_nonce("nonce")


def test_who_waits_is_refused() -> None:
    auth = machine()
    ready(auth)
    auth.challenge(9, 401, ["Bearer"], 0, "an operation", NOW)
    load(auth)
    for _ in range(2):  # where the metadata may be
        auth.fail_action(answer(auth, SendRequest).action, "forbidden", NOW)
    event = auth.poll_event()
    assert isinstance(event, AuthorizationRefused) and event.waiter == 9
    assert event.error.code == 754 and not event.error.is_retryable
    auth.challenge(10, 401, ["Bearer"], 0, "an operation", NOW)
    assert isinstance(auth.poll_event(), AuthorizationRefused)
    auth.reset()
    auth.challenge(11, 401, ["Bearer"], 0, "an operation", NOW)
    load(auth)
    assert isinstance(auth.poll_action(), SendRequest)
    auth.cancel(NOW)
    cancelled = auth.poll_event()
    assert isinstance(cancelled, AuthorizationRefused) and cancelled.error.code == 729


def test_a_user_has_so_much_time() -> None:
    auth = machine(callback_timeout=5_000, client_name=None, clients=[ClientRegistration("me", issuer=AS)])
    ready(auth)
    discover(auth)
    assert isinstance(auth.poll_action(), OpenUserAgent)
    assert auth.poll_timeout() == NOW + 5_000
    auth.handle_timeout(NOW + 5_000)
    event = auth.poll_event()
    assert isinstance(event, AuthorizationRefused) and event.error.code == 728
    with pytest.raises(AuthorizationError):
        auth.receive_callback("state=1", NOW + 5_000)


def test_a_client_with_a_key_signs() -> None:
    client = ClientRegistration("signer", issuer=AS, algorithm="ES256", key_id="one")
    auth = machine(grant="client_credentials", clients=[client])
    ready(auth)
    discover(auth, token_endpoint_auth_methods_supported=["private_key_jwt"])
    action: SignInput = answer(auth, SignInput)
    request = action.request
    assert (request.key, request.client_id, request.algorithm) == ("client", "signer", "ES256")
    assert request.input.count(b".") == 1 and request.input.decode() not in repr(action)
    auth.signed(action.action, b"x" * 64, NOW)
    token: SendRequest = answer(auth, SendRequest)
    assert b"client_assertion=" in token.body


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"server_url": "http://mcp.example"}, "server_url cannot be used"),
        ({"redirect_uri": "ftp://x"}, "redirect_uri cannot be used"),
        ({"redirect_uri": None}, "needs redirect_uri"),
        ({"grant": "password"}, "is none of authorization_code"),
        ({"grant": "enterprise"}, "needs token_endpoint"),
        ({"seed": b"short"}, "the seed is 32 bytes"),
        ({"metadata_client": ClientRegistration("http://client.example/doc")}, "client_id cannot be used"),
    ],
)
def test_mistakes_in_settings(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        machine(**settings)


def test_mistakes_of_callers() -> None:
    auth = machine()
    with pytest.raises(ValueError, match="is none of unavailable"):
        auth.fail_action(1, "broken", NOW)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="a secret or a key, not both"):
        ClientRegistration("me", secret="x", algorithm="ES256")
    with pytest.raises(ApiMisuseError):
        machine(dpop_algorithm="ES256", dpop_public_key="no JSON")
    assert "hunter2" not in repr(ClientRegistration("me", secret=SECRET))


def test_where_metadata_may_be() -> None:
    assert sansio.server_metadata_urls("https://as.example/t") == [
        "https://as.example/.well-known/oauth-authorization-server/t",
        "https://as.example/.well-known/openid-configuration/t",
        "https://as.example/t/.well-known/openid-configuration",
    ]
    assert sansio.server_metadata_urls("http://as.example") == []


# ---------------------------------------------------------------- the settings of the upper floor


def test_clients_with_keys() -> None:
    from joserfc.jwk import ECKey, RSAKey

    pem = ECKey.generate_key("P-256").as_pem(private=True)
    client = barewire.OAuthClient("me", key=pem)
    assert client._sign is not None and len(client._sign(b"x")) == 64
    rsa = RSAKey.generate_key(2048).as_pem(private=True)
    client = barewire.OAuthClient("me", key=rsa, algorithm="RS256")
    assert client._sign is not None and len(client._sign(b"x")) == 256
    assert barewire.OAuthClient("me", key=lambda data: data)._sign is not None
    for key, algorithm in (
        (rsa, "ES256"),
        (pem, "ES384"),
        (pem, "HS256"),
        (pem, "none"),
        ("no key", "ES256"),
    ):
        with pytest.raises(ValueError):
            barewire.OAuthClient("me", key=key, algorithm=algorithm)


def test_mistakes_are_found_where_they_are_written() -> None:
    agent = barewire.Browser(port=1234)
    with pytest.raises(TypeError, match=r"scopes is a list, such as \['a', 'b'\]"):
        barewire.OAuth(scopes="a b")
    with pytest.raises(ValueError, match="server_url cannot be used"):
        barewire.Client("http://mcp.example/mcp", auth=barewire.OAuth(user_agent=agent))
    with pytest.raises(ValueError, match="client_id cannot be used"):
        barewire.Client(URL, auth=barewire.OAuth(client_metadata_url="http://x", user_agent=agent))
    barewire.Client(URL, auth=barewire.OAuth(user_agent=agent, dpop=True))


def test_nothing_shows_secrets() -> None:
    client = barewire.OAuthClient("me", issuer=AS, secret=SECRET)
    grant = barewire.ClientCredentials(client, store=barewire.MemoryTokenStore())
    for shown in (repr(client), repr(grant), repr(vars(client)), repr(vars(grant))):
        assert SECRET not in shown
