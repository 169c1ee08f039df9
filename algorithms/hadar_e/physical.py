"""The physical clusters and the mixes of Section VI, and the speeds that (10) gives for them.

The paper prints which GPUs the nodes have, which models a mix has, and how large their data sets are (Table III). It
prints no throughput of T4, Titan RTX, T400, RTX 3090, A2000 or of the weather model, none of the constants of (10),
and not how long the jobs are. All that is left open is in `Constants`, which are drawn: what is measured with them is
a matter of the range that they are drawn from, and no finding about the paper's own runs.

As (10) is a product of one factor for the node and one for the job, a node is faster than another by the same factor
for every job. Which job gets which node matters then by the jobs' lengths alone.
"""

from __future__ import annotations

import math
from fractions import Fraction
from types import MappingProxyType
from typing import Literal, NamedTuple, Self, TypeAlias, get_args

import numpy as np
from pydantic import model_validator

from dlsched.algorithms.hadar_e.estimate import Index, pmi, throughput
from dlsched.arguments import checked, generator, named, positive
from dlsched.models.document import Document, Record
from dlsched.models.hadar import Instance, Job, Machine
from dlsched.models.hadar.workloads import TABLE_III
from dlsched.models.numbers import Positive, rational
from dlsched.models.utility import Hyperbolic

Size: TypeAlias = Literal["S", "M", "L", "XL"]
"""A class of models or of data sets."""


class Gpu(NamedTuple):
    """A GPU, as its data sheet describes it.

    Attributes
    ----------
    tflops : Fraction
        Of mixed precision on the tensor cores, without sparsity; of single precision where there are no such cores.
    vram : int
        Gigabytes.
    pcie : int
        Version.
    """

    tflops: Fraction
    vram: int
    pcie: int


GPUS = MappingProxyType(
    {
        "V100": Gpu(Fraction(125), 16, 3),
        "K80": Gpu(Fraction("4.365"), 12, 3),
        "T4": Gpu(Fraction(65), 16, 3),
        "Titan RTX": Gpu(Fraction(130), 24, 3),
        "T400": Gpu(Fraction("1.094"), 4, 3),
        "RTX 3090": Gpu(Fraction(71), 24, 4),
        "RTX A2000": Gpu(Fraction("31.95"), 6, 4),
    }
)
"""From NVIDIA's data sheets: Tesla V100 (SXM2, of p3.2xlarge), Tesla K80 (half a board, as p2.xlarge has it: the sheet
has 8.73 TFLOPS with boost and 24 GB for both halves), T4, Titan RTX, T400 4GB, the white paper on GA102 (RTX 3090:
FP16 with sums in FP32) and RTX A2000 (half of the sheet's 63.9, which counts sparsity)."""

CLUSTERS = MappingProxyType(
    {"aws": ("V100", "K80", "K80", "T4", "T4"), "lab": ("Titan RTX", "T4", "T400", "RTX 3090", "RTX A2000")}
)
"""The GPU of each of the five nodes (Section VI-A). Three nodes of the lab have PCIe 3.0 and two 4.0 (Section VI-D),
which is what the data sheets have of their GPUs; the print does not say which three."""

MIXES = MappingProxyType(
    {
        "M-1": ("MM",),
        "M-3": ("LT", "MM", "MM"),
        "M-4": ("IC", "LM", "LT", "MM"),
        "M-5": ("IC", "LM", "LT", "RS", "MM"),
        **{f"M-{4 + n}": ("IC", "LM", "LT", "RS", *("MM",) * n) for n in (4, 6, 8)},
    }
)
"""Models by mix (Section VI-B)."""

_PCIE = 3
"""The version whose pcie_scaling is 1."""

REFERENCE = "V100"
"""The GPU on which jobs take the seconds of `Constants`, and whose PMI counts as 1: (10) has no unit, and so a V100
does batch/(model_weight * dataset_size) iterations a second, .3 to 128 with what is drawn. Arbitrary: the fastest of
AWS. (Gavel's authors measured 1.6 to 109 on theirs.)"""

_DIGITS = 6
"""Of a rate, behind the point. Arbitrary: roots in (10) are irrational, and times in a run are quotients by rates."""

_ROOM = 4
"""Slots of an instance, in terms of those that all jobs take one after another on `REFERENCE`. Arbitrary: enough for
Hadar and Gavel, so that only the printed division of HadarE is ever cut off."""


class JobConstants(Record):
    """What is left open of the jobs of a model.

    Attributes
    ----------
    weight : str
        Class of the model; that of its data set is printed.
    batch : Fraction
        Samples of a mini-batch.
    seconds : Fraction
        How long it trains on `REFERENCE`.
    """

    weight: Size
    batch: Positive
    seconds: Positive


class Constants(Document):
    """What Section VI leaves open.

    Attributes
    ----------
    index : Index
        How PMI is read.
    scale : dict of str to Fraction
        What the classes stand for in (10), of models and of data sets.
    jobs : dict of str to JobConstants
        By the letters of Table III.
    pcie : Fraction
        pcie_scaling of PCIe 4.0, where that of 3.0 is 1.

    Examples
    --------
    >>> from dlsched.algorithms import hadar_e
    >>> hadar_e.constants(0).save("constants.json")
    >>> instance = hadar_e.physical(hadar_e.Constants.load("constants.json"), "lab", "M-4")
    >>> [job.name for job in instance.jobs]
    ['IC1', 'LM2', 'LT3', 'MM4']
    """

    index: Index
    scale: dict[str, Positive]
    jobs: dict[str, JobConstants]
    pcie: Positive

    @model_validator(mode="after")
    def _complete(self) -> Self:
        for field, needed in (("scale", get_args(Size)), ("jobs", tuple(TABLE_III))):
            if set(getattr(self, field)) != set(needed):
                raise ValueError(f"{field}: needs {', '.join(needed)}, no more and no fewer")
        return self


