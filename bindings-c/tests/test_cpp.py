"""barewire.hpp: its tests in C++ with sanitizers and Valgrind, and its examples as their users build them."""

from __future__ import annotations

import contextlib
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import barewire
import building
import pytest
from barewire import sansio, sync

sys.path.insert(0, str(building.ROOT / "tests"))

import c_env

INCLUDE = building.C / "include"
HEADERS = [INCLUDE / "barewire.hpp", *sorted((INCLUDE / "barewire").glob("*.hpp"))]
SOURCES = sorted((building.TESTS / "cpp").glob("*.cpp"))
BARE = ["-fno-exceptions", "-fno-rtti"]
WARNINGS = ["-Wconversion", "-Wshadow"]
# Beyond what the suite is built with.
COMPILERS = [["c++", "-std=c++20"], ["clang++", "-std=c++17"], ["clang++", "-std=c++20", *BARE]]


@pytest.mark.parametrize("compiler", COMPILERS, ids=" ".join)
def test_dialects(compiler: Sequence[str]) -> None:
    if shutil.which(compiler[0]) is None:
        pytest.skip(f"no {compiler[0]}")
    options = [*building.WARNINGS, *WARNINGS, f"-I{INCLUDE}"]
    subprocess.run([*compiler, *options, "-fsyntax-only", *map(str, SOURCES)], check=True)


@pytest.mark.parametrize("header", HEADERS, ids=lambda header: header.name)
def test_each_header_stands_alone(header: Path) -> None:
    """And may be included twice."""
    twice = ["-include", str(header), "-include", str(header)]
    command = [*building.CPP17, *building.WARNINGS, "-fsyntax-only", *twice, "-x", "c++", "/dev/null"]
    subprocess.run(command, check=True)


