"""Wrong calls from Python: one line that names the argument, what was expected and what came."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pyomo.environ as pyo
import pytest

from dlsched.models import InputError, build, compile_model, dmlrs, duals, hadar, inspect, residuals, smd, solve
from dlsched.relaxations import dual, lift_bounds, relax, standard_form

H, S, D = hadar.preset("random", 0), smd.preset("random", 0), dmlrs.preset("random", 0)


def lp() -> Any:
    """Minimise x[1] where x[1] + x[2] >= 1, both in [0, 1]; nothing has a value."""
    model = pyo.ConcreteModel(name="lp")
    model.x = pyo.Var([1, 2], bounds=(0, 1))
    model.cost = pyo.Objective(expr=model.x[1])
    model.cover = pyo.Constraint(expr=model.x[1] + model.x[2] >= 1)
    return model


def members() -> Any:
    """An indexed block."""
    model = pyo.ConcreteModel()
    model.part = pyo.Block([1, 2])
    return model.part


Case = tuple[Callable[[], object], type[Exception], str]

TO_SOLVE: dict[str, Case] = {
    "a relaxation": (
        lambda: solve(relax(lp())),
        TypeError,
        "Relaxation is not a Pyomo model or block: pass its .model",
    ),
    "a dual": (lambda: solve(dual(lp())), TypeError, "Dual is not a Pyomo model or block: pass its .model"),
    "lifted bounds": (lambda: solve(lift_bounds(lp())), TypeError, "pass its .model"),
    "a standard form": (lambda: solve(standard_form(lp())), TypeError, "pass its .model"),
    "an instance": (lambda: solve(H), TypeError, "model: an instance of hadar is not a Pyomo model or block"),
    "a variable": (lambda: solve(lp().x), TypeError, "IndexedVar is not a Pyomo model"),
    "nothing": (lambda: solve(None), TypeError, "model: None is not a Pyomo model or block"),
    "an abstract model": (
        lambda: solve(pyo.AbstractModel(name="later")),
        InputError,
        "model: 'later' is abstract: call create_instance() first",
    ),
    "an indexed block": (lambda: solve(members()), InputError, "'part' is an indexed block: take one of its members"),
    "negative time": (lambda: solve(lp(), time_limit=-1), InputError, "time_limit: -1 must not be negative"),
    "no time": (lambda: solve(lp(), time_limit=math.nan), InputError, "time_limit: nan is not a number"),
    "words for time": (
        lambda: solve(lp(), time_limit="1 h"),
        TypeError,
        "time_limit: expected a number or None, got '1 h'",
    ),
    "negative gap": (lambda: solve(lp(), gap=-0.5), InputError, "gap: -0.5 must not be negative"),
    "no gap": (lambda: solve(lp(), gap=None), TypeError, "gap: expected a number, got None"),
    "no threads": (lambda: solve(lp(), threads=0), InputError, "threads: 0 must be at least 1"),
    "negative threads": (lambda: solve(lp(), threads=-1), InputError, "threads: -1 must be at least 1"),
    "half a thread": (lambda: solve(lp(), threads=0.5), TypeError, "threads: expected a whole number or None, got 0.5"),
    "true threads": (
        lambda: solve(lp(), threads=True),
        TypeError,
        "threads: expected a whole number or None, got True",
    ),
    "negative seed": (lambda: solve(lp(), seed=-1), InputError, "seed: -1 is not between 0 and 2147483647"),
    "long seed": (lambda: solve(lp(), seed=2**31), InputError, "seed: 2147483648 is not between 0 and 2147483647"),
    "presolve by number": (lambda: solve(lp(), presolve=0), TypeError, "presolve: expected true or false, got 0"),
    "unknown solver": (
        lambda: solve(lp(), solver="cplex"),
        InputError,
        "unknown solver 'cplex'; there are highs, scip",
    ),
    "solver by number": (lambda: solve(lp(), solver=1), TypeError, "solver: expected text, got 1"),
    "relaxing a relaxation": (lambda: relax(relax(lp())), ValueError, "Relaxation is not a Pyomo model or block: pass"),
    "inspecting a relaxation": (lambda: inspect(relax(lp())), TypeError, "pass its .model"),
    "inspecting an abstract model": (lambda: inspect(pyo.AbstractModel()), InputError, "call create_instance() first"),
    "compiling a dict": (lambda: compile_model({}), TypeError, "model: a dict is not a Pyomo model or block"),
    "duals of a relaxation": (lambda: duals(relax(lp())), TypeError, "pass its .model"),
    "residuals of a relaxation": (lambda: residuals(relax(lp())), TypeError, "pass its .model"),
    "residuals of nothing": (
        lambda: residuals(lp()),
        InputError,
        "x[1]: has no value, and cover needs it: solve the model first",
    ),
}

TO_BUILD: dict[str, Case] = {
    "another problem": (
        lambda: build("smd/milp", H),
        TypeError,
        "smd/milp: expected an instance of smd, got an instance of hadar",
    ),
    "data": (lambda: build("smd/milp", S.dump()), TypeError, "got a dict: read it with Instance.parse"),
    "a path": (lambda: build("smd/milp", "s.json"), TypeError, "got 's.json': read it with Instance.load"),
    "no such formulation": (
        lambda: build("smd/p9", S),
        InputError,
        "unknown formulation 'smd/p9'; there are hadar/p1,",
    ),
    "swapped": (lambda: build(S, "smd/milp"), TypeError, "name: expected text, got an instance of smd"),
    "no such data": (lambda: build("smd/milp", S, job="J1"), TypeError, "smd/milp takes no data, not job"),
    "no such preset": (lambda: smd.preset("none"), InputError, "unknown preset 'none'; there are random, "),
    "negative preset seed": (lambda: smd.preset("random", -1), InputError, "seed: -1 must not be negative"),
    "preset seed in words": (
        lambda: smd.preset("random", "x"),
        TypeError,
        "seed: expected a numpy.random.Generator or a whole number, got 'x'",
    ),
}

CASES = {
    f"{group}: {name}": case
    for group, cases in (("solve", TO_SOLVE), ("build", TO_BUILD))
    for name, case in cases.items()
}


@pytest.mark.parametrize("name", CASES)
def test_a_wrong_call_is_refused_in_one_line(name: str) -> None:
    call, kind, words = CASES[name]
    with pytest.raises(kind) as caught:
        call()
    assert words in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


def test_numbers_of_numpy_and_endless_time_are_taken() -> None:
    for solver in ("highs", "scip"):
        solution = solve(
            lp(),
            solver=solver,
            time_limit=np.float32(math.inf),
            gap=np.int64(0),
            threads=np.int16(1),
            seed=np.int64(7),
            presolve=np.bool_(False),
        )
        assert solution.objective == 0
