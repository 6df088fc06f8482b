#!/usr/bin/env python3
"""Write the library of bindings-uniffi and its sources for Kotlin, Swift, Ruby and Python into .work/uniffi.

Each language has a folder of its own, and the library lies in each beside the sources. Does nothing
when nothing that it reads has changed since its last run.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from python_env import ROOT, WORK, digest

PACKAGE = ROOT / "bindings-uniffi"
OUTPUT = WORK / "uniffi"
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
LANGUAGES = ["kotlin", "swift", "ruby", "python"]

# What library and generator are made of.
SOURCES = [
    "Cargo.toml",
    "Cargo.lock",
    "core/Cargo.toml",
    "core/src",
    "bindings-uniffi/Cargo.toml",
    "bindings-uniffi/uniffi.toml",
    "bindings-uniffi/src",
    "tests/uniffi_env.py",
]
NAMES = {"darwin": "libbarewire_uniffi.dylib", "win32": "barewire_uniffi.dll"}
LIBRARY = NAMES.get(sys.platform, "libbarewire_uniffi.so")


def run(*command: str | Path) -> None:
    # The generator is large, and nobody debugs it.
    environment = os.environ | {"CARGO_PROFILE_DEV_DEBUG": "0"}
    subprocess.run([str(part) for part in command], cwd=ROOT, check=True, env=environment)


def generate() -> None:
    """Build the generator and have it describe the library of the same build, which has its symbols still.

    The library is named, too: cargo puts that of a program where only cargo finds it.
    """
    generator = ["--features", "generator", "--lib", "--bin", "uniffi-bindgen"]
    run("cargo", "build", "--locked", "-p", "barewire-uniffi", *generator)
    described = TARGET / "debug" / LIBRARY
    for language in LANGUAGES:
        run(
            TARGET / "debug" / "uniffi-bindgen",
            *("generate", described, "--language", language, "--out-dir", OUTPUT / language),
            *("--no-format", "--metadata-no-deps"),
        )


def build() -> None:
    stamp = OUTPUT / "stamp"
    now = digest(ROOT / source for source in SOURCES)
    if stamp.exists() and stamp.read_text() == now:
        print("bindings-uniffi: up to date")
        return
    shutil.rmtree(OUTPUT, ignore_errors=True)
    generate()
    run("cargo", "build", "--release", "--locked", "-p", "barewire-uniffi")
    for language in LANGUAGES:
        shutil.copy(TARGET / "release" / LIBRARY, OUTPUT / language)
    stamp.write_text(now)
    print("bindings-uniffi: made")


if __name__ == "__main__":
    try:
        build()
    except subprocess.CalledProcessError as error:
        sys.exit(error.returncode)
