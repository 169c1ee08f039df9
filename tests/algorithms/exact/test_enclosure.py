"""Optima of programs over the rationals, against enumeration and against each other."""

from __future__ import annotations

import itertools
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from dlsched.algorithms.exact.certificates import ExactProgram, ProgramBuilder
from dlsched.algorithms.exact.certificates.enclosure import enclose
from tests.longer import longer


def drawn(seed: int, *, integer: bool) -> ExactProgram:
    """Return a small packing program with one covering row; some have no point."""
    rng = np.random.default_rng(seed)
    builder = ProgramBuilder("drawn", "maximize" if seed % 2 else "minimize", Fraction(1, 3))
    columns = [
        builder.column(f"x{j}", int(rng.integers(1, 4)), cost=_some(rng, -3, 9), integer=integer) for j in range(4)
    ]
    for i in range(3):
        builder.row(f"r{i}", [(j, _some(rng, 0, 5)) for j in columns], upper=_some(rng, 1, 20))
    builder.row("cover", [(j, _some(rng, 0, 3)) for j in columns], lower=_some(rng, 0, 6))
    return builder.program()


def _some(rng: np.random.Generator, low: int, high: int) -> Fraction:
    return Fraction(int(rng.integers(low, high)), int(rng.integers(1, 8)))


def _by_enumeration(program: ExactProgram) -> Fraction | None:
    best = max if program.sense == "maximize" else min
    found = []
    for point in itertools.product(*(range(int(column.upper or 0) + 1) for column in program.columns)):
        sums = [(sum(a * point[j] for j, a in row.terms.items()), row) for row in program.rows]
        if all((r.lower is None or s >= r.lower) and (r.upper is None or s <= r.upper) for s, r in sums):
            found.append(program.constant + sum(c.cost * x for c, x in zip(program.columns, point, strict=True)))
    return best(found, default=None)


@pytest.mark.parametrize("seed", longer(range(60), *range(20, 60)))
def test_integer_programs_have_the_optimum_of_enumeration(seed: int) -> None:
    program = drawn(seed, integer=True)
    found = enclose(program)
    assert (None if found is None else found.value) == _by_enumeration(program)
    assert found is None or abs(found.bound - found.value) < Fraction(1, 10**8)


@pytest.mark.parametrize("seed", longer(range(60), *range(20, 60)))
def test_linear_programs_are_no_worse_and_agree_with_their_duals(seed: int) -> None:
    """The relaxation is no worse than the integer program; its point keeps what it should, and is worth its value."""
    program = drawn(seed, integer=False)
    found, whole = enclose(program), enclose(drawn(seed, integer=True))
    if found is None:
        assert whole is None
        return
    sign = 1 if program.sense == "maximize" else -1
    assert sign * found.value <= sign * found.bound
    assert whole is None or sign * whole.value <= sign * found.bound
    terms = zip(program.columns, found.point, strict=True)
    assert program.constant + sum((c.cost * x for c, x in terms), Fraction(0)) == found.value


def test_a_difference_below_every_tolerance_of_a_solver_counts() -> None:
    """A point that is better by a ten-millionth of the objective is found, though solvers stop before."""
    builder = ProgramBuilder("near")
    large = [builder.binary(f"large{j}", cost=10**7 + j) for j in range(4)]
    small = [builder.binary(f"small{j}", cost=Fraction(1, 2 + j)) for j in range(4)]
    builder.row("room", [(j, 3) for j in large] + [(j, 1) for j in small], upper=8)
    program = builder.program()
    found = enclose(program)
    assert found is not None
    assert found.value == found.bound == _by_enumeration(program)


def test_a_program_without_a_point_has_none() -> None:
    program = drawn(1, integer=True)
    rows = (*program.rows, replace(program.rows[0], name="none", lower=Fraction(1000), upper=None))
    assert enclose(replace(program, rows=rows)) is None