@checked
def constants(rng: np.random.Generator | int) -> Constants:
    """Draw what the paper leaves open.

    Each of the two readings of PMI is as probable; the classes S, M, L, XL are 1, 1 + d, 1 + 2 d, 1 + 3 d with d of
    1/2, 1 or 2; a model is of any class; batches are of 16, 32, 64 or 128; PCIe 4.0 counts 1 to 2 times as much as 3.0,
    the ratio of their rates, in tenths; and models train for 10 to 50 minutes on a V100, in seconds. These lengths are
    of the order of the job completion times that are printed (M-5 under Hadar on AWS: 1210 to 2918 s).

    Parameters
    ----------
    rng : numpy.random.Generator or int
        A generator, or a seed.

    Examples
    --------
    >>> from dlsched.algorithms import hadar_e
    >>> drawn = hadar_e.constants(0)
    >>> drawn.index.value, {size: str(number) for size, number in drawn.scale.items()}
    ('sqrt(tflops/vram)', {'S': '1', 'M': '3', 'L': '5', 'XL': '7'})
    >>> hadar_e.constants(0) == drawn
    True
    """
    rng = generator(rng)
    sizes: tuple[Size, ...] = get_args(Size)
    step = (Fraction(1, 2), Fraction(1), Fraction(2))[int(rng.integers(3))]
    return Constants(
        index=tuple(Index)[int(rng.integers(2))],
        scale={size: 1 + k * step for k, size in enumerate(sizes)},
        jobs={
            model: JobConstants(
                weight=sizes[int(rng.integers(len(sizes)))],
                batch=Fraction(16 << int(rng.integers(4))),
                seconds=Fraction(int(rng.integers(600, 3001))),
            )
            for model in TABLE_III
        },
        pcie=Fraction(int(rng.integers(10, 21)), 10),
    )


@checked
def physical(
    constants: Constants, cluster: str, mix: str, *, slot_seconds: float | Fraction = Fraction(360)
) -> Instance:
    """Return a mix on a cluster: its jobs are there from the beginning, each on one GPU, rated by (10).

    Parameters
    ----------
    constants : Constants
    cluster : {"aws", "lab"}
    mix : str
        Of `MIXES`.
    slot_seconds : number
        360 by default, which is Section IV's; Section VI prints none for its Figs. 8 to 10.

    Examples
    --------
    >>> from dlsched.algorithms import hadar_e
    >>> instance = hadar_e.physical(hadar_e.constants(0), "aws", "M-3")
    >>> [job.name for job in instance.jobs]
    ['LT1', 'MM2', 'MM3']
    >>> [sorted(machine.devices) for machine in instance.machines]
    [['V100'], ['K80'], ['K80'], ['T4'], ['T4']]
    """
    positive(slot_seconds=slot_seconds)
    nodes, models = named("cluster", cluster, CLUSTERS), named("mix", mix, MIXES)
    types = tuple(dict.fromkeys(nodes))
    rates = {model: {gpu: rate(constants, model, gpu) for gpu in types} for model in dict.fromkeys(models)}
    whole = sum(constants.jobs[model].seconds for model in models)
    return Instance(
        slots=math.ceil(_ROOM * whole / rational(slot_seconds)),
        slot_seconds=rational(slot_seconds),
        device_types=types,
        machines=tuple(Machine(name=f"node{h}", devices={gpu: 1}) for h, gpu in enumerate(nodes, 1)),
        jobs=tuple(_job(constants, f"{model}{j}", model, rates[model]) for j, model in enumerate(models, 1)),
        origin={
            "rate": f"(10), PMI = {constants.index}, with constants that the paper does not print: drawn",
            "iterations": f"drawn: the paper prints no lengths; {REFERENCE} takes 10 to 50 minutes",
            "utility": "effective throughput: iterations over the completion time",
        },
    )


@checked
def rate(constants: Constants, model: str, gpu: str) -> Fraction:
    """Return (10) for a model on a GPU, in iterations per second."""
    job = constants.jobs[model]
    estimate = throughput(
        _index(gpu, constants.index) / _index(REFERENCE, constants.index),
        job.batch,
        constants.pcie if GPUS[gpu].pcie > _PCIE else 1,
        job.weight,
        TABLE_III[model].size,
        model_weights=constants.scale,
        dataset_sizes=constants.scale,
    )
    return round(estimate, _DIGITS)


def _index(gpu: str, reading: Index) -> Fraction:
    return pmi(GPUS[gpu].tflops, GPUS[gpu].vram, reading)


def _job(constants: Constants, name: str, model: str, rates: dict[str, Fraction]) -> Job:
    iterations = Fraction(math.ceil(rate(constants, model, REFERENCE) * constants.jobs[model].seconds))
    return Job(name=name, arrival=1, gang=1, iterations=iterations, rate=rates, utility=Hyperbolic(scale=iterations))
