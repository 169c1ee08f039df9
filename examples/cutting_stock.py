"""Column generation on a problem of your own: cutting stock, with the names that `dlsched.relaxations` exports.

Rolls 100 inches wide are cut into ordered widths; as few rolls as possible (Gilmore and Gomory 1961; the numbers are
Chvatal's). A column is a cutting pattern. `generate_columns` maximises over shares: with at most N rolls, x_k is the
share of the N rolls that pattern k cuts, so the shares add up to at most 1, the pattern costs N and yields N a_k.
"""

from math import ceil

import numpy as np
import pyomo.environ as pyo

from dlsched.models import solve
from dlsched.relaxations import Column, Master, Priced, generate_columns

WIDTH = 100
ORDERS = {45: 97, 36: 610, 31: 395, 14: 211}
WIDTHS, DEMAND = list(ORDERS), np.array(list(ORDERS.values()), dtype=float)
N = int(sum(ceil(pieces / (WIDTH // width)) for width, pieces in ORDERS.items()))


def column(pattern: tuple[int, ...]) -> Column:
    """Return the pattern as a column: what it costs and yields if all N rolls are cut so; costs count negative."""
    return Column(block=0, key=pattern, value=-N, rows=-N * np.array(pattern, dtype=float), data=pattern)


def best_pattern(prices: np.ndarray) -> tuple[float, tuple[int, ...]]:
    """Return the pattern that is worth most where a piece has a price: a knapsack, by dynamic programming."""
    worth, patterns = [0.0] * (WIDTH + 1), [(0,) * len(WIDTHS)] * (WIDTH + 1)
    for room in range(1, WIDTH + 1):
        worth[room], patterns[room] = worth[room - 1], patterns[room - 1]
        for i, width in enumerate(WIDTHS):
            if width <= room and worth[room - width] + prices[i] > worth[room]:
                rest = patterns[room - width]
                worth[room] = worth[room - width] + prices[i]
                patterns[room] = (*rest[:i], rest[i] + 1, *rest[i + 1 :])
    return worth[WIDTH], patterns[WIDTH]


def price(prices: np.ndarray) -> Priced:
    """Return what the best column earns beyond the prices of its pieces, and the column."""
    worth, pattern = best_pattern(prices)
    return Priced(best=np.array([N * (worth - 1)]), columns=[column(pattern)])


def main() -> None:
    """Print the bound, the patterns of the linear program, and the best plan with the patterns found."""
    # Rows read "yield at least the demand" negated: sum over k of -N a_k x_k <= -demand. One block, the N rolls.
    master = Master(-DEMAND, blocks=1, penalty=10.0 * N)
    master.add([column(tuple(int(WIDTH // w) if w == width else 0 for w in WIDTHS)) for width in WIDTHS])
    found = generate_columns(master, price)
    print(f"linear program     {-found.value:.2f} rolls, bound {-found.bound:.2f}, {found.rounds} pricing calls")
    for pattern, share in found.recover():
        print(f"  {N * share:7.2f} rolls of", {w: n for w, n in zip(WIDTHS, pattern, strict=True) if n})

    patterns = [column.data for column in found.columns]
    m = pyo.ConcreteModel(name="cutting stock")
    m.cut = pyo.Var(range(len(patterns)), domain=pyo.NonNegativeIntegers)
    m.demand = pyo.Constraint(
        range(len(WIDTHS)), rule=lambda m, i: sum(p[i] * m.cut[k] for k, p in enumerate(patterns)) >= DEMAND[i]
    )
    m.rolls = pyo.Objective(expr=sum(m.cut.values()))
    print(f"whole rolls        {solve(m).objective:.0f}, and no fewer than {ceil(-found.bound - 1e-6)}")


if __name__ == "__main__":
    main()
