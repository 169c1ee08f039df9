"""A reader and checker of VIPR 1.0 files of its own, by the specification: what is derived follows, in rationals.

Every derived constraint is followed with its assumptions; the last one has none and is the relation to prove.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

Terms = dict[int, Fraction]
Constraint = tuple[Terms, str, Fraction]


def verified(text: str) -> tuple[str, Fraction | None]:
    """Return "infeas", or "max" or "min" and the bound that the file proves; AssertionError where it does not."""
    lines = [line for line in text.splitlines() if not line.startswith("%")]
    tokens = iter(" ".join(lines).split())
    assert [next(tokens), next(tokens)] == ["VER", "1.0"]
    n = _section(tokens, "VAR")
    assert len([next(tokens) for _ in range(n)]) == n
    integers = {int(next(tokens)) for _ in range(_section(tokens, "INT"))}
    assert next(tokens) == "OBJ"
    sense = next(tokens)
    objective = _terms(tokens)
    known: list[Constraint] = []
    assumed: list[frozenset[int]] = []
    count = _section(tokens, "CON")
    assert 0 <= int(next(tokens)) <= count
    for _ in range(count):
        known.append(_constraint(tokens, objective))
        assumed.append(frozenset())
    assert next(tokens) == "RTP"
    goal = _goal(tokens, sense)
    assert _section(tokens, "SOL") == 0
    for _ in range(_section(tokens, "DER")):
        claim = _constraint(tokens, objective)
        assert next(tokens) == "{"
        assumptions = _derived(claim, tokens, known, assumed, integers)
        assert [next(tokens), next(tokens)] == ["}", "-1"]
        known.append(claim)
        assumed.append(assumptions)
    assert next(tokens, None) is None
    assert not assumed[-1]
    if goal is None:
        assert _absurd(known[-1])
        return "infeas", None
    assert _dominates(known[-1], (objective, "L" if sense == "max" else "G", goal))
    return sense, goal


def _section(tokens: Iterator[str], name: str) -> int:
    assert next(tokens) == name
    return int(next(tokens))


def _terms(tokens: Iterator[str], count: int | None = None) -> Terms:
    pairs = [(int(next(tokens)), Fraction(next(tokens))) for _ in range(int(next(tokens)) if count is None else count)]
    assert len(dict(pairs)) == len(pairs)
    return {j: a for j, a in pairs if a}


def _constraint(tokens: Iterator[str], objective: Terms) -> Constraint:
    _, sense, side = next(tokens), next(tokens), Fraction(next(tokens))
    count = next(tokens)
    return objective if count == "OBJ" else _terms(tokens, int(count)), sense, side


def _goal(tokens: Iterator[str], sense: str) -> Fraction | None:
    if next(tokens) == "infeas":
        return None
    low, high = next(tokens), next(tokens)
    assert (low, high)[sense == "min"] == ("inf" if sense == "min" else "-inf")
    return Fraction(high if sense == "max" else low)


def _derived(
    claim: Constraint, tokens: Iterator[str], known: list[Constraint], assumed: list[frozenset[int]], integers: set[int]
) -> frozenset[int]:
    """Check that a constraint follows; return what it assumes."""
    kind = next(tokens)
    if kind == "asm":
        return frozenset([len(known)])
    if kind == "uns":
        first, one, second, other = (int(next(tokens)) for _ in range(4))
        assert _dominates(known[first], claim)
        assert _dominates(known[second], claim)
        (terms, _, below), (same, _, above) = known[one], known[other]
        assert (known[one][1], known[other][1], terms) == ("L", "G", same)
        assert below.denominator == 1
        assert above == below + 1
        assert all(a.denominator == 1 and j in integers for j, a in terms.items())
        return (assumed[first] - {one}) | (assumed[second] - {other})
    assert kind in ("lin", "rnd")
    weights = _terms(tokens)
    combined = _combined(weights, known)
    if kind == "rnd":
        terms, sense, side = combined
        assert sense != "E"
        assert all(a.denominator == 1 and j in integers for j, a in terms.items())
        combined = terms, sense, Fraction(math.floor(side) if sense == "L" else math.ceil(side))
    assert _dominates(combined, claim)
    return frozenset().union(*(assumed[i] for i in weights))


def _combined(weights: Terms, known: list[Constraint]) -> Constraint:
    signs = {weight * {"G": 1, "E": 0, "L": -1}[known[i][1]] for i, weight in weights.items()}
    assert all(s >= 0 for s in signs) or all(s <= 0 for s in signs)
    terms: Terms = {}
    for i, weight in weights.items():
        for j, a in known[i][0].items():
            terms[j] = terms.get(j, Fraction(0)) + weight * a
    sense = "G" if any(s > 0 for s in signs) else "L" if any(s < 0 for s in signs) else "E"
    side = sum((weight * known[i][2] for i, weight in weights.items()), Fraction(0))
    return {j: a for j, a in terms.items() if a}, sense, side


def _absurd(constraint: Constraint) -> bool:
    terms, sense, side = constraint
    return not terms and {"G": side > 0, "L": side < 0, "E": side != 0}[sense]


def _dominates(one: Constraint, other: Constraint) -> bool:
    if _absurd(one):
        return True
    if one[0] != other[0] or one[1] not in ("E", other[1]):
        return False
    return {"G": one[2] >= other[2], "L": one[2] <= other[2], "E": one[2] == other[2]}[other[1]]
