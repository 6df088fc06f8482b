#!/bin/sh
# Installs the pinned peers, then runs the interop suite with $PYTHON, an interpreter that has barewire and
# pytest (default: the one that `make wheel` fills), and the Node package as `make node` builds it. Further
# arguments go to pytest.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
"$here/install.sh"
exec "${PYTHON:-$here/../../.work/venv/bin/python}" -m pytest "$here" -q -rs -p no:cacheprovider "$@"
