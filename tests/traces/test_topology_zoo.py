"""The Topology Zoo's files: what is read, how it becomes a network of servers, and what is refused."""

from __future__ import annotations

import hashlib
from fractions import Fraction
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

from dlsched.models import InputError
from dlsched.models.ddljs import Instance
from dlsched.traces import topology_files, topology_zoo
from tests import paths
from tests.cases.documents import refused

DATA = paths.DATA / "topology"
GRAPHML = (DATA / "small.graphml").read_text(encoding="utf-8")
YAML = (DATA / "small.yml").read_text(encoding="utf-8")


def convert(name: str = "small.graphml", **options: Any) -> Instance:
    return topology_zoo.convert(DATA / name, **{"bandwidth": (10, 10), **options})


def links(instance: Instance) -> dict[tuple[str, str], Fraction]:
    return {link.arc: link.bandwidth for link in instance.links}


def origin(instance: Instance) -> dict[str, str]:
    assert instance.origin is not None
    return instance.origin


def test_yaml_text_stays_text() -> None:
    topology = topology_zoo.read_topology(DATA / "small.yml")
    assert topology.layout == "YAML"
    assert list(topology.graph) == ["0", "1", "10", "2", "3", "4"]
    assert topology.graph.nodes["0"] == {"Country": "Norway", "Internal": "1", "label": "NO"}
    assert topology.graph.number_of_edges() == 5


def test_yaml_network_by_hand() -> None:
    instance = convert("small.yml", gpus=(3,))
    assert links(instance) == {("NO", "Oslo"): 20, ("Oslo", "Elsewhere"): 10, ("Bergen #3", "Bergen #4"): 10}
    assert {node.name: node.capacity_of("gpu") for node in instance.nodes} == {
        "NO": 3,
        "Oslo": 3,
        "10": 3,
        "Elsewhere": 0,
        "Bergen #3": 3,
        "Bergen #4": 3,
    }
    assert instance.duplex is True
    told = origin(instance)
    digest = hashlib.sha256((DATA / "small.yml").read_bytes()).hexdigest()
    assert told["file"] == f"small.yml, sha256 {digest}, YAML, 6 nodes, 5 edges"
    assert told["links"] == "3 of 5 edges: 1 parallel ones merged, their bandwidths added, and 1 self loops dropped"
    assert told["network"] == "disconnected, in 3 parts"
    assert told["bandwidth"] == "Gbit/s; 0 edges have the speed that the file gives, 5 have 10"
    assert told["servers"].startswith("5 of 6 nodes")
    assert told["jobs"] == "none"
    assert instance.jobs == ()


def test_graphml_speeds_by_hand() -> None:
    """2.5 and .155 Gbit/s in parallel, although both carry the same key; 1 Gbit/s in either unit; one range."""
    instance = convert()
    assert links(instance) == {("A", "B"): Fraction("2.655"), ("A", "hub"): 10, ("B", "hub"): 1, ("hub", "outside"): 1}
    assert [server.name for server in instance.servers] == ["A", "B"]
    assert origin(instance)["bandwidth"] == "Gbit/s; 4 edges have the speed that the file gives, 1 have 10"
    assert origin(instance)["network"] == "connected"


def test_directions_are_kept() -> None:
    instance = convert("directed.graphml", bandwidth=None)
    assert instance.duplex is False
    assert links(instance) == {("a", "b"): 2, ("b", "c"): 1, ("c", "a"): 1, ("b", "a"): 3}
    with pytest.raises(InputError, match=r"directed\.graphml: half: the links of the file have a direction"):
        convert("directed.graphml", half=True)
    assert convert(half=True).duplex == "half"


def test_which_nodes_are_servers() -> None:
    assert len(convert(servers="all").servers) == 4
    one = convert(servers=1, seed=3)
    assert len(one.servers) == 1
    assert {convert(servers=1, seed=seed).servers[0].name for seed in range(9)} == {"A", "B"}


