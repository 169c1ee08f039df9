"""Every verb on good input: what it answers, as JSON and for people, and its exit code."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from dlsched.algorithms import algorithms
from dlsched.bounds import check, claims_named
from dlsched.bounds.witness import shipped, shipped_names
from dlsched.cli.main import app, main
from dlsched.models import catalog
from dlsched.models.hadar import PRESETS, Instance
from tests import paths
from tests.cli.cases import answer, best, h2, refusal, save
from tests.cli.conftest import Command

GAVEL = paths.DATA / "gavel"
CONVERT = (
    *("convert", "gavel", "--throughputs", GAVEL / "throughputs.json", "--trace", GAVEL / "seven.trace.txt"),
    *("--cluster", "fast=2,slow=2", "--slots", 10, "--slot-seconds", "10"),
)
VERBS = (
    "list",
    "show",
    "solve",
    "optimum",
    "certify",
    "run",
    "compare",
    "check",
    "claim",
    "verify",
    "replay",
    "generate",
    "convert",
    "schema",
)


def test_help_and_version(dlsched: Command) -> None:
    process = dlsched("--help")
    assert process.returncode == 0
    for verb in VERBS:
        assert f"\n  {verb} " in process.stdout
    version = dlsched("--version")
    assert version.returncode == 0
    assert version.stdout.startswith("dlsched 0.")


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help(dlsched: Command, verb: str) -> None:
    process = dlsched(verb, "--help")
    assert process.returncode == 0
    assert process.stdout.startswith(f"Usage: dlsched {verb} ")


@pytest.mark.slow
def test_list(dlsched: Command) -> None:
    data = answer(dlsched("list", "--json"))
    assert data["problems"] == ["ddljs", "dmlrs", "hadar", "smd"]
    assert [entry["name"] for entry in data["formulations"]] == [entry.name for entry in catalog()]
    assert [(entry["name"], entry["problem"]) for entry in data["algorithms"]] == [
        (entry.name, entry.problem) for entry in algorithms()
    ]
    assert {entry["name"] for entry in data["presets"] if entry["problem"] == "hadar"} == set(PRESETS)
    assert {"id": "hadar/theorem-2", "variant": "printed"}.items() <= {
        (key, claim[key]) for claim in data["claims"] if claim["id"] == "hadar/theorem-2" for key in ("id", "variant")
    }
    people = dlsched("list")
    assert people.returncode == 0
    for entry in catalog():
        assert entry.name in people.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "name", "one", "least"),
    [
        ("problems", "smd", {"name": "smd"}, 1),
        ("formulations", "hadar", {"name": "hadar/p1", "problem": "hadar"}, 8),
        ("algorithms", "smd", {"name": "smd", "problem": "smd"}, 3),
        ("presets", "hadar", {"name": "random", "problem": "hadar"}, 4),
        ("formats", "gavel", {"name": "gavel", "problem": "hadar"}, 1),
        ("claims", "hadar/lemma-*", {"id": "hadar/lemma-1", "variant": "printed"}, 3),
        ("witnesses", "hadar/theorem-2", {"name": "hadar-theorem-2-lone-job", "status": "violated", "bound": 0.0}, 3),
        ("figures", "gadget", {"name": "gadget/4"}, 4),
    ],
)
def test_list_a_kind(dlsched: Command, kind: str, name: str, one: dict[str, Any], least: int) -> None:
    """All of the kind, those of the name alone, and in the same order."""
    every, asked = (answer(dlsched("list", kind, *names, "--json")) for names in ((), (name,)))
    assert every == answer(dlsched("list", "--json"))[kind] or kind == "problems"
    assert asked == [entry for entry in every if entry in asked]
    assert len(asked) >= least
    assert any(all(entry[key] == value for key, value in one.items()) for entry in asked)
    people = dlsched("list", kind, name).stdout
    assert people.startswith(kind.capitalize())
    assert str(asked[-1].get("id", asked[-1].get("name"))) in people


def test_every_shipped_witness_is_listed(dlsched: Command) -> None:
    listed = [entry["name"] for entry in answer(dlsched("list", "witnesses", "--json"))]
    assert sorted(listed) == sorted(shipped_names())


@pytest.mark.parametrize("named", [(), ("hadar",)])
def test_an_instance_says_whose_it_is(dlsched: Command, instance: Path, schedule: Path, named: tuple[str, ...]) -> None:
    found = answer(dlsched("optimum", *named, instance, "--json"))
    assert (found["problem"], found["value"]) == ("hadar", 17.0)
    assert answer(dlsched("check", *named, instance, schedule, "--json")) == {"violations": [], "utility": 17.0}


@pytest.mark.slow
def test_replay_tells_a_story(dlsched: Command) -> None:
    told = answer(dlsched("replay", "hadar-theorem-2-lone-job", "--json"))["story"]
    people = dlsched("replay", "hadar-theorem-2-lone-job").stdout
    assert " ".join(people.split()) == " ".join(" ".join(told).split())
    assert max(map(len, people.splitlines())) <= 110


@pytest.mark.parametrize(
    ("words", "completed"),
    [
        ("dlsched list wit", ["witnesses"]),
        ("dlsched solve hadar/h", ["hadar/hall"]),
        (
            "dlsched claim hadar/theorem-2-",
            [f"hadar/theorem-2-{end}" for end in ("a-priori", "payoff-rounds", "rounds")],
        ),
        ("dlsched replay hadar-theorem-2-H", ["hadar-theorem-2-H5", "hadar-theorem-2-H6"]),
        ("dlsched reproduce gadget/", ["gadget/4", "gadget/5", "gadget/6", "gadget/7"]),
        ("dlsched run tir", ["tiresias"]),
        ("dlsched optimum h", []),
    ],
)
def test_names_are_completed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: str, completed: list[str]
) -> None:
    """As a shell asks for it; where nothing is told, it completes the names of files."""
    monkeypatch.setenv("_DLSCHED_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(words.count(" ")))
    with pytest.raises(SystemExit):
        main()
    assert capsys.readouterr().out.split() == completed


@pytest.mark.slow
@pytest.mark.parametrize("gdp", ["bigm", "hull"])
def test_show_writes_models_that_solvers_read(dlsched: Command, tmp_path: Path, instance: Path, gdp: str) -> None:
    import highspy

    data = answer(dlsched("show", "hadar/p1", instance, "--gdp", gdp, "--lp", "m.lp", "--mps", "m.mps", "--json"))
    assert data["formulation"] == "hadar/p1"
    assert data["disjunctions"] == 0
    assert data["rows"] == sum(c["rows"] for c in data["components"] if c["equation"] != "(1)")
    for name in ("m.lp", "m.mps"):
        solver = highspy.Highs()
        solver.setOptionValue("output_flag", False)
        solver.readModel(str(tmp_path / name))
        solver.run()
        assert abs(solver.getInfo().objective_function_value) == pytest.approx(17)


@pytest.mark.slow
def test_show_prints_the_same_table_whether_or_not_it_writes_a_file(dlsched: Command, instance: Path) -> None:
    plain = answer(dlsched("show", "hadar/p1", instance, "--json"))
    assert plain["disjunctions"] > 0
    assert answer(dlsched("show", "hadar/p1", instance, "--lp", "m.lp", "--json")) == plain


def test_show_for_people(dlsched: Command, instance: Path) -> None:
    process = dlsched("show", "hadar/p1", instance)
    assert process.returncode == 0
    for equation in ("(1)", "(1a)", "(1b)", "(1c)", "(1d)", "(1e)"):
        assert equation in process.stdout


@pytest.mark.parametrize("name", [entry.name for entry in catalog() if entry.problem == "hadar"])
def test_solve_every_formulation(dlsched: Command, instance: Path, name: str) -> None:
    data = answer(dlsched("solve", name, instance, "--json"))
    assert data["status"] == "optimal"
    assert data["objective"] == pytest.approx(9 if name == "hadar/response" else 17)
    keys = ["formulation", "relaxed", "gdp", "status", "objective", "bound", "gap", "seconds", "nodes", "solver"]
    assert list(data) == [*keys, "version"]


@pytest.mark.slow
@pytest.mark.parametrize("options", [("--relax",), ("--solver", "scip"), ("--time-limit", "20", "--threads", "1")])
def test_solve_options(dlsched: Command, instance: Path, options: tuple[str, ...]) -> None:
    data = answer(dlsched("solve", "hadar/aggregate", instance, "--json", *options))
    assert data["relaxed"] == ("--relax" in options)
    assert data["solver"] == ("scip" if "scip" in options else "highs")
    assert data["objective"] >= 17 - 1e-6


@pytest.mark.slow
def test_a_time_limit_holds_while_a_large_model_is_built(dlsched: Command, tmp_path: Path) -> None:
    file = save(tmp_path / "long.json", h2() | {"slots": 20_000})
    data = answer(dlsched("solve", "hadar/p1", file, "--time-limit", 0.2, "--json"))
    assert (data["status"], data["objective"], data["bound"]) == ("no_solution", None, None)
    said = refusal(dlsched("show", "hadar/p1", file, "--lp", "long.lp", "--time-limit", 0.2))
    assert said == "--time-limit: building and writing hadar/p1 takes longer than 0.2 s"
    assert not (tmp_path / "long.lp").exists()


def test_run_for_people(dlsched: Command, instance: Path) -> None:
    process = dlsched("run", "hadar", instance)
    assert process.returncode == 0
    assert "utility" in process.stdout


def test_check_a_good_schedule(dlsched: Command, instance: Path, schedule: Path) -> None:
    assert answer(dlsched("check", "hadar", instance, schedule, "--json")) == {"violations": [], "utility": 17.0}
    assert "is feasible" in dlsched("check", "hadar", instance, schedule).stdout


def test_check_a_schedule_that_breaks_a_rule(dlsched: Command, tmp_path: Path, instance: Path) -> None:
    plan = best()
    plan["jobs"]["a"]["slots"]["1"]["m1"] = {"fast": 3}
    path = save(tmp_path / "bad.json", plan)
    people = dlsched("check", "hadar", instance, path)
    assert people.returncode == 1
    assert "(1d) capacity" in people.stdout


@pytest.mark.process
def test_verify_and_replay(dlsched: Command, tmp_path: Path) -> None:
    options = ("verify", "hadar/initial-dual", "--instances", 5, "--seed", 3)
    first = dlsched(*options, "--jobs", 1, "--out", tmp_path / "verdicts.sqlite", "--json")
    assert first.stderr == ""
    data = answer(first)
    assert [(row["id"], row["variant"]) for row in data["claims"]] == [
        ("hadar/initial-dual", "printed"),
        ("hadar/initial-dual", "corrected"),
    ]
    assert data["claims"][0]["violated"] > 0
    again = dlsched(*options, "--jobs", 2, "--json")
    assert again.stdout == first.stdout
    witness = sorted((tmp_path / "witnesses").iterdir())[0]
    replayed = answer(dlsched("replay", witness, "--json"))
    assert (replayed["status"], replayed["reproduced"], replayed["differences"]) == ("violated", True, [])
    changed = json.loads(witness.read_text(encoding="utf-8"))
    changed["measured"] += 1
    assert answer(dlsched("replay", save(tmp_path / "changed.json", changed), "--json"), code=1)["differences"]


@pytest.mark.slow
def test_verify_on_your_own_instance(dlsched: Command, instance: Path) -> None:
    data = answer(dlsched("verify", "hadar", "--on", instance, "--on", instance, "--json"))
    about = [claim for claim in claims_named("hadar") if claim.instance is Instance]
    known = {(claim.id, claim.variant.value): claim for claim in about}
    rows = data["verdicts"]
    assert {row["file"] for row in rows} == {str(instance)}
    assert [(row["claim"], row["kind"]) for row in rows] == [*known, *known]
    for row in rows:
        verdict = check(row["claim"], Instance.load(instance), variant=row["kind"])
        assert (row["status"], row["measured"], row["bound"]) == (verdict.status.value, verdict.measured, verdict.bound)
    people = dlsched("verify", "hadar/theorem-2", "--on", instance)
    assert people.stdout.startswith(f"Claims on {instance}")
    assert "hadar/theorem-2" in people.stdout


@pytest.mark.slow
def test_a_claim_is_shown(dlsched: Command) -> None:
    data = answer(dlsched("claim", "gadget/lemma-5", "--json"))
    (told,) = data
    known = claims_named("gadget/lemma-5")[0]
    assert (told["id"], told["kind"], told["statement"]) == (known.id, "printed", known.statement)
    assert told["premises"] == {premise.name: premise.source for premise in known.premises}
    people = dlsched("claim", "gadget/lemma-5")
    assert people.stdout.startswith("gadget/lemma-5 (printed)")
    assert refusal(dlsched("claim", "gadget/lemma-55")).startswith("gadget/lemma-55: unknown claim; the nearest are ")
    assert refusal(dlsched("claim", "nosuch")).count("gadget/downward-closure") == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("delta", "--set: 'delta' is not NAME=VALUE"),
        ("nobody=1", "'nobody': none of these claims has such a parameter; "),
    ],
)
def test_parameters_that_cannot_be_set(dlsched: Command, text: str, message: str) -> None:
    assert refusal(dlsched("verify", "hadar/lemma-1", "--set", text)).startswith(message)


def test_an_instance_is_no_witness(dlsched: Command, tmp_path: Path) -> None:
    file = tmp_path / "w.json"
    assert dlsched("generate", "hadar", "--preset", "random", "--out", file).returncode == 0
    assert "is an instance of hadar and no witness; `dlsched verify CLAIM --on" in refusal(dlsched("replay", file))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"instance": {"slots": 0}}, "instance.slots: 0 should be greater than or equal to 1"),
        ({"claim": "hadar/theorem-99"}, "hadar/theorem-99: unknown claim; "),
        ({"variant": "odd"}, "variant: 'odd' is not one of "),
        ({"parameters": {"odd": 1}}, "hadar/theorem-2: no parameter 'odd'; it has none"),
        ({"seed": True}, "seed: True should be a valid integer"),
    ],
)
def test_replay_names_the_file(dlsched: Command, tmp_path: Path, change: dict[str, Any], message: str) -> None:
    witness = shipped("hadar-theorem-2-lone-job").dump()
    path = save(tmp_path / "bad.json", witness | change)
    assert refusal(dlsched("replay", path)).startswith(f"{path}: {message}")


@pytest.mark.parametrize("field", ["measured", "bound"])
def test_replay_misses_what_was_deleted(dlsched: Command, tmp_path: Path, field: str) -> None:
    witness = shipped("hadar-initial-dual-H4").dump()
    number = witness.pop(field)
    replayed = answer(dlsched("replay", save(tmp_path / "less.json", witness), "--json"), code=1)
    assert not replayed["reproduced"]
    assert replayed["differences"] == [f"{field}: {number}, and the witness has none"]
    del witness["status"]
    message = refusal(dlsched("replay", save(tmp_path / "less.json", witness)))
    assert message == f"{tmp_path / 'less.json'}: status: required field is missing"


def test_generate_sizes(dlsched: Command) -> None:
    sizes = ("--jobs", 5, "--machines", 3, "--types", 2, "--slots", 7)
    instance = Instance.parse(answer(dlsched("generate", "hadar", "--preset", "benchmark", *sizes)))
    assert (len(instance.jobs), len(instance.machines), len(instance.device_types), instance.slots) == (5, 3, 2, 7)


@pytest.mark.parametrize(
    ("problem", "option", "said"),
    [
        ("hadar", "--slots", "How many there are. "),
        ("dmlrs", "--jobs", "How many there are. "),
        ("smd", "--overlap", "How communication overlaps computation. "),
    ],
)
def test_help_says_of_a_size_what_holds_for_the_preset_that_is_made(
    dlsched: Command, problem: str, option: str, said: str
) -> None:
    """Not what it is in the last family, where a slot of Hadar is a round of the motivation's."""
    text = " ".join(dlsched("generate", problem, "--help").stdout.split())
    assert re.search(rf" {option} <[^>]*> {re.escape(said)}", text)


