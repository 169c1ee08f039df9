"""Rings on a network of your own: what the linear programs say, what rounding gives, and the certified optimum.

Three servers with two GPUs each around a switch; every link carries one ring each way. Two jobs would like rings of up
to three workers, each worker worth 1. Two rings of three would both need the links of some server, so one must do with
two workers.
"""

from fractions import Fraction

import networkx as nx
from rich.console import Console
from rich.table import Table

from dlsched.algorithms.exact.ddljs import embed
from dlsched.models.ddljs import RingProblem, RingRequest
from dlsched.relaxations import augmented_vne, plain_vne
from dlsched.rounding import MappingLaw, decompose, round_mappings

SERVERS = ["s1", "s2", "s3"]


def network() -> nx.DiGraph:
    """Return the substrate."""
    graph = nx.DiGraph()
    graph.add_nodes_from(SERVERS, capacity={"gpu": 2})
    for server in SERVERS:
        graph.add_edge(server, "switch", bandwidth=1)
        graph.add_edge("switch", server, bandwidth=1)
    return graph


def main() -> None:
    """Print the value of each step."""
    profit = {k: Fraction(k) for k in (1, 2, 3)}
    rings = [RingRequest(name, profit, {"gpu": Fraction(1)}, Fraction(1)) for name in ("a", "b")]
    problem = RingProblem.of(network(), rings)
    capped = augmented_vne(problem, cap=True)
    solution = capped.solve()
    mappings = decompose(capped.recover(solution.point))
    kept = round_mappings(problem, mappings, 0, rule="fitting")
    best = embed(problem)

    table = Table("step", "value")
    table.add_row("linear program (12)-(19)", f"{plain_vne(problem).solve().value:.4f}")
    table.add_row("augmented, at most what fits on a server", f"{solution.value:.4f}")
    table.add_row("certified optimum", f"{best.value:.4f}" if best.proved else "not proved")
    table.add_row("a draw, as far as it fits", f"{float(kept.profit):.4f}")
    table.add_row("probability that a whole draw fits", f"{float(MappingLaw(problem, mappings).accepted()):.4f}")
    Console().print(table)


if __name__ == "__main__":
    main()
