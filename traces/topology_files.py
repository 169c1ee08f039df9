"""The files of the Internet Topology Zoo: GraphML as published, and YAML as the library alib repacks them.

Source: Knight, Nguyen, Falkner, Bowden, Roughan, The Internet Topology Zoo (IEEE JSAC 29(9), 2011). Both are read here
element by element, since a general GraphML reader adds the unknown ends of edges as new nodes, and keeps one of two
parallel edges that carry the same key, without a word.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree
from xml.parsers import expat

import yaml

from dlsched.errors import InputError, shown
from dlsched.models.files import PathLike, decode, read_bytes
from dlsched.traces.source import Source

MAX_CHARACTERS = 2**20
"""Larger topologies are refused. Arbitrary: 1400 characters for each of the 754 nodes that the largest of the
Zoo has."""

MAX_DEFAULTS = 2**20
"""Attributes that a document gives to nodes or edges by default, in all: few keys could make many of them.
Arbitrary."""

_Keys = Mapping[str | None, ElementTree.Element]


@dataclass(frozen=True, slots=True)
class Topology:
    """A network as its file has it.

    Attributes
    ----------
    source : Source
    layout : str
        ``GraphML`` or ``YAML``.
    graph : networkx.MultiGraph or networkx.MultiDiGraph
        Nodes by their ids in the file, with their attributes as text, and all edges, parallel ones and self loops too.
    """

    source: Source
    layout: str
    graph: Any


class _Loader(yaml.BaseLoader):
    """Reads text, lists and mappings alone; refuses aliases, which can make small files huge, and repeated keys."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            raise yaml.composer.ComposerError(None, None, "aliases are not read", self.peek_event().start_mark)
        return super().compose_node(parent, index)

    def construct_mapping(self, node: Any, deep: bool = False) -> Any:
        seen: set[Any] = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and key.value in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"key {shown(key.value)} appears twice", key.start_mark
                )
            seen.add(key.value if isinstance(key, yaml.ScalarNode) else None)
        return super().construct_mapping(node, deep)


def read_topology(path: PathLike) -> Topology:
    """Read a file of the Topology Zoo, GraphML or YAML as its content tells.

    Raises
    ------
    InputError
        One line that names the file, the place, the value and the rule.
    """
    content = read_bytes(path)
    text = decode(path, content)
    if len(text) > MAX_CHARACTERS:
        raise InputError(f"{path}: {len(text)} characters; topologies of at most {MAX_CHARACTERS} are read")
    is_xml = text.lstrip("\ufeff \t\r\n").startswith("<")
    try:
        graph = _from_graphml(text) if is_xml else _from_yaml(text)
        if not graph:
            raise InputError("has no nodes")
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    return Topology(Source.of(path, content), "GraphML" if is_xml else "YAML", graph)


def _from_yaml(text: str) -> Any:
    data = _parsed_yaml(text)
    if not isinstance(data, dict) or not {"nodes", "edges"} <= data.keys():
        raise InputError("must be a mapping with nodes and edges, as alib's YAML is, or GraphML")
    nodes, edges = data["nodes"], data["edges"]
    if not isinstance(nodes, dict):
        raise InputError(f"nodes: must be a mapping of ids to attributes, not {shown(nodes)}")
    if edges == "":
        edges = []
    if not isinstance(edges, list):
        raise InputError(f"edges: must be a list of pairs of ids, not {shown(edges)}")
    import networkx as nx

    graph = nx.MultiGraph()
    for node, attributes in nodes.items():
        if not isinstance(attributes, dict | str) or (isinstance(attributes, str) and attributes):
            raise InputError(f"nodes.{node}: must be a mapping of attributes, not {shown(attributes)}")
        _add_node(graph, node, attributes or {})
    for n, edge in enumerate(edges):
        if not isinstance(edge, list) or len(edge) != 2:
            raise InputError(f"edges[{n}]: must be a pair of ids, not {shown(edge)}")
        _add_edge(graph, n, edge[0], edge[1], {})
    return graph


