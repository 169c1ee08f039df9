"""Groups of identical machines."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dlsched.models.dmlrs.instance import Instance, Machine


@dataclass(frozen=True, slots=True)
class Group:
    """Machines with the same capacities.

    Attributes
    ----------
    name : str
        Name of the first of them.
    machines : tuple of str
    model : Machine
        The first of them: what one machine of the group has.
    """

    name: str
    machines: tuple[str, ...]
    model: Machine

    def __len__(self) -> int:
        """Return how many machines there are."""
        return len(self.machines)


def singletons(instance: Instance) -> tuple[Group, ...]:
    """Return each machine as a group of its own."""
    return tuple(Group(machine.name, (machine.name,), machine) for machine in instance.machines)


def identical(instance: Instance) -> tuple[Group, ...]:
    """Return the groups of machines with the same capacities, in the order of their first machines."""
    found: dict[tuple[Fraction, ...], list[Machine]] = {}
    for machine in instance.machines:
        found.setdefault(tuple(machine.capacity_of(r) for r in instance.resources), []).append(machine)
    return tuple(Group(same[0].name, tuple(h.name for h in same), same[0]) for same in found.values())
