# Everything happens in .venv, which each target makes for itself when it is missing or out of date.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready

.PHONY: demo test test-all lint bench targets attack clean

demo: $(READY)  ## Train PCNet on the graph inside the package.
	$(BIN)/pcnet train

test: $(READY) lint  ## Lint, types and all tests but the slow ones.
	$(BIN)/python -m pytest -m "not slow"

test-all: $(READY) lint
	$(BIN)/python -m pytest

lint: $(READY)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

bench: $(READY)  ## Speed and memory, side by side with the usual ways, on graphs of all sizes.
	$(BIN)/python -m benchmarks

targets: $(READY)  ## The same on real graphs, beside what the library sets out to do.
	$(BIN)/python -m benchmarks.speed

attack: $(READY)  ## Damaged files, models and searches by the thousand; a trial that is lost is run again by its seed.
	$(BIN)/python -m benchmarks.attack

clean:
	rm -rf .venv

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --constraint constraints.txt --editable '.[dev]'
	touch $@