def test_draws_stay_in_their_ranges_and_depend_on_the_seed_alone() -> None:
    drawn = [convert("small.yml", bandwidth=("1/3", 2), gpus=(1, 4), seed=seed) for seed in range(12)]
    widths = [links(instance)["Oslo", "Elsewhere"] for instance in drawn]
    assert all(Fraction(1, 3) <= width <= 2 and (100 * width).denominator == 1 for width in widths)
    assert len(set(widths)) > 6
    assert {server.capacity_of("gpu") for instance in drawn for server in instance.servers} == {1, 4}
    assert drawn[5] == convert("small.yml", bandwidth=("1/3", 2), gpus=(1, 4), seed=5)


def test_jobs_are_drawn_as_in_the_paper() -> None:
    instance = convert(jobs=6, slots=9, workers=3, budget="iterations", seed=2)
    assert (len(instance.jobs), instance.slots) == (6, 9)
    assert all(1 <= job.arrival <= 9 and job.max_workers <= 3 for job in instance.jobs)
    assert all(50 <= job.progress <= 500 and Fraction(1, 10) <= job.bandwidth <= 5 for job in instance.jobs)
    assert origin(instance)["jobs"] == "6 drawn as in GADGET, Section VI"
    assert "iterations" in origin(instance)["budget"]
    assert Instance.parse(instance.dump()) == instance


def test_any_networkx_graph_will_do() -> None:
    graph = nx.path_graph(4)
    network = topology_zoo.substrate(graph, np.random.default_rng(0), bandwidth=(2, 2), gpus=(1,))
    assert [(link.arc, link.bandwidth) for link in network.links] == [(("0", "1"), 2), (("1", "2"), 2), (("2", "3"), 2)]
    assert [node.name for node in network.nodes] == ["0", "1", "2", "3"]
    cycle = nx.cycle_graph(3, create_using=nx.DiGraph)
    assert topology_zoo.substrate(cycle, np.random.default_rng(0), bandwidth=(2, 2)).directed


def test_options_in_text() -> None:
    assert topology_zoo.parse_gpus("1, 2,8") == (1, 2, 8)
    assert topology_zoo.parse_bandwidth("10") == (10, 10)
    assert topology_zoo.parse_bandwidth("1/2,2.5") == (Fraction(1, 2), Fraction(5, 2))
    for text in ("", "1,0", "-1", "1.5", "1,,2", "²"):
        with pytest.raises(InputError, match=r"^gpus: "):
            topology_zoo.parse_gpus(text)
    for text in ("", "nan", "1,2,3", "a,b"):
        with pytest.raises(InputError, match=r"^bandwidth: "):
            topology_zoo.parse_bandwidth(text)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bandwidth": None}, "1 of 5 edges have no LinkSpeed; give a bandwidth for these"),
        ({"bandwidth": (2, 1)}, "bandwidth: 2,1 must be a range, its least first, within 0 to 1000000000"),
        ({"bandwidth": (-1, 1)}, "bandwidth: -1,1 must be a range, its least first, within 0 to 1000000000"),
        ({"bandwidth": (0, 10**10)}, "bandwidth: 0,10000000000 must be a range, its least first, within"),
        ({"gpus": ()}, "gpus: must be positive whole numbers"),
        ({"gpus": (1, 0)}, "gpus: must be positive whole numbers"),
        ({"servers": "some"}, "servers: 'some' must be internal, all or a number"),
        ({"servers": 3}, "servers: 3 must be from 1 to the 2 internal nodes"),
        ({"servers": 0}, "servers: 0 must be from 1 to the 2 internal nodes"),
        ({"jobs": -1}, "jobs: -1 must be from 0 to 1000000"),
        ({"slots": 0}, "slots: 0 must be from 1 to 1000000"),
        ({"jobs": 1, "workers": 0}, "workers: 0 must be from 1 to 1000000"),
        ({"jobs": 1, "budget": "money"}, "budget: 'money' must be one of worker-slots, iterations"),
    ],
)
def test_bad_requests_are_refused(options: dict[str, Any], message: str) -> None:
    assert message in refused(convert, **options)


