"""Models that are more than rows and integers: either-or, ratios, squares, ordered sets, and Pyomo's extensions.

Most are refused as they stand. Where Pyomo has a transformation that helps, the model it makes stands behind.
"""

from __future__ import annotations

from itertools import combinations, permutations, product
from math import inf
from typing import Any

import numpy as np
import pyomo.environ as pyo
from pyomo.contrib.piecewise import PiecewiseLinearFunction
from pyomo.core.base.range import NumericRange
from pyomo.dae import ContinuousSet, DerivativeVar
from pyomo.gdp import Disjunct, Disjunction
from pyomo.mpec import Complementarity, complements
from pyomo.network import Arc, Port

from dlsched.relaxations.conformance import Trait

from .stranger import INTEGER, Stranger

TASKS = {("a", 1): 3, ("a", 2): 2, ("b", 1): 2, ("b", 2): 4, ("c", 1): 4, ("c", 2): 1}
"""Hours of a job on a machine; each job goes first over machine 1."""


def job_shop() -> Any:
    """Either one job first or the other, as Disjunctions."""
    m = pyo.ConcreteModel("job shop")
    m.jobs = pyo.Set(initialize=["a", "b", "c"])
    m.start = pyo.Var(m.jobs, [1, 2], bounds=(0, 20))
    m.makespan = pyo.Var(bounds=(0, 30))
    m.next = pyo.Constraint(m.jobs, rule=lambda m, j: m.start[j, 2] >= m.start[j, 1] + TASKS[j, 1])
    m.last = pyo.Constraint(m.jobs, rule=lambda m, j: m.makespan >= m.start[j, 2] + TASKS[j, 2])
    m.pairs = pyo.Set(initialize=m.jobs * m.jobs, filter=lambda m, i, j: i < j)

    @m.Disjunction(m.pairs, [1, 2])
    def machine(m, i, j, k):
        return [
            [m.start[i, k] + TASKS[i, k] <= m.start[j, k]],
            [m.start[j, k] + TASKS[j, k] <= m.start[i, k]],
        ]

    m.end = pyo.Objective(expr=m.makespan)
    return m


def job_shop_big_m() -> Any:
    return pyo.TransformationFactory("gdp.bigm").create_using(job_shop())


def job_shop_hull() -> Any:
    return pyo.TransformationFactory("gdp.hull").create_using(job_shop())


def job_shop_answer() -> float:
    def makespan(first: tuple[str, ...], second: tuple[str, ...]) -> float:
        done, time = {}, 0
        for job in first:
            done[job] = time = time + TASKS[job, 1]
        time = 0
        for job in second:
            time = max(time, done[job]) + TASKS[job, 2]
        return time

    return min(makespan(*orders) for orders in product(permutations("abc"), repeat=2))


def reactors() -> Any:
    """Disjuncts with variables of their own, one within another, and logic over their indicators."""
    m = pyo.ConcreteModel("reactors")
    m.feed = pyo.Var(bounds=(0, 10))
    m.cost = pyo.Var(bounds=(0, 100))
    m.yields = pyo.Var(bounds=(0, 10))
    m.small, m.large, m.cooled, m.plain = Disjunct(), Disjunct(), Disjunct(), Disjunct()
    m.small.load = pyo.Constraint(expr=m.feed <= 4)
    m.small.make = pyo.Constraint(expr=m.yields == 0.9 * m.feed)
    m.small.price = pyo.Constraint(expr=m.cost == 5 + m.feed)
    m.large.load = pyo.Constraint(expr=m.feed >= 3)
    m.large.make = pyo.Constraint(expr=m.yields == 0.8 * m.feed)
    m.cooled.price = pyo.Constraint(expr=m.cost >= 12 + 0.5 * m.feed)
    m.plain.price = pyo.Constraint(expr=m.cost >= 8 + m.feed)
    m.plain.hot = pyo.Constraint(expr=m.feed <= 6)
    m.size = Disjunction(expr=[m.small, m.large])
    m.cooling = Disjunction(expr=[m.cooled, m.plain])
    m.permit = pyo.BooleanVar()
    m.law = pyo.LogicalConstraint(expr=m.permit.implies(m.cooled.indicator_var))
    m.ask = pyo.LogicalConstraint(expr=m.large.indicator_var.implies(m.permit))
    m.gain = pyo.Objective(expr=4 * m.yields - m.cost, sense=pyo.maximize)
    return m


