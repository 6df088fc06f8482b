"""The C examples as their users build them, against peers in Python."""

from __future__ import annotations

import contextlib
import os
import subprocess
import threading
from pathlib import Path

import barewire
import building
import pytest
from barewire import sansio, sync


@pytest.fixture(scope="session")
def hello(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("hello") / "hello_server"
    return building.build(program, [building.EXAMPLES / "hello_server.c"])


@pytest.mark.parametrize("revision", sansio.REVISIONS)
def test_hello_server_speaks_every_revision(hello: Path, revision: str) -> None:
    with sync.Client(command=[str(hello)], revisions=[revision]) as client:
        assert client.revision == revision
        assert [tool.name for tool in client.tools()] == ["greet"]
        result = client.call_tool("greet", {"name": 'W\u00f6rld "\n\u2603"'})
        assert result.content == [barewire.Text('Hello, W\u00f6rld "\n\u2603"!')]
        # Older revisions have an error for it, newer ones a result that says so.
        with contextlib.suppress(barewire.RpcError):
            assert client.call_tool("greet", {"name": 7}).is_error


def test_hello_server_ends_with_its_input(hello: Path) -> None:
    done = subprocess.run([hello], input=b"noise\n", capture_output=True, timeout=60)
    assert done.returncode == 0
    assert b'"code":-32700' in done.stdout


def test_hello_server_waits_for_a_slow_reader(hello: Path) -> None:
    """Its output is a pipe that does not block, as whoever shares it may have it."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    calls = b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n' * 5_000
    with subprocess.Popen([hello], stdin=subprocess.PIPE, stdout=writer) as process:
        os.close(writer)
        assert process.stdin is not None
        feeder = threading.Thread(target=process.communicate, args=(calls,))
        feeder.start()
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.5)
        with open(reader, "rb") as output:
            assert output.read().count(b"\n") == 5_000
        feeder.join()
    assert process.returncode == 0


def test_bench_server(tmp_path: Path) -> None:
    program = building.build(tmp_path / "bench_server", [building.EXAMPLES / "bench_server.c"])
    with sync.Client(command=[str(program)]) as client:
        text = 'x "\u00e9"\n' * 1000
        assert client.call_tool("echo", {"text": text}).content == [barewire.Text(text)]
        assert client.call_tool("sink", {"text": text}).content == [barewire.Text(str(len(text.encode())))]
        assert client.call_tool("add", {"a": 2, "b": -5}).structured_content == {"sum": -3}
        (big,) = client.call_tool("big", {"kib": 2}).content
        assert isinstance(big, barewire.Text) and len(big.text) == 2048
        assert client.call_tool("big", {"kib": 2**54}).is_error
        assert client.call_tool("progress", {"n": 3}).content == [barewire.Text("sent 3")]
        assert client.call_tool("add", {"a": 1.5, "b": 0}).is_error


@pytest.fixture(scope="session")
def stdio_client(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("client") / "stdio_client"
    return building.build(program, [building.EXAMPLES / "stdio_client.c"])


def run(*command: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, timeout=180)


def test_stdio_client_lists_and_calls(stdio_client: Path, hello: Path) -> None:
    listed = run(stdio_client, hello)
    assert (listed.returncode, listed.stdout) == (0, "greet: Greets somebody\n")
    called = run(stdio_client, "-c", "greet", '{"name": "\\"you\\""}', hello)
    assert (called.returncode, called.stdout) == (0, 'Hello, "you"!\n')
    refused = run(stdio_client, "-c", "none", "{}", hello)
    assert refused.returncode == 1 and "-32602" in refused.stderr


# A server that ends on what it does not know.
GRUMPY = """
import json, sys
def answer(line, result):
    print(json.dumps({"jsonrpc": "2.0", "id": json.loads(line)["id"], "result": result}), flush=True)
for line in sys.stdin:
    if '"initialize"' not in line:
        sys.exit(1)
    answer(line, {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                  "serverInfo": {"name": "s", "version": "1"}})
    for line in sys.stdin:
        if '"tools/list"' in line:
            answer(line, {"tools": []})
"""


def test_stdio_client_starts_a_server_again(stdio_client: Path) -> None:
    done = run(stdio_client, "python3", "-c", GRUMPY)
    assert (done.returncode, done.stdout) == (0, "")
    assert "speaks 2025-06-18" in done.stderr


LISTING = """
import itertools, json, sys
for line, page in zip(sys.stdin, itertools.count()):
    tools = [{"name": f"t{page}", "inputSchema": {"type": "object"}}, {}]
    result = {"resultType": "complete", "tools": tools, "ttlMs": 0, "cacheScope": "public"}
    if page == 0:
        result |= {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}},
                   "serverInfo": {"name": "s", "version": "1"}}
    elif page < 3:
        result["nextCursor"] = "\\n" * 2000
    print(json.dumps({"jsonrpc": "2.0", "id": json.loads(line)["id"], "result": result}), flush=True)
"""


def test_stdio_client_follows_long_cursors(stdio_client: Path) -> None:
    done = run(stdio_client, "python3", "-c", LISTING)
    assert (done.returncode, done.stdout) == (0, "t1\n\nt2\n\nt3\n\n"), done.stderr


def test_stdio_client_has_no_standard_descriptors(stdio_client: Path, hello: Path) -> None:
    output = "greet: Greets somebody\n"
    without_input = run("sh", "-c", 'exec "$0" "$@" <&-', stdio_client, hello)
    assert (without_input.returncode, without_input.stdout) == (0, output)
    assert run("sh", "-c", 'exec "$0" "$@" <&- >&-', stdio_client, hello).returncode == 0


def test_stdio_client_ends_what_leaves_its_group(stdio_client: Path) -> None:
    leaving = "import os\nos.setpgid(0, os.getpgid(os.getppid()))\n" + GRUMPY
    leaving += "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nwhile True: signal.pause()"
    assert run(stdio_client, "python3", "-c", leaving).returncode == 0


def test_stdio_client_ends_what_does_not_end(stdio_client: Path) -> None:
    stubborn = "import os, signal, sys\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
    stubborn += "print(os.getpid(), file=sys.stderr, flush=True)\nos.close(1)\nwhile True: signal.pause()"
    done = run(stdio_client, "python3", "-c", stubborn)
    assert done.returncode == 1
    pids = [int(line) for line in done.stderr.split() if line.isdigit()]
    assert pids
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
