"""What the pictures of all problems share: axes, colours, legend, and files written in one step (extra ``plot``)."""

from __future__ import annotations

import io
import math
import os
import re
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import count
from pathlib import Path
from typing import Any, get_type_hints

from dlsched.arguments import checked, described
from dlsched.errors import InputError
from dlsched.extras import from_extra
from dlsched.models.files import write_bytes
from dlsched.models.schedule import Violation
from dlsched.readable import printable


class PictureWarning(UserWarning):
    """A picture does not show all that it should.

    Examples
    --------
    >>> import warnings
    >>> from dlsched.models.picture import PictureWarning
    >>> warnings.simplefilter("ignore", PictureWarning)
    """


def refuse_broken(violations: Sequence[Violation]) -> None:
    """Refuse to draw a schedule of which a checker found what is wrong.

    Raises
    ------
    InputError
        If there are violations; the message has the first.
    """
    if violations:
        raise InputError(f"the schedule cannot be drawn: {violations[0]}")


def drawn_in(ax: Any, width: float, height: float) -> Any:
    """Return the axes that a user gave, or those of a new figure.

    Parameters
    ----------
    ax : matplotlib.axes.Axes or None
    width, height : float
        Of a new figure, in inches.

    Raises
    ------
    TypeError
        If something else than axes was given.
    MissingExtra
        If matplotlib is not installed.
    """
    if ax is None:
        return axes(width, height)
    if not hasattr(ax, "broken_barh"):
        raise TypeError(f"ax: expected axes of matplotlib, got {described(ax)}")
    return ax


def axes(width: float, height: float, columns: int = 1, rows: int | None = None) -> Any:
    """Return the axes of a new figure, an array of them where there are several columns, or rows are given.

    Parameters
    ----------
    width, height : float
        In inches.
    columns : int
    rows : int, optional

    Raises
    ------
    MissingExtra
        If matplotlib is not installed.
    """
    figure = _figure(width, height, columns > 1 or rows is not None)
    if rows is None:
        return figure.subplots(ncols=columns)
    return figure.subplots(nrows=rows, squeeze=False)[:, 0]


def _figure(width: float, height: float, several: bool) -> Any:
    """Return a new figure; several axes make room for what stands beside them, and files reach around what is drawn."""
    module = from_extra("plot", "matplotlib.figure", "a plot needs matplotlib")
    return module.Figure(figsize=(width, height), layout="tight" if several else None)


_COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#BBBBBB")
"""Which the colour-blind tell apart: those of Okabe and Ito, https://jfly.uni-koeln.de/color/, grey in place of black,
which is for what lies on them."""

_HATCHES = ("", "///", "...", "xxx", "\\\\\\", "ooo", "---", "+++")
_DASHES = ("-", "--", ":", "-.")

DISTINCT = len(_COLOURS) * len(_HATCHES)
"""Areas that are told apart, by colour and hatching."""

_LONGEST = 36
"""Characters of a name in a picture. Arbitrary: a legend with longer ones is wider than what it explains."""

_WIDE = 100
"""Times by which values differ where small ones cannot be seen beside great ones. Arbitrary."""

_NOTHING = "\u200b"
"""A character that no reader sees, and matplotlib's own font has."""

_COLUMNS = 2
"""Of a legend. Arbitrary: with more of them there is no room left for the axes, and nobody finds a name."""

_LINE = 0.15
"""Inches that a line of small text takes: 7 points, and what parts it from the next."""


@dataclass(frozen=True, slots=True)
class Style:
    """How a picture shows one of many: by colour, and where colours are used up by hatching, lines by dashes.

    Attributes
    ----------
    colour, hatch, dashes : str
    """

    colour: str
    hatch: str
    dashes: str

    @property
    def area(self) -> dict[str, Any]:
        """What matplotlib is told to fill an area."""
        return {"facecolor": self.colour, "hatch": self.hatch, "edgecolor": "#222222", "linewidth": 0.4}

    @property
    def line(self) -> dict[str, Any]:
        """What matplotlib is told to draw a line."""
        return {"color": self.colour, "linestyle": self.dashes}


