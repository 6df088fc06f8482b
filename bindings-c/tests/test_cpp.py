"""barewire.hpp: its tests in C++ with sanitizers and Valgrind, and its examples as their users build them."""

from __future__ import annotations

import contextlib
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import barewire
import building
import pytest
from barewire import sansio, sync

HEADERS = [building.C / "include" / "barewire.hpp", *sorted((building.C / "include" / "barewire").glob("*.hpp"))]
SOURCES = sorted((building.TESTS / "cpp").glob("*.cpp"))
BARE = ["-fno-exceptions", "-fno-rtti"]
CPP17 = ["c++", "-std=c++17", "-D_GNU_SOURCE"]
COMPILERS = [
    [compiler, f"-std=c++{year}", *options]
    for compiler in ("c++", "clang++")
    for year in (17, 20)
    for options in ([], BARE)
]

# As a program that takes everything in twice.
PROGRAM = """
#include <barewire.hpp>
#include <barewire.hpp>

int main()
{
    return barewire::version_number() != BW_VERSION_NUMBER;
}
"""


@pytest.mark.parametrize("compiler", COMPILERS, ids=" ".join)
def test_header(compiler: Sequence[str], tmp_path: Path) -> None:
    if shutil.which(compiler[0]) is None:
        pytest.skip(f"no {compiler[0]}")
    source = tmp_path / "program.cpp"
    source.write_text(PROGRAM)
    program = building.build(
        tmp_path / "program", [source], "-Wconversion", "-Wshadow", "-Wold-style-cast", compiler=compiler
    )
    subprocess.run([program], check=True)


@pytest.mark.parametrize("header", HEADERS, ids=lambda header: header.name)
def test_each_header_stands_alone(header: Path) -> None:
    command = [*CPP17, *building.WARNINGS, "-fsyntax-only", "-include", header, "-x", "c++", "/dev/null"]
    subprocess.run(command, check=True)


def test_suite_under_sanitizers(tmp_path: Path) -> None:
    sanitizers = ["-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    subprocess.run([building.build(tmp_path / "suite", SOURCES, *sanitizers, compiler=CPP17)], check=True)


def test_suite_under_valgrind(tmp_path: Path) -> None:
    """Without exceptions and run-time type information."""
    program = building.build(tmp_path / "suite", SOURCES, "-g", *BARE, compiler=CPP17)
    leaks = ["--leak-check=full", "--show-leak-kinds=all", "--errors-for-leak-kinds=all"]
    subprocess.run(["valgrind", "--quiet", "--error-exitcode=9", *leaks, program], check=True)


def test_every_function_is_wrapped_and_tested(tmp_path: Path) -> None:
    """What no test calls of a header, no compiler puts into a program."""
    command = [*CPP17, "-I", building.C / "include", "-c", *SOURCES]
    subprocess.run(command, check=True, cwd=tmp_path)
    objects = sorted(tmp_path.glob("*.o"))
    listing = subprocess.run(["nm", "-u", *objects], check=True, capture_output=True, text=True)
    assert set(building.functions()) - {line.split()[-1] for line in listing.stdout.splitlines() if line} == set()


# Members of events in barewire.h that go by another name or lie in a value.
INSIDE = {
    **dict.fromkeys(["code", "message", "data", "http_status"], "failure"),
    "template": "uri_template",
    "the": "context",
}


def structures() -> dict[str, list[set[str]]]:
    """The members of the structures in event.hpp by the kinds of event that they are of."""
    found: dict[str, list[set[str]]] = {}
    text = (building.C / "include" / "barewire" / "event.hpp").read_text()
    for body in re.findall(r"^struct \w+ \{\n(.*?)^\};", text, re.MULTILINE | re.DOTALL):
        if kind := re.search(r"kind = (BW_EVENT_\w+);", body):
            found.setdefault(kind[1], []).append(set(re.findall(r"^    [\w:<>]+ (\w+);", body, re.MULTILINE)))
    return found


def documented() -> dict[str, set[str]]:
    """The members of events by their kinds, as barewire.h tells them."""
    text = building.HEADER.read_text()
    members = {}
    for comment, kind in re.findall(r"/\*\*((?:(?!\*/).)*)\*/\s+(BW_EVENT_\w+) = ", text, re.DOTALL):
        flat = re.sub(r"\([^)]*\)|\s+\*\s+", " ", comment)
        told = " ".join(re.findall(r"(?:Members:|ended\. Members:) ([^.:]*)", flat))
        members[kind] = set(re.findall(r"[a-z_]+", told)) - {"and", "or", "context", "as"}
    members["BW_EVENT_SESSION_REPLACED"] = members["BW_EVENT_READY"]
    return members


def test_every_event_has_its_members() -> None:
    told, kept = documented(), structures()
    assert told.keys() - kept.keys() == {"BW_EVENT_NONE"}
    assert sum(map(bool, told.values())) > 30
    for kind, members in kept.items():
        # Of a kind that both roles have, each has what is its own.
        both = set().union(*members)
        assert {member for member in told[kind] if not {member, INSIDE.get(member)} & both} == set(), kind


@pytest.fixture(scope="session")
def examples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cpp")
    for name in ("hello_server", "stdio_client"):
        building.build(folder / name, [building.EXAMPLES / f"{name}.cpp"], *BARE, compiler=CPP17)
    return folder


@pytest.mark.parametrize("revision", sansio.REVISIONS)
def test_hello_server_speaks_every_revision(examples: Path, revision: str) -> None:
    with sync.Client(command=[str(examples / "hello_server")], revisions=[revision]) as client:
        assert client.revision == revision
        assert [tool.name for tool in client.tools()] == ["greet"]
        result = client.call_tool("greet", {"name": 'W\u00f6rld "\n\u2603"'})
        assert result.content == [barewire.Text('Hello, W\u00f6rld "\n\u2603"!')]
        # Older revisions have an error for it, newer ones a result that says so.
        with contextlib.suppress(barewire.RpcError):
            assert client.call_tool("greet", {"name": 7}).is_error


def test_hello_server_ends_with_its_input(examples: Path) -> None:
    done = subprocess.run([examples / "hello_server"], input=b"noise\n", capture_output=True, timeout=10)
    assert done.returncode == 0
    assert b'"code":-32700' in done.stdout


SERVER = """
import sys
import barewire
from barewire import Server

server = Server("peer", revisions=[sys.argv[1]])

@server.tool
def shout(text: str) -> str:
    return text.upper()

server.run()
"""


def call(examples: Path, arguments: str, *command: str | Path) -> subprocess.CompletedProcess[str]:
    program = [examples / "stdio_client", command[-1], arguments, *command[:-1]]
    return subprocess.run(program, capture_output=True, text=True, timeout=60)
