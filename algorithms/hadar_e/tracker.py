"""Job Tracker: adds up the steps of a job's copies after a round, and averages their parameters (Section V-B)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dlsched.algorithms.hadar_e.forker import fork, origin
from dlsched.arguments import checked, floats, positive
from dlsched.errors import InputError
from dlsched.models.numbers import amount, rational

Parameters = NDArray[np.float64]


class Averaging(StrEnum):
    """The weights of copies in the average of their parameters: by steps done, which is our reading, or equal.

    The print says "weight-averaging" and not by what.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from dlsched.algorithms.hadar_e import Averaging, Report, Tracker
    >>> for averaging in Averaging:
    ...     tracker = Tracker({0: Fraction(8)}, max_job_count=1, parameters={0: [0, 0]}, averaging=averaging)
    ...     done = tracker.close([Report(1, Fraction(3), [1, 2]), Report(2, Fraction(1), [5, 6])])
    ...     print(averaging.value, tracker.parameters(0))
    steps [2. 3.]
    equal [3. 4.]
    """

    STEPS = "steps"
    EQUAL = "equal"


class Reading(StrEnum):
    """What one training step is.

    Attributes
    ----------
    MINI_BATCH
        One mini-batch, so that phi * epochs steps are the epochs that were asked for.
    PRINTED
        phi mini-batches, which is an epoch, as the sentence before says: phi * epochs steps are phi times as many.

    Examples
    --------
    >>> from dlsched.algorithms import hadar_e
    >>> for reading in hadar_e.Reading:
    ...     found = hadar_e.threshold(epochs=3, data_size=100, batch_size=4, reading=reading)
    ...     print(reading.value, found.steps, found.mini_batches)
    mini-batch 75 75
    printed 75 1875
    """

    MINI_BATCH = "mini-batch"
    PRINTED = "printed"


class Threshold(NamedTuple):
    """When a job is done.

    Attributes
    ----------
    steps : Fraction
        phi * epochs, phi = data size / mini-batch size.
    mini_batches : Fraction
        What these steps come to.

    Examples
    --------
    >>> from dlsched.algorithms import hadar_e
    >>> found = hadar_e.threshold(epochs=3, data_size=100, batch_size=4)
    >>> print(found.steps, found.mini_batches)
    75 75
    """

    steps: Fraction
    mini_batches: Fraction


@checked
def threshold(
    epochs: float | Fraction,
    data_size: float | Fraction,
    batch_size: float | Fraction,
    reading: Reading | str = Reading.MINI_BATCH,
) -> Threshold:
    """Return after how many training steps a job is done, and how many mini-batches that is.

    "One training step for a model means to train the model via phi mini-batches of training data" and the threshold,
    "equal to phi x (the training epoch count)", cannot both be meant: together they train each epoch phi times.

    Parameters
    ----------
    epochs, data_size, batch_size : number
        Positive; sizes in the same unit.
    reading : {"mini-batch", "printed"}

    Examples
    --------
    >>> from dlsched.algorithms import hadar_e
    >>> print(hadar_e.threshold(epochs=3, data_size=100, batch_size=4).steps)
    75
    >>> print(hadar_e.threshold(3, 100, 4, "printed").mini_batches)
    1875
    """
    positive(epochs=epochs, data_size=data_size, batch_size=batch_size)
    phi = rational(data_size) / rational(batch_size)
    steps = phi * rational(epochs)
    return Threshold(steps, steps * phi if Reading(reading) is Reading.PRINTED else steps)


@dataclass(frozen=True, slots=True)
class Report:
    """What a node tells the tracker when its copy has done its steps, or when the slot ends.

    Attributes
    ----------
    copy : int
        Its id.
    steps : Fraction
        Done in the round.
    parameters : array or None
        After these steps; None where no model is trained.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from dlsched.algorithms.hadar_e import Report, Tracker
    >>> tracker = Tracker({0: Fraction(4)}, max_job_count=1)
    >>> tracker.close([Report(copy=1, steps=Fraction(3))])
    ()
    >>> print(tracker.left(0))
    1
    """

    copy: int
    steps: Fraction
    parameters: ArrayLike | None = None


class Tracker:
    """The progress and the consolidated parameters of all jobs.

    Parameters
    ----------
    thresholds : mapping of int to Fraction
        Steps after which each job is done, by its id.
    max_job_count : int
        That the ids of copies are made with.
    parameters : mapping of int to array, optional
        Where each model starts; of jobs that are trained.
    averaging : {"steps", "equal"}

    Examples
    --------
    >>> from fractions import Fraction
    >>> from dlsched.algorithms.hadar_e import Report, Tracker, copy_id
    >>> tracker = Tracker({0: Fraction(4), 1: Fraction(9)}, max_job_count=2)
    >>> tracker.close([Report(copy_id(0, i, max_job_count=2), Fraction(2)) for i in (1, 2)])
    (0,)
    >>> print(tracker.left(1))
    9
    """

    def __init__(
        self,
        thresholds: Mapping[int, Fraction],
        *,
        max_job_count: int,
        parameters: Mapping[int, ArrayLike] | None = None,
        averaging: Averaging | str = Averaging.STEPS,
    ) -> None:
        fork(list(thresholds), 1, max_job_count)
        self._left = {parent: amount(f"thresholds[{parent}]", steps) for parent, steps in thresholds.items()}
        self._max_job_count = max_job_count
        self._averaging = Averaging(averaging)
        self._parameters = {parent: floats("parameters", start) for parent, start in (parameters or {}).items()}

    def left(self, parent: int) -> Fraction:
        """Return the steps that a job has left; 0 once it is done, even where its copies did more."""
        return max(self._left[parent], Fraction(0))

    def parameters(self, parent: int) -> Parameters | None:
        """Return the consolidated parameters of a job, which every copy continues with; None if none are trained."""
        return self._parameters.get(parent)

    def close(self, reports: Iterable[Report]) -> tuple[int, ...]:
        """Aggregate and consolidate the reports of a round; return the jobs that are done by it.

        Raises
        ------
        InputError
            If a report is of a copy that was discarded, as its job was done before, or of none of the jobs, is a
            copy's second, or lacks what the tracker adds up, or has what would spoil the average; nothing changes.
        """
        by_job: dict[int, dict[int, Report]] = {}
        for report in reports:
            parent, _ = origin(report.copy, self._max_job_count)
            own = by_job.setdefault(parent, {})
            if self._left.get(parent, 0) <= 0:
                raise InputError(f"copy {report.copy}: is of no job that is still there")
            if report.copy in own:
                raise InputError(f"copy {report.copy}: reports twice in a round")
            if report.steps < 0:
                raise InputError(f"copy {report.copy}: has done {report.steps} steps")
            if report.parameters is None and parent in self._parameters:
                raise InputError(f"copy {report.copy}: reports no parameters, and its job has some")
            own[report.copy] = report
        left, averages = dict[int, Fraction](), dict[int, Parameters]()
        for parent, copies in by_job.items():
            steps = {copy: rational(report.steps) for copy, report in copies.items()}
            left[parent] = self._left[parent] - sum(steps.values(), Fraction(0))
            if parent in self._parameters:
                averages[parent] = self._consolidated(copies, steps, self._parameters[parent])
        self._left |= left
        self._parameters |= averages
        return tuple(parent for parent in by_job if self._left[parent] <= 0)

    def _consolidated(
        self, reports: Mapping[int, Report], steps: Mapping[int, Fraction], before: Parameters
    ) -> Parameters:
        """Return the weighted average of what the copies report."""
        equal = self._averaging is Averaging.EQUAL
        weights = [Fraction(1) if equal else steps[copy] for copy in reports]
        total = sum(weights, Fraction(0))
        if not total:
            return before
        trained = np.stack([floats("parameters", report.parameters) for report in reports.values()])
        if trained.shape[1:] != before.shape:
            raise InputError(f"parameters: have shape {trained.shape[1:]}, not {before.shape}")
        for copy, own in zip(reports, trained, strict=True):
            if not np.isfinite(own).all():
                raise InputError(f"copy {copy}: reports parameters that are no finite numbers")
        shares = np.array([float(weight / total) for weight in weights]).reshape(-1, *[1] * before.ndim)
        average: Parameters = (shares * trained).sum(axis=0)
        return average
