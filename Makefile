# What CI runs is what these targets run. Needs git, make and Python >= 3.11; builds everything else in .venv.
PYTHON ?= python3
BIN := .venv/bin
SOURCES := pyproject.toml

.PHONY: demo test check bench docs clean

demo: .venv/installed
	$(BIN)/datamorphic demo

test: .venv/developing
	$(BIN)/python -m pytest -n auto

check: .venv/developing
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: .venv/developing
	$(BIN)/python -m benchmarks

docs: .venv/documenting
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "The documentation: site/index.html"

clean:
	rm -rf .venv site datamorphic-demo .pytest_cache .mypy_cache .ruff_cache .hypothesis

.venv/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=python3.12")'
	$(PYTHON) -m venv .venv

# A stamp a level: a second call does nothing until pyproject.toml changes.
.venv/installed: .venv/bin/python $(SOURCES)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	touch $@

.venv/developing: .venv/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	touch $@

.venv/documenting: .venv/developing
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[docs]'
	touch $@
