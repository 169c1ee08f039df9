"""Directives of a problem's page, made from the models themselves: their algebra, their sizes, and known optima."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, ClassVar

import pyomo.environ as pyo
from docutils import nodes
from docutils.parsers.rst import directives
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from dlsched.algorithms import optimum
from dlsched.models import build, inspect, latex, problem, solve
from dlsched.models.formulation import Formulation
from dlsched.relaxations import relax

_LISTING = re.compile(r"\\subsection\*\{(\w+)\}\n\\begin\{itemize\}\n(.*?)\n\\end\{itemize\}", re.DOTALL)
_COMPONENT = re.compile(r"\\medskip\\textbf\{\\texttt\{(.*?)\}\}(?:: (.*?))?\n(.*?)(?=\n\n|\Z)", re.DOTALL)
_EQUATION = re.compile(r"\\begin\{equation\*\}\n(.*?)\n\\end\{equation\*\}", re.DOTALL)
_TAG = re.compile(r"\\tag\*\{(.*?)\}")
_INLINE = re.compile(r"\$(.*?)\$|\\texttt\{(.*?)\}")


def instance_of(name: str, options: Mapping[str, str], seed: int = 0) -> Any:
    """Return an instance of a problem's family, as a directive's options say."""
    pairs = (pair.partition("=") for pair in options.get("sizes", "").split())
    sizes = {key: float(value) if "." in value else int(value) for key, _, value in pairs}
    return problem(name).preset(options.get("family", "random"), seed, **sizes)


class Algebra(SphinxDirective):
    """``algebra:: FORMULATION`` shows a formulation: symbols, objective and rows, each with the paper's number."""

    required_arguments = 1
    option_spec: ClassVar = {"family": directives.unchanged, "sizes": directives.unchanged}

    def run(self) -> list[nodes.Node]:
        """Return lists of Sets, data and variables, then a line and formulas for each component."""
        name = self.arguments[0]
        instance = instance_of(name.partition("/")[0], self.options)
        text = latex(build(name, instance), document=False)
        found: list[nodes.Node] = []
        for title, items in _LISTING.findall(text):
            symbols = nodes.bullet_list()
            for item in items.removeprefix("\\item ").split("\n\\item "):
                line = nodes.paragraph("", "", *_inline(item))
                symbols += nodes.list_item("", line)
            found += [nodes.paragraph("", "", nodes.strong(text=title)), symbols]
        for component, about, formulas in _COMPONENT.findall(text):
            tag = _TAG.search(formulas)
            line = nodes.paragraph()
            line += nodes.strong(text=f"{tag[1]} " if tag else "")
            line += nodes.literal(text=_plain(component))
            line += nodes.Text(f": {_plain(about)}" if about else "")
            formula = [_TAG.sub("", formula) for formula in _EQUATION.findall(formulas)]
            found += [line, *(nodes.math_block(one, one) for one in formula)]
        return found


def _inline(text: str) -> Iterator[nodes.Node]:
    """Yield text with formulas and names in it."""
    end = 0
    for match in _INLINE.finditer(text):
        yield nodes.Text(_plain(text[end : match.start()]))
        yield nodes.math(match[1], match[1]) if match[1] else nodes.literal(text=_plain(match[2]))
        end = match.end()
    yield nodes.Text(_plain(text[end:]))


_NAMED = {"textasciicircum": "^", "textasciitilde": "~", "textless": "<", "textgreater": ">", "textbackslash": "\\"}


def _plain(text: str) -> str:
    """Return text without LaTeX's escapes."""
    named = re.sub(r"\\(text\w+)\{\}", lambda match: _NAMED[match[1]], text)
    return re.sub(r"\\([_%&#${}])", r"\1", named)


class _Family(SphinxDirective):
    """Of a problem, and instances of one of its families."""

    required_arguments = 1
    option_spec: ClassVar = {
        "family": directives.unchanged,
        "sizes": directives.unchanged,
        "seeds": directives.positive_int,
    }

    def instance(self, seed: int) -> Any:
        return instance_of(self.arguments[0], self.options, seed)

    def table(self, head: Iterable[str], rows: Iterable[Iterable[str]]) -> nodes.Node:
        lines = [head, *rows]
        text = [f"{'* - ' if n == 0 else '  - '}{cell}" for row in lines for n, cell in enumerate(row)]
        block = [".. list-table::", "   :header-rows: 1", "", *(f"   {line}" for line in text)]
        holder = nodes.container()
        self.state.nested_parse(self._as_rst(block), self.content_offset, holder)
        return holder.children[0]

    @staticmethod
    def _as_rst(block: list[str]) -> Any:
        return StringList(["```{eval-rst}", *block, "```"], source="problem.py")


class Formulations(_Family):
    """``formulations:: PROBLEM`` compares the formulations on one instance: size, optimum, linear bound."""

    def run(self) -> list[nodes.Node]:
        """Return the table."""
        instance = self.instance(0)
        head = ("formulation", "what it is", "kind", "rows", "integers", "reals", "optimum", "linear bound")
        rows = [_row(f, instance) for f in problem(self.arguments[0]).formulations if f.instance is type(instance)]
        return [self.table(head, [row for row in rows if row])]


def _row(formulation: Formulation[Any], instance: Any) -> tuple[str, ...]:
    try:
        model = formulation.build(instance)
    except (ValueError, TypeError):  # it takes data beside the instance, or other instances
        return ()
    parts = inspect(model).components
    discrete = sum(_is_discrete(v) for v in model.component_data_objects(pyo.Var))
    reals = sum(1 for _ in model.component_data_objects(pyo.Var)) - discrete
    optimum_, linear = _values(formulation, model)
    rows = sum(part.rows for part in parts)
    name = f"``{formulation.name}``"
    return name, formulation.title, str(formulation.kind), str(rows), str(discrete), str(reals), optimum_, linear


def _is_discrete(variable: Any) -> bool:
    return variable.is_integer() or variable.is_binary()


def _values(formulation: Formulation[Any], model: Any) -> tuple[str, str]:
    if not formulation.linear:
        return "", ""
    if formulation.disjunctive:
        pyo.TransformationFactory("gdp.bigm").apply_to(model)
    return _shown(solve(model).objective), _shown(solve(relax(model).model).objective)


def _shown(value: float | None) -> str:
    return "none" if value is None else f"{value:.6g}"


class Optima(_Family):
    """``optima:: PROBLEM`` lists certified optima of instances of a family, by seed."""

    def run(self) -> list[nodes.Node]:
        """Return the table."""
        rows = list(self._rows())
        return [self.table(("seed", "digest", "optimum", "proof"), rows)]

    def _rows(self) -> Iterator[tuple[str, ...]]:
        for seed in range(self.options.get("seeds", 5)):
            instance = self.instance(seed)
            found = optimum(instance)
            yield str(seed), f"``{instance.digest[:16]}``", _shown(found.value), str(found.proof)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directives."""
    app.add_directive("algebra", Algebra)
    app.add_directive("formulations", Formulations)
    app.add_directive("optima", Optima)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
