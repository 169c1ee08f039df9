"""Optima of programs that verdicts ask for: shown over the rationals, or else as a solver finds them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from dlsched.algorithms.exact.certificates.enclosure import NoPointError, enclose
from dlsched.algorithms.exact.certificates.program import ExactProgram, TooLargeError
from dlsched.algorithms.exact.certificates.tree import GaveUp
from dlsched.algorithms.exact.result import Proof
from dlsched.bounds.claim import Undecided
from dlsched.bounds.evidence import rests_on


@dataclass(frozen=True, slots=True)
class Shown:
    """An optimum.

    Attributes
    ----------
    value : float
    proof : Proof
        What it rests on.
    """

    value: float
    proof: Proof

    def told(self) -> float:
        """Return the value, and say to the verdict that asks what it rests on."""
        rests_on(self.proof)
        return self.value


def shown(write: Callable[[], ExactProgram], otherwise: Callable[[], float], unit: Fraction = Fraction(1)) -> Shown:
    """Return the optimum of a program that has a point.

    Parameters
    ----------
    write : callable
        Returns the program.
    otherwise : callable
        Returns the optimum as solvers find it, where nothing is shown over the rationals.
    unit : Fraction
        That both are in.

    Raises
    ------
    Undecided
        If what a solver finds is no point of a program in whole numbers.
    """
    try:
        program = write()
        found = enclose(program)
    except (GaveUp, TooLargeError) as error:
        if isinstance(error, NoPointError) and all(column.integer for column in program.columns):
            raise Undecided(str(error)) from None
        return Shown(otherwise() * float(unit), Proof.AGREED)
    assert found is not None
    return Shown(float(found.value * unit), Proof.EXACT)
