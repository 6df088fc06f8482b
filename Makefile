# `make` alone lists the targets. Everything that is built or installed lands in target/ and .work/.

.DEFAULT_GOAL := help
.PHONY: help test lint docs wheel node node-packages node-types node-runtimes c-header install uniffi test-embedded demo interop authorization conformance fuzz bench instructions requirements requirements-update
STEPS ?=
BINDING ?= python
PREFIX ?= /usr/local
ARGS ?=

help: ## This list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' $(firstword $(MAKEFILE_LIST)) | expand -t 22

test: ## Everything, ending with counts; STEPS="rust pytest" runs some of it
	@python3 tests/summary.py $(STEPS)

lint: ## Formatting, linters and types of Rust, Python, Node and C
	@python3 tests/summary.py fmt clippy ruff-format ruff mypy stubtest node-lint c-format

docs: ## The Rust documentation, in target/doc; a warning is an error
	@python3 tests/summary.py docs

wheel: ## The Python wheel, in .work/wheels and installed in .work/venv
	@python3 tests/python_env.py wheel

node: ## The Node package, built in place
	@python3 tests/node_env.py build

node-packages: node ## The npm packages for this platform, in .work/node/packages
	@python3 tests/node_env.py pack

node-types: ## The committed declarations of the Node package, written anew
	@python3 tests/node_env.py types

node-runtimes: ## Other runtimes that the Node tests try the package on, in .work/runtimes
	@python3 tests/node_env.py runtimes

c-header: ## The committed header of the C library, written anew
	@cargo run --quiet -p barewire-c-header

install: ## The C library: header, libbarewire.a and .so, pkg-config and CMake files; PREFIX=/usr/local, DESTDIR=
	@cmake -S bindings-c -B .work/cmake -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX=$(PREFIX)
	@cmake --build .work/cmake
	@cmake --install .work/cmake

uniffi: ## The library and the Kotlin, Swift and Ruby sources of bindings-uniffi, in .work/uniffi
	@python3 tests/uniffi_env.py

test-embedded: ## The embedded profile: here, on a Cortex-M4 under QEMU, as WebAssembly; with sizes
	@python3 tests/summary.py embedded

demo: wheel ## A client and a server over stdio, legacy and modern
	@.work/venv/bin/python bindings-python/examples/demo.py

interop: ## Against the published SDKs and servers
	@python3 tests/summary.py interop

authorization: ## Against a real authorization server
	@python3 tests/summary.py authorization

conformance: ## The official suite against a binding; BINDING=python, ARGS="--only 'tools-*'" for some of it
	@tests/conformance/run.py $(BINDING) $(ARGS)

fuzz: ## Each fuzz target for a short while
	@python3 tests/summary.py fuzz

bench: ## The neutral yardstick, then targets beside what was measured; ARGS="--quick" for a look
	@bench/run.sh $(ARGS)

instructions: ## Instructions of hot paths of the Rust server, now and as kept
	@python3 bench/instructions.py

requirements: ## The table of specification rows in scope and proved
	@cargo test --quiet -p barewire-tests --test requirements table -- --nocapture

requirements-update: ## Rewrite tests/requirements/unproved.tsv from what the tests prove now
	@UPDATE_UNPROVED=1 cargo test --quiet -p barewire-tests --test requirements
