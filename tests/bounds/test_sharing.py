"""Facts of several classes about one (instance, seed) compute once what depends on nothing else."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dlsched.algorithms.exact.certificates import enclosure
from dlsched.bounds import Expectation, Relation, Status, claims_named
from dlsched.bounds.claim import decide, decided
from dlsched.bounds.pd_ors import facts as module
from dlsched.bounds.search import draw
from dlsched.bounds.sharing import Sharing, shared
from dlsched.models.dmlrs import random
from dlsched.models.smd import random as smd_random
from dlsched.models.smd import ratios
from dlsched.once import computing_once, once
from dlsched.relaxations import sum_of_ratios
from dlsched.relaxations.planar import Planar
from dlsched.solvers import Builder, solve_matrix
from dlsched.solvers import solve as solving


class Counted(Sharing):
    """Facts that count how often they were asked."""

    def __init__(self) -> None:
        self.asked = 0

    @shared
    def answer(self) -> int:
        """Six times nine."""
        self.asked += 1
        return 42


class Other(Counted):
    @shared
    def answer(self) -> int:
        self.asked += 1
        return 54


def test_what_is_known_is_computed_once_for_all() -> None:
    first, second, alone = Counted(), Counted(), Counted()
    second.known = first.known
    assert [first.answer, second.answer, first.answer, alone.answer] == [42] * 4
    assert [first.asked, second.asked, alone.asked] == [1, 0, 1]
    assert Counted.answer.__doc__ == "Six times nine."


def test_what_a_subclass_computes_otherwise_is_its_own() -> None:
    first, other = Counted(), Other()
    other.known = first.known
    assert [first.answer, other.answer, first.answer] == [42, 54, 42]


def test_claims_of_several_subjects_ask_for_one_optimum(monkeypatch: pytest.MonkeyPatch) -> None:
    instance, honest, asked = random(np.random.default_rng(4), jobs=2, machines=2, slots=2), module.optimum, []

    def counting(instance: Any) -> Any:
        asked.append(instance)
        return honest(instance)

    monkeypatch.setattr(module, "optimum", counting)
    chosen = claims_named(["pd-ors/theorem-5*", "pd-ors/theorem-6*", "pd-ors/dual-optimum"])
    kinds = {claim.facts for claim in chosen if claim.instance_type is type(instance)}
    assert len(kinds) > 2
    verdicts = list(decided([claim for claim in chosen if claim.facts in kinds], instance, 7))
    assert len(asked) == 1
    assert {verdict.seed for verdict in verdicts} == {7}


def test_a_jobs_schedules_are_enumerated_once(monkeypatch: pytest.MonkeyPatch) -> None:
    instance, honest, asked = random(0, capacity=1), module.enumerate_schedules, []

    def counting(instance: Any, job: Any, **options: Any) -> Any:
        asked.append(job.name)
        return honest(instance, job, **options)

    monkeypatch.setattr(module, "enumerate_schedules", counting)
    facts = module.PdOrsFacts(instance, 0)
    assert facts.turned_away
    assert facts.schedules.items() >= facts.turned_away.items()
    assert sorted(asked) == sorted(job.name for job in instance.jobs)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["dmlrs/tiny", "hadar/tiny", "smd/tiny"])
def test_verdicts_are_those_of_each_claim_by_itself(name: str) -> None:
    bearing = [(claim, source) for claim in claims_named(None) for source in claim.sources if source.name == name]
    chosen = [claim for claim, _ in bearing]
    instance, seed = draw(bearing[0][1], 0, 11)
    assert len(chosen) > 5
    for claim, verdict in zip(chosen, decided(chosen, instance, seed), strict=True):
        alone = decide(claim, instance, seed)
        assert replace(verdict, witness=None) == replace(alone, witness=None)
        assert (verdict.witness is None) == (alone.witness is None)


def test_a_program_that_several_claims_ask_for_is_solved_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The relaxation is the bound of `dual-optimum` in both variants and a side of `equivalence`."""
    instance, honest, asked = random(np.random.default_rng(4), jobs=2, machines=2, slots=2), enclosure.prove, []

    def counting(program: Any, value: Any, **options: Any) -> Any:
        asked.append((program.numbers, value))
        return honest(program, value, **options)

    monkeypatch.setattr(enclosure, "prove", counting)
    chosen = claims_named(["pd-ors/dual-optimum", "pd-ors/equivalence"])
    together = list(decided(chosen, instance, 7))
    assert len(asked) == len(set(asked)) == 2
    asked.clear()
    assert together == [verdict for claim in chosen for verdict in decided([claim], instance, 7)]
    assert len(asked) > len(set(asked)) == 2


def test_a_matrix_is_solved_once_for_equal_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    program = Builder(sense=-1)
    x, y = program.binary(cost=3.0), program.binary(cost=2.0)
    program.row([(x, 2.0), (y, 2.0)], upper=3.0)
    honest, asked = solving.solve_highs, []

    def counting(matrix: Any, options: Any, tell: Any) -> Any:
        asked.append((options.presolve, options.seed))
        return honest(matrix, options, tell)

    monkeypatch.setattr(solving, "solve_highs", counting)
    with computing_once():
        first = solve_matrix(program.matrix())
        assert solve_matrix(program.matrix()) is first
        solve_matrix(program.matrix(), presolve=False, seed=7)
        assert asked == [(True, None), (False, 7)], "another route is another solve"
        solve_matrix(program.matrix(), time_limit=60.0)
        program.row([(x, 1.0)], upper=0.0)
        assert solve_matrix(program.matrix()).summary.objective == 2.0
    assert len(asked) == 4


def test_a_sum_of_ratios_is_minimised_once_for_equal_settings() -> None:
    job = smd_random(0).jobs[0]
    with computing_once():
        first = sum_of_ratios(ratios(job), epsilon=0.5)
        assert sum_of_ratios(ratios(job), epsilon=0.5, variant="corrected") is first
        for other in ({"epsilon": 0.25}, {"epsilon": 0.5, "variant": "printed"}):
            assert sum_of_ratios(ratios(job), **other) is not first
        assert sum_of_ratios(ratios(smd_random(1).jobs[0]), epsilon=0.5) is not first
        assert sum_of_ratios(ratios(job), epsilon=0.5, oracle=Planar) is not first
    assert sum_of_ratios(ratios(job), epsilon=0.5) is not first


def test_a_verdict_by_itself_computes_once_too() -> None:
    asked = []

    @once(lambda: ())
    def answer() -> int:
        asked.append("asked")
        return 42

    claim = module.PD_ORS.derived(
        "mine/answer",
        paper="mine",
        statement="it is itself",
        quantity="the answer",
        measure=lambda facts: answer(),
        relation=Relation.EQUAL,
        bound=lambda facts: answer(),
        expectation=Expectation.TRUE,
    )
    for verdicts in (1, 2):
        assert decide(claim, random(0)).status is Status.HOLDS
        assert len(asked) == verdicts
