#!/usr/bin/env python3
"""Compile the C programs that speak HTTP: `c_env.py build` into .work/c, `c_env.py sanitized` into
.work/c-sanitized with AddressSanitizer and UndefinedBehaviorSanitizer.

They need the headers of libmicrohttpd and libcurl; where those are missing, the exit status is SKIPPED.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
C = ROOT / "bindings-c"
EXAMPLES = "bindings-c/examples"
CONFORMANCE = "tests/conformance/c"
COMPILER = os.environ.get("CC", "cc")
FLAGS = ["-std=c99", "-D_GNU_SOURCE", "-O1", "-g", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
INTEROP = "tests/interop/ours"
INCLUDES = [f"-I{C / 'include'}", *(f"-I{ROOT / folder}" for folder in (EXAMPLES, CONFORMANCE, INTEROP))]
LIBRARIES = ["-lpthread", "-ldl", "-lm"]
SANITIZERS = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
#: What the programs need beside the C library: header, package of Debian.
HEADERS = {"microhttpd.h": "libmicrohttpd-dev", "curl/curl.h": "libcurl4-openssl-dev"}

#: The exit status of tests that cannot be run here.
SKIPPED = 77

SERVER = [f"{EXAMPLES}/http_server_host.c", f"{EXAMPLES}/host.c"]
CLIENT = [f"{EXAMPLES}/http_client_host.c", f"{EXAMPLES}/host.c"]
EVERYTHING = [f"{CONFORMANCE}/{name}.c" for name in ("everything_server", "jobs", "questions", "stdio_host")]
#: The sources of each program and the libraries that they are linked with.
PROGRAMS = {
    "http_server": ([f"{EXAMPLES}/http_server.c", *SERVER], ["-lmicrohttpd"]),
    "http_client": ([f"{EXAMPLES}/http_client.c", *CLIENT], ["-lcurl"]),
    "everything_server": ([*EVERYTHING, *SERVER], ["-lmicrohttpd"]),
    "everything_client": ([f"{CONFORMANCE}/everything_client.c", *CLIENT], ["-lcurl"]),
    "interop_client": ([f"{INTEROP}/client_barewire.c", f"{INTEROP}/child_host.c", *CLIENT], ["-lcurl"]),
}


def missing() -> list[str]:
    """The packages of Debian that are not there."""

    def is_found(header: str) -> bool:
        command = [COMPILER, "-E", "-x", "c", "-include", header, "/dev/null", "-o", "/dev/null"]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0

    if shutil.which(COMPILER) is None:
        return [COMPILER]
    return [package for header, package in HEADERS.items() if not is_found(header)]


def library() -> Path:
    """The static library, built."""
    subprocess.run(["cargo", "build", "--quiet", "-p", "barewire-c-library"], cwd=ROOT, check=True)
    return Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "debug" / "libbarewire.a"


def build(folder: Path, flags: list[str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    archive = library()
    for name, (sources, libraries) in PROGRAMS.items():
        files = [str(ROOT / source) for source in sources]
        command = [COMPILER, *FLAGS, *flags, *INCLUDES, *files, str(archive), *libraries, *LIBRARIES]
        subprocess.run([*command, "-o", str(folder / name)], check=True)


def main() -> int:
    what = sys.argv[1:]
    if what not in (["build"], ["sanitized"]):
        sys.exit(__doc__)
    if packages := missing():
        print(f"the C programs need {' and '.join(packages)}")
        return SKIPPED
    if what == ["build"]:
        build(ROOT / ".work" / "c", [])
    else:
        build(ROOT / ".work" / "c-sanitized", SANITIZERS)
    return 0


if __name__ == "__main__":
    sys.exit(main())
