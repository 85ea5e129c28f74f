# make dashboard   the dashboard, with a sample project the first time
# make test        every test
# make torture     kills, failing disks, crowds: counted for an hour or so
# make help        the rest

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.DEFAULT_GOAL := help
.PHONY: help setup dashboard lab demo test torture check format bench lock papers screenshots clean

help:
	@echo "make setup      a virtual environment in $(VENV) with the pinned packages"
	@echo "make dashboard  the dashboard in a browser, with a sample project the first time"
	@echo "make lab        JupyterLab with the notebooks"
	@echo "make demo       the sample papers, one question, one cited answer, in the terminal"
	@echo "make test       every test: unit, notebooks, a real browser"
	@echo "make torture    kill, crowd and starve the product, and count what is lost (ARGS=--help: shorter ways)"
	@echo "make check      lint, format, types, import layers"
	@echo "make format     format the code"
	@echo "make bench      the benchmarks"
	@echo "make papers     build the sample papers again from data/papers"
	@echo "make screenshots  take the README's pictures of the dashboard again"
	@echo "make lock       pin again what $(VENV) holds"
	@echo "make clean      remove $(VENV) and every cache; never a library"

setup: $(STAMP)

# Quick when nothing changed: the stamp is older than the two files that decide what is installed.
$(STAMP): requirements.lock pyproject.toml
	@echo "Installing the pinned packages into $(VENV): 1.2 GB, a few minutes of silence. This happens once."
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps -e .
	touch $@

dashboard: setup
	$(BIN)/workbench dashboard

lab: setup
	$(BIN)/workbench lab

demo: setup
	$(BIN)/workbench demo

test: setup
	$(BIN)/python -m pytest

# Resumes where it was stopped. ARGS="--kills 50 --minutes 1" is shorter, --seed N repeats, --fresh begins anew.
torture: setup
	$(BIN)/python -m tests.torture $(ARGS)

check: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: setup
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: setup
	$(BIN)/python -m pytest -m benchmark -s

papers: setup
	$(BIN)/python data/build_papers.py

screenshots: setup
	$(BIN)/python data/screenshots.py

lock: setup
	$(BIN)/python -m pip freeze --disable-pip-version-check --exclude-editable > requirements.lock

clean:
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
