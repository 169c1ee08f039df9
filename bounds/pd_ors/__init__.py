"""Claims of PD-ORS (Yu, Liu, Wu, Ji, Bentley) and of the thesis, and the instances they are checked on."""

from dlsched.bounds.pd_ors import (
    competitive,
    evaluation,
    increments,
    lemmas,
    low,
    modelling,
    prices,
    remark,
    rewriting,
    size,
    theorem_5,
    theorems,
    workload,
)

CLAIMS = (
    *lemmas.CLAIMS,
    *theorems.CLAIMS,
    *theorem_5.CLAIMS,
    *low.CLAIMS,
    *remark.CLAIMS,
    *rewriting.CLAIMS,
    *size.CLAIMS,
    *modelling.CLAIMS,
    *prices.CLAIMS,
    *workload.CLAIMS,
    *competitive.CLAIMS,
    *increments.CLAIMS,
    *evaluation.CLAIMS,
)
"""Every claim of the two papers."""
