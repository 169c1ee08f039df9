r"""Any CSV file of jobs, whose columns the user names.

>>> from pathlib import Path
>>> from dlsched.traces import columns
>>> _ = Path("log.csv").write_text("job,submitted,gpus,ran\nbert,0,2,600\ngan,60,1,120\n")
>>> instance = columns.convert(
...     "log.csv", columns="name=job,arrival=submitted,gang=gpus,seconds=ran", cluster="new=2,old=2",
...     speeds="new=1,old=0.5", slots=20, slot_seconds=60,
... )
>>> for job in instance.jobs:
...     print(job.name, job.arrival, job.gang, job.iterations, {r: float(rate) for r, rate in job.rate.items()})
bert 1 2 1200 {'new': 1.0, 'old': 0.5}
gan 2 1 120 {'new': 1.0, 'old': 0.5}
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from dlsched.arguments import checked
from dlsched.errors import InputError, shown
from dlsched.models.files import PathLike
from dlsched.models.hadar.instance import Instance
from dlsched.models.options import pairs
from dlsched.traces.logs import Log, beginning, converted, read_table
from dlsched.traces.reader import Reader
from dlsched.traces.request import Request, UtilityChoice

_NEEDED = ("name", "arrival", "gang", "seconds")


@checked
def read_log(path: PathLike, columns: Mapping[str, str] | str | None = None) -> Log:
    """Read a CSV file whose first line names its columns.

    Parameters
    ----------
    path : path
    columns : mapping of str to str, or str, optional
        Which column is the ``name``, ``arrival`` (seconds), ``gang`` (devices) and ``seconds`` (on these), as in
        ``arrival=submit_time,gang=gpus``; those that are left out have these names.

    Raises
    ------
    InputError
        One line that names the file, the line, the column, the value and the rule.
    """
    named = _named(columns)
    source, rows = read_table(path, tuple(named.values()))
    kinds = {kind: named[kind] for kind in ("arrival", "gang", "seconds")}
    begin = beginning(rows, named["arrival"])
    jobs = tuple(row.job(named["name"], **kinds, begin=begin) for row in rows)
    return Log(source, jobs, {"format": "csv", "columns": ", ".join(f"{k}={v}" for k, v in named.items())})


def _named(columns: Mapping[str, str] | str | None) -> dict[str, str]:
    named = {name: name for name in _NEEDED}
    for name, column in (pairs("columns", columns) if isinstance(columns, str) else columns or {}).items():
        if name not in named:
            raise InputError(f"columns: {shown(name)} is none of {', '.join(_NEEDED)}")
        if not column:
            raise InputError(f"columns: {name} must name a column, as in {name}=some_column")
        named[name] = column
    return named


@checked
def convert(
    path: PathLike,
    *,
    cluster: Mapping[str, int] | str,
    slots: int,
    slot_seconds: Fraction | float | str,
    columns: Mapping[str, str] | str | None = None,
    speeds: Mapping[str, float] | str | None = None,
    jobs: int | None = None,
    skip: bool = False,
    start: int = 0,
    per_machine: int | None = None,
    utility: UtilityChoice | str = UtilityChoice.EFFECTIVE_THROUGHPUT,
) -> Instance:
    """Make a Hadar instance of the jobs of a CSV file, in order of arrival.

    Parameters
    ----------
    path : path
    cluster : mapping of str to int, or str
        Devices by type; as text, e.g. ``v100=2,p100=3,k80=1``.
    slots : int
        How many slots the instance has.
    slot_seconds : number or str
        Seconds a slot; a rational p/q will do.
    columns : mapping of str to str, or str, optional
        Which column is the name, arrival, gang and seconds, as in ``arrival=submit_time,gang=gpus``.
    speeds : mapping of str to number, or str, optional
        How fast a device of a type is beside those of the file, as in ``v100=1,k80=0.25``; 1 where it is left out.
    jobs : int, optional
        How many jobs to take, in order of arrival; all where it is left out.
    skip : bool
        Leave out, and count in `origin`, jobs that cannot be used. Otherwise such a job is an error.
    start : int
        How many jobs to pass over first.
    per_machine : int, optional
        Devices of a machine; one machine per type where it is left out.
    utility : UtilityChoice
        What a job is worth, which the file does not say.

    Raises
    ------
    InputError
        One line that names the file, the place, the value and the rule.
    """
    request = Request.of(cluster, slots, slot_seconds, jobs, skip, start, per_machine, utility)
    return converted(read_log(path, columns), request, speeds)


READER = Reader("csv", "hadar", "A CSV file of jobs, whose columns you name", convert)
