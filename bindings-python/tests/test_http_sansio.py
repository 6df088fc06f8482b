"""The sans-IO floor of a server over HTTP: heads and bodies in, heads and bodies out, events in between."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest
from barewire import sansio
from barewire.sansio import (
    EventAppended,
    HttpServer,
    ReplayRequested,
    ResponsePart,
    SessionClosed,
    SessionNamed,
    SessionOpened,
    SessionRequested,
    StreamsForgotten,
    ToolCalled,
)
from http_peer import LEGACY

HEADERS: list[Any] = [
    (b"host", b"localhost"),
    [b"content-type", b"application/json"],  # lists are as good as tuples
    (b"accept", b"application/json, text/event-stream"),
]
RESULT = '{"content": []}'


def make(**options: Any) -> HttpServer:
    server = HttpServer(name="s", version="1", seed=bytes(32), clock_origin=0, **options)
    server.add_tool('{"name": "t", "inputSchema": {"type": "object"}}')
    return server


def message(method: str, id: int | None = 1, **params: Any) -> bytes:
    head = {"jsonrpc": "2.0", "method": method, "params": params}
    return json.dumps(head if id is None else head | {"id": id}).encode()


def initialize() -> bytes:
    client = {"name": "c", "version": "1"}
    return message("initialize", protocolVersion=LEGACY, capabilities={}, clientInfo=client)


def whole(server: HttpServer, exchange: int) -> tuple[int, dict[bytes, bytes], bytes]:
    """The response of an exchange that is over."""
    status, headers, data = 0, {}, b""
    while (part := server.poll_response(exchange)) is not None:
        if part.status is not None:
            status, headers = part.status, dict(part.headers)
        data += part.data
        if part.is_last:
            return status, headers, data
    raise AssertionError("it goes on")


def open_session(server: HttpServer) -> list[Any]:
    exchange, _ = server.receive_whole("POST", HEADERS, initialize(), 0)
    status, headers, _ = whole(server, exchange)
    assert status == 200
    named = [*HEADERS, (b"mcp-session-id", headers[b"mcp-session-id"])]
    body = message("notifications/initialized", None)
    exchange, events = server.receive_whole("POST", named, body, 0)
    assert any(isinstance(event, SessionOpened) for event in events)
    assert whole(server, exchange)[0] == 202
    return named


def test_a_request_is_answered() -> None:
    server = make()
    headers = open_session(server)
    exchange, (event,) = server.receive_whole(
        "POST", headers, message("tools/call", 2, name="t"), 5, principal=None
    )
    assert isinstance(event, ToolCalled) and event.context.exchange == exchange
    assert server.poll_response(exchange) is None and server.ready() == []
    server.respond(event.request, RESULT)
    assert server.ready() == [exchange]
    status, head, data = whole(server, exchange)
    assert status == 200 and json.loads(data)["id"] == 2
    assert head[b"content-length"] == str(len(data)).encode()
    assert server.poll_response(exchange) is None and server.is_idle


def test_a_body_comes_in_pieces() -> None:
    server = make()
    headers = open_session(server)
    exchange = server.receive_request("POST", headers, 0)
    body = message("tools/call", 2, name="t")
    server.receive_body(exchange, body[:10], 0)
    server.receive_body(exchange, body[10:], 0)
    (event,) = server.receive_end(exchange, 0)
    assert isinstance(event, ToolCalled)
    server.progress(event.request, 1.0)  # no token: not sent
    server.log(event.request, "info", '"text"')
    part = server.poll_response(exchange)
    assert part is not None and part.status == 200 and not part.is_last and not part.is_aborted
    assert b'"text"' in part.data and repr(part).startswith("ResponsePart(status=200, headers=[")
    assert server.close_stream(exchange, 0, 7)
    assert server.poll_response(exchange) is not None
    server.respond(event.request, RESULT)
    assert server.receive_abort(exchange, 0) == []


def test_headers_may_hold_any_bytes() -> None:
    server = make()
    strange = [*HEADERS, (b"x-name", "Zoë".encode("latin-1")), (b"x-other", "Zoë".encode())]
    exchange, _ = server.receive_whole("POST", strange, initialize(), 0)
    assert whole(server, exchange)[0] == 200
    for bad in ([(b"a",)], [b"ab"], [("host", "localhost")], 5):
        with pytest.raises(TypeError):
            server.receive_whole("POST", bad, b"", 0)  # type: ignore[arg-type]


def test_sessions_and_events_may_live_with_the_program() -> None:
    server = make(external_sessions=True, event_keeping="external")
    exchange, events = server.receive_whole("POST", HEADERS, initialize(), 0)
    whole(server, exchange)
    (named,) = [event for event in [*events, *server.events()] if isinstance(event, SessionNamed)]
    headers = [*HEADERS, (b"mcp-session-id", named.id.encode())]
    exchange, _ = server.receive_whole("POST", headers, message("notifications/initialized", None), 0)
    exchange, (event,) = server.receive_whole("POST", headers, message("tools/call", 2, name="t"), 0)
    assert isinstance(event, ToolCalled)
    server.log(event.request, "info", '"text"')
    server.respond(event.request, RESULT)
    body = whole(server, exchange)[2]
    kept = [event for event in server.events() if isinstance(event, EventAppended)]
    assert kept and all(event.session == named.session for event in kept)
    assert all(event.data.encode() in body for event in kept)
    # The client comes back for what followed the first one.
    resume = [*headers, (b"last-event-id", kept[0].id.encode())]
    exchange, events = server.receive_whole("GET", resume, b"", 0)
    (replay,) = [event for event in events if isinstance(event, ReplayRequested)]
    assert replay.exchange == exchange and replay.after == kept[0].id
    server.replay(exchange, [(event.id, event.data) for event in kept[1:]], 0)
    part = server.poll_response(exchange)
    assert part is not None and kept[-1].data.encode() in part.data
    # Another process knows neither the session nor its events.
    other = make(external_sessions=True, event_keeping="external")
    exchange, events = other.receive_whole("POST", headers, message("tools/list", 3), 0)
    (asked,) = events
    assert isinstance(asked, SessionRequested) and asked.id == named.id
    session = other.import_session(server.export_session(named.session))
    other.resolve_session(exchange, session, 0)
    assert b'"t"' in whole(other, exchange)[2]
    exchange, events = other.receive_whole("POST", [*HEADERS, (b"mcp-session-id", b"x")], message("ping"), 0)
    other.resolve_session(exchange, None, 0)
    assert whole(other, exchange)[0] == 404
    events = server.receive_whole("DELETE", headers, b"", 0)[1]
    assert StreamsForgotten in [type(event) for event in [*events, *server.events()]]


def resident() -> int:
    """Bytes of this process in memory."""
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


# A session costs less than 1 KiB; what is allowed leaves room for the allocator.
@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="needs /proc")
def test_ten_thousand_idle_sessions_fit() -> None:
    server = make()
    open_session(server)
    before = resident()
    sessions = [open_session(server)[-1] for _ in range(9_999)]
    assert (resident() - before) / len(sessions) < 4_096
    for headers in (HEADERS + sessions[:1], HEADERS + sessions[-1:]):
        exchange, events = server.receive_whole("POST", headers, message("ping"), 0)
        assert whole(server, exchange)[0] == 200 and events == []
    # They end as one does, and what they took serves those that come.
    taken = resident()
    ended = server.handle_timeout(2_000_000)
    assert [type(event) for event in ended] == [SessionClosed] * 10_000
    for _ in range(9_999):
        open_session(server)
    assert resident() - taken < 4_096 * len(sessions) / 2


def test_the_channel_of_the_first_revision() -> None:
    server = make()
    stream, _ = server.receive_whole("GET", HEADERS, b"", 0, event_stream="/messages")
    part = server.poll_response(stream)
    assert part is not None and part.data.startswith(b"event: endpoint\ndata: /messages?")
    query = part.data.split(b"?")[1].strip().decode()
    exchange, _ = server.receive_whole("POST", HEADERS, message("ping"), 0, messages=query)
    assert whole(server, exchange)[0] == 202 and stream in server.ready()
    with pytest.raises(ValueError, match="one endpoint"):
        server.receive_whole("POST", HEADERS, b"", 0, messages=query, event_stream="/messages")


def test_time_and_the_end() -> None:
    server = make(session_idle=100, keep_alive=10)
    headers = open_session(server)
    stream, _ = server.receive_whole("GET", headers, b"", 0)
    assert isinstance(server.poll_response(stream), ResponsePart)
    due = server.poll_timeout()
    assert due is not None and due <= 10
    server.handle_timeout(10)
    assert server.ready() == [stream]
    part = server.poll_response(stream)
    assert part is not None and part.data.startswith(b":")
    server.shut_down(10)
    part = server.poll_response(stream)
    assert part is not None and part.is_last and server.is_idle
    exchange, _ = server.receive_whole("POST", headers, message("ping"), 10)
    assert whole(server, exchange)[0] == 503


def test_settings_are_checked() -> None:
    with pytest.raises(ValueError, match="event_keeping"):
        make(event_keeping="somewhere")
    with pytest.raises(ValueError, match="is not an origin"):
        make(allowed_origins=["app"])
    assert make(event_keeping="memory", kept_events=1, kept_bytes=10, kept_age=5, retry=1, body_bytes=10)
    assert sansio.HttpServer is HttpServer
