#!/usr/bin/env python3
"""Compile the C programs of the conformance and interop suites into .work/c.

They need the headers of libmicrohttpd, libcurl and OpenSSL; where one is missing, the exit status is SKIPPED.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bindings-c" / "tests"))

import building  # noqa: E402

CONFORMANCE = ROOT / "tests" / "conformance" / "c"
INTEROP = ROOT / "tests" / "interop" / "ours"
OPTIONS = ["-O1", "-g", *(f"-I{folder}" for folder in (building.EXAMPLES, CONFORMANCE, INTEROP))]
#: What the programs need beside the C library: headers, by the package of Debian.
HEADERS = {
    "libmicrohttpd-dev": "microhttpd.h",
    "libcurl4-openssl-dev": "curl/curl.h",
    "libssl-dev": "openssl/evp.h",
}
#: The exit status of what cannot be done here.
SKIPPED = 77

HOST = building.EXAMPLES / "host.c"
SERVER = [building.EXAMPLES / "http_server_host.c", HOST]
CLIENT = [
    building.EXAMPLES / f"{name}.c" for name in ("http_client_host", "authorization", "token_store", "host")
]
EVERYTHING = [CONFORMANCE / f"{name}.c" for name in ("everything_server", "jobs", "questions", "stdio_host")]
AUTHORIZING = [CONFORMANCE / f"{name}.c" for name in ("everything_client", "authorizing", "signing")]
#: The sources of each program, and the libraries that it is linked with.
PROGRAMS = {
    "everything_server": ([*EVERYTHING, *SERVER], ["-lmicrohttpd"]),
    "everything_client": ([*AUTHORIZING, *CLIENT], ["-lcurl", "-lcrypto"]),
    "interop_client": ([INTEROP / "client_barewire.c", INTEROP / "child_host.c", *CLIENT], ["-lcurl"]),
}


def missing() -> list[str]:
    """The packages of Debian that are not there."""

    def is_found(header: str) -> bool:
        command = ["cc", "-E", "-x", "c", "-include", header, "/dev/null", "-o", "/dev/null"]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0

    return [package for package, header in HEADERS.items() if not is_found(header)]


def main() -> int:
    if packages := missing():
        print(f"the C programs need {' and '.join(packages)}")
        return SKIPPED
    subprocess.run(["cargo", "build", "--quiet", "-p", "barewire-c-library"], cwd=ROOT, check=True)
    folder = ROOT / ".work" / "c"
    folder.mkdir(parents=True, exist_ok=True)
    for name, (sources, libraries) in PROGRAMS.items():
        building.build(folder / name, sources, *OPTIONS, libraries=libraries)
    return 0


if __name__ == "__main__":
    sys.exit(main())
