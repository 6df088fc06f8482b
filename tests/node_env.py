#!/usr/bin/env python3
"""Make bindings-node ready: `node_env.py build` builds the addon, installs the tools, compiles the sources.

`node_env.py lint` checks form, committed declarations and what the release builds, and `node_env.py types`
writes the declarations anew. `node_env.py pack` writes the packages as tarballs, and tries them in an empty
folder: the main one and that of this platform, or with a folder of addons, `TARGET/barewire.node`, those of
all platforms, none of which may be missing. `node_env.py runtimes` installs other runtimes and versions of
Node that the tests try the package on, as far as there are any for this platform. `build` and it do nothing
when nothing that they read has changed since their last run.
"""

from __future__ import annotations

import filecmp
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from python_env import ROOT, WORK, digest

PACKAGE = ROOT / "bindings-node"
CONFORMANCE = ROOT / "tests" / "conformance" / "node"
RUNTIMES = ROOT / "tests" / "runtimes"
RELEASE = ROOT / ".github" / "workflows" / "release-node.yml"
STAMPS = WORK / "node"
# The sources compiled one by one, before they become few files.
MODULES = STAMPS / "modules"
LOCK = [PACKAGE / "package.json", PACKAGE / "package-lock.json"]
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
NPM_OPTIONS = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
DECLARATIONS = ["--declaration", "--emitDeclarationOnly", "--stripInternal"]


def run(*command: str | Path, cwd: str | Path = PACKAGE) -> None:
    program, *arguments = map(str, command)
    # On Windows npm and what it installs are no programs to the system unless their whole name is told.
    subprocess.run([shutil.which(program) or program, *arguments], cwd=cwd, check=True)


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
    run("npm", "ci", *NPM_OPTIONS)


def tools() -> None:
    when_changed("npm tools", LOCK, TOOLS, install_tools)


def compile_sources() -> None:
    for path in [*(PACKAGE / "dist").iterdir(), *(PACKAGE / "esm").iterdir()]:
        if path.is_dir():
            shutil.rmtree(path)
        elif path.suffix in (".js", ".mjs"):
            path.unlink()
    shutil.rmtree(MODULES, ignore_errors=True)
    run(TOOLS / "tsc", "--project", ".", "--removeComments", "--outDir", MODULES)
    run(TOOLS / "rollup", "--config", "--silent", "--environment", f"MODULES:{MODULES}")
    for project in ("tests", "examples", CONFORMANCE):
        run(TOOLS / "tsc", "--project", project)


def build() -> None:
    when_changed(
        "addon", [ROOT / source for source in ADDON_SOURCES], PACKAGE / "dist/barewire.node", build_addon
    )
    tools()
    names = ["src", "tests", "examples", "types", "tsconfig.json", "rollup.config.mjs"]
    sources = [*(PACKAGE / name for name in names), *PACKAGE.glob("esm/*.d.mts"), *LOCK, CONFORMANCE]
    when_changed("sources", sources, PACKAGE / "dist/index.js", compile_sources)


