#!/bin/sh
# Installs the pinned peers into $BAREWIRE_WORK (default: .work/interop of the checkout).
# A part whose lock file is unchanged since the last run is left alone.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
work=${BAREWIRE_WORK:-$(cd "$here/../.." && pwd)/.work/interop}
base_python=${PEER_PYTHON:-python3}
mkdir -p "$work"

digest() {
    cat "$@" | sha256sum | cut -d ' ' -f 1
}

# fresh NAME DIGEST: whether the part NAME is already installed from the same lock.
fresh() {
    [ -f "$work/$1/.installed" ] && [ "$(cat "$work/$1/.installed")" = "$2" ]
}

install_node() {
    want=$(node --version)-$(digest "$here/peers/node/package.json" "$here/peers/node/package-lock.json")
    if ! fresh node "$want"; then
        echo "interop: installing the npm peers"
        rm -rf "$work/node"
        mkdir -p "$work/node"
        cp "$here/peers/node/package.json" "$here/peers/node/package-lock.json" "$work/node/"
        (cd "$work/node" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error)
        echo "$want" >"$work/node/.installed"
    fi
    # An ES module finds its packages only beside or above itself.
    cp "$here"/peers/node/*.mjs "$work/node/"
}

# install_python NAME: a virtual environment from requirements-NAME.txt.
install_python() {
    lock="$here/peers/python/requirements-$1.txt"
    want=$("$base_python" -c 'import sys; print(*sys.version_info[:3], sep=".")')-$(digest "$lock")
    if ! fresh "$1" "$want"; then
        echo "interop: installing the PyPI peer $1"
        rm -rf "${work:?}/$1"
        "$base_python" -m venv "$work/$1"
        "$work/$1/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps -r "$lock"
        echo "$want" >"$work/$1/.installed"
    fi
}

# One program in both roles, from `peers/rust`.
install_rust() {
    (cd "$here/peers/rust" && cargo build --locked --quiet --target-dir "$work/rust")
}

# The four parts share nothing, so they install at the same time.
install_node &
node_job=$!
install_python mcp1 &
mcp1_job=$!
install_python mcp2
install_rust
wait "$mcp1_job"
wait "$node_job"
