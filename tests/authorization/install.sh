#!/bin/sh
# Installs the pinned authorization server, and what drives a browser, with the Node they need into
# .work/authorization. Does nothing while the lock file is the one of the last run.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
work=$(cd "$here/../.." && pwd)/.work/authorization
want=$(cat "$here/server/package.json" "$here/server/package-lock.json" | sha256sum | cut -d ' ' -f 1)

if [ "$(cat "$work/.installed" 2>/dev/null)" != "$want" ]; then
    echo "authorization: installing the server"
    rm -rf "$work"
    mkdir -p "$work"
    cp "$here/server/package.json" "$here/server/package-lock.json" "$work/"
    (cd "$work" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error)
    echo "$want" >"$work/.installed"
fi
# An ES module finds its packages only beside or above itself.
cp "$here"/server/*.mjs "$work/"
