#!/usr/bin/env python3
"""Print the targets of the project beside what the yardstick measured.

usage: targets.py RESULT.json | FOLDER       (the newest result of a folder)

A ratio is the median over rounds of ours divided by the floor in the same round. This is a report: the status
is 0 also when a target is missed.
"""

from __future__ import annotations

import json
import statistics
import sys
from pathlib import Path
from typing import Any, NamedTuple


class Target(NamedTuple):
    impl: str
    kind: str
    floor: str
    metric: str
    what: str
    ratio: float


RUST = ("barewire-rust", "stdio", "floor-rust")
C = ("barewire-c", "stdio", "floor-rust")
PYTHON = ("barewire-python", "stdio", "floor-python")
INLINE = ("barewire-python-inline", "stdio", "floor-python")
CLIENT = ("barewire-python", "client", "floor-python")
HTTP = ("barewire-python", "http", "floor-python")
HTTP_INLINE = ("barewire-python-inline", "http", "floor-python")
HTTP_STREAM = ("barewire-python", "http", "floor-stream")
NODE = ("barewire-node", "stdio", "floor-node")
NODE_CLIENT = ("barewire-node", "client", "floor-node")
NODE_HTTP = ("barewire-node", "http", "floor-node")

TARGETS = [
    Target(*RUST, "seq_cpu_us", "sequential calls", 1.3),
    Target(*RUST, "pipe64_cpu_us", "64 in flight", 2.0),
    Target(*RUST, "big_result_cpu_ms_mib", "1 MiB result", 1.0),
    Target(*RUST, "big_arg_cpu_ms_mib", "1 MiB argument", 0.7),
    Target(*RUST, "progress_cpu_us", "progress", 1.3),
    Target(*RUST, "rss_start_mib", "RSS after start", 1.5),
    Target(*RUST, "rss_10k_mib", "RSS after 10,000 calls", 1.5),
    Target(*C, "seq_cpu_us", "sequential calls", 1.5),
    Target(*C, "pipe64_cpu_us", "64 in flight", 2.2),
    Target(*C, "big_result_cpu_ms_mib", "1 MiB result", 1.0),
    Target(*C, "big_arg_cpu_ms_mib", "1 MiB argument", 1.0),
    Target(*C, "progress_cpu_us", "progress", 1.5),
    Target(*C, "rss_start_mib", "RSS after start", 1.5),
    Target(*C, "rss_10k_mib", "RSS after 10,000 calls", 1.5),
    Target(*PYTHON, "seq_cpu_us", "sequential calls", 2.0),
    Target(*PYTHON, "pipe64_cpu_us", "64 in flight", 1.2),
    Target(*PYTHON, "progress_cpu_us", "progress", 1.0),
    Target(*PYTHON, "cold_cpu_ms", "cold start", 2.0),
    Target(*PYTHON, "rss_start_mib", "RSS after start", 2.0),
    Target(*PYTHON, "rss_10k_mib", "RSS after 10,000 calls", 2.0),
    Target(*INLINE, "seq_cpu_us", "sequential calls", 1.2),
    Target(*INLINE, "pipe64_cpu_us", "64 in flight", 1.2),
    Target(*CLIENT, "seq_cpu_us", "sequential calls", 2.0),
    Target(*CLIENT, "pipe64_cpu_us", "64 at once", 2.0),
    Target(*HTTP, "c1_cpu_us", "1 connection", 1.6),
    Target(*HTTP, "c32_cpu_us", "32 connections", 1.6),
    Target(*HTTP_INLINE, "c1_cpu_us", "1 connection", 1.6),
    Target(*HTTP_INLINE, "c32_cpu_us", "32 connections", 1.6),
    Target(*HTTP_STREAM, "progress_cpu_us", "progress", 1.3),
    Target(*NODE, "seq_cpu_us", "sequential calls", 1.5),
    Target(*NODE, "pipe64_cpu_us", "64 in flight", 1.3),
    Target(*NODE, "progress_cpu_us", "progress", 1.2),
    Target(*NODE, "big_result_cpu_ms_mib", "1 MiB result", 1.0),
    Target(*NODE, "big_arg_cpu_ms_mib", "1 MiB argument", 1.0),
    Target(*NODE, "cold_cpu_ms", "cold start", 1.15),
    Target(*NODE, "rss_start_mib", "RSS after start", 1.15),
    Target(*NODE, "rss_10k_mib", "RSS after 10,000 calls", 1.15),
    Target(*NODE_CLIENT, "seq_cpu_us", "sequential calls", 1.5),
    Target(*NODE_CLIENT, "pipe64_cpu_us", "64 at once", 1.5),
    Target(*NODE_HTTP, "c1_cpu_us", "1 connection", 1.4),
    Target(*NODE_HTTP, "c32_cpu_us", "32 connections", 1.4),
]

