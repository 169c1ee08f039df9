"""Claims on toy facts: which end of an interval decides, premises, limits, and what a witness carries."""

from __future__ import annotations

import math
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dlsched.arguments import positive
from dlsched.bounds import (
    Claim,
    Expectation,
    Interval,
    Premise,
    Relation,
    Source,
    Status,
    Subject,
    Undecided,
    always,
    catalog,
    claims,
    claims_named,
    witness,
)
from dlsched.bounds.catalog import claims_likely, keyed
from dlsched.bounds.claim import confirm_taken, decide, decided, stated
from dlsched.bounds.comparison import compare
from dlsched.bounds.facts import Step, final_dual_large, initial_dual_small, least_alpha
from dlsched.errors import InputError
from dlsched.models import registry
from dlsched.models.document import Document
from tests.paths import ROOT


class Toy(Document):
    """A number; its facts are itself."""

    x: float


class ToyFacts:
    """What is known of a number.

    Parameters
    ----------
    toy : Toy
    seed : int
    factor : float
        What it is multiplied by. More of it is not said.
    """

    def __init__(self, toy: Toy, seed: int, *, factor: float = 1.0) -> None:
        positive(factor=factor)
        self.toy, self.seed, self.factor = toy, seed, factor

    def limited(self) -> float:
        if self.toy.x > 100:
            raise Undecided("100 nodes")
        return self.factor * self.toy.x


def large(rng: np.random.Generator) -> Toy:
    return Toy(x=1 + float(rng.random()))


TOYS = Subject(problem="toy", instance=Toy, facts=ToyFacts, cases="toy_witnesses")


def toy_claim(relation: Relation = Relation.AT_MOST) -> Claim[ToyFacts]:
    return TOYS.printed(
        "toy/half",
        paper="Toy, Lemma 1",
        statement="x is at most 1/2",
        quantity="x",
        measure=ToyFacts.limited,
        relation=relation,
        bound=always(0.5),
        expectation=Expectation.FALSE,
        premises=(Premise("x >= 0", lambda facts: facts.toy.x >= 0),),
        details=lambda facts: {"twice": 2 * facts.toy.x},
        schedule=lambda facts: Toy(x=7),
        sources=(Source("toy/large", large),),
        counterexamples=("toy-three-quarters",),
    )


@pytest.mark.parametrize(
    ("measured", "relation", "bound", "status"),
    [
        ((1, 2), Relation.AT_MOST, (2, 2), Status.HOLDS),
        ((1, 2), Relation.AT_MOST, (1.5, 3), Status.UNDECIDED),
        ((1, 2), Relation.AT_MOST, (0.5, 0.9), Status.VIOLATED),
        ((1, 2), Relation.AT_MOST, (0.5, 1.0), Status.UNDECIDED),
        ((1, 2), Relation.AT_LEAST, (0.5, 1), Status.HOLDS),
        ((1, 2), Relation.AT_LEAST, (2.1, 3), Status.VIOLATED),
        ((1, 2), Relation.AT_LEAST, (1.5, 1.5), Status.UNDECIDED),
        ((1, 1), Relation.EQUAL, (1 + 1e-7, 1), Status.HOLDS),
        ((1, 1), Relation.EQUAL, (1.1, 1.1), Status.VIOLATED),
        ((1, 1), Relation.EQUAL, (0.9, 0.9), Status.VIOLATED),
        ((1, 2), Relation.EQUAL, (1, 2), Status.UNDECIDED),
        ((1, 1), Relation.AT_MOST, (math.inf, math.inf), Status.VACUOUS),
        ((1, math.inf), Relation.AT_MOST, (2, 2), Status.UNDECIDED),
        ((3, math.inf), Relation.AT_MOST, (2, 2), Status.VIOLATED),
        ((1e6, 1e6), Relation.AT_MOST, (1e6 - 0.5, 1e6 - 0.5), Status.HOLDS),
        ((1e6, 1e6), Relation.AT_MOST, (1e6 - 2, 1e6 - 2), Status.VIOLATED),
    ],
)
def test_the_end_that_speaks_against_a_claim_must_refute_it(
    measured: tuple[float, float], relation: Relation, bound: tuple[float, float], status: Status
) -> None:
    assert compare(Interval(*measured), relation, Interval(*bound))[0] is status


