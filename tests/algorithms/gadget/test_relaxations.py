"""GADGET's linear programs over classes of servers, against the full ones; its slots, against those from scratch."""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction
from functools import cache
from itertools import product
from typing import Any

import networkx as nx
import numpy as np
import pytest

from dlsched.algorithms import gadget
from dlsched.algorithms.gadget import mixtures
from dlsched.algorithms.gadget.activity import Activity, Sizes
from dlsched.algorithms.gadget.classes import server_classes, spread, weights
from dlsched.algorithms.gadget.events import SlotEmbedding
from dlsched.algorithms.gadget.mixtures import Fractional, Relaxation, Vertex, joint, selected
from dlsched.models import InputError
from dlsched.models.ddljs import Instance, Job, RingProblem, RingRequest, check, preset, random, slot_problem
from dlsched.models.ddljs.joint import joint_sizes
from dlsched.models.numbers import agree
from dlsched.relaxations import augmented_vne, knapsack_vne, plain_vne
from dlsched.rounding.mapping_table import MappingTable, Row
from tests.cases.ddljs import built, job, problem
from tests.longer import in_two, longer
from tests.oracles.ddljs_rules import violations
from tests.strategies.ddljs import drawn, with_placement


@cache
def slots(few: bool) -> tuple[RingProblem, ...]:
    """One slot each: random ones with few resources of many amounts, and the benchmark's with few kinds of servers."""
    found = [
        slot_problem(random(np.random.default_rng(seed), jobs=4, servers=5, resources=2, workers=4), 1)
        for seed in (range(12) if few else range(12, 40))
    ]
    found += [
        slot_problem(preset("benchmark", seed, servers=12, jobs=12, tight=seed % 2 == 0), 1)
        for seed in (range(2) if few else range(2, 6))
    ]
    return tuple(one.keeping(r for r in one.requests if max(r.profit.values()) > 0) for one in found)


FEW = longer([True, False], False)
"""Whether some of the slots are looked at, or all the others."""


@pytest.mark.slow
@pytest.mark.parametrize("few", FEW)
@pytest.mark.parametrize("cap", [False, True])
def test_the_program_over_classes_has_the_value_of_the_knapsack(cap: bool, few: bool) -> None:
    several = 0
    for one in slots(few):
        classes = server_classes(one)
        several += len(classes) < len(one.servers)
        _, value = weights(one, classes, cap=cap)
        full = knapsack_vne(one, cap=cap).solve().value if one.requests else 0.0
        assert value == pytest.approx(full, rel=1e-5, abs=1e-6)
    assert several > 10 / 46 * len(slots(few))


@pytest.mark.parametrize("few", FEW)
@pytest.mark.parametrize("cap", [False, True])
def test_spreading_keeps_capacities_and_caps(cap: bool, few: bool) -> None:
    for one in slots(few):
        classes = server_classes(one)
        found, _ = weights(one, classes, cap=cap)
        loads: dict[tuple[str, str], float] = defaultdict(float)
        for (name, k), parts in spread(one, classes, found, cap=cap).items():
            chi = sum(found[name, k].values())
            assert sum(parts.values()) == pytest.approx(k * chi, abs=1e-6)
            request = one.request(name)
            for u, part in parts.items():
                assert part <= (min(k, one.room(request, u)) if cap else k) * chi + 1e-6
                assert one.room(request, u) > 0
                for r, need in request.demand.items():
                    loads[u, r] += float(need) * part
        assert all(load <= float(one.nodes[u][r]) + 1e-6 for (u, r), load in loads.items())


def worth(one: RingProblem, fractional: Fractional) -> float:
    """What a decomposed solution is worth on average."""
    whole = one.keeping(r for r in one.requests if r.name in fractional.mappings)
    return float(MappingTable.of(whole, fractional.mappings).expected_profit)


