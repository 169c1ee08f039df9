"""Models with known optima, of the kind users bring, on which transformations are checked."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Any

import pyomo.environ as pyo
from pyomo.gdp import Disjunction

from dlsched.models.ddljs.requests import RingProblem, RingRequest


class Kind(StrEnum):
    """What a transformation takes.

    Examples
    --------
    >>> from dlsched.relaxations import plain_vne
    >>> from dlsched.relaxations.conformance import Kind, cases
    >>> print([case.name for case in cases(Kind.RATIOS)])
    ['two_ratios', 'shared_room']
    >>> print([round(plain_vne(case.build()).solve().value, 6) for case in cases(Kind.RINGS)])
    [6.0, 5.666667, 6.0, 0.0]
    """

    MODEL = "model"
    RATIOS = "a model that minimises a sum of several ratios"
    RINGS = "a ring problem"


class Trait(StrEnum):
    """What a transformation may have to refuse in a model.

    Examples
    --------
    >>> from dlsched.relaxations import dual
    >>> from dlsched.relaxations.conformance import Trait, Transformation, cases, check
    >>> knapsack = next(case for case in cases() if Trait.INTEGER in case.traits)
    >>> check(Transformation(dual, refuses=frozenset({Trait.INTEGER}), dualises=True), knapsack)
    """

    INTEGER = "integer variables"
    FRACTIONAL = "a ratio as the objective"
    NONLINEAR = "a row that is not linear"
    LOGIC = "an active disjunction"
    SOS = "a special ordered set"
    OUTSIDE = "a variable that is declared outside"
    OBJECTIVES = "several active objectives"
    GAPS = "a domain with gaps"
    PLACED = "ring nodes with places of their own"


@dataclass(frozen=True, slots=True)
class Case:
    """A model to transform.

    Attributes
    ----------
    build : callable
        Returns it anew.
    optimum : float, optional
        Its optimum; None where it has none, or is to be found by solving.
    relaxed : float, optional
        The optimum of its continuous relaxation; left out, it is `optimum`.
    traits : frozenset of Trait
    culprit : str
        The component that a refusal must name.
    kind : Kind

    Examples
    --------
    >>> import pyomo.environ as pyo
    >>> from dlsched.relaxations import lift_bounds
    >>> from dlsched.relaxations.conformance import Case, Transformation, check
    >>> def bakery():
    ...     m = pyo.ConcreteModel(name="bakery")
    ...     m.loaves = pyo.Var(bounds=(0, 30))
    ...     m.flour = pyo.Constraint(expr=0.5 * m.loaves <= 12)
    ...     m.profit = pyo.Objective(expr=2 * m.loaves - 5, sense=pyo.maximize)
    ...     return m
    >>> check(Transformation(lift_bounds), Case(bakery, optimum=43))
    """

    build: Callable[[], Any]
    optimum: float | None = None
    relaxed: float | None = None
    traits: frozenset[Trait] = frozenset()
    culprit: str = ""
    kind: Kind = Kind.MODEL

    @property
    def name(self) -> str:
        """The name of the function that builds it."""
        return self.build.__name__


def wyndor() -> Any:
    """Hillier and Lieberman's glass company: 36 at (2, 6), shadow prices 0, 3/2, 1."""
    m = pyo.ConcreteModel(name="wyndor")
    m.x = pyo.Var(["doors", "windows"], domain=pyo.NonNegativeReals)
    m.plant = pyo.Constraint([1, 2, 3], doc="hours of the plants")
    m.plant.add(1, m.x["doors"] <= 4)
    m.plant.add(2, 2 * m.x["windows"] <= 12)
    m.plant.add(3, 3 * m.x["doors"] + 2 * m.x["windows"] <= 18)
    m.profit = pyo.Objective(expr=3 * m.x["doors"] + 5 * m.x["windows"], sense=pyo.maximize)
    return m


def diet() -> Any:
    """Two foods, three nutrients: 3 of the first and 1 of the second, cost 2.8 (by hand, from the three vertices)."""
    m = pyo.ConcreteModel(name="diet")
    m.food = pyo.Set(initialize=["a", "b"])
    m.cost = pyo.Param(m.food, initialize={"a": 0.6, "b": 1.0}, mutable=True)
    content = {"protein": (10, 4, 20), "fat": (5, 5, 20), "iron": (2, 6, 12)}
    m.eat = pyo.Var(m.food, bounds=(0, None))
    m.need = pyo.Constraint(
        list(content), rule=lambda m, k: content[k][0] * m.eat["a"] + content[k][1] * m.eat["b"] >= content[k][2]
    )
    m.total = pyo.Objective(expr=pyo.sum_product(m.cost, m.eat))
    return m


