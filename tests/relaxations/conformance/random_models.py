"""Random small linear models: a specification as plain numbers, and the Pyomo model that somebody might write of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import pyomo.environ as pyo
from hypothesis import strategies as st

_DOMAINS = {
    "reals": pyo.Reals,
    "nonnegative": pyo.NonNegativeReals,
    "nonpositive": pyo.NonPositiveReals,
    "integers": pyo.Integers,
    "counts": pyo.NonNegativeIntegers,
    "binary": pyo.Binary,
}
_SIGNS: dict[str, tuple[int | None, int | None]] = {
    "reals": (None, None),
    "nonnegative": (0, None),
    "nonpositive": (None, 0),
    "integers": (None, None),
    "counts": (0, None),
    "binary": (0, 1),
}


@dataclass(frozen=True)
class Variable:
    domain: str
    lower: int | None
    upper: int | None
    fixed: int | None
    home: int

    def bounds(self) -> tuple[Fraction | None, Fraction | None]:
        """Return the bounds that hold, those of the domain included; a fixing overrides them."""
        if self.fixed is not None:
            return Fraction(self.fixed), Fraction(self.fixed)
        low, high = _SIGNS[self.domain]
        lowers = [Fraction(b) for b in (low, self.lower) if b is not None]
        uppers = [Fraction(b) for b in (high, self.upper) if b is not None]
        return max(lowers, default=None), min(uppers, default=None)


@dataclass(frozen=True)
class Row:
    coefficients: tuple[int, ...]
    constant: int
    lower: int | None
    upper: int | None
    home: int


@dataclass(frozen=True)
class Spec:
    maximise: bool
    variables: tuple[Variable, ...]
    rows: tuple[Row, ...]
    costs: tuple[int, ...]
    constant: int

    def boxed(self, size: int = 4) -> Spec:
        """Return the specification with every variable in a box, so that its optima are vertices."""
        return replace(
            self,
            variables=tuple(
                replace(
                    v,
                    lower=-size if v.lower is None else v.lower,
                    upper=size if v.upper is None else v.upper,
                )
                for v in self.variables
            ),
        )


_maybe = st.one_of(st.none(), st.integers(-3, 3))


@st.composite
def _variables(draw: Any, domains: list[str]) -> Variable:
    fixed = draw(st.one_of(st.none(), st.none(), st.none(), st.integers(-2, 2)))
    return Variable(draw(st.sampled_from(domains)), draw(_maybe), draw(_maybe), fixed, draw(st.integers(0, 2)))


@st.composite
def specs(draw: Any, *, integers: bool, largest: int = 4) -> Spec:
    """Draw a specification; bounds may cross, rows may be empty, variables may be in no row."""
    domains = list(_DOMAINS) if integers else ["reals", "nonnegative", "nonpositive"]
    variables = tuple(draw(st.lists(_variables(domains), min_size=1, max_size=largest)))
    coefficients = st.tuples(*[st.integers(-2, 3) for _ in variables])
    rows = st.builds(Row, coefficients, st.integers(-2, 2), _maybe, _maybe, st.integers(0, 2))
    return Spec(
        maximise=draw(st.booleans()),
        variables=variables,
        rows=tuple(
            replace(row, upper=max(row.lower, row.upper)) if None not in (row.lower, row.upper) else row
            for row in draw(st.lists(rows, max_size=5))
        ),
        costs=draw(coefficients),
        constant=draw(st.integers(-3, 3)),
    )


def build(spec: Spec) -> Any:
    """Return the model: variables and rows at the root and in indexed blocks, mutable parameters, expressions."""
    m = pyo.ConcreteModel(name="random")
    m.price = pyo.Param(range(len(spec.costs)), initialize=dict(enumerate(spec.costs)), mutable=True)
    m.side = pyo.Block([1, 2])
    homes = {0: m, 1: m.side[1], 2: m.side[2]}
    variables = []
    for home, block in homes.items():
        block.v = pyo.Var([j for j, v in enumerate(spec.variables) if v.home == home])
        block.row = pyo.Constraint([i for i, row in enumerate(spec.rows) if row.home == home])
    for j, v in enumerate(spec.variables):
        variable = homes[v.home].v[j]
        variable.domain = _DOMAINS[v.domain]
        variable.setlb(v.lower)
        variable.setub(v.upper)
        if v.fixed is not None:
            variable.fix(v.fixed, skip_validation=True)
        variables.append(variable)
    for i, row in enumerate(spec.rows):
        body = sum(a * x for a, x in zip(row.coefficients, variables, strict=True) if a) + row.constant
        if isinstance(body, int):
            body = body + 0 * variables[0]
        lower = float("-inf") if row.lower is row.upper is None else row.lower
        homes[row.home].row.add(i, (lower, body, row.upper))
    m.cost = pyo.Expression(expr=sum(m.price[j] * x for j, x in enumerate(variables)))
    m.objective = pyo.Objective(expr=m.cost + spec.constant, sense=pyo.maximize if spec.maximise else pyo.minimize)
    return m
