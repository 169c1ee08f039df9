"""From solved models of this problem to embeddings and schedules."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dlsched.arguments import expect_model
from dlsched.errors import InputError
from dlsched.models.ddljs.instance import Instance
from dlsched.models.ddljs.rings import Arc, Embedding, Path, RingMapping, arcs_of, embedding, embedding_of
from dlsched.models.ddljs.schedule import Schedule, check
from dlsched.models.formulation import UnreadableModel, accepted
from dlsched.models.parameters import exact

JobSlot = tuple[str, int]


@dataclass(frozen=True, slots=True)
class SlotRings:
    """Workers and rings of one slot, and what they are worth.

    Attributes
    ----------
    slot : int
    embeddings : mapping of str to Embedding
        By job, those that get workers.
    worth : Fraction
        What the model's objective says: of `ddljs/slot` and `ddljs/slot-printed` the utility (10) of the active jobs
        after the slot, else what the rings add to the utility so far (12).

    Examples
    --------
    >>> from dlsched.models import build, ddljs, read, solve
    >>> instance = ddljs.random(0)
    >>> model = build("ddljs/slot-circulation", instance, slot=2)
    >>> _ = solve(model)
    >>> found = read(model, instance)
    >>> found.slot, float(found.worth), {job: dict(ring.workers) for job, ring in found.embeddings.items()}
    (2, 11.0, {'job1': {'server1': 1}})
    """

    slot: int
    embeddings: Mapping[str, Embedding]
    worth: Fraction

    @property
    def schedule(self) -> Schedule:
        """The schedule in which nothing runs in any other slot."""
        return Schedule.of({name: {self.slot: found} for name, found in self.embeddings.items()})


def read(model: Any, instance: Instance) -> Schedule:
    """Return the schedule of a solved model of all slots.

    Raises
    ------
    UnreadableModel
        If it breaks a rule by less than the solver's tolerance.
    """
    found = _schedule(model)
    return accepted(found, check(instance, found))


def read_printed(model: Any, instance: Instance) -> Schedule:
    """Return the schedule of a solved `ddljs/offline-printed`; it is worth what the objective says.

    Where (8) stands as printed, rings may need more of a link than it has: then `check` says so. A server that is in
    use without a worker, as (5) lets it be, is one that a path passes.

    Raises
    ------
    UnreadableModel
        If the paths of a job are no ring, as (9) lets them be: several small cycles, or paths that meet head on.
    """
    try:
        return _schedule(model)
    except UnreadableModel as error:
        raise _broken(error) from None


def read_slot(model: Any, instance: Instance) -> SlotRings:
    """Return the workers and rings of a solved `ddljs/slot`; their `worth` is the utility (10) of the active jobs."""
    found = embeddings_from(model)
    worth = exact(model.utility)
    sizes = {i: found[i].size if i in found else 0 for i in model.I}
    return SlotRings(model.slot, found, sum((worth[ik] for ik in sizes.items()), Fraction(0)))


def read_slot_printed(model: Any, instance: Instance) -> SlotRings:
    """Return the workers and rings of a solved `ddljs/slot-printed`.

    Their `worth` is the utility (10) of the active jobs. What may be broken is as for `read_printed`.
    """
    try:
        return read_slot(model, instance)
    except UnreadableModel as error:
        raise _broken(error) from None


def read_gain(model: Any, instance: Instance) -> SlotRings:
    """Return the workers and rings of a solved model that says what rings add; their `worth` is that gain (12).

    As printed, ring sizes may break the budget (11): then `check` says so of their `schedule`.
    """
    found = embeddings_from(model)
    profit = exact(model.profit)
    gain = sum((profit[i, ring.size] for i, ring in found.items()), Fraction(0))
    return SlotRings(model.slot, found, gain)


def embeddings_from(model: Any) -> dict[str, Embedding]:
    """Return the embedding of each job that gets workers in a solved model of one slot, its values rounded.

    Parameters
    ----------
    model : pyomo.environ.ConcreteModel
        Of an instance, or of a `RingProblem` on any substrate.

    Raises
    ------
    TypeError
        If it is no Pyomo model.
    InputError
        If it is no model of one slot or has no values.
    UnreadableModel
        If its point is not a ring for some job, as the printed formulations allow.

    Examples
    --------
    >>> from dlsched.models import build, ddljs, solve
    >>> model = build("ddljs/slot-circulation", ddljs.random(0), slot=2)
    >>> _ = solve(model)
    >>> {job: dict(ring.workers) for job, ring in ddljs.embeddings_from(model).items()}
    {'job1': {'server1': 1}}
    """
    expect_model(model)
    if model.component("place") is not None:
        mappings = mappings_from(model)
        return {i: embedding(mapping, ordered=i in model.ordered) for i, mapping in mappings.items()}
    if not hasattr(model, "slot"):
        raise InputError(f"model: {model.name} is not of one slot of ddljs")
    _expect_values(model, "workers", "is not of one slot of ddljs")
    return {i: found for (i, _), found in _embeddings(model).items()}


def mappings_from(model: Any) -> dict[str, RingMapping]:
    """Return where a solved G-VNE model maps each embedded ring; flow that circulates beside the paths is left out.

    Examples
    --------
    >>> from dlsched.models import build, ddljs, solve
    >>> model = build("ddljs/gvne", ddljs.random(0), slot=2)
    >>> _ = solve(model)
    >>> {job: ring.nodes for job, ring in ddljs.mappings_from(model).items()}
    {'job1': ('server1',)}
    """
    expect_model(model)
    _expect_values(model, "place", "is not of ddljs/gvne")
    chosen = {i: k for i, k in model.rings if round(model.size[i, k].value)}
    nodes: dict[str, dict[int, str]] = {i: {} for i in chosen}
    for i, k, a, u in model.places:
        if chosen.get(i) == k and round(model.place[i, k, a, u].value):
            nodes[i][a] = u
    arcs: dict[tuple[str, int], list[Arc]] = defaultdict(list)
    for i, k, a, u, v in model.hops:
        if chosen.get(i) == k and round(model.route[i, k, a, u, v].value):
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
    if any(variable.value is None for variable in variables.values()):
        raise InputError(f"model: {model.name} has no values: solve it first")


def _path(arcs: list[Arc], start: str, end: str) -> Path:
    import networkx as nx

    graph = nx.DiGraph(arcs)
    graph.add_node(start)
    return tuple(nx.shortest_path(graph, start, end))


def _schedule(model: Any) -> Schedule:
    found: dict[str, dict[int, Embedding]] = defaultdict(dict)
    for (i, t), ring in _embeddings(model).items():
        found[i][t] = ring
    return Schedule.of(found)


def _embeddings(model: Any) -> dict[JobSlot, Embedding]:
    """Return the embedding of each job and slot with workers, of a model that counts workers by server."""
    placed: dict[JobSlot, dict[str, int]] = defaultdict(dict)
    for i, t, s in model.placed:
        n = round(model.workers[i, t, s].value)
        if n:
            placed[i, t][s] = n
    uses = _flows(model) if model.component("flow") is not None else _paths(model)
    found = {}
    for it, workers in placed.items():
        try:
            found[it] = embedding_of(workers, uses[it])
        except ValueError as error:
            raise UnreadableModel(f"job {it[0]}, slot {it[1]}: {error}") from None
    return found


def _broken(error: UnreadableModel) -> UnreadableModel:
    return UnreadableModel(f"{error}: (9) as printed lets the paths of a job be no ring")


def _flows(model: Any) -> dict[JobSlot, Counter[Arc]]:
    uses: dict[JobSlot, Counter[Arc]] = defaultdict(Counter)
    for i, t, u, v in model.hops:
        uses[i, t][u, v] = round(model.flow[i, t, u, v].value)
    return uses


def _paths(model: Any) -> dict[JobSlot, Counter[Arc]]:
    uses: dict[JobSlot, Counter[Arc]] = defaultdict(Counter)
    for i, t, p in model.routes:
        if round(model.route[i, t, p].value):
            uses[i, t].update(arcs_of(model.paths[p]))
    return uses
