"""What a figure of a paper is: which numbers it shows, where they come from, and what the paper says of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from dlsched.arguments import checked, expect, matching, named
from dlsched.bounds.comparison import Relation
from dlsched.errors import InputError
from dlsched.models.registry import Registry

Values = Mapping[str, float]
"""Of a draw, by series; NaN where it has none, which counts nowhere."""

Draw = Callable[..., Values]
"""Of a point of the x axis and a seed: the value of every series. All series of a draw are of the same instance. Where
the figure needs data, the third argument is the user's folder (a `pathlib.Path`)."""


DIGITS = 9
"""Of a number in a table, as in those of `verify`."""


@dataclass(frozen=True, slots=True)
class Statement:
    """What the paper says of two series, judged seed by seed: the mean over the points, or what is at one point.

    The draws of a seed at several points have much in common, so they count as one.

    Attributes
    ----------
    text : str
    series : str
    relation : Relation
    other : str or float
        Another series, or a number.
    claim : str
        Id of the claim that says the same in the paper's setting; empty where there is none.
    at : float, optional
        The point of the x axis that it is about; all where it is left out.
    guessed : bool
        As of a claim: the draws are counted, and leave it undecided.

    Examples
    --------
    >>> from dlsched.figures import Statement, figure
    >>> for said in figure("smd/7").statements:
    ...     if isinstance(said, Statement):
    ...         print(f"{said.text}: {said.series} {said.relation} {said.other} ({said.claim})")
    SMD is worth more than Optimus: SMD >= Optimus (smd/evaluation)
    SMD is worth more than ESW: SMD >= ESW (smd/evaluation-esw)
    """

    text: str
    series: str
    relation: Relation
    other: str | float
    claim: str = ""
    at: float | None = None
    guessed: bool = False

    def gains(self, found: Mapping[tuple[float, int], Values]) -> Iterator[float]:
        """Yield by how much a seed is for the statement, or below 0 against it: of draws by point and seed."""
        for at in _by_seed(found).values():
            all_gains = (self._gain(values) for x, values in at.items() if self.at in (None, x))
            gains = [gain for gain in all_gains if not math.isnan(gain)]
            if gains:
                yield math.fsum(gains) / len(gains)

    def _gain(self, values: Values) -> float:
        return self.relation.gain(
            values[self.series], values[self.other] if isinstance(self.other, str) else self.other
        )


@dataclass(frozen=True, slots=True)
class Trend:
    """What the paper says of how a figure runs along its axis, judged seed by seed.

    Attributes
    ----------
    text : str
    relation : Relation
    sides : callable
        Of the values of a seed by point: what is compared, and what with. A seed that lacks a point says nothing.
    claim : str
    guessed : bool
        As of a `Statement`.

    Examples
    --------
    >>> from dlsched.bounds import Relation
    >>> from dlsched.figures import Trend
    >>> ends = Trend("SMD rises", Relation.AT_LEAST, lambda values: (values[5.0]["SMD"], values[1.0]["SMD"]))
    >>> ends.sides({1.0: {"SMD": 40.0}, 5.0: {"SMD": 95.0}})
    (95.0, 40.0)
    """

    text: str
    relation: Relation
    sides: Callable[[Mapping[float, Values]], tuple[float, float]]
    claim: str = ""
    guessed: bool = False

    def gains(self, found: Mapping[tuple[float, int], Values]) -> Iterator[float]:
        """Yield by how much a seed is for the statement, or below 0 against it: of draws by point and seed."""
        for at in _by_seed(found).values():
            with suppress(KeyError):
                gain = self.relation.gain(*self.sides(at))
                if not math.isnan(gain):
                    yield gain


def _by_seed(found: Mapping[tuple[float, int], Values]) -> dict[int, dict[float, Values]]:
    by_seed: dict[int, dict[float, Values]] = {}
    for (x, seed), values in sorted(found.items(), key=lambda item: item[0][::-1]):
        by_seed.setdefault(seed, {})[x] = values
    return by_seed


def between(
    text: str, series: str, x: float, relation: Relation, other: float, claim: str = "", *, guessed: bool = False
) -> Trend:
    """Return the statement that a series at one point stands in a relation to the same at another."""
    return Trend(text, relation, lambda at: (at[x][series], at[other][series]), claim, guessed)


def rising(text: str, series: str, points: tuple[float, ...], claim: str = "", *, guessed: bool = False) -> Trend:
    """Return the statement that a series is at the last point no less than at the first."""
    return between(text, series, points[-1], Relation.AT_LEAST, points[0], claim, guessed=guessed)


