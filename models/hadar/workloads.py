"""The training jobs of the paper's evaluations: which model on which data set, and how large (Tables II and III)."""

from __future__ import annotations

from fractions import Fraction
from types import MappingProxyType
from typing import NamedTuple


class Workload(NamedTuple):
    """A row of the tables.

    Attributes
    ----------
    task, model, dataset : str
    size : str
        S, M, L or XL.
    """

    task: str
    model: str
    dataset: str
    size: str


_RESNET_18 = Workload("Image Classification", "ResNet-18", "CIFAR-10", "S")
_LSTM = Workload("Language Modeling", "LSTM", "Wikitext-2", "L")
_TRANSFORMER = Workload("Language Translation", "Transformer", "Multi30K (de-en)", "L")

TABLE_II = (
    Workload("Image Classification", "ResNet-50", "ImageNet", "XL"),
    _RESNET_18,
    _LSTM,
    Workload("Image-to-Image Translation", "CycleGAN", "Monet2photo", "M"),
    _TRANSFORMER,
)
"""Of the trace-driven evaluation (Section IV)."""

TABLE_III = MappingProxyType(
    {
        "IC": _RESNET_18,
        "LM": _LSTM,
        "LT": _TRANSFORMER,
        "RS": Workload("Recommendation System", "Recoder", "ML-20M", "XL"),
        "MM": Workload("MiMa Weather Predictions", "Encoder-Decoder Transformer", "Mesonet and WRF-HRRR", "M"),
    }
)
"""Of the physical clusters (Section VI), by the letters of its mixes. Recoder is printed Recorder."""

GPU_HOURS = MappingProxyType(
    {
        "S": (Fraction(0), Fraction(1)),
        "M": (Fraction(1), Fraction(10)),
        "L": (Fraction(10), Fraction(50)),
        "XL": (Fraction(60), Fraction(100)),
    }
)
"""Total GPU time of the jobs of a size, least and greatest (Section IV-A)."""
