PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test check format lint types bench studies clean

demo: .venv/installed  ## hold the demonstration auction
	$(BIN)/harbor auction demo

test: .venv/installed-dev  ## run the tests
	$(BIN)/pytest -n auto

check: .venv/installed-dev  ## everything CI runs
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(MAKE) types
	$(BIN)/pytest -q tests/test_architecture.py
	$(BIN)/pytest -n auto

types: .venv/installed-dev  ## type-check an installed copy: mypy can't follow the folders from the root
	rm -rf build && $(BIN)/pip install -q --no-deps --target build/typed .
	cd build/typed && MYPYPATH=. ../../$(BIN)/mypy --config-file ../../pyproject.toml -p harbor

format: .venv/installed-dev
	$(BIN)/ruff check --fix . && $(BIN)/ruff format .

bench: .venv/installed-dev  ## measure; prints a table
	$(BIN)/pytest bench --ignore bench/test_studies.py -q -p no:cacheprovider --benchmark-only --benchmark-columns=min,median,rounds

studies: .venv/installed-dev  ## what theory of mind and memory do for the built-in model; about a quarter of an hour
	$(BIN)/pytest bench/test_studies.py -q -p no:cacheprovider --benchmark-only --benchmark-columns=min

clean:
	rm -rf .venv build dist *.egg-info

.venv/installed: pyproject.toml
	@echo "installing into .venv: about a minute"
	$(PYTHON) -m venv .venv
	$(BIN)/pip install -q -e .
	touch $@

.venv/installed-dev: .venv/installed
	$(BIN)/pip install -q torch==2.13.0  # named first and alone: it is the build without CUDA's gigabytes here
	$(BIN)/pip install -q -e .[dev]
	touch $@