YAML_FAULTS = [
    ("", "must be a mapping with nodes and edges"),
    ("nodes: {a: {}}\n", "must be a mapping with nodes and edges"),
    ("graph [\n  node [ id 0 ]\n]\n", "must be a mapping with nodes and edges, as alib's YAML is, or GraphML"),
    ("nodes: {}\nedges: []\n", "has no nodes"),
    ("nodes: [a]\nedges: []\n", "nodes: must be a mapping of ids to attributes, not ['a']"),
    ("nodes: {a: 3}\nedges: []\n", "nodes.a: must be a mapping of attributes, not '3'"),
    ("nodes: {a: {}}\nedges: {a: a}\n", "edges: must be a list of pairs of ids, not {'a': 'a'}"),
    ("nodes: {a: {}}\nedges: [[a, b]]\n", "edges[0]: 'b' is not a node of the file"),
    ("nodes: {a: {}}\nedges: [[a, [a]]]\n", "edges[0]: ['a'] is not a node of the file"),
    ("nodes: {a: {}}\nedges: [[a, a], [a]]\n", "edges[1]: must be a pair of ids, not ['a']"),
    ("nodes: {a: {}}\nedges: [aa]\n", "edges[0]: must be a pair of ids, not 'aa'"),
    ("nodes: {a: {}, a: {}}\nedges: []\n", "line 1 column 16: not YAML: key 'a' appears twice"),
    ("nodes: {a: {}\nedges: []\n", "line 2 column 1: not YAML: expected ',' or '}'"),
    ("nodes: &n {a: {}}\nedges: *n\n", "line 2 column 8: not YAML: aliases are not read"),
    ("nodes: {? [a] : {}}\nedges: []\n", "line 1 column 11: not YAML: found unhashable key"),
    ("a: 1\n---\nb: 2\n", "line 2 column 1: not YAML: "),
    ("nodes: \x01\n", "not YAML: "),
    ("[" * 2_000, "nested too deeply"),
]


XML_FAULTS = [
    ("<graphml>", "line 1 column 10: not XML: no element found"),
    ("<graphml/>", "must be a graphml document with one graph"),
    ("<gexf><graph/></gexf>", "must be a graphml document with one graph"),
    ("<graphml><graph/><graph/></graphml>", "must be a graphml document with one graph"),
    ("<graphml><graph/></graphml>", "has no nodes"),
    ('<!DOCTYPE a [<!ENTITY b "c">]><graphml/>', "has a document type declaration; such XML is not read"),
    ("<graphml><graph><node/></graph></graphml>", "nodes: id None must be text"),
    ("<graphml><graph><node id='a'/><node id='a'/></graph></graphml>", "nodes: id 'a' appears twice"),
    ("<graphml><graph><node id='a'><graph/></node></graph></graphml>", "node 'a': has a graph inside"),
    ("<graphml><graph><hyperedge/><node id='a'/></graph></graphml>", "has a hyperedge; edges join two nodes"),
    (GRAPHML.replace('source="1" target="2"', 'source="1" target="9"'), "edges[3]: '9' is not a node of the file"),
    (GRAPHML.replace('target="2"', ""), "edges[2]: None is not a node of the file"),
    (GRAPHML.replace('id="d7"', 'id="e7"'), "edges[2]: data has the key 'd7', which the document does not define"),
    (GRAPHML.replace('attr.name="hyperedge"', ""), "node '2': its key 'd2' has no attr.name"),
    (GRAPHML.replace('source="2"', 'directed="true" source="2"'), "edges[4]: directed and undirected edges are mixed"),
    (GRAPHML.replace("1e+09", "fast"), "edge 2 to 3: LinkSpeedRaw: must be a number"),
    (GRAPHML.replace("1e+09", "inf"), "edge 2 to 3: LinkSpeedRaw: must be a number"),
    (GRAPHML.replace(">M<", ">Mbps<"), "edge 0 to 1: LinkSpeed '155', LinkSpeedUnits 'Mbps': must be one of K, M, G"),
    (GRAPHML.replace(">M<", "><"), "edge 0 to 1: LinkSpeed '155', without LinkSpeedUnits: must be one of K, M, G"),
    (GRAPHML.replace(">155<", ">-155<"), "edge 0 to 1: LinkSpeed: '-155' must not be negative"),
    (GRAPHML.replace(">1</default>", ">0</default>"), "servers: the file marks every node as not internal; take all"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("text", "message"), YAML_FAULTS + XML_FAULTS)
def test_bad_files_are_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "network"
    path.write_text(text, encoding="utf-8")
    assert refused(topology_zoo.convert, path, bandwidth=(1, 1)).startswith(f"{path}: {message}")


def test_tags_make_no_objects(tmp_path: Path) -> None:
    path = tmp_path / "network.yml"
    made = tmp_path / "made"
    call = f"!!python/object/apply:pathlib.Path.touch [!!python/object/apply:pathlib.Path ['{made}']]"
    path.write_text(f"nodes: {{a: {{label: {call}}}}}\nedges: []\n", encoding="utf-8")
    topology_zoo.read_topology(path)
    assert not made.exists()


def test_too_large_files_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(topology_files, "MAX_CHARACTERS", len(YAML) - 1)
    with pytest.raises(InputError, match=rf"{len(YAML)} characters; topologies of at most {len(YAML) - 1} are read"):
        convert("small.yml")


@pytest.mark.parametrize("name", ["no such file", "."])
def test_what_is_no_file_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match=r"no such file|is not a file"):
        topology_zoo.read_topology(tmp_path / name)


