"""The algebra of models in LaTeX: what is recognised in hand-made rows, and that TeX takes it of every formulation."""

from __future__ import annotations

import re
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyomo.environ as pyo
import pytest
from pyomo.gdp import Disjunction

from dlsched.models import InputError, build, catalog, latex, problem, smd
from dlsched.models.inspect import unindexed
from tests.strangers import STRANGERS
from tests.strangers.stranger import Stranger

NAMES = [entry.name for entry in catalog()]
SIZES: dict[str, dict[str, Any]] = {"hadar": {"jobs": 3, "slots": 4}, "smd": {"jobs": 3}, "dmlrs": {}, "ddljs": {}}


_EQUATION = r"\\textbf\{\\texttt\{(.*?)\}\}.*?\n\\begin\{equation\*\}\n(.*?)\n\\end\{equation\*\}"


def body(m: Any) -> str:
    return latex(m, document=False)


def equations(m: Any) -> dict[str, str]:
    """The equation below each component's name, on one line."""
    found = re.findall(
        r"\\textbf\{\\texttt\{(.*?)\}\}.*?\n\\begin\{equation\*\}\n(.*?)\n\\end\{equation\*\}", body(m), re.DOTALL
    )
    return {name.replace("\\_", "_"): equation.replace("\n", " ") for name, equation in found}


@cache
def drawn(name: str) -> Any:
    """A model of several jobs: of a few draws the one with the most components, so that no equation is missing."""
    entry = next(entry for entry in catalog() if entry.name == name)
    sizes = SIZES[entry.problem] | ({"asynchronous": True} if "async" in name else {})
    found = []
    for seed in range(12):
        try:
            found.append(entry.build(problem(entry.problem).families["random"](np.random.default_rng(seed), **sizes)))
        except ValueError:  # not for such an instance
            continue
    return max(found, key=lambda m: len(with_rows(m)))


def with_rows(m: Any) -> list[Any]:
    """The components that have an equation."""
    components = m.component_objects((pyo.Constraint, pyo.Objective), active=True)
    return [component for component in components if next(iter(component.values()), None) is not None]


def jobs() -> Any:
    m = pyo.ConcreteModel("jobs_&_slots")
    m.J = pyo.Set(initialize=["a", "b", "c"], doc="jobs")
    m.T = pyo.RangeSet(4, doc="slots")
    m.JT = pyo.Set(
        initialize=[("a", 1), ("a", 2), ("b", 2), ("b", 3), ("b", 4), ("c", 4)], dimen=2, doc="jobs and slots"
    )
    m.gang = pyo.Param(m.J, initialize={"a": 2, "b": 3, "c": 5}, doc="W_j, gang [devices]")
    m.count = pyo.Param(m.T, initialize={1: 9, 2: 8, 3: 7, 4: 6}, doc="C_t, devices [devices]")
    m.x = pyo.Var(m.JT, domain=pyo.Binary, doc="x_jt, 1 where the job runs")
    m.y = pyo.Var(m.J, bounds=(0, 7), doc="y_j, something")
    m.total = pyo.Objective(expr=sum(m.gang[j] * m.y[j] for j in m.J) - 3 * sum(m.x.values()), doc="(1) all")
    return m


def test_sums_over_the_other_positions() -> None:
    m = jobs()
    m.once = pyo.Constraint(m.J, rule=lambda m, j: sum(m.x[i, t] for i, t in m.JT if i == j) <= 1, doc="(2) once")
    m.room = pyo.Constraint(
        m.T, rule=lambda m, t: sum(m.gang[j] * m.x[j, s] for j, s in m.JT if s == t) <= m.count[t], doc="(3) room"
    )
    found = equations(m)
    assert found["once"] == r"\sum_{t :\, (j,t) \in \mathit{JT}} x_{j,t} \le 1 \qquad \forall\, j \in J \tag*{(2)}"
    # Slot 3 has one job, slot 1 too: what is alike in all rows is the algebra.
    assert found["room"] == (
        r"\sum_{j :\, (j,t) \in \mathit{JT}} W_{j} \, x_{j,t} \le C_{t} \qquad \forall\, t \in T \tag*{(3)}"
    )
    assert found["total"].startswith(
        r"\min \; \sum_{j \in J} W_{j} \, y_{j} - \sum_{(j,t) \in \mathit{JT}} 3 \, x_{j,t}"
    )


