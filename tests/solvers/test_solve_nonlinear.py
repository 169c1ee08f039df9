"""Nonlinear models through SCIP: nothing on the terminal, numbers it cannot take refused by name, its failures."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import pyomo.environ as pyo
import pyscipopt
import pytest

from dlsched.models import InputError, Status, build, compile_model, smd, solve
from dlsched.relaxations import dual, standard_form
from dlsched.solvers.matrix import NotLinearError, UnfitNumberError
from dlsched.solvers.solve import solve_matrix
from dlsched.tolerances import TOLERANCE


def curve(**numbers: float) -> Any:
    """Maximise x + square y^2 where x^2 + linear y <= side, x <= 3, y <= end."""
    n = {"square": 1.0, "linear": 1.0, "side": 4.0, "end": 3.0, "shared": 1.0} | numbers
    model = pyo.ConcreteModel()
    model.x = pyo.Var(bounds=(0, 3))
    model.y = pyo.Var(bounds=(0, n["end"]))
    model.shared = pyo.Expression(expr=n["shared"] * model.x**2)
    model.row = pyo.Constraint(expr=model.shared + n["linear"] * model.y <= n["side"])
    model.other = pyo.Constraint(expr=model.shared * model.y <= 50)
    model.worth = pyo.Objective(expr=model.x + n["square"] * model.y**2, sense=pyo.maximize)
    return model


def test_the_model_itself() -> None:
    solution = solve(curve(), solver="scip")
    assert solution.status is Status.OPTIMAL
    assert solution.objective == pytest.approx(1 + 9, abs=1e-5)


@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("refused", [solve, partial(solve, solver="scip"), dual, standard_form])
def test_a_range_between_variables_is_refused_by_its_name(refused: Callable[[Any], Any], upper: bool) -> None:
    model = curve()
    sides = (0, 2 * model.x, model.y) if upper else (model.y, model.x, 3)
    model.range = pyo.Constraint(expr=pyo.inequality(*sides))
    with pytest.raises(ValueError, match=r"^range: is a range between variables, .*: write two constraints$"):
        refused(model)


@pytest.mark.parametrize("unit", [1e-19, 1e-9, 1e-6, 1e-3, 1.0])
@pytest.mark.parametrize("sense", [pyo.minimize, pyo.maximize])
def test_an_objective_in_any_unit(unit: float, sense: Any) -> None:
    """x + y^2 is 10 at most (above), and x^2 - 4 x + y is -4 at least, in (2, 0)."""
    model = curve()
    expression = {
        pyo.maximize: unit * model.x + unit * model.y**2,
        pyo.minimize: unit * model.x**2 - 4 * unit * model.x + unit * model.y,
    }[sense]
    model.worth.set_value(expression)
    model.worth.sense = sense
    text = str(model.worth.expr)
    solution = solve(model, solver="scip")
    assert solution.status is Status.OPTIMAL
    best = {pyo.maximize: 10, pyo.minimize: -4}[sense]
    assert (solution.objective / unit, solution.bound / unit) == (pytest.approx(best), pytest.approx(best))
    assert str(model.worth.expr) == text


def test_an_objective_whose_bounds_no_float_holds() -> None:
    """(x - 1)^100 for 0 <= x <= 1e19 is 0 at least."""
    model = pyo.ConcreteModel()
    model.x = pyo.Var(bounds=(0, 1e19))
    model.row = pyo.Constraint(expr=model.x**2 <= 4)
    model.cost = pyo.Objective(expr=(model.x - 1) ** 100)
    solution = solve(model, solver="scip", time_limit=60)
    assert solution.status is Status.OPTIMAL
    assert solution.objective == pytest.approx(0, abs=1e-6)


def test_an_objective_that_scip_would_drop_is_refused() -> None:
    model = curve()
    model.worth.set_value(1e-25 * model.worth.expr)
    with pytest.raises(UnfitNumberError, match=r"worth: is at most 1.2e-24 in size, and solver scip drops numbers"):
        solve(model, solver="scip")
    model.worth.set_value(0 * model.x + pyo.exp(-60 * model.x))
    model.x.setlb(1)
    with pytest.raises(UnfitNumberError, match=r"worth: is at most 8.75651e-27"):
        solve(model, solver="scip")


@pytest.mark.slow
def test_scip_says_nothing_on_the_terminal(capfd: pytest.CaptureFixture[str]) -> None:
    """With a tolerance of 1e-9 it wrote thousands of lines on this instance, and did not end in a minute."""
    model = build("smd/minlp", smd.preset("paper", 0, jobs=4))
    solution = solve(model, solver="scip", time_limit=60)
    assert capfd.readouterr() == ("", "")
    assert solution.status is Status.OPTIMAL
    assert solution.objective == pytest.approx(81.16, rel=1e-6)


@pytest.mark.parametrize(
    ("place", "name"),
    [
        ("square", "worth"),
        ("linear", "row"),
        ("side", "row"),
        ("end", "y"),
        ("shared", "a named expression"),
    ],
)
@pytest.mark.parametrize("value", [1e20, 1e21, -3e30])
def test_numbers_that_scip_takes_for_infinity_are_named(place: str, name: str, value: float) -> None:
    value = abs(value) if place == "end" else value
    with pytest.raises(UnfitNumberError, match=rf"^{name}: has the number {value:.6g}; ".replace("+", r"\+")):
        solve(curve(**{place: value}), solver="scip")


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
@pytest.mark.parametrize(
    ("place", "name"), [("square", "worth"), ("linear", "row"), ("shared", "row|a named expression")]
)
def test_what_is_no_number_is_named(place: str, name: str, value: float) -> None:
    with pytest.raises(ValueError, match=f"^({name}): has the number {value}"):
        solve(curve(**{place: value}), solver="scip")


@pytest.mark.parametrize("unit", [1, 1000, 10**6])
def test_a_row_in_a_small_unit_is_judged_by_its_own_terms(unit: int) -> None:
    """SCIP's point is 1e-8 of 5000 megabytes beyond them, which is more than 1e-6 of the numbers of workers."""
    job = {
        "name": "a",
        "worker": {"memory": 2 * unit},
        "server": {"memory": unit},
        "limit": {"memory": 5 * unit},
        "utility": {"kind": "hyperbolic", "scale": 9},
        "training": {"kind": "coefficients", "mode": "async", "theta": ["1/2", 2, 2, 8]},
    }
    instance = smd.Instance.parse({"resources": ["memory"], "capacity": {"memory": 9 * unit}, "jobs": [job]})
    found = solve(build("smd/ratio-box", instance), solver="scip")
    assert found.status is Status.OPTIMAL
    servers = 5 / (1 + math.sqrt(3))  # where the derivative of the time along 2 w + p = 5 is 0
    least = 0.5 + (2 * servers + 2) / ((5 - servers) / 2) + 8 / servers
    assert found.objective == pytest.approx(least, rel=TOLERANCE)


