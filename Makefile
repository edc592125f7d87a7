.DEFAULT_GOAL := help
PYTHON ?= python3
BIN := .venv/bin

.PHONY: help setup lint test reproduce interop bench docs browser clean

help: ## show this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 14

setup: .venv/.ready ## make .venv with everything the tests need

.venv/.ready: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[dev,learn,cluster]'
	@touch $@

lint: setup ## style and types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

test: lint ## style, types and all tests
	$(BIN)/pytest -n 2 --dist loadfile

reproduce: setup ## recompute what the paper published and compare
	$(BIN)/kflip reproduce

.venv-bench/.ready: pyproject.toml
	$(PYTHON) -m venv .venv-bench
	.venv-bench/bin/pip install --quiet --disable-pip-version-check --editable '.[peers]'
	@touch $@

.venv-interop/.ready: pyproject.toml requirements/interop.txt
	$(PYTHON) -m venv .venv-interop
	.venv-interop/bin/pip install --quiet --disable-pip-version-check -r requirements/interop.txt --editable .
	@touch $@

.venv-dacbench/.ready: pyproject.toml
	$(PYTHON) -m venv .venv-dacbench
	.venv-dacbench/bin/pip install --quiet --disable-pip-version-check dacbench==0.5.6 ioh pytest mpmath --editable .
	@touch $@

interop: .venv-interop/.ready .venv-dacbench/.ready ## tests with iohinspector and DACBench
	.venv-interop/bin/python -m pytest tests/interop
	.venv-dacbench/bin/python -m pytest tests/interop/test_dacbench.py

bench: .venv-bench/.ready .venv-dacbench/.ready ## measure against other solvers; rewrites benchmarks/*.md
	.venv-bench/bin/python -m benchmarks.run
	printf '# Environments and runs\n\nWritten by `make bench`; processor time of one process, best of alternating repeats, see `benchmarks/environments.py`.\n\n' > benchmarks/ENVIRONMENTS.md
	.venv-dacbench/bin/python -m benchmarks.environments >> benchmarks/ENVIRONMENTS.md

.venv-docs/.ready: pyproject.toml requirements/docs.txt
	$(PYTHON) -m venv .venv-docs
	.venv-docs/bin/pip install --quiet --disable-pip-version-check -r requirements/docs.txt --editable .
	@touch $@

docs: .venv-docs/.ready ## build the documentation into site/
	.venv-docs/bin/sphinx-build -W --keep-going -q -b html docs site

browser: setup ## test the report page in Chromium (Debian: apt-get install chromium)
	$(BIN)/pip install --quiet --disable-pip-version-check playwright
	$(BIN)/pytest tests/browser

clean: ## remove what was built
	rm -rf .venv .venv-* site build dist .mypy_cache .ruff_cache .pytest_cache
	find . -name __pycache__ -prune -exec rm -rf {} +