def reactors_big_m() -> Any:
    """Its logic becomes linear in the same step."""
    return pyo.TransformationFactory("gdp.bigm").create_using(reactors())


def reactors_answer() -> float:
    """By hand: small fixes the cost at 5 + feed, and either way of cooling needs more; large needs cooling.

    Ten of feed then give 8 and cost 12 + 5.
    """
    return 4 * 0.8 * 10 - 12 - 5


CLINICS = {"ours": ((5, 14), (9, 4)), "hill": ((8, 15), (5, 7)), "lake": ((7, 12), (4, 9))}
"""Staff and rooms; patients and students."""


def efficiency() -> Any:
    """Data envelopment: the ratio of weighted outputs to weighted inputs that shows a clinic at its best."""
    m = pyo.ConcreteModel("efficiency")
    m.weight = pyo.Var(["patients", "students"], bounds=(0.01, 1))
    m.price = pyo.Var(["staff", "rooms"], bounds=(0.01, 1))

    def made(clinic):
        return sum(w * v for w, v in zip(m.weight.values(), CLINICS[clinic][1], strict=True))

    def used(clinic):
        return sum(p * v for p, v in zip(m.price.values(), CLINICS[clinic][0], strict=True))

    m.others = pyo.Constraint(["hill", "lake"], rule=lambda m, c: made(c) <= 0.7 * used(c))
    m.score = pyo.Objective(expr=made("ours") / used("ours"), sense=pyo.maximize)
    return m


def efficiency_answer() -> float:
    """Numerator and denominator are linear, so the best ratio is at a corner; all corners of the box and its cuts."""
    rows, sides = [], []
    for j in range(4):
        unit = np.eye(4)[j]
        rows += [unit, -unit]
        sides += [1.0, -0.01]
    for clinic in ("hill", "lake"):
        inputs, outputs = CLINICS[clinic]
        rows.append(np.array([*outputs, *(-0.7 * v for v in inputs)]))
        sides.append(0.0)
    A, b = np.array(rows), np.array(sides)
    best = -inf
    for chosen in combinations(range(len(b)), 4):
        if abs(np.linalg.det(A[list(chosen)])) > 1e-12:
            x = np.linalg.solve(A[list(chosen)], b[list(chosen)])
            if (A @ x <= b + 1e-9).all():
                best = max(best, (9 * x[0] + 4 * x[1]) / (5 * x[2] + 14 * x[3]))
    return best


def wages() -> Any:
    """The least sum of two ratios, each with a denominator of its own."""
    m = pyo.ConcreteModel("wages")
    m.x, m.y = pyo.Var(bounds=(1, 6)), pyo.Var(bounds=(1, 6))
    m.hours = pyo.Constraint(expr=m.x + m.y == 7)
    m.cost = pyo.Objective(expr=(m.x + 3) / m.y + (2 * m.y + 1) / m.x)
    return m


def wages_answer() -> float:
    """One variable is left; looked at at every 1/20000 of it."""
    x = np.linspace(1, 6, 100_001)
    return float(((x + 3) / (7 - x) + (2 * (7 - x) + 1) / x).min())


RETURNS = np.array([0.10, 0.20, 0.15, 0.05])
RISKS = np.array([[0.08, -0.05, -0.05, 0], [-0.05, 0.16, -0.02, 0], [-0.05, -0.02, 0.35, 0], [0, 0, 0, 0.01]])


def portfolio() -> Any:
    """The least variance at a wanted return: a convex quadratic objective."""
    m = pyo.ConcreteModel("portfolio")
    m.i = pyo.RangeSet(0, 3)
    m.share = pyo.Var(m.i, within=pyo.NonNegativeReals)
    m.all = pyo.Constraint(expr=pyo.summation(m.share) == 1)
    m.earn = pyo.Constraint(expr=sum(float(RETURNS[i]) * m.share[i] for i in m.i) >= 0.12)
    m.variance = pyo.Objective(expr=sum(float(RISKS[i, j]) * m.share[i] * m.share[j] for i in m.i for j in m.i))
    return m


