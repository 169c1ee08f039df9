"""Nothing in the rooms computes what differs from processor to processor; `dlsched.arithmetic` says what does.

The check is of the source alone: it cannot see types. Products of integers or of sparse matrices, and powers of
integers and rationals, are written with the functions of that module that say so, and refuse floats.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator

import pytest

from tests import paths

ROOT = paths.ROOT


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


C_LIBRARY = _names(
    """
    acos acosh arccos arccosh arcsin arcsinh arctan arctan2 arctanh asin asinh atan atan2 atanh cbrt cos cosh dist erf
    erfc exp exp2 expm1 float_power gamma geomspace hypot i0 lgamma log log10 log1p log2 logaddexp logaddexp2 logspace
    pow power sin sinc sinh tan tanh
    """
)
"""Of `math`, `cmath` and NumPy: chosen by the processor's instructions, correctly rounded by none."""

BLAS = _names(
    """
    convolve corrcoef correlate cov dot einsum einsum_path inner linalg matmul matvec polyfit tensordot vdot vecdot
    vecmat
    """
)
"""Of NumPy: sums of products in an order that the processor decides."""

DRAWS = _names(
    """
    beta binomial chisquare dirichlet exponential f gamma geometric gumbel hypergeometric laplace logistic lognormal
    logseries multinomial multivariate_hypergeometric multivariate_normal negative_binomial noncentral_chisquare
    noncentral_f normal pareto poisson power rayleigh standard_cauchy standard_exponential standard_gamma
    standard_normal standard_t triangular vonmises wald weibull zipf
    """
)
"""Of a generator: drawn through exp, log or pow of the C library."""

SCIPY = frozenset({"scipy.special", "scipy.stats", "scipy.linalg", "scipy.integrate", "scipy.interpolate"})

ALLOWED = {
    ("package/arithmetic.py", "@"): "the named products themselves",
    ("package/arithmetic.py", "**"): "powers of integers and rationals, for the tables",
    (
        "algorithms/baselines/hadar/gavel_policies.py",
        "@",
    ): "cvxpy's expressions: it passes numbers on",
    ("relaxations/cvxpy_bridge.py", "@"): "cvxpy's expressions, too",
    ("bounds/statistics.py", "scipy.special"): "a quantile, the last digits of which are not shown",
    ("rounding/sampling.py", "matmul"): "sums that are exact, or too close to call and then added again exactly",
}
"""Places that stay, by file and construct, each with its reason."""

Found = tuple[int, str, str]


def modules(tree: ast.Module) -> dict[str, str]:
    """The names that stand for `math`, `cmath` and `numpy`."""
    return {
        alias.asname or alias.name: alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
        if alias.name in {"math", "cmath", "numpy"}
    }


def problems(source: str) -> Iterator[Found]:
    """Yield line, construct and what to write instead."""
    tree = ast.parse(source)
    known = modules(tree)
    for node in ast.walk(tree):
        match node:
            case ast.BinOp(op=ast.MatMult()) | ast.AugAssign(op=ast.MatMult()):
                yield node.lineno, "@", "dot, or integer_product, sparse_product, exact_product"
            case ast.BinOp(op=ast.Pow(), left=ast.Constant(), right=right) if literal(right):
                pass
            case ast.BinOp(op=ast.Pow()) | ast.AugAssign(op=ast.Pow()):
                yield node.lineno, "**", "x * x, or power, or exact_power of integers and rationals"
            case ast.Import(names=names):
                for alias in names:
                    if alias.name in SCIPY:
                        yield node.lineno, alias.name, "the functions of dlsched.arithmetic"
            case ast.ImportFrom(module=str(module), names=names):
                for alias in names:
                    if module in {"math", "cmath", "numpy"} and alias.name in C_LIBRARY | BLAS:
                        yield node.lineno, alias.name, f"{alias.name} of dlsched.arithmetic"
                    if module in SCIPY or f"{module}.{alias.name}" in SCIPY:
                        yield node.lineno, module, "the functions of dlsched.arithmetic"
            case ast.Attribute(value=ast.Name(id=name), attr=attr) if name in known:
                if attr in C_LIBRARY:
                    yield node.lineno, attr, f"{attr} of dlsched.arithmetic"
                elif attr in BLAS:
                    yield node.lineno, attr, "dot of dlsched.arithmetic, or (a * b).sum(axis)"
            case ast.Call(func=ast.Name(id="pow"), args=[_, _]):
                yield node.lineno, "pow", "power of dlsched.arithmetic"
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            yield from method(node, node.func, known)


