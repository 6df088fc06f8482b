"""The time as the core takes it."""

import time


def now() -> int:
    """Milliseconds of a monotonic clock."""
    return time.monotonic_ns() // 1_000_000
