# Crivello: every task of a developer, one target each. A bare `make` lists them.
SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help setup setup-dev setup-bench wheel demo test bench lint lint-python lint-rust types fmt docs clean

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CORE := python/crivello/_core.abi3.so
RUST := Cargo.toml Cargo.lock $(shell find crates -name '*.rs' -o -name Cargo.toml)
export PIP_QUIET := 2

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(VENV)/.maturin:
	@command -v cargo >/dev/null || { echo "crivello: cargo is missing: install Rust (1.88 or newer), for example with rustup" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "crivello: Python 3.11 or newer is needed; name one with make PYTHON=..." >&2; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || { echo "crivello: no virtual environment could be made: install python3-venv" >&2; exit 1; }
	$(BIN)/pip install --quiet --disable-pip-version-check 'maturin>=1.16,<2' uv
	@touch $@

# Everything that pyproject.toml asks for (installed by uv: pip resolves it in minutes), and the native module: built for speed, or for the tests, quicker
# to build and with assertions on. Again only when pyproject.toml changes.
$(VENV)/.installed: pyproject.toml | $(VENV)/.maturin
	$(BIN)/maturin develop --uv --release --quiet --extras all
	@echo release > $(VENV)/.profile; touch $@ $(CORE)

$(VENV)/.installed-bench: pyproject.toml | $(VENV)/.maturin
	$(BIN)/maturin develop --uv --release --quiet --extras all,bench,cluster
	@echo release > $(VENV)/.profile; touch $@ $(CORE)

# What linters need: no native module.
$(VENV)/.tools: pyproject.toml | $(VENV)/.maturin
	$(BIN)/uv pip install --quiet --python $(BIN)/python --requirement pyproject.toml --extra all --extra dev --extra cluster
	@touch $@

$(VENV)/.installed-dev: pyproject.toml $(VENV)/.tools
	$(BIN)/maturin develop --uv --quiet --extras all,dev,cluster
	@echo dev > $(VENV)/.profile; touch $@ $(CORE)

# One native module is in place at a time: it is built again when the other one is needed, or when Rust sources changed.
define native
	@if [ "$$(cat $(VENV)/.profile)" != $(1) ] || [ -n "$$(find $(RUST) -newer $(CORE) -print -quit)" ]; then \
		$(BIN)/maturin develop $(if $(filter release,$(1)),--release) --quiet --skip-install && echo $(1) > $(VENV)/.profile && touch $(CORE); \
	fi
endef

setup: $(VENV)/.installed ## Make the virtual environment in .venv and build everything into it
	$(call native,release)

setup-dev: $(VENV)/.installed-dev ## The same for tests and linters
	$(call native,dev)

setup-bench: $(VENV)/.installed-bench
	$(call native,release)

# Any glibc from 2.28 on (Debian 10, RHEL 8): zig, from its PyPI package, links against that version whatever the
# system has. `make wheel COMPATIBILITY=linux ZIG=` takes the system's compiler and glibc instead.
COMPATIBILITY ?= $(if $(filter Linux,$(shell uname -s)),manylinux_2_28,pypi)
ZIG ?= $(filter Linux,$(shell uname -s))
wheel: $(VENV)/.maturin ## The wheel for this system and every Python from 3.11 on, into dist/
	$(if $(ZIG),$(BIN)/pip install --quiet --disable-pip-version-check ziglang)
	PATH=$(abspath $(BIN)):$$PATH $(BIN)/maturin build --release --strip --quiet --out dist --interpreter $(BIN)/python \
		--compatibility $(COMPATIBILITY) $(if $(ZIG),--zig)
	@ls -l dist/*.whl

demo: setup ## A miniature web, crawled, indexed, ranked and served (ONCE=1: do not wait; URL=...: real sites instead)
	@$(BIN)/crivello $(if $(URL),up $(URL),demo $(if $(ONCE),--once))

test: setup-dev ## All tests, Python and Rust (ONLY=name: those whose name holds it)
	@-$(BIN)/python -m tests.chromium
	@$(BIN)/python -m tests.run $(ONLY)

bench: setup-bench ## Every measurement beside its peer (ONLY=part: one part)
	@$(BIN)/python -m bench $(ONLY)

lint: lint-python lint-rust ## ruff, mypy, rustfmt and clippy: no warnings

lint-python: $(VENV)/.tools
	$(BIN)/ruff format --check --quiet .
	$(BIN)/ruff check --quiet .
	$(BIN)/mypy --no-error-summary

lint-rust:
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --quiet -- -D warnings

types: setup-dev ## Check that every public name has a complete type, as pyright sees it
	PATH=$(abspath $(BIN)):$$PATH pyright --verifytypes crivello --ignoreexternal

fmt: $(VENV)/.tools ## Format everything, and mend what can be mended
	$(BIN)/ruff check --quiet --fix .
	$(BIN)/ruff format --quiet .
	cargo fmt --all

docs: setup-dev ## Bring the generated parts of README and docs/ up to date, and build site/ (SERVE=1: and serve it)
	@$(BIN)/python -m tests.chromium
	@$(BIN)/python -m docs.generate
	@$(BIN)/python -m docs.recording
	@$(BIN)/python -m docs.site
	@$(if $(SERVE),$(BIN)/python -m docs.site --serve)

clean: ## Remove what was built and installed
	rm -rf $(VENV) target $(CORE) dist site bench/results .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -prune -exec rm -rf {} +
