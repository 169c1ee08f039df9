r"""A model's algebra in LaTeX, recognised in its rows, with the paper's equation numbers beside it.

A rule is a function: what it writes is known, not how. So the rows of a component are held against each other. Terms of
one shape (``2 x[a,1]`` and ``3 x[b,2]``) are one term of the algebra; a position of an index that is the row's own in
all rows has the row's letter, any other is summed over; numbers that are a Param's at these letters in every row stand
for it, a mutable Param's only where it is in the row. What a sum is over is a Set's members, those from (or up to, or
other than) the row's own on, or those that are in another Set; where it is none of these it gets a name of its own, as
numbers do that are no Param's. A term that some rows lack is told with what tells these rows: a Param that is 0 there,
a variable that there is not ("where there is one"), or else a condition. So what is printed is true of every row of
this model. Where all data are alike, it cannot tell them apart: take an instance with several jobs that differ.
"""

from __future__ import annotations

import inspect
import itertools
import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from dlsched.arguments import checked, expect_model
from dlsched.lazy import gdp, pyo
from dlsched.models.condition import Index, condition
from dlsched.models.inspect import described, expect_values, naming_numbers
from dlsched.models.latex_terms import Node, Row, as_tuple, comparable, latex_number, name_and_index, row_of
from dlsched.models.words import nouns_of
from dlsched.tolerances import ROUNDING

_Holds = Callable[[Index], bool]

_GREEK = re.compile(
    r"alpha|beta|gamma|delta|eta|zeta|kappa|lambda|mu|nu|pi|rho|varrho|sigma|tau|phi|chi|psi|theta|omega|xi"
)
_SYMBOL = re.compile(r"^([A-Za-z]+)(?=[_^(~]|, |$)")
"""The letter of the paper's symbol at the start of a ``doc``."""

_SPECIAL = (
    {c: f"\\{c}" for c in "#$%&_{}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}"}
    | {
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
    }
)

_USUAL = {"slot": "t", "server": "s", "machine": "h", "resource": "r", "job": "j", "type": "r"}
"""Letters of the papers; of another noun it is the first."""


_EITHER_OR = {"xor": "exactly one of", "or": "at least one of"}
"""What is true of the alternatives of a disjunction, by the sense of its row."""

_NO_EQUATIONS = {"SOSConstraint", "LogicalConstraint", "Complementarity", "Arc"}
"""Kinds of Pyomo's components that say something of a model and are no equations."""

_TERMS = 3
"""Terms on a line. Arbitrary: so many fit a page."""

_MOST_DIMENSIONS = 4
"""Positions of the index of a Param or Set that is looked for. Arbitrary: its letters are tried in every order."""

_PREAMBLE = r"""\documentclass{article}
\usepackage[a4paper,margin=2cm]{geometry}
\usepackage{amsmath,amssymb}
\setlength{\parindent}{0pt}
\allowdisplaybreaks
\begin{document}
"""


@checked
def latex(model: Any, *, document: bool = True) -> str:
    r"""Return a model's algebra in LaTeX: Sets, data, variables, and each component beside the paper's equation number.

    Parameters
    ----------
    model : pyomo.environ.ConcreteModel
        May have disjunctions, and need not be linear.
    document : bool
        A whole document, which needs amsmath only; else what stands in its body.

    Raises
    ------
    TypeError
        If it is no Pyomo model.
    InputError
        If it is abstract, has an expression that is not written here, such as a condition, in a row a Param or a
        fixed variable without a value, or a coefficient that has none: 1/p where p is 0.

    Examples
    --------
    >>> import pyomo.environ as pyo
    >>> from dlsched.models import latex
    >>> m = pyo.ConcreteModel()
    >>> m.J = pyo.Set(initialize=["a", "b"], doc="jobs")
    >>> m.gang = pyo.Param(m.J, initialize={"a": 2, "b": 3}, doc="W_j, gang [devices]")
    >>> m.x = pyo.Var(m.J, domain=pyo.Binary, doc="x_j, 1 where the job runs")
    >>> m.room = pyo.Constraint(expr=2 * m.x["a"] + 3 * m.x["b"] <= 4, doc="(1d) devices")
    >>> print([line for line in latex(m, document=False).splitlines() if "sum" in line][0])
    \sum_{j \in J} W_{j} \, x_{j} \le 4 \tag*{(1d)}
    """
    expect_model(model)
    with naming_numbers(model):
        text = _Writer(model).text()
    return f"{_PREAMBLE}{text}\\end{{document}}\n" if document else text


