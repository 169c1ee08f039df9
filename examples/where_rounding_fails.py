"""How likely does Algorithm 2 of the SMD paper leave a worker and a server? What is promised, and what is true.

One job, four resources, room for exactly one worker and one server: x~ = (1, 1). Theorem 5 promises success with
probability (1 - (delta/8)^F) after F rounds. Rounding M x~ keeps both counts positive with probability M^2 a round.
"""

import numpy as np
from rich.console import Console
from rich.table import Table

from dlsched.bounds.statistics import clopper_pearson
from dlsched.rounding import gain_packing, round_until_feasible, success_probability, width

RESOURCES = 4
DELTA = 0.5
SAMPLES = 2_000


def main() -> None:
    """Print the promised, the exact and the sampled probability by the number of rounds."""
    rows = [[1, 1]] * RESOURCES
    gain = gain_packing(width(rows, [2] * RESOURCES), RESOURCES, DELTA)
    scaled = [gain, gain]
    table = Table("F", "promised", "exact", "99 % interval of a sample", title=f"M = {gain:.4f}")
    for rounds in (1, 5, 20):
        exact = success_probability(scaled, lambda x: bool(x.min() >= 1), rounds)
        rng = np.random.default_rng(rounds)
        tries = (round_until_feasible(scaled, lambda x: bool(x.min() >= 1), rng, rounds=rounds) for _ in range(SAMPLES))
        interval = clopper_pearson(sum(found.x is not None for found in tries), SAMPLES)
        promised = 1 - (DELTA / 8) ** rounds
        table.add_row(
            str(rounds), f"{promised:.6f}", f"{float(exact):.4f}", f"{interval.low:.4f} to {interval.high:.4f}"
        )
    Console().print(table)


if __name__ == "__main__":
    main()
