"""What a formulation is: one way to write a problem as a Pyomo model, and to read a schedule off the solved model."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from types import MappingProxyType
from typing import Any, Generic, TypeVar

from dlsched.arguments import expect
from dlsched.halt import Halt, cut
from dlsched.lazy import gdp, pyo
from dlsched.models.document import Document
from dlsched.models.numbers import is_whole, to_json
from dlsched.models.parameters import StaleModelError, changes, expect_current
from dlsched.models.schedule import Violation

I = TypeVar("I", bound=Document)  # noqa: E741
P = TypeVar("P")
S = TypeVar("S", bound=Document)

_NAMED = 3
"""Fractional variables that a message names where they are not of jobs. Arbitrary: they are examples."""


class Kind(StrEnum):
    """What a formulation is to its problem.

    Examples
    --------
    >>> from dlsched.models import Kind, catalog
    >>> [entry.name for entry in catalog() if entry.kind is Kind.AS_PRINTED]
    ['ddljs/offline-printed', 'dmlrs/compact-printed', 'hadar/p1']
    >>> Kind("exact") is Kind.EXACT, Kind.EXACT == "exact"
    (True, True)
    """

    EXACT = "exact"
    RELAXATION = "relaxation"
    AS_PRINTED = "as printed"
    SUBPROBLEM = "subproblem"
    EXTENSION = "extension"
    """Exact for another model of the same instances, which stands in no paper."""


class UnreadableModel(ValueError):
    """A model that nothing can be read from; the message says what was expected.

    Examples
    --------
    >>> from dlsched.models import build, hadar, read
    >>> instance = hadar.random(0)
    >>> read(build("hadar/hall", instance), instance)
    Traceback (most recent call last):
        ...
    dlsched.models.formulation.UnreadableModel: hadar/hall: the model has no solution (bottleneck[job1,1...
    """


def accepted(schedule: S, violations: Sequence[Violation]) -> S:
    """Return a schedule that was read from a model and that the checker has looked at.

    Raises
    ------
    UnreadableModel
        If it breaks a rule: a solver takes for kept what is broken by less than its tolerance.
    """
    if violations:
        raise UnreadableModel(f"the point is no schedule: {violations[0]}")
    return schedule


def until_done(
    name: str, slots: Mapping[int, P], progress: Callable[[P], Fraction], work: Fraction, unit: str
) -> dict[int, P]:
    """Return what a job has in the slots that it needs to do its work: none without progress, none after the last.

    Parameters
    ----------
    name : str
        Of the job.
    slots : mapping
        What it has, by slot.
    progress : callable
        What is done with that in a slot, in exact numbers.
    work : Fraction
        What is to be done.
    unit : str
        What that is counted in, for the message.

    Raises
    ------
    UnreadableModel
        If it does not do all: a solver takes work that is all but done for done.
    """
    needed: dict[int, P] = {}
    done = Fraction(0)
    for t, held in sorted(slots.items()):
        step = progress(held)
        if step and done < work:
            needed[t] = held
            done += step
    if done < work:
        raise UnreadableModel(f"job {name} does only {to_json(done)} of {to_json(work)} {unit}")
    return needed


def stopping(
    instance: I,
    held: Mapping[str, Mapping[int, P]],
    jobs: Iterable[str],
    needed: Callable[[I, str, Mapping[int, P]], Mapping[int, P]],
    schedule: Callable[[dict[str, Mapping[int, P]]], S],
    check: Callable[[I, S], Sequence[Violation]],
) -> S:
    """Return the schedule in which some jobs stop once they have done their work, and the others get nothing.

    No utility increases with time, so each job is worth at least what the model counts for it.

    Parameters
    ----------
    instance : Instance
    held : mapping
        What the jobs have at the point, by job and slot.
    jobs : iterable of str
        Those that finish there.
    needed : callable
        `until_done` of a job of the problem, of its name and slots.
    schedule, check : callable
        Of the problem: a schedule of what jobs have, and the rules that it breaks.

    Raises
    ------
    UnreadableModel
        If one of them does not, in exact numbers, as a solver takes work that is all but done for done; or if a rule is
        broken.
    """
    kept = schedule({name: needed(instance, name, held.get(name, {})) for name in jobs})
    return accepted(kept, check(instance, kept))


@dataclass(frozen=True, slots=True)
class Formulation(Generic[I]):
    """One way to write a problem as a Pyomo model.

    Attributes
    ----------
    name : str
        ``problem/formulation``.
    instance : type
        Of the instances that it is for.
    title : str
        What it is, in a line.
    equations : tuple of str
        The paper's numbers that its components carry at the start of their ``doc``.
    kind : Kind
    builder : callable
        ``(instance, **data) -> model``.
    reader : callable, optional
        ``(solved model, instance) -> schedule``; of a part of a problem, its piece of one. A relaxation has none.
    data : mapping of str to str
        Extra arguments of the builder, with what is used where one is left out.
    disjunctive : bool
        Whether the model is a GDP, to be transformed with ``gdp.bigm`` or ``gdp.hull`` before it is solved.
    linear : bool
        Whether its rows and objective are linear; else a global solver is needed (``solver="scip"``).

    Examples
    --------
    >>> from dlsched.models import catalog, hadar
    >>> (p2,) = (entry for entry in catalog() if entry.name == "hadar/p2")
    >>> str(p2.kind), p2.linear, p2.disjunctive, p2.equations
    ('exact', True, False, ('(2)', '(2a)', '(2b)', '(2c)'))
    >>> dict(p2.data)
    {'schedules': 'every schedule of every job in which no slot can be dropped'}
    >>> p2.build(hadar.random(0)).name
    'Hadar P2'
    """

    name: str
    instance: type[I]
    title: str
    equations: tuple[str, ...]
    kind: Kind
    builder: Callable[..., Any]
    reader: Callable[[Any, I], Any] | None = None
    data: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    disjunctive: bool = False
    linear: bool = True

    @property
    def problem(self) -> str:
        """Name of the problem."""
        return self.name.split("/")[0]

    def build(self, instance: I, **data: Any) -> Any:
        """Return the Pyomo model of an instance.

        Raises
        ------
        Halt
            If the work (`dlsched.halt`) is over before the model is built.
        TypeError
            If `data` has an argument that the formulation does not take, the instance is of another problem, or the
            builder, a plug-in's for instance, returns no model.
        """
        unknown = sorted(set(data) - set(self.data))
        if unknown:
            raise TypeError(f"{self.name} takes {', '.join(self.data) or 'no data'}, not {', '.join(unknown)}")
        expect(self.name, instance, self.instance)
        from pyomo.common.gc_manager import PauseGC

        logging.getLogger("pyomo.core").addFilter(_is_no_halt)
        with PauseGC():
            model = cut(lambda: self.builder(instance, **data))
        expect(f"what the builder of {self.name} returns", model, pyo.Block)
        model.built_as = _Built(self.name, instance.digest, *_discrete(model))
        return model

    def read(self, model: Any, instance: I) -> Any:
        """Return the schedule that a solved model stands for; of a part of a problem, its piece of one.

        Parameters
        ----------
        model : pyomo.environ.ConcreteModel
            As `build` returns it, also after ``gdp.bigm`` or ``gdp.hull``, with the values of a solution.
        instance : Instance
            What it was built from.

        Returns
        -------
        Schedule
            Feasible, of an exact formulation, and worth what the objective says where the point is optimal; no worse
            where the solver stopped before. What a job does not need to finish, and what the point gives to jobs
            that it does not finish, is left out. Of a formulation as printed, and of a part of a problem: what its
            reader says. Where a Param was changed that the model follows (`dlsched.models.changes`), it is still
            feasible for the instance, but its worth there is not what the objective says.

        Raises
        ------
        TypeError
            If the instance is of another problem, or the reader, a plug-in's for instance, returns nothing.
        UnreadableModel
            If nothing can be read back from the formulation, the model is of another one, of another instance, or not
            solved, its integers are fractional, or its point is no schedule; or a Param was changed that it does not
            follow, or by which the schedule breaks a rule of the instance; a ValueError.
        """
        expect(self.name, instance, self.instance)
        if self.reader is None:
            raise UnreadableModel(f"{self.name} is a {self.kind}: its points are no schedules")
        if built_by(model) != self.name:
            raise UnreadableModel(f"{self.name}: expected a model of its own, not one of {built_by(model)}")
        built = model.built_as
        if built.digest != instance.digest:
            raise UnreadableModel(f"{self.name}: the model was built from another instance")
        try:
            expect_current(model)
        except StaleModelError as error:
            raise UnreadableModel(f"{self.name}: {error}") from None
        _refuse_unsolved(self.name, model)
        _refuse_fractional(self.name, model, built, instance)
        try:
            found = self.reader(model, instance)
        except UnreadableModel as error:
            changed = "".join(f"; {change}" for change in changes(model)[:1])
            raise UnreadableModel(f"{self.name}: {error}{changed}") from None
        if found is None:
            raise TypeError(f"what the reader of {self.name} returns: expected a schedule, got None")
        return found


def built_by(model: Any) -> str:
    """Return the name of the formulation that has built a model.

    Raises
    ------
    UnreadableModel
        If none has.
    """
    built = getattr(model, "built_as", None)
    if not isinstance(built, _Built):
        raise UnreadableModel("expected a model that a formulation has built")
    return built.name


def write_rows(model: Any, how: str = "bigm") -> None:
    """Write the either-or of a model as rows, in the model itself.

    Parameters
    ----------
    model : pyomo.environ.ConcreteModel
    how : {"bigm", "hull"}

    Raises
    ------
    Halt
        If the work (`dlsched.halt`) is over before all of it is written.
    StaleModelError
        If a Param was changed that the model does not follow; a ValueError.
    """
    from pyomo.common.gc_manager import PauseGC

    expect_current(model)
    with PauseGC():
        cut(lambda: pyo.TransformationFactory(f"gdp.{how}").apply_to(model))


@dataclass(frozen=True, slots=True)
class _Built:
    """Which formulation has built a model, and of which instance; it stays with copies of the model.

    It also names the variables with integers, and the disjuncts: copies may have lost their domains and their kind.
    """

    name: str
    digest: str
    integers: tuple[str, ...]
    disjuncts: tuple[str, ...]


def _discrete(model: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:
    variables = model.component_objects(pyo.Var, descend_into=True)
    integers = tuple(found.name for found in variables if any(v.is_integer() for v in found.values()))
    disjuncts = model.component_objects(gdp.Disjunct, descend_into=(pyo.Block, gdp.Disjunct))
    return integers, tuple(found.name for found in disjuncts)


def _refuse_unsolved(name: str, model: Any) -> None:
    for variable in model.component_data_objects(pyo.Var, active=True, descend_into=(pyo.Block, gdp.Disjunct)):
        if variable.value is None:
            raise UnreadableModel(f"{name}: the model has no solution ({variable.name} has no value): solve it first")


def _refuse_fractional(name: str, model: Any, built: _Built, instance: Document) -> None:
    found = [(item, v) for component in built.integers for item, v in model.find_component(component).items()]
    for component in built.disjuncts:
        found += [(item, d.binary_indicator_var) for item, d in model.find_component(component).items()]
    fractional = [(item, v) for item, v in found if v.value is not None and not is_whole(v.value)]
    if not fractional:
        return
    jobs = {getattr(job, "name", job) for job in getattr(instance, "jobs", ())}
    first = dict.fromkeys(item[0] if isinstance(item, tuple) else item for item, _ in fractional)
    of = [f"jobs {', '.join(first)}"] if jobs.issuperset(first) else [v.name for _, v in fractional[:_NAMED]]
    raise UnreadableModel(f"{name}: the point is fractional: {', '.join(of)}; solve the model with its integers")


def _is_no_halt(record: logging.LogRecord) -> bool:
    """Tell what is worth a line: Pyomo writes one about whatever a rule raises."""
    return not isinstance(sys.exc_info()[1], Halt)
