"""The checker of exact certificates: integers and fractions only, and no solver.

What it takes for granted is the problem's own checker and utility of schedules, the problem's writer of the program
(`dlsched.algorithms.ExactMethod.program`), Python's integers, and two files: this one and
`dlsched.algorithms.exact.certificates.duality`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from dlsched.algorithms.algorithm import exact_method
from dlsched.algorithms.exact.certificates.certificate import Bounded, Branching, Empty, ExactCertificate, Node
from dlsched.algorithms.exact.certificates.duality import Bounds, Duality, lattice_of, rounded
from dlsched.algorithms.exact.certificates.program import ExactProgram, TooLargeError
from dlsched.arguments import checked
from dlsched.errors import InputError
from dlsched.halt import poll
from dlsched.models.numbers import size_of
from dlsched.models.problem import problem


class Refuted(Exception):
    """A certificate proves nothing; the message names the first place that does not check, and why."""


@dataclass(frozen=True, slots=True)
class Proved:
    """What a certificate proves: value <= optimum <= bound, the other way round of a cost.

    Attributes
    ----------
    value, bound : Fraction or None
        None where no schedule is feasible.
    leaves : int
    program : ExactProgram
    """

    value: Fraction | None
    bound: Fraction | None
    leaves: int
    program: ExactProgram


@checked
def check_certificate(certificate: ExactCertificate) -> Proved:
    """Check a certificate, and return what it proves.

    Raises
    ------
    Refuted
        If it proves nothing.
    InputError
        If there is no such problem, or the problem has no program over the rationals.
    Halt
        If the work (`dlsched.halt`) is over.
    """
    found, method = problem(certificate.problem), exact_method(certificate.problem)
    if method is None or method.program is None:
        raise InputError(f"{certificate.problem}: has no program over the rationals, so no exact certificates")
    try:
        instance = found.instance.parse(certificate.instance)
        schedule = None if certificate.schedule is None else found.schedule.parse(certificate.schedule)
        program = method.program(instance)
    except (InputError, TooLargeError) as error:
        raise Refuted(f"instance or schedule: {error}") from None
    if instance.digest != certificate.sha256:
        raise Refuted(f"instance: its digest is {instance.digest}, not {certificate.sha256}")
    if program.formulation != certificate.formulation:
        raise Refuted(f"formulation: is {program.formulation}, not {certificate.formulation}")
    value = None
    if schedule is not None:
        for violation in found.check(instance, schedule):
            raise Refuted(f"schedule: {violation}")
        value = Fraction(found.utility(instance, schedule))
    if value != certificate.value:
        raise Refuted(f"schedule: is worth {value}, not {certificate.value}")
    if (certificate.bound is None) != (value is None) or program.sense != found.sense:
        raise Refuted("bound: there is none, though there is a schedule" if value else "bound: of no schedule")
    leaves = check_tree(program, certificate.nodes, certificate.bound, certificate.lattice)
    return Proved(value, certificate.bound, leaves, program)


def check_tree(program: ExactProgram, nodes: Sequence[Node], bound: Fraction | None, lattice: Fraction | None) -> int:
    """Check that the leaves cover all points, and that none allows more than the bound; return how many there are.

    Raises
    ------
    Refuted
        If they do not.
    """
    own = lattice_of(program)
    if lattice is not None and (own is None or lattice <= 0 or (own / lattice).denominator != 1):
        raise Refuted(f"lattice: the objective does not go in steps of {lattice}")
    duality = Duality(program)
    leaves, open_ = 0, [(duality.lower, duality.upper)]
    for number, node in enumerate(nodes):
        poll()
        place = f"node {number}"
        if not open_:
            raise Refuted(f"{place}: stands behind the last leaf")
        lower, upper = open_.pop()
        if isinstance(node, Branching):
            if node.column >= len(lower) or not program.columns[node.column].integer:
                raise Refuted(f"{place}: column {node.column} is not one of integers")
            open_ += [(_with(lower, node.column, node.at + 1), upper), (lower, _with(upper, node.column, node.at))]
            continue
        leaves += 1
        _check_leaf(place, duality, node, lower, upper, bound, lattice)
    if open_:
        raise Refuted(f"node {len(nodes)}: is missing; {len(open_)} parts are left open")
    return leaves


def _with(bounds: Bounds, column: int, value: int) -> list[Fraction | int | None]:
    return [*bounds[:column], value, *bounds[column + 1 :]]


def _check_leaf(
    place: str,
    duality: Duality,
    node: Bounded | Empty,
    lower: Bounds,
    upper: Bounds,
    bound: Fraction | None,
    lattice: Fraction | None,
) -> None:
    empty, y = isinstance(node, Empty), node.farkas if isinstance(node, Empty) else node.multipliers
    if any(row >= len(duality.rows) for row in y):
        raise Refuted(f"{place}: the program has only {len(duality.rows)} rows")
    if not empty and bound is None:
        raise Refuted(f"{place}: has points, though there is no schedule")
    y = y if empty else {row: duality.sign * multiplier for row, multiplier in y.items()}
    limit = duality.limit(y, lower, upper, farkas=empty)
    if limit is None:
        raise Refuted(f"{place}: a multiplier goes with a side or bound that is infinite")
    if empty and limit >= 0:
        raise Refuted(f"{place}: its ray does not show that there is no point")
    if not empty and bound is not None and rounded(limit, duality.constant, lattice) > duality.sign * bound:
        raise Refuted(f"{place}: its multipliers allow {size_of(duality.sign * limit)}, beyond the bound")
