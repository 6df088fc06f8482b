#!/bin/sh
# Installs the pinned peers, compiles the programs in C where that can be, then runs the interop suite with $PYTHON, an
# interpreter that has barewire and pytest (default: the one that `make wheel` fills), and the Node package as
# `make node` builds it. Further arguments go to pytest.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
"$here/install.sh"
python3 "$here/../c_env.py" || [ $? -eq 77 ]
exec "${PYTHON:-$here/../../.work/venv/bin/python}" -m pytest "$here" -q -rfEs -p no:cacheprovider "$@"