def test_reported_ends_are_those_that_decide() -> None:
    assert compare(Interval(3, 9), Relation.AT_MOST, Interval(1, 2)) == (Status.VIOLATED, 3, 2)
    assert compare(Interval(1, 2), Relation.AT_LEAST, Interval(3, 9)) == (Status.VIOLATED, 2, 3)


@pytest.mark.parametrize(
    ("x", "status", "reason"),
    [
        (0.25, Status.HOLDS, ""),
        (0.75, Status.VIOLATED, ""),
        (-1, Status.PREMISE_FAILS, "x >= 0"),
        (101, Status.UNDECIDED, "100 nodes"),
    ],
)
def test_verdict(x: float, status: Status, reason: str) -> None:
    verdict = decide(toy_claim(), Toy(x=x), seed=5)
    assert (verdict.status, verdict.reason, verdict.seed) == (status, reason, 5)
    assert (verdict.witness is not None) == (status is Status.VIOLATED)


def test_a_witness_carries_what_is_needed_to_check_it_again() -> None:
    found = decide(toy_claim(), Toy(x=0.75), seed=5).witness
    assert found is not None
    assert found.instance == {"x": 0.75}
    assert found.schedule == {"x": 7}
    assert found.details == {"twice": 1.5}
    assert (found.seed, found.measured, found.bound, found.status) == (5, 0.75, 0.5, "violated")


def test_where_nothing_could_violate_a_claim_it_holds_by_no_merit() -> None:
    claim = replace(toy_claim(), worst=lambda facts: 2 * facts.toy.x)
    assert decide(claim, Toy(x=0.4)).status is Status.HOLDS
    assert decide(claim, Toy(x=0.75)).status is Status.VIOLATED
    verdict = decide(claim, Toy(x=0.25))
    assert (verdict.status, verdict.measured, verdict.bound) == (Status.VACUOUS, 0.25, 0.5)
    assert verdict.reason == "nothing could violate it: 0.5 at worst"


def test_what_the_print_leaves_open_is_the_reason_where_it_decides() -> None:
    claim = replace(toy_claim(), open="which of two numbers", measure=lambda facts: Interval(0, facts.toy.x))
    assert decide(claim, Toy(x=0.75)).reason == "left open: which of two numbers"
    assert decide(claim, Toy(x=0.75)).status is Status.UNDECIDED
    assert decide(claim, Toy(x=0.25)).reason == ""


def test_one_instance_decides_nothing_about_an_average() -> None:
    claim = replace(toy_claim(), sampled=True)
    for x in (0.25, 0.75):
        verdict = decide(claim, Toy(x=x))
        assert (verdict.status, verdict.measured, verdict.bound) == (Status.UNDECIDED, x, 0.5)
        assert "average" in verdict.reason
    unknown = replace(claim, bound=lambda facts: Interval(0, 1))
    verdict = decide(unknown, Toy(x=0.25))
    assert (verdict.measured, verdict.reason) == (None, "what is compared is not known exactly")


def test_parameters_are_those_of_the_facts_and_stand_in_verdict_and_witness() -> None:
    claim = toy_claim()
    (factor,) = fields(claim.parameters)
    assert (factor.name, factor.default, factor.metadata["help"]) == ("factor", 1.0, "What it is multiplied by.")
    as_printed, doubled = decide(claim, Toy(x=0.4)), decide(claim, Toy(x=0.4), parameters={"factor": "2"})
    assert (as_printed.status, as_printed.parameters) == (Status.HOLDS, {"factor": 1.0})
    assert (doubled.status, doubled.measured, doubled.parameters) == (Status.VIOLATED, 0.8, {"factor": 2.0})
    assert doubled.witness is not None
    assert doubled.witness.parameters == {"factor": 2.0}
    assert [v.measured for v in decided([claim], Toy(x=0.4), parameters={"factor": 3, "other": 1})] == [0.4 * 3]


