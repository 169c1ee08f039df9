"""Several routes to one optimum at the same time, each in a process of its own, with one incumbent and bound.

This process takes a method's own route; others take those that it names `beside`. Whichever has a proof first ends the
race. A schedule that one finds is checked and taken by the others; a bound of another is told, and proves nothing where
it was not found: each proof rests on two routes, or on rationals, of the process that has it.
"""

from __future__ import annotations

import math
import queue
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

from dlsched.algorithms.algorithm import ExactMethod, exact_method
from dlsched.algorithms.exact.anytime import News, sharing
from dlsched.algorithms.exact.result import Note, Optimum, Progress
from dlsched.child import Child, Parent
from dlsched.models.numbers import exceeds, small_unit
from dlsched.models.problem import Problem, problem
from dlsched.models.registry import load, loaded

_LATE = 1.0
"""Seconds after the end of time in which other processes may tell what they have. Arbitrary: they end by themselves.

Where time has no end they end with this one, for a search for schedules alone would never do.
"""


def raced(
    solve: Callable[..., Optimum],
    method: ExactMethod,
    others: int,
    instance: Any,
    *,
    time_limit: float | None = None,
    progress: Progress | None = None,
    stop: Callable[[], bool] | None = None,
) -> Optimum:
    """Return what the first of several routes proves or, where none does, what all know when time is up.

    Parameters
    ----------
    solve : callable
        The route of this process.
    method : ExactMethod
    others : int
        Routes beside it, each in another process; not more than it has.
    instance, time_limit, progress, stop
        As for `dlsched.algorithms.optimum`.
    """
    start = time.perf_counter()
    routes = range(min(others, len(method.elsewhere)))
    with ExitStack() as stack:
        runners = [stack.enter_context(_Runner(method, route, instance, time_limit)) for route in routes]
        field = _Field(problem(method.problem), runners)
        with sharing(field):
            found = solve(
                instance,
                time_limit=time_limit,
                progress=progress,
                stop=lambda: field.is_won() or (stop is not None and stop()),
            )
        end = -math.inf if time_limit is None or (stop is not None and stop()) else start + time_limit
        return found if found.proved else field.best(found, start, end)


