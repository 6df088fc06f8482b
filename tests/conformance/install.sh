#!/bin/sh
# Installs the pinned suite, in both versions, and the Node it needs into $1 (default: .work/conformance of the
# checkout). Does nothing while the lock file is the one of the last run.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
work=${1:-$(cd "$here/../.." && pwd)/.work/conformance}
want=$(cat "$here/suite/package.json" "$here/suite/package-lock.json" | sha256sum | cut -d ' ' -f 1)

if [ "$(cat "$work/suite/.installed" 2>/dev/null)" != "$want" ]; then
    echo "conformance: installing the suite"
    rm -rf "$work/suite"
    mkdir -p "$work/suite"
    cp "$here/suite/package.json" "$here/suite/package-lock.json" "$work/suite/"
    # The npm at hand may run on a Node that the suite itself refuses; nothing of it runs here.
    (cd "$work/suite" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error)
    echo "$want" >"$work/suite/.installed"
fi
