"""From mappings, circulations and walks to rings: no link is loaded more, and the result is one cycle."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dlsched.models import InputError
from dlsched.models.ddljs import Embedding, RingMapping, embedding, embedding_of
from dlsched.models.ddljs.rings import Arc, ring_along, without_loops
from tests.oracles.ddljs_rules import ring_is_one_cycle
from tests.strategies.ddljs import NODES, circulations, mappings, random_walk


def is_ring(found: Embedding) -> bool:
    """Say whether it is one cycle through the servers with workers, along simple paths."""
    simple = all(len(set(path)) == len(path) for path in found.ring)
    return simple and ring_is_one_cycle(found.model_dump(mode="json", exclude_none=True))


def carries(limit: Counter[Arc], found: Embedding) -> bool:
    return found.loads() <= limit


@pytest.mark.slow
@given(mappings())
def test_a_mapping_becomes_a_ring_that_uses_no_link_more(mapping: RingMapping) -> None:
    found = embedding(mapping)
    assert Counter(found.workers) == mapping.counts()
    assert found.order is None
    assert is_ring(found)
    assert carries(mapping.loads(), found)
    assert [path[0] for path in found.ring] in ([], list(dict.fromkeys(met(mapping))))


def met(mapping: RingMapping) -> list[str]:
    """Return the servers in the order in which the mapping's walk passes them."""
    return [node for path in mapping.paths for node in path if node in mapping.nodes]


@pytest.mark.slow
@given(mappings())
def test_a_mapping_keeps_its_order_where_workers_have_places(mapping: RingMapping) -> None:
    found = embedding(mapping, ordered=True)
    assert found.order == mapping.nodes
    assert Counter(found.workers) == mapping.counts()
    assert is_ring(found)
    assert carries(mapping.loads(), found)


@pytest.mark.slow
@given(circulations())
def test_a_circulation_becomes_a_ring_within_it(drawn: tuple[dict[str, int], Counter[Arc]]) -> None:
    workers, arcs = drawn
    found = embedding_of(workers, arcs)
    assert found.workers == {node: n for node, n in workers.items() if n}
    assert is_ring(found)
    assert carries(arcs, found)


@st.composite
def closed_walks(draw: st.DrawFn) -> tuple[tuple[str, ...], set[str]]:
    start = draw(st.sampled_from(NODES))
    walk = random_walk(draw, start, start, most=9)
    return walk, set(draw(st.lists(st.sampled_from(walk), min_size=1)))


@pytest.mark.slow
@given(closed_walks())
def test_a_closed_walk_becomes_a_ring_of_the_servers_it_passes(drawn: tuple[tuple[str, ...], set[str]]) -> None:
    walk, servers = drawn
    found = Embedding(workers=dict.fromkeys(servers, 1), ring=ring_along(walk, servers))
    assert is_ring(found)
    assert carries(Counter(itertools.pairwise(walk)), found)
    order = [node for node in dict.fromkeys(walk) if node in servers]
    assert [path[0] for path in found.ring] == (order if len(order) > 1 else [])


@given(st.lists(st.sampled_from(NODES), min_size=1, max_size=12))
def test_cutting_loops_leaves_a_simple_path(drawn: list[str]) -> None:
    walk = [node for node, _ in itertools.groupby(drawn)]
    path = without_loops(walk)
    assert (path[0], path[-1]) == (walk[0], walk[-1])
    assert len(set(path)) == len(path)
    assert Counter(itertools.pairwise(path)) <= Counter(itertools.pairwise(walk))


@pytest.mark.slow
@given(circulations())
def test_an_unbalanced_flow_is_refused(drawn: tuple[dict[str, int], Counter[Arc]]) -> None:
    workers, arcs = drawn
    hosts = [node for node, n in workers.items() if n]
    assume(len(hosts) > 1)
    arcs[hosts[0], "spare"] += 1
    with pytest.raises(InputError, match="not balanced"):
        embedding_of(workers, arcs)


def test_cycles_apart_from_the_servers_are_left_out() -> None:
    """The pair's own two links are left of a flow that also turns around c, d and e."""
    pair: dict[Arc, int] = {("a", "b"): 1, ("b", "a"): 1}
    apart: dict[Arc, int] = {("c", "d"): 2, ("d", "e"): 2, ("e", "c"): 2}
    assert embedding_of({"a": 2, "b": 1}, pair | apart).ring == (("a", "b"), ("b", "a"))


@pytest.mark.parametrize("circulation", [{}, {("a", "x"): 1, ("x", "a"): 1}, {("x", "y"): 1, ("y", "x"): 1}])
def test_servers_that_the_flow_does_not_join_are_refused(circulation: dict[Arc, int]) -> None:
    with pytest.raises(InputError, match="does not join 'a' and 'b'"):
        embedding_of({"a": 1, "b": 1}, circulation)


def test_two_flows_of_two_servers_each_are_not_one_ring() -> None:
    """G4: two pairs; every server has degree one in and out."""
    pairs: dict[Arc, int] = {("a", "b"): 1, ("b", "a"): 1, ("c", "d"): 1, ("d", "c"): 1}
    with pytest.raises(InputError, match="does not join"):
        embedding_of(dict.fromkeys("abcd", 1), pairs)


BAD_MAPPINGS: list[tuple[Any, Any, str]] = [
    (("a",), (("a",),), "a ring of 1 nodes has 0 edges, not 1"),
    (("a", "b"), (("a", "b"),), "a ring of 2 nodes has 2 edges, not 1"),
    (("a", "b"), (("a", "b"), ("a", "b")), "edge 1 does not lead from 'b' to 'a'"),
    (("a", "a"), (("a",), ()), "edge 1 does not lead from 'a' to 'a'"),
]


@pytest.mark.parametrize(("nodes", "paths", "message"), BAD_MAPPINGS)
def test_mappings_whose_paths_do_not_join_are_refused(nodes: Any, paths: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        RingMapping(nodes, paths)


def test_rings_of_one_and_two() -> None:
    assert embedding(RingMapping(("a",), ())) == Embedding(workers={"a": 1})
    assert embedding(RingMapping(("a", "a"), (("a",), ("a",)))) == Embedding(workers={"a": 2})
    two = embedding(RingMapping(("a", "b"), (("a", "x", "b"), ("b", "a"))))
    assert two == Embedding(workers={"a": 1, "b": 1}, ring=(("a", "x", "b"), ("b", "a")))


def test_a_server_that_is_visited_twice_is_visited_once() -> None:
    """a b a c over a switch: the way back to a in between is left out, the order of the first visits kept."""
    hops = (("a", "x", "b"), ("b", "x", "a"), ("a", "x", "c"), ("c", "x", "a"))
    found = embedding(RingMapping(("a", "b", "a", "c"), hops))
    assert found.workers == {"a": 2, "b": 1, "c": 1}
    assert found.ring == (("a", "x", "b"), ("b", "x", "c"), ("c", "x", "a"))