def test_linear_models_with_utilities_of_1e21_work() -> None:
    model = pyo.ConcreteModel()
    model.x = pyo.Var([1, 2], domain=pyo.Binary)
    model.row = pyo.Constraint(expr=model.x[1] + model.x[2] <= 1)
    model.worth = pyo.Objective(expr=1e21 * model.x[1] + 2e21 * model.x[2], sense=pyo.maximize)
    solution = solve(model, solver="scip")
    assert (solution.status, solution.objective) == (Status.OPTIMAL, 2e21)


@pytest.mark.slow
def test_a_value_beyond_scips_infinity_is_not_unbounded() -> None:
    assert solve(curve(square=1e15, linear=1e-3, end=1e3), solver="scip").status is Status.NO_SOLUTION
    free = curve(linear=-1.0)
    free.y.setub(None)
    assert solve(free, solver="scip").status is Status.UNBOUNDED


class Broken(pyscipopt.Model):
    """SCIP whose LP solver gives up."""

    def optimizeNogil(self) -> None:
        raise Exception("SCIP: error in LP solver!")


def test_scip_breaking_off_is_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pyscipopt, "Model", Broken)
    model = curve()
    solution = solve(model, solver="scip")
    assert (solution.status, solution.objective, solution.bound) == (Status.NO_SOLUTION, None, None)
    assert model.x.value is None
    linear = pyo.ConcreteModel()
    linear.x = pyo.Var(bounds=(0, 1))
    linear.worth = pyo.Objective(expr=linear.x)
    raw = solve_matrix(compile_model(linear), solver="scip")
    assert (raw.summary.status, raw.x) == (Status.NO_SOLUTION, None)


