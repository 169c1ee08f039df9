"""What is registered: this package's own entries, those of other distributions, and modules that are loaded."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from dlsched import plugins
from dlsched.algorithms import ExactMethod, algorithms
from dlsched.bounds import claims
from dlsched.models import InputError, catalog, problem, problem_of, problems
from tests import forks
from tests.forks import Fresh

pytestmark = pytest.mark.process

Run = Callable[..., subprocess.CompletedProcess[str]]

LISTED = """
import sys

sys.path.insert(0, sys.argv[1])
from dlsched.algorithms import algorithms
from dlsched.models import catalog, problems
print(*[problem.name for problem in problems()])
print(*[formulation.name for formulation in catalog()])
print(*[f"{algorithm.problem}/{algorithm.name}" for algorithm in algorithms()])
"""
OWN = ["ddljs", "dmlrs", "hadar", "smd"]
BINS = '''
"""Items in bins."""
from dlsched.algorithms import Algorithm, Run
from dlsched.models import hadar, Problem

PROBLEMS = Problem("bins", "items in bins", hadar.Instance, hadar.Schedule, hadar.check, hadar.utility)


def first_fit(instance, *, seed=0, depth: int = 3):
    """Put each item where it fits.

    Parameters
    ----------
    instance : Instance
    depth : int
        How many bins are open. The rest is closed.
    """
    return Run(hadar.Schedule(jobs={}), 0.0 if depth < 9 else 9.0, {}, ())


ALGORITHMS = (Algorithm("first-fit", "bins", "the first bin", first_fit),)
'''


@pytest.fixture
def listed(fresh: Fresh, tmp_path: Path) -> Run:
    """What a fresh process lists that finds modules and distributions in a folder."""

    def run(**environment: str) -> subprocess.CompletedProcess[str]:
        return fresh.run(LISTED, tmp_path, environment={**os.environ, **environment})

    return run


def install(folder: Path, name: str, entry_points: str, **modules: str) -> None:
    """Make what an installed distribution leaves: its modules and its metadata."""
    for module, text in modules.items():
        (folder / f"{module}.py").write_text(text)
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(entry_points)


def warnings_in(process: subprocess.CompletedProcess[str]) -> list[str]:
    assert process.returncode == 0, process.stderr
    marked = (line.partition("PluginWarning: ") for line in process.stderr.splitlines())
    return [text for _, mark, text in marked if mark]


def test_own_problems_own_formulations_and_algorithms() -> None:
    assert [entry.name for entry in problems()] == OWN
    assert {entry.problem for entry in catalog()} == set(OWN)
    assert {entry.problem for entry in algorithms()} == set(OWN)
    for entry in problems():
        assert all(formulation.instance is entry.instance for formulation in entry.formulations)
        assert problem_of(entry.preset("random", 0)) is entry
    assert {claim.problem for claim in claims()} == set(OWN)


def test_an_unknown_problem_and_something_that_is_no_instance() -> None:
    with pytest.raises(InputError, match="unknown problem 'bins'; there are ddljs, dmlrs, hadar, smd"):
        problem("bins")
    with pytest.raises(TypeError, match="instance: expected"):
        problem_of("hadar")  # type: ignore[arg-type]


def test_options_are_those_of_the_function() -> None:
    hadar = next(entry for entry in algorithms() if entry.name == "hadar")
    options = hadar.options
    assert {"variant", "mode", "comm_cost", "max_states"} <= set(options.__dataclass_fields__)
    assert not {"seed", "instance", "progress", "time_limit"} & set(options.__dataclass_fields__)
    assert options().mode == "commit"
    assert options.__dataclass_fields__["comm_cost"].metadata["help"].startswith("Rounds: utility that an allocation")


def test_every_problem_has_its_own_exact_method() -> None:
    from dlsched.algorithms.algorithm import exact_method

    assert all(isinstance(exact_method(name), ExactMethod) for name in OWN)


def test_another_distribution_adds_to_the_groups(listed: Run, tmp_path: Path) -> None:
    points = "[dlsched.problems]\nbins = bins:PROBLEMS\n\n[dlsched.algorithms]\nbins = bins:ALGORITHMS\n"
    install(tmp_path, "bins", points, bins=BINS)
    process = listed()
    assert warnings_in(process) == []
    names, _, methods = process.stdout.splitlines()
    assert names.split() == [*OWN, "bins"]
    assert methods.split()[-1] == "bins/first-fit"


def test_a_function_may_return_the_objects(listed: Run, tmp_path: Path) -> None:
    text = BINS + "\n\ndef everything():\n    return [PROBLEMS]\n"
    install(tmp_path, "bins", "[dlsched.problems]\nbins = bins:everything\n", bins=text)
    assert listed().stdout.splitlines()[0].split() == [*OWN, "bins"]


@pytest.mark.parametrize(
    ("text", "point", "said"),
    [
        ("raise KeyError('no such thing')", "bins:X", "KeyError: 'no such thing'"),
        ("import no_such_module", "bins:X", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("X = 3", "bins:Y", "AttributeError: module 'bins' has no attribute 'Y'"),
        ("X = 3", "bins:X", "expected a Problem, not int"),
        ("X = [1, 'two']", "bins:X", "expected a Problem, not int"),
        ("DLSCHED_INTERFACE = 0\nX = ()", "bins:X", "is written for interface 0 of dlsched; this is 1"),
        (
            BINS.replace('"bins", "items', '"hadar", "items'),
            "bins:PROBLEMS",
            "problem 'hadar' is there from dlsched, entry point 'hadar'",
        ),
    ],
)
def test_what_cannot_be_used_is_told_in_one_line_and_hides_nothing(
    listed: Run, tmp_path: Path, text: str, point: str, said: str
) -> None:
    install(tmp_path, "bins", f"[dlsched.problems]\nbins = {point}\n", bins=text)
    process = listed()
    told = warnings_in(process)
    assert told[0] == f"bins, entry point 'bins': {said}; it is left out"
    assert len(told) == (2 if "two" in text else 1)
    assert process.stdout.splitlines()[0].split() == OWN


def test_a_module_named_in_the_environment(listed: Run, tmp_path: Path) -> None:
    (tmp_path / "bins.py").write_text(BINS)
    process = listed(DLSCHED_PLUGINS="bins,no_such_module")
    assert warnings_in(process) == [
        "plug-in no_such_module: ModuleNotFoundError: No module named 'no_such_module'; it is left out"
    ]
    assert process.stdout.splitlines()[0].split() == [*OWN, "bins"]


def test_a_name_that_another_algorithm_goes_by_is_taken(listed: Run, tmp_path: Path) -> None:
    (tmp_path / "bins.py").write_text(BINS.replace('"first-fit", "bins"', '"yarn-cs", "hadar"'))
    process = listed(DLSCHED_PLUGINS="bins")
    assert warnings_in(process) == [
        "module bins: algorithm 'hadar/yarn-cs' has a 'hadar/yarn-cs' that is not the one of another algorithm; it is "
        "left out"
    ]
    assert "yarn-cs" not in process.stdout


def test_a_module_that_adds_nothing_is_refused() -> None:
    with pytest.raises(InputError, match="plug-in json: adds nothing; expected one of PROBLEMS, ALGORITHMS, CLAIMS"):
        plugins.load("json")
    with pytest.raises(InputError, match="plug-in no_such_module: ModuleNotFoundError"):
        plugins.load("no_such_module")
    assert plugins.loaded() == ()


@pytest.fixture
def command(fresh: Fresh, tmp_path: Path) -> Run:
    """Run the command in a fresh process that finds modules and distributions in a folder, its own."""
    return partial(fresh.run, f"import sys; sys.path.insert(0, ''); {forks.COMMAND}", folder=tmp_path)


def test_the_command_loads_a_module_of_the_current_folder(command: Run, tmp_path: Path) -> None:
    (tmp_path / "bins.py").write_text(BINS)
    problem("hadar").preset("random", 0).save(tmp_path / "x.json")
    helped = command("--plugin", "bins", "run", "first-fit", "--help")
    assert "How many bins are open. [default: 3]" in " ".join(helped.stdout.split())
    assert "--mode" not in helped.stdout
    run = command("--plugin", "bins", "run", "first-fit", "x.json", "--depth", "5", "--json")
    assert (run.returncode, '"depth": 5' in run.stdout) == (0, True), run.stderr
    lie = command("--plugin", "bins", "run", "first-fit", "x.json", "--depth", "9", "--out", "s.json")
    told = "dlsched: defect: algorithm 'first-fit' of bins: its value is 9.0, and its schedule is worth 0.0\n"
    assert (lie.returncode, lie.stderr, (tmp_path / "s.json").exists()) == (70, told, False)
    unknown = command("--plugin", "binz", "list")
    assert (unknown.returncode, unknown.stderr) == (
        2,
        "dlsched: error: plug-in binz: ModuleNotFoundError: No module named 'binz'\n",
    )


BURST = """
from dlsched.algorithms import Algorithm
from dlsched.algorithms.simulator import Policy


