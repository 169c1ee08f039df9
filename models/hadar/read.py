"""From the devices of a solved model to a schedule: what a job needs to finish, and nothing beside."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from dlsched.models.formulation import stopping, until_done
from dlsched.models.hadar.instance import Instance
from dlsched.models.hadar.schedule import Allocation, Schedule, check, progress


def finishing(instance: Instance, devices: Mapping[str, Mapping[int, Allocation]], jobs: Iterable[str]) -> Schedule:
    """Return the schedule of the jobs that finish at a point, by all devices of it; see `stopping`."""
    return stopping(instance, devices, jobs, _needed, Schedule.of, check)


def _needed(instance: Instance, name: str, slots: Mapping[int, Allocation]) -> dict[int, Allocation]:
    job = instance.job(name)
    return until_done(name, slots, lambda held: progress(instance, job, {1: held}), job.iterations, "iterations")
