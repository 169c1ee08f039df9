"""What a job can take in one slot: workers on servers and paths among them, by enumeration, with rules to vary.

The rules are those of (2) and (4)-(9) corrected, or one of the ways in which the paper prints or truncates them, so
that the optima under both can be compared.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

from dlsched.bounds.claim import Undecided
from dlsched.models.ddljs import Instance, Job
from dlsched.models.ddljs.rings import Path, arcs_of

MAX_PLANS = 20_000
"""Plans of one job in one slot, and ways to put any numbers of its workers on servers, at most. Arbitrary: limits
count work and not seconds, so that verdicts are the same everywhere."""

MAX_STEPS = 200_000
"""Steps of the searches for paths, and combinations of paths looked at, in one slot, at most. Arbitrary."""

MAX_SERVERS = 6
"""Servers of an instance whose plans are enumerated, at most. Arbitrary."""


class Paths(Enum):
    """The path sets of (7)-(9): all simple paths, or single links alone."""

    ALL = "all"
    SINGLE_HOP = "single-hop"


class Rings(Enum):
    """What (9) asks of a job on several servers.

    ``ONE``: one directed ring. ``DEGREES``: each of them has one path in and one out. ``EVERYWHERE``: (9) as printed
    for all servers, which only a job that is on all of them can keep.
    """

    ONE = "one"
    DEGREES = "degrees"
    EVERYWHERE = "everywhere"


@dataclass(frozen=True, slots=True)
class Rules:
    """Which readings of the constraints hold.

    Attributes
    ----------
    paths : Paths
    rings : Rings
    by_path : bool
        (8) as printed: each path has the bandwidth of its narrowest link to itself.
    relays : bool
        (5) as printed, an upper bound of y alone: a server of the ring, x = 1, may have no worker.
    """

    paths: Paths = Paths.ALL
    rings: Rings = Rings.ONE
    by_path: bool = False
    relays: bool = False


CORRECTED = Rules()

Use = tuple[tuple[object, Fraction], ...]
"""How much a plan takes of what: pairs of (key, amount)."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Workers of a job in a slot, and what they take of nodes, links or paths."""

    size: int
    use: Use


