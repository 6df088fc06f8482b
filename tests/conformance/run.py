#!/usr/bin/env python3
"""Run the official conformance suite against a binding of ours: `run.py BINDING [--only PATTERN]`.

Every server scenario of both pinned versions, at each revision the suite offers and in each of its
requirement sets, and every client scenario. A warning is a failure, and so is an
exit status. With `--only`, the scenarios whose name matches the shell pattern, each in an invocation of its
own.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import fnmatch
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))

import ports
from results import Expectation, Verdict, expect, read_expectations
from suite import HERE, ROOT, WORK, Job, Suite, end, run

SUITES = [Suite("0.1.16"), Suite("0.2.0-alpha.12")]
#: Every selection of the suite that names no revision.
ANY = "any revision"
#: Client scenarios for bindings that authorize themselves.
AUTHORIZATION = "auth/*"
#: The exit status of a build that lacks a library of the machine.
SKIPPED = 77
#: What the suite gives a client, which ends by itself a little earlier.
CLIENT_MILLISECONDS = 120_000
#: Its timing is what it checks, so that nothing of ours runs beside it.
TIMED = "sse-retry"
#: What it says of a client that came too late, as everyone does at times on a busy machine.
LATE = re.compile(r"\w+ client-sse-retry-timing: Client reconnected (?:slightly|very) late")
#: How often it runs then, at most: who comes in time once does not wait too long by itself.
TIMED_RUNS = 5


@dataclass(frozen=True)
class Binding:
    """The programs of one binding: relative to the checkout, without the spaces at which the suite splits."""

    #: Makes both of them; ends with status 77 where that cannot be.
    build: tuple[str, ...]
    #: Serves MCP at /mcp of the port that is appended.
    server: tuple[str, ...]
    #: Takes the URL of a server as its last argument.
    client: tuple[str, ...]
    #: Whether its client authorizes itself.
    authorizes: bool = True


BINDINGS = {
    "python": Binding(
        build=("tests/python_env.py", "tools"),
        server=(".work/venv/bin/python", "tests/conformance/python/everything_server.py", "--http"),
        client=(".work/venv/bin/python", "tests/conformance/python/everything_client.py"),
    ),
    "node": Binding(
        build=("tests/node_env.py", "build"),
        server=("node", "bindings-node/dist/conformance/everything_server.mjs", "--http"),
        client=("node", "bindings-node/dist/conformance/everything_client.mjs"),
    ),
    "c": Binding(
        build=("tests/c_env.py",),
        server=(".work/c/everything_server", "--http"),
        client=(".work/c/everything_client",),
    ),
}


@dataclass
class Row:
    """One scenario that ran."""

    job: Job
    scenario: str
    verdict: Verdict


# ---------------------------------------------------------------- what to run


def server_passes(suite: Suite) -> list[list[Job]]:
    """The server's work: the jobs of one pass share one server."""
    known = [scenario for scenario in suite.scenarios if scenario.role == "server"]
    names = tuple(scenario.name for scenario in known)
    if not suite.requirement_sets:
        # This version gives no scenario a deadline, so that each gets an invocation, which has one.
        return [[Job(suite, "server", ANY, ("--scenario", name), (name,)) for name in names]]
    jobs = [Job(suite, "server", ANY, ("--suite", "all"), names)]
    for revision in sorted({revision for scenario in known for revision in scenario.revisions}):
        fit = tuple(scenario.name for scenario in known if revision in scenario.revisions)
        jobs.append(Job(suite, "server", revision, ("--suite", "all", "--spec-version", revision), fit))
    for name, scenarios in suite.requirement_sets.items():
        fit = tuple(scenario.name for scenario in scenarios if scenario.role == "server")
        jobs.append(Job(suite, "server", f"required {name}", ("--requirements", name), fit))
    return [[job] for job in jobs]