@dataclass(slots=True)
class _Term:
    """A term of the algebra: in which rows it stands, and the letters that its leaves have in all of them.

    Attributes
    ----------
    rows : list of int
        Of each of its places, the row.
    nodes : list of Node
    coefficients : list of float
    letters : list of str
        Of the rows' own index, then of what is summed over.
    values : list of list
        What they stand for in each place.
    own : int
        How many are the rows' own.
    """

    rows: list[int]
    nodes: list[Node]
    coefficients: list[float]
    letters: list[str]
    values: list[list[Any]]
    own: int

    @property
    def bound(self) -> list[str]:
        return self.letters[self.own :]


_Anchor = tuple[Sequence[Node], list[tuple[int | None, str]]]
"""A variable in the places of a term, and for each position of its index which letter of the term it is."""


@dataclass(slots=True)
class _Notes:
    """Sets and data that have no name in the model, with what there is to say of them."""

    sets: list[str] = field(default_factory=list)
    data: list[str] = field(default_factory=list)


def escaped(text: str) -> str:
    """Return a text as LaTeX prints it; a blank line would end its paragraph."""
    return "".join(_SPECIAL.get(c, c) for c in text.replace("\n", " "))


def _word(text: str, style: str = "it") -> str:
    """Return a name within a formula: there are no accents of text in one."""
    plain = text.isascii() and not set(text) & set("~^<>\\")
    return f"\\math{style}{{{escaped(text)}}}" if plain else f"\\text{{\\text{style}{{{escaped(text)}}}}}"


def _subscript(letters: Iterable[str]) -> str:
    joined = ",".join(letters)
    return f"_{{{joined}}}" if joined else ""


