"""Embeddings of a slot found quickly: best fit on one server, else over the servers nearest to each other."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Mapping
from fractions import Fraction

from dlsched.models.ddljs.requests import RingProblem, RingRequest
from dlsched.models.ddljs.rings import Arc, Embedding, Path, arcs_of

_STARTS = 8
"""How many servers are tried as the first of a spread ring."""


def greedy_embeddings(problem: RingProblem) -> dict[str, Embedding]:
    """Return embeddings that fit: requests by their best profit, the most profitable size that fits each."""
    substrate = Substrate(problem)
    found: dict[str, Embedding] = {}
    order = sorted(problem.requests, key=lambda request: -max(request.profit.values(), default=Fraction(0)))
    for request in order:
        sizes = sorted((k for k, profit in request.profit.items() if profit > 0), key=lambda k: -request.profit[k])
        for size in sizes:
            embedding = substrate.place(request, size)
            if embedding is not None:
                substrate.take(request, embedding)
                found[request.name] = embedding
                break
    return found


class Substrate:
    """What is left of a substrate's capacities."""

    def __init__(self, problem: RingProblem) -> None:
        self.problem = problem
        self.left = {u: dict(capacity) for u, capacity in problem.nodes.items()}
        self.share = {arc: n for n, (arcs, _) in enumerate(problem.shares) for arc in arcs}
        self.bandwidth = [limit for _, limit in problem.shares]
        self.out: dict[str, list[str]] = defaultdict(list)
        for u, v in problem.arcs:
            self.out[u].append(v)

    def take(self, request: RingRequest, embedding: Embedding) -> None:
        """Take an embedding's amounts away."""
        for u, n in embedding.workers.items():
            for r, need in request.demand.items():
                self.left[u][r] = self.left[u].get(r, Fraction(0)) - n * need
        for arc, times in embedding.loads().items():
            self.bandwidth[self.share[arc]] -= times * request.bandwidth

    def room(self, request: RingRequest, u: str) -> int:
        """Return how many workers still fit a node."""
        room = self.problem.room(request, u)
        for r, need in request.demand.items():
            if need:
                room = min(room, self.left[u].get(r, Fraction(0)) // need)
        return room

    def place(self, request: RingRequest, size: int) -> Embedding | None:
        """Return an embedding of that size that fits what is left, None where none was found."""
        if request.allowed is not None:
            return self._ordered(request, size)
        rooms = {u: room for u in self.problem.servers if (room := self.room(request, u)) > 0}
        whole = [u for u, room in rooms.items() if room >= size]
        if whole:
            return Embedding(workers={min(whole, key=rooms.__getitem__): size})
        if sum(rooms.values()) < size:
            return None
        for start in sorted(rooms, key=lambda u: -rooms[u])[:_STARTS]:
            workers = self._nearest(request, start, size, rooms)
            ring = None if workers is None else self.route(request, list(workers))
            if workers is not None and ring is not None:
                return Embedding(workers=workers, ring=ring)
        return None

    def _nearest(self, request: RingRequest, start: str, size: int, rooms: Mapping[str, int]) -> dict[str, int] | None:
        """Return workers on the first servers that a search along links with room meets."""
        workers, missing = {}, size
        seen, queue = {start}, deque([start])
        while queue:
            u = queue.popleft()
            if u in rooms:
                workers[u] = min(rooms[u], missing)
                missing -= workers[u]
                if not missing:
                    return workers
            for v in self.out[u]:
                if v not in seen and self._open(request, (u, v), Counter()):
                    seen.add(v)
                    queue.append(v)
        return None

    def route(self, request: RingRequest, servers: Iterable[str]) -> tuple[Path, ...] | None:
        """Return a ring through servers along links with room: each hop to the nearest that is missing; or None."""
        start, *rest = servers
        if not rest:
            return ()
        loads: Counter[int] = Counter()
        paths: list[Path] = []
        here, missing = start, set(rest)
        while True:
            path = self._path(request, here, missing or {start}, loads)
            if path is None:
                return None
            loads.update(self.share[arc] for arc in arcs_of(path))
            paths.append(path)
            here = path[-1]
            if not missing:
                return tuple(paths)
            missing.discard(here)

    def _path(self, request: RingRequest, source: str, targets: set[str], loads: Counter[int]) -> Path | None:
        before = {source: source}
        queue = deque([source])
        while queue:
            u = queue.popleft()
            if u in targets:
                path = [u]
                while path[-1] != source:
                    path.append(before[path[-1]])
                return tuple(reversed(path))
            for v in self.out[u]:
                if v not in before and self._open(request, (u, v), loads):
                    before[v] = u
                    queue.append(v)
        return None

    def _open(self, request: RingRequest, arc: Arc, loads: Counter[int]) -> bool:
        share = self.share[arc]
        return (loads[share] + 1) * request.bandwidth <= self.bandwidth[share]

    def _ordered(self, request: RingRequest, size: int) -> Embedding | None:
        """Place ring nodes one after the other, each where the last one is or as near as possible."""
        allowed = request.allowed or ()
        taken: Counter[str] = Counter()
        loads: Counter[int] = Counter()
        order: list[str] = []
        ring: list[Path] = []
        for a in range(size):
            fits = {u for u in allowed[a] if self.room(request, u) > taken[u]}
            if not fits:
                return None
            if not order:
                path: Path | None = (max(sorted(fits), key=lambda u: self.room(request, u)),)
            else:
                path = self._path(request, order[-1], fits, loads)
            if path is None:
                return None
            loads.update(self.share[arc] for arc in arcs_of(path))
            order.append(path[-1])
            taken[path[-1]] += 1
            ring.append(path)
        closing = self._path(request, order[-1], {order[0]}, loads)
        if closing is None:
            return None
        hops = tuple(path for path in (*ring, closing) if len(path) > 1)
        return Embedding(workers=dict(taken), ring=hops, order=tuple(order))
