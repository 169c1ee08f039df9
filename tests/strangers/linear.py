"""Linear programs."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import networkx as nx
import numpy as np
import pyomo.environ as pyo

from .stranger import Stranger, corners, least

SUPPLY = {"north": 35, "south": 50, "east": 40}
DEMAND = {"a": 45, "b": 20, "c": 30, "d": 30}
FREIGHT = [[8, 6, 10, 9], [9, 12, 13, 7], [14, 9, 16, 5]]


def transport() -> Any:
    model = pyo.ConcreteModel("transport")
    model.mills = pyo.Set(initialize=list(SUPPLY))
    model.shops = pyo.Set(initialize=list(DEMAND))
    model.supply = pyo.Param(model.mills, initialize=SUPPLY)
    model.demand = pyo.Param(model.shops, initialize=DEMAND)
    freight = {(i, j): FREIGHT[a][b] for a, i in enumerate(SUPPLY) for b, j in enumerate(DEMAND)}
    model.cost = pyo.Param(model.mills, model.shops, initialize=freight)
    model.ship = pyo.Var(model.mills, model.shops, within=pyo.NonNegativeReals)

    @model.Constraint(model.mills)
    def capacity(model, i):
        return sum(model.ship[i, j] for j in model.shops) <= model.supply[i]

    @model.Constraint(model.shops)
    def need(model, j):
        return sum(model.ship[i, j] for i in model.mills) >= model.demand[j]

    @model.Objective(sense=pyo.minimize)
    def total(model):
        return pyo.sum_product(model.cost, model.ship)

    return model


def transport_answer() -> float:
    sources = [(np.kron(row, np.ones(4)), b) for row, b in zip(np.eye(3), SUPPLY.values(), strict=True)]
    sinks = [(np.kron(np.ones(3), row), b) for row, b in zip(np.eye(4), DEMAND.values(), strict=True)]
    return least(np.ravel(FREIGHT), at_most=sources, at_least=sinks)


MENU = {"bread": (2.0, 65, 2, 10), "milk": (3.5, 90, 8, 8), "beans": (8.0, 110, 14, 4), "rice": (4.0, 206, 4, 6)}
"""Price, energy, protein, most portions."""


def diet() -> Any:
    """An abstract model, filled from a dictionary as from a data file."""
    model = pyo.AbstractModel("diet")
    model.F = pyo.Set()
    model.N = pyo.Set()
    model.c = pyo.Param(model.F, within=pyo.PositiveReals)
    model.a = pyo.Param(model.F, model.N, within=pyo.NonNegativeReals, default=0)
    model.Nmin = pyo.Param(model.N, default=0.0)
    model.Nmax = pyo.Param(model.N, default=float("inf"))
    model.V = pyo.Param(model.F)
    model.x = pyo.Var(model.F, within=pyo.NonNegativeReals, bounds=lambda model, i: (0, model.V[i]))

    def nutrient_rule(model, j):
        amount = sum(model.a[i, j] * model.x[i] for i in model.F)
        return pyo.inequality(model.Nmin[j], amount, model.Nmax[j])

    model.nutrient_limit = pyo.Constraint(model.N, rule=nutrient_rule)
    model.cost = pyo.Objective(rule=lambda model: sum(model.c[i] * model.x[i] for i in model.F))
    return model.create_instance(
        {
            None: {
                "F": {None: list(MENU)},
                "N": {None: ["energy", "protein"]},
                "c": {food: row[0] for food, row in MENU.items()},
                "a": {
                    (food, kind): row[k] for food, row in MENU.items() for k, kind in ((1, "energy"), (2, "protein"))
                },
                "Nmin": {"energy": 2000, "protein": 55},
                "Nmax": {"energy": 2500},
                "V": {food: row[3] for food, row in MENU.items()},
            }
        }
    )


def diet_answer() -> float:
    price, energy, protein, most = zip(*MENU.values(), strict=True)
    return least(
        price, at_least=[(energy, 2000), (protein, 55)], at_most=[(energy, 2500)], bounds=[(0, v) for v in most]
    )


CRUDES = {"light": (98, 45, 500), "middle": (91, 35, 700), "heavy": (82, 20, 900)}
"""Octane, price, barrels there are."""
FUELS = {"super": (94, 60), "regular": (88, 48)}
"""Least octane, price."""


def blending() -> Any:
    """The octane of a blend is a ratio of sums, multiplied out."""
    m = pyo.ConcreteModel("blending")
    m.x = pyo.Var(CRUDES.keys(), FUELS.keys(), bounds=(0, None))
    m.bought = pyo.Expression(CRUDES.keys(), rule=lambda m, c: sum(m.x[c, f] for f in FUELS))
    m.made = pyo.Expression(FUELS.keys(), rule=lambda m, f: sum(m.x[c, f] for c in CRUDES))
    m.stock = pyo.Constraint(CRUDES.keys(), rule=lambda m, c: m.bought[c] <= CRUDES[c][2])
    m.octane = pyo.Constraint(
        FUELS.keys(), rule=lambda m, f: sum(CRUDES[c][0] * m.x[c, f] for c in CRUDES) >= FUELS[f][0] * m.made[f]
    )
    m.contract = pyo.Constraint(expr=m.made["regular"] >= 800)
    m.profit = pyo.Objective(
        expr=sum(FUELS[f][1] * m.made[f] for f in FUELS) - sum(CRUDES[c][1] * m.bought[c] for c in CRUDES),
        sense=pyo.maximize,
    )
    return m


def blending_answer() -> float:
    octane, price, stock = np.array(list(CRUDES.values())).T
    zeros = np.zeros(3)
    return -least(
        -np.concatenate([60 - price, 48 - price]),
        at_most=[(np.concatenate([row, row]), b) for row, b in zip(np.eye(3), stock, strict=True)],
        at_least=[
            (np.concatenate([octane - 94, zeros]), 0),
            (np.concatenate([zeros, octane - 88]), 0),
            ([0, 0, 0, 1, 1, 1], 800),
        ],
    )


PIPES = {("s", 1): 10, ("s", 2): 8, (1, 2): 5, (1, 3): 4, (2, 4): 10, (3, "t"): 9, (4, 3): 6, (4, "t"): 7}


def pipes() -> Any:
    """Maximum flow, the balance left out at both ends by Constraint.Skip."""
    m = pyo.ConcreteModel("pipes")
    m.nodes = pyo.Set(initialize=["s", 1, 2, 3, 4, "t"])
    m.arcs = pyo.Set(initialize=PIPES.keys(), dimen=2)
    m.capacity = pyo.Param(m.arcs, initialize=PIPES)
    m.flow = pyo.Var(m.arcs, domain=pyo.NonNegativeReals)

    def balance(m, k):
        if k in ("s", "t"):
            return pyo.Constraint.Skip
        return sum(m.flow[i, j] for i, j in m.arcs if j == k) == sum(m.flow[i, j] for i, j in m.arcs if i == k)

    m.balance = pyo.Constraint(m.nodes, rule=balance)
    m.limit = pyo.Constraint(m.arcs, rule=lambda m, i, j: m.flow[i, j] <= m.capacity[i, j])
    m.obj = pyo.Objective(expr=sum(m.flow[i, j] for i, j in m.arcs if i == "s"), sense=pyo.maximize)
    return m


def pipes_answer() -> float:
    graph = nx.DiGraph()
    graph.add_weighted_edges_from(((*arc, size) for arc, size in PIPES.items()), weight="capacity")
    return float(nx.maximum_flow_value(graph, "s", "t"))


ROADS = {(0, 1): (4, 15), (0, 2): (4, 8), (1, 2): (2, 20), (1, 3): (2, 4), (1, 4): (6, 10), (2, 3): (1, 15)}
ROADS |= {(2, 4): (3, 4), (3, 4): (2, 20), (4, 2): (3, 5)}
"""Cost, capacity."""
SURPLUS = {0: 20, 1: 0, 2: 0, 3: -5, 4: -15}


def roads() -> Any:
    """Minimum cost flow with bounds on the variables and equations only."""
    m = pyo.ConcreteModel("roads")
    m.f = pyo.Var(list(ROADS), bounds=lambda m, i, j: (0, ROADS[i, j][1]))
    m.node = pyo.ConstraintList()
    for node, surplus in SURPLUS.items():
        leaves = sum(m.f[a] for a in ROADS if a[0] == node)
        enters = sum(m.f[a] for a in ROADS if a[1] == node)
        m.node.add(leaves - enters == surplus)
    m.cost = pyo.Objective(expr=pyo.quicksum(ROADS[a][0] * m.f[a] for a in ROADS))
    return m


def roads_answer() -> float:
    graph = nx.DiGraph()
    graph.add_nodes_from((node, {"demand": -surplus}) for node, surplus in SURPLUS.items())
    graph.add_edges_from((i, j, {"weight": cost, "capacity": most}) for (i, j), (cost, most) in ROADS.items())
    return float(nx.min_cost_flow_cost(graph))


ORDERS = [120, 80, 190, 60]
WORK, OVERTIME, KEEP = 10, 15, 2


def periods() -> Any:
    """Many periods; what is in stock is an Expression of all periods before."""
    m = pyo.ConcreteModel("periods")
    m.T = pyo.RangeSet(4)
    m.demand = pyo.Param(m.T, initialize=dict(enumerate(ORDERS, start=1)), mutable=True)
    m.regular = pyo.Var(m.T, bounds=(0, 100))
    m.extra = pyo.Var(m.T, bounds=(0, 30))

    @m.Expression(m.T)
    def stock(m, t):
        before = m.stock[t - 1] if t > 1 else 25
        return before + m.regular[t] + m.extra[t] - m.demand[t]

    m.serve = pyo.Constraint(m.T, rule=lambda m, t: m.stock[t] >= 0)
    m.left = pyo.Constraint(expr=m.stock[4] == 10)
    m.wages = pyo.Expression(expr=WORK * pyo.summation(m.regular) + OVERTIME * pyo.summation(m.extra))
    m.storage = pyo.Expression(expr=KEEP * sum(m.stock[t] for t in m.T))
    m.total = pyo.Objective(expr=m.wages + m.storage)
    return m


def periods_answer() -> float:
    until = np.tri(4)
    needed = np.cumsum(ORDERS) - 25
    both = np.hstack([until, until])
    cost = np.repeat([WORK, OVERTIME], 4) + KEEP * both.sum(axis=0)
    constant = -KEEP * needed.sum()
    return constant + least(
        cost,
        at_least=list(zip(both, needed, strict=True)),
        equal=[(both[3], needed[3] + 10)],
        bounds=[(0, 100)] * 4 + [(0, 30)] * 4,
    )


def refinery() -> Any:
    """Rows between two sides, written as tuples, and one that is an equation by its sides."""
    m = pyo.ConcreteModel("refinery")
    m.run = pyo.Var(["a", "b", "c"], domain=pyo.NonNegativeReals, bounds=(None, 60))
    run = m.run
    m.furnace = pyo.Constraint(expr=(40, 2 * run["a"] + run["b"] + run["c"], 120))
    m.sulphur = pyo.Constraint(expr=(-10, run["a"] - 2 * run["b"] + 5, 10))
    m.crew = pyo.Constraint(expr=(80, run["a"] + run["b"] + run["c"], 80))
    m.margin = pyo.Objective(expr=5 * run["a"] + 4 * run["b"] + 3 * run["c"] - 100, sense=pyo.maximize)
    return m


def refinery_answer() -> float:
    return -100 - least(
        [-5, -4, -3],
        at_most=[([2, 1, 1], 120), ([1, -2, 0], 5)],
        at_least=[([2, 1, 1], 40), ([1, -2, 0], -15)],
        equal=[([1, 1, 1], 80)],
        bounds=(0, 60),
    )


def treasury() -> Any:
    """Maximises over what is negative, free, and bounded on either side; what is borrowed is below 0."""
    m = pyo.ConcreteModel("treasury")
    m.borrow = pyo.Var(bounds=(-50, -10))
    m.invest = pyo.Var(within=pyo.NonNegativeReals)
    m.hedge = pyo.Var(within=pyo.NonPositiveReals, bounds=(-20, None))
    m.cash = pyo.Var()
    m.unbounded_below = pyo.Var(bounds=(None, 5))
    m.books = pyo.Constraint(expr=m.cash == 30 - m.borrow - m.invest + m.hedge)
    m.reserve = pyo.Constraint(expr=m.cash >= -5)
    m.cover = pyo.Constraint(expr=-3 * m.hedge >= m.invest - 45)
    m.mix = pyo.Constraint(expr=m.unbounded_below + 2 * m.invest <= 100)
    worth = 1.08 * m.invest + 1.1 * m.borrow + 0.5 * m.hedge + m.cash + 0.25 * m.unbounded_below
    m.worth = pyo.Objective(expr=worth - 12, sense=pyo.maximize)
    return m


def treasury_answer() -> float:
    return -12 - least(
        [-1.1, -1.08, -0.5, -1, -0.25],
        equal=[([1, 1, -1, 1, 0], 30)],
        at_least=[([0, 0, 0, 1, 0], -5), ([0, -1, -3, 0, 0], -45)],
        at_most=[([0, 2, 0, 0, 1], 100)],
        bounds=[(-50, -10), (0, None), (-20, 0), (None, None), (None, 5)],
    )


SEEN = [(0, 1.0), (1, 2.8), (2, 5.5), (3, 6.2), (4, 12.0), (5, 11.1)]


def line_fit() -> Any:
    """The line with the least sum of absolute errors: free variables, two rows a point."""
    m = pyo.ConcreteModel("line fit")
    m.slope, m.intercept = pyo.Var(), pyo.Var()
    m.error = pyo.Var(range(len(SEEN)))
    m.above, m.below = pyo.ConstraintList(), pyo.ConstraintList()
    for k, (x, y) in enumerate(SEEN):
        m.above.add(m.error[k] >= m.slope * x + m.intercept - y)
        m.below.add(-m.error[k] <= m.slope * x + m.intercept - y)
    m.fit = pyo.Objective(expr=sum(m.error.values()))
    return m


def line_fit_answer() -> float:
    """Some best line goes through two of the points."""
    slopes = [((y - v) / (x - u), x, y) for (x, y), (u, v) in combinations(SEEN, 2)]
    return min(sum(abs(y + slope * (u - x) - v) for u, v in SEEN) for slope, x, y in slopes)


def game() -> Any:
    """The row player's best mix in a game, whose value is a free variable."""
    pay = {"head": {"left": 3, "right": -1}, "tail": {"left": -2, "right": 4}}
    m = pyo.ConcreteModel("game")
    m.p = pyo.Var(pay, within=pyo.UnitInterval)
    m.value = pyo.Var(within=pyo.Reals, initialize=0)
    m.one = pyo.Constraint(expr=sum(m.p[i] for i in pay) == 1)
    m.reply = pyo.Constraint(["left", "right"], rule=lambda m, j: m.value <= sum(pay[i][j] * m.p[i] for i in pay))
    m.obj = pyo.Objective(expr=m.value, sense=pyo.maximize)
    return m


