"""The tests in C: each under AddressSanitizer and UndefinedBehaviorSanitizer, all of them under Valgrind."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import building
import pytest

SOURCES = sorted(building.TESTS.glob("test_*.c"))
HARNESS = [building.TESTS / name for name in ("check.c", "pair.c")]
TEXT = {source.name: source.read_text() for source in SOURCES}
NAMES = re.findall(r"^TEST(?:_EVERYWHERE)?\((\w+)\)", "".join(TEXT.values()), re.MULTILINE)
SANITIZERS = ["-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]

# Numbers of errors that no test can bring about.
UNSEEN = {
    "BW_ERROR_POISONED": "it takes a defect; tested in Rust",
    "BW_ERROR_UNEXPECTED_HANDSHAKE": "such a message is refused or reported as a violation",
    "BW_ERROR_LIMIT_MEMORY": "the embedded profile has it alone, which has tests of its own",
    "BW_ERROR_LIMIT_MESSAGE_BYTES": "of what the peer sends: reported as a violation",
    "BW_ERROR_LIMIT_DEPTH": "of what the peer sends: reported as a violation",
    "BW_ERROR_LIMIT_QUEUED_EVENTS": "of what the peer sends: reported as a violation",
    "BW_ERROR_LIMIT_BATCH_ITEMS": "of what the peer sends: reported as a violation",
}


@pytest.fixture(scope="session")
def sanitized(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("suite") / "sanitized"
    return building.build(program, [*HARNESS, *SOURCES], *SANITIZERS)


def run(*command: str | Path) -> None:
    environment = os.environ | {"ASAN_OPTIONS": "detect_leaks=1:detect_stack_use_after_return=1"}
    done = subprocess.run(command, capture_output=True, env=environment, timeout=600)
    assert done.returncode == 0, (done.stdout + done.stderr).decode(errors="replace")


@pytest.mark.parametrize("name", NAMES)
def test_sanitized(sanitized: Path, name: str) -> None:
    run(sanitized, name)


def test_valgrind(tmp_path: Path) -> None:
    program = building.build(tmp_path / "suite", [*HARNESS, *SOURCES], "-g")
    run("valgrind", "--quiet", "--error-exitcode=9", "--leak-check=full", "--show-leak-kinds=all", program)


def used(source: Path, folder: Path) -> set[str]:
    """The functions of the library that the source calls."""
    compiled = folder / f"{source.stem}.o"
    subprocess.run([*building.C99, "-I", building.C / "include", "-c", source, "-o", compiled], check=True)
    listing = subprocess.run(["nm", "-u", compiled], check=True, capture_output=True, text=True)
    return {line.split()[-1] for line in listing.stdout.splitlines()}


def test_every_function_is_tested(tmp_path: Path) -> None:
    """In its use, and given NULL."""
    (nulls,) = (source for source in SOURCES if source.name == "test_null.c")
    assert building.functions(taking=r"\*|bw_bytes") - used(nulls, tmp_path) == set()
    others = [*HARNESS, *(source for source in SOURCES if source != nulls)]
    assert building.functions() - set().union(*(used(source, tmp_path) for source in others)) == set()


def test_every_error_is_brought_about() -> None:
    caused = set(re.findall(r"(?:FAILS\(|== )(BW_ERROR_\w+)\b", "".join(TEXT.values())))
    assert set(building.numbers("BW_ERROR_")) - caused == UNSEEN.keys()


def test_every_event_is_told() -> None:
    text = "".join(TEXT.values()) + (building.TESTS / "pair.c").read_text()
    told = set(re.findall(r"(?:tells|told)\([^;]*?(BW_EVENT_\w+)\)|!= (BW_EVENT_\w+)\);", text))
    told = {name for pair in told for name in pair}
    assert set(building.numbers("BW_EVENT_")) - told == {"BW_EVENT_NONE"}
