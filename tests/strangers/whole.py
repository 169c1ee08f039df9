"""Programs with integers."""

from __future__ import annotations

from functools import cache
from itertools import combinations, pairwise, permutations, product
from typing import Any

import pyomo.environ as pyo

from .stranger import INTEGER, Stranger

ITEMS = {"hammer": (8, 5), "wrench": (3, 7), "screwdriver": (6, 4), "towel": (11, 3)}
"""Benefit, weight."""


def knapsack() -> Any:
    model = pyo.ConcreteModel("knapsack")
    model.ITEMS = pyo.Set(initialize=ITEMS.keys())
    model.x = pyo.Var(model.ITEMS, within=pyo.Binary)
    model.value = pyo.Objective(expr=sum(ITEMS[i][0] * model.x[i] for i in model.ITEMS), sense=pyo.maximize)
    model.weight = pyo.Constraint(expr=sum(ITEMS[i][1] * model.x[i] for i in model.ITEMS) <= 14)
    return model


def knapsack_answer() -> float:
    bags = (bag for size in range(5) for bag in combinations(ITEMS.values(), size))
    return max(sum(value for value, _ in bag) for bag in bags if sum(weight for _, weight in bag) <= 14)


SKILL = [[9, 7, 6, 3], [8, 5, 7, 6], [4, 8, 5, 7], [6, 6, 4, 9]]


def assignment() -> Any:
    m = pyo.ConcreteModel("assignment")
    m.I = pyo.RangeSet(4)
    m.J = pyo.RangeSet(4)
    m.x = pyo.Var(m.I * m.J, domain=pyo.Boolean)
    m.job = pyo.Constraint(m.I, rule=lambda m, i: pyo.quicksum(m.x[i, j] for j in m.J) == 1)
    m.person = pyo.Constraint(m.J, rule=lambda m, j: pyo.quicksum(m.x[i, j] for i in m.I) == 1)
    m.skill = pyo.Objective(expr=sum(SKILL[i - 1][j - 1] * m.x[i, j] for i, j in m.x), sense=pyo.maximize)
    return m


def assignment_answer() -> float:
    return max(sum(SKILL[i][j] for i, j in enumerate(order)) for order in permutations(range(4)))


OPENING = {"lyon": 60, "nice": 45, "metz": 70}
SERVICE = {"lyon": (12, 20, 25, 9, 30), "nice": (25, 11, 18, 28, 14), "metz": (8, 26, 10, 16, 22)}


def facilities() -> Any:
    """One row with a big M for all customers of a site."""
    m = pyo.ConcreteModel("facilities")
    customers = range(5)
    m.y = pyo.Var(OPENING.keys(), domain=pyo.Binary)
    m.x = pyo.Var(OPENING.keys(), customers, bounds=(0, 1))
    m.served = pyo.Constraint(customers, rule=lambda m, k: sum(m.x[s, k] for s in OPENING) == 1)
    m.big_m = pyo.Constraint(OPENING.keys(), rule=lambda m, s: sum(m.x[s, k] for k in customers) <= 5 * m.y[s])
    m.cost = pyo.Objective(
        expr=sum(OPENING[s] * m.y[s] for s in OPENING) + sum(SERVICE[s][k] * m.x[s, k] for s, k in m.x)
    )
    return m


def facilities_answer() -> float:
    """Each customer goes to the nearest of the open sites."""
    sites = (some for size in (1, 2, 3) for some in combinations(OPENING, size))
    return min(
        sum(OPENING[s] for s in some) + sum(map(min, zip(*(SERVICE[s] for s in some), strict=True))) for some in sites
    )


NEED = [20, 50, 10, 50, 50]
SETUP, HOLD = 90, 1


def lots() -> Any:
    """Lot sizing; the set of periods has one before the first."""
    m = pyo.ConcreteModel("lots")
    m.T = pyo.RangeSet(1, 5)
    m.T0 = pyo.RangeSet(0, 5)
    m.d = pyo.Param(m.T, initialize=lambda m, t: NEED[t - 1])
    m.q = pyo.Var(m.T, within=pyo.NonNegativeReals)
    m.s = pyo.Var(m.T0, within=pyo.NonNegativeReals)
    m.z = pyo.Var(m.T, within=pyo.Binary)
    m.s[0].fix(0.0)
    m.flow = pyo.Constraint(m.T, rule=lambda m, t: m.s[t - 1] + m.q[t] == m.d[t] + m.s[t])
    m.setup = pyo.Constraint(m.T, rule=lambda m, t: m.q[t] <= sum(m.d[u] for u in m.T if u >= t) * m.z[t])
    m.cost = pyo.Objective(expr=sum(SETUP * m.z[t] + HOLD * m.s[t] for t in m.T))
    return m


