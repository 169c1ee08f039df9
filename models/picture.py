"""What the pictures of all problems share: axes, colours, legend, and files written in one step (extra ``plot``)."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, get_type_hints

from dlsched.arguments import checked, described
from dlsched.errors import InputError
from dlsched.extras import from_extra
from dlsched.models.files import write_bytes
from dlsched.models.schedule import Violation


def refuse_broken(violations: Sequence[Violation]) -> None:
    """Refuse to draw a schedule of which a checker found what is wrong.

    Raises
    ------
    ValueError
        If there are violations; the message has the first.
    """
    if violations:
        raise ValueError(f"the schedule cannot be drawn: {violations[0]}")


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
    module = from_extra("plot", "matplotlib.figure", "a plot needs matplotlib")
    figure = module.Figure(figsize=(width, height), layout="tight")
    if rows is None:
        return figure.subplots(ncols=columns)
    return figure.subplots(nrows=rows, squeeze=False)[:, 0]


def colours(names: Iterable[str]) -> dict[str, Any]:
    """Return a colour for each name, the same for the same order of names."""
    from matplotlib import colormaps

    palette = colormaps["tab20"]
    return {name: palette(i % palette.N) for i, name in enumerate(names)}


def legend(ax: Any) -> None:
    """Add the legend, beside the axes."""
    ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1), fontsize=7, borderaxespad=0)


_UNDATED = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "ps": {"CreationDate": None}}


def save(figure: Any, path: str | os.PathLike[str]) -> None:
    """Write a figure into a file, in one step; the name's ending chooses the format (png, svg, pdf).

    Raises
    ------
    InputError
        If the format is unknown or the file cannot be written.
    """
    form = Path(path).suffix.removeprefix(".").lower()
    known = figure.canvas.get_supported_filetypes()
    if form not in known:
        raise InputError(
            f"{path}: pictures are written as {', '.join(sorted(known))}, not {form or 'without an ending'}"
        )
    import matplotlib

    content = io.BytesIO()
    # Neither the date nor random ids: the same picture is the same file.
    with matplotlib.rc_context({"svg.hashsalt": "dlsched"}):
        figure.savefig(content, format=form, bbox_inches="tight", metadata=_UNDATED.get(form))
    write_bytes(path, content.getvalue())


def saving(plot: Callable[[Any, Any], Any]) -> Callable[[Any, Any, str | os.PathLike[str]], None]:
    """Return the function that draws a schedule into a file, in one step.

    Parameters
    ----------
    plot : callable
        ``(instance, schedule) -> axes``, which refuses a schedule that breaks a rule.
    """

    def save_plot(instance: Any, schedule: Any, path: str | os.PathLike[str]) -> None:
        """Draw a schedule into a file, in one step; the name's ending chooses the format (png, svg, pdf).

        Raises
        ------
        InputError
            If the format is unknown or the file cannot be written.
        ValueError, MissingExtra
            As `plot`.
        """
        save(plot(instance, schedule).figure, path)

    # An instance of another problem is refused by this function's own name for it.
    known = get_type_hints(plot)
    save_plot.__annotations__ |= {name: known[name] for name in ("instance", "schedule")}
    return checked(save_plot)
