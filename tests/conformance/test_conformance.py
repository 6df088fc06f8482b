"""What the runner makes of the words of the suite."""

from __future__ import annotations

import json
import os
import select
import sys
from pathlib import Path
from typing import Any

import pytest
from results import Expectation, Scenario, Verdict, expect, judge, read_expectations, read_folder, read_list
from run import narrowed
from suite import Job, Suite, run, settle

SUITE = Suite("0")


def check(status: str, name: str = "rule", **members: Any) -> dict[str, Any]:
    return {"id": name, "status": status, "description": f"about {name}", **members}


def job(*scenarios: str) -> Job:
    return Job(SUITE, "server", "any revision", ("--suite", "all"), scenarios)


def test_a_list_has_roles_and_revisions() -> None:
    text = """Server scenarios (test against a server):
  - ping [2025-06-18,2025-11-25]
  - tasks-lifecycle [extension]

Client scenarios (test against a client):
  - auth/basic-cimd [2025-11-25]
"""
    assert read_list(text) == [
        Scenario("ping", "server", ("2025-06-18", "2025-11-25")),
        Scenario("tasks-lifecycle", "server", ("extension",)),
        Scenario("auth/basic-cimd", "client", ("2025-11-25",)),
    ]
    assert [scenario.revisions for scenario in read_list(text)[:2]] == [("2025-06-18", "2025-11-25"), ()]


def test_a_requirement_set_has_scenarios_that_do_not_score() -> None:
    text = """Required for 2025-11-25 (2 scenarios, frozen; run at the 2025-11-25 wire):

Server scenarios (test against a server):
  - ping

Client scenarios (test against a client):
  - initialize

Not scored:
  pending (1):
    - json-schema-2020-12 [server]
"""
    assert [(scenario.name, scenario.role) for scenario in read_list(text)] == [
        ("ping", "server"),
        ("initialize", "client"),
        ("json-schema-2020-12", "server"),
    ]


@pytest.mark.parametrize(
    ("statuses", "outcome"),
    [
        (["SUCCESS", "INFO"], "passed"),
        (["SUCCESS", "SKIPPED"], "passed"),
        (["SUCCESS", "FAILURE"], "failed"),
        (["SUCCESS", "WARNING"], "failed"),
        (["SKIPPED", "INFO"], "skipped"),
        (["INFO"], "failed"),
        ([], "failed"),
    ],
)
def test_checks_make_a_verdict(statuses: list[str], outcome: str) -> None:
    assert judge([check(status) for status in statuses]).outcome == outcome


def test_a_scenario_of_which_only_the_form_was_checked_is_skipped() -> None:
    verdict = judge([check("SUCCESS", "wire-schema-valid"), check("SKIPPED", errorMessage="not declared")])
    assert verdict == Verdict("skipped", ["rule: not declared"])


def test_reasons_are_said_once() -> None:
    verdict = judge([check("WARNING", errorMessage="too\n  slow"), check("WARNING", errorMessage="too slow")])
    assert verdict.reasons == ["warning rule: too slow"]


def test_folders_are_named_after_scenarios(tmp_path: Path) -> None:
    for folder in (
        "server-server-stateless-2026-11-30T17-56-09-281Z",
        "server-ping-2026-11-30T17-56-09-300Z",
    ):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "checks.json").write_text(json.dumps([check("SUCCESS")]))
    assert set(read_folder(tmp_path, "server")) == {"server-stateless", "ping"}
    assert set(read_folder(tmp_path, "client")) == {"server-server-stateless", "server-ping"}


def test_scenarios_without_a_result_have_failed() -> None:
    verdicts = settle(job("ping", "caching"), 1, {"ping": Verdict("passed")})
    assert verdicts["caching"] == Verdict("failed", ["no result; exit status 1"])
    assert settle(job("ping"), None, {})["ping"].reasons == ["nothing in 180 seconds"]


def test_an_exit_status_that_no_check_explains_is_a_failure() -> None:
    passed = {"ping": Verdict("passed")}
    assert settle(job("ping"), 0, passed)["ping"].outcome == "passed"
    verdict = settle(job("ping"), 1, passed, ["ValueError: no"])["ping"]
    assert verdict == Verdict("failed", ["exit status 1, although no check failed", "ValueError: no"])
    explained = settle(job("ping", "caching"), 1, {**passed, "caching": Verdict("failed", ["wrong"])})
    assert explained == {**passed, "caching": Verdict("failed", ["wrong"])}


def test_expected_failures_must_fail() -> None:
    (row,) = read_expectations("# a comment\n0\tserver\tping\tnot built yet\n")
    assert row == Expectation("0", "server", "ping", "not built yet")
    assert expect(Verdict("failed", ["wrong"]), row) == Verdict("expected", ["not built yet"])
    assert expect(Verdict("passed"), row).outcome == "failed"
    assert expect(Verdict("passed"), None).outcome == "passed"


def test_narrowing_runs_one_scenario_at_a_time() -> None:
    whole = Job(SUITE, "server", "2025-11-25", ("--suite", "all"), ("ping", "tools-list", "tools-call"))
    required = Job(SUITE, "server", "required 2025-11-25", ("--requirements", "2025-11-25"), ("tools-list",))
    found = narrowed([whole, required], "tools-*")
    assert [(job.scenarios, job.flags) for job in found] == [
        ((name,), ("--scenario", name, "--spec-version", "2025-11-25"))
        for name in ("tools-list", "tools-call")
    ]


def test_what_hangs_is_ended_with_all_that_it_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A pipe ends when nobody holds its other end any more.
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    hang = f"import os, time; f = open({str(pipe)!r}, 'w'); os.fork(); time.sleep(1000)"
    monkeypatch.setattr("suite.ALONE", 0.5)
    monkeypatch.setattr("suite.Suite.command", lambda suite, *arguments: [sys.executable, "-c", hang])
    verdicts = run(job("ping"), [], tmp_path / "results")
    assert verdicts["ping"] == Verdict("failed", ["nothing in 0.5 seconds"])
    assert select.select([reader], [], [], 20)[0]
    assert os.read(reader, 1) == b""
    os.close(reader)