@pytest.mark.parametrize(
    ("holds", "told"),
    [
        (lambda s, t: s >= t, r",\, t' \ge t"),
        (lambda s, t: s <= t, r",\, t' \le t"),
        (lambda s, t: s < t, r",\, t' < t"),
        (lambda s, t: s != t, r",\, t' \ne t"),
        (lambda s, t: True, ""),
    ],
)
def test_sums_from_or_up_to_the_rows_own(holds: Any, told: str) -> None:
    m = jobs()
    m.z = pyo.Var(m.T, doc="z_t, of a slot")
    m.last = pyo.Constraint(
        m.T, rule=lambda m, t: sum(m.z[s] for s in m.T if holds(s, t)) + m.y["a"] >= 0, doc="(4) last"
    )
    sides, _, rest = equations(m)["last"].rpartition(r" \ge ")
    assert rest == r"0 \qquad \forall\, t \in T \tag*{(4)}"
    # Pyomo lists variables by their first row: of the first slot nothing is before it.
    assert set(sides.split(" + ")) == {r"\sum_{t' \in T" + told + "} z_{t'}", r"y_{\mathrm{a}}"}


def test_sides_signs_and_ranges() -> None:
    m = jobs()
    m.moved = pyo.Constraint(m.JT, rule=lambda m, j, t: -m.y[j] <= -2 * m.x[j, t])
    m.between = pyo.Constraint(m.J, rule=lambda m, j: pyo.inequality(1, m.y[j], 3))
    m.equal = pyo.Constraint(expr=m.y["a"] == m.y["b"] - 4)
    found = equations(m)
    assert found["moved"] == r"2 \, x_{j,t} \le y_{j} \qquad \forall\, (j,t) \in \mathit{JT}"
    assert found["between"] == r"y_{j} \in [1, 3] \qquad \forall\, j \in J"
    assert found["equal"] == r"y_{\mathrm{a}} = y_{\mathrm{b}} - 4"


@pytest.mark.parametrize(
    ("factor", "constant", "told"),
    [(1, -3, r"\mathit{x} - 3"), (1, 3, r"\mathit{x} + 3"), (0, 0, "0"), (0, -5, "-5"), (0, 5, "5")],
)
def test_the_constant_of_an_objective(factor: int, constant: int, told: str) -> None:
    """An objective of nothing is 0, and no sign follows another."""
    model = pyo.ConcreteModel()
    model.x = pyo.Var(bounds=(0, 1))
    model.aim = pyo.Objective(expr=factor * model.x + constant)
    assert f"\n\\min \\; {told}\n" in latex(model)


def test_a_param_comes_before_what_is_another_ones_reciprocal() -> None:
    """Of jobs that arrive in slots 4, 2 and 5, and have shares of 1/4, 1/2 and 1/5, the row has the shares."""
    m = jobs()
    m.arrival = pyo.Param(m.J, initialize={"a": 4, "b": 2, "c": 5}, doc="a_j, arrival")
    m.minus = pyo.Param(m.J, initialize={"a": -0.25, "b": -0.5, "c": -0.2}, doc="n_j, loss")
    m.share = pyo.Param(m.J, initialize={"a": 0.25, "b": 0.5, "c": 0.2}, doc="e_j, share")
    m.done = pyo.Constraint(m.J, rule=lambda m, j: m.share[j] * m.y[j] <= 3)
    assert equations(m)["done"] == r"e_{j} \, y_{j} \le 3 \qquad \forall\, j \in J"


def test_mutable_params_of_equal_values_are_told_apart() -> None:
    """Whatever came first was everywhere: cap in front of x, and as the 4 of a rule that has no Param at all."""
    m = pyo.ConcreteModel()
    m.J = pyo.Set(initialize=["a", "b"], doc="jobs")
    for name, values in (("cap", (4, 5)), ("price", (4, 5)), ("cost", (4, 5)), ("hours", (4, 4))):
        setattr(m, name, pyo.Param(m.J, initialize=dict(zip("ab", values, strict=True)), mutable=True))
    m.gang = pyo.Param(m.J, initialize={"a": 4, "b": 5}, doc="W_j, gang")
    m.x = pyo.Var(m.J, doc="x_j, something")
    m.rule = pyo.Constraint(m.J, rule=lambda m, j: m.price[j] * m.x[j] <= m.cap[j])
    m.sides = pyo.Constraint(m.J, rule=lambda m, j: m.cap[j] * m.x[j] - m.price[j] >= m.x["a"] ** 2)
    m.product = pyo.Constraint(m.J, rule=lambda m, j: m.cost[j] * m.x[j] ** 2 * m.x["a"] <= 4)
    m.plain = pyo.Constraint(m.J, rule=lambda m, j: 4 * m.x[j] <= {"a": 4, "b": 5}[j])
    m.total = pyo.Objective(expr=sum(m.cost[j] * m.x[j] for j in m.J))
    found = equations(m)
    cap, price, cost = (f"\\mathit{{{name}}}_{{j}}" for name in ("cap", "price", "cost"))
    assert found["rule"].startswith(f"{price} \\, x_{{j}} \\le {cap} \\qquad")
    assert f"\\le {cap} \\, x_{{j}} - {price} \\qquad" in found["sides"]
    assert f"{cost} \\, " in found["product"]
    assert "hours" not in found["product"]
    assert found["plain"].startswith("4 \\, x_{j} \\le W_{j}")
    assert cost in found["total"]


