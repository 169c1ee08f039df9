"""Claims of GADGET (Yu, Tian, Ji, Wu, Rajan, Liu), and the instances they are checked on."""

from dlsched.bounds.gadget import evaluation, load, lottery, modelling, progress, relaxed, rounds, temporal

CLAIMS = (
    *temporal.CLAIMS,
    *modelling.CLAIMS,
    *progress.CLAIMS,
    *relaxed.CLAIMS,
    *lottery.CLAIMS,
    *load.CLAIMS,
    *rounds.CLAIMS,
    *evaluation.CLAIMS,
)
"""Every claim of the paper."""