def transportation() -> Any:
    """Dantzig's transportation problem (the first model of the GAMS library): 153.675."""
    distance = {
        ("seattle", "new-york"): 2.5,
        ("seattle", "chicago"): 1.7,
        ("seattle", "topeka"): 1.8,
        ("san-diego", "new-york"): 2.5,
        ("san-diego", "chicago"): 1.8,
        ("san-diego", "topeka"): 1.4,
    }
    supply = {"seattle": 350, "san-diego": 600}
    demand = {"new-york": 325, "chicago": 300, "topeka": 275}
    m = pyo.ConcreteModel(name="transportation")
    m.x = pyo.Var(supply, demand, domain=pyo.NonNegativeReals)
    m.supply = pyo.Constraint(list(supply), rule=lambda m, i: sum(m.x[i, j] for j in demand) <= supply[i])
    m.demand = pyo.Constraint(list(demand), rule=lambda m, j: sum(m.x[i, j] for i in supply) >= demand[j])
    m.cost = pyo.Objective(expr=sum(90 * d / 1000 * m.x[arc] for arc, d in distance.items()))
    return m


def assignment() -> Any:
    """Three to three: 1 + 2 + 2 = 5 is least of the six (by hand); the polytope is integral."""
    cost = [[4, 1, 3], [2, 0, 5], [3, 2, 2]]
    m = pyo.ConcreteModel(name="assignment")
    m.x = pyo.Var(range(3), range(3), domain=pyo.Binary)
    m.agent = pyo.Constraint(range(3), rule=lambda m, i: sum(m.x[i, j] for j in range(3)) == 1)
    m.task = pyo.Constraint(range(3), rule=lambda m, j: sum(m.x[i, j] for i in range(3)) == 1)
    m.cost = pyo.Objective(expr=sum(cost[i][j] * m.x[i, j] for i, j in m.x))
    return m


def knapsack() -> Any:
    """Values 60, 100, 120 at weights 10, 20, 30 and capacity 50: 220; two thirds of the last in the relaxation: 240."""
    m = pyo.ConcreteModel(name="knapsack")
    m.x = pyo.Var([1, 2, 3], domain=pyo.Boolean)
    m.capacity = pyo.Constraint(expr=10 * m.x[1] + 20 * m.x[2] + 30 * m.x[3] <= 50)
    m.value = pyo.Objective(expr=60 * m.x[1] + 100 * m.x[2] + 120 * m.x[3], sense=pyo.maximize)
    return m


def max_flow() -> Any:
    """The flow network of Cormen, Leiserson, Rivest and Stein: 23."""
    arcs = {"s1": 16, "s2": 13, "13": 12, "21": 4, "24": 14, "32": 9, "3t": 20, "43": 7, "4t": 4}
    m = pyo.ConcreteModel(name="max flow")
    m.arc = pyo.Set(initialize=[tuple(arc) for arc in arcs])
    m.flow = pyo.Var(m.arc, bounds=lambda m, i, j: (0, arcs[i + j]))
    m.into = pyo.Expression(list("1234"), rule=lambda m, v: sum(m.flow[a] for a in m.arc if a[1] == v))
    m.balance = pyo.Constraint(list("1234"), rule=lambda m, v: m.into[v] == sum(m.flow[a] for a in m.arc if a[0] == v))
    m.value = pyo.Objective(expr=sum(m.flow[a] for a in m.arc if a[0] == "s"), sense=pyo.maximize)
    return m


def ranges() -> Any:
    """Free variables between range rows: x + y = 4 and x - y = -2 give 1 + 2 * 3 = 7, by hand."""
    m = pyo.ConcreteModel(name="ranges")
    m.x, m.y = pyo.Var(), pyo.Var()
    m.total = pyo.Constraint(expr=pyo.inequality(1, m.x + m.y, 4))
    m.difference = pyo.Constraint(expr=(-2, m.x - m.y + 10 - 10, 1))
    m.value = pyo.Objective(expr=m.x + 2 * m.y, sense=pyo.maximize)
    return m