def test_a_range_keeps_its_negative_terms() -> None:
    m = jobs()
    m.gap = pyo.Constraint(expr=pyo.inequality(-1, m.y["a"] - m.y["b"], 3))
    m.below = pyo.Constraint(m.J, rule=lambda m, j: pyo.inequality(-3, -2 * m.y[j], -1))
    found = equations(m)
    assert found["gap"] == r"y_{\mathrm{a}} - y_{\mathrm{b}} \in [-1, 3]"
    assert found["below"] == r"- 2 \, y_{j} \in [-3, -1] \qquad \forall\, j \in J"


def test_an_infinite_side_is_none() -> None:
    m = jobs()
    m.free = pyo.Constraint(expr=m.y["a"] <= float("inf"))
    m.half = pyo.Constraint(expr=pyo.inequality(2, m.y["a"], float("inf")))
    found = equations(m)
    assert found["free"] == r"y_{\mathrm{a}} \in (-\infty, \infty)"
    assert found["half"] == r"y_{\mathrm{a}} \ge 2"


def test_what_has_no_name_gets_one() -> None:
    m = jobs()
    own = {"a": 11, "b": 13, "c": 17}
    m.odd = pyo.Constraint(m.J, rule=lambda m, j: own[j] * m.y[j] <= 1)
    m.some = pyo.Constraint(expr=m.x["a", 1] + m.x["b", 3] <= 1)
    found = equations(m)
    assert found["odd"] == r"a^{(1)}_{j} \, y_{j} \le 1 \qquad \forall\, j \in J"
    assert found["some"] == r"\sum_{(j,t) \in \mathcal{A}^{(1)}} x_{j,t} \le 1"
    assert r"\item $a^{(1)}_{j}$: computed by a rule, $11$ to $17$" in body(m)
    assert r"\item $\mathcal{A}^{(1)}$: chosen by a rule, 2 to 2 members" in body(m)


def rows(told: Any) -> Any:
    """Jobs and slots, and a row for each with terms that others may lack."""
    m = jobs()
    m.need = pyo.Param(m.J, initialize={"a": 2, "b": 0, "c": 5}, doc="n_j, need [devices]")
    m.u = pyo.Var(m.J, m.T, doc="u_jt, something")
    m.v = pyo.Var(["a", "b"], doc="v_j, something of some jobs")
    m.row = pyo.Constraint(m.J, m.T, rule=lambda m, j, t: m.u[j, t] + told(m, j, t) <= 1)
    return m


@pytest.mark.parametrize(
    ("told", "shown"),
    [
        (lambda m, j, t: m.need[j] * m.y[j], r" + n_{j} \, y_{j}"),
        (lambda m, j, t: m.y[j] if j != "b" else 0, r" + y_{j}\text{ (if } j \ne \mathrm{b}\text{)}"),
        (
            lambda m, j, t: m.y[j] if (j == "b") == (t in (1, 3)) else 0,
            r" + y_{j}\text{ (if } (j,t) \in \mathcal{A}^{(1)}\text{)}",
        ),
        (lambda m, j, t: m.v[j] if j != "c" else 0, r" + v_{j}\text{ (where there is one)}"),
        (lambda m, j, t: m.y[j] if (j, t) in m.JT else 0, r" + y_{j}\text{ (if } (j,t) \in \mathit{JT}\text{)}"),
        (
            lambda m, j, t: m.y[j] if (j, t) in m.JT and t < 4 else 0,
            r" + y_{j}\text{ (if } t \ne 4,\, (j,t) \in \mathit{JT}\text{)}",
        ),
        (
            lambda m, j, t: m.y[j] * (m.need[j] * m.u[j, t] + t * m.y[j]),
            r" + n_{j} \, u_{j,t} \, y_{j} + t \, y_{j} \, y_{j}",
        ),
        (lambda m, j, t: (t - 1) * m.y[j], r" + a^{(1)}_{t} \, y_{j}\text{ (if } t \ne 1\text{)}"),
    ],
)
def test_a_term_that_some_rows_lack(told: Any, shown: str) -> None:
    """It is told with what tells these rows from the others; nothing is told of what is 0 there."""
    found = equations(rows(told))["row"]
    assert f"u_{{j,t}}{shown} \\" in found, found


