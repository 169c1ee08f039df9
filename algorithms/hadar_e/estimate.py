"""How fast a job is thought to be on a node: first by (10), then by what nodes report (Section V-A)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from enum import StrEnum
from fractions import Fraction
from types import MappingProxyType

from dlsched.arguments import checked, named, positive
from dlsched.models.numbers import rational

SCALE: Mapping[str, Fraction] = MappingProxyType(
    {"S": Fraction(1), "M": Fraction(2), "L": Fraction(3), "XL": Fraction(4)}
)
"""The weight of a model, and the size of a data set, by class. Arbitrary: the paper names the classes, and prints no
number; only the ratios of weights matter, as (10) has no unit."""


class Index(StrEnum):
    """PMI, "the ratio of teraflops and VRAM capacity in a square root fashion", in both readings.

    Examples
    --------
    >>> from dlsched.algorithms import hadar_e
    >>> for reading in hadar_e.Index:
    ...     print(reading.value, hadar_e.pmi(tflops=16, vram=4, reading=reading))
    tflops/sqrt(vram) 8
    sqrt(tflops/vram) 2
    """

    ROOT_OF_MEMORY = "tflops/sqrt(vram)"
    ROOT_OF_RATIO = "sqrt(tflops/vram)"


@checked
def pmi(tflops: float | Fraction, vram: float | Fraction, reading: Index | str = Index.ROOT_OF_MEMORY) -> Fraction:
    """Return the Performance-Memory Index of a GPU.

    Parameters
    ----------
    tflops : number
        Tera floating-point operations per second.
    vram : number
        Gigabytes.
    reading : str
        Of `Index`.

    Returns
    -------
    Fraction
        Exact where the square root is; else the square root is that of floats, which IEEE 754 fixes to the last bit.

    Examples
    --------
    >>> from dlsched.algorithms import hadar_e
    >>> float(hadar_e.pmi(tflops=125, vram=16)), float(hadar_e.pmi(tflops=65, vram=16))
    (31.25, 16.25)
    """
    positive(tflops=tflops, vram=vram)
    speed, memory = rational(tflops), rational(vram)
    if Index(reading) is Index.ROOT_OF_RATIO:
        return _root(speed / memory)
    return speed / _root(memory)


def _root(value: Fraction) -> Fraction:
    p, q = math.isqrt(value.numerator), math.isqrt(value.denominator)
    if Fraction(p * p, q * q) == value:
        return Fraction(p, q)
    return rational(math.sqrt(value))


@checked
def throughput(
    pmi: float | Fraction,
    batch_size: float | Fraction,
    pcie_scaling: float | Fraction,
    model: str,
    dataset: str,
    *,
    model_weights: Mapping[str, Fraction] = SCALE,
    dataset_sizes: Mapping[str, Fraction] = SCALE,
) -> Fraction:
    """Return (10): PMI * batch_size * pcie_scaling / (model_weight * dataset_size), in no unit.

    Parameters
    ----------
    pmi, batch_size, pcie_scaling : number
        Of the GPU, of the job, and of the machine's version of PCIe.
    model, dataset : str
        Class of the model and of the data set: S, M, L or XL.
    model_weights, dataset_sizes : mapping of str to Fraction
        What the classes stand for.

    Raises
    ------
    InputError
        If a number is not positive, or a class is unknown.

    Examples
    --------
    >>> from dlsched.algorithms import hadar_e
    >>> index = hadar_e.pmi(tflops=16, vram=4)
    >>> print(hadar_e.throughput(index, batch_size=32, pcie_scaling=2, model="XL", dataset="L"))
    128/3
    """
    positive(pmi=pmi, batch_size=batch_size, pcie_scaling=pcie_scaling)
    weight = named("class", model, model_weights) * named("class", dataset, dataset_sizes)
    return rational(pmi) * rational(batch_size) * rational(pcie_scaling) / weight


class Throughputs:
    """Throughputs as they are known: estimated, until a round has observed them.

    An estimate by (10) has no unit and an observed rate has one. A pair that was not observed is taken at its estimate
    times what the observed pairs of the same job, or else of all jobs, came to in terms of theirs. This step is ours.

    Parameters
    ----------
    estimates : mapping of str to mapping of str to Fraction
        By job and node.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from dlsched.algorithms.hadar_e import Throughputs
    >>> known = Throughputs({"A": {"n1": Fraction(10), "n2": Fraction(20)}})
    >>> known.observe("A", "n1", Fraction(5))
    >>> {node: float(rate) for node, rate in known.of("A").items()}
    {'n1': 5.0, 'n2': 10.0}
    """

    def __init__(self, estimates: Mapping[str, Mapping[str, Fraction]]) -> None:
        self._estimates = estimates
        self._observed: dict[str, dict[str, Fraction]] = {job: {} for job in estimates}

    def observe(self, job: str, node: str, rate: Fraction) -> None:
        """Take note of the steps per second that a copy did."""
        self._observed[job][node] = rate

    def of(self, job: str) -> dict[str, Fraction]:
        """Return the throughputs of a job by node."""
        seen = self._observed[job]
        unit = self._unit([job] if seen else list(self._observed))
        return {node: seen.get(node, estimate * unit) for node, estimate in self._estimates[job].items()}

    def _unit(self, jobs: list[str]) -> Fraction:
        pairs = [(rate, self._estimates[job][node]) for job in jobs for node, rate in self._observed[job].items()]
        estimated = sum((estimate for _, estimate in pairs), Fraction(0))
        return sum((rate for rate, _ in pairs), Fraction(0)) / estimated if pairs else Fraction(1)