def fixings() -> Any:
    """One activity fixed, outside of its bounds, one pinned by equal bounds: 2*5 + 3*2 + 4*2 + 1 + 7 = 32."""
    m = pyo.ConcreteModel(name="fixings")
    m.x = pyo.Var(["x", "y", "z", "w"], domain=pyo.NonNegativeReals)
    m.x["x"].setub(5)
    m.x["z"].setub(1)
    m.x["z"].fix(2, skip_validation=True)
    m.x["w"].setlb(1)
    m.x["w"].setub(1)
    m.need = pyo.Constraint(expr=m.x["x"] + m.x["y"] + m.x["z"] + m.x["w"] >= 10)
    m.only_fixed = pyo.Constraint(expr=m.x["z"] <= 3)
    m.cost = pyo.Objective(expr=2 * m.x["x"] + 3 * m.x["y"] + 4 * m.x["z"] + m.x["w"] + 7)
    return m


def bounds() -> Any:
    """Each kind of bounds, two variables in no row; by hand 2*(-4) - 3*(-2) + (-1) + 0 - 2*(-3) + 6*1 + 1.5 = 10.5."""
    m = pyo.ConcreteModel(name="bounds")
    m.p = pyo.Param(initialize=-2, mutable=True)
    m.x = pyo.Var(bounds=(-4, -1))
    m.y = pyo.Var(bounds=(None, m.p))
    m.z = pyo.Var(bounds=(-1, 0))
    m.u = pyo.Var(domain=pyo.NonPositiveReals)
    m.free = pyo.Var()
    m.alone = pyo.Var(bounds=(1, 6))
    m.unused = pyo.Var(bounds=(3, None))
    m.tie = pyo.Constraint(expr=m.free + m.x - m.x + 3 >= 0)
    m.roof = pyo.Constraint(expr=m.free <= m.u - 3)
    m.link = pyo.Constraint(expr=m.x + m.y >= -6)
    m.floor = pyo.Constraint(expr=m.z >= -5)
    m.cost = pyo.Objective(expr=2 * m.x - 3 * m.y + m.z + m.u - 2 * m.free + 6 * m.alone + 1.5)
    return m


def plants() -> Any:
    """Blocks of one kind that share a row: the better plant at full load, the rest at the other, 3*4 + 2*3 - 1 = 17."""
    m = pyo.ConcreteModel(name="plants")

    def plant(block: Any, k: int) -> None:
        block.make = pyo.Var(domain=pyo.NonNegativeReals)
        block.line = pyo.Block()
        block.line.load = pyo.Constraint(expr=block.make + 0.5 <= 4.5)
        block.earn = pyo.Expression(expr=(4 - k) * block.make)

    m.plant = pyo.Block([1, 2], rule=plant)
    m.idle = pyo.Block()
    m.idle.x = pyo.Var(bounds=(0, 1))
    m.idle.row = pyo.Constraint(expr=m.idle.x >= 2)
    m.idle.deactivate()
    m.shared = pyo.Constraint(expr=m.plant[1].make + m.plant[2].make <= 7)
    m.skipped = pyo.Constraint(expr=m.shared.body <= 1)
    m.skipped.deactivate()
    m.total = pyo.Objective(expr=m.plant[1].earn + m.plant[2].earn - 1, sense=pyo.maximize)
    return m


def integers() -> Any:
    """Integers of several domains: 3 + 2*2 + 1 - 1 = 7; relaxed, x = 7/2 and y = 5/2 give 7/2 + 5 + 1 - 1 = 17/2."""
    m = pyo.ConcreteModel(name="integers")
    m.x = pyo.Var(domain=pyo.NonNegativeIntegers, bounds=(None, 9))
    m.y = pyo.Var(domain=pyo.PositiveIntegers)
    m.s = pyo.Var(domain=pyo.Integers, bounds=(-1, 1))
    m.n = pyo.Var(domain=pyo.NegativeIntegers)
    m.row = pyo.Constraint([1, 2])
    m.row.add(1, 2 * m.x <= 7)
    m.row.add(2, 2 * m.y <= 5)
    m.value = pyo.Objective(expr=m.x + 2 * m.y + m.s + m.n, sense=pyo.maximize)
    return m


