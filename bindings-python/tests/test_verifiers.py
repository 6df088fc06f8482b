"""Whether tokens are genuine: keys that change, tokens that lie, issuers that do not answer."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs

import pytest
from barewire import Introspection, JwtVerifier, VerifierUnavailableError, _verifiers
from joserfc import jws, jwt
from joserfc.jwk import ECKey, OctKey, RSAKey

Json = dict[str, Any]


class Issuer(ThreadingHTTPServer):
    """Answers each path with what is kept for it, and notes what was asked."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.answers: dict[str, tuple[int, bytes]] = {}
        self.asked: list[tuple[str, str | None, bytes]] = []
        self.on_ask: Callable[[], object] = lambda: None

    def publish(self, *keys: ECKey | RSAKey | OctKey) -> None:
        self.answer("/jwks", {"keys": [key.as_dict(private=isinstance(key, OctKey)) for key in keys]})

    def answer(self, path: str, value: object, status: int = 200) -> None:
        self.answers[path] = (status, json.dumps(value).encode())


class Handler(BaseHTTPRequestHandler):
    server: Issuer

    def do_GET(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.asked.append((self.path, self.headers["Authorization"], body))
        self.server.on_ask()
        status, body = self.server.answers.get(self.path, (404, b""))
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_GET

    def log_message(self, *arguments: Any) -> None:
        pass


@pytest.fixture
def issuer() -> Iterator[Issuer]:
    with Issuer() as running:
        thread = threading.Thread(target=running.serve_forever, args=(0.02,))
        thread.start()
        yield running
        running.shutdown()
        thread.join()


@pytest.fixture
def key() -> ECKey:
    made: ECKey = ECKey.generate_key("P-256", {"kid": "first"})
    return made


def signed(issuer: Issuer, key: Any, *, alg: str = "ES256", header: Json | None = None, **claims: Any) -> str:
    registry = jws.JWSRegistry(algorithms=[alg], strict_check_header=False)
    about = {"alg": alg, "kid": key.kid, "typ": "at+jwt", **(header or {})}
    return jwt.encode(about, {"iss": issuer.url, "sub": "alice", **claims}, key, registry=registry)


def verifier(issuer: Issuer, **settings: Any) -> JwtVerifier:
    return JwtVerifier(issuer.url, jwks_uri=f"{issuer.url}/jwks", **settings)


def test_a_genuine_token_is_read(issuer: Issuer, key: ECKey) -> None:
    issuer.publish(key)
    claims = asyncio.run(verifier(issuer).verify(signed(issuer, key, aud=["a", "b"], exp=1.5)))
    assert claims == {"iss": issuer.url, "sub": "alice", "aud": ["a", "b"], "exp": 1.5}


def test_keys_are_found_by_the_metadata_of_the_issuer(issuer: Issuer, key: ECKey) -> None:
    issuer.publish(key)
    about = {"issuer": issuer.url, "jwks_uri": f"{issuer.url}/jwks"}
    issuer.answer("/.well-known/openid-configuration", about)
    assert asyncio.run(JwtVerifier(issuer.url).verify(signed(issuer, key))) is not None
    # Not those of somebody who says something of another issuer.
    issuer.answer("/.well-known/openid-configuration", {**about, "issuer": "https://another.example"})
    with pytest.raises(VerifierUnavailableError):
        asyncio.run(JwtVerifier(issuer.url).verify(signed(issuer, key)))


def test_forgeries_are_refused(issuer: Issuer, key: ECKey) -> None:
    issuer.publish(key)
    other = ECKey.generate_key("P-256", {"kid": "first"})
    genuine = signed(issuer, key)
    head, body, signature = genuine.split(".")
    secret = OctKey.import_key(json.dumps(key.as_dict(private=False)), {"kid": "first"})
    forgeries = [
        signed(issuer, other),
        signed(issuer, secret, alg="HS256"),
        signed(issuer, key, iss="https://another.example"),
        signed(issuer, key, header={"typ": "logout+jwt"}),
        signed(issuer, key, header={"crit": ["b64"], "b64": False}),
        f"{head}.{body}.",
        f"{head}.{body}",
        f"{head}.{body[:-2]}.{signature}",
        jws.serialize_compact({"alg": "ES256", "kid": "first"}, b"no JSON", key),
        jws.serialize_compact({"alg": "ES256", "kid": "first"}, b"[1]", key),
        jws.serialize_compact({"alg": "ES256", "kid": "first"}, b"[" * 5000, key),
        "eyJhbGciOiJub25lIn0.e30.",  # {"alg":"none"}
        "",
        "ä.ö.ü",
        "e30.e30.e30",
        "W10.e30.e30",
        "x" * 100_000,
    ]
    ours = verifier(issuer)

    async def all_of_them() -> list[Any]:
        return [await ours.verify(token) for token in forgeries]

    assert asyncio.run(all_of_them()) == [None] * len(forgeries)


def test_nothing_that_is_cut_or_changed_passes_or_raises(issuer: Issuer, key: ECKey) -> None:
    issuer.publish(key)
    genuine, ours = signed(issuer, key), verifier(issuer)

    async def mutate() -> None:
        for place in range(len(genuine)):
            for changed in (genuine[:place], genuine[:place] + "~" + genuine[place + 1 :]):
                assert await ours.verify(changed) is None, changed

    asyncio.run(mutate())


def test_a_new_key_is_fetched_at_once_but_not_for_every_token(
    issuer: Issuer, key: ECKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    issuer.publish(key)
    second = ECKey.generate_key("P-256", {"kid": "second"})
    ours = verifier(issuer)

    async def turn() -> None:
        assert await ours.verify(signed(issuer, key)) is not None
        issuer.publish(key, second)
        for _ in range(5):
            assert await ours.verify(signed(issuer, second)) is None  # asked for just now
        assert len(issuer.asked) == 1
        monkeypatch.setattr(_verifiers, "_KEYS_PAUSE", 0.0)
        assert await ours.verify(signed(issuer, second)) is not None
        assert await ours.verify(signed(issuer, key)) is not None
        assert len(issuer.asked) == 2

    asyncio.run(turn())


def test_a_token_is_verified_once_and_forgotten_with_its_key(
    issuer: Issuer, key: ECKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    issuer.publish(key)
    ours = verifier(issuer)

    async def turn() -> None:
        token = signed(issuer, key)
        claims = await ours.verify(token)
        with monkeypatch.context() as patched:
            patched.setattr(jws, "deserialize_compact", None)
            again = await ours.verify(token)
        assert again == claims and again is not claims  # nobody can change what others get
        # The key is withdrawn.
        issuer.publish(ECKey.generate_key("P-256", {"kid": "second"}))
        monkeypatch.setattr(_verifiers, "_KEYS_PAUSE", 0.0)
        monkeypatch.setattr(_verifiers, "_KEYS_LAST", 0.0)
        assert await ours.verify(token) is None

    asyncio.run(turn())


def test_what_is_remembered_is_bounded(issuer: Issuer, key: ECKey, monkeypatch: pytest.MonkeyPatch) -> None:
    issuer.publish(key)
    monkeypatch.setattr(_verifiers, "_REMEMBERED", 3)
    ours = verifier(issuer)

    async def many() -> None:
        for number in range(5):
            assert await ours.verify(signed(issuer, key, jti=str(number))) is not None
        assert len(ours._genuine) == 3

    asyncio.run(many())


def test_many_at_once_fetch_the_keys_once(issuer: Issuer, key: ECKey) -> None:
    issuer.publish(key)
    ours = verifier(issuer)

    async def together() -> list[Any]:
        return list(await asyncio.gather(*(ours.verify(signed(issuer, key)) for _ in range(10))))

    assert None not in asyncio.run(together())
    assert len(issuer.asked) == 1


def test_old_keys_do_while_there_are_no_others(
    issuer: Issuer, key: ECKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    issuer.publish(key)
    ours = verifier(issuer)

    async def outage() -> None:
        assert await ours.verify(signed(issuer, key)) is not None
        monkeypatch.setattr(_verifiers, "_KEYS_PAUSE", 0.0)
        monkeypatch.setattr(_verifiers, "_KEYS_LAST", 0.0)
        for answer in ((500, b""), (200, b"no JSON"), (200, b'{"keys": 1}'), (200, b" " * 300_000)):
            issuer.answers["/jwks"] = answer
            assert await ours.verify(signed(issuer, key)) is not None
        assert len(issuer.asked) == 5

    asyncio.run(outage())


def test_nobody_waits_for_a_slow_issuer_while_there_are_old_keys(
    issuer: Issuer, key: ECKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    issuer.publish(key)
    ours = verifier(issuer)
    asked, answers = threading.Event(), threading.Event()

    def stall() -> None:
        asked.set()
        answers.wait(180)

    async def slow() -> None:
        token = signed(issuer, key)
        assert await ours.verify(token) is not None
        monkeypatch.setattr(_verifiers, "_KEYS_PAUSE", 0.0)
        monkeypatch.setattr(_verifiers, "_KEYS_LAST", 0.0)
        issuer.on_ask = stall
        asking = asyncio.create_task(ours.verify(token))
        try:
            assert await asyncio.to_thread(asked.wait, 60)
            assert await asyncio.wait_for(ours.verify(token), 60) is not None
            assert not asking.done()
        finally:
            answers.set()
        assert await asking is not None

    asyncio.run(slow())


def test_without_keys_nothing_can_be_said(issuer: Issuer, key: ECKey) -> None:
    with pytest.raises(VerifierUnavailableError):
        asyncio.run(verifier(issuer).verify(signed(issuer, key)))
    issuer.answers["/jwks"] = (302, b"")
    with pytest.raises(VerifierUnavailableError):
        asyncio.run(verifier(issuer).verify(signed(issuer, key)))


@pytest.mark.parametrize("url", ["http://as.example/x", "file:///etc/passwd", "https://me@as.example/x", ""])
def test_keys_and_tokens_travel_where_nobody_reads_along(issuer: Issuer, key: ECKey, url: str) -> None:
    with pytest.raises(ValueError, match="https"):
        JwtVerifier(issuer.url, jwks_uri=url)
    with pytest.raises(ValueError, match="https"):
        Introspection(url, "me", "secret")
    issuer.answer("/.well-known/oauth-authorization-server", {"issuer": issuer.url, "jwks_uri": url})
    with pytest.raises(VerifierUnavailableError) as refused:
        asyncio.run(JwtVerifier(issuer.url).verify(signed(issuer, key)))
    assert isinstance(refused.value.__cause__, ValueError)


def test_algorithms_with_a_shared_secret_are_none() -> None:
    for name in ("HS256", "none"):
        with pytest.raises(ValueError, match="is none of"):
            JwtVerifier("https://as.example", algorithms=[name])


def test_rsa_and_narrower_choices(issuer: Issuer, key: ECKey) -> None:
    rsa = RSAKey.generate_key(2048, {"kid": "rsa"})
    issuer.publish(key, rsa)
    token = signed(issuer, rsa, alg="RS256")
    assert asyncio.run(verifier(issuer).verify(token)) is not None
    assert asyncio.run(verifier(issuer, algorithms=["ES256"]).verify(token)) is None


def test_an_active_token_is_told_about(issuer: Issuer) -> None:
    issuer.answer("/introspect", {"active": True, "sub": "alice"})
    ours = Introspection(f"{issuer.url}/introspect", "me:1", "se cret")
    assert asyncio.run(ours.verify("tok+en")) == {"active": True, "sub": "alice"}
    ((path, authorization, body),) = issuer.asked
    assert path == "/introspect"
    assert authorization == "Basic bWUlM0ExOnNlK2NyZXQ="  # me%3A1:se+cret
    assert parse_qs(body.decode()) == {"token": ["tok+en"], "token_type_hint": ["access_token"]}


def test_an_answer_may_leave_out_whom_a_token_is_from(issuer: Issuer) -> None:
    ours = Introspection(f"{issuer.url}/introspect", "me", "secret", issuer="https://as.example")
    for answer, stated in (
        ({}, "https://as.example"),
        ({"iss": "https://else.example"}, "https://else.example"),
    ):
        issuer.answer("/introspect", {"active": True, **answer})
        assert asyncio.run(ours.verify("token")) == {"active": True, "iss": stated}
    issuer.answer("/introspect", {"active": False})
    assert asyncio.run(ours.verify("token")) is None


def test_an_inactive_token_is_none(issuer: Issuer) -> None:
    ours = Introspection(f"{issuer.url}/introspect", "me", "secret")
    for answer in ({"active": False, "sub": "alice"}, {"active": "true"}, {}):
        issuer.answer("/introspect", answer)
        assert asyncio.run(ours.verify("token")) is None
    for status, said in ((401, {"active": True}), (500, {}), (200, [1])):
        issuer.answer("/introspect", said, status)
        with pytest.raises(VerifierUnavailableError):
            asyncio.run(ours.verify("token"))


def test_answers_are_remembered_if_that_is_wanted(issuer: Issuer) -> None:
    issuer.answer("/introspect", {"active": True})

    async def ask_twice(ours: Introspection) -> int:
        issuer.asked.clear()
        await ours.verify("token")
        await ours.verify("token")
        return len(issuer.asked)

    url = f"{issuer.url}/introspect"
    assert asyncio.run(ask_twice(Introspection(url, "me", "secret"))) == 2
    assert asyncio.run(ask_twice(Introspection(url, "me", "secret", remembers=60))) == 1


def test_nothing_shows_the_secret() -> None:
    assert "secret" not in repr(Introspection("https://as.example/introspect", "me", "secret"))
