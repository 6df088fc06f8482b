"""The package gives its names when they are asked for, and costs nothing before."""

from __future__ import annotations

import subprocess
import sys
from typing import get_args

import barewire
import pytest


def test_every_public_name_is_there() -> None:
    assert sorted(barewire.__all__) == barewire.__all__
    for name in barewire.__all__:
        assert getattr(barewire, name) is not None
    assert dir(barewire) == barewire.__all__


def test_the_version_is_that_of_the_core() -> None:
    assert barewire.__version__ == barewire.sansio.VERSION


def test_the_log_levels_are_those_of_the_core() -> None:
    assert get_args(barewire.LogLevel) == barewire.sansio.LOG_LEVELS


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = barewire.Nothing  # type: ignore[attr-defined]


def test_import_loads_nothing_else() -> None:
    code = "import sys; before = set(sys.modules); import barewire; print(*set(sys.modules) - before)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(out.stdout.split()) <= {"barewire", "__future__"}
