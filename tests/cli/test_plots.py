"""The verb `plot`: each kind writes its picture, names what is in it, and refuses what it cannot draw in one line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.cases import best, complaint, h2, ring, save
from tests.cli.conftest import Command


def texts(path: Path) -> str:
    """Return an SVG, in whose comments matplotlib keeps what is written."""
    return path.read_text(encoding="utf-8")


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    """A schedule of `h2` in which b alone has something, in slots 1 and 2: it is done in slot 1, worth 8."""
    return save(tmp_path / "late.json", best() | {"jobs": {"b": {"slots": {"1": {"m1": {"slow": 1}}}}}})


@pytest.mark.slow
def test_schedules_side_by_side(dlsched: Command, instance: Path, schedule: Path, plan: Path, tmp_path: Path) -> None:
    process = dlsched("plot", "schedule", instance, schedule, plan, "--out", "two.svg")
    assert (process.returncode, process.stdout, process.stderr) == (0, "", "dlsched: wrote two.svg\n")
    found = texts(tmp_path / "two.svg")
    for title in ("schedule: utility 17, 2 of 2 jobs", "late: utility 8, 1 of 2 jobs", "a (done in slot 1)"):
        assert f"<!-- {title} -->" in found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("$\\frac$", "$\\frac$ "),  # matplotlib would take it for mathematics, in which it is an error
        ("bell\a\x1b[1m", r"bell\x07\x1b[1m "),
        ("_a", "\u200b_a "),  # matplotlib would leave it out of the legend
    ],
)
def test_a_name_stands_in_a_picture_as_it_is(dlsched: Command, name: str, shown: str, tmp_path: Path) -> None:
    data, plan = h2(), best()
    data["jobs"][0]["name"] = data["machines"][0]["name"] = name
    plan["jobs"] = {name: {"slots": {"1": {name: {"fast": 2}}}}}
    file, schedule = save(tmp_path / f"{name}.json", data), save(tmp_path / "s.json", plan)
    process = dlsched("check", file, schedule, "--plot", "p.svg")
    assert (process.returncode, process.stderr) == (0, "dlsched: wrote p.svg\n")
    found = texts(tmp_path / "p.svg")
    assert all(f"<!-- {text}" in found for text in (f"{shown}(done in slot 1)", f"{shown.strip()}:fast ×2"))
    assert dlsched("plot", "gap", file, "-o", "g.svg").returncode == 0
    assert dlsched("plot", "schedule", file, file.with_name("s.json"), "-o", "s.svg").returncode == 0


@pytest.mark.slow
def test_a_letter_that_the_font_lacks_is_told_in_a_line(dlsched: Command, tmp_path: Path) -> None:
    data, plan = h2(), best()
    data["jobs"][0]["name"] = "新しい"
    plan["jobs"] = {"新しい": plan["jobs"]["a"]}
    process = dlsched("check", save(tmp_path / "i.json", data), save(tmp_path / "s.json", plan), "--plot", "p.png")
    lines = ["dlsched: p.png: boxes stand for characters that its font lacks", "dlsched: wrote p.png"]
    assert (process.returncode, process.stderr.splitlines()) == (0, lines)


def test_use(dlsched: Command, instance: Path, schedule: Path, tmp_path: Path) -> None:
    assert dlsched("plot", "use", instance, schedule, "-o", "use.svg").returncode == 0
    found = texts(tmp_path / "use.svg")
    assert all(f"<!-- {text} -->" in found for text in ("share in use", "fast", "slow", "slot [1 s each]"))


@pytest.mark.slow
def test_prices(dlsched: Command, instance: Path, tmp_path: Path) -> None:
    assert dlsched("plot", "prices", instance, "hadar:mode=rounds", "-o", "p.svg").returncode == 0
    assert "<!-- hadar:mode=rounds: utility " in texts(tmp_path / "p.svg")
    assert complaint(dlsched("plot", "prices", instance, "gavel", "-o", "x.svg")).startswith(
        "run: the algorithm has no"
    )
    single = h2()
    single["jobs"][0]["gang"] = 1
    assert complaint(dlsched("plot", "prices", save(tmp_path / "one.json", single), "hadar_e", "-o", "x.svg")) == (
        "run: its prices are not by machine, resource and slot, as those of hadar and pd_ors are"
    )


@pytest.mark.slow
def test_gap(dlsched: Command, instance: Path, tmp_path: Path) -> None:
    assert dlsched("plot", "gap", instance, "-o", "g.svg").returncode == 0
    found = texts(tmp_path / "g.svg")
    assert "<!-- instance: value 17, bound 17, gap 0 % after " in found
    assert all(f"<!-- {text} -->" in found for text in ("best schedule", "bound", "time [s]"))


@pytest.mark.slow
def test_network(dlsched: Command, tmp_path: Path, instance: Path) -> None:
    file = save(tmp_path / "ring.json", ring())
    assert dlsched("optimum", file, "--out", "plan.json").returncode == 0
    for arguments, title in (
        ((), "ring: 2 servers, 0 switches, 1 links"),
        (("plan.json",), "plan: utility 1.41421, 1 of 1 jobs; rings in slot 1; number: of workers on a server"),
    ):
        assert dlsched("plot", "network", file, *arguments, "-o", "n.svg").returncode == 0
        assert f"<!-- {title} -->" in texts(tmp_path / "n.svg")
    assert complaint(dlsched("plot", "network", file, "plan.json", "--slot", 2, "-o", "n.svg")) == (
        "--slot: 2 is after the last, 1"
    )
    assert complaint(dlsched("plot", "network", instance, "-o", "n.svg")).endswith(
        "is an instance of hadar; networks are of ddljs"
    )


@pytest.mark.slow
def test_claim(dlsched: Command, tmp_path: Path) -> None:
    assert dlsched("plot", "claim", "hadar/theorem-1", "--instances", 0, "-o", "c.svg").returncode == 0
    found = texts(tmp_path / "c.svg")
    assert "<!-- hadar/theorem-1, printed: measured &lt;= bound -->" in found or "5 violated" in found
    verified = dlsched("verify", "hadar/theorem-1", "--instances", 0, "--jobs", 1, "--out", "v.sqlite", "--json")
    assert verified.returncode == 0
    assert dlsched("plot", "claim", "hadar/theorem-1", "--of", "v.sqlite", "-o", "d.svg").returncode == 0
    assert texts(tmp_path / "d.svg") == found
    assert complaint(dlsched("plot", "claim", "hadar/lemma-1", "--of", "v.sqlite", "-o", "e.svg")) == (
        "v.sqlite: has no verdict of hadar/lemma-1 (printed) by this version of the code: "
        "dlsched verify hadar/lemma-1 --out DB makes some"
    )
    assert not (tmp_path / "e.svg").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("claim", "hadar/theorem-1", "--of", "none.sqlite", "-o", "x.svg"), "none.sqlite: no database of verdicts"),
        (("claim", "hadar/lemma-99", "-o", "x.svg"), "hadar/lemma-99: unknown claim"),
        (("schedule", "instance.json", "-o", "x.svg"), "Missing argument 'SCHEDULE'"),
        (
            ("schedule", "instance.json", "broken.json", "-o", "x.svg"),
            "the schedule cannot be drawn: job a, slot 1: 3 devices",
        ),
        (("schedule", "instance.json", "schedule.json", "-o", "x.txt"), "x.txt: pictures are written as "),
        (("schedule", "instance.json", "schedule.json"), "Missing option '--out'"),
        (("film", "instance.json"), "No such command 'film'"),
    ],
)
def test_what_cannot_be_drawn(
    dlsched: Command, tmp_path: Path, instance: Path, schedule: Path, arguments: tuple[str, ...], message: str
) -> None:
    del instance, schedule
    save(tmp_path / "broken.json", best() | {"jobs": {"a": {"slots": {"1": {"m1": {"fast": 3}}}}}})
    assert complaint(dlsched("plot", *arguments)).startswith(message)
    assert not list(tmp_path.glob("x.*"))