def lots_answer() -> float:
    """Wagner and Whitin: each lot serves some periods in a row."""

    @cache
    def cheapest(first: int) -> float:
        if first == 5:
            return 0
        ends = range(first + 1, 6)
        return min(SETUP + sum(HOLD * (u - first) * NEED[u] for u in range(first, end)) + cheapest(end) for end in ends)

    return cheapest(0)


ROLL = 12
PIECES = {3: 7, 4: 5, 5: 6}
"""Length, how many."""


def patterns() -> list[tuple[int, ...]]:
    """The ways to cut one roll, some left over or not."""
    most = [range(ROLL // length + 1) for length in PIECES]
    return [way for way in product(*most) if 0 < sum(n * length for n, length in zip(way, PIECES, strict=True)) <= ROLL]


def cutting() -> Any:
    """Cutting stock over all patterns."""
    m = pyo.ConcreteModel("cutting")
    m.pattern = pyo.Param(
        range(len(patterns())),
        PIECES,
        initialize={(k, p): n for k, way in enumerate(patterns()) for p, n in zip(PIECES, way, strict=True)},
    )
    m.use = pyo.Var(range(len(patterns())), domain=pyo.NonNegativeIntegers)
    m.demand = pyo.Constraint(PIECES, rule=lambda m, p: sum(m.pattern[k, p] * m.use[k] for k in m.use) >= PIECES[p])
    m.rolls = pyo.Objective(expr=pyo.summation(m.use))
    return m


def cutting_answer() -> float:
    """Rolls are cut one by one, all that is left to be cut kept in mind."""
    left, rolls = {tuple(PIECES.values())}, 0
    while tuple([0] * len(PIECES)) not in left:
        left = {tuple(max(0, a - b) for a, b in zip(state, way, strict=True)) for state in left for way in patterns()}
        rolls += 1
    return rolls


SIZES = [6, 5, 5, 4, 3, 3]


def bins() -> Any:
    """Bin packing, the bins in order."""
    m = pyo.ConcreteModel("bins")
    m.i, m.b = pyo.Set(initialize=range(6)), pyo.Set(initialize=range(4))
    m.put = pyo.Var(m.i, m.b, domain=pyo.Binary)
    m.used = pyo.Var(m.b, domain=pyo.Binary)
    m.once = pyo.Constraint(m.i, rule=lambda m, i: sum(m.put[i, :]) == 1)
    m.room = pyo.Constraint(m.b, rule=lambda m, b: sum(SIZES[i] * m.put[i, b] for i in m.i) <= 9 * m.used[b])
    m.order = pyo.Constraint(m.b, rule=lambda m, b: m.used[b] <= m.used[b - 1] if b else pyo.Constraint.Skip)
    m.count = pyo.Objective(expr=sum(m.used[:]))
    return m


def bins_answer() -> float:
    def fits(where: tuple[int, ...]) -> bool:
        return all(sum(s for s, b in zip(SIZES, where, strict=True) if b == bin_) <= 9 for bin_ in range(4))

    return min(len(set(where)) for where in product(range(4), repeat=6) if fits(where))


MILES = [[0, 7, 4, 9, 6], [5, 0, 8, 3, 7], [6, 9, 0, 5, 4], [8, 2, 6, 0, 9], [3, 8, 5, 7, 0]]


def tour() -> Any:
    """The travelling salesman with the rows of Miller, Tucker and Zemlin, over a filtered set of pairs."""
    m = pyo.ConcreteModel("tour")
    m.N = pyo.RangeSet(0, 4)
    m.A = pyo.Set(initialize=m.N * m.N, filter=lambda m, i, j: i != j)
    m.x = pyo.Var(m.A, within=pyo.Binary)
    m.u = pyo.Var(m.N, within=pyo.NonNegativeIntegers, bounds=(0, 4))
    m.u[0].fix(0)
    m.out = pyo.Constraint(m.N, rule=lambda m, i: sum(m.x[i, j] for j in m.N if j != i) == 1)
    m.into = pyo.Constraint(m.N, rule=lambda m, j: sum(m.x[i, j] for i in m.N if j != i) == 1)

    def mtz(m, i, j):
        if 0 in (i, j):
            return pyo.Constraint.Skip
        return m.u[i] - m.u[j] + 5 * m.x[i, j] <= 4

    m.mtz = pyo.Constraint(m.A, rule=mtz)
    m.length = pyo.Objective(rule=lambda m: sum(MILES[i][j] * m.x[i, j] for (i, j) in m.A))
    return m


def tour_answer() -> float:
    return min(sum(MILES[i][j] for i, j in pairwise((0, *order, 0))) for order in permutations(range(1, 5)))


DISTRICTS = {"A": {1, 2, 3}, "B": {2, 4}, "C": {3, 4, 5}, "D": {5, 6}, "E": {1, 6}}
WAGES = {"A": 5, "B": 3, "C": 4, "D": 3, "E": 2}


def cover() -> Any:
    """Set cover, the rows written from an indexed Set."""
    m = pyo.ConcreteModel("cover")
    m.stations = pyo.Set(initialize=WAGES.keys())
    m.towns = pyo.Set(initialize=range(1, 7))
    m.near = pyo.Set(m.towns, within=m.stations, initialize=lambda m, t: [s for s in DISTRICTS if t in DISTRICTS[s]])
    m.open = pyo.Var(m.stations, domain=pyo.Binary)

    @m.Constraint(m.towns)
    def covered(m, t):
        return pyo.quicksum(m.open[s] for s in m.near[t]) >= 1

    m.pay = pyo.Objective(expr=pyo.dot_product(WAGES, m.open, index=m.stations))
    return m


def cover_answer() -> float:
    some = (pick for size in range(1, 6) for pick in combinations(DISTRICTS, size))
    return min(
        sum(WAGES[s] for s in pick) for pick in some if set.union(*(DISTRICTS[s] for s in pick)) == set(range(1, 7))
    )


EDGES = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0), (1, 3), (0, 5), (2, 5)]


