# Every target sets up what it needs in .venv by itself, from pinned versions, and is quick when nothing changed.
# Needed beforehand: git, make and Python 3.11 or newer with its venv module.

SHELL := /bin/sh
VENV := .venv
PY := $(VENV)/bin/python
PIP := $(PY) -m pip --disable-pip-version-check install -qq
WORKERS ?= auto
SOURCES := $(shell find src -type f ! -name '*.pyc') pyproject.toml README.md LICENSE

.PHONY: help demo test test-deep test-agents check docs bench bench-locate lock clean

help:
	@sed -n 's/^#: *//p' $(MAKEFILE_LIST)

#: make demo [REPO=path]   keep, cue and measure a repository: this one, or the one at path
demo: $(VENV)/.package
	@sh tools/demo.sh "$(REPO)"

#: make test               the short suite, against the built wheel
test: $(VENV)/.package $(VENV)/.dev
	$(PY) -m pytest -q -n $(WORKERS) --maxprocesses=8 --dist=worksteal tests
	@sh tools/browser.sh --check || true
	@echo "Not run here: the long runs (make test-deep), and real agent programs (make test-agents)."

#: make test-deep          the long runs: kills, fuzz, soak
test-deep: $(VENV)/.package $(VENV)/.dev
	REPOCUE_TEST_PROFILE=deep $(PY) -m pytest -q -n $(WORKERS) --maxprocesses=8 --dist=worksteal -m deep tests

#: make test-agents        the real Codex CLI and Claude Code against a scripted provider; npm installs them once (800 MB)
test-agents: $(VENV)/.package $(VENV)/.dev
	@sh tools/agents.sh
	REPOCUE_REQUIRE_AGENTS=1 $(PY) -m pytest -q -n $(WORKERS) --maxprocesses=4 --dist=worksteal -m agents tests

#: make check              lint, format, types, room boundaries, dependencies, generated docs
check: $(VENV)/.package $(VENV)/.dev
	$(VENV)/bin/ruff check
	$(VENV)/bin/ruff format --check
	$(VENV)/bin/mypy
	$(VENV)/bin/mypy bench tools
	$(VENV)/bin/lint-imports
	$(VENV)/bin/deptry src
	$(PY) tools/docs.py --check

#: make docs               write the generated pages under docs/ anew
docs: $(VENV)/.package
	$(PY) tools/docs.py

#: make bench              RepoCue beside plain git at 170 to 57 000 files, and reports on 1 000 pairs; fails beyond a bound
bench: $(VENV)/.package
	$(PY) -m bench

#: make bench-locate       replay commits through the locate view: REPO=<clone> COMMITS=<list.tsv> [COMMAND=<other>]
bench-locate: $(VENV)/.package
	$(PY) -m bench.locate --repository '$(REPO)' --commits '$(COMMITS)' $(if $(COMMAND),--command '$(COMMAND)')

#: make lock               choose and pin the newest versions of everything (needs uv)
lock:
	sh tools/lock.sh

#: make clean              remove everything that make made
clean:
	rm -rf $(VENV) dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

$(VENV)/.made:
	@sh tools/venv.sh $(VENV)
	@touch $@

$(VENV)/.runtime: requirements/runtime.lock requirements/build.lock $(VENV)/.made
	$(PIP) -r requirements/runtime.lock -r requirements/build.lock
	@touch $@

$(VENV)/.dev: requirements/dev.lock $(VENV)/.runtime
	$(PIP) -r requirements/dev.lock
	@touch $@

$(VENV)/.package: $(SOURCES) $(VENV)/.runtime
	@rm -rf dist
	$(PY) -m hatchling build -t wheel -d dist >/dev/null
	$(PIP) --no-deps --force-reinstall dist/*.whl
	@touch $@
