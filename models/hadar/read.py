"""From the devices of a solved model to a schedule: what a job needs to finish, and nothing beside."""

from __future__ import annotations

from collections.abc import Iterable

from dlsched.models.formulation import accepted, until_done
from dlsched.models.hadar.instance import Instance
from dlsched.models.hadar.schedule import Allocation, Schedule, check, progress


def finishing(instance: Instance, schedule: Schedule, jobs: Iterable[str]) -> Schedule:
    """Return the schedule in which some jobs stop once they have done their work, and the others get nothing.

    No utility increases with time, so each job is worth at least what the model counts for it.

    Parameters
    ----------
    instance : Instance
    schedule : Schedule
        All devices of the point.
    jobs : iterable of str
        Those that finish in it.

    Raises
    ------
    UnreadableModel
        If one of them does not, in exact numbers, as a solver takes work that is all but done for done; or if a rule is
        broken.
    """
    kept = Schedule.of({name: _needed(instance, schedule, name) for name in jobs})
    return accepted(kept, check(instance, kept))


def _needed(instance: Instance, schedule: Schedule, name: str) -> dict[int, Allocation]:
    job = instance.job(name)
    slots = schedule.jobs[name].slots if name in schedule.jobs else {}
    return until_done(name, slots, lambda held: progress(instance, job, {1: held}), job.iterations, "iterations")
