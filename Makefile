PYTHON ?= python3
BIN := .venv/bin
export PYTHONDONTWRITEBYTECODE :=  # empty: Python keeps compiled modules, which hundreds of processes of the tests share
LOCKED := $(BIN)/pip install -q --require-hashes --no-deps
ITSELF := $(BIN)/pip install -q --no-deps --no-build-isolation -e .
TESTS := $(BIN)/pytest -n auto --dist worksteal
GREEN = $(if $(TRIALS)$(KIND)$(FAULT),@echo "only a part of it: its day is not written",PYTHONPATH=tests $(PYTHON) -m support.outside $@)  # the day of a green run, for the list of checks outside CI
STUDIES := $(addprefix bench/test_,coverage.py promised_power.py equilibrium.py governor_limits.py told_apart.py)
LOCK := build/uv/bin/uv pip compile -q pyproject.toml locks/build.in --overrides locks/without-torch.txt --universal \
	--python-version 3.11 --generate-hashes --no-emit-package torch --no-emit-index-url --no-emit-find-links \
	--no-annotate --no-header

.PHONY: demo test fuzz check all-tests mutants outside format types bench stores studies results golden prompts budget load crash docs references lock check-newest check-python check-doors clean

demo: .venv/installed  ## run the demonstration auction
	$(BIN)/harbor auction demo

test: .venv/installed-dev  ## the newcomer's proof: this installation works; four minutes of processor, three on two cores
	$(BIN)/pytest -n auto --dist worksteal -m proof

fuzz: .venv/installed-dev  ## the property tests with new random examples: pin what fails as an @example
	$(TESTS) -m hypothesis --hypothesis-profile=fuzz
	$(GREEN)

check: .venv/installed-dev  ## everything CI runs
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(MAKE) -j2 types all-tests  # side by side: mypy has one core only
	$(MAKE) budget outside

all-tests: test  ## and then the others, except those of `make studies`
	$(TESTS) -m "not proof and not studies"

