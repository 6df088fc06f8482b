"""The ASGI application without a server around it: answers, streams, disconnects, slow readers, the end."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from typing import Any

import pytest
from barewire import Context, Server, SyncContext, ToolError
from http_peer import (
    LEGACY,
    MODERN,
    PATIENCE,
    REVISIONS,
    Exchange,
    HttpPeer,
    Message,
    make_server,
    run,
    running,
)


@pytest.mark.parametrize("revision", REVISIONS)
@pytest.mark.parametrize("tool", ["inline", "threaded", "immediate", "waits"])
def test_an_answer_is_plain_json(revision: str, tool: str) -> None:
    async def test() -> None:
        async with running(make_server().asgi()) as app, HttpPeer(app.app, revision) as peer:
            exchange = await peer.call(tool, text="hello").done()
            assert exchange.status == 200
            assert exchange.headers["content-type"] == "application/json"
            assert int(exchange.headers["content-length"]) == len(exchange.body)
            assert (await exchange.answer())["result"]["content"][0]["text"] == "hello"
            # One message for the head, one for the body: what a server writes at once.
            assert len(exchange.sent) == 2

    run(test)


def test_no_task_is_made_for_what_ends_at_once() -> None:
    async def test() -> None:
        app = make_server().asgi()
        async with running(app), HttpPeer(app, MODERN) as peer:
            await peer.call("inline", text="x").done()
            made = 0
            loop = asyncio.get_running_loop()

            def count(loop: Any, coroutine: Any, **options: Any) -> Any:
                nonlocal made
                made += 1
                return asyncio.Task(coroutine, loop=loop, **options)

            loop.set_task_factory(count)
            await peer.call("inline", text="x").done()
            assert made == 1  # that of the request
            loop.set_task_factory(None)

    run(test)


@pytest.mark.parametrize("revision", REVISIONS)
def test_what_comes_before_the_answer_opens_a_stream(revision: str) -> None:
    async def test() -> None:
        server = make_server()
        go = asyncio.Event()

        @server.tool
        async def steps(context: Context) -> str:
            await context.progress(1, 3, "first")
            await go.wait()
            await context.progress(2, 3)
            return "done"

        app = server.asgi()
        async with running(app), HttpPeer(app, revision) as peer:
            exchange = peer.call("steps", token="t")
            first = await exchange.next_message(0)
            assert first["params"] == {
                "progressToken": "t",
                "progress": 1,
                "total": 3,
                "message": "first",
            }
            assert exchange.is_stream and exchange.headers["x-accel-buffering"] == "no"
            assert "content-length" not in exchange.headers
            go.set()
            assert (await exchange.answer())["result"]["content"][0]["text"] == "done"
            assert [message["params"]["progress"] for message in exchange.messages[:2]] == [1, 2]

    run(test)


def test_progress_goes_out_while_the_handler_keeps_the_loop() -> None:
    async def test() -> None:
        server = make_server()
        seen: list[int] = []
        exchange: Exchange

        @server.tool
        async def busy(context: Context, waits: bool) -> str:
            if waits:
                await asyncio.sleep(0)
            for step in range(1, 4):
                await context.progress(step)
                seen.append(len(exchange.messages))
            return "done"

        app = server.asgi()
        async with running(app), HttpPeer(app, MODERN) as peer:
            for waits in (False, True):
                exchange = peer.call("busy", token=1, waits=waits)
                assert (await exchange.answer())["result"]["content"][0]["text"] == "done"
        assert seen == [1, 2, 3] * 2

    run(test)


@pytest.mark.parametrize("revision", [LEGACY, MODERN])
def test_threads_report_too(revision: str) -> None:
    async def test() -> None:
        server = make_server()

        @server.tool
        def steps(context: SyncContext) -> str:
            for step in range(1, 6):
                context.progress(step)
            return "done"

        app = server.asgi()
        async with running(app), HttpPeer(app, revision) as peer:
            exchange = peer.call("steps", token=1)
            assert (await exchange.answer())["result"]["content"][0]["text"] == "done"
            assert [message["params"]["progress"] for message in exchange.messages[:-1]] == [1, 2, 3, 4, 5]

    run(test)


@pytest.mark.parametrize("revision", [LEGACY, MODERN])
def test_log_messages_of_a_request_come_with_it(revision: str) -> None:
    async def test() -> None:
        server = make_server()

        @server.tool
        async def talks(context: Context) -> str:
            await context.log("info", {"a": 1})
            return "done"

        app = server.asgi()
        async with running(app), HttpPeer(app, revision) as peer:
            exchange = peer.call("talks")
            await exchange.done()
            assert exchange.messages[0]["params"] == {"level": "info", "data": {"a": 1}}

    run(test)


# ---------------------------------------------------------------- questions


def ask(server: Server) -> None:
    @server.tool
    async def greet(context: Context) -> str:
        name = await context.elicit("Who?", {"type": "object", "properties": {"name": {"type": "string"}}})
        assert name.content is not None
        reply = await context.sample(f"Greet {name.content['name']}", max_tokens=9)
        return f"{reply.text}!"


ANSWERS: dict[str, Message] = {
    "elicitation/create": {"action": "accept", "content": {"name": "Ann"}},
    "sampling/createMessage": {
        "role": "assistant",
        "content": {"type": "text", "text": "Hello Ann"},
        "model": "m",
    },
}


@pytest.mark.parametrize("revision", ["2025-06-18", LEGACY])
def test_questions_go_out_on_the_stream_of_the_request(revision: str) -> None:
    async def test() -> None:
        server = make_server()
        ask(server)
        app = server.asgi()
        async with running(app), HttpPeer(app, revision) as peer:
            exchange = peer.call("greet")
            for number in range(2):
                question = await exchange.next_message(number)
                answer = {"jsonrpc": "2.0", "id": question["id"], "result": ANSWERS[question["method"]]}
                accepted = await peer.post(answer).done()
                assert accepted.status == 202 and accepted.body == b""
            assert (await exchange.answer())["result"]["content"][0]["text"] == "Hello Ann!"

    run(test)


def test_questions_end_a_stateless_request_which_comes_again() -> None:
    async def test() -> None:
        server = make_server()
        ask(server)
        app = server.asgi()
        async with running(app), HttpPeer(app, MODERN) as peer:
            more: dict[str, Any] = {}
            for _ in range(2):
                exchange = await peer.call("greet", more=more).done()
                assert not exchange.is_stream
                result = (await exchange.answer())["result"]
                assert result["resultType"] == "input_required"
                ((key, question),) = result["inputRequests"].items()
                more = {
                    "requestState": result["requestState"],
                    "inputResponses": {key: ANSWERS[question["method"]]},
                }
            answer = await peer.call("greet", more=more).answer()
            assert answer["result"]["content"][0]["text"] == "Hello Ann!"

    run(test)


# ---------------------------------------------------------------- who is who


def test_what_a_handler_learns_of_its_caller() -> None:
    async def test() -> None:
        server = make_server()

        @server.tool
        async def who(context: Context) -> list[Any]:
            return [context.principal, context.session, context.revision]

        app = server.asgi(principal=lambda scope: dict(scope["headers"]).get(b"x-user", b"nobody").decode())
        async with running(app):
            async with HttpPeer(app, LEGACY, headers=[("x-user", "ann")]) as ann:
                seen = (await ann.call("who").answer())["result"]["structuredContent"]["result"]
                assert seen[0] == "ann" and isinstance(seen[1], int) and seen[2] == LEGACY
                async with HttpPeer(app, LEGACY, headers=[("x-user", "bob")]) as bob:
                    other = (await bob.call("who").answer())["result"]["structuredContent"]["result"]
                    assert other[0] == "bob" and other[1] != seen[1]
                    bob.session = ann.session  # a session serves nobody but its principal
                    assert (await bob.call("who").done()).status == 404
            modern = HttpPeer(app, MODERN)
            seen = (await modern.call("who").answer())["result"]["structuredContent"]["result"]
            assert seen == ["nobody", None, MODERN]

    run(test)


def test_sessions_end_when_clients_say_so() -> None:
    async def test() -> None:
        app = make_server().asgi()
        async with running(app), HttpPeer(app) as peer:
            stream = peer.get()
            await stream.started()
            assert (await peer.delete().done()).status in (200, 204)
            await stream.done()
            assert (await peer.call("inline", text="x").done()).status == 404

    run(test)


def test_an_unused_session_ends() -> None:
    async def test() -> None:
        app = make_server().asgi(session_idle=300)
        async with running(app), HttpPeer(app) as peer:
            await peer.call("inline", text="x").done()
            await asyncio.sleep(0.35)
            assert (await peer.call("inline", text="x").done()).status == 404

    run(test)


# ---------------------------------------------------------------- streams that belong to no request


def test_changes_are_told_on_the_stream_of_the_session() -> None:
    async def test() -> None:
        server = make_server()
        app = server.asgi()
        async with running(app), HttpPeer(app) as peer:
            stream = await peer.get().started()
            assert stream.is_stream
            server.add_tool(lambda: None, name="late")
            message = await stream.next_message(0)
            assert message["method"] == "notifications/tools/list_changed"
            # From another thread as well.
            thread = threading.Thread(target=server.remove_tool, args=("late",))
            thread.start()
            await stream.next_message(1)
            thread.join()
            stream.disconnect()
            await asyncio.wait_for(stream.task, PATIENCE)

    run(test)


def test_a_stateless_client_listens() -> None:
    async def test() -> None:
        server = make_server()
        app = server.asgi()
        async with running(app), HttpPeer(app, MODERN) as peer:
            stream = peer.request("subscriptions/listen", {"notifications": {"toolsListChanged": True}})
            acknowledged = await stream.next_message(0)
            assert acknowledged["method"] == "notifications/subscriptions/acknowledged"
            server.add_tool(lambda: None, name="late")
            assert (await stream.next_message(1))["method"] == "notifications/tools/list_changed"
            stream.disconnect()
            await asyncio.wait_for(stream.task, PATIENCE)

    run(test)


def test_a_silent_stream_is_kept_alive() -> None:
    async def test() -> None:
        app = make_server().asgi(keep_alive=1)
        async with running(app), HttpPeer(app) as peer:
            stream = await peer.get().started()
            await stream.until(lambda: stream.body.count(b"\n:") + stream.body.startswith(b":") >= 2)
            stream.disconnect()
            await asyncio.wait_for(stream.task, PATIENCE)

    run(test)


# ---------------------------------------------------------------- coming back


def test_a_lost_stream_is_resumed() -> None:
    async def test() -> None:
        server = make_server()
        go = asyncio.Event()

        @server.tool
        async def steps(context: Context) -> str:
            await context.progress(1)
            await go.wait()
            await context.progress(2)
            return "done"

        app = server.asgi()
        async with running(app), HttpPeer(app) as peer:
            exchange = peer.call("steps", token=1)
            await exchange.next_message(0)
            exchange.disconnect()
            await asyncio.wait_for(exchange.task, PATIENCE)
            assert not exchange.is_complete
            go.set()
            resumed = await peer.get(exchange.ids[-1]).done()
            assert [message.get("method", "answer") for message in resumed.messages] == [
                "notifications/progress",
                "answer",
            ]
            assert resumed.messages[1]["result"]["content"][0]["text"] == "done"
            assert not set(resumed.ids) & set(exchange.ids)

    run(test)


def test_a_handler_lets_its_client_go_for_a_while() -> None:
    async def test() -> None:
        server = make_server()
        go = asyncio.Event()
        closed: list[bool] = []

        @server.tool
        async def long(context: Context) -> str:
            await context.progress(1)
            closed.append(context.close_stream(retry_ms=5))
            await go.wait()
            return "done"

        app = server.asgi()
        async with running(app):
            async with HttpPeer(app) as peer:
                exchange = await peer.call("long", token=1).done()
                assert closed == [True] and b"retry: 5" in exchange.body
                go.set()
                resumed = await peer.get(exchange.ids[-1]).done()
                assert resumed.messages[-1]["result"]["content"][0]["text"] == "done"
            # Where there is no such thing, the response goes on.
            exchange = HttpPeer(app, MODERN).call("long", token=1)
            assert (await exchange.answer())["result"]["content"][0]["text"] == "done"
            assert closed == [True, False]

    run(test)


# ---------------------------------------------------------------- clients that leave


def test_a_stateless_client_that_leaves_cancels() -> None:
    async def test() -> None:
        server = make_server()
        ended = asyncio.Event()
        begun = asyncio.Event()

        @server.tool
        async def forever(context: Context) -> None:
            begun.set()
            try:
                await asyncio.Event().wait()
            finally:
                assert context.cancelled
                ended.set()

        app = server.asgi()
        async with running(app), HttpPeer(app, MODERN) as peer:
            exchange = peer.call("forever")
            await asyncio.wait_for(begun.wait(), PATIENCE)
            exchange.disconnect()
            await asyncio.wait_for(ended.wait(), PATIENCE)
            await asyncio.wait_for(exchange.task, PATIENCE)
            assert exchange.sent == []

    run(test)


def test_an_older_client_that_leaves_cancels_nothing() -> None:
    async def test() -> None:
        server = make_server()
        go, ended = asyncio.Event(), asyncio.Event()

        @server.tool
        async def waits_for(context: Context) -> str:
            await go.wait()
            ended.set()
            return "done"

        app = server.asgi()
        async with running(app), HttpPeer(app) as peer:
            exchange = peer.call("waits_for")
            await asyncio.sleep(0)
            exchange.disconnect()
            await asyncio.wait_for(exchange.task, PATIENCE)
            go.set()
            await asyncio.wait_for(ended.wait(), PATIENCE)

    run(test)


def test_a_client_that_leaves_within_its_body_is_forgotten() -> None:
    async def test() -> None:
        app = make_server().asgi()
        async with running(app), HttpPeer(app, MODERN) as peer:
            head = [*peer.headers({"method": "ping"}), (b"content-length", b"100")]
            exchange = Exchange(app, "POST", head, [b"{", b" ", b" "])
            exchange._pieces.pop()  # the last one never comes
            exchange.disconnect()

            async def receive() -> dict[str, Any]:
                if exchange._pieces:
                    return {"type": "http.request", "body": exchange._pieces.pop(0), "more_body": True}
                return {"type": "http.disconnect"}

            exchange._receive = receive  # type: ignore[method-assign]
            await asyncio.wait_for(exchange.task, PATIENCE)
            assert exchange.sent == []
            assert app._host is not None and app._host.machine.is_idle

    run(test)


def test_a_send_that_fails_is_a_client_that_left() -> None:
    async def test() -> None:
        server = make_server()
        ended = asyncio.Event()

        @server.tool
        async def talks(context: Context) -> None:
            try:
                for step in range(1000):
                    await context.progress(step)
                    await asyncio.sleep(0)
            finally:
                ended.set()

        app = server.asgi()
        async with running(app), HttpPeer(app, MODERN) as peer:
            exchange = peer.call("talks", token=1)

            async def broken(message: dict[str, Any]) -> None:
                raise OSError("gone")

            exchange._send = broken  # type: ignore[method-assign]
            await asyncio.wait_for(ended.wait(), PATIENCE)
            await asyncio.wait_for(exchange.task, PATIENCE)

    run(test)


# ---------------------------------------------------------------- slow readers


@pytest.mark.parametrize("revision", [LEGACY, MODERN])
def test_a_slow_reader_delays_nobody_else(revision: str) -> None:
    async def test() -> None:
        server = make_server()
        told = 0

        @server.tool
        async def floods(context: Context) -> str:
            nonlocal told
            for step in range(1, 2001):
                await context.progress(step, message="x" * 1000)
                told = step
            return "done"

        app = server.asgi()
        async with running(app), HttpPeer(app, revision) as slow, HttpPeer(app, revision) as quick:
            exchange = slow.call("floods", token=1)
            exchange.reads.clear()
            while True:  # until the handler has to wait for its client
                before = told
                assert await quick.result("waits", text="other") == "other"
                if told == before and told:
                    break
            assert told < 500
            exchange.reads.set()
            assert (await exchange.answer())["result"]["content"][0]["text"] == "done"
            assert len(exchange.messages) == 2001

    run(test)


def test_a_thread_waits_for_its_client_too() -> None:
    async def test() -> None:
        server = make_server()
        told = 0

        @server.tool
        def floods(context: SyncContext) -> str:
            nonlocal told
            for step in range(1, 501):
                context.progress(step, message="x" * 1000)
                told = step
            return "done"

        app = server.asgi()
        async with running(app), HttpPeer(app, MODERN) as peer:
            exchange = peer.call("floods", token=1)
            exchange.reads.clear()
            while True:
                before = told
                await asyncio.sleep(0.05)
                if told == before and told:
                    break
            assert told < 400
            exchange.reads.set()
            await exchange.done()
            assert len(exchange.messages) == 501

    run(test)


# ---------------------------------------------------------------- faults


@pytest.mark.parametrize("revision", [LEGACY, MODERN])
def test_a_handler_that_fails_answers(revision: str, caplog: pytest.LogCaptureFixture) -> None:
    async def test() -> None:
        server = make_server()

        @server.tool
        async def meant() -> None:
            raise ToolError("no such thing")

        @server.tool
        async def defect() -> None:
            await asyncio.sleep(0)
            raise RuntimeError("secret")

        app = server.asgi()
        async with running(app), HttpPeer(app, revision) as peer:
            result = (await peer.call("meant").answer())["result"]
            assert result["isError"] and result["content"][0]["text"] == "no such thing"
            with caplog.at_level(logging.ERROR, "barewire"):
                exchange = peer.call("defect")
                answer = await exchange.answer()
            assert "secret" not in json.dumps(answer) and "secret" in caplog.text

    run(test)


def test_paths_methods_and_bodies_that_do_not_fit() -> None:
    async def test() -> None:
        app = make_server().asgi(body_limit=1000)
        async with running(app), HttpPeer(app, MODERN) as peer:
            assert (await peer.call("inline", text="x").done()).status == 200
            peer.path = "/mcp/"
            assert (await peer.call("inline", text="x").done()).status == 200
            peer.path = "/other"
            assert (await peer.call("inline", text="x").done()).status == 404
            peer.path = "/mcp"
            assert (await Exchange(app, "PUT", [], [b""]).done()).status == 405
            assert (await peer.call("inline", text="x" * 1000).done()).status == 413
            # The same in pieces, which are not read to their end.
            head = peer.headers({"method": "tools/call"})
            exchange = await Exchange(app, "POST", head, [b"x" * 300 for _ in range(10)]).done()
            assert exchange.status == 413 and exchange._pieces
            pieces = [b'{"jsonrpc":"2.0","id":1,', b'"method":"nothing"', b"}"]
            exchange = Exchange(app, "POST", peer.headers({"method": "nothing"}), pieces)
            assert (await exchange.answer())["error"]["code"] < 0

    run(test)


def test_foreign_pages_and_names_are_refused(caplog: pytest.LogCaptureFixture) -> None:
    async def test() -> None:
        app = make_server().asgi()
        async with running(app):
            evil = HttpPeer(app, MODERN, headers=[("origin", "https://evil.example")])
            with caplog.at_level(logging.WARNING, "barewire"):
                assert (await evil.call("inline", text="x").done()).status == 403
            assert "allowed_origins" in caplog.text and "allowed_hosts" in caplog.text
            local = HttpPeer(app, MODERN, headers=[("origin", "http://localhost:5173")])
            exchange = await local.call("inline", text="x").done()
            assert exchange.status == 200
            assert exchange.headers["access-control-allow-origin"] == "http://localhost:5173"
        app = make_server().asgi(allowed_origins=["https://app.example"], allowed_hosts=["*"])
        async with running(app):
            page = HttpPeer(app, MODERN, headers=[("origin", "https://app.example")])
            assert (await page.call("inline", text="x").done()).status == 200
            preflight = [
                (b"origin", b"https://app.example"),
                (b"access-control-request-method", b"POST"),
                (b"access-control-request-headers", b"mcp-method"),
            ]
            exchange = await Exchange(app, "OPTIONS", preflight, [b""]).done()
            assert exchange.status in (200, 204)
            assert "POST" in exchange.headers["access-control-allow-methods"]

    run(test)


async def who_it_is(scope: object) -> str:
    return "bob"


def test_mistakes_in_options_are_found_at_once() -> None:
    server = make_server()
    with pytest.raises(ValueError, match="is not an origin"):
        server.asgi(allowed_origins=["app.example"])
    with pytest.raises(ValueError, match="is not a host"):
        server.asgi(allowed_hosts=["https://app.example"])
    with pytest.raises(TypeError, match=r"allowed_hosts is a list, such as \['mcp\.example'\]"):
        Server("s").asgi(allowed_hosts="mcp.example")  # type: ignore[arg-type]
    for wrong in (-1, 1.5):
        with pytest.raises(ValueError, match=f"keep_alive is a whole number .* not {wrong}"):
            Server("s").asgi(keep_alive=wrong)  # type: ignore[arg-type]
    for make in (Server("s").asgi, Server("s").wsgi):
        with pytest.raises(ValueError, match="begins with a slash: '/mcp', not 'mcp'"):
            make(path="mcp")
        for wrong_principal in (who_it_is, "bob"):
            with pytest.raises(TypeError, match="principal is a function, not async"):
                make(principal=wrong_principal)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="the port is a number, not '8000'"):
        Server("s").run_http(port="8000")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="begins with a slash"):
        Server("s").asgi(sse=("/sse", "messages"))
    with pytest.raises(TypeError, match="there are path, sse, auth, principal, allowed_origins"):
        Server("s").asgi(log_level="info")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="body_limit"):
        server.asgi(limit=1)  # type: ignore[call-arg]


def test_who_speaks_by_hand_is_told_what_is_missing() -> None:
    async def test() -> None:
        app = make_server().asgi()
        async with running(app):
            head = [(b"content-type", b"application/json")]
            body = [b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}']
            exchange = await Exchange(app, "POST", head, body).done()
            assert exchange.status == 400
            message = json.loads(exchange.body)["error"]["message"]
            assert "Mcp-Session-Id is missing; initialize opens a session" in message
            assert f"MCP-Protocol-Version: {MODERN} needs none" in message
            exchange = await Exchange(app, "GET", [(b"accept", b"text/event-stream")], [b""]).done()
            assert (exchange.status, b"Mcp-Session-Id is missing" in exchange.body) == (400, True)
            exchange = await Exchange(app, "POST", head, body, path="/").done()
            assert (exchange.status, b"no MCP endpoint at this path" in exchange.body) == (404, True)

    run(test)


# ---------------------------------------------------------------- the first revision


def test_the_first_revision_has_two_endpoints() -> None:
    async def test() -> None:
        server = make_server()
        ask(server)
        app = server.asgi(sse=True)
        async with running(app):
            headers = [(b"accept", b"text/event-stream")]
            stream = Exchange(app, "GET", headers, [b""], path="/api/sse", root_path="/api")
            await stream.until(lambda: b"\n\n" in stream.body)
            endpoint = parse_first(stream.body)
            path, _, query = endpoint.partition("?")
            assert path == "/api/messages"

            async def post(message: Message) -> None:
                body = [json.dumps({"jsonrpc": "2.0", **message}).encode()]
                head = [(b"content-type", b"application/json")]
                exchange = Exchange(
                    app, "POST", head, body, path=path, query=query.encode(), root_path="/api"
                )
                assert (await exchange.done()).status == 202

            params = {
                "protocolVersion": "2024-11-05",
                "capabilities": {"sampling": {}},
                "clientInfo": {"name": "c", "version": "1"},
            }
            await post({"id": 1, "method": "initialize", "params": params})
            await stream.until(lambda: stream.body.count(b"data: {") == 1)
            await post({"method": "notifications/initialized"})
            await post(
                {"id": 2, "method": "tools/call", "params": {"name": "waits", "arguments": {"text": "hi"}}}
            )
            await stream.until(lambda: stream.body.count(b"data: {") == 2)
            assert b"hi" in stream.body
            stream.disconnect()
            await asyncio.wait_for(stream.task, PATIENCE)

    run(test)


def parse_first(body: bytes) -> str:
    event, data = body.decode().split("\n\n")[0].split("\n")
    assert event == "event: endpoint"
    return data.removeprefix("data: ")
