# verify: the main job. test: the whole test suite on the installed wheel. dev: a strict editable install.
PYTHON ?= python3
VENV := build/venv
BIN := $(VENV)/bin
SOURCES := pyproject.toml constraints.txt $(shell find models relaxations rounding algorithms bounds traces cli -name '*.py' -o -name '*.json' -o -name py.typed)

.PHONY: verify test dev bench clean

verify: build/.installed
	$(BIN)/dlsched verify --out build/verify.sqlite

test: build/.installed build/.dev-tools
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy -p dlsched
	OMP_NUM_THREADS=1 $(BIN)/pytest -n 2

dev:
	$(PYTHON) -m venv .venv
	.venv/bin/pip install -q -c constraints.txt --config-settings editable_mode=strict -e '.[dev]'

bench: build/.installed build/.dev-tools
	$(BIN)/python benchmarks/hadar_exact.py --out build/bench

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

build/.installed: $(BIN)/python $(SOURCES)
	$(BIN)/pip install -q -c constraints.txt --force-reinstall --no-deps .
	$(BIN)/pip install -q -c constraints.txt dlsched
	@touch $@

build/.dev-tools: build/.installed
	$(BIN)/pip install -q -c constraints.txt 'dlsched[dev]'
	@touch $@

clean:
	rm -rf build .venv
