"""Several policies on one instance over time, in the simulator, beside the certified bound where there is one.

What they run on is an instance, not a trace: the cluster, the length of a slot, the speeds of types and what a job is
worth are choices that stand in no trace. ``dlsched convert`` asks for them, and the instance's origin tells them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial

from dlsched.algorithms.algorithm import algorithms, registered_policy
from dlsched.algorithms.compare import FAILURES, PANEL, durations, why
from dlsched.algorithms.exact.dispatch import optimum
from dlsched.algorithms.simulator.metrics import Metrics, Spread, metrics
from dlsched.algorithms.simulator.plot import gantt, last_end, over_time
from dlsched.algorithms.simulator.policy import Policy, arrival_of
from dlsched.algorithms.simulator.simulate import begun, simulate
from dlsched.algorithms.simulator.simulation import Simulation, schedule
from dlsched.algorithms.simulator.simulation import exact_utility as simulated_utility
from dlsched.algorithms.table import Table
from dlsched.arguments import checked, expect, positive
from dlsched.errors import InputError, shown
from dlsched.halt import Halt, cut, until
from dlsched.models import picture
from dlsched.models.files import PathLike
from dlsched.models.hadar import Instance
from dlsched.models.hadar.schedule import exact_utility
from dlsched.models.numbers import to_json
from dlsched.readable import Readable, Section

_FEW = 20
"""Jobs up to which the picture has a bar for each. Arbitrary: in a panel for each policy, more are hard to find."""

_TOLD = "policy", "utility", "of the bound", "done", "mean JCT", "TTD"
"""Columns that are printed: they fit a terminal beside names of twenty letters. The table has them all."""

_MOST = 200_000
"""Slots with devices, of all jobs, up to which the checker values a simulation: about two seconds."""


@dataclass(frozen=True, slots=True)
class PolicyRow:
    """What one policy does.

    Attributes
    ----------
    name : str
        As it was asked for.
    simulation : Simulation or None
        None where there is none.
    metrics : Metrics or None
        Of the simulation.
    checked : Fraction or None
        What the problem's checker values its schedule at; None where it is none, or too long.
    seconds : float
    note : str
        Why something is missing.
    refused : bool
        Whether the simulation is missing because of what the policy did or was told.
    """

    name: str
    simulation: Simulation | None
    metrics: Metrics | None
    checked: Fraction | None
    seconds: float
    note: str = ""
    refused: bool = False


@dataclass(frozen=True, slots=True)
class PolicyComparison(Readable):
    """Several policies on one instance, over time.

    Attributes
    ----------
    instance : Instance
    bound : float or None
        On the utility of every schedule of whole slots, certified; None where none was looked for.
    restart_seconds : Fraction
    rows : tuple of PolicyRow
    left_out : dict of str to str
        Why policies have no row, by name, where all were asked for that there are.

    Examples
    --------
    >>> from dlsched.algorithms import compare_policies
    >>> from dlsched.models import hadar
    >>> found = compare_policies(hadar.random(0), ["fifo", "fifo:backfill=easy"])
    >>> {row.name: (float(row.metrics.utility), row.metrics.done) for row in found.rows}
    {'fifo': (34.0, 2), 'fifo:backfill=easy': (34.0, 2)}
    >>> print(found.job_table().csv())
    job,fifo,fifo:backfill=easy
    job1,,
    job2,1.1666666666666667,1.1666666666666667
    job3,0.5,0.5
    """

    instance: Instance
    bound: float | None
    restart_seconds: Fraction
    rows: tuple[PolicyRow, ...]
    left_out: dict[str, str] = field(default_factory=dict)
    unit = "seconds"

    @property
    def refused(self) -> tuple[str, ...]:
        """Why policies were refused that were."""
        return tuple(row.note for row in self.rows if row.refused)

    def table(self) -> Table:
        """Return the table; times are in seconds.

        *checked* is the utility by the problem's checker, left out where restarts take no time and all are the same;
        *GRU* and *CRU* are the utilisations, *unfairness* the greatest finish-time ratio, *changed* the share of
        decisions at which a job got, lost or changed devices, *s a decision* the mean seconds of one (`Metrics`).
        """
        return Table.of(
            self.rows,
            {
                "policy": lambda row: row.name,
                "utility": _measured(lambda known: known.utility),
                "checked": lambda row: row.checked if self._differ else None,
                "of the bound": self._share,
                "admitted": _measured(lambda known: known.admitted),
                "done": _measured(lambda known: known.done),
                "mean JCT": _measured(lambda known: _of(known.jct, lambda jct: jct.mean)),
                "median JCT": _measured(lambda known: _of(known.jct, lambda jct: jct.median)),
                "TTD": _measured(lambda known: known.ttd),
                "GRU": _measured(lambda known: known.gru),
                "CRU": _measured(lambda known: known.cru),
                "unfairness": _measured(lambda known: _of(known.fairness, lambda ratio: ratio.greatest)),
                "changed": _measured(lambda known: known.changed),
                "s a decision": _measured(lambda known: known.decision_seconds),
                "seconds": lambda row: row.seconds,
                "note": lambda row: row.note,
            },
        )

    def job_table(self) -> Table:
        """Return the completion time (JCT) of each job under each policy; nothing where it is not done."""
        arrivals = {job.name: arrival_of(self.instance, job) for job in self.instance.jobs}
        known = {
            name: {job: end - arrivals[job] for job, end in simulation.completions.items()}
            for name, simulation in self._simulations.items()
        }
        return durations(arrivals, known)

    def save_plot(self, path: PathLike) -> None:
        """Draw all simulations into one file; the name's ending chooses the format (png, svg, pdf).

        Of few jobs, who has which device when, one policy below the other; of many, the devices in use over time and
        the share of the jobs done.

        Raises
        ------
        InputError
            If there is no simulation, the format is unknown, or the file cannot be written.
        MissingExtra
            If matplotlib is not installed.
        """
        drawn = self._simulations
        if not drawn:
            raise InputError(f"{path}: there is no simulation to draw")
        if len(self.instance.jobs) > _FEW:
            picture.save(over_time(drawn)[0].figure, path)
            return
        last = last_end(drawn.values())
        shown = {name: partial(gantt, simulation, until=last) for name, simulation in drawn.items()}
        picture.save(picture.panels(shown, *PANEL), path)

    def _sections(self) -> Iterable[Section]:
        return self.table().sections(f"Policies over time, in {self.unit}", _TOLD)

    @property
    def _simulations(self) -> dict[str, Simulation]:
        return {row.name: row.simulation for row in self.rows if row.simulation is not None}

    @property
    def _differ(self) -> bool:
        """Tell whether the checker's utility is to be told beside the simulator's."""
        return self.restart_seconds > 0 or any(row.metrics and row.checked != row.metrics.utility for row in self.rows)

    def _share(self, row: PolicyRow) -> float | None:
        # The bound is on schedules of one gang a job.
        if row.metrics is None or row.simulation is None or row.simulation.copies or not self.bound:
            return None
        return float(row.metrics.utility) / self.bound


def _measured(read: Callable[[Metrics], float | Fraction | None]) -> Callable[[PolicyRow], float | Fraction | None]:
    return lambda row: None if row.metrics is None else read(row.metrics)


def _of(spread: Spread | None, read: Callable[[Spread], Fraction]) -> Fraction | None:
    return None if spread is None else read(spread)


@checked
def compare_policies(
    instance: Instance,
    policies: Sequence[str | Policy] = (),
    *,
    round_seconds: float | Fraction | None = None,
    restart_seconds: float | Fraction = 0,
    horizon: float | Fraction | None = None,
    bound_seconds: float | None = None,
    seed: int = 0,
    time_limit: float | None = None,
    progress: Callable[[int, int], None] | None = None,
    stop: Callable[[], bool] | None = None,
) -> PolicyComparison:
    """Simulate policies on an instance.

    Parameters
    ----------
    instance : Instance
        Of Hadar's problem, as readers of traces make it.
    policies : sequence of str or Policy
        By registered name, with options if not the usual ones, as in ``fifo:backfill=easy:placement=fastest``, or
        objects; where it is left out, all that are registered and can decide so (the others are in `left_out`).
    round_seconds : number or None
        Length of a round; None for decisions at events, when a job arrives or is done.
    restart_seconds : number
        That a job does nothing on a new allocation.
    horizon : number, optional
        Seconds after which nothing runs; the end of the last slot by default.
    bound_seconds : float, optional
        How long the certified optimum is looked for, whose bound is on schedules of whole slots; not at all if left
        out.
    seed : int
        Of every simulation.
    time_limit : float, optional
        Seconds for each policy.
    progress : callable, optional
        Told (how many jobs are done, how many are to be), of all simulations.
    stop : callable, optional
        Asked often; where it tells True, the comparison ends with what is known.

    Returns
    -------
    PolicyComparison
        A policy that is refused for an impossible allocation has a row that says so.

    Raises
    ------
    InputError
        If there is no such policy, it has no such option, it needs rounds and there are none, or a number is out of
        range.

    Examples
    --------
    >>> from dlsched.algorithms import compare_policies
    >>> from dlsched.models import hadar
    >>> instance = hadar.random(0)
    >>> print(compare_policies(instance, ["las", "srtf"], round_seconds=instance.slot_seconds, bound_seconds=9))
    Policies over time, in seconds
      policy  utility  of the bound  done  mean JCT      TTD
      las          17           0.5     1  0.333333  2.33333
      srtf         34             1     2  0.645833  2.16667
    """
    positive(bound_seconds=bound_seconds)
    asked, left_out = _asked(policies, round_seconds)
    for policy in asked.values():
        state, _ = begun(instance, policy, round_seconds, restart_seconds, horizon)
    whole = state.round_seconds is not None and not state.round_seconds % instance.slot_seconds
    if bound_seconds is not None and not whole:
        length = to_json(instance.slot_seconds)
        raise InputError(
            f"bound_seconds: the bound is on schedules of whole slots; make round_seconds a multiple of {length}"
        )
    tell, jobs = progress or (lambda done, total: None), len(instance.jobs)
    tell(0, len(asked) * jobs)
    bound, rows = None, list[PolicyRow]()
    if bound_seconds is not None:
        bound = optimum(instance, time_limit=bound_seconds, stop=stop).bound
    for name, policy in asked.items():
        start = time.perf_counter()
        try:
            with until(stop, time_limit):
                found = simulate(
                    instance,
                    policy,
                    round_seconds=round_seconds,
                    restart_seconds=restart_seconds,
                    seed=seed,
                    horizon=horizon,
                    progress=partial(_further, tell, len(rows) * jobs, len(asked) * jobs),
                )
        except FAILURES as error:
            seconds, refused = time.perf_counter() - start, isinstance(error, InputError)
            rows.append(PolicyRow(name, None, None, None, seconds, why(error, stop), refused))
        else:
            seconds = time.perf_counter() - start
            rows.append(_row(name, found, seconds, whole, stop))
    tell(len(asked) * jobs, len(asked) * jobs)
    return PolicyComparison(instance, bound, state.restart_seconds, tuple(rows), left_out)


def _row(name: str, found: Simulation, seconds: float, whole: bool, stop: Callable[[], bool] | None) -> PolicyRow:
    """Return the row of a simulation; measuring it, which takes as long where jobs are many, ends with `stop` too."""
    try:
        with until(stop):
            return cut(lambda: PolicyRow(name, found, metrics(found), _checked(found, whole), seconds))
    except Halt as error:
        return PolicyRow(name, None, None, None, seconds, why(error, stop))


def _further(tell: Callable[[int, int], None], before: int, total: int, done: int, jobs: int) -> None:
    tell(before + done, total)


def _asked(
    policies: Sequence[str | Policy], round_seconds: float | Fraction | None
) -> tuple[dict[str, Policy], dict[str, str]]:
    """Return the policies that are asked for, by what their rows are called, and why others are left out."""
    known = {entry.name: entry.policy for entry in algorithms() if entry.policy is not None}
    if not policies:
        usual = {name: policy() for name, policy in known.items()}
        without = [name for name, policy in usual.items() if round_seconds is None and policy.needs_rounds]
        taken = {name: policy for name, policy in usual.items() if name not in without}
        return taken, dict.fromkeys(without, "decides in rounds; say how long they are (round_seconds)")
    found: dict[str, Policy] = {}
    for asked in policies:
        expect("policies", asked, str, Policy)
        label = asked.name if isinstance(asked, Policy) else asked
        if label in found:
            raise InputError(f"policies: {shown(label)} is named twice")
        found[label] = asked if isinstance(asked, Policy) else registered_policy(asked)
    return found, {}


def _checked(simulation: Simulation, whole: bool) -> Fraction | None:
    """Return what the checker values the schedule of a simulation at, if there is one and it is not too long.

    Raises
    ------
    RuntimeError
        If it is of whole slots, without restarts, and the checker says otherwise: a defect of the simulator.
    """
    instance = simulation.instance
    if sum(segment.end - segment.start for segment in simulation.segments) > _MOST * instance.slot_seconds:
        return None
    try:
        found = schedule(simulation)
    except InputError:
        return None
    value = exact_utility(instance, found)
    if whole and not simulation.restart_seconds and value != (own := simulated_utility(simulation)):
        raise RuntimeError(f"policy {simulation.policy} is worth {own} when simulated, and {value} to the checker")
    return value
