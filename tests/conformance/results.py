"""What the suite prints and writes, read: its lists of scenarios, its checks, and the failures we expect."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

Role = Literal["server", "client"]
ROLES: tuple[Role, ...] = ("server", "client")

Outcome = Literal["passed", "failed", "expected", "skipped"]

#: What counts as a failure: warnings too, since they stand for what the specification recommends.
FAULTS = ("FAILURE", "WARNING")
#: What the suite adds to every scenario: success means only that nothing ill-formed was sent.
WELL_FORMED = "wire-schema-valid"

_ITEM = re.compile(r"^\s+- (\S+)(?: \[(.*)\])?$")
_HEADING = re.compile(r"^(Server|Client) scenarios\b")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_STAMP = re.compile(r"-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z$")


@dataclass(frozen=True)
class Scenario:
    """One line of the suite's list: a name, and the revisions it is for."""

    name: str
    role: Role
    tags: tuple[str, ...] = ()

    @property
    def revisions(self) -> tuple[str, ...]:
        """The tags that are dates; a scenario of an extension has none."""
        return tuple(tag for tag in self.tags if _DATE.fullmatch(tag))


def read_list(text: str) -> list[Scenario]:
    """The scenarios that `conformance list` prints. In a requirement set, those that do not score come below
    the headings, and name their role as the tag.
    """
    role: Role | None = None
    found: list[Scenario] = []
    for line in text.splitlines():
        heading = _HEADING.match(line)
        item = _ITEM.match(line)
        if heading:
            role = "server" if heading[1] == "Server" else "client"
        elif item:
            tags = tuple((item[2] or "").split(",")) if item[2] else ()
            named = next((known for known in ROLES if known in tags), role)
            if named is None:
                raise ValueError(f"a scenario of neither role: {line!r}")
            found.append(Scenario(item[1], named, () if named in tags else tags))
    return found


@dataclass
class Verdict:
    """What came of one scenario, and why."""

    outcome: Outcome
    reasons: list[str] = field(default_factory=list)
    #: Checks that were not exercised although the scenario passed.
    unexercised: list[str] = field(default_factory=list)


def judge(checks: list[Mapping[str, Any]]) -> Verdict:
    """The verdict on the checks of one scenario."""
    faults = [check for check in checks if check["status"] in FAULTS]
    if faults:
        return Verdict("failed", _reasons(faults))
    skipped = _reasons(check for check in checks if check["status"] == "SKIPPED")
    done = {check["id"] for check in checks if check["status"] == "SUCCESS"}
    if skipped and done <= {WELL_FORMED}:
        return Verdict("skipped", skipped)
    if done:
        return Verdict("passed", unexercised=skipped)
    return Verdict("failed", ["no check was made"])


def _reasons(checks: Iterable[Mapping[str, Any]]) -> list[str]:
    """One line a check; the same words are said once."""
    lines: dict[str, str] = {}
    for check in checks:
        why = check.get("errorMessage") or check.get("description") or "no reason given"
        prefix = f"{check['status'].lower()} " if check["status"] in FAULTS else ""
        lines.setdefault(" ".join(str(why).split()), f"{prefix}{check['id']}")
    return [f"{name}: {why}" for why, name in lines.items()]


def read_folder(folder: Path, role: Role) -> dict[str, Verdict]:
    """The verdicts on all scenarios that the suite wrote below `folder`."""
    verdicts = {}
    for file in sorted(folder.rglob("checks.json")):
        name = _STAMP.sub("", file.parent.relative_to(folder).as_posix())
        if role == "server":
            name = name.removeprefix("server-")
        verdicts[name] = judge(json.loads(file.read_text(encoding="utf-8")))
    return verdicts


@dataclass(frozen=True)
class Expectation:
    """A failure that is known, and whose it is."""

    suite: str
    role: str
    scenario: str
    reason: str


def read_expectations(text: str) -> list[Expectation]:
    """The rows of expected.tsv: suite version, role, scenario, reason."""
    rows = [line.split("\t") for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return [Expectation(*row) for row in rows]


def expect(verdict: Verdict, expectation: Expectation | None) -> Verdict:
    """The verdict in the light of what is expected: a known failure is no failure, one that is gone is a
    failure, so that the list stays true.
    """
    if expectation is None or verdict.outcome == "skipped":
        return verdict
    if verdict.outcome == "failed":
        return Verdict("expected", [expectation.reason])
    return Verdict("failed", ["it passes, but stands in expected.tsv: take the row out"])