def client_jobs(suite: Suite, binding: Binding) -> list[Job]:
    """The client's work: each scenario at each revision it is for, one an invocation."""
    jobs = []
    for scenario in suite.scenarios:
        is_later = fnmatch.fnmatch(scenario.name, AUTHORIZATION) and not binding.authorizes
        if scenario.role == "server" or is_later:
            continue
        # Without requirement sets, the version has one wire, and revisions only filter.
        revisions = scenario.revisions if suite.requirement_sets else ()
        for revision in revisions or (ANY,):
            flags = ("--scenario", scenario.name, *_at(revision))
            jobs.append(Job(suite, "client", revision, flags, (scenario.name,)))
    return jobs


def _at(revision: str) -> tuple[str, ...]:
    return () if revision == ANY else ("--spec-version", revision)


def narrowed(jobs: list[Job], pattern: str) -> list[Job]:
    """The scenarios that match, one an invocation; a requirement set runs as a whole only and falls away."""
    return [
        dataclasses.replace(job, flags=("--scenario", name, *_at(job.selection)), scenarios=(name,))
        for job in jobs
        if "--requirements" not in job.flags
        for name in job.scenarios
        if fnmatch.fnmatch(name, pattern)
    ]


# ---------------------------------------------------------------- running it


@contextlib.contextmanager
def serving(command: tuple[str, ...], log: Path) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """A server on a free port, as its URL and process. It may end before the block does."""
    port = ports.free_port()
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*command, str(port)],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    try:
        if not ports.wait_until_it_listens(process, port):
            end(process)
        yield f"http://127.0.0.1:{port}/mcp", process
    finally:
        end(process)


def run_server(binding: Binding, jobs: list[Job], folder: Path) -> list[Row]:
    """Run the jobs of one pass, one after another, against one server."""
    if not jobs:
        return []
    folder = folder / _slug(jobs[0])
    folder.mkdir(parents=True)
    rows = []
    log = folder / "server.log"
    with serving(binding.server, log) as (url, process):
        for number, job in enumerate(jobs):
            verdicts = run(job, ["--url", url], folder / str(number))
            rows += [Row(job, name, verdict) for name, verdict in verdicts.items()]
        status = process.poll()
    if status is not None:
        tail = log.read_text(errors="replace").strip().splitlines()[-10:]
        why = f"the server ended with status {status}: {' '.join(tail)}"
        rows.append(Row(jobs[-1], "(the server)", Verdict("failed", [why])))
    _tell(rows)
    return rows


def run_client(binding: Binding, job: Job, folder: Path) -> list[Row]:
    """Run one client scenario."""
    folder = folder / _slug(job) / job.scenarios[0].replace("/", "-")
    command = ["--command", " ".join(binding.client), "--timeout", str(CLIENT_MILLISECONDS)]
    verdicts = run(job, command, folder)
    rows = [Row(job, name, verdict) for name, verdict in verdicts.items()]
    _tell(rows)
    return rows


def run_timed_client(binding: Binding, job: Job, folder: Path) -> list[Row]:
    """Run the client scenario that measures time, again where it came late."""
    rows: list[Row] = []
    for number in range(TIMED_RUNS):
        rows = run_client(binding, job, folder / f"run-{number}")
        if not any(LATE.match(reason) for row in rows for reason in row.verdict.reasons):
            break
    return rows


def run_clients(binding: Binding, jobs: list[Job], folder: Path) -> list[Row]:
    """Run all client scenarios, two at a time where that disturbs nothing."""
    timed = [job for job in jobs if TIMED in job.scenarios]
    others = [job for job in jobs if TIMED not in job.scenarios]
    rows = [row for job in timed for row in run_timed_client(binding, job, folder)]
    with ThreadPoolExecutor(2) as pool:
        for found in pool.map(lambda job: run_client(binding, job, folder), others):
            rows += found
    return rows


def _slug(job: Job) -> str:
    return f"{job.suite.version}-{job.role}-{job.selection.replace(' ', '-')}"


def _tell(rows: list[Row]) -> None:
    """Progress: one line for what has just run."""
    job = rows[0].job
    what = rows[0].scenario if job.role == "client" else f"{len(rows)} scenarios"
    faults = sum(row.verdict.outcome == "failed" for row in rows)
    print(f"{job.suite.version} {job.role}, {job.selection}: {what}, {faults} with faults", flush=True)