class _Writer:
    """Writes one model."""

    def __init__(self, model: Any) -> None:
        self._model = model
        blocks = pyo.Block, gdp.Disjunct
        self._universe: dict[tuple[str, int], list[Index]] = {}
        self._members_of: dict[str, list[Any]] = {}
        for data in _variables(model):
            name, index = name_and_index(data)
            self._universe.setdefault((name, len(index)), []).append(index)
            self._members_of.setdefault(name, []).append(data)
        self._declared = {name: _declared(data) for name, (data, *_) in self._members_of.items()}
        self._documented = [
            own
            for own in model.component_objects((pyo.Set, pyo.RangeSet), descend_into=blocks)
            if not own.is_indexed() and isinstance(own.dimen, int) and own.dimen and own.isfinite() and own.doc
        ]
        self._sets = {own.local_name: own for own in self._documented if own.dimen <= _MOST_DIMENSIONS}
        self._members = {name: {as_tuple(value) for value in own} for name, own in self._sets.items()}
        self._params = [
            (param, {as_tuple(key): float(pyo.value(value)) for key, value in param.extract_values().items()})
            for param in model.component_objects(pyo.Param, descend_into=blocks)
            if _is_numeric(param)
        ]
        self._symbols = self._named()
        self._notes = _Notes()

    def text(self) -> str:
        """Return the body of the document."""
        blocks = pyo.Block, gdp.Disjunct
        groups: dict[tuple[int, str], list[Any]] = {}
        kinds = pyo.Objective, pyo.Constraint, gdp.Disjunction
        for order, kind in enumerate(kinds):
            for data in self._model.component_data_objects(kind, active=True, descend_into=blocks):
                groups.setdefault((order, name_and_index(data)[0]), []).append(data)
        equations = [line for members in groups.values() for line in self._component(members)]
        variables = {name: own for name, own in self._declared.items() if own.ctype is not gdp.Disjunct}
        # A name with a blank or a bracket is quoted in the full name.
        lines = [f"\\section*{{{escaped(self._model.local_name)}}}"]
        sets = [f"${self._set(own)}$: {escaped(own.doc)}" for own in self._documented]
        lines += _listing("Sets", sets + self._notes.sets)
        params = [self._entry(param.name, param, self._index_letters(param)) for param, _ in self._params]
        lines += _listing("Data", params + self._notes.data)
        lines += _listing("Variables", [self._variable(name, own) for name, own in variables.items()])
        return "\n".join([*lines, *equations, *self._unwritten(), ""])

    def _unwritten(self) -> Iterator[str]:
        """Yield a line for each component that is no equation."""
        for own in self._model.component_objects(active=True, descend_into=(pyo.Block, gdp.Disjunct)):
            if own.ctype.__name__ in _NO_EQUATIONS:
                kind = own.ctype.__name__
                yield f"\n\\medskip\\textbf{{\\texttt{{{escaped(own.name)}}}}}: a {kind}, which is not written out here"

    def _named(self) -> dict[str, str]:
        """Return the symbol of each variable and Param: the paper's letter where it is the only one that has it."""
        documented = {name: own for name, own in self._declared.items() if own.ctype is not gdp.Disjunct}
        documented |= {param.name: param for param, _ in self._params}
        wanted = {name: _letter(own.doc or "") for name, own in documented.items()}
        counts: dict[str, int] = {}
        for symbol in wanted.values():
            counts[symbol] = counts.get(symbol, 0) + 1
        names = {
            name: wanted[name] if wanted.get(name) and counts[wanted[name]] == 1 else _word(name) for name in documented
        }
        disjuncts = {name: f"Y^{{{_word(name, 'rm')}}}" for name in self._declared if name not in documented}
        return names | disjuncts

    def _entry(self, name: str, own: Any, letters: list[str]) -> str:
        symbol = f"{self._symbols[name]}{_subscript(_distinct(letters))}"
        return f"${symbol}$ (\\texttt{{{escaped(name)}}}): {escaped(own.doc or '')}"

    def _variable(self, name: str, own: Any) -> str:
        """Return the line of a variable, which may have members in several blocks."""
        members = self._members_of[name]
        letters = self._variable_letters(name, len(name_and_index(members[0])[1]))
        return self._entry(name, own, letters) + _domain(members)

    def _index_letters(self, own: Any) -> list[str]:
        """Return a letter for each position of a component's index; the same one where two are of one kind."""
        return [c for one in own.index_set().subsets() for c in self._letters(one)] if own.is_indexed() else []

    def _set(self, own: Any) -> str:
        name = own.local_name
        return name if len(name) == 1 else _word(name)

    def _letters(self, own: Any) -> list[str]:
        """Return a letter for each position of a Set's members."""
        size = own.dimen if isinstance(own.dimen, int) else 1
        name = own.local_name
        if name.isalpha() and name.isupper() and len(name) == size:
            return list(name.lower())
        single = {next(iter(nouns_of(one))): one.local_name.lower() for one in self._sets.values() if one.dimen == 1}
        single = {noun: letter for noun, letter in single.items() if len(letter) == 1}
        nouns = list(nouns_of(own))
        return [
            single.get(noun) or _USUAL.get(noun.split(" ")[-1], noun[:1]) or "ijklmn"[k] for k, noun in enumerate(nouns)
        ]

    def _component(self, members: list[Any]) -> Iterator[str]:
        """Yield the lines of a constraint, an objective or a disjunction."""
        first = members[0]
        equation, text = described(first.parent_component())
        name = escaped(name_and_index(first)[0])
        yield f"\n\\medskip\\textbf{{\\texttt{{{name}}}}}{f': {escaped(text)}' if text else ''}"
        alike: dict[tuple[str, int], list[tuple[Any, Row]]] = {}
        for data in members:
            row = row_of(data)
            alike.setdefault((row.sense, len(row.index)), []).append((data, row))
        for (sense, size), found in alike.items():
            first, rows = found[0][0], comparable([row for _, row in found])
            letters = self._row_letters(first, size)
            lines = self._sides(sense, rows, letters)
            if first.parent_block().ctype is gdp.Disjunct:
                owner, own = name_and_index(first.parent_block())
                lines[0] = f"{self._symbols[owner]}{_subscript(letters[: len(own)])} \\implies {lines[0]}"
            if letters:
                lines[-1] += f" \\qquad \\forall\\, {self._for_all(first, [row.index for row in rows], letters)}"
            tag = f" \\tag*{{{escaped(equation)}}}" if equation else ""
            if len(lines) == 1:
                yield f"\\begin{{equation*}}\n{lines[0]}{tag}\n\\end{{equation*}}"
            else:
                joined = " \\\\\n& \\quad ".join(lines)
                split = f"\\begin{{split}}\n& {joined}\n\\end{{split}}{tag}"
                yield f"\\begin{{equation*}}\n{split}\n\\end{{equation*}}"

    def _sides(self, sense: str, rows: list[Row], letters: list[str]) -> list[str]:
        """Return the lines of what is true of some rows: positive terms to the left, the others to the right."""
        places: dict[tuple[bool, Any], list[tuple[int, float, Node]]] = {}
        for k, row in enumerate(rows):
            for coefficient, node in row.terms:
                places.setdefault((coefficient < 0, node.shape), []).append((k, abs(coefficient), node))
        operator = "\\bigvee" if sense in _EITHER_OR else "\\sum"
        terms = [(negative, self._term(found, rows, letters, operator)) for (negative, _), found in places.items()]
        if sense in _EITHER_OR:
            return [f"\\text{{{_EITHER_OR[sense]} }} " + " \\lor ".join(text for _, text in terms)]
        signed = [
            f"{'-' if negative else '+' if k else ''} {text}".lstrip() for k, (negative, text) in enumerate(terms)
        ]
        if sense.startswith("\\in"):
            return _lines([*(signed or ["0"]), sense])
        limits = [[*row.index] for row in rows]
        sources = [row.limit_params for row in rows]
        limit = self._data([row.limit for row in rows], letters, limits, sources)
        if sense in ("min", "max"):
            return _lines([f"\\{sense} \\;", *signed, *_added(limit, signed)])
        left = [text for negative, text in terms if not negative]
        right = [text for negative, text in terms if negative]
        if not left:
            left, right, sense = right, [], {"\\le": "\\ge", "\\ge": "\\le"}.get(sense, sense)
            limit = self._data([-row.limit for row in rows], letters, limits, sources)
        behind = [*right[:1], *(f"+ {text}" for text in right[1:]), *_added(limit, right)]
        compared = f"{sense} {behind[0]}", *behind[1:]
        return _lines([left[0] if left else "0", *(f"+ {text}" for text in left[1:]), *compared])

    def _term(self, places: list[tuple[int, float, Node]], rows: list[Row], letters: list[str], operator: str) -> str:
        """Return the term of the algebra that stands in some places of rows."""
        term = _Term(
            [k for k, _, _ in places],
            [node for _, _, node in places],
            [coefficient for _, coefficient, _ in places],
            list(letters),
            [list(rows[k].index) for k, _, _ in places],
            len(letters),
        )
        leaves: list[str] = []
        anchor: _Anchor | None = None
        placed: list[_Anchor] = []
        for column in zip(*(node.leaves() for node in term.nodes), strict=True):
            if column[0].kind != "n":
                before = len(term.letters)
                own = self._place(column, term, len(set(term.rows)) == len(rows))
                placed.append((column, own))
                anchor = anchor or (placed[-1] if len(term.letters) > before else None)
                leaves.append(f"{self._symbols[column[0].kind]}{_subscript(letter for _, letter in own)}")
            else:
                leaves.append("")
        for k, column in enumerate(zip(*(node.leaves() for node in term.nodes), strict=True)):
            if column[0].kind == "n":
                sources = [leaf.params for leaf in column]
                leaves[k] = self._data([leaf.value for leaf in column], term.letters, term.values, sources)
        summed = anchor if term.bound else None
        coefficient, where = "", None
        sources = [node.params for node in term.nodes]
        for name, vanishes in self._named_data(term.coefficients, term.letters, term.values, sources):
            where = self._over(term, summed, rows, vanishes) if summed else _everywhere(term, rows, vanishes)
            coefficient = name if where is not None or not coefficient else coefficient
            if where is not None:
                break
        else:
            where = self._chosen(term, rows) if summed else self._where(term, placed, rows)
        text = term.nodes[0].text(iter(leaves))
        if term.nodes[0].kind == "+" and (coefficient != "1" or term.bound or where):
            text = f"\\left({text}\\right)"
        text = text if coefficient == "1" else f"{coefficient} \\, {text}"
        return f"{operator}_{{{where}}} {text}" if summed else f"{text}{where}"

    def _place(self, column: Sequence[Node], term: _Term, complete: bool) -> list[tuple[int | None, str]]:
        """Return which letter each position of a variable's index has; one that it has first is summed over."""
        name = column[0].kind
        size = len(column[0].index)
        usual, universe = self._variable_letters(name, size), self._universe[name, size]
        found: list[tuple[int | None, str]] = []
        for p, letter in enumerate(usual):
            values = [leaf.index[p] for leaf in column]
            same = [
                c
                for c in range(len(term.letters))
                if all(own[c] == v for own, v in zip(term.values, values, strict=True))
            ]
            same = [c for c in same if (c, term.letters[c]) not in found or len(usual) > len(term.letters)]
            same.sort(key=lambda c: term.letters[c].rstrip("'") != letter)
            if same:
                found.append((same[0], term.letters[same[0]]))
            elif complete and len(set(values)) == 1 and len({index[p] for index in universe}) > 1:
                found.append((None, _word(str(values[0]), "rm")))
            else:
                while letter in term.letters:
                    letter += "'"
                term.letters.append(letter)
                for own, v in zip(term.values, values, strict=True):
                    own.append(v)
                found.append((len(term.letters) - 1, letter))
        return found

    def _over(self, term: _Term, anchor: _Anchor, rows: list[Row], vanishes: _Holds) -> str | None:
        """Return what a term is summed over, but for where it is 0; None where no Set says so."""
        column, own = anchor
        name = column[0].kind
        taken = _taken(term, rows)
        literal = [column[0].index[p] for p, (c, _) in enumerate(own) if c is None]
        whole: list[set[Index]] = []
        for row in rows:
            known = dict(enumerate(row.index))
            fits = set()
            for index in self._universe[name, len(own)]:
                at = {c: index[p] for p, (c, _) in enumerate(own) if c is not None}
                fixed = [index[p] for p, (c, _) in enumerate(own) if c is None]
                if fixed == literal and all(known.get(c, v) == v for c, v in at.items()):
                    fits.add(tuple(at.get(c) for c in range(term.own, len(term.letters))))
            whole.append(fits)
        within = self._within(name, own, term)
        if within is not None:
            for restriction, holds in self._conditions(term):
                if all(
                    {b for b in fits if holds((*row.index, *b)) and not vanishes((*row.index, *b))} == some
                    for row, fits, some in zip(rows, whole, taken, strict=True)
                ):
                    return f"{within}{restriction}"
        return None

    def _chosen(self, term: _Term, rows: list[Row]) -> str:
        """Return what a term is summed over, under a name of its own."""
        taken = _taken(term, rows)
        used = _needed([row.index for row in rows], taken, term.own)
        sizes = [len(some) for some in taken]
        subscript = _subscript(term.letters[k] for k in used)
        return self._in_new_set(term.bound, subscript, f"{min(sizes)} to {max(sizes)}")

    def _in_new_set(self, letters: Sequence[str], subscript: str, size: str) -> str:
        """Return that letters are in a set with a name of its own, which the list of sets gets."""
        symbol = f"\\mathcal{{A}}^{{({len(self._notes.sets) + 1})}}{subscript}"
        self._notes.sets.append(f"${symbol}$: chosen by a rule, {size} members")
        return f"{_bracketed(letters)} \\in {symbol}"

    def _where(self, term: _Term, placed: Sequence[_Anchor], rows: list[Row]) -> str:
        """Return in which rows a term stands that others lack, though no number says so."""
        there = set(term.rows)
        present = [k in there for k in range(len(rows))]
        others = [row for row, is_there in zip(rows, present, strict=True) if not is_there]
        if all(any(self._lacks(row, anchor) for anchor in placed) for row in others):
            return "\\text{ (where there is one)}"
        letters, values = term.letters[: term.own], [row.index for row in rows]
        members = {self._set(self._sets[name]): known for name, known in self._members.items()}
        told = condition(letters, values, present, members, _literal)
        if told is None:
            used = _needed(values, present, term.own)
            size = len({tuple(row[k] for k in used) for row, has in zip(values, present, strict=True) if has})
            told = self._in_new_set([letters[k] for k in used], "", str(size))
        return f"\\text{{ (if }} {told}\\text{{)}}"

    def _lacks(self, row: Row, anchor: _Anchor) -> bool:
        """Tell whether there is no such variable in a row."""
        column, own = anchor
        index = tuple(column[0].index[p] if c is None else row.index[c] for p, (c, _) in enumerate(own))
        return index not in self._universe[column[0].kind, len(index)]

    def _within(self, name: str, own: list[tuple[int | None, str]], term: _Term) -> str | None:
        """Return of which Sets of a variable's index the members are; None where that is not known."""
        declared = self._declared[name]
        subsets = list(declared.index_set().subsets()) if declared.is_indexed() else []
        if sum(one.dimen if isinstance(one.dimen, int) else 0 for one in subsets) != len(own):
            return None
        told, start, covered = [], 0, set()
        for one in subsets:
            part = own[start : start + one.dimen]
            start += one.dimen
            bound = {c for c, _ in part if c is not None and c >= term.own}
            covered |= bound
            if not bound:
                continue
            if one.local_name not in self._sets and not one.doc:
                return None
            told.append(
                (f"{_bracketed([letter for _, letter in part])} \\in {self._set(one)}", len(bound) == len(part))
            )
        if covered != set(range(term.own, len(term.letters))):
            return None
        joined = ",\\, ".join(text for text, _ in told)
        return joined if all(whole for _, whole in told) else f"{','.join(term.bound)} :\\, {joined}"

    def _conditions(self, term: _Term) -> Iterator[tuple[str, _Holds]]:
        """Yield what can restrict a sum, and whether it holds of the values of all letters."""
        yield "", lambda at: True
        letters, own = term.letters, term.own
        numbers = [k for k in range(len(letters)) if all(isinstance(values[k], int | float) for values in term.values)]
        for b, e in itertools.product([k for k in numbers if k >= own], [k for k in numbers if k < own]):
            for sign, holds in _RELATIONS.items():
                yield f",\\, {letters[b]} {sign.format(letters[e])}", _compared(holds, b, e)
        for e, b in itertools.product(range(own), range(own, len(letters))):
            yield f",\\, {letters[b]} \\ne {letters[e]}", _compared(lambda x, y: x != y, b, e)
        for name, members in self._members.items():
            size = self._sets[name].dimen
            for at in itertools.permutations(range(len(letters)), size):
                if max(at) >= own:
                    told = f"{_bracketed([letters[k] for k in at])} \\in {self._set(self._sets[name])}"
                    yield f",\\, {told}", _member(members, at)

    def _data(
        self,
        values: Sequence[float],
        letters: list[str],
        at: Sequence[Sequence[Any]],
        sources: Sequence[frozenset[str]],
    ) -> str:
        """Return numbers as one."""
        return next(self._named_data(values, letters, at, sources))[0]

    def _named_data(
        self,
        values: Sequence[float],
        letters: list[str],
        at: Sequence[Sequence[Any]],
        sources: Sequence[frozenset[str]],
    ) -> Iterator[tuple[str, _Holds]]:
        """Yield numbers as one, and where it is 0: the same everywhere, a Param's, or of a name of their own.

        `sources` are the mutable Params that each comes from. They come before others that have the same values.

        A Param that has them comes before a letter of the index that is them, that before a Param that has their
        negatives, and that before one of which they are the reciprocals.
        """
        same = all(_close(value, values[0]) for value in values)
        if plain := same and (values[0] in (0, 1, -1) or not letters):
            yield latex_number(values[0]), _never
        found: dict[int, tuple[str, _Holds]] = {}
        for param, known in self._sources(sources):
            size = len(next(iter(known), ()))
            if size > min(len(letters), _MOST_DIMENSIONS) or (same and not size):
                continue
            for chosen in itertools.permutations(range(len(letters)), size):
                keys = [tuple(place[k] for k in chosen) for place in at]
                if not all(key in known for key in keys):
                    continue
                told = f"{self._symbols[param.name]}{_subscript(letters[k] for k in chosen)}"
                pairs = [(known[key], value) for key, value in zip(keys, values, strict=True)]
                if all(_close(own, value) for own, value in pairs):
                    plain = True
                    yield told, _zero(known, chosen)
                if all(_close(-own, value) for own, value in pairs):
                    found.setdefault(1, (f"-{told}", _zero(known, chosen)))
                elif all(_close(own * value, 1.0) for own, value in pairs):
                    found.setdefault(2, (f"\\frac{{1}}{{{told}}}", _never))
        if plain:
            return
        if not same:
            for k, letter in enumerate(letters):
                if all(type(place[k]) is int and place[k] == value for place, value in zip(at, values, strict=True)):
                    found[0] = letter, _is_zero(k)
                    break
        if found:
            yield found[min(found)]
            return
        if same:
            yield latex_number(values[0]), _never
            return
        kept = _needed(at, values, len(letters))
        symbol = f"a^{{({len(self._notes.data) + 1})}}{_subscript(letters[k] for k in kept)}"
        low, high = latex_number(min(values)), latex_number(max(values))
        self._notes.data.append(f"${symbol}$: computed by a rule, ${low}$ to ${high}$")
        yield symbol, _never

    def _sources(self, sources: Sequence[frozenset[str]]) -> list[tuple[Any, dict[Index, float]]]:
        """Return the Params that numbers may be: mutable ones where they are in the model's expressions."""
        able = [pair for pair in self._params if not pair[0].mutable or any(pair[0].name in some for some in sources)]
        return sorted(able, key=lambda pair: not pair[0].mutable)

    def _variable_letters(self, name: str, size: int) -> list[str]:
        letters = self._index_letters(self._declared[name])
        return letters if len(letters) == size else list("ijklmnpq"[:size])

    def _row_letters(self, data: Any, size: int) -> list[str]:
        """Return the letters of a row's index: the names of its rule's arguments, or what its Sets say."""
        letters: list[str] = []
        block = data
        while block is not None and block.parent_block() is not None:
            own = block.parent_component()
            if own.is_indexed():
                named = _argument_names(own)
                usual = self._index_letters(own)
                letters = [*(named if len(named) == len(usual) else usual), *letters]
            block = block.parent_block()
        return _distinct(letters if len(letters) == size else "ijklmnpq"[:size])

    def _for_all(self, data: Any, indices: list[Index], letters: list[str]) -> str:
        """Return of which Sets the rows are."""
        own, found = data.parent_component(), set(indices)
        finite = own.is_indexed() and own.index_set().isfinite()
        whole = finite and found == {as_tuple(key) for key in own.index_set()}
        if whole and all(one.local_name in self._sets for one in own.index_set().subsets()):
            told, start = [], 0
            for one in own.index_set().subsets():
                told.append(f"{_bracketed(letters[start : start + one.dimen])} \\in {self._set(one)}")
                start += one.dimen
            return ",\\, ".join(told)
        for name, members in self._members.items():
            if members == found:
                return f"{_bracketed(letters)} \\in {self._set(self._sets[name])}"
        symbol = f"\\mathcal{{A}}^{{({len(self._notes.sets) + 1})}}"
        self._notes.sets.append(
            f"${symbol}$: indices of \\texttt{{{escaped(name_and_index(data)[0])}}}, {len(found)} members"
        )
        return f"{_bracketed(letters)} \\in {symbol}"


