"""Witness files: an instance, a seed and what came out, so that anyone can check it again anywhere.

>>> from dlsched.bounds import witness
>>> witness.shipped("hadar-theorem-2-lone-job").claim
'hadar/theorem-2'
>>> witness.replay("hadar-theorem-2-lone-job").reproduced
True
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import Field, StrictInt

from dlsched.arguments import checked, named
from dlsched.errors import InputError
from dlsched.models.document import Document, read_json
from dlsched.models.numbers import agree
from dlsched.models.problem import problems
from dlsched.readable import Readable, Section, facts

if TYPE_CHECKING:
    from dlsched.bounds.claim import Verdict

SHIPPED = "dlsched.bounds.witnesses"


class Witness(Document):
    """The verdict of a claim on one instance, with all that is needed to check it again.

    Attributes
    ----------
    claim, variant, status : str
    seed : int
    parameters : dict
        Of the claim: those that are left out are as in the paper.
    instance : dict
        JSON form of the instance; the claim's id names its problem.
    schedule : dict, optional
        JSON form of the schedule that refutes the claim, where one does.
    measured, bound : float, optional
    statement : str
        What the claim says.
    name : str
        Of a shipped case, e.g. ``H5``.
    details : dict
        What explains the numbers.

    Examples
    --------
    >>> from dlsched.bounds import Witness, attack
    >>> attack("hadar/theorem-1", instances=2).violation.witness.save("witness.json")
    >>> witness = Witness.load("witness.json")
    >>> witness.claim, witness.status, len(witness.read_instance().jobs)
    ('hadar/theorem-1', 'violated', 7)
    """

    claim: str
    variant: str
    status: str
    seed: StrictInt
    instance: dict[str, Any]
    schedule: dict[str, Any] | None = None
    measured: float | None = None
    bound: float | None = None
    statement: str = ""
    name: str = ""
    details: dict[str, Any] = Field(default_factory=dict)
    parameters: dict[str, Any] = Field(default_factory=dict)

    def read_instance(self) -> Document:
        """Return the instance.

        Raises
        ------
        InputError
            If it is not one of those that the claim is about, or there is no such claim.
        """
        from dlsched.bounds.catalog import claim

        kind = claim(self.claim, self.variant).instance_type
        try:
            return kind.parse(self.instance)
        except InputError as error:
            raise InputError(f"instance.{error}") from None


@dataclass(frozen=True, slots=True)
class Replay(Readable):
    """What came out when a witness was checked again.

    Attributes
    ----------
    witness : Witness
    verdict : Verdict
        Recomputed from the instance and the seed alone.
    differences : tuple of str
        What is not as the witness says: status, measured value or bound, or a schedule that breaks a rule or has
        another worth; empty where all is.

    Examples
    --------
    >>> from dlsched.bounds import replay
    >>> replayed = replay("hadar-theorem-2-lone-job")
    >>> replayed.reproduced, replayed.verdict.status.value
    (True, 'violated')
    """

    witness: Witness
    verdict: Verdict
    differences: tuple[str, ...]

    @property
    def reproduced(self) -> bool:
        """Whether status, measured value, bound and what the schedule is worth are as the witness says."""
        return not self.differences

    def _sections(self) -> Iterable[Section]:
        came = "all as the witness says" if self.reproduced else "not as the witness says"
        yield Section(
            f"Replay: {came}", facts(statement=self.witness.statement, differences="; ".join(self.differences))
        )
        yield from self.verdict._sections()


@checked
def replay(witness: Witness | str | os.PathLike[str]) -> Replay:
    """Recompute the verdict of a witness from its instance and seed alone, and compare.

    Parameters
    ----------
    witness : Witness or path
        A path ends in ``.json``; the bare name of a shipped witness will do as well.

    Raises
    ------
    InputError
        If it cannot be read, or names an unknown claim.

    Examples
    --------
    >>> from dlsched.bounds import attack, replay
    >>> attack("hadar/theorem-1", instances=2).violation.witness.save("witness.json")
    >>> replay("witness.json").differences
    ()
    """
    if isinstance(witness, Witness):
        return _replayed(witness)
    document = _read(witness)
    try:
        return _replayed(document)
    except InputError as error:
        raise InputError(f"{os.fspath(witness)}: {error}") from None


def _replayed(document: Witness) -> Replay:
    from dlsched.bounds.catalog import check
    from dlsched.bounds.claim import comparison_unit

    instance = document.read_instance()
    verdict = check(document.claim, instance, document.seed, document.variant, **document.parameters)
    unit = comparison_unit(instance)
    differences = []
    if verdict.status.value != document.status:
        differences.append(f"status: {verdict.status.value}, not {document.status}")
    for name in ("measured", "bound"):
        was, now = getattr(document, name), finite(getattr(verdict, name))
        if was is None and now is not None:
            differences.append(f"{name}: {now}, and the witness has none")
        elif was is not None and (now is None or not agree(was, now, unit=unit)):
            differences.append(f"{name}: {now}, not {was}")
    if document.schedule is not None:
        differences += _of_schedule(document.claim, instance, document.schedule, verdict.witness, unit)
    return Replay(document, verdict, tuple(differences))


def _of_schedule(id_: str, instance: Document, data: dict[str, Any], again: Witness | None, unit: float) -> list[str]:
    """Return what is wrong with a witness's schedule: a rule that it breaks, or another worth than what came out again.

    Among several schedules of the same worth, which one is found may differ between versions.
    """
    from dlsched.algorithms.algorithm import judge_of
    from dlsched.bounds.catalog import claim

    came = None if again is None else again.schedule
    if data == came:
        return []
    own = next((entry for entry in problems() if entry.name == claim(id_).problem), None)
    judge = None if own is None else judge_of(own, data)
    if judge is None or not isinstance(instance, judge.instance):
        return [] if came is None else ["schedule: not the one that came out"]
    try:
        plan = judge.schedule.parse(data)
    except InputError as error:
        raise InputError(f"schedule.{error}") from None
    broken = judge.violations(instance, plan)
    if broken:
        return [f"schedule: {broken[0].place}: {broken[0].message} ({broken[0].rule})"]
    if came is None:
        return []
    was, now = (float(judge.worth(instance, each)) for each in (plan, judge.schedule.parse(came)))
    return [] if agree(was, now, unit=unit) else [f"schedule: one worth {now}, not {was}"]


@checked
def finite(value: float | None) -> float | None:
    """Return a measured value or bound as a witness has it: JSON has no infinity, so that one is left out."""
    return None if value is None or not math.isfinite(value) else value


def _read(path: str | os.PathLike[str]) -> Witness:
    name = os.fspath(path)
    for package in () if name.endswith(".json") else _packages():
        if name in shipped_names(package):
            return shipped(name, package)
    if name != "-" and name == Path(name).name and not (name.endswith(".json") or Path(name).exists()):
        named("witness", name, dict.fromkeys(each for package in _packages() for each in shipped_names(package)))
    data = read_json(path)
    kind = next((entry.name for entry in problems() if entry.fits(data)), None)
    if kind is not None:
        remedy = f"`dlsched verify CLAIM --on {name}` checks claims on it"
        raise InputError(f"{path}: is an instance of {kind} and no witness; {remedy}")
    return Witness.parse(data, path)


def _packages() -> Iterator[str]:
    """Yield the packages that ship witnesses, this one's first: claims are imported only where others may have it."""
    from dlsched.bounds.catalog import claims

    yield SHIPPED
    yield from dict.fromkeys(claim.cases for claim in claims())


@cache
def shipped_names(package: str = SHIPPED) -> tuple[str, ...]:
    """Return the names of the witnesses that a package ships.

    Raises
    ------
    InputError
        If there is no such package.
    """
    try:
        entries = [entry.name for entry in files(package).iterdir()]
    except ModuleNotFoundError:
        raise InputError(f"{package}: no such package, and a claim says that it ships its witnesses") from None
    return tuple(sorted(entry.removesuffix(".json") for entry in entries if entry.endswith(".json")))


@cache
def shipped(name: str, package: str = SHIPPED) -> Witness:
    """Return a witness that a package ships.

    Raises
    ------
    KeyError
        If there is none of that name.
    """
    named("witness", name, dict.fromkeys(shipped_names(package)))
    return Witness.model_validate_json(files(package).joinpath(f"{name}.json").read_text(encoding="utf-8"))
