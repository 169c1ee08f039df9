"""A certificate's tree in VIPR's format, version 1.0, which third-party checkers read.

Format: Cheung, Gleixner and Steffy, Verifying integer programming results, IPCO 2017; github.com/scipopt/vipr. A leaf
is a linear combination (``lin``) of rows, bounds and the branches (``asm``) it lies in; the parts of a branching are
joined again (``uns``), and what holds in the end holds without assumptions.

The file proves the bound. What the schedule is worth is checked on the instance, not in the program, so that VIPR's
other bound is infinite. The constant of the objective, which the format has no place for, stands in a comment.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from dlsched.algorithms.exact.certificates.certificate import Bounded, Branching, Empty, Node
from dlsched.algorithms.exact.certificates.program import ExactProgram, Side
from dlsched.arguments import checked
from dlsched.errors import InputError

_Bound = tuple[int, Fraction | int]
"""The constraint that says so, and its side."""

_Bounds = list[_Bound | None]
"""By column."""


@checked
def vipr_lines(
    program: ExactProgram, nodes: Sequence[Node], bound: Fraction | None, lattice: Fraction | None
) -> Iterator[str]:
    """Yield the lines of a tree that `check_tree` accepts.

    Parameters
    ----------
    program : ExactProgram
    nodes, bound, lattice
        As of an `ExactCertificate`.

    Raises
    ------
    InputError
        If the program has no columns: such files cannot be written.

    Examples
    --------
    >>> from dlsched.algorithms import optimum
    >>> from dlsched.algorithms.exact.certificates import check_certificate, vipr_lines
    >>> from dlsched.models import hadar
    >>> certificate = optimum(hadar.random(0)).exact.document()
    >>> program = check_certificate(certificate).program
    >>> lines = list(vipr_lines(program, certificate.nodes, certificate.bound, certificate.lattice))
    >>> print(lines[0])
    % hadar/hall; the objective without its constant 0
    >>> [line for line in lines if line.startswith(("VAR", "OBJ"))]
    ['VAR 12', 'OBJ max']
    """
    if not program.columns:
        raise InputError(f"{program.formulation} has no columns, and VIPR no files without them")
    written = _Written(program, bound, lattice)
    yield from written.statement()
    derived = list(written.derivations(nodes))
    yield f"DER {len(derived)}"
    yield from derived


class _Written:
    """The statement of a program, and where its constraints stand in it."""

    def __init__(self, program: ExactProgram, bound: Fraction | None, lattice: Fraction | None) -> None:
        self.program, self.lattice = program, lattice
        self.maximize = program.sense == "maximize"
        self.sense = "L" if self.maximize else "G"
        self.goal = None if bound is None else bound - program.constant
        self.constraints: list[str] = []
        self.lower: _Bounds = []
        self.upper: _Bounds = []
        for j, column in enumerate(program.columns):
            self.lower.append(self._bound("G", column.lower, j))
            self.upper.append(self._bound("L", column.upper, j))
        self.bounds = len(self.constraints)
        self.rows: list[tuple[int | None, int | None]] = []
        for row in program.rows:
            terms = list(row.terms.items())
            if row.lower is not None and row.lower == row.upper:
                at = self._constraint("E", row.lower, terms)
                self.rows.append((at, at))
            else:
                low = None if row.lower is None else self._constraint("G", row.lower, terms)
                high = None if row.upper is None else self._constraint("L", row.upper, terms)
                self.rows.append((low, high))
        self.count = len(self.constraints)

    def _bound(self, sense: str, side: Side, column: int) -> _Bound | None:
        return None if side is None else (self._constraint(sense, side, [(column, Fraction(1))]), side)

    def _constraint(self, sense: str, side: Fraction | int, terms: Sequence[tuple[int, Fraction]]) -> int:
        self.constraints.append(f"C{len(self.constraints)} {sense} {side} {_listed(terms)}")
        return len(self.constraints) - 1

    def statement(self) -> Iterator[str]:
        """Yield all but the derivations."""
        columns = self.program.columns
        yield f"% {self.program.formulation}; the objective without its constant {self.program.constant}"
        yield from (f"% x{j} {_printable(column.name)}" for j, column in enumerate(columns))
        yield "VER 1.0"
        yield f"VAR {len(columns)}"
        yield " ".join(f"x{j}" for j in range(len(columns)))
        integers = [str(j) for j, column in enumerate(columns) if column.integer]
        yield f"INT {len(integers)}"
        yield " ".join(integers)
        yield f"OBJ {'max' if self.maximize else 'min'}"
        yield _listed([(j, column.cost) for j, column in enumerate(columns) if column.cost])
        yield f"CON {len(self.constraints)} {self.bounds}"
        yield from self.constraints
        if self.goal is None:
            yield "RTP infeas"
        else:
            yield f"RTP range -inf {self.goal}" if self.maximize else f"RTP range {self.goal} inf"
        yield "SOL 0"

    def derivations(self, nodes: Sequence[Node]) -> Iterator[str]:
        """Yield the derived constraints, the last of them what was to be proved."""
        open_ = [(self.lower, self.upper)]
        joins: list[tuple[int, int, list[int]]] = []
        for node in nodes:
            lower, upper = open_.pop()
            if isinstance(node, Branching):
                first, second = self.count, self.count + 1
                yield self._derived(f"L {node.at} 1 {node.column} 1 {{ asm }}")
                yield self._derived(f"G {node.at + 1} 1 {node.column} 1 {{ asm }}")
                open_ += [
                    (_with(lower, node.column, (second, node.at + 1)), upper),
                    (lower, _with(upper, node.column, (first, node.at))),
                ]
                joins.append((first, second, []))
                continue
            yield from self._leaf(node, lower, upper)
            while joins:
                first, second, parts = joins[-1]
                parts.append(self.count - 1)
                if len(parts) == 1:
                    break
                joins.pop()
                yield self._derived(f"{self._claim} {{ uns {parts[0]} {first} {parts[1]} {second} }}")

    def _leaf(self, node: Bounded | Empty, lower: _Bounds, upper: _Bounds) -> Iterator[str]:
        """Yield the combination of a leaf: what it proves of the objective, or that 0 is beyond itself.

        With a lattice it is divided by it, so that the costs are whole, rounded, and multiplied by it again.
        """
        columns = self.program.columns
        if isinstance(node, Empty):
            side, used = self._combined(node.farkas, [Fraction(0) for _ in columns], 1, lower, upper)
            yield self._derived(f"L {side} 0 {{ lin {_listed(used)} }}")
            return
        sign = 1 if self.maximize else -1
        side, used = self._combined(node.multipliers, [column.cost for column in columns], sign, lower, upper)
        if self.lattice is None:
            yield self._derived(f"{self.sense} {side} OBJ {{ lin {_listed(used)} }}")
            return
        costs = [(j, column.cost / self.lattice) for j, column in enumerate(columns) if column.cost]
        divided = [(at, multiplier / self.lattice) for at, multiplier in used]
        whole = math.floor(side / self.lattice) if self.maximize else math.ceil(side / self.lattice)
        yield self._derived(f"{self.sense} {whole} {_listed(costs)} {{ rnd {_listed(divided)} }}")
        yield self._derived(f"{self.sense} {whole * self.lattice} OBJ {{ lin 1 {self.count - 1} {self.lattice} }}")

    def _combined(
        self, y: Mapping[int, Fraction], left: list[Fraction], sign: int, lower: _Bounds, upper: _Bounds
    ) -> tuple[Fraction, list[tuple[int, Fraction]]]:
        """Return the side of a combination, and its parts: rows, then bounds for what these leave of the costs."""
        used: list[tuple[int, Fraction]] = []
        total = Fraction(0)
        for i, multiplier in y.items():
            row, (low, high) = self.program.rows[i], self.rows[i]
            at, side = (high, row.upper) if multiplier * sign > 0 else (low, row.lower)
            if at is not None and side is not None and multiplier:
                used.append((at, multiplier))
                total += multiplier * side
            for j, value in row.terms.items():
                left[j] -= multiplier * value
        for load, low_bound, high_bound in zip(left, lower, upper, strict=True):
            bound = high_bound if load * sign > 0 else low_bound
            if load and bound is not None:
                used.append((bound[0], load))
                total += load * bound[1]
        return total, used

    @property
    def _claim(self) -> str:
        if self.goal is None:
            return "L -1 0"
        return f"{self.sense} {self.goal} OBJ"

    def _derived(self, constraint: str) -> str:
        self.count += 1
        return f"C{self.count - 1} {constraint} -1"


def _with(bounds: _Bounds, column: int, bound: _Bound) -> _Bounds:
    return [*bounds[:column], bound, *bounds[column + 1 :]]


def _listed(terms: Sequence[tuple[int, Fraction]]) -> str:
    return " ".join([str(len(terms)), *(f"{at} {value}" for at, value in terms)])


def _printable(name: str) -> str:
    """Return a name on one line."""
    return "".join(c if c.isprintable() else "?" for c in name)