_RELATIONS: dict[str, Callable[[Any, Any], bool]] = {
    "\\ge {}": lambda b, e: b >= e,
    "\\le {}": lambda b, e: b <= e,
    "> {}": lambda b, e: b > e,
    "< {}": lambda b, e: b < e,
    "= {} - 1": lambda b, e: b == e - 1,
    "= {} + 1": lambda b, e: b == e + 1,
}
"""How what is summed over may stand to the row's own."""


def _compared(holds: Callable[[Any, Any], bool], b: int, e: int) -> _Holds:
    return lambda at: holds(at[b], at[e])


def _never(at: Index) -> bool:
    return False


def _literal(value: Any) -> str:
    return str(value) if isinstance(value, int) else _word(str(value), "rm")


def _is_zero(k: int) -> _Holds:
    return lambda at: at[k] == 0


def _taken(term: _Term, rows: Sequence[Row]) -> list[set[Index]]:
    """Return the members of each row's sum."""
    taken: list[set[Index]] = [set() for _ in rows]
    for k, values in zip(term.rows, term.values, strict=True):
        taken[k].add(tuple(values[term.own :]))
    return taken


def _everywhere(term: _Term, rows: Sequence[Row], vanishes: _Holds) -> str | None:
    """Return nothing to say of a term that is in every row, or 0 in exactly the others; else None."""
    present = set(term.rows)
    return "" if all((k in present) != vanishes(row.index) for k, row in enumerate(rows)) else None


