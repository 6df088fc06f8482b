#!/bin/sh
# Proves that the core and everything below it is free of `std`: links it into a program that has its own panic handler,
# which `std` anywhere in the tree would make a duplicate (E0152), and runs that program.
set -eu
cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-target}

cargo build -p barewire --no-default-features
mkdir -p .work
# Unwinding is what the prebuilt `core` refers to; libgcc_eh answers for it and is never reached.
rustc --edition 2024 --crate-name no_std -C panic=abort -C link-arg=-lgcc_eh \
    --extern "barewire=$target/debug/libbarewire.rlib" -L "dependency=$target/debug/deps" \
    -o .work/no_std tests/no_std.rs
.work/no_std
echo "the core linked and ran without std"
