"""From the mappings of a draw to embeddings that fit together."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from dlsched.algorithms.rings import Need, Occupancy, embedded, join
from dlsched.models.ddljs import Embedding, RingMapping, embedding
from dlsched.rounding.decomposition import WeightedMapping
from dlsched.rounding.mapping_table import LinkRow, MappingTable, Row


def settled(chosen: Mapping[str, WeightedMapping], occupancy: Occupancy) -> dict[str, Embedding]:
    """Return the embeddings of the jobs that fit, each what those before it leave.

    A ring visits each server once; if there is no bandwidth for it, a ring along other paths is looked for.

    Parameters
    ----------
    chosen : mapping of str to WeightedMapping
        In the order in which jobs are taken.
    occupancy : Occupancy
        What is left; what the embeddings use is taken from it.
    """
    kept = {}
    for name, one in chosen.items():
        need = occupancy.substrate.needs[name]
        ring = _fitting(one.mapping, occupancy, need)
        if ring is not None:
            occupancy.take(need, ring)
            kept[name] = ring
    return kept


def overloads(table: MappingTable, loads: Mapping[Row, Fraction]) -> dict[tuple[str, str], float]:
    """Return load over capacity of the nodes (with the resource) and arcs that hold more than they have."""
    found = {}
    for row, load in loads.items():
        capacity = table.capacity[row]
        if load > capacity:
            place = row.arcs[0] if isinstance(row, LinkRow) else (row.node, row.resource)
            found[place] = float(load / capacity) if capacity else float("inf")
    return found


def _fitting(mapping: RingMapping, occupancy: Occupancy, need: Need) -> Embedding | None:
    ordered = need.request.allowed is not None
    ring = embedding(mapping, ordered=ordered)
    if occupancy.fits(need, ring):
        return ring
    bare = Embedding(workers=ring.workers)
    if ordered or len(ring.workers) < 2 or not occupancy.fits(need, bare):
        return None
    number = occupancy.substrate.number
    counts = {number[node]: n for node, n in ring.workers.items()}
    paths = join(occupancy, need, [*counts])
    return None if paths is None else embedded(occupancy, counts, paths)
