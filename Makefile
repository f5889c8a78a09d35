# knee: everything from a clean checkout. Needs Python 3.11, Rust and make; the rest goes into .venv.

PYTHON ?= python3.11
BIN := .venv/bin
PYTHON_SOURCES := python tests docs/conf.py docs/absent_figures.py docs/experiments docs/pictures reference vectors crates/sim/benches \
	crates/python/third_party.py
TOOL := cargo install --quiet --locked --root target/tools
SECONDS ?= 60
RUST := $(shell find crates -name '*.rs' -o -name Cargo.toml 2>/dev/null) Cargo.toml Cargo.lock

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help build run test docs reference reproduce bench bench-guard fmt generate lock audit fuzz mutants clean \
	test-rust test-python lint-rust lint-python check-generated

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: .venv/built ## Make .venv and the compiled extension

run: build ## Run the quickstart: a table, and results/quickstart
	$(BIN)/knee run scenarios/quickstart.toml

test: lint-rust test-rust build lint-python check-generated test-python ## Run every check and test

docs: build ## Build the site into docs/_build/html
	$(BIN)/sphinx-build -W --keep-going -q -b html docs docs/_build/html
	@echo "docs/_build/html/index.html"

reference: build ## Compare with ns-2, ns-3 and htsim (some minutes)
	$(BIN)/python reference/compare.py

reproduce: build ## Answer the papers' claims (an hour or more the first time): docs/claims
	@for paper in $$(cd ledger && ls -d */ | tr -d /); do \
		$(BIN)/knee reproduce $$paper --out results/reproduce/$$paper || exit; \
		mkdir -p docs/claims/$$paper && rm -f docs/claims/$$paper/*; \
		cp results/reproduce/$$paper/*.png results/reproduce/$$paper/report.md docs/claims/$$paper/; \
	done

bench: ## Speed on the reference workloads, and how it scales: a table and results/bench.json
	@mkdir -p results
	cargo bench --locked -p knee-sim --bench workloads -- --scaling --json $(CURDIR)/results/bench.json
	@[ ! -x $(BIN)/python ] || $(BIN)/python crates/sim/benches/curve.py results/bench.json results/bench.png

bench-guard: ## Instructions of two short workloads against the known ones (valgrind)
	@command -v valgrind >/dev/null || { [ "$$(id -u)" = 0 ] && apt-get update -qq && apt-get install -y -qq valgrind; }
	$(PYTHON) crates/sim/benches/instructions.py

fmt: build ## Format Rust and Python
	cargo fmt --all
	$(BIN)/ruff format $(PYTHON_SOURCES)
	$(BIN)/ruff check --fix $(PYTHON_SOURCES)

generate: build ## Write the generated files anew: docs/scenario.schema.json, THIRD-PARTY.txt
	$(BIN)/knee scenario schema > docs/scenario.schema.json
	$(BIN)/python crates/python/third_party.py > THIRD-PARTY.txt

lock: .venv/installed ## Choose the newest Python packages that pyproject.toml allows: requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv==0.13.9
	$(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.11 --all-extras --generate-hashes \
		--no-annotate --custom-compile-command "make lock" --output-file requirements.lock pyproject.toml

audit: ## Licences, sources, duplicates and known flaws of the Rust packages (compiles cargo-deny)
	$(TOOL) cargo-deny@0.20.2
	target/tools/bin/cargo-deny --locked check bans licenses sources
	@target/tools/bin/cargo-deny fetch db 2>/dev/null || echo "make: the advisories are out of reach"
	@if ls -d "$${CARGO_HOME:-$$HOME/.cargo}"/advisory-dbs/*/ >/dev/null 2>&1; then \
		target/tools/bin/cargo-deny --locked check advisories --disable-fetch; \
	else echo "make: no copy of them is here either: known flaws are NOT checked"; fi

fuzz: build ## Fuzz scenario text, vectors, packets and the store, SECONDS=60 each; finds are kept (needs g++)
	RUSTC_WORKSPACE_WRAPPER=$(CURDIR)/crates/fuzz/instrumented \
		cargo build --quiet --locked -p knee-fuzz --bins --features libfuzzer
	$(call FUZZ,scenario,scenarios crates/scenario/tests/bad,-dict=crates/fuzz/scenario.dict)
	$(call FUZZ,vectors,vectors)
	$(call FUZZ,packets,,-max_len=4096)

# An input that breaks a target ends it, and stays beside what has been found so far.
define FUZZ
target/debug/fuzz-$(1) -max_total_time=$(SECONDS) -timeout=30 -rss_limit_mb=4096 -verbosity=0 -print_final_stats=1 $(3) \
	-artifact_prefix=crates/fuzz/corpus/$(1)/broken- crates/fuzz/corpus/$(1) $(2)
endef

clean: ## Remove what the others made: .venv, target, results, the site
	rm -rf .venv target results docs/_build python/knee/_core*.so
	rm -rf .pytest_cache .ruff_cache .mypy_cache .hypothesis .import_linter_cache
	find python tests -name __pycache__ -prune -exec rm -rf {} +

lint-rust:
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked -- -D warnings

test-rust:
	cargo test --workspace --locked

lint-python: build
	$(BIN)/ruff format --check $(PYTHON_SOURCES)
	$(BIN)/ruff check $(PYTHON_SOURCES)
	$(BIN)/mypy
	MYPYPATH=python:reference $(BIN)/mypy --strict reference/compare.py
	MYPYPATH=python $(BIN)/mypy --strict docs/experiments
	$(BIN)/python vectors/generate.py --check
	$(BIN)/lint-imports --no-cache
	$(BIN)/python -m mypy.stubtest knee._core --concise

check-generated: build
	$(BIN)/knee scenario schema | diff -u docs/scenario.schema.json - \
		|| { echo "docs/scenario.schema.json is out of date: make generate"; exit 1; }
	$(BIN)/python crates/python/third_party.py | diff -u THIRD-PARTY.txt - \
		|| { echo "THIRD-PARTY.txt is out of date: make generate"; exit 1; }

test-python: build
	$(BIN)/python -m pytest

# The tools and the libraries, as they are locked.
.venv/installed: requirements.lock
	@$(PYTHON) -m venv .venv || { echo "make: $(PYTHON) with venv is needed" \
		"(Debian: apt install python3.11-venv), or name another: make PYTHON=python3.12" >&2; exit 1; }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	@touch $@

# The extension, anew when a Rust source changed.
.venv/built: .venv/installed $(RUST)
	VIRTUAL_ENV="$(CURDIR)/.venv" $(BIN)/maturin develop --release --locked
	@touch $@
