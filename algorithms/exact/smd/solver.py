"""The certified optimum of SMD instances.

(2) packs what jobs reserve, not what they use, so the problem splits exactly: the best workers and servers of each job,
by `dlsched.models.smd.best_point` in rationals, and a 0-1 knapsack problem over the jobs, by
`dlsched.algorithms.exact.knapsack`.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial

from dlsched.algorithms.exact.anytime import Anytime
from dlsched.algorithms.exact.knapsack import solve_exact
from dlsched.algorithms.exact.result import Optimum, Progress
from dlsched.arguments import at_least, checked
from dlsched.halt import Halt, poll
from dlsched.models.smd import Instance, Job, Point, Schedule, best_point, check, exact_utility


@checked
def solve(
    instance: Instance,
    *,
    time_limit: float | None = None,
    progress: Progress | None = None,
    stop: Callable[[], bool] | None = None,
) -> Optimum:
    """Return the certified optimum of an SMD instance, or what is known of it when time is up.

    Parameters
    ----------
    instance : Instance
    time_limit : float, optional
        Seconds in all.
    progress, stop
        As for `dlsched.algorithms.optimum`.

    References
    ----------
    SMD, (1)-(3).
    """
    at_least(0, time_limit=time_limit)
    known = Anytime[Schedule](partial(exact_utility, instance), partial(check, instance), progress=progress)
    known.take(Schedule.of({}))
    return known.run(lambda: _steps(instance, known), time_limit=time_limit, stop=stop)


def _steps(instance: Instance, known: Anytime[Schedule]) -> bool:
    """Solve the jobs one by one, then the knapsack problem; tell whether the optimum is proved."""
    best, rest = _inner(instance)
    known.evidence.append(_inner_evidence(instance, len(best), len(rest)))
    names = list(best)
    jobs = [instance.job(name) for name in names]
    found = solve_exact(
        [best[name].utility for name in names],
        [[job.limit_of(r) for r in instance.resources] for job in jobs],
        [instance.capacity_of(r) for r in instance.resources],
        progress=known.tell,
    )
    schedule = Schedule.of({names[i]: (best[names[i]].workers, best[names[i]].servers) for i in found.chosen})
    if not known.take(schedule) or known.value != float(found.value):
        raise RuntimeError("the optimum's schedule does not pass the checker: report this instance")
    open_ = sum((max(Fraction(0), job.utility.exact(0)) for job in rest), Fraction(0))
    known.bound(float(found.bound + open_), "the knapsack problem")
    known.evidence += found.evidence
    known.found(found.seconds_proved)
    return found.proved and not rest


def _inner(instance: Instance) -> tuple[dict[str, Point], list[Job]]:
    """Return the best point of each job that can be admitted, and the jobs left when the work was over."""
    best: dict[str, Point] = {}
    for number, job in enumerate(instance.jobs):
        try:
            poll()
            point = best_point(job) if instance.admissible(job) else None
        except Halt:
            return best, list(instance.jobs[number:])
        if point is not None:
            best[job.name] = point
    return best, []


def _inner_evidence(instance: Instance, admissible: int, rest: int) -> str:
    never = len(instance.jobs) - admissible - rest
    text = f"the best workers and servers of {admissible} jobs, in rationals"
    if rest:
        text += f", {rest} not looked at"
    if not never:
        return text
    return f"{text}; {never} can never be admitted: too little for one worker and one server, or more than there is"