def portfolio_answer(wanted: float = 0.12) -> float:
    """The conditions of optimality on each set of assets that are held, with the return wanted or exceeded."""
    best = inf
    for held in product((False, True), repeat=4):
        some = np.flatnonzero(held)
        for rows in ([np.ones(4)], [np.ones(4), RETURNS]):
            A = np.array(rows)[:, some]
            system = np.block([[2 * RISKS[np.ix_(some, some)], A.T], [A, np.zeros((len(rows), len(rows)))]])
            right = np.concatenate([np.zeros(len(some)), [1, wanted][: len(rows)]])
            if len(some) and abs(np.linalg.det(system)) > 1e-15:
                x = np.zeros(4)
                x[some] = np.linalg.solve(system, right)[: len(some)]
                if (x >= -1e-12).all() and RETURNS @ x >= wanted - 1e-12:
                    best = min(best, float(x @ RISKS @ x))
    return best


def disc() -> Any:
    """A quadratic row: the point of a disc farthest to the upper right."""
    m = pyo.ConcreteModel("disc")
    m.x, m.y = pyo.Var(), pyo.Var(bounds=(None, 4))
    m.disc = pyo.Constraint(expr=(m.x - 1) ** 2 + m.y**2 + m.x * m.y <= 9)
    m.out = pyo.Objective(expr=m.x + m.y + 5, sense=pyo.maximize)
    return m


def disc_answer(room: float = 9) -> float:
    """With s = x + y the row is s^2 - s x - 2 x + x^2 <= room - 1; least at x = (s + 2)/2: 3 s^2 - 4 s <= 4 room."""
    return 5 + (4 + np.sqrt(16 + 48 * room)) / 6


def utility() -> Any:
    """Logarithms, which no linear row can say."""
    m = pyo.ConcreteModel("utility")
    m.rate = pyo.Var(["up", "down"], bounds=(0.1, 10))
    m.cable = pyo.Constraint(expr=m.rate["up"] + 2 * m.rate["down"] <= 6)
    m.fair = pyo.Objective(expr=sum(pyo.log(m.rate[k]) for k in m.rate), sense=pyo.maximize)
    return m


def utility_answer() -> float:
    """Both get half of the cable: 3 and 1.5."""
    return float(np.log(3) + np.log(1.5))


def one_site() -> Any:
    """At most one of three, as a special ordered set."""
    m = pyo.ConcreteModel("one site")
    m.x = pyo.Var([1, 2, 3], bounds=(0, 4))
    m.row = pyo.Constraint(expr=m.x[1] + m.x[2] + 2 * m.x[3] <= 7)
    m.one = pyo.SOSConstraint(var=m.x, sos=1)
    m.gain = pyo.Objective(expr=3 * m.x[1] + 4 * m.x[2] + 5 * m.x[3], sense=pyo.maximize)
    return m


def one_site_answer() -> float:
    return max(3 * 4, 4 * 4, 5 * 7 / 2)


TARIFF = [(0, 0), (10, 30), (30, 70), (50, 90)]


def tariff() -> Any:
    """Pyomo's Piecewise as it comes, which makes a special ordered set."""
    m = pyo.ConcreteModel("tariff")
    m.water = pyo.Var(bounds=(0, 50))
    m.bill = pyo.Var()
    m.steps = pyo.Piecewise(
        m.bill, m.water, pw_pts=[x for x, _ in TARIFF], f_rule=[y for _, y in TARIFF], pw_constr_type="EQ"
    )
    m.need = pyo.Constraint(expr=m.water >= 22)
    m.cost = pyo.Objective(expr=m.bill)
    return m


def tariff_answer() -> float:
    return float(np.interp(22, *np.array(TARIFF, float).T))


