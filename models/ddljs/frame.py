"""What the formulations that count workers by server share: sets, workers, servers in use, capacity and utility.

Symbols: y_is[t] `workers`, x_is[t] `in_use`, delta_ik `count`, 1 where job i gets k worker-slots.

The utility is exact for any mu_i, concave or not: it is only ever asked at the points zeta_i k. A count at which it is
minus infinity (a log utility at 0) cannot be chosen.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dlsched.errors import InputError
from dlsched.lazy import pyo
from dlsched.models.ddljs.instance import Instance
from dlsched.models.ddljs.job import Job
from dlsched.models.ddljs.requests import RingProblem, expect_stage, largest_ring, unpriced_problem
from dlsched.models.parameters import declare

BANDWIDTH = "b_i, bandwidth of a hop of the ring [bandwidth]"
CAPACITY = "C_s^r, capacity of the server [resource]"
LINK = "B_e[t], capacity of the link [bandwidth]"
PROFIT = "pi_ik, utility that the ring adds [utility]"
LONGEST = "n, most servers of a ring [servers]"
_FITTED = "the workers that fit on servers, the servers of a job and the sizes of its rings were derived from it"


@dataclass(frozen=True, slots=True)
class Stage:
    """Slots to plan and what jobs can get in them.

    Attributes
    ----------
    problems : dict of int to RingProblem
        By slot; only the sizes of their requests count, not the profits.
    values : dict of (str, int) to Fraction or None
        Utility of a job at a number of worker-slots in these slots; None for minus infinity.
    """

    problems: dict[int, RingProblem]
    values: dict[tuple[str, int], Fraction | None]


def interchangeable(name: str, ordered: Iterable[str]) -> None:
    """Refuse jobs with a placement, which the formulation of that name cannot state."""
    for job in ordered:
        raise InputError(f"{name} cannot tell workers apart and job {job} has a placement: use ddljs/gvne")


def all_slots(instance: Instance, name: str) -> Stage:
    """Return every slot, with every job."""
    interchangeable(name, (job.name for job in instance.jobs if job.placement is not None))
    problems = {t: unpriced_problem(instance, t) for t in range(1, instance.slots + 1)}
    most = {job.name: instance.most(job) for job in instance.jobs}
    return Stage(problems, {(job.name, k): _value(job, k) for job in instance.jobs for k in range(most[job.name] + 1)})


def one_slot(instance: Instance, name: str, slot: int, so_far: Mapping[str, int]) -> Stage:
    """Return one slot, with its active jobs I[t]: those that have arrived and can pay for another worker-slot."""
    expect_stage(instance, slot, so_far)
    interchangeable(name, (job.name for job in instance.jobs if job.placement is not None))
    done = {job.name: so_far.get(job.name, 0) for job in instance.jobs}
    jobs = tuple(
        job
        for job in instance.jobs
        if job.arrival <= slot and (job.budget_slots is None or done[job.name] < job.budget_slots)
    )
    values = {
        (job.name, k): _value(job, done[job.name] + k)
        for job in jobs
        for k in range(largest_ring(instance, job, done[job.name]) + 1)
    }
    return Stage({slot: unpriced_problem(instance, slot, done)}, values)


def _value(job: Job, worker_slots: int) -> Fraction | None:
    try:
        return job.value(worker_slots)
    except ValueError:
        return None


def workers(m: Any, problems: Mapping[int, RingProblem], *, everywhere: bool = False) -> None:
    """Add the workers and the servers in use, with (4) and (5).

    Parameters
    ----------
    m : ConcreteModel
    problems : mapping of int to RingProblem
        By slot.
    everywhere : bool
        Servers without room for a worker are there, too: the printed (5) lets them be in use, the printed (9) speaks of
        them.
    """
    requests = {(q.name, t): q for t, problem in problems.items() for q in problem.requests}
    m.hosts = {(i, t): problems[t].servers if everywhere else problems[t].hosts(q) for (i, t), q in requests.items()}
    room = {(i, t, s): problems[t].room(q, s) for (i, t), q in requests.items() for s in m.hosts[i, t]}
    needs = {(i, r): need for (i, _), q in requests.items() for r, need in q.demand.items() if need}
    m.IT = pyo.Set(initialize=list(requests), dimen=2, doc="(6) jobs and slots in which they can run")
    m.placed = pyo.Set(initialize=list(room), dimen=3, doc="(6) jobs, slots, and servers for their workers")
    users: dict[tuple[str, str, int], list[str]] = {}
    for i, t, s in m.placed:
        for r in requests[i, t].demand:
            if (i, r) in needs:
                users.setdefault((s, r, t), []).append(i)
    m.loaded = pyo.Set(initialize=list(users), dimen=3, doc="servers, resources and slots that jobs could use")
    m.running = pyo.Set(initialize=list(dict.fromkeys(i for i, _ in requests)), doc="jobs that can run")
    m.needing = pyo.Set(initialize=list(needs), dimen=2, doc="those, and the resources they need")
    declare(m, "worker_needs", (m.needing,), needs, "l_i^r, need of a worker [resource]")
    declare(m, "bandwidth", (m.running,), {i: q.bandwidth for (i, _), q in requests.items()}, BANDWIDTH)
    declare(m, "largest", (m.IT,), {it: max(q.profit) for it, q in requests.items()}, "q_i[t], largest ring [workers]")
    declare(m, "room", (m.placed,), room, "m_is, workers that fit on the server [workers]")
    capacity = {(s, r, t): problems[t].nodes[s].get(r, 0) for s, r, t in users}
    declare(m, "node_capacity", (m.loaded,), capacity, CAPACITY, within=pyo.NonNegativeReals, why=_FITTED)
    m.workers = pyo.Var(
        m.placed,
        domain=pyo.NonNegativeIntegers,
        bounds=lambda m, i, t, s: (0, m.room[i, t, s]),
        doc="y_is[t], workers",
    )
    m.in_use = pyo.Var(m.placed, domain=pyo.Binary, doc="x_is[t], 1 where the job uses the server")
    m.capacity = pyo.Constraint(
        m.loaded,
        rule=lambda m, s, r, t: (
            sum(m.worker_needs[i, r] * m.workers[i, t, s] for i in users[s, r, t]) <= m.node_capacity[s, r, t]
        ),
        doc="(4) capacity of a server and resource",
    )
    m.room_in_use = pyo.Constraint(
        m.placed,
        rule=lambda m, i, t, s: m.workers[i, t, s] <= m.room[i, t, s] * m.in_use[i, t, s],
        doc="(5) workers that fit, on a server in use",
    )


def at_most(m: Any) -> None:
    """Add (2)."""
    m.most = pyo.Constraint(
        m.IT,
        rule=lambda m, i, t: sum(m.workers[i, t, s] for s in m.hosts[i, t]) <= m.largest[i, t],
        doc="(2) at most N_i workers in a slot",
    )


def no_ghosts(m: Any) -> None:
    """Add that a server in use has a worker, which the print leaves open."""
    m.no_ghost = pyo.Constraint(
        m.placed,
        rule=lambda m, i, t, s: m.workers[i, t, s] >= m.in_use[i, t, s],
        doc="(5) corrected: a server in use has a worker",
    )


def utilities(m: Any, values: Mapping[tuple[str, int], Fraction | None], objective: str, count: str) -> None:
    """Add the objective, and n_i as one of the counts that a job's budget and the servers allow.

    Parameters
    ----------
    m : ConcreteModel
        With `workers`.
    values : mapping
        As in `Stage`.
    objective, count : str
        What the objective and the row of n_i say.
    """
    counts = {i: [k for _, k in own] for i, own in itertools.groupby(values, key=lambda ik: ik[0])}
    finite = {ik: value for ik, value in values.items() if value is not None}
    places: dict[str, list[tuple[str, int, str]]] = {i: [] for i in counts}
    for place in m.placed:
        places[place[0]].append(place)
    m.I = pyo.Set(initialize=list(counts), doc="jobs")
    m.counts = pyo.Set(initialize=list(values), dimen=2, doc="jobs and worker-slots that they can get")
    m.count = pyo.Var(
        m.counts,
        domain=pyo.Binary,
        bounds=lambda m, i, k: (0, int((i, k) in finite)),
        doc="delta_ik, 1 where the job gets k worker-slots",
    )
    m.valued = pyo.Set(initialize=list(finite), dimen=2, doc="those whose utility is not minus infinity")
    declare(m, "utility", (m.valued,), finite, "mu_i(zeta_i k), worth of k worker-slots [utility]", follows=True)
    m.total_utility = pyo.Objective(
        expr=sum(m.utility[ik] * m.count[ik] for ik in finite), sense=pyo.maximize, doc=objective
    )
    m.one_count = pyo.Constraint(
        m.I, rule=lambda m, i: sum(m.count[i, k] for k in counts[i]) == 1, doc="(DDLJS) one number of worker-slots"
    )
    m.worker_slots = pyo.Constraint(
        [i for i, own in counts.items() if max(own)],
        rule=lambda m, i: sum(m.workers[p] for p in places[i]) == sum(k * m.count[i, k] for k in counts[i] if k),
        doc=count,
    )
