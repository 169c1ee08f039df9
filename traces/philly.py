"""Microsoft's Philly log.

Source: Jeon et al., USENIX ATC 2019, github.com/msr-fiddle/philly-traces at 29a1b87, README.md: ``cluster_job_log`` is
a JSON list of jobs with their attempts, each with its times and the GPUs that it had on every server.

>>> import json
>>> from pathlib import Path
>>> from dlsched.traces import philly
>>> on = [{"gpus": ["gpu0", "gpu1"]}]
>>> attempt = {"start_time": "2017-10-07 01:12:00", "end_time": "2017-10-07 01:14:00", "detail": on}
>>> log = [{"jobid": "application_1", "submitted_time": "2017-10-07 01:11:39", "attempts": [attempt]}]
>>> _ = Path("cluster_job_log").write_text(json.dumps(log))
>>> instance = philly.READER.read("cluster_job_log", cluster="gpu=4", slots=5, slot_seconds=60)
>>> [(job.name, job.gang, int(job.iterations)) for job in instance.jobs]
[('application_1', 2, 240)]
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from fractions import Fraction
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, Field, NaiveDatetime, TypeAdapter, ValidationError

from dlsched.arguments import checked
from dlsched.errors import InputError
from dlsched.models.document import one_line, parse_json
from dlsched.models.fields import Name
from dlsched.models.files import PathLike, read_bytes
from dlsched.traces.gavel_files import MAX_JOBS
from dlsched.traces.logs import BACKWARDS, Log, Ran, log_reader
from dlsched.traces.source import Source

MOST_BYTES = 256 * 2**20
"""Of a log. Arbitrary: the published one has 117 325 jobs of some hundred bytes each."""

UNRECORDED = "without a recorded run on GPUs"

Time = Annotated[NaiveDatetime | None, BeforeValidator(lambda value: None if value in ("", "None") else value)]
"""A time that the log may lack; it names no zone, and where some times did they could not be compared."""


class _Server(BaseModel):
    gpus: list[str]


class _Attempt(BaseModel):
    start_time: Time
    end_time: Time
    detail: list[_Server]

    @property
    def gpus(self) -> int:
        return sum(len(server.gpus) for server in self.detail)

    @property
    def seconds(self) -> int:
        if self.start_time is None or self.end_time is None:
            return 0
        return int((self.end_time - self.start_time).total_seconds())


class _Job(BaseModel):
    jobid: Name
    submitted_time: Time
    attempts: list[_Attempt]

    @property
    def came(self) -> datetime | None:
        times = [self.submitted_time, *(attempt.start_time for attempt in self.attempts)]
        return next((time for time in times if time is not None), None)


@checked
def read_log(path: PathLike) -> Log:
    """Read a ``cluster_job_log``.

    Raises
    ------
    InputError
        One line that names the file, the place, the value and the rule.
    """
    content = read_bytes(path, MOST_BYTES)
    try:
        found = TypeAdapter(Annotated[list[_Job], Field(max_length=MAX_JOBS)]).validate_python(
            parse_json(path, content)
        )
    except ValidationError as error:
        raise InputError(f"{path}: {one_line(error)}") from None
    origin = {
        "format": "philly",
        "names": "jobid",
        "arrival": "submitted_time, or the beginning of the first attempt that has one where it is null",
        "gang": "GPUs of the last attempt with any",
        "attempts": "their seconds are added: what ran before a failure is run again",
        "unused": "status, vc, user, servers",
    }
    return Log(Source.of(path, content), tuple(_jobs(str(path), found)), origin)


def _jobs(path: str, found: list[_Job]) -> Iterator[Ran]:
    """Yield the jobs; one that came at no recorded time has none, and stands at the beginning."""
    begin = min((job.came for job in found if job.came is not None), default=None)
    for k, job in enumerate(found):
        gangs = [attempt.gpus for attempt in job.attempts if attempt.gpus]
        lengths = [attempt.seconds for attempt in job.attempts]
        came = Fraction(0)
        if begin is not None and job.came is not None:
            came = Fraction(int((job.came - begin).total_seconds()))
        unusable = "" if gangs and any(lengths) and job.came is not None else UNRECORDED
        if min(lengths, default=0) < 0:
            unusable = BACKWARDS
        gang = gangs[-1] if gangs else 1
        yield Ran(job.jobid, f"{path}: [{k}]", came, gang, Fraction(sum(lengths)), unusable=unusable)


READER = log_reader("philly", "Microsoft's Philly log (JSON): attempts with their times and GPUs", read_log)