def _zero(known: dict[Index, float], chosen: Sequence[int]) -> _Holds:
    return lambda at: known.get(tuple(at[k] for k in chosen)) == 0


def _member(members: set[Index], at: Sequence[int]) -> _Holds:
    return lambda values: tuple(values[k] for k in at) in members


def _variables(model: Any) -> list[Any]:
    """Return the variables of a model, and those in its rows that are elsewhere, or are derivatives."""
    from pyomo.core.expr.visitor import identify_variables

    blocks = pyo.Block, gdp.Disjunct
    own = list(model.component_data_objects(pyo.Var, descend_into=blocks))
    known = {id(variable) for variable in own}
    for row in model.component_data_objects((pyo.Constraint, pyo.Objective), active=True, descend_into=blocks):
        expect_values(row.expr)
        for variable in identify_variables(row.expr):
            if id(variable) not in known:
                known.add(id(variable))
                own.append(variable)
    return own


def _declared(variable: Any) -> Any:
    """Return the component that a variable is of; of a disjunct's indicator, the disjuncts."""
    is_indicator = variable.local_name == "binary_indicator_var"
    return (variable.parent_block() if is_indicator else variable).parent_component()


def _domain(members: Iterable[Any]) -> str:
    """Return what values a variable may have: its kinds or sets, and bounds that all its members share."""
    found = [_values(variable) for variable in members]
    told = sorted({kind for kind, _, _ in found})
    for word, bounds in (("least", {low for _, low, _ in found}), ("most", {high for _, _, high in found})):
        if told != ["binary"] and len(bounds) == 1 and None not in bounds:
            told.append(f"at {word} ${latex_number(bounds.pop())}$")
    return f" ({', '.join(told)})"