def colours() -> Any:
    """Graph colouring: two kinds of binaries, and a range of nodes and colours as plain Python."""
    m = pyo.ConcreteModel("colours")
    m.node = pyo.Var(range(6), range(4), domain=pyo.Binary)
    m.colour = pyo.Var(range(4), domain=pyo.Binary)
    m.one = pyo.Constraint(range(6), rule=lambda m, v: sum(m.node[v, c] for c in range(4)) == 1)
    m.edge = pyo.Constraint(EDGES, range(4), rule=lambda m, u, v, c: m.node[u, c] + m.node[v, c] <= m.colour[c])
    m.number = pyo.Objective(expr=sum(m.colour[c] for c in range(4)))
    return m


def colours_answer() -> float:
    schemes = product(range(4), repeat=6)
    return min(len(set(scheme)) for scheme in schemes if all(scheme[u] != scheme[v] for u, v in EDGES))


UNITS = {"coal": (40, 100, 20, 150), "gas": (10, 60, 45, 30), "oil": (5, 40, 70, 10)}
"""Least and most power, cost of it, cost of a start."""
LOAD = [70, 130, 150, 90]


def commitment() -> Any:
    """Unit commitment: a block for each unit, in it one for each hour, tied by rows around them."""
    m = pyo.ConcreteModel("commitment")
    m.hours = pyo.RangeSet(4)
    m.units = pyo.Set(initialize=UNITS.keys())

    def unit_rule(unit, g):
        low, high, price, start = UNITS[g]

        def hour_rule(hour, t):
            hour.on = pyo.Var(domain=pyo.Binary)
            hour.start = pyo.Var(bounds=(0, 1))
            hour.power = pyo.Var(domain=pyo.NonNegativeReals)
            hour.least = pyo.Constraint(expr=hour.power >= low * hour.on)
            hour.most = pyo.Constraint(expr=hour.power <= high * hour.on)

        unit.hour = pyo.Block(m.hours, rule=hour_rule)

        @unit.Constraint(m.hours)
        def starts(unit, t):
            before = unit.hour[t - 1].on if t > 1 else 0
            return unit.hour[t].start >= unit.hour[t].on - before

        unit.cost = pyo.Expression(expr=sum(price * unit.hour[t].power + start * unit.hour[t].start for t in m.hours))

    m.unit = pyo.Block(m.units, rule=unit_rule)
    m.balance = pyo.Constraint(m.hours, rule=lambda m, t: sum(m.unit[g].hour[t].power for g in m.units) == LOAD[t - 1])
    m.cost = pyo.Objective(expr=sum(m.unit[g].cost for g in m.units))
    return m