def curve() -> Any:
    """The function of pyomo.contrib.piecewise, in the objective."""
    m = pyo.ConcreteModel("curve")
    m.x = pyo.Var(bounds=(0, 50))
    m.f = PiecewiseLinearFunction(tabular_data=dict(TARIFF))
    m.need = pyo.Constraint(expr=m.x >= 22)
    m.cost = pyo.Objective(expr=m.f(m.x))
    return m


def curve_disaggregated() -> Any:
    m = curve()
    pyo.TransformationFactory("contrib.piecewise.disaggregated_logarithmic").apply_to(m)
    return m


def pipeline() -> Any:
    """Units with ports, joined by arcs."""
    m = pyo.ConcreteModel("pipeline")
    m.well, m.plant = pyo.Block(), pyo.Block()
    m.well.flow = pyo.Var(bounds=(0, 9))
    m.plant.feed = pyo.Var(domain=pyo.NonNegativeReals)
    m.plant.room = pyo.Constraint(expr=m.plant.feed <= 7)
    m.well.outlet, m.plant.inlet = Port(), Port()
    m.well.outlet.add(m.well.flow, "flow")
    m.plant.inlet.add(m.plant.feed, "flow")
    m.pipe = Arc(source=m.well.outlet, destination=m.plant.inlet)
    m.gas = pyo.Objective(expr=2 * m.well.flow + m.plant.feed, sense=pyo.maximize)
    return m


def pipeline_expanded() -> Any:
    m = pipeline()
    pyo.TransformationFactory("network.expand_arcs").apply_to(m)
    return m


def pipeline_answer() -> float:
    return 3 * 7


def tank() -> Any:
    """A differential equation: a tank that is filled as cheaply as may be."""
    m = pyo.ConcreteModel("tank")
    m.t = ContinuousSet(bounds=(0, 4))
    m.level = pyo.Var(m.t, bounds=(0, 10))
    m.pump = pyo.Var(m.t, bounds=(0, 3))
    m.change = DerivativeVar(m.level, wrt=m.t)
    m.ode = pyo.Constraint(m.t, rule=lambda m, t: m.change[t] == m.pump[t] - 1)
    m.begin = pyo.Constraint(expr=m.level[0] == 1)
    m.end = pyo.Constraint(expr=m.level[4] >= 5)
    m.most = pyo.Var(bounds=(0, None))
    m.peak = pyo.Constraint(m.t, rule=lambda m, t: m.most >= m.pump[t])
    m.size = pyo.Objective(expr=m.most)
    return m


def tank_discretised() -> Any:
    m = tank()
    pyo.TransformationFactory("dae.finite_difference").apply_to(m, nfe=4, scheme="BACKWARD")
    return m


def tank_answer() -> float:
    """In 4 hours the level must rise by 4 while 4 run out."""
    return 8 / 4


def market() -> Any:
    """Either nothing is left, or the price is 0."""
    m = pyo.ConcreteModel("market")
    m.price, m.left = pyo.Var(bounds=(0, 5)), pyo.Var(bounds=(0, 8))
    m.supply = pyo.Constraint(expr=m.left + 2 * m.price == 8)
    m.clearing = Complementarity(expr=complements(m.price >= 0, m.left >= 0))
    m.revenue = pyo.Objective(expr=3 * m.price + m.left, sense=pyo.maximize)
    return m


def market_disjunctive() -> Any:
    m = market()
    pyo.TransformationFactory("mpec.simple_disjunction").apply_to(m)
    pyo.TransformationFactory("gdp.bigm").apply_to(m)
    return m


def market_answer() -> float:
    return max(3 * 4, 8)


def batches() -> Any:
    """A batch of 2 to 5 tons or none, as a domain with a gap."""
    m = pyo.ConcreteModel("batches")
    m.tons = pyo.Var([1, 2], domain=pyo.RangeSet(ranges=(NumericRange(0, 0, 0), NumericRange(2, 5, 0))))
    m.need = pyo.Constraint(expr=m.tons[1] + m.tons[2] >= 6)
    m.cost = pyo.Objective(expr=2 * m.tons[1] + 3 * m.tons[2])
    return m


