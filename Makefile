# The front door. Each target works on a fresh clone with python3, make and a package index:
#   make conformance                     judges the newest JAX that this Python can install
#   make conformance PYTHON=python3.12   the same with another Python
#   make test                            this project's own checks and tests
#   make sweep                           judges ten versions of JAX and makes their ledgers again
#   make bench                           what it costs
# ARGS goes to pytest (to asv for bench, versions for sweep): make conformance ARGS="--rule 'PUT-0*' --partitioner shardy"

PYTHON ?= python3
ARGS ?=
version := $(shell $(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])')
ifeq ($(version),)
$(error $(PYTHON) does not run; name a Python 3.11 or newer with PYTHON=)
endif
env := .envs/$(version)
python := $(env)/bin/python
record := reports/out/latest.jsonl
ifneq ($(filter --record%,$(ARGS)),)
$(error make records in $(record) and checks that; for another file: $(python) -m pytest conformance --record FILE)
endif
collecting := $(filter --collect-only --co,$(ARGS))

.PHONY: conformance test check format sweep bench clean

conformance: $(env)/ready
	mkdir -p reports/out
	rm -f $(record)
	$(python) -m pytest conformance --record $(record) $(ARGS)
	$(if $(collecting),,$(python) -m reports ledger check $(record))

test: check
	$(python) -m pytest tests -n 2 $(ARGS)

check: $(env)/ready
	$(python) -m ruff check .
	$(python) -m ruff format --check .
	$(python) -m mypy

sweep: $(env)/ready
	$(python) -m pip install --quiet --group sweep
	$(python) -m reports sweep $(ARGS)

bench: $(env)/ready
	$(python) -m benchmarks run -a rounds=1 $(ARGS)

format: $(env)/ready
	$(python) -m ruff check --fix-only .
	$(python) -m ruff format .

$(env)/ready: pyproject.toml
	$(PYTHON) -m venv $(env)
	$(python) -m pip install --quiet --upgrade 'pip>=25.1'
	$(python) -m pip install --quiet --group all
	touch $@

clean:
	rm -rf .envs .tox .asv reports/out
