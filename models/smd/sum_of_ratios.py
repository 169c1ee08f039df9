"""The continuous inner problem of one job over the box of its ratios (13), and at one point of the box (14).

Symbols: w `workers`, p `servers`, zeta_j `ratio` of (12), chi_j `chi`, z `last` and J the ratio of the greatest
phi_j/l_j, where l_j and phi_j are the least and the greatest zeta_j on Omega: a linear-fractional function has both at
vertices. Omega is {A x <= C, x >= 1}: with the x >= 0 that (12) prints, denominators vanish.

(13) has the optimum of (12), and is a relaxation of (6)-(8), whose counts are whole. (14) is (13) at one point of the
box, chi = nu, as Algorithm 1 has it at a grid point: at least (13), and infeasible where no point of Omega keeps the
caps. By default these are the ratios at the job's best whole point, which keeps it a relaxation of (6)-(8).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

from dlsched.errors import InputError
from dlsched.lazy import pyo
from dlsched.models.formulation import Formulation, Kind
from dlsched.models.parameters import declare
from dlsched.models.ratio import Ratio
from dlsched.models.smd.data import RESERVATION, SERVER, WORKER
from dlsched.models.smd.inner import best_point
from dlsched.models.smd.instance import Instance, Job
from dlsched.models.smd.ratios import quotient, ratios
from dlsched.models.smd.single import job_of

_DERIVED = "the box of the ratios was derived from it"


def build(instance: Instance, job: str | None = None) -> pyo.ConcreteModel:
    """Return (13): the least sum of the ratios, each but the last under a variable of the box.

    Parameters
    ----------
    instance : Instance
    job : str, optional
        Name of the job; the first that can run where it is left out.

    Raises
    ------
    InputError
        If there is no such job, its limits leave no room, or its time is identically 0.

    References
    ----------
    SMD, (13), with x >= 1.
    """
    m, data = _frame(instance, job, "(13)")
    box = ratio_ranges(data)
    declare(m, "least", (m.G,), {j: box[j][0] for j in m.G}, "l_j, least value of the ratio [time]")
    declare(m, "greatest", (m.G,), {j: box[j][1] for j in m.G}, "phi_j, greatest value of the ratio [time]")
    m.chi = pyo.Var(
        m.G, bounds=lambda m, j: (m.least[j], m.greatest[j]), doc="chi_j, coordinate of a point of the box H (13)"
    )
    m.cap = pyo.Constraint(
        m.G, rule=lambda m, j: m.ratio[j] <= m.chi[j], doc="(13) the ratio is at most its coordinate of the box"
    )
    m.total = pyo.Objective(expr=sum(m.chi.values()) + m.last, doc="(13) sum of the coordinates and the last ratio")
    return m


def build_at(
    instance: Instance, job: str | None = None, caps: Sequence[float | Fraction] | None = None
) -> pyo.ConcreteModel:
    """Return (14): the least last ratio where each of the others is at most a number.

    Parameters
    ----------
    instance : Instance
    job : str, optional
        As for `build`.
    caps : sequence of numbers, optional
        nu, one for each ratio but the last, in their order; the ratios at the job's best point where it is left out.

    Raises
    ------
    InputError
        As `build`, and if the number of caps is another.

    References
    ----------
    SMD, (14), with x >= 1; (15) is the same without the constant.
    """
    m, data = _frame(instance, job, "(14)")
    if caps is None:
        point = best_point(data)
        assert point is not None
        caps = [_value(ratios(data).ratios[j], Fraction(point.workers), Fraction(point.servers)) for j in m.G]
    if len(caps) != len(m.G):
        raise InputError(f"caps: has {len(caps)} entries for {len(m.G)} ratios beside the last")
    given = dict(zip(m.G, caps, strict=True))
    declare(m, "nu", (m.G,), given, "nu_j, most that the ratio may be [time]", within=pyo.Reals, follows=True)
    m.cap = pyo.Constraint(m.G, rule=lambda m, j: m.ratio[j] <= m.nu[j], doc="(14) the ratio is at most its cap")
    m.total = pyo.Objective(expr=sum(m.nu.values()) + m.last, doc="(14) sum of the caps and the last ratio")
    return m


def _frame(instance: Instance, name: str | None, number: str) -> tuple[Any, Job]:
    """Return what both share, workers, servers and ratios over Omega, and the job."""
    job = job_of(instance, name)
    found = ratios(job).ratios
    if not found:
        raise InputError(f"job: the time of {job.name} is identically 0, a sum of no ratios")
    last = _widest(ratio_ranges(job))
    m = pyo.ConcreteModel(name=f"SMD {number} of {job.name}")
    m.job = job.name
    m.R = pyo.Set(initialize=list(job.resources), doc="resources that the job needs")
    m.G = pyo.Set(initialize=[j for j in range(len(found)) if j != last], doc="ratios but the last")
    limit = {r: job.limit_of(r) for r in m.R}
    declare(m, "worker_needs", (m.R,), {r: job.worker_needs(r) for r in m.R}, WORKER)
    declare(m, "server_needs", (m.R,), {r: job.server_needs(r) for r in m.R}, SERVER)
    declare(m, "reservation", (m.R,), limit, RESERVATION, within=pyo.NonNegativeReals, why=_DERIVED)
    m.workers = pyo.Var(bounds=(1, None), doc="w, workers, (12) corrected: w >= 1")
    m.servers = pyo.Var(bounds=(1, None), doc="p, servers, (12) corrected: p >= 1")
    m.last = pyo.Var(doc="z, the last ratio")
    m.ratio = pyo.Expression(
        range(len(found)), rule=lambda m, j: quotient(found[j], m.workers, m.servers), doc="(12) zeta_j"
    )
    m.limit = pyo.Constraint(
        m.R,
        rule=lambda m, r: m.worker_needs[r] * m.workers + m.server_needs[r] * m.servers <= m.reservation[r],
        doc="(7) the job keeps its limits",
    )
    m.is_last = pyo.Constraint(expr=m.ratio[last] == m.last, doc=f"{number} z is the last ratio")
    return m, job


def ratio_ranges(job: Job) -> list[tuple[Fraction, Fraction]]:
    """Return l_j and phi_j, the least and the greatest value on Omega of each ratio of (12)."""
    corners = _corners(job)
    values = [[_value(ratio, w, p) for w, p in corners] for ratio in ratios(job).ratios]
    return [(min(row), max(row)) for row in values]


def _corners(job: Job) -> list[tuple[Fraction, Fraction]]:
    """Return the vertices of {A x <= C, x >= 1}, by crossing every two of its lines."""
    rows = [(job.worker_needs(r), job.server_needs(r), job.limit_of(r)) for r in job.resources]
    lines = [*rows, (Fraction(1), Fraction(0), Fraction(1)), (Fraction(0), Fraction(1), Fraction(1))]
    found = []
    for (a, b, c), (d, e, f) in combinations(lines, 2):
        if determinant := a * e - b * d:
            w, p = (c * e - b * f) / determinant, (a * f - c * d) / determinant
            if w >= 1 and p >= 1 and all(x * w + y * p <= z for x, y, z in rows):
                found.append((w, p))
    return found


def _value(ratio: Ratio, w: Fraction, p: Fraction) -> Fraction:
    above, below = (
        Fraction(side[0]) * w + Fraction(side[1]) * p + Fraction(constant)
        for side, constant in (
            (ratio.numerator, ratio.numerator_constant),
            (ratio.denominator, ratio.denominator_constant),
        )
    )
    return above / below


def _widest(box: list[tuple[Fraction, Fraction]]) -> int:
    """Return J, the first ratio of the greatest phi/l; one whose l is 0 is as wide as can be."""
    zero = [j for j, (least, _) in enumerate(box) if not least]
    return zero[0] if zero else max(range(len(box)), key=lambda j: box[j][1] / box[j][0])


RATIO_BOX = Formulation(
    "smd/ratio-box",
    Instance,
    "the continuous inner problem of one job over the box of its ratios: nonlinear",
    ("(7)", "(12)", "(13)"),
    Kind.RELAXATION,
    build,
    data={"job": "the first job that can run"},
    linear=False,
)

RATIO_CAPS = Formulation(
    "smd/ratio-caps",
    Instance,
    "the continuous inner problem of one job with all ratios but one capped: nonlinear",
    ("(7)", "(12)", "(14)"),
    Kind.RELAXATION,
    build_at,
    data={"job": "the first job that can run", "caps": "the ratios at the job's best point"},
    linear=False,
)
