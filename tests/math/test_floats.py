"""Functions that take floats apart are exact: compared with Python's and NumPy's."""

from __future__ import annotations

import math

import numpy as np
import pytest
from mathlib import call, compiled

CALLS = pytest.mark.parametrize("call", [call, compiled], ids=["text", "compiled"])
TYPES = pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["float64", "float32"])


def values(dtype: type) -> np.ndarray:
    """Numbers of every size and sign, special ones too."""
    rng = np.random.default_rng(9)
    info = np.finfo(dtype)
    bits = rng.integers(0, 256, 3000 * np.dtype(dtype).itemsize, np.uint8).view(dtype)
    special = [0, 1, 1.5, 2.5, 3, info.max, info.tiny, info.smallest_subnormal, 3 * info.smallest_subnormal, np.inf]
    near = rng.uniform(-9, 9, 2000).astype(dtype)
    return np.concatenate([np.array(special, dtype), -np.array(special, dtype), np.array([np.nan], dtype), near, bits])


@CALLS
@TYPES
def test_nextafter(dtype, call):
    x = values(dtype)
    y = np.roll(x, 1)
    with np.errstate(all="ignore"):
        got, want = call("nextafter", x, y), np.nextafter(x, y)
    np.testing.assert_array_equal(got, want)
    np.testing.assert_array_equal(np.signbit(got)[want == 0], np.signbit(want)[want == 0])


@CALLS
@TYPES
def test_ldexp(dtype, call):
    x = values(dtype)
    rng = np.random.default_rng(2)
    n = rng.integers(-2300, 2300, len(x)) if dtype is np.float64 else rng.integers(-320, 320, len(x))
    with np.errstate(all="ignore"):
        want = np.ldexp(x, n)
    np.testing.assert_array_equal(call("ldexp", x, n.astype(dtype)), want)


@CALLS
@TYPES
def test_remainder(dtype, call):
    x = values(dtype)
    with np.errstate(invalid="ignore"):
        whole = np.round(x)
    for y in (np.roll(x, 1), np.full_like(x, 0.75), np.roll(whole, 2)):
        fits = np.isfinite(x) & (y != 0) & ~np.isnan(y)
        got = call("remainder", x, y)
        want = [math.remainder(float(a), float(b)) for a, b in zip(x[fits], y[fits])]
        np.testing.assert_array_equal(got[fits], np.array(want, dtype))
        np.testing.assert_array_equal(np.signbit(got[fits]), np.signbit(want))
        assert np.isnan(got[~fits]).all()


@TYPES
def test_frexp(dtype):
    x = values(dtype)
    got, want = call("frexp", x), np.frexp(x)
    for part, exact in zip(got, want):
        np.testing.assert_array_equal(part, exact)
    np.testing.assert_array_equal(np.signbit(got[0]), np.signbit(want[0]))
    assert got[1].dtype == np.int32


@CALLS
@TYPES
def test_exponents(dtype, call):
    x = values(dtype)
    with np.errstate(all="ignore"):
        _, n = np.frexp(x)
    plain = np.isfinite(x) & (x != 0)
    np.testing.assert_array_equal(call("logb", x)[plain], n[plain] - 1.0)
    np.testing.assert_array_equal(call("ilogb", x)[plain], n[plain] - 1)
    ends = np.array([0, -0.0, np.inf, -np.inf, np.nan], dtype)
    np.testing.assert_array_equal(call("logb", ends), [-np.inf, -np.inf, np.inf, np.inf, np.nan])
    np.testing.assert_array_equal(call("ilogb", ends), [-(2**31), -(2**31), 2**31 - 1, 2**31 - 1, -(2**31)])


@CALLS
@TYPES
def test_distances(dtype, call):
    x = values(dtype)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(call("spacing", x), np.spacing(x))
        want = np.where(abs(x) == np.finfo(dtype).max, np.spacing(np.nextafter(abs(x), dtype(0))), abs(np.spacing(x)))
    np.testing.assert_array_equal(call("ulp", x), np.where(np.isinf(x), np.inf, want))


@TYPES
def test_modf(dtype):
    x = values(dtype)
    with np.errstate(all="ignore"):
        want = np.modf(x)
    for part, exact in zip(call("modf", x), want):
        np.testing.assert_array_equal(part, exact)
        np.testing.assert_array_equal(np.signbit(part)[~np.isnan(x)], np.signbit(exact)[~np.isnan(x)])


@CALLS
@TYPES
def test_heaviside(dtype, call):
    x = values(dtype)
    y = np.roll(x, 1)
    with np.errstate(all="ignore"):
        want = np.heaviside(x, y)
    np.testing.assert_array_equal(call("heaviside", x, y), want)