@pytest.fixture(scope="session")
def objects(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The suite, without exceptions and run-time type information."""
    folder = tmp_path_factory.mktemp("suite")
    options = [*building.WARNINGS, *WARNINGS, *BARE, "-g", f"-I{INCLUDE}"]
    subprocess.run([*building.CPP17, *options, "-c", *map(str, SOURCES)], check=True, cwd=folder)
    return sorted(folder.glob("*.o"))


def test_suite_under_valgrind(objects: list[Path], tmp_path: Path) -> None:
    program = building.build(tmp_path / "suite", objects, compiler=building.CPP17)
    leaks = ["--leak-check=full", "--show-leak-kinds=all", "--errors-for-leak-kinds=all"]
    subprocess.run(["valgrind", "--quiet", "--error-exitcode=9", *leaks, program], check=True)


def test_suite_under_sanitizers(tmp_path: Path) -> None:
    sanitizers = ["-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    subprocess.run(
        [building.build(tmp_path / "suite", SOURCES, *sanitizers, compiler=building.CPP17)], check=True
    )


def test_every_function_is_wrapped_and_tested(objects: list[Path]) -> None:
    """What no test calls of a header, no compiler puts into a program."""
    listing = subprocess.run(["nm", "-u", *objects], check=True, capture_output=True, text=True)
    used = {line.split()[-1] for line in listing.stdout.splitlines() if line}
    assert building.functions() - used == set()


# Members of events in barewire.h that go by another name or lie in a value.
INSIDE = {
    **dict.fromkeys(["code", "message", "data", "http_status"], "failure"),
    "template": "uri_template",
    "the": "context",
}


def structures() -> dict[str, list[set[str]]]:
    """The members of the structures in event.hpp by the kinds of event that they are of."""
    found: dict[str, list[set[str]]] = {}
    text = (INCLUDE / "barewire" / "event.hpp").read_text()
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
        building.build(folder / name, [building.EXAMPLES / f"{name}.cpp"], *BARE, compiler=building.CPP17)
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
    done = subprocess.run([examples / "hello_server"], input=b"noise\n", capture_output=True, timeout=60)
    assert done.returncode == 0
    assert b'"code":-32700' in done.stdout


# A server on the Python package in one revision.
SERVER = """
import sys

import barewire

server = barewire.Server("peer", revisions=[sys.argv[1]])


@server.tool
def shout(text: str) -> str:
    if not text:
        raise barewire.ToolError("nothing to shout")
    return text.upper()


server.run()
"""


def call(examples: Path, tool: str, arguments: str, *server: str | Path) -> subprocess.CompletedProcess[str]:
    program = [examples / "stdio_client", tool, arguments, *server]
    return subprocess.run(program, capture_output=True, text=True, timeout=180)


@pytest.mark.parametrize("revision", sansio.REVISIONS)
def test_stdio_client_speaks_every_revision(examples: Path, tmp_path: Path, revision: str) -> None:
    server = tmp_path / "server.py"
    server.write_text(SERVER)
    command = [sys.executable, str(server), revision]
    done = call(examples, "shout", '{"text": "\\u00fc\\n\\"x"}', *command)
    assert (done.returncode, done.stdout, done.stderr) == (0, 'tool shout\n\u00dc\n"X\n', "")
    done = call(examples, "shout", '{"text": ""}', *command)
    assert (done.returncode, done.stdout) == (2, "tool shout\nnothing to shout\n")


def test_stdio_client_calls_the_server_in_cpp(examples: Path) -> None:
    done = call(examples, "greet", '{"name": "you"}', examples / "hello_server")
    assert (done.returncode, done.stdout) == (0, "tool greet\nHello, you!\n")


def test_stdio_client_says_why_it_failed(examples: Path) -> None:
    done = call(examples, "none", "{}", examples / "hello_server")
    assert done.returncode == 1 and "-32602" in done.stderr
    done = call(examples, "none", "{}", examples / "no such program")
    assert done.returncode == 1 and "603" in done.stderr
    done = call(examples, "greet", "{", examples / "hello_server")
    assert done.returncode == 1 and "JSON" in done.stderr


def test_stdio_client_ends_a_server_that_stays(examples: Path) -> None:
    staying = f"'{examples / 'hello_server'}'; exec sleep 60"
    started = time.monotonic()
    done = call(examples, "greet", '{"name": "you"}', "sh", "-c", staying)
    assert (done.returncode, done.stdout) == (0, "tool greet\nHello, you!\n")
    assert time.monotonic() - started < 30


@pytest.fixture(scope="session")
def http_examples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """On the hosts of the C examples."""
    if packages := c_env.missing():
        pytest.skip(f"not installed: {' and '.join(packages)}")
    return building.build_http_in_cpp(tmp_path_factory.mktemp("http"))


@pytest.mark.parametrize("revision", sansio.REVISIONS)
def test_http_server_asks_in_every_revision(http_examples: Path, revision: str) -> None:
    asked: list[str] = []

    def agree(question: barewire.ElicitRequest) -> dict[str, bool]:
        asked.append(question.message)
        return {"sure": True}

    with building.serving(http_examples / "http_server") as port:
        url = f"http://127.0.0.1:{port}/mcp"
        with sync.Client(url, revisions=[revision], on_elicit=agree) as client:
            result = client.call_tool("deploy", {"target": "prod"})
            # Older revisions have no such question.
            can_ask = revision >= "2025-06-18"
            assert result.is_error is not can_ask and asked == ["Deploy to prod?"] * can_ask
            assert not can_ask or result.content == [barewire.Text("deployed")]


@pytest.mark.parametrize(
    ("line", "outcome"),
    [
        ('{"sure": true}\n', (0, "Deploy to prod?\ndeployed\n")),
        ('{"sure": false}\n', (0, "Deploy to prod?\nleft as it is\n")),
        ("", (0, "Deploy to prod?\nleft as it is\n")),
        ("{\n", (1, "Deploy to prod?\n")),
    ],
)
def test_http_client_asks_whoever_sits_there(
    http_examples: Path, line: str, outcome: tuple[int, str]
) -> None:
    with building.serving(http_examples / "http_server") as port:
        command = [
            str(http_examples / "http_client"),
            f"http://127.0.0.1:{port}/mcp",
            "deploy",
            '{"target": "prod"}',
        ]
        done = subprocess.run(command, input=line, capture_output=True, text=True, timeout=180)
    assert (done.returncode, done.stdout) == outcome


def test_http_client_says_why_it_failed(http_examples: Path) -> None:
    command = [str(http_examples / "http_client"), "http://127.0.0.1:1/mcp", "deploy"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=180)
    assert (done.returncode, done.stderr) == (1, "611: the server cannot be reached\n")
