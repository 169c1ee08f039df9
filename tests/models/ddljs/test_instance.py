"""DDLJS instances: what is refused, in one line that names the place; what is allowed, and means what; files."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

from dlsched.errors import shown
from dlsched.models import InputError
from dlsched.models.ddljs import (
    Instance,
    RingProblem,
    RingRequest,
    Schedule,
    check,
    random,
    slot_problem,
    utility,
)
from tests.cases.ddljs import OFFLINE, built, instance, job
from tests.cases.documents import refused
from tests.oracles import ddljs as oracle

PAIR = {"a": 2, "b": 2}
TABLE = {"kind": "table", "values": [0, 1]}
SLOT_2 = [{"source": "a", "target": "b", "bandwidth": 0}]


def pair(*jobs: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """Two servers with two GPUs each and a link, two slots."""
    return built(PAIR, [("a", "b", 1)], *jobs, **({"slots": 2} | changes))


def linked(*links: tuple[str, str, Any], **changes: Any) -> dict[str, Any]:
    return built(PAIR, list(links), job(), **changes)


BAD: list[tuple[dict[str, Any], str]] = [
    (linked(("a", "a", 1)), "links[0]: is a self loop at 'a'"),
    (linked(("a", "b", 1), ("a", "b", 2), duplex=False), "links[1]: links[0] already joins a -> b; add the bandwidths"),
    (linked(("a", "b", 1), ("b", "a", 1)), "links[1]: links[0] already joins b -> a"),
    (linked(("a", "b", 1), ("b", "a", 1), duplex="half"), "links[1]: links[0] already joins b -> a"),
    (linked(("a", "c", 1)), "links[0].target: unknown node 'c'; nodes does not list it"),
    (linked(("c", "a", 1)), "links[0].source: unknown node 'c'"),
    (linked(("a", "b", -1)), "links[0].bandwidth: -1 must not be negative"),
    (linked(("a", "b", "inf")), "links[0].bandwidth: must be a number"),
    (linked(("a", "b", 1), duplex="full"), "duplex: 'full' must be true, false or \"half\""),
    (pair(bandwidth_by_slot={3: SLOT_2}), "bandwidth_by_slot.3: slot 3 is outside 1..2"),
    (pair(bandwidth_by_slot={0: SLOT_2}), "bandwidth_by_slot.0: slot 0 is outside 1..2"),
    (
        pair(duplex=False, bandwidth_by_slot={2: [{"source": "b", "target": "a", "bandwidth": 0}]}),
        "bandwidth_by_slot.2[0]: there is no link b -> a",
    ),
    (pair(bandwidth_by_slot={2: SLOT_2 * 2}), "bandwidth_by_slot.2[1]: bandwidth_by_slot.2[0] already sets this link"),
    (
        pair(duplex="half", bandwidth_by_slot={2: [*SLOT_2, {"source": "b", "target": "a", "bandwidth": 1}]}),
        "bandwidth_by_slot.2[1]: bandwidth_by_slot.2[0] already sets this link",
    ),
    (pair(nodes=[{"name": "a"}, {"name": "a"}]), "nodes[1].name: 'a' is already the name of nodes[0]"),
    (pair(nodes=[]), "nodes: "),
    (pair(resources=[]), "resources: "),
    (pair(resources=["gpu", "gpu"]), "resources[1]: 'gpu' is already the name of resources[0]"),
    (pair(nodes=[{"name": "a", "capacity": {"cpu": 1}}], links=[]), "nodes[0].capacity.cpu: unknown resource"),
    (pair(nodes=[{"name": "a", "capacity": {"gpu": -1}}], links=[]), "nodes[0].capacity.gpu: -1 must not be negative"),
    (pair(slots=0), "slots: 0 should be greater than or equal to 1"),
    (pair(slots=1.5), "slots: 1.5 should be a valid integer"),
    (pair(job(), job()), "jobs[1].name: 'job1' is already the name of jobs[0]"),
    (pair(job(worker={"cpu": 1})), "jobs[0].worker.cpu: unknown resource; resources lists gpu"),
    (pair(job(budget={"cpu": 1})), "jobs[0].budget.cpu: unknown resource; resources lists gpu"),
    (pair(job(worker={"gpu": -1})), "jobs[0].worker.gpu: -1 must not be negative"),
    (pair(job(budget={"gpu": -1})), "jobs[0].budget.gpu: -1 must not be negative"),
    (pair(job(arrival=3)), "jobs[0].arrival: 3 is after the last slot 2"),
    (pair(job(arrival=0)), "jobs[0].arrival: 0 should be greater than or equal to 1"),
    (pair(job(max_workers=0)), "jobs[0].max_workers: 0 should be greater than or equal to 1"),
    (pair(job(progress=0)), "jobs[0].progress: 0 must be positive"),
    (pair(job(bandwidth=-1)), "jobs[0].bandwidth: -1 must not be negative"),
    (pair(job(utility={"kind": "cube"})), "jobs[0].utility.kind: 'cube' must be one of "),
    (pair(job(utility=TABLE)), "jobs[0].utility: the table ends at 1; the job can get to 4"),
    (pair(job(utility=TABLE, max_workers=1, budget={"gpu": 2})), "jobs[0].utility: the table ends at 1; the job can"),
    (
        pair(job(utility=TABLE, max_workers=1, arrival=2, progress=2)),
        "jobs[0].utility: the table ends at 1; the job can get to 2",
    ),
    (
        pair(job(utility=TABLE, progress="1/2")),
        "jobs[0].progress: 1/2 is not whole; arguments must fall on the table",
    ),
    (
        pair(job(placement=[["a"]])),
        "jobs[0].placement: 1 entries for 2 workers; it needs one a worker",
    ),
    (pair(job(placement=[["a"], ["c"]])), "jobs[0].placement[1].c: unknown server; nodes with capacity lists a, b"),
    (pair(job(speed=1)), "jobs[0].speed: unknown field"),
]


@pytest.mark.parametrize(("data", "message"), BAD, ids=[message.split(" ")[0] for _, message in BAD])
def test_bad_instances_are_refused_in_one_line(data: dict[str, Any], message: str) -> None:
    assert refused(Instance.parse, data).startswith(message)


def test_a_switch_cannot_be_a_place() -> None:
    with pytest.raises(InputError, match=r"placement\[0\]\.x: unknown server"):
        Instance.parse(built({"a": 1, "x": 0}, [], job(max_workers=1, placement=[["x"]])))


ODD: dict[str, tuple[dict[str, Any], int]] = {
    "a network in two parts": (built({"a": 1, "b": 1, "c": 1}, [("a", "b", 1)], job(max_workers=3)), 2),
    "no links": (built({"a": 1, "b": 1}, [], job()), 1),
    "a ring larger than the cluster": (built({"a": 1, "b": 1}, [("a", "b", 1)], job(max_workers=50)), 2),
    "a ring wider than every link": (built({"a": 2, "b": 2}, [("a", "b", 1)], job(max_workers=4, bandwidth=2)), 2),
    "a ring that needs no bandwidth": (built({"a": 2, "b": 2}, [("a", "b", 0)], job(max_workers=4, bandwidth=0)), 4),
    "nodes without capacity": (built({"a": 1, "b": 1, "x": 0}, [("a", "x", 1), ("b", "x", 1)], job()), 2),
    "only nodes without capacity": (built({"a": 0, "b": 0}, [("a", "b", 1)], job(worker={})), 0),
    "a job that needs nothing": (built({"a": 1}, [], job(max_workers=3, worker={})), 3),
    "a worker larger than any server": (built({"a": 1, "b": 1}, [("a", "b", 1)], job(worker={"gpu": 2})), 0),
    "a budget of nothing": (built({"a": 1}, [], job(budget={})), 0),
    "a budget that ends inside a worker-slot": (built({"a": 4}, [], job(budget={"gpu": "3/2"})), 1),
    "a table that ends with the budget": (built({"a": 4}, [], job(utility=TABLE, budget={"gpu": 1})), 1),
    "a progress that is not whole": (built({"a": 4}, [], job(progress="3/2")), 3),
    "a link of one direction": (built({"a": 1, "b": 1}, [("a", "b", 1)], job(), duplex=False), 1),
    "a utility that falls": (built({"a": 1}, [], job(utility={"kind": "linear", "intercept": 3, "slope": 1})), 3),
    "no jobs": (built({"a": 1}, []), 0),
}


@pytest.mark.parametrize("name", ODD)
def test_odd_instances_mean_what_they_say(name: str) -> None:
    """The optimum is by hand; exhaustive search over the file's rules and over the slot's requests have it."""
    data, value = ODD[name]
    odd = Instance.parse(data)
    found, schedule = oracle.optimum(odd.dump())
    idle = sum((job.value(0) for job in odd.jobs), Fraction(0))
    assert found == value
    assert oracle.best(slot_problem(odd, 1))[0] + idle == value
    assert check(odd, Schedule.parse(schedule)) == []
    assert utility(odd, Schedule.parse(schedule)) == value


def test_rings_are_capped_by_the_cluster_and_by_what_is_left() -> None:
    odd = Instance.parse(built({"a": 2, "b": 3}, [("a", "b", 1)], job(max_workers=50, budget={"gpu": 7}), slots=2))
    assert slot_problem(odd, 1).request("job1").sizes == (1, 2, 3, 4, 5)
    assert slot_problem(odd, 2, {"job1": 5}).request("job1").sizes == (1, 2)
    assert slot_problem(odd, 2, {"job1": 7}).requests == ()
    assert odd.most(odd.job("job1")) == 7
    with pytest.raises(InputError, match=r"slot: 3 is outside 1\.\.2"):
        slot_problem(odd, 3)


def test_a_switch_has_no_room_for_a_job_that_needs_nothing() -> None:
    odd = Instance.parse(built({"a": 1, "x": 0}, [], job(worker={})))
    problem = slot_problem(odd, 1)
    assert [odd.room(odd.job("job1"), node) for node in "ax"] == [2, 0]
    assert [problem.room(problem.request("job1"), node) for node in "ax"] == [2, 0]
    assert problem.hosts(problem.request("job1")) == problem.servers == ("a",)


def test_a_log_utility_at_0_has_no_gain_to_compare() -> None:
    """From minus infinity every gain is infinite: the slot problem refuses, with an offset it does not."""
    log = {"kind": "log", "scale": 1, "offset": 0}
    odd = Instance.parse(built({"a": 1}, [], job(utility=log), slots=2))
    with pytest.raises(InputError, match="log utility at 0 is minus infinity"):
        slot_problem(odd, 1)
    assert slot_problem(odd, 2, {"job1": 1}).request("job1").sizes == (1,)
    assert utility(odd, Schedule.of({})) == float("-inf")
    assert [violation.rule for violation in check(odd, Schedule.of({}))] == ["utility"]
    whole = Instance.parse(built({"a": 1}, [], job(utility=log | {"offset": 1})))
    assert slot_problem(whole, 1).request("job1").profit[1] == pytest.approx(Fraction(0.6931471805599453))


def test_links_by_slot_and_directions() -> None:
    """The reverse of a link has a bandwidth of its own, or shares it; either can change in a slot."""
    changes = {"2": [{"source": "b", "target": "a", "bandwidth": 0}]}
    full = Instance.parse(pair(bandwidth_by_slot=changes))
    half = Instance.parse(pair(bandwidth_by_slot=changes, duplex="half"))
    single = Instance.parse(pair(duplex=False))
    forth, back = ("a", "b"), ("b", "a")
    assert full.arcs == half.arcs == (forth, back)
    assert single.arcs == (forth,)
    assert full.shares(1) == (((forth,), 1), ((back,), 1))
    assert full.shares(2) == (((forth,), 1), ((back,), 0))
    assert half.shares(1) == (((forth, back), 1),)
    assert half.shares(2) == (((forth, back), 0),)
    assert half.bandwidth(2) == {forth: 0, back: 0}
    assert single.shares(1) == single.shares(2) == (((forth,), 1),)
    assert full.graph(2).edges[back]["bandwidth"] == 0
    assert full.graph().nodes["a"]["capacity"] == {"gpu": 2}


@pytest.mark.parametrize("name", OFFLINE)
def test_an_instance_survives_its_file(name: str, tmp_path: Path) -> None:
    first = instance(name)
    first.save(tmp_path / "instance.json")
    second = Instance.load(tmp_path / "instance.json")
    assert second == first
    assert second.digest == first.digest


@pytest.mark.parametrize("seed", range(12))
def test_random_instances_survive_their_files(seed: int, tmp_path: Path) -> None:
    first = random(np.random.default_rng(seed), resources=2, varying=True, half=bool(seed % 2))
    first.save(tmp_path / "instance.json")
    assert Instance.load(tmp_path / "instance.json") == first
    _, found = oracle.optimum(first.dump())
    schedule = Schedule.parse(found)
    schedule.save(tmp_path / "schedule.json")
    assert Schedule.load(tmp_path / "schedule.json") == schedule


def test_the_digest_tells_instances_apart_but_not_their_origin() -> None:
    data = pair(job())
    digest = Instance.parse(data).digest
    assert Instance.parse(json.loads(json.dumps(data))).digest == digest
    assert Instance.parse(data | {"origin": {"links": "assumed"}}).digest == digest
    changes = [{"duplex": "half"}, {"slots": 3}, {"jobs": [job(bandwidth="1/3")]}, {"bandwidth_by_slot": {"2": SLOT_2}}]
    digests = {Instance.parse(data | change).digest for change in changes}
    assert len(digests | {digest}) == len(changes) + 1


def test_shapes_and_utilities_of_random_instances() -> None:
    rng = np.random.default_rng(0)
    star = random(rng, shape="star", utility="table", servers=4)
    assert [node.name for node in star.nodes if not node.is_server][-1] == "switch"
    assert {"switch"} == set.intersection(*(set(arc) for arc in star.arcs))
    ring = random(rng, shape="ring", servers=4)
    assert nx.is_strongly_connected(ring.graph())
    assert len(ring.arcs) == 4
    assert all(found.utility.kind == "table" for found in star.jobs)
    late = [found.arrival for _ in range(30) for found in random(rng, slots=2).jobs]
    assert set(late) == {1, 2}
    for wrong in ({"shape": "torus"}, {"utility": "steep"}):
        with pytest.raises(InputError, match="must be one of"):
            random(rng, **wrong)


def ask(**changes: Any) -> RingRequest:
    fields: dict[str, Any] = {"name": "r", "profit": {1: Fraction(1)}, "demand": {"gpu": Fraction(1)}, "bandwidth": 1}
    return RingRequest(**fields | changes)


BAD_PROBLEMS: list[tuple[Any, Any, tuple[RingRequest, ...], str]] = [
    ({"a": {}}, (((("a", "a"),), Fraction(1)),), (), "self loop at 'a'"),
    ({"a": {}}, (((("a", "b"),), Fraction(1)),), (), "links join 'b', which is not a node"),
    ({"a": {}, "b": {}}, (((("a", "b"),), Fraction(1)),) * 2, (), "an arc stands in two shares"),
    ({"a": {}}, (), (ask(), ask()), "two requests have the same name"),
    ({"a": {"gpu": -1}}, (), (), r"^node a: capacity\['gpu'\]: -1 must not be negative$"),
    ({"a": {"gpu": math.nan}}, (), (), r"^node a: capacity\['gpu'\]: must be a finite number, not nan$"),
    ({"a": {}, "b": {}}, (((("a", "b"),), -0.5),), (), "^link a -> b: bandwidth: -1/2 must not be negative$"),
    ({"a": {}, "b": {}}, (((("a", "b"), ("b", "a")), None),), (), "^link a -> b and b -> a: bandwidth: must be a num"),
]


@pytest.mark.parametrize(("nodes", "shares", "requests", "message"), BAD_PROBLEMS)
def test_bad_ring_problems_are_refused(nodes: Any, shares: Any, requests: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        RingProblem(nodes, shares, requests)


def test_bad_requests_are_refused() -> None:
    with pytest.raises(InputError, match="ring size 0 is not positive"):
        ask(profit={0: Fraction(1)})
    with pytest.raises(InputError, match="a ring of 2 nodes, but 1 allowed"):
        ask(profit={2: Fraction(1)}, allowed=(frozenset("a"),))
    with pytest.raises(InputError, match=r"^request r: profit\[1\]: must be a finite number, not nan$"):
        ask(profit={1: math.nan})
    with pytest.raises(InputError, match=r"^request r: demand\['gpu'\]: -1 must not be negative$"):
        ask(demand={"gpu": -1})
    with pytest.raises(InputError, match=r"^request r: bandwidth: -1/10 must not be negative$"):
        ask(bandwidth=-0.1)


def test_floats_of_a_request_are_the_fractions_that_are_meant() -> None:
    found = ask(profit={1: 0.3}, demand={"gpu": np.float64(0.1)}, bandwidth=0.2)
    assert (found.profit, found.demand) == ({1: Fraction(3, 10)}, {"gpu": Fraction(1, 10)})
    assert found.bandwidth == Fraction(1, 5)
    problem = RingProblem({"a": {"gpu": 0.3}}, (), (found,))
    assert problem.room(found, "a") == 1
    assert problem.room(ask(profit={9: 1}, demand={"gpu": 0.1}), "a") == 3


def test_substrates_from_networkx() -> None:
    """An undirected edge is one share of both directions; numbers may be floats and nodes may lack a capacity."""
    graph = nx.Graph()
    graph.add_node("a", capacity={"gpu": 1})
    graph.add_node("b", capacity={"gpu": 0.5})
    graph.add_node("x")
    graph.add_edge("a", "x", bandwidth=0.5)
    problem = RingProblem.of(graph, [ask()])
    assert problem.shares == (((("a", "x"), ("x", "a")), Fraction(1, 2)),)
    assert problem.servers == ("a", "b")
    assert problem.hosts(problem.request("r")) == ("a",)
    assert problem.usable(problem.request("r")) == ()
    assert RingProblem.of(graph.to_directed(), []).arcs == (("a", "x"), ("x", "a"))
    with pytest.raises(InputError, match="may have parallel edges"):
        RingProblem.of(nx.MultiDiGraph(), [])
    graph.add_edge("b", "x")
    with pytest.raises(InputError, match="edge 'b' -> 'x' has no bandwidth"):
        RingProblem.of(graph, [])
    with pytest.raises(InputError, match="self loop"):
        RingProblem.of(nx.DiGraph([("a", "a", {"bandwidth": 1})]), [])


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        (
            [(0, 1), "a"],
            r"^node \(0, 1\): must be text or a whole number; networkx.relabel_nodes\(graph, str\) names it$",
        ),
        ([1.5], "^node 1.5: must be text"),
        ([True], "^node True: must be text"),
        ([0, "a", "0"], "^nodes 0 and '0' have the same name: relabel one of them$"),
    ],
)
def test_nodes_that_are_no_names(nodes: list[Any], message: str) -> None:
    """Pyomo takes a tuple for several indices, and schedules name nodes as text."""
    with pytest.raises(InputError, match=message):
        RingProblem.of(_line(nodes), [])


def _line(nodes: list[Any]) -> Any:
    graph = nx.path_graph(nodes)
    nx.set_edge_attributes(graph, 1, "bandwidth")
    return graph


def test_links_to_what_is_no_node() -> None:
    with pytest.raises(InputError, match="links join 7, which is not a node"):
        RingProblem({"a": {}, 0: {}}, (((("a", "x"),), Fraction(1)), (((0, 7),), Fraction(1))), ())


@pytest.mark.parametrize("key", ["02", " 2", "x", "2.0", "-0", "²", "1" * 5000])
def test_slots_are_named_by_plain_numbers(key: str) -> None:
    with pytest.raises(InputError, match=f"^jobs.a.slots: {shown(key)} is not the number of a slot$"):
        Schedule.parse({"problem": "ddljs", "jobs": {"a": {"slots": {key: {"workers": {"s": 1}}}}}})


@pytest.mark.parametrize("seed", range(4))
def test_servers_that_are_alike_are_counted_together(seed: int) -> None:
    drawn = random(seed, jobs=5, servers=12, resources=2, slots=3, workers=3)
    assert sum(count for _, count in drawn.kinds) == len(drawn.servers)
    problem = slot_problem(drawn, drawn.slots)
    for job_ in drawn.jobs:
        assert drawn.total_room(job_) == sum(drawn.room(job_, server.name) for server in drawn.servers)
    for request in problem.requests:
        assert problem.hosts(request) == tuple(u for u in problem.servers if problem.room(request, u))
        assert problem.usable(request) == tuple(
            a for a, limit in problem.capacity.items() if request.bandwidth <= limit
        )
    fewer = problem.keeping(problem.requests[:1])
    assert fewer == RingProblem(problem.nodes, problem.shares, problem.requests[:1])
    assert fewer.resources == RingProblem(problem.nodes, problem.shares, problem.requests[:1]).resources
