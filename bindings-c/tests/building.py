"""How the tests of the C library build programs: as users do, with all warnings as errors."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

C = Path(__file__).resolve().parent.parent
ROOT = C.parent
HEADER = C / "include" / "barewire.h"
EXAMPLES = C / "examples"
TESTS = C / "tests"
sys.path.append(str(ROOT / "tests"))

import ports  # noqa: E402

# Where cargo puts what the steps of `make test` have built.
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
STATIC_LIBRARY = TARGET / "debug" / "libbarewire.a"
STATIC_NEEDS = ["-Wl,--gc-sections", "-lpthread", "-ldl", "-lm"]

WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]
C99 = ["cc", "-std=c99", "-D_GNU_SOURCE"]
CPP17 = ["c++", "-std=c++17", "-D_GNU_SOURCE"]


def build(
    program: Path,
    sources: Iterable[Path],
    *options: str,
    compiler: Sequence[str] = C99,
    libraries: Sequence[str] = (),
) -> Path:
    """Compile `sources` into `program`, linked with the static library."""
    command: list[str | Path] = [*compiler, *WARNINGS, *options, "-I", C / "include", *sources]
    subprocess.run([*command, "-o", program, STATIC_LIBRARY, *STATIC_NEEDS, *libraries], check=True)
    return program


# The hosts in C that the examples over HTTP stand on, and what these need.
HTTP_HOSTS = {
    "server": (["http_server_host", "host"], "-lmicrohttpd"),
    "client": (["http_client_host", "authorization", "token_store", "host"], "-lcurl"),
}


def build_http_in_cpp(folder: Path) -> Path:
    """`http_server` and `http_client` in C++; gives the folder."""
    for role, (hosts, library) in HTTP_HOSTS.items():
        parts = [EXAMPLES / f"{host}.c" for host in hosts]
        subprocess.run([*C99, *WARNINGS, "-I", C / "include", "-c", *parts], check=True, cwd=folder)
        sources = [EXAMPLES / f"http_{role}.cpp", *(folder / f"{host}.o" for host in hosts)]
        build(folder / f"http_{role}", sources, compiler=CPP17, libraries=[library])
    return folder


@contextmanager
def serving(program: Path, *arguments: str, env: Mapping[str, str] | None = None) -> Iterator[int]:
    """The port of a server, its first argument. It has to end well, without a word of a sanitizer."""
    port = ports.free_port()
    process = subprocess.Popen([program, str(port), *arguments], env=env, stderr=subprocess.PIPE)
    try:
        assert ports.wait_until_it_listens(process, port)
        yield port
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            errors = process.communicate(timeout=60)[1]
        except subprocess.TimeoutExpired:
            process.kill()
            errors = process.communicate()[1]
        print(errors.decode(errors="replace"))  # shown when the test fails
    assert (process.returncode, errors) == (0, b"")


def functions(taking: str = "") -> set[str]:
    """The functions that the header declares, with arguments that match; not those that it defines."""
    text = re.sub(r"/\*.*?\*/", "", HEADER.read_text(), flags=re.DOTALL)
    declared = re.findall(r"^(?!static)\w[\w ]*[ *](bw_\w+)\(([^;{]*)\);", text, re.MULTILINE)
    return {name for name, arguments in declared if re.search(taking, arguments)}


def numbers(prefix: str) -> list[str]:
    """The members of enumerations whose names begin so."""
    return re.findall(rf"^    ({prefix}\w+) = ", HEADER.read_text(), re.MULTILINE)
