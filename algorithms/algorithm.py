"""What an algorithm and an exact method are, and which there are for a problem."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from dlsched.algorithms.exact.certificates.program import ExactProgram
from dlsched.algorithms.exact.result import Optimum
from dlsched.algorithms.run import Run
from dlsched.arguments import expect, named, plain
from dlsched.errors import InputError
from dlsched.models.document import Document
from dlsched.models.options import chosen, options_of, values
from dlsched.models.problem import Problem, problem
from dlsched.models.registry import Registry

if TYPE_CHECKING:
    from dlsched.algorithms.simulator.policy import Policy


@dataclass(frozen=True, slots=True)
class Method:
    """Something that makes schedules for the instances of a problem.

    Attributes
    ----------
    name : str
        Unique among the methods of its problem.
    problem : str
        Name of the problem.
    title : str
        What it is, in a line.
    """

    name: str
    problem: str
    title: str


@dataclass(frozen=True, slots=True)
class Algorithm(Method):
    """An algorithm.

    Attributes
    ----------
    run : callable
        ``(instance, *, seed, **options) -> Run``. Its keyword parameters with defaults, except the seed, are its
        options; what the command line offers is made from them and from what its docstring says of them.
    schedule : type of Document, optional
        Class of its schedules where they are not the problem's, so that they have a checker and a utility of their own.
    judge : Problem, optional
        What checks, values and draws such schedules; its name is what they have as ``problem``.
    policy : callable, optional
        ``(**options) -> Policy`` of the simulator: the algorithm over time. Its options are its keyword parameters.
    also : tuple of str
        Other names, e.g. those of the literature.

    Examples
    --------
    >>> from dlsched.algorithms import algorithms
    >>> from dlsched.models import hadar
    >>> instance = hadar.random(0)
    >>> for algorithm in sorted(algorithms(), key=lambda algorithm: algorithm.name):
    ...     if algorithm.problem == "hadar" and algorithm.schedule is None:
    ...         print(algorithm.name, algorithm.run(instance, seed=0).utility)
    drf 17.0
    fifo 17.0
    gavel 17.0
    hadar 34.0
    las 17.0
    srtf 34.0
    tiresias 17.0
    """

    run: Callable[..., Run[Any]]
    schedule: type[Document] | None = None
    policy: Callable[..., Policy] | None = None
    also: tuple[str, ...] = ()
    judge: Problem[Any, Any] | None = None

    def __call__(self, instance: Document, *, seed: int = 0, **options: Any) -> Run[Any]:
        """Run it, and look at what it returns as if somebody else had written it.

        Raises
        ------
        TypeError
            If it returns no `Run`, or one without a schedule of its kind.
        UnsoundError
            If its schedule breaks a rule of the instance, or is worth another value.
        """
        from dlsched.algorithms.soundness import sound_value

        name, found = f"algorithm '{self.name}' of {self.problem}", self.run(instance, seed=seed, **options)
        expect(f"what {name} returns", found, Run)
        if self.schedule is None:
            sound_value(name, problem(self.problem), instance, found.schedule, found.utility)
        else:
            expect(f"schedule of {name}", found.schedule, self.schedule)
        return found

    def is_called(self, name: str) -> bool:
        """Tell whether a name is one of its names, by itself or as ``problem/name``; small letters will do."""
        names = self.name, *self.also
        return _spelled(name) in {_spelled(known) for own in names for known in (own, f"{self.problem}/{own}")}

    @property
    def options(self) -> type:
        """A frozen dataclass of what may be chosen beside the seed and when to stop."""
        return options_of(self.run, without=("seed", "time_limit", "progress", "stop"))


@dataclass(frozen=True, slots=True)
class ExactMethod(Method):
    """What a problem has of its own for its certified optimum.

    Attributes
    ----------
    solve : callable, optional
        ``(instance, *, time_limit, progress, stop) -> Optimum``, as `dlsched.algorithms.optimum`. Where it is left out,
        the problem's exact formulation and the general certifier find the optimum.
    own_unit : bool
        Whether the instance has to be brought into a unit of utility that the tolerances of `solve` suit.
    program : callable, optional
        ``(instance) -> ExactProgram``, which has the problem's optimum: what exact certificates are about.
    read : callable, optional
        ``(instance, point) -> Schedule``, of a point of that program that is worth more than what `solve` has found;
        None where it cannot be told.
    beside : tuple of callable
        Other routes, called like `solve`, that other processes take at the same time where there are some.
    searches : tuple of callable
        Routes that look for schedules and prove nothing, for further processes.

    Examples
    --------
    >>> from dlsched.algorithms import ExactMethod, Optimum, hadar
    >>> from dlsched.models.hadar import random
    >>> def solve(instance, *, time_limit=None, progress=None, stop=None):
    ...     found = hadar.run(instance)
    ...     bound = float(sum(job.utility.exact(0) for job in instance.jobs))
    ...     return Optimum(found.utility, bound, found.schedule, False, ("each job at its best",), 0.0, 0.0)
    >>> method = ExactMethod("quick", "hadar", "a run of Hadar, and each job at its best", solve)
    >>> method.solve(random(0)).gap
    0.6176470588235294
    """

    solve: Callable[..., Optimum] | None = None
    own_unit: bool = True
    program: Callable[[Any], ExactProgram] | None = None
    read: Callable[[Any, Sequence[Fraction]], Document | None] | None = None
    beside: tuple[Callable[..., Optimum], ...] = ()
    searches: tuple[Callable[..., Optimum], ...] = ()

    @property
    def elsewhere(self) -> tuple[Callable[..., Optimum], ...]:
        """The routes for other processes, those that may prove something first."""
        return (*self.beside, *self.searches)


def _names(method: Method) -> dict[str, str]:
    """Return what a method is called, each with its own name: no other may be called so."""
    names = (method.name, *method.also) if isinstance(method, Algorithm) else (method.name,)
    return {f"{method.problem}/{name}": method.name for name in names}


METHODS: Registry[Method] = Registry(
    "algorithms", Method, lambda method: f"{method.problem}/{method.name}", parts=_names
)


def algorithms() -> tuple[Algorithm, ...]:
    """Return every algorithm.

    Examples
    --------
    >>> from dlsched.algorithms import algorithms
    >>> sorted(algorithm.name for algorithm in algorithms() if algorithm.problem == "smd")
    ['esw', 'optimus', 'smd']
    """
    return tuple(method for method in METHODS.all().values() if isinstance(method, Algorithm))


def algorithms_named(name: str) -> tuple[Algorithm, ...]:
    """Return the algorithms of a name: several where several problems have one; ``problem/name`` is one of them.

    Raises
    ------
    InputError
        If there is none; the message lists those there are.
    """
    for among in (METHODS.some(name.replace("/", "-")), METHODS.all()):
        known = [method for method in among.values() if isinstance(method, Algorithm)]
        if found := tuple(entry for entry in known if entry.is_called(name)):
            return found
    return named("algorithm", name, {entry.name: () for entry in known})


def judge_of(problem: Problem[Any, Any], document: Any) -> Problem[Any, Any]:
    """Return what checks, values and draws a schedule: the problem, or the judge that the document names.

    Parameters
    ----------
    problem : Problem
        Of the instance.
    document : JSON data
        The schedule.
    """
    name = document.get("problem", problem.name) if isinstance(document, dict) else problem.name
    if name == problem.name:
        return problem
    judges = (entry.judge for entry in algorithms() if entry.problem == problem.name and entry.judge is not None)
    return next((judge for judge in judges if judge.name == name), problem)


def _spelled(name: str) -> str:
    return plain(name).casefold()


def registered_policy(text: str) -> Policy:
    """Return the policy of a registered algorithm, with options as in ``fifo:backfill=easy:placement=fastest``.

    Raises
    ------
    InputError
        If no algorithm of that name is a policy, or it has no such option.
    """
    name, texts = chosen(text)
    known = [(entry, entry.policy) for entry in algorithms() if entry.policy is not None]
    make = next((make for entry, make in known if entry.is_called(name)), None)
    if make is None:
        make = named("policy", name, {own: make for entry, make in known for own in (entry.name, *entry.also)})
    return make(**values(name, options_of(make), texts))


def exact_method(problem: str) -> ExactMethod | None:
    """Return a problem's own exact method, if it has one."""
    methods = (method for method in METHODS.some(f"{problem}-exact").values() if method.problem == problem)
    return next((method for method in methods if isinstance(method, ExactMethod)), None)


def exact_program(problem: str) -> Callable[[Any], ExactProgram]:
    """Return what writes a problem's program over the rationals.

    Raises
    ------
    InputError
        If the problem has none.
    """
    method = exact_method(problem)
    if method is None or method.program is None:
        raise InputError(f"{problem}: has no program over the rationals, so no exact certificates")
    return method.program
