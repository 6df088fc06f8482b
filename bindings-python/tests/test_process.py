"""Child processes that behave, and those that do not, in every flavour."""

from __future__ import annotations

import asyncio
import hashlib
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from barewire import _process_asyncio
from barewire._process import INHERITED_VARIABLES, ExitStatus, ThreadedChild
from process_harness import (
    FLAVOURS,
    PATIENCE,
    STEPS,
    UNTIL_ENDED,
    UNTIL_TERMINATED,
    Flavour,
    Probe,
    script,
)

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the children are written for POSIX")

#: More than `STEPS` take on a loaded machine, and less than a child sleeps that nobody ends.
BOUND = 30.0
MEGABYTE = 1024 * 1024

ECHO = """
import sys
for line in sys.stdin.buffer:
    sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()
"""


@pytest.fixture(params=list(FLAVOURS))
def run(request: pytest.FixtureRequest) -> Flavour:
    return FLAVOURS[request.param]


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    """No test leaves a descriptor, a thread of ours or a zombie behind."""
    before = set(os.listdir("/proc/self/fd")) if sys.platform == "linux" else set()
    yield
    deadline = time.monotonic() + PATIENCE
    while ours := [thread.name for thread in threading.enumerate() if thread.name.startswith("barewire")]:
        assert time.monotonic() < deadline, ours
        threading.Event().wait(0.005)
    if sys.platform == "linux":
        assert set(os.listdir("/proc/self/fd")) <= before
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