def method(call: ast.Call, function: ast.Attribute, known: dict[str, str]) -> Iterator[Found]:
    of_module = isinstance(function.value, ast.Name) and function.value.id in known
    owner = function.value.attr if isinstance(function.value, ast.Attribute) else getattr(function.value, "id", "")
    if function.attr == "argpartition":
        yield call.lineno, "argpartition", 'argsort with kind="stable"'
    elif function.attr == "argsort":
        kinds = [keyword.value for keyword in call.keywords if keyword.arg == "kind"]
        if not any(isinstance(kind, ast.Constant) and kind.value == "stable" for kind in kinds):
            yield call.lineno, "argsort", 'argsort with kind="stable": the default breaks ties as it likes'
    elif function.attr in {"dot", "matmul"} and not of_module:
        yield call.lineno, function.attr, "dot of dlsched.arithmetic"
    elif function.attr in DRAWS and owner.lstrip("_").endswith(("rng", "generator")):
        yield call.lineno, function.attr, "random and the functions of dlsched.arithmetic"


def literal(node: ast.expr) -> bool:
    """Whether an exponent is a number, with a sign or without."""
    return isinstance(node.operand if isinstance(node, ast.UnaryOp) else node, ast.Constant)


@functools.cache
def found() -> dict[tuple[str, str], list[str]]:
    result: dict[tuple[str, str], list[str]] = {}
    for folder in paths.ROOMS:
        for file in sorted((ROOT / folder).rglob("*.py")):
            place = file.relative_to(ROOT).as_posix()
            for line, construct, instead in problems(file.read_text(encoding="utf-8")):
                result.setdefault((place, construct), []).append(
                    f"{place}:{line}: {construct} differs between processors; write {instead}"
                )
    return result


@pytest.mark.slow
def test_rooms_compute_the_same_on_every_processor() -> None:
    lines = [line for key, lines in found().items() if key not in ALLOWED for line in lines]
    assert not lines, "\n" + "\n".join(lines)


@pytest.mark.slow
def test_no_exception_is_stale() -> None:
    assert set(ALLOWED) <= set(found())


@pytest.mark.parametrize(
    "source",
    [
        "y = a @ b",
        "a @= b",
        "y = x ** n",
        "y = x ** 2",
        "y = 2 ** n",
        "y = x ** 0.5",
        "x **= 2",
        "y = pow(x, 0.5)",
        "import math\ny = math.exp(x)",
        "import math as m\ny = m.log2(x)",
        "from math import pow",
        "import numpy as np\ny = np.log1p(x)",
        "import numpy as np\ny = np.einsum('i,i', a, b)",
        "import numpy as np\ny = np.linalg.solve(a, b)",
        "import numpy\ny = numpy.dot(a, b)",
        "import numpy as np\ny = [np.tanh(x) for x in z]",
        "y = a.dot(b)",
        "import numpy as np\ny = np.argsort(x)",
        "y = x.argsort(kind='quicksort')",
        "import numpy as np\ny = np.argpartition(x, 3)",
        "y = rng.normal(size=3)",
        "y = self._rng.exponential()",
        "import scipy.special",
        "from scipy.special import lambertw",
        "from scipy import stats",
    ],
)
def test_what_is_refused(source: str) -> None:
    assert list(problems(source))


@pytest.mark.parametrize(
    "source",
    [
        "y = 2**20 + 10**-6 + 2.0**-50",
        "from dlsched.arithmetic import exp\ny = exp(x)",
        "import math\ny = math.sqrt(x) + math.fsum(z) + math.ldexp(1.0, n)",
        "import numpy as np\ny = np.argsort(x, axis=1, kind='stable') + np.sqrt(a)",
        "import pyomo.environ as pyo\ny = pyo.exp(x)",
        "y = f(**options)",
        "y = rng.random() + rng.integers(3) + rng.uniform(1, 2)",
        "y = pow(2, 5, 7)",
    ],
)
def test_what_is_not(source: str) -> None:
    assert not list(problems(source))
