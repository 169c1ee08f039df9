"""What the pages of the problems tell of optima and algorithms is what comes out, beside what their sessions print."""

from __future__ import annotations

import json
import re
from collections import Counter
from contextlib import chdir
from pathlib import Path

import pytest

from dlsched.algorithms import optimum, pd_ors
from dlsched.cli.main import main
from dlsched.models import build, catalog, ddljs, dmlrs, latex, problem
from tests import paths, snippets

pytestmark = pytest.mark.process


ALGEBRA = re.compile(r"^```\{algebra\} (\S+)\n((?::\w+: .*\n)*)```$", re.MULTILINE)


def page(name: str) -> str:
    return (paths.ROOT / "docs" / "problems" / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["hadar", "smd", "dmlrs", "ddljs"])
def test_the_algebra_of_a_page_is_whole(name: str) -> None:
    """Of a formulation all equations have rows in the instance that they are read off, and more jobs than one."""
    ((formulation, options),) = ALGEBRA.findall(page(f"{name}.md"))
    given = dict(re.findall(r"^:(\w+): (.*)$", options, re.MULTILINE))
    sizes = {key: int(value) for key, value in (pair.split("=") for pair in given.pop("sizes", "").split())}
    assert given == {}
    instance = problem(name).preset("random", 0, **sizes)
    told = latex(build(formulation, instance), document=False)
    (entry,) = (entry for entry in catalog() if entry.name == formulation)
    tags = " ".join(re.findall(r"\\tag\*\{(.*?)\}", told))
    sets = " ".join(re.findall(r"\\item \$.*?\$: (.*)", told))
    assert [number for number in entry.equations if number not in f"{tags} {sets}"] == []
    assert "_{\\mathrm{" not in told  # one index alone, where a sum over all of them is meant


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
    text = " ".join(page("dmlrs.md").split())
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
    """They leave every variant next to nothing, and what else the print leaves open does what the page says."""

    def reached(options: str) -> float:
        capfd.readouterr()
        with chdir(tmp_path / "dlsched"):
            assert main(["run", "gadget", "rings.json", *options.split(), "--json"]) == 0
        return float(json.loads(capfd.readouterr().out)["utility"])

    console = next(text for language, text in snippets.blocks(page("ddljs.md")) if language == "console")
    snippets.run(snippets.session(console)[:2], tmp_path)
    best = json.loads((tmp_path / "dlsched" / "rings-best.json").read_text())
    rings = ddljs.Instance.load(tmp_path / "dlsched" / "rings.json")
    value = ddljs.utility(rings, ddljs.Schedule.parse(best))
    for variant in ("filled", "corrected", "printed"):
        assert reached(f"--variant {variant} --sizes joint") < 1e-9
        assert round(100 * reached(f"--variant {variant}") / value) == 79
    assert round(100 * reached("--variant printed --vertex colocated") / value) == 29
    assert reached("--variant printed --no-idle") < 1e-9
    used = Counter[str]()
    for plan in best["jobs"].values():
        used.update({slot: sum(ring["workers"].values()) for slot, ring in plan["slots"].items()})
    assert max(used.values()) == 8
    assert sum(server.capacity_of("gpu") for server in rings.servers) == 12