def game_answer() -> float:
    """The value of a 2 x 2 game without a saddle point, (ad - bc)/(a + d - b - c)."""
    return (3 * 4 - (-1) * (-2)) / (3 + 4 + 1 + 2)


def goals() -> Any:
    """Goal programming: what is missed is paid for, more than what is exceeded."""
    m = pyo.ConcreteModel("goals")
    m.ads = pyo.Var(["radio", "print"], domain=pyo.NonNegativeReals)
    m.kinds = pyo.Set(initialize=["young", "old", "budget"])
    m.over = pyo.Var(m.kinds, domain=pyo.NonNegativeReals)
    m.under = pyo.Var(m.kinds, domain=pyo.NonNegativeReals)
    reach = {"young": (7, 3, 40), "old": (5, 4, 45), "budget": (6, 4, 40)}

    @m.Constraint(m.kinds)
    def goal(m, k):
        radio, paper, aim = reach[k]
        return radio * m.ads["radio"] + paper * m.ads["print"] + m.under[k] - m.over[k] == aim

    m.pages = pyo.Constraint(expr=m.ads["print"] <= 6)
    m.miss = pyo.Objective(expr=3 * m.under["young"] + 2 * m.under["old"] + 4 * m.over["budget"])
    return m


def goals_answer() -> float:
    return least(
        [0, 0, 0, 0, 4, 3, 2, 0],
        equal=[
            ([7, 3, -1, 0, 0, 1, 0, 0], 40),
            ([5, 4, 0, -1, 0, 0, 1, 0], 45),
            ([6, 4, 0, 0, -1, 0, 0, 1], 40),
        ],
        bounds=[(0, None), (0, 6)] + [(0, None)] * 6,
    )