def test_general_reader_loses_what_is_kept_here() -> None:
    """The reason to read GraphML element by element: equal keys, and ends of edges that are not nodes."""
    general = nx.parse_graphml(GRAPHML, force_multigraph=True)
    assert general.number_of_edges() == 4 < topology_zoo.read_topology(DATA / "small.graphml").graph.number_of_edges()
    assert "9" in nx.parse_graphml(GRAPHML.replace('target="3"', 'target="9"'))


@pytest.mark.shared_data
def test_published_yaml(shared: Path) -> None:
    """Numbers of nodes, of links, and of parallel edges counted with grep and sort."""
    expected = {"Abilene": (11, 14, 0), "Eenet": (13, 13, 3), "Bellcanada": (48, 64, 1), "Dfn": (58, 87, 0)}
    for name, (nodes, edges, parallel) in expected.items():
        path = shared / "data" / "topology_zoo" / f"{name}.yml"
        instance = topology_zoo.convert(path, bandwidth=(10, 100), jobs=2)
        assert (len(instance.nodes), len(instance.links)) == (nodes, edges)
        assert f"{parallel} parallel ones merged" in origin(instance)["links"]
    assert len(list((shared / "data" / "topology_zoo").glob("*.yml"))) == 21


@pytest.mark.shared_data
@pytest.mark.parametrize("name", ["Cogentco", "Deltacom"])
def test_published_graphml_as_networkx_reads_it(shared: Path, name: str) -> None:
    """These files have no faults, so the general reader finds the same nodes and edges."""
    path = shared / "data" / "pop" / f"{name}.graphml.txt"
    ours, general = topology_zoo.read_topology(path).graph, nx.read_graphml(path)
    assert list(ours) == list(general)
    assert sorted(map(sorted, ours.edges())) == sorted(map(sorted, general.edges()))
    for node, attributes in general.nodes(data=True):
        assert ours.nodes[node]["label"] == attributes["label"]
        assert int(ours.nodes[node]["Internal"]) == attributes["Internal"]
    instance = topology_zoo.convert(path, bandwidth=(10, 10))
    assert len(instance.links) == nx.Graph(general).number_of_edges()
