"""Every function of one number on every float16 and bfloat16: the float32 function's result, rounded, and hardly more than half a unit off.

Functions of two numbers on pairs of any of them.
"""

from __future__ import annotations

import compiled
import ml_dtypes
import numpy as np
import pytest
from promises import FUNCTIONS

UNARY = [name for name, function in FUNCTIONS.items() if function.arity == 1]
TYPES = pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16], ids=["float16", "bfloat16"])


def bits(x: np.ndarray) -> np.ndarray:
    """The bits of 16-bit floats, with one NaN for all."""
    return np.where(np.isnan(x), np.uint16(0x7FFF), x.view(np.uint16))


def units(x: np.ndarray, dtype: type) -> np.ndarray:
    """The last place of float64 numbers as floats of the type."""
    info = ml_dtypes.finfo(dtype)
    exponent = np.frexp(x)[1] - 1
    return np.ldexp(1.0, np.maximum(exponent, info.minexp) - info.nmant)


@TYPES
@pytest.mark.parametrize("name", UNARY)
def test_all_arguments(name, dtype):
    function = getattr(compiled, name)
    x = np.arange(1 << 16, dtype=np.uint16).view(dtype)
    with np.errstate(all="ignore"):
        got = np.asarray(function(x))
        narrow = np.asarray(function(x.astype(np.float32)))
        wide = np.asarray(function(x.astype(np.float64)))
        assert got.dtype == dtype and narrow.dtype == np.float32
        np.testing.assert_array_equal(bits(got), bits(narrow.astype(dtype)))
        exact = x.astype(np.float64)
    if FUNCTIONS[name].where is not None:
        inside = FUNCTIONS[name].where(exact)
        got, wide = got[inside], wide[inside]
    # The float64 function is exact enough: its own error is some 2^-40 of these floats' last place.
    np.testing.assert_array_equal(np.isnan(got), np.isnan(wide))
    last = float(ml_dtypes.finfo(dtype).max)
    result = got.astype(np.float64)
    endless = np.isinf(result)
    assert (np.abs(wide[endless]) > last).all() and (np.sign(wide[endless]) == np.sign(result[endless])).all()
    finite = np.isfinite(result)
    error = np.abs(result[finite] - wide[finite]) / units(wide[finite], dtype)
    assert error.max() <= 0.501


@TYPES
@pytest.mark.parametrize("name", [name for name, function in FUNCTIONS.items() if function.arity == 2])
def test_pairs(name, dtype):
    function = getattr(compiled, name)
    x, y = (np.random.default_rng(seed).permutation(1 << 16).astype(np.uint16).view(dtype) for seed in (1, 2))
    with np.errstate(all="ignore"):
        got = np.asarray(function(x, y))
        narrow = np.asarray(function(x.astype(np.float32), y.astype(np.float32)))
        assert got.dtype == dtype
        np.testing.assert_array_equal(bits(got), bits(narrow.astype(dtype)))