# implementation, metric, what, most KiB: memory of a server over HTTP with 1,000 sessions
MEMORY = [
    ("barewire-python", "kib_per_session", "session, KiB", 12.0),
    ("barewire-python", "kib_per_stream", "session with stream, KiB", 12.0),
]

# What the Rust server over HTTP is to be cheaper in than each of the peers.
RIVALS = ("rmcp", "rmcp-nodelay", "rmcp-json")
RACES = {
    "cold_cpu_ms": "cold start",
    "rss_start_mib": "RSS after start",
    "c1_cpu_us": "1 connection",
    "c32_cpu_us": "32 connections",
    "big_result_cpu_ms_mib": "1 MiB result",
    "big_arg_cpu_ms_mib": "1 MiB argument",
    "progress_cpu_us": "progress",
    "kib_per_session": "session",
    "kib_per_stream": "session with stream",
}

# kind, revision, implementation, metric -> round -> value
Values = dict[tuple[str, str, str, str], dict[int, float]]


def read(path: Path) -> tuple[Values, list[str]]:
    values: Values = {}
    errors: list[str] = []
    document: dict[str, Any] = json.loads(path.read_text())
    for row in document["rows"]:
        where = (row["kind"], row["proto"], row["impl"])
        for metric, value in row["metrics"].items():
            values.setdefault((*where, metric), {})[row["round"]] = value
        for section, text in row["errors"].items():
            errors.append(f"{' '.join(where)} {section}: {text[:160]}")
    return values, errors


def ratio(values: Values, target: Target, revision: str) -> float | None:
    ours = values.get((target.kind, revision, target.impl, target.metric), {})
    floor = values.get((target.kind, revision, target.floor, target.metric), {})
    pairs = [ours[r] / floor[r] for r in ours if floor.get(r)]
    return statistics.median(pairs) if pairs else None


def median(values: Values, impl: str, metric: str, revision: str) -> float | None:
    found = values.get(("http", revision, impl, metric), {})
    return statistics.median(found.values()) if found else None


def verdict(measured: list[float | None], target: float) -> str:
    known = [m for m in measured if m is not None]
    if not known:
        return "not measured"
    return "met" if max(known) <= target else "missed"


def print_row(name: str, what: str, most: float, measured: list[float | None]) -> None:
    cells = "".join(f"{'-' if m is None else f'{m:.2f}':>12}" for m in measured)
    print(f"{name:<30}{what:<26}{most:>8.2f}{cells}  {verdict(measured, most)}")


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    path = Path(sys.argv[1])
    if path.is_dir():
        path = max(path.glob("bench-*.json"), key=lambda file: file.stat().st_mtime)
    values, errors = read(path)
    revisions = sorted({revision for _, revision, _, _ in values if revision})
    print(f"\nCPU and memory as ratios to the floor of the same language ({path.name})\n")
    heads = "".join(f"{revision:>12}" for revision in revisions)
    print(f"{'':<30}{'':<26}{'target':>8}{heads}")
    for target in TARGETS:
        measured = [ratio(values, target, revision) for revision in revisions]
        name = f"{target.impl} {'client' if target.kind == 'client' else ''}"
        print_row(name, target.what, target.ratio, measured)
    for impl, metric, what, most in MEMORY:
        measured = [median(values, impl, metric, revision) for revision in revisions]
        print_row(impl, what, most, measured)
    print("\nThe Rust server over HTTP beside the cheapest of " + ", ".join(RIVALS))
    for metric, what in RACES.items():
        measured = []
        for revision in revisions:
            targets = [Target("barewire-rust", "http", rival, metric, what, 1.0) for rival in RIVALS]
            found = [ratio(values, target, revision) for target in targets]
            measured.append(max((m for m in found if m is not None), default=None))
        print_row("barewire-rust", what, 1.0, measured)
    ours = [error for error in errors if "barewire" in error]
    for error in ours:
        print(f"failed: {error}")


if __name__ == "__main__":
    main()
