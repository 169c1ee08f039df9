"""Ordinary models with known optima, of the kind a user brings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pyomo.environ as pyo
from pyomo.gdp import Disjunction


@dataclass(frozen=True, slots=True)
class Textbook:
    """A model, its optimum, and the optimum of its continuous relaxation."""

    build: Callable[[], Any]
    optimum: float
    relaxed: float

    @property
    def name(self) -> str:
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
    m.x["z"].fix(2)
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
    """x <= 3 or x >= 6 for x in [0, 5], by big-M: 3; its relaxation reaches 5 (half of each big-M row)."""
    m = pyo.ConcreteModel(name="either or")
    m.x = pyo.Var(bounds=(0, 5))
    m.choice = Disjunction(expr=[[m.x <= 3], [m.x >= 6]])
    m.value = pyo.Objective(expr=m.x, sense=pyo.maximize)
    return pyo.TransformationFactory("gdp.bigm").create_using(m, bigM=10)


TEXTBOOK = (
    Textbook(wyndor, 36, 36),
    Textbook(diet, 2.8, 2.8),
    Textbook(transportation, 153.675, 153.675),
    Textbook(assignment, 5, 5),
    Textbook(knapsack, 220, 240),
    Textbook(max_flow, 23, 23),
    Textbook(ranges, 7, 7),
    Textbook(fixings, 32, 32),
    Textbook(bounds, 10.5, 10.5),
    Textbook(plants, 17, 17),
    Textbook(integers, 7, 8.5),
    Textbook(either_or, 3, 5),
)
