# make verify: the main job, every claim checked. make test: the whole test suite on the installed wheel.
# make dev: a strict editable install in .venv. make bench: the measured tables, into build/bench*.json.
# make audit: 10000 seeded cases of each family of badly scaled instances and mutated inputs, goes on where it stopped.
# Each target makes what it needs: a virtual environment in build/venv with the pinned versions of constraints.txt.
PYTHON ?= python3
VENV := build/venv
BIN := $(VENV)/bin
PIP := $(BIN)/pip --disable-pip-version-check install -q -c constraints.txt
ROOMS := models relaxations rounding algorithms bounds traces cli
SOURCES := pyproject.toml constraints.txt README.md LICENSE $(shell find $(ROOMS) -type f -not -name '*.pyc')

.PHONY: verify test audit dev bench clean

verify: build/.installed
	$(BIN)/dlsched verify --out build/verify.sqlite

test: build/.installed build/.tools
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy $(addprefix -p dlsched.,$(ROOMS))
	OMP_NUM_THREADS=1 $(BIN)/pytest -n 2

audit: build/.installed build/.tools
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.audit --out build/audit.sqlite

dev:
	$(PYTHON) -m venv .venv
	.venv/bin/pip --disable-pip-version-check install -q -c constraints.txt --config-settings editable_mode=strict -e '.[dev]'

bench: build/.installed build/.tools
	$(BIN)/python benchmarks/hadar_exact.py --out build/bench.json
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/smd_exact.py --out build/bench-smd-exact.json
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/smd_algorithm1.py --out build/bench-smd-algorithm1.json
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/dmlrs_exact.py --out build/bench-dmlrs.json
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/ddljs_slot.py --out build/bench-ddljs-slot.json
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/ddljs_lp.py --out build/bench-ddljs-lp.json
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/ddljs_horizon.py --out build/bench-ddljs-horizon.json
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/rounding.py --out build/bench-rounding.json

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

build/.installed: $(BIN)/python $(SOURCES)
	rm -rf build/lib build/bdist.* build/wheel dlsched.egg-info
	$(BIN)/pip --disable-pip-version-check wheel -q --no-deps -w build/wheel .
	rm -rf build/lib build/bdist.* dlsched.egg-info
	$(PIP) --force-reinstall --no-deps build/wheel/*.whl
	$(PIP) "$$(ls build/wheel/*.whl)[certify]"
	touch $@

build/.tools: build/.installed
	$(PIP) "$$(ls build/wheel/*.whl)[dev]"
	touch $@

clean:
	rm -rf build .venv *.egg-info