CUTS = [(1, 2, 14), (3, -1, 0), (1, -1, 2), (-1, 0, 3), (0, -1, 4)]


def polygon() -> Any:
    """Variables and rows from lists, as a loop makes them."""
    m = pyo.ConcreteModel()
    m.x = pyo.VarList(domain=pyo.Reals)
    x, y = m.x.add(), m.x.add()
    m.c = pyo.ConstraintList()
    for a, b, c in CUTS:
        m.c.add(a * x + b * y <= c)
    m.c.add(pyo.Constraint.Feasible)
    m.o = pyo.Objective(expr=3 * x + 4 * y, sense=pyo.maximize)
    return m


def polygon_answer() -> float:
    return float(max(3 * x + 4 * y for x, y in corners(CUTS)))


def staffing() -> Any:
    """A row switched off, a whole block switched off, and variables fixed; one of them outside of its bounds."""
    need = {"mon": 5, "tue": 8, "wed": 6, "thu": 9, "fri": 7}
    days = list(need)
    m = pyo.ConcreteModel("staffing")
    m.start = pyo.Var(days, domain=pyo.NonNegativeReals, bounds=(0, 6))
    m.cover = pyo.Constraint(
        days, rule=lambda m, d: sum(m.start[days[days.index(d) - back]] for back in range(3)) >= need[d]
    )
    m.overtime = pyo.Block()
    m.overtime.hours = pyo.Var(bounds=(0, 10))
    m.overtime.cap = pyo.Constraint(expr=m.overtime.hours >= 20)
    m.pay = pyo.Objective(expr=sum((100 + 10 * k) * m.start[d] for k, d in enumerate(days)))
    m.start["mon"].fix(2)
    m.start["fri"].fix(7, skip_validation=True)
    m.cover["thu"].deactivate()
    m.overtime.deactivate()
    return m


