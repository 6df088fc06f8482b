"""Runs one scenario, written once as a coroutine, against every flavour of child process."""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

import trio
from barewire import _process, _process_asyncio, _process_trio
from barewire._process import Step

#: Long enough for a loaded machine; a passing test never waits for it.
PATIENCE = 60.0
#: Short steps, so that a child that ignores everything costs little.
STEPS = (Step("close_input", 0.2), Step("terminate", 0.2), Step("kill", 5.0))
#: For a child that ends with its input, and one that ends when it is asked to: all the time they need.
UNTIL_ENDED = (Step("close_input", PATIENCE), *STEPS[1:])
UNTIL_TERMINATED = (STEPS[0], Step("terminate", PATIENCE), STEPS[2])


def script(code: str) -> list[str]:
    """The command of a child that runs `code` in a Python that starts fast."""
    return [sys.executable, "-I", "-S", "-c", code]


class Probe:
    """A child and what was heard of it. `wait_until` is how a scenario waits in its flavour."""

    def __init__(self) -> None:
        self.child: Any = None
        self.data = bytearray()
        self.ends = 0
        self.drained = 0
        self.pause_after: int | None = None

    def attach(self, child: Any) -> None:
        self.child = child
        child.on_data, child.on_end, child.on_drained = self._on_data, self._on_end, self._on_drained
        child.start()

    async def wait_until(self, true: Callable[[], object]) -> None:
        raise NotImplementedError

    async def close(self, steps: Sequence[Step] = STEPS) -> float:
        """Close the child; seconds that it took."""
        started = time.monotonic()
        await self._close(steps)
        return time.monotonic() - started

    async def _close(self, steps: Sequence[Step]) -> None:
        await self.child.aclose(steps)

    def wake(self) -> None:
        raise NotImplementedError

    def _on_data(self, data: bytes) -> None:
        self.data += data
        if self.pause_after is not None and len(self.data) >= self.pause_after:
            self.pause_after = None
            self.child.pause()
        self.wake()

    def _on_end(self) -> None:
        self.ends += 1
        self.wake()

    def _on_drained(self) -> None:
        self.drained += 1
        self.wake()


class ThreadProbe(Probe):
    def __init__(self) -> None:
        super().__init__()
        self._changed = threading.Condition()

    async def wait_until(self, true: Callable[[], object]) -> None:
        with self._changed:
            assert self._changed.wait_for(true, PATIENCE)

    async def _close(self, steps: Sequence[Step]) -> None:
        self.child.close(steps)

    def wake(self) -> None:
        with self._changed:
            self._changed.notify_all()


class AsyncioProbe(Probe):
    def __init__(self) -> None:
        super().__init__()
        self._changed = asyncio.Event()

    async def wait_until(self, true: Callable[[], object]) -> None:
        async def wait() -> None:
            while not true():
                self._changed.clear()
                await self._changed.wait()

        await asyncio.wait_for(wait(), PATIENCE)

    def wake(self) -> None:
        self._changed.set()


class TrioProbe(Probe):
    def __init__(self) -> None:
        super().__init__()
        self._changed = trio.Event()

    async def wait_until(self, true: Callable[[], object]) -> None:
        with trio.fail_after(PATIENCE):
            while not true():
                self._changed = trio.Event()
                await self._changed.wait()

    def wake(self) -> None:
        self._changed.set()


Scenario = Callable[[Probe], Coroutine[Any, Any, None]]
Flavour = Callable[..., None]


def run_threads(scenario: Scenario, command: Sequence[str], **options: Any) -> None:
    probe = ThreadProbe()
    probe.attach(_process.ThreadedChild(command, **options))
    coroutine = scenario(probe)
    try:
        coroutine.send(None)  # nothing in this flavour suspends
    except StopIteration:
        pass
    finally:
        probe.child.close(STEPS)


def _run_asyncio(kind: Any, scenario: Scenario, command: Sequence[str], options: dict[str, Any]) -> None:
    async def main() -> None:
        probe = AsyncioProbe()
        probe.attach(kind(command, **options))
        try:
            await scenario(probe)
        finally:
            await probe.child.aclose(STEPS)

    asyncio.run(main())


def run_asyncio(scenario: Scenario, command: Sequence[str], **options: Any) -> None:
    _run_asyncio(_process_asyncio.AsyncioChild, scenario, command, options)


def run_asyncio_with_threads(scenario: Scenario, command: Sequence[str], **options: Any) -> None:
    _run_asyncio(_process_asyncio.ThreadedAsyncioChild, scenario, command, options)


def _run_trio(kind: Any, scenario: Scenario, command: Sequence[str], options: dict[str, Any]) -> None:
    async def main() -> None:
        async with trio.open_nursery() as nursery:
            probe = TrioProbe()
            probe.attach(kind(command, nursery=nursery, **options))
            try:
                await scenario(probe)
            finally:
                await probe.child.aclose(STEPS)

    trio.run(main)


def run_trio(scenario: Scenario, command: Sequence[str], **options: Any) -> None:
    _run_trio(_process_trio.TrioChild, scenario, command, options)


def run_trio_with_threads(scenario: Scenario, command: Sequence[str], **options: Any) -> None:
    _run_trio(_process_trio.ThreadedTrioChild, scenario, command, options)


FLAVOURS: dict[str, Flavour] = {
    "threads": run_threads,
    "asyncio": run_asyncio,
    "asyncio-with-threads": run_asyncio_with_threads,
    "trio": run_trio,
    "trio-with-threads": run_trio_with_threads,
}