@pytest.mark.slow
@pytest.mark.parametrize("few", FEW)
def test_mixtures_are_worth_their_programs(few: bool) -> None:
    """The selected ones always; the joint one where links join all servers."""
    solved = [joint(one, Relaxation.AUTO) for one in slots(few)]
    for one, fractional in zip(slots(few), solved, strict=True):
        assert worth(one, fractional) <= fractional.value * (1 + 1e-5) + 1e-5
    for vertex, itself in product(Vertex, (False, True)):
        for one in slots(few):
            fractional = selected(one, Relaxation.AUTO, vertex, itself=itself)
            assert worth(one, fractional) == pytest.approx(fractional.value, rel=1e-5, abs=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("few", FEW)
@pytest.mark.parametrize("vertex", Vertex)
def test_every_vertex_is_an_optimum_of_the_augmented_program(vertex: Vertex, few: bool) -> None:
    """Of the value of the full program, and within the capacities on average: nodes, and links too."""
    for one in slots(few):
        if len(one.nodes) > 8 or not one.requests:
            continue
        fractional = selected(one, Relaxation.AUTO, vertex)
        assert fractional.selection is not None
        cap, sizes = vertex is Vertex.CAPPED, fractional.selection.sizes
        whole = augmented_vne(one, sizes=sizes, cap=cap).solve().value if sizes else 0.0
        assert fractional.value == pytest.approx(whole, rel=1e-5, abs=1e-5)
        table, load = MappingTable.of(one, fractional.mappings), Counter[Row]()
        for option in (option for options in table.options.values() for option in options):
            for row, amount in option.loads.items():
                load[row] += float(option.probability * amount)
        assert all(part <= float(table.capacity[row]) + 1e-6 for row, part in load.items())


@pytest.mark.slow
@pytest.mark.parametrize("few", FEW)
@pytest.mark.parametrize("vertex", Vertex)
def test_selection_keeps_its_part_of_the_program(vertex: Vertex, few: bool) -> None:
    for one in slots(few):
        selection = selected(one, Relaxation.AUTO, vertex).selection
        assert selection is not None
        cap = vertex is Vertex.CAPPED
        full = plain_vne(one, cap=cap).solve().value if one.requests else 0.0
        assert selection.relaxation == pytest.approx(full, rel=1e-5, abs=1e-6)
        most = max((len(request.profit) for request in one.requests), default=1)
        assert selected(one, Relaxation.AUTO, vertex, itself=True).value >= (0 if cap else full / most) - 1e-5


def test_g10_needs_the_caps_of_the_augmented_program() -> None:
    one = problem("G10")
    assert joint(one, Relaxation.AUTO).value == pytest.approx(2)
    assert joint(one, Relaxation.AUGMENTED).value == pytest.approx(1)
    assert selected(one, Relaxation.AUGMENTED, Vertex.COLOCATED).value == pytest.approx(2)
    assert selected(one, Relaxation.AUTO).value == pytest.approx(0)
    assert selected(one, Relaxation.AUTO, itself=True).value == pytest.approx(1)


def reachable(given: Instance, one: Job, slot: int) -> int:
    """Return how many worker-slots a job can have had before a slot."""
    in_a_slot = min(one.max_workers, sum(given.room(one, node.name) for node in given.servers))
    return min(given.most(one), in_a_slot * max(0, slot - one.arrival))


def test_slots_are_those_from_scratch() -> None:
    for seed in range(40):
        given = random(np.random.default_rng(seed), jobs=4, servers=4, resources=2, slots=3, varying=seed % 2 == 0)
        activity = Activity(given, Sizes.FLOOR)
        rng = np.random.default_rng(seed)
        for slot in range(1, 4):
            so_far = {one.name: int(rng.integers(0, reachable(given, one, slot) + 1)) for one in given.jobs}
            assert activity.problem(slot, so_far) == slot_problem(given, slot, so_far)


def test_sizes_alone_are_what_a_job_could_have_if_workers_had_parts() -> None:
    """Servers of 3 and 2, needs of 2: 1.5 + 1 workers, or 2.5 by the budget: 3; of whole workers 2."""
    two = {"gpu": 2}
    given = Instance.parse(built({"a": 3, "b": 2}, [], job("J", max_workers=5, worker=two, budget={"gpu": 9})))
    for sizes, so_far, largest in ((Sizes.ALONE, 0, 3), (Sizes.ALONE, 2, 3), (Sizes.FLOOR, 0, 2), (Sizes.FLOOR, 2, 2)):
        (request,) = Activity(given, sizes).problem(1, {"J": so_far}).requests
        assert max(request.profit) == largest


def test_joint_sizes_are_those_of_the_model() -> None:
    """With strictly concave utilities and one resource the joint relaxation has one optimum."""
    for seed in range(12):
        given = preset("benchmark", seed, servers=6, jobs=6, workers=4, tight=True)
        so_far = {one.name: seed % 3 for one in given.jobs}
        sizes = {r.name: max(r.profit) for r in Activity(given, Sizes.JOINT).problem(1, so_far).requests}
        assert sizes == {name: k for name, k in joint_sizes(given, 1, so_far).items() if k}


@pytest.mark.slow
@in_two(8, 25)
@pytest.mark.parametrize("options", [{}, {"variant": "printed"}, {"variant": "filled"}, {"embedding": "exact"}])
def test_workers_with_places_of_their_own(options: dict[str, Any], seeds: range) -> None:
    rings = 0
    for seed in seeds:
        data = with_placement(seed, drawn(seed, jobs=3, servers=3, slots=2).dump())
        given = Instance.parse(data)
        result = gadget.run(given, seed=seed, **options)
        assert violations(data, result.schedule.dump()) == set()
        assert check(given, result.schedule) == []
        rings += sum(embedding.order is not None for _, _, embedding in result.schedule.items())
    assert rings > len(seeds) / 5


@pytest.mark.parametrize("variant", ["corrected", "printed", "filled"])
def test_the_augmented_program_on_small_networks(variant: str) -> None:
    for seed in range(3):
        given = preset("benchmark", seed, servers=5, jobs=5, tight=True)
        augmented = gadget.run(given, variant=variant, relaxation="augmented")
        assert check(given, augmented.schedule) == []
        (event,) = (one for one in augmented.log if isinstance(one, SlotEmbedding))
        (other,) = (one for one in gadget.run(given, variant=variant).log if isinstance(one, SlotEmbedding))
        assert event.rounding is not None
        assert other.rounding is not None
        assert agree(min(event.rounding.relaxation, other.rounding.relaxation), event.rounding.relaxation)


def test_large_augmented_programs_are_refused() -> None:
    with pytest.raises(InputError, match="columns"):
        gadget.run(preset("benchmark", 1, servers=50, jobs=60), relaxation="augmented")


def test_colocation_refuses_places() -> None:
    given = Instance.parse(built({"s": 1}, [], job("J", placement=[["s"], ["s"]])))
    with pytest.raises(InputError, match=r"job J: .*placement"):
        gadget.run(given, relaxation="colocated")


@pytest.mark.parametrize(
    "options", [{}, {"relaxation": "augmented"}, {"variant": "printed"}, {"variant": "filled"}, {"embedding": "exact"}]
)
def test_workers_that_need_nothing(options: dict[str, Any]) -> None:
    given = Instance.parse(built({"a": 1, "b": 1}, [("a", "b", 1)], job(worker={}), job("other", worker={})))
    assert gadget.run(given, **options).utility == 4


@pytest.mark.parametrize("unit", [Fraction(1), Fraction(1, 10**12), Fraction(10) ** 12])
def test_a_link_that_does_not_carry_a_mixture_does_so_in_no_unit(unit: Fraction) -> None:
    """A ring of two over two servers of one GPU each takes twice its bandwidth of the link, once a direction."""

    def pair(bandwidth: int) -> RingProblem:
        net = nx.Graph([("a", "b", {"bandwidth": bandwidth * unit})])
        net.add_nodes_from("ab", capacity={"gpu": 1})
        return RingProblem.of(net, [RingRequest("job", {2: 3}, {"gpu": 1}, unit)])

    _, mix = mixtures._mix(pair(2), cap=True)
    assert mixtures.carried(pair(2), mix)
    assert not mixtures.carried(pair(1), mix)
