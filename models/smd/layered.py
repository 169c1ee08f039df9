"""The completion time with the critical path of each point, where (4) and (5) fix it at the measured layer times.

With w workers and p servers, layer j's transfer takes r_j(w,p) = (g_j/p)/(B/w') with g_j its share of the model, and
its forward pass m f_j, where m = K/w in synchronous training. Which path through the layers is the longest therefore
depends on the point, and eta with it: the paper's constant eta is right only near the times that were measured.
"""

from __future__ import annotations

from fractions import Fraction

from dlsched.models.smd.instance import Instance
from dlsched.models.smd.schedule import Schedule
from dlsched.models.smd.speed import Overlap, sequential
from dlsched.models.smd.training import Coefficients, Measured, Mode, Training


def layered_time(training: Training, workers: int, servers: int) -> Fraction:
    """Return tau with the critical path at this point; without layers, or in the sequential model, tau of (9) or (10).

    Parameters
    ----------
    training : Training
    workers, servers : int
        w and p, at least 1.

    References
    ----------
    SMD, (4) and (5) with Lemma 1 and Lemma 2 (corrected) at the layer times of the point.
    """
    if isinstance(training, Coefficients) or training.layers is None or training.overlap is Overlap.SEQUENTIAL:
        return training.time(workers, servers)
    forward, backward, transfer = _scales(training, workers, servers)
    step = max(forward * path.forward + backward * path.backward + transfer * path.transfer for path in training.paths)
    each = step + training.beta1 * workers + training.beta2 * servers
    return training.iterations * each / (workers if training.mode is Mode.ASYNC else 1)


def layered_utility(instance: Instance, schedule: Schedule) -> float:
    """Return sum_i mu_i(tau_i) over the admitted jobs, each with the critical path at its point."""
    times = {
        name: layered_time(instance.job(name).training, job.workers, job.servers) for name, job in schedule.jobs.items()
    }
    return float(sum((instance.job(name).utility.exact(time) for name, time in times.items()), Fraction(0)))


def _scales(training: Measured, workers: int, servers: int) -> tuple[Fraction, Fraction, Fraction]:
    """Return what a second of measured forward, backward and transfer time takes at the point."""
    assert training.layers is not None
    whole = sequential(training.layers)
    samples = Fraction(training.global_batch or 0) / workers
    senders = Fraction(workers)
    if training.mode is Mode.ASYNC:
        samples, senders = Fraction(training.minibatch or 0), training.alpha * workers
    one_way = training.model_size * senders / (servers * training.bandwidth)
    return (
        samples * _per(training.step_forward, whole.forward),
        _per(training.step_backward, whole.backward),
        _per(one_way, whole.transfer / 2),
    )


def _per(total: Fraction, measured: Fraction) -> Fraction:
    return total / measured if measured else Fraction(0)
