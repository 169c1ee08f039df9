"""Pictures of figures: a line for each series, with the 99 % intervals of its means (extra ``plot``)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import cycle
from typing import Any

from dlsched.figures.figure import Figure
from dlsched.figures.points import Curve
from dlsched.models import picture

_SIZE = (6.4, 4.4)
"""Inches. matplotlib's own proportions, a little lower."""

_MARKERS = "osD^vPX*<"
"""Not as many as there are colours, so that where these come again the markers are others."""


def draw(figure: Figure, curves: Iterable[Curve]) -> Any:
    """Return the axes on which a figure is drawn, with the legend below, where it covers nothing.

    Raises
    ------
    MissingExtra
        If matplotlib is not installed.
    """
    ax = picture.axes(*_SIZE)
    right = ax.twinx() if figure.right else ax
    found, lines = list(curves), []
    styles = picture.styles(figure.series)
    for (series, style), marker in zip(styles.items(), cycle(_MARKERS), strict=False):
        mine = [curve for curve in found if curve.series == series]
        xs, means = [curve.x for curve in mine], [curve.mean for curve in mine]
        bars = [(_length(c.mean - c.low), _length(c.high - c.mean)) for c in mine]
        # What stands at names has nothing between them.
        line = {**style.line, **({"linestyle": "none"} if figure.labels else {})}
        yerr = list(zip(*bars, strict=True)) or None
        side = right if series in figure.right else ax
        lines.append(side.errorbar(xs, means, yerr=yerr, label=series, marker=marker, capsize=3, **line))
    if figure.labels:
        ax.set_xticks(figure.points, figure.labels)
    ax.set(xlabel=figure.x, ylabel=figure.y, title=f"{figure.paper}: {figure.title}")
    ax.title.set_fontsize(9)
    ax.grid(alpha=0.3)
    if figure.right:
        right.set_ylabel(figure.right_y)
    ax.legend(handles=lines, loc="upper center", bbox_to_anchor=(0.5, -0.13), ncols=2, fontsize=8)
    return ax


def _length(reach: float) -> float:
    return reach if math.isfinite(reach) else 0.0
