"""Threads for what blocks."""

from __future__ import annotations

import _thread
from queue import SimpleQueue
from threading import Thread

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


class Workers:
    """Threads that run one job after the other. They end with the process, whatever a job does."""

    def __init__(self, most: int = 64) -> None:
        self._jobs: SimpleQueue[Callable[[], object] | None] = SimpleQueue()
        self._most = most
        self._idle = 0
        self._count = 0
        self._lock = _thread.allocate_lock()

    def submit(self, job: Callable[[], object]) -> None:
        """Run a job as soon as a thread is free; new threads are started up to a bound."""
        with self._lock:
            starts = self._idle <= 0 and self._count < self._most
            if starts:
                self._count += 1
            else:
                self._idle -= 1
        self._jobs.put(job)
        if starts:
            Thread(target=self._work, name=f"barewire-{self._count}", daemon=True).start()

    def _work(self) -> None:
        while True:
            job = self._jobs.get()
            if job is None:
                return
            job()
            with self._lock:
                self._idle += 1

    def close(self) -> None:
        """Let idle threads end."""
        for _ in range(self._count):
            self._jobs.put(None)
