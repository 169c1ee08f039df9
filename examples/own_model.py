"""The transformations on a model of your own: relax a knapsack, take its dual, and read prices and a bound from it."""

import pyomo.environ as pyo

from dlsched.models import solve
from dlsched.relaxations import dual, relax


def knapsack() -> pyo.ConcreteModel:
    """Return the model: three items, room for 8."""
    m = pyo.ConcreteModel()
    m.goods = pyo.Set(initialize=["ring", "lamp", "coin"])
    weight, worth = {"ring": 3, "lamp": 4, "coin": 5}, {"ring": 4, "lamp": 5, "coin": 6}
    m.take = pyo.Var(m.goods, domain=pyo.Binary)
    m.room = pyo.Constraint(expr=sum(weight[i] * m.take[i] for i in m.goods) <= 8)
    m.worth = pyo.Objective(expr=sum(worth[i] * m.take[i] for i in m.goods), sense=pyo.maximize)
    return m


def main() -> None:
    """Print the optimum, the bound, and the price of room."""
    model = knapsack()
    relaxation = relax(model)
    prices = dual(relaxation.model)
    print("optimum  ", solve(model).objective)
    print("LP bound ", solve(relaxation.model).objective)
    print("dual     ", solve(prices.model).objective)
    print("price of a unit of room", prices.model.room.value)


if __name__ == "__main__":
    main()