types: .venv/installed-dev  ## type-check the folders as one package: mypy can't follow them from the root
	rm -rf build/typed && mkdir -p build/typed/harbor
	ln -s $(addprefix $(CURDIR)/,$(wildcard harbor/*) graphs memory personas evaluation) build/typed/harbor
	cd build/typed && MYPYPATH=. $(CURDIR)/$(BIN)/mypy --config-file $(CURDIR)/pyproject.toml --cache-dir $(CURDIR)/.mypy_cache -p harbor

format: .venv/installed-dev
	$(BIN)/ruff check --fix . && $(BIN)/ruff format .

bench: .venv/installed-dev  ## measure; prints a table
	$(BIN)/pytest bench $(addprefix --ignore ,bench/test_load.py $(STUDIES)) -q -p no:cacheprovider --benchmark-columns=min,median,rounds

stores: .venv/installed-dev  ## the store of memories beside raw Chroma and LangGraph's SQLite store, which is fetched; three minutes
	$(BIN)/pip install -q --no-deps --target build/stores langgraph-checkpoint-sqlite==3.1.2 aiosqlite==0.22.1 sqlite-vec==0.1.9
	PYTHONPATH=build/stores $(BIN)/pytest bench/test_store_figures.py -q -p no:cacheprovider --benchmark-columns=min

mutants: .venv/installed-dev .venv-mutants/installed  ## whether the tests notice SET=A of a hundred small changes of the code; an hour, and it goes on where it was stopped
	PYTHONPATH=tests .venv-mutants/bin/python -m mutants --set $(or $(SET),A) $(addprefix --before ,$(BEFORE))
	$(GREEN)

.venv-mutants/installed:
	$(PYTHON) -m venv .venv-mutants
	.venv-mutants/bin/pip install -q cosmic-ray==8.7.0
	touch $@

outside:  ## list the checks outside CI, with the days of their last green runs
	@PYTHONPATH=tests $(PYTHON) -m support.outside

studies: .venv/installed-dev  ## every preset and every cell of a table, and the dearest tests; the coverage of intervals, the errors of tests, the promises of power, equilibria, types that are told apart and the limits of the governor; an hour or more
	$(TESTS) -m studies
	$(BIN)/pytest $(STUDIES) -q -p no:cacheprovider --benchmark-only --benchmark-columns=min
	$(GREEN)

results: .venv/installed-dev  ## run the studies of RESULTS.md anew and write its numbers; about half an hour on two cores
	rm -rf build/results && $(BIN)/python bench/results.py
	$(GREEN)

golden: .venv/installed-dev  ## hold 1,258 games again and compare decisions, prompts, standings, metrics and pages with tests/golden; five minutes
	$(BIN)/python tests/golden/make.py make build/golden && $(BIN)/python tests/golden/make.py compare tests/golden build/golden
	$(GREEN)

prompts: .venv/installed-dev  ## write a filled prompt of each kind, protocol and game to build/prompts, with lengths and findings; 20 seconds
	PYTHONPATH=tests $(BIN)/python -m support.examination

budget: .venv/installed-dev  ## print what the tree costs: code lines, modules, imports, rooms, arrows, tests; KEEP=--keep writes it down
	PYTHONPATH=tests $(BIN)/python -m support.budget $(KEEP)

load: .venv/installed-dev  ## a million settlements of each game, a thousand auctions, large games, many at once; half an hour
	$(BIN)/pytest bench/test_load.py -q -p no:cacheprovider
	$(GREEN)

crash: .venv/installed-dev  ## stop runs in every way, resume them and compare: TRIALS=100 of each KIND= and FAULT=, from SEED=1; an hour or two, and it goes on where it was stopped
	PYTHONPATH=$(CURDIR)/tests OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(BIN)/python -m crash --trials $(or $(TRIALS),100) --seed $(or $(SEED),1) $(addprefix --kind ,$(KIND)) $(addprefix --fault ,$(FAULT))
	$(GREEN)

check-doors: .venv-doors/installed build/doors/node_modules  ## the tests of agents of other makes and of logs for other tools, with their packages in an environment of its own
	.venv-doors/bin/pytest -q tests/doors/test_adapters.py tests/packs/test_inspect_logs.py tests/test_guide.py
	$(GREEN)

.venv-doors/installed: pyproject.toml locks/doors.txt
	@echo "installing into .venv-doors, what is locked alone: about three minutes"
	$(PYTHON) -m venv .venv-doors
	.venv-doors/bin/pip install -q --require-hashes --no-deps -r locks/doors.txt
	.venv-doors/bin/pip install -q --no-deps --no-build-isolation -e .
	touch $@

build/doors/node_modules: examples/doors/package-lock.json
	mkdir -p build/doors && cp examples/doors/package.json examples/doors/package-lock.json build/doors
	npm ci --prefix build/doors --no-audit --no-fund
	touch $@

docs: .venv/installed-dev  ## the site of these pages, in build/docs/html; it is read without a network
	$(BIN)/python -m sphinx -b html -c docs -W --keep-going -n -q . build/docs/html
	@echo "open build/docs/html/index.html"

references: .venv/installed-dev  ## write the pages that are made of the code anew: API.md and docs/reference
	PYTHONPATH=tests $(BIN)/python -m support.references

clean:
	rm -rf .venv .venv-doors .venv-mutants build dist *.egg-info

.venv/installed: pyproject.toml locks/runtime.txt
	@echo "installing into .venv, what is locked alone: about a minute"
	$(PYTHON) -m venv .venv
	$(LOCKED) -r locks/runtime.txt
	$(ITSELF)
	touch $@

.venv/installed-dev: .venv/installed locks/dev.txt
	$(BIN)/pip install -q --no-deps torch==2.13.0  # differs from place to place: what it imports is in the lock
	$(LOCKED) -r locks/dev.txt
	touch $@

lock:  ## renew the locks: the newest versions that pyproject.toml allows, for all Pythons and systems
	$(PYTHON) -m venv build/uv && build/uv/bin/pip install -q uv
	$(LOCK) --upgrade --extra dev locks/torch-needs.in -o locks/dev.txt
	$(LOCK) --upgrade -c locks/dev.txt -o locks/runtime.txt
	cp locks/dev.txt locks/doors.txt  # its versions stay wherever the other packages take them
	$(LOCK) locks/doors.in -o locks/doors.txt
	cd examples/doors && npm update --package-lock-only --omit-lockfile-registry-resolved=true

check-newest:  ## the quick tests with the newest versions that pyproject.toml allows, whatever is locked
	rm -rf build/newest && $(PYTHON) -m venv build/newest
	build/newest/bin/pip install -q torch==2.13.0
	build/newest/bin/pip install -q --upgrade -e .[dev]
	build/newest/bin/pytest -n auto --dist worksteal -m "not slow and not studies"
	$(GREEN)

check-python:  ## the quick tests on another interpreter: make check-python PYTHON=python3.13
	@test "$(origin PYTHON)" != file || { echo "name the interpreter: make check-python PYTHON=python3.13"; exit 2; }
	rm -rf build/python && $(PYTHON) -m venv build/python
	build/python/bin/pip install -q --no-deps torch==2.13.0
	build/python/bin/pip install -q --require-hashes --no-deps -r locks/dev.txt
	build/python/bin/pip install -q --no-deps --no-build-isolation -e .
	build/python/bin/pytest -n auto --dist worksteal -m "not slow and not studies"
	$(GREEN)
