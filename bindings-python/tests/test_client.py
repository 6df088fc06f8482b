"""The client in all its flavours and both eras, against a server written by hand."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from pathlib import Path
from types import MappingProxyType
from typing import Any

import barewire
import pytest
from barewire._client import encode
from barewire._engine import Change, LogMessage, Progress
from barewire._errors import (
    ApiMisuseError,
    ConnectionLostError,
    InputRefusedError,
    InvalidResultError,
    McpError,
    RequestTimedOutError,
    RpcError,
)
from barewire._native import Timeouts
from barewire._process import ExitStatus
from barewire._questions import ElicitResult, Root, SampleResult
from client_harness import FLAVOURS, PATIENCE, QUICK, Run, raw_server, until

ERAS = {"legacy": "2025-11-25", "modern": "2026-07-28"}


@pytest.fixture(params=list(FLAVOURS))
def run(request: pytest.FixtureRequest) -> Run:
    return FLAVOURS[request.param]


@pytest.fixture(params=list(ERAS))
def era(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


def words(result: Any) -> str:
    (block,) = result.content
    assert isinstance(block, barewire.Text)
    return block.text


@pytest.mark.parametrize("kind", [barewire.Client, barewire.sync.Client])
def test_what_cannot_be_connected_to_is_refused_where_it_is_written(kind: Any) -> None:
    with pytest.raises(TypeError, match="needs a URL, a command or a server"):
        kind()
    with pytest.raises(TypeError, match="a command is a list, such as"):
        kind(command="python server.py")
    with pytest.raises(ValueError, match=r"is no URL: it begins with http:// or https://; .* command="):
        kind("python server.py")
    for stale in ("legacy", "2099-01-01", ""):
        with pytest.raises(ValueError, match=f"the era {stale!r}".replace("'", '"')):
            kind(command=["x"], era=stale)


def test_arguments_are_any_mapping_of_values_that_have_a_json_form() -> None:
    assert encode({"a": Path("b"), "c": [1]}) == b'{"a":"b","c":[1]}'
    assert encode(MappingProxyType({"a": None})) == b'{"a":null}'
    with pytest.raises(TypeError, match="a mapping of names to values belongs here, not list"):
        encode([1])  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="type complex has no JSON form"):
        encode({"a": 1j})


def test_the_server_is_known_once_connected(run: Run, era: str) -> None:
    async def scenario(client: Any) -> None:
        assert client.revision == ERAS[era]
        assert client.era is not None
        assert client.server_info.name == "raw"
        assert client.server_info.extra == {"future": True}
        assert client.capabilities["resources"]["subscribe"] is True
        assert client.instructions == "Be kind."

    run(scenario, command=raw_server(era))


def test_tools_resources_prompts_and_completion(run: Run, era: str) -> None:
    async def scenario(client: Any) -> None:
        assert words(await client.call_tool("echo", {"text": "x😀y"})) == "x😀y"
        assert (await client.call_tool("structured")).structured_content == {"n": 2**70}
        failed = await client.call_tool("fail")
        assert failed.is_error and words(failed) == "no luck"
        assert (await client.read_resource("r://1")).contents == [
            barewire.ResourceContents("r://1", text="content")
        ]
        prompt = await client.get_prompt("p", {"who": "you"})
        assert prompt.messages[0].content == barewire.Text("Greet you")
        completion = await client.complete("who", "a", prompt="p", arguments={"b": "c"})
        assert completion.values == ["ax", "ay"]
        assert (await client.complete("n", "1", resource="r://{n}")).total == 2

    run(scenario, command=raw_server(era))


# proves: FEAT-205 FEAT-208 FEAT-209 FEAT-210 FEAT-212
def test_lists_come_in_pages_and_whole(run: Run, era: str) -> None:
    async def scenario(client: Any) -> None:
        page = await client.list_tools()
        assert [tool.name for tool in page] == ["a"]
        assert page.next_cursor == ""
        page = await client.list_tools(page.next_cursor)
        assert [tool.name for tool in page] == ["b", "c"]
        page = await client.list_tools(page.next_cursor)
        assert [tool.name for tool in page] == ["d", "e", "f"]
        assert page.next_cursor is None
        assert "".join([tool.name async for tool in client.tools()]) == "abcdef"
        assert [resource.uri async for resource in client.resources()] == ["r://0", "r://1"]
        assert [template.name async for template in client.resource_templates()] == ["t"]
        assert [prompt.name async for prompt in client.prompts()] == ["p"]
        assert len(await client.list_resources()) == 1
        assert len(await client.list_resource_templates()) == 1
        assert len(await client.list_prompts()) == 1

    run(scenario, command=raw_server(era))


def test_a_server_that_goes_in_circles_is_found_out(run: Run) -> None:
    async def scenario(client: Any) -> None:
        seen = 0
        with pytest.raises(InvalidResultError, match="cursor"):
            async for _ in client.tools():
                seen += 1
        assert seen == 3

    run(scenario, command=raw_server("both", "circles"))


def test_errors_of_the_server_keep_code_and_data(run: Run, era: str) -> None:
    async def scenario(client: Any) -> None:
        with pytest.raises(RpcError, match="Resource not found") as caught:
            await client.read_resource("r://none")
        assert (caught.value.code, caught.value.data) == (-32602, {"uri": "r://none"})
        with pytest.raises(McpError):
            await client.call_tool("nothing")

    run(scenario, command=raw_server(era))


# proves: BASE-102 BASE-428 FEAT-056
def test_a_call_that_takes_too_long_is_given_up_and_the_server_told(run: Run, era: str) -> None:
    async def scenario(client: Any) -> None:
        with pytest.raises(RequestTimedOutError, match=r"^the tool 'hang' gave no answer in time: [\d.]+ s$"):
            await client.call_tool("hang", timeout=0.05)
        with pytest.raises(RequestTimedOutError, match="the tool 'hang'"):
            await client.call_tool("hang", timeout=0.05, on_progress=print)
        assert words(await client.call_tool("cancelled")) == "2 0"

    run(scenario, command=raw_server(era))


def test_progress_comes_in_order_and_before_the_result(run: Run, era: str) -> None:
    async def scenario(client: Any) -> None:
        seen: list[Progress] = []
        result = await client.call_tool("progress", {"n": 100}, on_progress=seen.append)
        assert words(result) == "done"
        assert [report.progress for report in seen] == list(range(1, 101))
        assert seen[0] == Progress(1, 100, "step 0", True)
        await client.call_tool("progress", {"n": 3})
        assert len(seen) == 100

    run(scenario, command=raw_server(era))


def test_a_failing_progress_callback_cancels_the_call(run: Run) -> None:
    def fail(report: Progress) -> None:
        raise ZeroDivisionError

    async def scenario(client: Any) -> None:
        with pytest.raises(ZeroDivisionError):
            await client.call_tool("progress", {"n": 3}, on_progress=fail)
        assert words(await client.call_tool("echo", {"text": "on"})) == "on"

    run(scenario, command=raw_server())


@pytest.mark.parametrize(
    ("tool", "answers", "expected"),
    [
        (
            "ask",
            {"on_elicit": lambda question: {"name": question.message}},
            {"action": "accept", "content": {"name": "Your name?"}},
        ),
        ("ask", {"on_elicit": lambda _: ElicitResult("decline", None)}, {"action": "decline"}),
        (
            "visit",
            {"on_elicit": lambda question: ElicitResult("accept", None) if question.url else None},
            {"action": "accept"},
        ),
        (
            "sample",
            {"on_sample": lambda asked: asked.messages[0].content[0].text + f" {asked.max_tokens}"},
            {"role": "assistant", "content": {"type": "text", "text": "2+2? 9"}, "model": "unspecified"},
        ),
        (
            "sample",
            {"on_sample": lambda _: SampleResult("assistant", [barewire.Text("4")], "m", "endTurn")},
            {
                "role": "assistant",
                "content": {"type": "text", "text": "4"},
                "model": "m",
                "stopReason": "endTurn",
            },
        ),
        (
            "roots",
            {"on_roots": lambda: [Root("file:///a", "a"), Root("file:///b")]},
            {"roots": [{"uri": "file:///a", "name": "a"}, {"uri": "file:///b"}]},
        ),
    ],
)
def test_questions_of_the_server_are_answered(
    run: Run, era: str, tool: str, answers: dict[str, Any], expected: dict[str, Any]
) -> None:
    async def scenario(client: Any) -> None:
        assert json.loads(words(await client.call_tool(tool))) == expected

    run(scenario, command=raw_server(era), **answers)


# proves: FEAT-301
def test_handlers_are_declared_as_capabilities(run: Run, era: str) -> None:
    async def scenario(client: Any) -> None:
        declared = json.loads(words(await client.call_tool("capabilities")))
        assert declared["elicitation"] == {"form": {}, "url": {}}
        assert declared["sampling"] == {"tools": {}}
        assert ("roots" in declared, declared["experimental"]) == (True, {"x": {}})

    async def nothing(client: Any) -> None:
        assert json.loads(words(await client.call_tool("capabilities"))) == {}

    handlers: dict[str, Any] = {name: lambda *_: None for name in ("on_elicit", "on_sample", "on_roots")}
    more: dict[str, Any] = {"sampling": {"tools": {}}, "experimental": {"x": {}}}
    run(scenario, command=raw_server(era), capabilities=more, **handlers)
    run(nothing, command=raw_server(era))


# proves: FEAT-286
def test_a_root_that_is_no_file_is_not_told(run: Run) -> None:
    async def scenario(client: Any) -> None:
        told = json.loads(words(await client.call_tool("roots")))
        assert told["code"] == -32603

    run(scenario, command=raw_server("legacy"), on_roots=lambda: ["https://example.com/"])


@pytest.mark.parametrize("flavour", ["asyncio", "sync"])
@pytest.mark.parametrize("error", [SystemExit(1), KeyboardInterrupt(), StopIteration(1), BaseException()])
def test_a_handler_that_would_end_its_thread_refuses_the_question(flavour: str, error: BaseException) -> None:
    def handler(question: Any) -> Any:
        raise error

    async def scenario(client: Any) -> None:
        assert json.loads(words(await client.call_tool("ask")))["code"] == -32603

    FLAVOURS[flavour](scenario, command=raw_server("legacy"), on_elicit=handler)


def test_a_handler_that_cancels_itself_refuses_the_question() -> None:
    async def handler(question: Any) -> Any:
        raise asyncio.CancelledError

    async def scenario(client: Any) -> None:
        assert json.loads(words(await client.call_tool("ask")))["code"] == -32603

    FLAVOURS["asyncio"](scenario, command=raw_server("legacy"), on_elicit=handler)


@pytest.mark.parametrize("kind", ["on purpose", "defect", "wrong type", "no answer"])
def test_a_handler_that_fails_refuses_the_question(run: Run, era: str, kind: str) -> None:
    def handler(question: Any) -> Any:
        if kind == "on purpose":
            raise RpcError(-1, "not today")
        if kind == "defect":
            raise ZeroDivisionError("secret")
        return ElicitResult("perhaps", None) if kind == "no answer" else 5  # type: ignore[arg-type]

    async def scenario(client: Any) -> None:
        code, message = (-1, "not today") if kind == "on purpose" else (-32603, "the client's handler failed")
        if era == "legacy":
            told = json.loads(words(await client.call_tool("ask")))
            assert told["code"] == code and message in told["message"]
        else:
            with pytest.raises(InputRefusedError) as caught:
                await client.call_tool("ask")
            causes = {
                "on purpose": RpcError,
                "defect": ZeroDivisionError,
                "wrong type": TypeError,
                "no answer": ApiMisuseError,
            }
            assert type(caught.value.__cause__) is causes[kind]
        assert words(await client.call_tool("echo", {"text": "on"})) == "on"

    run(scenario, command=raw_server(era), on_elicit=handler)


def test_logs_go_to_their_callback_at_the_level_asked_for(run: Run, era: str) -> None:
    logs: list[LogMessage] = []

    async def scenario(client: Any) -> None:
        await client.call_tool("log")
        await client.set_log_level("warning")
        await client.call_tool("log")
        await until(lambda: logs, lambda: client.call_tool("echo", {"text": ""}))
        assert [(log.level, log.logger, log.data) for log in logs] == [("warning", "l", {"n": 1})]

    run(scenario, command=raw_server(era), on_log=logs.append)


# proves: BASE-164
def test_each_subscription_is_told_its_own(run: Run) -> None:
    async def scenario(client: Any) -> None:
        async with client.subscribe(tools=True) as one, client.subscribe(tools=True) as other:
            await client.call_tool("change", {"only": 1})
            async for change in other:
                assert change == Change("tools")
                break
            await client.call_tool("end_subscriptions")
            assert [change async for change in one] == []

    run(scenario, command=raw_server("modern"))


def test_subscriptions_tell_changes_once_until_they_are_taken(run: Run, era: str) -> None:
    async def scenario(client: Any) -> None:
        async with client.subscribe(tools=True, uris=["r://1"]) as changes:
            assert changes.honoured.tools and changes.honoured.resource_uris == ["r://1"]
            for _ in range(2):
                await client.call_tool("change", {"times": 5})
                seen = []
                async for change in changes:
                    seen.append(change)
                    if len(seen) == 2:
                        break
                assert seen == [Change("tools"), Change("resource", "r://1")]
            assert changes.missed == 0
        assert [change async for change in changes] == []

    run(scenario, command=raw_server(era))


def test_a_subscription_that_the_server_ends_in_order_just_ends(run: Run) -> None:
    async def scenario(client: Any) -> None:
        async with client.subscribe(tools=True) as changes:
            await client.call_tool("change")
            await client.call_tool("end_subscriptions")
            assert Change("tools") in [change async for change in changes]

    run(scenario, command=raw_server("modern"))


def test_a_lost_subscription_raises(run: Run, era: str) -> None:
    async def scenario(client: Any) -> None:
        async with client.subscribe(tools=True) as changes:
            with pytest.raises(ConnectionLostError):
                await client.call_tool("die")
            with pytest.raises(ConnectionLostError):
                async for _ in changes:
                    raise AssertionError

    run(scenario, command=raw_server(era))


def test_changes_of_lists_go_to_their_callback_in_both_eras(run: Run, era: str) -> None:
    seen: list[Change] = []

    async def scenario(client: Any) -> None:
        await client.call_tool("change")
        await until(lambda: Change("tools") in seen, lambda: client.call_tool("echo", {"text": ""}))

    run(scenario, command=raw_server(era), on_change=seen.append)


def test_a_failing_callback_does_not_stop_the_others(run: Run) -> None:
    seen: list[object] = []

    def on_log(message: LogMessage) -> None:
        seen.append(message)
        raise ZeroDivisionError

    async def scenario(client: Any) -> None:
        await client.set_log_level("info")
        await client.call_tool("log")
        await client.call_tool("log")
        await until(lambda: len(seen) == 2, lambda: client.call_tool("echo", {"text": ""}))

    run(scenario, command=raw_server(), on_log=on_log)


def test_the_death_of_the_server_fails_the_call_at_once_and_tells_why(run: Run, era: str) -> None:
    async def scenario(client: Any) -> None:
        with pytest.raises(ConnectionLostError) as caught:
            await client.call_tool("die")
        assert caught.value.exit_status == ExitStatus(3)
        assert caught.value.stderr == b"out of cheese\n"
        assert "exit status 3" in str(caught.value) and "out of cheese" in str(caught.value)
        with pytest.raises(McpError):
            await client.call_tool("echo", {"text": ""})

    run(scenario, command=raw_server(era), stderr="capture")


def test_noise_of_the_server_is_passed_over_and_logged(
    run: Run, era: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def scenario(client: Any) -> None:
        assert words(await client.call_tool("noise")) == "noisy"

    with caplog.at_level("DEBUG", "barewire"):
        run(scenario, command=raw_server(era))
    assert [message.rpartition(": ")[2] for message in caplog.messages] == ["b'not JSON'", "b'{}'", "b'[1,2'"]


def test_a_server_that_dies_on_the_probe_is_started_afresh(run: Run) -> None:
    async def scenario(client: Any) -> None:
        assert client.revision == "2025-11-25"
        assert words(await client.call_tool("echo", {"text": "up"})) == "up"

    run(scenario, command=raw_server("legacy", "dies-on-probe"))


def test_a_server_that_is_silent_on_the_probe_gets_a_handshake(run: Run) -> None:
    async def scenario(client: Any) -> None:
        assert client.revision == "2025-11-25"

    timeouts = Timeouts(probe=50, child_exit=300, child_terminate=300)
    run(scenario, command=raw_server("legacy", "silent-on-probe"), timeouts=timeouts)


def test_the_stored_era_saves_the_probe(run: Run, era: str) -> None:
    stored = []

    async def learn(client: Any) -> None:
        stored.append(client.era)

    async def use(client: Any) -> None:
        assert client.revision == ERAS[era]

    run(learn, command=raw_server(era))
    # A legacy server that would be silent on the probe until the test gave up.
    flags = ["silent-on-probe"] if era == "legacy" else []
    timeouts = Timeouts(probe=60_000, child_exit=300, child_terminate=300)
    run(use, command=raw_server(era, *flags), era=stored[0], timeouts=timeouts)


def test_only_the_revisions_asked_for_are_spoken(run: Run) -> None:
    async def scenario(client: Any) -> None:
        assert client.revision == "2025-06-18"

    run(scenario, command=raw_server(), revisions=["2025-06-18"])


@pytest.mark.parametrize(
    "command",
    [[sys.executable, "-c", "import sys; sys.exit('no config')"], ["/nonexistent/server"]],
    ids=["exits", "missing"],
)
def test_a_server_that_cannot_be_started_is_an_error(run: Run, command: list[str]) -> None:
    async def scenario(client: Any) -> None:
        raise AssertionError

    with pytest.raises(ConnectionLostError) as caught:
        run(scenario, command=command, stderr="capture")
    if command[0] == sys.executable:
        assert caught.value.exit_status == ExitStatus(1)
        assert b"no config" in caught.value.stderr


def test_a_server_that_answers_no_handshake_is_given_up(run: Run) -> None:
    async def scenario(client: Any) -> None:
        raise AssertionError

    timeouts = Timeouts(handshake=50, child_exit=300, child_terminate=300)
    with pytest.raises(McpError):
        run(scenario, command=raw_server("legacy", "mute"), timeouts=timeouts)


def test_a_server_that_does_not_read_holds_nothing_up(run: Run, era: str) -> None:
    async def scenario(client: Any) -> None:
        await client.call_tool("stop_reading", {"seconds": PATIENCE})
        started = time.monotonic()
        with pytest.raises(RequestTimedOutError):
            await client.call_tool("echo", {"text": "x" * 1_000_000}, timeout=0.05)
        assert time.monotonic() - started < PATIENCE / 2

    started = time.monotonic()
    run(scenario, command=raw_server(era))
    assert time.monotonic() - started < PATIENCE / 2


def test_odd_items_are_told_or_with_strict_refused(run: Run, era: str) -> None:
    async def lenient(client: Any) -> None:
        page = await client.list_tools()
        assert [tool.name for tool in page] == ["a", "b"]
        assert [problem.index for problem in page.problems] == [1, 2]
        assert words(await client.call_tool("odd")) == "good"

    async def strict(client: Any) -> None:
        with pytest.raises(InvalidResultError, match="inputSchema") as caught:
            await client.list_tools()
        assert len(caught.value.problems) == 2
        with pytest.raises(InvalidResultError):
            await client.call_tool("odd")

    run(lenient, command=raw_server(era, "odd"))
    run(strict, command=raw_server(era, "odd"), strict=True)


def test_ping_exists_in_the_legacy_era_alone(run: Run, era: str) -> None:
    async def scenario(client: Any) -> None:
        if era == "legacy":
            await client.ping()
        else:
            with pytest.raises(McpError):
                await client.ping()

    run(scenario, command=raw_server(era))


def test_a_client_says_what_it_needs() -> None:
    with pytest.raises(TypeError, match="command"):
        barewire.Client()
    client = barewire.Client(command=["x"], timeouts=QUICK)
    with pytest.raises(RuntimeError, match="not connected"):
        client.revision  # noqa: B018
