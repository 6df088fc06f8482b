"""A protected server: who is let in, who is told what, and what each may do."""

from __future__ import annotations

import json
import logging
import re
import time
from collections.abc import Mapping
from typing import Any

import barewire
import pytest
from barewire import Context, ResourceServer, Server, SyncContext, VerifierUnavailableError
from http_peer import LEGACY, MODERN, REVISIONS, Exchange, HttpPeer, run, running

RESOURCE = "http://localhost:8000/mcp"
ISSUER = "https://as.example"
WELL_KNOWN = "/.well-known/oauth-protected-resource"
METADATA = "http://localhost:8000/.well-known/oauth-protected-resource/mcp"


class Known:
    """Takes the tokens that it knows for genuine."""

    def __init__(self, **tokens: dict[str, Any]) -> None:
        self.tokens = tokens
        self.asked: list[str] = []

    async def verify(self, token: str) -> Mapping[str, Any] | None:
        self.asked.append(token)
        if token == "outage":
            raise VerifierUnavailableError("out of order")
        return self.tokens.get(token)


def claims(subject: str = "alice", scope: str = "basic", **more: Any) -> dict[str, Any]:
    exp = time.time() + 3600
    return {"iss": ISSUER, "aud": RESOURCE, "sub": subject, "exp": exp, "scope": scope, **more}


TOKENS = {
    "alice": claims(client_id="app"),
    "bob": claims("bob"),
    "writer": claims(scope="basic write"),
    "admin": claims(scope="basic admin"),
    "stranger": claims(scope="other"),
    "expired": claims(exp=time.time() - 3600),
    "elsewhere": claims(aud="https://elsewhere.example/mcp"),
    "foreign": claims(iss="https://foreign.example"),
}


def needs(arguments: dict[str, Any]) -> list[str]:
    return ["admin"] if arguments.get("path", "").startswith("/etc") else ["write"]


def protected(server: Server | None = None, **settings: Any) -> tuple[Any, Known]:
    server = server or Server("s")
    ran: list[str] = []

    @server.tool
    async def whoami(context: Context) -> str:
        caller = context.caller
        assert caller is not None and context.principal == caller.key
        return f"{caller.subject} {caller.client} {','.join(caller.scopes)} {caller.claims['iss']}"

    @server.tool(scopes=["write"])
    def write(context: SyncContext) -> str:
        assert context.caller is not None
        ran.append(context.caller.subject)
        return "written"

    @server.tool(scopes=needs, inline=True)
    def save(path: str) -> str:
        ran.append(path)
        return f"saved {path}"

    @server.tool(scopes=["write"])
    async def count() -> int:
        return len(ran)

    @server.resource("file:///secret", scopes=["write"])
    def secret() -> str:
        return "secret"

    @server.prompt(scopes=["write"])
    def persuade() -> str:
        return "please"

    known = Known(**TOKENS)
    settings = {"verifier": known, "scopes": ["basic"], **settings}
    return server.asgi(auth=ResourceServer(RESOURCE, ISSUER, **settings)), known


def bearer(token: str) -> list[tuple[str, str]]:
    return [("authorization", f"Bearer {token}")]


def challenge(exchange: Exchange) -> dict[str, str]:
    scheme, _, rest = exchange.headers["www-authenticate"].partition(" ")
    assert scheme == "Bearer"
    return dict(re.findall(r'(\w+)="([^"]*)"', rest))


async def refused(
    app: Any, headers: list[tuple[str, str]], method: str = "POST", query: bytes = b""
) -> Exchange:
    """The answer to a request that would be sound with other credentials."""
    plain = [
        ("accept", "application/json, text/event-stream"),
        ("content-type", "application/json"),
        *headers,
    ]
    raw = [(name.encode(), value.encode()) for name, value in plain]
    body = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
    exchange = await Exchange(app, method, raw, [body], query=query).done()
    assert "error" in json.loads(exchange.body)
    return exchange


# proves: FEAT-378 FEAT-659
def test_who_has_no_token_is_told_where_to_get_one() -> None:
    async def test() -> None:
        app, known = protected()
        async with running(app):
            for method in ("POST", "GET", "DELETE"):
                for headers in ([], [("authorization", "Basic YTpi")]):
                    exchange = await refused(app, headers, method)
                    assert exchange.status == 401
                    # Nothing is said of an error where nothing was sent.
                    assert challenge(exchange) == {"scope": "basic", "resource_metadata": METADATA}
        assert known.asked == []

    run(test)


