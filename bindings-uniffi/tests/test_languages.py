"""Programs in the languages that bindings-uniffi is for, against each other and the Python package."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from barewire.sansio import LEGACY_REVISIONS, REVISIONS

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "bindings-uniffi"
GENERATED = ROOT / ".work" / "uniffi"
CLASSES = ROOT / ".work" / "uniffi-kotlin"
EXAMPLES = PACKAGE / "examples"
PEERS = PACKAGE / "tests"

# Longest time a program may take, in seconds; a build of the Kotlin sources on a busy machine takes the most.
PATIENCE = 300
BUILD_PATIENCE = 900

Command = list[str]


def output(command: Command) -> str:
    done = subprocess.run(command, stdout=subprocess.PIPE, timeout=PATIENCE, cwd=ROOT)
    assert done.returncode == 0, f"{command} ended with {done.returncode}"
    return done.stdout.decode()


@pytest.fixture(scope="session")
def ruby() -> Callable[[Path], Command]:
    """How a Ruby program is run."""
    has_ffi = shutil.which("ruby") and not subprocess.run(["ruby", "-rffi", "-e", ""]).returncode
    if not has_ffi:
        pytest.skip("needs ruby with the gem ffi")
    return lambda program: ["ruby", f"-I{GENERATED / 'ruby'}", str(program)]


@pytest.fixture(scope="session")
def kotlin() -> Callable[[str], Command]:
    """How the main function of a Kotlin file is run; all are compiled first."""
    if not shutil.which("mvn") or not shutil.which("java"):
        pytest.skip("needs mvn and java")
    places = [f"-Dgenerated={GENERATED / 'kotlin'}", f"-Doutput={CLASSES}"]
    maven = ["mvn", "--batch-mode", "--quiet", "--file", str(EXAMPLES / "kotlin"), *places, "compile"]
    compiled = subprocess.run(maven, stdout=subprocess.PIPE, timeout=BUILD_PATIENCE)
    if compiled.returncode and b"Could not transfer" in compiled.stdout:
        pytest.skip("Maven reaches no repository, and has not fetched before what is needed")
    assert not compiled.returncode, compiled.stdout.decode()
    libraries = f"{CLASSES / 'classes'}:{CLASSES / 'libraries'}/*"
    java = ["java", f"-Djna.library.path={GENERATED / 'kotlin'}", "-cp", libraries]
    return lambda file: [*java, f"{file}Kt"]


def python_peer(role: str, revision: str | None = None) -> Command:
    """The Python package as a server, or as a client that calls the server of the rest of the line."""
    return [sys.executable, str(PEERS / "python_peer.py"), role, revision or "all"]


# One revision of each era, and the way that finds out.
SPOKEN = [None, REVISIONS[0], LEGACY_REVISIONS[0], LEGACY_REVISIONS[-1]]


def speaks_with_python(client: Command, server: Command) -> None:
    for revision in SPOKEN:
        spoken = f"speaks {revision or REVISIONS[0]}"
        greeted = output([*client, *python_peer("server", revision)])
        assert spoken in greeted and "Hello, world!" in greeted
        assert output([*python_peer("client", revision), *server]) == f"{spoken}\nHello, world!\n"


def test_ruby_and_python_speak_with_each_other(ruby: Callable[[Path], Command]) -> None:
    client, server = (ruby(EXAMPLES / "ruby" / f"hello_{role}.rb") for role in ("client", "server"))
    speaks_with_python(client, server)


def test_kotlin_and_python_speak_with_each_other(kotlin: Callable[[str], Command]) -> None:
    speaks_with_python(kotlin("HelloClient"), kotlin("HelloServer"))


def test_kotlin_and_ruby_speak_with_each_other(
    kotlin: Callable[[str], Command], ruby: Callable[[Path], Command]
) -> None:
    client, server = (ruby(EXAMPLES / "ruby" / f"hello_{role}.rb") for role in ("client", "server"))
    assert "Hello, world!" in output([*kotlin("HelloClient"), *server])
    assert "Hello, world!" in output([*client, *kotlin("HelloServer")])


# What `pair.py`, `pair.rb` and `Pair.kt` print.
PAIR = """\
no JSON: ApiMisuse 108: the text is not the JSON that belongs there
no such request: ApiMisuse 101: no such request is in flight
no such tool: ApiMisuse 111: it is not registered
a short seed: InvalidArgument 0: a seed is 32 bytes, not 1
client: ready {revision}, tools,tools.listChanged,logging
server: coffee {{"size":"large"}}, round 0
server: progress sent true
client: progress 1/2 grinding
client: asked for elicitation, round 1
server: answer sugar {{"action":"accept","content":{{"sugar":true}}}}, state {{"cup":7}}
client: result coffee
client: failed -32602, rpc true
{watched}client: watches, tools true
client: changed, tools true
server: discarded not_utf8 fffe
client: disconnected 501
server: drained, abandoned 0
server: disconnected 502
finished true
too late: ConnectionClosed 501: the connection is over: closed by this side
"""


def acts_as_a_pair(program: Command) -> None:
    modern = PAIR.format(revision=REVISIONS[0], watched="server: watched, tools true\n")
    assert output(program) == modern
    legacy = LEGACY_REVISIONS[0]
    # Before the modern era nobody asks to be told of changed lists.
    assert output([*program, legacy]) == PAIR.format(revision=legacy, watched="")


def test_a_pair_in_python() -> None:
    acts_as_a_pair([sys.executable, str(PEERS / "generated.py"), str(PEERS / "pair.py")])


def test_a_pair_in_ruby(ruby: Callable[[Path], Command]) -> None:
    acts_as_a_pair(ruby(PEERS / "pair.rb"))


def test_a_pair_in_kotlin(kotlin: Callable[[str], Command]) -> None:
    acts_as_a_pair(kotlin("Pair"))


def test_a_pair_over_http() -> None:
    program = [sys.executable, str(PEERS / "generated.py"), str(PEERS / "http_pair.py")]
    for revision in (REVISIONS[0], *LEGACY_REVISIONS[:2]):
        assert output([*program, revision]) == f"speaks {revision}\nresult coffee\n"


@pytest.mark.parametrize("file", ["HelloServer.swift", "HelloClient.swift", "generated"])
def test_swift_has_the_syntax_of_swift(file: str) -> None:
    """No compiler of Swift is at hand: a grammar of it says whether the text is Swift at all."""
    import tree_sitter
    import tree_sitter_swift

    path = GENERATED / "swift" / "barewire.swift" if file == "generated" else EXAMPLES / "swift" / file
    # The grammar does not know this attribute, which is none of the language proper.
    text = path.read_bytes().replace(b"@_documentation(visibility: private)", b"")
    parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_swift.language()))
    assert not parser.parse(text).root_node.has_error
    assert parser.parse(text + b"\nlet = )\n").root_node.has_error
