"""What a slot has left goes to jobs, as long as it is worth something, and then to jobs for which it will be."""

from __future__ import annotations

from collections.abc import Mapping

from dlsched.algorithms.rings.occupancy import Occupancy
from dlsched.algorithms.rings.placement import place
from dlsched.arguments import checked
from dlsched.models.ddljs import Embedding, RingProblem
from dlsched.tolerances import ROUNDING


@checked
def fill(problem: RingProblem, occupancy: Occupancy, held: dict[str, Embedding]) -> tuple[str, ...]:
    """Give jobs workers, or more of them, by descending profit a worker; return which jobs.

    Every step raises the profit. A job that has workers and would have more is embedded anew.

    Parameters
    ----------
    problem : RingProblem
    occupancy : Occupancy
        What is left; is changed.
    held : dict of str to Embedding
        What the jobs have; is changed.
    """
    offers = [(profit / k, name, k) for name, k, profit in _gains(problem) if profit > 0]
    offers.sort(key=lambda offer: (-offer[0], -offer[2]))
    worth = {name: float(occupancy.substrate.needs[name].request.profit[ring.size]) for name, ring in held.items()}
    filled: dict[str, None] = {}
    for density, name, k in offers:
        if density * k > worth.get(name, 0.0) * (1 + ROUNDING) and _exchanged(occupancy, held, name, k):
            worth[name] = density * k
            filled[name] = None
    return tuple(filled)


@checked
def placed(problem: RingProblem, occupancy: Occupancy, sizes: Mapping[str, int]) -> dict[str, Embedding]:
    """Return rings of given sizes, those first that need most bandwidth and then the largest, as they fit; and `fill`.

    Parameters
    ----------
    problem : RingProblem
    occupancy : Occupancy
        What is left; is changed.
    sizes : mapping of str to int
        Workers by job.
    """
    held: dict[str, Embedding] = {}
    needs = occupancy.substrate.needs
    for name in sorted(sizes, key=lambda name: (-needs[name].hop, -sizes[name])):
        ring = place(occupancy, needs[name], sizes[name])
        if ring is not None:
            occupancy.take(needs[name], ring)
            held[name] = ring
    fill(problem, occupancy, held)
    return held


@checked
def give_idle(
    problem: RingProblem, occupancy: Occupancy, held: dict[str, Embedding], distance: Mapping[str, int]
) -> tuple[str, ...]:
    """Give jobs workers that are worth nothing yet; return which jobs.

    Parameters
    ----------
    problem, occupancy, held
        As for `fill`.
    distance : mapping of str to int
        How many worker-slots each such job is away from a gain; the nearest comes first, with as many workers as fit.
    """
    given = []
    largest = {request.name: max(request.profit) for request in problem.requests}
    for name in sorted(distance, key=lambda name: distance[name]):
        if name not in held:
            need = occupancy.substrate.needs[name]
            most = min(largest[name], sum(occupancy.rooms(need)))
            if any(_exchanged(occupancy, held, name, k) for k in range(most, 0, -1)):
                given.append(name)
    return tuple(given)


def _gains(problem: RingProblem) -> list[tuple[str, int, float]]:
    return [(request.name, k, float(profit)) for request in problem.requests for k, profit in request.profit.items()]


def _exchanged(occupancy: Occupancy, held: dict[str, Embedding], name: str, workers: int) -> bool:
    """Embed a job with that many workers in place of what it has; if that does not fit, change nothing."""
    need = occupancy.substrate.needs[name]
    before = held.get(name)
    if before is not None:
        occupancy.give(need, before)
    ring = place(occupancy, need, workers)
    after = ring or before
    if after is not None:
        occupancy.take(need, after)
        held[name] = after
    return ring is not None
