"""Many independent draws of mappings at once: profits and loads of all nodes and links as integer arrays."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from dlsched.arguments import at_least, checked, generator
from dlsched.models.ddljs.requests import RingProblem
from dlsched.models.numbers import integer_dtype, to_integers
from dlsched.rounding.independent import Floats, Ints
from dlsched.rounding.mapping_table import FEASIBLE, Acceptance, MappingTable, Option, Row, Weighted


@dataclass(frozen=True, eq=False)
class MappingSample:
    """Draws of mappings, one for each request or none.

    Attributes
    ----------
    table : MappingTable
    options : ndarray of int64, shape (draws, requests)
        Which option of `table.options` each request got; 0 is none.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from dlsched.models.ddljs import RingMapping, RingProblem, RingRequest
    >>> from dlsched.rounding import WeightedMapping, sample_mappings
    >>> jobs = [RingRequest(f"job{k}", {1: 6}, {"gpu": 2}, 0) for k in range(20)]
    >>> problem = RingProblem({"a": {"gpu": 30}}, (), jobs)
    >>> on_a = RingMapping(("a",), ())
    >>> weighted = {job.name: [WeightedMapping(Fraction(3, 4), 1, on_a)] for job in jobs}
    >>> sample = sample_mappings(problem, weighted, 7, 10_000)
    >>> print(round(float(sample.profits.mean())), round(float(sample.overload.max()), 2))
    90 1.33
    >>> print(sample.beyond().mean(axis=0).round(2))
    [0.42]
    """

    table: MappingTable
    options: Ints

    @property
    def rows(self) -> tuple[Row, ...]:
        """The nodes and links in the columns of loads: those that some mapping loads."""
        return self.table.rows

    @cached_property
    def profits(self) -> Floats:
        """Profit of each draw, shape (draws,)."""
        totals = np.zeros(len(self.options))
        for i, options in enumerate(self.table.options.values()):
            totals += np.array([float(option.profit) for option in options])[self.options[:, i]]
        return totals

    @cached_property
    def _scaled(self) -> tuple[npt.NDArray[Any], list[int]]:
        """Loads as integers, shape (draws, rows), and the scale of each row."""
        return self._totals([[option.loads.get(row, Fraction(0)) for option in self._every] for row in self.rows])

    @property
    def _every(self) -> list[Option]:
        return [option for options in self.table.options.values() for option in options]

    def _totals(self, values: Sequence[Sequence[Fraction]]) -> tuple[npt.NDArray[Any], list[int]]:
        """Add up values that every option has, as integers of shape (draws, values); return the scale of each too."""
        columns, scales = [], []
        for of_options in values:
            column, scale = to_integers(of_options)
            columns.append(column)
            scales.append(scale)
        most = max((sum(map(abs, column)) for column in columns), default=0)
        matrix = np.array(columns, dtype=integer_dtype(most)).reshape(len(columns), len(self._every)).T
        totals = np.zeros((len(self.options), len(columns)), dtype=matrix.dtype)
        first = 0
        for i, options in enumerate(self.table.options.values()):
            totals += matrix[first + self.options[:, i]]
            first += len(options)
        return totals, scales

    @cached_property
    def loads(self) -> Floats:
        """Load of each row in each draw, shape (draws, rows)."""
        totals, scales = self._scaled
        loads: Floats = totals.astype(float) / np.array(scales, dtype=float)
        return loads

    def beyond(self, acceptance: Acceptance = FEASIBLE) -> npt.NDArray[np.bool_]:
        """Tell which rows carry more than is accepted in which draws, shape (draws, rows); compared exactly."""
        totals, scales = self._scaled
        limits = acceptance.limits(self.table)
        room = [limits[row] * scale // 1 for row, scale in zip(self.rows, scales, strict=True)]
        if totals.dtype != object:
            room = [min(limit, np.iinfo(np.int64).max) for limit in room]
        result: npt.NDArray[np.bool_] = (totals > np.array(room, dtype=totals.dtype)).astype(bool)
        return result

    def accepted(self, acceptance: Acceptance = FEASIBLE) -> npt.NDArray[np.bool_]:
        """Tell which draws are accepted, shape (draws,); by default those that keep all capacities.

        Profits are compared exactly too.
        """
        result: npt.NDArray[np.bool_] = np.logical_not(self.beyond(acceptance).any(axis=1))
        if acceptance.least is not None:
            totals, (scale,) = self._totals([[option.profit for option in self._every]])
            result &= (totals[:, 0] >= math.ceil(acceptance.least * scale)).astype(bool)
        return result

    @cached_property
    def overload(self) -> Floats:
        """Largest load of each draw in units of capacity, shape (draws,); infinite on a row without capacity."""
        capacity = np.array([float(self.table.capacity[row]) for row in self.rows])
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(self.loads > 0, self.loads / capacity, 0.0)
        result: Floats = ratio.max(axis=1, initial=0.0)
        return result

    def chosen(self, draw: int) -> tuple[Option, ...]:
        """Return the option of each request in one draw."""
        picks = zip(self.table.options.values(), self.options[draw].tolist(), strict=True)
        return tuple(options[pick] for options, pick in picks)


@checked
def sample_mappings(
    problem: RingProblem, weighted: Weighted, rng: np.random.Generator | int, draws: int
) -> MappingSample:
    """Round all requests independently, many times.

    Parameters
    ----------
    problem : RingProblem
    weighted : mapping of str to sequence of WeightedMapping
        As `dlsched.rounding.decompose` returns it.
    rng : numpy.random.Generator or int
        A generator, or a seed.
    draws : int

    Raises
    ------
    InputError
        As `MappingTable.of`; also if draws is negative.

    References
    ----------
    GADGET, Algorithm 2, step 8.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from dlsched.models.ddljs import RingMapping, RingProblem, RingRequest
    >>> from dlsched.rounding import MappingLaw, WeightedMapping, sample_mappings
    >>> jobs = [RingRequest(job, {1: 6}, {"gpu": 2}, 0) for job in ("bert", "vit")]
    >>> problem = RingProblem({"a": {"gpu": 3}}, (), jobs)
    >>> on_a = RingMapping(("a",), ())
    >>> weighted = {job.name: [WeightedMapping(Fraction(3, 4), 1, on_a)] for job in jobs}
    >>> sample = sample_mappings(problem, weighted, 7, 10_000)
    >>> print(round(float(sample.accepted().mean()), 2), MappingLaw(problem, weighted).accepted())
    0.44 7/16
    """
    at_least(0, draws=draws)
    table = MappingTable.of(problem, weighted)
    return MappingSample(table, draw_options(table, generator(rng), draws))


def draw_options(table: MappingTable, rng: np.random.Generator, draws: int = 1) -> Ints:
    """Return the number of the option that each request gets in each draw, shape (draws, requests)."""
    uniform = rng.random((draws, len(table.options)))
    drawn = np.zeros(uniform.shape, dtype=np.int64)
    for i, options in enumerate(table.options.values()):
        ends = np.cumsum([float(option.probability) for option in options])
        possible = np.flatnonzero([option.probability > 0 for option in options])
        picks = np.searchsorted(ends, uniform[:, i] * ends[-1], side="right")
        drawn[:, i] = np.minimum(picks, possible[-1])
    return drawn
