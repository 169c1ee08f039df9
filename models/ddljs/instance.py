"""The DDLJS problem's data: a network of servers and switches, its links by slot, and jobs.

Symbols (GADGET, Section IV): C_s^r capacity of server s; B_e[t] bandwidth of link e in slot t of 1..T. Servers are the
nodes with some capacity; the others are switches. Bandwidths and the jobs' b_i are in one unit, e.g. Gbit/s.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Annotated, Any, Literal, Self

from pydantic import Field, ValidationError, ValidatorFunctionWrapHandler, WrapValidator, model_validator

from dlsched.arguments import named
from dlsched.errors import shown
from dlsched.models.ddljs.job import Job
from dlsched.models.document import Document, Record
from dlsched.models.fields import MAX_SLOTS, Name, PlainSlots, distinct, known, moderate
from dlsched.models.numbers import NonNegative
from dlsched.models.utility import Table

Arc = tuple[str, str]
Share = tuple[tuple[Arc, ...], Fraction]
"""Arcs that share one bandwidth, and that bandwidth."""


class Node(Record):
    """A server, or a switch where it has no capacity.

    Attributes
    ----------
    name : str
    capacity : dict of str to Fraction
        C_s^r, by resource; an absent resource counts 0.

    Examples
    --------
    >>> from dlsched.models.ddljs import Node, random
    >>> switch, server = Node(name="switch", capacity={}), Node(name="s1", capacity={"gpu": 4})
    >>> [node.name for node in (switch, server) if node.capacity]
    ['s1']
    """

    name: Name
    capacity: dict[Name, NonNegative] = Field(default_factory=dict)

    def capacity_of(self, resource: str) -> Fraction:
        """Return C_s^r."""
        return self.capacity.get(resource, Fraction(0))

    @property
    def is_server(self) -> bool:
        """Whether it has capacity of some resource."""
        return any(self.capacity.values())


class Link(Record):
    """A directed link with its bandwidth B_e.

    Examples
    --------
    >>> from dlsched.models.ddljs import Link, random
    >>> random(0).model_copy(update={"links": (Link(source="server1", target="server2", bandwidth=10),)}).links
    (Link(source='server1', target='server2', bandwidth=Fraction(10, 1)),)
    """

    source: Name
    target: Name
    bandwidth: NonNegative

    @property
    def arc(self) -> Arc:
        """(source, target)."""
        return self.source, self.target


def _one_of_three(value: object, validated: ValidatorFunctionWrapHandler) -> Any:
    """Refuse in one rule what is none of `duplex`'s kinds: pydantic has one for each, under a place of its own."""
    try:
        return validated(value)
    except ValidationError:
        raise ValueError(f'{shown(value)} must be true, false or "half"') from None


