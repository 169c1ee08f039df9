"""OASiS (Bao et al., INFOCOM 2018) as the PD-ORS paper evaluates it: workers and servers on separate machines.

It is primal-dual as PD-ORS is, with the prices (12)-(14) (as repaired) and the same choice of the best schedule, but
the first half of the machines, the larger one where their number is odd, hosts workers only and the others servers
only. All communication is external; workers and servers do not compete for room, so that the cheapest placement of n
workers takes the cheapest machines of either half, exactly. An asynchronous job keeps its servers on one machine, which
is no loss: each further one adds the load of all its workers (3.4) once more.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dlsched.algorithms.algorithm import Algorithm
from dlsched.algorithms.pd_ors.market import Floats, Ints, Market, Occupancy, fewest_servers, market
from dlsched.algorithms.pd_ors.prices import constants
from dlsched.algorithms.pd_ors.program import Offers, best_response
from dlsched.algorithms.pd_ors.response import Response, earning_values
from dlsched.algorithms.pd_ors.run import JobDecision
from dlsched.algorithms.run import Run
from dlsched.arguments import Seed, checked
from dlsched.errors import InputError
from dlsched.models.dmlrs import AsyncJob, Instance, Schedule, utility
from dlsched.models.dmlrs.instance import AnyJob, can_earn
from dlsched.models.dmlrs.job import Placement

_MOST_SERVERS = 10**7
"""Of a job in a slot: the machine and the price of each are kept, 160 MB in all."""


@checked
def run(instance: Instance, *, seed: Seed = 0) -> Run[Schedule]:
    """Schedule an instance with OASiS.

    Parameters
    ----------
    instance : Instance
    seed : int or numpy.random.Generator
        Not used: nothing is drawn at random.

    Returns
    -------
    Run
        Prices are by (machine, resource, slot), of what has a price. The log has a `JobDecision` for each job, in order
        of arrival.

    Raises
    ------
    InputError
        If a job may have more servers in a slot than can be priced one after the other.

    Examples
    --------
    >>> from dlsched.algorithms import pd_ors
    >>> from dlsched.algorithms.baselines.dmlrs.oasis import run
    >>> from dlsched.models import dmlrs
    >>> instance = dmlrs.random(0)
    >>> run(instance).utility, pd_ors.run(instance).utility
    (0.0, 12.0)
    """
    del seed
    occupancy = Occupancy(instance, constants(instance))
    plans: dict[str, dict[int, Placement]] = {}
    log = []
    for job in sorted(instance.jobs, key=lambda job: job.arrival):
        found = _respond(occupancy, job)
        admitted = found.payoff > 0
        plan = dict(found.plan)
        steps = occupancy.commit(job, plan)
        log.append(JobDecision(job.name, job.arrival, admitted, found.payoff, max(plan, default=None), steps, plan))
        if admitted:
            plans[job.name] = plan
    schedule = Schedule.of(plans)
    return Run(schedule, utility(instance, schedule), occupancy.final_prices(), tuple(log))


def _respond(occupancy: Occupancy, job: AnyJob) -> Response:
    """Return the schedule of the greatest payoff, workers and servers apart."""
    instance = occupancy.instance
    values = earning_values(instance, job)
    if not values or not can_earn(instance, job):
        return Response(0.0)
    view = market(occupancy, job, job.arrival + len(values) - 1)
    if isinstance(job, AsyncJob):
        counts = [fewest_servers(job, n, job.external_rate) for n in range(view.most + 1)]
        view = view.with_servers(np.array([min(s, n + 1) for n, s in enumerate(counts)], dtype=np.int64))
    if not isinstance(job, AsyncJob) and view.servers[-1] > _MOST_SERVERS:
        raise InputError(
            f"job {job.name}: {view.servers[-1]} servers for {view.most} workers; OASiS prices one after the other, "
            f"{_MOST_SERVERS} at most"
        )
    rows = [_split(view, row, isinstance(job, AsyncJob)) for row in range(view.slots)]
    workers = np.outer(np.arange(1, view.most + 1), (0, 1))
    cost = np.array([each.cost[1:] for each in rows])
    best = best_response(Offers(workers, (1 / job.internal_time, 1 / job.external_time), cost), job.work, values)
    if best is None:
        return Response(0.0)
    plan = {view.first + row: rows[row].placement(offer + 1, occupancy.machines) for row, offer in best.picks}
    return Response(best.payoff, plan)


@dataclass(frozen=True, slots=True, eq=False)
class _Split:
    """The cheapest placements of n = 0..most workers in one slot.

    Attributes
    ----------
    cost : float array (most + 1,)
        Infinite where they do not fit.
    workers, servers : int array
        Index of the machine of each unit, the cheapest first.
    counts : int array (most + 1,)
        Servers.
    homes : int array (most + 1,) or None
        The one machine of all servers, instead.
    """

    cost: Floats
    workers: Ints
    servers: Ints
    counts: Ints
    homes: Ints | None

    def placement(self, workers: int, names: tuple[str, ...]) -> Placement:
        """Return (workers, servers) by name of the machine."""
        count = int(self.counts[workers])
        hosts = self.servers[:count] if self.homes is None else np.full(count, self.homes[workers])
        worker_hosts = np.bincount(self.workers[:workers], minlength=len(names))
        server_hosts = np.bincount(hosts, minlength=len(names))
        used = np.flatnonzero(worker_hosts + server_hosts).tolist()
        return {names[h]: (int(worker_hosts[h]), int(server_hosts[h])) for h in used}


def _split(view: Market, row: int, together: bool) -> _Split:
    """Return the cheapest placements in a slot.

    Parameters
    ----------
    view : Market
    row : int
    together : bool
        All servers on one machine, and no more of them than workers.
    """
    slot, half = view.row(row), (view.machines + 1) // 2
    first = np.arange(view.machines) < half
    workers, worker_cost = _fill(slot.worker_price[0], np.where(first, slot.fitting_workers()[0], 0), view.most)
    price, held = slot.server_price[0], np.where(first, 0, slot.fitting_servers()[0])
    if not together:
        servers, cost = _fill(price, held, int(view.servers[-1]))
        return _Split(worker_cost + cost[view.servers], workers, servers, view.servers, None)
    homes = np.zeros(view.most + 1, dtype=np.int64)
    cost = np.full(view.most + 1, np.inf)
    for n, count in enumerate(view.servers.tolist()):
        hosts = np.flatnonzero(held >= count)
        if count <= n and len(hosts):
            homes[n] = hosts[price[hosts].argmin()]
            cost[n] = count * price[homes[n]]
    return _Split(worker_cost + cost, workers, np.zeros(0, dtype=np.int64), view.servers, homes)


def _fill(price: Floats, held: Ints, most: int) -> tuple[Ints, Floats]:
    """Return the machine of each of up to `most` units, the cheapest first, and the cost of n = 0..most of them."""
    order = np.argsort(price, kind="stable")
    hosts = np.repeat(order, held[order])[:most]
    cost = np.full(most + 1, np.inf)
    cost[0] = 0.0
    cost[1 : len(hosts) + 1] = np.cumsum(price[hosts])
    return hosts, cost


ALGORITHM = Algorithm("oasis", "dmlrs", "OASiS: primal-dual prices, workers and servers on separate machines", run)