@pytest.mark.parametrize("path", [WELL_KNOWN + "/mcp", WELL_KNOWN])
def test_the_metadata_is_for_anybody(path: str) -> None:
    async def test() -> None:
        app, _ = protected(name="Files", documentation="https://docs.example")
        async with running(app):
            exchange = await Exchange(app, "GET", [], [b""], path=path).done()
            assert exchange.status == 200
            assert exchange.headers["content-type"] == "application/json"
            assert exchange.headers["access-control-allow-origin"] == "*"
            assert json.loads(exchange.body) == {
                "resource": RESOURCE,
                "authorization_servers": [ISSUER],
                "bearer_methods_supported": ["header"],
                "scopes_supported": ["basic"],
                "resource_name": "Files",
                "resource_documentation": "https://docs.example",
            }
            head = await Exchange(app, "HEAD", [], [b""], path=path).done()
            assert (head.status, head.body) == (200, b"")
            posted = await Exchange(app, "POST", [], [b""], path=path).done()
            assert (posted.status, posted.headers["allow"]) == (405, "GET, HEAD")

    run(test)


# proves: FEAT-390
@pytest.mark.parametrize(
    ("token", "error"),
    [
        ("unknown", "invalid"),
        ("expired", "expired"),
        ("elsewhere", "another resource"),
        ("foreign", "another issuer"),
    ],
)
def test_tokens_that_are_no_good(token: str, error: str) -> None:
    async def test() -> None:
        app, _ = protected()
        async with running(app):
            exchange = await refused(app, bearer(token))
            assert exchange.status == 401
            said = challenge(exchange)
            assert (said["error"], said["scope"]) == ("invalid_token", "basic")
            assert error in said["error_description"]

    run(test)


def test_credentials_that_are_malformed() -> None:
    async def test() -> None:
        app, known = protected()
        async with running(app):
            for headers in ([*bearer("alice"), *bearer("alice")], bearer(""), bearer("a b"), bearer("ä")):
                exchange = await refused(app, headers)
                assert (exchange.status, challenge(exchange)["error"]) == (400, "invalid_request")
            exchange = await refused(app, bearer("alice"), query=b"access_token=alice")
            assert (exchange.status, challenge(exchange)["error"]) == (400, "invalid_request")
        assert known.asked == []

    run(test)


def test_an_outage_is_no_refusal(caplog: pytest.LogCaptureFixture) -> None:
    async def test() -> None:
        app, _ = protected()
        async with running(app):
            exchange = await refused(app, bearer("outage"))
            assert exchange.status == 503 and "www-authenticate" not in exchange.headers

    run(test)
    assert "tokens cannot be verified" in caplog.text


# proves: FEAT-350
@pytest.mark.parametrize("revision", REVISIONS)
def test_handlers_know_who_calls(revision: str) -> None:
    async def test() -> None:
        app, _ = protected()
        async with running(app), HttpPeer(app, revision, headers=bearer("alice")) as peer:
            assert await peer.result("whoami") == f"alice app basic {ISSUER}"
            peer.extra = bearer("writer")
            if revision == MODERN:
                assert await peer.result("whoami") == f"alice None basic,write {ISSUER}"

    run(test)


@pytest.mark.parametrize("revision", REVISIONS)
def test_what_a_tool_needs_is_asked_for(revision: str) -> None:
    async def test() -> None:
        app, _ = protected()
        async with running(app), HttpPeer(app, revision, headers=bearer("bob")) as peer:
            for exchange in (
                peer.call("write"),
                peer.call("count"),
                peer.request("resources/read", {"uri": "file:///secret"}),
                peer.request("prompts/get", {"name": "persuade"}),
            ):
                await exchange.done()
                assert exchange.status == 403
                said = challenge(exchange)
                # All that the operation needs, in one.
                assert (said["error"], said["scope"]) == ("insufficient_scope", "basic write")
                assert said["resource_metadata"] == METADATA
        async with running(app), HttpPeer(app, revision, headers=bearer("writer")) as peer:
            assert await peer.result("write") == "written"
            assert await peer.result("count") == "1"
            answer = await peer.request("resources/read", {"uri": "file:///secret"}).answer()
            assert answer["result"]["contents"][0]["text"] == "secret"

    run(test)


