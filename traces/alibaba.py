r"""Alibaba's list of pods on GPUs.

Source: Weng et al., USENIX ATC 2023, github.com/alibaba/clusterdata at 0c9677b, ``cluster-trace-gpu-v2023``, README.md:
``openb_pod_list_default.csv`` has creation, scheduling and deletion times in seconds, and 0 to 8 GPUs or a part of one.

>>> from pathlib import Path
>>> from dlsched.traces import alibaba
>>> log = "name,num_gpu,gpu_spec,creation_time,deletion_time,scheduled_time\npod-0,2,T4|P100,100,220,160\n"
>>> _ = Path("pods.csv").write_text(log)
>>> instance = alibaba.READER.read("pods.csv", cluster="T4=2,V100M16=2", slots=5, slot_seconds=60)
>>> [(job.name, job.gang, int(job.iterations), dict(job.rate)) for job in instance.jobs]
[('pod-0', 2, 120, {'T4': Fraction(1, 1)})]
"""

from __future__ import annotations

from fractions import Fraction

from dlsched.arguments import checked
from dlsched.models.files import PathLike
from dlsched.traces.logs import BACKWARDS, Cells, Log, Ran, beginning, log_reader, read_table

_COLUMNS = ("name", "num_gpu", "gpu_spec", "creation_time", "deletion_time", "scheduled_time")

NO_GPU = "without a GPU"
UNSCHEDULED = "without a scheduled and a deletion time"


@checked
def read_log(path: PathLike) -> Log:
    """Read a list of pods; the lists that are sampled of it, without times, are no logs.

    Raises
    ------
    InputError
        One line that names the file, the line, the column, the value and the rule.
    """
    source, rows = read_table(path, _COLUMNS)
    origin = {
        "format": "alibaba",
        "names": "name",
        "gang": "num_gpu; a part of a GPU (gpu_milli) is taken for a whole one",
        "seconds": "from scheduled_time to deletion_time",
        "unused": "cpu_milli, memory_mib, gpu_milli, qos, pod_phase",
    }
    begin = beginning(rows, "creation_time")
    return Log(source, tuple(_job(row, begin) for row in rows), origin)


def _job(row: Cells, begin: Fraction) -> Ran:
    name, came = row.name("name"), row.came("creation_time", begin)
    if lacking := row.lacking("name", "num_gpu", "creation_time"):
        return Ran(name, row.place, came, 1, Fraction(0), unusable=lacking)
    times = row.cells["scheduled_time"] and row.cells["deletion_time"]
    seconds = row.seconds("deletion_time") - row.seconds("scheduled_time") if times else Fraction(0)
    gpus = row.count("num_gpu", least=0)
    spec = row.cells["gpu_spec"]
    types = None if spec in ("", "nan") else tuple(spec.split("|"))
    unusable = NO_GPU if not gpus else BACKWARDS if seconds < 0 else "" if seconds else UNSCHEDULED
    return Ran(name, row.place, came, gpus or 1, seconds, types, unusable)


READER = log_reader("alibaba", "Alibaba's list of pods on GPUs (CSV, gpu-v2023)", read_log)
