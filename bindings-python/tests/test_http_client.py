"""The client over HTTP, in every flavour and both eras, against a server that is scripted by hand."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import barewire
import pytest
from barewire._engine import Change, LogMessage
from barewire._errors import (
    ConnectionLostError,
    HttpStatusError,
    InputRefusedError,
    InvalidResultError,
    SessionLostError,
)
from client_harness import FLAVOURS, Run, until
from raw_http_server import LEGACY, MODERN, RawServer

ERAS = {"modern": MODERN, "legacy": LEGACY}


@pytest.fixture(params=list(FLAVOURS))
def run(request: pytest.FixtureRequest) -> Run:
    return FLAVOURS[request.param]


@pytest.fixture(params=list(ERAS))
def era(request: pytest.FixtureRequest) -> str:
    era: str = request.param
    return era


@pytest.fixture
def server(era: str) -> Iterator[RawServer]:
    with RawServer(era) as server:
        yield server


@pytest.fixture
def legacy() -> Iterator[RawServer]:
    with RawServer("legacy") as server:
        yield server


def words(result: barewire.CallToolResult) -> str:
    (block,) = result.content
    assert isinstance(block, barewire.Text)
    return block.text


async def see(client: Any, true: Callable[[], object]) -> None:
    """Wait for something that others do."""
    await until(true, lambda: client.call_tool("echo", {"text": ""}))


class Stop(Exception):
    """What a callback raises to end the wait for a result, which cancels the request in every flavour."""


def stop(_: object) -> None:
    raise Stop


# proves: BASE-204 BASE-265 BASE-270
def test_a_call(run: Run, era: str, server: RawServer) -> None:
    async def scenario(client: Any) -> None:
        assert (client.revision, client.era) == (ERAS[era], ERAS[era])
        assert client.server_info.name == "raw"
        assert words(await client.call_tool("echo", {"text": "x\u2028😀"})) == "x\u2028😀"

    run(scenario, server.url, headers={"X-Mine": "1"})
    call = server.of("tools/call")[-1].headers
    assert call["x-mine"] == "1"
    assert call["mcp-protocol-version"] == ERAS[era]
    assert call["accept"] == "application/json, text/event-stream"
    assert call.get("mcp-session-id") == (None if era == "modern" else "session-1")
    assert call.get("mcp-name") == ("echo" if era == "modern" else None)
    # A session is ended where there is one.
    assert [exchange.method for exchange in server.seen].count("DELETE") == (era == "legacy")
    assert not server.sessions


def test_a_stored_era_saves_the_probe(run: Run, era: str, server: RawServer) -> None:
    async def scenario(client: Any) -> None:
        assert words(await client.call_tool("echo", {"text": "hi"})) == "hi"

    run(scenario, server.url, era=ERAS[era])
    assert not server.of("server/discover")


def test_progress_is_told(run: Run, server: RawServer) -> None:
    async def scenario(client: Any) -> None:
        seen: list[barewire.Progress] = []
        assert words(await client.call_tool("progress", on_progress=seen.append)) == "done"
        assert [(report.progress, report.total) for report in seen] == [(1, 3), (2, 3), (3, 3)]

    run(scenario, server.url)


def test_questions_are_answered(run: Run, server: RawServer) -> None:
    def on_elicit(request: barewire.ElicitRequest) -> dict[str, str]:
        assert request.message == "Your name?"
        return {"name": "Ann"}

    async def scenario(client: Any) -> None:
        told = json.loads(words(await client.call_tool("ask")))
        assert told == {"action": "accept", "content": {"name": "Ann"}}
        assert json.loads(words(await client.call_tool("sample")))["content"]["text"] == "four"
        roots = json.loads(words(await client.call_tool("roots")))["roots"]
        assert [root["uri"] for root in roots] == ["file:///r"]

    options = {"on_elicit": on_elicit, "on_sample": lambda _: "four", "on_roots": lambda: ["file:///r"]}
    run(scenario, server.url, **options)


def test_a_handler_that_fails_refuses_the_question(run: Run, era: str, server: RawServer) -> None:
    def on_elicit(request: barewire.ElicitRequest) -> dict[str, str]:
        raise barewire.RpcError(-5, "not now")

    async def scenario(client: Any) -> None:
        if era == "legacy":
            assert json.loads(words(await client.call_tool("ask"))) == {"code": -5, "message": "not now"}
        else:
            with pytest.raises(InputRefusedError) as caught:
                await client.call_tool("ask")
            assert str(caught.value.__cause__) == "not now (-5)"

    run(scenario, server.url, on_elicit=on_elicit)


def test_logs_are_told(run: Run, server: RawServer) -> None:
    logs: list[LogMessage] = []

    async def scenario(client: Any) -> None:
        await client.set_log_level("warning")
        assert words(await client.call_tool("log")) == "warning"
        await see(client, lambda: logs)

    run(scenario, server.url, on_log=logs.append)
    assert [(log.level, log.logger, log.data) for log in logs] == [("warning", "l", {"n": 1})]


def test_changes_are_told(run: Run, server: RawServer) -> None:
    seen: list[Change] = []

    async def scenario(client: Any) -> None:
        await see(client, lambda: server.listening or server.standalone)
        await client.call_tool("change")
        await see(client, lambda: seen)
        async with client.subscribe(uris=["r://1"]) as changes:
            assert changes.honoured.resource_uris == ["r://1"]
            await client.call_tool("change")
            async for change in changes:
                if change.kind == "resource":
                    assert change == Change("resource", "r://1")
                    break
        await see(client, lambda: len(server.listening) in (0, 1))

    run(scenario, server.url, on_change=seen.append)
    assert Change("tools") in seen


def test_a_subscription_that_breaks_says_so(run: Run) -> None:
    async def scenario(client: Any) -> None:
        with pytest.raises(ConnectionLostError):
            async with client.subscribe(tools=True) as changes:
                (stream,) = modern.listening.values()
                modern.call(stream.drop)
                await anext(changes)

    with RawServer("modern") as modern:
        run(scenario, modern.url)


def test_the_stream_behind_on_change_is_renewed(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("barewire._engine.RENEWAL", 10)
    seen: list[Change] = []

    async def scenario(client: Any) -> None:
        await see(client, lambda: modern.listening)
        (stream,) = modern.listening.values()
        modern.call(stream.drop)
        # Nobody knows what has changed meanwhile.
        await see(client, lambda: len(seen) == 3)
        assert set(seen) == {Change("tools"), Change("resources"), Change("prompts")}
        await client.call_tool("change")
        await see(client, lambda: len(seen) > 3)

    with RawServer("modern") as modern:
        run(scenario, modern.url, on_change=seen.append)
        assert len(modern.of("subscriptions/listen")) == 2


# proves: BASE-228
def test_a_request_that_is_given_up_is_cancelled(run: Run, era: str, server: RawServer) -> None:
    async def scenario(client: Any) -> None:
        with pytest.raises(Stop):
            await client.call_tool("hang", on_progress=stop)
        (call,) = [call for call in server.of("tools/call") if call.message["params"]["name"] == "hang"]
        # The modern era has no message for it: leaving is the sign.
        await see(client, lambda: call.end == ("left" if era == "modern" else "cancelled"))
        assert bool(server.of("notifications/cancelled")) == (era == "legacy")

    run(scenario, server.url)


def test_a_request_that_takes_too_long_is_cancelled(run: Run, era: str, server: RawServer) -> None:
    async def scenario(client: Any) -> None:
        with pytest.raises(TimeoutError, match="the tool 'hang' gave no answer in time"):
            await client.call_tool("hang", timeout=0.3)
        # A machine with too much to do may not have sent it yet.
        calls = [call for call in server.of("tools/call") if call.message["params"]["name"] == "hang"]
        end = "left" if era == "modern" else "cancelled"
        await see(client, lambda: all(call.end == end for call in calls))

    run(scenario, server.url)


# proves: BASE-264
def test_a_lost_session_is_replaced(run: Run, legacy: RawServer) -> None:
    seen: list[Change] = []

    async def scenario(client: Any) -> None:
        async with client.subscribe(tools=True, uris=["r://1"]) as changes:
            await client.call_tool("forget")
            assert words(await client.call_tool("echo", {"text": "hi"})) == "hi"
            assert legacy.opened == 2
            assert {await anext(changes), await anext(changes)} == {
                Change("tools"),
                Change("resource", "r://1"),
            }
            await see(client, lambda: len(seen) >= 3)
            # The new session has what the old one had.
            await see(client, lambda: len(legacy.of("resources/subscribe")) == 2)

    run(scenario, legacy.url, on_change=seen.append)
    assert {Change("tools"), Change("resources"), Change("prompts")} <= set(seen)


def test_a_session_that_is_always_lost_is_an_error(run: Run, legacy: RawServer) -> None:
    async def scenario(client: Any) -> None:
        await client.call_tool("forget", {"for_good": True})
        with pytest.raises(SessionLostError) as caught:
            await client.call_tool("echo", {"text": "hi"})
        assert caught.value.status == 404

    run(scenario, legacy.url)
    assert legacy.opened == 2


# proves: BASE-250
def test_a_stream_that_breaks_is_resumed(run: Run, legacy: RawServer) -> None:
    async def scenario(client: Any) -> None:
        result = await client.call_tool("break", {"where": "after an event"})
        assert words(result) == "after stream-1-1"

    run(scenario, legacy.url)


@pytest.mark.parametrize("where", ["before the head", "before an event", "in an event"])
def test_a_connection_that_breaks_fails_its_call_alone(
    run: Run, era: str, server: RawServer, where: str
) -> None:
    import httpx2

    async def scenario(client: Any) -> None:
        with pytest.raises(ConnectionLostError) as caught:
            await client.call_tool("break", {"where": where})
        assert isinstance(caught.value, ConnectionError)
        assert isinstance(caught.value.__cause__, httpx2.HTTPError)
        assert words(await client.call_tool("echo", {"text": "hi"})) == "hi"

    run(scenario, server.url)


# proves: BASE-301 BASE-302
def test_tools_with_impossible_headers_are_left_out_and_told(
    run: Run, era: str, server: RawServer, caplog: pytest.LogCaptureFixture
) -> None:
    async def scenario(client: Any) -> None:
        page = await client.list_tools()
        names = ["a", "b"] if era == "modern" else ["a", "odd", "b"]
        assert [tool.name for tool in page] == names
        told = [(problem.index, problem.path) for problem in page.problems]
        if era == "legacy":
            assert told == [(2, "")]
        else:
            (odd, null) = sorted(told, key=str)
            assert (odd[0], null) == (1, (2, ""))

    async def strict(client: Any) -> None:
        with pytest.raises(InvalidResultError):
            await client.list_tools()

    run(scenario, server.url)
    warned = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert len(warned) == (era == "modern")
    assert all("'odd'" in message for message in warned)
    run(strict, server.url, strict=True)


@pytest.mark.parametrize("status", [400, 404, 418, 500, 503, 401, 403])
def test_statuses_are_errors(run: Run, era: str, server: RawServer, status: int) -> None:
    kinds: dict[int, type[Exception]] = {
        401: barewire.UnauthorizedError,
        403: barewire.UnauthorizedError,
        500: barewire.ServerUnavailableError,
        503: barewire.ServerUnavailableError,
    }

    async def scenario(client: Any) -> None:
        arguments = {"status": status, "body": "<p>no</p>", "headers": {"content-type": "text/html"}}
        with pytest.raises(HttpStatusError) as caught:
            await client.call_tool("status", arguments)
        session_lost = era == "legacy" and status == 404
        assert type(caught.value) is (
            SessionLostError if session_lost else kinds.get(status, HttpStatusError)
        )
        assert caught.value.status == status
        assert isinstance(caught.value, ConnectionError) == (status >= 500)
        assert words(await client.call_tool("echo", {"text": "hi"})) == "hi"

    run(scenario, server.url)


def test_a_page_instead_of_an_answer(run: Run, server: RawServer) -> None:
    async def scenario(client: Any) -> None:
        page = {"status": 200, "body": "<p>hello</p>", "headers": {"content-type": "text/html"}}
        with pytest.raises(HttpStatusError, match=r"no message of the protocol \(HTTP 200\)") as caught:
            await client.call_tool("status", page)
        assert caught.value.status == 200

    run(scenario, server.url)
