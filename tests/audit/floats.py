"""Ordinary and badly scaled floats, on one drawn instance.

``optimum/...``: the optimum against exhaustive search, and the same in other units. ``floats/...``: besides, every
algorithm, every exact formulation, and two claims.
"""

from __future__ import annotations

import json
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from importlib import import_module
from typing import Any

import numpy as np
import pyomo.environ as pyo

from dlsched.algorithms import algorithms, optimum
from dlsched.bounds import claims
from dlsched.bounds.claim import decide
from dlsched.models import catalog, solve
from dlsched.models.catalog import Kind
from tests.audit import reference
from tests.audit.case import Case, Fault
from tests.audit.draws import FAMILIES, draw, package
from tests.audit.scaling import jittered, problem_of, rescaled

Data = dict[str, Any]

SECONDS = 30.0
_CLAIMS = 2
_PARTS = frozenset({"smd/inner", "ddljs/slot", "ddljs/slot-circulation", "ddljs/gvne", "dmlrs/external-slot"})
"""Formulations of a slot or of one job."""

_ENUMERATED = frozenset({"hadar/p2", "dmlrs/schedules"})
"""Formulations with a variable a schedule, which are solved where these are few."""

_FEW = 2000

_FORMS = ("plain", "jittered", "rescaled", "jittered and rescaled", "rescaled and jittered")


def make(family: str, seed: int, whole: bool = True) -> Case:
    """Return the case of a seed; families are those of `tests.audit.draws`.

    Parameters
    ----------
    family : str
    seed : int
    whole : bool
        Whether algorithms, formulations and claims are tried too.
    """
    rng = np.random.default_rng([seed, FAMILIES.index(family)])
    drawn = draw(family, rng)
    form = _FORMS[int(rng.integers(len(_FORMS)))]
    data = drawn.data
    for step in form.split(" and "):
        if step == "jittered":
            data = jittered(data, rng)
        elif step == "rescaled":
            data = rescaled(data, rng).data
    data = json.loads(json.dumps(data))
    scaled = "rescaled" in form
    return Case(f"{drawn.source}, {form}", data, lambda: list(_faults(family, data, scaled, seed, rng, whole)))


def _faults(family: str, data: Data, scaled: bool, seed: int, rng: np.random.Generator, whole: bool) -> Iterator[Fault]:
    instance = package(family).Instance.parse(data)
    best = reference.optimum(data)
    one = reference.unit(data)
    found: list[Fault] = []
    with _noting(found, "optimum"):
        found += _optimum(data, instance, best, one)
    found += _metamorphic(family, data, scaled, best, rng)
    if whole:
        found += _algorithms(data, instance, best, one, seed)
        found += _formulations(data, instance, best, one)
        found += _claims(instance, seed, rng)
    yield from found


@contextmanager
def _noting(found: list[Fault], place: str) -> Iterator[None]:
    """Note an exception of the block as a fault."""
    try:
        yield
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        at = f"{'/'.join(where.filename.split('/')[-3:])}:{where.lineno}"
        found.append(Fault("exception", f"{place}: {type(error).__name__}: {' '.join(str(error).split())} ({at})"))


def _optimum(data: Data, instance: Any, best: Fraction | None, one: Fraction) -> Iterator[Fault]:
    result = optimum(instance, time_limit=SECONDS)
    if not result.proved:
        yield Fault("unproved", f"optimum: {result.value} to {result.bound}; {'; '.join(result.evidence)}")
    if result.value is None or best is None:
        if (result.value is None) != (best is None):
            yield Fault("wrong", f"optimum: {result.value}, exhaustive search {best}")
        return
    if result.proved and not reference.agree(result.value, best, one):
        yield Fault("wrong", f"optimum: {result.value} is proved; exhaustive search finds {float(best)}")
    if reference.exceeds(result.value, best, one) or reference.exceeds(best, result.bound, one):
        yield Fault("wrong", f"optimum: {result.value} to {result.bound} excludes {float(best)}")
    yield from _schedule("optimum", data, instance, result.schedule, result.value, one)


def _schedule(place: str, data: Data, instance: Any, schedule: Any, said: float, one: Fraction) -> Iterator[Fault]:
    """Check a schedule by the package and by independent rules, in rationals."""
    problem = import_module(f"dlsched.models.{problem_of(data)}")
    plain = schedule.dump()
    broken = [v.message for v in problem.check(instance, schedule)] or reference.breaks(data, plain)
    if broken:
        yield Fault("infeasible", f"{place}: {'; '.join(map(str, broken))}")
        return
    worth = reference.value(data, plain)
    if worth is None or not reference.agree(said, worth, one):
        yield Fault("wrong", f"{place}: says {said}; its schedule is worth {worth if worth is None else float(worth)}")