def either_or() -> Any:
    """X <= 3 or x >= 6 for x in [0, 5], by big-M: 3; its relaxation reaches 5 (half of each big-M row)."""
    m = pyo.ConcreteModel(name="either or")
    m.x = pyo.Var(bounds=(0, 5))
    m.choice = Disjunction(expr=[[m.x <= 3], [m.x >= 6]])
    m.value = pyo.Objective(expr=m.x, sense=pyo.maximize)
    return pyo.TransformationFactory("gdp.bigm").create_using(m, bigM=10)


def names() -> Any:
    """Names that need quoting, indices of several kinds, and names that transformations use: 2 + 3 * 3 + 0 = 11."""
    m = pyo.ConcreteModel(name="names that (do) not 'read' well")
    m.kinds = pyo.Set(initialize=["a b", "x,y", "[1]", 2, (3, "z")], dimen=None)
    m.t = pyo.Var(m.kinds, bounds=(0, 3))
    m.t_upper = pyo.Var(bounds=(None, 2))
    m.objective = pyo.Var(bounds=(0, None))
    m.normalisation = pyo.Constraint(expr=m.t["a b"] + m.t["x,y"] + m.objective <= 4)
    m.objective_constant = pyo.Constraint(expr=m.t[2] + m.t[3, "z"] <= m.t["[1]"])
    m.x = pyo.Constraint(expr=m.t_upper + m.t["a b"] <= 5)
    m.add_component("the worth, in total", pyo.Objective(expr=m.t_upper + 3 * m.t[2] - m.objective, sense=pyo.maximize))
    return m


def parameters() -> Any:
    """Parameters in bounds, rows and objective, and a row that is switched off: 2 * 3 + 5 * 1 = 11."""
    m = pyo.ConcreteModel(name="parameters")
    m.kinds = pyo.Set(initialize=["a", "b"])
    m.most = pyo.Param(m.kinds, initialize={"a": 3, "b": 4}, mutable=True)
    m.worth = pyo.Param(m.kinds, initialize={"a": 2, "b": 5})
    m.weight = pyo.Param(m.kinds, initialize={"a": 1, "b": 3}, mutable=True)
    m.x = pyo.Var(m.kinds, bounds=lambda m, k: (0, m.most[k]))
    m.room = pyo.Constraint(m.kinds, rule=lambda m, k: sum(m.weight[j] * m.x[j] for j in m.kinds) <= 6)
    m.room["a"].deactivate()
    m.total = pyo.Objective(expr=pyo.sum_product(m.worth, m.x), sense=pyo.maximize)
    return m


def contradiction() -> Any:
    """Two rows that no point satisfies."""
    m = pyo.ConcreteModel(name="contradiction")
    m.x = pyo.Var(bounds=(0, None))
    m.y = pyo.Var()
    m.low = pyo.Constraint(expr=m.x + m.y <= 1)
    m.high = pyo.Constraint(expr=m.x + m.y >= 2)
    m.cost = pyo.Objective(expr=m.x)
    return m


def no_end() -> Any:
    """An objective without a bound."""
    m = pyo.ConcreteModel(name="no end")
    m.x = pyo.Var([1, 2], bounds=(0, None))
    m.row = pyo.Constraint(expr=m.x[1] - m.x[2] <= 1)
    m.value = pyo.Objective(expr=m.x[1] + m.x[2], sense=pyo.maximize)
    return m


def ratio() -> Any:
    """(-2 x1 + x2 + 2)/(x1 + 3 x2 + 4): least at (7, 0), -12/11 (a textbook's example of Charnes and Cooper)."""
    m = pyo.ConcreteModel(name="ratio")
    m.x = pyo.Var([1, 2], domain=pyo.NonNegativeReals)
    m.a = pyo.Constraint(expr=-m.x[1] + m.x[2] <= 4)
    m.b = pyo.Constraint(expr=2 * m.x[1] + m.x[2] <= 14)
    m.c = pyo.Constraint(expr=m.x[2] <= 6)
    m.ratio = pyo.Objective(expr=(-2 * m.x[1] + m.x[2] + 2) / (m.x[1] + 3 * m.x[2] + 4))
    return m