def staffing_answer() -> float:
    """Only wed + tue + 2 >= 6 is left to be paid for: the 2 of monday and the 7 of friday cover the other days."""
    return 200 + 980 + least([110, 120, 130], at_least=[([1, 1, 0], 4)], bounds=(0, 6))


def repriced() -> Any:
    """Params in bounds, rows and objective, all given new values after the model was built."""
    m = pyo.ConcreteModel("repriced")
    m.goods = pyo.Set(initialize=["desk", "chair"])
    m.price = pyo.Param(m.goods, initialize={"desk": 1, "chair": 1}, mutable=True)
    m.most = pyo.Param(initialize=1, mutable=True, within=pyo.NonNegativeReals)
    m.wood = pyo.Param(m.goods, initialize={"desk": 8, "chair": 3}, mutable=True)
    m.make = pyo.Var(m.goods, bounds=lambda m, g: (0, m.most))
    m.timber = pyo.Constraint(expr=sum(m.wood[g] * m.make[g] for g in m.goods) <= 2 * m.most)
    m.income = pyo.Objective(expr=pyo.sum_product(m.price, m.make), sense=pyo.maximize)
    m.price["desk"], m.price["chair"] = 50, 20
    m.most = 12
    m.wood["chair"].value = 2
    return m


def repriced_answer() -> float:
    return -least([-50, -20], at_most=[([8, 2], 24)], bounds=(0, 12))