def test_convert(dlsched: Command, tmp_path: Path) -> None:
    process = dlsched(*CONVERT, "--jobs", 5, "--skip", "--json")
    instance = Instance.parse(answer(process))
    assert len(instance.jobs) == 5
    assert "skipped 0 jobs" in process.stderr
    assert dlsched(*CONVERT, "--jobs", 5, "--out", "instance.json").returncode == 0
    assert Instance.load(tmp_path / "instance.json").digest == instance.digest


def test_schema(dlsched: Command) -> None:
    schema = answer(dlsched("schema", "hadar", "--json"))
    assert set(schema["required"]) == {"slots", "device_types", "machines", "jobs"}
    assert ">>> " not in json.dumps(schema) + json.dumps(answer(dlsched("schema", "smd", "--json")))
    assert answer(dlsched("schema", "hadar", "--schedule"))["required"] == ["jobs"]


@pytest.mark.shared_data
@pytest.mark.parametrize(
    ("trace", "throughputs"),
    [
        ("traces/msr_seed0/0e4a51.trace.txt", "simulation_throughputs.json"),
        ("traces/physical_cluster/artifact_evaluation.trace.txt", "physical_cluster_throughputs.json"),
    ],
)
def test_measured_data_end_to_end(dlsched: Command, tmp_path: Path, shared: Path, trace: str, throughputs: str) -> None:
    folder = shared / "data" / "gavel"
    made = dlsched(
        *("convert", "gavel", "--throughputs", folder / throughputs, "--trace", folder / trace),
        *("--cluster", "v100=2,p100=3,k80=1", "--jobs", 10, "--slots", 12, "--slot-seconds", 1800),
        *("--skip", "--out", "gavel.json"),
    )
    assert made.returncode == 0, made.stderr
    assert len(Instance.load(tmp_path / "gavel.json").jobs) == 10
    optimum = answer(dlsched("optimum", "hadar", "gavel.json", "--time-limit", 8, "--json"))
    run = answer(dlsched("run", "hadar", "gavel.json", "--out", "schedule.json", "--json"))
    checked = answer(dlsched("check", "hadar", "gavel.json", "schedule.json", "--json"))
    assert checked == {"violations": [], "utility": run["utility"]}
    assert run["utility"] <= optimum["bound"] * (1 + 1e-6)
    assert optimum["value"] <= optimum["bound"] * (1 + 1e-6)


