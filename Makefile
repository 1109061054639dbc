# Biplanar's commands. Each sets up what it needs; `make demo` and `make test` work on a fresh machine.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

# What `make bench` compares on, and with what: for example BENCHMARK="-m fast=FOLDER --udpipe FILE --spacy FOLDER".
GOLD ?= ../shared/ud-2.4/UD_English-EWT/en_ewt-ud-dev.conllu.xz
BENCHMARK ?=

# The models of languages other than English, and the one that the demo shows.
PACKAGES := $(wildcard models/packages/*)
SECOND := $(wildcard models/packages/pt)

.PHONY: install demo test test-fast check release-check format bench tables docs clean

install: $(VENV)/installed $(VENV)/packages

$(VENV)/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --constraint constraints.txt --editable ".[dev]"
	@touch $@

$(VENV)/packages: $(VENV)/installed $(wildcard models/packages/*/pyproject.toml)
	$(if $(PACKAGES),$(BIN)/pip install --quiet --no-deps --no-build-isolation $(PACKAGES:%=--editable ./%))
	@touch $@

# The demo needs no development tools, so it makes do with the plain package, and a second language.
$(VENV)/usable: $(SECOND:%=%/pyproject.toml)
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --constraint constraints.txt --editable . $(SECOND:%=--editable ./%)
	@touch $@

demo: $(VENV)/usable
	@$(BIN)/biplanar demo

test: install
	$(BIN)/pytest -n auto --dist loadfile

# While working: what is quick to run, at most 90 seconds on two cores.
test-fast: install
	$(BIN)/pytest -n auto --dist loadfile -m "not slow"

check: install
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

# Before a release: what is about to be released is then in dist/.
release-check: check
	$(BIN)/pytest tests/test_release.py tests/pipeline/test_formats.py
	rm -rf dist
	$(BIN)/python -m build

format: install
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: install
	$(BIN)/pip install --quiet --constraint constraints.txt --editable ".[dev,bench]"
	$(BIN)/python -m benchmarks.core
	$(BIN)/python -m benchmarks.search
	$(BIN)/python -m benchmarks.parsers $(GOLD) $(BENCHMARK)

# Tables and figures in README and docs, from study/results and benchmarks/results.
tables: install
	$(BIN)/python -m study.pages

# The theme says at each build that its maintenance ends in May 2027; its successor reads the same mkdocs.yml.
docs: install
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict --clean

clean:
	rm -rf dist site .cache $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
