"""How the steps that a job has left are divided among its copies (Section V-B).

Printed, "HadarE divides that number into n portions according to their respective throughput values, for assigning to
those n forked copies", and every copy, "if scheduled", trains its own: a copy that is not scheduled keeps a portion
that nobody trains in that round. Corrected, the copies that are scheduled share all of the steps.

The print does not say which node's throughput a copy has that is on none. Here the copies that are not scheduled stand
for the fastest nodes that no copy of the job is on; with n copies these are all the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from fractions import Fraction

from dlsched.algorithms.run import Variant


class Steps(StrEnum):
    """Whether steps can be divided: whole ones, or any amount, as the proof of Theorem 3 takes them.

    Examples
    --------
    >>> from dlsched.algorithms import hadar_e
    >>> instance = hadar_e.figure_6()
    >>> for steps in hadar_e.Steps:
    ...     run = hadar_e.run(instance, steps=steps)
    ...     print(steps.value, float(hadar_e.total_time(instance, run.schedule)))
    whole 3.1739130434782608
    divisible 2.892156862745098
    """

    WHOLE = "whole"
    DIVISIBLE = "divisible"


def divide(
    left: Fraction,
    throughput: Mapping[str, Fraction],
    scheduled: Sequence[str],
    *,
    copies: int,
    variant: Variant,
    steps: Steps = Steps.WHOLE,
) -> dict[str, Fraction]:
    """Return the steps that each scheduled copy is to train, by its node.

    Parameters
    ----------
    left : Fraction
        Steps left; a whole number of them where steps are whole.
    throughput : mapping of str to Fraction
        Steps per second of the job by node, as they are known; nodes that cannot run it are left out.
    scheduled : sequence of str
        Nodes that run a copy of the job in the round.
    copies : int
        How many the job was forked into.
    variant : Variant
        Printed, or corrected.
    steps : Steps
        Whole steps are divided by largest remainder; of equal remainders the scheduled copy's, then the faster node's,
        then the first's is taken.
    """
    sharing = list(scheduled)
    if variant is Variant.PRINTED:
        others = sorted((node for node in throughput if node not in sharing), key=lambda node: -throughput[node])
        sharing += others[: copies - len(sharing)]
    total = sum((throughput[node] for node in sharing), Fraction(0))
    quota = {node: left * throughput[node] / total for node in sharing}
    if steps is Steps.DIVISIBLE:
        return {node: quota[node] for node in scheduled}
    portions = {node: Fraction(quota[node] // 1) for node in sharing}
    on_none = set(sharing) - set(scheduled)
    by_remainder = sorted(sharing, key=lambda node: (portions[node] - quota[node], node in on_none, -throughput[node]))
    for node in by_remainder[: int(left - sum(portions.values()))]:
        portions[node] += 1
    return {node: portions[node] for node in scheduled}
