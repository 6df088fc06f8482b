"""The sans-IO floor of a client over HTTP: requests out, parts of responses in, events out."""

from __future__ import annotations

import json
from typing import Any

import pytest
from barewire import sansio
from barewire.sansio import (
    AuthorizationRequired,
    ConnectionLostError,
    Disconnected,
    HttpAbort,
    HttpClient,
    HttpRequest,
    Ready,
    RequestFailed,
    ResponseReceived,
    UnauthorizedError,
)

MODERN = sansio.MODERN_REVISIONS[0]
JSON = [("Content-Type", "application/json")]
DISCOVERED = {"resultType": "complete", "supportedVersions": [MODERN], "capabilities": {"tools": {}}}


def client(**options: Any) -> HttpClient:
    return HttpClient(url="http://h/mcp", name="c", version="1", seed=bytes(32), now=0, **options)


def request(http: HttpClient, now: int = 0) -> HttpRequest:
    transmit = http.poll_transmit(now)
    assert isinstance(transmit, HttpRequest)
    return transmit


def answer(http: HttpClient, asked: HttpRequest, result: dict[str, Any]) -> list[sansio.Event]:
    body = json.dumps({"jsonrpc": "2.0", "id": json.loads(asked.body)["id"], "result": result}).encode()
    events = http.receive_head(asked.exchange, 200, JSON, 0)
    for at in range(len(body)):
        events += http.receive_body(asked.exchange, body[at : at + 1], 0)
    return events + http.receive_end(asked.exchange, 0)


def ready(http: HttpClient) -> HttpClient:
    (event,) = answer(http, request(http), DISCOVERED)
    assert isinstance(event, Ready)
    assert event.revision == MODERN
    return http


def test_a_call_from_the_request_to_its_answer() -> None:
    http = ready(client())
    handle = http.call_tool("t", b'{"a": 1}', 0)
    asked = request(http)
    assert (asked.method, asked.url, asked.is_stream) == ("POST", "http://h/mcp", True)
    assert ("mcp-name", "t") in asked.headers
    assert json.loads(asked.body)["params"]["arguments"] == {"a": 1}
    assert http.poll_transmit(0) is None
    assert http.wants_input(asked.exchange)
    (event,) = answer(http, asked, {"resultType": "complete", "content": []})
    assert isinstance(event, ResponseReceived)
    assert event.request == handle
    http.close()
    (ended,) = http.events()
    assert isinstance(ended, Disconnected)
    assert http.poll_transmit(0) is None
    assert http.is_finished


def test_a_request_that_is_cancelled_is_aborted() -> None:
    http = ready(client())
    handle = http.call_tool("t", None, 0)
    asked = request(http)
    http.cancel(handle)
    assert [type(event) for event in http.events()] == [RequestFailed]
    aborted = http.poll_transmit(0)
    assert isinstance(aborted, HttpAbort)
    assert aborted.exchange == asked.exchange
    # What is reported of it all the same means nothing.
    assert http.receive_head(asked.exchange, 500, [], 0) == []
    assert http.receive_failure(asked.exchange, "broken", 0) == []


@pytest.mark.parametrize(
    ("failure", "begun", "said"),
    [
        ("not_sent", False, "cannot be reached"),
        ("broken", False, "cannot be reached"),
        ("broken", True, "ended before the answer"),
    ],
)
def test_an_exchange_that_fails(failure: Any, begun: bool, said: str) -> None:
    http = ready(client())
    http.call_tool("t", None, 0)
    asked = request(http)
    if begun:
        assert http.receive_head(asked.exchange, 200, JSON, 0) == []
    (event,) = http.receive_failure(asked.exchange, failure, 0)
    assert isinstance(event, RequestFailed)
    assert type(event.error) is ConnectionLostError
    assert said in str(event.error)


def test_a_failure_has_one_of_two_names() -> None:
    http = client()
    with pytest.raises(ValueError, match='"lost" is none of not_sent, broken'):
        http.receive_failure(request(http).exchange, "lost", 0)  # type: ignore[arg-type]


def test_credentials_are_asked_for_and_the_request_goes_out_again() -> None:
    http = client(authorizes=True)
    refused = request(http)
    challenges = [("WWW-Authenticate", "Bearer a"), ("www-authenticate", "Basic b")]
    assert http.receive_head(refused.exchange, 401, challenges, 0) == []
    wanted = http.poll_http_event()
    assert isinstance(wanted, AuthorizationRequired)
    assert (wanted.exchange, wanted.status) == (refused.exchange, 401)
    assert wanted.challenges == ["Bearer a", "Basic b"]
    assert http.poll_http_event() is None
    assert http.authorized(wanted.exchange, 0) == []
    again = request(http)
    assert again.exchange != refused.exchange
    assert again.body == refused.body
    assert [type(event) for event in answer(http, again, DISCOVERED)] == [Ready]


def test_without_credentials_a_request_fails() -> None:
    http = ready(client(authorizes=True))
    http.call_tool("t", None, 0)
    asked = request(http)
    http.receive_head(asked.exchange, 403, [], 0)
    wanted = http.poll_http_event()
    assert wanted is not None
    (event,) = http.unauthorized(wanted.exchange, 0)
    assert isinstance(event, RequestFailed)
    assert isinstance(event.error, UnauthorizedError)
    assert event.error.status == 403


def test_time_passes() -> None:
    http = ready(client())
    http.call_tool("t", None, 0, timeout=50)
    request(http)
    assert http.poll_timeout() == 50
    assert http.handle_timeout(49) == []
    (event,) = http.handle_timeout(50)
    assert isinstance(event, RequestFailed)
    assert isinstance(event.error, sansio.RequestTimedOutError)


def test_a_url_that_is_none_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="is no URL of http or https"):
        HttpClient(url="stdio:", name="c", version="1", seed=bytes(32), now=0)
