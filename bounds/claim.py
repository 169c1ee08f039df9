"""What a claim of a paper is, and what checking one on an instance answers.

A claim compares a measured quantity with its bound under premises. Quantities that rest on an optimum are intervals:
its lower end is the utility of a schedule that anyone can check, its upper end a proved bound. A claim is violated
only by the end that speaks against it, and holds only by the other; where the two do not suffice it is undecided.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import Enum
from types import MappingProxyType
from typing import Any

from dlsched.bounds.comparison import Interval, Relation, Status, Value, compare
from dlsched.bounds.witness import Witness, finite
from dlsched.models.arguments import at_least, checked, expect
from dlsched.models.document import Document, InputError
from dlsched.models.registry import Registry

PAPERS = ("hadar", "smd", "pd_ors", "gadget")
"""Modules of this room that hold a paper's ``CLAIMS``."""

PROBLEMS = MappingProxyType(
    {"hadar": "hadar", "smd": "smd", "pd-ors": "dmlrs", "pd-ors-thesis": "dmlrs", "gadget": "ddljs"}
)
"""What claims' ids begin with, and the problem package of `dlsched.models` that they are about."""


class Variant(Enum):
    """As the paper prints a claim, or corrected so that it is true or says what was meant."""

    PRINTED = "printed"
    CORRECTED = "corrected"


class Expectation(Enum):
    """What is known of a claim: proved, refuted by a counterexample, or true without saying anything."""

    TRUE = "true"
    FALSE = "false"
    VACUOUS = "vacuous"


class Undecided(Exception):
    """Raised while a claim is evaluated: a limit on nodes, states or schedules was hit, or a proof is missing."""


Facts = Any
"""What a problem knows of one (instance, seed): its constants, runs and optimum, computed when first asked for."""


@dataclass(frozen=True, slots=True)
class Premise:
    """A hypothesis of a claim.

    Attributes
    ----------
    name : str
        What is assumed, in the paper's symbols.
    holds : callable
        Predicate of the facts of (instance, seed).
    """

    name: str
    holds: Callable[[Facts], bool]