# ---------------------------------------------------------------- what came of it


def with_expectations(rows: list[Row], known: list[Expectation], whole: bool) -> list[str]:
    """Change the verdicts to what is expected. Returns rows of the list that nothing bears out."""
    used = set()
    for row in rows:
        for entry in known:
            key = (row.job.suite.version, row.job.role, row.scenario)
            if key == (entry.suite, entry.role, entry.scenario):
                used.add(entry)
                row.verdict = expect(row.verdict, entry)
    unused = [entry for entry in known if whole and entry not in used]
    return [f"expected.tsv names a scenario that did not run: {entry.scenario}" for entry in unused]


def report(rows: list[Row], stale: list[str]) -> int:
    """Print all there is to say, ending with the counts; the exit status."""
    for outcome, heading in (("skipped", "skipped"), ("expected", "expected to fail"), ("failed", "FAILED")):
        chosen = [row for row in rows if row.verdict.outcome == outcome]
        if chosen:
            print(f"\n{heading}:")
        for row in chosen:
            place = f"{row.job.suite.version} {row.job.role}, {row.job.selection}"
            print(f"  {row.scenario} ({place})")
            for reason in row.verdict.reasons:
                print(f"      {reason}")
    partly = Counter(
        (row.scenario, reason)
        for row in rows
        if row.verdict.outcome == "passed"
        for reason in row.verdict.unexercised
    )
    if partly:
        print("\nnot exercised in scenarios that passed:")
    for (scenario, reason), times in partly.items():
        print(f"  {scenario} ({times}x): {reason}")
    _table(rows)
    for line in stale:
        print(line)
    counts = Counter(row.verdict.outcome for row in rows)
    failed = counts["failed"] + len(stale)
    left = counts["skipped"] + counts["expected"]
    print(f"\n{counts['passed']} passed, {failed} failed" + (f", {left} skipped" if left else ""))
    return 1 if failed or not rows else 0


def _table(rows: list[Row]) -> None:
    columns = ("passed", "failed", "expected", "skipped")
    print(f"\n{'suite':<15} {'role':<7} {'selection':<20}" + "".join(f"{name:>10}" for name in columns))
    groups: dict[tuple[str, str, str], Counter[str]] = {}
    for row in rows:
        key = (row.job.suite.version, row.job.role, row.job.selection)
        groups.setdefault(key, Counter())[row.verdict.outcome] += 1
    for (version, role, selection), counts in groups.items():
        numbers = "".join(f"{counts[name]:>10}" for name in columns)
        print(f"{version:<15} {role:<7} {selection:<20}{numbers}")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("binding", choices=sorted(BINDINGS))
    parser.add_argument("--only", metavar="PATTERN", help="such as 'tools-*'")
    arguments = parser.parse_args()
    subprocess.run([str(HERE / "install.sh"), str(WORK)], check=True)
    built = subprocess.run([sys.executable, *BINDINGS[arguments.binding].build], cwd=ROOT, check=False)
    if built.returncode == SKIPPED:
        print("\n0 passed, 0 failed, 1 skipped")
        return 0
    built.check_returncode()
    return conform(arguments.binding, arguments.only)


def conform(name: str, only: str | None = None) -> int:
    """Run what is asked for, and report; the exit status."""
    binding = BINDINGS[name]
    folder = WORK / "results" / name
    shutil.rmtree(folder, ignore_errors=True)
    rows: list[Row] = []
    for suite in SUITES:
        for jobs in server_passes(suite):
            rows += run_server(binding, jobs if only is None else narrowed(jobs, only), folder)
        jobs = client_jobs(suite, binding)
        rows += run_clients(binding, jobs if only is None else narrowed(jobs, only), folder)
    expected = read_expectations((HERE / "expected.tsv").read_text(encoding="utf-8"))
    return report(rows, with_expectations(rows, expected, whole=only is None))


if __name__ == "__main__":
    sys.exit(main())
