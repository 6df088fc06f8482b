#!/usr/bin/env python3
"""The embedded profile: built, run and measured here, on a Cortex-M4 under QEMU, and as WebAssembly.

usage: run.py

What needs a compiler or an emulator that is not there is skipped, and told. Sizes are bounded, and written to
.work/embedded/sizes.json.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
LEAF = ROOT / "bindings-c" / "embedded"
EXAMPLES = LEAF / "examples"
WORK = ROOT / ".work" / "embedded"
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "embedded"
KIB = 1024

# The compiler of the distribution with the sources of its `core`: the usual one has no libraries for other
# targets.
RUSTC = Path("/usr/bin/rustc")
SOURCES = Path("/usr/lib/rustlib/src")

C_FLAGS = ["-Os", "-Wall", "-Wextra", "-Werror", "-ffunction-sections", "-fdata-sections"]
C_FLAGS += [f"-I{ROOT}/bindings-c/include", f"-I{LEAF}/include", f"-I{EXAMPLES}"]
ARM_FLAGS = ["-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16", "-std=gnu99"]
QEMU = ["qemu-system-arm", "-machine", "mps2-an386", "-cpu", "cortex-m4", "-display", "none"]
QEMU += ["-serial", "null", "-monitor", "none", "-semihosting-config", "enable=on,target=native"]

# All that a program has to bring.
HOOKS = {f"bw_port_{name}" for name in ("allocate", "reallocate", "free", "available", "panic")}
MEMORY_FUNCTIONS = {"memcpy", "memmove", "memset", "bcmp"}

# For targets whose `core` is built as well: nothing is said of where a panic was, as nobody is there to
# read it.
CROSS_FLAGS = "-Zlocation-detail=none -Zfmt-debug=none -Zunstable-options -Cpanic=immediate-abort"

sizes: dict[str, int] = {}


class Skipped(Exception):
    """Something that is needed is not there."""


def run(*command: str | Path, env: dict[str, str] | None = None, text: str | None = None) -> str:
    """The output of a command, which has to succeed."""
    done = subprocess.run(
        [str(part) for part in command],
        cwd=LEAF,
        env=os.environ | (env or {}),
        input=text,
        capture_output=True,
        encoding="utf-8",
        timeout=1200,
        check=False,
    )
    if done.returncode != 0:
        raise AssertionError(
            f"{command[0]} ended with {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-4000:]}"
        )
    return done.stdout


def need(*programs: str) -> None:
    missing = [program for program in programs if shutil.which(program) is None]
    if missing:
        raise Skipped(f"not here: {', '.join(missing)}")


def measure(what: str, count: int, most: int) -> None:
    sizes[what] = count
    print(f"{what}: {count:,} bytes, at most {most:,}")
    assert count <= most, f"{what} is too large"


def cargo(*arguments: str, env: dict[str, str] | None = None) -> None:
    run("cargo", *arguments, "--release", "--locked", env={"CARGO_TARGET_DIR": str(TARGET)} | (env or {}))


def library() -> Path:
    """The static library for this machine."""
    cargo("build")
    return TARGET / "release" / "libbarewire_embedded.a"


def cross_library(target: str, *extra: str, flags: str = "") -> Path:
    if not (RUSTC.exists() and SOURCES.exists()):
        raise Skipped("no Rust compiler with its sources from the distribution (rustc-web, rust-web-src)")
    env = {"RUSTC": str(RUSTC), "RUSTC_BOOTSTRAP": "1", "RUSTFLAGS": f"{CROSS_FLAGS} {flags}".strip()}
    build_std = ("-Zbuild-std=core,alloc", "-Zbuild-std-features=optimize_for_size")
    cargo("rustc", *extra, *build_std, "--target", target, env=env)
    return TARGET / target / "release"


def compile_c(compiler: str, name: str, sources: list[str | Path], *flags: str | Path) -> Path:
    program = WORK / name
    run(
        compiler,
        *C_FLAGS,
        *(EXAMPLES / source for source in sources),
        *flags,
        "-Wl,--gc-sections",
        "-o",
        program,
    )
    return program


SESSION: list[str | Path] = ["session.c", "device.c", "arena.c"]


def needs_nothing_else() -> None:
    """No undefined symbol but the hooks and four functions on memory."""
    # Everything that is exported is kept; what stays undefined is what a program has to bring.
    exported = re.findall(r" T (bw_\w+)", run("nm", "--defined-only", library()))
    assert len(exported) > 100, exported
    whole = WORK / "everything.so"
    keep = [f"-Wl,-u,{name}" for name in exported]
    run("cc", "-nostdlib", "-shared", "-Wl,--gc-sections", "-Wl,-z,undefs", *keep, library(), "-o", whole)
    wanted = set(re.findall(r" U (\S+)", run("nm", "-u", whole)))
    assert wanted == HOOKS | MEMORY_FUNCTIONS, sorted(wanted ^ (HOOKS | MEMORY_FUNCTIONS))
    print(f"{len(exported)} functions want {', '.join(sorted(wanted))}")


def sessions_in_16_kib() -> None:
    """Whole sessions of both eras in 16 KiB."""
    output = run(compile_c("cc", "hosted", ["hosted.c", *SESSION], library()))
    sizes["peak, 64 bits"] = max(int(count) for count in re.findall(r"^(\d+) bytes of memory", output, re.M))
    print(f"peak of memory: {sizes['peak, 64 bits']:,} bytes")


def memory_of_every_size() -> None:
    """Where memory ends nothing fails, and everything is given back."""
    print(run(compile_c("cc", "exhaust", ["exhaust.c", *SESSION], library())), end="")


def memory_that_the_host_uses() -> None:
    """What a host asks of the library is refused, too, where memory ends."""
    full = Path(__file__).with_name("full.c")
    print(run(compile_c("cc", "full", [full, "arena.c"], library())), end="")


def hello_with_musl() -> None:
    """A static server."""
    need("musl-gcc")
    # Nothing unwinds: the tables for it can go.
    without_tables = WORK / "libbarewire_embedded.a"
    run("objcopy", "-R", ".eh_frame", "-R", ".rela.eh_frame", library(), without_tables)
    program = compile_c("musl-gcc", "hello", ["hello.c", "device.c"], without_tables, "-static", "-s")
    output = run(program, text='{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
    assert json.loads(output) == {"jsonrpc": "2.0", "id": 1, "result": {}}
    measure("hello server, static with musl", program.stat().st_size, 400 * KIB)


def library_parts(link_map: Path) -> tuple[int, int]:
    """How much of the library is in a firmware: bytes of its text sections, and of its constants."""
    _, kept = link_map.read_text().split("Linker script and memory map")
    pattern = r"^ \.(text|rodata)\S*\s+0x[0-9a-f]+\s+0x([0-9a-f]+)\s+\S*libbarewire_embedded\.a\("
    parts = {"text": 0, "rodata": 0}
    for kind, size in re.findall(pattern, kept, re.M):
        parts[kind] += int(size, 16)
    assert all(parts.values()), parts
    return parts["text"], parts["rodata"]


def firmware() -> None:
    """The sessions on a Cortex-M4 under QEMU."""
    need("arm-none-eabi-gcc", "arm-none-eabi-size", "qemu-system-arm")
    folder = cross_library("thumbv7em-none-eabihf")
    script = EXAMPLES / "firmware" / "link.ld"
    flags: list[str | Path] = [*ARM_FLAGS, "-nostartfiles", folder / "libbarewire_embedded.a", "-T", script]
    link_map = WORK / "firmware.map"
    flags.append(f"-Wl,-Map={link_map}")
    program = compile_c("arm-none-eabi-gcc", "firmware.elf", ["firmware/firmware.c", *SESSION], *flags)
    output = run("sh", "-c", '"$@" 2>&1', "sh", *QEMU, "-kernel", program)
    for what in ("memory", "stack"):
        counts = re.findall(rf"^(\d+) bytes of {what}", output, re.M)
        sizes[f"{what}, Cortex-M4"] = max(int(count) for count in counts)
        print(f"peak of {what}: {sizes[f'{what}, Cortex-M4']:,} bytes")
    columns = run("arm-none-eabi-size", program).splitlines()[1].split()
    code, constants = library_parts(link_map)
    measure("embedded server, text", code, 160 * KIB)
    print(f"and its constants: {constants:,} bytes")
    sizes["embedded server, constants"] = constants
    measure("firmware, flash", int(columns[0]) + int(columns[1]), 200 * KIB)


def module() -> None:
    """The sessions in a WebAssembly module."""
    need("wasm-ld-22", "node")
    flags = "-Clinker=wasm-ld-22 -Clink-arg=--import-undefined -Clink-arg=--export=__heap_base"
    folder = cross_library("wasm32-unknown-unknown", "--crate-type", "cdylib", flags=flags)
    built = folder / "barewire_embedded.wasm"
    print(run("node", ROOT / "tests" / "embedded" / "wasm.mjs", built), end="")
    sizes["WebAssembly module"] = built.stat().st_size
    print(f"module: {built.stat().st_size:,} bytes, with everything")


TESTS: list[Callable[[], None]] = [
    needs_nothing_else,
    sessions_in_16_kib,
    memory_of_every_size,
    memory_that_the_host_uses,
    hello_with_musl,
    firmware,
    module,
]


def main() -> int:
    WORK.mkdir(parents=True, exist_ok=True)
    passed = failed = skipped = 0
    for test in TESTS:
        print(f"--- {test.__doc__}", flush=True)
        try:
            test()
            passed += 1
        except Skipped as reason:
            print(f"skipped: {reason}")
            skipped += 1
        except (AssertionError, subprocess.TimeoutExpired) as error:
            print(f"failed: {error}")
            failed += 1
    (WORK / "sizes.json").write_text(json.dumps(sizes, indent=2) + "\n")
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