class _Runner:
    """Another process on one of the routes."""

    def __init__(self, method: ExactMethod, route: int, instance: Any, time_limit: float | None) -> None:
        self.may_prove = route < len(method.beside)
        self._child = Child(__name__, "serve")
        self._news: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        self._ended = threading.Event()
        self._task = {
            "plugins": loaded(),
            "problem": method.problem,
            "route": route,
            "instance": instance.dump(),
            # Its clock may begin anywhere, and starting takes it a second.
            "end": None if time_limit is None else time.time() + time_limit,
        }
        self.result: dict[str, Any] | None = None
        self.failure = ""

    def __enter__(self) -> _Runner:
        try:
            self._child.start()
        except OSError as error:  # there may be no more processes
            self.failure = f"could not be started: {error}"
            self._ended.set()
            return self
        self._child.send(self._task)
        threading.Thread(target=self._listen, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._child.close()

    def _listen(self) -> None:
        while (message := self._child.inbox.get()) is not None:
            data = message[0]
            if "failure" in data:
                self.failure = data["failure"]
            elif "result" in data:
                self.result = data["result"]
                self._ended.set()
            else:
                self._news.put(data)
        if self.result is None and not self.failure:
            self.failure = "ended before it had a result"
        self._ended.set()

    def send(self, news: dict[str, Any]) -> None:
        self._child.send(news)

    def received(self) -> Iterator[dict[str, Any]]:
        while True:
            try:
                yield self._news.get_nowait()
            except queue.Empty:
                return

    def has_ended(self) -> bool:
        """Tell whether it has a result or has failed, or could not start."""
        return self._ended.is_set()

    def wait(self, seconds: float) -> None:
        """Wait until it has a result, or has ended."""
        self._ended.wait(seconds)

    def has_won(self) -> bool:
        """Tell whether it has a proof; asked also from threads of solvers."""
        result = self.result
        return result is not None and bool(result["proved"])


class _Field:
    """All other processes, as what this one shares with."""

    def __init__(self, of: Problem[Any, Any], runners: Sequence[_Runner]) -> None:
        self._problem, self._runners = of, runners

    def send(self, news: News) -> None:
        for runner in self._runners:
            runner.send(_written(news))

    def received(self) -> Iterator[News]:
        for runner in self._runners:
            yield from (_news(self._problem, data) for data in runner.received())

    def present(self) -> bool:
        return not all(runner.has_ended() for runner in self._runners)

    def is_won(self) -> bool:
        return any(runner.has_won() for runner in self._runners)

    def best(self, own: Optimum, start: float, end: float) -> Optimum:
        """Return the best of what this process knows and what the others do, or those will that may prove it by an end.

        What mere searches have found was told as they found it.
        """
        early = time.perf_counter() < end
        for runner in self._runners:
            waits = not self.is_won() and (runner.may_prove or not early)
            runner.wait(max(0.0, end + _LATE - time.perf_counter()) if waits else 0.0)
        elapsed = time.perf_counter() - start
        results = [runner.result for runner in self._runners if runner.result is not None]
        others = [_optimum(self._problem, result, elapsed) for result in results]
        standing = [other for other in others if not _refuted(other.bound, own.value)]
        for other in standing:
            if other.proved:
                return other
        lines = [
            Note("another process: nothing better than ", other.bound, ", refuted (", own.value, " is feasible)")
            for other in others
            if other.bound is not None and own.value is not None and other not in standing
        ]
        lines += [Note(f"another process: {runner.failure}") for runner in self._runners if runner.failure]
        return _merged([replace(own, evidence=(*own.evidence, *lines)), *standing])


def _merged(found: Sequence[Optimum]) -> Optimum:
    """Return the best schedule and the least bound of several that are not proved."""
    best = max(found, key=lambda each: -math.inf if each.value is None else each.value)
    bounds = [each.bound for each in found if each.bound is not None and not _refuted(each.bound, best.value)]
    evidence = tuple(dict.fromkeys(line for each in found for line in each.evidence))
    bound = min(bounds, default=None)
    if bound is not None and best.value is not None:
        bound = max(bound, best.value)
    return Optimum(best.value, bound, best.schedule, False, evidence, best.seconds_found, best.seconds_proved)


def _refuted(bound: float | None, value: float | None) -> bool:
    """Tell whether a schedule is worth more than a bound; no bound says that there is no schedule."""
    return value is not None and (bound is None or exceeds(value, bound, unit=small_unit(abs(value))))


def serve() -> None:
    """Take a route in this process, and tell the one that has started it what is found."""
    parent = Parent()
    try:
        parent.send({"result": _dumped(_run(parent))})
    except Exception as error:
        parent.send({"failure": f"{type(error).__name__}: {error}"})
    parent.end()


def _run(parent: Parent) -> Optimum:
    messages = parent.messages()
    task = next(messages)[0]
    for name in task["plugins"]:
        load(name)
    of = problem(task["problem"])
    method = exact_method(of.name)
    if method is None:
        raise RuntimeError(f"{of.name}: has no exact method here")
    instance = of.instance.parse(task["instance"])
    heard: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()

    def listen() -> None:
        for data, _ in messages:
            heard.put(data)

    threading.Thread(target=listen, daemon=True).start()
    seconds = None if task["end"] is None else max(0.0, task["end"] - time.time())
    with sharing(_Home(of, parent, heard)):
        return method.elsewhere[task["route"]](instance, time_limit=seconds)


class _Home:
    """The process that has started this one, as what this one shares with."""

    def __init__(self, of: Problem[Any, Any], parent: Parent, heard: queue.SimpleQueue[dict[str, Any]]) -> None:
        self._problem, self._parent, self._heard = of, parent, heard

    def send(self, news: News) -> None:
        self._parent.send(_written(news))

    def received(self) -> Iterator[News]:
        while True:
            try:
                yield _news(self._problem, self._heard.get_nowait())
            except queue.Empty:
                return

    def present(self) -> bool:
        return True


def _written(news: News) -> dict[str, Any]:
    schedule = None if news.schedule is None else news.schedule.dump()
    return {"schedule": schedule, "bound": news.bound if math.isfinite(news.bound) else None}


def _news(of: Problem[Any, Any], data: dict[str, Any]) -> News:
    schedule = None if data["schedule"] is None else of.schedule.parse(data["schedule"])
    return News(schedule, math.inf if data["bound"] is None else data["bound"])


def _dumped(found: Optimum) -> dict[str, Any]:
    return {
        "value": found.value,
        "bound": found.bound,
        "schedule": None if found.schedule is None else found.schedule.dump(),
        "proved": found.proved,
        "evidence": [line.parts if isinstance(line, Note) else [line] for line in found.evidence],
        "seconds_proved": found.seconds_proved,
    }


def _optimum(of: Problem[Any, Any], result: dict[str, Any], elapsed: float) -> Optimum:
    return Optimum(
        result["value"],
        result["bound"],
        None if result["schedule"] is None else of.schedule.parse(result["schedule"]),
        result["proved"],
        tuple(Note(*parts) for parts in result["evidence"]),
        max(0.0, elapsed - result["seconds_proved"]),
        result["seconds_proved"],
    )
