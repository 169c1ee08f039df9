"""Portable exp, log and powers against 60 decimal digits; products against exact sums; arrays against floats."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Context, Decimal
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dlsched import arithmetic

DIGITS = Context(prec=60, Emax=10**6, Emin=-(10**6))
LARGEST = Decimal(np.finfo(float).max)
many = settings(max_examples=400)


def ulps(found: float, exact: Decimal) -> float:
    """How many units in the last place of the nearest float a number is off."""
    return float(abs(DIGITS.subtract(Decimal(found), exact)) / Decimal(math.ulp(float(exact))))


def finite(low: float, high: float) -> st.SearchStrategy[float]:
    return st.floats(low, high, allow_nan=False)


@pytest.mark.slow
@many
@given(finite(-745, 709.78) | finite(-1, 1))
def test_exp(x: float) -> None:
    exact = Decimal(x).exp(DIGITS)
    assert ulps(arithmetic.exp(x), exact) < (0.53 if exact > Decimal("2.3e-308") else 1)


@pytest.mark.slow
@many
@given(st.floats(5e-324, allow_infinity=False) | finite(0.5, 2))
def test_log(x: float) -> None:
    assert ulps(arithmetic.log(x), Decimal(x).ln(DIGITS)) < 0.53


@pytest.mark.slow
@many
@given(finite(-37, 709.78) | finite(-1, 1))
def test_expm1(x: float) -> None:
    near = DIGITS.add(Decimal(x), DIGITS.multiply(Decimal(x), Decimal(x) / 2))
    exact = near if abs(x) < 1e-30 else DIGITS.subtract(Decimal(x).exp(DIGITS), 1)
    assert ulps(arithmetic.expm1(x), exact) < 1


@pytest.mark.slow
@many
@given(st.floats(-1, 1e300, exclude_min=True, allow_nan=False) | finite(-0.5, 1))
def test_log1p(x: float) -> None:
    near = DIGITS.subtract(Decimal(x), DIGITS.multiply(Decimal(x), Decimal(x) / 2))
    exact = near if abs(x) < 1e-30 else DIGITS.add(1, Decimal(x)).ln(DIGITS)
    assert ulps(arithmetic.log1p(x), exact) < 0.8


@pytest.mark.slow
@many
@given(st.floats(1e-300, 1e300), finite(-700, 700))
def test_power(x: float, exponent: float) -> None:
    y = exponent / math.log(x) if x != 1 else exponent
    assume(math.isfinite(y))
    exact = DIGITS.multiply(Decimal(x).ln(DIGITS), Decimal(y)).exp(DIGITS)
    assume(Decimal("2.3e-308") < exact < LARGEST)
    assert ulps(arithmetic.power(x, y), exact) < 0.53


def test_powers_of_ten_are_floats_as_they_are_written() -> None:
    assert [arithmetic.power(10, k) for k in range(-22, 23)] == [float(f"1e{k}") for k in range(-22, 23)]


@given(st.lists(st.floats(allow_nan=True, allow_infinity=True), max_size=12), st.floats(allow_nan=False))
@pytest.mark.filterwarnings("error")
def test_arrays_have_the_bits_of_floats(values: list[float], y: float) -> None:
    def one(function: Callable[..., float], *arguments: float) -> float:
        try:
            return function(*arguments)
        except OverflowError:
            return math.inf
        except ValueError:
            x = arguments[0]
            return math.nan if x < 0 else math.inf if function is arithmetic.power else -math.inf

    array = np.array(values, dtype=float)
    for function, found, more in (
        (arithmetic.exp, arithmetic.exp(array), ()),
        (arithmetic.log, arithmetic.log(array), ()),
        (arithmetic.power, arithmetic.power(array, y), (y,)),
        (arithmetic.power, arithmetic.power(array, array[::-1]), None),
    ):
        second = values[::-1] if more is None else [*more] * len(values)
        arguments = zip(values, second, strict=True) if second else ((x,) for x in values)
        np.testing.assert_array_equal(found, [one(function, *each) for each in arguments])


@pytest.mark.parametrize("name", ["exp", "expm1", "log", "log1p"])
@pytest.mark.parametrize(
    "x", [0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan, 5e-324, -5e-324, 1e-320, 1e-17, 710.0, -800.0, 1e300]
)
def test_ends_of_the_range_are_those_of_math(name: str, x: float) -> None:
    try:
        expected = getattr(math, name)(x)
    except (ValueError, OverflowError) as error:
        with pytest.raises(type(error)):
            getattr(arithmetic, name)(x)
        return
    found = getattr(arithmetic, name)(x)
    assert found == pytest.approx(expected, rel=1e-15, abs=0, nan_ok=True)
    assert math.copysign(1, found) == math.copysign(1, expected) or math.isnan(found)


@pytest.mark.parametrize("x", [0.0, 5e-324, 0.5, 1.0, 2.0, 1e308, math.inf, math.nan])
@pytest.mark.parametrize("y", [0.0, 0.5, -0.5, 1.0, -1.0, 2.0, 1e300, -1e300, math.inf, -math.inf, math.nan])
def test_ends_of_powers_are_those_of_math(x: float, y: float) -> None:
    if x == 0 and y == -math.inf:
        with pytest.raises(ValueError, match="no real power"):
            arithmetic.power(x, y)
        return
    try:
        expected = math.pow(x, y)
    except (ValueError, OverflowError) as error:
        with pytest.raises(type(error)):
            arithmetic.power(x, y)
        return
    found = arithmetic.power(x, y)
    assert found == pytest.approx(expected, rel=1e-15, nan_ok=True, abs=0)


def test_negative_numbers_have_no_powers() -> None:
    with pytest.raises(ValueError, match="-2 has no real power 3"):
        arithmetic.power(-2.0, 3.0)


@given(st.integers(1, 10**400), st.integers(1, 10**400))
def test_logarithms_of_numbers_of_any_size(p: int, q: int) -> None:
    exact = DIGITS.divide(Decimal(p), Decimal(q)).ln(DIGITS)
    rounding = 2.0**-53 / math.ulp(float(exact)) if exact else 0.0
    assert not exact or ulps(arithmetic.log(Fraction(p, q)), exact) < 0.53 + rounding


def test_numbers_of_numpy() -> None:
    assert arithmetic.log(np.int64(7)) == arithmetic.log(np.float64(7)) == arithmetic.log(Fraction(7)) == math.log(7)
    assert arithmetic.ceil_log2(np.int64(8)) == 3


@pytest.mark.slow
@given(st.fractions(Fraction(1, 10**9), 10**9))
def test_ceil_log2(x: Fraction) -> None:
    k = arithmetic.ceil_log2(x)
    assert Fraction(2) ** (k - 1) < Fraction(float(x)) <= Fraction(2) ** k


def test_ceil_log2_of_powers_of_two() -> None:
    assert [arithmetic.ceil_log2(Fraction(2) ** k) for k in range(-1100, 1100)] == list(range(-1100, 1100))


@pytest.mark.parametrize("n", [0, 1, 3, 8, 9, 200])
@pytest.mark.parametrize(
    ("left", "right"), [((), ()), ((), (4,)), ((5,), ()), ((5,), (4,)), ((2, 5), ()), ((2, 5), (4,))]
)
def test_dot_is_the_matrix_product(n: int, left: tuple[int, ...], right: tuple[int, ...]) -> None:
    rng = np.random.default_rng(n)
    a, b = rng.integers(-9, 10, size=(*left, n)), rng.integers(-9, 10, size=(n, *right))
    np.testing.assert_array_equal(arithmetic.dot(a, b), a @ b)
    x, y = rng.random((*left, n)), rng.random((n, *right))
    np.testing.assert_allclose(arithmetic.dot(x, y), x @ y, rtol=1e-13)


def test_dot_adds_in_an_order_that_shapes_decide() -> None:
    values = np.array([1e16, 1.0, -1e16, 1.0])
    assert arithmetic.dot(values, np.ones(4)) == 1.0
    assert arithmetic.dot(values[None, :], np.ones(4)).tolist() == [1.0]


def test_products_of_integers_refuse_floats() -> None:
    numbers = np.array([2**62, 1])
    assert arithmetic.integer_product(numbers, np.array([1, 3])) == 2**62 + 3
    with pytest.raises(TypeError, match="float64"):
        arithmetic.integer_product(numbers, np.array([1.0, 3.0]))
    with pytest.raises(TypeError, match=r"float 1\.5"):
        arithmetic.exact_power(1.5, 2)
    assert arithmetic.exact_power(Fraction(2, 3), -2) == Fraction(9, 4)


@given(st.integers(0, 2**32 - 1))
def test_sparse_products(seed: int) -> None:
    rng = np.random.default_rng(seed)
    matrix = sp.random_array((int(rng.integers(0, 9)), int(rng.integers(0, 9))), density=0.5, rng=rng, format="csr")
    x = rng.random(matrix.shape[1])
    np.testing.assert_allclose(arithmetic.sparse_product(matrix, x), matrix.toarray() @ x, rtol=1e-12)
    y = rng.random(matrix.shape[0])
    np.testing.assert_allclose(arithmetic.sparse_product(matrix.T, y), matrix.toarray().T @ y, rtol=1e-12)
    # However a matrix is stored by rows, the entries of a row are added in its order, to the last bit.
    assert arithmetic.sparse_product(matrix, x).tolist() == arithmetic.sparse_product(matrix.tocoo(), x).tolist()
