"""The header compiles wherever it is included, without a warning."""

from __future__ import annotations

import subprocess
from pathlib import Path

import building
import pytest

COMPILERS = [
    ["cc", "-std=c99"],
    ["cc", "-std=c11"],
    ["cc", "-std=c11", "-funsigned-char"],
    ["c++", "-std=c++17"],
    ["c++", "-std=c++20"],
    ["c++", "-std=c++17", "-fno-exceptions", "-fno-rtti"],
]

# Twice, before all else, and every function that the header defines.
PROGRAM = """
#include <barewire.h>
#include <barewire.h>
#include <string.h>

int main(void)
{
    bw_bytes literal = BW_LITERAL("text"), whole = bw_string("text"), part = bw_text("textual", 4);
    bw_server_config *config = NULL;
    unsigned char seed[BW_SEED_BYTES] = {1};
    if (bw_server_config_new(literal, whole, seed, &config) != BW_OK)
        return 1;
    bw_server_config_free(config);
    if (!bw_equals(literal, whole) || !bw_equals(whole, part) || bw_equals(part, bw_text("text", 3)))
        return 2;
    if (bw_is_some(bw_none()) || bw_is_some(bw_string(NULL)) || !bw_is_some(bw_string("")))
        return 3;
    if (!bw_equals(bw_none(), bw_string("")) || bw_equals(literal, BW_LITERAL("tent")))
        return 4;
    return strcmp(bw_version(), BW_VERSION) != 0 || bw_version_number() != BW_VERSION_NUMBER;
}
"""


@pytest.mark.parametrize("compiler", COMPILERS, ids=" ".join)
def test_header(compiler: list[str], tmp_path: Path) -> None:
    source = tmp_path / ("program.c" if compiler[0] == "cc" else "program.cpp")
    source.write_text(PROGRAM)
    program = building.build(
        tmp_path / "program", [source], "-Wconversion", "-Wshadow", "-Wstrict-aliasing", compiler=compiler
    )
    subprocess.run([program], check=True)


def test_every_exported_symbol_is_declared() -> None:
    """And every function declared is there."""
    library = building.TARGET / "debug" / "libbarewire.so"
    listing = subprocess.run(
        ["nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True
    )
    exported = {line.split()[-1] for line in listing.stdout.splitlines()}
    assert exported == building.functions()


def test_the_shared_library_has_its_name() -> None:
    library = building.TARGET / "debug" / "libbarewire.so"
    dynamic = subprocess.run(["readelf", "-d", library], check=True, capture_output=True, text=True)
    assert "Library soname: [libbarewire.so.0]" in dynamic.stdout