def commitment_answer() -> float:
    """The cheapest units that are on go up first; dynamic programming over what is on."""
    plans = list(product((0, 1), repeat=3))

    def dispatch(on: tuple[int, ...], load: float) -> float:
        running = [unit for unit, flag in zip(UNITS.values(), on, strict=True) if flag]
        load -= sum(low for low, *_ in running)
        cost = sum(low * price for low, _, price, _ in running)
        for low, high, price, _ in sorted(running, key=lambda unit: unit[2]):
            more = min(load, high - low)
            load, cost = load - more, cost + more * price
        return cost if load == 0 else float("inf")

    best = {(0, 0, 0): 0.0}
    for load in LOAD:
        starts = {
            (was, now): sum(unit[3] for unit, a, b in zip(UNITS.values(), was, now, strict=True) if b > a)
            for was in best
            for now in plans
        }
        best = {now: min(best[was] + starts[was, now] for was in best) + dispatch(now, load) for now in plans}
    return min(best.values())


def budget() -> Any:
    """General integers, some below 0, in several domains, and bounds that are no integers."""
    m = pyo.ConcreteModel("budget")
    m.x = pyo.Var(domain=pyo.Integers, bounds=(-3.5, 4.2))
    m.y = pyo.Var(domain=pyo.NegativeIntegers, bounds=(-6, None))
    m.z = pyo.Var(domain=pyo.RangeSet(0, 10))
    m.row = pyo.Constraint(expr=3 * m.x - 2 * m.y + m.z <= 13)
    m.tie = pyo.Constraint(expr=(-2, m.x + m.y, 2))
    m.o = pyo.Objective(expr=2 * m.x - m.y + m.z - 1, sense=pyo.maximize)
    return m


def budget_answer() -> float:
    box = product(range(-3, 5), range(-6, 0), range(11))
    return max(2 * x - y + z - 1 for x, y, z in box if 3 * x - 2 * y + z <= 13 and -2 <= x + y <= 2)


PAY = [(0, 0), (4, 8), (10, 38), (15, 45)]
"""Breakpoints of what hours of work earn."""


def piecework() -> Any:
    """A piecewise linear function, by Pyomo's Piecewise with binaries."""
    m = pyo.ConcreteModel("piecework")
    m.hours = pyo.Var(bounds=(0, 15))
    m.pay = pyo.Var()
    m.pieces = pyo.Piecewise(
        m.pay, m.hours, pw_pts=[x for x, _ in PAY], f_rule=[y for _, y in PAY], pw_constr_type="EQ", pw_repn="INC"
    )
    m.rested = pyo.Constraint(expr=m.hours <= 8)
    m.gain = pyo.Objective(expr=m.pay - 2 * m.hours, sense=pyo.maximize)
    return m


def piecework_answer() -> float:
    """At a breakpoint, or at the limit of 8 hours: 8 for the first four, 5 for each of the others."""
    return max(8 + 4 * 5 - 2 * 8, *(y - 2 * x for x, y in PAY if x <= 8))


def orchard() -> Any:
    """Domains of all kinds, an indexed one among them."""
    m = pyo.ConcreteModel("orchard")
    counts = {"apple": pyo.NonNegativeIntegers, "pear": pyo.PositiveIntegers}
    m.trees = pyo.Var(["apple", "pear"], domain=lambda m, k: counts[k])
    m.share = pyo.Var(domain=pyo.PercentFraction)
    m.debt = pyo.Var(domain=pyo.NonPositiveIntegers)
    m.water = pyo.Var(domain=pyo.PositiveReals)
    m.helper = pyo.Var(domain=pyo.Boolean)
    m.ground = pyo.Constraint(expr=2 * m.trees["apple"] + 3 * m.trees["pear"] + 0.5 * m.helper <= 12.5)
    m.bucket = pyo.Constraint(expr=m.water + 3 * m.share >= m.trees["apple"] + m.trees["pear"] - 2 * m.helper)
    m.bank = pyo.Constraint(expr=m.debt >= -2.5)
    m.mix = pyo.Constraint(expr=m.trees["apple"] <= 4 + m.share)
    m.crop = pyo.Objective(
        expr=5 * m.trees["apple"] + 6 * m.trees["pear"] - 2 * m.water - 1.5 * m.share - m.debt - m.helper,
        sense=pyo.maximize,
    )
    return m