def install_runtimes(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(RUNTIMES / name, folder)
    # All of them are optional: what is for another platform is left out.
    run("npm", "ci", *NPM_OPTIONS, cwd=folder)
    for program in folder.glob("node_modules/deno/deno"):
        program.chmod(0o755)


def runtimes() -> None:
    folder = WORK / "runtimes"
    when_changed("runtimes", [*RUNTIMES.iterdir()], folder / "node_modules", lambda: install_runtimes(folder))


def write_declarations(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    run(TOOLS / "tsc", "--project", ".", *DECLARATIONS, "--declarationDir", folder)


def files_of(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def check_release() -> None:
    """The release builds the addons that the package declares."""
    declared = json.loads((PACKAGE / "package.json").read_text())["addons"]
    built = re.findall(r"target: ([\w-]+)", RELEASE.read_text())
    if sorted(built) != sorted(declared):
        sys.exit(
            f"package.json declares the addons {sorted(declared)}, {RELEASE.name} builds {sorted(built)}"
        )


def lint() -> None:
    check_release()
    style = ["--config", ".prettierrc.json", "--log-level", "warn"]
    run(TOOLS / "prettier", "--check", ".", CONFORMANCE, *style)
    committed = PACKAGE / "types"
    with tempfile.TemporaryDirectory() as folder:
        fresh = Path(folder) / "types"
        write_declarations(fresh)
        names = files_of(fresh) | files_of(committed)
        _, differing, missing = filecmp.cmpfiles(fresh, committed, names, shallow=False)
    if differing or missing:
        stale = ", ".join(sorted(differing + missing))
        sys.exit(f"bindings-node/types differs from the sources; `make node-types` writes it anew: {stale}")


def this_target() -> str:
    """This machine, as npm packages with addons are named after theirs."""
    cpu = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64"}.get(platform.machine().lower(), "arm64")
    match sys.platform:
        case "linux":
            return f"linux-{cpu}-{'gnu' if platform.libc_ver()[0] == 'glibc' else 'musl'}"
        case "win32":
            return f"win32-{cpu}-msvc"
        case system:
            return f"{system}-{cpu}"


def write_package(folder: Path, description: dict[str, object]) -> None:
    """A package's description, and the licenses that go with it."""
    folder.mkdir(parents=True, exist_ok=True)
    for license_text in ROOT.glob("LICENSE-*"):
        shutil.copy(license_text, folder)
    (folder / "package.json").write_text(json.dumps(description, indent=2) + "\n")


def platform_package(target: str, main: dict[str, Any]) -> dict[str, object]:
    """The description of the package that holds the addon for one of the targets, such as `linux-x64-gnu`."""
    system, cpu, *abi = target.split("-")
    libc = {"gnu": "glibc", "musl": "musl"}
    return {
        "name": f"barewire-{target}",
        "version": main["version"],
        "description": f"The addon of barewire for {target}",
        "license": main["license"],
        "repository": main["repository"],
        "engines": main["engines"],
        "os": [system],
        "cpu": [cpu],
        **({"libc": [libc[abi[0]]]} if system == "linux" else {}),
        "main": "barewire.node",
        "files": ["barewire.node", "LICENSE-*"],
    }


def pack(addons: Path | None) -> None:
    """Write the main package, and those of the addons: all in a folder, or the one that was built."""
    packages = STAMPS / "packages"
    shutil.rmtree(packages, ignore_errors=True)
    main = json.loads((PACKAGE / "package.json").read_text())
    targets = main.pop("addons")
    del main["devDependencies"]
    main["optionalDependencies"] = {f"barewire-{one}": main["version"] for one in targets}
    write_package(packages / "main", main)
    shutil.copy(PACKAGE / "README.md", packages / "main")
    ignored = shutil.ignore_patterns("*.node", "tests", "examples", "conformance")
    for folder in ("dist", "esm", "types"):
        shutil.copytree(PACKAGE / folder, packages / "main" / folder, ignore=ignored)
    built = targets if addons else [this_target()]
    for target in built:
        write_package(packages / target, platform_package(target, main))
        addon = addons / target / "barewire.node" if addons else PACKAGE / "dist/barewire.node"
        shutil.copy(addon, packages / target)
    for name in ("main", *built):
        run("npm", "pack", "--silent", "--pack-destination", packages, packages / name)
    version = main["version"]
    try_packages([packages / f"barewire-{name}{version}.tgz" for name in ("", f"{this_target()}-")])


# What a user installs beside the package, from where the tools are.
BESIDE = ["zod", "@types/node"]
# As users have it; the declarations are checked themselves, too.
USER_PROJECT = {
    "compilerOptions": {"target": "es2022", "module": "nodenext", "strict": True, "types": ["node"]},
    "include": ["*.mts", "*.cts"],
}


def try_packages(tarballs: list[Path]) -> None:
    """Install the tarballs in an empty folder, compile the hello programs there, and run them."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        (folder / "package.json").write_text('{"private": true}')
        (folder / "tsconfig.json").write_text(json.dumps(USER_PROJECT))
        for source in (PACKAGE / "examples").glob("hello-*"):
            shutil.copy(source, folder)
        beside = [PACKAGE / "node_modules" / one for one in BESIDE]
        run("npm", "install", "--offline", *NPM_OPTIONS, *tarballs, *beside, cwd=folder)
        run(TOOLS / "tsc", "--project", folder)
        for client in ("hello-client.mjs", "hello-client.cjs"):
            said = subprocess.check_output(["node", client], cwd=folder, text=True)
            print(f"{client}: {said.split()}")
            if said.split()[-1] != "5":
                sys.exit(f"{client} ends otherwise")


def main() -> None:
    match sys.argv[1:]:
        case ["build"]:
            build()
        case ["lint"]:
            lint()
        case ["runtimes"]:
            runtimes()
        case ["pack"]:
            pack(None)
        case ["pack", addons]:
            pack(Path(addons).resolve())
        case ["types"]:
            tools()
            write_declarations(PACKAGE / "types")
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    try:
        main()
    except subprocess.CalledProcessError as error:
        sys.exit(error.returncode)
