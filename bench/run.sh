#!/bin/sh
# Measures ours beside floors and peers with the neutral yardstick, and prints targets beside what was measured.
# The yardstick's folder is $BAREWIRE_BENCH; what it installs goes to $BENCH_WORK. Arguments go to the yardstick:
# `bench/run.sh --quick`, or `--only floor-rust,barewire-rust --sections seq` for a short look.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"

yardstick=${BAREWIRE_BENCH:-$root/../shared/bench}
if [ ! -x "$yardstick/run.sh" ]; then
    echo "The yardstick is not at $yardstick: set BAREWIRE_BENCH to the folder that holds its run.sh." >&2
    exit 1
fi
export BENCH_WORK="${BENCH_WORK:-$root/.work/bench/yardstick}"
results=$root/.work/bench/results
mkdir -p "$results" "$BENCH_WORK"

cargo build --release --locked -p barewire --example stdio_server --example http_server
for example in stdio_server http_server; do
    cp "${CARGO_TARGET_DIR:-target}/release/examples/$example" ".work/bench/$example"
done
cargo build --release --locked -p barewire-c-library
cc -std=c99 -D_GNU_SOURCE -O2 -Ibindings-c/include bindings-c/examples/bench_server.c \
    "${CARGO_TARGET_DIR:-target}/release/libbarewire.a" -Wl,--gc-sections -lpthread -ldl -lm -o .work/bench/c_server
python3 tests/python_env.py tools
python3 tests/node_env.py build

floors=floor-rust,floor-axum,floor-python,floor-stream,floor-node,exec-python,exec-node
peers=rmcp,rmcp-pipes-1t,rmcp-nodelay,rmcp-json,py-mcp-high,py-mcp-low,py-mcp-low-json
ours=barewire-rust,barewire-c,barewire-python,barewire-python-inline,barewire-node
"$yardstick/run.sh" --also "$root/bench/impls.toml" --out "$results" --kind exec,stdio,client,http \
    --only "$floors,$peers,$ours" "$@"
python3 bench/targets.py "$results"
