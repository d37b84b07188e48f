PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test check all-tests format lint types bench studies clean

demo: .venv/installed  ## run the demonstration auction
	$(BIN)/harbor auction demo

test: .venv/installed-dev  ## run the tests that show that this installation works: two minutes
	$(BIN)/pytest -n auto --dist worksteal -m "not slow"

check: .venv/installed-dev  ## everything CI runs
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(MAKE) -j2 types all-tests  # side by side: mypy has one core only

all-tests: test  ## and then those that take long
	$(BIN)/pytest -n auto --dist worksteal -m slow

types: .venv/installed-dev  ## type-check the folders as one package: mypy can't follow them from the root
	rm -rf build/typed && mkdir -p build/typed/harbor
	ln -s $(addprefix $(CURDIR)/,$(wildcard harbor/*) graphs memory personas evaluation) build/typed/harbor
	cd build/typed && MYPYPATH=. $(CURDIR)/$(BIN)/mypy --config-file $(CURDIR)/pyproject.toml --cache-dir $(CURDIR)/.mypy_cache -p harbor

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
