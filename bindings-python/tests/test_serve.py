"""A server process on standard input and output: streams of every kind, signals, and the end."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import pty
import select
import signal
import socket
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from barewire import Context, Server, SyncContext
from server_peer import LEGACY, PATIENCE, InProcess, Peer, Process

SERVER = textwrap.dedent(
    """
    import asyncio, os, subprocess, sys, time
    import barewire

    server = barewire.Server("s", version="1")

    @server.tool(inline=True)
    def inline(text: str) -> str:
        return text

    @server.tool
    def threaded(text: str) -> str:
        return text

    @server.tool
    async def waits(text: str, seconds: float = 0) -> str:
        await asyncio.sleep(seconds)
        return text

    @server.tool
    def sleeps(seconds: float) -> str:
        time.sleep(seconds)
        return "slept"

    @server.tool
    def prints() -> str:
        print("from print")
        sys.stdout.flush()
        os.write(1, b"from descriptor 1\\n")
        subprocess.run([sys.executable, "-c", "print('from a child')"], check=True)
        return repr(sys.stdin.read())

    @server.tool
    def descriptors() -> str:
        code = "import os; print(*[n for n in range(64) if os.path.exists(f'/proc/self/fd/{n}')])"
        command = [sys.executable, "-c", code]
        return subprocess.run(command, close_fds=False, capture_output=True, text=True).stdout.strip()

    @server.tool(inline=True)
    def big(kib: int) -> str:
        return "x" * (kib << 10)

    server.run()
    sys.stderr.write("returned\\n")
    """
)


def lines(*calls: tuple[str, dict[str, Any]]) -> bytes:
    """A whole conversation, written down before it starts."""
    info = {"name": "peer", "version": "1"}
    start = {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": info}
    messages: list[dict[str, Any]] = [
        {"jsonrpc": "2.0", "id": "i", "method": "initialize", "params": start},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
    ]
    for number, (name, arguments) in enumerate(calls):
        params = {"name": name, "arguments": arguments}
        messages.append({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})
    return b"".join(json.dumps(message).encode() + b"\n" for message in messages)


CALLS = [("waits", {"text": "a"}), ("threaded", {"text": "b"}), ("inline", {"text": "c"})]


def texts(output: bytes) -> dict[Any, str]:
    found = {}
    for line in output.splitlines():
        message = json.loads(line)
        if message.get("id") != "i":
            found[message["id"]] = message["result"]["content"][0]["text"]
    return found


@pytest.fixture
def program(tmp_path: Path) -> list[str]:
    path = tmp_path / "server.py"
    path.write_text(SERVER)
    return [sys.executable, str(path)]


# ---------------------------------------------------------------- kinds of descriptors


def test_pipes(tmp_path: Path) -> None:
    peer = Process(SERVER, tmp_path)
    for name in ("inline", "threaded", "waits", "threaded", "inline"):
        assert peer.text(name, text=name) == name
    assert peer.end() == (0, "returned\n")


@pytest.mark.parametrize(
    "calls", [CALLS, CALLS[1:], CALLS[2:], []], ids=["async", "thread", "inline", "none"]
)
def test_regular_files(program: list[str], tmp_path: Path, calls: Any) -> None:
    source, target = tmp_path / "in", tmp_path / "out"
    source.write_bytes(lines(*calls))
    with source.open("rb") as stdin, target.open("wb") as stdout:
        done = subprocess.run(program, stdin=stdin, stdout=stdout, timeout=PATIENCE, check=True)
    assert done.returncode == 0
    expected = {number: arguments["text"] for number, (_, arguments) in enumerate(calls)}
    assert texts(target.read_bytes()) == expected


# proves: BASE-166
def test_dev_null(program: list[str]) -> None:
    done = subprocess.run(program, stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"returned\n")


@pytest.mark.parametrize("one", [True, False], ids=["one", "two"])
def test_sockets(program: list[str], one: bool) -> None:
    ours, theirs = socket.socketpair()
    with subprocess.Popen(
        program, stdin=theirs.fileno(), stdout=theirs.fileno(), stderr=subprocess.DEVNULL
    ) as process:
        theirs.close()
        peer = Peer(ours.fileno(), ours.fileno())
        for name in ("inline", "waits", "threaded") if one else ("waits",):
            assert peer.text(name, text=name) == name
        assert len(peer.call("big", kib=4096)["content"][0]["text"]) == 4 << 20
        ours.shutdown(socket.SHUT_WR)
        assert peer.rest() == []
        assert process.wait(PATIENCE) == 0
    ours.close()


def test_a_terminal(program: list[str]) -> None:
    ours, theirs = pty.openpty()
    import tty

    tty.setraw(theirs)
    with subprocess.Popen(program, stdin=theirs, stdout=theirs, stderr=subprocess.DEVNULL) as process:
        peer = Peer(ours, ours)
        for name in ("inline", "waits", "threaded"):
            assert peer.text(name, text=name) == name
        assert len(peer.call("big", kib=256)["content"][0]["text"]) == 256 << 10
        assert os.get_blocking(theirs), "the terminal was left in another mode"
        process.terminate()
        assert process.wait(PATIENCE) == 0
    os.close(theirs)
    os.close(ours)


# ---------------------------------------------------------------- what belongs to the protocol


# proves: BASE-158
def test_prints_go_to_standard_error(tmp_path: Path) -> None:
    peer = Process(SERVER, tmp_path)
    assert peer.text("prints") == "''"
    status, errors = peer.end()
    assert status == 0
    for text in ("from print", "from descriptor 1", "from a child", "returned"):
        assert text in errors


# proves: BASE-158
def test_what_was_buffered_comes_out_on_standard_error_too(tmp_path: Path) -> None:
    code = """
        import ctypes, sys
        import barewire
        server, early, library = barewire.Server("s"), sys.stdout, ctypes.CDLL(None)

        @server.tool
        def prints() -> str:
            early.write("from a stream that was there before\\n")
            library.printf(b"from the C library\\n")
            return "printed"

        server.run()
    """
    peer = Process(textwrap.dedent(code), tmp_path)
    assert peer.text("prints") == "printed"
    peer.close()
    assert peer.rest() == []
    status, errors = peer.end()
    assert status == 0
    assert sorted(errors.splitlines()) == ["from a stream that was there before", "from the C library"]


def test_prints_without_standard_error(program: list[str]) -> None:
    command = f"exec {sys.executable} {program[1]} 2>&-"
    done = subprocess.run(
        ["sh", "-c", command], input=lines(("prints", {})), capture_output=True, timeout=PATIENCE
    )
    assert texts(done.stdout) == {0: "''"}


def test_children_inherit_no_protocol_descriptors(tmp_path: Path) -> None:
    peer = Process(SERVER, tmp_path)
    assert peer.text("descriptors") in ("0 1 2", "0 1 2 3")  # 3: the child's own folder of descriptors
    peer.end()


def loaded_by(program: list[str], conversation: bytes) -> set[str]:
    """The top-level modules that a server has imported when a conversation has ended."""
    command = [program[0], "-X", "importtime", *program[1:]]
    done = subprocess.run(command, input=conversation, capture_output=True, text=False, timeout=PATIENCE)
    assert done.returncode == 0
    lines = [line for line in done.stderr.decode().splitlines() if line.startswith("import time:")]
    return {line.rpartition("|")[2].strip().partition(".")[0] for line in lines}


HEAVY = {"asyncio", "dataclasses", "inspect", "json", "logging", "pathlib", "re", "subprocess", "threading"}


def test_nothing_heavy_is_loaded_before_it_is_needed(tmp_path: Path) -> None:
    code = SERVER.replace("import asyncio, os, subprocess, sys, time", "import os, sys")
    path = tmp_path / "light.py"
    path.write_text(code)
    program = [sys.executable, str(path)]
    bare = loaded_by([sys.executable, "-c", "pass"], b"")
    start = loaded_by(program, lines()) - bare
    assert not start & (HEAVY | {"msgspec", "typing"})
    called = loaded_by(program, lines(("inline", {"text": "c"}))) - bare
    assert "msgspec" in called
    assert not called & (HEAVY - loaded_by([sys.executable, "-c", "import msgspec"], b""))


# ---------------------------------------------------------------- the end


# proves: BASE-166
def test_answers_that_are_owed_come_before_the_end(program: list[str]) -> None:
    calls: list[tuple[str, dict[str, Any]]] = [
        ("waits", {"text": "a", "seconds": 0.3}),
        ("sleeps", {"seconds": 0.3}),
        ("inline", {"text": "c"}),
    ]
    done = subprocess.run(program, input=lines(*calls), capture_output=True, timeout=PATIENCE)
    assert texts(done.stdout) == {0: "a", 1: "slept", 2: "c"}
    assert (done.returncode, done.stderr) == (0, b"returned\n")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("warm", ["nothing", "threaded", "waits"])
def test_signals_end_a_server_cleanly(tmp_path: Path, number: signal.Signals, warm: str) -> None:
    peer = Process(SERVER, tmp_path)
    if warm != "nothing":
        peer.text(warm, text="x")
        # Work that would go on for long does not hold it up.
        peer.start("tools/call", {"name": "sleeps", "arguments": {"seconds": 60}})
        peer.start("tools/call", {"name": "waits", "arguments": {"text": "x", "seconds": 60}})
        peer.request("tools/list")
    peer.process.send_signal(number)
    assert peer.process.wait(PATIENCE) == 0
    assert peer.end() == (0, "returned\n")


def test_a_client_that_is_gone(tmp_path: Path) -> None:
    peer = Process(SERVER, tmp_path)
    assert peer.process.stdout is not None
    peer.process.stdout.close()
    for name in ("inline", "threaded", "waits"):
        with contextlib.suppress(BrokenPipeError):
            peer.start("tools/call", {"name": name, "arguments": {"text": "x"}})
    assert peer.process.wait(PATIENCE) == 0
    assert peer.end() == (0, "returned\n")


def test_several_servers_in_one_asyncio_program() -> None:
    async def main() -> list[str]:
        from barewire._serve import serve_async

        server = Server("s")

        @server.tool
        async def waits(a: int) -> str:
            await asyncio.sleep(0)
            return str(a)

        def converse(source: int, target: int) -> str:
            peer = Peer(source, target)
            text = peer.text("waits", a=source)
            peer.close()
            assert peer.rest() == []
            return text

        async def one() -> str:
            their_input, target = os.pipe()
            source, their_output = os.pipe()
            answer = asyncio.create_task(asyncio.to_thread(converse, source, target))
            await serve_async(server, their_input, their_output)
            os.close(their_output)
            text = await answer
            os.close(their_input)
            os.close(source)
            return "good" if text == str(source) else "bad"

        return list(await asyncio.gather(one(), one(), one()))

    assert asyncio.run(main()) == ["good"] * 3


def test_cancelling_serve_ends_it() -> None:
    async def main() -> None:
        from barewire._serve import serve_async

        their_input, target = os.pipe()
        source, their_output = os.pipe()
        task = asyncio.create_task(serve_async(Server("s"), their_input, their_output))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        for descriptor in (their_input, their_output, source, target):
            os.close(descriptor)

    asyncio.run(main())


# ---------------------------------------------------------------- handlers that do not behave

STUBBORN = textwrap.dedent(
    """
    import asyncio, contextlib, sys
    import barewire
    from barewire.sansio import Timeouts

    server = barewire.Server("s", version="1", timeouts=Timeouts(drain=200))

    @server.tool
    async def exits(seconds: float) -> str:
        if seconds:
            await asyncio.sleep(seconds)
        sys.exit(3)

    @server.tool
    def interrupts() -> str:
        raise KeyboardInterrupt

    @server.tool
    async def waits() -> str:
        await asyncio.sleep(1e6)

    @server.tool
    async def goes_on() -> str:
        while True:
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(1e6)

    server.run()
    """
)


@pytest.mark.parametrize(
    ("name", "arguments"), [("exits", {"seconds": 0}), ("exits", {"seconds": 0.01}), ("interrupts", {})]
)
def test_a_handler_that_would_leave_the_program_fails_alone(
    tmp_path: Path, name: str, arguments: dict[str, Any]
) -> None:
    peer = Process(STUBBORN, tmp_path)
    for _ in range(2):
        # In one write: what arrives with it is not lost either.
        params = {"name": name, "arguments": arguments}
        call = {"jsonrpc": "2.0", "id": "call", "method": "tools/call", "params": params}
        ping = {"jsonrpc": "2.0", "id": "ping", "method": "ping"}
        peer.write(json.dumps(call).encode() + b"\n" + json.dumps(ping).encode() + b"\n")
        answers = {message["id"]: message for message in (peer.receive(), peer.receive())}
        assert answers["call"]["result"]["isError"] is True
        assert answers["ping"]["result"] == {}
    assert peer.end()[0] == 0


def test_a_handler_that_ignores_cancellation_does_not_keep_the_process(tmp_path: Path) -> None:
    peer = Process(STUBBORN, tmp_path)
    request = peer.start("tools/call", {"name": "goes_on"})
    peer.request("ping")
    peer.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": request}})
    assert peer.end()[0] == 0


@pytest.mark.parametrize("cancels", [False, True])
def test_handlers_that_never_end_do_not_make_the_server_deaf(tmp_path: Path, cancels: bool) -> None:
    peer = Process(STUBBORN, tmp_path)
    requests = [peer.start("tools/call", {"name": "waits"}) for _ in range(1500)]
    if cancels:
        for request in requests:
            params = {"requestId": request}
            peer.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})
        assert peer.request("ping") == {}
    else:  # the client is gone
        assert peer.process.stdout is not None
        peer.process.stdout.close()
    assert peer.end()[0] == 0


# ---------------------------------------------------------------- slow readers


@pytest.mark.parametrize("kind", ["inline", "async", "thread"])
def test_a_client_that_does_not_read_stops_the_handler_not_the_server(kind: str) -> None:
    server = Server("s")
    sent = 0

    def sync(n: int, ctx: SyncContext) -> str:
        nonlocal sent
        for sent in range(1, n + 1):
            ctx.progress(sent, n, "x" * 1000)
        return "done"

    async def asynchronous(n: int, ctx: Context) -> str:
        nonlocal sent
        for sent in range(1, n + 1):
            await ctx.progress(sent, n, "x" * 1000)
        return "done"

    server.add_tool(asynchronous if kind == "async" else sync, name="f", inline=kind == "inline")
    peer = InProcess(server)
    params = {"name": "f", "arguments": {"n": 3000}}
    request = peer.start("tools/call", params, {"progressToken": 1})
    seen = -1
    while seen != sent or sent == 0:
        seen = sent
        time.sleep(0.1)
    assert sent < 1000
    assert peer.wait(request)["result"]["content"][0]["text"] == "done"
    assert [n["params"]["progress"] for n in peer.notifications] == list(range(1, 3001))
    assert peer.end() == []


def test_a_worker_that_reports_faster_than_the_server_writes_waits() -> None:
    server = Server("s")
    holding, release = threading.Event(), threading.Event()
    sent = 0

    @server.tool
    def report(n: int, ctx: SyncContext) -> str:
        nonlocal sent
        holding.wait()
        for sent in range(1, n + 1):
            ctx.progress(sent, n)
        return "done"

    @server.tool(inline=True)
    def hold() -> str:
        holding.set()
        release.wait()
        return "released"

    peer = InProcess(server)
    params = {"name": "report", "arguments": {"n": 3000}}
    reporting = peer.start("tools/call", params, {"progressToken": 1})
    held = peer.start("tools/call", {"name": "hold"})
    seen = -1
    while seen != sent or sent == 0:
        seen = sent
        time.sleep(0.05)
    assert sent < 100
    release.set()
    assert peer.wait(held)["result"]["content"][0]["text"] == "released"
    assert peer.wait(reporting)["result"]["content"][0]["text"] == "done"
    assert [n["params"]["progress"] for n in peer.notifications] == list(range(1, 3001))
    assert peer.end() == []


def test_a_client_that_writes_and_does_not_read_is_held_back() -> None:
    server = Server("s")
    taken = 0

    @server.tool(inline=True)
    def f(text: str) -> str:
        nonlocal taken
        taken += 1
        return text

    peer = InProcess(server)
    text = "x" * (64 << 10)
    message = {"jsonrpc": "2.0", "method": "tools/call"}
    os.set_blocking(peer.target, False)
    total = 1000
    queue = b"".join(
        json.dumps({**message, "id": n, "params": {"name": "f", "arguments": {"text": text}}}).encode()
        + b"\n"
        for n in range(1000, 1000 + total)
    )
    written = 0
    while written < len(queue):
        _, writable, _ = select.select([], [peer.target], [], 1.0)
        if not writable:
            break
        written += os.write(peer.target, queue[written : written + 65536])
    assert 8 << 20 <= written < 24 << 20, "the server took in more than its bounds allow"

    def write_rest() -> None:
        os.set_blocking(peer.target, True)
        peer.write(queue[written:])

    writer = threading.Thread(target=write_rest, daemon=True)
    writer.start()
    for number in range(1000, 1000 + total):
        assert peer.receive()["id"] == number
    writer.join(PATIENCE)
    assert taken == total
    assert peer.end() == []
