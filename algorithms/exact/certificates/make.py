"""From an instance and its best schedule to an exact certificate."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from dlsched.algorithms.algorithm import exact_program
from dlsched.algorithms.exact.certificates.certificate import ExactProof, Tree
from dlsched.algorithms.exact.certificates.check import Refuted, check_tree
from dlsched.algorithms.exact.certificates.program import ExactProgram, TooLargeError
from dlsched.algorithms.exact.certificates.tree import Beaten, GaveUp, prove
from dlsched.arguments import checked
from dlsched.errors import InputError
from dlsched.models.document import Document
from dlsched.models.numbers import agree
from dlsched.models.problem import Problem, problem_of

WORK = 3_000_000
"""Coefficients of the program, times linear programs, that a search takes by default. Arbitrary: below a second."""

MUCH_WORK = 100 * WORK
"""The same where a user asks for a certificate. Arbitrary: minutes."""


@checked
def prove_exactly(instance: Document, schedule: Document | None, *, work: int = WORK) -> ExactProof:
    """Return a proof that a schedule is the best one, or that what is better has an equal value (`agree`).

    Parameters
    ----------
    instance : Instance
        Of any problem whose exact method has a `program`.
    schedule : Schedule or None
        It passed the problem's checker. None where there is said to be none.
    work : int
        Coefficients of the program, times linear programs, that the search may take.

    Raises
    ------
    GaveUp
        If none was found; the message says why.
    Beaten
        If the program has something better.
    Halt
        If the work (`dlsched.halt`) is over.

    Examples
    --------
    >>> from dlsched.algorithms.exact.certificates import prove_exactly
    >>> from dlsched.algorithms.hadar import run
    >>> from dlsched.models import hadar
    >>> instance = hadar.random(0)
    >>> proof = prove_exactly(instance, run(instance).schedule)
    >>> print(proof.value, proof.tree.bound)
    34 34
    """
    problem: Problem[Document, Document] = problem_of(instance)
    value = None if schedule is None else Fraction(problem.utility(instance, schedule))

    def is_as_good(program: ExactProgram, worth: Fraction) -> bool:
        unit = float(max((abs(column.cost) for column in program.columns), default=0))
        return value is not None and agree(value, worth, unit=unit)

    program, tree = _tree(instance, value, work, is_as_good)
    return ExactProof(problem.name, program.formulation, instance, schedule, value, tree)


def bound_exactly(instance: Document, worth: Fraction, *, work: int = WORK) -> Fraction:
    """Return what no point of an instance's program is worth more than, from what one of them is worth.

    Parameters
    ----------
    instance : Instance
        Of any problem whose exact method has a `program`.
    worth : Fraction
        Of a point of the program.
    work : int
        As for `prove_exactly`; for each better point that is met.

    Raises
    ------
    GaveUp
        If no bound was found; the message says why.
    Halt
        If the work (`dlsched.halt`) is over.
    """
    _, tree = _tree(instance, worth, work, lambda program, better: True)
    return worth if tree.bound is None else tree.bound


def _tree(
    instance: Document, value: Fraction | None, work: int, goes_on: Callable[[ExactProgram, Fraction], bool]
) -> tuple[ExactProgram, Tree]:
    """Return an instance's program and a tree for a value, or for the least one above it that has one.

    Parameters
    ----------
    instance : Instance
    value : Fraction or None
    work : int
        Of each search.
    goes_on : callable
        Tells whether to go on from what a better point is worth.

    Raises
    ------
    GaveUp, Beaten, Halt
        As `prove_exactly`.
    """
    try:
        program = exact_program(problem_of(instance).name)(instance)
        while True:
            try:
                tree = prove(program, value, work=work)
                break
            except Beaten as beaten:
                if not goes_on(program, beaten.worth):
                    raise
                value = beaten.worth
        check_tree(program, tree.nodes, tree.bound, tree.lattice)
    except (InputError, TooLargeError, Refuted) as error:
        raise GaveUp(str(error)) from None
    return program, tree