PRICES = {"wheat": (150, 170, 238, 200), "corn": (230, 150, 210, 240), "beets": (260, 36, None, 0)}
"""Planting an acre, selling, buying a ton, tons needed on the farm."""
YIELDS = {"below": (2, 2.4, 16), "average": (2.5, 3, 20), "above": (3, 3.6, 24)}


def farmer() -> Any:
    """Birge and Louveaux's farmer: two stages, one block a scenario, a block in each for the market."""
    m = pyo.ConcreteModel("farmer")
    m.crops = pyo.Set(initialize=list(PRICES))
    m.acres = pyo.Var(m.crops, domain=pyo.NonNegativeReals)
    m.land = pyo.Constraint(expr=pyo.summation(m.acres) <= 500)

    def scenario(b, s):
        tons = dict(zip(PRICES, YIELDS[s], strict=True))
        b.market = pyo.Block()
        b.market.sold = pyo.Var(PRICES.keys(), domain=pyo.NonNegativeReals)
        b.market.bought = pyo.Var(["wheat", "corn"], domain=pyo.NonNegativeReals)
        b.market.cheap = pyo.Var(domain=pyo.NonNegativeReals)
        b.market.quota = pyo.Constraint(expr=b.market.sold["beets"] <= 6000)

        @b.Constraint(PRICES.keys())
        def tonnage(b, c):
            bought = b.market.bought[c] if c != "beets" else 0
            cheap = b.market.cheap if c == "beets" else 0
            return tons[c] * b.model().acres[c] + bought - b.market.sold[c] - cheap >= PRICES[c][3]

        b.income = pyo.Expression(
            expr=sum(PRICES[c][1] * b.market.sold[c] for c in PRICES)
            + 10 * b.market.cheap
            - sum(PRICES[c][2] * b.market.bought[c] for c in ("wheat", "corn"))
        )

    m.scenario = pyo.Block(YIELDS.keys(), rule=scenario)
    m.planting = pyo.Expression(expr=sum(PRICES[c][0] * m.acres[c] for c in m.crops))
    m.profit = pyo.Objective(
        expr=sum(m.scenario[s].income for s in YIELDS) / 3 - m.planting,
        sense=pyo.maximize,
    )
    return m