def test_the_name_is_told_without_quotes() -> None:
    assert body(pyo.ConcreteModel("P (1), of one job")).startswith("\\section*{P (1), of one job}")


def test_smds_limits_are_as_printed() -> None:
    """(3), where jobs need nothing, one and more of a resource."""
    amounts = ((5, 2, 8), (1, 0, 4), (0, 3, 7))
    made = [
        {
            "name": f"job{k}",
            "worker": {"gpu": worker, "cpu": 1},
            "server": {"gpu": server, "cpu": 1},
            "limit": {"gpu": limit, "cpu": 4},
            "utility": {"kind": "hyperbolic", "scale": 1},
            "training": {"kind": "coefficients", "mode": "sync", "theta": [1, 1, 1, 1, 1]},
        }
        for k, (worker, server, limit) in enumerate(amounts)
    ]
    instance = smd.Instance.parse({"resources": ["gpu", "cpu"], "capacity": {"gpu": 9, "cpu": 9}, "jobs": made})
    found = equations(build("smd/minlp", instance))["limit"]
    assert found.startswith(r"O_{i,r} \, w_{i} \, x_{i} + G_{i,r} \, p_{i} \, x_{i} \le v_{i,r} \qquad")


def test_either_or() -> None:
    m = jobs()
    m.way = Disjunction(m.J, rule=lambda m, j: [[m.y[j] >= 4], [m.y[j] <= m.gang[j]]], doc="(5) much or little")
    found = equations(m)
    assert found["way"].startswith(r"\text{exactly one of } ")
    assert r"\implies \sum_{j \in \mathcal{A}^{(1)}_{i}} y_{j} \ge 4" in body(m)


def test_an_either_or_that_takes_both() -> None:
    m = jobs()
    ways = [[m.y["a"] >= 4], [m.y["a"] <= 5]]
    m.one, m.both = Disjunction(expr=ways), Disjunction(expr=ways, xor=False)
    m.mixed = Disjunction(m.J, rule=lambda m, j: ways, xor=lambda m, j: j == "a")
    found = equations(m)
    assert found["one"].startswith(r"\text{exactly one of } ")
    assert found["both"].startswith(r"\text{at least one of } ")
    written = body(m).partition(r"\textbf{\texttt{mixed}}")[2]
    assert [written.count(f"text{{{word} one of }}") for word in ("exactly", "at least")] == [1, 1]


