# make verify: the main job, every claim checked, on 40 draws of each source (`dlsched verify` has 100); goes on where it
# stopped, and begins anew after a change.
# make test: the whole test suite on the installed wheel.
# make quick: the tests that start no processes and take no seconds each, in under two minutes.
# make dev: a strict editable install in .venv. make bench: docs/benchmarks.md, own methods beside
# other solvers (hours; goes on where it stopped; `python -m benchmarks --list` has the names).
# make audit: the tests that `make test` leaves out as long, hypothesis on more examples, then 10000 seeded cases of each
# family of badly scaled instances and mutated inputs (a tenth where one is a hundred solves); goes on where it stopped.
# make pages: what docs/claims says of each claim anew, from a run of verify over 600 draws of each source, 6 of an
# evaluation (30 of those that 30 decide), and at least DRAWS instances of each claim that is known to be true (10000: two
# hours), which goes on where it stopped.
# make figures: the papers' figures at few points and draws, into build/figures; those that need public data (see
# `dlsched list figures`) where the folder DATA is there.
# make gallery: docs/figures.md and its pictures anew, from a run of every figure at its paper's points, which goes on
# where it stopped (hours; GALLERY="--quick" or "--seeds 5" for less).
# make docs: the documentation as a site, into build/site, without a network once the packages are there. make links: try
# its links to elsewhere, over the network (no test does).
# make lock: constraints.txt anew from pyproject.toml and the package index in use, keeping the pins that still fit (all
# the newest: delete the file first). make lowest: quick tests with the lowest versions that pyproject.toml allows.
# make matrix: the quick tests under each of PYTHONS that is there.
# Each target makes what it needs: a virtual environment in build/venv with the pinned versions of constraints.txt, every
# download checked against the hashes there.
PYTHON ?= python3
DRAWS ?= 1000
AVERAGES := 'pd-ors/evaluation-*' pd-ors-thesis/evaluation-oasis-hour 'gadget/baselines-*' 'gadget/evaluation*'
DATA ?= ../shared/data
GALLERY ?=
PYTHONS ?= python3.11 python3.12 python3.13
VENV := build/venv
BIN := $(VENV)/bin
PIP := pip --disable-pip-version-check -q
PINNED := install --require-hashes --only-binary :all: --no-deps -r constraints.txt
OWN := --no-index --no-deps --no-build-isolation
UV := build/uv/bin/uv
QUICK := --hypothesis-profile=quick -m 'not slow and not process and not shared_data and not long'
ROOMS := package solvers models relaxations rounding algorithms bounds figures traces cli
SOURCES := pyproject.toml constraints.txt README.md LICENSE $(shell find $(ROOMS) -type f -not -name '*.pyc')

.PHONY: verify test quick audit pages figures gallery docs links dev bench lock lowest matrix clean

verify: build/.installed
	find build/verify-40.sqlite ! -newer build/.installed -delete 2> /dev/null || true
	$(BIN)/dlsched verify --instances 40 --out build/verify-40.sqlite

test: build/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy -p dlsched
	OMP_NUM_THREADS=1 $(BIN)/pytest -n 2 --dist worksteal

quick: build/.installed
	OMP_NUM_THREADS=1 $(BIN)/pytest -n 2 --dist worksteal -q $(QUICK)

audit: lowest build/.installed
	OMP_NUM_THREADS=1 $(BIN)/pytest -n 2 --dist worksteal -q --hypothesis-profile=audit -m 'long or hypothesis'
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.audit --out build/audit.sqlite

pages: build/.installed
	$(BIN)/dlsched verify --instances 600 --each $(DRAWS) --out build/pages-$(DRAWS).sqlite --json > build/pages.json
	$(BIN)/dlsched verify $(AVERAGES) --instances 3000 --json > build/averages.json
	$(BIN)/python docs/claims/update.py build/pages.json build/averages.json

figures: build/.installed
	OMP_NUM_THREADS=1 $(BIN)/dlsched reproduce --quick --out build/figures $(if $(wildcard $(DATA)),--data $(DATA))

docs: build/.installed
	$(BIN)/sphinx-build -q -W --keep-going docs build/site

links: build/.installed
	$(BIN)/sphinx-build -q -b linkcheck -D nb_execution_mode=off docs build/links

dev:
	$(PYTHON) -m venv .venv
	.venv/bin/$(PIP) $(PINNED)
	.venv/bin/$(PIP) install $(OWN) --config-settings editable_mode=strict -e .

bench: build/.installed
	$(BIN)/python -m benchmarks --out build/bench.jsonl --page docs/benchmarks.md --data $(DATA)

gallery: build/.installed
	OMP_NUM_THREADS=1 $(BIN)/dlsched reproduce $(GALLERY) --out build/gallery --json \
	    $(if $(wildcard $(DATA)),--data $(DATA)) > build/gallery.json
	$(BIN)/python docs/figures/update.py build/gallery.json

lock: $(UV)
	$(UV) pip compile -q pyproject.toml --all-extras --universal --python-version 3.11 --fork-strategy fewest \
	    --only-binary :all: --generate-hashes --no-annotate --custom-compile-command "make lock" -o constraints.txt

lowest: $(UV) build/.installed
	$(PYTHON) -m venv --clear build/lowest
	$(UV) pip install -q --python build/lowest --resolution lowest-direct --only-binary :all: -r pyproject.toml --extra test
	build/lowest/bin/$(PIP) install $(OWN) build/wheel/*.whl
	OMP_NUM_THREADS=1 build/lowest/bin/python -m pytest -n 2 --dist worksteal $(QUICK)

matrix: build/.installed
	for python in $(PYTHONS); do \
	    $$python -c '' 2> /dev/null || { echo "$$python: not there, left out"; continue; }; \
	    rm -rf build/matrix && $$python -m venv build/matrix && build/matrix/bin/$(PIP) $(PINNED) && \
	    build/matrix/bin/$(PIP) install $(OWN) build/wheel/*.whl && build/matrix/bin/python -V && \
	    OMP_NUM_THREADS=1 build/matrix/bin/python -m pytest -n 2 --dist worksteal -q $(QUICK) || exit 1; \
	done

$(UV):
	$(PYTHON) -m venv build/uv
	build/uv/bin/$(PIP) install uv==0.13.9

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

build/.pinned: $(BIN)/python constraints.txt
	$(BIN)/$(PIP) $(PINNED)
	touch $@

build/.installed: build/.pinned $(SOURCES)
	rm -rf build/lib build/bdist.* build/wheel dlsched.egg-info
	$(BIN)/$(PIP) wheel $(OWN) -w build/wheel .
	rm -rf build/lib build/bdist.* dlsched.egg-info
	$(BIN)/$(PIP) install $(OWN) --force-reinstall build/wheel/*.whl
	touch $@

clean:
	rm -rf build .venv *.egg-info
