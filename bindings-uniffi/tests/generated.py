"""Run a program with the generated Python module in the place of the package.

usage: generated.py PROGRAM [ARGUMENT...]
"""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / ".work" / "uniffi" / "python"))
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