def batches_answer() -> float:
    return min(2 * 4 + 3 * 2, 2 * 2 + 3 * 4, 2 * 5 + 3 * 2)


def latin() -> Any:
    """A puzzle: any point will do, so there is no objective."""
    m = pyo.ConcreteModel("latin")
    k = range(3)
    m.x = pyo.Var(k, k, k, domain=pyo.Binary)
    m.cell = pyo.Constraint(k, k, rule=lambda m, i, j: sum(m.x[i, j, :]) == 1)
    m.row = pyo.Constraint(k, k, rule=lambda m, i, v: sum(m.x[i, :, v]) == 1)
    m.column = pyo.Constraint(k, k, rule=lambda m, j, v: sum(m.x[:, j, v]) == 1)
    m.x[0, 0, 1].fix(1)
    return m


def latin_with_objective() -> Any:
    m = latin()
    m.o = pyo.Objective(expr=0)
    return m


NONE = frozenset(Trait)
"""What no transformation takes."""
FRACTIONAL = frozenset({Trait.FRACTIONAL})
GAPS = frozenset({Trait.GAPS})
NONLINEAR = frozenset({Trait.NONLINEAR})
LINEAR_TERMS = "Write it with linear terms first"
RELAX = "apply relax first"

MODELS = (
    Stranger(job_shop, 10, None, NONE, "machine[", answer=job_shop_answer, remedy="gdp.bigm"),
    Stranger(job_shop_big_m, 10, 6, INTEGER, "binary_indicator_var", answer=job_shop_answer, remedy=RELAX),
    Stranger(job_shop_hull, 10, 47 / 7, INTEGER, "binary_indicator_var", answer=job_shop_answer, remedy=RELAX),
    Stranger(reactors, 15, None, NONE, "'size'", answer=reactors_answer, remedy="gdp.bigm"),
    Stranger(reactors_big_m, 15, 12486 / 365, INTEGER, "variable '", answer=reactors_answer, remedy=RELAX),
    Stranger(efficiency, 1.9768050294818227, None, FRACTIONAL, "score", answer=efficiency_answer, remedy=LINEAR_TERMS),
    Stranger(wages, 4.070699632547, None, NONLINEAR, "cost", answer=wages_answer),
    Stranger(portfolio, 0.012207582763, None, NONLINEAR, "variance", answer=portfolio_answer),
    Stranger(disc, 9.194335081419, None, NONLINEAR, "disc", answer=disc_answer, remedy=LINEAR_TERMS),
    Stranger(utility, 1.504077396776, None, NONLINEAR, "fair", answer=utility_answer),
    Stranger(one_site, 17.5, None, NONE, "'one'", answer=one_site_answer, remedy="binaries"),
    Stranger(tariff, 54, None, NONE, "steps", answer=tariff_answer, remedy="pw_repn='INC'"),
    Stranger(curve, 54, None, NONE, "'f'", answer=tariff_answer, remedy="contrib.piecewise.disaggregated_logarithmic"),
    Stranger(curve_disaggregated, 54, 39.6, INTEGER, "binaries", answer=tariff_answer, remedy=RELAX),
    Stranger(pipeline, 21, None, NONE, "'pipe'", answer=pipeline_answer, remedy="network.expand_arcs"),
    Stranger(pipeline_expanded, 21, answer=pipeline_answer),
    Stranger(tank, 2, None, NONE, "'change[0]'", answer=tank_answer, remedy="pyomo.dae"),
    Stranger(tank_discretised, 2, answer=tank_answer),
    Stranger(market, 12, None, NONE, "'clearing'", answer=market_answer, remedy="mpec"),
    Stranger(market_disjunctive, 12, 12, INTEGER, "clearing", answer=market_answer, remedy=RELAX),
    Stranger(batches, 14, None, GAPS, "tons[1]", answer=batches_answer, remedy="binary"),
    Stranger(latin, None, None, frozenset({Trait.OBJECTIVES}), "latin", answer=lambda: 0.0, remedy="add one"),
    Stranger(latin_with_objective, 0, 0, INTEGER, "x[", answer=lambda: 0.0, remedy=RELAX),
)
