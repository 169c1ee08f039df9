"""What a claim of a paper is, and what checking one on an instance answers.

A claim compares a measured quantity with its bound under premises. Quantities that rest on an optimum are intervals:
its lower end is the utility of a schedule that anyone can check, its upper end a proved bound. A claim is violated
only by the end that speaks against it, and holds only by the other; where the two do not suffice it is undecided.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from fnmatch import fnmatchcase
from functools import partial
from typing import Any, Generic, NotRequired, Required, TypedDict, TypeVar, Unpack

import numpy as np

from dlsched.arguments import at_least, checked, expect
from dlsched.bounds.comparison import Interval, Relation, Status, Value, compare
from dlsched.bounds.witness import SHIPPED, Witness, finite, shipped
from dlsched.models.document import Document, InputError
from dlsched.models.registry import Registry

T = TypeVar("T")
D = TypeVar("D", bound=Document)
D_co = TypeVar("D_co", bound=Document, covariant=True)
F = TypeVar("F")
F_contra = TypeVar("F_contra", contravariant=True)


class Variant(Enum):
    """Whose words a claim is in.

    As the paper prints it; corrected, the nearest statement that is true; or derived, ours: a theorem, a reading or a
    consequence that stands in no paper.
    """

    PRINTED = "printed"
    CORRECTED = "corrected"
    DERIVED = "derived"

    @property
    def rank(self) -> int:
        """Its place among the variants of a claim: what stands in the paper comes first."""
        return [Variant.PRINTED, Variant.DERIVED, Variant.CORRECTED].index(self)


class Expectation(Enum):
    """What is known of a claim: proved, refuted by a counterexample, or true without saying anything."""

    TRUE = "true"
    FALSE = "false"
    VACUOUS = "vacuous"


class Undecided(Exception):
    """Raised while a claim is evaluated: a limit on nodes, states or schedules was hit, or a proof is missing."""


@dataclass(frozen=True)
class Premise(Generic[F_contra]):
    """A hypothesis of a claim.

    Attributes
    ----------
    name : str
        What is assumed, in the paper's symbols.
    holds : callable
        Predicate of the facts of (instance, seed).
    source : str
        Where the paper assumes it, e.g. ``Section IV-3``; empty where it is ours.
    """

    name: str
    holds: Callable[[F_contra], bool]
    source: str = ""


@dataclass(frozen=True)
class Source(Generic[D_co]):
    """A family of instances that claims are checked on.

    Attributes
    ----------
    name : str
        E.g. ``hadar/tiny``. A draw depends on the name, its position and the seed of the search alone.
    draw : callable
        Returns an instance, given a random generator.
    """

    name: str
    draw: Callable[[np.random.Generator], D_co]


@checked
def always(value: Value) -> Callable[[object], Value]:
    """Return the bound, or the measured quantity, that is the same on every instance."""
    return lambda facts: value


def _nothing(facts: object) -> dict[str, Any]:
    return {}


def _no_schedule(facts: object) -> None:
    return None


class _Shared(TypedDict, Generic[F], total=False):
    """What a claim may say, or its subject or the claim that it is made from says for it."""

    premises: tuple[Premise[F], ...]
    details: Callable[[F], dict[str, Any]]
    schedule: Callable[[F], Document | None]
    counterexamples: tuple[str, ...]
    golden: tuple[str, ...]


class Changes(_Shared[F], total=False):
    """What a claim says in other words than the one that it is made from: attributes of `Claim`."""

    statement: Required[str]
    paper: str
    quantity: str
    measure: Callable[[F], Value]
    relation: Relation
    bound: Callable[[F], Value]
    expectation: Expectation
    sources: tuple[Source[Document], ...]


class Statement(_Shared[F], Generic[D, F]):
    """What a claim says: attributes of `Claim`; those of its subject where they are left out."""

    statement: str
    paper: str
    quantity: str
    measure: Callable[[F], Value]
    relation: Relation
    bound: Callable[[F], Value]
    expectation: Expectation
    sources: NotRequired[tuple[Source[D], ...]]


@dataclass(frozen=True, kw_only=True)
class Claim(Generic[F]):
    """One claim of a paper in one variant, about facts of the type `F`.

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
    problem : str
        The problem that its instances are of, e.g. ``hadar``.
    instance : type of Document
        Class of the instances that it is about.
    facts : callable
        ``(instance, seed) -> facts``: what is known of them, computed when first asked for.
    premises : tuple of Premise
    details : callable
        Plain JSON data that explain a verdict, of the facts.
    schedule : callable
        The schedule that a witness carries, of the facts; None where none matters.
    sources : tuple of Source
        The families that `verify` draws from.
    counterexamples : tuple of str
        Names of shipped witnesses on which the claim is known to be violated.
    golden : tuple of str
        Names of shipped cases with another known verdict.
    cases : str
        The package that ships them, each as ``NAME.json``.
    """

    id: str
    paper: str
    variant: Variant
    statement: str
    quantity: str
    measure: Callable[[F], Value]
    relation: Relation
    bound: Callable[[F], Value]
    expectation: Expectation
    problem: str
    instance: type[Document]
    facts: Callable[[Any, int], F]
    premises: tuple[Premise[F], ...] = ()
    details: Callable[[F], dict[str, Any]] = field(default=_nothing)
    schedule: Callable[[F], Document | None] = field(default=_no_schedule)
    sources: tuple[Source[Document], ...] = ()
    counterexamples: tuple[str, ...] = ()
    golden: tuple[str, ...] = ()
    cases: str = SHIPPED

    @property
    def instance_type(self) -> type[Document]:
        """Class of the instances that it is about."""
        return self.instance

    @property
    def key(self) -> tuple[str, str]:
        """Id and variant, which together name a claim."""
        return self.id, self.variant.value

    def case(self, name: str) -> Witness:
        """Return one of its counterexamples or golden cases."""
        return shipped(name, self.cases)

    def corrected(self, **changes: Unpack[Changes[F]]) -> Claim[F]:
        """Return the corrected variant: what is not given is as in this one, but for the shipped cases.

        It is true unless the changes say otherwise; the parameters are the attributes of the class.
        """
        return self._made(Variant.CORRECTED, {"expectation": Expectation.TRUE, **changes})

    def derived(self, id: str, **changes: Unpack[Changes[F]]) -> Claim[F]:
        """Return a claim that is ours, beside this one: what is not given is the same, but for the shipped cases."""
        return self._made(Variant.DERIVED, {"id": id, **changes})

    def _made(self, variant: Variant, changes: Mapping[str, Any]) -> Claim[F]:
        own: dict[str, Any] = {"counterexamples": (), "golden": (), **changes}
        return replace(self, variant=variant, **own)


@dataclass(frozen=True, kw_only=True)
class Subject(Generic[D, F]):
    """What several claims are about, and what they have in common.

    Attributes
    ----------
    problem, instance, facts, cases
        As in `Claim`.
    premises, details, schedule, sources
        As in `Claim`: those of the claims that give none of their own.
    """

    problem: str
    instance: type[D]
    facts: Callable[[D, int], F]
    premises: tuple[Premise[F], ...] = ()
    details: Callable[[F], dict[str, Any]] = field(default=_nothing)
    schedule: Callable[[F], Document | None] = field(default=_no_schedule)
    sources: tuple[Source[D], ...] = ()
    cases: str = SHIPPED

    def printed(self, id: str, **statement: Unpack[Statement[D, F]]) -> Claim[F]:
        """Return a claim as a paper prints it; the parameters are the attributes of `Claim`."""
        return self._claim(id, Variant.PRINTED, statement)

    def derived(self, id: str, **statement: Unpack[Statement[D, F]]) -> Claim[F]:
        """Return a claim that is ours, on what the paper says; the parameters are the attributes of `Claim`."""
        return self._claim(id, Variant.DERIVED, statement)

    def _claim(self, id: str, variant: Variant, statement: Statement[D, F]) -> Claim[F]:
        common = {name: getattr(self, name) for name in _COMMON}
        own: dict[str, Any] = {**common, **statement}
        return Claim(id=id, variant=variant, **own)


_COMMON = ("problem", "instance", "facts", "cases", "premises", "details", "schedule", "sources")


def stated(names: Mapping[str, object]) -> tuple[Claim[Any], ...]:
    """Return the claims among what a module defines, its ``globals()``, in the order in which they stand."""
    return tuple(value for value in names.values() if isinstance(value, Claim))


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


def decide(claim: Claim[F], instance: Document, seed: int = 0, facts: F | None = None) -> Verdict:
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
    verdict = partial(Verdict, claim.id, claim.variant, digest=instance.digest, seed=seed)
    try:
        for premise in claim.premises:
            if not premise.holds(facts):
                return verdict(Status.PREMISE_FAILS, reason=premise.name)
        status, measured, bound = compare(
            Interval.of(claim.measure(facts)),
            claim.relation,
            Interval.of(claim.bound(facts)),
            unit=comparison_unit(instance),
        )
    except Undecided as limit:
        return verdict(Status.UNDECIDED, reason=str(limit))
    if status is Status.VACUOUS:
        return verdict(status, measured=measured, reason="the bound is infinite")
    witness = _witness(claim, instance, seed, facts, measured, bound) if status is Status.VIOLATED else None
    return verdict(status, measured=measured, bound=bound, witness=witness)


def decided(claims: Iterable[Claim[Any]], instance: Document, seed: int = 0) -> Iterator[Verdict]:
    """Yield the verdicts of several claims on one instance; those of one subject share their facts."""
    facts: dict[object, Any] = {}
    for claim in claims:
        if claim.facts not in facts:
            facts[claim.facts] = claim.facts(instance, seed)
        yield decide(claim, instance, seed, facts[claim.facts])


def comparison_unit(instance: Document) -> float:
    """Return below what values count as equally small: 1, or the greatest utility of a job where that is less.

    In a unit in which all utilities are below the tolerance, every bound would hold.
    """
    return min(1.0, float(getattr(instance, "greatest_utility", 1))) or 1.0


def _witness(claim: Claim[F], instance: Document, seed: int, facts: F, measured: float, bound: float) -> Witness:
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


CLAIMS: Registry[Claim[Any]] = Registry(
    "claims",
    Claim,
    lambda claim: f"{claim.id} ({claim.variant.value})",
    order=lambda claim: (claim.id, claim.variant.rank),
    parts=lambda claim: {source.name: source for source in claim.sources},
)


def claims() -> tuple[Claim[Any], ...]:
    """Return every claim in every variant, sorted by id, what stands in a paper first."""
    return tuple(CLAIMS.all().values())


@checked
def claim(id: str, variant: str | Variant | None = None) -> Claim[Any]:
    """Return one claim.

    Parameters
    ----------
    id : str
    variant : {"printed", "derived", "corrected"} or Variant, optional
        As it is printed, where it stands in a paper, else as it is derived, if it is left out.

    Raises
    ------
    InputError
        If there is no such claim or variant.
    """
    every = claims()
    known = [claim for claim in every if claim.id == id] or [c for c in every if _plain(c.id) == _plain(id)]
    if not known:
        raise _unknown(id, [claim.id for claim in every])
    name = variant.value if isinstance(variant, Variant) else variant
    for candidate in known:
        if name in (None, candidate.variant.value):
            return candidate
    raise InputError(f"{id}: no variant {name!r}; it has {', '.join(c.variant.value for c in known)}")


@checked
def claims_named(names: str | Iterable[str] | None) -> tuple[Claim[Any], ...]:
    """Return claims in every variant, in the order of `claims`.

    Parameters
    ----------
    names : str or iterable of str or None
        Each an id, a paper (``hadar``), or a pattern of ids (``hadar/*``); ``_`` and ``-`` are the same. All for None.

    Raises
    ------
    InputError
        If a name fits no claim; the message has the nearest.
    """
    known = claims()
    if names is None:
        return known
    wanted = [names] if isinstance(names, str) else list(names)
    for k, name in enumerate(wanted):
        expect(f"names[{k}]", name, str)
    ids = list(dict.fromkeys(claim.id for claim in known))
    chosen = {id_ for name in wanted for id_ in _ids(name, ids)}
    return tuple(claim for claim in known if claim.id in chosen)


def _ids(name: str, ids: list[str]) -> list[str]:
    """Return the ids that a name stands for."""
    pattern = _plain(name)
    found = [id_ for id_ in ids if fnmatchcase(_plain(id_), pattern) or _plain(id_).startswith(f"{pattern}/")]
    if not found:
        raise _unknown(name, ids)
    return found


def _unknown(name: str, ids: list[str]) -> InputError:
    nearest = difflib.get_close_matches(_plain(name), ids, n=5, cutoff=0)
    return InputError(f"{name}: unknown claim; the nearest are {', '.join(nearest)}; `dlsched list` has all")


def _plain(name: str) -> str:
    """Return a name with one spelling: packages have underscores where claims have hyphens."""
    return name.replace("_", "-").rstrip("/")


@checked
def check(id: str, instance: Any, seed: int = 0, variant: str | Variant | None = None) -> Verdict:
    """Return the verdict of a claim on an instance, with a witness where it is violated; `variant` is as for `claim`.

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
