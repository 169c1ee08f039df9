"""The nodes that copies run on: a machine is a node, which trains one copy at a time.

In HadarE's part of the paper a job, and so each copy of one, runs on one node at most (Section V). A copy takes the
gang W_j of its job from the devices of its node, the fastest ones; what other devices the node has stand idle.
"""

from __future__ import annotations

from fractions import Fraction

from dlsched.arguments import checked
from dlsched.errors import InputError
from dlsched.models.hadar import Instance, Job, Machine

Speeds = dict[str, dict[str, Fraction]]
"""Iterations per second of a copy, by job and node; nodes that cannot run it are left out."""


def devices_on(job: Job, machine: Machine) -> dict[str, int]:
    """Return the devices that a copy of a job has on a machine, by type; none where it cannot run there."""
    taken: dict[str, int] = {}
    missing = job.gang
    for r in sorted(machine.devices, key=job.rate_on, reverse=True):
        if count := min(missing, machine.count(r) if job.rate_on(r) else 0):
            taken[r] = count
            missing -= count
    return {} if missing else taken


def speed_on(job: Job, machine: Machine) -> Fraction:
    """Return the iterations per second of a copy of a job on a machine; 0 where it cannot run there."""
    return job.gang * min((job.rate_on(r) for r in devices_on(job, machine)), default=Fraction(0))


def speeds_of(job: Job, instance: Instance) -> dict[str, Fraction]:
    """Return the iterations per second of a copy of a job by node; nodes that cannot run it are left out."""
    return {m.name: speed for m in instance.machines if (speed := speed_on(job, m))}


@checked
def node_speeds(instance: Instance) -> Speeds:
    """Return how fast a copy of each job runs on each node.

    Raises
    ------
    InputError
        If a job can run on no single machine.

    Examples
    --------
    >>> from dlsched.algorithms import hadar_e
    >>> for job, speeds in hadar_e.node_speeds(hadar_e.figure_6()).items():
    ...     print(job, {node: str(speed) for node, speed in speeds.items()})
    J1 {'node1': '23', 'node2': '22', 'node3': '21', 'node4': '19', 'node5': '17'}
    J2 {'node1': '23', 'node2': '22', 'node3': '21', 'node4': '19', 'node5': '17'}
    J3 {'node1': '23/4', 'node2': '11/2', 'node3': '21/4', 'node4': '19/4', 'node5': '17/4'}
    """
    speeds: Speeds = {}
    for i, job in enumerate(instance.jobs):
        speeds[job.name] = speeds_of(job, instance)
        if not speeds[job.name]:
            raise InputError(
                f"jobs[{i}]: {job.name} makes progress on no single machine with its gang of {job.gang}; "
                "HadarE runs a copy on one node"
            )
    return speeds
