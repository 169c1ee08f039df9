"""A replayed witness in words: the instance, what was assumed and measured, the schedule, and what fails beside."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from dlsched.arguments import checked
from dlsched.bounds.catalog import claim, claims_likely
from dlsched.bounds.claim import Claim, Verdict, among, decided
from dlsched.bounds.comparison import Status
from dlsched.bounds.witness import Replay, Witness
from dlsched.errors import cut as shortened
from dlsched.halt import Halt, cut, poll, until

_ENTRIES = 8
"""Entries of a list that are told; of more, how many there are. Arbitrary: witnesses are small."""

_LONGEST = 240
"""Characters of an entry. Arbitrary: three lines of a terminal."""

_PATIENCE = 10.0
"""Seconds for claims that nobody asked for. Arbitrary: nearly all witnesses need less than one."""

_EVIDENCE = "evidence"
"""Among the details of a witness: how its optimum is known."""


@checked
def story(replayed: Replay) -> list[str]:
    """Return what a witness says, in words, a paragraph an entry; what belongs to one before is indented.

    Parameters
    ----------
    replayed : Replay

    Returns
    -------
    list of str
        The claim; the instance; the hypotheses; what is measured, and what explains it; the schedule that refutes the
        claim; which other claims about the same run fail on the instance, where the proof may have leaned on them; the
        corrected claim; and whether all is as the witness says.

    Examples
    --------
    >>> from dlsched.bounds import replay, story
    >>> for line in story(replay("hadar-theorem-2-lone-job"))[1:6]:
    ...     print(line)
    The instance (hadar), lone-job: slots 10, slot seconds 1, device types k80.
    Its machines:
      m1: devices k80 2
    Its jobs:
      J1: arrival 1, gang 1, iterations 9, rate k80 1, utility table (values 1, 10 times)
    """
    return list(_paragraphs(replayed))


def _paragraphs(replayed: Replay) -> Iterator[str]:
    witness, verdict = replayed.witness, replayed.verdict
    known = claim(witness.claim, witness.variant)
    yield f"{known.paper} ({known.variant.value}): {known.statement}"
    yield from _instance(known.problem, witness)
    yield from _hypotheses(known, verdict)
    yield from _measured(known, verdict)
    if verdict.witness is not None and verdict.witness.schedule is not None:
        yield "The schedule that refutes it:"
        yield from _entries(verdict.witness.schedule["jobs"])
    yield from _beside(known, witness)
    yield (
        "All of this came out again from the instance and its seed alone."
        if replayed.reproduced
        else f"This is not what the witness says: {'; '.join(replayed.differences)}."
    )


def _instance(problem: str, witness: Witness) -> Iterator[str]:
    """Tell an instance: its numbers in a line, and what it has several of an entry a line."""
    several = {name: value for name, value in witness.instance.items() if _is_several(value)}
    plain = {name: value for name, value in witness.instance.items() if name not in several and name != "origin"}
    yield f"The instance ({problem}){f', {witness.name}' if witness.name else ''}: {_said(plain)}."
    for name, entries in several.items():
        yield f"Its {name}:"
        yield from _entries({str(entry.get("name", k)): entry for k, entry in enumerate(entries, start=1)})


def _is_several(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(entry, dict) for entry in value)


def _entries(entries: Mapping[str, Any]) -> Iterator[str]:
    for name, entry in list(entries.items())[:_ENTRIES]:
        rest = {key: value for key, value in entry.items() if key != "name"} if isinstance(entry, dict) else entry
        yield f"  {shortened(f'{name}: {_said(rest)}', _LONGEST)}"
    if len(entries) > _ENTRIES:
        yield f"  and {len(entries) - _ENTRIES} more"


def _hypotheses(known: Claim[Any], verdict: Verdict) -> Iterator[str]:
    """Tell what the paper assumes, and whether it is so here."""
    if verdict.status is Status.PREMISE_FAILS:
        yield f"A hypothesis does not hold here, so that the claim says nothing: {verdict.reason}."
    elif known.premises:
        yield "What it assumes holds here:"
        yield from (f"  {p.name}{f' ({p.source})' if p.source else ''}" for p in known.premises)


def _measured(known: Claim[Any], verdict: Verdict) -> Iterator[str]:
    if verdict.measured is not None and verdict.bound is not None:
        is_so = verdict.status in (Status.HOLDS, Status.VACUOUS)
        yield (
            f"Measured is {known.quantity}. It is {_number(verdict.measured)} and "
            f"{'is' if is_so else 'is to be'} {known.relation.value} {_number(verdict.bound)}: {verdict.status.value}."
        )
    if verdict.reason and verdict.status is not Status.PREMISE_FAILS:
        yield f"Why it is {verdict.status.value}: {verdict.reason}."
    details = dict(verdict.witness.details) if verdict.witness is not None else {}
    evidence = details.pop(_EVIDENCE, ())
    if details:
        yield "In numbers:"
        yield from _entries(details) if len(details) <= _ENTRIES else (f"  {n}: {_said(v)}" for n, v in details.items())
    if evidence:
        yield f"How the optimum is known: {'; '.join(evidence)}."


def _beside(known: Claim[Any], witness: Witness) -> Iterator[str]:
    """Tell which other claims about the same facts fail on the instance, and what the corrected one says there."""
    about = (known.instance, known.facts)
    near = [
        c for c in claims_likely([known.id]) if (c.instance, c.facts) == about and c.key != known.key and not c.sampled
    ]
    near.sort(key=lambda c: c.id != known.id)
    verdicts = _in_time(decided(near, witness.read_instance(), witness.seed, _taken(near, witness.parameters)))
    broken = []
    for other, verdict in zip(near, verdicts, strict=False):
        if other.id == known.id:
            yield f"{other.variant.value.capitalize()}, it says: {other.statement}. Here: {_sides(other, verdict)}."
        elif verdict.status is Status.VIOLATED:
            broken.append(f"  {other.id} ({other.variant.value}): {other.statement}. Here: {_sides(other, verdict)}.")
    if broken:
        yield "Other claims about the same run fail on this instance, too; a proof that leans on one breaks there:"
        yield from broken
    if len(verdicts) < len(near):
        yield f"{len(near) - len(verdicts)} more claims about it take longer than {_PATIENCE:g} s to check."


def _in_time(verdicts: Iterator[Verdict]) -> list[Verdict]:
    """Return the verdicts that come before patience ends."""
    found: list[Verdict] = []
    try:
        with until(seconds=_PATIENCE):
            cut(lambda: found.extend(_until_over(verdicts)))
    except Halt:
        # Whoever called may be the one whose time is up.
        poll()
    return found


def _until_over(verdicts: Iterator[Verdict]) -> Iterator[Verdict]:
    for verdict in verdicts:
        # One that was cut short is no verdict.
        poll()
        yield verdict


def _taken(near: Iterable[Claim[Any]], parameters: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for other in near for name, value in among(other, parameters).items()}


def _sides(known: Claim[Any], verdict: Verdict) -> str:
    if verdict.measured is None or verdict.bound is None:
        return f"{verdict.status.value}, {verdict.reason}" if verdict.reason else verdict.status.value
    return f"{verdict.status.value}, {_number(verdict.measured)} {known.relation.value} {_number(verdict.bound)}"


def _number(value: float) -> str:
    return f"{value:.6g}"


def _said(value: Any) -> str:
    """Return plain data as words: names with their values, lists with their first entries."""
    if isinstance(value, Mapping):
        own = {name: entry for name, entry in value.items() if name != "kind"}
        words = ", ".join(f"{name} {_inner(entry)}".rstrip() for name, entry in _merged(own))
        return f"{value['kind']} ({words})" if "kind" in value else words
    if isinstance(value, Sequence) and not isinstance(value, str):
        return _listed(value)
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: ""}[value]
    return _number(value) if isinstance(value, float) else str(value)


def _inner(value: Any) -> str:
    apart = isinstance(value, list) and len(value) > 1 and any(entry != value[0] for entry in value)
    apart |= isinstance(value, Mapping) and len(value) > 1 and "kind" not in value
    return f"({_said(value)})" if apart else _said(value)


def _listed(entries: Sequence[Any]) -> str:
    if len(entries) > 1 and all(entry == entries[0] for entry in entries):
        return f"{_inner(entries[0])}, {len(entries)} times"
    told = ", ".join(map(_inner, entries[:_ENTRIES])) or "none"
    return f"{told}, ... ({len(entries)} in all)" if len(entries) > _ENTRIES else told


def _merged(entries: Mapping[Any, Any]) -> Iterator[tuple[str, Any]]:
    """Yield names with their entries; successive slots with the same one stand together."""
    runs: list[tuple[list[str], Any]] = []
    for name, entry in entries.items():
        text = str(name)
        if runs and text.isdigit() and runs[-1][0][-1] == str(int(text) - 1) and runs[-1][1] == entry:
            runs[-1][0].append(text)
        else:
            runs.append(([text], entry))
    for names, entry in runs:
        yield (f"{names[0]}-{names[-1]}" if len(names) > 1 else names[0].replace("_", " ")), entry