def test_what_is_needed_may_depend_on_the_arguments() -> None:
    async def test() -> None:
        app, _ = protected()
        async with running(app), HttpPeer(app, MODERN, headers=bearer("writer")) as peer:
            assert await peer.result("save", path="/home/x") == "saved /home/x"
            exchange = await peer.call("save", path="/etc/passwd").done()
            assert (exchange.status, challenge(exchange)["scope"]) == (403, "basic admin")

    run(test)


def test_one_scope_may_stand_for_another() -> None:
    async def test() -> None:
        app, _ = protected(implies=lambda granted, needed: granted == "admin")
        async with running(app), HttpPeer(app, MODERN, headers=bearer("admin")) as peer:
            assert await peer.result("write") == "written"
            peer.extra = bearer("bob")
            assert (await peer.call("write").done()).status == 403

    run(test)


def test_what_everything_needs_is_needed_for_everything() -> None:
    async def test() -> None:
        app, _ = protected()
        async with running(app):
            exchange = await refused(app, bearer("stranger"))
            assert (exchange.status, challenge(exchange)["scope"]) == (403, "basic")

    run(test)


def test_a_session_serves_nobody_else() -> None:
    async def test() -> None:
        app, _ = protected()
        async with running(app), HttpPeer(app, LEGACY, headers=bearer("alice")) as peer:
            peer.extra = bearer("bob")
            assert (await peer.call("whoami").done()).status == 404
            # A token that is no good any more says nothing of the session.
            peer.extra = bearer("expired")
            assert (await peer.call("whoami").done()).status == 401
            assert (await peer.delete().done()).status == 401
            peer.extra = bearer("alice")
            assert await peer.result("whoami") == f"alice app basic {ISSUER}"

    run(test)


def test_pages_of_allowed_origins_can_read_the_challenge() -> None:
    async def test() -> None:
        app, _ = protected()
        origin = ("origin", "http://localhost:5173")
        async with running(app):
            exchange = await refused(app, [origin])
            assert (exchange.status, exchange.headers["access-control-allow-origin"]) == (401, origin[1])
            assert "www-authenticate" in exchange.headers["access-control-expose-headers"]
            preflight = [(b"origin", b"http://localhost:5173"), (b"access-control-request-method", b"POST")]
            asked = await Exchange(app, "OPTIONS", preflight, [b""]).done()
            assert asked.status == 204
            assert "authorization" in asked.headers["access-control-allow-headers"]
            foreign = await refused(app, [("origin", "http://evil.example")])
            assert foreign.status == 403 and "www-authenticate" not in foreign.headers

    run(test)


def test_a_body_in_pieces_is_judged_by_its_head() -> None:
    async def test() -> None:
        app, _ = protected()
        async with running(app), HttpPeer(app, MODERN, headers=bearer("bob")) as peer:
            message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "whoami"}}
            whole = await peer.call("write").done()
            assert whole.status == 403
            headers = [(b"accept", b"application/json"), (b"content-type", b"application/json")]
            pieces = [json.dumps(message).encode()[:10], b"never read"]
            exchange = await Exchange(app, "POST", headers, pieces).done()
            assert exchange.status == 401 and len(pieces) == 2

    run(test)


def test_refusals_of_scopes_are_not_mistaken_for_those_of_origins(caplog: pytest.LogCaptureFixture) -> None:
    async def test() -> None:
        app, _ = protected()
        async with running(app), HttpPeer(app, MODERN, headers=bearer("bob")) as peer:
            assert (await peer.call("write").done()).status == 403

    with caplog.at_level(logging.DEBUG):
        run(test)
    assert "allowed_hosts" not in caplog.text


def test_who_wants_scopes_needs_protection(caplog: pytest.LogCaptureFixture) -> None:
    async def test() -> None:
        server = Server("s")
        protected(server)
        app = server.asgi()  # forgot auth
        async with running(app), HttpPeer(app, MODERN) as peer:
            answer = await peer.call("write").answer()
            assert "written" not in json.dumps(answer)

    run(test)
    assert "the server is not protected with auth=" in caplog.text


