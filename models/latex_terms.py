"""The rows of a model as terms whose shapes can be held against each other: what `dlsched.models.latex` writes from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from dlsched.errors import InputError, cut
from dlsched.lazy import gdp, pyo
from dlsched.models.condition import Index
from dlsched.models.inspect import linear_terms, unindexed

_FUNCTIONS = {"exp": r"\exp", "log": r"\log", "log10": r"\log_{10}", "sin": r"\sin", "cos": r"\cos", "tan": r"\tan"}


@dataclass(frozen=True, slots=True)
class Node:
    """A number, a variable or an operation; `shape` tells nodes that differ in numbers and indices alone.

    `params` are the mutable Params that are in a number or, of a term, in what is in front of it.
    """

    kind: str
    value: float = 0.0
    index: Index = ()
    parts: tuple[Node, ...] = ()
    params: frozenset[str] = field(default=frozenset(), compare=False)

    @property
    def shape(self) -> Any:
        """What two nodes have in common that differ in numbers and indices alone."""
        return self.kind, len(self.index), tuple(part.shape for part in self.parts)

    def leaves(self) -> Iterator[Node]:
        """Yield the numbers and variables in it."""
        if not self.parts:
            yield self
        for part in self.parts:
            yield from part.leaves()

    def text(self, leaves: Iterator[str]) -> str:
        """Return it in LaTeX, its leaves as given."""
        parts = [part.text(leaves) for part in self.parts]
        if not parts:
            return next(leaves)
        if self.kind == "+":
            return " + ".join(parts).replace("+ -", "- ")
        if self.kind == "/":
            return f"\\frac{{{parts[0]}}}{{{parts[1]}}}"
        closed = [
            f"\\left({text}\\right)" if part.kind == "+" else text for text, part in zip(parts, self.parts, strict=True)
        ]
        if self.kind == "^":
            is_bare = not self.parts[0].parts and not parts[0].startswith("-")
            base = parts[0] if is_bare else f"\\left({parts[0]}\\right)"
            return f"{{{base}}}^{{{parts[1]}}}"
        if self.kind == "*":
            return " \\, ".join(text for text in closed if text != "1").replace("-1 \\, ", "-") or "1"
        if self.kind == "abs":
            return f"\\left|{parts[0]}\\right|"
        if self.kind == "sqrt":
            return f"\\sqrt{{{parts[0]}}}"
        function = _FUNCTIONS.get(self.kind, f"\\operatorname{{{self.kind}}}")
        return f"{function}\\left({', '.join(parts)}\\right)"


@dataclass(frozen=True, slots=True)
class Row:
    """A member of a component: where it is, its terms, and what it is compared with."""

    index: Index
    terms: tuple[tuple[float, Node], ...]
    sense: str = ""
    limit: float = 0.0
    limit_params: frozenset[str] = frozenset()


def row_of(data: Any) -> Row:
    """Return a member of a component as terms."""
    index = name_and_index(data)[1]
    if data.ctype is gdp.Disjunction:
        ways = tuple((1.0, _node(disjunct.binary_indicator_var)) for disjunct in data.disjuncts)
        return Row(index, ways, "xor" if data.xor else "or")
    if data.ctype is pyo.Objective:
        terms, constant, sources = _terms(data.expr)
        return Row(index, terms, "min" if data.sense == pyo.minimize else "max", constant, sources)
    terms, constant, sources = _terms(data.body)
    sources |= _mutable(data.lower) | _mutable(data.upper)
    lower, upper = data.lb, data.ub
    if lower is None and upper is None:
        return Row(index, terms, "\\in (-\\infty, \\infty)")
    if lower is not None and upper is not None and lower != upper:
        return Row(index, terms, f"\\in [{latex_number(lower - constant)}, {latex_number(upper - constant)}]")
    limit = lower if upper is None else upper
    sense = "=" if lower == upper else "\\ge" if upper is None else "\\le"
    return Row(index, terms, sense, float(limit) - constant, sources)


def _terms(expression: Any) -> tuple[tuple[tuple[float, Node], ...], float, frozenset[str]]:
    """Return the terms of a sum, with their coefficients, its constant, and the mutable Params that are in this."""
    repn = linear_terms(expression)
    if repn is None:
        return ((1.0, _node(expression)),), 0.0, frozenset()
    inside, in_constant = _params_in(expression)
    linear = zip(repn.linear_coefs, repn.linear_vars, strict=True)
    terms = [
        (float(coefficient), replace(_node(variable), params=inside.get(id(variable), frozenset())))
        for coefficient, variable in linear
        if coefficient
    ]
    if repn.nonlinear_expr is not None:
        node = _node(repn.nonlinear_expr)
        for part in node.parts if node.kind == "+" else (node,):
            if part.kind == "*" and part.parts[0].kind == "n":
                number, *rest = part.parts
                whole = rest[0] if len(rest) == 1 else Node("*", parts=tuple(rest))
                terms.append((number.value, replace(whole, params=number.params)))
            else:
                terms.append((1.0, part))
    return tuple(terms), float(repn.constant), in_constant


def _params_in(expression: Any) -> tuple[dict[int, frozenset[str]], frozenset[str]]:
    """Return the mutable Params in the coefficient of each variable, by its id, and those in the constant of a sum."""
    if not _mutable(expression):
        return {}, frozenset()
    repn = linear_terms(expression, values=False)
    linear = zip(repn.linear_coefs, repn.linear_vars, strict=True)
    return {id(variable): _mutable(coefficient) for coefficient, variable in linear}, _mutable(repn.constant)


def _mutable(expression: Any) -> frozenset[str]:
    """Return the names of the mutable Params in an expression."""
    from pyomo.core.expr.visitor import identify_mutable_parameters

    found = identify_mutable_parameters(expression)
    return frozenset(data.parent_component().name for data in found if not _is_key(data))


def _is_key(part: Any) -> bool:
    """Tell whether it is the number behind a user's own function's arguments, by which Pyomo knows the function."""
    from pyomo.core.base.external import _PythonCallbackFunctionID

    return isinstance(part, _PythonCallbackFunctionID)


def comparable(rows: list[Row]) -> list[Row]:
    """Return rows with their products of sums multiplied out where they lack fewer of each other's terms then.

    Of a sum times a variable Pyomo leaves out what is 0, and so rows of one rule differ in shape.
    """
    split = [replace(row, terms=_multiplied_out(row.terms)) for row in rows]
    return split if _lacking(split) < _lacking(rows) else rows


def _lacking(rows: list[Row]) -> int:
    """Return how many terms rows lack that others have."""
    shapes = [{(coefficient < 0, node.shape) for coefficient, node in row.terms} for row in rows]
    return len(set().union(*shapes)) * len(rows) - sum(map(len, shapes))


def _multiplied_out(terms: Iterable[tuple[float, Node]]) -> tuple[tuple[float, Node], ...]:
    found: dict[Node, float] = {}
    for coefficient, node in terms:
        sums = [part for part in node.parts if part.kind == "+"] if node.kind == "*" else []
        others = [part for part in node.parts if part.kind != "+"]
        for part in sums[0].parts if len(sums) == 1 else [node]:
            number, factors, sources = coefficient, [part], node.params
            if sums and part is not node:
                factors = [*(part.parts if part.kind == "*" else [part]), *others]
            for one in factors:
                number *= one.value if one.kind == "n" else 1.0
                sources |= one.params
            rest = tuple(one for one in factors if one.kind != "n")
            whole = replace(rest[0] if len(rest) == 1 else Node("*", parts=rest), params=sources)
            found[whole] = found.get(whole, 0.0) + number
    return tuple((number, node) for node, number in found.items() if number)


def _node(expression: Any) -> Node:
    """Return an expression as nodes: numbers are folded, sums and products flat, a product's number first."""
    if not hasattr(expression, "is_expression_type") or expression.is_fixed():
        # A variable without a value times 0 is fixed, too.
        return Node("n", float(pyo.value(expression, exception=False) or 0.0), params=_mutable(expression))
    if expression.is_variable_type():
        name, index = name_and_index(expression)
        return Node(name, index=index)
    kind = _kind(expression)
    parts = [_node(part) for part in expression.args if not _is_key(part)]
    if kind == "named":
        return parts[0]
    if kind == "+":
        flat = [inner for part in parts for inner in (part.parts if part.kind == "+" else (part,))]
        return Node("+", parts=tuple(_with_number(part) for part in flat if part.kind != "n" or part.value))
    if kind == "-":
        parts = [Node("n", -1.0), *parts]
    if kind in ("*", "-"):
        flat = [inner for part in parts for inner in (part.parts if part.kind == "*" else (part,))]
        number, sources = 1.0, frozenset[str]()
        for part in flat:
            if part.kind == "n":
                number, sources = number * part.value, sources | part.params
        rest = tuple(part for part in flat if part.kind != "n")
        return Node("*", parts=(Node("n", number, params=sources), *rest)) if number != 1 else Node("*", parts=rest)
    return Node(kind, parts=tuple(parts))


