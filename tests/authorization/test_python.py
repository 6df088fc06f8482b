"""The Python package against a real authorization server, in both roles: from login to the end of a grant."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import barewire
import httpx2
import pytest
import trio
from authorization_server import authorization_server
from barewire import AuthorizationError, OAuth, OAuthClient, UnauthorizedError, _authorizer
from barewire._authorizer import wall_clock
from joserfc.jwk import ECKey
from ports import free_port, wait_until_it_listens
from protected import protected_server
from user_agents import CHROMIUM, PATIENCE, UserAgent, browse

MODERN, LEGACY = ["2026-07-28"], ["2025-11-25"]
#: A client of the resource server, where it asks for the meaning of a token.
INTROSPECTION = {
    "client_id": "resource-server",
    "client_secret": "a secret of a server for tests",
    "grant_types": ["client_credentials"],
    "response_types": [],
    "redirect_uris": [],
    "token_endpoint_auth_method": "client_secret_basic",
}
ACTS_FOR_ITSELF = {**INTROSPECTION, "client_id": "service:1", "client_secret": "se cret/of+the service"}


class Store(barewire.MemoryTokenStore):
    """Lets a test look into what is kept."""

    @property
    def token(self) -> dict[str, Any]:
        """The token of the only record."""
        (record,) = self._records.values()
        token: dict[str, Any] = json.loads(record.text)["token"]
        return token

    @property
    def generation(self) -> int:
        """How often it was changed."""
        (record,) = self._records.values()
        return record.generation


def consenting(agent: UserAgent | None = None, **settings: Any) -> tuple[OAuth, UserAgent]:
    """A user with a browser, for whom `agent` stands."""
    agent = agent or UserAgent()
    return OAuth(user_agent=barewire.Browser(open=agent.open), **settings), agent


Steps = Callable[[Callable[..., Any]], Any]


def text_of(result: barewire.CallToolResult) -> str:
    assert not result.is_error
    (block,) = result.content
    assert isinstance(block, barewire.Text)
    return block.text


def by_asyncio(url: str, auth: Any, *tools: str, **settings: Any) -> list[str]:
    """What the tools say, called one after another."""

    async def run() -> list[str]:
        async with barewire.Client(url, auth=auth, **settings) as client:
            return [text_of(await client.call_tool(tool)) for tool in tools]

    return asyncio.run(run())


def by_trio(url: str, auth: Any, *tools: str, **settings: Any) -> list[str]:
    async def run() -> list[str]:
        async with barewire.Client(url, auth=auth, **settings) as client:
            return [text_of(await client.call_tool(tool)) for tool in tools]

    return trio.run(run)


def by_threads(url: str, auth: Any, *tools: str, **settings: Any) -> list[str]:
    with barewire.sync.Client(url, auth=auth, **settings) as client:
        return [text_of(client.call_tool(tool)) for tool in tools]


Call = Callable[..., list[str]]
every_driver = pytest.mark.parametrize("call", [by_asyncio, by_trio, by_threads])


@pytest.fixture(scope="module")
def issuer() -> Iterator[str]:
    with authorization_server() as server:
        yield server.issuer


@pytest.fixture(scope="module")
def url(issuer: str) -> Iterator[str]:
    with protected_server([issuer]) as url:
        yield url


@every_driver
@pytest.mark.parametrize("revisions", [MODERN, LEGACY, None])
def test_a_user_logs_in_once(url: str, call: Call, revisions: list[str] | None) -> None:
    auth, agent = consenting(UserAgent("alice"))
    assert call(url, auth, "whoami", "granted", revisions=revisions) == ["alice", '["tools:read"]']
    asked = [address for address in agent.visited if "/auth?" in address]
    assert len(asked) == 1
    query = parse_qs(urlsplit(asked[0]).query)
    assert (query["resource"], query["scope"]) == ([url], ["tools:read offline_access"])
    # Another client with the same tokens needs no user.
    agent.visited.clear()
    assert call(url, auth, "whoami", revisions=revisions) == ["alice"]
    assert agent.visited == []


@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
def test_a_user_logs_in_with_a_browser(url: str) -> None:
    seen: list[str] = []
    auth = OAuth(user_agent=barewire.Browser(open=lambda page: seen.append(browse(page, "carol"))))
    assert by_asyncio(url, auth, "whoami") == ["carol"]


@every_driver
def test_a_user_who_says_no(url: str, call: Call) -> None:
    auth, _ = consenting(UserAgent(agrees=False))
    with pytest.raises(UnauthorizedError) as raised:
        call(url, auth, "whoami")
    cause = raised.value.__cause__
    assert isinstance(cause, AuthorizationError)
    assert (cause.code, cause.error, cause.is_retryable) == (726, "access_denied", False)
    assert "the user said no" in str(raised.value)


SCOPES = [["tools:read offline_access"], ["tools:read offline_access tools:write"]]


def test_more_is_asked_for_when_it_is_needed(url: str) -> None:
    auth, agent = consenting()
    for revisions in (MODERN, LEGACY):
        agent.visited.clear()
        said = by_asyncio(url, auth, "granted", "write", "granted", revisions=revisions)
        assert said[1:] == ["written by alice", '["tools:read","tools:write"]']
        asked = [address for address in agent.visited if "/auth?" in address]
        scopes = [parse_qs(urlsplit(address).query)["scope"] for address in asked]
        # What there was is asked for again, so that nothing is lost.
        assert scopes == (SCOPES if revisions is MODERN else [])


@every_driver
def test_tokens_are_renewed_without_a_user(call: Call) -> None:
    # They are about to expire as soon as they are there.
    with authorization_server(accessTokenSeconds=20) as server, protected_server([server.issuer]) as url:
        store = Store()
        auth, agent = consenting(store=store)
        assert call(url, auth, "whoami") == ["alice"]
        before, first = store.generation, dict(store.token)
        agent.visited.clear()
        assert call(url, auth, "whoami", "whoami", "whoami") == ["alice"] * 3
        assert store.generation > before and agent.visited == []
        assert store.token["access_token"] != first["access_token"]
        assert store.token["refresh_token"] != first["refresh_token"]


def test_many_requests_share_one_renewal(monkeypatch: pytest.MonkeyPatch) -> None:
    with authorization_server(accessTokenSeconds=300) as server, protected_server([server.issuer]) as url:
        store = Store()
        auth, agent = consenting(store=store)
        by_asyncio(url, auth, "whoami", revisions=MODERN)
        agent.visited.clear()
        refreshes: list[str] = []

        async def note(request: httpx2.Request) -> None:
            if b"refresh_token" in request.content:
                refreshes.append(str(request.url))

        async def run() -> None:
            async with httpx2.AsyncClient(event_hooks={"request": [note]}, trust_env=False) as http:
                auth._http = http
                async with barewire.Client(url, auth=auth, revisions=MODERN) as client:
                    assert refreshes == []
                    # To the client, the token is about to expire.
                    monkeypatch.setattr(_authorizer, "wall_clock", lambda: wall_clock() + 280_000)
                    results = await asyncio.gather(*(client.call_tool("whoami") for _ in range(10)))
                    assert [text_of(result) for result in results] == ["alice"] * 10

        asyncio.run(run())
        assert len(refreshes) == 1 and agent.visited == []


#: Calls a tool a few times with tokens of a folder, and must never ask a user.
PROCESS = """
import sys, barewire
def nobody(url): raise RuntimeError("a user was asked")
auth = barewire.OAuth(store=barewire.FileTokenStore(sys.argv[2]), user_agent=barewire.Browser(open=nobody))
for _ in range(4):
    with barewire.sync.Client(sys.argv[1], auth=auth) as client:
        print(client.call_tool("whoami").content[0].text)
