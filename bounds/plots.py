"""A picture of a claim: what was measured against its bound, on each instance on which it was judged."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from textwrap import fill
from typing import Any

from dlsched.arguments import checked
from dlsched.bounds.claim import Claim
from dlsched.bounds.comparison import Relation, Status
from dlsched.bounds.search import evaluate, plan
from dlsched.bounds.store import Entry
from dlsched.models import picture

_MARKS = {
    Status.HOLDS: ("o", "#0072B2"),
    Status.VIOLATED: ("X", "#D55E00"),
    Status.VACUOUS: ("s", "#BBBBBB"),
    Status.UNDECIDED: ("^", "#E69F00"),
    Status.PREMISE_FAILS: ("v", "#56B4E9"),
}
"""Mark and colour of each verdict: both differ."""


_WIDTH = 56
"""Characters of a line beside the axes: as high as these are."""


@checked
def judged(claim: Claim, instances: int = 100, seed: int = 0) -> list[Entry]:
    """Return a claim's verdicts on its shipped cases and on draws of its sources, as `verify` makes them.

    Parameters
    ----------
    claim : Claim
    instances : int
        Draws of each source.
    seed : int
        Of the draws.

    Examples
    --------
    >>> from dlsched.bounds import claim, judged
    >>> [entry.name for entry in judged(claim("hadar/theorem-1"), instances=0)][:1]
    ['hadar-theorem-1-powers']
    """
    tasks = list(plan([claim], instances, seed))
    return [Entry(v, task.source, task.position, task.name) for task in tasks for v in evaluate(task)]


@checked
def plot_claim(claim: Claim, entries: Iterable[Entry], ax: Any = None) -> Any:
    """Draw what was measured against the bound, a mark a verdict; the line is where the two are the same.

    The side on which the claim is broken is shaded. Verdicts without two finite sides are told in the title only.

    Parameters
    ----------
    claim : Claim
    entries : iterable of Entry
        Of `judged`, or of a database of `verify`; those of other claims and variants are left out.
    ax : matplotlib.axes.Axes, optional
        Drawn into; a new figure where it is left out.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    MissingExtra
        If matplotlib is not installed.

    Examples
    --------
    >>> from dlsched.bounds import claim, judged, plot_claim
    >>> printed = claim("hadar/theorem-1")
    >>> print(plot_claim(printed, judged(printed, instances=0)).get_title())
    hadar/theorem-1, printed: measured <= bound
    5 violated
    """
    verdicts = [entry.verdict for entry in entries if entry.verdict.key == claim.key]
    counts = Counter(verdict.status for verdict in verdicts)
    ax = picture.drawn_in(ax, 6.0, 5.0)
    ends: list[float] = []
    for status, (marker, colour) in _MARKS.items():
        own = [v for v in verdicts if v.status is status]
        points = [(float(v.bound), float(v.measured)) for v in own if v.bound is not None and v.measured is not None]
        points = [point for point in points if all(map(math.isfinite, point))]
        ends += [end for point in points for end in point]
        if points:
            ax.scatter(
                *zip(*points, strict=True), marker=marker, color=colour, label=status.value, s=28, alpha=0.8, zorder=3
            )
    for set_scale in (ax.set_xscale, ax.set_yscale):
        picture.wide(set_scale, ends)
    _shade(ax, claim.relation)
    said = ", ".join(f"{counts[status]} {status.value.replace('-', ' ')}" for status in Status if counts[status])
    ax.set(xlabel="bound", ylabel=fill(f"measured: {claim.quantity}", _WIDTH))
    head = f"{claim.id}, {claim.variant.value}: measured {claim.relation.value} bound"
    ax.set_title(f"{head}\n{said or 'no verdict'}", fontsize=10)
    picture.legend(ax)
    return ax


def _shade(ax: Any, relation: Relation) -> None:
    """Draw the line on which both sides are the same, and shade where the relation is broken."""
    low, high = (end(*ax.get_xlim(), *ax.get_ylim()) for end in (min, max))
    ax.plot([low, high], [low, high], color="#222222", linewidth=0.8, zorder=1)
    if relation is not Relation.EQUAL:
        other = high if relation is Relation.AT_MOST else low
        ax.fill_between([low, high], [low, high], [other, other], color="#D55E00", alpha=0.08, zorder=0)
    ax.set(xlim=(low, high), ylim=(low, high))
