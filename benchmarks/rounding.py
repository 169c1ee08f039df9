"""Sampling of randomized rounding against the matrix product inside it, one run, phases apart.

10^5 draws of 400 variables against 400 packing rows by default. The base line is the product of a 0-1 matrix of the
draws' shape with the rows, in the precision that the sampler uses (single: the rows' sums are integers below 2^24).
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from pathlib import Path

import numpy as np

from dlsched.rounding import gain_packing, sample_violations, violation_probability, width


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=100_000)
    parser.add_argument("--variables", type=int, default=400)
    parser.add_argument("--rows", type=int, default=400)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    rng = np.random.default_rng(1)
    B = rng.integers(0, 4, size=(options.rows, options.variables))
    x = rng.uniform(0, 3, size=options.variables)
    b = np.ceil(B @ x)
    gain = gain_packing(width(B, b), options.rows, 0.5)
    up = (rng.random((options.draws, options.variables)) < 0.5).astype(np.float32)
    columns = np.ascontiguousarray(B.T, dtype=np.float32)
    sampled, product = [], []
    for k in range(options.repeat):
        start = time.perf_counter()
        found = sample_violations(B, b, x, np.random.default_rng(k), options.draws, gain)
        sampled.append(time.perf_counter() - start)
        start = time.perf_counter()
        up @ columns
        product.append(time.perf_counter() - start)
    start = time.perf_counter()
    exact = float(violation_probability(B[0].tolist(), (gain * x).tolist(), b[0].item()))
    result = {
        "draws": options.draws,
        "variables": options.variables,
        "rows": options.rows,
        "seconds sampling": statistics.median(sampled),
        "seconds product": statistics.median(product),
        "ratio": statistics.median(a / c for a, c in zip(sampled, product, strict=True)),
        "first row, sampled": float(found.rows[0]) / options.draws,
        "first row, exact": exact,
        "seconds exact": time.perf_counter() - start,
    }
    for name, value in result.items():
        print(f"{name:20} {value:.6g}")
    if options.out:
        options.out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
