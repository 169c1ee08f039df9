"""The picture of a model's matrix: a mark a coefficient, with the rows of an equation and the columns of a variable
side by side (extra ``plot``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any

from dlsched.arguments import checked, expect_model
from dlsched.errors import InputError
from dlsched.lazy import pyo
from dlsched.models.inspect import described, is_disjunctive, source_of, unindexed
from dlsched.models.picture import axes, literal
from dlsched.solvers.matrix import compile_model

_INCHES = 7.0
"""Width and height. Arbitrary: a page's."""

_POINTS = 400.0
"""Width and height of what is drawn into, in points, which the marks of a row share: nearly that of the axes."""

_LEAST, _MOST = 0.4, 9.0
"""Size of a mark in points. Arbitrary: it is seen, and is not a blot."""

_NARROW = 0.012
"""Share of the height or width of a block that has room for its name: a line of letters."""


@checked
def spy(model: Any) -> Any:
    """Draw where the coefficients of a model are, by equation and variable; return the axes.

    Parameters
    ----------
    model : pyomo.environ.ConcreteModel
        Linear; either-or is written by big-M in a copy.

    Returns
    -------
    matplotlib.axes.Axes
        Coefficients above 0 and below it in two colours; rows of one component, and columns of one, between lines, and
        as high and wide as their number.

    Raises
    ------
    TypeError
        If it is no Pyomo model.
    InputError
        If the model is abstract, or has no rows.
    ValueError
        If the model is not linear, or has no or several objectives.
    MissingExtra
        If matplotlib is not installed.

    Examples
    --------
    >>> from dlsched.models import build, hadar, spy
    >>> ax = spy(build("hadar/hall", hadar.preset("random", 0)))
    >>> ax.figure.savefig("hall.png")  # doctest: +SKIP
    """
    expect_model(model)
    if is_disjunctive(model):
        model = pyo.TransformationFactory("gdp.bigm").create_using(model)
    matrix = compile_model(model)
    if not matrix.A.nnz:
        raise InputError("the model has no coefficients to draw")
    rows = [_named(source_of(row)) for row in matrix.rows]
    columns = [unindexed(variable.name) for variable in matrix.columns]
    row_order, column_order = _together(rows), _together(columns)
    entries = matrix.A.tocoo()
    place = {old: new for new, old in enumerate(row_order)}, {old: new for new, old in enumerate(column_order)}
    ax = axes(_INCHES, _INCHES)
    size = min(_MOST, max(_LEAST, _POINTS / max(matrix.A.shape)))
    for positive, colour in ((True, "tab:blue"), (False, "tab:red")):
        at = [k for k, value in enumerate(entries.data.tolist()) if value and (value > 0) == positive]
        x = [place[1][int(entries.col[k])] for k in at]
        y = [place[0][int(entries.row[k])] for k in at]
        label = "above 0" if positive else "below 0"
        ax.plot(x, y, linestyle="none", marker="s", markersize=size, color=colour, label=label)
    m, n = matrix.A.shape
    ax.set(xlim=(-0.5, n - 0.5), ylim=(m - 0.5, -0.5))
    ax.set_title(f"{literal(model.name)}: {m} rows, {n} columns, {matrix.A.nnz} coefficients", fontsize=9, pad=12)
    _blocks(ax.yaxis, ax.axhline, [rows[i] for i in row_order], turned=0)
    _blocks(ax.xaxis, ax.axvline, [columns[i] for i in column_order], turned=60)
    ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1), fontsize=7, borderaxespad=0, markerscale=4 / size)
    return ax


def _named(row: Any) -> str:
    equation, _ = described(row.parent_component())
    return f"{equation} {unindexed(row.name)}".strip()


def _together(names: Iterable[str]) -> list[int]:
    """Return an order in which those of one name stand together, names as they come first."""
    first: dict[str, int] = {}
    listed = list(names)
    for name in listed:
        first.setdefault(name, len(first))
    return sorted(range(len(listed)), key=lambda k: first[listed[k]])


def _blocks(axis: Any, line: Any, names: list[str], turned: float) -> None:
    """Part blocks of one name by lines, and write the name of each that has room beside it."""
    told = list(_centres(names))
    for _, _, end in told[:-1]:
        line(end - 0.5, color="0.8", linewidth=0.6, zorder=0)
    room = [(centre, name) for name, centre, _ in told]
    kept: list[tuple[float, str]] = []
    for centre, name in room:
        if not kept or centre - kept[-1][0] > 2 * _NARROW * len(names):
            kept.append((centre, name))
    axis.set_ticks([centre for centre, _ in kept])
    axis.set_ticklabels([literal(name) for _, name in kept], fontsize=7, rotation=turned, ha="right")


def _centres(names: list[str]) -> Iterator[tuple[str, float, int]]:
    """Yield the name, middle and end of each run of equal names."""
    start = 0
    for name, run in groupby(names):
        end = start + len(list(run))
        yield name, (start + end - 1) / 2, end
        start = end
