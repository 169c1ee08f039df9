"""gamma_h^r(t) and k_h^r(t): which devices are allocated in each slot, and what the next one costs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dlsched.algorithms.hadar.prices import Cell, PriceConstants
from dlsched.algorithms.run import PriceStep
from dlsched.errors import InputError
from dlsched.models.hadar import Instance
from dlsched.models.numbers import integer_dtype

Counts = tuple[tuple[int, int], ...]
"""An allocation of one slot: (index of a cell, devices) for each cell used."""


class _Prices(dict[int, float]):
    """The prices in a cell by the devices allocated there, each worked out when it is first asked for."""

    def __init__(self, constants: PriceConstants, cell: Cell) -> None:
        super().__init__()
        self._constants, self._cell = constants, cell

    def __missing__(self, devices: int) -> float:
        self[devices] = self._constants.price(*self._cell, devices)
        return self[devices]


class Cells:
    """What devices there are, and what the next one costs.

    A cell is a machine and a type of which it has devices, numbered machine by machine and type by type as listed.

    Parameters
    ----------
    instance : Instance
    constants : PriceConstants

    Attributes
    ----------
    cells : tuple of (str, str)
    capacity : integer array (cells,)
    """

    def __init__(self, instance: Instance, constants: PriceConstants) -> None:
        self.cells: tuple[Cell, ...] = tuple(
            (machine.name, r) for machine in instance.machines for r in instance.device_types if machine.count(r)
        )
        kind = integer_dtype(instance.devices + max((job.gang for job in instance.jobs), default=0))
        self.capacity: NDArray[Any] = np.array(
            [instance.machine(machine).count(r) for machine, r in self.cells], dtype=kind
        )
        self._index = {cell: i for i, cell in enumerate(self.cells)}
        self._prices = [_Prices(constants, cell) for cell in self.cells]

    def price(self, cell: int, devices: int) -> float:
        """Return the price in a cell of which `devices` are allocated."""
        return self._prices[cell][devices]

    def all_prices(self, state: Iterable[int]) -> list[float]:
        """Return the price in every cell, given how many devices of each are allocated."""
        return [prices[devices] for prices, devices in zip(self._prices, state, strict=True)]

    def allocation(self, counts: Counts) -> dict[str, dict[str, int]]:
        """Return an allocation of one slot in the form of a schedule: machine to type to devices."""
        result: dict[str, dict[str, int]] = {}
        for cell, devices in counts:
            machine, r = self.cells[cell]
            result.setdefault(machine, {})[r] = devices
        return result

    def counts(self, allocation: Mapping[str, Mapping[str, int]]) -> Counts:
        """Return what `allocation` was made of."""
        return tuple(
            (self._index[machine, r], n) for machine, devices in allocation.items() for r, n in devices.items()
        )


class Occupancy(Cells):
    """Devices allocated and prices, by slot and cell.

    Parameters
    ----------
    instance : Instance
    constants : PriceConstants

    Attributes
    ----------
    used : integer array (slots, cells)
        gamma_h^r(t); row i is slot i + 1.
    prices : float array (slots, cells)
        k_h^r(t).

    Examples
    --------
    >>> from dlsched.algorithms import hadar
    >>> from dlsched.models.hadar import random
    >>> instance = random(0)
    >>> occupancy = hadar.Occupancy(instance, hadar.constants(instance))
    >>> plan = {2: ((0, 1), (1, 1))}
    >>> f"{occupancy.cost(plan):.4f}"
    '0.1181'
    >>> for step in occupancy.commit(plan):
    ...     print(step.machine, step.type, f"{step.before:.3f} -> {step.after:.3f}")
    machine1 type1 0.059 -> 19.000
    machine1 type2 0.059 -> 19.000
    """

    def __init__(self, instance: Instance, constants: PriceConstants) -> None:
        super().__init__(instance, constants)
        self.used: NDArray[Any] = np.zeros((instance.slots, len(self.cells)), dtype=self.capacity.dtype)
        empty = [self.price(cell, 0) for cell in range(len(self.cells))]
        self.prices: NDArray[np.float64] = np.tile(np.array(empty, dtype=np.float64), (instance.slots, 1))

    def cost(self, slots: Mapping[int, Counts]) -> float:
        """Return sum_t sum_h,r k w of an allocation by slot, at the current prices."""
        return math.fsum(self.prices[t - 1, c] * n for t, counts in slots.items() for c, n in counts)

    def commit(self, slots: Mapping[int, Counts]) -> tuple[PriceStep, ...]:
        """Allocate devices and raise their prices; return how each price moved.

        Raises
        ------
        InputError
            If more devices are asked for than are free.
        """
        return tuple(self._step(t, cell, n) for t, counts in sorted(slots.items()) for cell, n in counts)

    def _step(self, slot: int, cell: int, devices: int) -> PriceStep:
        machine, r = self.cells[cell]
        after = int(self.used[slot - 1, cell]) + devices
        if after > self.capacity[cell]:
            raise InputError(f"slot {slot}, machine {machine}: {after} devices of type {r} are more than it has")
        before = float(self.prices[slot - 1, cell])
        self.used[slot - 1, cell] = after
        self.prices[slot - 1, cell] = self.price(cell, after)
        return PriceStep(machine, r, slot, devices, before, float(self.prices[slot - 1, cell]))

    def final_prices(self) -> dict[tuple[str, str, int], float]:
        """Return every price, by (machine, type, slot)."""
        return {
            (machine, r, t): price
            for t, row in enumerate(self.prices.tolist(), start=1)
            for (machine, r), price in zip(self.cells, row, strict=True)
        }


def merged(counts: Iterable[tuple[int, int]]) -> Counts:
    """Return an allocation with its cells in order and without those of which it takes nothing."""
    return tuple(sorted((cell, n) for cell, n in counts if n))
