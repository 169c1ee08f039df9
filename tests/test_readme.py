"""What the README shows is what a user gets: its Python runs, and its commands print what stands there."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter
from contextlib import chdir
from pathlib import Path
from typing import Any

import pytest

from dlsched.algorithms import optimum, pd_ors
from dlsched.cli.main import main
from dlsched.models import ddljs, dmlrs
from tests import paths, snippets

pytestmark = pytest.mark.process


ROOT = paths.ROOT
README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.fixture(autouse=True)
def _narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables stand there as they are printed where nothing tells how wide they may be."""
    monkeypatch.setenv("COLUMNS", "80")


def blocks(language: str) -> list[str]:
    return [text for kind, text in snippets.blocks(README) if kind == language]


def sessions() -> list[snippets.Session]:
    return [snippets.session(text) for text in blocks("console")]


def test_one_install_line_comes_first_and_real_data_next() -> None:
    assert sessions()[0] == [("pip install '.[plot]'", "")]
    assert "../shared/data/gavel" in sessions()[1][0][0]


@pytest.mark.shared_data
def test_real_data_session_and_the_table_below_it(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    snippets.run(sessions()[1], tmp_path)
    best = schedule_value(tmp_path, "optimum real.json", "value", capfd)
    rows = re.findall(r"^\| `([^`]+)` \| (\d+) \| (\d+) % \|$", README, re.MULTILINE)
    assert len(rows) == 5
    for command, utility, share in rows:
        name, *options = command.split()
        value = schedule_value(tmp_path, " ".join(["run", name, "real.json", *options]), "utility", capfd)
        assert (utility, share) == (f"{value:.0f}", f"{100 * value / best:.0f}"), command


def schedule_value(folder: Path, arguments: str, field: str, capfd: pytest.CaptureFixture[str]) -> float:
    capfd.readouterr()
    with chdir(folder / "dlsched"):
        assert main([*arguments.split(), "--json"]) == 0
    return float(json.loads(capfd.readouterr().out)[field])


def test_the_contention_that_is_stated_for_pd_ors() -> None:
    cluster = dmlrs.preset("benchmark", 0, jobs=10, machines=3, slots=10, multiple=3)
    alone = sum(optimum(cluster.model_copy(update={"jobs": (job,)})).value for job in cluster.jobs)
    best = optimum(cluster)
    used: Counter[tuple[str, str]] = Counter()
    for name, plan in best.schedule.dump()["jobs"].items():
        job = next(job for job in cluster.jobs if job.name == name)
        for slot, machines in plan["slots"].items():
            for placed in machines.values():
                for resource in cluster.resources:
                    used[slot, resource] += placed.get("workers", 0) * job.worker.get(resource, 0)
                    used[slot, resource] += placed.get("servers", 0) * job.server.get(resource, 0)
    capacity = {r: sum(machine.capacity.get(r, 0) for machine in cluster.machines) for r in cluster.resources}
    load = max(float(units / capacity[resource]) for (_, resource), units in used.items())
    shares = [pd_ors.run(cluster, variant=variant).utility / best.value for variant in ("corrected", "printed")]
    text = " ".join(README.split())
    assert f"they would be worth {alone:.1f} together; the optimum is {100 * best.value / alone:.0f} % of that" in text
    assert f"the busiest resource {100 * load:.0f} % in use in its busiest slot" in text
    assert (
        "{:.0f} % of the optimum in the variant `corrected`, {:.0f} % as `printed`".format(
            *(100 * share for share in shares)
        )
        in text
    )


@pytest.mark.shared_data
def test_what_the_joint_ring_sizes_do(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """They leave every variant next to nothing, and what else the print leaves open does what README says."""
    number = next(n for n, session in enumerate(sessions()) if "topology-zoo" in session[0][0])
    snippets.run(sessions()[number][:2], tmp_path)
    best = json.loads((tmp_path / "dlsched" / "rings-best.json").read_text())
    rings = ddljs.Instance.load(tmp_path / "dlsched" / "rings.json")
    value = ddljs.utility(rings, ddljs.Schedule.parse(best))
    for variant in ("filled", "corrected", "printed"):
        asked = f"run gadget rings.json --variant {variant}"
        assert schedule_value(tmp_path, f"{asked} --sizes joint", "utility", capfd) < 1e-9
        reached = schedule_value(tmp_path, asked, "utility", capfd)
        assert round(100 * reached / value) == 79
    for options, percent in (("--vertex colocated", 29), ("--no-idle", 19)):
        reached = schedule_value(tmp_path, f"run gadget rings.json --variant printed {options}", "utility", capfd)
        assert round(100 * reached / value) == percent
    used = Counter[str]()
    for plan in best["jobs"].values():
        used.update({slot: sum(ring["workers"].values()) for slot, ring in plan["slots"].items()})
    assert max(used.values()) == 8
    assert sum(server.capacity_of("gpu") for server in rings.servers) == 12


def marked(number: int) -> Any:
    needs_data = any("../shared" in command for command, _ in sessions()[number])
    return pytest.param(number, marks=pytest.mark.shared_data if needs_data else ())


@pytest.mark.parametrize("number", [marked(number) for number in range(2, len(sessions()))])
def test_session(number: int, tmp_path: Path) -> None:
    if any(command.startswith("make") for command, _ in sessions()[number]):
        assert all(command in {"make verify", "make test"} for command, _ in sessions()[number])
        return
    snippets.run(sessions()[number], tmp_path)


def test_python(tmp_path: Path) -> None:
    code = "\n".join(blocks("python"))
    assert code
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    shown = re.findall(r"# prints (.*)$", code, re.MULTILINE)
    assert [line for line in done.stdout.splitlines() if line in shown] == shown