def two_ratios() -> Any:
    """X / 2 + (x + 4) / x for x in [1, 8]: least at the root of 8, 1 + 2 * 2^(1/2)."""
    m = pyo.ConcreteModel(name="two ratios")
    m.part = pyo.Block()
    m.part.x = pyo.Var(["x"], bounds=(1, 8))
    m.half = pyo.Param(initialize=2, mutable=True)
    m.idle = pyo.Constraint(expr=m.part.x["x"] >= 7)
    m.idle.deactivate()
    m.cost = pyo.Objective(expr=m.part.x["x"] / m.half + (m.part.x["x"] + 4) / m.part.x["x"])
    return m


def shared_room() -> Any:
    """(x + 1)/(y + 1) + (y + 1)/(z + 1), x + y >= 3, z = 2: with s = y + 1 it is 5/s - 1 + s/3, least at s^2 = 15."""
    m = pyo.ConcreteModel(name="shared room")
    m.x = pyo.Var(["x", "y", "z"], bounds=(0, 4))
    m.x["z"].fix(2, skip_validation=True)
    m.need = pyo.Constraint(expr=m.x["x"] + m.x["y"] >= 3)
    m.cost = pyo.Objective(
        expr=(m.x["x"] + 1) / (m.x["y"] + 1) + (m.x["y"] + 1) / (m.x["z"] + 1),
    )
    return m


def disjunction() -> Any:
    """A choice that is not yet written with binaries."""
    m = pyo.ConcreteModel(name="disjunction")
    m.x = pyo.Var(bounds=(0, 5))
    m.choice = Disjunction(expr=[[m.x <= 3], [m.x >= 4]])
    m.value = pyo.Objective(expr=m.x)
    return m


def ordered_set() -> Any:
    """At most one of three, as a special ordered set."""
    m = pyo.ConcreteModel(name="ordered set")
    m.x = pyo.Var([1, 2, 3], bounds=(0, 1))
    m.one = pyo.SOSConstraint(var=m.x, sos=1)
    m.value = pyo.Objective(expr=m.x[1] + m.x[2])
    return m


def borrowed() -> Any:
    """A block with a row over a variable of the model around it."""
    m = pyo.ConcreteModel(name="lender")
    m.lent = pyo.Var(bounds=(0, 1))
    m.part = pyo.Block()
    m.part.x = pyo.Var(bounds=(0, 1))
    m.part.row = pyo.Constraint(expr=m.part.x + m.lent >= 1)
    m.part.value = pyo.Objective(expr=m.part.x)
    # A block knows the model around it only weakly.
    m.part.around = (m,)
    return m.part


def product() -> Any:
    """A row with a product of two variables."""
    m = pyo.ConcreteModel(name="product")
    m.x = pyo.Var([1, 2], bounds=(1, 2))
    m.area = pyo.Constraint(expr=m.x[1] * m.x[2] >= 2)
    m.cost = pyo.Objective(expr=m.x[1] + m.x[2])
    return m


def two_aims() -> Any:
    """Two objectives, both active."""
    m = pyo.ConcreteModel(name="two aims")
    m.x = pyo.Var(bounds=(1, 2))
    m.first, m.second = pyo.Objective(expr=m.x), pyo.Objective(expr=-m.x)
    return m


def semicontinuous() -> Any:
    """A machine that runs between 2 and 5, or not at all."""
    m = pyo.ConcreteModel(name="semicontinuous")
    m.speed = pyo.Var(domain=pyo.Reals)
    m.speed.domain = pyo.RangeSet(ranges=(_interval(0, 0), _interval(2, 5)))
    m.speed.domain.construct()
    m.cost = pyo.Objective(expr=m.speed)
    return m


def _interval(low: float, high: float) -> Any:
    from pyomo.core.base.range import NumericRange

    return NumericRange(low, high, 0)


def line_of_servers() -> RingProblem:
    """Three servers in a line, and two requests for rings of one to three nodes."""
    shares = tuple((((u, v),), Fraction(5)) for u, v in ("ab", "ba", "bc", "cb"))
    profits = {k: Fraction(k) for k in (1, 2, 3)}
    wanted = tuple(RingRequest(i, profits, {"gpu": Fraction(1)}, Fraction(1)) for i in "AB")
    return RingProblem({u: {"gpu": Fraction(3)} for u in "abc"}, shares, wanted)


