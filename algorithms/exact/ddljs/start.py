"""A first schedule: slot after slot, what adds the most utility, found quickly."""

from __future__ import annotations

from collections import Counter, defaultdict

from dlsched.algorithms.exact.ddljs.greedy import greedy_embeddings
from dlsched.models.ddljs.instance import Instance
from dlsched.models.ddljs.requests import slot_problem
from dlsched.models.ddljs.rings import Embedding
from dlsched.models.ddljs.schedule import Schedule


def first_schedule(instance: Instance) -> Schedule | None:
    """Return a feasible schedule; None where some utility is minus infinity at 0."""
    so_far: Counter[str] = Counter()
    found: dict[str, dict[int, Embedding]] = defaultdict(dict)
    for slot in range(1, instance.slots + 1):
        try:
            problem = slot_problem(instance, slot, so_far)
        except ValueError:
            return None
        for name, embedding in greedy_embeddings(problem).items():
            found[name][slot] = embedding
            so_far[name] += embedding.size
    return Schedule.of(found)
