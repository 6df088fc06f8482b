#!/usr/bin/env python3
"""Run the checks of the project one after another and add up what their runners counted.

usage: summary.py [--list] [STEP...]

Without arguments every step runs. A step that is named brings the steps it needs. A step that counts nothing
itself (a linter, a build) counts as one. The last line holds the sums; the status is 1 when anything failed.
"""

from __future__ import annotations

import contextlib
import os
import re
import resource
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# Longest time any step may take, in seconds, and what it left running may go on to write.
PATIENCE = 2400
LAST_WORDS = 30

# What makes a terminal show colours, and what tells programs to write that to files, too.
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
COLOURING = ["FORCE_COLOR", "CLICOLOR_FORCE", "PY_COLORS"]
# Servers of the tests, which no proxy leads to.
LOOPBACK = ["127.0.0.1", "localhost", "::1"]
# Descriptors that the tests of many connections need, both ends of which are in one process.
DESCRIPTORS = 4096


@dataclass
class Counts:
    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def add(self, other: Counts) -> None:
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped

    def total(self) -> int:
        return self.passed + self.failed + self.skipped

    def __str__(self) -> str:
        skipped = f", {self.skipped} skipped" if self.skipped else ""
        return f"{self.passed} passed, {self.failed} failed{skipped}"


def number_before(word: str, text: str) -> int:
    return sum(int(n) for n in re.findall(rf"(\d+) {word}\b", text))


def count_cargo(output: str) -> Counts:
    """`test result: ok. 3 passed; 0 failed; 0 ignored; …`, one a test binary."""
    results = "\n".join(re.findall(r"^test result: .*", output, re.MULTILINE))
    return Counts(*(number_before(word, results) for word in ("passed", "failed", "ignored")))


def count_pytest(output: str) -> Counts:
    """`=== 1 failed, 8 passed, 1 skipped in 0.1s ===`, the last line of that form."""
    lines = re.findall(r"^(?:=+ )?(\d+ [a-z]+.*) in [\d.]+s\b", output, re.MULTILINE)
    last = lines[-1] if lines else ""
    skipped = number_before("skipped", last) + number_before("xfailed", last)
    return Counts(number_before("passed", last), number_before("(?:failed|errors?)", last), skipped)


def count_node(output: str) -> Counts:
    """`# pass 3`, `# fail 0`, `# skipped 1` at the end, each on a line; some reporters have another mark."""
    found = dict(re.findall(r"^. (pass|fail|cancelled|skipped) (\d+)$", output, re.MULTILINE))
    failed = int(found.get("fail", 0)) + int(found.get("cancelled", 0))
    return Counts(int(found.get("pass", 0)), failed, int(found.get("skipped", 0)))


def count_closing_line(output: str) -> Counts:
    """`8 passed, 0 failed` or `8 passed, 0 failed, 1 skipped` alone on a line: how scripts of ours end."""
    lines = re.findall(r"^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$", output, re.MULTILINE)
    return Counts(*(int(n or 0) for n in lines[-1])) if lines else Counts()


@dataclass
class Step:
    name: str
    what: str
    command: list[str]
    count: Callable[[str], Counts] | None = None
    needs: list[str] = field(default_factory=list)
    env: dict[str, str] = field(default_factory=dict)


def cargo(arguments: str) -> list[str]:
    return ["cargo", *arguments.split()]


def python(*arguments: str) -> list[str]:
    return [str(ROOT / ".work/venv/bin/python"), "-m", *arguments]


DEMO_PYTHON = str(ROOT / ".work/venv/bin/python")
CLIPPY = "clippy --workspace --all-targets -- -D warnings"
C_TESTS = "test --no-fail-fast -p barewire-c"
C_PYTEST = python("pytest", "bindings-c/tests")
C_SOURCES = '"*.c" "*.[ch]pp" "*.h" ":!*/barewire.h" ":!bindings-c/header"'
C_FORMAT = ["sh", "-c", f".work/venv/bin/clang-format --dry-run -Werror $(git ls-files {C_SOURCES})"]
C_HEADER = "run --quiet -p barewire-c-header -- --check"
CONFORMANCE = [sys.executable, "tests/conformance/run.py", "python"]
AUTHORIZATION = ["tests/authorization/run.sh"]
C_CONFORMANCE = [sys.executable, "tests/conformance/run.py", "c"]
NODE_CONFORMANCE = [sys.executable, "tests/conformance/run.py", "node"]
PYTEST = python("pytest", "bindings-python/tests", "tests/conformance")
NODE_ENV = [sys.executable, "tests/node_env.py"]
NODE_TESTS = ["sh", "-c", "node --test bindings-node/dist/tests/*.test.mjs"]
INTEROP = ["tests/interop/run.sh"]
UNIFFI_TESTS = python("pytest", "-rfEs", "bindings-uniffi/tests")
STUBTEST = python("mypy.stubtest", "barewire._native")