def farmer_answer() -> float:
    """108390, as in the book's table of the optimal solution."""
    return 108390.0


def plants() -> Any:
    """References to variables across blocks, and rows over them."""
    m = pyo.ConcreteModel("plants")
    m.sites = pyo.Set(initialize=["oslo", "bern"])
    m.goods = pyo.Set(initialize=["nut", "bolt"])

    @m.Block(m.sites)
    def site(b, s):
        b.make = pyo.Var(m.goods, domain=pyo.NonNegativeReals)
        b.hours = pyo.Constraint(expr=2 * b.make["nut"] + b.make["bolt"] <= (14 if s == "oslo" else 8))

    m.make = pyo.Reference(m.site[:].make[:])
    m.nuts = pyo.Reference(m.site[:].make["nut"])
    m.sale = pyo.Constraint(expr=sum(m.nuts.values()) <= 6)
    m.ship = pyo.Constraint(m.sites, rule=lambda m, s: sum(m.make[s, g] for g in m.goods) <= 9)
    m.gain = pyo.Objective(expr=sum((5 if g == "nut" else 2) * m.make[s, g] for s, g in m.make), sense=pyo.maximize)
    return m


def plants_answer() -> float:
    return -least(
        [-5, -2, -5, -2],
        at_most=[
            ([2, 1, 0, 0], 14),
            ([0, 0, 2, 1], 8),
            ([1, 0, 1, 0], 6),
            ([1, 1, 0, 0], 9),
            ([0, 0, 1, 1], 9),
        ],
    )


USES = np.array([[0.2, 0.3, 0.1], [0.1, 0.1, 0.4], [0.3, 0.2, 0.2]])
WANTED = np.array([30.0, 50.0, 20.0])


def leontief() -> Any:
    """An economy of equations with one solution; an LP in form only."""
    m = pyo.ConcreteModel("leontief")
    m.I = pyo.RangeSet(0, 2)
    m.A = pyo.Param(m.I, m.I, initialize=lambda m, i, j: float(USES[i, j]))
    m.d = pyo.Param(m.I, initialize=lambda m, i: float(WANTED[i]))
    m.x = pyo.Var(m.I)
    m.balance = pyo.Constraint(m.I, rule=lambda m, i: m.x[i] == m.d[i] + sum(m.A[i, j] * m.x[j] for j in m.I))
    m.output = pyo.Objective(rule=lambda m: sum(m.x[i] for i in m.I))
    return m


def leontief_answer() -> float:
    return float(np.linalg.solve(np.eye(3) - USES, WANTED).sum())


STREETS = {("home", "a"): 4, ("home", "b"): 2, ("b", "a"): 1, ("a", "work"): 5, ("b", "work"): 8}


