# What CI runs is what these targets run. Needs git, make and Python >= 3.11; builds everything else in .venv.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# one more process than cores: a sixth of the time of tests is waiting
WORKERS ?= $(shell $(PYTHON) -c 'import os; print((os.cpu_count() or 1) + 1)')
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
MARKS ?=
PYTHONS ?= python3.11 python3.12 python3.13 python3.14

# Tests start hundreds of Python processes, and each would compile the package again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test quick check bench bench-peers gallery docs java wheel lowest versions platforms clean

demo: $(VENV)/installed
	$(BIN)/datamorphic demo

# All tests, or those of some marks: make test MARKS="not studio"
test: $(VENV)/developing
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -m "$(MARKS)"

# The tests that take no more than a few seconds each: an answer within two minutes.
quick: $(VENV)/developing
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -m "not slow"

# Style, types, and the branch coverage of the quick tests and of those that click in the studio.
check: $(VENV)/developing
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	rm -f .coverage .coverage.*
	$(BIN)/coverage run -m pytest -q -n $(WORKERS) --dist worksteal -p no:cacheprovider -m "not slow or studio"
	$(BIN)/coverage combine -q
	$(BIN)/coverage report --skip-covered

bench: $(VENV)/measuring
	$(BIN)/python -m benchmarks

# Other tools on the same tasks, each in .venv-peers-NAME, some 3 GB together; writes docs/benchmarks.md.
bench-peers: $(VENV)/measuring
	$(BIN)/python -m benchmarks.peers

# Bugs of released libraries, each in the faulty and the fixed release, in environments of their own (.venv-gallery, some 15 GB);
# writes docs/gallery.md. Python 3.9, 3.11 and 3.13 are found on the path or where pyenv keeps them.
gallery: $(VENV)/developing
	$(BIN)/python -m examples.gallery

docs: $(VENV)/documenting
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "The documentation: site/index.html"

# The loops over Weka's rows, compiled for Java 11; the class is committed, because users may have no compiler.
JAVA_FOLDER := src/datamorphic/systems/java
WEKA_JAR ?= /usr/share/java/weka.jar
java:
	javac --release 11 -g:none -cp $(WEKA_JAR) -d $(JAVA_FOLDER) $(JAVA_FOLDER)/datamorphic/WekaLoops.java

# A wheel, installed into an empty environment, runs the examples of the README and prints how long each takes.
wheel: $(VENV)/developing
	rm -rf dist .venv-wheel
	$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir dist .
	$(PYTHON) -m venv .venv-wheel
	.venv-wheel/bin/python -m pip install --quiet --disable-pip-version-check dist/*.whl
	cd dist && ../.venv-wheel/bin/python ../tests/support/readme_examples.py

# The quick tests with the lowest versions that pyproject.toml allows.
lowest:
	$(PYTHON) -m venv .venv-lowest
	$(PYTHON) tests/support/lowest_versions.py > .venv-lowest/constraints.txt
	.venv-lowest/bin/python -m pip install --quiet --disable-pip-version-check -c .venv-lowest/constraints.txt -e '.[dev]'
	.venv-lowest/bin/python -m pytest -n auto --dist worksteal -m "not slow"

# The quick tests with every supported Python that is installed.
versions:
	@for python in $(PYTHONS); do \
	  if command -v $$python > /dev/null; then $(MAKE) quick PYTHON=$$python VENV=.venv-$$python || exit 1; \
	  else echo "$$python is not installed: skipped"; fi; done

# Whether wheels suffice for every platform and Python; needs the network. What is left out where is named in pyproject.toml.
platforms:
	$(PYTHON) -m venv .venv-platforms
	.venv-platforms/bin/python -m pip install --quiet --disable-pip-version-check uv
	.venv-platforms/bin/python tests/support/platforms.py

clean:
	rm -rf .venv .venv-* dist site datamorphic-demo .coverage .coverage.* .pytest_cache .mypy_cache .ruff_cache .hypothesis

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=python3.12")'
	$(PYTHON) -m venv $(VENV)

# One stamp per level: a second call does nothing until pyproject.toml changes.
$(VENV)/installed: $(BIN)/python pyproject.toml
	$(PIP) -e .
	touch $@

$(VENV)/developing: $(VENV)/installed
	$(PIP) -e '.[dev]'
	touch $@

$(VENV)/measuring: $(VENV)/developing
	$(PIP) -e '.[bench]'
	touch $@

$(VENV)/documenting: $(VENV)/installed
	$(PIP) -e '.[docs]'
	touch $@
