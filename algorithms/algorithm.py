"""What an algorithm and an exact method are, and which there are for a problem."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from dlsched.algorithms.exact.certificates.program import ExactProgram
from dlsched.algorithms.exact.result import Optimum
from dlsched.algorithms.run import Run
from dlsched.arguments import named
from dlsched.models.document import Document
from dlsched.models.options import options_of
from dlsched.models.registry import Registry


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
    """

    run: Callable[..., Run[Any]]
    schedule: type[Document] | None = None

    @property
    def options(self) -> type:
        """A frozen dataclass of what may be chosen beside the seed and when to stop."""
        return options_of(self.run, without=("seed", "time_limit", "progress", "stop"))


@dataclass(frozen=True, slots=True)
class ExactMethod(Method):
    """A method of a problem's own for its certified optimum, in place of a formulation and the general certifier.

    Attributes
    ----------
    solve : callable
        ``(instance, *, time_limit, progress, stop) -> Optimum``, as `dlsched.algorithms.optimum`.
    own_unit : bool
        Whether the instance has to be brought into a unit of utility that its tolerances suit.
    program : callable, optional
        ``(instance) -> ExactProgram``, which has the problem's optimum: what exact certificates are about.
    """

    solve: Callable[..., Optimum]
    own_unit: bool = True
    program: Callable[[Any], ExactProgram] | None = None


METHODS: Registry[Method] = Registry("algorithms", Method, lambda method: f"{method.problem}/{method.name}")


def algorithms() -> tuple[Algorithm, ...]:
    """Return every algorithm."""
    return tuple(method for method in METHODS.all().values() if isinstance(method, Algorithm))


def algorithms_named(name: str) -> tuple[Algorithm, ...]:
    """Return the algorithms of a name: several where several problems have one; ``problem/name`` is one of them.

    Raises
    ------
    InputError
        If there is none; the message lists those there are.
    """
    quickly = METHODS.some(name.replace("/", "-")).values()
    known = [method for method in quickly if isinstance(method, Algorithm)]
    if not any(name in (entry.name, f"{entry.problem}/{entry.name}") for entry in known):
        known = list(algorithms())
    by_name: dict[str, tuple[Algorithm, ...]] = {}
    for entry in known:
        by_name[entry.name] = (*by_name.get(entry.name, ()), entry)
    if "/" in name:
        by_name = {f"{entry.problem}/{entry.name}": (entry,) for entry in known}
    return named("algorithm", name, by_name)


def exact_method(problem: str) -> ExactMethod | None:
    """Return a problem's own exact method, if it has one."""
    methods = (method for method in METHODS.some(f"{problem}-exact").values() if method.problem == problem)
    return next((method for method in methods if isinstance(method, ExactMethod)), None)
