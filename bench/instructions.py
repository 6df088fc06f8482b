#!/usr/bin/env python3
"""Count the instructions of hot paths of core/examples/stdio_server.rs under callgrind.

usage: instructions.py [--write]       (compare with bench/instructions.txt, or write it anew)

The server reads a handshake and N messages from a file. The count of one message is what two values of N
differ by, divided by the difference: start and end cancel out. Counts do not depend on how busy the machine
is, but a little on the compiler and the C library.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
WORK = ROOT / ".work" / "bench"
KEPT = ROOT / "bench" / "instructions.txt"
LEGACY, MODERN = "2025-11-25", "2026-07-28"
FEW, MANY = 200, 1200
CLIENT = {"name": "instructions", "version": "1"}

Message = dict[str, Any]


def handshake(revision: str) -> list[Message]:
    if revision == MODERN:
        return []
    params = {"protocolVersion": revision, "capabilities": {}, "clientInfo": CLIENT}
    return [
        {"jsonrpc": "2.0", "id": "initialize", "method": "initialize", "params": params},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
    ]


def request(revision: str, number: int, method: str, params: Message) -> Message:
    if revision == MODERN:
        prefix = "io.modelcontextprotocol/"
        meta = {"protocolVersion": revision, "clientInfo": CLIENT, "clientCapabilities": {}}
        params = params | {"_meta": {prefix + key: value for key, value in meta.items()}}
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def call(tool: str, **arguments: Any) -> Message:
    return {"name": tool, "arguments": arguments}


# Name, revision, method, params.
PATHS = [
    ("echo, 64 bytes", LEGACY, "tools/call", call("echo", text="x" * 64)),
    ("echo, 64 bytes", MODERN, "tools/call", call("echo", text="x" * 64)),
    ("sink, 16 KiB", LEGACY, "tools/call", call("sink", text="x" * 16384)),
    ("sink, 16 KiB", MODERN, "tools/call", call("sink", text="x" * 16384)),
    ("tools/list", LEGACY, "tools/list", {}),
    ("tools/list", MODERN, "tools/list", {}),
    ("ping", LEGACY, "ping", {}),
    ("unknown tool", LEGACY, "tools/call", call("nowhere")),
    ("unknown method", MODERN, "nowhere", {}),
]


def instructions(server: Path, messages: list[Message]) -> int:
    text = "".join(json.dumps(message, separators=(",", ":")) + "\n" for message in messages)
    (WORK / "input.jsonl").write_text(text)
    command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={WORK / 'callgrind.out'}", str(server)]
    with (WORK / "input.jsonl").open() as stdin, (WORK / "output.jsonl").open("w") as stdout:
        run = subprocess.run(
            command, stdin=stdin, stdout=stdout, stderr=subprocess.PIPE, text=True, check=True
        )
    answers = (WORK / "output.jsonl").read_text().count("\n")
    expected = sum("id" in message for message in messages)
    if answers != expected:
        sys.exit(f"{answers} answers to {expected} requests: {messages[-1]}")
    found = re.search(r"Collected : (\d+)", run.stderr)
    if found is None:
        sys.exit(run.stderr)
    return int(found[1])


def build() -> Path:
    build = ["cargo", "build", "--release", "--locked", "-p", "barewire", "--example", "stdio_server"]
    subprocess.run(build, cwd=ROOT, check=True)
    return ROOT / os.environ.get("CARGO_TARGET_DIR", "target") / "release" / "examples" / "stdio_server"


def measure(server: Path) -> str:
    lines = ["# Instructions of one message, read to answer written; by bench/instructions.py.\n"]
    for name, revision, method, params in PATHS:
        counts = []
        for number in (FEW, MANY):
            requests = [request(revision, n, method, params) for n in range(number)]
            counts.append(instructions(server, handshake(revision) + requests))
        each = round((counts[1] - counts[0]) / (MANY - FEW))
        lines.append(f"{name:<16} {revision} {each:>9,}\n")
    return "".join(lines)


def main() -> None:
    if sys.argv[1:] not in ([], ["--write"]):
        sys.exit(__doc__)
    WORK.mkdir(parents=True, exist_ok=True)
    now = measure(build())
    if sys.argv[1:]:
        KEPT.write_text(now)
    else:
        print(f"kept:\n{KEPT.read_text()}\nnow:")
    print(now, end="")


if __name__ == "__main__":
    main()