def burst(instance, *, seed=0):
    raise ZeroDivisionError("burst")


def leave(instance, *, seed=0):
    raise SystemExit(3)


class Bursting(Policy):
    name = "burst"

    def decide(self, state, rng):
        return burst(state.instance)


ALGORITHMS = (
    Algorithm("burst", "hadar", "it bursts", burst, policy=Bursting),
    Algorithm("leave", "hadar", "it leaves", leave),
)
"""


def test_one_broken_algorithm_takes_no_other_with_it(command: Run, tmp_path: Path) -> None:
    (tmp_path / "bins.py").write_text(BINS.replace("depth: int = 3", "depth: int = 3, out: bool = False"))
    (tmp_path / "bursts.py").write_text(BURST)
    problem("hadar").preset("random", 0).save(tmp_path / "x.json")
    helped = command("--plugin", "bins", "run", "--help")
    assert (helped.returncode, "first-fit" in helped.stdout) == (0, True)
    clash = command("--plugin", "bins", "run", "first-fit", "x.json")
    told = "dlsched: error: first-fit: its options out are called like those of `dlsched run` itself\n"
    assert (clash.returncode, clash.stderr) == (2, told)
    compared = command("--plugin", "bursts", "compare", "x.json", "burst", "leave", "las", "--json")
    notes = {row["algorithm"]: (row["utility"], row["note"]) for row in json.loads(compared.stdout)["algorithms"]}
    assert notes["burst"] == (None, "failed: ZeroDivisionError: burst")
    assert notes["leave"] == (None, "failed: SystemExit: 3")
    assert notes["las"] == (17, "")
    compared = command(
        "--plugin", "bursts", "compare", "x.json", "--policies", "burst,las", "--round-seconds=1", "--json"
    )
    notes = {row["policy"]: (row["utility"], row["note"]) for row in json.loads(compared.stdout)["policies"]}
    assert notes == {"burst": (None, "failed: ZeroDivisionError: burst"), "las": (17, "")}
    left = command("--plugin", "bursts", "run", "leave", "x.json", "--out", "s.json")
    assert (left.returncode, left.stdout, (tmp_path / "s.json").exists()) == (70, "", False)
    assert left.stderr.endswith("    raise SystemExit(3)\nSystemExit: 3\n")


def test_the_command_tells_of_a_broken_distribution_in_one_line(command: Run, tmp_path: Path) -> None:
    install(tmp_path, "bins", "[dlsched.problems]\nbins = bins:X\n", bins="raise ValueError('broken')")
    done = command("schema", "hadar")
    assert done.returncode == 0
    assert done.stderr == "dlsched: bins, entry point 'bins': ValueError: broken; it is left out\n"


BROKEN = {
    "generator": "def PROBLEMS():\n    yield 1 / 0\n",
    "name": BINS.replace('Problem("bins"', 'Problem(["bins"]'),
    "formulations": BINS.replace("hadar.utility)", "hadar.utility, formulations=(1,))"),
    "comma": BINS.replace("hadar.utility)", 'hadar.utility, formulations=problem("hadar").formulations[0])').replace(
        "Problem\n", "Problem, problem\n", 1
    ),
    "sense": BINS.replace("hadar.utility)", 'hadar.utility, sense="max")'),
    "exit": "raise SystemExit(3)\n",
    "exit when asked": "def PROBLEMS():\n    raise SystemExit(3)\n",
    "algorithm": BINS.replace('Algorithm("first-fit"', "Algorithm(3"),
    "function": BINS.replace("first_fit),)", "None),)"),
    "instance": BINS.replace("hadar.Instance", "int"),
    "check": BINS.replace("hadar.check", "None"),
}


@pytest.mark.parametrize("broken", BROKEN)
def test_a_broken_plug_in_takes_nothing_with_it(listed: Run, broken: str, tmp_path: Path) -> None:
    (tmp_path / "bins.py").write_text(BROKEN[broken])
    process = listed(DLSCHED_PLUGINS="bins")
    assert len(warnings_in(process)) >= 1
    known, _, methods = process.stdout.splitlines()
    assert (known.split()[:4], "bins" in known) == (OWN, broken in ("algorithm", "function"))
    assert broken not in ("algorithm", "function") or "bins" not in methods
