"""Rings for workers that have their servers already."""

from __future__ import annotations

from collections.abc import Mapping

from dlsched.algorithms.exact.ddljs.checked import fits
from dlsched.algorithms.exact.ddljs.network import Network
from dlsched.algorithms.exact.ddljs.slot_program import SlotProgram
from dlsched.algorithms.rings import Occupancy, Substrate, embedded, join
from dlsched.models.ddljs.requests import RingProblem
from dlsched.models.ddljs.rings import Embedding
from dlsched.solvers.matrix import Floats


def mostly_outside_core(problem: RingProblem) -> bool:
    """Tell whether most servers hang off the core, so that a program without the core is worth its time."""
    network = Network.of(problem.nodes, problem.arcs)
    plain = all(request.allowed is None for request in problem.requests)
    inside = set(network.core).intersection(problem.servers)
    return plain and len(network.core) > 1 and 2 * len(inside) <= len(problem.servers)


def embeddings_at(problem: RingProblem, program: SlotProgram, x: Floats) -> dict[str, Embedding] | None:
    """Return embeddings that fit with the workers of a point; None where no rings were found for them.

    The point may be of a program without the core: then rings are sought one by one, those with the most bandwidth
    first.
    """
    for found in (_routed(problem, program.workers(x)), program.try_read(x)):
        if found is not None and fits(problem, found):
            return found
    return None


def _routed(problem: RingProblem, workers: Mapping[str, Mapping[str, int]]) -> dict[str, Embedding] | None:
    if any(problem.request(name).allowed is not None for name in workers):
        return None
    substrate = Substrate.of(problem)
    occupancy = Occupancy(substrate)
    found: dict[str, Embedding] = {}
    for name in sorted(workers, key=lambda name: -problem.request(name).bandwidth):
        counts = {substrate.number[u]: n for u, n in workers[name].items()}
        ring = join(occupancy, substrate.needs[name], [*counts])
        if ring is None:
            return None
        found[name] = embedded(occupancy, counts, ring)
        occupancy.take(substrate.needs[name], found[name])
    return found
