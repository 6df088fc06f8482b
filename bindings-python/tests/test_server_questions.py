"""Questions of handlers to the client, in both eras."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import dataclass
from typing import Any, Literal

import pytest
from barewire import (
    Context,
    InputRefusedError,
    MissingCapabilityError,
    Server,
    SyncContext,
)
from server_peer import LEGACY, MODERN, PATIENCE, InProcess

ERAS = pytest.mark.parametrize("revision", [LEGACY, MODERN])


@dataclass
class Name:
    name: str


def accept(**content: Any) -> dict[str, Any]:
    return {"action": "accept", "content": content}


def answers(question: dict[str, Any]) -> dict[str, Any]:
    """A client that answers everything."""
    kind = question["method"].partition("/")[0]
    if kind == "elicitation":
        properties = question["params"]["requestedSchema"]["properties"]
        return accept(**{name: True if name == "value" else "Ada" for name in properties})
    if kind == "sampling":
        return {"role": "assistant", "content": {"type": "text", "text": "Hi"}, "model": "m"}
    return {"roots": [{"uri": "file:///a", "name": "A"}]}


def ask_server(kind: str, runs: list[str]) -> Server:
    """A server with a tool that asks three times, in the given kind of handler."""
    server = Server("s")

    def compose(first: Any, second: Any, roots: Any, kept: int) -> str:
        return f"{first.content.name} {second.text} {roots[0].name} {kept}"

    async def asynchronous(ctx: Context) -> str:
        runs.append("run")
        kept = await ctx.once("kept", lambda: len(runs))
        first = await ctx.elicit("Who?", Name)
        second = await ctx.sample("Greet", max_tokens=5, key="greeting")
        return compose(first, second, await ctx.roots(), kept)

    def sync(ctx: SyncContext) -> str:
        runs.append("run")
        kept = ctx.once("kept", lambda: len(runs))
        first = ctx.elicit("Who?", Name)
        second = ctx.sample("Greet", max_tokens=5, key="greeting")
        return compose(first, second, ctx.roots(), kept)

    resume: Literal["replay", "memory"] = "memory" if kind == "memory" else "replay"
    function = asynchronous if kind in ("async", "memory") else sync
    server.add_tool(function, name="ask", inline=kind == "inline", resume=resume)
    return server


@ERAS
@pytest.mark.parametrize("kind", ["async", "thread", "inline", "memory"])
def test_questions_one_after_the_other(revision: str, kind: str) -> None:
    runs: list[str] = []
    peer = InProcess(ask_server(kind, runs), revision)
    result = peer.converse("tools/call", {"name": "ask"}, answers)
    assert result["content"][0]["text"] == "Ada Hi A 1"
    if revision == MODERN:
        assert peer.rounds == [["1"], ["greeting"], ["2"]]
    replays = kind == "inline" or (revision == MODERN and kind != "memory")
    assert len(runs) == (4 if replays else 1)
    peer.end()


@ERAS
def test_questions_side_by_side_go_out_together(revision: str) -> None:
    server = Server("s")

    @server.tool
    async def ask(ctx: Context) -> str:
        name, sure = await asyncio.gather(ctx.elicit("Who?", Name), ctx.elicit("Sure?", bool))
        return f"{name.content} {sure.content}"

    peer = InProcess(server, revision)
    result = peer.converse("tools/call", {"name": "ask"}, answers)
    assert result["content"][0]["text"] == "Name(name='Ada') True"
    assert len(peer.questions if revision == LEGACY else peer.rounds[0]) == 2
    peer.end()


@ERAS
def test_forms(revision: str) -> None:
    server = Server("s")
    forms: list[Any] = [
        bool,
        Literal["red", "blue"],
        {"type": "object", "properties": {"n": {"type": "integer"}}},
    ]

    @server.tool
    async def ask(which: int, ctx: Context) -> str:
        answer = await ctx.elicit("?", forms[which])
        return f"{answer.action} {answer.content} {answer.accepted}"

    peer = InProcess(server, revision)
    schemas = []

    def with_content(**content: Any) -> Any:
        def answer(question: dict[str, Any]) -> dict[str, Any]:
            schemas.append(question["params"]["requestedSchema"])
            return accept(**content)

        return answer

    def ask_for(which: int, answer: Any) -> str:
        params = {"name": "ask", "arguments": {"which": which}}
        text: str = peer.converse("tools/call", params, answer)["content"][0]["text"]
        return text

    assert ask_for(0, with_content(value=True)) == "accept True True"
    assert ask_for(1, with_content(value="blue")) == "accept blue True"
    assert ask_for(2, with_content(n=3)) == "accept {'n': 3} True"
    assert schemas[0]["properties"] == {"value": {"type": "boolean"}}
    assert schemas[1]["properties"] == {"value": {"type": "string", "enum": ["red", "blue"]}}
    assert ask_for(0, lambda _: {"action": "decline"}) == "decline None False"
    assert ask_for(1, with_content(value="green")).startswith("The answer does not fit the question: ")
    peer.end()


def test_a_client_that_refuses() -> None:
    server = Server("s")

    @server.tool
    async def ask(ctx: Context) -> str:
        try:
            await ctx.sample("Hi")
        except InputRefusedError as error:
            return f"refused: {error.code} {error}"
        return "answered"

    @server.tool
    async def trusting(ctx: Context) -> str:
        return (await ctx.sample("Hi")).text

    peer = InProcess(server)

    def refuse(_: dict[str, Any]) -> dict[str, Any]:
        return {"code": -1, "message": "User said no"}

    assert (
        peer.converse("tools/call", {"name": "ask"}, refuse)["content"][0]["text"]
        == "refused: -1 User said no"
    )
    untold = peer.converse("tools/call", {"name": "trusting"}, refuse)
    assert untold["isError"] is True and untold["content"][0]["text"] == "User said no"
    peer.end()


@ERAS
@pytest.mark.parametrize("kind", ["async", "thread", "inline"])
def test_a_client_that_cannot_answer(revision: str, kind: str) -> None:
    server = ask_server(kind, [])

    @server.tool
    async def careful(ctx: Context) -> str:
        try:
            await ctx.roots()
        except MissingCapabilityError:
            return "no roots"
        return "roots"

    peer = InProcess(server, revision, {"sampling": {}})
    assert peer.text("careful") == "no roots"
    error = peer.error("tools/call", {"name": "ask"})
    if revision == MODERN:
        assert error["code"] == -32021
        assert error["data"]["requiredCapabilities"] == {"elicitation": {}}
    assert peer.text("careful") == "no roots"
    peer.end()


def test_state_that_was_tampered_with_is_refused() -> None:
    peer = InProcess(ask_server("async", []), MODERN)
    asked = peer.request("tools/call", {"name": "ask"})
    answered = {key: answers(question) for key, question in asked["inputRequests"].items()}
    params = {"name": "ask", "inputResponses": answered, "requestState": asked["requestState"] + "-TAMPERED"}
    assert "requestState" in peer.error("tools/call", params)["message"]
    params["requestState"] = asked["requestState"]
    assert list(peer.request("tools/call", params)["inputRequests"]) == ["greeting"]
    peer.end()


def test_any_process_with_the_same_key_takes_up_the_question() -> None:
    keys = [b"k" * 32]
    first, second = (Server("s", request_state_keys=keys) for _ in range(2))
    runs: list[str] = []

    async def count() -> int:
        return len(runs)

    for server in (first, second):

        @server.tool
        async def ask(ctx: Context) -> str:
            runs.append("run")
            kept: int = await ctx.once("n", count)
            answer = await ctx.elicit("Who?", Name)
            return f"{answer.content} {kept}"

    one, other = InProcess(first, MODERN), InProcess(second, MODERN)
    asked = one.request("tools/call", {"name": "ask"})
    params = {
        "name": "ask",
        "inputResponses": {"1": accept(name="Ada")},
        "requestState": asked["requestState"],
    }
    assert other.request("tools/call", params)["content"][0]["text"] == "Name(name='Ada') 1"
    assert len(runs) == 2
    one.end()
    other.end()


def test_a_waiting_handler_is_cancelled() -> None:
    server = Server("s")
    unwound: list[str] = []
    released = threading.Event()

    @server.tool
    def ask(ctx: SyncContext) -> str:
        try:
            return str(ctx.elicit("Who?", Name))
        finally:
            unwound.append("thread")
            released.set()

    @server.tool
    async def aask(ctx: Context) -> str:
        try:
            return str(await ctx.elicit("Who?", Name))
        finally:
            unwound.append("task")

    peer = InProcess(server)
    for name in ("ask", "aask"):
        request = peer.start("tools/call", {"name": name})
        while peer.receive().get("method") != "elicitation/create":
            pass
        peer.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": request}})
        peer.request("tools/list")
    peer.end()
    assert released.wait(PATIENCE)
    assert sorted(unwound) == ["task", "thread"]


def test_prompts_and_resources_ask_too() -> None:
    server = Server("s")

    @server.prompt
    async def p(ctx: Context) -> str:
        return str((await ctx.elicit("Who?", Name)).content)

    @server.resource("r://x")
    def r(ctx: SyncContext) -> str:
        return str(ctx.elicit("Who?", Name).content)

    for revision in (LEGACY, MODERN):
        peer = InProcess(server, revision)
        prompt = peer.converse("prompts/get", {"name": "p"}, answers)
        assert prompt["messages"][0]["content"]["text"] == "Name(name='Ada')"
        read = peer.converse("resources/read", {"uri": "r://x"}, answers)
        assert read["contents"][0]["text"] == "Name(name='Ada')"
        peer.end()


@ERAS
def test_a_question_twice_under_one_key_is_a_defect(revision: str, caplog: pytest.LogCaptureFixture) -> None:
    server = Server("s")

    @server.tool
    async def ask(ctx: Context) -> str:
        await asyncio.gather(ctx.elicit("A?", bool, key="k"), ctx.elicit("B?", bool, key="k"))
        return "asked"

    peer = InProcess(server, revision)
    assert peer.converse("tools/call", {"name": "ask"}, answers)["isError"] is True
    assert "two questions of the key 'k'" in caplog.text
    peer.end()


def test_many_waiting_threads_do_not_hold_up_others() -> None:
    server = ask_server("thread", [])
    server.add_tool(lambda: "quick", name="quick")
    peer = InProcess(server)
    waiting = [peer.start("tools/call", {"name": "ask"}) for _ in range(40)]
    quick = peer.start("tools/call", {"name": "quick"})
    while peer.receive().get("id") != quick:
        pass
    assert len(waiting) == 40
    peer.end()
