"""`verify` on a dask cluster of processes: the same table as in one process, whatever happens to the workers."""

from __future__ import annotations

import json
import os
import queue
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import dask
import distributed
import pytest

from dlsched.bounds import WorkersLostError, verify
from dlsched.models import InputError

pytestmark = pytest.mark.process

CLAIMS = ("hadar/positive-prices", "hadar/definition-1")
INSTANCES = 30
COMMAND = [
    *(str(Path(sys.executable).with_name("dlsched")), "verify", *CLAIMS),
    *("--instances", str(INSTANCES), "--seed", "3", "--json"),
]
IMPATIENT = {
    "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "2s",
    "DASK_DISTRIBUTED__SCHEDULER__NO_WORKERS_TIMEOUT": "1s",
}


class Cluster:
    """A scheduler on a port that the system chose, and workers, each a process that nobody starts again."""

    def __init__(self, folder: Path, **environment: str) -> None:
        self.folder = folder
        self.environment = os.environ | {"OMP_NUM_THREADS": "1"} | environment
        self.said: dict[int, queue.SimpleQueue[str]] = {}
        self.workers: list[subprocess.Popen[str]] = []
        self.scheduler = self._start("scheduler", "--port", "0")
        self.address = self._read_until(self.scheduler, "Scheduler at:").split()[-1]

    def _start(self, *arguments: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "distributed.cli.dask_" + arguments[0], *arguments[1:]]
        process = subprocess.Popen(
            [*command, "--host", "127.0.0.1", "--no-dashboard"],
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        lines = self.said[process.pid] = queue.SimpleQueue()
        threading.Thread(target=lambda: [lines.put(line) for line in process.stderr or ()], daemon=True).start()
        return process

    def wait_for_client(self) -> None:
        self._read_until(self.scheduler, "Receive client connection:")

    def _read_until(self, process: subprocess.Popen[str], text: str) -> str:
        while text not in (line := self.said[process.pid].get(timeout=120)):
            pass
        return line

    def have_workers(self, number: int) -> None:
        """Start workers until there are so many."""
        new = [
            self._start("worker", self.address, "--no-nanny", "--nthreads", str(1 + k % 2))
            for k in range(len(self.workers), number)
        ]
        for process in new:
            self._read_until(process, "Registered to:")
        self.workers += new

    def kill_worker(self) -> None:
        _kill(self.workers.pop())

    def kill_scheduler(self) -> None:
        _kill(self.scheduler)

    def close(self) -> None:
        while self.workers:
            self.kill_worker()
        self.kill_scheduler()


def _kill(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGKILL)
    process.wait()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with closing(Cluster(tmp_path_factory.mktemp("cluster"))) as running:
        yield running


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> str:
    done = command(tmp_path_factory.mktemp("undisturbed"), "--jobs", "1")
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def command(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *arguments],
        cwd=folder,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def once_begun(happen: Callable[[], object]) -> Callable[[int, int], None]:
    """Return a `progress` that lets something happen when the first verdicts are there and others are not."""
    calls: list[tuple[int, int]] = []

    def progress(there: int, total: int) -> None:
        calls.append((there, total))
        if len(calls) == 2:
            assert 0 < there < total
            happen()

    return progress


def refusal(done: subprocess.CompletedProcess[str]) -> str:
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert done.stderr.count("\n") == 1, done.stderr
    return done.stderr.strip()


def test_the_command_prints_the_same_table(cluster: Cluster, undisturbed: str, tmp_path: Path) -> None:
    cluster.have_workers(2)
    done = command(tmp_path, "--executor", cluster.address)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == undisturbed


def test_an_executor_of_dask_will_do(cluster: Cluster, undisturbed: str) -> None:
    cluster.have_workers(2)
    with distributed.Client(cluster.address, set_as_default=False) as client:
        report = verify(CLAIMS, instances=INSTANCES, seed=3, executor=client.get_executor())
    assert report.dump() == json.loads(undisturbed)


def test_a_killed_worker_changes_nothing(cluster: Cluster, undisturbed: str) -> None:
    cluster.have_workers(2)
    report = verify(
        CLAIMS,
        instances=INSTANCES,
        seed=3,
        executor=cluster.address,
        progress=once_begun(cluster.kill_worker),
    )
    assert len(cluster.workers) == 1
    assert report.dump() == json.loads(undisturbed)


def test_a_worker_that_dies_while_its_results_are_handed_over_changes_nothing(
    cluster: Cluster, undisturbed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The client knows then that a result is lost, before the one who waits for it goes on with what it has."""
    cluster.have_workers(1)
    gather, lost = distributed.Client._gather, []

    async def gather_and_lose(client: distributed.Client, futures: list[distributed.Future], **options: Any) -> Any:
        results = await gather(client, futures, **options)
        for future in futures:
            future._state.lose()
            lost.append(future.key)
        return results

    monkeypatch.setattr(distributed.Client, "_gather", gather_and_lose)
    report = verify(CLAIMS, instances=INSTANCES, seed=3, executor=cluster.address)
    assert lost
    assert report.dump() == json.loads(undisturbed)


def test_without_workers_the_run_ends_and_goes_on_from_its_database(
    cluster: Cluster, undisturbed: str, tmp_path: Path
) -> None:
    cluster.have_workers(2)
    out = tmp_path / "v.sqlite"
    with (
        dask.config.set({"distributed.scheduler.no-workers-timeout": "1s"}),
        pytest.raises(WorkersLostError) as lost,
    ):
        verify(
            CLAIMS,
            instances=INSTANCES,
            seed=3,
            out=out,
            executor=cluster.address,
            progress=once_begun(lambda: [cluster.kill_worker() for _ in range(2)]),
        )
    assert str(lost.value) == (
        f"{cluster.address}: no worker has run there for 1 s; "
        f"{out} has the verdicts so far, and the same call goes on from them"
    )
    with closing(sqlite3.connect(out)) as database:
        kept = database.execute("SELECT * FROM verdicts").fetchall()
    assert kept
    cluster.have_workers(1)
    again = verify(CLAIMS, instances=INSTANCES, seed=3, out=out, executor=cluster.address)
    assert again.dump() == json.loads(undisturbed)
    with closing(sqlite3.connect(out)) as database:
        assert set(kept) < set(database.execute("SELECT * FROM verdicts").fetchall())


def test_a_worker_with_other_code_is_refused(cluster: Cluster, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    cluster.have_workers(1)
    monkeypatch.setattr("dlsched.bounds.runner.code_version", lambda: "other")
    with pytest.raises(InputError, match=r"a worker there has another version of dlsched \(code \w+, here other\)"):
        verify(CLAIMS, instances=0, executor=cluster.address)


def test_a_task_whose_workers_die_ends_the_run_with_one_line_and_so_does_a_scheduler_that_dies(
    undisturbed: str, tmp_path: Path
) -> None:
    out = tmp_path / "v.sqlite"
    way_on = f"{out} has the verdicts so far, and the same call goes on from them"
    with closing(Cluster(tmp_path, DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES="0")) as cluster:
        cluster.have_workers(1)
        with pytest.raises(WorkersLostError) as lost:
            verify(
                CLAIMS,
                instances=INSTANCES,
                seed=3,
                out=out,
                executor=cluster.address,
                progress=once_begun(cluster.kill_worker),
            )
        assert str(lost.value) == f"{cluster.address}: every worker that got one task died, 1 in all; {way_on}"
        cluster.wait_for_client()
        cluster.have_workers(1)
        cluster.workers[0].send_signal(signal.SIGSTOP)
        process = subprocess.Popen(
            [*COMMAND, "--executor", cluster.address, "--out", str(out)],
            env=os.environ | IMPATIENT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        cluster.wait_for_client()
        # By the time that one more client is served, the first has been.
        distributed.Client(cluster.address, set_as_default=False).close()
        cluster.kill_scheduler()
        stdout, stderr = process.communicate(timeout=120)
        said = refusal(subprocess.CompletedProcess(process.args, process.returncode, stdout, stderr))
        assert said == f"dlsched: error: {cluster.address}: the dask scheduler went away; {way_on}"
        said = refusal(command(tmp_path, "--executor", cluster.address, "--out", str(out), **IMPATIENT))
        assert said.startswith(f"dlsched: error: executor {cluster.address}: no dask scheduler answers there: ")
    assert verify(CLAIMS, instances=INSTANCES, seed=3, out=out).dump() == json.loads(undisturbed)


@pytest.mark.parametrize("address", ["nowhere", "tcp://127.0.0.1:http", "gopher://127.0.0.1:70", "tls://127.0.0.1:9"])
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(InputError, match=f"^executor '{address}': not the address of a dask scheduler: "):
        verify(CLAIMS, instances=0, executor=address)


def test_processes_of_this_machine_and_a_cluster_exclude_each_other(tmp_path: Path) -> None:
    said = refusal(command(tmp_path, "--executor", "tcp://127.0.0.1:9", "--jobs", "2"))
    assert said == "dlsched: error: --jobs: counts processes of this machine; leave it out with --executor"


def test_without_dask_the_extra_is_named(tmp_path: Path) -> None:
    (tmp_path / "distributed.py").write_text("raise ImportError('not here')\n")
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    said = refusal(command(tmp_path, "--executor", "tcp://127.0.0.1:9", PYTHONPATH=path))
    assert said == "dlsched: error: executor tcp://127.0.0.1:9: needs dask: pip install 'dlsched[cluster]'"