@pytest.mark.slow
def test_reproduce(dlsched: Command, tmp_path: Path) -> None:
    (data,) = answer(dlsched("reproduce", "pd-ors/5", "--out", "f", "--jobs", 1, "--json"))
    assert (data["figure"], len(data["curves"])) == ("pd-ors/5", 36)
    assert (tmp_path / "f" / "pd-ors-5.svg").exists()
    assert refusal(dlsched("reproduce", "smd/77")).endswith("the nearest are smd/7, smd/9, smd/8, smd/12, smd/11")


def commands(command: Any, name: str) -> Iterator[tuple[str, Any]]:
    """Yield a command and those below it, with how they are called."""
    yield name, command
    if hasattr(command, "list_commands"):
        context = typer.Context(command)
        for below in command.list_commands(context):
            yield from commands(command.get_command(context, below), f"{name} {below}")


def options(command: Any, name: str) -> Iterator[tuple[str, Any]]:
    """Yield the options of a command and of those below it, with how they are called."""
    for called, each in commands(command, name):
        yield from ((f"{called} --{one.name}", one) for one in each.params if one.param_type_name == "option")


def test_help_says_something_of_each_option() -> None:
    """Sizes of `generate` are those of several families, of which some say nothing of a size that they share."""
    found = dict(options(typer.main.get_command(app), "dlsched"))
    assert len(found) > 100
    assert [name for name, option in found.items() if not (option.help or "").strip()] == []