class Instance(Document):
    """An instance of the DDLJS problem.

    Attributes
    ----------
    slots : int
        T, slots are 1..T.
    resources : tuple of str
        Names of the resources r.
    nodes : tuple of Node
        Servers and switches.
    links : tuple of Link
        Directed, as listed; at most one from a node to another.
    duplex : bool or ``"half"``
        True adds the reverse of each link, with a bandwidth of its own; ``"half"`` adds the reverse, and both
        directions share the one bandwidth.
    bandwidth_by_slot : dict of int to tuple of Link, optional
        What bandwidths links have in a slot where these are not the usual ones. With duplex True, either direction
        can be named.
    jobs : tuple of Job
    origin : dict of str to str, optional
        What was derived or assumed, and from what.

    Examples
    --------
    >>> from dlsched.models.ddljs import Instance
    >>> instance = Instance.parse({
    ...     "slots": 2, "resources": ["gpu"], "duplex": True,
    ...     "nodes": [{"name": "s1", "capacity": {"gpu": 2}}, {"name": "s2", "capacity": {"gpu": 1}}],
    ...     "links": [{"source": "s1", "target": "s2", "bandwidth": 10}],
    ...     "jobs": [{
    ...         "name": "bert", "arrival": 1, "max_workers": 3, "worker": {"gpu": 1}, "budget": {"gpu": 5},
    ...         "progress": 1, "bandwidth": 4, "utility": {"kind": "sqrt", "scale": 1},
    ...     }],
    ... })
    >>> instance.jobs[0].budget_slots  # worker-slots
    5
    """

    slots: Annotated[int, Field(strict=True, ge=1, le=MAX_SLOTS)]
    resources: tuple[Name, ...] = Field(min_length=1)
    nodes: tuple[Node, ...] = Field(min_length=1)
    links: tuple[Link, ...] = ()
    duplex: Annotated[bool | Literal["half"], WrapValidator(_one_of_three)] = False
    bandwidth_by_slot: Annotated[dict[int, tuple[Link, ...]], PlainSlots] | None = None
    jobs: tuple[Job, ...]
    origin: dict[str, str] | None = None

    @cached_property
    def _jobs(self) -> dict[str, Job]:
        return {job.name: job for job in self.jobs}

    @cached_property
    def _nodes(self) -> dict[str, Node]:
        return {node.name: node for node in self.nodes}

    def job(self, name: str) -> Job:
        """Return the job of that name (KeyError where there is none)."""
        return named("job", name, self._jobs)

    def node(self, name: str) -> Node:
        """Return the node of that name (KeyError where there is none)."""
        return named("node", name, self._nodes)

    @cached_property
    def servers(self) -> tuple[Node, ...]:
        """S, the nodes that can host workers."""
        return tuple(node for node in self.nodes if node.is_server)

    @cached_property
    def _server_names(self) -> frozenset[str]:
        return frozenset(node.name for node in self.servers)

    @cached_property
    def arcs(self) -> tuple[Arc, ...]:
        """E, the directed links: those listed, then the reverses that `duplex` adds."""
        listed = tuple(link.arc for link in self.links)
        return (*listed, *((v, u) for u, v in listed)) if self.duplex else listed

    @cached_property
    def _usual(self) -> dict[Arc, Fraction]:
        forth = {link.arc: link.bandwidth for link in self.links}
        return {**forth, **{(v, u): b for (u, v), b in forth.items()}} if self.duplex else forth

    def bandwidth(self, slot: int) -> dict[Arc, Fraction]:
        """Return B_e[t] of every arc, in the order of `arcs`."""
        result = dict(self._usual)
        for link in (self.bandwidth_by_slot or {}).get(slot, ()):
            result[link.arc] = link.bandwidth
            if self.duplex == "half":
                result[link.target, link.source] = link.bandwidth
        return result

    def shares(self, slot: int) -> tuple[Share, ...]:
        """Return what (8L) and (19) say for a slot: arcs whose loads together stay within one bandwidth."""
        return self._usual_shares if slot not in (self.bandwidth_by_slot or {}) else self._shares(self.bandwidth(slot))

    @cached_property
    def _usual_shares(self) -> tuple[Share, ...]:
        return self._shares(self._usual)

    def _shares(self, bandwidth: Mapping[Arc, Fraction]) -> tuple[Share, ...]:
        if self.duplex == "half":
            return tuple(((link.arc, link.arc[::-1]), bandwidth[link.arc]) for link in self.links)
        return tuple(((arc,), bandwidth[arc]) for arc in self.arcs)

    def graph(self, slot: int = 1) -> Any:
        """Return the substrate as a networkx.DiGraph.

        Nodes have the attribute ``capacity`` (dict of resource to Fraction), arcs ``bandwidth`` (Fraction, in `slot`).
        """
        import networkx as nx

        graph = nx.DiGraph()
        for node in self.nodes:
            graph.add_node(node.name, capacity=dict(node.capacity))
        for (u, v), bandwidth in self.bandwidth(slot).items():
            graph.add_edge(u, v, bandwidth=bandwidth)
        return graph

    def room(self, job: Job, node: str) -> int:
        """Return m_iu = min(N_i, floor(min_r C_u^r / l_i^r)): the most workers of a job that a node can host.

        It is (5) in whole workers, without F_i^r / l_i^r, which (3) implies.
        """
        return self._room(job, self.node(node))

    def _room(self, job: Job, node: Node) -> int:
        if not node.is_server:
            return 0
        fits = [math.floor(node.capacity_of(r) / need) for r, need in job.worker.items() if need]
        return min([job.max_workers, *fits])

    @cached_property
    def kinds(self) -> tuple[tuple[Node, int], ...]:
        """One server of each capacity, and how many are like it: sums over thousands of servers are over few."""
        alike: dict[tuple[Fraction, ...], list[Node]] = defaultdict(list)
        for node in self.servers:
            alike[tuple(map(node.capacity_of, self.resources))].append(node)
        return tuple((nodes[0], len(nodes)) for nodes in alike.values())

    def total_room(self, job: Job) -> int:
        """Return sum_u m_iu: how many workers of a job there is room for, server by server."""
        return sum(count * self._room(job, node) for node, count in self.kinds)

    def most(self, job: Job) -> int:
        """Return the most worker-slots that a job can get by (2)-(6), bandwidth left out."""
        slots = max(0, self.slots - job.arrival + 1)
        in_a_slot = min(job.max_workers, self.total_room(job))
        most = slots * in_a_slot
        return most if job.budget_slots is None else min(most, job.budget_slots)

    @cached_property
    def greatest_utility(self) -> Fraction:
        """What the most useful job can be worth, or cost: the unit that differences of utility are judged by."""
        return max((job.utility.greatest(job.progress, self.most(job)) for job in self.jobs), default=Fraction(0))

    @model_validator(mode="after")
    def _references(self) -> Self:
        distinct("resources", self.resources)
        distinct("nodes", [node.name for node in self.nodes], ".name")
        distinct("jobs", [job.name for job in self.jobs], ".name")
        for n, node in enumerate(self.nodes):
            known(f"nodes[{n}].capacity", node.capacity, "resource", "resources", self.resources)
        self._check_links()
        for i, job in enumerate(self.jobs):
            self._check_job(f"jobs[{i}]", job)
        return self

    def _check_links(self) -> None:
        names = {node.name for node in self.nodes}
        seen: dict[Arc, int] = {}
        for n, link in enumerate(self.links):
            _between("links", n, link, names)
            for arc in (link.arc, link.arc[::-1]) if self.duplex else (link.arc,):
                if arc in seen:
                    raise ValueError(
                        f"links[{n}]: links[{seen[arc]}] already joins {' -> '.join(arc)}; "
                        f"add the bandwidths of parallel links"
                    )
            seen[link.arc] = n
            if self.duplex:
                seen[link.arc[::-1]] = n
        for slot, links in (self.bandwidth_by_slot or {}).items():
            place = f"bandwidth_by_slot.{slot}"
            if not 1 <= slot <= self.slots:
                raise ValueError(f"{place}: slot {slot} is outside 1..{self.slots}")
            self._check_overrides(place, links, seen)

    def _check_overrides(self, place: str, links: Sequence[Link], arcs: Iterable[Arc]) -> None:
        named: dict[Arc, int] = {}
        for n, link in enumerate(links):
            if link.arc not in arcs:
                raise ValueError(f"{place}[{n}]: there is no link {link.source} -> {link.target}")
            for arc in (link.arc, link.arc[::-1]) if self.duplex == "half" else (link.arc,):
                if arc in named:
                    raise ValueError(f"{place}[{n}]: {place}[{named[arc]}] already sets this link")
                named[arc] = n

    def _check_job(self, place: str, job: Job) -> None:
        for field, amounts in (("worker", job.worker), ("budget", job.budget or {})):
            known(f"{place}.{field}", amounts, "resource", "resources", self.resources)
        if job.arrival > self.slots:
            raise ValueError(f"{place}.arrival: {job.arrival} is after the last slot {self.slots}")
        for w, allowed in enumerate(job.placement or ()):
            known(f"{place}.placement[{w}]", allowed, "server", "nodes with capacity", self._server_names)
        try:
            moderate(f"{place}.utility", job.utility, 0, job.progress * self.slots * job.max_workers)
        except ValueError:
            moderate(f"{place}.utility", job.utility, 0, job.progress * self.most(job))
        if isinstance(job.utility, Table):
            if job.progress.denominator != 1:
                raise ValueError(f"{place}.progress: {job.progress} is not whole; arguments must fall on the table")
            last = int(job.progress) * self.most(job)
            if last >= len(job.utility.values):
                raise ValueError(
                    f"{place}.utility: the table ends at {len(job.utility.values) - 1}; the job can get to {last}"
                )


def _between(place: str, n: int, link: Link, names: set[str]) -> None:
    for field, name in (("source", link.source), ("target", link.target)):
        if name not in names:
            raise ValueError(f"{place}[{n}].{field}: unknown node {name!r}; nodes does not list it")
    if link.source == link.target:
        raise ValueError(f"{place}[{n}]: is a self loop at {link.source!r}; workers on one server need no link")