def test_every_parameter_of_a_claim_says_what_it_is() -> None:
    """Also where a class of facts inherits it, and where another default stands for the paper's value."""
    told = {field.metadata["help"] for claim in claims() for field in fields(claim.parameters)}
    assert {"F, the roundings that a job gets, at least 1.", "In place of the program's own."} <= told
    assert all(len(said) > 10 and "As of" not in said for said in told)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"factor": "two"}, "factor: "),
        ({"factor": -1}, "factor: -1 must be positive"),
        ({"faktor": 2}, "toy/half: no parameter 'faktor'; it has factor"),
    ],
)
def test_wrong_parameters_are_refused(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        decide(toy_claim(), Toy(x=0.4), parameters=parameters)


def test_a_parameter_that_no_claim_has_is_refused() -> None:
    with pytest.raises(InputError, match=r"'delta': none of these claims has such a parameter; they have factor$"):
        confirm_taken([toy_claim()], {"delta": 1})


def test_a_source_that_costs_more_is_drawn_less_often() -> None:
    assert [Source("toy/large", large, cost=12).draws(n) for n in (0, 1, 12, 13, 100)] == [0, 1, 1, 2, 9]


def test_what_a_corrected_claim_does_not_give_is_as_printed_but_for_shipped_cases_and_what_is_open() -> None:
    printed = replace(toy_claim(), open="whether x is whole")
    corrected = printed.corrected(statement="x is at most 1", bound=always(1), golden=("toy-one",))
    assert (corrected.key, corrected.expectation) == (("toy/half", "corrected"), Expectation.TRUE)
    assert (corrected.counterexamples, corrected.golden) == ((), ("toy-one",))
    assert decide(corrected, Toy(x=0.75)).status is Status.HOLDS
    assert decide(corrected, Toy(x=-1)).reason == "x >= 0"
    own = {"variant", "statement", "bound", "expectation", "golden", "counterexamples", "open"}
    for name in {field.name for field in fields(Claim)} - own:
        assert getattr(corrected, name) == getattr(printed, name)
    assert (printed.open, corrected.open) == ("whether x is whole", "")
    assert printed.derived("toy/beside", statement="x is at most 1", open="all").open == "all"
    without = printed.corrected(statement="x is at most 1/2 or negative", premises=(), sources=())
    assert decide(without, Toy(x=-1)).status is Status.HOLDS
    assert without.sources == ()


def test_a_claim_ships_its_cases_in_a_package_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = decide(toy_claim(), Toy(x=0.75), seed=5).witness
    assert found is not None
    (tmp_path / "toy_witnesses").mkdir()
    (tmp_path / "toy_witnesses" / "__init__.py").touch()
    found.save(tmp_path / "toy_witnesses" / "toy-three-quarters.json")
    monkeypatch.syspath_prepend(tmp_path)
    assert toy_claim().case("toy-three-quarters") == found
    with pytest.raises(KeyError, match="toy-one"):
        toy_claim().case("toy-one")


def test_a_package_of_cases_that_is_not_there_is_named() -> None:
    with pytest.raises(InputError, match="no_such_witnesses: no such package"):
        replace(toy_claim(), cases="no_such_witnesses").case("toy-three-quarters")


def test_an_interval_over_a_number() -> None:
    assert Interval(1, 3).over(2) == Interval(0.5, 1.5)
    assert Interval(1, 3).over(0) == Interval(math.inf, math.inf)


@pytest.mark.parametrize(
    ("value", "opt", "small", "large"),
    [
        (1, Interval(3, 4), True, False),
        (1.75, Interval(3, 4), None, False),
        (3.5, Interval(3, 4), False, None),
        (4, Interval(3, 4), False, True),
    ],
)
def test_dual_values_against_an_optimum_that_is_not_proved(
    value: float, opt: Interval, small: bool | None, large: bool | None
) -> None:
    for known, ask in (
        (small, lambda: initial_dual_small(value, opt, unit=1.0)),
        (large, lambda: final_dual_large(value, opt, "D", unit=1.0)),
    ):
        if known is None:
            with pytest.raises(Undecided, match="is not proved"):
                ask()
        else:
            assert ask() is known


def test_the_least_alpha_of_a_run() -> None:
    assert least_alpha([]) == 1
    assert least_alpha([Step("a", 2, 5), Step("b", 4, 4), Step("c", 0, 0)]) == 2.5
    assert least_alpha([Step("a", 0, 1)]) == math.inf


def test_a_claim_with_another_source_of_a_known_name_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    printed = toy_claim()
    same = replace(printed, id="toy/same")
    other = replace(printed, id="toy/other", sources=(Source("toy/large", lambda rng: Toy(x=2)),))
    monkeypatch.setattr(
        registry, "entries", lambda group: [registry.Entry("", "toy", "", lambda: (printed, same, other))]
    )
    known: registry.Registry[Claim[Any]] = registry.Registry(
        "claims", Claim, lambda claim: claim.id, parts=lambda claim: {source.name: source for source in claim.sources}
    )
    with pytest.warns(
        registry.PluginWarning, match="toy: claim 'toy/other' has a 'toy/large' that is not the one of an"
    ):
        assert list(known.all()) == [printed.id, "toy/same"]


@pytest.mark.slow
def test_claims_are_listed_without_solvers_and_models() -> None:
    code = "import sys; from dlsched.bounds import claims; claims()"
    code += "; print(*{'pyomo', 'scipy', 'networkx', 'highspy', 'matplotlib'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


NAMES = [
    *dict.fromkeys(part for known in claims() for part in (known.id, known.id.partition("/")[0])),
    *(
        "hadar/*",
        "pd_ors",
        "pd_ors/theorem_5",
        "*",
        "*/theorem-*",
        "h*",
        "?madar/lemma-1",
        "[gs]*/lemma-*",
        "ors",
        "hadar/",
    ),
]


@pytest.mark.parametrize(
    "names", [*([name] for name in NAMES), ["gadget", "*"], ["smd", "hadar/lemma-1"], ["smd", "s*"]]
)
def test_claims_of_names_are_found_as_among_all(names: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def found() -> object:
        try:
            return [known.key for known in claims_named(names)]
        except InputError as error:
            return str(error).partition(";")[0]

    likely = found()
    monkeypatch.setattr(catalog, "claims_likely", lambda names: claims())
    assert likely == found()


def test_claims_of_keys() -> None:
    assert keyed(known.key for known in claims()) == list(claims())


@pytest.mark.slow
def test_what_is_told_beside_a_claim_is_of_the_same_papers() -> None:
    """`story` looks no further."""
    for known in claims():
        about = [each for each in claims() if (each.instance, each.facts) == (known.instance, known.facts)]
        assert set(about) <= set(claims_likely([known.id]))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("asked", "papers"),
    [
        ("bounds.claim('hadar/lemma-1')", {"hadar"}),
        ("bounds.claims_named(['smd', 'gadget/theorem-*'])", {"gadget", "smd"}),
        (
            "bounds.check('pd-ors/fact-1', bounds.witness.shipped('pd-ors-fact-1-D4').read_instance())",
            {"pd_ors"},
        ),
        ("bounds.replay('hadar-lemma-1-H5')", {"hadar"}),
        ("bounds.verify('smd/lemma-1', instances=1)", {"smd"}),
        ("bounds.claims_named(['smd', '*-ors/*'])", {"gadget", "hadar", "pd_ors", "smd"}),
    ],
)
def test_other_papers_claims_are_not_imported(asked: str, papers: set[str]) -> None:
    code = f"""
import sys
from dlsched import bounds
{asked}
print(*sorted({{"gadget", "hadar", "pd_ors", "smd"}} & {{name.rpartition("bounds.")[2] for name in sys.modules}}))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) == papers


def test_a_modules_claims_are_those_that_it_defines() -> None:
    printed = toy_claim()
    corrected = printed.corrected(statement="x is at most 1", bound=always(1))
    assert stated({"B": corrected, "A": printed, "limit": 1, "toys": TOYS}) == (corrected, printed)


SNIPPET = """
from dlsched.bounds.claim import Expectation, Premise, always
from dlsched.bounds.comparison import Relation
from dlsched.bounds.gadget import load
from dlsched.bounds.hadar import facts, sources

claim = facts.HADAR.printed(
    "hadar/new",
    paper="Hadar",
    statement="",
    quantity="",
    measure=lambda facts: facts.{measured},
    relation=Relation.AT_MOST,
    bound=always(1),
    expectation=Expectation.TRUE,
    premises=(Premise("some job", lambda facts: bool(facts.{assumed})),),
    sources=(sources.TINY, {source}),
)
claim.corrected(statement="", bound=lambda facts: facts.{bounded})
"""


MISTAKES = (
    ({"measured": "uitlity"}, '"HadarFacts" has no attribute "uitlity"'),
    ({"assumed": "schedule"}, '"HadarFacts" has no attribute "schedule"'),
    ({"bounded": "optimum"}, '"HadarFacts" has no attribute "optimum"'),
    ({"bounded": "schedules"}, 'expected "float | Fraction | Interval'),
    ({"source": "load.LOADS"}, 'expected "tuple[Source[Instance], ...]"'),
)


@pytest.fixture
def recursion() -> Iterator[None]:
    """Mypy raises the limit of the process, and what is nested too deeply elsewhere depends on it."""
    limit = sys.getrecursionlimit()
    yield
    sys.setrecursionlimit(limit)


@pytest.mark.slow
@pytest.mark.usefixtures("recursion")
def test_mypy_sees_what_a_claim_gets_wrong(tmp_path: Path) -> None:
    right = {"measured": "opt", "assumed": "schedules", "bounded": "opt", "source": "sources.MIXED"}
    (tmp_path / "right.py").write_text(SNIPPET.format_map(right))
    for number, (change, _) in enumerate(MISTAKES):
        (tmp_path / f"wrong{number}.py").write_text(SNIPPET.format_map(right | change))
    files = sorted(map(str, tmp_path.glob("*.py")))
    # What `make test` has looked at before is in the checkout's cache.
    options = ["--no-error-summary", f"--cache-dir={ROOT / '.mypy_cache'}"]
    report, stderr, _ = pytest.importorskip("mypy.api").run([*options, *files])
    assert stderr == ""
    assert "right.py" not in report
    for number, (_, error) in enumerate(MISTAKES):
        assert any(f"wrong{number}.py" in line and error in line for line in report.splitlines())


def test_a_witness_of_another_problem_is_refused() -> None:
    found = decide(toy_claim(), Toy(x=0.75)).witness
    assert found is not None
    with pytest.raises(InputError, match="toy/half: unknown claim"):
        found.read_instance()
    with pytest.raises(InputError, match="unknown claim"):
        witness.replay(found.model_copy(update={"claim": "hadar/theorem-99", "instance": HADAR}))


HADAR = {
    "slots": 1,
    "slot_seconds": 1,
    "device_types": ["k80"],
    "machines": [{"name": "m", "devices": {"k80": 1}}],
    "jobs": [],
}


@pytest.mark.parametrize(("name", "text"), [("relation", ">="), ("expectation", "true"), ("variant", "printed")])
def test_text_is_no_member_of_an_enumeration(name: str, text: str) -> None:
    """A relation ">=" as text was compared as "<="."""
    with pytest.raises(TypeError, match=rf"^claim toy/\S+: {name}: expected {name.capitalize()}, got '{text}'$"):
        replace(toy_claim(), **{name: text})
