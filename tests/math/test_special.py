"""Signed zeros, infinities and NaN give what C99's Annex F says, which is what NumPy gives."""

from __future__ import annotations

import numpy as np
import pytest
from mathlib import call
from mpmath import mpf
from promises import FUNCTIONS

UNARY = {
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "atan": np.arctan,
    "exp": np.exp,
    "exp2": np.exp2,
    "exp10": lambda x: np.power(x.dtype.type(10), x),
    "log": np.log,
    "log2": np.log2,
    "log10": np.log10,
    "expm1": np.expm1,
    "log1p": np.log1p,
    "asin": np.arcsin,
    "acos": np.arccos,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "cbrt": np.cbrt,
    "rsqrt": lambda x: x.dtype.type(1) / np.sqrt(x),
    "logb": lambda x: np.where(np.isinf(x), abs(x), np.floor(np.log2(abs(x)))),
    "spacing": np.spacing,
}
BINARY = {
    "atan2": np.arctan2,
    "hypot": np.hypot,
    "pow": np.power,
    "logaddexp": np.logaddexp,
    "logaddexp2": np.logaddexp2,
    "heaviside": np.heaviside,
}
VALUES = [0.0, 1.0, 2.0, 0.5, 3.0, np.inf]
TYPES = pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["float64", "float32"])


def same(got: np.ndarray, want: np.ndarray) -> None:
    """Equal in kind: NaN for NaN, zeros and infinities with their signs, the rest nearly."""
    assert got.dtype == want.dtype
    np.testing.assert_array_equal(np.isnan(got), np.isnan(want))
    numbers = ~np.isnan(want)
    np.testing.assert_array_equal(np.signbit(got[numbers]), np.signbit(want[numbers]))
    np.testing.assert_allclose(got, want, rtol=4 * np.finfo(want.dtype).eps)


@TYPES
@pytest.mark.parametrize("name", UNARY)
def test_unary(name, dtype):
    x = np.array(VALUES + [-v for v in VALUES] + [np.nan], dtype)
    with np.errstate(all="ignore"):
        same(call(name, x), UNARY[name](x))


@TYPES
@pytest.mark.parametrize("name", BINARY)
def test_binary(name, dtype):
    values = np.array(VALUES + [-v for v in VALUES] + [np.nan], dtype)
    x, y = (a.ravel() for a in np.meshgrid(values, values))
    with np.errstate(all="ignore"):
        same(call(name, x, y), BINARY[name](x, y))


@pytest.mark.parametrize("name", UNARY)
def test_nan_with_payload(name):
    """A NaN stays one whatever its bits."""
    x = np.array([0x7FF0000000000001, 0x7FFFFFFFFFFFFFFF, 0x7FF8000000000123, -1], np.int64).view(np.float64)
    assert np.isnan(call(name, x)).all()


@TYPES
def test_half_turns(dtype):
    """C23's zeros and infinities (F.10.1): a zero of sinpi has the sign of x, one of cospi is positive, those of tanpi take turns."""
    x = np.array([0, 1, 2, 3, 0.5, 1.5, 2.5, 3.5, 1e30], dtype)
    x = np.concatenate([x, -x, [np.inf, -np.inf, np.nan]]).astype(dtype)
    sin, cos, tan = ([0, 0, 0, 0, 1, -1, 1, -1, 0], [1, -1, 1, -1, 0, 0, 0, 0, 1], [0, -0.0, 0, -0.0, np.inf, -np.inf, np.inf, -np.inf, 0])
    for name, half, odd in (("sinpi", sin, True), ("cospi", cos, False), ("tanpi", tan, True)):
        half = np.array(half, dtype)
        want = np.concatenate([half, -half if odd else half, [np.nan] * 3]).astype(dtype)
        same(call(name, x), want)


@TYPES
def test_inverse_error_function(dtype):
    x = np.array([0.0, -0.0, 1, -1, 1.5, -2, np.inf, np.nan], dtype)
    same(call("erfinv", x), np.array([0.0, -0.0, np.inf, -np.inf, np.nan, np.nan, np.nan, np.nan], dtype))


@TYPES
def test_sinc(dtype):
    x = np.array([0.0, -0.0, 1, -2, 1e30, np.inf, np.nan, 1e-30], dtype)
    np.testing.assert_array_equal(call("sinc", x), np.array([1, 1, 0, 0, 0, np.nan, np.nan, 1], dtype))


@TYPES
def test_bessel_function(dtype):
    """NumPy's own makes NaN of infinities."""
    x = np.array([0.0, -0.0, np.inf, -np.inf, 1e30, np.nan], dtype)
    same(call("i0", x), np.array([1, 1, np.inf, np.inf, np.inf, np.nan], dtype))


def last_below(name: str, dtype: type, limit: mpf) -> np.generic:
    """The last positive argument of a growing function whose value is below a limit."""
    bits = np.uint64 if dtype is np.float64 else np.uint32
    low, high = int(dtype(3).view(bits)), int(np.finfo(dtype).max.view(bits))
    while high - low > 1:
        middle = (low + high) // 2
        below = FUNCTIONS[name].oracle(mpf(float(bits(middle).view(dtype)))) < limit
        low, high = (middle, high) if below else (low, middle)
    return bits(low).view(dtype)


@TYPES
@pytest.mark.parametrize("name", ["cosh", "exp", "exp10", "exp2", "expm1", "gamma", "i0", "lgamma", "sinh"])
def test_results_are_infinite_where_they_overflow_and_not_before(name, dtype):
    info = np.finfo(dtype)
    for_certain = 1 + 8 * mpf(float(info.eps))
    largest = mpf(float(info.max))
    near = last_below(name, dtype, largest / for_certain)
    beyond = last_below(name, dtype, largest * for_certain)
    with np.errstate(all="ignore"):
        got = call(name, np.array([near, np.nextafter(beyond, dtype(np.inf))]))
    np.testing.assert_allclose(got[0], float(FUNCTIONS[name].oracle(mpf(float(near)))), rtol=16 * info.eps)
    assert got[1] == np.inf
