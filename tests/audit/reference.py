"""What an instance is worth by exhaustive search, and what a schedule is worth by the rules, for every problem."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from typing import Any

from tests.audit.numerals import exact, rational
from tests.audit.scaling import problem_of
from tests.oracles import ddljs, dmlrs, hadar, smd
from tests.oracles.ddljs_rules import total
from tests.oracles.ddljs_rules import violations as ddljs_violations
from tests.oracles.ddljs_rules import worth as ddljs_worth
from tests.oracles.hadar_instance import worth as hadar_worth

Data = dict[str, Any]

_RELATIVE = Fraction(1, 10**6)


def optimum(data: Data) -> Fraction | None:
    """Return the largest sum of utilities; None where there is no feasible schedule."""
    found = exact(data)
    problem = problem_of(found)
    if problem == "hadar":
        return hadar.optimum(found)[0]
    if problem == "dmlrs":
        return dmlrs.optimum(found)[0]
    if problem == "smd":
        return _best_subset(found)
    return total(found, ddljs.optimum(found)[1])


def _best_subset(data: Data) -> Fraction:
    """Return the SMD optimum: of all sets of jobs whose reservations fit, each job at its fastest point."""
    fastest = [(job, point[3]) for job in data["jobs"] if (point := smd.inner(job)) is not None]
    return max(
        sum((value for _, value in chosen), Fraction(0))
        for n in range(len(fastest) + 1)
        for chosen in combinations(fastest, n)
        if smd.reservations_fit(data, [job for job, _ in chosen])
    )


def must_all_run(data: Data) -> bool:
    """Tell whether some job is at minus infinity with nothing: algorithms and slots may leave it so, optima may not."""
    return any(u["kind"] == "log" and rational(u.get("offset", 1)) == 0 for u in (j["utility"] for j in data["jobs"]))


def breaks(data: Data, schedule: Data) -> list[str]:
    """Return the rules that a schedule breaks."""
    found = exact(data)
    problem = problem_of(found)
    if problem == "hadar":
        return hadar.check(found, schedule)
    if problem == "dmlrs":
        return sorted(dmlrs.violations(found, schedule))
    return smd.violations(found, schedule) if problem == "smd" else sorted(ddljs_violations(found, schedule))


def value(data: Data, schedule: Data) -> Fraction | None:
    """Return what a feasible schedule is worth; None for minus infinity."""
    found = exact(data)
    return {"hadar": hadar.value, "dmlrs": dmlrs.value, "smd": smd.value, "ddljs": total}[problem_of(found)](
        found, schedule
    )


def unit(data: Data) -> Fraction:
    """Return the greatest utility of a job in the instance: with it, equality of values depends on no unit."""
    found = exact(data)
    problem = problem_of(found)
    if problem == "ddljs":
        counts = [(job, n) for job in found["jobs"] for n in {0, job["max_workers"] * found["slots"]}]
        sizes = [ddljs_worth(job["utility"], rational(job["progress"]) * n) for job, n in counts]
        worths = [abs(v) for v in sizes if v is not None]
    else:
        worths = [hadar_worth(job["utility"], 0) for job in found["jobs"]]
    return max(worths, default=Fraction(0))


def agree(a: float | Fraction, b: float | Fraction, one: Fraction, share: Fraction = _RELATIVE) -> bool:
    """Tell whether two values are equal within a millionth of the greater of them and of the unit."""
    x, y = Fraction(a), Fraction(b)
    return abs(x - y) <= share * max(abs(x), abs(y), one)


def exceeds(a: float | Fraction, b: float | Fraction, one: Fraction) -> bool:
    """Tell whether one value is above another by more than that."""
    return Fraction(a) > Fraction(b) and not agree(a, b, one)
