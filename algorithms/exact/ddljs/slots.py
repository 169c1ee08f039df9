"""Slots that are alike, and how many of them can matter: what a long horizon comes down to."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise

from dlsched.models.ddljs.instance import Instance
from dlsched.models.ddljs.schedule import Schedule


def alike(instance: Instance) -> list[list[int]]:
    """Return the slots in groups that differ in nothing: the same bandwidths, the same jobs there."""
    changes = {1, *(job.arrival for job in instance.jobs)}
    for slot in instance.bandwidth_by_slot or {}:
        changes |= {slot, slot + 1}
    starts = sorted(slot for slot in changes if slot <= instance.slots)
    groups: dict[tuple[object, ...], list[int]] = defaultdict(list)
    for start, end in pairwise([*starts, instance.slots + 1]):
        present = tuple(job.arrival <= start for job in instance.jobs)
        groups[instance.shares(start), present].extend(range(start, end))
    return list(groups.values())


@dataclass(frozen=True, slots=True)
class Condensed:
    """An instance without the slots that no schedule needs.

    Attributes
    ----------
    instance : Instance
        With as good an optimum.
    kept : tuple of int
        The slots of the original, by slot.
    """

    instance: Instance
    kept: tuple[int, ...]

    @classmethod
    def of(cls, instance: Instance) -> Condensed:
        """Keep of slots that are alike as many as the jobs there can be in: a slot in use has a worker.

        What a schedule does in slots beyond can be done in those kept that it leaves empty.
        """
        kept: list[int] = []
        most = [(job.arrival, instance.most(job)) for job in instance.jobs]
        for group in alike(instance):
            kept += group[: max(1, sum(slots for arrival, slots in most if arrival <= group[0]))]
        kept.sort()
        if len(kept) == instance.slots:
            return cls(instance, tuple(kept))
        number = {slot: place for place, slot in enumerate(kept, 1)}
        changed = (instance.bandwidth_by_slot or {}).items()
        jobs = (job.model_copy(update={"arrival": bisect_left(kept, job.arrival) + 1}) for job in instance.jobs)
        update = {
            "slots": len(kept),
            "jobs": tuple(jobs),
            "bandwidth_by_slot": {number[slot]: links for slot, links in changed if slot in number} or None,
        }
        return cls(instance.model_copy(update=update), tuple(kept))

    def original(self, schedule: Schedule) -> Schedule:
        """Return a schedule of the condensed instance as one of the original."""
        if len(self.kept) == self.kept[-1]:
            return schedule
        jobs = {name: schedule.embeddings(name) for name in schedule.jobs}
        return Schedule.of({name: {self.kept[t - 1]: ring for t, ring in own.items()} for name, own in jobs.items()})