def test_help_shows_what_is_typed(dlsched: Command) -> None:
    csv = dlsched("convert", "csv", "--help").stdout
    assert "A CSV file of jobs, whose columns you name, into an instance of hadar." in csv
    assert "--slot-seconds NUMBER|P/Q" in csv
    assert "[default: 1,2,4,8]" in dlsched("convert", "topology-zoo", "--help").stdout
    assert "--gain NUMBER|NAME" in dlsched("run", "pd_ors", "--help").stdout
    assert "--thresholds NUMBER,..." in dlsched("run", "tiresias", "--help").stdout
    assert "isolated" in dlsched("run", "gavel", "--help").stdout
    assert "Stop SECONDS after files are read." in dlsched("run", "gavel", "--help").stdout


@pytest.mark.parametrize(
    ("command", "least"),
    [
        ("generate hadar", {"jobs": 0, "machines": 1, "types": 1, "slots": 1, "devices": 1}),
        ("generate smd", {"jobs": 0, "resources": 1, "limit": 2, "units": 1}),
        ("verify", {"instances": 0, "each": 0, "jobs": 1}),
    ],
)
def test_help_tells_the_least_that_is_taken(command: str, least: dict[str, int], dlsched: Command) -> None:
    _, *entries = re.split(r"\n  (?:-\w, )?--", dlsched(*command.split(), "--help").stdout)
    texts = {entry.split()[0]: entry for entry in entries}
    for name, value in least.items():
        assert re.search(rf"\[{value}<=x|x>={value}\]", texts[name])
        assert f"--{name}" in refusal(dlsched(*command.split(), f"--{name}={value - 1}"))


def test_help_fits_eighty_columns() -> None:
    found = dict(commands(typer.main.get_command(app), "dlsched"))
    helps = {name: each.get_help(typer.Context(each, terminal_width=80)) for name, each in found.items()}
    assert len(helps) > 40
    assert [line for text in helps.values() for line in text.splitlines() if len(line) > 80] == []
