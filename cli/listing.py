"""The verb `list`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from dlsched.cli import output
from dlsched.cli.options import Json

Entry = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of what there is.

    Attributes
    ----------
    entries : callable
        Yields what there is, in order, as JSON has it.
    columns : dict
        Of its table: what each is called, and what of an entry it shows.
    """

    entries: Callable[[], Iterator[Entry]]
    columns: dict[str, str]

    def names(self) -> list[str]:
        """Return the names, each once."""
        return list(dict.fromkeys(entry["id"] if "id" in entry else entry["name"] for entry in self.entries()))


def _problems() -> Iterator[Entry]:
    from dlsched.models.problem import problems

    for problem in problems():
        yield {"name": problem.name, "title": problem.title}


def _formulations() -> Iterator[Entry]:
    from dlsched.models.catalog import catalog

    for entry in catalog():
        yield {
            "name": entry.name,
            "problem": entry.problem,
            "title": entry.title,
            "equations": list(entry.equations),
            "kind": entry.kind.value,
            "data": dict(entry.data),
        }


def _algorithms() -> Iterator[Entry]:
    from dlsched.algorithms.algorithm import algorithms

    for entry in algorithms():
        yield {
            "name": entry.name,
            "also": list(entry.also),
            "problem": entry.problem,
            "policy": entry.policy is not None,
            "title": entry.title,
        }


def _presets() -> Iterator[Entry]:
    from dlsched.models.problem import problems

    for problem in problems():
        for name in problem.families:
            yield {"problem": problem.name, "name": name}


def _formats() -> Iterator[Entry]:
    from dlsched.traces.reader import readers

    for entry in readers():
        yield {"name": entry.name, "problem": entry.problem, "title": entry.title}


def _claims() -> Iterator[Entry]:
    from dlsched.bounds.catalog import claims

    for claim in claims():
        yield {
            "id": claim.id,
            "variant": claim.variant.value,
            "expectation": claim.expectation.value,
            "statement": claim.statement,
        }


def _witnesses() -> Iterator[Entry]:
    from dlsched.bounds.catalog import claims

    for claim in claims():
        for name in (*claim.counterexamples, *claim.golden):
            witness = claim.case(name)
            yield {
                "name": name,
                "claim": claim.id,
                "variant": claim.variant.value,
                "status": witness.status,
                "measured": witness.measured,
                "bound": witness.bound,
            }


def _figures() -> Iterator[Entry]:
    from dlsched.figures import figures

    for figure in figures():
        yield {
            "name": figure.name,
            "paper": figure.paper,
            "title": figure.title,
            "says": figure.says,
            "data": list(figure.data),
        }


KINDS = {
    "problems": Kind(_problems, {"name": "name", "what it is": "title"}),
    "formulations": Kind(
        _formulations,
        {"name": "name", "kind": "kind", "equations": "equations", "what it is": "title", "takes": "data"},
    ),
    "algorithms": Kind(
        _algorithms, {"name": "name", "also": "also", "problem": "problem", "policy": "policy", "what it is": "title"}
    ),
    "presets": Kind(_presets, {"problem": "problem", "name": "name"}),
    "formats": Kind(_formats, {"name": "name", "problem": "problem", "what it is": "title"}),
    "claims": Kind(_claims, {"id": "id", "variant": "variant", "known to be": "expectation", "statement": "statement"}),
    "witnesses": Kind(
        _witnesses,
        {"name": "name", "variant": "variant", "status": "status", ">measured": "measured", ">bound": "bound"},
    ),
    "figures": Kind(_figures, {"name": "name", "where": "paper", "what it shows": "title", "needs": "data"}),
}
"""What can be listed, by name."""

_NAMES = ("name", "id", "problem", "claim")
"""Fields of an entry by which it is asked for."""

_LONG = frozenset({"witnesses"})
"""Of these the overview tells the number alone. There are hundreds."""


def list_(
    kind: Annotated[
        str | None,
        typer.Argument(
            metavar="KIND", help=f"{', '.join(KINDS)}; an overview where left out.", autocompletion=lambda: list(KINDS)
        ),
    ] = None,
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME", help="Those of a problem or a paper ('hadar'), by name or by pattern."),
    ] = None,
    as_json: Json = False,
) -> None:
    """List what there is: formulations, algorithms, claims, witnesses, figures, ...

    `dlsched list claims hadar` tells what each claim of the paper says.
    """
    from dlsched.arguments import named

    if kind is None:
        _overview(as_json)
        return
    entries = _asked(list(named("kind", kind, KINDS).entries()), names or ())
    if as_json:
        output.emit_json(entries)
        return
    columns = KINDS[kind].columns
    output.table(
        kind.capitalize(), list(columns), [[_cell(entry[field]) for field in columns.values()] for entry in entries]
    )


def _overview(as_json: bool) -> None:
    """Tell the names of everything."""
    if as_json:
        known = {name: list(kind.entries()) for name, kind in KINDS.items()}
        problems = [entry["name"] for entry in known["problems"]]
        output.emit_json({**known, "problems": problems})
        return
    names = {name: kind.names() for name, kind in KINDS.items()}
    rows = [(name, len(among), "" if name in _LONG else ", ".join(among)) for name, among in names.items()]
    output.table("What there is", ("kind", ">number", "names"), rows)
    output.emit("`dlsched list KIND [NAME]...` tells more: `dlsched list claims hadar`.")


def _asked(entries: list[Entry], names: Sequence[str]) -> list[Entry]:
    """Return the entries that some names stand for; all where there is none.

    Raises
    ------
    InputError
        If a name fits none.
    """
    from dlsched.arguments import matching, named

    if not names:
        return entries
    known = {str(entry[field]): () for field in _NAMES for entry in entries if field in entry}
    chosen: set[str] = set()
    for name in names:
        chosen.update(matching(name, known) or named("name", name, known))
    return [entry for entry in entries if any(entry.get(field) in chosen for field in _NAMES)]


def _cell(value: Any) -> Any:
    return " ".join(value) if isinstance(value, list) else ", ".join(value) if isinstance(value, dict) else value
