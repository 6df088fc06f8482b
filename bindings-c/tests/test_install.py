"""The way of a new user: install to a prefix, then build with pkg-config or CMake; or fetch with CMake."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import building
import pytest
from barewire import sync

ENVIRONMENT = os.environ | {"CARGO_TARGET_DIR": str(building.TARGET)}
HELLO = building.EXAMPLES / "hello_server.c"


def run(*command: str | Path, **environment: str) -> str:
    done = subprocess.run(
        [str(part) for part in command], env=ENVIRONMENT | environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `make install` does with a debug build; moved, for nothing in it may hold on to its place."""
    folder = tmp_path_factory.mktemp("install")
    first, prefix = folder / "first", folder / "prefix"
    build = folder / "build"
    run("cmake", "-S", building.C, "-B", build, "-DCMAKE_BUILD_TYPE=Debug", f"-DCMAKE_INSTALL_PREFIX={first}")
    run("cmake", "--build", build)
    run("cmake", "--install", build)
    first.rename(prefix)
    return prefix


def check(program: Path, **environment: str) -> None:
    with sync.Client(command=[str(program)], env=ENVIRONMENT | environment) as client:
        assert client.call_tool("greet", {"name": "you"}).content[0].text == "Hello, you!"  # type: ignore[union-attr]


def pkg_config(prefix: Path, *arguments: str) -> list[str]:
    (file,) = prefix.rglob("barewire.pc")
    return run("pkg-config", *arguments, "barewire", PKG_CONFIG_PATH=str(file.parent)).split()


def test_files(installed: Path) -> None:
    found = {path.name for path in installed.rglob("*") if not path.is_dir()}
    assert found >= {"barewire.h", "barewire.hpp", "event.hpp"}
    assert found >= {"libbarewire.a", "libbarewire.so", "libbarewire.so.0", "barewire.pc"}
    (link,) = installed.rglob("libbarewire.so")
    version = pkg_config(installed, "--modversion")[0]
    assert os.readlink(link) == "libbarewire.so.0"
    assert os.readlink(link.with_name("libbarewire.so.0")) == f"libbarewire.so.{version}"


def test_pkg_config_shared(installed: Path, tmp_path: Path) -> None:
    program = tmp_path / "hello"
    flags = pkg_config(installed, "--cflags", "--libs")
    run("cc", HELLO, *flags, "-o", program)
    (folder,) = {path.parent for path in installed.rglob("libbarewire.so*")}
    check(program, LD_LIBRARY_PATH=str(folder))


def test_pkg_config_static(installed: Path, tmp_path: Path) -> None:
    program = tmp_path / "hello"
    flags = pkg_config(installed, "--static", "--cflags", "--libs")
    flags = [flag.replace("-lbarewire", "-l:libbarewire.a") for flag in flags]
    run("cc", HELLO, *flags, "-o", program)
    check(program)


def cmake(project: str, build: Path, *settings: str) -> Path:
    run("cmake", "-S", building.EXAMPLES / project, "-B", build, *settings)
    run("cmake", "--build", build)
    return build / "hello"


def test_find_package(installed: Path, tmp_path: Path) -> None:
    check(cmake("find_package", tmp_path, f"-DCMAKE_PREFIX_PATH={installed}"))


def test_find_package_refuses_another_version(installed: Path, tmp_path: Path) -> None:
    project = tmp_path / "project"
    shutil.copytree(building.EXAMPLES / "find_package", project)
    file = project / "CMakeLists.txt"
    file.write_text(file.read_text().replace("barewire 0.1", "barewire 0.0"))
    command: list[str | Path] = [
        "cmake",
        "-S",
        project,
        "-B",
        tmp_path / "build",
        f"-DCMAKE_PREFIX_PATH={installed}",
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode != 0 and "version: 0.1.0" in done.stderr


def test_fetch_content(tmp_path: Path) -> None:
    """With this checkout in the place of what would be fetched."""
    settings = ["-DCMAKE_BUILD_TYPE=Debug", f"-DFETCHCONTENT_SOURCE_DIR_BAREWIRE={building.ROOT}"]
    check(cmake("fetch_content", tmp_path, *settings))


@pytest.mark.skipif(shutil.which("go") is None, reason="there is no Go")
def test_go(installed: Path, tmp_path: Path) -> None:
    """Through cgo, which asks pkg-config."""
    (file,) = installed.rglob("barewire.pc")
    program = tmp_path / "hello"
    # Go caches by the flags in the source, not by those of pkg-config: an older cache names an older prefix.
    cache = tmp_path / "cache"
    environment = {
        "PKG_CONFIG_PATH": str(file.parent),
        "GOTOOLCHAIN": "local",
        "CGO_ENABLED": "1",
        "GOCACHE": str(cache),
    }
    run("go", "build", "-C", building.EXAMPLES / "go", "-o", program, ".", **environment)
    check(program, LD_LIBRARY_PATH=str(file.parent.parent))
