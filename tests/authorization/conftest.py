"""Counts in the form that the repository's summary reads."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[1]))


def pytest_terminal_summary(terminalreporter: Any) -> None:
    def count(*kinds: str) -> int:
        return sum(len(terminalreporter.stats.get(kind, [])) for kind in kinds)

    line = f"{count('passed')} passed, {count('failed', 'error')} failed, {count('skipped')} skipped"
    terminalreporter.write_line(line)