def _values(variable: Any) -> tuple[str, Any, Any]:
    """Return a variable's kind, or the set of its values, and its bounds as far as the set does not say them."""
    for bound in (variable.lower, variable.upper):
        if bound is not None:
            expect_values(bound)
    if variable.is_binary() or variable.is_integer():
        return "binary" if variable.is_binary() else "integer", *variable.bounds
    domain = variable.domain
    parts = list(domain.ranges())
    if variable.is_continuous() and all(part.closed == (True, True) for part in parts):
        return "real", *variable.bounds
    low, high = (own if own != whole else None for own, whole in zip(variable.bounds, domain.bounds(), strict=True))
    is_numeric = all(hasattr(part, "step") for part in parts)
    return f"in ${_union(parts)}$" if is_numeric else f"in \\texttt{{{escaped(domain.name)}}}", low, high


def _union(parts: Iterable[Any]) -> str:
    """Return a set of numbers, which Pyomo takes apart into points, intervals, and ranges of steps."""
    points: set[float] = set()
    pieces: list[tuple[float, str]] = []
    for part in parts:
        start, end, step = part.start, part.end, part.step
        least, most = sorted((start, end))
        if least == most:
            points.add(start)
        elif not step:
            opening = "[" if part.closed[0] and least > -math.inf else "("
            closing = "]" if part.closed[1] and most < math.inf else ")"
            pieces.append((least, f"{opening}{latex_number(least)}, {latex_number(most)}{closing}"))
        elif most - least <= 2 * abs(step):
            points.update((start, start + step, end))
        else:
            last = [latex_number(end)] if math.isfinite(end) else []
            told = [latex_number(start), latex_number(start + step), "\\ldots", *last]
            pieces.append((least, f"\\{{{', '.join(told if step > 0 else told[::-1])}\\}}"))
    if points:
        pieces.append((min(points), f"\\{{{', '.join(map(latex_number, sorted(points)))}\\}}"))
    return " \\cup ".join(text for _, text in sorted(pieces)) or "\\emptyset"