STEPS = [
    Step("fmt", "cargo fmt", cargo("fmt --all --check")),
    Step("clippy", "clippy, warnings are errors", cargo(CLIPPY)),
    Step("rust", "Rust tests, requirements, import rules", cargo("test --no-fail-fast"), count_cargo),
    Step("no-std", "the core links and runs without std", ["tests/no_std.sh"]),
    Step("docs", "rustdoc, warnings are errors", cargo("doc --no-deps"), env={"RUSTDOCFLAGS": "-D warnings"}),
    Step("wheel", "wheel and tools in .work/venv", [sys.executable, "tests/python_env.py", "tools"]),
    Step("ruff-format", "ruff format", python("ruff", "format", "--check", "."), needs=["wheel"]),
    Step("ruff", "ruff check", python("ruff", "check", "."), needs=["wheel"]),
    Step("mypy", "mypy --strict", python("mypy"), needs=["wheel"]),
    Step("stubtest", "stubs agree with the module", STUBTEST, needs=["wheel"]),
    Step("pytest", "Python tests", PYTEST, count_pytest, needs=["wheel"]),
    Step("node", "addon and sources of bindings-node", [*NODE_ENV, "build"]),
    Step("node-lint", "prettier, committed declarations", [*NODE_ENV, "lint"], needs=["node"]),
    Step("node-pack", "npm packages, installed and loaded", [*NODE_ENV, "pack"], needs=["node"]),
    Step("node-runtimes", "versions of Node, Bun and Deno", [*NODE_ENV, "runtimes"]),
    Step("node-test", "Node tests", NODE_TESTS, count_node, needs=["node"]),
    Step("c-format", "clang-format", C_FORMAT, needs=["wheel"]),
    Step("c-header", "the committed header of the C library", cargo(C_HEADER)),
    Step("c-library", "libbarewire, static and shared", cargo("build -p barewire-c-library")),
    Step("c-unit", "Rust tests of the C interface", cargo(C_TESTS), count_cargo),
    Step("c-test", "C programs and installation", C_PYTEST, count_pytest, needs=["wheel", "c-library"]),
    Step("uniffi-unit", "the border of bindings-uniffi", cargo("test -p barewire-uniffi"), count_cargo),
    Step("uniffi", "library and sources of bindings-uniffi", [sys.executable, "tests/uniffi_env.py"]),
    Step("uniffi-test", "Kotlin, Ruby, Swift", UNIFFI_TESTS, count_pytest, needs=["wheel", "uniffi"]),
    Step("embedded", "the embedded profile", ["tests/embedded/run.py"], count_closing_line),
    Step("demo", "make demo", [DEMO_PYTHON, "bindings-python/examples/demo.py"], needs=["wheel"]),
    Step("interop", "published peers", INTEROP, count_closing_line, needs=["wheel", "node", "c-library"]),
    Step(
        "authorization",
        "a real authorization server",
        AUTHORIZATION,
        count_closing_line,
        needs=["wheel", "c-library"],
    ),
    Step("conformance", "the official suite", CONFORMANCE, count_closing_line, needs=["wheel"]),
    Step("node-conformance", "it with Node", NODE_CONFORMANCE, count_closing_line, needs=["node"]),
    Step("c-conformance", "it with C", C_CONFORMANCE, count_closing_line, needs=["c-library"]),
    Step("fuzz", "each fuzz target for a while", ["tests/fuzz_smoke.sh"], count_closing_line),
]


@dataclass
class Outcome:
    step: Step
    counts: Counts
    seconds: float
    note: str = ""
    output: str = ""


#: Lines that say what failed, in the forms of the tools that the steps run.
FAILURE = re.compile(
    r"^(?:FAILED|ERROR|E  |[Ee]rror|failed|fail )|^\s*not ok|^test .* FAILED|panicked at|AssertionError"
)
#: Lines that are shown again of a step that failed: those that say what failed, and the last ones.
FAILURE_LINES, LAST_LINES = 40, 15


