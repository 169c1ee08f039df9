"""From the workers and servers of a solved model to a schedule: what a job needs to finish, and nothing beside."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from dlsched.models.dmlrs.instance import Instance
from dlsched.models.dmlrs.job import Placement
from dlsched.models.dmlrs.schedule import Schedule, check
from dlsched.models.formulation import accepted, until_done

Placements = Mapping[str, Mapping[int, Placement]]
"""Job to slot to machine to (workers, servers)."""


def read(model: Any, instance: Instance) -> Schedule:
    """Return the schedule of a model begun by `dlsched.models.dmlrs.frame.frame`.

    Raises
    ------
    UnreadableModel
        As `finishing`.
    """
    found: dict[str, dict[int, dict[str, tuple[int, int]]]] = {}
    for i, t, h in model.placed:
        counts = round(model.workers[i, t, h].value), round(model.servers[i, t, h].value)
        if any(counts):
            found.setdefault(i, {}).setdefault(t, {})[h] = counts
    return finishing(instance, found, finished(model))


def finished(model: Any) -> list[str]:
    """Return the jobs that have a completion slot in a solved model."""
    return [i for i, t in model.IT if round(model.completion[i, t].value)]


def finishing(instance: Instance, placements: Placements, jobs: Iterable[str]) -> Schedule:
    """Return the schedule in which some jobs stop once they have done their work, and the others get nothing.

    No utility increases with time, so each job is worth at least what the model counts for it.

    Parameters
    ----------
    instance : Instance
    placements : mapping
        All workers and servers of the point.
    jobs : iterable of str
        Those that finish in it.

    Raises
    ------
    UnreadableModel
        If one of them does not, in exact numbers, as a solver takes work that is all but done for done; or if a rule is
        broken.
    """
    kept = Schedule.of({name: _needed(instance, name, placements.get(name, {})) for name in jobs})
    return accepted(kept, check(instance, kept))


def _needed(instance: Instance, name: str, slots: Mapping[int, Placement]) -> dict[int, Placement]:
    job = instance.job(name)
    return until_done(name, slots, job.progress, job.work, "of its work")
