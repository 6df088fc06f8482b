"""Public bug reports on other clients, played to this one byte by byte."""

from __future__ import annotations

import json
import sys
from typing import Any

import barewire
import pytest
from barewire._errors import ConnectionLostError, InvalidResultError, RpcError
from client_harness import FLAVOURS, Run

#: Answers each request with the next of its arguments, in which ${id} and ${token} are filled in. The
#: handshake is its own. An empty argument ends it.
PLAYER = r"""
import json, sys
answers = sys.argv[1:]
info = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}}
info["serverInfo"] = {"name": "f", "version": "1"}
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    if message["method"] == "server/discover":
        answer = '{"jsonrpc":"2.0","id":${id},"error":{"code":-32601,"message":"no"}}\n'
    elif message["method"] == "initialize":
        answer = '{"jsonrpc":"2.0","id":${id},"result":' + json.dumps(info) + "}\n"
    else:
        answer = answers.pop(0)
    token = message.get("params", {}).get("_meta", {}).get("progressToken")
    answer = answer.replace("${id}", json.dumps(message["id"]))
    answer = answer.replace("${token}", json.dumps(token))
    sys.stdout.buffer.write(answer.encode())
    sys.stdout.buffer.flush()
    if not answer.endswith("\n"):
        sys.exit(4)
"""


@pytest.fixture(params=list(FLAVOURS))
def run(request: pytest.FixtureRequest) -> Run:
    return FLAVOURS[request.param]


def play(*answers: str) -> list[str]:
    return [sys.executable, "-I", "-c", PLAYER, *answers]


def result(text: str) -> str:
    return '{"jsonrpc":"2.0","id":${id},"result":' + text + "}\n"


def test_an_unknown_content_block_costs_nothing(run: Run) -> None:
    text = (
        '{"content":[{"type":"text","text":"before"},{"type":"hologram","uri":"h://1","depth":3},'
        '{"type":"text","text":"after","future":{"k":[1]}}],"newMember":true}'
    )

    async def scenario(client: Any) -> None:
        answer = await client.call_tool("t", {})
        assert len(answer.content) == 3
        before, unknown, after = answer.content
        assert (before.text, after.text) == ("before", "after")
        assert isinstance(unknown, barewire.UnknownBlock)
        assert unknown.type == "hologram"
        assert unknown.raw == b'{"type":"hologram","uri":"h://1","depth":3}'
        assert after.extra == {"future": {"k": [1]}}
        assert answer.extra == {"newMember": True}
        assert json.loads(answer.raw) == json.loads(text)

    run(scenario, command=play(result(text)))


def test_one_bad_tool_hides_no_other(run: Run) -> None:
    text = (
        '{"tools":[{"name":"good1","inputSchema":{"type":"object"}},null,{"name":"noschema"},'
        '{"name":42,"inputSchema":{"type":"object"}},{"name":"nullschema","inputSchema":null},'
        '{"name":"odd","inputSchema":{"type":"object"},"outputSchema":{"type":"nonsense"}},'
        '{"name":"good2","inputSchema":{"type":"object"}}]}'
    )
    reasons = [(1, ""), (2, "inputSchema"), (3, "name"), (4, "inputSchema")]

    async def lenient(client: Any) -> None:
        page = await client.list_tools()
        assert [tool.name for tool in page] == ["good1", "odd", "good2"]
        assert [bool(tool.output_schema_fault) for tool in page] == [False, True, False]
        assert [(problem.index, problem.path) for problem in page.problems] == reasons
        assert all(problem.reason for problem in page.problems)

    async def strict(client: Any) -> None:
        with pytest.raises(InvalidResultError) as caught:
            await client.list_tools()
        problems: Any = caught.value.problems
        assert [(problem.index, problem.path) for problem in problems] == reasons

    run(lenient, command=play(result(text)))
    run(strict, command=play(result(text)), strict=True)


def test_odd_replies_settle_their_calls(run: Run) -> None:
    replies = [
        '{"jsonrpc":"2.0","id":${id},"error":{"message":"Unknown tool: t"}}\n',
        '{"jsonrpc":"2.0","id":${id},"error":{"code":-32000.5,"message":"m"}}\n',
        '{"jsonrpc":"2.0","id":${id},"result":{"content":[]},"error":null}\n',
        '{"jsonrpc":"2.0","id":${id},"result":{"content":[]},"traceparent":"00-0-0-00"}\n',
        '{"jsonrpc":"2.0","id":${id}}\n',
    ]

    async def scenario(client: Any) -> None:
        with pytest.raises(RpcError, match="Unknown tool: t"):
            await client.call_tool("t", {})
        with pytest.raises(RpcError, match="m"):
            await client.call_tool("t", {})
        assert (await client.call_tool("t", {})).content == []
        assert (await client.call_tool("t", {})).content == []
        with pytest.raises(InvalidResultError):
            await client.call_tool("t", {})

    run(scenario, command=play(*replies))


def test_progress_notices_for_nobody_do_no_harm(run: Run) -> None:
    progress = '{"jsonrpc":"2.0","method":"notifications/progress","params":{'
    played = (
        progress + '"progressToken":${token},"progress":0.5,"total":1,"message":null}}\n'
        + progress + '"progressToken":${token},"progress":0.25}}\n'
        + result('{"content":[]}')
        + progress + '"progressToken":${token},"progress":1}}\n'
        + progress + '"progressToken":"server-made","progress":1}}\n'
        + progress + '"progress":1}}\n'
    )  # fmt: skip

    async def scenario(client: Any) -> None:
        seen: list[barewire.Progress] = []
        assert (await client.call_tool("t", {}, on_progress=seen.append)).content == []
        assert seen[0] == barewire.Progress(0.5, 1, None, True)
        assert [report.increasing for report in seen[1:]] in ([], [False])
        await client.ping()

    run(scenario, command=play(played, result("{}")))


def test_half_an_answer_at_the_end_fails_its_call_at_once(run: Run) -> None:
    async def scenario(client: Any) -> None:
        with pytest.raises(ConnectionLostError) as caught:
            await client.call_tool("t", {})
        assert "exit status 4" in str(caught.value)
        with pytest.raises(ConnectionLostError):
            await client.ping()

    run(scenario, command=play('{"jsonrpc":"2.0","id":${id},"resu'))