def _algorithms(data: Data, instance: Any, best: Fraction | None, one: Fraction, seed: int) -> Iterator[Fault]:
    found: list[Fault] = []
    for entry in algorithms():
        if entry.problem != problem_of(data) or reference.must_all_run(data) or entry.schedule is not None:
            continue
        place = f"run {entry.name}"
        with _noting(found, place):
            run = entry.run(instance, seed=seed)
            assert best is not None
            found += _schedule(place, data, instance, run.schedule, run.utility, one)
            if reference.exceeds(run.utility, best, one):
                found.append(Fault("wrong", f"{place}: {run.utility} is above the optimum {float(best)}"))
    yield from found


def _formulations(data: Data, instance: Any, best: Fraction | None, one: Fraction) -> Iterator[Fault]:
    found: list[Fault] = []
    for entry in catalog():
        if entry.problem != problem_of(data) or entry.kind is not Kind.EXACT or not entry.linear:
            continue
        if not _fits(entry.name, instance):
            continue
        for transformation in ("gdp.bigm", "gdp.hull") if entry.disjunctive else ("",):
            place = f"solve {entry.name} {transformation}".strip()
            with _noting(found, place):
                found += _solved(place, entry, transformation, instance, best, one)
    yield from found


def _fits(name: str, instance: Any) -> bool:
    """Tell whether a formulation is of this kind of instance, by the catalog's titles."""
    if name in ("dmlrs/compact", "dmlrs/async"):
        faster = all(job.internal_rate >= job.external_rate for job in instance.jobs)
        return faster and instance.asynchronous == (name == "dmlrs/async")
    if name == "dmlrs/compact-milp":
        return all(job.internal_rate >= job.external_rate for job in instance.jobs)
    if name.startswith("ddljs/"):
        of_slot = "offline" not in name
        placed = any(job.placement is not None for job in instance.jobs)
        return not (placed and name != "ddljs/gvne") and not (of_slot and reference.must_all_run(instance.dump()))
    return name != "dmlrs/external-slot" or not instance.asynchronous


def _solved(
    place: str, entry: Any, transformation: str, instance: Any, best: Fraction | None, one: Fraction
) -> Iterator[Fault]:
    try:
        model = entry.build(instance)
    except ValueError as error:
        if entry.name in _ENUMERATED and "too many" in str(error):
            return
        raise
    if entry.name in _ENUMERATED and sum(1 for _ in model.component_data_objects(pyo.Var)) > _FEW:
        return
    if transformation:
        pyo.TransformationFactory(transformation).apply_to(model)
    solution = solve(model, threads=1, time_limit=SECONDS)
    if entry.name in _PARTS:
        return
    status = solution.status.value
    if (best is None) != (status == "infeasible") or (best is not None and status != "optimal"):
        yield Fault("unsolved", f"{place}: {status}; exhaustive search finds {best if best is None else float(best)}")
    elif best is not None and not reference.agree(solution.objective, best, one):
        yield Fault("wrong", f"{place}: {solution.objective}; exhaustive search finds {float(best)}")


def _metamorphic(
    family: str, data: Data, scaled: bool, best: Fraction | None, rng: np.random.Generator
) -> Iterator[Fault]:
    """Solve the same instance in other units: the same value, and as much of a proof."""
    other = rescaled(data, rng, wide=not scaled)
    found: list[Fault] = []
    with _noting(found, "optimum in other units"):
        result = optimum(package(family).Instance.parse(json.loads(json.dumps(other.data))), time_limit=SECONDS)
        one = reference.unit(other.data)
        if not result.proved:
            found.append(Fault("unproved", f"optimum in other units: {result.value} to {result.bound}"))
        if (result.value is None) != (best is None):
            found.append(Fault("wrong", f"optimum in other units: {result.value}, {best} in these"))
        elif best is not None and result.proved and not reference.agree(result.value, best * other.utility, one):
            message = f"optimum in other units: {result.value} is proved, {float(best * other.utility)} is right"
            found.append(Fault("wrong", message))
    yield from (Fault(fault.kind, f"{fault.message}: {json.dumps(other.data)}") for fault in found)


def _claims(instance: Any, seed: int, rng: np.random.Generator) -> Iterator[Fault]:
    about = [c for c in claims() if isinstance(instance, c.instance)]
    found: list[Fault] = []
    for n in rng.choice(len(about), size=min(_CLAIMS, len(about)), replace=False):
        with _noting(found, f"claim {about[n].id} ({about[n].variant.value})"):
            decide(about[n], instance, seed)
    yield from found


MAKERS: dict[str, Callable[[int], Case]] = {
    f"{name}/{family}": (lambda seed, family=family, whole=whole: make(family, seed, whole))
    for name, whole in (("optimum", False), ("floats", True))
    for family in FAMILIES
}
