"""What a problem is: its instances and schedules, what makes a schedule feasible and what it is worth."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from numbers import Real
from pathlib import Path
from types import MappingProxyType
from typing import Any, Generic, Literal, TypeVar, get_args

from dlsched.arguments import Seed, checked, expect, generator, named
from dlsched.errors import InputError
from dlsched.models.document import Document, read_json
from dlsched.models.files import PathLike
from dlsched.models.formulation import Formulation
from dlsched.models.numbers import rational, to_json
from dlsched.models.registry import Registry
from dlsched.models.schedule import Measures, Violation

I = TypeVar("I", bound=Document)  # noqa: E741
S = TypeVar("S", bound=Document)

Sense = Literal["maximize", "minimize"]


@dataclass(frozen=True, slots=True)
class Problem(Generic[I, S]):
    """A scheduling problem.

    Attributes
    ----------
    name : str
    title : str
        What it is, in a line.
    instance, schedule : type
        Documents; a schedule's class has a field ``jobs`` with what is scheduled.
    check : callable
        ``(instance, schedule) -> violations``: every rule that the schedule breaks.
    utility : callable
        ``(instance, schedule) -> value`` of a feasible schedule, exact where the data are.
    families : mapping
        Name of a family of instances to its function of a generator and sizes; ``random`` is the default.
    formulations : tuple of Formulation
    save_plot : callable, optional
        ``(instance, schedule, path)`` draws a schedule into a file.
    plot : callable, optional
        ``(instance, schedule, ax=None) -> axes`` draws a schedule beside others, into axes of matplotlib.
    measures : callable, optional
        ``(instance, schedule) -> Measures`` of a feasible schedule.
    capacities : callable, optional
        ``document of an instance -> its mappings of a resource, or device type, to how much there is of it``.
    sense : {"maximize", "minimize"}
        Which utility is best; a cost is to be minimized, and bounds on it are from below.
    use : callable, optional
        ``(instance, schedule) -> {resource: shares}``: what is in use of each, by slot from the first to the last used.

    Examples
    --------
    >>> from dlsched.models import problem
    >>> hadar = problem("hadar")
    >>> [formulation.name for formulation in hadar.formulations if formulation.kind == "exact"]
    ['hadar/p1-admission', 'hadar/p2', 'hadar/aggregate', 'hadar/hall']
    >>> instance, nothing = hadar.families["benchmark"](1, jobs=2), hadar.schedule(jobs={})
    >>> hadar.check(instance, nothing), int(hadar.utility(instance, nothing))
    ([], 0)
    """

    name: str
    title: str
    instance: type[I]
    schedule: type[S]
    check: Callable[[I, S], list[Violation]]
    utility: Callable[[I, S], Fraction | float]
    families: Mapping[str, Callable[..., I]] = field(default_factory=lambda: MappingProxyType({}))
    formulations: tuple[Formulation[I], ...] = ()
    save_plot: Callable[[I, S, Path], None] | None = None
    plot: Callable[..., Any] | None = None
    measures: Callable[[I, S], Measures] | None = None
    capacities: Callable[[Any], list[dict[str, Any]]] | None = None
    sense: Sense = "maximize"
    use: Callable[[I, S], Mapping[str, list[float]]] | None = None

    def __post_init__(self) -> None:
        if self.sense not in get_args(Sense):
            raise InputError(f"problem {self.name}: sense is {self.sense!r}, not {' or '.join(get_args(Sense))}")

    def violations(self, instance: I, schedule: S) -> list[Violation]:
        """Return every rule that a schedule breaks.

        Raises
        ------
        TypeError
            If the problem's check, a plug-in's for instance, returns no list: nothing would pass for "none broken".
        """
        found = self.check(instance, schedule)
        expect(f"what the check of {self.name} returns", found, list)
        return found

    def worth(self, instance: I, schedule: S) -> Fraction | float:
        """Return what a feasible schedule is worth.

        Raises
        ------
        TypeError
            If the problem's utility, a plug-in's for instance, returns no number: text would pass for one.
        """
        found = self.utility(instance, schedule)
        expect(f"what the utility of {self.name} returns", found, Real)
        return found

    def larger(self, instance: I) -> dict[str, I]:
        """Return instances with one more of each resource, where there is most of it; by resource.

        Raises
        ------
        InputError
            If the problem does not say what its capacities are.
        """
        if self.capacities is None:
            raise InputError(f"{self.name} does not say what there could be one more of")
        amounts = self.capacities(instance.dump())
        found = {}
        for resource in dict.fromkeys(name for own in amounts for name in own):
            data = instance.dump()
            places = [own for own in self.capacities(data) if resource in own]
            place = max(places, key=lambda own: rational(own[resource]))
            place[resource] = to_json(rational(place[resource]) + 1)
            found[resource] = self.instance.parse(data)
        return found

    def fits(self, data: Any) -> bool:
        """Tell whether a document has the fields of an instance, all that it needs and no other."""
        return self.instance.misfits(data) == 0

    def preset(self, name: str, seed: Seed = 0, **sizes: Any) -> I:
        """Return an instance of a family.

        Raises
        ------
        InputError
            If there is no such family.
        TypeError
            If the family returns something else, or does not take a size.
        """
        found = named("preset", name, self.families)(generator(seed), **sizes)
        expect(f"what preset {name} of {self.name} returns", found, self.instance)
        return found


_NEARLY = 2
"""Fields, wrong or missing, with which a document is still taken for an instance. Arbitrary: a name that is misspelt is
two."""

PROBLEMS: Registry[Problem[Any, Any]] = Registry(
    "problems",
    Problem,
    lambda problem: problem.name,
    parts=lambda problem: {formulation.name: formulation for formulation in problem.formulations},
)


def problems() -> tuple[Problem[Any, Any], ...]:
    """Return every problem.

    Examples
    --------
    >>> from dlsched.models import problems
    >>> [entry.name for entry in problems() if "benchmark" in entry.families]
    ['ddljs', 'dmlrs', 'hadar']
    """
    return tuple(PROBLEMS.all().values())


@checked
def problem(name: str) -> Problem[Any, Any]:
    """Return the problem of a name.

    Raises
    ------
    InputError
        If there is none; the message lists those there are.

    Examples
    --------
    >>> from dlsched.models import problem
    >>> problem("smd").title
    'jobs whose speed depends on their workers and servers, on one cluster'
    >>> problem("smb")
    Traceback (most recent call last):
        ...
    dlsched.arguments.UnknownName: unknown problem 'smb'; there are ddljs, dmlrs, hadar, smd
    """
    return PROBLEMS.get(name)


def problem_of(instance: Document) -> Problem[Any, Any]:
    """Return the problem that an instance is of.

    Raises
    ------
    TypeError
        If it is an instance of none.

    Examples
    --------
    >>> from dlsched.models import ddljs, problem_of
    >>> problem_of(ddljs.random(0)).name
    'ddljs'
    """
    found = {entry.instance: entry for entry in problems()}
    expect("instance", instance, *found)
    return next(entry for kind, entry in found.items() if isinstance(instance, kind))


def recognised(data: object) -> str | None:
    """Return what a document is by its fields, as ``an instance of hadar``; None where they do not say."""
    for entry in problems():
        if entry.fits(data):
            return f"an instance of {entry.name}"
    if not isinstance(data, dict):
        return None
    for kind, fields in {"a certificate": {"certificate", "nodes"}, "a witness": {"claim", "variant"}}.items():
        if fields <= data.keys():
            return kind
    if "jobs" in data and data.keys() <= {"jobs", "problem"}:
        known = [entry.name for entry in problems()]
        return f"a schedule of {data['problem']}" if data.get("problem") in known else "a schedule"
    return None


@checked
def load_instance(path: PathLike) -> tuple[Problem[Any, Any], Any]:
    """Return the problem that an instance in a file is of, and the instance.

    Parameters
    ----------
    path : path

    Raises
    ------
    InputError
        If it is an instance of no problem; where its fields are those of one problem, or nearly so, the message is
        that problem's.

    Examples
    --------
    >>> from dlsched.models import load_instance, smd
    >>> smd.random(0).save("mine.json")
    >>> entry, instance = load_instance("mine.json")
    >>> entry.name, len(instance.jobs)
    ('smd', 3)
    """
    data = read_json(path)
    misfits = {entry.name: entry.instance.misfits(data) for entry in problems()}
    least = min(misfits.values())
    *others, last = (entry for entry in problems() if misfits[entry.name] == least)
    if 0 < least <= _NEARLY and not others:
        try:
            last.instance.parse(data, path)
        except InputError as error:
            raise InputError(f"{error} (read as an instance of {last.name})") from None
    if least > 0:
        what = recognised(data)
        if what is not None:
            raise InputError(f"{path}: is {what}, not an instance")
        known = ", ".join(misfits)
        raise InputError(f"{path}: has not the fields of an instance of {known}; `dlsched schema PROBLEM` has them")
    for entry in others:
        with suppress(InputError):
            return entry, entry.instance.parse(data, path)
    return last, last.instance.parse(data, path)