def pulling_ahead(
    series: str, others: Iterable[str], points: tuple[float, ...], along: str, guessed: Iterable[str] = ()
) -> tuple[Trend, ...]:
    """Return the statements that the lead of a series over others is at the last point no less than at the first.

    Of those over the `guessed` ones the draws decide nothing.
    """

    def trend(other: str) -> Trend:
        def lead(values: Values) -> float:
            return values[series] - values[other]

        return Trend(
            f"the lead of {series} over {other} grows with the {along}",
            Relation.AT_LEAST,
            lambda at: (lead(at[points[-1]]), lead(at[points[0]])),
            guessed=other in guessed,
        )

    return tuple(map(trend, others))


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A figure or a table of a paper.

    Attributes
    ----------
    name : str
        E.g. ``smd/7``.
    paper : str
        Where it stands.
    title : str
        What it shows, in a line.
    says : str
        What the paper reports, in a sentence.
    x, y : str
        Of the axes, with units.
    points : tuple of float
        Of the x axis.
    quick : tuple of float
        Those of them that ``--quick`` takes.
    series : tuple of str
    right : tuple of str
        Those of them that have an axis of their own, at the right, as they are no such numbers as the others.
    right_y : str
        Of that axis, with units.
    labels : tuple of str
        What stands at the points in place of their numbers, one each; empty where they are numbers.
    draw : callable, optional
        Returns the values of one draw; None where the figure is out of reach, and `note` says why.
    seeds, quick_seeds : int
        Draws of a point. One where nothing is drawn at random.
    statements : tuple of Statement or Trend
    note : str
        What the paper leaves open, and what is assumed here.
    measured_seconds : bool
        Whether the values are seconds that were measured, which no two runs have in common.
    data : tuple of str
        Files that the draws read, below the user's folder of public data (``gavel/simulation_throughputs.json``).
    plot : callable, optional
        Returns matplotlib axes of a picture of its own (a replay), which is saved in place of the means.

    Examples
    --------
    >>> from dlsched.figures import figure
    >>> nodes = figure("hadar/6")
    >>> nodes.paper, nodes.y, nodes.series
    ('Hadar, Fig. 6', 'nodes that train', ('Hadar', 'HadarE'))
    >>> nodes.draw(1.0, 0)
    {'Hadar': 3, 'HadarE': 5}
    """

    name: str
    paper: str
    title: str
    says: str
    x: str
    y: str
    points: tuple[float, ...]
    quick: tuple[float, ...]
    series: tuple[str, ...]
    right: tuple[str, ...] = ()
    right_y: str = ""
    labels: tuple[str, ...] = ()
    draw: Draw | None
    seeds: int = 20
    quick_seeds: int = 3
    statements: tuple[Statement | Trend, ...] = ()
    note: str = ""
    measured_seconds: bool = False
    data: tuple[str, ...] = ()
    plot: Callable[[], Any] | None = None

    def label(self, x: float) -> str:
        """Return what stands at a point of the x axis."""
        return self.labels[self.points.index(x)] if self.labels else f"{x:.{DIGITS}g}"

    def tasks(self, quick: bool, seeds: int | None) -> list[tuple[float, int]]:
        """Return the points with their seeds, in order: the draws of all points with a seed, then those of the next."""
        points, usual = (self.quick, self.quick_seeds) if quick else (self.points, self.seeds)
        fixed = self.seeds == 1
        return [(x, seed) for seed in range(1 if fixed else seeds or usual) for x in points]


FIGURES: Registry[Figure] = Registry("figures", Figure, lambda figure: figure.name)


def figures() -> tuple[Figure, ...]:
    """Return every figure.

    Examples
    --------
    >>> from dlsched.figures import figures
    >>> [entry.name for entry in figures() if entry.name.startswith("smd/")]
    ['smd/7', 'smd/8', 'smd/9', 'smd/10', 'smd/11', 'smd/12']
    >>> [entry.name for entry in figures() if entry.draw is None]
    ['hadar/IV']
    """
    return tuple(FIGURES.all().values())


@checked
def figure(name: str) -> Figure:
    """Return the figure of a name.

    Raises
    ------
    InputError
        If there is none; the message has the nearest.

    Examples
    --------
    >>> from dlsched.figures import figure
    >>> figure("smd/7").title, figure("smd/7").series
    ('total utility, asynchronous', ('SMD', 'Optimus', 'ESW'))
    >>> figure("smd/77")
    Traceback (most recent call last):
        ...
    dlsched.arguments.UnknownName: unknown figure 'smd/77'; of 49, the nearest are smd/7, smd/9, smd/8, ...
    """
    return named("figure", name, {entry.name: entry for entry in figures()})


@checked
def figures_named(names: str | Iterable[str] | None) -> tuple[Figure, ...]:
    """Return figures, in the order of `figures`.

    Parameters
    ----------
    names : str or iterable of str or None
        Each a figure (``smd/7``), a paper (``smd``) or a pattern (``smd/*``), with ``_`` or ``-``. All for None.

    Raises
    ------
    InputError
        If a name fits none.

    Examples
    --------
    >>> from dlsched.figures import figures_named
    >>> [entry.name for entry in figures_named("gadget")]
    ['gadget/4', 'gadget/5', 'gadget/6', 'gadget/7']
    >>> [entry.name for entry in figures_named(["smd/1*", "gadget/4"])]
    ['gadget/4', 'smd/10', 'smd/11', 'smd/12']
    """
    known = figures()
    if names is None:
        return known
    chosen: set[str] = set()
    for name in [names] if isinstance(names, str) else names:
        expect("names", name, str)
        found = matching(name, (entry.name for entry in known))
        if not found:
            figure(name)
        chosen.update(found)
    if not chosen:
        raise InputError("names: no figure is asked for")
    return tuple(entry for entry in known if entry.name in chosen)
