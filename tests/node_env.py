#!/usr/bin/env python3
"""Make bindings-node ready: `node_env.py build` builds the addon, installs the tools, compiles the sources.

`node_env.py lint` checks form and committed declarations, and `node_env.py types` writes the declarations
anew. `build` does nothing when nothing that it reads has changed since its last run.
"""

from __future__ import annotations

import filecmp
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from python_env import ROOT, WORK, digest

PACKAGE = ROOT / "bindings-node"
STAMPS = WORK / "node"
TOOLS = PACKAGE / "node_modules" / ".bin"
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))

# What the addon is made of.
ADDON_SOURCES = [
    "Cargo.toml",
    "Cargo.lock",
    "core/Cargo.toml",
    "core/src",
    "bindings-node/native",
]
LIBRARIES = {"darwin": "libbarewire_node.dylib", "win32": "barewire_node.dll"}
DECLARATIONS = ["--declaration", "--emitDeclarationOnly", "--stripInternal"]


def run(*command: str | Path) -> None:
    subprocess.run([str(part) for part in command], cwd=PACKAGE, check=True)


def when_changed(name: str, sources: list[Path], result: Path, make: Callable[[], None]) -> None:
    """Call `make` unless `result` is there and an earlier run has stamped the digest of the same files."""
    stamp = STAMPS / f"{name}.stamp"
    now = digest(sources)
    if result.exists() and stamp.exists() and stamp.read_text() == now:
        print(f"{name}: up to date")
        return
    make()
    STAMPS.mkdir(parents=True, exist_ok=True)
    stamp.write_text(now)
    print(f"{name}: made")


def build_addon() -> None:
    manifest = ROOT / "Cargo.toml"
    run("cargo", "build", "--release", "--locked", "--manifest-path", manifest, "-p", "barewire-node")
    library = TARGET / "release" / LIBRARIES.get(sys.platform, "libbarewire_node.so")
    addon = PACKAGE / "dist" / "barewire.node"
    addon.parent.mkdir(exist_ok=True)
    # A process that has the old file open keeps it.
    addon.unlink(missing_ok=True)
    shutil.copy(library, addon)


def install_tools() -> None:
    run("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")


def compile_sources() -> None:
    for folder in ("sansio", "tests"):
        shutil.rmtree(PACKAGE / "dist" / folder, ignore_errors=True)
    run(TOOLS / "tsc", "--project", ".")
    run(TOOLS / "tsc", "--project", "tests")


def build() -> None:
    when_changed(
        "addon", [ROOT / source for source in ADDON_SOURCES], PACKAGE / "dist/barewire.node", build_addon
    )
    lock = [PACKAGE / "package.json", PACKAGE / "package-lock.json"]
    when_changed("npm tools", lock, TOOLS, install_tools)
    names = ["src", "tests", "types", "esm", "tsconfig.json", "package.json", "package-lock.json"]
    when_changed(
        "sources", [PACKAGE / name for name in names], PACKAGE / "dist/sansio/index.js", compile_sources
    )


def write_declarations(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    run(TOOLS / "tsc", "--project", ".", *DECLARATIONS, "--declarationDir", folder)


def files_of(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def lint() -> None:
    run(TOOLS / "prettier", "--check", ".", "--log-level", "warn")
    committed = PACKAGE / "types"
    with tempfile.TemporaryDirectory() as folder:
        fresh = Path(folder) / "types"
        write_declarations(fresh)
        names = files_of(fresh) | files_of(committed)
        _, differing, missing = filecmp.cmpfiles(fresh, committed, names, shallow=False)
    if differing or missing:
        stale = ", ".join(sorted(differing + missing))
        sys.exit(f"bindings-node/types differs from the sources; `make node-types` writes it anew: {stale}")


def main() -> None:
    match sys.argv[1:]:
        case ["build"]:
            build()
        case ["lint"]:
            lint()
        case ["types"]:
            write_declarations(PACKAGE / "types")
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    try:
        main()
    except subprocess.CalledProcessError as error:
        sys.exit(error.returncode)