def excerpt(output: str) -> list[str]:
    """What failed, in few lines: the end of the output of all steps is what is looked at first."""
    lines = output.splitlines()
    told = [line for line in lines[:-LAST_LINES] if FAILURE.search(line)]
    return [*told[-FAILURE_LINES:], *lines[-LAST_LINES:]]


def environment(step: Step) -> dict[str, str]:
    """That of this process, except for what would keep the tests from their own servers."""
    direct = {
        name: ",".join([*filter(None, [os.environ.get(name)]), *LOOPBACK])
        for name in ("no_proxy", "NO_PROXY")
    }
    inherited = {name: value for name, value in os.environ.items() if name not in COLOURING}
    return inherited | direct | step.env


def allow_descriptors() -> None:
    """As many as the tests need, if they may be had."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    enough = DESCRIPTORS if hard == resource.RLIM_INFINITY else min(DESCRIPTORS, hard)
    if soft != resource.RLIM_INFINITY and soft < enough:
        resource.setrlimit(resource.RLIMIT_NOFILE, (enough, hard))


def stream(step: Step) -> tuple[int, str]:
    """Run the step's command, show what it prints as it comes, and return its status and output."""
    process = subprocess.Popen(
        step.command,
        cwd=ROOT,
        env=environment(step),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
        start_new_session=True,
    )
    lines: list[str] = []

    def show() -> None:
        for line in process.stdout or ():
            lines.append(COLOUR.sub("", line))
            print(line, end="", flush=True)

    reader = threading.Thread(target=show, daemon=True)
    reader.start()
    try:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(PATIENCE)
    finally:
        # What it leaves running would keep its output open, and ports that others want.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        status = process.wait()
        reader.join(LAST_WORDS)
    return status, "".join(lines)


def run(step: Step, failed: set[str]) -> Outcome:
    print(f"\n=== {step.name}: {step.what}\n$ {shlex.join(step.command)}", flush=True)
    blocked = [need for need in step.needs if need in failed]
    if blocked:
        return Outcome(step, Counts(failed=1), 0, f"needs {blocked[0]}")
    start = time.monotonic()
    try:
        status, output = stream(step)
    except OSError as error:
        return Outcome(step, Counts(failed=1), 0, str(error))
    seconds = time.monotonic() - start
    if step.count is None:
        return Outcome(step, Counts(failed=1) if status else Counts(passed=1), seconds, output=output)
    counts = step.count(output)
    if status and not counts.failed:
        counts.failed += 1
        return Outcome(step, counts, seconds, f"ended with status {status}", output)
    if not counts.total():
        return Outcome(step, Counts(failed=1), seconds, "counted nothing", output)
    return Outcome(step, counts, seconds, output=output)


def choose(names: list[str]) -> list[Step]:
    """The named steps and what they need, in the order of the table; all steps when none is named."""
    known = {step.name: step for step in STEPS}
    unknown = [name for name in names if name not in known]
    if unknown:
        sys.exit(f"no such step: {', '.join(unknown)}; see --list")
    wanted = set(names or known)
    for step in reversed(STEPS):
        if step.name in wanted:
            wanted.update(step.needs)
    return [step for step in STEPS if step.name in wanted]


def main() -> int:
    arguments = sys.argv[1:]
    if arguments == ["--list"]:
        for step in STEPS:
            print(f"{step.name:<12} {step.what}")
        return 0
    allow_descriptors()
    outcomes: list[Outcome] = []
    failed: set[str] = set()
    for step in choose(arguments):
        outcome = run(step, failed)
        outcomes.append(outcome)
        if outcome.counts.failed:
            failed.add(step.name)
    total = Counts()
    print(f"\n{'step':<12} {'passed':>7} {'failed':>7} {'skipped':>8} {'seconds':>8}")
    for outcome in outcomes:
        c = outcome.counts
        total.add(c)
        row = f"{outcome.step.name:<12} {c.passed:>7} {c.failed:>7} {c.skipped:>8} {outcome.seconds:>8.1f}"
        print(f"{row}  {outcome.note}".rstrip())
    for outcome in outcomes:
        if outcome.counts.failed and outcome.output:
            print(f"\n--- {outcome.step.name} failed:", *excerpt(outcome.output), sep="\n")
    print(f"\n{total}")
    return 1 if total.failed else 0


if __name__ == "__main__":
    sys.exit(main())