def _kind(expression: Any) -> str:
    """Return what an expression is: an operation, or the name of a function.

    Raises
    ------
    InputError
        If it is none that is written here: a condition, for instance.
    """
    from pyomo.core.expr import numeric_expr as known

    if expression.is_named_expression_type():
        return "named"
    for kind, classes in {
        "+": (known.SumExpression, known.LinearExpression),
        "-": (known.NegationExpression,),
        "*": (known.ProductExpression,),
        "/": (known.DivisionExpression,),
        "^": (known.PowExpression,),
        "abs": (known.AbsExpression,),
    }.items():
        if isinstance(expression, classes):
            return kind
    # A function of Pyomo's, of a user's library or by pieces says what it is called before its arguments.
    name = str(expression).partition("(")[0]
    if isinstance(expression, known.Expr_ifExpression) or not name.isidentifier():
        raise InputError(f"{cut(str(expression))}: cannot be written in LaTeX ({type(expression).__name__})")
    return name


def _with_number(part: Node) -> Node:
    """Return a part of a sum with a number in front, so that parts with 1 have the shape of others."""
    if part.kind == "n" or (part.kind == "*" and part.parts[0].kind == "n"):
        return part
    return Node("*", parts=(Node("n", 1.0), *(part.parts if part.kind == "*" else (part,))))


def name_and_index(data: Any) -> tuple[str, Index]:
    """Return a member's component, without the indices of blocks around it, and all of these with its own."""
    index: list[Any] = []
    block = data
    while block is not None and block.parent_block() is not None:
        if block.parent_component().is_indexed():
            own = block.index()
            index[:0] = own if isinstance(own, tuple) else (own,)
        block = block.parent_block()
    name = data.getname(fully_qualified=True)
    if data.local_name == "binary_indicator_var":
        return unindexed(name.rpartition(".")[0]), tuple(index)
    return unindexed(name), tuple(index)


def as_tuple(key: Any) -> Index:
    """Return a key of Pyomo's as a tuple."""
    return () if key is None else key if isinstance(key, tuple) else (key,)


def latex_number(value: float) -> str:
    """Return a number in LaTeX, in nine digits."""
    mantissa, _, exponent = f"{value:.9g}".partition("e")
    return f"{mantissa} \\cdot 10^{{{int(exponent)}}}" if exponent else mantissa.replace("inf", r"\infty")
