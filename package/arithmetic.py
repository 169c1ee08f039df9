"""Arithmetic that gives the same bits on every processor: exponentials, logarithms, powers and sums of products.

A decision that hangs on the last bit of a number must not hang on the machine. The C library and NumPy choose their
exp, log and pow by the instructions that a processor has, and BLAS its order of summation: results differ in the last
bit. The operations + - * / and the square root do not: IEEE 754 fixes every bit of them, Python and the ufuncs of
NumPy round after each one, without fusing a product and a sum, and `ndarray.sum` adds in an order that depends on the
array's shape and layout alone. What stands here is made of these operations, and of exact ones (`rint`, `frexp`,
`ldexp`, products with powers of two). All rooms use it; tests/test_portable.py refuses the others.

Errors are below 0.53 units in the last place (`exp`, `log`, `power`), 0.8 (`log1p`) and 1 (`expm1`), and below one
where the result is subnormal. Exp splits off the nearest multiple of ln(2)/64 (Cody and Waite, 1980), takes that power
of two from a table and sums a Taylor series. Log is the series of 2 artanh(f / (2 + f)), its first two terms in pairs
of floats (Dekker, 1971), so that power, exp(y log x), is as good.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Real = float | Fraction
Exact = TypeVar("Exact", int, Fraction)

_BITS = 256
"""Of the integers that tables are computed with: a pair of floats has 106, and what the series lose is far below
those."""

_STEPS = 64
"""Powers of two in the table, between 1 and 2: what is left of an exponent is at most ln(2)/128, of which the series of
`_exp_near` leaves out 3e-20; a power of two itself, so that shift and mask find place and exponent."""


def _pair(value: int, bits: int = 53) -> tuple[float, float]:
    """Return value / 2**_BITS as a sum of two floats, the first of them of so many bits."""
    cut = max(0, value.bit_length() - bits)
    head = value >> cut << cut
    return head / 2**_BITS, (value - head) / 2**_BITS


def _roots_of_two() -> list[tuple[float, float]]:
    """Return the pairs of 2**(j/64) for j = 0, ..., 63."""
    root = 2 << _BITS
    for _ in range(_STEPS.bit_length() - 1):
        root = math.isqrt(root << _BITS)
    powers = [1 << _BITS]
    for _ in range(_STEPS - 1):
        powers.append(powers[-1] * root >> _BITS)
    return [_pair(power) for power in powers]


_LN2 = sum((2 << _BITS) // ((2 * k + 1) * 3 ** (2 * k + 1)) for k in range(_BITS))
"""2**_BITS ln 2, by 2 artanh(1/3)."""

_LN2_HEAD, _LN2_TAIL = _pair(_LN2, 40)
"""The head has 40 bits: its product with a binary exponent, which has 11, is exact."""

_STEP_HEAD, _STEP_TAIL = _pair(_LN2 // _STEPS, 35)
"""The head has 35 bits: its product with a number of steps, which has 17 (`_LOWEST` in 64ths of ln 2), is exact."""

_STEPS_PER_UNIT = (_STEPS << _BITS) / _LN2
_ROOTS = _roots_of_two()
_ROOT_HEADS, _ROOT_TAILS = np.array(_ROOTS).T.copy()
_THIRD_HEAD, _THIRD_TAIL = _pair((1 << _BITS) // 3)
"""1/3, the second coefficient of artanh: as a pair, since it decides the last place of a logarithm."""

_ARTANH = tuple(1 / (2 * k + 1) for k in range(13, 1, -1))

_HIGHEST = 710.0
"""No float is as large as e to this power: the largest is e**709.78."""

_LOWEST = -746.0
"""e to this power is nearer to 0 than to the least float: half of that is e**-745.13."""

_MOST = 2.0**64
"""Exponents of a power are cut to this: with it every base but 1 gives 0 or infinity, as ln(1 - 2**-53) does times
this. Larger ones could overflow in the product of pairs."""

_DEKKER = 2.0**27 + 1
"""Splits a float of 53 bits into two halves of 26, whose products are exact (Veltkamp; Dekker, 1971)."""

_SQRT_HALF = math.sqrt(0.5)
_FEW = 8
"""Columns up to which a matrix times a vector is added column by column, without an array of all products.
Arbitrary, but part of the result: it decides the order of the sums, and so their last bits."""


@overload
def exp(x: Real) -> float: ...
@overload
def exp(x: NDArray[Any]) -> Floats: ...
def exp(x: Any) -> Any:
    """Return e**x.

    Parameters
    ----------
    x : float, Fraction or array

    Raises
    ------
    OverflowError
        If a number's result is beyond the largest float; in an array that is infinite.
    """
    return _exp_of_array(x, 0.0) if isinstance(x, np.ndarray) else _exp(float(x), 0.0)


def expm1(x: Real) -> float:
    """Return e**x - 1, without cancellation near 0.

    Raises
    ------
    OverflowError
        If the result is beyond the largest float.
    """
    x = float(x)
    if abs(x) < 0.3:
        total = 0.0
        for n in range(15, 1, -1):
            total = (1 + total) * x / n
        return x + total * x if x else x
    if not -50 < x < 50:
        return _exp(x, 0.0) - 1
    head, rest, shift = _exp_parts(x, 0.0)
    whole, lost = _two_sum(math.ldexp(head, shift), -1.0)
    return float(whole + (lost + math.ldexp(rest, shift)))


@overload
def log(x: Real) -> float: ...
@overload
def log(x: NDArray[Any]) -> Floats: ...
def log(x: Any) -> Any:
    """Return the natural logarithm.

    Parameters
    ----------
    x : float, int, Fraction or array
        Integers and rationals may be of any size, and are rounded to 53 bits.

    Raises
    ------
    ValueError
        If a number is not positive; in an array that gives -inf or nan.
    """
    if isinstance(x, np.ndarray):
        inside = (x > 0) & (x < np.inf)
        head, tail = _log_pair(*np.frexp(np.where(inside, x, 1.0)))
        return np.where(inside, head + tail, np.where(x == 0, -np.inf, np.where(x > 0, x, np.nan)))
    if not 0 < x < math.inf:
        return _not_logarithmic(float(x), x)
    head, tail = _log_pair(*_binade(x))
    return head + tail


def log1p(x: Real) -> float:
    """Return the natural logarithm of 1 + x, without cancellation near 0.

    Raises
    ------
    ValueError
        If `x` is not above -1.
    """
    x = float(x)
    if not -1 < x < math.inf:
        return _not_logarithmic(1 + x, x)
    whole, rest = _two_sum(1.0, x)
    part = rest / whole
    head, tail = _log_pair(*math.frexp(whole))
    return head + (tail + (part - part * part / 2)) if x else x


def exact_power(x: Exact, n: int) -> Exact:
    """Return x**n of an integer or a rational.

    Raises
    ------
    TypeError
        If `x` is a float, whose powers `power` returns.
    """
    if isinstance(x, float):
        raise TypeError(f"an exact power of the float {x}")
    result: Exact = x**n
    return result


def ceil_log2(x: Real) -> int:
    """Return the least k with x <= 2**k, x > 0."""
    fraction, exponent = _binade(x)
    return exponent - 1 if fraction == 0.5 else exponent


@overload
def power(x: Real, y: Real) -> float: ...
@overload
def power(x: NDArray[Any], y: ArrayLike) -> Floats: ...
@overload
def power(x: ArrayLike, y: NDArray[Any]) -> Floats: ...
def power(x: Any, y: Any) -> Any:
    """Return x**y for x >= 0; as in `math.pow` it is 1 where y is 0 and where x is 1.

    Parameters
    ----------
    x, y : float, Fraction or array

    Raises
    ------
    ValueError
        If `x` is negative, or is 0 while `y` is negative; in arrays that gives nan and infinity.
    OverflowError
        If a number's result is beyond the largest float; in an array that is infinite.
    """
    if isinstance(x, np.ndarray) or isinstance(y, np.ndarray):
        return _power_of_arrays(*np.broadcast_arrays(np.asarray(x, dtype=float), np.asarray(y, dtype=float)))
    base, exponent = float(x), float(y)
    if base == 1 or exponent == 0:
        return 1.0
    if math.isnan(base) or math.isnan(exponent):
        return math.nan
    if base < 0 or (base == 0 and exponent < 0):
        raise ValueError(f"{base:g} has no real power {exponent:g}")
    if base in (0, math.inf) or math.isinf(exponent):
        return math.inf if (base > 1) == (exponent > 0) else 0.0
    return _exp(*_times(*_log_pair(*math.frexp(base)), min(max(exponent, -_MOST), _MOST)))


def _power_of_arrays(x: Floats, y: Floats) -> Floats:
    plain = (x > 0) & (x < np.inf)
    head, tail = _times(*_log_pair(*np.frexp(np.where(plain, x, 1.0))), np.fmin(np.fmax(y, -_MOST), _MOST))
    value = _exp_of_array(head, np.where(np.abs(head) < -_LOWEST, tail, 0.0))
    result = np.where(plain, value, np.where((x > 1) == (y > 0), np.inf, 0.0))
    result = np.where(np.isnan(y) | ~(x >= 0), np.nan, result)
    return np.where((x == 1) | (y == 0), 1.0, result)


def dot(a: ArrayLike, b: ArrayLike) -> Any:
    """Return the product a b of vectors or matrices, as ``a @ b``, its sums in an order that shapes alone decide.

    Parameters
    ----------
    a : array_like (..., n)
    b : array_like (n,) or (n, m)
    """
    x, y = np.asarray(a), np.asarray(b)
    if y.ndim == 1 and (x.ndim == 1 or len(y) > _FEW):
        return (x * y).sum(axis=-1)
    if x.ndim == 1:
        return (x[:, None] * y).sum(axis=0)
    total = np.zeros(x.shape[:-1] + y.shape[1:], dtype=np.result_type(x, y))
    for k, row in enumerate(y):
        total += x[..., k, None] * row if y.ndim == 2 else x[..., k] * row
    return total


def integer_product(a: Any, b: Any) -> Any:
    """Return ``a @ b`` of integers, dense or sparse, which is exact in any order.

    Raises
    ------
    TypeError
        If one of them has floats.
    """
    if a.dtype.kind == "f" or b.dtype.kind == "f":
        raise TypeError(f"a product of integers, not of {a.dtype} and {b.dtype}")
    return a @ b


def exact_product(a: Any, b: Any) -> Any:
    """Return ``a @ b`` of floats of which the caller knows that every product and every sum of products is a float.

    So it is of multiples of one power of two, below 2**53 of them (2**24 in single precision): the order of summation
    changes nothing, and BLAS may choose it.
    """
    return a @ b


def sparse_product(a: Any, b: Any) -> Any:
    """Return ``a @ b`` of a sparse matrix and a vector, the entries of a row added one after the other.

    Of two sparse matrices, one must have no two entries in a row, or be of integers: SciPy's loops may fuse.
    """
    if not isinstance(b, np.ndarray):
        return a @ b
    if a.format == "csr":
        # The same entries in the same order, without SciPy's checks of a third matrix.
        row, col, data = np.repeat(np.arange(a.shape[0]), np.diff(a.indptr)), a.indices, a.data
    else:
        entries = a.tocoo()
        row, col, data = entries.row, entries.col, entries.data
    return np.bincount(row, weights=data * b[col], minlength=a.shape[0])


def powers_of_two(sizes: Any, ordinary: int) -> Any:
    """Return units of ordinary size for some numbers: for each the power of two next above it.

    It is 1 for 0, and for what is between two to the power of minus `ordinary` and of `ordinary`.
    """
    exponents = np.frexp(sizes)[1]
    return np.ldexp(1.0, np.where(np.abs(exponents) > ordinary, exponents, 0))


def _binade(x: Real) -> tuple[float, int]:
    """Return the (m, k) with x nearest to m 2**k, 1/2 <= m < 1, x > 0."""
    if isinstance(x, float):
        return math.frexp(x)
    exact = Fraction(int(x.numerator), int(x.denominator))
    shift = exact.numerator.bit_length() - exact.denominator.bit_length()
    m, k = math.frexp(float(exact / Fraction(2) ** shift))
    return m, k + shift


def _exp(x: float, rest: float) -> float:
    """Return e**(x + rest), a `rest` below the last place of x."""
    if math.isnan(x):
        return x
    if x < _LOWEST:
        return 0.0
    if x > _HIGHEST:
        if x == math.inf:
            return x
        raise OverflowError(f"e to the power {x:g} is beyond the largest float")
    head, tail, shift = _exp_parts(x, rest)
    return math.ldexp(head + tail, shift)


def _exp_parts(x: float, rest: float) -> tuple[float, float, int]:
    """Return (head + tail) 2**shift = e**(x + rest)."""
    steps = round(x * _STEPS_PER_UNIT)
    shift, at = divmod(steps, _STEPS)
    head, tail = _ROOTS[at]
    return head, tail + head * _exp_near(x, rest, steps), shift


def _exp_of_array(x: Floats, rest: Floats | float) -> Floats:
    inside = np.fmin(np.fmax(x, _LOWEST), _HIGHEST)
    steps = np.rint(inside * _STEPS_PER_UNIT)
    index = steps.astype(np.int64)
    root = index & (_STEPS - 1)
    head = _ROOT_HEADS.take(root)
    value = _exp_near(inside, rest, steps)
    value *= head
    value += _ROOT_TAILS.take(root)
    value += head
    half = index >> 7
    with np.errstate(over="ignore"):
        value *= _power_of_two(half)
        value *= _power_of_two((index >> 6) - half)
    return np.where(np.isnan(x), np.nan, value)


def _power_of_two(exponent: NDArray[np.int64]) -> Floats:
    return (exponent + 1023 << 52).view(np.float64)


def _exp_near(x: Any, rest: Any, steps: Any) -> Any:
    """Return e**r - 1, r = x + rest - steps ln(2)/64, |r| < 0.0055."""
    r = x - steps * _STEP_HEAD
    r += rest - steps * _STEP_TAIL
    total = r * (1 / 720)
    for coefficient in (1 / 120, 1 / 24, 1 / 6, 1 / 2):
        total += coefficient
        total *= r
    total *= r
    total += r
    return total


def _log_pair(fraction: Any, exponent: Any) -> tuple[Any, Any]:
    """Return ln(fraction 2**exponent), 1/2 <= fraction < 1, as a pair with an error below 2**-63 of it."""
    below = fraction < _SQRT_HALF
    f = fraction * (1 + below) - 1
    k = exponent - below
    # s = f / (2 + f), z = s**2, q = z/3 + z**2/5 + ...; ln(1 + f) = 2 (s + s q)
    divisor, lost = _two_sum(2.0, f)
    s = f / divisor
    whole, part = _product(s, divisor)
    t = (f - whole - part - s * lost) / divisor
    z, w = _product(s, s)
    w = w + 2 * s * t
    tail = 0.0
    for coefficient in _ARTANH:
        tail = tail * z + coefficient
    third, less = _product(z, _THIRD_HEAD)
    q, r = _two_sum(third, less + z * _THIRD_TAIL + w / 3 + z * z * tail)
    whole, part = _product(s, q)
    head, rest = _two_sum(2 * s, 2 * whole)
    rest = rest + 2 * (t + part + s * r + t * q)
    head, lost = _two_sum(k * _LN2_HEAD, head)
    return _two_sum(head, lost + (rest + k * _LN2_TAIL))


def _times(head: Any, tail: Any, factor: Any) -> tuple[Any, Any]:
    whole, part = _product(head, factor)
    return whole, part + tail * factor


def _two_sum(a: Any, b: Any) -> tuple[Any, Any]:
    """Return a + b, rounded, and what was lost (Knuth)."""
    total = a + b
    seen = total - a
    return total, (a - (total - seen)) + (b - seen)


def _product(a: Any, b: Any) -> tuple[Any, Any]:
    """Return a b, rounded, and what was lost (Dekker, Veltkamp)."""
    product = a * b
    big = _DEKKER * a
    a1 = big - (big - a)
    a2 = a - a1
    big = _DEKKER * b
    b1 = big - (big - b)
    b2 = b - b1
    return product, a2 * b2 - (((product - a1 * b1) - a2 * b1) - a1 * b2)


def _not_logarithmic(value: float, x: Real) -> float:
    if value == math.inf or math.isnan(value):
        return value
    raise ValueError(f"{float(x):g} has no logarithm")
