#!/usr/bin/env python3
"""Make .work/venv ready: `python_env.py wheel` installs barewire, `tools` also what the checks need.

Does nothing when nothing that it reads has changed since its last run.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Callable, Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WORK = ROOT / ".work"
VENV = WORK / "venv"
PYTHON = VENV / "bin" / "python"
TOOLS = ROOT / "tests" / "python-tools.txt"

# What the wheel is made of.
WHEEL_SOURCES = [
    "Cargo.toml",
    "Cargo.lock",
    "core/Cargo.toml",
    "core/src",
    "bindings-python/Cargo.toml",
    "bindings-python/pyproject.toml",
    "bindings-python/README.md",
    "bindings-python/src",
    "bindings-python/python",
]


def files_under(paths: Iterable[Path]) -> Iterable[Path]:
    for path in paths:
        if path.is_dir():
            yield from (f for f in sorted(path.rglob("*")) if f.is_file() and "__pycache__" not in f.parts)
        elif path.exists():
            yield path


def digest(paths: Iterable[Path]) -> str:
    sha = hashlib.sha256(sys.version.encode())
    for file in files_under(paths):
        sha.update(f"\0{file.relative_to(ROOT)}\0".encode())
        sha.update(file.read_bytes())
    return sha.hexdigest()


def run(*command: str | Path) -> None:
    environment = os.environ | {"PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    subprocess.run([str(part) for part in command], cwd=ROOT, check=True, env=environment)


def when_changed(name: str, paths: list[Path], install: Callable[[], None]) -> None:
    """Call `install` unless the stamp of an earlier run holds the digest of the same files."""
    stamp = VENV / f"{name}.stamp"
    now = digest(paths)
    if stamp.exists() and stamp.read_text() == now:
        print(f"{name}: up to date")
        return
    install()
    stamp.write_text(now)
    print(f"{name}: installed")


def install_tools() -> None:
    run(PYTHON, "-m", "pip", "install", "--quiet", "-r", TOOLS)


def install_wheel() -> None:
    maturin = VENV / "bin" / "maturin"
    if not maturin.exists():
        pins = [
            line for line in TOOLS.read_text().splitlines() if line.startswith(("maturin==", "msgspec=="))
        ]
        run(PYTHON, "-m", "pip", "install", "--quiet", *pins)
    wheels = WORK / "wheels"
    shutil.rmtree(wheels, ignore_errors=True)
    manifest = ["--manifest-path", "bindings-python/Cargo.toml"]
    run(maturin, "build", "--release", "--locked", *manifest, "--out", wheels)
    (wheel,) = wheels.glob("*.whl")
    run(PYTHON, "-m", "pip", "install", "--quiet", "--force-reinstall", "--no-deps", wheel)


def main() -> None:
    what = sys.argv[1:]
    if what not in (["wheel"], ["tools"]):
        sys.exit(__doc__)
    if not PYTHON.exists():
        venv.create(VENV, with_pip=True)
    if what == ["tools"]:
        when_changed("tools", [TOOLS], install_tools)
    when_changed("wheel", [ROOT / source for source in WHEEL_SOURCES], install_wheel)


if __name__ == "__main__":
    main()
