r"""Tiresias' job lists.

Source: Tiresias (Gu et al., NSDI 2019), github.com/SymbioticLab/Tiresias at 959f9b0, ``trace-data/60_job.csv``: the
simulator reads submit_time and duration in seconds, and takes a job's duration for what it is on its own devices.

>>> from pathlib import Path
>>> from dlsched.traces import tiresias
>>> log = "job_id,num_gpu,submit_time,iterations,model_name,duration,interval\n0,1,0,606,vgg19,164,30\n"
>>> _ = Path("60_job.csv").write_text(log)
>>> instance = tiresias.READER.read("60_job.csv", cluster="gpu=4", slots=5, slot_seconds=60)
>>> [(job.name, job.gang, int(job.iterations)) for job in instance.jobs]
[('vgg19 #0', 1, 164)]
"""

from __future__ import annotations

from dlsched.arguments import checked
from dlsched.models.files import PathLike
from dlsched.traces.logs import Log, beginning, log_reader, read_table

_COLUMNS = ("job_id", "num_gpu", "submit_time", "model_name", "duration")


@checked
def read_log(path: PathLike) -> Log:
    """Read a job list.

    Raises
    ------
    InputError
        One line that names the file, the line, the column, the value and the rule.
    """
    source, rows = read_table(path, _COLUMNS)
    begin = beginning(rows, "submit_time")
    jobs = tuple(
        row.job("model_name", "job_id", arrival="submit_time", gang="num_gpu", seconds="duration", begin=begin)
        for row in rows
    )
    unused = "iterations and interval: the duration says how long a job runs"
    return Log(source, jobs, {"format": "tiresias", "names": "model and job_id", "unused": unused})


READER = log_reader("tiresias", "Tiresias' job list (CSV): submit times, GPUs, durations", read_log)