@pytest.mark.slow
def test_seventy_models_in_one_process() -> None:
    """Each in a thread of its own, the 64th ended the process."""
    for _ in range(70):
        model = pyo.ConcreteModel()
        model.x, model.y = pyo.Var(bounds=(1, 4)), pyo.Var(bounds=(1, 4))
        model.row = pyo.Constraint(expr=model.x * model.y >= 4)
        model.cost = pyo.Objective(expr=model.x + model.y)
        assert solve(model, solver="scip").objective == pytest.approx(4)


def test_what_is_infeasible_without_a_solver() -> None:
    fixed = curve()
    fixed.z = pyo.Var(initialize=3)
    fixed.z.fix()
    fixed.wrong = pyo.Constraint(expr=fixed.z <= 2)
    unused = curve()
    unused.z = pyo.Var(bounds=(3, 2))
    whole = curve()
    whole.z = pyo.Var(bounds=(1.2, 1.8), domain=pyo.Integers)
    for model in (fixed, unused, whole):
        assert solve(model, solver="scip").status is Status.INFEASIBLE


@pytest.mark.parametrize(
    ("function", "name"),
    [(pyo.tan, "tan"), (pyo.floor, "floor"), (lambda x: pyo.Expr_if(x >= 1, x, 0), r"a condition \(Expr_if\)")],
)
def test_a_function_that_scip_has_not_is_named_with_its_place(
    function: Callable[[Any], Any], name: str, capfd: pytest.CaptureFixture[str]
) -> None:
    model = curve()
    model.bent = pyo.Constraint(expr=function(model.x) <= 1)
    with pytest.raises(InputError, match=rf"^bent: has {name}; solver scip takes sums, products, .* and cos$"):
        solve(model, solver="scip")
    assert capfd.readouterr() == ("", "")


def test_what_pyomo_cannot_write_is_refused_in_one_line() -> None:
    model = pyo.ConcreteModel()
    model.x, model.y = pyo.Var(bounds=(0, 3)), pyo.Var(bounds=(0, 3))
    model.worth = pyo.Objective(expr=model.x)
    model.bent = pyo.Constraint(expr=pyo.Expr_if(pyo.land(model.x >= 1, model.y >= 1), model.x, 0) <= 1)
    named = r"^the model has what Pyomo cannot compile: Unexpected expression node type '\w+'.*$"
    with pytest.raises(NotLinearError, match=named):
        solve(model)
    with pytest.raises(InputError, match=r"^the model has what Pyomo cannot write: .*AndExpression.*$"):
        solve(model, solver="scip")