def potentials() -> Any:
    """The shortest way as a maximisation over free node potentials, one of them fixed at 0."""
    m = pyo.ConcreteModel("potentials")
    m.pi = pyo.Var(pyo.Any, dense=False)
    for street in STREETS:
        for node in street:
            m.pi[node].value = 0
    m.pi["home"].fix(0)
    m.length = pyo.Constraint(pyo.Any)
    for (i, j), metres in STREETS.items():
        m.length[i, j] = m.pi[j] - m.pi[i] <= metres
    m.distance = pyo.Objective(expr=m.pi["work"], sense=pyo.maximize)
    return m


def potentials_answer() -> float:
    graph = nx.DiGraph()
    graph.add_weighted_edges_from((*street, metres) for street, metres in STREETS.items())
    return float(nx.shortest_path_length(graph, "home", "work", weight="weight"))


def contracts() -> Any:
    """Several objectives, of which one is active; an indexed one among them, and named expressions of expressions."""
    m = pyo.ConcreteModel("contracts")
    m.hours = pyo.Var([1, 2, 3], bounds=(1, 8), initialize=4)
    m.base = pyo.Expression([1, 2, 3], rule=lambda m, k: (10 + k) * m.hours[k])
    m.bill = pyo.Expression(expr=sum(m.base[k] for k in (1, 2, 3)) + 30)
    m.tax = pyo.Expression(expr=0.25 * (m.bill - 50))
    m.day = pyo.Constraint(expr=m.hours[1] + m.hours[2] + m.hours[3] == 12)
    m.tired = pyo.Constraint(expr=m.hours[3] - m.hours[1] <= 2)
    m.rest = pyo.Objective(expr=m.hours[1])
    m.each = pyo.Objective([1, 2], rule=lambda m, k: m.hours[k])
    m.net = pyo.Objective(expr=m.bill - m.tax, sense=pyo.maximize)
    m.rest.deactivate()
    m.each.deactivate()
    return m


def contracts_answer() -> float:
    """0.75 (bill) + 12.5; hours 1 and 3 differ by 2 at most: 4.5, 1, 6.5 make 49.5 + 12 + 84.5 = 146."""
    return 0.75 * (146 + 30) + 12.5


def infinite() -> Any:
    """Bounds and sides that are meant to be none: infinities of Python, and a number that is large enough."""
    m = pyo.ConcreteModel("infinite")
    none = float("inf")
    bounds = {"a": (0, none), "b": (-none, 4), "c": (-1e9, 1e9)}
    m.x = pyo.Var(["a", "b", "c"], bounds=lambda m, k: bounds[k])
    m.x["b"].setlb(None)
    m.one = pyo.Constraint(expr=pyo.inequality(-none, m.x["a"] + m.x["b"], 9))
    m.two = pyo.Constraint(expr=m.x["c"] - m.x["a"] <= 1)
    m.three = pyo.Constraint(expr=m.x["b"] >= 3)
    m.total = pyo.Objective(expr=m.x["a"] + m.x["b"] + m.x["c"], sense=pyo.maximize)
    return m


def infinite_answer() -> float:
    """The least b makes room for a, which lets c grow: 6 + 3 + 7."""
    return 6 + 3 + 7


def switched() -> Any:
    """Switches that are Params: a 0 empties a row, another one a coefficient."""
    m = pyo.ConcreteModel("switched")
    m.on = pyo.Param(["tax", "cap"], initialize={"tax": 1, "cap": 1}, mutable=True)
    m.x = pyo.Var(domain=pyo.NonNegativeReals)
    m.y = pyo.Var(domain=pyo.NonNegativeReals)
    m.limit = pyo.Constraint(expr=m.x + 2 * m.y <= 10)
    m.cap = pyo.Constraint(expr=m.on["cap"] * m.x <= 3)
    m.both = pyo.Constraint(expr=m.on["tax"] * m.y + m.x <= 8)
    m.gain = pyo.Objective(expr=2 * m.x + 3 * m.y - 4 * m.on["tax"], sense=pyo.maximize)
    m.on["tax"] = m.on["cap"] = 0
    return m


def switched_answer() -> float:
    return -least([-2, -3], at_most=[([1, 2], 10), ([1, 0], 8)])