@dataclass(frozen=True, slots=True)
class Claim:
    """One claim of a paper in one variant.

    Attributes
    ----------
    id : str
        E.g. ``hadar/theorem-2``.
    paper : str
        Where it stands, e.g. ``Hadar, Theorem 2``.
    variant : Variant
    statement : str
    quantity : str
        What is measured, in words.
    measure, bound : callable
        The two sides, of the facts.
    relation : Relation
    expectation : Expectation
        The known verdict on the claim as a whole.
    facts : callable
        ``(instance, seed) -> facts``.
    premises : tuple of Premise
    details : callable
        Plain JSON data that explain a verdict, of the facts.
    schedule : callable
        The schedule that a witness carries, of the facts; None where none matters.
    sources : tuple of str
        Names of the instance sources that `verify` searches.
    counterexamples : tuple of str
        Names of shipped witnesses on which the claim is known to be violated.
    golden : tuple of str
        Names of shipped cases with another known verdict.
    instances : type of Document, optional
        What it is about, where that is not the problem's `Instance`.
    """

    id: str
    paper: str
    variant: Variant
    statement: str
    quantity: str
    measure: Callable[[Facts], Value]
    bound: Callable[[Facts], Value]
    relation: Relation
    expectation: Expectation
    facts: Callable[[Any, int], Facts]
    premises: tuple[Premise, ...] = ()
    details: Callable[[Facts], dict[str, Any]] = field(default=lambda facts: {})
    schedule: Callable[[Facts], Document | None] = field(default=lambda facts: None)
    sources: tuple[str, ...] = ()
    counterexamples: tuple[str, ...] = ()
    golden: tuple[str, ...] = ()
    instances: type[Document] | None = None

    @property
    def problem(self) -> str:
        """Name of the problem package of `dlsched.models` that its instances are of."""
        return PROBLEMS[self.id.split("/")[0]]

    @property
    def instance_type(self) -> type[Document]:
        """Class of the instances that it is about."""
        found: type[Document] = self.instances or importlib.import_module(f"dlsched.models.{self.problem}").Instance
        return found

    @property
    def key(self) -> tuple[str, str]:
        """Id and variant, which together name a claim."""
        return self.id, self.variant.value


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a claim says on one instance.

    Attributes
    ----------
    claim : str
    variant : Variant
    status : Status
    digest : str
        Of the instance.
    seed : int
    measured, bound : float, optional
        The two sides, at the ends that decide; None where a premise fails or a limit was hit before.
    reason : str
        The premise that fails, or the limit that was hit; else empty.
    witness : Witness, optional
        Where violated: all that is needed to check it again.
    """

    claim: str
    variant: Variant
    status: Status
    digest: str
    seed: int
    measured: float | None = None
    bound: float | None = None
    reason: str = ""
    witness: Witness | None = None


def decide(claim: Claim, instance: Document, seed: int = 0, facts: Facts | None = None) -> Verdict:
    """Return the verdict of a claim on one instance.

    Parameters
    ----------
    claim : Claim
    instance : Document
        An instance of the claim's problem.
    seed : int
        Of every random draw that the run makes.
    facts : optional
        What ``claim.facts(instance, seed)`` returns, where it is at hand already.
    """
    facts = claim.facts(instance, seed) if facts is None else facts
    digest = instance.digest
    known: dict[str, Any] = {"claim": claim.id, "variant": claim.variant, "digest": digest, "seed": seed}
    try:
        for premise in claim.premises:
            if not premise.holds(facts):
                return Verdict(status=Status.PREMISE_FAILS, reason=premise.name, **known)
        status, measured, bound = compare(
            Interval.of(claim.measure(facts)),
            claim.relation,
            Interval.of(claim.bound(facts)),
            unit=comparison_unit(instance),
        )
    except Undecided as limit:
        return Verdict(status=Status.UNDECIDED, reason=str(limit), **known)
    if status is Status.VACUOUS:
        return Verdict(status=status, measured=measured, reason="the bound is infinite", **known)
    witness = _witness(claim, instance, seed, facts, measured, bound) if status is Status.VIOLATED else None
    return Verdict(status=status, measured=measured, bound=bound, witness=witness, **known)


def comparison_unit(instance: Document) -> float:
    """Return below what values count as equally small: 1, or the greatest utility of a job where that is less.

    In a unit in which all utilities are below the tolerance, every bound would hold.
    """
    return min(1.0, float(getattr(instance, "greatest_utility", 1))) or 1.0


def _witness(claim: Claim, instance: Document, seed: int, facts: Facts, measured: float, bound: float) -> Witness:
    schedule = claim.schedule(facts)
    return Witness(
        claim=claim.id,
        variant=claim.variant.value,
        status=Status.VIOLATED.value,
        seed=seed,
        instance=instance.dump(),
        schedule=None if schedule is None else schedule.dump(),
        measured=finite(measured),
        bound=finite(bound),
        statement=f"{claim.paper} ({claim.variant.value}): {claim.statement}",
        details=claim.details(facts),
    )


CLAIMS: Registry[Claim] = Registry("claims", Claim, lambda claim: f"{claim.id} ({claim.variant.value})")


def claims() -> tuple[Claim, ...]:
    """Return every claim in every variant, sorted by id, printed first."""
    return tuple(sorted(CLAIMS.all().values(), key=lambda claim: (claim.id, claim.variant is Variant.CORRECTED)))


@checked
def claim(id: str, variant: str | Variant = Variant.PRINTED) -> Claim:
    """Return one claim.

    Raises
    ------
    InputError
        If there is no such claim or variant.
    """
    return _select(claims(), id, variant)


def _select(among: Iterable[Claim], id: str, variant: str | Variant) -> Claim:
    known = [claim for claim in among if claim.id == id]
    if not known:
        raise InputError(f"{id}: unknown claim; the claims are {', '.join(sorted({c.id for c in among}))}")
    name = variant.value if isinstance(variant, Variant) else variant
    for candidate in known:
        if candidate.variant.value == name:
            return candidate
    raise InputError(f"{id}: no variant {name!r}; it has {', '.join(c.variant.value for c in known)}")


@checked
def check(id: str, instance: Any, seed: int = 0, variant: str | Variant = Variant.PRINTED) -> Verdict:
    """Return the verdict of a claim on an instance, with a witness where it is violated.

    Raises
    ------
    TypeError
        If the claim is not about such instances.
    InputError
        If there is no such claim or variant, or the seed is negative.
    """
    known = claim(id, variant)
    expect(id, instance, known.instance_type)
    at_least(0, seed=seed)
    return decide(known, instance, seed)