class Slot:
    """The constraints of one slot: how much there is of every key, and the plans of each job.

    Parameters
    ----------
    instance : Instance
    slot : int
    rules : Rules
    """

    def __init__(self, instance: Instance, slot: int, rules: Rules) -> None:
        if len(instance.servers) > MAX_SERVERS:
            raise Undecided(f"{len(instance.servers)} servers: more than {MAX_SERVERS}")
        self.instance, self.slot, self.rules = instance, slot, rules
        self.bandwidth = instance.bandwidth(slot)
        self.share = {arc: number for number, (arcs, _) in enumerate(instance.shares(slot)) for arc in arcs}
        self._paths: dict[tuple[str, str], tuple[Path, ...]] = {}
        self._joined: dict[tuple[str, Path], list[dict[object, Fraction]]] = {}
        self._steps = 0
        self._heads: dict[str, list[str]] = defaultdict(list)
        for u, v in self.bandwidth:
            self._heads[u].append(v)

    def limit(self, key: object) -> Fraction:
        """Return how much there is of a key: of a resource on a node, a link, or a path."""
        match key:
            case ("node", str(node), str(resource)):
                return self.instance.node(node).capacity_of(resource)
            case ("link", int(number)):
                return self.instance.shares(self.slot)[number][1]
            case ("path", tuple(path)):
                return min(self.bandwidth[arc] for arc in arcs_of(path))
        raise KeyError(key)

    def paths(self, source: str, target: str) -> tuple[Path, ...]:
        """Return the path set P_ss'[t]."""
        if (source, target) not in self._paths:
            self._paths[source, target] = tuple(self._simple_paths((source,), target))
        return self._paths[source, target]

    def _simple_paths(self, path: Path, target: str) -> Iterator[Path]:
        self._count(1)
        for v in self._heads[path[-1]]:
            if v == target:
                yield (*path, v)
            elif v not in path and self.rules.paths is Paths.ALL:
                yield from self._simple_paths((*path, v), target)

    def plans(self, job: Job) -> list[Plan]:
        """Return the plans of a job that fit by themselves and of which none takes more than another of its workers."""
        if self.slot < job.arrival:
            return []
        if job.placement is not None:
            raise Undecided("jobs with a placement are not enumerated")
        found = []
        for workers in self._placements(job):
            nodes: dict[object, Fraction] = {
                ("node", u, r): need * n for u, n in workers.items() for r, need in job.worker.items() if need
            }
            for hosts in self._in_use(workers):
                if (job.name, hosts) not in self._joined:
                    self._joined[job.name, hosts] = self._lightest(job, hosts)
                for links in self._joined[job.name, hosts]:
                    found.append(Plan(sum(workers.values()), tuple({**nodes, **links}.items())))
            if len(found) > MAX_PLANS:
                raise Undecided(f"job {job.name}: more than {MAX_PLANS} plans in a slot")
        return found

    def _count(self, steps: int) -> None:
        self._steps += steps
        if self._steps > MAX_STEPS:
            raise Undecided(f"more than {MAX_STEPS} paths and combinations of paths in a slot")

    def _placements(self, job: Job) -> Iterator[dict[str, int]]:
        servers = [node.name for node in self.instance.servers]
        rooms = [self.instance.room(job, server) for server in servers]
        if math.prod(room + 1 for room in rooms) > MAX_PLANS:
            raise Undecided(f"job {job.name}: more than {MAX_PLANS} placements in a slot")
        for counts in itertools.product(*(range(room + 1) for room in rooms)):
            if not 1 <= sum(counts) <= job.max_workers:
                continue
            used = sum(n > 0 for n in counts)
            if self.rules.rings is Rings.EVERYWHERE and 1 < used < len(servers):
                continue
            yield {s: n for s, n in zip(servers, counts, strict=True) if n}

    def _in_use(self, workers: dict[str, int]) -> Iterator[Path]:
        """Yield the servers with x = 1, of all that there can be where these have workers."""
        idle = [node.name for node in self.instance.servers if self.rules.relays and node.name not in workers]
        for number in range(len(idle) + 1):
            for relays in itertools.combinations(idle, number):
                yield (*workers, *relays)

    def _lightest(self, job: Job, hosts: Path) -> list[dict[object, Fraction]]:
        """Return the minimal loads of the ways to join the hosts."""
        if len(hosts) == 1:
            return [{}]
        loads: dict[frozenset[tuple[object, int]], Counter[object]] = {}
        for hops in self._cycles(hosts):
            path_sets = [self.paths(u, v) for u, v in hops]
            self._count(math.prod(map(len, path_sets)))
            for chosen in itertools.product(*path_sets):
                load: Counter[object] = Counter()
                for path in chosen:
                    keys = [("path", path)] if self.rules.by_path else [("link", self.share[a]) for a in arcs_of(path)]
                    load.update(keys)
                if all(job.bandwidth * times <= self.limit(key) for key, times in load.items()):
                    loads[frozenset(load.items())] = load
        kept = [a for a in loads.values() if not any(b is not a and b <= a for b in loads.values())]
        return [{key: job.bandwidth * times for key, times in load.items()} for load in kept]

    def _cycles(self, hosts: Path) -> Iterator[Sequence[tuple[str, str]]]:
        """Yield the hops of every ring, or of every arrangement of rings where degrees alone count."""
        if self.rules.rings is Rings.DEGREES:
            for after in itertools.permutations(hosts):
                if all(u != v for u, v in zip(hosts, after, strict=True)):
                    yield list(zip(hosts, after, strict=True))
            return
        first, *others = hosts
        for order in itertools.permutations(others):
            yield list(itertools.pairwise((first, *order, first)))
