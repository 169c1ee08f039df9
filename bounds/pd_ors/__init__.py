"""Claims of PD-ORS (Yu, Liu, Wu, Ji, Bentley) and of the thesis, and the instances they are checked on."""

from dlsched.bounds.pd_ors import (
    competitive,
    duality,
    evaluation,
    families,
    increments,
    lemmas,
    modelling,
    prices,
    sources,
    theorems,
    thesis,
    workload,
)

CLAIMS = (
    *lemmas.LEMMAS,
    *theorems.THEOREMS,
    *thesis.THESIS,
    *modelling.CLAIMS,
    *prices.CLAIMS,
    *workload.CLAIMS,
    *competitive.CLAIMS,
    *duality.CLAIMS,
    *increments.CLAIMS,
    *evaluation.CLAIMS,
)
"""Every claim of the two papers."""

SOURCES = {**sources.SOURCES, **families.FAMILIES, **increments.SOURCES}
"""Every family of instances by its name."""