def is_running(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[0] not in (b"Z", b"X")
    except OSError:
        return False


# proves: BASE-160 BASE-165
def test_an_obedient_child_ends_on_the_end_of_its_input(run: Flavour) -> None:
    async def scenario(probe: Probe) -> None:
        probe.child.write(b"one\n")
        probe.child.write(b"two\n")
        await probe.wait_until(lambda: probe.data == b"one\ntwo\n")
        assert probe.child.exit_status is None
        await probe.close(UNTIL_ENDED)
        assert probe.child.exit_status == ExitStatus(0)
        assert probe.ends == 1

    run(scenario, script(ECHO))


def test_what_is_owed_still_arrives_during_the_close(run: Flavour) -> None:
    code = "import sys; n = len(sys.stdin.buffer.read()); sys.stdout.write('x' * n)"

    async def scenario(probe: Probe) -> None:
        probe.child.write(b"y" * MEGABYTE)
        await probe.close(UNTIL_ENDED)
        assert len(probe.data) == MEGABYTE
        assert probe.child.exit_status == ExitStatus(0)

    run(scenario, script(code))


def test_the_child_gets_three_pipes_and_a_session_of_its_own(run: Flavour) -> None:
    code = "import os; print(sorted(map(int, os.listdir('/proc/self/fd'))), os.getsid(0) == os.getpid())"
    stray, other = os.pipe()
    os.set_inheritable(stray, True)
    os.set_inheritable(other, True)

    async def scenario(probe: Probe) -> None:
        await probe.wait_until(lambda: probe.ends)
        listed, session = probe.data.decode().strip().rsplit(" ", 1)
        # The fourth is that of the listing itself.
        assert listed == "[0, 1, 2, 3]"
        assert session == "True"

    try:
        run(scenario, script(code))
    finally:
        os.close(stray)
        os.close(other)


def test_the_environment_is_small_unless_more_is_given(run: Flavour, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_KEY", "s3cret")
    monkeypatch.setenv("TERM", "() { echo function; }")
    monkeypatch.setenv("USER", "someone")
    code = "import os; print(' '.join(f'{k}={v}' for k, v in os.environ.items() if k != 'LC_CTYPE'))"

    async def scenario(probe: Probe) -> None:
        await probe.wait_until(lambda: probe.ends)
        seen = dict(pair.split("=", 1) for pair in probe.data.decode().split())
        assert set(seen) <= {*INHERITED_VARIABLES, "EXTRA"}
        assert seen["EXTRA"] == "1"
        assert seen["USER"] == "other"
        assert "TERM" not in seen

    run(scenario, script(code), env={"EXTRA": "1", "USER": "other"})


def test_the_child_runs_in_the_given_folder(run: Flavour, tmp_path: Path) -> None:
    async def scenario(probe: Probe) -> None:
        await probe.wait_until(lambda: probe.ends)
        assert Path(probe.data.decode().strip()).samefile(tmp_path)

    run(scenario, script("import os; print(os.getcwd())"), cwd=tmp_path)


# proves: BASE-156 BASE-157
def test_a_flood_on_stderr_holds_nothing_up_and_its_end_is_kept(run: Flavour) -> None:
    code = """
import sys
for n in range(5000):
    sys.stderr.write(f"{n:>999}\\n")
sys.stdout.write("done\\n")
sys.stdout.flush()
sys.stdin.read()
"""

    async def scenario(probe: Probe) -> None:
        await probe.wait_until(lambda: probe.data == b"done\n")
        await probe.close(UNTIL_ENDED)
        assert len(probe.child.stderr_tail) == 2000
        assert probe.child.stderr_tail.endswith(b"4998\n" + b" " * 995 + b"4999\n")
        assert probe.child.exit_status == ExitStatus(0)

    run(scenario, script(code), stderr="capture", stderr_limit=2000)


def test_stderr_goes_to_a_callback(run: Flavour) -> None:
    seen: list[bytes] = []

    async def scenario(probe: Probe) -> None:
        await probe.wait_until(lambda: probe.ends)
        assert b"".join(seen) == b"to the callback"
        assert probe.child.stderr_tail == b"to the callback"

    run(scenario, script("import sys; sys.stderr.write('to the callback')"), stderr=seen.append)


def test_a_failing_stderr_callback_fails_nothing_else(run: Flavour) -> None:
    def fail(data: bytes) -> None:
        raise RuntimeError("no")

    code = "import sys; sys.stderr.write('x' * 300000); sys.stderr.flush(); print('done')"

    async def scenario(probe: Probe) -> None:
        await probe.wait_until(lambda: probe.ends)
        assert probe.data == b"done\n"

    run(scenario, script(code), stderr=fail)


def test_stderr_goes_to_a_file_or_nowhere(run: Flavour, tmp_path: Path) -> None:
    async def scenario(probe: Probe) -> None:
        await probe.wait_until(lambda: probe.ends)
        assert probe.child.stderr_tail == b""

    code = "import sys; sys.stderr.write('kept')"
    with open(tmp_path / "log", "wb") as file:
        run(scenario, script(code), stderr=file)
    assert (tmp_path / "log").read_bytes() == b"kept"
    run(scenario, script(code), stderr="discard")


# proves: BASE-160 BASE-165
def test_a_child_that_ignores_everything_is_killed_in_time(run: Flavour) -> None:
    code = """
import signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("ready", flush=True)
while True:
    time.sleep(60)
"""

    async def scenario(probe: Probe) -> None:
        await probe.wait_until(lambda: probe.data)
        took = await probe.close()
        assert STEPS[0].wait + STEPS[1].wait <= took < BOUND
        assert probe.child.exit_status == ExitStatus(-signal.SIGKILL)

    run(scenario, script(code))


# proves: BASE-160
def test_a_child_that_ends_when_asked_is_not_killed(run: Flavour) -> None:
    code = """
import signal, sys, time
signal.signal(signal.SIGTERM, lambda *_: sys.exit(7))
print("ready", flush=True)
while True:
    time.sleep(60)
"""

    async def scenario(probe: Probe) -> None:
        await probe.wait_until(lambda: probe.data)
        await probe.close(UNTIL_TERMINATED)
        assert probe.child.exit_status == ExitStatus(7)

    run(scenario, script(code))


def test_a_child_that_dies_at_once_tells_why(run: Flavour) -> None:
    async def scenario(probe: Probe) -> None:
        await probe.wait_until(lambda: probe.ends)
        assert probe.child.exit_status == ExitStatus(3)
        assert probe.child.stderr_tail == b"boom"
        probe.child.write(b"too late\n")
        await probe.close()
        await probe.close()
        assert probe.ends == 1

    run(scenario, script("import os; os.write(2, b'boom'); os._exit(3)"), stderr="capture")


def test_a_child_killed_by_a_signal_tells_which(run: Flavour) -> None:
    async def scenario(probe: Probe) -> None:
        await probe.wait_until(lambda: probe.ends)
        assert str(probe.child.exit_status) == "signal 11 (SIGSEGV)"

    run(scenario, script("import os; os.kill(os.getpid(), 11)"))


def test_a_child_that_closes_its_stdout_and_stays_is_an_end_too(run: Flavour) -> None:
    async def scenario(probe: Probe) -> None:
        await probe.wait_until(lambda: probe.ends)
        assert probe.child.exit_status is None
        await probe.close(UNTIL_TERMINATED)
        assert probe.child.exit_status == ExitStatus(-signal.SIGTERM)

    run(scenario, script("import os, time; os.close(1); time.sleep(60)"))


def test_a_flood_on_stdout_does_not_hold_up_the_close(run: Flavour) -> None:
    code = """
import os, signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
while True:
    os.write(1, b"x" * 65536)
"""

    async def scenario(probe: Probe) -> None:
        await probe.wait_until(lambda: len(probe.data) > MEGABYTE)
        assert await probe.close() < BOUND
        assert probe.child.exit_status == ExitStatus(-signal.SIGKILL)
        assert probe.ends == 1

    run(scenario, script(code))


DAEMON = """
import os, subprocess, sys
child = subprocess.Popen([sys.executable, "-I", "-S", "-c", {code!r}, str(os.getpid())])
print(child.pid, flush=True)
{then}
"""


@pytest.mark.parametrize(
    "code",
    [
        "import time; time.sleep(60)",
        "import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(60)",
        # Not before the child has printed and gone.
        "import os, sys, time\n"
        "while os.getppid() == int(sys.argv[1]): time.sleep(0.01)\n"
        "while True: os.write(1, b'x' * 65536); os.write(2, b'y' * 65536)",
    ],
    ids=["sleeps", "ignores", "floods"],
)
def test_the_death_of_the_child_is_noticed_though_its_descendant_holds_the_pipes(
    run: Flavour, code: str
) -> None:
    async def scenario(probe: Probe) -> None:
        await probe.wait_until(lambda: probe.ends)
        assert probe.child.exit_status == ExitStatus(5)
        descendant = int(probe.data.splitlines()[0])
        assert await probe.close() < BOUND
        assert not is_running(descendant)

    run(scenario, script(DAEMON.format(code=code, then="sys.exit(5)")), stderr="capture")


def test_descendants_end_with_the_child(run: Flavour) -> None:
    async def scenario(probe: Probe) -> None:
        await probe.wait_until(lambda: probe.data.endswith(b"\n"))
        descendant = int(probe.data)
        assert is_running(descendant)
        # The descendant does not end with the input, and the child is not terminated with it.
        probe.child.carry_out("close_input")
        await probe.wait_until(lambda: probe.ends)
        assert await probe.close() < BOUND
        assert not is_running(descendant)
        assert probe.child.exit_status == ExitStatus(0)

    run(scenario, script(DAEMON.format(code="import time; time.sleep(60)", then="sys.stdin.read()")))


def test_writes_do_not_wait_for_a_child_that_never_reads(run: Flavour) -> None:
    async def scenario(probe: Probe) -> None:
        await probe.wait_until(lambda: probe.data)
        started = time.monotonic()
        probe.child.write(b"x" * MEGABYTE)
        with pytest.raises(BufferError):
            probe.child.write(b"y" * 2 * MEGABYTE)
        probe.child.write(b"z")
        assert time.monotonic() - started < BOUND
        assert probe.child.pending > MEGABYTE / 2
        assert await probe.close(UNTIL_TERMINATED) < BOUND
        assert probe.child.pending == 0
        assert probe.child.exit_status == ExitStatus(-signal.SIGTERM)

    code = "import time; print('ready', flush=True); time.sleep(60)"
    run(scenario, script(code), pending_limit=2 * MEGABYTE)


def test_what_had_to_wait_arrives_whole_and_in_order(run: Flavour) -> None:
    code = """
import hashlib, sys
print("ready", flush=True)
digest = hashlib.sha256()
left = 3 * 1024 * 1024
while left:
    data = sys.stdin.buffer.read1(min(left, 5000))
    left -= len(data)
    digest.update(data)
print(digest.hexdigest(), flush=True)
sys.stdin.read()
"""
    blocks = [bytes([n]) * MEGABYTE for n in range(3)]

    async def scenario(probe: Probe) -> None:
        for block in blocks:
            probe.child.write(block)
        await probe.wait_until(lambda: probe.data.count(b"\n") == 2)
        assert probe.data.split()[1].decode() == hashlib.sha256(b"".join(blocks)).hexdigest()
        await probe.wait_until(lambda: probe.drained)
        assert probe.child.pending == 0

    run(scenario, script(code))


def test_a_paused_child_waits(run: Flavour) -> None:
    code = "import os\nfor n in range(64): os.write(1, bytes([n]) * 65536)"

    async def scenario(probe: Probe) -> None:
        await probe.wait_until(lambda: probe.pause_after is None)
        # One chunk may have been on its way; with the pipe full the child cannot end.
        assert len(probe.data) < MEGABYTE
        assert probe.ends == 0
        probe.child.resume()
        await probe.wait_until(lambda: probe.ends)
        assert probe.data == b"".join(bytes([n]) * 65536 for n in range(64))

    original = Probe.attach

    def attach(self: Probe, child: object) -> None:
        self.pause_after = 1
        original(self, child)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Probe, "attach", attach)
        run(scenario, script(code))


def test_without_process_descriptors_the_exit_is_noticed_too(
    run: Flavour, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(pid: int) -> int:
        raise OSError("not on this kernel")

    monkeypatch.setattr(os, "pidfd_open", refuse)
    test_a_child_that_dies_at_once_tells_why(run)


def test_a_command_that_does_not_exist_is_an_error(run: Flavour) -> None:
    async def scenario(probe: Probe) -> None:
        raise AssertionError("it was started")

    with pytest.raises(FileNotFoundError):
        FLAVOURS["threads"](scenario, ["/nonexistent/command"])
    with pytest.raises(ValueError, match="empty"):
        FLAVOURS["threads"](scenario, [])
    with pytest.raises(ValueError, match="stderr"):
        FLAVOURS["threads"](scenario, script(""), stderr="somewhere")


def test_a_cancelled_close_kills() -> None:
    code = """
import signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("ready", flush=True)
time.sleep(60)
"""

    async def main() -> None:
        child = _process_asyncio.AsyncioChild(script(code))
        ready = asyncio.Event()
        child.on_data = lambda _: ready.set()
        child.start()
        await ready.wait()
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(child.aclose((STEPS[0]._replace(wait=PATIENCE),)), 0.05)
        assert child._released

    started = time.monotonic()
    asyncio.run(main())
    assert time.monotonic() - started < PATIENCE / 2


def test_many_threads_may_write_and_close() -> None:
    received = bytearray()
    done = threading.Event()

    def on_data(data: bytes) -> None:
        received.extend(data)
        if len(received) == 8 * 1000 * 10:
            done.set()

    child = ThreadedChild(script(ECHO))
    child.on_data = on_data
    child.start()

    def write(n: int) -> None:
        for _ in range(1000):
            child.write(b"%d" % n * 9 + b"\n")

    writers = [threading.Thread(target=write, args=(n,)) for n in range(8)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert done.wait(PATIENCE)
    assert sorted(set(bytes(received).splitlines())) == [b"%d" % n * 9 for n in range(8)]
    closers = [threading.Thread(target=child.close, args=(UNTIL_ENDED,)) for _ in range(4)]
    for closer in closers:
        closer.start()
    for closer in closers:
        closer.join()
    assert child.exit_status == ExitStatus(0)
