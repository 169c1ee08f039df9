"""Components named like those of a source model: same block, same name, same indices."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pyomo.environ as pyo

from dlsched.relaxations.tree import free_name

_SIDES = {"": "", "_lower": "the lower side of ", "_upper": "the upper side of ", "_fixed": "the value of "}


class Mirror:
    """Adds components to a new model at the places that components of a source model have.

    Parameters
    ----------
    source, model : pyomo.environ.ConcreteModel
        The model to look at, and the empty model to fill.
    """

    def __init__(self, source: Any, model: Any) -> None:
        self._blocks = {id(source): model}

    def add_variables(self, items: Iterable[tuple[Any, Any]], suffix: str = "") -> list[Any]:
        """Add a variable for each (component datum of the source, domain), in the order given.

        Parameters
        ----------
        items : iterable of (component datum, Pyomo set)
        suffix : {"", "_lower", "_upper", "_fixed"}
            Appended to the component's name, and a number after it where the source has that name already.
        """
        pairs = list(items)
        created: dict[int, Any] = {}
        for component, members in _by_component(pairs):
            first = members[0][1]
            doc = f"dual of {_SIDES[suffix]}{_described(component)}"
            variable = pyo.Var(*self._index(component, members), domain=first, doc=doc)
            self._add(component, suffix, variable)
            for datum, domain in members:
                added = variable[datum.index()]
                if domain is not first:
                    added.domain = domain
                created[id(datum)] = added
        return [created[id(datum)] for datum, _ in pairs]

    def add_constraints(self, items: Iterable[tuple[Any, Any]]) -> list[Any]:
        """Add a constraint for each (component datum of the source, relation), in the order given."""
        pairs = list(items)
        created: dict[int, Any] = {}
        for component, members in _by_component(pairs):
            constraint = pyo.Constraint(*self._index(component, members), doc=f"dual row of {_described(component)}")
            self._add(component, "", constraint)
            for datum, relation in members:
                created[id(datum)] = constraint.add(datum.index(), relation)
        return [created[id(datum)] for datum, _ in pairs]

    def add_objective(self, datum: Any, expression: Any, sense: Any) -> None:
        """Add the objective under the name that the source's has."""
        component = datum.parent_component()
        self._add(component, "", pyo.Objective(expr=expression, sense=sense, doc=f"dual of {_described(component)}"))

    def _add(self, component: Any, suffix: str, new: Any) -> None:
        block = component.parent_block()
        target = self._block(block)
        name = component.local_name
        target.add_component(free_name(name + suffix, target, block) if suffix else name, new)

    def _index(self, component: Any, members: list[tuple[Any, Any]]) -> tuple[Any, ...]:
        if not component.is_indexed():
            return ()
        return (pyo.Set(initialize=[datum.index() for datum, _ in members], dimen=component.index_set().dimen),)

    def _block(self, block: Any) -> Any:
        if id(block) not in self._blocks:
            component = block.parent_component()
            self._mirror_block(component, self._block(component.parent_block()))
        return self._blocks[id(block)]

    def _mirror_block(self, component: Any, target: Any) -> None:
        index = (pyo.Set(initialize=list(component.keys()), dimen=component.index_set().dimen),)
        new = pyo.Block(*(index if component.is_indexed() else ()), doc=component.doc)
        target.add_component(component.local_name, new)
        for key, datum in component.items():
            self._blocks[id(datum)] = new[key]


def _by_component(pairs: list[tuple[Any, Any]]) -> list[tuple[Any, list[tuple[Any, Any]]]]:
    groups: dict[int, tuple[Any, list[tuple[Any, Any]]]] = {}
    for datum, payload in pairs:
        component = datum.parent_component()
        groups.setdefault(id(component), (component, []))[1].append((datum, payload))
    return list(groups.values())


def _described(component: Any) -> str:
    return str(component.doc or component.name)
