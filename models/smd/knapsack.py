"""The outer problem (16): which jobs to admit, each worth what its inner problem gives.

Symbols: x_i `admitted`, u_i utility, v_i^r reservation, C^r capacity.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dlsched.arguments import not_negative
from dlsched.errors import InputError
from dlsched.lazy import pyo
from dlsched.models.formulation import Formulation, Kind
from dlsched.models.numbers import amount
from dlsched.models.parameters import declare, exact
from dlsched.models.smd.data import cluster, reserving
from dlsched.models.smd.inner import best_point
from dlsched.models.smd.instance import Instance


def build(instance: Instance, utilities: Mapping[str, float | Fraction] | None = None) -> pyo.ConcreteModel:
    """Return the multi-dimensional knapsack problem over the jobs that have a utility.

    Parameters
    ----------
    instance : Instance
    utilities : mapping, optional
        u_i by job name, not negative; a job left out is not admitted. By default the exact optimum of each job's inner
        problem, which makes (16) equal to (1).

    Raises
    ------
    InputError
        If a name is not a job, or a utility is negative or no finite number.

    References
    ----------
    SMD, (2), (11) and (16).
    """
    known = {job.name for job in instance.jobs}
    if utilities is None:
        best = {job.name: best_point(job) for job in instance.jobs}
        utilities = {name: point.utility for name, point in best.items() if point is not None}
    for name, worth in utilities.items():
        if name not in known:
            raise InputError(f"utilities.{name}: is not a job of the instance")
        not_negative(**{f"utilities.{name}": amount(f"utilities.{name}", worth)})
    model = pyo.ConcreteModel(name="SMD outer problem")
    model.I = pyo.Set(initialize=list(utilities), doc="jobs that could be admitted")
    declare(model, "utility", (model.I,), dict(utilities), "u_i, worth of the job if admitted [utility]", follows=True)
    cluster(model, instance, utilities)
    model.admitted = pyo.Var(model.I, domain=pyo.Binary, doc="x_i")
    model.total_utility = pyo.Objective(
        expr=sum(model.utility[i] * model.admitted[i] for i in model.I), sense=pyo.maximize, doc="(16) total utility"
    )
    model.capacity = pyo.Constraint(
        model.R,
        rule=lambda m, r: sum(m.reservation[i, r] * m.admitted[i] for i in reserving(m, r)) <= m.room[r],
        doc="(2) reservations fit the cluster",
    )
    return model


@dataclass(frozen=True, slots=True)
class Admission:
    """Which jobs are admitted, and what they are worth together.

    Attributes
    ----------
    jobs : tuple of str
        In the order of the instance.
    utility : Fraction
        The sum of their utilities u_i, which is the objective (16).

    Examples
    --------
    >>> from dlsched.models import build, read, smd, solve
    >>> instance = smd.random(0)
    >>> model = build("smd/knapsack", instance)
    >>> _ = solve(model)
    >>> admission = read(model, instance)
    >>> admission.jobs, float(admission.utility)
    (('job2',), 27.0)
    """

    jobs: tuple[str, ...]
    utility: Fraction


def read(model: Any, instance: Instance) -> Admission:
    """Return the admitted jobs; the admission's `utility` is what the objective says."""
    admitted = {i for i in model.I if round(model.admitted[i].value)}
    jobs = tuple(job.name for job in instance.jobs if job.name in admitted)
    worth = exact(model.utility)
    return Admission(jobs, sum((worth[i] for i in jobs), Fraction(0)))


KNAPSACK = Formulation(
    "smd/knapsack",
    Instance,
    "the outer problem: which jobs to admit, at given utilities",
    ("(2)", "(16)"),
    Kind.SUBPROBLEM,
    build,
    read,
    data={"utilities": "the exact optimum of each job's inner problem"},
)
