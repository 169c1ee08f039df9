"""The least time of a job over continuous w, p >= 1, between two rationals, without Algorithm 1 or a grid of it.

Every term of (9) and (10) rises or falls in w, and in p. So on a box each is least at a corner of its own, and the sum
of these is a bound on the time there; the corner (least w, least p) is within the limits (7) wherever any point of the
box is, and its time is that of a point. The box of the least bound is halved, until bound and best point are close.
"""

from __future__ import annotations

import heapq
from fractions import Fraction
from itertools import count

from dlsched.models.smd import Job
from dlsched.models.smd.training import Mode

GAP = Fraction(1, 1000)
"""Of the least time, between its two ends where boxes suffice. Arbitrary: a tenth of the paper's eps."""

MAX_BOXES = 20_000
"""Boxes that are halved, at most; more leave a wider interval. Arbitrary: some seconds."""

_Box = tuple[Fraction, Fraction, Fraction, Fraction]
"""Least and greatest w, least and greatest p."""


def least_times(job: Job) -> tuple[Fraction, Fraction]:
    """Return a bound on the least continuous time of a job that can run, and the time of a point.

    Parameters
    ----------
    job : Job

    References
    ----------
    SMD, (6) to (10) without (8), with w, p >= 1.
    """
    one, number = Fraction(1), count()
    whole = (one, _room(job, one), one, _room(job, one, servers=True))
    best = _time(job, one, one)
    boxes = [(_bound(job, whole), next(number), whole)]
    for _ in range(MAX_BOXES):
        if boxes[0][0] >= (1 - GAP) * best:
            break
        _, _, box = heapq.heappop(boxes)
        for half in _halves(box):
            if (kept := _tightened(job, half)) is not None:
                best = min(best, _time(job, kept[0], kept[2]))
                heapq.heappush(boxes, (_bound(job, kept), next(number), kept))
    return boxes[0][0], best


def _room(job: Job, other: Fraction, *, servers: bool = False) -> Fraction:
    """Return the most workers that the limits leave beside so many servers, or the most servers beside workers."""
    rooms = []
    for r in job.resources:
        own, beside = job.worker_needs(r), job.server_needs(r)
        if servers:
            own, beside = beside, own
        if own:
            rooms.append((job.limit_of(r) - beside * other) / own)
    return min(rooms)


def _tightened(job: Job, box: _Box) -> _Box | None:
    """Return the box without what the limits leave out at its least w and its least p; None where that is all of it."""
    w, _, p, _ = box
    most_w, most_p = min(box[1], _room(job, p)), min(box[3], _room(job, w, servers=True))
    return (w, most_w, p, most_p) if most_w >= w and most_p >= p else None


def _halves(box: _Box) -> tuple[_Box, _Box]:
    """Return the halves, by w or by p: whichever has the greater ratio of its ends."""
    w, most_w, p, most_p = box
    if most_w * p >= most_p * w:
        middle = (w + most_w) / 2
        return (w, middle, p, most_p), (middle, most_w, p, most_p)
    middle = (p + most_p) / 2
    return (w, most_w, p, middle), (w, most_w, middle, most_p)


def _time(job: Job, w: Fraction, p: Fraction) -> Fraction:
    return _bound(job, (w, w, p, p))


def _bound(job: Job, box: _Box) -> Fraction:
    """Return the sum of the least values of the terms of (9) or (10) on a box."""
    w, most_w, p, most_p = box
    theta = job.training.coefficients
    if job.training.mode is Mode.SYNC:
        return theta[0] * w + theta[1] * p + theta[2] + theta[3] * w / most_p + theta[4] / most_w
    return theta[0] + theta[1] * p / most_w + theta[2] / most_w + theta[3] / most_p