def last_year() -> Any:
    """Integers that are all fixed at last year's numbers, which leaves a linear program."""
    m = pyo.ConcreteModel("last year")
    m.machines = pyo.Var(["saw", "lathe"], domain=pyo.NonNegativeIntegers, bounds=(0, 5))
    m.hours = pyo.Var(["saw", "lathe"], bounds=(0, 40))
    m.open = pyo.Var(domain=pyo.Binary)
    m.open.fix(True)
    m.machines["saw"].fix(3)
    m.machines["lathe"].fix(2)
    m.work = pyo.Constraint(expr=3 * m.hours["saw"] + 2 * m.hours["lathe"] <= 150 * m.open)
    m.floor = pyo.Constraint(expr=m.machines["saw"] + m.machines["lathe"] <= 5 * m.open)
    m.crew = pyo.Constraint(expr=m.hours["saw"] + m.hours["lathe"] <= 60)
    m.made = pyo.Objective(
        expr=12 * m.hours["saw"] + 10 * m.hours["lathe"] - 7 * m.machines["saw"] + m.open,
        sense=pyo.maximize,
    )
    return m


def last_year_answer() -> float:
    return 1 - 7 * 3 - least([-12, -10], at_most=[([3, 2], 150), ([1, 1], 60)], bounds=(0, 40))


def slices() -> Any:
    """Sets of pairs and subsets of them, slices, and components that are added by name."""
    m = pyo.ConcreteModel("slices")
    m.add_component("plants", pyo.Set(initialize=["p", "q"]))
    m.add_component("weeks", pyo.RangeSet(3))
    m.routes = pyo.Set(initialize=m.plants * m.weeks, filter=lambda m, p, w: (p, w) != ("q", 2))
    m.add_component("made", pyo.Var(m.routes, within=pyo.NonNegativeReals))
    m.early = pyo.Set(within=m.routes, initialize=[r for r in m.routes if r[1] < 3])
    m.each = pyo.Constraint(m.weeks, rule=lambda m, w: sum(m.made[:, w]) >= 2 * w)
    m.from_plant = pyo.Set(m.plants, initialize=lambda m, p: [route for route in m.routes if route[0] == p])
    m.plant = pyo.Constraint(m.plants, rule=lambda m, p: pyo.summation(m.made, index=m.from_plant[p]) <= 7)
    m.add_component("first", pyo.Constraint(expr=sum(m.made[r] for r in m.early) == 7))
    m.cost = pyo.Objective(expr=sum((2 if p == "p" else 3) * w * m.made[p, w] for p, w in m.routes))
    return m


def slices_answer() -> float:
    """Columns p1, p2, p3, q1, q3."""
    return least(
        [2, 4, 6, 3, 9],
        at_least=[([1, 0, 0, 1, 0], 2), ([0, 1, 0, 0, 0], 4), ([0, 0, 1, 0, 1], 6)],
        at_most=[([1, 1, 1, 0, 0], 7), ([0, 0, 0, 1, 1], 7)],
        equal=[([1, 1, 0, 1, 0], 7)],
    )


MODELS = (
    Stranger(transport, 1020, answer=transport_answer),
    Stranger(diet, 33017 / 680, answer=diet_answer),
    Stranger(blending, 39200, answer=blending_answer),
    Stranger(pipes, 14, answer=pipes_answer),
    Stranger(roads, 150, answer=roads_answer),
    Stranger(periods, 4835, answer=periods_answer),
    Stranger(refinery, 247.5, answer=refinery_answer),
    Stranger(treasury, 21.85, answer=treasury_answer),
    Stranger(line_fit, 4.46, answer=line_fit_answer),
    Stranger(game, 1, answer=game_answer),
    Stranger(goals, 18, answer=goals_answer),
    Stranger(polygon, 30, answer=polygon_answer),
    Stranger(staffing, 1620, answer=staffing_answer),
    Stranger(repriced, 240, answer=repriced_answer),
    Stranger(farmer, 108390, answer=farmer_answer),
    Stranger(plants, 50, answer=plants_answer),
    Stranger(leontief, 114500 / 423, answer=leontief_answer),
    Stranger(potentials, 8, answer=potentials_answer),
    Stranger(contracts, 144.5, answer=contracts_answer),
    Stranger(infinite, 16, answer=infinite_answer),
    Stranger(switched, 19, answer=switched_answer),
    Stranger(last_year, 640, answer=last_year_answer),
    Stranger(slices, 70, answer=slices_answer),
)
