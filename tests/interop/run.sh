#!/bin/sh
# Installs the pinned peers, then runs the interop suite with $PYTHON, an interpreter that has barewire and
# pytest. Further arguments go to pytest.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
"$here/install.sh"
exec "${PYTHON:-python3}" -m pytest "$here" -q -rs -p no:cacheprovider "$@"
