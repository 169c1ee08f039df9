"""The checker of exact certificates: whole numbers and fractions only, and no solver.

For bounds l <= x <= u of the columns and any multipliers y of the rows, with d = c - A'y, every point is worth

    ``c'x = y'Ax + d'x <= sum_i max(y_i lo_i, y_i hi_i) + sum_j max(d_j l_j, d_j u_j)``

(maximising), whatever y is. With c = 0 the sum cannot be below 0 unless there is no point (Farkas).

What is taken for granted besides stands in ``docs/certificates.md``, and a test has the list of modules.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from dlsched.algorithms.algorithm import exact_program
from dlsched.algorithms.exact.certificates.certificate import Bounded, Branching, Empty, ExactCertificate, Node
from dlsched.algorithms.exact.certificates.program import Bounds, ExactProgram, TooLargeError
from dlsched.arguments import checked
from dlsched.errors import InputError
from dlsched.halt import poll
from dlsched.models.numbers import size_of
from dlsched.models.problem import problem


class Refuted(Exception):
    """A certificate proves nothing; the message names the first place that does not check, and why.

    Examples
    --------
    >>> from dlsched.algorithms import check_certificate, optimum
    >>> from dlsched.algorithms.exact.certificates import Refuted
    >>> from dlsched.models import hadar
    >>> certificate = optimum(hadar.random(0)).exact.document()
    >>> try:
    ...     check_certificate(certificate.model_copy(update={"value": certificate.value + 1}))
    ... except Refuted as place:
    ...     print(place)
    schedule: is worth 34, not 35
    """


@dataclass(frozen=True, slots=True)
class Proved:
    """What a certificate proves: value <= optimum <= bound, the other way round of a cost.

    Attributes
    ----------
    value, bound : Fraction or None
        None where no schedule is feasible.
    leaves : int
    program : ExactProgram

    Examples
    --------
    >>> from dlsched.algorithms import check_certificate, optimum
    >>> from dlsched.models import hadar
    >>> proved = check_certificate(optimum(hadar.random(0)).exact.document())
    >>> print(proved.value, "<= optimum <=", proved.bound)
    34 <= optimum <= 34
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

    Examples
    --------
    >>> from dlsched.algorithms import check_certificate, optimum
    >>> from dlsched.models import hadar
    >>> certificate = optimum(hadar.random(18)).exact.document()
    >>> proved = check_certificate(certificate)
    >>> print(proved.value, proved.bound)
    16 16
    >>> check_certificate(certificate.model_copy(update={"bound": certificate.bound - 1}))
    Traceback (most recent call last):
        ...
    dlsched.algorithms.exact.certificates.check.Refuted: node 2: its multipliers allow 16, beyond the bound
    """
    found, write = problem(certificate.problem), exact_program(certificate.problem)
    try:
        instance = found.instance.parse(certificate.instance)
        schedule = None if certificate.schedule is None else found.schedule.parse(certificate.schedule)
        program = write(instance)
    except (InputError, TooLargeError) as error:
        raise Refuted(f"instance or schedule: {error}") from None
    if instance.digest != certificate.sha256:
        raise Refuted(f"instance: its digest is {instance.digest}, not {certificate.sha256}")
    if (program.formulation, program.sense) != (certificate.formulation, found.sense):
        raise Refuted(f"formulation: is {program.formulation}, to {program.sense}, not {certificate.formulation}")
    if schedule is not None and (violations := found.violations(instance, schedule)):
        raise Refuted(f"schedule: {violations[0]}")
    value = None if schedule is None else Fraction(found.utility(instance, schedule))
    if value != certificate.value:
        raise Refuted(f"schedule: is worth {value}, not {certificate.value}")
    if (certificate.bound is None) != (value is None):
        raise Refuted(f"bound: is {certificate.bound}, though the schedule is worth {value}")
    leaves = check_tree(program, certificate.nodes, certificate.bound, certificate.lattice)
    return Proved(value, certificate.bound, leaves, program)


def check_tree(program: ExactProgram, nodes: Sequence[Node], bound: Fraction | None, lattice: Fraction | None) -> int:
    """Check that the leaves cover all points, and that none allows more than the bound; return how many there are.

    Raises
    ------
    Refuted
        If they do not.
    """
    paid = [column for column in program.columns if column.cost]
    if lattice is not None and not (lattice > 0 and all(c.integer and not c.cost % lattice for c in paid)):
        raise Refuted(f"lattice: the objective does not go in steps of {lattice}")
    duality = Duality(program, lattice)
    leaves, open_ = 0, [(duality.lower, duality.upper)]
    for number, node in enumerate(nodes):
        poll()
        if not open_:
            raise Refuted(f"node {number}: stands behind the last leaf")
        lower, upper = open_.pop()
        if isinstance(node, Branching):
            if node.column >= len(lower) or not program.columns[node.column].integer:
                raise Refuted(f"node {number}: column {node.column} is not one of integers")
            open_ += [(_with(lower, node.column, node.at + 1), upper), (lower, _with(upper, node.column, node.at))]
        else:
            leaves += 1
            if fault := _fault(duality, node, lower, upper, bound):
                raise Refuted(f"node {number}: {fault}")
    if open_:
        raise Refuted(f"node {len(nodes)}: is missing; {len(open_)} parts are left open")
    return leaves


def _with(bounds: Bounds, column: int, value: int) -> Bounds:
    return [*bounds[:column], value, *bounds[column + 1 :]]


def _fault(duality: Duality, leaf: Bounded | Empty, lower: Bounds, upper: Bounds, bound: Fraction | None) -> str | None:
    """Return why a leaf does not show that nothing between its bounds is better than the bound; None where it does."""
    y = leaf.farkas if isinstance(leaf, Empty) else leaf.multipliers
    if any(row >= len(duality.rows) for row in y):
        return f"the program has only {len(duality.rows)} rows"
    limit = duality.limit(y, lower, upper, farkas=isinstance(leaf, Empty))
    if limit is None:
        return "a multiplier goes with a side or bound that is infinite"
    if isinstance(leaf, Empty):
        return None if limit < 0 else "its ray does not show that there is no point"
    if bound is None:
        return "has points, though there is no schedule"
    if limit > duality.sign * bound:
        return f"its multipliers allow {size_of(duality.sign * limit)}, beyond the bound"
    return None


class Duality:
    """A program in whole numbers, which are faster than fractions, and what multipliers of its rows prove of it.

    Parameters
    ----------
    program : ExactProgram
    lattice : Fraction or None
        All values of the objective differ by multiples of it.

    Attributes
    ----------
    sign : int
        -1 where the program minimises: here it maximises minus its objective.
    rows : list of tuple
        Terms, lower and upper side, as multiples of one over the row's scale; that scale.
    costs : list of int
        As multiples of one over `unit`.
    """

    def __init__(self, program: ExactProgram, lattice: Fraction | None) -> None:
        self.lattice = lattice
        self.sign = 1 if program.sense == "maximize" else -1
        self.constant = self.sign * program.constant
        self.unit = math.lcm(program.constant.denominator, *(column.cost.denominator for column in program.columns))
        self.costs = [self.sign * int(column.cost * self.unit) for column in program.columns]
        self.lower: Bounds = [column.lower for column in program.columns]
        self.upper: Bounds = [column.upper for column in program.columns]
        self.rows: list[tuple[list[tuple[int, int]], int | None, int | None, int]] = []
        for row in program.rows:
            scale = math.lcm(*(a.denominator for a in (*row.terms.values(), row.lower or 0, row.upper or 0)))
            low, high = (None if side is None else int(side * scale) for side in (row.lower, row.upper))
            terms = [(j, a.numerator * (scale // a.denominator)) for j, a in row.terms.items()]
            self.rows.append((terms, low, high, scale))

    def limit(self, y: Mapping[int, Fraction], lower: Bounds, upper: Bounds, *, farkas: bool) -> Fraction | None:
        """Return what no point between some bounds exceeds by multipliers of the rows; None where that is infinite.

        The limit is as if maximising, the multipliers are those of a leaf; with `farkas` the objective is taken for 0.
        """
        sign = 1 if farkas else self.sign
        total: Fraction | int = 0
        used = [(i, sign * m.numerator, m.denominator * self.rows[i][3]) for i, m in y.items() if m]
        common = math.lcm(self.unit, *(denominator for _, _, denominator in used))
        factor = 0 if farkas else common // self.unit
        reduced = [cost * factor for cost in self.costs]
        for i, numerator, denominator in used:
            terms, low, high, _ = self.rows[i]
            m, side = numerator * (common // denominator), high if numerator > 0 else low
            if side is None:
                return None
            total += m * side
            for j, value in terms:
                reduced[j] -= m * value
        for d, least, most in zip(reduced, lower, upper, strict=True):
            if d and (end := most if d > 0 else least) != 0:
                if end is None:
                    return None
                total += d * end
        limit = Fraction(total, common)
        if farkas:
            return limit
        return self.constant + (limit if self.lattice is None else self.lattice * (limit // self.lattice))
