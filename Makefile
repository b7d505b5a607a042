# `make grade` and `make test` are all a fresh machine needs: each installs first if it must.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/installed

.PHONY: install grade test deep lint docs bench growth verify audit derive fuzz fuzz-frames fuzz-intake soak cluster kills clean

install: $(INSTALLED)

$(INSTALLED): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev,docs]'
	touch $@

grade: install
	$(BIN)/grader grade submissions/examples --out graded

test: install
	$(BIN)/python -m pytest --numprocesses auto --dist loadfile

deep: install
	$(BIN)/python -m pytest --numprocesses auto --dist loadfile -m deep

lint: install
	$(BIN)/ruff check --output-format concise .
	$(BIN)/ruff format --check --quiet .
	$(BIN)/mypy

verify: install
	$(BIN)/grader verify

audit: install
	$(BIN)/grader audit --write docs/power.md

derive: install
	$(BIN)/grader derive

fuzz: install
	$(BIN)/python tests/formulas/fuzz_formulas.py --count 100000

kills: install
	$(BIN)/python tests/engine/kill_runs.py --kills 100

fuzz-frames: install
	$(BIN)/python -m tests.fuzz.fuzz_frames --seconds 600

fuzz-intake: install
	$(BIN)/python -m tests.fuzz.fuzz_intake --seconds 600

soak: install
	$(BIN)/python -m tests.fuzz.soak --submissions 100 1000

cluster: install
	$(BIN)/python -m tests.fuzz.cluster_run --submissions 2000

docs: install
	$(BIN)/mkdocs build --strict --quiet --site-dir site

bench: install
	$(BIN)/grader bench --write docs

growth: install
	$(BIN)/grader bench --growth --write docs

clean:
	rm -rf $(VENV) graded site .mypy_cache .ruff_cache .pytest_cache *.egg-info
