# `make mnist` and `make test` each create .venv and install what they need; a second run installs nothing.
#
#   PYTHON=python3.13     the interpreter to use (default: the first of 3.13, 3.12 that works); it gets a .venv of its own
#   ARGS="--data DIR"     passed on to the example or benchmark
#   JOBS=2                processes that share the tests

VENV ?= .venv$(if $(PYTHON),-$(notdir $(PYTHON)))
JOBS ?= 2
python := $(VENV)/bin/python
# The products here are small: more threads gain nothing, and cost many times the time where others use the processor too.
export OPENBLAS_NUM_THREADS ?= 1

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help mnist test lint must-fail pytest test-slow benchmark-mlp benchmark-resnet benchmark-static clean force

help:
	@echo 'make mnist             train a network on handwritten digits (ARGS="--data DIR": on the full set)'
	@echo 'make test              lint, types, the must-fail suite and the tests: under 10 minutes on 2 cores'
	@echo 'make test-slow         the longer tests, and the wheel in an environment of its own'
	@echo 'make lint              ruff and mypy; make must-fail, make pytest: the other parts of make test'
	@echo 'make benchmark-mlp     time of a training step and of single operations'
	@echo 'make benchmark-resnet  time of a training step of ResNet-18'
	@echo 'make benchmark-static  how many mistakes in models mypy, the plugin and moonxi check find'
	@echo 'make clean             remove .venv and everything the tools left behind'

mnist: $(VENV)/.installed
	@$(python) examples/mnist.py $(ARGS)

test: lint must-fail pytest

lint: $(VENV)/.installed-dev
	$(python) -m ruff check
	$(python) -m ruff format --check
	$(python) -m mypy

must-fail: $(VENV)/.installed-dev
	$(python) typecheck_tests/run.py

pytest: $(VENV)/.installed-dev
	$(python) -m pytest -n $(JOBS) -m 'not slow and not gpu' $(ARGS)

test-slow: $(VENV)/.installed-checkers
	$(python) -m pytest -n $(JOBS) --dist loadfile -m 'slow and not gpu' $(ARGS)

benchmark-mlp: $(VENV)/.installed
	$(python) -m benchmarks.mlp $(ARGS)

benchmark-resnet: $(VENV)/.installed
	$(python) -m benchmarks.resnet $(ARGS)

benchmark-static: $(VENV)/.installed-dev
	$(python) -m benchmarks.static_checks $(ARGS)

clean:
	rm -rf .venv .venv-* build dist
	find . -type d \( -name __pycache__ -o -name '.*_cache' -o -name .hypothesis \) -prune -exec rm -rf {} +

$(VENV)/.installed: pyproject.toml $(VENV)/.checkout
	@echo 'Installing moonxi into $(VENV)'
	@$(python) -m pip install --quiet --editable '.[progress]'
	@touch $@

$(VENV)/.installed-dev: pyproject.toml $(VENV)/.checkout
	@echo 'Installing moonxi and its development tools into $(VENV)'
	@$(python) -m pip install --quiet --editable '.[dev]'
	@touch $(VENV)/.installed $@

$(VENV)/.installed-checkers: $(VENV)/.installed-dev
	@echo 'Installing further type checkers into $(VENV)'
	@$(python) -m pip install --quiet --editable '.[checkers]'
	@touch $@

$(VENV)/.checkout:
	@python=$$(PYTHON='$(PYTHON)' .ci/find-python.sh) && \
	    echo "Creating $(VENV) with $$python" && "$$python" -m venv --clear '$(VENV)'
	@pwd -P > $@

# Made anew: an environment that was begun but not finished, one whose interpreter is gone, and one that came along in
# a copied or moved checkout, whose editable install would run the code of the old place.
ifneq ($(shell test -x $(python) && cat $(VENV)/.checkout 2>/dev/null),$(CURDIR))
$(VENV)/.checkout: force
endif
