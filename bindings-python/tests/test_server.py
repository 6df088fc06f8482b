"""Servers over the core: what handlers get, what clients see, in both eras."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import warnings
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from barewire import (
    Context,
    Image,
    ResourceNotFoundError,
    RpcError,
    Server,
    SyncContext,
    ToolError,
    ToolResult,
)
from server_peer import LEGACY, MODERN, PATIENCE, InProcess

ERAS = pytest.mark.parametrize("revision", [LEGACY, MODERN])


@dataclass
class Name:
    name: str


# ---------------------------------------------------------------- tools


@ERAS
def test_async_threaded_and_inline_handlers(revision: str) -> None:
    server = Server("s")
    threads: dict[str, int] = {}

    @server.tool
    async def asynchronous(a: int) -> str:
        threads["asynchronous"] = threading.get_ident()
        await asyncio.sleep(0)
        return str(a)

    @server.tool
    def threaded(a: int) -> str:
        threads["threaded"] = threading.get_ident()
        return str(a)

    @server.tool(inline=True)
    def inline(a: int) -> str:
        threads["inline"] = threading.get_ident()
        return str(a)

    peer = InProcess(server, revision)
    for name in ("inline", "threaded", "asynchronous", "threaded", "inline"):
        assert peer.text(name, a=5) == "5"
    serving = peer.thread.ident
    assert threads["asynchronous"] == threads["inline"] == serving
    assert threads["threaded"] != serving
    assert peer.end() == []


def test_decorated_functions_stay_callable() -> None:
    server = Server("s")

    @server.tool
    def plain(a: int) -> int:
        return a + 1

    @server.tool(name="other", description="Else.")
    async def waits(a: int) -> int:
        return a + 2

    @server.prompt
    def words() -> str:
        return "w"

    @server.resource("r://{x}")
    def thing(x: int) -> int:
        return x

    assert plain(1) == 2
    assert asyncio.run(waits(1)) == 3
    assert words() == "w"
    assert thing(4) == 4


# proves: FEAT-001 FEAT-009
@ERAS
def test_definitions_reach_the_client(revision: str) -> None:
    server = Server("s")

    @server.tool(
        name="n",
        title="T",
        read_only=True,
        destructive=False,
        idempotent=True,
        open_world=False,
        meta={"k": 1},
    )
    def f(a: int = 1) -> Name:
        """Does it.

        Args:
            a: A number.
        """
        return Name("x")

    peer = InProcess(server, revision)
    (tool,) = peer.request("tools/list")["tools"]
    assert tool["name"] == "n" and tool["title"] == "T" and tool["description"] == "Does it."
    assert tool["inputSchema"]["properties"]["a"]["description"] == "A number."
    assert tool["outputSchema"]["required"] == ["name"]
    assert tool["annotations"] == {
        "readOnlyHint": True,
        "destructiveHint": False,
        "idempotentHint": True,
        "openWorldHint": False,
    }
    assert tool["_meta"] == {"k": 1}
    assert peer.call("n")["structuredContent"] == {"name": "x"}
    peer.end()


def test_what_has_an_output_schema() -> None:
    server = Server("s")

    def text() -> str:
        return "t"

    def nothing() -> None: ...
    def untold():  # type: ignore[no-untyped-def]
        return {"a": 1}

    def optional() -> str | None:
        return None

    def image() -> Image:
        return Image(b"", "image/png")

    def number() -> int:
        return 3

    def mapping() -> dict[str, int]:
        return {"a": 1}

    def data() -> Name:
        return Name("n")

    for function in (text, nothing, untold, optional, image, number, mapping, data):
        server.add_tool(function)
    peer = InProcess(server)
    for tool in peer.request("tools/list")["tools"]:
        structured = tool["name"] in ("number", "mapping", "data")
        assert ("outputSchema" in tool) == structured, tool["name"]
        for _ in range(2):
            assert ("structuredContent" in peer.call(tool["name"])) == structured, tool["name"]
    peer.end()


# proves: FEAT-038
def test_the_same_name_twice_is_refused() -> None:
    server = Server("s")
    server.add_tool(lambda: "a", name="t")
    with pytest.raises(ValueError, match="'t' is registered already"):
        server.add_tool(lambda: "b", name="t")


def test_mistakes_are_found_at_registration() -> None:
    server = Server("s")

    async def asynchronous() -> None: ...
    def two(a: int, b: int) -> None: ...
    def odd() -> complex:
        return 1j

    with pytest.raises(TypeError, match="is async; inline is for sync"):
        server.add_tool(asynchronous, inline=True)
    with pytest.raises(ValueError, match="resume is"):
        server.add_tool(two, resume="never")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="return type"):
        server.add_tool(odd)
    with pytest.raises(TypeError, match="no parameter for the variable 'c'"):
        server.add_resource(two, "r://{a}/{b}/{c}")
    with pytest.raises(TypeError, match="parameter 'b' is no variable"):
        server.add_resource(two, "r://{a}")
    with pytest.raises(TypeError, match="takes the typed value"):
        server.completion("p", "a")(lambda a, b, c: [])
    with pytest.raises(ValueError, match="URI template"):
        server.add_resource(lambda a: a, "r://{a")
    with pytest.raises(TypeError, match="parameter 'items': arguments of prompts are strings"):

        @server.prompt
        def listing(items: list[int]) -> str:
            return str(items)

    with pytest.raises(TypeError, match="needs its URI"):
        server.resource(two)  # type: ignore[arg-type]
    assert not server._tools and not server._resources


def test_an_unknown_option_is_named_with_what_takes_it() -> None:
    server = Server("s")
    options: Any = {"nmae": "x"}
    for verb, register in (
        ("add_tool", lambda: server.add_tool(str, **options)),
        ("tool", lambda: server.tool(**options)(str)),
        ("add_prompt", lambda: server.add_prompt(str, **options)),
        ("add_resource", lambda: server.add_resource(str, "r://", **options)),
    ):
        with pytest.raises(TypeError, match=f"^{verb} has no option 'nmae'; it has .*name,"):
            register()
    with pytest.raises(TypeError, match="no option 'namespace'"):
        server.add_tool(str, namespace={})  # type: ignore[call-arg]


def test_a_tool_name_that_clients_may_refuse_is_warned_of() -> None:
    server = Server("s")
    with pytest.warns(UserWarning, match="the tool name") as caught:
        server.add_tool(lambda: "", name="a b")
        server.tool(name="ä")(lambda: "")
    assert [warning.filename for warning in caught] == [__file__] * 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        server.add_tool(lambda: "", name="a.b-c_D9")


# proves: FEAT-026 FEAT-049
@ERAS
def test_argument_faults_are_results_that_name_the_path(revision: str) -> None:
    server = Server("s")
    server.add_tool(lambda a: a, name="untyped")

    @server.tool
    async def f(a: int, names: list[Name]) -> str:
        raise AssertionError("not called")

    peer = InProcess(server, revision)
    result = peer.call("f", a=1, names=[{"name": "x"}, {"name": 2}])
    assert result["isError"] is True
    assert "names[1].name: Expected `str`, got `int`" in result["content"][0]["text"]
    peer.end()


# proves: FEAT-023
@ERAS
@pytest.mark.parametrize("kind", ["async", "thread", "inline"])
def test_failures_of_tools(revision: str, kind: str, caplog: pytest.LogCaptureFixture) -> None:
    server = Server("s")

    def fail(how: str) -> str:
        if how == "meant":
            raise ToolError("no such file")
        if how == "exit":
            raise SystemExit(3)
        if how == "rpc":
            raise RpcError(-32050, "custom", {"x": 1})
        raise ValueError("secret")

    async def afail(how: str) -> str:
        await asyncio.sleep(0)
        if how == "exit":
            return fail("defect")
        return fail(how)

    server.add_tool(afail if kind == "async" else fail, name="fail", inline=kind == "inline")
    peer = InProcess(server, revision)
    meant = peer.call("fail", how="meant")
    assert meant["isError"] is True and meant["content"][0]["text"] == "no such file"
    assert not caplog.records
    for how in ("defect", "exit"):
        defect = peer.call("fail", how=how)
        assert defect["isError"] is True and defect["content"][0]["text"] == "Internal error"
    assert "secret" in caplog.text and "handler 'fail' failed" in caplog.text
    error = peer.error("tools/call", {"name": "fail", "arguments": {"how": "rpc"}})
    assert error["message"] == "custom" and error["data"] == {"x": 1}
    peer.end()


def test_types_that_fail_while_they_are_made(caplog: pytest.LogCaptureFixture) -> None:
    @dataclass
    class Picky:
        a: int

        def __post_init__(self) -> None:
            raise (ValueError if self.a else RuntimeError)("picky")

    server = Server("s")

    @server.tool
    async def f(picky: Picky) -> str:
        raise AssertionError("not called")

    peer = InProcess(server)
    assert peer.text("f", picky={"a": 1}) == "Invalid arguments for f: picky: picky"
    assert not caplog.records
    assert peer.text("f", picky={"a": 0}) == "Internal error"
    assert "RuntimeError: picky" in caplog.text
    peer.end()


def test_debug_shows_the_text_of_defects() -> None:
    server = Server("s", debug=True)

    @server.tool
    async def f() -> str:
        raise ValueError("the reason")

    peer = InProcess(server)
    assert peer.text("f") == "ValueError: the reason"
    peer.end()


@ERAS
@pytest.mark.parametrize("hint", [str, str | None, int, list[str], dict[str, int], Name, Image, None])
def test_a_tool_with_an_output_schema_gives_structured_content_and_no_other(revision: str, hint: Any) -> None:
    server = Server("s")
    values = {
        int: 5,
        list[str]: ["a"],
        dict[str, int]: {"a": 1},
        Name: Name("Ada"),
        Image: Image(b"", "image/png"),
    }
    value = None if hint is None else values.get(hint, "text")

    async def f() -> Any:
        return value

    f.__annotations__["return"] = hint
    server.add_tool(f)
    peer = InProcess(server, revision=revision)
    (tool,) = peer.request("tools/list", {})["tools"]
    assert ("outputSchema" in tool) == ("structuredContent" in peer.call("f"))
    peer.end()


def test_a_result_that_breaks_the_output_schema_is_a_defect(caplog: pytest.LogCaptureFixture) -> None:
    server = Server("s")

    @server.tool
    async def f() -> Name:
        return Name(5)  # type: ignore[arg-type]

    peer = InProcess(server)
    assert peer.call("f")["isError"] is True
    assert "Expected `str`, got `int`" in caplog.text
    peer.end()


def test_decorated_async_function_behind_a_sync_wrapper() -> None:
    server = Server("s")

    async def inner(a: int) -> str:
        await asyncio.sleep(0)
        return str(a)

    def outer(a: int) -> Any:
        return inner(a)

    server.add_tool(outer, name="threaded")
    peer = InProcess(server)
    assert peer.text("threaded", a=1) == "1"
    peer.end()


# proves: FEAT-006
def test_tools_come_and_go_while_serving() -> None:
    server = Server("s")
    server.add_tool(lambda: "a", name="first")

    @server.tool(inline=True)
    def change() -> str:
        server.add_tool(lambda: "b", name="second")
        server.remove_tool("first")
        return "changed"

    peer = InProcess(server)
    assert peer.text("change") == "changed"
    assert [tool["name"] for tool in peer.request("tools/list")["tools"]] == ["change", "second"]
    assert {n["method"] for n in peer.notifications} == {"notifications/tools/list_changed"}
    assert peer.text("second") == "b"
    assert peer.error("tools/call", {"name": "first"})["code"] == -32602
    server.add_tool(lambda: "c", name="third")  # from another thread than the serving one
    while "third" not in [tool["name"] for tool in peer.request("tools/list")["tools"]]:
        pass
    with pytest.raises(KeyError):
        server.remove_tool("first")
    peer.end()
    assert not server._connections


@pytest.mark.parametrize("kind", ["async", "thread", "inline"])
def test_results_that_cannot_be_sent_are_defects(kind: str, caplog: pytest.LogCaptureFixture) -> None:
    server = Server("s")

    def make(what: str) -> Any:
        if what == "deep":
            nested: list[Any] = []
            for _ in range(5000):
                nested = [nested]
            return ToolResult(structured_content=nested)
        if what == "surrogate":
            return "\ud800"
        if what == "error":
            raise ToolError("\ud800")
        return object()

    async def amake(what: str) -> Any:
        return make(what)

    server.add_tool(amake if kind == "async" else make, name="make", inline=kind == "inline")
    peer = InProcess(server)
    for what in ("deep", "surrogate", "object"):
        assert peer.call("make", what=what)["isError"] is True
    assert peer.error("tools/call", {"name": "make", "arguments": {"what": "error"}})["code"] == -32603
    assert len(caplog.records) == 4
    assert peer.end() == []


def test_messages_that_are_discarded_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    peer = InProcess(Server("s"))
    peer.write(b"this is no message\n")
    peer.request("ping")
    assert "discarded a message" in caplog.text and "this is no message" in caplog.text
    peer.end()


def next_notification(peer: InProcess, method: str) -> dict[str, Any]:
    while True:
        message = peer.receive()
        if message.get("method") == method:
            params: dict[str, Any] = message.get("params", {})
            return params


# proves: FEAT-007 FEAT-008
@ERAS
def test_clients_that_watch_are_told(revision: str) -> None:
    server = Server("s")
    server.add_resource(lambda: "a", "r://watched")
    server.add_resource(lambda: "b", "r://other")
    server.add_tool(lambda: "first", name="first")
    server.add_prompt(lambda: "first", name="first")
    peer = InProcess(server, revision)
    if revision == MODERN:
        wanted = {"toolsListChanged": True, "resourceSubscriptions": ["r://watched"]}
        listen = peer.start("subscriptions/listen", {"notifications": wanted})
        next_notification(peer, "notifications/subscriptions/acknowledged")
    else:
        peer.request("resources/subscribe", {"uri": "r://watched"})
    server.resource_updated("r://other")
    server.resource_updated("r://watched")
    assert next_notification(peer, "notifications/resources/updated")["uri"] == "r://watched"
    server.add_prompt(lambda: "p", name="p")
    server.add_tool(lambda: "t", name="t")
    while "t" not in [tool["name"] for tool in peer.request("tools/list")["tools"]]:
        pass
    messages = peer.notifications + peer.end()
    heard = {message.get("method"): message.get("params", {}) for message in messages}
    assert ("notifications/prompts/list_changed" in heard) == (revision == LEGACY)
    told = heard["notifications/tools/list_changed"]
    if revision == MODERN:
        assert told["_meta"]["io.modelcontextprotocol/subscriptionId"] == listen


# ---------------------------------------------------------------- resources, prompts, completion


@ERAS
def test_resources(revision: str) -> None:
    server = Server("s")

    @server.resource("r://text", mime_type="text/markdown")
    def text() -> str:
        """A text."""
        return "# hi"

    @server.resource("r://image", mime_type="image/png", inline=True)
    def image() -> bytes:
        return b"\x89PNG"

    @server.resource("r://item/{number}")
    async def item(number: int) -> dict[str, int]:
        if number > 9:
            raise ResourceNotFoundError
        return {"number": number}

    peer = InProcess(server, revision)
    listed = peer.request("resources/list")["resources"]
    assert listed[0] == {
        "uri": "r://text",
        "name": "text",
        "description": "A text.",
        "mimeType": "text/markdown",
    }
    (template,) = peer.request("resources/templates/list")["resourceTemplates"]
    assert template["uriTemplate"] == "r://item/{number}"

    def read(uri: str) -> Any:
        return peer.request("resources/read", {"uri": uri})["contents"]

    assert read("r://text") == [{"uri": "r://text", "mimeType": "text/markdown", "text": "# hi"}]
    assert read("r://image") == [{"uri": "r://image", "mimeType": "image/png", "blob": "iVBORw=="}]
    assert read("r://item/7")[0]["text"] == '{"number":7}'
    for uri in ("r://item/10", "r://nothing"):
        missing = peer.error("resources/read", {"uri": uri})
        assert missing["code"] == (-32602 if revision == MODERN else -32002)
        assert missing["data"]["uri"] == uri
    assert "number: Expected `int`" in peer.error("resources/read", {"uri": "r://item/x"})["message"]
    peer.end()


@ERAS
def test_prompts_and_completion(revision: str) -> None:
    server = Server("s")

    @server.prompt(title="P")
    def words(topic: str, count: int = 1) -> list[Any]:
        """Words.

        Args:
            topic: About what.
        """
        return [f"{topic} {count + 1}", Image(b"i", "image/png")]

    @server.completion("words", "topic")
    def topics(value: str) -> list[str]:
        return [value + "1", value + "2"]

    @server.completion("words", "count")
    async def counts(value: str, settled: dict[str, str]) -> list[str]:
        return [settled["topic"]] * 150

    peer = InProcess(server, revision)
    (prompt,) = peer.request("prompts/list")["prompts"]
    assert prompt["arguments"] == [
        {"name": "topic", "description": "About what.", "required": True},
        {"name": "count"},
    ]
    found = peer.request("prompts/get", {"name": "words", "arguments": {"topic": "a", "count": "2"}})
    assert found["messages"][0] == {"role": "user", "content": {"type": "text", "text": "a 3"}}
    assert found["messages"][1]["content"]["type"] == "image"
    assert "topic: required" in peer.error("prompts/get", {"name": "words"})["message"]

    def complete(argument: str, value: str, **context: Any) -> Any:
        params = {
            "ref": {"type": "ref/prompt", "name": "words"},
            "argument": {"name": argument, "value": value},
            **context,
        }
        return peer.request("completion/complete", params)["completion"]

    assert complete("topic", "x") == {"values": ["x1", "x2"], "total": 2, "hasMore": False}
    many = complete("count", "", context={"arguments": {"topic": "t"}})
    assert many == {"values": ["t"] * 100, "total": 150, "hasMore": True}
    assert complete("other", "")["values"] == []
    params = {
        "ref": {"type": "ref/prompt", "name": "words"},
        "argument": {"name": "count", "value": ""},
        "context": {"arguments": {"topic": 5}},
    }
    assert peer.error("completion/complete", params)["code"] == -32602
    peer.end()


# ---------------------------------------------------------------- context


@ERAS
def test_what_a_context_tells(revision: str) -> None:
    server = Server("s")

    @server.tool
    async def f(ctx: Context) -> dict[str, Any]:
        client = ctx.client
        return {
            "name": client.name,
            "capabilities": sorted(client.capabilities),
            "revision": ctx.revision,
            "meta": ctx.meta["example.org/x"],
            "cancelled": ctx.cancelled,
            "lifespan": ctx.lifespan,
        }

    peer = InProcess(server, revision)
    assert peer.call("f", {"example.org/x": 7})["structuredContent"] == {
        "name": "peer",
        "capabilities": ["elicitation", "roots", "sampling"],
        "revision": revision,
        "meta": 7,
        "cancelled": False,
        "lifespan": None,
    }
    peer.end()


@ERAS
@pytest.mark.parametrize("kind", ["async", "thread", "inline"])
def test_progress_and_log(revision: str, kind: str) -> None:
    server = Server("s")

    def sync(ctx: SyncContext) -> str:
        ctx.progress(1, 2, "half")
        ctx.progress(2, 2)
        ctx.log("warning", {"x": 1}, "here")
        return "done"

    async def asynchronous(ctx: Context) -> str:
        await ctx.progress(1, 2, "half")
        await ctx.progress(2, 2)
        await ctx.log("warning", {"x": 1}, "here")
        return "done"

    server.add_tool(asynchronous if kind == "async" else sync, name="f", inline=kind == "inline")
    peer = InProcess(server, revision)
    meta = {"progressToken": "t", "io.modelcontextprotocol/logLevel": "info"}
    peer.call("f", meta)
    progress = [n["params"] for n in peer.notifications if "progress" in n["params"]]
    assert progress == [
        {"progressToken": "t", "progress": 1, "total": 2, "message": "half"},
        {"progressToken": "t", "progress": 2, "total": 2},
    ]
    logs = [n["params"] for n in peer.notifications if "level" in n["params"]]
    assert logs == [{"level": "warning", "logger": "here", "data": {"x": 1}}]
    peer.notifications.clear()
    peer.call("f")
    assert not [n for n in peer.notifications if "progress" in n["params"]]
    peer.end()


@ERAS
@pytest.mark.parametrize("kind", ["async", "thread"])
def test_cancellation_reaches_the_handler(revision: str, kind: str) -> None:
    server = Server("s")
    started, stopped = threading.Event(), threading.Event()

    @server.tool
    async def waits() -> None:
        started.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            stopped.set()
            raise

    @server.tool
    def works(ctx: SyncContext) -> str:
        started.set()
        while not ctx.cancelled:
            stopped.wait(0.001)
        stopped.set()
        return "too late"

    peer = InProcess(server, revision)
    request = peer.start("tools/call", {"name": "waits" if kind == "async" else "works"})
    assert started.wait(PATIENCE)
    peer.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": request}})
    assert stopped.wait(PATIENCE)
    assert [tool["name"] for tool in peer.request("tools/list")["tools"]] == ["waits", "works"]
    assert request not in [message.get("id") for message in peer.end()]


# ---------------------------------------------------------------- lifespan


@pytest.mark.parametrize("kind", ["async", "sync"])
def test_lifespan(kind: str) -> None:
    seen: list[str] = []

    @contextlib.asynccontextmanager
    async def asynchronous(server: Server) -> AsyncIterator[str]:
        seen.append("enter " + server.name)
        yield "value"
        seen.append("exit")

    @contextlib.contextmanager
    def sync(server: Server) -> Iterator[str]:
        seen.append("enter " + server.name)
        yield "value"
        seen.append("exit")

    server = Server("s", lifespan=asynchronous if kind == "async" else sync)

    @server.tool(inline=True)
    def inline(ctx: SyncContext) -> str:
        return str(ctx.lifespan)

    @server.tool
    async def waits(ctx: Context) -> str:
        return str(ctx.lifespan)

    peer = InProcess(server)
    assert peer.text("inline") == peer.text("waits") == "value"
    assert seen == ["enter s"]
    peer.end()
    assert seen == ["enter s", "exit"]
