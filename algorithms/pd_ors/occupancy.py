"""rho_h^r[t] and p_h^r[t]: what is allocated on each machine in each slot, in exact integers, and what more costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dlsched.algorithms.pd_ors.prices import Cell, PriceConstants
from dlsched.arithmetic import integer_product
from dlsched.models.dmlrs import Instance
from dlsched.models.dmlrs.instance import AnyJob
from dlsched.models.dmlrs.job import Placement
from dlsched.models.numbers import to_integers

Floats = NDArray[np.float64]
Amounts = NDArray[Any]
"""Integers: int64 where every sum fits, else Python's own."""

_LARGEST = 2**62
"""Half of what int64 holds, so that no sum of two amounts wraps."""


@dataclass(frozen=True, slots=True)
class ResourceStep:
    """How an allocation moved one price.

    Attributes
    ----------
    machine, resource : str
    slot : int
    amount : Fraction
        drho_h^r[t], newly allocated there.
    before, after : float
        p_h^r[t], price of a unit, before and after.
    """

    machine: str
    resource: str
    slot: int
    amount: Fraction
    before: float
    after: float


class Occupancy:
    """Amounts allocated and prices, by slot, machine and resource.

    Parameters
    ----------
    instance : Instance
    constants : PriceConstants

    Attributes
    ----------
    scale : tuple of int
        Units of each resource in the integers below to one in the instance.
    capacity : integer array (machines, resources)
    used : integer array (slots, machines, resources)
        rho_h^r[t]; row i is slot i + 1.
    prices : float array (slots, machines, resources)
        p_h^r[t], of one unit of the instance; 0 where there is no price.
    """

    def __init__(self, instance: Instance, constants: PriceConstants) -> None:
        self.instance = instance
        self.constants = constants
        self.machines = tuple(machine.name for machine in instance.machines)
        columns, scales = [], []
        self._needs: dict[str, Amounts] = {}
        needs: list[list[int]] = []
        for r in instance.resources:
            amounts = [machine.capacity_of(r) for machine in instance.machines]
            amounts += [need for job in instance.jobs for need in (job.worker_needs(r), job.server_needs(r))]
            whole, scale = to_integers(amounts)
            columns.append(whole[: len(self.machines)])
            needs.append(whole[len(self.machines) :])
            scales.append(scale)
        self.scale = tuple(scales)
        self._dtype = self._smallest_type(columns, needs)
        self.capacity = self._array(columns, (len(self.machines), 2))
        for i, job in enumerate(instance.jobs):
            self._needs[job.name] = self._array([row[2 * i : 2 * i + 2] for row in needs], (2, 2))
        shape = (instance.slots, len(self.machines), len(instance.resources))
        self.used: Amounts = np.zeros(shape, dtype=self._dtype)
        self._saturation = self._cells(constants.saturation)
        self.prices: Floats = np.zeros(shape)
        for h, k in self._saturation:
            self.prices[:, h, k] = self._price(h, k, 0)

    def _smallest_type(self, columns: list[list[int]], needs: list[list[int]]) -> Any:
        largest = max((max(column, default=0) for column in columns), default=0)
        for row in needs:
            for i, job in enumerate(self.instance.jobs):
                largest = max(largest, (row[2 * i] + row[2 * i + 1]) * job.most_workers * 2)
        return np.int64 if largest < _LARGEST else object

    def _array(self, columns: list[list[int]], empty: tuple[int, int]) -> Amounts:
        """Return an array (rows, resources) from one list a resource."""
        if not columns:
            return np.zeros((empty[0], 0), dtype=self._dtype)
        return np.array(columns, dtype=self._dtype).T.copy()

    def _cells(self, saturation: Mapping[Cell, Fraction]) -> dict[tuple[int, int], Fraction]:
        machine = {name: h for h, name in enumerate(self.machines)}
        resource = {name: r for r, name in enumerate(self.instance.resources)}
        return {(machine[h], resource[r]): limit for (h, r), limit in saturation.items()}

    def _price(self, machine: int, resource: int, used: int) -> float:
        amount = Fraction(used, self.scale[resource])
        return self.constants.price(self.machines[machine], self.instance.resources[resource], amount)

    def needs(self, job: AnyJob) -> Amounts:
        """Return what a worker and a server need, integers of shape (2, resources)."""
        return self._needs[job.name]

    def commit(self, job: AnyJob, plan: Mapping[int, Placement]) -> tuple[ResourceStep, ...]:
        """Allocate a job's schedule and raise the prices of what it uses; return how each price moved.

        Raises
        ------
        ValueError
            If it takes more than is left.
        """
        machine = {name: h for h, name in enumerate(self.machines)}
        steps = []
        for t, placement in sorted(plan.items()):
            for name, counts in placement.items():
                h = machine[name]
                amounts = integer_product(np.array(counts, dtype=self._dtype), self.needs(job))
                if (self.used[t - 1, h] + amounts > self.capacity[h]).any():
                    raise ValueError(f"job {job.name}, slot {t}, machine {name}: more than what is left")
                self.used[t - 1, h] += amounts
                steps += [self._step(t, h, int(r), int(amounts[r])) for r in np.flatnonzero(amounts)]
        return tuple(step for step in steps if step is not None)

    def _step(self, slot: int, machine: int, resource: int, amount: int) -> ResourceStep | None:
        if (machine, resource) not in self._saturation:
            return None
        where = (slot - 1, machine, resource)
        before = float(self.prices[where])
        self.prices[where] = self._price(machine, resource, int(self.used[where]))
        moved = Fraction(amount, self.scale[resource])
        names = self.machines[machine], self.instance.resources[resource]
        return ResourceStep(*names, slot, moved, before, float(self.prices[where]))

    def final_prices(self) -> dict[tuple[str, str, int], float]:
        """Return every price, by (machine, resource, slot)."""
        return {
            (self.machines[h], self.instance.resources[r], t): price
            for h, r in self._saturation
            for t, price in enumerate(self.prices[:, h, r].tolist(), start=1)
        }
