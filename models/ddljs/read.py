"""From solved models of this problem to embeddings and schedules."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

from dlsched.arguments import expect_model
from dlsched.models.ddljs.rings import Arc, Embedding, Path, RingMapping, embedding, embedding_of
from dlsched.models.ddljs.schedule import Schedule
from dlsched.models.document import InputError


def schedule_from(model: Any) -> Schedule:
    """Return the schedule that a solved model says, its values rounded to whole numbers.

    Parameters
    ----------
    model : pyomo.environ.ConcreteModel
        Of any formulation of DDLJS with values loaded; one of a single slot gives a schedule of that slot.

    Raises
    ------
    TypeError
        If it is no Pyomo model.
    ValueError
        If it is of no formulation of DDLJS or has no values, or its point is not a ring for some job, as the printed
        formulations allow.
    """
    expect_model(model)
    found: dict[str, dict[int, Embedding]] = defaultdict(dict)
    if model.component("place") is not None:
        for name, mapping in mappings_from(model).items():
            found[name][model.slot] = embedding(mapping, ordered=name in model.ordered)
        return Schedule.of(found)
    _expect_values(model, "workers", "is of no formulation of ddljs")
    placed: dict[tuple[str, int], dict[str, int]] = defaultdict(dict)
    for i, t, s in model.placed:
        n = round(model.workers[i, t, s].value or 0)
        if n:
            placed[i, t][s] = n
    uses = _flows(model) if model.component("flow") is not None else _paths(model)
    for (i, t), workers in placed.items():
        found[i][t] = embedding_of(workers, uses[i, t])
    return Schedule.of(found)


def embeddings_from(model: Any) -> dict[str, Embedding]:
    """Return the embedding of each job that gets workers in a solved model of one slot; see `schedule_from`."""
    return {name: next(iter(job.slots.values())) for name, job in schedule_from(model).jobs.items()}


def mappings_from(model: Any) -> dict[str, RingMapping]:
    """Return where a solved G-VNE model maps each embedded ring; flow that circulates beside the paths is left out."""
    expect_model(model)
    _expect_values(model, "place", "is not of ddljs/gvne")
    chosen = {i: k for i, k in model.rings if _on(model.size[i, k])}
    nodes: dict[str, dict[int, str]] = {i: {} for i in chosen}
    for i, k, a, u in model.places:
        if chosen.get(i) == k and _on(model.place[i, k, a, u]):
            nodes[i][a] = u
    arcs: dict[tuple[str, int], list[Arc]] = defaultdict(list)
    for i, k, a, u, v in model.hops:
        if chosen.get(i) == k and _on(model.route[i, k, a, u, v]):
            arcs[i, a].append((u, v))
    result = {}
    for i, k in chosen.items():
        at = tuple(nodes[i][a] for a in range(k))
        ends = zip(range(k), at, (*at[1:], at[0]), strict=True)
        result[i] = RingMapping(at, () if k == 1 else tuple(_path(arcs[i, a], u, v) for a, u, v in ends))
    return result


def _expect_values(model: Any, component: str, otherwise: str) -> None:
    variables = model.component(component)
    if variables is None:
        raise InputError(f"model: {model.name} {otherwise}")
    if variables and all(variable.value is None for variable in variables.values()):
        raise InputError(f"model: {model.name} has no values: solve it first")


def _on(variable: Any) -> bool:
    return (variable.value or 0) > 0.5


def _path(arcs: list[Arc], start: str, end: str) -> Path:
    import networkx as nx

    graph = nx.DiGraph(arcs)
    graph.add_node(start)
    return tuple(nx.shortest_path(graph, start, end))


def _flows(model: Any) -> dict[tuple[str, int], Counter[Arc]]:
    uses: dict[tuple[str, int], Counter[Arc]] = defaultdict(Counter)
    for i, t, u, v in model.hops:
        uses[i, t][u, v] = round(model.flow[i, t, u, v].value or 0)
    return uses


def _paths(model: Any) -> dict[tuple[str, int], Counter[Arc]]:
    uses: dict[tuple[str, int], Counter[Arc]] = defaultdict(Counter)
    for i, t, p in model.routes:
        if _on(model.route[i, t, p]):
            uses[i, t].update(zip(model.paths[p], model.paths[p][1:], strict=False))
    return uses