def by_wsgi(app: Any, body: bytes = b"", **environ: str) -> tuple[int, dict[str, str], bytes]:
    """Status, headers and body of a response to a request of the modern revision."""
    import io

    seen: list[Any] = []
    parts = app(
        {
            "REQUEST_METHOD": "POST",
            "PATH_INFO": "/mcp",
            "CONTENT_TYPE": "application/json",
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_HOST": "localhost:8000",
            "HTTP_ACCEPT": "application/json, text/event-stream",
            "wsgi.input": io.BytesIO(body),
            **environ,
        },
        lambda status, headers: seen.extend((int(status.split()[0]), dict(headers))),
    )
    return seen[0], seen[1], b"".join(parts)


def modern(tool: str) -> tuple[bytes, dict[str, str]]:
    """The body of a call, and what headers repeat of it."""
    prefix = "io.modelcontextprotocol/"
    meta = {"protocolVersion": MODERN, "clientInfo": {"name": "c", "version": "1"}, "clientCapabilities": {}}
    params = {"name": tool, "arguments": {}, "_meta": {prefix + name: value for name, value in meta.items()}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    headers = {"HTTP_MCP_PROTOCOL_VERSION": MODERN, "HTTP_MCP_METHOD": "tools/call", "HTTP_MCP_NAME": tool}
    return json.dumps(message).encode(), headers


def test_threaded_hosts_are_protected_as_well() -> None:
    server = Server("s")
    protected(server)
    auth = ResourceServer(RESOURCE, ISSUER, verifier=Known(**TOKENS), scopes=["basic"])
    app = server.wsgi(auth=auth)
    try:
        status, headers, body = by_wsgi(app, REQUEST_METHOD="GET", PATH_INFO=WELL_KNOWN + "/mcp")
        assert (status, json.loads(body)["resource"]) == (200, RESOURCE)
        call, repeated = modern("whoami")
        status, headers, _ = by_wsgi(app, call, **repeated)
        assert status == 401 and METADATA in headers["www-authenticate"]
        assert by_wsgi(app, call, HTTP_AUTHORIZATION="Bearer outage", **repeated)[0] == 503
        status, _, body = by_wsgi(app, call, HTTP_AUTHORIZATION="Bearer alice", **repeated)
        assert status == 200 and b"alice app basic" in body
        assert by_wsgi(app, REQUEST_METHOD="OPTIONS")[0] == 204
        call, repeated = modern("write")
        status, headers, _ = by_wsgi(app, call, HTTP_AUTHORIZATION="Bearer bob", **repeated)
        assert status == 403 and 'scope="basic write"' in headers["www-authenticate"]
        status, _, body = by_wsgi(app, call, HTTP_AUTHORIZATION="Bearer writer", **repeated)
        assert status == 200 and b"written" in body
    finally:
        app.close()


def test_who_starts_a_server_may_do_all() -> None:
    server = Server("s")

    @server.tool(scopes=["write"])
    async def write(context: Context) -> str:
        assert context.caller is None
        return "written"

    with barewire.sync.Client(server) as client:
        (text,) = client.call_tool("write").content
        assert isinstance(text, barewire.Text) and text.text == "written"


def test_mistakes_are_found_where_they_are_written() -> None:
    server = Server("s")
    with pytest.raises(ValueError, match="resource cannot be used"):
        ResourceServer("http://mcp.example/mcp", ISSUER)
    with pytest.raises(ValueError, match="authorization_servers cannot be used"):
        ResourceServer(RESOURCE, [])
    with pytest.raises(TypeError, match="scopes and audiences are lists"):
        ResourceServer(RESOURCE, ISSUER, scopes="a b")
    with pytest.raises(TypeError, match="principal would be another answer"):
        server.asgi(auth=ResourceServer(RESOURCE, ISSUER), principal=lambda scope: "x")
    with pytest.raises(TypeError, match=r"scopes is a list, such as \['a', 'b'\]"):

        @server.tool(scopes="a b")
        def tool() -> str:
            return ""