CONDITIONS = """
import pyomo.environ as pyo
from dlsched.models import solve

def capped(condition):
    model = pyo.ConcreteModel()
    model.p = pyo.Param(initialize=2, mutable=True)
    model.b = pyo.Var(domain=pyo.Binary)
    model.b.fix(0)
    model.x = pyo.Var(bounds=(0, 5), initialize=2)
    model.y = pyo.Var(bounds=(0, 5))
    model.cap = pyo.Constraint(expr=model.y <= pyo.Expr_if(condition(model), 3, 4))
    model.most = pyo.Objective(expr=model.y, sense=pyo.maximize)
    return model

CONDITIONS = {
    "no greater": lambda m: m.p > 2,
    "as great": lambda m: m.p >= 2,
    "between": lambda m: pyo.inequality(1, m.p, 2),
    "not between": lambda m: pyo.inequality(2, m.p, 3, strict=True),
    "unequal": lambda m: m.p == 1,
    "fixed": lambda m: m.b > 0,
    "free": lambda m: m.x >= 1,
    "free equation": lambda m: m.x == 1,
}
for name, condition in CONDITIONS.items():
    for solver in ("highs", "scip"):
        try:
            print(name, solve(capped(condition), solver=solver).objective, sep=": ")
        except ValueError as error:
            print(name, type(error).__name__, sep=": ")
"""


@pytest.mark.process
def test_conditions_in_a_fresh_process() -> None:
    """Pyomo decides for all relations by the first it meets, and takes a strict one for one that is not.

    It fails on one of Params alone, and takes those on variables for constants from then on.
    """
    told = subprocess.run([sys.executable, "-c", CONDITIONS], capture_output=True, text=True, check=True).stdout
    found = dict[str, list[str]]()
    for line in told.splitlines():
        name, value = line.split(": ")
        found.setdefault(name, []).append(value)
    assert {name: set(values) for name, values in found.items()} == {
        "no greater": {"4.0"},
        "as great": {"3.0"},
        "between": {"3.0"},
        "not between": {"4.0"},
        "unequal": {"4.0"},
        "fixed": {"4.0"},
        "free": {"NotLinearError", "InputError"},
        "free equation": {"NotLinearError", "InputError"},
    }


def test_a_condition_in_a_nonlinear_model() -> None:
    model = curve()
    model.p = pyo.Param(initialize=1, mutable=True)
    model.bent = pyo.Constraint(expr=pyo.Expr_if(model.p > 1, model.x, model.x**2) <= 1)
    assert solve(model, solver="scip").objective == pytest.approx(1 + 9, abs=1e-5)
    model.bent.set_value(pyo.Expr_if(model.p >= 1, 2 * model.x, model.x**2) <= 1)
    assert solve(model, solver="scip").objective == pytest.approx(0.5 + 9, abs=1e-5)


@pytest.mark.parametrize("power", [1, 2])
def test_a_nonlinear_model_of_which_no_variable_is_left(power: int) -> None:
    model = pyo.ConcreteModel()
    model.p = pyo.Param(initialize=0, mutable=True)
    model.x = pyo.Var([1, 2], bounds=(1, 2))
    model.row = pyo.Constraint(expr=model.p / model.x[1] ** power <= 3)
    model.worth = pyo.Objective(expr=model.p * model.x[2] ** 2 + 5)
    found = solve(model, solver="scip")
    assert (found.status, found.objective, found.bound, found.gap) == (Status.OPTIMAL, 5, 5, 0)
    assert [v.value for v in model.x.values()] == [1, 1]


def test_a_variable_fixed_beyond_its_bounds_in_a_nonlinear_model_is_named() -> None:
    model = curve()
    model.z = pyo.Var(bounds=(-3, 0), initialize=1)
    model.z.fix()
    model.more = pyo.Constraint(expr=model.x**2 * model.z <= 1)
    with pytest.raises(InputError, match=r"^z: is fixed at 1, beyond its bounds \(-3, 0\)$"):
        solve(model, solver="scip")
    model.z.fix(0)
    assert solve(model, solver="scip").status is Status.OPTIMAL
    model.idle = pyo.Var(bounds=(0, 1))
    model.idle.fix()
    model.broken = pyo.Constraint(expr=model.z >= 1)
    assert solve(model, solver="scip").status is Status.INFEASIBLE
