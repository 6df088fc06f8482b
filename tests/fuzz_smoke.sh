#!/bin/sh
# Runs every target of tests/fuzz for FUZZ_SECONDS (default 20) from its corpus; ends with counts.
# cargo-fuzz wants a nightly compiler for the sanitizer flags; RUSTC_BOOTSTRAP=1 lets the stable one take them.
set -eu
cd "$(dirname "$0")/.."
seconds=${FUZZ_SECONDS:-20}
tools=$PWD/.work/tools

version=0.13.2
if ! "$tools/bin/cargo-fuzz" --version 2>/dev/null | grep -q " $version\$"; then
    cargo install --quiet --debug --locked --root "$tools" "cargo-fuzz@$version"
fi
export RUSTC_BOOTSTRAP=1
# cargo finds the subcommand on the path.
PATH=$tools/bin:$PATH

passed=0
failed=0
for target in $(cargo fuzz list --fuzz-dir tests/fuzz); do
    echo "fuzz target $target, $seconds s"
    # What is found goes to the first folder; the second holds what is committed.
    corpus=tests/fuzz/corpus/$target
    mkdir -p "$corpus"
    if cargo fuzz run --fuzz-dir tests/fuzz "$target" "$corpus" "tests/fuzz/seeds/$target" -- \
        -max_total_time="$seconds" -verbosity=0 -print_final_stats=1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
    fi
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
