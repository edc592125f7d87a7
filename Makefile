.DEFAULT_GOAL := help
PYTHON ?= python3
BIN := .venv/bin

.PHONY: help setup lint test reproduce bench clean

help: ## show this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 14

setup: .venv/.ready ## make .venv with everything the tests need

.venv/.ready: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

lint: setup ## style and types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

test: lint ## style, types and all tests
	$(BIN)/pytest

reproduce: setup ## recompute what the paper published and compare
	$(BIN)/kflip reproduce

.venv-bench/.ready: pyproject.toml
	$(PYTHON) -m venv .venv-bench
	.venv-bench/bin/pip install --quiet --disable-pip-version-check --editable '.[peers]'
	@touch $@

bench: .venv-bench/.ready ## measure against other solvers; rewrites benchmarks/RESULTS.md
	.venv-bench/bin/python -m benchmarks.run

clean: ## remove what was built
	rm -rf .venv .venv-* build dist .mypy_cache .ruff_cache .pytest_cache
	find . -name __pycache__ -prune -exec rm -rf {} +