def _is_numeric(param: Any) -> bool:
    values = [pyo.value(value, exception=False) for value in param.extract_values().values()]
    return bool(values) and all(isinstance(value, int | float) for value in values)


def _needed(at: Sequence[Sequence[Any]], values: Sequence[Any], size: int) -> list[int]:
    """Return on which positions of an index some values depend."""
    kept = list(range(size))
    for k in reversed(range(size)):
        rest = [c for c in kept if c != k]
        known: dict[Index, Any] = {}
        keys = (tuple(place[c] for c in rest) for place in at)
        if all(known.setdefault(key, value) == value for key, value in zip(keys, values, strict=True)):
            kept = rest
    return kept


def _close(a: float, b: float) -> bool:
    return math.isclose(a, b, rel_tol=ROUNDING, abs_tol=0.0)


def _letter(doc: str) -> str:
    match = _SYMBOL.match(doc)
    found = match.group(1) if match else ""
    return f"\\{found}" if _GREEK.fullmatch(found) else found if len(found) == 1 else ""


def _distinct(letters: Iterable[str]) -> list[str]:
    found: list[str] = []
    for letter in letters:
        while letter in found:
            letter += "'"
        found.append(letter)
    return found


def _bracketed(letters: Sequence[str]) -> str:
    return letters[0] if len(letters) == 1 else f"({','.join(letters)})"


def _argument_names(component: Any) -> list[str]:
    """Return the first letters of the arguments of a rule behind the block's."""
    function = getattr(getattr(component, "rule", None) or getattr(component, "_rule", None), "_fcn", None)
    if function is None:
        return []
    parameters = list(inspect.signature(function).parameters.values())[1:]
    return [p.name[0] for p in parameters] if all(p.kind is p.POSITIONAL_OR_KEYWORD for p in parameters) else []


def _lines(pieces: list[str]) -> list[str]:
    return [" ".join(pieces[k : k + _TERMS]) for k in range(0, len(pieces), _TERMS)]


def _added(limit: str, before: Sequence[str]) -> list[str]:
    """Return what of a number stands behind other terms: nothing of 0, and with its sign where there are some."""
    if not before:
        return [limit]
    return [] if limit == "0" else [f"- {limit[1:]}" if limit.startswith("-") else f"+ {limit}"]


def _listing(title: str, items: Sequence[str]) -> list[str]:
    if not items:
        return []
    return [f"\\subsection*{{{title}}}", "\\begin{itemize}", *(f"\\item {item}" for item in items), "\\end{itemize}"]