def styles(names: Iterable[str]) -> dict[str, Style]:
    """Return a style for each name, the same for the same order of names; `DISTINCT` of them differ.

    Examples
    --------
    >>> from dlsched.models.picture import styles
    >>> of = styles(f"job{k}" for k in range(60))
    >>> len({(style.colour, style.hatch) for style in of.values()})
    60
    """
    kinds = ((i % len(_COLOURS), i // len(_COLOURS)) for i in count())
    return {
        name: Style(_COLOURS[c], _HATCHES[k % len(_HATCHES)], _DASHES[k % len(_DASHES)])
        for name, (c, k) in zip(dict.fromkeys(names), kinds, strict=False)
    }


def literal(text: str) -> str:
    r"""Return a text that matplotlib shows as it is, control characters by their escapes.

    It takes dollars for mathematics, which may be none, and leaves out of legends what begins with an underscore.

    Examples
    --------
    >>> from dlsched.models.picture import literal
    >>> print(literal("a$b$\tc"))
    a\$b\$\tc
    """
    shown = printable(text).replace("$", r"\$")
    return f"{_NOTHING}{shown}" if shown.startswith("_") else shown


def short(name: str) -> str:
    """Return a name as a picture shows it: of a long one the beginning and the end.

    Examples
    --------
    >>> from dlsched.models.picture import short
    >>> short("resnet-50 on imagenet, batch size 256, user 17")
    'resnet-50 on image…size 256, user 17'
    """
    half = _LONGEST // 2
    return literal(name if len(name) <= _LONGEST else f"{name[:half]}…{name[1 - half :]}")


def headline(value: float | Fraction, scheduled: int, jobs: int) -> str:
    """Return the title of a schedule: what it is worth, and how many of the jobs are in it.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from dlsched.models.picture import headline
    >>> headline(Fraction(17), 2, 3)
    'utility 17, 2 of 3 jobs'
    """
    return f"utility {float(value):.6g}, {scheduled} of {jobs} jobs"


def last_slot(instance: Any, schedule: Any) -> int:
    """Return the last slot in which something is scheduled; the last of all where nothing is."""
    return max((slot for _, slot, _ in schedule.items()), default=int(instance.slots))


def legend(ax: Any) -> None:
    """Add the legend, beside the axes and in as many columns as it takes to be no higher than they are."""
    from matplotlib.lines import Line2D

    handles, labels = ax.get_legend_handles_labels()
    if handles:
        high = max(4, int(_height(ax) / _LINE))
        most = _COLUMNS * high
        if len(labels) > most:
            left = len(labels) - most + 1
            handles, labels = (
                [*handles[: most - 1], Line2D([], [], linestyle="none")],
                [*labels[: most - 1], f"and {left} more"],
            )
        columns = -(-len(labels) // high)
        ax.legend(
            handles,
            labels,
            loc="upper left",
            bbox_to_anchor=(1.01, 1),
            ncols=columns,
            fontsize=7,
            labelspacing=0.25,
            handleheight=1.0,
            borderaxespad=0,
        )


def rows(ax: Any, places: Sequence[float], names: Sequence[str]) -> None:
    """Name rows at the left of the axes, as many of them as are legible."""
    step = max(1, math.ceil(len(names) * _LINE / _height(ax)))
    ax.set_yticks(places[::step], [short(name) for name in names[::step]], fontsize=7)


def slots(ax: Any, first: int, last: int, seconds: float | Fraction | None = None) -> None:
    """Let the axis of time go over some slots, whose numbers stand below their middles.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
    first, last : int
    seconds : number, optional
        Of a slot.
    """
    unit = "" if seconds is None else f" [{float(seconds):g} s each]"
    ax.set(xlabel=f"slot{unit}", xlim=(first - 0.5, max(first, last) + 0.5))
    ax.xaxis.get_major_locator().set_params(integer=True, min_n_ticks=1)


def wide(set_scale: Callable[..., None], values: Iterable[float]) -> None:
    """Let an axis be logarithmic where its values, all positive, differ by more than a factor of a hundred.

    Where some are 0, or negative, it is so beyond the least of the others.

    Parameters
    ----------
    set_scale : callable
        Of the axes: ``ax.set_xscale`` or ``ax.set_yscale``.
    values : iterable of float
    """
    found = list(values)
    sizes = [abs(value) for value in found if value]
    if sizes and max(sizes) > _WIDE * min(sizes):
        if min(found) > 0:
            set_scale("log")
        else:
            # Of another number than a power of ten the ticks next to 0 would stand on each other.
            _, exponent = f"{min(sizes):e}".split("e")
            set_scale("symlog", linthresh=float(f"1e{exponent}"))


def _height(ax: Any) -> float:
    """Return how high axes are, in inches."""
    height: float = ax.get_position().height * ax.figure.get_size_inches()[1]
    return height


def panels(draws: Mapping[str, Callable[[Any], object]], width: float, height: float, columns: int = 1) -> Any:
    """Draw pictures on one figure, each under its name; all reach as far along their axis as the longest.

    Parameters
    ----------
    draws : mapping of str to callable
        Each draws into the axes that it is given.
    width, height : float
        Of each, in inches.
    columns : int

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    MissingExtra
        If matplotlib is not installed.
    """
    deep = -(-len(draws) // columns)
    grid = _figure(width * columns, height * deep, len(draws) > 1).subplots(deep, columns, squeeze=False).flat
    for ax, (name, draw) in zip(grid, draws.items(), strict=False):
        draw(ax)
        ax.set_title(f"{short(name)}: {ax.get_title()}", fontsize=10)
    used = grid[: len(draws)]
    for ax in grid[len(draws) :]:
        ax.remove()
    if len({ax.get_xlabel() for ax in used}) == 1:
        limits = [ax.get_xlim() for ax in used]
        for ax in used:
            ax.set_xlim(min(low for low, _ in limits), max(high for _, high in limits))
    return used[0].figure


def curves(
    lines: Mapping[str, Sequence[float]], first: int, last: int, seconds: float | Fraction | None = None, ax: Any = None
) -> Any:
    """Draw what stays as it is during a slot, a line a name.

    Parameters
    ----------
    lines : mapping of str to sequence of float
        Of each slot from the first to the last.
    first, last : int
    seconds : number, optional
        Of a slot.
    ax : matplotlib.axes.Axes, optional

    Returns
    -------
    matplotlib.axes.Axes
    """
    ax = drawn_in(ax, 8.0, 3.5)
    edges = [slot - 0.5 for slot in range(first, last + 2)]
    for k, (name, style) in enumerate(styles(lines).items()):
        # Of lines that are the same, the first is the widest.
        ax.stairs(lines[name], edges, baseline=None, label=short(name), linewidth=max(1.2, 4 - 0.9 * k), **style.line)
    slots(ax, first, last, seconds)
    ax.grid(alpha=0.3)
    legend(ax)
    return ax


_LACKING = re.compile(r"Glyph \d+ .*missing from", re.DOTALL)
"""What matplotlib says of each character that a font lacks."""

_UNDATED: dict[str, dict[str, None]] = {"pdf": {"CreationDate": None}, "png": {}, "svg": {"Date": None}}
"""What says when a picture was made, by the formats that pictures are written in."""


def format_of(path: str | os.PathLike[str]) -> str:
    """Return the format that the ending of a picture's name stands for: ``pdf``, ``png`` or ``svg``.

    Raises
    ------
    InputError
        If it stands for none of these.
    """
    form = Path(path).suffix.removeprefix(".").lower()
    if form not in _UNDATED:
        raise InputError(f"{path}: pictures are written as {', '.join(_UNDATED)}, not {form or 'without an ending'}")
    return form


def save(figure: Any, path: str | os.PathLike[str]) -> None:
    """Write a figure into a file, in one step; the name's ending chooses the format (png, svg, pdf).

    Raises
    ------
    InputError
        If the format is unknown or the file cannot be written.
    """
    form = format_of(path)
    import matplotlib

    content = io.BytesIO()
    # Neither the date nor random ids: the same picture is the same file.
    with (
        matplotlib.rc_context({"svg.hashsalt": "dlsched", "hatch.linewidth": 0.5}),
        warnings.catch_warnings(record=True) as told,
    ):
        figure.savefig(content, format=form, bbox_inches="tight", metadata=_UNDATED[form])
    write_bytes(path, content.getvalue())
    lacking = [warning for warning in told if _LACKING.match(str(warning.message))]
    if lacking:
        warnings.warn(f"{path}: boxes stand for characters that its font lacks", PictureWarning, stacklevel=2)
    for warning in told:
        if warning not in lacking:
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)


def saving(plot: Callable[[Any, Any], Any]) -> Callable[[Any, Any, str | os.PathLike[str]], None]:
    """Return the function that draws a schedule into a file, in one step.

    Parameters
    ----------
    plot : callable
        ``(instance, schedule) -> axes``, which refuses a schedule that breaks a rule.

    Examples
    --------
    >>> from dlsched.algorithms import hadar_e
    >>> from dlsched.models.picture import saving
    >>> instance = hadar_e.figure_6()
    >>> save_plot = saving(hadar_e.plot)
    >>> save_plot(instance, hadar_e.run(instance).schedule, "figure-6.png")
    """

    def save_plot(instance: Any, schedule: Any, path: str | os.PathLike[str]) -> None:
        """Draw a schedule into a file, in one step; the name's ending chooses the format (png, svg, pdf).

        Raises
        ------
        InputError
            If the format is unknown or the file cannot be written; as `plot`.
        MissingExtra
            As `plot`.

        Examples
        --------
        >>> from dlsched.algorithms import hadar
        >>> from dlsched.models.hadar import random, save_plot
        >>> instance = random(0)
        >>> save_plot(instance, hadar.run(instance).schedule, "schedule.svg")
        """
        save(plot(instance, schedule).figure, path)

    # An instance of another problem is refused by this function's own name for it.
    known = get_type_hints(plot)
    save_plot.__annotations__ |= {name: known[name] for name in ("instance", "schedule")}
    save_plot.__module__ = plot.__module__
    return checked(save_plot)