def narrow_star() -> RingProblem:
    """Servers that hold one or two ring nodes around a switch, links that carry one ring edge or none."""
    arms = {"a": (1, Fraction(1)), "b": (1, Fraction(1, 2)), "c": (2, Fraction(2))}
    shares = tuple((((u, "switch"), ("switch", u)), limit) for u, (_, limit) in arms.items())
    nodes = {u: {"gpu": Fraction(room), "ram": Fraction(5)} for u, (room, _) in arms.items()} | {"switch": {}}
    wanted = (
        RingRequest("i", {1: Fraction(1), 2: Fraction(3)}, {"gpu": Fraction(1), "ram": Fraction(2)}, Fraction(1)),
        RingRequest("j", {3: Fraction(4)}, {"gpu": Fraction(1)}, Fraction(1, 2)),
    )
    return RingProblem(nodes, shares, wanted)


def directed_cycle() -> RingProblem:
    """Rings of two nodes across a directed cycle, each ring node with places of its own."""
    shares = tuple((((u, v),), Fraction(3, 2)) for u, v in ("ab", "bc", "cd", "da"))
    ends = frozenset("ac"), frozenset("bd")
    wanted = tuple(RingRequest(i, {2: Fraction(2)}, {"gpu": Fraction(1)}, Fraction(1), ends) for i in "xyz")
    return RingProblem({u: {"gpu": Fraction(10)} for u in "abcd"}, shares, wanted)


def no_requests() -> RingProblem:
    """A network that nobody wants."""
    return RingProblem({"a": {"gpu": Fraction(1)}}, (), ())


def cases(kind: Kind | None = None) -> tuple[Case, ...]:
    """Return the cases, of a kind or of all.

    Examples
    --------
    >>> from dlsched.models import solve
    >>> from dlsched.relaxations import relax
    >>> from dlsched.relaxations.conformance import Trait, cases
    >>> for case in cases():
    ...     if case.traits == {Trait.INTEGER}:
    ...         print(case.name, case.optimum, case.relaxed, round(solve(relax(case.build()).model).objective, 6))
    assignment 5 None 5.0
    knapsack 220 240 240.0
    integers 7 8.5 8.5
    either_or 3 5 5.0
    """
    return tuple(case for case in _CASES if kind is None or case.kind is kind)


_INTEGER = frozenset({Trait.INTEGER})
_CASES = (
    Case(wyndor, 36),
    Case(diet, 2.8),
    Case(transportation, 153.675),
    Case(assignment, 5, traits=_INTEGER, culprit="x["),
    Case(knapsack, 220, 240, traits=_INTEGER, culprit="x["),
    Case(max_flow, 23),
    Case(ranges, 7),
    Case(fixings, 32),
    Case(bounds, 10.5),
    Case(plants, 17),
    Case(integers, 7, 8.5, traits=_INTEGER, culprit="variable '"),
    Case(either_or, 3, 5, traits=_INTEGER, culprit="binary_indicator_var"),
    Case(names, 11),
    Case(parameters, 11),
    Case(contradiction),
    Case(no_end),
    Case(ratio, -12 / 11, traits=frozenset({Trait.FRACTIONAL}), culprit="ratio"),
    Case(disjunction, traits=frozenset({Trait.LOGIC}), culprit="choice"),
    Case(ordered_set, traits=frozenset({Trait.SOS}), culprit="one"),
    Case(borrowed, traits=frozenset({Trait.OUTSIDE}), culprit="lent"),
    Case(product, traits=frozenset({Trait.NONLINEAR}), culprit="area"),
    Case(two_aims, traits=frozenset({Trait.OBJECTIVES}), culprit="two aims"),
    Case(semicontinuous, traits=frozenset({Trait.GAPS}), culprit="speed"),
    Case(two_ratios, 1 + 2 * math.sqrt(2), kind=Kind.RATIOS),
    Case(shared_room, 2 * math.sqrt(5 / 3) - 1, kind=Kind.RATIOS),
    Case(line_of_servers, kind=Kind.RINGS),
    Case(narrow_star, kind=Kind.RINGS),
    Case(directed_cycle, traits=frozenset({Trait.PLACED}), culprit="x", kind=Kind.RINGS),
    Case(no_requests, kind=Kind.RINGS),
)