def _parsed_yaml(text: str) -> Any:
    try:
        return yaml.load(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"line {mark.line + 1} column {mark.column + 1}: " if mark else ""
        raise InputError(f"{place}not YAML: {error.problem or error.context}") from None
    except yaml.YAMLError as error:
        raise InputError(f"not YAML: {str(error).splitlines()[0]}") from None
    except RecursionError:
        raise InputError("nested too deeply") from None


def _from_graphml(text: str) -> Any:
    root = _parsed_xml(text)
    graphs = root.findall("{*}graph")
    if _tag(root) != "graphml" or len(graphs) != 1:
        raise InputError("must be a graphml document with one graph")
    if graphs[0].find("{*}hyperedge") is not None:
        raise InputError("has a hyperedge; edges join two nodes")
    keys = {key.get("id"): key for key in root.findall("{*}key")}
    nodes, edges = graphs[0].findall("{*}node"), graphs[0].findall("{*}edge")
    of_nodes, of_edges = _defaults(keys, "node", len(nodes)), _defaults(keys, "edge", len(edges))
    directed = graphs[0].get("edgedefault") == "directed"
    import networkx as nx

    graph = nx.MultiDiGraph() if directed else nx.MultiGraph()
    for element in nodes:
        place = f"node {shown(element.get('id'))}"
        if element.find("{*}graph") is not None:
            raise InputError(f"{place}: has a graph inside; nested graphs are not read")
        _add_node(graph, element.get("id"), of_nodes | dict(_attributes(element, keys, place)))
    for n, element in enumerate(edges):
        if element.get("directed", str(directed).lower()) != str(directed).lower():
            raise InputError(f"edges[{n}]: directed and undirected edges are mixed")
        attributes = of_edges | dict(_attributes(element, keys, f"edges[{n}]"))
        _add_edge(graph, n, element.get("source"), element.get("target"), attributes)
    return graph


def _parsed_xml(text: str) -> ElementTree.Element:
    if "<!DOCTYPE" in text:
        raise InputError("has a document type declaration; such XML is not read")
    try:
        return ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        line, column = error.position
        raise InputError(f"line {line} column {column + 1}: not XML: {expat.ErrorString(error.code)}") from None


def _tag(element: ElementTree.Element) -> str:
    return element.tag.rpartition("}")[2]


def _defaults(keys: _Keys, kind: str, count: int) -> dict[str, str]:
    """Return the attributes that the document gives by default to so many nodes or edges, by name."""
    found = {}
    for key in keys.values():
        default = key.find("{*}default")
        if default is not None and key.get("for") in (kind, "all"):
            found[_name_of(key, f"{kind}s")] = default.text or ""
    if len(found) * count > MAX_DEFAULTS:
        raise InputError(f"{kind}s: {len(found)} defaults for each of {count}; in all, {MAX_DEFAULTS} are read")
    return found


def _attributes(element: ElementTree.Element, keys: _Keys, place: str) -> Iterator[tuple[str, str]]:
    """Yield the attributes that a node or an edge has itself, by name."""
    for data in element.findall("{*}data"):
        key_ = keys.get(data.get("key"))
        if key_ is None:
            raise InputError(f"{place}: data has the key {shown(data.get('key'))}, which the document does not define")
        yield _name_of(key_, place), data.text or ""


def _name_of(key: ElementTree.Element, place: str) -> str:
    name = key.get("attr.name")
    if name is None:
        raise InputError(f"{place}: its key {shown(key.get('id'))} has no attr.name")
    return name


def _add_node(graph: Any, node: Any, attributes: Mapping[str, Any]) -> None:
    if not isinstance(node, str) or not node:
        raise InputError(f"nodes: id {shown(node)} must be text")
    if node in graph:
        raise InputError(f"nodes: id {shown(node)} appears twice")
    graph.add_node(node)
    graph.nodes[node].update(attributes)


def _add_edge(graph: Any, number: int, source: Any, target: Any, attributes: Mapping[str, Any]) -> None:
    for node in (source, target):
        if not isinstance(node, str) or node not in graph:
            raise InputError(f"edges[{number}]: {shown(node)} is not a node of the file")
    key = graph.add_edge(source, target)
    graph.edges[source, target, key].update(attributes)