"""


def test_processes_share_one_renewal(tmp_path: Path) -> None:
    # A refresh token that is used twice revokes the whole grant at this server.
    with authorization_server(accessTokenSeconds=20) as server, protected_server([server.issuer]) as url:
        auth, _ = consenting(store=barewire.FileTokenStore(tmp_path))
        assert by_threads(url, auth, "whoami") == ["alice"]
        command = [sys.executable, "-c", PROCESS, url, str(tmp_path)]
        processes = [
            subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            for _ in range(3)
        ]
        for process in processes:
            said, errors = process.communicate(timeout=PATIENCE)
            assert said.split() == ["alice"] * 4, errors


def introspecting(issuer: str) -> barewire.Introspection:
    secret = INTROSPECTION["client_secret"]
    assert isinstance(secret, str)
    # This authorization server leaves out whom its tokens are from.
    return barewire.Introspection(f"{issuer}/token/introspection", "resource-server", secret, issuer=issuer)


def revoke(issuer: str, client_id: str, token: str) -> None:
    form = {"token": token, "client_id": client_id}
    assert (
        httpx2.post(f"{issuer}/token/revocation", data=form, trust_env=False, timeout=PATIENCE).status_code
        == 200
    )


def test_a_revoked_token_is_renewed_and_a_revoked_grant_asked_for_anew() -> None:
    with authorization_server(accessTokenFormat="opaque", clients=[INTROSPECTION]) as server:
        issuer = server.issuer
        store = Store()
        auth, agent = consenting(store=store)
        with protected_server([issuer], verifier=introspecting(issuer)) as url:
            assert by_asyncio(url, auth, "whoami") == ["alice"]
            first = dict(store.token)
            agent.visited.clear()
            form = {"token": first["access_token"]}
            assert (
                httpx2.post(f"{issuer}/forget", data=form, trust_env=False, timeout=PATIENCE).status_code
                == 204
            )
            assert by_asyncio(url, auth, "whoami") == ["alice"]
            assert store.token["access_token"] != first["access_token"] and agent.visited == []
            revoke(issuer, first["client_id"], store.token["refresh_token"])
            assert by_asyncio(url, auth, "whoami") == ["alice"]
            assert len([address for address in agent.visited if "/auth?" in address]) == 1


def test_the_server_moves_to_another_authorization_server() -> None:
    store = Store()
    auth, agent = consenting(store=store)
    port = free_port()
    with authorization_server() as first, authorization_server() as second:
        with protected_server([first.issuer], port=port) as url:
            assert by_asyncio(url, auth, "whoami") == ["alice"]
            assert store.token["issuer"] == first.issuer
            client = store.token["client_id"]
        agent.visited.clear()
        with protected_server([second.issuer], port=port) as again:
            assert again == url
            assert by_asyncio(url, auth, "whoami") == ["alice"]
        assert store.token["issuer"] == second.issuer
        # The client of one is none of the other.
        assert store.token["client_id"] != client
        assert not any(client in address for address in agent.visited)


# proves: FEAT-449 FEAT-451
def test_a_client_known_by_its_document() -> None:
    document = "https://client.example/client.json"
    browser = barewire.Browser(open=UserAgent().open)
    about = {
        "client_id": document,
        "client_name": "A document",
        "redirect_uris": [browser.redirect_uri],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
        "application_type": "native",
    }
    with (
        authorization_server(documents={document: about}) as server,
        protected_server([server.issuer]) as url,
    ):
        store = Store()
        auth = OAuth(client_metadata_url=document, user_agent=browser, store=store)
        assert by_asyncio(url, auth, "whoami") == ["alice"]
        assert store.token["client_id"] == document


@every_driver
def test_a_client_acts_for_itself_with_a_secret(call: Call) -> None:
    with authorization_server(clients=[ACTS_FOR_ITSELF]) as server, protected_server([server.issuer]) as url:
        client = OAuthClient("service:1", issuer=server.issuer, secret="se cret/of+the service")
        assert call(url, barewire.ClientCredentials(client), "whoami") == ["service:1"]


def test_a_client_acts_for_itself_with_a_key() -> None:
    key = ECKey.generate_key("P-256", {"kid": "one", "use": "sig", "alg": "ES256"})
    about = {
        "client_id": "signer",
        "grant_types": ["client_credentials"],
        "response_types": [],
        "redirect_uris": [],
        "token_endpoint_auth_method": "private_key_jwt",
        "token_endpoint_auth_signing_alg": "ES256",
        "jwks": {"keys": [key.as_dict(private=False)]},
    }
    with authorization_server(clients=[about]) as server, protected_server([server.issuer]) as url:
        client = OAuthClient("signer", issuer=server.issuer, key=key.as_pem(private=True), key_id="one")
        assert by_asyncio(url, barewire.ClientCredentials(client), "whoami") == ["signer"]
        # Another key is not taken, and the server's words reach the caller.
        other = ECKey.generate_key("P-256").as_pem(private=True)
        client = OAuthClient("signer", issuer=server.issuer, key=other, key_id="one")
        with pytest.raises(UnauthorizedError) as raised:
            by_asyncio(url, barewire.ClientCredentials(client), "whoami")
        assert isinstance(raised.value.__cause__, AuthorizationError)
        assert raised.value.__cause__.error == "invalid_client"


def test_tokens_bound_to_a_key_come_from_a_server_that_knows_how(url: str) -> None:
    # This resource server takes no bound tokens, and says so; the authorization server has taken the proof.
    store = Store()
    auth, _ = consenting(store=store, dpop=True)
    with pytest.raises(UnauthorizedError):
        by_asyncio(url, auth, "whoami")
    assert store.token["is_bound"] is True


def test_secrets_are_seen_nowhere(url: str, caplog: pytest.LogCaptureFixture) -> None:
    store = Store()
    auth, agent = consenting(store=store)
    with caplog.at_level(logging.DEBUG):
        assert by_asyncio(url, auth, "whoami", "write") == ["alice", "written by alice"]
    (record,) = store._records.values()
    secrets = [store.token["access_token"], store.token["refresh_token"]]
    callbacks = [
        address for address in agent.visited if address.startswith("http://127.0.0.1") and "code=" in address
    ]
    secrets += [parse_qs(urlsplit(address).query)["code"][0] for address in callbacks]
    assert len(secrets) >= 4
    # The user, who reads the addresses of pages, is in a worker thread.
    ours = [entry.getMessage() for entry in caplog.records if "worker" not in str(entry.threadName)]
    assert any("/token" in message for message in ours)
    shown = "".join(ours) + repr(auth) + repr(store) + repr(record) + repr(vars(auth))
    assert not [secret for secret in secrets if secret in shown]


def test_policy_decides_where_requests_go(url: str, issuer: str) -> None:
    asked: list[tuple[str, str]] = []

    def allows(purpose: str, address: str) -> bool:
        asked.append((purpose, address))
        return not address.startswith(issuer)

    auth, agent = consenting(allows=allows)
    with pytest.raises(UnauthorizedError) as raised:
        by_asyncio(url, auth, "whoami")
    assert isinstance(raised.value.__cause__, AuthorizationError)
    assert raised.value.__cause__.code == 754
    assert asked[0][0] == "protected resource metadata" and agent.visited == []


def test_a_store_that_is_out_of_order(url: str) -> None:
    class Broken(barewire.MemoryTokenStore):
        def load(self, key: str) -> barewire.StoredRecord | None:
            raise OSError("the disk is gone")

    auth, _ = consenting(store=Broken())
    with pytest.raises(barewire.McpError) as raised:
        by_asyncio(url, auth, "whoami")
    assert isinstance(raised.value.__cause__, AuthorizationError)
    assert (raised.value.__cause__.code, raised.value.__cause__.is_retryable) == (763, True)


def test_a_user_who_does_not_come_back(url: str) -> None:
    auth = OAuth(user_agent=barewire.Browser(open=lambda page: None), timeout=0.3)
    with pytest.raises(UnauthorizedError) as raised:
        by_asyncio(url, auth, "whoami")
    assert isinstance(raised.value.__cause__, AuthorizationError)
    assert raised.value.__cause__.code == 728


def test_a_client_can_be_closed_while_a_user_logs_in(url: str) -> None:
    async def run() -> None:
        opened = asyncio.Event()
        loop = asyncio.get_running_loop()
        auth = OAuth(user_agent=barewire.Browser(open=lambda _: loop.call_soon_threadsafe(opened.set)))

        async def connect() -> None:
            async with barewire.Client(url, auth=auth):
                pass

        task = asyncio.create_task(connect())
        await asyncio.wait_for(opened.wait(), PATIENCE)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(task, PATIENCE)

    asyncio.run(run())


def test_a_client_on_trio_can_be_closed_while_a_user_logs_in(url: str) -> None:
    async def run() -> None:
        opened = trio.Event()
        token = trio.lowlevel.current_trio_token()
        auth = OAuth(user_agent=barewire.Browser(open=lambda _: token.run_sync_soon(opened.set)))

        async def connect() -> None:
            async with barewire.Client(url, auth=auth):
                pass

        with trio.fail_after(PATIENCE):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(connect)
                await opened.wait()
                nursery.cancel_scope.cancel()
        # Nobody is kept from the store.
        with trio.fail_after(PATIENCE):
            assert await trio.to_thread.run_sync(auth._store.lock(url).__enter__)

    trio.run(run)


EXAMPLES = Path(__file__).resolve().parents[2] / "bindings-python" / "examples"


def test_the_examples(tmp_path: Path) -> None:
    agent = Path(__file__).with_name("user_agents.py")
    environment = {**os.environ, "HOME": str(tmp_path), "BROWSER": f"{sys.executable} {agent} %s"}
    port = free_port()
    with authorization_server(scopes="notes:read notes:write") as issuer:
        server = subprocess.Popen(
            [sys.executable, str(EXAMPLES / "protected_server.py"), issuer.issuer, str(port)],
            stdin=subprocess.DEVNULL,
        )
        try:
            url = f"http://127.0.0.1:{port}/mcp"
            assert wait_until_it_listens(server, port)
            for number, note in enumerate(["buy milk", "call Bob"]):
                done = subprocess.run(
                    [sys.executable, str(EXAMPLES / "protected_client.py"), url, note],
                    # The second time no browser is needed.
                    env=environment if number == 0 else {**environment, "BROWSER": "false"},
                    capture_output=True,
                    text=True,
                    timeout=PATIENCE,
                    check=False,
                )
                assert done.returncode == 0, done.stderr
            assert "'buy milk', 'call Bob'" in done.stdout
        finally:
            server.terminate()
            server.wait()
