#!/bin/sh
# Installs the pinned authorization server and the conformance suite, then runs the tests against them with $PYTHON, an
# interpreter that has barewire and pytest (default: the one that `make wheel` fills). Further arguments go to pytest.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
"$here/install.sh"
"$here/../conformance/install.sh"
exec "${PYTHON:-$here/../../.work/venv/bin/python}" -m pytest "$here" -q -rfEs -p no:cacheprovider "$@"
