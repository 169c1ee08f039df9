"""What a claim of a paper is, and what checking one on an instance answers.

A claim compares a measured quantity with its bound under premises. Quantities that rest on an optimum are intervals:
its lower end is the utility of a schedule that anyone can check, its upper end a proved bound. A claim is violated
only by the end that speaks against it, and holds only by the other; where the two do not suffice it is undecided.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cache, partial
from types import MappingProxyType
from typing import Any, Generic, NotRequired, Required, TypedDict, TypeVar, Unpack

import numpy as np
from pydantic import TypeAdapter, ValidationError

from dlsched.algorithms.exact.result import Proof
from dlsched.arguments import checked, described
from dlsched.bounds.comparison import Interval, Relation, Status, Value, compare
from dlsched.bounds.evidence import asked, weakest
from dlsched.bounds.sharing import Sharing, shared
from dlsched.bounds.witness import SHIPPED, Witness, finite, shipped
from dlsched.errors import InputError, noting, shown
from dlsched.models.document import Document, one_line
from dlsched.models.numbers import agree, small_unit
from dlsched.models.options import options_of
from dlsched.once import Known, computing_once
from dlsched.readable import Readable, Section, facts

T = TypeVar("T")
D = TypeVar("D", bound=Document)
D_co = TypeVar("D_co", bound=Document, covariant=True)
F = TypeVar("F")
F_contra = TypeVar("F_contra", contravariant=True)


class Variant(StrEnum):
    """Whose words a claim is in.

    As the paper prints it; corrected, the nearest statement that is true; or derived, ours: a theorem, a reading or a
    consequence that stands in no paper.

    Examples
    --------
    >>> from dlsched.bounds import Variant, claims_named
    >>> [known.variant.value for known in claims_named("hadar/theorem-1")]
    ['printed', 'corrected']
    >>> Variant("derived").rank
    1
    """

    PRINTED = "printed"
    CORRECTED = "corrected"
    DERIVED = "derived"

    @property
    def rank(self) -> int:
        """Its place among the variants of a claim: what stands in the paper comes first."""
        return [Variant.PRINTED, Variant.DERIVED, Variant.CORRECTED].index(self)


class Expectation(StrEnum):
    """What is known of a claim: proved, refuted, true without saying anything, or nothing (of an average alone).

    Examples
    --------
    >>> from dlsched.bounds import claims_named
    >>> {known.variant.value: known.expectation.value for known in claims_named("hadar/theorem-1")}
    {'printed': 'false', 'corrected': 'true'}
    """

    TRUE = "true"
    FALSE = "false"
    VACUOUS = "vacuous"
    OPEN = "open"


class Undecided(Exception):
    """Raised while a claim is evaluated: a limit on nodes, states or schedules was hit, or a proof is missing.

    Examples
    --------
    >>> from dlsched.bounds import OptimumFacts, Undecided
    >>> from dlsched.models import hadar
    >>> def few(facts):
    ...     if len(facts.instance.jobs) > 10:
    ...         raise Undecided("more than ten jobs")
    ...     return facts.opt
    >>> few(OptimumFacts(hadar.random(0), seed=0))
    Interval(low=34.0, high=34.0)
    >>> few(OptimumFacts(hadar.preset("benchmark", 0, jobs=12), seed=0))
    Traceback (most recent call last):
        ...
    dlsched.bounds.claim.Undecided: more than ten jobs
    """


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

    Examples
    --------
    >>> from dlsched.bounds import OptimumFacts, Premise
    >>> from dlsched.models import hadar
    >>> lone = Premise("one machine", lambda facts: len(facts.instance.machines) == 1, source="Section II")
    >>> lone.holds(OptimumFacts(hadar.random(0), seed=0))
    False
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
    cost : int
        How many ordinary draws take the time of one; `verify` makes so many times fewer.

    Examples
    --------
    >>> from dlsched.bounds import Source
    >>> from dlsched.models import hadar
    >>> source = Source("mine/lone", lambda rng: hadar.random(rng, jobs=1), cost=10)
    >>> source.draws(instances=100)
    10
    """

    name: str
    draw: Callable[[np.random.Generator], D_co]
    cost: int = 1

    def draws(self, instances: int) -> int:
        """Return how many are drawn where an ordinary source has so many draws."""
        return -(-instances // self.cost)


@checked
def always(value: Value) -> Callable[[object], Value]:
    """Return the bound, or the measured quantity, that is the same on every instance.

    Examples
    --------
    >>> from dlsched.bounds import OptimumFacts, always
    >>> from dlsched.models import hadar
    >>> bound = always(2)
    >>> [bound(OptimumFacts(hadar.random(rng), seed=0)) for rng in range(3)]
    [2, 2, 2]
    """
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
    open: str
    worst: Callable[[F], Value] | None
    sampled: bool
    guessed: bool


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
        ``(instance, seed, **parameters) -> facts``: what is known of them, computed when first asked for. Its keyword
        parameters, with the paper's values as defaults, are the claim's parameters.
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
    open : str
        What the print leaves open, in words. Where a side is an interval over the choices, and its ends decide
        differently, the verdict is undecided.
    worst : callable, optional
        The measured quantity at its worst on the instance, whatever a run or a draw does, of the facts. Where even
        that keeps the claim, nothing could have violated it, and the verdict is vacuous.
    sampled : bool
        Whether it is a statement of an average over its sources, as the figures of an evaluation are: one instance
        decides nothing, the draws together do (`dlsched.bounds.statistics.Sample`).
    guessed : bool
        Whether what its sources draw are guesses of numbers that the paper has and does not print. Then draws together
        decide nothing either: they say what is so where the guesses are.

    Examples
    --------
    >>> from dlsched.bounds import claim
    >>> printed = claim("hadar/initial-dual")
    >>> print(f"{printed.paper}: {printed.statement}")
    Hadar, Section III-D, (9): D_0 <= OPT/2 with 1/eta = min_j tmax_j W_j / (sum c)
    >>> [premise.name for premise in printed.premises]
    ['U_j >= 0 does not increase with the completion time', 'OPT > 0']
    >>> printed.expectation.value, printed.corrected(statement="ours").expectation.value
    ('false', 'true')
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
    open: str = ""
    worst: Callable[[F], Value] | None = None
    sampled: bool = False
    guessed: bool = False

    def __post_init__(self) -> None:
        # Text that reads like a member of an enumeration is not that member, and would be compared as another.
        for name, kind in (("variant", Variant), ("relation", Relation), ("expectation", Expectation)):
            if not isinstance(getattr(self, name), kind):
                raise TypeError(
                    f"claim {self.id}: {name}: expected {kind.__name__}, got {described(getattr(self, name))}"
                )

    @property
    def parameters(self) -> type:
        """A frozen dataclass of its parameters, with the paper's values as defaults."""
        return _parameters(self.facts)

    def given(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Return the value of each parameter, as given or else as in the paper.

        Raises
        ------
        InputError
            If there is no such parameter, or a value is not of its type.
        """
        fields = {field.name: field for field in dataclasses.fields(self.parameters)}
        for name in parameters:
            if name not in fields:
                known = f"it has {', '.join(fields)}" if fields else "it has none"
                raise InputError(f"{self.id}: no parameter {shown(name)}; {known}")
        return {
            name: self._read(name, parameters[name]) if name in parameters else field.default
            for name, field in fields.items()
        }

    def _read(self, name: str, value: Any) -> Any:
        """Return a parameter's value, which may be text as typed on a command line."""
        try:
            return _readers(self.facts)[name].validate_python(value)
        except ValidationError as error:
            raise InputError(f"{name}: {one_line(error)}") from None

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
        """Return the corrected variant: what is not given is as in this one.

        Not so are the shipped cases, which are another statement's, and what the print leaves open, which this one is
        to settle: none where they are not given. It is true unless the changes say otherwise; the parameters are the
        attributes of the class.
        """
        return self._made(Variant.CORRECTED, {"expectation": Expectation.TRUE, **changes})

    def derived(self, id: str, **changes: Unpack[Changes[F]]) -> Claim[F]:
        """Return a claim that is ours, beside this one: what is not given is as in `corrected`."""
        return self._made(Variant.DERIVED, {"id": id, **changes})

    def _made(self, variant: Variant, changes: Mapping[str, Any]) -> Claim[F]:
        own: dict[str, Any] = {"counterexamples": (), "golden": (), "open": "", **changes}
        return replace(self, variant=variant, **own)


_parameters = cache(options_of)


@cache
def _readers(facts: Callable[..., Any]) -> dict[str, TypeAdapter[Any]]:
    """Return what reads a value of each parameter."""
    kinds: dict[str, Any] = {field.name: field.type for field in dataclasses.fields(_parameters(facts))}
    return {name: TypeAdapter(kind) for name, kind in kinds.items()}


@dataclass(frozen=True, kw_only=True)
class Subject(Generic[D, F]):
    """What several claims are about, and what they have in common.

    Attributes
    ----------
    problem, instance, facts, cases
        As in `Claim`.
    premises, details, schedule, sources
        As in `Claim`: those of the claims that give none of their own.

    Examples
    --------
    >>> from dlsched.bounds import Expectation, OptimumFacts, Relation, Source, Subject
    >>> from dlsched.algorithms.hadar import run
    >>> from dlsched.models import hadar
    >>> about = Subject(
    ...     problem="hadar",
    ...     instance=hadar.Instance,
    ...     facts=OptimumFacts,
    ...     sources=(Source("mine/random", hadar.random),),
    ... )
    >>> claim = about.derived(
    ...     "mine/optimal",
    ...     statement="Hadar finds the optimum",
    ...     paper="mine",
    ...     quantity="the optimum",
    ...     measure=lambda facts: facts.opt,
    ...     relation=Relation.AT_MOST,
    ...     bound=lambda facts: run(facts.instance).utility,
    ...     expectation=Expectation.FALSE,
    ... )
    >>> claim.id, claim.variant.value, claim.problem
    ('mine/optimal', 'derived', 'hadar')
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
class Verdict(Readable):
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
        The premise that fails, why it is vacuous, or what leaves it undecided; else empty.
    parameters : mapping of str to value
        Of the claim, those that were left out among them.
    witness : Witness, optional
        Where violated: all that is needed to check it again.
    proof : Proof, optional
        What the optima rest on that it asked for, the weakest of them; None where it asked for none.

    Examples
    --------
    >>> from dlsched.bounds import check, claim
    >>> instance = claim("hadar/theorem-2").case("hadar-theorem-2-lone-job").read_instance()
    >>> verdict = check("hadar/theorem-2", instance)
    >>> print(verdict)
    hadar/theorem-2 (printed): violated
      measured  1
      bound     0
      proof     exact
      instance  e191337a0f541c26194a24b3dbd72b3cc839207d9935f5a60b20aae09221aead
      seed      0
      witness   there is one: .witness.save(path)
    >>> verdict.witness.save("witness.json")
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
    parameters: Mapping[str, Any] = field(default_factory=dict)
    proof: Proof | None = None

    @property
    def key(self) -> tuple[str, str]:
        """Id and variant of the claim, as `Claim.key` has them."""
        return self.claim, self.variant.value

    def _sections(self) -> Iterable[Section]:
        sides = facts(measured=self.measured, bound=self.bound, reason=self.reason, proof=self.proof)
        given = ", ".join(f"{name} = {value}" for name, value in self.parameters.items())
        about = facts(parameters=given, instance=self.digest, seed=self.seed)
        witness = facts(witness="there is one: .witness.save(path)" if self.witness else "")
        yield Section(f"{self.claim} ({self.variant.value}): {self.status.value}", [*sides, *about, *witness])


def decide(
    claim: Claim[F],
    instance: Document,
    seed: int = 0,
    facts: F | None = None,
    parameters: Mapping[str, Any] = MappingProxyType({}),
) -> Verdict:
    """Return the verdict of a claim on one instance.

    Parameters
    ----------
    claim : Claim
    instance : Document
        An instance of the claim's problem.
    seed : int
        Of every random draw that the run makes.
    facts : optional
        What ``claim.facts(instance, seed, **parameters)`` returns, where it is at hand already.
    parameters : mapping of str to value
        Those of the claim that are not as in the paper.
    """
    with computing_once(), asked() as proofs:
        verdict = _decide(claim, instance, seed, facts, parameters)
    return replace(verdict, proof=weakest(proofs))


def _decide(claim: Claim[F], instance: Document, seed: int, facts: F | None, parameters: Mapping[str, Any]) -> Verdict:
    given = claim.given(parameters)
    facts = claim.facts(instance, seed, **given) if facts is None else facts
    verdict = partial(Verdict, claim.id, claim.variant, digest=instance.digest, seed=seed, parameters=given)
    unit = comparison_unit(instance)
    try:
        for premise in claim.premises:
            if not premise.holds(facts):
                return verdict(Status.PREMISE_FAILS, reason=premise.name)
        measured, bound = Interval.of(claim.measure(facts)), Interval.of(claim.bound(facts))
        if claim.sampled:
            for side in (measured, bound):
                if not agree(side.low, side.high, unit=unit):
                    raise Undecided("what is compared is not known exactly")
            return verdict(Status.UNDECIDED, measured=measured.low, bound=bound.low, reason=_ONE_OF_MANY)
        status, decisive, limit = compare(measured, claim.relation, bound, unit=unit)
        if status is Status.VACUOUS:
            return verdict(status, measured=decisive, reason="the bound is infinite")
        if status is Status.HOLDS and claim.worst is not None:
            at_worst, worst, _ = compare(Interval.of(claim.worst(facts)), claim.relation, bound, unit=unit)
            if at_worst is Status.HOLDS:
                reason = f"nothing could violate it: {worst:.6g} at worst"
                return verdict(Status.VACUOUS, measured=decisive, bound=limit, reason=reason)
    except Undecided as reached:
        return verdict(Status.UNDECIDED, reason=str(reached))
    reason = f"left open: {claim.open}" if status is Status.UNDECIDED and claim.open else ""
    violated = status is Status.VIOLATED
    witness = _witness(claim, instance, seed, given, facts, decisive, limit) if violated else None
    return verdict(status, measured=decisive, bound=limit, reason=reason, witness=witness)


_ONE_OF_MANY = "it is about an average: one instance decides nothing"


def decided(
    claims: Iterable[Claim[Any]],
    instance: Document,
    seed: int = 0,
    parameters: Mapping[str, Any] = MappingProxyType({}),
) -> Iterator[Verdict]:
    """Yield the verdicts of several claims on one instance; what their facts have in common is computed once.

    Each claim takes those of the parameters that it has.
    """
    facts: dict[object, Any] = {}
    known: dict[shared[Any], Any] = {}
    programs: Known = {}
    for claim in claims:
        own = claim.given(among(claim, parameters))
        key = (claim.facts, tuple(own.items()))
        with computing_once(programs), noting(f"of the claim {title(*claim.key)}"):
            if key not in facts:
                facts[key] = claim.facts(instance, seed, **own)
                if isinstance(facts[key], Sharing):
                    facts[key].known = known
            verdict = decide(claim, instance, seed, facts[key], own)
        yield verdict


def among(claim: Claim[Any], parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return those of some parameters that a claim has."""
    names = {field.name for field in dataclasses.fields(claim.parameters)}
    return {name: value for name, value in parameters.items() if name in names}


def confirm_taken(claims: Iterable[Claim[Any]], parameters: Mapping[str, Any]) -> None:
    """Refuse parameters that none of the claims has, and values that one cannot take.

    Raises
    ------
    InputError
    """
    chosen = list(claims)
    for claim in chosen:
        claim.given(among(claim, parameters))
    known = dict.fromkeys(field.name for claim in chosen for field in dataclasses.fields(claim.parameters))
    for name in parameters:
        if name not in known:
            has = f"they have {', '.join(sorted(known))}" if known else "they have none"
            raise InputError(f"{shown(name)}: none of these claims has such a parameter; {has}")


def comparison_unit(instance: Document) -> float:
    """Return below what values count as equally small: 1, or the greatest utility of a job where that is less.

    In a unit in which all utilities are below the tolerance, every bound would hold.
    """
    return small_unit(getattr(instance, "greatest_utility", 1))


def _witness(
    claim: Claim[F],
    instance: Document,
    seed: int,
    parameters: Mapping[str, Any],
    facts: F,
    measured: float,
    bound: float,
) -> Witness:
    schedule = claim.schedule(facts)
    return Witness(
        claim=claim.id,
        variant=claim.variant.value,
        status=Status.VIOLATED.value,
        seed=seed,
        parameters=dict(parameters),
        instance=instance.dump(),
        schedule=None if schedule is None else schedule.dump(),
        measured=finite(measured),
        bound=finite(bound),
        statement=f"{claim.paper} ({claim.variant.value}): {claim.statement}",
        details=claim.details(facts),
    )


def title(id: str, variant: str) -> str:
    """Return the name under which a claim in a variant is registered."""
    return f"{id} ({variant})"