KINDS: dict[str, tuple[Any, tuple[float | None, float | None], str]] = {
    "real": (pyo.NonNegativeReals, (None, 4), "real, at least $0$, at most $4$"),
    "integer": (pyo.RangeSet(0, 5), (None, None), "integer, at least $0$, at most $5$"),
    "binary": (pyo.RangeSet(0, 1), (None, None), "binary"),
    "overlapping": (pyo.RangeSet(0, 2, 0) | pyo.RangeSet(1, 6, 0), (None, None), "real, at least $0$, at most $6$"),
    "positive": (pyo.PositiveReals, (None, 4), r"in $(0, \infty)$, at most $4$"),
    "steps": (pyo.RangeSet(0, 10, 2), (None, None), r"in $\{0, 2, \ldots, 10\}$"),
    "two steps": (pyo.RangeSet(0, 4, 2), (1, 4), r"in $\{0, 2, 4\}$, at least $1$"),
    "downwards": (pyo.RangeSet(9, 0, -3), (None, None), r"in $\{0, 3, \ldots, 9\}$"),
    "intervals": (pyo.RangeSet(5, 6, 0) | pyo.RangeSet(0, 2, 0), (None, None), r"in $[0, 2] \cup [5, 6]$"),
    "semicontinuous": ({0} | pyo.RangeSet(2, 5, 0), (0, 4), r"in $\{0\} \cup [2, 5]$, at most $4$"),
    "points": ([5, 0, 3], (None, None), r"in $\{0, 3, 5\}$"),
    "all but": (
        pyo.Integers - pyo.RangeSet(0, 3),
        (None, None),
        r"in $\{\ldots, -2, -1\} \cup \{4, 5, \ldots\}$",
    ),
    "not 0": (pyo.Reals - {0}, (None, None), r"in $(-\infty, 0) \cup (0, \infty)$"),
    "nothing": (pyo.EmptySet, (None, None), r"in $\emptyset$"),
    "anything": (pyo.Any, (None, 2), r"in \texttt{Any}, at most $2$"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_the_values_that_a_variable_may_have(kind: str) -> None:
    domain, bounds, told = KINDS[kind]
    m = pyo.ConcreteModel()
    m.x = pyo.Var(domain=domain, bounds=bounds)
    m.total = pyo.Objective(expr=m.x)
    assert body(m).count(rf"\item $\mathit{{x}}$ (\texttt{{x}}):  ({told})") == 1


def test_indices_of_mixed_length() -> None:
    m = pyo.ConcreteModel()
    m.x = pyo.Var(pyo.Any, dense=False)
    m.sum = pyo.Constraint(expr=m.x[2, 3] + m.x[2, 4] + m.x[1] <= 1)
    m.each = pyo.Constraint(pyo.Any)
    for key in (1, 5, (2, 3), (2, 4), (1, 2, 3)):
        m.each[key] = m.x[key] <= 1
    m.total = pyo.Objective(expr=m.x[2, 3])
    assert equations(m)["sum"] == r"\sum_{(i,j) \in \mathcal{A}^{(2)}} \mathit{x}_{i,j} + \mathit{x}_{\mathrm{1}} \le 1"
    for letters in ("i", "i,j"):
        assert rf"\mathit{{x}}_{{{letters}}} \le 1 \qquad \forall" in body(m)


def test_what_is_not_linear() -> None:
    m = jobs()
    m.ratio = pyo.Constraint(m.J, rule=lambda m, j: m.gang[j] / (1 + pyo.exp(m.y[j] ** 2)) + m.y[j] * m.y["a"] <= 5)
    found = equations(m)["ratio"]
    assert r"\frac{W_{j}}{1 + \exp\left({y_{j}}^{2}\right)}" in found
    assert r"y_{j} \, y_{\mathrm{a}}" in found or r"y_{\mathrm{a}} \, y_{j}" in found


def test_what_a_paper_says_is_what_is_recognised() -> None:
    """Hadar's (1a), (1c), (1d) and (1e), read off the rows of three different jobs."""
    found = equations(drawn("hadar/aggregate"))
    assert found["once"].startswith(r"\sum_{t :\, (j,t) \in \mathit{JT}} \mathit{completion}_{j,t} \le 1")
    assert found["capacity"].startswith(r"\sum_{j :\, (j,t,r) \in \mathit{JTR}} n_{j,t,r} \le C_{r}")
    assert found["last"].startswith(
        r"\sum_{l :\, (j,t,l) \in \mathit{JTL}} b_{j,t,l} \le \sum_{t' :\, (j,t') \in \mathit{JT},\, t' \ge t}"
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_every_equation_number_is_there(name: str) -> None:
    m = drawn(name)
    text = latex(m)
    for component in with_rows(m):
        number = (component.doc or "").partition(" ")[0]
        assert f"\\tag*{{{number}" in text, component.name
    assert text.count("\\begin{equation*}") == text.count("\\end{equation*}") > 0
    for symbol in set(re.findall(r"\\in (\\mathit\{.*?\}|\\mathcal\{A\}\^\{\(\d+\)\}|[A-Z]\b)", text)):
        assert re.search(rf"\\item \${re.escape(symbol)}(_\{{.*?\}})?\$: ", text), symbol


@pytest.mark.tex
@pytest.mark.process
@pytest.mark.parametrize("name", [*NAMES, "own"])
def test_tex_takes_it(name: str, tmp_path: Path) -> None:
    m = jobs() if name == "own" else drawn(name)
    (tmp_path / "model.tex").write_text(latex(m), encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "model.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:]
    assert (tmp_path / "model.pdf").stat().st_size > 0


@pytest.mark.tex
@pytest.mark.process
def test_tex_takes_strangers_models(tmp_path: Path) -> None:
    first, *others = STRANGERS
    whole = latex(first.build())
    bodies = "".join(latex(stranger.build(), document=False) for stranger in others)
    (tmp_path / "all.tex").write_text(whole.replace("\\end{document}", f"{bodies}\\end{{document}}"), encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "all.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:]


@pytest.mark.parametrize("stranger", STRANGERS, ids=lambda stranger: stranger.name)
def test_every_component_of_strangers_models_is_there(stranger: Stranger) -> None:
    m = stranger.build()
    text = latex(m)
    for data in m.component_data_objects((pyo.Constraint, pyo.Objective), active=True, descend_into=True):
        name = unindexed(data.name).replace("_", "\\_")
        assert f"\\texttt{{{name}}}" in text, data.name
    for component in m.component_objects((pyo.SOSConstraint, pyo.LogicalConstraint), active=True):
        assert f"{component.ctype.__name__}, which is not written out here" in text, component.name


def test_functions() -> None:
    m = pyo.ConcreteModel()
    m.x, m.y = pyo.Var(), pyo.Var()
    m.size = pyo.Constraint(expr=abs(m.x) + pyo.sqrt(m.y) + pyo.exp(m.x - m.y) + pyo.sinh(m.x) <= 1)
    m.total = pyo.Objective(expr=m.x)
    told = latex(m, document=False)
    for written in (
        r"\left|\mathit{x}\right|",
        r"\sqrt{\mathit{y}}",
        r"\exp\left(",
        r"\operatorname{sinh}\left(\mathit{x}\right)",
    ):
        assert written in told
    m.size.set_value(pyo.Expr_if(m.x >= 0, m.x, 0) <= 1)
    with pytest.raises(InputError, match=r"cannot be written in LaTeX \(Expr_ifExpression\)"):
        latex(m)


def test_what_is_raised_to_a_power() -> None:
    m = pyo.ConcreteModel()
    m.x, m.y = pyo.Var(), pyo.Var()
    for written, expression in {
        r"{\left(\mathit{x} \, \mathit{y}\right)}^{2}": (m.x * m.y) ** 2,
        r"{\left(\frac{\mathit{x}}{\mathit{y}}\right)}^{2}": (m.x / m.y) ** 2,
        r"{\left({\mathit{x}}^{\mathit{y}}\right)}^{2}": (m.x**m.y) ** 2,
        r"{\left(-2\right)}^{\mathit{x}}": (-2) ** m.x,
        r"{2}^{\mathit{x}}": 2**m.x,
    }.items():
        m.del_component("total")
        m.total = pyo.Objective(expr=expression)
        assert equations(m)["total"] == rf"\min \; {written}"


def test_models_that_are_refused() -> None:
    with pytest.raises(TypeError, match="a Pyomo model"):
        latex(3)


@pytest.mark.parametrize("row", ["linear", "product", "limit", "objective"])
def test_what_has_no_value_is_refused(row: str) -> None:
    m = jobs()
    m.p = pyo.Param(mutable=True)
    m.y["a"].fix(None)
    for missing, name in ((m.y["a"], "y[a]: is fixed and"), (m.p, "p:")):
        m.del_component("row")
        if row == "objective":
            m.total.set_value(missing * m.y["b"])
        elif row == "limit":
            m.row = pyo.Constraint(expr=m.y["b"] <= missing)
        else:
            m.row = pyo.Constraint(expr=missing * (m.y["b"] if row == "product" else 2) + m.y["c"] <= 1)
        m.total.set_value(m.total.expr if row == "objective" else m.y["b"])
        with pytest.raises(InputError) as caught:
            latex(m)
        assert str(caught.value) == f"{name} has no value"


def test_a_bound_without_a_value_is_refused() -> None:
    m = jobs()
    m.p = pyo.Param(mutable=True, within=pyo.Reals)
    m.z = pyo.Var(bounds=(0, m.p))
    with pytest.raises(InputError, match=r"^p: has no value$"):
        latex(m)


def test_a_function_of_ones_own_has_its_name_and_arguments() -> None:
    m = jobs()
    m.f = pyo.ExternalFunction(lambda a, b: a * a + b)
    m.row = pyo.Constraint(expr=2 * m.f(m.y["a"], 3) <= 1)
    assert r"2 \, \operatorname{f}\left(y_{\mathrm{a}}, 3\right) \le 1" in latex(m)


@pytest.mark.parametrize("seed", range(8))
def test_data_that_are_0(seed: int) -> None:
    """A variable without a value times 0 is a number to Pyomo."""
    text = latex(build("smd/minlp", smd.random(seed)))
    assert text.count("{") - text.count("\\{") == text.count("}") - text.count("\\}")
