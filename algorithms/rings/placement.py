"""Where the workers of one job go in a slot: on as few servers as will do, where a cycle can be attained.

The paper places for its baselines by a "simple heuristic that greedily allocates workers to servers where a cycle can
be attained" (GADGET, Section VI). Here: one server if one has room, that with the least room to spare. Otherwise, from
each server in turn, most room first, as few others as its own room leaves to be found; the ring visits the nearest
server next and goes by shortest paths with bandwidth left. The set with the fewest servers that can be joined is taken.

What a slot has left goes to jobs (`fill`), as long as it is worth something, then to jobs for which it will be.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence

from dlsched.algorithms.rings.occupancy import Need, Occupancy
from dlsched.arguments import checked
from dlsched.halt import poll, polled
from dlsched.models.ddljs import Embedding, RingProblem
from dlsched.tolerances import ROUNDING

_SETS = 12
"""The most sets of servers that a ring is looked for on. Arbitrary: who places rings asks thousands of times."""

Paths = tuple[tuple[int, ...], ...]


@checked
def place(occupancy: Occupancy, need: Need, workers: int) -> Embedding | None:
    """Return an embedding of that many workers that fits what is left, or None where none is found.

    Nothing is taken from `occupancy`. A job with placement is embedded worker by worker: each stays on the server of
    the one before it if it may, else goes to the nearest that it may use.

    Parameters
    ----------
    occupancy : Occupancy
    need : Need
    workers : int
        At least 1, at most the request's largest ring.
    """
    poll()
    rooms = occupancy.rooms(need)
    if sum(rooms) < workers:
        return None
    if need.request.allowed is not None:
        return _in_order(occupancy, need, workers, rooms)
    alone = min((u for u, room in enumerate(rooms) if room >= workers), key=rooms.__getitem__, default=None)
    if alone is not None:
        return Embedding(workers={occupancy.substrate.names[alone]: workers})
    return _spread(occupancy, need, workers, rooms)


@checked
def join(occupancy: Occupancy, need: Need, servers: Sequence[int]) -> Paths | None:
    """Return the paths of a ring through servers, from the first, each time to the nearest left; None if it gets stuck.

    Parameters
    ----------
    occupancy : Occupancy
    need : Need
    servers : sequence of int
        Numbers of different nodes; no ring is needed for one.
    """
    if len(servers) < 2:
        return ()
    start, waiting, paths = servers[0], set(servers[1:]), []
    reserved: Counter[int] = Counter()
    here = start
    while waiting or here != start:
        path = occupancy.path(here, waiting or {start}, need.hop, reserved)
        if path is None:
            return None
        paths.append(path)
        _reserve(occupancy, path, reserved)
        here = path[-1]
        waiting.discard(here)
    return tuple(paths)


@checked
def embedded(occupancy: Occupancy, counts: dict[int, int], paths: Paths) -> Embedding:
    """Return the embedding of workers by node number and a ring of node numbers."""
    names = occupancy.substrate.names
    return Embedding(
        workers={names[u]: n for u, n in counts.items()},
        ring=tuple(tuple(names[u] for u in path) for path in paths),
    )


def _spread(occupancy: Occupancy, need: Need, workers: int, rooms: Sequence[int]) -> Embedding | None:
    """Return an embedding on several servers, or None."""
    seeds = [u for u, room in enumerate(rooms) if room and occupancy.leaves(u, need.hop)]
    seeds.sort(key=lambda u: -rooms[u])
    fewest = _fewest([rooms[u] for u in seeds], workers)
    later: list[dict[int, int]] = []
    seen: set[frozenset[int]] = set()
    tries = 0
    for seed in polled(seeds):
        counts = _around(occupancy, need, workers, rooms, seeds, seed)
        if counts is None or frozenset(counts) in seen:
            continue
        seen.add(frozenset(counts))
        if len(counts) > fewest:
            later.append(counts)
            continue
        paths = join(occupancy, need, [*counts])
        if paths is not None:
            return embedded(occupancy, counts, paths)
        tries += 1
        if tries == _SETS:
            return None
    for counts in sorted(later, key=len)[: _SETS - tries]:
        paths = join(occupancy, need, [*counts])
        if paths is not None:
            return embedded(occupancy, counts, paths)
    return None


def _around(
    occupancy: Occupancy, need: Need, workers: int, rooms: Sequence[int], usable: Sequence[int], seed: int
) -> dict[int, int] | None:
    """Return workers by server: all that the seed has room for, then the largest rooms, in the end the nearest that do.

    None where the servers that the seed reaches have too little room.
    """
    far = occupancy.distances(seed, need.hop)
    counts = {seed: min(rooms[seed], workers)}
    left = workers - counts[seed]
    others = sorted((u for u in usable if u != seed and u in far), key=lambda u: (-rooms[u], far[u]))
    while left and others:
        enough = [u for u in others if rooms[u] >= left]
        chosen = min(enough, key=lambda u: (far[u], rooms[u])) if enough else others[0]
        others.remove(chosen)
        counts[chosen] = min(rooms[chosen], left)
        left -= counts[chosen]
    return None if left else counts


def _fewest(rooms: Sequence[int], workers: int) -> int:
    """Return how many of the largest rooms, descending, hold the workers."""
    for count, room in enumerate(rooms, 1):
        workers -= room
        if workers <= 0:
            return count
    return len(rooms) + 1


def _in_order(occupancy: Occupancy, need: Need, workers: int, rooms: Sequence[int]) -> Embedding | None:
    """Return an embedding that puts each worker where it may be; of several starts, that on the fewest servers."""
    number, names = occupancy.substrate.number, occupancy.substrate.names
    allowed = [{number[u] for u in nodes if rooms[number[u]]} for nodes in (need.request.allowed or ())[:workers]]
    found: list[Embedding] = []
    for start in polled(sorted(allowed[0])):
        order, paths = [start], []
        reserved: Counter[int] = Counter()
        taken = Counter(order)
        for nodes in (*allowed[1:], {start}):
            last = len(order) == workers
            open_ = nodes if last else {u for u in nodes if taken[u] < rooms[u]}
            path = (order[-1],) if order[-1] in open_ else occupancy.path(order[-1], open_, need.hop, reserved)
            if path is None:
                break
            _reserve(occupancy, path, reserved)
            paths.append(path)
            if not last:
                order.append(path[-1])
                taken[path[-1]] += 1
        else:
            embedding = embedded(occupancy, dict(taken), tuple(path for path in paths if len(path) > 1))
            found.append(embedding.model_copy(update={"order": tuple(names[u] for u in order)}))
    return min(found, key=lambda each: len(each.workers), default=None)


def _reserve(occupancy: Occupancy, path: Sequence[int], reserved: Counter[int]) -> None:
    for u, v in itertools.pairwise(path):
        reserved[occupancy.share(u, v)] += 1


@checked
def fill(problem: RingProblem, occupancy: Occupancy, held: dict[str, Embedding]) -> tuple[str, ...]:
    """Give jobs workers, or more of them, by descending profit a worker; return which jobs.

    Every step raises the profit. A job that has workers and would have more is embedded anew.

    Parameters
    ----------
    problem : RingProblem
    occupancy : Occupancy
        What is left; is changed.
    held : dict of str to Embedding
        What the jobs have; is changed.
    """
    offers = [(profit / k, name, k) for name, k, profit in _gains(problem) if profit > 0]
    offers.sort(key=lambda offer: (-offer[0], -offer[2]))
    worth = {name: float(occupancy.substrate.needs[name].request.profit[ring.size]) for name, ring in held.items()}
    filled: dict[str, None] = {}
    for density, name, k in offers:
        if density * k > worth.get(name, 0.0) * (1 + ROUNDING) and _exchanged(occupancy, held, name, k):
            worth[name] = density * k
            filled[name] = None
    return tuple(filled)


@checked
def placed(problem: RingProblem, occupancy: Occupancy, sizes: Mapping[str, int]) -> dict[str, Embedding]:
    """Return rings of given sizes, those first that need most bandwidth and then the largest, as they fit; and `fill`.

    Parameters
    ----------
    problem : RingProblem
    occupancy : Occupancy
        What is left; is changed.
    sizes : mapping of str to int
        Workers by job.
    """
    held: dict[str, Embedding] = {}
    needs = occupancy.substrate.needs
    for name in sorted(sizes, key=lambda name: (-needs[name].hop, -sizes[name])):
        ring = place(occupancy, needs[name], sizes[name])
        if ring is not None:
            occupancy.take(needs[name], ring)
            held[name] = ring
    fill(problem, occupancy, held)
    return held


@checked
def give_idle(
    problem: RingProblem, occupancy: Occupancy, held: dict[str, Embedding], distance: Mapping[str, int]
) -> tuple[str, ...]:
    """Give jobs workers that are worth nothing yet, and that cost nothing; return which jobs.

    Parameters
    ----------
    problem, occupancy, held
        As for `fill`.
    distance : mapping of str to int
        How many worker-slots each such job is away from a gain; the nearest comes first, with as many workers as fit
        and lose nothing (a utility may fall before it rises).
    """
    given = []
    harmless = {request.name: [k for k, gain in request.profit.items() if gain >= 0] for request in problem.requests}
    for name in sorted(distance, key=lambda name: distance[name]):
        if name not in held:
            need = occupancy.substrate.needs[name]
            most = sum(occupancy.rooms(need))
            if any(k <= most and _exchanged(occupancy, held, name, k) for k in sorted(harmless[name], reverse=True)):
                given.append(name)
    return tuple(given)


def _gains(problem: RingProblem) -> list[tuple[str, int, float]]:
    return [(request.name, k, float(profit)) for request in problem.requests for k, profit in request.profit.items()]


def _exchanged(occupancy: Occupancy, held: dict[str, Embedding], name: str, workers: int) -> bool:
    """Embed a job with that many workers in place of what it has; if that does not fit, change nothing."""
    need = occupancy.substrate.needs[name]
    before = held.get(name)
    if before is not None:
        occupancy.give(need, before)
    ring = place(occupancy, need, workers)
    after = ring or before
    if after is not None:
        occupancy.take(need, after)
        held[name] = after
    return ring is not None