def orchard_answer() -> float:
    """The share is 0, 1, or what the trees and the water need of it; the water is 0 then, or what it has to be."""
    best = 0.0
    for apple, pear, helper in product(range(7), range(1, 5), (0, 1)):
        if 2 * apple + 3 * pear + 0.5 * helper <= 12.5:
            thirst = max(0, apple + pear - 2 * helper)
            for share in {0.0, 1.0, min(1, thirst / 3), min(1.0, max(0, apple - 4))}:
                if apple <= 4 + share:
                    water = max(0, thirst - 3 * share)
                    best = max(best, 5 * apple + 6 * pear - 2 * water - 1.5 * share + 2 - helper)
    return best


def shifts() -> Any:
    """A nurse's week: rules of logic written by hand with binaries, in nested blocks, tied by References."""
    m = pyo.ConcreteModel("shifts")
    m.days = pyo.RangeSet(5)

    @m.Block(["ada", "bob", "cyd"])
    def nurse(b, who):
        b.works = pyo.Var(m.days, domain=pyo.Binary)
        b.rest = pyo.Constraint(pyo.RangeSet(3), rule=lambda b, d: sum(b.works[d + k] for k in range(3)) <= 2)
        b.most = pyo.Constraint(expr=pyo.summation(b.works) <= 4 - (who == "bob"))

    m.works = pyo.Reference(m.nurse[:].works[:])
    m.staff = pyo.Constraint(m.days, rule=lambda m, d: sum(m.works[:, d]) >= (1 if d != 3 else 2))
    m.pair = pyo.Constraint(m.days, rule=lambda m, d: m.nurse["ada"].works[d] + m.nurse["bob"].works[d] <= 1)
    wage = {"ada": 30, "bob": 25, "cyd": 40}
    m.pay = pyo.Objective(expr=sum((wage[who] + d) * m.works[who, d] for who, d in m.works))
    return m


def shifts_answer() -> float:
    rested = [w for w in product((0, 1), repeat=5) if all(sum(w[d : d + 3]) <= 2 for d in range(3)) and sum(w) <= 4]
    best = float("inf")
    for weeks in product(rested, [w for w in rested if sum(w) <= 3], rested):
        days = list(zip(*weeks, strict=True))
        if all(sum(day) >= (2 if d == 2 else 1) and day[0] + day[1] <= 1 for d, day in enumerate(days)):
            pay = sum(sum(week) * wage for week, wage in zip(weeks, (30, 25, 40), strict=True))
            best = min(best, pay + sum(d * sum(day) for d, day in enumerate(days, 1)))
    return best


MODELS = (
    Stranger(knapsack, 25, 181 / 7, INTEGER, "x[", remedy="apply relax first", answer=knapsack_answer),
    Stranger(assignment, 33, 33, INTEGER, "x[", remedy="apply relax first", answer=assignment_answer),
    Stranger(facilities, 141, 110, INTEGER, "y[", remedy="apply relax first", answer=facilities_answer),
    Stranger(lots, 300, 15955 / 88, INTEGER, "z[", remedy="apply relax first", answer=lots_answer),
    Stranger(cutting, 6, 6, INTEGER, "use[", remedy="apply relax first", answer=cutting_answer),
    Stranger(bins, 3, 26 / 9, INTEGER, "variable '", remedy="apply relax first", answer=bins_answer),
    Stranger(tour, 21, 18, INTEGER, "x[", remedy="apply relax first", answer=tour_answer),
    Stranger(cover, 9, 8.5, INTEGER, "open[", remedy="apply relax first", answer=cover_answer),
    Stranger(colours, 3, 2, INTEGER, "variable '", remedy="apply relax first", answer=colours_answer),
    Stranger(commitment, 10980, 10975, INTEGER, ".on", remedy="apply relax first", answer=commitment_answer),
    Stranger(budget, 10, 32 / 3, INTEGER, "'x'", remedy="apply relax first", answer=budget_answer),
    Stranger(orchard, 26.5, 27.5, INTEGER, "variable '", remedy="apply relax first", answer=orchard_answer),
    Stranger(shifts, 193, 193, INTEGER, "works[", remedy="apply relax first", answer=shifts_answer),
    Stranger(piecework, 12, 14.4, INTEGER, "pieces", remedy="apply relax first", answer=piecework_answer),
)
