"""The examples in C++ and the published SDKs of Python and TypeScript, over stdio and HTTP."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import cells
import pytest

ROOT = cells.HERE.parents[1]
sys.path[:0] = [str(ROOT / "bindings-c" / "tests"), str(ROOT / "tests")]

import building  # noqa: E402
import c_env  # noqa: E402
import listeners  # noqa: E402

MCP1 = """
import asyncio, sys
from mcp import ClientSession, StdioServerParameters, stdio_client

async def main():
    async with stdio_client(StdioServerParameters(command=sys.argv[1])) as (read, write):
        async with ClientSession(read, write) as session:
            await session.initialize()
            assert [tool.name for tool in (await session.list_tools()).tools] == ["greet"]
            print((await session.call_tool("greet", {"name": "you"})).content[0].text)

asyncio.run(main())
"""
MCP2 = """
import asyncio, sys
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

async def main():
    async with Client(stdio_client(StdioServerParameters(command=sys.argv[1]))) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == ["greet"]
        print((await client.call_tool("greet", {"name": "you"})).content[0].text)

asyncio.run(main())
"""
TS = """
const client = new Client({ name: 'interop', version: '1.0.0' }, OPTIONS);
await client.connect(new StdioClientTransport({ command: process.argv[1] }));
const { tools } = await client.listTools();
if (tools.length !== 1 || tools[0].name !== 'greet') throw new Error('not the tools');
console.log((await client.callTool({ name: 'greet', arguments: { name: 'you' } })).content[0].text);
await client.close();
"""
TS1 = """
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
""" + TS.replace("OPTIONS", "{}")
TS2 = """
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
""" + TS.replace("OPTIONS", "{ versionNegotiation: { mode: 'auto' } }")


# The same over HTTP, where the server asks the user.
HTTP_MCP1 = """
import asyncio, sys
from mcp import ClientSession, types
from mcp.client.streamable_http import streamable_http_client

async def agree(context, params):
    return types.ElicitResult(action="accept", content={"sure": True})

async def main():
    async with streamable_http_client(sys.argv[1]) as (read, write, *_):
        async with ClientSession(read, write, elicitation_callback=agree) as session:
            await session.initialize()
            print((await session.call_tool("deploy", {"target": "prod"})).content[0].text)

asyncio.run(main())
"""
HTTP_MCP2 = """
import asyncio, sys
from mcp import Client, types
from mcp.client.streamable_http import streamable_http_client

async def agree(context, params):
    return types.ElicitResult(action="accept", content={"sure": True})

async def main():
    async with Client(streamable_http_client(sys.argv[1]), elicitation_callback=agree) as client:
        print((await client.call_tool("deploy", {"target": "prod"})).content[0].text)

asyncio.run(main())
"""
HTTP_TS = """
const capabilities = { elicitation: {} };
const client = new Client({ name: 'interop', version: '1.0.0' }, { ...OPTIONS, capabilities });
client.setRequestHandler(QUESTION, async () => ({ action: 'accept', content: { sure: true } }));
await client.connect(new StreamableHTTPClientTransport(new URL(process.argv[1])));
console.log((await client.callTool({ name: 'deploy', arguments: { target: 'prod' } })).content[0].text);
await client.close();
"""
HTTP_TS1 = """
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
""" + HTTP_TS.replace("OPTIONS", "{}").replace("QUESTION", "ElicitRequestSchema")
HTTP_TS2 = """
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
""" + HTTP_TS.replace("OPTIONS", "{ versionNegotiation: { mode: 'auto' } }").replace(
    "QUESTION", "'elicitation/create'"
)


def python(environment: str, script: str) -> list[str]:
    return [str(cells.WORK / environment / "bin" / "python"), "-c", script]


def node(script: str) -> list[str]:
    return ["node", "--input-type=module", "--eval", script]


CLIENTS = {
    "mcp1": python("mcp1", MCP1),
    "mcp2": python("mcp2", MCP2),
    "ts1": node(TS1),
    "ts2": node(TS2),
}
HTTP_CLIENTS = {
    "mcp1": python("mcp1", HTTP_MCP1),
    "mcp2": python("mcp2", HTTP_MCP2),
    "ts1": node(HTTP_TS1),
    "ts2": node(HTTP_TS2),
}


@pytest.fixture(scope="module")
def examples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("c++") is None:
        pytest.skip("no compiler of C++")
    folder = tmp_path_factory.mktemp("cpp")
    for name in ("hello_server", "stdio_client"):
        building.build(folder / name, [building.EXAMPLES / f"{name}.cpp"], compiler=building.CPP17)
    return folder


def run(command: list[str | Path]) -> str:
    done = subprocess.run(
        command, cwd=cells.WORK / "node", env=cells.ENVIRONMENT, capture_output=True, text=True, timeout=180
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("client", CLIENTS)
def test_server(client: str, examples: Path) -> None:
    assert run([*CLIENTS[client], examples / "hello_server"]) == "Hello, you!\n"


@pytest.mark.parametrize("server", cells.PEER_SERVERS)
def test_client(server: str, examples: Path) -> None:
    text = run([examples / "stdio_client", "echo", '{"text": "h\\u00fc"}', *cells.PEER_SERVERS[server]])
    assert "tool echo\n" in text and text.endswith("\nh\u00fc\n")


@pytest.fixture(scope="module")
def http_examples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("c++") is None or c_env.missing():
        pytest.skip("no compiler of C++, or no headers of the libraries of HTTP")
    return building.build_http_in_cpp(tmp_path_factory.mktemp("http"))


@pytest.mark.parametrize("client", HTTP_CLIENTS)
def test_http_server(client: str, http_examples: Path) -> None:
    with building.serving(http_examples / "http_server") as port:
        assert run([*HTTP_CLIENTS[client], f"http://127.0.0.1:{port}/mcp"]) == "deployed\n"


@pytest.mark.parametrize("server", cells.PEER_SERVERS)
def test_http_client(server: str, http_examples: Path) -> None:
    with listeners.listening(cells.PEER_SERVERS[server], "http", cells.ENVIRONMENT) as url:
        assert run([http_examples / "http_client", url, "echo", '{"text": "h\\u00fc"}']) == "h\u00fc\n"
